-- Gradients of the collectives, forward derivatives, and gradients of gradients, against finite differences over the
-- entries of all ranks.
local damo = require "damo"
local mpi = require "damo.mpi"
local differences = require "mpi.spec.support.differences"

local size, rank = mpi.size, mpi.rank
local check, values = differences.check, differences.values

describe("gradients", function()
  it("of sums", function()
    check(mpi.allreduce, values { 2, 2 })
    check(function(v) return mpi.reduce(v, { root = size - 1 }) end, values { 3 })
    check(function(v) return mpi.bcast(v, { root = size - 1 }) end, values { 3 })
  end)

  it("of extremes", function()
    check(function(v) return mpi.allreduce(v, { op = "max" }) end, values { 3 })
    check(function(v) return mpi.reduce(v, { op = "min", root = size - 1 }) end, values { 3 })
  end)

  it("of products", function()
    check(function(v) return mpi.allreduce(v, { op = "prod" }) end, values { 3 })
    check(function(v) return mpi.reduce(v, { op = "prod" }) end, values { 2 })
  end)

  it("of products with zeros", function()
    local x = values { 3 }
    if rank == 0 then x[1] = 0 end
    if rank == size - 1 then x[2] = 0 end
    if rank < 2 then x[3] = 0 end
    differences.check_gradient(function(v) return mpi.allreduce(v, { op = "prod" }) end, x)
  end)

  it("of branches that only some of the ranks take", function()
    for _, choose in ipairs { damo.ifelse, damo.switch } do
      for _, at_call in ipairs { true, false } do
        local function taken(v) -- a constant of the rank, or known in the call alone
          local odd = damo.constant(damo.array(rank % 2))
          return damo.eq(at_call and odd + 0 * damo.cast(damo.gt(v[1], 1e9), "int64") or odd, 0)
        end
        check(function(v)
          return choose(taken(v), mpi.allreduce(v * v), mpi.allreduce(damo.sin(v), { op = "max" }))
        end, values { 3 })
        -- what a branch reads is a collective's result, and the collective's operand is a branch
        check(function(v)
          local sum = mpi.bcast(choose(taken(v), v * v, v), { root = size - 1 })
          return choose(taken(v), sum * v, sum)
        end, values { 2 })
      end
    end
  end)

  it("of branches in the steps of a loop", function()
    check(function(v)
      local function step(e, h)
        local a, b = mpi.allreduce(e * h), mpi.bcast(e + h)
        return damo.ifelse(damo.gt(e, h), a * e, b)
      end
      return damo.scan(step, { sequences = { v }, outputs_info = { damo.array(0.3) } })
    end, values { 3 })
  end)

  it("of loops with collectives in branches", function()
    check(function(v)
      local sums = damo.scan(function(e) return mpi.allreduce(e * e) end, { sequences = { v } })
      local which = damo.constant(damo.array(rank)) + damo.cast(damo.gt(v[1], 1e9), "int64")
      return damo.ifelse(damo.eq(which, 0), sums, sums * v)
    end, values { 2 })
  end)

  it("of blocks", function()
    for axis = 1, 2 do
      local shape = axis == 1 and { size + 1, 2 } or { 2, size + 1 }
      check(function(v) return mpi.scatter(v, { axis = axis, root = size - 1 }) end, values(shape))
      local own = axis == 1 and { rank + 1, 2 } or { 2, rank + 1 }
      check(function(v) return mpi.gather(v, { axis = axis, root = size - 1 }) end, values(own))
      check(function(v) return mpi.allgather(v, { axis = axis }) end, values(own))
      check(function(v) return mpi.allgather(v, { axis = axis, equal = true }) end, values { 2, 1 })
      check(function(v) return mpi.alltoall(v, { axis = axis }) end, values(shape))
    end
  end)

  it("of blocks that change their axis", function()
    check(function(v) return mpi.alltoall(v, { axis = 2, join_axis = 1 }) end, values { 1 + rank % 2, size + 1 })
    check(function(v) return mpi.alltoall(v, { axis = 1, join_axis = 2 }) end, values { size + 1, 1 + rank % 2 })
  end)

  it("of messages", function()
    check(function(v)
      return mpi.sendrecv(v, { to = (rank + 1) % size, from = (rank - 1) % size })
    end, values { 2 })
    check(function(v)
      return mpi.sendrecv(v, { to = rank + 1 < size and rank + 1 or nil, from = rank > 0 and rank - 1 or nil })
    end, values { 2 })
  end)

  it("of layers", function()
    check(function(v) return mpi.halo(v, { periodic = true }) end, values { 2, 2 })
    check(function(v) return mpi.halo(v, { width = { 2, 1 }, axes = { 2 } }) end, values { 2, 3 })
    local dims = size == 4 and { 2, 2 } or { 1, size }
    check(function(v) return mpi.halo(v, { axes = { 1, 2 }, dims = dims, periodic = { true, false } }) end,
      values { 2, 2 })
  end)

  it("of groups", function()
    local part = mpi.split(rank % 2)
    check(function(v) return mpi.allreduce(v, { group = part }) * mpi.allreduce(v) end, values { 2 })
  end)

  it("of what goes on meanwhile", function()
    check(function(v)
      local handle = mpi.iallreduce(v * v)
      return mpi.wait(handle) * damo.sin(v)
    end, values { 2 })
    check(function(v) return mpi.wait(mpi.iallreduce(v, { op = "max" })) end, values { 2 })
  end)

  it("of several collectives in one graph", function()
    check(function(v)
      local a = mpi.allreduce(damo.sin(v))
      local b = mpi.allgather(v * a)
      return mpi.allreduce(damo.sum(b * b)) * v
    end, values { 2 })
  end)

  it("of complex products", function()
    local x = damo.complex(values { 2 }, values({ 2 }, 1))
    local v, z = damo.dvector "v", damo.TensorType("complex128", { ndim = 1 }) "z"
    local function cost(w) return damo.sum(damo.abs(mpi.allreduce(w, { op = "prod" }))) end
    local f = damo.compile({ z }, { cost(z), damo.grad(cost(z), z) })
    local _, g = f(x)
    local along = values({ 2 }, 2)
    local h = damo.compile({ z, v }, cost(z + 1e-6 * v) - cost(z - 1e-6 * v))
    local want = mpi.allreduce(h(x, along)) / 2e-6
    local got = mpi.allreduce(damo.sum(damo.real(g) * along))
    assert.is_true(math.abs(want - got) < 1e-5 * math.max(1, math.abs(want)))
  end)
end)

-- What the ranks do not agree on is an error on every rank, and nobody waits for ever.
local damo = require "damo"
local mpi = require "damo.mpi"
local refused = require("mpi.spec.support.check").refused

local size, rank = mpi.size, mpi.rank

if size == 1 then
  describe("one rank", function()
    it("agrees with itself", function() assert.are.equal(1, mpi.allreduce(1)) end)
  end)
  return
end

describe("ranks that disagree in", function()
  it("shape", function()
    local x = damo.ones { rank == 0 and 2 or 3 }
    for _, name in ipairs { "allreduce", "reduce", "bcast" } do
      local message = refused("shape", "the ranks disagree: rank 0 has (2), rank 1 has (3)", mpi[name], x)
      assert.is_true(damo.array_equal(mpi.bcast(damo.array { #message }), damo.array { #message }))
    end
    refused("shape", "the ranks disagree", mpi.allgather, damo.ones { 2, rank == 1 and 5 or 4 })
    refused("shape", "the ranks disagree", mpi.allgather, x, { equal = true })
    refused("shape", "the ranks disagree", mpi.alltoall, damo.ones { 2, rank == 1 and 5 or 4 })
    refused("shape", "room for 2 entries along axis 1", mpi.sendrecv, x,
      { to = (rank + 1) % size, from = (rank - 1) % size, like = damo.ones { 2 } })
    refused("shape", "layers along axis 1", mpi.halo, damo.ones { rank == 0 and 1 or 3 }, { width = 2 })
    assert.are.equal(size, mpi.allreduce(1))
  end)

  it("dtype and dimensions", function()
    refused("type", "rank 0 has float32 of 1 dimensions, rank 1 has float64 of 1 dimensions", mpi.allreduce,
      damo.ones({ 2 }, { dtype = rank == 0 and "float32" or "float64" }))
    refused("type", "the ranks disagree", mpi.bcast, damo.ones(rank == 0 and { 2 } or { 2, 1 }))
    refused("type", "the ranks disagree", mpi.scatter, damo.ones({ 2 }, { dtype = rank == 0 and "int32" or "int64" }))
  end)

  it("what they call", function()
    local x = damo.ones { 2 }
    refused("inconsistency", "rank 0 has mpi.allreduce sum, rank 1 has mpi.bcast", function()
      if rank == 0 then mpi.allreduce(x) else mpi.bcast(x) end
    end)
    refused("inconsistency", "rank 0 has mpi.allreduce max, rank 1 has mpi.allreduce min", mpi.allreduce, x,
      { op = rank == 0 and "max" or "min" })
    refused("inconsistency", "rank 0 has root 0, rank 1 has root 1", mpi.bcast, x, { root = rank == 0 and 0 or 1 })
    refused("inconsistency", "rank 0 has axis 1, rank 1 has axis 2", mpi.allgather, damo.ones { 2, 2 },
      { axis = rank == 0 and 1 or 2 })
    refused("inconsistency", "something to send to rank", mpi.sendrecv, x, { to = (rank + 1) % size })
    refused("inconsistency", "", function() if rank == 0 then mpi.split(0) else mpi.allreduce(x) end end)
    assert.are.equal(size, mpi.allreduce(1))
  end)

  it("the node of a graph", function()
    local v = damo.dvector "v"
    local a, b = mpi.allreduce(v), mpi.allreduce(v)
    local f, g = damo.compile({ v }, a), damo.compile({ v }, b)
    refused("inconsistency", "number", rank == 0 and f or g, damo.ones { 2 })
    assert.are.equal(2 * size, damo.sum(f(damo.ones { 2 })))
  end)
end)

describe("an error of a collective", function()
  it("names the line that made it, and the line of the call", function()
    local v, group = damo.dvector "v", mpi.split(0)
    local made = debug.getinfo(1, "l").currentline + 1
    local y = mpi.allreduce(v, { group = group })
    local f = damo.compile({ v }, y)
    local err = select(2, pcall(f, damo.ones { rank + 1 }))
    assert.are.equal("shape", err.kind)
    assert.is_truthy(tostring(err):find("the node was made at [^\n]*mismatch_spec.lua:" .. made), tostring(err))
    local called = debug.getinfo(1, "l").currentline + 1
    err = select(2, pcall(mpi.bcast, damo.ones { rank + 1 }, { group = group }))
    assert.is_truthy(err.where:find("mismatch_spec.lua:" .. called .. "$"), err.where)
  end)
end)

describe("a shape that changes", function()
  it("on every rank is agreed on again", function()
    local v = damo.dvector "v"
    local f = damo.compile({ v }, mpi.allreduce(v))
    for _, n in ipairs { 3, 3, 5, 3, 5, 0, 1 } do assert.are.equal(n * size, damo.sum(f(damo.ones { n }))) end
  end)

  it("of blocks needs no agreement", function()
    for round = 1, 6 do
      local n = (round * (rank + 1)) % 3
      local total = 0
      for r = 0, size - 1 do total = total + (round * (r + 1)) % 3 end
      assert.are.equal(total, mpi.allgather(damo.ones { n }).shape[1])
    end
  end)

  it("while the root is far ahead is agreed on", function()
    local group = mpi.split(0)
    for round = 1, 30 do
      local x = mpi.bcast(damo.array { round + rank }, { group = group })
      assert.are.equal(round, x[1])
      if round % 7 == 0 then
        local y = mpi.bcast(damo.zeros { round } + rank, { group = group })
        assert.are.equal(0, damo.sum(y))
      end
    end
  end)
end)

-- These leave the group apart, so each has a group of its own.
describe("ranks that relied on an agreement", function()
  it("and have another shape alone get an error", function()
    local group = mpi.split(0)
    local v = damo.dvector "v"
    local f = damo.compile({ v }, mpi.allreduce(v, { group = group }))
    f(damo.ones { 3 })
    refused("shape", "the ranks disagree", f, damo.ones { rank == size - 1 and 4 or 3 })
    refused("state", "went apart", f, damo.ones { 3 })
    assert.are.equal(size, mpi.allreduce(1))
  end)

  it("and call something else alone get an error", function()
    local group = mpi.split(0)
    local x = damo.ones { 3 }
    mpi.allreduce(x, { group = group })
    refused("inconsistency", "the ranks disagree", function()
      if rank == 0 then mpi.allgather(x, { group = group }) else mpi.allreduce(x, { group = group }) end
    end)
    refused("state", "went apart", mpi.allreduce, x, { group = group })
  end)

  it("and are a call behind get an error", function()
    local group = mpi.split(0)
    local x = damo.ones { 3 }
    mpi.bcast(x, { group = group })
    refused("inconsistency", "the ranks disagree", function()
      if rank == 0 then mpi.bcast(x, { group = group }) end
      mpi.allgather(x, { group = group })
      mpi.allgather(x, { group = group })
    end)
  end)
end)

describe("a rank that left a call in the middle", function()
  -- An Op that fails where it is told to.
  local fails = false
  local stumble = damo.Op { name = "Stumble", itypes = { damo.dvector().type }, otypes = { damo.dvector().type },
    perform = function(_, _, inputs, out)
      if fails then error "stumbled" end
      out[1][1] = inputs[1]:copy()
    end }

  it("and goes on with the next one gets an error, and so do the others", function()
    local x, group = damo.dvector "x", mpi.split(0)
    local a = mpi.allreduce(x, { group = group })
    local b = mpi.allreduce(stumble(a), { group = group })
    local f = damo.compile({ x }, { a, b })
    f(damo.ones { 2 })
    fails = rank == size - 1
    local ok, err = pcall(f, damo.ones { 2 })
    assert.is_false(ok)
    assert.are.equal(fails and "callback" or "inconsistency", err.kind, tostring(err))
    if fails then
      fails = false
      refused("inconsistency", "the ranks disagree", f, damo.ones { 2 })
    end
    refused("state", "went apart", f, damo.ones { 2 })
    assert.are.equal(size, mpi.allreduce(1))
  end)

  it("as all others did can go on", function()
    local x = damo.dvector "x"
    local a = mpi.allreduce(x)
    local f = damo.compile({ x }, { a, mpi.allreduce(stumble(a)) })
    for round = 1, 4 do
      fails = round % 2 == 0
      local ok, _, b = pcall(f, damo.ones { 2 })
      assert.are.equal(not fails, ok)
      if ok then assert.are.equal(size * size, b[1]) end
    end
    fails = false
  end)
end)

describe("mpi.config.check", function()
  it("compares every call", function()
    local v, group = damo.dvector "v", mpi.split(0)
    local a, b = mpi.allreduce(v, { group = group }), mpi.allreduce(v, { group = group })
    local f, g = damo.compile({ v }, a), damo.compile({ v }, b)
    f(damo.ones { 2 })
    g(damo.ones { 2 })
    mpi.config.check = true
    refused("inconsistency", "number", rank == 0 and f or g, damo.ones { 2 })
    mpi.config.check = false
    assert.is_false(mpi.config.check)
    refused("type", "must be true or false", function() mpi.config.check = 1 end)
    assert.are.equal(size, mpi.allreduce(1, { group = group }))
  end)
end)

describe("arguments", function()
  it("are checked before anything is sent", function()
    local x = damo.ones { 2 }
    refused("value", "there is no reduction 'mean'", mpi.allreduce, x, { op = "mean" })
    refused("value", "there is no option 'rooot'", mpi.bcast, x, { rooot = 1 })
    refused("value", "root must be from 0 to " .. size - 1, mpi.bcast, x, { root = size })
    refused("value", "axis must be from -1 to 1", mpi.allgather, x, { axis = 2 })
    refused("shape", "a scalar has no axis", mpi.scatter, 1)
    refused("value", "axis must be from -1 to 1", mpi.allgather, 1, { axis = 2 })
    refused("type", "argument 1 must be an Array or a Variable, got nil", mpi.allreduce, nil)
    refused("type", "group must be a group", mpi.allreduce, x, { group = 1 })
    refused("value", "the grid has 1 ranks", mpi.halo, x, { dims = { 1 } })
    refused("shape", "the condition must be a scalar", mpi.agree, x)
  end)
end)

-- Collectives of a compiled graph run in the order in which the script made them, all of them in every call.
local damo = require "damo"
local mpi = require "damo.mpi"

local size, rank = mpi.size, mpi.rank
local one = damo.array { 1.0 }

-- The names and numbers of the collectives of a Function, in the order of its nodes.
local function order_of(f)
  local order = {}
  for _, node in ipairs(f.fgraph:toposort()) do
    if node.op.name:find "^MpiA" and node.op.name ~= "MpiAfter" then order[#order + 1] = node.op.name end
  end
  return table.concat(order, " ")
end

describe("collectives in one graph", function()
  it("keep the order of the script, however they are listed", function()
    local x = damo.dvector "x"
    local a, b, c = mpi.allreduce(x), mpi.allgather(x), mpi.alltoall(damo.tile(x, size))
    local want = "MpiAllreduce MpiAllgather MpiAlltoall"
    for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE" } do
      assert.are.equal(want, order_of(damo.compile({ x }, { c, a, b }, { mode = mode })))
      assert.are.equal(want, order_of(damo.compile({ x }, { b, c, a }, { mode = mode })))
    end
    -- A rank that lists its outputs in another order fits with the others.
    local f = damo.compile({ x }, rank % 2 == 0 and { a, b, c } or { c, b, a })
    local out = { f(one) }
    assert.are.equal(size, out[rank % 2 == 0 and 1 or 3][1])
  end)

  it("run where a rank's constants would leave them out", function()
    local x = damo.dvector "x"
    local f = damo.compile({ x }, damo.sum(mpi.allreduce(x)) * (rank == 0 and 0 or 1) + mpi.allreduce(damo.sum(x)))
    assert.are.equal((rank == 0 and 0 or size) + size, f(one))
    assert.are.equal((rank == 0 and 0 or size) + size, f(one))
  end)

  it("are not merged, and keep names, lists and Outs", function()
    local x = damo.dvector "x"
    local a, b = mpi.allreduce(x), mpi.allreduce(x)
    local f = damo.compile({ damo.In(x, { value = one }) }, { a = damo.Out(a, { borrow = true }), b = b })
    assert.are.equal("MpiAllreduce MpiAllreduce", order_of(f))
    local out = f()
    assert.are.equal(size, out.a[1])
    assert.are.equal(size, out.b[1])
    assert.are.equal(size, damo.compile({ x }, a)(one)[1])
    assert.are.equal(size, damo.compile({ x }, { { inner = a } })(one).inner[1])
  end)

  it("are ordered in updates and through givens", function()
    local x, y = damo.dvector "x", damo.dvector "y"
    local w, total = damo.shared(damo.array { 0.0 }, "w"), damo.shared(damo.array { 0.0 }, "total")
    local f = damo.compile({ y }, mpi.allreduce(x), {
      givens = { [x] = mpi.allreduce(y) * w },
      updates = { [w] = w + mpi.allreduce(y), [total] = total + mpi.allreduce(w) },
    })
    assert.are.equal(0, f(one)[1])
    assert.are.equal(size * size * size, f(one)[1])
    assert.are.equal(2 * size, w:get_value()[1])
    assert.are.equal(size * size, total:get_value()[1])
    local g = damo.compile({ y }, nil, { updates = { { w, mpi.allreduce(y) } } })
    g(one)
    assert.are.equal(size, w:get_value()[1])
  end)

  it("draw from streams as before", function()
    local function draw(with)
      local stream = damo.random.RandomStream(7)
      local u = stream:uniform { size = { 3 } }
      local f = damo.compile({}, { u, with and mpi.allreduce(u) or u })
      f()
      return (f())
    end
    assert.is_true(damo.array_equal(draw(false), draw(true)))
  end)
end)

describe("branches", function()
  it("run their collectives on every rank, whichever is taken", function()
    local x, c = damo.dvector "x", damo.bscalar "c"
    local y = damo.ifelse(c, mpi.allreduce(x) * 2, mpi.allgather(x)[{ { 1, 1 } }])
    local f = damo.compile({ c, x }, y)
    for round = 0, 3 do
      local took = (rank + round) % 2 == 0
      assert.are.equal(took and 2 * size or 1, f(took and 1 or 0, one)[1])
    end
  end)

  it("take an agreed condition as any other", function()
    local x = damo.dvector "x"
    local c = mpi.agree(damo.gt(x[1], 0.5), { op = "any" })
    local f = damo.compile({ x }, damo.ifelse(c, mpi.allreduce(x), x))
    assert.are.equal(1, f(damo.array { rank == 0 and 1.0 or 0.0 })[1])
  end)
end)

describe("an Op that holds a graph", function()
  it("has its collectives in the order of the script", function()
    local x = damo.dvector "x"
    local a, b = mpi.allreduce(x), mpi.allreduce(x * 2)
    for _, inline in ipairs { true, false } do
      local outputs = rank == 0 and { a, b } or { b, a }
      local p, q = damo.graph.OpFromGraph({ x }, outputs, { inline = inline })(x)
      if rank > 0 then p, q = q, p end
      local f = damo.compile({ x }, { p, q })
      assert.are.equal("MpiAllreduce MpiAllreduce", order_of(f))
      for _ = 1, 2 do
        p, q = f(one)
        assert.are.equal(size, p[1])
        assert.are.equal(2 * size, q[1])
      end
    end
  end)

  it("runs those of both branches", function()
    local x, c = damo.dvector "x", damo.bscalar "c"
    local y = damo.ifelse(c, mpi.allreduce(x), mpi.allreduce(x * 2))
    for _, inline in ipairs { true, false } do
      local op = damo.graph.OpFromGraph({ c, x }, { y }, { inline = inline })
      local f = damo.compile({ c, x }, op(c, x))
      assert.are.equal(size, f(1, one)[1])
      assert.are.equal(2 * size, f(0, one)[1])
      assert.are.equal(rank == 0 and size or 2 * size, f(rank == 0 and 1 or 0, one)[1])
    end
  end)
end)

describe("loops", function()
  it("have the collectives of a step in the order of the script", function()
    local x = damo.dvector "x"
    for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE", "DEBUG" } do
      local h, k = damo.scan(function(e)
        local a, b = mpi.allreduce(e), mpi.allreduce(e * 2)
        if rank == 0 then return { a, b } else return { b, a } end
      end, { sequences = { x } })
      if rank > 0 then h, k = k, h end
      h, k = damo.compile({ x }, { h, k }, { mode = mode })(damo.array { 0.5, 1.5 })
      for t = 1, 2 do
        assert.are.equal(size * (t - 0.5), h[t])
        assert.are.equal(2 * size * (t - 0.5), k[t])
      end
    end
  end)

  it("run the collectives of both branches in each step, and have gradients", function()
    local x, w = damo.dvector "x", damo.shared(damo.array(3.0), "w")
    local h = damo.scan(function(e)
      return damo.ifelse(damo.gt(e, rank), mpi.allreduce(e * w), mpi.allreduce(2 * e * w))
    end, { sequences = { x } })
    local f = damo.compile({ x }, { h, damo.grad(damo.sum(h), w) })
    -- each branch alone is agreed on first, on all ranks
    f(damo.full({ 1 }, rank + 1.0))
    f(damo.full({ 1 }, rank - 1.0))
    local got, g = f(damo.array { 1, 2 })
    local slope = 0
    for t = 1, 2 do
      assert.are.equal((t > rank and 3 or 6) * t * size, got[t])
      for r = 0, size - 1 do slope = slope + (t > r and 1 or 2) * t end
    end
    assert.are.equal(slope, g)
  end)

  it("compare the collectives of each step in DEBUG", function()
    if size == 1 then return end
    local x, group = damo.dvector "x", mpi.split(0)
    local function loop()
      return damo.scan(function(e) return mpi.allreduce(e, { group = group }) end, { sequences = { x } })
    end
    local a, b = loop(), loop()
    local f, g = damo.compile({ x }, a, { mode = "DEBUG" }), damo.compile({ x }, b, { mode = "DEBUG" })
    f(one)
    g(one)
    local ok, err = pcall(rank == 0 and f or g, one)
    assert.is_false(ok)
    assert.are.equal("inconsistency", err.kind)
    assert.are.equal(size, mpi.allreduce(1))
  end)

  it("of a number of steps have collectives in their steps", function()
    local x, h0 = damo.dvector "x", damo.dscalar "h0"
    local h = damo.scan(function(e, h) return mpi.allreduce(h * e) end, { sequences = { x }, outputs_info = { h0 } })
    local before, after = mpi.allreduce(h0), mpi.allreduce(h0 * 2)
    local cost = damo.sum(h) + before
    local f = damo.compile({ x, h0 }, { h, damo.grad(cost, h0), before, after })
    local got, g = f(damo.array { 1, 0.5, 2 }, 1)
    local want = { size, size ^ 2 * 0.5, size ^ 3 }
    for k = 1, 3 do assert.are.equal(want[k], got[k]) end
    -- The sum over the ranks of the costs moves by size times what each moves.
    assert.are.equal(size + size ^ 2 * 0.5 + size ^ 3 + size, g)
  end)

  it("of other numbers of steps on the ranks are refused", function()
    local x, n = damo.dscalar "x", damo.lscalar "n"
    local group = mpi.split(0)
    local h = damo.scan(function(e) return mpi.allreduce(e, { group = group }) / size end,
      { outputs_info = { x }, n_steps = n })
    local f = damo.compile({ x, n }, h)
    assert.are.same({ 3 }, f(1, 3).shape)
    assert.are.same({ 5 }, f(1, 5).shape)
    if size > 1 then
      local ok, err = pcall(f, 1, rank == 0 and 2 or 4)
      assert.is_false(ok)
      assert.are.equal("value", err.kind)
      assert.is_truthy(err.message:find("the number of steps of a loop with collectives: the ranks disagree: " ..
        "rank 0 has 2, rank 1 has 4", 1, true))
    end
    assert.are.same({ 4 }, f(1, 4).shape)
  end)

  it("that end by a condition need one that the ranks agree on", function()
    local x = damo.dscalar "x"
    local function loop(cond)
      return damo.while_loop(cond, function(v) return mpi.allreduce(v) / size * 2 end, x)
    end
    local agreed = loop(function(v) return mpi.agree(damo.lt(v, 10), { op = "any" }) end)
    assert.are.equal(16, damo.compile({ x }, agreed)(1))
    local ok, err = pcall(damo.compile, { x }, loop(function(v) return damo.lt(v, 10) end))
    assert.is_false(ok)
    assert.are.equal("value", err.kind)
    assert.is_truthy(err.message:find("use mpi.agree(cond)", 1, true))
    -- what a part of the ranks agrees on is no answer of all
    local solo = mpi.split(mpi.rank)
    ok, err = pcall(damo.compile, { x }, loop(function(v) return mpi.agree(damo.lt(v, 10), { group = solo }) end))
    assert.is_false(ok)
    assert.are.equal("value", err.kind)
  end)
end)

describe("DEBUG mode", function()
  it("runs collectives as often on every rank, and checks each call", function()
    local x = damo.dvector "x"
    local y = mpi.allgather(mpi.allreduce(damo.sin(x)) * x)
    local f = damo.compile({ x }, { y, damo.grad(damo.sum(y * y), x) }, { mode = "DEBUG" })
    local g = damo.compile({ x }, { y, damo.grad(damo.sum(y * y), x) })
    for _ = 1, 3 do
      local a, ga = f(damo.array { 0.5 + rank, 1 })
      local b, gb = g(damo.array { 0.5 + rank, 1 })
      assert.is_true(damo.allclose(a, b) and damo.allclose(ga, gb))
    end
  end)

  it("finds calls that an earlier agreement would let pass", function()
    if size == 1 then return end
    local x = damo.dvector "x"
    local group = mpi.split(0)
    local a, b = mpi.allreduce(x, { group = group }), mpi.allreduce(x, { group = group })
    local f, g = damo.compile({ x }, a, { mode = "DEBUG" }), damo.compile({ x }, b, { mode = "DEBUG" })
    f(one)
    g(one)
    local ok, err = pcall(rank == 0 and f or g, one)
    assert.is_false(ok)
    assert.are.equal("inconsistency", err.kind)
    assert.are.equal(size, g(one)[1])
  end)
end)

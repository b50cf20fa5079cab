-- Calls cut into time slices: f:start.
local damo = require "damo"
local garbage = require "spec.support.garbage"

local function run_to_end(run, us)
  local steps = 0
  repeat
    steps = steps + 1
    assert(steps < 10000000)
  until run:step(us)
  return steps
end

local function same(a, b) assert.are.equal(tostring(a), tostring(b)) end

describe("a run", function()
  it("gives the values of the call", function()
    local x = damo.dvector "x"
    local f = damo.compile({ x }, { damo.sum(damo.exp(x) * 2), damo.tanh(x) })
    local a = damo.array { 0.5, 1.5, -2 }
    local s, t = f(a)
    local run = f:start(a)
    run_to_end(run, 0)
    local s2, t2 = run:result()
    assert.are.equal(s, s2)
    same(t, t2)
  end)

  it("takes a budget that is a number from 0 on", function()
    local x = damo.dvector "x"
    local run = damo.compile({ x }, damo.sum(x)):start(damo.array { 1, 2 })
    for _, us in ipairs { "x", {}, true } do
      local ok, err = pcall(function() run:step(us) end)
      assert.is_false(ok)
      assert.are.equal("type", err.kind)
    end
    assert.error_matches(function() run:step(0 / 0) end, "0 or more microseconds")
    assert.error_matches(function() run:step(-1) end, "0 or more microseconds")
    assert.is_true(run:step())
    assert.are.equal(3, run:result())
  end)

  it("has no result before its end, and none after being cancelled", function()
    local x = damo.dvector "x"
    local f = damo.compile({ x }, damo.sum(x))
    local run = f:start(damo.array { 1, 2 })
    assert.error_matches(function() run:result() end, "has not ended")
    run:cancel()
    assert.error_matches(function() run:result() end, "cancelled")
    assert.error_matches(function() run:step() end, "not under way")
    assert.are.equal(run, run:restart(damo.array { 3, 4 }))
    assert.is_true(run:step())
    assert.is_true(run:step())
    assert.are.equal(7, run:result())
  end)

  it("commits in its last step, and not where a value was set meanwhile", function()
    local n = damo.shared(1.0, "n")
    local x = damo.dscalar "x"
    local f = damo.compile({ x }, n * x, { updates = { { n, n + x } } })
    local run = f:start(10)
    assert.are.equal(1, n:get_value())
    run_to_end(run, 0)
    assert.are.equal(10, run:result())
    assert.are.equal(11, n:get_value())
    run:restart(1)
    f(5)
    assert.error_matches(function() run_to_end(run, 0) end, "set after it began")
    assert.are.equal(16, n:get_value())
  end)

  it("keeps its inputs from being written until the end", function()
    local x = damo.dvector "x"
    local f = damo.compile({ x }, damo.sum(x))
    local a = damo.array { 1, 2 }
    local view = a[{ { 1, 1 } }]
    local run = f:start(a)
    assert.error_matches(function() a[1] = 5 end, "run that has not ended")
    assert.error_matches(function() view[1] = 5 end, "run that has not ended")
    run:step()
    a[1] = 5
    assert.are.equal(5, view[1])
    assert.are.equal(3, run:result())
  end)

  it("keeps its inputs from calls that write into them, and from snapshots", function()
    local x, p = damo.dscalar "x", damo.dvector "p"
    local slow, square = damo.compile({ x, p }, x * damo.sum(p)), damo.compile({ x }, x * x + 1)
    local a, p0 = damo.array(2.0), damo.array { 1, 2 }
    local into = square:into(a)
    for _ = 1, 300 do into(3) end -- by machine code
    local run = slow:start(a, p0)
    assert.error_matches(function() into(5) end, "input of a run under way")
    assert.are.equal(10, a:item())
    run:step()
    assert.are.equal(30, run:result())
    assert.are.equal(26, into(5))
    assert.are.equal(26, a:item())

    local bytes, s = damo.tensor { dtype = "uint8", shape = { false } }, damo.shared(1.0)
    local f = damo.compile({}, s)
    local room = damo.zeros({ #f:snapshot() }, "uint8")
    local held = damo.compile({ bytes }, damo.sum(bytes)):start(room)
    assert.error_matches(function() f:snapshot(room) end, "run that has not ended")
    held:cancel()
    assert.are.equal(room.size, f:snapshot(room))
  end)

  it("stops inside of loops over time and over elements", function()
    local x, h0 = damo.dvector "x", damo.dvector "h0"
    local h = damo.scan(function(xt, h) return damo.tanh(h * 0.9 + xt) end,
      { sequences = { x }, outputs_info = { h0 } })
    local f = damo.compile({ x, h0 }, { h, damo.sum(damo.exp(damo.sin(x))) })
    local xs, hs = damo.linspace(0, 1, 20000), damo.zeros { 50 }
    local r, s = f(xs, hs)
    local run = f:start(xs, hs)
    assert.is_true(run_to_end(run, 20) > 20)
    local r2, s2 = run:result()
    assert.are.equal(s, s2)
    assert.are.equal(0, damo.sum(damo.abs(r - r2)))
  end)

  it("writes into Arrays and matrices, in its last step", function()
    local x = damo.dvector "x"
    local f = damo.compile({ x }, { damo.exp(x), damo.sum(x), damo.sparse.csc_from_dense(damo.outer(x, x)) })
    local a = damo.array { 1, 0, 2 }
    local e, s, m = f(a)
    local out, matrix = damo.zeros { 3 }, damo.sparse.csc_from_dense(damo.eye(3))
    local into = f:into(out, nil, matrix)
    local run = into:start(a)
    run_to_end(run, 0)
    local r1, r2, r3 = run:result()
    assert.is_true(r1 == out and r3 == matrix)
    assert.are.equal(s, r2)
    same(e, out)
    same(m, matrix)
    run:restart(damo.array { 0, 0, 0 })
    assert.is_false(run:step(0))
    same(e, out)
    run:cancel()
    same(e, out)
    same(m, matrix)
    assert.is_true(run:restart(damo.array { 0, 0, 3 }):step())
    assert.are.equal(1, out[1])
    assert.are.equal(9, matrix:toarray()[{ 3, 3 }])
    out = nil -- luacheck: ignore 311
    assert.error_matches(function() into.start({}, a) end, "into")
  end)

  it("is begun again without garbage in Lua or native memory", function()
    local x, s = damo.dvector "x", damo.dscalar "s"
    local n = damo.shared(0.0)
    local f = damo.compile({ x, s }, { damo.exp(damo.sin(x)) * s, damo.sum(x) }, { updates = { { n, n + s } } })
    local a, out, total = damo.ones { 1000 }, damo.zeros { 1000 }, damo.zeros {}
    for _, run in ipairs { f:start(a, 1), f:into(out, total):start(a, 1) } do
      local function frames(count)
        for _ = 1, count do
          run:restart(a, 2)
          while not run:step(20) do end
        end
      end
      frames(20)
      local native = garbage.collect().bytes
      assert.equal(0, garbage.made(function() frames(50) end))
      assert.equal(native, garbage.collect().bytes)
    end
  end)

  it("names the node of an error", function()
    local x = damo.dvector "x"
    local f = damo.compile({ x }, damo.linalg.cholesky(damo.diag(damo.exp(x) - 2)))
    local run = f:start(damo.array { 1, -1 })
    local ok, err = pcall(function() run_to_end(run, 0) end)
    assert.is_false(ok)
    assert.equal("Cholesky", err.op)
    assert.equal("numeric", err.kind)
    assert.truthy(err.node)
    assert.truthy(err.trace[1])
  end)

  it("is cancelled in the middle, by the collector too", function()
    local x = damo.dvector "x"
    local h = damo.scan(function(xt, s) return s + damo.sum(damo.exp(x * s)) * xt end,
      { sequences = { x }, outputs_info = { 0.0 } })
    local f = damo.compile({ x }, h)
    local xs = damo.ones { 30000 }
    local run = f:start(xs)
    assert.is_false(run:step(100))
    run:cancel()
    run:restart(xs)
    assert.is_false(run:step(100))
    run = nil -- luacheck: ignore 311
    garbage.collect()
    xs[1] = 2
  end)
end)

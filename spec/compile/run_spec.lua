-- Calls cut into time slices: f:start.
local damo = require "damo"

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
    collectgarbage()
    collectgarbage()
    xs[1] = 2
  end)
end)

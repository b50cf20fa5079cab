-- checkpoint: gradients over states that are computed again are those over states that are all kept.
local damo = require "damo"
local garbage = require "spec.support.garbage"

local A = damo.array
local POLICIES = { "all", 1, 2, 3, 7, "log" }

local function draw(seed, ...)
  local _, v = damo.random.normal(0, 0.4, { size = { ... }, rng = damo.random.state(seed) })
  return v
end

local function assert_near(expected, actual, tolerance)
  local e, a = A(expected), A(actual)
  assert.same(e.shape, a.shape)
  assert.is_true(damo.allclose(e, a, { rtol = tolerance, atol = tolerance }))
end

-- make(checkpoint) gives inputs and results, of which the first are values of the loop, equal to the bit.
local function agree(make, arguments, values)
  local expected
  for _, policy in ipairs(POLICIES) do
    for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE", "DEBUG" } do
      local inputs, results = make(policy)
      local f = damo.compile(inputs, results, { mode = mode })
      for _ = 1, 2 do
        local got = { f(table.unpack(arguments)) }
        expected = expected or got
        for i = 1, #got do
          if i <= (values or 0) and mode == "FAST_RUN" then assert.equal(tostring(expected[i]), tostring(got[i])) end
          assert_near(expected[i], got[i], 1e-10)
        end
      end
    end
  end
end

local function with_gradient(inputs, value, cost)
  return inputs, { value, table.unpack(damo.grad(cost, inputs)) }
end

describe("checkpoint", function()
  it("changes no value and no gradient of a recurrence", function()
    agree(function(policy)
      local x, h0, w = damo.dmatrix "x", damo.dvector "h0", damo.dmatrix "w"
      local y = damo.scan(function(v, h) return damo.tanh(damo.dot(h, w) + v) end,
        { sequences = x, outputs_info = h0, checkpoint = policy })
      return with_gradient({ x, h0, w }, y, (y ^ 2):sum())
    end, { draw(1, 23, 3), draw(2, 3), draw(3, 3, 3) }, 1)
  end)

  it("goes with taps, several outputs, steps backwards, and states written in place", function()
    agree(function(policy)
      local x, h0, w = damo.dvector "x", damo.dvector "h0", damo.dscalar "w"
      local y, z = damo.scan(function(a, b, g, h) return damo.sin(g * w + h) + a * b, damo.exp(-h * h) * a end,
        { sequences = { { input = x, taps = { -1, 1 } } }, go_backwards = true,
          outputs_info = { { initial = h0, taps = { -3, -1 } }, false }, checkpoint = policy })
      return with_gradient({ x, h0, w }, z, (y ^ 2):sum() + z:sum())
    end, { draw(1, 19), draw(2, 4), 0.7 }, 1)
    agree(function(policy)
      local h0, v0, w = damo.dvector "h0", damo.dscalar "v0", damo.dscalar "w"
      local _, v = damo.scan(function(h, v) return h * w, damo.tanh(v * h[1] + h[2]) end,
        { outputs_info = { h0, v0 }, n_steps = 11, checkpoint = policy })
      return with_gradient({ h0, v0, w }, v, (v ^ 2):sum())
    end, { draw(2, 3), 0.4, 0.2 }, 1)
  end)

  it("goes with until, while_loop, truncate_gradient, and no step", function()
    local function loop(h) return damo.sin(h) * 0.9 + h end
    agree(function(policy)
      local w, h0 = damo.dscalar "w", damo.dscalar "h0"
      local y = damo.scan(function(h) return loop(h) * w, damo.until_(h:gt(9)) end,
        { outputs_info = h0, n_steps = 100, checkpoint = policy })
      return with_gradient({ w, h0 }, y, (y ^ 2):sum())
    end, { 1.1, 0.3 }, 1)
    agree(function(policy)
      local w, h0 = damo.dscalar "w", damo.dscalar "h0"
      local y = damo.while_loop(function(h) return h:lt(2.5) end, function(h) return loop(h) * w end, h0,
        { checkpoint = policy })
      return with_gradient({ w, h0 }, y, y ^ 2)
    end, { 1.01, 0.3 }, 1)
    for _, case in ipairs { { 17, 6 }, { 17, 60 }, { 0, 3 } } do
      agree(function(policy)
        local x, h0 = damo.dvector "x", damo.dscalar "h0"
        local y = damo.scan(function(v, h) return loop(h) * v end,
          { sequences = x, outputs_info = h0, checkpoint = policy, truncate_gradient = case[2] })
        return with_gradient({ x, h0 }, y, (y ^ 2):sum())
      end, { draw(4, case[1]), 0.3 }, 1)
    end
  end)

  it("goes with second and third order, tangents, and nested loops", function()
    agree(function(policy)
      local x, w, h0 = damo.dvector "x", damo.dscalar "w", damo.dscalar "h0"
      local y = damo.scan(function(v, h) return damo.sin(h) * w + h * v end,
        { sequences = x, outputs_info = h0, checkpoint = policy })
      local g, tangent = damo.grad((y ^ 2):sum(), w), damo.Rop(y, w, damo.constant(2.0))
      local second = damo.grad(g, w)
      return { x, w, h0 }, { g, second, damo.grad(g, x), damo.grad(second, h0), damo.Rop(g, w, damo.constant(2.0)),
        tangent, damo.grad(tangent:sum(), h0) }
    end, { draw(5, 13), 0.9, 0.3 })
    agree(function(policy)
      local x, w = damo.dmatrix "x", damo.dscalar "w"
      local y = damo.scan(function(row, h)
        return damo.reduce(function(v, g) return damo.tanh(g * w + v) end,
          { sequences = row, outputs_info = h, checkpoint = policy })
      end, { sequences = x, outputs_info = damo.constant(0.1), checkpoint = policy })
      local g = damo.grad(y:sum(), w)
      return { x, w }, { g, damo.grad(g, w) }
    end, { draw(6, 5, 6), 0.9 })
  end)

  it("holds random and shared states, which computing again does not advance", function()
    local drawn
    for _, policy in ipairs(POLICIES) do
      local rs, m, s = damo.random.RandomStream(3), damo.dscalar "m", damo.shared(1.0, "s")
      local y = damo.scan(function(h) return damo.sin(h * m) * s + rs:normal(0, 1), { [s] = s + 1 } end,
        { outputs_info = 1.0, n_steps = 20, checkpoint = policy })
      local f = damo.compile({ m }, damo.grad(y[-1], m))
      local got = { f(1.5), f(1.5) }
      assert.equal(41, s:get_value())
      drawn = drawn or got
      assert_near(drawn, got, 1e-10)
      damo.compile({ m }, { y[-1], damo.grad(y[-1], m), damo.grad(damo.grad(y[-1], m), m) })(1.5)
      assert.equal(61, s:get_value())
    end
  end)

  it("goes through sparse states, and through states that change their length", function()
    local sparse, e = damo.sparse, 1e-6
    for _, policy in ipairs(POLICIES) do
      local w, x = sparse.csr_matrix "w", damo.dvector "x"
      local _, z = damo.scan(function(h, v) return h * 0.5 + h, sparse.dot(h, v) * damo.tanh(v) end,
        { outputs_info = { w, x }, n_steps = 3, checkpoint = policy })
      local value, f = damo.compile({ w, x }, z[-1]:sum()), damo.compile({ w, x }, damo.grad(z[-1]:sum(), x))
      local m = sparse.eye(2, 2)
      assert_near({ (value(m, A { 1 + e, 2 }) - value(m, A { 1 - e, 2 })) / (2 * e),
        (value(m, A { 1, 2 + e }) - value(m, A { 1, 2 - e })) / (2 * e) }, f(m, A { 1, 2 }), 1e-5)

      local y = damo.while_loop(function(a) return damo.lt(a.shape[1], 9) end,
        function(a) return damo.concatenate { a * a, a } end, x, { checkpoint = policy })
      local cost = damo.sin(y):sum()
      local longer, slope = damo.compile({ x }, cost), damo.compile({ x }, damo.grad(cost, x))
      assert_near({ (longer(A { 0.5 + e, 0.7 }) - longer(A { 0.5 - e, 0.7 })) / (2 * e),
        (longer(A { 0.5, 0.7 + e }) - longer(A { 0.5, 0.7 - e })) / (2 * e) }, slope(A { 0.5, 0.7 }), 1e-6)
    end
  end)

  it("needs memory for the states that it keeps, not for all", function()
    local w = damo.dvector "w"
    local function fits(policy)
      local y = damo.scan(function(h) return damo.sin(h * w) end,
        { outputs_info = w, n_steps = 2000, checkpoint = policy })
      local f, one = damo.compile({ w }, damo.grad(y[-1]:sum(), w)), damo.ones { 4000 }
      garbage.collect() -- what finalizers have let go
      local cap = damo.config.memory_cap
      damo.config.memory_cap = damo.memory().bytes + 60 * 32000 -- 44 states, and what a step computes
      local ok, err = pcall(f, one)
      damo.config.memory_cap = cap
      assert.is_true(ok or err.kind == "memory", err)
      return ok
    end
    assert.is_true(fits "log")
    assert.is_false(fits(100))
    assert.is_false(fits "all")
  end)

  it("has its states in the peak of a profile", function()
    local state = 8000
    local function peak(policy, taps)
      local x = damo.dmatrix "x"
      local y = damo.scan(function(h, before) return damo.sin(h * x[1]) + (before or 0) end,
        { outputs_info = { initial = x, taps = taps }, n_steps = 100, checkpoint = policy })
      local f = damo.compile({ x }, damo.grad(y[-1]:sum(), x), { profile = true })
      f(damo.ones { 2, state / 8 })
      return f.profile.peak / state
    end
    local function between(least, n, most) assert.is_true(least <= n and n <= most, n) end
    for _, taps in ipairs { { -1 }, { -1, -2 } } do -- that reach two steps back share values between checkpoints
      local beside = peak(100, taps) - 99 -- the initial values are the caller's
      between(1, beside, 12)
      between(beside + 9 + 9, peak(10, taps), beside + 10 + 10 + #taps * 10)
      between(beside + 15, peak("log", taps), beside + 26 * #taps)
    end

    local v = damo.dvector "v" -- a tangent of a gradient keeps to the checkpoints: with each state its tangent
    local h = damo.scan(function(h) return damo.sin(h * v) end, { outputs_info = v, n_steps = 100, checkpoint = "log" })
    local slope = damo.grad(damo.sin(h[-1]):sum(), v)
    local hv = damo.compile({ v }, damo.Rop(slope, v, damo.cos(v)), { profile = true })
    hv(damo.ones { state / 8 })
    between(2 * 15, hv.profile.peak / state, 2 * 26 + 20)

    local w = damo.sparse.csr_matrix "w"
    local y = damo.scan(function(s) return damo.sin(s * w) end, { outputs_info = w, n_steps = 50 })
    local f = damo.compile({ w }, damo.grad(damo.sparse.sp_sum(y, { sparse_grad = true }), w), { profile = true })
    f(damo.sparse.eye(1000))
    between(49, f.profile.peak / (1000 * 8 + 1000 * 4 + 1001 * 4), 55)
  end)

  it("names the step of both loops in errors", function()
    local x, w = damo.dvector "x", damo.dvector "w"
    local function message(at, values)
      local y = damo.scan(function(v, h) return damo.sin(h) * w[damo.cast(v, "int64")] end,
        { sequences = x, outputs_info = 1.0, name = "walk", checkpoint = 2 })
      local ok, err = pcall(damo.compile({ x, w }, damo.grad(y[at], w)), A(values), A { 1, 2, 3 })
      assert.is_false(ok)
      return err.message
    end
    assert.truthy(message(-1, { 1, 9, 2 }):find("in step 2 of Scan{walk}", 1, true))
    assert.truthy(message(-1, { 1, 2, 9 }):find("in step 1 of Scan{gradient of walk}", 1, true))
  end)

  it("leaves out what nothing reads: without states it is the plain loop", function()
    local function ops(wrt)
      local x, m = damo.dvector "x", damo.dmatrix "m"
      local y = damo.reduce(function(h) return damo.dot(m, h) end,
        { outputs_info = x, n_steps = 50, checkpoint = "log" })
      local f = damo.compile({ x, m }, damo.grad(y:sum(), wrt == "x" and x or m))
      local names = {}
      for _, node in ipairs(f.fgraph.apply_nodes) do names[tostring(node.op):match "^[%a]+"] = true end
      return names
    end
    assert.is_true(ops "m".ScanGrad)
    local linear = ops "x"
    assert.is_nil(linear.ScanGrad)
    assert.is_true(linear.Scan)
  end)
end)

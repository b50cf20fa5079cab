-- Derivatives of scans: against finite differences, of first to third order, and what they leave alone.
local damo = require "damo"

local A = damo.array

local function draw(seed, ...)
  local _, v = damo.random.normal(0, 1, { size = { ... }, rng = damo.random.state(seed) })
  return v
end

local function check(fn, values) damo.verify_grad(fn, values, { rel_tol = 1e-5, abs_tol = 1e-5 }) end

local function rnn(x, h0, w)
  return damo.scan(function(x_t, h) return damo.tanh(damo.dot(h, w) + x_t) end, { sequences = x, outputs_info = h0 })
end

local function small(x, h0, w)
  return damo.scan(function(x_t, h) return damo.tanh(h * w + x_t) end, { sequences = x, outputs_info = h0 })
end

local function with_taps(x, h0, w)
  return damo.scan(function(before, after, h2, h1) return damo.tanh(h2 * w + before * h1) * after,
    before * after * h1 end,
    { sequences = { { input = x, taps = { -1, 1 } } }, outputs_info = { { initial = h0, taps = { -2, -1 } }, false } })
end

describe("the gradient of a scan", function()
  it("for sequences, initial states, non_sequences and Variables of outside", function()
    local values = { draw(1, 5, 3), draw(2, 3), draw(3, 3, 3) }
    check(rnn, values)
    check(function(...) return rnn(...)[-1] end, values)
    check(function(x, h0, w)
      return damo.scan(function(x_t, h, v) return damo.sin(damo.dot(h, v)) * x_t end,
        { sequences = x, outputs_info = h0, non_sequences = w })
    end, values)
  end)

  it("through taps and several outputs", function()
    check(function(...)
      local a, b = with_taps(...)
      return a:sum() + (b ^ 2):sum()
    end, { draw(1, 6), draw(2, 3), draw(3) })
    check(function(x, p0, q0)
      local p, q = damo.scan(function(x_t, p, q) return p * q + x_t, damo.sin(p) - q end,
        { sequences = x, outputs_info = { p0, q0 } })
      return p:sum() + q[-1]
    end, { draw(1, 5), draw(2), draw(3) })
  end)

  it("backwards, of map, of fewer steps than rows, of no sequence", function()
    check(function(x, h0)
      return damo.scan(function(a, b, h) return damo.sin(h * a) + b end,
        { sequences = { { input = x, taps = { 0, 1 } } }, outputs_info = h0, go_backwards = true })
    end, { draw(1, 6), draw(2) })
    check(function(x) return damo.map(function(v) return damo.sin(v) * v:sum() end, { sequences = x }) end, { draw(1,
      4, 3) })
    check(function(x, h0)
      return damo.scan(function(x_t, h) return damo.sin(h) * x_t end, { sequences = x, outputs_info = h0, n_steps = 3 })
    end, { draw(1, 6), draw(2) })
    check(function(h0)
      return damo.scan(function(h) return damo.sin(h) * h end, { outputs_info = h0, n_steps = 4 })
    end, { draw(1, 2) })
    check(function(x)
      return damo.reduce(function(x_t, a) return a * x_t + a * a * 0.1 end, { sequences = x, outputs_info = 1.0 })
    end, { draw(1, 5) })
  end)

  it("respects until, and goes through while_loop", function()
    check(function(x, h0)
      return damo.scan(function(x_t, h)
        local now = h * 1.5 + x_t * x_t
        return now, damo.until_(damo.gt(now, 10))
      end, { sequences = x, outputs_info = h0 })
    end, { draw(1, 30), A(1.0) })
    check(function(h0, k)
      return damo.while_loop(function(h) return damo.lt(h, 50) end, function(h) return h * k + h * h * 0.1 end, h0)
    end, { A(1.0), A(1.7) })
  end)

  it("of second and third order", function()
    local values = { draw(1, 4), draw(2), draw(3) }
    check(function(x, h0, w)
      local g = damo.grad((small(x, h0, w) ^ 2):sum(), { x, h0, w })
      return g[1]:sum() + damo.sin(g[2]) + g[3] ^ 2
    end, values)
    check(function(x, h0, w) return damo.grad(damo.grad((small(x, h0, w) ^ 2):sum(), w), h0) end, values)
    check(function(x, h0, w)
      local g = damo.grad((with_taps(x, h0, w) ^ 2):sum(), { x, h0, w })
      return g[1]:sum() + damo.sin(g[2]):sum() + g[3] ^ 2
    end, { draw(1, 6), draw(2, 3), draw(3) })
  end)

  it("of nested scans", function()
    check(function(x, w)
      return damo.scan(function(x_t)
        return damo.scan(function(g) return damo.sin(g * w) + x_t end, { outputs_info = 0.3, n_steps = 3 })[-1]
      end, { sequences = x })
    end, { draw(1, 4), draw(3) })
  end)

  it("goes back through the last steps alone with truncate_gradient", function()
    local x, h0 = damo.dvector "x", damo.dscalar "h0"
    local function slopes(steps)
      local y = damo.scan(function(x_t, h) return h * 0.5 + x_t end,
        { sequences = x, outputs_info = h0, truncate_gradient = steps })
      local a, b = damo.compile({ x, h0 }, damo.grad(y[-1], { x, h0 }))(A { 1, 2, 3, 4 }, 1)
      return a:totable(), b
    end
    local a, b = slopes(2)
    assert.same({ 0, 0, 0.5, 1 }, a)
    assert.equal(0, b)
    a, b = slopes(-1)
    assert.same({ 0.125, 0.25, 0.5, 1 }, a)
    assert.equal(0.0625, b)
    assert.same({ a, b }, { slopes(4) })
  end)

  it("has further derivatives as if the state before the last steps were a constant, in every policy", function()
    local n, last = 9, 4
    local function step(x_t, h, before, w) return damo.tanh(damo.dot(w, h) + 0.3 * before + x_t) * x_t end
    local x, start, w = damo.dmatrix "x", damo.dmatrix "start", damo.dmatrix "w"
    local inputs, args = { x, start, w }, { draw(1, n, 2), draw(2, 2, 2), draw(3, 2, 2) }
    local function loop(rows, initial, options)
      options.sequences, options.outputs_info = rows, { { initial = initial, taps = { -1, -2 } } }
      options.non_sequences = w
      return damo.scan(step, options)
    end
    local early = damo.disconnected_grad(damo.concatenate { start, loop(x[{ { 1, n - last } }], start, {}) })
    local late = loop(x[{ { n - last + 1, n } }], early[{ { -2, -1 } }], {})
    local whole = damo.concatenate({ early[{ { 3, -1 } }], late })
    local function derivatives(h)
      local cost = damo.sum(damo.sqr(h[-1])) + damo.sum(h ^ 3)
      local ignore = { disconnected_inputs = "ignore" }
      local g = damo.grad(cost, inputs, ignore)
      local second = damo.grad(damo.sum(g[3] * w) + damo.sum(damo.sqr(g[1])), inputs, ignore)
      local product = damo.hessian_vector_product(cost, w, damo.sin(w))
      local third = damo.grad(damo.sum(product ^ 2), { x, w }, ignore)
      return { g[1], g[2], g[3], second[1], second[2], second[3], product, third[1], third[2] }, g[3]
    end
    local options = { on_unused_input = "ignore" }
    local want = { damo.compile(inputs, derivatives(whole), options)(args[1], args[2], args[3]) }
    for _, policy in ipairs { "all", 1, 3, "log" } do
      local outputs, slope = derivatives(loop(x, start, { truncate_gradient = last, checkpoint = policy }))
      local got = { damo.compile(inputs, outputs, options)(args[1], args[2], args[3]) }
      for i, v in ipairs(want) do
        assert.is_true(damo.allclose(v, got[i], { rtol = 1e-9, atol = 1e-12 }), policy .. ", derivative " .. i)
      end
      -- tangents go through all steps: Rop of the gradient is its own derivative
      local direction = damo.constant(draw(4, 2, 2))
      local f = damo.compile({ x, start, w }, { slope, damo.Rop(slope, w, direction) })
      local _, tangent = f(args[1], args[2], args[3])
      local step_size = 1e-5
      local up = f(args[1], args[2], args[3] + step_size * direction.data)
      local down = f(args[1], args[2], args[3] - step_size * direction.data)
      assert.is_true(damo.allclose((up - down) / (2 * step_size), tangent, { rtol = 1e-5, atol = 1e-7 }), policy)
    end
  end)

  it("is zero for integer states, which stay integers", function()
    local w = damo.dscalar "w"
    local h, k = damo.scan(function(h, k) return h * w, k + 1 end,
      { outputs_info = { 1.0, damo.constant(A(0, "int64")) }, n_steps = 3 })
    assert.equal("int64", k.dtype)
    local value, slope = damo.compile({ w }, { k[-1], damo.grad(h[-1], w) })(2)
    assert.equal(3, value)
    assert.equal(12, slope)
  end)

  it("of the last value alone makes no stack of cotangents, and needs a step", function()
    local x, h0 = damo.dvector "x", damo.dscalar "h0"
    local y = damo.scan(function(v, h) return damo.sin(h) * v end, { sequences = x, outputs_info = h0 })
    local f = damo.compile({ x, h0 }, damo.grad(y[-1], h0))
    for _, node in ipairs(f.fgraph.apply_nodes) do assert.is_nil(tostring(node.op):find "IncSubtensor") end
    assert.near(3 * math.cos(2 * math.sin(0.5)) * 2 * math.cos(0.5), f(damo.array { 2, 3 }, 0.5), 1e-12)
    assert.is_false((pcall(f, damo.zeros { 0 }, 0.5)))
    local both = damo.compile({ x, h0 }, damo.grad(y[-1] + y:sum(), h0))
    assert.near(f(damo.array { 2, 3 }, 0.5) * 2 + 2 * math.cos(0.5), both(damo.array { 2, 3 }, 0.5), 1e-12)
  end)

  it("is zero for the initial value of an integer state", function()
    local x, k0 = damo.dvector "x", damo.lscalar "k0"
    local y = damo.scan(function(v, h, k) return h * v * damo.cast(k, "float64"), k + 1 end,
      { sequences = x, outputs_info = { damo.constant(1.0), k0 } })
    local f = damo.compile({ x, k0 }, damo.grad(y[-1], { x, k0 }))
    local gx, gk = f(damo.array { 1, 2 }, 1)
    assert.same({ 4, 2 }, gx:totable())
    assert.equal(0, gk)
  end)

  it("is a loop named after the scan in errors", function()
    local x, w = damo.dvector "x", damo.dvector "w"
    local y = damo.scan(function(v) return w[damo.cast(v, "int64")] * 2 end, { sequences = x, name = "walk" })
    local ok, err = pcall(damo.compile({ x, w }, damo.grad(y:sum(), w)), damo.array { 1, 9 }, damo.array { 1, 2, 3 })
    assert.is_false(ok)
    assert.truthy(err.message:find("in step 1 of Scan{gradient of walk}", 1, true), err.message)
  end)

  it("of a sparse non_sequence has its place", function()
    local S, v = damo.sparse.csr_matrix "S", damo.dvector "v"
    local y = damo.scan(function(h, m) return damo.dot(m, h) end, { outputs_info = v, non_sequences = S, n_steps = 2 })
    local f = damo.compile({ S, v }, { damo.grad(y[-1]:sum(), v), damo.grad(y[-1]:sum(), S) })
    local by_v, by_s = f(damo.sparse.from_dense(A { { 2, 0 }, { 0, 3 } }, "csr"), A { 1, 1 })
    assert.same({ 4, 9 }, by_v:totable())
    local dense = by_s.toarray and by_s:toarray() or by_s
    assert.same({ 4, 6 }, { dense[{ 1, 1 }], dense[{ 2, 2 }] })
  end)
end)

describe("the tangent of a scan", function()
  it("rides along", function()
    local x, h0, w = damo.dvector "x", damo.dscalar "h0", damo.dscalar "w"
    local ex, eh, ew = damo.dvector "ex", damo.dscalar "eh", damo.dscalar "ew"
    local y = small(x, h0, w)
    local f = damo.compile({ x, h0, w }, y)
    local at, along = { draw(1, 4), draw(2), draw(3) }, { draw(4, 4), draw(5), draw(6) }
    local function moved(e) return f(at[1] + along[1] * e, at[2] + along[2] * e, at[3] + along[3] * e) end
    local expected = (moved(1e-6) - moved(-1e-6)) / 2e-6
    local got = damo.compile({ x, h0, w, ex, eh, ew }, damo.Rop(y, { x, h0, w }, { ex, eh, ew }))(
      at[1], at[2], at[3], along[1], along[2], along[3])
    for i = 1, 4 do assert.near(expected[i], got[i], 1e-8) end
  end)
end)

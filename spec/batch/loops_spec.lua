-- Loops and graphs as Ops over a batch: one loop whose values have the leading axes, one Op over the vectorised graph.
local damo = require "damo"
local harness = require "spec.batch.harness"

local zero, one = damo.constant(damo.array(0, "float64")), damo.constant(damo.array(1, "float64"))

local function one_of(inputs, outputs, options) return damo.graph.OpFromGraph(inputs, outputs, options) end

-- The number of Scans above the outputs, those of the loops' inner graphs included.
local function loops(outputs)
  local n = 0
  for _, node in ipairs(damo.graph.toposort(outputs)) do
    local inner = node.op.fgraph
    if tostring(node.op):match "^Scan" then n = n + 1 end
    if inner then n = n + loops(inner.outputs) end
  end
  return n
end

local function rnn()
  local x, h, w = damo.dvector "x", damo.dvector "h", damo.dmatrix "w"
  return one_of({ x, h, w }, { damo.tanh(damo.dot(w, h) + x), damo.sum(h) })
end

describe("a Scan over a batch", function()
  harness.run(it, {
    { name = "with a state from a constant", cores = { { 3 }, {} }, loop = true, fn = function(x, y)
      return damo.scan(function(xi, s) return s * y + xi end, { sequences = x, outputs_info = damo.constant(0.5) })
    end },
    { name = "with a state of an axis, last alone", cores = { { 4, 2 }, { 2 }, { 2, 2 } }, loop = true,
      fn = function(x, h, w)
        local all = damo.scan(function(xi, s) return damo.tanh(damo.dot(w, s) + xi) end,
          { sequences = x, outputs_info = h })
        return all[-1], damo.sum(all, { axis = 1 })
      end },
    { name = "with taps", cores = { { 5 }, { 2 } }, loop = true, fn = function(x, h)
      return damo.scan(function(a, b, s2, s1) return s2 * a - s1 * b end,
        { sequences = { input = x, taps = { -1, 1 } }, outputs_info = { initial = h, taps = { -2, -1 } } })
    end },
    { name = "of several states, one of which the batch does not reach", cores = { { 3 } }, loop = true,
      fn = function(x)
        return damo.scan(function(a, b) return a / 2 + 1, b + a * x end,
          { outputs_info = { one, damo.zeros { 3 } }, n_steps = 3 })
      end },
    { name = "of collected values, backwards", cores = { { 4 } }, loop = true, fn = function(x)
      return damo.map(function(v) return damo.sqr(v), v * 3 end, { sequences = x, go_backwards = true })
    end },
    { name = "in a loop", cores = { { 2, 3 }, {} }, loop = true, fn = function(x, y)
      return damo.scan(function(row, s)
        return s + damo.scan(function(v, p) return p * y + v end,
          { sequences = row, outputs_info = one })[-1]
      end, { sequences = x, outputs_info = zero })
    end },
    { name = "until a step that all share", cores = { {} }, loop = true, grad = false, fn = function(y)
      return damo.scan(function(i, s) return { i + 1, s * y }, damo.until_(damo.ge(i, 3)) end,
        { outputs_info = { damo.constant(1), one }, n_steps = 9 })
    end },
    { name = "of float32", cores = { { 3 } }, dtypes = { "float32" }, loop = true, fn = function(x)
      return damo.scan(function(v, s) return s * v end,
        { sequences = x, outputs_info = damo.constant(damo.array(1, "float32")) })
    end },
    { name = "truncated", cores = { { 4 }, {} }, loop = true, fn = function(x, y)
      return damo.scan(function(v, s) return s * y + v end,
        { sequences = x, outputs_info = damo.constant(0.5), truncate_gradient = 2 })
    end },
  })

  it("is one loop", function()
    local x, w, X = damo.dvector "x", damo.dscalar "w", damo.dmatrix "X"
    local y = damo.scan(function(v, s) return s * w + v end, { sequences = x, outputs_info = damo.constant(0.5) })
    assert.equal(1, loops { damo.graph.vectorize_graph(y, { [x] = X }) })
    assert.equal(1, loops { damo.graph.vectorize_graph(y, { [w] = damo.dvector "W" }) })
  end)

  it("that stops where an entry says so, updates or counts steps of the batch, goes over the entries", function()
    local x, X = damo.dscalar "x", damo.dvector "X"
    local y = damo.while_loop(function(s) return damo.le(s, x) end, function(s) return s * 2 end,
      one, { max_steps = 20 })
    local f = damo.compile({ X }, damo.graph.vectorize_graph(y, { [x] = X }))
    assert.same({ 4, 16 }, f({ 3, 10 }):totable())
    local n, N = damo.lscalar "n", damo.lvector "N"
    local z = damo.scan(function(s) return s * 2 end, { outputs_info = one, n_steps = n })[-1]
    assert.same({ 8, 8 }, damo.compile({ N }, damo.graph.vectorize_graph(z, { [n] = N }))({ 3, 3 }):totable())
  end)
end)

describe("an OpFromGraph over a batch", function()
  harness.run(it, {
    { name = "of two results", cores = { { 3 }, { 3 }, { 3, 3 } }, fn = function(x, h, w) return rnn()(x, h, w) end },
    { name = "inlined", cores = { { 3 } }, fn = function(x)
      local v = damo.dvector "v"
      return one_of({ v }, { damo.exp(v) / damo.sum(v) }, { inline = true })(x)
    end },
    { name = "in an OpFromGraph", cores = { { 3 } }, fn = function(x)
      local v, op = damo.dvector "v", rnn()
      return one_of({ v }, { op(v, v * 2, damo.outer(v, v)) })(x)
    end },
    { name = "in a loop", cores = { { 4, 2 }, { 2, 2 } }, loop = true, fn = function(x, w)
      local op = rnn()
      return damo.scan(function(xi, s) return (op(xi, s, w)) end,
        { sequences = x, outputs_info = damo.constant(damo.array { 0.5, -0.5 }) })
    end },
    { name = "with an overridden gradient", cores = { { 3 } }, loop = true, grad = false, fn = function(x)
      local v = damo.dvector "v"
      return one_of({ v }, { damo.sqr(v) }, { lop_overrides = function(_, _, g) return { g[1] * 7 } end })(x)
    end },
  })

  it("keeps its name, its Variables' names, and reads shared Variables", function()
    local x, s = damo.dvector "x", damo.shared(damo.array { 1, 2, 3 }, { name = "s" })
    local op = one_of({ x }, { damo.dot(x, s) }, { name = "Score" })
    local X = damo.dmatrix "X"
    local out = damo.graph.vectorize_graph(op(x), { [x] = X })
    assert.equal("Score", out.owner.op.name)
    local f = damo.compile({ X }, out)
    assert.same({ 6, 14 }, f({ { 1, 1, 1 }, { 1, 2, 3 } }):totable())
    s:set_value(damo.array { 0, 0, 1 })
    assert.same({ 1, 3 }, f({ { 1, 1, 1 }, { 1, 2, 3 } }):totable())
  end)

  it("keeps an overridden gradient", function()
    local v, x, X = damo.dvector "v", damo.dvector "x", damo.dmatrix "X"
    local op = one_of({ v }, { damo.sqr(v) }, { lop_overrides = function(_, _, g) return { g[1] * 7 } end })
    local y = damo.graph.vectorize_graph(op(x), { [x] = X })
    assert.same({ { 7, 7 }, { 7, 7 } },
      damo.compile({ X }, damo.grad(damo.sum(y), X), { on_unused_input = "ignore" })({ { 1, 2 }, { 3, 4 } }):totable())
  end)
end)

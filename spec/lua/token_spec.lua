-- Programs by name: f:token(), damo.from_token. In one state too, such a Function is a frame over a program of another
-- context, in which debug builds allow no change.
local damo = require "damo"
local graphs = require "spec.sparse.class_graphs"
local unpack = table.unpack or unpack -- luacheck: ignore

local function numbers(v)
  if type(v) == "number" or type(v) == "boolean" then return tostring(v) end
  return tostring(v)
end

local function same(f, ...)
  local g = damo.from_token(f:token())
  local want, got = { f(...) }, { g(...) }
  assert.equal(#want, #got)
  for i = 1, #want do assert.equal(numbers(want[i]), numbers(got[i])) end
  got = { g(...) } -- with the memory of the call before
  for i = 1, #want do assert.equal(numbers(want[i]), numbers(got[i])) end
  return g
end

local function vector(n, phase)
  local t = {}
  for i = 1, n do t[i] = math.sin(i * 1.3 + (phase or 0)) end
  return damo.array(t)
end

describe("a token", function()
  local x = damo.dvector "x"

  it("names a program, with its form of calls", function()
    local f = damo.compile({ x }, damo.sum(x * x), { name = "square" })
    local t = f:token()
    assert.matches("^%x+$", t)
    assert.equal(32, #t)
    assert.equal(t, f:token())
    local g = damo.from_token(t)
    assert.equal(14, g({ 1, 2, 3 }))
    assert.equal("square", g.name)
    assert.equal("x", g.inputs[1].name)
    assert.is_true(rawequal(g.inputs[1], g.inputs[1]) and not rawequal(g.inputs[1], x))
    assert.equal(#f.fgraph.apply_nodes, #g.fgraph.apply_nodes)
    local named = damo.from_token(damo.compile({ x }, { twice = x * 2, half = x / 2 }):token())
    assert.equal(4, named({ 2 }).twice[1])
    assert.equal(4, named:call { x = { 8 } }.half[1])
    local two = damo.from_token(damo.compile({ x }, { x + 1, x * 2 }):token()):copy()
    assert.equal(8, select(2, two({ 4 }))[1])
  end)

  it("brings copies of the shared Variables, as they stood", function()
    local s = damo.shared(damo.array { 1, 2 }, "s")
    local f = damo.compile({ x }, damo.sum(s * x), { updates = { [s] = s + x } })
    local t = f:token()
    f({ 10, 10 })
    local g, h = damo.from_token(t), damo.from_token(f:token())
    assert.equal(3, g({ 1, 1 }))
    assert.equal(5, g({ 1, 1 }))
    assert.equal(23, h({ 1, 1 }))
    assert.equal("s", g.shared[1].name)
    assert.equal(3, g.shared[1]:get_value()[1])
    g.shared[1]:set_value(damo.array { 0, 0 })
    assert.equal(0, g({ 1, 1 }))
    assert.equal(11, s:get_value()[1])
    assert.is_true(rawequal(f.shared[1], s))
  end)

  it("goes with the form of nested tables", function()
    local w, b = damo.dvector "w", damo.dscalar "b"
    local f = damo.compile({ { layers = { { w = w, bias = b } }, ["a;b {1}"] = x, [7] = damo.dscalar "unused" } },
      { sum = w * b + x, parts = { w, { b } } }, { name = "net;1", on_unused_input = "ignore" })
    local tree = { layers = { { w = damo.array { 1, 2 }, bias = 3 } }, ["a;b {1}"] = damo.array { 10, 20 }, [7] = 0 }
    local g = damo.from_token(f:token())
    local got = g:copy()(tree)
    assert.same({ 13, 26 }, got.sum:totable())
    assert.same({ 1, 2 }, got.parts[1]:totable())
    assert.equal(3, got.parts[2][1])
    assert.equal(f:token(), f:token())
    assert.equal(3, damo.from_token(g:token())(tree).parts[2][1])
    tree.layers[1].bias = nil
    local ok, err = pcall(f, tree)
    local ok_by_token, by_token = pcall(g, tree)
    assert.is_false(ok or ok_by_token)
    assert.equal(err.message, by_token.message)
    -- tables with names, not nested, and lists of trees
    local named = damo.compile({ { w, { b } } }, { twice = b * 2 }, { on_unused_input = "ignore" })
    local one = damo.from_token(named:token())
    assert.equal(6, one({ { 1 }, { 3 } }).twice)
    local two = damo.from_token(damo.compile({ b }, { b, { more = b + 1 } }):token())
    local first, second = two(1)
    assert.equal(1, first)
    assert.equal(2, second.more)
  end)

  it("holds as long as a Function of the program lives", function()
    local f = damo.compile({ x }, x + 1)
    local t = f:token()
    local g = damo.from_token(t)
    f:free()
    local h = damo.from_token(t)
    g:free()
    h:free()
    local ok, err = pcall(damo.from_token, t)
    assert.is_false(ok)
    assert.equal("state", err.kind)
    assert.equal("state", select(2, pcall(damo.from_token, ("0"):rep(32))).kind)
    assert.equal("state", select(2, pcall(damo.from_token, "")).kind)
    assert.equal("type", select(2, pcall(damo.from_token, 1)).kind)
  end)

  it("is refused for Ops of scripts, by name", function()
    local Mine = damo.Op { name = "Mine", props = {},
      make_node = function(self, v) return damo.Apply(self, { v }, { v.type() }) end,
      perform = function(_, _, inputs, outputs) outputs[1][1] = inputs[1] + 1 end }
    local f = damo.compile({ x }, Mine {}(x))
    local ok, err = pcall(f.token, f)
    assert.is_false(ok)
    assert.equal("state", err.kind)
    assert.matches("Mine", err.message)
  end)

  it("leaves errors with the Op and the user's line", function()
    local a = damo.dmatrix "a"
    local f = damo.from_token(damo.compile({ a, x }, damo.dot(a, x)):token())
    local ok, err = pcall(f, damo.ones { 2, 3 }, damo.ones { 2 })
    assert.is_false(ok)
    assert.equal("shape", err.kind)
    assert.is_truthy(err.op)
    assert.matches("token_spec.lua", table.concat(err.trace))
    assert.equal(err.op, err.node.op.name)
    assert.equal(2, err.node.inputs[1].type.ndim)
    assert.matches("the node was made at spec/lua/token_spec.lua", tostring(err), 1, true)
    assert.is_falsy(err.message:find "token_spec")
    -- in a loop: the node of its step
    local g = damo.from_token(damo.compile({ a, x }, damo.scan(function(h) return damo.dot(a, h) * 2 end,
      { outputs_info = x, n_steps = 3 })):token())
    ok, err = pcall(g, damo.ones { 3, 3 }, damo.ones { 2 })
    assert.is_false(ok)
    assert.equal("shape", err.kind)
    assert.is_truthy(err.node)
    assert.same({ 4, 4 }, f(damo.ones { 2, 4 }, damo.ones { 4 }):totable())
  end)
end)

describe("a Function made by a token", function()
  local x, a = damo.dvector "x", damo.dmatrix "a"
  local s = damo.dscalar "s"
  local b = damo.dtensor3 "b"
  local symmetric = damo.array { { { 2, 1 }, { 1, 3 } }, { { 5, 1 }, { 1, 4 } } }
  local models = {
    elementwise = { { x }, damo.exp(x) * 2 + damo.tanh(x), { vector(100) } },
    reductions = { { a }, damo.softmax(a) + damo.sum(a, { axis = 2, keepdims = true }), { damo.ones { 5, 7 } } },
    product = { { a }, damo.tanh(damo.dot(a, a.T)), { damo.ones { 30, 7 } } },
    gradient = { { x }, damo.grad(damo.sum(damo.tanh(x) ^ 2), x), { vector(9) } },
    branch = { { x }, damo.ifelse(damo.gt(damo.sum(x), 0), x * 2, -x), { vector(4) } },
    transform = { { x }, damo.abs(damo.fft.rfft(x)), { vector(60) } },
    lanes = { { b }, (damo.linalg.eigvalsh(b)), { symmetric } },
    solve = { { a, x }, damo.linalg.solve(a, x), { damo.array { { 4, 1 }, { 1, 3 } }, vector(2) } },
    scalars = { { s }, damo.exp(s) * s + damo.sin(s), { 0.5 } },
    indices = { { x }, x[{ { 1, -1, 2 } }], { vector(11) } },
    sorting = { { x }, damo.sort(x), { vector(50) } },
  }
  for name, m in pairs(models) do
    it("gives the same results: " .. name, function() same(damo.compile(m[1], m[2]), unpack(m[3])) end)
  end

  it("runs loops, and their gradients", function()
    local rows = damo.scan(function(h) return damo.tanh(h * 1.1 + x) end,
      { outputs_info = damo.zeros_like(x), n_steps = 20 })
    local cost = damo.sum(damo.sqr(rows[-1]))
    same(damo.compile({ x }, { rows, cost, damo.grad(cost, x) }), vector(3))
    local t = damo.scan(function(h) return damo.tanh(h * 1.1 + s) end,
      { outputs_info = damo.zeros_like(s), n_steps = 500 })
    local f = damo.compile({ s }, { t[-1], damo.grad(t[-1], s) })
    local g = same(f, 0.25)
    for _ = 1, 5 do assert.equal(numbers((f(0.25))), numbers((g(0.25)))) end
  end)

  it("gives results of no steps the shapes that they would have", function()
    local n, m = damo.lscalar "n", damo.dmatrix "m"
    local function shapes(inputs, out, want, ...)
      local f = damo.compile(inputs, out)
      local g = damo.from_token(f:token())
      for _ = 1, 2 do
        assert.same(want, f(...).shape)
        assert.same(want, g(...).shape)
      end
    end
    shapes({ x, n }, damo.scan(function() return x * 2 end, { n_steps = n }), { 0, 3 }, damo.ones { 3 }, 0)
    shapes({ x, n }, damo.scan(function(h) return h + x end, { outputs_info = damo.zeros_like(x), n_steps = n }),
      { 0, 3 }, damo.ones { 3 }, 0)
    shapes({ m }, damo.scan(function(row) return damo.concatenate { row, row } end, { sequences = m }), { 0, 8 },
      damo.zeros { 0, 4 })
  end)

  it("draws from streams of its own", function()
    local rng = damo.random.RandomStream(5)
    local f = damo.compile({}, rng:normal(0, 1, { size = { 3 } }))
    local t = f:token()
    local g, h = damo.from_token(t), damo.from_token(t)
    local one, two = tostring(g()), tostring(g())
    assert.are_not.equal(one, two)
    assert.equal(one, tostring(f()))
    assert.equal(one, tostring(h()))
    assert.equal(two, tostring(h()))
  end)

  for _, row in ipairs(graphs.rows) do
    it("gives the same results: " .. row[1], function()
      for _, optimizer in ipairs { "fast_run", "none" } do
        local ok, f = pcall(damo.compile, graphs.inputs, { row[2]() },
          { mode = damo.Mode { optimizer = optimizer }, on_unused_input = "ignore" })
        if ok then same(f, unpack(graphs.values)) end
      end
    end)
  end
end)

-- Graphs that compiling remembers: which ones are equal, what each Function keeps for itself, and what is held.
local damo = require "damo"
local failure = require "spec.support.failure"
local garbage = require "spec.support.garbage"

local settle = garbage.collect

-- Whether compiling b finds the graph of a. Both are functions that give the arguments of damo.compile.
local function is_found(a, b)
  local f = damo.compile(a())
  local before = damo.info().memo
  local g = damo.compile(b())
  local after = damo.info().memo
  assert.equal(after.hits == before.hits, after.graphs > before.graphs)
  return after.hits > before.hits, f, g
end

local function text(f) return damo.printing.debugprint(f, { file = "str", print_type = true }) end

describe("compiling", function()
  local cap, on_warning = damo.config.memo_cap, damo.config.on_warning
  before_each(function() -- an empty memo
    damo.config.on_warning = nil -- damo.info warns of OpenBLAS
    damo.config.memo_cap = 0
    damo.config.memo_cap = 2 ^ 30
  end)
  after_each(function()
    damo.config.memo_cap, damo.config.on_warning = cap, on_warning
    damo.config.floatX = "float64"
  end)

  local function plain()
    local x = damo.dvector "x"
    return { x }, damo.sum(damo.exp(x) * 2 + damo.log1p(x))
  end

  it("finds an equal graph", function()
    local found, f, g = is_found(plain, plain)
    assert.is_true(found)
    local x = damo.array { 0.5, 1, 2 }
    assert.equal(f(x), g(x))
    assert.equal(text(f), text(g))
    f:free()
    assert.equal(g(x), g(x))
  end)

  teardown(settle) -- leaves no garbage to specs that measure memory

  -- Each pair of graphs differs in one thing.
  local function over(make, fn, options)
    return function()
      local x, y = make "x", make "y"
      return { x, y }, fn(x, y), options
    end
  end
  local s, t = damo.shared(1.5), damo.shared(1.5)
  local big, large = damo.constant(damo.arange(200) * 1.0), damo.constant(damo.arange(200) * 1.0)
  local function vectors(fn, options) return over(damo.dvector, fn, options) end
  local function threes(name) return damo.tensor("float64", { shape = { 3 }, name = name }) end
  local function fours(name) return damo.tensor("float64", { shape = { 4 }, name = name }) end
  local function sum_of(x, y) return x + y end
  local pairs_of = {
    ["an Op"] = { vectors(sum_of), vectors(function(x, y) return x - y end) },
    ["a property"] = {
      over(damo.dmatrix, function(x, y) return damo.sum(x * y, { axis = 1 }) end),
      over(damo.dmatrix, function(x, y) return damo.sum(x * y, { axis = 2 }) end),
    },
    ["a dtype"] = { vectors(sum_of), over(damo.fvector, sum_of) },
    ["a rank"] = { vectors(sum_of), over(damo.dmatrix, sum_of) },
    ["a known length"] = { over(threes, sum_of), over(fours, sum_of) },
    ["the order of operands"] = {
      vectors(function(x, y) return x / y end), vectors(function(x, y) return y / x end),
    },
    ["which node is used twice"] = {
      vectors(function(x, y) local a, b = damo.exp(x), damo.exp(y); return a * b + a end),
      vectors(function(x, y) local a, b = damo.exp(x), damo.exp(y); return a * b + b end),
    },
    ["the order in which nodes were made"] = {
      vectors(function(x, y) local a = damo.exp(x); local b = damo.tanh(y); return a * b * x end),
      vectors(function(x, y) local b = damo.tanh(y); local a = damo.exp(x); return a * b * x end),
    },
    ["the number of results"] = {
      vectors(function(x, y) return { x + y } end), vectors(function(x, y) return { x + y, x + y } end),
    },
    ["a number"] = {
      vectors(function(x, y) return x * 2.5 + y end), vectors(function(x, y) return x * 3.5 + y end),
    },
    ["the sign of a zero"] = {
      vectors(function(x, y) return damo.maximum(x, 0.0) + y end),
      vectors(function(x, y) return damo.maximum(x, -0.0) + y end),
    },
    ["a constant's shape"] = {
      vectors(function(x, y) return x + damo.constant(damo.array { 1 }) + y end),
      vectors(function(x, y) return x + damo.constant(damo.array(1)) + y end),
    },
    ["a large constant"] = {
      vectors(function(x, y) return x + big + y end),
      vectors(function(x, y) return x + large + y end),
    },
    ["where a shared Variable stands"] = {
      vectors(function(x, y) return x * s + y * s end), vectors(function(x, y) return x * s + y * t end),
    },
    ["a name"] = {
      vectors(function(x, y) local a = damo.exp(x); a.name = "a"; return a + y end),
      vectors(function(x, y) local a = damo.exp(x); return a + y end),
    },
    ["the mode"] = {
      vectors(function(x, y) return damo.exp(x) + y end),
      vectors(function(x, y) return damo.exp(x) + y end, { mode = "FAST_COMPILE" }),
    },
    ["the rules"] = {
      vectors(function(x, y) return damo.exp(x) + y end),
      vectors(function(x, y) return damo.exp(x) + y end, { mode = damo.Mode { exclude = { "fusion" } } }),
    },
  }
  for what, pair in pairs(pairs_of) do
    it("tells graphs apart by " .. what, function()
      assert.is_false((is_found(pair[1], pair[2])))
      assert.is_true((is_found(pair[1], pair[1])))
      assert.is_true((is_found(pair[2], pair[2])))
    end)
  end

  it("tells graphs apart by inputs that may be overwritten", function()
    local function make(mutable)
      return function()
        local x = damo.dvector "x"
        return { damo.In(x, { mutable = mutable }) }, damo.cumsum(x) * 2
      end
    end
    assert.is_false((is_found(make(false), make(true))))
    assert.is_true((is_found(make(true), make(true))))
  end)

  it("tells graphs apart by floatX", function()
    local function narrow()
      damo.config.floatX = "float32"
      return plain()
    end
    assert.is_false((is_found(plain, narrow)))
  end)

  it("reads and updates each Function's own shared Variables", function()
    local w, v = damo.shared(damo.array { 1, 2 }), damo.shared(damo.array { 0.5, 1 })
    local function step(of, to)
      return function()
        local x = damo.dvector "x"
        return { x }, damo.sum(w * x), { updates = { [of] = to * 2 + x } }
      end
    end
    local x = damo.array { 1, 1 }
    local found, f, g = is_found(step(w, w), step(w, w))
    assert.is_true(found)
    assert.equal(3, f(x))
    assert.equal(8, g(x))
    assert.same({ 7, 11 }, w:get_value():totable())
    found, f, g = is_found(step(v, v), step(w, v))
    assert.is_true(found)
    f(x)
    assert.same({ 2, 3 }, v:get_value():totable())
    g(x)
    assert.same({ 5, 7 }, w:get_value():totable())
  end)

  it("finds a model with shared Variables of its own", function()
    local function model(value, name)
      return function()
        local x, w = damo.dmatrix "x", damo.shared(damo.full({ 3, 2 }, value), { name = name })
        local cost = damo.sum(damo.sqr(damo.dot(x, w)))
        return { x }, { cost, w }, { updates = { [w] = w - 0.5 * damo.grad(cost, w) } }
      end
    end
    local found, f, g = is_found(model(1, "one"), model(2, "two"))
    assert.is_true(found)
    local x = damo.ones { 1, 3 }
    assert.equal(18, (f(x)))
    assert.equal(72, (g(x)))
    local _, w = g(x)
    assert.same({ { -4, -4 }, { -4, -4 }, { -4, -4 } }, w:totable())
    local shared = {}
    for _, v in ipairs(g.fgraph.variables) do shared[v.name or ""] = true end
    assert.is_true(shared.two and not shared.one)
  end)

  it("draws anew from each Function's stream", function()
    local rng = damo.random.RandomStream(1)
    local u = rng:uniform({ size = { 3 } })
    local function draw() return {}, u * 2 end
    local found, f, g = is_found(draw, draw)
    assert.is_true(found)
    assert.not_same(f():totable(), g():totable())
  end)

  it("gives each Function the constants of its own graph", function()
    local c = damo.constant(damo.array { 1, 2, 3 })
    local function with_constant(of)
      return function()
        local x = damo.dvector "x"
        return { x }, { x * of, of }
      end
    end
    local d = damo.constant(damo.array { 1, 2, 3 })
    c.tag.mine, d.tag.mine = "c", "d"
    local found, f, g = is_found(with_constant(c), with_constant(d))
    assert.is_true(found)
    assert.equal("c", f.fgraph.outputs[2].tag.mine)
    assert.equal("d", g.fgraph.outputs[2].tag.mine)
  end)

  it("names the lines and the Variables of the second graph in its errors", function()
    local function first()
      local x = damo.dmatrix "first"
      local y = damo.dot(x, x)
      y.name = "square"
      return { x }, damo.exp(y)
    end
    local function second()
      local x = damo.dmatrix "second"

      local y = damo.dot(x, x)
      y.name = "power"
      return { x }, damo.exp(y)
    end
    local found, f, g = is_found(first, second)
    assert.is_true(found)
    local start = { f = debug.getinfo(first, "S").linedefined, g = debug.getinfo(second, "S").linedefined }
    local function line_of(fn)
      local err = failure("shape", fn, damo.ones { 2, 3 })
      return tonumber(err.trace[1]:match "memo_spec.lua:(%d+)")
    end
    assert.equal(start.f + 2, line_of(f))
    assert.equal(start.g + 3, line_of(g))
    assert.matches("first", failure("type", f, "text").message)
    assert.matches("second", failure("type", g, "text").message)
    assert.equal("second", g.fgraph.inputs[1].name)
    local names = {}
    for _, v in ipairs(g.fgraph.variables) do names[v.name or ""] = true end
    assert.is_true(names.second and not names.first and not names.square)
  end)

  it("keeps the lines of all nodes that were merged, of the second graph", function()
    local function merged()
      local x = damo.dmatrix "x"
      local a = damo.dot(x, x)
      local b = damo.dot(x, x)
      return { x }, damo.exp(a) + damo.tanh(b)
    end
    local function other()
      local x = damo.dmatrix "x"
      local a = damo.dot(x, x)


      local b = damo.dot(x, x)
      return { x }, damo.exp(a) + damo.tanh(b)
    end
    local found, _, g = is_found(merged, other)
    assert.is_true(found)
    local first = debug.getinfo(other, "S").linedefined
    local err = failure("shape", g, damo.ones { 2, 3 })
    assert.equal(first + 2, tonumber(err.trace[1]:match "memo_spec.lua:(%d+)"))
    assert.equal(first + 5, tonumber(err.trace[2]:match "memo_spec.lua:(%d+)"))
  end)

  it("lets each Function probe its own Variables", function()
    local ys = {}
    local function make()
      local x = damo.dvector "x"
      ys[#ys + 1] = damo.exp(x)
      return { x }, damo.sum(damo.cumsum(ys[#ys]))
    end
    local found, f, g = is_found(make, make)
    assert.is_true(found)
    local x = damo.array { 0, 0 }
    assert.same({ 1, 1 }, f:probe(ys[1])(x):totable())
    assert.same({ 1, 1 }, g:probe(ys[2])(x):totable())
    failure("value", g.probe, g, ys[1])
  end)

  it("counts Ops of a script by identity, and keeps none alive", function()
    local weak = setmetatable({}, { __mode = "v" })
    local function class(factor)
      return damo.Op {
        name = "Times",
        make_node = function(self, v) return damo.Apply(self, { v }, { v.type() }) end,
        perform = function(_, _, inputs, outputs) outputs[1][1] = inputs[1] * factor end,
      }
    end
    local function over_op(op)
      return function()
        local x = damo.dvector "x"
        return { x }, damo.exp(op(x))
      end
    end
    local function try()
      local two, three = class(2), class(3)
      weak.two, weak.three = two, three
      assert.is_false((is_found(over_op(two), over_op(three))))
      local found, _, g = is_found(over_op(two), over_op(two))
      assert.is_true(found)
      assert.equal(math.exp(2), g(damo.array { 1 })[1])
    end
    try()
    settle()
    settle()
    assert.is_nil(weak.two)
    assert.is_nil(weak.three)
  end)

  it("keeps no shared Variable and no large constant alive", function()
    local weak = setmetatable({}, { __mode = "v" })
    settle()
    local before = damo.memory().bytes
    do
      local x = damo.dvector "x"
      local w = damo.shared(damo.zeros(100000))
      local c = damo.constant(damo.zeros(100000))
      local f = damo.compile({ x }, damo.exp(x) + w * c)
      f(damo.zeros(100000))
      weak.x, weak.w, weak.c, weak.f = x, w, c, f
    end
    settle()
    settle()
    assert.is_nil(next(weak))
    assert.is_true(damo.memory().bytes - before < 50000)
    assert.equal(1, damo.info().memo.graphs)
  end)

  it("remembers no graph with a large constant that rewriting has made", function()
    local before = damo.info().memo.graphs
    local x = damo.dvector "x"
    local f = damo.compile({ x }, x + damo.exp(damo.constant(damo.arange(500) * 0.01)))
    assert.equal(before, damo.info().memo.graphs)
    assert.equal(500, #f(damo.zeros(500)))
  end)

  it("takes at most memo_cap bytes, and the graph used least recently goes first", function()
    local function graph(i)
      return function()
        local x = damo.dvector "x"
        return { x }, damo.exp(x) * (i + 0.5)
      end
    end
    damo.compile(graph(1)())
    local one = damo.info().memo.bytes
    damo.config.memo_cap = 4 * one + 100
    for i = 2, 4 do damo.compile(graph(i)()) end
    assert.equal(4, damo.info().memo.graphs)
    assert.is_true((is_found(graph(1), graph(1)))) -- 2 is the oldest
    damo.compile(graph(5)())
    assert.equal(4, damo.info().memo.graphs)
    local function hits(i)
      local before = damo.info().memo.hits
      damo.compile(graph(i)())
      return damo.info().memo.hits - before
    end
    assert.equal(1, hits(1))
    assert.equal(1, hits(5))
    assert.equal(0, hits(2))
    for i = 1, 100 do
      damo.compile(graph(i)())
      assert.is_true(damo.info().memo.bytes <= damo.config.memo_cap)
    end
    damo.config.memo_cap = 2 * one + 100
    assert.is_true(damo.info().memo.bytes <= damo.config.memo_cap)
    damo.config.memo_cap = 0
    assert.equal(0, damo.info().memo.bytes)
    damo.compile(graph(1)())
    assert.equal(0, damo.info().memo.graphs)
    failure("value", function() damo.config.memo_cap = -1 end)
  end)

  it("rewrites anew where a profile, DEBUG or a script's rule looks on", function()
    local function none(options)
      local before = damo.info().memo
      for _ = 1, 2 do
        local inputs, result = plain()
        damo.compile(inputs, result, options)
      end
      local after = damo.info().memo
      assert.same({ before.hits, before.graphs }, { after.hits, after.graphs })
    end
    none { profile = true }
    none { mode = "DEBUG" }
    none { mode = "NANGUARD" }
    damo.rewrite.register("memo_spec_rule", function() end, "fast_run")
    none()
    damo.rewrite.unregister "memo_spec_rule"
    assert.is_true((is_found(plain, plain)))
  end)

  it("finds scans and inner graphs by their Op", function()
    local xs = damo.dvector "xs"
    local function step(x, h) return damo.tanh(h + x) end
    local last = damo.scan(step, { sequences = xs, outputs_info = damo.array(0.0) })
    local function make() return { xs }, damo.sum(last) end
    local a = damo.dvector "a"
    local op = damo.graph.OpFromGraph({ a }, { damo.exp(a) * 2 })
    local function inner()
      local x = damo.dvector "x"
      return { x }, op(x) + 1
    end
    local x = damo.array { 0.5, 1, 2 }
    for _, graph in ipairs { make, inner } do
      local _, f, g = is_found(graph, graph)
      assert.same(damo.array { f(x) }:totable(), damo.array { g(x) }:totable())
    end
  end)

  -- Random graphs, each built twice from the same draws.
  it("finds what was built again, and gives the same program and values", function()
    local state
    local function draw(n)
      state = (state * 1103515245 + 12345) % 2147483648
      return math.floor(state / 65536) % n + 1
    end
    local unary = { damo.exp, damo.tanh, damo.neg, damo.sqr, damo.sigmoid, damo.abs, damo.cumsum, damo.cos }
    local binary = { damo.add, damo.mul, damo.sub, damo.maximum, damo.true_div, damo.minimum }
    local m = damo.shared(damo.array { { 0.5, -0.25, 1 }, { 2, 0.125, -1 }, { 0.75, 0.5, 0.25 } })
    local function build(seed)
      state = seed
      local x, y = damo.dvector "x", damo.dvector "y"
      local pool = { x, y }
      for _ = 1, 4 + draw(16) do
        local kind, v = draw(8), pool[draw(#pool)]
        if kind <= 3 then
          v = unary[draw(#unary)](v)
        elseif kind <= 5 then
          v = binary[draw(#binary)](v, pool[draw(#pool)])
        elseif kind == 6 then
          v = v * (draw(5) - 2.5)
        elseif kind == 7 then
          v = damo.dot(m, v)
        else
          v = v - damo.sum(pool[draw(#pool)])
        end
        pool[#pool + 1] = v
      end
      local cost = damo.sum(pool[#pool])
      return { x, y }, { pool[#pool], damo.grad(cost, x, { disconnected_inputs = "ignore" }) },
        { on_unused_input = "ignore" }
    end
    local x, y = damo.array { 0.5, -1, 2 }, damo.array { 1.5, 0.25, -0.5 }
    for seed = 1, 150 do
      local function make() return build(seed) end
      local found, f, g = is_found(make, make)
      assert.is_true(found, "seed " .. seed)
      assert.equal(text(f), text(g))
      local a, b = { f(x, y) }, { g(x, y) }
      for i = 1, 2 do assert.equal(tostring(a[i]), tostring(b[i]), "seed " .. seed) end
    end
  end)
end)

describe("an input that a node computes", function()
  it("is told from the node's other results", function()
    local function last(pick)
      local x = damo.tensor("float64", { shape = { 4 }, name = "x" })
      local q, s = damo.split(x, { 2, 2 })
      return damo.compile({ pick and q or s, x }, q + s)
    end
    last(true)
    assert.same({ 3, 1 }, last(false)(damo.zeros { 2 }, damo.array { 3, 1, 40, 20 }):totable())
    assert.same({ 40, 20 }, last(true)(damo.zeros { 2 }, damo.array { 3, 1, 40, 20 }):totable())
  end)
end)

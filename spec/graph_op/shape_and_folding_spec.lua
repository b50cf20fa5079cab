-- infer_shape and do_constant_folding.
local damo = require "damo"
local failure = require "spec.support.failure"

local x = damo.dvector "x"

local function same_type(self, v)
  v = damo.as_tensor_variable(v)
  return damo.Apply(self, { v }, { v.type() })
end

describe("infer_shape", function()
  local ran, asked
  local function double(infer_shape)
    return damo.Op { name = "Double",
      make_node = function(self, v) return damo.Apply(self, { v }, { damo.dvector() }) end,
      perform = function(_, _, i, o) ran = true; o[1][1] = damo.join(1, { i[1], i[1] }) end, infer_shape = infer_shape }
  end

  it("computes the shape without the value", function()
    ran = false
    local op = double(function(_, fgraph, node, shapes)
      asked = { fgraph, node.op.name }
      return { { shapes[1][1] * 2 } }
    end)
    local f = damo.compile({ x }, op(x).shape[1])
    assert.equal(6, f { 1, 2, 3 })
    assert.is_false(ran)
    assert.equal("Double", asked[2])
    assert.truthy(#asked[1].outputs == 1)
    local g = damo.compile({ x }, damo.zeros_like(op(x)))
    assert.same({ 0, 0 }, g({ 1 }):totable())
    assert.is_false(ran)
  end)

  it("is not needed", function()
    assert.equal(4, damo.compile({ x }, double()(x).shape[1]) { 1, 2 })
    assert.is_true(ran)
  end)

  it("is checked", function()
    local function compiled(infer_shape) return damo.compile({ x }, double(infer_shape)(x).shape[1]) end
    local err = failure("value", compiled, function() return {} end)
    assert.truthy(err.message:find("Double: infer_shape must return a list with 1 shapes", 1, true), err.message)
    failure("value", compiled, function() return { { 1, 2 } } end)
    failure("type", compiled, function() return { { "no" } } end)
    failure("callback", compiled, function() error "no" end)
  end)

  it("exists for native Ops", function()
    local y = damo.dot(damo.dmatrix "a", damo.dmatrix "b")
    local node = y.owner
    local shapes = node.op:infer_shape(nil, node, { { 2, 3 }, { 3, 5 } })
    assert.equal(2, shapes[1][1]:eval())
    assert.equal(5, shapes[1][2]:eval())
  end)
end)

describe("do_constant_folding", function()
  local runs
  local function count(fold)
    return damo.Op { name = "Count", props = {}, make_node = same_type, do_constant_folding = fold,
      perform = function(_, _, i, o) runs = runs + 1; o[1][1] = i[1] + 1 end } {}
  end
  local function runs_of(fold)
    runs = 0
    local f = damo.compile({}, count(fold)(damo.constant { 1, 2 }))
    local compiling = runs
    assert.same({ 2, 3 }, f():totable())
    return compiling, runs - compiling
  end

  it("is true by default: computed once", function()
    assert.same({ 1, 0 }, { runs_of() })
  end)

  it("false keeps the node", function()
    assert.same({ 0, 1 }, { runs_of(false) })
    local asked
    assert.same({ 0, 1 }, { runs_of(function(_, fgraph, node)
      asked = { fgraph.outputs, node.op.name }
      return false
    end) })
    assert.equal("Count", asked[2])
    assert.equal(1, #asked[1])
  end)

  it("raises its errors in compile", function()
    failure("callback", runs_of, function() error "no" end)
  end)
end)

describe("constants", function()
  local v = damo.dvector "v"
  local function count(f, name)
    local n = 0
    for _, node in ipairs(f.fgraph.apply_nodes) do n = n + ((node.op.scalar or node.op.name) == name and 1 or 0) end
    return n
  end

  it("of equal value and Type are merged, and so are nodes over them", function()
    local a, b = damo.constant(damo.array { 1, 2 }), damo.constant(damo.array { 1, 2 })
    local c = damo.constant(damo.array { 1, 3 })
    local mode = damo.Mode { exclude = { "fusion" } }
    assert.equal(1, count(damo.compile({ v }, { damo.exp(v * a), damo.exp(v * b) }, { mode = mode }), "exp"))
    assert.equal(2, count(damo.compile({ v }, { damo.exp(v * a), damo.exp(v * c) }, { mode = mode }), "exp"))
    local minus = -1 / math.huge -- Lua 5.1 takes the literals 0.0 and -0.0 of a function for one constant
    local zero, minus_zero = damo.constant(damo.array { 0.0, 0.0 }), damo.constant(damo.array { minus, minus })
    local f = damo.compile({ v }, { v / zero, v / minus_zero })
    local above, below = f(damo.ones { 2 })
    assert.same({ { 1 / 0, 1 / 0 }, { -1 / 0, -1 / 0 } }, { above:totable(), below:totable() })
  end)

  -- An Op over constants, and a function that returns the number of its runs.
  local function counted(name, result, value, more)
    local runs = { n = 0 }
    local class = { name = name,
      make_node = function(self, a) return damo.Apply(self, { damo.as_tensor_variable(a) }, { result() }) end,
      perform = function(_, _, i, o)
        runs.n = runs.n + 1
        o[1][1] = value(i[1])
      end }
    for key, field in pairs(more or {}) do class[key] = field end
    return damo.Op(class), runs
  end

  it("are folded through nodes, unless the result is large", function()
    local k = damo.constant(damo.array { 1, 2 })
    local small, small_runs = counted("Small", damo.TensorType("float64", { shape = { 2 } }),
      function(a) return a * 2 end)
    local f = damo.compile({}, small(k))
    assert.equal(1, small_runs.n)
    f()
    assert.equal(1, small_runs.n)
    local large, large_runs = counted("Large", damo.TensorType("float64", { shape = { math.floor(2 ^ 18) } }),
      function() return damo.zeros { math.floor(2 ^ 18) } end)
    f = damo.compile({}, damo.sum(large(k)))
    assert.equal(0, large_runs.n)
    assert.equal(0, f())
    assert.equal(1, large_runs.n)
  end)

  it("are not folded by an Op that overwrites its operand", function()
    local k = damo.constant(damo.array { 1, 2 })
    local add, runs = counted("AddOne", damo.TensorType("float64", { shape = { 2 } }), function(a)
      a[{ {} }] = a + 1
      return a
    end, { destroy_map = { { 1 } } })
    local f = damo.compile({}, add(k))
    assert.equal(0, runs.n)
    assert.same({ { 2, 3 }, { 2, 3 } }, { f():totable(), f():totable() })
    assert.same({ 1, 2 }, k.data:totable())
  end)
end)

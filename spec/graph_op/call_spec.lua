-- Op.__call, make_node, itypes and otypes, props, default_output.
local damo = require "damo"
local failure = require "spec.support.failure"

local x = damo.dvector "x"

local function same_type(self, v)
  v = damo.as_tensor_variable(v)
  return damo.Apply(self, { v }, { v.type() })
end

local function two(more)
  local def = {
    name = "Two",
    make_node = function(self, v) return damo.Apply(self, { v }, { v.type(), v.type() }) end,
    perform = function(_, _, i, o) o[1][1] = i[1] + 1; o[2][1] = i[1] - 1 end,
  }
  for k, v in pairs(more or {}) do def[k] = v end
  return damo.Op(def)
end

describe("a call of an Op", function()
  it("gives all outputs, the default one, or a list", function()
    local op = two()
    assert.equal(2, select("#", op(x)))
    local list = op(x, { return_list = true })
    assert.equal("table", type(list))
    assert.equal(2, #list)
    local y = two { default_output = 2 }(x)
    assert.equal(2, y.index)
    assert.equal(2, #two { default_output = 2 }(x, { return_list = true }))
    assert.equal(1, #damo.exp(x).owner.op(x, { return_list = true }))
  end)

  it("adds the user's trace", function()
    local y = two()(x)
    local line = debug.getinfo(1, "l").currentline - 1
    assert.truthy(y.owner.tag.trace[1]:find("call_spec.lua:" .. line .. "$"), y.owner.tag.trace[1])
  end)

  it("computes test values if the config says so", function()
    damo.config.compute_test_value = "raise"
    local v = damo.dvector "v"
    v.tag.test_value = { 1, 2 }
    local ok, a = pcall(two(), v)
    damo.config.compute_test_value = "off"
    assert.is_true(ok, tostring(a))
    assert.same({ 2, 3 }, a.tag.test_value:totable())
    assert.same({ 0, 1 }, a.owner.outputs[2].tag.test_value:totable())
  end)
end)

describe("make_node", function()
  it("must return an Apply of this Op", function()
    local err = failure("type", two { make_node = function() return 3 end }, x)
    assert.equal("Two: make_node must return an Apply, got number", err.message)
    err = failure("type", two { make_node = function() end }, x)
    assert.equal("Two: make_node must return an Apply, got nil", err.message)
    err = failure("value", two { make_node = function() return damo.exp(x).owner end }, x)
    assert.truthy(err.message:find("Two: make_node returned a node of another Op", 1, true), err.message)
    failure("type", two { make_node = function(self, v) return damo.Apply(self, { v }, { 3 }) end }, x)
  end)

  it("is required, unless itypes and otypes are given", function()
    failure("value", damo.Op, { perform = print })
    local vector, scalar = damo.TensorType("float64", { false }), damo.TensorType("float64", {})
    local op = damo.Op { name = "Total", itypes = { vector }, otypes = { scalar },
      perform = function(_, _, i, o) o[1][1] = i[1]:sum() end }
    assert.same({ vector }, op.itypes)
    assert.same({ scalar }, op.otypes)
    assert.equal(6.0, damo.compile({ x }, op(x)) { 1, 2, 3 })
    assert.equal(3.0, op({ 1, 2 }):eval())
    failure("type", op, damo.dmatrix())
    failure("type", op)
    failure("type", op, x, x)
  end)
end)

describe("props", function()
  it("and the class decide equality, and equal Ops on the same inputs merge", function()
    local calls = 0
    local function class()
      return damo.Op { name = "Scale", props = { "factor" }, make_node = same_type,
        perform = function(self, _, i, o) calls = calls + 1; o[1][1] = i[1] * self.factor end }
    end
    local Scale = class()
    assert.equal(Scale { factor = 3 }, Scale { factor = 3 })
    assert.is_false(Scale { factor = 3 } == Scale { factor = 4 })
    assert.is_false(Scale { factor = 3 } == class() { factor = 3 })
    damo.compile({ x }, { Scale { factor = 3 }(x), Scale { factor = 3 }(x) }) { 1 }
    assert.equal(1, calls)
    local a, b = two(), two()
    assert.is_false(a == b)
  end)
end)

describe("default_output", function()
  local Two = two { props = { "k" }, default_output = 1 }

  it("may be given in the table that makes the Op, as a property", function()
    assert.equal(1, Two({ k = 1 })(x).index)
    assert.equal(2, Two({ k = 1, default_output = 2 })(x).index)
    assert.equal(2, select("#", Two({ k = 1, default_output = false })(x)))
    assert.equal(2, Two({ k = 1, default_output = 2 }).default_output)
    assert.is_nil(Two({ k = 1, default_output = false }).default_output)
    assert.is_false(Two { k = 1 } == Two { k = 1, default_output = 2 })
    assert.equal(Two { k = 1, default_output = 2 }, Two { k = 1, default_output = 2 })
    assert.same({ "k" }, Two({ k = 1 }).props)
    assert.equal("Two{k=1}", tostring(Two { k = 1 }))
    local y = Two({ k = 1, default_output = 2 })(x)
    assert.equal(y, y.owner:default_output())
  end)

  it("out of range is an error", function()
    local err = failure("value", two { default_output = 3 }, x)
    assert.equal("Two: default_output is 3, the node has 2 outputs", err.message)
    failure("value", Two({ k = 1, default_output = 5 }), x)
    failure("value", Two, { k = 1, default_output = 0 })
    failure("value", Two, { k = 1, default_output = "x" })
    failure("value", two, { default_output = 0 })
  end)
end)

-- Test values under damo.config.compute_test_value.
local damo = require "damo"
local failure = require "spec.support.failure"
local graph = damo.graph

local warnings = {}
local before
local function with(mode, fn, ...)
  damo.config.compute_test_value = mode
  local ok, err = pcall(fn, ...)
  damo.config.compute_test_value = "off"
  if not ok then error(err, 0) end
  return err
end

describe("test values", function()
  before_each(function()
    before = damo.config.on_warning
    warnings = {}
    damo.config.on_warning = function(kind, message) warnings[#warnings + 1] = { kind, message } end
  end)
  after_each(function()
    damo.config.on_warning = before
    damo.config.compute_test_value = "off"
  end)

  it("are not computed when off", function()
    local x = damo.dvector "x"
    x.tag.test_value = { 1, 2 }
    assert.is_nil((x + 1).tag.test_value)
  end)

  it("follow the graph as it is built", function()
    local x, s = damo.dvector "x", damo.shared(damo.array { 10.0, 20.0 }, "s")
    x.tag.test_value = { 1, 2 }
    with("raise", function()
      local y = damo.sum(x * s + 1)
      assert.equal(52.0, y.tag.test_value:item())
      assert.equal(52.0, graph.get_test_value(y):item())
      assert.same({ 2 }, x[{ { 2, 2 } }].tag.test_value:totable())
    end)
  end)

  it("show a mistake on the line that makes it", function()
    local x, y = damo.dvector "x", damo.dvector "y"
    x.tag.test_value, y.tag.test_value = { 1, 2 }, { 1, 2, 3 }
    for _, mode in ipairs { "ignore", "warn", "raise" } do
      local line
      local err = failure("shape", with, mode, function()
        line = debug.getinfo(1, "l").currentline + 1
        local z = x + y
        return z
      end)
      assert.truthy(err.trace[1]:find("test_value_spec.lua:" .. line .. "$"), err.trace[1])
      assert.truthy(tostring(err):find("(3,)", 1, true), tostring(err))
    end
  end)

  it("that are missing are an error, a warning, or nothing", function()
    local x = damo.dvector "x"
    local err = failure("missing_test_value", with, "raise", function() return x + 1 end)
    assert.truthy(err.message:find("x, a TensorType", 1, true), err.message)
    assert.is_nil(with("warn", function() return x + 1 end).tag.test_value)
    assert.equal("missing_test_value", warnings[1][1])
    assert.equal(1, #warnings)
    with("ignore", function() return x + 1 end)
    assert.equal(1, #warnings)
  end)

  it("of the wrong Type are errors", function()
    local x = damo.dvector "x"
    x.tag.test_value = { { 1 } }
    failure("type", with, "raise", function() return x + 1 end)
  end)

  it("come from Lua Ops too", function()
    local x = damo.dvector "x"
    x.tag.test_value = { 1, 2 }
    local op = damo.Op { name = "Twice", make_node = function(self, v) return damo.Apply(self, { v }, { v.type() }) end,
      perform = function(_, _, i, o) o[1][1] = i[1] * 2 end }
    assert.same({ 2, 4 }, with("raise", op, x).tag.test_value:totable())
  end)

  it("compute_test_value computes one node", function()
    local x = damo.dvector "x"
    local y = damo.exp(x)
    graph.compute_test_value(y.owner)
    assert.is_nil(y.tag.test_value)
    failure("missing_test_value", with, "raise", graph.compute_test_value, y.owner)
    x.tag.test_value = { 0 }
    graph.compute_test_value(y.owner)
    assert.same({ 1 }, y.tag.test_value:totable())
  end)

  it("get_test_value reads values, constants, shared and plain ones", function()
    local x = damo.dscalar "x"
    failure("missing_test_value", graph.get_test_value, x)
    x.tag.test_value = 3
    local function is_0d(expected, dtype, v)
      assert.same({}, v.shape)
      assert.equal(dtype, v.dtype)
      assert.equal(expected, v:item())
    end
    is_0d(3.0, "float64", graph.get_test_value(x))
    is_0d(2.0, "float64", graph.get_test_value(damo.constant(2.0)))
    is_0d(5.0, "float64", graph.get_test_value(damo.shared(5.0)))
    is_0d(0.5, "float64", graph.get_test_value(0.5))
    is_0d(7, "int64", graph.get_test_value(7))
    assert.same({ 1, 2 }, graph.get_test_value({ 1, 2 }):totable())
  end)

  it("get_test_values returns all of them once, or nothing", function()
    local x, y, got = damo.dscalar "x", damo.dscalar "y", {}
    local function collect()
      for a, b in graph.get_test_values(x, y) do got[#got + 1] = { a, b } end
    end
    x.tag.test_value, y.tag.test_value = 1, 2
    collect()
    assert.same({}, got)
    with("ignore", collect)
    assert.equal(1, #got)
    assert.same({}, got[1][1].shape)
    assert.same({ 1.0, 2.0 }, { got[1][1]:item(), got[1][2]:item() })
    y.tag.test_value = nil
    with("ignore", collect)
    with("warn", collect)
    assert.equal(1, #got)
    assert.equal(1, #warnings)
    failure("missing_test_value", with, "raise", collect)
  end)

  it("missing_test_message reports as the config says", function()
    graph.missing_test_message "m"
    with("ignore", graph.missing_test_message, "m")
    assert.equal(0, #warnings)
    with("warn", graph.missing_test_message, "m")
    assert.same({ { "missing_test_value", "m" } }, warnings)
    assert.equal("m", failure("missing_test_value", with, "raise", graph.missing_test_message, "m").message)
  end)

  it("of Ops that destroy their inputs are computed from copies", function()
    local inc = damo.Op { name = "Inc", destroy_map = { { 1 } },
      make_node = function(self, v) return damo.Apply(self, { v }, { v.type() }) end,
      perform = function(_, _, i, o)
        local a = i[1]
        if damo.sparse.is_sparse(a) then
          a.data[{ {} }] = a.data + 1
        else
          a[{ {} }] = a + 1
        end
        o[1][1] = a
      end }
    local k, w, mine = damo.constant(damo.array { 1, 2 }), damo.shared(damo.array { 1, 2 }), damo.array { 1, 2 }
    local x = damo.dvector "x"
    x.tag.test_value = mine
    local y = x[{ { 1, 2 } }]
    local m = damo.shared(damo.sparse.csr { { 1, 0 }, { 0, 2 } })
    with("raise", function()
      y = x[{ { 1, 2 } }]
      for _, v in ipairs { k, w, x, y } do
        for _ = 1, 2 do assert.same({ 2, 3 }, inc(v).tag.test_value:totable()) end
      end
      for _ = 1, 2 do assert.same({ 2, 3 }, inc(m).tag.test_value.data:totable()) end
    end)
    assert.same({ 1, 2 }, damo.compile({}, k)():totable())
    assert.same({ 1, 2 }, w:get_value():totable())
    assert.same({ 1, 2 }, mine:totable())
    assert.equal(mine, x.tag.test_value)
    assert.same({ 1, 2 }, y.tag.test_value:totable())
    assert.same({ 1, 2 }, m:get_value().data:totable())
  end)

  it("follow derivatives and clones", function()
    local x, v, z = damo.dvector "x", damo.dvector "v", damo.dvector "z"
    x.tag.test_value, v.tag.test_value, z.tag.test_value = { 1, 2 }, { 1, 10 }, { 3, 4 }
    with("raise", function()
      local y = x ^ 2.0
      local g = damo.grad(damo.sum(y), { x, v }, { disconnected_inputs = "ignore", return_disconnected = "none" })
      assert.same({ 2, 4 }, g[1].tag.test_value:totable())
      assert.is_nil(g[2])
      for _, node in ipairs(graph.toposort { g[1] }) do
        assert.is_not_nil(node.outputs[1].tag.test_value, node.op.name)
      end
      assert.same({ 2, 40 }, damo.Rop(y, x, v).tag.test_value:totable())
      assert.same({ 2, 40 }, damo.Lop(y, x, v).tag.test_value:totable())
      assert.same({ 9, 16 }, graph.clone_replace({ y }, { [x] = z })[1].tag.test_value:totable())
      assert.same({ 9, 16 }, graph.clone_replace(y, { [x] = z }).tag.test_value:totable())
      assert.same({ 1, 4 }, y.owner:clone().outputs[1].tag.test_value:totable())
      local two = y.owner.inputs[2]
      assert.same({ 9, 16 }, y.owner:clone_with_new_inputs({ z, two }).outputs[1].tag.test_value:totable())
      assert.same({ 2, 40 }, y.owner.op:L_op(y.owner.inputs, { y }, { v })[1].tag.test_value:totable())
    end)
  end)

  it("show a mistake in a derivative", function()
    local x, v = damo.dvector "x", damo.dvector "v"
    x.tag.test_value, v.tag.test_value = { 1, 2 }, { 1, 10, 100 }
    local y = damo.exp(x)
    failure("shape", with, "raise", damo.Rop, y, x, v)
    failure("missing_test_value", with, "raise", damo.Rop, y, x, damo.dvector "u")
  end)
end)

-- Variables, Types and nodes in scripts.
local damo = require "damo"
local failure = require "spec.support.failure"
local has = require "spec.support.has"
local op = require "spec.support.operators"

describe("makers", function()
  it("exist for every rank and letter", function()
    local ranks = { scalar = 0, vector = 1, row = 2, col = 2, matrix = 2, tensor3 = 3, tensor4 = 4 }
    local letters = { b = "int8", w = "int16", i = "int32", l = "int64", f = "float32", d = "float64", c = "complex64",
      z = "complex128" }
    for rank, ndim in pairs(ranks) do
      assert.equal(ndim, damo[rank]("x").ndim)
      assert.equal(damo.config.floatX, damo[rank]("x").dtype)
      for letter, dtype in pairs(letters) do
        local v = damo[letter .. rank] "v"
        assert.equal(ndim, v.ndim)
        assert.equal(dtype, v.dtype)
        assert.equal("v", v.name)
      end
    end
  end)

  it("have static lengths of 1 in row and col", function()
    assert.same({ true, false }, damo.row("r").broadcastable)
    assert.same({ false, true }, damo.col("c").broadcastable)
  end)

  it("take dtype and shape", function()
    local x = damo.tensor("x", { dtype = "float32", shape = { false, 3 } })
    assert.equal("float32", x.dtype)
    assert.same({ false, 3 }, x.type.shape)
    assert.equal("int32", damo.matrix("m", { dtype = "int32" }).dtype)
    assert.is_nil(damo.vector().name)
  end)

  it("refuse inconsistent arguments", function()
    local err = failure("value", damo.tensor, "x", { dtpye = "int32" })
    assert.equal("tensor: unknown option 'dtpye', did you mean 'dtype'?", err.message)
    failure("value", damo.tensor, "x")
    failure("type", damo.vector, 3)
    failure("value", damo.matrix, "m", { shape = { 1, 2, 3 } })
  end)
end)

describe("a Variable", function()
  local x = damo.dmatrix "x"

  it("has fields", function()
    assert.equal("x", x.name)
    assert.equal("float64", x.dtype)
    assert.equal(2, x.ndim)
    assert.is_nil(x.owner)
    assert.is_nil(x.index)
    assert.equal(damo.TensorType("float64", { shape = { false, false } }), x.type)
    local y = x + 1
    assert.equal(1, y.index)
    assert.equal(y, y.owner.outputs[y.index])
  end)

  it("has its shape as an int64 vector", function()
    assert.equal("int64", x.shape.dtype)
    assert.same({ 2, 3 }, x.shape:eval({ [x] = damo.zeros { 2, 3 } }):totable())
    assert.equal(6, x.size:eval({ [x] = damo.zeros { 2, 3 } }))
    assert.same({ 3, 2 }, x.T:eval({ [x] = damo.zeros { 2, 3 } }).shape)
  end)

  it("is compared by identity", function()
    local y = damo.dmatrix "x"
    assert.is_false(x == y)
    assert.is_true((x + 1).owner.inputs[1] == x)
    local t = { [x] = 1 }
    assert.equal(1, t[(x + 1).owner.inputs[1]])
  end)

  it("refuses < and says what to use", function()
    local err = failure("type", function() return x < x end)
    assert.truthy(err.message:find("damo.lt", 1, true))
    if has.mixed_order then failure("type", function() return x < 1 end) end
    failure("type", function() return x <= damo.dmatrix() end)
  end)

  it("has a name that can be set, and a tag", function()
    local y = damo.dvector()
    y.name = "speed"
    assert.equal("speed", y.name)
    y.name = nil
    assert.is_nil(y.name)
    y.tag.note = "kept"
    assert.equal("kept", y.tag.note)
    y.tag = { other = 1 }
    assert.same({ other = 1 }, y.tag)
    local err = failure("type", function() y.foo = 1 end)
    assert.equal("Variable: the field 'foo' can't be set; x.tag.foo can", err.message)
  end)

  it("has in its tag the line that made its node", function()
    local y = x * 2
    local line = debug.getinfo(1, "l").currentline - 1
    assert.truthy(y.tag.trace[1]:find("variable_spec.lua:" .. line .. "$"), y.tag.trace[1])
  end)

  it("has a length only if that is static", function()
    assert.equal(3, #damo.tensor("t", { shape = { 3, false } }))
    failure("type", function() return #x end)
    failure("type", function() return #damo.dscalar() end)
  end)

  it("can be cloned", function()
    local y = x:clone()
    assert.is_false(y == x)
    assert.equal(x.type, y.type)
    assert.equal("x", y.name)
  end)

  it("has a short text", function()
    assert.equal("x", tostring(x))
    assert.is_true(#tostring(damo.exp(x)) < 40)
    assert.equal("see x", "see " .. x)
  end)
end)

describe("operators", function()
  local x, y = damo.dvector "x", damo.dvector "y"
  local values = { [x] = { 7, -8 }, [y] = { 2, 3 } }
  local function list(v) return v:eval(values):totable() end

  it("build graph", function()
    assert.same({ 9, -5 }, list(x + y))
    assert.same({ 5, -11 }, list(x - y))
    assert.same({ 14, -24 }, list(x * y))
    assert.same({ 3.5, -8 / 3 }, list(x / y))
    assert.same({ 3, -3 }, list(op.floor_div(x, y)))
    assert.same({ 1, 1 }, list(x % y))
    assert.same({ 49, -512 }, list(x ^ y))
    assert.same({ -7, 8 }, list(-x))
    assert.same({ 8, -7 }, list(1 + x))
    assert.same({ -6, 9 }, list(1 - x))
  end)

  it("have logic for booleans and integers", function()
    local a, b = damo.lvector "a", damo.lvector "b"
    local v = { [a] = damo.array({ 6 }, "int64"), [b] = damo.array({ 3 }, "int64") }
    assert.same({ 2 }, op.and_(a, b):eval(v):totable())
    assert.same({ 7 }, op.or_(a, b):eval(v):totable())
    assert.same({ 5 }, op.xor(a, b):eval(v):totable())
    assert.same({ -7 }, op.invert(a):eval(v):totable())
  end)
end)

describe("parts of a Variable", function()
  local x = damo.dmatrix "x"
  local v = damo.array { { 1, 2, 3 }, { 4, 5, 6 } }
  local function of(part) return part:eval { [x] = v } end

  it("are 1-based and inclusive", function()
    assert.same({ 4, 5, 6 }, of(x[2]):totable())
    assert.same({ 4, 5, 6 }, of(x[-1]):totable())
    assert.equal(6.0, of(x[{ 2, 3 }]))
    assert.same({ { 2, 3 }, { 5, 6 } }, of(x[{ {}, { 2, 3 } }]):totable())
    assert.same({ { 1, 3 }, { 4, 6 } }, of(x[{ {}, { 1, -1, 2 } }]):totable())
  end)

  it("may have symbolic ends", function()
    local i = damo.lscalar "i"
    assert.same({ 4, 5, 6 }, x[i]:eval({ [x] = v, [i] = 2 }):totable())
    assert.same({ { 1, 2 }, { 4, 5 } }, x[{ {}, { 1, i } }]:eval({ [x] = v, [i] = 2 }):totable())
  end)

  it("may be lists", function()
    assert.same({ { 4, 5, 6 }, { 1, 2, 3 } }, of(x[damo.idx { 2, 1 }]):totable())
    assert.same({ 2, 3, 5, 6 }, of(x[{ {}, { 2, 3 } }]):ravel():totable())
  end)

  it("can't be assigned", function()
    local err = failure("type", function() x[1] = 0 end)
    assert.truthy(err.message:find("set_subtensor", 1, true))
    assert.truthy(err.message:find("inc_subtensor", 1, true))
  end)

  it("can be replaced in a new Variable", function()
    assert.same({ { 1, 2, 3 }, { 0, 0, 0 } }, of(x:set(2, 0)):totable())
    assert.same({ { 1, 12, 3 }, { 4, 15, 6 } }, of(x:inc({ {}, 2 }, 10)):totable())
    assert.same({ { 0, 0, 3 }, { 4, 5, 6 } }, of(damo.set_subtensor(x[{ 1, { 1, 2 } }], 0)):totable())
    assert.same({ { 1, 3, 3 }, { 4, 6, 6 } }, of(damo.inc_subtensor(x[{ {}, 2 }], 1)):totable())
  end)

  it("out of range are an index error", function()
    failure("index", of, x[3])
    local fixed = damo.tensor("f", { shape = { 2 } })
    failure("index", function() return fixed[3] end)
  end)
end)

describe("a shared Variable", function()
  it("holds a copy of its value", function()
    local a = damo.array { 1, 2 }
    local s = damo.shared(a, "s")
    a[1] = 10
    assert.same({ 1, 2 }, s:get_value():totable())
    s:get_value()[1] = 20
    assert.same({ 1, 2 }, s:get_value():totable())
    s:set_value { 3, 4, 5 }
    assert.same({ 3, 4, 5 }, s:get_value():totable())
    assert.equal("s", s.name)
  end)

  it("may borrow", function()
    local a = damo.array { 1, 2 }
    local s = damo.shared(a, "s", { borrow = true })
    a[1] = 10
    assert.same({ 10, 2 }, s:get_value():totable())
    assert.is_true(rawequal(a, s:get_value { borrow = true }))
  end)

  it("gives a Lua number for a 0-d value", function()
    local s = damo.shared(2.5)
    assert.equal(2.5, s:get_value())
    s:set_value(3)
    assert.equal(3.0, s:get_value())
    assert.equal("integer", math.type(damo.shared(2, "n", { dtype = "int64" }):get_value()))
  end)

  it("refuses values of another kind", function()
    local s = damo.shared { 1, 2 }
    failure("type", s.set_value, s, { { 1 } })
    failure("type", s.set_value, s, "x")
    failure("type", s.set_value, damo.dvector(), { 1 })
    failure("value", s.set_value, damo.shared(1, "n", { dtype = "int64" }), 1.5)
  end)
end)

describe("constants", function()
  it("hold values, with a dtype if one is given", function()
    assert.equal("float64", damo.constant(2).dtype)
    assert.equal("int8", damo.constant(2, { dtype = "int8" }).dtype)
    assert.same({ 1, 2 }, damo.constant({ 1, 2 }).data:totable())
    assert.equal("c", damo.constant(1, { name = "c" }).name)
  end)

  it("come from as_tensor_variable", function()
    local x = damo.dvector "x"
    assert.equal(x, damo.as_tensor_variable(x))
    assert.equal(1, damo.as_tensor_variable({ 1, 2 }).ndim)
    failure("type", damo.as_tensor_variable, x, { ndim = 2 })
    failure("type", damo.as_tensor_variable, damo.NullType "no"())
  end)

  it("may hold any Lua value", function()
    local t = {}
    local c = damo.constant(t, { type = damo.GenericType() })
    assert.is_true(rawequal(t, c.data))
  end)
end)

describe("Types", function()
  it("with equal properties are one object", function()
    local t = damo.TensorType("float64", { shape = { false, 3 } })
    assert.is_true(rawequal(t, damo.TensorType("float64", { false, 3 })))
    assert.is_false(damo.TensorType("float64", { 3 }) == damo.TensorType("float32", { 3 }))
    assert.equal(damo.NullType "why", damo.NullType "why")
    assert.equal(damo.GenericType(), damo.GenericType())
    assert.equal(damo.DisconnectedType(), damo.DisconnectedType())
    assert.equal(damo.RandomType(), damo.RandomType())
  end)

  it("have fields and a text", function()
    local t = damo.TensorType("int32", { shape = { false, 1 } })
    assert.equal("int32", t.dtype)
    assert.equal(2, t.ndim)
    assert.same({ false, 1 }, t.shape)
    assert.same({ false, true }, t.broadcastable)
    assert.equal("TensorType(int32, shape=(?, 1))", tostring(t))
    assert.equal("why", damo.NullType("why").why)
  end)

  it("make Variables", function()
    local t = damo.TensorType("int32", { 3 })
    assert.equal("v", t("v").name)
    assert.equal(t, t().type)
  end)

  it("filter values", function()
    local t = damo.TensorType("float64", { shape = { false } })
    assert.equal("float64", t:filter({ 1, 2 }).dtype)
    assert.equal("float64", t:filter(damo.array({ 1 }, "float32")).dtype)
    failure("type", t.filter, t, damo.array({ 1 }, "float32"), { strict = true })
    failure("type", t.filter, t, { { 1 } })
    local i = damo.TensorType("int32", { shape = { false } })
    failure("type", i.filter, i, damo.array { 1.5 })
    assert.same({ 1 }, i:filter(damo.array { 1.5 }, { allow_downcast = true }):totable())
    failure("value", i.filter, i, { 1.5 })
    failure("shape", damo.TensorType("float64", { 3 }).filter, damo.TensorType("float64", { 3 }), { 1, 2 })
  end)

  it("tell whether a value is valid for them", function()
    local t = damo.TensorType("float64", { shape = { false } })
    assert.is_true(t:is_valid_value(damo.array { 1 }))
    assert.is_false(t:is_valid_value(damo.array({ 1 }, "float32")))
    assert.is_false(t:is_valid_value("x"))
    assert.is_true(damo.TensorType("float64", {}):is_valid_value(1.5))
    assert.is_false(damo.TensorType("int32", {}):is_valid_value(1.5))
  end)
end)

describe("eval", function()
  it("computes a value, given those of the inputs", function()
    local x, y = damo.dscalar "x", damo.dscalar "y"
    assert.equal(14.0, (x * y + 2):eval { [x] = 3, [y] = 4 })
    assert.equal(4.0, (damo.constant(1) + 3):eval())
  end)

  it("names the input that is missing or wrong", function()
    local x = damo.dscalar "x"
    local err = failure("missing_input", (x + 1).eval, x + 1)
    assert.truthy(err.message:find "x", err.message)
    failure("type", (x + 1).eval, x + 1, { [x] = { 1, 2 } })
    failure("type", (x + 1).eval, x + 1, { x = 1 })
  end)
end)

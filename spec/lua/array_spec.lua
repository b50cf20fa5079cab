-- Arrays in scripts: made, read, converted, freed.
local damo = require "damo"
local is_float = require "spec.support.is_float"
local closing = require "spec.support.closing"
local failure = require "spec.support.failure"
local has = require "spec.support.has"
local op = require "spec.support.operators"
local garbage = require "spec.support.garbage"

describe("making an Array", function()
  it("takes nested tables, and floatX for numbers", function()
    local a = damo.array { { 1, 2, 3 }, { 4, 5, 6 } }
    assert.same({ 2, 3 }, a.shape)
    assert.equal("float64", a.dtype)
    assert.equal(2, a.ndim)
    assert.equal(6, a.size)
    assert.equal(2, #a)
    assert.same({ { 1, 2, 3 }, { 4, 5, 6 } }, a:totable())
  end)

  it("takes a dtype by name or as an option", function()
    assert.equal("int32", damo.array({ 1, 2 }, "int32").dtype)
    assert.equal("float32", damo.array({ 1, 2 }, { dtype = "float32" }).dtype)
    local err = failure("value", damo.array, { 1 }, "flaot32")
    assert.equal("array: unknown dtype 'flaot32', did you mean 'float32'?", err.message)
  end)

  it("has floatX of the configuration", function()
    damo.config.floatX = "float32"
    local dtype = damo.array({ 1, 2 }).dtype
    damo.config.floatX = "float64"
    assert.equal("float32", dtype)
  end)

  it("makes booleans bool, and does not mix them with numbers", function()
    local a = damo.array { true, false }
    assert.equal("bool", a.dtype)
    assert.same({ true, false }, a:totable())
    assert.same({ 1, 0 }, damo.array({ true, false }, "int8"):totable())
    failure("type", damo.array, { true, 2 })
    failure("type", damo.array, { 2, true })
  end)

  it("makes a 0-d Array of a number", function()
    local a = damo.array(2.5)
    assert.equal(0, a.ndim)
    assert.same({}, a.shape)
    assert.equal(2.5, a:item())
  end)

  it("takes empty tables", function()
    assert.same({ 0 }, damo.array({}).shape)
    assert.same({ 2, 0 }, damo.array({ {}, {} }).shape)
  end)

  it("copies an Array", function()
    local a = damo.array { 1, 2 }
    local b = damo.array(a)
    b[1] = 9
    assert.equal(1, a[1])
  end)

  it("stacks Arrays in tables", function()
    local rows = damo.array({ { 1, 2 }, { 3, 4 } }, "int64")
    local a = damo.array { rows[2], rows[1] }
    assert.equal("int64", a.dtype)
    assert.same({ { 3, 4 }, { 1, 2 } }, a:totable())
    failure("shape", damo.array, { rows[1], damo.array { 1, 2, 3 } })
  end)

  it("refuses ragged tables and names the row", function()
    local err = failure("shape", damo.array, { { 1, 2 }, { 3 } })
    assert.equal("array: row 2 has 1 entry, expected 2", err.message)
    failure("shape", damo.array, { { 1, 2 }, 3 })
    failure("shape", damo.array, { 1, { 2 } })
    err = failure("shape", damo.array, { { { 1 }, { 2 } }, { { 3 }, { 4, 5 } } })
    assert.equal("array: entry {2, 2} has 2 entries, expected 1", err.message)
  end)

  it("refuses strings, holes and names", function()
    local err = failure("type", damo.array, { 1, "2" })
    assert.equal("array: entry {2} is of type string, expected a number", err.message)
    failure("type", damo.array, { 1, nil, 3 })
    failure("type", damo.array, "text")
    failure("type", damo.array)
    failure("type", damo.array, { 1, 2, x = 3 })
    failure("type", damo.array, { x = 3 })
    failure("type", damo.array, io.stdout)
  end)

  it("refuses values that do not fit an integer dtype", function()
    local err = failure("value", damo.array, { 1, 300 }, "uint8")
    assert.equal("array: entry {2} is 300, which does not fit into uint8", err.message)
    assert.equal("array: entry {1} is nan, which does not fit into int8",
      failure("value", damo.array, { 0 / 0 }, "int8").message)
    failure("value", damo.array, { 1.5 }, "int64")
    failure("value", damo.array, { -1 }, "uint64")
    failure("value", damo.array, { 2 }, "bool")
    failure("value", damo.array, { 1e19 }, "int64")
    assert.same({ 3 }, damo.array({ 3.0 }, "int64"):totable())
  end)

  it("refuses tables that contain themselves", function()
    local t = {}
    t[1] = t
    failure("value", damo.array, t)
  end)

  it("makes Arrays of a shape", function()
    assert.same({ { 0, 0 }, { 0, 0 } }, damo.zeros({ 2, 2 }):totable())
    assert.same({ 1, 1, 1 }, damo.ones(3, "int32"):totable())
    assert.equal("int32", damo.ones(3, "int32").dtype)
    assert.same({ 2, 3 }, damo.empty({ 2, 3 }, { dtype = "int8" }).shape)
    assert.same({ 7, 7 }, damo.full(2, 7):totable())
    assert.same({ { 1, 2 }, { 1, 2 } }, damo.full({ 2, 2 }, { 1, 2 }, "int16"):totable())
    assert.equal("int32", damo.zeros({ 2, dtype = "int32" }).dtype)
    assert.same({}, damo.zeros({}).shape)
    failure("value", damo.zeros, { 2, -1 })
    failure("type", damo.zeros, { 2, "x" })
    failure("type", damo.zeros)
    failure("value", damo.zeros, { 2, dtyp = "int32" })
    failure("value", damo.zeros, { 1e9, 1e9, 1e9 })
  end)

  it("counts as Lua's for with range, as NumPy with arange", function()
    assert.same({ 1, 2, 3 }, damo.range(3):totable())
    assert.same({ 2, 4 }, damo.range(2, 5, 2):totable())
    assert.same({ 3, 2, 1 }, damo.range(3, 1, -1):totable())
    assert.same({ 0, 0.25, 0.5 }, damo.range(0, 0.5, 0.25):totable())
    assert.same({ 0, 1, 2 }, damo.arange(3):totable())
    assert.equal(0, damo.range(0).size)
    failure("value", damo.range, 1, 2, 0)
  end)

  it("converts to bytes and back", function()
    local a = damo.array({ { 1, 2 }, { 3, 4 } }, "int16")
    local s = a.T:tobytes()
    assert.equal(8, #s)
    assert.same({ { 1, 3 }, { 2, 4 } }, damo.frombytes(s, "int16", { 2, 2 }):totable())
    assert.same({ 1, 3, 2, 4 }, damo.frombytes(s, "int16"):totable())
    failure("value", damo.frombytes, s, "int16", { 3 })
    failure("value", damo.frombytes, "abc", "int16")
    failure("type", damo.frombytes, 3, "int16")
  end)

  it("uses foreign memory, whose owner lives as long as a view", function()
    local base = damo.array { 1, 2, 3 }
    local alive = setmetatable({}, { __mode = "k" })
    local view
    do
      local owner = { base }
      alive[owner] = true
      view = damo.frompointer(base:pointer(), "float64", { 3 }, owner)[{ { 2, 3 } }]
    end
    garbage.collect()
    assert.is_truthy(next(alive))
    view[1] = 20
    assert.equal(20, base[2])
    view = nil -- luacheck: ignore
    garbage.collect()
    assert.is_nil(next(alive))
    failure("type", damo.frompointer, 12, "float64", 3)
  end)
end)

describe("an Array", function()
  it("has fields that cannot be set", function()
    local a = damo.zeros { 2, 3 }
    assert.same({ 24, 8 }, a.strides)
    assert.is_true(a:iscontiguous())
    assert.is_false(a.T:iscontiguous())
    assert.same({ 3, 2 }, a.T.shape)
    failure("value", function() return a.nothing end)
    failure("type", function() a.shape = { 6 } end)
    a.shape[1] = 9
    assert.same({ 2, 3 }, a.shape)
  end)

  it("can be made read-only, but not writable again", function()
    local a = damo.zeros { 2 }
    assert.is_true(a.writeable)
    a.writeable = false
    local err = failure("state", function() a[1] = 1 end)
    assert.matches("read%-only", err.message)
    failure("state", function() a.writeable = true end)
    assert.is_false(a[{ { 1, 1 } }].writeable)
    assert.is_true(a:copy().writeable)
  end)

  it("has one entry as a Lua value", function()
    assert.equal("integer", math.type(damo.array({ 7 }, "int8"):item()))
    assert.is_true(is_float(damo.array({ 7 }):item()))
    assert.is_true(damo.array({ true }):item())
    local err = failure("shape", damo.array { 1, 2 }.item, damo.array { 1, 2 })
    assert.equal("item: the Array has shape (2,), expected exactly one entry", err.message)
  end)

  it("keeps large uint64 values as 0-d Arrays", function()
    local a = damo.array({ 2 ^ 63 }, "uint64")
    local v = a[1]
    assert.equal("uint64", v.dtype)
    assert.equal(0, v.ndim)
    assert.equal("9223372036854775808", tostring(v))
    assert.equal(math.maxinteger, damo.array({ math.maxinteger }, "uint64")[1])
  end)

  it("converts with astype", function()
    local a = damo.array { 1.7, -2.2 }
    assert.same({ 1, -2 }, a:astype("int32"):totable())
    assert.equal("float32", a:astype("float32").dtype)
    failure("type", a.astype, a, 3)
  end)

  it("has every op as a method", function()
    local a = damo.array { { 1, 2 }, { 3, 4 } }
    assert.equal(10, a:sum())
    assert.same({ 4, 6 }, a:sum { 1 }:totable())
    assert.same({ 4, 6 }, a:sum(1):totable())
  end)

  it("computes with operators", function()
    local a = damo.array({ 7, -7 }, "int32")
    assert.same({ 8, -6 }, (a + 1):totable())
    assert.same({ 3, -3 }, (10 - a - 0):totable()[1] == 3 and { 3, -3 } or {})
    assert.same({ 3.5, -3.5 }, (a / 2):totable())
    assert.same({ 3, -4 }, op.floor_div(a, 2):totable())
    assert.same({ 1, 1 }, (a % 2):totable())
    assert.same({ 49, 49 }, (a ^ 2):totable())
    assert.same({ -7, 7 }, (-a):totable())
    assert.same({ 3, 1 }, op.and_(a, 3):totable())
    assert.same({ 7, -5 }, op.or_(a, 2):totable())
    assert.same({ 6, -8 }, op.xor(a, 1):totable())
    assert.same({ -8, 6 }, op.invert(a):totable())
    assert.equal("int32", (a + 1).dtype)
    assert.equal("float64", (a + 1.5).dtype)
    assert.equal("int16", (damo.array({ 1 }, "int8") + 300).dtype)
    assert.equal("float32", (damo.array({ 1 }, "float32") + 1.5).dtype)
  end)

  it("compares by identity, and has an order only if it is 0-d", function()
    local a = damo.array { 1, 2 }
    assert.is_true(a == a) -- luacheck: ignore
    assert.is_false(a == damo.array { 1, 2 })
    assert.is_true(damo.array_equal(a, { 1, 2 }))
    assert.is_false(damo.array_equal(a, { 1, 2, 3 }))
    assert.is_true(damo.array_equal(a, damo.array({ 1, 2 }, "int8")))
    assert.is_false(damo.array_equal({ 0 / 0 }, { 0 / 0 }))
    assert.is_true(damo.array_equal({ 0 / 0 }, { 0 / 0 }, { equal_nan = true }))
    local err = failure("type", function() return a < a end)
    assert.matches("damo%.lt", err.message)
    assert.is_true(damo.array(1) < damo.array(2))
    if has.mixed_order then assert.is_true(damo.array(2) <= 2) end
    assert.has_error(function() return a .. "x" end)
  end)

  it("prints as NumPy does", function()
    assert.equal("[[1. 2.]\n [3. 4.]]", tostring(damo.array { { 1, 2 }, { 3, 4 } }))
    assert.equal("[ true false]", tostring(damo.array { true, false }))
  end)

  it("can be freed, and can be a to-be-closed variable", function()
    local before = damo.memory().bytes
    local a = damo.zeros { 1000 }
    local view = a[{ { 1, 2 } }]
    a:free()
    a:free()
    assert.equal("Array: freed", tostring(a))
    assert.equal("this Array has been freed", failure("state", function() return a[1] end).message)
    failure("state", function() return a + 1 end)
    failure("state", damo.array, a)
    failure("state", damo.array, { a })
    assert.same({ 0, 0 }, view:totable())
    view:free()
    local held
    closing(damo.zeros { 1000 }, function(b) held = b end)
    failure("state", function() return held.shape end)
    collectgarbage()
    assert.is_true(damo.memory().bytes <= before + 4096)
  end)

  it("does not mistake foreign userdata for an Array", function()
    local a = damo.zeros { 1 }
    failure("type", a.copy, io.stdout)
    failure("type", a.copy, {})
    failure("type", a.free, 3)
    failure("type", function() return a + io.stdout end)
  end)
end)

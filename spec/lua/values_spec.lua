-- Conversion of numbers and values between Lua and the core.
local damo = require "damo"
local has = require "spec.support.has"
local is_float = require "spec.support.is_float"

describe("0-d values", function()
  it("reach a script as Lua scalars of their kind", function()
    assert.equal("integer", math.type(damo.array({ 1, 2 }, "int8"):sum()))
    assert.is_true(is_float(damo.array({ 1, 2 }, "float32"):sum()))
    assert.is_true(damo.array({ true, false }):any())
    assert.equal(3, damo.add(1, 2))
    assert.equal("integer", math.type(damo.add(1, 2)))
    assert.is_true(is_float(damo.add(1, 2.0)))
    assert.equal("integer", math.type(damo.array({ 5 }, "int64")[1]))
    assert.equal(true, damo.array { true }[1])
  end)

  it("stay Arrays if Lua has no value for them", function()
    local z = damo.complex(1, 2)
    assert.equal("complex128", z.dtype)
    assert.equal(0, z.ndim)
    assert.equal(2, z:imag())
    local big = damo.array({ 2 ^ 63 }, "uint64"):max()
    assert.equal("uint64", big.dtype)
  end)

  it("keep every int64", function()
    assert.equal(math.mininteger, damo.array({ math.mininteger }, "int64")[1])
    assert.equal(math.maxinteger, damo.array({ math.maxinteger }, "int64")[1])
    assert.equal(math.floor(2 ^ 53), damo.array({ 2 ^ 53 }, "int64")[1])
  end)

  it("keep nan and the infinities", function()
    local a = damo.array { 0 / 0, 1 / 0, -1 / 0 }
    assert.is_true(a[1] ~= a[1])
    assert.equal(math.huge, a[2])
    assert.equal(-math.huge, a[3])
  end)
end)

describe("literals in an expression", function()
  local function dtype(x) return damo.array({ 1 }, x) end

  it("take the other operand's dtype where they fit", function()
    assert.equal("float32", (dtype "float32" * 2).dtype)
    assert.equal("float32", (2.5 * dtype "float32").dtype)
    assert.equal("int8", (dtype "int8" + 100).dtype)
    assert.equal("int64", (dtype "int64" + 1).dtype)
  end)

  it("promote where they do not", function()
    assert.equal("int16", (dtype "int8" + 300).dtype)
    assert.equal("float64", (dtype "int32" * 1.5).dtype)
    assert.equal(has.integers and "float64" or "int32", (dtype "int32" * 2.0).dtype)
  end)
end)

describe("totable", function()
  it("gives integers, floats and booleans", function()
    assert.equal("integer", math.type(damo.array({ 1 }, "uint8"):totable()[1]))
    assert.is_true(is_float(damo.array({ 1 }, "float32"):totable()[1]))
    assert.same({ { true }, { false } }, damo.array({ { true }, { false } }):totable())
    assert.equal(4, damo.array(4, "int8"):totable())
    assert.same({ {}, {} }, damo.zeros({ 2, 0 }):totable())
  end)
end)

describe("damo.info", function()
  it("says how the build was made", function()
    local info = damo.info()
    assert.equal("string", type(info.version))
    assert.equal(_VERSION, info.lua)
    assert.equal("string", type(info.blas))
    assert.equal("string", type(info.kernels))
    assert.equal("boolean", type(info.gpl))
    assert.equal(1, info.threads)
    assert.equal("table", type(info.libraries.OpenBLAS))
  end)

  it("names the version and licence of every library that is linked, and the licence of the whole", function()
    local info = damo.info()
    for name, licence in pairs { OpenBLAS = "BSD-3-Clause", SLEEF = "BSL-1.0", zlib = "Zlib" } do
      assert.equal(licence, info.libraries[name].licence)
      assert.matches("^%d+%.%d+", info.libraries[name].version)
    end
    local gpl = false
    for _, library in pairs(info.libraries) do gpl = gpl or library.licence:find "^GPL" ~= nil end
    assert.equal(gpl, info.gpl)
    assert.equal(gpl and "GPL-2.0-or-later" or "MIT", info.licence)
  end)
end)

-- Each function has two uses, eager and symbolic; and how both treat numbers.
local damo = require "damo"
local has = require "spec.support.has"
local is_float = require "spec.support.is_float"

describe("a call with values only", function()
  -- The count is of instructions of Lua, of which a call has few: only looks from inside of it come to so many.
  it("ends at an error of a debug hook, and works on", function()
    local x = damo.ones { 4000000 }
    local target = damo.zeros { 4 }
    for _, call in ipairs {
      function() return damo.sin(x) end, function() return damo.sort(damo.cos(x)) end,
      function() return damo.cumsum(damo.tanh(x) + x) end,
    } do
      local looks = 0
      debug.sethook(function()
        looks = looks + 1
        if looks == 2 then error("enough", 0) end
      end, "", 1000)
      local ok, err = pcall(call)
      debug.sethook()
      assert.is_false(ok)
      assert.equal("enough", err)
      assert.near(4 * math.sin(1), damo.sum(damo.sin(damo.ones { 4 })), 1e-12)
      assert.equal(target, damo.exp(target, { out = target }))
    end
  end)

  it("computes at once; with a Variable it builds graph", function()
    assert.equal(5, damo.add(2, 3))
    assert.equal("integer", math.type(damo.add(2, 3)))
    assert.is_true(is_float(damo.add(2, 3.0)))
    local x = damo.dscalar "x"
    assert.is_true(damo.is_variable(damo.add(2, x)))
    assert.is_true(damo.is_variable(damo.array { 1, 2 } + x))
    assert.is_false(damo.is_variable(damo.add({ 1, 2 }, damo.array { 1, 2 })))
  end)

  it("returns Lua scalars if the result is 0-d", function()
    assert.equal(6, damo.sum { 1, 2, 3 })
    assert.equal(true, damo.all(damo.array { true, true }))
    assert.equal("integer", math.type(damo.argmax { 3, 9, 4 }))
    assert.is_true(is_float(damo.dot({ 1, 2 }, { 3, 4 })))
    assert.equal(2, damo.array({ 5, 6, 7 }):argmin() + 1)
  end)

  it("does not change its operands", function()
    local a = damo.array { { 3, 1 }, { 2, 5 } }
    for _, name in ipairs { "sort", "neg", "exp", "cumsum", "flip", "transpose", "softmax", "tril" } do
      local b = a[name](a)
      assert.same({ { 3, 1 }, { 2, 5 } }, a:totable(), name)
      assert.same({ 2, 2 }, name == "cumsum" and { 2, 2 } or b.shape, name)
    end
  end)
end)

describe("a number in an expression", function()
  local cases = {
    { "int8", 1, "int8" }, { "int8", 300, "int16" }, { "int8", 1.5, "float64" }, { "uint8", -1, "int16" }, { "uint8",
      255, "uint8" },
    { "int32", 2.0, has.integers and "float64" or "int32" }, { "int64", 2 ^ 53, has.integers and "float64" or "int64" },
    { "float32", 2, "float32" }, { "float32", 0.1,
      "float32" },
    { "float32", math.maxinteger, "float32" }, { "bool", 1, "int8" }, { "float64", 1, "float64" }, { "complex64", 1.5,
      "complex64" },
  }
  for _, case in ipairs(cases) do
    local dtype, number, want = table.unpack(case)
    it(("next to %s, %s gives %s, eagerly and in a graph"):format(dtype, tostring(number), want), function()
      local a = damo.ones(2, dtype)
      assert.equal(want, (a + number).dtype)
      assert.equal(want, (number + a).dtype)
      local v = damo.tensor("v", { dtype = dtype, shape = { false } })
      assert.equal(want, (v + number).dtype)
      local f = damo.compile({ v }, v + number)
      assert.equal(want, f(a).dtype)
    end)
  end
end)

describe("dtypes", function()
  local order = { "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32",
    "float64", "complex64", "complex128" }
  -- NumPy's promotion table: one row a dtype, with the dtypes from itself on.
  local promoted = {
    bool = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128",
    int8 = "int8 int16 int32 int64 int16 int32 int64 float64 float32 float64 complex64 complex128",
    int16 = "int16 int32 int64 int16 int32 int64 float64 float32 float64 complex64 complex128",
    int32 = "int32 int64 int32 int32 int64 float64 float64 float64 complex128 complex128",
    int64 = "int64 int64 int64 int64 float64 float64 float64 complex128 complex128",
    uint8 = "uint8 uint16 uint32 uint64 float32 float64 complex64 complex128",
    uint16 = "uint16 uint32 uint64 float32 float64 complex64 complex128",
    uint32 = "uint32 uint64 float64 float64 complex128 complex128",
    uint64 = "uint64 float64 float64 complex128 complex128",
    float32 = "float32 float64 complex64 complex128",
    float64 = "float64 complex128 complex128",
    complex64 = "complex64 complex128",
    complex128 = "complex128",
  }
  it("promote as NumPy's do, whichever comes first", function()
    for i, a in ipairs(order) do
      local k = i
      for want in promoted[a]:gmatch "%S+" do
        local x, y = damo.ones(1, a), damo.ones(1, order[k])
        if not (a == "bool" and order[k] == "bool") then
          assert.equal(want, (x + y).dtype, a .. " + " .. order[k])
          assert.equal(want, (y + x).dtype, order[k] .. " + " .. a)
        end
        k = k + 1
      end
    end
  end)
end)

describe("long arrays", function()
  -- Longer than a block of the kernels, in every layout, against a loop in Lua.
  local n = 5000
  local values = {}
  for k = 1, n do values[k] = math.sin(k) * 3 end
  local a = damo.array(values)

  it("are the same contiguous, strided, transposed and broadcast", function()
    local want = {}
    for k = 1, n do want[k] = values[k] * 2 + values[n + 1 - k] end
    want = damo.array(want)
    assert.is_true(damo.allclose(a * 2 + damo.flip(a), want, { rtol = 1e-15, atol = 0 }))
    local wide = damo.zeros { n, 3 }
    wide[{ {}, 2 }] = a
    assert.is_true(damo.array_equal(damo.exp(wide[{ {}, 2 }]), damo.exp(a)))
    local square = a:reshape { 50, 100 }
    assert.is_true(damo.array_equal(damo.tanh(square.T), damo.tanh(square).T))
    local row, column = square[{ { 1, 1 } }], square[{ {}, { 1, 1 } }]
    local outer = row * column
    assert.same({ 50, 100 }, outer.shape)
    assert.equal(square[1][7] * square[9][1], outer[9][7])
    assert.is_true(damo.array_equal(damo.sum(square, { axis = 1 }), damo.sum(square.T:copy(), { axis = 2 })))
  end)

  it("are summed pairwise", function()
    local ones = damo.full({ 1000000 }, 0.1, "float32")
    assert.near(100000, damo.sum(ones), 0.1)
  end)
end)

describe("a cast of integers through floats", function()
  it("saturates, compiled or not", function()
    local x = damo.tensor("x", { dtype = "int16", shape = { false } })
    local a = damo.array({ 1, 200, -300 }, "int16")
    local function through(v) return damo.cast(damo.cast(v, "float32"), "int8") end
    assert.same({ 1, 127, -128 }, through(a):totable())
    for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE" } do
      assert.same({ 1, 127, -128 }, damo.compile({ x }, through(x), { mode = mode })(a):totable())
    end
    assert.same({ 1, -56, -44 }, damo.cast(a, "int8"):totable())
  end)
end)

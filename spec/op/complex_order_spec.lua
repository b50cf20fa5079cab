-- Complex numbers are ordered by their real parts, then by their imaginary parts, as in NumPy.
local damo = require "damo"

local inf, nan = math.huge, 0 / 0
local function complex(re, im, dtype)
  return damo.cast(damo.complex(damo.array(re), damo.array(im)), dtype or "complex128")
end
local modes = { "FAST_RUN", "FAST_COMPILE" }

-- The eager result, which must be the same in each mode; as text, since a nan differs from itself.
local function computed(fn, ...)
  local values, vars = { ... }, {}
  for i, v in ipairs(values) do vars[i] = damo.tensor("v" .. i, { dtype = v.dtype, shape = { false } }) end
  local want = fn(...)
  for _, mode in ipairs(modes) do
    assert.equal(tostring(want), tostring(damo.compile(vars, fn(table.unpack(vars)), { mode = mode })(...)))
  end
  return want
end

describe("complex numbers", function()
  for _, dtype in ipairs { "complex64", "complex128" } do
    local a = complex({ 1, 1, 2, 0, nan, 1, inf, 1 }, { 2, 3, -1, 0, 1, nan, 0, 1 }, dtype)
    local b = complex({ 1, 1, 1, 0, 1, 1, inf, 2 }, { 3, 3, 9, -1, 1, 1, 1, nan }, dtype)
    local plain = complex({ 1, 1, 2, 0, 2, 1 }, { 2, 3, -1, 0, -1, -7 }, dtype)

    it("compare, " .. dtype, function()
      for name, want in pairs {
        lt = { true, false, false, false, false, false, true, false },
        le = { true, true, false, false, false, false, true, false },
        gt = { false, false, true, true, false, false, false, false },
        ge = { false, true, true, true, false, false, false, false },
      } do
        assert.same(want, computed(damo[name], a, b):totable(), name)
      end
    end)

    it("have a maximum and a minimum; the first nan is both, " .. dtype, function()
      assert.equal("[ 1. +3.j  1. +3.j  2. -1.j  0. +0.j nan +1.j  1.+nanj inf +1.j  2.+nanj]",
        tostring(computed(damo.maximum, a, b)))
      assert.equal("[ 1. +2.j  1. +3.j  1. +9.j  0. -1.j nan +1.j  1.+nanj inf +0.j  2.+nanj]",
        tostring(computed(damo.minimum, a, b)))
      assert.equal("[1.+2.j 1.+2.j 1.+2.j 1.+0.j 1.+2.j 1.+0.j]", tostring(computed(function(z)
        return damo.clip(z, 1, damo.cast(damo.complex(damo.array(1.0), damo.array(2.0)), dtype))
      end, plain)))
    end)

    it("have maxima, minima and their positions, " .. dtype, function()
      assert.equal("(2-1j)", tostring(damo.max(plain)))
      assert.equal("0j", tostring(damo.min(plain)))
      assert.equal(3, computed(damo.argmax, plain))
      assert.equal(4, computed(damo.argmin, plain))
      assert.equal(5, computed(damo.argmax, a))
      assert.equal(5, computed(damo.argmin, a))
      assert.is_true(damo.isnan(damo.max(a)))
      local rows = complex({ 1, 2, 0, 0, 1, 2 }, { 2, -1, 0, 0, -7, -1 }, dtype):reshape { shape = { 2, 3 } }
      assert.equal("[1.+2.j 2.-1.j 2.-1.j]", tostring(damo.max(rows, { axis = 1 })))
    end)

    it("have the extremes of long rows and of columns, " .. dtype, function()
      damo.random.seed(3)
      local z = damo.cast(damo.complex(damo.cast(damo.random.integers(-9, 9, { size = { 700, 3 } }), "float64"),
        damo.random.normal(0, 1, { size = { 700, 3 } })), dtype)
      for axis = 1, 2 do
        local sorted = damo.sort(z, { axis = axis })
        local function at(i) return axis == 1 and sorted[i] or sorted[{ {}, i }] end
        assert.is_true(damo.array_equal(at(-1), damo.max(z, { axis = axis })))
        assert.is_true(damo.array_equal(at(1), damo.min(z, { axis = axis })))
        local where = damo.argmax(z, { axis = axis, keepdims = true })
        assert.is_true(damo.array_equal(damo.max(z, { axis = axis, keepdims = true }),
          damo.take_along_axis(z, where, { axis = axis })))
      end
    end)

    it("are sorted, nan last, " .. dtype, function()
      assert.equal("[ 0. +0.j  1. +1.j  1. +2.j  1. +3.j  2. -1.j inf +0.j  1.+nanj nan +1.j]",
        tostring(computed(damo.sort, a)))
      assert.same({ 4, 8, 1, 2, 3, 7, 6, 5 }, computed(damo.argsort, a):totable())
      local worse = complex({ nan, nan, 5, 2, 3 }, { nan, 0, nan, 0, nan }, dtype)
      assert.same({ 4, 5, 3, 2, 1 }, damo.argsort(worse):totable())
    end)
  end

  it("have gradients through their extremes", function()
    local z = damo.zvector "z"
    local at = complex({ 1, 1, 2, 0 }, { 2, 3, -1, 0 })
    local function gradient(cost) return tostring(damo.compile({ z }, damo.grad(cost, z))(at)) end
    assert.equal("[0.+0.j 0.+0.j 1.+0.j 0.+0.j]", gradient(damo.real(damo.max(z))))
    assert.equal("[0.+1.j 0.+1.j 0.+1.j 0.+0.j]", gradient(damo.sum(damo.imag(damo.maximum(z, 1)))))
    assert.equal("[0.+2.j 0.+3.j 0.+4.j 0.+1.j]", gradient(damo.sum(damo.imag(damo.sort(z) * damo.arange(1, 5)))))
  end)
end)

describe("imag of real numbers", function()
  for _, dtype in ipairs { "bool", "int8", "uint64", "float32", "float64" } do
    it("is 0 of their dtype: " .. dtype, function()
      local x = damo.cast(damo.array { 1, 0, 1 }, dtype)
      assert.is_true(damo.array_equal(damo.zeros({ 3 }, dtype), computed(damo.imag, x)))
      assert.equal(dtype, damo.imag(x).dtype)
      assert.equal(dtype, damo.imag(damo.tensor("v", { dtype = dtype, shape = { false } })).dtype)
    end)
  end

  it("has a gradient of 0", function()
    local x = damo.dvector "x"
    assert.same({ 0, 0 }, damo.compile({ x }, damo.grad(damo.sum(damo.imag(x) * x), x))(damo.ones { 2 }):totable())
  end)
end)

describe("clip with min greater than max", function()
  it("is min for entries less than min, else max", function()
    for _, dtype in ipairs { "int8", "int32", "uint16", "float32", "float64", "complex128" } do
      local x = damo.cast(damo.array { 1, 5, 7, 10, 12 }, dtype)
      local clipped = computed(function(v)
        return damo.clip(v, damo.cast(damo.array(10), dtype), damo.cast(damo.array(5), dtype))
      end, x)
      assert.is_true(damo.array_equal(damo.cast(damo.array { 10, 10, 10, 5, 5 }, dtype), clipped))
    end
    local t = computed(function(v) return damo.clip(v, nan, 5) end, damo.array { 1, 12 })
    assert.is_true(t[1] ~= t[1] and t[2] ~= t[2])
  end)

  it("has the gradient of the operand that was selected", function()
    local x, lo, hi = damo.dvector "x", damo.dscalar "lo", damo.dscalar "hi"
    local g = damo.compile({ x, lo, hi }, damo.grad(damo.sum(damo.clip(x, lo, hi)), { x, lo, hi }))
    local gx, glo, ghi = g(damo.array { 1, 7, 12 }, 10, 5)
    assert.same({ { 0, 0, 0 }, 2, 1 }, { gx:totable(), glo, ghi })
    gx, glo, ghi = g(damo.array { 1, 7, 12 }, 5, 10)
    assert.same({ { 0, 1, 0 }, 1, 1 }, { gx:totable(), glo, ghi })
  end)
end)

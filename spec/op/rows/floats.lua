-- The rows of remainders, divisors, shifts, the parts of floats, and functions made of them.
local damo = require "damo"

return function(h)
  local p, each = h.plain, h.each
  local inf, nan = p.inf, p.nan
  local least = -2 ^ 63
  local function of(list, dtype) return damo.array(list, dtype) end
  local function flat(spec)
    spec.grad = false
    return each(spec)
  end
  local rows = {}

  -- ---- Quotients and divisors ----------------------------------------------------------------------------------------

  local xs, ys = { 5.5, -5.5, 7.3, 0.4 }, { 2.0, 2.0, -3.0, 1.5 }
  local signed = { { 7, -8, 9, -13, 6 }, { 3, 3, -4, -5, 3 } }
  local function trunc(x) return x < 0 and math.ceil(x) or math.floor(x) end
  rows.trunc_div = flat { each = function(x, y) return trunc(x / y) end, at = { xs, ys }, ints = signed, rule = "number",
    special = {
      { { 1, -1, 0, inf, 2 }, { 0, 0, 0, 2, -inf }, want = { inf, -inf, nan, inf, -0.0 } },
      { h.ints { 7, least }, h.ints { 0, -1 }, want = { 0, least }, dtype = "int64" },
    } }
  rows.fmod = each { each = math.fmod, at = { xs, ys }, ints = signed, rule = "number", outer = false, literal = false,
    special = {
      { { 1, inf, nan, -3 }, { 0, 2, 2, inf }, want = { nan, nan, nan, -3 } },
      { h.ints { 7, least }, h.ints { 0, -1 }, want = { 0, 0 }, dtype = "int64" },
    } }
  rows.remainder = {
    { xs, ys, want = { 1.5, 0.5, 7.3 - 9, 0.4 } },
    { h.ints { 7, -8, 9, 5 }, h.ints { 3, 3, -4, 0 }, want = { 1, 1, -3, 0 }, dtype = "int64" },
  }
  rows.gcd = {
    { h.ints { 12, 18, 0, 7, 0, -12 }, h.ints { 8, 27, 5, 13, 0, 18 }, want = { 4, 9, 5, 1, 0, 6 }, dtype = "int64" },
    { of({ { 12 }, { 9 } }, "uint8"), of({ 8, 6 }, "uint8"), want = { { 4, 6 }, { 1, 3 } }, dtype = "uint8" },
    { of({ -128, 1 }, "int8"), of({ 0, 1 }, "int8"), want = { -128, 1 }, dtype = "int8" },
    { h.bools { true, false }, h.bools { true, false }, want = { 1, 0 }, dtype = "int8" },
  }
  rows.lcm = {
    { h.ints { 12, 18, 0, 7, 0, -4 }, h.ints { 8, 27, 5, 13, 0, 6 }, want = { 24, 54, 0, 91, 0, 12 }, dtype = "int64" },
    { of({ 12 }, "uint8"), 8, want = { 24 }, dtype = "uint8" },
  }
  rows.left_shift = {
    { h.ints { 1, 5, -3, 1, 1 }, h.ints { 0, 2, 1, 64, -1 }, want = { 1, 20, -6, 0, 0 }, dtype = "int64" },
    { of({ 1, 100 }, "int8"), of({ 7, 1 }, "int8"), want = { -128, -56 }, dtype = "int8" },
    { of({ 77 }, "uint8"), of({ 3 }, "uint8"), want = { 104 }, dtype = "uint8" },
  }
  rows.right_shift = {
    { h.ints { 8, -5, -1, 5, -5 }, h.ints { 1, 1, 2, 64, -1 }, want = { 4, -3, -1, 0, -1 }, dtype = "int64" },
    { of({ 200, 200 }, "uint8"), of({ 3, 8 }, "uint8"), want = { 25, 0 }, dtype = "uint8" },
  }
  local function bits(of_integers, of_bools)
    return {
      { h.ints { 12, -1 }, h.ints { 10, 7 }, want = of_integers, dtype = "int64" },
      { h.bools { true, true, false }, h.bools { true, false, false },
        want = of_bools, dtype = "bool" },
    }
  end
  rows.bitwise_and = bits({ 8, 7 }, { true, false, false })
  rows.bitwise_or = bits({ 14, -1 }, { true, true, false })
  rows.bitwise_xor = bits({ 6, -8 }, { false, true, false })
  rows.bitwise_not = { { h.ints { 0, -8 }, want = { -1, 7 }, dtype = "int64" },
    { of({ 5 }, "uint8"), want = { 250 }, dtype = "uint8" } }

  -- ---- Parts of floats -----------------------------------------------------------------------------------------------

  local function sign(y) return (y < 0 or 1 / y < 0) and -1 or 1 end
  rows.copysign = each { each = function(x, y) return math.abs(x) * sign(y) end,
    at = { { 1.5, -2.25, 3.0, -0.7 }, { 2.5, 0.5, -1.25, -4.0 } }, ints = { { 3, 4 }, { 1, 2 } },
    special = { { { 1, 2, inf, nan }, { -1 / inf, nan, -inf, 1 }, want = { -1, 2, -inf, nan }, grad = false } } }
  rows.nextafter = {
    { { 1, 1, 0, 1, nan }, { 2, 0, 1, 1, 1 }, want = { 1 + 2 ^ -52, 1 - 2 ^ -53, 2 ^ -1074, 1, nan }, tol = 0, f32 = false,
      grad = false },
    { { 1.5, -2.5 }, { 2, 7 }, want = { 1.5, -2.5 } },
    { h.floats { 1, 1 }, h.floats { 2, 0 }, want = { 1 + 2 ^ -23, 1 - 2 ^ -24 }, tol = 0, dtype = "float32" },
  }
  rows.heaviside = {
    { { -1.5, 0, 2.5 }, { 0.5, 0.25, 3 }, want = { 0, 0.25, 1 }, grad = { 2 } },
    { { nan, 0 }, { 1, nan }, want = { nan, nan }, grad = false },
    { { -1.5, 0.5 }, 0.5, want = { 0, 1 } },
  }
  rows.ldexp = {
    { { 1.5, -2, 0.75 }, h.ints { 3, -1, 0 }, want = { 12, -1, 0.75 } },
    { { { 1 }, { 3 } }, h.ints { 2, 4 }, want = { { 4, 16 }, { 12, 48 } } },
    { { 1, 1, inf, nan, 0 }, h.ints { 2000, -2000, 3, 3, 3 }, want = { inf, 0, inf, nan, 0 }, grad = false },
    { h.floats { 1.5 }, of({ 3 }, "int32"), want = { 12 }, dtype = "float32" },
    { { 1.5, 2.5 }, 2, want = { 6, 10 } },
    { h.ints { 3 }, 2, want = { 12 } },
  }
  rows.frexp_mantissa = {
    { { 8.5, -0.375, 1.5 }, want = { 0.53125, -0.75, 0.75 } },
    { { 0, inf, nan, 2 ^ -1074 }, want = { 0, inf, nan, 0.5 }, f32 = false, grad = false },
  }
  rows.frexp_exponent = {
    { { 8.5, -0.375, 1.5 }, want = { 4, -1, 1 }, dtype = "int32" },
    { { 0, inf, nan, 2 ^ -1074 }, want = { 0, 0, 0, -1073 }, dtype = "int32", f32 = false },
  }
  rows.frexp = {
    { { 8.5, -0.375, 1.5 }, wants = { { 0.53125, -0.75, 0.75 }, { 4, -1, 1 } }, dtype = { "float64", "int32" },
      grad = { 1 } },
    { h.floats { 8.5 }, wants = { { 0.53125 }, { 4 } }, dtype = { "float32", "int32" } },
  }

  -- ---- Tests ---------------------------------------------------------------------------------------------------------

  local odd = { 1.5, nan, inf, -inf, 0, -0.0, -2 }
  local function test(fn)
    return flat { each = fn, at = { odd }, ints = { { 1, 0 } }, rule = "compare" }
  end
  rows.isfinite = test(function(x) return x == x and math.abs(x) < inf end)
  rows.isfinite[#rows.isfinite + 1] = { damo.complex({ 1, inf, 0 }, { 0, 0, nan }), want = { true, false, false }, dtype = "bool" }
  rows.isposinf = test(function(x) return x == inf end)
  rows.isneginf = test(function(x) return x == -inf end)
  rows.signbit = test(function(x) return x < 0 or (x == 0 and 1 / x < 0) end)

  -- ---- Powers and logarithms -----------------------------------------------------------------------------------------

  rows.cbrt = each { each = function(x) return x < 0 and -(-x) ^ (1 / 3) or x ^ (1 / 3) end, at = { { 0.2, -1.7, 27, -8 } },
    ints = { { 0, 1, 8, 27 } },
    special = { { { 27, -8, 0, inf, -inf, nan }, want = { 3, -2, 0, inf, -inf, nan } } } }
  rows.exp10 = each { each = function(x) return 10.0 ^ x end, at = { { -2.5, -0.7, 0.3, 1.9 } }, ints = { { 0, 1, 2, 5 } },
    special = { { { 3, -inf, 400, nan }, want = { 1000, 0, inf, nan } } } }
  rows.logaddexp2 = each { each = function(x, y) return math.log(2 ^ x + 2 ^ y, 2) end,
    at = { { 1.5, -2.25, 3.0, 0.7 }, { 2.5, 0.5, -1.25, 4.0 } }, ints = { { 7, 3, 5, 9 }, { 2, 2, 3, 4 } },
    special = { { { 2000, -inf, inf, 1 }, { 2000, -inf, -inf, nan }, want = { 2001, -inf, inf, nan } } } }

  -- ---- Made of others ------------------------------------------------------------------------------------------------

  local halves = { -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.4, -2.6, 3.0 }
  rows.round = {
    { halves, want = { -2, -2, 0, 0, 2, 2, 2, -3, 3 }, grad = false },
    { halves, opts = { mode = "half_away_from_zero" }, want = { -3, -2, -1, 1, 2, 3, 2, -3, 3 }, grad = false },
    { halves, opts = "half_to_even", want = { -2, -2, 0, 0, 2, 2, 2, -3, 3 }, grad = false },
    { h.ints { 3, -4 }, want = { 3, -4 }, dtype = "int64" },
    { { 1.2345, -2.675, 1e300, inf, nan }, opts = { decimals = 2 }, want = { 1.23, -2.68, 1e300, inf, nan }, f32 = false,
      grad = false },
    { { 1234.5, -1250, 15 }, opts = { decimals = -2 }, want = { 1200, -1200, 0 }, grad = false },
    { { 1.5, 2.5 }, opts = { decimals = 400 }, want = { 1.5, 2.5 }, grad = false },
    { { 1.5, 2.5 }, opts = { decimals = -400 }, want = { 0, 0 }, grad = false },
    { h.ints { 15, 25, -15, -26, 14 }, opts = { decimals = -1 }, want = { 20, 20, -20, -30, 10 }, dtype = "int64" },
    { h.ints { 15, 25, -15, -26, 14 }, opts = { decimals = -1, mode = "half_away_from_zero" },
      want = { 20, 30, -20, -30, 10 }, dtype = "int64" },
    { of({ 100, -128 }, "int8"), opts = { decimals = -3 }, want = { 0, 0 }, dtype = "int8" },
    { damo.complex({ 1.26 }, { -2.34 }), opts = { decimals = 1 }, check = function(z)
      h.compare(damo.real(z), { 1.3 }, 1e-15, "real part")
      h.compare(damo.imag(z), { -2.3 }, 1e-15, "imaginary part")
    end },
  }
  rows.nan_to_num = {
    { { 1.5, nan, inf, -inf }, want = { 1.5, 0, 1.7976931348623157e308, -1.7976931348623157e308 }, f32 = false, grad = false },
    { h.floats { nan, inf }, want = { 0, 3.4028234663852886e38 }, dtype = "float32" },
    { { 1.5, nan, inf, -inf }, opts = { nan = -1, posinf = 10, neginf = -20 }, want = { 1.5, -1, 10, -20 }, grad = false },
    { { 1.5, -2.5 }, want = { 1.5, -2.5 } },
    { h.ints { 3 }, want = { 3 }, dtype = "int64" },
    { damo.complex({ nan, 1 }, { 2, inf }), opts = { posinf = 5 }, check = function(z)
      h.compare(damo.real(z), { 0, 1 }, 0, "real part")
      h.compare(damo.imag(z), { 2, 5 }, 0, "imaginary part")
    end },
  }
  rows.largest = {
    { h.list { { 1, 5, 3 }, { 4, 2, 6 }, { 2, 7, 1 } }, want = { 4, 7, 6 } },
    { h.list { { { 1 }, { 5 } }, { 3, 2 } }, want = { { 3, 2 }, { 5, 5 } } },
    { h.list { { 1, nan }, { nan, 2 }, { 3, 4 } }, want = { nan, nan }, grad = false },
    { h.list { { 1, 2 } }, want = { 1, 2 } },
  }
  rows.smallest = {
    { h.list { { 1, 5, 3 }, { 4, 2, 6 }, { 2, 7, 1 } }, want = { 1, 2, 1 } },
    { h.list { h.ints { 3, 4 }, h.ints { 2, 9 } }, want = { 2, 4 }, dtype = "int64" },
  }
  return rows
end

-- The rows of the elementwise functions.
local damo = require "damo"

return function(h)
  local p, each = h.plain, h.each
  local inf, nan = p.inf, p.nan
  local any_x = { -2.5, -0.7, 0.3, 1.9 }
  local positive = { 0.2, 0.9, 1.7, 6.5 }
  local inside = { -0.8, -0.1, 0.4, 0.75 }
  local whole = { 0, 1, 2, 5 }

  --- A differentiable function of one operand, of floats.
  local function smooth(fn, at, ints, special, extra)
    local spec = { each = fn, at = { at }, ints = ints and { ints }, special = special }
    for k, v in pairs(extra or {}) do spec[k] = v end
    return each(spec)
  end

  local function flat(spec)
    spec.grad = spec.grad or false
    return each(spec)
  end

  local rows = {}

  -- ---- Arithmetic ------------------------------------------------------------------------------------------------------

  local xs, ys = { 1.5, -2.25, 3.0, 0.7 }, { 2.5, 0.5, -1.25, 4.0 }
  local int_pair = { { 7, 3, 5, 9 }, { 2, 2, 3, 4 } }
  local signed_pair = { { 7, -7, 7, -7, 6 }, { 2, 2, -2, -2, 3 } }

  rows.add = each { each = function(x, y) return x + y end, at = { xs, ys }, ints = int_pair, rule = "promote",
    special = { { { inf, nan, 1 }, { -inf, 1, inf }, want = { nan, nan, inf } } } }
  rows.sub = each { each = function(x, y) return x - y end, at = { xs, ys }, ints = signed_pair, rule = "promote" }
  rows.mul = each { each = function(x, y) return x * y end, at = { xs, ys }, ints = signed_pair, rule = "promote",
    special = { { { inf, 0 }, { 0, nan }, want = { nan, nan } } } }
  rows.true_div = each { each = function(x, y) return x / y end, at = { xs, ys }, ints = int_pair, rule = "divide",
    special = { { { 1, -1, 0 }, { 0, 0, 0 }, want = { inf, -inf, nan } } } }
  rows.div = rows.true_div
  rows.floor_div = flat { each = function(x, y) return math.floor(x / y) end, at = { xs, ys }, ints = signed_pair, rule = "number",
    special = {
      { h.ints { 7, 0, -2 ^ 63 }, h.ints { 0, 0, -1 }, want = { 0, 0, -2 ^ 63 }, dtype = "int64" },
    } }
  rows.int_div = rows.floor_div
  rows.mod = each { each = function(x, y) return x % y end, at = { { 5.5, -5.5, 7.3, 0.4 }, { 2.0, 2.0, -3.0, 1.5 } },
    ints = signed_pair, rule = "number", outer = false, literal = false,
    special = { { h.ints { 7, -2 ^ 63 }, h.ints { 0, -1 }, want = { 0, 0 }, dtype = "int64" } } }
  rows.pow = each { each = function(x, y) return x ^ y end, at = { positive, { 2.0, 0.5, -1.5, 3.0 } },
    ints = { { 2, 3, 1, 0 }, { 3, 2, 5, 0 } }, rule = "number",
    special = {
      { { -2, -2, 0, -8 }, { 3, -2, 0, 1 / 3 }, want = { -8, 0.25, 1, nan } },
      { { -2.0, 3.0, -0.5 }, 2, want = { 4, 9, 0.25 }, grad = true },
    } }
  rows.maximum = each { each = function(x, y) return math.max(x, y) end, at = { xs, ys }, ints = signed_pair, rule = "promote",
    special = { { { nan, 1 }, { 1, nan }, want = { nan, nan } } } }
  rows.minimum = each { each = function(x, y) return math.min(x, y) end, at = { xs, ys }, ints = signed_pair, rule = "promote",
    special = { { { nan, 1 }, { 1, nan }, want = { nan, nan } } } }
  rows.arctan2 = each { each = function(y, x) return math.atan(y, x) end, at = { xs, ys }, ints = signed_pair }
  rows.logaddexp = each { each = function(x, y) return math.log(math.exp(x) + math.exp(y)) end, at = { xs, ys }, ints = int_pair,
    special = { { { 1000, -inf }, { 1000, -inf }, want = { 1000 + math.log(2), -inf } } } }
  rows.hypot = each { each = function(x, y) return math.sqrt(x * x + y * y) end, at = { xs, ys }, ints = int_pair,
    special = { { { 3e300, inf }, { 4e300, nan }, want = { 5e300, inf }, f32 = false } } }

  -- ---- Comparison and logic ----------------------------------------------------------------------------------------------

  local left, right = { 1.5, 2.0, -3.0, 0.0 }, { 2.5, 2.0, -4.0, -0.0 }
  local function comparison(fn)
    return flat { each = fn, at = { left, right }, ints = { { 1, 2, 3 }, { 2, 2, 1 } }, rule = "compare",
      special = { { { nan, inf }, { nan, inf }, want = { fn(nan, nan), fn(inf, inf) } } } }
  end
  rows.eq = comparison(function(x, y) return x == y end)
  rows.neq = comparison(function(x, y) return x ~= y end)
  rows.lt = comparison(function(x, y) return x < y end)
  rows.le = comparison(function(x, y) return x <= y end)
  rows.gt = comparison(function(x, y) return x > y end)
  rows.ge = comparison(function(x, y) return x >= y end)
  rows.isnan = flat { each = function(x) return x ~= x end, at = { { 1.5, nan, inf, -inf } }, ints = { { 1, 0 } }, rule = "compare" }
  rows.isinf = flat { each = function(x) return x == inf or x == -inf end, at = { { 1.5, nan, inf, -inf } }, ints = { { 1, 0 } },
    rule = "compare" }

  --- Cases of a logic function of two operands: bitwise on integers, and on bool.
  local function logic(signed, unsigned, bool)
    return {
      { h.ints { 12, -1, 5 }, h.ints { 10, 7, 0 }, want = signed, dtype = "int64" },
      { damo.array({ 12, 5 }, "uint8"), damo.array({ 10, 3 }, "uint8"), want = unsigned, dtype = "uint8" },
      { h.bools { true, true, false, false }, h.bools { true, false, true, false },
        want = { bool(true, true), bool(true, false), bool(false, true), bool(false, false) }, dtype = "bool" },
      { h.bools { { true }, { false } }, h.bools { true, false },
        want = { { bool(true, true), bool(true, false) }, { bool(false, true), bool(false, false) } }, dtype = "bool" },
    }
  end
  rows.and_ = logic({ 8, 7, 0 }, { 8, 1 }, function(x, y) return x and y end)
  rows.or_ = logic({ 14, -1, 5 }, { 14, 7 }, function(x, y) return x or y end)
  rows.xor = logic({ 6, -8, 5 }, { 6, 6 }, function(x, y) return x ~= y end)
  rows.invert = {
    { h.ints { { 0, 5 }, { -1, 7 } }, want = { { -1, -6 }, { 0, -8 } }, dtype = "int64" },
    { damo.array({ 0, 5 }, "uint8"), want = { 255, 250 }, dtype = "uint8" },
    { h.bools { true, false }, want = { false, true }, dtype = "bool" },
    { damo.array(true), want = false, dtype = "bool" },
  }
  rows.not_ = rows.invert

  rows.switch = {
    { h.bools { true, false, true }, { 1.5, 2.5, 3.5 }, { -1, -2, -3 }, want = { 1.5, -2, 3.5 } },
    { h.bools { { true }, { false } }, { 1.5, 2.5 }, { { -1 }, { -2 } }, want = { { 1.5, 2.5 }, { -2, -2 } } },
    { h.bools { true, false }, { nan, 1.5 }, { 1, inf }, want = { nan, inf }, grad = false },
    { { 2, 0, nan }, { 1, 2, 3 }, { 4, 5, 6 }, want = { 1, 5, 3 }, grad = { 2, 3 }, f32 = false },
    { h.ints { 1, 0 }, h.ints { 7, 8 }, -1, want = { 7, -1 }, dtype = "int64" },
    { h.bools { true, false }, 1.5, 0, want = { 1.5, 0 } },
    { h.bools { true, false }, { 1, 2 }, h.ints { 3, 4 }, want = { 1, 4 }, f32 = false },
  }
  rows.where = rows.switch
  rows.clip = each { each = function(x, lo, hi) return x < lo and lo or x > hi and hi or x end,
    at = { { -2.0, 0.5, 3.0, 0.9 }, { -1.0, 0.1, 0.2, 0.3 }, { 1.0, 2.5, 1.5, 1.4 } }, rule = "promote",
    ints = { { 1, 5, 9 }, { 2, 2, 2 }, { 6, 6, 6 } }, outer = false,
    special = { { { nan, -3, 7 }, -1, 1, want = { nan, -1, 1 } } } }
  rows.second = {
    { { { 1, 2, 3 }, { 4, 5, 6 } }, { 1.5 }, want = { { 1.5, 1.5, 1.5 }, { 1.5, 1.5, 1.5 } }, grad = { 2 } },
    { { 1, 2 }, 2.5, want = { 2.5, 2.5 }, grad = false },
    { { 1, 2 }, h.ints { 3, 4 }, want = { 3, 4 }, dtype = "int64", grad = false },
  }
  rows.fill = rows.second
  rows.identity = each { each = function(x) return x end, at = { any_x }, ints = { whole }, rule = "promote" }

  -- ---- Signs, roundings, powers -----------------------------------------------------------------------------------------

  rows.neg = each { each = function(x) return -x end, at = { any_x }, ints = { { -3, 0, 5 } }, rule = "promote" }
  rows.abs = each { each = math.abs, at = { any_x }, ints = { { -3, 0, 5 } }, rule = "promote",
    special = { { { -inf, nan }, want = { inf, nan } }, { damo.complex({ 3, 0 }, { 4, -2 }), want = { 5, 2 } } } }
  rows.sign = flat { each = p.sign, at = { any_x }, ints = { { -3, 0, 5 } }, rule = "promote",
    special = { { { 0, nan, -inf }, want = { 0, nan, -1 } } } }
  rows.sgn = rows.sign
  rows.sqr = each { each = function(x) return x * x end, at = { any_x }, ints = { { -3, 0, 5 } }, rule = "number" }
  rows.square = rows.sqr
  rows.sqrt = smooth(math.sqrt, positive, whole, { { { 0, -1, inf }, want = { 0, nan, inf } } })
  rows.reciprocal = smooth(function(x) return 1 / x end, any_x, { 1, 2, 4 }, { { { 0, inf }, want = { inf, 0 } } })
  local halves = { -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.4, -2.6, 3.0 }
  local function rounding(fn, rule)
    return flat { each = fn, at = { halves }, ints = { { -3, 0, 5 } }, rule = rule, special = { { { nan, inf }, want = { nan, inf } } } }
  end
  rows.ceil = rounding(math.ceil, "float")
  rows.floor = rounding(math.floor, "float")
  rows.trunc = rounding(p.trunc, "promote")
  rows.round_half_to_even = rounding(p.half_even, "promote")
  rows.round_half_away_from_zero = rounding(p.half_away, "promote")

  -- ---- Exponentials, logarithms, trigonometry -------------------------------------------------------------------------------

  local log = math.log
  rows.exp = smooth(math.exp, any_x, whole, { { { -inf, inf, 1000, nan }, want = { 0, inf, inf, nan } } })
  rows.exp2 = smooth(function(x) return 2.0 ^ x end, any_x, whole)
  rows.expm1 = smooth(function(x) return math.exp(x) - 1 end, any_x, whole,
    { { { 1e-20, -inf }, want = { 1e-20, -1 }, tol = 1e-30, f32 = false } })
  rows.log = smooth(log, positive, { 1, 2, 9 }, { { { 0, -1, inf }, want = { -inf, nan, inf } } })
  rows.log2 = smooth(function(x) return log(x, 2) end, positive, { 1, 2, 9 })
  rows.log10 = smooth(function(x) return log(x, 10) end, positive, { 1, 2, 9 })
  rows.log1p = smooth(function(x) return log(1 + x) end, positive, whole, { { { 1e-20, -1 }, want = { 1e-20, -inf }, tol = 1e-30, f32 = false } })
  rows.sigmoid = smooth(p.sigmoid, any_x, whole, { { { -1000, 1000, nan }, want = { 0, 1, nan } } })
  rows.expit = rows.sigmoid
  rows.softplus = smooth(function(x) return log(1 + math.exp(x)) end, any_x, whole, { { { -1000, 1000, nan }, want = { 0, 1000, nan } } })
  rows.log1mexp = smooth(function(x) return log(1 - math.exp(x)) end, { -3.5, -1.2, -0.4, -0.1 }, { -1, -2 })
  rows.sin = smooth(math.sin, any_x, whole, { { { inf, nan, 1e6 }, want = { nan, nan, math.sin(1e6) }, f32 = false } })
  rows.cos = smooth(math.cos, any_x, whole, { { { inf, nan, 1e6 }, want = { nan, nan, math.cos(1e6) }, f32 = false } })
  rows.tan = smooth(math.tan, { -1.2, -0.3, 0.4, 1.1 }, { 0, 1 })
  rows.arcsin = smooth(math.asin, inside, { 0, 1 }, { { { 2, -2 }, want = { nan, nan } } })
  rows.arccos = smooth(math.acos, inside, { 0, 1 }, { { { 2, -2 }, want = { nan, nan } } })
  rows.arctan = smooth(function(x) return math.atan(x) end, any_x, whole, { { { inf, -inf }, want = { math.pi / 2, -math.pi / 2 } } })
  rows.sinh = smooth(p.sinh, any_x, whole)
  rows.cosh = smooth(p.cosh, any_x, whole)
  rows.tanh = smooth(p.tanh, any_x, whole, { { { 1000, -1000, nan }, want = { 1, -1, nan } } })
  rows.arcsinh = smooth(p.arcsinh, any_x, whole)
  rows.arccosh = smooth(p.arccosh, { 1.2, 1.9, 3.5, 8.0 }, { 1, 2, 5 }, { { { 0.5 }, want = { nan } } })
  rows.arctanh = smooth(p.arctanh, inside, { 0 }, { { { 1, -1, 2 }, want = { inf, -inf, nan } } })
  rows.deg2rad = smooth(math.rad, any_x, whole)
  rows.rad2deg = smooth(math.deg, any_x, whole)

  -- ---- Special functions ---------------------------------------------------------------------------------------------------

  rows.erf = smooth(p.erf, any_x, { 0, 1, 2 }, { { { inf, -inf, nan }, want = { 1, -1, nan } } })
  rows.erfc = smooth(p.erfc, any_x, { 0, 1, 2 }, { { { 5 }, want = { p.erfc(5) }, tol = 1e-20, f32 = false } })
  rows.erfcx = smooth(p.erfcx, { -0.7, 0.3, 1.9, 3.5 }, { 0, 1, 2 }, { { { 30 }, want = { 0.018795888861416751 }, grad = false } })
  rows.erfinv = smooth(p.erfinv, inside, { 0 }, { { { 1, -1, 2 }, want = { inf, -inf, nan } } })
  rows.erfcinv = smooth(p.erfcinv, { 0.3, 0.8, 1.1, 1.6 }, { 1 }, { { { 0, 2 }, want = { inf, -inf } } })
  rows.gamma = smooth(p.gamma, { 0.4, 1.5, 4.2, -0.6 }, { 1, 2, 5 }, { { { 171 }, want = { inf }, check = function(g)
    assert(g[1] > 7.25e306 and g[1] < 7.26e306)
  end } })
  rows.gammaln = smooth(p.gammaln, positive, { 1, 2, 5 }, { { { 0, 1e5 }, want = { inf, 1051287.7089736538 } } })
  rows.psi = smooth(p.psi, positive, { 1, 2, 5 })
  rows.digamma = rows.psi
  rows.tri_gamma = smooth(p.tri_gamma, positive, { 1, 2, 5 })
  rows.tetra_gamma = smooth(p.tetra_gamma, positive, { 1, 2, 5 })
  rows.i0 = smooth(p.i0, any_x, { 0, 1, 2 })
  rows.i1 = smooth(p.i1, any_x, { 0, 1, 2 })
  rows.j0 = smooth(p.j0, any_x, { 0, 1, 2 })
  rows.j1 = smooth(p.j1, any_x, { 0, 1, 2 })

  -- ---- Complex -----------------------------------------------------------------------------------------------------------

  local z = damo.complex({ 1.5, -2.0, 0.0 }, { 2.0, 0.5, -1.0 })
  local function parts(re, im)
    return function(w)
      assert(w.dtype == "complex128", w.dtype)
      h.compare(damo.real(w), re, 1e-14, "real part")
      h.compare(damo.imag(w), im, 1e-14, "imaginary part")
    end
  end
  rows.complex = {
    { { 1.5, -2.0 }, { 2.0, 0.5 }, check = parts({ 1.5, -2.0 }, { 2.0, 0.5 }) },
    { { { 1 }, { 2 } }, { 3, 4 }, check = parts({ { 1, 1 }, { 2, 2 } }, { { 3, 4 }, { 3, 4 } }) },
  }
  rows.conj = { { z, check = parts({ 1.5, -2.0, 0.0 }, { -2.0, -0.5, 1.0 }) }, { { 1.5, 2.5 }, want = { 1.5, 2.5 } } }
  rows.real = { { z, want = { 1.5, -2.0, 0.0 } }, { { 1.5, 2.5 }, want = { 1.5, 2.5 } } }
  rows.imag = { { z, want = { 2.0, 0.5, -1.0 } }, { { 1.5, 2.5 }, want = { 0, 0 }, grad = false } }
  rows.angle = { { z, want = { math.atan(2, 1.5), math.atan(0.5, -2), -math.pi / 2 } },
    { { 1.5, -2.5 }, want = { 0, math.pi }, grad = false } }

  -- ---- Others --------------------------------------------------------------------------------------------------------------

  rows.cast = {
    { { 1.5, -2.7 }, opts = { dtype = "int32" }, want = { 1, -2 }, dtype = "int32" },
    { { 1.5, -2.5 }, opts = "float32", want = { 1.5, -2.5 }, dtype = "float32", f32 = "float32", grad = false },
    { { 1.5, -2.5 }, opts = { dtype = "float64" }, want = { 1.5, -2.5 }, f32 = "float64" },
    { { 0, 2, nan }, opts = "bool", want = { false, true, true }, dtype = "bool" },
    { h.ints { 300, -1 }, opts = "uint8", want = { 44, 255 }, dtype = "uint8" },
    { h.bools { { true, false } }, opts = "float64", want = { { 1, 0 } } },
  }
  rows.astype = rows.cast
  rows.relu = {
    { any_x, want = { 0, 0, 0.3, 1.9 } },
    { any_x, 0.1, want = { -0.25, -0.07, 0.3, 1.9 } },
    { { any_x }, { { 0.1, 0.2, 0.3, 0.4 } }, want = { { -0.25, -0.14, 0.3, 1.9 } } },
    { h.ints { -3, 4 }, want = { 0, 4 }, dtype = "int64" },
  }
  rows.isclose = {
    { { 1, 1, nan, inf, 1 }, { 1 + 1e-9, 1.1, nan, inf, inf }, want = { true, false, false, true, false }, dtype = "bool", f32 = false },
    { { 1, nan }, { 1.05, nan }, opts = { atol = 0.1, equal_nan = true }, want = { true, true }, dtype = "bool" },
    { { 100, 1 }, { 101, 2 }, opts = { rtol = 0.02 }, want = { true, false }, dtype = "bool" },
    { h.ints { 1, 2 }, h.ints { 1, 3 }, want = { true, false }, dtype = "bool" },
  }
  rows.allclose = {
    { { 1, 2 }, { 1, 2 + 1e-9 }, want = true, dtype = "bool" },
    { { { 1, 2 } }, { 1, 2.1 }, want = false, dtype = "bool" },
    { {}, {}, want = true, dtype = "bool" },
    { { nan }, { nan }, opts = { equal_nan = true }, want = true, dtype = "bool" },
  }
  return rows
end

-- The rows of functions composed of others: truth values, extremes without nan, parts of numbers.
local damo = require "damo"

return function(h)
  local inf, nan = h.plain.inf, h.plain.nan
  local rows = {}
  local function case(x, want, opts) return { x, want = want, opts = opts, int = "int64" } end

  -- ---- Elementwise ---------------------------------------------------------------------------------------------------

  local truths = { { 0, 1.5, nan, 0 }, { 0, 0, 2, -1 } }
  local function logical(want, mixed)
    return {
      { truths[1], truths[2], want = want, dtype = "bool", f32 = "bool", grad = false },
      { h.ints { 4, 0, 2 }, h.bools { true, false, false }, want = mixed, dtype = "bool" },
      { damo.complex({ 0, 0, 1 }, { 0, 2, 0 }), 0.0, check = function(y)
        assert(y.dtype == "bool" and y.shape[1] == 3)
      end },
      { h.bools { true, false, false }, 1, check = function(y) assert(y.dtype == "bool") end },
      { {}, {}, want = h.shape(0), dtype = "bool" },
    }
  end
  rows.logical_and = logical({ false, false, true, false }, { true, false, false })
  rows.logical_or = logical({ false, true, true, true }, { true, false, true })
  rows.logical_xor = logical({ false, true, false, true }, { false, false, true })

  rows.rint = { { { 0.5, 1.5, 2.5, -0.5, -1.2, 7 }, want = { 0, 2, 2, 0, -1, 7 }, grad = false } }
  rows.positive = { case({ 1, -2, 3 }, { 1, -2, 3 }), case({}, h.shape(0)) }
  rows.kn = { { damo.array(2.0), { 0.5, 1, 3 }, want = { 7.5501835512408695, 1.6248388986351774, 0.06151045847174205 },
    grad = { 2 }, tol = 1e-12 } }
  rows.fmax = {
    { { 1, nan, 3, nan, -inf }, { 2, 5, nan, nan, 1 }, want = { 2, 5, 3, nan, 1 }, grad = false },
    { { { 1 }, { 4 } }, { 2, 3 }, want = { { 2, 3 }, { 4, 4 } }, int = "int64" },
    { { 1, 5 }, 2.0, want = { 2, 5 } },
    { damo.array({ 1, 200 }, "uint8"), damo.array({ 3, 4 }, "int16"), want = { 3, 200 }, dtype = "int16" },
  }
  rows.fmin = {
    { { 1, nan, 3, nan, -inf }, { 2, 5, nan, nan, 1 }, want = { 1, 5, 3, nan, -inf }, grad = false },
    { { { 1 }, { 4 } }, { 2, 3 }, want = { { 1, 1 }, { 2, 3 } }, int = "int64" },
    { { 1, 5 }, 2.0, want = { 1, 2 } },
  }
  rows.modf = {
    { { 1.5, -2.25, 0.75, 7.125 }, wants = { { 0.5, -0.25, 0.75, 0.125 }, { 1, -2, 0, 7 } } },
    { { inf, -inf, nan, 3 }, wants = { { 0, 0, nan, 0 }, { inf, -inf, nan, 3 } }, grad = false },
    { h.ints { 2, -3 }, wants = { { 0, 0 }, { 2, -3 } }, dtype = { "float64", "float64" } },
  }
  rows.spacing = {
    { { 1, -1, 3, 0 }, want = { 0x1p-52, -0x1p-52, 0x1p-51, 0x1p-1074 }, tol = 0, f32 = false, grad = false },
    { h.floats { 1, -2 }, want = { 0x1p-23, -0x1p-22 }, tol = 0, dtype = "float32" },
    { { inf, nan }, want = { nan, nan }, grad = false },
  }
  rows.ceil_intdiv = {
    { h.ints { 7, -7, 6, 0 }, h.ints { 2, 2, 3, 5 }, want = { 4, -3, 2, 0 }, dtype = "int64" },
    { h.ints { 7, -7 }, -2, want = { -3, 4 }, dtype = "int64" },
    { damo.array({ 7, 255 }, "uint8"), damo.array({ 2, 2 }, "uint8"), want = { 4, 128 }, dtype = "uint8" },
  }
  rows.complex_from_polar = {
    { { 2, 1 }, { 0, math.pi / 2 }, check = function(z)
      h.compare(damo.real(z), { 2, 0 }, 1e-15, "real part")
      h.compare(damo.imag(z), { 0, 1 }, 1e-15, "imaginary part")
    end },
    { h.floats { 2, 1 }, h.floats { 0, 1 }, check = function(z) assert(z.dtype == "complex64") end },
  }
  rows.iround = {
    { { 0.5, 1.5, -2.6 }, want = { 0, 2, -3 }, dtype = "int64", grad = false, f32 = "int64" },
    { { 0.5, 1.5, -2.5 }, opts = { mode = "half_away_from_zero" }, want = { 1, 2, -3 }, dtype = "int64" },
  }
  rows.rel_entr = {
    { { 0.5, 1, 2 }, { 2, 1, 0.5 }, want = { 0.5 * math.log(0.25), 0, 2 * math.log(4) } },
    { { 0, 0, -1, 1, nan }, { 1, 0, 1, 0, 1 }, want = { 0, 0, inf, inf, nan }, grad = false },
    { { { 1 }, { 2 } }, { 1, 2 }, want = { { 0, -math.log(2) }, { 2 * math.log(2), 0 } } },
  }
  -- log Γ_2(a) = log π / 2 + log Γ(a) + log Γ(a - 1/2); Γ(5/2) = 3/4 √π.
  rows.multigammaln = {
    { { 3, 2.5 }, opts = 2, want = { math.log(2 * 0.75 * math.pi), math.log(0.75 * math.pi) } },
    { { 1, 4 }, opts = { d = 1 }, want = { 0, math.log(6) } },
    { { 0.5, -1 }, opts = { d = 2 }, want = { nan, nan }, grad = false },
  }
  rows.chi2sf = {
    { { 1, 3 }, { 2, 2 }, want = { math.exp(-0.5), math.exp(-1.5) } },
    { { 2, 4 }, 4.0, want = { 2 * math.exp(-1), 3 * math.exp(-2) } },
  }
  return rows
end

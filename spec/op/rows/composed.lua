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

  rows.logical_not = {
    { truths[1], want = { true, false, false, true }, dtype = "bool", f32 = "bool", grad = false },
    { h.ints { { 0, 5 }, { -1, 0 } }, want = { { true, false }, { false, true } }, dtype = "bool" },
    { h.bools { true, false }, want = { false, true }, dtype = "bool" },
    { damo.complex({ 0, 0, 1 }, { 0, 2, 0 }), want = { true, false, false }, dtype = "bool" },
    { {}, want = h.shape(0), dtype = "bool" },
  }

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
  rows.divmod = {
    { { 7, -7, 7.5 }, { 2, 2, -2 }, wants = { { 3, -4, -4 }, { 1, 1, -0.5 } }, int = false },
    { h.ints { 7, -7, 5 }, h.ints { 2, 2, 0 }, wants = { { 3, -4, 0 }, { 1, 1, 0 } }, dtype = "int64" },
    { h.ints { 7, 9 }, 4, wants = { { 1, 2 }, { 3, 1 } }, dtype = "int64" },
  }
  rows.spacing = {
    { { 1, -1, 3, 0 }, want = { 2 ^ -52, -2 ^ -52, 2 ^ -51, 2 ^ -1074 }, tol = 0, f32 = false, grad = false },
    { h.floats { 1, -2 }, want = { 2 ^ -23, -2 ^ -22 }, tol = 0, dtype = "float32" },
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

  -- ---- Special functions of several results: mpmath, 17 digits -----------------------------------------------------------

  rows.sici = { { { 0.5, 2.5, -1.25 }, wants = {
    { 0.49310741804306669, 1.7785201734438266, -1.1464464156732344 },
    { -0.1777840788066129, 0.2858711963653835, 0.43430072403355239 } } } }
  rows.shichi = { { { 0.5, 2.5, -1.25 }, wants = {
    { 0.5069967498196672, 3.5493404062244352, -1.363730673440693 },
    { -0.052776844956493616, 3.5244254883541655, 1.2173173009147828 } } } }
  rows.fresnel = { { { 0.5, 2.5, -1.25 }, wants = {
    { 0.064732432859999278, 0.61918175581959294, -0.65865551163667913 },
    { 0.49234422587144639, 0.45741300964177705, -0.68009074107545508 } } } }
  rows.airy = { { { 0.5, 2.5, -1.25 }, wants = {
    { 0.23169360648083349, 0.01572592338047049, 0.52004547743529918 },
    { -0.22491053266468389, -0.02625088103590323, 0.13907956335191775 },
    { 0.85427704310315549, 6.4816607384605786, -0.045867468727426906 },
    { 0.5445725641405923, 9.4214233173343018, 0.59981419355758336 } } } }
  rows.ellipj = { { { 0.5, 1.5 }, { 0.25, 0.75 }, wants = {
    { 0.47508293602853651, 0.94079730921277764 }, { 0.87994102296375834, 0.33896964905135275 },
    { 0.97137739883817884, 0.5798062756072048 }, { 0.49505828112273645, 1.224974834741051 } }, int = false } }

  -- ---- Arranging -----------------------------------------------------------------------------------------------------

  local list, ints = h.list, h.ints
  local m = { { 1, 2, 3 }, { 4, 5, 6 } }
  rows.fliplr = { case(m, { { 3, 2, 1 }, { 6, 5, 4 } }) }
  rows.flipud = { case(m, { { 4, 5, 6 }, { 1, 2, 3 } }), case({ 1, 2 }, { 2, 1 }) }
  rows.column_stack = {
    { list { { 1, 2 }, { 3, 4 } }, want = { { 1, 3 }, { 2, 4 } }, int = "int64" },
    { list { m, { 7, 8 } }, want = { { 1, 2, 3, 7 }, { 4, 5, 6, 8 } }, int = "int64" },
    { list { ints { 1 }, { 2.5 } }, want = { { 1, 2.5 } }, f32 = "float64" },
  }
  rows.dstack = {
    { list { { 1, 2 }, { 3, 4 } }, want = { { { 1, 3 }, { 2, 4 } } }, int = "int64" },
    { list { m, m }, want = { { { 1, 1 }, { 2, 2 }, { 3, 3 } }, { { 4, 4 }, { 5, 5 }, { 6, 6 } } } },
  }
  rows.append = {
    { { 1, 2 }, m, want = { 1, 2, 1, 2, 3, 4, 5, 6 }, int = "int64" },
    { m, { { 7, 8, 9 } }, opts = { axis = 1 }, want = { { 1, 2, 3 }, { 4, 5, 6 }, { 7, 8, 9 } } },
    { { 1, 2 }, 3.0, want = { 1, 2, 3 } },
  }
  rows.vsplit = {
    { m, opts = 2, wants = { { { 1, 2, 3 } }, { { 4, 5, 6 } } }, dtype = { "float64", "float64" } },
    { m, opts = { sizes = { 2, 0 } }, wants = { m, h.shape(0, 3) } },
  }
  rows.array_split = {
    { { 1, 2, 3, 4, 5, 6, 7, 8 }, opts = 3, wants = { { 1, 2, 3 }, { 4, 5, 6 }, { 7, 8 } }, int = "int64" },
    { { 1, 2 }, opts = 3, wants = { { 1 }, { 2 }, h.shape(0) } },
    { m, opts = { sizes = 2, axis = 2 }, wants = { { { 1, 2 }, { 4, 5 } }, { { 3 }, { 6 } } } },
    { m, opts = { sizes = { 1, 2 }, axis = -1 }, wants = { { { 1 }, { 4 } }, { { 2, 3 }, { 5, 6 } } } },
  }
  rows.hsplit = {
    { m, opts = { sizes = { 1, 2 } }, wants = { { { 1 }, { 4 } }, { { 2, 3 }, { 5, 6 } } } },
    { { 1, 2, 3, 4 }, opts = 2, wants = { { 1, 2 }, { 3, 4 } } },
  }
  rows.dsplit = { { { m }, opts = { sizes = { 2, 1 } }, wants = { { { { 1, 2 }, { 4, 5 } } }, { { { 3 }, { 6 } } } } } }
  rows.unstack = {
    { damo.array(m), wants = { { 1, 2, 3 }, { 4, 5, 6 } }, compiled = false, f32 = false, grad = false },
    { damo.array(m), opts = { axis = -1 }, wants = { { 1, 4 }, { 2, 5 }, { 3, 6 } }, compiled = false, f32 = false,
      grad = false },
  }
  rows.delete = {
    { { 1, 2, 3, 4 }, ints { 2, -1 }, want = { 1, 3 }, grad = { 1 } },
    { m, 2, opts = { axis = 2 }, want = { { 1, 3 }, { 4, 6 } }, int = "int64" },
    { m, 2, want = { 1, 3, 4, 5, 6 }, int = "int64" },
    { m, ints { 1, 1 }, opts = { axis = 1 }, want = { { 4, 5, 6 } }, grad = { 1 } },
  }
  rows.insert = {
    { { 1, 2, 3 }, 2, { 7, 8 }, want = { 1, 7, 8, 2, 3 }, int = "int64" },
    { { 1, 2 }, 3, 9.0, want = { 1, 2, 9 } },
    { { 1, 2 }, -1, 9.0, want = { 1, 9, 2 } },
    { { 1, 2 }, damo.array(-2, "int64"), 9.0, want = { 9, 1, 2 }, grad = { 1 } },
    { m, 1, { 7, 8 }, opts = { axis = 2 }, want = { { 7, 1, 2, 3 }, { 8, 4, 5, 6 } } },
    { m, 3, 0.0, opts = { axis = 1 }, want = { { 1, 2, 3 }, { 4, 5, 6 }, { 0, 0, 0 } } },
    { m, 2, m, opts = { axis = 1 }, want = { { 1, 2, 3 }, { 1, 2, 3 }, { 4, 5, 6 }, { 4, 5, 6 } } },
  }
  rows.diagflat = {
    case({ { 1, 2 } }, { { 1, 0 }, { 0, 2 } }),
    case({ 3 }, { { 0, 0 }, { 3, 0 } }, -1),
    case(damo.array(2.0), { { 2 } }),
  }
  rows.identity_like = {
    { m, want = { { 1, 0, 0 }, { 0, 1, 0 } }, int = "int64", grad = false },
    { m, opts = "int32", want = { { 1, 0, 0 }, { 0, 1, 0 } }, dtype = "int32" },
  }
  rows.vander = {
    case({ 2, 3, 0 }, { { 4, 2, 1 }, { 9, 3, 1 }, { 0, 0, 1 } }),
    case({ 2, 3 }, { { 1, 2, 4, 8 }, { 1, 3, 9, 27 } }, { n = 4, increasing = true }),
    { { 2, 3 }, opts = 0, want = h.shape(2), grad = false, check = function(v)
      assert(v.shape[1] == 2 and v.shape[2] == 0)
    end },
    case({ 5, 6 }, { { 1 }, { 1 } }, 1),
  }
  rows.vander[4].grad = false
  rows["linalg.circulant"] = {
    case({ 1, 2, 3 }, { { 1, 3, 2 }, { 2, 1, 3 }, { 3, 2, 1 } }),
    case({ { 1, 2 }, { 3, 4 } }, { { { 1, 2 }, { 2, 1 } }, { { 3, 4 }, { 4, 3 } } }),
  }
  rows.ediff1d = {
    case({ 1, 4, 9 }, { 3, 5 }),
    case({ { 1, 4 }, { 9, 2 } }, { 3, 5, -7 }),
    { { 1, 4, 9 }, { 7 }, { -1, -2 }, want = { -1, -2, 3, 5, 7 }, int = "int64" },
    { { 1, 4 }, 9.0, want = { 3, 9 } },
    { { 1 }, want = h.shape(0) },
  }
  local pi = math.pi
  rows.unwrap = {
    { { 0, 3, -3, 0.5 }, want = { 0, 3, 2 * pi - 3, 0.5 }, tol32 = 1e-5 },
    { { { 1, 2 }, { 5, 7 } }, opts = { axis = 1, period = 4 }, want = { { 1, 2 }, { 1, 3 } }, int = "float64" },
    { { 0, 2, 4 }, opts = { period = 4 }, want = { 0, 2, 4 }, int = "float64", grad = false },
    { { 1 }, want = { 1 } },
  }
  rows.atleast_Nd = {
    case({ 1, 2 }, { { { 1, 2 } } }, 3),
    case({ 1, 2 }, { { 1 }, { 2 } }, { n = 2, left = false }),
    case(m, m),
  }

  -- ---- Windows, scales -----------------------------------------------------------------------------------------------

  local cos, tau = math.cos, 2 * math.pi
  local function window(of)
    local want = {}
    for k = 0, 4 do want[k + 1] = of(k / 4) end
    return { { 5, want = want, tol = 1e-15 }, { 1, want = { 1 } }, { 0, want = h.shape(0) },
      { damo.array(5, "int64"), want = want, tol = 1e-15, grad = false },
      { 5, opts = "float32", want = want, dtype = "float32", tol = 1e-7 } }
  end
  rows.bartlett = window(function(p) return 1 - math.abs(2 * p - 1) end)
  rows.hanning = window(function(p) return 0.5 - 0.5 * cos(tau * p) end)
  rows.hamming = window(function(p) return 0.54 - 0.46 * cos(tau * p) end)
  rows.blackman = window(function(p) return 0.42 - 0.5 * cos(tau * p) + 0.08 * cos(2 * tau * p) end)
  rows.kaiser = {
    { 3, damo.array(2.0), want = { 0.4386762798370499, 1, 0.4386762798370499 }, f32 = false },
    { 1, damo.array(2.0), want = { 1 }, f32 = false },
    { 4, 0.0, want = { 1, 1, 1, 1 } },
  }
  rows.logspace = {
    { 0, 2, opts = { num = 3 }, want = { 1, 10, 100 } },
    { damo.array(1.0), damo.array(3.0), opts = { num = 3, base = 2 }, want = { 2, 4, 8 }, f32 = false },
    { 0, 2, opts = { num = 0 }, want = h.shape(0) },
  }
  rows.geomspace = {
    { 1, 1000, opts = { num = 4 }, want = { 1, 10, 100, 1000 } },
    { damo.array(-8.0), damo.array(-2.0), opts = { num = 3 }, want = { -8, -4, -2 }, f32 = false },
    { 3, 5, opts = { num = 1 }, want = { 3 } },
  }

  -- ---- Covariances, running sums without nan -------------------------------------------------------------------------

  local seen = { { 1, 2, 6 }, { 4, 0, 2 } } -- means 3, 2
  rows.cov = {
    { seen, want = { { 7, -1 }, { -1, 4 } }, int = "float64" },
    { { { 1, 4 }, { 2, 0 }, { 6, 2 } }, opts = { rowvar = false, ddof = 0 },
      want = { { 14 / 3, -2 / 3 }, { -2 / 3, 8 / 3 } } },
    { { 1, 2, 6 }, want = 7 },
    { damo.complex({ 0, 2 }, { 1, -1 }), check = function(z) h.compare(damo.real(z), 4, 1e-15, "real part") end },
  }
  local r = -1 / math.sqrt(28)
  rows.corrcoef = {
    { seen, want = { { 1, r }, { r, 1 } }, int = "float64" },
    { { { 1, 4 }, { 2, 0 }, { 6, 2 } }, opts = { rowvar = false }, want = { { 1, r }, { r, 1 } } },
  }
  rows.nancumsum = {
    { { 1, nan, 2 }, want = { 1, 1, 3 }, grad = false },
    case({ { 1, 2 }, { 3, 4 } }, { { 1, 3 }, { 3, 7 } }, { axis = 2 }),
    case({ { 1, 2 }, { 3, 4 } }, { 1, 3, 6, 10 }),
  }
  rows.nancumprod = {
    { { 3, nan, 2 }, want = { 3, 3, 6 }, grad = false },
    case({ { 1, 2 }, { 3, 4 } }, { { 1, 2 }, { 3, 8 } }, { axis = 1 }),
  }
  return rows
end

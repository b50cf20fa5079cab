-- The rows of reductions without nan, of quantiles and other statistics, and of running extremes.
local damo = require "damo"

return function(h)
  local inf, nan = h.plain.inf, h.plain.nan
  local m = { { 3, nan, 2.5 }, { 5, 4.5, nan } }
  local f = { { 3, -1, 2.5 }, { 5, 4.5, -7 } }
  local rows = {}

  -- ---- Without nan ---------------------------------------------------------------------------------------------------

  rows.nansum = {
    { m, want = 15 },
    { m, opts = { axis = 1 }, want = { 8, 4.5, 2.5 } },
    { m, opts = { axis = -1, keepdims = true }, want = { { 5.5 }, { 9.5 } } },
    { f, want = 7 },
    { { { nan, nan } }, opts = { axis = 2 }, want = { 0 } },
    { h.ints { { 3, 1 }, { 2, 5 } }, opts = { axis = 1 }, want = { 5, 6 }, dtype = "int64" },
    { damo.complex({ 1, nan, 2 }, { 0, 1, 3 }), check = function(z)
      h.compare(damo.real(z), 3, 0, "real part")
      h.compare(damo.imag(z), 3, 0, "imaginary part")
    end },
    { {}, want = 0 },
  }
  rows.nanprod = {
    { m, opts = { axis = 2 }, want = { 7.5, 22.5 } },
    { f, opts = { axis = 1 }, want = { 15, -4.5, -17.5 } },
    { h.ints { 2, 3 }, want = 6, dtype = "int64" },
  }
  rows.nanmax = {
    { m, want = 5 },
    { m, opts = { axis = 2 }, want = { 3, 5 } },
    { { { nan, nan }, { 1, -inf } }, opts = { axis = 2 }, want = { nan, 1 }, grad = false },
    { h.ints { { 3, 1 }, { 2, 5 } }, opts = { axis = 1 }, want = { 3, 5 }, dtype = "int64" },
  }
  rows.nanmin = {
    { m, want = 2.5 },
    { m, opts = { axis = 1, keepdims = true }, want = { { 3, 4.5, 2.5 } } },
    { { nan, nan }, want = nan, grad = false },
  }
  rows.nanargmax = {
    { m, want = 4, dtype = "int64" },
    { m, opts = { axis = 2 }, want = { 1, 1 }, dtype = "int64" },
    { m, opts = { axis = 1, keepdims = true }, want = { { 2, 2, 1 } }, dtype = "int64" },
    { h.ints { 3, 7 }, want = 2, dtype = "int64" },
  }
  rows.nanargmin = {
    { m, want = 3, dtype = "int64" },
    { m, opts = { axis = 2 }, want = { 3, 2 }, dtype = "int64" },
  }
  rows.nanmean = {
    { m, want = 3.75 },
    { m, opts = { axis = 2 }, want = { 2.75, 4.75 } },
    { { { nan, nan }, { 1, 2 } }, opts = { axis = 2 }, want = { nan, 1.5 }, grad = false },
    { h.ints { 1, 2 }, want = 1.5 },
  }
  rows.nanvar = {
    { m, want = 1.0625 },
    { m, opts = { axis = 2, ddof = 1 }, want = { 0.125, 0.125 } },
    { m, opts = { axis = 1, ddof = 1 }, want = { 2, nan, nan }, grad = false },
    { h.ints { 1, 3 }, want = 1 },
  }
  rows.nanstd = {
    { m, want = math.sqrt(1.0625) },
    { m, opts = { axis = 2, ddof = 1 }, want = { math.sqrt(0.125), math.sqrt(0.125) } },
  }

  -- ---- Counts and averages -------------------------------------------------------------------------------------------

  rows.count_nonzero = {
    { { { 0, 1.5, nan }, { 0, 0, -0.0 } }, want = 2, dtype = "int64" },
    { { { 0, 1.5, nan }, { 0, 0, -0.0 } }, opts = { axis = 2 }, want = { 2, 0 }, dtype = "int64" },
    { h.bools { true, false, true }, opts = { keepdims = true }, want = { 2 }, dtype = "int64" },
  }
  local w = { { 1, 2, 3 }, { 4, 0.5, 1 } }
  rows.average = {
    { f, want = 7 / 6 },
    { f, opts = { axis = 1 }, want = { 4, 1.75, -2.25 } },
    { f, w, want = (3 - 2 + 7.5 + 20 + 2.25 - 7) / 11.5 },
    { f, w, opts = { axis = 2, keepdims = true }, want = { { 8.5 / 6 }, { 15.25 / 5.5 } } },
    { f, { 1, 2, 3 }, opts = { axis = 2 }, want = { 8.5 / 6, (5 + 9 - 21) / 6 } },
    { f, { 1, 3 }, opts = { axis = 1 }, want = { 4.5, 3.125, -4.625 } },
    { f, { 1, 3 }, opts = { axis = 1, returned = true }, wants = { { 4.5, 3.125, -4.625 }, { 4, 4, 4 } } },
    { h.ints { 1, 2 }, want = 1.5 },
  }

  -- ---- Quantiles -----------------------------------------------------------------------------------------------------

  rows.median = {
    { { 5, 1, 4 }, want = 4 },
    { { 5, 1, 4, 2 }, want = 3 },
    { f, opts = { axis = 1 }, want = { 4, 1.75, -2.25 } },
    { f, opts = { axis = 2, keepdims = true }, want = { { 2.5 }, { 4.5 } } },
    { f, opts = { axis = { 1, 2 } }, want = 2.75 },
    { { { 1, nan, 3 }, { 1, 2, 3 } }, opts = { axis = 2 }, want = { nan, 2 }, grad = false },
    { { 1, inf }, want = inf, grad = false },
    { h.ints { 1, 2 }, want = 1.5 },
  }
  -- By NumPy's numpy.quantile.
  local v = { 0.7, 3.1, -1.2, 5.5, 2.2 }
  local function quartile(method, ...) return { v, { 0.3, 0.77 }, opts = { method = method }, want = { ... }, grad = { 1 } } end
  rows.quantile = {
    quartile("linear", 1.0, 3.292),
    quartile("inverted_cdf", 0.7, 3.1),
    quartile("averaged_inverted_cdf", 0.7, 3.1),
    quartile("closest_observation", 0.7, 3.1),
    quartile("interpolated_inverted_cdf", 0.7 - 0.5 * 1.9, 2.2 + 0.85 * 0.9),
    quartile("hazen", 0.7, 3.1 + 0.35 * 2.4),
    quartile("weibull", -1.2 + 0.8 * 1.9, 3.1 + 0.62 * 2.4),
    quartile("median_unbiased", -1.2 + (0.3 * 16 / 3 + 1 / 3 - 1) * 1.9, 3.1 + (0.77 * 16 / 3 + 1 / 3 - 4) * 2.4),
    quartile("normal_unbiased", -1.2 + (0.3 * 5.25 + 0.375 - 1) * 1.9, 3.1 + (0.77 * 5.25 + 0.375 - 4) * 2.4),
    quartile("lower", 0.7, 3.1),
    quartile("higher", 2.2, 5.5),
    quartile("midpoint", 1.45, 4.3),
    quartile("nearest", 0.7, 3.1),
    { v, { 0.3, 0.77 }, want = { 1.0, 3.292 } },
    { v, 0.3, want = 1.0 },
    { v, { { 0.3 }, { 0.77 } }, want = { { 1.0 }, { 3.292 } } },
    { f, { { 0.5, 0.25 } }, opts = { axis = 2 }, want = { { { 2.5, 4.5 }, { 0.75, -1.25 } } }, grad = { 1 } },
    { f, { { 0.5, 0.25 } }, opts = { axis = 2, keepdims = true }, grad = { 1 },
      want = { { { { 2.5 }, { 4.5 } }, { { 0.75 }, { -1.25 } } } } },
    { v, opts = { q = 0.3 }, want = 1.0 },
    { v, opts = { q = { 0, 1 } }, want = { -1.2, 5.5 } },
    { v, opts = { q = { { 0, 1 }, { 1, 0 } } }, want = { { -1.2, 5.5 }, { 5.5, -1.2 } } },
    { f, opts = { q = { 0.5, 0.25 }, axis = 2 }, want = { { 2.5, 4.5 }, { 0.75, -1.25 } } },
    { f, opts = { q = { 0.5, 0.25 }, axis = 2, keepdims = true }, want = { { { 2.5 }, { 4.5 } }, { { 0.75 }, { -1.25 } } } },
    { f, opts = { q = 0.5, axis = { 2, 1 }, keepdims = true }, want = { { 2.75 } } },
    { { 1, nan }, opts = { q = 0.5 }, want = nan, grad = false },
    { { 1, inf, inf }, opts = { q = { 0.25, 0.6, 0 } }, want = { inf, inf, 1 }, grad = false },
    { h.ints { 4, 1, 3 }, opts = { q = 0.5, method = "lower" }, want = 3, dtype = "int64" },
    { h.ints { 4, 1 }, opts = { q = 0.5 }, want = 2.5 },
  }
  rows.percentile = {
    { v, { 30, 77 }, want = { 1.0, 3.292 } },
    { f, opts = { q = 50, axis = 1 }, want = { 4, 1.75, -2.25 } },
  }
  rows.nanmedian = {
    { m, want = 3.75 },
    { m, opts = { axis = 2 }, want = { 2.75, 4.75 } },
    { m, opts = { axis = 1, keepdims = true }, want = { { 4, 4.5, 2.5 } } },
    { { { nan, nan }, { 4, 1 } }, opts = { axis = 2 }, want = { nan, 2.5 }, grad = false },
    { { { { 1, nan }, { 7, 2 } }, { { nan, 5 }, { 3, nan } } }, opts = { axis = { 1, 3 } }, want = { 3, 3 } },
    { h.ints { 1, 2 }, want = 1.5 },
  }
  rows.nanquantile = {
    { m, { 0.3, 0.75 }, want = { 2.95, 4.625 }, grad = { 1 } },
    { m, { 0.25, 0.5 }, opts = { axis = 2 }, want = { { 2.625, 4.625 }, { 2.75, 4.75 } }, grad = { 1 } },
    { m, opts = { q = 0.5, axis = 1, method = "lower" }, want = { 3, 4.5, 2.5 } },
    { m, opts = { q = { 0.5 }, axis = 2, method = "hazen", keepdims = true }, want = { { { 2.75 }, { 4.75 } } } },
    { { { nan, nan }, { 4, 1 } }, opts = { q = { 0, 1 }, axis = 2 }, want = { { nan, 1 }, { nan, 4 } }, grad = false },
    { h.ints { 1, 2, 5 }, 0.5, want = 2 },
  }
  rows.nanpercentile = {
    { m, { 30, 75 }, want = { 2.95, 4.625 }, grad = { 1 } },
    { m, opts = { q = 50, axis = 2 }, want = { 2.75, 4.75 } },
  }
  rows.mode = {
    { { 3, 1, 3, 1, 2 }, wants = { 1, 2 }, dtype = { "float64", "int64" }, grad = false },
    { { { 3, 1, 3 }, { 2, 2, 5 } }, opts = { axis = 2 }, wants = { { 3, 2 }, { 2, 2 } }, dtype = { "float64", "int64" },
      grad = false },
    { { { 3, 1, 3 }, { 3, 2, 5 } }, opts = { axis = { 1, 2 }, keepdims = true }, wants = { { { 3 } }, { { 3 } } },
      dtype = { "float64", "int64" }, grad = false },
    { h.ints { 4, 4, -1, -1, 7 }, wants = { -1, 2 }, dtype = { "int64", "int64" } },
    { { 2.5 }, wants = { 2.5, 1 }, dtype = { "float64", "int64" }, grad = false },
  }

  -- ---- Running extremes ----------------------------------------------------------------------------------------------

  rows.cummax = {
    { { 3, 1, 4, 2, 5 }, want = { 3, 3, 4, 4, 5 }, int = "int64" },
    { f, want = { 3, 3, 3, 5, 5, 5 } },
    { f, opts = { axis = 1 }, want = { { 3, -1, 2.5 }, { 5, 4.5, 2.5 } } },
    { f, opts = -1, want = { { 3, 3, 3 }, { 5, 5, 5 } } },
    { { 1, nan, 2 }, want = { 1, nan, nan }, grad = false },
    { h.bools { false, true, false }, want = { false, true, true }, dtype = "bool" },
    { damo.array({ 3, 200, 7 }, "uint8"), want = { 3, 200, 200 }, dtype = "uint8" },
    { {}, want = h.shape(0) },
  }
  rows.cummin = {
    { { 3, 1, 4, 2, -5 }, want = { 3, 1, 1, 1, -5 }, int = "int64" },
    { f, opts = { axis = 2 }, want = { { 3, -1, -1 }, { 5, 4.5, -7 } } },
    { { 1, nan, -2 }, want = { 1, nan, nan }, grad = false },
    { damo.complex({ 1, 1, 2 }, { 2, 1, 0 }), check = function(z)
      h.compare(damo.imag(z), { 2, 1, 1 }, 0, "imaginary part")
    end },
  }
  return rows
end

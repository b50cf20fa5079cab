-- The rows of convolutions, polynomials, differences and products of vectors.
local damo = require "damo"

return function(h)
  local ints = h.ints
  local v, w = { 1, 2, 3, -1 }, { 2, 0.5, -1 }
  local m, n = { { 1, 2, 3 }, { 4, 5, 6 } }, { { 0.5, -1, 2 }, { 3, 1, -2 } }
  local rows = {}
  rows.cross = {
    { { 1, 2, 3 }, { 4, 5, 6 }, want = { -3, 6, -3 }, int = "int64" },
    { m, { 1, 0, 0 }, want = { { 0, 3, -2 }, { 0, 6, -5 } } },
    { damo.array(m).T:copy(), damo.array(n).T:copy(), opts = { axis = 1 },
      want = { { 7, -16 }, { -0.5, 26 }, { -2, -11 } } },
    { { 1, 2 }, { 3, 5 }, want = -1, compiled = false, grad = false, f32 = false },
    { { 1, 2 }, { 3, 5, 7 }, want = { 14, -7, -1 }, compiled = false, grad = false, f32 = false },
  }
  rows.inner = {
    { v, { 1, 1, 2, 2 }, want = 7, int = "int64" },
    { m, n, want = { { 4.5, -1 }, { 9, 5 } } },
    { m, { 1, 2, 1 }, want = { 8, 20 } },
    { damo.array(2), v, want = { 2, 4, 6, -2 } },
    { {}, {}, want = 0 },
  }
  rows.vdot = {
    { v, { 1, 1, 2, 2 }, want = 7, int = "int64" },
    { m, n, want = 4.5 + 5 },
    { damo.array(2), damo.array(3), want = 6 },
  }
  rows.convolve = {
    { v, w, want = { 2, 4.5, 6, -2.5, -3.5, 1 } },
    { v, { 1, 2 }, want = { 1, 4, 7, 5, -2 }, int = "int64" },
    { v, w, opts = "same", want = { 4.5, 6, -2.5, -3.5 } },
    { v, w, opts = { mode = "valid" }, want = { 6, -2.5 } },
    { w, v, opts = { mode = "valid" }, want = { 6, -2.5 } },
    { v, { 1, 2 }, opts = "same", want = { 1, 4, 7, 5 } },
    { damo.array(2), w, want = { 4, 1, -2 } },
    { damo.array({ 100, 100 }, "int8"), damo.array({ 2 }, "int8"), want = { -56, -56 }, dtype = "int8" },
  }
  rows.correlate = {
    { v, w, want = { 0, 6.5 } },
    { v, w, opts = { mode = "full" }, want = { -1, -1.5, 0, 6.5, 5.5, -2 } },
    { v, w, opts = "same", want = { -1.5, 0, 6.5, 5.5 } },
    { { 1, 2 }, { 1, 0, 3 }, opts = "same", want = { 6, 1, 2 } },
    { { 1, 2 }, { 1, 0, 3, 0 }, opts = "valid", want = { 3, 6, 1 } },
  }
  rows.polyval = {
    { { 2, -1, 3 }, v, want = { 4, 9, 18, 6 }, int = "int64" },
    { { 2, -1, 3 }, m, want = { { 4, 9, 18 }, { 31, 48, 69 } } },
    { { 2, -1, 3 }, damo.array(0), want = 3 },
    { { 5 }, v, want = { 5, 5, 5, 5 } },
    { {}, v, want = { 0, 0, 0, 0 } },
  }
  rows.polyfit = {
    { { 0, 1, 2, 3 }, { 1, 2, 5, 10 }, opts = { deg = 2 }, want = { 1, 0, 1 }, tol = 1e-12 },
    { { 0, 1, 2, 3 }, { 1, 2, 5, 10 }, opts = 1, want = { 3, 0 }, tol = 1e-12 },
    { { 0, 1, 2 }, { { 1, 2 }, { 2, 0 }, { 4, 1 } }, opts = { deg = 1 }, want = { { 1.5, -0.5 }, { 5 / 6, 1.5 } } },
    { { 0, 1, 2 }, { 1, 2, 4 }, opts = { deg = 1, w = damo.array { 1, 0, 1 } }, want = { 1.5, 1 }, f32 = false },
    { { 2, 2 }, { 3, 5 }, opts = { deg = 0 }, want = { 4 } },
    { h.ints { 0, 1 }, h.ints { 3, 5 }, opts = { deg = 1 }, want = { 2, 3 } },
  }
  rows.polyadd = {
    { { 1, 2, 3 }, { 4, 5 }, want = { 1, 6, 8 }, int = "int64" },
    { { 4, 5 }, { 1, 2, 3 }, want = { 1, 6, 8 } },
    { { 1, 2 }, { -1, 2 }, want = { 0, 4 } },
    { damo.array(2), { 1, 2 }, want = { 1, 4 } },
    { {}, { 1, 2 }, want = { 1, 2 } },
  }
  rows.polysub = {
    { { 4, 5 }, { 1, 2, 3 }, want = { -1, 2, 2 }, int = "int64" },
    { { 1, 2, 3 }, { 3 }, want = { 1, 2, 0 } },
  }
  rows.polymul = {
    { { 1, 2, 3 }, { 4, 0, 5 }, want = { 4, 8, 17, 10, 15 }, int = "int64" },
    { { 0, 2 }, { 3 }, want = { 0, 6 } },
    { h.bools { true, true }, h.bools { true, true }, want = { 1, 2, 1 }, dtype = "int64" },
  }
  rows.polyder = {
    { { 3, 2, 1, 5 }, want = { 9, 4, 1 }, int = "int64" },
    { { 3, 2, 1, 5 }, opts = 2, want = { 18, 4 } },
    { { 3, 2, 1, 5 }, opts = { m = 0 }, want = { 3, 2, 1, 5 } },
    { { 3, 2 }, opts = { m = 3 }, want = h.shape(0) },
    { { 5 }, want = h.shape(0) },
  }
  rows.polyint = {
    { { 3, 2, 1 }, want = { 1, 1, 1, 0 }, int = "float64" },
    { { 3, 2, 1 }, opts = { m = 2, k = { 5, 7 } }, want = { 0.25, 1 / 3, 0.5, 5, 7 } },
    { { 3, 2, 1 }, opts = { m = 2, k = 4 }, want = { 0.25, 1 / 3, 0.5, 4, 4 } },
    { { 3, 2, 1 }, opts = { m = 2, k = damo.array { 5, 7 } }, want = { 0.25, 1 / 3, 0.5, 5, 7 } },
    { { 3, 2, 1 }, opts = { m = 0 }, want = { 3, 2, 1 } },
    { {}, want = { 0 } },
  }
  local function parts(re, im)
    return function(z)
      assert(z.dtype == "complex128" or z.dtype == "complex64")
      local tol = z.dtype == "complex64" and 2e-5 or 1e-12
      h.compare(damo.sort(damo.real(z)), re, tol, "real parts")
      h.compare(damo.sort(damo.imag(z)), im, tol, "imaginary parts")
    end
  end
  rows.roots = {
    { { 1, -6, 11, -6 }, check = parts({ 1, 2, 3 }, { 0, 0, 0 }) },
    { { 1, 0, 4 }, check = parts({ 0, 0 }, { -2, 2 }) },
    { { 0, 0, 2, -6, 4, 0, 0 }, check = parts({ 0, 0, 1, 2 }, { 0, 0, 0, 0 }) },
    { { 0, 3, -6 }, check = parts({ 2 }, { 0 }) },
    { { 0, 5, 0 }, check = parts({ 0 }, { 0 }) },
    { { 5 }, check = parts(h.shape(0), h.shape(0)) },
    { { 0, 0 }, check = parts(h.shape(0), h.shape(0)) },
    { h.ints { 1, -3, 2 }, check = parts({ 1, 2 }, { 0, 0 }) },
    { damo.complex({ 1, 0, 0 }, { 0, 0, -2 }), check = parts({ -1, 1 }, { -1, 1 }) },
  }
  rows.trapezoid = {
    { v, want = 5, int = "float64" },
    { v, opts = { dx = 0.5 }, want = 2.5 },
    { v, { 0, 1, 3, 4 }, want = 1.5 + 5 + 1 },
    { m, opts = { axis = 1 }, want = { 2.5, 3.5, 4.5 } },
    { m, n, want = { -1.5 * 1.5 + 3 * 2.5, -2 * 4.5 - 3 * 5.5 } },
    { { 1 }, want = 0, grad = false },
    { {}, want = 0 },
  }
  rows.gradient = {
    { v, want = { 1, 1, -1.5, -4 }, int = "float64" },
    { v, opts = 2, want = { 0.5, 0.5, -0.75, -2 } },
    { v, opts = { edge_order = 2 }, want = { 1, 1, -1.5, -6.5 } },
    { { 0, 1, 9, 16 }, opts = { spacing = { 0, 1, 3, 4 }, edge_order = 2 }, want = { 0, 2, 6, 8 } },
    { { 0, 1, 9, 16 }, opts = { spacing = { 0, 1, 3, 4 } }, want = { 1, 2, 6, 7 } },
    { m, wants = { { { 3, 3, 3 }, { 3, 3, 3 } }, { { 1, 1, 1 }, { 1, 1, 1 } } } },
    { m, opts = { spacing = { 2, { 0, 1, 3 } } },
      wants = { { { 1.5, 1.5, 1.5 }, { 1.5, 1.5, 1.5 } }, { { 1, 5 / 6, 0.5 }, { 1, 5 / 6, 0.5 } } } },
    { m, opts = { axis = 2 }, want = { { 1, 1, 1 }, { 1, 1, 1 } } },
    { ints { 1, 4 }, want = { 3, 3 } },
  }
  return rows
end

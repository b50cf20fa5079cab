-- The rows of sorting, searching, counting and sets.
local damo = require "damo"

return function(h)
  local inf, nan = h.plain.inf, h.plain.nan
  local list, ints = h.list, h.ints
  local v, m = { 3, 1, 2, 1, 3, 3 }, { { 1, 2, 0 }, { 0, 1, 1 }, { 1, 2, 0 }, { 0, 0, 5 } }
  local i64 = "int64"
  local all = { return_index = true, return_inverse = true, return_counts = true }
  local rows = {}
  rows.unique = {
    { v, want = { 1, 2, 3 }, int = i64, grad = false },
    { v, opts = all, wants = { { 1, 2, 3 }, { 2, 3, 1 }, { 3, 1, 2, 1, 3, 3 }, { 2, 1, 3 } }, grad = false, int = i64,
      dtype = { "float64", i64, i64, i64 } },
    { m, opts = { return_inverse = true }, wants = { { 0, 1, 2, 5 }, { { 2, 3, 1 }, { 1, 2, 2 }, { 2, 3, 1 },
      { 1, 1, 4 } } }, dtype = { "float64", i64 }, grad = false },
    { m, opts = { axis = 1 }, want = { { 0, 0, 5 }, { 0, 1, 1 }, { 1, 2, 0 } }, grad = false, int = i64 },
    { m, opts = { axis = 2, return_counts = true }, wants = { { { 0, 1, 2 }, { 1, 0, 1 }, { 0, 1, 2 }, { 5, 0, 0 } },
      { 1, 1, 1 } }, dtype = { "float64", i64 }, grad = false },
    { { nan, 1, nan, -0.0, 0 }, want = { 0, 1, nan }, grad = false },
    { h.bools { true, false, true }, want = { false, true }, dtype = "bool" },
    { { 2, 5, 1 }, want = { 1, 2, 5 } },
    { {}, want = h.shape(0) },
  }
  rows.isin = {
    { v, { 1, 7, 3 }, want = { true, true, false, true, true, true }, dtype = "bool", int = "bool" },
    { m, { 0, 5 }, opts = { invert = true }, want = { { true, true, false }, { false, true, true },
      { true, true, false }, { false, false, false } }, dtype = "bool" },
    { { nan, 1 }, { nan, 1 }, want = { false, true }, dtype = "bool" },
    { v, {}, want = { false, false, false, false, false, false }, dtype = "bool" },
    { {}, v, want = h.shape(0), dtype = "bool" },
  }
  rows.union1d = {
    { v, { 5, 1, 0 }, want = { 0, 1, 2, 3, 5 }, grad = false, int = i64 },
    { ints { 1, 2 }, { 0.5 }, want = { 0.5, 1, 2 }, grad = false, f32 = "float64" },
    { {}, {}, want = h.shape(0) },
  }
  rows.intersect1d = {
    { v, { 5, 3, 1, 3 }, want = { 1, 3 }, grad = false, int = i64 },
    { v, { 5, 3, 1, 3 }, opts = { return_indices = true }, wants = { { 1, 3 }, { 2, 1 }, { 3, 2 } }, grad = false,
      dtype = { "float64", i64, i64 } },
    { { nan, 1 }, { nan, 2 }, want = h.shape(0), grad = false },
    { {}, v, want = h.shape(0) },
  }
  rows.setdiff1d = {
    { v, { 5, 3, 3 }, want = { 1, 2 }, grad = false, int = i64 },
    { v, {}, want = { 1, 2, 3 }, grad = false },
    { {}, v, want = h.shape(0), grad = false },
    { ints { 3, 1, 2 }, { 1.5, 2 }, want = { 1, 3 }, dtype = i64, f32 = i64 },
  }
  rows.setxor1d = {
    { v, { 5, 3, 3 }, want = { 1, 2, 5 }, grad = false, int = i64 },
    { { nan, 1, nan }, { nan, 2 }, want = { 1, 2, nan }, grad = false },
    { v, {}, want = { 1, 2, 3 }, grad = false },
    { {}, {}, want = h.shape(0) },
  }
  rows.searchsorted = {
    { { 1, 2, 2, 4 }, { 0, 1, 2, 3, 9 }, want = { 1, 1, 2, 4, 5 }, dtype = i64, int = i64 },
    { { 1, 2, 2, 4 }, { 0, 1, 2, 3, 9 }, opts = { side = "right" }, want = { 1, 2, 4, 4, 5 }, dtype = i64, int = i64 },
    { { 1, 2, nan, nan }, { nan, inf }, want = { 3, 3 }, dtype = i64 },
    { { 1, 2, nan, nan }, { nan, inf }, opts = { side = "right" }, want = { 5, 3 }, dtype = i64 },
    { { 4, 1, 2 }, { { 1.5 }, { 4 } }, ints { 2, 3, 1 }, want = { { 2 }, { 3 } }, dtype = i64 },
    { {}, { 1, 2 }, want = { 1, 1 }, dtype = i64 },
    { damo.array({ 1, 3 }, "uint8"), 2, want = 2, dtype = i64 },
  }
  rows.digitize = {
    { { 0.5, 1, 1.5, 3, 9 }, { 1, 2, 3 }, want = { 1, 2, 2, 4, 4 }, dtype = i64 },
    { { 0.5, 1, 1.5, 3, 9 }, { 1, 2, 3 }, opts = { right = true }, want = { 1, 1, 2, 3, 4 }, dtype = i64 },
    { { 0.5, 1, 1.5, 3, 9 }, { 3, 2, 1 }, want = { 4, 3, 3, 1, 1 }, dtype = i64 },
    { { 0.5, 1, 1.5, 3, 9 }, { 3, 2, 1 }, opts = { right = true }, want = { 4, 4, 3, 2, 1 }, dtype = i64 },
  }
  rows.interp = {
    { { -1, 0.5, 2.5, 5 }, { 0, 1, 3 }, { 10, 20, 0 }, want = { 10, 15, 5, 0 } },
    { { -1, 0.5, 2.5, 5 }, { 0, 1, 3 }, { 10, 20, 0 }, opts = { left = -7, right = 7 }, want = { -7, 15, 5, 7 } },
    { { { 0.25 }, { 4.25 } }, { 3, 1, 2 }, { 30, 10, 20 }, opts = { period = 4 }, want = { { 17.5 }, { 17.5 } } },
    { { 1, 2, 3 }, { 2 }, { 5 }, want = { 5, 5, 5 }, grad = { 3 } },
    { { nan, 1 }, { 0, 1 }, { 0, 1 }, want = { nan, 1 }, grad = false },
    { {}, { 0, 1 }, { 0, 1 }, want = h.shape(0) },
  }
  rows.topk = {
    { v, opts = { k = 2 }, want = { 3, 3 }, int = i64, grad = false },
    { { 4, 1, 7, 3 }, opts = 3, want = { 7, 4, 3 } },
    { { 4, 1, 7, 3 }, opts = { k = -3 }, want = { 1, 3, 4 } },
    { m, opts = { k = 1, axis = 1 }, want = { { 1, 2, 5 } }, grad = false },
    { { { 5, 1, 2 }, { 3, 4, 9 } }, opts = { k = -2, axis = -1 }, want = { { 1, 2 }, { 3, 4 } } },
    { { 4, nan, 7 }, opts = 2, want = { nan, 7 }, grad = false },
    { { 4, nan, 7 }, opts = -2, want = { 4, 7 }, grad = false },
    { { 4, 1 }, opts = 0, want = h.shape(0) },
  }
  rows.argtopk = {
    { v, opts = { k = 4 }, want = { 1, 5, 6, 3 }, dtype = i64, int = i64 },
    { v, opts = { k = -3 }, want = { 2, 4, 3 }, dtype = i64 },
    { m, opts = { k = 1, axis = 1 }, want = { { 1, 1, 4 } }, dtype = i64 },
    { h.bools { false, true, true }, opts = 1, want = { 2 }, dtype = i64 },
  }
  rows.partition = {
    { { 4, 1, 7, 3 }, opts = { kth = { 1, 2, 3 } }, want = { 1, 3, 4, 7 }, int = i64 },
    { { 4, 1, 7, 3 }, opts = { kth = -4 }, check = function(y) assert(y[1] == 1) end },
    { { { 5, 1, 2 }, { 3, 4, 1 } }, opts = { kth = 1, axis = 1 }, want = { { 3, 1, 1 }, { 5, 4, 2 } } },
    { { nan, 1 }, opts = 1, want = { 1, nan }, grad = false },
  }
  rows.argpartition = {
    { { 4, 1, 7, 3 }, opts = { kth = { 1, 2, 3 } }, want = { 2, 4, 1, 3 }, dtype = i64, int = i64 },
    { { { 5, 1, 2 }, { 3, 4, 1 } }, opts = { kth = 2, axis = 1 }, want = { { 2, 1, 2 }, { 1, 2, 1 } }, dtype = i64 },
  }
  rows.lexsort = {
    { list { { 3, 1, 2, 1 }, { 0, 1, 0, 0 } }, want = { 4, 3, 1, 2 }, dtype = i64 },
    { list { { 3, 1, 2 } }, want = { 2, 3, 1 }, dtype = i64 },
    { list { { { 2, 1 }, { 1, 2 } } }, opts = { axis = 1 }, want = { { 2, 1 }, { 1, 2 } }, dtype = i64 },
  }
  rows.histogram = {
    { v, opts = { bins = 2 }, wants = { { 2, 4 }, { 1, 2, 3 } }, dtype = { i64, "float64" }, f32 = false,
      grad = false, layouts = false },
    { { 0.5, 1, 2, 9, nan }, opts = { bins = { 0, 1, 2.5 } }, wants = { { 1, 2 }, { 0, 1, 2.5 } }, dtype = { i64, "float64" },
      f32 = false, grad = false },
    { { 0.5, 1, 2, 9 }, { 1, 2, 3, 4 }, opts = { bins = 2, range = { 0, 2 }, density = true },
      wants = { { 1 / 6, 5 / 6 }, { 0, 1, 2 } }, grad = { 2 } },
    { {}, opts = { bins = 2 }, wants = { { 0, 0 }, { 0, 0.5, 1 } }, dtype = { i64, "float64" }, f32 = false },
    { { 0, 2 }, opts = { bins = { 0, 1, 2 } }, wants = { { 1, 1 }, { 0, 1, 2 } }, dtype = { i64, i64 } },
    { { 2, 2 }, opts = { bins = 2 }, wants = { { 0, 2 }, { 1.5, 2, 2.5 } }, dtype = { i64, "float64" }, f32 = false,
      grad = false },
  }
  rows.histogramdd = {
    { damo.array { { 0, 0, 0 }, { 1, 0.5, 2 }, { 2, 1, 2 }, { 2, 0, 1 } }, opts = { bins = { 2, 1, 2 } },
      wants = { { { { 1, 0 } }, { { 0, 3 } } }, { 0, 1, 2 }, { 0, 1 }, { 0, 1, 2 } },
      grad = false, f32 = false, compiled = false },
    { damo.array { { 0, 0 }, { 1, 0.5 }, { 2, 1 }, { 2, 0 } }, { 1, 2, 3, 4 }, opts = { bins = 2, density = true },
      wants = { { { 0.2, 0 }, { 0.8, 1 } }, { 0, 1, 2 }, { 0, 0.5, 1 } }, grad = false, f32 = false, compiled = false },
    { damo.array { { 0 }, { 1 }, { 9 } }, opts = { bins = 3, range = { 0, 3 } },
      wants = { { 1, 1, 0 }, { 0, 1, 2, 3 } }, grad = false, f32 = false, compiled = false },
  }
  rows.histogram2d = {
    { { 0, 1, 2, 2 }, { 0, 0, 1, 1 }, opts = { bins = 2 }, wants = { { { 1, 0 }, { 1, 2 } }, { 0, 1, 2 }, { 0, 0.5, 1 } },
      grad = false, f32 = false },
    { { 0, 1, 2, 5 }, { 0, 0, 1, 1 }, { 1, 2, 3, 4 }, opts = { bins = { 2, { 0, 1.5 } }, range = { { 0, 2 }, { 0, 9 } } },
      wants = { { { 1 }, { 5 } }, { 0, 1, 2 }, { 0, 1.5 } }, grad = { 3 }, f32 = false },
    { { 0, 1, 2, 2 }, { 0, 0, 1, 1 }, opts = { bins = { 1, 2 }, density = true },
      wants = { { { 0.5, 0.5 } }, { 0, 2 }, { 0, 0.5, 1 } }, grad = false, f32 = false },
  }
  return rows
end

-- The rows of running sums, sorting and differences.
return function(h)
  local inf, nan = h.plain.inf, h.plain.nan
  local m = { { 3, -1, 2 }, { 5, 4, -7 } }
  local rows = {}
  rows.cumsum = {
    { { 1, 2, 3.5 }, want = { 1, 3, 6.5 } },
    { m, want = { 3, 2, 4, 9, 13, 6 }, int = "int64" },
    { m, opts = { axis = 1 }, want = { { 3, -1, 2 }, { 8, 3, -5 } }, int = "int64" },
    { m, opts = -1, want = { { 3, 2, 4 }, { 5, 9, 2 } } },
    { {}, want = h.shape(0) },
    { { 1, nan, 2 }, want = { 1, nan, nan }, grad = false },
  }
  rows.cumprod = {
    { { 1, 2, 3.5 }, want = { 1, 2, 7 } },
    { m, want = { 3, -3, -6, -30, -120, 840 }, int = "int64" },
    { m, opts = { axis = 1 }, want = { { 3, -1, 2 }, { 15, -4, -14 } }, int = "int64" },
    { {}, want = h.shape(0) },
  }
  rows.sort = {
    { { 3, 1, 2 }, want = { 1, 2, 3 }, int = "int64" },
    { m, want = { { -1, 2, 3 }, { -7, 4, 5 } }, int = "int64" },
    { m, opts = { axis = 1 }, want = { { 3, -1, -7 }, { 5, 4, 2 } } },
    { { 2, nan, -inf, 1 }, want = { -inf, 1, 2, nan }, grad = false },
    { h.bools { true, false, true }, want = { false, true, true }, dtype = "bool" },
    { {}, want = h.shape(0) },
  }
  rows.argsort = {
    { { 3, 1, 2 }, want = { 2, 3, 1 }, dtype = "int64", int = "int64" },
    { m, opts = { axis = 1 }, want = { { 1, 1, 2 }, { 2, 2, 1 } }, dtype = "int64" },
    { { 1, 0, 1, 0 }, want = { 2, 4, 1, 3 }, dtype = "int64" },
    { { 1, 0, 1, 0 }, opts = { stable = true }, want = { 2, 4, 1, 3 }, dtype = "int64" },
    { { 2, nan, 1 }, want = { 3, 1, 2 }, dtype = "int64" },
  }
  rows.diff = {
    { { 1, 4, 9, 16 }, want = { 3, 5, 7 }, int = "int64" },
    { { 1, 4, 9, 16 }, opts = { n = 2 }, want = { 2, 2 }, int = "int64" },
    { m, opts = { axis = 1 }, want = { { 2, 5, -9 } } },
    { m, want = { { -4, 3 }, { -1, -11 } } },
    { { 5 }, want = h.shape(0) },
    { h.bools { true, false, false, true }, want = { true, false, true }, dtype = "bool" },
    { h.bools { true, false, false, true }, opts = { n = 2 }, want = { true, true }, dtype = "bool" },
  }
  return rows
end

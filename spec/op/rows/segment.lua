-- The rows of segments and scatters.
local damo = require "damo"

return function(h)
  local inf, nan = h.plain.inf, h.plain.nan
  local ints = h.ints
  local v, ids = { 1, 2, 3.5, -4, 5 }, ints { 1, 3, 1, 3, 3 }
  local m = { { 1, 2 }, { 3, 4 }, { -5, 6 }, { 7, 0 } }
  local mids = ints { 2, 1, 2, 4 }
  local rows = {}
  rows.segment_sum = {
    { v, ids, opts = { num_segments = 4 }, want = { 4.5, 0, 3, 0 } },
    { v, ids, want = { 4.5, 0, 3 } },
    { m, mids, opts = 4, want = { { 3, 4 }, { -4, 8 }, { 0, 0 }, { 7, 0 } }, int = "int64" },
    { {}, damo.zeros({ 0 }, "int64"), opts = { num_segments = 2 }, want = { 0, 0 } },
    { {}, damo.zeros({ 0 }, "int64"), want = h.shape(0) },
    { damo.zeros { 0, 3 }, damo.zeros({ 0 }, "int64"), opts = 1, want = { { 0, 0, 0 } } },
    { damo.array({ 100, 100, 1 }, "int8"), ints { 1, 1, 2 }, want = { 200, 1 }, dtype = "int64" },
    { { 1, nan, 2 }, ints { 1, 1, 2 }, want = { nan, 2 }, grad = false },
  }
  rows.segment_prod = {
    { v, ids, opts = { num_segments = 4 }, want = { 3.5, 1, -40, 1 } },
    { m, mids, want = { { 3, 4 }, { -5, 12 }, { 1, 1 }, { 7, 0 } }, int = "int64" },
    { { 0, 2, 3, 0, 0, 5 }, ints { 1, 1, 1, 2, 2, 2 }, want = { 0, 0 } },
  }
  rows.segment_max = {
    { v, ids, opts = { num_segments = 4 }, want = { 3.5, -inf, 5, -inf }, grad = false },
    { v, ints { 1, 2, 1, 2, 2 }, want = { 3.5, 5 }, int = false },
    { m, mids, want = { { 3, 4 }, { 1, 6 }, { -inf, -inf }, { 7, 0 } }, grad = false },
    { { 1, nan, 2 }, ints { 1, 1, 2 }, want = { nan, 2 }, grad = false },
    { ints { 3, 1 }, ints { 1, 1 }, opts = 2, want = { 3, -2 ^ 63 }, dtype = "int64" },
    { damo.array({ 3, 1 }, "uint8"), ints { 1, 1 }, opts = 2, want = { 3, 0 }, dtype = "uint8" },
    { h.bools { false, true }, ints { 1, 1 }, opts = 2, want = { true, false }, dtype = "bool" },
  }
  rows.segment_min = {
    { v, ids, opts = { num_segments = 4 }, want = { 1, inf, -4, inf }, grad = false },
    { v, ints { 1, 2, 1, 2, 2 }, want = { 1, -4 }, int = false },
    { m, mids, want = { { 3, 4 }, { -5, 2 }, { inf, inf }, { 7, 0 } }, grad = false },
    { { nan, 1, 2 }, ints { 1, 1, 2 }, want = { nan, 2 }, grad = false },
    { damo.array({ 3, 1 }, "int16"), ints { 2, 2 }, want = { 32767, 1 }, dtype = "int16" },
    { damo.array({ 3, 1 }, "uint32"), ints { 2, 2 }, want = { 4294967295, 1 }, dtype = "uint32" },
    { h.bools { true, true }, ints { 2, 2 }, want = { true, true }, dtype = "bool" },
  }
  rows.segment_mean = {
    { v, ids, opts = { num_segments = 4 }, want = { 2.25, 0, 1, 0 }, int = false },
    { m, mids, want = { { 3, 4 }, { -2, 4 }, { 0, 0 }, { 7, 0 } }, int = "float64" },
  }
  rows.bincount = {
    { ids, want = { 2, 0, 3 }, dtype = "int64" },
    { ids, opts = { minlength = 5 }, want = { 2, 0, 3, 0, 0 }, dtype = "int64" },
    { ids, v, want = { 4.5, 0, 3 } },
    { ids, ints { 1, 2, 3, 4, 5 }, opts = 4, want = { 4, 0, 11, 0 }, dtype = "int64" },
    { damo.array({ 2, 2 }, "uint8"), want = { 0, 2 }, dtype = "int64" },
    { damo.zeros({ 0 }, "int64"), want = h.shape(0), dtype = "int64" },
  }
  rows.scatter_add = {
    { v, ids, { 1, 2, 3, 4, 5 }, want = { 5, 2, 14.5, -4, 5 }, int = false },
    { v, ints { -1, 1 }, 2, want = { 3, 2, 3.5, -4, 7 } },
    { m, ints { { 4 }, { 4 } }, { { { 1, 2 } }, { { 3, 4 } } }, want = { { 1, 2 }, { 3, 4 }, { -5, 6 }, { 11, 6 } } },
    { m, damo.array(2, "int64"), { 1, -1 }, want = { { 1, 2 }, { 4, 3 }, { -5, 6 }, { 7, 0 } }, int = "int64" },
    { v, damo.zeros({ 0 }, "int64"), {}, want = v },
  }
  rows.scatter_max = {
    { v, ids, { 2, 2, 0, 9, 5.5 }, want = { 2, 2, 9, -4, 5 } },
    { v, ints { -1, 1 }, 2, want = { 2, 2, 3.5, -4, 5 } },
    { m, ints { { 4 }, { 4 } }, { { { 1, 2 } }, { { 8, 1 } } }, want = { { 1, 2 }, { 3, 4 }, { -5, 6 }, { 8, 2 } } },
    { m, damo.array(2, "int64"), { 1, 5 }, want = { { 1, 2 }, { 3, 5 }, { -5, 6 }, { 7, 0 } }, int = "int64" },
    { v, ints { 1 }, { nan }, want = { nan, 2, 3.5, -4, 5 }, grad = false },
  }
  rows.scatter_min = {
    { v, ids, { 2, 2, 0, 9, 5.5 }, want = { 0, 2, 2, -4, 5 } },
    { v, ints { -1, 1 }, 2.5, want = { 1, 2, 3.5, -4, 2.5 } },
    { m, ints { { 4 }, { 4 } }, { { { 1, 2 } }, { { 8, -1 } } }, want = { { 1, 2 }, { 3, 4 }, { -5, 6 }, { 1, -1 } } },
  }
  return rows
end

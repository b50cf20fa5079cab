-- The rows of grids, triangles and positions in flat tensors.
local damo = require "damo"

return function(h)
  local list, ints = h.list, h.ints
  local v, w = { 1, 2, 3 }, { 4, 5 }
  local m = { { 1, 2, 3 }, { 4, 5, 6 } }
  local two = { "int64", "int64" }
  local rows = {}
  rows.meshgrid = {
    { list { v, w }, wants = { { { 1, 2, 3 }, { 1, 2, 3 } }, { { 4, 4, 4 }, { 5, 5, 5 } } } },
    { list { v, w }, opts = "ij", wants = { { { 1, 1 }, { 2, 2 }, { 3, 3 } }, { { 4, 5 }, { 4, 5 }, { 4, 5 } } } },
    { list { v, w }, opts = { sparse = true }, wants = { { v }, { { 4 }, { 5 } } } },
    { list { v, w, { 6 } }, opts = { sparse = true, indexing = "ij" },
      wants = { { { { 1 } }, { { 2 } }, { { 3 } } }, { { { 4 }, { 5 } } }, { { { 6 } } } } },
    { list { v }, want = v },
    { list { damo.array(7.5), w }, wants = { { { 7.5 }, { 7.5 } }, { { 4 }, { 5 } } } },
  }
  rows.broadcast_arrays = {
    { list { v, { { 1 }, { 2 } } }, wants = { { v, v }, { { 1, 1, 1 }, { 2, 2, 2 } } } },
    { list { damo.array(2.5), w }, wants = { { 2.5, 2.5 }, w } },
    { list { w }, want = w },
  }
  rows.ix_ = {
    { list { ints { 1, 3 }, ints { -1 } }, wants = { { { 1 }, { 3 } }, { { -1 } } }, dtype = two },
    { list { h.bools { false, true, true }, ints { 2, 1 } }, wants = { { { 2 }, { 3 } }, { { 2, 1 } } }, dtype = two },
  }
  rows.tril_indices = {
    { 2, wants = { { 1, 2, 2 }, { 1, 1, 2 } }, dtype = two },
    { opts = { n = 2, k = 1, m = 3 }, wants = { { 1, 1, 2, 2, 2 }, { 1, 2, 1, 2, 3 } }, dtype = two },
    { damo.array(2, "int64"), opts = { k = -2 }, wants = { h.shape(0), h.shape(0) }, dtype = two },
  }
  rows.triu_indices = {
    { 2, wants = { { 1, 1, 2 }, { 1, 2, 2 } }, dtype = two },
    { opts = { n = 2, k = 1, m = 3 }, wants = { { 1, 1, 2 }, { 2, 3, 3 } }, dtype = two },
  }
  rows.tril_indices_from = {
    { m, wants = { { 1, 2, 2 }, { 1, 1, 2 } }, dtype = two, int = two },
    { m, opts = { k = 1 }, wants = { { 1, 1, 2, 2, 2 }, { 1, 2, 1, 2, 3 } }, dtype = two },
  }
  rows.triu_indices_from = {
    { m, wants = { { 1, 1, 1, 2, 2 }, { 1, 2, 3, 2, 3 } }, dtype = two },
    { m, opts = 2, wants = { { 1 }, { 3 } }, dtype = two },
  }
  rows.indices = {
    { opts = { 2, 3 }, want = { { { 1, 1, 1 }, { 2, 2, 2 } }, { { 1, 2, 3 }, { 1, 2, 3 } } }, dtype = "int64" },
    { opts = { shape = { 2, 3 }, sparse = true }, wants = { { { 1 }, { 2 } }, { { 1, 2, 3 } } }, dtype = two },
    { opts = { shape = { 2 } }, want = { { 1, 2 } }, dtype = "int64" },
    { opts = { shape = { 0, 2 } }, want = h.shape(2, 0, 2), dtype = "int64" },
  }
  rows.inverse_permutation = {
    { ints { 3, 1, 2 }, want = { 2, 3, 1 }, dtype = "int64" },
    { ints { { 3, 1, 2 }, { 1, 3, 2 } }, want = { { 2, 3, 1 }, { 1, 3, 2 } }, dtype = "int64" },
    { damo.array({ 2, 1 }, "uint8"), want = { 2, 1 }, dtype = "int64" },
    { damo.zeros({ 0 }, "int64"), want = h.shape(0), dtype = "int64" },
  }
  rows.broadcast_shape = {
    { list { v, { { 1 }, { 2 } } }, want = { 2, 3 }, dtype = "int64", compiled = false },
    { list { { { 1 } }, w }, want = { 1, 2 }, dtype = "int64", compiled = false },
    { list { w, w }, want = { 2 }, dtype = "int64" },
    { list { ints { 2, 1 }, ints { 3 } }, opts = { arrays_are_shapes = true }, want = { 2, 3 }, dtype = "int64",
      compiled = false, layouts = false },
    { list { damo.array(2.5) }, want = h.shape(0), dtype = "int64" },
  }
  rows.concat_with_broadcast = {
    { list { { { 1 }, { 2 } }, m }, opts = { axis = 2 }, want = { { 1, 1, 2, 3 }, { 2, 4, 5, 6 } }, int = "int64" },
    { list { { { 1 }, { 2 } }, m }, want = { { 1, 1, 1 }, { 2, 2, 2 }, { 1, 2, 3 }, { 4, 5, 6 } }, compiled = false },
    { list { v, w }, want = { 1, 2, 3, 4, 5 } },
    { list { ints { 1 }, w }, want = { 1, 4, 5 }, f32 = false },
  }
  rows.diag_indices = {
    { 2, wants = { { 1, 2 }, { 1, 2 } }, dtype = two },
    { damo.array(3, "int64"), opts = { ndim = 1 }, want = { 1, 2, 3 }, dtype = "int64" },
  }
  rows.unravel_index = {
    { ints { 1, 5, 6 }, opts = { shape = { 2, 3 } }, wants = { { 1, 2, 2 }, { 1, 2, 3 } }, dtype = two },
    { ints { { 2 } }, opts = { shape = { 2, 3 }, order = "F" }, wants = { { { 2 } }, { { 1 } } }, dtype = two },
    { damo.zeros({ 0 }, "int64"), opts = { 2, 3 }, wants = { h.shape(0), h.shape(0) }, dtype = two },
  }
  rows.ravel_multi_index = {
    { list { ints { 1, 2, 2 }, ints { 1, 2, 3 } }, opts = { shape = { 2, 3 } }, want = { 1, 5, 6 }, dtype = "int64" },
    { list { ints { 2 }, ints { 1 } }, opts = { shape = { 2, 3 }, order = "F" }, want = { 2 }, dtype = "int64" },
    { list { ints { 3, -1 }, ints { 9, -9 } }, opts = { shape = { 2, 3 }, mode = { "wrap", "clip" } }, want = { 3, 4 },
      dtype = "int64" },
  }
  rows.rot90 = {
    { m, want = { { 3, 6 }, { 2, 5 }, { 1, 4 } }, int = "int64" },
    { m, opts = -1, want = { { 4, 1 }, { 5, 2 }, { 6, 3 } } },
    { m, opts = { k = 2, axes = { 2, 1 } }, want = { { 6, 5, 4 }, { 3, 2, 1 } } },
    { m, opts = { k = 4 }, want = m },
    { m, opts = { k = 1, axes = { 2, 1 } }, want = { { 4, 1 }, { 5, 2 }, { 6, 3 } } },
  }
  rows.unpack = {
    { { 1, 2, 3, 4, 5 }, opts = { shapes = { { 2, 2 }, {} } }, wants = { { { 1, 2 }, { 3, 4 } }, 5 } },
    { { 1, 2, 3 }, opts = { shapes = { { 0 }, { 3 } } }, wants = { h.shape(0), { 1, 2, 3 } } },
  }
  return rows
end

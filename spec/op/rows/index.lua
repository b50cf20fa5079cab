-- The rows of indexing. x[{…}] itself is in spec/lua/index_spec.lua; these are the functions that implement it.
local damo = require "damo"

return function(h)
  local v, m = { 10, 20, 30, 40 }, { { 1, 2, 3 }, { 4, 5, 6 } }
  local list, ints = h.list, h.ints
  local function at(k) return damo.array(k, "int64") end
  local rows = {}
  rows.subtensor = {
    { v, list { at(2) }, opts = "i", want = 20, int = "int64" },
    { v, list { at(-1) }, opts = { spec = "i" }, want = 40 },
    { v, list { at(2), at(3) }, opts = "s110", want = { 20, 30 } },
    { v, list { at(1), at(-1), at(2) }, opts = "s111", want = { 10, 30 } },
    { v, list { at(-1), at(1), at(-1) }, opts = "s111", want = { 40, 30, 20, 10 } },
    { v, list { at(3), at(2) }, opts = "s110", want = h.shape(0) },
    { m, list { at(1) }, opts = "s000i", want = { 1, 4 } },
    { m, list { at(2) }, opts = "ei", want = { 2, 5 } },
    { v, list {}, opts = "ns000", want = { { 10, 20, 30, 40 } } },
    { v, list { ints { 4, 1, 1 } }, opts = "l", want = { 40, 10, 10 } },
    { m, list { h.bools { true, false } }, opts = "l", want = { { 1, 2, 3 } } },
    { m, list { at(2), ints { 3, 1 } }, opts = "il", want = { 6, 4 } },
    { v, list { ints { { 1, 2 }, { -1, -2 } } }, opts = "l", want = { { 10, 20 }, { 40, 30 } } },
  }
  rows.set_subtensor_at = {
    { v, damo.array(5.5), list { at(2) }, opts = "i", want = { 10, 5.5, 30, 40 } },
    { v, { 1, 2 }, list { at(2), at(3) }, opts = "s110", want = { 10, 1, 2, 40 } },
    { m, { 7, 8 }, list { at(-1) }, opts = "s000i", want = { { 1, 2, 7 }, { 4, 5, 8 } } },
    { v, { 1, 2 }, list { ints { 4, 1 } }, opts = "l", want = { 2, 20, 30, 1 } },
    { m, { { 9 } }, list { h.bools { false, true } }, opts = "l", want = { { 1, 2, 3 }, { 9, 9, 9 } } },
  }
  rows.inc_subtensor_at = {
    { v, damo.array(5.5), list { at(2) }, opts = "i", want = { 10, 25.5, 30, 40 } },
    { v, { 1, 2 }, list { at(2), at(3) }, opts = "s110", want = { 10, 21, 32, 40 } },
    { v, { 1, 2, 4 }, list { ints { 4, 1, 4 } }, opts = "l", want = { 12, 20, 30, 45 } },
    { m, { 1 }, list { at(1), at(-1), at(2) }, opts = "s000s111", want = { { 2, 2, 4 }, { 5, 5, 7 } } },
  }
  rows.take = {
    { v, ints { 2, -1, 2 }, want = { 20, 40, 20 } },
    { m, ints { 6, 1 }, want = { 6, 1 } },
    { m, ints { 3, 1 }, opts = { axis = 2 }, want = { { 3, 1 }, { 6, 4 } } },
    { m, at(2), opts = { axis = 1 }, want = { 4, 5, 6 } },
    { v, ints { { 1 }, { 2 } }, want = { { 10 }, { 20 } } },
  }
  rows.take[#rows.take + 1] = { v, ints { 5, -5, -4, 8 }, opts = { mode = "wrap" }, want = { 10, 40, 10, 40 } }
  rows.take[#rows.take + 1] = { m, ints { 9, -9 }, opts = { axis = 2, mode = "clip" }, want = { { 3, 1 }, { 6, 4 } } }
  rows.take_along_axis = {
    { m, ints { { 3 }, { 1 } }, opts = { axis = 2 }, want = { { 3 }, { 4 } } },
    { m, ints { { 2, 1, 2 } }, opts = { axis = 1 }, want = { { 4, 2, 6 } } },
    { v, ints { 4, 4 }, want = { 40, 40 } },
  }
  rows.one_hot = {
    { ints { 1, 3 }, 3, want = { { 1, 0, 0 }, { 0, 0, 1 } } },
    { ints { { 2 } }, 2, opts = { dtype = "int8" }, want = { { { 0, 1 } } }, dtype = "int8" },
    { at(2), 3, want = { 0, 1, 0 } },
    { damo.zeros({ 0 }, "int64"), 3, want = h.shape(0, 3) },
  }
  rows.to_one_hot = rows.one_hot
  rows.nonzero = {
    { { 0, 5, 0, -1 }, wants = { { 2, 4 } }, dtype = "int64", int = "int64" },
    { h.bools { { true, false }, { true, true } }, wants = { { 1, 2, 2 }, { 1, 1, 2 } }, dtype = { "int64", "int64" } },
    { { 0, 0 }, wants = { h.shape(0) }, dtype = "int64" },
  }
  rows.flatnonzero = {
    { { { 0, 5 }, { -1, 0 } }, want = { 2, 3 }, dtype = "int64", int = "int64" },
    { h.bools { true, false, true }, want = { 1, 3 }, dtype = "int64" },
    { {}, want = h.shape(0), dtype = "int64" },
  }
  rows.nonzero_values = {
    { { { 0, 5 }, { -1, 0 } }, want = { 5, -1 }, int = "int64", grad = false },
    { h.bools { true, false, true }, want = { true, true }, dtype = "bool" },
    { {}, want = h.shape(0) },
  }
  rows.argwhere = {
    { { { 0, 5 }, { -1, 0 } }, want = { { 1, 2 }, { 2, 1 } }, dtype = "int64", int = "int64" },
    { { 0, 2 }, want = { { 2 } }, dtype = "int64" },
    { damo.complex(damo.array { 0., 0, 1 }, damo.array { 0., 2, 0 }), want = { { 2 }, { 3 } }, dtype = "int64" },
    { damo.array(3), want = h.shape(1, 0), dtype = "int64" },
    { damo.array(0), want = h.shape(0, 0), dtype = "int64" },
  }
  rows.compress = {
    { h.bools { true, false, true }, v, want = { 10, 30 }, int = "int64" },
    { h.bools { false, true, true }, m, opts = { axis = 2 }, want = { { 2, 3 }, { 5, 6 } } },
    { ints { 0, 2 }, m, opts = 1, want = { { 4, 5, 6 } } },
    { h.bools { false, false, false, false, true }, m, want = { 5 } },
  }
  rows.extract = {
    { h.bools { { true, false, true }, { false, false, true } }, m, want = { 1, 3, 6 }, int = "int64" },
    { ints { 0, 0, 0, 0 }, v, want = h.shape(0) },
  }
  rows.choose = {
    { ints { 1, 3, 2, 1 }, list { v, { 1, 2, 3, 4 }, { 5 } }, want = { 10, 5, 3, 40 } },
    { ints { 0 + 1, 5, -1, 3 }, list { v, { 1, 2, 3, 4 } }, opts = { mode = "wrap" }, want = { 10, 20, 3, 40 } },
    { ints { 1, 5, -1, 3 }, list { v, { 1, 2, 3, 4 } }, opts = "clip", want = { 10, 2, 30, 4 } },
    { ints { { 1 }, { 2 } }, list { { 1, 2 }, { 3, 4 } }, want = { { 1, 2 }, { 3, 4 } } },
    { ints { 1, 1 }, list { damo.array(7.5) }, want = { 7.5, 7.5 } },
  }
  rows.put = {
    { m, ints { 2, -1 }, { 7, 8 }, want = { { 1, 7, 3 }, { 4, 5, 8 } }, int = "int64" },
    { m, ints { { 1, 2 }, { 3, 1 } }, { 7, 8, 9, 10 }, want = { { 10, 8, 9 }, { 4, 5, 6 } } },
    { m, ints { 1, 2, 3 }, { 7, 8 }, want = { { 7, 8, 7 }, { 4, 5, 6 } } },
    { m, ints { 8, -7 }, { 7, 8 }, opts = "wrap", want = { { 1, 7, 3 }, { 4, 5, 8 } } },
    { m, ints { 9, -9 }, 0, opts = { mode = "clip" }, want = { { 0, 2, 3 }, { 4, 5, 0 } } },
  }
  rows.put_along_axis = {
    { m, ints { { 3 }, { 1 } }, { { 7 }, { 8 } }, want = { { 1, 2, 7 }, { 8, 5, 6 } }, int = "int64" },
    { m, ints { { 2, 1, 2 } }, { { 7, 8, 9 } }, opts = 1, want = { { 1, 8, 3 }, { 7, 5, 9 } } },
    { v, ints { 4, 4 }, { 7, 8 }, want = { 10, 20, 30, 8 } },
  }
  rows.fill_diagonal = {
    { m, 9, want = { { 9, 2, 3 }, { 4, 9, 6 } } },
    { m, { 7, 8 }, want = { { 7, 2, 3 }, { 4, 8, 6 } }, int = "int64" },
    { { { 1, 2 }, { 3, 4 }, { 5, 6 }, { 7, 8 } }, damo.array(0.5), want = { { 0.5, 2 }, { 3, 0.5 }, { 5, 6 }, { 7, 8 } } },
    { { { 1, 2 }, { 3, 4 }, { 5, 6 }, { 7, 8 } }, damo.array(0.5), opts = { wrap = true },
      want = { { 0.5, 2 }, { 3, 0.5 }, { 5, 6 }, { 0.5, 8 } } },
    { { { { 1, 2 }, { 3, 4 } }, { { 5, 6 }, { 7, 8 } } }, 0, want = { { { 0, 2 }, { 3, 4 } }, { { 5, 6 }, { 7, 0 } } } },
    { { { 1 }, { 2 } }, 0, want = { { 0 }, { 2 } } },
  }
  return rows
end

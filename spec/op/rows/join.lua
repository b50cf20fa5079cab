-- The rows of the functions that join and split arrays.
local damo = require "damo"

return function(h)
  local a, b = { { 1, 2 }, { 3, 4 } }, { { 5, 6 } }
  local wide = { { 1, 2, 3 }, { 4, 5, 6 } }
  local list = h.list
  local rows = {}
  rows.join = {
    { 1, list { a, b }, want = { { 1, 2 }, { 3, 4 }, { 5, 6 } }, int = false },
    { 2, list { a, a }, want = { { 1, 2, 1, 2 }, { 3, 4, 3, 4 } } },
    { -1, list { { 1, 2 }, { 3 }, { 4, 5 } }, want = { 1, 2, 3, 4, 5 } },
    { 1, list { { 1, 2 }, {} }, want = { 1, 2 } },
    { 1, list { h.ints { 1 }, { 2.5 } }, want = { 1, 2.5 }, f32 = false },
    { 1, list { a }, want = a },
  }
  rows.concatenate = { { list { a, b }, opts = { axis = 1 }, want = { { 1, 2 }, { 3, 4 }, { 5, 6 } } }, { list { { 1 }, { 2 } }, want = { 1, 2 } },
    { list { a, a }, opts = 2, want = { { 1, 2, 1, 2 }, { 3, 4, 3, 4 } } } }
  rows.stack = {
    { list { { 1, 2 }, { 3, 4 } }, want = { { 1, 2 }, { 3, 4 } } },
    { list { { 1, 2 }, { 3, 4 } }, opts = { axis = 2 }, want = { { 1, 3 }, { 2, 4 } } },
    { list { { 1, 2 }, { 3, 4 } }, opts = { axis = -1 }, want = { { 1, 3 }, { 2, 4 } } },
    { list { damo.array(1.5), 2, damo.array(3.0) }, want = { 1.5, 2, 3 } },
  }
  rows.vstack = { { list { { 1, 2 }, { 3, 4 } }, want = { { 1, 2 }, { 3, 4 } } }, { list { a, b }, want = { { 1, 2 }, { 3, 4 }, { 5, 6 } } } }
  rows.hstack = { { list { { 1, 2 }, { 3 } }, want = { 1, 2, 3 } }, { list { a, a }, want = { { 1, 2, 1, 2 }, { 3, 4, 3, 4 } } } }
  rows.split = {
    { { 1, 2, 3, 4, 5 }, opts = { 2, 3 }, wants = { { 1, 2 }, { 3, 4, 5 } }, int = "int64" },
    { a, opts = { sizes = { 1, 1 }, axis = 2 }, wants = { { { 1 }, { 3 } }, { { 2 }, { 4 } } } },
    { { 1, 2 }, opts = { sizes = { 0, 2 } }, wants = { h.shape(0), { 1, 2 } } },
    { { 1, 2 }, opts = { sizes = { 2 } }, wants = { { 1, 2 } } },
  }
  rows.tile = { { { 1, 2 }, opts = 2, want = { 1, 2, 1, 2 }, int = "int64" }, { { 1, 2 }, opts = { reps = { 2, 2 } }, want = { { 1, 2, 1, 2 }, { 1, 2, 1, 2 } } },
    { a, opts = { 1, 2 }, want = { { 1, 2, 1, 2 }, { 3, 4, 3, 4 } } }, { { 1, 2 }, opts = { 0 }, want = h.shape(0) } }
  rows.repeat_ = {
    { { 1, 2 }, 2, want = { 1, 1, 2, 2 } },
    { a, 2, opts = { axis = 1 }, want = { { 1, 2 }, { 1, 2 }, { 3, 4 }, { 3, 4 } } },
    { a, h.ints { 1, 2 }, opts = { axis = 2 }, want = { { 1, 2, 2 }, { 3, 4, 4 } } },
    { { 1, 2, 3 }, h.ints { 0, 2, 1 }, want = { 2, 2, 3 } },
  }
  rows.roll = { { { 1, 2, 3, 4 }, 1, want = { 4, 1, 2, 3 } }, { { 1, 2, 3, 4 }, -1, want = { 2, 3, 4, 1 } }, { a, 1, opts = { axis = 1 }, want = { { 3, 4 }, { 1, 2 } } },
    { a, 1, want = { { 4, 1 }, { 2, 3 } } }, { { 1, 2, 3 }, 7, want = { 3, 1, 2 } }, { {}, 1, want = h.shape(0) },
    { wide, h.ints { 1, 2 }, opts = { axis = { 1, 2 } }, want = { { 5, 6, 4 }, { 2, 3, 1 } } },
    { wide, h.ints { 2, 1 }, opts = { axis = { -1, 1 } }, want = { { 5, 6, 4 }, { 2, 3, 1 } } },
    { wide, h.ints { 1, 1 }, opts = { axis = 2 }, want = { { 2, 3, 1 }, { 5, 6, 4 } } },
    { wide, h.ints { 1, -3, 1 }, want = { { 2, 3, 4 }, { 5, 6, 1 } } } }
  rows.pad = {
    { { 1, 2 }, opts = 1, want = { 0, 1, 2, 0 }, int = "int64" },
    { { 1, 2 }, opts = { pad_width = { 1, 2 }, constant_values = 9 }, want = { 9, 1, 2, 9, 9 } },
    { { 1, 2, 3 }, opts = { pad_width = 2, mode = "edge" }, want = { 1, 1, 1, 2, 3, 3, 3 } },
    { { 1, 2, 3 }, opts = { pad_width = 2, mode = "wrap" }, want = { 2, 3, 1, 2, 3, 1, 2 } },
    { { 1, 2, 3 }, opts = { pad_width = 2, mode = "reflect" }, want = { 3, 2, 1, 2, 3, 2, 1 } },
    { { 1, 2, 3 }, opts = { pad_width = 2, mode = "symmetric" }, want = { 2, 1, 1, 2, 3, 3, 2 } },
    { { 1, 2 }, opts = { pad_width = 5, mode = "reflect" }, want = { 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1 } },
    { b, opts = { pad_width = { { 1, 0 }, { 0, 1 } } }, want = { { 0, 0, 0 }, { 5, 6, 0 } } },
  }
  return rows
end

-- The rows of the functions that make arrays.
local damo = require "damo"

return function(h)
  local m = { { 1, 2, 3 }, { 4, 5, 6 } }
  local rows = {}
  rows.alloc = {
    { 2.5, opts = { shape = { 2, 2 } }, want = { { 2.5, 2.5 }, { 2.5, 2.5 } } },
    { damo.array(1.5), opts = { 3 }, want = { 1.5, 1.5, 1.5 } },
    { { 1, 2 }, opts = { 2, 2 }, want = { { 1, 2 }, { 1, 2 } }, int = "int64" },
    { { { 1 }, { 2 } }, opts = { shape = { 2, 3 } }, want = { { 1, 1, 1 }, { 2, 2, 2 } } },
    { { 1 }, opts = { 0 }, want = h.shape(0) },
  }
  local list = h.list
  rows.full = {
    { list { 2 }, 2.5, want = { 2.5, 2.5 } },
    { 2, 3, opts = "int32", want = { 3, 3 }, dtype = "int32" },
    { list { 1, 2 }, true, want = { { true, true } }, dtype = "bool" },
    { list { 2 }, damo.array(1.5), want = { 1.5, 1.5 } },
    { list { 0 }, 1, want = h.shape(0) },
  }
  rows.zeros = {
    { opts = { 2, 3 }, want = { { 0, 0, 0 }, { 0, 0, 0 } } },
    { opts = 2, want = { 0, 0 } },
    { opts = { shape = { 2 }, dtype = "int8" }, want = { 0, 0 }, dtype = "int8" },
    { opts = { 0, 3 }, want = h.shape(0, 3) },
    { opts = { shape = {} }, want = 0 },
  }
  rows.ones = { { opts = { 2 }, want = { 1, 1 } }, { opts = { shape = 2, dtype = "bool" }, want = { true, true }, dtype = "bool" } }
  local function shaped(text, dtype)
    return function(a)
      assert(a.dtype == dtype, a.dtype)
      assert(table.concat(a.shape, ",") == text, table.concat(a.shape, ","))
    end
  end
  rows.empty = { { opts = { 2, 3 }, check = shaped("2,3", "float64") }, { opts = { shape = 4, dtype = "int16" }, check = shaped("4", "int16") } }
  rows.zeros_like = { { m, want = { { 0, 0, 0 }, { 0, 0, 0 } }, grad = false, int = "int64" },
    { m, opts = "int32", want = { { 0, 0, 0 }, { 0, 0, 0 } }, dtype = "int32" }, { damo.zeros { 0, 2 }, want = h.shape(0, 2), grad = false },
    { damo.array(2.5), want = 0, grad = false } }
  rows.ones_like = { { m, want = { { 1, 1, 1 }, { 1, 1, 1 } }, grad = false, int = "int64" }, { { 5 }, opts = { dtype = "bool" }, want = { true }, dtype = "bool" } }
  rows.full_like = { { m, 7, want = { { 7, 7, 7 }, { 7, 7, 7 } }, grad = false, int = "int64" }, { { 1, 2 }, 2.5, opts = "float32", want = { 2.5, 2.5 }, dtype = "float32", grad = false },
    { { 1, 2 }, damo.array(2.5), want = { 2.5, 2.5 }, grad = { 2 } } }
  rows.empty_like = { { m, check = shaped("2,3", "float64") }, { m, opts = "int8", check = shaped("2,3", "int8") } }
  rows.eye = {
    { 2, want = { { 1, 0 }, { 0, 1 } } },
    { 2, 3, 1, want = { { 0, 1, 0 }, { 0, 0, 1 } } },
    { 3, 2, -1, opts = { dtype = "int64" }, want = { { 0, 0 }, { 1, 0 }, { 0, 1 } }, dtype = "int64" },
    { damo.array(2, "int64"), want = { { 1, 0 }, { 0, 1 } } },
    { 0, want = h.shape(0, 0) },
  }
  local least = damo.array(-2 ^ 63, "int64")
  local most = damo.array(damo.invert(least), "int64")
  rows.tri = { { 2, 3, want = { { 1, 0, 0 }, { 1, 1, 0 } } }, { 2, 2, 1, want = { { 1, 1 }, { 1, 1 } } },
    { 2, 2, most, want = { { 1, 1 }, { 1, 1 } } },
    { 2, 2, least, want = { { 0, 0 }, { 0, 0 } } }, { 3, want = { { 1, 0, 0 }, { 1, 1, 0 }, { 1, 1, 1 } } } }
  rows.arange = {
    { 3, want = { 0, 1, 2 }, dtype = "int64" },
    { 1, 4, want = { 1, 2, 3 }, dtype = "int64" },
    { 5, 0, -2, want = { 5, 3, 1 }, dtype = "int64" },
    { 0, 1, 0.25, want = { 0, 0.25, 0.5, 0.75 } },
    { 3, opts = { dtype = "float32" }, want = { 0, 1, 2 }, dtype = "float32" },
    { damo.array(1, "int64"), damo.array(3, "int64"), want = { 1, 2 }, dtype = "int64" },
    { 0, want = h.shape(0), dtype = "int64" },
    { 4, 1, want = h.shape(0), dtype = "int64" },
  }
  rows.linspace = {
    { 0, 1, opts = { num = 5 }, want = { 0, 0.25, 0.5, 0.75, 1 } },
    { 2, 5, 4, want = { 2, 3, 4, 5 } },
    { 3, 9, opts = { num = 1 }, want = { 3 } },
    { 3, 9, opts = { num = 0 }, want = h.shape(0) },
    { damo.array(0.0), damo.array(2.0), opts = { num = 3 }, want = { 0, 1, 2 }, f32 = "float64" },
  }
  return rows
end

-- Permutations of sparse matrices, against dense tables.
local damo = require "damo"
local s = require "spec.sparse.support"
local t = require "spec.sparse.tables"
local sparse = damo.sparse

describe("permute", function()
  local rows, cols = { 3, 1, 4, 2 }, { 5, 1, 2, 3, 4 }
  it("permutes rows and columns", function()
    local function fn(x) return sparse.permute(x, rows, cols) end
    t.check_all(fn, function(a) return t.map(a, function(_, i, j) return a[rows[i]][cols[j]] end) end)
    for _, format in ipairs(s.formats) do
      t.check_derivatives(fn, { s.matrix { format = format } })
      t.check_derivatives(fn, { s.matrix { format = format, dtype = "complex128" } })
    end
    s.check_second(function(x) return sparse.square(fn(x)) end, { s.matrix {} }, { tol = 1e-5 })
  end)
  it("takes positions as Variables", function()
    local r, x = damo.tensor("r", { dtype = "int64", ndim = 1 }), sparse.csr_matrix "x"
    local f = damo.compile({ x, r }, sparse.permute(x, r, damo.constant(damo.array(cols, "int64"))))
    local a = s.matrix {}
    s.same_storage(f(a, damo.array(rows, "int64")), sparse.permute(a, rows, cols))
  end)
  it("refuses wrong arguments", function()
    local a = s.matrix {}
    s.raises("value", "permute: rows is no permutation of 1 to 4: entry 2 is 1, for the second time",
      function() sparse.permute(a, { 1, 1, 2, 3 }, cols) end)
    s.raises("value", "permute: cols is no permutation of 1 to 5: entry 5 is 6",
      function() sparse.permute(a, rows, { 1, 2, 3, 4, 6 }) end)
    s.raises("shape", nil, function() sparse.permute(a, { 1, 2 }, cols) end)
  end)
  it("has a shape that needs no values", function()
    local function fn(x) return sparse.permute(x, { 4, 3, 2, 1 }, { 2, 1, 3, 4, 5 }) end
    t.check_shape(fn, { s.matrix {} }, "Permute")
  end)
end)

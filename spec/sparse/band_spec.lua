-- Triangles and traces of sparse matrices, against dense tables.
local damo = require "damo"
local s = require "spec.sparse.support"
local t = require "spec.sparse.tables"
local sparse = damo.sparse

describe("tril and triu", function()
  for k = -2, 3 do
    it(("keep diagonals on one side of %d"):format(k), function()
      local function low(x) return sparse.tril(x, { k = k }) end
      local function high(x) return sparse.triu(x, { k = k }) end
      t.check_all(low, function(a) return t.map(a, function(v, i, j) return j - i <= k and v or 0 end) end)
      t.check_all(high, function(a) return t.map(a, function(v, i, j) return j - i >= k and v or 0 end) end)
      for _, format in ipairs(s.formats) do
        for _, dtype in ipairs { "float64", "complex128" } do
          t.check_derivatives(low, { s.matrix { format = format, dtype = dtype } })
          t.check_derivatives(high, { s.matrix { format = format, dtype = dtype } })
        end
      end
    end)
  end

  it("have second derivatives, and are called by the tensor functions", function()
    s.check_second(function(x) return sparse.square(damo.tril(x)) end, { s.matrix {} }, { tol = 1e-5 })
    local a = s.matrix {}
    s.same_storage(damo.triu(a, { k = 1 }), sparse.triu(a, { k = 1 }))
    assert.equal(0, sparse.tril(a, { k = math.mininteger }).nnz)
    assert.equal(a.nnz, sparse.tril(a, { k = math.maxinteger }).nnz)
  end)

  it("work on huge shapes", function()
    assert.equal(4, sparse.triu(s.huge { rows = 4, cols = 33 }).nnz)
    assert.equal(0, sparse.tril(s.huge { rows = 4, cols = 33 }).nnz)
  end)
  it("have shapes that need no values", function()
    t.check_shape(sparse.tril, { s.matrix {} }, "Band")
  end)
end)

describe("trace", function()
  local function reference(a)
    local sum = 0
    for i = 1, math.min(#a, #a[1]) do sum = sum + a[i][i] end
    return sum
  end
  it("is the sum of the main diagonal, of any shape", function()
    t.check_all(sparse.trace, reference)
    t.check_all(sparse.trace, reference, nil, 5, 3)
    assert.equal(0, sparse.trace(sparse.csr_from_dense(damo.zeros { 0, 0 })))
  end)
  it("is the sum of another one with an offset", function()
    local function fn(x) return damo.trace(x, { offset = -2 }) end
    t.check_all(fn, function(a) return a[3][1] + a[4][2] end)
    t.check_derivatives(fn, { s.matrix {} })
  end)
  it("has gradients at every position of the diagonal", function()
    for _, format in ipairs(s.formats) do
      for _, dtype in ipairs { "float64", "complex128" } do
        t.check_derivatives(sparse.trace, { s.matrix { format = format, dtype = dtype } })
      end
    end
    sparse.verify_grad_sparse(sparse.trace, { s.matrix {} })
    s.check_second(function(x) return damo.sqr(sparse.trace(x)) end, { s.matrix {} }, { tol = 1e-5 })
  end)
end)

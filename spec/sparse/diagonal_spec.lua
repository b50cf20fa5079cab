-- The k-th diagonal of sparse matrices, against dense tables.
local damo = require "damo"
local s = require "spec.sparse.support"
local t = require "spec.sparse.tables"
local sparse = damo.sparse

local function reference(k)
  return function(a)
    local list = {}
    for i = 1, #a do
      if a[i][i + k] ~= nil then list[#list + 1] = a[i][i + k] end
    end
    return #list > 0 and list or damo.zeros { 0 }
  end
end

describe("diagonal", function()
  for k = -5, 6 do
    it(("is the diagonal %d of any shape"):format(k), function()
      local function fn(x) return sparse.diagonal(x, { k = k }) end
      t.check_all(fn, reference(k), s.dtypes)
      t.check_all(fn, reference(k), nil, 5, 3)
    end)
  end

  it("has gradients at every position of the diagonal", function()
    for _, k in ipairs { -9, -2, -1, 0, 1, 2, 9 } do
      local function fn(x) return sparse.diagonal(x, { k = k }) end
      for _, format in ipairs(s.formats) do
        for _, dtype in ipairs { "float64", "complex128" } do
          t.check_derivatives(fn, { s.matrix { format = format, dtype = dtype } })
          t.check_derivatives(fn, { s.matrix { format = format, dtype = dtype, rows = 5, cols = 2 } })
        end
        t.check_derivatives(fn, { s.matrix { format = format, kind = "duplicates" } })
        sparse.verify_grad_sparse(fn, { s.matrix { format = format } })
        s.check_second(function(x) return damo.sqr(fn(x)) end, { s.matrix { format = format } }, { tol = 1e-5 })
      end
    end
  end)

  it("has a gradient with only that diagonal, in x's format, zeros stored", function()
    local a, weights = s.matrix { format = "csc" }, damo.array { 5, 0, 7, 8.5 }
    local x = sparse.csc_matrix "x"
    local g = damo.grad(damo.sum(x:diagonal(1) * weights), x)
    s.same_storage(damo.compile({ x }, g)(a), sparse.csc {
      data = weights, indices = { 0, 1, 2, 3 }, indptr = { 0, 0, 1, 2, 3, 4 }, shape = { 4, 5 },
    })
  end)

  it("is complete if it is long", function()
    local want = damo.arange(1.0, 1001)
    for _, format in ipairs(s.formats) do
      for _, k in ipairs { -300, 300 } do
        local a = sparse.diags({ want, 5 }, { k, k + 1 }, { format = format, shape = { 1300, 1300 } })
        assert.is_true(damo.array_equal(want, a:diagonal(k)))
      end
    end
  end)

  it("is a method, takes k without its name, and is called by damo.diagonal", function()
    local a, x = s.matrix {}, sparse.csr_matrix "x"
    local want = sparse.diagonal(a, { k = -1 })
    for _, got in ipairs { a:diagonal(-1), a:diagonal { k = -1 }, damo.diagonal(a, { offset = -1 }),
      x:diagonal(-1):eval { [x] = a }, damo.diagonal(x, { offset = -1 }):eval { [x] = a } } do
      assert.is_true(damo.array_equal(want, got))
    end
    assert.is_true(damo.array_equal(sparse.diag(s.matrix { cols = 4 }), s.matrix { cols = 4 }:diagonal()))
    local dense = damo.dmatrix "d"
    local slope = damo.grad(damo.sum(sparse.csr_from_dense(dense):diagonal(1)), dense)
    assert.same(4, damo.sum(slope:eval { [dense] = s.dense(4, 5) }))
  end)

  it("has its length from the Type or without being computed", function()
    local x = sparse.csr_matrix("x", { shape = { 4, 7 } })
    assert.same({ 4, 4, 2, 0, 3, 0 }, { x:diagonal().type.shape[1], x:diagonal(3).type.shape[1],
      x:diagonal(5).type.shape[1], x:diagonal(7).type.shape[1], x:diagonal(-1).type.shape[1],
      x:diagonal(math.mininteger).type.shape[1] })
    for _, k in ipairs { -6, -2, 0, 3, 8 } do
      t.check_shape(function(y) return y:diagonal(k) end, { s.matrix {} }, "Diagonal")
    end
  end)

  it("needs memory for the result only, on huge shapes", function()
    local a = s.huge { rows = 4, cols = 33 } -- (i, 2^33 - i + 1)
    local last = 2 ^ 33 - 4
    assert.is_true(damo.array_equal(a:diagonal(last + 3), damo.array { 1.5 }))
    assert.is_true(damo.array_equal(a:diagonal(last + 1), damo.array { 0, 2.5, 0 }))
    assert.equal(16, a:diagonal(last - 100).shape[1])
    local x = sparse.csr_matrix "x"
    local g = damo.grad(damo.sum(damo.sqr(x:diagonal(last + 1))), x):eval { [x] = a }
    assert.same({ 3, 5 }, { g.nnz, g[{ 2, -2 }] })
    assert.equal(0, a:diagonal(-16).shape[1])
  end)

  it("refuses wrong arguments", function()
    local a = s.matrix {}
    s.raises("value", "sparse.diagonal: k and offset are the same thing: give one of them",
      function() return sparse.diagonal(a, { k = 1, offset = 1 }) end)
    s.raises("value", "sparse.diagonal: unknown option 'axis1': the options are k, offset",
      function() return damo.diagonal(sparse.csr_matrix "x", { axis1 = 2, axis2 = 1 }) end)
    s.raises("type", nil, function() return sparse.diagonal(damo.eye(3)) end)
    s.raises("type", "Diagonal: k, the diagonal, must be an integer", function() return sparse.Diagonal { k = "a" } end)
    local v, x = damo.vector "v", sparse.csr_matrix "x"
    local f = damo.compile({ v, x }, sparse.PutDiagonal { k = 1 }(v, x))
    s.raises("shape", "PutDiagonal: the vector has 3 entries, the diagonal 4",
      function() return f(damo.ones { 3 }, a) end)
  end)
end)

-- Norms of sparse matrices, against dense tables.
local damo = require "damo"
local s = require "spec.sparse.support"
local t = require "spec.sparse.tables"
local sparse = damo.sparse

describe("norm", function()
  local function size(v) return math.abs(v) end
  local function column_sum(a)
    local most = 0
    for _, column in ipairs(t.transposed(a)) do
      local sum = 0
      for _, v in ipairs(column) do sum = sum + size(v) end
      most = math.max(most, sum)
    end
    return most
  end
  local function frobenius(a)
    local sum = 0
    for _, row in ipairs(a) do
      for _, v in ipairs(row) do sum = sum + v * v end
    end
    return math.sqrt(sum)
  end
  local references = {
    fro = frobenius, [1] = column_sum,
    inf = function(a) return column_sum(t.transposed(a)) end,
  }
  for order, reference in pairs(references) do
    it("of order " .. order, function()
      t.check_all(function(x) return sparse.norm(x, order) end, reference)
      t.check_derivatives(function(x) return sparse.norm(x, order) end, { s.matrix {} }, { tol = 1e-5 })
      t.check_derivatives(function(x) return sparse.norm(x, { ord = order }) end,
        { s.matrix { format = "csc", kind = "duplicates" } }, { tol = 1e-5 })
    end)
  end
  local vectors = {
    { "2, unsaid", nil, function(v) return frobenius { v } end }, { "2", 2, function(v) return frobenius { v } end },
    { "1", 1, function(v) return column_sum(t.transposed { v }) end },
    { "inf", "inf", function(v)
      local most = 0
      for _, x in ipairs(v) do most = math.max(most, size(x)) end
      return most
    end },
    { "-inf", "-inf", function(v)
      local least = math.huge
      for _, x in ipairs(v) do least = math.min(least, size(x)) end
      return least
    end },
    { "3", 3, function(v)
      local sum = 0
      for _, x in ipairs(v) do sum = sum + size(x) ^ 3 end
      return sum ^ (1 / 3)
    end },
    { "0.5", 0.5, function(v)
      local sum = 0
      for _, x in ipairs(v) do sum = sum + size(x) ^ 0.5 end
      return sum ^ 2
    end },
  }
  local function each(rows, f)
    local out = {}
    for i, row in ipairs(rows) do out[i] = f(row) end
    return out
  end
  for _, row in ipairs(vectors) do
    local function norms(axis)
      return function(x) return sparse.norm(x, { ord = row[2], axis = axis }) end
    end
    it("of columns and rows, of order " .. row[1], function()
      for _, dtypes in ipairs { { "float32", "float64" }, { "int64", "int8" } } do
        t.check_all(norms(1), function(a) return each(t.transposed(a), row[3]) end, dtypes)
        t.check_all(norms(2), function(a) return each(a, row[3]) end, dtypes)
        t.check_all(norms(-1), function(a) return each(a, row[3]) end, dtypes)
      end
      for _, dtype in ipairs { "complex64", "complex128" } do
        for axis = 1, 2 do
          local m = s.matrix { dtype = dtype, kind = "duplicates" }
          local got = s.same_everywhere(norms(axis), { m })[1]
          assert.equal(dtype == "complex64" and "float32" or "float64", got.dtype)
          s.close(got, norms(axis)(sparse.csr_from_dense(damo.abs(m:toarray()))))
        end
      end
      for axis = 1, 2 do t.check_shape(norms(axis), { s.matrix {} }, "Sp") end
    end)

    it("of columns and rows, of order " .. row[1] .. ", has derivatives", function()
      for axis = 1, 2 do
        for _, kind in ipairs { "plain", "unsorted", "duplicates", "nnz0" } do
          for _, format in ipairs(s.formats) do
            t.check_derivatives(norms(axis), { s.matrix { format = format, kind = kind } }, { tol = 1e-5 })
          end
        end
        -- (-inf: all rows and columns have an absent entry)
        local full = sparse.csc_from_dense(s.dense(4, 5))
        t.check_derivatives(norms(axis), { full }, { tol = 1e-5 })
        if row[2] ~= "-inf" then
          t.check_derivatives(norms(axis), { s.matrix { dtype = "complex128" } }, { tol = 1e-5 })
        end
        s.check_second(function(x) return damo.sqr(norms(axis)(x)) end, { s.matrix { kind = "unsorted" } },
          { tol = 1e-4 })
      end
    end)
  end

  it("of the whole matrix has the bits of the sum of squares, in one pass", function()
    for _, dtype in ipairs { "float32", "float64", "complex64", "complex128" } do
      for _, n in ipairs { 1, 9, 600, 5000 } do
        local re, im = damo.random.normal(0, 1, { size = { n } }), damo.random.normal(0, 1, { size = { n } })
        local data = damo.cast(dtype:match "complex" and damo.complex(re, im) or re, dtype)
        local columns = {}
        for k = 1, n do columns[k] = k - 1 end
        local a = sparse.csr { data = data, indices = columns, indptr = { 0, n }, shape = { 1, n } }
        local squares = damo.sqr(damo.real(data))
        if dtype:match "complex" then squares = squares + damo.sqr(damo.imag(data)) end
        for _, got in ipairs(s.same_everywhere(sparse.norm, { a })) do
          assert.equal(damo.sqrt(damo.sum(squares, { axis = 1, keepdims = true }))[1], got)
        end
      end
    end
    local x = sparse.csr_matrix("x", { dtype = "complex128" })
    local text = damo.printing.debugprint(sparse.norm(x), { file = "str" })
    assert.truthy(text:find("SumSqr", 1, true))
    s.check_second(sparse.norm, { s.matrix { dtype = "complex128" } }, { tol = 1e-4 })
  end)

  it("keeps the axis as a dimension of 1 with keepdims", function()
    local a = sparse.csr { { 3, 0, -4 }, { 0, 2, 0 } }
    local x = sparse.csr_matrix "x"
    for _, c in ipairs {
      { { axis = 2 }, { { 5 }, { 2 } } }, { { axis = 1, ord = 1 }, { { 3, 2, 4 } } },
      { { axis = 2, ord = 0 }, { { 2 }, { 1 } } },
      { { axis = 2, ord = "inf" }, { { 4 }, { 2 } } }, { { axis = 1, ord = "-inf" }, { { 0, 0, 0 } } },
      { { axis = -1, ord = 2 }, { { 5 }, { 2 } } }, { {}, { { math.sqrt(29) } } }, { { ord = 1 }, { { 4 } } },
      { { ord = "inf" }, { { 7 } } },
    } do
      c[1].keepdims = true
      assert.is_true(damo.allclose(damo.array(c[2]), a:norm(c[1])))
      assert.is_true(damo.allclose(damo.array(c[2]), damo.compile({ x }, x:norm(c[1]))(a)))
    end
    local unit = x / x:norm { axis = 2, keepdims = true }
    assert.is_true(damo.allclose(damo.compile({ x }, unit)(a), damo.array { { 0.6, 0, -0.8 }, { 0, 1, 0 } }))
    local function scaled(v) return v / v:norm { axis = 2, keepdims = true } end
    sparse.verify_grad_sparse(scaled, { a }, { structured = true })
    assert.is_true(damo.array_equal(damo.array { 5, 2 }, a:norm { axis = 2, keepdims = false }))
  end)

  it("of order 0 counts nonzero elements, and has the gradient 0", function()
    for _, dtype in ipairs { "float32", "float64", "int64", "bool" } do
      for _, m in ipairs(s.matrices(dtype)) do
        for axis = 1, 2 do
          local got = s.same_everywhere(function(x) return sparse.norm(x, { ord = 0, axis = axis }) end, { m.value })[1]
          assert.equal("int64", got.dtype)
          s.close(got, damo.sum(damo.neq(m.value:toarray(), dtype == "bool" and false or 0), { axis = axis }))
        end
      end
    end
    local x = sparse.csr_matrix "x"
    local g = damo.grad(damo.sum(damo.cast(sparse.norm(x, { ord = 0, axis = 1 }), "float64")), x)
    local got = damo.compile({ x }, g, { on_unused_input = "ignore" })(s.matrix {})
    s.close(damo.sum(damo.abs(got:toarray())), 0)
    assert.same({ 4, 5 }, got.shape)
  end)

  it("of integers and bools is float64, as that of a dense matrix", function()
    for _, dtype in ipairs { "bool", "int8", "int16", "uint8", "int32", "uint64" } do
      local m = damo.cast(damo.array { { 1, 0, 3 }, { 0, 7, 5 } }, dtype)
      local x = sparse.csr_from_dense(m)
      for _, ord in ipairs { "fro", 1, "inf" } do
        assert.equal(damo.linalg.norm(damo.cast(m, "float64"), { ord = ord }), sparse.norm(x, { ord = ord }))
      end
      for _, ord in ipairs { 2, 1, "inf" } do
        assert.equal("float64", sparse.norm(x, { ord = ord, axis = 1 }).dtype)
      end
    end
  end)

  it("of order 2 has the gradient 0 for a zero matrix", function()
    local zeros = sparse.csr { data = { 0, 0, 3, 4 }, indices = { 0, 1, 0, 1 }, indptr = { 0, 2, 4 }, shape = { 2, 3 } }
    local x = sparse.csr_matrix "x"
    for _, mode in ipairs(s.modes) do
      local f = damo.compile({ x }, { sparse.norm(x, { axis = 2 }),
        damo.grad(damo.sum(sparse.norm(x, { axis = 2 })), x), damo.grad(sparse.norm(x), x) }, { mode = mode })
      local value, slope = f(zeros)
      s.close(value, { 0, 5 })
      s.close(slope, { 0, 0, 0, 0.6, 0.8, 0 })
      s.close(select(3, f(zeros * 0)), { 0, 0, 0, 0, 0, 0 })
    end
  end)

  it("of a row with nan is nan, and of no elements 0", function()
    local odd = sparse.csr { data = { 0 / 0, 1, 2 }, indices = { 0, 1, 1 }, indptr = { 0, 2, 3 }, shape = { 2, 3 } }
    for _, row in ipairs(vectors) do
      if row[2] ~= "-inf" then
        s.close(sparse.norm(odd, { ord = row[2], axis = 2 }), { 0 / 0, 2 })
        s.close(sparse.norm(sparse.csr { shape = { 0, 2 } }, { ord = row[2], axis = 2 }), {})
      end
      if row[2] ~= "-inf" and row[2] ~= "inf" then
        s.close(sparse.norm(sparse.csr { shape = { 0, 2 } }, { ord = row[2], axis = 1 }), { 0, 0 })
      end
    end
  end)

  it("needs memory for the entries only, whichever axis is long", function()
    local n = 2 ^ 40
    local a = sparse.coo {
      rows = { 1, 2, 3, 3, 3 }, cols = { 5, n, 7, 5, n }, values = { 1.5, -2, 3, 4, 1 }, shape = { 3, n },
    }
    for _, v in ipairs { a, a.T } do
      local x = sparse.matrix(v.format, "x")
      local wants = v.format == "csr" and { 5.5, 8 } or { 8, 5.5 }
      local grads = v.format == "csr" and { { 1, 0, 1, 0, 0 }, { 0, 0, 1, 1, 1 } }
      for k, order in ipairs { 1, "inf" } do
        for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE", "DEBUG" } do
          local cost = sparse.norm(x, order)
          local f = damo.compile({ x }, { cost, damo.grad(cost, x) }, { mode = mode })
          local value, g = f(v)
          assert.equal(wants[k], value)
          assert.same(v.shape, g.shape)
          if grads then s.close(sparse.gather(g, v), grads[k]) end
        end
        assert.equal(0, sparse.norm(sparse.zeros_like(v), order))
      end
    end
  end)
  it("accepts infinity as a number and complex values, and refuses other orders", function()
    local a = s.matrix {}
    assert.equal(sparse.norm(a, "inf"), sparse.norm(a, math.huge))
    local c = sparse.csr_from_dense(damo.complex(damo.array { { 3.0, 0 } }, damo.array { { 4.0, 0 } }))
    assert.near(5, sparse.norm(c), 1e-14)
    t.check_derivatives(sparse.norm, { s.matrix { dtype = "complex128" } }, { tol = 1e-5 })
    for _, order in ipairs { 2, "-inf", 0, 3, "max", -math.huge } do
      s.raises("value", "sparse.norm: ord must be 'fro', 1 or 'inf'; with axis it is that of columns or rows",
        function() sparse.norm(a, order) end)
    end
    for _, order in ipairs { "fro", -1, "max", 0 / 0 } do
      s.raises("value", "sparse.norm: ord of columns or rows must be 'inf', '-inf' or a number of 0 or more",
        function() sparse.norm(a, { ord = order, axis = 1 }) end)
    end
    s.raises("index", "sparse.norm: there is no axis 3 in a tensor of 2 dimensions",
      function() sparse.norm(a, { axis = 3 }) end)
    assert.is_true(damo.array_equal(a:norm { ord = math.huge, axis = 2 }, a:norm { ord = "inf", axis = 2 }))
    s.check_second(sparse.norm, { a }, { tol = 1e-4 })
  end)
end)

-- Diagonals, and matrices from rows.
local damo = require "damo"
local s = require "spec.sparse.support"
local sparse = damo.sparse

-- The square of fn's result: its second derivative uses the gradient Op's own gradient.
local function squared(fn)
  return function(x)
    local y = fn(x)
    return y * y
  end
end

describe("square_diagonal", function()
  it("puts a vector on the diagonal, zeros stored", function()
    for _, dtype in ipairs(s.dtypes) do
      local v = s.vector(4, dtype, 5)
      if dtype ~= "bool" then v[2] = 0 end
      local got = s.same_everywhere(sparse.square_diagonal, { v })[1]
      assert.same({ "csc", dtype, 4 }, { got.format, got.dtype, got.nnz })
      s.close(got.data, s.flat(v))
      s.close(got, s.flat(damo.diag(v)))
    end
    assert.equal(0, sparse.square_diagonal(damo.zeros { 0 }).nnz)
    s.close(sparse.square_diagonal(damo.arange(1, 8)[{ { 7, 1, -3 } }]).data, { 7, 4, 1 })
  end)

  it("has derivatives", function()
    for _, dtype in ipairs { "float64", "complex128" } do
      local v = { s.vector(4, dtype, 5) }
      s.check_grad(sparse.square_diagonal, v)
      s.check_rop(sparse.square_diagonal, v)
      s.check_second(squared(sparse.square_diagonal), v, { tol = 1e-5 })
    end
  end)

  it("takes the diagonal of a cotangent of any format", function()
    local v = damo.vector "v"
    local y = sparse.square_diagonal(v)
    for _, format in ipairs(s.formats) do
      local c = sparse.matrix(format, "c")
      local g = damo.grad(nil, v, { known_grads = { [y] = c } })
      local a = s.matrix { format = format, rows = 4, cols = 4, kind = "duplicates" }
      local got = damo.compile({ v, c }, g, { on_unused_input = "ignore" })(damo.zeros { 4 }, a)
      s.close(got, s.flat(damo.diag(sparse.toarray(a))))
    end
  end)

  it("refuses anything but a vector", function()
    s.raises("type", nil, function() sparse.square_diagonal(damo.array { { 1.0 } }) end)
    s.raises("type", nil, function() sparse.square_diagonal(s.matrix {}) end)
  end)
end)

describe("diag", function()
  local function diagonal(rows)
    local out = {}
    for i = 1, #rows do out[i] = rows[i][i] end
    return out
  end

  it("reads the diagonal", function()
    for _, dtype in ipairs { "float32", "float64", "int8", "int64", "uint8" } do
      for _, m in ipairs(s.matrices(dtype, { fixed = true, rows = 5, cols = 5 })) do
        assert.equal(dtype, s.check_value(sparse.diag, { m.value }, diagonal).dtype)
      end
    end
    for _, dtype in ipairs { "complex64", "complex128", "bool" } do
      for _, m in ipairs(s.matrices(dtype, { fixed = true, rows = 5, cols = 5 })) do
        s.close(s.same_everywhere(sparse.diag, { m.value })[1], s.flat(damo.diag(sparse.toarray(m.value))))
      end
    end
    assert.equal(0, sparse.diag(sparse.from_dense(damo.zeros { 0, 0 })).size)
  end)

  it("is called by damo.diag and the method", function()
    local a = s.matrix { rows = 3, cols = 3 }
    s.close(damo.diag(a), s.flat(sparse.diag(a)))
    s.close(a:diag(), s.flat(sparse.diag(a)))
    s.raises("value", nil, function() damo.diag(a, { k = 1 }) end)
    s.raises("value", nil, function() damo.diag(sparse.csr_matrix "x", { k = 1 }) end)
  end)

  it("has derivatives, a diagonal csc matrix", function()
    for _, dtype in ipairs { "float64", "complex128" } do
      for _, format in ipairs(s.formats) do
        for _, kind in ipairs { "plain", "unsorted", "zeros" } do
          local x = { s.matrix { format = format, dtype = dtype, kind = kind, rows = 5, cols = 5 } }
          s.check_grad(sparse.diag, x)
          s.check_rop(sparse.diag, x)
          s.check_second(squared(sparse.diag), x, { tol = 1e-5 })
        end
      end
    end
    local x = sparse.csr_matrix "x"
    local g = damo.grad(damo.sum(sparse.diag(x)), x)
    assert.equal("csc", g.format)
    local value = damo.compile({ x }, g, { on_unused_input = "ignore" })(s.matrix { rows = 4, cols = 4 })
    s.close(value, s.flat(damo.eye(4)))
  end)

  it("refuses a matrix that is not square, when built if that is static", function()
    local text = "Diag: the matrix has shape (4, 5), expected a square one"
    s.raises("shape", text, function() sparse.diag(s.matrix {}) end)
    local x = sparse.csr_matrix "x"
    local f = damo.compile({ x }, sparse.diag(x))
    s.raises("shape", text, function() f(s.matrix {}) end)
  end)
end)

describe("construct_sparse_from_list", function()
  local list = damo.array({ 2, 5, 2, -5 }, "int64")
  local function build(x, values) return sparse.construct_sparse_from_list(x, values, list) end

  it("puts rows at the positions in the list, summing at repeated ones", function()
    for _, dtype in ipairs { "float32", "float64", "complex64", "complex128", "int32" } do
      local x, values = damo.zeros({ 5, 3 }, dtype), s.dense(4, 3, dtype)
      if dtype ~= "int32" then values[2][1] = 0 end
      local got = s.same_everywhere(build, { x, values })[1]
      assert.same({ "csc", dtype, 12 }, { got.format, got.dtype, got.nnz })
      local want = damo.inc_subtensor(damo.as_tensor(x)[{ list }], values)
      s.close(got, s.flat(damo.compile({}, want)()))
    end
  end)

  it("has derivatives for the values; only x's shape is used", function()
    for _, dtype in ipairs { "float64", "complex128" } do
      local x, values = damo.zeros({ 5, 3 }, dtype), s.dense(4, 3, dtype)
      local function of_values(v) return build(x, v) end
      s.check_grad(of_values, { values })
      s.check_rop(of_values, { values })
      s.check_second(squared(function(v) return sparse.toarray(of_values(v), { structured = false }) end), { values },
        { tol = 1e-5 })
    end
    local x, v = damo.matrix "x", damo.matrix "v"
    local cost = damo.sum(sparse.toarray(build(x, v)))
    s.raises("disconnected_input", nil, function() damo.grad(cost, x) end)
  end)

  it("takes the rows of a cotangent of any format", function()
    local v = damo.matrix "v"
    local y = build(damo.zeros { 5, 3 }, v)
    for _, format in ipairs(s.formats) do
      local c, a = sparse.matrix(format, "c"), s.matrix { format = format, rows = 5, cols = 3 }
      local g = damo.grad(nil, v, { known_grads = { [y] = c } })
      assert.is_nil(g.format)
      local got = damo.compile({ v, c }, g, { on_unused_input = "ignore" })(s.dense(4, 3), a)
      s.close(got, s.flat(sparse.toarray(a)[{ list }]))
    end
  end)

  it("accepts empty lists", function()
    local got = sparse.construct_sparse_from_list(damo.zeros { 2, 3 }, damo.zeros { 0, 3 }, damo.zeros({ 0 }, "int64"))
    assert.same({ 2, 3, 0 }, { got.shape[1], got.shape[2], got.nnz })
    got = sparse.construct_sparse_from_list(damo.zeros { 2, 0 }, damo.zeros { 1, 0 }, { 2 })
    assert.same({ 2, 0, 0 }, { got.shape[1], got.shape[2], got.nnz })
  end)

  it("refuses wrong arguments", function()
    local x, v = damo.zeros { 4, 3 }, damo.zeros { 2, 3 }
    local function make(...) return sparse.construct_sparse_from_list(...) end
    s.raises("index", "ConstructSparseFromList: position 10, entry 2 of the list, is outside the 4 rows",
      function() make(x, v, { 1, 10 }) end)
    s.raises("shape", "ConstructSparseFromList: shapes (2, 3) and (3,) do not agree: axis 1 of operand 2 has length 2, "
      .. "axis 1 of operand 3 3", function() make(x, v, { 1, 2, 3 }) end)
    s.raises("shape", nil, function() make(damo.zeros { 4, 2 }, v, { 1, 2 }) end)
    s.raises("type", nil, function() make(damo.zeros { 4 }, v, { 1, 2 }) end)
    s.raises("type", nil, function() make(x, v, { 0.5, 1.5 }) end)
    s.raises("type", "sparse.construct_sparse_from_list: values of complex128 do not fit into a matrix of float64",
      function() make(x, damo.cast(v, { dtype = "complex128" }), { 1, 2 }) end)
  end)
end)

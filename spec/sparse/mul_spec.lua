-- Products and quotients with a sparse operand.

local damo = require "damo"
local s = require "spec.sparse.support"
local sp = damo.sparse

local kinds = { "plain", "unsorted", "duplicates", "zeros" }

local function entry(y, i, j)
  if type(y) ~= "table" then return y end
  if type(y[1]) ~= "table" then return y[j] end
  local row = y[#y == 1 and 1 or i]
  return row[#row == 1 and 1 or j]
end

-- op with a matrix and an operand that broadcasts to it: a matrix, row, column, vector along the columns, or number.
local function each_entry(op)
  return function(x, y)
    local out = {}
    for i, row in ipairs(x) do
      out[i] = {}
      for j, v in ipairs(row) do out[i][j] = op(v, entry(y, i, j)) end
    end
    return out
  end
end

local function times(a, b) return a * b end
local function over(a, b) return a == 0 and 0 or a / b end

local function with_places(list)
  local out = {}
  for _, m in ipairs(list) do
    if m.value.shape[1] * m.value.shape[2] > 0 then out[#out + 1] = m end
  end
  return out
end

local function vector(n, dtype) return s.vector(n, dtype or "float64") end

describe("products of two sparse matrices", function()
  for _, dtype in ipairs { "float32", "float64", "int64" } do
    it("multiply elementwise, " .. dtype, function()
      for _, m in ipairs(with_places(s.matrices(dtype))) do
        for _, format in ipairs(s.formats) do
          local shape = m.value.shape
          local y = s.matrix { dtype = dtype, format = format, rows = shape[1], cols = shape[2], seed = 21 }
          local z = s.check_value(sp.mul, { m.value, y }, each_entry(times))
          assert.equal(m.format, z.format)
          assert.equal(dtype, z.dtype)
        end
      end
    end)
  end

  it("store no zeros but keep nan results", function()
    local x = s.matrix { kind = "zeros" }
    assert.equal(x.nnz - 1, (x * x).nnz)
    assert.equal(0, (x * sp.sp_zeros_like(x)).nnz)
    local y = sp.with_data(x, damo.full(x.data.shape, 0 / 0))
    assert.equal(x.nnz, (x * y).nnz)
  end)

  it("promote dtypes and index dtypes", function()
    local x, y = s.matrix { dtype = "float32" }, s.matrix { dtype = "complex64", itype = "int64" }
    local z = s.same_everywhere(sp.mul, { x, y })[1]
    assert.equal("complex64", z.dtype)
    assert.equal("int64", z.itype)
    s.close(z, x:toarray() * y:toarray())
    local b = s.matrix { dtype = "bool" }
    assert.equal("bool", (b * b).dtype)
  end)

  it("need no memory for positions without entries", function()
    local n = 2 ^ 33
    local x = sp.coo { rows = { 1, 2 }, cols = { 5, n }, values = { 3.0, 2.0 }, shape = { 2, n } }
    assert.same({ 9, 4 }, (x * x).data:totable())
    assert.same({ 6, 4 }, (x * 2).data:totable())
    assert.same({ 3, 20 }, sp.row_scale(x, damo.array { 1, 10 }).data:totable())
  end)
end)

describe("products with a dense matrix or a number", function()
  it("have the sparse operand's pattern", function()
    for _, dtype in ipairs { "float32", "float64", "int64" } do
      for _, m in ipairs(with_places(s.matrices(dtype))) do
        local y = s.dense(m.value.shape[1], m.value.shape[2], dtype)
        local z = s.check_value(sp.mul, { m.value, y }, each_entry(times))
        s.same_storage(z, sp.with_data(m.value, z.data))
        s.same_storage(sp.mul(y, m.value), z)
        s.same_storage(s.same_everywhere(function(x) return x * 0 end, { m.value })[1],
          sp.with_data(m.value, m.value.data * 0))
      end
    end
  end)

  it("broadcast a row, a column and a matrix of one element, as quotients do", function()
    for _, dtype in ipairs { "float32", "float64", "int64", "uint8" } do
      for _, m in ipairs(with_places(s.matrices(dtype, { high = 1.2, low = -1.2 }))) do
        local rows, cols = table.unpack(m.value.shape)
        for _, y in ipairs { s.dense(1, cols, dtype), s.dense(rows, 1, dtype), s.dense(1, 1, dtype) } do
          local z = s.check_value(function(x, v) return x * v end, { m.value, y }, each_entry(times))
          assert.equal(dtype, z.dtype)
          s.same_storage(z, sp.with_data(m.value, z.data))
          s.same_storage(s.same_everywhere(function(x, v) return v * x end, { m.value, y })[1], z)
        end
      end
    end
    for _, dtype in ipairs { "complex64", "complex128", "bool" } do
      for _, kind in ipairs(kinds) do
        local x = s.matrix { dtype = dtype, kind = kind, itype = "int64" }
        for _, y in ipairs { s.dense(1, 5, dtype), s.dense(4, 1, dtype) } do
          local z = s.same_everywhere(damo.mul, { x, y })[1]
          assert.same({ dtype, "int64" }, { z.dtype, z.itype })
          s.close(z, x:toarray() * y)
        end
      end
    end
  end)

  it("broadcast a view, another dtype, zeros and nan", function()
    local x = s.matrix { dtype = "int32", kind = "duplicates" }
    local part = s.dense(8, 3)[{ { 7, 1, -2 }, { 2, 2 } }]
    local z = s.same_everywhere(damo.mul, { x, part })[1]
    assert.equal("float64", z.dtype)
    s.close(z, x:toarray() * part)
    local truths = s.matrix { dtype = "bool", kind = "duplicates" }
    for _, y in ipairs { s.dense(4, 1), s.dense(1, 5), s.dense(1, 1) } do
      s.close(s.same_everywhere(damo.mul, { truths, y })[1], truths:toarray() * y)
    end
    x = s.matrix { kind = "zeros" }
    assert.equal(x.nnz, (x * damo.zeros { 4, 1 }).nnz)
    assert.equal(x.nnz, (x * damo.full({ 1, 5 }, 0 / 0)).nnz)
    s.close(s.matrix {} * damo.array { { 2.0 } }, s.matrix {} * 2)
  end)

  it("broadcast if the Type says so, whatever the matrix's own lengths are", function()
    local a, r, c = sp.csr_matrix "a", damo.row "r", damo.col "c"
    local f = damo.compile({ a, r, c }, { a * r, a * c })
    local A, one = s.matrix {}, sp.csr { { 3.0, 0 } }
    local R, C = s.dense(1, 5), s.dense(4, 1)
    local by_row, by_column = f(A, R, C)
    s.close(by_row, A:toarray() * R)
    s.close(by_column, A:toarray() * C)
    by_row, by_column = f(one, damo.array { { 2.0, 5 } }, damo.array { { 7.0 } })
    s.close(by_row, { 6, 0 })
    s.close(by_column, { 21, 0 })
    s.close(one * damo.array { { 2.0, 5 } }, { 6, 0 })
    s.raises("shape", "col_scale: the vector has shape (4,), expected (5,): one entry for each column",
      function() return f(A, s.dense(1, 4), C) end)
  end)

  it("give a literal the sparse operand's dtype", function()
    assert.equal("float32", (s.matrix { dtype = "float32" } * 2.5).dtype)
    assert.equal("int8", (3 * s.matrix { dtype = "int8" }).dtype)
    assert.equal("float64", (s.matrix { dtype = "float32" } * damo.array(2.5)).dtype)
    local x, a = sp.csr_matrix "x", damo.scalar "a"
    assert.equal("csr", (a * x).format)
  end)

  it("ignore dense elements where no entry is stored", function()
    local x = s.matrix {}
    local z = x * damo.full({ 4, 5 }, 0 / 0)
    assert.equal(x.nnz, z.nnz)
    assert.equal(x.nnz, (x * (1 / 0)).nnz)
  end)
end)

describe("quotients", function()
  it("divide the stored entries by a number, matrix, row or column", function()
    for _, dtype in ipairs { "float32", "float64" } do
      for _, m in ipairs(with_places(s.matrices(dtype))) do
        local rows, cols = table.unpack(m.value.shape)
        local divisors = { s.dense(rows, cols, dtype), s.dense(1, cols, dtype), s.dense(rows, 1, dtype) }
        for _, y in ipairs(divisors) do
          local z = s.check_value(sp.true_div, { m.value, y }, each_entry(over))
          s.same_storage(z, sp.with_data(m.value, z.data))
        end
        local z = s.same_everywhere(function(x) return x / 4 end, { m.value })[1]
        s.same_storage(z, sp.with_data(m.value, m.value.data / 4))
      end
    end
  end)

  it("are floats for integers", function()
    local z = s.same_everywhere(function(x) return x / 2 end, { s.matrix { dtype = "int64" } })[1]
    assert.equal(damo.config.floatX, z.dtype)
  end)

  it("of complex numbers", function()
    local x, y = s.matrix { dtype = "complex128" }, s.dense(4, 5, "complex128")
    s.close(sp.true_div(x, y), x:toarray() / y)
  end)

  it("refuse a sparse divisor", function()
    local x = s.matrix {}
    local message = "sparse.true_div: division by a sparse matrix divides by the zeros that it does not store: use "
      .. "y:toarray() to compute on the dense matrix, or x:with_data(…) to divide stored entries of one pattern"
    s.raises("type", message, function() return x / x end)
    s.raises("type", message, function() return 1 / x end)
    s.raises("type", message, function() return damo.ones { 4, 5 } / x end)
  end)
end)

describe("vectors", function()
  local function by_row(x, v)
    local out = {}
    for i, row in ipairs(x) do
      out[i] = {}
      for j, e in ipairs(row) do out[i][j] = e * v[i] end
    end
    return out
  end

  it("scale columns and rows, on the pattern", function()
    for _, dtype in ipairs { "float32", "float64", "int64" } do
      for _, m in ipairs(with_places(s.matrices(dtype))) do
        local rows, cols = table.unpack(m.value.shape)
        local c = s.check_value(sp.col_scale, { m.value, vector(cols, dtype) }, each_entry(times))
        local r = s.check_value(sp.row_scale, { m.value, vector(rows, dtype) }, by_row)
        s.same_storage(c, sp.with_data(m.value, c.data))
        s.same_storage(r, sp.with_data(m.value, r.data))
        assert.equal(m.value.nnz, sp.col_scale(m.value, damo.zeros({ cols }, dtype)).nnz)
      end
    end
    local x, v = s.matrix { dtype = "complex64" }, s.vector(5, "float32")
    assert.equal("complex64", sp.col_scale(x, v).dtype)
    assert.equal("float64", sp.row_scale(s.matrix { dtype = "float32" }, vector(4)).dtype)
  end)

  it("take any strides", function()
    local x, d = s.matrix {}, s.dense(5, 4)
    s.close(sp.mul(x, d:transpose()), x:toarray() * d:transpose())
    s.close(sp.col_scale(x, d[{ {}, 2 }]), sp.col_scale(x, damo.array(d[{ {}, 2 }]:totable())))
  end)

  it("multiply and drop zeros: mul_s_v", function()
    for _, dtype in ipairs { "float32", "float64", "int64" } do
      for _, m in ipairs(with_places(s.matrices(dtype))) do
        s.check_value(sp.mul_s_v, { m.value, vector(m.value.shape[2], dtype) }, each_entry(times))
      end
    end
    local x = s.matrix { kind = "zeros" }
    assert.equal(x.nnz - 1, sp.mul_s_v(x, damo.ones { 5 }).nnz)
    assert.equal(0, sp.mul_s_v(x, damo.zeros { 5 }).nnz)
  end)

  it("must fit", function()
    local x, long = s.matrix {}, damo.ones { 6 }
    s.raises("shape", "ColScaleCSC: shapes (4, 5) and (6,) do not agree: axis 2 of operand 1 has length 5, axis 1 of "
      .. "operand 2 6", function() return sp.col_scale(x, long) end)
    local a, v = sp.csr_matrix "a", damo.vector "v"
    local f, g = damo.compile({ a, v }, sp.row_scale(a, v)), damo.compile({ a, v }, sp.mul_s_v(a, v))
    s.raises("shape", "row_scale: the vector has shape (6,), expected (4,): one entry for each row",
      function() return f(x, long) end)
    s.raises("shape", "the vector has shape (6,), expected (5,): one entry for each column",
      function() return g(x, long) end)
    s.raises("type", "MulSV: the operands must have one dtype, got float64 and float32; cast one of them",
      function() return sp.MulSV {}(x, damo.ones({ 5 }, "float32")) end)
    s.raises("type", "ColScaleCSC: operand 2 must be a vector, got TensorType(float64, shape=(4, 5))",
      function() return sp.col_scale(x, damo.ones { 4, 5 }) end)
  end)
end)

describe("products of empty matrices", function()
  it("have the shape", function()
    for _, shape in ipairs { { 0, 0 }, { 0, 3 }, { 3, 0 } } do
      local x = s.matrix { rows = shape[1], cols = shape[2] }
      local d, r, c = damo.ones(shape), damo.ones { shape[1] }, damo.ones { shape[2] }
      for _, z in ipairs {
        s.same_everywhere(sp.mul, { x, x })[1], s.same_everywhere(sp.mul, { x, d })[1],
        s.same_everywhere(sp.true_div, { x, d })[1], s.same_everywhere(sp.row_scale, { x, r })[1],
        s.same_everywhere(sp.col_scale, { x, c })[1], s.same_everywhere(sp.mul_s_v, { x, c })[1],
      } do
        assert.same(shape, z.shape)
        assert.equal(0, z.nnz)
      end
    end
  end)
end)

describe("derivatives of products", function()
  local calls = {
    { "mul", sp.mul, function(x) return { x, s.matrix { dtype = x.dtype, seed = 5, format = "csc" } } end },
    { "mul by a matrix", sp.mul, function(x) return { x, s.dense(4, 5, x.dtype) } end },
    { "true_div by a matrix", sp.true_div, function(x) return { x, s.dense(4, 5, x.dtype, 4, 1, 2) } end },
    { "true_div by a row", sp.true_div, function(x) return { x, s.dense(1, 5, x.dtype, 4, 1, 2) } end },
    { "true_div by a column", sp.true_div, function(x) return { x, s.dense(4, 1, x.dtype, 4, 1, 2) } end },
    { "mul by a row", damo.mul, function(x) return { x, s.dense(1, 5, x.dtype, 4, 1, 2) } end },
    { "mul by a column", damo.mul, function(x) return { x, s.dense(4, 1, x.dtype, 4, 1, 2) } end },
    { "mul by one element", damo.mul, function(x) return { x, s.dense(1, 1, x.dtype, 4, 1, 2) } end },
    { "mul_s_v", sp.mul_s_v, function(x) return { x, vector(5, x.dtype) } end },
    { "col_scale", sp.col_scale, function(x) return { x, vector(5, x.dtype) } end },
    { "row_scale", sp.row_scale, function(x) return { x, vector(4, x.dtype) } end },
  }

  for _, c in ipairs(calls) do
    it("agree with finite differences: " .. c[1], function()
      for _, dtype in ipairs { "float64", "complex128" } do
        for _, kind in ipairs(kinds) do
          for _, format in ipairs(s.formats) do
            local values = c[3](s.matrix { kind = kind, format = format, dtype = dtype })
            s.check_grad(c[2], values)
            s.check_rop(c[2], values)
          end
        end
      end
      s.check_grad(function(x, y) return sp.toarray(c[2](x, y)) * 2 end, c[3](s.matrix {}))
    end)

    it("have second derivatives: " .. c[1], function()
      for _, kind in ipairs { "plain", "duplicates", "zeros" } do
        s.check_second(c[2], c[3](s.matrix { kind = kind }))
      end
      s.check_second(c[2], c[3](s.matrix { dtype = "complex128", format = "csc" }))
    end)
  end

  it("reach a number", function()
    for _, f in ipairs { sp.mul, sp.true_div } do
      for _, dtype in ipairs { "float64", "complex128" } do
        local x, a = sp.csr_matrix("x", { dtype = dtype }), damo.scalar("a", { dtype = dtype })
        local cost = damo.real(damo.sum(sp.toarray(f(x, a))))
        local g = damo.compile({ x, a }, damo.grad(cost, a))
        local A = s.matrix { dtype = dtype }
        local sum = damo.sum(A:toarray())
        s.close(g(A, damo.sum(s.vector(1, dtype)) * 0 + 2), f == sp.mul and damo.conj(sum) or -damo.conj(sum) / 4)
      end
    end
    local f = function(x, a) return x * a / (a * a) end
    s.check_grad(function(x, v) return f(x, damo.sum(v)) end, { s.matrix {}, vector(2) })
    s.check_second(function(x, v) return f(x, damo.sum(v)) end, { s.matrix { kind = "zeros" }, vector(2) })
    s.check_rop(function(x, v) return f(x, damo.sum(v)) end, { s.matrix {}, vector(2) })
  end)

  it("are regular for sparse operands: the cotangent's own pattern", function()
    local A, G, D, v = s.matrix {}, s.matrix { seed = 30 }, s.dense(4, 5), vector(5)
    local x, g = sp.csr_matrix "x", sp.csr_matrix "g"
    local function gradient(z) return damo.compile({ x, g }, damo.grad(nil, x, { known_grads = { [z] = g } }),
      { on_unused_input = "ignore" })(A, G) end
    s.same_storage(gradient(sp.mul(x, damo.constant(D))), sp.mul(G, D))
    s.same_storage(gradient(x * 3), G * 3)
    s.same_storage(gradient(x / 4), G / 4)
    s.same_storage(gradient(sp.col_scale(x, damo.constant(v))), sp.col_scale(G, v))
    s.same_storage(gradient(sp.mul(x, damo.constant(A))), sp.mul(G, A))
  end)

  it("take a dense cotangent", function()
    local A, G = s.matrix {}, s.dense(4, 5)
    local x, v, g = sp.csr_matrix "x", damo.vector "v", damo.matrix "g"
    local z = sp.col_scale(x, v)
    local by_x, by_v = table.unpack(damo.grad(nil, { x, v }, { known_grads = { [z] = g } }))
    local f = damo.compile({ x, v, g }, { by_x, by_v })
    local p, q = f(A, vector(5), G)
    s.close(p, G * vector(5))
    s.close(q, damo.sum(A:toarray() * G, { axis = 1 }))
  end)

  it("are floats for integers", function()
    local x, y = sp.csr_matrix("x", { dtype = "int32" }), damo.matrix "y"
    local cost = damo.sum(sp.toarray(sp.mul(x, y)))
    local g = damo.compile({ x, y }, damo.grad(cost, { x, y }), { on_unused_input = "ignore" })
    local by_x, by_y = g(s.matrix { dtype = "int32" }, s.dense(4, 5))
    assert.equal("float64", by_x.dtype)
    local f = sp.csr_matrix "f"
    local by_f = damo.grad(damo.sum(sp.toarray(sp.mul(f, y))), f)
    s.close(by_x, by_f:eval { [f] = s.matrix { dtype = "int32" }:astype "float64", [y] = s.dense(4, 5) })
    s.close(by_y, s.matrix({ dtype = "int32" }):toarray())
  end)
end)

describe("impossible products", function()
  local x = s.matrix {}

  it("name the function for a vector, row or column", function()
    s.raises("type", "sparse.mul: the dense operand must be a number or a matrix, got one of rank 1; "
      .. "damo.sparse.col_scale(x, v) and row_scale(x, v) take a vector", function() return x * damo.ones { 5 } end)
    s.raises("shape", "sparse.mul: a dense row does not stretch over a sparse matrix: use x * y or "
      .. "damo.mul(x, y)",
      function() return sp.mul(x, damo.ones { 1, 5 }) end)
    s.raises("shape", "sparse.mul: a dense column does not stretch over a sparse matrix: use x * y or "
      .. "damo.mul(x, y)",
      function() return sp.mul(damo.ones { 4, 1 }, x) end)
    s.raises("shape", nil, function() return sp.mul_s_d(x, damo.ones { 4, 1 }) end)
    s.raises("shape", nil, function() return x * damo.ones { 1, 4 } end)
    s.raises("shape", nil, function() return damo.ones { 5, 1 } * x end)
  end)

  it("name the shapes", function()
    local a, b, d = sp.csr_matrix "a", sp.csr_matrix "b", damo.matrix "d"
    local f, g, h = damo.compile({ a, b }, a * b), damo.compile({ a, d }, a * d), damo.compile({ a, d }, a / d)
    s.raises("shape", "mul: shapes (4, 5) and (5, 4) are not equal", function() return f(x, x.T:tocsr()) end)
    local function stretch(op, shape, verb, axis, dims)
      return ("%s: shapes (4, 5) and %s %s: the dense operand has length 1 along axis %s, which stretches only where "
        .. "its Type says so; declare it: damo.tensor(name, {shape={%s}}), or use damo.specify_broadcastable(x, "
        .. "{axis=%s})"):format(op, shape, verb, axis[1], dims, axis[2] or axis[1])
    end
    local k = damo.compile({ a, d }, a + d)
    s.raises("shape", stretch("MulSD", "(1, 5)", "do not agree", { "1" }, "1, false"),
      function() return g(x, damo.ones { 1, 5 }) end)
    s.raises("shape", stretch("DivSD", "(4, 1)", "do not agree", { "2" }, "false, 1"),
      function() return h(x, damo.ones { 4, 1 }) end)
    s.raises("shape", stretch("AddSD", "(1, 1)", "are not equal", { "1 and axis 2", "{1, 2}" }, "1, 1"),
      function() return k(x, damo.ones { 1, 1 }) end)
    s.raises("shape", "MulSD: shapes (4, 5) and (1, 4) do not agree", function() return g(x, damo.ones { 1, 4 }) end)
    local declared = damo.tensor("r", { shape = { 1, false } })
    for row, said in pairs { [d] = damo.specify_broadcastable(d, { axis = 1 }), [declared] = declared } do
      local scaled = damo.compile({ a, row }, a * said)(x, damo.full({ 1, 5 }, 2))
      assert.same(s.todense(x * 2), s.todense(scaled))
    end
    s.raises("shape", "DivSD: shapes (4, 5) and (5, 4) do not agree", function() return h(x, damo.ones { 5, 4 }) end)
  end)

  it("without a sparse operand", function()
    s.raises("type", nil, function() return sp.mul(damo.ones { 2 }, damo.ones { 2 }) end)
    s.raises("type", nil, function() return sp.true_div(damo.ones { 2 }, damo.ones { 2 }) end)
    s.raises("type", nil, function() return sp.mul_s_s(x, damo.ones { 4, 5 }) end)
    s.raises("type", nil, function() return sp.mul_s_d(x, x) end)
  end)
end)

describe("mul of a matrix with stored duplicates", function()
  it("has the gradient of the summed matrix, also for a dense cotangent", function()
    local x = sp.csr_matrix "x"
    local a = sp.csr { data = { 1.0, 3, 2, 5 }, indices = { 0, 1, 0, 0 }, indptr = { 0, 3, 4 }, shape = { 2, 2 } }
    local cost = damo.sum(damo.dot(damo.array { 1.0, 10 }, sp.mul_s_s(x, x + sp.zeros_like(x))))
    for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE", "DEBUG" } do
      local g = damo.compile({ x }, damo.grad(cost, x), { mode = mode })(a)
      s.close(sp.toarray(g), damo.array { { 6.0, 6 }, { 100, 0 } })
    end
  end)
end)

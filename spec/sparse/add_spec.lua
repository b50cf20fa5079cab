-- Sums and differences with a sparse operand.

local damo = require "damo"
local s = require "spec.sparse.support"
local sp = damo.sparse

local function each_entry(op)
  return function(x, y)
    local out = {}
    for i, row in ipairs(x) do
      out[i] = {}
      for j, v in ipairs(row) do out[i][j] = op(v, y[i][j]) end
    end
    return out
  end
end

local function plus(a, b) return a + b end
local function minus(a, b) return a - b end

-- Without matrices that have no entries: the expected table would be empty and have no shape. They have their own test.
local function with_places(list)
  local out = {}
  for _, m in ipairs(list) do
    if m.value.shape[1] * m.value.shape[2] > 0 then out[#out + 1] = m end
  end
  return out
end

local function other(m, o)
  o.rows, o.cols, o.seed = m.value.shape[1], m.value.shape[2], o.seed or 21
  return s.matrix(o)
end

describe("sums of two sparse matrices", function()
  for _, dtype in ipairs { "float32", "float64", "int64" } do
    it("add and subtract elementwise, " .. dtype, function()
      for _, m in ipairs(with_places(s.matrices(dtype))) do
        for _, format in ipairs(s.formats) do
          local y = other(m, { dtype = dtype, format = format })
          local sum = s.check_value(sp.add, { m.value, y }, each_entry(plus))
          local difference = s.check_value(sp.sub, { m.value, y }, each_entry(minus))
          assert.equal(m.format, sum.format)
          assert.equal(m.format, difference.format)
          assert.equal(dtype, sum.dtype)
        end
      end
    end)
  end

  it("takes complex numbers", function()
    for _, dtype in ipairs { "complex64", "complex128" } do
      local x, y = s.matrix { dtype = dtype }, s.matrix { dtype = dtype, seed = 9, format = "csc" }
      local z = s.same_everywhere(sp.sub, { x, y })[1]
      s.close(z, x:toarray() - y:toarray())
      assert.equal(dtype, z.dtype)
    end
  end)

  it("promotes dtypes before it subtracts", function()
    local x, y = s.matrix { dtype = "int8", kind = "nnz0" }, s.matrix { dtype = "uint8" }
    local z = s.same_everywhere(sp.sub, { x, y })[1]
    assert.equal("int16", z.dtype)
    s.close(z, -(y:toarray():astype "int16"))
    assert.equal("float64", (s.matrix { dtype = "float32" } + s.matrix { dtype = "int64" }).dtype)
  end)

  it("is logical or on bool, which has no difference", function()
    local x, y = s.matrix { dtype = "bool" }, s.matrix { dtype = "bool", seed = 8 }
    s.close(s.same_everywhere(sp.add, { x, y })[1], damo.or_(x:toarray(), y:toarray()))
    s.raises("type", "sparse.sub is not defined for bool; cast the operands first", function() return x - y end)
  end)

  it("stores no cancelled entries, and drops stored zeros", function()
    local x = s.matrix { kind = "zeros" }
    assert.equal(0, (x - x).nnz)
    assert.equal(x.nnz - 1, (x + sp.sp_zeros_like(x)).nnz)
  end)

  it("accepts empty matrices", function()
    for _, shape in ipairs { { 0, 0 }, { 0, 3 }, { 3, 0 } } do
      local x = s.matrix { rows = shape[1], cols = shape[2] }
      assert.same(shape, s.same_everywhere(sp.add, { x, x })[1].shape)
      assert.same(shape, s.same_everywhere(sp.sub, { x, damo.ones(shape) })[1].shape)
    end
  end)

  it("keeps nan", function()
    local x = s.matrix {}
    local y = sp.with_data(x, damo.full(x.data.shape, 0 / 0))
    assert.equal(x.nnz, (x + y).nnz)
  end)

  it("promotes index dtypes", function()
    local x, y = s.matrix { itype = "int32" }, s.matrix { itype = "int64" }
    assert.equal("int64", (x + y).itype)
    assert.equal("int32", (x + x).itype)
    assert.equal("int64", sp.add(s.variable(x), s.variable(y)).type.itype)
  end)

  it("needs no memory for positions without entries", function()
    local n = 2 ^ 33
    local x = sp.coo { rows = { 1, 2 }, cols = { 5, n }, values = { 1.0, 2.0 }, shape = { 2, n } }
    local z = x + x - sp.tocsr(x) * 3
    assert.equal(2, z.nnz)
    assert.equal(-2, z.data:totable()[2])
  end)
end)

describe("sums with a dense matrix", function()
  it("are dense, whichever comes first", function()
    for _, dtype in ipairs { "float32", "float64", "int64" } do
      for _, m in ipairs(with_places(s.matrices(dtype))) do
        local y = s.dense(m.value.shape[1], m.value.shape[2], dtype)
        s.check_value(sp.add, { m.value, y }, each_entry(plus))
        s.check_value(sp.add, { y, m.value }, each_entry(plus))
        s.check_value(sp.sub, { m.value, y }, each_entry(minus))
        local z = s.check_value(sp.sub, { y, m.value }, each_entry(minus))
        assert.equal(dtype, z.dtype)
      end
    end
  end)

  it("broadcast a row or column", function()
    local x, row, column = s.matrix {}, s.dense(1, 5), s.dense(4, 1)
    s.close(s.same_everywhere(sp.add, { x, row })[1], x:toarray() + row)
    s.close(s.same_everywhere(sp.sub, { column, x })[1], column - x:toarray())
    s.check_grad(sp.add, { x, row })
  end)
end)

describe("add_s_s_data", function()
  it("adds stored values, zeros and duplicates as they are", function()
    for _, kind in ipairs { "plain", "unsorted", "duplicates", "zeros", "nnz0" } do
      for _, format in ipairs(s.formats) do
        local x = s.matrix { kind = kind, format = format }
        local y = sp.with_data(x, -x.data)
        local z = s.same_everywhere(sp.add_s_s_data, { x, y })[1]
        s.same_storage(z, sp.with_data(x, x.data * 0))
        s.check_grad(sp.add_s_s_data, { x, sp.with_data(x, x.data * 2) })
      end
    end
  end)

  it("refuses matrices without a common pattern", function()
    local x = s.matrix {}
    s.raises("type", "AddSSData: the operands share a pattern, so also the format, got csr and csc",
      function() return sp.add_s_s_data(x, x:tocsc()) end)
    s.raises("type", "AddSSData: the operands must have one dtype, got float64 and float32; cast one of them",
      function() return sp.AddSSData {}(x, sp.fcast(x)) end)
    s.raises("shape",
      ("AddSSData: the operands must have one pattern, got (4, 5) with %d entries and (4, 5) with 0"):format(x.nnz),
      function() return sp.add_s_s_data(x, sp.sp_zeros_like(x)) end)
  end)
end)

describe("structured_add_s_v", function()
  local function reference(x, v)
    local out = {}
    for i, row in ipairs(x) do
      out[i] = {}
      for j, e in ipairs(row) do out[i][j] = e ~= 0 and e + v[j] or 0 end
    end
    return out
  end

  it("adds to nonzero entries", function()
    for _, dtype in ipairs { "float32", "float64", "int64" } do
      for _, m in ipairs(with_places(s.matrices(dtype))) do
        local v = s.vector(m.value.shape[2], dtype)
        s.check_value(sp.structured_add_s_v, { m.value, v }, reference)
      end
    end
    local x = s.matrix { kind = "zeros" }
    assert.equal(x.nnz - 1, sp.structured_add_s_v(x, s.vector(5, "float64")).nnz)
    assert.equal(0, sp.structured_add_s_v(sp.sp_ones_like(x), -damo.ones { 5 }).nnz)
  end)

  it("refuses other dtypes, ranks and lengths", function()
    local x = s.matrix {}
    s.raises("type", "StructuredAddSV: the operands must have one dtype, got float64 and float32; cast one of them",
      function() return sp.StructuredAddSV {}(x, damo.ones({ 5 }, "float32")) end)
    s.raises("type", "StructuredAddSV: operand 2 must be a vector, got TensorType(float64, shape=(4, 5))",
      function() return sp.structured_add_s_v(x, damo.ones { 4, 5 }) end)
    s.raises("shape", nil, function() return sp.structured_add_s_v(x, damo.ones { 4 }) end)
  end)

  it("has the vector's gradient from nonzero entries", function()
    for _, kind in ipairs { "plain", "unsorted", "duplicates" } do
      for _, format in ipairs(s.formats) do
        local values = { s.matrix { kind = kind, format = format }, s.vector(5, "float64") }
        s.check_grad(sp.structured_add_s_v, values)
        s.check_second(function(x, v) return sp.mul(sp.structured_add_s_v(x, v), x) end, values)
        s.check_rop(sp.structured_add_s_v, values)
      end
    end
    s.check_grad(sp.structured_add_s_v, { s.matrix { kind = "zeros" }, s.vector(5, "float64") }, { wrt = { 2 } })
  end)
end)

describe("derivatives of sums", function()
  local square = function(f)
    return function(x, y)
      local z = f(x, y)
      return z * z
    end
  end

  it("agree with finite differences", function()
    for _, dtype in ipairs { "float64", "complex128" } do
      for _, kind in ipairs { "plain", "duplicates", "unsorted" } do
        for _, format in ipairs(s.formats) do
          local x = s.matrix { kind = kind, format = format, dtype = dtype }
          local y = s.matrix { dtype = dtype, seed = 5, format = "csc" }
          local d = s.dense(4, 5, dtype)
          for _, f in ipairs { sp.add, sp.sub } do
            for _, values in ipairs { { x, y }, { x, d }, { d, x } } do
              s.check_grad(f, values)
              s.check_grad(square(f), values)
              s.check_rop(square(f), values)
            end
          end
        end
      end
    end
  end)

  it("have second derivatives", function()
    local x, y, d = s.matrix {}, s.matrix { seed = 5, format = "csc" }, s.dense(4, 5)
    for _, f in ipairs { sp.add, sp.sub } do
      s.check_second(square(f), { x, y })
      s.check_second(square(f), { x, d })
    end
  end)

  it("have the cotangent's pattern for two sparse operands, and are structured next to a dense one", function()
    local x, y, g = sp.csr_matrix "x", sp.csc_matrix "y", sp.csr_matrix "g"
    local z = sp.add(x, y)
    local gx = damo.grad(nil, x, { known_grads = { [z] = g } })
    assert.equal(g, gx)
    local A, D, G = s.matrix {}, s.dense(4, 5), s.dense(4, 5, "float64", 3)
    local d, gd = damo.matrix "d", damo.matrix "gd"
    local w = sp.sub(d, x)
    local by_x, by_d = table.unpack(damo.grad(nil, { x, d }, { known_grads = { [w] = gd } }))
    local f = damo.compile({ x, d, gd }, { by_x, by_d }, { on_unused_input = "ignore" })
    local p, q = f(A, D, G)
    s.same_storage(p, sp.with_data(A, -sp.gather(G, A)))
    s.close(q, G)
  end)

  it("are floats for integers", function()
    local x, y = sp.csr_matrix("x", { dtype = "int32" }), sp.csr_matrix "y"
    local cost = damo.sum(sp.toarray(sp.add(x, y)))
    local g = damo.compile({ x, y }, damo.grad(cost, x), { on_unused_input = "ignore" })
    local by_x = g(s.matrix { dtype = "int32" }, s.matrix {})
    assert.equal("float64", by_x.dtype)
    s.close(by_x, damo.compile({ x, y }, damo.grad(cost, y), { on_unused_input = "ignore" })(
      s.matrix { dtype = "int32" }, s.matrix {}))
  end)

  it("are summed where contributions differ in kind and format", function()
    local A = s.matrix {}
    s.check_grad(function(x) return sp.toarray(x) * 2 + sp.toarray(x:tocsc()) * sp.toarray(x) end, { A })
    s.check_grad(function(x) return sp.add(sp.mul(x, x:tocsc()), sp.transpose(sp.transpose(x) * 3)) end, { A })
  end)
end)

describe("impossible sums", function()
  local x, y = s.matrix {}, s.matrix { rows = 5, cols = 4 }
  local number = "sparse.%s: a sparse matrix and a number would give a dense result: use "
    .. "damo.sparse.structured_add(x, s) to compute on the stored entries alone, or x:toarray() to compute on the "
    .. "dense matrix"

  it("name both alternatives to a sum with a number", function()
    s.raises("type", number:format "add", function() return x + 1 end)
    s.raises("type", number:format "add", function() return 1 + x end)
    s.raises("type", number:format "sub", function() return damo.scalar "a" - s.variable(x) end)
    s.raises("type", "sparse.add: a sparse matrix and a vector would give a dense result: use "
      .. "damo.sparse.structured_add_s_v(x, v) to compute on the stored entries alone, or x:toarray() to compute on "
      .. "the dense matrix", function() return x + damo.ones { 5 } end)
    s.raises("type", "sparse.add: the dense operand must be a matrix, got one of rank 3",
      function() return x + damo.ones { 2, 4, 5 } end)
  end)

  it("name the shapes", function()
    s.raises("shape", "AddSS: shapes (4, 5) and (5, 4) do not agree: axis 1 of operand 1 has length 4, axis 1 of "
      .. "operand 2 5", function() return x + y end)
    local a, b, d = sp.csr_matrix "a", sp.csr_matrix "b", damo.matrix "d"
    local f = damo.compile({ a, b }, a + b)
    s.raises("shape", "add: shapes (4, 5) and (5, 4) are not equal", function() return f(x, y) end)
    local g = damo.compile({ a, d }, a - d)
    s.raises("shape", "AddSD: shapes (4, 5) and (4, 4) are not equal", function() return g(x, damo.ones { 4, 4 }) end)
  end)

  it("without a sparse operand", function()
    s.raises("type", "sparse.add: one operand must be sparse, got TensorType(float64, shape=(2,)) and "
      .. "TensorType(float64, shape=(2,))", function() return sp.add(damo.ones { 2 }, damo.ones { 2 }) end)
    s.raises("type", nil, function() return sp.add_s_d(x, x) end)
    s.raises("type", nil, function() return sp.add_s_s(x, damo.ones { 4, 5 }) end)
  end)
end)

-- dot, matmul and true_dot against products of tables of rows.
local damo = require "damo"
local s = require "spec.sparse.support"
local sparse = damo.sparse

-- a·b for tables: matrices, or a vector on either side.
local function product(a, b)
  local left, right = type(a[1]) ~= "table" and #a > 0, type(b[1]) ~= "table" and #b > 0
  local x = left and { a } or a
  local y = b
  if right then
    y = {}
    for i, v in ipairs(b) do y[i] = { v } end
  end
  local out = {}
  for i, row in ipairs(x) do
    out[i] = {}
    for j = 1, y[1] and #y[1] or 0 do
      local sum = 0
      for k, v in ipairs(row) do sum = sum + v * y[k][j] end
      out[i][j] = sum
    end
  end
  if left then return out[1] end
  if not right then return out end
  local flat = {}
  for i, row in ipairs(out) do flat[i] = row[1] end
  return flat
end

local function dot(x, y) return sparse.dot(x, y) end
local function true_dot(x, y) return sparse.true_dot(x, y) end

-- All combinations of operands with a sparse matrix of 4 x 5: name, x, y.
local function arrangements(m, dtype)
  local other = s.matrix { rows = 5, cols = 3, dtype = dtype, seed = 11, format = m.format }
  local format = m.format == "csr" and "csc" or "csr"
  local turned = s.matrix { rows = 5, cols = 3, dtype = dtype, seed = 12, format = format }
  return {
    { "sparse · dense", m.value, s.dense(5, 3, dtype) },
    { "sparse · many columns", m.value, s.dense(5, 70, dtype) },
    { "dense · sparse", s.dense(6, 4, dtype), m.value },
    { "sparse · sparse", m.value, other },
    { "sparse · the other format", m.value, turned },
    { "sparse · column", m.value, s.dense(5, 1, dtype) },
  }
end

local function vectors(m, dtype)
  return {
    { "sparse · vector", m.value, s.vector(5, dtype, 4) },
    { "vector · sparse", s.vector(4, dtype, 5), m.value },
  }
end

local reals = { "float32", "float64", "int8", "int64", "uint8" }

describe("dot", function()
  for _, dtype in ipairs(reals) do
    it("has the right values: " .. dtype, function()
      for _, m in ipairs(s.matrices(dtype, { fixed = true })) do
        for _, list in ipairs { arrangements(m, dtype), vectors(m, dtype) } do
          for _, c in ipairs(list) do
            local got = s.check_value(dot, { c[2], c[3] }, function(a, b)
              local p = product(a, b)
              if dtype == "uint8" or dtype == "int8" then
                return damo.cast(damo.array(p, "int64"), dtype):totable()
              end
              return p
            end)
            assert.is_false(sparse.is_sparse(got), c[1])
            assert.equal(dtype, got.dtype)
          end
        end
      end
    end)
  end

  it("multiplies complex numbers", function()
    for _, dtype in ipairs { "complex64", "complex128" } do
      for _, m in ipairs(s.matrices(dtype, { fixed = true })) do
        for _, list in ipairs { arrangements(m, dtype), vectors(m, dtype) } do
          for _, c in ipairs(list) do
            local got = s.same_everywhere(dot, { c[2], c[3] })[1]
            local want = damo.dot(sparse.toarray(c[2]), sparse.toarray(c[3]))
            assert.equal(dtype, got.dtype)
            s.close(got, want, c[1])
          end
        end
      end
    end
  end)

  it("of bool is a logical or of ands", function()
    local a = s.matrix { dtype = "bool", kind = "zeros" }
    local d = damo.cast(s.dense(5, 2, "int8"), "bool")
    local got = s.same_everywhere(dot, { a, d })[1]
    assert.equal("bool", got.dtype)
    for i, row in ipairs(damo.dot(damo.cast(sparse.toarray(a), "int64"), damo.cast(d, "int64")):totable()) do
      for j, v in ipairs(row) do assert.equal(v > 0, got:totable()[i][j]) end
    end
  end)

  it("promotes dtypes", function()
    local a = s.matrix { dtype = "float32" }
    assert.equal("float64", dot(a, s.dense(5, 2, "float64")).dtype)
    assert.equal("complex128", dot(s.matrix { dtype = "float64" }, s.dense(5, 2, "complex64")).dtype)
    assert.equal("int32", dot(s.matrix { dtype = "int8" }, s.dense(5, 2, "int32")).dtype)
    local x, d = sparse.csr_matrix("x", { dtype = "int8" }), damo.matrix "d"
    assert.equal("float64", sparse.Dot {}(x, d).dtype)
    s.close(damo.compile({ x, d }, sparse.Dot {}(x, d))(s.matrix { dtype = "int8" }, s.dense(5, 2)),
      damo.dot(sparse.toarray(s.matrix { dtype = "int8" }), s.dense(5, 2)))
  end)

  it("takes transposed and strided dense operands", function()
    for _, format in ipairs(s.formats) do
      local m = s.matrix { format = format }
      for _, n in ipairs { 1, 2, 3, 5, 40 } do
        local d = s.dense(n, 5)
        s.close(dot(m, damo.transpose(d)), damo.dot(sparse.toarray(m), damo.transpose(d)))
        local wide = s.dense(5, 2 * n)
        s.close(dot(m, wide[{ {}, { 1, -1, 2 } }]), damo.dot(sparse.toarray(m), wide[{ {}, { 1, -1, 2 } }]))
        local e = s.dense(4, n)
        s.close(dot(damo.transpose(e), m), damo.dot(damo.transpose(e), sparse.toarray(m)))
      end
      local v = s.vector(10, "float64")[{ { 1, -1, 2 } }]
      s.close(dot(m, v), damo.dot(sparse.toarray(m), v))
    end
  end)

  it("is called by damo.dot, matmul and the method", function()
    local a, d = s.matrix {}, s.dense(5, 2)
    s.close(damo.dot(a, d), dot(a, d))
    s.close(damo.matmul(a, d), dot(a, d))
    s.close(a:dot(d), dot(a, d))
    s.close(damo.dot(damo.transpose(d), sparse.transpose(a)), damo.transpose(dot(a, d)))
    assert.equal("SparseDot", damo.dot(sparse.csr_matrix "x", damo.matrix "d").owner.op.name)
  end)

  it("meets nan and inf of the dense operand only at stored positions", function()
    local d = damo.array { { 0 / 0, 1 }, { 2, 1 / 0 }, { 1, 1 } }
    for _, format in ipairs(s.formats) do
      local places = { rows = { 1, 2 }, cols = { 3, 2 }, values = { 2.0, 3.0 }, shape = { 2, 3 }, format = format }
      local a = sparse.coo(places)
      s.close(dot(a, d), { 2, 2, 6, 1 / 0 })
      s.close(dot(damo.transpose(d), sparse.transpose(a)), { 2, 6, 2, 1 / 0 })
    end
  end)

  it("of empty matrices", function()
    for _, format in ipairs(s.formats) do
      for _, shape in ipairs { { 0, 0, 0 }, { 0, 3, 2 }, { 3, 0, 2 }, { 3, 2, 0 }, { 2, 3, 4 } } do
        local m, k, n = table.unpack(shape)
        local a = sparse.from_dense(damo.zeros { m, k }, format)
        local b = sparse.from_dense(damo.zeros { k, n }, format)
        for _, y in ipairs { b, damo.zeros { k, n } } do
          local got = s.same_everywhere(dot, { a, y })[1]
          assert.same({ m, n }, got.shape)
          for _, v in ipairs(s.flat(got)) do assert.equal(0, v) end
        end
        assert.same({ m, n }, s.same_everywhere(dot, { damo.zeros { m, k }, b })[1].shape)
      end
    end
  end)

  it("has regular gradients, dense for every operand", function()
    for _, dtype in ipairs { "float64", "complex128" } do
      for _, m in ipairs(s.matrices(dtype, { fixed = true })) do
        if m.kind ~= "duplicates" then
          for _, list in ipairs { arrangements(m, dtype), vectors(m, dtype) } do
            for i, c in ipairs(list) do
              if i ~= 2 then s.check_grad(dot, { c[2], c[3] }) end
            end
          end
        end
      end
    end
    local x, d = sparse.csr_matrix "x", damo.matrix "d"
    local g = damo.grad(damo.sum(dot(x, d)), x)
    assert.is_nil(g.format)
    local a, v = s.matrix {}, s.dense(5, 2)
    local want = {}
    for i = 1, 4 do
      for k = 1, 5 do want[(i - 1) * 5 + k] = v:totable()[k][1] + v:totable()[k][2] end
    end
    s.close(damo.compile({ x, d }, g, { on_unused_input = "ignore" })(a, v), want)
  end)

  it("has an R_op and second derivatives", function()
    for _, dtype in ipairs { "float64", "complex128" } do
      for _, format in ipairs(s.formats) do
        local m = { value = s.matrix { dtype = dtype, format = format }, format = format }
        for _, list in ipairs { arrangements(m, dtype), vectors(m, dtype) } do
          for i, c in ipairs(list) do
            if i ~= 2 then
              s.check_rop(dot, { c[2], c[3] })
              s.check_second(function(x, y) return damo.sqr(dot(x, y)) end, { c[2], c[3] }, { tol = 1e-4 })
            end
          end
        end
      end
    end
  end)

  it("has gradients for integers", function()
    local x, d = sparse.csr_matrix("x", { dtype = "int32" }), damo.matrix "d"
    local y = sparse.Dot {}(x, d)
    local g = damo.grad(damo.sum(y), { x, d })
    local out = { damo.compile({ x, d }, g)(s.matrix { dtype = "int32" }, s.dense(5, 2)) }
    assert.equal("float64", out[1].dtype)
    s.close(out[1], damo.dot(damo.ones { 4, 2 }, s.dense(5, 2).T))
    assert.same({ 5, 2 }, out[2].shape)
  end)

  it("has a shape that needs no values", function()
    local x, d, v = sparse.csr_matrix "x", damo.matrix "d", damo.vector "v"
    local shapes = { damo.shape(dot(x, d)), damo.shape(dot(x, v)), damo.shape(true_dot(x, d)) }
    local f = damo.compile({ x, d, v }, shapes, { on_unused_input = "ignore" })
    local a, b, c = f(s.matrix {}, s.dense(5, 2), s.vector(5, "float64"))
    assert.same({ { 4, 2 }, { 4 }, { 4, 2 } }, { a:totable(), b:totable(), c:totable() })
  end)

  it("works along a huge inner axis", function()
    local a = s.huge { rows = 1, cols = 33, entries = 2 }
    s.close(dot(a, sparse.transpose(a)), { 2.25, 0, 0, 6.25 })
    local x = sparse.csr_matrix "x"
    s.close(damo.compile({ x }, dot(x, sparse.transpose(x)))(a), { 2.25, 0, 0, 6.25 })
  end)

  it("refuses wrong arguments", function()
    local a, x, d = s.matrix {}, sparse.csr_matrix "x", damo.matrix "d"
    s.raises("shape",
      "SparseDot: shapes (4, 5) and (4, 2) do not agree: axis 2 of the first is 5, axis 1 of the second is 4",
      function() dot(a, s.dense(4, 2)) end)
    s.raises("shape",
      "SparseDot: shapes (2,) and (4, 5) do not agree: axis 1 of the first is 2, axis 1 of the second is 4",
      function() dot(s.vector(2, "float64"), a) end)
    s.raises("shape",
      "SparseDot: shapes (4, 5) and (4, 5) do not agree: axis 2 of the first is 5, axis 1 of the second is 4",
      function() damo.compile({ x, d }, dot(x, d))(a, s.dense(4, 5)) end)
    s.raises("type", "SparseDot: operand 2 must be a sparse or dense matrix, got TensorType(float64, shape=(5, 1, 1))",
      function() dot(a, damo.zeros { 5, 1, 1 }) end)
    s.raises("type", "SparseDot: operand 1 or 2 must be sparse, got TensorType(float64, shape=(2, 2)) and "
      .. "TensorType(float64, shape=(2, 2))", function() dot(damo.zeros { 2, 2 }, damo.zeros { 2, 2 }) end)
  end)
end)

describe("true_dot", function()
  it("meets inf and nan at stored zeros", function()
    local function matrix(rows, cols, values, format)
      return sparse.coo { rows = rows, cols = cols, values = damo.array(values), shape = { 2, 2 }, format = format }
    end
    for _, f in ipairs(s.formats) do
      for _, g in ipairs(s.formats) do
        local zeros = matrix({ 1, 1, 2 }, { 1, 2, 2 }, { 0, 0, 3.0 }, f)
        local wild = matrix({ 1, 2, 2 }, { 1, 1, 2 }, { 1 / 0, 2, 0 / 0 }, g)
        s.close(true_dot(zeros, wild), damo.array { { 0 / 0, 0 / 0 }, { 6, 0 / 0 } })
        s.close(true_dot(wild, zeros), damo.array { { 0 / 0, 0 / 0 }, { 0, 0 / 0 } })
        local tame = matrix({ 1, 2, 2 }, { 1, 1, 2 }, { 4, 2, 5 }, g)
        local got = s.same_everywhere(true_dot, { zeros, tame })[1]
        s.close(got, damo.array { { 0, 0 }, { 6, 15 } })
        assert.equal(2, got.nnz)
        s.close(true_dot(zeros, zeros.T), damo.array { { 0, 0 }, { 0, 9 } })
        s.close(true_dot(wild.T, wild), damo.array { { 1 / 0, 0 / 0 }, { 0 / 0, 0 / 0 } })
      end
    end
  end)

  for _, dtype in ipairs { "float32", "float64", "int64" } do
    it("has the right values, and stores no zeros: " .. dtype, function()
      for _, m in ipairs(s.matrices(dtype, { fixed = true })) do
        for _, c in ipairs(arrangements(m, dtype)) do
          local got = s.check_value(true_dot, { c[2], c[3] }, product)
          assert.is_true(sparse.is_sparse(got), c[1])
          assert.equal(dtype, got.dtype)
          assert.equal(m.format, got.format)
          for _, v in ipairs(s.flat(got.data)) do assert.not_equal(0, v) end
        end
      end
    end)
  end

  it("multiplies complex numbers", function()
    for _, dtype in ipairs { "complex64", "complex128" } do
      for _, m in ipairs(s.matrices(dtype, { fixed = true })) do
        for _, c in ipairs(arrangements(m, dtype)) do
          local got = s.same_everywhere(true_dot, { c[2], c[3] })[1]
          s.close(got, damo.dot(sparse.toarray(c[2]), sparse.toarray(c[3])), c[1])
        end
      end
    end
  end)

  it("has regular gradients, sparse for sparse operands", function()
    for _, dtype in ipairs { "float64", "complex128" } do
      for _, m in ipairs(s.matrices(dtype, { fixed = true })) do
        if m.kind ~= "duplicates" then
          for i, c in ipairs(arrangements(m, dtype)) do
            if i ~= 2 then s.check_grad(true_dot, { c[2], c[3] }) end
          end
        end
      end
    end
    for _, keep in ipairs { true, false } do
      local x, d = sparse.csr_matrix "x", damo.matrix "d"
      local y = damo.sum(sparse.toarray(sparse.true_dot(x, d, { grad_preserves_dense = keep })))
      local g = damo.grad(y, { x, d })
      assert.equal("csr", g[1].format)
      assert.equal(not keep, g[2].format ~= nil)
    end
  end)

  it("has an R_op and second derivatives", function()
    for _, dtype in ipairs { "float64", "complex128" } do
      for _, format in ipairs(s.formats) do
        local m = { value = s.matrix { dtype = dtype, format = format }, format = format }
        for i, c in ipairs(arrangements(m, dtype)) do
          if i ~= 2 then
            s.check_rop(true_dot, { c[2], c[3] })
            s.check_second(function(x, y) return sparse.square(true_dot(x, y)) end, { c[2], c[3] }, { tol = 1e-4 })
          end
        end
      end
    end
  end)

  it("keeps nan results of stored values times zeros", function()
    local a = sparse.coo { rows = { 1 }, cols = { 1 }, values = { 1 / 0 }, shape = { 30, 30 } }
    local got = true_dot(a, damo.zeros { 30, 60 })
    assert.equal(60, got.nnz)
    assert.is_true(s.flat(got.data)[1] ~= s.flat(got.data)[1])
  end)

  it("works on huge axes", function()
    local a = s.huge { rows = 2, cols = 33, format = "csr" }
    local b = s.huge { rows = 33, cols = 2, format = "csc" }
    local inner = true_dot(a, sparse.transpose(a))
    assert.same({ 4, 4 }, inner.shape)
    assert.equal("int32", inner.indices.dtype)
    s.close(inner, damo.diag(damo.array { 2.25, 6.25, 12.25, 20.25 }))
    local wide = true_dot(sparse.csr_from_dense(damo.array { { 2.0, 0, 0, 0 }, { 0, 0, 0, 3.0 } }), a)
    assert.same({ 2, 2 ^ 33 }, wide.shape)
    s.close(wide.data, { 3, 13.5 })
    s.close(true_dot(sparse.transpose(b), b), damo.diag(damo.array { 20.25, 12.25, 6.25, 2.25 }))
    local tall = true_dot(b, damo.array { { 1.0, 0 }, { 0, 1 }, { 0, 0 }, { 0, 0 } })
    assert.same({ 2 ^ 33, 2 }, tall.shape)
    s.close(tall.data, { 4.5, 3.5 })
  end)

  it("refuses wrong arguments", function()
    local a = s.matrix {}
    s.raises("type", "TrueDot: operands must have one dtype, got float64 and float32: cast one of them",
      function() sparse.TrueDot {}(a, s.dense(5, 2, "float32")) end)
    s.raises("shape",
      "TrueDot: shapes (4, 5) and (4, 2) do not agree: axis 2 of the first is 5, axis 1 of the second is 4",
      function() true_dot(a, s.dense(4, 2)) end)
    s.raises("type", "TrueDot: operand 2 must be a sparse or dense matrix, got TensorType(float64, shape=(5,))",
      function() true_dot(a, s.vector(5, "float64")) end)
  end)
end)

describe("true_dot of a tall matrix and a dense one", function()
  -- So tall that the dense product would be larger than its operands.
  local function tall(format, value)
    return sparse.coo { rows = { 1, 50, 100, 7 }, cols = { 1, 2, 5, 3 }, values = { 2, value, -3, 1 },
      shape = { 100, 5 }, format = format }
  end
  local x = damo.array { { 1, 0, 2, 0 }, { 0, 3, 0, 1 }, { 1, 1, 0, 0 }, { 0, 0, 0, 0 }, { 2, 0, 0, 5 } }

  it("is the dense product, also where zeros meet infinity and nan", function()
    for _, format in ipairs(s.formats) do
      for _, value in ipairs { 4, math.huge, -math.huge, 0 / 0 } do
        local a = tall(format, value)
        local want = damo.dot(a:toarray(), x)
        local got = sparse.true_dot(a, x)
        assert.equal(format, got.format)
        s.close(got, s.flat(want), format)
        s.close(sparse.true_dot(x.T, a.T), s.flat(want.T), format)
        local strided = damo.array { { 1, 9, 0, 9, 2, 9, 0, 9 } }[{ {}, { 1, 8, 2 } }]
        local b = sparse.coo { rows = { 1, 60 }, cols = { 1, 1 }, values = { 1, value }, shape = { 60, 1 },
          format = format }
        s.close(sparse.true_dot(b, strided), s.flat(damo.dot(b:toarray(), strided)), format)
      end
    end
  end)

  it("refuses different lengths at run time", function()
    local a, d = sparse.csr_matrix "a", damo.dmatrix "d"
    for _, f in ipairs { damo.compile({ a, d }, sparse.true_dot(a, d)), damo.compile({ a, d }, damo.dot(a, d)) } do
      s.raises("shape", nil, function() f(tall("csr", 1), damo.ones { 4, 4 }) end)
    end
    s.raises("shape", nil, function()
      damo.compile({ a, d }, sparse.true_dot(d, a))(tall("csr", 1), damo.ones { 4, 4 })
    end)
  end)
end)

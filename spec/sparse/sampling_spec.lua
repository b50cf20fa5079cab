-- sampling_dot against p * dot(x, y.T).
local damo = require "damo"
local s = require "spec.sparse.support"
local sparse = damo.sparse

local function sampling_dot(x, y, p) return sparse.sampling_dot(x, y, p) end

local function wanted(x, y, p)
  local out = {}
  for i, row in ipairs(p) do
    out[i] = {}
    for j, v in ipairs(row) do
      local sum = 0
      for k, a in ipairs(x[i]) do sum = sum + a * y[j][k] end
      out[i][j] = v * sum
    end
  end
  return out
end

describe("sampling_dot", function()
  for _, dtype in ipairs { "float32", "float64", "int32", "int64" } do
    it("has the right values: " .. dtype, function()
      for _, m in ipairs(s.matrices(dtype, { fixed = true })) do
        for _, k in ipairs { 1, 3, 37 } do
          local got = s.check_value(sampling_dot, { s.dense(4, k, dtype), s.dense(5, k, dtype, 3), m.value }, wanted)
          assert.equal(m.format, got.format)
          assert.equal(dtype, got.dtype)
        end
      end
    end)
  end

  it("multiplies complex numbers", function()
    for _, dtype in ipairs { "complex64", "complex128" } do
      for _, m in ipairs(s.matrices(dtype, { fixed = true })) do
        local x, y = s.dense(4, 3, dtype), s.dense(5, 3, dtype, 3)
        local got = s.same_everywhere(sampling_dot, { x, y, m.value })[1]
        s.close(got, sparse.toarray(m.value) * damo.dot(x, damo.transpose(y)))
      end
    end
  end)

  it("keeps p's pattern, and its explicit zeros; duplicates count as their sum", function()
    local x, y = s.dense(4, 3), s.dense(5, 3)
    local zeros = s.matrix { kind = "zeros" }
    assert.equal(zeros.nnz, sampling_dot(x, y, zeros).nnz)
    local double = s.matrix { kind = "duplicates" }
    local sum = sparse.sum_duplicates and sparse.sum_duplicates(double)
    local got = sampling_dot(x, y, double)
    assert.is_true(got.nnz < double.nnz)
    if sum then assert.equal(sum.nnz, got.nnz) end
  end)

  it("computes only at stored positions", function()
    local p = sparse.coo { rows = { 1 }, cols = { 2 }, values = { 2.0 }, shape = { 2, 2 } }
    local got = sampling_dot(damo.array { { 1.0 }, { 0 / 0 } }, damo.array { { 1 / 0 }, { 3.0 } }, p)
    s.close(got.data, { 6 })
  end)

  it("promotes dtypes and takes strided operands", function()
    local p = s.matrix { dtype = "int8" }
    local x, y = s.dense(4, 6, "float32"), s.dense(3, 5)
    local got = sampling_dot(x[{ {}, { 1, -1, 2 } }], damo.transpose(y), p)
    assert.equal("float64", got.dtype)
    s.close(got, sparse.toarray(p) * damo.dot(damo.cast(x[{ {}, { 1, -1, 2 } }], "float64"), y))
    local u, v, w = damo.matrix("u", { dtype = "float32" }), damo.matrix "v", sparse.csr_matrix("w", { dtype = "int8" })
    assert.equal("float64", sparse.SamplingDot {}(u, v, w).dtype)
  end)

  it("of empty matrices", function()
    for _, format in ipairs(s.formats) do
      for _, shape in ipairs { { 0, 0, 0 }, { 0, 3, 2 }, { 3, 0, 2 }, { 3, 2, 0 } } do
        local m, n, k = table.unpack(shape)
        local p = sparse.from_dense(damo.zeros { m, n }, format)
        assert.same({ m, n }, s.same_everywhere(sampling_dot, { damo.zeros { m, k }, damo.zeros { n, k }, p })[1].shape)
      end
    end
  end)

  it("has exact gradients, p's on its pattern", function()
    for _, dtype in ipairs { "float64", "complex128" } do
      for _, m in ipairs(s.matrices(dtype, { fixed = true })) do
        local values = { s.dense(4, 3, dtype), s.dense(5, 3, dtype, 3), m.value }
        s.check_grad(sampling_dot, values)
        s.check_rop(sampling_dot, values)
      end
    end
    local x, y, p = damo.matrix "x", damo.matrix "y", sparse.csc_matrix "p"
    local g = damo.grad(sparse.sp_sum(sampling_dot(x, y, p)), { x, y, p })
    assert.is_nil(g[1].format)
    assert.equal("csc", g[3].format)
  end)

  it("has second derivatives", function()
    for _, dtype in ipairs { "float64", "complex128" } do
      for _, format in ipairs(s.formats) do
        local values = { s.dense(4, 2, dtype), s.dense(5, 2, dtype, 3), s.matrix { dtype = dtype, format = format } }
        s.check_second(function(x, y, p) return sparse.square(sampling_dot(x, y, p)) end, values, { tol = 1e-4 })
      end
    end
  end)

  it("accepts a cotangent of any kind", function()
    local x, y, p = damo.matrix "x", damo.matrix "y", sparse.csr_matrix "p"
    local a, b, m = s.dense(4, 3), s.dense(5, 3, nil, 3), s.matrix { kind = "unsorted" }
    local z = sampling_dot(x, y, p)
    local cotangent = s.dense(4, 5, nil, 8)
    local weights = sparse.toarray(m) * cotangent
    for _, g in ipairs { cotangent, sparse.from_dense(cotangent, "csr"), sparse.from_dense(cotangent, "csc") } do
      local grads = damo.grad(nil, { x, y, p }, { known_grads = { [z] = damo.constant(g) } })
      local gx, gy, gp = damo.compile({ x, y, p }, { grads[1], grads[2], grads[3] })(a, b, m)
      s.close(gx, damo.dot(weights, b))
      s.close(gy, damo.dot(damo.transpose(weights), a))
      s.close(gp.data, sparse.gather(cotangent * damo.dot(a, damo.transpose(b)), m))
    end
  end)

  it("of bool operands is the logical or of products, as a dense dot", function()
    local x, y = damo.array { { true, true }, { false, true } }, damo.array { { true, true }, { true, false } }
    local p = sparse.csr_from_dense(damo.array { { 3.0, 1 }, { 2, 4 } })
    s.close(s.same_everywhere(sampling_dot, { x, y, p })[1].data, { 3, 1, 2, 0 })
    local q = sparse.csr_matrix "p"
    local cost = damo.sum(sparse.csm_data(sampling_dot(x, y, q)))
    s.close(damo.compile({ q }, damo.grad(cost, q))(p).data, { 1, 1, 1, 0 })
    local all = s.same_everywhere(sampling_dot, { x, y, sparse.cast(p, "bool") })[1]
    assert.equal("bool", all.dtype)
  end)

  it("refuses wrong arguments", function()
    local m = s.matrix {}
    s.raises("shape", "SamplingDot: shapes (4, 2) and (5, 3) do not agree: axis 2 of operand 1 has length 2, axis 2 of "
      .. "operand 2 3", function() sampling_dot(s.dense(4, 2), s.dense(5, 3), m) end)
    s.raises("shape", nil, function() sampling_dot(s.dense(5, 2), s.dense(4, 2), m) end)
    s.raises("type", "SamplingDot: operand 3 must be sparse, got TensorType(float64, shape=(4, 5)); "
      .. "damo.sparse.csr_from_dense(x) makes it sparse",
      function() sampling_dot(s.dense(4, 2), s.dense(5, 2), s.dense(4, 5)) end)
    s.raises("type", nil, function() sampling_dot(m, s.dense(5, 2), m) end)
    local x, y, p = damo.matrix "x", damo.matrix "y", sparse.csr_matrix "p"
    local f = damo.compile({ x, y, p }, sampling_dot(x, y, p))
    s.raises("shape", "SamplingDot: x·yᵀ has shape (5, 4), and p (4, 5)",
      function() f(s.dense(5, 2), s.dense(4, 2), m) end)
  end)
end)

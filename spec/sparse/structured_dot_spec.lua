-- structured_dot and the Ops of its gradient, against dense products.
local damo = require "damo"
local s = require "spec.sparse.support"
local sparse = damo.sparse

local structured_dot = function(x, y) return sparse.structured_dot(x, y) end

local function other_format(format) return format == "csr" and "csc" or "csr" end

local function arrangements(m, dtype)
  local function right(format) return s.matrix { rows = 5, cols = 3, dtype = dtype, seed = 11, format = format } end
  return {
    { "sparse · dense", m.value, s.dense(5, 3, dtype), dense = true },
    { "sparse · many columns", m.value, s.dense(5, 40, dtype), dense = true, large = true },
    { "dense · sparse", s.dense(6, 4, dtype), m.value, dense = true },
    { "sparse · sparse", m.value, right(m.format) },
    { "sparse · the other format", m.value, right(other_format(m.format)) },
  }
end

describe("structured_dot", function()
  for _, dtype in ipairs { "float32", "float64", "complex64", "complex128", "int32" } do
    it("has the right values: " .. dtype, function()
      for _, m in ipairs(s.matrices(dtype, { fixed = true })) do
        for _, c in ipairs(arrangements(m, dtype)) do
          local got = s.same_everywhere(structured_dot, { c[2], c[3] })[1]
          assert.equal(not c.dense, sparse.is_sparse(got))
          assert.equal(dtype, got.dtype)
          s.close(got, damo.dot(sparse.toarray(c[2]), sparse.toarray(c[3])), m.name .. " " .. c[1])
          if not c.dense then assert.equal(m.format, got.format) end
        end
      end
    end)
  end

  it("promotes dtypes", function()
    local a = s.matrix { dtype = "float32" }
    assert.equal("float64", structured_dot(a, s.dense(5, 2)).dtype)
    assert.equal("complex128", structured_dot(a, s.dense(5, 2, "complex128")).dtype)
    local x, d = sparse.csc_matrix("x", { dtype = "float32" }), damo.matrix "d"
    local g = damo.grad(damo.sum(sparse.StructuredDot {}(x, d)), x)
    assert.equal("float32", g.dtype)
    assert.equal("float32", damo.grad(damo.sum(structured_dot(x, d)), x).dtype)
  end)

  it("of empty matrices", function()
    for _, format in ipairs(s.formats) do
      for _, shape in ipairs { { 0, 0, 0 }, { 0, 3, 2 }, { 3, 0, 2 }, { 3, 2, 0 }, { 2, 3, 4 } } do
        local m, k, n = table.unpack(shape)
        local a, b = sparse.from_dense(damo.zeros { m, k }, format), sparse.from_dense(damo.zeros { k, n }, format)
        assert.same({ m, n }, s.same_everywhere(structured_dot, { a, b })[1].shape)
        assert.same({ m, n }, s.same_everywhere(structured_dot, { a, damo.zeros { k, n } })[1].shape)
        local x, y, d = sparse.matrix(format, "x"), sparse.matrix(format, "y"), damo.matrix "d"
        local gs = damo.grad(damo.sum(sparse.toarray(structured_dot(x, y))), { x, y })
        local gd = damo.grad(damo.sum(structured_dot(x, d)), { x, d })
        local f = damo.compile({ x, y, d }, { gs[1], gs[2], gd[1], gd[2] })
        local r = { f(a, b, damo.zeros { k, n }) }
        assert.same({ { m, k }, { k, n }, { m, k }, { k, n } }, { r[1].shape, r[2].shape, r[3].shape, r[4].shape })
      end
    end
  end)

  it("has a gradient on the sparse operand's pattern", function()
    for _, dtype in ipairs { "float64", "complex128" } do
      for _, m in ipairs(s.matrices(dtype, { fixed = true })) do
        for _, c in ipairs(arrangements(m, dtype)) do
          if not c.large then s.check_grad(structured_dot, { c[2], c[3] }) end
        end
      end
    end
    for _, m in ipairs(s.matrices("float64", { fixed = true })) do
      local x, d = sparse.matrix(m.format, "x", { itype = m.value.itype }), damo.matrix "d"
      local g = damo.compile({ x, d }, damo.grad(damo.sum(structured_dot(x, d)), x))(m.value, s.dense(5, 3))
      s.close(g.indices, m.value.indices, m.name)
      s.close(g.indptr, m.value.indptr, m.name)
    end
  end)

  it("accepts a cotangent of any kind", function()
    local x, y = sparse.csr_matrix "x", sparse.csc_matrix "y"
    local a, b = s.matrix {}, s.matrix { rows = 5, cols = 3, format = "csc", seed = 9 }
    local z = structured_dot(x, y)
    local at = s.flat(damo.dot(s.dense(4, 3), damo.transpose(sparse.toarray(b))))
    local dense = s.dense(4, 3)
    for _, g in ipairs { dense, sparse.from_dense(dense, "csr"), sparse.from_dense(dense, "csc") } do
      local gx, gy = table.unpack(damo.grad(nil, { x, y }, { known_grads = { [z] = damo.constant(g) } }))
      local f = damo.compile({ x, y }, { gx, gy }, { on_unused_input = "ignore" })
      local vx, vy = f(a, b)
      s.close(vx.data, sparse.gather(damo.array(at):reshape { shape = { 4, 5 } }, a))
      s.close(vy, damo.dot(damo.transpose(sparse.toarray(a)), s.dense(4, 3)))
    end
  end)

  it("has an R_op and second derivatives", function()
    for _, dtype in ipairs { "float64", "complex128" } do
      for _, format in ipairs(s.formats) do
        local m = { value = s.matrix { dtype = dtype, format = format }, format = format }
        for _, c in ipairs(arrangements(m, dtype)) do
          if not c.large then
            s.check_rop(structured_dot, { c[2], c[3] })
            if c.dense then
              local function squared(x, y) return damo.sqr(structured_dot(x, y)) end
              s.check_second(squared, { c[2], c[3] }, { tol = 1e-4 })
            else
              local function squared(x, y) return sparse.square(structured_dot(x, y)) end
              s.check_second(squared, { c[2], c[3] }, { tol = 1e-4, wrt = { 1 } })
            end
          end
        end
      end
    end
  end)

  it("works on huge axes", function()
    local a = s.huge { rows = 2, cols = 33, format = "csr" }
    s.close(structured_dot(a, sparse.transpose(a)), damo.diag(damo.array { 2.25, 6.25, 12.25, 20.25 }))
    local tall = s.huge { rows = 33, cols = 2, format = "csc" }
    local x, y, d = sparse.csr_matrix "x", sparse.csc_matrix "y", damo.matrix "d"
    local z = sparse.sp_sum(sparse.square(structured_dot(x, y)), { sparse_grad = true })
    local gx, gy = table.unpack(damo.grad(z, { x, y }))
    local vx, vy = damo.compile({ x, y }, { gx, gy })(a, sparse.transpose(a))
    s.close(vx.data, { 2 * 1.5 ^ 3, 2 * 2.5 ^ 3, 2 * 3.5 ^ 3, 2 * 4.5 ^ 3 })
    assert.same({ 2 ^ 33, 4 }, vy.shape)
    s.close(vy.data, { 2 * 1.5 ^ 3, 2 * 2.5 ^ 3, 2 * 3.5 ^ 3, 2 * 4.5 ^ 3 })
    local b = sparse.csc_from_dense(s.dense(4, 3))
    local w = sparse.sp_sum(structured_dot(y, sparse.as_sparse_variable(b)), { sparse_grad = true })
    local g = damo.compile({ y }, damo.grad(w, y))(tall)
    local sums = damo.sum(sparse.toarray(b), { axis = 2 })
    s.close(g.data, { sums[1], sums[2], sums[3], sums[4] })
    assert.is_truthy(d)
  end)

  it("has a shape that needs no values", function()
    local x, d = sparse.csr_matrix "x", damo.matrix "d"
    local square = structured_dot(x, sparse.transpose(x))
    local f = damo.compile({ x, d }, { damo.shape(structured_dot(x, d)), damo.shape(square) })
    local a, b = f(s.matrix {}, s.dense(5, 2))
    assert.same({ { 4, 2 }, { 4, 4 } }, { a:totable(), b:totable() })
  end)

  it("refuses wrong arguments", function()
    local a = s.matrix {}
    s.raises("shape",
      "StructuredDot: shapes (4, 5) and (4, 2) do not agree: axis 2 of the first is 5, axis 1 of the second is 4",
      function() structured_dot(a, s.dense(4, 2)) end)
    s.raises("type", "StructuredDot: operand 2 must be a sparse or dense matrix, got TensorType(float64, shape=(5,))",
      function() sparse.StructuredDot {}(a, s.vector(5, "float64")) end)
    s.raises("type", "StructuredDot: operand 1 must be sparse, got TensorType(float64, shape=(2, 2)); "
      .. "damo.sparse.csr_from_dense(x) makes it sparse",
      function() structured_dot(damo.zeros { 2, 2 }, damo.zeros { 2, 2 }) end)
    s.raises("type", "structured_dot: operand 1 is a vector, both must be matrices: damo.dot(x, y) takes vectors; or "
      .. "make it a row, damo.dimshuffle(x, {\"x\", 1})", function() structured_dot(s.vector(4, "float64"), a) end)
    s.raises("type", "structured_dot: operand 2 is a vector, both must be matrices: damo.dot(x, y) takes vectors; or "
      .. "make it a column, damo.dimshuffle(y, {1, \"x\"})", function() structured_dot(a, s.vector(5, "float64")) end)
    local v = s.vector(5, "float64")
    s.close(structured_dot(a, damo.dimshuffle(v, { 1, "x" })), s.flat(damo.dot(a, v)))
  end)
end)

describe("the gradient Ops of structured_dot", function()
  local function parts(m) return m.indices, m.indptr end

  for _, format in ipairs(s.formats) do
    local class = format == "csr" and "StructuredDotGradCSR" or "StructuredDotGradCSC"

    it(class .. " gives the values of the gradient", function()
      for _, dtype in ipairs { "float32", "float64", "complex128" } do
        for _, itype in ipairs(s.itypes) do
          for _, kind in ipairs { "plain", "unsorted", "duplicates", "nnz0" } do
            local m = s.matrix { format = format, dtype = dtype, itype = itype, kind = kind }
            local b, g = s.dense(5, 9, dtype), s.dense(4, 9, dtype, 3)
            local idx, ptr = parts(m)
            local function samples(y, z) return sparse[class] {}(damo.constant(idx), damo.constant(ptr), y, z) end
            local y, z = s.variable(b, "b"), s.variable(g, "g")
            for _, mode in ipairs(s.modes) do
              local got = damo.compile({ y, z }, samples(y, z), { mode = mode })(b, g)
              s.close(got, sparse.gather(damo.dot(g, damo.transpose(b)), m))
            end
            if dtype ~= "float32" then
              s.check_grad(samples, { b, g })
              s.check_rop(samples, { b, g })
              local function squared(u, v) return u.type and damo.sqr(samples(u, v)) or damo.zeros({ m.nnz }, dtype) end
              local small = { s.dense(5, 2, dtype), s.dense(4, 2, dtype, 3) }
              if kind ~= "duplicates" then s.check_second(squared, small, { tol = 1e-4 }) end
            end
          end
        end
      end
    end)

    it(class .. " checks its vectors", function()
      local m = s.matrix { format = format }
      local idx, ptr = damo.lvector "idx", damo.lvector "ptr"
      local b, g = damo.matrix "b", damo.matrix "g"
      local f = damo.compile({ idx, ptr, b, g }, sparse[class] {}(idx, ptr, b, g))
      local i, p = parts(m)
      i, p = damo.cast(i, "int64"), damo.cast(p, "int64")
      local right, left = s.dense(5, 2), s.dense(4, 2)
      assert.equal(m.nnz, f(i, p, right, left).shape[1])
      s.raises("index", nil, function() f(i + 100, p, right, left) end)
      s.raises("index", nil, function() f(i - 100, p, right, left) end)
      s.raises("value", nil, function() f(i, p * 2, right, left) end)
      s.raises("value", nil, function() f(i, p - 1, right, left) end)
      s.raises("shape", nil, function() f(i, p[{ { 1, -2 } }], right, left) end)
      s.raises("shape", nil, function() f(i, p[{ { 1, 0 } }], right, left) end)
      s.raises("shape", nil, function() f(i, p, s.dense(5, 3), left) end)
    end)
  end

  it("StructuredDotGrad samples the product of sparse matrices", function()
    for _, dtype in ipairs { "float64", "complex128" } do
      for _, fx in ipairs(s.formats) do
        for _, fb in ipairs(s.formats) do
          for _, fg in ipairs(s.formats) do
            local x = s.matrix { format = fx, kind = "unsorted", dtype = dtype }
            local b = s.matrix { rows = 5, cols = 6, format = fb, kind = "duplicates", dtype = dtype, seed = 5 }
            local g = s.matrix { rows = 4, cols = 6, format = fg, kind = "unsorted", dtype = dtype, seed = 6 }
            local function samples(y, z) return sparse.StructuredDotGrad {}(damo.constant(x), y, z) end
            local y, z = s.variable(b, "b"), s.variable(g, "g")
            local want = sparse.gather(damo.dot(sparse.toarray(g), damo.transpose(sparse.toarray(b))), x)
            s.close(damo.compile({ y, z }, samples(y, z))(b, g), want)
            s.check_grad(samples, { b, g })
            s.check_rop(samples, { b, g })
          end
        end
      end
    end
  end)
end)

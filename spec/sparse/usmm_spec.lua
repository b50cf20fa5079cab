-- usmm and its special forms against alpha * dot(x, y) + z.
local damo = require "damo"
local s = require "spec.sparse.support"
local sparse = damo.sparse

local function usmm(alpha, x, y, z) return sparse.usmm(alpha, x, y, z) end

local function wanted(alpha, x, y, z)
  return damo.dot(sparse.toarray(x), sparse.toarray(y)) * alpha + z
end

local function arrangements(m, dtype)
  local function right(format) return s.matrix { rows = 5, cols = 3, dtype = dtype, seed = 11, format = format } end
  return {
    { m.value, s.dense(5, 3, dtype), s.dense(4, 3, dtype, 2) },
    { m.value, s.dense(5, 70, dtype), s.dense(4, 70, dtype, 2), large = true },
    { m.value, s.dense(5, 1, dtype), s.dense(4, 1, dtype, 2) },
    { s.dense(6, 4, dtype), m.value, s.dense(6, 5, dtype, 2) },
    { m.value, right "csr", s.dense(4, 3, dtype, 2) },
    { m.value, right "csc", s.dense(4, 3, dtype, 2) },
  }
end

describe("usmm", function()
  for _, dtype in ipairs { "float32", "float64", "complex64", "complex128", "int64" } do
    it("has the right values: " .. dtype, function()
      for _, m in ipairs(s.matrices(dtype, { fixed = true })) do
        for _, c in ipairs(arrangements(m, dtype)) do
          local got = s.same_everywhere(function(x, y, z) return usmm(3, x, y, z) end, c)[1]
          assert.equal(dtype, got.dtype)
          s.close(got, wanted(3, table.unpack(c)), m.name)
        end
      end
    end)
  end

  it("takes literals, other dtypes and transposed operands", function()
    local a, d, z = s.matrix { dtype = "float32" }, s.dense(3, 5, "float32"), s.dense(3, 4)
    local got = usmm(2, a, damo.transpose(d), damo.transpose(z))
    assert.equal("float64", got.dtype)
    local product = damo.cast(damo.dot(sparse.toarray(a), damo.transpose(d)), "float64")
    s.close(got, product * 2 + damo.transpose(z), nil, 1e-6)
    assert.equal("float32", usmm(2.5, a, damo.transpose(d), s.dense(4, 3, "float32")).dtype)
    s.close(usmm(0.0, a, damo.transpose(d), damo.transpose(z)), damo.transpose(z))
  end)

  it("of empty matrices", function()
    for _, format in ipairs(s.formats) do
      for _, shape in ipairs { { 0, 0, 0 }, { 0, 3, 2 }, { 3, 0, 2 }, { 3, 2, 0 } } do
        local m, k, n = table.unpack(shape)
        local a = sparse.from_dense(damo.zeros { m, k }, format)
        local got = s.same_everywhere(usmm, { damo.array(2.0), a, damo.zeros { k, n }, damo.ones { m, n } })[1]
        s.close(got, damo.ones { m, n })
      end
    end
  end)

  it("has exact gradients for all four operands, an R_op and second derivatives", function()
    for _, dtype in ipairs { "float64", "complex128" } do
      for _, format in ipairs(s.formats) do
        local m = { value = s.matrix { dtype = dtype, format = format, kind = "unsorted" }, format = format }
        for _, c in ipairs(arrangements(m, dtype)) do
          if not c.large then
            local values = { damo.array { 1.5 }, table.unpack(c) }
            local function usmm_of(alpha, ...) return usmm(alpha[1], ...) end
            if dtype == "complex128" then values[1] = damo.complex(values[1], values[1]) end
            s.check_grad(usmm_of, values)
            s.check_rop(usmm_of, values)
            s.check_second(function(...) return damo.sqr(usmm_of(...)) end, values, { tol = 1e-4 })
          end
        end
      end
    end
  end)

  it("refuses wrong arguments", function()
    local a, d = s.matrix {}, s.dense(5, 2)
    s.raises("shape",
      "Usmm: shapes (4, 5) and (4, 2) do not agree: axis 2 of the first is 5, axis 1 of the second is 4",
      function() usmm(2.0, a, s.dense(4, 2), s.dense(4, 2)) end)
    s.raises("shape",
      "Usmm: shapes (2, 2) and (4, 5) do not agree: axis 1 of operand 4 has length 2, axis 1 of operand 2 4",
      function() usmm(2.0, a, d, s.dense(2, 2)) end)
    s.raises("type", "Usmm: operand 4 must be a dense matrix, got TensorType(float64, shape=(2,))",
      function() usmm(2.0, a, d, s.vector(2, "float64")) end)
    s.raises("type", "Usmm: operand 1 must be a scalar, got TensorType(float64, shape=(2,))",
      function() usmm(s.vector(2, "float64"), a, d, s.dense(4, 2)) end)
    s.raises("type", nil, function() usmm(2.0, s.dense(4, 5), d, s.dense(4, 2)) end)
    local vars = s.variables { damo.array(1.0), a, d, s.dense(4, 2) }
    local f = damo.compile(vars, usmm(table.unpack(vars)), { mode = "FAST_COMPILE" })
    s.raises("shape", "Usmm: x·y has shape (4, 2), and z (4, 3)",
      function() f(damo.array(1.0), a, d, s.dense(4, 3)) end)
  end)
end)

describe("UsmmCscDense and UsmmCsrDense", function()
  for _, format in ipairs(s.formats) do
    local class = format == "csr" and "UsmmCsrDense" or "UsmmCscDense"

    it(class .. " gives what usmm gives, in place too", function()
      for _, dtype in ipairs { "float32", "float64", "complex128" } do
        local alpha = damo.constant(damo.cast(damo.full({ 1 }, 2.0), dtype))[1]
        for _, n in ipairs { 1, 3, 70 } do
          local values = { s.matrix { format = format, dtype = dtype }, s.dense(5, n, dtype), s.dense(4, n, dtype, 2) }
          local vars = s.variables(values)
          local x, y, z = table.unpack(vars)
          local plain = sparse[class] { inplace = false }(alpha, x, y, z)
          local inplace = sparse[class] { inplace = true }(alpha, x, y, z * 1)
          assert.same({ 4 }, inplace.owner.op.destroy_map[1])
          for _, mode in ipairs { "FAST_COMPILE", "FAST_RUN", "DEBUG" } do
            local f = damo.compile(vars, { plain, inplace }, { mode = mode })
            for _, got in ipairs { f(table.unpack(values)) } do s.close(got, wanted(2, table.unpack(values)), mode) end
          end
        end
      end
    end)

    it(class .. " has gradients", function()
      local values = { damo.array { 1.5 }, s.matrix { format = format }, s.dense(5, 2), s.dense(4, 2, nil, 2) }
      local function fn(alpha, x, y, z) return sparse[class] { inplace = false }(alpha[1], x, y, z) end
      s.check_grad(fn, values)
      s.check_rop(fn, values)
    end)

    it(class .. " refuses other operands", function()
      local x, other = sparse.matrix(format, "x"), sparse.matrix(format == "csr" and "csc" or "csr", "x")
      local a, y, z = damo.scalar "a", damo.matrix "y", damo.matrix "z"
      s.raises("type", ("%s: operand 2 must be %s"):format(class, format),
        function() sparse[class] {}(a, other, y, z) end)
      s.raises("type", nil, function() sparse[class] {}(a, x, x, z) end)
      s.raises("type", class .. ": operands must have one dtype, got float32 and float64",
        function() sparse[class] {}(a, x, damo.matrix("y", { dtype = "float32" }), z) end)
    end)
  end
end)

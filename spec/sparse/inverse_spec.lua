-- The entries of the inverse at a matrix's positions, which gradients of determinants use, against dense inverses.
local damo = require "damo"
local s = require "spec.sparse.support"
local sparse = damo.sparse

local x, y = sparse.csr_matrix "x", sparse.csr_matrix "y"
local entries = damo.compile({ x, y }, sparse.FactorInverse {}(sparse.Factorize {}(x), y))

-- (A⁻¹)ᵀ, dense, column by column.
local function inverse_transposed(a)
  return damo.transpose(sparse.solve(a, damo.cast(damo.eye(a.shape[1]), a.dtype)))
end

-- Diagonally dominant, with a duplicate entry or unsorted indices.
local function matrix(format, dtype, kind)
  local m = s.matrix { format = format, dtype = dtype, rows = 5, cols = 5, kind = kind }
  return sparse.add(m, sparse.eye(5, 5, { dtype = dtype, format = format }) * 7)
end

describe("the entries of an inverse", function()
  for _, dtype in ipairs(s.floats) do
    it("give the gradients of determinants of " .. dtype, function()
      for _, format in ipairs(s.formats) do
        local a = matrix(format, dtype)
        local m = sparse.matrix(format, "m", { dtype = dtype })
        local want = inverse_transposed(a) * (sparse.sp_ones_like(a):toarray())
        local cost = dtype:find "complex" and damo.real(sparse.det(m)) or sparse.logdet(m)
        local f = damo.compile({ m }, { damo.grad(cost, m), sparse.det(m) })
        local slope, det = f(a)
        if dtype:find "complex" then want = damo.conj(want * det) end
        s.close(slope, s.flat(want), format, dtype:find "64" and dtype ~= "float64" and 1e-2 or 1e-8)
      end
    end)
  end

  it("include positions where the factors cancel to 0", function()
    local a = sparse.csr_from_dense(damo.array { { 1, 1, 0 }, { 1, 1, 1 }, { 0, 1, 1 } })
    s.close(entries(a, a), { 0, 1, 1, -1, 1, 1, 0 })
    s.close(entries(a, a:tocsc()), { 0, 1, 1, -1, 1, 1, 0 })
    local n = 6
    local band = damo.eye(n) + damo.eye(n, n, 1) + damo.eye(n, n, -1)
    local b = sparse.csr_from_dense(band + damo.eye(n) * 0.5)
    s.close(entries(b, b), s.flat(sparse.gather(inverse_transposed(b), b)), "a band", 1e-10)
  end)

  it("are in the order of the matrix that asks for them", function()
    local a = matrix("csr", "float64")
    local want = inverse_transposed(a)
    for _, kind in ipairs { a, a:tocsc():tocsr(), sparse.csr_from_dense(a:toarray()) } do
      s.close(entries(a, kind), s.flat(sparse.gather(want, kind)), "order", 1e-10)
    end
    local part = sparse.tril(a)
    s.close(entries(a, part), s.flat(sparse.gather(want, part)), "a part", 1e-10)
    assert.same({ 0 }, entries(a, sparse.csr { shape = { 5, 5 } }).shape)
    local empty = sparse.csr { shape = { 0, 0 } }
    assert.same({ 0 }, entries(empty, empty).shape)
  end)

  it("refuse wrong arguments", function()
    local a = sparse.eye(3)
    s.raises("value", "the matrix has not the pattern that the factor was made with",
      function() entries(a, sparse.csr_from_dense(damo.ones { 3, 3 })) end)
    s.raises("shape", "the matrix has shape (4, 4), the factor that of a square one of (3, 3)",
      function() entries(a, sparse.eye(4)) end)
    for _, m in ipairs { sparse.csr_from_dense(damo.ones { 3, 3 }), sparse.csr { shape = { 3, 3 } } } do
      s.raises("numeric", nil, function() entries(m, m) end)
    end
    s.raises("shape", nil, function() entries(s.matrix { rows = 2, cols = 3 }, s.matrix { rows = 2, cols = 3 }) end)
  end)
end)

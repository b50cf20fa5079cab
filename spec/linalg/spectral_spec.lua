-- Singular values, eigenvalues and norms.
-- luacheck: no max line length
local damo = require "damo"
local h = assert(loadfile "spec/linalg/harness.lua")(describe, it)
local linalg = damo.linalg

local function symmetric(shape, seed)
  local a = h.random(shape, seed)
  return a + h.transposed(a) + damo.diag(damo.arange(1, shape[#shape] + 1))
end
local function adjoint(x) return h.transposed(damo.conj(x)) end
local function hermitian(shape, seed)
  local a = h.complex(h.random(shape, seed), seed + 1)
  return a + adjoint(a) + damo.diag(damo.arange(1, shape[#shape] + 1))
end
local function scaled(x, w) return x * damo.expand_dims(w, -2) end
local function message(f, ...)
  local ok, err = pcall(f, ...)
  assert(not ok)
  return err.message, err.kind
end

describe("svd", function()
  local shapes = { { 4, 3 }, { 3, 4 }, { 3, 3 }, { 1, 3 }, { 3, 1 }, { 1, 1 }, { 2, 3, 2 }, { 2, 2, 2, 3 }, { 2, 1, 3 } }
  for _, shape in ipairs(shapes) do
    for _, complex in ipairs { false, true } do
      local a = complex and h.complex(h.random(shape, 3)) or h.random(shape, 3)
      local least = math.min(shape[#shape - 1], shape[#shape])
      local name = (" of %s %s"):format(table.concat(shape, "x"), complex and "complex" or "real")
      h.case("values" .. name, linalg.svdvals, { a })
      h.case("values by compute_uv=false" .. name, function(x) return linalg.svd(x, { compute_uv = false }) end, { a })
      for _, full in ipairs { false, true } do
        local function factors(x) return linalg.svd(x, { full_matrices = full }) end
        -- Functions that do not depend on how singular vectors are chosen; of the full form, on the space of those left over.
        h.case(("product of the factors, full=%s"):format(tostring(full)) .. name, function(x)
          local u, s, vh = factors(x)
          if full then u, vh = u[{ damo.ellipsis, { 1, least } }], vh[{ damo.ellipsis, { 1, least }, {} }] end
          return damo.matmul(scaled(u, s * s), vh)
        end, { a })
        h.case(("a projection, full=%s"):format(tostring(full)) .. name, function(x)
          local u = factors(x)
          local last = u[{ damo.ellipsis, { full and shape[#shape - 1] > least and least + 1 or -1, -1 } }]
          return damo.matmul(last, adjoint(last))
        end, { a })
        h.case(("a projection of vh, full=%s"):format(tostring(full)) .. name, function(x)
          local _, _, vh = factors(x)
          local last = vh[{ damo.ellipsis, { full and shape[#shape] > least and least + 1 or -1, -1 }, {} }]
          return damo.matmul(adjoint(last), last)
        end, { a })
      end
    end
  end

  it("gives orthonormal factors of the shapes asked for", function()
    local a = h.random({ 5, 3 }, 1)
    local u, s, vh = linalg.svd(a)
    assert.same({ 5, 5 }, u.shape)
    assert.same({ 3 }, s.shape)
    assert.is_true(damo.allclose(damo.dot(u.T, u), damo.eye(5)))
    assert.is_true(damo.allclose(damo.dot(scaled(u[{ {}, { 1, 3 } }], s), vh), a))
    assert.same({ 5, 3 }, linalg.svd(a, { full_matrices = false }).shape)
    assert.equal("float32", linalg.svd(a:astype "float32").dtype)
    assert.equal("float64", linalg.svd(damo.array({ { 1, 2 }, { 3, 4 } }, "int32")).dtype)
    assert.equal("float32", linalg.svdvals(h.complex(a):astype "complex64").dtype)
  end)

  it("of empty matrices", function()
    local u, s, vh = linalg.svd(damo.zeros { 3, 0 })
    assert.is_true(damo.array_equal(u, damo.eye(3)))
    assert.same({ 0 }, s.shape)
    assert.same({ 0, 0 }, vh.shape)
    assert.same({ 0, 2 }, linalg.svdvals(damo.zeros { 0, 2, 3 }).shape)
  end)

  it("tells nan, and vectors without a gradient", function()
    local bad = damo.array { { 1, 0 / 0 }, { 0, 1 } }
    assert.equal("svd: the matrix has an entry that is nan or infinite", (message(linalg.svd, bad)))
    local wide = damo.array { { 1, math.huge, 3 }, { -math.huge, 5, 7 } } -- LAPACK's iteration has no end
    for _, name in ipairs { "svd", "svdvals", "pinv" } do
      assert.equal(name .. ": the matrix has an entry that is nan or infinite", (message(linalg[name], wide)))
    end
    assert.equal("lstsq: the matrix has an entry that is nan or infinite",
      (message(linalg.lstsq, wide, damo.ones { 2 })))
    assert.equal("lstsq: the right side has an entry that is nan or infinite",
      (message(linalg.lstsq, damo.eye(2), damo.array { 1, 0 / 0 })))
    assert.equal("numeric", select(2, linalg.svdvals(bad, { on_fail = "return" })).kind)
    local x = damo.dmatrix "x"
    local u = linalg.svd(x)
    local f = damo.compile({ x }, damo.grad(u[{ 1, 2 }] + u[{ 2, 1 }] * 2, x))
    local text, kind = message(f, damo.eye(2))
    assert.equal("numeric", kind)
    assert.is_truthy(text:find("values 1 and 2 are equal to rounding", 1, true), text)
  end)

  it("of equal singular values has the gradient of what does not depend on the vectors", function()
    local x = damo.dmatrix "x"
    local u, _, vh = linalg.svd(x)
    local f = damo.compile({ x }, damo.grad(damo.dot(u, vh)[{ 1, 2 }], x)) -- the orthogonal polar factor
    assert.is_true(damo.allclose(f(damo.eye(2)), damo.array { { 0, 0.5 }, { -0.5, 0 } }))
    local nuclear = damo.compile({ x }, damo.grad(linalg.norm(x, "nuc"), x))
    assert.is_true(damo.allclose(nuclear(damo.eye(3)), damo.eye(3)))
  end)
end)

describe("eigh", function()
  for _, lower in ipairs { true, false } do
    for _, complex in ipairs { false, true } do
      for _, shape in ipairs { { 1, 1 }, { 4, 4 }, { 2, 3, 3 } } do
        local a = complex and hermitian(shape, 4) or symmetric(shape, 4)
        local b = complex and damo.matmul(a, adjoint(a)) + 2 * damo.eye(shape[#shape]) or h.positive(shape, 9)
        local o = { lower = lower }
        local name = (" of %s %s, lower=%s"):format(table.concat(shape, "x"), complex and "complex" or "real", tostring(lower))
        h.case("values" .. name, function(x) return linalg.eigvalsh(x, o) end, { a })
        h.case("generalised values" .. name, function(x, y) return linalg.eigvalsh(x, y, o) end, { a, b })
        h.case("a function of the matrix" .. name, function(x)
          local w, v = linalg.eigh(x, o)
          return damo.matmul(scaled(v, damo.exp(0.3 * w)), adjoint(v))
        end, { a })
        h.case("generalised projection" .. name, function(x, y)
          local _, v = linalg.eigh(x, y, o)
          local first = v[{ damo.ellipsis, { 1, 1 } }]
          return damo.matmul(first, adjoint(first))
        end, { a, b }, { second = #shape == 2 })
      end
    end
    it("reads one triangle, lower=" .. tostring(lower), function()
      local a, o = symmetric({ 3, 3 }, 2), { lower = lower }
      local half = lower and damo.tril(a) or damo.triu(a)
      assert.is_true(damo.allclose(linalg.eigvalsh(half, o), linalg.eigvalsh(a, o)))
      assert.is_true(damo.allclose(linalg.eigh(half, o), linalg.eigvalsh(a)))
      assert.is_true(damo.allclose(linalg.eigh(a, { eigvals_only = true, lower = lower }), linalg.eigvalsh(a)))
    end)
    it("takes anything in the other triangle, lower=" .. tostring(lower), function()
      local a, o = symmetric({ 3, 3 }, 2), { lower = lower }
      local odd = damo.where((lower and damo.tril or damo.triu)(damo.ones { 3, 3 }):gt(0), a, 0 / 0)
      for _, x in ipairs { odd, (odd.T + 0).T, odd[{ damo.newaxis, {}, {} }] * damo.ones { 2, 1, 1 } } do
        assert.is_true(damo.allclose(linalg.eigvalsh(x, o), linalg.eigvalsh(a)))
        assert.is_true(damo.allclose(linalg.eigh(x, o), linalg.eigvalsh(a)))
      end
      odd[{ lower and 3 or 1, lower and 1 or 3 }] = 1 / 0
      assert.equal("eigvalsh: the matrix has an entry that is nan or infinite", (message(linalg.eigvalsh, odd, o)))
    end)
  end

  it("tells what is wrong", function()
    assert.equal("eigh: operand 1 must be square in its last two axes, got shape (2, 3)", (message(linalg.eigh, damo.ones { 2, 3 })))
    assert.equal("eigh: the matrix has an entry that is nan or infinite", (message(linalg.eigh, damo.array { { 0 / 0 } })))
    assert.equal("eigh: a matrix has 40000 rows, LAPACK's routine takes 32760 at most; eigvalsh takes larger ones",
      (message(linalg.eigh, damo.tensor("x", { shape = { 40000, 40000 } }))))
    assert.equal("svd: a matrix is 30000 x 40000, LAPACK's routine takes one length above 23000 at most; svdvals takes larger matrices",
      (message(linalg.svd, damo.tensor("x", { shape = { 30000, 40000 } }))))
    linalg.eigvalsh(damo.tensor("x", { shape = { 40000, 40000 } }))
    linalg.svd(damo.tensor("x", { shape = { 40000, 40 } }))
    assert.equal("shape", select(2, message(linalg.eigh, damo.ones { 1, 2 }, damo.eye(2))))
    assert.equal("numeric", select(2, message(linalg.eigh, damo.eye(2), -damo.eye(2))))
    assert.equal("numeric", select(2, linalg.eigh(damo.eye(2), -damo.eye(2), { on_fail = "return" })).kind)
    local one, none = damo.eye(2), damo.stack { damo.eye(2), -damo.eye(2) }
    local values = linalg.eigvalsh(damo.stack { one, one }, none, { on_fail = "nan" })
    assert.is_true(damo.array_equal(damo.isnan(values), damo.array({ { false, false }, { true, true } }, "bool")))
    local x = damo.dmatrix "x"
    local _, v = linalg.eigh(x)
    local text = message(damo.compile({ x }, damo.grad(v[{ 1, 1 }] + 2 * v[{ 1, 2 }], x)), damo.eye(3))
    assert.is_truthy(text:find("values 1 and 2 are equal to rounding", 1, true), text)
    local w = linalg.eigvalsh(x)
    assert.is_true(damo.array_equal(damo.compile({ x }, damo.grad(damo.sum(w), x))(damo.eye(3)), damo.eye(3)))
  end)

  -- Many small matrices take a kernel of their own.
  for n = 1, 9 do
    for _, lower in ipairs { true, false } do
      it(("of a stack of 3 x 7 matrices of order %d, lower=%s"):format(n, tostring(lower)), function()
        local a, o = h.random({ 3, 7, n, n }, n), { lower = lower }
        local full = lower and damo.tril(a) + h.transposed(damo.tril(a, -1)) or damo.triu(a) + h.transposed(damo.triu(a, 1))
        for _, x in ipairs { a, h.transposed(h.transposed(a):copy()), 1e200 * a, 1e-200 * a } do
          local w, v = linalg.eigh(x, o)
          local scale = damo.max(damo.abs(x))
          local back = damo.matmul(v * damo.expand_dims(w / scale, -2), h.transposed(v))
          assert.is_true(damo.allclose(back, full / damo.max(damo.abs(a)), { atol = 1e-14 }))
          assert.is_true(damo.allclose(damo.matmul(h.transposed(v), v), damo.eye(n) * damo.ones { 3, 7, 1, 1 }))
          assert.is_true(damo.allclose(w[{ 2, 3 }], linalg.eigvalsh(x[{ 2, 3 }], o), { rtol = 1e-13, atol = 1e-14 * scale }))
          assert.is_true(damo.allclose(linalg.eigvalsh(x, o), w, { rtol = 1e-13, atol = 1e-14 * scale }))
        end
        local w, v = linalg.eigh(a:astype "float32", o)
        assert.equal("float32", v.dtype)
        assert.is_true(damo.allclose(w, linalg.eigvalsh(a, o), { rtol = 1e-5, atol = 1e-5 }))
      end)
    end
  end
  it("of a stack whose entries are close to overflow", function()
    for dtype, greatest in pairs { float32 = 3e38, float64 = 1.5e308 } do
      local x = damo.zeros({ 9, 3, 3 }, { dtype = dtype }) + damo.array({ { greatest, 0, 0 }, { 0, 1, 0 }, { 0, 0, 2 } }, dtype)
      local w = linalg.eigvalsh(x)
      assert.is_true(damo.allclose(w / greatest, damo.array { 0, 0, 1 } * damo.ones { 9, 1 }))
    end
  end)
  h.case("of many small matrices", function(x)
    local w, v = linalg.eigh(x)
    return damo.matmul(scaled(v, damo.exp(0.3 * w)), adjoint(v))
  end, { symmetric({ 9, 3, 3 }, 4) }, { second = false })

  it("tells which of many small matrices fails", function()
    local stack = damo.eye(2) * damo.ones { 20, 1, 1 }
    stack[{ 13, 2, 1 }] = 0 / 0
    assert.equal("eigh: the matrix has an entry that is nan or infinite (entry (13,) of the leading axes)", (message(linalg.eigh, stack)))
    local w = linalg.eigvalsh(stack, { on_fail = "nan" })
    assert.is_true(w[{ 12, 1 }] == 1 and w[{ 13, 1 }] ~= w[{ 13, 1 }] and w[{ 20, 2 }] == 1)
    assert.is_true(damo.array_equal(linalg.eigvalsh(damo.zeros { 20, 2, 2 }), damo.zeros { 20, 2 }))
  end)

  it("of empty matrices is empty", function()
    local w, v = linalg.eigh(damo.zeros { 2, 0, 0 })
    assert.same({ 2, 0 }, w.shape)
    assert.same({ 2, 0, 0 }, v.shape)
  end)
end)

describe("eig", function()
  local turned = damo.array { { 1, -2, 0.3 }, { 2, 1, 0.5 }, { 0.2, 0.3, 4 } }
  local cases = { ["a real matrix"] = turned, ["a complex matrix"] = h.complex(h.random({ 3, 3 }, 4)),
    ["a stack"] = damo.stack { turned, 0.5 * turned + damo.diag(damo.array { 1, 2, 5 }) } }
  for name, a in pairs(cases) do
    h.case("values of " .. name, linalg.eigvals, { a })
    h.case("values with vectors of " .. name, function(x) return (linalg.eig(x)) end, { a })
    h.case("vectors of " .. name, function(x) return (select(2, linalg.eig(x))) end, { a })
    h.case("a function of " .. name, function(x)
      local w, v = linalg.eig(x)
      return damo.matmul(scaled(v, damo.exp(0.3 * w)), adjoint(v))
    end, { a })
  end

  it("gives complex eigenvectors of length 1, also of a real matrix", function()
    local w, v = linalg.eig(turned)
    assert.equal("complex128", w.dtype)
    assert.is_true(damo.allclose(damo.matmul(turned, v), scaled(v, w)))
    assert.is_true(damo.allclose(damo.sum(damo.sqr(damo.abs(v)), { axis = 1 }), damo.ones(3)))
    assert.equal("complex64", linalg.eigvals(turned:astype "float32").dtype)
    assert.is_true(damo.allclose(linalg.eigvals(turned), w))
  end)

  it("of empty matrices, and of what has no eigenvalues", function()
    assert.same({ 0, 0 }, select(2, linalg.eig(damo.zeros { 0, 0 })).shape)
    assert.equal("shape", select(2, message(linalg.eig, damo.ones { 2, 3 })))
    assert.equal("numeric", select(2, linalg.eigvals(damo.array { { 0 / 0 } }, { on_fail = "return" })).kind)
    local x = damo.dmatrix "x" -- defective: the gradient of its eigenvalues is infinite
    local f = damo.compile({ x }, damo.grad(damo.sum(damo.real(linalg.eigvals(x) ^ 2)), x))
    assert.equal("numeric", select(2, message(f, damo.array { { 1, 1 }, { 0, 1 } })))
  end)
end)

describe("a condition number", function()
  local a, c = h.regular({ 3, 3 }, 5), h.complex(h.regular({ 3, 3 }, 5))
  for _, p in ipairs { "fro", "nuc", 1, -1, 2, -2, "inf", "-inf" } do
    h.case("of order " .. p, function(x) return linalg.cond(x, p) end, { a })
    h.case("of order " .. p .. ", complex", function(x) return linalg.cond(x, p) end, { c })
  end
  h.case("of a stack", linalg.cond, { h.random({ 2, 4, 3 }, 5) })

  it("of a singular matrix is infinite", function()
    for _, p in ipairs { 1, 2, "fro" } do assert.equal(math.huge, linalg.cond(damo.zeros { 2, 2 } + damo.diag(damo.array { 1, 0 }), p)) end
    for _, p in ipairs { 1, 2, -2 } do assert.equal(math.huge, linalg.cond(damo.zeros { 2, 2 }, p)) end
    for _, p in ipairs { 1, "fro" } do assert.equal("shape", select(2, message(linalg.cond, damo.ones { 2, 3 }, p))) end
  end)
end)

describe("matrix_rank", function()
  it("counts singular values", function()
    local a = damo.array { { 1, 2, 3 }, { 2, 4, 6 }, { 1, 0, 1 } }
    assert.equal(2, linalg.matrix_rank(a))
    assert.equal(1, linalg.matrix_rank(a, { tol = 3 }))
    assert.equal(1, linalg.matrix_rank(a, { rtol = 0.5 }))
    assert.equal(2, linalg.matrix_rank(damo.diag(damo.array { 1, 0, -2 }), { hermitian = true }))
    assert.is_true(damo.array_equal(linalg.matrix_rank(damo.stack { a, damo.zeros { 3, 3 } }), damo.array({ 2, 0 }, "int64")))
    assert.equal(1, linalg.matrix_rank(damo.array { 0, 2 }))
    assert.equal(0, linalg.matrix_rank(damo.zeros { 0, 3 }))
    local x = damo.dmatrix "x"
    assert.equal(2, damo.compile({ x }, linalg.matrix_rank(x))(a))
  end)
end)

describe("norm", function()
  local a, c = h.random({ 3, 4 }, 5), h.complex(h.random({ 3, 4 }, 5))
  local linear = { [1] = true, [-1] = true, inf = true, ["-inf"] = true } -- of real numbers
  for _, ord in ipairs { "fro", "nuc", 1, -1, 2, -2, "inf", "-inf" } do
    local o = { second = not linear[ord] }
    h.case("of a matrix, " .. ord, function(x) return linalg.norm(x, ord) end, { a }, o)
    h.case("of a complex matrix, " .. ord, function(x) return linalg.norm(x, ord) end, { c })
    h.case("of a stack, " .. ord, function(x) return linalg.norm(x, { ord = ord, axis = { 3, 1 }, keepdims = true }) end, { h.random({ 3, 2, 4 }, 6) }, o)
  end
  for _, ord in ipairs { 0, 1, 2, 3, 0.5, -1, -2, "inf", "-inf" } do
    local o = { grad = ord ~= 0 }
    h.case("of vectors, " .. ord, function(x) return linalg.norm(x, { ord = ord, axis = -1 }) end, { a },
      { grad = ord ~= 0, second = not (linear[ord] and ord ~= -1) })
    h.case("of complex vectors, " .. ord, function(x) return linalg.norm(x, { ord = ord, axis = 1, keepdims = true }) end, { c }, o)
  end
  for ord, want in pairs { [1] = 21, [2] = 9.539392014169456, [3] = 7.611662611020244, [0] = 6, inf = 6, ["-inf"] = 1 } do
    it("of a vector of all entries, " .. ord, function()
      assert.is_true(math.abs(linalg.vector_norm(damo.array { { 1, -2, 3 }, { 4, -5, 6 } }, ord) - want) < 1e-14 * want)
    end)
  end
  h.case("of vectors along two axes", function(x)
    return linalg.vector_norm(x, { ord = 3, axis = { 1, 3 }, keepdims = true })
  end, { h.random({ 2, 2, 3 }, 4) })
  h.case("of complex vectors along two axes", function(x) return linalg.vector_norm(x, { axis = { 1, -1 } }) end,
    { h.complex(h.random({ 2, 2, 3 }, 4)) })
  h.case("of a vector", linalg.vector_norm, { h.random({ 4 }, 4) })
  local stack = damo.array { { { 1, -2, 1.5 }, { 4, -5, 3 } }, { { 7, -8, 4.5 }, { 10, -11, 6 } } }
  for ord, want in pairs {
    fro = { 7.566372975210778, 19.75474626513841 }, nuc = { 8.139410298049853, 19.98124120268809 },
    [2] = { 7.542816146387377, 19.753432696227364 }, [-2] = { 0.5965941516624755, 0.22780850646072456 },
    [1] = { 7, 19 }, [-1] = { 4.5, 10.5 }, inf = { 12, 27 }, ["-inf"] = { 4.5, 19.5 },
  } do
    it("of a stack of matrices, " .. ord, function()
      assert.is_true(damo.allclose(linalg.matrix_norm(stack, ord), damo.array(want), { rtol = 1e-13 }))
      assert.same({ 2, 1, 1 }, linalg.matrix_norm(stack, { ord = ord, keepdims = true }).shape)
    end)
  end
  h.case("of a stack of matrices without an order", linalg.matrix_norm, { h.random({ 2, 3, 2 }, 6) })
  it("of what is no matrix, or by no order of matrices, is an error", function()
    assert.is_false(pcall(linalg.matrix_norm, damo.array { 1, 2 }))
    assert.is_false(pcall(linalg.matrix_norm, stack, 3))
    assert.is_false(pcall(linalg.vector_norm, stack, "fro"))
  end)
  h.case("of all entries", linalg.norm, { h.random({ 2, 3, 2 }, 6) })

  it("of zeros has the gradient 0", function()
    local x = damo.dvector "x"
    for _, ord in ipairs { 2, 3 } do
      assert.is_true(damo.array_equal(damo.compile({ x }, damo.grad(linalg.norm(x, ord), x))(damo.zeros(2)), damo.zeros(2)))
    end
  end)

  it("takes integers as float64, and tells orders that do not exist", function()
    assert.equal(5, linalg.norm(damo.array({ 3, 4 }, "int32")))
    assert.equal(4, linalg.norm(damo.array { 3, -4 }, math.huge))
    assert.equal("linalg.norm: there is no norm of order 'two'", (message(linalg.norm, a, "two")))
    assert.equal('linalg.norm: the order of a matrix norm is 1, -1, 2, -2, inf, -inf, "fro" or "nuc"', (message(linalg.norm, a, 3)))
    assert.equal("linalg.norm: the order of a vector's norm is a number", (message(linalg.norm, damo.ones(2), "nuc")))
    assert.equal("linalg.norm: a norm is taken over one axis or two, not 3; name them by axis", (message(linalg.norm, damo.ones { 2, 2, 2 }, 1)))
  end)
end)

describe("vectorize", function()
  local x3, y = damo.tensor3("x", { dtype = "float64" }), damo.dmatrix "y"
  local function classes(f)
    local found = {}
    for _, node in ipairs(damo.graph.toposort(f.fgraph.outputs)) do found[node.op.name] = true end
    return found
  end

  it("makes one node of a stack, without a loop", function()
    local a, b = h.positive({ 4, 3, 3 }, 2), h.random({ 3, 3 }, 3) - 4 * damo.eye(3)
    for name, case in pairs {
      EigenvaluesHermitian = { linalg.eigvalsh, "(n,n)->(n)" }, SVD = { function(x) return (linalg.svd(x)) end, "(m,n)->(m,k)" },
      Expm = { linalg.expm, "(n,n)->(n,n)" }, Cholesky = { linalg.cholesky, "(n,n)->(n,n)" },
    } do
      local f = damo.compile({ x3 }, damo.vectorize(case[1], case[2])(x3))
      assert.is_nil(classes(f).Scan, name)
      assert.is_true(classes(f)[name], name)
      assert.is_true(damo.allclose(f(a), case[1](a)), name)
    end
    local f = damo.compile({ x3, y }, damo.vectorize(linalg.solve_continuous_lyapunov, "(n,n),(n,n)->(n,n)")(y, x3))
    assert.is_nil(classes(f).Scan)
    assert.is_true(damo.allclose(f(a, b), linalg.solve_continuous_lyapunov(b, a)))
    -- An operand with leading axes of its own, a batch of the other one.
    local z = damo.tensor { dtype = "float64", ndim = 4 }
    local g = damo.vectorize(function(p, q) return linalg.solve_triangular(p, q) end, "(k,n,n),(n,m)->(k,n,m)")
    local t, s = h.regular({ 2, 3, 3 }, 4), h.random({ 5, 3, 2 }, 5)
    local got = damo.compile({ z, x3 }, g(z, x3))(damo.expand_dims(t, 1) * damo.ones { 5, 1, 1, 1 }, s)
    for i = 1, 5 do assert.is_true(damo.allclose(got[i], linalg.solve_triangular(t, s[i]))) end
  end)
end)

describe("a compiled graph", function()
  local x = damo.dmatrix "x"
  local names = { Eigh = true, EigenvaluesHermitian = true, SVD = true, SingularValues = true, Eig = true, Eigenvalues = true }
  local function decompositions(outputs)
    local f, found = damo.compile({ x }, outputs), {}
    for _, node in ipairs(damo.graph.toposort(f.fgraph.outputs)) do
      if names[node.op.name] then found[#found + 1] = node.op.name end
    end
    return table.concat(found, " ")
  end
  local function slope(y) return damo.grad(damo.sum(damo.real(y * y)), x) end

  it("has one decomposition for values and their gradient", function()
    local w, s, e = linalg.eigvalsh(x), linalg.svdvals(x), linalg.eigvals(x)
    assert.equal("Eigh", decompositions { w, slope(w) })
    assert.equal("SVD", decompositions { s, slope(s) })
    assert.equal("Eig", decompositions { e, slope(e) })
    local u = linalg.svd(x)
    assert.equal("SVD", decompositions { u, s })
    assert.equal("EigenvaluesHermitian Eigh", decompositions { linalg.eigvalsh(x, { lower = false }), slope(w) })
  end)

  it("has no vectors that nothing reads", function()
    local _, s = linalg.svd(x)
    assert.equal("SingularValues", decompositions { s })
    assert.equal("EigenvaluesHermitian", decompositions { (linalg.eigh(x)) })
    assert.equal("Eigenvalues", decompositions { (linalg.eig(x)) })
    assert.equal("EigenvaluesHermitian", decompositions { (linalg.eigh(x)), linalg.eigvalsh(x) })
  end)
end)

describe("subspaces", function()
  for _, shape in ipairs { { 3, 3 }, { 4, 2 }, { 2, 4 }, { 2, 3, 2 } } do
    for _, side in ipairs { "right", "left" } do
      local a = h.random(shape, 5)
      local name = ("polar, %s, of %d axes, %d rows"):format(side, #shape, shape[#shape - 1])
      h.case(name, function(x) return linalg.polar(x, { side = side }) end, { a }, { second = false })
      h.case(name .. ", complex", function(x) return linalg.polar(x, { side = side }) end, { h.complex(a) }, { second = false })
      it(name .. " gives factors", function()
        local u, p = linalg.polar(a, side)
        assert.is_true(damo.allclose(side == "right" and damo.matmul(u, p) or damo.matmul(p, u), a))
        assert.is_true(damo.allclose(p, h.transposed(p)))
        assert.is_true(damo.all(damo.ge(linalg.eigvalsh(p), -1e-12)))
      end)
    end
  end

  it("polar has gradients where singular values are equal", function()
    for _, m in ipairs { damo.eye(2), damo.array { { 0, -2 }, { 2, 0 } }, damo.array { { .8, -.6 }, { .6, .8 } } } do
      for _, side in ipairs { "right", "left" } do
        damo.verify_grad(function(x)
          local u, p = linalg.polar(x, { side = side })
          return damo.sum(p * damo.array { { 1, 2 }, { 3, 5 } }) + damo.sum(u * damo.array { { 2, 1 }, { 0, 3 } })
        end, { m })
      end
    end
  end)

  local low = damo.matmul(h.random({ 5, 2 }, 3), h.random({ 2, 4 }, 4)) -- of rank 2
  for _, a in ipairs { low, low.T, h.complex(low), damo.cast(low, "float32"), damo.zeros { 3, 2 }, h.random({ 2, 3 }, 8) } do
    it(("orth and null_space of %d x %d, %s"):format(a.shape[1], a.shape[2], a.dtype), function()
      local q, z = linalg.orth(a), linalg.null_space(a)
      local tol = { atol = a.dtype == "float32" and 1e-5 or 1e-12 }
      local rank = linalg.matrix_rank(a)
      assert.same({ a.shape[1], rank }, q.shape)
      assert.same({ a.shape[2], a.shape[2] - rank }, z.shape)
      assert.equal(a.dtype, q.dtype)
      assert.is_true(damo.allclose(damo.dot(adjoint(q), q), damo.eye(rank), tol))
      assert.is_true(damo.allclose(damo.dot(adjoint(z), z), damo.eye(z.shape[2]), tol))
      assert.is_true(damo.allclose(damo.dot(q, damo.dot(adjoint(q), a)), a, tol))
      assert.is_true(damo.allclose(damo.dot(a, z), damo.zeros { a.shape[1], z.shape[2] }, tol))
    end)
  end
  h.case("the projection on the range", function(x)
    local q = linalg.orth(x)
    return damo.dot(q, adjoint(q))
  end, { h.random({ 4, 2 }, 6) }, { second = false })
  h.case("the projection on the null space", function(x)
    local z = linalg.null_space(x)
    return damo.dot(z, adjoint(z))
  end, { h.random({ 2, 4 }, 6) }, { second = false })

  local a, b = h.random({ 5, 3 }, 6), h.random({ 5, 2 }, 7)
  h.case("the angles between ranges", linalg.subspace_angles, { a, b }, { second = false })
  h.case("the angles between ranges, the smaller one first", linalg.subspace_angles, { b, a }, { second = false })
  h.case("the angles between ranges, complex", linalg.subspace_angles, { h.complex(a), h.complex(b, 78) }, { second = false })
  it("enclose angles", function()
    local function turned(t) return damo.array { { 1, 0 }, { 0, math.cos(t) }, { 0, math.sin(t) }, { 0, 0 } } end
    for _, t in ipairs { 1e-9, 1e-3, 0.7, 1.2, 1.5 } do -- the least ones keep their digits
      local angles = linalg.subspace_angles(turned(0), turned(t))
      assert.is_true(math.abs(angles[1] - t) <= 1e-15 + 4e-16 * t)
      assert.is_true(angles[2] < 1e-15)
    end
  end)
  it("have angles of 0 with themselves, and none with nothing", function()
    assert.is_true(damo.allclose(linalg.subspace_angles(a, 2 * a), damo.zeros(3), { atol = 1e-14 }))
    assert.is_true(damo.allclose(linalg.subspace_angles(damo.eye(4)[{ {}, { 1, 2 } }], damo.eye(4)[{ {}, { 2, 3 } }]),
      damo.array { math.pi / 2, 0 }, { atol = 1e-14 }))
    assert.same({ 0 }, linalg.subspace_angles(a, damo.zeros { 5, 2 }).shape)
    assert.equal("shape", select(2, message(linalg.subspace_angles, a, damo.ones { 4, 2 })))
  end)
  it("have angles whose gradient is finite where ranges share directions", function()
    damo.verify_grad(function(x) return linalg.subspace_angles(damo.eye(5)[{ {}, { 1, 2 } }], x)[1] end,
      { damo.array { { 1, 0 }, { 0, 1 }, { 0, 1 }, { 0, 0 }, { 0, 0 } } })
  end)

  it("tell what is wrong, and take rcond", function()
    assert.same({ 2, 1 }, linalg.orth(damo.diag(damo.array { 1, 1e-3 }), { rcond = 0.01 }).shape)
    assert.same({ 2, 1 }, linalg.null_space(damo.diag(damo.array { 1, 1e-3 }), 0.01).shape)
    assert.equal('linalg.polar: side is "right" or "left", got "up"', (message(linalg.polar, damo.eye(2), "up")))
    assert.equal("linalg.orth: a matrix is expected, since the result's shape depends on values; got rank 3",
      (message(linalg.orth, damo.zeros { 2, 2, 2 })))
  end)
end)

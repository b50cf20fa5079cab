-- Schur forms and matrix equations.
-- luacheck: no max line length
local damo = require "damo"
local h = assert(loadfile "spec/linalg/harness.lua")(describe, it)
local linalg = damo.linalg

local function adjoint(x) return h.transposed(damo.conj(x)) end
local function both(shape, seed)
  local a = h.random(shape, seed)
  return { real = a, complex = h.complex(a, seed + 50) }
end
local function kind_of(f, ...)
  local ok, err = pcall(f, ...)
  assert(not ok)
  return err.kind
end

describe("schur", function()
  for kind, a in pairs(both({ 2, 4, 4 }, 3)) do
    for _, output in ipairs { "real", "complex" } do
      it(("of %s matrices, output %s"):format(kind, output), function()
        local x = damo.tensor { dtype = a.dtype, ndim = 3 }
        local t, z = damo.compile({ x }, { linalg.schur(x, { output = output }) }, { mode = "DEBUG" })(a)
        assert.equal(kind == "complex" and "complex128" or output == "complex" and "complex128" or "float64", t.dtype)
        assert.is_true(damo.allclose(damo.matmul(damo.matmul(z, t), adjoint(z)), a))
        assert.is_true(damo.allclose(damo.matmul(adjoint(z), z), damo.eye(4) * damo.ones { 2, 1, 1 }))
        local below = kind == "real" and output == "real" and damo.tril(t, -2) or damo.tril(t, -1)
        assert.is_true(damo.allclose(damo.abs(below), damo.zeros { 2, 4, 4 }))
      end)
    end
  end
  it("has no gradient", function()
    local x = damo.dmatrix "x"
    assert.equal("null_gradient", kind_of(function() return damo.grad(damo.sum((linalg.schur(x))), x) end))
    assert.equal("value", kind_of(linalg.schur, damo.eye(2), "upper"))
  end)
end)

describe("an equation", function()
  local a, b, q = both({ 3, 3 }, 1), both({ 2, 2 }, 2), both({ 2, 3, 2 }, 3)
  for _, kind in ipairs { "real", "complex" } do
    local shifted = b[kind] + 4 * damo.eye(2)
    h.case("of Sylvester, " .. kind, linalg.solve_sylvester, { a[kind], shifted, q[kind] })
    local g = both({ 3, 3 }, 8)[kind]
    h.case("of Lyapunov, continuous, " .. kind, linalg.solve_continuous_lyapunov, { a[kind] - 3 * damo.eye(3), g })
    h.case("of Lyapunov, discrete, " .. kind, linalg.solve_discrete_lyapunov, { 0.4 * a[kind], g })
    h.case("of Lyapunov, discrete, of a stack, " .. kind, linalg.solve_discrete_lyapunov, { 0.4 * a[kind], both({ 2, 3, 3 }, 9)[kind] })
    it("is fulfilled, " .. kind, function()
      local x = linalg.solve_sylvester(a[kind], shifted, q[kind])
      assert.is_true(damo.allclose(damo.matmul(a[kind], x) + damo.matmul(x, shifted), q[kind]))
      local y = linalg.solve_discrete_lyapunov(0.4 * a[kind], g)
      assert.is_true(damo.allclose(0.16 * damo.dot(damo.dot(a[kind], y), adjoint(a[kind])) + g, y))
    end)
  end
  for kind, c in pairs(both({ 3, 2 }, 4)) do
    local m, w, r = a[kind], both({ 3, 3 }, 5)[kind], both({ 2, 2 }, 6)[kind]
    local function hermitian(x) return damo.matmul(x, adjoint(x)) + damo.eye(x.shape[2]) end
    h.case("of Riccati, discrete, " .. kind, function(x, y, q1, r1) return linalg.solve_discrete_are(x, y, hermitian(q1), hermitian(r1)) end, { m, c, w, r })
    it("of Riccati is fulfilled, " .. kind, function()
      local q1, r1 = hermitian(w), hermitian(r)
      local x = linalg.solve_discrete_are(m, c, q1, r1)
      local gain = linalg.solve(r1 + damo.dot(damo.dot(adjoint(c), x), c), damo.dot(damo.dot(adjoint(c), x), m))
      local closed = m - damo.dot(c, gain)
      assert.is_true(damo.allclose(damo.dot(damo.dot(adjoint(m), x), closed) + q1, x))
      assert.is_true(damo.max(damo.abs(linalg.eigvals(closed))) < 1)
    end)
  end
  for kind, c in pairs(both({ 3, 2 }, 4)) do
    local m, w, r = a[kind], both({ 3, 3 }, 5)[kind], both({ 2, 2 }, 6)[kind]
    local function hermitian(x) return damo.matmul(x, adjoint(x)) + damo.eye(x.shape[2]) end
    h.case("of Riccati, continuous, " .. kind, function(x, y, q1, r1) return linalg.solve_continuous_are(x, y, hermitian(q1), hermitian(r1)) end, { m, c, w, r })
    it("of Riccati, continuous, is fulfilled, " .. kind, function()
      local q1, r1 = hermitian(w), hermitian(r)
      local x = linalg.solve_continuous_are(m, c, q1, r1)
      local gain = linalg.solve(r1, damo.dot(adjoint(c), x))
      local left = damo.dot(adjoint(m), x) + damo.dot(x, m) + q1
      assert.is_true(damo.allclose(damo.dot(damo.dot(x, c), gain), left, { atol = 1e-12 }))
      assert.is_true(damo.max(damo.real(linalg.eigvals(m - damo.dot(c, gain)))) < 0)
    end)
  end
  it("of Riccati, continuous, has SciPy's solution", function()
    local m, c = damo.array { { 4, 3 }, { -4.5, -3.5 } }, damo.array { { 1 }, { -1 } }
    local x = linalg.solve_continuous_are(m, c, damo.array { { 9, 6 }, { 6, 4 } }, damo.array { { 1 } })
    assert.is_true(damo.allclose(x, damo.array { { 21.72792206135784, 14.485281374238562 }, { 14.485281374238562, 9.65685424949237 } }))
    assert.equal("numeric", kind_of(linalg.solve_continuous_are, damo.eye(2), damo.zeros { 2, 1 }, damo.eye(2), damo.eye(1)))
    assert.equal("shape", kind_of(linalg.solve_continuous_are, damo.eye(2), damo.zeros { 3, 1 }, damo.eye(2), damo.eye(1)))
    local f = linalg.solve_continuous_are(damo.cast(m, "float32"), damo.cast(c, "float32"), damo.eye(2, { dtype = "float32" }), damo.eye(1, { dtype = "float32" }))
    assert.equal("float32", f.dtype)
  end)
  it("of Riccati without a stabilising solution is told", function()
    assert.equal("numeric", kind_of(linalg.solve_discrete_are, 2 * damo.eye(2), damo.zeros { 2, 1 }, damo.eye(2), damo.eye(1)))
    assert.equal("shape", kind_of(linalg.solve_discrete_are, damo.eye(2), damo.zeros { 3, 1 }, damo.eye(2), damo.eye(1)))
  end)
  h.case("of a mixed kind", linalg.solve_sylvester, { a.real, h.complex(b.real + 4 * damo.eye(2)), q.real })

  it("without a unique solution is told", function()
    assert.equal("numeric", kind_of(linalg.solve_sylvester, damo.eye(2), -damo.eye(2), damo.ones { 2, 2 }))
    assert.equal("numeric", kind_of(linalg.solve_sylvester, a.real, -a.real, damo.ones { 3, 3 }))
    assert.equal("numeric", kind_of(linalg.solve_discrete_lyapunov, damo.eye(2), damo.eye(2)))
    assert.equal("numeric", select(2, linalg.solve_sylvester(damo.eye(2), -damo.eye(2), damo.ones { 2, 2 }, { on_fail = "return" })).kind)
    assert.equal("shape", kind_of(linalg.solve_sylvester, damo.eye(2), damo.eye(3), damo.ones { 2, 2 }))
    assert.equal("shape", kind_of(linalg.solve_continuous_lyapunov, damo.ones { 2, 3 }, damo.eye(2)))
  end)

  it("keeps float32, and is solved for empty matrices", function()
    assert.equal("float32", linalg.solve_sylvester(damo.eye(2, { dtype = "float32" }), damo.eye(2, { dtype = "float32" }), damo.ones({ 2, 2 }, { dtype = "float32" })).dtype)
    assert.same({ 0, 0 }, linalg.solve_discrete_lyapunov(damo.zeros { 0, 0 }, damo.zeros { 0, 0 }).shape)
    assert.same({ 2, 0 }, linalg.solve_sylvester(damo.eye(2), damo.zeros { 0, 0 }, damo.zeros { 2, 0 }).shape)
  end)
end)

-- Banded Hermitian, Toeplitz and circulant systems, Hessenberg forms, sines and cosines of matrices. Values: SciPy.
-- luacheck: no max line length
local damo = require "damo"
local h = assert(loadfile "spec/linalg/harness.lua")(describe, it)
local linalg = damo.linalg

local function close(x, y, tol) assert.is_true(damo.allclose(x, y, { rtol = tol or 1e-12, atol = tol or 1e-13 })) end
local function message(f, ...)
  local ok, err = pcall(f, ...)
  assert(not ok)
  return err.message, err.kind
end

-- ---- Banded Hermitian matrices ----------------------------------------------------------------------------------------

-- A positive definite matrix of w - 1 diagonals on each side, and its diagonals in the upper or lower form.
local function band(n, w, lower, complex)
  local re = h.random({ n, n }, n + w)
  local x = complex and h.complex(re) or re
  local keep = damo.tril(damo.ones { n, n }, { k = 0 }) - damo.tril(damo.ones { n, n }, { k = -w })
  local l = x * keep
  local a = damo.dot(l, damo.conj(l).T) + damo.eye(n)
  local rows = {}
  for r = 1, w do
    local k = lower and r - 1 or w - r
    local diagonal = damo.diagonal(a, { offset = lower and -k or k })
    local none = damo.zeros({ k }, a.dtype)
    rows[r] = lower and damo.concatenate { diagonal, none } or damo.concatenate { none, diagonal }
  end
  return a, damo.stack(rows)
end

local function dense_of(ab, lower, w, n)
  w, n = w or ab.shape[1], n or ab.shape[2]
  local sum
  for r = 1, w do
    local k = lower and r - 1 or w - r
    local entries = lower and ab[{ r, { 1, n - k } }] or ab[{ r, { k + 1, n } }]
    local part = damo.diag(entries, { k = lower and -k or k })
    sum = sum and sum + part or part
  end
  return sum
end

for _, lower in ipairs { false, true } do
  for _, complex in ipairs { false, true } do
    local name = (lower and "lower" or "upper") .. (complex and ", complex" or "")
    describe("a banded positive definite matrix, " .. name, function()
      local a, ab = band(6, 3, lower, complex)
      local b = complex and h.complex(h.random({ 6, 2 }, 4)) or h.random({ 6, 2 }, 4)
      local o = { lower = lower }

      it("has the factor that cholesky gives", function()
        close(dense_of(linalg.cholesky_banded(ab, o), lower), linalg.cholesky(a, o))
      end)
      h.case("has derivatives of the factor", function(x) return linalg.cholesky_banded(x, o) end, { ab }, { second = false })
      it("has the gradient of cholesky", function()
        local x, y = damo.tensor { dtype = a.dtype, ndim = 2 }, damo.tensor { dtype = a.dtype, ndim = 2 }
        local weight = damo.tril(h.random({ 6, 6 }, 9), { k = 0 })
        if not lower then weight = weight.T end
        local banded = damo.real(dense_of(linalg.cholesky_banded(x, o), lower, 3, 6))
        local dense = damo.real(linalg.cholesky(y, o))
        local f = damo.compile({ x }, damo.grad(damo.sum(damo.constant(weight) * banded), x))
        local g = damo.compile({ y }, damo.grad(damo.sum(damo.constant(weight) * dense), y))
        local keep = damo.neq(dense_of(ab, lower), 0)
        -- gradients of entries outside of the band are those that the banded form does not have
        local whole = dense_of(f(ab), lower)
        close(damo.real(whole) * keep, damo.real(g(a)) * keep, 1e-10)
        close(damo.imag(whole) * keep, damo.imag(g(a)) * keep, 1e-10)
      end)
      it("is solved", function()
        close(damo.dot(a, linalg.solveh_banded(ab, b, o)), b)
        close(damo.dot(a, linalg.cho_solve_banded(linalg.cholesky_banded(ab, o), b, o)), b)
        close(linalg.solveh_banded(ab, b[{ {}, 1 }], o), linalg.solveh_banded(ab, b, o)[{ {}, 1 }])
      end)
      local fixed = function(x) return damo.specify_shape(x, { shape = { 3, 6 } }) end
      h.case("has derivatives of the solution", function(x, y) return linalg.solveh_banded(fixed(x), y, o) end, { ab, b },
        { second = false })
      h.case("has derivatives of the solution by a factor", function(x, y) return linalg.cho_solve_banded(fixed(x), y, o) end,
        { linalg.cholesky_banded(ab, o), b })
    end)
  end
end

describe("banded Hermitian systems", function()
  local ab = damo.array { { 0, 0, -1, -1, -1 }, { 0, 2, 2, 2, 2 }, { 6, 6, 7, 8, 9 } }

  it("agree with SciPy", function()
    close(linalg.solveh_banded(ab, damo.array { 1, 2, 3, 4, 5 }),
      damo.array { 0.16519232680648047, 0.1981910346884008, 0.3875360302156842, 0.29460292217473416, 0.5331477984295795 }, 1e-15)
  end)
  it("take stacks, float32, one diagonal, one column and none", function()
    local stack = linalg.solveh_banded(damo.stack { ab, 2 * ab }, damo.ones { 5 })
    close(stack[2] * 2, stack[1])
    assert.equal("float32", linalg.cholesky_banded(ab:astype "float32").dtype)
    close(linalg.cholesky_banded(damo.array { { 4, 9 } }), damo.array { { 2, 3 } })
    close(linalg.cholesky_banded(damo.array { { 1 }, { 4 } }), damo.array { { 0 }, { 2 } })
    assert.same({ 3, 0 }, linalg.cholesky_banded(damo.zeros { 3, 0 }).shape)
    close(linalg.cholesky_banded(damo.array { { 7, 1 }, { 2, 2 } })[{ 1, 1 }], 0) -- outside of the matrix
  end)
  it("tell what is wrong", function()
    local text, kind = message(linalg.cholesky_banded, -ab)
    assert.truthy(text:find("not positive definite", 1, true))
    assert.equal("numeric", kind)
    local nothing, err = linalg.solveh_banded(-ab, damo.ones { 5 }, { on_fail = "return" })
    assert(nothing == nil and err.kind == "numeric")
    assert.equal("shape", select(2, message(linalg.cholesky_banded, damo.zeros { 0, 3 })))
    text, kind = message(linalg.solveh_banded, damo.dmatrix(), damo.dvector())
    assert(text:find("give it as bands=", 1, true) and kind == "value")
    local x, y = damo.dmatrix "x", damo.dvector "y"
    close(damo.compile({ x, y }, linalg.solveh_banded(x, y, { bands = 3 }))(ab, damo.ones { 5 }), linalg.solveh_banded(ab, damo.ones { 5 }))
    local slope = damo.grad(damo.sum(linalg.cholesky_banded(x)), x)
    text, kind = message(damo.grad, damo.sum(slope), x)
    assert(text:find("second derivatives of cholesky_banded", 1, true) and kind == "null_gradient")
  end)
end)

-- ---- Patterns -------------------------------------------------------------------------------------------------------------

describe("Toeplitz systems", function()
  local c, r, b = h.random({ 5 }, 1) + damo.array { 4, 0, 0, 0, 0 }, h.random({ 5 }, 2), h.random({ 5, 2 }, 3)
  it("are solved", function()
    close(damo.dot(linalg.toeplitz(c, r), linalg.solve_toeplitz(c, b, r)), b)
    close(damo.dot(linalg.toeplitz(c), linalg.solve_toeplitz(c, b[{ {}, 1 }])), b[{ {}, 1 }])
    close(linalg.solve_toeplitz(damo.array { 0.5, 2, 3 }, damo.array { 1, 2, 3 }, damo.array { 9, -1, 2 }),
      damo.array { 90, -16, 10 } / 81, 1e-14)
  end)
  h.case("have derivatives", linalg.solve_toeplitz, { c, b, r })
  h.case("have derivatives, complex", linalg.solve_toeplitz, { h.complex(c), h.complex(b) })
  h.case("have derivatives, a vector", linalg.solve_toeplitz, { c, b[{ {}, 1 }], r })
  h.case("have derivatives, a stack", function(x, y, z) return linalg.solve_toeplitz(x, y, z, { b_ndim = 1 }) end,
    { damo.stack { c, c + 1 }, b.T, damo.stack { r, r } })
  it("of any dtype, well or badly conditioned, are solved as by LU", function()
    for _, dtype in ipairs { "float32", "float64", "complex64", "complex128" } do
      for _, n in ipairs { 0, 1, 2, 17, 60 } do
        for _, column in ipairs { damo.exp(-0.3 * damo.arange(n)), h.random({ n }, 4) } do
          local row, rhs = h.random({ n }, 5), h.random({ n, 3 }, 6)
          if dtype:find "complex" then column = damo.complex(column, row) end
          column, row, rhs = damo.cast(column, dtype), damo.cast(row, dtype), damo.cast(rhs, dtype)
          local x = linalg.solve_toeplitz(column, rhs, row)
          assert.equal(dtype, x.dtype)
          local double = dtype == "float64" or dtype == "complex128"
          local atol = (double and 1e-12 or 1e-3) * damo.sum(damo.abs(x))
          assert.is_true(damo.allclose(damo.dot(linalg.toeplitz(column, row), x), rhs, { atol = atol }))
        end
      end
    end
  end)
  it("whose leading minors are 0 are solved", function()
    local x = damo.array { 5, 7, 9 }
    for _, v in ipairs { { { 0, 1, 2 }, { 0, 3, 4 } }, { { 1, 1, 4 }, { 1, 1, 2 } }, { { 1e-14, 1, 2 }, { 1e-14, 3, 4 } } } do
      local column, row = damo.array(v[1]), damo.array(v[2])
      close(linalg.solve_toeplitz(column, damo.dot(linalg.toeplitz(column, row), x), row), x)
    end
  end)
  it("take the memory of a few vectors", function()
    local n = 2000 -- whose matrix has 32 MB, or 64
    local column, row, rhs = damo.exp(-0.5 * damo.arange(n)), damo.exp(-0.9 * damo.arange(n)), damo.ones { n }
    local systems = { { column, rhs }, { column, rhs, row }, { damo.complex(column, row), rhs, damo.complex(row, -column) } }
    for _, operands in ipairs(systems) do
      collectgarbage()
      damo.config.memory_cap = damo.memory().bytes + 4e6
      local ok, x = pcall(linalg.solve_toeplitz, operands[1], operands[2], operands[3])
      damo.config.memory_cap = 0
      assert.is_true(ok, tostring(x))
    end
  end)
  it("tell what is wrong", function()
    assert.equal("numeric", select(2, message(linalg.solve_toeplitz, damo.array { 1, 1 }, damo.array { 1, 2 })))
    assert.equal("shape", select(2, message(linalg.solve_toeplitz, damo.array { 1, 1 }, damo.array { 1, 2 }, damo.ones { 2, 2 })))
  end)
end)

describe("circulant systems", function()
  for n = 4, 5 do
    local c, b = h.random({ n }, 1), h.random({ n, 2 }, 3)
    it(("of order %d are solved"):format(n), function()
      close(damo.dot(linalg.circulant(c), linalg.solve_circulant(c, b)), b)
      close(damo.dot(linalg.circulant(c), linalg.solve_circulant(c, b[{ {}, 1 }])), b[{ {}, 1 }])
      local z, w = h.complex(c), h.complex(b)
      close(damo.dot(linalg.circulant(z), linalg.solve_circulant(z, w)), w)
      close(linalg.solve_circulant(damo.stack { c, 2 * c }, b)[2] * 2, linalg.solve_circulant(c, b))
      assert.equal("float32", linalg.solve_circulant(c:astype "float32", b:astype "float32").dtype)
    end)
    h.case(("of order %d have derivatives"):format(n), linalg.solve_circulant, { c, b })
    h.case(("of order %d have derivatives, complex"):format(n), linalg.solve_circulant, { h.complex(c), h.complex(b) })
  end
  it("tell what is wrong", function()
    assert.equal("numeric", select(2, message(linalg.solve_circulant, damo.array { 1, 1, 1 }, damo.array { 1, 2, 3 })))
    assert.equal("numeric", select(2, message(linalg.solve_circulant, damo.array { 1, -0.7, -0.3 }, damo.array { 1, 2, 3 })))
    assert.equal("shape", select(2, message(linalg.solve_circulant, damo.array { 1, 2 }, damo.array { 1, 2, 3 })))
  end)
end)

-- ---- Hessenberg forms --------------------------------------------------------------------------------------------------------

describe("hessenberg", function()
  for kind, a in pairs { real = h.random({ 5, 5 }, 3), complex = h.complex(h.random({ 5, 5 }, 3)) } do
    it("gives the form of a matrix, " .. kind, function()
      local form, q = linalg.hessenberg(a, { calc_q = true })
      local qh = damo.conj(q).T
      close(damo.dot(damo.dot(q, form), qh), a)
      close(damo.dot(qh, q), damo.eye(5))
      assert.is_true(damo.array_equal(damo.tril(form, { k = -2 }), damo.zeros({ 5, 5 }, a.dtype)))
      local x = damo.tensor { dtype = a.dtype, ndim = 2 }
      local once, of_q = damo.compile({ x }, { linalg.hessenberg(x, { calc_q = true }) }, { mode = "DEBUG" })(a)
      assert.is_true(damo.array_equal(once, form) and damo.array_equal(of_q, q))
    end)
  end
  it("agrees with SciPy, and takes stacks, small and empty matrices", function()
    local form = linalg.hessenberg(damo.array { { 1, 2, 3 }, { 4, 5, 6 }, { 7, 8, 10 } })
    close(form[1], damo.array { 1, -3.597007303087045, -0.24806946917841666 }, 1e-14)
    assert.is_nil((select(2, linalg.hessenberg(damo.eye(3)))))
    local a = damo.array { { 1, 2 }, { 3, 4 } }
    assert.is_true(damo.array_equal(linalg.hessenberg(damo.stack { a, a })[2], a))
    assert.equal("float32", linalg.hessenberg(a:astype "float32").dtype)
    assert.same({ 0, 0 }, linalg.hessenberg(damo.zeros { 0, 0 }).shape)
  end)
  it("tells what is wrong", function()
    assert.equal("shape", select(2, message(linalg.hessenberg, damo.ones { 2, 3 })))
    assert.equal("numeric", select(2, message(linalg.hessenberg, damo.array { { 0 / 0 } })))
    local x = damo.dmatrix "x"
    assert.equal("null_gradient", select(2, message(damo.grad, damo.sum((linalg.hessenberg(x))), x)))
  end)
end)

-- ---- Functions of matrices ------------------------------------------------------------------------------------------------------

describe("sines and cosines of matrices", function()
  local a = damo.array { { 1, 2, 3 }, { 4, 5, 6 }, { 7, 8, 10 } } / 5
  local first = {
    ["linalg.cosm"] = { 0.7782728423724858, -0.2564307350035788, -0.31617500606594456 },
    ["linalg.sinm"] = { -0.17082411212662674, -0.05538977973573124, 0.02602166221946553 },
    ["linalg.tanm"] = { -0.13123188709982947, -0.00411332979416821, 0.0919215830805193 },
    ["linalg.coshm"] = { 2.394320427532608, 1.6934764372527267, 2.126029924706934 },
    ["linalg.sinhm"] = { 1.3300226628330682, 1.7858653188328761, 2.3458715258556015 },
    ["linalg.tanhm"] = { -0.04443784460425004, 0.09862135214598491, 0.21956592793791532 },
    ["linalg.signm"] = { -0.6874931623571039, -0.22510097466046888, 0.5880467744020061 },
  }
  for full_name, row in pairs(first) do
    local name = full_name:match "%.(.*)"
    it(name .. " agrees with SciPy", function() close(linalg[name](a)[1], damo.array(row), 1e-13) end)
    h.case(name .. " has derivatives", linalg[name], { h.regular({ 3, 3 }, 4) / 3 })
    h.case(name .. " has derivatives, complex", linalg[name], { h.complex(h.regular({ 3, 3 }, 4) / 3) }, { second = false })
    it(name .. " takes stacks and float32", function()
      close(linalg[name](damo.stack { a, a / 2 })[2], linalg[name](a / 2))
      assert.equal("float32", linalg[name](a:astype "float32").dtype)
    end)
  end
  it("obey their laws", function()
    local z = h.complex(h.random({ 3, 3 }, 5))
    local c, s = linalg.cosm(z), linalg.sinm(z)
    close(damo.dot(c, c) + damo.dot(s, s), damo.eye(3):astype "complex128")
    local sign = linalg.signm(h.regular({ 3, 3 }, 2) - 2 * damo.eye(3) * damo.array { 3, 0, 0 })
    close(damo.dot(sign, sign), damo.eye(3))
    assert.equal("shape", select(2, message(linalg.cosm, damo.ones { 2, 3 })))
    assert.equal("numeric", select(2, message(linalg.signm, damo.array { { 0, 1 }, { -1, 0 } })))
  end)
end)

describe("expm_frechet", function()
  local a, e = h.random({ 3, 3 }, 1), h.random({ 3, 3 }, 2)
  it("gives the exponential and its derivative", function()
    local value, slope = linalg.expm_frechet(a, e)
    close(value, linalg.expm(a))
    close(slope, (linalg.expm(a + 1e-5 * e) - linalg.expm(a - 1e-5 * e)) / 2e-5, 1e-9)
  end)
  h.case("has derivatives", function(x, y) return (select(2, linalg.expm_frechet(x, y))) end, { a, e })
end)

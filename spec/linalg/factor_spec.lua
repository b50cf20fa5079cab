-- Factors Q·R, least squares, pseudo-inverses, banded systems.
-- luacheck: no max line length
local damo = require "damo"
local h = assert(loadfile "spec/linalg/harness.lua")(describe, it)
local linalg = damo.linalg

describe("qr", function()
  it("has the gradient of a column that lies in a wider matrix", function()
    local x = damo.matrix "x"
    local r = linalg.qr(x[{ {}, { 1, 1 } }], { mode = "r", pivoting = true })
    local g = damo.compile({ x }, damo.grad(damo.sum(r * damo.array { { 1 }, { 2 }, { 5 } }), x))
    local got = g(damo.array { { 2, 9 }, { 3, 7 }, { 6, 5 } }) -- the gradient of -|x|
    assert.is_true(damo.allclose(got, damo.array { { -2, 0 }, { -3, 0 }, { -6, 0 } } / 7))
  end)
  local shapes = { { 5, 3 }, { 4, 4 }, { 3, 5 }, { 2, 4, 3 } }
  for _, shape in ipairs(shapes) do
    local a = h.random(shape, 4)
    for _, values in ipairs { a, h.complex(a) } do
      local name = ("%s, shape %s"):format(values.dtype, table.concat(shape, "×"))
      h.case("q of " .. name, function(x) return (linalg.qr(x, { mode = "reduced" })) end, { values })
      h.case("r of " .. name, function(x) return (select(2, linalg.qr(x, { mode = "economic" }))) end, { values })
      h.case("r alone of " .. name, function(x) return linalg.qr(x, { mode = "r" }) end, { values })
      h.case("r with pivoting of " .. name, function(x) return (select(2, linalg.qr(x, { mode = "economic", pivoting = true }))) end, { values })
      h.case("r alone with pivoting of " .. name, function(x) return (linalg.qr(x, { mode = "r", pivoting = true })) end, { values })
      h.case("whole r of " .. name, function(x) return (select(2, linalg.qr(x))) end, { values })
      it("gives factors of " .. name, function()
        for _, mode in ipairs { "full", "economic" } do
          local q, r = linalg.qr(values, { mode = mode })
          assert.is_true(damo.allclose(damo.matmul(q, r), values))
          assert.is_true(damo.allclose(damo.matmul(damo.conj(h.transposed(q)), q), damo.eye(q.shape[#shape]) + 0 * damo.real(damo.matmul(damo.conj(h.transposed(q)), q)), { atol = 1e-12 }))
          if #shape == 2 then
            local p
            q, r, p = linalg.qr(values, { mode = mode, pivoting = true })
            assert.is_true(damo.allclose(damo.matmul(q, r), damo.take(values, p, { axis = 2 })))
          end
        end
      end)
    end
  end
  h.case("whole q of a wide matrix", function(x) return (linalg.qr(x)) end, { h.random({ 3, 5 }, 4) })

  it("has no derivative of a whole q that the matrix does not determine", function()
    local x = damo.matrix "x"
    local f = damo.compile({ x }, damo.grad(damo.sum((linalg.qr(x))), x))
    local ok, err = pcall(f, damo.ones { 3, 2 })
    assert.is_false(ok)
    assert.is_truthy(err.message:find("no more rows than columns", 1, true))
  end)

  it("of empty matrices", function()
    local q, r = linalg.qr(damo.zeros { 3, 0 })
    assert.is_true(damo.array_equal(q, damo.eye(3)))
    assert.same({ 3, 0 }, r.shape)
    assert.equal("value", select(2, pcall(linalg.qr, damo.eye(2), { mode = "thin" })).kind)
  end)
end)

describe("lstsq", function()
  for _, shape in ipairs { { 5, 3 }, { 3, 3 }, { 3, 5 }, { 2, 4, 3 } } do
    local a, name = h.random(shape, 4), table.concat(shape, "×")
    local m = shape[#shape - 1]
    h.case("of shape " .. name, linalg.lstsq, { a, h.random({ m, 2 }, 5) })
    h.case("of a vector, shape " .. name, function(x, b) return linalg.lstsq(x, b, { b_ndim = 1 }) end, { a, h.random({ m }, 5) })
    h.case("complex, shape " .. name, linalg.lstsq, { h.complex(a), h.complex(h.random({ m, 2 }, 5)) })
  end
  it("gives the solution of least norm", function()
    assert.is_true(damo.allclose(linalg.lstsq(damo.array { { 3, 0, 4 } }, damo.array { 25 }), damo.array { 3, 0, 4 }))
    assert.is_true(damo.allclose(linalg.lstsq(damo.array { { 1, 1 }, { 1, 1 } }, damo.array { 1, 3 }), damo.array { 1, 1 }))
    assert.is_true(damo.array_equal(linalg.lstsq(damo.zeros { 0, 2 }, damo.zeros(0)), damo.zeros(2)))
  end)
end)

describe("pinv", function()
  for _, shape in ipairs { { 5, 3 }, { 3, 3 }, { 3, 5 }, { 2, 4, 3 }, { 1, 3 }, { 3, 1 } } do
    local a, name = h.random(shape, 4), table.concat(shape, "×")
    h.case("of shape " .. name, linalg.pinv, { a })
    h.case("complex, of shape " .. name, linalg.pinv, { h.complex(a) })
  end
  it("leaves small singular values out", function()
    local a = damo.array { { 1, 0 }, { 0, 1e-3 } }
    assert.is_true(damo.allclose(linalg.pinv(a), damo.array { { 1, 0 }, { 0, 1e3 } }))
    assert.is_true(damo.allclose(linalg.pinv(a, { rcond = 1e-2 }), damo.array { { 1, 0 }, { 0, 0 } }))
    assert.same({ 3, 0 }, linalg.pinv(damo.zeros { 0, 3 }).shape)
  end)
end)

describe("solve_banded", function()
  for _, widths in ipairs { { 1, 1 }, { 2, 1 }, { 0, 2 }, { 1, 0 }, { 0, 0 } } do
    local l, u = widths[1], widths[2]
    local ab = h.random({ l + u + 1, 6 }, 3) + damo.array { 4 } * damo.reshape(damo.array(damo.eq(damo.arange(l + u + 1), u), "float64"), { l + u + 1, 1 })
    for trans = 0, 2 do
      local name = ("l=%d u=%d trans=%d"):format(l, u, trans)
      local function solve(a, b) return linalg.solve_banded(a, b, { l = l, u = u, trans = trans }) end
      h.case(name, solve, { ab, h.random({ 6, 2 }, 4) })
      h.case(name .. ", vector", solve, { ab, h.random({ 6 }, 4) })
      h.case(name .. ", complex", solve, { h.complex(ab), h.complex(h.random({ 6, 2 }, 4)) })
    end
  end
  h.case("of a stack", function(a, b) return linalg.solve_banded(a, b, { l = 1, u = 0 }) end,
    { h.random({ 2, 2, 4 }, 3) + damo.array { { 5 }, { 0 } }, h.random({ 4, 2 }, 4) })
  it("tells what is wrong", function()
    assert.equal("solve_banded: operand 1 has 2 diagonals, but l = 1 and u = 1 are 3",
      select(2, pcall(linalg.solve_banded, damo.ones { 2, 3 }, damo.ones(3), { l = 1, u = 1 })).message)
    assert.equal("value", select(2, pcall(linalg.solve_banded, damo.ones { 2, 3 }, damo.ones(3))).kind)
    assert.equal("numeric", select(2, pcall(linalg.solve_banded, damo.zeros { 1, 3 }, damo.ones(3), { l = 0, u = 0 })).kind)
  end)
end)

describe("ldl", function()
  -- With and without blocks of order 2, of the entries that count.
  local function operand(n, seed, is_complex, hermitian)
    local a = h.random({ n, n }, seed)
    a = a + a.T
    if seed % 2 == 0 then a = a - damo.diag(damo.diag(a)) end
    if not is_complex then return a end
    local b = h.random({ n, n }, seed + 9)
    return hermitian and damo.complex(a, b - b.T) or damo.complex(a, b + b.T)
  end

  for _, lower in ipairs { true, false } do
    for _, hermitian in ipairs { true, false } do
      local o = { lower = lower, hermitian = hermitian }
      local part = lower and damo.tril or damo.triu
      local name = ("lower=%s, hermitian=%s"):format(tostring(lower), tostring(hermitian))
      it("multiplies back, " .. name, function()
        for n = 0, 7 do
          for seed = 1, 4 do
            local a = n == 0 and damo.zeros { 0, 0 } or operand(n, seed, seed > 2, hermitian)
            local w, d, p = linalg.ldl(part(a), o)
            assert.is_true(damo.allclose(damo.dot(damo.dot(w, d), hermitian and damo.conj(w).T or w.T), a))
            local t = w[{ p }]
            assert.is_true(damo.array_equal(t, part(t)))
            assert.is_true(damo.array_equal(damo.diag(t), damo.cast(damo.ones { n }, a.dtype)))
            assert.is_true(damo.array_equal(d, damo.tril(damo.triu(d, { k = -1 }), { k = 1 })))
          end
        end
      end)
      for seed = 1, 2 do
        local function factors(x)
          local w, d = linalg.ldl(x, o)
          return w, d
        end
        h.case(("%s, %s blocks"):format(name, seed == 1 and "few" or "large"), factors, { operand(4, seed, false) })
        h.case(("%s, %s blocks, complex"):format(name, seed == 1 and "few" or "large"), factors, { operand(4, seed, true, hermitian) })
      end
    end
  end
  h.case("of a stack", function(x) return select(2, linalg.ldl(x)) end, { h.positive({ 2, 3, 3 }, 4) })

  it("takes float32, a singular matrix, and reads one triangle", function()
    local w, d, p = linalg.ldl(damo.array({ { 2, 9 }, { 1, 3 } }, "float32"))
    assert.equal("float32", w.dtype)
    assert.equal("int64", p.dtype)
    assert.is_true(damo.allclose(damo.dot(damo.dot(w, d), w.T), damo.array { { 2, 1 }, { 1, 3 } }, { atol = 1e-6 }))
    assert.is_true(damo.array_equal(select(2, linalg.ldl(damo.zeros { 2, 2 })), damo.zeros { 2, 2 }))
    assert.is_true(pcall(linalg.ldl, damo.array { { 2, 0 / 0 }, { 1, 3 } }))
    assert.is_false(pcall(linalg.ldl, damo.array { { 2, 0 }, { 0 / 0, 3 } }))
    assert.is_false(pcall(linalg.ldl, damo.ones { 2, 3 }))
  end)
end)

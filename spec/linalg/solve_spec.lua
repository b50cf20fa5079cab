-- Systems, factors P·L·U, inverses and determinants.
-- luacheck: no max line length
local damo = require "damo"
local h = assert(loadfile "spec/linalg/harness.lua")(describe, it)
local linalg = damo.linalg

local a4, b4 = h.regular({ 4, 4 }, 3), h.random({ 4, 3 }, 5)
local z4, w4 = h.complex(a4), h.complex(b4)

describe("solve", function()
  for _, assume in ipairs { "gen", "sym", "her", "pos", "diagonal", "tridiagonal", "banded", "upper triangular", "lower triangular" } do
    for trans = 0, 2 do
      local o = { assume_a = assume, trans = trans, lower = trans == 1 }
      local name = ("assuming %s, trans=%d"):format(assume, trans)
      local symmetric = assume == "sym" or assume == "her" or assume == "pos"
      local a = symmetric and h.positive({ 4, 4 }, 2) or a4
      local z = symmetric and damo.complex(a, 0.2 * h.random({ 4, 4 }, 8)) or z4
      h.case(name, function(x, y) return linalg.solve(x, y, o) end, { a, b4 })
      h.case(name .. ", complex", function(x, y) return linalg.solve(x, y, o) end, { z, w4 })
      h.case(name .. ", a vector", function(x, y) return linalg.solve(x, y, o) end, { z, w4[{ {}, 1 }] })
    end
  end
  h.case("of a stack of matrices and one matrix", linalg.solve, { h.regular({ 2, 3, 3, 3 }, 3), h.random({ 3, 2 }, 5) })
  h.case("of one matrix and a stack of vectors", function(a, b) return linalg.solve(a, b, { b_ndim = 1 }) end, { a4, h.random({ 5, 4 }, 5) })
  h.case("of a matrix of one row", linalg.solve, { damo.array { { 2 } }, damo.array { { 3, 4 } } })

  it("reads the entries that count", function()
    local low = damo.array { { 4, 9 }, { 1, 3 } }
    local whole = damo.array { { 4, 1 }, { 1, 3 } }
    local b = damo.array { 1, 2 }
    for _, assume in ipairs { "sym", "her", "pos" } do
      assert.is_true(damo.allclose(linalg.solve(low, b, { assume_a = assume, lower = true }), linalg.solve(whole, b)), assume)
    end
    assert.is_true(damo.allclose(linalg.solve(low, b, { assume_a = "diagonal" }), damo.array { 0.25, 2 / 3 }))
  end)

  it("solves wide bands like any matrix", function()
    local a = damo.tril(damo.triu(h.regular({ 9, 9 }, 4), { k = -2 }), { k = 1 })
    local b = h.random({ 9, 2 }, 5)
    for trans = 0, 2 do
      assert.is_true(damo.allclose(linalg.solve(a, b, { assume_a = "banded", trans = trans }), linalg.solve(a, b, { trans = trans })))
    end
    assert.is_true(damo.allclose(linalg.solve(h.complex(a), b, { assume_a = "banded", trans = 2 }), linalg.solve(h.complex(a), b, { trans = 2 })))
  end)

  it("tells what is wrong", function()
    local function failure(kind, ...)
      local ok, err = pcall(linalg.solve, ...)
      assert.is_false(ok)
      assert.equal(kind, err.kind)
      return err.message
    end
    local flat, one = damo.array { { 1, 2 }, { 2, 4 } }, damo.ones(2)
    assert.equal("solve: the matrix is singular: pivot 2 is 0", failure("numeric", flat, one))
    assert.equal("solve: the matrix is not positive definite: its leading minor of order 2 is not positive", failure("numeric", flat - damo.eye(2) * 0.1, one, { assume_a = "pos" }))
    assert.equal("solve: the matrix is singular: entry 2 of its diagonal is 0", failure("numeric", damo.array { { 1, 2 }, { 2, 0 } }, one, { assume_a = "diagonal" }))
    failure("numeric", damo.zeros { 2, 2 }, one, { assume_a = "sym" })
    failure("numeric", damo.zeros { 2, 2 }, one, { assume_a = "tridiagonal" })
    failure("numeric", damo.zeros { 2, 2 }, one, { assume_a = "banded" })
    failure("shape", flat, damo.ones(3))
    failure("shape", damo.ones { 2, 3 }, one)
    assert.is_truthy(failure("value", flat, one, { assume_a = "magic" }):find("not 'magic'", 1, true))
    failure("value", flat, one, { trans = 3 })
    failure("value", flat, one, { b_ndim = 3 })
    failure("value", flat, one, { on_fail = "shrug" })
    local x = linalg.solve(damo.stack { flat, damo.eye(2) }, damo.ones { 2, 1 }, { on_fail = "nan" })
    assert.is_true(x[{ 1, 1, 1 }] ~= x[{ 1, 1, 1 }] and x[{ 2, 1, 1 }] == 1)
  end)
end)

describe("lu", function()
  local shapes = { { 4, 4 }, { 5, 3 }, { 3, 5 }, { 2, 3, 3 } }
  for _, shape in ipairs(shapes) do
    local name = "of shape " .. table.concat(shape, "×")
    local a = h.random(shape, 6)
    h.case(name .. ": the product", function(x)
      local l, u = linalg.lu(x, { permute_l = true })
      return damo.matmul(l, u)
    end, { a })
    h.case(name .. ": l", function(x) return (linalg.lu(x, { permute_l = true })) end, { a })
    h.case(name .. ": u", function(x) return (select(3, linalg.lu(x))) end, { a })
    it(name .. " gives factors", function()
      local p, l, u = linalg.lu(a)
      assert.is_true(damo.allclose(damo.matmul(damo.matmul(p, l), u), a))
      local z = h.complex(a)
      p, l, u = linalg.lu(z)
      assert.equal("float64", p.dtype)
      assert.is_true(damo.allclose(damo.matmul(damo.matmul(p, l), u), z))
      if #shape == 2 then
        local order, l2, u2 = linalg.lu(z, { p_indices = true })
        assert.is_true(damo.allclose(damo.take(damo.dot(l2, u2), order, { axis = 1 }), z))
      end
    end)
  end
  h.case("of a complex matrix", function(x) return (select(2, linalg.lu(x))) end, { z4 })
  h.case("packed", function(x) return (linalg.lu_factor(x)) end, { a4 })

  for trans = 0, 2 do
    local function solve(a, b)
      local lu, pivots = linalg.lu_factor(a)
      return linalg.lu_solve(lu, pivots, b, { trans = trans })
    end
    h.case("solves, trans=" .. trans, solve, { a4, b4 })
    h.case("solves complex systems, trans=" .. trans, solve, { z4, w4 })
    h.case("solves a stack, trans=" .. trans, solve, { h.regular({ 2, 3, 3 }, 3), h.random({ 3, 2 }, 5) })
    h.case("solves for a vector, trans=" .. trans, solve, { a4, b4[{ {}, 2 }] })
    it("solves like solve, trans=" .. trans, function()
      assert.is_true(damo.allclose(solve(z4, w4), linalg.solve(z4, w4, { trans = trans })))
    end)
  end

  it("tells what is wrong", function()
    local lu, pivots = linalg.lu_factor(damo.array { { 1, 2 }, { 2, 4 } })
    assert.equal("lu_solve: the matrix is singular: pivot 2 is 0", select(2, pcall(linalg.lu_solve, lu, pivots, damo.ones(2))).message)
    assert.equal("index", select(2, pcall(linalg.lu_solve, lu, damo.array({ 0, 1 }, "int64"), damo.ones(2))).kind)
    assert.equal("shape", select(2, pcall(linalg.lu_factor, damo.ones { 2, 3 })).kind)
  end)
end)

describe("inv", function()
  h.case("of a matrix", linalg.inv, { a4 })
  h.case("of a stack", linalg.inv, { h.regular({ 2, 2, 3, 3 }, 3) })
  h.case("of a complex matrix", linalg.inv, { z4 })
  it("of a singular matrix is an error", function()
    assert.equal("inv: the matrix is singular: pivot 2 is 0 (entry (2,) of the leading axes)",
      select(2, pcall(linalg.inv, damo.stack { damo.eye(2), damo.ones { 2, 2 } })).message)
  end)
end)

describe("det and slogdet", function()
  h.case("det", linalg.det, { a4 })
  h.case("det of a stack", linalg.det, { h.regular({ 2, 2, 3, 3 }, 3) })
  h.case("det of a complex matrix", linalg.det, { z4 })
  -- Matrices of lower rank: the entries of their gradients are cofactors.
  local function of_rank(n, rank, seed)
    return damo.dot(h.random({ n, rank }, seed), h.random({ rank, n }, seed + 1))
  end
  h.case("det of a matrix whose rank is less by 1", linalg.det, { of_rank(4, 3, 3) })
  h.case("det of a matrix whose rank is less by 2", linalg.det, { of_rank(4, 2, 5) })
  h.case("det of a matrix whose rank is less by 3", linalg.det, { of_rank(4, 1, 5) })
  h.case("det of a larger matrix of lower rank", linalg.det, { of_rank(10, 9, 5) })
  h.case("det of 0", linalg.det, { damo.zeros { 2, 2 } })
  h.case("det of a singular complex matrix", linalg.det, {
    damo.dot(h.complex(h.random({ 3, 2 }, 4)), h.complex(h.random({ 2, 3 }, 5), 78)) })
  h.case("det of a stack with singular ones", linalg.det, {
    damo.stack { of_rank(3, 2, 1), h.regular({ 3, 3 }, 3), of_rank(3, 1, 7), damo.zeros { 3, 3 } } })
  h.case("det in a product of several", function(a, b)
    return linalg.det(a) * linalg.det(damo.dot(a, b))
  end, { of_rank(3, 2, 4), h.regular({ 3, 3 }, 5) })

  it("det's gradient at a singular matrix is the matrix of its cofactors", function()
    local a = damo.dmatrix "a"
    local d = linalg.det(a)
    local value = damo.array { { 1, 2, 3 }, { 2, 4, 6 }, { 1, 0, 1 } }
    local cofactors = damo.array { { 4, 4, -4 }, { -2, -2, 2 }, { 0, 0, 0 } }
    for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE", "DEBUG" } do
      for _, outputs in ipairs { { damo.grad(d, a) }, { damo.grad(d, a), d } } do
        assert.is_true(damo.allclose(damo.compile({ a }, outputs, { mode = mode })(value), cofactors), mode)
      end
    end
    local f = damo.compile({ a }, damo.grad(d, a))
    assert.is_true(damo.array_equal(f(damo.zeros { 1, 1 }), damo.ones { 1, 1 }))
    assert.same({ 0, 0 }, f(damo.zeros { 0, 0 }).shape)
    local nan = f(damo.array { { 0 / 0, 1 }, { 1, 1 } })
    assert.is_true(nan[{ 1, 1 }] ~= nan[{ 1, 1 }])
    local s = damo.fmatrix "s"
    local g = damo.compile({ s }, damo.grad(linalg.det(s), s))(damo.cast(value, "float32"))
    assert.equal("float32", g.dtype)
    assert.is_true(damo.allclose(g, cofactors, { atol = 1e-5 }))
  end)

  it("det's gradient neither overflows nor vanishes before the product ends", function()
    local a = damo.dmatrix "a"
    local f = damo.compile({ a }, damo.grad(linalg.det(a), a))
    local v = damo.concatenate { damo.full({ 200 }, 100), damo.full({ 199 }, 0.01), damo.zeros { 1 } }
    local g = f(damo.diag(v))
    assert.is_true(math.abs(g[{ 400, 400 }] - 100) < 1e-9)
    assert.equal(0, g[{ 1, 1 }])
  end)

  it("det's gradient of many small matrices is that of each, singular ones too", function()
    local a, one = damo.dtensor3 "a", damo.dmatrix "one"
    local d = linalg.det(a)
    local f = damo.compile({ a }, damo.grad(damo.sum(d), a))
    local both = damo.compile({ a }, { damo.grad(damo.sum(d), a), d })
    local single = damo.compile({ one }, damo.grad(linalg.det(one), one))
    for n = 1, 5 do
      local x = h.random({ 75, n, n }, n)
      for k = 3, 75, 9 do x[{ k, n }] = 2 * x[{ k, 1 }] end
      for _, got in ipairs { f(x), (both(x)) } do
        for k = 1, 75 do assert.is_true(damo.allclose(got[{ k }], single(x[{ k }]), { atol = 1e-12 }), n .. ": " .. k) end
      end
    end
  end)

  -- The derivative of y along a direction drawn by the seed.
  local function along(y, a, shape, seed) return damo.sum(damo.real(damo.grad(y, a)) * damo.constant(h.random(shape, seed))) end

  it("det's third derivative is there whatever the rank", function()
    for rank = 0, 5 do
      local shape, a = { 5, 5 }, damo.dmatrix "a"
      local value = rank == 0 and damo.zeros(shape) or of_rank(5, rank, 3)
      local second = along(along(linalg.det(a), a, shape, 3), a, shape, 4)
      local f, third = damo.compile({ a }, second), damo.compile({ a }, along(second, a, shape, 5))
      local by = h.random(shape, 5)
      -- of a polynomial of degree 3 along `by` two differences give the derivative exactly
      local function difference(step) return (f(value + step * by) - f(value - step * by)) / (2 * step) end
      local want = (4 * difference(0.125) - difference(0.25)) / 3
      assert.is_true(math.abs(third(value) - want) < 1e-10 * (1 + math.abs(want)), ("rank %d"):format(rank))
    end
  end)

  it("det's third derivative of a stack of singular complex matrices", function()
    local shape, a = { 2, 4, 4 }, damo.tensor { dtype = "complex128", ndim = 3 }
    local z = h.complex(h.random({ 4, 4 }, 3))
    local value = damo.stack { damo.dot(z[{ {}, { 1, 1 } }], z[{ { 1, 1 }, {} }]), z - z } -- of rank 1 and 0
    local d = linalg.det(a)
    local second = along(along(damo.sum(damo.real(d) - 0.5 * damo.imag(d)), a, shape, 3), a, shape, 4)
    local f, third = damo.compile({ a }, second), damo.compile({ a }, along(second, a, shape, 5))
    local by = damo.complex(h.random(shape, 5), damo.zeros(shape))
    local want = (f(value + 0.25 * by) - f(value - 0.25 * by)) / 0.5 -- of degree 2
    assert.is_true(math.abs(third(value) - want) < 1e-10 * (1 + math.abs(want)))
  end)

  it("det's fourth derivative is there where the matrix is regular", function()
    local shape, a = { 4, 4 }, damo.dmatrix "a"
    local third = along(along(along(linalg.det(a), a, shape, 3), a, shape, 4), a, shape, 5)
    local fourth = damo.compile({ a }, along(third, a, shape, 6))
    -- Of a polynomial of degree 4 the fourth derivative is the same everywhere.
    local f, x, by = damo.compile({ a }, third), h.regular(shape, 6), h.random(shape, 6)
    assert.is_true(math.abs(fourth(x) - (f(x + by) - f(x - by)) / 2) < 1e-9)
    local ok, err = pcall(fourth, damo.ones(shape))
    assert.is_false(ok)
    assert.equal("numeric", err.kind)
  end)

  h.case("slogdet's logarithm", function(a) return (select(2, linalg.slogdet(a))) end, { h.random({ 2, 4, 4 }, 9) })
  h.case("slogdet's logarithm of a complex matrix", function(a) return (select(2, linalg.slogdet(a))) end, { z4 })
  h.case("slogdet's complex sign", function(a) return (linalg.slogdet(a)) end, { z4 })

  it("of 0×0 is 1", function()
    assert.equal(1, linalg.det(damo.zeros { 0, 0 }))
    local sign, log = linalg.slogdet(damo.zeros { 0, 0 })
    assert.same({ 1, 0 }, { sign, log })
    assert.same({ 2 }, linalg.det(damo.zeros { 2, 0, 0 }).shape)
  end)

  it("of a singular matrix is 0", function()
    assert.equal(0, linalg.det(damo.array { { 1, 2 }, { 2, 4 } }))
    local sign, log = linalg.slogdet(damo.array { { 1, 2 }, { 2, 4 } })
    assert.same({ 0, -math.huge }, { sign, log })
  end)

  it("do not overflow on the way", function()
    local big = damo.eye(4) * damo.array { 1e200, 1e200, 1e-200, 1e-200 }
    assert.is_true(math.abs(linalg.det(big) - 1) < 1e-12)
    local sign, log = linalg.slogdet(damo.eye(400) * -1e3)
    assert.equal(1, sign)
    assert.is_true(math.abs(log - 400 * math.log(1e3)) < 1e-9)
  end)
end)

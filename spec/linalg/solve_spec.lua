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

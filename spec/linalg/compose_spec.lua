-- Powers, chains of products, blocks and structured matrices.
-- luacheck: no max line length
local damo = require "damo"
local h = assert(loadfile "spec/linalg/harness.lua")(describe, it)
local linalg = damo.linalg

local function message(f, ...)
  local ok, err = pcall(f, ...)
  assert(not ok)
  return err.message, err.kind
end

describe("matrix_power", function()
  local a = h.random({ 2, 3, 3 }, 4)
  for _, n in ipairs { 0, 1, 2, 3, 5 } do
    h.case("n=" .. n, function(x) return linalg.matrix_power(x, n) end, { a }, { grad = n > 0, second = n > 1 })
    it("is the product of n, n=" .. n, function()
      local want = damo.eye(3) * damo.ones { 2, 1, 1 }
      for _ = 1, n do want = damo.matmul(want, a) end
      assert.is_true(damo.allclose(linalg.matrix_power(a, n), want))
    end)
  end
  h.case("of complex matrices", function(x) return linalg.matrix_power(x, 3) end, { h.complex(a) })
  h.case("of inverses", function(x) return linalg.matrix_power(x, -3) end, { h.regular({ 2, 3, 3 }, 4) })
  it("keeps integers, and tells what is wrong", function()
    assert.is_true(damo.array_equal(linalg.matrix_power(damo.array({ { 1, 1 }, { 1, 0 } }, "int64"), 5), damo.array({ { 8, 5 }, { 5, 3 } }, "int64")))
    assert.equal("linalg.matrix_power: operand 1 must be square in its last two axes, got shape (2, 3)", (message(linalg.matrix_power, damo.ones { 2, 3 }, 2)))
    assert.equal("type", select(2, message(linalg.matrix_power, damo.ones { 2, 2 })))
    local x = damo.dmatrix "x"
    for n = 0, 2 do
      local _, kind = message(damo.compile({ x }, linalg.matrix_power(x, n), { on_unused_input = "ignore" }), damo.ones { 2, 3 })
      assert.equal("shape", kind)
    end
  end)
end)

describe("a chain", function()
  local a, b, c, v = h.random({ 2, 5 }, 1), h.random({ 5, 3 }, 2), h.random({ 3, 4 }, 3), h.random({ 4 }, 4)
  h.case("of matrix_dot", linalg.matrix_dot, { a, b, c })
  h.case("of multi_dot", linalg.multi_dot, { a, b, c, v })
  h.case("of multi_dot from a vector", linalg.multi_dot, { h.random({ 2 }, 6), a, b })
  h.case("of multi_dot between vectors", linalg.multi_dot, { h.random({ 2 }, 6), a, h.random({ 5 }, 7) })

  it("is multiplied in the cheapest order", function()
    -- (10 × 100)·(100 × 5)·(5 × 50): 7500 multiplications from the left, 75000 from the right.
    local function t(m, n) return damo.tensor { dtype = "float64", shape = { m, n } } end
    for _, case in ipairs { { 10, 100, 5, 50, "left" }, { 50, 5, 100, 10, "right" } } do
      local x, y, z = t(case[1], case[2]), t(case[2], case[3]), t(case[3], case[4])
      local product = linalg.multi_dot(x, y, z)
      local left = rawequal(product.owner.inputs[2], z)
      assert.equal(case[5], left and "left" or "right")
    end
    local x, y, w = damo.dmatrix "x", damo.dmatrix "y", damo.dvector "w"
    assert.is_true(rawequal(linalg.multi_dot(x, y, w).owner.inputs[1], x)) -- lengths unknown: the vector first
    assert.is_true(rawequal(linalg.multi_dot(x, y, x).owner.inputs[2], x)) -- else from the left
  end)

  it("takes a list or operands, and tells what is wrong", function()
    assert.is_true(damo.array_equal(linalg.multi_dot { a, b, c }, linalg.multi_dot(a, b, c)))
    assert.equal("linalg.multi_dot: at least two operands are needed, got 1", (message(linalg.multi_dot, a)))
    assert.equal("linalg.multi_dot: operand 2 must be a matrix, got rank 1", (message(linalg.multi_dot, a, v, b)))
    assert.equal("shape", select(2, message(linalg.multi_dot, a, c)))
    assert.equal("shape", select(2, message(linalg.matrix_dot, a, c)))
  end)
end)

describe("the Khatri-Rao product", function()
  local a, b = h.random({ 2, 3 }, 1), h.random({ 4, 3 }, 2)
  h.case("of matrices", linalg.khatri_rao, { a, b })
  h.case("of complex matrices", linalg.khatri_rao, { h.complex(a), h.complex(b) })
  h.case("of stacks", linalg.khatri_rao, { h.random({ 2, 2, 3 }, 3), h.random({ 4, 3 }, 4) })

  it("has Kronecker products as columns, and tells what is wrong", function()
    local z = linalg.khatri_rao(a, b)
    for j = 1, 3 do assert.is_true(damo.allclose(z[{ {}, j }], linalg.kron(a[{ {}, j }], b[{ {}, j }]))) end
    assert.equal("linalg.khatri_rao: the operands have 1 and 3 columns",
      (message(linalg.khatri_rao, damo.ones { 2, 1 }, b)))
    local x, y = damo.dmatrix "x", damo.dmatrix "y"
    local f = damo.compile({ x, y }, linalg.khatri_rao(x, y))
    assert.equal("shape", select(2, message(f, damo.ones { 2, 1 }, b)))
    local g = damo.compile({ x }, linalg.khatri_rao(damo.ones { 2, 1 }, x))
    assert.equal("shape", select(2, message(g, b)))
  end)
end)

describe("the inverse of a tensor", function()
  local a = h.regular({ 6, 6 }, 3)
  h.case("of two axes and two", linalg.tensorinv, { a:reshape { 2, 3, 3, 2 } })
  h.case("of one axis and two", function(x) return linalg.tensorinv(x, { ind = 1 }) end, { a:reshape { 6, 2, 3 } })
  h.case("in a system", linalg.tensorsolve, { a:reshape { 2, 3, 6 }, h.random({ 2, 3 }, 4) })
  h.case("in a system with axes moved", function(x, y) return linalg.tensorsolve(x, y, { axes = { 1, 3 } }) end, { a:reshape { 2, 6, 3 }, h.random({ 6 }, 4) })

  it("is one for tensordot", function()
    local x, y = a:reshape { 2, 3, 3, 2 }, h.random({ 2, 3 }, 9)
    assert.is_true(damo.allclose(damo.tensordot(linalg.tensorinv(x), y, 2), linalg.tensorsolve(x, y)))
    assert.is_true(damo.allclose(damo.tensordot(x, linalg.tensorsolve(x, y), 2), y))
    assert.equal("value", select(2, message(linalg.tensorinv, x, { ind = 0 })))
    assert.equal("shape", select(2, message(linalg.tensorinv, damo.ones { 2, 2, 3 })))
    assert.equal("shape", select(2, message(linalg.tensorsolve, damo.ones { 2, 2 }, damo.ones { 2, 2, 2 })))
    assert.equal("numeric", select(2, message(linalg.tensorinv, damo.ones { 2, 2, 2, 2 })))
  end)
end)

describe("a matrix of blocks or diagonals", function()
  h.case("block_diag", linalg.block_diag, { h.random({ 2, 3 }, 1), h.random({ 1, 2 }, 2), h.random({ 3, 1 }, 3) }, { second = false })
  h.case("block_diag of a stack", linalg.block_diag, { h.random({ 4, 2, 1 }, 1), h.random({ 4, 1, 2 }, 2) }, { second = false })
  h.case("kron", linalg.kron, { h.random({ 2, 3 }, 1), h.random({ 3, 2 }, 2) })
  h.case("trace", function(x) return linalg.trace(x, { offset = 1, axis1 = 3, axis2 = 1 }) end, { h.random({ 3, 2, 4 }, 1) }, { grad = false })
  for _, f in ipairs { "toeplitz", "hankel" } do
    h.case(f, linalg[f], { h.random({ 3 }, 1), h.random({ 4 }, 2) }, { second = false })
    h.case(f .. " of one vector", linalg[f], { h.random({ 3 }, 1) }, { second = false })
    h.case(f .. " of complex vectors", linalg[f], { h.complex(h.random({ 3 }, 1)) }, { second = false })
    h.case(f .. " of a stack", linalg[f], { h.random({ 2, 3 }, 1), h.random({ 2, 2 }, 2) }, { second = false })
  end

  it("has these entries", function()
    assert.is_true(damo.array_equal(linalg.hankel(damo.array { 1, 2, 3 }), damo.array { { 1, 2, 3 }, { 2, 3, 0 }, { 3, 0, 0 } }))
    assert.is_true(damo.array_equal(linalg.toeplitz(damo.array { 1, 2, 3 }), damo.array { { 1, 2, 3 }, { 2, 1, 2 }, { 3, 2, 1 } }))
    assert.is_true(damo.array_equal(linalg.block_diag(damo.array { 1, 2 }, damo.array(3)), damo.array { { 1, 2, 0 }, { 0, 0, 3 } }))
    assert.same({ 2, 3 }, linalg.block_diag(damo.zeros { 0, 1 }, damo.ones { 2, 2 }).shape)
    assert.same({ 0, 0 }, linalg.toeplitz(damo.zeros(0)).shape)
    assert.equal("float64", linalg.block_diag(damo.array({ { 1 } }, "int32"), damo.ones { 1, 1 }).dtype)
    assert.equal("value", select(2, message(linalg.block_diag, {})))
    assert.equal("shape", select(2, message(linalg.toeplitz, damo.ones(2), damo.ones { 2, 2 })))
  end)
end)

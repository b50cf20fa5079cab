-- Cholesky factors and triangular systems.
-- luacheck: no max line length
local damo = require "damo"
local h = assert(loadfile "spec/linalg/harness.lua")(describe, it)
local linalg = damo.linalg

local function hermitian(shape, seed)
  local a = damo.complex(h.random(shape, seed), h.random(shape, seed + 1))
  return damo.matmul(a, damo.conj(h.transposed(a))) + 2 * damo.eye(shape[#shape])
end

describe("cholesky", function()
  for _, lower in ipairs { true, false } do
    local function factor(a) return linalg.cholesky(a, { lower = lower }) end
    h.case("lower=" .. tostring(lower), factor, { h.positive({ 4, 4 }) })
    h.case("of a stack, lower=" .. tostring(lower), factor, { h.positive({ 2, 3, 3, 3 }) })
    h.case("of a complex matrix, lower=" .. tostring(lower), factor, { hermitian({ 3, 3 }, 5) })
    h.case("in a system, lower=" .. tostring(lower), function(c, b) return linalg.cho_solve(c, b, { lower = lower }) end,
      { h.regular({ 3, 3 }, 2), h.random({ 2, 3, 2 }, 3) })
  end

  it("reads one triangle", function()
    local a = damo.array { { 4, 7 }, { 2, 3 } }
    assert.is_true(damo.allclose(linalg.cholesky(a), linalg.cholesky(damo.array { { 4, 2 }, { 2, 3 } })))
    assert.is_true(damo.allclose(linalg.cholesky(a.T, { lower = false }), linalg.cholesky(damo.array { { 4, 2 }, { 2, 3 } }).T))
  end)

  it("reads one triangle of matrices of every order and dtype, and clears the other", function()
    for _, n in ipairs { 1, 31, 63, 64, 65, 97, 160 } do
      for _, dtype in ipairs { "float32", "float64", "complex64", "complex128" } do
        local a = h.random({ n, n }, n)
        if dtype:find "complex" then a = damo.complex(a, h.random({ n, n }, n + 1)) end
        a = (damo.matmul(a, damo.conj(a.T)) + n * damo.eye(n)):astype(dtype)
        local unread = damo.triu(damo.full({ n, n }, 0 / 0), 1):astype(dtype)
        local l = linalg.cholesky(damo.tril(a) + damo.where(damo.isnan(unread), unread, 0):astype(dtype))
        local u = linalg.cholesky(damo.triu(a) + damo.where(damo.isnan(unread.T), unread.T, 0):astype(dtype), { lower = false })
        local single = dtype == "float32" or dtype == "complex64"
        local tolerance = { rtol = single and 1e-4 or 1e-12, atol = single and 1e-3 or 1e-10 }
        assert.is_true(damo.allclose(damo.matmul(l, damo.conj(l.T)), a, tolerance), dtype .. n)
        assert.is_true(damo.allclose(damo.matmul(damo.conj(u.T), u), a, tolerance), dtype .. n)
        assert.equal(0, damo.max(damo.abs(damo.triu(l, 1))))
        assert.equal(0, damo.max(damo.abs(damo.tril(u, -1))))
      end
    end
  end)

  it("takes integers as float64, and keeps float32", function()
    assert.equal("float64", linalg.cholesky(damo.array({ { 4, 2 }, { 2, 3 } }, "int32")).dtype)
    assert.equal("float32", linalg.cholesky(damo.array({ { 4, 2 }, { 2, 3 } }, "float32")).dtype)
  end)

  it("of empty matrices and stacks is empty", function()
    assert.same({ 0, 0 }, linalg.cholesky(damo.zeros { 0, 0 }).shape)
    assert.same({ 0, 3, 3 }, linalg.cholesky(damo.zeros { 0, 3, 3 }).shape)
  end)
end)

describe("solve_triangular", function()
  local t = h.regular({ 4, 4 }, 3)
  for trans = 0, 2 do
    for _, lower in ipairs { true, false } do
      local o = { lower = lower, trans = trans }
      local name = (" lower=%s trans=%d"):format(tostring(lower), trans)
      h.case("of a vector" .. name, function(a, b) return linalg.solve_triangular(a, b, o) end, { t, h.random({ 4 }, 5) })
      h.case("of a stack of matrices" .. name, function(a, b) return linalg.solve_triangular(a, b, o) end, { t, h.random({ 2, 4, 3 }, 5) })
      h.case("of complex matrices" .. name, function(a, b) return linalg.solve_triangular(a, b, o) end,
        { h.complex(t), h.complex(h.random({ 4, 2 }, 5)) })
      h.case("of complex vectors" .. name, function(a, b)
        return linalg.solve_triangular(a, b, { lower = lower, trans = trans, b_ndim = 1 })
      end, { h.complex(t), h.complex(h.random({ 2, 4 }, 5)) })
    end
  end
  h.case("with a diagonal of ones", function(a, b) return linalg.solve_triangular(a, b, { unit_diagonal = true, lower = true }) end,
    { t, h.random({ 4, 3 }, 5) })

  it("tells operands that do not fit", function()
    local function message(...) return select(2, pcall(linalg.solve_triangular, ...)).message end
    assert.equal("solve_triangular: operand 2 has shape (3,), whose axis 1 must be 4, as axis 1 of operand 1 of shape (4, 4)", message(t, damo.ones(3)))
    assert.equal("solve_triangular: operand 1 must be square in its last two axes, got shape (2, 3)", message(damo.ones { 2, 3 }, damo.ones(3)))
    assert.equal("solve_triangular: operand 1 must have at least 2 axes, got shape (2,)", message(damo.ones(2), damo.ones(2)))
    assert.equal("solve_triangular: the leading axes of operand 1 of shape (2, 4, 4) and operand 2 of shape (3, 4, 1) do not agree",
      message(damo.ones { 2, 4, 4 }, damo.ones { 3, 4, 1 }))
    assert.equal("solve_triangular: the matrix is singular: entry 2 of its diagonal is 0", message(damo.array { { 1, 0 }, { 0, 0 } }, damo.ones(2)))
    assert.equal("numeric", select(2, linalg.solve_triangular(damo.zeros { 2, 2 }, damo.ones(2), { on_fail = "return" })).kind)
  end)

  it("tells which entry of a stack failed, or fills it with nan", function()
    local stack = damo.stack { damo.eye(2), damo.zeros { 2, 2 } }
    local _, err = linalg.solve_triangular(stack, damo.ones { 2, 1 }, { on_fail = "return" })
    assert.equal("solve_triangular: the matrix is singular: entry 1 of its diagonal is 0 (entry (2,) of the leading axes)", err.message)
    local x = linalg.solve_triangular(stack, damo.ones { 2, 1 }, { on_fail = "nan" })
    assert.equal(1, x[{ 1, 1, 1 }])
    assert.is_true(x[{ 2, 1, 1 }] ~= x[{ 2, 1, 1 }])
  end)

  it("refuses an axis whose length of 1 is not known when the graph is built", function()
    local a, b = damo.tensor3 "a", damo.tensor3 "b"
    local f = damo.compile({ a, b }, linalg.solve_triangular(a, b))
    assert.is_false(pcall(f, damo.ones { 1, 2, 2 }, damo.ones { 3, 2, 1 }))
  end)
end)

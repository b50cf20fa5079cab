-- What the rules of rewrite/linalg.c make of small graphs, and where they must not apply: the nodes that rewriting
-- leaves, and their values against a graph without rules.
-- luacheck: no max line length
local damo = require "damo"
local h = assert(loadfile "spec/linalg/harness.lua")(describe, it)
local linalg = damo.linalg

local all = damo.Mode { exclude = { "fusion", "inplace" } }
local exact = damo.Mode { exclude = { "fusion", "inplace", "inexact" } }
local none = damo.Mode { optimizer = "none" }

local plain = { a = h.regular({ 4, 4 }, 3), c = h.positive({ 4, 4 }, 5), b = h.random({ 4, 3 }, 6), v = h.random({ 4 }, 7) + 2, t = h.regular({ 2, 4, 4 }, 8), w = h.random({ 5, 4, 3 }, 9) }
local function variable(name)
  return damo.tensor(name, { dtype = "float64", ndim = plain[name].ndim })
end

local watched = {}
for name in ("Solve SolveTriangular SolveDiagonal LUFactor LUSolve LUDet LUInverse LUAdjugate Adjugate MatrixInverse Det SLogDet Cholesky Dot Matmul"):gmatch "%S+" do watched[name] = true end

-- The nodes of linear algebra in dependency order, sorted by name.
local function nodes_of(f)
  local out = {}
  for _, node in ipairs(damo.graph.toposort(f.fgraph.outputs)) do
    local name = node.op.name
    if watched[name] then out[#out + 1] = name end
  end
  table.sort(out)
  return table.concat(out, " ")
end

--- letters: the inputs; fn: the graph; want: its nodes after rewriting, nil: as before.
local function rule(name, letters, fn, want, static)
  it(name, function()
    local vars, values = {}, {}
    for i = 1, #letters do
      local letter = letters:sub(i, i)
      vars[i] = static and damo.tensor(letter, { dtype = "float64", shape = plain[letter].shape }) or variable(letter)
      values[i] = plain[letter]
    end
    local outputs = { fn(table.unpack(vars)) }
    local f, g = damo.compile(vars, outputs, { mode = all }), damo.compile(vars, outputs, { mode = none })
    assert.equal(want or nodes_of(g), nodes_of(f))
    local got, expected = table.pack(f(table.unpack(values))), table.pack(g(table.unpack(values)))
    for i = 1, got.n do assert.is_true(damo.allclose(got[i], expected[i], { equal_nan = true })) end
    for node in nodes_of(damo.compile(vars, outputs, { mode = exact })):gmatch "%S+" do
      assert.is_truthy(nodes_of(g):find(node, 1, true), "without inexact rules: " .. node)
    end
    damo.compile(vars, outputs, { mode = "DEBUG" })(table.unpack(values))
  end)
end

describe("an inverse", function()
  rule("times a matrix is a system", "ab", function(a, b) return damo.dot(linalg.inv(a), b) end, "Solve")
  rule("times a vector is a system", "av", function(a, v) return damo.dot(linalg.inv(a), v) end, "Solve")
  rule("behind a matrix is a system", "ab", function(a, b) return damo.dot(b.T, linalg.inv(a)) end, "Solve")
  rule("behind a vector is a system", "av", function(a, v) return damo.dot(v, linalg.inv(a)) end, "Solve")
  rule("transposed is a system", "ab", function(a, b) return damo.dot(linalg.inv(a).T, b) end, "Solve")
  rule("of a transpose is a system", "ab", function(a, b) return damo.dot(linalg.inv(a.T), b) end, "Solve")
  rule("of a stack is a system", "tb", function(t, b) return damo.matmul(linalg.inv(t), b) end, "Solve")
  it("of a singular matrix times a matrix without columns is an error as before", function()
    local a, b = variable "a", variable "b"
    for _, y in ipairs { damo.dot(linalg.inv(a), b), damo.dot(b.T, linalg.inv(a)) } do
      for _, mode in ipairs { all, none } do
        local f = damo.compile({ a, b }, y, { mode = mode })
        local ok, err = pcall(f, damo.zeros { 2, 2 }, damo.zeros { 2, 0 })
        assert.is_false(ok)
        assert.equal("numeric", err.kind)
        assert.same(0, f(damo.eye(2), damo.zeros { 2, 0 }).size)
        assert.same(0, f(damo.zeros { 0, 0 }, damo.zeros { 0, 0 }).size)
      end
    end
    for _, assume in ipairs { "gen", "sym", "her", "tridiagonal", "banded", "diagonal" } do
      assert.is_false(pcall(linalg.solve, damo.zeros { 2, 2 }, damo.zeros { 2, 0 }, { assume_a = assume }), assume)
      assert.same(0, linalg.solve(damo.zeros { 0, 0 }, damo.zeros { 0, 3 }, { assume_a = assume }).size)
      assert.same(0, linalg.solve(damo.zeros { 0, 2, 2 }, damo.zeros { 0, 2, 3 }, { assume_a = assume }).size)
    end
  end)
  rule("that is read elsewhere stays", "ab", function(a, b)
    local y = linalg.inv(a)
    return damo.dot(y, b), y
  end)
  rule("of an inverse is the matrix where the inner one stays", "a", function(a)
    local y = linalg.inv(a)
    return linalg.inv(y), y
  end, "MatrixInverse")
  rule("of an inverse stays where its error would vanish", "a", function(a) return linalg.inv(linalg.inv(a)) end)
end)

describe("a determinant", function()
  rule("under log and abs is slogdet", "a", function(a) return damo.log(damo.abs(linalg.det(a))) end, "SLogDet")
  rule("under log is slogdet", "a", function(a) return damo.log(linalg.det(a)) end, "SLogDet")
  it("under log is nan where it is negative", function()
    local a = damo.dmatrix "a"
    local f = damo.compile({ a }, damo.log(linalg.det(a)), { mode = all })
    local x = f(damo.array { { 0, 1 }, { 1, 0 } })
    assert.is_true(x ~= x)
    assert.equal(-math.huge, f(damo.zeros { 2, 2 }))
  end)
  it("that overflows or vanishes has a logarithm with a gradient", function()
    local a, t = damo.dmatrix "a", damo.dtensor3 "t"
    local function gradient(x, value)
      return damo.compile({ x }, damo.grad(damo.sum(damo.log(value(linalg.det(x))) * -0.5), x), { mode = all })
    end
    for _, value in ipairs { function(d) return d end, damo.abs } do
      local f, g = gradient(a, value), gradient(t, value)
      for _, scale in ipairs { 100, 0.01 } do
        local x = damo.eye(200) * scale
        assert.is_true(damo.array_equal(damo.eye(200) * (-0.5 / scale), f(x)))
        local y = g(damo.stack { x, x * 2 })
        assert.equal(-0.5 / scale, y[{ 1, 7, 7 }])
        assert.equal(-0.25 / scale, y[{ 2, 200, 200 }])
      end
      assert.is_false(pcall(f, damo.zeros { 2, 2 }))
    end
    local f = damo.compile({ a }, damo.grad(damo.log(damo.abs(linalg.det(a))), a), { mode = all })
    assert.equal(1, f(damo.array { { 0, 1 }, { 1, 0 } })[{ 1, 2 }])
  end)
  it("divided by itself is nan where it is 0", function()
    local a = damo.dmatrix "a"
    local d = linalg.det(a)
    local x = damo.compile({ a }, d / d, { mode = all })(damo.zeros { 2, 2 })
    assert.is_true(x ~= x)
  end)
  rule("of a transpose is that of the matrix", "a", function(a) return linalg.det(a.T) end, "Det")
  rule("of a triangle is the product of its diagonal", "a", function(a) return linalg.det(damo.tril(a)) end, "", true)
  rule("of a triangle that may not be square stays", "a", function(a) return linalg.det(damo.tril(a)) end)
  rule("of a triangle and more stays", "a", function(a) return linalg.det(damo.tril(a, { k = 1 })) end, nil, true)
  rule("of a Cholesky factor", "c", function(c) return select(2, linalg.slogdet(linalg.cholesky(c))) end, "Cholesky")
  rule("of a diagonal matrix", "v", function(v) return linalg.det(damo.diag(v)) end, "")
  rule("and its logarithm of a diagonal matrix", "v", function(v) return linalg.slogdet(damo.diag(v)) end, "")
  rule("and its logarithm of a product", "ac", function(a, c) return linalg.slogdet(damo.dot(a, c)) end, "SLogDet SLogDet", true)
  rule("and its logarithm of a product of what may not be square stays", "ac",
    function(a, c) return linalg.slogdet(damo.dot(a, c)) end)
  rule("of a product, whose factors' may overflow, stays", "ac", function(a, c) return linalg.det(damo.dot(a, c)) end, nil,
    true)
end)

describe("one matrix", function()
  rule("of two systems is factorized once", "abv", function(a, b, v) return linalg.solve(a, b), linalg.solve(a, v) end, "LUFactor LUSolve LUSolve")
  rule("of a system and its transpose is factorized once", "abv", function(a, b, v) return linalg.solve(a, b), linalg.solve(a.T, v) end, "LUFactor LUSolve LUSolve")
  rule("of a system and its gradient is factorized once", "ab", function(a, b)
    local x = linalg.solve(a, b)
    local cost = damo.sum(x * x)
    return cost, damo.grad(cost, a), damo.grad(cost, b)
  end, "Dot LUFactor LUSolve LUSolve")
  rule("of a system and determinants is factorized once", "ab", function(a, b)
    local sign, log = linalg.slogdet(a)
    return linalg.solve(a, b), linalg.det(a), sign, log
  end, "LUDet LUDet LUFactor LUSolve")
  rule("of a determinant and its gradient is factorized once", "a", function(a)
    local d = linalg.det(a)
    return d, damo.grad(d, a)
  end, "LUAdjugate LUDet LUFactor")
  rule("of a stack of right sides is factorized once", "aw", function(a, w) return linalg.solve(a, w) end, "LUFactor LUSolve")
  rule("of one system stays", "ab", function(a, b) return linalg.solve(a, b) end)
  rule("that is positive definite has one Cholesky factor", "cbv", function(c, b, v)
    return linalg.solve(c, b, { assume_a = "pos" }), linalg.solve(c, v, { assume_a = "pos" })
  end, "Cholesky SolveTriangular SolveTriangular SolveTriangular SolveTriangular")
  rule("that is positive definite shares its factor", "cv", function(c, v)
    return linalg.solve(c, v, { assume_a = "pos", lower = true }), linalg.cholesky(c)
  end, "Cholesky SolveTriangular SolveTriangular")
  rule("whose other triangle counts has its own factor", "cv", function(c, v)
    return linalg.solve(c, v, { assume_a = "pos", lower = false }), linalg.cholesky(c)
  end)
end)

describe("structure", function()
  rule("of a triangle is seen by solve", "ab", function(a, b) return linalg.solve(damo.tril(a), b) end, "SolveTriangular")
  rule("of a transposed triangle is seen by solve", "ab", function(a, b) return linalg.solve(damo.triu(a).T, b) end, "SolveTriangular")
  rule("of a Cholesky factor is seen by solve", "cv", function(c, v) return linalg.solve(linalg.cholesky(c).T, v) end, "Cholesky SolveTriangular")
  rule("of a triangle is seen by inv", "a", function(a) return linalg.inv(damo.triu(a)) end, "SolveTriangular")
  rule("of a diagonal matrix is seen by solve", "vb", function(v, b) return linalg.solve(damo.diag(v), b) end, "SolveDiagonal")
  rule("of a diagonal matrix is seen by inv", "v", function(v) return linalg.inv(damo.diag(v)) end, "SolveDiagonal")
  rule("of two diagonals is not diagonal", "vb", function(v, b) return linalg.solve(damo.diag(v) + damo.eye(4), b) end)
  it("keeps the error of a singular matrix", function()
    local v = damo.dvector "v"
    for _, fn in ipairs { function(x) return linalg.inv(damo.diag(x)) end, function(x) return linalg.solve(damo.diag(x), damo.ones(2)) end } do
      local ok, err = pcall(damo.compile({ v }, fn(v)), damo.array { 1, 0 })
      assert.is_false(ok)
      assert.equal("numeric", err.kind)
    end
  end)
  rule("L·Lᵀ of a Cholesky factor is the matrix where the factor stays", "c", function(c)
    local l = linalg.cholesky(c)
    return damo.dot(l, l.T), l
  end, "Cholesky")
  rule("Uᵀ·U of a Cholesky factor is the matrix where the factor stays", "c", function(c)
    local u = linalg.cholesky(c, { lower = false })
    return damo.dot(u.T, u), u
  end, "Cholesky")
  rule("Lᵀ·L of a Cholesky factor is another matrix", "c", function(c)
    local l = linalg.cholesky(c)
    return damo.dot(l.T, l), l
  end)
  rule("L·Lᵀ stays where the error would vanish", "c", function(c)
    local l = linalg.cholesky(c)
    return damo.dot(l, l.T)
  end)
end)

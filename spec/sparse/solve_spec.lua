-- Sparse systems: solve, factorize, determinants, least squares, their gradients, and errors in their input.

local damo = require "damo"
local s = require "spec.sparse.support"
local garbage = require "spec.support.garbage"
local sp = damo.sparse

local function near(a, b, tol) s.close(a, b, nil, tol or 1e-9) end

-- A regular unsymmetric matrix of n rows; complex if the dtype is.
local function regular(o)
  o = o or {}
  local n, dtype = o.n or 5, o.dtype or "float64"
  local m = s.matrix {
    rows = n, cols = n, dtype = dtype, format = o.format, itype = o.itype, kind = o.kind, seed = o.seed,
  }
  local eye = sp.eye(n, n, { dtype = dtype, format = o.format or "csr" })
  local sum = m + eye * 6
  return sp[o.format or "csr"] {
    data = sum.data, indices = sum.indices, indptr = sum.indptr, shape = sum.shape, itype = o.itype,
  }
end

local function hermitian(x) return x.dtype:find "complex" and damo.conj(x).T or x.T end

-- Positive definite: B·Bᴴ + 1, with a real diagonal.
local function definite(o)
  local b = regular(o)
  local m = sp.true_dot(b, hermitian(b))
  m = (m.format == b.format) and m or m:tocsr()
  local h = (m + sp[b.format == "csr" and "csr_from_dense" or "csc_from_dense"](hermitian(m):toarray())) * 0.5
  if not b.dtype:find "complex" then return h end
  local d = h.data:copy()
  local rows = s.flat(h.indices)
  local ends = s.flat(h.indptr)
  for line = 1, #ends - 1 do
    for k = ends[line] + 1, ends[line + 1] do
      if rows[k] == line - 1 then d[{ { k, k } }] = damo.complex(damo.real(d[{ { k, k } }]), damo.zeros { 1 }) end
    end
  end
  return sp[h.format] { data = d, indices = h.indices, indptr = h.indptr, shape = h.shape }
end

-- The Laplacian on a grid of n × n points: 4 on the diagonal, −1 for neighbours.
local function laplacian(n, format)
  local rows, cols, values = {}, {}, {}
  local function add(i, j, v)
    rows[#rows + 1], cols[#cols + 1], values[#values + 1] = i, j, v
  end
  for x = 1, n do
    for y = 1, n do
      local i = (x - 1) * n + y
      add(i, i, 4.0)
      if x > 1 then add(i, i - n, -1.0) end
      if x < n then add(i, i + n, -1.0) end
      if y > 1 then add(i, i - 1, -1.0) end
      if y < n then add(i, i + 1, -1.0) end
    end
  end
  return sp.coo { rows = rows, cols = cols, values = values, shape = { n * n, n * n }, format = format or "csc" }
end

local data = function(name) return damo.io.read_mtx("spec/data/mtx/" .. name .. ".mtx", { format = "csc" }) end

local tolerance = { float32 = 2e-4, complex64 = 2e-4, float64 = 1e-10, complex128 = 1e-10 }

describe("solve", function()
  for _, dtype in ipairs(s.floats) do
    it("gives x with A x = b of vectors, matrices and sparse b, " .. dtype, function()
      for _, format in ipairs(s.formats) do
        for _, itype in ipairs(s.itypes) do
          local A = regular { dtype = dtype, format = format, itype = itype }
          local b, B = s.vector(5, dtype, 9), s.dense(5, 3, dtype, 11)
          local x = sp.solve(A, b)
          assert.equal(dtype, x.dtype)
          near(damo.dot(A, x), b, tolerance[dtype])
          near(damo.dot(A, sp.solve(A, B)), B, tolerance[dtype])
          near(damo.dot(A.T, sp.solve_t(A, b)), b, tolerance[dtype])
          local S = s.matrix { rows = 5, cols = 4, dtype = dtype, seed = 31 }
          local X = sp.solve(A, S)
          assert.equal("csr", X.format)
          near(damo.dot(A, X), S, tolerance[dtype])
        end
      end
    end)
  end

  it("is the same eagerly and in every mode", function()
    for _, dtype in ipairs { "float64", "complex128" } do
      local A, P, b = regular { dtype = dtype }, definite { dtype = dtype, format = "csc" }, s.vector(5, dtype, 9)
      s.same_everywhere(sp.solve, { A, b })
      s.same_everywhere(function(a, v) return sp.solve(a, v, { assume = "pos" }) end, { P, b })
      s.same_everywhere(sp.slogdet, { A })
      s.same_everywhere(sp.det, { A })
      s.same_everywhere(sp.lstsq, { s.matrix { rows = 6, cols = 3, dtype = dtype, seed = 5 }, s.vector(6, dtype, 4) })
    end
  end)

  it("takes mixed dtypes: a real A and a complex b, integers, float32", function()
    local A = regular()
    local b = s.vector(5, "complex128", 3)
    local x = sp.solve(A, b)
    assert.equal("complex128", x.dtype)
    near(damo.dot(A, x), b)
    assert.equal("float64", sp.solve(sp.cast(A * 8, "int64"), damo.array { 1, 2, 3, 4, 5 }).dtype)
    assert.equal("float64", sp.solve(sp.cast(A, "float32"), s.vector(5, "float64", 3)).dtype)
    assert.equal("float32", sp.solve(sp.cast(A, "float32"), damo.array({ 1, 2, 3, 4, 5 }, "int8")).dtype)
  end)

  it("sums duplicates and keeps explicit zeros", function()
    for _, kind in ipairs { "duplicates", "zeros", "unsorted" } do
      local A = regular { kind = kind }
      local b = s.vector(5, "float64", 2)
      near(damo.dot(A, sp.solve(A, b)), b)
    end
  end)

  it("takes 0 × 0 systems", function()
    local A = sp.from_dense(damo.zeros { 0, 0 }, "csr")
    assert.same({ 0 }, sp.solve(A, damo.zeros { 0 }).shape)
    assert.same({ 0, 3 }, sp.solve(A, damo.zeros { 0, 3 }).shape)
    assert.equal(0.0, sp.logdet(A))
    assert.equal(1.0, sp.det(A))
  end)

  it("solves a Hermitian indefinite system by LU, if nothing is assumed", function()
    local A = sp.from_dense(damo.array { { 1, 3 }, { 3, 1 } }, "csc")
    local F = sp.factorize(A)
    assert.equal("lu", F.kind)
    near(F:solve(damo.array { 4, 4 }), { 1, 1 })
    assert.equal("cholesky", sp.factorize(laplacian(4)).kind)
  end)

  it("uses only A's symmetric part with assume pos", function()
    local A = regular()
    local H = sp.csr_from_dense((A:toarray() + A.T:toarray()) * 0.5)
    local b = s.vector(5, "float64", 2)
    near(sp.solve(A, b, { assume = "pos" }), sp.solve(H, b))
    near(sp.logdet(A, { assume = "pos" }), sp.logdet(H))
  end)
end)

describe("factors", function()
  it("have fields and a text", function()
    local F = sp.factorize(laplacian(3))
    assert.equal("<factor float64 (9, 9), cholesky by " .. F.backend .. ">", tostring(F))
    assert.same({ 9, 9 }, F.shape)
    assert.equal("float64", F.dtype)
    assert.equal(1, F.analyses)
    local log, sign = F:logdet()
    near(log, sp.logdet(laplacian(3)))
    assert.equal(1.0, sign)
    near(F:det(), math.exp(log))
    assert.is_true(F:rcond() > 0.01 and F:rcond() < 1)
  end)

  it("keep A's values: later writes into A do not change them", function()
    local A = laplacian(3)
    local b = s.vector(9, "float64", 2)
    local F = sp.factorize(A)
    local before = F:solve(b)
    A.data[1] = 100
    near(F:solve(b), before, 1e-15)
    near(F:solve_t(b), before, 1e-12)
  end)

  it("are Variables in graphs, inputs and outputs", function()
    local A, b = sp.csr_matrix "A", damo.dvector "b"
    local F = sp.factorize(A)
    assert.equal("FactorType", F.type.kind)
    local make = damo.compile({ A }, F)
    local one, two = make(regular()), make(regular { seed = 8 })
    local v = s.vector(5, "float64", 4)
    near(damo.dot(regular(), one:solve(v)), v)
    near(damo.dot(regular { seed = 8 }, two:solve(v)), v)
    local G = sp.FactorType("float64", { shape = { 5, 5 } }) "F"
    local f = damo.compile({ G, b }, { G:solve(b), G:solve_t(b), G:det() })
    local x, xt, det = f(one, v)
    near(x, one:solve(v), 1e-15)
    near(xt, one:solve_t(v), 1e-15)
    near(det, one:det(), 1e-15)
    -- there is a gradient for b, but no matrix
    local g = damo.grad(damo.sum(G:solve(b)), b)
    near(damo.compile({ G, b }, g, { on_unused_input = "ignore" })(one, v), one:solve_t(damo.ones { 5 }))
    s.raises("disconnected_input", nil, function() damo.grad(damo.sum(G:solve(b)), A) end)
    s.raises("type", nil, function() f(sp.factorize(laplacian(2)), v) end)
    s.raises("type", nil, function() f(v, v) end)
  end)

  it("take Variables as right-hand sides", function()
    local F = sp.factorize(laplacian(3))
    local b = damo.dvector "b"
    local v = s.vector(9, "float64", 4)
    near(damo.compile({ b }, F:solve(b))(v), F:solve(v), 1e-15)
  end)

  it("are constants, shared values, branches, defaults and results of Lua Ops", function()
    local A, b = sp.csc_matrix "A", damo.ones { 9 }
    local one, two = sp.factorize(laplacian(3)), sp.factorize(laplacian(3) * 2)
    local want = one:solve(b)
    assert.equal("FactorType", damo.constant(one).type.kind)
    local c = damo.bscalar "c"
    local pick = damo.compile({ c }, damo.ifelse(c, damo.constant(one), damo.constant(two)):solve(b))
    near(pick(1), want, 1e-15)
    near(pick(0), want / 2, 1e-15)
    local F = damo.shared(one, "F")
    local f = damo.compile({ A }, F:solve(b), { updates = { [F] = sp.factorize(A) } })
    near(f(laplacian(3) * 2), want, 1e-15)
    near(f(laplacian(3) * 4), want / 2, 1e-12)
    near(f(laplacian(3)), want / 4, 1e-12)
    near(F:get_value():solve(b), want, 1e-12)
    local G = sp.FactorType "float64" "G"
    near(damo.compile({ damo.In(G, { value = one }) }, G:solve(b))(), want, 1e-15)
    local Solve = damo.Op {
      name = "Solve", itypes = { sp.FactorType "float64" },
      otypes = { damo.TensorType("float64", { shape = { false } }) },
      perform = function(_, _, inputs, output) output[1][1] = inputs[1]:solve(b) end,
    }
    near(damo.compile({ A }, Solve(sp.factorize(A)))(laplacian(3)), want, 1e-15)
  end)

  it("are refused by tensor functions", function()
    local F = sp.factorize(laplacian(2))
    s.raises("type", "add: operand 1 (x) must be a tensor, got FactorType(float64, shape=(4, 4))", function()
      damo.add(F, 1)
    end)
    s.raises("type", "sparse.add: operand 2 must be sparse or dense, got FactorType(float64, shape=(4, 4))", function()
      return laplacian(2) + F
    end)
  end)

  it("give the same in DEBUG and NANGUARD mode", function()
    local A, G, b = sp.csc_matrix "A", sp.FactorType "float64" "G", s.vector(9, "float64", 3)
    local one, m = sp.factorize(laplacian(3)), laplacian(3)
    for _, mode in ipairs { "DEBUG", "NANGUARD" } do
      local f = damo.compile({ A, G }, { sp.factorize(A), G:solve(b), sp.solve(A, b), sp.logdet(A) }, { mode = mode })
      local first, x, y = f(m, one)
      near(x, y, 1e-15)
      local second = f(m * 3, one)
      assert.is_false(first == second)
      near(first:det(), one:det())
      near(second:det(), one:det() * 3 ^ 9)
    end
  end)

  it("are freed by free, and cannot be used afterwards", function()
    local F = sp.factorize(laplacian(3))
    F:free()
    F:free()
    assert.equal("Factor: freed", tostring(F))
    s.raises("state", "this Factor has been freed", function() F:solve(damo.ones { 9 }) end)
    s.raises("state", "this Factor has been freed", function() return F.kind end)
    s.raises("state", "this Factor has been freed", function() sp.solve(F, damo.ones { 9 }) end)
  end)

  it("of a singular matrix have a determinant", function()
    local F = sp.factorize(sp.from_dense(damo.array { { 1, 2 }, { 2, 4 } }, "csc"))
    assert.equal(0.0, F:det())
    local log, sign = F:logdet()
    assert.equal(-math.huge, log)
    assert.equal(0.0, sign)
    assert.equal(0.0, F:rcond())
  end)

  it("of a singular matrix have a determinant in every mode", function()
    for _, dtype in ipairs { "float32", "float64", "complex128" } do
      local x = sp.csc_matrix("x", { dtype = dtype })
      local m = sp.from_dense(damo.array({ { 1, 2 }, { 2, 4 } }, dtype), "csc")
      for _, mode in ipairs { "FAST_RUN", "DEBUG", "NANGUARD" } do
        local log, sign = damo.compile({ x }, { sp.slogdet(x) }, { mode = mode })(m)
        assert.equal(-math.huge, s.flat(log)[1])
        assert.same({ 0, dtype == "complex128" and 0 or nil }, s.flat(sign))
        local inner = sp.csc_matrix("y", { dtype = dtype })
        local op = damo.graph.OpFromGraph({ inner }, { sp.slogdet(inner) }, { inline = false })
        log, sign = damo.compile({ x }, { op(x) }, { mode = mode })(m)
        assert.equal(-math.huge, s.flat(log)[1])
        assert.same({ 0, dtype == "complex128" and 0 or nil }, s.flat(sign))
        log, sign = damo.compile({ x }, { sp.factorize(x):logdet() }, { mode = mode })(m)
        assert.equal(-math.huge, s.flat(log)[1])
        assert.same({ 0, dtype == "complex128" and 0 or nil }, s.flat(sign))
      end
    end
  end)
end)

describe("work done once", function()
  local function counts(f) return { f.profile.symbolic_analyses, f.profile.factorizations } end

  it("is the analysis, for 100 calls on one pattern", function()
    local A, b = sp.csc_matrix "A", damo.dvector "b"
    local f = damo.compile({ A, b }, sp.solve(A, b))
    local m, v = laplacian(6), damo.ones { 36 }
    for k = 1, 100 do
      m.data[1] = 4 + k
      near(damo.dot(m, f(m, v)), v)
    end
    assert.same({ 1, 100 }, counts(f))
    f(m, v)
    assert.same({ 1, 100 }, counts(f)) -- the same values: nothing to do
    local other = regular { n = 36, format = "csc" }
    near(damo.dot(other, f(other, v)), v)
    assert.same({ 2, 101 }, counts(f))
    near(damo.dot(m, f(m, v)), v)
    assert.same({ 3, 102 }, counts(f))
  end)

  it("is the factorization, of solve, logdet, det, gradients and R_op of one A", function()
    for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE" } do
      local A, b, V = sp.csc_matrix "A", damo.dvector "b", sp.csc_matrix "V"
      local x = sp.solve(A, b)
      local cost = damo.sum(x * x) + sp.logdet(A) + sp.det(A)
      local outputs = { x, cost, damo.grad(cost, A), damo.grad(cost, b), damo.Rop(x, A, V) }
      local f = damo.compile({ A, b, V }, outputs, { mode = mode })
      local m = regular { format = "csc" }
      f(m, damo.ones { 5 }, m)
      assert.same({ 1, 1 }, counts(f))
    end
  end)

  it("is repeated if a script still holds the factor", function()
    local A = sp.csr_matrix "A"
    local f = damo.compile({ A }, sp.factorize(A))
    local m, v = regular(), damo.ones { 5 }
    local first = f(m)
    local x = first:solve(v)
    m.data[1] = 9
    local second = f(m)
    assert.is_false(first == second)
    near(first:solve(v), x, 1e-15)
    near(damo.dot(m, second:solve(v)), v)
    assert.same({ 2, 2 }, counts(f))
  end)

  it("is the analysis, of a system or a factor in a branch", function()
    local A, b, c = sp.csc_matrix "A", damo.dvector "b", damo.bscalar "c"
    local x = damo.ifelse(c, sp.solve(A, b), b)
    local graphs = {
      { x, damo.grad(damo.sum(x), A) },
      { damo.ifelse(c, sp.factorize(A), sp.factorize(sp.mul(A, 2.0))):solve(b) },
    }
    for _, outputs in ipairs(graphs) do
      local f = damo.compile({ A, b, c }, outputs)
      local m, v = laplacian(4), damo.ones { 16 }
      for k = 1, 100 do
        m.data[1] = 4 + k
        near(damo.dot(m, (f(m, v, 1))), v)
      end
      assert.same({ 1, 100 }, counts(f))
    end
  end)

  it("is done twice if a shared value holds the last factor: two factors alternate", function()
    local A, b = sp.csc_matrix "A", damo.dvector "b"
    local m, v = laplacian(4), damo.ones { 16 }
    local F = damo.shared(sp.factorize(m), "F")
    local f = damo.compile({ A, b }, F:solve(b), { updates = { [F] = sp.factorize(A) } })
    local last = sp.solve(m, v)
    for k = 1, 20 do
      m.data[1] = 4 + k
      near(f(m, v), last)
      last = sp.solve(m, v)
    end
    assert.same({ 2, 20 }, counts(f))
    local held = F:get_value()
    local want = held:solve(v)
    for k = 21, 30 do
      m.data[1] = 4 + k
      f(m, v)
      near(held:solve(v), want, 1e-15)
    end
    assert.same({ 3, 30 }, counts(f))
  end)

  it("is counted inside OpFromGraph too", function()
    local A, b = sp.csc_matrix "A", damo.dvector "b"
    local Solve = damo.graph.OpFromGraph({ A, b }, { sp.solve(A, b) })
    local X, y = sp.csc_matrix "X", damo.dvector "y"
    local f = damo.compile({ X, y }, Solve(X, y))
    for k = 1, 3 do f(laplacian(3) * k, damo.ones { 9 }) end
    assert.same({ 1, 3 }, counts(f))
  end)

  it("is counted in every Function, and is 0 without systems", function()
    local x = damo.dvector "x"
    assert.same({ 0, 0 }, counts(damo.compile({ x }, x * 2)))
  end)
end)

describe("gradients of solve", function()
  local function cases(check)
    for _, dtype in ipairs { "float64", "complex128" } do
      for _, format in ipairs(s.formats) do
        local A = regular { dtype = dtype, format = format, n = 4 }
        local v, S = s.vector(4, dtype, 9), s.matrix { rows = 4, cols = 3, dtype = dtype }
        for _, b in ipairs { v, s.dense(4, 2, dtype, 5), S } do
          check(sp.solve, { A, b })
        end
        check(sp.solve_t, { A, v })
        check(function(a, b) return sp.FactorSolve { system = "h" }(sp.factorize(a), a, b) end, { A, v })
      end
    end
  end

  it("agree with differences for A, on its entries, and for b", function() cases(s.check_grad) end)
  it("have forward derivatives", function() cases(s.check_rop) end)

  it("have second derivatives", function()
    for _, dtype in ipairs { "float64", "complex128" } do
      s.check_second(sp.solve, { regular { dtype = dtype, n = 3 }, s.vector(3, dtype, 9) }, { tol = 1e-5 })
    end
  end)

  it("are those of the symmetric part with assume pos", function()
    for _, dtype in ipairs { "float64", "complex128" } do
      for _, format in ipairs(s.formats) do
        local A = definite { dtype = dtype, n = 4, format = format }
        local function pos(a, b) return sp.solve(a, b, { assume = "pos" }) end
        s.check_grad(pos, { A, s.vector(4, dtype, 9) }, { tol = 1e-5 })
        s.check_rop(pos, { A, s.vector(4, dtype, 9) }, { tol = 1e-5 })
        local function pos_t(a, b) return sp.solve_t(a, b, { assume = "pos" }) end
        s.check_grad(pos_t, { A, s.dense(4, 2, dtype, 9) }, { tol = 1e-5 })
      end
    end
    local skew = regular { n = 4 }
    s.check_grad(function(a, b) return sp.solve(a, b, { assume = "pos" }) end, { skew, s.vector(4, "float64", 9) })
  end)

  it("mix a real A with a complex b and vice versa", function()
    s.check_grad(sp.solve, { regular { n = 4 }, s.vector(4, "complex128", 3) })
    s.check_grad(sp.solve, { regular { n = 4, dtype = "complex128" }, s.vector(4, "float64", 3) })
  end)

  it("propagate to the values that A is made from", function()
    local k = damo.dvector "k"
    local L = laplacian(3)
    local function cost(v)
      local A = sp.with_data(sp.as_sparse_variable(L), damo.constant(L.data:copy()) * damo.exp(v))
      return damo.sum(sp.solve(A, damo.ones { 9 }))
    end
    damo.verify_grad(cost, { s.vector(L.nnz, "float64", 2, -0.1, 0.1) })
    assert.is_truthy(damo.grad(cost(k), k))
  end)

  it("agree with differences on real matrices, along directions", function()
    for _, name in ipairs { "LFAT5", "cage5", "olm1000", "494_bus", "west0479" } do
      local m = data(name)
      local n = m.shape[1]
      local A, b, V = sp.csc_matrix "A", damo.dvector "b", sp.csc_matrix "V"
      local cost = damo.sum(damo.tanh(sp.solve(A, b) * 1e-3))
      local f = damo.compile({ A, b }, { cost, damo.grad(cost, A), damo.grad(cost, b) })
      local r = damo.compile({ A, b, V }, damo.Rop(cost, A, V))
      local right = damo.dot(m, s.vector(n, "float64", 3, 0.5, 1.5))
      local _, g = f(m, right)
      assert.equal(m.nnz, g.nnz)
      -- a direction of relative changes of the entries
      local direction = sp.with_data(m, m.data * s.vector(m.nnz, "float64", 6))
      local slope = damo.sum(g.data * direction.data)
      near(r(m, right, direction), slope, 1e-6)
      local eps = 1e-7
      local function at(by) return (f(sp.with_data(m, m.data + direction.data * by), right)) end
      near((at(eps) - at(-eps)) / (2 * eps), slope, 2e-4 * (1 + math.abs(slope)))
    end
  end)
end)

describe("determinants", function()
  it("are those of dense matrices", function()
    local A = sp.from_dense(damo.array { { 2, 1, 0 }, { 0, -3, 1 }, { 1, 0, 4 } }, "csc")
    near(sp.det(A), -23)
    local log, sign = sp.slogdet(A)
    near(log, math.log(23))
    assert.equal(-1.0, sign)
    near(sp.logdet(-A), math.log(23))
    assert.equal(0.0, sp.det(sp.from_dense(damo.array { { 1, 1 }, { 1, 1 } }, "csr")))
    local a = sp.csr_matrix("A", { dtype = "complex64" })
    local size, direction = sp.slogdet(a)
    assert.same({ "float32", "complex64" }, { size.dtype, direction.dtype })
  end)

  it("agree with the table of real matrices", function()
    for name, want in pairs { ["494_bus"] = 1628.40603261, LFAT5 = 73.5327761433 } do
      near(sp.logdet(data(name)), want, 1e-9)
      near(sp.logdet(data(name), { assume = "pos" }), want, 1e-9)
    end
    local log, sign = sp.slogdet(data "adder_dcop_05")
    near(log, -14536.453706, 1e-8)
    assert.equal(-1.0, sign)
  end)

  it("have gradients, forward and second derivatives, on A's entries", function()
    for _, dtype in ipairs { "float64", "complex128" } do
      for _, format in ipairs(s.formats) do
        local A = regular { dtype = dtype, format = format, n = 4 }
        local function log_abs(a) return (sp.slogdet(a)) end
        s.check_grad(log_abs, { A })
        s.check_rop(log_abs, { A })
        s.check_second(log_abs, { A }, { tol = 1e-5 })
        s.check_grad(sp.det, { A }, { tol = 1e-5 })
        s.check_rop(sp.det, { A }, { tol = 1e-5 })
        s.check_second(sp.det, { A }, { tol = 1e-4 })
        local P = definite { dtype = dtype, format = format, n = 4 }
        local function pos(a) return sp.logdet(a, { assume = "pos" }) end
        s.check_grad(pos, { P })
        s.check_second(pos, { P }, { tol = 1e-5 })
      end
    end
  end)

  it("have Hessian-vector products, forward and reverse", function()
    for _, dtype in ipairs { "float64", "complex128" } do
      local P = definite { dtype = dtype, n = 4 }
      for _, assume in ipairs { "pos", "gen" } do
        local function gradient(a) return damo.grad((sp.slogdet(a, { assume = assume })), a) end
        local A = s.variable(P, "A")
        local V = s.variable(P, "V")
        local g = gradient(A)
        local direction = sp.with_data(P, s.vector(P.nnz, dtype, 12))
        local forward = damo.compile({ A, V }, damo.Rop(g, A, V))(P, direction)
        local eps = 1e-6
        local f = damo.compile({ A }, g)
        local up = f(sp.with_data(P, P.data + direction.data * eps)).data
        local down = f(sp.with_data(P, P.data - direction.data * eps)).data
        near(forward:toarray(), sp.with_data(P, (up - down) * (0.5 / eps)):toarray(), 1e-6)
      end
    end
  end)

  it("have gradients on real matrices: tr(A⁻¹ D)", function()
    for _, name in ipairs { "494_bus", "LFAT5", "cage5", "west0479" } do
      local m = data(name)
      local A = sp.csc_matrix "A"
      local log_abs = sp.slogdet(A)
      local f = damo.compile({ A }, { log_abs, damo.grad(log_abs, A) })
      local _, g = f(m)
      near(damo.sum(g.data * m.data), m.shape[1], 1e-6) -- in the direction of A itself the derivative is n
      local direction = m.data * s.vector(m.nnz, "float64", 6)
      local eps = 1e-7
      local function at(by) return (f(sp.with_data(m, m.data + direction * by))) end
      local slope = damo.sum(g.data * direction)
      near((at(eps) - at(-eps)) / (2 * eps), slope, 1e-5 * (1 + math.abs(slope)))
    end
  end)
end)

describe("least squares", function()
  local function full(rows, cols, dtype, format)
    local m = s.matrix { rows = rows, cols = cols, dtype = dtype, seed = 5, format = format }
    return m + sp.eye(rows, cols, { dtype = dtype, format = format }) * 4
  end

  it("solve tall systems: the residual is orthogonal to A's columns", function()
    for _, dtype in ipairs(s.floats) do
      for _, format in ipairs(s.formats) do
        local A, b = full(7, 3, dtype, format), s.vector(7, dtype, 4)
        local x, r, rank = sp.lstsq(A, b)
        assert.equal(3, rank)
        assert.equal(dtype, x.dtype)
        near(b - damo.dot(A, x), r, tolerance[dtype])
        near(damo.dot(hermitian(A), r), damo.zeros({ 3 }, dtype), tolerance[dtype])
        assert.same({ 3, 2 }, sp.lstsq(A, s.dense(7, 2, dtype, 3)).shape)
      end
    end
  end)

  it("give the solution of least norm of wide systems", function()
    for _, dtype in ipairs { "float64", "complex128" } do
      local A, b = full(3, 6, dtype), s.vector(3, dtype, 4)
      local x, r, rank = sp.lstsq(A, b)
      assert.equal(3, rank)
      near(r, damo.zeros({ 3 }, dtype), 1e-12)
      local AH = hermitian(A)
      near(x, damo.dot(AH, sp.solve(sp.true_dot(A, AH), b)))
    end
  end)

  it("tell the rank of a deficient matrix", function()
    local A = sp.from_dense(damo.array { { 1, 2, 0 }, { 2, 4, 0 }, { 0, 0, 1 }, { 1, 2, 1 } }, "csr")
    local _, r, rank = sp.lstsq(A, damo.array { 1, 2, 3, 4 })
    assert.equal(2, rank)
    near(r, damo.zeros { 4 }, 1e-12)
  end)

  it("have gradients for A and b, of x and of the residual", function()
    for _, dtype in ipairs { "float64", "complex128" } do
      for _, shape in ipairs { { 6, 3 }, { 3, 5 }, { 3, 3 } } do
        local A = full(shape[1], shape[2], dtype, "csc")
        local b = s.vector(shape[1], dtype, 4)
        local function x_and_r(a, v)
          local x, r = sp.lstsq(a, v)
          return x, r
        end
        s.check_grad(x_and_r, { A, b }, { tol = 1e-5 })
        s.check_rop(x_and_r, { A, b }, { tol = 1e-5 })
        s.check_grad(sp.lstsq, { A, s.dense(shape[1], 2, dtype, 8) }, { tol = 1e-5 })
      end
    end
  end)

  it("have second derivatives", function()
    for _, shape in ipairs { { 4, 2 }, { 2, 4 } } do
      local A, b = full(shape[1], shape[2], "float64", "csr"), s.vector(shape[1], "float64", 4)
      local function x_only(a, v) return (sp.lstsq(a, v)) end
      s.check_second(x_only, { A, b }, { tol = 1e-4 })
    end
  end)

  it("have gradients accurate to single precision for nearly dependent columns or rows", function()
    local tall = damo.array({ { 1, 1 + 2 ^ -12 }, { 3, 3 }, { -2, -2 - 2 ^ -13 }, { 5, 5 } }, "float32")
    for _, m in ipairs { tall, tall.T } do
      local rows, cols = m.shape[1], m.shape[2]
      local found = {}
      for _, dtype in ipairs { "float32", "float64" } do
        local A, b = sp.csr(damo.cast(m, dtype)), damo.vector("b", { dtype = dtype })
        local cost = damo.sum(damo.mul((sp.lstsq(A, b)), damo.cast(s.vector(cols, "float32", 3), dtype)))
        for k, mode in ipairs { "FAST_RUN", "DEBUG" } do
          found[dtype .. k] = damo.compile({ b }, damo.grad(cost, b), { mode = mode })(damo.ones({ rows }, dtype))
        end
      end
      local size = damo.max(damo.abs(found.float641))
      for k = 1, 2 do near(found["float32" .. k] / size, found.float641 / size, 1e-6) end
    end
  end)

  it("agree with the table on a real matrix", function()
    local A = data "ash219"
    local _, r = sp.lstsq(A, damo.ones { 219 })
    near(damo.dot(A.T, r), damo.zeros { 85 }, 1e-10)
  end)
end)

describe("systems that cannot be solved", function()
  local function matrix(rows, format) return sp.from_dense(damo.array(rows), format or "csc") end

  it("name the pivot of a singular matrix", function()
    s.raises("numeric", "the matrix is singular: pivot 2 of 2 (column 2) is 0; rcond is 0", function()
      sp.solve(matrix { { 1, 2 }, { 2, 4 } }, damo.array { 1, 2 })
    end)
    s.raises("numeric", "the matrix is singular: pivot 2 of 2 (column 2) is 0; rcond is 0", function()
      sp.logdet(matrix { { 1, 2 }, { 2, 4 } })
    end)
    local err = s.raises("numeric", nil, function()
      sp.solve(matrix { { 1, 1 }, { 1, 1 + 1e-16 * 3 } }, damo.array { 1, 2 })
    end)
    assert.matches("rcond is ", err.message, 1, true)
    local empty_row = matrix { { 1, 2, 3 }, { 0, 0, 0 }, { 1, 0, 1 } }
    err = s.raises("numeric", nil, function() sp.solve(empty_row, damo.array { 1, 2, 3 }) end)
    assert.matches("^the matrix is singular: pivot %d of 3 %(column %d%) is 0; rcond is 0$", err.message)
  end)

  it("name the pivot of an indefinite matrix with assume pos", function()
    local err = s.raises("numeric", nil, function()
      sp.solve(matrix { { 1, 3 }, { 3, 1 } }, damo.array { 1, 2 }, { assume = "pos" })
    end)
    assert.matches("^the matrix is not positive definite: pivot %d of 2 %(column %d%) is not positive$", err.message)
  end)

  it("are refused for their shapes, when built if these are static", function()
    local A = matrix { { 1, 2, 3 }, { 4, 5, 6 } }
    local X, b = sp.csc_matrix "X", damo.dvector "b"
    local f = damo.compile({ X, b }, sp.solve(X, b))
    local square = matrix { { 1, 2 }, { 3, 4 } }
    s.raises("shape", "FactorSolve: the matrix has shape (2, 2) and the right side (3,), expected 2 rows", function()
      sp.solve(square, damo.ones { 3 })
    end)
    local text = "the matrix has shape (2, 2) and the right side (3,), expected a vector or matrix of 2 rows"
    s.raises("shape", text, function() f(square, damo.ones { 3 }) end)
    s.raises("shape", "FactorLeast: the matrix has shape (2, 3) and the right side (3,), expected 2 rows", function()
      sp.lstsq(A, damo.ones { 3 })
    end)
    near(f(square, damo.array { 3, 7 }), { 1, 1 })
  end)

  it("are refused for their kinds", function()
    local A = matrix { { 1, 2 }, { 3, 4 } }
    s.raises("type", "sparse.solve: operand 1 must be sparse, got TensorType(float64, shape=(2, 2)); "
      .. "damo.sparse.csr_from_dense(x) makes it sparse", function()
      sp.solve(A:toarray(), damo.ones { 2 })
    end)
    local text = "FactorSolve: the right side must be a vector, a matrix or a sparse matrix, got "
      .. "TensorType(float64, shape=(2, 2, 2))"
    s.raises("type", text, function() sp.solve(A, damo.ones { 2, 2, 2 }) end)
    text = "FactorLeast: the right side must be a dense vector or matrix, got SparseTensorType(csc, float64, "
      .. "shape=(2, 2))"
    s.raises("type", text, function() sp.lstsq(A, A) end)
    s.raises("value", "sparse.solve: option 'assume' is 'pos', 'sym' or 'gen', not 'spd'", function()
      sp.solve(A, damo.ones { 2 }, { assume = "spd" })
    end)
    s.raises("value", "sparse.solve: option 'assume' is for a matrix: this factor is made already", function()
      sp.solve(sp.factorize(A), damo.ones { 2 }, { assume = "pos" })
    end)
    s.raises("value", "Factorize: assume is 'pos', 'sym', 'gen' or nil", function() sp.Factorize { assume = "spd" } end)
    s.raises("value", "FactorSolve: system is 'n', 't' or 'h'", function() sp.FactorSolve { system = "x" } end)
    text = "FactorSolve: operand 1 must be a factor for systems, got "
      .. "SparseTensorType(csc, float64, shape=(2, 2))"
    s.raises("type", text, function()
      local X = sp.as_sparse_variable(A)
      sp.FactorSolve {}(X, X, damo.dvector "b")
    end)
  end)

  it("are refused for entries that are not finite", function()
    s.raises("numeric", "the matrix has the entry nan at {2, 1}: only finite numbers can be factorized", function()
      sp.solve(matrix { { 1, 2 }, { 0 / 0, 4 } }, damo.ones { 2 })
    end)
    s.raises("numeric", "the matrix has the entry inf at {1, 2}: only finite numbers can be factorized", function()
      sp.solve(matrix({ { 1, 1 / 0 }, { 3, 4 } }, "csr"), damo.ones { 2 })
    end)
    local x = sp.solve(matrix { { 1, 2 }, { 3, 4 } }, damo.array { 0 / 0, 1 })
    assert.is_true(x[1] ~= x[1])
  end)

  it("return nil and the error with on_fail", function()
    local x, err = sp.solve(matrix { { 1, 2 }, { 2, 4 } }, damo.ones { 2 }, { on_fail = "return" })
    assert.is_nil(x)
    assert.equal("numeric", err.kind)
    near(sp.solve(matrix { { 2, 0 }, { 0, 4 } }, damo.ones { 2 }, { on_fail = "return" }), { 0.5, 0.25 })
    s.raises("value", "sparse.solve: option 'on_fail' is 'raise' or 'return', not 'nil'", function()
      sp.solve(matrix { { 1, 2 }, { 3, 4 } }, damo.ones { 2 }, { on_fail = "nil" })
    end)
  end)

  it("leave a Function usable after each failure", function()
    local A, b = sp.csc_matrix "A", damo.dvector "b"
    local f = damo.compile({ A, b }, sp.solve(A, b))
    local good, v = regular { format = "csc" }, damo.ones { 5 }
    local want = f(good, v)
    local bad = sp.with_data(good, good.data * (0 / 0))
    s.raises("numeric", nil, function() f(bad, v) end)
    near(f(good, v), want, 1e-15)
    local zero = sp.with_data(good, good.data * 0)
    s.raises("numeric", nil, function() f(zero, v) end)
    near(f(good, v), want, 1e-15)
  end)

  it("fail under a memory cap and work without it", function()
    local A, b = laplacian(60), damo.ones { 3600 }
    local X, y = sp.csc_matrix "A", damo.dvector "b"
    local f = damo.compile({ X, y }, sp.solve(X, y))
    local want = sp.solve(A, b)
    garbage.collect()
    local cap = damo.config.memory_cap
    local failed = 0
    for extra = 100000, 2000000, 300000 do
      damo.config.memory_cap = damo.memory().bytes + extra
      local ok, err = pcall(f, A, b)
      damo.config.memory_cap = cap
      if not ok then
        failed = failed + 1
        assert.equal("memory", err.kind)
      end
    end
    assert.is_true(failed > 0)
    near(f(A, b), want, 1e-12)
  end)

  it("advise slogdet if the determinant is negative", function()
    local text = "logdet: the determinant is negative; damo.sparse.slogdet gives log|det| and its sign"
    s.raises("numeric", text, function() sp.logdet(matrix { { 0, 1 }, { 1, 0 } }) end)
  end)
end)

describe("back ends", function()
  local function has(list, name)
    for _, word in ipairs(list) do
      if word == name then return true end
    end
    return false
  end

  it("are listed with versions and licences", function()
    local info = damo.info()
    for _, name in ipairs { "klu", "cxsparse" } do assert.is_true(has(info.backends, name), name) end
    for _, name in ipairs { "cholmod", "umfpack", "spqr" } do assert.equal(info.gpl, has(info.backends, name), name) end
    for _, name in ipairs { "KLU", "BTF", "AMD", "COLAMD", "CXSparse", "LDL" } do
      assert.matches("^%d+%.%d+%.%d+$", info.libraries[name].version)
      assert.is_nil(info.libraries[name].licence:find "^GPL")
    end
    for _, name in ipairs { "CHOLMOD", "UMFPACK", "SPQR" } do
      assert.equal(info.gpl, info.libraries[name] ~= nil, name)
      if info.gpl then assert.matches("^GPL", info.libraries[name].licence) end
    end
  end)

  it("under the GPL are not linked by a build without them", function()
    local core = os.getenv "DAMO_BUILT_CORE" or package.searchpath("damo.core", package.cpath)
    local pipe = assert(io.popen("readelf -d '" .. core .. "' 2>/dev/null"))
    local text = pipe:read "a"
    pipe:close()
    if text == "" then return end -- no readelf here
    assert.matches("NEEDED.*libklu", text)
    for _, name in ipairs { "libcholmod", "libumfpack", "libspqr" } do
      assert.equal(damo.info().gpl, text:find(name, 1, true) ~= nil, name)
    end
  end)
end)

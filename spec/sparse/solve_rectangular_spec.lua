-- Rectangular systems: solve and factorize by QR, chosen when the shape is known at run time; gradients in both cases.

local damo = require "damo"
local s = require "spec.sparse.support"
local sp = damo.sparse

local tolerance = { float32 = 2e-4, complex64 = 2e-4, float64 = 1e-10, complex128 = 1e-10 }

local function near(a, b, tol) s.close(a, b, nil, tol or 1e-9) end

-- A matrix with full rank.
local function full(rows, cols, dtype, format, itype)
  dtype, format = dtype or "float64", format or "csc"
  local sum = s.matrix { rows = rows, cols = cols, dtype = dtype, seed = 5, format = format }
    + sp.eye(rows, cols, { dtype = dtype, format = format }) * 4
  return sp[format] {
    data = sum.data, indices = sum.indices, indptr = sum.indptr, shape = sum.shape, itype = itype,
  }
end

-- Columns 2 and 4 depend on the others.
local function deficient(format)
  local rows = { { 1, 2, 0, 1 }, { 2, 4, 0, 2 }, { 0, 0, 1, 1 }, { 1, 2, 1, 2 }, { 3, 6, 0, 3 } }
  return sp.from_dense(damo.array(rows), format)
end

local shapes = { { 7, 3 }, { 3, 5 } }

local function solve_h(a, b) return sp.FactorSolve { system = "h" }(sp.factorize(a), a, b) end

describe("rectangular systems", function()
  for _, dtype in ipairs(s.floats) do
    it("have the least-squares or the minimum-norm solution, " .. dtype, function()
      for _, shape in ipairs(shapes) do
        for _, format in ipairs(s.formats) do
          for _, itype in ipairs(s.itypes) do
            local A = full(shape[1], shape[2], dtype, format, itype)
            local b, B = s.vector(shape[1], dtype, 9), s.dense(shape[1], 3, dtype, 11)
            local x = sp.solve(A, b)
            assert.equal(dtype, x.dtype)
            assert.same({ shape[2] }, x.shape)
            near(x, (sp.lstsq(A, b)), tolerance[dtype])
            near(sp.solve(A, B), (sp.lstsq(A, B)), tolerance[dtype])
            local S = s.matrix { rows = shape[1], cols = 40, dtype = dtype, seed = 31 }
            local X = sp.solve(A, S)
            assert.equal("csr", X.format)
            near(X, (sp.lstsq(A, S:toarray())), tolerance[dtype])
            local c = s.vector(shape[2], dtype, 8)
            near(sp.solve_t(A, c), (sp.lstsq(A.T, c)), tolerance[dtype])
            near(sp.solve_t(A, s.dense(shape[2], 40, dtype, 3)), (sp.lstsq(A.T, s.dense(shape[2], 40, dtype, 3))),
              tolerance[dtype])
          end
        end
      end
    end)
  end

  it("are the same eagerly and in every mode", function()
    for _, dtype in ipairs { "float64", "complex128" } do
      for _, shape in ipairs(shapes) do
        local A = full(shape[1], shape[2], dtype, "csr")
        s.same_everywhere(sp.solve, { A, s.vector(shape[1], dtype, 9) })
        s.same_everywhere(sp.solve_t, { A, s.dense(shape[2], 2, dtype, 9) })
        s.same_everywhere(sp.solve, { A, s.matrix { rows = shape[1], cols = 2, dtype = dtype } })
      end
    end
  end)

  it("mix a real A with a complex b and vice versa", function()
    for _, shape in ipairs(shapes) do
      local b = s.vector(shape[1], "complex128", 9)
      near(sp.solve(full(shape[1], shape[2]), b), (sp.lstsq(full(shape[1], shape[2]), b)))
      local A = full(shape[1], shape[2], "complex128")
      near(sp.solve(A, damo.real(b)), (sp.lstsq(A, b * 0 + damo.real(b))))
    end
  end)

  it("of a deficient matrix have a basic solution", function()
    for _, format in ipairs(s.formats) do
      local A, b = deficient(format), damo.array { 1, 3, 2, 5, 1 }
      local x = sp.solve(A, b)
      near(x, (sp.lstsq(A, b)), 1e-12)
      local zeros = 0
      for k = 1, 4 do zeros = zeros + (x[k] == 0 and 1 or 0) end
      assert.equal(2, zeros)
      local wide = sp.csr(sp.from_dense(A:toarray().T, "csr"))
      local c = damo.array { 1, 2, 3, 4 }
      near(sp.solve(wide, c), (sp.lstsq(wide, c)), 1e-12)
      -- the adjoint of the basic solution: ⟨S b, c⟩ = ⟨b, Sᵀ c⟩
      near(damo.dot(sp.solve(A, b), c), damo.dot(b, sp.solve_t(A, c)), 1e-12)
      near(damo.dot(sp.solve(wide, c), b), damo.dot(c, sp.solve_t(wide, b)), 1e-12)
    end
  end)

  it("may have no rows, no columns or no entries", function()
    near(sp.solve(sp.from_dense(damo.zeros { 0, 3 }, "csr"), damo.zeros { 0 }), { 0, 0, 0 })
    near(sp.solve_t(sp.from_dense(damo.zeros { 0, 3 }, "csr"), damo.ones { 3 }), damo.zeros { 0 })
    assert.same({ 0, 2 }, sp.solve(sp.from_dense(damo.zeros { 4, 0 }, "csc"), damo.ones { 4, 2 }).shape)
    near(sp.solve_t(sp.from_dense(damo.zeros { 4, 0 }, "csc"), damo.zeros { 0, 2 }), damo.zeros { 4, 2 })
    near(sp.solve(sp.from_dense(damo.zeros { 4, 2 }, "csc"), damo.ones { 4 }), { 0, 0 })
    near(sp.solve(sp.from_dense(damo.zeros { 2, 4 }, "csc"), damo.ones { 2 }), { 0, 0, 0, 0 })
    local none = sp.solve(full(5, 3), sp.from_dense(damo.zeros { 5, 2 }, "csr"))
    assert.same({ 3, 2, 0 }, { none.shape[1], none.shape[2], none.nnz })
  end)

  it("fit real data", function()
    local A = damo.io.read_mtx("spec/data/mtx/ash219.mtx", { format = "csc" })
    local x = sp.solve(A, damo.ones { 219 })
    near(damo.dot(A.T, damo.ones { 219 } - damo.dot(A, x)), damo.zeros { 85 }, 1e-10)
    local y = sp.solve_t(A, damo.ones { 85 })
    near(damo.dot(A.T, y), damo.ones { 85 }, 1e-10)
    near(damo.dot(A, sp.solve(A, y)), y, 1e-9) -- the least-norm solution is in the range of Aᴴ
  end)
end)

describe("factors of rectangular matrices", function()
  it("are QR factors that solve", function()
    local A, b = full(7, 3), s.vector(7, "float64", 4)
    local F = sp.factorize(A)
    assert.equal("qr", F.kind)
    assert.same({ 7, 3 }, F.shape)
    near(F:solve(b), (sp.lstsq(A, b)), 1e-12)
    near(F:solve_t(damo.ones { 3 }), sp.solve_t(A, damo.ones { 3 }), 1e-15)
    assert.equal("qr", sp.factorize(A, { assume = "gen" }).kind)
    local G, v = sp.FactorType("float64", { shape = { 7, 3 } }) "F", damo.dvector "b"
    local x = G:solve(v)
    assert.same({ 3 }, damo.compile({ G, v }, x.shape, { on_unused_input = "ignore" })(F, b):totable())
    near(damo.compile({ G, v }, x)(F, b), F:solve(b), 1e-15)
    local slope = damo.grad(damo.sum(x), v)
    near(damo.compile({ G, v }, slope, { on_unused_input = "ignore" })(F, b), F:solve_t(damo.ones { 3 }), 1e-15)
  end)

  it("have no determinant and no condition number", function()
    local F, A = sp.factorize(full(7, 3)), sp.csc_matrix "A"
    for name, class in pairs { det = "FactorDet", logdet = "FactorLogdet", rcond = "FactorRcond" } do
      local text = class .. ": the matrix has shape (7, 3), expected a square one"
      s.raises("shape", text, function() F[name](F) end)
      s.raises("shape", text, function() sp[name](full(7, 3)) end)
      text = "the matrix has shape (7, 3), expected a square one for "
        .. (name == "rcond" and "its condition" or "a determinant")
      local f = damo.compile({ A }, sp[name](A))
      s.raises("shape", text, function() f(full(7, 3)) end)
    end
    s.raises("shape", "the matrix has shape (7, 3), expected a square one for entries of its inverse", function()
      damo.compile({ A }, damo.grad(sp.slogdet(A), A))(full(7, 3))
    end)
  end)

  it("are refused if A is assumed to be Hermitian", function()
    local A = sp.csc_matrix "A"
    for _, assume in ipairs { "pos", "sym" } do
      local why = "the matrix has shape (7, 3), expected a square one under assume='" .. assume .. "'"
      s.raises("shape", "Factorize: " .. why, function() sp.factorize(full(7, 3), { assume = assume }) end)
      local f = damo.compile({ A }, sp.factorize(A, { assume = assume }))
      s.raises("shape", why, function() f(full(7, 3)) end)
    end
  end)

  it("refuse right-hand sides of another length", function()
    local A, b = full(7, 3), damo.ones { 3 }
    s.raises("shape", "FactorSolve: the matrix has shape (7, 3) and the right side (3,), expected 7 rows", function()
      sp.solve(A, b)
    end)
    s.raises("shape", "FactorSolve: the matrix has shape (7, 3) and the right side (7,), expected 3 rows", function()
      sp.solve_t(A, damo.ones { 7 })
    end)
    local X, v = sp.csc_matrix "X", damo.dvector "v"
    s.raises("shape", "the matrix has shape (7, 3) and the right side (3,), expected a vector or matrix of 7 rows",
      function() damo.compile({ X, v }, sp.solve(X, v))(A, b) end)
    s.raises("shape", "the matrix has shape (7, 3) and the right side (7, 2), expected a vector or matrix of 3 rows",
      function() damo.compile({ X }, sp.solve_t(X, sp.from_dense(damo.ones { 7, 2 }, "csr")))(A) end)
  end)
end)

describe("work done once for rectangular matrices", function()
  it("is analysis and factorization, gradients and R_op included; a square matrix may follow", function()
    for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE" } do
      local A, b, V = sp.csc_matrix "A", damo.dvector "b", sp.csc_matrix "V"
      local x = sp.solve(A, b)
      local cost = damo.sum(x * x)
      local gA, gb = damo.grad(cost, A), damo.grad(cost, b)
      local f = damo.compile({ A, b, V }, { x, gA, gb, damo.Rop(x, A, V), x.shape }, { mode = mode })
      local tall, square = full(7, 3), full(5, 5)
      for _ = 1, 3 do
        local _, slope = f(tall, damo.ones { 7 }, tall)
        assert.equal(tall.nnz, slope.nnz)
      end
      assert.same({ 1, 1 }, { f.profile.symbolic_analyses, f.profile.factorizations })
      for k = 1, 3 do
        tall.data[1] = 4 + k
        local got = f(tall, damo.ones { 7 }, tall)
        near(got, (sp.lstsq(tall, damo.ones { 7 })))
      end
      assert.same({ 1, 4 }, { f.profile.symbolic_analyses, f.profile.factorizations })
      local got, slope, of_b, _, shape = f(square, damo.ones { 5 }, square)
      near(damo.dot(square, got), damo.ones { 5 })
      near(damo.dot(square.T, of_b), got * 2)
      near(slope:toarray(), sp.mul(sp.sp_ones_like(square), damo.dot(of_b:reshape { shape = { 5, 1 } },
        got:reshape { shape = { 1, 5 } })):toarray() * -1)
      assert.same({ 5 }, shape:totable())
      assert.same({ 2, 5 }, { f.profile.symbolic_analyses, f.profile.factorizations })
      near(f(full(3, 5), damo.ones { 3 }, full(3, 5)), (sp.lstsq(full(3, 5), damo.ones { 3 })))
    end
  end)
end)

describe("gradients of rectangular systems", function()
  local function each(check)
    for _, dtype in ipairs { "float64", "complex128" } do
      for _, shape in ipairs { { 5, 3 }, { 3, 4 } } do
        for _, format in ipairs(s.formats) do
          local A = full(shape[1], shape[2], dtype, format)
          for system, fn in ipairs { sp.solve, sp.solve_t, solve_h } do
            local n = shape[system == 1 and 1 or 2]
            check(fn, A, s.vector(n, dtype, 9))
            if format == "csc" or system == 1 then
              check(fn, A, s.dense(n, 2, dtype, 5))
              check(fn, A, s.matrix { rows = n, cols = 2, dtype = dtype })
            end
          end
        end
      end
    end
  end

  it("agree with differences for A, on its entries, and for b", function()
    each(function(fn, A, b) s.check_grad(fn, { A, b }, { tol = 1e-5 }) end)
  end)

  it("have forward derivatives", function()
    each(function(fn, A, b) s.check_rop(fn, { A, b }, { tol = 1e-5 }) end)
  end)

  it("have second derivatives", function()
    for _, dtype in ipairs { "float64", "complex128" } do
      for _, shape in ipairs { { 4, 2 }, { 2, 3 }, { 3, 3 } } do
        local A = full(shape[1], shape[2], dtype, "csr")
        s.check_second(sp.solve, { A, s.vector(shape[1], dtype, 9) }, { tol = 1e-4 })
        s.check_second(sp.solve_t, { A, s.dense(shape[2], 2, dtype, 9) }, { tol = 1e-4 })
      end
    end
  end)

  it("mix a real A with a complex b and vice versa", function()
    for _, shape in ipairs { { 5, 3 }, { 3, 4 } } do
      s.check_grad(sp.solve, { full(shape[1], shape[2]), s.vector(shape[1], "complex128", 3) }, { tol = 1e-5 })
      s.check_grad(sp.solve, { full(shape[1], shape[2], "complex128"), s.vector(shape[1], "float64", 3) },
        { tol = 1e-5 })
    end
  end)

  it("take a dense cotangent of a sparse solution", function()
    local A, B = full(5, 3), s.matrix { rows = 5, cols = 2 }
    s.check_grad(function(a, b) return sp.toarray(sp.solve(a, b), { structured = false }) end, { A, B }, { tol = 1e-5 })
  end)

  it("of a deficient matrix are those of its kept columns", function()
    local A, b = sp.csc_matrix "A", damo.dvector "b"
    local x, y = sp.solve(A, b), sp.lstsq(A, b)
    local function slopes(z) return { damo.grad(damo.sum(z * z), A), damo.grad(damo.sum(z * z), b) } end
    local one, two = slopes(x), slopes(y)
    local f = damo.compile({ A, b }, { one[1], one[2], two[1], two[2] })
    local ga, gb, la, lb = f(deficient "csc", damo.array { 1, 3, 2, 5, 1 })
    near(ga:toarray(), la:toarray())
    near(gb, lb)
  end)

  it("of a matrix that is square in one call and not in another are right in both", function()
    local A, b = sp.csr_matrix "A", damo.dvector "b"
    local cost = damo.sum(damo.tanh(sp.solve(A, b)))
    local f = damo.compile({ A, b }, { cost, damo.grad(cost, A), damo.grad(cost, b) })
    for _, shape in ipairs { { 4, 4 }, { 6, 3 }, { 3, 5 }, { 4, 4 } } do
      local m, v = full(shape[1], shape[2], "float64", "csr"), s.vector(shape[1], "float64", 3)
      local _, g, gb = f(m, v)
      local by, along = m.data * s.vector(m.nnz, "float64", 6), s.vector(shape[1], "float64", 2)
      local eps = 1e-6
      local function at(t) return (f(sp.with_data(m, m.data + by * t), v + along * t)) end
      near((at(eps) - at(-eps)) / (2 * eps), damo.sum(g.data * by) + damo.sum(gb * along), 1e-6)
    end
  end)

  it("are those of a square system if A is known to be square", function()
    local A, b = sp.SparseTensorType("csc", "float64", { shape = { 5, 5 } }) "A", damo.dvector "b"
    local text = damo.printing.debugprint(damo.grad(damo.sum(sp.solve(A, b)), A), { file = "str" })
    assert.is_nil(text:find "FactorGap")
    local X = sp.csc_matrix "X"
    text = damo.printing.debugprint(damo.grad(damo.sum(sp.solve(X, b)), X), { file = "str" })
    assert.is_truthy(text:find "FactorGap")
  end)
end)

describe("the Ops of rectangular systems", function()
  it("refuse wrong arguments", function()
    s.raises("value", "FactorColumns: minimum_norm is true or false", function() sp.FactorColumns {} end)
    s.raises("value", "FactorGap: system is 'n', 't' or 'h'", function()
      sp.FactorGap { system = "x", minimum_norm = true }
    end)
    local A, x = sp.csc_matrix "A", damo.dvector "x"
    local gap = sp.FactorGap { system = "n", minimum_norm = false }(sp.factorize(A), A, x, damo.ones { 5 })
    near(damo.compile({ A, x }, gap)(full(5, 3), damo.ones { 3 }),
      damo.dot(full(5, 3), damo.ones { 3, 1 }) - damo.ones { 5, 1 })
    s.raises("shape", "the matrix has shape (5, 3), the solution (4, 1), the right side (5, 1)", function()
      damo.compile({ A, x }, gap)(full(5, 3), damo.ones { 4 })
    end)
    local G, b = sp.FactorType("float64") "F", damo.dvector "b"
    s.raises("type", "FactorColumns: operand 1 must be a factor for systems, got TensorType(float64, shape=(?,))",
      function() sp.FactorColumns { minimum_norm = true }(b, b) end)
    local f = damo.compile({ G, b }, sp.FactorColumnsBack { minimum_norm = false }(G, damo.ones { 2, 2 }, b))
    s.raises("shape", "FactorColumnsBack: the columns have shape (2, 2), expected (3, 1)", function()
      f(sp.factorize(full(7, 3)), damo.ones { 3 })
    end)
    near(f(sp.factorize(full(3, 3)), damo.ones { 3 }), { 0, 0, 0 })
  end)
end)

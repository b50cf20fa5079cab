-- Distributed linear systems: every method against damo.sparse.solve on the whole matrix, derivatives against finite
-- differences, and what happens when a method fails.
local damo = require "damo"
local mpi = require "damo.mpi"
local check = require "mpi.spec.support.check"
local differences = require "mpi.spec.support.differences"
local poisson = require "mpi.spec.support.poisson"

if not pcall(require, "damo.mpi.petsc") then
  describe("distributed systems", function() pending "need a build with PETSc" end)
  return
end

local size, rank = mpi.size, mpi.rank
local close, shared_error = check.close, check.shared_error

local function part(x, first, stop) return x[{ { first + 1, stop } }] end
local function wave(n, m)
  local x = damo.sin(damo.arange(1, n * (m or 1) + 0.5) * 1.3)
  return m and damo.reshape(x, { n, m }) or x
end

-- This rank's block of a matrix with those entries, a vector and the solutions with it and its transpose.
local function problem(n, entry)
  local block, whole, first, stop = poisson.both(n, entry)
  local b = wave(n * n * n)
  return { block = block, matrix = mpi.matrix(block), b = part(b, first, stop), first = first, stop = stop,
    x = part(damo.sparse.solve(whole, b), first, stop), xt = part(damo.sparse.solve(whole.T, b), first, stop) }
end

local methods = {
  {},
  { pc = "mumps" },
  { pc = "mumps", assume = "sym" },
  { pc = "mumps", assume = "pos" },
  { pc = "lu" },
  { ksp = "cg", pc = "hypre", assume = "pos" },
  { ksp = "cg", pc = "gamg", assume = "pos" },
  { ksp = "cg", pc = "icc", assume = "pos" },
  { ksp = "cg", pc = "jacobi", assume = "pos" },
  { ksp = "cg" },
  { ksp = "minres", pc = "jacobi", assume = "sym" },
  { ksp = "gmres", pc = "hypre" },
  { ksp = "gmres", pc = "gamg" },
  { ksp = "gmres", pc = "ilu" },
  { ksp = "gmres", pc = "asm" },
  { ksp = "gmres", pc = "none", options = { ksp_gmres_restart = 60 } },
  { ksp = "bcgs", pc = "ilu" },
  { ksp = "bcgs", pc = "hypre", rtol = 1e-12, atol = 1e-30, max_it = 200 },
  { ksp = "bcgs", pc = "bjacobi", options = { sub_pc_type = "sor" } },
}

-- Whether a method is for symmetric matrices alone.
local function wants_symmetry(options) return options.assume ~= nil or options.ksp == "cg" end

local function name_of(options)
  return ("%s with %s%s"):format(options.ksp or "the default", options.pc or "the default",
    options.assume and ", " .. options.assume or "")
end

local function merged(a, b)
  local all = {}
  for k, v in pairs(a) do all[k] = v end
  for k, v in pairs(b) do all[k] = v end
  return all
end

describe("solutions", function()
  local even, skewed = problem(4, poisson.symmetric), problem(4, poisson.skewed)

  for _, options in ipairs(methods) do
    it("by " .. name_of(options), function()
      local p = wants_symmetry(options) and even or skewed
      local x, report = p.matrix:solve(p.b, options)
      close(p.x, x)
      assert.is_truthy(report.reason:find "^CONVERGED")
      assert.is_true(report.iterations > 0)
      close(p.xt, (p.matrix:solve(p.b, merged(options, { transposed = true }))))
    end)
  end

  -- MUMPS takes more memory than it has estimated by the percentage ICNTL(14), 20 by default, and may need more.
  it("by MUMPS get more memory where its estimate is too small", function()
    local block, _, first, stop = poisson.both(12, poisson.symmetric)
    local a, b = damo.sparse.csr_matrix("a", { pattern = block }), damo.ones { stop - first }
    for _, assume in ipairs { "pos", "sym", "gen" } do
      local options = { pc = "mumps", options = { mat_mumps_icntl_14 = -90 } }
      if assume ~= "gen" then options.assume = assume end
      local A = mpi.matrix(a)
      local f = damo.compile({ a }, A:dot((A:solve(b, options))))
      close(b, f(block))
      close(b, f(block * 2))
    end
  end)

  it("of a system without unknowns are empty, by every method", function()
    local A = mpi.matrix(damo.sparse.csr(damo.zeros { 0, 0 }))
    for _, options in ipairs(methods) do
      local x, report = A:solve(damo.zeros { 0 }, options)
      assert.are.same({ 0 }, x.shape)
      assert.is_truthy(report.reason:find "^CONVERGED", name_of(options))
      assert.are.same({ 0, 2 }, (A:solve(damo.zeros { 0, 2 }, merged(options, { transposed = true }))).shape)
    end
  end)

  it("have b's kind, and a column for each of b's", function()
    local x = mpi.solve(skewed.matrix, mpi.vector(skewed.b))
    assert.are.equal(64, x.size)
    close(skewed.x, x.data)
    local columns = damo.stack({ skewed.b, skewed.b * 2 }, { axis = 2 })
    close(damo.stack({ skewed.x, skewed.x * 2 }, { axis = 2 }), (mpi.solve(skewed.matrix, columns, { ksp = "gmres" })))
  end)

  it("follow the values of each call", function()
    local a, b = damo.sparse.csr_matrix("a", { pattern = skewed.block }), damo.dvector "b"
    for _, options in ipairs { {}, { ksp = "gmres", pc = "gamg" }, { ksp = "bcgs", pc = "ilu" } } do
      local A = mpi.matrix(a)
      local x, y = mpi.solve(A, b, options), mpi.solve(A, b, merged(options, { transposed = true }))
      local f = damo.compile({ a, b }, { x, y })
      for _, scale in ipairs { 1, 2, 2, -0.5 } do
        local got, transposed = f(skewed.block * scale, skewed.b)
        close(skewed.x / scale, got)
        close(skewed.xt / scale, transposed)
      end
    end
  end)
end)

describe("derivatives", function()
  -- Of the solution, or of what fn makes of the matrix of these stored values.
  local function of_values(p, fn)
    return function(v) return fn(mpi.matrix(p.block, { data = v })) end
  end

  for _, options in ipairs { {}, { transposed = true }, { ksp = "gmres", pc = "gamg", rtol = 1e-13 },
    { ksp = "bcgs", pc = "ilu", rtol = 1e-13 }, { ksp = "gmres", pc = "hypre", rtol = 1e-13 } } do
    it("of the solution by " .. name_of(options) .. (options.transposed and ", transposed" or ""), function()
      local p = problem(2, poisson.skewed)
      local b = p.b
      differences.check_gradient(of_values(p, function(A) return (A:solve(b, options)) end), p.block.data)
      differences.check_tangent(of_values(p, function(A) return (A:solve(b, options)) end), p.block.data)
      differences.check(function(v) return (p.matrix:solve(v, options)) end, b)
    end)
  end

  it("of the second order", function()
    local p = problem(2, poisson.skewed)
    differences.check(of_values(p, function(A) return (A:solve(p.b)) end), p.block.data)
  end)

  it("of products", function()
    local p = problem(2, poisson.skewed)
    local columns = damo.stack({ p.b, p.b * 2 }, { axis = 2 })
    for _, x in ipairs { p.b, columns } do
      differences.check(of_values(p, function(A) return A:dot(x) end), p.block.data)
      differences.check(of_values(p, function(A) return A:tdot(x) end), p.block.data)
      differences.check(function(v) return p.matrix:dot(v) end, x)
      differences.check(function(v) return p.matrix:tdot(v) end, x)
    end
  end)

  it("of norms and sums", function()
    local p = problem(2, poisson.skewed)
    for _, kind in ipairs { "fro", 1, math.huge } do
      differences.check_gradient(of_values(p, function(A)
        return damo.stack({ A:norm(kind), (A * 2 + A):sum() })
      end), p.block.data)
    end
    for _, kind in ipairs { 1, 2, math.huge } do
      differences.check_gradient(function(v) return damo.stack({ mpi.vector(v):norm(kind), mpi.vector(v):dot(v) }) end,
        p.b)
    end
  end)

  it("for several columns of one system", function()
    local p = problem(2, poisson.skewed)
    local columns = damo.stack({ p.b, p.b * p.b }, { axis = 2 })
    differences.check_gradient(of_values(p, function(A) return (A:solve(columns)) end), p.block.data)
    differences.check_gradient(function(v) return (p.matrix:solve(v)) end, columns)
  end)
end)

describe("loops", function()
  local p = problem(2, poisson.skewed)

  -- The last state of a loop over steps of fn(x, d, scale), as a function of the stored values d.
  local function last_of(fn)
    return function(d)
      local states = damo.scan(function(scale, x, v) return fn(x, v, scale) end, {
        sequences = { damo.array { 1, 0.8, 1.3 } }, outputs_info = { damo.constant(p.b) }, non_sequences = { d } })
      return states[3]
    end
  end

  it("over products and solves with one matrix have gradients", function()
    differences.check_gradient(function(d)
      local A = mpi.matrix(p.block, { data = d })
      return last_of(function(x, _, scale) return A:dot(x) * 0.1 + scale * A:solve(x) end)(d)
    end, p.block.data)
  end)

  it("whose matrix has other values in each step have gradients", function()
    for _, options in ipairs { {}, { ksp = "gmres", pc = "ilu", rtol = 1e-13 } } do
      differences.check_gradient(last_of(function(x, v, scale)
        local A = mpi.matrix(p.block, { data = v * scale })
        return A:dot(x) * 0.1 + A:solve(x, options)
      end), p.block.data)
    end
  end)
end)

describe("failures", function()
  local p = problem(4, poisson.skewed)

  it("to converge are numeric errors with the reason", function()
    shared_error("numeric", "DIVERGED_ITS after 2 iterations", mpi.solve, p.matrix, p.b,
      { ksp = "gmres", pc = "none", max_it = 2 })
    local x, err = p.matrix:solve(p.b, { ksp = "gmres", pc = "none", max_it = 2, on_fail = "return" })
    assert.is_nil(x)
    assert.are.equal("numeric", err.kind)
    close(p.x, (p.matrix:solve(p.b, { on_fail = "return" })))
  end)

  it("of singular matrices are numeric errors", function()
    local zero = mpi.matrix(p.block, { data = p.block.data * 0 })
    shared_error("numeric", "DIVERGED_PC_FAILED", mpi.solve, zero, p.b)
  end)

  it("in a graph are errors of its call", function()
    local b = damo.dvector "b"
    local f = damo.compile({ b }, (p.matrix:solve(b, { ksp = "gmres", pc = "none", max_it = 2 })))
    shared_error("numeric", "DIVERGED_ITS", f, p.b)
    shared_error("shape", "right-hand side", f, damo.zeros { p.stop - p.first + (rank == 0 and 1 or 0) })
  end)

  it("of options name them", function()
    shared_error("value", "there is no option 'kps'", mpi.solve, p.matrix, p.b, { kps = "cg" })
    shared_error("type", "option 'ksp' must be a string", mpi.solve, p.matrix, p.b, { ksp = 3 })
    shared_error("value", "'pos', 'sym' or 'gen'", mpi.solve, p.matrix, p.b, { assume = "positive" })
    shared_error("value", "'raise' or 'return'", mpi.solve, p.matrix, p.b, { on_fail = "nil" })
    shared_error("value", "PETSc", mpi.solve, p.matrix, p.b, { ksp = "gmrse" })
    shared_error("value", "PETSc", mpi.solve, p.matrix, p.b, { pc = "none-such" })
    shared_error("value", "no use for the option 'ksp_gmres_restrat'", mpi.solve, p.matrix, p.b,
      { ksp = "gmres", options = { ksp_gmres_restrat = 3 } })
    shared_error("type", "must be a string, a number or a boolean", mpi.solve, p.matrix, p.b, { options = { a = {} } })
    shared_error("type", "complex", mpi.solve, p.matrix, damo.astype(p.b, "complex128"))
    close(p.x, (p.matrix:solve(p.b)))
  end)

  it("of settings that differ between the ranks are every rank's", function()
    if size == 1 then return end
    shared_error("inconsistency", "other options", mpi.solve, p.matrix, p.b,
      { ksp = "cg", pc = "jacobi", rtol = rank == 0 and 1e-1 or 1e-12 })
    close(p.x, (p.matrix:solve(p.b)))
  end)

  it("of one rank's block are every rank's", function()
    if size ~= 2 then return end
    local at = rank == 0 and { rows = { 1, 2 }, cols = { 2, 1 } } or { rows = { 1, 2 }, cols = { 3, 4 } }
    local block = damo.sparse.coo { rows = at.rows, cols = at.cols, values = { 1, 1 }, shape = { 2, 4 } }
    local ok, err = pcall(mpi.solve, mpi.matrix(block), damo.ones { 2 }, { pc = "ilu" })
    assert.is_false(ok)
    assert.is_truthy(err.message:find("diagonal", 1, true), err.message)
  end)

  it("of one rank's right-hand side are every rank's", function()
    local b = damo.zeros { p.stop - p.first + (rank == size - 1 and 1 or 0) }
    shared_error("shape", "the right-hand side has", mpi.solve, p.matrix, b)
  end)
end)

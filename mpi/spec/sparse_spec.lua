-- Distributed matrices and vectors: values on any number of ranks against the same with damo.sparse on the whole.
local damo = require "damo"
local mpi = require "damo.mpi"
local check = require "mpi.spec.support.check"
local poisson = require "mpi.spec.support.poisson"

if not pcall(require, "damo.mpi.petsc") then
  describe("distributed matrices", function() pending "need a build with PETSc" end)
  return
end

local size, rank = mpi.size, mpi.rank
local inf = math.huge
local shared_error = check.shared_error

-- Entries first + 1 to stop of a vector (or rows of a matrix) that is the same on all ranks.
local function part(x, first, stop) return x[{ { first + 1, stop } }] end

local function wave(...)
  local n = damo.prod(damo.array { ... })
  return damo.sin(damo.reshape(damo.arange(1, n + 0.5), { ... }) * 1.3)
end

local function close(want, got) check.close(want, got, 1e-9) end

-- A rectangular block: rows × cols with some places stored.
local function rectangle(rows, cols, first, stop)
  local r, c, v = {}, {}, {}
  for i = 0, rows - 1 do
    for j = 0, cols - 1 do
      if (i * 7 + j * 3) % 5 < 2 and i >= first and i < stop then
        r[#r + 1], c[#c + 1], v[#v + 1] = i - first + 1, j + 1, math.sin(i + 2.5 * j)
      end
    end
  end
  if #r == 0 then return nil end
  return damo.sparse.coo { rows = r, cols = c, values = v, shape = { stop - first, cols } }
end

describe("distributed vectors", function()
  local whole = wave(11)
  local first, stop = poisson.share(11)
  local v = mpi.vector(part(whole, first, stop))

  it("know their partition", function()
    assert.are.equal(first + 1, v.first)
    assert.are.equal(stop, v.last)
    assert.are.equal(11, v.size)
    close(whole, v:toarray())
  end)

  it("have sums, products and norms", function()
    close(damo.sum(whole), v:sum())
    close(damo.dot(whole, whole * 3 + 1), v:dot(part(whole * 3 + 1, first, stop)))
    close(damo.sqrt(damo.sum(damo.sqr(whole))), v:norm())
    close(damo.sum(damo.abs(whole)), v:norm(1))
    close(damo.max(damo.abs(whole)), v:norm(inf))
  end)

  it("are added and scaled", function()
    close(whole * 3, v:axpy(2, v):toarray())
    close(whole * -1.5, (v * -1.5):toarray())
    close(whole * 0, (v - v):toarray())
    close(whole * 2, (v + v):toarray())
    close(-whole, (-v):toarray())
  end)

  it("that are split differently are an error on every rank", function()
    local other = mpi.vector(damo.zeros { stop - first + (rank == size - 1 and 1 or 0) })
    shared_error("shape", "split differently", v.dot, v, other)
    shared_error("shape", "split differently", v.axpy, v, 2, other)
    shared_error("value", "norm", v.norm, v, 3)
    shared_error("type", "dimensions", mpi.vector, damo.zeros { 1, 1, 1 })
  end)
end)

describe("distributed matrices", function()
  local block, whole, first, stop = poisson.both(3, poisson.skewed)
  local A, x, X = mpi.matrix(block), wave(27), wave(27, 3)

  it("know their partition", function()
    assert.are.same({ 27, 27 }, A.shape)
    assert.are.equal(first + 1, A.first)
    assert.are.equal(stop, A.last)
    assert.are.equal(stop, mpi.matrix(block, { rows = { first + 1, stop } }).last)
    shared_error("shape", "rows", mpi.matrix, block, { rows = { first + 2, stop } })
  end)

  it("are multiplied with vectors and columns, transposed too", function()
    for _, y in ipairs { x, X, wave(27, 1) } do
      close(part(damo.dot(whole, y), first, stop), A:dot(part(y, first, stop)))
      close(part(damo.dot(whole.T, y), first, stop), A:tdot(part(y, first, stop)))
    end
    close(damo.dot(whole, x), A:dot(mpi.vector(part(x, first, stop))):toarray())
    close(part(damo.dot(whole, X.T.T), first, stop), A:dot(part(damo.transpose(damo.transpose(X):copy()), first, stop)))
  end)

  it("have sums and norms", function()
    close(damo.sum(whole.data), A:sum())
    local dense = whole:toarray()
    close(damo.sqrt(damo.sum(damo.sqr(dense))), A:norm())
    close(damo.max(damo.sum(damo.abs(dense), { axis = 1 })), A:norm(1))
    close(damo.max(damo.sum(damo.abs(dense), { axis = 2 })), A:norm(inf))
    shared_error("value", "norm", A.norm, A, 2)
  end)

  it("are added and scaled", function()
    local eye = damo.sparse.coo { rows = { 1 }, cols = { 27 }, values = { 5 }, shape = { stop - first, 27 } }
    local B = mpi.matrix(eye)
    local want = part(damo.dot(whole, x), first, stop):copy()
    want[1] = want[1] + 5 * x[27]
    close(want, (A + B):dot(part(x, first, stop)))
    close(part(damo.dot(whole, x), first, stop) * -2, (A * -2):dot(part(x, first, stop)))
    close(damo.zeros { stop - first }, (A - A):dot(part(x, first, stop)))
  end)

  it("may be rectangular", function()
    local rows, cols = 4 * size, 6 * size + 1
    local r0, r1 = poisson.share(rows)
    local c0, c1 = poisson.share(cols)
    local R = mpi.matrix(rectangle(rows, cols, r0, r1))
    local all, v, w = rectangle(rows, cols, 0, rows), wave(cols), wave(rows)
    close(part(damo.dot(all, v), r0, r1), R:dot(part(v, c0, c1)))
    close(part(damo.dot(all.T, w), c0, c1), R:tdot(part(w, r0, r1)))
    local mine = rank == 0 and cols or 0 -- all of the vector on rank 0
    local S = mpi.matrix(rectangle(rows, cols, r0, r1), { columns = mine })
    close(part(damo.dot(all, v), r0, r1), S:dot(part(v, 0, mine)))
    shared_error("shape", "not square", R.solve, R, part(w, r0, r1))
    shared_error("shape", "columns together", mpi.matrix, rectangle(rows, cols, r0, r1), { columns = cols + 1 })
  end)

  it("may have ranks without rows", function()
    local from, to = poisson.share(1)
    local one = mpi.matrix(poisson.rows(1, from, to, poisson.symmetric))
    local b = part(damo.array { 13 }, from, to)
    close(b * 6.5, one:dot(b))
    close(b * 6.5, one:tdot(b))
    close(b / 6.5, (one:solve(b)))
    close(b / 6.5, (one:solve(b, { ksp = "cg", pc = "jacobi" })))
    close(damo.array(6.5), one:norm(1))
    close(damo.array(6.5), one:norm(inf))
  end)

  it("take single precision and other formats", function()
    close(part(damo.dot(whole, x), first, stop), mpi.matrix(block:tocsc()):dot(part(x, first, stop)))
    local single = mpi.matrix(damo.astype(block, "float32"))
    assert.is_true(damo.allclose(single:dot(part(x, first, stop)), part(damo.dot(whole, x), first, stop), { rtol = 1e-5,
      atol = 1e-5 }))
    shared_error("type", "complex", mpi.matrix, damo.astype(block, "complex128"))
    shared_error("type", "sparse", mpi.matrix, damo.zeros { 2, 2 })
  end)

  it("whose blocks do not fit are errors on every rank", function()
    local last = rank == size - 1
    local wide = poisson.rows(1, 0, 1, poisson.symmetric)
    if size > 1 then shared_error("shape", "columns", mpi.matrix, last and wide or block) end
    local at = size - 1
    local twice = damo.sparse.csr { data = { 1, 2 }, indices = { at, at }, indptr = { 0, 2 }, shape = { 1, size } }
    local good = damo.sparse.csr { data = { 1 }, indices = { 0 }, indptr = { 0, 1 }, shape = { 1, size } }
    local B = mpi.matrix(last and twice or good)
    shared_error("value", "row 1 of the block stores a column twice", B.dot, B, damo.zeros { 1 })
    shared_error("shape", "dot: the operand has", A.dot, A,
      damo.zeros { stop - first + (last and 1 or 0) })
    if size > 1 then
      shared_error("shape", "numbers of columns", A.dot, A, damo.zeros { stop - first, last and 2 or 1 })
    end
    shared_error("value", "there is no option 'colums'", mpi.matrix, block, { colums = 3 })
    shared_error("shape", "split differently", A.add, A, mpi.matrix(poisson.rows(3, first, stop, poisson.skewed),
      { columns = stop - first }))
  end)

  it("of which the ranks want different things are errors on every rank", function()
    if size == 1 then return end
    local v = damo.dvector "v"
    local b = part(x, first, stop)
    local f, g = damo.compile({ v }, A:dot(v)), damo.compile({ v }, A:tdot(v))
    f(b)
    g(b)
    shared_error("inconsistency", "rank 0 runs MpiDot (matrix", rank == 0 and f or g, b)
    shared_error("inconsistency", "the ranks do different things here: rank 0", A.solve, A, b,
      { ksp = rank == 0 and "gmres" or "bcgs", pc = "none" })
    close(part(damo.dot(whole, x), first, stop), f(b))
  end)

  it("are freed and go on", function()
    local B = mpi.matrix(block)
    local want = B:dot(part(x, first, stop))
    for _ = 1, 3 do
      B:free()
      close(want, B:dot(part(x, first, stop)))
    end
    collectgarbage()
  end)
end)

describe("matrices in graphs", function()
  local block, whole, first, stop = poisson.both(3, poisson.skewed)
  local x = wave(27)

  it("take a Variable with a pattern, and new values at each call", function()
    local a, v = damo.sparse.csr_matrix("a", { pattern = block }), damo.dvector "v"
    local A = mpi.matrix(a)
    local f = damo.compile({ a, v }, { A:dot(v), A:tdot(v), A:sum() })
    for _, scale in ipairs { 1, 2, 2, -3 } do
      local y, z, sum = f(block * scale, part(x, first, stop))
      close(part(damo.dot(whole, x), first, stop) * scale, y)
      close(part(damo.dot(whole.T, x), first, stop) * scale, z)
      close(damo.sum(whole.data) * scale, damo.array(sum))
    end
  end)

  it("take a Variable whose pattern changes from call to call", function()
    local a, v = damo.sparse.csr_matrix "a", damo.dvector "v"
    local f = damo.compile({ a, v }, mpi.matrix(a):dot(v))
    close(part(damo.dot(whole, x), first, stop), f(block, part(x, first, stop)))
    local other = damo.sparse.coo { rows = { 1 }, cols = { 27 }, values = { 2 }, shape = { stop - first, 27 } }
    local want = damo.zeros { stop - first }
    want[1] = 2 * x[27]
    close(want, f(other, part(x, first, stop)))
    close(part(damo.dot(whole, x), first, stop), f(block, part(x, first, stop)))
  end)

  it("take values with Variables as operands", function()
    local v, A = damo.dvector "v", mpi.matrix(block)
    local f = damo.compile({ v }, { A:dot(v), (A:solve(v)) })
    local y, z = f(part(x, first, stop))
    close(part(damo.dot(whole, x), first, stop), y)
    close(part(damo.sparse.solve(whole, x), first, stop), z)
  end)

  it("run in the modes that look on", function()
    for _, mode in ipairs { "FAST_COMPILE", "NANGUARD", "DEBUG" } do
      local d, v = damo.dvector "d", damo.dvector "v"
      local A = mpi.matrix(block, { data = d })
      local y = A:solve(v)
      local f = damo.compile({ d, v }, { y, damo.grad(damo.sum(y), d) }, { mode = mode })
      close(part(damo.sparse.solve(whole, x), first, stop), (f(block.data, part(x, first, stop))))
    end
  end)
end)

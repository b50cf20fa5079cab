-- Eigenpairs of distributed symmetric matrices against damo.linalg.eigh of the whole, their gradients and failures.
local damo = require "damo"
local mpi = require "damo.mpi"
local check = require "mpi.spec.support.check"
local differences = require "mpi.spec.support.differences"
local poisson = require "mpi.spec.support.poisson"

if not pcall(require, "damo.mpi.petsc") then
  describe("distributed eigenpairs", function() pending "need a build with PETSc" end)
  return
end

local close, shared_error = check.close, check.shared_error

-- Symmetric, and without symmetries that would make eigenvalues equal.
local function entry(i, j)
  if i == j then return 6.5 + 0.13 * i + 0.01 * i * i end
  return -1 - 0.02 * math.min(i, j) - 0.03 * math.max(i, j)
end

local block, whole, first, stop = poisson.both(3, entry)
local A = mpi.matrix(block)
local dense = damo.linalg.eigvalsh(whole:toarray()) -- ascending

describe("eigenpairs", function()
  it("are those that are asked for", function()
    close(damo.array { dense[27], dense[26], dense[25] }, (A:eigs(3)))
    close(damo.array { dense[27], dense[26] }, (A:eigs(2, { which = "largest" })))
    close(damo.array { dense[1], dense[2] }, (A:eigs(2, { which = "smallest" })))
    close(damo.array { dense[1] }, (mpi.eigs(A, 1, { which = "smallest_magnitude", tol = 1e-10, max_it = 500 })))
    local near = A:eigs(2, { sigma = dense[10] + 0.25 * (dense[11] - dense[10]) })
    close(damo.array { dense[10], dense[11] }, near)
  end)

  it("fulfil A·v = λ·v, with vectors of length 1 and a sign", function()
    local values, vectors = A:eigs(3)
    close(vectors.data * values, A:dot(vectors).data)
    local all = vectors:toarray()
    close(damo.ones { 3 }, damo.sum(damo.sqr(all), { axis = 1 }))
    close(damo.max(damo.abs(all), { axis = 1 }), damo.max(all, { axis = 1 }))
    assert.are.equal(27, vectors.size)
  end)

  it("follow the values of each call", function()
    local d = damo.dvector "d"
    local values = mpi.matrix(block, { data = d }):eigs(2)
    local f = damo.compile({ d }, values)
    for _, scale in ipairs { 1, 2, 2, 0.5 } do
      close(damo.array { dense[27], dense[26] } * scale, f(block.data * scale))
    end
  end)

  it("have gradients of simple values", function()
    for _, options in ipairs { { which = "largest" }, { which = "smallest" }, { sigma = 8 } } do
      options.tol = 1e-12
      differences.check_gradient(function(v) -- the whole matrix moves with each rank's number, and stays symmetric
        return (mpi.matrix(block):scale(mpi.allreduce(v)[1]):eigs(2, options))
      end, damo.array { 1.25 / mpi.size })
    end
    local d = damo.dvector "d"
    local values, vectors = mpi.matrix(block, { data = d }):eigs(1, { tol = 1e-12 })
    local cost = damo.sum(values) / mpi.size -- the ranks' costs are added up
    local slope, v = damo.compile({ d }, { damo.grad(cost, d), vectors.data })(block.data)
    local all = mpi.allgather(v, { axis = 1 })
    for row = 1, stop - first do
      for k = block.indptr[row] + 1, block.indptr[row + 1] do
        close(damo.array(v[{ row, 1 }] * all[{ block.indices[k] + 1, 1 }]), damo.array(slope[k]), 1e-6)
      end
    end
  end)

  it("have no gradients of values that are not simple, nor of vectors", function()
    local even = poisson.both(3, poisson.symmetric) -- a cube: the second value is triple
    local d = damo.dvector "d"
    local values, vectors = mpi.matrix(even, { data = d }):eigs(2, { which = "smallest" })
    shared_error("numeric", "not simple", damo.compile({ d }, damo.grad(values[2], d)), even.data)
    damo.compile({ d }, damo.grad(values[1], d))(even.data)
    shared_error("null_gradient", "not of eigenvectors", damo.grad, damo.sum(vectors.data), d)
  end)

  it("that can't be had are errors on every rank", function()
    shared_error("numeric", "DIVERGED_ITS", A.eigs, A, 3, { tol = 1e-14, max_it = 1, options = { eps_ncv = 5 } })
    local nothing, err = A:eigs(3, { tol = 1e-14, max_it = 1, options = { eps_ncv = 5 }, on_fail = "return" })
    assert.is_nil(nothing)
    assert.are.equal("numeric", err.kind)
    shared_error("value", "28 eigenpairs of a matrix of 27 rows", A.eigs, A, 28)
    shared_error("type", "argument 2 (k)", A.eigs, A, 1.5)
    shared_error("value", "which is", A.eigs, A, 1, { which = "biggest" })
    shared_error("value", "sigma and which", A.eigs, A, 1, { which = "target" })
    shared_error("value", "no use for the option", A.eigs, A, 1, { options = { eps_nvc = 3 } })
    shared_error("value", "'hep'", A.eigs, A, 1, { problem = "nhep" })
    local skewed = mpi.matrix((poisson.both(3, function(i, j) return i == j and i or i < j and 3 or -3 end)))
    shared_error("numeric", "", skewed.eigs, skewed, 2)
  end)
end)

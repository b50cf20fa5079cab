-- PETSc, MUMPS, hypre and SLEPc print nothing, whatever fails in them, and leave signals and the exit status alone.
local mpi = require "damo.mpi"
local jobs = require "mpi.spec.support.jobs"

local script = [[
package.path = "./?.lua;" .. package.path
local damo = require "damo"
local mpi = require "damo.mpi"
local poisson = require "mpi.spec.support.poisson"

if not pcall(require, "damo.mpi.petsc") then
  describe("PETSc's silence", function() pending "need a build with PETSc" end)
  return
end

local block, _, first, stop = poisson.both(3, poisson.skewed)
local A, zero = mpi.matrix(block), mpi.matrix(block, { data = block.data * 0 })
local b = damo.ones { stop - first }
local failed = 0
for _, attempt in ipairs { { zero }, { zero, pc = "hypre" }, { zero, pc = "ilu" }, { zero, pc = "gamg" },
  { A, ksp = "none-such" }, { A, pc = "none-such" }, { A, ksp = "gmres", pc = "none", max_it = 1 },
  { A, ksp = "cg", pc = "jacobi", max_it = 2 },
  { A, options = { ksp_unknown = 1 } }, { zero, assume = "pos" } } do
  local M = table.remove(attempt, 1)
  if not pcall(mpi.solve, M, b, attempt) then failed = failed + 1 end
end
if not pcall(mpi.eigs, A, 5, { max_it = 1, tol = 1e-15, options = { eps_ncv = 6 } }) then failed = failed + 1 end
if not pcall(mpi.eigs, zero, 2, { sigma = 0 }) then failed = failed + 1 end
mpi.print(failed > 8 and "failed" or failed)
]]

describe("what fails in PETSc", function()
  it("prints nothing", function()
    if mpi.size > 1 then return end
    for ranks = 1, 3, 2 do
      local status, text = jobs.run(ranks, script, true)
      assert.are.equal("failed\n", text)
      assert.are.equal(0, status)
    end
  end)
end)

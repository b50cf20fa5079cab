-- examples/mpi/poisson3d.lua, which fits a coefficient, prints the same on any number of ranks. Jobs are started from
-- the run without mpirun alone.
local mpi = require "damo.mpi"
local jobs = require "mpi.spec.support.jobs"

if not pcall(require, "damo.mpi.petsc") then
  describe("examples/mpi/poisson3d.lua", function() pending "need a build with PETSc" end)
  return
end

local script = [[
arg = { [0] = arg[0], "6", "20" }
dofile "examples/mpi/poisson3d.lua"
]]

describe("examples/mpi/poisson3d.lua", function()
  it("prints the same on 1 to 4 ranks, and comes nearer to the coefficient", function()
    if mpi.size > 1 then return end
    local first
    for ranks = 1, 4 do
      local status, text = jobs.run(ranks, script, true)
      assert.are.equal(0, status, text)
      first = first or text
      assert.are.equal(first, text)
    end
    local misfits = {}
    for misfit in first:gmatch "misfit (%S+)" do misfits[#misfits + 1] = tonumber(misfit) end
    assert.are.equal(3, #misfits)
    assert.is_true(misfits[3] < misfits[1] / 5)
  end)
end)

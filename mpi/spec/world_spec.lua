-- The world that a launcher made. These specs run on every rank.
local mpi = require "damo.mpi"

describe("the world", function()
  it("has as many ranks as were started", function()
    assert.are.equal(tonumber(os.getenv "DAMO_MPI_RANKS"), mpi.size)
  end)

  it("numbers its ranks from 0", function()
    local told = tonumber(os.getenv "OMPI_COMM_WORLD_RANK" or os.getenv "PMI_RANK" or 0)
    assert.are.equal(told, mpi.rank)
  end)

  it("passes a barrier", function()
    for _ = 1, 3 do mpi.barrier() end
  end)
end)

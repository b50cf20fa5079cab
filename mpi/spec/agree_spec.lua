-- What ranks tell each other outside of graphs. These specs run on every rank.
local damo = require "damo"
local mpi = require "damo.mpi"
local core = require "damo.mpi.core"
local agree = require "damo.mpi.agree"

describe("strings", function()
  it("go from every rank to every rank", function()
    local out = {}
    for r = 1, mpi.size do out[r] = ("%d\0%d"):format(mpi.rank, r - 1):rep(1000 * (r - 1)) end
    local came = core.exchange_strings(out, "spec")
    assert.are.equal(mpi.size, #came)
    for r = 1, mpi.size do
      assert.are.equal(("%d\0%d"):format(r - 1, mpi.rank):rep(1000 * mpi.rank), came[r])
    end
  end)

  it("are gathered, or a problem of the lowest rank is raised everywhere", function()
    for rank, text in ipairs(agree.gather("spec", nil, nil, "r" .. mpi.rank)) do
      assert.are.equal("r" .. rank - 1, text)
    end
    local ok, err = pcall(agree.gather, "spec", mpi.rank >= mpi.size - 2 and "no " .. mpi.rank or nil, "numeric")
    assert.is_false(ok)
    assert.are.equal("numeric", err.kind)
    assert.is_truthy(err.message:find("no " .. math.max(mpi.size - 2, 0)))
  end)
end)

describe("ranks that call different things", function()
  local calls = {
    function() mpi.barrier() end,
    function() mpi.allreduce(1.0) end,
    function() mpi.checkpoint("none.safetensors", {}) end,
    function() mpi.restore "none.safetensors" end,
    function() mpi.read_npy "none.npy" end,
    function()
      local x = damo.dvector "x"
      damo.compile({ x }, mpi.allreduce(x)) { 1, 2 }
    end,
  }
  for a = 1, #calls do
    for b = 1, #calls do
      if a ~= b and mpi.size > 1 then
        it(("get an error, and can go on: %d and %d"):format(a, b), function()
          local ok, err = pcall(calls[mpi.rank == mpi.size - 1 and b or a])
          assert.is_false(ok)
          assert.are.equal("inconsistency", err.kind, tostring(err))
          assert.is_truthy(err.message:find("ranks disagree", 1, true))
          mpi.barrier()
        end)
      end
    end
  end
end)

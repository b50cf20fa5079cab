-- examples/mpi/digits.lua gives the same on any number of ranks, and after a restart on another number.
local mpi = require "damo.mpi"
if mpi.size > 1 then return end -- the jobs are started here, on ranks of their own
local jobs = dofile "mpi/spec/support/jobs.lua"

describe("examples/mpi/digits.lua", function()
  local folder
  setup(function() folder = jobs.folder() end)
  teardown(function() jobs.remove(folder) end)

  local function run(ranks, arguments)
    local script = "arg[0] = 'examples/mpi/digits.lua' dofile(arg[0])"
    local status, out = jobs.run(ranks, script, true, folder .. " " .. arguments)
    assert.are.equal(0, status, out)
    return out:match "epoch 10: loss [%d.]+", out:match "test accuracy [%d.]+", out
  end

  it("prints the same on 1, 2 and 4 ranks, and from a checkpoint", function()
    local loss, accuracy, out = run(0, "10")
    assert.is_truthy(loss, out)
    assert.is_true(tonumber(accuracy:match "[%d.]+$") > 0.95)
    for _, ranks in ipairs { 2, 4 } do
      local other_loss, other_accuracy = run(ranks, "10")
      assert.are.equal(loss, other_loss)
      assert.are.equal(accuracy, other_accuracy)
    end
    run(2, "4")
    local after, again = run(3, ("10 '%s/digits_mpi.safetensors'"):format(folder))
    assert.are.equal(loss, after)
    assert.are.equal(accuracy, again)
  end)

  it("has at most 100 lines", function()
    local _, lines = jobs.read("examples/mpi/digits.lua"):gsub("\n", "")
    assert.is_true(lines <= 100)
  end)
end)

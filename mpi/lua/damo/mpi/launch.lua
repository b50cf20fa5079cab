--- Runs a script whose errors end it on every rank: `mpirun -n 4 lua5.4 -ldamo.mpi.launch script.lua arguments`.
-- One rank prints the error, with its number and trace, and the exit status of every rank is 1.
-- @module damo.mpi.launch

local core = require "damo.mpi.core"
local run = require "damo.mpi.run"
local unpack = table.unpack or unpack -- luacheck: ignore

-- One rank prints the error for all.
local function report(err, fault)
  if fault and fault.reporter ~= core.rank then return end
  io.stderr:write(("%s: %s\n"):format(arg[0], tostring(err)))
  io.stderr:flush()
end

if not arg or not arg[0] then
  error("damo.mpi.launch: this Lua does not tell the script before it loads modules; use mpi.run in the script", 0)
end

local script, problem = loadfile(arg[0])
local ok, caught = false, { err = problem, trace = "" }
if script then
  ok, caught = xpcall(function()
    script(unpack(arg, 1, #arg))
    core.barrier() -- an error of a rank that is not as far yet is everybody's
  end, run.traced)
end
if not ok then report(run.spread(caught)) end
os.exit(ok and 0 or 1, true)

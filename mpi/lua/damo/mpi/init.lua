--- More than one machine: every rank runs the same script, and what they exchange is part of their graphs.
-- Ranks count from 0, as MPI's do. A script that no launcher started is a world of one rank.
-- @module damo.mpi

local core = require "damo.mpi.core"

-- Errors and nodes name the script's lines, wherever this module lies.
local folder = debug and debug.getinfo(1, "S").source:match "^@.*/"
if folder then require("damo.core").system.leave_out(folder) end

---@class damo.mpi
local mpi = {}

--- This process's number, from 0 to `size - 1`.
mpi.rank = core.rank

--- The number of processes.
mpi.size = core.size

--- Returns on no rank before all ranks have called it.
-- @function barrier
mpi.barrier = core.barrier

--- Settings.
mpi.config = require "damo.mpi.config"

local run = require "damo.mpi.run"
mpi.run, mpi.fault = run.run, run.fault

require "damo.mpi.order"
for _, topic in ipairs { "ops" } do
  for name, member in pairs(require("damo.mpi." .. topic)) do mpi[name] = member end
end

-- Members of modules that have others too, for damo-mpi's own files.
for topic, names in pairs {
  files = { "range", "part", "read_npy", "write_npy" },
  mtx = { "read_mtx", "write_mtx" },
  ranks = { "random_stream", "print", "progress" },
  distribute = { "distribute", "average" },
  state = { "shard", "own" },
  checkpoint = { "checkpoint", "restore" },
} do
  local module = require("damo.mpi." .. topic)
  for _, name in ipairs(names) do mpi[name] = module[name] end
end

-- Sparse systems start PETSc, so they are loaded when one is made.
for _, name in ipairs { "matrix", "vector", "solve", "eigs" } do
  mpi[name] = function(...) return require "damo.mpi.sparse"[name](...) end
end

return mpi

--- Errors that reach every rank: mpi.run, mpi.fault, and what damo.mpi.launch does with a script.
-- @module damo.mpi.run

local damo = require "damo"
local core = require "damo.mpi.core"

local run = {}

local function is_error_object(err)
  return type(err) == "table" and type(err.kind) == "string" and err.message ~= nil
end

--- The error that ended the work of all ranks together.
-- @treturn table|nil `rank`, `kind`, `message` and `trace`, a text, of the rank that raised it or that has ended too
-- early; `reporter`, the one that told the others
function run.fault()
  local rank, kind, message, trace, reporter = core.fault()
  if not rank then return nil end
  return { rank = rank, kind = kind, message = message, trace = trace, reporter = reporter }
end

local folder = debug.getinfo(1, "S").source:match "^@(.*/)" or ""

-- Whether a line of a trace is the user's.
local function is_users(line)
  return folder == "" or line:sub(1, #folder) ~= folder
end

-- The lines of a text that are the user's, as a list.
local function lines_of(text)
  local lines = {}
  for line in text:gmatch "[^\n]+" do
    if is_users(line) then lines[#lines + 1] = line end
  end
  return lines
end

-- The world's error as the error object that this rank raises.
local function fault_object(fault)
  local _, err = pcall(damo.raise, fault.kind, ("rank %d: %s"):format(fault.rank, fault.message))
  local lines = lines_of(fault.trace)
  err.rank, err.trace, err.where = fault.rank, lines, lines[1]
  return err
end

-- What is told to the others of an error that was caught with its traceback.
local function described(caught)
  local err, trace = caught.err, caught.trace
  if is_error_object(err) then
    local lines = type(err.trace) == "table" and table.concat(err.trace, "\n") or trace
    if err.node and err.where then lines = err.where .. "\n" .. lines end -- these lines are the node's
    return err.kind, tostring(err.message), lines
  end
  return "callback", tostring(err), trace
end

-- An error with the lines of its traceback, "file:line" each, as the trace of an error object has them.
local function traced(err)
  local lines = {}
  for line in debug.traceback("", 2):gmatch "\n%s*([^\n]+)" do lines[#lines + 1] = line:match "^(.-:%d+):" end
  return { err = err, trace = table.concat(lines, "\n") }
end

--- Tells all ranks of an error of this one, if they do not know of another yet, and gives the error object that all
-- raise; in a world of one rank the error itself.
-- @param caught what `traced` made of the error
function run.spread(caught)
  local fault = run.fault()
  if not fault then
    core.raise(described(caught))
    fault = run.fault()
  end
  return fault and fault_object(fault) or caught.err, fault
end

run.traced = traced

local unpack = table.unpack or unpack -- luacheck: ignore

local function pack(...) return { n = select("#", ...), ... } end

--- Calls fn(...) on every rank and gives its results. An error that it raises on one rank is raised on all of them,
-- with that rank's number and trace; if several ranks raise one at once, it is that of the lowest. No rank goes on
-- before all have ended fn. After an error the ranks can't communicate any more.
-- @tparam function fn
-- @param ... its arguments
function run.run(fn, ...)
  if type(fn) ~= "function" then
    damo.raise("type", "mpi.run: argument 1 must be a function, got " .. type(fn))
  end
  local args = pack(...)
  local ok, results = xpcall(function()
    local given = pack(fn(unpack(args, 1, args.n)))
    core.barrier()
    return given
  end, traced)
  if not ok then error((run.spread(results)), 0) end
  return unpack(results, 1, results.n)
end

return run

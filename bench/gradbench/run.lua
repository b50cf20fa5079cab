-- run.lua: damo as a tool of GradBench (github.com/gradbench/gradbench): reads the messages of an eval from standard
-- input, one in JSON a line, and answers each on standard output.
--
--     lua5.4 bench/gradbench/run.lua
--
-- A module of GradBench is the file of that name beside this one. It returns a table from the name of each function to
-- `prepare(input)`, which compiles what the function needs and returns a function without arguments, that is timed, and
-- optionally a function that makes the answer of its results. A file that is not there answers `success: false`.
--
-- JSON is read by lua-cjson where it is installed, else by dkjson, which is slower; neither is timed.

local damo = require "damo"
local unpack = table.unpack or unpack -- luacheck: ignore
local function packed(...) return { n = select("#", ...), ... } end

local folder = arg[0]:match "^(.*)/" or "."
local fast, cjson = pcall(require, "cjson")
local json = fast and cjson or require "dkjson"
if fast then cjson.encode_number_precision(14) end

package.path = folder .. "/?.lua;" .. package.path -- for what evals share

local modules = {}

--- The functions of a module, or nil and why there are none.
local function define(name)
  if not name:match "^%w+$" then return nil, "not the name of a module" end
  local path = folder .. "/" .. name .. ".lua"
  local file, none = io.open(path)
  if not file then return nil, none end
  file:close()
  local ok, functions = pcall(dofile, path)
  if not ok then return nil, tostring(functions) end
  modules[name] = functions
  return functions
end

--- The answer to a message "evaluate". Inputs without min_runs are run once.
local function evaluate(message)
  local functions = modules[message.module] or define(message.module)
  local prepare = functions and functions[message["function"]]
  if not prepare then
    return { success = false, error = ("no function %s.%s"):format(message.module, message["function"]) }
  end
  local input = message.input
  local runs, seconds = 1, 0
  if type(input) == "table" then
    runs, seconds = input.min_runs or 1, input.min_seconds or 0
  end
  local clock = damo.clock
  local before = clock()
  local run, answer = prepare(input)
  local timings = { { name = "prepare", nanoseconds = clock() - before } }
  local result
  local elapsed, count = 0, 0
  while count < runs or elapsed < seconds * 1e9 do
    local start = clock()
    result = packed(run())
    local took = clock() - start
    elapsed, count = elapsed + took, count + 1
    timings[#timings + 1] = { name = "evaluate", nanoseconds = took }
  end
  local output = answer and answer(unpack(result, 1, result.n)) or result[1]
  if type(output) == "userdata" then output = output:totable() end
  return { success = true, output = output, timings = timings }
end

io.stdout:setvbuf "line"
for line in io.lines() do
  local message = json.decode(line)
  local response = {}
  if message.kind == "start" then
    response.tool = "damo"
  elseif message.kind == "define" then
    local functions, why = define(message.module)
    response = { success = functions ~= nil, error = why }
  elseif message.kind == "evaluate" then
    local ok, answer = pcall(evaluate, message)
    response = ok and answer or { success = false, error = tostring(answer) }
  end
  response.id = message.id
  io.write(json.encode(response), "\n")
end

-- Files: a graph of 10,000 nodes written, read and compiled; 10^7 numbers of %.17g in a CSV, from the page cache.
-- Beside the least time is the rate by the time of the process, which other programs do not disturb.
--
--   lua bench/files.lua [numbers]
local damo = require "damo"

local function best(runs, fn)
  local least = math.huge
  for _ = 1, runs do
    collectgarbage()
    local before = damo.clock()
    fn()
    least = math.min(least, damo.clock() - before)
  end
  return least
end

local function row(name, ns, note) print(("%-34s %10.2f ms  %s"):format(name, ns / 1e6, note or "")) end

local x = damo.dvector "x"
local y = x
for i = 1, 5000 do y = damo.tanh(y) + i end
local path = os.tmpname()
row("save_graph, 10,000 nodes", best(5, function() damo.save_graph(path, { inputs = { x }, outputs = { y } }) end))
row("load_graph, 10,000 nodes", best(20, function() damo.load_graph(path) end), "at most 10")

local n = tonumber(arg[1]) or 1e7
local file = assert(io.open(path, "w"))
for i = 1, n do
  file:write(("%.17g"):format((math.random() - 0.5) * 10 ^ math.random(-10, 10)), i % 10 == 0 and "\n" or ",")
end
local bytes = file:seek()
file:close()
for _, options in ipairs { {}, { columns = true } } do
  local process = math.huge
  local ns = best(3, function()
    local before = os.clock()
    damo.io.read_csv(path, options)
    process = math.min(process, os.clock() - before)
  end)
  row("read_csv" .. (options.columns and ", columns" or ""), ns,
    ("%.0f MB/s, at least 100; %.0f MB/s of process time"):format(bytes / ns * 1e3, bytes / process / 1e6))
end
os.remove(path)

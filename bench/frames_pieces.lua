-- frames_pieces.lua: the longest piece of a call of each op function in slices, in microseconds of processor time: the
-- greatest step with a budget of 0, the least of some runs. Functions whose longest piece is short are counted alone.
-- Arguments: about how many entries the operands have (100,000), and a pattern of the names.

package.path = "./?.lua;" .. package.path
local damo = require "damo"
local slices = dofile((arg[0]:match("^(.*)/") or ".") .. "/slices.lua")
local calls = require "spec.support.large_calls"
local unpack = table.unpack or unpack -- luacheck: ignore 113 143

local ENTRIES = math.floor(tonumber(arg and arg[1]) or 100000)
local PATTERN = arg and arg[2] or ""
local SHORT, RUNS, ENOUGH = 50e-6, 5, 3 -- ENOUGH: seconds for one function

local function longest_of(row)
  local inputs, outputs, values = calls.graph(calls.of(row, ENTRIES))
  local run = damo.compile(inputs, outputs, { on_unused_input = "ignore" }):start(unpack(values))
  run:step()
  local least, count, whole, begun = math.huge, 0, 0, os.clock()
  for _ = 1, RUNS do
    local longest, n, sum = slices.time(run, values)
    if longest < least then least, count, whole = longest, n, sum end
    if os.clock() - begun > ENOUGH or least < SHORT then break end
  end
  return least, count, whole
end

local short, rows = 0, {}
for _, row in ipairs(require("damo.core").registry()) do
  if row.name:find(PATTERN) and calls.has(row) then
    local least, count, whole = longest_of(row)
    if least < SHORT then
      short = short + 1
    else
      rows[#rows + 1] = { name = row.name, least = least, count = count, whole = whole }
    end
    collectgarbage()
  end
end
table.sort(rows, function(a, b) return a.least > b.least end)
print(("%d functions of about %d entries have no piece longer than %.0f us"):format(short, ENTRIES, SHORT * 1e6))
print(("%-32s %10s %12s %8s"):format("others, us", "longest", "call", "pieces"))
for _, at in ipairs(rows) do
  print(("%-32s %10.0f %12.0f %8d"):format(at.name, at.least * 1e6, at.whole * 1e6, at.count))
end

-- slices: times the pieces of a call in slices; for frames_slices.lua and frames_pieces.lua.

local unpack = table.unpack or unpack -- luacheck: ignore 113 143

local slices = {}

--- Runs the call once more, a piece at a time.
-- @param run of f:start
-- @param values the call's arguments
-- @treturn number the longest piece, in seconds of processor time
-- @treturn int how many pieces there were
-- @treturn number the sum of all
function slices.time(run, values)
  run:restart(unpack(values))
  local longest, n, sum = 0, 0, 0
  repeat
    local start = os.clock()
    local ended = run:step(0)
    local took = os.clock() - start
    longest, sum, n = math.max(longest, took), sum + took, n + 1
  until ended
  return longest, n, sum
end

return slices

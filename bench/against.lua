-- against: times damo against plain C loops, in turn, and prints medians of ratios; for dense.lua and loops.lua.
--
-- Arguments of the script: `json` for a line of JSON for each case, `serve` to be asked for times by a program (lines
-- `NAME TIMES` are answered by the seconds of so many calls), and words of titles that choose cases.

local damo = require "damo"
local unpack = table.unpack or unpack -- luacheck: ignore

local against = {}

local ROUNDS, BATCH = 9, 0.02

--- A case: a name or nil, a title, `call` and `args`, damo's function and its arguments; where C has the same, `loop`
--- and `operands`, the loop's name and operands, `size`, the elements that it writes, and `first`, how many of them are
--- damo's results, and `rtol`, how far they may differ, relative to their size; `target` for damo's time divided by the
--- loop's, or by that of the case `beside`; `most`, the target for damo's seconds.
function against.case(c)
  c.first, c.m = c.first or c.size, c.m or 1
  return c
end

local function pointers(arrays)
  local list = {}
  for i, x in ipairs(arrays) do list[i] = x:pointer() end
  return list
end

--- Large results are written into an Array that is there, as the loop's are: fresh memory is cleared by the system.
local function damo_runs(c)
  local call, args = c.call, c.args
  local result = call(unpack(args))
  if c.size and c.size >= 100000 and c.first == c.size then call = call:into(result) end
  local first = args[1]
  return function(times)
    local start = os.clock()
    if #args == 1 then -- unpack would take a good part of such a call's time
      for _ = 1, times do call(first) end
    else
      for _ = 1, times do call(unpack(args)) end
    end
    return os.clock() - start
  end
end

local function loop_runs(c, floor)
  local out = damo.zeros { c.size }
  local loop, operands = floor[c.loop], pointers(c.operands)
  return function(times) return loop(times, out:pointer(), operands, c.n, c.m) end, out
end

--- Whether the loop computes what damo does.
local function agrees(c, out)
  local parts, count = {}, 0
  for _, result in ipairs { c.call(unpack(c.args)) } do
    if count < c.first then
      parts[#parts + 1] = damo.flatten(damo.cast(damo.array(result), "float64"))
      count = count + #parts[#parts]
    end
  end
  return damo.allclose(damo.concatenate(parts), out[{ { 1, c.first } }], { rtol = c.rtol or 1e-9, atol = 1e-11 })
end

local function median(list)
  table.sort(list)
  return list[math.floor((#list + 1) / 2)]
end

--- The seconds of a call and their ratio to the other's; nil where the loop's result is another.
local function measure(c, floor, named)
  local ours, theirs = damo_runs(c), nil
  if c.beside then
    theirs = damo_runs(named[c.beside])
  elseif floor and c.loop then
    local out
    theirs, out = loop_runs(c, floor)
    theirs(1)
    if not agrees(c, out) then return nil end
  end
  local function timed(f, times)
    f(1) -- the other has evicted the caches
    return f(times) / times
  end
  local times = math.max(1, math.floor(BATCH / math.max(ours(1), 1e-7)))
  local seconds, ratios = {}, {}
  for i = 1, ROUNDS do
    seconds[i] = timed(ours, times)
    ratios[i] = theirs and seconds[i] / timed(theirs, times)
  end
  return median(seconds), theirs and median(ratios)
end

local function show(c, json, time, ratio)
  if not time then
    print(("  %-48s left out: the loop's result is another"):format(c.title))
  elseif json then
    print(('{"case": "%s", "ms": %.6g, "floor": %s, "target": %s, "most_ms": %s}'):format(c.title, time * 1e3,
      ratio and ("%.4g"):format(ratio) or "null", c.target or "null", c.most and c.most * 1e3 or "null"))
  else
    local other = c.beside and "that" or "plain loop"
    local target = c.target and ("(target %g)"):format(c.target) or c.most and ("(target %g ms)"):format(c.most * 1e3)
    print(("  %-48s %12.4f ms %s %s"):format(c.title, time * 1e3, ratio and ("%8.2f x %s"):format(ratio, other) or "",
      target or ""))
  end
end

--- Answers lines `NAME TIMES` by the seconds of so many calls, `NAME floor TIMES` by the loop's.
local function serve(floor, named)
  local runs = {}
  io.stdout:setvbuf "line"
  for line in io.lines() do
    local name, loop, times = line:match "^(%S+) (f?l?o?o?r?) ?(%d+)$"
    local key = name .. loop
    if not runs[key] then runs[key] = loop == "" and damo_runs(named[name]) or loop_runs(named[name], floor) end
    print(("%.9g"):format(runs[key](tonumber(times))))
  end
end

--- Reports cases beside the loops of a module in C; families: functions that each return a list of cases.
function against.report(title, floor_name, families)
  local have_floor, floor = pcall(require, floor_name)
  if not have_floor then floor = nil end
  local words, json, served = {}, false, false
  for _, word in ipairs(arg) do
    if word == "json" then json = true elseif word == "serve" then served = true else words[#words + 1] = word end
  end
  local function is_wanted(text)
    for _, word in ipairs(words) do
      if text:find(word, 1, true) then return true end
    end
    return #words == 0
  end
  if not json and not served then print(title .. ": against plain C loops") end
  local named = {}
  for _, family in ipairs(families) do
    for _, c in ipairs(family()) do
      if c.name then named[c.name] = c end
      if not served and is_wanted(c.title) then show(c, json, measure(c, floor, named)) end
      if not c.name then c.args, c.operands = nil, nil end
    end
  end
  if served then serve(floor, named) end
end

return against

-- frames.lua: frame times of a game loop that calls a compiled network once a frame, with 200,000 live
-- objects of the game. One row for each collector setting and way to call: the distribution of 100,000 frames.
-- Arguments: the number of frames, and one pair "collector call" to run only that.

local damo = require "damo"

local FRAMES = tonumber(arg and arg[1]) or 100000
local MODES = _VERSION == "Lua 5.4" and { "incremental", "generational", "stopped" } or { "incremental", "stopped" }

-- A network with two hidden layers for 32 agents; its result is 32 x 16, 4 KB.
local function network()
  local rs = damo.random.RandomStream(1)
  local function weights(m, n) return damo.shared(rs:normal(0, 0.3, { size = { m, n } }):eval()) end
  local x = damo.dmatrix "x"
  local h = damo.tanh(damo.dot(x, weights(16, 24)))
  h = damo.tanh(damo.dot(h, weights(24, 24)))
  return damo.compile({ x }, damo.dot(h, weights(24, 16))), rs:normal(0, 1, { size = { 32, 16 } }):eval()
end

local function set_collector(mode)
  collectgarbage "restart"
  if _VERSION == "Lua 5.4" then collectgarbage(mode == "generational" and mode or "incremental") end
  collectgarbage()
  collectgarbage()
  if mode == "stopped" then collectgarbage "stop" end
end

local function frames(call, input, times)
  local clock, result = damo.clock, nil
  for i = 1, FRAMES do
    local start = clock()
    result = call(input)
    times[i] = clock() - start
  end
  return result
end

local function measure(mode, way)
  local world = {} -- 1,000 tables of 200
  for i = 1, 1000 do
    world[i] = {}
    for j = 1, 200 do world[i][j] = { j } end
  end
  local f, input = network()
  local call = way == "into" and f:into(damo.zeros { 32, 16 }) or f
  local times = damo.zeros(FRAMES, "int64") -- not a table, which the collector would traverse
  call(input)
  set_collector(mode)
  local result = frames(call, input, times)
  local memory = damo.memory()
  collectgarbage "restart"
  times = damo.sort(times):totable()
  local function at(p) return times[math.max(1, math.ceil(p * FRAMES))] / 1000 end
  print(("%-12s %-6s %9.1f %9.1f %9.1f %9.1f %9.1f"):format(mode, way, at(0.5), at(0.99), at(0.999), at(1),
    memory.peak / 2 ^ 20))
  assert(#world == 1000 and result.size == 512)
end

-- Nanoseconds of one call of x * x + 1 into a 0-d Array, in a hot loop.
local function small_call()
  local x, a, n = damo.dscalar "x", damo.array(3.0), 1000000
  local into = damo.compile({ x }, x * x + 1):into(damo.array(0.0))
  local function loop()
    for _ = 1, n do into(a) end
  end
  loop()
  local start = damo.clock()
  loop()
  return (damo.clock() - start) / n
end

if arg and arg[2] then
  measure(arg[2], arg[3])
else
  print(("%d frames, in microseconds; peak: native memory in MB"):format(FRAMES))
  print(("%-12s %-6s %9s %9s %9s %9s %9s"):format("collector", "call", "p50", "p99", "p99.9", "max", "peak"))
  for _, mode in ipairs(MODES) do
    for _, way in ipairs { "call", "into" } do
      os.execute(("%s %s %d %s %s"):format(arg[-1], arg[0], FRAMES, mode, way))
    end
  end
  local front = small_call()
  damo.config.sandbox = true -- shuts LuaJIT's way through the ffi
  print(("x * x + 1 into a 0-d Array: %.0f ns a call; through the C API %.0f ns"):format(front, small_call()))
end

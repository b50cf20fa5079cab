-- luacheck: std max
-- Garbage in specs: freeing what nothing holds, and counting what calls make.
local damo = require "damo"

local garbage = {}

--- Frees all that nothing holds, and gives what damo still has, as `damo.memory()`. Each round frees what the
--- finalizers of the round before let go. A trace of LuaJIT holds the functions and the values that it was compiled
--- for, as constants, so the traces go first.
function garbage.collect()
  if jit then jit.flush() end
  for _ = 1, 3 do collectgarbage() end
  return damo.memory()
end

--- Kilobytes of Lua memory that each call of `run` makes. LuaJIT's traces are Lua memory too, and nothing tells when
--- one is compiled: so it is the least of 20 calls.
function garbage.made(run)
  run()
  garbage.collect()
  run() -- a collection may have shrunk the stack
  local least = math.huge
  collectgarbage "stop"
  local ok, why = pcall(function()
    for _ = 1, 20 do
      local before = collectgarbage "count"
      run()
      least = math.min(least, collectgarbage "count" - before)
    end
  end)
  collectgarbage "restart"
  if not ok then error(why, 0) end
  return least
end

return garbage

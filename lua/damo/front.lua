--- Calls of f:into through LuaJIT's ffi: traces run through them. Loaded where jit and ffi are there; the core says
-- which calls may go this way, and makes all others itself (src/lua/function/front.c).
local core = require "damo.core"
if not core.ffi then return false end -- another Lua
local ffi = require "ffi"

-- The userdata that the core knows. A pointer to one of these may be given to C; any other value goes the other way.
local known = setmetatable({}, { __mode = "k" })
local is_known = core.ffi.known
local calls

local function learn(a, b, c)
  if a ~= nil and is_known(a) then known[a] = true end
  if b ~= nil and is_known(b) then known[b] = true end
  if c ~= nil and is_known(c) then known[c] = true end
end

-- wrap[n](closure, call, out): f:into's closure of n inputs. `out` is what a call returns, false: the number computed.
local wrap = {}

wrap[1] = function(closure, call, out)
  local into, result = calls.into1, calls.result
  return function(a, ...)
    if known[a or 0] and select("#", ...) == 0 and into(call, a) then return out or result(call) end
    learn(a)
    return closure(a, ...)
  end
end

wrap[2] = function(closure, call, out)
  local into, result = calls.into2, calls.result
  return function(a, b, ...)
    if known[a or 0] and known[b or 0] and select("#", ...) == 0 and into(call, a, b) then
      return out or result(call)
    end
    learn(a, b)
    return closure(a, b, ...)
  end
end

wrap[3] = function(closure, call, out)
  local into, result = calls.into3, calls.result
  return function(a, b, c, ...)
    if known[a or 0] and known[b or 0] and known[c or 0] and select("#", ...) == 0 and into(call, a, b, c) then
      return out or result(call)
    end
    learn(a, b, c)
    return closure(a, b, c, ...)
  end
end

calls = core.ffi.front(function(closure, call, n, out) return wrap[n](closure, call, out) end)
for name, row in pairs(calls) do calls[name] = ffi.cast(row[1], row[2]) end

return true

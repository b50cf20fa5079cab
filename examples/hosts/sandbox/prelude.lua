-- luacheck: std max, ignore 121 122 142 143
-- prelude: makes what a script of someone else may use. It runs once, before any of them, with the libraries that the
-- host opened (base, package, string, table, math, coroutine), and returns the function that the host calls:
-- run(text, name) gives true and what the script returns, or false and a message.

-- damo's own files call `require` when a part is first used: it finds what the host has put into package.preload alone.
local preload = package.preload
local searchers = package.searchers or package.loaders
for i = #searchers, 2, -1 do searchers[i] = nil end
package.path, package.cpath, package.loadlib = "", "", nil
for name in pairs(preload) do require(name) end
local damo = require "damo"
if jit then jit.off() end -- luacheck: ignore (compiled traces would not count instructions)

-- ---- Text without addresses -----------------------------------------------------------------------------------------

local raw_text, type, getmetatable, rawget, error = tostring, type, getmetatable, rawget, error
local format, find, gsub = string.format, string.find, string.gsub
local unpack, select, concat = table.unpack or unpack, select, table.concat

local function text(v)
  local kind = type(v)
  if kind == "function" or kind == "thread" then return kind end
  if kind == "table" then
    local meta = getmetatable(v)
    if type(meta) ~= "table" or rawget(meta, "__tostring") == nil then return kind end
  end
  return raw_text(v)
end

--- string.format, whose %s takes text(v), and that has no %p.
local function safe_format(spec, ...)
  if find(gsub(spec, "%%%%", ""), "%%[^%a]*p") then error("format: %p gives addresses", 2) end
  local args, n = { ... }, select("#", ...)
  for i = 1, n do
    local kind = type(args[i])
    if kind ~= "number" and kind ~= "string" then args[i] = text(args[i]) end
  end
  return format(spec, unpack(args, 1, n))
end

-- ---- The libraries --------------------------------------------------------------------------------------------------

local function copy(library, without)
  local t = {}
  for name, value in pairs(library) do t[name] = value end
  for _, name in ipairs(without) do t[name] = nil end
  return t
end

-- Methods of strings find the same functions.
string.format, string.dump = safe_format, nil
getmetatable("").__metatable = false

local raw_setmetatable, raw_randomseed = setmetatable, math.randomseed

--- A finalizer would run when the host closes the state, outside the count of instructions.
local function safe_setmetatable(t, meta)
  if type(meta) == "table" and rawget(meta, "__gc") ~= nil then error("setmetatable: no finalizers", 2) end
  return raw_setmetatable(t, meta)
end

--- Lua 5.4's gives its seeds, one of which is an address.
local function safe_randomseed(n) raw_randomseed(n or 0) end

local out -- the lines that the running script has printed; damo's files print there too
function print(...) -- luacheck: ignore
  local line = {}
  for i = 1, select("#", ...) do line[i] = text((select(i, ...))) end
  out[#out + 1] = concat(line, "\t")
end

--- Lua would call the handler within the hook that counts instructions, where nothing is counted.
local function safe_xpcall(fn, handler, ...)
  local function handled(ok, ...)
    if ok then return true, ... end
    return false, handler(...)
  end
  return handled(pcall(fn, ...))
end

local function environment()
  local env = {
    _VERSION = _VERSION, assert = assert, error = error, ipairs = ipairs, next = next, pairs = pairs, pcall = pcall,
    rawequal = rawequal, rawget = rawget, rawlen = rawlen, rawset = rawset, select = select, tonumber = tonumber,
    type = type, unpack = unpack, xpcall = safe_xpcall, getmetatable = getmetatable,
    setmetatable = safe_setmetatable, tostring = text,
    string = copy(string, {}), table = copy(table, {}), coroutine = copy(coroutine, {}),
    math = copy(math, {}), damo = damo, print = print,
  }
  env.math.randomseed = safe_randomseed
  env._G = env
  return env
end

-- ---- Running --------------------------------------------------------------------------------------------------------

local load_text, set_environment = loadstring or load, setfenv -- luacheck: ignore
local byte = string.byte

-- Nothing of this is a global of the state any longer: damo's files are left with what scripts have too.
for _, name in ipairs { "load", "loadstring", "loadfile", "dofile", "collectgarbage", "setfenv", "getfenv",
  "newproxy", "module", "jit", "gcinfo" } do
  _G[name] = nil
end
setmetatable = safe_setmetatable -- luacheck: ignore
tostring = text -- luacheck: ignore

return function(code, name)
  if byte(code) == 27 then return false, "bytecode is not loaded" end
  out = {}
  local env = environment()
  local chunk, why
  if set_environment then
    chunk, why = load_text(code, "=" .. name)
    if chunk then set_environment(chunk, env) end
  else
    chunk, why = load_text(code, "=" .. name, "t", env)
  end
  if not chunk then return false, why end
  local ok, result = pcall(chunk)
  if ok then return true, result end
  local has_text, message = pcall(text, result) -- a script's __tostring may fail
  return false, has_text and message or "an error without a text"
end

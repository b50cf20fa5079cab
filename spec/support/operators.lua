-- The operators that Lua 5.1 and LuaJIT lack, as functions. On a Lua that has them they are the operators themselves,
-- and else the functions that docs/luas.md names in their place.
local damo = require "damo"

local load_text = loadstring or load -- luacheck: ignore

local function operator(expression, instead)
  return load_text("local a, b = ...; return " .. expression) or instead
end

return {
  floor_div = operator("a // b", damo.floor_div),
  and_ = operator("a & b", damo.and_),
  or_ = operator("a | b", damo.or_),
  xor = operator("a ~ b", damo.xor),
  invert = operator("~a", damo.invert),
}

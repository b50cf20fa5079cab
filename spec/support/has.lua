-- What the running Lua has of what damo uses where it is there (docs/luas.md).
return {
  --- Integers as a subtype of numbers.
  integers = tostring(1.0) == "1.0",
  --- `<` of an object and a number calls the object's metamethod.
  mixed_order = pcall(function()
    return setmetatable({}, { __lt = function() return true end }) < 1
  end),
  --- ipairs reads through a metatable.
  ipairs_of_objects = pcall(ipairs, io.stdout),
  --- pairs asks the object's metatable.
  pairs_of_objects = pcall(pairs, setmetatable({}, { __pairs = error })) == false,
  --- debug.getupvalue shows the upvalues of functions in C.
  upvalues_of_c = debug.getupvalue(string.gmatch("", ""), 1) ~= nil,
  --- Native code can tell the parameters of a function in Lua.
  parameters = _VERSION ~= "Lua 5.1", -- luacheck: ignore
  --- Native code can tell whether the collector is stopped.
  stopped_collector = jit ~= nil or _VERSION ~= "Lua 5.1", -- luacheck: ignore
  --- Collectors that can be chosen.
  generational = _VERSION == "Lua 5.4",
}

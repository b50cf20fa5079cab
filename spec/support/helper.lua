-- luacheck: std max
-- What busted loads before the specs (.busted): the libraries for specs on an older Lua, and the collector's mode, in
-- DAMO_GC: `aggressive` or `generational` (make test GC=...).

if not math.type then
  local env = require "spec.support.older_lua"
  require("busted").subscribe({ "file", "start" }, function(file)
    file.env = {}
    for name, value in pairs(env) do file.env[name] = value end
    return nil, true
  end)

  table.insert(package.loaders, 2, function(name)
    if not name:find "^spec%." then return nil end
    local chunk, why = loadfile(name:gsub("%.", "/") .. ".lua")
    return chunk and setfenv(chunk, env) or why
  end)
end

local mode = os.getenv "DAMO_GC"
if mode == "aggressive" then
  collectgarbage("setpause", 0)
  collectgarbage("setstepmul", 1000)
elseif mode == "generational" then
  collectgarbage "generational"
elseif mode and mode ~= "" then
  error("DAMO_GC is aggressive or generational, not '" .. mode .. "'")
end

-- installed.lua: the snippets of the pages and the examples (spec/smoke.lua) on the damo that this Lua finds: of a rock
-- or an installation, else of the checkout that was built. `luarocks test` runs it.

local function first_file(name, paths)
  for template in paths:gmatch "[^;]+" do
    local path = template:gsub("%?", (name:gsub("%.", "/")))
    local file = io.open(path)
    if file then
      file:close()
      return path
    end
  end
end

local function quoted(s) return "'" .. s:gsub("'", [['\'']]) .. "'" end

local path, cpath = package.path, package.cpath
if not first_file("damo.core", cpath) then
  local here = io.popen("pwd"):read()
  path = ("%s/lua/?.lua;%s/lua/?/init.lua;%s"):format(here, here, path)
  cpath = ("%s/build/release/lua/?.so;%s"):format(here, cpath)
end
local core = first_file("damo.core", cpath)
if not core then
  print "installed: damo is not found; with a tree of luarocks: eval \"$(luarocks --tree TREE path)\""
  os.exit(1)
end
print("installed: " .. core)
local settings = ("LUA_PATH=%s LUA_CPATH=%s DAMO_BUILT_CORE=%s"):format(quoted(path), quoted(cpath), quoted(core))
local result = os.execute(("env %s %s spec/smoke.lua"):format(settings, quoted(arg[-1] or "lua5.4")))
os.exit(result == true or result == 0)

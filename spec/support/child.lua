-- child(script, {env =, libraries =}): runs the script in a new Lua process; returns its output, standard error
-- included,
-- and whether it succeeded. env: words before the command, "PATH=/x:$PATH".

local function quoted(s) return "'" .. s:gsub("'", [['\'']]) .. "'" end

return function(script, env)
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  file:write(script)
  file:close()
  local pipe = assert(io.popen(("%s %s %s 2>&1"):format(env or "", quoted(arg and arg[-1] or "lua5.4"), path)))
  local out = pipe:read "a"
  local ok = pipe:close()
  os.remove(path)
  return out, ok == true
end

-- with_folder(fn): calls fn with the path of a new empty folder, which is removed with its contents afterwards.

local function quoted(s) return "'" .. s:gsub("'", [['\'']]) .. "'" end

return function(fn)
  local dir = os.tmpname()
  os.remove(dir)
  assert(os.execute("mkdir " .. quoted(dir)))
  local ok, err = pcall(fn, dir)
  os.execute("chmod -R u+w " .. quoted(dir) .. "; rm -r " .. quoted(dir))
  if not ok then error(err, 0) end
end

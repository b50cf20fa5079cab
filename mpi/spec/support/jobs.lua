-- Jobs of several ranks that a spec starts and looks at from outside. For specs that run without mpirun: an mpirun
-- inside of another's rank is not a thing that MPI provides for.
local jobs = {}

local function write(path, text)
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
end

jobs.write = write

function jobs.read(path)
  local file = io.open(path, "rb")
  local text = file and file:read "*a"
  if file then file:close() end
  return text
end

--- A new, private folder.
function jobs.folder()
  local pipe = assert(io.popen "mktemp -d")
  local folder = pipe:read "*l"
  pipe:close()
  return folder
end

function jobs.remove(folder) os.execute("rm -rf '" .. folder .. "'") end

--- Runs a script, given as text, on so many ranks; gives the exit status (nil: it hung) and all output.
-- `launch`: through damo.mpi.launch. `arguments`: of the script, as the shell reads them. `setting`: of the
-- environment, NAME=value.
function jobs.run(ranks, script, launch, arguments, setting)
  local folder = jobs.folder()
  local path, out = folder .. "/script.lua", folder .. "/out"
  write(path, script)
  local lua = os.getenv "LUA" or "lua5.4"
  -- dash's `$?` through a file, since os.execute gives it in a form of its own on each Lua.
  local command = "%s timeout -k 5 100 sh mpi/launch %d %s %s '%s' %s >'%s' 2>&1 </dev/null; echo $? >'%s.status'"
  local module = launch and "-ldamo.mpi.launch" or ""
  os.execute(command:format(setting or "", ranks, lua, module, path, arguments or "x", out, out))
  local status, text = tonumber(jobs.read(out .. ".status")), jobs.read(out)
  jobs.remove(folder)
  if status == 124 or status == 137 and text == "" then status = nil end
  return status, text
end

return jobs

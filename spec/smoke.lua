-- smoke.lua: a short test for LuaJIT, Lua 5.1 and 5.3. The module that was just built loads, the snippets of
-- the pages run, and so do the examples. Ends with `N passed, N failed`; `make smoke LUA=jit` runs it.
--
-- It runs on every Lua that damo supports, so it uses only their common subset, and no busted.

local interpreter = arg[-1]
local unpack = table.unpack or unpack -- luacheck: ignore
local load_text = loadstring or load -- luacheck: ignore
local old = not math.type -- Lua 5.1 and LuaJIT: no integers, no operators // and <<, no table.unpack
local passed, failed = 0, 0

local function report(ok, name, why)
  if ok then
    passed = passed + 1
    return
  end
  failed = failed + 1
  print("not ok: " .. name .. "\n" .. tostring(why))
end

local function read(path)
  local file = assert(io.open(path))
  local text = file:read "*a"
  file:close()
  return text
end

-- ---- The module under test ------------------------------------------------------------------------------------------

--- The first file on package.cpath that damo.core would be loaded from.
local function found_core()
  for template in package.cpath:gmatch "[^;]+" do
    local path = template:gsub("%?", "damo/core")
    local file = io.open(path)
    if file then
      file:close()
      return path
    end
  end
end

report(found_core() == os.getenv "DAMO_BUILT_CORE", "the module under test", found_core())
report(pcall(require, "damo"))
if failed > 0 then
  print(("%d passed, %d failed"):format(passed, failed))
  os.exit(1)
end

-- ---- The pages ------------------------------------------------------------------------------------------------------

--- Functions of Lua 5.4's libraries that the pages use, for the snippets only.
local shared = setmetatable({
  print = function(...) for i = 1, select("#", ...) do tostring((select(i, ...))) end end,
  table = setmetatable({ unpack = unpack }, { __index = table }),
}, { __index = _G })

local function run_snippet(name, code)
  local chunk, why = load_text(code, "@" .. name)
  if not chunk then
    -- A snippet may fail to load only because of Lua 5.4's syntax.
    local newer = code:find("<close>", 1, true) or code:find("<const>", 1, true)
      or old and (code:find("//", 1, true) or code:find("<<", 1, true))
    if newer then print("left out: " .. name .. ", written in syntax of a newer Lua") else report(false, name, why) end
    return
  end
  if setfenv then setfenv(chunk, shared) else debug.setupvalue(chunk, 1, shared) end -- luacheck: ignore
  local ok, err = pcall(chunk)
  report(ok, name, err)
end

local latching = {} -- snippets that make the context a sandbox, which cannot be undone: they run last

local function run_page(path)
  local number, block, start = 0, nil, nil
  for line in io.lines(path) do
    number = number + 1
    if line:match "^```lua" then
      block, start = {}, number
    elseif line:match "^```" and block then
      local name, code = path .. ":" .. start, table.concat(block, "\n")
      if code:find("config.sandbox = true", 1, true) then
        latching[#latching + 1] = { name, code }
      elseif not code:find('require "damo.mpi"', 1, true) then -- these run in mpi/spec/pages_spec.lua
        run_snippet(name, code)
      end
      block = nil
    elseif block then
      block[#block + 1] = line
    end
  end
end

run_page "README.md"
local pages = assert(io.popen "ls docs/*.md")
for path in pages:lines() do run_page(path) end
pages:close()
for _, snippet in ipairs(latching) do run_snippet(snippet[1], snippet[2]) end

-- ---- The examples ---------------------------------------------------------------------------------------------------

local folder = assert(io.popen "mktemp -d"):read "*l"

--- Runs an example in its own process with a time limit; it must succeed and print each of the texts.
local function run_example(command, ...)
  local log = folder .. "/log"
  local status = os.execute(("timeout 300 '%s' examples/%s >'%s' 2>&1"):format(interpreter, command, log))
  local out = read(log)
  local ok = status == true or status == 0
  for i = 1, select("#", ...) do ok = ok and out:find((select(i, ...))) end
  report(ok, "examples/" .. command, out)
end

run_example("digits.lua " .. folder, "network: test accuracy 0%.9", "the same accuracy")
run_example("lorenz.lua 200 " .. folder, "lorenz: state")
run_example("custom_op.lua", "the gradient agrees with finite differences")
run_example("sms.lua " .. folder, "of 1114 test messages right")
run_example("filterbank.lua " .. folder, "a period of 11.04 years")
run_example("poisson2d.lua " .. folder, "2304 unknowns")
run_example("gmrf.lua " .. folder, "a period of 1[0-3]")
os.execute("rm -r '" .. folder .. "'")

print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0 and 0 or 1)

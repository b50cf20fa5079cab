-- Every Lua snippet of README.md and of the pages in docs/ runs; one that makes the context a sandbox in its own
-- process.
local child = require "spec.support.child"
local has = require "spec.support.has"

local function snippets(path)
  local found, line_number, block, start = {}, 0, nil, nil
  for line in io.lines(path) do
    line_number = line_number + 1
    if line:match "^```lua" then
      block, start = {}, line_number
    elseif line:match "^```" and block then
      local code = table.concat(block, "\n")
      -- What needs damo-mpi runs in mpi/spec/pages_spec.lua.
      if not code:find('require "damo.mpi"', 1, true) then found[#found + 1] = { code = code, line = start } end
      block = nil
    elseif block then
      block[#block + 1] = line
    end
  end
  return found
end

local pages = { "README.md" }
for path in io.popen("ls docs/*.md 2>/dev/null"):lines() do pages[#pages + 1] = path end

describe("the pages", function()
  for _, path in ipairs(pages) do
    for _, snippet in ipairs(snippets(path)) do
      it(("%s: the snippet at line %d runs"):format(path, snippet.line), function()
        if snippet.code:find("config.sandbox = true", 1, true) then
          local out, ok = child(snippet.code)
          return assert.is_true(ok, out)
        end
        local env = setmetatable({ print = function(...)
          for i = 1, select("#", ...) do tostring((select(i, ...))) end
        end }, { __index = _G })
        local chunk, why = load(snippet.code, "@" .. path .. ":" .. snippet.line, "t", env)
        if not chunk and not has.integers and snippet.code:find "//" then return pending "written with // or <<" end
        assert(chunk, why)()
      end)
    end
  end
end)

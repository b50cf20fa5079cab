-- The generated pages are up to date, and every C program of the pages compiles against libdamo.a and runs.

local has = require "spec.support.has"
local damo = require "damo"

local function read(path)
  local file = assert(io.open(path))
  local text = file:read "a"
  file:close()
  return text
end

describe("a generated file", function()
  local made = dofile "docs/generate.lua"
  for _, path in ipairs {
    "docs/functions.md", "docs/mistakes.md", "docs/pytensor_names.md", "docs/numpy_names.md",
    "docs/torch_names.md", "lua/damo/meta.lua", "lua/damo/help_names.lua",
  } do
    it(path .. " is what `make docs` writes", function()
      if path == "docs/mistakes.md" and not has.mixed_order then
        return pending "the messages of one mistake are those of Lua 5.2 and later"
      end
      assert.is_true(made[path] == read(path), path .. " is out of date: run `make docs`")
    end)
  end

  it("says at its head how it is generated", function()
    for path, text in pairs(made) do
      assert.is_truthy(text:sub(1, 200):find("Written by docs/generate.lua", 1, true), path)
    end
  end)

  it("meta.lua is Lua", function() assert.is_function(load(made["lua/damo/meta.lua"], "@meta.lua")) end)

  it("meta.lua declares every function of damo and its core modules", function()
    local meta, missing = made["lua/damo/meta.lua"], {}
    local function look(owner, functions)
      for name, value in pairs(functions) do
        if type(value) == "function" and not meta:find(("\nfunction %s.%s("):format(owner, name), 1, true) then
          missing[#missing + 1] = owner .. "." .. name
        end
      end
    end
    look("damo", damo)
    for _, name in ipairs { "random", "graph", "rewrite", "printing", "io", "sparse" } do look(name, damo[name]) end
    table.sort(missing)
    assert.equal("", table.concat(missing, " "))
  end)

  it("meta.lua declares every method made from a row", function()
    local meta = made["lua/damo/meta.lua"]
    for _, row in ipairs(damo.registry()) do
      if row.method and #row.operands > 0 then
        local name = row.name:match "[^.]*$"
        assert.is_truthy(meta:find(("\nfunction Tensor:%s("):format(name), 1, true), row.name)
      end
    end
  end)
end)

-- ---- C --------------------------------------------------------------------------------------------------------------

local function c_blocks(path)
  local found, block, start, line_number = {}, nil, nil, 0
  for line in io.lines(path) do
    line_number = line_number + 1
    if line:match "^```c$" then
      block, start = {}, line_number
    elseif line:match "^```" and block then
      local code = table.concat(block, "\n") .. "\n"
      if code:match "int main%(" then found[#found + 1] = { code = code, line = start } end
      block = nil
    elseif block then
      block[#block + 1] = line
    end
  end
  return found
end

local function run(command)
  local pipe = assert(io.popen(command .. " 2>&1"))
  local out = pipe:read "a"
  local ok, _, code = pipe:close()
  return ok, ("%s\n%s(status %s)"):format(command, out, tostring(code))
end

local core = os.getenv "DAMO_BUILT_CORE"
local build = core and core:match "^(.*)/lua/damo/core%.so$"
local cc = os.getenv "CC" or "gcc"
local sanitize = os.getenv "DAMO_MODE" == "asan" and "-fsanitize=address,undefined " or ""
local flags = "-std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror -pthread -Isrc " .. sanitize
local libs = " $(make -s print-libs 2>/dev/null)"

for path, least in pairs { ["docs/c_api.md"] = 8, ["docs/embedding.md"] = 4, ["docs/sandboxes.md"] = 1 } do
  describe("the C programs of " .. path, function()
    local blocks = c_blocks(path)
    it("exist", function() assert.is_true(#blocks >= least) end)
    for i, block in ipairs(blocks) do
      it(("the one at line %d compiles and succeeds"):format(block.line), function()
        assert(build, "DAMO_BUILT_CORE must name the built damo/core.so")
        -- Lua 5.1's library lacks them, and docs/luas.md has what to write for it.
        if _VERSION == "Lua 5.1" and (block.code:find "luaL_getsubtable" or block.code:find "luaL_requiref") then
          return pending "written for Lua 5.2 and later"
        end
        local stem = ("%s/docs_%s_%d"):format(build, path:match "(%w+)%.md$", i)
        local file = assert(io.open(stem .. ".c", "w"))
        file:write(block.code)
        file:close()
        local needs_lua = block.code:find("#include <lua.h>", 1, true)
        local extra = needs_lua and " $(pkg-config --cflags --libs lua" .. _VERSION:match "%d%.%d" .. ")" or ""
        local opens = not block.code:find("int main", 1, true) and block.code:match "int (luaopen_[%w_]+)"
        if opens then -- a Lua module
          local shared = "env -u LD_PRELOAD %s %s -shared -fPIC %s.c -o %s.so%s"
          assert(run(shared:format(cc, flags, stem, stem, extra:gsub("%-%-libs ", ""))))
          assert(assert(package.loadlib(stem .. ".so", opens))())
          return
        end
        local command = "env -u LD_PRELOAD %s %s %s.c -o %s %s/libdamo.a%s%s"
        assert(run(command:format(cc, flags, stem, stem, build, extra, libs)))
        -- Without libraries that are preloaded for Lua. The programs of c_api.md write files where they run.
        local folder = path == "docs/c_api.md" and build or "."
        assert(run(("cd '%s' && env -u LD_PRELOAD '%s'"):format(folder, stem)))
      end)
    end
  end)
end

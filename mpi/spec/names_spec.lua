-- docs/mpi.md and meta.lua, which editors read, have every public name of damo.mpi, and no other.
local mpi = require "damo.mpi"

local file = assert(io.open "docs/mpi.md")
local page = file:read "*a"
file:close()

-- Names in the page's text and snippets: mpi.name.
local function named(prefix)
  local names = {}
  for before, name in page:gmatch("(.)" .. prefix:gsub("%.", "%%.") .. "([%a_][%w_]*)") do
    if not before:match "[%w_./]" then names[name] = true end
  end
  return names
end

local function sorted(list)
  table.sort(list)
  return table.concat(list, " ")
end

describe("docs/mpi.md", function()
  it("documents every name of damo.mpi", function()
    local names, missing = named "mpi.", {}
    for name in pairs(mpi) do
      if not names[name] then missing[#missing + 1] = name end
    end
    assert.are.equal("", sorted(missing))
  end)

  it("has no name that damo.mpi lacks", function()
    local wrong = {}
    for name in pairs(named "mpi.") do
      local is_file = name == "md" or name == "safetensors"
      if mpi[name] == nil and not is_file then wrong[#wrong + 1] = name end
    end
    assert.are.equal("", sorted(wrong))
  end)

  it("documents every setting", function()
    local names = named "mpi.config."
    local ok, err = pcall(function() return mpi.config.none end)
    assert.is_false(ok)
    for name in err.message:match "it has (.*)$":gmatch "[%a_]+" do assert.is_true(names[name], name) end
  end)
end)

describe("meta.lua", function()
  local meta = assert(io.open(assert(package.searchpath("damo.mpi.meta", package.path))))
  local text = meta:read "*a"
  meta:close()

  it("has every name of damo.mpi", function()
    local missing = {}
    for name in pairs(mpi) do
      local is_there = text:find(("\nfunction mpi.%s("):format(name), 1, true)
        or text:match "\n%-%-%-@class damo%.mpi\n(.-)\nlocal mpi":find(("---@field %s "):format(name), 1, true)
      if not is_there then missing[#missing + 1] = name end
    end
    assert.are.equal("", sorted(missing))
  end)

  it("has no name that damo.mpi lacks, and a note for each parameter", function()
    local block = {}
    for line in text:gmatch "[^\n]+" do
      local name, params = line:match "^function mpi%.([%w_]+)%((.-)%)"
      if name then
        assert(mpi[name] ~= nil, "there is no mpi." .. name)
        local notes = table.concat(block, "\n")
        for param in params:gmatch "[%w_%.]+" do
          assert(notes:find("---@param " .. param, 1, true), ("mpi.%s: %s has no note"):format(name, param))
        end
      end
      if line:find "^%-%-%-" then block[#block + 1] = line else block = {} end
    end
  end)
end)

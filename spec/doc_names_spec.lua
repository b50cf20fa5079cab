-- Every public name is documented on a page that can be reached from the README, and what the pages say of names is
-- true.
local damo = require "damo"
local has = require "spec.support.has"

-- ---- The pages ------------------------------------------------------------------------------------------------------

local function read(path)
  local file = io.open(path)
  if not file then return nil end
  local text = file:read "a"
  file:close()
  return text
end

-- "docs/a.md" and "../README.md#x" → "README.md".
local function resolved(from, link)
  local path = (from:match "^(.*/)" or "") .. link:gsub("#.*$", "")
  local before
  repeat
    before = path
    path = path:gsub("[^/]+/%.%./", "", 1)
  until path == before
  return path
end

local pages = {}
local function follow(path)
  local text = not pages[path] and read(path)
  if not text then return end
  pages[path] = text
  for link in text:gmatch "%]%(([^)%s]+)%)" do
    if link:match "%.md$" or link:match "%.md#" then follow(resolved(path, link)) end
  end
end
follow "README.md"

local all = {}
for path, text in pairs(pages) do
  local is_list = path == "docs/pytensor_names.md" or path == "docs/numpy_names.md" -- of names alone
  if not is_list then all[#all + 1] = text end
end
all = table.concat(all, "\n")

-- Whether the text contains it as a whole word.
local function stands(text)
  local from = 1
  while true do
    local i, j = all:find(text, from, true)
    if not i then return false end
    if not all:sub(i - 1, i - 1):match "[%w_]" and not all:sub(j + 1, j + 1):match "[%w_]" then return true end
    from = i + 1
  end
end

local function report(missing)
  table.sort(missing)
  assert.equal("", table.concat(missing, " "))
end

-- ---- Names ----------------------------------------------------------------------------------------------------------

local submodules = {
  "sparse", "linalg", "fft", "nn", "random", "tree", "graph", "rewrite", "printing", "io", "optim", "plot", "progress",
}

describe("the pages", function()
  it("can all be reached from the README", function()
    local missing = {}
    for path in io.popen("ls docs/*.md"):lines() do
      if not pages[path] then missing[#missing + 1] = path end
    end
    report(missing)
  end)

  it("document every name of damo", function()
    local missing = {}
    for name in pairs(damo) do
      if not stands("damo." .. name) then missing[#missing + 1] = "damo." .. name end
    end
    report(missing)
  end)

  it("document every name of the submodules", function()
    local missing = {}
    for _, home in ipairs(submodules) do
      for name in pairs(damo[home]) do
        local path = ("damo.%s.%s"):format(home, name)
        if not stands(path) then missing[#missing + 1] = path end
      end
    end
    report(missing)
  end)

  it("document every distribution", function()
    local missing = {}
    for name in pairs(damo.dist) do
      local is_constructor = name:match "^%u"
      if is_constructor and not (pages["docs/distributions.md"] or ""):find("`" .. name .. "(", 1, true) then
        missing[#missing + 1] = name
      end
    end
    report(missing)
  end)

  it("document every setting", function()
    local missing = {}
    for name in pairs(damo.config) do
      if not stands("damo.config." .. name) then missing[#missing + 1] = name end
    end
    if not stands "damo.config.on_warning" then missing[#missing + 1] = "on_warning" end
    report(missing)
  end)
end)

-- ---- Fields and methods ---------------------------------------------------------------------------------------------

-- The names that an object has: the keys of the tables behind its __index.
local function members(object)
  local names, seen = {}, {}
  local function look(fn)
    if seen[fn] then return end
    seen[fn] = true
    for i = 1, 60 do
      local name, value = debug.getupvalue(fn, i)
      if name == nil then break end
      if type(value) == "function" then look(value) end
      for key in pairs(type(value) == "table" and value or {}) do
        if type(key) == "string" then names[key] = true end
      end
    end
  end
  local index = debug.getmetatable(object).__index
  if type(index) == "function" then look(index) end
  for key in pairs(type(index) == "table" and index or {}) do names[key] = true end
  return names
end

local x = damo.dvector "x"
local objects = {
  Array = damo.ones { 2 }, Sparse = damo.sparse.eye(2), Variable = x, Type = x.type, Apply = damo.exp(x).owner,
  Op = damo.exp(x).owner.op, FunctionGraph = damo.graph.FunctionGraph({ x }, { damo.exp(x) }),
  Function = damo.compile({ x }, x * 2), Factor = damo.sparse.factorize(damo.sparse.eye(2)),
  RandomStream = damo.random.RandomStream(1),
}
local methods = {} -- of op functions: functions.md documents these
for _, row in ipairs(damo.registry()) do
  if row.method or row.random then methods[row.name:match "[^.]*$"] = true end
end

-- The part of docs/objects.md under "## kind".
local function section(kind)
  local text = pages["docs/objects.md"] or ""
  return (text:match("\n## " .. kind .. "\n(.-)\n## ") or text:match("\n## " .. kind .. "\n(.*)$") or "")
end

describe("docs/objects.md", function()
  for kind, object in pairs(objects) do
    it("has every field and method of " .. kind, function()
      local text, missing = section(kind), {}
      for name in pairs(members(object)) do
        local known = methods[name] or text:find("[.:]" .. name .. "%f[^%w_]")
        if not known then missing[#missing + 1] = name end
      end
      report(missing)
    end)

    it("has no field and method that " .. kind .. " lacks", function()
      if not has.upvalues_of_c then return pending "an object's names are upvalues of C functions" end
      local names = members(object)
      for line in section(kind):gmatch "[^\n]+" do
        for name in (line:match "^| ([^|]*)|" or ""):gmatch "`%l[%w]*[.:]([%w_]+)" do
          assert(names[name] or methods[name], ("%s has no '%s'"):format(kind, name))
        end
      end
    end)
  end
end)

-- ---- PyTensor's names ----------------------------------------------------------------------------------------------

-- Modules that are loaded at first access are loaded for it.
local function at_path(path)
  local value = damo
  if path:find "^damo%.dist" then assert(damo.dist) end
  for name in path:gsub("^damo%.?", ""):gmatch "[^.]+" do
    value = type(value) == "table" and rawget(value, name) or nil
  end
  return value
end

describe("docs/pytensor_names.md", function()
  local rows, module = {}, nil
  for line in (pages["docs/pytensor_names.md"] or ""):gmatch "[^\n]+" do
    module = line:match "^## (.*)$" or module
    local name, here = line:match "^| `([^`]*)` | ([^|]*) |"
    if name then rows[#rows + 1] = { module = module, name = name, here = here } end
  end

  it("has several hundred names", function() assert.is_true(#rows > 500) end)

  it("names only existing functions", function()
    for _, row in ipairs(rows) do
      for path in row.here:gmatch "`(damo%.[%w_.]+)" do
        assert(at_path(path) ~= nil, ("%s: there is no %s"):format(row.name, path))
      end
    end
  end)

  it("says 'not there yet' only of names that do not exist", function()
    for _, row in ipairs(rows) do
      local home = row.module:match "%.(%w+)$"
      if row.here == "not there yet" and row.module ~= "pytensor.graph.op.Op, its members" then
        for _, path in ipairs { home and ("damo.%s.%s"):format(home, row.name) or "", "damo." .. row.name } do
          local shared = home == "random" or home == "linalg" -- names with another meaning in damo itself
          assert(path == "" or (shared and path == "damo." .. row.name) or at_path(path) == nil, path .. " is there")
        end
      end
    end
  end)
end)

describe("docs/from_pytensor.md", function()
  it("names only existing functions", function()
    for path in (pages["docs/from_pytensor.md"] or ""):gmatch "`(damo%.[%w_.]+)" do
      if not path:find("^damo%.config") then
        assert(at_path((path:gsub("%.$", ""))) ~= nil, "there is no " .. path)
      end
    end
  end)
end)

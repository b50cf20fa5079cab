-- Every Op class names the check that DEBUG mode does for it (graph/op_check.h), or the reason why there is none.
-- spec/c/check_test.c, which has a graph for each class with a check, tests that the checks find broken results.

local function read(path)
  local file = assert(io.open(path))
  local text = file:read "a"
  file:close()
  return text
end

local function sources(folder)
  local list, pipe = {}, assert(io.popen("find " .. folder .. " -name '*.c' | sort"))
  for path in pipe:lines() do list[#list + 1] = path end
  pipe:close()
  return list
end

-- The text of the macro of that name in a file, with its continuation lines.
local function macro(text, name)
  local from = text:find("#define " .. name .. "(", 1, true)
  if not from then return "" end
  local lines = {}
  for line in (text:sub(from) .. "\n"):gmatch "([^\n]*)\n" do
    lines[#lines + 1] = line
    if line:sub(-1) ~= "\\" then break end
  end
  return table.concat(lines, "\n")
end

--- The classes defined in a C file: the initializer of each, with the macros that it uses, and its location.
local function classes(path)
  local found, text = {}, read(path)
  local function add(symbol, body)
    for name in body:gmatch "%f[%w_](%u[%u%d_]+)%(" do body = body .. macro(text, name) end
    found[#found + 1] = { place = path .. ": " .. symbol, text = body, name = body:match '%.name = "([%w_]+)"' }
  end
  for symbol, body in text:gmatch "op_def ([%w_]+)[%w_%[%]]* = (%b{})" do add(symbol, body) end
  for symbol, body in text:gmatch "op_def ([%w_]+) = (%u+%b())" do add(symbol, body) end
  for symbol, body in text:gmatch "([%w_>%-]+) = %(op_def%)(%b{})" do add(symbol, body) end
  return found
end

describe("every Op class", function()
  local all = {}
  for _, folder in ipairs { "src/op", "src/api" } do
    for _, path in ipairs(sources(folder)) do
      for _, class in ipairs(classes(path)) do all[#all + 1] = class end
    end
  end

  it("has a check, or a reason why there is none", function()
    local bare = {}
    for _, class in ipairs(all) do
      local check, reason = class.text:find "OP_CHECK%([%w_]+%)", class.text:find '%.no_check = "%a[^"]+"'
      if (check ~= nil) == (reason ~= nil) then bare[#bare + 1] = class.place end
    end
    assert.equal("", table.concat(bare, "\n"))
    assert.is_true(#all > 130, #all .. " classes found")
  end)

  it("whose reason names a file names an existing one", function()
    for _, class in ipairs(all) do
      local path = class.text:match '%.no_check = "[^"]-(spec/[%w_/]+%.lua)'
      if path then read(path) end
    end
  end)

  it("of sparse matrices with a check has a graph to break", function()
    local graphs, missing = {}, {}
    for _, row in ipairs(require("spec.sparse.class_graphs").rows) do graphs[row[1]] = true end
    for _, class in ipairs(all) do
      local sparse = class.place:find("src/op/sparse", 1, true) and class.text:find("OP_CHECK", 1, true)
      if sparse and class.name and not graphs[class.name] then missing[#missing + 1] = class.name end
    end
    assert.equal("", table.concat(missing, " "))
  end)
end)

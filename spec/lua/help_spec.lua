-- damo.help: what it says of names, functions, objects and words. Each example that it shows is run, and must give what
-- it shows.
local damo = require "damo"
local failure = require "spec.support.failure"

local function has(text, pattern) assert.is_truthy(text:find(pattern), pattern .. "\n" .. text) end
local load_text = loadstring or load -- luacheck: ignore

local function help(x) return damo.help(x, { file = "str" }) end

local labels = { "call", "options", "shapes", "gradient", "example", "see also" }

-- The part of a page under a label, as lines.
local function part(page, label)
  local lines, inside = {}, false
  for line in (page .. "\n"):gmatch "([^\n]*)\n" do
    local head, rest = line:match "^(%l[%l ]-)  +(.*)$"
    if head then inside = head == label elseif line:match "^see also" then inside = false end
    if head and inside then lines[#lines + 1] = rest elseif inside then lines[#lines + 1] = line:sub(11) end
  end
  return lines
end

local function text_of(v)
  if type(v) ~= "table" or getmetatable(v) then return tostring(v) end
  local texts = {}
  for i, item in ipairs(v) do texts[i] = text_of(item) end
  return "{" .. table.concat(texts, ", ") .. "}"
end

local function page_path(row)
  return row.random and not row.name:find(".", 1, true) and "random." .. row.name or row.name
end

describe("damo.help of a row of the registry", function()
  for _, row in ipairs(damo.registry()) do
    it(row.name .. " has each part, and its example gives what it shows", function()
      local page = help(page_path(row))
      for _, label in ipairs(labels) do
        assert.is_truthy(("\n" .. page):find("\n" .. label .. " ", 1, true), label .. "\n" .. page)
      end
      assert.is_truthy(page:find("damo." .. page_path(row) .. ":", 1, true) == 1, page)
      for _, o in ipairs(row.options) do has(page, "\n[ %l]* " .. o.name .. ": ") end
      local code, shown = {}, {}
      for _, line in ipairs(part(page, "example")) do
        local is_result = #shown > 0 or line:match "^%-%-> "
        if is_result then shown[#shown + 1] = line:sub(5) else code[#code + 1] = line end
      end
      assert.is_truthy(code[1]:find "damo[.:]", row.name .. " needs a call in lua/damo/help_examples.lua")
      code[#code] = "return " .. code[#code]
      local chunk = assert(load_text("local damo = require 'damo'\n" .. table.concat(code, "\n")))
      local results, texts = { chunk() }, {}
      if #shown == 0 then return assert.is_truthy(row.random) end -- drawn from the context's own stream
      for i, v in ipairs(results) do texts[i] = text_of(v) end
      local all, page_text = table.concat(texts, "\n"), table.concat(shown, "\n")
      local cut = page_text:find("…", 1, true)
      assert.equal(cut and all:sub(1, cut - 1) or all, cut and page_text:sub(1, cut - 1) or page_text)
    end)
  end
end)

-- Lua 5.1 has no integers: it prints 3.0 as 3, and %.14g of a number everywhere.
local function numbers(text) return _VERSION ~= "Lua 5.1" and text or (text:gsub("(%d)%.0%f[^%w]", "%1")) end

describe("damo.help of a name that is no row", function()
  local paths, seen = {}, {}
  local function add(path)
    if not seen[path] then paths[#paths + 1] = path end
    seen[path] = true
  end
  for _, entry in ipairs(require("damo.help_names").entries) do add(entry[1]) end
  local homes = {
    "", "config", "dist", "fft", "graph", "io", "linalg", "nn", "nn.init", "optim", "plot", "printing", "random",
    "rewrite", "sparse", "tree",
  }
  local rows = {}
  for _, row in ipairs(damo.registry()) do rows["damo." .. page_path(row)] = true end
  for _, home in ipairs(homes) do
    local module = damo
    for name in home:gmatch "[^.]+" do module = module[name] end
    local names = {}
    for name in pairs(type(module) == "table" and module or {}) do names[#names + 1] = name end
    table.sort(names)
    for _, name in ipairs(names) do
      local path = "damo." .. (home == "" and "" or home .. ".") .. name
      if not rows[path] and type(name) == "string" then add(path) end
    end
  end

  for _, path in ipairs(paths) do
    it(path .. " has an example, and it gives what it shows", function()
      local page = help(path)
      if page:find("\nshapes ", 1, true) then return end -- another name of a row
      if page:find "^%u%w*: fields and methods" then return end -- their list; each has its own example
      local lines = part(page, "example")
      assert.is_true(#lines > 0, "no example: lua/damo/help_modules.lua and its likes\n" .. page)
      local code, shown = {}, {}
      for _, line in ipairs(lines) do
        if #shown > 0 or line:match "^%-%-> ?" then shown[#shown + 1] = line:sub(5) else code[#code + 1] = line end
      end
      local text = "local damo = require 'damo'\n" .. table.concat(code, "\n")
      local chunk = not code[#code]:match "^%s*for " and load_text(text:gsub("([^\n]*)$", "return %1", 1))
      local begins = #code
      while not chunk and begins > 1 do -- the expression may be several lines long
        begins = begins - 1
        local before = table.concat(code, "\n", 1, begins - 1)
        chunk = load_text("local damo = require 'damo'\n" .. before .. "\nreturn " .. table.concat(code, "\n", begins))
      end
      chunk = chunk or assert(load_text(text))
      local texts = {}
      local function take(...)
        for i = 1, select("#", ...) do texts[i] = text_of((select(i, ...))) end
      end
      take(chunk())
      local got = (table.concat(texts, "\n") .. "\n"):gsub(" +\n", "\n"):gsub("\n+$", "")
      assert.equal(numbers(table.concat(shown, "\n")), numbers(got))
    end)
  end
end)

describe("damo.help", function()
  it("takes a name with and without damo, a module's name, and a method", function()
    assert.equal(help "dot", help "damo.dot")
    assert.equal(help "dot", help "dot()")
    assert.equal(help "dot", help "x:dot")
    assert.equal(help "solve_triangular", help "linalg.solve_triangular")
    has(help "damo.sparse.dot", "^damo%.sparse%.dot: ")
    has(help "linalg", "damo%.linalg%.svd ")
    has(help "reshape", "x:reshape%(")
  end)

  it("tells of functions that are no rows, with what they take", function()
    local page = help "compile"
    has(page, "damo%.compile%(inputs, outputs, options%)")
    has(page, "example   local x")
    has(help "damo.optim.adam", "`lr` %(0%.001%)")
    has(help "damo.optim.sgd", "options%?%s+table `lr`")
    has(help "damo.plot.lines", "^damo%.plot%.lines: Draws lines%.\n")
    has(help "damo.config.plan_cap", "type      integer")
    has(help "OpDefinition.grad", "type      fun%(self: damo.Op, inputs")
    has(help "nn.init", "damo%.nn%.init%.orthogonal ")
    has(help "damo.newaxis", "a new axis of length 1")
    has(help "Normal", "damo%.dist%.Normal%(mu, sigma%)")
    has(help "Variable:get_value", "call      Variable:get_value")
    has(help "Variable.owner", "the node that computes it")
  end)

  it("takes functions: of modules, and methods", function()
    assert.equal(help "exp", help(damo.exp))
    assert.equal(help "linalg.svd", help(damo.linalg.svd))
    assert.equal(help "sum", help(damo.ones({ 2 }).sum))
    assert.equal(help "grad", help(damo.grad))
    has(help(print), "not damo's")
  end)

  it("takes objects", function()
    local x = damo.dvector "x"
    has(help(x), "^x: a Variable of TensorType%(float64")
    has(help(damo.exp(x)), "damo%.exp: e to the power x")
    has(help(damo.exp(x)), "help_spec%.lua:%d+")
    has(help(damo.exp(x).owner.op), "^Elemwise{exp}: an Op")
    has(help(damo.dot(x, x).owner), "damo%.dot: ")
    has(help(damo.ones { 2, 3 }), "^an Array of float64, shape %(2, 3%)")
    has(help(damo.sparse.eye(2)), "Sparse: fields and methods")
    has(help(damo.compile({ x }, x * 2)), "Function:into")
    has(help(x.type), "^TensorType")
    has(help(damo.linalg), "^damo%.linalg: ")
    has(help(damo), "modules")
    has(help(damo.random.RandomStream(1)), "RandomStream")
    assert.equal(help "Array", (help(damo.ones { 2 }):gsub("^.-\n\n", "")))
  end)

  it("without an argument says what there is", function()
    local page = help(nil)
    has(page, "damo%.linalg")
    has(page, "Trigonometry")
  end)

  it("searches by several words", function()
    local page = help "matrix product"
    has(page, "damo%.dot ")
    has(page, "damo%.matmul ")
    has(help "linear system", "damo%.linalg%.solve ")
    has(help "running sum", "damo%.cumsum ")
    has(help "quite zzzyx unheard", "nothing is found")
  end)

  it("compares no long text with all names: that would take hours", function()
    assert.matches("there is no name", damo.help(("x"):rep(1000000), { file = "str" }))
  end)

  it("suggests near names of an unknown one", function()
    has(help "dto", "there is no name 'dto', did you mean damo%.dot")
    has(help "sofmax", "damo%.softmax")
    has(help "linalg.sovle", "damo%.linalg%.solve")
    has(help "qqqqqqqqqqqq", "there is no name 'qqqqqqqqqqqq'")
  end)

  it("prints, or writes to a file", function()
    local got = {}
    assert.is_nil(damo.help("dot", { file = { write = function(_, text) got[#got + 1] = text end } }))
    assert.equal(help "dot" .. "\n", table.concat(got))
    local print_before, printed = _G.print, nil
    _G.print = function(text) printed = text end
    local ok, err = pcall(damo.help, "dot")
    _G.print = print_before
    assert.is_true(ok, err)
    assert.equal(help "dot", printed)
  end)

  it("refuses what is no name, function or object, and unknown options", function()
    local err = failure("type", damo.help, 3)
    has(err.message, "argument 1 %(x%) must be a name, a function or an object of damo, got number")
    failure("type", damo.help, { 1, 2 })
    failure("value", damo.help, "dot", { fiel = "str" })
    failure("type", damo.help, "dot", { file = 3 })
  end)

  it("has lines that fit a terminal", function()
    for _, name in ipairs { "dot", "sum", "scan", "Array" } do
      for line in help(name):gmatch "[^\n]+" do assert.is_true(#line <= 130, line) end
    end
  end)
end)

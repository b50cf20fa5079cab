-- The annotations for editors, lua/damo/meta.lua: each public name, method, field and operator is declared there with
-- its types, and what is declared is there.

local damo = require "damo"

local function read(path)
  local file = assert(io.open(path))
  local text = file:read "*a"
  file:close()
  return text
end

-- What `make docs` would write; on Lua 5.1, where comparisons of mixed operands raise other errors than the page of
-- mistakes shows, the file itself.
local made_here, made = pcall(dofile, "docs/generate.lua")
assert(made_here or _VERSION == "Lua 5.1", made)
local meta = made_here and made["lua/damo/meta.lua"] or read "lua/damo/meta.lua"

-- ---- What the annotations declare -----------------------------------------------------------------------------------

-- functions["damo.dot"] and ["Array:item"] are {args, params, returns, generics, overload}; classes["damo.Array"] is
-- {fields, operators, overloads, parents}; aliases are texts by name; doubles lists what is declared twice.
local function read_annotations(text)
  local declared = { functions = {}, classes = {}, aliases = {}, doubles = {} }
  local class, tags = nil, {}
  local function fresh() class, tags = nil, { params = {}, returns = {}, generics = {} } end
  fresh()
  for line in text:gmatch "([^\n]*)\n?" do
    local name, args = line:match "^function ([%w_.:]+)(%b()) end$"
    local tag, rest = line:match "^%-%-%-@(%a+)%s*(.*)$"
    if name then
      if declared.functions[name] then declared.doubles[#declared.doubles + 1] = name end
      tags.args = args
      declared.functions[name] = tags
      fresh()
    elseif tag == "class" then
      local parents
      class, parents = rest:match "^([%w_.]+)%s*:?%s*(.*)$"
      declared.classes[class] = { fields = {}, operators = {}, overloads = {}, parents = {} }
      for parent in parents:gmatch "[%w_.]+" do table.insert(declared.classes[class].parents, parent) end
    elseif tag == "alias" then
      declared.aliases[rest:match "^[%w_.]+"] = rest:match "^[%w_.]+%s+(.+)$"
    elseif tag == "field" and class then
      local field, kind = rest:match "^([%w_]+)%??%s+(.+)$"
      if field then declared.classes[class].fields[field] = kind end
    elseif tag == "operator" and class then
      local operator, kind = rest:match "^(%l+)(.*)$"
      declared.classes[class].operators[operator] = kind
    elseif tag == "overload" then
      if class then
        table.insert(declared.classes[class].overloads, rest)
      else
        tags.overload = rest
      end
    elseif tag == "param" then
      local param, kind = rest:match "^([%w_.]+)%??%s+(.+)$"
      if param then tags.params[param] = kind end
    elseif tag == "return" then
      table.insert(tags.returns, rest)
    elseif tag == "generic" then
      for generic in rest:gmatch "(%u%w*)" do table.insert(tags.generics, generic) end
    elseif not line:match "^%-%-" then
      fresh()
    end
  end
  return declared
end

local declared = read_annotations(meta)

local function report(missing)
  table.sort(missing)
  assert.equal("", table.concat(missing, " "))
end

-- Looks in a class and its parents.
local function in_class(class, part, name)
  local entry = declared.classes[class]
  if not entry then return nil end
  local short = class:match "[%w_]+$"
  if entry[part][name] then return entry[part][name] end
  if part == "fields" and declared.functions[short .. ":" .. name] then return "function" end
  for _, parent in ipairs(entry.parents) do
    local found = in_class(parent, part, name)
    if found then return found end
  end
end

-- ---- The objects ----------------------------------------------------------------------------------------------------

local x = damo.dvector "x"
local y = x * 2
local f = damo.compile({ x }, y)
local profiled = damo.compile({ x }, y, { profile = true })
profiled { 1 }
local matrix = damo.sparse.csc(damo.array { { 2, 0 }, { 0, 1 } })
local _, raised = pcall(damo.raise, "value", "an error")
local _, treedef = damo.tree.flatten { 1 }
local objects = {
  Array = damo.array { 1 }, Variable = x, Sparse = matrix, Function = f, Type = x.type, Apply = y.owner,
  Op = y.owner.op,
  Run = f:start { 1 }, Into = f:into(damo.zeros(1)), FunctionGraph = f.fgraph, Error = raised, Treedef = treedef,
  RandomStream = damo.random.RandomStream(1), Distribution = damo.dist.Normal(0, 1), Profile = profiled.profile,
  Factor = damo.sparse.factorize(matrix), Bar = damo.progress.new(1), In = damo.In(x), Out = damo.Out(x),
}

-- What a script has no business with: formulas and places of a display, and how a structure is kept.
local private = {
  Distribution = { formulas = true },
  Bar = { out = true, drawn = true, next_line = true, start = true },
  Treedef = { root = true },
}

local rows = {}
for _, row in ipairs(damo.registry()) do rows[row.name:match "[^.]*$"] = true end

-- The names of members: keys of tables behind __index, where it is a function the tables among its upvalues. Methods
-- that rows give are left out.
local function add_members(set, index, depth)
  if type(index) == "table" then
    for name in pairs(index) do
      local public = type(name) == "string" and name:match "^%a[%w_]*$"
      if public and not rows[name] then set[name] = true end
    end
  elseif type(index) == "function" and depth < 4 then
    for i = 1, 8 do
      local name, value = debug.getupvalue(index, i)
      if not name then break end
      if value ~= _G and (name == "" or type(value) == "table" and name ~= "_ENV" and name ~= "core") then
        add_members(set, value, depth + 1)
      end
    end
  end
end

local operator_of = {
  __add = "add", __sub = "sub", __mul = "mul", __div = "div", __idiv = "idiv", __mod = "mod", __pow = "pow",
  __unm = "unm", __band = "band", __bor = "bor", __bxor = "bxor", __bnot = "bnot", __concat = "concat",
}

describe("the annotations", function()
  it("declare every function of damo and its modules", function()
    local missing = {}
    local function look(owner, module)
      for name, value in pairs(module) do
        if type(value) == "function" and not declared.functions[owner .. "." .. name] then
          missing[#missing + 1] = owner .. "." .. name
        end
      end
    end
    look("damo", damo)
    for _, name in ipairs {
      "random", "sparse", "linalg", "fft", "nn", "graph", "rewrite", "printing", "io", "optim", "plot", "progress",
      "tree", "dist",
    } do
      look(name, damo[name])
      assert.equal("damo." .. name, (declared.classes.damo.fields[name]), name)
    end
    look("init", damo.nn.init)
    assert.truthy(declared.functions["damo.explain"])
    for _, name in ipairs { "config", "newaxis", "ellipsis", "ops" } do
      assert.truthy(declared.classes.damo.fields[name], name)
    end
    report(missing)
  end)

  it("name only functions that are there", function()
    local homes, wrong = { damo = damo, init = damo.nn.init }, {}
    for name in pairs(declared.functions) do
      local home, of = name:match "^(%l[%w_]*)%.([%w_]+)$"
      if home then
        local module = homes[home] or damo[home]
        local ok, value = pcall(function() return module[of] end)
        if not ok or value == nil then wrong[#wrong + 1] = name end
      end
    end
    report(wrong)
  end)

  it("declare no function twice", function() report(declared.doubles) end)

  it("give each parameter a type", function()
    local missing = {}
    for name, tags in pairs(declared.functions) do
      for param in tags.args:gmatch "[%w_.]+" do
        if not tags.params[param] then missing[#missing + 1] = name .. ":" .. param end
      end
    end
    report(missing)
  end)

  it("describe no parameter that a function lacks", function()
    local wrong = {}
    for name, tags in pairs(declared.functions) do
      local args = {}
      for param in tags.args:gmatch "[%w_.]+" do args[param] = true end
      for param in pairs(tags.params) do
        if not args[param] and param ~= "self" then wrong[#wrong + 1] = name .. ":" .. param end
      end
    end
    report(wrong)
  end)

  it("give each function that gives something a return type", function()
    local nothing = {}
    for name in ([[
      Array:free Sparse:free Factor:free Function:free Function:trim Function:restore Function:export_c Run:cancel
      Variable:set_value Bar:step Bar:finish RandomStream:seed Op:perform Op:prepare_node damo.raise damo.verify_grad
      sparse.verify_grad_sparse random.seed FunctionGraph:replace FunctionGraph:replace_all
      FunctionGraph:replace_validate FunctionGraph:replace_all_validate FunctionGraph:change_node_input
      FunctionGraph:validate FunctionGraph:attach_feature FunctionGraph:remove_feature graph.compute_test_value
      graph.missing_test_message rewrite.register rewrite.unregister rewrite.before io.save
    ]]):gmatch "%S+" do nothing[name] = true end
    local missing = {}
    for name, tags in pairs(declared.functions) do
      if #tags.returns == 0 and not nothing[name] then missing[#missing + 1] = name end
      if #tags.returns > 0 then assert.is_nil(nothing[name], name) end
      nothing[name] = nil
    end
    report(missing)
    assert.is_nil(next(nothing))
  end)

  for name, object in pairs(objects) do
    it(("declare the members of %s"):format(name), function()
      local set, missing, class = {}, {}, "damo." .. name
      assert.truthy(declared.classes[class], class)
      if type(object) == "table" then add_members(set, object, 0) end
      add_members(set, (debug.getmetatable(object) or {}).__index, 0)
      local seen = 0
      for member in pairs(set) do
        seen = seen + 1
        local hidden = private[name] and private[name][member]
        if not hidden and not in_class(class, "fields", member) then missing[#missing + 1] = class .. "." .. member end
      end
      local plain51 = _VERSION == "Lua 5.1" and not rawget(_G, "jit")
      if seen == 0 and plain51 then return pending "Lua 5.1 shows no upvalues of C functions" end
      assert.is_true(seen > 0, class)
      report(missing)
    end)

    it(("declare the operators of %s"):format(name), function()
      local class, missing = declared.classes["damo." .. name], {}
      for event, operator in pairs(operator_of) do
        if (debug.getmetatable(object) or {})[event] and not class.operators[operator] then
          missing[#missing + 1] = operator
        end
      end
      report(missing)
    end)
  end

  it("say what a call of a Function, a Type, an Op and of f:into gives", function()
    for _, name in ipairs { "Function", "Type", "Op", "OpClass", "Into" } do
      local overloads = declared.classes["damo." .. name].overloads
      assert.truthy(overloads[1] and overloads[1]:match "^fun%(.*%): .+", name)
    end
  end)

  it("know that a call with a Variable gives a Variable", function()
    for _, name in ipairs { "damo.exp", "damo.dot", "damo.join", "Tensor:exp", "Tensor:sum", "linalg.solve" } do
      assert.truthy(declared.functions[name].overload:match "damo%.Variable.*%): damo%.Variable$", name)
    end
    assert.equal(3, #declared.functions["linalg.svd"].returns)
    assert.equal("damo.Variable", declared.functions["RandomStream:normal"].returns[1])
  end)

  it("are generic where a function gives what it is given", function()
    for _, name in ipairs {
      "tree.map", "damo.progress", "damo.vectorize", "damo.grad", "damo.Lop", "damo.Rop", "damo.jacobian",
      "damo.hessian", "damo.hessian_vector_product",
      "graph.vectorize_graph", "graph.add_tag_trace", "sparse.structured_monoid",
      "nn.dropout", "Op:add_tag_trace",
    } do
      local tags = assert(declared.functions[name], name)
      local generic = assert(tags.generics[1], name)
      local taken = false
      for _, kind in pairs(tags.params) do taken = taken or kind:match("%f[%w]" .. generic .. "%f[%W]") ~= nil end
      assert.is_true(taken, name)
      assert.truthy(tags.returns[1]:match("%f[%w]" .. generic .. "%f[%W]"), name)
    end
  end)

  it("use only Types that they declare", function()
    local unknown = {}
    for line in meta:gmatch "[^\n]+" do
      local rest = line:match "^%-%-%-@%a+%s+(.*)$"
      for name in (rest or ""):gmatch "%f[%w_.]damo%.[%w_.]*[%w_]" do
        if not (declared.classes[name] or declared.aliases[name] or declared.functions[name]) then
          unknown[name] = true
        end
      end
    end
    local list = {}
    for name in pairs(unknown) do list[#list + 1] = name end
    report(list)
  end)

  it("name the options of compile, scan and grad that these take", function()
    local function taken(class, call)
      for field in pairs(declared.classes[class].fields) do
        local ok, err = pcall(call, { [field] = 0 / 0 })
        local text = ok and "" or tostring(err)
        assert.is_nil(text:find "no option" or text:find "unknown option", class .. "." .. field .. ": " .. text)
      end
    end
    taken("damo.CompileOptions", function(options) damo.compile({ x }, y, options) end)
    taken("damo.GradOptions", function(options) damo.grad(damo.sum(y), x, options) end)
    taken("damo.ScanOptions", function(options) damo.scan(function(s) return s end, options) end)
  end)
end)

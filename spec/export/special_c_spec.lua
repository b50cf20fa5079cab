-- Special functions in an exported file: every row of spec/op/rows/special.lua, with its gradient.
local damo = require "damo"
local exported = require "spec.support.exported"
local h = assert(loadfile "spec/op/harness.lua")(describe, it)

local dir = os.tmpname()
os.remove(dir)
os.execute("mkdir " .. dir)

local unpack = table.unpack or unpack -- luacheck: ignore
local SHARE = 12 -- functions of one model

-- The Arrays of a case; nil where it has others than float64, or none.
local function operands(case)
  local values = {}
  for k = 1, #case do
    local v = case[k]
    if type(v) == "table" and v.items then return nil end
    if type(v) == "table" then v = damo.array(v) end
    if type(v) == "number" then v = damo.array(v, "float64") end
    if type(v) ~= "userdata" or v.dtype ~= "float64" or v.size == 0 then return nil end
    values[k] = v
  end
  return #values > 0 and values or nil
end

-- The value and the gradient of one function over its first case of numbers, if it has one.
local function add(model, name, cases)
  local f = damo[name]
  if not f then return end
  for _, case in ipairs(cases) do
    local values = case.opts == nil and operands(case)
    if values then
      local inputs = {}
      for k, v in ipairs(values) do inputs[k] = damo.tensor("x" .. k, { dtype = "float64", ndim = v.ndim }) end
      local results = { f(unpack(inputs)) }
      local y = results[1]
      if #results ~= 1 or not damo.is_variable(y) or y.dtype ~= "float64" then return end
      model[3][#model[3] + 1] = y
      if case.grad ~= false then
        local wrt = inputs
        if type(case.grad) == "table" then
          wrt = {}
          for k, i in ipairs(case.grad) do wrt[k] = inputs[i] end
        end
        for _, g in ipairs(damo.grad(damo.sum(y), wrt, { disconnected_inputs = "ignore" })) do
          model[3][#model[3] + 1] = g
        end
      end
      for k, v in ipairs(values) do
        model[2][#model[2] + 1], model[4][#model[4] + 1] = inputs[k], v
      end
      model.functions[#model.functions + 1] = name
      return
    end
  end
end

local models, count = {}, 0
do
  local rows, names = h.rows "special", {}
  for name in pairs(rows) do names[#names + 1] = name end
  table.sort(names)
  local model
  for _, name in ipairs(names) do
    if not model or #model.functions == SHARE then
      model = { "special_" .. #models + 1, {}, {}, {}, functions = {}, bound = 1e-12 }
      models[#models + 1] = model
    end
    add(model, name, rows[name])
  end
  for _, m in ipairs(models) do count = count + #m.functions end
end

describe("export_c of special functions", function()
  teardown(function() os.execute("rm -rf " .. dir) end)

  it("knows most of them", function() assert.is_true(count >= 60, tostring(count)) end)

  for _, compiler in ipairs(exported.compilers) do
    it("gives the virtual machine's results, by " .. compiler, function()
      assert.same({}, exported.run(models, dir, compiler))
    end)
  end

  it("carries the text of what it calls alone", function()
    local x = damo.dvector "x"
    local function text(y, name)
      damo.compile({ x }, y):export_c { name = name, dir = dir, shapes = { { 3 } } }
      local file = assert(io.open(dir .. "/" .. name .. ".c"))
      local all = file:read "*a"
      file:close()
      return all
    end
    local none, some = text(damo.exp(x), "no_text"), text(damo.psi(x), "base_text")
    assert.is_nil(none:find("special_", 1, true))
    assert.truthy(some:find("special_psi(", 1, true))
    assert.is_nil(some:find("special_i0(", 1, true))
    assert.is_true(#some < 40000, tostring(#some))
    assert.truthy(text(damo.i0(x), "bessel_text"):find("special_i0(", 1, true))
  end)

  it("refuses the name of a function of that text", function()
    local x = damo.dvector "x"
    local f = damo.compile({ x }, damo.i0(x))
    local ok, err = pcall(f.export_c, f, { name = "special_i0", dir = dir, shapes = { { 3 } } })
    assert.is_false(ok)
    assert.truthy(tostring(err):find("the name 'special_i0'", 1, true), tostring(err))
  end)
end)

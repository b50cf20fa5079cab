-- The functions of damo's table in exported files: a case of each row of spec/op/rows, with its gradient, SHARE rows in
-- one file. What can't be exported is refused by name, and is a list here.
if _VERSION ~= "Lua 5.4" then return end -- the C is the same on every Lua, and compiling it takes minutes
local damo = require "damo"
local exported = require "spec.support.exported"
local h = assert(loadfile "spec/op/harness.lua")(describe, it)

local dir = os.tmpname()
os.remove(dir)
os.execute("mkdir " .. dir)

local unpack = table.unpack or unpack -- luacheck: ignore
local SHARE = 12

-- Shapes that depend on values, and what has no C source.
local refused = {}
for name in ([[arange argwhere bartlett bincount blackman compress delete
  diag_indices extract eye flatnonzero hamming hanning intersect1d isin nonzero nonzero_values roots setdiff1d
  setxor1d tril_indices triu_indices union1d unique]]):gmatch "%S+" do refused[name] = true end

local function is_array(x) return type(x) == "userdata" and not damo.is_variable(x) end

-- The operands of a case with Variables in place of Arrays, which go to the lists; nil: there is none, or one that is
-- empty or complex.
local function symbolic(case, inputs, values)
  local good = true
  local function map(x)
    if type(x) == "table" and x.items then
      local list = {}
      for k, item in ipairs(x.items) do list[k] = map(item) end
      return list
    end
    if type(x) == "table" then x = damo.array(x) end
    if not is_array(x) then return x end
    if x.size == 0 or x.dtype:find "complex" then
      good = false
    elseif x.dtype:find "int64" and damo.max(damo.abs(damo.cast(x, "float64"))) > 2 ^ 53 then
      good = false -- numbers that the program's text would round
    end
    local shape = x.shape
    for k = 1, #shape do shape[k] = shape[k] == 1 and 1 or false end
    local v = damo.tensor("x" .. #inputs + 1, { dtype = x.dtype, shape = shape })
    inputs[#inputs + 1], values[#values + 1] = v, x
    return v
  end
  local operands = {}
  for k = 1, #case do operands[k] = map(case[k]) end
  if case.opts ~= nil then operands[#operands + 1] = case.opts end
  return good and #inputs > 0 and operands or nil
end

local function outputs_of(f, operands)
  local results = { pcall(f, unpack(operands)) }
  if not table.remove(results, 1) then return nil end
  if type(results[1]) == "table" then results = results[1] end
  local outputs = {}
  for _, y in ipairs(results) do
    if not damo.is_variable(y) or damo.sparse.is_sparse(y) then return nil end
    outputs[#outputs + 1] = y
  end
  return #outputs > 0 and outputs or nil
end

-- The gradients of the sum of the float outputs, if the case has any.
local function gradients(case, outputs, inputs)
  local cost, wrt = nil, {}
  for _, y in ipairs(outputs) do if y.dtype == "float64" then cost = (cost or 0) + damo.sum(y) end end
  if case.grad == false or case.check or not cost then return {} end
  for k, v in ipairs(inputs) do
    local chosen = type(case.grad) ~= "table"
    for _, i in ipairs(chosen and {} or case.grad) do chosen = chosen or i == k end
    if chosen and v.dtype == "float64" then wrt[#wrt + 1] = v end
  end
  if #wrt == 0 then return {} end
  local ok, slopes = pcall(damo.grad, cost, wrt, { disconnected_inputs = "ignore" })
  if not ok then return {} end
  return type(slopes) == "table" and slopes or { slopes }
end

-- The message of a refusal; nil: the model can be exported.
local function refusal(inputs, outputs, values)
  local shapes = {}
  for k, v in ipairs(values) do shapes[k] = v.shape end
  local f = damo.compile(inputs, outputs, { on_unused_input = "ignore" })
  local ok, err = pcall(f.export_c, f, { name = "tried", dir = dir, shapes = shapes })
  return not ok and tostring(err) or nil
end

local models, count, wrong, slopes = {}, 0, {}, 0
local function add(name, cases)
  local home, last = name:match "^(.-)%.?([^.]*)$"
  local f = (home == "" and damo or damo[home])[last]
  for _, case in ipairs(cases) do
    local inputs, values = {}, {}
    local operands = symbolic(case, inputs, values)
    local outputs = operands and outputs_of(f, operands)
    if outputs then
      local why = refusal(inputs, outputs, values)
      if (why ~= nil) ~= (refused[name] == true) then wrong[#wrong + 1] = name .. ": " .. (why or "is not refused") end
      if why then return end
      local of = gradients(case, outputs, inputs)
      if #of > 0 and not refusal(inputs, of, values) then
        slopes = slopes + 1
        for _, g in ipairs(of) do outputs[#outputs + 1] = g end
      end
      local m = models[#models]
      if not m or m.rows == SHARE then
        m = { "rows_" .. #models + 1, {}, {}, {}, rows = 0, names = {} }
        models[#models + 1] = m
      end
      m.rows, count = m.rows + 1, count + 1
      for k, v in ipairs(inputs) do m[2][#m[2] + 1], m[4][#m[4] + 1] = v, values[k] end
      for _, y in ipairs(outputs) do
        m[3][#m[3] + 1] = y
        m.names[#m[3]] = name
      end
      return
    end
  end
end

for _, family in ipairs(h.families) do
  -- fft: complex numbers; blas: names of the same Ops
  local rows, names = family ~= "fft" and h.rows(family) or {}, {}
  for name in pairs(rows) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do add(name, rows[name]) end
end

-- The messages with the functions' names.
local function named(messages)
  for k, text in ipairs(messages) do
    local number, output = text:match "rows_(%d+), call 1, output (%d+)"
    if number then messages[k] = models[tonumber(number)].names[tonumber(output)] .. ": " .. text end
  end
  return messages
end

describe("export_c of the rows of functions", function()
  teardown(function() os.execute("rm -rf " .. dir) end)

  it("refuses what it can't write, and nothing else", function() assert.same({}, wrong) end)

  it("knows most of them", function()
    assert.is_true(count >= 430, tostring(count))
    assert.is_true(slopes >= 290, tostring(slopes))
  end)

  for k, compiler in ipairs(exported.compilers) do
    it("gives the virtual machine's results, by " .. compiler, function()
      local share = {}
      for i = k, #models, #exported.compilers do share[#share + 1] = models[i] end
      assert.same({}, named(exported.run(share, dir, compiler)))
    end)
  end
end)

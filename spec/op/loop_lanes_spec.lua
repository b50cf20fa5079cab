-- Cheap steps of Loops that are joined into machine code: results are those of the separate kernels to the bit,
-- whatever the shapes, layouts and dtypes, beside steps and reductions that stay as they are.
local damo = require "damo"

local separate = damo.Mode { exclude = { "fusion" } }

local unpack = unpack or table.unpack -- luacheck: ignore

local function pick(list) return list[math.random(#list)] end

local function as_array(v) return type(v) == "userdata" and v or damo.array(v) end

local function same_bits(got, expected, what)
  for k in ipairs(expected) do
    local a, b = as_array(got[k]), as_array(expected[k])
    assert.equal(b.dtype, a.dtype, what)
    assert.is_true(damo.array_equal(a, b, { equal_nan = true }), what)
    if a.dtype == "float64" or a.dtype == "float32" then -- zeros by their sign
      assert.is_true(damo.array_equal(1 / a, 1 / b, { equal_nan = true }), what)
    end
  end
end

-- Runs that are long enough for machine code to be made.
local function warm_up(f, values)
  for _ = 1, 4 do f(unpack(values)) end
end

local unary = { damo.abs, damo.sqr, damo.neg, damo.sign, damo.floor, damo.ceil, damo.trunc, damo.round, damo.reciprocal,
  function(a) return damo.sqrt(damo.abs(a)) end, function(a) return damo.clip(a, -0.5, 1.25) end, damo.tanh }
local binary = { damo.add, damo.sub, damo.mul, damo.true_div, damo.maximum, damo.minimum }
local relation = { damo.lt, damo.le, damo.gt, damo.ge, damo.eq, damo.neq }

-- A random program over floats, masks and reductions.
local function random_outputs(inputs, n)
  local floats, masks, outs = { unpack(inputs) }, {}, {}
  for _ = 1, n do
    local a, b, choice = pick(floats), math.random(3) == 1 and pick(floats) or floats[#floats], math.random(11)
    if choice <= 5 then
      floats[#floats + 1] = pick(binary)(a, b)
    elseif choice <= 7 then
      floats[#floats + 1] = pick(unary)(b)
    elseif choice == 8 then
      masks[#masks + 1] = pick(relation)(a, b)
    elseif choice == 9 and #masks > 0 then
      floats[#floats + 1] = damo.switch(pick(masks), a, b)
    elseif choice == 10 and #masks > 1 then
      masks[#masks + 1] = pick { damo.and_, damo.or_, damo.xor } (pick(masks), masks[#masks])
    elseif choice == 11 and b.ndim > 0 then
      floats[#floats + 1] = b - damo.mean(b, { axis = b.ndim, keepdims = true })
    end
  end
  outs[1] = floats[#floats]
  for _ = 1, math.random(0, 2) do outs[#outs + 1] = pick(floats) + 0 end
  if #masks > 0 then outs[#outs + 1] = pick(masks) end
  if math.random(3) == 1 then outs[#outs + 1] = damo.sum(floats[#floats]) end
  return outs
end

local number_types = { "float64", "float32", "int64", "int32" }
local int_unary = { damo.neg, damo.abs, damo.sqr, damo.invert, damo.sign }
local int_binary = { damo.add, damo.sub, damo.mul, damo.maximum, damo.minimum, damo.and_, damo.or_, damo.xor }

-- A random program over numbers of all dtypes of machine code, and masks: `all` has those made so far, by dtype.
local function random_mixed(inputs, n)
  local all, last = { float64 = {}, float32 = {}, int64 = {}, int32 = {}, bool = {} }, nil
  local function add(v)
    local list = all[v.dtype]
    if not list then return end
    list[#list + 1], last = v, v
  end
  local function any(dtype)
    local list = all[dtype]
    return math.random(2) == 1 and last.dtype == dtype and last or list[math.random(#list)]
  end
  for _, v in ipairs(inputs) do add(v) end
  for _ = 1, n do
    local dtype = math.random(3) > 1 and last.dtype ~= "bool" and last.dtype or pick(number_types)
    local choice = math.random(9)
    if #all[dtype] == 0 then
      choice = 6
    end
    local is_float = dtype:find "float" ~= nil
    if choice <= 3 then
      add(pick(is_float and binary or int_binary)(any(dtype), any(dtype)))
    elseif choice <= 5 then
      add(pick(is_float and unary or int_unary)(any(dtype)))
    elseif choice == 6 then
      add(damo.cast(last, dtype))
    elseif choice == 7 then
      add(pick(relation)(any(dtype), any(dtype)))
    elseif choice == 8 and #all.bool > 0 then
      add(damo.switch(any "bool", any(dtype), any(dtype)))
    elseif choice == 9 then
      add(any(dtype) + last) -- of the wider dtype
    end
  end
  local outs = { last }
  for _, dtype in ipairs { "float64", "float32", "int64", "int32", "bool" } do
    local list = all[dtype]
    if #list > 0 and math.random(2) == 1 then outs[#outs + 1] = list[math.random(#list)] end
  end
  for i, v in ipairs(outs) do outs[i] = v.owner and v or damo.invert(damo.cast(v, "int64")) end
  return outs
end

-- Small numbers, and integers of all magnitudes.
local function random_numbers(shape, dtype)
  local x = damo.random.normal(0, 1, { size = shape })
  if not dtype:find "int" then return damo.cast(x, dtype) end
  return damo.cast(x * 10 ^ (math.random(3) == 1 and (dtype == "int64" and 17.5 or 8) or 0.7), dtype)
end

local function random_array(shape, dtype)
  local x = random_numbers(shape, dtype)
  local choice = #shape == 2 and math.random(3) or 0
  if choice == 1 then -- with its axes in the other order
    return damo.transpose(damo.cast(damo.random.normal(0, 1, { size = { shape[2], shape[1] } }), dtype))
  elseif choice == 2 then -- every second column
    local wide = damo.cast(damo.random.normal(0, 1, { size = { shape[1], 2 * shape[2] } }), dtype)
    return wide[{ {}, { 1, -1, 2 } }]
  end
  return x
end

local function values_for(kinds, rows, columns, dtypes)
  local values = {}
  for i, kind in ipairs(kinds) do
    local shape = kind == "scalar" and {} or kind == "row" and { 1, columns } or kind == "col" and { rows, 1 }
      or { rows, columns }
    values[i] = #shape > 0 and random_array(shape, dtypes[i])
      or damo.cast(damo.array(4 * math.random() - 2), dtypes[i])
  end
  return values
end

-- Whether code was made of some of the steps.
local function check_mixed(seed)
  math.randomseed(seed)
  damo.random.seed(seed)
  local inputs, kinds, dtypes = {}, { "matrix" }, {}
  for i = 1, math.random(2, 5) do
    kinds[i] = i == 1 and "matrix" or pick { "matrix", "matrix", "row", "col", "scalar" }
    dtypes[i] = pick { "float64", "float32", "int64", "int32", "bool" }
    local static = kinds[i] == "row" and { 1, false } or kinds[i] == "col" and { false, 1 } or { false, false }
    inputs[i] = kinds[i] == "scalar" and damo.scalar("x" .. i, { dtype = dtypes[i] })
      or damo.tensor("x" .. i, { dtype = dtypes[i], shape = static })
  end
  local outs = random_mixed(inputs, math.random(4, 24))
  local f = damo.compile(inputs, outs, { on_unused_input = "ignore" })
  local g = damo.compile(inputs, outs, { on_unused_input = "ignore", mode = separate })
  collectgarbage() collectgarbage()
  local before = damo.info().jit.bytes or 0
  warm_up(f, values_for(kinds, 60, 500, dtypes))
  local made = (damo.info().jit.bytes or 0) > before
  for _, size in ipairs { { 1, 1 }, { 3, 7 }, { 1, 131 }, { 7, 600 }, { 0, 5 }, { 2, 4099 } } do
    local values = values_for(kinds, size[1], size[2], dtypes)
    local what = ("mixed, seed %d, %d x %d"):format(seed, size[1], size[2])
    same_bits({ f(unpack(values)) }, { g(unpack(values)) }, what)
  end
  return made
end

local function check_random(seed)
  math.randomseed(seed)
  damo.random.seed(seed)
  local inputs, kinds, dtypes = {}, { "matrix" }, {}
  local dtype = pick { "float64", "float32" }
  for i = 1, math.random(2, 6) do
    kinds[i] = i == 1 and "matrix" or pick { "matrix", "matrix", "row", "col", "scalar" }
    dtypes[i] = math.random(6) == 1 and pick { "float64", "float32", "int32" } or dtype
    local static = kinds[i] == "row" and { 1, false } or kinds[i] == "col" and { false, 1 } or { false, false }
    inputs[i] = kinds[i] == "scalar" and damo.scalar("x" .. i, { dtype = dtypes[i] })
      or damo.tensor("x" .. i, { dtype = dtypes[i], shape = static })
  end
  local outs = random_outputs(inputs, math.random(3, 24))
  local unused = { on_unused_input = "ignore" }
  local f = damo.compile(inputs, outs, unused)
  local g = damo.compile(inputs, outs, { on_unused_input = "ignore", mode = separate })
  warm_up(f, values_for(kinds, 60, 500, dtypes))
  for _, size in ipairs { { 1, 1 }, { 3, 7 }, { 1, 130 }, { 40, 3 }, { 7, 600 }, { 0, 5 }, { 2, 4099 } } do
    if size[2] > 0 then
      local values = values_for(kinds, size[1], size[2], dtypes)
      local what = ("seed %d, %d x %d"):format(seed, size[1], size[2])
      same_bits({ f(unpack(values)) }, { g(unpack(values)) }, what)
    end
  end
end

describe("joined steps of a Loop", function()
  it("give the bits of separate kernels in random programs", function()
    for seed = 1, 150 do check_random(seed) end
  end)

  it("give them for integers, masks and mixed dtypes", function()
    local made = 0
    for seed = 1, 200 do made = made + (check_mixed(seed) and 1 or 0) end
    if damo.info().jit.loops then assert.is_true(made > 100, made .. " of 200") end
  end)

  it("are machine code where there is some, and not in a mode without it", function()
    local x, y = damo.dvector "x", damo.dvector "y"
    local e = (x + y) * x - y * 0.5
    local a, b = damo.arange(20000) * 0.25, damo.arange(20000) - 7
    local function bytes_of(mode)
      collectgarbage() collectgarbage()
      local before = damo.info().jit.bytes or 0
      local f = damo.compile({ x, y }, e, { mode = mode })
      warm_up(f, { a, b })
      return (damo.info().jit.bytes or 0) - before, f
    end
    local with, f = bytes_of(damo.Mode { jit = true })
    local without, g = bytes_of(damo.Mode { jit = false })
    assert.equal(0, without)
    assert.equal(damo.info().jit.loops, with > 0)
    same_bits({ f(a, b) }, { g(a, b) })
  end)

  it("write over an operand that is updated", function()
    local start = damo.cast(damo.arange(30000), "float64")
    local w = damo.shared(start, "w")
    local m = damo.shared(damo.zeros { 30000 }, "m")
    local g = damo.dvector "g"
    local m_next = m * 0.9 + g * 0.1
    local w_next = w - 0.01 * m_next / (1 + damo.abs(m_next))
    local f = damo.compile({ g }, {}, { updates = { { m, m_next }, { w, w_next } } })
    local wv, mv, gv = start, damo.zeros { 30000 }, damo.sin(start)
    for _ = 1, 5 do
      f(gv)
      mv = mv * 0.9 + gv * 0.1
      wv = wv - 0.01 * mv / (1 + damo.abs(mv))
    end
    same_bits({ w:get_value(), m:get_value() }, { wv, mv })
  end)

  it("take part in gradients of rows", function()
    local x, y = damo.dmatrix "x", damo.dmatrix "y"
    local e = damo.sum(damo.softmax(x * y + 0.5, { axis = 2 }) * damo.sqr(x - y))
    local grads = damo.grad(e, { x, y })
    local f, g = damo.compile({ x, y }, { e, grads[1], grads[2] }),
      damo.compile({ x, y }, { e, grads[1], grads[2] }, { mode = separate })
    local a, b = damo.random.normal(0, 1, { size = { 70, 300 } }), damo.random.normal(0, 1, { size = { 70, 300 } })
    warm_up(f, { a, b })
    same_bits({ f(a, b) }, { g(a, b) })
  end)
end)

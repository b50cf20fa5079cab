-- Loops whose rows are any axes: reductions over first or middle axes, and what is made of them at the elements again.
-- Results are those of the separate nodes to the bit.
local damo = require "damo"
local names = require "spec.support.node_names"

local separate = damo.Mode { exclude = { "fusion" } }

local function same_bits(a, b, what)
  assert.equal(a.dtype, b.dtype, what)
  assert.same(a.shape, b.shape, what)
  assert.is_true(damo.array_equal(a, b, { equal_nan = true }), what)
end

local function as_array(v) return type(v) == "userdata" and v or damo.array(v) end

local function check(inputs, outputs, values, what)
  local f = damo.compile(inputs, outputs, { on_unused_input = "ignore" })
  local g = damo.compile(inputs, outputs, { on_unused_input = "ignore", mode = separate })
  for _ = 1, 2 do -- the second time in memory that is there
    local got, expected = { f(table.unpack(values)) }, { g(table.unpack(values)) }
    for k in ipairs(outputs) do same_bits(as_array(got[k]), as_array(expected[k]), what) end
  end
  return f
end

local kinds = { "sum", "prod", "max", "min", "any", "all", "argmax", "argmin" }
local dtypes = { "float64", "float32", "int32", "complex128" }

local function pick(list) return list[math.random(#list)] end

local function random_shape(ndim)
  local shape, long = {}, math.random(ndim)
  for k = 1, ndim do
    shape[k] = k == long and pick { 1, 40, 513, 2500 } or math.random(1, 7)
  end
  return shape
end

-- An array of that shape and dtype; its axes lie in memory in any order.
local function random_value(shape, dtype)
  local order, place, turned = {}, {}, {}
  for k = 1, #shape do order[k] = k end
  if math.random(2) == 1 then
    for k = #shape, 2, -1 do
      local j = math.random(k)
      order[k], order[j] = order[j], order[k]
    end
  end
  for k, axis in ipairs(order) do
    turned[k] = shape[axis]
    place[axis] = k
  end
  return damo.transpose(damo.cast(damo.random.normal(0, 3, { size = turned }), dtype), { axes = place })
end

local function check_random(seed)
  math.randomseed(seed)
  damo.random.seed(seed)
  local shape = random_shape(math.random(2, 4))
  local inputs, values, axes = {}, {}, {}
  for i = 1, 3 do
    local own, static = {}, {}
    for k, length in ipairs(shape) do
      own[k] = i > 1 and math.random(3) == 1 and 1 or length
      static[k] = own[k] == 1 and 1 or false
    end
    local dtype = pick(dtypes)
    inputs[i] = damo.tensor("x" .. i, { dtype = dtype, shape = static })
    values[i] = random_value(own, dtype)
  end
  for k = 1, #shape do
    if math.random(2) == 1 then axes[#axes + 1] = k end
  end
  if #axes == 0 then axes[1] = math.random(#shape) end
  local v, outs = { table.unpack(inputs) }, {}
  for _ = 1, math.random(4, 9) do
    local a, b, choice = pick(v), math.random(2) == 1 and v[#v] or pick(v), math.random(8)
    if choice <= 3 then
      v[#v + 1] = choice == 1 and a + b or choice == 2 and a * b or damo.tanh(damo.real(a)) - b
    else
      local kind, over = pick(kinds), math.random(4) == 1 and { math.random(#shape) } or axes
      if kind == "any" or kind == "all" then a = damo.gt(damo.real(a), 0) end
      local kept = damo[kind](a, { axis = #over == 1 and over[1] or over, keepdims = math.random(3) > 1 })
      if kept.ndim == #shape then
        v[#v + 1] = kept.dtype == "bool" and damo.cast(kept, "float64") or kept
      else
        outs[#outs + 1] = kept
      end
    end
  end
  outs[#outs + 1] = v[#v]
  outs[#outs + 1] = pick(v)
  local f = check(inputs, outs, values, "seed " .. seed)
  return select(2, damo.printing.loop(f):gsub("one value a row", ""))
end

describe("a Loop over rows of any axes", function()
  local x = damo.dmatrix "x"

  it("gives the bits of the separate nodes in random graphs", function()
    local rows = 0
    for seed = 1, 400 do rows = rows + check_random(seed) end
    assert.is_true(rows > 300)
  end)

  it("takes a reduction over the first axis, by itself or beside its elements", function()
    local e = damo.exp(x) * 2
    assert.same({ Loop = 1 }, names(damo.compile({ x }, damo.sum(e, { axis = 1 }))))
    assert.same({ Loop = 1 }, names(damo.compile({ x }, { e, damo.max(e, { axis = 1 }) })))
    local t = damo.dtensor3 "t"
    assert.same({ Loop = 1 }, names(damo.compile({ t }, damo.sum(damo.exp(t), { axis = 2 }))))
    assert.same({ Loop = 1 }, names(damo.compile({ t }, damo.argmin(t * t - t, { axis = 2 }))))
    assert.same({ Loop = 1 }, names(damo.compile({ t }, damo.sum(damo.exp(t), { axis = { 1, 3 } }))))
  end)

  it("broadcasts a reduction over the first axis back, with its axis or without", function()
    for _, keepdims in ipairs { true, false } do
      local top = damo.max(x, { axis = 1, keepdims = keepdims })
      local e = damo.exp(x - top)
      local y = e / (1 + damo.sum(e, { axis = 1, keepdims = keepdims }))
      local f = check({ x }, { y }, { damo.random.normal(0, 1, { size = { 700, 37 } }) })
      assert.same({ Loop = 1 }, names(f))
    end
    local t = damo.dtensor3 "t"
    local middle = damo.sum(t, { axis = 2 })
    local f = check({ t }, { t / damo.expand_dims(middle, 2) }, { damo.random.normal(0, 1, { size = { 3, 90, 70 } }) })
    assert.same({ Loop = 1 }, names(f))
  end)

  it("has results where there are no elements, and errors where one is needed", function()
    local f = damo.compile({ x }, { damo.sum(x * 2, { axis = 1 }), x * 2 })
    local total = f(damo.zeros { 0, 3 })
    same_bits(damo.zeros { 3 }, total)
    assert.same({ 0 }, f(damo.zeros { 3, 0 }).shape)
    local g = damo.compile({ x }, damo.max(x * 2, { axis = 1 }))
    local ok, err = pcall(g, damo.zeros { 0, 3 })
    assert.is_false(ok)
    assert.equal("value", err.kind)
  end)

  it("names shapes that do not agree", function()
    local v = damo.dvector "v"
    local f = damo.compile({ x, v }, (x - damo.mean(x, { axis = 1 })) * v)
    local ok, err = pcall(f, damo.ones { 4, 3 }, damo.ones { 2 })
    assert.is_false(ok)
    assert.equal("shape", err.kind)
  end)

  it("may write over its input", function()
    local w = damo.shared(damo.random.normal(0, 1, { size = { 600, 20 } }))
    local before = damo.array(w:get_value())
    local e = damo.exp(w - damo.max(w, { axis = 1 }))
    local y = e / (1 + damo.sum(e, { axis = 1 }))
    local expected = damo.compile({}, y, { mode = separate })()
    damo.compile({}, nil, { updates = { [w] = y } })()
    same_bits(expected, w:get_value())
    assert.is_false(damo.array_equal(before, w:get_value()))
  end)

  it("keeps a product with what follows it by rows, and reduces the first axis apart", function()
    local a, b = damo.dmatrix "a", damo.dmatrix "b"
    local y = damo.dot(a, b) * x
    local f = damo.compile({ a, b, x }, { y, damo.sum(y, { axis = 1 }) })
    assert.equal(1, names(f).DotLoop)
  end)

  it("is exact with any number of threads, and in blocks of any length", function()
    local v = damo.random.normal(0, 1, { size = { 300, 2500 } })
    local outputs = { damo.sum(damo.exp(x), { axis = 1 }), x - damo.mean(x * x, { axis = 1 }) }
    local one, other = { damo.compile({ x }, outputs)(v) }, { damo.compile({ x }, outputs, { threads = 3 })(v) }
    for k = 1, 2 do same_bits(one[k], other[k]) end
  end)
end)

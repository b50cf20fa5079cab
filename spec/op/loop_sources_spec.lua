-- Loops that read entries at positions along an axis, and ranges, at their sources: no array of them is made. Results
-- are those of the separate nodes to the bit.
local damo = require "damo"
local node_names = require "spec.support.node_names"
local failure = require "spec.support.failure"

local unpack = table.unpack or _G.unpack

local separate = damo.Mode { exclude = { "fusion" } }

-- The classes of a Function's nodes, in alphabetical order.
local function names(f)
  local list = {}
  for name, n in pairs(node_names(f)) do
    for _ = 1, n do list[#list + 1] = name end
  end
  table.sort(list)
  return table.concat(list, " ")
end

local function fails(fn, kind, text)
  local err = failure(kind, fn)
  assert.truthy(tostring(err):find(text, 1, true), tostring(err))
end

local function same_bits(a, b, what)
  if type(a) == "number" then return assert.equal(b, a, what) end
  assert.equal(a.dtype, b.dtype, what)
  assert.same(a.shape, b.shape, what)
  assert.is_true(damo.array_equal(a, b, { equal_nan = true }), what)
end

local function pick(list) return list[math.random(#list)] end

-- An Array of that shape and dtype, sometimes with other strides.
local function random_array(shape, dtype)
  local turned = #shape == 2 and math.random(3) == 1
  local size = turned and { shape[2], shape[1] } or shape
  local v = damo.cast(damo.random.normal(0, 3, { size = size }), dtype)
  return turned and v.T or v
end

local function random_positions(shape, n)
  local count, list = 1, {}
  for _, length in ipairs(shape) do count = count * length end
  for k = 1, count do list[k] = math.random(n) * (math.random(3) == 1 and -1 or 1) end
  return damo.reshape(damo.array(list, "int64"), { shape = shape })
end

local function unknown(n)
  local out = {}
  for i = 1, n do out[i] = false end
  return out
end

local dtypes = { "float64", "float32", "int64", "int32", "int16", "int8", "uint8", "bool", "complex128" }

-- A graph that reads entries of x, and of another array, at positions along an axis; its inputs and values.
local function random_taken(length, width)
  local dtype, ndim = pick(dtypes), math.random(3)
  local axis, rank = math.random(ndim), math.random(2)
  local shape, positions, result = {}, {}, {}
  for d = 1, ndim do shape[d] = d == axis and math.random(2, 9) or pick { 1, 2, 3, width } end
  for d = 1, rank do positions[d] = d == rank and length or pick { 2, 3 } end
  for d = 1, ndim do
    if d ~= axis then
      result[#result + 1] = shape[d]
    else
      for _, n in ipairs(positions) do result[#result + 1] = n end
    end
  end
  local x = damo.tensor("x", { dtype = dtype, shape = unknown(ndim) })
  local i = damo.tensor("i", { dtype = "int64", shape = unknown(rank) })
  local y = damo.tensor("y", { dtype = "float64", shape = unknown(#result) })
  local values = { random_array(shape, dtype), random_positions(positions, shape[axis]),
    random_array(result, "float64") }
  local taken = damo.take(x, i, axis)
  local e = dtype:find "complex" and taken * y or damo.cast(damo.abs(damo.cast(taken, "float64")) + y, "float64")
  if math.random(2) == 1 then e = e * damo.cast(damo.take(y, damo.abs(i) % y.shape[1] + 1, 1):sum(), e.dtype) end
  if math.random(3) > 1 and not dtype:find "complex" then
    local over = math.random(#result)
    local kind = math.random(4)
    if kind == 1 then e = damo.sum(e, { axis = over }) end
    if kind == 2 then e = damo.max(e, { axis = over }) end
    if kind == 3 then e = damo.softmax(e, { axis = #result }) end
    if kind == 4 then e = e - damo.mean(e, { axis = over, keepdims = true }) end
  end
  return { x, i, y }, { e, taken * 2 }, values
end

describe("a Loop at sources", function()
  it("reads rows, columns and entries at positions, and ranges", function()
    local x, i, v = damo.dmatrix "x", damo.lvector "i", damo.dvector "v"
    local f = damo.compile({ x, i }, damo.exp(damo.take(x, i, 1)) * 2)
    assert.equal("Loop", names(f))
    assert.truthy(damo.printing.loop(f):find("r1 = x at r3 along axis 1: float64", 1, true))
    local g = damo.compile({ x, i }, damo.exp(damo.take(x, i, 2)))
    assert.equal("Loop", names(g))
    assert.truthy(damo.printing.loop(g):find("r1 = x at r2 along axis 2", 1, true))
    assert.equal("Elemwise Loop", names(damo.compile({ v, i }, v[i] - v[i + 1] * 2)))
    local range = damo.compile({ v }, damo.sqr(damo.arange(v.shape[1]) * 0.5) + v)
    assert.equal("Loop Shape", names(range))
    assert.truthy(damo.printing.loop(range):find("r1 = 0 to r4 by r5: int64", 1, true))
    assert.equal(tostring(damo.array { 1, 1.25, 2 }), tostring(range(damo.ones { 3 })))
    local floats = damo.compile({ v }, damo.sqrt(damo.arange(v.shape[1], { dtype = "float32" })) * v)
    assert.truthy(damo.printing.loop(floats):find("r1 = 0 to r%d+ by r%d+: float32\n"))
  end)

  it("gives the bits of the separate nodes", function()
    for seed = 1, 150 do
      math.randomseed(seed)
      damo.random.seed(seed)
      local inputs, outputs, values = random_taken(pick { 1, 3, 40, 700 }, pick { 4, 33 })
      local f, g = damo.compile(inputs, outputs), damo.compile(inputs, outputs, { mode = separate })
      local a, b = { f(unpack(values)) }, { g(unpack(values)) }
      for k = 1, #outputs do same_bits(a[k], b[k], ("seed %d, output %d"):format(seed, k)) end
      local run = f:start(unpack(values))
      repeat until run:step(0)
      local in_pieces = { run:result() }
      for k = 1, #outputs do same_bits(in_pieces[k], b[k], ("seed %d, output %d in pieces"):format(seed, k)) end
    end
  end)

  it("gives the same bits on several threads", function()
    local x, i, y = damo.dmatrix "x", damo.lvector "i", damo.dmatrix "y"
    local X, Y = random_array({ 50, 300 }, "float64"), random_array({ 900, 300 }, "float64")
    local I = random_positions({ 900 }, 50)
    local e = damo.exp(damo.take(x, i, 1)) * y
    local outputs = { e, damo.sum(damo.sqr(damo.take(x, i, 1)), { axis = 2 }), damo.sum(e) }
    local f = damo.compile({ x, i, y }, outputs)
    local one = { f(X, I, Y) }
    local before = damo.config.threads
    damo.config.threads = 3
    local three = { f(X, I, Y) }
    damo.config.threads = before
    for k = 1, #outputs do same_bits(one[k], three[k]) end
  end)

  it("counts ranges as arange does", function()
    local start, stop, step = damo.dscalar "start", damo.dscalar "stop", damo.dscalar "step"
    local range = damo.arange(start, stop, step)
    local f = damo.compile({ start, stop, step }, range * 3 - 1)
    local g = damo.compile({ start, stop, step }, range * 3 - 1, { mode = separate })
    assert.equal("Loop", names(f))
    for _, at in ipairs { { 0, 1, 0.1 }, { 5, -2, -0.75 }, { 1, 1, 1 }, { 3, 2, 1 }, { -1, 1000, 0.5 } } do
      same_bits(f(at[1], at[2], at[3]), g(at[1], at[2], at[3]))
    end
    fails(function() f(0, 1, 0) end, "value", "arange: the step is 0")
    local n = damo.lscalar "n"
    local h = damo.compile({ n }, damo.cast(damo.arange(n), "float32") / 2)
    same_bits(damo.array({ 0, 0.5, 1 }, "float32"), h(3))
    same_bits(damo.zeros({ 0 }, { dtype = "float32" }), h(0))
    for _, dtype in ipairs { "int8", "uint8", "int32", "uint64", "complex64", "complex128" } do
      local own = damo.arange(n, { dtype = dtype })
      local of_dtype = damo.compile({ n }, own * own)
      assert.truthy(names(of_dtype):find "ARange", dtype)
      same_bits(of_dtype(11), damo.compile({ n }, own * own, { mode = separate })(11), dtype)
    end
  end)

  it("refuses ranges that no memory has", function()
    local n = damo.lscalar "n"
    local range = damo.arange(n) * 0.5
    local f = damo.compile({ n }, damo.sum(damo.sqr(range - damo.mean(range)))) -- the range is needed twice
    assert.equal(20.625, f(10))
    for _, length in ipairs { 2 ^ 53, 2 ^ 61, 2 ^ 62 } do
      fails(function() f(damo.cast(length, "int64")) end, "value", "entries are too many")
    end
  end)

  it("leaves what others read too, and what is less than the whole", function()
    local x, i, y = damo.dmatrix "x", damo.lvector "i", damo.dmatrix "y"
    local taken = damo.take(x, i, 1)
    assert.truthy(names(damo.compile({ x, i }, { damo.exp(taken), taken })):find "AdvancedSubtensor")
    local v = damo.dvector "v"
    assert.truthy(names(damo.compile({ v, i, y }, damo.exp(y) * v[i])):find "AdvancedSubtensor")
    local products = damo.take(x, i, 1) * y -- sums of columns are made side by side
    assert.equal("AdvancedSubtensor Loop", names(damo.compile({ x, i, y }, damo.sum(products, { axis = 1 }))))
    assert.equal("Loop", names(damo.compile({ x, i, y }, damo.sum(products, { axis = 2 }))))
    local mask = damo.vector("mask", { dtype = "bool" })
    assert.truthy(names(damo.compile({ v, mask }, damo.exp(v[mask]))):find "AdvancedSubtensor")
  end)

  it("fails as the separate nodes do", function()
    local x, i, y = damo.dmatrix "x", damo.lvector "i", damo.dmatrix "y"
    local f = damo.compile({ x, i, y }, damo.exp(damo.take(x, i, 1)) * y)
    local X, Y = damo.ones { 4, 3 }, damo.ones { 2, 3 }
    fails(function() f(X, damo.array({ 1, 5 }, "int64"), Y) end, "index", "position 5 is outside axis 1 of length 4")
    fails(function() f(X, damo.array({ 1, -5 }, "int64"), Y) end, "index", "position -5 is outside axis 1 of length 4")
    fails(function() f(X, damo.array({ 0, 1 }, "int64"), Y) end, "index", "position 0 is outside axis 1 of length 4")
    fails(function() f(X, damo.array({ 1, 2, 3 }, "int64"), Y) end, "shape",
      "shapes (3, 3) and (2, 3) do not agree: axis 1 is 3 in operand 1 and 2 in operand 2")
    fails(function() f(damo.ones { 4, 5 }, damo.array({ 1, 2 }, "int64"), Y) end, "shape",
      "shapes (2, 5) and (2, 3) do not agree: axis 2")
    local one = "axis 1 of operand 1 is 1, which broadcasts only where its Type says so; declare it: damo.tensor(name, "
    fails(function() f(X, damo.array({ 1 }, "int64"), Y) end, "shape", one .. "{shape={1, false}})")
    local v, n = damo.dvector "v", damo.lscalar "n"
    local counted = damo.compile({ n, v }, damo.arange(n) * 2 + v)
    fails(function() counted(1, damo.ones { 3 }) end, "shape", one .. "{shape={1}})")
    local range = damo.compile({ v }, damo.exp(damo.arange(4) * 0.5) + v)
    fails(function() range(damo.ones { 3 }) end, "shape", "axis 1 is 4 in operand 1 and 3 in operand 2")
  end)

  it("reads nothing where there is nothing", function()
    local x, i = damo.dmatrix "x", damo.lvector "i"
    local f = damo.compile({ x, i }, { damo.exp(damo.take(x, i, 1)) * 2,
      damo.sum(damo.sqr(damo.take(x, i, 1)), { axis = 2 }) })
    local a, b = f(damo.ones { 3, 2 }, damo.zeros({ 0 }, { dtype = "int64" }))
    assert.same({ 0, 2 }, a.shape)
    assert.same({ 0 }, b.shape)
    a, b = f(damo.ones { 3, 0 }, damo.array({ 1, 3 }, "int64"))
    assert.same({ 2, 0 }, a.shape)
    same_bits(damo.zeros { 2 }, b)
  end)

  it("has gradients and tangents, where somebody asks for those of a compiled graph", function()
    local x, i, v = damo.dmatrix "x", damo.lvector "i", damo.dmatrix "v"
    local cost = damo.sum(damo.exp(damo.take(x, i, 1)) * damo.take(x, i, 1))
    local fg = damo.compile({ x, i }, damo.exp(damo.take(x, i, 1)) * 2).fgraph
    local y = fg.outputs[1]
    local slope = damo.compile(fg.inputs, damo.grad(damo.sum(y), fg.inputs[1]))
    local X, I = damo.array { { 0.5, 1 }, { -1, 2 }, { 0, 3 } }, damo.array({ 3, -3, 3 }, "int64")
    local expected = damo.compile({ x, i }, damo.grad(damo.sum(damo.exp(damo.take(x, i, 1)) * 2), x))
    same_bits(expected(X, I), slope(X, I))
    local tangent = damo.compile({ x, i, v }, damo.Rop(cost, x, v))(X, I, damo.ones { 3, 2 })
    assert.truthy(math.abs(tangent - damo.compile({ x, i }, damo.sum(damo.grad(cost, x)))(X, I)) < 1e-12)
    local moved = damo.compile({ fg.inputs[1], fg.inputs[2], v }, damo.Rop(y, fg.inputs[1], v))
    local along = damo.compile({ x, i, v }, damo.exp(damo.take(x, i, 1)) * 2 * damo.take(v, i, 1))
    same_bits(along(X, I, damo.ones { 3, 2 }), moved(X, I, damo.ones { 3, 2 }))
  end)

  it("makes what is transposed or reversed between elementwise nodes with them", function()
    local x, y, v = damo.dmatrix "x", damo.dmatrix "y", damo.dvector "v"
    local f = damo.compile({ x, y }, damo.exp(damo.sin(x) * 2).T + y)
    assert.equal("DimShuffle Loop", names(f))
    local X, Y = random_array({ 70, 33 }, "float64"), random_array({ 33, 70 }, "float64")
    same_bits(damo.compile({ x, y }, damo.exp(damo.sin(x) * 2).T + y, { mode = separate })(X, Y), f(X, Y))
    local g = damo.compile({ v }, (damo.exp(v) * 2)[{ { nil, nil, -1 } }] * v)
    assert.equal("Loop Subtensor", names(g))
    local V = random_array({ 100 }, "float64")
    same_bits(damo.compile({ v }, (damo.exp(v) * 2)[{ { nil, nil, -1 } }] * v, { mode = separate })(V), g(V))
    local z = damo.dmatrix "z" -- two matrices are not both read across
    assert.equal("DimShuffle Elemwise Elemwise", names(damo.compile({ x, y, z }, (x * y).T * z)))
    assert.equal("DimShuffle Loop", names(damo.compile({ x, z }, (x * x).T * z)))
    local twice = damo.exp(x) -- a costly thing is not computed twice
    assert.truthy(names(damo.compile({ x }, twice * twice.T)):find "DimShuffle.*Elemwise")
    assert.truthy(names(damo.compile({ x, y }, damo.dot(damo.exp(x).T, y))):find "DimShuffle.*Elemwise")
  end)
end)

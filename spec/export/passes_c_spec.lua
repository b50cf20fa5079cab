-- Exported passes over elements: neighbours of one shape become one loop where no iteration needs what another one
-- writes, results are written over operands that nothing reads any more, and small arrays are local. Programs of
-- slices, writes and sums, drawn at random, have the bits of the virtual machine.
local damo = require "damo"
local exported = require "spec.support.exported"

local dir = os.tmpname()
os.remove(dir)
os.execute("mkdir " .. dir)

local x, y, A = damo.dvector "x", damo.dvector "y", damo.dmatrix "A"

-- A linear congruential generator, so that programs are the same everywhere.
local seed = 7
local function draw(n)
  seed = (seed * 1103515245 + 12345) % 2147483648
  return math.floor(seed / 65536) % n + 1
end

local slices = {
  { { { 1, -2 } }, 1 }, { { { 2 } }, 1 }, { { { 3, -2 } }, 3 }, { { { -1, 1, -1 } }, 0 }, { { { 2, -1 } }, 1 },
  { { { -1, 2, -1 } }, 1 },
}

-- A program over vectors of n entries: values[i] has n - short[i] entries.
local function program(steps)
  local values, short = { x, y, x * y, x + 0.5 }, { 0, 0, 0, 0 }
  local function pick(length)
    local fits = {}
    for i, by in ipairs(short) do
      if not length or by == length then fits[#fits + 1] = i end
    end
    return #fits > 0 and fits[draw(#fits)] or nil
  end
  local function push(value, by) values[#values + 1], short[#short + 1] = value, by end
  for _ = 1, steps do
    local kind, i = draw(7), pick()
    local j = pick(short[i])
    local slice = slices[draw(#slices)]
    if kind == 1 then
      push(values[i] * values[j] - 0.25, short[i])
    elseif kind == 2 and short[i] == 0 then
      push(values[i][slice[1]] * 1.5, slice[2])
    elseif kind == 3 and slice[2] <= 3 then
      local whole, part = pick(0), pick(slice[2])
      if part then push(damo.set_subtensor(values[whole][slice[1]], values[part]), 0) end
    elseif kind == 4 then
      local whole, part = pick(0), pick(slice[2])
      if part then push(damo.inc_subtensor(values[whole][slice[1]], values[part]), 0) end
    elseif kind == 5 then
      push(values[i] / (1 + damo.sqr(values[i])) + damo.sum(values[j]) * 0.125, short[i])
    elseif kind == 6 then
      local whole, part = pick(0), pick(0)
      push(damo.set_subtensor(values[whole][{ { -1, 1, -1 } }], values[part]), 0)
    else
      push(damo.sqrt(damo.abs(values[i])) - values[j], short[i])
    end
  end
  local results = {}
  for i = #values, math.max(5, #values - 5), -1 do results[#results + 1] = values[i] end
  return results
end

local models = {}
local function model(name, inputs, outputs, ...)
  local values = {}
  for i, shape in ipairs { ... } do values[i] = exported.values(shape, i) end
  models[#models + 1] = { "pass_" .. name, inputs, outputs, values, exact = true }
end

for _, n in ipairs { 5, 17, 70, 1500 } do
  for k = 1, 3 do model("random_" .. n .. "_" .. k, { x, y }, program(16), { n }, { n }) end
  local a = x * 2 + y
  local b = a[{ { -1, 1, -1 } }] * 3
  model("turned_" .. n, { x, y }, { b - a, damo.set_subtensor(a[{ { 2 } }], b[{ { 1, -2 } }]) }, { n }, { n })
  model("kept_" .. n, { x, y },
    { damo.inc_subtensor(a[{ { 2, 3 } }], 1.0), a, damo.sqrt(damo.abs(a)) + b }, { n }, { n })
  local z = damo.zeros_like(x)
  z = damo.set_subtensor(z[{ { 1, -2 } }], x[{ { 2 } }] * y[{ { 1, -2 } }])
  z = damo.inc_subtensor(z[{ { 2 } }], damo.sqr(x[{ { 2 } }]) - y[{ { 1, -2 } }])
  model("padded_" .. n, { x, y }, { z * y }, { n }, { n })
end
for _, shape in ipairs { { 3, 4 }, { 20, 33 } } do
  local B = A.T * 2
  local C = damo.inc_subtensor((A + 1)[{ { 2 }, {} }], A[{ { 1, -2 }, {} }])
  model("matrix_" .. shape[1], { A },
    { B.T + A, damo.sum(damo.sqr(C), 1), damo.sum(C * A, 2), damo.max(C - A), damo.prod(damo.abs(C) * 0.1 + 0.9, 2) },
    shape)
end
-- Writes into parts of an array that holds one value.
local function filled(like, value) return damo.zeros_like(like) + value end
for _, n in ipairs { 7, 90, 1500 } do
  local results = {}
  for i, value in ipairs { 0.0, -0.0, 2.5 } do
    local base = filled(x, value)
    for _, slice in ipairs(slices) do
      local part = y[slice[1]] * x[slice[1]]
      results[#results + 1] = damo.set_subtensor(base[slice[1]], part)
      results[#results + 1] = damo.inc_subtensor(base[slice[1]], part - part)
    end
    results[#results + 1] = damo.inc_subtensor(base[{ { 1, -1, 3 } }], x[{ { 1, -1, 3 } }])
    results[#results + 1] = damo.inc_subtensor(base[damo.constant(damo.array({ 2, 5, 2 }, "int64"))], x[{ { 1, 3 } }])
    results[#results + 1] = damo.set_subtensor(base[i], x[2]) + base
    local twice = damo.set_subtensor(base[{ { 3, 5 } }], y[{ { 3, 5 } }])
    results[#results + 1] = damo.inc_subtensor(twice[{ { 4, -1 } }], base[2])
  end
  model("filled_" .. n, { x, y }, results, { n }, { n })
end
local grid = damo.zeros_like(A)
model("filled_grid", { A }, { damo.set_subtensor(grid[{ { 2, 3 }, {} }], A[{ { 1, 2 }, {} }]), grid,
  damo.inc_subtensor(grid[{ {}, { 2 } }], A[{ {}, { 1, -2 } }]), damo.inc_subtensor(grid[4], A[2]) }, { 9, 20 })
-- What a first pass reads in another order lies in memory that a second one, joined to it, could have for its results.
for _, n in ipairs { 100, 2000 } do
  local a = damo.cumsum(x)[{ { -1, 1, -1 } }] * 2 - y
  local b = damo.reshape(a, { 2, n / 2 }) * A + 1
  model("freed_" .. n, { x, y, A }, { a, damo.sum(b, 1) }, { n }, { n }, { 2, n / 2 })
end
-- What is written over before anything reads it is not written: compilers see no variable that nothing reads.
local over = damo.inc_subtensor((x * y)[{ { 2, 5 } }], y[{ { 2, 5 } }] * 2)
over = damo.set_subtensor(over[{ { 2, 5 } }], y[{ { 1, 4 } }] - 1)
model("over", { x, y }, { over[{ { 2, 5 } }] * 3 }, { 40 }, { 40 })
local k = damo.lscalar "k"
local last = damo.scan(function(v) return v * 0.5 + 1 end, { outputs_info = A[k], n_steps = 3 })[-1]
models[#models + 1] = { "pass_start", { A, k }, { last }, { exported.values { 2, 7 }, 2 }, exact = true }
for _, n in ipairs { 1, 2, 7, 8, 9, 17, 32, 33, 41, 512, 513, 1025 } do
  model("fold_" .. n, { x, y },
    { damo.sum(x), damo.sum(x * y), damo.prod(1 + x * 0.01), damo.max(x - y), damo.min(x), damo.var(x),
      damo.sum(damo.cast(damo.floor(x * 9), "int64")), damo.sum(damo.cast(x, "float32")), damo.all(damo.gt(x, -9)) },
    { n }, { n })
end

describe("passes of exported C", function()
  teardown(function() os.execute("rm -rf " .. dir) end)

  it("have the bits of the virtual machine, joined or not", function()
    assert.is_true(#exported.compilers > 0)
    for _, compiler in ipairs(exported.compilers) do assert.same({}, exported.run(models, dir, compiler)) end
  end)

  it("have no loops and arrays of their own", function()
    local z = damo.set_subtensor(damo.zeros_like(x)[{ { 1, -2 } }], x[{ { 2 } }] * x[{ { 1, -2 } }])
    local f = damo.compile({ x }, damo.inc_subtensor(z[{ { 2 } }], damo.sqr(x[{ { 2 } }])))
    f:export_c { name = "joined", dir = dir, shapes = { { 2000 } } }
    local file = assert(io.open(dir .. "/joined.c"))
    local text = file:read "*a"
    file:close()
    local _, loops = text:gsub("for %(ptrdiff_t", "")
    assert.is_true(loops <= 3, text)
    assert.falsy(text:find("memcpy(v", 1, true), text)
  end)
end)

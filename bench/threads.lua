-- threads.lua: times damo on two threads against the loops of threads_floor.c on as many, by the wall clock, in turn.
--
--     lua5.4 bench/threads.lua [THREADS]
--
-- An idle machine is needed: a thread that waits for a core counts fully. A step of training has no C loop; its line
-- says how many times faster it is than with one thread. OpenBLAS's own threads are those of OPENBLAS_NUM_THREADS.

local damo = require "damo"
local have_floor, floor = pcall(require, "threads_floor")
local unpack = table.unpack or unpack -- luacheck: ignore

if not have_floor then
  print "threads: left out, there is no C compiler's threads_floor"
  return
end

local THREADS, ROUNDS = math.floor(tonumber(arg[1]) or 2), 11

local function normal(...) return damo.random.normal(0, 1, { size = { ... } }) end

local function pointers(arrays)
  local list = {}
  for i, x in ipairs(arrays) do list[i] = x:pointer() end
  return list
end

local function median(list)
  table.sort(list)
  return list[math.floor((#list + 1) / 2)]
end

local function seconds_of(call, args)
  local start = floor.wall()
  call(unpack(args))
  return floor.wall() - start
end

--- The medians of the times of several functions without arguments, which run in turn.
local function in_turn(...)
  local runs, times = { ... }, {}
  for k = 1, #runs do
    times[k] = {}
    runs[k]()
  end
  for i = 1, ROUNDS do
    for k, run in ipairs(runs) do times[k][i] = run() end
  end
  for k = 1, #runs do times[k] = median(times[k]) end
  return unpack(times)
end

--- One line: a call on one thread and on several, and the C loop on several.
local function show(title, inputs, output, args, size, loop, operands, n, m)
  local one = damo.compile(inputs, output, { threads = 1 })
  local many = damo.compile(inputs, output, { threads = THREADS })
  local result = one(unpack(args))
  local into_one, into_many = one:into(result), many:into(result)
  local out = damo.zeros { size }
  local function theirs(threads)
    return function() return floor[loop](threads, 1, out:pointer(), operands, n, m) end
  end
  local single, several, plain, plain_several = in_turn(function() return seconds_of(into_one, args) end,
    function() return seconds_of(into_many, args) end, theirs(1), theirs(THREADS))
  if not damo.allclose(damo.reshape(result, { size }), out, { rtol = 1e-9, atol = 1e-11 }) then
    print(("  %-40s left out: the loop's result is another"):format(title))
    return
  end
  print(("  %-40s %9.3f ms %6.2f x faster than one thread (C: %.2f) %6.2f x plain loop (target 1.1)"):format(title,
    several * 1e3, single / several, plain / plain_several, several / plain_several))
end

damo.random.seed(3)
print(("threads: %d of them, against plain C loops"):format(THREADS))

local n = 10000000
do
  local v, x = damo.dvector "v", normal(n)
  show("exp(-v^2) sin v + log1p v^2, n = 1e7", { v }, damo.exp(-damo.sqr(v)) * damo.sin(v) + damo.log1p(damo.sqr(v)),
    { x }, n, "chain", pointers { x }, n)
  local a, b, c, ys, zs = damo.dvector "a", damo.dvector "b", damo.dvector "c", normal(n), normal(n)
  show("2 x + y z, n = 1e7", { a, b, c }, 2 * a + b * c, { x, ys, zs }, n, "multiply_add", pointers { x, ys, zs }, n)
end

do
  local rows, columns = 100000, 64
  local A = damo.sparse.random(rows, rows, { density = 1e-4, format = "csr" })
  local D = normal(rows, columns)
  local S, d = damo.sparse.csr_dmatrix "S", damo.dmatrix "d"
  show("A D, 1e5 x 1e5 of 1e6 entries, 64 columns", { S, d }, damo.sparse.dot(S, d), { A, D }, rows * columns,
    "sparse_dense", pointers { damo.cast(A.indptr, "int32"), damo.cast(A.indices, "int32"), A.data, D }, rows, columns)
end

do
  local batch, inputs, hidden, classes = 64, 784, 500, 10
  local x, y = damo.dmatrix "x", damo.lvector "y"
  local w, b = damo.shared(normal(inputs, hidden) * 0.05), damo.shared(damo.zeros { hidden })
  local u, c = damo.shared(normal(hidden, classes) * 0.05), damo.shared(damo.zeros { classes })
  local scores = damo.dot(damo.tanh(damo.dot(x, w) + b), u) + c
  local cost = -damo.mean(damo.sum(damo.one_hot(y, classes) * damo.log_softmax(scores, { axis = 2 }), { axis = 2 }))
  local updates, gradients = {}, damo.grad(cost, { w, b, u, c })
  for i, p in ipairs { w, b, u, c } do updates[p] = p - 0.1 * gradients[i] end
  local function step(threads) return damo.compile({ x, y }, cost, { updates = updates, threads = threads }) end
  local labels = damo.zeros({ batch }, "int64")
  for i = 1, batch do labels[i] = i % classes + 1 end
  local args, one, many = { normal(batch, inputs), labels }, step(1), step(THREADS)
  local single, several = in_turn(function() return seconds_of(one, args) end,
    function() return seconds_of(many, args) end)
  print(("  %-40s %9.3f ms %6.2f x faster than one thread"):format("MLP step, 64 x 784-500-10", several * 1e3,
    single / several))
end

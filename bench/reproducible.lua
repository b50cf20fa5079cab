-- reproducible.lua: what the same bits on every machine cost: each line is a Function's time in microseconds in the
-- default mode and in reproducible mode, the least of many calls, and their ratio. docs/reproducible.md has a run's
-- numbers.
--
--     lua5.4 bench/reproducible.lua

local damo = require "damo"

local mode = damo.Mode { reproducible = true }

local function normal(...)
  return (select(2, damo.random.normal(0, 1, { size = { ... }, rng = damo.random.state(1) })))
end

local function time(f, args)
  local best = math.huge
  for _ = 1, 40 do
    local from = damo.clock()
    f(table.unpack(args))
    best = math.min(best, damo.clock() - from)
  end
  return best / 1e3
end

local function row(name, inputs, outputs, args)
  local default = time(damo.compile(inputs, outputs), args)
  local reproducible = time(damo.compile(inputs, outputs, { mode = mode }), args)
  print(("%-44s %10.1f %10.1f %7.2f"):format(name, default, reproducible, reproducible / default))
end

print(("%-44s %10s %10s %7s"):format(damo.info().kernels, "default", "same bits", "ratio"))

local n = 100000
local v, s = damo.dvector "v", damo.fvector "s"
local numbers = damo.linspace(-0.95, 0.95, n)
for _, name in ipairs { "exp", "log1p", "sin", "tan", "tanh", "sigmoid", "erf", "arcsin", "arctan", "log2" } do
  row(name .. ", 100,000", { v }, damo[name](v), { damo.abs(numbers) })
end
row("pow, 100,000", { v }, damo.abs(v) ^ 2.3, { numbers })
for _, name in ipairs { "exp", "tanh" } do
  row(name .. ", float32, 100,000", { s }, damo[name](s), { damo.cast(numbers, "float32") })
end
row("sum of squares, 100,000", { v }, damo.sum(v * v), { numbers })

local A, B = damo.dmatrix "A", damo.dmatrix "B"
for _, side in ipairs { 8, 64, 500 } do
  local a = normal(side, side)
  row(("dot, %d x %d"):format(side, side), { A, B }, damo.dot(A, B), { a, a })
end
row("dot, 500 x 500 times a vector", { A, v }, damo.dot(A, v), { normal(500, 500), normal(500) })

local X, W, U = damo.dmatrix "X", damo.dmatrix "W", damo.dmatrix "U"
local scores = damo.log_softmax(damo.dot(damo.tanh(damo.dot(X, W)), U), { axis = 2 })
local loss = -damo.mean(scores[{ {}, 3 }])
row("network 256 x 784-100-10, gradient", { X, W, U }, { loss, damo.grad(loss, W), damo.grad(loss, U) },
  { normal(256, 784), normal(784, 100), normal(100, 10) })

local I, K = damo.dtensor4 "I", damo.dtensor4 "K"
row("conv2d, 8 x 16 x 32 x 32 by 32 x 16 x 3 x 3", { I, K }, damo.nn.conv2d(I, K),
  { normal(8, 16, 32, 32), normal(32, 16, 3, 3) })

local entries = damo.sparse.csr_from_dense(damo.where(damo.lt(normal(2000, 2000), -2.3), 1.5, 0.0))
row("sparse 2000 x 2000 by 32 columns", { A }, damo.sparse.dot(damo.constant(entries), A), { normal(2000, 32) })

local x0 = damo.dscalar "x0"
local x = damo.scan(function(x) return x + 0.01 * damo.sin(x) * damo.exp(-x) end, { outputs_info = x0, n_steps = 2000 })
row("scan of 2,000 steps with sin and exp", { x0 }, { x[-1], damo.grad(x[-1], x0) }, { damo.array(0.5) })

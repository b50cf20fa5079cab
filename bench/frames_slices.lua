-- frames_slices.lua: calls in slices. First the jitter of a game loop that spends 200 µs a frame on a model: one call
-- in two steps each frame, with 200,000 live objects and the collector running. Then the longest piece of each
-- of a set of models: processor time of the longest step with a budget of 0, the least of some runs.
-- Argument: the number of frames.

local damo = require "damo"
local slices = dofile((arg[0]:match("^(.*)/") or ".") .. "/slices.lua")
local unpack = table.unpack or unpack -- luacheck: ignore 113 143

local FRAMES = tonumber(arg and arg[1]) or 100000

local x, A = damo.dvector "x", damo.dmatrix "A"

local function jitter()
  local world = {}
  for i = 1, 1000 do
    world[i] = {}
    for j = 1, 200 do world[i][j] = { j } end
  end
  local f = damo.compile({ x }, damo.sum(damo.exp(damo.sin(x))))
  local n = 20000
  local function time_of(size)
    local a, best = damo.ones { size }, math.huge
    for _ = 1, 20 do
      local start = damo.clock()
      f(a)
      best = math.min(best, damo.clock() - start)
    end
    return best
  end
  n = math.floor(n * 200000 / time_of(n)) -- 200 µs
  local a = damo.ones { n }
  local times, used = damo.zeros(FRAMES, "int64"), damo.zeros(FRAMES)
  local run = f:start(a)
  local clock, processor = damo.clock, os.clock
  for i = 1, FRAMES do
    local start, begun = clock(), processor()
    run:restart(a)
    while not run:step(100) do end
    times[i] = clock() - start
    used[i] = processor() - begun
    world[i % 1000 + 1][i % 200 + 1] = { i }
  end
  print(("%d frames of a model of 200 us"):format(FRAMES))
  local function show(name, list)
    list = damo.sort(list):totable()
    local function at(p) return list[math.max(1, math.ceil(p * FRAMES))] end
    print(("%-24s p50 %.1f  p99 %.1f  p99.9 %.1f  max %.1f us"):format(name, at(0.5), at(0.99), at(0.999), at(1)))
  end
  show("wall clock", times / 1000)
  show("processor time", used * 1e6)
  assert(#world == 1000)
end

local function pieces(name, inputs, outputs, values)
  local run = damo.compile(inputs, outputs):start(unpack(values))
  run:step()
  local least, steps, whole = math.huge, 0, 0
  for _ = 1, 7 do
    local longest, n, sum = slices.time(run, values)
    if longest < least then least, steps, whole = longest, n, sum end
  end
  print(("%-24s %10.0f %12.0f %8d"):format(name, least * 1e6, whole * 1e6, steps))
end

jitter()
local vector = damo.sin(damo.arange(1000000) * 0.7)
local matrix = damo.reshape(vector, { 1000, 1000 })
local rs = damo.random.RandomStream(1)
local m = damo.sparse.csr_matrix { name = "m", dtype = "float64" }
local band = damo.sparse.csr_from_dense(5 * damo.eye(2000) - damo.eye(2000, 2000, 1))
local at = damo.cast(damo.abs(damo.round(x * 1000)) + 1, "int64")
print(("%-24s %10s %12s %8s"):format("a million elements, us", "longest", "call", "steps"))
pieces("elementwise", { x }, damo.exp(damo.sin(x)), { vector })
pieces("sum", { x }, damo.sum(damo.exp(x)), { vector })
pieces("sums of columns", { A }, damo.sum(A * A, { axis = 1 }), { matrix })
pieces("softmax of rows", { A }, damo.nn.softmax(A, { axis = 2 }), { matrix })
pieces("softmax of a vector", { x }, damo.nn.softmax(x), { vector })
pieces("sort", { x }, damo.sort(x), { vector })
pieces("sort of rows", { A }, damo.argsort(A, { axis = 2 }), { matrix })
pieces("normal draws", {}, rs:normal(0, 1, { size = { 1000000 } }), {})
pieces("positions", { x }, x[at], { vector })
pieces("added at positions", { x }, damo.inc_subtensor(x[at], x), { vector })
pieces("cumsum", { x }, damo.cumsum(x), { vector })
pieces("cast", { x }, damo.cast(x, "float32"), { vector })
pieces("fft of rows", { A }, damo.abs(damo.fft.rfft(A)), { matrix })
pieces("fft of a vector", { x }, damo.abs(damo.fft.rfft(x)), { vector })
pieces("dot", { A }, damo.dot(A, A), { matrix })
pieces("scan", { x }, damo.scan(function(v, h) return damo.tanh(h * 0.9 + v) end,
  { sequences = x, outputs_info = 0.0 }), { vector })
pieces("sparse times vector", { m, x }, damo.sparse.dot(m, x), { band, damo.ones { 2000 } })
pieces("sparse to dense", { m }, m:toarray(), { band })

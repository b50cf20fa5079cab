-- A call in steps has the bits of an ordinary call: 40 models, with gradients, scans, sparse matrices, sorts, draws and
-- shared values, stepped by single pieces.
local damo = require "damo"

local x, y = damo.dvector "x", damo.dvector "y"
local A, B = damo.dmatrix "A", damo.dmatrix "B"
local m = damo.sparse.csr_matrix { name = "m", dtype = "float64" }
local image = damo.dtensor4 "image"

local function wave(n, k) return damo.sin(damo.arange(1, n + 1, { dtype = "float64" }) * (k or 0.7)) end

local function grid(r, c, k) return damo.reshape(wave(r * c, k), { r, c }) end

local function band(n)
  return damo.sparse.csr_from_dense(5 * damo.eye(n) - 0.3 * damo.eye(n, n, 1) + 0.1 * damo.eye(n, n, -2))
end

local V, W = wave(30000), wave(30000, 0.31)
local P, Q = grid(160, 120), grid(120, 140, 0.13)
local M = band(400)

local function scanned(v)
  return damo.scan(function(xt, h) return damo.tanh(0.9 * h + xt) end, { sequences = v, outputs_info = 0.0 })
end

local models = {}
local function model(name, inputs, outputs, values, options)
  models[#models + 1] = { name = name, inputs = inputs, outputs = outputs, values = values, options = options }
end

model("elementwise", { x }, damo.exp(damo.sin(x)) + x * 2, { V })
model("elementwise of two", { x, y }, damo.tanh(x * y) / (1 + y * y), { V, W })
model("several results", { x }, { damo.sin(x), damo.sum(x), damo.max(x) }, { V })
model("broadcast", { A, y }, A * y + damo.exp(-y), { P, wave(120) })
model("sum", { x }, damo.sum(damo.exp(x)), { V })
model("sums of rows", { A }, damo.sum(A * A, { axis = 2 }), { P })
model("sums of columns", { A }, damo.sum(A * A, { axis = 1 }), { P })
model("mean and variance", { x }, { damo.mean(x), damo.var(x) }, { V })
model("product", { x }, damo.prod(1 + x * 1e-3), { V })
model("argmax", { A }, { damo.argmax(A, { axis = 2 }), damo.argmin(A, { axis = 1 }) }, { P })
model("softmax of a vector", { x }, damo.nn.softmax(x), { V })
model("softmax of rows", { A }, damo.nn.softmax(A, { axis = 2 }), { P })
model("logsumexp", { A }, damo.logsumexp(A, { axis = 2 }), { P })
model("cumsum", { x }, damo.cumsum(x), { V })
model("cumprod of rows", { A }, damo.cumprod(1 + A * 0.01, { axis = 2 }), { P })
model("sort", { x }, damo.sort(x), { V })
model("argsort of rows", { A }, damo.argsort(A, { axis = 2 }), { P })
model("unique", { x }, damo.unique(damo.round(x * 50)), { V })
model("topk", { x }, damo.topk(x, 100), { V })
model("positions", { x }, x[damo.cast(damo.abs(damo.round(x * 100)) + 1, "int64")], { V })
model("rows at positions", { A, x }, A[damo.cast(damo.abs(damo.round(x * 50)) + 1, "int64")], { P, wave(5000) })
model("added at positions", { x, y },
  damo.inc_subtensor(x[damo.cast(damo.abs(damo.round(y * 100)) + 1, "int64")], y), { V, W })
model("casts", { x }, damo.cast(damo.cast(x * 1000, "int32"), "float32"), { V })
model("copies", { A }, damo.join(1, { damo.transpose(A), damo.transpose(A * 2) }), { P })
model("slices reversed", { x }, x[{ { -1, 1, -1 } }] * 1, { V })
model("dot", { A, B }, damo.dot(A, B), { P, Q })
model("layer", { A, B, y }, damo.tanh(damo.dot(A, B) + y), { P, Q, wave(140) })
model("gradient of a layer", { A, B }, damo.grad(damo.sum(damo.tanh(damo.dot(A, B))), { A, B }), { P, Q })
model("gradient of a softmax", { x }, damo.grad(damo.sum(damo.sqr(damo.nn.softmax(x))), x), { V })
model("solve", { A, x }, damo.linalg.solve(damo.dot(A, damo.transpose(A)) + damo.eye(160), x), { P, wave(160) })
model("cholesky", { A }, damo.linalg.cholesky(damo.dot(A, damo.transpose(A)) + damo.eye(160)), { P })
model("fft", { A }, damo.abs(damo.fft.rfft(A)), { P })
model("convolution", { image }, damo.nn.conv2d(image, damo.constant(damo.reshape(wave(72), { 4, 2, 3, 3 }))),
  { damo.reshape(wave(2 * 2 * 40 * 40), { 2, 2, 40, 40 }) })
model("scan", { x }, scanned(x), { V })
model("gradient of a scan", { x }, damo.grad(damo.sum(scanned(x)), x), { wave(3000) })
model("scan of matrices", { A, x }, damo.scan(function(v, h) return damo.tanh(damo.dot(A, h)) + v end,
  { sequences = x, outputs_info = damo.constant(wave(50)) }), { grid(50, 50), wave(300) })
model("sparse product", { m, x }, damo.sparse.dot(m, x), { M, wave(400) })
model("sparse times sparse", { m }, damo.sparse.true_dot(m, m), { M })
model("sparse entries", { m }, { damo.sparse.sin(m), m:toarray() }, { M })
model("sparse gradient", { m, x }, damo.grad(damo.sum(damo.sqr(damo.sparse.dot(m, x))), x), { M, wave(400) })

local function bytes(v)
  if damo.sparse.is_sparse(v) then v = v:toarray() end
  return damo.io.format(v, { format = "npy" })
end

local function same(a, b)
  if type(a) ~= "userdata" then return a == b or (a ~= a and b ~= b) end
  return bytes(a) == bytes(b)
end

local function to_end(run, us)
  local steps = 0
  repeat
    steps = steps + 1
    assert(steps < 1000000)
  until run:step(us)
  return steps
end

describe("a call in steps has the bits of a call:", function()
  for _, at in ipairs(models) do
    it(at.name, function()
      local f = damo.compile(at.inputs, at.outputs, at.options)
      local unpack = table.unpack or unpack -- luacheck: ignore 113 143
      local want = { f(unpack(at.values)) }
      local run = f:start(unpack(at.values))
      for _, us in ipairs { 0, 30, false } do
        assert.is_true(to_end(run, us or nil) >= 1)
        local got = { run:result() }
        assert.equal(#want, #got)
        for i = 1, #want do assert.is_true(same(want[i], got[i])) end
        run:restart(unpack(at.values))
      end
      run:cancel()
    end)
  end

  it("draws and updates, which go on where the last call has left them", function()
    local streams = {}
    for i = 1, 2 do
      local rs, s = damo.random.RandomStream(7), damo.shared(0.0, "s")
      local draws = { rs:normal(0, 1, { size = { 20000 } }), rs:uniform(0, 1, { size = { 20000 } }),
        rs:gamma(2, { size = { 5000 } }), rs:integers(1, 100, { size = { 5000 } }) }
      streams[i] = damo.compile({}, draws, { updates = { { s, s + draws[1][1] } } })
    end
    local run = streams[2]:start()
    for k = 1, 3 do
      local want = { streams[1]() }
      if k > 1 then run:restart() end
      to_end(run, 0)
      local got = { run:result() }
      for i = 1, #want do assert.is_true(same(want[i], got[i])) end
    end
    assert.equal(streams[1].shared[1]:get_value(), streams[2].shared[1]:get_value())
  end)
end)

-- To the bit in reproducible mode: the models of spec/support/reproducible_models.lua that can be exported, with their
-- gradients, scans and draws, and some more.
if _VERSION ~= "Lua 5.4" then return end -- the C is the same on every Lua, and compiling it takes minutes
local damo = require "damo"
local exported = require "spec.support.exported"

local dir = os.tmpname()
os.remove(dir)
os.execute("mkdir " .. dir)

-- What has no source with the same bits, or none at all.
local refused = {}
for name in ([[functions of SLEEF float64;functions of SLEEF float32;hypot float64;hypot float32;
  complex numbers;complex64;Fourier transforms;Newton's method;sparse products;
  the entries of a sparse matrix;products of sparse matrices;draws;
  draws of vectors;]]):gmatch "%s*([^;]+);" do refused[name] = true end

local models, wrong = {}, {}
do
  local threads = damo.config.threads
  local names, made = assert(loadfile "spec/support/reproducible_models.lua")("models")
  damo.config.threads = threads
  for k, name in ipairs(names) do
    local f, args, inputs, outputs = made[name]()
    local shapes = {}
    for i, v in ipairs(args) do shapes[i] = v.shape end
    local ok, err = pcall(f.export_c, f, { name = "tried", dir = dir, shapes = shapes })
    if ok == (refused[name] == true) then wrong[#wrong + 1] = name .. ": " .. tostring(err) end
    if ok then
      models[#models + 1] = { "reproducible_" .. k, inputs, outputs, args, exact = true, f = f,
        calls = #args == 0 and 3 or 1 }
    end
  end
end

local mode = damo.Mode { reproducible = true }
local function model(name, inputs, outputs, args, options)
  local m = { name, inputs, outputs, args, exact = true, mode = mode }
  for k, v in pairs(options or {}) do m[k] = v end
  models[#models + 1] = m
end
local values = exported.values
local x, y, A = damo.dvector "x", damo.dvector "y", damo.dmatrix "A"
local function with_grad(cost, wrt)
  local outputs = { cost }
  for _, g in ipairs(damo.grad(cost, wrt)) do outputs[#outputs + 1] = g end
  return outputs
end

do -- Kepler's orbit by the leapfrog rule, and the gradient through its steps
  local q, v = damo.scan(function(q, v)
    local r = damo.sqrt(damo.sum(q * q))
    local now = v - 0.01 * q / r ^ 3
    return q + 0.01 * now, now
  end, { outputs_info = { x, y }, n_steps = 200 })
  model("orbit", { x, y }, with_grad(damo.sum(damo.sqr(q[-1] - v[-1])), { x, y }),
    { damo.array { 1, 0 }, damo.array { 0.1, 0.9 } })
end
do -- a classical Runge-Kutta rule
  local function rate(s) return damo.stack { s[2], (1 - s[1] ^ 2) * s[2] - s[1] } end
  local s = damo.scan(function(s)
    local k1 = rate(s)
    local k2 = rate(s + 0.05 * k1)
    local k3 = rate(s + 0.05 * k2)
    local k4 = rate(s + 0.1 * k3)
    return s + 0.1 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
  end, { outputs_info = x, n_steps = 60 })
  model("van_der_pol", { x }, with_grad(damo.sum(s[-1] ^ 2), { x }), { damo.array { 1.5, -0.5 } })
end
do -- a chain of springs: forces and a Hessian-vector product
  local d = x[{ { 2 } }] - x[{ { 1, -2 } }]
  local energy = damo.sum(damo.sqr(d - 1)) + 0.1 * damo.sum(damo.exp(-d * d))
  local g = damo.grad(energy, x)
  model("springs", { x, y }, { energy, g, damo.grad(damo.sum(g * y), x), damo.Rop(g, x, y) },
    { values { 300 }, values({ 300 }, 2) })
end
do -- Rosenbrock's function
  local cost = damo.sum(100 * damo.sqr(x[{ { 2 } }] - damo.sqr(x[{ { 1, -2 } }])) + damo.sqr(1 - x[{ { 1, -2 } }]))
  model("rosenbrock", { x }, with_grad(cost, { x }), { values { 50 } })
end
do -- logistic regression
  local z = A:dot(x)
  local cost = damo.mean(damo.softplus(z) - z * y) + 0.01 * damo.sum(x * x)
  model("logistic", { A, x, y }, with_grad(cost, { x }), { values { 120, 8 }, values { 8 },
    damo.cast(damo.gt(values({ 120 }, 5), 0), "float64") })
end
do -- momentum: shared values, several calls
  local w, v = damo.shared(values { 6 }, "w"), damo.shared(damo.zeros { 6 }, "v")
  local cost = damo.sum(damo.log1p(damo.sqr(A:dot(w) - x)))
  local now = 0.9 * v - 0.05 * damo.grad(cost, w)
  model("momentum", { A, x }, { cost }, { values { 9, 6 }, values { 9 } },
    { updates = { { w, w + now }, { v, now } }, calls = 4 })
end
do -- a mixture of normal densities
  local z = damo.logsumexp(-damo.sqr(damo.expand_dims(x, 2) - damo.expand_dims(y, 1)) / 2, { axis = 2 })
  model("mixture", { x, y }, with_grad(-damo.sum(z), { x, y }), { values { 80 }, values({ 7 }, 4) })
end
do -- a table of forces, read along a trajectory
  local grid = damo.arange(12) * 0.5 - 3
  local q = damo.scan(function(q) return q - 0.1 * damo.interpn({ grid }, y, q, { outside = "clip" }) end,
    { outputs_info = x, non_sequences = y, n_steps = 30 })
  model("forces", { x, y }, with_grad(damo.sum(damo.sqr(q[-1])), { x, y }), { values { 5 }, values({ 12 }, 3) })
end
do -- Kuramoto's oscillators
  local s = damo.scan(function(s)
    return s + 0.05 * (y + damo.mean(damo.sin(damo.expand_dims(s, 1) - damo.expand_dims(s, 2)), { axis = 2 }))
  end, { outputs_info = x, non_sequences = y, n_steps = 40 })
  model("oscillators", { x, y }, with_grad(damo.sum(damo.cos(s[-1])), { x, y }), { values { 6 }, values({ 6 }, 2) })
end
do -- a Kalman filter of one number
  local m = damo.scan(function(z, m, p)
    local k = p / (p + 0.5)
    return m + k * (z - m), (1 - k) * p + 0.1
  end, { sequences = x, outputs_info = { damo.constant(0.0), damo.constant(1.0) } })
  model("kalman", { x }, with_grad(damo.sum(damo.sqr(m - x)), { x }), { values { 60 } })
end
do -- a branch, segments and a running sum
  local ids = damo.lvector "ids"
  local sums = damo.segment_sum(damo.exp(x), ids, { num_segments = 5 })
  local cost = damo.sum(damo.log(sums + 1)) + damo.sum(damo.tanh(damo.cumsum(x)))
  model("groups", { x, ids },
    { damo.ifelse(damo.gt(cost, 0), cost, -cost), damo.grad(cost, x), damo.sort(damo.sin(x)) },
    { values { 20 }, damo.array({ 1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 5, 5, 5, 5, 1, 1, 2, 2, 3, 3 }, "int64") })
end
do -- Langevin's equation
  local rs = damo.random.RandomStream(17)
  local q = damo.scan(function(q)
    return q - 0.02 * damo.sinh(q) + 0.2 * rs:normal(0, 1, { size = { 4 } })
  end, { outputs_info = damo.zeros { 4 }, n_steps = 30 })
  model("langevin", {}, { q, damo.mean(damo.exp(q)) }, {}, { calls = 3 })
end

describe("export_c of reproducible models", function()
  teardown(function() os.execute("rm -rf " .. dir) end)

  it("refuses what it can't write, and nothing else", function() assert.same({}, wrong) end)
  it("are many", function() assert.is_true(#models >= 51, tostring(#models)) end)

  for k, compiler in ipairs(exported.compilers) do
    local flags = ({ "-O1 -march=native", "-O1" })[k]
    it(("gives the virtual machine's bits, by %s %s"):format(compiler, flags), function()
      assert.same({}, exported.run(models, dir, compiler, flags))
    end)
  end
end)

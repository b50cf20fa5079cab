-- Prints a hash of what each of many models gives in reproducible mode: values, gradients, scans and draws. Run by
-- spec/compile/reproducible_spec.lua under several instruction sets, numbers of threads, with and without
-- machine code:
--     DAMO_ISA=sse2 lua reproducible_models.lua [threads] [nojit] [nosleef] [mode]
-- Loaded with the argument "models" it returns their names, and a table of functions that make them, each giving the
-- Function, its arguments, inputs and outputs.
-- nosleef leaves out the models of functions that SLEEF computes, which a build without SLEEF refuses. mode:
-- "off" is the
-- default mode, to see that the hashes notice other bits.
local damo = require "damo"
local nn, sparse, random, fft = damo.nn, damo.sparse, damo.random, damo.fft

local unpack = table.unpack or unpack -- luacheck: ignore

local flags = {}
for _, word in ipairs(arg or {}) do flags[word] = true end
local threads = arg and tonumber(arg[1]) or 1
damo.config.threads = threads
local mode = not flags.off and damo.Mode { reproducible = true, jit = not flags.nojit } or nil

local CALLS = 6 -- machine code takes over from kernels after some calls

-- ---- Hashes -------------------------------------------------------------------------------------------------------

-- Polynomials in the bytes modulo two primes below 2^32, so that doubles hold each product.
local function hash_bytes(h, bytes)
  local a, b = h[1], h[2]
  for i = 1, #bytes do
    local byte = bytes:byte(i)
    a, b = (a * 257 + byte) % 4294967291, (b * 263 + byte) % 4294967279
  end
  h[1], h[2] = a, b
end

-- Every nan counts as one.
local function hash_array(h, x)
  if type(x) == "number" then x = damo.array(x) end
  local dtype = x.dtype
  if dtype == "complex64" or dtype == "complex128" then
    hash_array(h, damo.real(x))
    return hash_array(h, damo.imag(x))
  end
  if x.ndim == 0 then x = x:reshape { 1 } end
  if dtype == "float32" or dtype == "float64" then
    local bad = damo.isnan(x)
    hash_bytes(h, bad:tobytes())
    x = damo.where(bad, damo.zeros_like(x), x)
  end
  hash_bytes(h, x:tobytes())
end

local function hash_value(h, x)
  if type(x) == "boolean" then x = damo.array(x) end
  if sparse.is_sparse(x) then
    hash_array(h, x.data)
    hash_bytes(h, x.indices:tobytes())
    hash_bytes(h, x.indptr:tobytes())
  else
    hash_array(h, x)
  end
end

-- ---- Values -------------------------------------------------------------------------------------------------------

local function second(_, x) return x end
local function normal(seed, size, dtype)
  return second(random.normal(0, 1, { size = size, rng = random.state(seed), dtype = dtype }))
end
local function uniform(seed, low, high, size, dtype)
  return second(random.uniform(low, high, { size = size, rng = random.state(seed), dtype = dtype }))
end

local inf = math.huge
local special = { 0, -1 / inf, inf, -inf, 0 / 0, 1, -1, 0.5, -0.5, 2, -2, 1e-320, -4.9e-324, 2.2250738585072014e-308,
  1e308, -1e308, 1.7976931348623157e308, 709.7, -745.1, 710, 88.7, -103.9, 1e-8, -1e-8, 1e-300, 3.14159265358979, 1e5,
  1e22, -1e15, 0.7071067811865476, 0.9999999999999999, 1.0000000000000002 }

-- Numbers of all sizes, and special ones.
local function wide(seed, n, dtype)
  local mixed = normal(seed, { n }) * damo.exp2(damo.floor(uniform(seed + 1, -30, 30, { n })))
  return damo.cast(damo.concatenate({ mixed, uniform(seed + 2, -20, 20, { n }), uniform(seed + 3, -1, 1, { n }),
    damo.array(special) }, { axis = 1 }), { dtype = dtype or "float64" })
end

-- ---- Models -------------------------------------------------------------------------------------------------------

local models, names = {}, {}
local uses_sleef = {}

-- model(name, {values}, function(variables…) return outputs… end, options): the values' dtypes and ranks are
-- the inputs'.
local function model(name, values, graph, options)
  names[#names + 1] = name
  models[name] = function()
    local inputs = {}
    for i, x in ipairs(values) do
      inputs[i] = damo.tensor("x" .. i, { dtype = x.dtype, ndim = x.ndim })
    end
    local outputs = { graph(unpack(inputs)) }
    local more = { mode = mode, on_unused_input = "ignore" }
    for k, v in pairs(options or {}) do more[k] = v end
    if options and options.graph_updates then
      more.graph_updates, more.updates = nil, options.graph_updates()
    end
    return damo.compile(inputs, outputs, more), values, inputs, outputs
  end
end

-- The same, with the gradient of the sum of all outputs by the inputs as further outputs.
local function slope(name, values, graph, options)
  model(name, values, function(...)
    local outputs, cost = { graph(...) }, 0
    for _, y in ipairs(outputs) do cost = cost + damo.sum(y) end
    for _, g in ipairs(damo.grad(cost, { ... })) do outputs[#outputs + 1] = g end
    return unpack(outputs)
  end, options)
end

local unary = { "exp", "exp2", "expm1", "log", "log1p", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh",
  "cosh",
  "tanh", "erf", "sigmoid", "softplus", "log1mexp", "sqrt", "reciprocal", "floor", "sign", "deg2rad" }
local of_sleef = { "exp10", "log2", "log10", "cbrt", "arcsinh", "arccosh", "arctanh", "erfc", "gamma", "gammaln" }

local function each(functions)
  return function(x)
    local out = {}
    for i, name in ipairs(functions) do out[i] = damo[name](x) end
    return unpack(out)
  end
end

for _, dtype in ipairs { "float64", "float32" } do
  model("functions " .. dtype, { wide(1, 3001, dtype) }, each(unary))
  model("functions of SLEEF " .. dtype, { wide(2, 3001, dtype) }, each(of_sleef))
  model("functions of two " .. dtype, { wide(3, 2003, dtype), wide(4, 2003, dtype) }, function(x, y)
    return x ^ y, damo.abs(x) ^ y, damo.arctan2(x, y), damo.logaddexp(x, y), damo.logaddexp2(x, y), x / y,
      damo.mod(x, y),
      damo.floor_div(x, y), damo.maximum(x, y)
  end)
  model("hypot " .. dtype, { wide(5, 999, dtype), wide(6, 999, dtype) }, function(x, y) return damo.hypot(x, y) end)
  uses_sleef["functions of SLEEF " .. dtype], uses_sleef["hypot " .. dtype] = true, true
  slope("fused functions " .. dtype, { normal(7, { 37, 211 }, dtype), normal(8, { 211 }, dtype) }, function(x, y)
    local t = damo.tanh(x * y + damo.sin(3 * x)) * damo.exp(-x * x) / (1 + damo.sqr(y))
    return t + damo.log1p(damo.sqr(x)) * damo.sigmoid(x - y) - damo.erf(x) ^ 3
  end)
  slope("sums " .. dtype, { normal(9, { 123, 457 }, dtype) }, function(x)
    return damo.sum(x * x), damo.sum(x, { axis = 1 }), damo.mean(x, { axis = 2 }), damo.var(x), damo.std(x,
      { axis = 2 }),
      damo.prod(1 + x / 1000, { axis = 1 }), damo.logsumexp(x), damo.logsumexp(x, { axis = 1 }), damo.max(x,
        { axis = 2 })
  end)
  model("running sums " .. dtype, { normal(10, { 31, 1009 }, dtype) }, function(x)
    return damo.cumsum(x, { axis = 2 }), damo.cumsum(x, { axis = 1 }), damo.cumprod(1 + x / 100, { axis = 2 })
  end)
  slope("softmax " .. dtype, { normal(11, { 61, 103 }, dtype) }, function(x)
    return damo.softmax(x, { axis = 2 }) * x, damo.log_softmax(x, { axis = 2 }), damo.softmax(x, { axis = 1 })
  end)
  slope("products " .. dtype, { normal(12, { 67, 131 }, dtype), normal(13, { 131, 45 }, dtype), normal(14, { 131 },
    dtype) },
    function(a, b, v)
      return damo.dot(a, b), damo.dot(a, v), damo.dot(v, b), damo.dot(v, v), damo.dot(a, a:transpose())
    end)
  slope("batched products " .. dtype, { normal(15, { 5, 17, 33 }, dtype), normal(16, { 5, 33, 9 }, dtype) },
    function(a, b)
    return damo.matmul(a, b), damo.tensordot(a, b, { axes = { { 1, 3 }, { 1, 2 } } }), damo.einsum({ a, b },
      "bij,bjk->ki")
  end)
  slope("a network " .. dtype, { normal(17, { 70, 40 }, dtype), normal(18, { 40, 64 }, dtype), normal(19, { 64 },
    dtype),
    normal(20, { 64, 10 }, dtype) }, function(x, w, b, u)
      local h = damo.tanh(damo.dot(x, w) / 6 + b)
      local p = damo.log_softmax(damo.dot(nn.relu(h), u), { axis = 2 })
      return -damo.mean(p[{ {}, 3 }])
    end)
  slope("a convolution " .. dtype, { normal(21, { 3, 4, 19, 23 }, dtype), normal(22, { 6, 4, 3, 5 }, dtype) },
    function(x, w)
    local y = nn.conv2d(x, w, { border_mode = "half" })
    return damo.sum(damo.sqr(nn.max_pool2d(nn.relu(y), { size = { 2, 2 } }))) / 100, y, nn.avg_pool2d(y,
      { size = { 3, 3 } })
  end)
  slope("filters " .. dtype, { normal(60, { 70, 3, 14, 13 }, dtype), normal(61, { 5, 3, 3, 3 }, dtype) },
    function(x, w)
    return nn.conv2d(x, w, { subsample = { 2, 1 } })
  end)
  slope("a normalisation " .. dtype, { normal(23, { 50, 77 }, dtype), normal(24, { 77 }, dtype) }, function(x, g)
    local m = damo.mean(x, { axis = 2, keepdims = true })
    local v = damo.mean(damo.sqr(x - m), { axis = 2, keepdims = true })
    return (x - m) / damo.sqrt(v + 1e-5) * g
  end)
  slope("a recurrent network " .. dtype, { normal(25, { 30, 8, 12 }, dtype), normal(26, { 12, 16 }, dtype),
    normal(27, { 16, 16 }, dtype) }, function(x, w, u)
      local h = damo.scan(function(xt, before) return damo.tanh(damo.dot(xt, w) + damo.dot(before, u) / 4) end,
        { sequences = x, outputs_info = damo.zeros({ 8, 16 }, { dtype = dtype }) })
      return damo.sum(damo.sqr(h[-1])), h
    end)
end

model("integers", { damo.cast(wide(30, 500) % 1000, { dtype = "int64" }) }, function(x)
  return x * x + 7, damo.mod(x, 13), damo.floor_div(x, 7), x / 3, damo.cast(x, { dtype = "float32" }) / 7, damo.sum(x)
end)
model("complex numbers", { damo.complex(normal(31, { 40, 50 }), normal(32, { 40, 50 })),
  damo.complex(normal(33, { 50, 20 }), normal(34, { 50, 20 })) }, function(a, b)
    return a * a - 2 * a, a / (a + 3), damo.abs(a), damo.angle(a), damo.dot(a, b), damo.sum(a), damo.prod(a,
      { axis = 1 }),
      damo.sign(a), damo.conj(a)
  end)
model("complex64", { damo.cast(damo.complex(normal(35, { 41, 30 }), normal(36, { 41, 30 })),
  { dtype = "complex64" }) },
  function(a)
    return a * a - 2 * a, a / (a + 3), damo.abs(a), damo.angle(a), damo.dot(a, a:transpose()), damo.prod(a,
      { axis = 2 })
  end)
model("Fourier transforms", { normal(37, { 3, 60 }), normal(38, { 4, 97 }) }, function(x, y)
  return fft.fft(x), fft.rfft(y), fft.irfft(fft.rfft(x)), fft.rfft2(x)
end)
slope("statistics", { normal(62, { 21, 200 }), normal(63, { 200 }) }, function(x, w)
  return damo.average(x, w, { axis = 2 }), damo.convolve(x[1], w), damo.cov(x)
end)
model("sorting", { normal(39, { 20, 301 }) }, function(x)
  return damo.sort(x, { axis = 2 }), damo.argsort(x, { axis = 1 }), damo.median(x, { axis = 2 })
end)
slope("indices", { normal(40, { 300, 7 }), normal(41, { 90 }) }, function(x, y)
  local at = damo.constant(damo.cast(damo.array { 1, 3, 3, 250, 17, 3 }, { dtype = "int64" }))
  return damo.sum(x[at] * 3) + damo.sum(damo.sin(y[{ { 10, 60, 7 } }])), damo.inc_subtensor(x[at], damo.ones { 6, 7 })
end)
slope("interpolation", { uniform(42, 0, 9, { 400 }), normal(43, { 10 }) }, function(x, z)
  return damo.interpn({ damo.arange(10) * 1.0 }, z, x, { method = "cubic" }),
    damo.interpn({ damo.arange(10) * 1.0 }, z, x)
end)
model("a Hessian-vector product", { normal(44, { 60 }), normal(45, { 60 }) }, function(x, v)
  local y = damo.sum(damo.exp(damo.sin(x)) * x ^ 2) + damo.logsumexp(x)
  local g = damo.grad(y, x)
  return damo.Rop(g, x, v), damo.grad(damo.sum(g * v), x)
end)
slope("densities", { normal(46, { 200 }), uniform(47, 0.1, 3, { 200 }) }, function(x, s)
  local z = x / s
  return damo.sum(-0.5 * z * z - damo.log(s)) + damo.sum(damo.logsumexp(damo.stack({ -z * z,
    -damo.sqr(z - 1) / 2 }), { axis = 1 }))
    - damo.sum(damo.log1p(z * z)) - damo.sum(damo.softplus(z))
end)
model("a choice", { normal(48, { 50 }), damo.array(0.25) }, function(x, c)
  return damo.ifelse(damo.gt(c, 0), damo.sin(x), damo.exp(x)), damo.ifelse(damo.gt(c, 1), damo.sin(x), damo.exp(x))
end)

-- Scans

slope("the Lorenz system", { damo.array(1.0), damo.array(28.0) }, function(x0, rho)
  local dt = 0.01
  local x, y, z = damo.scan(function(x, y, z)
    return x + dt * 10 * (y - x), y + dt * (x * (rho - z) - y), z + dt * (x * y - 8 / 3 * z)
  end, { outputs_info = { x0, damo.constant(1.0), damo.constant(1.05) }, n_steps = 700 })
  return x[-1] + y[-1] * z[-1], x
end)
slope("a pendulum", { damo.array(1.2), damo.array(0.3) }, function(angle, friction)
  local a, v = damo.scan(function(a, v)
    local now = v - 0.02 * (damo.sin(a) + friction * v * damo.exp(-damo.sqr(v)) + damo.tanh(a) ^ 3)
    return a + 0.02 * now, now
  end, { outputs_info = { angle, damo.constant(0.0) }, n_steps = 400 })
  return a[-1] + damo.sum(v)
end)
model("Newton's method", { uniform(49, 1, 100, { 20 }) }, function(y)
  local x, w = damo.scan(function(x)
    local now = x - (damo.exp(x) - y) / damo.exp(x)
    return now, damo.sum(now), damo.until_(damo.lt(damo.max(damo.abs(now - x)), 1e-9))
  end, { outputs_info = { damo.ones { 20 }, false }, n_steps = 200 })
  return x[-1], w
end)
slope("a map", { normal(50, { 40, 3, 3 }) }, function(x)
  return damo.map(function(a) return damo.sum(damo.exp(a) * a:transpose(), { axis = 1 }) end, { sequences = x })
end)

-- Sparse matrices

local a = second(nil, sparse.csr_from_dense(damo.where(damo.lt(uniform(51, 0, 1, { 90, 120 }), 0.1), normal(52,
  { 90, 120 }), 0.0)))
slope("sparse products", { normal(53, { 120 }), normal(54, { 120, 13 }), normal(55, { 90, 13 }) }, function(v, b, c)
  local m = damo.constant(a)
  return damo.sum(damo.exp(sparse.dot(m, v) / 5)) + damo.sum(damo.sin(sparse.dot(m, b)) * c),
    sparse.dot(m:transpose(), c)
end)

slope("the entries of a sparse matrix", { a.data, normal(56, { 120, 37 }) }, function(data, b)
  local m = sparse.with_data(damo.constant(a), data)
  return damo.sum(damo.sin(sparse.dot(m, b)))
end)
model("products of sparse matrices", { normal(57, { 120 }) }, function(v)
  local m = damo.constant(a)
  local g = sparse.true_dot(m, m:transpose())
  return g, sparse.dot(g, damo.sin(v[{ { 1, 90 } }])), sparse.sp_sum(m, { axis = 1 })
end)

-- Draws

local function draws(name, graph)
  names[#names + 1] = name
  models[name] = function()
    local rs = random.RandomStream(99)
    local outputs = { graph(rs) }
    local f = damo.compile({}, outputs, { mode = mode })
    return f, {}, {}, outputs
  end
end

draws("draws", function(rs)
  local n = { size = { 3001 } }
  return rs:normal(1, 2, n), rs:uniform(-1, 1, n), rs:exponential(2, n), rs:gamma(0.7, 2, n), rs:beta(0.5, 2, n),
    rs:poisson(7, n), rs:t(3, n), rs:binomial(20, 0.3, n), rs:permutation(100)
end)
draws("draws of vectors", function(rs)
  local cov = damo.array { { 4.0, 1.2, 0.3 }, { 1.2, 1.0, 0.1 }, { 0.3, 0.1, 2.0 } }
  return rs:multivariate_normal(damo.array { 1.0, 2, 3 }, cov, { size = { 200 } }),
    rs:dirichlet(damo.array { 0.2, 0.5, 3 }, { size = { 200 } }),
    rs:truncated_normal(0, 1, 1.5, { size = { 300 } }), rs:vonmises(0.5, 2, { size = { 300 } }), rs:wald(1.5, 2,
      { size = { 300 } })
end)
draws("a random walk", function(rs)
  local x = damo.scan(function(x)
    return x * 0.9 + damo.tanh(rs:normal(0, 1, { size = { 5 } })) * damo.exp(-x * x)
  end, { outputs_info = damo.zeros { 5 }, n_steps = 50 })
  return x, damo.mean(x, { axis = 1 })
end)
draws("Metropolis's method", function(rs)
  local function energy(q) return damo.sum(damo.sqr(q)) / 2 + damo.sum(damo.log1p(damo.exp(-2 * q))) end
  local q = damo.scan(function(q)
    local to = q + 0.5 * rs:normal(0, 1, { size = { 4 } })
    local taken = damo.lt(rs:uniform(0, 1), damo.exp(energy(q) - energy(to)))
    return damo.where(taken, to, q)
  end, { outputs_info = damo.zeros { 4 }, n_steps = 100 })
  return q
end)

-- ---- All of them --------------------------------------------------------------------------------------------------

if (...) == "models" then return names, models end
print(damo.info().kernels)
local only = os.getenv "REPRODUCIBLE_MODEL"
for _, name in ipairs(names) do
  if (not only or only == name) and not (flags.nosleef and uses_sleef[name]) then
    local f, values = models[name]()
    local h = { 1, 1 }
    for call = 1, CALLS do
      local results = { f(unpack(values)) }
      if call == 1 or call == CALLS or #values == 0 then
        for _, x in ipairs(results) do hash_value(h, x) end
      end
    end
    print(("%s %08x%08x"):format(name, h[1], h[2]))
  end
end

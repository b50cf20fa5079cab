--- Convolutions, pooling, normalisation, attention, activations, losses: functions of Variables and values, which the
-- core provides; dropout and initial values, which draw random numbers.
-- @module damo.nn

local core = require "damo.core"
local random = require "damo.random"
local arguments = require "damo.arguments"

local no_more, check_options = arguments.no_more, arguments.check_options

---@class damo.nn
local nn = {}
for name, fn in pairs(core.nn) do nn[name] = fn end

-- ---- Dropout -------------------------------------------------------------------------------------------------------

local function is_stream(v) return type(v) == "table" and type(v.next_seed) == "function" end

--- x with each entry 0 with probability p, else divided by 1 - p, so that the mean stays (Srivastava et al., 2014).
-- @param x a Variable or value
-- @tparam[opt] table options `p` (0.5); `rng`, a RandomStream, which a Variable needs; `training` (true): false gives x
-- @return x's likeness
function nn.dropout(x, options, ...)
  no_more("nn.dropout", "an operand and a table of options", ...)
  options = options or {}
  check_options("nn.dropout", 2, options, { "p", "rng", "training" })
  local p = options.p == nil and 0.5 or options.p
  if type(p) ~= "number" then core.raise("type", "nn.dropout: p must be a number, got " .. type(p)) end
  if not (p >= 0 and p <= 1) then core.raise("value", ("nn.dropout: p must lie in 0..1, got %s"):format(p)) end
  if options.rng ~= nil and not is_stream(options.rng) then
    core.raise("type", "nn.dropout: rng must be a RandomStream, got " .. type(options.rng))
  end
  if p == 0 or options.training == false then return core.identity(x) end
  if p == 1 then return core.mul(core.zeros_like(x), 1.0) end
  if type(x) == "number" or type(x) == "table" then x = core.array(x) end
  local size = { size = core.is_variable(x) and core.shape(x) or x.shape }
  local keep
  if options.rng then
    keep = options.rng:bernoulli(1 - p, size)
    if not core.is_variable(x) then keep = keep:eval() end
  elseif core.is_variable(x) then
    core.raise("type", "nn.dropout: a Variable needs the option rng, a RandomStream")
  else
    keep = random.bernoulli(1 - p, size)
  end
  return core.switch(keep, core.mul(x, 1 / (1 - p)), 0)
end

-- ---- Initial values ------------------------------------------------------------------------------------------------

--- Initial values of parameters: Arrays, drawn from a RandomStream, or where that is nil from the stream that
-- `damo.random.seed` sets. The last argument may be a table of options: `dtype` (floatX), and where the spread follows
-- from the shape `gain` (1), by which the values are multiplied. A matrix is (inputs, outputs), as in `damo.dot(x, w)`;
-- a filter of more axes is (outputs, inputs, …), as in `damo.nn.conv2d`.
local init = {}

-- The number of inputs that an entry of the result depends on, and of outputs that an input reaches.
local function fans(shape)
  if #shape == 1 then return shape[1], shape[1] end
  if #shape == 2 then return shape[1], shape[2] end
  local field = 1
  for i = 3, #shape do field = field * shape[i] end
  return shape[2] * field, shape[1] * field
end

local function check_shape(func, shape)
  if type(shape) ~= "table" then
    core.raise("type", ("%s: the shape must be a list of lengths, got %s"):format(func, type(shape)))
  end
  for _, n in ipairs(shape) do
    if type(n) ~= "number" or n ~= math.floor(n) or n < 0 then
      core.raise("type", ("%s: a length is an integer from 0 on, got %s"):format(func, tostring(n)))
    end
  end
end

-- Checks the arguments of an initialiser, whose options are `known`; returns them.
local function read(func, known, rng, shape, options, ...)
  no_more(func, "a stream, a shape and a table of options", ...)
  if rng ~= nil and not is_stream(rng) then
    core.raise("type", ("%s: argument 1 must be a RandomStream or nil, got %s"):format(func, type(rng)))
  end
  check_shape(func, shape)
  options = options or {}
  check_options(func, 3, options, known)
  return options
end

local function draw(kind, rng, a, b, shape, dtype)
  local how = { size = shape, dtype = dtype }
  if rng == nil then return random[kind](a, b, how) end
  return rng[kind](rng, a, b, how):eval()
end

--- Uniform draws in low … high (-1, 1).
function init.uniform(rng, shape, options, ...)
  local o = read("nn.init.uniform", { "low", "high", "dtype" }, rng, shape, options, ...)
  return draw("uniform", rng, o.low or -1, o.high or 1, shape, o.dtype)
end

--- Normal draws of that mean (0) and standard deviation, scale (1).
function init.normal(rng, shape, options, ...)
  local o = read("nn.init.normal", { "mean", "scale", "dtype" }, rng, shape, options, ...)
  return draw("normal", rng, o.mean or 0, o.scale or 1, shape, o.dtype)
end

-- The initialisers of variance gain²·numerator/fan.
local function scaled(name, kind, variance)
  local func = "nn.init." .. name
  init[name] = function(rng, shape, options, ...)
    local o = read(func, { "gain", "dtype" }, rng, shape, options, ...)
    if #shape == 0 then core.raise("shape", func .. ": the shape must have an axis") end
    local fan_in, fan_out = fans(shape)
    local deviation = (o.gain or 1) * math.sqrt(variance(math.max(fan_in, 1), math.max(fan_out, 1)))
    if kind == "normal" then return draw("normal", rng, 0, deviation, shape, o.dtype) end
    local bound = math.sqrt(3) * deviation
    return draw("uniform", rng, -bound, bound, shape, o.dtype)
  end
end

-- Glorot and Bengio (2010); He et al. (2015); LeCun et al. (1998).
local variances = {
  glorot = function(fan_in, fan_out) return 2 / (fan_in + fan_out) end,
  he = function(fan_in) return 2 / fan_in end,
  lecun = function(fan_in) return 1 / fan_in end,
}
for name, variance in pairs(variances) do
  scaled(name .. "_uniform", "uniform", variance)
  scaled(name .. "_normal", "normal", variance)
end

-- The columns of a (m × n, n ≤ m), made orthonormal one after the other. Each is freed of the earlier ones twice, which
-- leaves it orthogonal to rounding (Giraud et al., 2005).
local function orthonormal(a, n)
  for j = 1, n do
    local v = a[{ {}, j }]
    if j > 1 then
      local before = a[{ {}, { 1, j - 1 } }]
      for _ = 1, 2 do v = core.sub(v, core.dot(before, core.dot(core.transpose(before), v))) end
    end
    a[{ {}, j }] = core.true_div(v, core.sqrt(core.sum(core.sqr(v))))
  end
  return a
end

--- Rows or columns, whichever are fewer, that are orthonormal, times gain (1); a filter's further axes belong to its
-- columns (Saxe et al., 2014).
function init.orthogonal(rng, shape, options, ...)
  local o = read("nn.init.orthogonal", { "gain", "dtype" }, rng, shape, options, ...)
  if #shape < 2 then core.raise("shape", "nn.init.orthogonal: the shape must have two axes or more") end
  local m, n = shape[1], 1
  for i = 2, #shape do n = n * shape[i] end
  local wide = n > m
  local a = draw("normal", rng, 0, 1, wide and { n, m } or { m, n }, "float64")
  a = orthonormal(a, math.min(m, n))
  if wide then a = core.transpose(a) end
  return core.cast(core.reshape(core.mul(a, o.gain or 1), shape), o.dtype or "floatX")
end

--- All 0; the stream is not read.
function init.zeros(rng, shape, options, ...)
  local o = read("nn.init.zeros", { "dtype" }, rng, shape, options, ...)
  return core.zeros(shape, { dtype = o.dtype or "floatX" })
end

--- All 1; the stream is not read.
function init.ones(rng, shape, options, ...)
  local o = read("nn.init.ones", { "dtype" }, rng, shape, options, ...)
  return core.ones(shape, { dtype = o.dtype or "floatX" })
end

nn.init = core.names.seal(init, "damo.nn.init")

return core.names.seal(nn, "damo.nn")

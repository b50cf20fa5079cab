--- The check of gradients by finite differences.
-- @module damo.verify_grad

local core = require "damo.core"
local arguments = require "damo.arguments"
local leaves = require "damo.leaves"

local verify = {}

local unpack = table.unpack or unpack -- luacheck: ignore

local check = arguments.check

local tolerances = {
  float64 = { eps = 1e-7, abs = 1e-4, rel = 1e-4 },
  float32 = { eps = 1e-4, abs = 1e-2, rel = 1e-2 },
}

local steps = { float32 = true, float64 = true, complex64 = true, complex128 = true } -- perturbed dtypes

local verify_options = { "abs_tol", "eps", "rel_tol", "rng" }

-- 0-d values reach scripts as numbers: these helpers treat them as Arrays of shape {}.
local function as_array(v, dtype) return type(v) == "userdata" and v or core.array(v, dtype) end

-- The entries as a flat list.
local function flat(a)
  local v = core.ravel(a)
  return type(v) == "userdata" and v:totable() or { v }
end

-- The array with h added to entry k.
local function moved(a, k, h)
  local list = flat(a)
  list[k] = list[k] + h
  local v = core.array(list, a.dtype)
  return core.reshape(v, a.shape)
end

local function errors_of(a, b)
  local absolute = math.abs(a - b)
  local scale = math.max(math.abs(a) + math.abs(b), 1e-8)
  return absolute, absolute / scale
end

-- An input for each value, of its Type; the values as Arrays; the tolerances of the dtype of lowest precision.
local function make_inputs(values)
  local inputs, args, weakest = {}, {}, "float64"
  for i, v in ipairs(values) do
    args[i] = as_array(v)
    if args[i].dtype == "float32" then weakest = "float32" end
    inputs[i] = core.tensor("x" .. i, { dtype = args[i].dtype, ndim = args[i].ndim })
  end
  return inputs, args, tolerances[weakest]
end

-- The sum of the result's entries with random weights, so that errors do not cancel.
local function weighted_cost(result, inputs, args, seed)
  local draws = require "damo.random"
  local at = as_array(core.compile(inputs, result)(unpack(args)))
  local _, weights = draws.uniform(0.5, 1.5, { size = at.shape, rng = core.random_state(seed) })
  return core.sum(result * core.constant(weights, { dtype = result.dtype }))
end

-- The entry with the largest error out of tolerance, nil if there is none.
local function worst_entry(cost, analytic, args, limits)
  local worst
  for i, a in ipairs(args) do
    local g, original = flat(as_array(analytic[i])), flat(a)
    for k = 1, steps[a.dtype] and #original or 0 do
      local h = limits.eps * math.max(1, math.abs(original[k]))
      args[i] = moved(a, k, h)
      local up = cost(unpack(args))
      args[i] = moved(a, k, -h)
      local numeric = (up - cost(unpack(args))) / (2 * h)
      local absolute, relative = errors_of(g[k], numeric)
      local size = math.min(absolute / limits.abs, relative / limits.rel)
      local bad = size > 1 or size ~= size
      if bad and (not worst or size > worst.size or size ~= size) then
        worst = { input = i, entry = k, analytic = g[k], numeric = numeric, absolute = absolute, relative = relative,
          size = size }
      end
    end
    args[i] = a
  end
  return worst
end

--- Checks the gradient of `fun` at `values` against finite differences; raises a numeric error for the worst entry.
-- `fun` takes Variables and returns one Variable; the cost is its sum with random weights. Values of integer dtype are
-- not perturbed. For a nested table of values fun gets such a table of Variables.
-- @tparam function fun
-- @tparam table values a list of Arrays, numbers, tables of floats, or nested tables of these
-- @tparam[opt] table options `eps` (step), `abs_tol`, `rel_tol`, `rng` (a seed)
function verify.verify_grad(fun, values, options, ...)
  arguments.no_more("verify_grad", "fun, values and options", ...)
  local meta = type(fun) ~= "function" and getmetatable(fun)
  local callable = type(fun) == "function" or meta == "damo.Op" or (type(meta) == "table" and meta.__call ~= nil)
  check(callable, "verify_grad", 1, "fun", "a function or an Op", fun)
  check(type(values) == "table", "verify_grad", 2, "values", "a list of values", values)
  options = options or {}
  arguments.check_options("verify_grad", 3, options, verify_options)
  local def
  if not leaves.is_value(values) and (leaves.is_nested(values) or leaves.is_named(values)) then
    values, def = leaves.apart(values, "verify_grad", leaves.is_value)
  end
  local inputs, args, t = make_inputs(values)
  local limits = { eps = options.eps or t.eps, abs = options.abs_tol or t.abs, rel = options.rel_tol or t.rel }
  local given = def and leaves.together(def, inputs) or inputs
  local named = false
  for key in next, given do named = named or type(key) == "string" end
  local result
  if named then result = fun(given) else result = fun(unpack(given, 1, #given)) end
  if not core.is_variable(result) then core.raise("type", "verify_grad: fun must return one Variable") end
  local cost = weighted_cost(result, inputs, args, options.rng or 20260101)
  local grads = core.grad(cost, inputs, { disconnected_inputs = "ignore" })
  local analytic = { core.compile(inputs, grads, { on_unused_input = "ignore" })(unpack(args)) }
  local worst = worst_entry(core.compile(inputs, cost, { on_unused_input = "ignore" }), analytic, args, limits)
  if not worst then return end
  core.raise("numeric", ("verify_grad: the gradient for input %d, entry %d is %.10g, finite differences give %.10g "
    .. "(absolute error %.3g, relative %.3g; allowed %.3g, %.3g)"):format(worst.input, worst.entry, worst.analytic,
    worst.numeric, worst.absolute, worst.relative, limits.abs, limits.rel))
end

return verify

--- Derivatives, also by tables of Variables by name; Jacobians, Hessians; the check of gradients by finite differences.
-- @module damo.gradient

local core = require "damo.core"
local arguments = require "damo.arguments"
local leaves = require "damo.leaves"

local gradient = {}

--- Raises a type error unless `ok`.
local function check(ok, func, place, name, expected, value)
  if ok then return end
  core.raise("type", ("%s: argument %d (%s) must be %s, got %s"):format(func, place, name, expected, type(value)))
end

-- A Variable is tested for first: walked as a list it would never end.
local function check_variables(func, place, name, value)
  check(core.is_variable(value) or type(value) == "table", func, place, name,
    "a Variable, or a list or table of Variables", value)
end

--- The gradient of a scalar, in the form of wrt: a Variable, a list or a table by name.
-- @tparam Variable|nil cost
-- @tparam Variable|table wrt
-- @tparam[opt] table options `known_grads`, `consider_constant`, `disconnected_inputs`, `null_gradients`,
-- `return_disconnected`
function gradient.grad(cost, wrt, options)
  if not leaves.is_named(wrt, "grad", "wrt") then return core.grad(cost, wrt, options) end
  local list, put_back = leaves.flatten(wrt, "grad", "wrt")
  return put_back(core.grad(cost, list, options))
end

--- Vector-Jacobian product: output_grads · ∂f/∂wrt.
-- @tparam Variable|table f
-- @tparam Variable|table wrt
-- @tparam Variable|table output_grads in the form of f
-- @tparam[opt] table options `consider_constant`, `disconnected_inputs`
function gradient.Lop(f, wrt, output_grads, options)
  local named_f, named_wrt = leaves.is_named(f, "Lop", "f"), leaves.is_named(wrt, "Lop", "wrt")
  if not named_f and not named_wrt then return core.Lop(f, wrt, output_grads, options) end
  local of, _, names = leaves.flatten(f, "Lop", "f")
  local by, put_back = leaves.flatten(wrt, "Lop", "wrt")
  local weights = leaves.by_names(names, output_grads, "Lop", "output_grads")
  return put_back(core.Lop(of, by, weights, options))
end

--- Jacobian-vector product: ∂f/∂wrt · eval_points. Zeros for an entry of f that is connected to wrt but does not vary.
-- @tparam Variable|table f
-- @tparam Variable|table wrt
-- @tparam Variable|table eval_points in the form of wrt
-- @tparam[opt] table options `disconnected_outputs`, `return_disconnected`
function gradient.Rop(f, wrt, eval_points, options)
  local named_f, named_wrt = leaves.is_named(f, "Rop", "f"), leaves.is_named(wrt, "Rop", "wrt")
  if not named_f and not named_wrt then return core.Rop(f, wrt, eval_points, options) end
  local of, put_back = leaves.flatten(f, "Rop", "f")
  local by, _, names = leaves.flatten(wrt, "Rop", "wrt")
  local along = leaves.by_names(names, eval_points, "Rop", "eval_points")
  return put_back(core.Rop(of, by, along, options))
end

-- The length of a vector, which its Type must know. remedy: the advice at the end of the error.
local function static_length(f, what, remedy)
  local shape = f.type.shape
  if not shape or #shape ~= 1 then core.raise("type", what .. ": expected a vector") end
  if shape[1] then return shape[1] end
  core.raise("value", ("%s: the vector's length must be known when the graph is built: give %s"):format(what, remedy))
end

local known_inputs = 'its inputs a shape, as damo.vector("x", {shape = {3}}) and damo.sparse.csr_matrix("A", {shape = '
  .. '{3, 4}}) do, or the vector itself one, damo.specify_shape(f, {3})'
local known_wrt = 'wrt a shape, as damo.vector("x", {shape = {3}}) does'

-- The gradients of the entries of f, stacked.
local function rows(f, wrt, options, what)
  local n, parts = static_length(f, what, known_inputs), {}
  for i = 1, n do
    parts[i] = core.grad(f[i], wrt, options)
    if core.sparse.is_sparse(parts[i]) then
      core.raise("type", what .. ": a sparse gradient for each entry makes no matrix: where wrt is "
        .. "damo.sparse.CSR(x, indices, indptr, shape) of a vector x, the derivatives by x are one")
    end
  end
  return core.stack(parts)
end

--- The Jacobian: the gradient of each entry of a vector f, one row an entry; of a scalar its gradient.
-- @tparam Variable f a vector whose length is known
-- @tparam Variable|table wrt
-- @tparam[opt] table options as `grad`'s
function gradient.jacobian(f, wrt, options, ...)
  arguments.no_more("jacobian", "f, wrt and options", ...)
  check(core.is_variable(f), "jacobian", 1, "f", "a Variable", f)
  check_variables("jacobian", 2, "wrt", wrt)
  if f.ndim == 0 then return gradient.grad(f, wrt, options) end
  local list, put_back = leaves.flatten(wrt, "jacobian", "wrt")
  local out = {}
  for i, x in ipairs(list) do out[i] = rows(f, x, options, "jacobian") end
  return put_back(out)
end

--- The Hessian: the second derivatives of a scalar by vectors.
-- @tparam Variable cost
-- @tparam Variable|table wrt vectors whose length is known
-- @tparam[opt] table options as `grad`'s
function gradient.hessian(cost, wrt, options, ...)
  arguments.no_more("hessian", "cost, wrt and options", ...)
  check(core.is_variable(cost), "hessian", 1, "cost", "a Variable", cost)
  check_variables("hessian", 2, "wrt", wrt)
  if core.is_variable(wrt) then
    -- of wrt: the Type of its gradient may not know the length
    local n, g, parts = static_length(wrt, "hessian", known_wrt), core.grad(cost, wrt, options), {}
    local inner = { disconnected_inputs = "ignore" }
    for i = 1, n do parts[i] = core.grad(g[i], wrt, inner) end
    return core.stack(parts)
  end
  local list, put_back = leaves.flatten(wrt, "hessian", "wrt")
  local out = {}
  for i, x in ipairs(list) do out[i] = gradient.hessian(cost, x, options) end
  return put_back(out)
end

--- The Hessian of a scalar times a direction: the gradient of ∂cost/∂wrt · p, which never forms the Hessian.
-- @tparam Variable cost
-- @tparam Variable|table wrt
-- @tparam Variable|table p directions, in the form of wrt
function gradient.hessian_vector_product(cost, wrt, p, ...)
  arguments.no_more("hessian_vector_product", "cost, wrt and p", ...)
  check_variables("hessian_vector_product", 2, "wrt", wrt)
  check_variables("hessian_vector_product", 3, "p", p)
  if core.is_variable(wrt) then p = { p } end
  local list, put_back, names = leaves.flatten(wrt, "hessian_vector_product", "wrt")
  wrt, p = list, leaves.by_names(names, p, "hessian_vector_product", "p")
  local gs, total = core.grad(cost, wrt, { disconnected_inputs = "ignore" }), nil
  for i, g in ipairs(gs) do
    local term = core.sum(g * core.disconnected_grad(p[i])) -- a direction may be a Variable of wrt itself
    total = total and total + term or term
  end
  return put_back(core.grad(total, wrt, { disconnected_inputs = "ignore" }))
end

-- ---- verify_grad ----------------------------------------------------------------------------------------------------

local tolerances = {
  float64 = { eps = 1e-7, abs = 1e-4, rel = 1e-4 },
  float32 = { eps = 1e-4, abs = 1e-2, rel = 1e-2 },
}

local steps = { float32 = true, float64 = true, complex64 = true, complex128 = true } -- perturbed dtypes

local verify_options = { "abs_tol", "eps", "rel_tol", "rng" }

local unpack = table.unpack or unpack -- luacheck: ignore

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
-- not perturbed.
-- @tparam function fun
-- @tparam table values a list of Arrays, numbers or tables of floats
-- @tparam[opt] table options `eps` (step), `abs_tol`, `rel_tol`, `rng` (a seed)
function gradient.verify_grad(fun, values, options, ...)
  arguments.no_more("verify_grad", "fun, values and options", ...)
  local meta = type(fun) ~= "function" and getmetatable(fun)
  local callable = type(fun) == "function" or meta == "damo.Op" or (type(meta) == "table" and meta.__call ~= nil)
  check(callable, "verify_grad", 1, "fun", "a function or an Op", fun)
  check(type(values) == "table", "verify_grad", 2, "values", "a list of values", values)
  options = options or {}
  arguments.check_options("verify_grad", 3, options, verify_options)
  local inputs, args, t = make_inputs(values)
  local limits = { eps = options.eps or t.eps, abs = options.abs_tol or t.abs, rel = options.rel_tol or t.rel }
  local result = fun(unpack(inputs))
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

return gradient

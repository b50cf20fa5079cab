--- Derivatives beyond `grad`: Jacobians, Hessians, and the check of a gradient by finite differences.
-- @module damo.gradient

local core = require "damo.core"

local gradient = {}

local function static_length(f, what)
  local shape = f.type.shape
  if not shape or #shape ~= 1 then core.raise("type", what .. ": expected a vector") end
  if not shape[1] then core.raise("value", what .. ": the vector's length must be known when the graph is built") end
  return shape[1]
end

-- One gradient per entry, stacked.
local function rows(f, wrt, options, what)
  local n, parts = static_length(f, what), {}
  for i = 1, n do parts[i] = core.grad(f[i], wrt, options) end
  return core.stack(parts)
end

--- The derivatives of a vector's entries (of a scalar: its gradient), one row an entry.
-- @tparam Variable f a vector whose length is known
-- @tparam Variable|{Variable,...} wrt
-- @tparam[opt] table options as `grad`'s
function gradient.jacobian(f, wrt, options)
  if f.ndim == 0 then return core.grad(f, wrt, options) end
  if core.is_variable(wrt) then return rows(f, wrt, options, "jacobian") end
  local out = {}
  for i, x in ipairs(wrt) do out[i] = rows(f, x, options, "jacobian") end
  return out
end

--- The second derivatives of a scalar by vectors.
-- @tparam Variable cost
-- @tparam Variable|{Variable,...} wrt vectors whose length is known
-- @tparam[opt] table options as `grad`'s
function gradient.hessian(cost, wrt, options)
  if core.is_variable(wrt) then
    -- the length is wrt's, which its gradient may not know
    local n, g, parts = static_length(wrt, "hessian"), core.grad(cost, wrt, options), {}
    local inner = { disconnected_inputs = "ignore" }
    for i = 1, n do parts[i] = core.grad(g[i], wrt, inner) end
    return core.stack(parts)
  end
  local out = {}
  for i, x in ipairs(wrt) do out[i] = gradient.hessian(cost, x, options) end
  return out
end

--- The Hessian of a scalar times a direction, without the Hessian.
-- @tparam Variable cost
-- @tparam Variable|{Variable,...} wrt
-- @tparam Variable|{Variable,...} p directions
function gradient.hessian_vector_product(cost, wrt, p)
  local single = core.is_variable(wrt)
  if single then wrt, p = { wrt }, { p } end
  local gs, total = core.grad(cost, wrt, { disconnected_inputs = "ignore" }), nil
  for i, g in ipairs(gs) do
    local term = core.sum(g * p[i])
    total = total and total + term or term
  end
  local out = core.grad(total, wrt, { consider_constant = p, disconnected_inputs = "ignore" })
  return single and out[1] or out
end

-- ---- verify_grad ----------------------------------------------------------------------------------------------------

local tolerances = {
  float64 = { eps = 1e-7, abs = 1e-4, rel = 1e-4 },
  float32 = { eps = 1e-4, abs = 1e-2, rel = 1e-2 },
}

local known = { eps = true, abs_tol = true, rel_tol = true, rng = true, n_tests = true, cast_to_output_type = true, mode = true }

-- A 0-d value reaches a script as a number: these helpers treat it as an Array of shape {}.
local function as_array(v, dtype) return type(v) == "userdata" and v or core.array(v, dtype) end

-- Entries as a flat list.
local function flat(a)
  local v = core.ravel(a)
  return type(v) == "userdata" and v:totable() or { v }
end

-- The array with entry k moved by h.
local function moved(a, k, h)
  local list = flat(a)
  list[k] = list[k] + h
  local v = core.array(list, a.dtype)
  return core.reshape(v, a.shape)
end

local function relative_error(a, b)
  local absolute = math.abs(a - b)
  local scale = math.max(math.abs(a) + math.abs(b), 1e-8)
  return absolute, absolute / scale
end

--- Checks the gradient of `fun` at `values` against finite differences; raises a numeric error that names the worst entry.
-- `fun` takes Variables and gives one Variable; the cost is its sum, weighted by random numbers.
-- @tparam function fun
-- @tparam table values a list of Arrays, numbers or tables of floats
-- @tparam[opt] table options `eps` (step), `abs_tol`, `rel_tol`, `rng` (a seed)
function gradient.verify_grad(fun, values, options)
  options = options or {}
  for name in pairs(options) do
    if not known[name] then core.raise("value", ("verify_grad: unknown option '%s'"):format(tostring(name))) end
  end
  local inputs, args, weakest = {}, {}, "float64"
  for i, v in ipairs(values) do
    args[i] = as_array(v)
    if args[i].dtype == "float32" then weakest = "float32" end
    inputs[i] = core.tensor("x" .. i, { dtype = args[i].dtype, ndim = args[i].ndim })
  end
  local unpack = table.unpack or unpack -- luacheck: ignore
  local result = fun(unpack(inputs))
  if not core.is_variable(result) then core.raise("type", "verify_grad: fun must return one Variable") end
  local draws = require "damo.random"
  local seed = options.rng or 20260101
  local out = core.compile(inputs, result)
  local at = as_array(out(unpack(args)))
  local _, w = draws.uniform(0.5, 1.5, { size = #at.shape > 0 and at.shape or {}, rng = core.random_state(seed) })
  local cost = core.sum(result * core.constant(w, { dtype = result.dtype }))
  local grads = core.grad(cost, inputs, { disconnected_inputs = "ignore" })
  local value_of, grad_of = core.compile(inputs, cost), core.compile(inputs, grads, { on_unused_input = "ignore" })
  local analytic = { grad_of(unpack(args)) }
  local t = tolerances[weakest]
  local eps, abs_tol, rel_tol = options.eps or t.eps, options.abs_tol or t.abs, options.rel_tol or t.rel
  local worst
  for i, a in ipairs(args) do
    local g = flat(as_array(analytic[i]))
    local original = flat(a)
    for k = 1, #original do
      local h = eps * math.max(1, math.abs(original[k]))
      args[i] = moved(a, k, h)
      local up = value_of(unpack(args))
      args[i] = moved(a, k, -h)
      local down = value_of(unpack(args))
      args[i] = a
      local numeric = (up - down) / (2 * h)
      local absolute, relative = relative_error(g[k], numeric)
      local bad = not (absolute <= abs_tol or relative <= rel_tol)
      local size = math.min(absolute / abs_tol, relative / rel_tol)
      if bad and (not worst or size > worst.size or size ~= size) then
        worst = { input = i, entry = k, analytic = g[k], numeric = numeric, absolute = absolute, relative = relative, size = size }
      end
    end
  end
  if not worst then return end
  core.raise("numeric", ("verify_grad: the gradient for input %d, entry %d is %.10g, finite differences give %.10g "
    .. "(absolute error %.3g, relative %.3g; allowed %.3g, %.3g)"):format(worst.input, worst.entry, worst.analytic,
    worst.numeric, worst.absolute, worst.relative, abs_tol, rel_tol))
end

return gradient

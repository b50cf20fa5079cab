--- Optimisers: each returns the updates of one training step, a list of pairs {shared, new value} for `compile`.
-- Parameters are a list or a table by name, gradients have the same form.
--
--    local params = { w = w, b = b }
--    local updates = damo.optim.adam(params, damo.grad(cost, params), { lr = 1e-3 })
--    local step = damo.compile({x, t}, cost, { updates = updates })
-- @module damo.optim

local damo = require "damo"
local system = require("damo.core").system
local arguments = require "damo.arguments"
local leaves = require "damo.leaves"
local progress_option = require "damo.progress_option"

---@class damo.optim
local optim = {}

-- The options with their defaults, `allowed`; false where there is none.
local function with_defaults(func, options, allowed)
  allowed.progress, allowed.steps = false, false
  if options ~= nil and type(options) ~= "table" then
    damo.raise("type", ("%s: options must be a table, got %s"):format(func, type(options)))
  end
  local names = {}
  for known in pairs(allowed) do names[#names + 1] = known end
  table.sort(names)
  system.check_options(func, options, names)
  return setmetatable({}, { __index = function(_, name)
    local given = options and options[name]
    if given == nil then return allowed[name] end
    return given
  end })
end

-- Parameters and gradients as lists, sorted by name if they are tables by name.
local function check_lists(func, params, grads)
  if damo.is_variable(params) then params, grads = { params }, { grads } end
  if type(params) ~= "table" or type(grads) ~= "table" then
    local text = "%s: expected a list of shared Variables and a list of their gradients, or two tables by name, got "
      .. "%s and %s"
    damo.raise("type", text:format(func, system.typename(params), system.typename(grads)))
  end
  local list, _, names = leaves.flatten(params, func, "params")
  params, grads = list, leaves.by_names(names, grads, func, "grads")
  for i, p in ipairs(params) do
    if not damo.is_variable(p) or not pcall(p.get_value, p, { borrow = true }) then
      local place = names and ("'%s'"):format(names[i]) or i
      damo.raise("type", ("%s: parameter %s must be a shared Variable, got %s"):format(func, place, tostring(p)))
    end
  end
  if #params ~= #grads then
    damo.raise("value", ("%s: %d parameters, but %d gradients"):format(func, #params, #grads))
  end
  return params, grads
end

-- A shared Variable of zeros with the parameter's shape and dtype.
local function zeros_of(p, suffix)
  local value = damo.zeros_like(p:get_value({ borrow = true }))
  return damo.shared(value, (p.name or "param") .. suffix, { dtype = p.dtype })
end

-- Appends the update that counts the steps and calls the function of the option `progress`, if it is given. The call
-- is part of the step, so an error in it leaves every parameter as it was.
local function with_progress(func, o, updates)
  local steps = o.steps
  if steps and not (type(steps) == "number" and steps == math.floor(steps) and steps >= 1 and steps < math.huge) then
    damo.raise(type(steps) == "number" and "value" or "type", func .. ": steps must be an integer from 1 on")
  end
  local call = progress_option(func, o.progress, func)
  if not call then return updates end
  if o.progress == true and not steps then
    damo.raise("value", func .. ": progress = true needs the option steps, how many there will be")
  end
  local reported
  local report = damo.Op {
    name = "Progress",
    itypes = { damo.TensorType("int64", { ndim = 0 }) },
    otypes = { damo.TensorType("int64", { ndim = 0 }) },
    perform = function(_, _, inputs, output_storage)
      local step = inputs[1]:item()
      if step ~= reported then call(step, steps or nil) end -- mode DEBUG computes a node several times
      reported = step
      output_storage[1][1] = step
    end,
    infer_shape = function() return { {} } end,
  }
  local step = damo.shared(damo.array(0, "int64"), func .. "_steps")
  updates[#updates + 1] = { step, report(step + 1) }
  return updates
end

--- Gradient descent: p - lr·g.
-- @tparam table params shared Variables: a list or a table by name
-- @tparam table grads in the form of params
-- @tparam[opt] table options `lr` (0.01; a number or a Variable); `progress`, `steps` as of each optimiser: a function
-- (step, steps) that each step calls, or true, which shows a bar of so many steps
-- @treturn table updates
function optim.sgd(params, grads, options, ...)
  arguments.no_more("sgd", "params, grads and options", ...)
  local o = with_defaults("sgd", options, { lr = 0.01 })
  params, grads = check_lists("sgd", params, grads)
  local updates = {}
  for i, p in ipairs(params) do updates[i] = { p, p - o.lr * grads[i] } end
  return with_progress("sgd", o, updates)
end

--- Gradient descent with momentum, or with Nesterov's.
-- @tparam table params
-- @tparam table grads in the form of params
-- @tparam[opt] table options `lr` (0.01), `momentum` (0.9), `nesterov` (false)
-- @treturn table updates
function optim.momentum(params, grads, options, ...)
  arguments.no_more("momentum", "params, grads and options", ...)
  local o = with_defaults("momentum", options, { lr = 0.01, momentum = 0.9, nesterov = false })
  params, grads = check_lists("momentum", params, grads)
  local updates = {}
  for i, p in ipairs(params) do
    local velocity = zeros_of(p, "_velocity")
    local v = o.momentum * velocity - o.lr * grads[i]
    updates[#updates + 1] = { velocity, v }
    updates[#updates + 1] = { p, o.nesterov and p + o.momentum * v - o.lr * grads[i] or p + v }
  end
  return with_progress("momentum", o, updates)
end

--- RMSprop: steps scaled by a running mean of squared gradients.
-- @tparam table params
-- @tparam table grads in the form of params
-- @tparam[opt] table options `lr` (0.001), `rho` (0.9), `epsilon` (1e-8)
-- @treturn table updates
function optim.rmsprop(params, grads, options, ...)
  arguments.no_more("rmsprop", "params, grads and options", ...)
  local o = with_defaults("rmsprop", options, { lr = 0.001, rho = 0.9, epsilon = 1e-8 })
  params, grads = check_lists("rmsprop", params, grads)
  local updates = {}
  for i, p in ipairs(params) do
    local g, square = grads[i], zeros_of(p, "_square")
    local s = o.rho * square + (1 - o.rho) * damo.sqr(g)
    updates[#updates + 1] = { square, s }
    updates[#updates + 1] = { p, p - o.lr * g / (damo.sqrt(s) + o.epsilon) }
  end
  return with_progress("rmsprop", o, updates)
end

--- Adam (Kingma and Ba 2015).
-- @tparam table params
-- @tparam table grads in the form of params
-- @tparam[opt] table options `lr` (0.001), `beta1` (0.9), `beta2` (0.999), `epsilon` (1e-8)
-- @treturn table updates
function optim.adam(params, grads, options, ...)
  arguments.no_more("adam", "params, grads and options", ...)
  local o = with_defaults("adam", options, { lr = 0.001, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8 })
  params, grads = check_lists("adam", params, grads)
  local step = damo.shared(0.0, "adam_step")
  local t = step + 1
  local rate = o.lr * damo.sqrt(1 - o.beta2 ^ t) / (1 - o.beta1 ^ t)
  local updates = { { step, t } }
  for i, p in ipairs(params) do
    local g, mean, square = grads[i], zeros_of(p, "_mean"), zeros_of(p, "_square")
    local m = o.beta1 * mean + (1 - o.beta1) * g
    local s = o.beta2 * square + (1 - o.beta2) * damo.sqr(g)
    updates[#updates + 1] = { mean, m }
    updates[#updates + 1] = { square, s }
    updates[#updates + 1] = { p, p - damo.cast(rate, p.dtype) * m / (damo.sqrt(s) + o.epsilon) }
  end
  return with_progress("adam", o, updates)
end

return require("damo.core").names.seal(optim, "damo.optim")

--- Derivatives by Variables, lists and nested tables of them. jacobian.lua and verify_grad.lua have more.
-- @module damo.gradient

local core = require "damo.core"
local arguments = require "damo.arguments"
local leaves = arguments.late "damo.leaves"

local gradient = {}

local check_variables = arguments.check_variables

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

-- These are loaded when they are used.
for name, module in pairs { jacobian = "damo.jacobian", hessian = "damo.jacobian", verify_grad = "damo.verify_grad" } do
  gradient[name] = function(...) return require(module)[name](...) end
end

return gradient

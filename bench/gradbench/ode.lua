-- ode: s steps of the classical Runge-Kutta rule for y[1]' = x[1], y[i]' = x[i] y[i-1], from zero to t = 2, and the
-- gradient of the last component in x.

local damo = require "damo"

local x, s = damo.dvector "x", damo.lscalar "s"

--- The derivative of the state y: x times y moved by one place, with 1 in the first.
local function velocity(y) return x * damo.concatenate { damo.ones(1), y[{ { 1, -2 } }] } end

local h = 2.0 / s
local states = damo.scan(function(y)
  local k1 = velocity(y)
  local k2 = velocity(y + h / 2 * k1)
  local k3 = velocity(y + h / 2 * k2)
  local k4 = velocity(y + h * k3)
  return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
end, { outputs_info = damo.zeros_like(x), n_steps = s })
local final = states[-1]
local primal = damo.compile({ x, s }, final)
local gradient = damo.compile({ x, s }, damo.grad(final[-1], x))

local function prepared(f)
  return function(input)
    local vector = damo.array(input.x)
    local result = damo.zeros_like(vector)
    local into, steps = f:into(result), input.s
    return function() into(vector, steps) end, function() return result end
  end
end

return { primal = prepared(primal), gradient = prepared(gradient) }

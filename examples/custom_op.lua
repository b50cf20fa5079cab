-- custom_op.lua: an Op written in Lua, inside a compiled and differentiated graph, checked against finite differences.
--
-- It draws no picture; it prints the Op's values and slopes.

local damo = require "damo"

--- The scaled exponential linear unit of a vector or matrix: scale * x where x > 0, else scale * alpha * (exp(x) - 1).
local Selu = damo.Op {
  name = "Selu",
  props = { "alpha", "scale" },
  make_node = function(self, x)
    x = damo.as_tensor_variable(x)
    return damo.Apply(self, { x }, { x.type() })
  end,
  perform = function(self, _, inputs, output_storage)
    local x = inputs[1]
    output_storage[1][1] = self.scale * damo.switch(damo.gt(x, 0), x, self.alpha * damo.expm1(x))
  end,
  grad = function(self, inputs, output_grads)
    local x, g = inputs[1], output_grads[1]
    return { g * self.scale * damo.switch(damo.gt(x, 0), 1.0, self.alpha * damo.exp(x)) }
  end,
}

local selu = Selu { alpha = 1.6732632423543772, scale = 1.0507009873554805 }

local x = damo.dvector "x"
local y = selu(x)
local f = damo.compile({ x }, { y, damo.grad(damo.sum(y), x) })

local value, slope = f(damo.linspace(-2, 2, 5))
print("x     ", damo.linspace(-2, 2, 5))
print("selu  ", value)
print("slope ", slope)

damo.verify_grad(selu, { damo.array { -1.5, -0.3, 0.4, 2.0 } })
print("verify_grad: the gradient agrees with finite differences")

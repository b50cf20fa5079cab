-- lse: log(sum(exp(x))), from which compiling takes the maximum out, and its gradient.

local damo = require "damo"

local x = damo.dvector "x"
local lse = damo.log(damo.sum(damo.exp(x)))
local primal = damo.compile({ x }, lse)
local gradient = damo.compile({ x }, damo.grad(lse, x))

return {
  primal = function(input)
    local vector = damo.array(input.x)
    return function() return primal(vector) end
  end,
  gradient = function(input)
    local vector = damo.array(input.x)
    local slopes = damo.zeros_like(vector)
    local into = gradient:into(slopes)
    return function() into(vector) end, function() return slopes end
  end,
}

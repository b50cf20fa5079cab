-- hello: x^2 and its derivative.

local damo = require "damo"

local x = damo.dscalar "x"
local square = damo.compile({ x }, x ^ 2)
local double = damo.compile({ x }, damo.grad(x ^ 2, x))

return {
  square = function(input) return function() return square(input) end end,
  double = function(input) return function() return double(input) end end,
}

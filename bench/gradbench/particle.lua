-- particle: a charged particle flies past two fixed charges, of which one is moved by w, and falls on the x axis; the w
-- that makes it fall on the origin is found by descent along the derivative of a loop whose steps differentiate too.

local damo = require "damo"
local descent = require "descent"

local dt = 0.1

--- The square of the place where the particle meets the axis; inner: the mode of the derivative of the potential.
local function miss(w, inner)
  local function potential(x)
    local function near(px, py) return 1 / damo.sqrt((px - x[1]) ^ 2 + (py - x[2]) ^ 2) end
    return near(10.0, 10.0 - w) + near(10.0, 0.0)
  end
  local x, y, u, v = damo.while_loop(function(_, y, _, v) return damo.gt(y + dt * v, 0) end, function(x, y, u, v)
    local force = descent.gradient(inner, potential { x, y }, { x, y })
    return x + dt * u, y + dt * v, u - dt * force[1], v - dt * force[2]
  end, { damo.constant(0.0), damo.constant(8.0), damo.constant(0.75), damo.constant(0.0) })
  local below = y + dt * v
  return (x + dt * u - below / v * u) ^ 2
end

local functions = {}
for _, outer in ipairs { "f", "r" } do
  for _, inner in ipairs { "f", "r" } do
    functions[outer .. inner] = function(input)
      local start = damo.dscalar "w"
      local f = damo.compile({ start }, descent.argmin(outer, function(w) return miss(w[1], inner) end, { start })[1])
      return function() return f(input.w) end
    end
  end
end
return functions

-- saddle: the point where f(x, y) = |x|^2 - |y|^2 is least in x and greatest in y, by descent in x along the derivative
-- of what an ascent in y finds: loops inside loops, differentiated.

local damo = require "damo"
local descent = require "descent"

local function height(x, y) return (x[1] ^ 2 + x[2] ^ 2) - (y[1] ^ 2 + y[2] ^ 2) end

--- The Function of the start; outer, inner: the modes of derivatives in x and y.
local function compiled(outer, inner)
  local start = { damo.dscalar "start1", damo.dscalar "start2" }
  local function best(x)
    return descent.argmin(inner, function(y) return -height(x, y) end, start)
  end
  local x = descent.argmin(outer, function(x) return height(x, best(x)) end, start)
  local y = best(x)
  return damo.compile(start, { x[1], x[2], y[1], y[2] })
end

local functions = {}
for _, outer in ipairs { "f", "r" } do
  for _, inner in ipairs { "f", "r" } do
    functions[outer .. inner] = function(input)
      local f = compiled(outer, inner)
      local first, second = input.start[1], input.start[2]
      return function() return f(first, second) end, function(...) return { ... } end
    end
  end
end
return functions

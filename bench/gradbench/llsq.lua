-- llsq: half the sum of squares of s - V x, where t are n points from -1 to 1, s their signs and V[i][j] = t[i]^j.
--
-- With j = width * a + b, the polynomial is the sum over a of t^(width a) * (sum over b of x[a][b] t^b): two
-- narrow tables of powers, a product of matrices and a sum over a, in place of all of V.

local damo = require "damo"

--- The powers 0 to count - 1 of the vector t, one a row.
local function powers(t, count)
  local rows = { damo.ones_like(t) }
  for i = 1, count - 1 do rows[i + 1] = i == 1 and t or rows[math.floor(i / 2) + 1] * rows[math.ceil(i / 2) + 1] end
  return damo.stack(rows)
end

--- The Functions of (x, n) for vectors x of m entries.
local function compiled(m)
  local width = math.ceil(math.sqrt(m))
  local height = math.ceil(m / width)
  local x, n = damo.dvector "x", damo.lscalar "n"
  local t = damo.arange(n) * 2 / (n - 1) - 1
  local padded = damo.concatenate { x, damo.zeros(width * height - m) }
  local low, high = powers(t, width), powers(t ^ width, height)
  local polynomial = damo.sum(damo.dot(padded:reshape { height, width }, low) * high, { axis = 1 })
  local cost = damo.sum((damo.sign(t) - polynomial) ^ 2) / 2
  return { primal = damo.compile({ x, n }, cost), gradient = damo.compile({ x, n }, damo.grad(cost, x)) }
end

local function prepared(name)
  return function(input)
    local f, x = compiled(#input.x)[name], damo.array(input.x)
    return function() return f(x, input.n) end
  end
end

return { primal = prepared "primal", gradient = prepared "gradient" }

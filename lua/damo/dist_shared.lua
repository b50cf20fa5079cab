--- What the formulas of damo.dist share: supports, shapes, quantiles.
-- @module damo.dist_shared

local damo = require "damo"
local core = require "damo.core"

local switch = damo.switch
local unpack = table.unpack or unpack -- luacheck: ignore

local shared = {}

--- -inf where the condition holds, else the log probability. A nan of the argument fails every comparison and stays
-- nan.
function shared.never(condition, logp) return switch(condition, -math.huge, logp) end

--- The log probability 0 where the condition holds.
function shared.certain(condition, logp) return switch(condition, 0, logp) end

--- Whether a or b holds. Of numbers a comparison is a boolean of Lua, which the op functions do not take.
function shared.either(a, b)
  if type(a) == "boolean" then return a or b end
  if type(b) == "boolean" then return b or a end
  return damo.or_(a, b)
end

--- Whether both hold.
function shared.both(a, b)
  if type(a) == "boolean" then return a and b end
  if type(b) == "boolean" then return b and a end
  return damo.and_(a, b)
end

--- -inf where x lies below low or above high.
function shared.outside(x, low, high, logp)
  return switch(shared.either(damo.lt(x, low), damo.gt(x, high)), -math.huge, logp)
end

--- nan where q is no probability.
function shared.unit(q, value) return switch(shared.either(damo.lt(q, 0), damo.gt(q, 1)), 0 / 0, value) end

--- v of the shape to which v and the others broadcast.
function shared.like(v, ...)
  for _, other in ipairs { ... } do
    if type(other) ~= "number" then v = v + damo.zeros_like(other) end
  end
  return v
end

local function is_float(x)
  if type(x) == "number" then return true end
  return x.dtype:find "float" ~= nil
end

--- The log probability where x is an integer, else -inf.
function shared.whole(x, logp)
  if not is_float(x) then return logp end
  return switch(damo.gt(damo.abs(x - damo.floor(x)), 0), -math.huge, logp)
end

--- The greatest integer that is not above x.
function shared.below(x) return is_float(x) and damo.floor(x) or x end

--- A discrete distribution's quantile, as a function of q and the parameters.
-- @tparam string name what the core calls the distribution
function shared.search(name)
  return function(q, ...)
    local args = { q, ... }
    args[#args + 1] = { dist = name }
    return core.dist.quantile(unpack(args))
  end
end

-- value as float32 where the sum of the others is: the core searches in float64.
local function as_narrow(value, first, others)
  local sum = first
  for _, v in ipairs(others) do sum = sum + v end
  if type(sum) == "number" or sum.dtype ~= "float32" then return value end
  return damo.cast(value, "float32")
end

--- The quantile by a search, which has no gradient, refined by two of Newton's steps on the logarithm of the
-- distribution function: their result has the exact value, and the exact first and second derivatives.
function shared.refined(name, logcdf, logp, q, params)
  local x = damo.consider_constant(shared.search(name)(q, unpack(params)))
  local refined = x
  for _ = 1, 2 do
    local f = logcdf(refined, unpack(params))
    refined = refined + (damo.log(q) - f) * damo.exp(f - logp(refined, unpack(params)))
  end
  return as_narrow(switch(shared.both(damo.gt(q, 0), damo.lt(q, 1)), refined, x), q, params)
end

-- The nodes and weights of Gauss and Legendre's rule on [-1, 1], by Newton's method on the polynomial's recurrence
-- (W. H. Press et al., "Numerical Recipes", section 4.6); each rule is computed once.
local rules = {}
function shared.gauss_legendre(n)
  if not rules[n] then
    local nodes, weights = {}, {}
    for i = 1, n do
      local x, slope = math.cos(math.pi * (i - 0.25) / (n + 0.5)), nil
      for _ = 1, 8 do
        local p, before = 1.0, 0.0
        for k = 1, n do p, before = ((2 * k - 1) * x * p - (k - 1) * before) / k, p end
        slope = n * (x * p - before) / (x * x - 1)
        x = x - p / slope
      end
      nodes[i], weights[i] = x, 2 / ((1 - x * x) * slope * slope)
    end
    rules[n] = { damo.array(nodes), damo.array(weights) }
  end
  return rules[n][1], rules[n][2]
end

return shared

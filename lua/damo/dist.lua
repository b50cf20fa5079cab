--- Probability distributions: densities, distribution functions, quantiles, moments and draws, as graphs of damo's ops.
-- A constructor takes the parameters (Variables, Arrays, numbers, lists of numbers), which broadcast against each other
-- and against the argument of a method. A method over values computes at once.
-- @module damo.dist

local damo = require "damo"
local core = require "damo.core"
local arguments = require "damo.arguments"
local shared = require "damo.dist_shared"
local system = core.system

---@class damo.dist
local dist = {}

---@class damo.Distribution
local Distribution = {}
core.names.seal_methods(Distribution, "Distribution")
local distribution_meta = { __index = Distribution, __name = "damo.Distribution" }

local function value_error(...) core.raise("value", string.format(...)) end

-- What a constructor demands of a parameter: a name in the message, and a function that gives true where it holds.
local constraints = {
  positive = { "must be positive", function(v) return damo.gt(v, 0) end },
  nonnegative = { "must not be negative", function(v) return damo.ge(v, 0) end },
  ["above one"] = { "must be greater than 1", function(v) return damo.gt(v, 1) end },
  probability = {
    "must lie between 0 and 1",
    function(v) return shared.both(damo.ge(v, 0), damo.le(v, 1)) end,
  },
  count = {
    "must be an integer that is not negative",
    function(v) return shared.both(damo.ge(v, 0), damo.eq(v, damo.floor(v))) end,
  },
}

-- Whether a parameter's values are known, so that they can be checked.
local function is_value(v) return type(v) == "number" or system.typename(v) == "Array" end

local function check_parameter(name, param, demand, v)
  local rule = constraints[demand]
  if not (rule and is_value(v)) then return end
  if damo.all(rule[2](v)) ~= true then
    value_error("%s: %s %s%s", name, param, rule[1], type(v) == "number" and (", got %.14g"):format(v) or "")
  end
end

-- The parameters of a call as a list, presets where arguments are left out.
local function read_parameters(name, formulas, ...)
  local names = formulas.params
  arguments.no_more(name, table.concat(names, ", "), select(#names + 1, ...))
  local given, params = { ... }, {}
  for i, param in ipairs(names) do
    local v = given[i]
    if v == nil then v = formulas.presets and formulas.presets[param] end
    if v == nil then core.raise("type", ("%s: parameter %d (%s) is missing"):format(name, i, param)) end
    if type(v) == "table" then v = damo.array(v) end
    if not (is_value(v) or damo.is_variable(v)) then
      core.raise("type", ("%s: %s must be a Variable, an Array or a number, got %s"):format(name, param,
        system.typename(v)))
    end
    check_parameter(name, param, formulas.check and formulas.check[param], v)
    params[i] = v
  end
  if formulas.ordered then
    local low, high = params[formulas.ordered[1]], params[formulas.ordered[2]]
    if is_value(low) and is_value(high) and damo.all(damo.lt(low, high)) ~= true then
      value_error("%s: %s must be less than %s", name, names[formulas.ordered[1]], names[formulas.ordered[2]])
    end
  end
  return params
end

local unpack = table.unpack or unpack -- luacheck: ignore

local function formula_of(self, method)
  if getmetatable(self) ~= distribution_meta then
    core.raise("type", ("%s: call it with a colon, d:%s(…), d being a distribution"):format(method, method))
  end
  local formula = self.formulas[method]
  if formula == nil then core.raise("not_implemented", ("%s has no %s"):format(self.name, method)) end
  return formula
end

-- An argument of a method: a list of numbers becomes an Array.
local function operand(self, method, v)
  if type(v) == "table" then return damo.array(v) end
  if is_value(v) or damo.is_variable(v) then return v end
  core.raise("type", ("%s.%s: the argument must be a Variable, an Array or a number, got %s"):format(self.name, method,
    system.typename(v)))
end

--- The logarithm of the density at x, or of the probability of x where the distribution is discrete; -inf outside the
-- support.
-- @tparam Variable|Array|number x
function Distribution:logp(x) return formula_of(self, "logp")(operand(self, "logp", x), unpack(self.params)) end

--- The logarithm of the distribution function at x.
-- @tparam Variable|Array|number x
function Distribution:logcdf(x) return formula_of(self, "logcdf")(operand(self, "logcdf", x), unpack(self.params)) end

--- The quantile of q, the inverse of the distribution function; nan for q outside [0, 1]. Of a discrete distribution it
-- is the least integer whose distribution function reaches q, int64.
-- @tparam Variable|Array|number q
function Distribution:icdf(q) return formula_of(self, "icdf")(operand(self, "icdf", q), unpack(self.params)) end

--- The mean, of the shape that the parameters broadcast to.
function Distribution:mean() return formula_of(self, "mean")(unpack(self.params)) end

--- The variance, of the shape that the parameters broadcast to; of a vector or matrix entry by entry.
function Distribution:var() return formula_of(self, "var")(unpack(self.params)) end

--- Draws from the distribution.
-- @tparam[opt] RandomStream rs without it the draws are eager, from the context's own stream
-- @tparam[opt] table options `size`, `dtype`
function Distribution:sample(rs, options)
  local draw = formula_of(self, "draw")
  local stream = rs
  if rs == nil or rs == damo.random then
    stream = setmetatable({}, {
      __index = function(_, name)
        return function(_, ...) return damo.random[name](...) end
      end,
    })
  elseif type(rs) ~= "table" or (getmetatable(rs) or {}).__name ~= "damo.RandomStream" then
    core.raise("type", ("%s.sample: rs must be a RandomStream, got %s"):format(self.name, system.typename(rs)))
  end
  if options ~= nil then arguments.check_options(self.name .. ".sample", 2, options, { "size", "dtype" }) end
  local args = { unpack(self.params) }
  args[#args + 1] = options
  return draw(stream, unpack(args))
end

-- formulas: params, the names of the parameters in their order; presets and check by these names; ordered, the numbers
-- of two parameters of which the first must be the lesser; logp, logcdf, icdf, mean, var, which take the parameters
-- after their argument; draw, which takes a stream, the parameters and options.
local function define(name, formulas)
  dist[name] = function(...)
    return setmetatable({ name = name, formulas = formulas, params = read_parameters(name, formulas, ...) },
      distribution_meta)
  end
end

for _, family in ipairs { "damo.dist_continuous", "damo.dist_discrete", "damo.dist_vector" } do
  for name, formulas in pairs(require(family)) do define(name, formulas) end
end

dist.quantile = core.dist.quantile

return core.names.seal(dist, "damo.dist")

--- The formulas of the distributions of damo.dist over categories, vectors and matrices.
-- The last axes are the vector's or the matrix's; those before are batches and broadcast.
-- @module damo.dist_vector

local damo = require "damo"
local shared = require "damo.dist_shared"

local log, sqr, switch, lt, gt, eq = damo.log, damo.sqr, damo.switch, damo.lt, damo.gt, damo.eq
local gammaln, xlogy = damo.gammaln, damo.xlogy
local never, whole, like = shared.never, shared.whole, shared.like

local LAST = { axis = -1 }

local vector = {}

-- v with axes of length 1 behind the others.
local function widened(v, axes)
  if type(v) == "number" then return v end
  for _ = 1, axes do v = damo.expand_dims(v, -1) end
  return v
end

-- Whether any entry along the last axis fulfils the condition.
local function any_entry(condition) return damo.any(condition, LAST) end

vector.Categorical = {
  params = { "p" },
  check = { p = "nonnegative" },
  -- A category is a position, from 1; another number has probability 0. p is taken as it is given.
  logp = function(x, p)
    local n = damo.shape(p)[-1]
    local taken = eq(damo.arange(1, n + 1), widened(x, 1))
    local density = log(damo.sum(switch(taken, p, 0), LAST))
    return never(shared.either(lt(x, 1), gt(x, n)), whole(x, density))
  end,
  draw = function(rs, p, options) return rs:categorical(p, options) end,
}

vector.Multinomial = {
  params = { "n", "p" },
  check = { n = "count", p = "probability" },
  logp = function(x, n, p)
    local density = gammaln(n + 1) + damo.sum(xlogy(x, p) - gammaln(x + 1), LAST)
    return never(shared.either(any_entry(lt(x, 0)), damo.neq(damo.sum(x, LAST), n)), density)
  end,
  mean = function(n, p) return widened(n, 1) * p end,
  var = function(n, p) return widened(n, 1) * p * (1 - p) end,
  draw = function(rs, n, p, options) return rs:multinomial(n, p, options) end,
}

vector.Dirichlet = {
  params = { "a" },
  check = { a = "positive" },
  -- A function of all entries of x: that they sum to 1 is not looked at.
  logp = function(x, a)
    local density = damo.sum(xlogy(a - 1, x) - gammaln(a), LAST) + gammaln(damo.sum(a, LAST))
    return never(any_entry(shared.either(lt(x, 0), gt(x, 1))), density)
  end,
  mean = function(a) return a / damo.sum(a, { axis = -1, keepdims = true }) end,
  var = function(a)
    local total = damo.sum(a, { axis = -1, keepdims = true })
    return a * (total - a) / (sqr(total) * (total + 1))
  end,
  draw = function(rs, a, options) return rs:dirichlet(a, options) end,
}

-- The sum of the logarithms of the factor's diagonal: half the log determinant.
local function half_logdet(factor)
  return damo.sum(log(damo.diagonal(factor, { axis1 = -2, axis2 = -1 })), LAST)
end

local function solve_lower(factor, b) return damo.linalg.solve_triangular(factor, b, { lower = true }) end

vector.MvNormal = {
  params = { "mean", "cov" },
  logp = function(x, mean, cov)
    local factor = damo.linalg.cholesky(cov)
    local n = damo.shape(mean)[-1]
    local z = solve_lower(factor, damo.expand_dims(x - mean, -1))
    return -0.5 * damo.sum(sqr(z), { axis = { -2, -1 } }) - half_logdet(factor) - n * (0.5 * math.log(2 * math.pi))
  end,
  mean = function(mean, cov) return like(mean, damo.diagonal(cov, { axis1 = -2, axis2 = -1 })) end,
  var = function(mean, cov) return like(damo.diagonal(cov, { axis1 = -2, axis2 = -1 }), mean) end,
  draw = function(rs, mean, cov, options) return rs:multivariate_normal(mean, cov, options) end,
}

-- log of the multivariate gamma function of dimension n: DLMF 35.3.4.
local function multigammaln(a, n)
  local half = 0.5 * damo.arange(0, n)
  return 0.25 * math.log(math.pi) * n * (n - 1) + damo.sum(gammaln(widened(a, 1) - half), LAST)
end

vector.Wishart = {
  params = { "df", "scale" },
  check = { df = "positive" },
  logp = function(x, df, scale)
    local n = damo.cast(damo.shape(scale)[-1], scale.dtype)
    local of_x, of_scale = damo.linalg.cholesky(x), damo.linalg.cholesky(scale)
    -- trace(scale⁻¹ x) = |of_scale⁻¹ of_x|²
    local trace = damo.sum(sqr(solve_lower(of_scale, of_x)), { axis = { -2, -1 } })
    return (df - n - 1) * half_logdet(of_x) - 0.5 * trace - df * half_logdet(of_scale)
      - 0.5 * math.log(2) * df * n - multigammaln(0.5 * df, n)
  end,
  mean = function(df, scale) return widened(df, 2) * scale end,
  var = function(df, scale)
    local d = damo.diagonal(scale, { axis1 = -2, axis2 = -1 })
    return widened(df, 2) * (sqr(scale) + damo.expand_dims(d, -1) * damo.expand_dims(d, -2))
  end,
  draw = function(rs, df, scale, options) return rs:wishart(df, scale, options) end,
}

return vector

--- The formulas of the discrete distributions of damo.dist.
-- Each takes its argument, then the parameters. A number that is no integer has probability 0; the distribution
-- function is that of the integer below. Source: N. L. Johnson, A. W. Kemp, S. Kotz, "Univariate Discrete
-- Distributions" (3rd ed., 2005).
-- @module damo.dist_discrete

local damo = require "damo"
local shared = require "damo.dist_shared"

local log, log1p, sqr = damo.log, damo.log1p, damo.sqr
local switch, lt, gt, ge, eq, either = damo.switch, damo.lt, damo.gt, damo.ge, damo.eq, shared.either
local gammaln, betaln, xlogy, xlog1py = damo.gammaln, damo.betaln, damo.xlogy, damo.xlog1py
local never, certain, whole, below = shared.never, shared.certain, shared.whole, shared.below

local discrete = {}

local function log_binomial(n, k) return -betaln(1 + n - k, 1 + k) - log(1 + n) end

-- log F(x) as the sum of the probabilities of 0…max x, of which each entry takes those that it needs; high is the
-- greatest value possible.
local function summed(logp, x, high, ...)
  local most = type(x) == "number" and math.max(x, 0)
    or damo.max(damo.concatenate { damo.flatten(x), damo.zeros({ 1 }, x.dtype) }) -- 0 where x is empty
  local k = damo.arange(0, damo.cast(most, "int64") + 1)
  local params = { ... }
  for i, p in ipairs(params) do
    if type(p) ~= "number" then params[i] = damo.expand_dims(p, -1) end
  end
  local column = type(x) == "number" and x or damo.expand_dims(x, -1)
  local terms = switch(gt(k, column), -math.huge, logp(k, (table.unpack or unpack)(params))) -- luacheck: ignore
  local total = damo.minimum(damo.logsumexp(terms, { axis = -1 }), 0)
  return never(lt(x, 0), certain(ge(x, high), total))
end

-- ---- Bernoulli, binomial --------------------------------------------------------------------------------------------

discrete.Bernoulli = {
  params = { "p" },
  check = { p = "probability" },
  logp = function(x, p)
    return switch(eq(x, 1), log(p), switch(eq(x, 0), log1p(-p), switch(damo.isnan(x), 0 / 0, -math.huge)))
  end,
  logcdf = function(x, p) return never(lt(x, 0), certain(ge(x, 1), log1p(-p))) end,
  icdf = shared.search "bernoulli",
  mean = function(p) return p end,
  var = function(p) return p * (1 - p) end,
  draw = function(rs, p, options) return rs:bernoulli(p, options) end,
}

local function binomial_logp(x, n, p)
  local density = log_binomial(n, x) + xlogy(x, p) + xlog1py(n - x, -p)
  return never(either(lt(x, 0), gt(x, n)), whole(x, density))
end

discrete.Binomial = {
  params = { "n", "p" },
  check = { n = "count", p = "probability" },
  logp = binomial_logp,
  -- 1 - F(k) = I_p(k + 1, n - k): DLMF 8.17.5
  logcdf = function(x, n, p)
    x = below(x)
    local k = damo.clip(x, 0, damo.maximum(n - 1, 0))
    local inside = switch(gt((n + 1) * p, k + 1), log(damo.betainc(n - k, k + 1, 1 - p)),
      log1p(-damo.betainc(k + 1, n - k, p)))
    return never(lt(x, 0), certain(ge(x, n), inside))
  end,
  icdf = shared.search "binomial",
  mean = function(n, p) return n * p end,
  var = function(n, p) return n * p * (1 - p) end,
  draw = function(rs, n, p, options) return rs:binomial(n, p, options) end,
}

local function betabinomial_logp(x, n, a, b)
  local density = log_binomial(n, x) + betaln(x + a, n - x + b) - betaln(a, b)
  return never(either(lt(x, 0), gt(x, n)), whole(x, density))
end

discrete.BetaBinomial = {
  params = { "n", "a", "b" },
  check = { n = "count", a = "positive", b = "positive" },
  logp = betabinomial_logp,
  logcdf = function(x, n, a, b)
    return summed(betabinomial_logp, shared.like(below(x), n, a, b), n, n, a, b)
  end,
  icdf = shared.search "betabinom",
  mean = function(n, a, b) return n * a / (a + b) end,
  var = function(n, a, b) return n * a * b * (a + b + n) / (sqr(a + b) * (a + b + 1)) end,
  draw = function(rs, n, a, b, options) return rs:betabinom(n, a, b, options) end,
}

-- ---- Counts without a bound -----------------------------------------------------------------------------------------

discrete.Poisson = {
  params = { "rate" },
  check = { rate = "nonnegative" },
  logp = function(x, rate)
    return never(either(lt(x, 0), eq(x, math.huge)), whole(x, xlogy(x, rate) - gammaln(x + 1) - rate))
  end,
  -- F(k) = Q(k + 1, rate): DLMF 8.4.10
  logcdf = function(x, rate)
    x = below(x)
    local k = damo.maximum(x, 0)
    local inside = switch(lt(rate, k + 1), log1p(-damo.gammainc(k + 1, rate)), log(damo.gammaincc(k + 1, rate)))
    return never(lt(x, 0), certain(eq(x, math.huge), inside))
  end,
  icdf = shared.search "poisson",
  mean = function(rate) return rate end,
  var = function(rate) return rate end,
  draw = function(rs, rate, options) return rs:poisson(rate, options) end,
}

discrete.NegativeBinomial = {
  params = { "n", "p" },
  check = { n = "positive", p = "probability" },
  logp = function(x, n, p)
    local density = -log(n + x) - betaln(x + 1, n) + xlogy(n, p) + xlog1py(x, -p)
    return never(either(lt(x, 0), eq(x, math.huge)), whole(x, density))
  end,
  -- F(k) = I_p(n, k + 1): DLMF 8.17.24
  logcdf = function(x, n, p)
    x = below(x)
    local k = damo.maximum(x, 0)
    local inside = switch(gt(k * p, n * (1 - p)), log1p(-damo.betainc(k + 1, n, 1 - p)),
      log(damo.betainc(n, k + 1, p)))
    return never(lt(x, 0), certain(eq(x, math.huge), inside))
  end,
  icdf = shared.search "nbinom",
  mean = function(n, p) return n * (1 - p) / p end,
  var = function(n, p) return n * (1 - p) / sqr(p) end,
  draw = function(rs, n, p, options) return rs:nbinom(n, p, options) end,
}

discrete.Geometric = {
  params = { "p" },
  check = { p = "probability" },
  logp = function(x, p)
    return never(either(lt(x, 1), eq(x, math.huge)), whole(x, xlog1py(x - 1, -p) + log(p)))
  end,
  logcdf = function(x, p)
    x = below(x)
    return never(lt(x, 1), damo.log1mexp(x * log1p(-p)))
  end,
  icdf = shared.search "geometric",
  mean = function(p) return 1 / p end,
  var = function(p) return (1 - p) / sqr(p) end,
  draw = function(rs, p, options) return rs:geometric(p, options) end,
}

local function zipf_moment(n, a) return damo.zeta(a - n) / damo.zeta(a) end

discrete.Zipf = {
  params = { "a" },
  check = { a = "above one" },
  logp = function(x, a)
    return never(either(lt(x, 1), eq(x, math.huge)), whole(x, -a * log(x) - log(damo.zeta(a))))
  end,
  -- 1 - F(k) = zeta(a, k + 1) / zeta(a): DLMF 25.11.1
  logcdf = function(x, a)
    x = below(x)
    return never(lt(x, 1), log1p(-damo.hurwitz_zeta(a, damo.maximum(x, 1) + 1) / damo.zeta(a)))
  end,
  icdf = shared.search "zipf",
  mean = function(a) return switch(gt(a, 2), zipf_moment(1, a), math.huge) end,
  var = function(a)
    local inside = zipf_moment(2, a) - sqr(zipf_moment(1, a))
    return switch(gt(a, 3), inside, switch(gt(a, 2), math.huge, 0 / 0))
  end,
  draw = function(rs, a, options) return rs:zipf(a, options) end,
}

-- ---- Draws without replacement --------------------------------------------------------------------------------------

local function hypergeometric_logp(x, good, bad, draws)
  local density = log_binomial(good, x) + log_binomial(bad, draws - x) - log_binomial(good + bad, draws)
  local none = either(lt(x, damo.maximum(0, draws - bad)), gt(x, damo.minimum(good, draws)))
  return never(none, whole(x, density))
end

discrete.HyperGeometric = {
  params = { "good", "bad", "draws" },
  check = { good = "count", bad = "count", draws = "count" },
  logp = hypergeometric_logp,
  logcdf = function(x, good, bad, draws)
    return summed(hypergeometric_logp, shared.like(below(x), good, bad, draws), damo.minimum(good, draws), good, bad,
      draws)
  end,
  icdf = shared.search "hypergeometric",
  mean = function(good, bad, draws) return draws * good / (good + bad) end,
  var = function(good, bad, draws)
    local all = good + bad
    return draws * good * bad * (all - draws) / (sqr(all) * (all - 1))
  end,
  draw = function(rs, good, bad, draws, options) return rs:hypergeometric(good, bad, draws, options) end,
}

return discrete

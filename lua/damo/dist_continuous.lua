--- The formulas of the continuous distributions of damo.dist.
-- Each takes its argument, then the parameters. Sources: N. L. Johnson, S. Kotz, N. Balakrishnan, "Continuous
-- Univariate Distributions" (2nd ed., 1994, 1995). Near 0 and 1 probabilities are computed from the side on which they
-- are small.
-- @module damo.dist_continuous

local damo = require "damo"
local shared = require "damo.dist_shared"

local exp, log, log1p, expm1, sqrt, sqr, abs = damo.exp, damo.log, damo.log1p, damo.expm1, damo.sqrt, damo.sqr, damo.abs
local switch, lt, le, gt, ge, eq = damo.switch, damo.lt, damo.le, damo.gt, damo.ge, damo.eq
local fill, log1mexp = damo.fill, damo.log1mexp
local never, certain, outside, unit, like = shared.never, shared.certain, shared.outside, shared.unit, shared.like
local either = shared.either

local INF, NAN, PI = math.huge, 0 / 0, math.pi
local LOG2, LOG_PI, HALF_LOG_2PI = math.log(2), math.log(PI), 0.5 * math.log(2 * PI)
local EULER_GAMMA = 0.57721566490153286061

local continuous = {}

-- log(Phi(b) - Phi(a)) for a < b, from the tail in which both lie.
local function log_ndtr_between(a, b)
  local right = gt(a, 0)
  local low, high = switch(right, -b, a), switch(right, -a, b)
  local log_high = damo.log_ndtr(high)
  local log_low = switch(eq(low, -INF), -INF, damo.log_ndtr(low))
  return log_high + log1mexp(log_low - log_high)
end

-- log((1 - q) Phi(a) + q Phi(b))
local function log_ndtr_mixed(q, a, b)
  local function tail(z) return switch(eq(z, -INF), -INF, damo.log_ndtr(z)) end
  return damo.logaddexp(log1p(-q) + tail(a), log(q) + tail(b))
end

-- (x - loc) / scale; an infinite bound stays what it is, so that no gradient goes through infinity over scale.
local function standardized(x, loc, scale) return switch(damo.isinf(x), x, (x - loc) / scale) end

-- ---- The normal distribution and what is made from it ---------------------------------------------------------------

local function normal_logp(x, mu, sigma) return -0.5 * sqr((x - mu) / sigma) - log(sigma) - HALF_LOG_2PI end

continuous.Normal = {
  params = { "mu", "sigma" },
  presets = { mu = 0, sigma = 1 },
  check = { sigma = "positive" },
  logp = normal_logp,
  logcdf = function(x, mu, sigma) return damo.log_ndtr((x - mu) / sigma) end,
  icdf = function(q, mu, sigma) return mu + sigma * damo.ndtri(q) end,
  mean = function(mu, sigma) return like(mu, sigma) end,
  var = function(mu, sigma) return like(sqr(sigma), mu) end,
  draw = function(rs, mu, sigma, options) return rs:normal(mu, sigma, options) end,
}

continuous.LogNormal = {
  params = { "mu", "sigma" },
  presets = { mu = 0, sigma = 1 },
  check = { sigma = "positive" },
  logp = function(x, mu, sigma) return never(le(x, 0), normal_logp(log(x), mu, sigma) - log(x)) end,
  logcdf = function(x, mu, sigma) return never(le(x, 0), damo.log_ndtr((log(x) - mu) / sigma)) end,
  icdf = function(q, mu, sigma) return exp(mu + sigma * damo.ndtri(q)) end,
  mean = function(mu, sigma) return exp(mu + 0.5 * sqr(sigma)) end,
  var = function(mu, sigma) return expm1(sqr(sigma)) * exp(2 * mu + sqr(sigma)) end,
  draw = function(rs, mu, sigma, options) return rs:lognormal(mu, sigma, options) end,
}

continuous.HalfNormal = {
  params = { "loc", "scale" },
  presets = { loc = 0, scale = 1 },
  check = { scale = "positive" },
  logp = function(x, loc, scale)
    return never(lt(x, loc), LOG2 + normal_logp(x, loc, scale))
  end,
  -- erf(z / sqrt 2)
  logcdf = function(x, loc, scale)
    local z = (x - loc) / (scale * math.sqrt(2))
    return never(le(x, loc), switch(gt(z, 1), log1p(-damo.erfc(z)), log(damo.erf(z))))
  end,
  icdf = function(q, loc, scale) return loc + scale * math.sqrt(2) * damo.erfinv(unit(q, q)) end,
  mean = function(loc, scale) return loc + scale * math.sqrt(2 / PI) end,
  var = function(loc, scale) return like(sqr(scale) * (1 - 2 / PI), loc) end,
  draw = function(rs, loc, scale, options) return rs:halfnormal(loc, scale, options) end,
}

-- z density(z) with its limit 0 at infinity; log_z is the log of the mass between the bounds.
local function truncated_terms(mu, sigma, lower, upper)
  local a, b = standardized(lower, mu, sigma), standardized(upper, mu, sigma)
  local log_mass = log_ndtr_between(a, b)
  local function density(z) return switch(damo.isinf(z), 0, exp(-0.5 * sqr(z) - HALF_LOG_2PI - log_mass)) end
  local function first(z) return switch(damo.isinf(z), 0, z * density(z)) end
  return density(a) - density(b), first(a) - first(b)
end

continuous.TruncatedNormal = {
  params = { "mu", "sigma", "lower", "upper" },
  presets = { mu = 0, sigma = 1, lower = -INF, upper = INF },
  check = { sigma = "positive" },
  ordered = { 3, 4 },
  logp = function(x, mu, sigma, lower, upper)
    local log_mass = log_ndtr_between(standardized(lower, mu, sigma), standardized(upper, mu, sigma))
    return outside(x, lower, upper, normal_logp(x, mu, sigma) - log_mass)
  end,
  logcdf = function(x, mu, sigma, lower, upper)
    local a, b = standardized(lower, mu, sigma), standardized(upper, mu, sigma)
    local below = log_ndtr_between(a, (x - mu) / sigma) - log_ndtr_between(a, b)
    return never(le(x, lower), certain(ge(x, upper), below))
  end,
  -- Phi(z) = (1 - q) Phi(a) + q Phi(b), or the same of -z, -a, -b: the side on which it is the smaller.
  icdf = function(q, mu, sigma, lower, upper)
    local a, b = standardized(lower, mu, sigma), standardized(upper, mu, sigma)
    local log_p, log_rest = log_ndtr_mixed(q, a, b), log_ndtr_mixed(q, -a, -b)
    local z = switch(lt(log_p, log_rest), damo.ndtri_exp(log_p), -damo.ndtri_exp(log_rest))
    local x = damo.clip(mu + sigma * z, lower, upper)
    return unit(q, switch(eq(q, 0), lower, switch(eq(q, 1), upper, x)))
  end,
  mean = function(mu, sigma, lower, upper)
    return mu + sigma * (truncated_terms(mu, sigma, lower, upper))
  end,
  var = function(mu, sigma, lower, upper)
    local shift, second = truncated_terms(mu, sigma, lower, upper)
    return sqr(sigma) * (1 + second - sqr(shift))
  end,
  draw = function(rs, mu, sigma, lower, upper, options)
    return rs:truncated_normal(mu, sigma, lower, upper, options)
  end,
}

-- The first passage of a Brownian motion: F = Phi(r (x/mean - 1)) + exp(2 scale/mean) Phi(-r (x/mean + 1)), where
-- r = sqrt(scale/x).
local function wald_logp(x, mean, scale)
  return never(either(le(x, 0), eq(x, INF)),
    0.5 * (log(scale) - 3 * log(x)) - HALF_LOG_2PI - scale * sqr(x - mean) / (2 * sqr(mean) * x))
end

local function wald_logcdf(x, mean, scale)
  local r = sqrt(scale / x)
  local f = damo.logaddexp(damo.log_ndtr(r * (x / mean - 1)), 2 * scale / mean + damo.log_ndtr(-r * (x / mean + 1)))
  return never(le(x, 0), certain(eq(x, INF), damo.minimum(f, 0)))
end

continuous.Wald = {
  params = { "mean", "scale" },
  presets = { mean = 1, scale = 1 },
  check = { mean = "positive", scale = "positive" },
  logp = wald_logp,
  logcdf = wald_logcdf,
  icdf = function(q, mean, scale)
    return shared.refined("wald", wald_logcdf, wald_logp, q, { mean, scale })
  end,
  mean = function(mean, scale) return like(mean, scale) end,
  var = function(mean, scale) return mean ^ 3 / scale end,
  draw = function(rs, mean, scale, options) return rs:wald(mean, scale, options) end,
}

-- ---- Exponentials ---------------------------------------------------------------------------------------------------

continuous.Exponential = {
  params = { "scale" },
  presets = { scale = 1 },
  check = { scale = "positive" },
  logp = function(x, scale) return never(lt(x, 0), -x / scale - log(scale)) end,
  logcdf = function(x, scale) return never(le(x, 0), log1mexp(-x / scale)) end,
  icdf = function(q, scale) return -scale * log1p(-unit(q, q)) end,
  mean = function(scale) return scale end,
  var = function(scale) return sqr(scale) end,
  draw = function(rs, scale, options) return rs:exponential(scale, options) end,
}

continuous.TruncatedExponential = {
  params = { "b", "loc", "scale" },
  presets = { loc = 0, scale = 1 },
  check = { b = "positive", scale = "positive" },
  logp = function(x, b, loc, scale)
    local z = (x - loc) / scale
    return outside(z, 0, b, -z - log(scale) - log1mexp(-b))
  end,
  logcdf = function(x, b, loc, scale)
    local z = (x - loc) / scale
    return never(le(z, 0), certain(ge(z, b), log1mexp(-z) - log1mexp(-b)))
  end,
  icdf = function(q, b, loc, scale) return loc - scale * log1p(unit(q, q) * expm1(-b)) end,
  mean = function(b, loc, scale) return loc + scale * (1 - b / expm1(b)) end,
  var = function(b, loc, scale) return like(sqr(scale) * (1 - sqr(0.5 * b / damo.sinh(0.5 * b))), loc) end,
  draw = function(rs, b, loc, scale, options) return rs:truncexpon(b, loc, scale, options) end,
}

continuous.Laplace = {
  params = { "loc", "scale" },
  presets = { loc = 0, scale = 1 },
  check = { scale = "positive" },
  logp = function(x, loc, scale) return -abs((x - loc) / scale) - log(2 * scale) end,
  logcdf = function(x, loc, scale)
    local z = (x - loc) / scale
    return switch(gt(z, 0), log1p(-0.5 * exp(-z)), z - LOG2)
  end,
  icdf = function(q, loc, scale)
    return loc + scale * switch(lt(q, 0.5), log(2 * q), -log(2 * (1 - q)))
  end,
  mean = function(loc, scale) return like(loc, scale) end,
  var = function(loc, scale) return like(2 * sqr(scale), loc) end,
  draw = function(rs, loc, scale, options) return rs:laplace(loc, scale, options) end,
}

continuous.Logistic = {
  params = { "loc", "scale" },
  presets = { loc = 0, scale = 1 },
  check = { scale = "positive" },
  -- The density is even: with |z| no exponential overflows.
  logp = function(x, loc, scale)
    local z = abs((x - loc) / scale)
    return -z - 2 * log1p(exp(-z)) - log(scale)
  end,
  logcdf = function(x, loc, scale) return -damo.softplus(-(x - loc) / scale) end,
  icdf = function(q, loc, scale) return loc + scale * (log(q) - log1p(-q)) end,
  mean = function(loc, scale) return like(loc, scale) end,
  var = function(loc, scale) return like(sqr(scale) * (PI * PI / 3), loc) end,
  draw = function(rs, loc, scale, options) return rs:logistic(loc, scale, options) end,
}

continuous.Gumbel = {
  params = { "loc", "scale" },
  presets = { loc = 0, scale = 1 },
  check = { scale = "positive" },
  logp = function(x, loc, scale)
    local z = (x - loc) / scale
    return never(eq(z, -INF), -z - exp(-z) - log(scale))
  end,
  logcdf = function(x, loc, scale) return -exp(-(x - loc) / scale) end,
  icdf = function(q, loc, scale) return loc - scale * log(-log(q)) end,
  mean = function(loc, scale) return loc + EULER_GAMMA * scale end,
  var = function(loc, scale) return like(sqr(scale) * (PI * PI / 6), loc) end,
  draw = function(rs, loc, scale, options) return rs:gumbel(loc, scale, options) end,
}

continuous.Weibull = {
  params = { "shape", "scale" },
  presets = { scale = 1 },
  check = { shape = "positive", scale = "positive" },
  logp = function(x, shape, scale)
    local log_z = log(x / scale)
    local density = log(shape) - log(scale) + switch(eq(shape, 1), 0, (shape - 1) * log_z) - exp(shape * log_z)
    return never(either(lt(x, 0), eq(x, INF)), density)
  end,
  logcdf = function(x, shape, scale) return never(le(x, 0), log1mexp(-exp(shape * log(x / scale)))) end,
  icdf = function(q, shape, scale) return scale * exp(log(-log1p(-q)) / shape) end,
  mean = function(shape, scale) return scale * exp(damo.gammaln(1 + 1 / shape)) end,
  var = function(shape, scale)
    return sqr(scale) * (exp(damo.gammaln(1 + 2 / shape)) - exp(2 * damo.gammaln(1 + 1 / shape)))
  end,
  draw = function(rs, shape, scale, options) return rs:weibull(shape, scale, options) end,
}

continuous.Pareto = {
  params = { "b", "scale" },
  presets = { scale = 1 },
  check = { b = "positive", scale = "positive" },
  logp = function(x, b, scale) return never(lt(x, scale), log(b) - log(scale) - (b + 1) * log(x / scale)) end,
  logcdf = function(x, b, scale) return never(le(x, scale), log1mexp(-b * log(x / scale))) end,
  icdf = function(q, b, scale) return scale * exp(-log1p(-unit(q, q)) / b) end,
  mean = function(b, scale) return switch(gt(b, 1), b * scale / (b - 1), INF) end,
  var = function(b, scale) return switch(gt(b, 2), b * sqr(scale) / (sqr(b - 1) * (b - 2)), INF) end,
  draw = function(rs, b, scale, options) return rs:pareto(b, scale, options) end,
}

continuous.Rayleigh = {
  params = { "scale" },
  presets = { scale = 1 },
  check = { scale = "positive" },
  logp = function(x, scale)
    return never(either(le(x, 0), eq(x, INF)), log(x) - 2 * log(scale) - 0.5 * sqr(x / scale))
  end,
  logcdf = function(x, scale) return never(le(x, 0), log1mexp(-0.5 * sqr(x / scale))) end,
  icdf = function(q, scale) return scale * sqrt(-2 * log1p(-unit(q, q))) end,
  mean = function(scale) return scale * math.sqrt(PI / 2) end,
  var = function(scale) return sqr(scale) * (2 - PI / 2) end,
  draw = function(rs, scale, options) return rs:rayleigh(scale, options) end,
}

-- ---- Bounded intervals ----------------------------------------------------------------------------------------------

continuous.Uniform = {
  params = { "low", "high" },
  presets = { low = 0, high = 1 },
  ordered = { 1, 2 },
  logp = function(x, low, high) return outside(x, low, high, 0 * x - log(high - low)) end,
  logcdf = function(x, low, high)
    return never(le(x, low), certain(ge(x, high), log((x - low) / (high - low))))
  end,
  icdf = function(q, low, high) return low + unit(q, q) * (high - low) end,
  mean = function(low, high) return 0.5 * (low + high) end,
  var = function(low, high) return sqr(high - low) / 12 end,
  draw = function(rs, low, high, options) return rs:uniform(low, high, options) end,
}

continuous.Triangular = {
  params = { "left", "mode", "right" },
  ordered = { 1, 3 },
  logp = function(x, left, mode, right)
    local rising, falling = log((x - left) / (mode - left)), log((right - x) / (right - mode))
    local height = switch(lt(x, mode), rising, switch(gt(x, mode), falling, 0 * x))
    return outside(x, left, right, LOG2 - log(right - left) + height)
  end,
  logcdf = function(x, left, mode, right)
    local rising = 2 * log(x - left) - log(right - left) - log(mode - left)
    local falling = log1p(-sqr(right - x) / ((right - left) * (right - mode)))
    return never(le(x, left), certain(ge(x, right), switch(le(x, mode), rising, falling)))
  end,
  icdf = function(q, left, mode, right)
    local width = right - left
    local rising, falling = left + sqrt(q * width * (mode - left)), right - sqrt((1 - q) * width * (right - mode))
    return switch(lt(q, (mode - left) / width), rising, falling)
  end,
  mean = function(left, mode, right) return (left + mode + right) / 3 end,
  var = function(left, mode, right)
    return (sqr(mode - left) + (right - left) * (right - mode)) / 18
  end,
  draw = function(rs, left, mode, right, options) return rs:triangular(left, mode, right, options) end,
}

-- The distribution function is I_x(a, b), above its mean 1 - I_{1-x}(b, a).
local function beta_logcdf(x, a, b)
  local upper = gt(x * (a + b), a)
  local inside = switch(upper, log1p(-damo.betainc(b, a, 1 - x)), log(damo.betainc(a, b, x)))
  return never(le(x, 0), certain(ge(x, 1), inside))
end

continuous.Beta = {
  params = { "a", "b" },
  check = { a = "positive", b = "positive" },
  logp = function(x, a, b)
    return outside(x, 0, 1, damo.xlogy(a - 1, x) + damo.xlog1py(b - 1, -x) - damo.betaln(a, b))
  end,
  logcdf = beta_logcdf,
  icdf = function(q, a, b) return damo.betaincinv(a, b, q) end,
  mean = function(a, b) return a / (a + b) end,
  var = function(a, b) return a * b / (sqr(a + b) * (a + b + 1)) end,
  draw = function(rs, a, b, options) return rs:beta(a, b, options) end,
}

-- The quotient of chi-squared draws over their degrees of freedom m and n: m·x/(m·x + n) is a beta draw.
continuous.F = {
  params = { "dfnum", "dfden" },
  check = { dfnum = "positive", dfden = "positive" },
  logp = function(x, m, n)
    local density = damo.xlogy(0.5 * m, m / n) + damo.xlogy(0.5 * m - 1, x) - 0.5 * (m + n) * log1p(m / n * x)
    return never(either(lt(x, 0), eq(x, INF)), density - damo.betaln(0.5 * m, 0.5 * n))
  end,
  logcdf = function(x, m, n)
    local z = m * x
    local below = damo.betainc(0.5 * m, 0.5 * n, z / (z + n))
    local above = damo.betainc(0.5 * n, 0.5 * m, n / (z + n))
    return never(le(x, 0), switch(eq(x, INF), 0, switch(gt(z, n), log1p(-above), log(below))))
  end,
  icdf = function(q, m, n)
    local z, rest = damo.betaincinv(0.5 * m, 0.5 * n, q), damo.betaincinv(0.5 * n, 0.5 * m, 1 - q)
    return n / m * switch(lt(z, 0.5), z / (1 - z), (1 - rest) / rest)
  end,
  mean = function(m, n) return switch(gt(n, 2), n / (n - 2), INF) + 0 * m end,
  var = function(m, n)
    return switch(gt(n, 4), 2 * sqr(n) * (m + n - 2) / (m * sqr(n - 2) * (n - 4)), INF)
  end,
  draw = function(rs, m, n, options) return rs:f(m, n, options) end,
}

-- ---- Gamma distributions --------------------------------------------------------------------------------------------

local function gamma_logp(x, shape, scale)
  local z = x / scale
  return never(either(lt(x, 0), eq(x, INF)),
    damo.xlogy(shape - 1, z) - z - damo.gammaln(shape) - log(scale))
end

-- log P(shape, z) from the smaller of P and Q = 1 - P.
local function log_gamma_p(shape, z)
  return switch(gt(z, shape), log1p(-damo.gammaincc(shape, z)), log(damo.gammainc(shape, z)))
end

local function gamma_logcdf(x, shape, scale) return never(le(x, 0), log_gamma_p(shape, x / scale)) end
local function gamma_icdf(q, shape, scale) return scale * damo.gammaincinv(shape, q) end

continuous.Gamma = {
  params = { "shape", "scale" },
  presets = { scale = 1 },
  check = { shape = "positive", scale = "positive" },
  logp = gamma_logp,
  logcdf = gamma_logcdf,
  icdf = gamma_icdf,
  mean = function(shape, scale) return shape * scale end,
  var = function(shape, scale) return shape * sqr(scale) end,
  draw = function(rs, shape, scale, options) return rs:gamma(shape, scale, options) end,
}

continuous.ChiSquared = {
  params = { "df" },
  check = { df = "positive" },
  logp = function(x, df) return gamma_logp(x, 0.5 * df, 2) end,
  logcdf = function(x, df) return gamma_logcdf(x, 0.5 * df, 2) end,
  icdf = function(q, df) return gamma_icdf(q, 0.5 * df, 2) end,
  mean = function(df) return df end,
  var = function(df) return 2 * df end,
  draw = function(rs, df, options) return rs:chisquare(df, options) end,
}

continuous.InverseGamma = {
  params = { "shape", "scale" },
  presets = { scale = 1 },
  check = { shape = "positive", scale = "positive" },
  logp = function(x, shape, scale)
    return never(le(x, 0), shape * log(scale) - damo.gammaln(shape) - (shape + 1) * log(x) - scale / x)
  end,
  logcdf = function(x, shape, scale)
    local z = scale / x
    local inside = switch(lt(z, shape), log1p(-damo.gammainc(shape, z)), log(damo.gammaincc(shape, z)))
    return never(le(x, 0), inside)
  end,
  icdf = function(q, shape, scale) return scale / damo.gammainccinv(shape, q) end,
  mean = function(shape, scale) return switch(gt(shape, 1), scale / (shape - 1), INF) end,
  var = function(shape, scale)
    return switch(gt(shape, 2), sqr(scale) / (sqr(shape - 1) * (shape - 2)), INF)
  end,
  draw = function(rs, shape, scale, options) return rs:invgamma(shape, scale, options) end,
}

-- ---- Student, Cauchy ------------------------------------------------------------------------------------------------

-- The log of the density's height over (1 + z²/df)^(-(df+1)/2).
local function t_height(df) return -damo.betaln(0.5 * df, 0.5) - 0.5 * log(df) end

-- The mass beyond |z| is I_w(df/2, 1/2) with w = df/(df + z²), and that within |z| is I_u(1/2, df/2) with u = 1 - w:
-- the first where z² > df, so that neither argument is a difference. At 0 the second has no derivative by u.
local function t_logcdf(x, df, loc, scale)
  local z = (x - loc) / scale
  local square = sqr(z)
  local beyond = 0.5 * damo.betainc(0.5 * df, 0.5, df / (df + square))
  local within = 0.5 * damo.betainc(0.5, 0.5 * df, square / (df + square))
  local far = switch(lt(z, 0), log(beyond), log1p(-beyond))
  local near = switch(lt(z, 0), log1p(-2 * within), log1p(2 * within)) - LOG2
  local inside = switch(eq(z, 0), log1p(2 * z * exp(t_height(df))) - LOG2, switch(gt(square, df), far, near))
  return switch(eq(z, INF), 0, switch(eq(z, -INF), -INF, inside))
end

local function t_icdf(q, df, loc, scale)
  local left = lt(q, 0.5)
  local p = 2 * switch(left, q, 1 - q)
  local w, u = damo.betaincinv(0.5 * df, 0.5, p), damo.betaincinv(0.5, 0.5 * df, 1 - p)
  local size = switch(lt(p, 0.5), sqrt(df * (1 - w) / w), sqrt(df * u / (1 - u)))
  local z = switch(eq(q, 0.5), (q - 0.5) * exp(-t_height(df)), switch(left, -size, size))
  return loc + scale * unit(q, z)
end

continuous.StudentT = {
  params = { "df", "loc", "scale" },
  presets = { loc = 0, scale = 1 },
  check = { df = "positive", scale = "positive" },
  logp = function(x, df, loc, scale)
    return t_height(df) - log(scale) - 0.5 * (df + 1) * log1p(sqr((x - loc) / scale) / df)
  end,
  logcdf = t_logcdf,
  icdf = t_icdf,
  mean = function(df, loc, scale) return switch(gt(df, 1), like(loc, scale), NAN) end,
  var = function(df, loc, scale)
    return switch(gt(df, 1), switch(gt(df, 2), like(sqr(scale) * df / (df - 2), loc), INF), NAN)
  end,
  draw = function(rs, df, loc, scale, options) return rs:t(df, loc, scale, options) end,
}

-- The tail beyond z > 0 is arctan2(1, z) / pi, without the difference of pi/2 and arctan z.
continuous.Cauchy = {
  params = { "loc", "scale" },
  presets = { loc = 0, scale = 1 },
  check = { scale = "positive" },
  logp = function(x, loc, scale) return -LOG_PI - log(scale) - log1p(sqr((x - loc) / scale)) end,
  logcdf = function(x, loc, scale)
    local z = (x - loc) / scale
    local tail = damo.arctan2(1, abs(z)) * (1 / PI)
    return switch(gt(z, 0), log1p(-tail), log(tail))
  end,
  icdf = function(q, loc, scale)
    local left = lt(q, 0.5)
    local size = 1 / damo.tan(PI * switch(left, q, 1 - q))
    return loc + scale * unit(q, switch(left, -size, size))
  end,
  mean = function(loc, scale) return fill(loc + scale, NAN) end,
  var = function(loc, scale) return fill(loc + scale, NAN) end,
  draw = function(rs, loc, scale, options) return rs:cauchy(loc, scale, options) end,
}

continuous.HalfCauchy = {
  params = { "loc", "scale" },
  presets = { loc = 0, scale = 1 },
  check = { scale = "positive" },
  logp = function(x, loc, scale)
    return never(lt(x, loc), LOG2 - LOG_PI - log(scale) - log1p(sqr((x - loc) / scale)))
  end,
  logcdf = function(x, loc, scale)
    local z = (x - loc) / scale
    local inside = switch(gt(z, 1), log1p(-damo.arctan2(1, z) * (2 / PI)), log(damo.arctan(z) * (2 / PI)))
    return never(le(z, 0), inside)
  end,
  icdf = function(q, loc, scale)
    local z = switch(gt(q, 0.5), 1 / damo.tan(0.5 * PI * (1 - q)), damo.tan(0.5 * PI * q))
    return loc + scale * unit(q, z)
  end,
  mean = function(loc, scale) return fill(loc + scale, INF) end,
  var = function(loc, scale) return fill(loc + scale, INF) end,
  draw = function(rs, loc, scale, options) return rs:halfcauchy(loc, scale, options) end,
}

-- ---- Directions -----------------------------------------------------------------------------------------------------

-- The logarithm of the integral of exp(kappa (cos t - 1)) over [-pi, y], y <= 0: Gauss and Legendre's rule over the
-- part where the integrand is more than exp(-40) of its value at y.
local function log_arc(y, kappa)
  local nodes, weights = shared.gauss_legendre(48)
  local start = -damo.arccos(damo.maximum(damo.cos(y) - 40 / kappa, -1))
  start = damo.consider_constant(start)
  if type(y) ~= "number" then nodes, weights = damo.cast(nodes, y.dtype), damo.cast(weights, y.dtype) end
  local half = 0.5 * (y - start)
  local t = damo.expand_dims(start, -1) + damo.expand_dims(half, -1) * (nodes + 1)
  local reach = -2 * sqr(damo.sin(0.5 * t)) + 2 * sqr(damo.sin(0.5 * damo.expand_dims(y, -1)))
  local sum = damo.sum(weights * exp(damo.expand_dims(kappa, -1) * reach), { axis = -1 })
  return log(half * sum) - 2 * kappa * sqr(damo.sin(0.5 * y))
end

-- log(2 pi exp(-kappa) I0(kappa)), the whole circle's integral
local function log_circle(kappa) return log(2 * PI * damo.i0e(kappa)) end

-- log F for x within pi of mu; F is 0 below, 1 above.
local function vonmises_logcdf(x, mu, kappa)
  local z = x - mu
  local y = damo.clip(-abs(z), -PI, 0)
  kappa = like(kappa, y)
  local log_tail = log_arc(y, kappa) - log_circle(kappa)
  local inside = switch(lt(z, 0), log_tail, log1p(-exp(log_tail)))
  return never(le(z, -PI), certain(ge(z, PI), inside))
end

local function vonmises_logp(x, mu, kappa)
  return -2 * kappa * sqr(damo.sin(0.5 * (x - mu))) - log_circle(kappa)
end

continuous.VonMises = {
  params = { "mu", "kappa" },
  presets = { mu = 0 },
  check = { kappa = "nonnegative" },
  logp = vonmises_logp,
  logcdf = vonmises_logcdf,
  icdf = function(q, mu, kappa)
    return mu + shared.refined("vonmises", function(z, k) return vonmises_logcdf(z, 0, k) end,
      function(z, k) return vonmises_logp(z, 0, k) end, q, { kappa })
  end,
  mean = function(mu, kappa) return like(mu, kappa) end,
  -- The circular variance.
  var = function(mu, kappa) return like(1 - damo.i1e(kappa) / damo.i0e(kappa), mu) end,
  draw = function(rs, mu, kappa, options) return rs:vonmises(mu, kappa, options) end,
}

return continuous

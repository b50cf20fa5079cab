-- damo.dist: each distribution's formulas agree with each other, in the tails too, and its draws follow it.
local damo = require "damo"
local dist, INF = damo.dist, math.huge

-- The parameters of one example of each distribution, and points inside its support.
local continuous = {
  Normal = { { 0.3, 1.7 }, { -2, 0.1, 3 } }, Uniform = { { -1.0, 3.0 }, { -0.9, 1, 2.7 } },
  Exponential = { { 2.5 }, { 0.1, 2, 9 } }, Gumbel = { { 0.5, 2.0 }, { -2, 1, 9 } },
  LogNormal = { { 0.2, 0.7 }, { 0.2, 1, 6 } }, Gamma = { { 2.3, 1.5 }, { 0.3, 3, 11 } },
  Beta = { { 2.2, 0.8 }, { 0.1, 0.6, 0.98 } }, ChiSquared = { { 3.4 }, { 0.3, 3, 9 } },
  F = { { 3.4, 26.0 }, { 0.1, 0.8, 5 } },
  StudentT = { { 3.7, 0.5, 1.5 }, { -6, 0.6, 4 } }, Cauchy = { { 0.5, 1.5 }, { -9, 0.6, 30 } },
  HalfCauchy = { { 0.5, 1.5 }, { 0.7, 3, 30 } }, HalfNormal = { { 0.5, 1.5 }, { 0.7, 2, 5 } },
  Laplace = { { 0.5, 1.5 }, { -4, 0.4, 5 } }, Logistic = { { 0.5, 1.5 }, { -4, 0.6, 7 } },
  Weibull = { { 1.7, 2.0 }, { 0.2, 2, 5 } }, Pareto = { { 3.2, 1.5 }, { 1.6, 2, 9 } },
  VonMises = { { 0.0, 2.4 }, { -2, 0.3, 1.5 } }, Wald = { { 1.5, 2.5 }, { 0.3, 1.4, 6 } },
  Triangular = { { -1.0, 0.5, 3.0 }, { -0.5, 0.6, 2.5 } },
  TruncatedExponential = { { 2.0, 0.5, 1.5 }, { 0.6, 2, 3.3 } },
  Rayleigh = { { 1.7 }, { 0.3, 2, 5 } }, InverseGamma = { { 3.3, 2.0 }, { 0.3, 0.8, 4 } },
  TruncatedNormal = { { 0.3, 1.5, -1.0, 2.5 }, { -0.8, 0.5, 2.2 } },
}
local discrete = {
  Bernoulli = { { 0.3 }, 0, 1 }, Poisson = { { 6.3 }, 0, 40 }, Binomial = { { 9, 0.35 }, 0, 9 },
  NegativeBinomial = { { 3.5, 0.4 }, 0, 80 }, BetaBinomial = { { 9, 1.7, 0.6 }, 0, 9 },
  Geometric = { { 0.3 }, 1, 90 }, HyperGeometric = { { 12, 9, 8 }, 0, 8 }, Zipf = { { 6.5 }, 1, 300 },
}
local function sorted(t)
  local names = {}
  for name in pairs(t) do names[#names + 1] = name end
  table.sort(names)
  return names
end
local function make(name, params) return dist[name](table.unpack(params)) end

-- Draws of n values from a stream: compiled, and so that a seed fixes them.
local function drawn(d, n)
  return damo.compile({}, d:sample(damo.random.RandomStream(11), { size = { n } }))()
end

for _, name in ipairs(sorted(continuous)) do
  describe("the distribution " .. name, function()
    local params, points = continuous[name][1], damo.array(continuous[name][2])
    local d = make(name, params)
    local x = damo.dvector "x"

    it("has the derivative of its distribution function as density", function()
      local f = damo.compile({ x }, { damo.grad(damo.sum(damo.exp(d:logcdf(x))), x), damo.exp(d:logp(x)) })
      local slope, density = f(points)
      assert.is_true(damo.allclose(slope, density, { rtol = 1e-9 }))
    end)

    it("has the inverse of its distribution function as quantile", function()
      assert.is_true(damo.allclose(d:icdf(damo.exp(d:logcdf(points))), points, { rtol = 1e-9, atol = 1e-10 }))
      local q = damo.array { 1e-12, 1e-3, 0.5, 0.999 }
      assert.is_true(damo.allclose(damo.exp(d:logcdf(d:icdf(q))), q, { rtol = 1e-8 }))
    end)

    it("computes the same of Variables as of values", function()
      local vars = { x }
      for i = 1, #params do vars[i + 1] = damo.dscalar("p" .. i) end
      local symbolic = make(name, { table.unpack(vars, 2) })
      local f = damo.compile(vars, { symbolic:logp(x), symbolic:logcdf(x) })
      local logp, logcdf = f(points, table.unpack(params))
      assert.is_true(damo.allclose(logp, d:logp(points), { rtol = 1e-14 }))
      assert.is_true(damo.allclose(logcdf, d:logcdf(points), { rtol = 1e-14 }))
    end)

    it("has first and second derivatives by the point and the parameters", function()
      local args = { points }
      for i, p in ipairs(params) do args[i + 1] = p end
      local function logp(at, ...) return damo.sum(dist[name](...):logp(at)) end
      damo.verify_grad(logp, args)
      if name ~= "VonMises" then -- a long graph
        damo.verify_grad(function(...) return damo.sum(damo.grad(logp(...), (...))) end, args)
      end
    end)

    it("has the limits of its support", function()
      local f = damo.compile({ x }, { d:logp(x), d:logcdf(x), damo.grad(damo.sum(d:logp(x)), x) })
      local logp, logcdf, slope = f(damo.array { -1e120, 1e120, 0 / 0 })
      if name ~= "VonMises" then assert.is_true(logp[1] < -500 and logp[2] < -500) end
      assert.is_true(logcdf[1] < -270)
      assert.near(0, logcdf[2], 1e-100)
      assert.is_true(logp[3] ~= logp[3] and logcdf[3] ~= logcdf[3])
      assert.is_true(slope[1] == slope[1] and slope[2] == slope[2])
    end)

    -- Kolmogorov and Smirnov: sqrt(n) times the greatest distance is above 1.95 once in a thousand.
    it("has draws that follow it", function()
      local n = 20000
      local f = damo.exp(d:logcdf(damo.sort(drawn(d, n))))
      local steps = damo.arange(1, n + 1) / n
      local distance = damo.max(damo.maximum(damo.abs(steps - f), damo.abs(steps - 1 / n - f)))
      assert.is_true(distance * math.sqrt(n) < 1.95, ("%g"):format(distance * math.sqrt(n)))
    end)

    it("has draws whose derivatives are those of the quantile", function()
      if name == "VonMises" then return end
      local rs, vars = damo.random.RandomStream(12), {}
      for i = 1, #params do vars[i] = damo.dscalar("p" .. i) end
      local symbolic = make(name, vars)
      local draw = symbolic:sample(rs, { size = { 60 } })
      local q = damo.consider_constant(damo.exp(symbolic:logcdf(draw)))
      local weights = damo.arange(1, 61) / 60.0
      local by_draw = damo.grad(damo.sum(draw * weights), vars, { return_disconnected = "zero" })
      local by_quantile = damo.grad(damo.sum(symbolic:icdf(q) * weights), vars, { return_disconnected = "zero" })
      local both = {}
      for i = 1, #vars do both[2 * i - 1], both[2 * i] = by_draw[i], by_quantile[i] end
      local found = { damo.compile(vars, both)(table.unpack(params)) }
      for i = 1, #found, 2 do assert.near(found[i + 1], found[i], 1e-7 * (1 + math.abs(found[i + 1]))) end
    end)

    it("has the mean and the variance of its density", function()
      if name:find "Cauchy" then return end
      -- over quantiles at the middles of equal parts; heavy tails leave some of the variance out
      local n = 20000
      local q = (damo.arange(0, n) + 0.5) / n
      local v = d:icdf(q)
      local mean = damo.mean(v)
      local wanted = d:mean()
      assert.near(wanted, mean, 2e-3 * (1 + math.abs(wanted)))
      if name ~= "VonMises" then -- whose variance is the circular one
        local var = d:var()
        local spread = ({ StudentT = 0.2, Pareto = 0.2, InverseGamma = 0.2 })[name] or 6e-3
        assert.near(var, damo.mean(damo.sqr(v - mean)), spread * var)
      end
    end)
  end)
end

for _, name in ipairs(sorted(discrete)) do
  describe("the distribution " .. name, function()
    local params, low, high = discrete[name][1], discrete[name][2], discrete[name][3]
    local d = make(name, params)
    local k = damo.arange(low, high + 1)

    it("has probabilities whose sums are its distribution function", function()
      local p = damo.exp(d:logp(k))
      assert.is_true(damo.allclose(damo.exp(d:logcdf(k)), damo.cumsum(p), { rtol = 1e-11 }))
      assert.near(1, damo.sum(p), 1e-11)
      local mean = damo.sum(p * k)
      assert.near(mean, d:mean(), 1e-8)
      assert.near(damo.sum(p * damo.sqr(k - mean)), d:var(), 1e-6)
    end)

    it("has the least integer that reaches q as quantile", function()
      local few = damo.arange(low, math.min(high, low + 12) + 1)
      local f = damo.exp(d:logcdf(few))
      assert.is_true(damo.array_equal(few, d:icdf(f)))
      assert.equal("int64", d:icdf(f).dtype)
      assert.is_true(damo.array_equal(few, d:icdf(f - 0.3 * damo.exp(d:logp(few)))))
    end)

    it("gives other numbers no probability", function()
      local logp = d:logp(damo.array { low - 1, low + 0.5, 0 / 0, INF })
      assert.equal(-INF, logp[1])
      assert.equal(-INF, logp[2])
      assert.is_true(logp[3] ~= logp[3])
      assert.equal(-INF, logp[4])
      assert.equal(-INF, d:logcdf(low - 1))
      assert.near(d:logcdf(low), d:logcdf(low + 0.5), 1e-14)
    end)

    -- Pearson: the statistic over counts that are expected at least 5 times, by its normal approximation.
    it("has draws that follow it", function()
      local n = 20000
      local x, statistic, cells, rest, rest_expected = drawn(d, n), 0, 0, n, n
      for value = low, high do
        local expected = n * math.exp(d:logp(value))
        if expected >= 5 then
          local found = damo.sum(damo.eq(x, value))
          statistic, cells = statistic + (found - expected) ^ 2 / expected, cells + 1
          rest, rest_expected = rest - found, rest_expected - expected
        end
      end
      if rest_expected > 1 then statistic, cells = statistic + (rest - rest_expected) ^ 2 / rest_expected, cells + 1 end
      assert.is_true(statistic < cells + 4 * math.sqrt(2 * cells) + 4, ("%g of %d"):format(statistic, cells))
    end)
  end)
end

describe("distributions", function()
  it("keep their digits in the tails", function()
    -- mpmath, 30 digits
    for _, case in ipairs {
      { dist.Normal(0, 1), -40.0, -804.60844201375379 }, { dist.Logistic(0, 1), -750.0, -750.0 },
      { dist.Exponential(1), 1e-20, -46.051701859880914 }, { dist.Gumbel(0, 1), 40.0, -4.248354255291589e-18 },
      { dist.StudentT(3, 0, 1), -1e8, -55.164318792812497 }, { dist.Laplace(0, 1), 50.0, -9.643749239819589e-23 },
      { dist.Gamma(2, 1), 60.0, -5.341471565244877e-25 }, { dist.Weibull(2, 1), 1e-9, -41.44653167389282 },
    } do
      local got = case[1]:logcdf(case[2])
      assert.near(case[3], got, 2e-12 * math.abs(case[3]))
    end
  end)

  it("truncate far out in the tails", function()
    -- mpmath, 30 digits
    local far = dist.TruncatedNormal(0, 1, -40, -39)
    assert.near(-39.01775730523235, far:icdf(0.5), 1e-10)
    assert.near(39.01775730523235, dist.TruncatedNormal(0, 1, 39, 40):icdf(0.5), 1e-10)
    assert.near(0.25, math.exp(far:logcdf(far:icdf(0.25))), 1e-12)
    local x = dist.TruncatedNormal(0, 1, 39, 1 / 0):sample(damo.random.RandomStream(3), { size = { 2000 } }):eval()
    assert.is_true(damo.min(x) >= 39)
    assert.near(39.0256, damo.mean(x), 0.003)
  end)

  it("of Zipf agree with mpmath, far out too", function()
    for _, case in ipairs { -- a, k, logp, logcdf
      { 1.5, 3, -2.6081783357329498, -0.52458670138882046 }, { 2.5, 10, -6.0502416244423764, -0.014693034532162293 },
      { 4, 2, -2.8516985953071169, -0.018485251250900787 },
    } do
      local d = dist.Zipf(case[1])
      assert.near(case[3], d:logp(case[2]), 1e-15 * 5)
      assert.near(case[4], d:logcdf(case[2]), 1e-15)
    end
    local d = dist.Zipf(damo.array { 4, 2.5, 1.5 })
    assert.same({ "1.110627", "1.947372", "inf" }, { ("%.6f %.6f %g"):format(d:mean()[1], d:mean()[2], d:mean()[3])
      :match "(%S+) (%S+) (%S+)" })
    assert.near(0.2863264536645034, d:var()[1], 1e-14)
    assert.equal(INF, d:var()[2])
    assert.is_true(d:var()[3] ~= d:var()[3])
    local a = damo.dscalar "a"
    local function second(y) return damo.compile({ a }, damo.grad(damo.grad(y, a), a))(2.5) end
    assert.near(-0.35045248787741275, second(dist.Zipf(a):logp(3)), 1e-14)
    assert.near(-0.24380714986936241, second(dist.Zipf(a):logcdf(3)), 1e-14)
    assert.equal(6274, dist.Zipf(2.5):icdf(0.999999))
    assert.equal(707, dist.Zipf(1.05):icdf(0.3))
    assert.has_error(function() dist.Zipf(1) end)
  end)

  it("take empty arguments", function()
    local none = damo.zeros({ 0 }, "int64")
    for _, d in ipairs { dist.Normal(0, 1), dist.BetaBinomial(5, 2, 3), dist.Poisson(damo.zeros { 0 } + 1) } do
      assert.same({ 0 }, d:logp(none).shape)
      assert.same({ 0 }, d:logcdf(none).shape)
      assert.same({ 0 }, d:icdf(damo.zeros { 0 }).shape)
    end
  end)

  it("refuse values that are no parameters", function()
    assert.has_error(function() dist.Normal(0, -1) end)
    assert.has_error(function() dist.Uniform(2, 1) end)
    assert.has_error(function() dist.Binomial(2.5, 0.1) end)
    assert.has_error(function() dist.Bernoulli(1.5) end)
    assert.has_error(function() dist.Gamma() end)
    assert.has_error(function() dist.Normal(0, 1, 2) end)
    assert.has_error(function() dist.Gamma(damo.array { 1, 0 }, 1) end)
    assert.has_error(function() dist.Categorical({ 0.5, 0.5 }):mean() end)
    assert.has_error(function() dist.Normal(0, 1).logp(1) end)
    assert.has_error(function() dist.Normal(0, 1):sample({}) end)
  end)

  it("give up a search that does not end", function()
    for _, c in ipairs { { "nbinom", 2, 1e-17 }, { "nbinom", 2, -1 }, { "poisson", 2 ^ 53 } } do
      local args = { 0.5, table.unpack(c, 2) }
      args[#args + 1] = { dist = c[1] }
      local ok, e = pcall(function() return dist.quantile(table.unpack(args)) end)
      assert.is_false(ok)
      assert.matches("the search in " .. c[1] .. " does not end", tostring(e), 1, true)
    end
  end)

  it("draw from a large population", function()
    local n, draws = 2 ^ 52, 2 ^ 30
    local x = damo.random.hypergeometric(n, n, draws, { size = { 200 } })
    local z = (x - draws / 2) / (draws / 4) ^ 0.5
    assert.is_true(math.abs(damo.mean(z)) < 0.4)
    assert.is_true(math.abs(damo.std(z) - 1) < 0.3)
  end)

  it("broadcast, and keep float32", function()
    local mu = damo.array({ { 0 }, { 1 } }, { dtype = "float32" })
    local logp = dist.Normal(mu, 2):logp(damo.array({ 1, 2, 3 }, { dtype = "float32" }))
    assert.same({ 2, 3 }, logp.shape)
    assert.equal("float32", logp.dtype)
    assert.equal("number", type(dist.Normal(0, 1):logp(0.5)))
  end)

  it("keep float32 where a formula has numbers in its branches or a quantile searches", function()
    local x = damo.array({ 0.25, 0.5 }, { dtype = "float32" })
    local function single(v) return damo.array(v, { dtype = "float32" }) end
    local student = dist.StudentT(single { 3, 4 }, single(0), single(1))
    assert.equal("float32", student:logcdf(x).dtype)
    assert.equal("float32", student:var().dtype)
    for _, name in ipairs { "Wald", "VonMises" } do
      assert.equal("float32", dist[name](single(1), single(2)):icdf(x).dtype)
      assert.equal("float64", dist[name](1, 2):icdf(damo.array { 0.5 }).dtype)
    end
  end)

  it("of vectors and matrices agree with those of numbers", function()
    local cov = damo.array { { 4.0, 0 }, { 0, 9.0 } }
    local x = damo.array { { 1.0, 2.0 }, { -1.0, 0.5 } }
    local joint = dist.MvNormal(damo.array { 0.5, 1.0 }, cov):logp(x)
    local single = dist.Normal(damo.array { 0.5, 1.0 }, damo.array { 2.0, 3.0 }):logp(x)
    assert.is_true(damo.allclose(joint, damo.sum(single, { axis = 2 }), { rtol = 1e-13 }))
    local beta, dirichlet = dist.Beta(2.5, 1.5), dist.Dirichlet { 2.5, 1.5 }
    assert.near(beta:logp(0.3), dirichlet:logp { 0.3, 0.7 }, 1e-13)
    local binomial, multinomial = dist.Binomial(5, 0.3), dist.Multinomial(5, { 0.3, 0.7 })
    assert.near(binomial:logp(2), multinomial:logp(damo.array({ 2, 3 }, "int64")), 1e-13)
    local gamma, wishart = dist.Gamma(2.5, 3.0), dist.Wishart(5, damo.array { { 1.5 } })
    assert.near(gamma:logp(4.0), wishart:logp(damo.array { { 4.0 } }), 1e-13)
    assert.is_true(damo.allclose(dist.Categorical { 0.2, 0.5, 0.3 }:logp(damo.array({ 1, 3, 4 }, "int64")),
      damo.array { math.log(0.2), math.log(0.3), -INF }))
  end)
end)

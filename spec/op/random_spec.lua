-- Random numbers: seeds, moments, streams, states.
local damo = require "damo"

local rows = assert(loadfile "spec/op/rows/random.lua")()
local names = {}
for name, row in pairs(rows) do
  if name ~= "permutation" and not row.vector then names[#names + 1] = name end
end
table.sort(names)

local function same(a, b) return damo.array_equal(a, b) end
local function drawn(name, size)
  local operands = { table.unpack(rows[name][1]) }
  operands[#operands + 1] = { size = size }
  return damo.random[name](table.unpack(operands))
end
local function caught(fn, ...)
  local ok, err = pcall(fn, ...)
  assert.is_false(ok)
  return err
end

describe("zipf draws", function()
  it("have the probabilities k^-a / zeta(a)", function()
    for _, a in ipairs { 1.3, 2.2, 4.0 } do
      damo.random.seed(11)
      local n = 100000
      local x = damo.random.zipf(a, { size = { n } })
      for k = 1, 6 do
        local p = k ^ -a / damo.zeta(a)
        assert.near(p, damo.mean(damo.eq(x, k)), 5 * math.sqrt(p * (1 - p) / n))
      end
    end
    damo.random.seed(11)
    local x = damo.random.zipf(1.001, { size = { 1000 } })
    local floats = damo.cast(x, "float64") -- not every Lua has integers of that size
    assert.is_true(damo.min(floats) >= 1 and damo.max(floats) > 1e12)
    assert.is_false(pcall(damo.random.zipf, 1))
  end)
end)

describe("draws of", function()
  local n = 100000
  for _, name in ipairs(names) do
    local row = rows[name]

    it(name .. " have its mean, variance, bounds and dtype", function()
      damo.random.seed(17)
      local x = drawn(name, { n })
      assert.same({ n }, x.shape)
      assert.equal(row.dtype, x.dtype)
      x = x:astype "float64"
      -- Five standard errors of the mean; the variance within 5 %.
      if row.mean then
        assert.near(row.mean, damo.mean(x), 5 * math.sqrt(row.variance / n))
        assert.near(row.variance, damo.var(x), 0.05 * row.variance)
      end
      if row.from then assert.is_true(damo.min(x) >= row.from) end
      if row.below then assert.is_true(damo.max(x) < row.below) end
      if row.to then assert.equal(row.to, damo.max(x)) end
    end)

    it(name .. " do not depend on how many are drawn at once, nor on neighbours", function()
      damo.random.seed(5)
      local long = drawn(name, { 1000 })
      damo.random.seed(5)
      local short = drawn(name, { 10 })
      assert.is_true(same(long[{ { 1, 10 } }], short))
      local x = long:astype "float64"
      -- of a draw without moments the ranks, which have no ties
      if not row.mean and row.dtype ~= "int64" then x = damo.argsort(damo.argsort(x)):astype "float64" end
      x = x - damo.mean(x)
      assert.near(0, damo.mean(x[{ { 1, -2 } }] * x[{ { 2, -1 } }]) / damo.var(x), 0.16)
    end)

    it(name .. " follow the seed", function()
      damo.random.seed(3)
      local a, b = drawn(name, { 50 }), drawn(name, { 50 })
      damo.random.seed(3)
      local c = drawn(name, { 50 })
      damo.random.seed(4)
      local d = drawn(name, { 50 })
      assert.is_true(same(a, c))
      assert.is_false(same(a, b))
      assert.is_false(same(a, d))
    end)

    it(name .. " over a state give the next state, eagerly and compiled", function()
      local state = damo.random.state(9)
      local operands = { table.unpack(row[1]) }
      operands[#operands + 1] = { size = { 2, 3 }, rng = state }
      local next_state, x = damo.random[name](table.unpack(operands))
      assert.same({ 2, 3 }, x.shape)
      operands[#operands] = { size = { 2, 3 }, rng = next_state }
      local _, y = damo.random[name](table.unpack(operands))
      assert.is_false(same(x, y))
      local s = damo.RandomType() "s"
      operands[#operands] = { size = { 2, 3 }, rng = s }
      local following, draw = damo.random[name](table.unpack(operands))
      for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE" } do
        local f = damo.compile({ s }, { following, draw }, { mode = mode })
        local after, z = f(state)
        assert.is_true(same(x, z))
        assert.is_true(same(next_state, after))
      end
    end)
  end

  it("an empty size are empty, and do not advance the state", function()
    damo.random.seed(1)
    assert.same({ 0 }, damo.random.normal(0, 1, { size = { 0 } }).shape)
    local a = damo.random.normal(0, 1, { size = { 3 } })
    damo.random.seed(1)
    assert.is_true(same(a, damo.random.normal(0, 1, { size = { 3 } })))
  end)

  it("parameters have the shape that these broadcast to", function()
    damo.random.seed(1)
    local x = damo.random.normal(damo.array { { 0 }, { 1000 } }, damo.array { 1, 2, 3 })
    assert.same({ 2, 3 }, x.shape)
    assert.is_true(damo.max(x[1]) < 100 and damo.min(x[2]) > 900)
    assert.equal("number", type(damo.random.uniform()))
    assert.equal("boolean", type(damo.random.bernoulli(0.5)))
  end)

  it("another dtype have that dtype", function()
    assert.equal("float32", damo.random.normal(0, 1, { size = 2, dtype = "float32" }).dtype)
    assert.equal("int32", damo.random.integers(1, 6, { size = 2, dtype = "int32" }).dtype)
  end)
end)

describe("draws of positions, vectors and matrices:", function()
  local p = damo.array { 0.2, 0.5, 0.3 }
  local cov = damo.array { { 4.0, 1.2 }, { 1.2, 1.0 } }
  local n = 40000
  local sized = { size = { n } }
  -- Within five standard errors of n values with that variance.
  local function close(wanted, got, variance)
    local bound = 5 * math.sqrt(variance / n)
    assert.is_true(damo.allclose(got, wanted, { rtol = 0, atol = bound }))
  end
  local function mean(x) return damo.mean(x:astype "float64", { axis = 1 }) end
  local function var(x) return damo.var(x:astype "float64", { axis = 1 }) end

  it("categorical, by their probabilities", function()
    damo.random.seed(1)
    local x = damo.random.categorical(p, sized)
    assert.equal("int64", x.dtype)
    for k = 1, 3 do close(p[k], damo.mean(damo.eq(x, k):astype "float64"), 0.25) end
    assert.same({ 1, 2 }, damo.random.categorical(damo.array { { 1.0, 0 }, { 0, 1.0 } }):totable())
    assert.same({ 2, 2 }, damo.random.categorical({ 0, 1 }, { size = { 2, 3 } }).shape and { 2, 2 })
    assert.matches("p must sum to 1", caught(damo.random.categorical, { 0.5, 0.6 }).message)
    assert.matches("not negative", caught(damo.random.categorical, { 1.5, -0.5 }).message)
  end)

  it("multinomial, whose counts sum to n", function()
    damo.random.seed(2)
    local x = damo.random.multinomial(10, p, sized)
    assert.same({ n, 3 }, x.shape)
    assert.is_true(damo.all(damo.eq(damo.sum(x, { axis = 2 }), 10)))
    close(10 * p, mean(x), 2.5)
    assert.is_true(damo.allclose(var(x), 10 * p * (1 - p), { rtol = 0.05 }))
    assert.same({ { 0, 3 }, { 5, 0 } },
      damo.random.multinomial(damo.array({ 3, 5 }, "int64"), damo.array { { 0.0, 1 }, { 1, 0.0 } }):totable())
  end)

  it("dirichlet, of small parameters too", function()
    damo.random.seed(3)
    for _, a in ipairs { { 2, 3, 5 }, { 0.01, 0.02, 0.03 } } do
      local d = damo.dist.Dirichlet(a)
      local x = d:sample(nil, sized)
      assert.is_true(damo.allclose(damo.sum(x, { axis = 2 }), 1))
      close(d:mean(), mean(x), 0.25)
      assert.is_true(damo.allclose(var(x), d:var(), { rtol = 0.05 }))
    end
  end)

  it("multivariate_normal, of singular covariances too", function()
    damo.random.seed(4)
    local x = damo.random.multivariate_normal({ 1, 2 }, cov, sized)
    close(damo.array { 1, 2 }, mean(x), 4)
    local y = x - mean(x)
    assert.is_true(damo.allclose(damo.dot(y.T, y) / n, cov, { rtol = 0.05 }))
    local one = damo.random.multivariate_normal({ 0, 0 }, damo.ones { 2, 2 })
    assert.equal(one[1], one[2])
    assert.same({ 3, 2 }, damo.random.multivariate_normal(damo.zeros { 3, 2 }, cov).shape)
    assert.matches("not positive semidefinite", caught(damo.random.multivariate_normal, { 0, 0 }, -cov).message)
  end)

  it("wishart", function()
    damo.random.seed(5)
    local d = damo.dist.Wishart(5, cov)
    local x = d:sample(nil, sized)
    assert.same({ n, 2, 2 }, x.shape)
    close(d:mean(), mean(x), 160)
    assert.is_true(damo.allclose(var(x), d:var(), { rtol = 0.06 }))
    assert.matches("df must be greater than 1", caught(damo.random.wishart, 1, cov).message)
  end)

  it("choice, with and without replacement, with and without probabilities", function()
    damo.random.seed(6)
    local choice = damo.random.choice
    assert.same({ 1, 2, 3, 4, 5 }, damo.sort(choice(5, { size = { 5 }, replace = false })):totable())
    assert.same({ 3, 3 }, choice(3, { size = { 2 }, p = damo.array { 0, 0, 1.0 } }):totable())
    assert.is_true(damo.array_equal(damo.sort(choice(damo.array { 7.0, 8, 9 }, { size = { 3 }, replace = false })),
      damo.array { 7, 8, 9 }))
    assert.same({ 2, 2 }, choice(damo.array { { 1, 2 }, { 3, 4 } }, { size = { 2 } }).shape)
    assert.equal("number", type(choice(9)))
    assert.matches("without replacement", caught(choice, 3, { size = { 4 }, replace = false }).message)
    -- the first of two without replacement has the probabilities, the second those of what is left
    local first, second = { 0, 0, 0 }, { 0, 0, 0 }
    for _ = 1, 3000 do
      local two = choice(3, { size = { 2 }, replace = false, p = p })
      first[two[1]], second[two[2]] = first[two[1]] + 1, second[two[2]] + 1
    end
    for k = 1, 3 do
      local later = 0
      for j = 1, 3 do later = j == k and later or later + p[j] * p[k] / (1 - p[j]) end
      assert.near(3000 * p[k], first[k], 130)
      assert.near(3000 * later, second[k], 130)
    end
  end)

  it("of populations that are large, in equal shares, hardly differ", function()
    local function shares(all, some)
      damo.random.seed(5)
      return damo.random.hypergeometric(all * 3 / 8, all * 5 / 8, some, { size = { 20000 } })
    end
    for _, some in ipairs { 2, 1000 } do
      local limit = shares(2 ^ 44, some)
      for e = 31, 40 do assert.is_true(damo.sum(damo.neq(shares(2 ^ e, some), limit)) < 5, e) end
    end
  end)

  it("none depends on how many are drawn at once", function()
    for _, draw in ipairs {
      function(o) return damo.random.categorical(p, o) end,
      function(o) return damo.random.multinomial(50, p, o) end,
      function(o) return damo.random.dirichlet({ 0.5, 2 }, o) end,
      function(o) return damo.random.multivariate_normal({ 1, 2 }, cov, o) end,
      function(o) return damo.random.wishart(3.5, cov, o) end,
    } do
      damo.random.seed(7)
      local many = draw { size = { 100 } }
      damo.random.seed(7)
      assert.is_true(same(many[{ { 1, 7 } }], draw { size = { 7 } }))
    end
  end)

  it("have derivatives", function()
    local function averages(make, at, ...)
      local v = damo.tensor("v", { dtype = "float64", ndim = #at.shape })
      local x = make(damo.random.RandomStream(8), v, sized)
      local found = {}
      for i, cost in ipairs { ... } do
        local average = damo.mean(cost(x))
        found[2 * i - 1], found[2 * i] = average, damo.grad(average, v)
      end
      return damo.compile({ v }, found)(at)
    end
    -- E x1 = a1 / (a1 + a2 + a3)
    local _, by_a = averages(function(rs, a, o) return rs:dirichlet(a, o) end, damo.array { 2, 3, 5 },
      function(x) return x[{ {}, 1 }] end)
    assert.is_true(damo.allclose(by_a, damo.array { 0.08, -0.02, -0.02 }, { rtol = 0, atol = 2e-3 }))
    -- gengamma: E x^p = alpha / p scale^p
    local _, by_alpha = averages(function(rs, a, o) return rs:gengamma(a[1], a[2], 1.5, o) end, damo.array { 3.0, 2.0 },
      function(x) return x * x end)
    assert.near(1.125, by_alpha[1], 0.03)
    -- E x² = scale² gamma((alpha + 2)/p) / gamma(alpha/p): by p, (psi(1.5) 3 - psi(2.5) 5) / 4 of 3.375
    assert.near(3.375 * (3 * damo.psi(1.5) - 5 * damo.psi(2.5)) / 4, by_alpha[2], 0.08)
    -- E x1 x2 = cov12, E x1² = cov11
    local _, by_12, _, by_11 = averages(function(rs, c, o) return rs:multivariate_normal({ 0, 0 }, c, o) end, cov,
      function(x) return x[{ {}, 1 }] * x[{ {}, 2 }] end, function(x) return damo.sqr(x[{ {}, 1 }]) end)
    assert.near(1, by_12[1][2] + by_12[2][1], 0.05)
    assert.near(0, by_12[1][1], 0.05)
    assert.near(1, by_11[1][1], 0.05)
    -- E X = df scale
    local _, by_scale = averages(function(rs, c, o) return rs:wishart(5, c, o) end, cov,
      function(x) return x[{ {}, 1, 1 }] end)
    assert.near(5, by_scale[1][1], 0.1)
    assert.near(0, by_scale[2][2], 0.1)
  end)
end)

-- The same on every machine: log, sin and cos are damo's own, and the words that a rejection takes are its value's own.
describe("the numbers of a state are these:", function()
  local st = damo.random.state(2024)
  for name, case in pairs {
    normal = { { 1.5, 2.0 }, "0x1.91d2c30cd7444p+1 0x1.fb2ba547fcc5fp+0 0x1.9d743f83516a3p+1 0x1.4c0dc83acf842p+1" },
    uniform = { { 1.5, 2.0 }, "0x1.a7209eb0eb36p+0 0x1.85d0e53ec7738p+0 0x1.b430dba567ffp+0 0x1.8b7cf7538868cp+0" },
    exponential = { { 2.0 }, "0x1.75951c21293bep-1 0x1.7cf20f8ebdc9cp-4 0x1.0c30fe309ee28p+0 0x1.812d396d9fbbfp-3" },
    gumbel = { { 1.5, 2.0 }, "0x1.c2221d574dcc8p+1 0x1.e8bca4581c3ffp+2 0x1.65892329da93cp+1 0x1.8e99a6e982192p+2" },
    bernoulli = { { 0.3 }, "false true false true" },
    integers = { { 1, 1000 }, "306 46 408 90" },
  } do
    it(name, function()
      local operands, want = { table.unpack(case[1]) }, {}
      operands[#operands + 1] = { size = { 4 }, rng = st }
      for word in case[2]:gmatch "%S+" do
        if word == "true" or word == "false" then want[#want + 1] = word == "true"
        else want[#want + 1] = tonumber(word) end
      end
      assert.same(want, select(2, damo.random[name](table.unpack(operands))):totable())
    end)
  end

  it("permutation", function()
    assert.same({ 6, 2, 5, 7, 4, 8, 9, 1, 3 }, select(2, damo.random.permutation(9, { rng = st })):totable())
  end)

  it("with every instruction set that the CPU has", function()
    local hashes, seen = {}, 0
    for _, isa in ipairs { "sse2", "avx2", "avx512", "neon" } do
      local lua = arg[-1] or "lua5.4"
      local pipe = assert(io.popen(("DAMO_ISA=%s %s spec/support/draw_hashes.lua 2>/dev/null"):format(isa, lua)))
      local kernels, text = pipe:read "l", pipe:read "a"
      pipe:close()
      if kernels == isa then
        hashes[#hashes + 1], seen = text, seen + 1
        assert.equal(hashes[1], text)
      end
    end
    assert.is_true(seen >= 1)
    assert.equal([[
bernoulli 70aba8240eb41fd2
beta efa9ece91ae14c4a
betabinom 93bc9490b2eacae6
binomial 0ed36c9904de1ee8
categorical 6a64dab3803b43ef
cauchy 10677ccc5063d8e9
chisquare 8e6c81007c5d2d9c
choice 8484ab1bbec098dd
dirichlet 4ff29441f61eff77
exponential 260ea253ce44b809
f deaec16845031770
gamma cc7d7a6cd9894bfd
gengamma f576e3ddd0725602
geometric 0dc4823e6810419a
gumbel 2d4253f0825ea3e7
halfcauchy 359bdcd70b699d65
halfnormal ed59af4f3b3aa62b
hypergeometric c1d19f2014a0e367
integers cfaef1bcfb1709bc
invgamma e242e24f4a42ddb2
laplace 19f5bc4d9b511105
logistic 0730382428a0ad7e
lognormal b319c5d146c03c15
multinomial a6f18a9644eba524
multivariate_normal 76523182803c144a
nbinom a14e1ceadafe7d96
normal 0611c2a8902b6736
normal float32 9ead55d28fab936a
pareto 2015d46dada6e3b5
permutation 041134ce7b97df02
poisson 1518aec4dbef6e5e
rayleigh 692e17ce89fed573
sparse.csr_dbinomial a4c876082bf0e96f
sparse.multinomial 1c314b3a6baa0cc5
sparse.poisson bcd82c25980711f6
sparse.random 9193727d19492e50
t 6ff3ab761e1b66ef
triangular e5df1ec069fd85a3
truncated_normal 6d22549a0d0da2a9
truncexpon 65afc24bac0fbe72
uniform 7cbb11b041053b02
vonmises d8d9cb77dd1c1ae6
wald 192b169064b10f1a
weibull 82c3e24d5ffdee46
wishart 445557a258c2a795
zipf c004bc3d23a71cf9
]], hashes[1])
  end)
end)

describe("a permutation", function()
  local function is_permutation(p, n)
    return damo.array_equal(damo.sort(p), damo.arange(1, n + 1))
  end

  it("has each position once, in another order", function()
    damo.random.seed(2)
    local p, q = damo.random.permutation(1000), damo.random.permutation(1000)
    assert.equal("int64", p.dtype)
    assert.is_true(is_permutation(p, 1000))
    assert.is_true(is_permutation(q, 1000))
    assert.is_false(same(p, q))
    assert.is_false(same(p, damo.arange(1, 1001)))
    damo.random.seed(2)
    assert.is_true(same(p, damo.random.permutation(1000)))
  end)

  it("has every first entry equally often", function()
    damo.random.seed(6)
    local counts = { 0, 0, 0, 0 }
    for _ = 1, 4000 do
      local first = damo.random.permutation(4)[1]
      counts[first] = counts[first] + 1
    end
    for i = 1, 4 do assert.near(1000, counts[i], 150) end
  end)

  it("of an Array is one of its rows", function()
    damo.random.seed(2)
    local a = damo.array { { 1, 10 }, { 2, 20 }, { 3, 30 }, { 4, 40 } }
    local p = damo.random.permutation(a)
    assert.is_true(same(damo.sort(p, { axis = 1 }), a))
    assert.is_true(same(p[{ {}, 1 }] * 10, p[{ {}, 2 }]))
    assert.is_true(same(damo.array { { 1, 10 }, { 2, 20 }, { 3, 30 }, { 4, 40 } }, a))
  end)

  it("of no entries and of one is itself", function()
    assert.equal(0, #damo.random.permutation(0))
    assert.same({ 1 }, damo.random.permutation(1):totable())
    assert.same({ 0, 3 }, damo.random.permutation(damo.zeros { 0, 3 }).shape)
  end)

  it("of an Array permutes its slices, strided or not, of any rank and dtype", function()
    for _, dtype in ipairs { "bool", "int8", "float32", "complex128" } do
      local a = damo.cast(damo.arange(24), dtype):reshape { shape = { 2, 3, 4 } }
      local turned = damo.dimshuffle(a, { 3, 1, 2 })
      local rng = damo.random.state(5)
      local _, order = damo.random.permutation(4, { rng = damo.constant(rng) })
      local _, moved = damo.random.permutation(turned, { rng = damo.constant(rng) })
      local positions, got = order:eval(), moved:eval()
      assert.equal(dtype, got.dtype)
      for i = 1, 4 do assert.is_true(same(turned[positions[i]], got[i])) end
    end
  end)

  it("has a shape that needs no draw, and is the same in every mode", function()
    local n, d = damo.lscalar "n", damo.dmatrix "d"
    local rng = damo.constant(damo.random.state(5))
    local _, p = damo.random.permutation(n, { rng = rng })
    local _, q = damo.random.permutation(d, { rng = rng })
    local f = damo.compile({ n, d }, { p.shape, q.shape })
    for _, node in ipairs(f.fgraph.apply_nodes) do assert.is_true(node.op.name ~= "Permutation") end
    local one, two = f(7, damo.ones { 3, 2 })
    assert.same({ { 7 }, { 3, 2 } }, { one:totable(), two:totable() })
    for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE", "DEBUG" } do
      local g = damo.compile({ n, d }, { p, q }, { mode = mode })
      local numbers, slices = g(7, damo.arange(6):reshape { shape = { 3, 2 } })
      assert.is_true(is_permutation(numbers, 7))
      assert.is_true(same(damo.sort(slices, { axis = 1 }), damo.arange(6):reshape { shape = { 3, 2 } }))
    end
  end)

  it("refuses wrong arguments", function()
    local n = damo.lscalar "n"
    local rng = damo.constant(damo.random.state(5))
    local _, p = damo.random.permutation(n, { rng = rng })
    local function refused(kind, text, fn)
      local ok, err = pcall(fn)
      assert.is_false(ok)
      assert.equal(kind, err.kind)
      assert.is_truthy(err.message:find(text, 1, true), err.message)
    end
    for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE", "DEBUG" } do
      local f = damo.compile({ n }, p, { mode = mode })
      refused("value", "permutation: n must not be negative, got -1", function() f(-1) end)
      refused("memory", "", function() f(math.floor(2 ^ 61)) end)
    end
    refused("value", "permutation: n must not be negative, got -3", function() damo.random.permutation(-3) end)
    refused("type", "permutation: n must be an integer", function() damo.random.permutation(2.5) end)
    refused("type", "rng", function() damo.random.permutation(3, { rng = damo.dvector() }) end)
    local Permutation = p.owner.op
    refused("type", "permutation: rng must be a generator's state, got TensorType(float64, shape=(?,))",
      function() Permutation:make_node(damo.dvector(), n) end)
    refused("type", "permutation: x must be an int64 scalar or a tensor, got TensorType(float64, shape=())",
      function() Permutation:make_node(p.owner.inputs[1], damo.dscalar()) end)
  end)
end)

describe("a stream", function()
  it("advances by itself in a compiled Function", function()
    for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE" } do
      local rs = damo.random.RandomStream(8)
      local f = damo.compile({}, rs:normal(0, 1, { size = { 4 } }), { mode = mode })
      local a, b = f(), f()
      assert.is_false(same(a, b))
      rs:seed()
      assert.is_true(same(a, f()))
      assert.is_true(same(b, f()))
      rs:seed(9)
      assert.is_false(same(a, f()))
    end
  end)

  it("of the same seed gives the same draws; two draws differ", function()
    local function both()
      local rs = damo.random.RandomStream(8)
      return damo.compile({}, { rs:uniform(0, 1, { size = 3 }), rs:uniform(0, 1, { size = 3 }) })()
    end
    local a, b = both()
    local c, d = both()
    assert.is_true(same(a, c))
    assert.is_true(same(b, d))
    assert.is_false(same(a, b))
  end)

  it("used twice in a graph is drawn once", function()
    local u = damo.random.RandomStream(1):uniform(0, 1, { size = 5 })
    local f = damo.compile({}, damo.sum(damo.abs(u - u)))
    assert.equal(0, f())
    local x = damo.compile({}, { u, 2 * u })
    local a, b = x()
    assert.is_true(same(2 * a, b))
  end)

  it("does not advance without default updates", function()
    local f = damo.compile({}, damo.random.RandomStream(1):normal(0, 1, { size = 2 }), { no_default_updates = true })
    assert.is_true(same(f(), f()))
  end)

  it("does not advance when a call fails, and advances afterwards", function()
    local function make(check)
      local rs = damo.random.RandomStream(4)
      local x = damo.dvector "x"
      local draw = rs:normal(0, 1, { size = { 3 } })
      return damo.compile({ x }, check and draw + x or draw, { on_unused_input = "ignore" })
    end
    local plain, checked = make(false), make(true)
    local zero = damo.zeros { 3 }
    assert.is_true(same(plain(zero), checked(zero)))
    assert.equal("shape", caught(checked, damo.zeros { 2 }).kind)
    assert.equal("shape", caught(checked, damo.zeros { 4 }).kind)
    assert.is_true(same(plain(zero), checked(zero)))
  end)

  it("has draws of symbolic size and parameters", function()
    local rs = damo.random.RandomStream(4)
    local n, p = damo.lscalar "n", damo.dvector "p"
    local f = damo.compile({ n, p }, { rs:uniform(0, 1, { size = { n, 2 } }), rs:bernoulli(p), rs:permutation(n) })
    local u, b, order = f(5, damo.array { 0, 1, 0 })
    assert.same({ 5, 2 }, u.shape)
    assert.same({ false, true, false }, b:totable())
    assert.equal(15, damo.sum(order))
  end)

  -- With the state fixed, a draw is a smooth function of parameters that shift and scale it.
  it("has gradients for locations, scales and bounds", function()
    local state = damo.random.state(12)
    for _, case in ipairs { { "normal", 0.5, 2 }, { "uniform", -1, 2.5 }, { "gumbel", 0.5, 2 }, { "exponential",
      1.5 } } do
      local name, values = case[1], { table.unpack(case, 2) }
      local params, operands = {}, {}
      for i = 1, #values do params[i] = damo.dscalar() end
      for i = 1, #values do operands[i] = params[i] end
      operands[#operands + 1] = { size = { 6 }, rng = state }
      local _, draw = damo.random[name](table.unpack(operands))
      local weights = damo.array { 1, -2, 3, 0.5, -1, 2 }
      local cost = damo.sum(draw * weights)
      local f, g = damo.compile(params, cost), damo.compile(params, damo.grad(cost, params))
      local slopes = { g(table.unpack(values)) }
      for i = 1, #values do
        local up, down = { table.unpack(values) }, { table.unpack(values) }
        up[i], down[i] = up[i] + 1e-5, down[i] - 1e-5
        assert.near((f(table.unpack(up)) - f(table.unpack(down))) / 2e-5, slopes[i], 1e-5)
      end
    end
  end)

  it("has gradients of a parameter's shape, or refuses to broadcast", function()
    local rs = damo.random.RandomStream(4)
    local open = damo.dvector "open"
    local one = damo.tensor("one", { dtype = "float64", shape = { 1 } })
    local f = damo.compile({ one }, damo.grad(damo.sum(rs:normal(one, 1, { size = { 3 } })), one))
    assert.same({ 3 }, f(damo.array { 5 }):totable())
    local g = damo.compile({ open }, rs:normal(open, 1, { size = { 3 } }))
    assert.same({ 3 }, g(damo.zeros { 3 }).shape)
    assert.equal("normal: loc of shape (1,) does not broadcast to shape (3,): axis 1 is 1, which broadcasts only "
      .. "where its Type says so; declare it: damo.tensor(name, {shape={1}})", caught(g, damo.zeros { 1 }).message)
  end)

  it("says that other draws have no derivative", function()
    local p = damo.dscalar "p"
    local err = caught(damo.grad, damo.sum(damo.random.RandomStream(4):bernoulli(p, { size = { 3 },
      dtype = "float64" })), p)
    assert.equal("null_gradient", err.kind)
    assert.matches("bernoulli draws have no derivative by p", err.message, 1, true)
  end)
end)

describe("random numbers refuse", function()
  local h = assert(loadfile "spec/op/harness.lua")(describe, it)
  local R = damo.random
  h.run_errors("a draw", {
    { "a negative scale", "value", "normal: scale must not be negative, got loc=0, scale=-1",
      function() return R.normal(0, -1, { size = 2 }) end },
    { "a probability above 1", "value", "bernoulli: p must lie between 0 and 1, got p=1.5",
      function() return R.bernoulli(1.5) end },
    { "an empty range of integers", "value", "integers: low must not be greater than high, got low=5, high=1",
      function() return R.integers(5, 1) end },
    { "fractions as bounds of integers", "type", "integers: low must be integer, got float64",
      function() return R.integers(0.5, 2.5) end },
    { "a negative size", "value", "uniform: a size must not be negative, got -1",
      function() return R.uniform(0, 1, { size = { -1 } }) end },
    { "a misspelt option", "value", "uniform: unknown option 'sice', did you mean 'size'?",
      function() return R.uniform(0, 1, { sice = 2 }) end },
    { "an integer dtype of normal draws", "type", "normal: draws can't have dtype int32",
      function() return R.normal(0, 1, { dtype = "int32" }) end },
    { "a state that is none", "type", "normal: rng must be a generator's state, got TensorType(float64, shape=(3,))",
      function() return R.normal(0, 1, { rng = damo.zeros { 3 } }) end },
    { "Variables without a state", "type",
      "damo.random: a draw over Variables needs a state: use a RandomStream, or the option rng",
      function() return R.normal(damo.dscalar "m", 1) end },
    { "parameters that do not broadcast", "shape", "normal: loc of shape (2,) and scale of shape (3,) do not broadcast",
      function() return R.normal(damo.zeros { 2 }, damo.ones { 3 }) end },
    { "parameters that do not broadcast to the size", "shape",
      "normal: loc of shape (2,) does not broadcast to shape (3,)",
      function() return R.normal(damo.zeros { 2 }, 1, { size = { 3 } }) end },
    { "a permutation of a negative number", "value", "permutation: n must not be negative, got -1",
      function() return R.permutation(-1) end },
    { "a permutation of a fraction", "type", "permutation: n must be an integer, got float64",
      function() return R.permutation(2.5) end },
    { "a seed that is a fraction", "type", "seed: argument 1 (seed) must be an integer, got number",
      function() return R.seed(1.5) end },
    { "a seed of a stream that is a string", "type", "RandomStream: the seed must be an integer, got string",
      function() return R.RandomStream "x" end },
  })
end)

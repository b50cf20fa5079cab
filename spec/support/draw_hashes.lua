-- Prints the kernels' instruction set, and a hash of many draws of each distribution. Run by spec/op/random_spec.lua
-- under several instruction sets.
local damo = require "damo"
local sparse, random = damo.sparse, damo.random

local unpack = table.unpack or unpack -- luacheck: ignore

local n = 20001
local function state(seed) return { rng = random.state(seed) } end
local function sized(seed, dtype) return { rng = random.state(seed), size = { n }, dtype = dtype } end
local function second(_, x) return x end
local function row(value) return sparse.csr_from_dense(damo.full({ 1, 3000 }, value)) end

local draws = {
  ["normal"] = second(random.normal(1.5, 2, sized(1))),
  ["normal float32"] = second(random.normal(0, 1, sized(2, "float32"))),
  ["uniform"] = second(random.uniform(-1, 3, sized(3))),
  ["exponential"] = second(random.exponential(2, sized(4))),
  ["gumbel"] = second(random.gumbel(0.5, 2, sized(5))),
  ["bernoulli"] = second(random.bernoulli(0.3, sized(6))),
  ["integers"] = second(random.integers(-5, 100, sized(7))),
  ["permutation"] = second(random.permutation(n, state(8))),
  ["sparse.poisson"] = second(sparse.poisson(sparse.hstack { row(0.5), row(9.5), row(40.0) }, state(9))),
  ["sparse.csr_dbinomial"] = second(sparse.csr_dbinomial(60, 0.02, { shape = { 100, 200 }, rng = random.state(10) })),
  ["sparse.multinomial"] = second(sparse.multinomial(200, sparse.csr_from_dense(damo.full({ 500, 4 }, 0.25)),
    state(11))),
}
local more = {
  lognormal = { 0.2, 0.5 }, halfnormal = { 1, 2 }, laplace = { 1, 2 }, logistic = { 1, 2 }, cauchy = { 1, 2 },
  halfcauchy = { 1, 2 }, weibull = { 2, 3 }, pareto = { 2, 3 }, rayleigh = { 2 }, triangular = { -1, 0, 2 },
  truncexpon = { 2, 1, 3 }, gamma = { damo.linspace(0.01, 3, n) }, invgamma = { 0.5, 2 },
  chisquare = { 5 }, f = { 3, 5 }, zipf = { 2.5 },
  gengamma = { 3, 2, 1.5 },
  beta = { 0.5, 2 }, t = { 3 }, wald = { 1.5, 2 }, vonmises = { 0.5, 2 },
  truncated_normal = { 0, 1, damo.linspace(-3, 5, n) },
  poisson = { 12 }, binomial = { 20, 0.3 }, nbinom = { 5, 0.3 }, betabinom = { 10, 2, 3 }, geometric = { 0.2 },
  hypergeometric = { 50, 30, 20 },
}
local cov = { { 4.0, 1.2, 0.3 }, { 1.2, 1.0, 0.1 }, { 0.3, 0.1, 2.0 } }
more.categorical, more.multinomial = { { 0.2, 0.5, 0.3 } }, { 30, { 0.2, 0.5, 0.3 } }
more.dirichlet, more.multivariate_normal = { { 0.2, 0.5, 3 } }, { { 1, 2, 3 }, damo.array(cov) }
more.wishart = { 4.5, damo.array(cov) }
draws.choice = second(random.choice(n, { size = { 500 }, replace = false, rng = random.state(14) }))
for name, params in pairs(more) do
  params[#params + 1] = sized(13)
  draws[name] = second(random[name](unpack(params)))
end
random.seed(12)
draws["sparse.random"] = sparse.random(200, 100, { density = 0.1 })

-- Polynomials in the bytes modulo two primes below 2^32, so that doubles hold each product.
local function hash(h, bytes)
  local a, b = h[1], h[2]
  for i = 1, #bytes do
    local byte = bytes:byte(i)
    a, b = (a * 257 + byte) % 4294967291, (b * 263 + byte) % 4294967279
  end
  return { a, b }
end

local names = {}
for name in pairs(draws) do names[#names + 1] = name end
table.sort(names)
print(damo.info().kernels)
for _, name in ipairs(names) do
  local x, h = draws[name], { 1, 1 }
  if sparse.is_sparse(x) then
    h = hash(hash(hash(h, x.data:tobytes()), x.indices:tobytes()), x.indptr:tobytes())
  else
    h = hash(h, x:tobytes())
  end
  print(("%s %08x%08x"):format(name, h[1], h[2]))
end

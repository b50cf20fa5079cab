-- gmrf.lua: a Gaussian Markov random field fitted to three centuries of sunspots.
--
--     lua5.4 examples/gmrf.lua [folder for the picture]
--
-- The square roots of the yearly numbers, less their mean, are a signal x plus noise of variance s². The signal is a
-- field whose inverse covariance, its precision, has five entries a row: Q = (k⁴ + 2 k² cos(t) G + G²) / v with G the
-- second difference; with cos(t) < 0 the field oscillates with a period of its own (Lindgren, Rue, Lindström 2011). The
-- log-likelihood of the data y is
--
--     log p(y) = (log|Q| - log|Q + 1/s²| - n log(2 π s²) - (y·y - y·m) / s²) / 2,    m = (Q + 1/s²)⁻¹ y / s²
--
-- so a step of the fit takes two sparse Cholesky factorizations, which serve the determinants, m and all gradients.
-- Picture: pictures/gmrf.png, the data and the field fitted to them.

local damo = require "damo"
local progress = require "damo.progress"
local sparse = damo.sparse

local here = arg[0]:match("^(.*)/") or "."
local results = arg[1] or io.popen("mktemp -d"):read "*l" -- a new, private folder

-- ---- The series ---------------------------------------------------------------------------------------------------

local data = damo.io.read_csv(here .. "/data/sunspots.csv")
local roots = damo.sqrt(data[{ {}, 2 }])
local series = roots - damo.mean(roots)
local n = #series
print(("gmrf: %d years of sunspots"):format(n))

-- ---- The model ----------------------------------------------------------------------------------------------------

local ends = damo.concatenate({ damo.ones(1), damo.full({ n - 2 }, 2.0), damo.ones(1) }, { axis = 1 })
local G = sparse.diags({ { -1 }, ends, { -1 } }, { -1, 0, 1 }, { shape = { n, n }, format = "csc" })
local g, gg, eye = sparse.as_sparse_variable(G), sparse.as_sparse_variable(sparse.true_dot(G, G)),
  sparse.as_sparse_variable(sparse.eye(n, n, { format = "csc" }))

-- Four parameters: the logarithms of k, v and s, and the logit of t/π.
local theta = damo.shared(damo.array { -0.5, 0.0, 0.0, 1.0 }, "theta")
local k2 = damo.exp(2 * theta[1])
local v, s2 = damo.exp(theta[2]), damo.exp(2 * theta[3])
local swing = damo.cos(math.pi * damo.sigmoid(theta[4]))
local Q = (eye * (k2 * k2) + g * (2 * k2 * swing) + gg) * (1 / v)
local P = Q + eye * (1 / s2)

local y = damo.dvector "y"
local mean = sparse.solve(P, y / s2, { assume = "pos" })
local log_det = sparse.logdet(Q, { assume = "pos" }) - sparse.logdet(P, { assume = "pos" })
local log_p = (log_det - n * damo.log(2 * math.pi * s2) - (damo.sum(y * y) - damo.sum(y * mean)) / s2) / 2

-- ---- The fit ------------------------------------------------------------------------------------------------------

local cost = -log_p / n
local updates = damo.optim.adam({ theta }, { damo.grad(cost, theta) }, { lr = 0.03 })
local step = damo.compile({ y }, log_p, { updates = updates })
local look = damo.compile({ y }, { mean, log_p, k2, swing, s2 })

local steps = 400
local bar = progress.new(steps, "gmrf")
local first
for k = 1, steps do
  local now = step(series)
  first = first or now
  bar:step(k, { ["log p"] = now })
end
bar:finish()

local smooth, last, kk, c, noise = look(series)
local profile = step.profile
print(("gmrf: log likelihood %.2f to %.2f in %d steps"):format(first, last, steps))
print(("gmrf: %d analyses, %d factorizations"):format(profile.symbolic_analyses, profile.factorizations))

-- The field's spectrum 1 / (k⁴ + 2 k² c w² + w⁴), w² = 2 - 2 cos(frequency) the eigenvalues of G, peaks at w² = -c k².
local w2 = -c * kk
assert(w2 > 0 and w2 < 4, "the fitted field does not swing")
print(("gmrf: the field swings with a period of %.2f years, noise %.2f of %.2f"):format(
  2 * math.pi / math.acos(1 - w2 / 2), math.sqrt(noise), damo.std(series)))

local t = damo.arange(n) + 1700
print("gmrf: picture " .. damo.plot.lines({
  { name = "square root of the number", x = t, y = series },
  { name = "field", x = t, y = smooth },
}, { title = "Sunspots and the field fitted to them", xlabel = "year", path = results .. "/gmrf.png" }))

-- poisson2d.lua: the source of a field, found from noisy observations of the field by gradients through a sparse solve.
--
--     lua5.4 examples/poisson2d.lua [folder for the picture]
--
-- On a grid the field u and its source f obey -Δu = f, with u = 0 on the boundary: A u = f with five entries a row. The
-- source is not observed; u is measured at a third of the points, with noise. The source is assumed to be smooth,
-- f = B⁻¹ w with B = 1 + l² A, and w is fitted: each step solves with B and A to predict, and with both again
-- for the gradient. Both matrices are analysed and factorized only in the first step.
-- Picture: pictures/poisson2d.png, the source, what was found of it, the field and its error.

local damo = require "damo"
local progress = require "damo.progress"
local sparse = damo.sparse

local results = arg[1] or io.popen("mktemp -d"):read "*l" -- a new, private folder
local n = 48
local points, h = n * n, 1 / (n + 1)

-- ---- The equation -------------------------------------------------------------------------------------------------

--- The negated second difference of n points, 0 beyond both ends.
local line = sparse.diags({ { -1 }, { 2 }, { -1 } }, { -1, 0, 1 }, { shape = { n, n }, format = "csc" })
local eye = sparse.eye(n, n, { format = "csc" })
local A = (sparse.kron(line, eye) + sparse.kron(eye, line)) * (1 / h ^ 2)
local B = sparse.eye(points, points, { format = "csc" }) + A * 0.04 ^ 2

--- Two round sources and a sink.
local function true_source()
  local t = damo.arange(1, n + 1) * h
  local x, y = t:reshape { 1, -1 }, t:reshape { -1, 1 }
  local function spot(x0, y0, width, height)
    return height * damo.exp(-(damo.sqr(x - x0) + damo.sqr(y - y0)) / (2 * width ^ 2))
  end
  return (spot(0.3, 0.35, 0.08, 60) + spot(0.7, 0.6, 0.12, 40) + spot(0.65, 0.2, 0.06, -50)):reshape { points }
end

local source = true_source()
local field = sparse.solve(A, source)

-- ---- Measurements -------------------------------------------------------------------------------------------------

damo.random.seed(7)
local noise = 0.02 * damo.max(field)
local seen = (damo.random.uniform(0, 1, { size = { points } }):lt(1 / 3)):astype "float64"
local measured = (field + damo.random.normal(0, noise, { size = { points } })) * seen
print(("poisson2d: %d unknowns, %d entries in A, %d noisy observations"):format(
  points, A.nnz, math.floor(damo.sum(seen))))

-- ---- The fit ------------------------------------------------------------------------------------------------------

local a, b = sparse.csc_matrix "A", sparse.csc_matrix "B"
local w = damo.shared(damo.zeros(points), "w")
local f = sparse.solve(b, w, { assume = "pos" })
local u = sparse.solve(a, f, { assume = "pos" })
local misfit = damo.sum(damo.sqr((u - measured) * seen)) / (2 * noise ^ 2)
local cost = misfit + damo.sum(damo.sqr(w)) / (2 * 40 ^ 2)
local updates = damo.optim.adam({ w }, { damo.grad(cost, w) }, { lr = 2 })
local step = damo.compile({ a, b }, { cost, misfit }, { updates = updates })
local look = damo.compile({ a, b }, { u, f })

--- The relative distance |x - y| / |y|.
local function distance(x, y) return math.sqrt(damo.sum(damo.sqr(x - y)) / damo.sum(damo.sqr(y))) end

local steps = 800
local bar = progress.new(steps, "poisson2d")
local start = os.clock()
local first, last
for k = 1, steps do
  local now, left = step(A, B)
  first, last = first or now, now
  bar:step(k, { cost = now, misfit = left })
end
bar:finish()
local seconds = os.clock() - start

local fitted, found = look(A, B)
local done = step.profile
print(("poisson2d: %d steps in %.2f s, cost %.1f to %.1f"):format(steps, seconds, first, last))
print(("poisson2d: %d analyses and %d factorizations in all steps"):format(done.symbolic_analyses, done.factorizations))
print(("poisson2d: field off by %.2f %% of its size, source by %.1f %%"):format(
  100 * distance(fitted, field), 100 * distance(found, source)))

-- ---- The picture --------------------------------------------------------------------------------------------------

local function grid(v) return v:reshape { n, n } end
print("poisson2d: picture " .. damo.plot.image({
  { name = "source", z = grid(source) },
  { name = "source found", z = grid(found) },
  { name = "field found", z = grid(fitted) },
  { name = "error of the field", z = grid(fitted - field) },
}, { title = "A source seen through its field", path = results .. "/poisson2d.png" }))

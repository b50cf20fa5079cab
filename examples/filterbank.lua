-- filterbank.lua: the spectrum of three centuries of sunspots through a bank of overlapping filters.
--
--     lua5.4 examples/filterbank.lua [folder for results]
--
-- Each filter is a triangle over a few neighbouring frequencies, wider at higher frequencies, so the bank is a matrix
-- with few entries. Its outputs are a smoothed spectrum; the gains that best reconstruct the spectrum from the filters
-- are found by gradient descent through the sparse products.
-- Picture: pictures/filterbank.png, the spectrum and what the filters rebuild of it.

local damo = require "damo"
local progress = require "damo.progress"
local sparse = damo.sparse

local here = arg[0]:match("^(.*)/") or "."
local results = arg[1] or io.popen("mktemp -d"):read "*l" -- a new, private folder

-- ---- The spectrum -------------------------------------------------------------------------------------------------

local data = damo.io.read_csv(here .. "/data/sunspots.csv")
local spots = data[{ {}, -1 }]
local years = #spots
local half = math.floor((years - 1) / 2)

--- The power at the frequencies k/years, k = 1 … half: squared inner products with cosines and sines.
local function periodogram(series)
  local t = damo.arange(years):reshape { 1, -1 }
  local k = damo.range(half):astype("float64"):reshape { -1, 1 }
  local angle = k * t * (2 * math.pi / years)
  local centred = series - damo.mean(series)
  local re, im = damo.dot(damo.cos(angle), centred), damo.dot(damo.sin(angle), centred)
  return (damo.sqr(re) + damo.sqr(im)) / years
end

local power = periodogram(spots)
local peak = damo.argmax(power)
print(("filterbank: %d years, largest peak at k = %d: a period of %.2f years"):format(years, peak, years / peak))

-- ---- The bank -----------------------------------------------------------------------------------------------------

--- n triangles from frequency 1 to `half`; their corners are equidistant in the logarithm, but at least 1 apart.
local function bank(n)
  local corner, rows, cols, values = { 1 }, {}, {}, {}
  for i = 2, n + 2 do
    local wished = math.floor(half ^ ((i - 1) / (n + 1)) + 0.5)
    corner[i] = math.min(math.max(corner[i - 1] + 1, wished), half)
  end
  for i = 1, n do
    local left, middle, right = corner[i], corner[i + 1], corner[i + 2]
    for k = left, right do
      local up, down = (k - left + 1) / (middle - left + 1), (right + 1 - k) / (right + 1 - middle)
      rows[#rows + 1], cols[#cols + 1], values[#values + 1] = i, k, math.min(up, down)
    end
  end
  return sparse.coo { rows = rows, cols = cols, values = values, shape = { n, half } }, corner
end

local filters, corner = bank(24)
print(("filterbank: %d filters over %d frequencies, %d of %d entries stored"):format(
  filters.shape[1], half, filters.nnz, filters.shape[1] * half))

--- Each filter's mean power: the rows of the bank scaled to sum 1.
local weights = sparse.row_scale(filters, 1 / sparse.sp_sum(filters, { axis = 2 }))
local smooth = damo.dot(weights, power)
local best = damo.argmax(smooth)
print(("filterbank: the strongest filter is %d, periods of %.1f to %.1f years"):format(
  best, years / corner[best + 2], years / corner[best]))

-- ---- Gains that reconstruct the spectrum --------------------------------------------------------------------------

local f, p = sparse.csr_matrix "filters", damo.dvector "power"
local gain = damo.shared(damo.zeros(filters.shape[1]), "gain")
local rebuilt = damo.dot(f.T, gain)
local loss = damo.mean(damo.sqr(rebuilt - p)) / damo.mean(damo.sqr(p))
local updates = damo.optim.adam({ gain }, { damo.grad(loss, gain) }, { lr = 100 })
local step = damo.compile({ f, p }, loss, { updates = updates })
local rebuild = damo.compile({ f }, rebuilt)

local steps, left = 600, nil
local bar = progress.new(steps, "filterbank")
for k = 1, steps do
  left = step(filters, power)
  bar:step(k, { left = left })
end
bar:finish()
print(("filterbank: the filters explain %.1f %% of the spectrum's energy"):format(100 * (1 - left)))

local picture = damo.plot.lines({
  { name = "spectrum", y = power },
  { name = "rebuilt from 24 filters", y = rebuild(filters) },
}, { title = "sunspots: power by frequency", xlabel = "cycles in 309 years", ylabel = "power",
  path = results .. "/filterbank.png" })
print("picture: " .. picture)

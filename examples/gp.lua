-- gp.lua: Gaussian process regression of the temperature of the Pacific off Peru, fitted to the months of 1950 to 1999;
-- forecasts of 2000 to 2010 a month ahead and of two years at once, with bands of two standard deviations.
--
--     lua5.4 examples/gp.lua [steps of the fit [folder for the picture]]
--
-- The temperatures y, less their mean, are normal with mean 0 and a covariance K whose entries depend on the distance
-- of two months alone. With K = L·Lᵀ and z = L⁻¹ y the marginal likelihood (Rasmussen and Williams 2006, 2.30) is
--
--     log p(y) = -z·z / 2 - Σ log L[i, i] - n log(2π) / 2
--
-- and its gradient goes through the Cholesky factorization.

local damo = require "damo"
local progress = require "damo.progress"
local linalg = damo.linalg

local here = arg[0]:match("^(.*)/") or "."
local steps = tonumber(arg[1]) or 60
local results = arg[2] or io.popen("mktemp -d"):read "*l" -- a new, private folder

-- ---- The series ---------------------------------------------------------------------------------------------------

local table_of_years = damo.io.read_csv(here .. "/data/elnino.csv")[{ {}, { 2, -1 } }] -- a row a year, without the year
local series = table_of_years:flatten()
local months, known, horizon = #series, 50 * 12, 24
local mean = damo.mean(series[{ { 1, known } }])
local centred = series - mean
print(("gp: %d months, %d to fit to"):format(months, known))

-- ---- The covariance -----------------------------------------------------------------------------------------------

-- Logarithms of the parameters: a season's amplitude and width; the amplitude and the months of what comes and goes
-- (El Niño); the amplitude of the noise.
local names = { "season", "width", "swing", "memory", "noise" }
local theta = damo.shared(damo.log(damo.array { 2, 1, 1, 6, 0.5 }), "theta")
local season, width, swing, memory, noise = damo.split(damo.exp(theta), { 1, 1, 1, 1, 1 })

--- The covariances of months at these distances: a season (exponentiated sine squared), Matérn 3/2 and noise.
local function covariance(lag)
  local seasonal = damo.sqr(season) * damo.exp(-2 * damo.sqr(damo.sin(math.pi / 12 * lag) / width))
  local scaled = math.sqrt(3) * lag / memory
  return seasonal + damo.sqr(swing) * (1 + scaled) * damo.exp(-scaled) + damo.sqr(noise) * damo.eq(lag, 0)
end

--- The matrix of covariances of the rows' months and the columns' months, made of those of all distances.
local function covariances(rows, columns)
  local lags = damo.abs(rows:dimshuffle { 1, "x" } - columns:dimshuffle { "x", 1 })
  return covariance(damo.arange(months):astype "float64")[lags + 1]
end

local y = damo.dvector "y"
local time = damo.arange(y.shape[1])
local L = linalg.cholesky(covariances(time, time))
local z = linalg.solve_triangular(L, y, { lower = true })
local log_p = -0.5 * damo.sum(damo.sqr(z)) - damo.sum(damo.log(damo.diagonal(L)))
  - 0.5 * math.log(2 * math.pi) * y.shape[1]

-- ---- The fit ------------------------------------------------------------------------------------------------------

local cost = -log_p / known
local step = damo.compile({ y }, log_p, {
  updates = damo.optim.adam({ theta }, { damo.grad(cost, theta) }, { lr = 0.05 }),
})
local fitted = centred[{ { 1, known } }]
local bar = progress.new(steps, "gp")
local start = damo.clock()
local first
for k = 1, steps do
  local now = step(fitted)
  first = first or now
  bar:step(k, { ["log p"] = now })
end
bar:finish()
local seconds = (damo.clock() - start) / 1e9
local last = damo.compile({ y }, log_p)(fitted)
print(("gp: log likelihood %.2f to %.2f in %d steps, %.2f s"):format(first, last, steps, seconds))
local values = damo.exp(theta:get_value()):totable()
for i, name in ipairs(names) do names[i] = ("%s %.3g"):format(name, values[i]) end
print("gp: " .. table.concat(names, ", "))

-- ---- Forecasts ----------------------------------------------------------------------------------------------------

-- The factor of the covariance of all months holds the forecasts a month ahead: given the months before it, month i has
-- the mean y[i] - L[i, i] z[i] and the standard deviation L[i, i].
local deviation = damo.diagonal(L)
local ahead, ahead_deviation = damo.compile({ y }, { y - deviation * z, deviation })(centred)

-- The months from n on given those before: with W = L⁻¹ K[known, new] the mean Wᵀz and the variance K[i, i] - W[:, i]².
local new = y.shape[1] + damo.arange(horizon)
local W = linalg.solve_triangular(L, covariances(time, new), { lower = true })
local spread = damo.sqrt(covariance(damo.zeros(1)) - damo.sum(damo.sqr(W), { axis = 1 }))
local own, own_deviation = damo.compile({ y }, { damo.dot(z, W), spread })(fitted)

local function rms(forecast, truth) return math.sqrt(damo.mean(damo.sqr(forecast - truth))) end
local function inside(forecast, truth, sigma) -- in percent
  return 100 * damo.mean(damo.le(damo.abs(forecast - truth), 2 * sigma):astype "float64")
end

local later = { known + 1, months }
local truth = series[{ later }]
local month_ahead, month_deviation = ahead[{ later }] + mean, ahead_deviation[{ later }]
print(("gp: error a month ahead %.3f degrees; of last month's value %.3f; %.0f %% of the months in the band"):format(
  rms(month_ahead, truth), rms(series[{ { known, months - 1 } }], truth), inside(month_ahead, truth, month_deviation)))
local two_years, forecast = truth[{ { 1, horizon } }], own + mean
local climate = damo.mean(table_of_years[{ { 1, 50 } }], { axis = 1 })
print(("gp: error of two years %.3f degrees; of the mean of each month %.3f; %.0f %% of the months in the band"):format(
  rms(forecast, two_years), rms(damo.concatenate { climate, climate }, two_years),
  inside(forecast, two_years, own_deviation)))

-- ---- The picture --------------------------------------------------------------------------------------------------

local before, after = 36, 12 -- months shown around those of the forecast
local years = 2000 + damo.arange(-before, horizon + after) / 12
local then_on = years[{ { before + 1, before + horizon } }]
local low, high = forecast - 2 * own_deviation, forecast + 2 * own_deviation
print("gp: picture " .. damo.plot.lines({
  { name = "measured", x = years, y = series[{ { known - before + 1, known + horizon + after } }] },
  { name = "mean", x = then_on, y = forecast },
  -- the band's outline: along its upper edge and back along the lower one
  { name = "± 2 deviations", x = damo.concatenate { then_on, damo.flip(then_on), then_on[{ { 1, 1 } }] },
    y = damo.concatenate { high, damo.flip(low), high[{ { 1, 1 } }] } },
}, { title = "sea surface off Peru: a forecast of two years from 1950 to 1999", xlabel = "year",
  ylabel = "degrees Celsius", path = results .. "/gp.png" }))

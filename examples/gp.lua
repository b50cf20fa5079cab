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
-- Picture: pictures/gp.png, the forecast of two years with its band, and what was measured.

local damo = require "damo"

local here = arg[0]:match("^(.*)/") or "."
local steps = tonumber(arg[1]) or 60
local results = arg[2] or io.popen("mktemp -d"):read "*l" -- a new, private folder

-- ---- The series ---------------------------------------------------------------------------------------------------

local table_of_years = damo.io.read_csv(here .. "/data/elnino.csv")[{ {}, { 2, -1 } }] -- a row a year, without the year
local series = table_of_years:flatten()
local months, known, horizon = #series, 50 * 12, 24
local mean = damo.mean(series[{ { 1, known } }])
print(("gp: %d months, %d to fit to"):format(months, known))

-- ---- The covariance -----------------------------------------------------------------------------------------------

-- Logarithms of the parameters: a season's amplitude and width; the amplitude and the months of what comes and goes
-- (El Niño); the amplitude of the noise.
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
local L = damo.linalg.cholesky(covariances(time, time))
local z = damo.linalg.solve_triangular(L, y, { lower = true })
local log_p = -0.5 * damo.sum(damo.sqr(z)) - damo.sum(damo.log(damo.diagonal(L)))
  - 0.5 * math.log(2 * math.pi) * y.shape[1]

-- ---- The fit ------------------------------------------------------------------------------------------------------

local updates = damo.optim.adam({ theta }, { damo.grad(-log_p / known, theta) }, { lr = 0.05 })
local step, density = damo.compile({ y }, log_p, { updates = updates }), damo.compile({ y }, log_p)
local fitted = series[{ { 1, known } }] - mean
local first, start = density(fitted), damo.clock()
for _ in damo.progress(steps, { title = "gp" }) do step(fitted) end
local report = "gp: log likelihood %.2f to %.2f in %d steps, %.2f s"
print(report:format(first, density(fitted), steps, (damo.clock() - start) / 1e9))
local v = damo.exp(theta:get_value())
print(("gp: season %.3g, width %.3g, swing %.3g, memory %.3g, noise %.3g"):format(v[1], v[2], v[3], v[4], v[5]))

-- ---- Forecasts ----------------------------------------------------------------------------------------------------

-- The factor of the covariance of all months holds the forecasts a month ahead: given the months before it, month i has
-- the mean y[i] - L[i, i] z[i] and the standard deviation L[i, i].
local deviation = damo.diagonal(L)
local ahead, ahead_deviation = damo.compile({ y }, { y - deviation * z, deviation })(series - mean)

-- The months from n on given those before: with W = L⁻¹ K[known, new] the mean Wᵀz and the variance K[i, i] - W[:, i]².
local new = y.shape[1] + damo.arange(horizon)
local W = damo.linalg.solve_triangular(L, covariances(time, new), { lower = true })
local spread = damo.sqrt(covariance(damo.zeros(1)) - damo.sum(damo.sqr(W), { axis = 1 }))
local own, own_deviation = damo.compile({ y }, { damo.dot(z, W), spread })(fitted)

local function rms(forecast, truth) return math.sqrt(damo.mean(damo.sqr(forecast - truth))) end
local function inside(forecast, truth, sigma) -- in percent
  return 100 * damo.mean(damo.le(damo.abs(forecast - truth), 2 * sigma):astype "float64")
end

local later = { { known + 1, months } }
local truth, month_ahead, month_deviation = series[later], ahead[later] + mean, ahead_deviation[later]
print(("gp: error a month ahead %.3f degrees; of last month's value %.3f; %.0f %% of the months in the band"):format(
  rms(month_ahead, truth), rms(series[{ { known, months - 1 } }], truth), inside(month_ahead, truth, month_deviation)))
local two_years, forecast = truth[{ { 1, horizon } }], own + mean
local climate = damo.mean(table_of_years[{ { 1, 50 } }], { axis = 1 })
print(("gp: error of two years %.3f degrees; of the mean of each month %.3f; %.0f %% of the months in the band"):format(
  rms(forecast, two_years), rms(damo.concatenate { climate, climate }, two_years),
  inside(forecast, two_years, own_deviation)))

local years = 2000 + damo.arange(-36, horizon + 12) / 12 -- three years before the forecast, one after it
print("gp: picture " .. damo.plot.lines({
  { name = "measured", x = years, y = series[{ { known - 35, known + horizon + 12 } }] },
  { name = "mean, ± 2 deviations", x = years[{ { 37, -13 } }], y = forecast, error = 2 * own_deviation },
}, { title = "sea surface off Peru: a forecast of two years from 1950 to 1999", xlabel = "year",
  ylabel = "degrees Celsius", path = results .. "/gp.png" }))

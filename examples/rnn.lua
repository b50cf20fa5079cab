-- rnn.lua: a recurrent network learns the temperature of the Pacific off Peru month by month, 1950 to 1999, and
-- forecasts 2000 to 2010 a month ahead, and two years by itself.
--
--     lua5.4 examples/rnn.lua [folder for the picture]
--
-- Picture: pictures/rnn.png, the forecast a month ahead and two years by itself, and what was measured.

local damo = require "damo"

local here = arg[0]:match("^(.*)/") or "."
local results = arg[1] or io.popen("mktemp -d"):read "*l" -- a new, private folder

-- ---- The series ---------------------------------------------------------------------------------------------------

local table_of_years = damo.io.read_csv(here .. "/data/elnino.csv")[{ {}, { 2, -1 } }] -- a row a year, without the year
local series = table_of_years:flatten()
local months, known = #series, 50 * 12
local mean, deviation = damo.mean(series[{ { 1, known } }]), damo.std(series[{ { 1, known } }])
local standard = (series - mean) / deviation
local report = "rnn: %d months, %d to train on, mean %.2f, standard deviation %.2f degrees"
print(report:format(months, known, mean, deviation))

-- ---- The network --------------------------------------------------------------------------------------------------

local units, inputs = 24, 3
local stream = damo.random.RandomStream(7)

local function weights(rows, columns, name)
  return damo.shared(stream:normal(0, 1 / math.sqrt(rows), { size = { rows, columns } }):eval(), name)
end

-- The three parts of the gates stand side by side: update, reset, candidate.
local from_input, from_state = weights(inputs, 3 * units, "from_input"), weights(units, 2 * units, "from_state")
local from_reset, bias = weights(units, units, "from_reset"), damo.shared(damo.zeros(3 * units), "bias")
local out = weights(units, 1, "out")

--- A gated recurrent unit (Cho et al. 2014): the new state. input: what the inputs add to the gates.
local function cell(input, state)
  local gates = damo.sigmoid(input[{ { 1, 2 * units } }] + damo.dot(state, from_state))
  local update, reset = gates[{ { 1, units } }], gates[{ { units + 1, 2 * units } }]
  local candidate = damo.tanh(input[{ { 2 * units + 1, 3 * units } }] + damo.dot(reset * state, from_reset))
  return update * state + (1 - update) * candidate
end

--- Sine and cosine of the time of year.
local function season(month) return damo.sin(month * (math.pi / 6)), damo.cos(month * (math.pi / 6)) end

local x, initial = damo.dvector "x", damo.dvector "initial"
local sine, cosine = season(damo.arange(x.shape[1]):astype "float64")
local gate_inputs = damo.dot(damo.stack({ x, sine, cosine }, { axis = 2 }), from_input) + bias
local states = damo.scan(cell, { sequences = gate_inputs, outputs_info = initial, name = "months" })
local ahead = x + damo.dot(states, out)[{ {}, 1 }] -- the change from each month to the next is what it learns

-- ---- Training -----------------------------------------------------------------------------------------------------

local errors = ahead[{ { 1, -2 } }] - x[{ { 2 } }]
local loss = damo.mean(damo.sqr(errors[{ { 25 } }])) -- after two years to settle
local params = { from_input, from_state, from_reset, bias, out }
local updates = damo.optim.adam(params, damo.grad(loss, params), { lr = 3e-3 })
local step = damo.compile({ x, initial }, loss, { updates = updates })
local zero, train, left, start = damo.zeros(units), standard[{ { 1, known } }], nil, damo.clock()
for _ in damo.progress(300, { title = "rnn" }) do left = step(train, zero) end
local seconds = (damo.clock() - start) / 1e9
print(("rnn: 300 steps through %d months in %.2f s, loss %.4f"):format(known - 1, seconds, left))

-- ---- Forecasts ----------------------------------------------------------------------------------------------------

local all_ahead, all_states = damo.compile({ x, initial }, { ahead, states })(standard, zero)

local function degrees(values) return values * deviation + mean end
local function rms(forecast, truth) return math.sqrt(damo.mean(damo.sqr(forecast - truth))) end

local truth = series[{ { known + 1, months } }]
local month_ahead = degrees(all_ahead[{ { known, months - 1 } }])
print(("rnn: error a month ahead %.3f degrees; of last month's value %.3f, of last year's %.3f"):format(
  rms(month_ahead, truth), rms(series[{ { known, months - 1 } }], truth),
  rms(series[{ { known + 1 - 12, months - 12 } }], truth)))

-- From its state at the end of 1999 the network runs on its own forecasts: a scan whose input is its own output.
local from, month, state0 = damo.dscalar "from", damo.dscalar "month", damo.dvector "state0"
local horizon = 24
local free = damo.scan(function(value, state, time)
  local s, c = season(time)
  local new = cell(damo.dot(damo.stack { value, s, c }, from_input) + bias, state)
  return value + damo.dot(new, out)[1], new, time + 1
end, { outputs_info = { from, state0, month }, n_steps = horizon - 1, return_list = true })[1]
local run_free = damo.compile({ from, state0, month }, free)
local later = run_free(all_ahead[known], all_states[known], known)
local own = degrees(damo.concatenate { all_ahead[{ { known, known } }], later })
local climate = damo.mean(table_of_years[{ { 1, 50 } }], { axis = 1 })
print(("rnn: error of two years by itself %.3f degrees; of the mean of each month %.3f"):format(
  rms(own, truth[{ { 1, horizon } }]), rms(damo.concatenate { climate, climate }, truth[{ { 1, horizon } }])))

local years = 2000 + damo.arange(months - known) / 12
print("rnn: picture " .. damo.plot.lines({
  { name = "measured", x = years, y = truth },
  { name = "a month ahead", x = years, y = month_ahead },
  { name = "two years by itself", x = years[{ { 1, horizon } }], y = own },
}, { title = "sea surface off Peru: forecast and truth", xlabel = "year", ylabel = "degrees Celsius",
  path = results .. "/rnn.png" }))

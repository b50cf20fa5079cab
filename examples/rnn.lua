-- rnn.lua: a recurrent network learns the temperature of the Pacific off Peru month by month, 1950 to 1999, and
-- forecasts 2000 to 2010 a month ahead, and two years by itself.
--
--     lua5.4 examples/rnn.lua [folder for the picture]

local damo = require "damo"
local progress = require "damo.progress"

local here = arg[0]:match("^(.*)/") or "."
local results = arg[1] or io.popen("mktemp -d"):read "*l" -- a new, private folder

-- ---- The series ---------------------------------------------------------------------------------------------------

local table_of_years = damo.io.read_csv(here .. "/data/elnino.csv")[{ {}, { 2, -1 } }] -- a row a year, without the year
local series = table_of_years:flatten()
local months, known = #series, 50 * 12
local mean, deviation = damo.mean(series[{ { 1, known } }]), damo.std(series[{ { 1, known } }])
local standard = (series - mean) / deviation
print(("rnn: %d months, %d to train on, mean %.2f, standard deviation %.2f degrees"):format(
  months, known, mean, deviation))

-- ---- The network --------------------------------------------------------------------------------------------------

local units, inputs = 24, 3
local stream = damo.random.RandomStream(7)

local function weights(rows, columns, name)
  return damo.shared(stream:normal(0, 1 / math.sqrt(rows), { size = { rows, columns } }):eval(), name)
end

-- The three parts of the gates stand side by side: update, reset, candidate.
local from_input = weights(inputs, 3 * units, "from_input")
local from_state = weights(units, 2 * units, "from_state")
local from_reset = weights(units, units, "from_reset")
local bias = damo.shared(damo.zeros(3 * units), "bias")
local out = weights(units, 1, "out")
local params = { from_input, from_state, from_reset, bias, out }

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
local step = damo.compile({ x, initial }, loss, {
  updates = damo.optim.adam(params, damo.grad(loss, params), { lr = 3e-3 }),
})
local zero, train = damo.zeros(units), standard[{ { 1, known } }]
local steps, left = 300, nil
local start = damo.clock()
local bar = progress.new(steps, "rnn")
for k = 1, steps do
  left = step(train, zero)
  bar:step(k, { loss = left })
end
bar:finish()
print(("rnn: %d steps through %d months in %.2f s, loss %.4f"):format(
  steps, known - 1, (damo.clock() - start) / 1e9, left))

-- ---- Forecasts ----------------------------------------------------------------------------------------------------

local predict = damo.compile({ x, initial }, { ahead, states })
local all_ahead, all_states = predict(standard, zero)

local function degrees(values) return values * deviation + mean end
local function rms(forecast, truth) return math.sqrt(damo.mean(damo.sqr(forecast - truth))) end

local truth = series[{ { known + 1, months } }]
local month_ahead = degrees(all_ahead[{ { known, months - 1 } }])
print(("rnn: error a month ahead %.3f degrees; of last month's value %.3f, of last year's %.3f"):format(
  rms(month_ahead, truth), rms(series[{ { known, months - 1 } }], truth),
  rms(series[{ { known + 1 - 12, months - 12 } }], truth)))

-- From its state at the end of 1999 the network runs on its own forecasts: a scan whose input is its own output.
local from, month, state0 = damo.dscalar "from", damo.dscalar "month", damo.dvector "state0"
local ahead_months = damo.lscalar "ahead_months"
local free = damo.scan(function(value, state, time)
  local s, c = season(time)
  local new = cell(damo.dot(damo.stack { value, s, c }, from_input) + bias, state)
  return value + damo.dot(new, out)[1], new, time + 1
end, { outputs_info = { from, state0, month }, n_steps = ahead_months, return_list = true })[1]
local run_free = damo.compile({ from, state0, month, ahead_months }, free)
local first = all_ahead[known]
local horizon = 24
local own = degrees(damo.concatenate {
  damo.array { first }, run_free(first, all_states[known], known, horizon - 1),
})
local climate = damo.mean(table_of_years[{ { 1, 50 } }], { axis = 1 })
print(("rnn: error of two years by itself %.3f degrees; of the mean of each month %.3f"):format(
  rms(own, truth[{ { 1, horizon } }]), rms(damo.concatenate { climate, climate }, truth[{ { 1, horizon } }])))

local years = 2000 + damo.arange(months - known) / 12
local picture = damo.plot.lines({
  { name = "measured", x = years, y = truth },
  { name = "a month ahead", x = years, y = month_ahead },
  { name = "two years by itself", x = years[{ { 1, horizon } }], y = own },
}, { title = "sea surface off Peru: forecast and truth", xlabel = "year", ylabel = "degrees Celsius",
  path = results .. "/rnn.png" })
print("rnn: picture " .. picture)

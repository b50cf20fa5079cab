-- pendulum.lua: the lengths and the mass of a double pendulum are found from a noisy record of its two angles, by
-- least squares through 2,000 steps of its simulation.
--
--     lua5.4 examples/pendulum.lua [folder for the picture]
--
-- The simulation is a scan over steps of the classical Runge-Kutta rule. Steps of Levenberg and Marquardt need the
-- derivative of every angle in three parameters, which forward mode gives (Rop); reverse mode gives the slope of the
-- cost, and the two must agree. A long record has many local minima, so the fit begins with the first 250 steps.

local damo = require "damo"

local results = arg[1] or io.popen("mktemp -d"):read "*l" -- a new, private folder
local gravity, dt, steps = 9.81, 0.005, 2000

-- ---- The simulation -----------------------------------------------------------------------------------------------

-- The parameters: length of the upper and the lower rod, mass of the lower bob, where the upper one's is 1.
local p, initial, n = damo.dvector "parameters", damo.dvector "initial", damo.lscalar "n"
local l1, l2, m = p[1], p[2], p[3]

--- The time derivative of the angles a, b and their velocities u, v.
local function velocity(a, b, u, v)
  local d = a - b
  local shared = 2 + m - m * damo.cos(2 * d)
  local du = -gravity * ((2 + m) * damo.sin(a) + m * damo.sin(a - 2 * b))
    - 2 * m * damo.sin(d) * (v * v * l2 + u * u * l1 * damo.cos(d))
  local dv = 2 * damo.sin(d) * ((1 + m) * (u * u * l1 + gravity * damo.cos(a)) + v * v * l2 * m * damo.cos(d))
  return { u, v, du / (l1 * shared), dv / (l2 * shared) }
end

local function moved(s, k, h)
  local new = {}
  for i = 1, 4 do new[i] = s[i] + h * k[i] end
  return new
end

--- One step of the classical Runge-Kutta rule.
local function runge_kutta(...)
  local s = { ... }
  local k1 = velocity(...)
  local k2 = velocity(table.unpack(moved(s, k1, dt / 2)))
  local k3 = velocity(table.unpack(moved(s, k2, dt / 2)))
  local k4 = velocity(table.unpack(moved(s, k3, dt)))
  local new = {}
  for i = 1, 4 do new[i] = s[i] + dt / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]) end
  return new
end

local upper, lower = damo.scan(runge_kutta, {
  outputs_info = { initial[1], initial[2], initial[3], initial[4] }, n_steps = n, name = "pendulum",
})
local angles = damo.concatenate { upper, lower }
local simulate = damo.compile({ p, initial, n }, { upper, lower })

-- ---- The record ---------------------------------------------------------------------------------------------------

local truth = damo.array { 1.0, 0.7, 0.5 }
local start = damo.array { 1.2, 0.9, 0.0, 0.0 }
local noise = 0.02
local function noisy(x, seed)
  return x + damo.random.RandomStream(seed):normal(0, noise, { size = { steps } }):eval()
end
local true_upper, true_lower = simulate(truth, start, steps)
local seen_upper, seen_lower = noisy(true_upper, 1), noisy(true_lower, 2)
print(("pendulum: %d steps of %g s, angles known to %g"):format(steps, dt, noise))

-- ---- The fit ------------------------------------------------------------------------------------------------------

local seen = damo.dvector "seen"
local errors = angles - seen
local cost = damo.sum(damo.sqr(errors)) / 2
local columns = {}
for i = 1, 3 do columns[i] = damo.Rop(errors, p, damo.eye(3)[i]) end
local jacobian = damo.stack(columns, { axis = 2 })
local inputs = { p, initial, n, seen }
local reverse = damo.compile(inputs, { cost, damo.grad(cost, p) })
local forward = damo.compile(inputs, {
  cost, damo.dot(jacobian.T, errors), damo.dot(jacobian.T, jacobian),
})

--- The first `length` steps of the record.
local function record(length)
  return damo.concatenate { seen_upper[{ { 1, length } }], seen_lower[{ { 1, length } }] }
end

local found = damo.array { 0.8, 0.9, 0.8 }
local clock = damo.clock()
local function seconds() return (damo.clock() - clock) / 1e9 end

for _, length in ipairs { 250, 500, 1000, steps } do
  local measured = record(length)
  local damping, now, slope, curvature = 1e-3, forward(found, start, length, measured)
  local rounds = 0
  repeat
    rounds = rounds + 1
    local damped = curvature + damping * damo.diag(damo.diag(curvature))
    local move = damo.sparse.solve(damo.sparse.csr_from_dense(damped), -slope)
    local trial = found + move
    local value, new_slope, new_curvature = forward(trial, start, length, measured)
    local better = value < now
    local gain = (now - value) / now
    if better then found, now, slope, curvature = trial, value, new_slope, new_curvature end
    damping = better and damping / 10 or damping * 10
  until rounds == 30 or better and gain < 1e-8 or damping > 1e10
  print(("pendulum: %4d steps, %2d rounds, error of an angle %.4f, parameters %.4f %.4f %.4f"):format(
    length, rounds, math.sqrt(now / length), found[1], found[2], found[3]))
end
print(("pendulum: fitted in %.2f s"):format(seconds()))

clock = damo.clock()
local _, by_reverse = reverse(start[{ { 1, 3 } }], start, steps, record(steps))
local reverse_time = seconds()
local _, by_forward = forward(start[{ { 1, 3 } }], start, steps, record(steps))
print(("pendulum: slopes in reverse and forward mode differ by %.1e, %.1f ms in reverse mode"):format(
  damo.max(damo.abs(by_reverse - by_forward)) / damo.max(damo.abs(by_forward)), reverse_time * 1e3))

-- ---- A picture ----------------------------------------------------------------------------------------------------

local fitted = simulate(found, start, steps)
local guessed = simulate(damo.array { 0.8, 0.9, 0.8 }, start, steps)
local every = { { 1, -1, 10 } }
local time = damo.arange(steps) * dt
print("pendulum: picture " .. damo.plot.lines({
  { name = "upper angle, seen", x = time[every], y = seen_upper[every] },
  { name = "upper angle, fitted", x = time[every], y = fitted[every] },
  { name = "upper angle, first guess", x = time[every], y = guessed[every] },
}, { title = "double pendulum", xlabel = "seconds", ylabel = "radians", path = results .. "/pendulum.png" }))

-- pendulum.lua: the lengths and the mass of a double pendulum are found from a noisy record of its two angles, by
-- least squares through 2,000 steps of its simulation.
--
--     lua5.4 examples/pendulum.lua [folder for the picture]
--
-- The simulation is a scan over steps of the classical Runge-Kutta rule. Steps of Levenberg and Marquardt need the
-- derivative of every angle in three parameters, which forward mode gives (Rop); reverse mode gives the slope of the
-- cost, and the two must agree. A long record has many local minima, so the fit begins with the first 250 steps.
-- Picture: pictures/pendulum.png, the upper angle as seen, as fitted, and of the first guess.

local damo = require "damo"
local unpack = table.unpack or unpack -- luacheck: ignore

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

--- The state s, moved by the velocities k for the time h.
local function moved(s, k, h)
  local new = {}
  for i = 1, 4 do new[i] = s[i] + h * k[i] end
  return new
end

--- One step of the classical Runge-Kutta rule.
local function runge_kutta(...)
  local s, k, mean = { ... }, { velocity(...) }, {}
  for i = 1, 3 do k[i + 1] = velocity(unpack(moved(s, k[i], i < 3 and dt / 2 or dt))) end
  for i = 1, 4 do mean[i] = (k[1][i] + 2 * k[2][i] + 2 * k[3][i] + k[4][i]) / 6 end
  return moved(s, mean, dt)
end
local states = { initial[1], initial[2], initial[3], initial[4] }
local upper, lower = damo.scan(runge_kutta, { outputs_info = states, n_steps = n, name = "pendulum" })
local simulate = damo.compile({ p, initial, n }, { upper, lower })

-- ---- The record ---------------------------------------------------------------------------------------------------

local truth, start, guess = damo.array { 1.0, 0.7, 0.5 }, damo.array { 1.2, 0.9, 0, 0 }, damo.array { 0.8, 0.9, 0.8 }
local noise = damo.random.RandomStream(1):normal(0, 0.02, { size = { 2, steps } }):eval()
local record = damo.stack { simulate(truth, start, steps) } + noise -- a row for each angle
print(("pendulum: %d steps of %g s, angles known to 0.02"):format(steps, dt))

-- ---- The fit ------------------------------------------------------------------------------------------------------

local seen = damo.dmatrix "seen"
local errors = damo.flatten(damo.stack { upper, lower } - seen)
local cost = damo.sum(damo.sqr(errors)) / 2
local columns = {}
for i = 1, 3 do columns[i] = damo.Rop(errors, p, damo.eye(3)[i]) end
local jacobian = damo.stack(columns, { axis = 2 })
local reverse = damo.compile({ p, initial, n, seen }, damo.grad(cost, p))
local sums = { cost, damo.dot(jacobian.T, errors), damo.dot(jacobian.T, jacobian) }
local forward = damo.compile({ p, initial, n, seen }, sums)

local found, clock = guess, damo.clock()
for _, length in ipairs { 250, 500, 1000, steps } do
  local measured = record[{ {}, { 1, length } }]
  local damping, rounds, now, slope, curvature = 1e-3, 0, forward(found, start, length, measured)
  repeat
    rounds = rounds + 1
    local trial = found - damo.linalg.solve(curvature + damping * damo.diag(damo.diag(curvature)), slope)
    local value, new_slope, new_curvature = forward(trial, start, length, measured)
    local gain, better = (now - value) / now, value < now
    if better then found, now, slope, curvature = trial, value, new_slope, new_curvature end
    damping = better and damping / 10 or damping * 10
  until rounds == 30 or better and gain < 1e-8 or damping > 1e10
  print(("pendulum: %4d steps, %2d rounds, error of an angle %.4f, parameters %.4f %.4f %.4f"):format(
    length, rounds, math.sqrt(now / length), found[1], found[2], found[3]))
end
print(("pendulum: fitted in %.2f s"):format((damo.clock() - clock) / 1e9))

clock = damo.clock()
local by_reverse = reverse(guess, start, steps, record)
local reverse_time = (damo.clock() - clock) / 1e6
local _, by_forward = forward(guess, start, steps, record)
print(("pendulum: slopes in reverse and forward mode differ by %.1e, %.1f ms in reverse mode"):format(
  damo.max(damo.abs(by_reverse - by_forward)) / damo.max(damo.abs(by_forward)), reverse_time))

local curves, every, time = {}, { { 1, -1, 10 } }, damo.arange(0, steps, 10) * dt
local function curve(name, y) curves[#curves + 1] = { name = name, x = time, y = y[every] } end
curve("upper angle, seen", record[1])
curve("upper angle, fitted", (simulate(found, start, steps)))
curve("upper angle, first guess", (simulate(guess, start, steps)))
print("pendulum: picture " .. damo.plot.lines(curves, {
  title = "double pendulum", xlabel = "seconds", ylabel = "radians", path = results .. "/pendulum.png" }))

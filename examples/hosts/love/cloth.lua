-- A silk cloth that hangs by two corners, and a controller that blows at it so that its hem comes to a light. All of it
-- is graph: the forces are minus the gradient of an energy, and the controller learns by the gradient through a fifth
-- of a second of simulated time. Arrays of points have the shape {3, rows, columns}.
local damo = require "damo"

local rows, columns, spacing = 21, 27, 0.06
local dt, steps = 1 / 480, 8                  -- steps a frame
local horizon = 96                            -- steps that the controller looks ahead
local mass, gravity, drag, strongest = 1, 6, 1.2, 14

local at0, free = {}, damo.ones { 1, rows, columns }
for k = 1, 3 do at0[k] = {} end
for i = 1, rows do
  for k = 1, 3 do at0[k][i] = {} end
  for j = 1, columns do
    local across = (j - (columns + 1) / 2) * spacing
    at0[1][i][j], at0[2][i][j], at0[3][i][j] = 0.9 * across, -(i - 1) * spacing, 0.02 * math.sin(5 * across + i)
  end
end
free[{ 1, 1, 1 }], free[{ 1, 1, columns }] = 0, 0
local at = damo.shared(damo.array(at0), "at")
local velocity = damo.shared(damo.zeros { 3, rows, columns }, "velocity")

-- ---- Physics ------------------------------------------------------------------------------------------------------

--- Springs between each point and the one `down` rows and `right` columns on.
local function springs(x, down, right, stiffness)
  local from = right < 0 and { 1 - right, columns } or { 1, columns - right }
  local to = right < 0 and { 1, columns + right } or { 1 + right, columns }
  local d = x[{ {}, { 1 + down, rows }, to }] - x[{ {}, { 1, rows - down }, from }]
  local rest = spacing * math.sqrt(down * down + right * right)
  return damo.sum(damo.sqr(damo.sqrt(damo.sum(damo.sqr(d), 1)) - rest)) * (stiffness / 2)
end

local function energy(x)
  return springs(x, 0, 1, 9000) + springs(x, 1, 0, 9000) + springs(x, 1, 1, 3000) + springs(x, 1, -1, 3000)
    + springs(x, 0, 2, 150) + springs(x, 2, 0, 150) + mass * gravity * damo.sum(x[2])
end

local middle = { (columns - 5) / 2 + 1, (columns + 5) / 2 }
local function hem(x) return damo.mean(x[{ {}, rows, middle }], 2) end

local weights = damo.shared(damo.zeros { 3, 10 }, "weights")
local light = damo.dvector "light"

--- The wind that the controller makes of where the hem is, how it moves, and where the light is.
local function controller(x, v)
  local place = hem(x)
  local seen = damo.concatenate { 2 * (light - place), hem(v), light, damo.ones { 1 } }
  return strongest * damo.tanh(damo.dot(weights, seen))
end

local lower = damo.constant(damo.reshape(damo.arange(rows) / rows, { 1, rows, 1 })) -- where it blows
local function step(x, v)
  local force = -damo.grad(energy(x), x) / mass + lower * damo.reshape(controller(x, v), { 3, 1, 1 })
  local faster = free * (v + dt * force) * (1 - drag * dt)
  return x + dt * faster, faster
end

local function simulate(n)
  return damo.scan(step, { outputs_info = { at, velocity }, n_steps = n, name = "cloth" })
end

-- ---- What is drawn ------------------------------------------------------------------------------------------------

local function cross(a, b)
  return damo.stack { a[2] * b[3] - a[3] * b[2], a[3] * b[1] - a[1] * b[3], a[1] * b[2] - a[2] * b[1] }
end

--- Differences of neighbours along an axis, for each point: one-sided at the borders.
local function slope(x, axis)
  local d = damo.diff(x, { axis = axis })
  local first, last = { {}, {}, {} }, { {}, {}, {} }
  first[axis], last[axis] = { 1, 1 }, { -1, -1 }
  return damo.concatenate({ d[first], d }, { axis = axis }) + damo.concatenate({ d, d[last] }, { axis = axis })
end

--- The colour of each point: silk with stripes, lit by the light and by a dim sky.
local stripe = {}
for j = 1, columns do stripe[j] = j % 6 < 2 and 1 or 0 end
stripe = damo.array { { stripe } }
local silk = damo.array { { { 0.55 } }, { { 0.05 } }, { { 0.12 } } } * (1 - stripe)
  + damo.array { { { 0.95 } }, { { 0.75 } }, { { 0.45 } } } * stripe
local warm = damo.array { { { 1 } }, { { 0.72 } }, { { 0.42 } } }
local sky = damo.array { { { 0.16 } }, { { 0.2 } }, { { 0.34 } } }

local function colour(x)
  local n = cross(slope(x, 3), slope(x, 2))
  n = n / damo.sqrt(damo.sum(damo.sqr(n), { axis = 1, keepdims = true }))
  local away = damo.reshape(light, { 3, 1, 1 }) - x
  local far = damo.sum(damo.sqr(away), { axis = 1, keepdims = true })
  local facing = damo.abs(damo.sum(n * away, { axis = 1, keepdims = true })) / damo.sqrt(far)
  local shine = (0.15 + facing) / (0.35 + 2.5 * far) + 0.8 * facing ^ 24 / (0.2 + far)
  return 1 - damo.exp(-silk * (2 * warm * shine + sky * (0.5 + damo.abs(n[{ { 3, 3 } }]))))
end

local x, v = simulate(steps)
x, v = x[-1], v[-1]

return { rows = rows, columns = columns, at = at, velocity = velocity, weights = weights, light = light,
  moved = x, speed = v, colour = colour(x), hem = hem(x),
  energy = energy(x) + mass / 2 * damo.sum(damo.sqr(v)),
  longest = damo.max(damo.sqrt(damo.sum(damo.sqr(damo.diff(x, { axis = 2 })), 1))) / spacing, -- of the upright threads
  -- How far the hem will be from the light, squared, in the later two thirds of what lies ahead.
  loss = function()
    local ahead = simulate(horizon)
    local reached = damo.mean(ahead[{ {}, {}, rows, middle }], 3)
    return damo.mean(damo.sum(damo.sqr(reached[{ { horizon / 3 } }] - light), 2))
  end }

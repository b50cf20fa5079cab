-- lorenz.lua: the Lorenz attractor, stepped from Lua: the compiled function holds the state and updates it in place.
--
--     lua5.4 examples/lorenz.lua [steps] [folder for the picture]
--
-- Picture: pictures/lorenz.png, z over x.

local damo = require "damo"

local steps = tonumber(arg[1]) or 20000
local results = arg[2] or io.popen("mktemp -d"):read "*l" -- a new, private folder

local sigma, rho, beta, dt = 10.0, 28.0, 8.0 / 3.0, 0.005

--- The time derivative of the state {x, y, z}.
local function velocity(s)
  local x, y, z = s[1], s[2], s[3]
  return damo.stack { sigma * (y - x), x * (rho - z) - y, x * y - beta * z }
end

--- One step of the classical Runge-Kutta rule.
local function runge_kutta(s)
  local k1 = velocity(s)
  local k2 = velocity(s + dt / 2 * k1)
  local k3 = velocity(s + dt / 2 * k2)
  local k4 = velocity(s + dt * k3)
  return s + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
end

local state = damo.shared(damo.array { 1.0, 1.0, 1.0 }, "state")
local step = damo.compile({}, {}, { updates = { [state] = runge_kutta(state) } })

local start = os.clock()
local xs, zs = {}, {}
for i = 1, steps do
  step()
  local s = state:get_value()
  xs[i], zs[i] = s[1], s[3]
end
local seconds = os.clock() - start

print(string.format("lorenz: %d steps of %g in %.2f s (%.2f us a step)", steps, dt, seconds, seconds / steps * 1e6))
print("lorenz: state " .. tostring(state:get_value()))
print("lorenz: picture " .. damo.plot.lines({ { name = "z over x", x = xs, y = zs } },
  { title = "Lorenz attractor", xlabel = "x", ylabel = "z", path = results .. "/lorenz.png" }))

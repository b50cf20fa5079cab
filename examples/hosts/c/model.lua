-- The model of the game: dust around a star, which a wanderer disturbs. The force is minus the gradient of the energy.
-- Save this file while the game runs: the dust goes on where it is, by what the file says now.
local damo = require "damo"

local n, dt = 3000, 1 / 120
local strength = 0.4 -- of the wanderer; negative: it repels

-- The dust begins on circles around the star.
local place, speed = {}, {}
for i = 1, n do
  local radius, angle = 0.35 + 1.25 * (i / n), i * 2.399963
  local v = radius / (radius ^ 2 + 0.01) ^ 0.75
  place[i] = { radius * math.cos(angle), radius * math.sin(angle) }
  speed[i] = { -v * math.sin(angle), v * math.cos(angle) }
end
local at, velocity = damo.shared(damo.array(place), "at"), damo.shared(damo.array(speed), "velocity")

local wanderer = damo.dvector "wanderer"
local function potential(mass, from) return damo.sum(-mass / damo.sqrt(damo.sum(damo.sqr(from), 2) + 0.01)) end
local energy = potential(1, at) + potential(strength, at - wanderer)

local faster = velocity - dt * damo.grad(energy, at)
local moved = at + dt * faster
local step = damo.compile({ wanderer }, moved, { updates = { [at] = moved, [velocity] = faster }, name = "step" })

return {
  token = step:token(), -- the host makes a Function of its own by this name
  step = step,          -- the name holds as long as this
  -- Where the wanderer is at a time: the host asks in each step.
  wander = function(t) return 2.2 * math.cos(0.7 * t + 2), 1.3 * math.sin(0.7 * t + 2) end,
}

-- luacheck: globals damo
-- A mod: it draws how fast z = z ^ 2 + c leaves the circle of radius 2, for each c of a grid, by one compiled scan.
local n, steps = 320, 60
local re = damo.reshape(damo.linspace(-2.1, 0.7, n), { 1, n }) + damo.zeros { n, n }
local im = damo.reshape(damo.linspace(-1.4, 1.4, n), { n, 1 }) + damo.zeros { n, n }

local a, b = damo.dmatrix "a", damo.dmatrix "b"
local function step(x, y, count)
  local inside = damo.lt(x * x + y * y, 4)
  return { damo.where(inside, x * x - y * y + a, x), damo.where(inside, 2 * x * y + b, y),
    count + damo.cast(inside, "float64") }
end
local _, _, counts = damo.scan(step, { outputs_info = { a * 0, b * 0, a * 0 }, n_steps = steps })
local count = counts[-1]
local shade = damo.sqrt(count / steps) * damo.cast(damo.lt(count, steps), "float64") * 255
return damo.compile({ a, b }, damo.cast(shade, "uint8"))(re, im):tobytes()

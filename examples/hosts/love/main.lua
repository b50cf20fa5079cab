-- main.lua: the cloth of cloth.lua in LÖVE. The mouse moves the light, and the wheel moves it to and fro.
--
--     love examples/hosts/love [FRAMES PICTURE.png REPORT]   -- with these: the light jumps by itself, then it ends
--
-- damo writes positions and colours into a ByteData, which feeds a Mesh: a frame makes no garbage.
local damo = require "damo"
local cloth = require "cloth"

local last, picture, report -- of a run by itself
local width, height = love.graphics.getDimensions()
local points = cloth.rows * cloth.columns
local stride = 7 * 4 -- bytes a vertex: x, y, depth; red, green, blue, alpha

local data = love.data.newByteData(points * stride)
local format = { { "VertexPosition", "float", 3 }, { "VertexColor", "float", 4 } }
local mesh = love.graphics.newMesh(format, points, "triangles", "stream")
local function view(channels, offset)
  return damo.view(data, { dtype = "float32", shape = { channels, cloth.rows, cloth.columns },
    strides = { 4, cloth.columns * stride, stride }, offset = offset })
end
local corners = {}
for i = 1, cloth.rows - 1 do
  for j = 1, cloth.columns - 1 do
    local a = (i - 1) * cloth.columns + j
    local b = a + cloth.columns
    for _, p in ipairs { a, a + 1, b, b, a + 1, b + 1 } do corners[#corners + 1] = p end
  end
end
mesh:setVertexMap(corners)
view(1, 24)[{}] = 1 -- alpha

-- ---- The two Functions --------------------------------------------------------------------------------------------

local scale, top = 0.34 * width, 0.1 * height
local function project(x, y, z) -- onto the screen; the camera is 4 before the cloth
  local near = 4 * scale / (4 - z)
  return width / 2 + near * x, top - near * y, z
end

local positions = view(3, 0)
local hem, energy, longest = damo.zeros { 3 }, damo.array(0.0), damo.array(0.0)
local on_screen = damo.stack { project(cloth.moved[1], cloth.moved[2], cloth.moved[3]) }
local move = damo.compile({ cloth.light },
  { damo.cast(on_screen, "float32"), damo.cast(cloth.colour, "float32"), cloth.hem, cloth.energy, cloth.longest },
  { updates = { { cloth.at, cloth.moved }, { cloth.velocity, cloth.speed } }, name = "move" })
  :into(positions, view(3, 12), hem, energy, longest)

local loss, looked = cloth.loss(), damo.array(0.0)
local learn = damo.compile({ cloth.light }, loss, { name = "learn",
  updates = damo.optim.adam({ cloth.weights }, { damo.grad(loss, cloth.weights) }, { lr = 0.05 }) }):into(looked)

-- ---- The loop -----------------------------------------------------------------------------------------------------

local light, lesson = damo.array { 0.4, -0.9, 0.5 }, damo.zeros { 3 }
local frames, littered, distance = 0, 0, {} -- littered: late frames that made garbage

local seed = 1
local function random(low, high) -- the same numbers everywhere
  seed = seed * 16807 % 2147483647
  return low + (high - low) * seed / 2147483647
end

local function place(where)
  where[1], where[2], where[3] = random(-0.6, 0.6), random(-1.15, -0.8), random(-0.7, 0.7)
end

local function step()
  if last and frames % 100 == 0 then place(light) end
  if frames % 4 == 0 then place(lesson) end
  if frames % 2 == 0 then learn(frames % 4 == 0 and lesson or light) end
  move(light)
  mesh:setVertices(data)
end

local function mean(list, from, to)
  local sum = 0
  for i = from, to do sum = sum + list[i] end
  return sum / (to - from + 1)
end

--- The end of a run by itself: what the test looks at.
local function finish(image)
  local file = assert(io.open(picture, "wb"))
  file:write(image:encode("png"):getString())
  file:close()
  local red, green = image:getPixel(project(light[1], light[2], light[3]))
  local pin = positions[{ {}, 1, 1 }]
  file = assert(io.open(report, "w"))
  file:write(("early %g\nlate %g\nenergy %g\nlongest %g\npin %.2f %.2f\nlight %.2f %.2f\nlittered %d\n"):format(
    mean(distance, 1, 200), mean(distance, last - 99, last), energy:item(), longest:item(), pin[1], pin[2], red, green,
    littered))
  file:close()
  love.event.quit(0)
end

function love.load(arguments)
  last, picture, report = tonumber(arguments[1]), arguments[2], arguments[3]
  if last then collectgarbage "stop" end
end

function love.update()
  local before = collectgarbage "count"
  step()
  if frames >= 400 and collectgarbage "count" > before then littered = littered + 1 end
  frames = frames + 1
  local x, y, z = hem[1] - light[1], hem[2] - light[2], hem[3] - light[3]
  distance[frames] = math.sqrt(x * x + y * y + z * z)
  if frames == last then love.graphics.captureScreenshot(finish) end
end

function love.mousemoved(x, y)
  local near = 4 * scale / (4 - light[3])
  light[1], light[2] = (x - width / 2) / near, (top - y) / near
end

function love.wheelmoved(_, y) light[3] = math.max(-1, math.min(1, light[3] + y / 10)) end

local function glow(x, y, radius, strength)
  love.graphics.setBlendMode "add"
  for i = 1, 24 do
    love.graphics.setColor(strength, 0.72 * strength, 0.42 * strength)
    love.graphics.circle("fill", x, y, radius * (i / 24) ^ 2)
  end
  love.graphics.setBlendMode "alpha"
end

function love.draw()
  if last and frames < last then return end -- nobody looks
  love.graphics.clear(0.012, 0.014, 0.03)
  local x, y = project(light[1], light[2], light[3])
  glow(x, y, 260, 0.008)
  love.graphics.setColor(0.2, 0.13, 0.09)
  love.graphics.rectangle("fill", 0, top - 5, width, 8) -- the pole
  love.graphics.setColor(1, 1, 1)
  love.graphics.setDepthMode("lequal", true)
  love.graphics.draw(mesh)
  love.graphics.setDepthMode()
  glow(x, y, 30, 0.09)
  love.graphics.setColor(0.6, 0.65, 0.75)
  love.graphics.print(("frame %d   hem to light %.2f   loss of what was learned last %.4f"):format(frames,
    distance[frames] or 0, looked:item()), 16, height - 60)
  love.graphics.setColor(0.9, 0.6, 0.3)
  for i = math.max(2, frames - width), frames do -- how far the hem is, frame by frame
    love.graphics.line(i - 1, height - 6 - 40 * distance[i - 1], i, height - 6 - 40 * distance[i])
  end
end

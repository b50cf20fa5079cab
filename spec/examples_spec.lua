-- The examples run, as a reader would run them, and reach what they promise.
local damo = require "damo"

--- Runs the example in a new interpreter; returns its output and whether it ended well.
local function run(command)
  local pipe = assert(io.popen(("'%s' %s 2>&1"):format(arg[-1] or "lua", command)))
  local out = pipe:read "a"
  return out, (pipe:close())
end

local function exists(path)
  local file = io.open(path)
  if file then file:close() end
  return file ~= nil
end

describe("the example", function()
  local folder

  setup(function()
    folder = os.tmpname()
    os.remove(folder)
    assert(os.execute("mkdir '" .. folder .. "'"))
  end)

  teardown(function() os.execute("rm -r '" .. folder .. "'") end)

  it("digits trains, saves, loads and draws", function()
    local out, ok = run("examples/digits.lua '" .. folder .. "'")
    assert.is_true(ok, out)
    assert.matches("digits: 1438 pictures to train on, 359 to test on", out, 1, true)
    local logistic = tonumber(out:match "logistic regression: test accuracy ([%d.]+)")
    local network = tonumber(out:match "network: test accuracy ([%d.]+)")
    assert.is_true(logistic and logistic >= 0.9, out)
    assert.is_true(network and network >= 0.95, out)
    assert.matches("the same accuracy", out, 1, true)
    local losses = {}
    for loss in out:gmatch "loss[ =]*([%d.]+)" do losses[#losses + 1] = tonumber(loss) end
    assert.is_true(#losses > 1, out)
    local values = damo.io.load(folder .. "/digits.npz")
    assert.same({ 64, 64 }, values["hidden.w"].shape)
    assert.same({ 10 }, values["output.b"].shape)
    local picture = out:match "loss curve: ([^\n]+)"
    if picture:match "%.png$" then assert.is_true(exists(picture), picture) end
  end)

  it("digits gives the same numbers each time", function()
    local function accuracies()
      return (run("examples/digits.lua '" .. folder .. "'")):match "network: test accuracy [%d.]+"
    end
    local first = accuracies()
    assert.is_truthy(first)
    assert.equal(first, accuracies())
  end)

  it("lorenz stays on its attractor", function()
    local out, ok = run("examples/lorenz.lua 2000 '" .. folder .. "'")
    assert.is_true(ok, out)
    local x, y, z = out:match "lorenz: state %[%s*([-%d.e]+)%s+([-%d.e]+)%s+([-%d.e]+)%s*%]"
    x, y, z = tonumber(x), tonumber(y), tonumber(z)
    assert.is_true(x and math.abs(x) < 25 and math.abs(y) < 35 and z > 0 and z < 55, out)
    -- The same steps in plain Lua: equal at first, as long as rounding does not matter.
    local short = (run("examples/lorenz.lua 200 '" .. folder .. "'"))
    local got = { short:match "lorenz: state %[%s*([-%d.e]+)%s+([-%d.e]+)%s+([-%d.e]+)%s*%]" }
    local function velocity(s) return { 10 * (s[2] - s[1]), s[1] * (28 - s[3]) - s[2], s[1] * s[2] - 8 / 3 * s[3] } end
    local function moved(s, k, h) return { s[1] + h * k[1], s[2] + h * k[2], s[3] + h * k[3] } end
    local s, dt = { 1, 1, 1 }, 0.005
    for _ = 1, 200 do
      local k1 = velocity(s)
      local k2 = velocity(moved(s, k1, dt / 2))
      local k3 = velocity(moved(s, k2, dt / 2))
      local k4 = velocity(moved(s, k3, dt))
      for i = 1, 3 do s[i] = s[i] + dt / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]) end
    end
    for i = 1, 3 do assert.near(s[i], tonumber(got[i]), 1e-6) end
  end)

  it("custom_op agrees with finite differences", function()
    local out, ok = run "examples/custom_op.lua"
    assert.is_true(ok, out)
    assert.matches("verify_grad: the gradient agrees with finite differences", out, 1, true)
    assert.matches("selu", out, 1, true)
  end)

  it("of every file under examples is one of these", function()
    local pipe = io.popen "ls examples/*.lua"
    local files = pipe:read "a"
    pipe:close()
    assert.equal("examples/custom_op.lua\nexamples/digits.lua\nexamples/lorenz.lua\n", files)
  end)
end)

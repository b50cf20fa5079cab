-- The examples run as a reader would run them, and show the results that they promise.
local damo = require "damo"
local svg_text = require "spec.support.svg_text"

--- Runs the example in a new interpreter, its pictures also drawn as SVG; returns its output and whether it succeeded.
local function run(command)
  local pipe = assert(io.popen(("'%s' -l spec.support.svg_twins %s 2>&1"):format(arg[-1] or "lua", command)))
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

  it("convnet reads the digits", function()
    local out, ok = run("examples/convnet.lua '" .. folder .. "'")
    assert.is_true(ok, out)
    assert.matches("convnet: 1438 pictures to train on, 359 to test on", out, 1, true)
    local accuracy = tonumber(out:match "convnet: test accuracy ([%d.]+)")
    assert.is_true(accuracy and accuracy >= 0.985, out)
    for _, name in ipairs { "filters", "accuracy" } do
      local picture = out:match(name .. ": ([^\n]+)")
      assert.is_truthy(picture, out)
      if picture:match "%.png$" then assert.is_true(exists(picture), picture) end
    end
  end)

  it("lorenz stays on its attractor", function()
    local out, ok = run("examples/lorenz.lua 2000 '" .. folder .. "'")
    assert.is_true(ok, out)
    local x, y, z = out:match "lorenz: state %[%s*([-%d.e]+)%s+([-%d.e]+)%s+([-%d.e]+)%s*%]"
    x, y, z = tonumber(x), tonumber(y), tonumber(z)
    assert.is_true(x and math.abs(x) < 25 and math.abs(y) < 35 and z > 0 and z < 55, out)
    -- The same steps in plain Lua: equal as long as rounding does not grow.
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

  it("sms tells spam from words in a sparse matrix", function()
    local out, ok = run("examples/sms.lua '" .. folder .. "'")
    assert.is_true(ok, out)
    assert.matches("sms: 4460 messages to train on, 1114 to test on, 3678 words, 61277 counts stored", out, 1, true)
    local right, accuracy = out:match "sms: (%d+) of 1114 test messages right, accuracy ([%d.]+)"
    right = tonumber(right)
    assert.is_true(right and right >= 1085 and right <= 1114, out)
    assert.near(right / 1114, tonumber(accuracy), 1e-4)
    assert.matches("loss[ =]*[%d.]+", out)
    assert.matches("say spam most: .*txt", out)
    local picture = out:match "loss curve: ([^\n]+)"
    if picture:match "%.png$" then assert.is_true(exists(picture), picture) end
  end)

  it("filterbank finds the sunspots' period", function()
    local out, ok = run("examples/filterbank.lua '" .. folder .. "'")
    assert.is_true(ok, out)
    assert.matches("filterbank: 309 years, largest peak at k = 28: a period of 11.04 years", out, 1, true)
    local stored, all = out:match "24 filters over 154 frequencies, (%d+) of (%d+) entries stored"
    assert.is_true(tonumber(stored) * 10 < tonumber(all), out)
    local short, long = out:match "the strongest filter is %d+, periods of ([%d.]+) to ([%d.]+) years"
    assert.is_true(tonumber(short) < 11.04 and tonumber(long) > 11.04, out)
    local energy = tonumber(out:match "explain ([%d.]+) %% of the spectrum's energy")
    assert.is_true(energy and energy > 40 and energy < 100, out)
    local picture = out:match "picture: ([^\n]+)"
    if picture:match "%.png$" then assert.is_true(exists(picture), picture) end
  end)

  it("poisson2d finds a source from its field", function()
    local out, ok = run("examples/poisson2d.lua '" .. folder .. "'")
    assert.is_true(ok, out)
    assert.matches("poisson2d: 2304 unknowns, 11328 entries in A", out, 1, true)
    assert.matches("poisson2d: 2 analyses and 2 factorizations in all steps", out, 1, true)
    local field, source = out:match "field off by ([%d.]+) %% of its size, source by ([%d.]+) %%"
    assert.is_true(tonumber(field) < 3 and tonumber(source) < 35, out)
    assert.matches("misfit", out, 1, true)
    local picture = out:match "picture ([^\n]+)"
    if picture:match "%.png$" then assert.is_true(exists(picture), picture) end
  end)

  it("hmc draws from the posterior of the eight schools", function()
    local out, ok = run("examples/hmc.lua 4000 '" .. folder .. "'")
    assert.is_true(ok, out)
    local rate = tonumber(out:match "([%d.]+) accepted")
    assert.is_true(rate > 0.6 and rate < 0.95, out)
    -- the posterior means, by quadrature
    for name, wanted in pairs { mu = 4.397, tau = 3.598 } do
      local mean, ratio = out:match(name .. " ([%d.]+), standard deviation [%d.]+, chains' variance ratio ([%d.]+)")
      assert.near(wanted, tonumber(mean), 0.35)
      assert.is_true(tonumber(ratio) < 1.03, out)
    end
    local picture = out:match "picture ([^\n]+)"
    if picture:match "%.png$" then assert.is_true(exists(picture), picture) end
  end)

  it("gmrf finds the period of the sunspots", function()
    local out, ok = run("examples/gmrf.lua '" .. folder .. "'")
    assert.is_true(ok, out)
    assert.matches("gmrf: 2 analyses, 800 factorizations", out, 1, true)
    local first, last = out:match "log likelihood ([-%d.]+) to ([-%d.]+)"
    assert.is_true(tonumber(first) < -570 and tonumber(last) > -485, out)
    local period = tonumber(out:match "a period of ([%d.]+) years")
    assert.is_true(period > 10 and period < 13, out)
    local picture = out:match "picture ([^\n]+)"
    if picture:match "%.png$" then assert.is_true(exists(picture), picture) end
  end)

  it("gp fits a covariance and forecasts with a band", function()
    local out, ok = run("examples/gp.lua 60 '" .. folder .. "'")
    assert.is_true(ok, out)
    assert.matches("gp: 732 months, 600 to fit to", out, 1, true)
    local first, last = out:match "log likelihood ([-%d.]+) to ([-%d.]+)"
    assert.near(-495.93, tonumber(first), 0.01) -- scipy.stats.multivariate_normal.logpdf
    assert.is_true(tonumber(last) > -361 and tonumber(last) < -360, out)
    local ahead, month, share =
      out:match "a month ahead ([%d.]+) degrees; of last month's value ([%d.]+); (%d+) %% of the months in the band"
    assert.is_true(tonumber(ahead) < 0.5, out)
    assert.near(1.171, tonumber(month), 5e-4)
    assert.is_true(tonumber(share) >= 88 and tonumber(share) <= 99, out)
    local own, climate, covered =
      out:match "of two years ([%d.]+) degrees; of the mean of each month ([%d.]+); (%d+) %% of the months in the band"
    assert.is_true(tonumber(own) < tonumber(climate) and tonumber(covered) >= 90, out)
    local picture = out:match "picture ([^\n]+)"
    if picture:match "%.png$" then assert.is_true(exists(picture), picture) end
  end)

  it("rnn forecasts the temperature of the sea", function()
    local out, ok = run("examples/rnn.lua '" .. folder .. "'")
    assert.is_true(ok, out)
    assert.matches("rnn: 732 months, 600 to train on, mean 23.07, standard deviation 2.26 degrees", out, 1, true)
    local ahead, month, year =
      out:match "a month ahead ([%d.]+) degrees; of last month's value ([%d.]+), of last year's ([%d.]+)"
    assert.is_true(tonumber(ahead) < 0.6, out)
    assert.near(1.171, tonumber(month), 5e-4)
    assert.near(1.151, tonumber(year), 5e-4)
    local own = tonumber(out:match "two years by itself ([%d.]+) degrees")
    assert.is_true(own and own < 0.8, out)
    local picture = out:match "picture ([^\n]+)"
    if picture:match "%.png$" then assert.is_true(exists(picture), picture) end
  end)

  it("have at most 100 lines", function()
    local pipe = assert(io.popen "wc -l examples/*.lua")
    for count, name in pipe:read("*a"):gmatch "(%d+) (examples/[^\n]+)" do
      assert.is_true(tonumber(count) <= 100, name .. " has " .. count)
    end
    pipe:close()
  end)

  it("pendulum finds its lengths and its mass", function()
    local out, ok = run("examples/pendulum.lua '" .. folder .. "'")
    assert.is_true(ok, out)
    local angle, upper, lower, mass =
      out:match "2000 steps, +%d+ rounds, error of an angle ([%d.]+), parameters ([%d.]+) ([%d.]+) ([%d.]+)"
    assert.near(0.02, tonumber(angle), 1e-3)
    assert.near(1.0, tonumber(upper), 3e-3)
    assert.near(0.7, tonumber(lower), 3e-3)
    assert.near(0.5, tonumber(mass), 3e-3)
    assert.is_true(tonumber(out:match "differ by ([%d.e+-]+),") < 1e-10, out)
    local picture = out:match "picture ([^\n]+)"
    if picture:match "%.png$" then assert.is_true(exists(picture), picture) end
  end)

  it("draws labels that neither overlap nor leave the picture", function()
    if not os.execute "command -v gnuplot >/dev/null 2>&1" then return end
    local count = 0
    local pipe = io.popen("ls '" .. folder .. "'/*.svg")
    for path in pipe:lines() do
      count = count + 1
      local file = assert(io.open(path))
      local picture = file:read "*a"
      file:close()
      assert.same({}, svg_text.overlaps(picture), path)
      assert.same({}, svg_text.cut(picture), path)
    end
    pipe:close()
    assert.is_true(count >= 10, count)
  end)

  it("without a folder writes to a new one, so that users of one machine do not collide", function()
    local command = ("env TMPDIR='%s' '%s' examples/lorenz.lua 200 2>&1"):format(folder, arg[-1] or "lua")
    local seen = {}
    for _ = 1, 2 do
      local pipe = assert(io.popen(command))
      local out = pipe:read "a"
      assert.is_true(pipe:close(), out)
      local picture = out:match "(/[^\n]+)/lorenz%.png"
      if not picture then return end -- no gnuplot: the picture is text
      assert.equal(folder .. "/", picture:sub(1, #folder + 1))
      assert.is_nil(seen[picture], picture)
      seen[picture] = true
    end
  end)

  it("stands in the gallery, with the pictures that its head names", function()
    local function read(path)
      local file = assert(io.open(path, "rb"), path)
      local text = file:read "*a"
      file:close()
      return text
    end
    local gallery, bytes = read "examples/README.md", 0
    for path in io.popen "ls examples/*.lua":lines() do
      local name = path:match "[^/]*$"
      assert.truthy(gallery:find(("[%s](%s)"):format(name, name), 1, true), name)
      assert.truthy(gallery:find("`lua5.4 examples/" .. name, 1, true), name)
      local head = read(path):match "^.-\n\n"
      assert.truthy(head:find("^%-%- " .. name:gsub("%.", "%%.") .. ": "), name)
      local drawn = head:find("It draws no picture", 1, true) ~= nil
      for picture in head:gmatch "pictures/[%w_]+%.png" do
        drawn, bytes = true, bytes + #read("examples/" .. picture)
        assert.truthy(gallery:find("](" .. picture .. ")", 1, true), picture)
      end
      assert.is_true(drawn, name .. " says nothing of its picture")
    end
    assert.is_true(bytes < 1e6, bytes)
  end)

  it("of every file under examples names no shared folder", function()
    for path in io.popen "ls examples/*.lua":lines() do
      local file = assert(io.open(path))
      assert.is_nil(file:read "a":find('"/tmp', 1, true), path)
      file:close()
    end
  end)

  it("of every file under examples is run here", function()
    local pipe = io.popen "ls examples/*.lua"
    local files = pipe:read "a"
    pipe:close()
    local names = files:gsub("examples/(.-)%.lua\n", "%1 ")
    assert.equal("convnet custom_op digits filterbank gmrf gp hmc lorenz pendulum poisson2d rnn sms ", names)
  end)
end)

-- convnet.lua: handwritten digits by a convolutional network.
--
--     lua5.4 examples/convnet.lua [folder for results]
--
-- The data are those of digits.lua: 1797 pictures of 8 x 8 pixels, every fifth row a test picture. Two convolutions,
-- each with pooling, a hidden layer, dropout; every second batch is moved by up to a pixel.
-- Pictures: pictures/convnet.png, the accuracy on test pictures by epoch; pictures/filters.png, the first layer.

local damo = require "damo"
local nn = damo.nn

local here = arg[0]:match("^(.*)/") or "."
local results = arg[1] or io.popen("mktemp -d"):read "*l" -- a new, private folder

-- ---- Data: pictures (N, 1, 8, 8) ----------------------------------------------------------------------------------

local table_ = damo.io.read_csv(here .. "/data/digits.csv")
local pixels = (table_[{ {}, { 1, 64 } }] / 16):astype("float32"):reshape { -1, 1, 8, 8 }
local digits = table_[{ {}, 65 }]:astype "int64" + 1 -- classes are positions, so the digit 0 is class 1

local is_test = damo.eq(damo.arange(1, #digits + 1) % 5, 0)
local train_x, train_y = pixels[damo.logical_not(is_test)], digits[damo.logical_not(is_test)]
local test_x, test_y = pixels[is_test], digits[is_test]
print(string.format("convnet: %d pictures to train on, %d to test on", #train_y, #test_y))

-- ---- The network --------------------------------------------------------------------------------------------------

local rs = damo.random.RandomStream(1)
local params = {}

--- A parameter, random or (a vector) zero.
local function param(name, shape)
  local draw = #shape > 1 and nn.init.he_normal or nn.init.zeros
  params[name] = damo.shared(draw(rs, shape, { dtype = "float32" }), name)
  return params[name]
end

-- The parameters are made once; the network is built over them for training and for use.
local filters = { param("filters1", { 24, 1, 3, 3 }), param("filters2", { 48, 24, 3, 3 }) }
local biases = { param("bias1", { 24 }), param("bias2", { 48 }) }
local hidden_w, hidden_b = param("hidden.w", { 48 * 2 * 2, 96 }), param("hidden.b", { 96 })
local output_w, output_b = param("output.w", { 96, 10 }), param("output.b", { 10 })

--- The log-probabilities of the classes.
local function network(x, training)
  local h = x
  for i, w in ipairs(filters) do
    local b = damo.dimshuffle(biases[i], { "x", 1, "x", "x" })
    h = nn.max_pool2d(nn.relu(nn.conv2d(h, w, { border_mode = "half" }) + b), { size = 2 })
  end
  h = nn.dropout(damo.flatten(h, 2), { p = 0.1, rng = rs, training = training })
  h = nn.relu(damo.dot(h, hidden_w) + hidden_b)
  h = nn.dropout(h, { p = 0.3, rng = rs, training = training })
  return nn.log_softmax(damo.dot(h, output_w) + output_b, { axis = 2 })
end

local x, y = damo.tensor("x", { dtype = "float32", shape = { false, 1, 8, 8 } }), damo.lvector "y"
local rate = damo.scalar("rate", { dtype = "float32" })
local loss = damo.mean(nn.nll(network(x, true), y))
local step = damo.compile({ x, y, rate }, loss, {
  updates = damo.optim.adam(params, damo.grad(loss, params), { lr = rate }),
})
local predict = damo.compile({ x }, damo.argmax(network(x, false), { axis = 2 }))

--- The fraction of test pictures whose most probable class is the true one.
local function accuracy() return damo.mean(damo.eq(predict(test_x), test_y):astype "float64") end

-- ---- Training -----------------------------------------------------------------------------------------------------

damo.random.seed(3)
local batch, epochs = 32, 40

--- The pictures moved by up to a pixel in each direction; what comes in is empty.
local function moved(pictures)
  local wide = damo.pad(pictures, { { 0, 0 }, { 0, 0 }, { 1, 1 }, { 1, 1 } })
  local down, right = damo.random.integers(1, 3), damo.random.integers(1, 3)
  return wide[{ {}, {}, { down, down + 7 }, { right, right + 7 } }]
end

local reached = {}
for epoch in damo.progress(epochs, { title = "convnet" }) do
  local order = damo.random.permutation(#train_y)
  for k = 1, math.floor(#train_y / batch) do
    local rows = order[{ { (k - 1) * batch + 1, k * batch } }]
    local pictures = train_x[rows]
    if k % 2 == 0 then pictures = moved(pictures) end
    step(pictures, train_y[rows], 0.003 * (1 - (epoch - 1) / epochs))
  end
  reached[epoch] = accuracy()
end
print(string.format("convnet: test accuracy %.4f", accuracy()))

-- ---- Pictures: the first layer's filters, and how the accuracy grew -------------------------------------------------

local panels = {}
for i = 1, 6 do panels[i] = { name = "filter " .. i, z = filters[1]:get_value()[{ i, 1 }] } end
print("filters: " .. damo.plot.image(panels, { title = "first layer", path = results .. "/filters.png" }))
print("accuracy: " .. damo.plot.lines({ { name = "test accuracy", y = reached } },
  { title = "convnet: test accuracy", xlabel = "epoch", ylabel = "accuracy", path = results .. "/convnet.png" }))

-- convnet.lua: handwritten digits by a convolutional network.
--
--     lua5.4 examples/convnet.lua [folder for results]
--
-- The data are those of digits.lua: 1797 pictures of 8 x 8 pixels, every fifth row a test picture. Two convolutions,
-- each with pooling, a hidden layer, dropout; every second batch is moved by up to a pixel.

local damo = require "damo"
local progress = require "damo.progress"
local nn = damo.nn

local here = arg[0]:match("^(.*)/") or "."
local results = arg[1] or io.popen("mktemp -d"):read "*l" -- a new, private folder

-- ---- Data: pictures (N, 1, 8, 8) ----------------------------------------------------------------------------------

local table_ = damo.io.read_csv(here .. "/data/digits.csv")
local pixels = (table_[{ {}, { 1, 64 } }] / 16):astype("float32"):reshape { -1, 1, 8, 8 }
local digits = table_[{ {}, 65 }]:astype "int64" + 1 -- classes are positions, so the digit 0 is class 1

local test_rows, train_rows = {}, {}
for row = 1, #digits do
  local rows = row % 5 == 0 and test_rows or train_rows
  rows[#rows + 1] = row
end
local train_x, train_y = pixels[damo.idx(train_rows)], digits[damo.idx(train_rows)]
local test_x, test_y = pixels[damo.idx(test_rows)], digits[damo.idx(test_rows)]

print(string.format("convnet: %d pictures to train on, %d to test on", #train_y, #test_y))

-- ---- The network --------------------------------------------------------------------------------------------------

local rs = damo.random.RandomStream(1)
local params = {}

local function weights(name, shape)
  params[name] = damo.shared(nn.init.he_normal(rs, shape, { dtype = "float32" }), name)
  return params[name]
end

local function bias(name, n)
  params[name] = damo.shared(nn.init.zeros(rs, { n }, { dtype = "float32" }), name)
  return params[name]
end

-- The parameters are made once; the network is built over them for training and for use.
local filters = { weights("filters1", { 24, 1, 3, 3 }), weights("filters2", { 48, 24, 3, 3 }) }
local biases = { bias("bias1", 24), bias("bias2", 48) }
local hidden_w, hidden_b = weights("hidden.w", { 48 * 2 * 2, 96 }), bias("hidden.b", 96)
local output_w, output_b = weights("output.w", { 96, 10 }), bias("output.b", 10)

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
local start = os.clock()
local step = damo.compile({ x, y, rate }, loss, {
  updates = damo.optim.adam(params, damo.grad(loss, params), { lr = rate }),
})
local predict = damo.compile({ x }, damo.argmax(network(x, false), { axis = 2 }))
print(string.format("convnet: compiled in %.1f ms", (os.clock() - start) * 1e3))

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

local losses, reached = {}, {}
local bar = progress.new(epochs, "convnet")
for epoch = 1, epochs do
  local order = damo.random.permutation(#train_y)
  local total, count = 0, math.floor(#train_y / batch)
  for k = 1, count do
    local rows = order[{ { (k - 1) * batch + 1, k * batch } }]
    local pictures = train_x[rows]
    if k % 2 == 0 then pictures = moved(pictures) end
    total = total + step(pictures, train_y[rows], 0.003 * (1 - (epoch - 1) / epochs))
  end
  losses[epoch], reached[epoch] = total / count, accuracy()
  bar:step(epoch, { loss = losses[epoch], accuracy = reached[epoch] })
end
bar:finish()
print(string.format("convnet: trained in %.1f s", os.clock() - start))
print(string.format("convnet: test accuracy %.4f", accuracy()))

-- ---- Pictures: the first layer's filters, and how the accuracy grew -------------------------------------------------

local panels = {}
for i = 1, 6 do panels[i] = { name = "filter " .. i, z = filters[1]:get_value()[{ i, 1 }] } end
print("filters: " .. damo.plot.image(panels, { title = "first layer", path = results .. "/filters.png" }))
print("accuracy: " .. damo.plot.lines({ { name = "test accuracy", y = reached } },
  { title = "convnet: test accuracy", xlabel = "epoch", ylabel = "accuracy", path = results .. "/convnet.png" }))

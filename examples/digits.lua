-- digits.lua: handwritten digits, first by logistic regression, then by a network with one hidden layer.
--
--     lua5.4 examples/digits.lua [folder for results]
--
-- The data are 1797 pictures of 8 x 8 pixels (0 to 16), each with its digit; every fifth row is a test picture.
-- Picture: pictures/digits.png, the training loss of both models by epoch.

local damo = require "damo"
local progress = require "damo.progress"

local here = arg[0]:match("^(.*)/") or "."
local results = arg[1] or io.popen("mktemp -d"):read "*l" -- a new, private folder

-- ---- Data ---------------------------------------------------------------------------------------------------------

local table_ = damo.io.read_csv(here .. "/data/digits.csv")
local pixels, digits = table_[{ {}, { 1, 64 } }] / 16, table_[{ {}, 65 }]:astype "int64" + 1 -- classes count from 1

local is_test = damo.eq(damo.arange(1, #digits + 1) % 5, 0)
local train_x, train_y = pixels[damo.logical_not(is_test)], digits[damo.logical_not(is_test)]
local test_x, test_y = pixels[is_test], digits[is_test]
print(string.format("digits: %d pictures to train on, %d to test on", #train_y, #test_y))

-- ---- Models -------------------------------------------------------------------------------------------------------

local x, y = damo.dmatrix "x", damo.lvector "y"
local rs = damo.random.RandomStream(1)

--- A layer's parameters: normal weights scaled by the number of inputs, zero biases.
local function layer(n_in, n_out, name)
  local w = rs:normal(0, math.sqrt(2 / n_in), { size = { n_in, n_out } }):eval()
  return damo.shared(w, name .. ".w"), damo.shared(damo.zeros { n_out }, name .. ".b")
end

local function logistic_regression()
  local w, b = layer(64, 10, "logistic")
  return { name = "logistic regression", logits = damo.dot(x, w) + b, params = { w, b } }
end

local function network()
  local w1, b1 = layer(64, 64, "hidden")
  local w2, b2 = layer(64, 10, "output")
  local hidden = damo.maximum(damo.dot(x, w1) + b1, 0)
  return { name = "network", logits = damo.dot(hidden, w2) + b2, params = { w1, b1, w2, b2 } }
end

-- ---- Training -----------------------------------------------------------------------------------------------------

--- Trains the model with an optimiser's updates; returns the mean loss (cross-entropy) of each epoch.
local function train(model, optimiser, options, epochs)
  local start, rows = os.clock(), damo.lvector "rows"
  local loss = damo.mean(damo.nn.nll(damo.log_softmax(model.logits, { axis = 2 }), y))
  local step = damo.compile({ rows }, loss, {
    updates = optimiser(model.params, damo.grad(loss, model.params), options),
    givens = { [x] = damo.shared(train_x)[rows], [y] = damo.shared(train_y)[rows] },
  })
  print(string.format("%s: compiled in %.1f ms", model.name, (os.clock() - start) * 1e3))
  local losses, bar, batch = {}, progress.new(epochs, model.name), 64
  local count = math.floor(#train_y / batch)
  for epoch = 1, epochs do
    local order, total = damo.random.permutation(#train_y), 0
    for k = 1, count do total = total + step(order[{ { (k - 1) * batch + 1, k * batch } }]) end
    losses[epoch] = total / count
    bar:step(epoch, { loss = losses[epoch] })
  end
  bar:finish()
  return losses
end

--- The fraction of test pictures whose most probable class is the true one.
local function accuracy(model)
  local predict = damo.compile({ x }, damo.argmax(model.logits, { axis = 2 }))
  return damo.mean(damo.eq(predict(test_x), test_y):astype "float64")
end

damo.random.seed(2)
local logistic = logistic_regression()
local logistic_losses = train(logistic, damo.optim.momentum, { lr = 0.1, momentum = 0.9 }, 40)
print(string.format("%s: test accuracy %.4f", logistic.name, accuracy(logistic)))

local net = network()
local net_losses = train(net, damo.optim.adam, { lr = 0.003 }, 40)
local reached = accuracy(net)
print(string.format("%s: test accuracy %.4f", net.name, reached))

-- ---- Parameters: saved and loaded, they give the same predictions -------------------------------------------------

local path, values = results .. "/digits.npz", {}
for _, p in ipairs(net.params) do values[p.name] = p:get_value() end
damo.io.save(path, values)
local again, loaded = network(), damo.io.load(path)
for i, p in ipairs(again.params) do p:set_value(loaded[net.params[i].name]) end
assert(accuracy(again) == reached, "the loaded parameters give another answer")
print("parameters: saved to " .. path .. ", loaded, the same accuracy")

-- ---- The loss curve -----------------------------------------------------------------------------------------------

local curves = { { name = logistic.name, y = logistic_losses }, { name = net.name, y = net_losses } }
print("loss curve: " .. damo.plot.lines(curves, { title = "digits: training loss", xlabel = "epoch", ylabel = "loss",
  logy = true, path = results .. "/digits.png" }))

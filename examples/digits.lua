-- digits.lua: handwritten digits, first by logistic regression, then by a network with one hidden layer.
--
--     lua5.4 examples/digits.lua [folder for results]
--
-- The data are 1797 pictures of 8 x 8 pixels (0 to 16), each with its digit; every fifth row is a test picture.

local damo = require "damo"
local progress = require "damo.progress"

local here = arg[0]:match("^(.*)/") or "."
local results = arg[1] or io.popen("mktemp -d"):read "*l" -- a new, private folder

-- ---- Data ---------------------------------------------------------------------------------------------------------

local table_ = damo.io.read_csv(here .. "/data/digits.csv")
local pixels = table_[{ {}, { 1, 64 } }] / 16
local digits = table_[{ {}, 65 }]:astype "int64" + 1 -- classes are positions, so the digit 0 is class 1

local test_rows, train_rows = {}, {}
for row = 1, #digits do
  local rows = row % 5 == 0 and test_rows or train_rows
  rows[#rows + 1] = row
end
local train_x, train_y = pixels[damo.idx(train_rows)], digits[damo.idx(train_rows)]
local test_x, test_y = pixels[damo.idx(test_rows)], digits[damo.idx(test_rows)]

print(string.format("digits: %d pictures to train on, %d to test on", #train_y, #test_y))

-- ---- Models -------------------------------------------------------------------------------------------------------

local x, y = damo.dmatrix "x", damo.lvector "y"
local rs = damo.random.RandomStream(1)

--- A layer's parameters: normal weights scaled by the number of inputs, zero biases.
local function layer(n_in, n_out, name)
  local w = rs:normal(0, math.sqrt(2 / n_in), { size = { n_in, n_out } }):eval()
  return damo.shared(w, name .. ".w"), damo.shared(damo.zeros { n_out }, name .. ".b")
end

--- Mean cross-entropy of the true classes.
local function cross_entropy(logits)
  return -damo.mean(damo.sum(damo.one_hot(y, 10) * damo.log_softmax(logits, { axis = 2 }), { axis = 2 }))
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

-- ---- Optimisers: new values of shared Variables -------------------------------------------------------------------

--- Gradient descent with momentum.
local function sgd(loss, params, rate, momentum)
  local updates = {}
  for i, g in ipairs(damo.grad(loss, params)) do
    local p = params[i]
    local velocity = damo.shared(damo.zeros_like(p:get_value()), p.name .. ".velocity")
    local v = momentum * velocity - rate * g
    updates[#updates + 1] = { velocity, v }
    updates[#updates + 1] = { p, p + v }
  end
  return updates
end

--- Adam (Kingma and Ba, 2015).
local function adam(loss, params, rate)
  local beta1, beta2, tiny = 0.9, 0.999, 1e-8
  local t = damo.shared(0.0, "t")
  local updates = { { t, t + 1 } }
  local step = rate * damo.sqrt(1 - beta2 ^ (t + 1)) / (1 - beta1 ^ (t + 1))
  for i, g in ipairs(damo.grad(loss, params)) do
    local p = params[i]
    local m = damo.shared(damo.zeros_like(p:get_value()), p.name .. ".m")
    local v = damo.shared(damo.zeros_like(p:get_value()), p.name .. ".v")
    local m1 = beta1 * m + (1 - beta1) * g
    local v1 = beta2 * v + (1 - beta2) * damo.sqr(g)
    updates[#updates + 1] = { m, m1 }
    updates[#updates + 1] = { v, v1 }
    updates[#updates + 1] = { p, p - step * m1 / (damo.sqrt(v1) + tiny) }
  end
  return updates
end

-- ---- Training -----------------------------------------------------------------------------------------------------

local batch = 64

--- Trains the model with the optimiser's updates; returns the mean loss of each epoch.
local function train(model, optimiser, epochs)
  local loss = cross_entropy(model.logits)
  local start = os.clock()
  local rows = damo.lvector "rows"
  local all_x, all_y = damo.shared(train_x), damo.shared(train_y)
  local step = damo.compile({ rows }, loss, {
    updates = optimiser(loss, model.params),
    givens = { [x] = all_x[rows], [y] = all_y[rows] },
  })
  print(string.format("%s: compiled in %.1f ms", model.name, (os.clock() - start) * 1e3))

  local losses = {}
  local bar = progress.new(epochs, model.name)
  local count = math.floor(#train_y / batch)
  for epoch = 1, epochs do
    local order = damo.random.permutation(#train_y)
    local total = 0
    for k = 1, count do
      total = total + step(order[{ { (k - 1) * batch + 1, k * batch } }])
    end
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
local logistic_losses = train(logistic, function(loss, params) return sgd(loss, params, 0.1, 0.9) end, 40)
print(string.format("%s: test accuracy %.4f", logistic.name, accuracy(logistic)))

local net = network()
local net_losses = train(net, function(loss, params) return adam(loss, params, 0.003) end, 40)
local reached = accuracy(net)
print(string.format("%s: test accuracy %.4f", net.name, reached))

-- ---- Parameters: saved and loaded, they give the same predictions -------------------------------------------------

local path = results .. "/digits.npz"
local values = {}
for _, p in ipairs(net.params) do values[p.name] = p:get_value() end
damo.io.save(path, values)

local again = network()
local loaded = damo.io.load(path)
for i, p in ipairs(again.params) do p:set_value(loaded[net.params[i].name]) end
assert(accuracy(again) == reached, "the loaded parameters give another answer")
print("parameters: saved to " .. path .. ", loaded, the same accuracy")

-- ---- The loss curve -----------------------------------------------------------------------------------------------

local picture = damo.plot.lines({
  { name = logistic.name, y = logistic_losses },
  { name = net.name, y = net_losses },
}, { title = "digits: training loss", xlabel = "epoch", ylabel = "loss", logy = true, path = results .. "/digits.png" })
print("loss curve: " .. picture)

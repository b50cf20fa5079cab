-- networks.lua: times steps of training and products of small matrices against networks_floor.c, in turn.
--
--     lua5.4 bench/networks.lua [json] [serve] [WORD…]   as against.lua says; networks_peers.py asks it

local damo = require "damo"
local unpack = table.unpack or unpack -- luacheck: ignore
local against = dofile((arg[0]:match("^(.*)/") or ".") .. "/against.lua")

local case = against.case
damo.random.seed(3)

local RATE = 1e-12 -- so small that the loss stays the same over any number of steps

local function normal(scale, ...) return damo.random.normal(0, scale, { size = { ... } }) end

--- A step of gradient descent as a Function of x and y. The loop has copies of the parameters, which it changes.
local function step(name, title, target, x, y, params, loss, data, n, rtol)
  local operands = { data[1], damo.cast(data[2], x.dtype) }
  for i, p in ipairs(params) do operands[2 + i] = damo.array(p:get_value()) end
  return case { name = name, title = title, target = target, args = data, loop = name, operands = operands, n = n,
    size = 1, rtol = rtol,
    call = damo.compile({ x, y }, loss, {
      updates = damo.optim.sgd(params, damo.grad(loss, params), { lr = RATE }),
    }) }
end

local function mlp(dtype, target, rtol)
  local n, inputs, hidden, classes = 64, 784, 500, 10
  local function shared(value, name) return damo.shared(damo.cast(value, dtype), name) end
  local w1, b1 = shared(normal(0.05, inputs, hidden), "w1"), shared(damo.zeros(hidden), "b1")
  local w2, b2 = shared(normal(0.05, hidden, classes), "w2"), shared(damo.zeros(classes), "b2")
  local x, y = damo.matrix("x", { dtype = dtype }), damo.lvector "y"
  local scores = damo.dot(damo.tanh(damo.dot(x, w1) + b1), w2) + b2
  local picked = damo.one_hot(y, classes, { dtype = dtype }) * damo.log_softmax(scores, { axis = 2 })
  local loss = -damo.mean(damo.sum(picked, { axis = 2 }))
  local labels = damo.zeros({ n }, "int64")
  for i = 1, n do labels[i] = i * 7 % classes + 1 end
  local bits = dtype == "float64" and "f64" or "f32"
  return step("mlp_" .. bits, ("MLP step, 64 x 784-500-10, %s"):format(dtype), target, x, y, { w1, b1, w2, b2 }, loss,
    { damo.cast(normal(1, n, inputs), dtype), labels }, n, rtol)
end

local function training()
  local n, inputs = 400, 784
  local x, y = damo.dmatrix "x", damo.dvector "y"
  local w, b = damo.shared(normal(0.05, inputs), "w"), damo.shared(0.0, "b")
  local p = damo.sigmoid(damo.dot(x, w) + b)
  local entropy = -y * damo.log(p) - (1 - y) * damo.log(1 - p)
  local loss = damo.mean(entropy) + 0.01 * damo.sum(damo.sqr(w))
  local labels = damo.cast(damo.gt(normal(1, n), 0), "float64")
  return {
    step("logistic", "logistic regression step, 400 x 784", 1.15, x, y, { w, b }, loss,
      { normal(1, n, inputs), labels }, n),
    mlp("float64", 1.1),
    mlp("float32", 1.1, 1e-5),
  }
end

local function products()
  local times, side = 20, 8
  local z, a = damo.dmatrix "z", damo.dmatrix "a"
  local last = z
  for _ = 1, times do last = damo.tanh(damo.dot(last, a)) end
  local sum = damo.sum(last)
  local args = { normal(1, side, side), normal(0.4, side, side) }
  return {
    case { name = "products", title = "20 times z = tanh(z A), 8 x 8", call = damo.compile({ z, a }, sum),
      args = args, loop = "products", operands = args, n = times, size = 1 },
    case { name = "products_gradient", title = "20 times z = tanh(z A) with gradient in both",
      call = damo.compile({ z, a }, { sum, unpack(damo.grad(sum, { z, a })) }), args = args,
      loop = "products_gradient", operands = args, n = times, size = 1 + 2 * side * side },
  }
end

local function convolutions()
  local function single(...) return damo.cast(normal(1, ...), "float32") end
  local function variable(name) return damo.tensor(name, { dtype = "float32", ndim = 4 }) end
  local x, w, g = variable "x", variable "w", variable "g"
  local y = damo.nn.conv2d(x, w, { filter_flip = false })
  local args = { single(32, 16, 28, 28), single(32, 16, 3, 3), single(32, 32, 26, 26) }
  return {
    case { name = "conv2d", title = "conv2d 32 x 16 x 28 x 28, 32 filters 3 x 3, float32",
      call = damo.compile({ x, w }, y), args = { args[1], args[2] }, size = 32 * 32 * 26 * 26 },
    case { name = "conv2d_gradients", title = "gradients of conv2d in both operands",
      call = damo.compile({ x, w, g }, damo.grad(nil, { x, w }, { known_grads = { [y] = g } })), args = args },
  }
end

against.report("networks", "networks_floor", { training, products, convolutions })

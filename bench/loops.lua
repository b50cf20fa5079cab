-- loops.lua: times loops over time against the loops of loops_floor.c, in turn.
--
--     lua5.4 bench/loops.lua [json] [serve] [WORD…]   as against.lua says; loops_peers.py asks it

local damo = require "damo"
local unpack = table.unpack or unpack -- luacheck: ignore
local against = dofile((arg[0]:match("^(.*)/") or ".") .. "/against.lua")

local case = against.case
damo.random.seed(3)

local function normal(scale, ...) return damo.random.normal(0, scale, { size = { ... } }) end

local function scalars()
  local steps, dt = 10000, 0.001
  local sigma, rho, beta = damo.dscalar "sigma", damo.dscalar "rho", damo.dscalar "beta"
  local xs, ys, zs = damo.scan(function(x, y, z)
    return x + dt * (sigma * (y - x)), y + dt * (x * (rho - z) - y), z + dt * (x * y - beta * z)
  end, { outputs_info = { 1.0, 1.0, 1.0 }, n_steps = steps })
  local parameters = { sigma, rho, beta }
  local operands = { damo.array { 10, 28, 8 / 3, dt }, damo.ones(3) }
  local a = damo.dscalar "a"
  local root = damo.while_loop(function(x) return damo.gt(damo.abs(x * x - a), 1e-12) end,
    function(x) return (x + a / x) / 2 end, a)
  return {
    case { name = "lorenz", title = "Lorenz, 1e4 Euler steps", target = 1.05,
      call = damo.compile(parameters, { xs[-1], ys[-1], zs[-1] }), args = { 10.0, 28.0, 8 / 3 },
      loop = "lorenz", operands = operands, n = steps, size = 3 },
    case { name = "lorenz_gradient", title = "Lorenz with gradient in three parameters", target = 1.3,
      call = damo.compile(parameters, { xs[-1], unpack(damo.grad(xs[-1], parameters)) }),
      args = { 10.0, 28.0, 8 / 3 }, loop = "lorenz_gradient", operands = operands, n = steps, size = 4 },
    case { name = "newton", title = "Newton's square root by while_loop", most = 150e-9,
      call = damo.compile({ a }, root), args = { 2.0 }, loop = "newton", operands = { damo.array { 2 } }, n = 1,
      size = 1 },
  }
end

local function networks()
  local steps, units = 100, 64
  local x, h0, w, u = damo.dmatrix "x", damo.dvector "h0", damo.dmatrix "w", damo.dmatrix "u"
  local h = damo.scan(function(x_t, h_t) return damo.tanh(damo.dot(h_t, w) + damo.dot(x_t, u)) end,
    { sequences = x, outputs_info = h0 })
  local cost = damo.sum(damo.sqr(h[-1]))
  local inputs = { x, h0, w, u }
  local args = { normal(0.1, steps, units), normal(0.1, units), normal(0.1, units, units), normal(0.1, units, units) }
  return {
    case { name = "rnn", title = "RNN, 100 steps of 64 units", target = 1.2, call = damo.compile(inputs, cost),
      args = args, loop = "rnn", operands = args, n = steps, size = 1 },
    case { name = "rnn_gradient", title = "RNN with gradient in both weights", target = 1.3,
      call = damo.compile(inputs, { cost, unpack(damo.grad(cost, { w, u })) }), args = args,
      loop = "rnn_gradient", operands = args, n = steps, size = 1 + 2 * units * units },
  }
end

-- ---- Gated networks: 200 steps, batches of 32, 128 units; the gradient in both weights ------------------------------

local function part(gates, i) return gates[{ {}, { (i - 1) * 128 + 1, i * 128 } }] end

local function gru(x, h, w, u)
  local from_x, from_h = damo.dot(x, w), damo.dot(h, u)
  local update = damo.sigmoid(part(from_x, 1) + part(from_h, 1))
  local reset = damo.sigmoid(part(from_x, 2) + part(from_h, 2))
  local candidate = damo.tanh(part(from_x, 3) + reset * part(from_h, 3))
  return { update * h + (1 - update) * candidate }
end

local function lstm(x, h, c, w, u)
  local gates = damo.dot(x, w) + damo.dot(h, u)
  local cell = damo.sigmoid(part(gates, 1)) * c + damo.sigmoid(part(gates, 2)) * damo.tanh(part(gates, 3))
  return { damo.sigmoid(part(gates, 4)) * damo.tanh(cell), cell }
end

local function gated()
  local steps, batch, units = 200, 32, 128
  local function one(name, cell, gates, states)
    local x, w, u = damo.dtensor3 "x", damo.dmatrix "w", damo.dmatrix "u"
    local initial = {}
    for i = 1, states do initial[i] = damo.zeros { batch, units } end
    local h = damo.scan(cell, { sequences = x, outputs_info = initial, non_sequences = { w, u } })
    local cost = damo.sum(damo.sqr(h[-1]))
    return case { name = name, title = name .. ", 200 steps of 32 x 128, gradient",
      call = damo.compile({ x, w, u }, { cost, unpack(damo.grad(cost, { w, u })) }),
      args = {
        normal(0.1, steps, batch, units), normal(0.1, units, gates * units), normal(0.1, units, gates * units),
      } }
  end
  return { one("gru", gru, 3, 1), one("lstm", lstm, 4, 2) }
end

local function linear()
  local steps, n, dt = 10000, 10, 0.001
  local a, start = damo.dmatrix "a", damo.dvector "start"
  local args = { normal(1, n, n), normal(1, n) }
  local function final(checkpoint)
    local x = damo.scan(function(x)
      local k1 = damo.dot(a, x)
      local k2 = damo.dot(a, x + dt / 2 * k1)
      local k3 = damo.dot(a, x + dt / 2 * k2)
      local k4 = damo.dot(a, x + dt * k3)
      return x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    end, { outputs_info = start, n_steps = steps, checkpoint = checkpoint })
    return damo.sum(x[-1])
  end
  local function gradient(checkpoint)
    local sum = final(checkpoint)
    return damo.compile({ a, start }, { sum, damo.grad(sum, a) })
  end
  return {
    case { name = "runge_kutta", title = "RK4 of 10 linear equations, 1e4 steps",
      call = damo.compile({ a, start }, final "all"), args = args, loop = "runge_kutta",
      operands = { args[1], args[2], damo.array { dt } }, n = steps, size = 1 },
    case { name = "runge_kutta_gradient", title = "RK4 with gradient, all states kept", call = gradient "all",
      args = args },
    case { name = "runge_kutta_log", title = "RK4 with gradient by log checkpoints", target = 2.2,
      beside = "runge_kutta_gradient", call = gradient "log", args = args },
  }
end

--- A scan of 50 nodes a step, built, differentiated and compiled; the number makes each another graph.
local function compiling()
  local number = 0
  return { case { name = "compile", title = "build, differentiate, compile a scan of 50 nodes", most = 5e-3, args = {},
    call = function()
      number = number + 1
      local x, w = damo.dvector "x", damo.dvector "w"
      local h = damo.scan(function(h)
        for i = 1, 17 do h = damo.tanh(h * w + (i + number)) end
        return h
      end, { outputs_info = x, n_steps = 10 })
      local cost = damo.sum(h[-1])
      return damo.compile({ x, w }, { cost, damo.grad(cost, w) })
    end } }
end

--- A program of n statements on numbers, each of two of the last 20 values, with its gradient: built, differentiated,
--- compiled and called once. Constants make each another graph.
local function statements()
  local makers = {
    function(a, b) return a * b end, function(a, b) return a + b end, function(_, b) return damo.sin(b) end,
    function(a, b) return a - b end, function(a) return damo.tanh(a) end, function(a, b) return a * b + 0.5 end,
  }
  local number = 0
  local function run(n)
    local seed = 12345
    local function below(m)
      seed = seed * 16807 % 2147483647
      return seed % m
    end
    number = number + 1
    local x, y = damo.dscalar "x", damo.dscalar "y"
    local v = { x * number, y }
    for i = 3, n + 2 do
      v[i] = makers[below(#makers) + 1](v[math.max(1, i - 1 - below(20))], v[i - 1])
    end
    local f = damo.compile({ x, y }, { v[n + 2], damo.grad(v[n + 2], { x, y }) })
    return f(0.3, 0.4)
  end
  local cases = {}
  for i, most in ipairs { false, 1 } do
    local n = ({ 10000, 30000 })[i]
    cases[i] = case { name = "statements_" .. n, title = n .. " statements with gradient, to a first result",
      most = most or nil, args = { n }, call = run }
  end
  return cases
end

against.report("loops", "loops_floor", { scalars, networks, gated, linear, compiling, statements })

-- cases.lua: damo's benchmark cases. Each case makes a function that runs the work `n` times and returns seconds.
--
-- As a program it serves bench/peers.py: it answers a line "name n" on standard input by the seconds of n runs.

local damo = require "damo"

local cases = {}

local clock = os.clock

--- A call of f(x) = x*x + 1 with a Lua number in and out.
function cases.call()
  local x = damo.dscalar("x")
  local f = damo.compile({ x }, x * x + 1)
  return function(n)
    local start = clock()
    for _ = 1, n do f(3.0) end
    return clock() - start
  end
end

--- The overhead of a native Op in a running Function: a chain of 102 Ops over one number, less a chain of 2. The
--- kernel's own work (a sign, a rounding) is included.
function cases.native_op()
  local function chain(n)
    local x = damo.dscalar("x")
    local y = x
    for _ = 1, n / 2 do y = -damo.floor(y) end
    return damo.compile({ x }, y, { mode = damo.Mode { optimizer = "none" } })
  end
  local long, short = chain(102), chain(2)
  return function(n)
    local start = clock()
    for _ = 1, n do long(3.0) end
    local middle = clock()
    for _ = 1, n do short(3.0) end
    return ((middle - start) - (clock() - middle)) / 100
  end
end

--- The overhead of an Op written in Lua: a Function with it, less the same Function with a native Op in its place, less
--- a bare call of its perform.
function cases.lua_op()
  local limit = 10
  local Clip = damo.Op {
    name = "Clip",
    props = { "low" },
    make_node = function(self, x) return damo.Apply(self, { x }, { x.type() }) end,
    perform = function(self, _, inputs, output_storage)
      local x, low = inputs[1], self.low
      local y = low
      if low < limit then y = low + 1 end
      if x == nil then y = low end
      output_storage[1][1] = y
    end,
  }
  local x = damo.dscalar("x")
  local op = Clip { low = 1.5 }
  local with, native = damo.compile({ x }, op(x)), damo.compile({ x }, damo.exp(x))
  local perform, inputs, storage = op.perform, { damo.array(1.0) }, { { nil } }
  return function(n)
    local start = clock()
    for _ = 1, n do with(3.0) end
    local middle = clock()
    for _ = 1, n do native(3.0) end
    local last = clock()
    for _ = 1, n do perform(op, nil, inputs, storage, nil) end
    return (middle - start) - (last - middle) - (clock() - last)
  end
end

--- The digits network: 64 pixels, 64 rectified units, 10 classes, cross-entropy, plain gradient steps.
local function network(batch)
  local x, y = damo.dmatrix("x"), damo.lvector("y")
  local rs = damo.random.RandomStream(7)
  local function weights(m, n, name)
    return damo.shared(rs:normal(0, 0.1, { size = { m, n } }):eval(), name)
  end
  local w1, b1 = weights(64, 64, "w1"), damo.shared(damo.zeros { 64 }, "b1")
  local w2, b2 = weights(64, 10, "w2"), damo.shared(damo.zeros { 10 }, "b2")
  local hidden = damo.maximum(damo.dot(x, w1) + b1, 0)
  local logits = damo.dot(hidden, w2) + b2
  local chosen = damo.one_hot(y, 10) * damo.log_softmax(logits, { axis = 2 })
  local loss = -damo.mean(damo.sum(chosen, { axis = 2 }))
  local params = { w1, b1, w2, b2 }
  local grads = damo.grad(loss, params)
  local updates = {}
  for i, p in ipairs(params) do updates[i] = { p, p - 0.1 * grads[i] } end
  local step = damo.compile({ x, y }, loss, { updates = updates })
  local xs = rs:uniform(0, 1, { size = { batch, 64 } }):eval()
  local ys = damo.zeros({ batch }, "int64")
  for i = 1, batch do ys[i] = i % 10 + 1 end
  return step, xs, ys
end

-- Builds, differentiates, compiles and calls the digits network n times; remembers graphs in that many bytes.
local function compile_within(memo_cap)
  return function(n)
    local before = damo.config.memo_cap
    damo.config.memo_cap = memo_cap
    local start = clock()
    for _ = 1, n do
      local step, xs, ys = network(64)
      step(xs, ys)
    end
    damo.config.memo_cap = before
    return clock() - start
  end
end

--- Building, differentiating and compiling the digits network, its first call included.
function cases.compile() return compile_within(0) end

--- The same where an equal graph was compiled before.
function cases.compile_again()
  local run = compile_within(damo.config.memo_cap)
  run(1)
  return run
end

--- A training step of the digits network on a batch of 64.
function cases.step()
  local step, xs, ys = network(64)
  return function(n)
    local start = clock()
    for _ = 1, n do step(xs, ys) end
    return clock() - start
  end
end

--- A chain of elementwise operations on a million entries.
function cases.elemwise()
  local x = damo.dvector("x")
  local f = damo.compile({ x }, damo.exp(-x * x) * damo.tanh(x) + 1)
  local xs = damo.linspace(-2, 2, 1000000)
  return function(n)
    local start = clock()
    for _ = 1, n do f(xs) end
    return clock() - start
  end
end

--- Building and compiling a chain of n multiplications: microseconds a node show whether compiling is linear.
function cases.chain()
  return function(n)
    local start = clock()
    local x = damo.dscalar("x")
    local y = x
    for _ = 1, n do y = y * x end
    damo.compile({ x }, damo.grad(y, x))
    return clock() - start
  end
end

if arg and arg[0] and arg[0]:match("cases%.lua$") then
  io.stdout:setvbuf "line"
  local made = {}
  for line in io.lines() do
    local name, n = line:match("^(%S+)%s+(%d+)$")
    made[name] = made[name] or cases[name]()
    print(string.format("%.9g", made[name](tonumber(n))))
  end
end

return cases

-- Data-parallel training: the same as one process on the whole batch. These specs run on every rank.
local damo = require "damo"
local mpi = require "damo.mpi"

-- A network with two layers; its parameters are the same on every rank for the same seed.
local function network(seed, dtype)
  damo.random.seed(seed)
  local function draw(shape) return damo.cast(damo.random.normal(0, 1, { size = shape }), dtype) end
  local x, t = damo.TensorType(dtype, { ndim = 2 }) "x", damo.TensorType(dtype, { ndim = 2 }) "t"
  local p = {}
  for i, shape in ipairs { { 5, 4 }, { 4 }, { 4, 3 }, { 3 } } do p[i] = damo.shared(draw(shape), "p" .. i) end
  local y = damo.dot(damo.tanh(damo.dot(x, p[1]) + p[2]), p[3]) + p[4]
  return { x = x, t = t, p = p, cost = damo.mean(damo.sqr(y - t)), X = draw { 10, 5 }, T = draw { 10, 3 } }
end

-- The largest difference between parameters of two networks.
local function distance(a, b)
  local most = 0
  for i, p in ipairs(a.p) do
    most = math.max(most, damo.max(damo.abs(p:get_value() - b.p[i]:get_value())))
  end
  return most
end

-- Trains on the first n examples, distributed and alone; gives both networks, and the largest difference of costs.
local function train(n, optimizer, options, dtype, own, mode)
  local a, b = network(1, dtype), network(1, dtype)
  own = own or {}
  own.count = own.count or a.x.shape[1]
  local shared = mpi.distribute(optimizer, own)
  local updates = shared(a.p, damo.grad(a.cost, a.p), options)
  local f = damo.compile({ a.x, a.t }, mpi.average(a.cost, { count = own.count }), { updates = updates, mode = mode })
  local g = damo.compile({ b.x, b.t }, b.cost, { updates = optimizer(b.p, damo.grad(b.cost, b.p), options) })
  local first, last = mpi.range(n)
  local most = 0
  for _ = 1, 20 do
    local mine = f(a.X[{ { first, last } }], a.T[{ { first, last } }])
    most = math.max(most, math.abs(mine - g(b.X[{ { 1, n } }], b.T[{ { 1, n } }])))
  end
  return a, b, most, f
end

describe("mpi.distribute", function()
  for _, name in ipairs { "sgd", "momentum", "rmsprop", "adam" } do
    for _, n in ipairs { 10, 3, 1 } do
      it(("%s: %d examples"):format(name, n), function()
        local a, b, costs = train(n, damo.optim[name], { lr = 0.01 }, "float64")
        assert.is_true(distance(a, b) < 1e-12, "parameters differ by " .. distance(a, b))
        assert.is_true(costs < 1e-12)
      end)
    end
  end

  it("in single precision", function()
    local a, b, costs = train(7, damo.optim.momentum, { lr = 0.01 }, "float32")
    assert.are.equal("float32", a.p[1].dtype)
    assert.is_true(distance(a, b) < 2e-6, "parameters differ by " .. distance(a, b))
    assert.is_true(costs < 1e-6)
  end)

  it("with a bucket for each parameter, or one for all", function()
    for _, bytes in ipairs { 1, 100, 1e9 } do
      local a, b = train(10, damo.optim.adam, { lr = 0.05 }, "float64", { bucket = bytes })
      assert.is_true(distance(a, b) < 1e-11)
    end
  end)

  it("in the mode DEBUG", function()
    local a, b = train(4, damo.optim.sgd, { lr = 0.1 }, "float64", { bucket = 1 }, "DEBUG")
    assert.is_true(distance(a, b) < 1e-12)
  end)

  it("leaves all ranks with the same bits", function()
    local a = train(7, damo.optim.adam, { lr = 0.01 }, "float64")
    for _, p in ipairs(a.p) do
      local mine = p:get_value()
      assert.is_true(damo.array_equal(mine, mpi.bcast(mine)))
    end
  end)

  it("gives every rank the parameters of rank 0", function()
    local a = network(1 + mpi.rank, "float64")
    local zero = network(1, "float64")
    mpi.distribute(damo.optim.sgd)(a.p, damo.grad(a.cost, a.p))
    assert.are.equal(0, distance(a, zero))
  end)

  it("begins its sums while the backward pass goes on, and waits at the end", function()
    if mpi.size == 1 then return end
    local a = network(1, "float64")
    local f = damo.compile({ a.x, a.t }, a.cost, { profile = true,
      updates = mpi.distribute(damo.optim.sgd, { bucket = 1 })(a.p, damo.grad(a.cost, a.p)) })
    local first, last = mpi.range(10)
    f(a.X[{ { first, last } }], a.T[{ { first, last } }])
    local kinds, dots, begun = {}, 0, false
    for _, node in ipairs(f.profile.nodes) do
      if node.op:find "^MpiBucket" then
        kinds[#kinds + 1] = node.op:match "^MpiBucket(%u)"
        begun = true
      elseif begun and node.op:find "Dot" then
        dots = dots + 1
      end
    end
    assert.are.equal("SSSSWWWW", table.concat(kinds))
    assert.is_true(dots >= 1, "no product of the backward pass comes after the first start")
  end)

  it("goes on after a call that failed between start and wait", function()
    local fails = false
    local stumble = damo.Op {
      name = "Stumble", itypes = { damo.dvector().type }, otypes = { damo.dvector().type },
      perform = function(_, _, inputs, out)
        if fails then error "stumbled" end
        out[1][1] = inputs[1]:copy()
      end,
      grad = function(_, _, gradients) return { gradients[1] } end,
    }
    local w = damo.shared(damo.ones { 3 }, "w")
    local v = damo.shared(damo.ones { 2 }, "v")
    local x = damo.dvector "x"
    local cost = damo.sum(v) * damo.sum(w * x)
    local own = mpi.distribute(damo.optim.sgd, { bucket = 1 })
    local updates = own({ w, v }, damo.grad(cost, { w, v }), { lr = 1 })
    for _, pair in ipairs(updates) do
      if pair[1] == w then pair[2] = stumble(pair[2]) end
    end
    local f = damo.compile({ x }, {}, { updates = updates })
    fails = true
    assert.has_error(function() f { 1, 1, 1 } end)
    fails = false
    f { 1, 2, mpi.rank }
    local mean = (mpi.size - 1) / 2
    assert.is_true(damo.allclose(w:get_value(), damo.array { -1, -3, 1 - 2 * mean }))
    assert.is_true(damo.allclose(v:get_value(), damo.array { -2 - mean, -2 - mean }))
  end)

  it("takes parameters by name, and a single one", function()
    local a = network(1, "float64")
    local named = { w1 = a.p[1], b1 = a.p[2], w2 = a.p[3], b2 = a.p[4] }
    local f = damo.compile({ a.x, a.t }, a.cost, {
      updates = mpi.distribute(damo.optim.sgd)(named, damo.grad(a.cost, named), { lr = 0.1 }),
    })
    f(a.X, a.T) -- each rank has the whole batch, so the average is that of one
    local b = network(1, "float64")
    local updates = damo.optim.sgd(b.p, damo.grad(b.cost, b.p), { lr = 0.1 })
    damo.compile({ b.x, b.t }, b.cost, { updates = updates })(b.X, b.T)
    assert.is_true(distance(a, b) < 1e-14)
    for _, value in ipairs { damo.array { 1, 2 }, damo.array(3.0) } do
      local w = damo.shared(value, "w")
      damo.compile({}, {}, { updates = mpi.distribute(damo.optim.sgd)(w, damo.grad(damo.sum(w * w), w), { lr = 1 }) })()
      assert.is_true(damo.array_equal(-value, w:get_value()))
    end
  end)

  it("refuses what is no optimiser, count or gradient", function()
    local w = damo.shared(damo.array { 1, 2 }, "w")
    for _, case in ipairs {
      { "type", function() mpi.distribute(3) end },
      { "value", function() mpi.distribute(damo.optim.sgd, { counts = 1 }) end },
      { "type", function() mpi.distribute(damo.optim.sgd, { count = damo.dvector "x" }) end },
      { "value", function() mpi.distribute(damo.optim.sgd, { bucket = 0 }) end },
      { "type", function() mpi.distribute(damo.optim.sgd)({ w }, { 3 }) end },
      { "value", function() mpi.distribute(damo.optim.sgd)({ w }, {}) end },
    } do
      local ok, err = pcall(case[2])
      assert.is_false(ok)
      assert.are.equal(case[1], err.kind, tostring(err))
    end
  end)

  it("raises an error on every rank where parameters differ in shape", function()
    if mpi.size == 1 then return end
    local w = damo.shared(damo.zeros { mpi.rank == 1 and 3 or 2 }, "w")
    local ok, err = pcall(mpi.distribute(damo.optim.sgd), { w }, { damo.grad(damo.sum(w * w), w) })
    assert.is_false(ok)
    assert.are.equal("shape", err.kind)
  end)
end)

describe("mpi.average", function()
  it("of numbers, Arrays and Variables", function()
    local mean = (mpi.size - 1) / 2
    assert.are.equal(mean, mpi.average(mpi.rank))
    assert.is_true(damo.array_equal(damo.array { mean, 7 }, mpi.average(damo.array { mpi.rank, 7 })))
    local x = damo.dmatrix "x"
    local f = damo.compile({ x }, mpi.average(x * 2))
    assert.is_true(damo.allclose(damo.full({ 2, 3 }, 2 * mean), f(damo.full({ 2, 3 }, mpi.rank))))
  end)

  it("by counts, of which some are 0", function()
    local n = mpi.size
    local mean = 0
    for r = 1, n - 1 do mean = mean + r * r end
    mean = n > 1 and mean / (n * (n - 1) / 2)
    if n == 1 then return end
    local mine = mpi.rank == 0 and 0 / 0 or mpi.rank
    assert.is_true(math.abs(mean - mpi.average(mine, { count = mpi.rank })) < 1e-14)
    local c = damo.lscalar "c"
    local x = damo.dscalar "x"
    local f = damo.compile({ x, c }, mpi.average(x, { count = c }))
    assert.is_true(math.abs(mean - f(mine, mpi.rank)) < 1e-14)
    local by_number = mpi.average(x, { count = mpi.rank }) -- a graph of the same nodes, and a gradient, on each rank
    local slope = damo.compile({ x }, { by_number, damo.grad(by_number, x) })
    local value, s = slope(mine)
    assert.is_true(math.abs(mean - value) < 1e-14)
    assert.is_true(math.abs(s - n * mpi.rank / (n * (n - 1) / 2)) < 1e-14)
  end)
end)

describe("mpi.random_stream", function()
  it("is each rank's own, and the same for any number of ranks", function()
    local mine = mpi.random_stream(5):normal(0, 1, { size = { 4 } }):eval()
    local all = mpi.allgather(mine:reshape { 1, 4 })
    for i = 1, mpi.size do
      for k = 1, i - 1 do assert.is_false(damo.array_equal(all[i], all[k])) end
    end
    -- Rank 0's, and that of rank 1, as they were drawn by two ranks.
    local one = damo.random.RandomStream(5):normal(0, 1, { size = { 4 } }):eval()
    assert.is_true(damo.array_equal(one, all[1]))
    local two = damo.random.RandomStream(5 + 2971):normal(0, 1, { size = { 4 } }):eval()
    if mpi.size > 1 then assert.is_true(damo.array_equal(two, all[2])) end
    local again = mpi.random_stream(5):normal(0, 1, { size = { 4 } }):eval()
    assert.is_true(damo.array_equal(mine, again))
  end)

  it("wants an integer", function()
    for _, seed in ipairs { 1.5, "x", 0 / 0 } do
      local ok, err = pcall(mpi.random_stream, seed)
      assert.is_false(ok)
      assert.are.equal("type", err.kind)
    end
  end)
end)

describe("rank 0 alone", function()
  it("prints", function()
    local old, lines = print, {}
    _G.print = function(...) lines[#lines + 1] = table.concat({ ... }, " ") end -- luacheck: ignore
    mpi.print("a", "b")
    _G.print = old -- luacheck: ignore
    assert.are.same(mpi.rank == 0 and { "a b" } or {}, lines)
  end)

  it("shows progress", function()
    local text = {}
    local out = { write = function(_, s) text[#text + 1] = s end }
    local sum = 0
    for i in mpi.progress(4, { out = out, terminal = false, title = "loop" }) do sum = sum + i end
    local bar = mpi.progress.new(2, "bar", { out = out, terminal = false })
    bar:step(1)
    bar:step(2)
    bar:finish()
    assert.are.equal(10, sum)
    assert.are.equal(mpi.rank == 0, #text > 0)
  end)
end)

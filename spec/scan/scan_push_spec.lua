-- Work that leaves a loop: before it, what is the same in every step and what follows from the sequences; after it,
-- sums of products and products with a matrix. Values and gradients are those of the loop that keeps its work.
local damo = require "damo"

local A = damo.array
local unpack = table.unpack

local function count(f, name)
  local n = 0
  for _, node in ipairs(f.fgraph.apply_nodes) do
    if tostring(node.op):find("^" .. name) then n = n + 1 end
  end
  return n
end

-- The nodes of the step of the only Scan of a Function; nil: there is none.
local function step_of(f)
  local step
  for _, node in ipairs(f.fgraph.apply_nodes) do
    if tostring(node.op):find "^Scan" then
      assert.is_nil(step)
      step = {}
      for _, inner in ipairs(node.op.fgraph.apply_nodes) do
        local name = tostring(inner.op):match "^%w+"
        step[name] = (step[name] or 0) + 1
      end
    end
  end
  return step
end

local kept = damo.Mode { exclude = { "scan_push" } }

local function filled(...)
  local shape, n = { ... }, 1
  for _, d in ipairs(shape) do n = n * d end
  local list = {}
  for i = 1, n do list[i] = math.sin(i * 1.7 + n) * 0.6 end
  return A(list):reshape(shape)
end

local function close(want, got, tolerance)
  if type(want) == "number" then want, got = A(want), A(got) end
  assert.same(want.shape, got.shape)
  local off = damo.max(damo.abs(want - got) / (1 + damo.abs(want)))
  if want.size > 0 then assert.is_true(tonumber(tostring(off)) <= (tolerance or 1e-12), tostring(off)) end
end

-- Both ways give the same values; returns the Function with the rule.
local function agree(inputs, outputs, ...)
  local with = damo.compile(inputs, outputs, { on_unused_input = "ignore" })
  local without = damo.compile(inputs, outputs, { mode = kept, on_unused_input = "ignore" })
  local a, b = { with(...) }, { without(...) }
  for i = 1, #b do close(b[i], a[i]) end
  return with
end

describe("before a loop", function()
  local x, h0, w, u = damo.dmatrix "x", damo.dvector "h0", damo.dmatrix "w", damo.dmatrix "u"
  local values = { filled(5, 3), filled(4), filled(4, 4), filled(3, 4) }

  it("a product of a sequence with a matrix is one product", function()
    local h = damo.scan(function(v, h) return damo.tanh(damo.dot(h, w) + damo.dot(v, u)) end,
      { sequences = x, outputs_info = h0 })
    local f = agree({ x, h0, w, u }, { h }, unpack(values))
    assert.equal(1, step_of(f).Dot)
    assert.same({ 0, 4 }, f(damo.zeros { 0, 3 }, values[2], values[3], values[4]).shape)
  end)

  it("rows of matrices are multiplied in one product too, on either side", function()
    local xs, p = damo.dtensor3 "xs", damo.dmatrix "p"
    local a, b = damo.scan(function(m, s) return s * 0.5 + damo.dot(m, u), s * 0.5 + damo.dot(p, m):sum() end,
      { sequences = xs, outputs_info = { damo.zeros { 2, 4 }, damo.zeros { 2, 4 } } })
    local f = agree({ xs, u, p }, { a, b }, filled(5, 2, 3), values[4], filled(6, 2))
    assert.is_nil(step_of(f).Dot)
    local c = damo.scan(function(m, v, s) return s * 0.5 + damo.dot(m, v) + damo.dot(v, m.T) * damo.dot(v, v) end,
      { sequences = { xs, x }, outputs_info = damo.zeros { 2 } })
    f = agree({ xs, x }, { c }, filled(5, 2, 3), values[1])
    assert.is_nil(step_of(f).Dot)
  end)

  it("what is the same in every step is computed once, and not where the loop does not run", function()
    local n = damo.lscalar "n"
    local function again(past) return damo.dot(damo.dot(w, w.T), past) * 0.1 end
    local h = damo.scan(again, { outputs_info = h0, n_steps = n })
    local f = agree({ h0, w, n }, { h }, values[2], values[3], 3)
    assert.equal(1, step_of(f).Dot)
    assert.equal(1, count(f, "IfElse"))
    local bad = filled(2, 3) -- no square: the product of a step fails
    assert.same({ 0, 4 }, f(values[2], bad, 0).shape)
    local ok, err = pcall(f, values[2], bad, 1)
    assert.is_false(ok)
    assert.equal("shape", err.kind)
    local _, y = damo.scan(function(past) return past * 0.5, damo.dot(w, u.T):sum(1) end,
      { outputs_info = { h0, false }, n_steps = n })
    f = agree({ h0, w, u, n }, { y }, values[2], values[3], values[4], 3)
    assert.same({ 0, 3 }, f(values[2], values[3], values[4], 0).shape)
    local fixed = damo.scan(again, { outputs_info = h0, n_steps = 3 })
    assert.equal(0, count(damo.compile({ h0, w }, fixed), "IfElse"))
  end)

  it("elementwise work that costs little is hoisted without a test, and a draw is not", function()
    local n, k = damo.lscalar "n", damo.dscalar "k"
    local h = damo.scan(function(h) return h * (damo.exp(k) + 1) end, { outputs_info = h0, n_steps = n })
    local f = agree({ h0, k, n }, { h }, values[2], 0.5, 3)
    assert.equal(0, count(f, "IfElse"))
    assert.is_nil(step_of(damo.compile({ h0, k, n }, h, { mode = damo.Mode { exclude = { "fusion" } } })).Exp)
    local stream = damo.random.RandomStream(3)
    local y = damo.scan(function() return stream:normal(0, 1) end, { n_steps = 4 })
    local draws = damo.compile({}, y)()
    assert.is_true(draws[1] ~= draws[2] and draws[2] ~= draws[3])
  end)

  it("a collected value of sequences alone needs no loop", function()
    local y = damo.map(function(v) return damo.exp(damo.dot(v, u)):sum() * v end, { sequences = x })
    local f = agree({ x, u }, { y }, values[1], values[4])
    assert.is_nil(step_of(f))
    local back = damo.scan(function(v) return v * 2 end, { sequences = x, go_backwards = true })
    assert.is_nil(step_of(agree({ x }, { back }, values[1])))
  end)

  it("a loop with until_ keeps what it would compute for steps that are not taken", function()
    local h = damo.scan(function(v, h) local s = h + damo.dot(v, u); return s, damo.until_(damo.gt(s[1], 0.5)) end,
      { sequences = x, outputs_info = h0 })
    local f = agree({ x, h0, u }, { h }, values[1], values[2], values[4])
    assert.equal(1, step_of(f).Dot)
  end)

  it("a sequence that is too short is refused as ever", function()
    local h = damo.scan(function(v, h) return h + damo.dot(v, u) end, { sequences = x, outputs_info = h0, n_steps = 9 })
    local texts = {}
    for i, mode in ipairs { "FAST_RUN", kept } do
      local ok, err = pcall(damo.compile({ x, h0, u }, h, { mode = mode }), values[1], values[2], values[4])
      assert.is_false(ok)
      texts[i] = err.message
    end
    assert.equal(texts[2], texts[1])
  end)

  it("the shortest of several sequences counts", function()
    local y = damo.dmatrix "y"
    local h = damo.scan(function(v, z, h) return h * 0.5 + damo.dot(v, u) + damo.dot(z, u) end,
      { sequences = { x, y }, outputs_info = h0 })
    local f = agree({ x, y, h0, u }, { h }, values[1], filled(3, 3), values[2], values[4])
    assert.is_nil(step_of(f).Dot)
  end)
end)

describe("after a loop", function()
  local x, h0, w, u, c = damo.dmatrix "x", damo.dvector "h0", damo.dmatrix "w", damo.dmatrix "u", damo.dvector "c"
  local values = { filled(5, 3), filled(4), filled(4, 4), filled(3, 4), filled(4) }
  local function rnn()
    return damo.scan(function(v, h) return damo.tanh(damo.dot(h, w) + damo.dot(v, u) + c) end,
      { sequences = x, outputs_info = h0 })
  end

  it("sums of outer products are one product", function()
    for _, of in ipairs { function(h) return (h ^ 2):sum() end, function(h) return damo.sin(h[-1]):sum() end } do
      local grads = damo.grad(of(rnn()), { x, h0, w, u, c })
      local f = agree({ x, h0, w, u, c }, grads, unpack(values))
      local steps = {}
      for _, node in ipairs(f.fgraph.apply_nodes) do
        if tostring(node.op):find "^Scan" then
          local dots = 0
          for _, inner in ipairs(node.op.fgraph.apply_nodes) do
            if tostring(inner.op):find "^Dot" then dots = dots + 1 end
          end
          steps[#steps + 1] = dots
        end
      end
      assert.same({ 1, 1 }, steps) -- h·w, and w·g of the reverse loop
    end
    local grads = damo.grad((rnn() ^ 2):sum(), { w, h0 })
    local none, start = damo.compile({ x, h0, w, u, c }, grads)(damo.zeros { 0, 3 }, unpack(values, 2))
    close(damo.zeros { 4, 4 }, none)
    close(damo.zeros { 4 }, start)
  end)

  it("minibatches add up over all rows of all steps", function()
    local xs, s0 = damo.dtensor3 "xs", damo.dmatrix "s0"
    local h = damo.scan(function(m, past)
      return damo.tanh(damo.dot(past, w) + damo.dot(m, u) + c) * damo.sigmoid(damo.dot(past, w))
    end, { sequences = xs, outputs_info = s0 })
    local grads = damo.grad((h ^ 2):sum(), { xs, s0, w, u, c })
    agree({ xs, s0, w, u, c }, grads, filled(5, 2, 3), filled(2, 4), unpack(values, 3))
  end)

  it("parts of a matrix that fn reads get their sums in place", function()
    local p = damo.dtensor3 "p"
    local h = damo.scan(function(v, h)
      local gates = p[2]
      return damo.tanh(h * gates[1] + v:sum() * gates[{ { 2, 3 }, 1 }]:sum() + gates[4] + damo.dot(h, p[1]))
    end, { sequences = x, outputs_info = h0 })
    local f = agree({ x, h0, p }, damo.grad((h ^ 2):sum(), { p, h0 }), values[1], values[2], filled(2, 4, 4))
    for _, node in ipairs(f.fgraph.apply_nodes) do
      for _, inner in ipairs(tostring(node.op):find "^Scan" and node.op.fgraph.apply_nodes or {}) do
        assert.is_nil(tostring(inner.op):find "Subtensor" or tostring(inner.op):find "Alloc")
      end
    end
  end)

  it("a collected product with a matrix is one product", function()
    local h, y = damo.scan(function(v, h) return damo.tanh(h + v:sum()), damo.dot(w, h) end,
      { sequences = x, outputs_info = { h0, false } })
    local f = agree({ x, h0, w }, { h, y }, unpack(values, 1, 3))
    assert.is_nil(step_of(f).Dot)
    local backwards = damo.scan(function(v, past) return damo.tanh(past + v:sum()), damo.dot(past, w) end,
      { sequences = x, outputs_info = { h0, false }, go_backwards = true })
    agree({ x, h0, w }, { backwards }, unpack(values, 1, 3))
  end)

  it("second derivatives agree, and DEBUG finds nothing", function()
    local g = damo.grad((rnn() ^ 2):sum(), { w, u })
    local second = damo.grad((g[1] ^ 2):sum() + damo.sin(g[2]):sum(), { x, h0, w, u, c })
    agree({ x, h0, w, u, c }, second, unpack(values))
    damo.compile({ x, h0, w, u, c }, { g[1], g[2] }, { mode = "DEBUG" })(unpack(values))
  end)
end)

describe("what a loop must keep", function()
  local x, w, v, h0, a = damo.dmatrix "x", damo.dmatrix "w", damo.dvector "v", damo.dvector "h0", damo.dscalar "a"

  it("is a collected value of which only the end is read", function()
    local known = damo.TensorType("float64", { 3, 2 }) "known"
    local last = damo.scan(function(q) return damo.tanh(q) end, { sequences = known })[-1]
    agree({ known }, { last }, filled(3, 2))
    agree({ x }, { damo.scan(function(q) return damo.tanh(q) end, { sequences = x })[{ { -2, -1 } }] }, filled(3, 2))
  end)

  it("is a sum that another one reads", function()
    local s, p = damo.reduce(function(q, h, m)
      local z = h + q
      return z, m + damo.outer(z, q)
    end, { sequences = x, outputs_info = { h0, w } })
    agree({ x, h0, w }, { s, p }, filled(3, 2), filled(2), filled(2, 2))
    local y = damo.scan(function(q, h) return h + damo.dot(q, w) end, { sequences = x, outputs_info = h0 })
    agree({ x, h0, w }, damo.grad((y ^ 2):sum(), { x, h0, w }), filled(3, 2), filled(2), filled(2, 2))
  end)

  it("is what may fail in a branch that is not taken", function()
    local y = damo.scan(function(s) return damo.ifelse(damo.lt(s, 0), v[7], s * 0.5) end,
      { outputs_info = a, n_steps = 3 })
    assert.same({ 0.5, 0.25, 0.125 }, damo.compile({ v, a }, y)(A { 1, 2 }, 1):totable())
  end)
end)

-- Steps of random products, sums and elementwise work over two sequences, states and matrices.
describe("random loops", function()
  local x, y, h0, s0 = damo.dmatrix "x", damo.dtensor3 "y", damo.dvector "h0", damo.dmatrix "s0"
  local w, u = damo.dmatrix "w", damo.dmatrix "u"
  local inputs, K = { x, y, h0, s0, w, u }, 3

  local function random_step(draw)
    local plan = {}
    for i = 1, 8 do plan[i] = { draw(7), draw(100), draw(100) } end
    local results = { draw(100), draw(100), draw(100), draw(100) }
    return function(v, m, h, s)
      local vectors, matrices = { v, h }, { m, s, w, u }
      local function pick(list, k) return list[k % #list + 1] end
      for _, p in ipairs(plan) do
        local a, b = pick(vectors, p[2]), pick(vectors, p[3])
        local c, d = pick(matrices, p[2]), pick(matrices, p[3])
        if p[1] == 1 then vectors[#vectors + 1] = damo.dot(a, c)
        elseif p[1] == 2 then vectors[#vectors + 1] = damo.dot(c, a)
        elseif p[1] == 3 then matrices[#matrices + 1] = damo.tanh(damo.dot(c, d))
        elseif p[1] == 4 then vectors[#vectors + 1] = damo.tanh(a + b)
        elseif p[1] == 5 then matrices[#matrices + 1] = c * 0.5 + a
        elseif p[1] == 6 then vectors[#vectors + 1] = damo.tanh(c:sum(1)) * damo.dot(a, b)
        else matrices[#matrices + 1] = damo.tanh(damo.outer(a, b)) + d end
      end
      return damo.tanh(pick(vectors, results[1])) + h * 0.3, damo.tanh(pick(matrices, results[2])) + s * 0.1,
        pick(vectors, results[3]), pick(matrices, results[4])
    end
  end

  for seed = 1, tonumber(os.getenv "DAMO_RANDOM_SCANS" or 40) do
    it("agree, number " .. seed, function()
      local state = seed * 7919
      local function draw(n)
        state = (state * 1103515245 + 12345) % 2147483648
        return math.floor(state / 65536) % n + 1
      end
      local r = damo.scan(random_step(draw), { sequences = { x, y }, outputs_info = { h0, s0, false, false },
        go_backwards = draw(2) == 1, return_list = true })
      local cost = 0
      for i = 1, 4 do
        local part = draw(3)
        if part == 1 then cost = cost + damo.sin(r[i]):sum() end
        if part == 2 then cost = cost + (r[i][-1] ^ 2):sum() end
      end
      if cost == 0 then cost = r[1]:sum() end
      local outputs = damo.grad(cost, inputs, { disconnected_inputs = "ignore" })
      for i = 1, 4 do outputs[#outputs + 1] = r[i] end
      local values = { filled(4, K), filled(4, K, K), filled(K), filled(K, K), filled(K, K), filled(K, K) }
      agree(inputs, outputs, unpack(values))
    end)
  end
end)

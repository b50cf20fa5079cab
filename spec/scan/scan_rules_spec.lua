-- What rewriting leaves out of scans, and that values stay.
local damo = require "damo"

local A = damo.array

-- The nodes of the Scans in a Function's graph.
local function loops(f)
  local list = {}
  for _, node in ipairs(f.fgraph.apply_nodes) do
    if tostring(node.op):find "^Scan" then list[#list + 1] = node end
  end
  return list
end

local function plain(f) return damo.compile(f[1], f[2], { mode = damo.Mode { exclude = { "scan" } } }) end

-- Work stays in the loop, so that there is one to look at.
local slim = damo.Mode { exclude = { "scan_push" } }

-- Both Functions give the same bits.
local function agree(graph, ...)
  local with, without = damo.compile(graph[1], graph[2], { mode = slim }), plain(graph)
  local a, b = { with(...) }, { without(...) }
  for i = 1, #b do
    if type(b[i]) == "number" then assert.equal(b[i], a[i]) else assert.same(b[i]:totable(), a[i]:totable()) end
  end
  return with, without
end

describe("a scan", function()
  local x, h0, w = damo.dvector "x", damo.dscalar "h0", damo.dscalar "w"
  local values = { A { 1, 2, 3 }, 0.5, 2 }

  it("does not compute what nothing reads", function()
    local h, y = damo.scan(function(x_t, h) return h * w + x_t, damo.exp(x_t) end,
      { sequences = x, outputs_info = { h0, false } })
    local with, without = agree({ { x, h0, w }, { h } }, table.unpack(values))
    assert.equal(1, #loops(with)[1].op.inner_outputs)
    assert.equal(2, #loops(without)[1].op.inner_outputs)
    local f = damo.compile({ x, h0, w }, { y }, { mode = slim })
    assert.equal(1, #loops(f)[1].op.inner_outputs) -- the state goes, which y does not depend on
    assert.same({ 0 }, f(A({}, "float64"), 1, 1).shape)
  end)

  it("keeps states that a result needs", function()
    local _, b = damo.scan(function(x_t, a, b) return a + x_t, b + a end, { sequences = x, outputs_info = { 0, 0 } })
    local f = agree({ { x }, { b } }, values[1])
    assert.equal(2, #loops(f)[1].op.inner_outputs)
  end)

  it("keeps the last rows alone, if no others are read, and an empty one has none", function()
    local h = damo.scan(function(x_t, h) return h * w + x_t end, { sequences = x, outputs_info = h0 })
    local last = { { x, h0, w }, { h[-1], h[{ { -2, -1 } }] } }
    local f = agree(last, table.unpack(values))
    local ok, err = pcall(f, A({}, "float64"), 1, 1)
    assert.is_false(ok)
    assert.equal("index", err.kind)
    local long = damo.zeros { 100000 }
    local profiled = damo.compile({ x, h0, w }, h[-1], { profile = true })
    profiled(long, 1, 1)
    assert.is_true(profiled.profile.peak < 8 * 100000)
    agree({ { x, h0, w }, { h[-1], h } }, table.unpack(values))
  end)

  it("takes an operand that is given twice once, and constants into the step", function()
    local y = damo.scan(function(a, b, c, d, k) return a * b + c * d + k end,
      { sequences = { x, x }, non_sequences = { w, w, 3.0 } })
    local f = agree({ { x, w }, { y } }, values[1], 2)
    assert.equal(2, #loops(f)[1].op.inner_inputs)
  end)

  it("is one node where it is built twice", function()
    local function loop()
      return damo.scan(function(v, h) return h * w + v end, { sequences = x, outputs_info = h0 })
    end
    assert.equal(1, #loops(damo.compile({ x, h0, w }, loop() * 2 + loop())))
  end)
end)

describe("loops over the same steps", function()
  local x, y, h0 = damo.dvector "x", damo.dvector "y", damo.dscalar "h0"
  local m, v = damo.dmatrix "m", damo.dvector "v"
  local kept = damo.Mode { exclude = { "scan_join" } }
  local function sums(of)
    return damo.scan(function(a, h) return h * 0.5 + a end, { sequences = of, outputs_info = h0 })
  end

  local function compare(inputs, outputs, n_with, n_without, ...)
    local with = damo.compile(inputs, outputs)
    local without = damo.compile(inputs, outputs, { mode = kept })
    local a, b = { with(...) }, { without(...) }
    for i = 1, #b do assert.same(b[i]:totable(), a[i]:totable()) end
    assert.equal(n_with, #loops(with))
    assert.equal(n_without, #loops(without))
    return with
  end

  it("are one loop", function()
    local other = damo.scan(function(a, h) return damo.sin(h) + a * 2 end, { sequences = x, outputs_info = h0 })
    compare({ x, h0 }, { sums(x), other, sums(x * 3) }, 1, 3, A { 1, 2, 3 }, 0.5) -- two are of one class
    compare({ x, h0 }, { sums(x), other }, 1, 2, A({}, "float64"), 0.5)
  end)

  it("stay apart where one reads the other, at any distance", function()
    local first = sums(x)
    compare({ x, h0 }, { first, sums(first) }, 2, 2, A { 1, 2, 3 }, 0.5)
    compare({ x, h0 }, { first, sums(x - first:sum()) }, 2, 2, A { 1, 2, 3 }, 0.5)
    local a, b = sums(x), sums(x * 2)
    compare({ x, h0 }, { a, b, sums(a + b) }, 2, 3, A { 1, 2, 3 }, 0.5)
  end)

  it("stay apart with other numbers of steps, conditions, updates, and of scalars beside arrays", function()
    compare({ x, y, h0 }, { sums(x), sums(y) }, 2, 2, A { 1, 2, 3 }, A { 4, 5 }, 0.5)
    local ends = damo.scan(function(a, h) return h + a, damo.until_(damo.gt(h, 2)) end,
      { sequences = x, outputs_info = h0 })
    compare({ x, h0 }, { sums(x), ends }, 2, 2, A { 1, 2, 3 }, 0.5)
    local rows = damo.scan(function(a, h) return damo.tanh(h) + a end, { sequences = m, outputs_info = v })
    local scalars = damo.scan(function(a, h) return damo.tanh(h) + a end,
      { sequences = m[{ {}, 1 }], outputs_info = h0 })
    compare({ m, v, h0 }, { rows, scalars }, 2, 2, A { { 1, 2 }, { 3, 4 } }, A { 5, 6 }, 0.5)
    local count = damo.shared(A(0.0), "count")
    local counting = damo.scan(function(a) return a * 2 + count, { [count] = count + 1 } end, { sequences = x })
    local f = damo.compile({ x, h0 }, { sums(x), counting })
    f(A { 1, 2, 3 }, 0.5)
    assert.equal(3, count:get_value())
    assert.equal(2, #loops(f))
  end)
end)

describe("the states of a loop", function()
  it("are computed in place without changing what the caller gave", function()
    local v = damo.dvector "v"
    local start = A { 1, 2 }
    local h = damo.scan(function(h) return h * 2 + 1 end, { outputs_info = v, n_steps = 3 })
    assert.same({ { 3, 5 }, { 7, 11 }, { 15, 23 } }, damo.compile({ v }, h)(start):totable())
    assert.same({ 1, 2 }, start:totable())
    local a, b = damo.scan(function(p, q) return q, p end, { outputs_info = { v, v * 10 }, n_steps = 3 })
    local f = damo.compile({ v }, { a, b })
    for _ = 1, 2 do
      local p, q = f(start)
      assert.same({ { 10, 20 }, { 1, 2 }, { 10, 20 } }, p:totable())
      assert.same({ { 1, 2 }, { 10, 20 }, { 1, 2 } }, q:totable())
    end
    local c, d = damo.scan(function(p) return p * 2, p * 2 end, { outputs_info = { v, false }, n_steps = 2 })
    local r, s = damo.compile({ v }, { c, d })(start)
    assert.same(r:totable(), s:totable())
    local e, g = damo.scan(function(p, q) return p + q, p + q end, { outputs_info = { v, v }, n_steps = 3 })
    r, s = damo.compile({ v }, { e, g })(start)
    assert.same({ { 2, 4 }, { 4, 8 }, { 8, 16 } }, r:totable())
    assert.same(r:totable(), s:totable())
  end)

  it("with several taps pass on without a mix-up", function()
    local v = damo.dmatrix "v"
    local h = damo.scan(function(h3, h1) return h3 * 2 + h1 end,
      { outputs_info = { { initial = v, taps = { -3, -1 } } }, n_steps = 5 })
    local past, expected = { 1, 2, 3 }, {}
    for t = 1, 5 do
      past[t + 3] = past[t] * 2 + past[t + 2]
      expected[t] = { past[t + 3] }
    end
    assert.same(expected, damo.compile({ v }, h)(A { { 1 }, { 2 }, { 3 } }):totable())
  end)
end)

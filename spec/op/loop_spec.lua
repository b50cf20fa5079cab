-- Loop: Elemwise nodes of one iteration space in one pass. Results are those of the separate nodes to the bit.
local damo = require "damo"
local names = require "spec.support.node_names"
local failure = require "spec.support.failure"

local separate = damo.Mode { exclude = { "fusion" } }

local function same_bits(a, b, what)
  assert.equal(a.dtype, b.dtype, what)
  assert.same(a.shape, b.shape, what)
  assert.is_true(damo.array_equal(a, b, { equal_nan = true }), what)
end

-- ---- Random graphs --------------------------------------------------------------------------------------------------

local unary = { "neg", "exp", "tanh", "sin", "sqr", "abs", "sigmoid", "log1p", "floor" }
local binary = { "add", "sub", "mul", "maximum", "true_div", "gt", "eq" }
local dtypes = { "float64", "float32", "int32", "bool", "int64" }

local function pick(list) return list[math.random(#list)] end

-- Inputs of ranks 0 to 2, some of which broadcast, and what each is called with.
local function random_inputs(n, m)
  local inputs, values = {}, {}
  local shapes = { {}, { m }, { n, m }, { n, 1 }, { 1, m }, { n, m }, { 1, 1 } }
  for i = 1, 6 do
    local dtype, shape = pick(dtypes), pick(shapes)
    local static = {}
    for d, length in ipairs(shape) do static[d] = length == 1 and 1 or false end
    inputs[i] = damo.tensor("x" .. i, { dtype = dtype, shape = static })
    local v = damo.random.normal(0, 2, { size = shape })
    values[i] = damo.cast(type(v) == "number" and damo.array(v) or v, dtype)
    if #shape == 2 and math.random(3) == 1 and shape[1] > 1 then -- other strides
      values[i] = damo.cast(damo.random.normal(0, 2, { size = { shape[2], shape[1] } }), dtype).T
    end
  end
  return inputs, values
end

local function random_graph(inputs, n)
  local v = {}
  for i, x in ipairs(inputs) do v[i] = x end
  for _ = 1, n do
    local kind = math.random(12)
    local x, y = pick(v), math.random(2) == 1 and v[#v] or pick(v)
    if kind <= 4 then
      v[#v + 1] = damo[pick(unary)](damo.cast(x, pick { "float64", "float32" }))
    elseif kind <= 9 then
      v[#v + 1] = damo[pick(binary)](damo.cast(x, "float64"), y)
    elseif kind == 10 then
      v[#v + 1] = damo.cast(x, pick(dtypes))
    elseif kind == 11 then
      v[#v + 1] = damo.switch(damo.gt(damo.cast(x, "float64"), 0), y, 1.5)
    else
      v[#v + 1] = damo.cast(damo.second(x, y), "float64")
    end
  end
  return v
end

local folds = { "sum", "prod", "max", "min", "any", "all", "argmax", "argmin", "logsumexp" }

-- A reduction of a graph's value, over all axes, the last ones or another one.
local function random_fold(x)
  if x.ndim == 0 then return x end
  local kind, axis = pick(folds), pick { false, x.ndim, x.ndim, { 1, x.ndim }, 1 }
  if type(axis) == "table" and x.ndim == 1 then axis = 1 end
  if kind == "logsumexp" or kind == "prod" then x = damo.tanh(damo.cast(x, "float64")) end
  return damo[kind](x, { axis = axis or nil, keepdims = math.random(3) == 1 })
end

-- Adds a value of one entry a row, or with one: full has all axes, position an entry in each row.
local function add_positions(v, x, full, position)
  local e = full + damo.tanh(damo.cast(x, "float64"))
  local p = damo.log_softmax(e, { axis = 2 })
  local kind = math.random(4)
  local loss = damo.categorical_crossentropy(damo.exp(p), position)
  if kind == 1 then v[#v + 1] = e * damo.one_hot(position, full.shape[2]) end
  if kind == 2 then v[#v + 1] = damo.expand_dims(loss, 2) end
  if kind == 3 then v[#v + 1] = damo.grad(damo.sum(loss), e) * p end
  if kind == 4 then v[#v + 1] = damo.cumsum(e, { axis = 2 }) / (1 + damo.abs(e)) end
end

-- Adds values made of x and of reductions of x, which lie in each row again.
local function add_rows(v, x, full, position)
  if x.ndim == 0 then return end
  if math.random(4) == 1 then return add_positions(v, x, full, position) end
  if math.random(6) == 1 then -- a reduction of an array of another shape
    v[#v + 1] = x / (1 + damo.max(damo.abs(damo.join(x.ndim, { x, x }))))
    return
  end
  local axis = pick { x.ndim, x.ndim, false }
  if math.random(3) == 1 then
    v[#v + 1] = damo[pick { "softmax", "log_softmax" }](damo.tanh(damo.cast(x, "float64")), { axis = axis or nil })
    return
  end
  local kept = math.random(2) == 1 or not axis
  local row = damo[pick(folds)](damo.tanh(damo.cast(x, "float64")), { axis = axis or nil, keepdims = kept })
  for _ = 1, math.random(0, 3) do
    row = math.random(2) == 1 and damo[pick(unary)](damo.cast(row, "float64")) or row * pick { 0.5, 2 } + row
  end
  if kept and math.random(4) == 1 then v[#v + 1] = row end
  if not kept then row = damo.expand_dims(row, x.ndim) end
  v[#v + 1] = damo[pick(binary)](damo.cast(x, "float64"), row)
  if math.random(2) == 1 then v[#v + 1] = damo[pick(binary)](damo.cast(pick(v), "float64"), v[#v]) end
end

local function check_random(seed, rows)
  math.randomseed(seed)
  damo.random.seed(seed)
  local n, m = pick { 1, 2, 7, 33 }, pick { 1, 3, 15, 64, 511, 513, 1700 }
  local inputs, values = random_inputs(n, m)
  local v = random_graph(inputs, math.random(3, rows and 10 or 25))
  local wrt = { table.unpack(inputs) }
  if rows then
    local full, position = damo.dmatrix "full", damo.lvector "position"
    inputs[#inputs + 1], values[#values + 1] = full, damo.random.normal(0, 1, { size = { n, m } })
    inputs[#inputs + 1], values[#values + 1] = position, damo.random.integers(1, m, { size = { n } })
    for _ = 1, math.random(1, 5) do add_rows(v, v[math.random(#wrt + 1, #v)], full, position) end
  end
  local outs = { v[#v], v[math.random(#wrt + 1, #v)], v[math.random(#wrt + 1, #v)] }
  if rows and math.random(3) == 1 then -- gradients of the same
    local cost = damo.sum(damo.cast(v[#v], "float64"))
    local g = damo.grad(cost, wrt, { disconnected_inputs = "ignore", return_disconnected = "zero" })
    outs[2] = g[math.random(#g)]
  end
  for k = 1, 3 do -- beside the values that are folded, or in their place
    outs[math.random(2) == 1 and #outs + 1 or k] = random_fold(v[math.random(#wrt + 1, #v)])
  end
  local f = damo.compile(inputs, outs, { on_unused_input = "ignore" })
  local g = damo.compile(inputs, outs, { on_unused_input = "ignore", mode = separate })
  for _ = 1, 2 do -- the second time in memory that is there
    local got, expected = { f(table.unpack(values)) }, { g(table.unpack(values)) }
    for k in ipairs(outs) do
      local a, b = got[k], expected[k]
      if type(a) ~= "userdata" then a, b = damo.array(a), damo.array(b) end
      same_bits(a, b, ("seed %d, result %d"):format(seed, k))
    end
  end
  return names(f).Loop or 0, names(g).Loop or 0
end

describe("a Loop", function()
  local x, y = damo.dvector "x", damo.dvector "y"

  it("stands for a chain with any inputs and outputs, and what is used inside and outside", function()
    local z = damo.exp(-x * x) * damo.sin(x) + y
    local f = damo.compile({ x, y }, { z, damo.tanh(z) * 2 })
    assert.same({ Loop = 1 }, names(f))
    local a, b = f({ 1, 2 }, { 3, 4 })
    local c, d = damo.compile({ x, y }, { z, damo.tanh(z) * 2 }, { mode = separate })({ 1, 2 }, { 3, 4 })
    same_bits(a, c)
    same_bits(b, d)
  end)

  it("gives the bits of the separate nodes in random graphs", function()
    local fused = 0
    for seed = 1, 400 do
      local loops, none = check_random(seed)
      fused = fused + loops
      assert.equal(0, none)
    end
    assert.is_true(fused > 200)
  end)

  it("gives these bits where values of rows are read again", function()
    for seed = 1, 400 do check_random(seed, true) end
  end)

  describe("of rows", function()
    local m, which = damo.dmatrix "m", damo.lvector "which"
    local v = damo.array { { 1, 2, 4 }, { -1, 0.5, 3 } }

    it("is a softmax with its loss and gradient, a normalisation, a variance", function()
      local loss = damo.sum(damo.categorical_crossentropy(damo.softmax(m, { axis = 2 }), which))
      local f = damo.compile({ m, which }, { loss, damo.grad(loss, m) })
      assert.equal(1, names(f).Loop)
      assert.is_nil(names(f).LogSoftmax or names(f).Pick or names(f).PickGrad)
      local centred = m - damo.mean(m, { axis = 2, keepdims = true })
      local scaled = centred / damo.sqrt(damo.mean(centred ^ 2, { axis = 2, keepdims = true }) + 1e-5)
      assert.equal(1, names(damo.compile({ m }, scaled * 2 + 1)).Loop)
      assert.is_nil(names(damo.compile({ m }, damo.var(m, { axis = 2 }))).Sum)
      assert.equal(1, names(damo.compile({ m }, damo.softmax(m, { axis = 2 }))).Softmax) -- by itself it stays
    end)

    it("takes one exponential for a softmax and its logarithm", function()
      local function exps(f) return select(2, damo.printing.loop(f):gsub("= exp", "")) end
      local l = damo.logsumexp(m, { axis = 2 })
      local f = damo.compile({ m }, { l, damo.grad(damo.sum(l), m) })
      assert.equal(1, exps(f))
      local p = damo.log_softmax(m, { axis = 2 })
      local g = damo.compile({ m }, { p, damo.grad(damo.sum(p * m), m) })
      assert.equal(1, exps(g))
      local written = { [f] = { l, damo.grad(damo.sum(l), m) }, [g] = { p, damo.grad(damo.sum(p * m), m) } }
      for compiled, outputs in pairs(written) do
        local got, plain = { compiled(v) }, { damo.compile({ m }, outputs, { mode = "FAST_COMPILE" })(v) }
        for k in ipairs(got) do assert.is_true(damo.allclose(plain[k], got[k], { rtol = 1e-14 })) end
      end
      local inf = math.huge
      for _, row in ipairs { { -inf, -inf }, { inf, 1 }, { -inf, 2 }, { 0 / 0, 1 } } do
        local one = damo.array { row }
        assert.is_true(damo.array_equal((f(one)), damo.logsumexp(one, { axis = 2 }), { equal_nan = true }))
      end
    end)

    -- The kernel before a pick computes one value a row, and a row of zeros with one value has a known sum.
    it("picks before it computes, with the bits of the separate nodes", function()
      local inf, nan = math.huge, 0 / 0
      for _, dtype in ipairs { "float64", "float32" } do
        local e, w = damo.tensor("e", { dtype = dtype, ndim = 2 }), damo.tensor("w", { dtype = dtype, ndim = 1 })
        local logp = damo.log_softmax(damo.tanh(e) * 3, { axis = 2 })
        local cost, rest = w * damo.nn.nll(logp, which), damo.sum(e, { axis = 2, keepdims = true })
        local written = {
          { cost, damo.grad(damo.sum(cost), e), damo.grad(damo.sum(cost), w) },
          { damo.nn.nll(damo.exp(e) - rest, which), damo.exp(e) * 2 },
          { damo.nn.nll(damo.exp(e), which) * damo.max(e, { axis = 2 }), e + 1 },
        }
        for case, outputs in ipairs(written) do
          local f = damo.compile({ e, w, which }, outputs, { on_unused_input = "ignore" })
          local plain = damo.compile({ e, w, which }, outputs, { mode = separate, on_unused_input = "ignore" })
          assert.is_nil(names(f).Pick)
          for _, n in ipairs { 1, 7, 1000, 5000 } do
            local a = damo.cast(damo.random.normal(0, 2, { size = { n, 5 } }), dtype).T
            local at = { 1, n, math.floor((n + 1) / 2), 1, n }
            local weights = damo.array({ 1.5, -0.0, inf, nan, -3 }, { dtype = dtype })
            local got, want = { f(a, weights, at) }, { plain(a, weights, at) }
            for k = 1, #want do same_bits(got[k], want[k], ("%s %d, n = %d, result %d"):format(dtype, case, n, k)) end
          end
        end
      end
    end)

    it("reads no reduction of an array of another shape", function()
      local a, b = damo.dvector "a", damo.dvector "b"
      local f = damo.compile({ a, b }, a / damo.max(b) + damo.sum(a))
      assert.same({ 3.5, 4 }, f({ 1, 2 }, { 1, 2, 1 }):totable())
      local other = damo.dmatrix "other"
      local g = damo.compile({ m, other }, m - damo.sum(other, { axis = 2, keepdims = true }))
      assert.same({ 2, 1 }, g(damo.ones { 2, 1 }, damo.ones { 2, 3 }).shape)
    end)

    it("has rows without elements, and no rows", function()
      local f = damo.compile({ m }, { damo.exp(damo.log_softmax(m, { axis = 2 })), damo.sum(damo.abs(m)) })
      for _, shape in ipairs { { 3, 0 }, { 0, 3 }, { 0, 0 } } do
        local p, total = f(damo.zeros(shape))
        assert.same(shape, p.shape)
        assert.equal(0, total)
      end
      local both = damo.sum(damo.sin(m * damo.sum(m, { keepdims = true })), { axis = 2 })
      assert.same({ 0, 0, 0 }, damo.compile({ m }, both)(damo.zeros { 3, 0 }):totable())
      local g = damo.compile({ m }, m - damo.max(m, { axis = 2, keepdims = true }))
      assert.equal("value", (select(2, pcall(g, damo.zeros { 3, 0 }))).kind)
      assert.same({ 0, 3 }, g(damo.zeros { 0, 3 }).shape)
    end)

    it("says which position is outside a row, and that lengths of rows differ", function()
      local chosen = damo.one_hot(which, damo.lscalar "n")
      local n = chosen.owner.inputs[2]
      local f = damo.compile({ m, which, n }, damo.sum(chosen * damo.exp(m), { axis = 2 }))
      assert.equal(1, names(f).Loop)
      assert.same({ math.exp(4), math.exp(-1) }, f(v, { 3, 1 }, 3):totable())
      local i = damo.lscalar "i"
      assert.same({ 0, 2, 0 }, damo.compile({ i }, damo.one_hot(i, 3) * 2)(2):totable())
      assert.same("one_hot: class 4 is outside 1 … 3", failure("index", f, v, { 3, 4 }, 3).message)
      assert.equal("shape", (select(2, pcall(f, v, { 3, 1 }, 4))).kind)
      assert.same({ math.exp(4), math.exp(-1) }, f(v, { 3, 1 }, 3):totable())
      local picked = damo.compile({ m, which }, damo.categorical_crossentropy(damo.exp(m), which))
      assert.same("Pick: position 0 is outside 1..3", failure("index", picked, v, { 0, 1 }).message)
    end)
  end)

  it("takes one node's result through two ways in, but none that leads through another node", function()
    local a = damo.exp(x)
    local f = damo.compile({ x }, damo.tanh(a) + damo.cumsum(a) * 2)
    assert.equal(1, names(f).Loop)
    assert.equal(1, names(f).Elemwise)
    local g = damo.compile({ x }, damo.tanh(a) + damo.cumsum(a) * 2, { mode = separate })
    same_bits(f { 1, 2, 3 }, g { 1, 2, 3 })
  end)

  it("is several where one would have too many outputs", function()
    local outputs, last = {}, x
    for i = 1, 70 do
      last = damo.tanh(last * i + y)
      outputs[i] = damo.exp(last - i) + x
    end
    local fused, plain = damo.compile({ x, y }, outputs), damo.compile({ x, y }, outputs, { mode = separate })
    assert.is_true(#plain.fgraph.apply_nodes > 400)
    assert.is_true(#fused.fgraph.apply_nodes < 10)
    local u, v = damo.random.normal(0, 1, { size = { 50 } }), damo.random.normal(0, 1, { size = { 50 } })
    local got, want = { fused(u, v) }, { plain(u, v) }
    for i = 1, #want do same_bits(got[i], want[i], i) end
  end)

  it("computes nothing twice: what broadcasts is a node by itself", function()
    local m, r = damo.dmatrix "m", damo.drow "r"
    local f = damo.compile({ m, r }, damo.tanh(m + damo.exp(r)) * 2)
    assert.same({ Loop = 1, Elemwise = 1 }, names(f))
  end)

  it("overwrites what nobody needs any more", function()
    local w = damo.shared(damo.array { 1, 2, 3 }, { name = "w" })
    local g = damo.cumsum(x)
    local f = damo.compile({ x }, damo.cumsum(damo.exp(g) * 2 + g), { updates = { [w] = w - x * 0.5 } })
    local inplace = false
    for _, node in ipairs(f.fgraph.apply_nodes) do
      if node.op.destroy_map and next(node.op.destroy_map) then inplace = true end
    end
    assert.is_true(inplace)
    local plain = damo.compile({ x }, damo.cumsum(damo.exp(g) * 2 + g), { mode = separate })
    same_bits(f { 1, 2, 3 }, plain { 1, 2, 3 })
    assert.same({ 0.5, 1, 1.5 }, w:get_value():totable())
  end)

  it("fails as the separate nodes do", function()
    local z = damo.exp(x) + damo.sin(y)
    for _, mode in ipairs { damo.Mode {}, separate } do
      local f = damo.compile({ x, y }, z * 2, { mode = mode })
      local ok, err = pcall(f, { 1, 2, 3 }, { 1, 2 })
      assert.is_false(ok)
      assert.equal("shape", err.kind)
      local why = "add: shapes %(3,?%) and %(2,?%) do not agree: axis 1 is 3 in operand 1 and 2 in operand 2"
      assert.matches(why, err.message)
    end
  end)

  it("reduces over the last axes what it computes, in the same pass", function()
    local m = damo.dmatrix "m"
    local f = damo.compile({ m }, { damo.sum(damo.exp(m) * 2, { axis = 2 }), damo.max(damo.exp(m), { axis = 2 }) })
    assert.same({ Loop = 1 }, names(f))
    local all = damo.compile({ m }, damo.sum(damo.sqr(m) - m))
    assert.same({ Loop = 1 }, names(all))
    assert.equal(1 - 1 + 4 - 2, all { { 1, 2 } })
    assert.same({ Loop = 1, Reduce = nil }, names(damo.compile({ m }, damo.sum(damo.abs(m), { axis = { 1, 2 } }))))
    -- a reduction over other axes is a node by itself
    local g = damo.compile({ m }, { damo.sum(damo.exp(m), { axis = 1 }), damo.sum(damo.exp(m) * 2, { axis = 2 }) })
    assert.equal(1, names(g).Loop)
    assert.equal(1, names(g).Sum)
  end)

  it("has no maximum of nothing, and other reductions of nothing", function()
    local m = damo.dmatrix "m"
    local f = damo.compile({ m }, damo.max(damo.exp(m), { axis = 2 }))
    local ok, err = pcall(f, damo.zeros { 3, 0 })
    assert.is_false(ok)
    assert.equal("max: axis 2 of shape (3, 0) is empty and has no such element", err.message)
    assert.same({ 0 }, f(damo.zeros { 0, 3 }).shape)
    assert.same({ 0, 0, 0 }, damo.compile({ m }, damo.sum(damo.exp(m), { axis = 2 }))(damo.zeros { 3, 0 }):totable())
    assert.equal(0, damo.compile({ m }, damo.sum(damo.exp(m)))(damo.zeros { 3, 0 }))
  end)

  it("of 0-d values runs its kernels one after the other", function()
    local s = damo.dscalar "s"
    local f = damo.compile({ s }, damo.exp(s * s) + 1)
    assert.same({ Loop = 1 }, names(f))
    assert.equal(math.exp(4) + 1, f(2))
  end)

  it("has gradients, where somebody asks for them", function()
    local f = damo.compile({ x }, damo.exp(x) * x)
    local node = f.fgraph.apply_nodes[1]
    assert.equal("Loop", tostring(node.op):match "^%w+")
    local loop = node.op(x)
    local g = damo.compile({ x }, damo.grad(damo.sum(loop), x))
    local expected = damo.compile({ x }, damo.grad(damo.sum(damo.exp(x) * x), x))
    assert.is_true(damo.allclose(g { 1, 2 }, expected { 1, 2 }))
    local t = damo.dvector "t"
    local r = damo.compile({ x, t }, damo.Rop(loop, x, t))
    local rx = damo.compile({ x, t }, damo.Rop(damo.exp(x) * x, x, t))
    assert.is_true(damo.allclose(r({ 1, 2 }, { 3, 4 }), rx({ 1, 2 }, { 3, 4 })))
  end)
end)

-- Functions of damo.nn.
local damo = require "damo"
local h = assert(loadfile "spec/op/harness.lua")(describe, it)
local nn = damo.nn

h.run_family "nn"

local Z = damo.zeros

h.run_errors("nn", {
    { "complex operands", "type", "nn.silu: a real operand is needed, got complex128",
      function() return nn.silu(damo.zvector "z") end },
    { "an odd length to halve", "shape", "nn.glu: axis 1 of operand 1 (x) has the odd length 3",
      function() return nn.glu(damo.tensor("x", { shape = { 3 } })) end },
    { "channels that differ", "shape", "nn.batch_norm: axis 1 of operand 2 (gamma) is 3, axis 2 of operand 1 (x) is 2",
      function()
        return nn.batch_norm(damo.tensor("x", { shape = { 4, 2 } }), damo.tensor("g", { shape = { 3 } }), Z { 2 })
      end },
    { "a mean without a variance", "type", "nn.batch_norm: the mean comes with a variance",
      function() return nn.batch_norm(Z { 4, 2 }, Z { 2 }, Z { 2 }, Z { 2 }) end },
    { "a gamma of the wrong rank", "shape",
      "nn.layer_norm: operand 2 (gamma) must have rank 1, an axis for each that is normalised, got rank 2",
      function() return nn.layer_norm(Z { 4, 2 }, Z { 2, 2 }, Z { 2 }) end },
    { "channels that the groups do not divide", "shape",
      "nn.group_norm: axis 2 of operand 1 (x) is 4, no multiple of num_groups, 3",
      function()
        return nn.group_norm(damo.tensor("x", { shape = { false, 4 } }), Z { 4 }, Z { 4 }, { num_groups = 3 })
      end },
    { "an id outside", "index", "index: position 5 is outside axis 1 of length 4",
      function() return nn.embedding(damo.array({ 5 }, "int64"), Z { 4, 2 }) end },
    { "heads that do not divide", "shape",
      "nn.multi_head_attention: projections of length 4 are no multiple of num_heads, 3",
      function()
        local w = damo.tensor("w", { shape = { 4, 4 } })
        return nn.multi_head_attention(Z { 2, 4 }, Z { 2, 4 }, Z { 2, 4 }, w, w, w, w, { num_heads = 3 })
      end },
    { "a window longer than the axis", "shape",
      "nn.max_pool2d: axis 4 of operand 1 (x) is 2, with its padding shorter than the window, 3",
      function() return nn.max_pool2d(Z { 1, 1, 4, 2 }, { size = 3 }) end },
    { "a window over an empty axis", "shape",
      "nn.avg_pool1d: axis 3 of operand 1 (x) is 0, with its padding shorter than the window, 2",
      function() return nn.avg_pool1d(Z { 1, 1, 0 }, { size = 2, pad = 1 }) end },
    { "windows of padding alone", "value",
      "nn.max_pool1d: pad must be smaller than size, so that no window is all padding",
      function() return nn.max_pool1d(Z { 1, 1, 4 }, { size = 2, pad = 2 }) end },
    { "no size", "type", "nn.max_pool1d: the size is missing", function() return nn.max_pool1d(Z { 1, 1, 4 }) end },
    { "numbers for other axes", "value", "nn.max_pool2d: stride has 3 numbers, for 2 axes",
      function() return nn.max_pool2d(Z { 1, 1, 4, 4 }, { size = 2, stride = { 1, 1, 1 } }) end },
    { "an operand of the wrong rank", "shape", "nn.max_pool2d: operand 1 (x) must have rank 4, (N, C, …), got 3",
      function() return nn.max_pool2d(Z { 1, 4, 4 }, { size = 2 }) end },
    { "channels that are not the filters'", "shape",
      "nn.conv2d: axis 2 of operand 1 (x) is 3, of operand 2 (w) 2, in 1 group",
      function() return nn.conv2d(Z { 1, 3, 4, 4 }, Z { 2, 2, 3, 3 }) end },
    { "channels that the groups of a convolution do not divide", "shape",
      "nn.conv1d: axis 2 of operand 1 (x) is 3, no multiple of num_groups, 2",
      function() return nn.conv1d(Z { 1, 3, 4 }, Z { 2, 1, 3 }, { num_groups = 2 }) end },
    { "filters that the groups do not divide", "shape",
      "nn.conv1d: axis 1 of operand 2 (w) is 3, no multiple of num_groups, 2",
      function() return nn.conv1d(Z { 1, 4, 4 }, Z { 3, 2, 3 }, { num_groups = 2 }) end },
    { "more channels than can be counted", "value",
      "nn.conv1d: axis 2 of operand 2 (w) is 4, in 4611686018427387904 groups: too many channels",
      function() return nn.conv1d(Z { 1, 0, 4 }, Z { 0, 4, 3 }, { num_groups = 2 ^ 62 }) end },
    { "more channels of a transposed convolution than can be counted", "value",
      "nn.conv1d_transpose: axis 2 of operand 2 (w) is 4, in 4611686018427387904 groups: too many channels",
      function() return nn.conv1d_transpose(Z { 1, 0, 4 }, Z { 0, 4, 3 }, { num_groups = 2 ^ 62 }) end },
    { "a filter longer than x", "shape",
      "nn.conv2d: axis 4 of operand 1 (x) is 2, with its padding shorter than the filter, 5",
      function()
        return nn.conv2d(Z { 1, 1, 9, 2 }, Z { 1, 1, 3, 3 }, { border_mode = { 0, 1 }, filter_dilation = 2 })
      end },
    { "an empty filter", "shape", "nn.conv1d: axis 3 of operand 2 (w) is empty",
      function() return nn.conv1d(Z { 1, 1, 9 }, Z { 1, 1, 0 }) end },
    { "operands of the wrong rank", "shape", "nn.conv2d: operand 2 (w) must have rank 4, got 3",
      function() return nn.conv2d(Z { 1, 1, 9, 9 }, Z { 1, 1, 3 }) end },
    { "a misspelt border", "value", "nn.conv2d: unknown border_mode 'hlaf', did you mean 'half'?",
      function() return nn.conv2d(Z { 1, 1, 9, 9 }, Z { 1, 1, 3, 3 }, { border_mode = "hlaf" }) end },
    { "a stride of 0", "value", "nn.conv2d: subsample must be at least 1, got 0",
      function() return nn.conv2d(Z { 1, 1, 9, 9 }, Z { 1, 1, 3, 3 }, { subsample = 0 }) end },
    { "a negative padding", "value", "nn.conv2d: border_mode must not be negative, got -1",
      function() return nn.conv2d(Z { 1, 1, 9, 9 }, Z { 1, 1, 3, 3 }, { border_mode = -1 }) end },
    { "a complex operand", "type", "nn.conv2d: operand 1 (x) must be real, got complex128",
      function() return nn.conv2d(damo.zeros({ 1, 1, 9, 9 }, { dtype = "complex128" }), Z { 1, 1, 3, 3 }) end },
    { "a transpose over other channels", "shape",
      "nn.conv1d_transpose: axis 2 of operand 1 (x) is 3, axis 1 of operand 2 (w) is 2",
      function() return nn.conv1d_transpose(Z { 1, 3, 4 }, Z { 2, 2, 3 }) end },
    { "an output shape that the transpose does not have", "shape",
      "ConvGradInput: a length of 9 on axis 3 gives 7 positions, the operand has 4",
      function() return nn.conv1d_transpose(Z { 1, 2, 4 }, Z { 2, 2, 3 }, { output_shape = { 9 } }) end },
    { "a probability outside", "value", "nn.dropout: p must lie in 0..1, got 2",
      function() return nn.dropout(Z { 2 }, { p = 2 }) end },
    { "a Variable without a stream", "type", "nn.dropout: a Variable needs the option rng, a RandomStream",
      function() return nn.dropout(damo.dvector "x") end },
})

-- Values without ties, of both signs.
local function filled(shape, seed)
  local n = 1
  for _, d in ipairs(shape) do n = n * d end
  local list = {}
  for k = 1, n do list[k] = math.sin(12.9898 * k + seed) * 43758.5453 % 2 - 1 end
  return damo.array(list):reshape(shape)
end

--- Checks the gradient of the gradient by differences, and Rop by the gradient: u·(J v) = v·(Jᵀ u).
local function check_orders(f, operands)
  damo.verify_grad(function(...)
    local g = damo.grad(damo.sum(damo.sqr(f(...)) * f(...)), { ... })
    local sum
    for _, part in ipairs(g) do
      local term = damo.sum(damo.sin(part))
      sum = sum and sum + term or term
    end
    return sum
  end, operands)
  local vars, given = {}, {}
  for i, a in ipairs(operands) do vars[i], given[i] = damo.tensor("x" .. i, { ndim = a.ndim, dtype = a.dtype }), a end
  local y = f(table.unpack(vars))
  for i = 1, #operands do
    local v = damo.constant(filled(operands[i].shape, 5 + i))
    local u = damo.cos(y)
    local left = damo.sum(u * damo.Rop(y, vars[i], v))
    local right = damo.sum(v * damo.Lop(y, vars[i], u))
    local forward, backward = damo.compile(vars, { left, right }, { on_unused_input = "ignore" })(table.unpack(given))
    assert.near(backward, forward, 1e-9 * (1 + math.abs(backward)))
  end
end

--- Checks that the Array does not depend on the number of threads.
local function same_bits(make)
  local results, before = {}, damo.config.threads
  for _, n in ipairs { 1, 3 } do
    damo.config.threads = n
    results[#results + 1] = make()
  end
  damo.config.threads = before
  assert.is_true(damo.array_equal(results[1], results[2]))
end

describe("pooling", function()
  it("has gradients of second order and a forward mode", function()
    for _, case in ipairs {
      { "max_pool1d", { 2, 1, 7 }, { size = 3, stride = 2, pad = 1 } },
      { "max_pool2d", { 1, 2, 4, 5 }, { size = { 3, 2 }, stride = 1 } },
      { "max_pool3d", { 1, 1, 3, 4, 3 }, { size = 2 } },
      { "avg_pool1d", { 2, 1, 7 }, { size = 3, stride = 2, pad = 1, count_include_pad = false } },
      { "avg_pool2d", { 1, 2, 4, 5 }, { size = { 3, 2 }, stride = 1, pad = { 1, { 0, 1 } } } },
      { "avg_pool3d", { 1, 1, 3, 4, 3 }, { size = 2 } },
      { "global_max_pool", { 2, 2, 4 } }, { "global_avg_pool", { 2, 2, 4 } },
    } do
      local name, shape, options = table.unpack(case)
      check_orders(function(x) return nn[name](x, options) end, { filled(shape, 1) })
    end
  end)

  it("gives the gradient of a tie to the first place, and of nan to the first nan", function()
    local x = damo.dtensor3 "x"
    local f = damo.compile({ x }, damo.grad(damo.sum(nn.max_pool1d(x, { size = 3 })), x))
    assert.is_true(damo.array_equal(damo.array { { { 0, 1, 0, 1, 0, 0 } } },
      f(damo.array { { { 1, 2, 2, 4, 4, 4 } } })))
    local nan = 0 / 0
    assert.is_true(damo.array_equal(damo.array { { { 0, 1, 0, 1, 0, 0 } } },
      f(damo.array { { { 1, nan, nan, -1 / 0, -1 / 0, -1 / 0 } } })))
    assert.is_true(damo.isnan(nn.max_pool1d(damo.array { { { 9, nan, 10 } } }, { 3 })):item())
  end)

  it("knows its shape before it runs, and gives it without running", function()
    local x = damo.tensor("x", { shape = { false, 3, 7, 8 } })
    local y = nn.max_pool2d(x, { size = { 3, 2 }, stride = { 2, 3 }, pad = { 1, 0 } })
    assert.equal("TensorType(float64, shape=(?, 3, 4, 3))", tostring(y.type))
    local z = damo.dtensor4 "z"
    for _, name in ipairs { "max_pool2d", "avg_pool2d" } do
      local w = nn[name](z, { size = { 3, 2 }, stride = { 2, 3 }, pad = { 1, 0 } })
      local f = damo.compile({ z }, w.shape)
      assert.same({ 2, 3, 4, 3 }, f(damo.zeros { 2, 3, 7, 8 }):totable())
      for _, node in ipairs(f.fgraph.apply_nodes) do assert.is_nil(tostring(node.op):match "Pool") end
    end
  end)

  it("agrees with the plain definitions of DEBUG", function()
    local x = damo.dtensor4 "x"
    for _, name in ipairs { "max_pool2d", "avg_pool2d" } do
      local y = nn[name](x, { size = 2, stride = 1, pad = 1 })
      local f = damo.compile({ x }, { y, damo.grad(damo.sum(damo.sqr(y)), x) }, { mode = "DEBUG" })
      f(filled({ 2, 3, 4, 5 }, 3))
    end
  end)

  it("gives the same bits with any number of threads", function()
    same_bits(function() return nn.avg_pool2d(filled({ 16, 8, 20, 21 }, 2), { size = 3, stride = 2, pad = 1 }) end)
  end)
end)

describe("a convolution", function()
  local cases = {
    { "conv1d", { 2, 2, 7 }, { 3, 2, 3 }, { border_mode = "half", subsample = 2 } },
    { "conv2d", { 1, 2, 4, 5 }, { 2, 1, 2, 3 }, { num_groups = 2, border_mode = { { 1, 0 }, 1 } } },
    { "conv2d", { 2, 1, 5, 5 }, { 2, 1, 2, 2 }, { filter_dilation = 2, filter_flip = false, subsample = { 1, 2 } } },
    { "conv3d", { 1, 1, 3, 3, 3 }, { 1, 1, 2, 2, 2 }, { subsample = 2, border_mode = "full" } },
    { "conv1d_transpose", { 1, 2, 3 }, { 2, 2, 3 }, { subsample = 2, border_mode = 1 } },
    { "conv2d_transpose", { 1, 2, 3, 3 }, { 2, 1, 2, 2 }, { num_groups = 2, subsample = 3 } },
  }

  it("has gradients of second order and a forward mode", function()
    for _, case in ipairs(cases) do
      local name, x, w, options = table.unpack(case)
      check_orders(function(a, b) return nn[name](a, b, options) end, { filled(x, 1), filled(w, 2) })
    end
  end)

  it("and its gradients agree with the plain definitions of DEBUG", function()
    for _, case in ipairs(cases) do
      for _, dtype in ipairs { "float32", "float64" } do
        local name, x, w, options = table.unpack(case)
        local a, b = damo.tensor("a", { ndim = #x, dtype = dtype }), damo.tensor("b", { ndim = #w, dtype = dtype })
        local y = nn[name](a, b, options)
        local ga, gb = table.unpack(damo.grad(damo.sum(damo.sqr(y)), { a, b }))
        local f = damo.compile({ a, b }, { y, ga, gb }, { mode = "DEBUG" })
        f(filled(x, 3):astype(dtype), filled(w, 4):astype(dtype))
      end
    end
  end)

  it("knows its shape before it runs, and gives it without running", function()
    local function shape_of(name, x, w, options, type_text)
      local a, b = damo.tensor("a", { shape = x }), damo.tensor("b", { shape = w })
      assert.equal(type_text, tostring(nn[name](a, b, options).type))
      local u, v = damo.tensor("u", { ndim = #x }), damo.tensor("v", { ndim = #w })
      local f = damo.compile({ u, v }, nn[name](u, v, options).shape)
      for _, node in ipairs(f.fgraph.apply_nodes) do assert.is_nil(tostring(node.op):match "Conv") end
      return f(damo.zeros(x), damo.zeros(w)):totable()
    end
    for pad, lengths in pairs { [0] = { 4, 3 }, [2] = { 6, 7 }, [4] = { 8, 11 } } do
      assert.same({ 2, 6, lengths[1], lengths[2] }, shape_of("conv2d", { 2, 4, 11, 8 }, { 6, 2, 3, 6 },
        { num_groups = 2, subsample = { 2, 1 }, filter_dilation = { 2, 1 }, border_mode = pad },
        ("TensorType(float64, shape=(2, 6, %d, %d))"):format(lengths[1], lengths[2])))
    end
    assert.same({ 1, 3, 11 }, shape_of("conv1d", { 1, 2, 9 }, { 3, 2, 3 }, { border_mode = "full" },
      "TensorType(float64, shape=(1, 3, 11))"))
    assert.same({ 1, 3, 5 }, shape_of("conv1d", { 1, 2, 9 }, { 3, 2, 4 }, { border_mode = "half", subsample = 2 },
      "TensorType(float64, shape=(1, 3, 5))"))
    assert.same({ 1, 4, 10 }, shape_of("conv1d_transpose", { 1, 6, 4 }, { 6, 2, 3 }, { num_groups = 2, subsample = 3,
      filter_dilation = 2, border_mode = "half" }, "TensorType(float64, shape=(1, 4, 10))"))
  end)

  it("gives the same bits with any number of threads", function()
    local x, w = filled({ 5, 6, 30, 31 }, 2), filled({ 20, 6, 3, 3 }, 3)
    local a, b = damo.dtensor4 "a", damo.dtensor4 "b"
    local y = nn.conv2d(a, b, { border_mode = "half" })
    local ga, gb = table.unpack(damo.grad(damo.sum(damo.sqr(y)), { a, b }))
    for _, value in ipairs { y, ga, gb } do
      local f = damo.compile({ a, b }, value)
      same_bits(function() return f(x, w):copy() end)
      same_bits(function() return f(x[{ { 1, 1 } }], w):copy() end)
    end
  end)

  it("refuses padding whose copy would be too large for any memory", function()
    local x, far = damo.ones { 1, 1, 1, 1, 1 }, 2 ^ 31 - 1
    local pads = { { far, 0 }, { far, 0 }, { far, 0 } }
    for _, c in ipairs {
      { damo.ones { 1, 1, 2, 2, 2 }, { filter_dilation = far, border_mode = pads } },
      { damo.ones { 1, 1, 1, 1, 1 }, { subsample = 2 ^ 30, border_mode = 2 ^ 30 } },
    } do
      local a, b = damo.dtensor5 "a", damo.dtensor5 "b"
      local y = nn.conv3d(a, b, c[2])
      for _, value in ipairs { y, (damo.grad(damo.sum(y), b)) } do
        local ok, e = pcall(damo.compile({ a, b }, value), x, c[1])
        assert.is_false(ok)
        assert.matches("out of memory", tostring(e))
      end
    end
  end)

  it("has gradients of zeros where there is no example, and no channel", function()
    local a, b = damo.dtensor3 "a", damo.dtensor3 "b"
    local ga, gb = table.unpack(damo.grad(damo.sum(nn.conv1d(a, b)), { a, b }))
    local f = damo.compile({ a, b }, { ga, gb })
    local x, w = f(damo.zeros { 0, 2, 5 }, damo.ones { 3, 2, 2 })
    assert.same({ 0, 2, 5 }, x.shape)
    assert.is_true(damo.array_equal(damo.zeros { 3, 2, 2 }, w))
    x, w = f(damo.ones { 2, 3, 5 }, damo.zeros { 0, 3, 2 })
    assert.is_true(damo.array_equal(damo.zeros { 2, 3, 5 }, x))
    assert.same({ 0, 3, 2 }, w.shape)
  end)

  it("of many lengths, strides and filters is that of its definition", function()
    local rs = damo.random.RandomStream(11)
    for round = 1, 40 do
      local function pick(low, high) return rs:integers(low, high):eval() end
      local groups = pick(1, 2)
      local c, k = groups * pick(1, 3), groups * pick(1, 11)
      local taps, stride, dilation = { pick(1, 4), pick(1, 4) }, { pick(1, 3), pick(1, 3) }, { pick(1, 2), pick(1, 2) }
      local pads = { { pick(0, 2), pick(0, 2) }, { pick(0, 2), pick(0, 2) } }
      local x = { pick(1, 3), c }
      for i = 1, 2 do x[2 + i] = (taps[i] - 1) * dilation[i] + pick(1, 30) end
      local a, b = damo.dtensor4 "a", damo.dtensor4 "b"
      local y = nn.conv2d(a, b, { border_mode = pads, subsample = stride, filter_dilation = dilation,
        num_groups = groups, filter_flip = round % 2 == 0 })
      local ga, gb = table.unpack(damo.grad(damo.sum(damo.sqr(y)), { a, b }))
      local f = damo.compile({ a, b }, { y, ga, gb }, { mode = "DEBUG" })
      f(filled(x, round), filled({ k, c / groups, taps[1], taps[2] }, 2 * round))
    end
  end)
end)

describe("dropout", function()
  it("drops the fraction p and scales the rest, as a value and as a graph", function()
    local rs, x = damo.random.RandomStream(3), damo.dvector "x"
    local f = damo.compile({ x }, nn.dropout(x, { p = 0.25, rng = rs }))
    for _, y in ipairs { f(damo.ones { 4000 }), nn.dropout(damo.ones { 4000 }, { p = 0.25, rng = rs }) } do
      assert.near(0.25, damo.mean(damo.eq(y, 0)), 0.04)
      assert.is_true(damo.all(damo.or_(damo.eq(y, 0), damo.isclose(y, 4 / 3))))
    end
    assert.is_false(damo.array_equal(f(damo.ones { 400 }), f(damo.ones { 400 })))
  end)

  it("has the mask as its gradient", function()
    local rs, x = damo.random.RandomStream(3), damo.dvector "x"
    local y = nn.dropout(x, { rng = rs })
    local f = damo.compile({ x }, { y, damo.grad(damo.sum(y), x) })
    local value, g = f(damo.ones { 50 })
    assert.is_true(damo.array_equal(value, g))
  end)

  it("leaves x where p is 0 or in use, and nothing where p is 1", function()
    local x = damo.array { 1, 2, 3 }
    assert.is_true(damo.array_equal(x, nn.dropout(x, { p = 0 })))
    assert.is_true(damo.array_equal(x, nn.dropout(x, { training = false })))
    assert.is_true(damo.array_equal(damo.zeros { 3 }, nn.dropout(damo.array { 1, 1 / 0, 0 }, { p = 1 })))
  end)
end)

describe("initial values", function()
  local rs = damo.random.RandomStream(3)
  local init = nn.init

  it("have the spread that their rule says", function()
    local function near(deviation, a) assert.near(1, damo.std(a) / deviation, 0.05) end
    near(math.sqrt(2 / 120), init.glorot_uniform(rs, { 50, 70 }))
    near(math.sqrt(2 / 120), init.glorot_normal(nil, { 50, 70 }))
    near(math.sqrt(2 / 144), init.he_normal(rs, { 32, 16, 3, 3 }))
    near(math.sqrt(2 / 144), init.he_uniform(rs, { 32, 16, 3, 3 }))
    near(2 * math.sqrt(1 / 50), init.lecun_normal(rs, { 50, 70 }, { gain = 2 }))
    near(math.sqrt(1 / 50), init.lecun_uniform(rs, { 50, 70 }))
    near(3, init.normal(rs, { 40, 50 }, { scale = 3 }))
    local u = init.uniform(rs, { 500 }, { low = 2, high = 3 })
    assert.is_true(damo.min(u) >= 2 and damo.max(u) < 3)
  end)

  it("are orthonormal, or constant, in the dtype asked for", function()
    local q = init.orthogonal(rs, { 4, 2, 3 }, { gain = 2 }):reshape { 4, 6 }
    assert.is_true(damo.allclose(damo.dot(q, q.T), 4 * damo.eye(4), { atol = 1e-12 }))
    q = init.orthogonal(rs, { 9, 4 }, { dtype = "float32" })
    assert.equal("float32", q.dtype)
    assert.is_true(damo.allclose(damo.dot(q.T, q), damo.eye(4), { atol = 1e-6 }))
    assert.is_true(damo.array_equal(damo.ones { 2, 3 }, init.ones(nil, { 2, 3 })))
    assert.equal("float32", init.zeros(rs, { 2 }, { dtype = "float32" }).dtype)
  end)

  it("refuse what is no stream and no shape", function()
    local function refused(kind, text, fn, ...)
      local ok, err = pcall(fn, ...)
      assert.is_false(ok)
      assert.equal(kind, err.kind)
      assert.matches(text, err.message, 1, true)
    end
    refused("type", "nn.init.he_normal: argument 1 must be a RandomStream or nil, got number", init.he_normal, 3, { 2 })
    refused("type", "nn.init.zeros: a length is an integer from 0 on, got 1.5", init.zeros, nil, { 1.5 })
    refused("value", "nn.init.uniform: unknown option 'gain'", init.uniform, rs, { 2 }, { gain = 2 })
    refused("shape", "nn.init.orthogonal: the shape must have two axes or more", init.orthogonal, rs, { 2 })
  end)
end)

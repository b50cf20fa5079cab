-- The rows of the functions of damo.nn.
local damo = require "damo"

return function(h)
  local exp, log, abs, max, min, sqrt = math.exp, math.log, math.abs, math.max, math.min, math.sqrt
  local inf, tanh, erfc = h.plain.inf, h.plain.tanh, h.plain.erfc
  local rows = {}

  -- ---- Activations --------------------------------------------------------------------------------------------------

  local points = { -6.5, -3.2, -1.3, -0.4, 0.3, 0.9, 2.1, 4.5, 7.2, -0.05 }
  local function sigmoid(x) return 1 / (1 + exp(-x)) end
  local function softplus(x) return log(1 + exp(x)) end
  local function clip(x, low, high) return max(low, min(high, x)) end
  local function activation(name, each, opts, fields)
    local want, column = {}, {}
    for i, x in ipairs(points) do want[i], column[i] = each(x), { each(x) } end
    local inputs = {}
    for i, x in ipairs(points) do inputs[i] = { x } end
    local cases = {
      { points, want = want, opts = opts }, { inputs, want = column, opts = opts, grad = false },
      { h.ints { -2, 0, 3 }, want = { each(-2), each(0), each(3) }, opts = opts },
      { h.ints {}, want = h.shape(0), opts = opts, grad = false },
    }
    for _, case in ipairs(cases) do case.tol, case.tol32 = 1e-12, 1e-5 end
    for k, v in pairs(fields or {}) do cases[3][k], cases[4][k] = v, v end
    rows["nn." .. name] = cases
  end
  activation("sigmoid", sigmoid)
  activation("tanh", tanh)
  activation("softplus", softplus)
  activation("log_sigmoid", function(x) return -softplus(-x) end)
  activation("relu", function(x) return max(x, 0) end, nil, { dtype = "int64" })
  activation("relu6", function(x) return clip(x, 0, 6) end)
  activation("leaky_relu", function(x) return x > 0 and x or 0.25 * x end, { alpha = 0.25 })
  activation("elu", function(x) return x > 0 and x or 0.7 * (exp(x) - 1) end, 0.7)
  activation("celu", function(x) return x > 0 and x or 2 * (exp(x / 2) - 1) end, { alpha = 2 })
  activation("selu", function(x) return 1.0507009873554805 * (x > 0 and x or 1.6732632423543772 * (exp(x) - 1)) end)
  activation("gelu", function(x) return 0.5 * x * erfc(-x / sqrt(2)) end)
  activation("silu", function(x) return x * sigmoid(x) end)
  activation("mish", function(x) return x * tanh(softplus(x)) end)
  activation("softsign", function(x) return x / (1 + abs(x)) end)
  activation("hard_tanh", function(x) return clip(x, -1, 1) end)
  activation("hard_sigmoid", function(x) return clip(x + 3, 0, 6) / 6 end)
  activation("hard_swish", function(x) return x * clip(x + 3, 0, 6) / 6 end)
  local function add(name, case)
    local list = rows["nn." .. name]
    list[#list + 1] = case
  end
  add("gelu", { { -1, 2 }, opts = { approximate = true }, want = {
    -0.5 * (1 + tanh(sqrt(2 / math.pi) * (-1 - 0.044715))), 1 + tanh(sqrt(2 / math.pi) * (2 + 8 * 0.044715)) } })
  add("elu", { { -inf, 800, -800 }, want = { -1, 800, -1 }, grad = false })
  add("leaky_relu", { { -inf, 2, -2 }, want = { -inf, 2, -0.02 }, grad = false })
  rows["nn.glu"] = {
    { { { 1, 2, 0.5, -1 } }, want = { { sigmoid(0.5), 2 * sigmoid(-1) } } },
    { { { 1, 2 }, { 0.5, -1 } }, opts = { axis = 1 }, want = { { sigmoid(0.5), 2 * sigmoid(-1) } } },
  }
  local m = { { 1, 2, 3 }, { -1, 0.5, 0 } }
  local function softmax(list)
    local total, out = 0, {}
    for _, x in ipairs(list) do total = total + exp(x) end
    for i, x in ipairs(list) do out[i] = exp(x) / total end
    return out
  end
  local function map(list, fn)
    local out = {}
    for i, x in ipairs(list) do out[i] = fn(x, i) end
    return out
  end
  rows["nn.softmax"] = { { m, opts = { axis = -1 }, want = map(m, softmax) }, { m[1], want = softmax(m[1]) } }
  rows["nn.log_softmax"] = { { m, opts = { axis = 2 }, want = map(m, function(r) return map(softmax(r), function(x) return log(x) end) end) } }

  -- ---- Losses -------------------------------------------------------------------------------------------------------

  local p, q = { { 0.2, 0.3, 0.5 }, { 0.1, 0.8, 0.1 } }, { { 0.3, 0.3, 0.4 }, { 0.25, 0.5, 0.25 } }
  local function total(list)
    local s = 0
    for _, x in ipairs(list) do s = s + x end
    return s
  end
  rows["nn.categorical_crossentropy"] = { { p, h.ints { 3, 2 }, want = { -log(0.5), -log(0.8) } } }
  local function binary(o, t) return -(t * log(o) + (1 - t) * log(1 - o)) end
  rows["nn.binary_crossentropy"] = { { { 0.2, 0.9 }, { 1, 0.25 }, want = { binary(0.2, 1), binary(0.9, 0.25) } } }
  rows["nn.sigmoid_binary_crossentropy"] = {
    { { -1, 2 }, { 1, 0.25 }, want = { binary(sigmoid(-1), 1), binary(sigmoid(2), 0.25) } } }
  rows["nn.nll"] = {
    { { { -1, -2 }, { -0.5, -3 } }, h.ints { 2, 1 }, want = { 2, 0.5 } },
    { { { { -1, -2 }, { -0.5, -3 } } }, h.ints { { 2, 1 } }, want = { { 2, 0.5 } } },
  }
  rows["nn.kl_divergence"] = {
    { p, q, want = map(p, function(row, i) return total(map(row, function(x, k) return x * log(x / q[i][k]) end)) end) },
    { { 0, 1 }, { 0.5, 0.5 }, want = log(2), grad = { 2 } },
    { { { 0.4 }, { 0.6 } }, { { 0.5 }, { 0.5 } }, opts = { axis = 1 }, want = { 0.4 * log(0.8) + 0.6 * log(1.2) } },
  }
  rows["nn.mean_squared_error"] = { { { 1, 2, 4 }, { 1, 0, 1 }, want = 13 / 3 } }
  rows["nn.mean_absolute_error"] = { { { 1, 2.5, 4 }, { 1.5, 0, 1 }, want = 2 }, { h.ints { 1, 2 }, h.ints { 3, 1 }, want = 1.5 } }
  rows["nn.huber"] = {
    { { 1, 2.5, 4 }, { 1.5, 0, 1 }, want = (0.125 + 2 + 2.5) / 3 },
    { { 1, 2.5, 4 }, { 1.5, 0, 1 }, opts = { delta = 0.25 }, want = 0.25 * (0.375 + 2.375 + 2.875) / 3 },
  }
  rows["nn.hinge"] = { { { 0.5, -2, 3 }, { 1, 1, 1 }, want = 3.5 / 3 }, { { 0.5, -2 }, { -1, -1 }, want = 0.75 } }
  rows["nn.cosine_similarity"] = {
    { m, { { 1, 0, 1 }, { 2, 2, 1 } }, want = { 4 / sqrt(28), -1 / (3 * sqrt(1.25)) } },
    { { 0, 0 }, { 1, 2 }, want = 0, grad = false },
    { { { 3 }, { 4 } }, { { 4 }, { 3 } }, opts = { axis = 1 }, want = { 24 / 25 } },
  }

  -- ---- Normalisations -----------------------------------------------------------------------------------------------

  local function standardise(list, eps)
    local mean = total(list) / #list
    local variance = total(map(list, function(x) return (x - mean) ^ 2 end)) / #list
    return map(list, function(x) return (x - mean) / sqrt(variance + eps) end)
  end
  local gamma, beta = { 2, 0.5, -1 }, { 0.1, 0, 1 }
  local function affine(list) return map(list, function(x, i) return x * gamma[i] + beta[i] end) end
  rows["nn.layer_norm"] = {
    { m, gamma, beta, want = map(m, function(r) return affine(standardise(r, 1e-5)) end), tol = 1e-10 },
    { { m[1] }, { { 2, 0.5, -1 } }, { { 0.1, 0, 1 } }, opts = { axis = { 1, 2 }, eps = 0.1 }, tol = 1e-10,
      want = { affine(standardise(m[1], 0.1)) } },
  }
  rows["nn.rms_norm"] = { { m, gamma, tol = 1e-10, tol32 = 1e-5, want = map(m, function(r)
    local scale = sqrt(total(map(r, function(x) return x * x end)) / 3 + 1e-5)
    return map(r, function(x, i) return x / scale * gamma[i] end)
  end) } }
  local c1, c2 = standardise({ 1, -1 }, 1e-5), standardise({ 2, 0.5 }, 1e-5)
  rows["nn.batch_norm"] = {
    { { { 1, 2 }, { -1, 0.5 } }, { 2, 3 }, { 0, 1 }, tol = 1e-10, tol32 = 1e-4,
      want = { { 2 * c1[1], 3 * c2[1] + 1 }, { 2 * c1[2], 3 * c2[2] + 1 } } },
    { { { 1, 2 }, { -1, 0.5 } }, { 2, 3 }, { 0, 1 }, { 0.5, 1 }, { 4, 9 }, opts = { eps = 0 }, tol = 1e-10,
      want = { { 0.5, 2 }, { -1.5, 0.5 } } },
  }
  local g1, g2 = standardise({ 1, 2 }, 1e-5), standardise({ -1, 0.5 }, 1e-5)
  rows["nn.group_norm"] = {
    { { { 1, 2, -1, 0.5 } }, { 1, 2, 1, 2 }, { 0, 0, 0, 1 }, opts = { num_groups = 2 }, tol = 1e-10, tol32 = 1e-4,
      want = { { g1[1], 2 * g1[2], g2[1], 2 * g2[2] + 1 } } },
  }

  -- ---- Attention ----------------------------------------------------------------------------------------------------

  rows["nn.embedding"] = {
    { h.ints { 3, 1, 3 }, { { 1, 2 }, { 3, 4 }, { 5, 6 } }, want = { { 5, 6 }, { 1, 2 }, { 5, 6 } } },
    { h.ints { { 1 }, { 2 } }, { { 1, 2 }, { 3, 4 } }, want = { { { 1, 2 } }, { { 3, 4 } } } },
  }
  local query, keys, values = { { 1, 0 }, { 0.5, -1 } }, { { 1, 2 }, { 0, 1 }, { -1, 0.5 } }, { { 1 }, { 2 }, { 4 } }
  local function attend(allowed, scale)
    return map(query, function(x, i)
      local scores, picked = {}, {}
      for j, k in ipairs(keys) do
        if allowed(i, j) then
          scores[#scores + 1] = (x[1] * k[1] + x[2] * k[2]) * scale
          picked[#picked + 1] = values[j][1]
        end
      end
      return { total(map(softmax(scores), function(w, j) return w * picked[j] end)) }
    end)
  end
  local function all() return true end
  rows["nn.scaled_dot_product_attention"] = {
    { query, keys, values, want = attend(all, 1 / sqrt(2)) },
    { query, keys, values, opts = { scale = 2 }, want = attend(all, 2) },
    { query, keys, values, opts = { causal = true }, want = attend(function(i, j) return j <= i end, 1 / sqrt(2)) },
    { query, keys, values, h.bools { { true, false, true }, { false, false, true } },
      want = attend(function(i, j) return j == 3 or (i == 1 and j == 1) end, 1 / sqrt(2)) },
    { query, keys, values, h.bools { { true, false, true }, { false, false, false } }, grad = false,
      want = { attend(function(_, j) return j ~= 2 end, 1 / sqrt(2))[1], { 0 } } },
    { { query }, { keys }, { values }, { { 0, -inf, 0 }, { -inf, -inf, 0 } }, grad = { 1, 2, 3 },
      want = { attend(function(i, j) return j == 3 or (i == 1 and j == 1) end, 1 / sqrt(2)) } },
  }
  local eye = { { 1, 0 }, { 0, 1 } }
  local wide = map(keys, function(k) return { k[1], k[2] } end)
  -- Two heads of length 1: each is softmax over the products of one column.
  local function head(c, i)
    local w = softmax(map(keys, function(k) return query[i][c] * k[c] end))
    return total(map(w, function(x, j) return x * wide[j][c] end))
  end
  rows["nn.multi_head_attention"] = {
    { query, keys, wide, eye, eye, eye, eye, opts = { num_heads = 2 },
      want = { { head(1, 1), head(2, 1) }, { head(1, 2), head(2, 2) } } },
    { { query }, { keys }, { wide }, eye, eye, eye, { { 0, 1 }, { 2, 0 } }, opts = { num_heads = 2 },
      want = { { { 2 * head(2, 1), head(1, 1) }, { 2 * head(2, 2), head(1, 2) } } } },
  }

  -- ---- Pooling ------------------------------------------------------------------------------------------------------

  -- Pooling of one plane of rank 2, window by window.
  local function pool(x, size, stride, pad, fold)
    local y = {}
    local function count(n, k) return math.floor((n + 2 * pad[k] - size[k]) / stride[k]) + 1 end
    for i = 1, count(#x, 1) do
      y[i] = {}
      for j = 1, count(#x[1], 2) do
        local window = {}
        for a = 1, size[1] do
          for b = 1, size[2] do
            local row = x[(i - 1) * stride[1] + a - pad[1]]
            window[#window + 1] = row and row[(j - 1) * stride[2] + b - pad[2]]
          end
        end
        y[i][j] = fold(window)
      end
    end
    return y
  end
  local plane = { { 3, -1, 4, 1.5, 5 }, { -9, 2, 6, -5, 3.5 }, { 5.5, 8, -9, 7, 9.5 }, { 0.5, -2, 1, -8, 2.5 } }
  local other = { { -2, 7, 1.5, 8, -2.5 }, { 8.5, 1, -8, 2, 7.75 }, { -4, 5, 9, 0, -4.5 }, { 4.75, -2, 3, -6, 0.25 } }
  local function highest(list) return max(table.unpack(list)) end
  local function mean(list) return total(list) / #list end
  local function by(n) return function(list) return total(list) / n end end
  local function pooled(size, stride, pad, fold)
    return { { pool(plane, size, stride, pad, fold) }, { pool(other, size, stride, pad, fold) } }
  end
  local x2 = { { plane }, { other } }
  rows["nn.max_pool2d"] = {
    { x2, opts = { size = 2 }, want = pooled({ 2, 2 }, { 2, 2 }, { 0, 0 }, highest) },
    { x2, opts = { size = { 3, 2 }, stride = { 2, 1 }, pad = 1 }, want = pooled({ 3, 2 }, { 2, 1 }, { 1, 1 }, highest) },
    { x2, opts = { size = { 1, 3 }, stride = 1, pad = { 0, { 2, 0 } } }, check = function(y)
      h.compare(y[{ 1, 1, 1 }], { 3, 3, 4, 4, 5 }, 0, "padded before")
    end },
    { damo.zeros { 0, 2, 4, 4 }, opts = { size = 2 }, want = h.shape(0, 2, 2, 2), grad = false },
  }
  rows["nn.avg_pool2d"] = {
    { x2, opts = { size = 2 }, want = pooled({ 2, 2 }, { 2, 2 }, { 0, 0 }, mean) },
    { x2, opts = { size = { 3, 2 }, stride = { 2, 1 }, pad = 1 }, want = pooled({ 3, 2 }, { 2, 1 }, { 1, 1 }, by(6)) },
    { x2, opts = { size = { 3, 2 }, stride = { 2, 1 }, pad = 1, count_include_pad = false },
      want = pooled({ 3, 2 }, { 2, 1 }, { 1, 1 }, mean) },
    { damo.zeros { 0, 2, 4, 4 }, opts = { size = 2 }, want = h.shape(0, 2, 2, 2), grad = false },
  }
  local line = { 3, -1, 4, 1.5, 5, -9, 2 }
  rows["nn.max_pool1d"] = {
    { { { line } }, opts = { size = 3, stride = 2 }, want = { { { 4, 5, 5 } } } },
    { { { line } }, opts = { 2 }, want = { { { 3, 4, 5 } } } },
    { h.ints { { { 2, 1, 7 } } }, opts = { 3 }, want = { { { 7 } } } },
  }
  rows["nn.avg_pool1d"] = {
    { { { line } }, opts = { size = 3, stride = 2 }, want = { { { 2, 3.5, -2 / 3 } } } },
    { { { line } }, opts = { size = 3, stride = 3, pad = 1, count_include_pad = false },
      want = { { { 1, 3.5, -3.5 } } } },
  }
  rows["nn.max_pool3d"] = {
    { { { { { { 1, 2 }, { 3, 4 } }, { { 8, 7 }, { 6, 5 } } } } }, opts = { size = { 1, 2, 2 } },
      want = { { { { { 4 } }, { { 8 } } } } } },
    { { { { { { 1, 2 }, { 3, 4 } }, { { 8, 7 }, { 6, 5 } } } } }, opts = { size = 2, stride = 1 },
      want = { { { { { 8 } } } } } },
  }
  rows["nn.avg_pool3d"] = { { { { { { { 1, 2 }, { 3, 4 } }, { { 8, 7 }, { 6, 5 } } } } }, opts = { size = { 2, 2, 1 } },
    want = { { { { { 4.5, 4.5 } } } } } } }
  rows["nn.global_max_pool"] = { { x2, want = { { 9.5 }, { 9 } } }, { { { line } }, want = { { 5 } } } }
  rows["nn.global_avg_pool"] = { { { { line } }, want = { { 5.5 / 7 } } } }
  -- ---- Convolution --------------------------------------------------------------------------------------------------

  -- Convolutions term by term. x: the Array (N, C, …), w the filters; o: padding, stride and dilation of each axis, groups,
  -- flip. With `back`, x is a result (N, K, …) and the sums go to the operand's entries, of which there are `lengths`.
  local function convolve(x, w, o, lengths)
    local n = x.ndim - 2
    local function each(dims, fn)
      local at = {}
      local function go(k)
        if k > #dims then return fn(at) end
        for i = 0, dims[k] - 1 do
          at[k] = i
          go(k + 1)
        end
      end
      go(1)
    end
    local out = { x.shape[1], lengths and w.shape[2] * o.groups or w.shape[1] }
    for k = 1, n do
      out[2 + k] = lengths and lengths[k]
        or math.floor((x.shape[2 + k] + o.before[k] + o.after[k] - (w.shape[2 + k] - 1) * o.dilation[k] - 1) / o.stride[k]) + 1
    end
    local y, positions = damo.zeros(out), lengths and x.shape or out
    local filters = w.shape[1] / o.groups
    local dims = { positions[1], w.shape[1], w.shape[2] }
    for k = 1, n do dims[3 + k], dims[3 + n + k] = positions[2 + k], w.shape[2 + k] end
    each(dims, function(i)
      local narrow_at = { i[1] + 1, math.floor(i[2] / filters) * w.shape[2] + i[3] + 1 }
      local wide_at, tap = { i[1] + 1, i[2] + 1 }, { i[2] + 1, i[3] + 1 }
      for k = 1, n do
        local o_k, t = i[3 + k], i[3 + n + k]
        local place = o_k * o.stride[k] + t * o.dilation[k] - o.before[k]
        if place < 0 or place >= (lengths and out or x.shape)[2 + k] then return end
        narrow_at[2 + k], wide_at[2 + k] = place + 1, o_k + 1
        tap[2 + k] = (o.flip and w.shape[2 + k] - 1 - t or t) + 1
      end
      local to, from = lengths and narrow_at or wide_at, lengths and wide_at or narrow_at
      y[to] = y[to] + x[from] * w[tap]
    end)
    return y:totable()
  end
  local function drawn(shape, seed)
    local size, list = 1, {}
    for _, d in ipairs(shape) do size = size * d end
    for k = 1, size do list[k] = math.sin(7.1 * k + seed) + 0.25 * math.cos(3.3 * k * seed) end
    return damo.array(list):reshape(shape)
  end
  local function list_of(v, n)
    if type(v) == "table" then return v end
    local list = {}
    for k = 1, n do list[k] = v end
    return list
  end
  -- A case of that function with the options, whose padding is `before` and `after` in plain numbers.
  local function conv_case(x, w, opts, before, after, lengths)
    local n = #x - 2
    local o = { before = list_of(before or 0, n), after = list_of(after or before or 0, n),
      stride = list_of(opts.subsample or 1, n), dilation = list_of(opts.filter_dilation or 1, n),
      groups = opts.num_groups or 1, flip = opts.filter_flip ~= false }
    local a, b = drawn(x, 1), drawn(w, 2)
    return { a, b, opts = next(opts) and opts or nil, want = convolve(a, b, o, lengths), tol = 1e-11, tol32 = 1e-4 }
  end
  rows["nn.conv1d"] = {
    conv_case({ 2, 3, 9 }, { 5, 3, 3 }, {}),
    conv_case({ 1, 1, 4 }, { 1, 1, 4 }, { border_mode = "full" }, 3),
    conv_case({ 2, 4, 9 }, { 6, 2, 2 }, { border_mode = { { 2, 0 } }, subsample = 3, num_groups = 2 }, 2, 0),
    conv_case({ 2, 2, 60 }, { 3, 2, 5 }, { border_mode = "half", filter_dilation = 3, filter_flip = false }, 6),
    { damo.zeros { 0, 2, 5 }, damo.zeros { 3, 2, 2 }, want = h.shape(0, 3, 4), grad = false },
    { damo.zeros { 2, 0, 5 }, damo.zeros { 1, 0, 4 }, want = { { { 0, 0 } }, { { 0, 0 } } }, grad = false },
    { h.ints { { { 1, 2, 3 } } }, h.ints { { { 1, 10 } } }, want = { { { 12, 23 } } } },
  }
  rows["nn.conv2d"] = {
    conv_case({ 2, 3, 6, 7 }, { 4, 3, 3, 2 }, {}),
    conv_case({ 2, 2, 5, 6 }, { 9, 2, 3, 3 }, { border_mode = "half" }, 1),
    conv_case({ 1, 2, 5, 6 }, { 3, 2, 3, 3 }, { border_mode = 1, subsample = { 2, 3 }, filter_flip = false }, 1),
    conv_case({ 1, 4, 5, 6 }, { 4, 1, 2, 2 }, { num_groups = 4, filter_dilation = { 1, 2 } }),
    conv_case({ 3, 2, 4, 4 }, { 3, 2, 1, 1 }, { subsample = 3 }),
    conv_case({ 1, 1, 5, 6 }, { 1, 1, 3, 2 }, { border_mode = { { 0, 1 }, 2 }, subsample = { 1, 2 } }, { 0, 2 }, { 1, 2 }),
  }
  rows["nn.conv3d"] = {
    conv_case({ 1, 2, 4, 3, 4 }, { 2, 2, 2, 2, 3 }, {}),
    conv_case({ 1, 2, 3, 4, 3 }, { 2, 1, 2, 3, 1 }, { border_mode = "full", subsample = { 2, 1, 2 }, num_groups = 2 },
      { 1, 2, 0 }),
  }
  rows["nn.conv1d_transpose"] = {
    conv_case({ 2, 3, 4 }, { 3, 2, 3 }, {}, 0, 0, { 6 }),
    conv_case({ 1, 2, 4 }, { 2, 1, 2 }, { subsample = 4 }, 0, 0, { 14 }),
    conv_case({ 1, 4, 4 }, { 4, 3, 3 }, { subsample = 2, border_mode = 1, num_groups = 2, filter_flip = false }, 1, 1,
      { 7 }),
    conv_case({ 1, 2, 4 }, { 2, 1, 2 }, { subsample = 3, output_shape = { 13 } }, 0, 0, { 13 }),
  }
  rows["nn.conv2d_transpose"] = {
    conv_case({ 1, 3, 4, 3 }, { 3, 2, 3, 2 }, { subsample = { 2, 1 }, filter_dilation = { 1, 2 } }, 0, 0, { 9, 5 }),
    conv_case({ 2, 2, 3, 3 }, { 2, 3, 3, 3 }, { subsample = 2, border_mode = "half", output_shape = { 6, 5 } }, 1, 1,
      { 6, 5 }),
  }
  rows["nn.conv3d_transpose"] = {
    conv_case({ 1, 2, 2, 3, 2 }, { 2, 1, 2, 1, 3 }, { subsample = { 1, 2, 1 } }, 0, 0, { 3, 5, 4 }),
  }
  return rows
end

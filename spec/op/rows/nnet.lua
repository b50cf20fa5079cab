-- The rows of the functions of neural networks.
return function(h)
  local exp, log = math.exp, math.log
  local inf = h.plain.inf
  local m = { { 1, 2, 3 }, { -1, 0.5, 0 } }
  local function softmax(list)
    local total, out = 0, {}
    for _, x in ipairs(list) do total = total + exp(x) end
    for i, x in ipairs(list) do out[i] = exp(x) / total end
    return out
  end
  local function logs(list)
    local out = {}
    for i, x in ipairs(list) do out[i] = log(x) end
    return out
  end
  local function columns(t)
    local out = {}
    for j = 1, #t[1] do
      out[j] = {}
      for i = 1, #t do out[j][i] = t[i][j] end
    end
    return out
  end
  local by_row = { softmax(m[1]), softmax(m[2]) }
  local by_column = {}
  for j, column in ipairs(columns(m)) do by_column[j] = softmax(column) end
  by_column = columns(by_column)
  local flat = softmax { 1, 2, 3, -1, 0.5, 0 }
  local all = { { flat[1], flat[2], flat[3] }, { flat[4], flat[5], flat[6] } }
  local rows = {}
  rows.softmax = {
    { m, opts = { axis = 2 }, want = by_row },
    { m, opts = -1, want = by_row },
    { m, opts = { axis = 1 }, want = by_column },
    { m, want = all },
    { { 1, 2, 3 }, want = softmax { 1, 2, 3 } },
    { { 1000, 1000, -inf }, want = { 0.5, 0.5, 0 }, grad = false },
    { h.ints { 1, 2 }, want = softmax { 1, 2 } },
  }
  rows.log_softmax = {
    { m, opts = { axis = 2 }, want = { logs(by_row[1]), logs(by_row[2]) } },
    { m, opts = { axis = 1 }, want = { logs(by_column[1]), logs(by_column[2]) } },
    { m, want = { logs(all[1]), logs(all[2]) } },
    { { 1000, 0 }, want = { 0, -1000 }, grad = false },
  }
  local p = { { 0.2, 0.3, 0.5 }, { 0.1, 0.8, 0.1 } }
  rows.categorical_crossentropy = {
    { p, { { 0, 1, 0 }, { 0.5, 0.25, 0.25 } }, want = { -log(0.3), -(0.5 * log(0.1) + 0.25 * log(0.8) + 0.25 * log(0.1)) } },
    { p, h.ints { 3, 2 }, want = { -log(0.5), -log(0.8) } },
    { { 0.25, 0.75 }, { 0.5, 0.5 }, want = -0.5 * (log(0.25) + log(0.75)) },
  }
  local function binary(o, t) return -(t * log(o) + (1 - t) * log(1 - o)) end
  rows.binary_crossentropy = { { { 0.2, 0.9 }, { 1, 0.25 }, want = { binary(0.2, 1), binary(0.9, 0.25) } },
    { { { 0.2 }, { 0.9 } }, 0, want = { { binary(0.2, 0) }, { binary(0.9, 0) } } } }
  local sigmoid = h.plain.sigmoid
  rows.sigmoid_binary_crossentropy = { { { -1, 2 }, { 1, 0.25 }, want = { binary(sigmoid(-1), 1), binary(sigmoid(2), 0.25) } },
    { { -1000, 1000 }, { 1, 0 }, want = { 1000, 1000 }, grad = false } }
  rows.mean_squared_error = { { { 1, 2, 4 }, { 1, 0, 1 }, want = 13 / 3 }, { m, m, want = 0 }, { { 1.5 }, 0.5, want = 1 } }
  local tanh = h.plain.tanh
  rows.dense_layer = { { { { 1, 2 } }, { { 0.1, -0.2, 0.3 }, { 0.5, 0.1, 0 } }, { 0.1, 0, -1 }, want = { { tanh(1.2), tanh(0), tanh(-0.7) } } } }
  return rows
end

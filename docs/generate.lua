-- generate: docs/functions.md and lua/damo/meta.lua, made from the registry of op functions (damo.registry()).
-- `make docs` runs this file and writes both; who loads it with dofile gets their texts by path instead.

local damo = require "damo"

-- ---- The registry, in families --------------------------------------------------------------------------------------

-- A family begins at the row of that name and goes on to the next one's.
local families = {
  { "add", "Arithmetic of two operands" },
  { "eq", "Comparisons and tests" },
  { "and_", "Logic and bits" },
  { "switch", "Choice, copies" },
  { "neg", "Signs, roots, rounding" },
  { "exp", "Exponentials and logarithms" },
  { "sin", "Trigonometry" },
  { "erf", "Special functions" },
  { "conj", "Complex numbers" },
  { "div", "Other names of these" },
  { "cast", "Conversion and closeness" },
  { "logical_and", "Composed elementwise functions" },
  { "sum", "Reductions" },
  { "cumsum", "Running sums, sorting" },
  { "shape", "Shapes" },
  { "alloc", "Making arrays" },
  { "join", "Joining, splitting, repeating" },
  { "subtensor", "Indexing" },
  { "meshgrid", "Grids, positions" },
  { "segment_sum", "Segments" },
  { "searchsorted", "Searching, selecting, sets" },
  { "cross", "Vectors, convolutions, differences" },
  { "dot", "Products" },
  { "fft.fft", "Fourier transforms" },
  { "softmax", "Networks" },
  { "normal", "Random numbers" },
  { "disconnected_grad", "Gradients and checks" },
  { "sparse.dense_from_sparse", "Sparse matrices" },
}

local rows, rows_by_name = damo.registry(), {}
for _, row in ipairs(rows) do rows_by_name[row.name] = row end

local function by_family()
  local title_of, out = {}, {}
  for _, family in ipairs(families) do
    assert(rows_by_name[family[1]], "docs/generate.lua: there is no row " .. family[1])
    title_of[family[1]] = family[2]
  end
  for _, row in ipairs(rows) do
    if title_of[row.name] then out[#out + 1] = { title = title_of[row.name], rows = {} } end
    assert(out[#out], "docs/generate.lua: the first row begins no family")
    table.insert(out[#out].rows, row)
  end
  return out
end

-- ---- Whether a function has a gradient: it is asked for one ---------------------------------------------------------

local function numbers(n, from)
  local list = {}
  for i = 1, n do list[i] = from + 0.37 * i % 0.8 end
  return list
end
local values = {
  [0] = function() return 0.4 end,
  [1] = function(k) return damo.array(numbers(3, 0.1 * k)) end,
  [2] = function(k) return damo.reshape(damo.array(numbers(9, 0.1 * k)), { 3, 3 }) end,
  [3] = function(k) return damo.reshape(damo.array(numbers(27, 0.1 * k)), { 3, 3, 3 }) end,
}

-- Functions that want more than float operands alone.
local band_weight = damo.array { { 0 }, { 0 }, { 9 } } -- on the main diagonal, the last row
local calls = {
  switch = function(x, y) return damo.switch(damo.gt(x, 0.3), x, y) end,
  where = function(x, y) return damo.where(damo.gt(x, 0.3), x, y) end,
  and_ = false, or_ = false, xor = false, invert = false, logical_not = false, not_ = false, -- not of floats
  bitwise_and = false, bitwise_or = false, bitwise_xor = false, bitwise_not = false,
  gcd = false, lcm = false, left_shift = false, right_shift = false,
  ceil_intdiv = false, -- of integers
  multigammaln = function(x) return damo.multigammaln(1 + damo.sqr(x), 2) end,
  chi2sf = function(x, y) return damo.chi2sf(damo.exp(x), damo.exp(y)) end,
  kn = function(_, y) return damo.kn(2, 1 + damo.sqr(y)) end,
  ldexp = function(x) return x:ldexp(2) end,
  interpn = function(x, y) return damo.interpn({ damo.array { -2, 0, 2 } }, x, y:reshape { 9 }) end,
  quantile = function(x, _, s) return x:quantile(s) end,
  nanquantile = function(x, _, s) return x:nanquantile(s) end,
  nanpercentile = function(x, _, s) return x:nanpercentile(s) end,
  polyfit = function(x, y) return damo.polyfit(damo.flatten(x), damo.flatten(y), 1) end,
  inverse_permutation = false, -- of integers
  percentile = function(x, _, s) return x:percentile(s) end,
  cast = function(x) return x:cast "float32" end,
  shape_i = function(x) return x:shape_i(1) end,
  reshape = function(x) return x:reshape { -1 } end,
  dimshuffle = function(x) return x:dimshuffle { "x", 1, 2 } end,
  moveaxis = function(x) return x:moveaxis { source = 1, destination = 2 } end,
  swapaxes = function(x) return x:swapaxes { axis1 = 1, axis2 = 2 } end,
  expand_dims = function(x) return x:expand_dims(1) end,
  broadcast_to = function(x) return x:broadcast_to { 2, 3, 3 } end,
  specify_broadcastable = function(x) return damo.sum(x, { axis = 1, keepdims = true }):specify_broadcastable(1) end,
  alloc = function(x) return damo.alloc(x, { shape = { 2, 3, 3 } }) end,
  full = function(_, _, s) return damo.full({ 2 }, s) end,
  full_like = function(x, _, s) return damo.full_like(x, s) end,
  linspace = function(_, _, s) return damo.linspace(0, s, { num = 5 }) end,
  bartlett = false, blackman = false, hamming = false, hanning = false, -- of a length
  kaiser = function(_, _, s) return damo.kaiser(5, s) end,
  logspace = function(_, _, s) return damo.logspace(0, s, { num = 5 }) end,
  geomspace = function(_, _, s) return damo.geomspace(1, 1 + damo.sqr(s), { num = 5 }) end,
  join = function(x, y) return damo.join(1, { x, y }) end,
  concatenate = function(x, y) return damo.concatenate { x, y } end,
  stack = function(x, y) return damo.stack { x, y } end,
  vstack = function(x, y) return damo.vstack { x, y } end,
  hstack = function(x, y) return damo.hstack { x, y } end,
  split = function(x) return (x:split { 1, 2 }) end,
  column_stack = function(x, y) return damo.column_stack(x, y) end,
  dstack = function(x, y) return damo.dstack(x, y) end,
  append = function(x, y) return damo.append(x, y) end,
  vsplit = function(x) return (x:vsplit { sizes = { 1, 2 } }) end,
  hsplit = function(x) return (x:hsplit { sizes = { 1, 2 } }) end,
  dsplit = function(x) return (damo.expand_dims(x, 3):dsplit(1)) end,
  unstack = function(x) return (damo.specify_shape(x, { 3, 3 }):unstack()) end,
  delete = function(x) return x:delete(2) end,
  insert = function(x, y) return x:insert(2, y) end,
  tile = function(x) return x:tile { 2, 2 } end,
  repeat_ = function(x) return x:repeat_(2) end,
  roll = function(x) return x:roll(1) end,
  pad = function(x) return x:pad { 1 } end,
  subtensor = function(x) return x[{ 1 }] end,
  set_subtensor = function(x, y) return damo.set_subtensor(x[{ 1 }], y[{ 2 }]) end,
  inc_subtensor = function(x, y) return damo.inc_subtensor(x[{ 1 }], y[{ 2 }]) end,
  set_subtensor_at = function(x, y) return damo.set_subtensor(x[{ 1 }], y[{ 2 }]) end,
  inc_subtensor_at = function(x, y) return damo.inc_subtensor(x[{ 1 }], y[{ 2 }]) end,
  take = function(x) return x:take(damo.idx { 1 }) end,
  take_along_axis = function(x)
    return x:take_along_axis(damo.constant(damo.ones({ 3, 3 }, "int64")), { axis = 1 })
  end,
  gradient = function(x) return (damo.gradient(x)) end,
  polyval = function(x, y) return damo.polyval(x[1], y) end,
  convolve = function(x, y) return damo.convolve(x[1], y[1]) end,
  correlate = function(x, y) return damo.correlate(x[1], y[1]) end,
  put = function(x, y) return damo.put(x, damo.idx { 1 }, y) end,
  put_along_axis = function(x, y) return damo.put_along_axis(x, damo.ones({ 3, 3 }, "int64"), y) end,
  choose = function(x, y) return damo.choose(damo.idx { 1, 2, 1 }, { x, y }) end,
  select = function(x, y) return damo.select({ damo.gt(x, 0.3) }, { x }, y) end,
  unpack = function(x) return damo.unpack(damo.ravel(x), { shapes = { { 9 } } }) end,
  ix_ = false, tril_indices = false, triu_indices = false, diag_indices = false, unravel_index = false,
  ravel_multi_index = false, -- of positions
  bincount = function(x) return damo.bincount(damo.idx { 1, 2, 1 }, x[1]) end,
  topk = function(x) return damo.topk(x, 2) end,
  argtopk = function(x) return damo.argtopk(x, 2) end,
  partition = function(x) return damo.partition(x, 2) end,
  argpartition = function(x) return damo.argpartition(x, 2) end,
  lexsort = function(x) return damo.lexsort { x } end,
  histogram = function(x, y) return (damo.histogram(x, y)) end,
  divmod = function(x, y) return (select(2, damo.divmod(x, y))) end,
  array_split = function(x) return (damo.array_split(x, 2)) end,
  histogramdd = function(x, y) return (damo.histogramdd(damo.specify_shape(x, { 3, 3 }), y[1], { bins = 2 })) end,
  histogram2d = function(x, y) return (damo.histogram2d(x[1], y[1], y[2])) end,
  one_hot = false, to_one_hot = false, eye = false, tri = false, -- of integers
  einsum = function(x, y) return damo.einsum({ x, y }, "ij,jk->ik") end,
  nonzero = function(x) return (x:nonzero()) end,
  normal = function(_, _, s) return (select(2, damo.random.normal(s, 1, { rng = damo.random.state(1) }))) end,
  uniform = function(_, _, s) return (select(2, damo.random.uniform(s, 1, { rng = damo.random.state(1) }))) end,
  bernoulli = function(_, _, s) return (select(2, damo.random.bernoulli(s, { rng = damo.random.state(1) }))) end,
  exponential = function(_, _, s) return (select(2, damo.random.exponential(s, { rng = damo.random.state(1) }))) end,
  gumbel = function(_, _, s) return (select(2, damo.random.gumbel(s, 1, { rng = damo.random.state(1) }))) end,
  integers = false,
  ["random.categorical"] = false, ["random.multinomial"] = false, ["dist.quantile"] = false,
  ["random.dirichlet"] = function(x)
    return (select(2, damo.random.dirichlet(damo.exp(x), { rng = damo.random.state(1) })))
  end,
  ["random.multivariate_normal"] = function(x)
    return (select(2, damo.random.multivariate_normal(x[1], damo.eye(3) + damo.dot(x, x.T),
      { rng = damo.random.state(1) })))
  end,
  ["random.wishart"] = function(x)
    return (select(2, damo.random.wishart(7, damo.eye(3) + damo.dot(x, x.T), { rng = damo.random.state(1) })))
  end,
  ["random.choice"] = function(x)
    return (select(2, damo.random.choice(x, { size = { 2 }, rng = damo.random.state(1) })))
  end,
  permutation = function(x) return (select(2, damo.random.permutation(x, { rng = damo.random.state(1) }))) end,
  log1mexp = function(x) return damo.log1mexp(-x) end,
  arccosh = function(x) return damo.arccosh(1 + x) end,
  ["linalg.cholesky_banded"] = function(x) return damo.linalg.cholesky_banded(damo.tanh(x) + band_weight) end,
  ["linalg.cho_solve_banded"] = function(x, y) return damo.linalg.cho_solve_banded(x, y, { bands = 3 }) end,
  ["linalg.solveh_banded"] = function(x, y)
    return damo.linalg.solveh_banded(damo.tanh(x) + band_weight, y, { bands = 3 })
  end,
  ["linalg.solve_toeplitz"] = function(x, y) return damo.linalg.solve_toeplitz(x[1] + 9 * damo.eye(3)[1], y) end,
  ["linalg.solve_circulant"] = function(x, y) return damo.linalg.solve_circulant(x[1], y) end,
  ["linalg.matrix_power"] = function(x) return damo.linalg.matrix_power(x, 2) end,
  ["linalg.matrix_dot"] = function(x, y) return damo.linalg.matrix_dot(x, y) end,
  ["linalg.multi_dot"] = function(x, y) return damo.linalg.multi_dot(x, y) end,
  ["linalg.block_diag"] = function(x, y) return damo.linalg.block_diag(x, y) end,
  ["linalg.tensorinv"] = function(x) return damo.linalg.tensorinv(x + 3 * damo.eye(3), { ind = 1 }) end,
  ["linalg.tensorsolve"] = function(x, y) return damo.linalg.tensorsolve(x + 3 * damo.eye(3), y[1]) end,
  ["linalg.solve_continuous_are"] = function(x, y)
    return damo.linalg.solve_continuous_are(x, y, damo.eye(3), damo.eye(3))
  end,
  ["linalg.solve_discrete_are"] = function(x, y)
    return damo.linalg.solve_discrete_are(x, y, damo.eye(3), damo.eye(3))
  end,
  real = function(x, y) return damo.real(damo.complex(x, y)) end,
  imag = function(x, y) return damo.imag(damo.complex(x, y)) end,
  angle = function(x, y) return damo.angle(damo.complex(x, y)) end,
  assert_op = function(x) return damo.assert_op(x, damo.all(damo.gt(x, -1))) end,
  specify_shape = function(x) return x:specify_shape { 3, 3 } end,
  grad_clip = function(x) return x:grad_clip { lower = -1, upper = 1 } end,
  grad_scale = function(x) return x:grad_scale(2) end,
  unbroadcast = function(x) return damo.sum(x, { axis = 1, keepdims = true }):unbroadcast(1) end,
  ifelse = function(x, y, s) return damo.ifelse(damo.gt(s, 0.2), x, y) end,
  ["fft.irfft"] = function(x) return damo.fft.irfft(x, { n = 3 }) end,
  ["fft.fftfreq"] = false, ["fft.rfftfreq"] = false, -- of lengths
  betainc = function(x, y) return damo.betainc(x, y, damo.sigmoid(x)) end,
  betaincinv = function(x, y) return damo.betaincinv(1 + x, 1 + y, damo.sigmoid(x)) end,
  gammaincinv = function(x, y) return damo.gammaincinv(1 + x, damo.sigmoid(y)) end,
  gammainccinv = function(x, y) return damo.gammainccinv(1 + x, damo.sigmoid(y)) end,
  ndtri = function(x) return damo.ndtri(damo.sigmoid(x)) end,
  ndtri_exp = function(x) return damo.ndtri_exp(-x) end,
  logit = function(x) return damo.logit(damo.sigmoid(x)) end,
  ["nn.glu"] = function(x) return damo.nn.glu(damo.concatenate({ x, x }, { axis = -1 })) end,
  dense_layer = function(x, y) return damo.dense_layer(x, y, y[1]) end,
  zeta = function(x) return damo.zeta(2 + damo.sqr(x)) end,
  riemann_zeta = function(x) return damo.riemann_zeta(2 + damo.sqr(x)) end,
  hurwitz_zeta = function(x, y) return damo.hurwitz_zeta(2 + damo.sqr(x), 1 + damo.sqr(y)) end,
  polygamma = function(x) return damo.polygamma(1, 1 + damo.sqr(x)) end,
  spherical_jn = function(x) return damo.spherical_jn(1, x) end,
  lambertw_lower = function(x) return damo.lambertw_lower(-0.3 * damo.sigmoid(x)) end,
  ellipk = function(x) return damo.ellipk(damo.sigmoid(x)) end,
  ellipe = function(x) return damo.ellipe(damo.sigmoid(x)) end,
  ellipd = function(x) return damo.ellipd(damo.sigmoid(x)) end,
  hyp2f1 = function(x, y) return damo.hyp2f1(x, y, 2 + damo.sqr(x), damo.sigmoid(y) - 0.5) end,
  cosint = function(x) return damo.cosint(1 + damo.sqr(x)) end,
  coshint = function(x) return damo.coshint(1 + damo.sqr(x)) end,
  sici = function(x) return damo.sinint(x) end,
  hyp1f1 = function(x, y) return damo.hyp1f1(1 + damo.sqr(x), 2 + damo.sqr(x), y) end,
  gammainc_grad_a = function(x) return damo.gammainc_grad_a(2, 1 + damo.sqr(x)) end,
  betainc_grad_a = function(x) return damo.betainc_grad_a(2, 3, damo.sigmoid(x)) end,
  betainc_grad_b = function(x) return damo.betainc_grad_b(2, 3, damo.sigmoid(x)) end,
  gammainc_grad_aa = function(x) return damo.gammainc_grad_aa(2, 1 + damo.sqr(x)) end,
  betainc_grad_aa = function(x) return damo.betainc_grad_aa(2, 3, damo.sigmoid(x)) end,
  betainc_grad_ab = function(x) return damo.betainc_grad_ab(2, 3, damo.sigmoid(x)) end,
  betainc_grad_bb = function(x) return damo.betainc_grad_bb(2, 3, damo.sigmoid(x)) end,
  zeta_grad_ss = function(x) return damo.zeta_grad_ss(2, 1 + damo.sqr(x)) end,
  zeta_grad_s = function(x) return damo.zeta_grad_s(2, 1 + damo.sqr(x)) end,
}

for _, name in ipairs { "k0", "k1", "y0", "y1", "exp1" } do
  calls[name] = function(x) return damo[name](1 + damo.sqr(x)) end
end
for _, name in ipairs { "jv", "yv", "iv", "kv", "ive", "kve", "expn" } do
  calls[name] = function(x, y) return damo[name](1 + damo.sqr(x), 1 + damo.sqr(y)) end
end
for _, name in ipairs { "jv_grad_v", "yv_grad_v", "ive_grad_v", "kve_grad_v", "expn_grad_n", "jv_grad_vv", "yv_grad_vv",
  "ive_grad_vv", "kve_grad_vv", "expn_grad_nn" } do
  calls[name] = function(x) return damo[name](2, 1 + damo.sqr(x)) end
end
for _, name in ipairs { "ellipkinc", "ellipeinc", "jacobi_am", "jacobi_sn", "jacobi_cn", "jacobi_dn", "ellipj" } do
  calls[name] = function(x, y) return (damo[name](x, damo.sigmoid(y))) end
end
for _, name in ipairs { "ellipdinc", "ellipkinc_grad_m" } do
  calls[name] = function(x) return damo[name](x, 0.5) end
end
for _, name in ipairs { "a", "b" } do
  calls["hyp1f1_grad_" .. name] = function(x) return damo["hyp1f1_grad_" .. name](1, 2, x) end
end
for _, name in ipairs { "a", "b", "c" } do
  calls["hyp2f1_grad_" .. name] = function(x) return damo["hyp2f1_grad_" .. name](1, 2, 3, damo.sigmoid(x) - 0.5) end
end

-- Parameters that fit a draw, of which a script's may be of any rank: for each name the function of a scalar.
local function draw_call(row, v)
  local args, name = {}, row.name:gsub("^random%.", "")
  local n = 0
  for _ = 2, #row.operands do
    n = n + 1
    args[n] = v.scalar + n
  end
  args[n + 1] = { rng = damo.random.state(1) }
  return (select(2, damo.random[name](table.unpack(args))))
end

local function plain_call(row, v)
  local args = {}
  if row.name:find "^random%." then return draw_call(row, v) end
  for i, operand in ipairs(row.operands) do
    if not operand.optional then args[i] = v[i] end
  end
  local home, name = row.name:match "^(.-)%.?([^.]*)$"
  -- A matrix of linear algebra has a dominant diagonal: it is regular, and positive definite.
  if home == "linalg" and args[1] and args[1].ndim == 2 then args[1] = args[1] + 3 * damo.eye(3) end
  home = row.random and damo.random or home ~= "" and damo[home] or damo
  return (home[name](table.unpack(args)))
end

-- The Variable that the function gives of three float operands of that rank (a scalar third), nil where it takes none.
local function result_of(row, v)
  local call = calls[row.name]
  local ok, out = pcall(function()
    if call then return call(v[1], v[2], v.scalar) end
    return plain_call(row, v)
  end)
  if ok and damo.is_variable(out) then return out end
end

for _, kind in ipairs { "sum", "prod", "max", "min", "mean" } do
  local name = "segment_" .. kind
  calls[name] = function(x) return damo[name](x, damo.idx { 1, 2, 1 }) end
end
for _, kind in ipairs { "add", "max", "min" } do
  local name = "scatter_" .. kind
  calls[name] = function(x, y) return damo[name](x, damo.idx { 1, 2, 1 }, y) end
end

local function verdict(out, v)
  -- squared: the sum of a softmax is 1 whatever its operand
  local cost = damo.sum(damo.sqr(damo.real(out):cast "float64"))
  local wrt = { v[1], v[2], v[3], v.scalar }
  local ok, grads = pcall(damo.grad, cost, wrt, { return_disconnected = "none", disconnected_inputs = "ignore" })
  if not ok then
    return type(grads) == "table" and grads.kind == "null_gradient" and "not implemented" or error(grads)
  end
  local found, inputs = {}, {}
  for i = 1, #wrt do found[#found + 1] = grads[i] end
  if #found == 0 then return "disconnected" end
  for i = 1, #wrt do inputs[i] = damo.In(wrt[i], { value = values[wrt[i].ndim](i) }) end
  local results = { damo.compile(inputs, found, { on_unused_input = "ignore" })() }
  for _, g in ipairs(results) do
    local total = damo.sum(damo.abs(g))
    assert(total == total, "the call is outside the function's domain: its gradient is nan")
    if total ~= 0 then return "yes" end
  end
  return "zero"
end

-- "yes", "zero" (everywhere, as of rounding), "disconnected", "not implemented", "-" where no operand is a float, "?".
local function gradient_of(row)
  if #row.operands == 0 or calls[row.name] == false then return "-" end
  for _, ndim in ipairs { 2, 1, 0, 3 } do
    local v = { scalar = damo.dscalar "s" }
    for i = 1, 3 do v[i] = damo.tensor("x" .. i, { dtype = "float64", ndim = ndim }) end
    local out = result_of(row, v)
    if out then
      local ok, answer = pcall(verdict, out, v)
      return ok and answer or error(("docs/generate.lua: %s: %s"):format(row.name, tostring(answer)))
    end
  end
  return "?" -- `calls` lacks one that fits
end

-- ---- Signatures -----------------------------------------------------------------------------------------------------

-- Makers whose first argument is the shape, an option of the row.
local shape_first = { zeros = "shape", ones = "shape", empty = "shape", full = "shape, value" }

local function operand_text(o)
  if o.list then return ("{%s1, …}"):format((o.name:gsub("s$", ""))) end
  return o.optional and ("[%s]"):format(o.name) or o.name
end

-- "damo.sum(x, {axis=axes, keepdims=bool, dtype=dtype})"
local function signature(row)
  local parts, options = {}, {}
  if shape_first[row.name] then return ("damo.%s(%s, [dtype])"):format(row.name, shape_first[row.name]) end
  for i, o in ipairs(row.operands) do
    if not (row.random and i == 1) then parts[#parts + 1] = operand_text(o) end
  end
  for _, o in ipairs(row.options) do options[#options + 1] = o.name .. "=" .. o.kind end
  if row.random then options[#options + 1] = "rng=state" end
  if #options > 0 then parts[#parts + 1] = "{" .. table.concat(options, ", ") .. "}" end
  local owner = row.random and not row.name:find(".", 1, true) and "random." or ""
  return ("damo.%s%s(%s)"):format(owner, row.name, table.concat(parts, ", "))
end

local fields = { shape = true, size = true }

local function cell(text) return (text:gsub("[|*]", "\\%0")) end

-- ---- docs/functions.md ----------------------------------------------------------------------------------------------

local notes = {
  ["Random numbers"] = "With `rng=` a draw gives the next state and the values; without, values alone, drawn at once\n"
    .. "from the context's own stream. A `damo.random.RandomStream` has the same draws as methods, which give a\n"
    .. "Variable each.",
  ["Sparse matrices"] = "Their gradients are in the guide, docs/sparse.md. A tensor function of a sparse operand "
    .. "is the\nsparse function of its name: `damo.dot(A, x)` is `damo.sparse.dot(A, x)`.",
}

-- The sorted names of a table's functions for which `wanted` is true, as "`damo.a`, `damo.b`".
local function listed(home, prefix, wanted)
  local names = {}
  for name, value in pairs(home) do
    if type(value) == "function" and wanted(name) then names[#names + 1] = ("`%s.%s`"):format(prefix, name) end
  end
  table.sort(names)
  return table.concat(names, ", ")
end

local letters = {
  { "", "floatX, or the option `dtype`" }, { "b", "int8" }, { "w", "int16" }, { "i", "int32" }, { "l", "int64" },
  { "f", "float32" }, { "d", "float64" }, { "c", "complex64" }, { "z", "complex128" },
}

-- What is made by rule: makers of Variables, Op classes of sparse functions.
local function made_by_rule()
  local out = { [[
## Makers of Variables

Each is `damo.dmatrix(name, {dtype=, shape=})`: an input of a graph. `shape` has a length or false an axis. The letter
tells the dtype; a row has a first, a column a second axis of length 1, so that they broadcast.

| dtype | makers |
|---|---|]] }
  local ends = { scalar = true, vector = true, row = true, col = true, matrix = true }
  for _, letter in ipairs(letters) do
    local names = listed(damo, "damo", function(name)
      local bare = name:match("^" .. letter[1] .. "(.*)$")
      return bare ~= nil and (ends[bare] or bare:match "^tensor%d$" ~= nil)
    end)
    out[#out + 1] = ("| %s | %s |"):format(letter[2], names)
  end
  out[#out + 1] = [[

Those of sparse Variables, in csr and csc form with the same letters: ]]
    .. listed(damo.sparse, "damo.sparse", function(name) return name:match "^cs[cr]_%l?matrix$" ~= nil end) .. [[.

## Op classes of sparse functions

What the functions above make nodes of, for who looks at graphs or writes rewrite rules: `damo.sparse.CSM{format="csc"}`
is an Op, called on Variables. An Op has its class's name, but that of `damo.sparse.Dot` is SparseDot, for Dot is the
dense product. ]]
    .. listed(damo.sparse, "damo.sparse", function(name)
      return name:match "^%u" ~= nil and name ~= "SparseTensorType" and name ~= "FactorType"
    end) .. ".\n"
  return table.concat(out, "\n")
end

local function functions_page()
  local out = { [[
<!-- Written by docs/generate.lua (`make docs`) from the op registry; change the rows in src/op, not this page. -->

# Functions

Every op function, by family. Each takes Variables, and then builds graph, or values alone, and then computes at once.
Options come in one table after the operands; the first of them may stand without its name. Operands in square brackets
may be left out. Except where noted, a function is also a method of its first operand: `damo.sum(x, {axis=1})` is
`x:sum{axis=1}` and `x:sum(1)`. Each has the option `out` too: the Array that a call on values
[writes its result into](conventions.md#calls).

Kinds of options: `int`, `num`, `bool`, `str`; `dtype`, a name such as `"float32"`; `axes`, a 1-based position or a list
of them, negative from the end; `shape`, a list of integers and Variables, or an integer vector; `any`, as the line
says.

The last column tells the gradient for float operands: *yes*; *zero*, as of a step function; *disconnected*, no path for
a gradient; *not implemented*; a dash where no operand is a float; a question mark where nobody asked. It was found by
asking each function for one.
]] }
  for _, family in ipairs(by_family()) do
    local words = notes[family.title] and notes[family.title] .. "\n\n" or ""
    local head = family.title == "Sparse matrices" and "| call | what |\n|---|---|"
      or "| call | what | gradient |\n|---|---|---|"
    out[#out + 1] = ("## %s\n\n%s%s"):format(family.title, words, head)
    local sparse = family.title == "Sparse matrices"
    for _, row in ipairs(family.rows) do
      local note = (row.method or row.random) and "" or " (no method)"
      if fields[row.name] then note = (" (`x.%s`)"):format(row.name) end
      local gradient = sparse and "" or (" %s |"):format((gradient_of(row):gsub("^%-$", "–")))
      out[#out + 1] = ("| `%s` | %s%s |%s"):format(signature(row), cell(row.doc), note, gradient)
    end
    out[#out + 1] = ""
  end
  out[#out + 1] = made_by_rule()
  return table.concat(out, "\n")
end

-- ---- lua/damo/meta.lua ----------------------------------------------------------------------------------------------

local lua_types = {
  int = "integer", num = "number", bool = "boolean", str = "string", dtype = "damo.Dtype", axes = "integer|integer[]",
  ints = "integer[]", shape = "damo.Shape", var = "damo.Operand", any = "any",
}

local reserved = {}
for word in ("and break do else elseif end false for function goto if in local nil not or repeat return then true "
  .. "until while"):gmatch "%S+" do reserved[word] = true end

local function param_name(name) return reserved[name] and name .. "_" or name end

-- What lua/damo/sparse.lua adds to a row: an option of the function, and the class of what it gives of values.
local added = {
  ["sparse.factorize"] = { option = "progress?: boolean|fun(step: integer, steps: integer)", result = "damo.Factor" },
}

local function options_type(row, of_method)
  local keys = {}
  for _, o in ipairs(row.options) do
    keys[#keys + 1] = ("%s?: %s"):format(o.name, assert(lua_types[o.kind], o.kind))
  end
  if row.random then keys[#keys + 1] = "rng?: any" end
  if added[row.name] and not of_method then keys[#keys + 1] = added[row.name].option end
  keys[#keys + 1] = "out?: damo.Array|damo.Array[]"
  local first = row.options[1] and lua_types[row.options[1].kind] .. "|" or ""
  return ("%s{ %s }"):format(first, table.concat(keys, ", "))
end

-- How many results the function has of three float operands, as far as one call tells; 1 where it takes none.
local function results_count(row)
  local home, name = row.name:match "^(.-)%.?([^.]*)$"
  for ndim = 2, 1, -1 do
    local args = {}
    for i, operand in ipairs(row.operands) do
      if not operand.optional then args[i] = damo.tensor { dtype = "float64", ndim = ndim } end
    end
    local results = { pcall((home ~= "" and damo[home] or damo)[name], table.unpack(args)) }
    if results[1] then return math.max(1, #results - 1) end
  end
  return 1
end

-- The parameters of a call whose first operand is a Variable, by which an editor knows that it gives Variables; nil
-- where no operand must be given.
local function overload(row, skip)
  local first = row.operands[1]
  if not first or first.optional then return nil end
  local params = {}
  for i, o in ipairs(row.operands) do
    local kind = i == 1 and "damo.Variable" or "damo.Operand"
    local name = skip == 1 and i == 1 and "self" or param_name(o.name)
    params[i] = ("%s%s: %s%s"):format(name, o.optional and "?" or "", kind, o.list and "[]" or "")
  end
  params[#params + 1] = "options?: any"
  return table.concat(params, ", ")
end

-- The annotated declaration of `owner.name` (a function) or `owner:name` (a method: the first operand is self).
local function declaration(row, owner, skip)
  local lines, names = { "---" .. row.doc }, {}
  for i, o in ipairs(row.operands) do
    if i > skip then
      local name = param_name(o.name)
      names[#names + 1] = name
      local mark, list = o.optional and "?" or "", o.list and "[]" or ""
      lines[#lines + 1] = ("---@param %s%s damo.Operand%s"):format(name, mark, list)
    end
  end
  names[#names + 1] = "options"
  lines[#lines + 1] = "---@param options? " .. options_type(row, skip == 1)
  local count = row.random and 1 or results_count(row)
  local result = owner == "RandomStream:" and "damo.Variable" or added[row.name] and added[row.name].result
    or "damo.Result"
  for _ = 1, count do lines[#lines + 1] = "---@return " .. result end
  if owner == "random." then lines[#lines + 1] = "---@return damo.Result? draw where rng is given, after its state" end
  local of_variables = not row.random and overload(row, skip)
  if of_variables then
    local variables = ("damo.Variable, "):rep(count):gsub(", $", "")
    lines[#lines + 1] = ("---@overload fun(%s): %s"):format(of_variables, variables)
  end
  local name = row.name:match "[^.]*$"
  lines[#lines + 1] = ("function %s%s(%s) end"):format(owner, name, table.concat(names, ", "))
  return table.concat(lines, "\n") .. "\n"
end

local function maker_lines()
  local names, out = {}, {}
  local ends = { scalar = true, vector = true, row = true, col = true, matrix = true }
  local function is_maker(name) return ends[name] or name:match "^tensor%d$" end
  for name in pairs(damo) do
    local bare = name:match "^[bwilfdcz](.*)$"
    if is_maker(name) or bare and is_maker(bare) then names[#names + 1] = name end
  end
  table.sort(names)
  for _, name in ipairs(names) do
    out[#out + 1] = ("---@param name? string\n---@param options? damo.MakerOptions\n---@return damo.Variable\n"
      .. "function damo.%s(name, options) end\n"):format(name)
  end
  return table.concat(out, "\n")
end

-- csr_matrix … csc_zmatrix, and the Op classes.
local function sparse_lines()
  local names, out = {}, {}
  local declared = {}
  for _, row in ipairs(rows) do declared[row.name] = true end
  for name, value in pairs(damo.sparse) do
    local class = name:match "^%u" and not name:match "Type$"
    if type(value) == "function" and not declared["sparse." .. name] and (name:match "^cs[cr]_%w?matrix$" or class) then
      names[#names + 1] = name
    end
  end
  table.sort(names)
  for _, name in ipairs(names) do
    local text = name:match "matrix$"
      and "---@param name? string\n---@param options? damo.MakerOptions\n---@return damo.Variable\n"
        .. "function sparse.%s(name, options) end\n"
      or "---The Op class: a table of its properties gives the Op.\n---@param props? table<string, any>\n"
        .. "---@return damo.Op\nfunction sparse.%s(props) end\n"
    out[#out + 1] = text:format(name)
  end
  return table.concat(out, "\n")
end

-- The constructors of damo.dist, from their formulas' parameters.
local function distribution_lines()
  local formulas_of, names, out = {}, {}, {}
  for _, family in ipairs { "continuous", "discrete", "vector" } do
    for name, formulas in pairs(require("damo.dist_" .. family)) do
      formulas_of[name], names[#names + 1] = formulas, name
    end
  end
  table.sort(names)
  for _, name in ipairs(names) do
    local formulas, lines = formulas_of[name], {}
    for i, param in ipairs(formulas.params) do
      local preset = formulas.presets and formulas.presets[param] ~= nil
      lines[i] = ("---@param %s%s damo.Operand\n"):format(param, preset and "?" or "")
    end
    out[#out + 1] = ("%s---@return damo.Distribution\nfunction dist.%s(%s) end\n"):format(table.concat(lines), name,
      table.concat(formulas.params, ", "))
  end
  return table.concat(out, "\n")
end

local function meta(fixed)
  local head = "-- Written by docs/generate.lua (`make docs`) from the op registry and docs/annotations.lua;\n"
    .. "-- read by editors, never loaded at run time."
  local out = { "---@meta", head, "-- luacheck: ignore", "", fixed, maker_lines(), sparse_lines(),
    distribution_lines() }
  for _, row in ipairs(rows) do
    local sparse = row.name:match "^sparse%."
    if row.random and not sparse then
      out[#out + 1] = declaration(row, "random.", 1)
      out[#out + 1] = declaration(row, "RandomStream:", 1)
    elseif not shape_first[row.name] then
      local table_name = row.name:match "^(.*%.)" or "damo."
      out[#out + 1] = declaration(row, table_name, row.random and 1 or 0)
    end
    local plain = row.name:match "%.(.*)$"
    local known = plain and rows_by_name[plain] and rows_by_name[plain].method
    if row.method and #row.operands > 0 and not known then out[#out + 1] = declaration(row, "Tensor:", 1) end
  end
  return table.concat(out, "\n")
end

-- ---- lua/damo/help_names.lua ----------------------------------------------------------------------------------------

-- The type at the beginning of an annotation, which may hold spaces inside brackets and behind a colon, and the rest.
local function type_and_rest(text)
  local depth, i = 0, 1
  while i <= #text do
    local c = text:sub(i, i)
    if c:match "[%(<{%[]" then depth = depth + 1 elseif c:match "[%)>}%]]" then depth = depth - 1 end
    if c == " " and depth <= 0 and text:sub(i - 1, i - 1) ~= ":" then break end
    i = i + 1
  end
  return text:sub(1, i - 1), (text:sub(i):gsub("^%s+", ""))
end

-- What an annotated file declares: functions with the comments above them, and the fields of its classes.
local function add_declared(entries, text, owners)
  local words, tags, class = {}, {}, nil
  local function reset() words, tags, class = {}, {}, nil end
  local function add(name, args)
    if not entries[name] then
      entries[#entries + 1] = name
      entries[name] = { args = args, doc = table.concat(words, " "), tags = tags }
    end
  end
  for line in text:gmatch "([^\n]*)\n?" do
    local owner, name, args = line:match "^function ([%a_][%w_]*[.:])([%w_]+)(%b())"
    if line:match "^%-%-%-@class" then
      class = line:match "^%-%-%-@class ([%w_.]+)"
    elseif line:match "^%-%-%-@field" and class then
      local field, typed = line:match "^%-%-%-@field ([%a_][%w_]*%??) (.*)"
      local kind, doc = type_and_rest(typed or "")
      local is_module = class == "damo" or class:match "^damo%.%l" ~= nil
      if field and not (is_module and kind:match "^damo%.%a[%w_.]*$") then -- no module's field that is a module
        add((is_module and class or class:gsub("^damo%.", "")) .. "." .. field:gsub("%?", ""), nil)
        local entry = entries[entries[#entries]]
        entry.doc, entry.tags = doc ~= "" and doc or kind, { "@type " .. kind }
      end
    elseif line:match "^%-%-%-?%s*@" then
      tags[#tags + 1] = line:gsub("^%-+%s*", "")
    elseif line:match "^%-%-" and #tags > 0 then -- a tag goes on
      tags[#tags] = tags[#tags] .. " " .. line:gsub("^%-+%s*", "")
    elseif line:match "^%-%-" then
      words[#words + 1] = line:gsub("^%-+%s*", "")
    elseif owner and (not owners or owners[owner]) then
      local home = owner:gsub("^init%.", "nn.init.")
      if owner:match "^%l" and owner ~= "damo." then home = "damo." .. home end
      add(home .. name, args)
      reset()
    else
      reset()
    end
  end
end

local function help_names(annotations, modules, distributions)
  local out = { "-- Written by docs/generate.lua (`make docs`): what damo.help says beside the rows of the registry.",
    "-- luacheck: ignore", "return {", "  families = {" }
  for _, family in ipairs(families) do out[#out + 1] = ("    { %q, %q },"):format(family[1], family[2]) end
  out[#out + 1] = "  },\n  gradients = {"
  for _, row in ipairs(rows) do
    local gradient = not row.name:find "^sparse%." and gradient_of(row)
    if gradient and gradient ~= "?" then out[#out + 1] = ("    [%q] = %q,"):format(row.name, gradient) end
  end
  out[#out + 1] = "  },\n  entries = {"
  local entries = {}
  -- Modules first whose own comments tell of each option.
  for _, module in ipairs(modules) do
    if module.first then add_declared(entries, module.text, module.owners) end
  end
  add_declared(entries, annotations)
  for _, module in ipairs(modules) do add_declared(entries, module.text, module.owners) end
  for cells, doc in distributions:gmatch "\n| (`%u[^|]*) | ([^|]*)" do
    for call in cells:gmatch "`(%u%w*%b())`" do
      local name = "damo.dist." .. call:match "^%w+"
      if not entries[name] then
        entries[#entries + 1] = name
        entries[name] = { args = call:match "%b()", doc = "the distribution: " .. doc:gsub("%s+$", ""), tags = {} }
      end
    end
  end
  for _, name in ipairs(entries) do
    local e, tags = entries[name], {}
    for _, tag in ipairs(e.tags) do tags[#tags + 1] = ("%q"):format(tag) end
    local args = e.args and ("%q"):format(e.args) or "false"
    out[#out + 1] = ("    { %q, %s, %q, {%s} },"):format(name, args, e.doc, table.concat(tags, ", "))
  end
  out[#out + 1] = "  },\n}\n"
  return table.concat(out, "\n")
end

-- ---- docs/pytensor_names.md, docs/numpy_names.md, docs/torch_names.md -----------------------------------------------

local an_op = damo.exp(damo.dvector "x").owner.op

-- What a dotted path below damo names; nil: nothing.
local function at_path(path)
  local value = damo
  for name in path:gmatch "[^.]+" do
    if name ~= "damo" then
      local below = type(value) == "table" and rawget(value, name)
      if below == nil and value == damo and pcall(require, "damo." .. name) then below = require("damo." .. name) end
      if below == nil or below == false then return nil end
      value = below
    end
  end
  return value
end

local function place_of(module, name)
  local other = (module.other or {})[name]
  if other and other:match "^damo%." then
    assert(at_path(other) ~= nil, other)
    return ("`%s`"):format(other)
  end
  if other then return other end
  if module.members then return an_op[name] ~= nil and ("`%s`"):format(name) or "not there yet" end
  local homes = { module.home and ("damo.%s.%s"):format(module.home, name) or false, "damo." .. name }
  for _, path in ipairs { homes[1] or homes[2], not module.home and homes[2] or nil } do
    if at_path(path) ~= nil then return ("`%s`"):format(path) end
  end
  return "not there yet"
end

local pytensor_head = [[
<!-- Written by docs/generate.lua (`make docs`) from docs/pytensor_names.lua and what damo has; not by hand. -->

# PyTensor's names

Name by name, where PyTensor's public functions are in damo, and what is not there yet. What differs in use is told by
[From PyTensor](from_pytensor.md): above all, axes and positions count from 1, and options come in one table. Sparse
names are Aesara's; those of NumPy and SciPy have [a page of their own](numpy_names.md).
]]

local numpy_head = [[
<!-- Written by docs/generate.lua (`make docs`) from docs/numpy_names.lua and what damo has; not by hand. -->

# NumPy's and SciPy's names

Name by name, where the functions of NumPy and SciPy that compute on arrays are in damo, and what is not there yet. Each
takes Variables as well as values. Axes and positions count from 1, options come in one table after the operands, and
a list of arrays is a table. Distributions have `:logp`, `:logcdf`, `:icdf`, `:sample`, `:mean` and `:var`.
]]

local torch_head = [[
<!-- Written by docs/generate.lua (`make docs`) from docs/torch_names.lua and what damo has; not by hand. -->

# Torch's names

Name by name, where the functions of PyTorch are in damo, and what is not there yet. Three things differ in use. Torch
computes as the script runs, and records what `backward` needs; a program for damo asks for `damo.grad` of a graph, then
compiles it, and a call does everything at once, updates of parameters too. Axes (`dim`) and positions count from 1, and
classes with them. Options come in one table after the operands, and a list of tensors is a table.

```lua
local damo = require "damo"

-- x = torch.tensor([1., 2.], requires_grad=True); (x ** 2).sum().backward(); x.grad
local x = damo.dvector "x"
local slope = damo.compile({ x }, damo.grad((x ^ 2):sum(), x))
assert(damo.allclose(slope { 1, 2 }, damo.array { 2, 4 }))

-- model, optimizer, zero_grad, backward, step
local w, t = damo.shared(damo.zeros { 2 }, "w"), damo.dscalar "t"
local loss = damo.sqr(damo.dot(x, w) - t)
local step = damo.compile({ x, t }, loss, { updates = damo.optim.adam({ w }, { damo.grad(loss, w) }, { lr = 0.1 }) })
for _ = 1, 200 do step({ 1, 2 }, 3.0) end
assert(step({ 1, 2 }, 3.0) < 1e-3)
```
]]

local function names_page(head, modules)
  local out = { head }
  for _, module in ipairs(modules) do
    out[#out + 1] = ("## %s\n\n| there | here |\n|---|---|"):format(module.title)
    for name in module.names:gmatch "%S+" do
      out[#out + 1] = ("| `%s` | %s |"):format(name, place_of(module, name))
    end
    out[#out + 1] = ""
  end
  return table.concat(out, "\n")
end

-- ---- The page of mistakes -------------------------------------------------------------------------------------------

local mistakes_head = [[
<!-- Written by docs/generate.lua (`make docs`) from lua/damo/mistakes.lua; change the entries there, not this page. -->

# Common mistakes

What a script wrote, what damo says, and what to write instead. `damo.explain(err)` gives the entry of an error at hand
as text: `local ok, err = pcall(f) if not ok then print(damo.explain(err)) end`. A spec runs every line of this page.
]]

local function message_of(wrong)
  local load = loadstring or load -- luacheck: ignore
  local _, err = pcall(assert(load("local damo = require 'damo'\n" .. wrong)))
  if type(err) ~= "table" then return tostring(err) end -- Lua's own, where it compares no object with a number
  local lines = { ("%s error: %s"):format(err.kind, err.message:match "[^\n]*") }
  for _, name in ipairs { "operands", "hint" } do
    lines[#lines + 1] = tostring(err):match("\n  (" .. name .. ": [^\n]*)")
  end
  return table.concat(lines, "\n>\n> ")
end

local function mistakes_page(mistakes)
  local out = { mistakes_head }
  for _, m in ipairs(mistakes) do
    local wrong, right = m[2]:gsub("\n", "\n    "), m[5]:gsub("\n", "\n    ")
    local message = message_of(m[2])
    out[#out + 1] = ("## %s\n\n%s\n\n    %s\n\n> %s\n\nInstead:\n\n    %s\n"):format(m[1], m[4], wrong, message, right)
  end
  return table.concat(out, "\n")
end

-- ---- Texts by path --------------------------------------------------------------------------------------------------

local function read(path)
  local file = assert(io.open(path))
  local text = file:read "a"
  file:close()
  return text
end

local here = debug.getinfo(1, "S").source:match "^@(.*)generate%.lua$"
-- The files of modules whose comments say what their functions do, where annotations.lua does not.
local modules = {}
for _, name in ipairs { "optim", "plot", "progress", "io", "tree", "random", "nn", "printing", "graph", "rewrite" } do
  modules[#modules + 1] = { text = read(here .. "../lua/damo/" .. name .. ".lua"), owners = { [name .. "."] = true },
    first = name == "optim" or name == "plot" or name == "nn" }
end

local pages = {
  ["docs/functions.md"] = functions_page(),
  ["docs/pytensor_names.md"] = names_page(pytensor_head, dofile(here .. "pytensor_names.lua")),
  ["docs/numpy_names.md"] = names_page(numpy_head, dofile(here .. "numpy_names.lua")),
  ["docs/torch_names.md"] = names_page(torch_head, dofile(here .. "torch_names.lua")),
  ["docs/mistakes.md"] = mistakes_page(require "damo.mistakes"),
  ["lua/damo/meta.lua"] = meta(read(here .. "annotations.lua")),
  ["lua/damo/help_names.lua"] = help_names(read(here .. "annotations.lua"), modules, read(here .. "distributions.md")),
}
if not (arg and arg[0] and arg[0]:match "docs/generate%.lua$") then return pages end

for path, text in pairs(pages) do
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
  print("docs: " .. path)
end

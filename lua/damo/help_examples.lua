--- Examples of op functions for damo.help: calls on small values, whose text and results come from the same data. For
-- damo's own files only.
-- @module damo.help_examples

local damo = require "damo"
local unpack = table.unpack or unpack -- luacheck: ignore

local examples = {}

-- ---- Values with the text that makes them ---------------------------------------------------------------------------

local Made = {} -- metatable of {make = function that gives the value, text = Lua that gives it too}

local function made(text, make) return setmetatable({ text = text, make = make }, Made) end

--- A number, boolean, string, list or table of options as Lua text.
local function literal(v)
  if getmetatable(v) == Made then return v.text end
  if type(v) == "string" then return ("%q"):format(v) end
  if v ~= v then return "0/0" end
  if v == 1 / 0 then return "1/0" end
  if type(v) ~= "table" then return tostring(v) end
  local parts, keys = {}, {}
  for _, item in ipairs(v) do parts[#parts + 1] = literal(item) end
  for key in pairs(v) do
    if type(key) == "string" then keys[#keys + 1] = key end
  end
  table.sort(keys)
  for _, key in ipairs(keys) do parts[#parts + 1] = key .. " = " .. literal(v[key]) end
  return "{" .. table.concat(parts, ", ") .. "}"
end

local function value_of(v)
  if getmetatable(v) == Made then return v.make() end
  if type(v) ~= "table" then return v end
  local out = {}
  for key, item in pairs(v) do out[key] = value_of(item) end
  return out
end

local function A(t, dtype)
  local text = dtype and ("damo.array(%s, %q)"):format(literal(t), dtype) or "damo.array " .. literal(t)
  return made(text, function() return damo.array(t, dtype) end)
end

local function I(t) return made("damo.idx " .. literal(t), function() return damo.idx(t) end) end

local function S(t) return made("damo.sparse.csr " .. literal(t), function() return damo.sparse.csr(t) end) end

-- ---- Calls by the kind of function ----------------------------------------------------------------------------------

local wide = { A { 0.5, 2 }, A { 3, 0.25 }, A { 1, 4 }, A { 2, 5 } }
local unit = { A { 0.2, 0.7 }, A { 0.5, 0.4 }, A { 0.3, 0.6 }, A { 0.1, 0.9 } }
local above = { A { 1.5, 3 }, A { 2, 1.5 }, A { 4, 2.5 }, A { 5, 3 } }
local below = { A { -0.5, -2 }, A { -1, -3 }, A { -2, -1 } }
local ascending = { A { 1, 2 }, A { 1.5, 3 }, A { 4, 6 }, A { 0.5, 0.25 } }
local integers = { I { 12, 3 }, I { 2, 1 }, I { 8, 5 } }
local truths = { A { true, false }, A { true, true }, A { false, true } }
local matrix = { A { { 1, 2 }, { 3, 4 } }, A { { 5, 6 }, { 7, 8 } }, A { { 0.5, 2 }, { 1, 3 } } }
local definite = { A { { 2, 1 }, { 1, 3 } }, A { 1, 2 }, A { { 1, 0 }, { 0, 1 } }, A { { 1, 0 }, { 0, 1 } } }
local unity = A { { 1, 0 }, { 0, 1 } }
local pairs_of = { A { { 2, 1 }, { 1, 3 } }, A { { 1, 0.5 }, { 0, 1 } }, unity, unity }
local vectors = { A { 3, 1, 2 }, A { 1, 0, 2 }, A { 2, 2, 1 } }
local scalars = { 0.5, 2, 3 }
local sparse_first = { S { { 1, 0 }, { 2, 3 } }, A { 1, 2 } }
local sparse_both = { S { { 1, 0 }, { 2, 3 } }, S { { 4, 5 }, { 0, 6 } } }
local dense_sparse = { A { { 1, 2 }, { 3, 4 } }, S { { 1, 0 }, { 2, 3 } } }
local sparse_dense = { S { { 1, 0 }, { 2, 3 } }, A { { 1, 2 }, { 3, 4 } } }

local elementwise = { wide, unit, above, below, ascending, integers, truths, matrix, scalars }
local of_matrices = { definite, pairs_of, matrix, vectors, wide }
local of_arrays = { matrix, vectors, wide, integers, scalars, truths }
local of_sparse = { sparse_both, sparse_dense, sparse_first, dense_sparse, definite }


local function ones(...)
  local shape = { ... }
  return made("damo.ones " .. literal(shape), function() return damo.ones(shape) end)
end

local function zeros(...)
  local shape = { ... }
  return made("damo.zeros " .. literal(shape), function() return damo.zeros(shape) end)
end

local function arange(n, ...)
  local shape = { ... }
  local text = ("damo.arange(1, %d)"):format(n + 1)
  if #shape == 0 then return made(text, function() return damo.arange(1, n + 1) end) end
  return made(text .. ":reshape " .. literal(shape), function() return damo.arange(1, n + 1):reshape(shape) end)
end

local m, v3, v5 = matrix[1], vectors[1], A { 3, 1, 4, 1, 5 }
local sp = S { { 1, 0 }, { 2, 3 } }
local logits = A { { 2, 0 }, { 0, 1 } }
local spd = A { { 2, 1 }, { 1, 3 } }

-- ---- Calls that need more than operands of one kind -----------------------------------------------------------------

local by_name = {
  cast = { v3, "float32" }, astype = { v3, "float32" }, lambertw_lower = { -0.2 }, multigammaln = { 2.5, 2 },
  quantile = { v5, 0.5 }, percentile = { v5, 50 }, reshape = { arange(6), { 2, 3 } }, broadcast_to = { v3, { 2, 3 } },
  dimshuffle = { m, { 2, "x", 1 } }, expand_dims = { v3, 1 }, specify_shape = { v3, { 3 } },
  moveaxis = { ones(2, 3, 4), { source = 1, destination = 3 } },
  swapaxes = { ones(2, 3, 4), { axis1 = 1, axis2 = 3 } }, alloc = { 7, { shape = { 2, 3 } } },
  zeros = { { 2, 3 } }, ones = { { 2, 3 } }, empty = { { 0, 3 } }, full = { { 2, 3 }, 7 }, eye = { 3 }, tri = { 3 },
  bartlett = { 5 }, blackman = { 5 }, hamming = { 5 }, hanning = { 5 }, kaiser = { 5, 2 },
  linspace = { 0, 1, { num = 5 } }, logspace = { 0, 3, { num = 4 } }, geomspace = { 1, 1000, { num = 4 } },
  arange = { 5 }, join = { 1, { m, matrix[2] } }, stack = { { vectors[1], vectors[2] } },
  concatenate = { { m, matrix[2] }, { axis = 2 } }, split = { v5, { 2, 3 } }, tile = { v3, { 2 } },
  repeat_ = { v3, 2 }, roll = { v5, 2 }, pad = { v3, { 1 } }, vsplit = { m, { sizes = { 1, 1 } } },
  hsplit = { m, { sizes = { 1, 1 } } }, dsplit = { ones(1, 1, 4), 2 }, one_hot = { I { 1, 3 }, 3 },
  to_one_hot = { I { 1, 3 }, 3 }, choose = { I { 1, 2, 1 }, { vectors[1], vectors[2] } },
  select = { { A { true, false, false } }, { v3 }, 0 }, subtensor = { v5, { { 2, 4 } } }, switch = { truths[1], 1, 0 },
  where = { truths[1], 1, 0 }, clip = { A { -2, 0.5, 3 }, 0, 1 },
  tril_indices = { 2 }, triu_indices = { 2 }, diag_indices = { 2 }, indices = { { 2, 3 } },
  inverse_permutation = { I { 3, 1, 2 } }, broadcast_shape = { zeros(2, 1), zeros(3) },
  concat_with_broadcast = { { A { { 1 }, { 2 } }, m }, { axis = 2 } },
  nanmedian = { A { 3, 0 / 0, 1 } }, nanquantile = { A { 3, 0 / 0, 1 }, 0.5 },
  nanpercentile = { A { 3, 0 / 0, 1 }, 50 },
  polyadd = { A { 1, 2, 3 }, A { 4, 5 } }, polysub = { A { 1, 2, 3 }, A { 4, 5 } },
  polymul = { A { 1, 2 }, A { 1, -2 } }, polyder = { A { 3, 2, 1 } }, polyint = { A { 3, 2, 1 } },
  array_split = { v5, 2 }, divmod = { A { 7, -7 }, 2 },
  histogramdd = { A { { 0, 0 }, { 1, 0.5 }, { 2, 1 } }, { bins = 2 } },
  polyfit = { A { 0, 1, 2, 3 }, A { 1, 3, 5, 7 }, 1 }, roots = { A { 1, -3, 2 } },
  unravel_index = { I { 1, 4 }, { shape = { 2, 3 } } }, ravel_multi_index = { { I { 1, 2 }, I { 1, 1 } }, { 2, 3 } },
  interpn = { { A { 0, 1, 2 } }, A { 0, 10, 40 }, A { { 0.5 }, { 1.5 } } },
  interp = { A { 0.5, 1.5 }, A { 0, 1, 2 }, A { 0, 10, 40 } },
  searchsorted = { A { 1, 2, 4 }, 3 }, topk = { v5, 2 }, argtopk = { v5, 2 }, partition = { v5, 2 },
  argpartition = { v5, 2 }, einsum = { { m, matrix[2] }, "ij,jk->ik" }, take = { v5, I { 1, 3 } },
  unpack = { arange(6), { shapes = { { 2, 2 }, { 2 } } } }, segment_sum = { v3, I { 1, 2, 1 } },
  grad_clip = { v3, { lower = -1, upper = 1 } }, grad_scale = { v3, 0.5 }, bincount = { I { 1, 3, 3 } },
  dot = { m, A { 5, 6 } }, solve = { spd, A { 3, 4 } }, polyval = { A { 1, 0, 2 }, 3 }, cov = { matrix[3] },
  ["nn.nll"] = { A { { -0.5, -1 }, { -2, -0.2 } }, I { 1, 2 } },
  ["nn.batch_norm"] = { m, ones(2), zeros(2) },
  ["nn.group_norm"] = { arange(8, 1, 4, 2), ones(4), zeros(4), { num_groups = 2 } },
  ["nn.dropout"] = { ones(4), { p = 0.5 } },
  ["nn.cross_entropy"] = { logits, I { 1, 2 } },
  ["nn.max_pool1d"] = { arange(4, 1, 1, 4), { size = 2 } },
  ["nn.avg_pool1d"] = { arange(4, 1, 1, 4), { size = 2 } },
  ["nn.max_pool2d"] = { arange(16, 1, 1, 4, 4), { size = 2 } },
  ["nn.avg_pool2d"] = { arange(16, 1, 1, 4, 4), { size = 2 } },
  ["nn.max_pool3d"] = { arange(8, 1, 1, 2, 2, 2), { size = 2 } },
  ["nn.avg_pool3d"] = { arange(8, 1, 1, 2, 2, 2), { size = 2 } },
  ["nn.global_max_pool"] = { arange(4, 1, 1, 4) }, ["nn.global_avg_pool"] = { arange(4, 1, 1, 4) },
  ["nn.conv1d"] = { arange(4, 1, 1, 4), ones(1, 1, 2) },
  ["nn.conv1d_transpose"] = { arange(3, 1, 1, 3), ones(1, 1, 2) },
  ["nn.conv2d"] = { arange(9, 1, 1, 3, 3), ones(1, 1, 2, 2) },
  ["nn.conv2d_transpose"] = { arange(4, 1, 1, 2, 2), ones(1, 1, 2, 2) },
  ["nn.conv3d"] = { arange(8, 1, 1, 2, 2, 2), ones(1, 1, 2, 2, 2) },
  ["nn.conv3d_transpose"] = { ones(1, 1, 1, 1, 1), arange(8, 1, 1, 2, 2, 2) },
  ["nn.multi_head_attention"] = {
    ones(3, 4), ones(3, 4), ones(3, 4), ones(4, 4), ones(4, 4), ones(4, 4), ones(4, 4), { num_heads = 2 },
  },
  ["fft.fftfreq"] = { 4 }, ["fft.rfftfreq"] = { 4 },
  ["linalg.matrix_power"] = { m, 3 }, ["linalg.multi_dot"] = { m, matrix[2] },
  ["linalg.null_space"] = { A { { 1, 0 }, { 0, 0 } } }, ["linalg.orth"] = { A { { 0, 0 }, { 0, 2 } } },
  ["linalg.polar"] = { A { { 0, -2 }, { 3, 0 } } },
  ["linalg.tensorinv"] = { definite[1], { ind = 1 } },
  ["linalg.solve_banded"] = { A { { 0, 1, 1 }, { 4, 4, 4 }, { 1, 1, 0 } }, A { 5, 6, 5 }, { l = 1, u = 1 } },
  ["linalg.cholesky_banded"] = { A { { 0, 1, 1 }, { 4, 4, 4 } } },
  ["linalg.cho_solve_banded"] = { A { { 0, 1 }, { 2, 2 } }, A { 4, 8 } },
  ["linalg.solveh_banded"] = { A { { 0, 1, 1 }, { 4, 4, 4 } }, A { 5, 6, 5 } },
  ["linalg.subspace_angles"] = { A { { 1 }, { 0 } }, A { { 1 }, { 1 } } },
  ["linalg.solve_toeplitz"] = { A { 4, 1, 0 }, A { 5, 6, 5 } },
  ["linalg.solve_circulant"] = { A { 4, 1, 1 }, A { 6, 6, 6 } },
  ["linalg.solve"] = { spd, A { 3, 4 } },
  ["sparse.cast"] = { sp, "float32" }, ["sparse.astype"] = { sp, "float32" }, ["sparse.power"] = { sp, 2 },
  ["sparse.pow"] = { sp, 2 }, ["sparse.structured_pow"] = { sp, 2 }, ["sparse.structured_minimum"] = { sp, 2 },
  ["sparse.structured_maximum"] = { sp, 2 }, ["sparse.structured_add"] = { sp, 1 },
  ["sparse.CSR"] = { A { 1, 2, 3 }, A({ 0, 0, 1 }, "int32"), A({ 0, 1, 3 }, "int32"), A({ 2, 2 }, "int32") },
  ["sparse.CSC"] = { A { 1, 2, 3 }, A({ 0, 1, 1 }, "int32"), A({ 0, 2, 3 }, "int32"), A({ 2, 2 }, "int32") },
  ["sparse.with_data"] = { sp, A { 4, 5, 6 } }, ["sparse.sampling_dot"] = { m, m, sp },
  ["sparse.usmm"] = { 2, sp, A { { 1 }, { 1 } }, A { { 0 }, { 0 } } }, ["sparse.subtensor"] = { sp, { 2, { 1, 2 } } },
  ["sparse.get_item_2d"] = { sp, { { 1, 2 }, { 2 } } }, ["sparse.get_item_scalar"] = { sp, { 2, 1 } },
  ["sparse.get_item_2lists"] = { sp, I { 1, 2 }, I { 1, 2 } }, ["sparse.join"] = { 1, { sp, sp } },
  ["sparse.bmat"] = { { { sp, sp } } }, ["sparse.permute"] = { sp, A({ 2, 1 }, "int64"), A({ 1, 2 }, "int64") },
  ["sparse.construct_sparse_from_list"] = { m, A { { 1, 1 }, { 2, 2 } }, I { 2, 1 } },
}

-- Functions whose calls need Variables, or whose draws differ from call to call: the text, and what gives the result.
local in_full = {}
local function of_part(call, use) -- x is a vector of three entries
  return {
    text = ('local x = damo.dvector "x"\n%s:eval {[x] = {1, 2, 3}}'):format(call),
    make = function()
      local x = damo.dvector "x"
      return use(x):eval { [x] = damo.array { 1, 2, 3 } }
    end,
  }
end
in_full.set_subtensor = of_part("damo.set_subtensor(x[{2}], 9)", function(x) return damo.set_subtensor(x[{ 2 }], 9) end)
in_full.inc_subtensor = of_part("damo.inc_subtensor(x[{2}], 9)", function(x) return damo.inc_subtensor(x[{ 2 }], 9) end)
in_full.set_subtensor_at = of_part("x:set({2}, 9)", function(x) return x:set({ 2 }, 9) end)
in_full.inc_subtensor_at = of_part("x:inc({2}, 9)", function(x) return x:inc({ 2 }, 9) end)
in_full.ifelse_list = {
  text = "damo.ifelse(true, {1, 2}, {3, 4})", make = function() return damo.ifelse(true, { 1, 2 }, { 3, 4 }) end,
}
in_full["dist.quantile"] = {
  text = "damo.dist.Normal(0, 1):icdf(0.975)", make = function() return damo.dist.Normal(0, 1):icdf(0.975) end,
}
in_full["sparse.subtensor"] = {
  text = "damo.sparse.csr {{1, 0}, {2, 3}}[{2, 1}]",
  make = function() return damo.sparse.csr { { 1, 0 }, { 2, 3 } }[{ 2, 1 }] end,
}
in_full["sparse.poisson"] = { text = "damo.sparse.poisson(damo.sparse.csr {{1, 0}, {2, 3}})" }
in_full["sparse.multinomial"] = { text = "damo.sparse.multinomial(3, damo.sparse.csr {{1, 0}, {0.5, 0.5}})" }
for _, kind in ipairs { "csr_fbinomial", "csr_dbinomial", "csc_fbinomial", "csc_dbinomial" } do
  in_full["sparse." .. kind] = { text = ("damo.sparse.%s(3, 0.5, {2, 2})"):format(kind) }
end

-- Parameters of draws; the others have 2, 3, 4.
local draws = {
  normal = { 0, 1 }, uniform = { 0, 1 }, bernoulli = { 0.5 }, integers = { 1, 7 }, exponential = { 1 },
  ["random.binomial"] = { 10, 0.5 }, ["random.nbinom"] = { 10, 0.5 }, ["random.geometric"] = { 0.5 },
  ["random.triangular"] = { 0, 1, 2 }, ["random.betabinom"] = { 10, 2, 3 }, ["random.hypergeometric"] = { 10, 5, 3 },
  ["random.categorical"] = { A { 0.2, 0.8 } }, ["random.multinomial"] = { 10, A { 0.2, 0.8 } }, permutation = { 5 },
  ["random.dirichlet"] = { A { 1, 2 } }, ["random.multivariate_normal"] = { A { 0, 0 }, spd },
  ["random.wishart"] = { 3, spd }, ["random.choice"] = { A { 5, 6, 7 } }, ["random.truncated_normal"] = { 0, 1 },
}
local one_draw = { permutation = true }

-- ---- The example of a row -------------------------------------------------------------------------------------------

local signed = { A { -1.5, 2.5 }, A { 2, -3 } }
local with_nan = { A { 1, 0 / 0, 1 / 0 } }
local first_kinds = {}
for name in ("neg abs sign relu ceil floor round trunc sqr nn.relu nn.leaky_relu nn.elu nn.hardtanh signbit rint fix "
  .. "fabs round_half_to_even round_half_away_from_zero softsign copysign positive negative absolute"):gmatch "%S+" do
  first_kinds[name] = { signed }
end
for name in ("isnan isinf isfinite isposinf isneginf nan_to_num"):gmatch "%S+" do first_kinds[name] = { with_nan } end

local function has_axis(row)
  for _, o in ipairs(row.options) do
    if o.name == "axis" then return true end
  end
  return false
end

local kinds_of_home = { linalg = of_matrices, sparse = of_sparse, fft = of_arrays, nn = of_arrays }

local function has_nan(v)
  local ok, found = pcall(function() return damo.any(damo.isnan(v)) end)
  return ok and tostring(found) == "true"
end

-- The results as one list, or nothing where the call fails or gives a nan.
local function results_of(fn, args)
  local values = {}
  for i = 1, #args do values[i] = value_of(args[i]) end
  local got = { pcall(fn, unpack(values, 1, #args)) }
  if not got[1] or #got == 1 then return nil end
  table.remove(got, 1)
  for _, v in ipairs(got) do
    if has_nan(v) then return nil end
  end
  return got, values
end

local function call_text(path, args)
  local texts = {}
  for i = 1, #args do texts[i] = literal(args[i]) end
  return ("%s(%s)"):format(path, table.concat(texts, ", "))
end

local function draw_example(row, name)
  local args = {}
  for i, v in ipairs(draws[row.name] or {}) do args[i] = v end
  if not draws[row.name] then
    for i = 2, #row.operands do
      if not row.operands[i].optional then args[i - 1] = i end
    end
  end
  if not one_draw[row.name] then args[#args + 1] = { size = { 3 } } end
  local function draw(...)
    local stream = damo.random.RandomStream(1)
    return stream[name](stream, ...):eval()
  end
  local results, values = results_of(draw, args)
  if not results then return nil end
  local text = call_text("damo.random.RandomStream(1):" .. name, args) .. ":eval()"
  return { text = text, results = results, values = values }
end

local function plain_example(row, path, fn, home)
  local n = 0
  for _, o in ipairs(row.operands) do n = n + (o.optional and 0 or 1) end
  local own = by_name[row.name]
  local function try(args)
    local results, values = results_of(fn, args)
    return results and { text = call_text(path, args), results = results, values = values }
  end
  if own then return try(own) end
  local first = first_kinds[row.name] or kinds_of_home[home] or has_axis(row) and of_arrays or {}
  for _, kinds in ipairs { first, elementwise, of_arrays } do
    for _, kind in ipairs(kinds) do
      local args = {}
      for i = 1, n do args[i] = kind[i] end
      if n > 0 and #args == n then
        local example = try(n == 1 and row.operands[1].list and { args } or args)
        if example then return example end
      end
    end
  end
  return nil
end

--- Of a row of the registry: {text = the call, values = its arguments, results = what it gives}; nil where no call of
-- the kinds tried succeeds.
function examples.of_row(row, path, fn)
  local home, name = row.name:match "^(.-)%.?([^.]*)$"
  local full = in_full[row.name]
  if full then return { text = full.text, values = {}, results = full.make and { full.make() } } end
  if row.random and home ~= "sparse" then return draw_example(row, name) end
  return plain_example(row, path, fn, home)
end

-- ---- Names that are no rows ----------------------------------------------------------------------------------------

-- Each module has examples by the path of a name.
local kept = { "help_modules", "help_objects", "help_graphs", "help_options", "help_sparse" }
local kinds = { scalar = true, vector = true, row = true, col = true, matrix = true, tensor = true }

--- Of a name that is no row: its example as text; of a maker of Variables the Type that it gives. nil where there is
-- none.
function examples.of_name(path)
  for _, module in ipairs(kept) do
    local text = require("damo." .. module)[path]
    if text then return text end
  end
  local name = path:match "^damo%.([%a_]+%d?)$"
  local sparse_name = path:match "^damo%.sparse%.(cs[cr]_[bwilfdcz]?matrix)$"
  local is_maker = sparse_name or name and (kinds[(name:gsub("%d$", ""))]
    or kinds[(name:gsub("^[bwilfdcz]", ""):gsub("%d$", ""))])
  local maker = is_maker and (sparse_name and damo.sparse[sparse_name] or damo[name])
  if not maker then return nil end
  return ("%s(\"x\").type\n--> %s"):format(path, tostring(maker("x").type))
end

return examples

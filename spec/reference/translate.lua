-- Translates the conventions of the reference cases to damo's: for each op, how kwargs (0-based, half-open, absent for
-- None) and operands become a call, and which outputs are positions. An op that is not listed is called by its own
-- name with its operands only.
--
--   translate.call(damo, case, operands) → a list of results (Variables, or values where the operands are values)
--   translate.positions[op]              → true where the outputs are 0-based positions

local translate = {}

-- ---- Positions and axes -------------------------------------------------------------------------------------------

-- A 0-based axis or position, or nested lists of them; negative ones count from the end in both conventions.
local function from0(i)
  if type(i) == "table" then
    local list = {}
    for k, v in ipairs(i) do list[k] = from0(v) end
    return list
  end
  if i == nil or i < 0 then return i end
  return i + 1
end

-- Python's slice.indices: ends clamped to the axis, then as an inclusive 1-based range.
local function range(s, length)
  if s.start == nil and s.stop == nil and s.step == nil then return {} end
  local step = s.step or 1
  local low, high = 0, length
  if step < 0 then
    low, high = -1, length - 1
  end
  local function clamp(i, default)
    if i == nil then return default end
    if i < 0 then i = i + length end
    return math.max(low, math.min(high, i))
  end
  local start = clamp(s.start, step > 0 and low or high)
  local stop = clamp(s.stop, step > 0 and high or low)
  local empty = (step > 0 and start >= stop) or (step < 0 and start <= stop)
  if empty then return { 1, 0, math.abs(step) } end
  return { start + 1, step > 0 and stop or stop + 2, step }
end

local function rank_of(nested)
  local n = 0
  while type(nested) == "table" do
    n, nested = n + 1, nested[1]
  end
  return n
end

-- The axes of x that an index item takes.
local function axes_taken(item)
  if type(item) ~= "table" then return 1 end
  if item.newaxis or item.ellipsis then return 0 end
  return item.mask and rank_of(item.mask) or 1
end

local function index_item(damo, item, length)
  if type(item) == "number" then return from0(item) end
  if item.newaxis then return damo.newaxis end
  if item.ellipsis then return damo.ellipsis end
  if item.array then return damo.array(from0(item.array), "int64") end
  if item.mask then return damo.array(item.mask, "bool") end
  return range(item, length)
end

local function index_table(damo, index, shape)
  local taken, axis, list = 0, 1, {}
  for _, item in ipairs(index) do taken = taken + axes_taken(item) end
  for k, item in ipairs(index) do
    list[k] = index_item(damo, item, shape[axis] or 0)
    axis = axis + axes_taken(item)
    if type(item) == "table" and item.ellipsis then axis = axis + #shape - taken end
  end
  return list
end

-- ---- Calls --------------------------------------------------------------------------------------------------------

-- Conversions of options: a position, an axis, or unchanged.
local function same(v) return v end

local function options(kw, how)
  local out
  for name, convert in pairs(how) do
    if kw[name] ~= nil then
      out = out or {}
      out[name] = convert(kw[name])
    end
  end
  return out
end

-- f(operands…, {options}) of that name
local function call(name, how)
  return function(damo, x, kw)
    local args = { table.unpack(x) }
    args[#args + 1] = options(kw, how)
    return damo[name](table.unpack(args))
  end
end

-- f({operands}, {options})
local function call_list(name, how)
  return function(damo, x, kw) return damo[name](x, options(kw, how) or {}) end
end

local reduction = { axis = from0, keepdims = same }
local spread = { axis = from0, keepdims = same, ddof = same }
local along = { axis = from0 }

-- axes=n is unchanged, lists of axes are converted.
local function tensordot_axes(axes) return type(axes) == "table" and from0(axes) or axes end

local calls = {
  -- elementwise
  cast = call("cast", { dtype = same }),
  -- reductions
  sum = call("sum", reduction),
  prod = call("prod", reduction),
  max = call("max", reduction),
  min = call("min", reduction),
  mean = call("mean", reduction),
  var = call("var", spread),
  std = call("std", spread),
  any = call("any", reduction),
  all = call("all", reduction),
  argmax = call("argmax", reduction),
  argmin = call("argmin", reduction),
  logsumexp = call("logsumexp", reduction),
  -- networks
  softmax = call("softmax", along),
  log_softmax = call("log_softmax", along),
  categorical_crossentropy = function(damo, x, kw)
    return damo.categorical_crossentropy(damo.softmax(x[1], { axis = -1 }), damo.array(from0(kw.target), "int64"))
  end,
  -- cumulative and sorting
  cumsum = call("cumsum", along),
  cumprod = call("cumprod", along),
  diff = call("diff", { axis = from0, n = same }),
  sort = function(damo, x, kw)
    if kw.axis == nil then return damo.sort(damo.flatten(x[1])) end
    return damo.sort(x[1], { axis = from0(kw.axis) })
  end,
  argsort = function(damo, x, kw)
    local v = kw.axis == nil and damo.flatten(x[1]) or x[1]
    return damo.argsort(v, { axis = from0(kw.axis), stable = kw.stable })
  end,
  bincount = function(damo, x) return damo.bincount(x[1] + 1) end,
  -- indexing
  subtensor = function(damo, x, kw, case) return x[1][index_table(damo, kw.index, case.inputs[1].shape)] end,
  set_subtensor = function(damo, x, kw, case)
    return x[1]:set(index_table(damo, kw.index, case.inputs[1].shape), x[2])
  end,
  inc_subtensor = function(damo, x, kw, case)
    return x[1]:inc(index_table(damo, kw.index, case.inputs[1].shape), x[2])
  end,
  take = function(damo, x, kw)
    return damo.take(x[1], damo.array(from0(kw.indices), "int64"), options(kw, along))
  end,
  take_along_axis = function(damo, x, kw)
    return damo.take_along_axis(x[1], damo.array(from0(kw.indices), "int64"), options(kw, along))
  end,
  -- products
  tensordot = call("tensordot", { axes = tensordot_axes }),
  einsum = call_list("einsum", { subscripts = same }),
  -- shapes
  reshape = call("reshape", { shape = same }),
  transpose = call("transpose", { axes = from0 }),
  swapaxes = call("swapaxes", { axis1 = from0, axis2 = from0 }),
  moveaxis = call("moveaxis", { source = from0, destination = from0 }),
  expand_dims = call("expand_dims", along),
  flip = call("flip", along),
  roll = function(damo, x, kw) return damo.roll(x[1], kw.shift, options(kw, along)) end,
  ["repeat"] = function(damo, x, kw) return damo.repeat_(x[1], kw.repeats, options(kw, along)) end,
  squeeze = call("squeeze", along),
  flatten = call("flatten", { ndim = same }),
  tile = call("tile", { reps = same }),
  broadcast_to = call("broadcast_to", { shape = same }),
  concatenate = call_list("concatenate", along),
  stack = call_list("stack", along),
  split = call("split", { sizes = same, axis = from0 }),
  diag = call("diag", { k = same }),
  diagonal = call("diagonal", { offset = same }),
  tril = call("tril", { k = same }),
  triu = call("triu", { k = same }),
  pad = call("pad", { pad_width = same, mode = same }),
  eye = function(damo, _, kw) return damo.eye(kw.n, kw.m, kw.k) end,
  arange = function(damo, _, kw) return damo.arange(kw.start, kw.stop, kw.step) end,
}

-- Ops of the sparse families: translate_sparse.lua.
translate.sparse = require "translate_sparse"
translate.sparse.positions = { from0 = from0, range = range }

translate.positions = { argmax = true, argmin = true, argsort = true, searchsorted = true }

function translate.call(damo, case, operands)
  local f = calls[case.op]
  if f then return { f(damo, operands, case.kwargs or {}, case) } end
  if next(case.kwargs or {}) then error("translate.lua says nothing about the kwargs of " .. case.op, 0) end
  if not damo[case.op] then error("there is no function " .. case.op, 0) end
  return { damo[case.op](table.unpack(operands)) }
end

return translate

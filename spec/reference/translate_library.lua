-- Translates the cases of the library's families (linalg2, special2, elemwise2, index2, interpn, dist, nn2, fft2,
-- vectorize; README of the cases) to damo's conventions: positions count from 1, lists of arrays are lists of operands.
--
--   library.homes[family]        → the table below damo that holds the family's functions, "" for damo itself
--   library.inputs(case)         → the case's inputs, with those that are positions as damo counts them
--   library.offset(case, i)      → 1 where output i holds positions, else 0
--   library.call(damo, home, case, operands) → the results

local library = {}

-- Ops whose index items translate.lua knows.
library.by_index = { subtensor = true, set_subtensor = true, inc_subtensor = true, take_along_axis = true }

library.homes = {
  dense_linalg = "linalg", dense_linalg2 = "linalg", dense_nn2 = "nn", dense_fft2 = "fft",
  dense_special2 = "", dense_elemwise2 = "", dense_index2 = "", dense_interpn = "", dense_dist = "",
  dense_vectorize = "",
}

local function set(list)
  local s = {}
  for name in list:gmatch "%S+" do s[name] = true end
  return s
end

-- ---- Positions ------------------------------------------------------------------------------------------------------

local function from0(p)
  if type(p) == "table" then
    local list = {}
    for k, v in pairs(p) do list[k] = from0(v) end
    return list
  end
  return type(p) == "number" and p >= 0 and p + 1 or p
end

-- The inputs that hold positions: a number, or "all".
local positions_in = {
  bincount = 1, choose = 1, unravel_index = 1, embedding = 1, ravel_multi_index = "all", ix_ = "all", lu_solve = 2,
  segment_sum = 2, segment_mean = 2, segment_max = 2, segment_min = 2, segment_prod = 2,
  scatter_add = 2, scatter_max = 2, scatter_min = 2, searchsorted = 3,
}

local function counted_from_1(v)
  if not v.dtype:find "int" then return v end
  local out = {}
  for k, x in pairs(v) do out[k] = x end
  if v.data then
    out.data = from0(v.data)
  else
    out.value = from0(v.value)
  end
  return out
end

function library.inputs(case)
  local which, list = positions_in[case.op], {}
  if case.op == "dist_logp" and case.kwargs.dist == "Categorical" then which = 1 end
  for i, v in ipairs(case.inputs) do
    list[i] = (which == "all" or which == i) and counted_from_1(v) or v
  end
  return list
end

local positions_out = set [[nanargmax nanargmin digitize searchsorted argtopk argpartition lexsort flatnonzero argwhere
  tril_indices triu_indices diag_indices unravel_index ravel_multi_index ix_]]

function library.offset(case, i)
  local kw = case.kwargs or {}
  if positions_out[case.op] then return 1 end
  local is = false
  if case.op == "unique" then
    is = i > 1 and not (kw.return_counts and i == #case.outputs)
  elseif case.op == "intersect1d" then
    is = i > 1
  elseif case.op == "lu" then
    is = i == 1 and kw.p_indices
  elseif case.op == "lu_factor" then
    is = i == 2
  elseif case.op == "qr" then
    is = kw.pivoting and i == #case.outputs
  end
  return is and 1 or 0
end

-- ---- Calls ----------------------------------------------------------------------------------------------------------

local position_options = set "axis axes axis1 axis2 indices kth index"

local function options_of(kw, without)
  local out = {}
  for name, v in pairs(kw) do
    if name ~= without then out[name] = position_options[name] and from0(v) or v end
  end
  return next(out) ~= nil and out or nil
end

-- f(operands…, {options})
local function plain(f, x, kw)
  local args, o = { table.unpack(x) }, options_of(kw)
  if o then args[#args + 1] = o end
  return f(table.unpack(args))
end

-- f({operands}, {options})
local function of_list(f, x, kw)
  local options = options_of(kw)
  if options then return f(x, options) end
  return f(x)
end

local function part(x, from, to)
  local list = {}
  for k = from, to do list[#list + 1] = x[k] end
  return list
end

-- The positions that a case has in its kwargs, as the operand that damo takes.
local function positions(damo, kw) return damo.array(from0(kw.indices), "int64") end

local forms = {
  multi_dot = of_list, lexsort = of_list, ravel_multi_index = of_list,
  choose = function(f, x, kw) return f(x[1], part(x, 2, #x), options_of(kw) or {}) end,
  select = function(f, x, kw)
    local n = math.floor(#x / 2)
    if #x % 2 == 1 then return f(part(x, 1, n), part(x, n + 1, 2 * n), x[#x]) end
    return f(part(x, 1, n), part(x, n + 1, 2 * n), kw.default)
  end,
  pack = function(f, x) return (f(table.unpack(x))) end,
  -- The rank of the result follows from lengths, which the graph must know.
  cross = function(f, x, kw, damo, case)
    local known = {}
    for i, v in ipairs(x) do known[i] = damo.specify_shape(v, { shape = case.inputs[i].shape }) end
    return plain(f, known, kw)
  end,
  interpn = function(f, x, kw) return f(part(x, 1, #x - 2), x[#x - 1], x[#x], options_of(kw) or {}) end,
  put = function(f, x, kw, damo) return f(x[1], positions(damo, kw), x[2], options_of(kw, "indices")) end,
  put_along_axis = function(f, x, kw, damo) return f(x[1], positions(damo, kw), x[2], options_of(kw, "indices")) end,
  take = function(f, x, kw, damo) return f(x[1], positions(damo, kw), options_of(kw, "indices")) end,
}

-- Functions of one argument that is a table of options.
local function vectorized(damo, x, kw)
  local names = {}
  for i = 1, #x do names[i] = "x" .. i end
  local text = ("local damo = ... return function(%s) return %s end"):format(table.concat(names, ", "), kw.expr)
  return damo.vectorize(assert(load(text))(damo), kw.signature)(table.unpack(x))
end

local function of_distribution(damo, x, kw, what)
  if what == "mean" or what == "var" then
    local d = damo.dist[kw.dist](table.unpack(x))
    return d[what](d)
  end
  local d = damo.dist[kw.dist](table.unpack(x, 2))
  return d[what](d, x[1])
end

-- Results of a call that come as one list.
local function values_of(...)
  local n = select("#", ...)
  local first = ...
  if n == 1 and type(first) == "table" and getmetatable(first) == nil then return first end
  return { ... }
end

function library.call(damo, home, case, x)
  local kw, op = case.kwargs or {}, case.op
  if op == "vectorize" then return values_of(vectorized(damo, x, kw)) end
  local of_dist = op:match "^dist_(%a+)$"
  if of_dist then return values_of(of_distribution(damo, x, kw, of_dist)) end
  local place = home == "" and damo or damo[home]
  local f = rawget(place, op)
  if not f then error({ missing = (home == "" and "" or home .. ".") .. op }, 0) end
  return values_of((forms[op] or plain)(f, x, kw, damo, case))
end

return library

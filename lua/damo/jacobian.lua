--- Jacobians and Hessians, as vectorised passes over unit vectors.
-- @module damo.jacobian

local core = require "damo.core"
local arguments = require "damo.arguments"
local leaves = require "damo.leaves"

local jacobian = {}

local unpack = table.unpack or unpack -- luacheck: ignore

local check, check_variables = arguments.check, arguments.check_variables

-- Bytes that an intermediate value of a vectorised pass may take.
local MOST_BYTES = 64 * 1024 * 1024

local item_size = { bool = 1, int8 = 1, uint8 = 1, int16 = 2, uint16 = 2, int32 = 4, uint32 = 4, float32 = 4,
  complex64 = 8, complex128 = 16 }

-- The lengths of a Variable's axes, Variables where its Type does not know them, and their product.
local function lengths_of(v)
  local shape, n = {}, 1
  for k = 1, v.ndim do
    shape[k] = v.type.shape[k] or core.shape(v)[k]
    n = n * shape[k]
  end
  return shape, n
end

local function joined(a, b)
  local t = {}
  for _, d in ipairs(a) do t[#t + 1] = d end
  for _, d in ipairs(b) do t[#t + 1] = d end
  return t
end

-- The bytes of the largest value that depends on seed among what the results are computed from; false where no Type
-- tells, and then the Variables that may be the largest, those of most axes.
local function largest_value(results, seed)
  local depends, most, unknown = { [seed] = true }, 1, {}
  local function see(v)
    if not v.type.ndim then return end
    local bytes = item_size[v.dtype] or 8
    for k = 1, v.ndim do bytes = bytes and v.type.shape[k] and bytes * v.type.shape[k] end
    if bytes then
      most = math.max(most, bytes)
    elseif not unknown[1] or v.ndim > unknown[1].ndim then
      unknown = { v }
    elseif v.ndim == unknown[1].ndim then
      unknown[#unknown + 1] = v
    end
  end
  see(seed)
  for _, node in ipairs(core.graph.toposort(results)) do
    local any = false
    for _, v in ipairs(node.inputs) do any = any or depends[v] or false end
    for _, v in ipairs(any and node.outputs or {}) do
      depends[v] = true
      see(v)
    end
  end
  return unknown[1] == nil and most, unknown
end

-- As many seeds, of the shape of `like`, at a time as keep each value below MOST_BYTES; false: all of them.
local function chunk_of(results, seed, like, n)
  local bytes, unknown = largest_value(results, seed)
  if bytes and type(n) == "number" then
    local rows = math.max(1, math.floor(MOST_BYTES / bytes))
    return rows < n and math.ceil(n / math.ceil(n / rows))
  end
  local entries = n
  for k = 1, math.min(#unknown, 8) do
    local size = core.graph.clone_replace({ core.size(unknown[k]) }, { [seed] = like })[1]
    entries = core.maximum(entries, size)
  end
  return core.maximum(core.minimum(core.floor_div(math.floor(MOST_BYTES / 8), core.maximum(entries, 1)), n), 1)
end

-- The results for each unit seed of the shape of `like`, stacked along a new first axis: a vectorised pass, in a loop
-- over chunks of seeds.
local function over_unit_seeds(results, seed, like, chunk)
  local shape, n = lengths_of(like)
  if chunk == nil then chunk = chunk_of(results, seed, like, n) end
  local function pass(seeds)
    local over = core.graph.vectorize_graph(results, { [seed] = seeds })
    for i, r in ipairs(results) do
      if over[i].ndim == r.ndim then -- it does not depend on the seed
        over[i] = core.broadcast_to(over[i], { shape = joined({ core.shape(seeds)[1] }, (lengths_of(over[i]))) })
      end
    end
    return over
  end
  local columns = core.arange(n)
  local function loop(step, steps)
    local found = require("damo.scan").map(step, { sequences = core.arange(steps), name = "jacobian",
      return_list = true })
    for i, v in ipairs(found) do found[i] = core.as_variable(v) end -- of constants the loop gives values
    return found
  end
  if not chunk or (type(n) == "number" and type(chunk) == "number" and chunk >= n) then
    local eye = core.eye(n, { dtype = seed.dtype })
    local ok, over = pcall(pass, seed.ndim == 1 and eye or core.reshape(eye, joined({ n }, shape)))
    if ok then return over end
    if over.kind ~= "not_implemented" then error(over, 0) end
    chunk = 1
  end
  -- Sparse values have no batches: then each step takes one seed.
  local function one(k)
    local unit = core.reshape(core.cast(core.eq(columns, k), seed.dtype), shape)
    return core.graph.clone_replace(results, { [seed] = unit })
  end
  local ok, parts = pcall(loop, function(k)
    local rows = core.dimshuffle(core.arange(chunk) + k * chunk, { 1, "x" })
    local eye = core.cast(core.eq(rows, core.dimshuffle(columns, { "x", 1 })), seed.dtype)
    return pass(seed.ndim == 1 and eye or core.reshape(eye, joined({ chunk }, shape)))
  end, core.floor_div(n + (chunk - 1), chunk))
  if not ok then
    if parts.kind ~= "not_implemented" then error(parts, 0) end
    return loop(one, n)
  end
  for i, part in ipairs(parts) do
    local shape_of = lengths_of(part)
    local whole = core.reshape(part, joined({ shape_of[1] * shape_of[2] }, { unpack(shape_of, 3) }))
    parts[i] = whole[{ { 1, n } }]
  end
  return parts
end

-- The options of core.grad among those of a Jacobian, and its chunk.
local function jacobian_options(options, what)
  if options == nil then return nil, nil end
  check(type(options) == "table", what, 3, "options", "a table of options", options)
  local rest, chunk = {}, options.chunk
  for name, value in pairs(options) do
    if name ~= "chunk" then rest[name] = value end
  end
  if chunk ~= nil and (type(chunk) ~= "number" or chunk < 1 or chunk ~= math.floor(chunk)) then
    core.raise(type(chunk) == "number" and "value" or "type", ("%s: chunk must be an integer from 1 on, got %s"):format(
      what, tostring(chunk)))
  end
  return rest, chunk
end

local function refuse_sparse(v, what)
  if v == nil or not core.sparse.is_sparse(v) then return end
  core.raise("type", what .. ": a sparse gradient for each entry makes no matrix: where wrt is "
    .. "damo.sparse.CSR(x, indices, indptr, shape) of a vector x, the derivatives by x are one")
end

-- The derivatives of f by the Variables of list by reverse mode.
local function by_rows(f, list, options, chunk, what)
  local shape = lengths_of(f)
  local seed = core.TensorType(f.dtype, { shape = f.type.shape })()
  local given, present, place = { known_grads = { [f] = seed } }, {}, {}
  for name, value in pairs(options or {}) do
    if name ~= "known_grads" then given[name] = value end
  end
  for v, g in pairs(options and options.known_grads or {}) do given.known_grads[v] = g end
  local grads = core.grad(nil, list, given)
  for i = 1, #list do
    refuse_sparse(grads[i], what)
    if grads[i] and grads[i].type.ndim then
      present[#present + 1] = grads[i]
      place[#present] = i
    end
  end
  local out = {}
  for i = 1, #list do out[i] = grads[i] end
  for k, rows in ipairs(#present > 0 and over_unit_seeds(present, seed, f, chunk) or {}) do
    local own = lengths_of(list[place[k]])
    out[place[k]] = f.ndim == 1 and rows or core.reshape(rows, joined(shape, own))
  end
  return out
end

-- The derivatives of f by x by forward mode.
local function by_columns(f, x, options, chunk)
  local shape = lengths_of(x)
  local seed = core.TensorType(x.dtype, { shape = x.type.shape })()
  local along = core.Rop(f, x, seed, { disconnected_outputs = options and options.disconnected_inputs })
  local rows, order = over_unit_seeds({ along }, seed, x, chunk)[1], {}
  for k = 1, f.ndim do order[k] = k + 1 end
  order[#order + 1] = 1
  local columns = core.dimshuffle(rows, order)
  return x.ndim == 1 and columns or core.reshape(columns, joined((lengths_of(f)), shape))
end

local function is_shorter(x, f, options)
  if core.sparse.is_sparse(x) or not item_size[x.dtype] and x.dtype ~= "float64" or not x.dtype:match "^float" then
    return false
  end
  for name in pairs(options or {}) do
    if name ~= "disconnected_inputs" then return false end
  end
  local _, n = lengths_of(x)
  local _, m = lengths_of(f)
  return type(n) == "number" and type(m) == "number" and n < m
end

local function jacobians(f, list, options, chunk, what)
  local out, rest, place = {}, {}, {}
  for i, x in ipairs(list) do
    if core.is_variable(x) and is_shorter(x, f, options) then
      out[i] = by_columns(f, x, options, chunk)
    else
      rest[#rest + 1] = x
      place[#rest] = i
    end
  end
  for k, j in pairs(#rest > 0 and by_rows(f, rest, options, chunk, what) or {}) do out[place[k]] = j end
  return out
end

--- The Jacobian: the derivatives of each entry of f by each entry of wrt, of f's shape followed by wrt's; of a scalar
-- its gradient. One vectorised pass: forward mode where both lengths are known and wrt has fewer entries, else reverse
-- mode.
-- @tparam Variable f
-- @tparam Variable|table wrt
-- @tparam[opt] table options as `grad`'s, and `chunk`: how many entries one pass takes (default: as many as keep each
-- value below 64 MB)
function jacobian.jacobian(f, wrt, options, ...)
  arguments.no_more("jacobian", "f, wrt and options", ...)
  check(core.is_variable(f), "jacobian", 1, "f", "a Variable", f)
  check_variables("jacobian", 2, "wrt", wrt)
  local rest, chunk = jacobian_options(options, "jacobian")
  if f.ndim == 0 and not core.sparse.is_sparse(f) then return require("damo.gradient").grad(f, wrt, rest) end
  if not f.type.ndim or core.sparse.is_sparse(f) or not f.dtype:match "^float" then
    core.raise("type", ("jacobian: f must be a tensor of floats, got %s"):format(tostring(f.type)))
  end
  local list, put_back = leaves.flatten(wrt, "jacobian", "wrt")
  return put_back(jacobians(f, list, rest, chunk, "jacobian"))
end

--- The Hessian: the second derivatives of a scalar, of the shape of wrt twice; for several Variables that of each.
-- @tparam Variable cost
-- @tparam Variable|table wrt
-- @tparam[opt] table options as `jacobian`'s
function jacobian.hessian(cost, wrt, options, ...)
  arguments.no_more("hessian", "cost, wrt and options", ...)
  check(core.is_variable(cost), "hessian", 1, "cost", "a Variable", cost)
  check_variables("hessian", 2, "wrt", wrt)
  local rest, chunk = jacobian_options(options, "hessian")
  local list, put_back = leaves.flatten(wrt, "hessian", "wrt")
  local grads, out = core.grad(cost, list, rest), {}
  for i, x in ipairs(list) do
    local g = grads[i]
    refuse_sparse(g, "hessian")
    if g and g.type.ndim then
      local dims = {}
      for k = 1, x.ndim do dims[k] = x.type.shape[k] or false end -- the gradient's own Type may not know them
      if x.ndim > 0 then g = core.specify_shape(g, { shape = dims }) end
      local inner = { disconnected_inputs = "ignore" }
      if g.ndim == 0 then
        out[i] = core.grad(g, x, inner)
      else
        out[i] = by_rows(g, { x }, inner, chunk, "hessian")[1]
      end
    end
  end
  return put_back(out)
end

return jacobian

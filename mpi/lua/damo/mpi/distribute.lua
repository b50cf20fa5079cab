--- Data-parallel training: gradients that are averages over the ranks, each of which has a part of the batch.
-- @module damo.mpi.distribute

local damo = require "damo"
local agree = require "damo.mpi.agree"
local core = require "damo.mpi.core"
local ops = require "damo.mpi.ops"
local array_of = require("damo.mpi.state").array_of
local leaves = require "damo.leaves"
local system = require("damo.core").system

local distribute = {}

local DEFAULT_BUCKET = 4 * 2 ^ 20 -- bytes

local bytes_of = { float32 = 4, float64 = 8, complex64 = 8, complex128 = 16 }

-- The option `count`, a scalar; 1 where every rank counts alike.
local function check_count(func, count)
  if count == nil then return 1 end
  local known = type(count) == "number" or damo.is_variable(count) and count.ndim == 0
  if not known then
    damo.raise("type", ("%s: option 'count' must be a number or a scalar Variable, got %s"):format(func,
      system.typename(count)))
  end
  return count
end

local function check_options(func, options, known)
  if options ~= nil and type(options) ~= "table" then
    damo.raise("type", ("%s: options must be a table, got %s"):format(func, system.typename(options)))
  end
  system.check_options(func, options, known)
  return options or {}
end

-- x by its count; nothing where that is 0, although the mean of nothing is nan.
local function weighted(x, count)
  -- Of a Variable always the same graph, since all ranks must have the same nodes.
  if type(count) == "number" and not damo.is_variable(x) then return count > 0 and x * count or damo.zeros_like(x) end
  if type(count) == "number" then count = damo.constant(damo.array(count)) end
  return damo.switch(damo.gt(count, 0), x * damo.cast(count, x.dtype), damo.zeros_like(x))
end

-- The count as a vector of one number.
local function count_vector(count, dtype)
  if type(count) == "number" then return damo.constant(damo.array({ count }, dtype)) end
  return damo.reshape(damo.cast(count, dtype), { 1 })
end

-- ---- Buckets --------------------------------------------------------------------------------------------------------

-- How many nodes, one after another, a call computes before each of these Variables at least.
local function depths_of(variables)
  local depth = {}
  for _, node in ipairs(damo.graph.toposort(variables)) do
    local most = 0
    for k = 1, #node.inputs do
      local owner = node.inputs[k].owner
      if owner and depth[owner] > most then most = depth[owner] end
    end
    depth[node] = most + 1
  end
  local depths = {}
  for i, v in ipairs(variables) do depths[i] = v.owner and depth[v.owner] or 0 end
  return depths
end

-- Lists of positions of gradients that travel together: of one dtype, of about so many bytes, those that the backward
-- pass has first come first.
local function buckets_of(params, grads, bytes)
  local depths, order = depths_of(grads), {}
  for i = 1, #grads do order[i] = i end
  table.sort(order, function(a, b)
    if depths[a] ~= depths[b] then return depths[a] < depths[b] end
    return a > b
  end)
  local buckets, open, filled = {}, {}, {}
  for _, i in ipairs(order) do
    local dtype = grads[i].dtype
    if not open[dtype] then
      open[dtype], filled[dtype] = {}, 0
      buckets[#buckets + 1] = open[dtype]
    end
    table.insert(open[dtype], i)
    filled[dtype] = filled[dtype] + array_of(params[i]).size * bytes_of[dtype]
    if filled[dtype] >= bytes then open[dtype] = nil end
  end
  return buckets
end

-- One vector of the count and of the bucket's gradients by that count. It is computed after the sum of the bucket
-- before was begun: a program computes the operands of a node from the first one on, so that sum goes on meanwhile.
local function packed(bucket, grads, count, before)
  local dtype = grads[bucket[1]].dtype
  local first = count_vector(count, dtype)
  local parts = { before and damo.ops.MpiAfter(first, before) or first }
  for _, i in ipairs(bucket) do parts[#parts + 1] = damo.reshape(weighted(grads[i], count), { -1 }) end
  return damo.concatenate(parts)
end

-- Puts the averages out of the bucket's sum into `averages`.
local function unpack_bucket(bucket, sum, params, averages)
  local total, first = sum[1], 2
  for _, i in ipairs(bucket) do
    local value, shape = array_of(params[i]), {}
    for d = 1, value.ndim do shape[d] = value.shape[d] end
    averages[i] = damo.reshape(sum[{ { first, first + value.size - 1 } }] / total, shape)
    first = first + value.size
  end
end

-- The averages over the ranks of gradients, in buckets whose sums go on while the rest of the graph is computed: all
-- are begun, in the order in which the backward pass has them, before one is waited for.
local function averaged(params, grads, count, bytes)
  local buckets, vectors, handles, averages = buckets_of(params, grads, bytes), {}, {}, {}
  for b, bucket in ipairs(buckets) do
    vectors[b] = packed(bucket, grads, count, handles[b - 1])
    handles[b] = core.bucket_start(vectors[b])
  end
  for b, bucket in ipairs(buckets) do
    unpack_bucket(bucket, core.bucket_wait(vectors[b], handles[b]), params, averages)
  end
  return averages
end

-- ---- Optimisers -----------------------------------------------------------------------------------------------------

local function check_grads(func, params, grads)
  for i, g in ipairs(grads) do
    if not damo.is_variable(g) or not bytes_of[g.dtype] or tostring(g.type):find "^Sparse" then
      damo.raise("type", ("%s: gradient %d must be a dense Variable of a float or complex dtype, got %s"):format(func,
        i, tostring(g)))
    end
  end
  if #grads ~= #params then
    damo.raise("value", ("%s: %d parameters, but %d gradients"):format(func, #params, #grads))
  end
end

-- Gives every rank the values of rank 0.
local function broadcast(func, params)
  local texts = {}
  for i, p in ipairs(params) do
    local value = array_of(p)
    texts[i] = value.dtype .. " (" .. table.concat(value.shape, ", ") .. ")"
  end
  agree.same(func, "the list of parameters", table.concat(texts, "; "), "shape")
  for _, p in ipairs(params) do p:set_value(ops.bcast(array_of(p))) end
end

-- The options of an optimiser on a rank that shows nothing.
local function without_progress(options)
  if type(options) ~= "table" then return options end
  local rest = {}
  for key, value in pairs(options) do
    if key ~= "progress" then rest[key] = value end
  end
  return rest
end

--- An optimiser for several ranks, each of which computes gradients of the mean over its part of a batch: the updates
-- are those of the mean over the whole batch, equal on all ranks. The first call gives every rank the parameters that
-- rank 0 has.
-- @tparam function optimizer of damo.optim, or one of that form: (params, grads, options) to updates
-- @tparam[opt] table options `count`: how many examples this rank's part has, a number or a scalar Variable such as
-- `x.shape[1]` (parts of the same size need none); `bucket`: bytes of gradients that travel together (4 MB)
-- @treturn function an optimiser of the same form
-- @usage local adam = mpi.distribute(damo.optim.adam, { count = x.shape[1] })
-- local step = damo.compile({ x, t }, cost, { updates = adam(params, damo.grad(cost, params), { lr = 1e-3 }) })
function distribute.distribute(optimizer, options)
  local func = "mpi.distribute"
  if type(optimizer) ~= "function" then
    damo.raise("type", func .. ": argument 1 must be an optimiser, such as damo.optim.adam, got "
      .. system.typename(optimizer))
  end
  options = check_options(func, options, { "count", "bucket" })
  local count, bytes = check_count(func, options.count), options.bucket or DEFAULT_BUCKET
  if type(bytes) ~= "number" or bytes <= 0 then
    damo.raise("value", func .. ": option 'bucket' must be a number of bytes")
  end
  return function(params, grads, own, ...)
    if damo.is_variable(params) then params, grads = { params }, { grads } end
    local list, _, names = leaves.flatten(params, func, "params")
    grads = leaves.by_names(names, grads, func, "grads")
    check_grads(func, list, grads)
    if core.size == 1 then return optimizer(list, grads, own, ...) end
    broadcast(func, list)
    if core.rank > 0 then own = without_progress(own) end
    return optimizer(list, averaged(list, grads, count, bytes), own, ...)
  end
end

--- The average over the ranks of a value or Variable, such as the mean of this rank's part of a batch.
-- @tparam Variable|Array|number x
-- @tparam[opt] table options `count`: what the rank's x counts, as for `distribute`
-- @treturn Variable|Array|number the same on every rank
function distribute.average(x, options)
  local func = "mpi.average"
  local count = check_count(func, check_options(func, options, { "count" }).count)
  if not damo.is_variable(x) and damo.is_variable(count) then x = damo.constant(damo.array(x)) end
  if damo.is_variable(x) then
    if not bytes_of[x.dtype] then x = damo.cast(x, "float64") end
    local sum = ops.allreduce(damo.concatenate { damo.reshape(weighted(x, count), { -1 }),
      count_vector(count, x.dtype) })
    local n = sum.shape[1]
    return damo.reshape(sum[{ { 1, -2 } }] / sum[n], damo.shape(x))
  end
  local value = damo.array(x)
  if not bytes_of[value.dtype] then value = damo.cast(value, "float64") end
  local total = ops.allreduce(count)
  local mean = ops.allreduce(weighted(value, count)) / total
  return mean
end

return distribute

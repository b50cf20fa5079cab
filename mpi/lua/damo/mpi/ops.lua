--- Collectives: functions of Variables, which are then parts of a graph, and of Arrays, which compute at once.
-- Every rank of a group calls the same ones in the same order. Ranks count from 0, axes from 1.
-- @module damo.mpi.ops

local damo = require "damo"
local core = require "damo.mpi.core"
local overlap = require "damo.mpi.overlap"

local ops = {}

local reductions = { sum = 0, prod = 1, max = 2, min = 3 }

-- ---- Arguments ----

local function fail(kind, ...) damo.raise(kind, (...):format(select(2, ...))) end

local function is_variable(x) return damo.is_variable(x) end

-- x as a Variable or an Array: what a script gives as a number or a table becomes an Array.
local function operand(name, x)
  if x == nil then fail("type", "mpi.%s: argument 1 must be an Array or a Variable, got nil", name) end
  if is_variable(x) then return x end
  return damo.array(x)
end

-- The table of options, whose names are checked.
local function options_of(name, options, known)
  if options == nil then return {} end
  if type(options) ~= "table" then fail("type", "mpi.%s: options must be a table, got %s", name, type(options)) end
  for key in pairs(options) do
    if not known:find((" %s "):format(tostring(key)), 1, true) then
      fail("value", "mpi.%s: there is no option '%s'; there are:%s", name, tostring(key), known:sub(1, -2))
    end
  end
  return options
end

local world = { id = 0, rank = core.rank, size = core.size }

local function group_of(name, options)
  local group = options.group
  if group == nil then return world end
  if type(group) ~= "table" or not group.id then
    fail("type", "mpi.%s: group must be a group that mpi.split gave, got %s", name, type(group))
  end
  return group
end

local function integer(name, what, v, low, high)
  if type(v) ~= "number" or v ~= math.floor(v) then
    fail("type", "mpi.%s: %s must be an integer, got %s", name, what, tostring(v))
  end
  if v < low or v > high then
    fail("value", "mpi.%s: %s must be from %d to %d, got %d", name, what, low, high, v)
  end
  return v
end

local function root_of(name, options, group)
  return integer(name, "root", options.root == nil and 0 or options.root, 0, group.size - 1)
end

-- The axis counted from 0.
local function axis_of(name, x, axis, what)
  if x.ndim == 0 then fail("shape", "mpi.%s: a scalar has no axis to split or join along", name) end
  axis = integer(name, what or "axis", axis == nil and 1 or axis, -x.ndim, x.ndim)
  if axis == 0 then fail("value", "mpi.%s: axes count from 1, got 0", name) end
  return axis > 0 and axis - 1 or axis + x.ndim
end

local function reduction_of(name, options)
  local op = options.op == nil and "sum" or options.op
  if not reductions[op] then
    fail("value", "mpi.%s: there is no reduction '%s'; there are: sum, prod, max, min", name, tostring(op))
  end
  return reductions[op]
end

-- A collective's result; one without dimensions is a number for a value, as every function of damo gives it.
local function collective(...)
  local y = core.collective(...)
  if not is_variable(y) and y.ndim == 0 then return y:item() end
  return y
end

-- ---- Reductions ----

--- The sum (or another reduction) over the ranks, element by element, on every rank.
-- The gradient of a sum is the sum of all ranks' gradients; that of a maximum goes to where the maximum is.
-- @tparam Variable|Array x the same shape and dtype on every rank; for bool sum and max are "or", prod and min "and"
-- @tparam[opt] table options `op` = "sum", "prod", "max" or "min"; `group`
-- @treturn Variable|Array
function ops.allreduce(x, options)
  options = options_of("allreduce", options, " op group ")
  x = operand("allreduce", x)
  local group = group_of("allreduce", options)
  return collective("allreduce", x, nil, { op = reduction_of("allreduce", options), group = group.id })
end

local started = {}

--- Begins an allreduce of a Variable; arrays that do not need its result are computed while the ranks exchange it, but
-- for Functions with branches (damo.ifelse). Of an Array it computes the result at once.
-- @tparam Variable|Array x
-- @tparam[opt] table options `op`, `group`
-- @treturn table for mpi.wait
function ops.iallreduce(x, options)
  options = options_of("iallreduce", options, " op group ")
  x = operand("iallreduce", x)
  local group, op = group_of("iallreduce", options).id, reduction_of("iallreduce", options)
  local handle = setmetatable({ x = x, group = group, op = op }, started)
  if is_variable(x) then
    handle.number = core.bucket_start(x, group, op)
    overlap.note(handle.number)
  else
    handle.result = collective("allreduce", x, nil, { op = op, group = group })
  end
  return handle
end

--- The result of an allreduce that mpi.iallreduce has begun, with the same gradient.
-- @tparam table handle
-- @treturn Variable|Array
function ops.wait(handle)
  if getmetatable(handle) ~= started then
    fail("type", "mpi.wait: argument 1 must be what mpi.iallreduce gave, got %s", type(handle))
  end
  if not handle.number then return handle.result end
  return core.bucket_wait(handle.x, handle.number, handle.group, handle.op)
end

--- The same on the root alone; the other ranks get zeros.
-- @tparam Variable|Array x
-- @tparam[opt] table options `op`, `root` = 0, `group`
-- @treturn Variable|Array
function ops.reduce(x, options)
  options = options_of("reduce", options, " op root group ")
  x = operand("reduce", x)
  local group = group_of("reduce", options)
  return collective("reduce", x, nil,
    { op = reduction_of("reduce", options), root = root_of("reduce", options, group), group = group.id })
end

--- The root's x on every rank. The other ranks' x has its shape and dtype; its values do not count.
-- @tparam Variable|Array x
-- @tparam[opt] table options `root` = 0, `group`
-- @treturn Variable|Array
function ops.bcast(x, options)
  options = options_of("bcast", options, " root group ")
  x = operand("bcast", x)
  local group = group_of("bcast", options)
  return collective("bcast", x, nil, { root = root_of("bcast", options, group), group = group.id })
end

--- Whether the condition holds on all ranks, or on any of them: the same answer everywhere, for branches and loops.
-- @tparam Variable|Array|boolean cond a scalar
-- @tparam[opt] table options `op` = "all" or "any"; `group`
-- @treturn Variable|boolean
function ops.agree(cond, options)
  options = options_of("agree", options, " op group ")
  local op = options.op == nil and "all" or options.op
  if op ~= "all" and op ~= "any" then
    fail("value", "mpi.agree: op must be 'all' or 'any', got '%s'", tostring(op))
  end
  local given = operand("agree", cond)
  if given.ndim ~= 0 then fail("shape", "mpi.agree: the condition must be a scalar, got %d dimensions", given.ndim) end
  local truth = given.dtype == "bool" and given or damo.neq(given, 0)
  if not is_variable(truth) then truth = damo.array(truth, { dtype = "bool" }) end
  local group = group_of("agree", options)
  return collective("allreduce", truth, nil, { op = op == "all" and 3 or 2, group = group.id })
end

-- ---- Blocks ----

--- A block of the root's x for each rank, split as evenly as possible along an axis: earlier ranks get one entry more.
-- The other ranks' x has its dtype and number of dimensions; neither its values nor its lengths count.
-- @tparam Variable|Array x
-- @tparam[opt] table options `axis` = 1, `root` = 0, `group`
-- @treturn Variable|Array
function ops.scatter(x, options)
  options = options_of("scatter", options, " axis root group ")
  x = operand("scatter", x)
  local group = group_of("scatter", options)
  return collective("scatter", x, nil,
    { axis = axis_of("scatter", x, options.axis), root = root_of("scatter", options, group), group = group.id })
end

-- A block to be joined, of a scalar its one entry; and whether it is as long on all ranks (1 or 0).
local function block_of(name, x, options)
  x = operand(name, x)
  if x.ndim == 0 then return damo.reshape(x, { 1 }), 1 end
  return x, options.equal and 1 or 0
end

--- The ranks' arrays, joined along an axis in the order of the ranks, on the root; an empty array on the others.
-- Scalars make a vector.
-- @tparam Variable|Array x lengths along the axis may differ between ranks
-- @tparam[opt] table options `axis` = 1, `root` = 0, `group`; `equal`: the lengths are the same on all ranks
-- @treturn Variable|Array
function ops.gather(x, options)
  options = options_of("gather", options, " axis root equal group ")
  local equal
  x, equal = block_of("gather", x, options)
  local group = group_of("gather", options)
  return collective("gather", x, nil, { axis = axis_of("gather", x, options.axis),
    root = root_of("gather", options, group), equal = equal, group = group.id })
end

--- The ranks' arrays, joined along an axis in the order of the ranks, on every rank. Scalars make a vector.
-- @tparam Variable|Array x lengths along the axis may differ between ranks
-- @tparam[opt] table options `axis` = 1, `group`; `equal`: the lengths are the same on all ranks, so they are not
-- exchanged at each call
-- @treturn Variable|Array
function ops.allgather(x, options)
  options = options_of("allgather", options, " axis equal group ")
  local equal
  x, equal = block_of("allgather", x, options)
  local group = group_of("allgather", options)
  return collective("allgather", x, nil,
    { axis = axis_of("allgather", x, options.axis), equal = equal, group = group.id })
end

--- Splits x along an axis, as scatter does, and gives each rank its block of every rank's x, joined along an axis.
-- @tparam Variable|Array x
-- @tparam[opt] table options `axis` = 1: to split along; `join_axis` = axis: along which lengths may differ between
-- ranks; `equal`: they do not; `group`
-- @treturn Variable|Array
function ops.alltoall(x, options)
  options = options_of("alltoall", options, " axis join_axis equal group ")
  x = operand("alltoall", x)
  local group = group_of("alltoall", options)
  local axis = axis_of("alltoall", x, options.axis)
  local join = options.join_axis == nil and axis or axis_of("alltoall", x, options.join_axis, "join_axis")
  return collective("alltoall", x, nil,
    { axis = axis, axis2 = join, equal = options.equal and 1 or 0, group = group.id })
end

-- ---- Neighbours ----

local function rank_or_none(name, what, v, group)
  if v == nil or v == false then return -1 end
  return integer(name, what, v, 0, group.size - 1)
end

--- Sends x to one rank and returns what another one sent; zeros where nobody sends. All ranks of the group call it.
-- @tparam Variable|Array x
-- @tparam table options `to`, `from`: ranks, nil for none; `like`: of the shape of what comes, x if not given; `group`
-- @treturn Variable|Array
function ops.sendrecv(x, options)
  options = options_of("sendrecv", options, " to from like group ")
  x = operand("sendrecv", x)
  local group = group_of("sendrecv", options)
  local like = options.like == nil and x or operand("sendrecv", options.like)
  if is_variable(x) ~= is_variable(like) then
    x, like = damo.as_tensor_variable(x), damo.as_tensor_variable(like)
  end
  if like.ndim ~= x.ndim then
    fail("shape", "mpi.sendrecv: x has %d dimensions, like has %d", x.ndim, like.ndim)
  end
  if x.ndim > 16 then fail("shape", "mpi.sendrecv: more than 16 dimensions") end
  return collective("sendrecv", x, like, { to = rank_or_none("sendrecv", "to", options.to, group),
    from = rank_or_none("sendrecv", "from", options.from, group), group = group.id })
end

-- An option of halo as a list with an entry for each axis.
local function for_each_axis(what, v, n, otherwise)
  local list = {}
  if v == nil then v = otherwise end
  if type(v) == "table" and #v ~= n then
    fail("value", "mpi.halo: %s has %d entries for %d axes", what, #v, n)
  end
  for k = 1, n do
    if type(v) == "table" then list[k] = v[k] else list[k] = v end
  end
  return list
end

--- x between layers of the neighbours' arrays, corners included: ranks form a grid, and each has a block of a field.
-- Where there is no neighbour, at the end of an axis that is not periodic, the layers are zeros.
-- @tparam Variable|Array x
-- @tparam[opt] table options `axes` = {1}: of x, along which the field is split; `dims` = {all ranks}: ranks along each
-- of them, the last one running fastest; `width` = 1: layers on each side, a number or {before, after}, or a list of
-- these with an entry for each axis; `periodic` = false, or a list; `group`
-- @treturn Variable|Array longer along each of the axes by the layers on both sides
function ops.halo(x, options)
  options = options_of("halo", options, " axes dims width periodic group ")
  x = operand("halo", x)
  local group = group_of("halo", options)
  local axes = options.axes == nil and { 1 } or type(options.axes) == "table" and options.axes or { options.axes }
  local dims = options.dims == nil and { group.size } or type(options.dims) == "table" and options.dims
    or { options.dims }
  local n, ranks = #axes, 1
  if #dims ~= n then fail("value", "mpi.halo: dims has %d entries for %d axes", #dims, n) end
  for k = 1, n do ranks = ranks * integer("halo", "an entry of dims", dims[k], 1, group.size) end
  if ranks ~= group.size then
    fail("value", "mpi.halo: the grid has %d ranks, the group has %d", ranks, group.size)
  end
  local width = options.width
  if type(width) == "table" and type(width[1]) == "number" and n == 1 then width = { width } end
  local widths = for_each_axis("width", width, n, 1)
  local periodic = for_each_axis("periodic", options.periodic, n, false)
  local step = ranks
  for k = 1, n do
    step = step / dims[k]
    local at = math.floor(group.rank / step) % dims[k]
    local function neighbour(move)
      local to = at + move
      if not periodic[k] and (to < 0 or to >= dims[k]) then return -1 end
      return math.floor(group.rank + (to % dims[k] - at) * step)
    end
    local both = type(widths[k]) == "table" and widths[k] or { widths[k], widths[k] }
    local lo = integer("halo", "width", both[1], 0, 2 ^ 31 - 1)
    local hi = integer("halo", "width", both[2], 0, 2 ^ 31 - 1)
    x = collective("halo", x, nil, { axis = axis_of("halo", x, axes[k], "an entry of axes"),
      to = neighbour(1), from = neighbour(-1), lo = lo, hi = hi, group = group.id })
  end
  return x
end

-- ---- Groups ----

--- Splits a group: ranks that give the same color are a group of their own, in the order of their keys.
-- A group has `rank` (this process's number in it) and `size`.
-- @tparam integer|nil color from 0; nil: this rank belongs to no new group
-- @tparam[opt] integer key this rank's by default
-- @tparam[opt] table options `group`, to split instead of all ranks
-- @treturn table|nil a group, for the option `group` of the collectives
function ops.split(color, key, options)
  options = options_of("split", options, " group ")
  local group = group_of("split", options)
  color = color == nil and -1 or integer("split", "color", color, 0, 2 ^ 31 - 1)
  key = key == nil and group.rank or integer("split", "key", key, -2 ^ 31, 2 ^ 31 - 1)
  local id, rank, size = core.split(group.id, color, key)
  return id and { id = id, rank = rank, size = size }
end

return ops

--- Functions whose arguments or results are lists: `select`, `piecewise`, `stacklists`, `block`, `pack`, `mgrid`,
-- `ogrid`.
-- @module damo.lists

local core = require "damo.core"
local arguments = require "damo.arguments"

local lists = {}

local function list_length(list, func, what)
  if type(list) ~= "table" then core.raise("type", ("%s: %s must be a list"):format(func, what)) end
  return #list
end

--- Entry by entry of the choice whose condition is the first that holds.
-- @function select
-- @tparam table conditions a list of conditions
-- @tparam table choices as many choices
-- @tparam[opt=0] Variable|Array|number|table default where none holds; may stand in a table, `{default = 1}`
-- @treturn Variable|Array
function lists.select(conditions, choices, default, ...)
  arguments.no_more("select", "conditions, choices and default", ...)
  local n, m = list_length(conditions, "select", "conditions"), list_length(choices, "select", "choices")
  if n ~= m or n == 0 then core.raise("value", ("select: %d conditions for %d choices"):format(n, m)) end
  if type(default) == "table" and default[1] == nil then
    arguments.check_options("select", 3, default, { "default" })
    default = default.default
  end
  local items = {}
  for i = 1, n do items[i], items[n + i] = conditions[i], choices[i] end
  return core.select(items, { default = default })
end

--- Entry by entry of the function whose condition is the last that holds.
-- @function piecewise
-- @tparam Variable|Array|table x
-- @tparam table conditions a list of conditions, of x's shape
-- @tparam table functions as many functions of x, or values; one more is for where no condition holds (default 0)
-- @param ... further arguments of the functions
-- @treturn Variable|Array of x's dtype
function lists.piecewise(x, conditions, functions, ...)
  local n, m = list_length(conditions, "piecewise", "conditions"), list_length(functions, "piecewise", "functions")
  if m ~= n and m ~= n + 1 then
    core.raise("value", ("piecewise: %d conditions take %d or %d functions, got %d"):format(n, n, n + 1, m))
  end
  if type(x) == "table" then x = core.array(x) end
  local function value(i, ...)
    local f = functions[i]
    if f == nil then return 0 end
    if type(f) == "function" then return f(x, ...) end
    return f
  end
  local y = core.second(x, value(n + 1, ...))
  for i = 1, n do y = core.switch(conditions[i], value(i, ...), y) end
  local dtype = type(x) == "userdata" and x.dtype
  return dtype and y.dtype ~= dtype and core.cast(y, dtype) or y
end

-- ---- Nested lists ---------------------------------------------------------------------------------------------------

--- The tensors of a nested list stacked: the lists of the outermost level along the first axis, and so on.
-- @function stacklists
-- @tparam table list a list of tensors, or of such lists
-- @treturn Variable|Array
function lists.stacklists(list)
  if list == nil or type(list) == "string" then core.raise("type", "stacklists: the argument must be a list") end
  if type(list) ~= "table" then return list end
  local parts = {}
  for i = 1, list_length(list, "stacklists", "the argument") do parts[i] = lists.stacklists(list[i]) end
  if #parts == 0 then core.raise("value", "stacklists: a list is empty") end
  return core.stack(parts)
end

-- How deep the lists are nested, and the largest rank of a tensor; the depths must be equal.
local function block_levels(list)
  if type(list) ~= "table" then
    return 0, type(list) == "userdata" and list.ndim or 0
  end
  local depth, rank
  for i = 1, #list do
    local d, r = block_levels(list[i])
    if depth and d ~= depth then core.raise("value", "block: the lists are not nested equally deep") end
    depth, rank = d, math.max(rank or 0, r)
  end
  if not depth then core.raise("value", "block: a list is empty") end
  return depth + 1, rank
end

-- x with new first axes up to that rank.
local function with_rank(x, rank)
  if type(x) ~= "userdata" then x = core.array(x) end
  if x.ndim == rank then return x end
  local order = {}
  for k = 1, rank do order[k] = k <= rank - x.ndim and "x" or k - (rank - x.ndim) end
  return core.dimshuffle(x, order)
end

local function block_of(list, level, rank)
  if level == 0 then return with_rank(list, rank) end
  local parts = {}
  for i = 1, #list do parts[i] = block_of(list[i], level - 1, rank) end
  return core.concatenate(parts, { axis = -level })
end

--- A tensor of blocks: the innermost lists are joined along the last axis, those around them along the one before it.
-- @function block
-- @tparam table blocks a list of tensors, or of such lists, equally deep
-- @treturn Variable|Array
function lists.block(blocks)
  if blocks == nil then core.raise("type", "block: the argument must be a list") end
  local level, rank = block_levels(blocks)
  if level == 0 then return blocks end
  return block_of(blocks, level, math.max(level, rank))
end

-- The lengths of x, numbers where they are known, else Variables.
local function shape_of(x)
  local shape = {}
  if not core.is_variable(x) then
    if type(x) == "number" or type(x) == "boolean" then return shape end
    return x.shape
  end
  for k = 1, x.ndim do shape[k] = x.type.shape[k] or core.shape_i(x, k) end
  return shape
end

--- The entries of several tensors as one vector, and what `unpack` needs to take it apart.
-- @function pack
-- @param ... tensors, or one list of them
-- @treturn Variable|Array the vector
-- @treturn table a list of their shapes
function lists.pack(...)
  local list = { ... }
  if #list == 1 and type(list[1]) == "table" then list = list[1] end
  local shapes, tensors = {}, {}
  for i, x in ipairs(list) do
    if type(x) == "table" then x = core.array(x) end
    tensors[i], shapes[i] = x, shape_of(x)
  end
  return core.pack(tensors), shapes
end

-- ---- Grids ----------------------------------------------------------------------------------------------------------

-- start, stop and step of a slice {start=, stop=, step=} or {start, stop, step}.
local function ends(func, slice, i)
  if type(slice) ~= "table" then core.raise("type", ("%s: slice %d must be a table"):format(func, i)) end
  local start, stop, step = slice.start or slice[1] or 0, slice.stop or slice[2], slice.step or slice[3] or 1
  if type(start) ~= "number" or type(stop) ~= "number" or type(step) ~= "number" then
    core.raise("type", ("%s: slice %d must give numbers: {start=, stop=, step=}"):format(func, i))
  end
  return start, stop, step
end

local function grid(func, sparse, options, ...)
  local slices = type(options) == "table" and options.slices or { options, ... }
  local n = list_length(slices, func, "slices")
  if n == 0 then core.raise("value", func .. ": there is no slice") end
  local vectors, dtype = {}, "int64"
  for i = 1, n do
    vectors[i] = core.arange(ends(func, slices[i], i))
    if vectors[i].dtype ~= "int64" then dtype = vectors[i].dtype end
  end
  for i = 1, n do vectors[i] = core.cast(vectors[i], dtype) end
  return core.meshgrid(vectors, { indexing = "ij", sparse = sparse })
end

--- Coordinates of a grid, a tensor an axis: from start in steps of `step` (1) to before stop.
-- @function mgrid
-- @tparam table options `slices`: a list of `{start=, stop=, step=}`; or these tables one by one
-- @return one Array an axis
function lists.mgrid(options, ...) return grid("mgrid", false, options, ...) end

--- The same, each of length 1 along the other axes.
-- @function ogrid
-- @tparam table options as for mgrid
-- @return one Array an axis
function lists.ogrid(options, ...) return grid("ogrid", true, options, ...) end

return lists

--- The state of a program as a list of entries, for checkpoints: marks for what each rank has a part of, names, texts.
-- @module damo.mpi.state

local damo = require "damo"
local ranks = require "damo.mpi.ranks"
local leaves = require "damo.leaves"
local typename = require("damo.core").system.typename

local state = {}

-- ---- Marks ----------------------------------------------------------------------------------------------------------

local Shard, Own = { __name = "damo.mpi.shard" }, { __name = "damo.mpi.own" }

local function is_array_like(value)
  return typename(value) == "Array" or damo.is_variable(value) and pcall(value.get_value, value, { borrow = true })
end

local function check_value(func, value)
  if not is_array_like(value) then
    damo.raise("type", ("%s: argument 1 must be an Array or a shared Variable, got %s"):format(func, typename(value)))
  end
end

--- Marks a value in the state of a checkpoint: each rank has a block of it along an axis, rank after rank.
-- @tparam Array|Variable value an Array or a shared Variable
-- @tparam[opt] integer axis 1
function state.shard(value, axis)
  check_value("mpi.shard", value)
  axis = axis or 1
  local ndim = value.ndim
  if type(axis) == "number" and axis < 0 then axis = axis + ndim + 1 end
  if type(axis) ~= "number" or axis ~= math.floor(axis) or axis < 1 or axis > ndim then
    damo.raise("value", ("mpi.shard: there is no axis %s in an array of %d"):format(tostring(axis), ndim))
  end
  return setmetatable({ value = value, axis = axis }, Shard)
end

--- Marks a value in the state of a checkpoint: each rank has one of its own. More ranks than have written find none.
-- @tparam Array|Variable value an Array or a shared Variable
function state.own(value)
  check_value("mpi.own", value)
  return setmetatable({ value = value }, Own)
end

--- A shared Variable's value as an Array, that without dimensions too.
function state.array_of(shared)
  local value = shared:get_value()
  return typename(value) == "Array" and value or damo.array(value, { dtype = shared.dtype })
end

-- ---- What a leaf is -------------------------------------------------------------------------------------------------

local function is_stream(value)
  local meta = type(value) == "table" and getmetatable(value)
  return type(meta) == "table" and meta.__name == "damo.RandomStream"
end

-- The states of a stream's draws, one a row.
local function stream_array(stream)
  local rows = {}
  for i, s in ipairs(stream.states) do rows[i] = s:get_value():reshape { 1, 3 } end
  return #rows > 0 and damo.concatenate(rows, { axis = 1 }) or damo.zeros({ 0, 3 }, { dtype = "uint64" })
end

local function array_of(value)
  return damo.is_variable(value) and state.array_of(value) or value:copy()
end

-- An entry {kind=, array=, axis=} or {kind=, text=} for a leaf; nil where a file can't hold it.
local function leaf_entry(value)
  local meta = type(value) == "table" and getmetatable(value)
  if meta == Shard then return { kind = "shard", array = array_of(value.value), axis = value.axis } end
  if meta == Own then return { kind = "own", array = array_of(value.value) } end
  if is_stream(value) then
    return { kind = ranks.is_own_stream(value) and "own" or "all", array = stream_array(value) }
  end
  if is_array_like(value) then return { kind = "all", array = array_of(value) } end
  if type(value) == "number" then
    local whole = math.type and math.type(value) == "integer"
    return { kind = "number", text = whole and ("%d"):format(value) or ("%.17g"):format(value) }
  end
  if type(value) == "string" then return { kind = "string", text = value } end
  if type(value) == "boolean" then return { kind = "boolean", text = tostring(value) } end
  return nil
end

-- ---- Trees ----------------------------------------------------------------------------------------------------------

-- What is not a letter or a digit as %XX, so that texts need no quoting.
function state.encode(text)
  return (text:gsub("[^%w_%.%-]", function(c) return ("%%%02X"):format(c:byte()) end))
end

function state.decode(text)
  return (text:gsub("%%(%x%x)", function(hex) return string.char(tonumber(hex, 16)) end))
end

local function encode_key(func, key)
  if type(key) == "string" then return "s" .. state.encode(key) end
  if type(key) == "number" and key == math.floor(key) and key - key == 0 then return ("i%d"):format(key) end
  damo.raise("type", ("%s: the key %s is neither an integer nor a name"):format(func, tostring(key)))
end

--- The entries of a nested table, in an order that is the same on every rank. Each has its `path`, keys behind "/".
function state.entries(func, value)
  local list, above = {}, {}
  local function add(v, path)
    if type(v) == "table" and not is_stream(v) and leaves.is_branch(v) then
      if above[v] then damo.raise("value", func .. ": the state contains itself") end
      above[v] = true
      local keys = {}
      for key in next, v do keys[#keys + 1] = { text = encode_key(func, key), key = key } end
      table.sort(keys, function(a, b) return a.text < b.text end)
      if #keys == 0 then list[#list + 1] = { kind = "table", path = path, text = "" } end
      for _, k in ipairs(keys) do add(v[k.key], path == "" and k.text or path .. "/" .. k.text) end
      above[v] = nil
      return
    end
    local entry = leaf_entry(v)
    if not entry then
      damo.raise("type", ("%s: a checkpoint can't hold %s, which is %s; of a sparse matrix store its data, indices and "
        .. "indptr"):format(func, state.name(path), typename(v)))
    end
    entry.path = path
    list[#list + 1] = entry
  end
  if type(value) ~= "table" or not leaves.is_branch(value) then
    damo.raise("type", func .. ": the state must be a table, got " .. typename(value))
  end
  add(value, "")
  return list
end

--- A path as a script would write it.
function state.name(path)
  if path == "" then return "the state" end
  local name = ""
  for kind, key in path:gmatch "([is])([^/]*)" do
    name = name .. (kind == "i" and "[" .. key .. "]" or (name == "" and "" or ".") .. state.decode(key))
  end
  return name
end

local function decode_key(text)
  if text:sub(1, 1) == "i" then return math.floor(tonumber(text:sub(2))) end
  return state.decode(text:sub(2))
end

--- Puts a value to its place in a tree.
function state.put(tree, path, value)
  if path == "" then return end
  local at, last = tree, nil
  for text in path:gmatch "[^/]+" do
    if last ~= nil then
      if at[last] == nil then at[last] = {} end
      at = at[last]
    end
    last = decode_key(text)
  end
  at[last] = value
end

--- The value of an entry that has a text.
function state.value_of(kind, text)
  if kind == "number" then return tonumber(text) or text:find "nan" and 0 / 0 or text == "inf" and 1 / 0 or -1 / 0 end
  if kind == "boolean" then return text == "true" end
  if kind == "table" then return {} end
  return text
end

-- ---- Setting --------------------------------------------------------------------------------------------------------

local function problem_of(target, value, path)
  if value == nil then return ("the file has no %s"):format(state.name(path)) end
  if typename(value) ~= "Array" then return ("%s is no array in the file"):format(state.name(path)) end
  if value.dtype ~= target.dtype or value.ndim ~= target.ndim then
    return ("%s is %s with %d axes, in the file %s with %d"):format(state.name(path), target.dtype, target.ndim,
      value.dtype, value.ndim)
  end
  return nil
end

local function add_stream(func, list, stream, value, path, is_own)
  if value == nil and is_own then return end
  if typename(value) ~= "Array" or value.ndim ~= 2 or value.shape[1] ~= #stream.states then
    damo.raise("value", ("%s: %s has other draws than in the file"):format(func, state.name(path)))
  end
  for i, s in ipairs(stream.states) do list[#list + 1] = { s, value[i]:copy() } end
end

-- The shared Variables in `target`, with the values that `tree` has for them.
local function collect(func, target, tree, path, list)
  local meta = type(target) == "table" and getmetatable(target)
  local is_own = meta == Own
  if meta == Shard or is_own then target = target.value end
  if is_stream(target) then
    add_stream(func, list, target, tree, path, ranks.is_own_stream(target))
  elseif type(target) == "table" and leaves.is_branch(target) then
    if type(tree) ~= "table" then
      damo.raise("value", ("%s: %s is no table in the file"):format(func, state.name(path)))
    end
    for key, v in next, target do
      local text = encode_key(func, key)
      collect(func, v, tree[key], path == "" and text or path .. "/" .. text, list)
    end
  elseif damo.is_variable(target) and not (is_own and tree == nil) then
    local problem = problem_of(target, tree, path)
    if problem then damo.raise("value", func .. ": " .. problem) end
    list[#list + 1] = { target, tree }
  end
end

--- Sets the shared Variables and streams in `target` to the values that a tree of the same form has; all or none.
function state.set(func, target, tree)
  local list = {}
  collect(func, target, tree, "", list)
  for _, pair in ipairs(list) do pair[1]:set_value(pair[2]) end
end

return state

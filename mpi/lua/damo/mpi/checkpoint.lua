--- Checkpoints: one file that all ranks write and that any number of ranks reads.
-- The file is a .safetensors, so damo.io.load and other programs read its arrays too. The header's metadata have the
-- entries of the state with a hash each, and a hash of the header itself.
-- @module damo.mpi.checkpoint

local damo = require "damo"
local agree = require "damo.mpi.agree"
local core = require "damo.mpi.core"
local files = require "damo.mpi.files"
local state = require "damo.mpi.state"

local checkpoint = {}

local VERSION = "1"
local HEADER_MOST = 100000000 -- bytes, as in damo.io
local NO_HASH = ("0"):rep(16)

-- As .safetensors calls them; complex128 has an axis of two numbers more.
local tensor_dtypes = {
  bool = "BOOL", int8 = "I8", int16 = "I16", int32 = "I32", int64 = "I64", uint8 = "U8", uint16 = "U16",
  uint32 = "U32", uint64 = "U64", float32 = "F32", float64 = "F64", complex64 = "C64", complex128 = "F64",
}

local function split(text, separator)
  local parts = {}
  for part in (text .. separator):gmatch("(.-)%" .. separator) do parts[#parts + 1] = part end
  return parts
end

local function shape_of(array)
  local shape = {}
  for d = 1, array.ndim do shape[d] = array.shape[d] end
  return shape
end

local function shape_text(shape) return table.concat(shape, "x") end

local function read_shape(text)
  local shape = {}
  for length in text:gmatch "%d+" do shape[#shape + 1] = tonumber(length) end
  return shape
end

-- ---- What is in the file --------------------------------------------------------------------------------------------

-- What an entry has in common on all ranks, as a text.
local function common_text(entry)
  if entry.text then return entry.kind .. ":" .. state.encode(entry.text) end
  local array, shape = entry.array, shape_of(entry.array)
  if entry.kind == "own" then return "own:" .. array.dtype end
  if entry.kind == "shard" then
    shape[entry.axis] = "n"
    return ("shard:%s:%s:%d"):format(array.dtype, shape_text(shape), entry.axis)
  end
  entry.hash = core.block_hash(array, shape, 1, 1)
  return ("all:%s:%s:%s"):format(array.dtype, shape_text(shape), entry.hash)
end

-- Compares the entries of the ranks; gives the texts, by rank and entry, of what each rank has by itself: its shape.
local function compare(func, list)
  local common, mine = {}, {}
  for i, entry in ipairs(list) do
    common[i] = entry.path .. ":" .. common_text(entry)
    mine[i] = entry.array and shape_text(shape_of(entry.array)) or ""
  end
  local all = agree.gather(func, nil, nil, table.concat(common, ";") .. "\n" .. table.concat(mine, ";"))
  local shapes = {}
  for rank = 1, core.size do
    local theirs, own = all[rank]:match "^(.*)\n(.*)$"
    local zeros = split(all[1]:match "^(.*)\n", ";")
    for i, text in ipairs(split(theirs, ";")) do
      if text ~= zeros[i] then
        damo.raise("value", ("%s: %s differs between ranks 0 and %d; mark it by mpi.shard or mpi.own if each rank has "
          .. "its own"):format(func, state.name(text:match "^[^:]*"), rank - 1))
      end
    end
    if #split(theirs, ";") ~= #zeros then
      damo.raise("value", ("%s: ranks 0 and %d have different entries"):format(func, rank - 1))
    end
    shapes[rank] = split(own, ";")
  end
  return shapes
end

-- The arrays that the file has for an entry, each with its shape, and where this rank's part begins.
local function parts_of(entry, i, shapes)
  if not entry.array then return {} end
  if entry.kind == "own" then
    local parts = {}
    for rank = 1, core.size do
      parts[rank] = { shape = read_shape(shapes[rank][i]), name = entry.path .. "@" .. rank - 1,
        mine = rank - 1 == core.rank, axis = 1, start = 1 }
    end
    return parts
  end
  local part = { shape = shape_of(entry.array), name = entry.path, mine = true, axis = 1, start = 1 }
  if entry.kind == "all" then
    part.mine, part.hash = (i - 1) % core.size == core.rank, entry.hash
    return { part }
  end
  local total = 0
  for rank = 1, core.size do
    local length = read_shape(shapes[rank][i])[entry.axis]
    if rank - 1 < core.rank then part.start = part.start + length end
    total = total + length
  end
  part.shape[entry.axis], part.axis = total, entry.axis
  return { part }
end

-- Gives the arrays their places behind the header, those of large elements first, so that all are aligned; gives the
-- number of bytes.
local function lay_out(list)
  local parts = {}
  for _, entry in ipairs(list) do
    for _, part in ipairs(entry.parts) do
      part.size, part.number, part.entry = files.sizes[entry.array.dtype], #parts + 1, entry
      parts[#parts + 1] = part
    end
  end
  table.sort(parts, function(a, b)
    if a.size ~= b.size then return a.size > b.size end
    return a.number < b.number
  end)
  local at = 0
  for _, part in ipairs(parts) do
    part.offset = at
    at = at + files.product(part.shape) * part.size
  end
  return parts, at
end

-- The hashes of the arrays, from those of the ranks' parts.
local function hash_parts(func, parts)
  local mine = agree.try(func, function()
    local hashes = {}
    for k, part in ipairs(parts) do
      local has = part.mine and not part.hash
      hashes[k] = has and core.block_hash(part.entry.array, part.shape, part.axis, part.start) or NO_HASH
    end
    return table.concat(hashes, ";")
  end)
  local all = agree.gather(func, nil, nil, mine)
  for rank = 1, core.size do all[rank] = split(all[rank], ";") end
  for k, part in ipairs(parts) do
    local hashes = {}
    for rank = 1, core.size do hashes[rank] = all[rank][k] end
    part.hash = part.hash or core.add_hashes(hashes)
  end
end

-- ---- The header -----------------------------------------------------------------------------------------------------

-- An entry as the metadata have it: path, kind, then the text, or dtype, axis, and offset, shape and hash of each
-- array.
local function entry_text(entry)
  if entry.text then return ("%s:%s:%s"):format(entry.path, entry.kind, state.encode(entry.text)) end
  local fields = { entry.path, entry.kind, entry.array.dtype, entry.axis or 0 }
  for _, part in ipairs(entry.parts) do
    fields[#fields + 1] = ("%d,%s,%s"):format(part.offset, shape_text(part.shape), part.hash)
  end
  return table.concat(fields, ":")
end

local function tensor_text(part)
  local dtype, shape = part.entry.array.dtype, {}
  for d, length in ipairs(part.shape) do shape[d] = length end
  if dtype == "complex128" then shape[#shape + 1] = 2 end
  local bytes = files.product(part.shape) * part.size
  return ('"%s":{"dtype":"%s","shape":[%s],"data_offsets":[%d,%d]}'):format(
    state.name(part.name):gsub('["\\%c]', "_"), tensor_dtypes[dtype], table.concat(shape, ","), part.offset,
    part.offset + bytes)
end

local function with_hash(text, hash)
  return (text:gsub('("damo.hash":")%x+', function(before) return before .. hash end, 1))
end

-- The first bytes of the file: the header's length and the header.
local function header_text(list, parts)
  local entries, tensors = {}, {}
  for i, entry in ipairs(list) do entries[i] = entry_text(entry) end
  tensors[1] = ('"__metadata__":{"damo.checkpoint":"%s","damo.hash":"%s","damo.ranks":"%d","damo.entries":"%s"}')
    :format(VERSION, NO_HASH, core.size, table.concat(entries, ";"))
  for k, part in ipairs(parts) do tensors[k + 1] = tensor_text(part) end
  local text = "{" .. table.concat(tensors, ",") .. "}"
  text = text .. (" "):rep(-#text % 8)
  text = with_hash(text, core.hash(text))
  local length, n = {}, #text
  for i = 1, 8 do
    length[i] = string.char(n % 256)
    n = math.floor(n / 256)
  end
  return table.concat(length) .. text
end

--- Writes the state of all ranks to one file: all of it or, if a rank fails or is killed, nothing, and an older file of
-- that name stays. A nested table of Arrays, shared Variables, numbers, strings, booleans, RandomStreams. What is not
-- marked by `shard` or `own` is the same on all ranks and is written once.
-- @tparam string path of a .safetensors, which all ranks see
-- @tparam table state
function checkpoint.checkpoint(path, value)
  local func = "mpi.checkpoint"
  local list = agree.try(func, function()
    if type(path) ~= "string" then damo.raise("type", "argument 1 (path) must be a string") end
    return state.entries(func, value)
  end)
  local shapes = compare(func, list)
  for i, entry in ipairs(list) do entry.parts = parts_of(entry, i, shapes) end
  local parts, bytes = lay_out(list)
  hash_parts(func, parts)
  local header = header_text(list, parts)
  files.write_together(func, path, #header + bytes, function(part_path)
    if core.rank == 0 then agree.made(core.file_put(part_path, 0, header)) end
    for _, part in ipairs(parts) do
      if part.mine then
        agree.made(core.block_put(part_path, #header + part.offset, part.entry.array, part.shape, part.axis,
          part.start))
      end
    end
  end)
end

-- ---- Reading --------------------------------------------------------------------------------------------------------

local function refuse(path, why) damo.raise("io", ("%s: %s"):format(path, why)) end

-- The header's text, and where the data begin.
local function read_header(path)
  local size = agree.made(core.file_size(path))
  if size < 8 then refuse(path, "the file is too short for a checkpoint") end
  local n = 0
  local length = agree.made(core.file_get(path, 0, 8))
  for i = 8, 1, -1 do n = n * 256 + length:byte(i) end
  if n > HEADER_MOST or 8 + n > size then refuse(path, "the file is no checkpoint, or is cut off") end
  local text = agree.made(core.file_get(path, 8, n))
  local hash = text:match '"damo.checkpoint":"1","damo.hash":"(%x+)"'
  if not hash then refuse(path, "the file is no checkpoint of mpi.checkpoint") end
  if core.hash(with_hash(text, NO_HASH)) ~= hash then refuse(path, "the header is damaged") end
  return text, 8 + n, size
end

local function read_entry(text)
  local fields = split(text, ":")
  local entry = { path = fields[1], kind = fields[2] }
  if entry.kind ~= "all" and entry.kind ~= "shard" and entry.kind ~= "own" then
    entry.text = state.decode(fields[3])
    return entry
  end
  entry.dtype, entry.axis, entry.parts = fields[3], tonumber(fields[4]), {}
  for k = 5, #fields do
    local part = split(fields[k], ",")
    entry.parts[k - 4] = { offset = tonumber(part[1]), shape = read_shape(part[2]), hash = part[3] }
  end
  return entry
end

local function read_entries(path)
  local text, start, size = read_header(path)
  local list, bytes = {}, start
  for entry in text:match('"damo.entries":"([^"]*)"'):gmatch "[^;]+" do
    entry = read_entry(entry)
    for _, part in ipairs(entry.parts or {}) do
      bytes = bytes + files.product(part.shape) * files.sizes[entry.dtype]
    end
    list[#list + 1] = entry
  end
  if bytes ~= size then refuse(path, ("the file should have %d bytes and has %d"):format(bytes, size)) end
  return list, start, core.hash(text)
end

-- Reads this rank's part of an entry: the array and its hash; nothing where the rank has none.
local function read_part(path, start, entry)
  local part = entry.parts[entry.kind == "own" and core.rank + 1 or 1]
  if not part then return nil end
  local axis, first, n = 1, 1, part.shape[1] or 1
  if entry.kind == "shard" then
    local last
    axis = entry.axis
    first, last = files.range(part.shape[axis])
    n = last - first + 1
  end
  local array, hash = agree.made(core.block_get(path, start + part.offset, entry.dtype, part.shape, axis, first, n))
  if entry.kind ~= "shard" and hash ~= part.hash then
    refuse(path, ("%s is damaged"):format(state.name(entry.path)))
  end
  return array, hash
end

-- Blocks that ranks have read are whole together.
local function check_shards(func, path, list, hashes)
  local all = agree.gather(func, nil, nil, table.concat(hashes, ";"))
  for rank = 1, core.size do all[rank] = split(all[rank], ";") end
  local k = 0
  for _, entry in ipairs(list) do
    if entry.kind == "shard" then
      k = k + 1
      local of = {}
      for rank = 1, core.size do of[rank] = all[rank][k] end
      if core.add_hashes(of) ~= entry.parts[1].hash then
        damo.raise("io", ("%s: %s: %s is damaged"):format(func, path, state.name(entry.path)))
      end
    end
  end
end

--- Reads a checkpoint on any number of ranks: what is the same on all ranks whole, of what was marked by `shard` this
-- rank's block, as `range` deals it out, of what was marked by `own` this rank's, nil where fewer ranks have written.
-- A file that is damaged, or not the same for all ranks, is an io error on every rank.
-- @tparam string path
-- @tparam[opt] table into a table of the form of the state, whose shared Variables and RandomStreams are set
-- @treturn table the state, with Arrays in place of shared Variables
function checkpoint.restore(path, into)
  local func = "mpi.restore"
  local list, start, hash
  local all = select(2, agree.try(func, function()
    list, start, hash = read_entries(path)
    return true, hash
  end))
  for rank = 2, core.size do
    if all[rank] ~= all[1] then
      damo.raise("io", ("%s: ranks 0 and %d see different files: %s"):format(func, rank - 1, path))
    end
  end
  local tree, hashes = {}, {}
  agree.try(func, function()
    for _, entry in ipairs(list) do
      if entry.text then
        state.put(tree, entry.path, state.value_of(entry.kind, entry.text))
      else
        local array, read = read_part(path, start, entry)
        if entry.kind == "shard" then hashes[#hashes + 1] = read end
        state.put(tree, entry.path, array)
      end
    end
  end)
  check_shards(func, path, list, hashes)
  if into ~= nil then agree.try(func, state.set, func, into, tree) end
  return tree
end

return checkpoint

--- Files of which each rank reads and writes its part: .npy by blocks along an axis, Matrix Market by rows.
-- All ranks call these functions together; an error on one is raised on all.
-- @module damo.mpi.files

local damo = require "damo"
local core = require "damo.mpi.core"
local agree = require "damo.mpi.agree"

local files = {}

--- The positions, of n, that are a rank's when n things are dealt out in blocks: the first ranks have one more where
-- they do not come out even.
-- @tparam integer n
-- @tparam[opt] integer rank this one
-- @treturn integer first
-- @treturn integer last, first - 1 where the rank has none
function files.range(n, rank)
  if type(n) ~= "number" or n < 0 or n ~= math.floor(n) then
    damo.raise("value", "mpi.range: argument 1 must be an integer from 0 on")
  end
  rank = rank or core.rank
  local each, more = math.floor(n / core.size), n % core.size
  local first = rank * each + math.min(rank, more) + 1
  return first, first + each - (rank < more and 0 or 1)
end

-- The whole of the option `axis`, from 1 on.
local function check_axis(func, options, ndim)
  local axis = options and options.axis or 1
  if type(axis) == "number" and axis < 0 then axis = axis + ndim + 1 end
  if type(axis) ~= "number" or axis ~= math.floor(axis) or axis < 1 or axis > ndim then
    damo.raise("value", ("%s: there is no axis %s in an array of %d"):format(func, tostring(axis), ndim))
  end
  return axis
end

--- This rank's part of an Array that every rank has: a block along an axis.
-- @tparam Array x
-- @tparam[opt] integer axis 1
-- @treturn Array a view
function files.part(x, axis)
  axis = check_axis("mpi.part", { axis = axis }, x.ndim)
  local index = {}
  for d = 1, x.ndim do index[d] = {} end
  local first, last = files.range(x.shape[axis])
  index[axis] = { first, last }
  return x[index]
end

local function shape_text(x) return x.dtype .. " " .. table.concat(x.shape, " ") end

--- Reads this rank's block of the array of a .npy file; of the others nothing is read.
-- @tparam string path
-- @tparam[opt] table options `axis` (1), along which the array is dealt out as by `range`
-- @treturn Array
function files.read_npy(path, options)
  local block, all = agree.try("mpi.read_npy", function()
    local whole = damo.io.load(path, { mmap = true })
    local axis = check_axis("mpi.read_npy", options, whole.ndim)
    return files.part(whole, axis):copy(), axis .. " " .. shape_text(whole)
  end)
  for rank = 2, core.size do
    if all[rank] ~= all[1] then
      damo.raise("io", ("mpi.read_npy: ranks 0 and %d read different files: %s"):format(rank - 1, path))
    end
  end
  return block
end

-- A file that all ranks write: rank 0 makes it of that size under another name, each calls fill(name), and it has its
-- name when all of it is on the disk.
local function write_together(func, path, bytes, fill)
  local part = path .. ".part"
  agree.try(func, function()
    if core.rank == 0 then agree.made(core.file_create(part, bytes)) end
  end)
  local ok, err = pcall(agree.try, func, function()
    fill(part)
    agree.made(core.file_sync(part))
  end)
  if ok then
    ok, err = pcall(agree.try, func, function()
      if core.rank == 0 then agree.made(core.file_publish(part, path)) end
    end)
  end
  if ok then return end
  if core.rank == 0 then core.file_remove(part) end
  error(err, 0)
end

files.write_together = write_together

-- The blocks that ranks have of one array: its shape, and where this rank's block begins. Lengths along other axes
-- agree.
local function whole_of(func, block, axis)
  agree.same(func, "the axis", tostring(axis))
  local all = agree.gather(func, nil, nil, shape_text(block))
  local shape, start, total = {}, 1, 0
  for d = 1, block.ndim do shape[d] = block.shape[d] end
  for rank = 1, core.size do
    local fields = {}
    for field in all[rank]:gmatch "%S+" do fields[#fields + 1] = field end
    local same = fields[1] == block.dtype and #fields == block.ndim + 1
    for d = 1, same and block.ndim or 0 do
      same = same and (d == axis or tonumber(fields[d + 1]) == shape[d])
    end
    if not same then
      damo.raise("shape", ("%s: the block of rank %d is %s, that of rank %d is %s"):format(func, core.rank,
        shape_text(block), rank - 1, all[rank]))
    end
    if rank - 1 < core.rank then start = start + tonumber(fields[axis + 1]) end
    total = total + tonumber(fields[axis + 1])
  end
  shape[axis] = total
  return shape, start
end

files.whole_of = whole_of

local letters = {
  bool = "|b1", int8 = "|i1", uint8 = "|u1", int16 = "<i2", int32 = "<i4", int64 = "<i8", uint16 = "<u2",
  uint32 = "<u4", uint64 = "<u8", float32 = "<f4", float64 = "<f8", complex64 = "<c8", complex128 = "<c16",
}
local sizes = {
  bool = 1, int8 = 1, uint8 = 1, int16 = 2, int32 = 4, int64 = 8, uint16 = 2, uint32 = 4, uint64 = 8, float32 = 4,
  float64 = 8, complex64 = 8, complex128 = 16,
}

files.sizes = sizes

local function product(shape)
  local n = 1
  for _, length in ipairs(shape) do n = n * length end
  return n
end

files.product = product

-- The header of a .npy file, version 1.0.
local function npy_header(dtype, shape)
  local dict = ("{'descr': '%s', 'fortran_order': False, 'shape': (%s,), }"):format(letters[dtype],
    table.concat(shape, ", "))
  dict = dict .. (" "):rep(-(#dict + 11) % 64) .. "\n"
  return "\147NUMPY\1\0" .. string.char(#dict % 256, math.floor(#dict / 256)) .. dict
end

--- Writes the array whose blocks along an axis the ranks have, one after another, as one .npy file.
-- @tparam string path
-- @tparam Array block this rank's; blocks may differ in length along the axis
-- @tparam[opt] table options `axis` (1)
function files.write_npy(path, block, options)
  local func = "mpi.write_npy"
  local given = agree.try(func, function()
    local x = damo.array(block):copy()
    return { x = x, axis = check_axis(func, options, x.ndim) }
  end)
  local x, axis = given.x, given.axis
  local shape, start = whole_of(func, x, axis)
  local header = npy_header(x.dtype, shape)
  write_together(func, path, #header + product(shape) * sizes[x.dtype], function(part)
    if core.rank == 0 then agree.made(core.file_put(part, 0, header)) end
    agree.made(core.block_put(part, #header, x, shape, axis, start))
  end)
end

return files

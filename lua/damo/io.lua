--- Files of Arrays and sparse matrices: `load`, `save` (.npy, .npz), `read_csv`, `write_csv`, `read_mtx`, `write_mtx`;
-- `parse`, `format`: the same from and to strings.
-- @module damo.io

local core = require "damo.core"
local leaves = require("damo.arguments").late "damo.leaves"

local files = {}
for name, fn in pairs(core.io) do files[name] = fn end

-- A path of names and positions in an .npz: "layers/1/w".
local function flattened(tree, func)
  local list, def = leaves.apart(tree, func, leaves.is_value)
  local flat = {}
  for i, name in ipairs(leaves.file_names(def)) do
    local v = list[i]
    if core.system.variable_kind(v) == "shared" then v = v:get_value { borrow = true } end
    if flat[name] ~= nil then core.raise("value", ("%s: two entries have the name '%s'"):format(func, name)) end
    flat[name] = v
  end
  return flat
end

-- The entries of a name; nil where it is no path.
local function parts_of(name)
  local parts = {}
  for part in (name .. "/"):gmatch "([^/]*)/" do
    if part == "" then return nil end
    parts[#parts + 1] = part:match "^%-?%d+$" and tonumber(part) or part
  end
  return parts
end

-- The nested table of a flat one; itself where a name is both a branch and a leaf.
local function nested(flat)
  local tree = setmetatable({}, getmetatable(flat))
  for name, value in pairs(flat) do
    local parts, at = parts_of(name) or { name }, tree
    for i = 1, #parts - 1 do
      if at[parts[i]] == nil then at[parts[i]] = {} end
      at = at[parts[i]]
      if not leaves.is_branch(at) then return flat end
    end
    if at[parts[#parts]] ~= nil then return flat end
    at[parts[#parts]] = value
  end
  return tree
end

-- Of a table whose names are paths the nested one; any other value as it is.
local function unflattened(value, ...)
  if not leaves.is_branch(value) then return value, ... end
  for name in pairs(value) do
    if name:find "/" or name:match "^%-?%d+$" then return nested(value), ... end
  end
  return value, ...
end

local archives = { npz = true, safetensors = true } -- formats of tables

local function is_tree(value) return leaves.is_branch(value) and not leaves.is_value(value) end

--- Writes an Array to a .npy, a table of values to an .npz or a .safetensors, a sparse matrix to an .npz, an image of
-- uint8 or uint16 to a .png or a .ppm. A table
-- may be nested and hold shared Variables, whose values are written; the entry layers[1].w has the name "layers/1/w"
-- in the file.
-- @function save
-- @tparam string path
-- @param value
-- @tparam[opt] table options `metadata`, `compressed`, `on_fail`
-- @treturn boolean
function files.save(path, value, options, ...)
  if type(path) == "string" and archives[path:match "%.(%a+)$" or ""] and is_tree(value) then
    value = flattened(value, "save")
  end
  return core.io.save(path, value, options, ...)
end

--- Reads a .npy, an image (.png, .ppm), an .npz or a .safetensors, of which the metadata come second. Where names are
-- paths the table is nested.
-- @function load
-- @tparam string path
-- @tparam[opt] table options `max_bytes`, `mmap`, `on_fail`
function files.load(path, options, ...) return unflattened(core.io.load(path, options, ...)) end

--- Reads what `load`, `read_csv` and `read_mtx` read of files from a string that holds the bytes of one.
-- @function parse
-- @tparam string bytes
-- @tparam[opt] table options `format`: "npy", "npz", "safetensors", "mtx", "csv", "png", "ppm" or "graph", where the
-- bytes do not tell; those of the reader
function files.parse(bytes, options, ...)
  if type(options) == "table" and rawget(options, "columns") then return core.io.parse(bytes, options, ...) end
  return unflattened(core.io.parse(bytes, options, ...))
end

--- The bytes that `save`, `write_csv` and `write_mtx` write to files, as a string.
-- @function format
-- @param value
-- @tparam table options `format`: "npy", "npz", "safetensors", "mtx", "csv", "png", "ppm" or "graph"; those of the
-- writer
-- @treturn string
function files.format(value, options, ...)
  if type(options) == "table" and archives[rawget(options, "format") or ""] and is_tree(value) then
    value = flattened(value, "format")
  end
  return core.io.format(value, options, ...)
end

return core.names.seal(files, "damo.io")

--- Nested tables: walked in one order (integer keys ascending, then sorted names), taken apart and put together.
-- A plain table (without a metatable) is a branch, everything else a leaf.
-- @module damo.tree

local core = require "damo.core"
local arguments = require "damo.arguments"
local leaves = require "damo.leaves"
local typename = core.system.typename
local unpack = table.unpack or unpack -- luacheck: ignore

---@class damo.tree
local tree = {}

local function check_treedef(func, def)
  if leaves.is_treedef(def) then return end
  core.raise("type", ("%s: argument 1 (treedef) must be a treedef of damo.tree.flatten, got %s"):format(func,
    typename(def)))
end

--- The leaves of a tree in their order, and its structure.
-- The structure, a treedef, has the field `n`, the number of leaves, prints as the tree with `*` for leaves, and equals
-- that of a tree of the same keys.
-- @param value a nested table, or a leaf
-- @treturn table leaves
-- @treturn treedef
function tree.flatten(value, ...)
  arguments.no_more("tree.flatten", "a tree", ...)
  local list, def = leaves.apart(value, "tree.flatten")
  return list, def
end

--- The tree of that structure with these leaves.
-- @tparam treedef def
-- @tparam table list as many leaves as the structure has
function tree.unflatten(def, list, ...)
  arguments.no_more("tree.unflatten", "treedef and list", ...)
  check_treedef("tree.unflatten", def)
  if type(list) ~= "table" then
    core.raise("type", ("tree.unflatten: argument 2 (list) must be a list, got %s"):format(typename(list)))
  end
  local most = 0
  for key in next, list do
    if type(key) == "number" and key > most then most = key end
  end
  if most > def.n then
    core.raise("value", ("tree.unflatten: the structure has %d leaves, the list %d"):format(def.n, most))
  end
  for i = 1, def.n do
    if list[i] == nil then core.raise("value", ("tree.unflatten: leaf %d of %d is missing"):format(i, def.n)) end
  end
  return leaves.together(def, list)
end

--- The leaves of a tree in their order.
-- @param value
-- @treturn table
function tree.leaves(value, ...)
  arguments.no_more("tree.leaves", "a tree", ...)
  return (leaves.apart(value, "tree.leaves"))
end

--- A tree of the same structure whose leaves are fn(leaf, …), with the entries of further trees at the same places.
-- @tparam function fn
-- @param value a nested table, or a leaf
-- @param ... trees that have the structure of `value` at least; at its leaves they may be nested further
function tree.map(fn, value, ...)
  local meta = type(fn) == "table" and getmetatable(fn)
  if type(fn) ~= "function" and type(fn) ~= "userdata" and not (type(meta) == "table" and meta.__call) then
    core.raise("type", ("tree.map: argument 1 (fn) must be a function, got %s"):format(typename(fn)))
  end
  local list, def = leaves.apart(value, "tree.map")
  local columns, n = { list }, 1 + select("#", ...)
  for k = 2, n do
    columns[k] = leaves.beside(def, (select(k - 1, ...)), "tree.map", function(what, path, got)
      core.raise("value", (what == "missing" and "tree.map: argument %d has no entry %s"
        or what == "more" and "tree.map: argument %d has an entry %s too many"
        or "tree.map: argument %d must have a table at %s, got %s"):format(k + 1, path == "" and "its top" or path,
        typename(got)))
    end)
  end
  local results, args = {}, {}
  for i = 1, def.n do
    for k = 1, n do args[k] = columns[k][i] end
    results[i] = fn(unpack(args, 1, n))
  end
  return leaves.together(def, results)
end

return core.names.seal(tree, "damo.tree")

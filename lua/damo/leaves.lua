--- Nested tables of Variables and values: walked in one order (integer keys ascending, then sorted names), flattened
-- into lists, and results put back in that form. damo.tree makes it public.
-- @module damo.leaves

local core = require "damo.core"
local typename = core.system.typename

local leaves = {}

-- ---- Trees ----------------------------------------------------------------------------------------------------------

local record = getmetatable(core.array({ 0 }).shape) -- of tables that the core makes, which print their contents

--- Whether a value is a branch of a tree: a plain table.
function leaves.is_branch(value)
  if type(value) ~= "table" then return false end
  local meta = getmetatable(value)
  return meta == nil or meta == record
end

local function is_whole(key) return type(key) == "number" and key == math.floor(key) and key - key == 0 end

-- How an entry is written behind what it is an entry of: .name, [3].
local function behind(path, key)
  if type(key) == "number" then return ("%s[%d]"):format(path, key) end
  return path == "" and key or path .. "." .. key
end

-- The keys of a branch in their order.
local function keys_of(branch, func, path)
  local numbers, names = {}, {}
  for key in next, branch do
    if is_whole(key) then
      numbers[#numbers + 1] = key
    elseif type(key) == "string" then
      names[#names + 1] = key
    else
      core.raise("type", ("%s: the key %s%s is neither an integer nor a name"):format(func, tostring(key),
        path ~= "" and " of " .. path or ""))
    end
  end
  table.sort(numbers)
  table.sort(names)
  for _, name in ipairs(names) do numbers[#numbers + 1] = name end
  return numbers
end

-- Calls visit(leaf, path) for each leaf in order; gives what is said of the structure: a leaf is true, a branch
-- {keys =, each entry's by its position}. is_leaf(value): plain tables that are leaves too.
local function walk(value, func, path, above, visit, is_leaf)
  if not leaves.is_branch(value) or (is_leaf and is_leaf(value)) then
    visit(value, path)
    return true
  end
  if above[value] then
    core.raise("value", ("%s: the table %s contains itself"):format(func, path ~= "" and "at " .. path or "given"))
  end
  above[value] = true
  local of = { keys = keys_of(value, func, path) }
  for i, key in ipairs(of.keys) do
    of[i] = walk(value[key], func, behind(path, key), above, visit, is_leaf)
  end
  above[value] = nil
  return of
end

-- ---- The structure of a tree ----------------------------------------------------------------------------------------

local treedef = {}
treedef.__index = treedef
treedef.__name = "damo.treedef"

local function same(a, b)
  if a == true or b == true then return a == b end
  if #a.keys ~= #b.keys then return false end
  for i, key in ipairs(a.keys) do
    if key ~= b.keys[i] or not same(a[i], b[i]) then return false end
  end
  return true
end

function treedef.__eq(a, b) return getmetatable(a) == getmetatable(b) and same(a.root, b.root) end

local function text(of)
  if of == true then return "*" end
  local parts, plain = {}, true -- the first entries are 1, 2, … as in a list
  for i, key in ipairs(of.keys) do
    plain = plain and key == i
    parts[i] = (plain and "" or type(key) == "number" and ("[%d] = "):format(key) or key .. " = ") .. text(of[i])
  end
  return "{" .. table.concat(parts, ", ") .. "}"
end

function treedef:__tostring() return text(self.root) end

-- The tree of that structure whose leaves are list[at …], and the place behind them.
local function put_together(of, list, at)
  if of == true then return list[at], at + 1 end
  local t = {}
  for i, key in ipairs(of.keys) do t[key], at = put_together(of[i], list, at) end
  return t, at
end

--- Takes a tree apart: its leaves, a treedef, their paths.
-- @param value
-- @tparam string func for messages
-- @tparam[opt] function is_leaf which plain tables are leaves
function leaves.apart(value, func, is_leaf)
  local list, paths, n = {}, {}, 0
  local root = walk(value, func, "", {}, function(leaf, path)
    n = n + 1
    list[n], paths[n] = leaf, path
  end, is_leaf)
  return list, setmetatable({ root = root, n = n }, treedef), paths
end

--- The tree of a treedef with these leaves, some of which may be nil.
function leaves.together(def, list) return (put_together(def.root, list, 1)) end

local function add_names(of, path, list)
  if of == true then
    list[#list + 1] = path
    return
  end
  for i, key in ipairs(of.keys) do
    local name = type(key) == "number" and ("%d"):format(key) or key
    add_names(of[i], path and path .. "/" .. name or name, list)
  end
end

--- The keys on the way to each leaf of a treedef, as "layers/1/w".
function leaves.file_names(def)
  local list = {}
  add_names(def.root, nil, list)
  return list
end

local function bytes(name) return (name:gsub(".", function(c) return ("%02x"):format(c:byte()) end)) end

local function write(of, parts)
  if of == true then
    parts[#parts + 1] = "*"
    return
  end
  parts[#parts + 1] = "{"
  for i, key in ipairs(of.keys) do
    parts[#parts + 1] = type(key) == "number" and ("%d="):format(key) or "x" .. bytes(key) .. "="
    write(of[i], parts)
  end
  parts[#parts + 1] = "}"
end

--- A list of treedefs, or false in their places, as a text of characters that have no meaning elsewhere.
function leaves.write(defs)
  local parts = {}
  for _, def in ipairs(defs) do
    if def then write(def.root, parts) else parts[#parts + 1] = "-" end
  end
  return table.concat(parts)
end

-- The structure at that place of a text, the place behind it, and the number of its leaves.
local function read(form, at)
  if form:sub(at, at) == "*" then return true, at + 1, 1 end
  local of, n, part = { keys = {} }, 0
  at = at + 1
  while form:sub(at, at) ~= "}" do
    local name, key, behind_it = form:match("^(x?)([-%x]*)=()", at)
    key = name == "" and tonumber(key) or key:gsub("%x%x", function(c) return string.char(tonumber(c, 16)) end)
    of.keys[#of.keys + 1] = key
    of[#of.keys], at, part = read(form, behind_it)
    n = n + part
  end
  return of, at + 1, n
end

--- What leaves.write has written.
function leaves.read(form)
  local defs, at = {}, 1
  while at <= #form do
    if form:sub(at, at) == "-" then
      defs[#defs + 1], at = false, at + 1
    else
      local root, n
      root, at, n = read(form, at)
      defs[#defs + 1] = setmetatable({ root = root, n = n }, treedef)
    end
  end
  return defs
end

--- Whether a value is a treedef.
function leaves.is_treedef(value) return getmetatable(value) == treedef end

-- The entries of `other` at the leaves of the structure `of`, into list; fail(what, path) where it lacks or has more.
local function beside(of, other, func, path, list, n, fail)
  if of == true then
    list[n + 1] = other
    return n + 1
  end
  if not leaves.is_branch(other) then fail("table", path, other) end
  local known = {}
  for i, key in ipairs(of.keys) do
    known[key] = true
    if other[key] == nil then fail("missing", behind(path, key)) end
    n = beside(of[i], other[key], func, behind(path, key), list, n, fail)
  end
  for _, key in ipairs(keys_of(other, func, path)) do
    if not known[key] then fail("more", behind(path, key)) end
  end
  return n
end

--- The entries of a tree at the leaves of a treedef; there it may be nested further.
-- @tparam treedef def
-- @param other
-- @tparam string func for messages
-- @tparam function fail called with "table", "missing" or "more", a path, and what stands in the place of a table
function leaves.beside(def, other, func, fail)
  local list = {}
  beside(def.root, other, func, "", list, 0, fail)
  return list
end

--- Whether a plain table is a value: a list of numbers and booleans, nested as an Array's rows are.
function leaves.is_value(value)
  local n = 0
  for key, v in next, value do
    local of = type(v)
    if not is_whole(key) or not (of == "number" or of == "boolean" or (leaves.is_branch(v) and leaves.is_value(v))) then
      return false
    end
    n = n + 1
  end
  return n > 0 and n == #value
end

--- Whether a list has an entry that is a branch, or the table is none but has other keys. Values are no branches.
function leaves.is_nested(value)
  if not leaves.is_branch(value) or leaves.is_value(value) then return false end
  for _, v in next, value do
    if leaves.is_branch(v) and not leaves.is_value(v) then return true end
  end
  return false
end

-- ---- Arguments ------------------------------------------------------------------------------------------------------

--- Whether a value is more than a Variable or a list: a table by name, or one with tables in it.
function leaves.is_named(value)
  if not leaves.is_branch(value) then return false end
  for key, v in next, value do
    if type(key) == "string" or leaves.is_branch(v) then return true end
  end
  return false
end

local function itself(list) return list end
local function only(list) return list[1] end

--- Flattens `value`. Returns its Variables as a list (a table by name is sorted by its names); a function that puts a
-- list of results back into the form of `value`; and the entries' names, with their treedef as `def`.
-- @param value a Variable, a list, or a nested table
-- @tparam string func for messages
-- @tparam string argname
-- @treturn {Variable,...}
-- @treturn function
-- @treturn {string,...}|nil
function leaves.flatten(value, func, argname)
  if core.is_variable(value) then return { value }, only end
  if not leaves.is_named(value) then return value, itself end
  local list, def, names = leaves.apart(value, func)
  for i, v in ipairs(list) do
    if not core.is_variable(v) then
      core.raise("type", ("%s: entry '%s' of %s must be a Variable, got %s"):format(func, names[i], argname,
        typename(v)))
    end
  end
  names.def = def
  return list, function(results) return leaves.together(def, results) end, names
end

--- The entries of the table `value`, which must have exactly these names, in their order; `value` itself without names.
function leaves.by_names(names, value, func, argname)
  if not names and not leaves.is_named(value) then return value end
  if not names then
    core.raise("value", ("%s: %s is a table by name, what it belongs to is none"):format(func, argname))
  end
  return leaves.beside(names.def, value, func, function(what, path)
    if what == "table" and path == "" then what, path = "missing", names[1] end
    core.raise("value", (what == "missing" and "%s: %s has no entry '%s'"
      or what == "more" and "%s: %s has an entry '%s' too many"
      or "%s: %s must have a table at '%s'"):format(func, argname, path))
  end)
end

return leaves

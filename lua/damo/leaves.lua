--- Variables given as one, as a list, or as a table by name: flattened into a list, and results put back in that form.
-- @module damo.leaves

local core = require "damo.core"

local leaves = {}

-- The sorted string keys of a table; nil if the value is no table or has none.
local function names_of(value, func, argname)
  if type(value) ~= "table" then return nil end
  local names, other = {}, nil
  for key in next, value do
    if type(key) == "string" then
      names[#names + 1] = key
    else
      other = key
    end
  end
  if #names == 0 then return nil end
  table.sort(names)
  if other ~= nil then
    local text = "%s: %s has the name '%s' and the key %s: give a list or a table by name, not both"
    core.raise("value", text:format(func, argname, names[1], tostring(other)))
  end
  return names
end

--- Whether the value is a table by name; a value error if it has names and positions.
function leaves.is_named(value, func, argname) return names_of(value, func, argname) ~= nil end

local function check_variable(v, func, argname, name)
  if core.is_variable(v) then return end
  local got = type(v) == "table" and "a table; nested tables are not taken" or type(v)
  core.raise("type", ("%s: entry '%s' of %s must be a Variable, got %s"):format(func, name, argname, got))
end

local function itself(list) return list end
local function only(list) return list[1] end

--- Flattens `value`. Returns its Variables as a list (a table by name is sorted by its names); a function that puts a
-- list of results back into the form of `value`; and the names.
-- @param value a Variable, a list, or a table by name
-- @tparam string func for messages
-- @tparam string argname
-- @treturn {Variable,...}
-- @treturn function
-- @treturn {string,...}|nil
function leaves.flatten(value, func, argname)
  if core.is_variable(value) then return { value }, only end
  local names = names_of(value, func, argname)
  if not names then return value, itself end
  local list = {}
  for i, name in ipairs(names) do
    check_variable(value[name], func, argname, name)
    list[i] = value[name]
  end
  local function put_back(results)
    local t = {}
    for i, name in ipairs(names) do t[name] = results[i] end
    return t
  end
  return list, put_back, names
end

--- The entries of the table `value`, which must have exactly these names, in their order; `value` itself without names.
function leaves.by_names(names, value, func, argname)
  local own = names_of(value, func, argname)
  if not names and not own then return value end
  if not names then
    core.raise("value", ("%s: %s is a table by name, what it belongs to is none"):format(func, argname))
  end
  local list, known = {}, {}
  for i, name in ipairs(names) do
    list[i], known[name] = type(value) == "table" and value[name] or nil, true
    if list[i] == nil then core.raise("value", ("%s: %s has no entry '%s'"):format(func, argname, name)) end
  end
  for _, name in ipairs(own) do
    if not known[name] then core.raise("value", ("%s: %s has an entry '%s' too many"):format(func, argname, name)) end
  end
  return list
end

return leaves

--- Checks of arguments shared by damo's Lua files, so that no argument is silently ignored.
-- @module damo.arguments

local core = require "damo.core"

local arguments = {}

--- Raises a type error if there are further arguments that are not nil.
-- @tparam string func
-- @tparam string forms what the function takes
function arguments.no_more(func, forms, ...)
  for i = 1, select("#", ...) do
    if select(i, ...) ~= nil then core.raise("type", ("%s: too many arguments; it takes %s"):format(func, forms)) end
  end
end

--- Raises an error if the options are no table, or have a name that is not in the list `known`; then it suggests one.
-- @tparam string func
-- @tparam integer number the argument's, for the message
-- @param options
-- @tparam {string,...} known
function arguments.check_options(func, number, options, known)
  if type(options) ~= "table" then
    core.raise("type", ("%s: argument %d (options) must be a table of options, got %s"):format(func, number,
      type(options)))
  end
  core.system.check_options(func, options, known)
end

--- Raises a type error unless `ok`.
-- @tparam boolean ok
-- @tparam string func
-- @tparam integer place the argument's number
-- @tparam string name
-- @tparam string expected
-- @param value
function arguments.check(ok, func, place, name, expected, value)
  if ok then return end
  core.raise("type", ("%s: argument %d (%s) must be %s, got %s"):format(func, place, name, expected, type(value)))
end

--- Raises a type error unless the value is a Variable, or a table of them.
function arguments.check_variables(func, place, name, value)
  -- A Variable is tested for first: walked as a list it would never end.
  arguments.check(core.is_variable(value) or type(value) == "table", func, place, name,
    "a Variable, or a list or table of Variables", value)
end

--- Whether it can be called: a function, an Op, or what has a metamethod for it.
function arguments.is_callable(fn)
  local meta = getmetatable(fn)
  return type(fn) == "function" or meta == "damo.Op" or (type(meta) == "table" and meta.__call ~= nil)
end

--- A module's functions; the module is loaded when one is used.
function arguments.late(module)
  return setmetatable({}, { __index = function(_, name) return require(module)[name] end })
end

--- The arguments as a list, and their number; trailing nils count as absent.
-- @return list
-- @treturn integer
function arguments.listed(...)
  local n = select("#", ...)
  while n > 0 and (select(n, ...)) == nil do n = n - 1 end
  return { ... }, n
end

--- Takes the option rng off the last of n arguments: the table of options becomes a copy without it, and is left out if
-- it had nothing else.
-- @tparam table args a list, which changes
-- @tparam integer n
-- @return rng, nil without it
-- @treturn integer the number of arguments left
function arguments.take_rng(args, n)
  local last = args[n]
  if type(last) ~= "table" or last.rng == nil then return nil, n end
  local rest = {}
  for key, value in pairs(last) do
    if key ~= "rng" then rest[key] = value end
  end
  args[n] = next(rest) ~= nil and rest or nil
  return last.rng, args[n] and n or n - 1
end

return arguments

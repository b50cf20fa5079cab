--- `ifelse` over branches that may be lists.
-- @module damo.ifelse

local core = require "damo.core"
local arguments = require "damo.arguments"

-- The number of entries of a branch, which must be a list.
local function length(branch, which)
  local n = 0
  for _ in pairs(branch) do n = n + 1 end
  if n ~= #branch then
    core.raise("type", ("ifelse: the %s branch must be a value or a list of values, without names"):format(which))
  end
  return n
end

local options_known = { "return_list" }

--- a if the scalar `cond` is true, else b. A compiled Function computes only that branch.
-- @function ifelse
-- @tparam Variable|number|boolean cond
-- @tparam Variable|Array|number|table a a value, or a list of values
-- @tparam Variable|Array|number|table b the same
-- @tparam[opt] table options `return_list` (false): return the results as a list
-- @return one result an entry
return function(cond, a, b, options, ...)
  arguments.no_more("ifelse", "cond, a, b and options", ...)
  if options ~= nil then arguments.check_options("ifelse", 4, options, options_known) end
  local as_list = options ~= nil and options.return_list
  if as_list and as_list ~= true then
    core.raise("type", "ifelse: option 'return_list' must be a boolean, got " .. type(as_list))
  end
  local list = type(a) == "table"
  if list ~= (type(b) == "table") then core.raise("type", "ifelse: one branch is a list, the other is not") end
  if not list then
    if as_list then return { core.ifelse(cond, a, b) } end
    return core.ifelse(cond, a, b)
  end
  local n, other = length(a, "first"), length(b, "second")
  if n ~= other then
    core.raise("value", ("ifelse: the first branch has %d entries, the second %d"):format(n, other))
  end
  local operands = { cond }
  for i = 1, n do operands[1 + i], operands[1 + n + i] = a[i], b[i] end
  if as_list then return { core.ifelse_list(operands) } end
  return core.ifelse_list(operands)
end

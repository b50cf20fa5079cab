--- `ifelse` over branches that may be lists.
-- @module damo.ifelse

local core = require "damo.core"

--- a where the scalar `cond` is true, else b: only that branch is computed when a compiled function runs.
-- @function ifelse
-- @tparam Variable|number|boolean cond
-- @tparam Variable|Array|number|table a a value, or a list of values
-- @tparam Variable|Array|number|table b the same
-- @return a result for each entry
return function(cond, a, b)
  local list = type(a) == "table"
  if list ~= (type(b) == "table") then core.raise("type", "ifelse: one branch is a list, the other is not") end
  if not list then return core.ifelse(cond, a, b) end
  if #a ~= #b then core.raise("value", ("ifelse: the first branch has %d entries, the second %d"):format(#a, #b)) end
  local operands = { cond }
  for i = 1, #a do operands[1 + i], operands[1 + #a + i] = a[i], b[i] end
  return core.ifelse_list(operands)
end

-- is_float(x): whether x is a Lua float. On a Lua whose numbers are all floats it is so for every number.
local has = require "spec.support.has"

return function(x) return type(x) == "number" and (not has.integers or math.type(x) == "float") end

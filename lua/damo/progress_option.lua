--- The option `progress` of loops: what is called after each step.
-- @module damo.progress_option

local core = require "damo.core"
local typename = core.system.typename

--- The function (step, total) that the option means, nil for none. Where it is true, a bar shows the steps, if their
-- number is known.
---@param func string whose option it is
---@param value any nil, a boolean, a function or an object that can be called
---@param title string|nil of the bar
---@return function|nil
return function(func, value, title)
  if value == nil or value == false then return nil end
  if value == true then
    local bar
    return function(step, total)
      if step == 1 then bar = total and require("damo.progress").new(total, title or func) end
      if not bar then return end -- nothing is known of the end
      bar:step(step)
      if step == total then
        bar:finish()
        bar = nil
      end
    end
  end
  if type(value) == "function" then return value end
  local meta = type(value) ~= "string" and getmetatable(value)
  if type(meta) == "table" and meta.__call then return function(...) return value(...) end end
  core.raise("type", ("%s: option 'progress' must be a boolean or a function, got %s"):format(func, typename(value)))
end

--- mpi.config: settings, which are assigned and read as fields.
-- @module damo.mpi.config

local damo = require "damo"
local core = require "damo.mpi.core"

-- Each setting: its value, and what checks and applies a new one.
local values = { grace = 10, check = false }
local setters = {
  --- Whether the ranks compare what they are about to do before each call of a collective, not the first of its kind
  -- alone; set it on all ranks.
  check = function(value)
    if type(value) ~= "boolean" then damo.raise("type", "mpi.config.check must be true or false") end
    core.set_check(value)
  end,
  --- Seconds that a rank which has failed waits for those that still compute; then it ends the job.
  grace = function(value)
    if type(value) ~= "number" or value < 0 or value ~= value then
      damo.raise("value", "mpi.config.grace must be a number of seconds from 0 on")
    end
    core.grace(value)
  end,
}

local function check_name(name)
  if setters[name] then return end
  local names = {}
  for known in pairs(setters) do names[#names + 1] = known end
  table.sort(names)
  damo.raise("value", ("mpi.config has no setting '%s'; it has %s"):format(tostring(name), table.concat(names, ", ")))
end

return setmetatable({}, {
  __index = function(_, name)
    check_name(name)
    return values[name]
  end,
  __newindex = function(_, name, value)
    check_name(name)
    setters[name](value)
    values[name] = value
  end,
})

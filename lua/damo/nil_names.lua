--- Lua's own messages of a name that has no value, and which name of damo may be meant. For damo's own files only.
-- @module damo.nil_names

local damo = require "damo"

local nil_names = {}

--- What was done with the name, what it is (global, local, field, method, upvalue), and the name.
local function parts_of(message)
  local doing, kind, name = message:match "attempt to ([%a ]-) a nil value %((%a+) '([%w_]+)'%)"
  if name then return doing, kind, name end
  return message:match "attempt to ([%a ]-) (%a+) '([%w_]+)' %(a nil value%)" -- Lua 5.1
end

--- What to write instead of a name that damo has elsewhere, or has in another spelling; nil where it knows none.
---@param message string
---@return string|nil
function nil_names.hint(message)
  local doing, kind, name = parts_of(message)
  if not name then return nil end
  if name == "damo" then return 'damo is loaded first: local damo = require "damo"' end
  if doing == "index" and kind == "global" and type(damo[name]) == "table" then
    return ("'%s' is damo.%s"):format(name, name)
  end
  if doing ~= "call" then return nil end
  local page = damo.help(name, { file = "str" })
  local near = page:match "^there is no name '[^']*', did you mean ([^\n]*)%?"
  if near then return ("there is no '%s', did you mean %s?"):format(name, near) end
  local path = page:match "^(damo%.[%w_.]+)[: ]"
  return path and path:match "[^.]*$" == name and ("'%s' is %s"):format(name, path) or nil
end

--- Why the name of a message has no value, for a message of that kind.
---@param message string
---@return string|nil
function nil_names.why(message)
  local _, kind, name = parts_of(message)
  if not name then return nil end
  local of = kind == "field" and "the table has no such entry" or kind == "method" and "the object has no such method"
    or "it is misspelt, local to another block, or set later"
  return ("'%s' has no value here: %s."):format(name, of)
end

return nil_names

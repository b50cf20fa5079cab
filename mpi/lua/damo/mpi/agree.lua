--- What ranks tell each other outside of graphs: strings, and whether all of them have succeeded.
-- @module damo.mpi.agree

local damo = require "damo"
local core = require "damo.mpi.core"

local agree = {}

--- Gives the strings of all ranks, a list by rank. `problem`: what went wrong on this rank, nil for nothing; if there
-- is one anywhere, all ranks raise it, that of the lowest rank.
-- @tparam string func for messages
-- @tparam string|nil problem
-- @tparam[opt] string kind of the error, "io" if none is given
-- @tparam[opt] string text of this rank
function agree.gather(func, problem, kind, text)
  local mine, all = problem and "!" .. (kind or "io") .. ":" .. problem or "=" .. (text or ""), {}
  for rank = 1, core.size do all[rank] = mine end
  all = core.exchange_strings(all, func)
  for rank = 1, core.size do
    if all[rank]:sub(1, 1) == "!" then
      local where = core.size > 1 and ("rank %d: "):format(rank - 1) or ""
      local told, message = all[rank]:match "^!([%w_]+):(.*)$"
      if message:sub(1, #func + 2) == func .. ": " then message = message:sub(#func + 3) end
      damo.raise(told, ("%s: %s%s"):format(func, where, message))
    end
    all[rank] = all[rank]:sub(2)
  end
  return all
end

--- Raises an error on all ranks unless they have the same text. `what`: what it is of, for the message.
function agree.same(func, what, text, kind)
  local all = agree.gather(func, nil, nil, text)
  for rank = 2, core.size do
    if all[rank] ~= all[1] then
      damo.raise(kind or "value", ("%s: %s differs between ranks: %s on rank 0, %s on rank %d"):format(func, what,
        all[1], all[rank], rank - 1))
    end
  end
end

--- Calls fn(...) on this rank; an error of it is raised on all ranks. Gives its first result, and the texts of all
-- ranks: fn's second result is this rank's.
function agree.try(func, fn, ...)
  local ok, value, text = pcall(fn, ...)
  if ok then return value, agree.gather(func, nil, nil, text) end
  local err = value
  local message = type(err) == "table" and err.message or tostring(err)
  return agree.gather(func, message, type(err) == "table" and err.kind or "callback")
end

--- The value, or an io error with the message that came in its place.
function agree.made(value, message, ...)
  if value == nil then damo.raise("io", message) end
  return value, message, ...
end

return agree

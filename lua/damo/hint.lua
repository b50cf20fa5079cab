--- What to do about an error whose message does not say it: a line for tostring(err), and the mistake for explain.
-- For damo's own files only.
-- @module damo.hint

local hint = {}

--- The first mistake whose pattern the message matches; nil if none does.
function hint.find(message)
  for _, m in ipairs(require "damo.mistakes") do
    if message:find(m[3]) then return m end
  end
end

--- What to do, in a line; nil where the message says it itself, or where no mistake is known.
function hint.of(message)
  local m = hint.find(message)
  return m and m[6]
end

return hint

--- What random streams and eager draws have used, so that it can be taken back: `scan` may call a script's function
-- more than once.
-- @module damo.draws

local draws = {}

-- The records under way, the innermost last. A record maps a stream to what it was before.
local records = {}

--- Notes the stream before it draws.
-- @tparam RandomStream stream
function draws.note(stream)
  for _, record in ipairs(records) do
    if not record[stream] then record[stream] = { n = stream.n, n_states = #stream.states } end
  end
end

--- Begins a record.
function draws.begin() records[#records + 1] = {} end

--- Ends the last record. undo: the streams are set back to what they were when it began.
-- @tparam boolean undo
function draws.finish(undo)
  local record = table.remove(records)
  for stream, before in pairs(undo and record or {}) do
    stream.n = before.n
    for i = #stream.states, before.n_states + 1, -1 do stream.states[i] = nil end
  end
end

return draws

--- What each rank does by itself: its stream of random numbers, and what rank 0 alone shows.
-- @module damo.mpi.ranks

local damo = require "damo"
local core = require "damo.mpi.core"

local ranks = {}

-- Seeds are reduced modulo this number by RandomStream; steps of STEP reach each residue once.
local SEEDS, STEP = 9007199, 2971

-- Streams that random_stream has made: each rank has one of its own.
local own_streams = setmetatable({}, { __mode = "k" })

--- A stream of random numbers of this rank's own: that of a rank depends on the seed and on its number, not on how many
-- ranks there are. `damo.random.RandomStream(seed)` gives every rank the same numbers instead.
-- @tparam integer seed the same on all ranks
-- @treturn RandomStream
function ranks.random_stream(seed)
  if type(seed) ~= "number" or seed ~= math.floor(seed) or seed - seed ~= 0 then
    damo.raise("type", "mpi.random_stream: the seed must be an integer, got " .. tostring(seed))
  end
  local stream = damo.random.RandomStream((seed + core.rank * STEP) % SEEDS)
  own_streams[stream] = true
  return stream
end

--- Whether a stream is one of random_stream.
function ranks.is_own_stream(stream) return own_streams[stream] == true end

--- Prints on rank 0 alone.
function ranks.print(...)
  if core.rank == 0 then print(...) end
end

local nowhere = { write = function() end }

--- damo.progress, shown by rank 0 alone: `for i in mpi.progress(n, {title = "…"}) do`, and `mpi.progress.new`.
ranks.progress = setmetatable({
  new = function(total, title, options)
    if core.rank == 0 then return damo.progress.new(total, title, options) end
    return damo.progress.new(total, title, { out = nowhere, terminal = false })
  end,
}, {
  __call = function(_, x, options)
    if core.rank == 0 or options ~= nil and type(options) ~= "table" then return damo.progress(x, options) end
    local copy = {}
    for key, value in pairs(options or {}) do copy[key] = value end
    copy.silent = true
    return damo.progress(x, copy)
  end,
})

return ranks

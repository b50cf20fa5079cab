-- A graph after a way through the bytes of a file: inputs and outputs of the copy. Asserts that the copy gives the same
-- bytes. With DAMO_GRAPH_CORPUS in the environment the bytes go to files in that folder, for spec/fuzz/graph_fuzz.c.
local damo = require "damo"

local corpus, saved = os.getenv "DAMO_GRAPH_CORPUS", 0
local function keep(bytes)
  saved = saved + 1
  local file = assert(io.open(("%s/%s-%04d.graph"):format(corpus, tostring({}):match "%w+$", saved), "wb"))
  file:write(bytes)
  file:close()
end

return function(inputs, outputs, options)
  local format = { format = "graph" }
  local bytes = damo.io.format({ inputs = inputs, outputs = outputs }, format)
  if corpus then keep(bytes) end
  local copy = damo.io.parse(bytes, options)
  assert(damo.io.format(copy, format) == bytes, "the copy of a graph gives other bytes")
  return copy.inputs, copy.outputs
end

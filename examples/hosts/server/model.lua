-- The model of the server: scores of a request, and a running mean of what a session has asked for. Gives the token.
local damo = require "damo"

local inputs, hidden, outputs = 32, 64, 8
local function weights(rows, cols)
  local w = {}
  for i = 1, rows do
    w[i] = {}
    for j = 1, cols do w[i][j] = math.sin(i * 12.9 + j * 78.2) / math.sqrt(rows) end
  end
  return damo.constant(damo.array(w))
end

local x = damo.dvector "x"
local mean, count = damo.shared(damo.zeros { inputs }, "mean"), damo.shared(0.0, "count")
local now = mean + (x - mean) / (count + 1)
local h = damo.tanh(damo.dot(x - now, weights(inputs, hidden)))
local scores = damo.softmax(damo.dot(h, weights(hidden, outputs)))

local f = damo.compile({ x }, scores, { updates = { [mean] = now, [count] = count + 1 }, name = "scores" })
package.loaded["server.model"] = f -- the token holds as long as this Function lives
return f:token()

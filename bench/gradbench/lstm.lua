-- lstm: a network of layers of long short-term memory, whose weights are diagonal, reads a text as rows of bits and
-- predicts each next row; the mean loss, and its gradient in all parameters.

local damo = require "damo"

--- The hidden states of a layer over all rows of x. w, b: weights and biases of the four gates, one a row. Gates that
--- see x alone are computed for all rows at once.
local function layer(w, b, x, hidden, cell)
  local forget, outgate = damo.sigmoid(x * w[1] + b[1]), damo.sigmoid(x * w[3] + b[3])
  local w_in, b_in, w_change, b_change = w[2], b[2], w[4], b[4]
  local hiddens = damo.scan(function(forget_t, outgate_t, hidden_t, cell_t)
    local ingate = damo.sigmoid(hidden_t * w_in + b_in)
    local change = damo.tanh(hidden_t * w_change + b_change)
    local new_cell = cell_t * forget_t + ingate * change
    return outgate_t * damo.tanh(new_cell), new_cell
  end, { sequences = { forget, outgate }, outputs_info = { hidden, cell } })
  return hiddens
end

--- The Functions of (main_params, extra_params, state, sequence) for a network of so many layers.
local function compiled(layers)
  local main, extra, state, text = damo.dmatrix "main", damo.dmatrix "extra", damo.dmatrix "state", damo.dmatrix "text"
  local gates = main:reshape { layers, 2, 4, text.shape[2] }
  local x = text[{ { 1, -2 } }] * extra[1]
  for i = 1, layers do x = layer(gates[{ i, 1 }], gates[{ i, 2 }], x, state[2 * i - 1], state[2 * i]) end
  local predicted = x * extra[2] + extra[3]
  local logsumexp = damo.log(damo.sum(damo.exp(predicted), { axis = 2, keepdims = true }) + 2)
  local loss = -damo.mean(text[{ { 2, -1 } }] * (predicted - logsumexp))
  local slopes = damo.grad(loss, { main, extra })
  local inputs = { main, extra, state, text }
  return {
    objective = damo.compile(inputs, loss),
    jacobian = damo.compile(inputs, damo.concatenate { slopes[1]:flatten(), slopes[2]:flatten() }),
  }
end

local function prepared(name)
  return function(input)
    local f = compiled(#input.main_params / 2)[name]
    local main, extra = damo.array(input.main_params), damo.array(input.extra_params)
    local state, text = damo.array(input.state), damo.array(input.sequence)
    return function() return f(main, extra, state, text) end
  end
end

return { objective = prepared "objective", jacobian = prepared "jacobian" }

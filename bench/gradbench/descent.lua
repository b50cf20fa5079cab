-- descent: the minimum of a function by gradient descent as a loop of the graph, for the evals particle and saddle: the
-- solver that GradBench prescribes for them. Steps double after ten that descend, and halve after one that does not.

local damo = require "damo"
local unpack = table.unpack or unpack -- luacheck: ignore

local descent = {}

--- The derivatives of the scalar y in each of the list x, by one of the modes: r, reverse; f, forward.
function descent.gradient(mode, y, x)
  if mode == "r" then return damo.grad(y, x) end
  local slopes = {}
  for i = 1, #x do
    local direction = {}
    for j = 1, #x do direction[j] = damo.constant(i == j and 1.0 or 0.0) end
    slopes[i] = damo.Rop(y, x, direction)
  end
  return slopes
end

local function length(parts)
  local total = 0
  for _, part in ipairs(parts) do total = total + part * part end
  return damo.sqrt(total)
end

--- The place near `start`, a list of scalars, where f(x) is least; mode: how f is differentiated.
function descent.argmin(mode, f, start)
  local n = #start
  local function value_and_slopes(x)
    local value = f(x)
    return value, descent.gradient(mode, value, x)
  end
  -- The loop's state: the place, its value, its slopes, the size of steps, how many descended since that changed.
  local function unpacked(state)
    local x, slopes = { unpack(state, 1, n) }, { unpack(state, n + 2, 2 * n + 1) }
    local size, count = state[2 * n + 2], state[2 * n + 3]
    local full = damo.eq(count, 10)
    return x, state[n + 1], slopes, damo.where(full, 2 * size, size), damo.where(full, 0, count)
  end
  local function stepped(x, slopes, size)
    local new, move = {}, {}
    for i = 1, n do
      new[i] = x[i] - size * slopes[i]
      move[i] = x[i] - new[i]
    end
    return new, move
  end
  -- Variables of their own, since f may read those of the start too, and is not differentiated in them.
  local first = {}
  for i = 1, n do first[i] = damo.identity(start[i]) end
  local value, slopes = value_and_slopes(first)
  local state = { unpack(first) }
  state[n + 1] = value
  for i = 1, n do state[n + 1 + i] = slopes[i] end
  state[2 * n + 2], state[2 * n + 3] = damo.constant(1e-5), damo.constant(0.0)
  local last = { damo.while_loop(function(...)
    local x, _, g, size = unpacked { ... }
    local _, move = stepped(x, g, size)
    return damo.gt(length(g), 1e-5) * damo.gt(length(move), 1e-5)
  end, function(...)
    local x, old, g, size, count = unpacked { ... }
    local new = stepped(x, g, size)
    local new_value, new_slopes = value_and_slopes(new)
    local better = damo.lt(new_value, old)
    local result = {}
    for i = 1, n do
      result[i] = damo.where(better, new[i], x[i])
      result[n + 1 + i] = damo.ifelse(better, new_slopes[i], g[i])
    end
    result[n + 1] = damo.where(better, new_value, old)
    result[2 * n + 2] = damo.where(better, size, size / 2)
    result[2 * n + 3] = damo.where(better, count + 1, 0)
    return result
  end, state) }
  return { unpack(last, 1, n) }
end

return descent

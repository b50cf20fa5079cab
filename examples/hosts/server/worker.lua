-- What each thread runs, in a state of its own: sessions, which are coroutines, answer requests in turn. Each has a
-- Function by the token, so its running mean is its own. Gives the sum of all first scores.
local token, sessions, requests = ...
local damo = require "damo"

local function session(number)
  local answer = damo.from_token(token)
  local x, sum = damo.zeros { 32 }, 0
  for request = 1, requests do
    for i = 1, 32 do x[i] = math.sin(number + request * i) end
    sum = sum + answer(x)[1]
    coroutine.yield()
  end
  return sum
end

local open, total = {}, 0
for number = 1, sessions do open[number] = coroutine.create(session) end
for _ = 1, requests + 1 do
  for number, co in ipairs(open) do
    local ok, sum = coroutine.resume(co, number)
    if not ok then error(tostring(sum)) end
    if sum then total = total + sum end
  end
end
return total

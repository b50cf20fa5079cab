-- A script's finalizers run whenever Lua allocates, also inside damo's functions. If one adds to a table that a
-- function is reading, the function must not write past the memory that it allocated for the entries it counted.
local child = require "spec.support.child"

local script = [[
local damo = require "damo"
local x = damo.dvector "x"
local y, extra, in_use = x + 1, {}, nil
for i = 1, 200 do extra[i] = damo.dscalar("e" .. i) end
local function fill()
  local t = in_use
  if not t then return end
  in_use = nil
  for i, key in ipairs(extra) do
    if t[x] then t[key] = 1 else t[key.name] = key end
  end
end
pcall(collectgarbage, "generational", 1, 1)
local function leave_garbage()
  if newproxy then
    getmetatable(newproxy(true)).__gc = fill
  else
    setmetatable({}, { __gc = fill })
  end
end
local function try(make, call)
  for _ = 1, 100 do
    leave_garbage()
    local t = make()
    in_use = t
    for _ = 1, 60 do
      pcall(call, t)
      if not in_use then break end
    end
    in_use = nil
  end
end
local function by_variable() return { [x] = damo.array { 1, 2 } } end
try(by_variable, function(t) return y:eval(t) end)
try(by_variable, function(t) return damo.compile({}, y, { givens = t }) end)
try(by_variable, function(t) return damo.graph.clone_replace({ y }, t) end)
try(by_variable, function(t) return damo.grad(nil, x, { known_grads = t }) end)
try(function() return { a = x } end, function(t) return damo.compile({ x }, t) end)
try(function() return setmetatable({ a = 1 }, getmetatable(damo.memory())) end, tostring)
print "ended"
]]

describe("a finalizer that fills a table", function()
  it("while it is read does no harm", function()
    local out, ok = child(script)
    assert.is_true(ok, out)
    assert.equal("ended\n", out)
  end)
end)

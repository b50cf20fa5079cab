-- The compiled cases of every family of op functions by Functions made by a token: results have the bits of those of
-- the Function that the token is of.
local damo = require "damo"
local compile = damo.compile
local unpack = table.unpack or unpack -- luacheck: ignore

local function same(a, b)
  if type(a) ~= "userdata" then return a == b or (a ~= a and b ~= b) end
  if a.dtype ~= b.dtype or a.ndim ~= b.ndim then return false end
  if damo.array_equal(a, b) then return true end
  return damo.array_equal(damo.isnan(a), damo.isnan(b)) -- any nan equals any nan
    and damo.array_equal(damo.switch(damo.isnan(a), 0, a), damo.switch(damo.isnan(b), 0, b))
end

--- What stands for a compiled Function: calls it and its twin by a token, and compares.
local function twins(...)
  local f = compile(...)
  local g = damo.from_token(f:token())
  return function(...)
    local want, got = { f(...) }, { g(...) }
    assert.equal(#want, #got)
    for i = 1, #want do
      assert.is_true(same(want[i], got[i]), ("result %d: %s, not %s"):format(i, tostring(got[i]), tostring(want[i])))
    end
    return unpack(got, 1, #got)
  end
end

local function with_twins(name, body)
  if not name:find ": compiled$" then return end
  it(name, function()
    damo.compile = twins
    local ok, err = pcall(body)
    damo.compile = compile
    if not ok then error(err, 0) end
  end)
end

local h = assert(loadfile "spec/op/harness.lua")(describe, with_twins)
for _, family in ipairs(h.families) do h.run_family(family) end

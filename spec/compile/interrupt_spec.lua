-- Ordinary calls look at Lua's debug hook between their pieces: what Ctrl-C of lua, a time limit or a debugger sets.
local damo = require "damo"

-- Calls f while a hook raises `value` once `seconds` of processor time have gone by. Returns what pcall gives.
local function call_with_limit(seconds, value, f, ...)
  local clock, started = os.clock, os.clock()
  debug.sethook(function()
    if clock() - started < seconds then return end
    debug.sethook()
    error(value, 0)
  end, "", 100)
  local ok, err = pcall(f, ...)
  debug.sethook()
  return ok, err
end

-- So many calls that they take at least that long.
local function long_call(f, ...)
  local n, args = 0, { ... }
  return function()
    for _ = 1, 1000000 do
      f((unpack or table.unpack)(args)) -- luacheck: ignore 113
      n = n + 1
    end
  end, function() return n end
end

describe("a debug hook", function()
  it("ends a long elementwise loop, a reduction, a loop with several passes", function()
    local x = damo.dvector "x"
    local a = damo.ones { 3000000 }
    for _, y in ipairs { damo.sum(damo.exp(damo.sin(x))), damo.exp(damo.cos(x)), damo.argmax(damo.sin(x)) } do
      local f = damo.compile({ x }, y)
      local whole = math.huge -- processor time of a call
      for _ = 1, 4 do
        local started = os.clock()
        f(a)
        whole = math.min(whole, os.clock() - started)
      end
      local ok, err = call_with_limit(whole / 5, "too long", f, a)
      assert.is_false(ok)
      assert.equal("too long", err)
    end
  end)

  it("ends a program of many short nodes between two of them", function()
    local x = damo.dvector "x"
    local s = damo.shared(0.0, "s")
    local y = x
    for _ = 1, 40 do y = damo.sin(y) + 1 end
    local f = damo.compile({ x }, y,
      { updates = { { s, s + 1 } }, mode = damo.Mode { exclude = { "fusion" } } })
    local calls, count = long_call(f, damo.ones { 2000 })
    local ok, err = call_with_limit(0.05, "too long", calls)
    assert.is_false(ok)
    assert.equal("too long", err)
    assert.equal(count(), s:get_value())
  end)

  it("has its error passed through as it is, with nothing committed, and the Function works on", function()
    local s = damo.shared(damo.ones { 3000000 }, "s")
    local f = damo.compile({}, {}, { updates = { { s, damo.exp(damo.sin(s)) } } })
    local thing = {}
    local ok, err = call_with_limit(0, thing, f)
    assert.is_false(ok)
    assert.is_true(err == thing)
    assert.equal(3000000, damo.sum(s:get_value()))
    f()
    assert.is_true(damo.sum(s:get_value()) < 8000000)
  end)

  it("ends loops on several threads", function()
    local before = damo.config.threads
    damo.config.threads = 3
    local x = damo.dvector "x"
    local f, g = damo.compile({ x }, damo.exp(damo.sin(x))), damo.compile({ x }, damo.sum(damo.exp(damo.cos(x))))
    local a = damo.ones { 3000000 }
    for _, h in ipairs { f, g } do
      local want = h(a)
      local calls = long_call(h, a)
      local ok, err = call_with_limit(0.03, "too long", calls)
      assert.is_false(ok)
      assert.equal("too long", err)
      assert.equal(0, damo.max(damo.abs(h(a) - want)))
      debug.sethook(function() pcall(h == f and g or f, a) end, "", 1000)
      local got = h(a)
      debug.sethook()
      assert.equal(0, damo.max(damo.abs(got - want)))
    end
    damo.config.threads = before
  end)

  it("may call damo while a loop waits for it", function()
    local x = damo.dvector "x"
    local f, g = damo.compile({ x }, damo.exp(damo.sin(x))), damo.compile({ x }, damo.sum(damo.exp(x)))
    local a, calls = damo.ones { 3000000 }, 0
    local want = f(a)
    debug.sethook(function()
      calls = calls + 1
      if calls < 4 then g(a) end
      if calls == 4 then assert(not pcall(f, a)) end
    end, "", 1000)
    local got = f(a)
    debug.sethook()
    assert.is_true(calls > 0)
    assert.equal(0, damo.max(damo.abs(got - want)))
  end)
end)

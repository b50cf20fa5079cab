-- Calls on short Arrays of the shapes of the last call, which skip the frame.
local damo = require "damo"

local unpack = table.unpack or unpack -- luacheck: ignore
local slow = damo.Mode { jit = false }

local function equal(want, got)
  if type(want) == "number" then return assert.is_true(want == got or (want ~= want and got ~= got)) end
  assert.equal(want.dtype, got.dtype)
  assert.same(want.shape, got.shape)
  assert.is_true(damo.array_equal(want, got, { equal_nan = true }))
end

-- Calls fn when a fresh object is collected.
local function finalizer(fn)
  if newproxy then -- luacheck: ignore
    getmetatable(newproxy(true)).__gc = fn -- luacheck: ignore
  else
    setmetatable({}, { __gc = fn })
  end
end

-- Random numbers, the same in each run of the spec.
local state = 12345
local function noise(n, columns)
  if n == 0 then return damo.zeros { 0 } end
  local t = {}
  for i = 1, n do
    if columns then
      t[i] = {}
      for k = 1, columns do
        state = (state * 16807) % 2147483647
        t[i][k] = state / 2147483647 - 0.5
      end
    else
      state = (state * 16807) % 2147483647
      t[i] = state / 2147483647 - 0.5
    end
  end
  return damo.array(t)
end

describe("a call on short Arrays", function()
  local x, y, s, m = damo.dvector "x", damo.dvector "y", damo.dscalar "s", damo.dmatrix "m"

  -- What f gives, again and again, for arguments of changing shapes, is what a fresh Function gives in its first call.
  local function compare(inputs, outputs, make, options)
    local f = damo.compile(inputs, outputs, options)
    for round, n in ipairs { 5, 5, 5, 7, 7, 5, 1, 1, 0, 0, 3, 3, 3 } do
      local args = make(n, round)
      local want = { damo.compile(inputs, outputs, { mode = slow })(unpack(args)) }
      local got = { f(unpack(args)) }
      for i = 1, #want do equal(want[i], got[i]) end
    end
    assert.equal(13, f.n_calls)
  end

  it("gives what the first call gives", function()
    compare({ x, y }, x + y, function(n) return { noise(n), noise(n) } end)
    compare({ x, y }, x * y + damo.exp(x) - 2, function(n) return { noise(n), noise(n) } end)
    compare({ x, s }, x * s, function(n, round) return { noise(n), round / 3 } end)
    compare({ s, x }, damo.tanh(x) * s - s, function(n, round) return { damo.array(round / 3), noise(n) } end)
    compare({ x }, damo.sum(damo.sqr(x)), function(n) return { noise(n) } end)
    compare({ x, y }, { damo.sum(x * y), damo.sqr(x) }, function(n) return { noise(n), noise(n) } end)
    compare({ x, y }, { damo.exp(x * y) - x, damo.exp(x * y) }, function(n) return { noise(n), noise(n) } end)
    compare({ m, x }, damo.exp(m) * x, function(n) return { noise(4, n > 0 and n or 1), noise(n > 0 and n or 1) } end)
    compare({ m }, { damo.sum(m * m, 1), damo.max(m) }, function(n) return { noise(n + 1, 3) } end)
    compare({ m }, damo.softmax(m), function(n) return { noise(n + 1, 3) } end)
    compare({ x }, damo.cast(x, "float32"), function(n) return { noise(n) } end)
    compare({ x }, x + damo.constant { 2 }, function(n) return { noise(n) } end)
    compare({ x }, { x[{ { -1, 1, -1 } }] * 2 }, function(n) return { noise(n) } end)
  end)

  it("follows changes of strides", function()
    local f = damo.compile({ x, y }, x - 2 * y)
    local a, b = noise(12), noise(6)
    for _ = 1, 3 do
      equal(f(a[{ { 1, 6 } }]:copy(), b), f(a[{ { 1, 6 } }], b))
      equal(f(a[{ { 1, 12, 2 } }]:copy(), b), f(a[{ { 1, 12, 2 } }], b))
      equal(f(a[{ { 12, 2, -2 } }]:copy(), b), f(a[{ { 12, 2, -2 } }], b))
    end
    local g = damo.compile({ m }, damo.exp(m) - 1)
    local c = noise(4, 4)
    for _ = 1, 3 do
      equal(g(c.T:copy()), g(c.T))
      equal(g(c), g(c:copy()))
    end
  end)

  it("writes into Arrays, strided ones and those of operands too", function()
    local f = damo.compile({ x, y }, { damo.exp(x * y), damo.exp(x * y) - x }) -- one Loop
    local a, b = noise(9), noise(9)
    local p, q = f(a, b)
    local o1, o2 = damo.zeros { 9 }, damo.zeros { 18 }
    for _, targets in ipairs { { o1, damo.zeros { 9 } }, { o1, o2[{ { 1, 18, 2 } }] }, { o2[{ { 18, 2, -2 } }], o1 },
      { o2[{ { 1, 9 } }], o2[{ { 10, 18 } }] } } do
      local into = f:into(targets[1], targets[2])
      for _ = 1, 4 do
        damo.fill(targets[1], 0)
        local r1, r2 = into(a, b)
        assert.is_true(r1 == targets[1] and r2 == targets[2])
        equal(p, r1:copy())
        equal(q, r2:copy())
      end
    end
    local some = f:into(nil, o1)
    for _ = 1, 4 do
      local r1, r2 = some(a, b)
      assert.is_true(r1 ~= o1 and r2 == o1)
      equal(p, r1)
      equal(q, o1)
    end
    local u, v = a:copy(), b:copy()
    local swap = f:into(v, u)
    for _ = 1, 4 do
      local w1, w2 = f(u, v)
      swap(u, v)
      equal(w1, v)
      equal(w2, u)
    end
    local line = noise(80)
    for _, out in ipairs { -x, 2 * x - 1 } do
      local shifted = damo.compile({ x }, out)
      local move = shifted:into(line[{ { 2, 71 } }])
      for _ = 1, 4 do
        local want = shifted(line[{ { 1, 70 } }])
        move(line[{ { 1, 70 } }])
        equal(want, line[{ { 2, 71 } }]:copy())
      end
    end
  end)

  it("leaves results to who asked for them", function()
    local f = damo.compile({ x }, x * 3)
    local first = f(damo.array { 1, 2 })
    for i = 1, 5 do
      local r = f(damo.array { i, i })
      r[1] = 0
    end
    equal(damo.array { 3, 6 }, first)
    local g = damo.compile({ x }, { damo.sum(x), x })
    local a = damo.array { 1, 2 }
    for _ = 1, 4 do
      local total, same = g(a)
      assert.equal(3, total)
      equal(a, same)
    end
  end)

  -- What pushes a result may collect: a finalizer then calls the Function, or frees it, before the next one is pushed.
  it("gives the results of its own call where a finalizer makes another", function()
    local f = damo.compile({ x }, { damo.sqr(x) + x, damo.sum(damo.sqr(x) + x) })
    local a, b = damo.array { 1, 2, 3 }, damo.array { 100, 100, 100 }
    local into, other = f:into(nil, damo.array(0.0)), true
    local function arm()
      finalizer(function()
        if not other then return end
        f(b)
        into(b)
        arm()
      end)
    end
    for _ = 1, 3 do f(a) end
    arm()
    for _ = 1, 3000 do
      local _, s1 = f(a)
      local _, s2 = into(a)
      assert.is_true(s1 == 20 and s2 == 20)
    end
    other = false
  end)

  it("ends well where a finalizer frees it", function()
    local a = damo.array { 1, 2, 3 }
    for _ = 1, 30 do
      local f = damo.compile({ x }, { damo.sqr(x) + x, damo.sum(damo.sqr(x) + x) })
      for _ = 1, 3 do f(a) end
      finalizer(function() f:free() end)
      local freed
      for _ = 1, 3000 do
        local ok, e = pcall(f, a)
        freed = not ok and e
        if freed then break end
      end
      if freed then assert.equal("state", freed.kind) end
      f:free()
    end
  end)

  it("reads a result as an operand of the next call", function()
    local f = damo.compile({ x }, 0.5 * x + 1)
    local v = damo.array { 8, 16 }
    for _ = 1, 6 do v = f(v) end
    equal(damo.array { 2.09375, 2.21875 }, v)
  end)

  it("refuses what the first call refuses", function()
    local f = damo.compile({ x, y }, x + 2 * y)
    local a, b, out = noise(4), noise(4), damo.zeros { 4 }
    local into = f:into(out)
    for _ = 1, 3 do into(a, b) end
    for _ = 1, 2 do
      assert.error_matches(function() into(a, noise(5)) end, "shapes")
      assert.error_matches(function() into(noise(5), noise(5)) end, "output 1 is")
      assert.error_matches(function() into(a, noise(2, 2)) end, "input 2")
      assert.error_matches(function() into(a) end, "input 2")
      assert.error_matches(function() into(a, b, a) end, "expected 2 arguments")
      assert.error_matches(function() into(a, "b") end, "input 2")
      assert.error_matches(function() into(a, 1) end, "input 2")
      assert.error_matches(function() f(a, noise(5)) end, "shapes")
      into(a, b)
    end
    equal(f(a, b), into(a, damo.array({ 1, 2, 3, 4 }, "float32")) and f(a, b))
    out.writeable = false
    assert.error_matches(function() into(a, b) end, "read%-only")
    local slow_run = damo.compile({ x }, damo.sum(x)):start(a)
    local over = f:into(a)
    assert.error_matches(function() over(b, b) end, "run under way")
    slow_run:cancel()
    over(b, b)
    f:free()
    assert.error_matches(function() f(a, b) end, "freed")
    assert.error_matches(function() into(a, b) end, "freed")
  end)

  it("converts other dtypes, and counts a number as a 0-d Array", function()
    local f = damo.compile({ x, s }, x * s, { allow_input_downcast = true })
    local a = damo.array { 1, 2 }
    for _ = 1, 3 do equal(damo.array { 2, 4 }, f(a, 2)) end
    equal(damo.array { 2, 4 }, f(damo.array({ 1, 2 }, "float32"), 2))
    equal(damo.array { 2, 4 }, f({ 1, 2 }, damo.array(2, "int8")))
    local strict = damo.compile({ damo.In(x, { strict = true }), damo.In(s, { strict = true }) }, x * s)
    for _ = 1, 3 do strict(a, damo.array(2.0)) end
    assert.error_matches(function() strict(a, 2) end, "input 2")
  end)

  it("checks inputs that nothing reads", function()
    local f = damo.compile({ x, y }, x + 1, { on_unused_input = "ignore" })
    local a = damo.array { 1, 2 }
    for _ = 1, 3 do f(a, a) end
    assert.error_matches(function() f(a, damo.ones { 2, 2 }) end, "input 2")
  end)

  it("looks at values where the Op does", function()
    local i = damo.lvector "i"
    local f = damo.compile({ x, i }, x[i] * 2)
    local a = noise(6)
    for _ = 1, 3 do equal(2 * a[{ { 1, 3 } }], f(a, damo.array({ 1, 2, 3 }, "int64"))) end
    assert.error_matches(function() f(a, damo.array({ 1, 2, 7 }, "int64")) end, "outside")
    equal(2 * a[{ { 4, 6 } }], f(a, damo.array({ 4, 5, 6 }, "int64")))
    local n = damo.lscalar "n"
    local g = damo.compile({ n }, damo.arange(n) * 2)
    for k = 0, 6 do assert.equal(k, g(k).size) end
  end)

  it("keeps what borrowed results, updates, names and profiles promise", function()
    local a = noise(4)
    local borrowed = damo.compile({ x }, damo.Out(x * 2, { borrow = true }))
    local r = borrowed(a)
    for _ = 1, 3 do equal(2 * a, borrowed(a)) end
    assert.equal(4, r.size)
    local total = damo.shared(damo.zeros { 4 })
    local f = damo.compile({ x }, x + total, { updates = { { total, total + x } } })
    for k = 0, 4 do assert.is_true(damo.allclose((k + 1) * a, f(a))) end
    local named = damo.compile({ x }, { twice = x * 2, sum = damo.sum(x) })
    for _ = 1, 3 do equal(2 * a, named(a).twice) end
    local profiled = damo.compile({ x }, x * 2, { profile = true })
    for _ = 1, 4 do profiled(a) end
    assert.equal(4, profiled.n_calls)
    assert.equal(4, profiled.profile.calls)
  end)

  it("goes on after f:trim, and in copies", function()
    local f = damo.compile({ x }, damo.exp(x) + 1)
    local a = noise(8)
    local want = f(a)
    for _ = 1, 3 do equal(want, f(a)) end
    f:trim()
    for _ = 1, 3 do equal(want, f(a)) end
    local g = f:copy()
    for _ = 1, 3 do equal(want, g(a)) end
    equal(want, f(a))
  end)

  it("has the same bits on several threads, in reproducible mode and in DEBUG mode", function()
    local a, b = noise(300), noise(300)
    local outputs = { damo.exp(x) * y - damo.sin(y), damo.sum(x * y) }
    local w1, w2 = damo.compile({ x, y }, outputs)(a, b)
    for _, options in ipairs { { threads = 2 }, { mode = "DEBUG" } } do
      local f = damo.compile({ x, y }, outputs, options)
      for _ = 1, 4 do
        local r1, r2 = f(a, b)
        equal(w1, r1)
        equal(w2, r2)
      end
    end
    local f = damo.compile({ x, y }, outputs, { mode = damo.Mode { reproducible = true } })
    local r1, r2 = f(a, b)
    for _ = 1, 4 do
      local s1, s2 = f(a, b)
      equal(r1, s1)
      equal(r2, s2)
    end
  end)

  it("joins the steps of a Loop that has run often", function()
    local f = damo.compile({ x, y }, damo.sqr(x * y + 1) - x / (2 + y))
    local a, b, out = noise(50), noise(50), damo.zeros { 50 }
    local want, into = f(a, b), f:into(out)
    for _ = 1, 2000 do into(a, b) end
    equal(want, out)
    equal(want, f(a, b))
  end)
end)

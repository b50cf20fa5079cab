-- The arena of a Function: values stay right whatever shares memory, memory stays near what lives at once, calls with
-- known shapes take none.
local damo = require "damo"
local garbage = require "spec.support.garbage"

local KB = 1024
local apart = damo.Mode { exclude = { "fusion" } } -- without what Loops and products keep for themselves

local function settle() return garbage.collect().bytes end

-- y = tanh(y · x), n times: of the n products and the n tanh's, one and its successor live at one time
local function chain(x, n)
  local y = x
  for _ = 1, n do y = damo.tanh(damo.dot(y, x)) end
  return y
end

describe("the arena of a Function", function()
  local cap = damo.config.plan_cap
  after_each(function() damo.config.plan_cap = cap end)

  it("holds what lives at one time, from the first call on", function()
    local x = damo.dmatrix "x"
    local f = damo.compile({ x }, damo.sum(chain(x, 20)), { profile = true })
    local a, size = damo.ones { 64, 64 } / 64, 64 * 64 * 8
    f(a)
    assert.is_true(f.profile.peak < 3.2 * size)
    for _ = 1, 3 do f(a) end
    assert.is_true(f.profile.peak < 3.2 * size)
    assert.is_true(f.profile.peak >= 2 * size)
  end)

  it("is as large as the profile says", function()
    local x = damo.dmatrix "x"
    local a, size = damo.ones { 128, 128 } / 128, 128 * 128 * 8
    local f = damo.compile({ x }, damo.sum(chain(x, 20)), { mode = apart })
    local before = settle()
    for _ = 1, 3 do f(a) end
    local held = settle() - before
    assert.is_true(held >= 2 * size and held < 2.5 * size, ("%d bytes"):format(held))
  end)

  it("gives results that later calls leave alone", function()
    local x = damo.dmatrix "x"
    local y = chain(x, 3)
    local f = damo.compile({ x }, { y, y.T, damo.exp(y), y[1], chain(x, 2) })
    local function values(s) return { f(damo.ones { 20, 20 } * s) } end
    local first = values(0.01)
    local kept = {}
    for i, v in ipairs(first) do kept[i] = v:copy() end
    for _ = 1, 3 do values(0.02) end
    for i, v in ipairs(first) do assert.is_true(damo.array_equal(kept[i], v), i) end
  end)

  it("keeps places for other shapes within plan_cap", function()
    local x = damo.dmatrix "x"
    local f = damo.compile({ x }, damo.sum(chain(x, 6)), { mode = apart })
    local function run(n)
      local a = damo.ones { n, n } / n
      for _ = 1, 3 do f(a) end
      a:free()
    end
    damo.config.plan_cap = 2 ^ 30
    for n = 20, 60 do (damo.ones { n, n } / n):free() end -- what the context keeps for eager calls
    run(20)
    local small = settle()
    run(200)
    run(20)
    assert.is_true(settle() - small > 1.9 * 200 * 200 * 8)
    damo.config.plan_cap = 100 * KB
    run(20)
    assert.is_true(settle() - small < 100 * KB)
    for n = 20, 60 do run(n) end
    run(20)
    assert.is_true(settle() - small < 100 * KB)
    damo.config.plan_cap = 0
    run(200)
    run(20)
    local more = settle() - small
    assert.is_true(math.abs(more) < 8 * KB, ("%d bytes"):format(more))
  end)

  it("is trimmed", function()
    local x = damo.dmatrix "x"
    local f = damo.compile({ x }, damo.sum(chain(x, 6)), { mode = apart })
    local a, b = damo.ones { 10, 10 } / 10, damo.ones { 200, 200 } / 200
    for _ = 1, 3 do f(a) end
    local small, want = settle(), f(a)
    for _ = 1, 2 do f(b) end
    f(a)
    assert.is_true(settle() - small > 1.9 * 200 * 200 * 8)
    f:trim()
    f(a)
    local more = settle() - small
    assert.is_true(more < 2 * KB, ("%d bytes"):format(more))
    assert.equal(want, f(a))
    f:free()
    assert.is_false(pcall(f.trim, f))
  end)

  it("refuses to be trimmed by a call of its own", function()
    local f
    local Vector = damo.TensorType("float64", { ndim = 1 })
    local op = damo.Op {
      name = "Trims",
      itypes = { Vector },
      otypes = { Vector },
      perform = function(_, _, inputs, outputs)
        f:trim()
        outputs[1][1] = inputs[1]:copy()
      end,
    }
    local x = damo.dvector "x"
    f = damo.compile({ x }, op(x))
    local ok, err = pcall(f, damo.ones { 3 })
    assert.is_false(ok)
    assert.matches("is running and can't be trimmed", tostring(err))
  end)

  it("has its bound checked", function()
    assert.equal(64 * 2 ^ 20, cap)
    assert.is_false(pcall(function() damo.config.plan_cap = -1 end))
    assert.is_false(pcall(function() damo.config.plan_cap = "much" end))
  end)
end)

describe("random programs in an arena", function()
  -- A generator of its own: the same programs each time.
  local seed = 1
  local function random(n)
    seed = (seed * 1103515245 + 12345) % 2 ^ 31
    return math.floor(seed / 65536) % n + 1
  end

  -- Each makes a square matrix of square matrices, by views, in place, fused or not.
  local makers = {
    function(a, b) return damo.dot(a, b) end,
    function(a, b) return a + b end,
    function(a) return a.T end,
    function(a) return damo.tanh(a) * 0.5 end,
    function(a, b) return damo.set_subtensor(a[{ { 1, 3 } }], b[{ { 2, 4 } }]) end,
    function(a, b) return damo.inc_subtensor(a[2], b[1]) end,
    function(a) return a[{ { -1, 1, -1 } }] end,
    function(a, b) return damo.ifelse(damo.gt(damo.sum(a), damo.sum(b) + 0.0123), a, b) end,
    function(a, b) return damo.join(1, { a[{ { 1, 2 } }], b[{ { 3, -1 } }] }) end,
    function(a, b) return a - damo.sum(b, { axis = 1 }) * 0.125 end,
    function(a) return damo.sort(a, { axis = 2 }) end,
    function(a) return damo.cumsum(a, { axis = 1 }) * 0.1 end,
    function(a, b) return damo.dot(a.T, b) * 0.1 + a end,
    function(a) return damo.reshape(damo.reshape(a, { -1 }), damo.shape(a)) end,
  }


  for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE" } do
    it("compute what they compute without one, in mode " .. mode, function()
      for round = 1, 60 do
        local steps = {}
        for i = 1, 16 do steps[i] = { random(#makers), math.max(1, i + 2 - random(6)), random(i + 1) } end
        local x, y = damo.dmatrix "x", damo.dmatrix "y"
        local made = { x, y }
        for _, s in ipairs(steps) do made[#made + 1] = makers[s[1]](made[s[2]], made[s[3]]) end
        local wanted = { #made, random(#made - 2) + 2, #made - random(4) }
        local outputs = {}
        for k, i in ipairs(wanted) do outputs[k] = made[i] end
        local f = damo.compile({ x, y }, outputs, { mode = mode, on_unused_input = "ignore" })
        local g = damo.compile({ x, y }, outputs, { mode = "NANGUARD", on_unused_input = "ignore" })
        local sizes, kept = { 6, 9, 6, 6, 40, 9, 9, 40, 6, 40 }, {}
        for call, n in ipairs(sizes) do
          local a = damo.reshape(damo.sin(damo.arange(n * n) * (0.1 * call)), { n, n })
          local b = damo.reshape(damo.cos(damo.arange(n * n) * 0.3), { n, n })
          local got, expected = { f(a, b) }, { g(a, b) }
          for k = 1, #wanted do
            local text = ("round %d, call %d, output %d"):format(round, call, k)
            assert.is_true(damo.allclose(got[k], expected[k], { rtol = 1e-9, atol = 1e-9 }), text)
            kept[#kept + 1] = { got[k], got[k]:copy(), text }
          end
        end
        for _, k in ipairs(kept) do assert.is_true(damo.array_equal(k[1], k[2]), "later: " .. k[3]) end
      end
    end)
  end
end)

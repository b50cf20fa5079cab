-- Native memory: what Lua's collector does not count, the cap, and memory that is given back.
local damo = require "damo"
local has = require "spec.support.has"
local usual_pace = require "spec.support.usual_pace"
local garbage = require "spec.support.garbage"

local MB = 2 ^ 20
local modes = _VERSION == "Lua 5.4" and { "incremental", "generational" } or { "incremental" }

local settle = garbage.collect

describe("native memory", function()
  setup(usual_pace.set)
  teardown(usual_pace.restore)
  after_each(function()
    damo.config.memory_cap = 0
    if #modes > 1 then collectgarbage("incremental") end
  end)

  it("is reported, with its peak", function()
    local before = settle()
    local a = damo.zeros(131072)
    local now = damo.memory()
    assert.is_true(now.bytes >= before.bytes + MB)
    assert.is_true(now.peak >= now.bytes)
    assert.is_true(now.objects > before.objects)
    assert.equal(0, now.cap)
    a:free()
    assert.is_true(damo.memory().bytes < before.bytes + MB / 2)
  end)

  for _, mode in ipairs(modes) do
    local function switch()
      if #modes > 1 then collectgarbage(mode) end
      settle()
    end

    it("of dropped Arrays stays below 150 MB in " .. mode .. " mode", function()
      switch()
      local most = 0
      for _ = 1, 10000 do
        damo.empty(131072)
        most = math.max(most, damo.memory().bytes)
      end
      assert.is_true(most < 150 * MB)
    end)

    it("of Arrays that live 20 steps among 200,000 objects stays below 150 MB in " .. mode .. " mode", function()
      switch()
      local others, ring, most = {}, {}, 0
      for i = 1, 200000 do others[i] = { i } end
      for i = 1, 10000 do
        ring[i % 20 + 1] = damo.empty(131072)
        most = math.max(most, damo.memory().bytes)
      end
      assert.is_true(most < 150 * MB)
      assert.equal(20, #ring)
      assert.equal(200000, #others)
    end)
  end

  -- Counts objects instead of time: a whole collection each 32 MB would free 16,000 objects in one call; a step of
  -- damo's
  -- frees a few hundred, one of Lua's own about 2,000, and the first young collection all that there was until then.
  for _, mode in ipairs(modes) do
    it("is collected in small steps in " .. mode .. " mode", function()
      if #modes > 1 then collectgarbage(mode) end
      settle()
      local before_all, before = damo.memory().bytes, damo.memory().objects
      local others, most, peak = {}, 0, 0
      for i = 1, 20000 do others[i] = { i } end
      for _ = 1, 40000 do
        damo.empty(512)
        local memory = damo.memory()
        most, peak = math.max(most, before - memory.objects), math.max(peak, memory.bytes)
        before = memory.objects
      end
      assert.is_true(most < 5000, "one call let go of " .. most)
      -- one and a half of the floor; and what is allocated during a cycle, whose length depends on Lua's own heap
      assert.is_true(peak - before_all < 48 * MB + collectgarbage "count" * 1024, peak / MB .. " MB")
      assert.equal(20000, #others)
    end)
  end

  -- Objects that live for some time, beside others that are garbage at once.
  local living = {
    ["shared Variables"] = function() return damo.shared(damo.empty(512)) end,
    ["rows of one large matrix"] = function(big, i)
      damo.empty(4000)
      return big[i % 1000 + 1]
    end,
  }
  -- In this order the last switch to generational mode happens while a cycle's finalizers run.
  for _, what in ipairs { "rows of one large matrix", "shared Variables" } do
    local make = living[what]
    for _, mode in ipairs(modes) do
      it("of " .. what .. " that live 500 steps stays bounded in " .. mode .. " mode", function()
        if #modes > 1 then collectgarbage(mode) end
        local big, kept, most = damo.empty { 1000, 1000 }, {}, 0
        local before = settle().bytes
        for i = 1, 40000 do
          kept[i % 500 + 1] = make(big, i)
          most = math.max(most, damo.memory().bytes - before)
        end
        assert.is_true(most < 64 * MB, most / MB .. " MB")
        assert.equal(500, #kept)
      end)
    end
  end

  -- What survives several young collections while it is made is old when it is dropped.
  for _, mode in ipairs(modes) do
    it("of Arrays dropped a thousand at once stays bounded in " .. mode .. " mode", function()
      if #modes > 1 then collectgarbage(mode) end
      local most, before = 0, settle().bytes
      for _ = 1, 20 do
        local kept = {}
        for i = 1, 1000 do kept[i] = damo.empty(4096) end
        most = math.max(most, damo.memory().bytes - before)
        assert.equal(1000, #kept)
      end
      assert.is_true(most < 80 * MB, most / MB .. " MB")
    end)

    it("does not keep Lua from collecting old tables in " .. mode .. " mode", function()
      if #modes > 1 then collectgarbage(mode) end
      settle()
      local most = 0
      for _ = 1, 100 do
        local old = {}
        for i = 1, 10000 do
          old[i] = { i }
          if i % 20 == 0 then damo.empty(512) end
        end
        most = math.max(most, collectgarbage "count" / 1024)
        assert.equal(10000, #old)
      end
      assert.is_true(most < 60, most .. " MB of Lua's")
    end)
  end

  it("does not run a stopped collector", function()
    if not has.stopped_collector then return pending "Lua 5.1 cannot tell" end
    settle()
    collectgarbage "stop"
    local before = damo.memory().bytes
    for _ = 1, 100 do damo.empty(131072) end
    local now = damo.memory().bytes
    collectgarbage "restart"
    assert.is_true(now >= before + 100 * MB)
  end)

  it("waits for the next cycle as gc_floor says", function()
    local function peak(floor)
      damo.config.gc_floor = floor
      settle()
      local most = 0
      for _ = 1, 200 do
        damo.empty(131072)
        most = math.max(most, damo.memory().bytes)
      end
      return most
    end
    local default = damo.config.gc_floor
    assert.equal(32 * MB, default)
    local small, large = peak(4 * MB), peak(800 * MB)
    damo.config.gc_floor = default
    assert.is_true(small < 32 * MB, "small: " .. small)
    assert.is_true(large > 64 * MB, "large: " .. large)
    assert.is_false(pcall(function() damo.config.gc_floor = -1 end))
  end)

  it("has a cap, past which a call fails and leaves everything usable", function()
    local keep = damo.ones(1000)
    damo.config.memory_cap = settle().bytes + 4 * MB
    local ok, err = pcall(damo.zeros, { 1024, 1024 })
    assert.is_false(ok)
    assert.equal("memory", err.kind)
    assert.matches("memory cap", err.message)
    ok, err = pcall(function() return damo.zeros(131072) + damo.zeros { 6, 131072 } end)
    assert.is_false(ok)
    assert.equal("memory", err.kind)
    assert.equal(1000, keep:sum())
    assert.equal(131072, damo.zeros(131072).size)
  end)

  it("under a cap is collected before a call fails", function()
    settle()
    damo.config.memory_cap = damo.memory().bytes + 4 * MB
    for _ = 1, 100 do damo.zeros(131072) end
    local a = damo.ones(131072)
    for _ = 1, 100 do assert.equal(131072, (a + 1).size) end
  end)

  it("is all returned once nothing is referenced", function()
    local before = settle().objects
    local function work() -- whose locals end with it, on every Lua
      local a = damo.zeros { 10, 10 }
      local x = damo.matrix("x")
      local y = (x * 2 + a):sum()
      y.tag.mine = y
      x.tag.mine = { y, a, a[1], a.T }
      pcall(function() return a + damo.zeros(3) end)
      pcall(damo.array, { { 1 }, { 2, 3 } })
    end
    work()
    assert.is_true(settle().objects <= before + 2)
  end)
end)

describe("after a call", function()
  setup(usual_pace.set)
  teardown(usual_pace.restore)
  it("a Function holds neither its arguments nor old shared values", function()
    local x = damo.dvector "x"
    local w = damo.shared(damo.zeros { 2 }, "w")
    local f = damo.compile({ x }, damo.sum(x) + damo.sum(w))
    local function bytes()
      garbage.collect()
      return damo.memory().bytes
    end
    f(damo.zeros { 2 })
    local before = bytes()
    f(damo.zeros { 1000000 })
    assert.is_true(bytes() - before < 1000000)
    w:set_value(damo.zeros { 1000000 })
    f(damo.zeros { 2 })
    w:set_value(damo.zeros { 2 })
    assert.is_true(bytes() - before < 1000000)
  end)
end)

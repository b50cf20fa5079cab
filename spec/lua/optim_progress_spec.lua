-- The option `progress` of the optimisers: each step calls a function, or moves a bar.
local damo = require "damo"

local function kind_of(f, ...)
  local ok, err = pcall(f, ...)
  assert.is_false(ok)
  return err.kind, err.message
end

local function bowl(name, options, mode)
  local p = damo.shared({ 3, -2 }, "p")
  local cost = damo.sum(damo.sqr(p))
  local updates = damo.optim[name]({ p }, damo.grad(cost, { p }), options)
  return damo.compile({}, cost, { updates = updates, mode = mode }), p
end

for _, name in ipairs { "sgd", "momentum", "rmsprop", "adam" } do
  describe("damo.optim." .. name .. " with progress", function()
    it("calls the function once a step, in every mode", function()
      for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE", "DEBUG", "NANGUARD" } do
        local seen = {}
        local options = { steps = 4, progress = function(step, steps) seen[#seen + 1] = { step, steps } end }
        local step = bowl(name, options, mode)
        assert.equal(0, #seen)
        for _ = 1, 5 do step() end
        assert.same({ { 1, 4 }, { 2, 4 }, { 3, 4 }, { 4, 4 }, { 5, 4 } }, seen)
      end
    end)

    it("takes the same steps as without", function()
      local step, p = bowl(name, { progress = function() end })
      local plain, q = bowl(name, { progress = false })
      for _ = 1, 3 do assert.equal(plain(), step()) end
      assert.is_true(damo.array_equal(p:get_value(), q:get_value()))
    end)

    it("changes nothing in a step whose call fails, and goes on from there", function()
      local seen, fails = {}, true
      local step, p = bowl(name, { progress = function(n, steps)
        assert.is_nil(steps)
        if n == 2 and fails then error { "stop" } end
        seen[#seen + 1] = n
      end })
      step()
      local before = p:get_value()
      local ok, err = pcall(step)
      assert.is_false(ok)
      assert.equal("callback", err.kind)
      assert.equal("stop", err.cause[1])
      assert.is_true(damo.array_equal(before, p:get_value()))
      fails = false
      step()
      assert.same({ 1, 2 }, seen)
      assert.is_false(damo.array_equal(before, p:get_value()))
    end)

    it("refuses wrong options", function()
      assert.equal("type", (kind_of(bowl, name, { progress = 3 })))
      assert.equal("type", (kind_of(bowl, name, { progress = "yes" })))
      local kind, message = kind_of(bowl, name, { progress = true })
      assert.equal("value", kind)
      assert.truthy(message:find(name .. ": progress = true needs the option steps", 1, true))
      for _, steps in ipairs { 0, -1, 1.5, 1 / 0, 0 / 0 } do
        assert.equal("value", (kind_of(bowl, name, { progress = true, steps = steps })))
      end
      assert.equal("type", (kind_of(bowl, name, { steps = "10" })))
    end)
  end)
end

describe("progress = true", function()
  it("shows a bar of as many steps, ends its line, and is silent afterwards", function()
    local progress = require "damo.progress"
    local new, calls = progress.new, {}
    rawset(progress, "new", function(total, title)
      calls[#calls + 1] = ("new %s %d"):format(title, total)
      return {
        step = function(_, n) calls[#calls + 1] = n end,
        finish = function() calls[#calls + 1] = "finish" end,
      }
    end)
    local ok, err = pcall(function()
      local step = bowl("sgd", { progress = true, steps = 2 })
      for _ = 1, 3 do step() end
    end)
    rawset(progress, "new", new)
    assert.is_true(ok, tostring(err))
    assert.same({ "new sgd 2", 1, 2, "finish" }, calls)
  end)

  it("takes objects that can be called", function()
    local seen = 0
    local step = bowl("adam", { progress = setmetatable({}, { __call = function(_, n) seen = n end }) })
    step()
    assert.equal(1, seen)
  end)
end)

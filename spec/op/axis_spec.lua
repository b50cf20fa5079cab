-- An axis is a number, a 0-d Array or a constant Variable; softmax takes several.
local damo = require "damo"

local a = damo.array { { 1, 2 }, { 4, 3 } }
local x = damo.dmatrix "x"

local functions = {
  join = function(v, axis) return damo.join(axis, { v, v }) end,
  concatenate = function(v, axis) return damo.concatenate({ v, v }, { axis = axis }) end,
  stack = function(v, axis) return damo.stack({ v, v }, { axis = axis }) end,
  split = function(v, axis) return (damo.split(v, { 1, 1 }, { axis = axis })) end,
  sort = function(v, axis) return damo.sort(v, { axis = axis }) end,
  cumsum = function(v, axis) return damo.cumsum(v, axis) end,
  sum = function(v, axis) return damo.sum(v, { axis = axis }) end,
  ["sum over a list"] = function(v, axis) return damo.sum(v, { axis = { axis } }) end,
  argmax = function(v, axis) return damo.argmax(v, { axis = axis }) end,
  expand_dims = function(v, axis) return damo.expand_dims(v, { axis = axis }) end,
  softmax = function(v, axis) return damo.softmax(v, { axis = axis }) end,
}

describe("an axis may be a 0-d Array or a constant in", function()
  for name, fn in pairs(functions) do
    it(name, function()
      for axis = 1, 2 do
        local want = fn(a, axis)
        for _, dtype in ipairs { "int32", "uint8", "int64", "float64" } do
          assert.is_true(damo.array_equal(want, fn(a, damo.array(axis, dtype))))
        end
        local out = fn(x, damo.constant(damo.array(axis, "int64")))
        assert.is_true(damo.array_equal(want, damo.compile({ x }, out)(a)))
      end
    end)
  end

  it("a computed Variable is refused", function()
    local k = damo.iscalar "k"
    local ok, err = pcall(damo.sort, x, { axis = k })
    assert.is_false(ok)
    assert.equal("type", err.kind)
    assert.equal("sort: option 'axis' must be an integer, got Variable that is no constant", err.message)
    assert.equal("type", select(2, pcall(damo.sum, x, { axis = damo.array(1.5) })).kind)
  end)
end)

describe("softmax over several axes", function()
  damo.random.seed(2)
  local t = damo.random.normal(0, 3, { size = { 2, 3, 4 } })
  local v = damo.tensor("v", { dtype = "float64", shape = { false, false, false } })
  local lists = { { 1, 2 }, { 2, 3 }, { 1, 3 }, { -1, 1 }, { 1, 2, 3 }, { 2 }, {} }

  it("is exp divided by its sum over them", function()
    for _, axes in ipairs(lists) do
      local e = damo.exp(t)
      local want = #axes == 0 and damo.ones { 2, 3, 4 } or e / damo.sum(e, { axis = axes, keepdims = true })
      assert.is_true(damo.allclose(want, damo.softmax(t, { axis = axes })))
      assert.is_true(damo.allclose(damo.log(want), damo.log_softmax(t, { axis = axes }), { atol = 1e-12 }))
      for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE", "DEBUG" } do
        assert.is_true(damo.allclose(want, damo.compile({ v }, damo.softmax(v, { axis = axes }), { mode = mode })(t)))
      end
    end
  end)

  it("has a gradient", function()
    local w = damo.random.normal(0, 1, { size = { 2, 3, 4 } })
    for _, axes in ipairs(lists) do
      for _, name in ipairs { "softmax", "log_softmax" } do
        damo.verify_grad(function(z) return damo.sum(damo[name](z, { axis = axes }) * w) end, { t })
      end
    end
  end)

  it("does not overflow, nor does its logarithm", function()
    local far = damo.array { { { 1000, -1000 }, { 0, 1 } } }
    local p = damo.softmax(far, { axis = { 2, 3 } })
    assert.same({ 1, 0, 0, 0 }, p:reshape({ shape = { -1 } }):totable())
    local log = damo.compile({ v }, damo.log(damo.softmax(v, { axis = { 2, 3 } })))(far)
    assert.same({ 0, -2000, -1000, -999 }, log:reshape({ shape = { -1 } }):totable())
  end)
end)

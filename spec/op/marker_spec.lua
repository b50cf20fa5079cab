-- Functions that change only the graph's knowledge of a Variable, or its gradient.
local damo = require "damo"
local h = assert(loadfile "spec/op/harness.lua")(describe, it)

h.run_family "marker"

local Z = damo.zeros

local X = damo.dvector "x"

--- Compiles the expression and calls it.
local function call(inputs, out, ...) return damo.compile(inputs, out)(...) end

h.run_errors("marker", {
    { "what is asserted and does not hold", "value", "x must be sorted",
      function() return damo.assert_op(Z { 2 }, false, { message = "x must be sorted" }) end },
    { "what is asserted, compiled", "value", "x must be positive", function()
      return call({ X }, damo.assert_op(X, damo.gt(X, 0), { message = "x must be positive" }), damo.array { 1, -1 })
    end },
    { "bounds of a clipped gradient the wrong way", "value", "grad_clip: lower (1) must not be above upper (-1)",
      function() return damo.grad_clip(Z { 2 }, { lower = 1, upper = -1 }) end },
    { "a clipped gradient without bounds", "type", "grad_clip: lower and upper must be given",
      function() return damo.grad_clip(damo.dvector "x", { lower = 1 }) end },
    { "a shape that is another", "shape", "specify_shape: axis 1 has length 2, not 3",
      function() return damo.specify_shape(Z { 2 }, { 3 }) end },
    { "a shape that turns out another", "shape", "specify_shape: axis 1 has length 2, not 3",
      function() return call({ X }, damo.specify_shape(X, { 3 }), Z { 2 }) end },
    { "a shape of another rank", "shape", "specify_shape: 2 lengths for an operand with 1 axes",
      function() return damo.specify_shape(damo.dvector "x", { 3, 3 }) end },
    { "a shape that is missing", "type", "specify_shape: the shape is missing",
      function() return damo.specify_shape(damo.dvector "x") end },
    { "unbroadcast of an axis that is not there", "index", "unbroadcast: there is no axis 2 in a tensor of 1 dimension",
      function() return damo.unbroadcast(Z { 1 }, { axes = { 2 } }) end },
})

describe("the gradient through", function()
  local x = damo.dvector "x"
  local at = damo.array { 1, -2, 3 }

  --- d sum(w * f(x)) / d x at the point, in both modes.
  local function slope(out)
    local got
    for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE" } do
      local g = damo.compile({ x }, damo.grad(damo.sum(out * damo.array { 0.5, 2, -3 }), x), { mode = mode,
        on_unused_input = "ignore" })
      local value = g(at):totable()
      assert.same(got or value, value)
      got = value
    end
    return got
  end

  it("zero_grad and consider_constant is zero", function()
    assert.same({ 0, 0, 0 }, slope(damo.zero_grad(x)))
    assert.same({ 0, 0, 0 }, slope(damo.consider_constant(x)))
    assert.same({ 0.5, -4, -9 }, slope(damo.zero_grad(x) * x))
  end)

  it("disconnected_grad does not exist", function()
    local ok, err = pcall(damo.grad, damo.sum(damo.disconnected_grad(x)), x)
    assert.is_false(ok)
    assert.equal("disconnected_input", err.kind)
    assert.same({ 0.5, -4, -9 }, slope(damo.disconnected_grad(x) * x))
  end)

  it("grad_clip is clipped, grad_scale scaled", function()
    assert.same({ 0.5, 1, -1 }, slope(damo.grad_clip(x, { lower = -1, upper = 1 })))
    assert.same({ 1, 4, -6 }, slope(damo.grad_scale(x, { multiplier = 2 })))
    assert.same({ -0.5, -2, 3 }, slope(x:grad_scale(-1)))
  end)

  it("assert_op is that of x", function()
    assert.same({ 0.5, 2, -3 }, slope(damo.assert_op(x, damo.lt(x, 10))))
  end)
end)

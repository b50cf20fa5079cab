-- Remainders, divisors, shifts, the parts of floats, and functions made of them.
local damo = require "damo"
local h = assert(loadfile "spec/op/harness.lua")(describe, it)

h.run_family "floats"

h.run_errors("functions of floats and integers", {
  { "a divisor of floats", "type", "gcd is not defined for float64",
    function() return damo.gcd(damo.array { 1.5 }, 2) end },
  { "an exponent that is no integer", "type", "ldexp: the exponent must be of integers, not float64",
    function() return damo.ldexp(damo.array { 1.5 }, damo.array { 2.5 }) end },
  { "the sign of complex numbers", "type", "signbit is not defined for complex128: there is none of complex numbers",
    function() return damo.signbit(damo.complex({ 1 }, { 2 })) end },
  { "the largest of nothing", "value", "largest: the list of operands is empty",
    function() return damo.largest {} end },
})

describe("maximum", function()
  local a, b, c = damo.array { 1, 5, 3 }, damo.array { 4, 2, 6 }, damo.array { 2, 7, 1 }

  it("takes any number of operands, or a list of them", function()
    assert.same({ 4, 7, 6 }, damo.maximum(a, b, c):totable())
    assert.same({ 4, 7, 6 }, damo.maximum({ a, b, c }):totable())
    assert.same({ 4, 7, 6 }, a:maximum(b, c):totable())
    assert.same({ 3, 5, 3 }, damo.maximum(a, 0, 3):totable())
    assert.same({ 1, 2, 1 }, damo.minimum(a, b, c):totable())
  end)

  it("of two operands is one node", function()
    local x, y = damo.dvector "x", damo.dvector "y"
    assert.equal("Elemwise{maximum}", tostring(damo.maximum(x, y).owner.op))
    assert.equal("Elemwise{maximum}", tostring(damo.maximum({ x, y }).owner.op))
  end)
end)

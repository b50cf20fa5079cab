-- The elementwise functions.
local damo = require "damo"
local h = assert(loadfile "spec/op/harness.lua")(describe, it)

h.run_family "elemwise"

local Z = damo.zeros

--- A Variable with that static shape.
local function T(shape) return damo.tensor("t", { dtype = "float64", shape = shape }) end

local X, Y = damo.dvector "x", damo.dvector "y"

--- Compiles the expression and calls it.
local function call(inputs, out, ...) return damo.compile(inputs, out)(...) end

local function ones(n)
  local t = {}
  for i = 1, n do t[i] = 1 end
  return t
end

h.run_errors("elemwise", {
    { "shapes that do not agree", "shape",
      "add: shapes (3, 4) and (5,) do not agree: axis 2 is 4 in operand 1 and 5 in operand 2",
      function() return Z { 3, 4 } + Z { 5 } end },
    { "shapes that do not agree, in a graph", "shape",
      "mul: shapes (3, 4) and (3, 5) do not agree: axis 2 is 4 in operand 1 and 5 in operand 2",
      function() return T { 3, 4 } * T { 3, 5 } end },
    { "shapes that turn out not to agree", "shape",
      "add: shapes (2,) and (3,) do not agree: axis 1 is 2 in operand 1 and 3 in operand 2",
      function() return call({ X, Y }, X + Y, Z { 2 }, Z { 3 }) end },
    { "a broadcast that no Type tells", "shape",
      "add: shapes (1,) and (3,) do not agree: axis 1 of operand 1 is 1, which broadcasts only where its Type "
        .. "says so; declare it: damo.tensor(name, {shape={1}})",
      function() return call({ X, Y }, X + Y, Z { 1 }, Z { 3 }) end },
    { "one operand of two", "type", "add: argument 2 (y) must be a Variable, Array, number or table, got nothing",
      function() return damo.add(1) end },
    { "no operand", "type", "exp: argument 1 (x) must be a Variable, Array, number or table, got nothing",
      function() return damo.exp() end },
    { "three operands of two", "type", "add: too many arguments: 3 given; operands: x y",
      function() return damo.add(1, 2, 3) end },
    { "a string", "type",
      "exp: argument 1 (x) must be a Variable, Array, sparse matrix, number, boolean or table, got string",
      function() return damo.exp "x" end },
    { "a string beside a Variable", "type",
      "add: argument 2 (y) must be a Variable, Array, sparse matrix, number, boolean or table, got string",
      function() return damo.dvector "x" + "1" end },
    { "a string beside an Array", "type",
      "mul: argument 2 (y) must be a Variable, Array, sparse matrix, number, boolean or table, got string",
      function() return Z { 2 } * "1" end },
    { "a function", "type",
      "sin: argument 1 (x) must be a Variable, Array, sparse matrix, number, boolean or table, got function",
      function() return damo.sin(print) end },
    { "a foreign userdata", "type",
      "sin: argument 1 (x) must be a Variable, Array, sparse matrix, number, boolean or table, got userdata",
      function() return damo.sin(io.stdout) end },
    { "a nil beside an Array", "type", "mul: argument 2 (y) must be a Variable, Array, number or table, got nil",
      function() return damo.mul(Z { 2 }, nil) end },
    { "a ragged table", "shape", "exp: row 2 has 1 entry, expected 2",
      function() return damo.exp { { 1, 2 }, { 3 } } end },
    { "a table with a string in it", "type", "exp: entry {2} is of type string, expected a number",
      function() return damo.exp { 1, "2" } end },
    { "bits of floats", "type", "and_ is not defined for float64; it takes bool and integers",
      function() return damo.and_(Z { 2 }, Z { 2 }) end },
    { "bits of floats in a graph", "type", "invert is not defined for float64; it takes bool and integers",
      function() return damo.invert(damo.dvector "x") end },
    { "a minus before bool", "type", "neg is not defined for bool; cast the operands first",
      function() return -damo.array { true, false } end },
    { "erf of complex numbers", "type", "erf is not defined for complex128: there is none of complex numbers",
      function() return damo.erf(damo.zvector "z") end },
    { "a cast from complex to real", "type",
      "cast: complex128 to float64 would drop the imaginary part; take real(x), imag(x) or abs(x)",
      function() return damo.cast(damo.zvector "z", "float64") end },
    { "a cast without its dtype", "type", "cast: the option 'dtype' is missing",
      function() return damo.cast(Z { 2 }) end },
    { "an unknown dtype", "value", "cast: unknown dtype 'flaot64', did you mean 'float64'?",
      function() return damo.cast(Z { 2 }, "flaot64") end },
    { "an unknown rounding", "value", "round: mode 'half_up' is neither 'half_to_even' nor 'half_away_from_zero'",
      function() return damo.round(Z { 2 }, "half_up") end },
    { "a misspelt option", "value", "isclose: unknown option 'rtoll', did you mean 'rtol'?",
      function() return damo.isclose(1, 2, { rtoll = 1 }) end },
    { "an option of the wrong kind", "type", "isclose: option 'rtol' must be a number, got string",
      function() return damo.isclose(1, 2, { rtol = "x" }) end },
    { "options where there are none", "value", "exp: unknown option 'axis': it takes no options",
      function() return damo.exp(1, { axis = 1 }) end },
    { "nan in integers", "value", "array: entry {2} is nan, which does not fit into int32",
      function() return damo.array({ 1, 0 / 0 }, "int32") end },
    { "an infinity in integers", "value", "array: entry {1} is inf, which does not fit into int64",
      function() return damo.array({ 1 / 0 }, "int64") end },
    { "a fraction in integers", "value", "array: entry {1} is 1.5, which does not fit into int64",
      function() return damo.array({ 1.5 }, "int64") end },
    { "a number that does not fit", "value", "array: entry {1} is 300, which does not fit into uint8",
      function() return damo.array({ 300 }, "uint8") end },
    { "< of Arrays", "type",
      "'<' gives one boolean in Lua, which an Array with axes has not (got Array): use damo.lt(a, b)",
      function() return Z { 2 } < Z { 2 } end },
    { "<= of Variables", "type", "'<=' and '>=' give one boolean in Lua: use damo.le(a, b), a:le(b), damo.ge(a, b)",
      function() return damo.dvector "x" <= damo.dvector "y" end },
    { "a rank above 32", "shape", "zeros: a shape has at most 32 dimensions",
      function() return damo.zeros(ones(33)) end },
})

describe("a true division of integers", function()
  local x, y = damo.lvector "x", damo.lvector "y"

  after_each(function() damo.config.floatX = "float64" end)

  it("keeps the dtype that floatX had when its node was made", function()
    local z = x / y
    damo.config.floatX = "float32"
    local r = call({ x, y }, z, damo.array({ 1, 2 }, "int64"), damo.array({ 3, 4 }, "int64"))
    assert.equal("float64", z.dtype)
    assert.equal("float64", r.dtype)
    assert.equal(1 / 3, r[1])
  end)
end)

describe("the magnitude and the direction of complex numbers", function()
  -- The gradient of a real cost by z, at values.
  local function slope(cost_of, re, im)
    local z = damo.zvector "z"
    return call({ z }, damo.grad(cost_of(z), z), damo.complex(damo.array(re), damo.array(im)))
  end

  it("have the gradient 0 at 0, as a variance has where all entries are equal", function()
    local sized = slope(function(z) return damo.sum(damo.abs(z)) end, { 0, 3 }, { 0, 4 })
    assert.is_true(damo.allclose(sized, damo.complex(damo.array { 0, 0.6 }, damo.array { 0, 0.8 })))
    for _, name in ipairs { "var", "nanvar" } do
      local flat = slope(damo[name], { 1.5, 1.5 }, { 2, 2 })
      assert.is_true(damo.allclose(flat, damo.complex(damo.array { 0, 0 }, damo.array { 0, 0 })))
    end
  end)

  it("have derivatives that finite differences confirm, in both modes", function()
    local function direction(x, y)
      local w = damo.sign(damo.complex(x, y))
      return damo.sum(damo.real(w) * x ^ 2 + damo.imag(w) * y)
    end
    local x, y = damo.array { 1, 0.3, -2 }, damo.array { 2, -1, 0.7 }
    damo.verify_grad(direction, { x, y })
    local a, t, still = damo.vector "a", damo.vector "t", y
    local cost = direction(a, still)
    local forward = damo.sum(damo.Rop(cost, a, t))
    local reverse = damo.sum(damo.grad(cost, a) * t)
    local f = damo.compile({ a, t }, { forward, reverse })
    local p, q = f(x, damo.array { 0.5, -1, 2 })
    assert.is_true(damo.allclose(p, q))
  end)
end)

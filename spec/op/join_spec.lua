-- Functions that join and split arrays.
local damo = require "damo"
local h = assert(loadfile "spec/op/harness.lua")(describe, it)

h.run_family "join"

local Z = damo.zeros

local X, M, N = damo.dvector "x", damo.dmatrix "x", damo.dmatrix "y"

--- Compiles the expression and calls it.
local function call(inputs, out, ...) return damo.compile(inputs, out)(...) end

describe("roll by several shifts", function()
  it("takes one shift for all axes, and shifts that a constant or an operand gives", function()
    local m = damo.array { { 1, 2, 3 }, { 4, 5, 6 } }
    local want = damo.array { { 6, 4, 5 }, { 3, 1, 2 } }
    assert.is_true(damo.array_equal(damo.roll(m, { 1 }, { axis = { 1, 2 } }), want))
    local one, two = damo.array({ 1 }, "int64"), damo.array({ 1, 1 }, "int64")
    assert.is_true(damo.array_equal(call({ M }, damo.roll(M, two, { axis = { 1, 2 } }), m), want))
    local s = damo.lvector "s"
    local f = damo.compile({ M, s }, damo.roll(M, s, { axis = { 1, 2 } }))
    assert.is_true(damo.array_equal(f(m, two), want))
    assert.equal("shape", select(2, pcall(f, m, one)).kind)
    local known = damo.tensor { dtype = "float64", shape = { 2, 3 } }
    assert.same({ 2, 3 }, damo.roll(known, two, { axis = { 1, 2 } }).type.shape)
  end)
end)

h.run_errors("join", {
    { "rolling by too many shifts", "value", "roll: 3 shifts for 2 axes",
      function() return damo.roll(Z { 2, 2 }, { 1, 2, 3 }, { axis = { 1, 2 } }) end },
    { "rolling by a matrix", "type", "roll: the shift must be a scalar or a vector, got rank 2",
      function() return damo.roll(Z { 2, 2 }, { { 1 } }) end },
    { "joining shapes that do not fit", "shape",
      "join: along axis 1, operand 2 of shape (2, 4) does not fit shape (2, 3): axis 2 differs",
      function() return damo.join(1, { Z { 2, 3 }, Z { 2, 4 } }) end },
    { "joining what turns out not to fit", "shape",
      "join: along axis 1, operand 2 of shape (2, 4) does not fit shape (2, 3): axis 2 differs",
      function()
      return call({ M, N }, damo.join(1, { M, N }), Z { 2, 3 }, Z { 2, 4 })
    end },
    { "joining ranks that differ", "shape", "join: operand 2 has 1 axes, the first has 2",
      function() return damo.join(1, { Z { 2, 3 }, Z { 3 } }) end },
    { "joining along an axis that is not there", "index", "join: there is no axis 3 in a tensor of 2 dimensions",
      function() return damo.join(3, { Z { 2, 3 }, Z { 2, 3 } }) end },
    { "joining nothing", "value", "concatenate: no operands", function() return damo.concatenate {} end },
    { "joining without a list", "type", "join: argument 2 (xs) must be a list of operands, got Array",
      function() return damo.join(1, Z { 2 }, Z { 3 }) end },
    { "stacking shapes that differ", "shape",
      "join: along axis 1, operand 2 of shape (1, 3) does not fit shape (1, 2): axis 2 differs",
      function() return damo.stack { Z { 2 }, Z { 3 } } end },
    { "stacking along an axis that is not there", "index", "stack: there is no axis 4 in a tensor of 2 dimensions",
      function() return damo.stack({ Z { 2 }, Z { 2 } }, { axis = 4 }) end },
    { "stacking a string", "type",
      "stack: argument 2 (xs) must be a Variable, Array, sparse matrix, number, boolean or table, got string",
      function() return damo.stack { Z { 2 }, "x" } end },
    { "sizes that do not add up", "shape", "split: the sizes add up to 4, but axis 1 has length 5",
      function() return damo.split(Z { 5 }, { 2, 2 }) end },
    { "sizes that turn out not to add up", "shape", "split: the sizes add up to 4, but axis 1 has length 5",
      function() return call({ X }, { damo.split(X, { 2, 2 }) }, Z { 5 }) end },
    { "a negative size", "value", "split: length -1 of axis 1 is negative",
      function() return damo.split(Z { 2 }, { -1, 3 }) end },
    { "a split without sizes", "type", "split: the sizes are missing", function() return damo.split(Z { 2 }) end },
    { "negative repeats", "value", "repeat_: repeats must not be negative, got -1",
      function() return damo.repeat_(Z { 2 }, -1) end },
    { "repeats of another length", "shape", "repeat_: 3 repeats for axis 1 of length 2",
      function() return damo.repeat_(Z { 2 }, damo.array({ 1, 2, 3 }, "int64")) end },
    { "repeats that turn out too many", "shape", "repeat_: 3 repeats for axis 2 of length 2", function()
      local r = damo.lvector "r"
      return call({ N, r }, damo.repeat_(N, r, { axis = 2 }), Z { 1, 2 }, damo.array({ 2, 1, 0 }, "int64"))
    end },
    { "one repeat for two entries", "shape", "repeat_: 1 repeats for axis 1 of length 2", function()
      local r = damo.lvector "r"
      return call({ X, r }, damo.repeat_(X, r), Z { 2 }, damo.array({ 3 }, "int64"))
    end },
    { "more repeats than can be counted", "value", "array: 4611686018427387904 times 4 entries are too many",
      function() return damo.repeat_(Z { 4 }, math.floor(2 ^ 62)) end },
    { "more repeats than can be counted, in the end", "value",
      "array: shape (4, 4611686018427387904, 1) is too large", function()
      local n = damo.lscalar "n"
      return call({ N, n }, damo.repeat_(N, n, { axis = 1 }), Z { 4, 1 }, math.floor(2 ^ 62))
    end },
    { "tiles that can't be counted", "value", "array: 4 times 4611686018427387904 entries are too many",
      function() return damo.tile(Z { 4 }, { reps = { math.floor(2 ^ 62) } }) end },
    { "tiles that can't be counted together", "value", "reshape: the shape has more entries than can be counted",
      function() return damo.tile(Z { 1 }, { reps = { math.floor(2 ^ 40), math.floor(2 ^ 40) } }) end },
    { "repeats that are fractions", "type", "repeat_: repeats must be integers, got float64 with a fraction",
      function() return damo.repeat_(Z { 2 }, 1.5) end },
    { "an unknown mode of pad", "value", "pad: unknown mode 'egde', did you mean 'edge'?",
      function() return damo.pad(Z { 2 }, { pad_width = 1, mode = "egde" }) end },
    { "a pad of pairs too many", "value", "pad: 2 pairs for 1 axes",
      function() return damo.pad(Z { 2 }, { pad_width = { { 1, 1 }, { 1, 1 } } }) end },
    { "a negative pad", "value", "pad: pad_width is a count, {before, after}, or a list of such pairs",
      function() return damo.pad(Z { 2 }, { pad_width = -1 }) end },
    { "a negative tile", "value", "tile: reps must not be negative, got -1",
      function() return damo.tile(Z { 2 }, -1) end },
})

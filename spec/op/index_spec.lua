-- Indexing functions.
local damo = require "damo"
local h = assert(loadfile "spec/op/harness.lua")(describe, it)

h.run_family "index"

local Z = damo.zeros

--- A Variable with that static shape.
local function T(shape) return damo.tensor("t", { dtype = "float64", shape = shape }) end

local X = damo.dvector "x"

--- Compiles the expression and calls it.
local function call(inputs, out, ...) return damo.compile(inputs, out)(...) end

h.run_errors("index", {
    { "a position outside", "index", "index: position 5 is outside axis 1 of length 3",
      function() return Z { 3 }[5] end },
    { "position 0", "index", "index: position 0 is outside axis 1 of length 3; positions count from 1, from the end "
      .. "from -1", function() return Z { 3 }[0] end },
    { "a position outside in a graph of known shape", "index", "index: position 4 is outside axis 1 of length 3",
      function() return T { 3 }[4] end },
    { "a position that turns out to be outside", "index", "index: position 4 is outside axis 1 of length 3",
      function() return call({ X }, X[4], Z { 3 }) end },
    { "a range that ends outside", "index", "index: the range's stop, 5, is outside axis 1 of length 3",
      function() return Z { 3 }[{ { 2, 5 } }] end },
    { "a range that turns out to end outside", "index", "index: the range's stop, 5, is outside axis 1 of length 3",
      function() return call({ X }, X[{ { 2, 5 } }], Z { 3 }) end },
    { "a step of 0", "value", "index: the step of a range on axis 1 is 0",
      function() return Z { 3 }[{ { 1, 3, 0 } }] end },
    { "too many items", "index",
      "index: too many indices: 2 for an Array with 1 axis; several positions of one axis are damo.idx{…}",
      function() return Z { 3 }[{ 1, 2 }] end },
    { "a fraction", "index", "index: 1.5 is no position: positions are integers", function() return Z { 3 }[1.5] end },
    { "two ellipses", "index", "index: an ellipsis may stand once",
      function() return Z { 3, 3 }[{ damo.ellipsis, 1, damo.ellipsis }] end },
    { "a mask of another length", "index", "index: a mask of length 2 on axis 1 of length 3",
      function() return Z { 3 }[damo.array { true, false }] end },
    { "a list with a position outside", "index", "index: position 4 is outside axis 1 of length 3",
      function() return Z { 3 }[damo.idx { 1, 4 }] end },
    { "a list of floats", "type", "index: a list of positions has an integer or bool dtype, got float64: write "
        .. "damo.idx{…}, or convert it by :astype \"int64\"",
      function() return Z { 3 }[Z { 2 }] end },
    { "assigning to a Variable", "type",
      "a Variable can't be assigned to: y = damo.set_subtensor(x[i], v), or x:set(i, v), gives the changed one "
        .. "(inc_subtensor, x:inc add)",
      function() damo.dvector "x"[1] = 2 end },
    { "assigning a shape that does not fit", "shape", "assign: a value of shape (3,) does not fit into shape (2,)",
      function() Z { 3 }[{ { 1, 2 } }] = Z { 3 } end },
    { "assigning a string", "type",
      "index assignment: expected an Array, a number, a boolean or a table of them, got string",
      function() Z { 3 }[1] = "x" end },
    { "set_subtensor of what is no part", "type",
      "set_subtensor: the first argument must be a part of a Variable, x[…]",
      function() return damo.set_subtensor(damo.dvector "x", 1) end },
    { "set with a value that does not fit", "shape",
      "set_subtensor: a value of shape (3,) does not broadcast to the indexed part of shape (2,)",
      function() return T { 3 }:set({ { 1, 2 } }, Z { 3 }) end },
    { "set with a dtype that does not fit", "type",
      "set_subtensor: values of float64 do not fit into a tensor of int64; cast one of them",
      function() return damo.lvector "x":set({ 1 }, damo.dscalar "y") end },
    { "taking outside", "index", "index: position 4 is outside axis 1 of length 3",
      function() return damo.take(Z { 3 }, damo.array({ 4 }, "int64")) end },
    { "taking at fractions", "type", "take: the indices must be integers, got float64 with a fraction",
      function() return damo.take(Z { 3 }, damo.array { 1.5 }) end },
    { "taking along an axis that is not there", "index", "take: there is no axis 2 in a tensor of 1 dimension",
      function() return damo.take(Z { 3 }, damo.array({ 1 }, "int64"), { axis = 2 }) end },
    { "take_along_axis with another rank", "shape", "take_along_axis: the indices have 1 axes, the operand 2",
      function() return damo.take_along_axis(Z { 3, 3 }, damo.array({ 1 }, "int64")) end },
    { "a class outside", "index", "one_hot: class 4 is outside 1 … 3",
      function() return damo.one_hot(damo.array({ 4 }, "int64"), 3) end },
    { "class 0", "index", "one_hot: class 0 is outside 1 … 3",
      function() return damo.one_hot(damo.array({ 0 }, "int64"), 3) end },
    { "classes that are fractions", "type", "one_hot: classes must be integers, got float64 with a fraction",
      function() return damo.one_hot(damo.array { 1.5 }, 3) end },
    { "a negative number of classes", "value", "one_hot: length -3 of axis 1 is negative",
      function() return damo.one_hot(damo.array({ 1 }, "int64"), -3) end },
    { "the places of a scalar", "shape", "nonzero: expected at least 1 axis, got 0",
      function() return damo.nonzero(damo.array(1.5)) end },
})

describe("subtensor", function()
  it("takes the operands of an index as one list, with a spec of its items", function()
    local m = damo.reshape(damo.arange(12), { 3, 4 })
    assert.same(m[{ 2, { 1, 3 } }]:totable(), damo.subtensor(m, { 2, 1, 3 }, { spec = "is110" }):totable())
    assert.same(m[{ {}, { nil, nil, 2 } }]:totable(), damo.subtensor(m, { 2 }, { spec = "s000s001" }):totable())
    assert.same(m[{ damo.newaxis, damo.ellipsis, -1 }]:totable(), damo.subtensor(m, { -1 }, { spec = "nei" }):totable())
  end)
end)

describe("a subtensor of a Variable", function()
  local x, y = damo.dvector "x", damo.dvector "y"
  local m = damo.dmatrix "m"
  local at = damo.array { 1, 2, 3, 4 }

  local function run(inputs, out, ...)
    local fast = damo.compile(inputs, out)(...)
    local slow = damo.compile(inputs, out, { mode = "FAST_COMPILE" })(...)
    assert.is_true(damo.array_equal(fast, slow))
    return fast:totable()
  end

  it("is set and incremented by function and by method", function()
    assert.same({ 1, 9, 3, 4 }, run({ x }, damo.set_subtensor(x[2], 9), at))
    assert.same({ 1, 9, 3, 4 }, run({ x }, x:set({ 2 }, 9), at))
    assert.same({ 1, 2, 3, 13 }, run({ x }, damo.inc_subtensor(x[-1], 9), at))
    assert.same({ 1, 2, 3, 13 }, run({ x }, x:inc({ -1 }, 9), at))
    assert.same({ 5, 2, 6, 4 }, run({ x, y }, x:set({ { 1, -1, 2 } }, y), at, damo.array { 5, 6 }))
    assert.same({ 1, 2, 14, 4 }, run({ x, y }, x:inc({ damo.idx { 3, 3 } }, y), at, damo.array { 5, 6 }))
    assert.same({ 0, 0, 3, 4 }, run({ x }, x:set({ damo.lt(x, 3) }, 0), at))
    assert.same({ 1, 2, 3, 4 }, at:totable())
  end)

  it("has symbolic positions and ends", function()
    local i, j = damo.lscalar "i", damo.lscalar "j"
    local f = damo.compile({ x, i, j }, { x[i], x[{ { i, j } }], x[{ { j, i, -1 } }] })
    local a, b, c = f(at, 2, 3)
    assert.equal(2, a)
    assert.same({ 2, 3 }, b:totable())
    assert.same({ 3, 2 }, c:totable())
    a, b = f(at, -1, 1)
    assert.equal(4, a)
    assert.same({}, b:totable())
    assert.is_false(pcall(f, at, 5, 5))
  end)

  it("has a gradient only for the selected elements", function()
    assert.same({ 0, 6, 0, 0 }, run({ x }, damo.grad(3 * x[2] ^ 2 / 2, x), at))
    assert.same({ 2, 0, 4, 0 }, run({ x }, damo.grad(damo.sum(x[damo.idx { 1, 3, 3 }] * 2), x), at))
    local cost = damo.sum(damo.sqr(x:set({ { 1, 2 } }, y)))
    assert.same({ 0, 0, 6, 8 }, run({ x, y }, damo.grad(cost, x), at, damo.array { 5, 6 }))
    assert.same({ 10, 12 }, run({ x, y }, damo.grad(cost, y), at, damo.array { 5, 6 }))
    assert.same({ { 0, 1 }, { 0, 1 } }, run({ m }, damo.grad(damo.sum(m[{ {}, 2 }]), m), damo.ones { 2, 2 }))
  end)

  it("of a shared Variable is updated in place", function()
    local s = damo.shared(damo.zeros { 3 })
    local step = damo.compile({}, {}, { updates = { [s] = s:inc({ 2 }, 1) } })
    local before = s:get_value()
    step()
    step()
    assert.same({ 0, 2, 0 }, s:get_value():totable())
    assert.same({ 0, 0, 0 }, before:totable())
  end)
end)

-- Functions that read and change shapes.
local damo = require "damo"
local h = assert(loadfile "spec/op/harness.lua")(describe, it)

h.run_family "shape"

local Z = damo.zeros

local X, M = damo.dvector "x", damo.dmatrix "x"

--- Compiles the expression and calls it.
local function call(inputs, out, ...) return damo.compile(inputs, out)(...) end

h.run_errors("shape", {
    { "a reshape to another size", "shape", "reshape: an array of shape (2, 3) (6 entries) does not fit shape (4, 2)",
      function() return damo.reshape(Z { 2, 3 }, { 4, 2 }) end },
    { "a reshape to another size, when it runs", "shape",
      "reshape: an array of shape (6,) (6 entries) does not fit shape (4, 2)",
      function() return call({ X }, damo.reshape(X, { 4, 2 }), Z { 6 }) end },
    { "a reshape that can't be", "shape", "reshape: an array of shape (2, 3) (6 entries) does not fit shape (4, ?)",
      function() return damo.reshape(Z { 2, 3 }, { 4, -1 }) end },
    { "a reshape to more entries than can be counted", "value",
      "reshape: the shape has more entries than can be counted",
      function() return damo.reshape(Z { 0 }, { 2 ^ 40, 2 ^ 40 }) end },
    { "a reshape to more entries than can be counted, when it runs", "value",
      "reshape: the shape has more entries than can be counted", function()
      local n = damo.lscalar "n"
      return call({ X, n }, damo.reshape(X, { n, n }), Z { 0 }, math.floor(2 ^ 40))
    end },
    { "a reshape to more than can be counted beside a length of 0", "value",
      "array: shape (0, 1099511627776, 1099511627776) is too large",
      function() return damo.reshape(Z { 0 }, { 0, 2 ^ 40, 2 ^ 40 }) end },
    { "two open lengths", "value", "reshape: -1 may stand once in a shape",
      function() return damo.reshape(Z { 2, 3 }, { -1, -1 }) end },
    { "a length below -1", "value", "reshape: length -2 of axis 1 is negative",
      function() return damo.reshape(Z { 2, 3 }, { -2, 3 }) end },
    { "a reshape without its shape", "type", "reshape: the shape is missing",
      function() return damo.reshape(Z { 2, 3 }) end },
    { "a shape vector of unknown length", "shape",
      "reshape: the length of the shape vector is not known, so name the result's rank: {ndim=2}",
      function() return damo.reshape(damo.dvector "x", damo.lvector "s") end },
    { "a transpose of too few axes", "value", "transpose: 1 axes named, the operand has 2",
      function() return damo.transpose(Z { 2, 3 }, { 1 }) end },
    { "a transpose with an axis twice", "value", "transpose: axis 1 is named twice",
      function() return damo.transpose(Z { 2, 3 }, { 1, 1 }) end },
    { "a transpose with an axis that is not there", "index",
      "transpose: there is no axis 3 in a tensor of 2 dimensions",
      function() return damo.transpose(Z { 2, 3 }, { 1, 3 }) end },
    { "a dropped axis that is not of length 1", "shape",
      "dimshuffle: axis 2 of shape (2, 3) is dropped, so its length must be 1",
      function() return damo.dimshuffle(Z { 2, 3 }, { 1 }) end },
    { "a pattern with another letter", "type", "dimshuffle: a pattern entry is an axis or \"x\"",
      function() return damo.dimshuffle(Z { 2 }, { "y", 1 }) end },
    { "a squeeze of a longer axis", "shape", "squeeze: axis 1 has length 2, not 1",
      function() return damo.squeeze(Z { 2, 3 }, { axis = 1 }) end },
    { "a squeeze of an axis that turns out longer", "shape",
      "dimshuffle: axis 1 of shape (2, 3) is dropped, so its length must be 1",
      function() return call({ M }, damo.squeeze(M, { axis = 1 }), Z { 2, 3 }) end },
    { "a broadcast to fewer axes", "shape", "broadcast_to: an operand of 2 axes does not broadcast to 1 axes",
      function() return damo.broadcast_to(Z { 2, 3 }, { 3 }) end },
    { "a broadcast to other lengths", "shape", "broadcast_to: shape (2,) does not broadcast to (3,)",
      function() return damo.broadcast_to(Z { 2 }, { 3 }) end },
    { "moves without a destination", "type", "moveaxis: source and destination must be given",
      function() return damo.moveaxis(Z { 2, 3 }, 1) end },
    { "moves of unequal number", "value", "moveaxis: 2 source axes, but 1 destinations",
      function() return damo.moveaxis(Z { 2, 3 }, { source = { 1, 2 }, destination = 1 }) end },
    { "a swap of an axis that is not there", "index", "swapaxes: there is no axis 5 in a tensor of 2 dimensions",
      function() return damo.swapaxes(Z { 2, 3 }, { axis1 = 1, axis2 = 5 }) end },
    { "the diagonal of a cube", "shape", "diag: expected a vector or a matrix, got 3 axes",
      function() return damo.diag(Z { 2, 2, 2 }) end },
    { "the diagonal of a vector", "index", "diagonal: there is no axis 2 in a tensor of 1 dimension",
      function() return damo.diagonal(Z { 2 }) end },
    { "a triangle of a vector", "shape", "tril: expected at least 2 axes, got 1",
      function() return damo.tril(Z { 2 }) end },
    { "matrix_transpose of a vector", "shape", "matrix_transpose: expected at least 2 axes, got 1",
      function() return damo.matrix_transpose(Z { 2 }) end },
    { "a rank out of bounds", "value", "flatten: ndim must lie between 1 and 2, got 3",
      function() return damo.flatten(Z { 2, 3 }, { ndim = 3 }) end },
    { "the length of an axis that is not there", "index", "shape_i: there is no axis 2 in a tensor of 1 dimension",
      function() return damo.shape_i(Z { 2 }, 2) end },
    { "a claim that turns out wrong", "shape", "specify_shape: axis 1 has length 2, not 1",
      function() return call({ M }, damo.specify_broadcastable(M, 1), Z { 2, 2 }) end },
})

describe("a shape of Variables", function()
  local n, x = damo.lscalar "n", damo.dmatrix "x"

  it("is computed when the graph runs", function()
    local outputs = {
      x.shape, damo.shape_i(x, 2), damo.size(x), damo.reshape(x, { n, -1 }), damo.zeros { n, x.shape[2] },
        damo.ones { n },
      damo.broadcast_to(damo.array { 7 }, { n }), damo.alloc(1.5, { n, 2 }), damo.reshape(x, x.shape), damo.tile(x[1],
        n),
      damo.reshape(x, damo.stack { x.shape[2], x.shape[1] }),
    }
    for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE" } do
      local f = damo.compile({ x, n }, outputs, { mode = mode })
      local r = table.pack(f(damo.array { { 1, 2, 3 }, { 4, 5, 6 } }, 3))
      assert.same({ 2, 3 }, r[1]:totable())
      assert.equal(3, r[2])
      assert.equal(6, r[3])
      assert.same({ { 1, 2 }, { 3, 4 }, { 5, 6 } }, r[4]:totable())
      assert.same({ 3, 3 }, r[5].shape)
      assert.same({ 1, 1, 1 }, r[6]:totable())
      assert.same({ 7, 7, 7 }, r[7]:totable())
      assert.same({ 3, 2 }, r[8].shape)
      assert.same({ { 1, 2, 3 }, { 4, 5, 6 } }, r[9]:totable())
      assert.same({ 1, 2, 3, 1, 2, 3, 1, 2, 3 }, r[10]:totable())
      assert.same({ { 1, 2 }, { 3, 4 }, { 5, 6 } }, r[11]:totable())
    end
  end)

  it("does not compute values that are not needed", function()
    local f = damo.compile({ x }, damo.exp(x).shape)
    assert.same({ 0, 5 }, f(damo.zeros { 0, 5 }):totable())
  end)

  it("may be negative or wrong, which is an error at run time", function()
    local f = damo.compile({ n }, damo.zeros { n })
    assert.equal(0, #f(0))
    local ok, err = pcall(f, -2)
    assert.is_false(ok)
    assert.equal("value", err.kind)
    ok, err = pcall(damo.compile({ x, n }, damo.reshape(x, { n })), damo.zeros { 2, 3 }, 5)
    assert.is_false(ok)
    assert.equal("shape", err.kind)
  end)

  it("keeps static lengths, so that these broadcast", function()
    local sums = damo.logsumexp(x, { axis = -1, keepdims = true })
    assert.same({ false, 1 }, damo.reshape(x[{ {}, 1 }], sums.shape).type.shape)
    assert.same({ false, 1 }, damo.zeros(sums.shape).type.shape)
    local cost = damo.sum(damo.sqr(damo.reshape(sums, -1)))
    for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE" } do
      assert.same({ 2, 3 }, damo.compile({ x }, damo.grad(cost, x), { mode = mode })(damo.ones { 2, 3 }).shape)
    end
  end)
end)

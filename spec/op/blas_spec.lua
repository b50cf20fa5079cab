-- Products.
local damo = require "damo"
local h = assert(loadfile "spec/op/harness.lua")(describe, it)

h.run_family "blas"

local Z = damo.zeros

--- A Variable with that static shape.
local function T(shape) return damo.tensor("t", { dtype = "float64", shape = shape }) end

local M, N = damo.dmatrix "x", damo.dmatrix "y"

--- Compiles the expression and calls it.
local function call(inputs, out, ...) return damo.compile(inputs, out)(...) end

h.run_errors("blas", {
    { "a dot that does not fit", "shape",
      "dot: shapes (3, 4) and (5, 2) do not agree: axis 2 of the first is 4, axis 1 of the second is 5",
      function() return damo.dot(Z { 3, 4 }, Z { 5, 2 }) end },
    { "a dot that does not fit, in a graph", "shape",
      "dot: shapes (3, 4) and (5,) do not agree: axis 2 of the first is 4, axis 1 of the second is 5",
      function() return damo.dot(T { 3, 4 }, T { 5 }) end },
    { "a dot that turns out not to fit", "shape",
      "dot: shapes (3, 4) and (5, 2) do not agree: axis 2 of the first is 4, axis 1 of the second is 5",
      function() return call({ M, N }, damo.dot(M, N), Z { 3, 4 }, Z { 5, 2 }) end },
    { "vectors of different length", "shape",
      "dot: shapes (3,) and (4,) do not agree: axis 1 of the first is 3, axis 1 of the second is 4",
      function() return damo.dot(Z { 3 }, Z { 4 }) end },
    { "a product of batches that do not agree", "shape",
      "matmul: shapes (2, 3, 4) and (3, 4, 5) do not agree: axis 1 of the first is 2, axis 1 of the second is 3",
      function() return damo.matmul(Z { 2, 3, 4 }, Z { 3, 4, 5 }) end },
    { "a matmul of a scalar", "shape", "matmul: operand 2 is a scalar; use mul for a product with a scalar",
      function() return damo.matmul(Z { 2, 2 }, 3) end },
    { "batches of different number", "shape",
      "tensordot: shapes (2, 3, 4) and (3, 4, 5) do not agree: axis 1 of the first is 2, axis 1 of the second is 3",
      function() return damo.batched_dot(Z { 2, 3, 4 }, Z { 3, 4, 5 }) end },
    { "a tensordot of axes that differ", "shape",
      "dot: shapes (2, 3) and (2, 3) do not agree: axis 2 of the first is 3, axis 1 of the second is 2",
      function() return damo.tensordot(Z { 2, 3 }, Z { 2, 3 }, 1) end },
    { "a tensordot over more axes than there are", "value",
      "tensordot: axes=3 is not possible for operands of ranks 2 and 2",
      function() return damo.tensordot(Z { 2, 3 }, Z { 2, 3 }, 3) end },
    { "a tensordot over lists of unequal length", "value",
      "tensordot: 2 axes of the first operand do not pair with 1 of the second",
      function()
      return damo.tensordot(Z { 2, 3 }, Z { 2, 3 }, { axes = { { 1, 2 }, { 1 } } })
    end },
    { "an einsum without its subscripts", "type", "einsum: subscripts, a string, are needed",
      function() return damo.einsum { Z { 2 } } end },
    { "an einsum with too few operands", "value",
      "einsum: subscripts 'ij,jk->ik': there are fewer operands than subscripts",
      function() return damo.einsum({ Z { 2, 2 } }, "ij,jk->ik") end },
    { "an einsum over another rank", "value", "einsum: subscripts 'ij->i' name 2 axes of operand 1, which has 1",
      function() return damo.einsum({ Z { 2 } }, "ij->i") end },
    { "an einsum of lengths that differ", "shape",
      "dot: shapes (2, 3) and (4, 2) do not agree: axis 2 of the first is 3, axis 1 of the second is 4",
      function() return damo.einsum({ Z { 2, 3 }, Z { 4, 2 } }, "ij,jk->ik") end },
    { "an einsum with a letter from nowhere", "value",
      "einsum: subscripts 'i->ij': the output names an axis that no operand has",
      function() return damo.einsum({ Z { 2 } }, "i->ij") end },
    { "a string", "type",
      "dot: argument 2 (y) must be a Variable, Array, sparse matrix, number, boolean or table, got string",
      function() return damo.dot(Z { 2 }, "x") end },
    { "one operand", "type", "dot: argument 2 (y) must be a Variable, Array, number or table, got nothing",
      function() return damo.dot(Z { 2 }) end },
})

describe("a sum with a product", function()
  it("does not become a BLAS update if one of them is broadcast", function()
    local z = damo.dmatrix "z"
    local column = damo.tensor("column", { dtype = "float64", shape = { false, 1 } })
    local x, c = damo.array { { 1, 2 }, { 3, 4 } }, damo.array { { 1 }, { -1 } }
    for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE" } do
      local f = damo.compile({ z, column }, { z + damo.dot(z, column), damo.dot(z, z) - damo.dot(z, column) },
        { mode = mode })
      local sum, difference = f(x, c)
      assert.same({ { 0, 1 }, { 2, 3 } }, sum:totable())
      assert.same({ { 8, 11 }, { 16, 23 } }, difference:totable())
    end
  end)
end)

-- Functions composed of others, under NumPy's and PyTensor's names.
local damo = require "damo"
local h = assert(loadfile "spec/op/harness.lua")(describe, it)

h.run_family "composed"

local Z = damo.zeros

h.run_errors("composed", {
  { "ceil_intdiv of floats", "type", "ceil_intdiv is defined for integers, not for float64",
    function() return damo.ceil_intdiv(Z { 2 }, Z { 2 }) end },
  { "multigammaln of no dimension", "value", "multigammaln: d lies between 1 and 1000, got 0",
    function() return damo.multigammaln(Z { 2 }, 0) end },
  { "fliplr of a vector", "shape", "fliplr: operand 1 has 1 axes, fewer than 2",
    function() return damo.fliplr(Z { 2 }) end },
  { "equal parts of a length that they do not divide", "shape", "vsplit: a length of 3 is not divided by 2",
    function() return damo.vsplit(Z { 3, 2 }, 2) end },
  { "unstack along an unknown length", "shape",
    "unstack: the length of axis 1, the number of results, must be known",
    function() return damo.unstack(damo.dvector "x") end },
  { "a position outside", "index", "delete: position 4 is outside 1 … 3",
    function() return damo.delete(Z { 3 }, 4) end },
  { "values of too many axes", "shape", "insert: the values have 2 axes, x has 1",
    function() return damo.insert(Z { 3 }, 1, Z { 1, 1 }, { axis = 1 }) end },
  { "vander of a matrix", "shape", "vander: a vector is expected, got 2 axes",
    function() return damo.vander(Z { 2, 2 }) end },
  { "a period that is not positive", "value", "unwrap: the period must be positive, got 0",
    function() return damo.unwrap(Z { 2 }, { period = 0 }) end },
})

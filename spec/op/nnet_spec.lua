-- Functions of neural networks.
local damo = require "damo"
local h = assert(loadfile "spec/op/harness.lua")(describe, it)

h.run_family "nnet"

local Z = damo.zeros

h.run_errors("nnet", {
    { "an axis that is not there", "index", "softmax: there is no axis 3 in a tensor of 2 dimensions",
      function() return damo.softmax(Z { 2, 3 }, { axis = 3 }) end },
    { "complex operands", "type", "log_softmax: a real operand is needed, got complex128",
      function() return damo.log_softmax(damo.zvector "z") end },
    { "a misspelt option", "value", "softmax: unknown option 'axes', did you mean 'axis'?",
      function() return damo.softmax(Z { 2 }, { axes = 1 }) end },
    { "classes of the wrong rank", "shape",
      "categorical_crossentropy: true_dist must have rank 3 (a distribution) or 2 (positions), got 1",
      function() return damo.categorical_crossentropy(Z { 2, 3, 4 }, Z { 4 }) end },
    { "classes that are fractions", "type", "categorical_crossentropy: positions must be integers, got float64",
      function() return damo.categorical_crossentropy(Z { 2, 3 }, Z { 2 }) end },
    { "a class outside", "index", "Pick: position 4 is outside 1..3",
      function() return damo.categorical_crossentropy(Z { 2, 3 }, damo.array({ 1, 4 }, "int64")) end },
    { "classes of another number", "shape", "Pick: an index of shape (3,) does not fit an operand of shape (2, 3)",
      function() return damo.categorical_crossentropy(Z { 2, 3 }, damo.array({ 1, 2, 3 }, "int64")) end },
    { "an error between shapes that do not agree", "shape",
      "sub: shapes (2,) and (3,) do not agree: axis 1 is 2 in operand 1 and 3 in operand 2",
      function() return damo.mean_squared_error(Z { 2 }, Z { 3 }) end },
    { "weights that do not fit", "shape",
      "dot: shapes (2, 3) and (2, 4) do not agree: axis 2 of the first is 3, axis 1 of the second is 2",
      function() return damo.dense_layer(Z { 2, 3 }, Z { 2, 4 }, Z { 4 }) end },
})

-- Functions that make arrays.
local damo = require "damo"
local h = assert(loadfile "spec/op/harness.lua")(describe, it)

h.run_family "alloc"

local Z = damo.zeros

h.run_errors("alloc", {
    { "a negative length", "value", "zeros: a dimension is an integer from 0 on, got -1",
      function() return damo.zeros { 2, -1 } end },
    { "a length that is a fraction", "value", "zeros: a dimension is an integer from 0 on, got 2.5",
      function() return damo.zeros { 2.5 } end },
    { "a length that is a string", "type", "ones: a shape is a list of integers, got string in it",
      function() return damo.ones { "2" } end },
    { "a shape too large to count", "value", "array: shape (1099511627776, 1099511627776) is too large",
      function() return damo.zeros { 2 ^ 40, 2 ^ 40 } end },
    { "an unknown dtype", "value", "zeros: unknown dtype 'float46', did you mean 'float64'?",
      function() return damo.zeros({ 2 }, "float46") end },
    { "no shape", "type", "zeros: a shape is a list of integers, got nil", function() return damo.zeros() end },
    { "alloc without a shape", "type", "alloc: the shape is missing", function() return damo.alloc(1.5) end },
    { "alloc of what does not broadcast", "shape", "alloc: a value of shape (2,) does not broadcast to (3,)",
      function() return damo.alloc(Z { 2 }, { 3 }) end },
    { "full without a value", "type", "full: argument 2 (value) must be a value, got nil",
      function() return damo.full { 2 } end },
    { "full of what does not fit the dtype", "value", "full: 300 does not fit into uint8",
      function() return damo.full({ 2 }, 300, "uint8") end },
    { "a step of 0", "value", "arange: the step is 0", function() return damo.arange(0, 5, 0) end },
    { "an endless range", "value", "arange: start, stop and step must be finite",
      function() return damo.arange(0, 1 / 0) end },
    { "a range of vectors", "type", "arange: start, stop and step must be real scalars",
      function() return damo.arange(Z { 2 }) end },
    { "a negative number of points", "value", "linspace: num must not be negative, got -1",
      function() return damo.linspace(0, 1, { num = -1 }) end },
    { "a number of points that is a fraction", "type", "linspace: option 'num' must be an integer, got number",
      function() return damo.linspace(0, 1, { num = 2.5 }) end },
    { "a negative size of eye", "value", "eye: length -1 of axis 1 is negative", function() return damo.eye(-1) end },
    { "a size of eye that is a fraction", "type", "eye: n must be integers, got float64 with a fraction",
      function() return damo.eye(2.5) end },
    { "a misspelt option", "value", "zeros_like: unknown option 'dtyp', did you mean 'dtype'?",
      function() return damo.zeros_like(Z { 2 }, { dtyp = "int8" }) end },
})

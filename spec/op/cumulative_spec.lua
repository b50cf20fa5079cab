-- Running sums, sorting, differences.
local damo = require "damo"
local h = assert(loadfile "spec/op/harness.lua")(describe, it)

h.run_family "cumulative"

local Z = damo.zeros

h.run_errors("cumulative", {
    { "an axis that is not there", "index", "cumsum: there is no axis 3 in a tensor of 2 dimensions",
      function() return damo.cumsum(Z { 2, 3 }, { axis = 3 }) end },
    { "a list of axes", "type", "cumsum: option 'axis' must be an integer, got table",
      function() return damo.cumsum(Z { 2, 3 }, { axis = { 1, 2 } }) end },
    { "differences a negative number of times", "value", "diff: n is -1, and must not be negative",
      function() return damo.diff(Z { 4 }, { n = -1 }) end },
    { "differences of an unknown length too many times", "value", "diff: n is 4611686018427387904, of at most 1000",
      function() return damo.diff(damo.dvector "x", { n = 2 ^ 62 }) end },
    { "a misspelt option", "value", "argsort: unknown option 'stabel', did you mean 'stable'?",
      function() return damo.argsort(Z { 4 }, { stabel = true }) end },
})

-- Reductions without nan, quantiles and other statistics, running extremes.
local damo = require "damo"
local h = assert(loadfile "spec/op/harness.lua")(describe, it)

h.run_family "statistics"

local nan = 0 / 0
local V = damo.array { 3, 1, 2 }
local E = damo.dvector "e"

h.run_errors("statistics", {
  { "a slice of nan", "value", "nanargmax: a slice is nan throughout",
    function() return damo.nanargmax(damo.array { { nan, nan }, { 1, 2 } }, { axis = 2 }) end },
  { "weights of sum 0", "value", "average: the weights add up to 0",
    function() return damo.average(V, damo.array { 1, -1, 0 }) end },
  { "weights of another rank", "shape",
    "average: the weights have 1 axes, for an operand of 2 axes, 2 of them averaged",
    function() return damo.average(damo.zeros { 2, 3 }, V) end },
  { "q outside 0 … 1", "value", "quantile: q lies outside 0 … 1", function() return damo.quantile(V, 1.5) end },
  { "q that is nan", "value", "quantile: q lies outside 0 … 1", function() return damo.quantile(V, nan) end },
  { "q outside 0 … 100", "value", "percentile: q lies outside 0 … 100",
    function() return damo.percentile(V, { q = 101 }) end },
  { "no q", "type", "quantile: q is missing", function() return damo.quantile(V) end },
  { "a method that is not there", "value", "quantile: there is no method 'middle'",
    function() return damo.quantile(V, 0.5, { method = "middle" }) end },
  { "quantiles of complex numbers", "type", "quantile is not defined for complex128",
    function() return damo.quantile(damo.complex({ 1 }, { 2 }), 0.5) end },
  { "the median of nothing", "value", "median: the reduced axes have no elements",
    function() return damo.median(damo.zeros { 0 }) end },
  { "the median of what turns out to be nothing", "value", "median: the reduced axes have no elements",
    function() return damo.compile({ E }, damo.median(E))(damo.zeros { 0 }) end },
  { "a quantile of what turns out to be nothing", "value", "percentile: the reduced axes have no elements",
    function() return damo.compile({ E }, damo.percentile(E, 30))(damo.zeros { 0 }) end },
  { "the median without nan of what turns out to be nothing", "value", "nanmedian: the reduced axes have no elements",
    function() return damo.compile({ E }, damo.nanmedian(E))(damo.zeros { 0 }) end },
  { "the mode of what turns out to be nothing", "value", "mode: the reduced axes have no elements",
    function() return damo.compile({ E }, { damo.mode(E) })(damo.zeros { 0 }) end },
  { "q outside 0 … 100 of what is no nan", "value", "nanpercentile: q lies outside 0 … 100",
    function() return damo.nanpercentile(V, -1) end },
  { "the mode of nothing", "value", "mode: the reduced axes have no elements",
    function() return damo.mode(damo.zeros { 2, 0 }, { axis = 2 }) end },
})

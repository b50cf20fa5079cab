-- Batches of running extremes and of tables.
local damo = require "damo"
local harness = require "spec.batch.harness"

local points = { damo.array { -2, 0, 1, 3 }, damo.array { -1, 0.5, 2 } }
local function lookup(method)
  return function(v, x) return damo.interpn(points, v, x, { method = method, outside = "extrapolate" }) end
end

-- The table or its queries are many, the others the same for all.
local one_of_two = { { { 3 }, {} }, { {}, { 2, 3 } }, { { 2, 3 }, {} }, { {}, { 0 } } }

describe("a node over a batch", function()
  harness.run(it, {
    { name = "running extremes", cores = { { 4, 3 } }, fn = function(x)
      return damo.cummax(x, { axis = 1 }), damo.cummin(x, { axis = 2 })
    end },
    { name = "linear tables", cores = { { 4, 3 }, { 5, 2 } }, fn = lookup "linear", leads = one_of_two },
    { name = "nearest points of tables", cores = { { 4, 3 }, { 5, 2 } }, fn = lookup "nearest", leads = one_of_two },
    { name = "splines", cores = { { 4 }, { 5 } }, leads = one_of_two, fn = function(v, x)
      return damo.interpn({ points[1] }, v, x, { method = "cubic", outside = "extrapolate" })
    end },
    { name = "rows of tables", cores = { { 4, 3, 2 }, { 2, 5, 2 } }, fn = lookup "linear", leads = one_of_two },
    { name = "tables and queries", cores = { { 4, 3 }, { 5, 2 } }, fn = lookup "linear", loop = true,
      leads = { { { 3 }, { 3 } }, { { 2, 1 }, { 3 } } } },
  })
end)

-- Selections, searches, segments and polynomials over a batch.
local damo = require "damo"
local harness = require "spec.batch.harness"

local ids = damo.constant(damo.array({ 2, 1, 2, 4, 2 }, "int64"))
local sorted = damo.constant(damo.array { -1.5, -0.5, 0.25, 1 })
local shared = { { {}, { 3 } }, { {}, { 2, 3 } } }

describe("over a batch", function()
  harness.run(it, {
    { name = "topk", cores = { { 5 } }, fn = function(x) return damo.topk(x, 2), damo.argtopk(x, -3) end },
    { name = "topk along the first axis", cores = { { 5, 2 } }, fn = function(x)
      return damo.topk(x, { k = 2, axis = 1 })
    end },
    { name = "partition", cores = { { 3, 5 } }, fn = function(x)
      return damo.argpartition(x, { kth = { 1, 2, 3, 4 } }), damo.partition(x, { kth = { 1, 2 }, axis = 1 })
    end },
    { name = "lexsort", cores = { { 4 }, { 4 } }, dtypes = { "int64", "int64" }, most = { 3, 3 }, fn = function(x, y)
      return damo.lexsort { x, y }
    end },
    { name = "searches in one vector", cores = { { 4 } }, fn = function(x) return damo.searchsorted(sorted, x) end },
    { name = "interpolation between points that are shared", cores = { { 4 } }, fn = function(x)
      return damo.interp(x, sorted, damo.constant(damo.array { 1., 3, -2, 0.5 }))
    end },
    { name = "segments of shared ids", cores = { { 5, 2 } }, fn = function(x)
      local n = { num_segments = 4 }
      return damo.segment_sum(x, ids, n), damo.segment_prod(x, ids, n), damo.segment_mean(x, ids, n)
    end },
    { name = "a polynomial", cores = { { 3 }, { 4 } }, leads = shared, fn = damo.polyval },
  })
end)

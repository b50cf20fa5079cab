-- The rows of the functions that change only the graph's knowledge of a Variable, or its gradient. Their gradients,
-- which
-- are not those of the identity, are in marker_spec.lua.
local damo = require "damo"

return function(h)
  local m = { { 1, 2, 3 }, { 4, 5, 6 } }
  local function identity(opts)
    return { { m, want = m, opts = opts, grad = false, int = "int64" }, { {}, want = h.shape(0), opts = opts, grad = false },
      { damo.array(2.5), want = 2.5, opts = opts, grad = false } }
  end
  local rows = {}
  rows.disconnected_grad = identity()
  rows.zero_grad = identity()
  rows.consider_constant = identity()
  rows.grad_clip = identity { lower = -1, upper = 1 }
  rows.grad_scale = identity { multiplier = 2 }
  rows.assert_op = {
    { m, h.bools { true, true }, want = m, grad = { 1 } },
    { m, true, want = m },
    { m, { 1, 2 }, opts = { message = "no" }, want = m, grad = { 1 } },
  }
  rows.specify_shape = {
    { m, opts = { 2, 3 }, want = m, int = "int64" },
    { m, opts = { shape = { false, 3 } }, want = m },
    { { 1, 2 }, opts = { 2 }, want = { 1, 2 } },
  }
  rows.unbroadcast = { { { { 1, 2 } }, opts = { axes = { 1 } }, want = { { 1, 2 } } }, { { { 1 } }, opts = { 1, 2 }, want = { { 1 } } } }
  return rows
end

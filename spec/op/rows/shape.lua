-- The rows of the functions that read and change shapes.
local damo = require "damo"

return function(h)
  local m = { { 1, 2, 3 }, { 4, 5, 6 } }
  local cube = { { { 1, 2 }, { 3, 4 }, { 5, 6 } } } -- (1, 3, 2)
  local square = { { 1, 2, 3 }, { 4, 5, 6 }, { 7, 8, 9 } }
  local rows = {}
  local function ints(want, opts, x) return { x or m, want = want, opts = opts, dtype = "int64", int = "int64" } end
  local function case(x, want, opts) return { x, want = want, opts = opts, int = "int64" } end

  rows.shape = { ints { 2, 3 }, ints({ 1, 3, 2 }, nil, cube), ints({ 0, 4 }, nil, damo.zeros { 0, 4 }), ints(h.shape(0), nil, damo.array(2.5)) }
  rows.shape_i = { ints(2), ints(3, 2), ints(3, { axis = -1 }) }
  rows.size = { ints(6), ints(0, nil, damo.zeros { 0, 4 }), ints(1, nil, damo.array(2.5)) }

  rows.reshape = {
    case(m, { { 1, 2 }, { 3, 4 }, { 5, 6 } }, { 3, 2 }),
    case(m, { { 1, 2 }, { 3, 4 }, { 5, 6 } }, { shape = { -1, 2 } }),
    case(m, { 1, 2, 3, 4, 5, 6 }, -1),
    case(m, { { { 1, 2, 3 } }, { { 4, 5, 6 } } }, { shape = { 2, 1, 3 } }),
    case({ 7 }, 7, { shape = {} }),
    case({}, h.shape(0, 5), { 0, 5 }),
    { m, opts = { shape = h.ints { 3, 2 } }, want = { { 1, 2 }, { 3, 4 }, { 5, 6 } } },
  }
  rows.flatten = { case(m, { 1, 2, 3, 4, 5, 6 }), case(cube, { { 1, 2, 3, 4, 5, 6 } }, { ndim = 2 }), case(damo.array(2.0), { 2 }),
    case(damo.zeros { 0, 4 }, h.shape(0)), case(damo.zeros { 0, 0, 5 }, h.shape(0, 0), { ndim = 2 }) }
  rows.ravel = { case(m, { 1, 2, 3, 4, 5, 6 }), case(damo.array(2.0), { 2 }) }
  rows.transpose = {
    case(m, { { 1, 4 }, { 2, 5 }, { 3, 6 } }),
    case(cube, { { { 1 }, { 2 } }, { { 3 }, { 4 } }, { { 5 }, { 6 } } }, { 2, 3, 1 }),
    case(cube, { { { 1, 3, 5 }, { 2, 4, 6 } } }, { axes = { 1, -1, 2 } }),
    case({ 1, 2 }, { 1, 2 }),
  }
  rows.matrix_transpose = { case(m, { { 1, 4 }, { 2, 5 }, { 3, 6 } }), case(cube, { { { 1, 3, 5 }, { 2, 4, 6 } } }) }
  rows.dimshuffle = {
    case({ 1, 2 }, { { 1, 2 } }, { "x", 1 }),
    case({ 1, 2 }, { { 1 }, { 2 } }, { 1, "x" }),
    case(m, { { { 1 }, { 4 } }, { { 2 }, { 5 } }, { { 3 }, { 6 } } }, { pattern = { 2, 1, "x" } }),
    case({ { 1, 2, 3 } }, { 1, 2, 3 }, { pattern = { 2 } }),
    case(damo.array(2.0), { { 2 } }, { "x", "x" }),
  }
  rows.expand_dims = { case({ 1, 2 }, { { 1, 2 } }, 1), case({ 1, 2 }, { { 1 }, { 2 } }, { axis = -1 }),
    case({ 1, 2 }, { { { 1, 2 } } }, { axis = { 1, 2 } }) }
  rows.squeeze = { case(cube, { { 1, 2 }, { 3, 4 }, { 5, 6 } }), case({ { { 1 }, { 2 } } }, { { 1 }, { 2 } }, { axis = 1 }),
    case({ { { 1 }, { 2 } } }, { 1, 2 }, { axis = { 1, -1 } }) }
  rows.moveaxis = { case(cube, { { { 1, 2 } }, { { 3, 4 } }, { { 5, 6 } } }, { source = 1, destination = 2 }),
    case(cube, { { { 1, 3, 5 } }, { { 2, 4, 6 } } }, { source = { 3, 1 }, destination = { 1, 2 } }) }
  rows.swapaxes = { case(m, { { 1, 4 }, { 2, 5 }, { 3, 6 } }, { axis1 = 1, axis2 = 2 }),
    case(cube, { { { 1 }, { 3 }, { 5 } }, { { 2 }, { 4 }, { 6 } } }, { axis1 = 1, axis2 = -1 }) }
  rows.atleast_1d = { case(damo.array(2.0), { 2 }), case({ 1, 2 }, { 1, 2 }) }
  rows.atleast_2d = { case(damo.array(2.0), { { 2 } }), case({ 1, 2 }, { { 1, 2 } }), case(m, m) }
  rows.atleast_3d = { case({ 1, 2 }, { { { 1, 2 } } }), case(cube, cube) }
  rows.broadcast_to = { case({ 1, 2 }, { { 1, 2 }, { 1, 2 }, { 1, 2 } }, { 3, 2 }), case({ { 1 }, { 2 } }, { { 1, 1, 1 }, { 2, 2, 2 } }, { shape = { 2, 3 } }),
    case(damo.array(2.0), { 2, 2 }, 2), case({ 1 }, h.shape(0), { 0 }) }
  rows.flip = { case(m, { { 6, 5, 4 }, { 3, 2, 1 } }), case(m, { { 4, 5, 6 }, { 1, 2, 3 } }, 1), case(m, { { 3, 2, 1 }, { 6, 5, 4 } }, { axis = -1 }),
    case({}, h.shape(0)) }
  rows.diag = { case({ 1, 2 }, { { 1, 0 }, { 0, 2 } }), case({ 1, 2 }, { { 0, 1, 0 }, { 0, 0, 2 }, { 0, 0, 0 } }, { k = 1 }),
    case(square, { 1, 5, 9 }), case(square, { 4, 8 }, -1), case(m, { 2, 6 }, { k = 1 }) }
  rows.diagonal = { case(square, { 1, 5, 9 }), case(m, { 4 }, { offset = -1 }), case(m, { 2, 6 }, 1),
    case(cube, { { 1 }, { 2 } }, { axis1 = 1, axis2 = 2 }) }
  rows.trace = { case(square, 15), case(m, 8, { offset = 1 }), case(m, 6) }
  rows.tril = { case(square, { { 1, 0, 0 }, { 4, 5, 0 }, { 7, 8, 9 } }), case(m, { { 1, 2, 0 }, { 4, 5, 6 } }, 1) }
  rows.triu = { case(square, { { 1, 2, 3 }, { 0, 5, 6 }, { 0, 0, 9 } }), case(m, { { 1, 2, 3 }, { 4, 5, 6 } }, { k = -1 }) }
  rows.specify_broadcastable = { case({ { 1, 2 } }, { { 1, 2 } }, 1) }
  return rows
end

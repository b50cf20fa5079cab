-- Grids, positions of triangles, positions in flat tensors, several tensors as one vector, select.
local damo = require "damo"
local h = assert(loadfile "spec/op/harness.lua")(describe, it)

h.run_family "grid"

local a = damo.array { 1., 2, 3 }
local function at(t) return damo.array(t, "int64") end

h.run_errors("grid", {
    { "a position beyond a shape", "index", "unravel_index: position 7 is outside 1 … 6",
      function() return damo.unravel_index(at { 7 }, { shape = { 2, 3 } }) end },
    { "a negative position in a shape", "index", "unravel_index: position -1 is outside 1 … 6",
      function() return damo.unravel_index(at { -1 }, { shape = { 2, 3 } }) end },
    { "position 0", "index", "ravel_multi_index: position 0 is outside 1 … 2; positions count from 1",
      function() return damo.ravel_multi_index({ at { 0 }, at { 1 } }, { shape = { 2, 3 } }) end },
    { "too few tensors of positions", "value", "ravel_multi_index: 1 tensors of positions for 2 axes",
      function() return damo.ravel_multi_index({ at { 1 } }, { shape = { 2, 3 } }) end },
    { "a mode", "value", 'take: the mode is "raise", "wrap" or "clip", got "strict"',
      function() return damo.take(a, at { 1 }, { mode = "strict" }) end },
    { "a number of no choice where there is one", "index", "choose: position 2 is outside 1 … 1",
      function()
        local n = damo.lvector "n"
        return damo.compile({ n }, damo.choose(n, { a }))(at { 1, 2 })
      end },
    { "a number of no choice where all are one", "index", "choose: position 3 is outside 1 … 2",
      function()
        local n, x = damo.lvector "n", damo.dvector "x"
        return damo.compile({ n, x }, damo.choose(n, { x, x }))(at { 1, 3 }, a[{ { 1, 2 } }])
      end },
    { "a number of no choice", "index", "choose: position 3 is outside 1 … 2",
      function() return damo.choose(at { 3 }, { a, a }) end },
    { "position 0 of an empty axis", "index", "take: position 1 is outside 1 … 0",
      function() return damo.take(damo.zeros { 0 }, at { 1 }, { mode = "wrap" }) end },
    { "an order", "value", 'unravel_index: the order is "C" or "F", got "K"',
      function() return damo.unravel_index(at { 1 }, { shape = { 2 }, order = "K" }) end },
    { "a grid of matrices", "shape", "meshgrid: operand 1 has 2 axes, vectors are expected",
      function() return damo.meshgrid(damo.zeros { 2, 2 }, a) end },
    { "another indexing", "value", 'meshgrid: indexing is "xy" or "ij", got "yx"',
      function() return damo.meshgrid(a, a, { indexing = "yx" }) end },
    { "a negative length", "value", "broadcast_shape: operand 1 has a length that no axis can have",
      function() return damo.broadcast_shape({ { -5 }, { 1 } }, { arrays_are_shapes = true }) end },
    { "blocks that are nothing", "type", "block: the argument must be a list", function() return damo.block(nil) end },
    { "a stack of a text", "type", "stacklists: the argument must be a list",
      function() return damo.stacklists "x" end },
    { "shapes that do not broadcast", "shape", "broadcast_to: shape (2,) does not broadcast to (3,)",
      function() return damo.broadcast_arrays(a, damo.zeros { 2 }) end },
    { "shapes of another size", "shape", "unpack: the shapes have 4 entries, the vector 3",
      function() return damo.unpack(a, { shapes = { { 2, 2 } } }) end },
    { "a vector to be rotated", "shape", "rot90: expected at least 2 axes, got 1",
      function() return damo.rot90(a) end },
    { "no n", "type", "tril_indices: n is missing", function() return damo.tril_indices { k = 1 } end },
    { "the diagonal of a vector", "shape", "fill_diagonal: expected at least 2 axes, got 1",
      function() return damo.fill_diagonal(a, 0) end },
    { "unequal lengths of a diagonal", "shape",
      "fill_diagonal: the lengths of more than 2 axes must be equal, got 2, 3",
      function() return damo.fill_diagonal(damo.zeros { 2, 3, 2 }, 0) end },
    { "unequal lengths of a diagonal, found at run time", "value",
      "fill_diagonal: the lengths of more than 2 axes must be equal",
      function()
        local x = damo.dtensor3 "x"
        damo.compile({ x }, damo.fill_diagonal(x, 0))(damo.zeros { 2, 3, 2 })
      end },
    { "conditions without choices", "value", "select: 1 conditions for 0 choices",
      function() return damo.select({ a }, {}) end },
    { "no list of conditions", "type", "select: conditions must be a list",
      function() return damo.select(a, { a }) end },
    { "positions in the triangle of a vector", "shape", "tril_indices_from: a matrix is expected, got 1 axes",
      function() return damo.tril_indices_from(a) end },
    { "positions in no shape", "value", "indices: a shape of 1 to 31 lengths is needed",
      function() return damo.indices {} end },
    { "the inverse of what is no permutation", "value",
      "inverse_permutation: the entries are not 1 … n, each once",
      function() return damo.inverse_permutation(at { 1, 3, 3 }) end },
    { "shapes that do not broadcast", "shape", "broadcast_shape: lengths 2 and 3 do not broadcast",
      function() return damo.broadcast_shape(damo.zeros { 2, 2 }, damo.zeros { 3, 1 }) end },
    { "shapes that turn out not to broadcast", "value",
      "broadcast_shape: the lengths of an axis differ; a length 1 must be known to broadcast",
      function()
        local x = damo.dvector "x"
        return damo.compile({ x }, damo.broadcast_shape(x, damo.zeros { 3 }))(damo.zeros { 2 })
      end },
    { "tensors of unequal rank to join", "shape", "concat_with_broadcast: operands of 1 and 2 axes",
      function() return damo.concat_with_broadcast(a, damo.zeros { 2, 2 }) end },
    { "blocks nested unequally", "value", "block: the lists are not nested equally deep",
      function() return damo.block { { a }, a } end },
    { "no block", "value", "block: a list is empty", function() return damo.block { {} } end },
    { "a stack of nothing", "value", "stacklists: a list is empty", function() return damo.stacklists {} end },
    { "fewer functions than conditions", "value", "piecewise: 2 conditions take 2 or 3 functions, got 1",
      function() return damo.piecewise(a, { a:lt(1), a:gt(1) }, { 1 }) end },
    { "a slice that is a number", "type", "mgrid: slice 1 must be a table", function() return damo.mgrid(3) end },
    { "a slice without an end", "type", "ogrid: slice 1 must give numbers: {start=, stop=, step=}",
      function() return damo.ogrid { slices = { { start = 1 } } } end },
})

describe("select", function()
  it("takes the first condition that holds, else the default", function()
    local x = damo.dvector "x"
    local y = damo.select({ x:lt(1), x:lt(2) }, { -x, x * 10 }, 0.5)
    local v = damo.array { 0.5, 1.5, 3 }
    assert.same({ -0.5, 15, 0.5 }, damo.compile({ x }, y)(v):totable())
    assert.same({ -1, 10, 0 }, damo.compile({ x }, damo.grad(damo.sum(y), x))(v):totable())
    local d = damo.dscalar "d"
    local with = damo.compile({ x, d }, damo.grad(damo.sum(damo.select({ x:lt(1) }, { x }, { default = d })), d))
    assert.equal(2, with(v, 7))
    assert.same({ 1, 0 }, damo.select({ damo.array({ true, false }, "bool") }, { at { 1, 2 } }):totable())
  end)
end)

describe("piecewise", function()
  it("takes the last condition that holds, else what is left", function()
    local x = damo.dvector "x"
    local function square(v) return v * v end
    local y = damo.piecewise(x, { x:lt(1), x:lt(0), x:ge(5) }, { square, -1, function(v) return 1 / (v - 2) end })
    local v = damo.array { 0.5, -3, 2, 6 }
    assert.same({ 0.25, -1, 0, 0.25 }, damo.compile({ x }, y)(v):totable())
    assert.same({ 1, 0, 0, -0.0625 }, damo.compile({ x }, damo.grad(damo.sum(y), x))(v):totable())
    assert.same({ 1, 9 }, damo.piecewise(at { 1, 3 }, { at { 1, 3 }:gt(1) }, { square, 1.5 }):totable())
    assert.equal("int64", damo.piecewise(at { 1, 3 }, { at { 1, 3 }:gt(1) }, { 0.5 }).dtype)
    local scaled = damo.piecewise({ 1, 2 }, {}, { function(u, k) return u * k end }, 10)
    assert.same({ 10, 20 }, scaled:totable())
  end)
end)

describe("nested lists", function()
  local p, q = damo.array { { 1., 2 }, { 3, 4 } }, damo.array { 5., 6 }

  it("are blocks", function()
    assert.same({ { 1, 2, 0 }, { 3, 4, 0 }, { 5, 6, 7 } },
      damo.block({ { p, damo.zeros { 2, 1 } }, { q, 7 } }):totable())
    assert.same({ 5, 6, 1, 5, 6 }, damo.block({ q, 1, q }):totable())
    assert.equal(7, damo.block(7))
    assert.same({ 1, 2, 4 }, damo.block({ damo.ones { 1, 2, 2 }, p }).shape)
    local x = damo.dmatrix "x"
    local y = damo.block { { x, p }, { p, x * 2 } }
    assert.same({ { 3, 3 }, { 3, 3 } }, damo.compile({ x }, damo.grad(damo.sum(y), x))(p):totable())
  end)

  it("are stacked", function()
    assert.same({ { { 5, 6 }, { 1, 2 } }, { { 1, 2 }, { 5, 6 } } },
      damo.stacklists({ { q, p[1] }, { p[1], q } }):totable())
    local s = damo.dscalar "s"
    local y = damo.stacklists { { s, 1 }, { 0, s * s } }
    assert.same({ { 3, 1 }, { 0, 9 } }, damo.compile({ s }, y)(3):totable())
    assert.equal(7, damo.compile({ s }, damo.grad(damo.sum(y), s))(3))
  end)
end)

describe("shapes that broadcast", function()
  it("are found of Variables", function()
    local x, y, r = damo.dmatrix "x", damo.dvector "y", damo.drow "r"
    local f = damo.compile({ x, y, r }, { damo.broadcast_shape(x, y), damo.broadcast_shape(r, x) })
    local s, t = f(damo.zeros { 2, 3 }, damo.zeros { 3 }, damo.zeros { 1, 3 })
    assert.same({ 2, 3 }, s:totable())
    assert.same({ 2, 3 }, t:totable())
    local n = damo.lvector "n"
    local of = damo.broadcast_shape({ damo.specify_shape(n, { 2 }), at { 1, 1, 4 } }, { arrays_are_shapes = true })
    assert.same({ 1, 7, 4 }, damo.compile({ n }, of)(at { 7, 4 }):totable())
    local j = damo.concat_with_broadcast({ r, x }, { axis = 1 })
    local g = damo.compile({ r, x }, { j, damo.grad(damo.sum(j * j), r) })
    local whole, by_r = g(damo.array { { 1., 2 } }, damo.array { { 3., 4 }, { 5, 6 } })
    assert.same({ { 1, 2 }, { 3, 4 }, { 5, 6 } }, whole:totable())
    assert.same({ { 2, 4 } }, by_r:totable())
  end)
end)

describe("pack", function()
  it("is told when a call's vector has other entries than the shapes of unpack", function()
    local v = damo.dvector "v"
    local f = damo.compile({ v }, { damo.unpack(v, { shapes = { { 2 }, {} } }) })
    assert.equal(3, select(2, f(damo.array { 1, 2, 3 })))
    for _, n in ipairs { 2, 4 } do
      local ok, err = pcall(f, damo.ones { n })
      assert.is_false(ok)
      assert.equal("shape", err.kind)
    end
  end)

  it("gives what unpack needs, of values and of Variables", function()
    local x, y = damo.array { { 1., 2 }, { 3, 4 } }, damo.array(7.5)
    local v, shapes = damo.pack(x, y, damo.zeros { 0 })
    assert.same({ 1, 2, 3, 4, 7.5 }, v:totable())
    assert.same({ { 2, 2 }, {}, { 0 } }, shapes)
    local p, q = damo.unpack(v, { shapes = shapes })
    assert.is_true(damo.array_equal(p, x) and q == 7.5)

    local m, s = damo.dmatrix "m", damo.dscalar "s"
    local packed, lengths = damo.pack(m, s)
    local back, t = damo.unpack(packed * 2, { shapes = lengths })
    assert.equal(2, back.ndim)
    assert.equal(0, t.ndim)
    local f = damo.compile({ m, s }, { back, damo.grad(damo.sum(back * m) + t * s, m) })
    local got, g = f(x, 3)
    assert.is_true(damo.array_equal(got, 2 * x) and damo.array_equal(g, 4 * x))
  end)

  it("promotes to one dtype", function()
    assert.equal("float64", damo.pack(at { 1 }, a).dtype)
    assert.equal("float64", damo.pack({ at { 1 }, a }).dtype)
  end)
end)

describe("a grid of slices", function()
  it("has coordinates without the ends", function()
    local x, y = damo.mgrid({ 0, 2 }, { 1, 7, 3 })
    assert.same({ { 0, 0 }, { 1, 1 } }, x:totable())
    assert.same({ { 1, 4 }, { 1, 4 } }, y:totable())
    assert.equal("int64", x.dtype)
    local u, w = damo.ogrid { slices = { { stop = 2 }, { start = 0, stop = 1, step = 0.5 } } }
    assert.same({ { 0 }, { 1 } }, u:totable())
    assert.same({ { 0, 0.5 } }, w:totable())
    assert.equal("float64", u.dtype)
  end)
end)

describe("the gradient of what is set", function()
  it("goes to the last value at a place that is set twice", function()
    local x, y, i = damo.dvector "x", damo.dvector "y", damo.lvector "i"
    local g = damo.grad(damo.sum(damo.sqr(x:set({ i }, y))), y)
    local f = damo.compile({ x, y, i }, g)
    assert.same({ 0, 4, 6, 0, 10 }, f(a, damo.array { 1., 2, 3, 4, 5 }, at { 1, -1, 2, 1, 1 }):totable())
    local c = damo.compile({ x, y }, damo.grad(damo.sum(damo.sqr(x:set({ damo.idx { 3, 1 } }, y))), y))
    assert.same({ 2, 4 }, c(a, damo.array { 1., 2 }):totable())
  end)
end)

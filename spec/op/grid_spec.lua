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

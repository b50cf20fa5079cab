-- Segments and scatters.
local damo = require "damo"
local h = assert(loadfile "spec/op/harness.lua")(describe, it)

h.run_family "segment"

local x, ids = damo.dvector "x", damo.lvector "ids"
local a, at = damo.array { 1., 2, 3 }, damo.array({ 1, 3, 1 }, "int64")

local function call(inputs, out, ...) return damo.compile(inputs, out)(...) end

h.run_errors("segment", {
    { "an id beyond the segments", "index", "segment_sum: id 3 at position 2 is outside 1 … 2",
      function() return damo.segment_sum(a, at, { num_segments = 2 }) end },
    { "an id of 0", "index", "segment_max: id 0 at position 1 is outside 1 … 2",
      function() return damo.segment_max(a, damo.array({ 0, 1, 2 }, "int64")) end },
    { "an id that turns out to be beyond", "index", "segment_prod: id 3 at position 2 is outside 1 … 2",
      function() return call({ x, ids }, damo.segment_prod(x, ids, 2), a, at) end },
    { "too few ids", "shape", "segment_sum: 3 ids for 2 entries along the first axis",
      function() return damo.segment_sum(damo.zeros { 2 }, at) end },
    { "too few ids at run time", "shape", "segment_min: 3 ids for 2 entries along the first axis",
      function() return call({ x, ids }, damo.segment_min(x, ids), damo.zeros { 2 }, at) end },
    { "a negative number of segments", "value", "segment: num_segments: length -1 of axis 1 is negative",
      function() return damo.segment_sum(a, at, { num_segments = -1 }) end },
    { "ids with a fraction", "type", "segment_sum: the ids must be integers, got float64 with a fraction",
      function() return damo.segment_sum(a, damo.array { 1, 1.5, 2 }) end },
    { "complex maxima", "type", "segment_max is not defined for complex128",
      function() return damo.segment_max(damo.zeros({ 3 }, "complex128"), at) end },
    { "a number below the first", "index", "bincount: id -1 at position 1 is outside 1 … 2",
      function() return damo.bincount(damo.array({ -1, 2 }, "int64")) end },
    { "a scatter outside", "index", "scatter_max: position 4 is outside axis 1 of length 3",
      function() return damo.scatter_max(a, damo.array({ 4 }, "int64"), 1) end },
    { "values that do not fit", "shape",
      "scatter_min: values of shape (2,) do not broadcast to positions (3,) of a tensor (3,)",
      function() return damo.scatter_min(a, at, damo.array { 1., 2 }) end },
    { "values of a greater kind", "type",
      "scatter_max: values of float64 do not fit into a tensor of int64; cast one of them",
      function() return damo.scatter_max(at, at, a) end },
})

describe("a segment", function()
  it("of complex numbers has a sum and a product", function()
    local z = damo.complex(damo.array { 1., 2, 3 }, damo.array { 1., 0, -1 })
    local sum, product = damo.segment_sum(z, at), damo.segment_prod(z, at)
    assert.same({ 4, 0, 2 }, damo.real(sum):totable())
    assert.same({ 4, 1, 2 }, damo.real(product):totable())
    assert.same({ 2, 0, 0 }, damo.imag(product):totable())
  end)

  it("is summed in the order of its entries", function()
    local big = damo.array { 1, 1e16, 1, 1, -1e16 }
    assert.equal(0, damo.segment_sum(big, damo.ones({ 5 }, "int64"))[1])
  end)

  it("has derivatives of second order and forward ones", function()
    local n, u = 6, damo.dvector("u", { shape = { 6 } })
    local values, places = damo.array { 0.3, -1.2, 0.7, 2.1, -0.4, 1.6 }, damo.array({ 2, 1, 2, 3, 2, 1 }, "int64")
    local t = damo.array { 1., 0.5, -2, 0.25, 3, -1 }
    for _, kind in ipairs { "sum", "prod", "max", "min", "mean" } do
      local y = damo["segment_" .. kind](u, ids, { num_segments = 4 })
      local cost = damo.sum(damo.sqr(damo.switch(damo.isinf(y), 0, y)))
      local g = damo.grad(cost, u)
      local slope = damo.compile({ u, ids }, g)
      local H = damo.compile({ u, ids }, damo.hessian(cost, u))(values, places)
      for k = 1, n do
        local up, down = values:copy(), values:copy()
        up[k], down[k] = up[k] + 1e-6, down[k] - 1e-6
        local column = (slope(up, places) - slope(down, places)) / 2e-6
        assert.is_true(damo.allclose(H[k], column, { rtol = 1e-6, atol = 1e-6 }), kind)
      end
      local forward = damo.compile({ u, ids }, damo.Rop(y, u, damo.constant(t)), { on_unused_input = "ignore" })(values,
        places)
      local step = damo["segment_" .. kind]
      local by = (step(values + 1e-6 * t, places, 4) - step(values - 1e-6 * t, places, 4)) / 2e-6
      by = damo.switch(damo.isnan(by), 0, by)
      assert.is_true(damo.allclose(forward, by, { rtol = 1e-6, atol = 1e-6 }), kind)
    end
  end)

  it("has a shape that is known before it is computed", function()
    local y = damo.segment_sum(damo.dmatrix "m", ids, { num_segments = 4 })
    assert.same({ 4 }, { y.type.shape[1] or nil })
    local f = damo.compile({ x, ids }, damo.segment_sum(x, ids, { num_segments = 4 }):shape_i(1),
      { on_unused_input = "ignore" })
    assert.equal(4, f(a, at))
  end)
end)

describe("a scatter", function()
  it("has forward derivatives", function()
    local v, tv = damo.dvector "v", damo.array { 2., -1, 0.5 }
    local tx = damo.array { 1., 3, -2 }
    local w = damo.array { 0.5, 4, 1.5 }
    for _, name in ipairs { "scatter_add", "scatter_max", "scatter_min" } do
      local y = damo[name](x, ids, v)
      local forward = damo.compile({ x, ids, v }, damo.Rop(y, { x, v }, { damo.constant(tx), damo.constant(tv) }),
        { on_unused_input = "ignore" })
      local h6 = 1e-6
      local by = (damo[name](a + h6 * tx, at, w + h6 * tv) - damo[name](a - h6 * tx, at, w - h6 * tv)) / (2 * h6)
      assert.is_true(damo.allclose(forward(a, at, w), by, { rtol = 1e-6, atol = 1e-6 }), name)
    end
  end)
end)

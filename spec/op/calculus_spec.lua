-- Convolutions, polynomials, differences and products of vectors.
local damo = require "damo"
local h = assert(loadfile "spec/op/harness.lua")(describe, it)

h.run_family "calculus"

local a, m = damo.array { 1., 2, 3, 4 }, damo.zeros { 2, 4 }
local x, y = damo.dvector "x", damo.dvector "y"

h.run_errors("calculus", {
    { "a vector product of 4 entries", "shape", "cross: vectors of 2 or 3 entries are expected, axis 1 has 4",
      function() return damo.cross(a, a) end },
    { "a vector product that turns out to be of 4 entries", "shape", "specify_shape: axis 1 has length 4, not 3",
      function() return damo.compile({ x }, damo.cross(x, x))(a) end },
    { "the convolution of a matrix", "shape", "convolve: operand 1 has 2 axes, vectors are expected",
      function() return damo.convolve(m, a) end },
    { "the convolution of nothing", "value", "convolve: operand 2 is empty",
      function() return damo.convolve(a, damo.zeros { 0 }) end },
    { "what turns out to be nothing", "value", "convolve: operand 1 is empty",
      function() return damo.compile({ x, y }, damo.convolve(x, y))(damo.zeros { 0 }, a) end },
    { "two that turn out to be nothing", "value", "convolve: operand 1 is empty",
      function() return damo.compile({ x, y }, damo.correlate(x, y))(damo.zeros { 0 }, damo.zeros { 0 }) end },
    { "another mode", "value", 'correlate: the mode is "full", "same" or "valid", got "half"',
      function() return damo.correlate(a, a, "half") end },
    { "a matrix of coefficients", "shape", "polyval: the coefficients must be a vector, got 2 axes",
      function() return damo.polyval(m, a) end },
    { "no degree", "type", "polyfit: the degree deg is missing", function() return damo.polyfit(a, a) end },
    { "a negative degree", "value", "polyfit: the degree lies between 0 and 1000, got -1",
      function() return damo.polyfit(a, a, -1) end },
    { "points and values that are not as many", "shape", "polyfit: 4 points x, 2 values y",
      function() return damo.polyfit(a, damo.ones { 2 }, 1) end },
    { "points in a matrix", "shape", "polyfit: x and the weights are vectors, y a vector or a matrix",
      function() return damo.polyfit(m, a, 1) end },
    { "a fit to nothing", "value", "polyfit: there is no point",
      function() return damo.polyfit(damo.zeros { 0 }, damo.zeros { 0 }, 1) end },
    { "weights that are no vector", "type", "polyfit: the weights w are a vector",
      function() return damo.polyfit(a, a, { deg = 1, w = 3 }) end },
    { "a matrix of coefficients of a polynomial's zeros", "shape",
      "roots: the coefficients must be a vector, got 2 axes", function() return damo.roots(m) end },
    { "the zeros of nothing", "value", "roots: there is no coefficient",
      function() return damo.roots(damo.zeros { 0 }) end },
    { "too few samples", "value", "gradient: axis 1 has 2 samples, 3 are needed",
      function() return damo.gradient(m, { edge_order = 2 }) end },
    { "another order at the edges", "value", "gradient: edge_order is 1 or 2, got 3",
      function() return damo.gradient(a, { edge_order = 3 }) end },
    { "too many spacings", "value", "gradient: 3 spacings for 2 axes",
      function() return damo.gradient(m, { spacing = { 1, 2, 3 } }) end },
    { "coordinates that do not fit", "shape", "gradient: 3 coordinates for axis 1 of length 4",
      function() return damo.gradient(a, { spacing = { 1, 2, 3 } }) end },
    { "a scalar's differences", "shape", "gradient: the operand has no axis", function() return damo.gradient(3) end },
    { "points of another rank", "shape", "trapezoid: x has 2 axes, y 1", function() return damo.trapezoid(a, m) end },
})

-- A number in (-1, 1) for each k.
local function wave(n, by) return damo.sin(damo.arange(1, n + 1) * by) end

describe("a convolution", function()
  it("of long vectors is the sum of shifted ones", function()
    for _, sizes in ipairs { { 3000, 17 }, { 17, 3000 }, { 1025, 1024 }, { 1, 5 } } do
      local p, q = wave(sizes[1], 0.7), wave(sizes[2], 1.3)
      local want = damo.zeros { sizes[1] + sizes[2] - 1 }
      for k = 1, sizes[2] do
        local part = { { k, k + sizes[1] - 1 } }
        want[part] = want[part] + p * q[k]
      end
      local full = damo.convolve(p, q)
      assert.is_true(damo.allclose(full, want, { rtol = 1e-12, atol = 1e-12 }))
      local short, long = math.min(sizes[1], sizes[2]), math.max(sizes[1], sizes[2])
      assert.is_true(damo.array_equal(damo.convolve(p, q, "valid"), full[{ { short, long } }]))
      local before = math.floor((short - 1) / 2)
      assert.is_true(damo.array_equal(damo.convolve(p, q, "same"), full[{ { before + 1, before + long } }]))
    end
  end)

  it("has derivatives of second order and forward ones, in every mode", function()
    for _, mode in ipairs { "full", "same", "valid" } do
      for _, name in ipairs { "convolve", "correlate" } do
        for _, sizes in ipairs { { 5, 3 }, { 3, 5 }, { 4, 4 } } do
          local p, q = wave(sizes[1], 0.7), wave(sizes[2], 1.3)
          local u, v = damo.dvector("u", { shape = { sizes[1] } }), damo.dvector("v", { shape = { sizes[2] } })
          local r = damo[name](x, y, mode)
          damo.verify_grad(function(s, t) return damo.sum(damo.sqr(damo[name](s, t, mode))) end, { p, q })
          local g = damo.compile({ x, y }, damo.grad(damo.sum(damo.sqr(r)), x))
          local H = damo.compile({ u, v }, damo.hessian(damo.sum(damo.sqr(damo[name](u, v, mode))), u),
            { on_unused_input = "ignore" })(p, q)
          for k = 1, sizes[1] do
            local up, down = p:copy(), p:copy()
            up[k], down[k] = up[k] + 1e-5, down[k] - 1e-5
            local column = (g(up, q) - g(down, q)) / 2e-5
            assert.is_true(damo.allclose(H[k], column, { rtol = 1e-7, atol = 1e-8 }), name .. mode)
          end
          local t = wave(sizes[1], 2.1)
          local forward = damo.compile({ x, y }, damo.Rop(r, x, damo.constant(t)),
            { on_unused_input = "ignore" })(p, q)
          assert.is_true(damo.allclose(forward, damo[name](t, q, mode), { rtol = 1e-12, atol = 1e-12 }), name .. mode)
        end
      end
    end
  end)

  it("of complex vectors conjugates where it correlates", function()
    local z = damo.complex(damo.array { 1., 2 }, damo.array { 0., 1 })
    local u = damo.complex(damo.array { 0. }, damo.array { 1. })
    assert.same({ 0, -1 }, damo.real(damo.convolve(z, u)):totable())
    assert.same({ 0, 1 }, damo.real(damo.correlate(z, u)):totable())
  end)
end)

describe("a polynomial", function()
  it("has derivatives of second order and forward ones", function()
    local p, at = damo.array { 2., -1, 0.5, 3 }, damo.array { 0.3, -2, 1.7, 0 }
    damo.verify_grad(function(s, t) return damo.sum(damo.sqr(damo.polyval(s, t))) end, { p, at })
    local slope = damo.grad(damo.sum(damo.polyval(x, y)), y)
    local f = damo.compile({ x, y }, damo.grad(damo.sum(slope), y))
    assert.is_true(damo.allclose(f(p, at), 12 * at - 2, { rtol = 1e-12, atol = 1e-12 }))
    local t = damo.array { 1., 0, -1, 2 }
    local both = { damo.constant(t), damo.constant(t) }
    local forward = damo.compile({ x, y }, damo.Rop(damo.polyval(x, y), { x, y }, both))
    local want = damo.polyval(t, at) + t * damo.polyval(damo.array { 6., -2, 0.5 }, at)
    assert.is_true(damo.allclose(forward(p, at), want, { rtol = 1e-12, atol = 1e-12 }))
  end)
end)

describe("differences", function()
  it("take the coordinates of a Variable, with a gradient for them", function()
    local d = damo.gradient(x, { spacing = y, edge_order = 2 })
    local points = damo.array { 0., 1, 3, 3.5 }
    assert.is_true(damo.allclose(damo.compile({ x, y }, d)(damo.sqr(points), points), 2 * points, { atol = 1e-12 }))
    damo.verify_grad(function(s, t) return damo.sum(damo.sqr(damo.gradient(s, { spacing = t, edge_order = 2 }))) end,
      { a, points })
  end)
end)

describe("a polynomial", function()
  it("has zeros with derivatives", function()
    local p = damo.dvector "p"
    local z = damo.roots(p)
    local cost = damo.sum(damo.sqr(damo.real(z)) + 3 * damo.sqr(damo.imag(z)))
    local f, g = damo.compile({ p }, cost), damo.compile({ p }, damo.grad(cost, p))
    for _, at in ipairs { { 2, -3, 1, 4 }, { 0, 1, -3, 2, 0 }, { 1, 5 } } do
      local got = g(damo.array(at))
      for k, v in ipairs(at) do
        if v ~= 0 then -- the zeros at the ends are not coefficients
          local up, down = damo.array(at), damo.array(at)
          up[k], down[k] = v + 1e-6, v - 1e-6
          assert.near((f(up) - f(down)) / 2e-6, got[k], 1e-6)
        end
      end
    end
  end)

  it("is fitted with weights that have derivatives", function()
    local w = damo.dvector "w"
    local c = damo.polyfit(damo.array { 0, 1, 2, 3 }, damo.array { 1, 2, 0, 5 }, { deg = 1, w = w })
    damo.verify_grad(function(v)
      return damo.graph.clone_replace(c, { [w] = v })
    end, { damo.array { 1, 2, 0.5, 1.5 } })
  end)
end)

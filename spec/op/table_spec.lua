-- Tables: interpolation over grids.
local damo = require "damo"
local h = assert(loadfile "spec/op/harness.lua")(describe, it)

h.run_family "table"

local A = damo.array
local p, v = A { 0, 1, 2 }, A { 1, 3, 2 }

h.run_errors("interpn", {
  { "a query outside", "value", "interpn: query 2 is 2.5 along axis 1, outside 0 … 2",
    function() return damo.interpn({ p }, v, A { 1, 2.5 }) end },
  { "a query that is nan, where outside is an error", "value", "interpn: query 1 is nan along axis 1, outside 0 … 2",
    function() return damo.interpn({ p }, v, A { 0 / 0 }) end },
  { "a query outside of pchip", "value", "interpn: query 1 is -1 along axis 1, outside 0 … 2",
    function() return damo.interpn({ p }, v, A { -1 }, { method = "pchip" }) end },
  { "points that do not ascend", "value", "interpn: the points of axis 1 do not ascend",
    function() return damo.interpn({ A { 0, 2, 1 } }, v, A { 1 }) end },
  { "a point twice", "value", "interpn: the points of axis 1 do not ascend",
    function() return damo.interpn({ A { 0, 1, 1 } }, v, A { 1 }, { method = "pchip" }) end },
  { "a point that is infinite", "value", "interpn: the points of axis 1 do not ascend",
    function() return damo.interpn({ A { 0, 1, 1 / 0 } }, v, A { 1 }) end },
  { "as many values as points", "shape", "interpn: axis 1 has 3 points, and 2 values",
    function() return damo.interpn({ p }, A { 1, 2 }, A { 1 }) end },
  { "too few points", "shape", "interpn: axis 1 has 3 points; this method needs 4",
    function() return damo.interpn({ p }, v, A { 1 }, { method = "cubic" }) end },
  { "one point", "shape", "interpn: axis 1 has 1 points; this method needs 2",
    function() return damo.interpn({ A { 1 } }, A { 1 }, A { 1 }) end },
  { "queries of another number of axes", "shape",
    "interpn: the last axis of the queries must have length 2, the number of axes",
    function() return damo.interpn({ p, p }, damo.zeros { 3, 3 }, damo.zeros { 5, 3 }) end },
  { "values of too few axes", "shape", "interpn: the values have 1 axes, for the points of 2",
    function() return damo.interpn({ p, p }, v, damo.zeros { 5, 2 }) end },
  { "no axes", "value", "interpn: a grid has 1 to 5 axes, not 0", function() return damo.interpn({}, v, A { 1 }) end },
  { "a method that is not there", "value", "interpn: method 'quintic' is none of linear, nearest, pchip, cubic",
    function() return damo.interpn({ p }, v, A { 1 }, { method = "quintic" }) end },
  { "outside that is not there", "value", "interpn: outside must be 'error', 'clip', 'extrapolate' or a number",
    function() return damo.interpn({ p }, v, A { 1 }, { outside = "wrap" }) end },
  { "complex points", "type", "interpn: points and queries must be real, not complex128",
    function() return damo.interpn({ damo.complex(p, p) }, v, A { 1 }) end },
  { "points that are no list", "type", "interpn: argument 1 (points) must be a list of operands, got Array",
    function() return damo.interpn(p, v, A { 1 }) end },
})

describe("interpn", function()
  it("finds cells by arithmetic and by search alike", function()
    local seed = 1
    local function draw()
      seed = (seed * 16807) % 2147483647
      return seed / 2147483647
    end
    for _, grid in ipairs { { 0.1, 40 }, { 3, 7 }, { 1e-3, 100 } } do
      local step, n = table.unpack(grid)
      local even, uneven, values, queries, wants = {}, {}, {}, {}, {}
      for k = 1, n do
        even[k] = (k - 1) * step
        uneven[k] = even[k]
        values[k] = draw()
      end
      uneven[n + 1] = even[n] + 1000 * step -- one point far away makes the axis uneven
      for k = 1, 200 do
        queries[k] = k % 4 == 0 and even[1 + k % n] or draw() * even[n]
        local i = 1
        while i < n - 1 and even[i + 1] <= queries[k] do i = i + 1 end
        local t = (queries[k] - even[i]) / (even[i + 1] - even[i])
        wants[k] = values[i] * (1 - t) + values[i + 1] * t
      end
      local y = damo.interpn({ A(even) }, A(values), A(queries), { outside = "extrapolate" })
      values[n + 1] = 0
      local z = damo.interpn({ A(uneven) }, A(values), A(queries))
      for k = 1, 200 do
        assert.near(wants[k], y[k], 1e-12)
        assert.near(wants[k], z[k], 1e-12)
      end
    end
  end)

  --- The gradient, second derivatives and R_op of a sum of squares, against central differences of the gradient.
  local function check_second(method, points, values, at, tol)
    local x, vals = damo.dmatrix "x", damo.tensor("v", { dtype = "float64", shape = { false, false } })
    local y = damo.interpn(points, vals, x, { method = method, outside = "extrapolate" })
    local cost = damo.sum(damo.sqr(y))
    local g = damo.compile({ x, vals }, damo.grad(cost, { x, vals }))
    local dx = damo.dmatrix "dx"
    local gx = damo.grad(cost, x)
    local hv = damo.compile({ x, vals, dx }, damo.grad(damo.sum(gx * dx), { x, vals }))
    local forward = damo.compile({ x, vals, dx }, damo.Rop(y, x, dx))
    local plain = damo.compile({ x, vals }, y)
    local step = A { { 0.3, -0.2 }, { 0.1, 0.4 } }
    local eps = 1e-6
    local up, up_v = g(at + eps * step, values)
    local down, down_v = g(at - eps * step, values)
    local h_x, h_v = hv(at, values, step)
    assert.is_true(damo.allclose(h_x, (up - down) / (2 * eps), { rtol = tol, atol = tol }))
    assert.is_true(damo.allclose(h_v, (up_v - down_v) / (2 * eps), { rtol = tol, atol = tol }))
    local slope = (plain(at + eps * step, values) - plain(at - eps * step, values)) / (2 * eps)
    assert.is_true(damo.allclose(forward(at, values, step), slope, { rtol = tol, atol = tol }))
  end

  local points = { A { 0, 1, 2, 3.5, 4 }, A { 0, 0.5, 2, 3 } }
  local values, at = {}, A { { 1.3, 1.2 }, { 2.2, 2.6 } }
  for i = 1, 5 do
    values[i] = {}
    for j = 1, 4 do values[i][j] = math.sin(i * i + 3 * j) end
  end
  for _, method in ipairs { "linear", "pchip", "cubic" } do
    it(method .. " has second derivatives and forward mode", function()
      check_second(method, points, A(values), at, 1e-6)
    end)
  end

  it("says that cubic has no gradient for the points", function()
    local q = damo.dvector "q"
    local y = damo.interpn({ q }, A { 1, 2, 0, 5 }, A { 0.5 }, { method = "cubic", outside = "clip" })
    local ok, err = pcall(damo.grad, damo.sum(y), q)
    assert.is_false(ok)
    assert.equal("null_gradient", err.kind)
  end)

  it("gives the same whatever the number of threads", function()
    local n, flat = 20000, {}
    for k = 1, 2 * n do flat[k] = (k * 37 % 101) / 101 * 2 end
    local x = A(flat):reshape { n, 2 }
    local table_of = damo.reshape(damo.arange(9), { 3, 3 }):astype "float64"
    local one = damo.interpn({ p, p }, table_of, x)
    local threads = damo.config.threads
    damo.config.threads = 3
    local many = damo.interpn({ p, p }, table_of, x)
    damo.config.threads = threads
    assert.is_true(damo.array_equal(one, many))
  end)
end)

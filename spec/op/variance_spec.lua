-- Variances: one node for the sum of squared deviations, with the bits of the separate nodes.

local damo = require "damo"

local plain = damo.Mode { exclude = { "fusion" } }

local function has_node(f) return damo.printing.debugprint(f, { file = "str" }):find "SumSqrDev" ~= nil end

--- Compiles y with and without fusion, compares the bits, and tells whether the one node is there.
local function fused(x, value, y)
  local f, g = damo.compile({ x }, y), damo.compile({ x }, y, { mode = plain })
  assert.is_false(has_node(g))
  local a, b = damo.atleast_1d(damo.array(f(value))), damo.atleast_1d(damo.array(g(value)))
  assert.is_true(damo.all(damo.or_(damo.eq(a, b), damo.and_(damo.isnan(a), damo.isnan(b)))))
  return has_node(f)
end

describe("variance", function()
  local rs = damo.random.RandomStream(5)

  it("is one node with the bits of the separate ones, over any axes", function()
    for _, dtype in ipairs { "float64", "float32" } do
      for _, shape in ipairs { { 3, 5, 7 }, { 600, 9, 4 }, { 2, 700, 40 }, { 5, 3000, 1 }, { 1, 1, 1 } } do
        local value = damo.cast(rs:normal(3, 2, { size = shape }):eval(), dtype)
        local x, known = damo.tensor3("x", { dtype = dtype }), damo.tensor { dtype = dtype, shape = shape, name = "x" }
        for _, axis in ipairs { 1, 2, 3, { 1, 2 }, { 1, 3 }, { 2, 3 }, { 1, 2, 3 } } do
          assert.is_true(fused(x, value, damo.var(x, { axis = axis, ddof = 1 })))
          fused(known, value, damo.std(known, { axis = axis, keepdims = true }))
        end
      end
    end
  end)

  it("is one node of integers converted, and of elements with nan", function()
    local x, i = damo.dmatrix "x", damo.lmatrix "i"
    local value = rs:normal(0, 1, { size = { 40, 30 } }):eval()
    value[{ 3, 4 }] = 0 / 0
    value[{ 7, 8 }] = 1 / 0
    assert.is_true(fused(x, value, damo.var(x, { axis = 1 })))
    assert.is_true(fused(i, damo.cast(value * 10, "int64"), damo.var(i, { axis = 2 })))
  end)

  it("stays apart where a part has another use or is another thing", function()
    local x, n = damo.dmatrix "x", 7.0
    local value = rs:normal(0, 1, { size = { 40, 30 } }):eval()
    local mean = damo.mean(x, { axis = 1, keepdims = true })
    local function sum_of(m, axis) return damo.sum(damo.sqr(x - m), { axis = axis }) end
    assert.is_true(fused(x, value, sum_of(mean, 1)))
    assert.is_false(fused(x, value, sum_of(mean, 2)))
    assert.is_false(fused(x, value, sum_of(damo.sum(x, { axis = 1, keepdims = true }) / n, 1)))
    assert.is_false(fused(x, value, sum_of(damo.mean(2 * x, { axis = 1, keepdims = true }), 1)))
    assert.is_false(fused(x, value, damo.sum(damo.abs(x - mean), { axis = 1 })))
    local centred = x - mean
    local f = damo.compile({ x }, { damo.sum(damo.sqr(centred), { axis = 1 }), centred })
    assert.is_false(has_node(f))
    local z = damo.zmatrix "z"
    assert.is_false(has_node(damo.compile({ z }, damo.var(z, { axis = 1 }))))
  end)

  it("takes for the count only the product of the lengths of the reduced axes", function()
    local x = damo.dmatrix "x"
    local value = rs:normal(0, 1, { size = { 6, 9 } }):eval()
    local rows, cols = x.shape[1], x.shape[2]
    local function over_all(count)
      local mean = damo.sum(x, { keepdims = true }) / damo.cast(count, "float64")
      return damo.sum(damo.sqr(x - mean))
    end
    assert.is_true(fused(x, value, over_all(cols * rows)))
    assert.is_false(fused(x, value, over_all(rows)))
    assert.is_false(fused(x, value, over_all(rows * rows)))
    assert.is_false(fused(x, value, over_all(rows * cols * 2)))
    local mean = damo.sum(x, { axis = 2, keepdims = true }) / damo.cast(rows, "float64")
    assert.is_false(fused(x, value, damo.sum(damo.sqr(x - mean), { axis = 2 })))
  end)
end)

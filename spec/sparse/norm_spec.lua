-- Norms of sparse matrices, against dense tables.
local damo = require "damo"
local s = require "spec.sparse.support"
local t = require "spec.sparse.tables"
local sparse = damo.sparse

describe("norm", function()
  local function size(v) return math.abs(v) end
  local function column_sum(a)
    local most = 0
    for _, column in ipairs(t.transposed(a)) do
      local sum = 0
      for _, v in ipairs(column) do sum = sum + size(v) end
      most = math.max(most, sum)
    end
    return most
  end
  local function frobenius(a)
    local sum = 0
    for _, row in ipairs(a) do
      for _, v in ipairs(row) do sum = sum + v * v end
    end
    return math.sqrt(sum)
  end
  local references = {
    fro = frobenius, [1] = column_sum,
    inf = function(a) return column_sum(t.transposed(a)) end,
  }
  for order, reference in pairs(references) do
    it("of order " .. order, function()
      t.check_all(function(x) return sparse.norm(x, order) end, reference)
      t.check_derivatives(function(x) return sparse.norm(x, order) end, { s.matrix {} }, { tol = 1e-5 })
      t.check_derivatives(function(x) return sparse.norm(x, { ord = order }) end,
        { s.matrix { format = "csc", kind = "duplicates" } }, { tol = 1e-5 })
    end)
  end
  it("needs memory for the entries alone, whatever axis is long", function()
    local n = 1 << 40
    local a = sparse.coo {
      rows = { 1, 2, 3, 3, 3 }, cols = { 5, n, 7, 5, n }, values = { 1.5, -2, 3, 4, 1 }, shape = { 3, n },
    }
    for _, v in ipairs { a, a.T } do
      local x = sparse.matrix(v.format, "x")
      local wants = v.format == "csr" and { 5.5, 8 } or { 8, 5.5 }
      local grads = v.format == "csr" and { { 1, 0, 1, 0, 0 }, { 0, 0, 1, 1, 1 } }
      for k, order in ipairs { 1, "inf" } do
        for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE", "DEBUG" } do
          local cost = sparse.norm(x, order)
          local f = damo.compile({ x }, { cost, damo.grad(cost, x) }, { mode = mode })
          local value, g = f(v)
          assert.equal(wants[k], value)
          assert.same(v.shape, g.shape)
          if grads then s.close(sparse.gather(g, v), grads[k]) end
        end
        assert.equal(0, sparse.norm(sparse.zeros_like(v), order))
      end
    end
  end)
  it("takes infinity as a number, complex values, and refuses other orders", function()
    local a = s.matrix {}
    assert.equal(sparse.norm(a, "inf"), sparse.norm(a, math.huge))
    local c = sparse.csr_from_dense(damo.complex(damo.array { { 3.0, 0 } }, damo.array { { 4.0, 0 } }))
    assert.near(5, sparse.norm(c), 1e-14)
    t.check_derivatives(sparse.norm, { s.matrix { dtype = "complex128" } }, { tol = 1e-5 })
    s.raises("value", "sparse.norm: ord must be 'fro', 1 or 'inf'", function() sparse.norm(a, 2) end)
    s.check_second(sparse.norm, { a }, { tol = 1e-4 })
  end)
end)

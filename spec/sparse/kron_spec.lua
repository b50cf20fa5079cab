-- Kronecker products of sparse matrices, against dense tables.
local damo = require "damo"
local s = require "spec.sparse.support"
local t = require "spec.sparse.tables"
local sparse = damo.sparse

describe("kron", function()
  local function reference(a, b)
    local out = {}
    for i, row in ipairs(a) do
      for k, other in ipairs(b) do
        local line = {}
        for _, v in ipairs(row) do
          for _, w in ipairs(other) do line[#line + 1] = v * w end
        end
        out[(i - 1) * #b + k] = line
      end
    end
    return out
  end
  it("is the Kronecker product", function()
    for _, kind in ipairs(t.kinds) do
      for _, format in ipairs(s.formats) do
        for _, other in ipairs(s.formats) do
          local a = s.matrix { rows = 2, cols = 3, format = format, kind = kind }
          local b = s.matrix { rows = 3, cols = 2, format = other, seed = 5 }
          assert.equal(format, s.check_value(sparse.kron, { a, b }, reference).format)
          t.check_derivatives(sparse.kron, { a, b }, { tol = 1e-5 })
        end
      end
    end
    s.check_second(sparse.kron, { s.matrix { rows = 2, cols = 2 }, s.matrix { rows = 2, cols = 3 } }, { tol = 1e-5 })
    local c = s.matrix { rows = 2, cols = 2, dtype = "complex128" }
    t.check_derivatives(sparse.kron, { c, c }, { tol = 1e-5 })
  end)
  it("widens indices, and refuses dimensions beyond int64", function()
    local a = s.huge { rows = 4, cols = 20 }
    local got = sparse.kron(a, a)
    assert.equal("int64", got.itype)
    assert.equal(16, got.nnz)
    local b = s.huge { rows = 4, cols = 33 }
    s.raises("value", "kron: the product of shapes (16, 8589934592) and (16, 8589934592) is too large",
      function() sparse.kron(b, b) end)
    s.raises("type", nil, function() sparse.kron(a, damo.array { { 1.0 } }) end)
  end)
  it("has a shape that needs no values", function()
    t.check_shape(sparse.kron, { s.matrix {}, s.matrix { rows = 3, cols = 2, seed = 4 } }, "Kron")
  end)
end)

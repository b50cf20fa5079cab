-- Block diagonals of sparse matrices, against dense tables.
local damo = require "damo"
local s = require "spec.sparse.support"
local t = require "spec.sparse.tables"
local sparse = damo.sparse

describe("block_diag", function()
  local function reference(...)
    local out, width, before = {}, 0, 0
    for _, block in ipairs { ... } do width = width + #block[1] end
    for _, block in ipairs { ... } do
      for _, row in ipairs(block) do
        local line = {}
        for j = 1, width do line[j] = row[j - before] or 0 end
        out[#out + 1] = line
      end
      before = before + #block[1]
    end
    return out
  end
  it("puts matrices along the diagonal", function()
    for _, format in ipairs(s.formats) do
      local function fn(...) return sparse.block_diag({ ... }, { format = format }) end
      for _, kind in ipairs(t.kinds) do
        local a = s.matrix { rows = 2, cols = 3, kind = kind }
        local b = s.matrix { rows = 3, cols = 2, format = "csc", itype = "int64" }
        assert.equal(format, s.check_value(fn, { a, b, a }, reference).format)
        t.check_derivatives(fn, { a, b })
      end
      local function squared(...) return sparse.square(fn(...)) end
      s.check_second(squared, { s.matrix { rows = 2, cols = 2 } }, { tol = 1e-5 })
    end
    local a = s.matrix { dtype = "float32", format = "csc" }
    assert.equal("csc", sparse.block_diag({ a, s.matrix { dtype = "int8" } }).format)
    assert.equal("complex128", sparse.block_diag({ a, s.matrix { dtype = "complex128" } }).dtype)
  end)
  it("refuses wrong arguments", function()
    s.raises("value", "sparse.block_diag: there are no blocks", function() sparse.block_diag {} end)
    s.raises("type", nil, function() sparse.block_diag { s.matrix {}, damo.array { { 1.0 } } } end)
    local wanted = "BlockDiag: the format is 'csc' or 'csr', not "
    s.raises("value", wanted .. "'dia'; bsr, dia and coo are read as csr: damo.io.load reads SciPy's files of them, "
      .. "sparse.coo{rows=, cols=, values=} takes coordinates",
      function() sparse.block_diag({ s.matrix {} }, { format = "dia" }) end)
    s.raises("value", wanted .. "'lil'; sparse.coo{rows=, cols=, values=} makes one of coordinates",
      function() sparse.block_diag({ s.matrix {} }, { format = "lil" }) end)
  end)
  it("has a shape that needs no values", function()
    local blocks = { s.matrix {}, s.matrix { rows = 3, cols = 2, seed = 4 } }
    t.check_shape(function(x, y) return sparse.block_diag { x, y } end, blocks, "BlockDiag")
  end)
end)

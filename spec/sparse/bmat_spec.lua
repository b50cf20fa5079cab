-- Matrices of blocks, against dense tables.
local damo = require "damo"
local s = require "spec.sparse.support"
local t = require "spec.sparse.tables"
local sparse = damo.sparse

-- Layouts of blocks: 0 is a missing block; block (i, j) has row[i] rows and col[j] columns.
local layouts = {
  { { 1 } },
  { { 1, 1 } },
  { { 1 }, { 1 } },
  { { 1, 1 }, { 1, 1 } },
  { { 1, 0 }, { 0, 1 } },
  { { 0, 1 }, { 1, 0 } },
  { { 1, 0, 0 }, { 1, 1, 0 }, { 0, 1, 1 } },
  { { 0, 0, 1, 0 }, { 1, 0, 0, 1 }, { 0, 1, 0, 0 } },
}
local heights, widths = { 2, 3, 1 }, { 3, 1, 2, 4 }

-- A function that puts its operands, in the order of the layout, into a table of blocks and calls bmat.
local function of_layout(layout, options)
  return function(...)
    local list, n, blocks = { ... }, 0, {}
    for i, row in ipairs(layout) do
      blocks[i] = {}
      for j, is in ipairs(row) do
        n = n + is
        blocks[i][j] = is == 1 and list[n]
      end
    end
    return sparse.bmat(blocks, options)
  end
end

local function reference_of(layout)
  return function(...)
    local list, n, out = { ... }, 0, {}
    for i, row in ipairs(layout) do
      local before = n
      for line = 1, heights[i] do
        local whole = {}
        n = before
        for j, is in ipairs(row) do
          n = n + is
          for k = 1, widths[j] do whole[#whole + 1] = is == 1 and list[n][line][k] or 0 end
        end
        out[#out + 1] = whole
      end
    end
    return out
  end
end

local function operands(layout, kind, dtype)
  local list = {}
  for i, row in ipairs(layout) do
    for j, is in ipairs(row) do
      local n = #list + 1
      list[n] = is == 1 and s.matrix {
        rows = heights[i], cols = widths[j], kind = kind, dtype = dtype, seed = n + 2, format = s.formats[n % 2 + 1],
        itype = s.itypes[n % 3 == 0 and 2 or 1],
      } or nil
    end
  end
  return list
end

describe("bmat", function()
  for number, layout in ipairs(layouts) do
    it(("puts blocks at their positions, layout %d"):format(number), function()
      for _, format in ipairs(s.formats) do
        for _, kind in ipairs(t.kinds) do
          local fn, values = of_layout(layout, { format = format }), operands(layout, kind)
          local got = s.check_value(fn, values, reference_of(layout))
          assert.same({ format, "float64" }, { got.format, got.dtype })
        end
      end
    end)

    it(("has all derivatives, layout %d"):format(number), function()
      for _, format in ipairs(s.formats) do
        local fn = of_layout(layout, { format = format })
        for _, kind in ipairs { "plain", "duplicates", "unsorted" } do
          t.check_derivatives(fn, operands(layout, kind))
        end
        t.check_derivatives(fn, operands(layout, "plain", "complex128"))
        s.check_second(function(...) return sparse.square(fn(...)) end, operands(layout, "plain"), { tol = 1e-5 })
      end
    end)

    it(("has a shape that needs no values, layout %d"):format(number), function()
      t.check_shape(of_layout(layout), operands(layout), "BlockMatrix")
    end)
  end

  it("is hstack of vstacks, and block_diag", function()
    local a, b = s.matrix {}, s.matrix { seed = 8 }
    local function stacked(format)
      local o = { format = format }
      return sparse.vstack({ sparse.hstack({ a, b }, o), sparse.hstack({ b, a }, o) }, o)
    end
    for _, format in ipairs(s.formats) do
      s.same_storage(sparse.bmat({ { a, b }, { b, a } }, { format = format }), stacked(format))
      s.same_storage(sparse.bmat({ { a, false }, { false, b } }, { format = format }),
        sparse.block_diag({ a, b }, { format = format }))
    end
  end)

  it("takes a list with the position of each block, in any order", function()
    local a, b, c = s.matrix {}, s.matrix { cols = 2 }, s.matrix { rows = 3, cols = 2 }
    s.same_storage(sparse.bmat({ c, b, a }, { rows = { 2, 1, 1 }, cols = { 2, 2, 1 }, format = "csr" }),
      sparse.bmat { { a, b }, { false, c } })
  end)

  it("has the first block's format and the common dtype, or the given ones", function()
    local a, b = s.matrix { dtype = "int32", format = "csc" }, s.matrix { dtype = "float32" }
    local got = sparse.bmat { { a, b } }
    assert.same({ "csc", "float64" }, { got.format, got.dtype })
    got = sparse.bmat({ { a, b } }, { dtype = "complex64", format = "csr" })
    assert.same({ "csr", "complex64" }, { got.format, got.dtype })
    for _, dtype in ipairs(s.dtypes) do assert.equal(dtype, sparse.bmat({ { a, b } }, { dtype = dtype }).dtype) end
  end)

  it("has gradients for integers, zero where floats are cut to integers", function()
    local x, y = sparse.csr_matrix("x", { dtype = "int64" }), sparse.csr_matrix "y"
    local g = damo.grad(sparse.sp_sum(sparse.bmat { { x, y } }), { x, y })
    local gx, gy = damo.compile({ x, y }, g)(s.matrix { dtype = "int64" }, s.matrix {})
    assert.equal("float64", gx.dtype)
    assert.same({ 20, 20 }, { sparse.sp_sum(gx), sparse.sp_sum(gy) })
    g = damo.grad(sparse.sp_sum(sparse.bmat({ { x, y } }, { dtype = "int64" })) * 1.5, y)
    gy = damo.compile({ x, y }, g, { on_unused_input = "ignore" })(s.matrix { dtype = "int64" }, s.matrix {})
    assert.equal(0, sparse.sp_sum(gy))
  end)

  it("accepts lengths of 0, and one long minor axis", function()
    local none, a = sparse.csr_from_dense(damo.zeros { 0, 3 }), s.matrix { rows = 2, cols = 3 }
    assert.same({ 2, 3 }, sparse.bmat({ { none }, { a } }).shape)
    local far = s.huge { rows = 2, cols = 33 }
    local wide = sparse.bmat { { far, false }, { false, far } }
    assert.same({ 8, 2 ^ 34, 8, "int64" }, { wide.shape[1], wide.shape[2], wide.nnz, wide.itype })
    assert.equal(1.5, wide[{ 5, -1 }])
  end)

  it("needs memory for blocks and result only", function()
    local n = 300 -- of 90000 elements
    local blocks, line = {}, sparse.eye(n)
    for i = 1, n do
      blocks[i] = {}
      for j = 1, n do blocks[i][j] = i == j and line end
    end
    damo.config.memory_cap = damo.memory().bytes + 24 * 2 ^ 20
    local ok, got = pcall(sparse.bmat, blocks)
    damo.config.memory_cap = 0
    assert.is_true(ok, tostring(got))
    assert.equal(n * n, got.nnz)
  end)

  it("has gradients of a few nodes for each block", function()
    local n = 60
    local blocks, vars = {}, {}
    for i = 1, n do
      blocks[i], vars[i] = {}, sparse.csr_matrix("x" .. i)
      for j = 1, n do blocks[i][j] = i == j and vars[i] end
    end
    local whole = sparse.bmat(blocks)
    local gradient = damo.grad(damo.sum(sparse.sqr(whole)), vars)
    local f = damo.compile(vars, gradient, { mode = "FAST_COMPILE" })
    assert.is_true(#f.fgraph.apply_nodes < 20 * n, "nodes: " .. #f.fgraph.apply_nodes)
    local values = {}
    for i = 1, n do values[i] = s.matrix { rows = i % 3, cols = 2 + i % 2, seed = i } end
    for i, g in ipairs(table.pack(f(table.unpack(values)))) do s.close(g, (values[i] * 2):toarray()) end
  end)

  it("refuses wrong arguments", function()
    local a, b, d = s.matrix {}, s.matrix { rows = 3 }, damo.eye(4)
    local function fails(kind, text, ...)
      local args = { ... }
      s.raises(kind, text, function() return sparse.bmat(table.unpack(args)) end)
    end
    fails("shape", "BlockMatrix: block (1, 2) has 3 rows, block (1, 1) has 4", { { a, b } })
    fails("shape", "BlockMatrix: block (2, 2) has 5 columns, block (1, 2) has 4", { { a, a[{ { 1, 4 }, { 1, 4 } }] },
      { b, b } })
    fails("value", "sparse.bmat: block (2, 2) is nil: write false where there is none", { { a, a }, { a } })
    fails("value", "sparse.bmat: block (1, 1) is nil: write false where there is none", { { nil, a }, { a, a } })
    fails("value", "sparse.bmat: block row 2 has no block: its length is not known", { { a, a }, { false, false } })
    fails("value", "sparse.bmat: block column 1 has no block: its length is not known", { { false, a }, { false, a } })
    fails("value", "sparse.bmat: block row 1 has no block: its length is not known", { {} })
    fails("value", "sparse.bmat: there are no blocks", {})
    fails("type", "sparse.bmat: block (1, 2) must be sparse, got a dense one; damo.sparse.csr_from_dense(x) makes a "
      .. "dense matrix sparse", { { a, d } })
    fails("type", "sparse.bmat: row 2 of the blocks must be a table, got nil", { { a }, nil, { a } })
    fails("value", "sparse.bmat: row 1 of the blocks holds 'x', which is no position", { { a, x = a } })
    fails("value", "sparse.bmat: option 'rows' is for a plain list of blocks, not for a table of rows", { { a } },
      { rows = { 1 } })
    fails("value", "sparse.bmat: a table of rows of blocks is wanted, or a list of blocks with rows= and cols=", { a })
    fails("value", "BlockMatrix: block row 2 has no block: its length is not known", { a, a },
      { rows = { 1, 3 }, cols = { 1, 1 } })
    fails("value", "BlockMatrix: two blocks stand at (2, 1)", { a, a, a }, { rows = { 1, 2, 2 }, cols = { 1, 1, 1 } })
    fails("value", "BlockMatrix: entry 2 of cols must be a block column, counted from 1", { a, a },
      { rows = { 1, 2 }, cols = { 1, 0 } })
    fails("value", "BlockMatrix: rows has entries for 2 blocks, cols for 1", { a, a },
      { rows = { 1, 2 }, cols = { 1 } })
    fails("value", "BlockMatrix: rows and cols are for 1 blocks, got 2", { a, a }, { rows = { 1 }, cols = { 1 } })
    fails("value", "BlockMatrix: the format is 'csc' or 'csr', not 'rows'", { { a } }, { format = "rows" })
  end)

  it("notices different lengths at run time, even if their sums agree", function()
    local x, y = sparse.csr_matrix "x", sparse.csr_matrix "y"
    local f = damo.compile({ x, y }, sparse.bmat { { x, y }, { y, x } })
    s.raises("shape", "BlockMatrix: block (2, 1) has 3 columns, block (1, 1) has 5",
      function() return f(s.matrix {}, s.matrix { cols = 3 }) end)
    assert.same({ 8, 10 }, f(s.matrix {}, s.matrix {}).shape)
  end)
end)

-- Rules that read before they compute: parts of moved, broadcast, joined and multiplied arrays, their diagonals and
-- reductions.
local damo = require "damo"
local rule_rows = require "spec.graph_op.rule_rows"

local function rows(title, list)
  describe(title, function()
    for _, row in ipairs(list) do it(row[1], function() rule_rows.check(row) end) end
  end)
end

local function raises(kind, f, ...)
  local ok, err = pcall(f, ...)
  assert.is_false(ok)
  assert.equal(kind, err.kind)
end

rows("a read of ends:", {
  { "a start of a start", "x", function(x) return x[{ { 2 } }][{ { 3 } }] end, "Subtensor", exact = "Subtensor" },
  { "an end of an end", "x", function(x) return x[{ { nil, -2 } }][{ { nil, -2 } }] end, "Subtensor" },
  { "an end of a start", "x", function(x) return x[{ { 2 } }][{ { nil, -2 } }] end, "Subtensor" },
  { "up to a position stays", "x", function(x) return x[{ { 2 } }][{ { 1, 2 } }] end, "Subtensor Subtensor" },
  { "the reverse of the reverse", "x", function(x) return x[{ { -1, 1, -1 } }][{ { -1, 1, -1 } }] end, "", exact = "" },
  { "a place of the reverse", "x", function(x) return x[{ { -1, 1, -1 } }][2] end, "Subtensor" },
  { "a range of the reverse stays", "x", function(x) return x[{ { -1, 1, -1 } }][{ { 2, 3 } }] end,
    "Subtensor Subtensor" },
})

describe("reads of ends", function()
  it("are empty and fail as the reads one after the other", function()
    local x = damo.dvector "x"
    local plain = damo.Mode { optimizer = "none" }
    local graphs = { function(v) return v[{ { 2 } }][{ { 3 } }] end,
      function(v) return v[{ { nil, -2 } }][{ { nil, -3 } }] end,
      function(v) return v[{ { 3 } }][{ { nil, -2 } }] end, function(v) return v[{ { -1, 1, -1 } }][3] end,
      function(v) return v[{ { nil, -2 } }][{ { 2 } }] end }
    for _, graph in ipairs(graphs) do
      local f, g = damo.compile({ x }, graph(x)), damo.compile({ x }, graph(x), { mode = plain })
      for n = 0, 5 do
        local v = damo.arange(n, { dtype = "float64" })
        local ok, got = pcall(f, v)
        local ok_too, want = pcall(g, v)
        assert.equal(ok_too, ok)
        if ok then
          assert.is_true(damo.array_equal(got, want))
        else
          assert.equal(want.kind, got.kind)
        end
      end
    end
  end)
end)

rows("a read of", {
  { "a sum with a row", "mx", function(m, x) return (m + x)[2] end, "Subtensor add", exact = "Subtensor add" },
  { "a column of a sum with a row stays too", "mr", function(m, r) return (m + r)[{ {}, 2 }] end, "add Subtensor" },
  { "a column of a sum with a vector stays: their lengths may differ", "mx",
    function(m, x) return (m + x)[{ {}, 2 }] end, "add Subtensor" },
  { "a product with a column", "mx", function(m, x) return (m * x:dimshuffle { 1, "x" })[{ {}, 2 }] end,
    "Subtensor mul" },
  { "rows of a softmax", "m", function(m) return damo.softmax(m, { axis = 2 })[2] end, "Subtensor Softmax",
    exact = "Subtensor Softmax" },
  { "rows of a log_softmax", "t", function(t) return damo.log_softmax(t, { axis = 2 })[{ 1, {}, 2 }] end,
    "Subtensor LogSoftmax" },
  { "a column of a softmax stays", "m", function(m) return damo.softmax(m, { axis = 2 })[{ {}, 1 }] end,
    "Softmax Subtensor" },
  { "columns of a product", "mn", function(m, n) return damo.dot(m, n)[{ {}, 2 }] end, "Subtensor Dot",
    exact = "Dot Subtensor" },
  { "an entry of a product", "mn", function(m, n) return damo.dot(m, n)[{ 1, 2 }] end, "Subtensor Subtensor Dot" },
  { "a block of a product", "mn", function(m, n) return damo.dot(m, n)[{ { 1, 3 }, { 2, 4 } }] end,
    "Subtensor Subtensor Dot" },
  { "a product that is read elsewhere stays", "mn",
    function(m, n)
      local d = damo.dot(m, n)
      return d[1] + damo.sum(d)
    end, "Dot Subtensor Reduce add" },
  { "a row of a transpose", "m", function(m) return m.T[2] end, "Subtensor", exact = "Subtensor" },
  { "a range of a transpose", "m", function(m) return m.T[{ { 2, 3 } }] end, "Subtensor DimShuffle" },
  { "a new axis at its only place", "x", function(x) return x:dimshuffle { "x", 1 }[1] end, "", exact = "" },
  { "a new axis outside stays", "x", function(x) return damo.exp(x:dimshuffle { 1, "x" })[{ {}, { 1, 0 } }] end,
    "DimShuffle Subtensor exp" },
})

describe("a read of a sum", function()
  it("keeps the errors of its lengths and of its places", function()
    local x, m = damo.dvector "x", damo.dmatrix "m"
    local f = damo.compile({ m, x }, (m + x)[2])
    raises("shape", f, damo.ones { 3, 3 }, damo.ones { 2 })
    raises("index", f, damo.ones { 1, 3 }, damo.ones { 3 })
    local y = damo.dvector "y"
    raises("shape", damo.compile({ x, y }, (x + y)[1]), damo.ones { 3 }, damo.ones { 2 })
  end)
end)

local values = damo.array { 0.5, -1.25, 2, 3 }

-- Rows of graphs of two vectors of known length.
local function known_rows(title, list)
  describe(title, function()
    for _, row in ipairs(list) do
      it(row[1], function()
        local v = damo.tensor("v", { dtype = "float64", shape = { 4 } })
        local w = damo.tensor("w", { dtype = "float64", shape = { 3 } })
        local a = damo.dscalar "a"
        local graph = row[2](v, w, a)
        local options = { on_unused_input = "ignore", mode = rule_rows.all }
        local f = damo.compile({ v, w, a }, graph, options)
        options.mode = rule_rows.none
        local g = damo.compile({ v, w, a }, graph, options)
        assert.equal(row[3], rule_rows.nodes_of(f))
        local args = { values, damo.array { 7, -2, 0.25 }, 1.5 }
        rule_rows.agree(row[1], f(table.unpack(args)), g(table.unpack(args)), {})
      end)
    end
  end)
end

known_rows("joins:", {
  { "a place of one part", function(v, w) return damo.concatenate({ v, w })[6] end, "Subtensor" },
  { "a place from the end", function(v, w) return damo.concatenate({ v, w })[-7] end, "Subtensor" },
  { "a range in one part", function(v, w) return damo.concatenate({ v, w })[{ { 7, 5, -1 } }] end, "Subtensor" },
  { "the whole of one part", function(v, w) return damo.concatenate({ v, w })[{ { 5, 7 } }] end, "" },
  { "a range over two parts stays", function(v, w) return damo.concatenate({ v, w })[{ { 4, 5 } }] end,
    "Join Subtensor" },
  { "an entry of a stack", function(v) return damo.stack({ v, v * 2 })[2] end, "mul" },
  { "an entry of a stack of scalars", function(_, _, a) return damo.stack({ a, a * 2 })[2] end, "mul" },
  { "the sum of a join", function(v, w) return damo.sum(damo.concatenate { v, w }) end, "Reduce Reduce add" },
  { "the largest of a join", function(v, w) return damo.max(damo.concatenate { v, w }) end, "Reduce Reduce maximum" },
  { "the sum of a stack", function(v) return damo.sum(damo.stack { v, v * 2, damo.exp(v) }, { axis = 1 }) end,
    "mul exp add" },
  { "the product of a stack of scalars", function(_, _, a) return damo.prod(damo.stack { a, 2.0, a }) end, "sqr mul" },
  { "the sum of a stack along the other axis stays",
    function(v) return damo.sum(damo.stack { v, v * 2 }, { axis = 2 }) end, "DimShuffle mul DimShuffle Join Reduce" },
  { "the mean of a stack", function(v) return damo.mean(damo.stack { v, damo.exp(v) }, { axis = 1 }) end,
    "exp add mul" },
})

describe("a join", function()
  it("keeps the error of lengths that differ", function()
    local x, y = damo.dvector "x", damo.dvector "y"
    raises("shape", damo.compile({ x, y }, damo.stack({ x, y })[1]), damo.ones { 2 }, damo.ones { 3 })
    local sum = damo.compile({ x, y }, damo.sum(damo.stack { x, y }, { axis = 1 }))
    raises("shape", sum, damo.ones { 2 }, damo.ones { 3 })
    raises("shape", sum, damo.ones { 1 }, damo.ones { 3 })
  end)

  it("of parts that may be empty has its extremum", function()
    local x, y = damo.dvector "x", damo.dvector "y"
    local f = damo.compile({ x, y }, damo.max(damo.concatenate { x, y }))
    assert.equal(2, f({ 1, 2 }, damo.zeros { 0 }))
  end)

  it("is added in its order under exact rules", function()
    local x, y = damo.dvector "x", damo.dvector "y"
    local f = damo.compile({ x, y }, damo.sum(damo.concatenate { x, y }), { mode = rule_rows.exact })
    assert.equal("Join Reduce", rule_rows.nodes_of(f))
  end)
end)

rows("diagonals:", {
  { "of a product", "mn", function(m, n) return damo.diagonal(damo.dot(m, n)) end,
    "Shape_i Shape_i minimum Subtensor Subtensor DimShuffle mul Reduce", exact = "Dot ExtractDiag" },
  { "of a product with itself", "m", function(m) return damo.trace(damo.dot(m, m.T)) end, "sqr Reduce" },
  { "beside the main one stay", "mn", function(m, n) return damo.diagonal(damo.dot(m, n), { offset = 1 }) end,
    "Dot ExtractDiag" },
  { "of a product that is read elsewhere stay", "mn",
    function(m, n)
      local d = damo.dot(m, n)
      return damo.diagonal(d) * damo.sum(d)
    end, "Dot ExtractDiag Reduce mul" },
  { "of a function", "m", function(m) return damo.diagonal(damo.exp(m) * 2) end, "ExtractDiag exp mul",
    exact = "ExtractDiag exp mul" },
  { "of a sum of one shape", "m", function(m) return damo.diagonal(m + damo.exp(m)) end, "ExtractDiag exp add" },
  { "of a sum of unknown shapes stay", "mn", function(m, n) return damo.diagonal(m + n) end, "add ExtractDiag" },
  { "of a transpose", "m", function(m) return damo.diagonal(m.T, { offset = 1 }) end, "ExtractDiag" },
  { "of a diagonal matrix", "x", function(x) return damo.diagonal(damo.diag(x)) end, "", exact = "" },
})

describe("the diagonal of a product", function()
  it("of matrices that are not square has the shorter length", function()
    local m, n = damo.dmatrix "m", damo.dmatrix "n"
    local f = damo.compile({ m, n }, damo.diagonal(damo.dot(m, n)))
    for _, shape in ipairs { { 2, 3, 4 }, { 4, 3, 2 }, { 1, 2, 3 }, { 0, 2, 3 }, { 3, 0, 2 } } do
      local x, y = damo.random.normal(0, 1, { size = { shape[1], shape[2] } }),
        damo.random.normal(0, 1, { size = { shape[2], shape[3] } })
      assert.is_true(damo.allclose(f(x, y), damo.diagonal(damo.dot(x, y))))
    end
    raises("shape", f, damo.ones { 2, 3 }, damo.ones { 2, 3 })
  end)
end)

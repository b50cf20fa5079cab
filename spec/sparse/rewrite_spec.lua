-- Rewrites of sparse graphs: the remaining nodes, and unchanged values.
local damo = require "damo"
local support = require "spec.sparse.support"
local sparse = damo.sparse

--- A small matrix with an explicit zero, and unsorted indices in its second row.
local function matrix(format)
  local parts = { data = { 1.5, -2, 0, 3, 4, 0.5 }, indices = { 0, 3, 1, 2, 0, 3 },
    indptr = { 0, 2, 3, 3, 6 }, shape = { 4, 4 } }
  return sparse[format](parts)
end

--- The names of the Ops that the Function runs, in order.
local function ops(f)
  local names = {}
  for i, node in ipairs(f.fgraph:toposort()) do names[i] = node.op.name end
  return table.concat(names, " ")
end

local function dense(v) return sparse.is_sparse(v) and v:toarray() or v end

--- Compiles in every mode, checks that the results are equal, and returns the names of FAST_RUN's Ops.
local function check(inputs, output, values)
  local plain = damo.compile(inputs, output, { mode = "FAST_COMPILE", on_unused_input = "ignore" })
  local want = dense(plain(table.unpack(values)))
  for _, mode in ipairs { "FAST_RUN", "DEBUG" } do
    local f = damo.compile(inputs, output, { mode = mode, on_unused_input = "ignore" })
    assert.is_true(damo.allclose(dense(f(table.unpack(values))), want), mode)
  end
  return ops(damo.compile(inputs, output, { on_unused_input = "ignore" }))
end

for _, format in ipairs(sparse.sparse_formats) do
  describe("of " .. format .. " matrices", function()
    local x, s, t = sparse.matrix(format, "x"), damo.dvector "s", damo.dvector "t"
    local d, c = damo.dmatrix "d", damo.dmatrix "c"
    local a = matrix(format)
    local v, w = damo.array { 1, 2, 3, 4 }, damo.array { 0.5, -1, 2, 1 }
    local dv = damo.reshape(damo.arange(12), { 4, 3 })
    local cv = damo.ones { 4, 3 }

    it("a matrix made of its own parts is the matrix", function()
      local made = sparse.CSM { format = format }(x.data, x.indices, x.indptr, x.shape)
      assert.equal("", check({ x }, made, { a }))
      local other = sparse.CSM { format = format }(x.data * 2, x.indices, x.indptr, x.shape)
      assert.matches("CSM", check({ x }, other, { a }), 1, true)
    end)

    it("values put onto a pattern and read back are the values", function()
      local twice = sparse.with_data(x, sparse.csm_data(sparse.with_data(x, x.data * 2)) + 1)
      assert.equal("SparseData Loop WithData", check({ x }, twice, { a }))
      assert.equal("", check({ x }, sparse.with_data(x, x.data), { a }))
    end)

    it("a pattern is read from its source", function()
      local y = sparse.with_data(sparse.neg(sparse.col_scale(x, s)), x.data + 1)
      assert.equal("SparseData Elemwise WithData", check({ x, s }, y, { a, v }))
      local g = sparse.gather(d, sparse.neg(x))
      assert.equal("GatherData", check({ x, d }, g, { a, damo.reshape(damo.arange(16), { 4, 4 }) }))
    end)

    it("a conversion and its inverse cancel", function()
      assert.equal("", check({ x }, x.T.T, { a }))
      assert.equal("", check({ x }, -(-x), { a }))
      local there = x:tocsr():tocsc():tocsr():tocsc()[format == "csc" and "tocsc" or "tocsr"](x)
      assert.equal("", check({ x }, there, { a }))
      local other, home = format == "csc" and "tocsr" or "tocsc", format == "csc" and "tocsc" or "tocsr"
      assert.equal("EnsureSortedIndices", check({ x }, x[other](x)[home](x[other](x)), { a }))
      assert.equal("", check({ d }, sparse[format .. "_from_dense"](d):toarray(), { dv }))
    end)

    it("scalings are merged", function()
      local y = sparse.col_scale(sparse.col_scale(x, s), t)
      assert.equal("Elemwise ColScaleCSC", check({ x, s, t }, y, { a, v, w }))
      y = sparse.row_scale(sparse.row_scale(x, s), t)
      assert.equal("Elemwise RowScaleCSC", check({ x, s, t }, y, { a, v, w }))
    end)

    it("a product in a sum becomes Usmm, in place if the sum's other operand is not needed", function()
      local name = format == "csc" and "UsmmCscDense" or "UsmmCsrDense"
      for _, dot in ipairs { damo.dot, sparse.structured_dot } do
        assert.equal(name, check({ x, d, c }, 2 * dot(x, d) + c, { a, dv, cv }))
        assert.equal(name, check({ x, d, c }, c - dot(x, d), { a, dv, cv }))
        assert.equal("Elemwise " .. name, check({ x, d, c }, dot(x, d) / 3 - c, { a, dv, cv }))
      end
      local y = damo.exp(damo.sin(c) + damo.dot(x, d))
      local f = damo.compile({ x, d, c }, y)
      local usmm = f.fgraph:toposort()[2].op
      assert.equal(name, usmm.name)
      assert.same({ { 4 } }, usmm.destroy_map)
      check({ x, d, c }, y, { a, dv, cv })
      -- the product is an output too, so nothing is merged
      local both = damo.dot(x, d)
      assert.is_nil(check({ x, d, c }, both * damo.sum(both) + c, { a, dv, cv }):find("Usmm", 1, true))
    end)

    it("Usmm never writes what the caller holds", function()
      local f = damo.compile({ x, d, c }, damo.exp(damo.dot(x, d) + c))
      local mine = damo.ones { 4, 3 }
      f(a, dv, mine)
      assert.is_true(damo.array_equal(mine, damo.ones { 4, 3 }))
    end)

    it("clean, remove0 and ensure_sorted_indices work in place on values not needed elsewhere", function()
      local y = sparse.remove0(sparse.neg(x))
      local f = damo.compile({ x }, sparse.neg(sparse.ensure_sorted_indices(y)))
      local in_place = 0
      for _, node in ipairs(f.fgraph:toposort()) do
        if node.op.inplace then in_place = in_place + 1 end
      end
      assert.is_true(in_place >= 1)
      local before = a:copy()
      check({ x }, sparse.neg(sparse.clean(x)), { a })
      assert.is_true(damo.array_equal(before.data, a.data))
    end)

    it("equal sparse constants become one", function()
      local k1, k2 = damo.constant(a), damo.constant(a:copy())
      local names = check({ d }, damo.dot(k1, d) + damo.dot(k2, d), { dv })
      local _, n = names:gsub("Dot", "")
      assert.is_true(n <= 1, names)
    end)
  end)
end

-- A sum's cotangent has the same value at every position. Multiplied by a matrix, only that matrix's positions matter.
describe("a sum's cotangent", function()
  local n = 2 ^ 40
  local wide = sparse.coo {
    rows = { 1, 2, 3, 3 }, cols = { 5, n, 7, 5 }, values = { 1.5, -2, 3, 4 }, shape = { 3, n },
  }
  local plain = damo.Mode { optimizer = "none" }
  local function both(x, y) return sparse.mul(x, y) end
  local costs = {
    sqr = function(x) return damo.sum(sparse.sqr(x)) end,
    neg = function(x) return damo.sum(-sparse.sin(x)) end,
    product = function(x) return damo.sum(both(x, sparse.sin(x))) end,
    scaled = function(x) return 3 * damo.sum(-both(x, x) * 0.5) end,
    divided = function(x) return damo.mean(both(x, x) / 2) end,
    transposed = function(x) return damo.sum(sparse.sqr(x).T) end,
    cast = function(x) return damo.sum(sparse.cast(sparse.sqr(x), "float32")) end,
  }
  for name, cost in pairs(costs) do
    it("is computed at stored positions only: " .. name, function()
      for _, a in ipairs { wide, wide.T } do
        local x = sparse.matrix(a.format, "x")
        for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE" } do
          local g = damo.compile({ x }, damo.grad(cost(x), x), { mode = mode })(a)
          assert.same(a.shape, g.shape)
        end
      end
    end)
    it("has the same values as at all positions: " .. name, function()
      for _, format in ipairs(sparse.sparse_formats) do
        for _, axis in ipairs { false, 1, 2 } do
          local a = matrix(format)
          local x, w = sparse.matrix(format, "x"), damo.dvector "w"
          local y = axis and damo.sum(damo.sum(both(x, -x), { axis = axis }) * w) or cost(x)
          local g = damo.grad(y, x)
          local inputs, values = { x, w }, { a, damo.array { 1.0, 0, -2, 3 } }
          local want = damo.compile(inputs, g, { mode = plain,
            on_unused_input = "ignore" })(table.unpack(values))
          for _, mode in ipairs { "FAST_RUN", "DEBUG" } do
            local got = damo.compile(inputs, g, { mode = mode, on_unused_input = "ignore" })(table.unpack(values))
            assert.is_true(damo.allclose(got:toarray(), want:toarray()), mode)
          end
        end
      end
    end)
  end

  it("of 0 is absent, also next to infinite values", function()
    local x, t, d = sparse.csr_matrix "x", damo.dscalar "t", damo.dmatrix "d"
    local a = sparse.csr { data = { 1 / 0, 2, 0 / 0 }, indices = { 0, 0, 2 }, indptr = { 0, 1, 3 }, shape = { 2, 3 } }
    local b = damo.full({ 2, 3 }, 1 / 0)
    for _, y in ipairs { both(x, x), sparse.sqr(x) * d, both(x * d, x) } do
      local f = damo.compile({ x, t, d }, damo.grad(damo.sum(y) * t, x), { on_unused_input = "ignore" })
      local p = damo.compile({ x, t, d }, damo.grad(damo.sum(y) * t, x), { mode = plain, on_unused_input = "ignore" })
      for _, cotangent in ipairs { 0.0, 1.0 } do
        assert.is_true(damo.allclose(f(a, cotangent, b):toarray(), p(a, cotangent, b):toarray(), { equal_nan = true }))
      end
    end
  end)

  it("counts duplicates once in a product, and each where they are read", function()
    local x = sparse.csr_matrix "x"
    local a = sparse.csr { data = { 1.0, 3, 2, 5 }, indices = { 0, 1, 0, 0 }, indptr = { 0, 3, 4 }, shape = { 2, 2 } }
    local g = damo.compile({ x }, damo.grad(damo.sum(both(x, x)), x))(a)
    assert.is_true(damo.allclose(g:toarray(), damo.array { { 6.0, 6 }, { 10, 0 } }))
    g = damo.compile({ x }, damo.grad(damo.sum(sparse.sqr(x)), x))(a)
    assert.is_true(damo.allclose(sparse.gather(g, a), damo.array { 2.0, 6, 4, 10 }))
  end)
end)

-- ---- Assumptions of the rules ------------------------------------------------------------------------------------

describe("the parts of a matrix with other values", function()
  local x = sparse.csr_matrix "x"

  it("are those of the matrix, found without the values", function()
    local a = support.matrix { rows = 4, cols = 5, kind = "duplicates" }
    for _, part in ipairs { "csm_indices", "csm_indptr", "csm_shape" } do
      local f = damo.compile({ x }, sparse[part](sparse.structured_exp(sparse.sqr(x))))
      for _, name in ipairs { "WithData", "Elemwise", "SparseData" } do
        for _, node in ipairs(f.fgraph.apply_nodes) do assert.is_true(node.op.name ~= name, part .. ": " .. name) end
      end
      assert.same(sparse[part](a):totable(), f(a):totable())
    end
  end)

  it("are read directly if no node is between", function()
    local a = support.matrix { rows = 4, cols = 5 }
    local f = damo.compile({ x }, { sparse.csm_properties(x) })
    local data, indices, indptr, shape = f(a)
    support.close(data, support.flat(a.data))
    assert.same({ a.indices:totable(), a.indptr:totable(), a.shape },
      { indices:totable(), indptr:totable(), shape:totable() })
  end)
end)

describe("a matrix made from its parts", function()
  local a = support.matrix { rows = 4, cols = 5 }
  local function graph(x, shape)
    return sparse.CSR(sparse.csm_data(x), sparse.csm_indices(x), sparse.csm_indptr(x), shape)
  end
  local function has_csm(f)
    for _, node in ipairs(f.fgraph.apply_nodes) do
      if node.op.name == "CSM" then return true end
    end
    return false
  end
  local known, unknown = sparse.csr_matrix("known", { shape = { 4, 5 } }), sparse.csr_matrix "unknown"
  local function constant(list) return damo.constant(damo.array(list, "int64")) end

  it("is the matrix if the given shape is known to be its own", function()
    local f = damo.compile({ known }, graph(known, constant { 4, 5 }))
    assert.is_false(has_csm(f))
    support.same_storage(f(a), a)
    f = damo.compile({ unknown }, graph(unknown, sparse.csm_shape(unknown)))
    assert.is_false(has_csm(f))
    support.same_storage(f(a), a)
  end)

  it("is another one if it is not", function()
    for _, x in ipairs { known, unknown } do
      local wider = damo.compile({ x }, graph(x, constant { 4, 7 }))
      assert.is_true(has_csm(wider))
      assert.same({ 4, 7 }, wider(a).shape)
    end
    assert.is_true(has_csm(damo.compile({ unknown }, graph(unknown, constant { 4, 5 }))))
    local shape = damo.lvector "shape"
    local f = damo.compile({ known, shape }, graph(known, shape))
    assert.is_true(has_csm(f))
    assert.same({ 4, 6 }, f(a, damo.array({ 4, 6 }, "int64")).shape)
    support.raises("shape", nil, function() f(a, damo.array({ 4, 5, 6 }, "int64")) end)
    support.raises("shape", nil, function() damo.compile({ known }, graph(known, constant { 4, 5, 6 }))(a) end)
  end)
end)

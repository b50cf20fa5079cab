-- Sparse Types with a pattern.
local damo = require "damo"
local s = require "spec.sparse.support"
local sparse = damo.sparse

--- [[1, 0, 2, 0], [0, 0, 3, 4], [0, 0, 0, 0], [5, 6, 0, 7]]; `indices`: other positions, as many.
local function matrix(options)
  local o = options or {}
  return sparse[o.format or "csr"] {
    data = o.data or { 1, 2, 3, 4, 5, 6, 7 }, indices = o.indices or { 0, 2, 2, 3, 0, 1, 3 },
    indptr = o.indptr or { 0, 2, 4, 4, 7 }, shape = o.shape or { 4, 4 }, itype = o.itype or "int32", dtype = o.dtype,
  }
end

local known = "SparseTensorType(csr, float64, shape=(4, 4), pattern of 7)"
local refusal = "expected a value of " .. known .. ", got a sparse matrix (csr) of dtype float64 and shape (4, 4)"

local function ops(f)
  local names = {}
  for i, node in ipairs(f.fgraph:toposort()) do names[i] = node.op.name end
  return table.concat(names, " ")
end

local function dense(v) return sparse.is_sparse(v) and v:toarray() or v end

--- Checks that the results are the same in every mode; returns those of FAST_RUN.
local function everywhere(inputs, outputs, ...)
  local first
  for _, mode in ipairs(s.modes) do
    local results = table.pack(damo.compile(inputs, outputs, { mode = mode })(...))
    first = first or results
    for i = 1, results.n do assert.is_true(damo.array_equal(dense(results[i]), dense(first[i])), mode .. " " .. i) end
  end
  return table.unpack(first, 1, first.n)
end

describe("a Type with a pattern", function()
  it("is one Type for equal patterns, and another for other ones", function()
    local a = matrix()
    local t = sparse.SparseTensorType("csr", "float64", { pattern = a })
    assert.equal(t, sparse.SparseTensorType("csr", "float64", { pattern = matrix { data = { 7, 6, 5, 4, 3, 2, 1 } } }))
    assert.equal(t, sparse.csr_matrix("x", { pattern = a }).type)
    assert.equal(t, sparse.csr_dmatrix("x", { pattern = a * 2 }).type)
    assert.equal(t, sparse.matrix("csr", "x", { pattern = a }).type)
    assert.equal(t, sparse.SparseTensorType("csr", "float64", { pattern = t.pattern }))
    assert.not_equal(t, sparse.SparseTensorType("csr", "float32", { pattern = a }))
    assert.not_equal(t, sparse.SparseTensorType("csr", "float64", { shape = { 4, 4 } }))
    assert.not_equal(t, sparse.SparseTensorType("csr", "float64", { pattern = matrix { itype = "int64" } }))
    assert.not_equal(t, sparse.SparseTensorType("csr", "float64", {
      pattern = matrix { indices = { 0, 2, 2, 3, 0, 1, 2 } },
    }))
    assert.not_equal(t, sparse.SparseTensorType("csc", "float64", { pattern = matrix { format = "csc" } }))
  end)

  it("has the shape, the format and the index dtype of the matrix, and returns the pattern", function()
    for _, format in ipairs(s.formats) do
      for _, itype in ipairs(s.itypes) do
        local shape = format == "csr" and { 4, 5 } or { 5, 4 }
        local a = matrix { format = format, itype = itype, shape = shape }
        local t = sparse.matrix(format, "x", { dtype = "float32", pattern = a }).type
        assert.same({ format, itype, "float32" }, { t.format, t.itype, t.dtype })
        assert.same(shape, t.shape)
        local p = t.pattern
        assert.same({ format, itype, "bool", 7 }, { p.format, p.itype, p.dtype, p.nnz })
        assert.is_true(damo.array_equal(p.indices, a.indices) and damo.array_equal(p.indptr, a.indptr))
        assert.is_true(damo.all(p.data))
        p.data[1] = false
        assert.is_true(damo.all(t.pattern.data))
      end
    end
    assert.is_nil(sparse.csr_matrix("x").type.pattern)
    assert.is_nil(damo.dmatrix("x").type.pattern)
  end)

  it("prints", function()
    local x = sparse.csr_matrix("x", { pattern = matrix() })
    assert.equal(known, tostring(x.type))
    assert.equal("SparseTensorType(csr, float64, shape=(4, 4), itype=int64, pattern of 7)",
      tostring(sparse.csr_matrix("x", { pattern = matrix { itype = "int64" } }).type))
    assert.matches("x %[id A%] <SparseTensorType%(csr, float64, shape=%(4, 4%), pattern of 7%)>",
      damo.printing.debugprint(x, { print_type = true, file = "str" }))
  end)

  it("is a subtype of the same Type without a pattern", function()
    local a = matrix()
    local t = sparse.SparseTensorType("csr", "float64", { pattern = a })
    local open = sparse.SparseTensorType("csr", "float64", { shape = { 4, 4 } })
    local other = sparse.SparseTensorType("csr", "float64", { pattern = sparse.eye(4, 4) })
    assert.is_true(open:is_super(t) and t:is_super(t))
    assert.is_false(t:is_super(open) or t:is_super(other) or other:is_super(t))
    local x, y = t "x", other "y"
    assert.equal(open, damo.ifelse(damo.scalar "c", x, y).type)
    assert.equal(open, damo.ifelse(damo.scalar "c", x, x).type)
    s.raises("type", "compile: the given value of x must be of " .. known
      .. ", got SparseTensorType(csr, float64, shape=(4, 4), pattern of 4)", function()
        damo.compile({ y }, sparse.neg(x), { givens = { [x] = y } })
      end)
  end)

  it("is of leaves only: no result's Type has one", function()
    local x = sparse.csr_matrix("x", { pattern = matrix() })
    for i, y in ipairs { -x, x * 2, x + x, x.T, x.T.T, sparse.ensure_sorted_indices(x), sparse.remove0(x),
      damo.grad(damo.sum(x * x), x), damo.zero_grad(x), damo.disconnected_grad(x), sparse.cast(x, "float32"),
      damo.graph.OpFromGraph({ x }, { x, sparse.neg(x) })(x) } do
      assert.is_nil(y.type.pattern, tostring(i))
    end
  end)

  it("refuses a matrix that is not a pattern for it", function()
    local a = matrix()
    s.raises("type", "csr_matrix: option 'pattern' must be a sparse matrix, got Array", function()
      sparse.csr_matrix("x", { pattern = damo.ones { 4, 4 } })
    end)
    s.raises("type", "csr_fmatrix: option 'pattern' must be a sparse matrix, got Variable", function()
      sparse.csr_fmatrix("x", { pattern = sparse.csr_matrix "y" })
    end)
    s.raises("value", "csc_matrix: the pattern is csr, not csc; its :tocsc() is", function()
      sparse.csc_matrix("x", { pattern = a })
    end)
    s.raises("shape", "SparseTensorType: the pattern has shape (4, 4), not (?, 5)", function()
      sparse.SparseTensorType("csr", "float64", { pattern = a, shape = { false, 5 } })
    end)
    s.raises("value", "matrix: the pattern's indices are int32, not int64", function()
      sparse.matrix("csr", "x", { pattern = a, itype = "int64" })
    end)
    local x = sparse.csr_matrix("x", { pattern = a, itype = "int32", shape = { 4, false }, name = "x" })
    assert.same({ 4, 4 }, x.type.shape)
  end)
end)

describe("values of a Type with a pattern", function()
  for _, format in ipairs(s.formats) do
    for _, itype in ipairs(s.itypes) do
      it("are valid if their entries are those of the pattern: " .. format .. " " .. itype, function()
        local a = matrix { format = format, itype = itype }
        local x = sparse.matrix(format, "x", { pattern = a })
        local other = matrix { format = format, itype = itype, data = { 2, 2, 2, 2, 2, 2, 2 } }
        for _, m in ipairs { a, a * 3, other, a:copy() } do
          assert.is_true(x.type:is_valid_value(m))
          assert.equal(m.nnz, (everywhere({ x }, { sparse.nnz(x), sparse.neg(x) }, m)))
        end
      end)
    end
  end

  it("are converted if that gives the pattern", function()
    local a = matrix()
    local t = sparse.SparseTensorType("csr", "float64", { pattern = a })
    local others = { a:tocsc(), matrix { itype = "int64" }, matrix { dtype = "float32" }, matrix { dtype = "int8" } }
    for _, m in ipairs(others) do
      assert.is_false(t:is_valid_value(m))
      local fit = t:filter(m)
      assert.is_true(t:is_valid_value(fit))
      assert.is_true(damo.array_equal(fit:toarray(), a:toarray()))
    end
    local strict = refusal:gsub("%(csr%)", "(csc)")
    s.raises("type", "filter: " .. strict, function() t:filter(a:tocsc(), { strict = true }) end)
  end)

  it("are refused with the first position that differs", function()
    local x = sparse.csr_matrix("x", { pattern = matrix() })
    local f = damo.compile({ x }, sparse.neg(x))
    local differences = {
      ["; entry 2 of row 2 is in column 2, the pattern's in column 4"] = matrix { indices = { 0, 2, 2, 1, 0, 1, 3 } },
      ["; entry 1 of row 1 is in column 3, the pattern's in column 1"] = matrix { indices = { 2, 0, 2, 3, 0, 1, 3 } },
      ["; row 3 has 1 stored entry, the pattern's 0"] = matrix { indptr = { 0, 2, 4, 5, 7 } },
      ["; row 1 has 0 stored entries, the pattern's 2"] = sparse.from_dense(damo.zeros { 4, 4 }, "csr"),
      ["; row 4 has 2 stored entries, the pattern's 3"] = matrix {
        data = { 1, 2, 3, 4, 5, 6 }, indices = { 0, 2, 2, 3, 0, 1 }, indptr = { 0, 2, 4, 4, 6 },
      },
    }
    for text, m in pairs(differences) do
      s.raises("value", "function: input 1 (x): " .. refusal .. text, function() f(m) end)
    end
    local y = sparse.csc_matrix("y", { pattern = matrix { format = "csc" } })
    local turned = matrix { format = "csc", indices = { 0, 3, 2, 3, 0, 1, 3 } }
    local columns = refusal:gsub("csr", "csc") .. "; entry 2 of column 1 is in row 4, the pattern's in row 3"
    s.raises("value", "filter: " .. columns, function() y.type:filter(turned) end)
    s.raises("shape", nil, function() f(sparse.eye(3, 3)) end)
    s.raises("type", nil, function() f(damo.ones { 4, 4 }) end)
  end)

  it("may be empty, unsorted, have duplicates: the stored order counts", function()
    for _, shape in ipairs { { 0, 0 }, { 0, 3 }, { 3, 0 }, { 2, 3 } } do
      local indptr = {}
      for i = 1, shape[1] + 1 do indptr[i] = 0 end
      local a = matrix { data = {}, indices = {}, indptr = indptr, shape = shape }
      local x = sparse.csr_matrix("x", { pattern = a })
      assert.equal(0, (everywhere({ x }, { sparse.nnz(x) }, a)))
    end
    local a = matrix { indices = { 2, 0, 2, 2, 3, 0, 1 } }
    local x = sparse.csr_matrix("x", { pattern = a })
    local indices, twice = everywhere({ x }, { x.indices, x * 2 }, a)
    assert.is_true(damo.array_equal(indices, a.indices))
    assert.is_true(damo.array_equal(twice:toarray(), a:toarray() * 2))
    assert.is_false(x.type:is_valid_value(sparse.ensure_sorted_indices(a)))
  end)

  it("of a huge shape are valid too", function()
    local a = sparse.coo { rows = { 1, 2 }, cols = { 1, 2 ^ 33 }, values = { 1.5, 2.5 }, shape = { 2, 2 ^ 33 } }
    local x = sparse.csr_matrix("x", { pattern = a })
    assert.same({ 2, 2 ^ 33 }, x.type.shape)
    assert.is_true(x.type:is_valid_value(a))
    local n, y = everywhere({ x }, { sparse.nnz(x), sparse.sp_sum(x * 2) }, a)
    assert.equal(2, n)
    assert.equal(8, y)
  end)

  it("keep the pattern when results are written into them", function()
    local a, b = matrix(), matrix { indices = { 0, 1, 0, 1, 0, 1, 2 } }
    local x, y = sparse.csr_matrix("x", { pattern = a }), sparse.csr_matrix "y"
    local f = damo.compile({ y }, sparse.neg(y))
    f:into(a)(b)
    assert.is_true(damo.array_equal(a.indices, b.indices))
    assert.is_false(x.type:is_valid_value(a))
    assert.is_true(damo.array_equal(x.type.pattern.indices, matrix().indices))
    assert.is_true(x.type:is_valid_value(matrix()))
  end)
end)

describe("a known pattern", function()
  for _, format in ipairs(s.formats) do
    for _, itype in ipairs(s.itypes) do
      it("makes constants of indices, indptr, shape and nnz: " .. format .. " " .. itype, function()
        local a = matrix { format = format, itype = itype }
        local x = sparse.matrix(format, "x", { pattern = a })
        local from = sparse.neg(x)
        local outputs = { from.indices, from.indptr, sparse.csm_shape(from), sparse.nnz(from), x.shape, x.data.shape }
        local i, p, shape, n, x_shape, length = everywhere({ x }, outputs, a)
        assert.is_true(damo.array_equal(i, a.indices) and damo.array_equal(p, a.indptr))
        assert.same({ itype, itype, itype }, { i.dtype, p.dtype, shape.dtype })
        assert.is_true(damo.array_equal(shape, damo.array({ 4, 4 }, itype)))
        assert.is_true(damo.array_equal(x_shape, damo.array({ 4, 4 }, "int64")))
        assert.is_true(damo.array_equal(length, damo.array({ 7 }, "int64")))
        assert.equal(7, n)
        assert.equal("", ops(damo.compile({ x }, outputs)))
        local plain = sparse.matrix(format, "x", { itype = itype })
        assert.not_equal("", ops(damo.compile({ plain }, { plain.indices, sparse.nnz(plain) })))
      end)
    end
  end

  it("does not affect other rewrites", function()
    local a = matrix()
    local x = sparse.csr_matrix("x", { pattern = a })
    for name, y in pairs {
      transpose = x.T.T, neg = -(-x), parts = sparse.CSR(x.data, x.indices, x.indptr, x.shape),
      data = sparse.with_data(x, x.data), marker = damo.zero_grad(x),
    } do
      assert.equal("", ops(damo.compile({ x }, y)), name)
      assert.is_true(damo.array_equal(everywhere({ x }, { y }, a):toarray(), a:toarray()), name)
    end
  end)

  it("is not assumed for a Variable's replacement", function()
    local a, b = matrix(), sparse.eye(4, 4)
    local x, y = sparse.csr_matrix("x", { pattern = a }), sparse.csr_matrix "y"
    local f = damo.compile({ y }, { x.indices, sparse.nnz(x), -x }, { givens = { [x] = y } })
    local indices, n, z = f(b)
    assert.is_true(damo.array_equal(indices, b.indices))
    assert.equal(4, n)
    assert.is_true(damo.array_equal(z:toarray(), -b:toarray()))
    local clone = damo.graph.clone_replace({ x.indices }, { [x] = y })[1]
    assert.is_true(damo.array_equal(damo.compile({ y }, clone)(b), b.indices))
  end)

  it("is checked when passed to an OpFromGraph", function()
    local a = matrix()
    local x, y = sparse.csr_matrix("x", { pattern = a }), sparse.csr_matrix("y", { shape = { 4, 4 } })
    for _, inline in ipairs { false, true } do
      local op = damo.graph.OpFromGraph({ x }, { x.indices, sparse.nnz(x), x }, { inline = inline })
      local i, n, same = op(y)
      local f = damo.compile({ y }, { i, n, same })
      assert.equal(7, select(2, f(a)))
      assert.is_false((pcall(f, sparse.eye(4, 4))))
      local cost = damo.sum(damo.sqr((select(3, op(x)))))
      assert.is_true(damo.allclose(dense(damo.compile({ x }, damo.grad(cost, x))(a)), a:toarray() * 2))
    end
  end)

  it("of a cotangent is assumed only by that gradient of an OpFromGraph", function()
    local a, b = matrix(), sparse.eye(4, 4)
    local y, e, g = sparse.csr_matrix "y", sparse.csr_matrix("e", { pattern = a }), sparse.csr_matrix "g"
    local z = damo.graph.OpFromGraph({ y }, { y * 2 })(y)
    for _, cotangent in ipairs { e, g } do
      local m = cotangent == e and a or b
      local f = damo.compile({ y, cotangent }, damo.grad(nil, y, { known_grads = { [z] = cotangent } }),
        { on_unused_input = "ignore" })
      assert.is_true(damo.allclose(dense(f(a, m)), m:toarray() * 2))
    end
  end)

  it("holds for constants and shared Variables of such a Type", function()
    local a = matrix()
    local t = sparse.SparseTensorType("csr", "float64", { pattern = a })
    local c, w = damo.constant(a, { type = t }), damo.shared(a, "w", { type = t })
    assert.equal(t, c.type)
    assert.equal(t, w.type)
    assert.equal(t, w:clone().type)
    local n, i, sum = everywhere({}, { sparse.nnz(w), w.indices, sparse.add(c, w) })
    assert.equal(7, n)
    assert.is_true(damo.array_equal(i, a.indices))
    assert.is_true(damo.array_equal(sum:toarray(), a:toarray() * 2))
    w:set_value(a * 5)
    assert.equal(5, w:get_value().data[1])
    w:set_value(a:tocsc())
    assert.equal("csr", w:get_value().format)
    s.raises("value", "set_value: " .. refusal .. "; row 1 has 1 stored entry, the pattern's 2",
      function() w:set_value(sparse.eye(4, 4)) end)
    s.raises("value", nil, function() damo.constant(sparse.eye(4, 4), { type = t }) end)
    s.raises("value", nil, function() damo.shared(sparse.eye(4, 4), "v", { type = t }) end)
    assert.is_true(damo.array_equal(w:get_value():toarray(), a:toarray()))
  end)
end)

describe("derivatives for a Variable with a pattern", function()
  local a = matrix()
  local x, v = sparse.csr_matrix("x", { pattern = a }), damo.dvector "v"
  local vector = damo.array { 1, -2, 0.5, 3 }

  it("are the same as without", function()
    local y = sparse.csr_matrix "y"
    for name, cost in pairs {
      dot = function(m) return damo.sum(damo.sqr(damo.dot(m, v))) end,
      structured = function(m) return damo.sum(sparse.structured_dot(m, damo.reshape(v, { 4, 1 }))) end,
      parts = function(m) return damo.sum(sparse.CSR(m.data ^ 2, m.indices, m.indptr, m.shape)) end,
      sum = function(m) return sparse.sp_sum(m * m, { sparse_grad = true }) + damo.sum(v) end,
    } do
      for _, mode in ipairs(s.modes) do
        local function run(m)
          local f = damo.compile({ m, v }, damo.grad(cost(m), m), { mode = mode, on_unused_input = "ignore" })
          return dense(f(a, vector))
        end
        assert.is_true(damo.allclose(run(x), run(y)), name .. " " .. mode)
      end
    end
  end)

  it("are forward ones too, and start from known gradients", function()
    local e = sparse.csr_matrix("e", { pattern = a })
    local tangent = damo.Rop(damo.dot(x, v), x, e)
    local z = everywhere({ x, v, e }, { damo.dot(x, v), tangent }, a, vector, a * 2)
    assert.is_true(damo.allclose(z, damo.dot(a, vector)))
    assert.is_true(damo.allclose(damo.compile({ x, v, e }, tangent, { on_unused_input = "ignore" })(a, vector, a * 2),
      damo.dot(a, vector) * 2))
    local y = x * 3
    local g = damo.grad(nil, x, { known_grads = { [y] = e } })
    assert.is_true(damo.allclose(dense(damo.compile({ x, e }, g, { on_unused_input = "ignore" })(a, a * 2)),
      a:toarray() * 6))
    local direct = damo.grad(nil, x, { known_grads = { [x] = e } })
    assert.is_true(damo.allclose(dense(damo.compile({ e }, direct)(a)), a:toarray()))
  end)

  it("train a shared Variable that keeps its pattern", function()
    for _, mode in ipairs(s.modes) do
      local w = damo.shared(a, "w", { type = x.type })
      local cost = damo.sum(damo.sqr(damo.dot(w, v)))
      local g = sparse.gather(damo.grad(cost, w), w)
      local f = damo.compile({ v }, cost, { updates = { [w] = sparse.with_data(w, w.data - g * 0.01) }, mode = mode })
      local first = f(vector)
      for _ = 1, 5 do f(vector) end
      assert.is_true(f(vector) < first)
      assert.is_true(w.type:is_valid_value(w:get_value()))
    end
  end)

  it("do not allow an update with another pattern: nothing changes then", function()
    local w, n = damo.shared(a, "w", { type = x.type }), damo.shared(0, "n")
    local m = sparse.csr_matrix "m"
    local f = damo.compile({ m }, {}, { updates = { { n, n + 1 }, { w, w + m } }, name = "f" })
    f(a)
    assert.equal(2, w:get_value().data[1])
    local why = refusal .. "; entry 1 of row 2 is in column 2, the pattern's in column 3\nin the update of w by f"
    s.raises("value", why, function() f(sparse.eye(4, 4)) end)
    assert.equal(2, w:get_value().data[1])
    assert.equal(1, n:get_value())
  end)

  it("DEBUG notices a Lua Op's result that its Type does not allow", function()
    local op = damo.Op {
      name = "Forget",
      make_node = function(self, m) return damo.Apply(self, { m }, { m.type() }) end,
      perform = function(_, _, inputs, outputs)
        outputs[1][1] = inputs[1].data[1] > 0 and inputs[1] or sparse.eye(4, 4)
      end,
    }
    for _, mode in ipairs(s.modes) do
      local f = damo.compile({ x }, sparse.neg(op(x)), { mode = mode })
      assert.is_true(damo.array_equal(f(a):toarray(), -a:toarray()))
      assert.is_false((pcall(f, -a)))
    end
  end)
end)

-- Sums and means of sparse matrices: against tables of rows.
local damo = require "damo"
local s = require "spec.sparse.support"
local sparse = damo.sparse

local function total(rows)
  local sum = 0
  for _, row in ipairs(rows) do
    for _, v in ipairs(row) do sum = sum + v end
  end
  return sum
end

local function of_columns(rows)
  local out = {}
  for _, row in ipairs(rows) do
    for j, v in ipairs(row) do out[j] = (out[j] or 0) + v end
  end
  return out
end

local function of_rows(rows)
  local out = {}
  for i, row in ipairs(rows) do out[i] = total { row } end
  return out
end

local cases = {
  { axis = nil, reference = total }, { axis = 1, reference = of_columns }, { axis = 2, reference = of_rows },
}

-- The result's shape is computed without the result: no node of that class is left.
local function check_shape(fn, values, class)
  local vars = s.variables(values)
  local f = damo.compile(vars, fn(table.unpack(vars)).shape, { on_unused_input = "ignore" })
  local want = fn(table.unpack(values))
  s.close(f(table.unpack(values)), type(want) == "userdata" and want.shape or {}, class)
  for _, node in ipairs(f.fgraph:toposort()) do assert.is_nil(tostring(node.op):find(class, 1, true), class) end
end

describe("sp_sum", function()
  for _, case in ipairs(cases) do
    local name = "over axis " .. tostring(case.axis)
    for _, structured in ipairs { false, true } do
      local function sum(x) return sparse.sp_sum(x, { axis = case.axis, sparse_grad = structured }) end
      it(("%s, sparse_grad %s: value and gradients"):format(name, tostring(structured)), function()
        for _, dtype in ipairs { case.axis and "float32" or "float64", "float64", "int8", "uint8", "int64" } do
          for _, m in ipairs(s.matrices(dtype, { fixed = true })) do s.check_value(sum, { m.value }, case.reference) end
        end
        for _, dtype in ipairs { "float64", "complex128" } do
          for _, format in ipairs(s.formats) do
            local values = { s.matrix { format = format, dtype = dtype, kind = "unsorted" } }
            s.check_grad(sum, values)
            s.check_rop(sum, values)
            s.check_second(function(x) return sum(sparse.square(x)) end, values, { tol = 1e-5 })
          end
        end
      end)

      it(("%s, sparse_grad %s: pattern of the gradient"):format(name, tostring(structured)), function()
        for _, format in ipairs(s.formats) do
          local a = s.matrix { format = format }
          local x = sparse.matrix(format, "x")
          local g = damo.grad(damo.sum(sum(x) * 2), x)
          assert.equal(format, g.format)
          local value = damo.compile({ x }, g, { on_unused_input = "ignore" })(a)
          assert.equal(structured and a.nnz or 20, value.nnz)
          s.close(value.data, damo.full({ value.nnz }, 2.0))
        end
      end)
    end
  end

  it("has shapes, also of its gradient, that need no values", function()
    for axis = 1, 2 do
      local function sum(x) return sparse.sp_sum(x, { axis = axis }) end
      check_shape(sum, { s.matrix {} }, "SpSum")
      local x = sparse.csr_matrix "x"
      local f = damo.compile({ x }, damo.grad(damo.sum(sum(x)), x).shape)
      s.close(f(s.matrix {}), { 4, 5 })
      for _, node in ipairs(f.fgraph:toposort()) do assert.is_nil(tostring(node.op):find("SpSum", 1, true)) end
    end
  end)

  it("of empty matrices is 0, of integers int64, of unsigned ones uint64", function()
    for _, format in ipairs(s.formats) do
      assert.equal(0, sparse.sp_sum(sparse.from_dense(damo.zeros { 0, 0 }, format)))
      s.close(sparse.sp_sum(sparse.from_dense(damo.zeros { 0, 3 }, format), { axis = 1 }), { 0, 0, 0 })
    end
    assert.equal("int64", sparse.sp_sum(s.matrix { dtype = "int8" }, { axis = 1 }).dtype)
    assert.equal("uint64", sparse.sp_sum(s.matrix { dtype = "uint8" }, { axis = 1 }).dtype)
    assert.equal("int64", sparse.sp_sum(s.matrix { dtype = "bool" }, { axis = 2 }).dtype)
  end)

  it("sums long rows in blocks", function()
    local n = 100000
    local ones = sparse.csr_from_dense(damo.full({ 1, n }, 0.1))
    assert.near(n / 10, sparse.sp_sum(ones, { axis = 2 })[1], 1e-9)
  end)

  it("drops zeros of the cotangent from the gradient", function()
    local a, x = s.matrix {}, sparse.csr_matrix "x"
    local y = sparse.sp_sum(x, { axis = 1 })
    local g = damo.grad(nil, x, { known_grads = { [y] = damo.constant(damo.array { 1.0, 0, 0, 3, 0 }) } })
    assert.equal(8, damo.compile({ x }, g)(a).nnz)
  end)

  it("works along a huge axis", function()
    local a = s.huge { format = "csr", rows = 4, cols = 33 }
    local want = {}
    for i = 1, 16 do want[i] = i <= 4 and i + 0.5 or 0 end
    s.close(sparse.sp_sum(a, { axis = 2 }), want)
    assert.equal(12, sparse.sp_sum(a))
    local x = sparse.csr_matrix "x"
    local g = damo.grad(sparse.sp_sum(x, { sparse_grad = true }), x)
    assert.equal(4, damo.compile({ x }, g)(a).nnz)
  end)

  it("refuses at once a gradient with more entries than memory holds, and allows one without entries", function()
    local a, x, w = s.huge { format = "csr", rows = 4, cols = 40 }, sparse.csr_matrix "x", damo.dscalar "w"
    local f = damo.compile({ x, w }, damo.grad(w * sparse.sp_sum(x), x), { on_unused_input = "ignore" })
    damo.config.memory_cap = damo.memory().bytes + 2 ^ 24
    local ok, err = pcall(f, a, 2.0)
    local none = f(a, 0.0)
    damo.config.memory_cap = 0
    assert.is_false(ok)
    assert.equal("memory", err.kind)
    assert.same({ 0, a.shape[1], a.shape[2] }, { none.nnz, none.shape[1], none.shape[2] })
  end)

  it("does not merge sums with different sparse_grad", function()
    local x = sparse.csr_matrix "x"
    local f = damo.compile({ x }, { sparse.sp_sum(x), sparse.sp_sum(x, { sparse_grad = true }), sparse.sp_sum(x) })
    local found = {}
    for _, node in ipairs(f.fgraph:toposort()) do found[#found + 1] = tostring(node.op) end
    table.sort(found)
    assert.same({ "SpSum{sparse_grad=false}", "SpSum{sparse_grad=true}" }, found)
  end)

  it("is structured by default as a class, regular as a function", function()
    local a, x = s.matrix {}, sparse.csr_matrix "x"
    local function entries(y) return damo.compile({ x }, damo.grad(y, x), { on_unused_input = "ignore" })(a).nnz end
    assert.equal(a.nnz, entries(sparse.SpSum {}(x)))
    assert.equal(20, entries(sparse.sp_sum(x)))
  end)

  it("refuses wrong arguments", function()
    local a = s.matrix {}
    for _, axis in ipairs { 0, 3, -1 } do
      s.raises("index", ("sp_sum: axis %d of a matrix: 1 sums each column, 2 each row, nil all"):format(axis),
        function() sparse.sp_sum(a, { axis = axis }) end)
    end
    s.raises("index", "SpSum: the axis is nil, 1 or 2", function() sparse.SpSum { axis = 3 } end)
    s.raises("type", nil, function() sparse.sp_sum(damo.array { 1.0 }) end)
  end)
end)

describe("sum and mean of a sparse matrix", function()
  it("take the dense functions' options", function()
    for _, m in ipairs(s.matrices("float64", { fixed = true })) do
      local a, d = m.value, sparse.toarray(m.value)
      for _, o in ipairs { { keepdims = false }, { axis = 1 }, { axis = -1 }, { axis = { 1, 2 } },
        { axis = 2, keepdims = true }, { axis = 1, keepdims = true }, { keepdims = true },
        { axis = 1, dtype = "float32" } } do
        for _, name in ipairs { "sum", "mean" } do
          local got, want = damo[name](a, o), damo[name](d, o)
          s.close(got, s.flat(want), m.name .. " " .. name, o.dtype and 1e-5)
          if type(want) == "userdata" then
            assert.same(want.shape, got.shape)
            assert.equal(want.dtype, got.dtype)
          end
        end
      end
    end
    s.raises("value", "sparse.sum: the list of axes is empty", function() damo.sum(s.matrix {}, { axis = {} }) end)
  end)

  it("mean has a gradient at every position", function()
    s.check_grad(function(x) return damo.mean(x, { axis = 2 }) end, { s.matrix {} })
    sparse.verify_grad_sparse(function(x) return damo.mean(x) end, { s.matrix {} })
    assert.equal("float64", damo.mean(s.matrix { dtype = "int32" }, { axis = 1 }).dtype)
  end)
end)

describe("the tangent of a sum's gradient", function()
  local x = sparse.csr_matrix "x"
  local a = s.matrix { rows = 4, cols = 5 }

  it("is the cotangent's tangent, broadcast as the gradient is", function()
    for _, structured in ipairs { true, false } do
      for axis, n in pairs { [1] = 5, [2] = 4 } do
        local v, t = damo.dvector "v", damo.dvector "t"
        local sum = sparse.sp_sum(x, { axis = axis, sparse_grad = structured })
        local slope = damo.grad(damo.sum(sum * v), x)
        assert.equal("SpSumGrad", slope.owner.op.name)
        local tangent = damo.Rop(slope, v, t)
        for _, mode in ipairs(s.modes) do
          local f = damo.compile({ x, v, t }, { tangent, slope }, { mode = mode, on_unused_input = "ignore" })
          local moved, own = f(a, s.vector(n, "float64", 3), s.vector(n, "float64", 8))
          local _, want = f(a, s.vector(n, "float64", 8), damo.zeros { n })
          s.close(moved, s.flat(want), mode)
          assert.is_false(damo.allclose(moved:toarray(), own:toarray()))
        end
      end
      local c, t = damo.dscalar "c", damo.dscalar "t"
      local slope = damo.grad(sparse.sp_sum(x, { sparse_grad = structured }) * c, x)
      local moved = damo.compile({ x, c, t }, damo.Rop(slope, c, t), { on_unused_input = "ignore" })(a, 2, 3)
      s.close(moved, s.flat(structured and sparse.sp_ones_like(a) * 3 or damo.full({ 4, 5 }, 3.0)))
    end
  end)

  it("does not depend on the matrix's values, only on its pattern", function()
    local v = damo.dvector "v"
    local slope = damo.grad(damo.sum(sparse.sp_sum(x, { axis = 1, sparse_grad = true }) * v), x)
    assert.has_error(function()
      local y = sparse.csr_matrix "y"
      assert(damo.Rop(slope, x, y), "nothing moves")
    end)
  end)
end)

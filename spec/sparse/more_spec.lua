-- Triangles, traces, norms, Kronecker products, block diagonals, extremes, powers, permutations: against dense tables.
local damo = require "damo"
local s = require "spec.sparse.support"
local sparse = damo.sparse

local function map(rows, f)
  local out = {}
  for i, row in ipairs(rows) do
    out[i] = {}
    for j, v in ipairs(row) do out[i][j] = f(v, i, j) end
  end
  return out
end

local function transposed(rows)
  local out = {}
  for i, row in ipairs(rows) do
    for j, v in ipairs(row) do
      out[j] = out[j] or {}
      out[j][i] = v
    end
  end
  return out
end

local function check_derivatives(fn, values, o)
  s.check_grad(fn, values, o)
  s.check_rop(fn, values, o)
end

-- The result's shape is known without computing it: no node of that class is left.
local function check_shape(fn, values, class)
  local vars = s.variables(values)
  local f = damo.compile(vars, fn(table.unpack(vars)).shape, { on_unused_input = "ignore" })
  local want = fn(table.unpack(values))
  s.close(f(table.unpack(values)), type(want) == "userdata" and want.shape or {}, class)
  for _, node in ipairs(f.fgraph:toposort()) do assert.is_nil(tostring(node.op):find(class, 1, true), class) end
end

local kinds = { "plain", "unsorted", "duplicates", "zeros", "nnz0" }

-- fn of square matrices of every format, dtype and kind against the dense computation.
local function check_all(fn, reference, dtypes, rows, cols)
  for _, dtype in ipairs(dtypes or { "float64", "int64" }) do
    for _, format in ipairs(s.formats) do
      for k, kind in ipairs(kinds) do
        local itype = s.itypes[k % 2 + 1]
        local m = s.matrix { format = format, dtype = dtype, kind = kind, itype = itype, rows = rows, cols = cols }
        s.check_value(fn, { m }, reference)
      end
    end
  end
end

describe("tril and triu", function()
  for k = -2, 3 do
    it(("keep diagonals on one side of %d"):format(k), function()
      local function low(x) return sparse.tril(x, { k = k }) end
      local function high(x) return sparse.triu(x, { k = k }) end
      check_all(low, function(a) return map(a, function(v, i, j) return j - i <= k and v or 0 end) end)
      check_all(high, function(a) return map(a, function(v, i, j) return j - i >= k and v or 0 end) end)
      for _, format in ipairs(s.formats) do
        for _, dtype in ipairs { "float64", "complex128" } do
          check_derivatives(low, { s.matrix { format = format, dtype = dtype } })
          check_derivatives(high, { s.matrix { format = format, dtype = dtype } })
        end
      end
    end)
  end

  it("have second derivatives, and are what the tensor functions call", function()
    s.check_second(function(x) return sparse.square(damo.tril(x)) end, { s.matrix {} }, { tol = 1e-5 })
    local a = s.matrix {}
    s.same_storage(damo.triu(a, { k = 1 }), sparse.triu(a, { k = 1 }))
    assert.equal(0, sparse.tril(a, { k = math.mininteger }).nnz)
    assert.equal(a.nnz, sparse.tril(a, { k = math.maxinteger }).nnz)
  end)

  it("work on huge shapes", function()
    assert.equal(4, sparse.triu(s.huge { rows = 4, cols = 33 }).nnz)
    assert.equal(0, sparse.tril(s.huge { rows = 4, cols = 33 }).nnz)
  end)
end)

describe("trace", function()
  local function reference(a)
    local sum = 0
    for i = 1, math.min(#a, #a[1]) do sum = sum + a[i][i] end
    return sum
  end
  it("is the sum of the main diagonal, of any shape", function()
    check_all(sparse.trace, reference)
    check_all(sparse.trace, reference, nil, 5, 3)
    assert.equal(0, sparse.trace(sparse.csr_from_dense(damo.zeros { 0, 0 })))
  end)
  it("has gradients at every place of the diagonal", function()
    for _, format in ipairs(s.formats) do
      for _, dtype in ipairs { "float64", "complex128" } do
        check_derivatives(sparse.trace, { s.matrix { format = format, dtype = dtype } })
      end
    end
    sparse.verify_grad_sparse(sparse.trace, { s.matrix {} })
    s.check_second(function(x) return damo.sqr(sparse.trace(x)) end, { s.matrix {} }, { tol = 1e-5 })
  end)
end)

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
    for _, kind in ipairs(kinds) do
      for _, format in ipairs(s.formats) do
        for _, other in ipairs(s.formats) do
          local a = s.matrix { rows = 2, cols = 3, format = format, kind = kind }
          local b = s.matrix { rows = 3, cols = 2, format = other, seed = 5 }
          assert.equal(format, s.check_value(sparse.kron, { a, b }, reference).format)
          check_derivatives(sparse.kron, { a, b }, { tol = 1e-5 })
        end
      end
    end
    s.check_second(sparse.kron, { s.matrix { rows = 2, cols = 2 }, s.matrix { rows = 2, cols = 3 } }, { tol = 1e-5 })
    local c = s.matrix { rows = 2, cols = 2, dtype = "complex128" }
    check_derivatives(sparse.kron, { c, c }, { tol = 1e-5 })
  end)
  it("widens indices, and refuses what no index reaches", function()
    local a = s.huge { rows = 4, cols = 20 }
    local got = sparse.kron(a, a)
    assert.equal("int64", got.itype)
    assert.equal(16, got.nnz)
    local b = s.huge { rows = 4, cols = 33 }
    s.raises("value", "kron: the product of shapes (16, 8589934592) and (16, 8589934592) is too large",
      function() sparse.kron(b, b) end)
    s.raises("type", nil, function() sparse.kron(a, damo.array { { 1.0 } }) end)
  end)
end)

describe("norm", function()
  local function size(v) return math.abs(v) end
  local function column_sum(a)
    local most = 0
    for _, column in ipairs(transposed(a)) do
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
    inf = function(a) return column_sum(transposed(a)) end,
  }
  for order, reference in pairs(references) do
    it("of order " .. order, function()
      check_all(function(x) return sparse.norm(x, order) end, reference)
      check_derivatives(function(x) return sparse.norm(x, order) end, { s.matrix {} }, { tol = 1e-5 })
      check_derivatives(function(x) return sparse.norm(x, { ord = order }) end,
        { s.matrix { format = "csc", kind = "duplicates" } }, { tol = 1e-5 })
    end)
  end
  it("takes infinity as a number, complex values, and refuses other orders", function()
    local a = s.matrix {}
    assert.equal(sparse.norm(a, "inf"), sparse.norm(a, math.huge))
    local c = sparse.csr_from_dense(damo.complex(damo.array { { 3.0, 0 } }, damo.array { { 4.0, 0 } }))
    assert.near(5, sparse.norm(c), 1e-14)
    check_derivatives(sparse.norm, { s.matrix { dtype = "complex128" } }, { tol = 1e-5 })
    s.raises("value", "sparse.norm: ord must be 'fro', 1 or 'inf'", function() sparse.norm(a, 2) end)
    s.check_second(sparse.norm, { a }, { tol = 1e-4 })
  end)
end)

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
      for _, kind in ipairs(kinds) do
        local a = s.matrix { rows = 2, cols = 3, kind = kind }
        local b = s.matrix { rows = 3, cols = 2, format = "csc", itype = "int64" }
        assert.equal(format, s.check_value(fn, { a, b, a }, reference).format)
        check_derivatives(fn, { a, b })
      end
      local function squared(...) return sparse.square(fn(...)) end
      s.check_second(squared, { s.matrix { rows = 2, cols = 2 } }, { tol = 1e-5 })
    end
    local a = s.matrix { dtype = "float32", format = "csc" }
    assert.equal("csc", sparse.block_diag({ a, s.matrix { dtype = "int8" } }).format)
    assert.equal("complex128", sparse.block_diag({ a, s.matrix { dtype = "complex128" } }).dtype)
  end)
  it("says what is wrong", function()
    s.raises("value", "sparse.block_diag: there are no blocks", function() sparse.block_diag {} end)
    s.raises("type", nil, function() sparse.block_diag { s.matrix {}, damo.array { { 1.0 } } } end)
    s.raises("value", "BlockDiag: the format is 'csc' or 'csr', not 'dia'",
      function() sparse.block_diag({ s.matrix {} }, { format = "dia" }) end)
  end)
end)

describe("max, min, argmax, argmin", function()
  local better = { max = function(v, w) return v > w end, min = function(v, w) return v < w end }
  local function along(name, position)
    return function(list)
      local best = 1
      for k, v in ipairs(list) do
        if better[name](v, list[best]) then best = k end
      end
      return position and best or list[best]
    end
  end
  local function each(rows, f)
    local out = {}
    for i, row in ipairs(rows) do out[i] = f(row) end
    return out
  end
  local function joined(rows)
    local out = {}
    for _, row in ipairs(rows) do
      for _, v in ipairs(row) do out[#out + 1] = v end
    end
    return out
  end
  for _, name in ipairs { "max", "min" } do
    for _, position in ipairs { false, true } do
      local own = (position and "arg" or "") .. name
      it(own .. " counts absent entries as 0", function()
        local pick = along(name, position)
        check_all(function(x) return sparse[own](x) end, function(a) return pick(joined(a)) end)
        check_all(function(x) return sparse[own](x, { axis = 2 }) end, function(a) return each(a, pick) end)
        check_all(function(x) return damo[own](x, { axis = 1 }) end, function(a) return each(transposed(a), pick) end)
        local full = sparse.csr_from_dense(damo.array { { -1.0, -2.0 }, { -3.0, -4.0 } })
        local function rows(x) return sparse[own](x, { axis = -1 }) end
        s.check_value(rows, { full }, function(a) return each(a, pick) end)
      end)
    end
    it(name .. " has gradients at the entries that it is", function()
      for _, format in ipairs(s.formats) do
        for _, axis in ipairs { 1, 2, false } do
          local function fn(x) return sparse[name](x, axis and { axis = axis } or nil) end
          check_derivatives(fn, { s.matrix { format = format, kind = "unsorted" } })
        end
      end
      s.check_second(function(x) return damo.sqr(sparse[name](x, { axis = 1 })) end, { s.matrix {} }, { tol = 1e-5 })
    end)
  end
  it("give nan where there is one, and compare large integers exactly", function()
    local a = sparse.csr_from_dense(damo.array { { 5.0, 0 / 0, -1 } })
    for _, name in ipairs { "max", "min" } do
      local v = sparse[name](a)
      assert.is_true(v ~= v)
      assert.equal(2, sparse["arg" .. name](a))
    end
    local big = sparse.csr { data = damo.array({ 9007199254740992, 9007199254740993 }, "int64"), indices = { 0, 1 },
      indptr = { 0, 2 }, shape = { 1, 2 } }
    assert.equal(2, sparse.argmax(big))
    local u = sparse.cast(big, "uint64")
    assert.equal(2, sparse.argmax(u))
    assert.equal(1, sparse.argmin(u))
  end)
  it("say what is wrong", function()
    s.raises("value", "the max of shape (0, 0) does not exist: it has no elements",
      function() sparse.max(sparse.csr_from_dense(damo.zeros { 0, 0 })) end)
    s.raises("type", "max is not defined for complex128", function() sparse.max(s.matrix { dtype = "complex128" }) end)
    s.raises("index", nil, function() sparse.max(s.matrix {}, { axis = 3 }) end)
  end)
end)

describe("shapes", function()
  it("are known without computing", function()
    local a, b = s.matrix {}, s.matrix { rows = 3, cols = 2, seed = 4 }
    check_shape(sparse.tril, { a }, "Band")
    check_shape(sparse.kron, { a, b }, "Kron")
    check_shape(function(x, y) return sparse.block_diag { x, y } end, { a, b }, "BlockDiag")
    check_shape(function(x) return sparse.permute(x, { 4, 3, 2, 1 }, { 2, 1, 3, 4, 5 }) end, { a }, "Permute")
    check_shape(function(x) return sparse.power(x, 0) end, { s.matrix { rows = 3, cols = 3 } }, "EyeLike")
    for axis = 1, 2 do
      check_shape(function(x) return sparse.max(x, { axis = axis }) end, { a }, "SpExtremum")
      check_shape(function(x) return sparse.argmin(x, { axis = axis }) end, { a }, "SpExtremum")
    end
  end)
end)

describe("power", function()
  local function dot(a, b)
    return map(a, function(_, i, j)
      local sum = 0
      for k = 1, #b do sum = sum + a[i][k] * b[k][j] end
      return sum
    end)
  end
  for n = 0, 5 do
    it("of " .. n .. " factors", function()
      local function fn(x) return sparse.power(x, n) end
      check_all(fn, function(a)
        local out = map(a, function(_, i, j) return i == j and 1 or 0 end)
        for _ = 1, n do out = dot(out, a) end
        return out
      end, nil, 4, 4)
      if n > 0 then check_derivatives(fn, { s.matrix { rows = 3, cols = 3 } }, { tol = 1e-4 }) end
    end)
  end
  it("says what is wrong", function()
    local a = s.matrix { rows = 3, cols = 3 }
    s.raises("value", "sparse.power: the power must be an integer of 0 or more", function() sparse.power(a, -1) end)
    s.raises("shape", "sparse.power: shape (4, 5) is not square", function() sparse.power(s.matrix {}, 2) end)
  end)
end)

describe("permute", function()
  local rows, cols = { 3, 1, 4, 2 }, { 5, 1, 2, 3, 4 }
  it("orders rows and columns anew", function()
    local function fn(x) return sparse.permute(x, rows, cols) end
    check_all(fn, function(a) return map(a, function(_, i, j) return a[rows[i]][cols[j]] end) end)
    for _, format in ipairs(s.formats) do
      check_derivatives(fn, { s.matrix { format = format } })
      check_derivatives(fn, { s.matrix { format = format, dtype = "complex128" } })
    end
    s.check_second(function(x) return sparse.square(fn(x)) end, { s.matrix {} }, { tol = 1e-5 })
  end)
  it("takes positions as Variables", function()
    local r, x = damo.tensor("r", { dtype = "int64", ndim = 1 }), sparse.csr_matrix "x"
    local f = damo.compile({ x, r }, sparse.permute(x, r, damo.constant(damo.array(cols, "int64"))))
    local a = s.matrix {}
    s.same_storage(f(a, damo.array(rows, "int64")), sparse.permute(a, rows, cols))
  end)
  it("says what is wrong", function()
    local a = s.matrix {}
    s.raises("value", "permute: rows is no permutation of 1 to 4: entry 2 is 1, for the second time",
      function() sparse.permute(a, { 1, 1, 2, 3 }, cols) end)
    s.raises("value", "permute: cols is no permutation of 1 to 5: entry 5 is 6",
      function() sparse.permute(a, rows, { 1, 2, 3, 4, 6 }) end)
    s.raises("shape", nil, function() sparse.permute(a, { 1, 2 }, cols) end)
  end)
end)

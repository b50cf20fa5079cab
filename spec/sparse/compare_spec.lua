-- Comparisons with a sparse operand: the result is sparse bool, or dense bool with a dense operand.

local damo = require "damo"
local s = require "spec.sparse.support"
local sp = damo.sparse

local relations = {
  eq = function(a, b) return a == b end,
  neq = function(a, b) return a ~= b end,
  lt = function(a, b) return a < b end,
  le = function(a, b) return a <= b end,
  gt = function(a, b) return a > b end,
  ge = function(a, b) return a >= b end,
}
local classes = {
  eq = "Equal", neq = "NotEqual", lt = "LessThan", le = "LessEqual", gt = "GreaterThan", ge = "GreaterEqual",
}
local names = { "eq", "neq", "lt", "le", "gt", "ge" }

local function each_entry(op)
  return function(x, y)
    local out = {}
    for i, row in ipairs(x) do
      out[i] = {}
      for j, v in ipairs(row) do out[i][j] = op(v, type(y) == "table" and y[i][j] or y) end
    end
    return out
  end
end

local function count_true(z)
  local n = 0
  for _, v in ipairs(s.flat(z)) do n = n + v end
  return n
end

local function with_places(list)
  local out = {}
  for _, m in ipairs(list) do
    if m.value.shape[1] * m.value.shape[2] > 0 then out[#out + 1] = m end
  end
  return out
end

-- A matrix of integers, so that some entries are equal.
local function whole(m)
  return m.dtype:find "float" and sp.with_data(m, damo.round(m.data)) or m
end

for _, name in ipairs(names) do
  describe(name, function()
    local fn, holds = sp[name], each_entry(relations[name])

    it("compares two sparse matrices, storing only true", function()
      for _, dtype in ipairs { "float32", "float64", "int64", "uint8" } do
        for _, m in ipairs(with_places(s.matrices(dtype))) do
          local x, shape = whole(m.value), m.value.shape
          local y = whole(s.matrix { dtype = dtype, format = m.format, rows = shape[1], cols = shape[2], seed = 21 })
          local z = s.check_value(fn, { x, y }, holds)
          assert.equal("bool", z.dtype)
          assert.equal(m.format, z.format)
          assert.equal(count_true(z), z.nnz)
          s.check_value(fn, { x, x }, holds)
        end
      end
    end)

    it("compares every kind of storage with every other, of bool too", function()
      for _, dtype in ipairs { "float64", "int8", "bool" } do
        for _, m in ipairs(s.matrices(dtype, { fixed = true })) do
          local x = whole(m.value)
          s.close(fn(x, sp.with_data(x, x.data)), damo[name](x:toarray(), x:toarray()), m.name)
          for _, n in ipairs(s.matrices(dtype, { fixed = true, seed = 21 })) do
            if m.format == n.format then
              local y = whole(n.value)
              local z = fn(x, y)
              s.close(z, damo[name](x:toarray(), y:toarray()), m.name .. " and " .. n.name)
              assert.equal(count_true(z), z.nnz)
              s.same_storage(z, sp.ensure_sorted_indices(z))
            end
          end
        end
      end
    end)

    it("compares with a dense matrix on either side", function()
      for _, dtype in ipairs { "float32", "float64", "int64" } do
        for _, m in ipairs(with_places(s.matrices(dtype))) do
          local y = damo.round(s.dense(m.value.shape[1], m.value.shape[2], dtype))
          local z = s.check_value(fn, { whole(m.value), y }, holds)
          assert.equal("bool", z.dtype)
          s.check_value(fn, { y, whole(m.value) }, holds)
        end
      end
    end)

    it("compares with a number", function()
      for _, kind in ipairs { "plain", "duplicates", "zeros", "unsorted", "nnz0" } do
        for _, format in ipairs(s.formats) do
          for _, number in ipairs { -1, 0, 0.5, 2 } do
            local x = whole(s.matrix { kind = kind, format = format })
            local z = s.same_everywhere(function(a) return fn(a, number) end, { x })[1]
            s.close(z, s.flat(damo.array(holds(s.todense(x), number))))
            assert.equal(count_true(z), z.nnz)
            s.close(fn(number, x), s.flat(damo.array(each_entry(function(a, b)
              return relations[name](b, a)
            end)(s.todense(x), number))))
          end
        end
      end
      local x, a = sp.csr_matrix "x", damo.scalar "a"
      local f = damo.compile({ x, a }, fn(x, a))
      local A = s.matrix {}
      s.same_storage(f(A, 0.25), fn(A, 0.25))
    end)

    it("has no gradient", function()
      local x, y = sp.csr_matrix "x", sp.csr_matrix "y"
      local cost = damo.sum(sp.toarray(sp.cast(fn(x, y), { dtype = "float64" })))
      local g = damo.grad(cost, x, { disconnected_inputs = "ignore", return_disconnected = "none" })
      assert.is_nil(g)
    end)

    it("names its classes", function()
      local x, d = sp.csr_matrix "x", damo.matrix "d"
      assert.equal(classes[name] .. "SS", fn(x, x).owner.op.name)
      assert.equal(classes[name] .. "SD", fn(x, d).owner.op.name)
    end)

    it("refuses other shapes, formats and ranks", function()
      local x = s.matrix {}
      s.raises("shape", nil, function() return fn(x, s.matrix { rows = 5, cols = 4 }) end)
      s.raises("shape", nil, function() return fn(x, damo.ones { 5, 4 }) end)
      s.raises("type", nil, function() return fn(x, damo.ones { 5 }) end)
      s.raises("type", nil, function() return fn(damo.ones { 2 }, damo.ones { 2 }) end)
      s.raises("type", classes[name] .. "SS: the operands must have one format, got csr and csc; convert one of them",
        function() return fn(x, x:tocsc()) end)
      local a, b, d = sp.csr_matrix "a", sp.csr_matrix "b", damo.matrix "d"
      local f, g = damo.compile({ a, b }, fn(a, b)), damo.compile({ a, d }, fn(a, d))
      s.raises("shape", classes[name] .. "SS: shapes (4, 5) and (3, 5) are not equal",
        function() return f(x, s.matrix { rows = 3, cols = 5 }) end)
      s.raises("shape", classes[name] .. "SD: shapes (4, 5) and (1, 5) are not equal",
        function() return g(x, damo.ones { 1, 5 }) end)
    end)
  end)
end

describe("comparisons", function()
  it("treat nan as unequal to everything, itself too", function()
    local x = s.matrix {}
    local nan = sp.with_data(x, damo.full(x.data.shape, 0 / 0))
    assert.equal(x.nnz, sp.neq(nan, nan).nnz)
    assert.equal(20 - x.nnz, sp.eq(nan, nan).nnz)
    assert.equal(20 - x.nnz, sp.le(nan, nan).nnz)
    assert.equal(0, sp.lt(nan, nan).nnz + sp.gt(nan, nan).nnz)
    assert.equal(0, sp.eq(x, 0 / 0).nnz)
    assert.equal(20, sp.neq(x, 0 / 0).nnz)
    assert.equal(0, count_true(sp.eq(nan, damo.full({ 4, 5 }, 0 / 0))))
  end)

  it("order complex numbers by their real parts, then by the imaginary ones", function()
    local x = s.matrix { dtype = "complex128" }
    assert.equal(20, sp.eq(x, x).nnz)
    assert.equal(x.nnz, sp.neq(x, sp.conj(x)).nnz)
    local y = s.matrix { dtype = "complex128", seed = 21 }
    for _, name in ipairs { "lt", "le", "gt", "ge" } do
      assert.is_true(damo.array_equal(sp.toarray(sp[name](x, y)), damo[name](x:toarray(), y:toarray())))
      assert.is_true(damo.array_equal(sp[name](x, y:toarray()), damo[name](x:toarray(), y:toarray())))
    end
    assert.equal(0, sp.lt(x, x).nnz)
    assert.equal(20, sp.le(x, x).nnz)
  end)

  it("promote dtypes and index dtypes", function()
    local x, y = s.matrix { dtype = "int8" }, s.matrix { dtype = "float32", itype = "int64" }
    local z = s.same_everywhere(sp.gt, { x, y })[1]
    s.close(z, damo.gt(x:toarray(), y:toarray()))
    assert.equal("int64", z.itype)
    assert.equal("int32", sp.eq(x, x).itype)
  end)

  it("of a matrix without entries or elements", function()
    for _, shape in ipairs { { 0, 0 }, { 0, 3 }, { 3, 0 } } do
      local x = s.matrix { rows = shape[1], cols = shape[2] }
      assert.equal(0, s.same_everywhere(sp.eq, { x, x })[1].nnz)
      assert.same(shape, s.same_everywhere(sp.ge, { x, damo.ones(shape) })[1].shape)
      assert.equal(0, s.same_everywhere(function(a) return sp.le(a, 1) end, { x })[1].nnz)
    end
  end)

  it("need no memory for positions with false", function()
    local n = 2 ^ 33
    local x = sp.coo { rows = { 1, 2 }, cols = { 5, n }, values = { 3.0, 2.0 }, shape = { 2, n } }
    assert.equal(1, sp.gt(x, 2).nnz)
    assert.equal(2, sp.neq(x, x * 2).nnz)
    assert.equal(0, sp.lt(x, x).nnz)
  end)

  it("are called by the tensor functions", function()
    local x = s.matrix {}
    s.same_storage(damo.gt(x, 0), sp.gt(x, 0))
    s.close(damo.lt(damo.ones { 4, 5 }, x), sp.gt(x, damo.ones { 4, 5 }))
  end)
end)

describe("maximum and minimum of two sparse matrices", function()
  local function by(choose)
    return function(x, y)
      local out = {}
      for i, row in ipairs(x) do
        out[i] = {}
        for j, v in ipairs(row) do out[i][j] = choose(v, y[i][j]) end
      end
      return out
    end
  end
  for name, choose in pairs { maximum = math.max, minimum = math.min } do
    local f = damo[name]
    it(name .. " stays sparse, absent entries counting as 0", function()
      for _, dtype in ipairs { "float32", "float64", "int32" } do
        for _, m in ipairs(s.matrices(dtype, { fixed = true })) do
          for _, format in ipairs(s.formats) do
            local y = s.matrix { dtype = dtype, format = format, seed = 21 }
            local got = s.check_value(f, { m.value, y }, by(choose))
            assert.equal(m.format, got.format)
            assert.equal(dtype, got.dtype)
            assert.equal(got.nnz, sp.remove0(got).nnz)
          end
        end
      end
    end)

    it(name .. " has the derivatives of the dense one, ties too", function()
      local a, b = s.matrix {}, s.matrix { format = "csc", seed = 21 }
      local x, y, u, v = sp.csr_matrix "x", sp.csc_matrix "y", damo.dmatrix "u", damo.dmatrix "v"
      local w = damo.constant(s.dense(4, 5))
      local sparse_cost, dense_cost = damo.sum(f(x, y) * w), damo.sum(f(u, v) * w)
      local g = damo.compile({ u, v }, damo.grad(dense_cost, { u, v }))
      local want = { g(a:toarray(), b:toarray()) }
      local got = { damo.compile({ x, y }, damo.grad(sparse_cost, { x, y }), { mode = "DEBUG" })(a, b) }
      s.close(sp.gather(got[1], a), sp.gather(want[1], a))
      s.close(sp.gather(got[2], b), sp.gather(want[2], b))
      local twice = { damo.compile({ x, y }, damo.grad(sparse_cost, { x, y }))(a, a:tocsc()) }
      want = { g(a:toarray(), a:toarray()) }
      s.close(sp.gather(twice[1], a), sp.gather(want[1], a))
    end)
  end

  for name, choose in pairs { maximum = math.max, minimum = math.min } do
    local f, sign = damo[name], name == "maximum" and -1 or 1
    it(name .. " with a constant that leaves 0 as it is", function()
      for _, dtype in ipairs { "float32", "float64", "int32" } do
        for _, m in ipairs(s.matrices(dtype, { fixed = true })) do
          for _, v in ipairs { 0, sign, 100 * sign } do
            local function dense(x) return by(choose)(x, by(function() return v end)(x, x)) end
            local got = s.check_value(function(x) return f(x, v) end, { m.value }, dense)
            assert.same({ m.format, dtype, m.value.itype }, { got.format, got.dtype, got.itype })
            assert.equal(got.nnz, sp.remove0(got).nnz)
            s.same_storage(f(v, m.value), got)
            s.same_storage(f(m.value, damo.array(v, dtype)), got)
          end
        end
      end
      local half = f(s.matrix { dtype = "int32" } * sign, 0.5 * sign)
      assert.equal("float64", half.dtype)
      assert.equal(0.5 * sign, half.data[1])
    end)

    it(name .. " with a constant has the derivatives of the dense one", function()
      for _, format in ipairs(s.formats) do
        for _, kind in ipairs { "plain", "unsorted", "duplicates", "zeros", "nnz0" } do
          local x = { s.matrix { format = format, kind = kind } }
          local function fn(m) return f(m, 0.3 * sign) end
          s.check_grad(fn, x)
          s.check_rop(fn, x)
          -- (a stored 0 is dropped: a structured function of the result does not see it)
          if kind ~= "zeros" then s.check_second(function(m) return sp.sqr(fn(m)) end, x, { tol = 1e-5 }) end
        end
        local x, u, w = sp.matrix(format, "x"), damo.dmatrix "u", damo.constant(s.dense(4, 5))
        local a = s.matrix { format = format, kind = "zeros" }
        local got = damo.compile({ x }, damo.grad(damo.sum(f(x, 0) * w), x), { mode = "DEBUG" })(a)
        local want = damo.compile({ u }, damo.grad(damo.sum(f(u, 0) * w), u))(a:toarray())
        s.close(sp.gather(got, a), sp.gather(want, a))
      end
    end)
  end

  -- (the dense function is the reference)
  local function dense(name, x, y) return damo[name](x:toarray(), y:toarray()) end

  for name in pairs { maximum = 1, minimum = 1 } do
    local f = damo[name]
    it(name .. " takes every kind of storage with every other", function()
      for _, dtype in ipairs { "float64", "int8", "uint8", "bool" } do
        for _, m in ipairs(s.matrices(dtype, { fixed = true })) do
          for _, n in ipairs(s.matrices(dtype, { fixed = true, seed = 21 })) do
            local what, x, y = m.name .. " and " .. n.name, m.value, n.value
            local z = f(x, y)
            s.close(z, dense(name, x, y), what)
            s.same_storage(z, sp.clean(z), what)
            assert.equal(x.itype == "int64" and "int64" or y.itype, z.itype)
          end
        end
      end
    end)

    it(name .. " of two on one pattern", function()
      for _, m in ipairs(s.matrices("float64", { fixed = true })) do
        local y = sp.with_data(m.value, m.value.data * damo.sin(m.value.data * 20))
        local z = s.same_everywhere(f, { m.value, y })[1]
        s.close(z, dense(name, m.value, y), m.name)
        s.same_storage(z, sp.clean(z), m.name)
      end
    end)

    it(name .. " promotes dtypes, and has one class", function()
      local x, y = s.matrix { dtype = "int8", kind = "duplicates" }, s.matrix { dtype = "float32", seed = 21 }
      local z = s.same_everywhere(f, { x, y })[1]
      assert.equal("float32", z.dtype)
      s.close(z, dense(name, x, y))
      local a, b = sp.csr_matrix "a", sp.csc_matrix("b", { dtype = "float32", itype = "int64" })
      local class = name == "maximum" and "MaximumSS" or "MinimumSS"
      assert.equal(class, f(a, b).owner.op.name)
      assert.same({ "csr", "float64", "int64" }, { f(a, b).format, f(a, b).dtype, f(a, b).itype })
      local c, d = s.matrix {}, s.matrix { dtype = "complex128", seed = 21 }
      s.close(f(c, d), dense(name, c, d))
      s.raises("shape", name .. ": shapes (4, 5) and (3, 5) are not equal",
        function() damo.compile({ a, b }, f(a, b))(s.matrix {},
          s.matrix { format = "csc", dtype = "float32", itype = "int64", rows = 3 }) end)
    end)

    it(name .. " gives nan where one is nan", function()
      local nan = 0 / 0
      local x = sp.csr(damo.array { { nan, 1, 0, nan, nan, -1 }, { nan, 0, 0, 0, 0, 0 } })
      local y = sp.csr(damo.array { { 2, nan, nan, nan, -2, 1 }, { 0, nan, 0, 0, 0, 3 } })
      for _, dtype in ipairs { "float32", "float64" } do
        local a, b = sp.cast(x, { dtype = dtype }), sp.cast(y, { dtype = dtype })
        s.close(s.same_everywhere(f, { a, b }, { "FAST_RUN", "FAST_COMPILE" })[1], dense(name, a, b))
        s.close(f(b, a), dense(name, b, a))
      end
    end)

    it(name .. " has gradients, R_op and second derivatives for every kind of storage", function()
      for _, format in ipairs(s.formats) do
        for _, kind in ipairs { "plain", "unsorted", "duplicates", "nnz0" } do
          for _, other in ipairs { "plain", "duplicates" } do
            local values = { s.matrix { format = format, kind = kind }, s.matrix { kind = other, seed = 21 } }
            s.check_grad(f, values)
            s.check_rop(f, values)
            s.check_second(function(x, y) return sp.sqr(f(x, y)) end, values, { tol = 1e-5 })
          end
        end
      end
      local mixed = { s.matrix { dtype = "float32" }, s.matrix { dtype = "int64", seed = 21 } }
      s.check_grad(f, mixed, { eps = 0.01, tol = 1e-3 })
    end)
  end

  it("keep nan, and order complex numbers", function()
    local x = sp.csr { data = { 0 / 0, -1, 2 }, indices = { 0, 1, 2 }, indptr = { 0, 3 }, shape = { 1, 3 } }
    s.close(damo.maximum(x, 0), { 0 / 0, 0, 2 })
    s.close(damo.minimum(0, x), { 0 / 0, -1, 0 })
    local z = s.matrix { dtype = "complex128" }
    s.close(damo.maximum(z, 0), damo.maximum(z:toarray(), 0))
  end)

  it("need memory for the entries only", function()
    local n = 2 ^ 40
    local x = sp.coo { rows = { 1, 2 }, cols = { 5, n }, values = { 3.0, -2.0 }, shape = { 3, n } }
    s.close(damo.maximum(x, -x).data, { 3, 2 })
  end)

  it("refuse operations with a dense result, and other shapes", function()
    local x = s.matrix {}
    local hint = ": a sparse operand would give a dense result: use damo.sparse.structured_%s(x, y) to compute on the "
      .. "stored entries alone, or x:toarray() to compute on the dense matrix"
    local constant = ": a sparse matrix and a number %s 0 give" .. hint:match " a dense result.*"
    local variable = ": a sparse matrix and a Variable, which may be %s 0, may give a dense result: use a constant, "
      .. "%s for 0, " .. hint:match "damo.sparse.*"
    for name, o in pairs { maximum = { 1, "above", "damo.relu(x)" }, minimum = { -1, "below", "-damo.relu(-x)" } } do
      s.raises("type", name .. constant:format(o[2], name), function() return damo[name](x, o[1]) end)
      s.raises("type", name .. constant:format(o[2], name), function() return damo[name](damo.array(o[1]), x) end)
      s.raises("type", name .. variable:format(o[2], o[3], name), function() return damo[name](x, damo.scalar "v") end)
      s.raises("type", name .. variable:format(o[2], o[3], name), function() return damo[name](x, damo.shared(0)) end)
      s.raises("type", name .. hint:format(name), function() return damo[name](damo.ones { 4, 5 }, x) end)
      s.raises("type", name .. hint:format(name), function() return damo[name](x, damo.zeros { 1, 5 }) end)
    end
    s.close(-damo.relu(-x), damo.minimum(x, 0))
    s.close(damo.relu(x), damo.maximum(x, 0))
    s.raises("shape", "sparse.maximum: shapes (4, 5) and (5, 4) are not equal", function() damo.maximum(x, x.T) end)
  end)
end)

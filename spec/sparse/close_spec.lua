-- allclose, isclose and array_equal with sparse operands: as for the dense matrices, whatever entries are stored.
local damo = require "damo"
local s = require "spec.sparse.support"
local sp = damo.sparse

-- The matrix with entry 1 changed by the relative distance `off`.
local function moved(a, off)
  local data = a.data:copy()
  if a.nnz > 0 and off > 0 then data[1] = data[1] * (1 + off) end
  return sp.with_data(a, data)
end

-- The matrix in both formats and dense.
local function forms(a) return { a, a.format == "csr" and a:tocsc() or a:tocsr(), a:toarray() } end

describe("allclose and isclose", function()
  it("agree with those of the dense matrices", function()
    for _, dtype in ipairs { "float32", "complex128", "int64", "bool" } do
      for _, m in ipairs(s.matrices(dtype)) do
        local a = m.value
        for _, off in ipairs((dtype:find "float" or dtype:find "complex") and { 0, 1e-6, 1e-2 } or { 0 }) do
          local b = moved(a, off)
          for _, x in ipairs(forms(a)) do
            for _, y in ipairs(forms(b)) do
              if sp.is_sparse(x) or sp.is_sparse(y) then
                local want = damo.allclose(a:toarray(), b:toarray())
                assert.equal(want, damo.allclose(x, y))
                assert.equal(want, damo.allclose(y, x))
                local places = damo.isclose(x, y)
                assert.equal("bool", places.dtype)
                assert.equal(sp.is_sparse(x) and sp.is_sparse(y), sp.is_sparse(places))
                assert.is_true(damo.array_equal(damo.isclose(a:toarray(), b:toarray()), places))
              end
            end
          end
        end
      end
    end
  end)

  it("compare entries that one of them does not store with 0", function()
    local a = sp.coo { rows = { 1, 2 }, cols = { 1, 3 }, values = { 1, 1e-9 }, shape = { 2, 3 } }
    local b = sp.coo { rows = { 1 }, cols = { 1 }, values = { 1 }, shape = { 2, 3 }, format = "csc" }
    assert.is_true(damo.allclose(a, b))
    assert.is_true(a:allclose(b:toarray()))
    assert.is_true(b:toarray():allclose(a))
    assert.is_false(damo.allclose(a, b, { atol = 0 }))
    assert.same({ { true, true, true }, { true, true, false } }, s.todense(damo.isclose(a, b, { atol = 0 })))
    assert.same({ { true, true, true }, { true, true, false } },
      damo.isclose(a, b:toarray(), { atol = 0 }):totable())
    assert.is_false(damo.allclose(a, sp.eye(2, 3)))
  end)

  it("take tolerances relative to the second operand", function()
    local a, b = sp.eye(1) * 10, sp.eye(1) * 11
    assert.is_true(damo.allclose(a, b, { rtol = 0.095 }))
    assert.is_false(damo.allclose(b, a, { rtol = 0.095 }))
    assert.is_true(damo.allclose(a:toarray(), b, { rtol = 0.095 }))
    assert.is_false(damo.allclose(b:toarray(), a, { rtol = 0.095 }))
  end)

  it("treat infinities and nan as dense ones do", function()
    local inf, nan = 1 / 0, 0 / 0
    local function row(...) return sp.csr { { ... } } end
    assert.is_true(damo.allclose(row(inf, 0), row(inf, 0)))
    assert.is_false(damo.allclose(row(inf, 0), row(-inf, 0)))
    assert.is_false(damo.allclose(row(inf, 0), row(0, inf)))
    assert.is_false(damo.allclose(row(nan, 0), row(nan, 0)))
    assert.is_true(damo.allclose(row(nan, 0), row(nan, 0), { equal_nan = true }))
    assert.is_false(damo.allclose(row(nan, 0), row(0, nan), { equal_nan = true }))
    assert.same({ { true, true } }, s.todense(damo.isclose(row(nan, 0), row(nan, 0), { equal_nan = true })))
  end)

  it("sum duplicates, in shared patterns too", function()
    local a = sp.csr { data = { 1, 2 }, indices = { 0, 0 }, indptr = { 0, 2 }, shape = { 1, 2 } }
    assert.is_true(damo.allclose(a, sp.with_data(a, damo.array { 2, 1 })))
    assert.is_true(damo.allclose(a, { { 3, 0 } }))
    assert.is_false(damo.allclose(a, sp.with_data(a, damo.array { 1, 2.5 })))
  end)

  it("are compiled", function()
    local x, y, d = sp.csr_matrix "x", sp.csc_matrix "y", damo.matrix "d"
    local a, b = sp.eye(3), sp.eye(3, { format = "csc" }) * (1 + 1e-7)
    for _, mode in ipairs(s.modes) do
      local f = damo.compile({ x, y, d }, { damo.allclose(x, y), damo.allclose(d, x), damo.isclose(x, y) },
        { mode = mode })
      local sparse_too, dense_too, places = f(a, b, b:toarray())
      assert.same({ true, true, 9 }, { sparse_too, dense_too, places.nnz })
      local other, ones = f(a, b * 2, damo.ones { 3, 3 })
      assert.same({ false, false }, { other, ones })
      s.raises("shape", nil, function() return f(a, sp.eye(2, { format = "csc" }), damo.ones { 3, 3 }) end)
    end
  end)

  it("need memory for the entries only", function()
    local far = sp.coo { rows = { 1, 2 }, cols = { 5, 2 ^ 40 }, values = { 1, 2 }, shape = { 2, 2 ^ 40 } }
    assert.is_true(damo.allclose(far, far * (1 + 1e-9)))
    assert.is_false(damo.allclose(far, far * 2))
  end)

  it("refuse operands that are no matrix of that shape", function()
    local a = sp.eye(2, 3)
    for _, name in ipairs { "allclose", "isclose" } do
      local function refused(kind, text, x, y)
        s.raises(kind, ("sparse.%s: %s"):format(name, text), function() return sp[name](x, y) end)
      end
      refused("type", "operand 2 must be a sparse or dense matrix, got TensorType(float64, shape=())", a, 2)
      refused("type", "operand 1 must be a sparse or dense matrix, got TensorType(float64, shape=(3,))",
        damo.ones { 3 }, a)
      refused("shape", "shapes (2, 3) and (3, 3) are not equal", a, sp.eye(3))
      refused("shape", "shapes (1, 3) and (2, 3) are not equal", damo.ones { 1, 3 }, a)
      refused("type", "one operand must be sparse, got TensorType(float64, shape=(1, 1)) and "
        .. "TensorType(float64, shape=(1, 1))", damo.ones { 1, 1 }, damo.ones { 1, 1 })
    end
    s.raises("value", nil, function() return damo.allclose(a, a, { rtoll = 1 }) end)
  end)
end)

describe("array_equal", function()
  it("of a sparse and a dense matrix compares values", function()
    for _, dtype in ipairs(s.dtypes) do
      for _, m in ipairs(s.matrices(dtype)) do
        local a = m.value
        for _, x in ipairs(forms(a)) do
          for _, y in ipairs(forms(a)) do assert.is_true(damo.array_equal(x, y)) end
        end
        if a.nnz > 0 and dtype ~= "bool" then
          local b = a:copy()
          b.data[1] = b.data[1] + 1
          assert.is_false(damo.array_equal(b, a:toarray()))
          assert.is_false(damo.array_equal(a:toarray(), b))
        end
      end
    end
  end)

  it("accepts tables, other dtypes, equal_nan, and different shapes", function()
    local a = sp.eye(2)
    assert.is_true(damo.array_equal(a, { { 1, 0 }, { 0, 1 } }))
    assert.is_true(damo.array_equal(damo.eye(2):cast "int32", a))
    assert.is_false(damo.array_equal(a, damo.eye(3)))
    assert.is_false(damo.array_equal(a, damo.array { 1, 2 }))
    assert.is_false(damo.array_equal(1, a))
    local n = sp.coo { rows = { 1 }, cols = { 1 }, values = { 0 / 0 }, shape = { 1, 2 } }
    assert.is_false(damo.array_equal(n, n:toarray()))
    assert.is_true(damo.array_equal(n, n:toarray(), { equal_nan = true }))
    assert.is_true(damo.array_equal(sp.eye(2, { dtype = "int64" }) * 9007199254740993,
      damo.eye(2, 2, { dtype = "int64" }) * 9007199254740993))
    s.raises("type", nil, function() return damo.array_equal(a, "a") end)
  end)
end)

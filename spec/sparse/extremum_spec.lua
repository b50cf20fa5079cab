-- Maxima, minima and their positions in sparse matrices, against dense tables.
local damo = require "damo"
local s = require "spec.sparse.support"
local t = require "spec.sparse.tables"
local sparse = damo.sparse

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
        t.check_all(function(x) return sparse[own](x) end, function(a) return pick(joined(a)) end)
        t.check_all(function(x) return sparse[own](x, { axis = 2 }) end, function(a) return each(a, pick) end)
        t.check_all(function(x) return damo[own](x, { axis = 1 }) end,
          function(a) return each(t.transposed(a), pick) end)
        local full = sparse.csr_from_dense(damo.array { { -1.0, -2.0 }, { -3.0, -4.0 } })
        local function rows(x) return sparse[own](x, { axis = -1 }) end
        s.check_value(rows, { full }, function(a) return each(a, pick) end)
      end)
    end
    it(name .. " has gradients at the entries that it is", function()
      for _, format in ipairs(s.formats) do
        for _, axis in ipairs { 1, 2, false } do
          local function fn(x) return sparse[name](x, axis and { axis = axis } or nil) end
          t.check_derivatives(fn, { s.matrix { format = format, kind = "unsorted" } })
        end
      end
      s.check_second(function(x) return damo.sqr(sparse[name](x, { axis = 1 })) end, { s.matrix {} }, { tol = 1e-5 })
    end)
  end
  it("are nan if there is one, and compare large integers exactly", function()
    local a = sparse.csr_from_dense(damo.array { { 5.0, 0 / 0, -1 } })
    for _, name in ipairs { "max", "min" } do
      local v = sparse[name](a)
      assert.is_true(v ~= v)
      assert.equal(2, sparse["arg" .. name](a))
    end
    local big = sparse.csr { indices = { 0, 1 },
      data = damo.array({ 2 ^ 53, 2 ^ 53 }, "int64") + damo.array({ 0, 1 }, "int64"),
      indptr = { 0, 2 }, shape = { 1, 2 } }
    assert.equal(2, sparse.argmax(big))
    local u = sparse.cast(big, "uint64")
    assert.equal(2, sparse.argmax(u))
    assert.equal(1, sparse.argmin(u))
  end)
  it("are those of the dense matrix for full and empty rows, nan anywhere, duplicates, every dtype", function()
    local nan = 0 / 0
    local function read(v)
      local out = s.flat(v)
      for k, x in ipairs(out) do out[k] = x == x and x or "nan" end
      return out
    end
    local rows = { { 1, -2, 0, -3 }, { 0, -1, 0, -5 }, { 7, -4, 0, -1 } }
    for _, dtype in ipairs { "bool", "int8", "int16", "int32", "int64", "uint8", "uint64", "float32", "float64" } do
      local real = dtype:find "float"
      for spot = 0, real and 12 or 0 do
        local dense = damo.array(rows, real and dtype or "float64")
        if spot > 0 then dense[{ math.floor((spot - 1) / 4) + 1, (spot - 1) % 4 + 1 }] = nan end
        dense = damo.cast(dtype:find "uint" and damo.abs(dense) or dense, dtype)
        for _, format in ipairs(s.formats) do
          for _, itype in ipairs(s.itypes) do
            local m = sparse[format](sparse.from_dense(dense, format), { itype = itype })
            for _, name in ipairs { "max", "min", "argmax", "argmin" } do
              for _, axis in ipairs { 1, 2, { 1, 2 } } do
                local v, w = sparse[name](m, { axis = axis }), damo[name](dense, { axis = axis })
                local what = ("%s %s %s %s %d"):format(name, dtype, format, itype, spot)
                assert.same(read(w), read(v), what)
              end
            end
          end
        end
      end
    end
    local twice = sparse.coo { rows = { 1, 1, 2 }, cols = { 1, 1, 2 }, values = { 2, 3, 4 }, shape = { 2, 2 } }
    local raw = sparse.csr { data = damo.array { 2.0, 4, 3 }, indices = { 1, 0, 1 }, indptr = { 0, 3, 3 },
      shape = { 2, 2 } }
    assert.equal(5, sparse.max(twice))
    assert.same({ 4, 5 }, s.flat(sparse.max(raw, { axis = 1 })))
    assert.same({ 5, 0 }, s.flat(sparse.max(raw, { axis = 2 })))
  end)
  it("keep the axes as dimensions of 1 with keepdims", function()
    local d = damo.array { { 3, 0, -4 }, { 0, 2, 0 } }
    local a, x = sparse.csr(d), sparse.csc_matrix "x"
    for _, name in ipairs { "max", "min", "argmax", "argmin" } do
      for _, axis in ipairs { 1, 2, { 1, 2 } } do
        local o = { axis = axis, keepdims = true }
        local expected = damo[name](d, o)
        assert.is_true(damo.array_equal(expected, damo[name](a, o)))
        assert.is_true(damo.array_equal(expected, damo.compile({ x }, x[name](x, o))(a)))
      end
      assert.same({ 1, 1 }, a[name](a, { keepdims = true }).shape)
    end
    sparse.verify_grad_sparse(function(v) return v:max { axis = 1, keepdims = true } end, { a }, { structured = true })
  end)
  it("order complex numbers by their real parts, then by the imaginary ones", function()
    for _, dtype in ipairs { "complex64", "complex128" } do
      local a = s.matrix { dtype = dtype, kind = "duplicates" }
      for _, name in ipairs { "max", "min" } do
        for _, axis in ipairs { false, 1, 2 } do
          local options = axis and { axis = axis } or nil
          s.close(damo.array(sparse[name](a, options)), damo.array(damo[name](a:toarray(), options)), name)
        end
      end
    end
  end)
  it("refuse wrong arguments", function()
    s.raises("value", "the max of shape (0, 0) does not exist: it has no elements",
      function() sparse.max(sparse.csr_from_dense(damo.zeros { 0, 0 })) end)
    s.raises("type", "argmax is not defined for sparse matrices of complex128; use x:toarray()",
      function() sparse.argmax(s.matrix { dtype = "complex128" }) end)
    s.raises("index", nil, function() sparse.max(s.matrix {}, { axis = 3 }) end)
  end)
  it("have shapes that need no values", function()
    for axis = 1, 2 do
      t.check_shape(function(x) return sparse.max(x, { axis = axis }) end, { s.matrix {} }, "SpExtremum")
      t.check_shape(function(x) return sparse.argmin(x, { axis = axis }) end, { s.matrix {} }, "SpExtremum")
    end
  end)
end)

-- Sorting indices and removing zeros.
local damo = require "damo"
local s = require "spec.sparse.support"
local sparse = damo.sparse

-- The square of fn's result: its second derivative uses the gradient Op's own gradient.
local function squared(fn)
  return function(x)
    local y = fn(x)
    return y * y
  end
end

-- Unsorted indices, zeros and duplicates: 3×4 for csr, its transpose for csc.
local function messy(format, dtype)
  local data = damo.cast(damo.array { 3, 0, 1, 4, 0, 5, 7, 2 }, { dtype = dtype or "float64" })
  return sparse[format] {
    data = data, indices = damo.array({ 3, 1, 0, 3, 2, 2, 1, 1 }, "int64"),
    indptr = damo.array({ 0, 4, 4, 8 }, "int64"), shape = format == "csr" and { 3, 4 } or { 4, 3 },
  }
end

local families = {
  {
    name = "ensure_sorted_indices", class = "EnsureSortedIndices", indptr = { 0, 4, 4, 8 },
    indices = { 0, 1, 3, 3, 1, 1, 2, 2 }, data = { 1, 0, 3, 4, 7, 2, 0, 5 },
  },
  {
    name = "remove0", class = "Remove0", indptr = { 0, 3, 3, 6 }, indices = { 3, 0, 3, 2, 1, 1 },
    data = { 3, 1, 4, 5, 7, 2 },
  },
  { name = "clean", indptr = { 0, 3, 3, 6 }, indices = { 0, 3, 3, 1, 1, 2 }, data = { 1, 3, 4, 7, 2, 5 } },
}

local function check_storage(got, want)
  s.close(got.indptr, want.indptr)
  s.close(got.indices, want.indices)
  s.close(damo.real(got.data), want.data)
end

for _, family in ipairs(families) do
  local tidy = sparse[family.name]
  describe(family.name, function()
    it("keeps the numbers", function()
      for _, dtype in ipairs(s.dtypes) do
        for _, m in ipairs(s.matrices(dtype)) do
          local got = s.same_everywhere(tidy, { m.value })[1]
          s.close(got, s.flat(m.value), m.name)
          assert.equal(m.value.itype, got.itype)
        end
      end
    end)

    it("stores what its name says, apart from duplicates", function()
      for _, format in ipairs(s.formats) do
        for _, dtype in ipairs { "float32", "float64", "complex64", "complex128", "int16" } do
          local a = messy(format, dtype)
          local kept = s.flat(a.data)
          check_storage(s.same_everywhere(tidy, { a })[1], family)
          s.close(a.data, kept, "the operand")
        end
      end
    end)

    it("has derivatives", function()
      for _, dtype in ipairs { "float64", "complex128" } do
        for _, format in ipairs(s.formats) do
          for _, kind in ipairs { "plain", "unsorted", "nnz0" } do
            local x = { s.matrix { format = format, dtype = dtype, kind = kind } }
            s.check_grad(tidy, x)
            s.check_rop(tidy, x)
            s.check_second(squared(tidy), x, { tol = 1e-5 })
          end
        end
      end
    end)

    it("passes the cotangent on unchanged", function()
      local x, other = sparse.csr_matrix "x", sparse.csr_matrix "g"
      local gradient = damo.grad(nil, x, { known_grads = { [tidy(x)] = other } })
      local a, g = s.matrix { kind = "unsorted" }, s.matrix { seed = 9, kind = "zeros" }
      s.same_storage(damo.compile({ x, other }, gradient)(a, g), g)
    end)

    it("works on a huge axis", function()
      local a = s.huge { rows = 4, cols = 33 }
      s.close(tidy(a).data, a.data)
    end)
  end)
end

describe("in place", function()
  local function run(class, format, via, mode)
    local x = sparse.matrix(format, "x")
    local moved = via(x)
    return damo.compile({ x }, sparse[class] { inplace = true }(moved), { mode = mode })
  end

  for _, family in ipairs(families) do
    if family.class then
      it(family.class .. " gives the same and destroys what the graph made", function()
        for _, format in ipairs(s.formats) do
          for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE" } do
            local f = run(family.class, format, function(x) return sparse.neg(sparse.neg(x)) end, mode)
            local a = messy(format)
            local kept = s.flat(a.data)
            for _ = 1, 3 do check_storage(f(a), family) end
            s.close(a.data, kept, "the operand")
          end
        end
      end)

      it(family.class .. " copies an input that is the caller's or is needed again", function()
        for _, format in ipairs(s.formats) do
          local a = messy(format)
          local kept = s.flat(a.data)
          check_storage(run(family.class, format, function(x) return x end)(a), family)
          s.close(a.data, kept, "the operand")
          local x = sparse.matrix(format, "x")
          local y = sparse.neg(x)
          local both = damo.compile({ x }, { sparse[family.class] { inplace = true }(y), sparse.neg(y), y })
          local tidy, back, same = both(a)
          s.close(tidy.indices, family.indices)
          s.close(back, s.flat(a))
          s.close(same.data, s.flat(sparse.neg(a).data))
        end
      end)

      it(family.class .. " is another Op than the plain one, with a destroy_map", function()
        local plain, inplace = sparse[family.class] {}, sparse[family.class] { inplace = true }
        assert.is_false(plain == inplace)
        assert.same({ { 1 } }, inplace.destroy_map)
        assert.same({ { 1 } }, plain.view_map)
      end)
    end
  end

  it("refuses anything but a bool", function()
    s.raises("type", "Remove0: inplace is true or false", function() sparse.Remove0 { inplace = "yes" } end)
  end)
end)

describe("clean forms", function()
  it("refuse operands that are not sparse", function()
    for _, family in ipairs(families) do
      s.raises("type", nil, function() sparse[family.name](damo.array { { 1.0 } }) end)
    end
  end)

  it("keep nan and drop both zeros", function()
    local data = damo.array { 0 / 0, -0.0, 0.0 }
    local a = sparse.csr { data = data, indices = { 0, 1, 2 }, indptr = { 0, 3 }, shape = { 1, 3 } }
    local got = sparse.remove0(a)
    assert.equal(1, got.nnz)
    assert.is_true(got.data[1] ~= got.data[1])
  end)

  it("keep complex entries with one zero part, in long matrices too", function()
    local nan, n = 0 / 0, 5000
    local re, im = { 0, -0.0, 0, 2, nan, 0.0 }, { 0, 0.0, 1, -0.0, 0, -0.0 }
    local wide_re, wide_im, columns = {}, {}, {}
    for k = 0, n - 1 do
      wide_re[k + 1], wide_im[k + 1], columns[k + 1] = re[k % 6 + 1], im[k % 6 + 1], k
    end
    for _, dtype in ipairs { "complex64", "complex128" } do
      for _, itype in ipairs { "int32", "int64" } do
        local data = damo.cast(damo.complex(damo.array(wide_re), damo.array(wide_im)), dtype)
        local a = sparse.csr {
          data = data, indices = damo.array(columns, itype), indptr = damo.array({ 0, 7, 7, n }, itype),
          shape = { 3, n },
        }
        local x = sparse.csr_matrix("x", { dtype = dtype, itype = itype })
        local within = sparse.Remove0 { inplace = true }(x * 1)
        for _, got in ipairs { sparse.remove0(a), damo.compile({ x }, within)(a) } do
          assert.same({ 0, 3, 3, math.floor(n / 6) * 3 }, { got.indptr[1], got.indptr[2], got.indptr[3], got.nnz })
          for k = 1, got.nnz do
            local from = got.indices[k] + 1
            local p, q = damo.real(got.data)[k], damo.imag(got.data)[k]
            assert.is_true(p == wide_re[from] and q == wide_im[from] or (p ~= p and wide_re[from] ~= wide_re[from]))
            if k == 40 then break end
          end
        end
      end
    end
  end)
end)

-- A complex matrix is made real by real, imag or abs, never by a cast: as for dense ones.
local damo = require "damo"
local s = require "spec.sparse.support"
local sparse = damo.sparse

local re, im = damo.array { { 1, 0 }, { 2, 0 } }, damo.array { { 3, 5 }, { 0, 0 } }
local A = sparse.csr_from_dense(damo.complex(re, im))
local x = sparse.csr_zmatrix "x"

local function refused(who, to, fn)
  local text = "%s: complex128 to %s would drop the imaginary part; take real(x), imag(x) or abs(x)"
  s.raises("type", text:format(who, to), fn)
end

describe("a cast of a complex matrix", function()
  it("to a real dtype is refused", function()
    for _, m in ipairs { A, x } do
      for name, dtype in pairs { bcast = "int8", wcast = "int16", icast = "int32", lcast = "int64", fcast = "float32",
        dcast = "float64" } do
        refused("cast", dtype, function() return sparse[name](m) end)
        refused("cast", dtype, function() return sparse.cast(m, dtype) end)
        refused("cast", dtype, function() return damo.cast(m, dtype) end)
        refused("cast", dtype, function() return m:astype(dtype) end)
      end
      refused("cast", "bool", function() return sparse.cast(m, "bool") end)
      for _, name in ipairs { "sum", "mean" } do
        refused("cast", "float64", function() return sparse[name](m, { dtype = "float64" }) end)
      end
      refused("HStack", "float64", function() return sparse.hstack({ m, m }, { dtype = "float64" }) end)
      refused("VStack", "int8", function() return sparse.vstack({ m, sparse.eye(2) }, { dtype = "int8" }) end)
      refused("BlockMatrix", "float32", function() return sparse.bmat({ { m } }, { dtype = "float32" }) end)
    end
  end)

  it("is refused when a matrix is made", function()
    refused("csr", "float64", function()
      return sparse.csr { data = A.data, indices = A.indices, indptr = A.indptr, shape = A.shape, dtype = "float64" }
    end)
    refused("csc", "int32", function() return sparse.csc(A, { dtype = "int32" }) end)
    refused("coo", "float32", function()
      return sparse.coo { values = A.data, rows = { 1, 1, 2 }, cols = { 1, 2, 1 }, dtype = "float32" }
    end)
    refused("diags", "float64", function() return sparse.diags({ A.data }, { 0 }, { dtype = "float64" }) end)
    refused("from_dense", "float64", function()
      return sparse.from_dense(damo.complex(re, im), { format = "csr", dtype = "float64" })
    end)
  end)

  it("to the other complex dtype, and from real ones, is allowed", function()
    assert.equal("complex64", sparse.ccast(A).dtype)
    s.close(sparse.zcast(sparse.real(A)), s.flat(damo.cast(re, "complex128")), "there")
  end)

  it("is not done by isclose and allclose", function()
    local zero = sparse.csr { shape = { 2, 2 }, dtype = "complex128" }
    for _, mode in ipairs(s.modes) do
      local y = sparse.csc_zmatrix "y"
      local f = damo.compile({ x, y }, { sparse.isclose(x, y), sparse.allclose(x, y) }, { mode = mode })
      local close, all = f(A, A:tocsc())
      assert.same({ { true, true }, { true, true } }, close:toarray():totable())
      assert.is_true(all)
      close, all = f(A, zero:tocsc())
      assert.same({ { false, false }, { false, true } }, close:toarray():totable())
      assert.is_false(all)
    end
  end)
end)

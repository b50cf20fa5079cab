-- Symmetric, possibly indefinite systems (assume = "sym"): LDLᵀ factors, LU if a pivot fails.
local damo = require "damo"
local s = require "spec.sparse.support"
local sparse = damo.sparse

-- Symmetric (Hermitian), with diagonal entries of both signs.
local function matrix(o)
  local n = o.n or 8
  local m = s.matrix { rows = n, cols = n, dtype = o.dtype, format = o.format, itype = o.itype, kind = o.kind }
  local signs = {}
  for i = 1, n do signs[i] = i % 3 == 0 and -6 or 7 end
  local both = sparse.add(m, damo.conj(m).T:tocsr())
  return sparse[o.format](sparse.add(both, sparse.cast(sparse.diags({ signs }, { 0 }), o.dtype)), { itype = o.itype })
end

local function each(fn)
  for _, dtype in ipairs(s.floats) do
    for _, format in ipairs(s.formats) do
      for _, itype in ipairs(s.itypes) do fn { dtype = dtype, format = format, itype = itype } end
    end
  end
end

local function tolerance(dtype) return (dtype == "float32" or dtype == "complex64") and 1e-3 or 1e-9 end

describe("a symmetric system", function()
  it("has the solutions of a general one", function()
    each(function(o)
      local a, tol = matrix(o), tolerance(o.dtype)
      local what = o.dtype .. " " .. o.format .. " " .. o.itype
      for _, b in ipairs { s.vector(8, o.dtype, 4), s.dense(8, 3, o.dtype, 5) } do
        local want = sparse.solve(a, b, { assume = "gen" })
        s.close(sparse.solve(a, b, { assume = "sym" }), s.flat(want), what, tol)
        s.close(damo.dot(a, sparse.solve(a, b, { assume = "sym" })), s.flat(b), what, tol)
        s.close(sparse.solve_t(a, b, { assume = "sym" }), s.flat(sparse.solve_t(a, b, { assume = "gen" })), what, tol)
      end
    end)
  end)

  it("has determinants with their sign", function()
    each(function(o)
      local a, tol = matrix(o), tolerance(o.dtype)
      local log, sign = sparse.slogdet(a, { assume = "sym" })
      local want, want_sign = sparse.slogdet(a, { assume = "gen" })
      assert.is_true(math.abs(log - want) < tol * 10)
      s.close(s.flat(sign), s.flat(want_sign), o.dtype, tol)
      local f = sparse.factorize(a, { assume = "sym" })
      s.close(s.flat(f:det()), s.flat(sparse.det(a, { assume = "gen" })), o.dtype, tol)
      assert.is_true(f:rcond() > 0.001)
    end)
  end)

  it("falls back to LU if a pivot is 0, with the same solution", function()
    for _, format in ipairs(s.formats) do
      local a = sparse[format .. "_from_dense"](damo.array { { 0, 1, 0 }, { 1, 0, 2 }, { 0, 2, 5 } })
      local b = damo.array { 1, 2, 3 }
      s.close(damo.dot(a, sparse.solve(a, b, { assume = "sym" })), s.flat(b))
      assert.is_true(math.abs(sparse.det(a, { assume = "sym" }) + 5) < 1e-12)
    end
  end)

  it("has gradients, and is the same in every mode", function()
    for _, format in ipairs(s.formats) do
      local a, b = matrix { dtype = "float64", format = format, n = 5 }, s.vector(5, "float64", 9)
      local function fn(m, v) return sparse.solve(m, v, { assume = "sym" }) end
      s.same_everywhere(fn, { a, b })
      local m, v = sparse.matrix(format, "m"), damo.dvector "v"
      local function slopes(assume)
        local cost = damo.sum(damo.sqr(sparse.solve(m, v, { assume = assume })))
        return damo.compile({ m, v }, damo.grad(cost, { m, v }))(a, b)
      end
      local _, of_v = slopes "sym"
      local _, want = slopes "gen"
      s.close(of_v, s.flat(want), "right side", 1e-9)
    end
  end)

  it("is factorized again for other values on the same pattern", function()
    local a = matrix { dtype = "float64", format = "csr" }
    local m, v = sparse.csr_matrix "m", damo.dvector "v"
    local f = damo.compile({ m, v }, sparse.solve(m, v, { assume = "sym" }))
    local b = s.vector(8, "float64", 4)
    for _, by in ipairs { 1, -2, 0.5 } do
      s.close(f(a * by, b), s.flat(sparse.solve(a * by, b)), "values", 1e-9)
    end
    s.raises("numeric", nil, function() f(a * 0, b) end)
    s.close(f(a, b), s.flat(sparse.solve(a, b)), "after an error", 1e-9)
  end)
end)

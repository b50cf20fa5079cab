-- Structured functions: each against the dense function of the vector of stored values.
local damo = require "damo"
local s = require "spec.sparse.support"
local sparse = damo.sparse

-- name, the dense function, range of the values; smooth: has a gradient worth checking
local functions = {
  { "structured_sigmoid", damo.sigmoid, real = true }, { "structured_exp", damo.exp },
  { "structured_log", damo.log, low = 0.5, high = 2, poles = true }, { "sin", damo.sin },
  { "arcsin", damo.arcsin, low = -0.8, high = 0.8 }, { "tan", damo.tan, low = -1, high = 1 },
  { "arctan", damo.arctan, low = -0.8, high = 0.8 }, { "sinh", damo.sinh },
  { "arcsinh", damo.arcsinh, low = -0.8, high = 0.8 },
  { "tanh", damo.tanh }, { "arctanh", damo.arctanh, low = -0.8, high = 0.8 },
  { "rad2deg", damo.rad2deg, real = true }, { "deg2rad", damo.deg2rad, real = true },
  { "rint", damo.round_half_to_even, real = true, steps = true },
  { "ceil", damo.ceil, real = true, steps = true }, { "floor", damo.floor, real = true, steps = true },
  { "trunc", damo.trunc, real = true, steps = true }, { "sgn", damo.sign, real = true, steps = true },
  { "sign", damo.sign, real = true, steps = true }, { "log1p", damo.log1p, real = true, low = -0.5, high = 2 },
  { "expm1", damo.expm1, real = true }, { "square", damo.sqr }, { "sqr", damo.sqr },
  { "sqrt", damo.sqrt, low = 0.5, high = 2 }, { "conjugate", damo.conj }, { "conj", damo.conj },
  { "abs", damo.abs, real = true }, { "real", damo.real }, { "imag", damo.imag }, { "erf", damo.erf, real = true },
  { "erfinv", damo.erfinv, real = true, low = -0.8, high = 0.8 }, { "j1", damo.j1, real = true },
  { "i1", damo.i1, real = true }, { "round", damo.round, real = true, steps = true },
  { "round_half_to_even", damo.round_half_to_even, real = true, steps = true },
  { "round_half_away_from_zero", damo.round_half_away_from_zero, real = true, steps = true },
  { "relu", damo.relu, real = true }, { "isnan", damo.isnan, real = true, steps = true },
  { "isinf", damo.isinf, real = true, steps = true }, { "identity", damo.identity },
}
local with_scalar = {
  { "structured_pow", damo.pow, 3, low = 0.5, high = 2 }, { "structured_minimum", damo.minimum, 0.25 },
  { "structured_maximum", damo.maximum, 0.25 }, { "structured_add", damo.add, 1.5 },
}

local function is_complex(dtype) return dtype:find "complex" ~= nil end

local function same_values(got, want, what)
  if want.dtype ~= got.dtype then error(("%s: dtype %s, expected %s"):format(what, got.dtype, want.dtype)) end
  s.close(got.data, want, what)
end

describe("functions of stored values", function()
  for _, f in ipairs(functions) do
    local name, dense = f[1], f[2]
    local own = sparse[name]
    it(name .. " is the dense function of the stored values, in every mode", function()
      for _, dtype in ipairs(f.real and { "float32", "float64" } or s.floats) do
        for _, m in ipairs(s.matrices(dtype, { low = f.low, high = f.high })) do
          local is_pole = f.poles and m.kind == "zeros" -- DEBUG refuses the infinities there
          local got = is_pole and own(m.value) or s.same_everywhere(own, { m.value })[1]
          s.same_storage(sparse.with_data(got, m.value.data), m.value, m.name)
          same_values(got, dense(m.value.data), m.name)
        end
      end
    end)
    if not f.steps then
      it(name .. " has gradients, R_op and second derivatives", function()
        for _, dtype in ipairs(f.real and { "float64" } or { "float64", "complex128" }) do
          for _, format in ipairs(s.formats) do
            local how = { format = format, dtype = dtype, low = f.low, high = f.high, kind = "unsorted" }
            local values = { s.matrix(how) }
            s.check_grad(own, values, { tol = 1e-5 })
            if name ~= "imag" or is_complex(dtype) then s.check_rop(own, values, { tol = 1e-5 }) end
            s.check_second(own, values, { tol = 1e-4 })
          end
        end
      end)
    end
  end

  for _, f in ipairs(with_scalar) do
    local name, dense, y = f[1], f[2], f[3]
    it(name .. " takes a scalar, with a gradient of its own", function()
      for _, dtype in ipairs { "float32", "float64" } do
        for _, m in ipairs(s.matrices(dtype, { low = f.low, high = f.high })) do
          local fn = function(x) return sparse[name](x, y) end
          same_values(s.same_everywhere(fn, { m.value })[1], dense(m.value.data, y), m.name)
        end
      end
      local values = { s.matrix { low = f.low, high = f.high }, damo.array(y, "float64") }
      s.check_grad(sparse[name], values, { tol = 1e-5 })
      s.check_rop(function(x) return sparse[name](x, y) end, { values[1] }, { tol = 1e-5 })
      s.check_second(sparse[name], values, { tol = 1e-4, wrt = { 1 } })
    end)
  end

  it("keep nan, explicit zeros and duplicates where they are", function()
    local a = sparse.csr { data = damo.array { 0.0, 0 / 0, 2.0, 1.0 }, indices = { 1, 0, 2, 2 },
      indptr = { 0, 2, 4 }, shape = { 2, 3 } }
    local e = sparse.structured_exp(a)
    assert.equal(4, e.nnz)
    local v = e.data:totable()
    assert.equal(1, v[1])
    assert.is_true(v[2] ~= v[2])
    assert.near(math.exp(2), v[3], 1e-14)
    assert.near(math.exp(1), v[4], 1e-14)
  end)

  it("give integers the dtypes of the dense functions, and floats where they round", function()
    local a = s.matrix { dtype = "int32" }
    assert.equal("float64", sparse.sin(a).dtype)
    assert.equal("float32", sparse.sqrt(s.matrix { dtype = "int8" }).dtype)
    assert.equal("float64", sparse.trunc(a).dtype)
    assert.equal("float64", sparse.ceil(a).dtype)
    assert.equal("int32", sparse.sgn(a).dtype)
    assert.equal("int32", sparse.square(a).dtype)
    assert.equal("int32", sparse.structured_pow(a, 2).dtype)
    assert.equal("float32", sparse.structured_add(s.matrix { dtype = "float32" }, 0.5).dtype)
    assert.equal("float64", sparse.abs(s.matrix { dtype = "complex128" }).dtype)
  end)

  it("are called by the tensor functions if f(0) = 0", function()
    local a = s.matrix {}
    s.same_storage(damo.sin(a), sparse.sin(a))
    s.same_storage(a ^ 2, sparse.square(a))
    s.same_storage(damo.pow(a, 0.5), sparse.structured_pow(a, 0.5))
    local x = sparse.csr_matrix "x"
    s.same_storage(damo.compile({ x }, x ^ 3)(a), sparse.structured_pow(a, 3))
    s.raises("type", "exp: a sparse operand would give a dense result: use damo.sparse.structured_exp(x) to compute on "
      .. "the stored entries alone, or x:toarray() to compute on the dense matrix", function() damo.exp(a) end)
  end)

  it("work on a huge matrix with few entries", function()
    for _, format in ipairs(s.formats) do
      local a = s.huge { format = format, rows = format == "csr" and 4 or 33, cols = format == "csr" and 33 or 4 }
      s.close(sparse.structured_exp(a).data, damo.exp(a.data))
    end
  end)

  it("refuse wrong arguments", function()
    local a = s.matrix {}
    s.raises("type", "sparse.rint: the values must be floats, got int32, which has nothing to round",
      function() sparse.rint(s.matrix { dtype = "int32" }) end)
    s.raises("type", "sparse.structured_pow: operand 2 must be a scalar, got TensorType(float64, shape=(2,))",
      function() sparse.structured_pow(a, damo.array { 1, 2 }) end)
    s.raises("type", "pow: of a sparse matrix the exponent must be a constant number above 0: use "
      .. "damo.sparse.structured_pow(x, y) for the stored entries alone, or x:toarray()", function() return a ^ 0 end)
    s.raises("type", "pow: with a sparse exponent absent entries give 1, a dense result: use "
      .. "damo.pow(x, y:toarray())", function() damo.pow(damo.array { { 1.0 } }, a) end)
    s.raises("type", nil, function() sparse.structured_exp(damo.array { 1.0 }) end)
  end)
end)

describe("structured_monoid", function()
  it("makes a structured function of any function", function()
    local own = sparse.structured_monoid(damo.exp)
    for _, m in ipairs(s.matrices "float64") do
      s.same_storage(s.same_everywhere(own, { m.value })[1], sparse.structured_exp(m.value), m.name)
    end
    local mine = sparse.structured_monoid(function(v, k) return v * v + k end)
    local a = s.matrix {}
    s.close(mine(a, 2).data, damo.sqr(a.data) + 2)
    s.check_grad(function(x) return mine(x, 2) end, { a })
    s.check_second(function(x) return mine(x, 2) end, { a })
  end)

  it("refuses wrong arguments", function()
    s.raises("type", "structured_monoid: argument 1 (fn) must be a function, got number",
      function() sparse.structured_monoid(3) end)
    s.raises("type", "structured_monoid: the function's first operand must be sparse, got number",
      function() sparse.structured_monoid(damo.exp)(3) end)
    s.raises("shape", nil, function() sparse.structured_monoid(function(v) return v[{ { 1, 1 } }] end)(s.matrix {}) end)
  end)
end)

describe("structured gradients of a matrix with duplicates", function()
  it("add entry by entry, also through further structured functions", function()
    local a = damo.sparse.csr { data = { 1.0, 2, 3 }, indices = { 0, 0, 1 }, indptr = { 0, 2, 3 }, shape = { 2, 2 } }
    local x = damo.sparse.csr_matrix "x"
    local cost = damo.sum(damo.sparse.sin(x):toarray()) + damo.sum(damo.sparse.structured_exp(-x):toarray())
    for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE", "DEBUG" } do
      local g = damo.compile({ x }, damo.grad(cost, x), { mode = mode })(a)
      assert.equal(3, g.nnz)
      for i = 1, 3 do
        local v = a.data[i]
        assert.is_true(math.abs(g.data[i] - (math.cos(v) - math.exp(-v))) < 1e-14, mode)
      end
    end
  end)
end)

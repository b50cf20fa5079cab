-- Gradients with respect to integer inputs: as if the integers were floats, in floatX.
local damo = require "damo"
local S = damo.sparse
local failure = require "spec.support.failure"

local modes = { "FAST_RUN", "FAST_COMPILE", "DEBUG" }
local w = damo.dvector "w"
local weights = damo.array { 0.5, -1.25, 2 }
local ints = damo.constant(damo.array({ 100, 90, 80 }, "int8"))

local function gradient(cost, v, mode)
  return damo.compile({ v, w }, damo.grad(cost, v), { mode = mode, on_unused_input = "ignore" })
end

-- Compares fn(v, w) for an integer v with that for a float v; `at`: three integers.
local function check(name, fn, dtype, at, modes_of)
  local v, f = damo.tensor("v", { dtype = dtype, ndim = 1 }), damo.dvector "f"
  local expected = gradient(damo.sum(fn(f, w)), f)(damo.array(at), weights)
  assert.is_true(damo.max(damo.abs(expected)) > 0, name)
  for _, mode in ipairs(modes_of or modes) do
    local got = gradient(damo.sum(fn(v, w)), v, mode)(damo.array(at, dtype), weights)
    assert.equal("float64", got.dtype)
    local close = dtype == "int8" and { rtol = 1e-6 } or { rtol = 1e-12 }
    assert.is_true(damo.allclose(got, expected, close), name .. " of " .. dtype .. " in " .. mode)
  end
end

local integers = { "int8", "int32", "int64", "uint16" }

describe("the gradient for an integer input", function()
  it("is that of the float", function()
    local cases = {
      ["sqr of a product"] = function(v) return damo.sqr(v * w) end,
      sum = function(v) return damo.sqr(v + w) end,
      difference = function(v) return damo.sqr(w - v) end,
      quotient = function(v) return w / v end,
      ["quotient of integers"] = function(v) return v / ints end,
      power = function(v) return v ^ 2.5 end,
      exponent = function(v) return damo.exp(w) ^ v end,
      sqrt = function(v) return damo.sqrt(v) * w end,
      log = function(v) return damo.log(v) * w end,
      tanh = function(v) return damo.tanh(v / 10) end,
      cast = function(v) return damo.sin(damo.cast(v, "float64")) end,
      maximum = function(v) return damo.maximum(v, w) end,
      switch = function(v) return damo.switch(damo.gt(w, 0), v, w) * w end,
      clip = function(v) return damo.clip(v, 0.5, 100.5) * w end,
      arctan2 = function(v) return damo.arctan2(v, ints) * w end,
      hypot = function(v) return damo.sqrt(damo.sqr(damo.cast(v, "float64")) + damo.sqr(w)) end,
      moved = function(v) return damo.reshape(v[{ { -1, 1, -1 } }], { 3, 1 }) * w end,
      joined = function(v) return damo.join(1, { v, v }) * damo.join(1, { w, w * 2 }) end,
      chosen = function(v) return v[damo.idx { 3, 1, 3 }] * w end,
      mean = function(v) return damo.mean(v) * w end,
      dot = function(v) return damo.dot(v, w) ^ 2 end,
      softmax = function(v) return damo.softmax(v / 7) * w end,
      cumsum = function(v) return damo.cumsum(v * w) end,
      branch = function(v) return damo.ifelse(damo.gt(damo.sum(w), 0), v, v) * w end,
    }
    local names = {}
    for name in pairs(cases) do names[#names + 1] = name end
    table.sort(names)
    for _, name in ipairs(names) do
      check(name, cases[name], "int32", { 3, 1, 40 })
      for _, dtype in ipairs(integers) do check(name, cases[name], dtype, { 3, 1, 40 }, { "FAST_RUN" }) end
    end
  end)

  it("has the dtype of floatX", function()
    local i = damo.bscalar "i"
    damo.config.floatX = "float32"
    local ok, g = pcall(damo.grad, damo.sqrt(damo.cast(i, "float32")), i)
    damo.config.floatX = "float64"
    assert.is_true(ok)
    assert.equal("float32", g.dtype)
    assert.equal(0.25, g:eval { [i] = 4 })
    local b = damo.tensor("b", { dtype = "bool", ndim = 0 })
    assert.equal(18.0, damo.grad(damo.sqr(b * damo.constant(3.0)), b):eval { [b] = true })
  end)

  it("does not wrap if the Op's result does not", function()
    local i, y = damo.bscalar "i", damo.dscalar "y"
    local g = damo.compile({ i, y }, damo.grad(damo.arctan2(y, i), { i, y }))
    local gi, gy = g(100, 50)
    assert.is_true(math.abs(gi + 50 / 12500) < 1e-9)
    assert.is_true(math.abs(gy - 100 / 12500) < 1e-9)
  end)

  it("can be used with shared and data matrices", function()
    local X = damo.shared(damo.array({ { 1, 2 }, { 3, 4 } }, "int64"), "X")
    local p = damo.dvector "p"
    local g = damo.grad(damo.sum(damo.sigmoid(damo.dot(X, p))), X)
    local F = damo.dmatrix "F"
    local h = damo.grad(damo.sum(damo.sigmoid(damo.dot(F, p))), F)
    local at = damo.array { 0.25, -0.5 }
    for _, mode in ipairs(modes) do
      local got = damo.compile({ p }, g, { mode = mode })(at)
      assert.is_true(damo.allclose(got, damo.compile({ F, p }, h, { mode = mode })({ { 1, 2 }, { 3, 4 } }, at)))
    end
  end)

  it("is zero through comparisons, rounding and integer results", function()
    local v = damo.lvector "v"
    local costs = {
      comparison = damo.sum(damo.gt(v, 1) * w),
      rounding = damo.sum(damo.floor(v / 2) * w),
      product = damo.sum(v * v) * damo.sum(w),
      sum = damo.sum(v) * damo.sum(w),
      cast = damo.sum(damo.cast(v, "int32") * w),
      integer_cost = damo.sum(v),
    }
    for name, cost in pairs(costs) do
      local g = damo.grad(cost, v)
      assert.equal("float64", g.dtype, name)
      assert.same({ 0, 0 }, gradient(cost, v)({ 1, 2 }, { 1, 2 }):totable(), name)
    end
    local f = damo.dvector "f"
    local truncated = damo.sum(damo.cast(f, "int32") * w)
    assert.same({ 0, 0 }, gradient(truncated, f)({ 1, 2 }, { 1, 2 }):totable())
  end)

  it("has forward and second derivatives", function()
    local i, t = damo.ivector "i", damo.dvector "t"
    local values = { [i] = damo.array({ 3, 1 }, "int32"), [w] = { 0.5, 2 }, [t] = { 0.5, 1 } }
    assert.same({ 0.75, 8 }, damo.Rop(damo.sqr(i * w), i, t):eval(values):totable())
    local g = damo.grad(damo.sum(damo.sqr(i * w)), i)
    assert.same({ 0.5, 8 }, damo.grad(damo.sum(g), i):eval(values, { on_unused_input = "ignore" }):totable())
  end)

  it("goes through an OpFromGraph", function()
    for _, inline in ipairs { true, false } do
      local a, b = damo.ivector "a", damo.dvector "b"
      local op = damo.graph.OpFromGraph({ a, b }, { damo.sqr(a * b) }, { inline = inline })
      local i = damo.ivector "i"
      assert.same({ 1.5, 8 }, gradient(damo.sum(op(i, w)), i)(damo.array({ 3, 1 }, "int32"), { 0.5, 2 }):totable())
    end
  end)

  it("is refused by an Op without a gradient, as for floats", function()
    local v = damo.lvector "v"
    local op = damo.Op { name = "Bare",
      make_node = function(self, x) return damo.Apply(self, { x }, { damo.dvector() }) end }
    failure("null_gradient", damo.grad, damo.sum(op(v)), v)
  end)
end)

describe("the gradient for a sparse integer matrix", function()
  local value = { { 1, 0, 2 }, { 0, 3, 0 } }

  local function check_sparse(name, fn, format)
    local A = S.matrix(format, "A", { dtype = "int32" })
    local B = S.matrix(format, "B", { dtype = "float64" })
    local b = S.from_dense(damo.array(value), format)
    local a = S.from_dense(damo.array(value, "int32"), format)
    local function dense(g) return S.is_sparse(g) and g:toarray() or g end
    local options = { on_unused_input = "ignore" }
    local expected = dense(damo.compile({ B, w }, damo.grad(damo.sum(fn(B)), B), options)(b, weights))
    assert.is_true(damo.max(damo.abs(expected)) > 0, name)
    for _, mode in ipairs(modes) do
      options.mode = mode
      local got = damo.compile({ A, w }, damo.grad(damo.sum(fn(A)), A), options)(a, weights)
      assert.equal("float64", got.dtype, name)
      assert.is_true(damo.allclose(dense(got), expected, { rtol = 1e-12 }), name .. " " .. mode)
    end
  end

  it("is that of the float", function()
    local dense = damo.constant(damo.array { { 1, 2, 3 }, { 4, 5, 6 } } / 8)
    local other = damo.constant(S.csr { { 0.5, 1, 0 }, { 0, 0.25, 2 } })
    local cases = {
      dot = function(A) return damo.sqr(S.dot(A, w)) end,
      ["dot from the left"] = function(A) return damo.sqr(S.dot(damo.transpose(dense), A)) end,
      structured_dot = function(A) return damo.sqr(S.structured_dot(A, damo.transpose(dense))) end,
      true_dot = function(A) return S.sqr(S.true_dot(S.cast(A, "float64"), S.transpose(other))) end,
      cast = function(A) return S.sqr(S.cast(A, "float64")) end,
      add = function(A) return S.sqr(S.add(A, other)) end,
      ["add of a dense"] = function(A) return damo.sqr(S.add(A, dense)) end,
      mul = function(A) return S.sqr(S.mul(A, other)) end,
      ["mul of a dense"] = function(A) return S.sqr(S.mul(A, dense)) end,
      ["mul of a number"] = function(A) return S.sqr(A * 0.5) end,
      division = function(A) return S.sqr(A / 4) end,
      ["division by a dense"] = function(A) return S.sqr(A / dense) end,
      col_scale = function(A) return S.sqr(S.col_scale(A, w)) end,
      toarray = function(A) return A:toarray() * dense end,
      sin = function(A) return damo.sin(A) end,
      mean = function(A) return S.mean(A, { sparse_grad = true }) end,
      transpose = function(A) return S.sqr(S.transpose(A) * 0.5) end,
      stack = function(A) return S.sqr(S.hstack { A, A } * 0.5) end,
      stack_with = function(A) return S.sqr(S.vstack { A, other }) end,
      bmat = function(A) return S.sqr(S.bmat { { A, other } }) end,
      block_diag = function(A) return S.sqr(S.block_diag { A, other }) end,
      part = function(A) return S.sqr(A[{ { 1, 2 }, { 1, 2 } }] * 0.5) end,
      entry = function(A) return damo.sqr(A[{ 1, 3 }] * 0.5) end,
      rows = function(A) return S.sqr(S.get_item_list(A, damo.idx { 2, 1 }) * 0.5) end,
      tril = function(A) return S.sqr(S.tril(A) * 0.5) end,
      permute = function(A) return S.sqr(S.permute(A, { 2, 1 }, { 3, 1, 2 }) * 0.5) end,
      data = function(A) return damo.sqr(S.csm_data(A) * 0.5) end,
      norm = function(A) return S.norm(A) end,
      maximum = function(A) return S.maximum(A, other) end,
      kron = function(A) return S.sqr(S.kron(A, other)) end,
      power = function(A) return S.structured_pow(A, 2.5) end,
      usmm = function(A)
        return damo.sqr(S.usmm(0.5, A, damo.transpose(dense), damo.constant(damo.ones { 2, 2 })))
      end,
      sampling_dot = function(A)
        return S.sqr(S.sampling_dot(damo.constant(damo.ones { 2, 3 }), damo.constant(damo.ones { 3, 3 }), A))
      end,
    }
    local names = {}
    for name in pairs(cases) do names[#names + 1] = name end
    table.sort(names)
    for _, name in ipairs(names) do
      check_sparse(name, cases[name], "csr")
      check_sparse(name, cases[name], "csc")
    end
  end)

  it("goes through solvers", function()
    local A, B, b = S.csr_matrix("A", { dtype = "int64" }), S.csr_matrix "B", damo.dvector "b"
    local a = { { 4, 1, 0 }, { 1, 3, 1 }, { 0, 1, 5 } }
    for name, fn in pairs {
      solve = function(M) return damo.sum(damo.sqr(S.solve(M, b))) end,
      det = function(M) return S.det(M) end,
      logdet = function(M) return S.logdet(M) end,
      lstsq = function(M) return damo.sum(damo.sqr((S.lstsq(M, b)))) end,
    } do
      local options = { on_unused_input = "ignore" }
      local f = damo.compile({ A, b }, damo.grad(fn(A), A), options)
      local g = damo.compile({ B, b }, damo.grad(fn(B), B), options)
      local v = damo.array { 1, 2, 3 }
      local got = f(S.from_dense(damo.array(a, "int64"), "csr"), v)
      assert.equal("float64", got.dtype)
      assert.is_true(damo.allclose(got:toarray(), g(S.csr(a), v):toarray()), name)
    end
    local i = damo.ivector "i"
    local g = damo.grad(damo.sum(S.solve(damo.constant(S.csr(a)), i)), i)
    local expected = S.solve(S.csr(a), damo.array { 1, 1, 1 })
    assert.is_true(damo.allclose(g:eval({ [i] = damo.array({ 1, 2, 3 }, "int32") }, { on_unused_input = "ignore" }),
      expected))
  end)
end)

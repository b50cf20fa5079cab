-- Derivatives through sparse states of loops, against finite differences.
local damo = require "damo"
local sparse = damo.sparse
local A = damo.array

local POLICIES = { "all", 2, "log" }
local H = { { 0.5, 0, 0.3 }, { 0, 0.7, 0 }, { 0.2, 0, 0.4 } }
local K = { { 0.1, 0.2, 0 }, { 0, 0.3, 0.9 }, { 0.7, 0, 0.2 } }

local function matrix(rows, format) return sparse.from_dense(A(rows), format or "csr") end

local function check(fn, values, options)
  sparse.verify_grad_sparse(fn, values, options or { structured = true })
end

-- What a step makes of the state h; of csc what it makes of csr.
local steps = {
  scaled = function(h, _, c) return h * c end,
  product = function(h, k) return sparse.true_dot(h, k) end,
  square = function(h, _, c) return sparse.true_dot(h, h) * c end,
  sum = function(h, k, c) return h + k * c end,
  ["entries of both"] = function(h, k, c) return h * k * c end,
  sine = function(h) return damo.sin(h) end,
  rows = function(h, _, _, v) return sparse.mul_s_v(h, v) end,
  ["through dense"] = function(h, _, c)
    local y = damo.tanh(h:toarray() * c + 0.1)
    return h.format == "csr" and sparse.csr_from_dense(y) or sparse.csc_from_dense(y)
  end,
  ["the other format"] = function(h, _, c)
    return h.format == "csr" and sparse.csr_from_dense((h.T * c):toarray())
      or sparse.csc_from_dense((h.T * c):toarray())
  end,
  nonlinear = function(h, _, _, v) return h * sparse.dot(h, v):sum() end,
}

-- Costs whose cotangent is sparse, dense or on the stored entries.
local costs = {
  sum = function(h) return h:sum() end,
  dense = function(h) return damo.sin(h:toarray()):sum() end,
  ["with a dense operand"] = function(h) return damo.sin(h + damo.ones { 3, 3 }):sum() end,
  entries = function(h) return damo.sqr(sparse.csm_data(h)):sum() end,
}

-- The state after three steps.
local loops = {
  scan = function(step, h, policy) return (damo.scan(step, { outputs_info = h, n_steps = 3, checkpoint = policy })) end,
  reduce = function(step, h, policy)
    return (damo.reduce(function(_, s) return step(s) end, { sequences = A { 1, 2, 3 }, outputs_info = h,
      checkpoint = policy }))
  end,
  foldl = function(step, h, policy)
    return (damo.foldl(function(_, s) return step(s) end, { sequences = A { 1, 2, 3 }, outputs_info = h,
      checkpoint = policy }))
  end,
  ["until"] = function(step, h, policy)
    local _, last = damo.scan(function(i, s) return i + 1, step(s), damo.until_(damo.ge(i, 2)) end,
      { outputs_info = { 0.0, h }, n_steps = 9, checkpoint = policy })
    return last
  end,
  while_loop = function(step, h, policy)
    local _, last = damo.while_loop(function(i) return damo.lt(i, 3) end,
      function(i, s) return i + 1, step(s) end, { 0.0, h }, { checkpoint = policy })
    return last
  end,
}

describe("the gradient through a sparse state", function()
  local function values(format) return { matrix(H, format), matrix(K, format), A(1.1), A { 0.3, 0.8, 1.2 } } end

  for name, step in pairs(steps) do
    it("is that of the steps: " .. name, function()
      for _, cost in pairs(costs) do
        for _, policy in ipairs(POLICIES) do
          for _, format in ipairs { "csr", "csc" } do
            check(function(h0, k, c, v)
              return cost(loops.scan(function(h) return step(h, k, c, v) end, h0, policy))
            end, values(format))
          end
        end
      end
    end)
  end

  for name, loop in pairs(loops) do
    it("is that of each kind of loop: " .. name, function()
      for _, policy in ipairs(POLICIES) do
        check(function(h0, k, c, v)
          local last = loop(function(h) return sparse.true_dot(h, k) * c + h * v:sum() end, h0, policy)
          return damo.sin(last:toarray()):sum()
        end, values())
      end
    end)
  end

  it("reaches the places that are not stored, where the step reads them", function()
    for _, policy in ipairs(POLICIES) do
      check(function(h0, k)
        return damo.sin(loops.scan(function(h) return sparse.true_dot(h, k) end, h0, policy):toarray()):sum()
      end, { matrix(H), matrix(K) }, { structured = false })
    end
  end)

  it("goes by other states, sequences and what is collected", function()
    for _, policy in ipairs(POLICIES) do
      check(function(h0, x, c)
        local _, z = damo.scan(function(h, v) return h * c, damo.tanh(sparse.dot(h, v)) end,
          { outputs_info = { h0, x }, n_steps = 4, checkpoint = policy })
        return z:sum()
      end, { matrix(H), A { 1, 2, 3 }, A(0.8) })
      check(function(h0, x, c)
        local _, z = damo.scan(function(h, v) return h * v:sum(), damo.tanh(v * c) end,
          { outputs_info = { h0, x }, n_steps = 4, checkpoint = policy })
        return damo.sqr(z[2]):sum() + damo.sin(z[-1]):sum() * h0:sum()
      end, { matrix(H), A { 1, 2, 3 }, A(0.8) })
      for _, fold in ipairs { damo.foldl, damo.foldr } do
        check(function(h0, u, k)
          local last = fold(function(a, h) return sparse.true_dot(h, k) * a end,
            { outputs_info = h0, sequences = u, checkpoint = policy })
          return damo.sqr(last:toarray()):sum()
        end, { matrix(H), A { 1, 2, 0.3 }, matrix(K) })
      end
      check(function(h0, k, c) -- of a collected one the last value counts
        local _, z = damo.scan(function(h) return h * c, sparse.true_dot(h * c, h) + k end,
          { outputs_info = { h0, false }, n_steps = 4, checkpoint = policy })
        return damo.sin(z:toarray()):sum()
      end, { matrix(H), matrix(K), A(0.8) })
      check(function(x, k) -- and of a dense state's loop
        local v, z = damo.scan(function(v) return damo.tanh(sparse.dot(k, v)), sparse.mul_s_v(k, v) end,
          { outputs_info = { x, false }, n_steps = 4, checkpoint = policy })
        return damo.sin(z:toarray()):sum() + v:sum()
      end, { A { 1, 2, 3 }, matrix(K) })
    end
  end)

  it("follows a matrix that grows", function()
    for _, policy in ipairs(POLICIES) do
      check(function(h0, c)
        local _, h = damo.while_loop(function(i) return damo.lt(i, 3) end,
          function(i, h) return i + 1, sparse.vstack({ h * c, damo.sin(h) }, { format = "csr" }) end, { 0.0, h0 },
          { checkpoint = policy })
        return (damo.sqr(sparse.sp_sum(h, { axis = 1 })) * A { 1, 2, 3 }):sum()
      end, { matrix(H), A(0.7) })
      check(function(h0, c) -- whose own last value nobody reads
        local _, _, z = damo.while_loop(function(i) return damo.lt(i, 3) end,
          function(i, h, z)
            return i + 1, sparse.vstack({ h * c, damo.sin(h) }, { format = "csr" }), z + damo.sqr(sparse.sp_sum(h * c))
          end, { 0.0, h0, 0.0 }, { checkpoint = policy })
        return z
      end, { matrix(H), A(0.7) })
    end
  end)

  it("is entry by entry where a matrix has several at one position", function()
    local w, c = sparse.csr_matrix "w", damo.dscalar "c"
    local function double(entries)
      return sparse.csr { data = A(entries), indices = A({ 0, 0, 1 }, "int32"), indptr = A({ 0, 2, 3 }, "int32"),
        shape = { 2, 2 } }
    end
    for _, policy in ipairs(POLICIES) do
      local y = loops.scan(function(h) return damo.sin(h) * c end, w, policy):sum()
      local f, g = damo.compile({ w, c }, y), damo.compile({ w, c }, damo.grad(y, w))(double { 1, 2, 3 }, 2)
      for i = 1, 3 do
        local function at(e)
          local entries = { 1, 2, 3 }
          entries[i] = entries[i] + e
          return f(double(entries), 2)
        end
        assert.near((at(1e-6) - at(-1e-6)) / 2e-6, g.data[i], 1e-7)
      end
    end
  end)

  it("is sparse where the steps give it sparse, and costs no dense matrix", function()
    local w, c, n = sparse.csr_matrix "w", damo.dscalar "c", 100000
    for _, policy in ipairs(POLICIES) do
      local h = loops.scan(function(h) return sparse.true_dot(h, w) * c end, w, policy)
      local by_w, by_c = damo.compile({ w, c }, damo.grad(sparse.sp_sum(h, { sparse_grad = true }), { w, c }))(
        sparse.eye(n, n), 0.5)
      assert.equal("csr", by_w.format)
      assert.equal(n, by_w.nnz)
      assert.near(4 * 0.125, by_w.data[7], 1e-12)
      assert.near(3 * 0.25 * n, by_c, 1e-6)
    end
  end)

  it("is that of the last steps with truncate_gradient, and the cotangent itself after no step", function()
    local w, c, n = sparse.csr_matrix "w", damo.dscalar "c", damo.lscalar "n"
    for _, policy in ipairs(POLICIES) do
      local h = damo.scan(function(h) return h * c end,
        { outputs_info = w, n_steps = n, truncate_gradient = 2, checkpoint = policy })
      local f = damo.compile({ w, c, n }, damo.grad(h:sum(), { w, c }))
      local by_w, by_c = f(matrix(H), 2, 5)
      assert.equal(0, damo.abs(by_w:toarray()):max())
      assert.near(2 * 2 * 8 * 2.1, by_c, 1e-12)
      by_w, by_c = f(matrix(H), 2, 2)
      assert.near(4, by_w:toarray()[{ 2, 2 }], 1e-12)
      assert.near(2 * 2 * 2.1, by_c, 1e-12)
      by_w, by_c = f(matrix(H), 2, 0)
      assert.near(1, by_w:toarray()[{ 2, 2 }], 1e-12)
      assert.equal(0, by_c)
    end
  end)

  it("is that of shared matrices, in a graph's own Op and in every mode", function()
    local c = damo.dscalar "c"
    local s = damo.shared(matrix(H), "s")
    local y = damo.sin(loops.scan(function(h) return sparse.true_dot(h, s) * c end, s, 2):toarray()):sum()
    local want = damo.compile({ c }, damo.grad(y, s))(0.9):toarray()
    for _, mode in ipairs { "FAST_COMPILE", "DEBUG", "NANGUARD" } do
      local got = damo.compile({ c }, damo.grad(y, s), { mode = mode })(0.9):toarray()
      assert.is_true(damo.allclose(want, got, { rtol = 1e-12 }), mode)
    end
    local w = sparse.csr_matrix "w"
    local last = loops.scan(function(h) return sparse.true_dot(h, w) * c end, w, "log")
    local op = damo.graph.OpFromGraph({ w, c }, { last })
    local z = damo.sin(op(w, c):toarray()):sum()
    local got = damo.compile({ w, c }, damo.grad(z, w))(matrix(H), 0.9):toarray()
    assert.is_true(damo.allclose(want, got, { rtol = 1e-12 }))
  end)

  it("stays zero through integer states", function()
    local w, x = sparse.csr_matrix("w", { dtype = "int64" }), damo.dvector "x"
    local _, z = damo.scan(function(h, v) return h, sparse.dot(h, v) end, { outputs_info = { w, x }, n_steps = 3 })
    local g = damo.compile({ w, x }, damo.grad(z[-1]:sum(), x))(sparse.from_dense(A({ { 1, 2 }, { 0, 3 } }, "int64"),
      "csr"), A { 1, 2 })
    assert.same({ 1, 53 }, g:totable()) -- (1 1)·Wᵗ³
  end)

  it("has tangents of its own in every policy", function()
    local w, c, e = sparse.csr_matrix "w", damo.dscalar "c", 1e-6
    for _, policy in ipairs(POLICIES) do
      for name, loop in pairs(loops) do
        local last = loop(function(h) return damo.sin(sparse.true_dot(h, h) * c + w) end, w, policy)
        local y = damo.sin(last:toarray()):sum()
        local by_c, by_w = damo.grad(y, c), damo.grad(y, w)
        local f = damo.compile({ w, c }, { by_c, by_w })
        local g = damo.compile({ w, c }, { damo.Rop(by_c, c, 1), damo.Rop(by_w, c, 1) })
        local up_c, up_w = f(matrix(H), 0.9 + e)
        local down_c, down_w = f(matrix(H), 0.9 - e)
        local of_c, of_w = g(matrix(H), 0.9)
        assert.near((up_c - down_c) / (2 * e), of_c, 1e-7, name)
        local moved = (up_w:toarray() - down_w:toarray()) / (2 * e)
        assert.is_true(damo.allclose(moved, of_w:toarray(), { rtol = 1e-6, atol = 1e-7 }), name .. ", " .. policy)
        local along = sparse.csr_matrix "along" -- the same mixed derivative from the other side
        local mixed = damo.compile({ w, c, along }, damo.Rop(by_c, w, along))(matrix(H), 0.9, matrix(H))
        assert.near(mixed, (of_w:toarray() * matrix(H):toarray()):sum(), 1e-9, name)
      end
    end
  end)

  it("has tangents next to those of other states and sequences", function()
    local w, c, x, e = sparse.csr_matrix "w", damo.dscalar "c", damo.dmatrix "x", 1e-6
    local at = A { { 0.1, 0.2, 0.3 }, { 0.4, 0.5, 0.6 }, { 0.7, 0.8, 0.9 } }
    for _, policy in ipairs(POLICIES) do
      local _, h, v = damo.scan(function(u, k, h, before, long_before)
        return k + c, damo.sin(h * c) + h * before[1], damo.tanh(sparse.dot(h, before) * k + long_before * u)
      end, { sequences = x, outputs_info = { c, w, { initial = x, taps = { -1, -3 } } }, checkpoint = policy })
      local y = damo.sin(h:toarray()):sum() + damo.cos(v):sum()
      local f = damo.compile({ w, c, x }, damo.grad(y, { c, x }))
      local by_c, by_x = damo.grad(y, c), damo.grad(y, x)
      local g = damo.compile({ w, c, x },
        { damo.Rop(by_c, { c, x }, { 1, damo.cos(x) }), damo.Rop(by_x, { c, x }, { 1, damo.cos(x) }) })
      local up_c, up_x = f(matrix(H), 0.9 + e, at + e * damo.cos(at))
      local down_c, down_x = f(matrix(H), 0.9 - e, at - e * damo.cos(at))
      local of_c, of_x = g(matrix(H), 0.9, at)
      assert.near((up_c - down_c) / (2 * e), of_c, 1e-7, policy)
      assert.is_true(damo.allclose((up_x - down_x) / (2 * e), of_x, { rtol = 1e-6, atol = 1e-7 }), policy)
    end
  end)

  it("refuses a second one by grad that would need the states themselves again", function()
    local w, c = sparse.csr_matrix "w", damo.dscalar "c"
    local y = damo.sin(loops.scan(function(h) return sparse.true_dot(h, h) * c end, w, "all"):toarray()):sum()
    local ok, err = pcall(damo.grad, damo.grad(y, c), c)
    assert.is_false(ok)
    assert.equal("not_implemented", err.kind)
    assert.truthy(err.message:find("the sparse state that is output 1", 1, true), err.message)
  end)
end)

describe("the tangent of a sparse state", function()
  it("rides along", function()
    local w, c, x = sparse.csr_matrix "w", damo.dscalar "c", damo.dvector "x"
    local e, d, step = sparse.csc_matrix "e", damo.dmatrix "d", 1e-6
    local h, z = damo.scan(function(h, v) return sparse.true_dot(h, h) * c, damo.tanh(sparse.dot(h, v)) end,
      { outputs_info = { w, x }, n_steps = 3 })
    local y = damo.sin(h:toarray()):sum() + z:sum()
    local at, along, v = matrix(H), matrix(K), A { 1, 2, 3 }
    local f = damo.compile({ w, c, x }, y)
    local expected = (f(at + along * step, 0.9, v) - f(at - along * step, 0.9, v)) / (2 * step)
    assert.near(expected, damo.compile({ w, c, x, e }, damo.Rop(y, w, e))(at, 0.9, v, along), 1e-8)
    assert.near(expected, damo.compile({ w, c, x, d }, damo.Rop(y, w, d))(at, 0.9, v, along:toarray()), 1e-8)
    expected = (f(at, 0.9 + step, v) - f(at, 0.9 - step, v)) / (2 * step)
    assert.near(expected, damo.compile({ w, c, x }, damo.Rop(y, c, 1))(at, 0.9, v), 1e-8)
    local last = damo.compile({ w, c, x }, damo.Rop(h, c, 1))(at, 0.9, v)
    local g = damo.compile({ w, c, x }, h)
    local moved = ((g(at, 0.9 + step, v) - g(at, 0.9 - step, v)):toarray() / (2 * step))
    assert.is_true(damo.allclose(moved, last:toarray(), { rtol = 1e-6 }))
  end)
end)

-- DEBUG and NANGUARD examine sparse values: reruns, rewrites, dense equivalents, nonfinite entries.
local damo = require "damo"
local s = require "spec.sparse.support"
local sparse = damo.sparse
local graphs = require "spec.sparse.class_graphs"
local stored = require "spec.support.stored"

local A = sparse.csr { data = { 1, 2, 3 }, indices = { 0, 2, 1 }, indptr = { 0, 2, 3 }, shape = { 2, 3 } }
local T = sparse.SparseTensorType("csr", "float64")

local function lua_op(perform)
  return damo.Op {
    name = "Odd", itypes = { T }, otypes = { T },
    perform = function(_, _, inputs, out) out[1][1] = perform(inputs[1]) end,
  }
end

describe("DEBUG", function()
  it("notices a sparse result that changes from run to run", function()
    local runs = 0
    local op = lua_op(function(a)
      runs = runs + 1
      return a * runs
    end)
    local x = sparse.csr_matrix "x"
    local err = s.raises("inconsistency", nil, function() damo.compile({ x }, op(x), { mode = "DEBUG" })(A) end)
    assert.is_truthy(err.message:find("DEBUG: output 1 is another one when the node runs without room for its results: "
      .. "1 against 2 at {1} of the stored entries", 1, true))
  end)

  it("accepts the same matrix stored in another order", function()
    local runs = 0
    local turned = sparse.csr { data = { 2, 1, 3 }, indices = { 2, 0, 1 }, indptr = { 0, 2, 3 }, shape = { 2, 3 } }
    local op = lua_op(function(a)
      runs = runs + 1
      return runs % 2 == 0 and turned or a
    end)
    local x = sparse.csr_matrix "x"
    assert.equal(3, damo.compile({ x }, op(x), { mode = "DEBUG" })(A).nnz)
  end)

  it("notices a rewrite that changes a sparse value", function()
    damo.rewrite.register("odd_neg", function(_, node)
      if node.op.name == "Neg" then return { node.inputs[1] } end
    end, "fast_run")
    local x = sparse.csr_matrix "x"
    local ok, err = pcall(function() return damo.compile({ x }, sparse.neg(x), { mode = "DEBUG" })(A) end)
    damo.rewrite.unregister "odd_neg"
    assert.is_false(ok)
    assert.equal("inconsistency", err.kind)
    assert.is_truthy(err.message:find("odd_neg", 1, true))
  end)

  it("compares every sparse op with its dense equivalent", function()
    local x, y, d, v = sparse.csr_matrix "x", sparse.csc_matrix "y", damo.matrix "d", damo.vector "v"
    local B = sparse.csc { data = { 5, 6 }, indices = { 1, 0 }, indptr = { 0, 1, 1, 2 }, shape = { 2, 3 } }
    local D, V = s.dense(2, 3), damo.array { 1, 2, 3 }
    local outputs = {
      sparse.add(x, y), sparse.mul(x, y), sparse.add(x, d), sparse.mul(x, d), sparse.sub(x, y), sparse.neg(x), x.T,
        x:tocsc(),
      sparse.col_scale(x, v), sparse.mul_s_v(x, v), sparse.row_scale(x.T, v), sparse.dot(x, d.T), sparse.true_dot(x,
        y.T),
      sparse.structured_dot(x, d.T), sparse.sampling_dot(d, d, sparse.true_dot(x, x.T)), sparse.sp_sum(x, { axis = 1 }),
      sparse.sp_sum(y), sparse.usmm(2, x, y.T, damo.dot(d, d.T)), sparse.eq(x, y:tocsr()), sparse.ge(x, d),
        sparse.cast(x, "float32"),
      sparse.remove0(x), sparse.ensure_sorted_indices(x), sparse.csr_from_dense(d), x:toarray(),
    }
    assert.has_no_error(function() damo.compile({ x, y, d, v }, outputs, { mode = "DEBUG" })(A, B, D, V) end)
  end)

  for _, row in ipairs(graphs.rows) do
    it("computes " .. row[1] .. " by its check too", function()
      local f = graphs.compile(row)
      local found = false
      for _, node in ipairs(f.fgraph.apply_nodes) do found = found or node.op.name == row[1] end
      assert.is_true(found, "no " .. row[1])
      f(table.unpack(graphs.values))
    end)

    it("computes " .. row[1] .. " as it stands in a file", function()
      local inputs, outputs = stored(graphs.inputs, { row[2]() })
      local mode = { mode = row.mode or "DEBUG", on_unused_input = "ignore" }
      damo.compile(inputs, outputs, mode)(table.unpack(graphs.values))
    end)
  end

  local x = sparse.csr_matrix "x"
  local inf, nan = 1 / 0, 0 / 0
  local function run(fn)
    return damo.compile({ x }, fn(x), { mode = "DEBUG", on_unused_input = "ignore" })(A)
  end

  it("accepts that an absent entry of a sparse product meets neither nan nor inf", function()
    local holes = damo.constant(damo.array { { 2, inf, 3 }, { nan, 4, inf } })
    s.close(run(function(m) return m * holes end), { 2, 0, 6, 0, 12, 0 })
    s.close(run(function(m) return sparse.col_scale(m[{ { 2, 2 } }], damo.constant(damo.array { inf, 2, nan })) end),
      { 0, 6, 0 })
    local gaps = damo.constant(damo.array { { 1, 2 }, { 3, 4 }, { inf, nan } })
    s.close(run(function(m) return sparse.structured_dot(m[{ { 2, 2 } }], gaps) end), { 9, 12 })
  end)

  it("accepts stored nan and inf in constants", function()
    local odd = damo.constant(sparse.csr { data = { nan, inf, 3 }, indices = { 0, 2, 1 }, indptr = { 0, 2, 3 },
      shape = { 2, 3 } })
    s.close(run(function(m) return sparse.lt(m, odd) end), { 0, 0, 1, 0, 0, 0 })
    s.close(run(function() return odd[{ { 2, 2 } }] end), { 0, 3, 0 })
    s.close(run(function() return odd[{ 2, 2 }] end), { 3 })
    s.raises("numeric", nil, function() run(function(m) return sparse.mul(m, odd) end) end)
  end)

  it("allows for cancellation in a sum of large terms", function()
    local list, indices = {}, {}
    for i = 1, 301 do
      list[i] = i == 301 and 0.5 or (i % 2 == 0 and -1 or 1) * 1e14 * math.sin(math.floor(i / 2) % 150)
      indices[i] = i - 1
    end
    local wide = sparse.csr { data = list, indices = indices, indptr = { 0, 301 }, shape = { 1, 301 } }
    local ones = damo.constant(damo.ones { 301, 2 })
    local outputs = { sparse.dot(x, ones), sparse.sp_sum(x, { axis = 2 }), sparse.sp_sum(x.T, { axis = 1 }),
      sparse.sp_sum(x), sparse.dot(x, x.T), sparse.true_dot(x, x.T * 0 + sparse.structured_add(x * 0, 1).T) }
    for _, out in ipairs(outputs) do
      assert.has_no_error(function() damo.compile({ x }, out, { mode = "DEBUG" })(wide) end)
    end
  end)

  it("allows for cancellation in a residual, however the node runs", function()
    local m = s.dense(8, 301)
    local solution = s.dense(301, 1, "float64", 9) * 1e8
    local b = damo.dot(m, solution)
    local tall, target = damo.matrix "w", damo.matrix "b"
    for _, format in ipairs(s.formats) do
      local factor = sparse.matrix(format, "z")
      local residual = target - sparse.dot(factor, tall)
      for _, wanted in ipairs { residual, damo.grad(damo.sum(damo.sqr(residual)), factor) } do
        local f = damo.compile({ factor, tall, target }, wanted, { mode = "DEBUG" })
        assert.has_no_error(function() f(sparse.from_dense(m, format), solution, b) end)
      end
    end
  end)

  it("allows for cancellation in derivatives of systems whose residual is 0", function()
    for _, format in ipairs(s.formats) do
      for seed = 1, 4 do
        local a, b = sparse.from_dense(s.dense(5, 5, "float64", seed), format), s.dense(5, 2, "float64", seed + 1)
        local system, given = sparse.matrix(format, "z"), damo.matrix "y"
        local first = damo.grad(damo.sum(damo.sin((sparse.lstsq(system, given)))), system)
        local second = damo.grad(sparse.sp_sum(sparse.square(first), { sparse_grad = true }), { system, given })
        assert.has_no_error(function() damo.compile({ system, given }, second, { mode = "DEBUG" })(a, b) end)
      end
    end
  end)

  -- Nearly dependent columns: the different rounding of a rewrite grows with the inverse.
  local function nearly_singular(seed)
    local t = s.dense(5, 5, "float32", seed):totable()
    for i = 1, 5 do t[i][2] = t[i][1] * (1 + 1e-5 * i) end
    return damo.array(t, "float32")
  end

  it("allows for rounding errors that an inverse amplifies", function()
    for _, format in ipairs(s.formats) do
      for _, seed in ipairs { 7, 13, 25 } do
        local m = nearly_singular(seed)
        local a, b = sparse.from_dense(m, format), damo.dot(m, s.dense(5, 2, "float32", seed))
        local system, given = s.variable(a, "z"), s.variable(b, "y")
        local first = damo.grad(damo.sum(damo.sqr((sparse.lstsq(system, given)))), system)
        local second = damo.grad(sparse.sp_sum(sparse.square(first), { sparse_grad = true }), { system, given })
        assert.has_no_error(function() damo.compile({ system, given }, second, { mode = "DEBUG" })(a, b) end)
      end
    end
  end)

  it("allows for the few digits of subnormal numbers", function()
    for _, seed in ipairs { 1, 3, 5 } do
      local a, b = sparse.from_dense(s.dense(4, 6, "float32", seed), "csr"), s.vector(4, "float32", seed + 1)
      local system, given = s.variable(a, "z"), s.variable(b, "y")
      for _, name in ipairs { "lstsq", "solve" } do
        local f = damo.compile({ system, given }, (sparse[name](system, given)), { mode = "DEBUG" })
        for n = 36, 46 do
          local half, rest = 10.0 ^ -math.floor(n / 2), 10.0 ^ -math.ceil(n / 2)
          local tiny = b * damo.cast(half, "float32") * damo.cast(rest, "float32")
          assert.has_no_error(function() f(a, tiny) end)
        end
      end
    end
  end)
end)

describe("NANGUARD", function()
  local x, v = sparse.csr_matrix "x", damo.vector "v"
  local bad = A:copy()
  bad.data[2] = 0 / 0

  it("checks sparse inputs, shared values and results", function()
    local f = damo.compile({ x }, sparse.neg(x), { mode = "NANGUARD" })
    assert.equal(3, f(A).nnz)
    local err = s.raises("numeric", nil, function() f(bad) end)
    assert.is_truthy(err.message:find("NANGUARD: input 1 (x) of function holds nan at {2} of the stored entries", 1,
      true)
      or err.message:find("holds -nan at {2} of the stored entries", 1, true))
    local shared = damo.shared(bad, "s")
    err = s.raises("numeric", nil, function() damo.compile({}, sparse.neg(shared), { mode = "NANGUARD" })() end)
    assert.is_truthy(err.message:find("the shared value s of function holds", 1, true))
    local g = damo.compile({ x, v }, sparse.col_scale(x, v), { mode = "NANGUARD" })
    err = s.raises("numeric", nil, function() g(A, damo.array { 1e308, 1, 1e308 } * 1e300) end)
    assert.equal("numeric", err.kind)
    g(A, damo.array { 1, 2, 3 })
    err = s.raises("numeric", nil, function() damo.compile({ x, v }, sparse.mul_s_v(x * 1e300, v),
      { mode = "NANGUARD" })(A, damo.array { 1e300, 1, 1 }) end)
    assert.is_truthy(err.message:find("of the stored entries", 1, true))
  end)

  it("ignores integers and empty matrices", function()
    local i = sparse.csr_matrix("i", { dtype = "int64" })
    local f = damo.compile({ i }, sparse.neg(i), { mode = "NANGUARD" })
    assert.equal(0, f(sparse.csr(damo.zeros({ 0, 4 }, "int64"))).nnz)
  end)
end)

describe("DEBUG and index dtypes", function()
  it("accepts a matrix with int32 indices and duplicates for a Type with int64", function()
    local a = sparse.csr { data = { 1.0, 3, 2, 5 }, indices = { 0, 1, 0, 0 }, indptr = { 0, 3, 4 }, shape = { 2, 2 } }
    local b = sparse.eye(2, 2, { itype = "int64" })
    for _, itype in ipairs { "int32", "int64" } do
      local x = sparse.csr_matrix("x", { itype = itype })
      local part = sparse.block_diag({ x, b }, { format = "csr" })[{ { 1, 2 }, { 1, 2 } }]
      local twice = sparse.block_diag({ part, b }, { format = "csr" })[{ { 1, 2 }, { 1, 2 } }]
      local cost = damo.sum(sparse.csm_data(sparse.sin(twice)))
      local want = damo.compile({ x }, damo.grad(cost, x))(a)
      local got = damo.compile({ x }, damo.grad(cost, x), { mode = "DEBUG" })(a)
      assert.is_true(damo.allclose(sparse.gather(got, a), sparse.gather(want, a)))
    end
  end)
end)

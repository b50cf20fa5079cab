-- DEBUG and NANGUARD look into sparse values: reruns, rewrites, dense equals, what is not finite.
local damo = require "damo"
local s = require "spec.sparse.support"
local sparse = damo.sparse

local A = sparse.csr { data = { 1, 2, 3 }, indices = { 0, 2, 1 }, indptr = { 0, 2, 3 }, shape = { 2, 3 } }
local T = sparse.SparseTensorType("csr", "float64")

local function lua_op(perform)
  return damo.Op {
    name = "Odd", itypes = { T }, otypes = { T },
    perform = function(_, _, inputs, out) out[1][1] = perform(inputs[1]) end,
  }
end

describe("DEBUG", function()
  it("finds a sparse result that changes from run to run", function()
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

  it("takes the same matrix stored in another order for the same", function()
    local runs = 0
    local turned = sparse.csr { data = { 2, 1, 3 }, indices = { 2, 0, 1 }, indptr = { 0, 2, 3 }, shape = { 2, 3 } }
    local op = lua_op(function(a)
      runs = runs + 1
      return runs % 2 == 0 and turned or a
    end)
    local x = sparse.csr_matrix "x"
    assert.equal(3, damo.compile({ x }, op(x), { mode = "DEBUG" })(A).nnz)
  end)

  it("finds a rewrite that changes a sparse value", function()
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

  it("runs every sparse op beside its dense equal", function()
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
end)

describe("NANGUARD", function()
  local x, v = sparse.csr_matrix "x", damo.vector "v"
  local bad = A:copy()
  bad.data[2] = 0 / 0

  it("looks into sparse inputs, shared values and results", function()
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

  it("passes over integers and empty matrices", function()
    local i = sparse.csr_matrix("i", { dtype = "int64" })
    local f = damo.compile({ i }, sparse.neg(i), { mode = "NANGUARD" })
    assert.equal(0, f(sparse.csr(damo.zeros({ 0, 4 }, "int64"))).nnz)
  end)
end)

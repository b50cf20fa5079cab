-- Sparse Types and Variables: filter rules, makers, constants, shared Variables, compiled Functions, graph tools,
-- Lua Ops.
local damo = require "damo"
local s = require "spec.sparse.support"
local sparse = damo.sparse

local function matrix(dtype, itype, format)
  return sparse[format or "csr"] {
    data = { 1, 2, 3 }, indices = { 0, 2, 1 }, indptr = (format == "csc") and { 0, 1, 2, 3 } or { 0, 2, 3 },
      dtype = dtype,
    itype = itype, shape = (format == "csc") and { 3, 3 } or { 2, 3 },
  }
end

local A = matrix()
local full = { { 1, 0, 2 }, { 0, 3, 0 } }
local T = sparse.SparseTensorType("csr", "float64")
local function x() return sparse.csr_matrix "x" end

describe("SparseTensorType", function()
  it("is made from format, dtype, index dtype and shape, and equal if these are", function()
    assert.equal("SparseTensorType(csr, float64, shape=(?, ?))", tostring(T))
    local t = sparse.SparseTensorType("csc", "int8", { itype = "int64", shape = { 3, false } })
    assert.equal("SparseTensorType(csc, int8, shape=(3, ?), itype=int64)", tostring(t))
    assert.is_true(sparse.SparseTensorType "csr" == T)
    assert.is_false(sparse.SparseTensorType "csc" == T)
    assert.is_false(sparse.SparseTensorType("csr", "float64", { itype = "int64" }) == T)
    assert.same({ "csc", "int8", "int64", 2 }, { t.format, t.dtype, t.itype, t.ndim })
    assert.equal("q", T("q").name)
  end)

  it("refuses wrong arguments", function()
    s.raises("value", "SparseTensorType: the format is 'csr' or 'csc', not bsr"
      .. "; bsr, dia and coo are read as csr: damo.io.load reads SciPy's files of them, sparse.coo{rows=, cols=, "
      .. "values=} takes coordinates",
      function() sparse.SparseTensorType "bsr" end)
    s.raises("type", "SparseTensorType: argument 1 (format) must be 'csr' or 'csc', got nil",
      function() sparse.SparseTensorType() end)
    s.raises("value", nil, function() sparse.SparseTensorType("csr", "floaty") end)
    s.raises("shape", "SparseTensorType: the shape has 1 lengths, not 2",
      function() sparse.SparseTensorType("csr", "float64", { shape = { 3 } }) end)
  end)

  it("filters: a valid value is returned itself", function() assert.equal(A, T:filter(A)) end)

  it("filters: format, narrower dtype and index dtype are converted, not when strict", function()
    assert.equal("csr", T:filter(A:tocsc()).format)
    assert.equal("float64", T:filter(matrix "float32").dtype)
    assert.equal("int64", sparse.SparseTensorType("csr", "float64", { itype = "int64" }):filter(A).itype)
    assert.equal("int32", T:filter(matrix("float64", "int64")).itype)
    for _, value in ipairs { A:tocsc(), matrix "float32", matrix("float64", "int64") } do
      s.raises("type", nil, function() T:filter(value, { strict = true }) end)
    end
    s.raises("type",
      "filter: expected a value of SparseTensorType(csr, float64, shape=(?, ?)), got a sparse matrix (csc) of "
      .. "dtype float64 and shape (2, 3)", function() T:filter(A:tocsc(), { strict = true }) end)
  end)

  it("filters: a wider dtype only if downcasts are allowed", function()
    local narrow = sparse.SparseTensorType("csr", "float32")
    s.raises("type",
      "filter: expected a value of SparseTensorType(csr, float32, shape=(?, ?)), got a sparse matrix (csr) of "
      .. "dtype float64 and shape (2, 3); :astype \"float32\" converts it", function() narrow:filter(A) end)
    assert.equal("float32", narrow:filter(A, { allow_downcast = true }).dtype)
  end)

  it("filters: dense values and other shapes are refused", function()
    s.raises("type",
      "filter: expected a value of SparseTensorType(csr, float64, shape=(?, ?)), got an Array of dtype float64 and "
      .. "shape (1, 2); damo.sparse.from_dense makes it sparse", function() T:filter(damo.array { { 1, 2 } }) end)
    s.raises("shape", nil, function() sparse.SparseTensorType("csr", "float64", { shape = { 3, false } }):filter(A) end)
    s.raises("type", nil, function() T:filter(nil) end)
    s.raises("type", nil, function() damo.matrix("d").type:filter(A) end)
  end)
end)

describe("sparse Variables", function()
  it("are made by format and letter", function()
    for letter, dtype in pairs { f = "float32", d = "float64", c = "complex64", z = "complex128", b = "int8",
      i = "int32" } do
      for _, format in ipairs(s.formats) do
        local v = sparse[("%s_%smatrix"):format(format, letter)] "v"
        assert.same({ format, dtype, "v", 2 }, { v.format, v.dtype, v.name, v.ndim })
      end
    end
    assert.equal("float32", sparse.matrix("csc", "m", { dtype = "float32" }).dtype)
    assert.equal("int64", sparse.csr_matrix("m", { itype = "int64" }).itype)
    s.raises("value", "csr_fmatrix: this maker's dtype is float32, not float64",
      function() sparse.csr_fmatrix("m", { dtype = "float64" }) end)
    assert.same({ "csc", "csr" }, sparse.sparse_formats)
  end)

  it("have fields and methods", function()
    local v = x()
    assert.equal("csc", v.T.format)
    assert.equal("int64", v.shape.dtype)
    assert.same({ 1, 1, 1 }, { v.data.ndim, v.indices.ndim, v.indptr.ndim })
    assert.equal("float32", v:astype("float32").dtype)
    assert.equal("TensorType(float64, shape=(?, ?))", tostring(v:toarray().type))
    local f = damo.compile({ v }, { v.shape, v.data, v.indices, v.indptr, v.size, v.nnz, v:get_shape() })
    local shape, data, indices, indptr, size, nnz, again = f(A)
    assert.same({ 2, 3 }, shape:totable())
    assert.same({ 1, 2, 3 }, data:totable())
    assert.same({ 0, 2, 1 }, indices:totable())
    assert.same({ 0, 2, 3 }, indptr:totable())
    assert.same({ 3, 3 }, { size, nnz })
    assert.same({ 2, 3 }, again:totable())
  end)

  it("hold matrices too large for int32 indices; the vectors of indices need a Type that says so", function()
    local big = s.huge { rows = 4, cols = 33 }
    local v, w = x(), sparse.csr_matrix("w", { itype = "int64" })
    assert.equal(4, damo.compile({ v }, v.nnz)(big))
    assert.equal(1.5, damo.compile({ v }, sparse.neg(v).data)(-big)[1])
    s.raises("value",
      "CSMProperties: a matrix of shape (16, 8589934592) has int64 indices: give its Variable itype=\"int64\"",
      function() damo.compile({ v }, v.indices)(big) end)
    assert.equal("int64", damo.compile({ w }, w.indices)(big).dtype)
    assert.same({ 16, math.floor(2 ^ 33) }, damo.compile({ w }, sparse.csm_shape(w))(big):totable())
  end)

  it("as_sparse_variable returns a Variable itself, or a constant of a matrix", function()
    local v = x()
    assert.equal(v, sparse.as_sparse_variable(v))
    assert.equal(v, sparse.as_sparse_or_tensor_variable(v))
    local c = sparse.as_sparse(A, "c")
    assert.equal("SparseTensorType(csr, float64, shape=(2, 3))", tostring(c.type))
    assert.equal("c", c.name)
    assert.equal(1, sparse.as_sparse_or_tensor_variable({ 1, 2 }).ndim)
    s.raises("type",
      "as_sparse_variable: expected something sparse, got TensorType(float64, shape=(?, ?)); csr_from_dense(x) "
      .. "makes it sparse", function() sparse.as_sparse_variable(damo.matrix "d") end)
    s.raises("type", "as_sparse_variable: argument 1 (x) must be a sparse Variable or matrix, got number",
      function() sparse.as_sparse_variable(3) end)
  end)

  it("can be cloned, and have a text", function()
    local v = x()
    assert.equal(v.type, v:clone().type)
    assert.is_true(sparse.is_sparse(v) and sparse.is_sparse(A) and not sparse.is_sparse(3))
  end)

  it("refuse operations with a dense result, and name the function for it", function()
    local v = x()
    s.raises("type",
      "exp: a sparse operand would give a dense result: use damo.sparse.structured_exp(x) to compute on the "
      .. "stored entries alone, or x:toarray() to compute on the dense matrix", function() return damo.exp(v) end)
    s.raises("type", nil, function() return v < v end)
    s.raises("type", nil, function() v[{ 1, 2 }] = 3 end)
    s.raises("type", nil, function() return v[1] end)
  end)
end)

describe("constants", function()
  it("can't be changed by the script afterwards", function()
    local b = A:copy()
    local c = damo.constant(b)
    b.data[1] = 99
    assert.same(full, c:toarray():eval():totable())
    for _, value in ipairs { c.data, c.data.T } do
      assert.is_false(value.data.writeable)
      s.raises("state", "index: the Array is read-only; a:copy() can be written", function() value.data[1] = 99 end)
    end
    damo.compile({}, c)().data[1] = 99
    assert.same(full, c:toarray():eval():totable())
  end)

  it("equal ones merge, and results of them are folded", function()
    local v = x()
    local f = damo.compile({ v }, { sparse.add(v, damo.constant(A)), sparse.add(v, damo.constant(A:copy())) })
    assert.equal(1, #f.fgraph.apply_nodes)
    assert.equal(0, #damo.compile({}, sparse.neg(damo.constant(A))).fgraph.apply_nodes)
  end)

  it("have a text of their own", function()
    local y = sparse.neg(sparse.transpose(damo.constant(A)))
    assert.equal("Neg(Transpose(<csr float64 (2, 3), 3 stored>))", damo.printing.pprint(y))
    local text = damo.printing.debugprint(y, { file = "str", print_type = true })
    assert.is_truthy(text:find(
      "<csr float64 (2, 3), 3 stored> [id C] <SparseTensorType(csr, float64, shape=(2, 3))>", 1, true))
    assert.is_truthy(damo.printing.dot(y):find('label="<csr float64 (2, 3), 3 stored>"', 1, true))
  end)

  it("Ops print the properties that they have", function()
    local function text(y) return damo.printing.debugprint(y, { file = "str" }):match "[^\n]*" end
    assert.equal("CSM{format=csr} [id A]", text(sparse.CSR(damo.vector "d", damo.lvector "i", damo.lvector "p",
      damo.lvector "s")))
    assert.equal("CSMProperties.2 [id A]", text(sparse.csm_indices(x())))
  end)
end)

describe("shared Variables", function()
  it("hold a copy unless borrowed", function()
    local b = A:copy()
    local v = damo.shared(b, "s")
    b.data[1] = 50
    assert.same({ 1, 2, 3 }, v:get_value().data:totable())
    v:get_value().data[1] = 60
    assert.same({ 1, 2, 3 }, v:get_value().data:totable())
    v:get_value({ borrow = true }).data[1] = 70
    assert.equal(70, v:get_value().data[1])
    v:set_value(b)
    b.data[1] = 80
    assert.equal(50, v:get_value().data[1])
    v:set_value(b, { borrow = true })
    b.data[1] = 90
    assert.equal(90, v:get_value().data[1])
  end)

  it("convert values of the other format, and refuse dense ones", function()
    local v = damo.shared(A, "s")
    v:set_value(A:tocsc())
    assert.equal("csr", v:get_value().format)
    v:set_value(sparse.eye(5))
    assert.same({ 5, 5 }, v:get_value().shape)
    s.raises("type",
      "set_value: expected a value of SparseTensorType(csr, float64, shape=(?, ?)), got an Array of dtype float64 "
      .. "and shape (1, 2); damo.sparse.from_dense makes it sparse", function() v:set_value(damo.array { { 1,
        2 } }) end)
  end)

  it("are updated by compiled Functions", function()
    local v = damo.shared(A, "s")
    local f = damo.compile({}, v, { updates = { [v] = sparse.neg(v) } })
    assert.same(full, s.todense(f()))
    assert.same({ { -1, 0, -2 }, { 0, -3, 0 } }, s.todense(v:get_value()))
    local borrowed = v:get_value { borrow = true }
    f()
    assert.same({ -1, -2, -3 }, borrowed.data:totable())
    s.raises("type", "compile: the update of s must be of SparseTensorType(csr, float64, shape=(?, ?)), got "
      .. "SparseTensorType(csc, float64, shape=(?, ?))", function() damo.compile({}, {},
        { updates = { [v] = v.T } }) end)
    s.raises("type", nil, function() damo.compile({}, {}, { updates = { [v] = v:toarray() } }) end)
    local single = damo.shared(v:get_value():astype "float32", "single")
    damo.compile({}, {}, { updates = { [v] = single * 2 } })()
    assert.equal("float64", v:get_value().dtype)
    assert.same({ { 2, 0, 4 }, { 0, 6, 0 } }, s.todense(v:get_value()))
    local given = sparse.csr_matrix "x"
    assert.equal(60, damo.compile({}, sparse.sp_sum(given), { givens = { [given] = single * 10 } })())
    s.raises("type", nil, function() damo.compile({}, {}, { updates = { [single] = v } }) end)
  end)

  it("an update that fails leaves the old value", function()
    local v, i = damo.shared(A, "s"), damo.vector "i"
    local f = damo.compile({ i }, {}, { updates = { [v] = sparse.with_data(v, i) } })
    s.raises("shape", nil, function() f(damo.array { 1, 2 }) end)
    assert.same(full, s.todense(v:get_value()))
  end)
end)

describe("compiled sparse Functions", function()
  it("accept either format, but no dense values", function()
    local v = x()
    local f = damo.compile({ v }, sparse.neg(v))
    assert.same({ { -1, 0, -2 }, { 0, -3, 0 } }, s.todense(f(A:tocsc())))
    s.raises("type", nil, function() return f(damo.array { { 1, 2 } }) end)
    local narrow = sparse.csr_fmatrix "y"
    local g = damo.compile({ narrow }, narrow)
    s.raises("type", nil, function() return g(A) end)
    assert.equal("float32", damo.compile({ narrow }, narrow, { allow_input_downcast = true })(A).dtype)
  end)

  it("do not change inputs; results own their memory", function()
    local v, b = x(), A:copy()
    for name, y in pairs { transpose = v.T, itself = v, csr = v:tocsr(), sorted = sparse.ensure_sorted_indices(v) } do
      for _, mode in ipairs(s.modes) do
        damo.compile({ v }, y, { mode = mode })(b).data[1] = 1000
        assert.equal(1, b.data[1], name)
      end
    end
    damo.compile({ v }, v.data)(b)[1] = 1000
    assert.equal(1, b.data[1])
    local one, two = damo.compile({ v }, { v, v.T })(b)
    one.data[1] = 1000
    assert.equal(1, two.data[1])
    local f = damo.compile({ v }, sparse.neg(v))
    local first = f(b)
    f(b * 2)
    assert.same({ -1, -2, -3 }, first.data:totable())
  end)

  it("In and Out, givens, eval", function()
    local v = x()
    local f = damo.compile({ damo.In(v, { value = A, name = "x" }) }, damo.Out(v.T, { borrow = true }))
    assert.same({ 3, 2 }, f().shape)
    assert.same({ { -1, 0, -2 }, { 0, -3, 0 } }, s.todense(f:call({ x = -A }).T))
    local g = damo.compile({ damo.In(v, { mutable = true }) }, sparse.neg(v))
    assert.equal(-1, g(A:copy()).data[1])
    assert.same(full, s.todense(damo.compile({}, v, { givens = { [v] = damo.constant(A) } })()))
    assert.same(full, v:toarray():eval({ [v] = A }):totable())
  end)

  it("into takes nil where the call returns", function()
    local v = x()
    local out = damo.zeros { 2, 3 }
    local dense, negative = damo.compile({ v }, { v:toarray(), sparse.neg(v) }):into(out, nil)(A)
    assert.same(full, out:totable())
    assert.equal(out, dense)
    assert.equal(3, negative.nnz)
  end)

  it("ifelse takes sparse branches of one Type", function()
    local v, c = x(), damo.scalar "c"
    local f = damo.compile({ c, v }, damo.ifelse(damo.gt(c, 0), v, sparse.neg(v)))
    assert.same(full, s.todense(f(1, A)))
    assert.same({ { -1, 0, -2 }, { 0, -3, 0 } }, s.todense(f(-1, A)))
    s.raises("type",
      "ifelse: the branches differ: result 1 is SparseTensorType(csr, float64, shape=(?, ?)) in the first, "
      .. "SparseTensorType(csc, float64, shape=(?, ?)) in the second", function() damo.ifelse(damo.gt(c, 0), v,
        v:tocsc()) end)
    s.raises("type", nil, function() damo.ifelse(damo.gt(c, 0), v, v:toarray()) end)
    local cost = damo.sum(damo.ifelse(damo.gt(c, 0), v, sparse.neg(v)):toarray())
    local g = damo.compile({ c, v }, damo.grad(cost, v, { disconnected_inputs = "ignore" }))
    s.close(g(-1, A), { -1, 0, -1, 0, -1, 0 })
  end)

  it("all modes give the same results", function()
    for _, m in ipairs(s.matrices "float64") do
      s.same_everywhere(function(v) return sparse.neg(v), v.T, v:toarray() end, { m.value })
    end
  end)
end)

describe("gradient markers", function()
  it("disconnect sparse Variables", function()
    for _, name in ipairs { "disconnected_grad", "zero_grad", "consider_constant" } do
      local v = x()
      local cost = damo.sum(damo[name](v):toarray())
      local g = damo.compile({ v }, damo.grad(cost, v, { disconnected_inputs = "ignore" }),
        { on_unused_input = "ignore" })(A)
      assert.same({ 0, 0, 0, 0, 0, 0 }, s.flat(g), name)
      assert.equal("csr", g.format, name)
    end
  end)
end)

describe("Lua Ops", function()
  local function twice(fn)
    return damo.Op {
      name = "Twice", itypes = { T }, otypes = { T },
      perform = function(_, _, inputs, out) out[1][1] = fn(inputs[1]) end,
      grad = function(_, _, g) return { g[1] + g[1] } end,
    }
  end
  local good = twice(function(a) return a * 2 end)

  it("get and return sparse values", function()
    local v = x()
    assert.same({ { 2, 0, 4 }, { 0, 6, 0 } }, s.todense(damo.compile({ v }, good(v))(A)))
    local g = damo.grad(damo.sum(good(v):toarray()), v)
    assert.same({ 2, 0, 2, 0, 2, 0 }, s.flat(damo.compile({ v }, g)(A)))
  end)

  it("a wrong value in a cell is an error that names the Op", function()
    local v = x()
    local function run(fn) return function() return damo.compile({ v }, twice(fn)(v))(A) end end
    s.raises("type",
      "Twice: perform put a sparse matrix (csc) of dtype float64 and shape (2, 3) into output 1, expected "
      .. "SparseTensorType(csr, float64, shape=(?, ?))", run(function(a) return a:tocsc() end))
    s.raises("type",
      "Twice: perform put a sparse matrix (csr) of dtype float32 and shape (2, 3) into output 1, expected "
      .. "SparseTensorType(csr, float64, shape=(?, ?))", run(function(a) return a:cast "float32" end))
    s.raises("type", "Twice: perform put an Array of dtype float64 and shape (2, 3) into output 1, expected "
      .. "SparseTensorType(csr, float64, shape=(?, ?))", run(function(a) return a:toarray() end))
    s.raises("type",
      "Twice: input 1 must be SparseTensorType(csr, float64, shape=(?, ?)), got SparseTensorType(csc, float64, "
      .. "shape=(?, ?))", function() return good(sparse.csc_matrix "y") end)
  end)

  it("can neither write to their inputs nor return them", function()
    local v, b = x(), A:copy()
    s.raises("state", nil, function()
      damo.compile({ v }, twice(function(a)
        a.data[1] = 5
        return a:copy()
      end)(v))(b)
    end)
    for _, fn in ipairs { function(a) return a end, function(a) return a:tocsr() end, function(a) return a.T.T end } do
      damo.compile({ v }, twice(fn)(v))(b).data[1] = 55
      assert.equal(1, b.data[1])
    end
  end)
end)

describe("graph tools", function()
  after_each(function() damo.config.compute_test_value = "off" end)

  it("test values", function()
    damo.config.compute_test_value = "raise"
    local v = x()
    v.tag.test_value = A
    assert.same({ -1, -2, -3 }, sparse.neg(v).tag.test_value.data:totable())
    v.tag.test_value = damo.array { { 1, 2 } }
    s.raises("type", nil, function() return sparse.neg(v) end)
  end)

  it("OpFromGraph over sparse Variables", function()
    local a, v = x(), x()
    local op = damo.graph.OpFromGraph({ a }, { sparse.neg(a):toarray() })
    assert.same({ { -1, 0, -2 }, { 0, -3, 0 } }, damo.compile({ v }, op(v))(A):totable())
    local g = damo.grad(damo.sum(op(v)), v)
    s.close(damo.compile({ v }, g)(A), { -1, 0, -1, 0, -1, 0 })
    s.raises("type", nil, function() return op(sparse.csc_matrix "q") end)
  end)

  it("equal computations, clones, walks", function()
    local v, w = x(), x()
    assert.is_true(damo.graph.equal_computations({ sparse.neg(v) }, { sparse.neg(v) }))
    local y = damo.graph.clone_replace({ sparse.neg(v) }, { [v] = w })[1]
    assert.equal(w, y.owner.inputs[1])
    assert.is_true(damo.array_equal(A, A:copy()))
    assert.is_false(damo.array_equal(A, A * 2))
  end)

  it("random streams advance beside sparse results", function()
    local rs, v = damo.random.RandomStream(3), x()
    local f = damo.compile({ v }, { sparse.neg(v), rs:uniform(0, 1) })
    local _, first = f(A)
    local _, second = f(A)
    assert.is_true(first ~= second)
  end)
end)

describe("as_sparse_variable and the like", function()
  local m, v = sparse.csr_matrix "m", damo.dvector "v"

  it("return the only output of a node", function()
    local y = sparse.neg(m)
    assert.equal(y, sparse.as_sparse_variable(y.owner))
    assert.equal(y, sparse.as_sparse_or_tensor_variable(y.owner))
    assert.equal(y, damo.as_tensor_variable(y.owner))
    local z = damo.exp(v)
    assert.equal(z, damo.as_tensor_variable(z.owner))
    assert.equal(z, damo.as_variable(z.owner))
    assert.equal(z, sparse.as_sparse_or_tensor_variable(z.owner))
    local ok, err = pcall(sparse.as_sparse_variable, z.owner)
    assert.is_false(ok)
    assert.equal("type", err.kind)
  end)

  it("return the default output of several, and refuse a node without one", function()
    local function two(default)
      return damo.Op {
        name = "Two", default_output = default,
        make_node = function(self, y) return damo.Apply(self, { y }, { y.type(), y.type() }) end,
        perform = function() end,
      }
    end
    local node = two(2):make_node(m)
    for _, f in ipairs { sparse.as_sparse_variable, damo.as_tensor_variable, damo.as_variable } do
      assert.equal(node.outputs[2], f(node))
      local ok, err = pcall(f, two(nil):make_node(m))
      assert.is_false(ok)
      assert.equal("value", err.kind)
      assert.equal("Two has 2 outputs and no default output: take one of node.outputs", err.message)
    end
  end)

  it("return sparse and dense Variables unchanged", function()
    for _, f in ipairs { damo.as_tensor_variable, damo.as_tensor, damo.as_variable,
      sparse.as_sparse_or_tensor_variable } do
      assert.equal(m, f(m))
      assert.equal(v, f(v))
      assert.equal("csr", f(sparse.eye(2)).format)
    end
    assert.equal(m, damo.as_tensor_variable(m, { ndim = 2 }))
    local ok, err = pcall(damo.as_tensor_variable, damo.DisconnectedType()())
    assert.is_false(ok)
    assert.equal("type", err.kind)
  end)

  it("can be used by an Op that takes both kinds", function()
    local twice = damo.Op {
      name = "Twice",
      make_node = function(self, y)
        y = damo.as_tensor_variable(y)
        return damo.Apply(self, { y }, { y.type() })
      end,
      perform = function(_, _, inputs, out) out[1][1] = inputs[1] * 2 end,
    }
    assert.equal(2, damo.compile({ m }, twice(m))(sparse.eye(2))[{ 2, 2 }])
    assert.same({ 2, 4 }, damo.compile({ v }, twice(v))(damo.array { 1, 2 }):totable())
  end)
end)

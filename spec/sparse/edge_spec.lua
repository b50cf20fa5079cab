-- Corner cases of the sparse ops: undefined operators, numbers at the limits of int64, duplicate entries, the order of
-- entries after a conversion.

local damo = require "damo"
local has = require "spec.support.has"
local op = require "spec.support.operators"
local s = require "spec.sparse.support"

local sparse = damo.sparse

local function twice_stored()
  return sparse.csr { data = { 1, 2, 4, 8 }, indices = { 1, 0, 1, 2 }, indptr = { 0, 3, 3, 4 }, shape = { 3, 3 } }
end

describe("operators without a sparse meaning", function()
  local a = sparse.eye(2)
  for name, call in pairs {
    mod = function() return a % 2 end, floor_div = function() return op.floor_div(2, a) end,
    and_ = function() return op.and_(a, a) end,
    or_ = function() return op.or_(a, 1) end, xor = function() return op.xor(a, a) end,
  } do
    it(name .. " is refused by its name", function()
      local ok, err = pcall(call)
      assert.is_false(ok)
      assert.equal("type", err.kind)
      assert.equal(name .. ": not defined for a sparse operand: use x:toarray() to compute on the dense matrix, or "
        .. "x.data for the vector of its stored values", err.message)
    end)
  end
end)

describe("diags and eye at the limits of int64", function()
  it("take offsets only as a vector", function()
    s.raises("value", "diags: offsets must be as many integers as there are diagonals: 2",
      function() return sparse.diags({ 1, 2 }, { { 0 }, { 1 } }) end)
  end)

  it("refuse impossible sizes", function()
    if not has.integers then return pending "numbers of this Lua are exact to 2^53 only" end
    for _, k in ipairs { math.maxinteger, math.mininteger } do
      s.raises("value", ("diags: offset %d is no diagonal of any matrix"):format(k),
        function() return sparse.diags({ { 1, 2 } }, { k }) end)
    end
    s.raises("shape", "eye: shape (1, 9223372036854775807), expected dimensions from 0 to 2^63 - 2",
      function() return sparse.eye(1, math.maxinteger) end)
  end)
end)

describe("wrong arguments", function()
  it("SparseZeros requires a dtype", function()
    s.raises("value", "SparseZeros: dtype must be the name of a dtype, got 'another value'",
      function() return sparse.SparseZeros(sparse.eye(2)) end)
    s.raises("value", "SparseZeros: dtype must be the name of a dtype, got 'float31'",
      function() return sparse.SparseZeros { dtype = "float31" } end)
    assert.equal("int8", sparse.SparseZeros { dtype = "int8" }(sparse.eye(2)).dtype)
  end)

  it("helpers name the missing argument", function()
    s.raises("type", "sparse_random_inputs: argument 2 (shape) must be {rows, columns}, got nil",
      function() return sparse.sparse_random_inputs "csr" end)
    s.raises("type", "sparse_random_inputs: argument 3 (options) must be a table of options, got number",
      function() return sparse.sparse_random_inputs("csr", { 2, 2 }, 3) end)
    s.raises("type", "verify_grad_sparse: argument 3 (options) must be a table of options, got boolean",
      function() return sparse.verify_grad_sparse(sparse.neg, { sparse.eye(2) }, true) end)
  end)
end)

describe("max and argmax of all", function()
  it("accept any format", function()
    local tall = sparse.coo {
      rows = { 2 ^ 40, 7 }, cols = { 1, 2 }, values = { 4, 4 }, shape = { 2 ^ 40, 2 }, format = "csc",
    }
    assert.equal(4, tall:max())
    assert.equal(14, tall:argmax())
    assert.equal(0, tall:min())
    assert.equal(1, tall:argmin())
  end)

  it("name the first of equal elements in row-major order", function()
    local next_number = s.numbers(5, 0, 3)
    for _ = 1, 50 do
      local rows = {}
      for i = 1, 3 do
        rows[i] = {}
        for j = 1, 4 do rows[i][j] = math.floor(next_number()) - 1 end
      end
      local d = damo.array(rows)
      for _, format in ipairs(s.formats) do
        local a = sparse.from_dense(d, format)
        assert.equal(damo.argmax(d), a:argmax())
        assert.equal(damo.argmin(d), a:argmin())
      end
    end
  end)
end)

describe("entries stored twice", function()
  it("have the same gradient in every mode", function()
    local x = sparse.csr_matrix "x"
    local d, i, p, shape = sparse.csm_properties(x)
    local y = sparse.toarray(sparse.CSR(d, i, p, shape))
    local g = damo.grad(damo.sum(y * damo.reshape(damo.arange(9) + 1.0, { 3, 3 })), d)
    for _, mode in ipairs(s.modes) do
      assert.same({ 2, 1, 2, 9 }, damo.compile({ x }, g, { mode = mode })(twice_stored()):totable())
    end
  end)
end)

describe("a conversion and its inverse", function()
  it("sorts the indices, compiled too", function()
    local x = sparse.csr_matrix "x"
    local a = twice_stored()
    local expected = a:tocsc():tocsr()
    for _, mode in ipairs(s.modes) do
      local got = damo.compile({ x }, x:tocsc():tocsr(), { mode = mode })(a)
      assert.same(expected.indices:totable(), got.indices:totable())
      assert.same(expected.data:totable(), got.data:totable())
    end
  end)
end)

describe("messages", function()
  local a = sparse.eye(2)
  it("say what a function without a sparse form requires", function()
    for _, name in ipairs { "prod", "any", "var", "cumsum" } do
      s.raises("type", name .. ": not defined for a sparse operand: use x:toarray() to compute on the dense matrix, or "
        .. "x.data for the vector of its stored values", function() return damo[name](a) end)
    end
  end)
  it("name the structured form of every elementwise function with f(0) ≠ 0", function()
    local x = sparse.csr_matrix "x"
    local of_zero = "a sparse operand would give a dense result: use damo.sparse.%s(x) to compute on the stored "
      .. "entries alone, or x:toarray() to compute on the dense matrix"
    for name, own in pairs { exp = "structured_exp", log = "structured_log", sigmoid = "structured_sigmoid" } do
      for _, m in ipairs { a, x } do
        s.raises("type", name .. ": " .. of_zero:format(own), function() return damo[name](m) end)
      end
    end
    local count = 0
    for name in ("arccos arccosh cos cosh erfc erfcinv erfcx exp2 expit gamma gammaln i0 invert j0 log10 log1mexp "
      .. "log2 logical_not not_ psi digamma reciprocal softplus tri_gamma"):gmatch "%S+" do
      count = count + 1
      for _, m in ipairs { a, x } do
        s.raises("type", name .. ": " .. of_zero:format("structured_monoid(damo." .. name .. ")"),
          function() return damo[name](m) end)
      end
      if name ~= "invert" and name ~= "logical_not" and name ~= "not_" then
        local half = a * 0.5
        s.close(sparse.structured_monoid(damo[name])(half).data, s.flat(damo[name](half.data)), name)
      end
    end
    assert.is_true(count > 20)
    s.raises("type", "invert: " .. of_zero:format "structured_monoid(damo.invert)", function() return op.invert(a) end)
  end)
  it("name the function to use instead", function()
    local x = sparse.csr_matrix "x"
    for name, instead in pairs {
      take = "damo.sparse.get_item_list(x, list, {axis=}) takes rows or columns",
      matvec = "damo.dot(x, y) is the product",
      clip = "damo.maximum(x, a) and damo.minimum(x, b) take constants that leave 0 as it is",
      softmax = "of the stored values it is e / e:sum {axis=2, keepdims=true}, e = damo.sparse.structured_exp(x)",
    } do
      s.raises("type", name .. ": not defined for a sparse operand: use x:toarray() to compute on the dense matrix, or "
        .. "x.data for the vector of its stored values; " .. instead,
        function()
          local more = ({ take = { { 1 } }, matvec = { { 1 } }, clip = { 0, 1 }, softmax = {} })[name]
          return damo[name](x, table.unpack(more))
        end)
    end
    local mask = damo.array({ true, false }, "bool")
    s.raises("type", "sparse.get_item_list: a list of positions must be integers, got bool; damo.nonzero(mask) gives "
      .. "them", function() return sparse.get_item_list(a, mask) end)
    s.raises("type", "index: an index item is a number, a range {start, stop, step}, an integer or bool list, "
      .. "damo.newaxis or damo.ellipsis, got Sparse; x * mask keeps x where a sparse mask is true",
      function() return a[a] end)
    s.raises("type", "grad: the cost must be a tensor, got SparseTensorType(csr, float64, shape=(?, ?)); take its sum "
      .. "or mean", function() return damo.grad(x, x) end)
  end)
  it("distinguish diags' list of lists from a list of numbers", function()
    for _, offsets in ipairs { false, { 0 } } do
      s.raises("value", "diags: diagonals must be a list of lists, one for each offset: {{1, 2, 3}} is one diagonal",
        function() return sparse.diags({ 1, 2, 3 }, offsets or nil) end)
    end
    s.close(sparse.diags({ 1, 2, 3 }, { -1, 0, 1 }, { shape = { 2, 2 } }), damo.array { { 2, 3 }, { 1, 2 } })
  end)
  it("name the input that got a dense value", function()
    local x, v = sparse.csr_matrix "x", damo.dvector "v"
    s.raises("type", "function: input 1 (x): expected a value of SparseTensorType(csr, float64, shape=(?, ?)), got an "
      .. "Array of dtype float64 and shape (2, 2); damo.sparse.from_dense makes it sparse",
      function() return damo.compile({ x }, x * 2)(damo.ones { 2, 2 }) end)
    s.raises("type", "function: input 1 (v): expected a value of TensorType(float64, shape=(?,)), got an Array of "
      .. "dtype float64 and shape (2, 2)", function() return damo.compile({ v }, v * 2)(damo.ones { 2, 2 }) end)
  end)
  it("say that a Matrix Market file is compressed", function()
    local path = os.tmpname()
    local file = assert(io.open(path, "wb"))
    file:write "\31\139\8\0\0\0\0\0\0\3"
    file:close()
    s.raises("io", path .. ": compressed by gzip; decompress it first (gunzip)",
      function() return damo.io.read_mtx(path) end)
    os.remove(path)
  end)
end)

-- Sparse values: every constructor and its errors, fields and views, lifetime, files.
local damo = require "damo"
local closing = require "spec.support.closing"
local s = require "spec.sparse.support"
local garbage = require "spec.support.garbage"
local sparse = damo.sparse

local function csr() return sparse.csr { data = { 1, 2, 3 }, indices = { 0, 2, 1 }, indptr = { 0, 2, 3 },
  shape = { 2, 3 } } end

local function integers(v) return v:totable() end

describe("csr and csc", function()
  it("are made from the three vectors", function()
    local a = csr()
    assert.same({ "csr", "float64", "int32" }, { a.format, a.dtype, a.itype })
    assert.same({ 2, 3 }, a.shape)
    assert.same({ { 1, 0, 2 }, { 0, 3, 0 } }, s.todense(a))
    local c = sparse.csc { data = { 1, 3, 2 }, indices = { 0, 1, 0 }, indptr = { 0, 1, 2, 3 }, shape = { 2, 3 } }
    assert.same(s.todense(a), s.todense(c))
  end)

  it("infer a shape from the largest index and indptr", function()
    assert.same({ 2, 3 }, sparse.csr({ data = { 1, 2 }, indices = { 0, 2 }, indptr = { 0, 1, 2 } }).shape)
    assert.same({ 3, 2 }, sparse.csc({ data = { 1, 2 }, indices = { 0, 2 }, indptr = { 0, 1, 2 } }).shape)
    assert.same({ 0, 0 }, sparse.csr({ data = {}, indices = {}, indptr = { 0 } }).shape)
  end)

  it("have the dtype and the index dtype asked for", function()
    for _, dtype in ipairs(s.dtypes) do
      for _, itype in ipairs(s.itypes) do
        local a = sparse.csr { data = { 1, 0 }, indices = { 0, 2 }, indptr = { 0, 1, 2 }, dtype = dtype, itype = itype }
        assert.same({ dtype, itype }, { a.dtype, a.itype })
        assert.same({ itype, itype }, { a.indices.dtype, a.indptr.dtype })
      end
    end
  end)

  it("take every integer dtype of indices", function()
    for _, dtype in ipairs { "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64" } do
      local a = sparse.csr {
        data = { 5 }, indices = damo.array({ 1 }, dtype), indptr = damo.array({ 0, 1 }, dtype), shape = { 1, 2 },
      }
      assert.same({ { 0, 5 } }, s.todense(a))
    end
  end)

  it("convert dense and sparse matrices", function()
    local dense = { { 1, 0 }, { 0, 2 } }
    assert.same(dense, s.todense(sparse.csr(dense)))
    assert.equal("csr", sparse.csr(sparse.csc(dense)).format)
    assert.equal("csc", sparse.csc(sparse.csr(dense)).format)
    assert.same(dense, s.todense(sparse.csc(damo.array(dense))))
  end)

  it("keep unsorted indices and duplicates as they are", function()
    local a = sparse.csr { data = { 1, 2, 3 }, indices = { 2, 0, 2 }, indptr = { 0, 3 }, shape = { 1, 3 } }
    assert.is_false(a.has_sorted_indices)
    assert.is_false(a.has_canonical_format)
    assert.same({ 2, 0, 2 }, integers(a.indices))
    assert.same({ { 2, 0, 4 } }, s.todense(a))
  end)
end)

describe("the first error is named:", function()
  local function refused(kind, text, parts)
    it(text, function()
      s.raises(kind, text, function() return sparse.csr(parts) end)
    end)
  end
  refused("value", "csr: data has 2 entries and indices 3, expected as many",
    { data = { 1, 2 }, indices = { 0, 1, 2 }, indptr = { 0, 2 }, shape = { 1, 3 } })
  refused("value", "csr: indptr begins with 1, expected 0",
    { data = { 1, 2 }, indices = { 0, 1 }, indptr = { 1, 2 }, shape = { 1, 3 } })
  refused("value", "csr: indptr ends with 3, expected the 2 entries of indices",
    { data = { 1, 2 }, indices = { 0, 1 }, indptr = { 0, 3 }, shape = { 1, 3 } })
  refused("value", "csr: entry 3 of indptr is 1, less than the entry before it",
    { data = { 1, 2 }, indices = { 0, 1 }, indptr = { 0, 2, 1, 2 }, shape = { 3, 3 } })
  refused("index", "csr: entry 2 of indices is -1, expected at least 0 and less than the 3 columns",
    { data = { 1, 2 }, indices = { 0, -1 }, indptr = { 0, 2 }, shape = { 1, 3 } })
  refused("index", "csr: entry 2 of indices is 3, expected at least 0 and less than the 3 columns",
    { data = { 1, 2 }, indices = { 0, 3 }, indptr = { 0, 2 }, shape = { 1, 3 } })
  refused("value", "csr: indptr has 2 entries, expected 3: one more than the 2 rows",
    { data = { 1, 2 }, indices = { 0, 1 }, indptr = { 0, 2 }, shape = { 2, 3 } })
  refused("shape", "csr: the shape has 1 lengths, not 2",
    { data = { 1, 2 }, indices = { 0, 1 }, indptr = { 0, 2 }, shape = { 2 } })
  refused("value", "csr: length 1 of the shape is not given",
    { data = { 1, 2 }, indices = { 0, 1 }, indptr = { 0, 2 }, shape = { false, 3 } })
  refused("type", "csr: 'data' is missing", { indices = { 0, 1 }, indptr = { 0, 2 } })
  refused("type", "csr: 'indptr' is missing", { data = { 1, 2 }, indices = { 0, 1 } })
  refused("type", "csr: data has shape (1, 2), expected a vector",
    { data = { { 1, 2 } }, indices = { 0, 1 }, indptr = { 0, 2 }, shape = { 1, 3 } })
  refused("value", "csr: indices: entry {1} is 0.5, which does not fit into int64",
    { data = { 1, 2 }, indices = { 0.5, 1 }, indptr = { 0, 2 }, shape = { 1, 3 } })
  refused("type", "csr: indices is float64, expected an integer dtype",
    { data = { 1, 2 }, indices = damo.array { 0.0, 1.0 }, indptr = { 0, 2 }, shape = { 1, 3 } })
  refused("value", "csr: unknown option 'dat', did you mean 'data'?", { dat = {}, indices = {}, indptr = { 0 } })
  refused("value", "csr: option 'itype' can't be 'int16', did you mean 'int32'?",
    { data = { 1 }, indices = { 0 }, indptr = { 0, 1 }, itype = "int16" })
  refused("value", "csr: unknown dtype 'float99', did you mean 'float32'?",
    { data = { 1 }, indices = { 0 }, indptr = { 0, 1 }, dtype = "float99" })
  refused("type", "csr: argument 1 must be a table {data=, indices=, indptr=}, a sparse matrix or a dense one, "
    .. "got nil", nil)
  refused("type", "csr: the array has shape (3,), expected a matrix", damo.array { 1, 2, 3 })

  it("in csc by its own axis", function()
    s.raises("index", "csc: entry 2 of indices is 3, expected at least 0 and less than the 3 rows", function()
      return sparse.csc { data = { 1, 2 }, indices = { 0, 3 }, indptr = { 0, 2 }, shape = { 3, 1 } }
    end)
    s.raises("value", "csc: indptr has 2 entries, expected 4: one more than the 3 columns", function()
      return sparse.csc { data = { 1 }, indices = { 0 }, indptr = { 0, 1 }, shape = { 2, 3 } }
    end)
  end)
end)

describe("any three vectors", function()
  it("make a valid matrix, or are refused", function()
    local next_number = s.numbers(77, 0, 1)
    local function ints(n, low, high)
      local list = {}
      for i = 1, n do list[i] = math.floor(low + next_number() * (high - low + 1)) end
      return list
    end
    local made, refused = 0, 0
    for _ = 1, 4000 do
      local major, minor, nnz = ints(1, 0, 3)[1], ints(1, 0, 3)[1], ints(1, 0, 4)[1]
      local indptr = ints(major, 0, nnz)
      if next_number() < 0.7 then table.sort(indptr) end
      table.insert(indptr, 1, next_number() < 0.9 and 0 or 1)
      if next_number() < 0.8 then indptr[#indptr] = nnz end
      local indices = ints(nnz, next_number() < 0.9 and 0 or -1, next_number() < 0.9 and minor - 1 or minor)
      local format = s.formats[ints(1, 1, 2)[1]]
      local ok, value = pcall(sparse[format], {
        data = ints(next_number() < 0.9 and nnz or nnz + 1, 1, 9), indices = indices, indptr = indptr,
        shape = format == "csr" and { major, minor } or { minor, major },
      })
      if ok then
        made = made + 1
        local total = 0
        for _, x in ipairs(s.flat(value)) do total = total + x end
        for _, x in ipairs(value.data:totable()) do total = total - x end
        assert.equal(0, total)
      else
        refused = refused + 1
        assert.is_truthy(({ value = true, index = true, shape = true })[value.kind], tostring(value))
      end
    end
    assert.is_true(made > 500 and refused > 500)
  end)
end)

describe("coo", function()
  it("is 1-based and sums duplicates", function()
    local a = sparse.coo { rows = { 1, 2, 2 }, cols = { 1, 3, 3 }, values = { 1, 2, 5 }, shape = { 2, 3 } }
    assert.same({ { 1, 0, 0 }, { 0, 0, 7 } }, s.todense(a))
    assert.same({ "csr", 2, true }, { a.format, a.nnz, a.has_canonical_format })
  end)

  it("takes a format, a dtype, an index dtype, and infers a shape", function()
    local a = sparse.coo {
      rows = { 1, 4 }, cols = { 1, 2 }, values = { 1, 2 }, format = "csc", dtype = "float32", itype = "int64",
    }
    assert.same({ "csc", "float32", "int64" }, { a.format, a.dtype, a.itype })
    assert.same({ 4, 2 }, a.shape)
    assert.same({ 0, 0 }, sparse.coo({ rows = {}, cols = {}, values = {} }).shape)
  end)

  it("takes one value for all entries", function()
    local ones = { { 1, "float64" }, { true, "bool" }, { damo.array(1, "int8"), "int8" }, { 1, "complex64" } }
    for _, one in ipairs(ones) do
      for _, format in ipairs(s.formats) do
        local parts = { rows = { 1, 2, 2 }, cols = { 1, 3, 3 }, values = one[1], dtype = one[2], format = format }
        local a = sparse.coo(parts)
        parts.values = damo.array({ 1, 1, 1 }, one[2])
        s.same_storage(a, sparse.coo(parts), one[2])
      end
    end
    assert.same({ "float64", 0 }, { sparse.coo({ rows = {}, cols = {}, values = 1 }).dtype,
      sparse.coo({ rows = {}, cols = {}, values = 1 }).nnz })
  end)

  local function refused(kind, text, parts)
    it("says: " .. text, function()
      s.raises(kind, text, function() return sparse.coo(parts) end)
    end)
  end
  local values = { 1, 2 }
  refused("index", "coo: entry 2 of rows is 3, expected 1 to 2", { rows = { 1, 3 }, cols = { 1, 3 },
    values = values, shape = { 2, 3 } })
  refused("index", "coo: entry 1 of rows is 0, expected 1 to 2", { rows = { 0, 1 }, cols = { 1, 3 },
    values = values, shape = { 2, 3 } })
  refused("index", "coo: entry 2 of cols is 4, expected 1 to 3", { rows = { 1, 1 }, cols = { 1, 4 },
    values = values, shape = { 2, 3 } })
  refused("shape", "coo: rows has shape (1,), expected a vector of 2 entries as values has",
    { rows = { 1 }, cols = { 1, 3 }, values = values, shape = { 2, 3 } })
  refused("shape", "coo: rows has shape (2,), expected a vector of 1 entries as values has",
    { rows = { 1, 1 }, cols = { 1, 3 }, values = { 1 } })
  refused("shape", "coo: cols has shape (1,), expected a vector of 2 entries as rows has",
    { rows = { 1, 1 }, cols = { 1 }, values = 1 })
  refused("type", "coo: rows has shape (1, 2), expected a vector",
    { rows = { { 1, 1 } }, cols = { 1, 1 }, values = 1 })
  refused("type", "coo: values has shape (1, 2), expected a vector, or one number for all",
    { rows = { 1, 1 }, cols = { 1, 1 }, values = { { 1, 2 } } })
  refused("value", "coo: rows: entry {1} is 1.5, which does not fit into int64", { rows = { 1.5, 1 }, cols = { 1,
    2 }, values = values })
  refused("value", "coo: the format is 'csr' or 'csc', not coo"
      .. "; bsr, dia and coo are read as csr: damo.io.load reads SciPy's files of them, sparse.coo{rows=, cols=, "
      .. "values=} takes coordinates", { rows = { 1, 1 }, cols = { 1, 2 },
    values = values, format = "coo" })
  refused("type", "coo: the format is 'csr' or 'csc', not number", { rows = { 1, 1 }, cols = { 1, 2 },
    values = values, format = 3 })
  refused("type", "coo: 'values' is missing", { rows = { 1, 1 }, cols = { 1, 2 } })
  refused("type", "coo: argument 1 (parts) must be a table {rows=, cols=, values=} (sparse.csr and csc take a matrix, "
    .. "dense or sparse), got number", 3)
end)

describe("from_dense, eye, diags, random", function()
  it("from_dense keeps nonzero elements", function()
    local a = sparse.from_dense({ { 1, 0 }, { 0 / 0, 2 } }, "csc")
    assert.same({ "csc", 3 }, { a.format, a.nnz })
    assert.equal("int64", sparse.from_dense({ { 1 } }, { format = "csr", itype = "int64" }).itype)
    assert.same({ 0, 3 }, sparse.from_dense(damo.zeros { 0, 3 }).shape)
  end)

  it("eye", function()
    assert.same({ { 0, 1, 0 }, { 0, 0, 1 } }, s.todense(sparse.eye(2, 3, { k = 1 })))
    assert.same({ { 0, 0 }, { 1, 0 } }, s.todense(sparse.eye(2, { k = -1 })))
    local a = sparse.eye(3, { dtype = "complex64", format = "csc" })
    assert.same({ "complex64", "csc", 3 }, { a.dtype, a.format, a.nnz })
    assert.equal(0, sparse.eye(3, { k = 5 }).nnz)
  end)

  it("diags", function()
    assert.same({ { 1, 4, 0 }, { 0, 2, 5 }, { 0, 0, 3 } }, s.todense(sparse.diags({ { 1, 2, 3 }, { 4, 5 } }, { 0, 1 })))
    assert.same({ { 0, 0, 0 }, { 2, 0, 0 } }, s.todense(sparse.diags({ 2 }, { -1 }, { shape = { 2, 3 } })))
    assert.equal("csc", sparse.diags({ { 1 } }, { 0 }, { format = "csc" }).format)
  end)

  it("random has exactly density*m*n entries", function()
    for _, format in ipairs(s.formats) do
      local a = sparse.random(30, 40, { density = 0.1, format = format, dtype = "float32" })
      assert.same({ format, "float32", 120, true }, { a.format, a.dtype, a.nnz, a.has_canonical_format })
    end
    damo.random.seed(5)
    local x = sparse.random(20, 20, { density = 0.2 })
    damo.random.seed(5)
    s.same_storage(sparse.random(20, 20, { density = 0.2 }), x)
  end)

  local function refused(kind, text, fn)
    it("says: " .. text, function() s.raises(kind, text, fn) end)
  end
  refused("value", "from_dense: the format is 'csr' or 'csc', not bsr"
      .. "; bsr, dia and coo are read as csr: damo.io.load reads SciPy's files of them, sparse.coo{rows=, cols=, "
      .. "values=} takes coordinates",
    function() return sparse.from_dense({ { 1 } }, "bsr") end)
  refused("type", "diags: diagonal 1 has shape (1, 2), expected a vector",
    function() return sparse.diags({ damo.ones { 1, 2 } }, { 0 }) end)
  refused("type", "from_dense: the array has shape (2, 2, 2), expected a matrix",
    function() return sparse.from_dense(damo.ones { 2, 2, 2 }, "csr") end)
  refused("type", "from_dense: the array has shape (2,), expected a matrix",
    function() return sparse.from_dense { 1, 0 } end)
  refused("type", "from_dense: argument 1 (a) must be a dense matrix (A:tocsr() and A:tocsc() convert a sparse one), "
    .. "got Sparse",
    function() return sparse.from_dense(sparse.eye(2)) end)
  refused("value", "eye: argument 1 (m) must be a count of 0 or more, got -1", function() return sparse.eye(-1) end)
  refused("value", "eye: argument 2 (n) must be a count of 0 or more, got 1.5", function() return sparse.eye(1,
    1.5) end)
  refused("type", "eye: argument 1 (m) must be a count of 0 or more, got string", function() return sparse.eye "3" end)
  refused("value", "eye: unknown option 'q': the options are k, dtype, format, itype", function() return sparse.eye(3,
    { q = 1 }) end)
  refused("type", "eye: option 'k' must be an integer, got number", function() return sparse.eye(3, { k = 1.5 }) end)
  refused("shape", "diags: diagonal 2 has 3 entries, expected 2 (offset 1, shape (3, 3))",
    function() return sparse.diags({ { 1, 2, 3 }, { 4, 5, 6 } }, { 0, 1 }) end)
  refused("value", "diags: offset 0 is given twice", function() return sparse.diags({ { 1 }, { 2 } }, { 0, 0 }) end)
  refused("value", "diags: offset 7 lies outside the shape (3, 3)",
    function() return sparse.diags({ { 1, 2, 3 } }, { 7 }, { shape = { 3, 3 } }) end)
  refused("value", "diags: offsets must be as many integers as there are diagonals: 1",
    function() return sparse.diags({ { 1, 2, 3 } }, { 0, 1 }) end)
  refused("type", "diags: argument 1 (diagonals) must be a list of diagonals, got number",
    function() return sparse.diags(3) end)
  for name, v in pairs { Array = damo.ones(3), Variable = damo.dvector "v" } do
    refused("type", "diags: argument 1 (diagonals) must be a list of diagonals (square_diagonal takes a vector), got "
      .. name, function() return sparse.diags(v) end)
  end
  for _, sizes in ipairs { { 3, 4 }, { { 3, 4 } } } do
    refused("type", "csc: two numbers are no matrix: csc {shape = {3, 4}} is one of zeros",
      function() return sparse.csc(table.unpack(sizes)) end)
  end
  refused("type", "csc: argument 1 must be a value, got Variable; damo.sparse.csc_from_dense(x) makes it csc in a "
    .. "graph", function() return sparse.csc(damo.dmatrix "x") end)
  refused("type", "csr: argument 1 must be a value, got Variable; x:tocsr() makes it csr in a graph",
    function() return sparse.csr(sparse.csc_matrix "x") end)
  refused("value", "random: density is 1.5, expected 0 to 1", function() return sparse.random(3, 4,
    { density = 1.5 }) end)
  for _, nan in ipairs { 0 / 0, -(0 / 0) } do
    refused("value", "random: density is not a number, expected 0 to 1",
      function() return sparse.random(3, 4, { density = nan }) end)
    refused("value", "random: argument 1 (m) must be a count of 0 or more, got nan",
      function() return sparse.random(nan, 4) end)
    refused("value", "Binomial: p must lie between 0 and 1, got nan",
      function() return sparse.csr_dbinomial(3, nan, { 2, 2 }) end)
    refused("value", "Poisson: a mean must be 0 or more, stored entry 1 is nan",
      function() return sparse.poisson(sparse.csr { { nan } }) end)
    refused("value", "Multinomial: a probability must be 0 or more, row 1 has nan",
      function() return sparse.multinomial(3, sparse.csr { { nan } }) end)
    refused("value", "normal: scale must not be negative, got loc=0, scale=nan",
      function() return damo.random.normal(0, nan) end)
    refused("value", "grad_clip: lower (nan) must not be above upper (1)",
      function() return damo.grad_clip(damo.dvector "x", { lower = nan, upper = 1 }) end)
    refused("index", "index: nan is no position: positions are integers",
      function() return sparse.eye(3)[{ nan, 1 }] end)
  end
  refused("value", "random: argument 1 (m) must be a count of 0 or more, got -3",
    function() return sparse.random(-3, 4) end)
end)

describe("a sparse matrix", function()
  it("shows its entries, 1-based", function()
    assert.equal("<csr float64 (2, 3), 3 stored>\n  (1, 1)  1.0\n  (1, 3)  2.0\n  (2, 2)  3.0", tostring(csr()))
    assert.equal("<csc float32 (0, 4), 0 stored>", tostring(sparse.csc(damo.zeros({ 0, 4 }, "float32"))))
    local long = tostring(sparse.eye(1000))
    assert.is_true(#long < 2000 and long:find("(1000, 1000)", 1, true) ~= nil)
  end)

  it("has size and nnz as its stored entries, and # as its rows", function()
    local a = csr()
    assert.same({ 3, 3, 2, 2 }, { a.size, a.nnz, #a, a.ndim })
  end)

  it("shares its vectors without copying; the data can be written, the pattern cannot", function()
    local a = csr()
    local data = a.data
    a.data[1] = 10
    assert.equal(10, data[1])
    assert.same({ { 10, 0, 2 }, { 0, 3, 0 } }, s.todense(a))
    for _, part in ipairs { "indices", "indptr" } do
      assert.is_false(a[part].writeable)
      s.raises("state", "index: the Array is read-only; a:copy() can be written", function() a[part][1] = 1 end)
    end
    s.raises("type", "Sparse: the field 'format' cannot be set", function() a.format = "csc" end)
    s.raises("type", "Sparse: the field 'data' cannot be set: A.data[{ {} }] = v writes the values, A:with_data(v) "
      .. "makes a matrix", function() a.data = damo.ones(3) end)
    s.raises("type",
      "a sparse matrix's pattern never changes: A.data[i] = v sets stored values, damo.sparse.coo makes a "
      .. "matrix with other entries", function() a[1] = 3 end)
  end)

  it("shares the data that it is made from, but not the indices", function()
    local data, indices = damo.array { 1, 2 }, damo.array({ 0, 1 }, "int32")
    local a = sparse.csr { data = data, indices = indices, indptr = damo.array({ 0, 2 }, "int32"), shape = { 1, 3 } }
    data[1] = 7
    assert.equal(7, a.data[1])
    indices[1] = 2
    assert.same({ 0, 1 }, integers(a.indices))
  end)

  it("transposes without copying, and copies on demand", function()
    local a = csr()
    local t, c = a.T, a:copy()
    assert.equal("csc", t.format)
    a.data[2] = 20
    assert.same({ { 1, 0 }, { 0, 3 }, { 20, 0 } }, s.todense(t))
    assert.same({ { 1, 0, 2 }, { 0, 3, 0 } }, s.todense(c))
  end)

  it("converts", function()
    local a = csr()
    assert.equal("csc", sparse.tocsc(a).format)
    assert.equal("float32", sparse.cast(a, "float32").dtype)
    assert.same({ { 1, 0, 2 }, { 0, 3, 0 } }, a:toarray():totable())
    assert.same(s.todense(a), s.todense(a:tocsc():tocsr()))
  end)

  it("can be freed; views and other holders keep the memory", function()
    local a = csr()
    local data, t = a.data, a.T
    a:free()
    a:free()
    assert.equal("Sparse: freed", tostring(a))
    s.raises("state", "this Sparse has been freed", function() return a.nnz end)
    s.raises("state", "this Sparse has been freed", function() return damo.sparse.neg(a) end)
    assert.same({ 1, 2, 3 }, data:totable())
    assert.same({ 3, 2 }, t.shape)
  end)

  it("works as a to-be-closed variable", function()
    local a = csr()
    closing(a, function(b) assert.equal(a, b) end)
    s.raises("state", nil, function() return a.shape end)
  end)

  it("has int64 indices if it needs them", function()
    local far = math.floor(2 ^ 33)
    local a = sparse.coo { rows = { 1, 2 }, cols = { far, 1 }, values = { 1, 2 } }
    assert.same({ 2, far }, a.shape)
    assert.equal("int64", a.itype)
    assert.same({ far - 1, 0 }, integers(a.indices))
    assert.equal("(1, 8589934592)", tostring(a):match "%(1, %d+%)")
  end)

  it("leaks no memory", function()
    local function churn()
      for _ = 1, 2000 do
        local a = sparse.random(50, 50, { density = 0.1 })
        assert.is_truthy(a.T and a.data and a:copy())
      end
      garbage.collect()
    end
    churn()
    local before = damo.memory().bytes
    churn()
    assert.is_true(damo.memory().bytes <= before + 4096)
  end)
end)

describe("files", function()
  local path = os.tmpname()
  local npz, mtx = path .. ".npz", path .. ".mtx"
  teardown(function()
    for _, p in ipairs { path, npz, mtx } do os.remove(p) end
  end)

  it(".npz files are read back unchanged", function()
    for _, dtype in ipairs { "float32", "float64", "complex64", "complex128", "int8", "int64", "bool" } do
      for _, m in ipairs(s.matrices(dtype)) do
        assert.is_true(damo.io.save(npz, m.value))
        s.same_storage(damo.io.load(npz), m.value, m.name)
      end
    end
    damo.io.save(npz, { a = { 1, 2 } })
    assert.same({ 1, 2 }, damo.io.load(npz).a:totable())
    s.raises("type", "save: argument 2 (value) must be dense for a .npy; an .npz holds it, got Sparse",
      function() damo.io.save(path .. ".npy", csr()) end)
  end)

  it(".mtx files are read back unchanged", function()
    for _, dtype in ipairs { "float64", "complex128", "int64" } do
      for _, m in ipairs(s.matrices(dtype)) do
        damo.io.write_mtx(mtx, m.value)
        s.close(damo.io.read_mtx(mtx, { format = m.format }), m.value, m.name)
      end
    end
    damo.io.write_mtx(mtx, { { 1, 2 }, { 3, 4 } })
    assert.same({ { 1, 2 }, { 3, 4 } }, damo.io.read_mtx(mtx):totable())
  end)

  it("write_mtx takes a comment, a pattern, a symmetry", function()
    local function written(value, options)
      assert.is_true(damo.io.write_mtx(mtx, value, options))
      local f = assert(io.open(mtx))
      local text = f:read "a"
      f:close()
      return text
    end
    assert.equal("%%MatrixMarket matrix coordinate real general\n% one\n% two\n2 3 3\n1 1 1\n1 3 2\n2 2 3\n",
      written(csr(), { comment = "one\ntwo" }))
    assert.equal("%%MatrixMarket matrix coordinate pattern general\n2 3 3\n1 1\n1 3\n2 2\n", written(csr(),
      { pattern = true }))
    local even = sparse.csr { { 1, 2 }, { 2, 0 } }
    assert.equal("%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1\n2 1 2\n", written(even,
      { symmetry = "symmetric" }))
    s.close(damo.io.read_mtx(mtx), even)
    s.raises("value", nil, function() damo.io.write_mtx(mtx, sparse.csr { { 1, 2 }, { 3, 0 } },
      { symmetry = "symmetric" }) end)
    s.raises("value", nil, function() damo.io.write_mtx(mtx, even, { symmetry = "skewed" }) end)
    local ok, err = damo.io.write_mtx("no/such/folder/x.mtx", even, { on_fail = "return" })
    assert.is_nil(ok)
    assert.equal("io", err.kind)
  end)

  it("real matrices have the shape and the entries of matrices.csv", function()
    local f = assert(io.open "spec/data/matrices.csv")
    f:read "l"
    local seen = 0
    for line in f:lines() do
      local name, form, rows, cols, _, nnz = line:match "^([^,]*),([^,]*),([^,]*),([^,]*),([^,]*),([^,]*)"
      local file = io.open("spec/data/" .. name)
      if file and rows ~= "" and form:find "^coordinate" then
        local a = damo.io.read_mtx("spec/data/" .. name, { format = "csc" })
        assert.same({ "csc", tonumber(rows), tonumber(cols) }, { a.format, a.shape[1], a.shape[2] }, name)
        assert.equal(tonumber(nnz), a.nnz, name)
        seen = seen + 1
      end
      if file then file:close() end
    end
    f:close()
    assert.is_true(seen > 15)
  end)

  local broken = {
    mangled1 = "line 1: 'mangled' is not an object that can be read, expected matrix",
    mangled2 = "line 1: 'mangled' is not a format, expected coordinate or array",
    mangled3 = "line 1: 'mangled' is not a field, expected real, integer, complex or pattern",
    mangled4 = "line 1: 'mangled' is not a symmetry, expected general, symmetric, skew-symmetric or hermitian",
    mangled7 = "line 4: 3 entries are announced, and the 12 bytes that follow can't hold them",
    mangled8 = "line 4: 1 sizes, expected 3: rows, columns and entries",
    mangled9 = "line 4: 3 rows and 4 columns, but the matrix is symmetric, so they should be equal",
    mangled10 = "line 4: 3 entries are announced, and the 16 bytes that follow can't hold them",
    mangled11 = "line 5: 'zero' is not a position",
    mangled12 = "line 5: the entry has no value",
    mangled13 = "line 7: column 9999, expected 1 to 4",
    mangled_format = "line 1: an array file can't have the field pattern",
  }
  for name, why in pairs(broken) do
    it(name .. " is refused with the line and the reason", function()
      local file = "spec/data/mtx_bad/" .. name .. ".mtx"
      s.raises("io", file .. ": " .. why, function() return damo.io.read_mtx(file) end)
      local none, err = damo.io.read_mtx(file, { on_fail = "return" })
      assert.is_nil(none)
      assert.equal("io", err.kind)
    end)
  end

  it("the other broken files and forms are read or refused, without a crash", function()
    for _, dir in ipairs { "mtx_bad", "mtx_forms" } do
      local pipe = assert(io.popen("ls spec/data/" .. dir))
      for name in pipe:lines() do
        local value, err = damo.io.read_mtx(("spec/data/%s/%s"):format(dir, name), { on_fail = "return" })
        if value then
          assert.is_true(damo.sparse.is_sparse(value) or value.ndim == 2, name)
        else
          assert.equal("io", err.kind, name)
        end
      end
      pipe:close()
    end
  end)

  it("array files give dense Arrays, pattern entries are 1", function()
    assert.is_false(damo.sparse.is_sparse(damo.io.read_mtx "spec/data/mtx_forms/full.mtx"))
    local a = damo.io.read_mtx "spec/data/mtx_forms/structure.mtx"
    for _, v in ipairs(a.data:totable()) do assert.equal(1, v) end
    s.raises("value", nil, function() return damo.io.read_mtx("spec/data/mtx_forms/full.mtx", { format = "coo" }) end)
    s.raises("io", nil, function() return damo.io.read_mtx "no/such/file.mtx" end)
  end)
end)

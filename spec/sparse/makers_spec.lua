-- Makers of sparse values and Variables: conversion from another matrix, and that no argument is ignored.
local damo = require "damo"
local s = require "spec.sparse.support"
local sparse = damo.sparse

local function matrix()
  return sparse.coo { rows = { 1, 2 }, cols = { 3, 1 }, values = { 1.5, 2 }, shape = { 2, 3 } }
end

describe("csr and csc with a matrix", function()
  it("take dtype and itype", function()
    for _, format in ipairs(s.formats) do
      for _, from in ipairs { matrix(), matrix():tocsc(), matrix():toarray(), matrix():toarray():totable() } do
        local b = sparse[format](from, { dtype = "float32", itype = "int64" })
        assert.same({ format, "float32", "int64" }, { b.format, b.dtype, b.itype })
        assert.is_true(damo.array_equal(matrix(), b))
        assert.equal(format, sparse[format](from).format)
      end
    end
    assert.equal("int64", sparse.csr(sparse.csr(matrix(), { itype = "int64" })).itype)
    assert.equal("int32", sparse.csr(sparse.csr(matrix(), { itype = "int64" }), { itype = "int32" }).itype)
    assert.equal("int8", sparse.csr({ { 1, 0 }, { 0, 2 } }, { dtype = "int8" }).dtype)
  end)

  it("return the matrix itself if nothing changes, or a copy if asked to", function()
    local a = matrix()
    assert.equal(a, sparse.csr(a))
    assert.equal(a, sparse.csr(a, { dtype = "float64", itype = "int32" }))
    for _, b in ipairs { sparse.csr(a, { copy = true }), sparse.csr(a, { copy = true, itype = "int64" }),
      sparse.csc(a.T, { copy = true }), sparse.csc(a, { copy = true }) } do
      local before = b.data[1]
      a.data[1] = a.data[1] + 1
      assert.equal(before, b.data[1])
    end
    local c = sparse.csc(a.T)
    a.data[1] = 99
    assert.equal(99, c.data[1])
  end)

  it("with three vectors share the values, unless copied", function()
    for _, format in ipairs(s.formats) do
      local data = damo.array { 1.0, 2 }
      local parts = { data = data, indices = { 0, 1 }, indptr = { 0, 1, 2 } }
      local shared = sparse[format](parts)
      parts.copy = true
      local own = sparse[format](parts)
      parts.copy, parts.dtype = nil, "float32"
      local cast = sparse[format](parts)
      data[1] = 7
      assert.same({ 7, 1, 1 }, { shared[{ 1, 1 }], own[{ 1, 1 }], cast[{ 1, 1 }] })
    end
  end)

  it("with only a shape store nothing", function()
    for _, format in ipairs(s.formats) do
      local a = sparse[format] { shape = { 2, 3 } }
      assert.same({ format, "float64", "int32", 0 }, { a.format, a.dtype, a.itype, a.nnz })
      assert.is_true(damo.array_equal(damo.zeros { 2, 3 }, a))
      a = sparse[format] { shape = format == "csr" and { 3, 2 ^ 33 } or { 2 ^ 33, 3 }, dtype = "int8" }
      assert.same({ 2 ^ 33, "int8", "int64" }, { math.max(a.shape[1], a.shape[2]), a.dtype, a.itype })
      s.raises("type", format .. ": 'indices' is missing",
        function() return sparse[format] { shape = { 2, 3 }, data = { 1 } } end)
      s.raises("value", nil, function() return sparse[format] { shape = { 2, -3 } } end)
    end
  end)

  it("check the shape that is given", function()
    assert.same({ 2, 3 }, sparse.csr(matrix(), { shape = { 2, 3 } }).shape)
    for _, a in ipairs { matrix(), matrix():toarray() } do
      s.raises("shape", "csc: the matrix has shape (2, 3), not (3, 2)",
        function() return sparse.csc(a, { shape = { 3, 2 } }) end)
    end
  end)

  it("from_dense takes a dtype too", function()
    local a = sparse.from_dense(damo.eye(2), { format = "csc", dtype = "complex64", itype = "int64" })
    assert.same({ "csc", "complex64", "int64" }, { a.format, a.dtype, a.itype })
  end)
end)

it("coo always has values of its own", function()
  local values = damo.array { 1.0, 2 }
  local function made(copy)
    return sparse.coo { rows = { 1, 2 }, cols = { 1, 2 }, values = values, copy = copy }
  end
  local a, b = made(), made(true)
  values[1] = 7
  assert.same({ 1, 1 }, { a[{ 1, 1 }], b[{ 1, 1 }] })
  s.raises("value", "coo: copy can't be false: the values are put in order and summed where they meet, in memory of "
    .. "their own", function() return made(false) end)
  s.raises("type", "coo: option 'copy' must be true or false, got number", function() return made(1) end)
end)

it("eye, diags and random take an index dtype", function()
  for _, a in ipairs { sparse.eye(2, { itype = "int64" }), sparse.diags({ { 1, 2 } }, { itype = "int64" }),
    sparse.diags({ { 1, 2 } }, { 0 }, { itype = "int64" }), sparse.random(3, 3, { itype = "int64", density = 1 }) } do
    assert.equal("int64", a.itype)
    assert.equal("int64", a.indptr.dtype)
  end
  assert.equal("int32", sparse.eye(2).itype)
end)

describe("no argument is ignored:", function()
  local a, d = sparse.eye(2), damo.eye(2)
  local parts = { data = { 1 }, indices = { 0 }, indptr = { 0, 1 } }
  local places = { rows = { 1 }, cols = { 1 }, values = { 1 } }
  local function with(t, key, value)
    local out = {}
    for k, v in pairs(t) do out[k] = v end
    out[key] = value
    return out
  end
  local junk = { junk = 1 }
  local cases = {
    csr = { { parts, junk }, { with(parts, "junk", 1) }, { with(parts, 1, 1) }, { a, junk }, { d, junk }, { a, "csc" },
      { with(parts, "copy", 1) },
      { d, {}, {} }, { { { 1, 0 } }, junk }, { a, { "float32" } }, { a, { format = "csc" } } },
    csc = { { parts, {} }, { a, junk }, { a, nil, 1 } },
    coo = { { places, junk }, { with(places, "junk", 1) }, { with(places, 1, 1) }, { a }, { d }, { { { 1, 0 } } } },
    bmat = { { { { a } }, junk }, { { { a } }, {}, 1 }, { { { a }, junk = 1 } }, { { { a, junk = 1 } } },
      { { { a } }, "csr" }, { { { a } }, { rows = { 1 } } }, { { a } }, { a }, { { { d } } } },
    from_dense = { { d, junk }, { d, "csr", {} }, { d, { "csc" } }, { d, "coo" }, { d, { copy = true } }, { a } },
    eye = { { 2, junk }, { 2, 2, junk }, { 2, { k = 1 }, junk }, { 2, 2, {}, 1 }, { 2, 2, { 3 } }, { 2, 2, "csc" } },
    diags = { { { 1 }, { 0 }, junk }, { { { 1 } }, { 0 }, {}, 3 }, { { { 1 } }, junk }, { { { 1 } }, { 0 }, { 3 } } },
    random = { { 2, 2, junk }, { 2, 2, {}, 3 }, { 2, 2, 0.5 }, { 2, 2, { 0.5 } }, { 2, {} } },
    csr_matrix = { { "x", junk }, { "x", {}, {} }, { { name = "x" }, {} }, { "x", "float32" }, { "x", { "float32" } } },
    csc_fmatrix = { { "x", junk }, { "x", { dtype = "int8" } }, { "x", {}, 1 } },
    matrix = { { "csr", "x", junk }, { "csr", "x", {}, 1 }, { "coo" }, {} },
    SparseTensorType = { { "csr", "int8", junk }, { "csr", "int8", {}, 1 }, { "csr", {} }, { "csr", "int8", { 1 } } },
    as_sparse_variable = { { a, junk }, { a, "a", 1 }, { d } },
    as_sparse_or_tensor_variable = { { a, junk }, { d, junk }, { d, "d", 1 } },
    structured_monoid = { { damo.exp, 1 }, { 1 } },
    sparse_random_inputs = { { "csr", { 2, 2 }, junk }, { "csr", { 2, 2 }, {}, 1 }, { "csr", { 2, 2 }, { n = "a" } },
      { "coo", { 2, 2 } } },
    verify_grad_sparse = { { sparse.neg, { a }, junk }, { sparse.neg, { a }, {}, 1 }, { 1, { a } },
      { sparse.neg, { a }, { eps = "a" } } },
    csr_from_dense = { { d, junk }, { d, 1 } },
    poisson = { { a, junk }, { a, 1 } }, multinomial = { { 3, a, junk } },
    csr_fbinomial = { { 3, 0.5, { 2, 2 }, junk }, { 3, 0.5, { 2, 2 }, 1 } },
  }
  for name, list in pairs(cases) do
    it(name, function()
      for i, args in ipairs(list) do
        local ok, err = pcall(sparse[name], table.unpack(args))
        assert.is_false(ok, "case " .. i)
        assert.is_true(type(err) == "table" and err.kind ~= nil, "case " .. i .. ": " .. tostring(err))
      end
    end)
  end

  it("unknown names are refused with the list of known ones", function()
    s.raises("value", "csr: unknown option 'junk': the options are dtype, itype, shape, copy",
      function() return sparse.csr(a, junk) end)
    s.raises("value", "csr: an option without its name: the options are dtype, itype, shape, copy",
      function() return sparse.csr(a, { "float32" }) end)
    s.raises("type", "csr: too many arguments: 2 given; it takes one table {data=, indices=, indptr=}, options in it",
      function() return sparse.csr(parts, junk) end)
    s.raises("type", "random: too many arguments; it takes two lengths and a table of options",
      function() return sparse.random(2, 2, {}, 1) end)
  end)
end)

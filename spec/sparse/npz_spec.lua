-- .npz files of sparse matrices: SciPy's own (spec/data/npz, made by make.py there) against the results of SciPy's
-- tocsr(), every dtype and index dtype of each format, and damaged files.
local damo = require "damo"
local s = require "spec.sparse.support"
local folder = "spec/data/npz/"
local expected = dofile(folder .. "expected.lua")

local path = os.tmpname()
local npz = path .. ".npz"
teardown(function()
  os.remove(path)
  os.remove(npz)
end)

local function ints(list, dtype) return damo.array(list, dtype or "int64") end
--- The least and the greatest int64 with a further entry: not every Lua has them as numbers.
local function least_and(x) return damo.concatenate { damo.cast(damo.array { -2.0 ^ 63 }, "int64"), ints { x } } end
local function greatest_and(x) return damo.concatenate { damo.invert(least_and(0)[{ { 1, 1 } }]), ints { x } } end

-- members: data, shape and those of the format; a string as format is written as its character codes.
local function load(members, on_fail)
  local m = {}
  for name, v in pairs(members) do m[name] = v end
  if type(m.format) == "string" then m.format = damo.array({ m.format:byte(1, -1) }, m.wide and "uint32" or "uint8") end
  m.wide = nil
  damo.io.save(npz, m)
  return damo.io.load(npz, { on_fail = on_fail })
end

local function with(members, name, value)
  local m = {}
  for k, v in pairs(members) do m[k] = v end
  if value == nil then m[name] = nil else m[name] = value end
  return m
end

local function same(got, want, name)
  local message = name .. ": " .. tostring(got)
  assert.same({ want.format, want.dtype }, { got.format, got.dtype }, message)
  assert.same(want.shape, { got.shape[1], got.shape[2] }, message)
  assert.same(want.indices, got.indices:totable(), message)
  assert.same(want.indptr, got.indptr:totable(), message)
  local part = want.im and "float64" or want.dtype
  local data = damo.array(want.re, #want.re == 0 and part or want.dtype == "bool" and "bool" or part)
  if want.im then data = damo.cast(damo.complex(data, damo.array(want.im, "float64")), want.dtype) end
  assert.is_true(damo.array_equal(got.data, data, { equal_nan = true }), message)
end

describe("SciPy's files", function()
  for name, want in pairs(expected) do
    it(name, function()
      local a = damo.io.load(folder .. name .. ".npz")
      if want.dtype == "bool" then
        want = with(want, "re", {})
        for i, v in ipairs(expected[name].re) do want.re[i] = v ~= 0 end
      end
      same(a, want, name)
      damo.io.save(npz, a)
      same(damo.io.load(npz), want, name .. ", saved again")
    end)
  end
end)

local dtypes = { "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64",
  "complex64", "complex128" }
local itypes = { "int32", "int64", "uint8", "int16", "uint64" }

describe("every dtype and index dtype of", function()
  local function each(fn)
    for k, dtype in ipairs(dtypes) do
      for _, itype in ipairs { "int32", "int64", itypes[k % #itypes + 1] } do fn(dtype, itype, k % 2 == 0) end
    end
  end

  it("coo", function()
    each(function(dtype, itype, wide)
      local values = s.vector(5, dtype, 3)
      local members = { format = "coo", wide = wide, shape = ints({ 3, 4 }, itype), data = values,
        row = ints({ 2, 0, 0, 2, 2 }, itype), col = ints({ 3, 2, 0, 1, 3 }, itype), _is_array = true }
      local want = damo.sparse.coo { rows = { 3, 1, 1, 3, 3 }, cols = { 4, 3, 1, 2, 4 }, values = values,
        shape = { 3, 4 } }
      s.same_storage(load(members), want, dtype)
      local m = with(with(members, "row"), "col")
      m.coords = ints({ { 2, 0, 0, 2, 2 }, { 3, 2, 0, 1, 3 } }, itype)
      s.same_storage(load(m), want, dtype .. ", coords")
    end)
  end)

  it("dia", function()
    each(function(dtype, _, wide)
      local values = s.dense(3, 4, dtype, 5)
      local itype = wide and "int32" or "int64"
      local a = load { format = "dia", wide = wide, shape = ints({ 3, 5 }, itype), data = values,
        offsets = ints({ 1, -2, 9 }, itype) }
      local flat = values:ravel()
      local want = damo.sparse.coo { rows = { 1, 2, 3, 3 }, cols = { 2, 3, 4, 1 }, shape = { 3, 5 },
        values = flat[ints { 2, 3, 4, 5 }] }
      s.same_storage(a, want, dtype)
    end)
  end)

  it("bsr", function()
    each(function(dtype, itype, wide)
      local values = s.vector(12, dtype, 7):reshape { shape = { 3, 2, 2 } }
      local members = { format = "bsr", wide = wide, shape = ints({ 4, 6 }, itype), data = values,
        indices = ints({ 2, 0, 1 }, itype), indptr = ints({ 0, 2, 3 }, itype) }
      local flat = values:ravel()
      local want = damo.sparse.csr { shape = { 4, 6 }, indices = { 4, 5, 0, 1, 4, 5, 0, 1, 2, 3, 2, 3 },
        indptr = { 0, 4, 8, 10, 12 }, data = flat[ints { 1, 2, 5, 6, 3, 4, 7, 8, 9, 10, 11, 12 }] }
      s.same_storage(load(members), want, dtype)
      -- the blocks as a view that is not contiguous
      members.data = values:transpose { axes = { 1, 3, 2 } }
      want = damo.sparse.csr { shape = { 4, 6 }, indices = want.indices, indptr = want.indptr,
        data = flat[ints { 1, 3, 5, 7, 2, 4, 6, 8, 9, 11, 10, 12 }] }
      s.same_storage(load(members), want, dtype .. ", strided")
    end)
  end)
end)

describe("damaged files:", function()
  local coo = { format = "coo", shape = ints { 3, 4 }, data = damo.array { 1, 2 }, row = ints { 0, 2 },
    col = ints { 3, 1 } }
  local dia = { format = "dia", shape = ints { 3, 4 }, data = damo.ones { 2, 4 }, offsets = ints { -1, 2 } }
  local bsr = { format = "bsr", shape = ints { 4, 6 }, data = damo.ones { 2, 2, 3 }, indices = ints { 1, 0 },
    indptr = ints { 0, 1, 2 } }
  local cases = {
    { coo, "row", nil, "the member 'row' of a sparse matrix is missing" },
    { coo, "col", nil, "the member 'col' of a sparse matrix is missing" },
    { coo, "row", ints { 0, 3 }, "entry 2 of member 'row' is 3, expected at least 0 and less than the 3 rows" },
    { coo, "col", ints { -1, 1 }, "entry 1 of member 'col' is -1, expected at least 0 and less than the 4 columns" },
    { coo, "row", ints { 0 }, "member 'row' has shape (1,), expected a vector of 2, as data has" },
    { coo, "col", ints { { 0, 0 } }, "member 'col' has shape (1, 2), expected a vector of 2, as data has" },
    { coo, "col", damo.array { 0, 1.5 }, "member 'col' is float64, expected an integer dtype" },
    { coo, "row", damo.cast(least_and(0), "uint64"),
      "entry 1 of member 'row' is -9223372036854775808, expected at least 0 and less than the 3 rows" },
    { coo, "data", damo.ones { 2, 1 }, "member 'data' of coo has shape (2, 1), expected a vector" },
    { coo, "coords", ints { 0, 2 }, "member 'coords' has shape (2,), expected (2, entries)" },
    { coo, "coords", ints { { 0, 2 } }, "member 'coords' has shape (1, 2), expected (2, entries)" },
    { coo, "coords", ints { { 0, 2 }, { 1, 4 } },
      "entry 2 of member 'coords' is 4, expected at least 0 and less than the 4 columns" },
    { coo, "shape", ints { 3 }, "member 'shape' is not a vector of two integers" },
    { coo, "shape", ints { 3, 4, 5 }, "member 'shape' is not a vector of two integers" },
    { coo, "shape", damo.array { 3, 4 }, "member 'shape' is not a vector of two integers" },
    { coo, "shape", ints { -3, 4 }, "member 'shape' holds -3" },
    { coo, "shape", greatest_and(4), "member 'shape' holds 9223372036854775807" },
    { coo, "shape", greatest_and(4) - ints { 1, 0 }, "its rows as csr take more than 1073741824 bytes: "
      .. "the option max_bytes (default 1073741824) allows more" },
    { coo, "format", "lil", "the sparse format is 'lil', expected csr, csc, coo, dia or bsr" },
    { coo, "format", "coordinates", "the sparse format is '', expected csr, csc, coo, dia or bsr" },
    { dia, "offsets", nil, "the member 'offsets' of a sparse matrix is missing" },
    { dia, "offsets", ints { 1 }, "member 'offsets' has shape (1,), expected a vector of 2, as data has" },
    { dia, "offsets", ints { 9, 9 }, "member 'offsets' holds 9 twice" },
    { dia, "offsets", damo.array { 1, 2 }, "member 'offsets' is float64, expected an integer dtype" },
    { dia, "data", damo.ones { 2 }, "member 'data' of dia has shape (2,), expected (diagonals, columns)" },
    { bsr, "indices", nil, "the member 'indices' of a sparse matrix is missing" },
    { bsr, "data", damo.ones { 2, 6 }, "member 'data' of bsr has shape (2, 6), expected (blocks, rows, columns)" },
    { bsr, "data", damo.ones { 2, 3, 3 }, "blocks of (3, 3) don't fill a matrix of (4, 6)" },
    { bsr, "data", damo.ones { 2, 0, 3 }, "blocks of (0, 3) don't fill a matrix of (4, 6)" },
    { bsr, "data", damo.ones { 3, 2, 3 },
      "counted in blocks: csr: data has 3 entries and indices 2, expected as many" },
    { bsr, "indices", ints { 1, 2 },
      "counted in blocks: csr: entry 2 of indices is 2, expected at least 0 and less than the 2 columns" },
    { bsr, "indptr", ints { 0, 2 },
      "counted in blocks: csr: indptr has 2 entries, expected 3: one more than the 2 rows" },
    { bsr, "indptr", ints { 0, 3, 2 },
      "counted in blocks: csr: entry 3 of indptr is 2, less than the entry before it" },
  }
  for _, case in ipairs(cases) do
    local members, name, value, text = case[1], case[2], case[3], case[4]
    it(("%s, %s: %s"):format(members.format, name, text), function()
      s.raises("io", text and npz .. ": " .. text, function() return load(with(members, name, value)) end)
    end)
  end

  it("entries of a dia outside the matrix are padding, however far", function()
    for _, offset in ipairs { math.maxinteger, math.mininteger, 4, -3, math.maxinteger - 2 } do
      local a = load(with(dia, "offsets", ints { offset, 2 }))
      s.same_storage(a, damo.sparse.coo { rows = { 1, 2 }, cols = { 3, 4 }, values = { 1.0, 1.0 }, shape = { 3, 4 } },
        tostring(offset))
    end
  end)

  it("any changed number gives a matrix or an error", function()
    local numbers = s.numbers(11, -3, 9)
    local odd = { math.maxinteger, math.mininteger, math.floor(2 ^ 31), -1 }
    local names = { coo = { "row", "col", "shape" }, dia = { "offsets", "shape" },
      bsr = { "indices", "indptr", "shape" } }
    local good = 0
    for k = 1, 600 do
      local members = ({ coo, dia, bsr })[k % 3 + 1]
      local m = with(members, "format", members.format)
      local list = names[m.format]
      local name = list[k % #list + 1]
      local v = m[name]:totable()
      for i = 1, #v do
        if numbers() > 4 then v[i] = name ~= "shape" and k % 7 == 0 and odd[k % #odd + 1] or math.floor(numbers()) end
      end
      if k % 11 == 0 then v[#v + 1] = 1 end
      m[name] = ints(v)
      local a, why = load(m, "return")
      if a then
        good = good + 1
        assert.is_true(damo.array_equal(a, a:copy()))
        assert.equal(a.nnz, a:tocsc().nnz)
      else
        assert.equal("io", why.kind, why.message)
      end
    end
    assert.is_true(good > 50 and good < 550, tostring(good))
  end)
end)

-- x[{i, j}] and x[{ {a, b}, {c, d} }] of sparse Variables and values.
local damo = require "damo"
local s = require "spec.sparse.support"
local sparse = damo.sparse

-- The square of fn's result: its second derivative uses the gradient Op's own gradient.
local function squared(fn)
  return function(x)
    local y = fn(x)
    return y * y
  end
end

-- The positions in a range {start, stop, step} on an axis of n entries.
local function positions(range, n)
  local step = range[3] or 1
  local first, last = range[1] or (step > 0 and 1 or n), range[2] or (step > 0 and n or 1)
  if first < 0 then first = first + n + 1 end
  if last < 0 then last = last + n + 1 end
  local out = {}
  for i = first, last, step do out[#out + 1] = i end
  return out
end

local function block(rows, cols)
  return function(x)
    local out = {}
    for _, i in ipairs(positions(rows, 4)) do
      local row = {}
      for _, j in ipairs(positions(cols, 5)) do row[#row + 1] = x[i][j] end
      out[#out + 1] = row
    end
    return out
  end
end

local ranges = {
  { {}, {} }, { { 2, 3 }, { 2, 4 } }, { { 1, 4, 2 }, { 2, 5, 3 } }, { { -1, 1, -1 }, { 5, 1, -2 } },
  { { -2, -1 }, { 3 } },
  { { 2, 2 }, {} }, { {}, { -1, -1 } }, { { 4, 1, -3 }, { nil, 3 } }, { { nil, nil, -1 }, { nil, nil, -1 } },
}

local function name_of(r)
  local function part(p) return ("{%s,%s,%s}"):format(p[1] or "", p[2] or "", p[3] or "") end
  return part(r[1]) .. part(r[2])
end

local from_one = "; positions count from 1, from the end from -1"

describe("a block", function()
  for _, r in ipairs(ranges) do
    local function take(x) return x[{ r[1], r[2] }] end
    it(name_of(r) .. ": value", function()
      for _, dtype in ipairs { "float32", "float64", "int8", "int64" } do
        for _, m in ipairs(s.matrices(dtype, { fixed = true })) do
          local got = s.check_value(take, { m.value }, block(r[1], r[2]))
          assert.same({ m.format, dtype, m.value.itype }, { got.format, got.dtype, got.itype })
        end
      end
      for _, dtype in ipairs { "complex64", "complex128", "bool" } do
        for _, m in ipairs(s.matrices(dtype, { fixed = true })) do
          s.close(s.same_everywhere(take, { m.value })[1], s.flat(sparse.toarray(m.value)[{ r[1], r[2] }]))
        end
      end
    end)

    it(name_of(r) .. ": derivatives", function()
      for _, dtype in ipairs { "float64", "complex128" } do
        for _, format in ipairs(s.formats) do
          for _, kind in ipairs { "plain", "unsorted", "nnz0" } do
            local x = { s.matrix { format = format, dtype = dtype, kind = kind } }
            s.check_grad(take, x)
            s.check_rop(take, x)
            if dtype == "float64" then s.check_second(squared(take), x, { tol = 1e-5 }) end
          end
        end
      end
    end)
  end

  it("of whole rows, of the whole matrix, and empty", function()
    for _, format in ipairs(s.formats) do
      local a = s.matrix { format = format }
      local dense = sparse.toarray(a)
      s.close(a[{ { 2, 3 } }], s.flat(dense[{ { 2, 3 } }]))
      s.close(a[{}], s.flat(dense))
      local none = a[{ { 3, 2 }, { 1, 0 } }]
      assert.same({ 0, 0, 0 }, { none.shape[1], none.shape[2], none.nnz })
      local empty = sparse.from_dense(damo.zeros { 0, 3 }, format)[{ {}, { 2, 3 } }]
      assert.same({ 0, 2 }, { empty.shape[1], empty.shape[2] })
    end
  end)

  it("has memory of its own", function()
    local a = s.matrix {}
    local b = a[{ {}, {} }]
    local before = a.data[1]
    b.data[1] = before + 1
    assert.equal(before, a.data[1])
  end)

  it("has symbolic ends, and a shape that needs no values", function()
    for _, format in ipairs(s.formats) do
      local x, i, j, k = sparse.matrix(format, "x"), damo.lscalar "i", damo.lscalar "j", damo.lscalar "k"
      local y = x[{ { i, j, k }, { j } }]
      local f = damo.compile({ x, i, j, k }, { y, y.shape })
      local a = s.matrix { format = format }
      local dense = sparse.toarray(a)
      for _, ends in ipairs { { 1, 4, 2 }, { 4, 2, -1 }, { -3, -1, 1 }, { 2, -1, 3 } } do
        local value, shape = f(a, table.unpack(ends))
        local want = dense[{ { ends[1], ends[2], ends[3] }, { ends[2] } }]
        s.close(value, s.flat(want))
        s.close(shape, want.shape)
      end
      s.raises("index", "index: the range's start, 5, is outside axis 1 of length 4", function() f(a, 5, 5, 1) end)
      s.raises("value", "index: the step of a range on axis 1 is 0", function() f(a, 1, 2, 0) end)
    end
  end)

  it("takes a dense cotangent and one of another format", function()
    local dense = damo.array { { 1, 0, 2 }, { 0, 3, 0 } }
    local want = { 0, 0, 0, 0, 0, 0, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0 }
    for _, format in ipairs(s.formats) do
      local x = sparse.matrix(format, "x")
      local y = x[{ { 2, 4, 2 }, { 4, 2, -1 } }]
      for _, c in ipairs { damo.constant(dense), damo.constant(sparse.csr_from_dense(dense)),
        damo.constant(sparse.csc_from_dense(dense)) } do
        local g = damo.grad(nil, x, { known_grads = { [y] = c } })
        local got = damo.compile({ x }, g)(s.matrix { format = format })
        assert.equal(3, got.nnz)
        s.close(got, want)
      end
    end
  end)

  it("of a huge matrix needs no memory for the axis", function()
    local last = math.floor(2 ^ 33)
    local got = s.huge { rows = 4, cols = 33 }[{ {}, { last - 2, last } }]
    assert.same({ 16, 3, 3, "int32" }, { got.shape[1], got.shape[2], got.nnz, got.itype })
    got = s.huge { rows = 33, cols = 4, format = "csc" }[{ { last, 1, -1 }, { 13, 16 } }]
    assert.same({ last, 4, "int64" }, { got.shape[1], got.nnz, got.itype })
    local x = sparse.csr_matrix "x"
    local g = damo.grad(sparse.sp_sum(x[{ {}, { last - 1, last } }], { sparse_grad = true }), x)
    assert.equal(2, damo.compile({ x }, g)(s.huge { rows = 4, cols = 33 }).nnz)
  end)

  it("by the functions", function()
    local a = s.matrix {}
    local dense = sparse.toarray(a)
    s.close(sparse.get_item_2d(a, { { 2, 3 }, { 1, 5, 2 } }), s.flat(dense[{ { 2, 3 }, { 1, 5, 2 } }]))
    s.close(sparse.get_item_2d(a, { {}, { -1, 1, -1 } }), s.flat(dense[{ {}, { -1, 1, -1 } }]))
    s.close(sparse.get_item_2d(a, { { 2 } }), s.flat(dense[{ { 2 } }]))
    local x = sparse.csr_matrix "x"
    local y = sparse.GetItem2d {}(x, 2, 3, 1, 5, 1, -2)
    s.close(damo.compile({ x }, y)(a), s.flat(dense[{ { 2, 3 }, { 5, 1, -2 } }]))
    s.raises("type", "GetItem2d: expected 7 operands, got 3", function() sparse.GetItem2d {}(x, 1, 2) end)
    s.raises("value", "GetItem2d: spec 'ii' is not one of one or two ranges",
      function() sparse.GetItem2d { spec = "ii" } end)
    s.raises("type", nil, function() sparse.get_item_2d(a, { 1, { 1, 2 } }) end)
    s.raises("type", nil, function() sparse.get_item_2d(a, { { 1, 2, 1, 1 }, {} }) end)
    s.raises("index", nil, function() sparse.get_item_2d(a, { {}, {}, {} }) end)
  end)
end)

describe("an element", function()
  it("is a number of the matrix's dtype", function()
    for _, dtype in ipairs { "float32", "float64", "int8", "int64", "uint8", "bool", "complex64", "complex128" } do
      for _, m in ipairs(s.matrices(dtype, { fixed = true })) do
        local dense = sparse.toarray(m.value)
        for _, at in ipairs { { 1, 1 }, { 2, 3 }, { -1, -1 }, { 4, 5 }, { -4, 2 }, { 1, 4 } } do
          local got = s.same_everywhere(function(x) return x[{ at[1], at[2] }] end, { m.value })[1]
          s.close(s.flat(got), s.flat(dense[{ at[1], at[2] }]), m.name)
        end
      end
    end
    assert.equal(2.5, sparse.get_item_scalar(sparse.from_dense(damo.array { { 1, 2.5 } }), { 1, 2 }))
  end)

  it("has an exact gradient: a matrix with that entry", function()
    for _, dtype in ipairs { "float64", "complex128" } do
      for _, format in ipairs(s.formats) do
        local x = { s.matrix { format = format, dtype = dtype } }
        local function take(a) return a[{ 2, -1 }] end
        s.check_grad(take, x)
        s.check_rop(take, x)
        if dtype == "float64" then s.check_second(function(a) return take(a) * take(a) end, x, { tol = 1e-5 }) end
      end
    end
    local x = sparse.csc_matrix "x"
    local g = damo.compile({ x }, damo.grad(x[{ 3, 1 }] * 2, x))(s.matrix { format = "csc", kind = "nnz0" })
    assert.same({ "csc", 1 }, { g.format, g.nnz })
    assert.equal(2, g[{ 3, 1 }])
  end)

  it("has symbolic positions", function()
    local x, i, j = sparse.csr_matrix "x", damo.iscalar "i", damo.lscalar "j"
    local f = damo.compile({ x, i, j }, x[{ i, j }])
    local a = s.huge { rows = 4, cols = 33 }
    local last = math.floor(2 ^ 33)
    assert.equal(1.5, f(a, 1, last))
    assert.equal(4.5, f(a, 4, -4))
    assert.equal(0, f(a, 4, 4))
    s.raises("index", "index: position 17 is outside axis 1 of length 16", function() f(a, 17, 1) end)
    s.raises("index", "index: position 0 is outside axis 2 of length 8589934592" .. from_one, function() f(a, 1, 0) end)
  end)
end)

describe("a list as the index", function()
  local orders = { { 3, 1 }, { 1, 1, 4, 1 }, { -1, 2, -4 }, { 4 } }

  -- The dense rows or columns.
  local function check(a, item_of, dense_item_of)
    for _, order in ipairs(orders) do
      local want = s.flat(a:toarray()[dense_item_of(damo.idx(order))])
      for _, list in ipairs { damo.idx(order), damo.array(order, "int64"), damo.array(order, "int8") } do
        local got = a[item_of(list)]
        assert.equal(a.format, got.format)
        s.close(got, want, "eager")
        local x = sparse.matrix(a.format, "x")
        for _, mode in ipairs(s.modes) do
          s.close(damo.compile({ x }, x[item_of(list)], { mode = mode })(a), want, mode)
        end
      end
      local x, list = sparse.matrix(a.format, "x"), damo.lvector "list"
      local y = x[item_of(list)]
      for _, mode in ipairs(s.modes) do
        local f = damo.compile({ x, list }, { y, damo.grad(sparse.sum(sparse.sqr(y)), x), y.shape }, { mode = mode })
        local got, slope, shape = f(a, damo.array(order, "int64"))
        s.close(got, want, mode)
        assert.same(got.shape, shape:totable())
        local d = damo.dmatrix "d"
        local dense = d[dense_item_of(list)]
        local g = damo.compile({ d, list }, damo.grad(damo.sum(damo.sqr(dense)), d))(a:toarray(), damo.array(order,
          "int64"))
        s.close(slope, s.flat(g * sparse.sp_ones_like(sparse.sum_duplicates(a)):toarray()), mode)
      end
    end
  end

  for _, format in ipairs(s.formats) do
    local a = s.matrix { format = format, rows = 4, cols = 4 }
    it("takes rows of " .. format, function()
      check(a, function(list) return { list } end, function(list) return { list } end)
      check(a, function(list) return list end, function(list) return { list } end)
      check(a, function(list) return { list, {} } end, function(list) return { list } end)
    end)

    it("takes columns of " .. format, function()
      check(a, function(list) return { {}, list } end, function(list) return { {}, list } end)
    end)

    it("takes them of a block of " .. format, function()
      check(a, function(list) return { list, { 2, -1 } } end, function(list) return { list, { 2, -1 } } end)
      check(a, function(list) return { { -1, 1, -1 }, list } end, function(list) return { { -1, 1, -1 }, list } end)
    end)

    it("has derivatives of " .. format, function()
      for _, item in ipairs { { damo.idx { 3, 1, 3 } }, { {}, damo.idx { -1, 2 } }, { { 2, 3 }, damo.idx { 4, 4 } } } do
        local function fn(x) return x[item] end
        for _, kind in ipairs { "plain", "duplicates", "unsorted" } do
          local m = s.matrix { format = format, rows = 4, cols = 4, kind = kind }
          s.check_grad(fn, { m })
          s.check_rop(fn, { m })
        end
        s.check_second(fn, { a })
      end
    end)
  end

  it("names the position that is out of range", function()
    local a, x, list = s.matrix {}, sparse.csr_matrix "x", damo.lvector "list"
    for _, mode in ipairs(s.modes) do
      local rows, columns = damo.compile({ x, list }, x[list], { mode = mode }),
        damo.compile({ x, list }, x[{ {}, list }], { mode = mode })
      for _, wrong in ipairs { 0, 6, -6 } do
        s.raises("index", nil, function() rows(a, damo.array({ 1, wrong }, "int64")) end)
        s.raises("index", nil, function() columns(a, damo.array({ 1, wrong }, "int64")) end)
      end
      s.raises("index", nil, function() rows(a, damo.array({ 5 }, "int64")) end)
      assert.same({ 0, 5 }, rows(a, damo.zeros({ 0 }, "int64")).shape)
    end
    s.raises("index", nil, function() return a[{ damo.idx { 5 } }] end)
    s.raises("type", nil, function() return a[{ damo.zeros({ 2, 2 }, "int64") + 1 }] end)
  end)
end)

describe("refused", function()
  local function lists(instead)
    return "index: between the brackets of a sparse matrix a list stands for rows or columns, alone or beside a range: "
      .. "use damo.sparse." .. instead
  end
  local elements = lists "get_item_2lists(x, rows, cols) for elements, or get_item_list for the rows and, with "
    .. "{axis = 2}, for their columns"
  local truth = "index: a list for a sparse matrix holds positions, not truth: use damo.nonzero(list), or x * mask, "
    .. "where a sparse mask is true"
  local some, symbols = damo.idx { 1, 2 }, damo.lvector "symbols"
  local mixed = "index: a position and a range do not mix on a sparse matrix: write x[{ {i, i}, {a, b} }] for a part "
    .. "of row i, x[{ {a, b}, {j, j} }] for one of column j"
  local one = "index: one position gives no part of a sparse matrix: write x[{ {i, i} }] for row i, x[{i, j}] for an "
    .. "element"
  local cases = {
    { "type", truth, damo.array { true, false, true, false } }, { "type", truth, { {}, damo.array { true, false } } },
    { "type", elements, { some, symbols } },
    { "type", lists "get_item_list(x[{ {i, i} }], list, {axis = 2})", { 1, some } },
    { "type", lists "get_item_list(x[{ {}, {j, j} }], list)", { some, 2 } },
    { "type", lists "get_item_list(x, list, {axis = 1 or 2})", { {}, {}, some } }, { "type", mixed, { 1, { 1, 2 } } },
    { "type", mixed, { { 1, 2 }, 1 } }, { "type", one, { 1 } }, { "type", one, 2 },
    { "type", "index: a sparse matrix always has two axes: damo.newaxis adds none", { damo.newaxis, 1, 1 } },
    { "type", "index: a sparse matrix always has two axes: damo.newaxis adds none", { some, damo.newaxis } },
    { "type", "index: a sparse matrix takes no ellipsis: {} stands for a whole axis", { some, damo.ellipsis } },
    { "type", "index: a sparse matrix takes no ellipsis: {} stands for a whole axis", { damo.ellipsis, {} } },
    { "index", "index: too many indices: 3 for a sparse matrix", { 1, 1, 1 } },
    { "index", "index: position 5 is outside axis 1 of length 4", { 5, 1 } },
    { "index", "index: position 0 is outside axis 2 of length 5" .. from_one, { 1, 0 } },
    { "index", "index: the range's stop, 6, is outside axis 2 of length 5", { {}, { 1, 6 } } },
    { "index", "index: the range's start, -5, is outside axis 1 of length 4", { { -5, 4 } } },
    { "value", "index: the step of a range on axis 1 is 0", { { 1, 2, 0 } } },
  }
  for _, case in ipairs(cases) do
    it(case[2], function()
      for _, format in ipairs(s.formats) do
        local a = s.matrix { format = format }
        s.raises(case[1], case[2], function() return a[case[3]] end)
        local x = sparse.matrix(format, "x", { shape = { 4, 5 } })
        s.raises(case[1], case[2], function() return x[case[3]] end)
      end
    end)
  end

  it("name a function that exists", function()
    local a = s.matrix {}
    local dense = a:toarray()
    s.close(sparse.get_item_list(a, some), dense[some])
    s.close(sparse.get_item_list(a, some, { axis = 2 }), dense[{ {}, some }])
    s.close(sparse.get_item_2lists(a, some, some), dense[{ some, some }])
    s.close(sparse.get_item_list(a[{ { 1, 2 } }], some, { axis = 2 }), dense[{ { 1, 2 }, some }])
    s.close(sparse.get_item_list(a[{ {}, { 2, 3 } }], some), dense[{ some, { 2, 3 } }])
    s.close(sparse.get_item_list(a[{ { 1, 1 } }], some, { axis = 2 }), dense[{ 1, some }])
    s.close(sparse.get_item_list(a[{ {}, { 2, 2 } }], some), dense[{ some, 2 }])
  end)

  it("assignments", function()
    local a = s.matrix {}
    s.raises("type", nil, function() a[{ 1, 1 }] = 2 end)
  end)
end)

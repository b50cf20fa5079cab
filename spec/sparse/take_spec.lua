-- Rows, columns and elements by lists of positions, and their gradient Ops.
local damo = require "damo"
local s = require "spec.sparse.support"
local t = require "spec.sparse.tables"
local sparse = damo.sparse

-- The square of fn's result: its second derivative uses the gradient Op's own gradient.
local function squared(fn)
  return function(x)
    local y = fn(x)
    return y * y
  end
end

local function at(list, i, n) return list[i] < 0 and list[i] + n + 1 or list[i] end

local function rows_of(list)
  return function(rows)
    local out = {}
    for k = 1, #list do out[k] = rows[at(list, k, #rows)] end
    return out
  end
end

local function elements_of(rows, cols)
  return function(x)
    local out = {}
    for k = 1, #rows do
      local row = x[at(rows, k, #x)]
      out[k] = row[at(cols, k, #row)]
    end
    return out
  end
end

local lists = { { 1 }, { 4, 2 }, { 2, 2, 4, 1, 2 }, { -1, 1, -4 } }
local pairs_of_lists = { { { 1 }, { 1 } }, { { 4, 2, 2, 1 }, { 5, 1, 1, -1 } }, { { -1, 1, 2 }, { 2, -5, 4 } } }
local values = {
  "float32", "float64", "int8", "int64", "uint8",
}

local function idx(list) return damo.array(list, "int64") end

describe("get_item_list", function()
  for _, list in ipairs(lists) do
    local function take(x) return sparse.get_item_list(x, idx(list)) end
    it("takes rows " .. table.concat(list, " "), function()
      for _, dtype in ipairs(values) do
        for _, m in ipairs(s.matrices(dtype, { fixed = true })) do
          local got = s.check_value(take, { m.value }, rows_of(list))
          assert.equal(m.format, got.format)
          assert.equal(m.value.itype, got.itype)
        end
      end
      for _, dtype in ipairs { "complex64", "complex128", "bool" } do
        for _, m in ipairs(s.matrices(dtype, { fixed = true })) do
          local dense = damo.sparse.toarray(m.value)
          s.close(s.same_everywhere(take, { m.value })[1], dense[{ idx(list) }])
        end
      end
    end)

    it("has derivatives for rows " .. table.concat(list, " "), function()
      for _, dtype in ipairs { "float64", "complex128" } do
        for _, format in ipairs(s.formats) do
          for _, kind in ipairs { "plain", "unsorted", "zeros", "nnz0" } do
            local x = { s.matrix { format = format, dtype = dtype, kind = kind } }
            s.check_grad(take, x)
            s.check_rop(take, x)
            if dtype == "float64" then s.check_second(squared(take), x, { tol = 1e-5 }) end
          end
        end
      end
    end)
  end

  it("sums repeated rows in the gradient, in x's format", function()
    for _, format in ipairs(s.formats) do
      local x = sparse.matrix(format, "x")
      local y = sparse.get_item_list(x, idx { 2, 2, 1 })
      local g = damo.grad(nil, x, { known_grads = { [y] = y * 1 } })
      assert.equal(format, g.format)
      local got = damo.compile({ x }, g)(sparse.from_dense(damo.array { { 1, 0 }, { 2, 3 }, { 4, 5 } }, format))
      s.close(got, { 1, 0, 4, 6, 0, 0 })
    end
  end)

  it("takes empty lists, and empty matrices", function()
    for _, format in ipairs(s.formats) do
      local none = sparse.get_item_list(s.matrix { format = format }, damo.zeros({ 0 }, "int64"))
      assert.same({ 0, 5, 0 }, { none.shape[1], none.shape[2], none.nnz })
      local flat = sparse.get_item_list(sparse.from_dense(damo.zeros { 3, 0 }, format), { 3, 3 })
      assert.same({ 2, 0 }, { flat.shape[1], flat.shape[2] })
    end
  end)

  it("takes rows of huge matrices without memory for the whole axis", function()
    local wide = s.huge { rows = 4, cols = 33 }
    local got = sparse.get_item_list(wide, { 3, 3, 1 })
    s.close(got.data, { 3.5, 3.5, 1.5 })
    local tall = s.huge { rows = 33, cols = 4, format = "csc" }
    got = sparse.get_item_list(tall, { math.floor(2 ^ 33), 2, 1, 2 })
    assert.equal("int32", got.itype)
    assert.same({ 4, 16, 3 }, { got.shape[1], got.shape[2], got.nnz })
    local x = sparse.csc_matrix "x"
    local cost = sparse.sp_sum(sparse.get_item_list(x, { 2, 2 }), { sparse_grad = true })
    local g = damo.compile({ x }, damo.grad(cost, x))(tall)
    assert.equal(1, g.nnz)
    assert.equal(2, g.data[1])
  end)

  it("refuses wrong arguments", function()
    local a = s.matrix {}
    s.raises("index", "GetItemList: position 5, entry 2 of the list, is outside the 4 rows",
      function() sparse.get_item_list(a, { 1, 5 }) end)
    s.raises("index", "GetItemList: position 0, entry 1 of the list, is outside the 4 rows",
      function() sparse.get_item_list(a, { 0 }) end)
    s.raises("index", "GetItemList: position -5, entry 1 of the list, is outside the 4 rows",
      function() sparse.get_item_list(a, { -5 }) end)
    s.raises("type", "sparse.get_item_list: a list of positions must be integers, got float64 with a fraction",
      function() sparse.get_item_list(a, { 0.5 }) end)
    s.raises("type", nil, function() sparse.get_item_list(a, damo.array({ true, false })) end)
    s.raises("type", nil, function() sparse.get_item_list(a, { { 1, 2 } }) end)
    s.raises("type", nil, function() sparse.get_item_list(damo.array { { 1.0 } }, { 1 }) end)
    s.raises("shape", nil, function() sparse.GetItemListGrad {}(a, { 1, 2 }, a) end)
  end)
end)

describe("get_item_list of columns", function()
  local function columns_of(list)
    return function(rows)
      local out = {}
      for i, row in ipairs(rows) do
        out[i] = {}
        for k = 1, #list do out[i][k] = row[at(list, k, #row)] end
      end
      return out
    end
  end

  for _, list in ipairs { { 5 }, { 5, 2 }, { 2, 2, 4, 1, 2 }, { -1, 1, -5 } } do
    local function take(x) return sparse.get_item_list(x, idx(list), { axis = 2 }) end
    it("takes columns " .. table.concat(list, " "), function()
      for _, dtype in ipairs(values) do
        for _, m in ipairs(s.matrices(dtype, { fixed = true })) do
          local got = s.check_value(take, { m.value }, columns_of(list))
          assert.equal(m.format, got.format)
          assert.equal(m.value.itype, got.itype)
          assert.equal(dtype, got.dtype)
          s.close(got, sparse.get_item_list(m.value.T, idx(list)).T)
        end
      end
      for _, dtype in ipairs { "complex64", "complex128", "bool" } do
        for _, m in ipairs(s.matrices(dtype, { fixed = true })) do
          local dense = damo.sparse.toarray(m.value)
          s.close(s.same_everywhere(take, { m.value })[1], dense[{ {}, idx(list) }])
        end
      end
    end)

    it("has derivatives for columns " .. table.concat(list, " "), function()
      for _, dtype in ipairs { "float64", "complex128" } do
        for _, format in ipairs(s.formats) do
          for _, kind in ipairs { "plain", "unsorted", "duplicates", "zeros", "nnz0" } do
            local x = { s.matrix { format = format, dtype = dtype, kind = kind } }
            s.check_grad(take, x)
            s.check_rop(take, x)
            if dtype == "float64" then s.check_second(squared(take), x, { tol = 1e-5 }) end
          end
        end
      end
    end)
  end

  it("has a shape that needs no values", function()
    for _, format in ipairs(s.formats) do
      local x, l = sparse.matrix(format, "x", { shape = { 4, 5 } }), damo.lvector "l"
      local y = sparse.get_item_list(x, l, { axis = 2 })
      assert.same({ 4, false }, y.type.shape)
      assert.same({ 4, 3 }, sparse.get_item_list(x, idx { 1, 1, 2 }, { axis = 2 }).type.shape)
      t.check_shape(function(m, list) return sparse.get_item_list(m, list, { axis = 2 }) end,
        { s.matrix { format = format }, idx { 2, 1, 2 } }, "GetItemList")
    end
  end)

  it("is a method, whose axis defaults to 1 and counts from the end for -1", function()
    local a = s.matrix {}
    s.same_storage(a:get_item_list({ 3, 1 }, { axis = -1 }), sparse.get_item_list(a, { 3, 1 }, { axis = 2 }))
    local x = sparse.csr_matrix "x"
    local plain, named = x:get_item_list { 2 }, x:get_item_list({ 2 }, { axis = 1 })
    assert.equal(plain.owner.op, named.owner.op)
    assert.equal("GetItemList", tostring(plain.owner.op))
  end)

  it("sums repeated columns in the gradient, in x's format", function()
    for _, format in ipairs(s.formats) do
      local x = sparse.matrix(format, "x")
      local y = sparse.get_item_list(x, idx { 2, 2, 1 }, { axis = 2 })
      local g = damo.grad(nil, x, { known_grads = { [y] = y * 1 } })
      assert.equal(format, g.format)
      local got = damo.compile({ x }, g)(sparse.from_dense(damo.array { { 1, 2, 4 }, { 0, 3, 5 } }, format))
      s.close(got, { 1, 4, 0, 0, 6, 0 })
    end
  end)

  it("takes a list that is computed, and a dense cotangent", function()
    for _, format in ipairs(s.formats) do
      local x, l, w = sparse.matrix(format, "x"), damo.lvector "l", damo.matrix "w"
      local y = sparse.get_item_list(x, l + 1, { axis = 2 })
      local g = damo.grad(damo.sum(sparse.toarray(y, { structured = false }) * w), x)
      for _, mode in ipairs(s.modes) do
        local f = damo.compile({ x, l, w }, { y, g }, { mode = mode })
        local taken, slope = f(sparse.from_dense(damo.array { { 1, 2, 4 }, { 0, 3, 5 } }, format), idx { 2, 0, 2 },
          damo.array { { 1, 10, 100 }, { 2, 20, 200 } })
        s.close(taken, { 4, 1, 4, 5, 0, 5 })
        s.close(slope, { 10, 0, 101, 20, 0, 202 })
      end
    end
  end)

  it("has a gradient Op whose own cotangent may be dense", function()
    for _, format in ipairs(s.formats) do
      local x, g, w = sparse.matrix(format, "x"), sparse.matrix(format, "g"), damo.matrix "w"
      local put = sparse.GetItemListGrad { axis = 2 }(x, idx { 3, 1, 3, 5 }, g)
      local slope = damo.grad(nil, g, { known_grads = { [put] = w } })
      local a, columns, weights = s.matrix { format = format }, s.matrix { format = format, cols = 4 }, s.dense(4, 5)
      for _, mode in ipairs(s.modes) do
        local f = damo.compile({ x, g, w }, { put, slope }, { mode = mode, on_unused_input = "ignore" })
        local value, got = f(a, columns, weights)
        local dense, want = columns:toarray(), damo.zeros { 4, 5 }
        for k, at_column in ipairs { 3, 1, 3, 5 } do
          for i = 1, 4 do want[{ i, at_column }] = want[{ i, at_column }] + dense[{ i, k }] end
        end
        s.close(value, want)
        s.close(got, weights[{ {}, idx { 3, 1, 3, 5 } }])
      end
    end
  end)

  it("takes empty lists, and empty matrices", function()
    for _, format in ipairs(s.formats) do
      local none = sparse.get_item_list(s.matrix { format = format }, damo.zeros({ 0 }, "int64"), { axis = 2 })
      assert.same({ 4, 0, 0 }, { none.shape[1], none.shape[2], none.nnz })
      local flat = sparse.get_item_list(sparse.from_dense(damo.zeros { 0, 3 }, format), { 3, 3 }, { axis = 2 })
      assert.same({ 0, 2 }, { flat.shape[1], flat.shape[2] })
    end
  end)

  it("takes columns of huge matrices without memory for the whole axis", function()
    local last = math.floor(2 ^ 33)
    local function cost_of(x) return sparse.sp_sum(sparse.get_item_list(x, { last, last }, { axis = 2 }),
      { sparse_grad = true }) end
    local wide = s.huge { rows = 4, cols = 33 }
    local got = sparse.get_item_list(wide, { last, 2, last - 1, last }, { axis = 2 })
    assert.same({ 16, 4, 3 }, { got.shape[1], got.shape[2], got.nnz })
    s.close(got[{ { 1, 2 } }], { 1.5, 0, 0, 1.5, 0, 0, 2.5, 0 })
    local x = sparse.csr_matrix "x"
    local g = damo.compile({ x }, damo.grad(cost_of(x), x))(wide)
    assert.same(wide.shape, g.shape)
    assert.equal(1, g.nnz)
    assert.equal(2, g.data[1])
    local tall = s.huge { rows = 33, cols = 4, format = "csc" }
    got = sparse.get_item_list(tall, { 16, 1, 16 }, { axis = 2 })
    assert.same({ last, 3, 2 }, { got.shape[1], got.shape[2], got.nnz })
  end)

  it("refuses wrong arguments", function()
    local a = s.matrix {}
    local function columns(list) return function() sparse.get_item_list(a, list, { axis = 2 }) end end
    s.raises("index", "GetItemList: position 6, entry 2 of the list, is outside the 5 columns", columns { 5, 6 })
    s.raises("index", "GetItemList: position 0, entry 1 of the list, is outside the 5 columns", columns { 0 })
    s.raises("index", "GetItemList: position -6, entry 3 of the list, is outside the 5 columns", columns { 1, -5, -6 })
    for _, axis in ipairs { 0, 3, -3 } do
      s.raises("index", nil, function() sparse.get_item_list(a, { 1 }, { axis = axis }) end)
      if axis > 0 then s.raises("index", "GetItemList: the axis is nil, 1 or 2",
        function() sparse.GetItemList { axis = axis } end) end
    end
    s.raises("index", "sparse.get_item_list: there is no axis 3 in a tensor of 2 dimensions",
      function() sparse.get_item_list(a, { 1 }, { axis = 3 }) end)
    s.raises("index", "GetItemListGrad: the axis is nil, 1 or 2",
      function() sparse.GetItemListGrad { axis = "rows" } end)
    s.raises("shape", nil, function() sparse.GetItemListGrad { axis = 2 }(a, { 1, 2 }, a) end)
    local x, l, g = sparse.csr_matrix "x", damo.lvector "l", sparse.csr_matrix "g"
    local f = damo.compile({ x, l, g }, sparse.GetItemListGrad { axis = 2 }(x, l, g))
    s.raises("shape", "GetItemListGrad: the columns have shape (4, 5), expected (4, 2)",
      function() f(a, idx { 1, 2 }, a) end)
  end)
end)

describe("get_item_2lists", function()
  for _, case in ipairs(pairs_of_lists) do
    local rows, cols = case[1], case[2]
    local name = table.concat(rows, " ") .. " / " .. table.concat(cols, " ")
    local function take(x) return sparse.get_item_2lists(x, idx(rows), idx(cols)) end
    it("takes elements " .. name, function()
      for _, dtype in ipairs(values) do
        for _, m in ipairs(s.matrices(dtype, { fixed = true })) do
          assert.equal(dtype, s.check_value(take, { m.value }, elements_of(rows, cols)).dtype)
        end
      end
      for _, dtype in ipairs { "complex64", "complex128", "bool" } do
        for _, m in ipairs(s.matrices(dtype, { fixed = true })) do
          local dense = damo.sparse.toarray(m.value)
          s.close(s.same_everywhere(take, { m.value })[1], dense[{ idx(rows), idx(cols) }])
        end
      end
    end)

    it("has derivatives for elements " .. name, function()
      for _, dtype in ipairs { "float64", "complex128" } do
        for _, format in ipairs(s.formats) do
          for _, kind in ipairs { "plain", "unsorted", "zeros", "nnz0" } do
            local x = { s.matrix { format = format, dtype = dtype, kind = kind } }
            s.check_grad(take, x)
            s.check_rop(take, x)
            if dtype == "float64" then s.check_second(squared(take), x, { tol = 1e-5 }) end
          end
        end
      end
    end)
  end

  it("sums repeated elements in the gradient", function()
    for _, format in ipairs(s.formats) do
      local x, v = sparse.matrix(format, "x"), damo.vector "v"
      local y = sparse.get_item_2lists(x, { 2, 1, 2 }, { 3, 3, 3 })
      local g = damo.grad(nil, x, { known_grads = { [y] = v } })
      local got = damo.compile({ x, v }, g)(sparse.from_dense(damo.zeros { 2, 3 }, format), damo.array { 1, 10, 100 })
      assert.equal(2, got.nnz)
      s.close(got, { 0, 0, 10, 0, 0, 101 })
    end
  end)

  it("sorts long unsorted rows only if they are read often", function()
    local a = s.matrix { kind = "unsorted" }
    local rows, cols, want = {}, {}, {}
    for k = 1, 60 do rows[k], cols[k] = k % 4 + 1, k % 5 + 1 end
    local dense = sparse.toarray(a)
    for k = 1, 60 do want[k] = dense[rows[k]][cols[k]] end
    s.close(sparse.get_item_2lists(a, rows, cols), want)
  end)

  it("reads huge matrices", function()
    local a = s.huge { rows = 4, cols = 33 }
    local last = math.floor(2 ^ 33)
    s.close(sparse.get_item_2lists(a, { 1, 2, 2 }, { last, last, last - 1 }), { 1.5, 0, 2.5 })
  end)

  it("refuses wrong arguments", function()
    local a = s.matrix {}
    s.raises("index", "GetItem2Lists: position 6, entry 2 of the list, is outside the 5 columns",
      function() sparse.get_item_2lists(a, { 1, 1 }, { 1, 6 }) end)
    s.raises("shape", nil, function() sparse.get_item_2lists(a, { 1, 1, 2 }, { 1, 2 }) end)
    local x, r, c = sparse.csr_matrix "x", damo.lvector "r", damo.lvector "c"
    local f = damo.compile({ x, r, c }, sparse.get_item_2lists(x, r, c))
    s.raises("shape", "GetItem2Lists: the lists have 2 and 1 entries, expected as many",
      function() f(a, idx { 1, 2 }, idx { 1 }) end)
    s.raises("shape", "GetItem2ListsGrad: shapes (2,) and (1,) do not agree: axis 1 of operand 2 has length 2, axis 1 "
      .. "of operand 4 1", function() sparse.GetItem2ListsGrad {}(a, { 1, 2 }, { 1, 2 }, damo.array { 1.0 }) end)
  end)
end)

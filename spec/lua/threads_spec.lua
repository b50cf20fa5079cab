-- damo.config.threads, and the option threads of damo.compile: results that are the same to the bit for any count.
local damo = require "damo"
local failure = require "spec.support.failure"

local COUNTS = { 1, 2, 3, 8 }

after_each(function() damo.config.threads = 1 end)

--- Whether two results have the same values; 1/x tells zeros of different signs.
local function same(a, b)
  if type(a) ~= "userdata" then return a == b or (a ~= a and b ~= b) end
  if damo.sparse.is_sparse(a) then
    return same(a.data, b.data) and same(a.indices, b.indices) and same(a.indptr, b.indptr)
  end
  if not damo.array_equal(a, b, { equal_nan = true }) then return false end
  return a.dtype:find "^float" == nil or damo.array_equal(1 / a, 1 / b, { equal_nan = true })
end

--- Checks that a graph, or each of a list, gives the same bits for all counts in these modes.
local function same_in(modes, inputs, output, ...)
  for _, mode in ipairs(modes) do
    local want
    for _, threads in ipairs(COUNTS) do
      damo.config.threads = threads
      local got = { damo.compile(inputs, output, { mode = mode })(...) }
      want = want or got
      for i, value in ipairs(want) do
        if not same(got[i], value) then error(("other bits with %d threads"):format(threads), 3) end
      end
    end
  end
end

local function same_for_all(...) same_in({ "FAST_RUN", damo.Mode { exclude = { "fusion" } } }, ...) end
local function same_sparse(...) same_in({ "FAST_RUN" }, ...) end

local n = 150001
local wave = damo.sin(damo.arange(n) * 0.7)
local v, m, t = damo.dvector "v", damo.dmatrix "m", damo.dtensor3 "t"
local short = damo.reshape(damo.sin(damo.arange(150000)), { 30000, 5 })
local square = damo.reshape(damo.sin(damo.arange(160000)), { 400, 400 })
local long = damo.reshape(damo.sin(damo.arange(400000)), { 2, 200000 })
local tall = damo.reshape(damo.sin(damo.arange(400000)), { 200000, 2 })
local box = damo.reshape(damo.sin(damo.arange(168000)), { 7, 400, 60 })

describe("elementwise loops on several threads", function()
  it("are the same on vectors", function()
    same_for_all({ v }, damo.exp(-v * v) * damo.sin(v) + damo.log1p(v * v), wave)
    same_for_all({ v }, 2.5 * v + v, wave)
    same_for_all({ v }, damo.cast(v * 100, "int32"), wave)
    same_for_all({ v }, damo.cast(v, "float32") * 3, wave)
  end)

  it("are the same on views with strides", function()
    same_for_all({ v }, damo.exp(v), wave[{ { n, 1, -1 } }])
    same_for_all({ v }, damo.exp(v) * 2, wave[{ { 1, n, 2 } }])
    same_for_all({ m }, damo.exp(m.T) + 1, square)
    same_for_all({ t }, damo.exp(damo.dimshuffle(t, { 3, 1, 2 })) * 2 - t[{ 1, 1, 1 }], box)
  end)

  it("are the same with operands that are broadcast", function()
    local row, column = damo.row "row", damo.col "column"
    for _, x in ipairs { short, square, long } do
      local r, c = x[{ { 1, 1 } }], x[{ {}, { 1, 1 } }]
      same_for_all({ m, row }, m * row + damo.exp(row), x, r)
      same_for_all({ m, column }, m * column - damo.sqr(column) * 0.5, x, c)
      same_for_all({ m, row, column }, damo.tanh(m + row * column), x, r, c)
    end
    same_for_all({ row, column }, damo.tanh(row + column), square[{ { 3, 3 } }], square[{ {}, { 3, 3 } }])
  end)

  it("are the same in place", function()
    same_for_all({ v }, damo.exp(damo.sin(v + 1) * 2) + damo.sin(v + 1), wave)
  end)

  it("write results into strided arrays", function()
    local f = damo.compile({ v }, damo.exp(v))
    local want
    for _, threads in ipairs(COUNTS) do
      damo.config.threads = threads
      local out = damo.zeros { n, 2 }
      f:into(out[{ {}, 2 }])(wave)
      want = want or out
      assert.is_true(same(want, out))
    end
  end)
end)

describe("reductions on several threads", function()
  it("are the same over all", function()
    for _, name in ipairs { "sum", "prod", "max", "min", "argmax", "argmin", "mean", "var", "logsumexp" } do
      same_for_all({ v }, damo[name](v * 0.5 + 1), wave)
      same_for_all({ v }, damo[name](v), wave)
    end
    same_for_all({ v }, damo.sum(v * v * v), wave[{ { n, 1, -1 } }])
    same_for_all({ v }, damo.any(damo.gt(v, 0.9999)), wave)
  end)

  it("are the same along axes", function()
    for _, x in ipairs { short, square, long } do
      for axis = 1, 2 do
        for _, name in ipairs { "sum", "max", "argmax", "var", "logsumexp" } do
          same_for_all({ m }, damo[name](damo.exp(m), { axis = axis }), x)
          same_for_all({ m }, damo[name](m, { axis = axis }), x)
        end
      end
      same_for_all({ m }, damo.sum(damo.sqr(m.T) + 1, { axis = 2 }), x)
      same_for_all({ m }, damo.sum(damo.sqr(m.T) + 1), x)
    end
    same_for_all({ m }, damo.sum(damo.exp(m.T) - 0.5, { axis = 2 }), tall)
    for axis = 1, 3 do same_for_all({ t }, damo.sum(damo.exp(t), { axis = axis }), box) end
  end)

  it("are the same where what reads the result goes over the rows again", function()
    for _, x in ipairs { short, square, long } do
      same_for_all({ m }, damo.softmax(m, { axis = 2 }), x)
      same_for_all({ m }, damo.log_softmax(m * 2, { axis = 2 }), x)
      local centred = m - damo.mean(m, { axis = 2, keepdims = true })
      same_for_all({ m }, centred / damo.sqrt(damo.mean(damo.sqr(centred), { axis = 2, keepdims = true }) + 1e-5), x)
      local cost = damo.sum(damo.logsumexp(m, { axis = 2 }))
      same_for_all({ m }, damo.grad(cost, m), x)
      same_for_all({ m }, cost, x)
    end
  end)

  it("end in a value that more elements read", function()
    same_for_all({ v }, v / damo.sum(damo.exp(v)), wave)
    same_for_all({ v }, damo.sum(damo.exp(v - damo.max(v))), wave)
  end)
end)

describe("products with a short dimension on several threads", function()
  it("are the same", function()
    local x, y = damo.dmatrix "x", damo.dmatrix "y"
    local tall_x = damo.reshape(damo.sin(damo.arange(20011 * 9)), { 20011, 9 })
    local narrow = damo.reshape(damo.cos(damo.arange(9 * 12)), { 9, 12 })
    same_for_all({ x, y }, damo.dot(x, y), tall_x, narrow)
    same_for_all({ x, y }, damo.dot(y.T, x.T), tall_x, narrow)
    same_for_all({ x, y, m }, m - 0.5 * damo.dot(x, y), tall_x, narrow, damo.dot(tall_x, narrow) * 3)
    same_for_all({ x, y }, damo.tanh(damo.dot(x, y) + 1), tall_x, narrow)
    same_for_all({ x, y }, damo.dot(damo.cast(x, "float32"), damo.cast(y, "float32")), tall_x, narrow)
  end)
end)

describe("sparse products on several threads", function()
  local sparse = damo.sparse
  local columns = damo.reshape(damo.sin(damo.arange(3000 * 40) * 0.3), { 3000, 40 })

  -- Rows of 0 to 200 entries, with 100,000 in all, and stored zeros.
  local function uneven(format, itype)
    local rows, cols, values = {}, {}, {}
    for i = 1, 3000 do
      for k = 1, (i * 37 % 67) do
        rows[#rows + 1], cols[#cols + 1], values[#values + 1] = i, (i * 7 + k * k * 13) % 3000 + 1, (i + k) % 11 - 5
      end
    end
    local shape = { 3000, 3000 }
    return sparse.coo { rows = rows, cols = cols, values = values, shape = shape, format = format, itype = itype }
  end

  for _, format in ipairs { "csr", "csc" } do
    local A = uneven(format, "int32")
    local S, d = sparse[format .. "_dmatrix"] "S", damo.dmatrix "d"

    it("are the same with vectors and matrices, " .. format, function()
      local column = columns[{ {}, 1 }]
      same_sparse({ S, v }, sparse.dot(S, v), A, column)
      same_sparse({ S, v }, sparse.dot(v, S), A, column)
      for _, n_columns in ipairs { 1, 17, 40 } do
        local x = columns[{ {}, { 1, n_columns } }]
        same_sparse({ S, d }, sparse.dot(S, d), A, x)
        same_sparse({ S, d }, sparse.dot(S.T, d) * 2 + d, A, x)
        same_sparse({ S, d }, damo.grad(damo.sum(damo.sqr(sparse.dot(S, d))), d), A, x)
      end
      same_sparse({ S, d }, sparse.dot(S, d.T), A, columns.T:copy())
    end)

    it("are the same where the pattern is given, " .. format, function()
      same_sparse({ S, d }, sparse.sampling_dot(d, d, S), A, columns)
      local cost = damo.sum(damo.sqr(sparse.structured_dot(S, d)))
      same_sparse({ S, d }, damo.grad(cost, S), A, columns)
      same_sparse({ S, d }, damo.grad(cost, d), A, columns)
      same_sparse({ S, d }, damo.grad(cost, { S, d }), A, columns)
    end)

    it("are the same with sparse matrices, " .. format, function()
      local T = sparse[format .. "_dmatrix"] "T"
      same_sparse({ S, T }, sparse.true_dot(S, T), A, A)
      local B = sparse.random(3000, 3000, { density = 0.012, format = format })
      same_sparse({ S, T }, S + T, A, B)
      same_sparse({ S, T }, S - T, B, A)
      same_sparse({ S, T }, S * T, A, B)
      same_sparse({ S, T }, S + T.T, A, A)
    end)
  end
end)

describe("a sparse product on several threads", function()
  it("is the same where a sample of its rows foretells too few entries", function()
    local sparse, size, ones = damo.sparse, 6000, {}
    local a_rows, a_cols, b_cols = {}, {}, {}
    for i = 1, size do
      for k = 1, 40 do
        a_rows[#a_rows + 1] = i
        a_cols[#a_cols + 1] = i % 12 == 1 and k or 40 + (i + k * 97) % (size - 40) + 1
      end
      b_cols[i] = i <= 40 and 1 or i
      ones[i] = i
    end
    local shape = { size, size }
    local A = sparse.coo { rows = a_rows, cols = a_cols, values = 0.5, shape = shape, format = "csr" }
    local values = damo.sin(damo.arange(size))
    local B = sparse.coo { rows = ones, cols = b_cols, values = values, shape = shape, format = "csr" }
    local S, T = sparse.csr_dmatrix "S", sparse.csr_dmatrix "T"
    same_sparse({ S, T }, sparse.true_dot(S, T), A, B)
  end)
end)

describe("the number of threads", function()
  it("is the context's, or the Function's own", function()
    local f = damo.compile({ v }, damo.sum(damo.exp(v)), { threads = 3 })
    local g = damo.compile({ v }, damo.sum(damo.exp(v)))
    assert.equal(g(wave), f(wave))
    damo.config.threads = 2
    assert.equal(g(wave), f(wave))
    assert.equal(g(wave), f:copy()(wave))
    assert.equal(2, damo.info().threads)
  end)

  it("is an integer from 1", function()
    for _, threads in ipairs { 0, -1, 1.5, 1025 } do
      failure("value", damo.compile, { v }, v, { threads = threads })
    end
    failure("type", damo.compile, { v }, v, { threads = "two" })
  end)

  it("takes no part in eager calls' results", function()
    local want = damo.exp(wave) + damo.sum(wave)
    damo.config.threads = 3
    assert.is_true(same(want, damo.exp(wave) + damo.sum(wave)))
  end)
end)

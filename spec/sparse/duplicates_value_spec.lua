-- Duplicates count as their sum in the matrix's own dtype: a function of a matrix with duplicates is that function of
-- its
-- toarray(), where an integer sum may wrap and true + true is true. Functions of stored entries, listed below, are left
-- out.
local damo = require "damo"
local s = require "spec.sparse.support"
local cases = dofile "spec/sparse/completeness_rows.lua"
local sparse = damo.sparse

-- ---- Values -------------------------------------------------------------------------------------------------------

local dtypes = { "bool", "int8", "uint8", "int64", "float32", "float64", "complex64", "complex128" }
-- The sum of some two overflows int8; halves keep float sums exact.
local numbers = { bool = { true }, int8 = { 100, 3, 77, -90 }, uint8 = { 200, 3, 177, 90 }, int64 = { 5, -3, 7, -4 } }
local function values_of(dtype, n, from)
  local list = numbers[dtype] or { 0.5, 1.5, -2.5, 3, 0.25 }
  local v = {}
  for i = 1, n do v[i] = list[(i + (from or 0) - 1) % #list + 1] end
  if not dtype:find "complex" then return damo.array(v, dtype) end
  local im = {}
  for i = 1, n do im[i] = list[(i + (from or 0)) % #list + 1] end
  local part = dtype == "complex64" and "float32" or "float64"
  return damo.complex(damo.array(v, part), damo.array(im, part))
end

-- Each row or column has an element stored twice, the first one three times; the diagonal is stored; indices are
-- unsorted.
local function matrix(o, rows, cols, seed)
  rows, cols = rows or 4, cols or 5
  local major, minor = rows, cols
  if o.format == "csc" then major, minor = cols, rows end
  local indices, indptr = {}, { 0 }
  for i = 0, major - 1 do
    local at, other = i % minor, (i + (seed or 1)) % minor
    for _, j in ipairs { other, at, at, i == 0 and at or nil } do indices[#indices + 1] = j end
    indptr[i + 2] = #indices
  end
  return sparse[o.format] {
    data = values_of(o.dtype, #indices, seed), indices = damo.array(indices, "int64"),
    indptr = damo.array(indptr, "int64"), shape = { rows, cols },
  }
end

local function summed(m) return sparse[m.format .. "_from_dense"](m:toarray()) end

local function dense(dtype, rows, cols, seed)
  return values_of(dtype, rows * cols, seed or 2):reshape { shape = { rows, cols } }
end
local function vector(dtype, n) return values_of(dtype, n, 3) end
local function list(...) return damo.array({ ... }, "int64") end
local function number(dtype)
  local v = numbers[dtype] and numbers[dtype][1] or 1.5
  if not dtype:find "complex" then return damo.array(v, dtype) end
  return damo.complex(damo.array(v, "float64"), damo.array(0.5, "float64"))
end

-- ---- Functions ----------------------------------------------------------------------------------------------------

-- name → function of the first matrix and a table with others: d (dense 4 × 5), e (5 × 3), u (4 × 3), v (5), w (4),
-- k (0-d), of the other dtype; b (sparse 4 × 5), c (5 × 3) with duplicates.
local functions = {}
local function add(names, fn)
  for name in names:gmatch "%S+" do functions[name] = function(x, o) return fn(sparse[name], x, o) end end
end

add("dense_from_sparse toarray sum_duplicates tocsr tocsc transpose neg sp_sum sum mean remove0 clean tril triu "
  .. "ensure_sorted_indices trace zeros_like sp_zeros_like csm_shape get_shape nonzero find",
  function(f, x) return f(x) end)
add("bcast wcast icast lcast fcast dcast ccast zcast", function(f, x) return f(x) end)
add("cast astype", function(f, x, o) return f(x, o.dtype) end)
add("sum mean", function(f, x, o) return f(x, { dtype = o.dtype }) end)
functions.sum_axis = function(x) return x:sum(1), x:sum(2), x:mean(1), x:mean(2), x:sum() end
functions.sp_sum_axis = function(x) return sparse.sp_sum(x, { axis = 1 }), sparse.sp_sum(x, { axis = 2 }) end
functions.sum_dtype = function(x, o)
  return sparse.sum(x, { axis = 1, dtype = o.dtype }), sparse.sum(x, { axis = 2, dtype = o.dtype }),
    sparse.mean(x, { axis = 1, dtype = o.dtype })
end
add("add sub mul add_s_s mul_s_s eq neq lt le gt ge isclose allclose maximum minimum",
  function(f, x, o) return f(x, o.b) end)
functions.turned = function(x, o) return sparse.add(o.b, x), sparse.mul(o.b, x) end
functions.difference = function(x, o) return sparse.sub(o.b, x), sparse.sub(o.d, x) end
functions.with_dense = function(x, o) return sparse.add(x, o.d), sparse.mul(x, o.d) end
functions.equal_dense = function(x, o) return sparse.eq(x, o.d), sparse.neq(o.d, x) end
functions.ordered_dense = function(x, o) return sparse.le(x, o.d), sparse.gt(o.d, x) end
functions.equal_number = function(x, o) return sparse.eq(x, o.k), sparse.neq(o.k, x) end
functions.ordered_number = function(x, o) return sparse.gt(x, o.k), sparse.le(o.k, x) end
functions.times_number = function(x, o) return x * o.k, o.k * x, x * 2, x * 2.5 end
functions.times_row = function(x, o) return x * o.v:reshape { 1, 5 }, x * o.w:reshape { 4, 1 } end
functions.quotients = function(x, o)
  return x / o.d, x / o.k, x / 2, x / o.v:reshape { 1, 5 }, x / o.w:reshape { 4, 1 }
end
add("add_s_d mul_s_d true_div", function(f, x, o) return f(x, o.d) end)
add("col_scale", function(f, x, o) return f(x, o.v) end)
add("structured_add_s_v mul_s_v", function(f, x, o) return f(damo.cast(x, o.v.dtype), o.v) end) -- equal dtypes only
add("row_scale", function(f, x, o) return f(x, o.w) end)
add("dot matmul structured_dot", function(f, x, o) return f(x, o.e), f(x, o.c) end)
functions.dot_vector = function(x, o) return sparse.dot(x, o.v), sparse.dot(o.w, x) end
functions.dot_turned = function(x, o) return sparse.dot(o.c.T, x.T), sparse.dot(o.e.T, x.T) end
add("true_dot", function(f, x, o) return f(x, o.c), f(x, o.e), f(o.c.T, x.T), f(o.e.T, x.T) end)
add("sampling_dot", function(f, x, o) return f(o.u, o.e, x) end)
add("usmm", function(f, x, o) return f(o.k, x, o.e, o.u) end)
add("hstack vstack block_diag", function(f, x, o) return f { x, o.b } end)
functions.hstack_dtype = function(x, o)
  return sparse.hstack({ x, o.b }, { format = "csr", dtype = o.dtype }),
    sparse.vstack({ o.b, x }, { format = "csr", dtype = o.dtype })
end
functions.bmat = function(x, o) return sparse.bmat { { x, o.b }, { false, x } } end
add("concatenate", function(f, x, o) return f({ x, o.b }, { axis = 1 }) end)
add("join", function(f, x, o) return f(2, { x, o.b }) end)
functions.kron = function(x, o) return sparse.kron(x, o.b), sparse.kron(o.b, x) end
functions.get_item_2d = function(x) return x[{ { 2, 3 }, { 1, -1, 2 } }] end
functions.get_item_scalar = function(x) return x[{ 1, 1 }], x[{ 2, 2 }], x[{ 2, 4 }] end
add("get_item_list", function(f, x) return f(x, list(2, 1, 2)) end)
add("get_item_2lists", function(f, x) return f(x, list(2, 1, 2), list(2, 1, 5)) end)
add("permute", function(f, x) return f(x, list(2, 1, 4, 3), list(5, 1, 2, 3, 4)) end)
add("max min argmax argmin", function(f, x) return f(x), f(x, { axis = 1 }), f(x, { axis = 2 }) end)
functions.diagonal = function(x) return sparse.diagonal(x), sparse.diagonal(x, { k = 1 }) end
add("norm", function(f, x) return f(x), f(x, { ord = 1 }), f(x, { ord = "inf" }), f(x, { axis = 2 }) end)
functions.gather = function(x, o) return sparse.gather(x, sparse.csr_from_dense(o.whole)) end
functions.numpy_like = function(x) return x.shape[1], x.T end

-- Of square matrices.
local square = {}
local function add_square(names, fn)
  for name in names:gmatch "%S+" do square[name] = function(x, o) return fn(sparse[name], x, o) end end
end
add_square("diag det slogdet logdet rcond", function(f, x) return f(x) end)
add_square("solve solve_t", function(f, x, o) return f(x, o.w), f(x, o.u), f(x, o.q) end)
add_square("lstsq", function(f, x, o) return (f(x, o.w)) end)
add_square("power", function(f, x) return f(x, 0), f(x, 1), f(x, 2), f(x, 3) end)
square.factorize = function(x, o)
  local f = sparse.factorize(x)
  return f:solve(o.w), f:det()
end
square.right_hand_side = function(x, o) return sparse.solve(o.q, x) end

-- They, or their options, take only values.
local eager_only = { factorize = true, neg = true } -- (there is no -true)

-- Functions of stored entries, of other operands, or without matrix.
local others = {}
for name in ([[csm_properties csm_data csm_indices csm_indptr size nnz sp_ones_like with_data add_s_s_data CSR CSC
  structured_exp sin tan sinh tanh arcsinh arctan expm1 square sqr structured_sigmoid rad2deg deg2rad structured_log
  sqrt log1p arcsin arctanh structured_minimum structured_maximum structured_add structured_pow rint ceil floor trunc
  sgn sign conjugate conj abs real imag angle isnan isinf erf identity i1 j1 relu erfinv round round_half_to_even
  round_half_away_from_zero pow poisson multinomial csr_fbinomial csr_dbinomial csc_fbinomial csc_dbinomial
  csr_from_dense csc_from_dense square_diagonal construct_sparse_from_list subtensor]]):gmatch "%S+" do
  others[name] = true
end

-- ---- The comparison -----------------------------------------------------------------------------------------------

local function results(fn, ...)
  local all = table.pack(pcall(fn, ...))
  if all[1] then return all end
  return { false, tostring(all[2]), n = 2 }
end

local function same(got, want, what)
  assert.equal(want[1], got[1], what .. ": " .. tostring(got[2]) .. " against " .. tostring(want[2]))
  assert.equal(want.n, got.n, what)
  for i = 2, got.n do
    local a, b = got[i], want[i]
    if type(a) == "userdata" and type(b) == "userdata" then
      assert.equal(b.dtype, a.dtype, what)
      s.close(a, s.flat(b), what .. ", result " .. i - 1, 1e-5)
    elseif type(a) == "number" or type(a) == "boolean" then
      s.close(s.flat(a), s.flat(b), what .. ", result " .. i - 1, 1e-5)
    end
  end
end

-- The other operands; the same without duplicates.
local function operands(format, other)
  local o = {
    dtype = other, d = dense(other, 4, 5), e = dense(other, 5, 3), u = dense(other, 4, 3), v = vector(other, 5),
    w = vector(other, 4), k = number(other), b = matrix({ format = format, dtype = other }, 4, 5, 2),
    c = matrix({ format = format, dtype = other }, 5, 3, 2), q = matrix({ format = format, dtype = other }, 4, 4, 2),
    whole = damo.ones { 4, 5 },
  }
  return o, setmetatable({ b = summed(o.b), c = summed(o.c), q = summed(o.q) }, { __index = o })
end

local function check(name, fn, rows, cols)
  for _, format in ipairs(s.formats) do
    for _, dtype in ipairs(dtypes) do
      for _, other in ipairs { "bool", "int8", "int64", "float32", "complex128" } do
        local a = matrix({ format = format, dtype = dtype }, rows, cols)
        local o, p = operands(format, other)
        local what = ("%s %s %s, %s"):format(name, format, dtype, other)
        same(results(fn, a, o), results(fn, summed(a), p), what)
      end
    end
  end
end

local makers = { [0] = damo.dscalar, damo.dvector, damo.dmatrix }

-- Compiled in every mode; and the gradients for dense operands, which include sums of duplicates.
local function check_graph(name, fn, rows, cols)
  for _, format in ipairs(s.formats) do
    for _, dtype in ipairs { "bool", "int8" } do
      local a, o = matrix({ format = format, dtype = dtype }, rows, cols), operands(format, "float64")
      local x = sparse.matrix(format, "x", { dtype = dtype })
      local vars, values, p = { x }, { a }, setmetatable({}, { __index = o })
      for _, key in ipairs { "d", "e", "u", "v", "w", "k" } do
        vars[#vars + 1] = makers[o[key].ndim](key)
        p[key], values[#values + 1] = vars[#vars], o[key]
      end
      local outputs, cost = { fn(x, p) }, nil
      for i, y in ipairs(outputs) do
        if y.dtype == "float64" then
          local sum = damo.sum(y.format and sparse.toarray(y, { structured = false }) or y) * i
          cost = cost and cost + sum or sum
        end
      end
      local wrt = { table.unpack(vars, 2) }
      for _, g in ipairs(cost and damo.grad(cost, wrt, { disconnected_inputs = "ignore" }) or {}) do
        outputs[#outputs + 1] = g
      end
      for _, mode in ipairs(s.modes) do
        local f = damo.compile(vars, outputs, { mode = mode, on_unused_input = "ignore" })
        same(results(f, table.unpack(values)), results(f, summed(a), table.unpack(values, 2)),
          ("%s %s %s, %s"):format(name, format, dtype, mode))
      end
    end
  end
end

describe("duplicates count as their sum in", function()
  local function names_of(t)
    local names = {}
    for name in pairs(t) do names[#names + 1] = name end
    table.sort(names)
    return names
  end
  for group, rows_cols in pairs { [functions] = { 4, 5 }, [square] = { 4, 4 } } do
    for _, name in ipairs(names_of(group)) do
      it(name, function() check(name, group[name], table.unpack(rows_cols)) end)
      if not eager_only[name] then
        it(name .. ", compiled", function() check_graph(name, group[name], table.unpack(rows_cols)) end)
      end
    end
  end

  it("every function of the table", function()
    for name in pairs(cases) do
      assert.is_true(functions[name] ~= nil or square[name] ~= nil or others[name] ~= nil, name)
    end
  end)
end)

-- A case for each row "sparse.NAME" of the registry: what completeness_spec.lua demands of every op and, where
-- something is not demanded, the reason.
--
--   args(o)       operands for o.format, o.dtype, o.itype; o.huge: 2^20 × 2^20 with 1000 entries; o.far: the compressed
--                 axis has length 1000, the other one 2^33
--   call(f, …)    how the function is called (default: with the operands)
--   dtypes        default: float32, float64, complex64, complex128
--   reference     the op of the reference cases (default: the row's own name), or {reason}
--   shape, grad, rop, second, huge, far: reasons why that is not demanded
--   eps, tol      step and tolerance of the differences
--   loose         single precision is not compared with double
--   wrt           positions of the operands that have gradients (default: all)
--   sparse        true: the result is sparse, and its memory is measured

local damo = require "damo"
local s = require "spec.sparse.support"

local FAR, FARTHER = 2 ^ 20, 2 ^ 33
local floats, reals = s.floats, { "float32", "float64" }
local all = { "float32", "float64", "complex64", "complex128", "int64" }

-- ---- Operands -----------------------------------------------------------------------------------------------------

local function huge(o, rows, cols, seed)
  local next_number = s.numbers(seed, 0, 1)
  local r, c, v = {}, {}, {}
  for i = 1, 1000 do
    r[i] = math.floor(next_number() * rows) + 1
    c[i] = math.floor(next_number() * cols) + 1
    v[i] = 0.5
  end
  return damo.sparse.coo { rows = r, cols = c, values = v, shape = { rows, cols }, format = o.format,
    dtype = o.dtype, itype = o.itype }
end

-- A sparse matrix; in huge and far cases of their lengths.
local function M(o, rows, cols, seed, low, high)
  if o.far then return huge(o, o.format == "csr" and 1000 or FARTHER, o.format == "csr" and FARTHER or 1000,
    seed or 3) end
  if o.huge then return huge(o, FAR, FAR, seed or 3) end
  return s.matrix {
    format = o.format, dtype = o.dtype, itype = o.itype, rows = rows or 4, cols = cols or 5, seed = seed, low = low,
      high = high,
  }
end

local function V(o, n, seed) return o.huge and damo.full({ FAR }, 0.5, o.dtype) or s.vector(n, o.dtype, seed or 9) end
local function D(o, rows, cols, seed) return s.dense(rows, cols, o.dtype, seed) end
-- A 0-d Array: a Lua number would take the dtype of the other operands.
local function number(o, value)
  local part = o.dtype:find "64$" and (o.dtype == "complex64" and "float32" or "float64") or o.dtype
  if o.dtype == "complex128" then part = "float64" end
  if o.dtype:find "complex" then return damo.complex(damo.array(value, part), damo.array(0, part)) end
  return damo.array(value, o.dtype)
end

local function one(o) return { M(o) } end
local function two(o) return { M(o), M(o, 4, 5, 11) } end
local function positive(o) return { M(o, 4, 5, 3, 0.1, 0.9) } end
local function matrix_and_dense(o) return { M(o), D(o, 4, 5) } end

-- ---- Reasons ------------------------------------------------------------------------------------------------------

local steps = "piecewise constant: the gradient is 0"
local alias = { "another name of a row that has cases" }
local beyond = { "beyond the seed: no reference case" }
local stored = "the number of stored entries is known only with the value"
local converts = "the other format has a line for each of 2^33"
local vector = "it takes a vector as long as an axis"
local integers = "indices and lengths are integers"
local truth = "a comparison has no gradient"
local dense = "the result is dense"

local rows = {}

local function add(names, case)
  for name in names:gmatch "%S+" do
    local own = {}
    for k, v in pairs(case) do own[k] = v end
    rows[name] = own
  end
end

-- ---- Conversions --------------------------------------------------------------------------------------------------

add("dense_from_sparse", { args = one, dtypes = all, huge = dense })
add("toarray", { args = one, dtypes = all, huge = dense, reference = "dense_from_sparse" })
add("csr_from_dense csc_from_dense", { args = function(o) return { D(o, 4, 5) } end, dtypes = all,
  huge = "the operand is dense" })
add("sum_duplicates", { args = one, dtypes = all, sparse = true, reference = beyond })
add("maximum minimum", { args = two, dtypes = reals, sparse = true, reference = beyond, second = steps })
add("tocsr tocsc", { far = converts, args = one, dtypes = all, sparse = true, reference = beyond })
add("cast astype", {
  args = one, dtypes = floats, sparse = true, reference = "cast",
  call = function(f, x) return f(x, x.dtype:find "complex" and "complex128" or "float64") end,
})
add("fcast ccast", { args = one, dtypes = reals, sparse = true, loose = true, eps = 0.1, tol = 1e-5 })
add("dcast zcast", { args = one, dtypes = reals, sparse = true, loose = true })
add("bcast wcast icast lcast", { args = one, dtypes = reals, sparse = true, grad = steps, rop = steps, second = steps })
add("transpose neg", { args = one, dtypes = floats, sparse = true })

-- ---- Parts --------------------------------------------------------------------------------------------------------

local function parts(o)
  local m = M(o)
  return { m.data, m.indices:cast "int64", m.indptr:cast "int64", damo.array(m.shape, "int64") }
end
add("CSR", { args = function(o) return parts { format = "csr", dtype = o.dtype, huge = o.huge } end, sparse = true,
  wrt = { 1 } })
add("CSC", { args = function(o) return parts { format = "csc", dtype = o.dtype, huge = o.huge } end, sparse = true,
  wrt = { 1 } })
add("csm_properties csm_data", { args = one, shape = stored, huge = dense })
add("csm_indices csm_indptr", { args = one, shape = stored, grad = integers, rop = integers, second = integers,
  huge = dense })
add("csm_shape", { args = one, grad = integers, rop = integers, second = integers, huge = dense,
  shape = "a vector of 2" })
add("get_shape", { args = one, grad = integers, rop = integers, second = integers, huge = dense,
  shape = "a vector of 2", reference = "csm_shape" })
add("size nnz", { args = one, grad = integers, rop = integers, second = integers, huge = dense, shape = "a scalar",
  reference = beyond })
add("sp_ones_like sp_zeros_like", { args = one, sparse = true, grad = "disconnected", rop = "disconnected",
  second = "disconnected" })
add("zeros_like", { args = one, sparse = true, grad = "disconnected", rop = "disconnected", second = "disconnected",
  reference = alias })
add("with_data", { args = function(o)
  local m = M(o)
  return { m, s.vector(m.nnz, o.dtype, 5) }
end, sparse = true, reference = beyond, wrt = { 2 } })
add("gather", { args = function(o) return { D(o, 4, 5), M(o) } end, shape = stored, huge = dense,
  reference = beyond, wrt = { 1 } })

-- ---- Sums and products entry by entry -----------------------------------------------------------------------------

add("add sub mul", { args = two, sparse = true })
add("add_s_s", { args = two, sparse = true, reference = "add" })
add("mul_s_s", { args = two, sparse = true, reference = "mul" })
add("add_s_d", { args = matrix_and_dense, huge = dense, reference = "add" })
add("mul_s_d", { args = matrix_and_dense, reference = "mul", huge = "the operand is dense" })
add("true_div", { args = matrix_and_dense, reference = beyond, huge = "the operand is dense" })
add("add_s_s_data", { args = function(o)
  local m = M(o)
  return { m, damo.sparse.with_data(m, m.data * 2) }
end, sparse = true })
add("structured_add_s_v mul_s_v col_scale", { far = vector, args = function(o) return { M(o), V(o, 5) } end,
  sparse = true })
add("row_scale", { far = vector, args = function(o) return { M(o), V(o, 4) } end, sparse = true })
add("eq neq lt le gt ge", {
  args = two, dtypes = { "float32", "float64", "int64" }, grad = truth, rop = truth, second = truth,
  huge = "absent entries may compare as true",
})
add("isclose", { args = two, dtypes = all, grad = truth, rop = truth, second = truth, reference = beyond,
  huge = "absent entries are close" })
add("allclose", { args = two, dtypes = all, grad = truth, rop = truth, second = truth, reference = beyond,
  shape = "a scalar", huge = dense })

-- ---- Products -----------------------------------------------------------------------------------------------------

add("dot", { args = function(o) return { M(o), D(o, 5, 3) } end, huge = dense })
add("matmul", { args = function(o) return { M(o), D(o, 5, 3) } end, huge = dense, reference = "dot" })
add("structured_dot", { args = function(o) return { M(o), D(o, 5, 3) } end, huge = dense })
add("true_dot", { far = converts, args = function(o) return { M(o), M(o, 5, 3, 8) } end, sparse = true })
add("sampling_dot", { far = vector,
  args = function(o)
    if o.huge then return { damo.full({ FAR, 2 }, 0.5, o.dtype), damo.full({ FAR, 2 }, 0.5, o.dtype), M(o) } end
    return { D(o, 4, 3), D(o, 5, 3, 8), M(o) }
  end,
  sparse = true,
})
add("usmm", { args = function(o) return { number(o, 2), M(o), D(o, 5, 3), D(o, 4, 3, 8) } end, huge = dense })

-- ---- Parts of a matrix, and matrices of parts ---------------------------------------------------------------------

add("subtensor", {
  args = one, reference = "get_item_2d", sparse = true,
  call = function(_, x) return x[{ { 2, 3 }, { 1, -1, 2 } }] end,
})
add("get_item_2d", { args = one, sparse = true, call = function(_, x) return x[{ { 1, 3 }, { 2, 4 } }] end })
add("get_item_scalar", { args = one, huge = dense, call = function(_, x) return x[{ 2, 3 }] end, shape = "a scalar" })
local function list(...) return damo.array({ ... }, "int64") end
add("get_item_list", { args = one, sparse = true, call = function(f, x) return f(x, list(2, 1, 2)) end })
add("get_item_2lists", { args = one, huge = dense, call = function(f, x) return f(x, list(2, 1, 2), list(1, 3,
  1)) end })
add("square_diagonal", { far = vector, args = function(o) return { V(o, 4) } end, sparse = true })
add("diag", { args = function(o) return { M(o, 4, 4) } end, huge = dense })
add("diagonal", { args = one, dtypes = all, huge = dense, reference = beyond, call = function(f, x) return f(x,
  { k = 1 }) end })
add("construct_sparse_from_list", {
  args = function(o) return { D(o, 4, 3), D(o, 2, 3, 8) } end, call = function(f, x, v) return f(x, v, list(3, 1)) end,
  huge = "the operands are dense", wrt = { 2 },
})
add("hstack vstack", { far = converts, args = two, sparse = true, call = function(f, x, y) return f { x, y } end })
add("concatenate", { far = converts, args = two, sparse = true, reference = "vstack", call = function(f, x,
  y) return f({ x, y }, { axis = 1 }) end })
add("join", { far = converts, args = two, sparse = true, reference = "hstack", call = function(f, x, y) return f(2,
  { x, y }) end })
add("sp_sum", { args = one, huge = dense, call = function(f, x) return f(x, { axis = 1, sparse_grad = true }) end })
add("sum mean", { args = one, huge = dense, reference = "sp_sum", call = function(f, x) return f(x, { axis = 2 }) end })
add("ensure_sorted_indices remove0 clean", { args = one, dtypes = all, sparse = true })

-- ---- Functions of stored values -----------------------------------------------------------------------------------

add("structured_exp sin tan sinh tanh arcsinh arctan expm1 square", { args = one, sparse = true })
add("sqr", { args = one, sparse = true, reference = "square" })
add("structured_sigmoid", { args = one, dtypes = reals, sparse = true })
add("rad2deg deg2rad", { args = one, dtypes = reals, sparse = true })
add("structured_log sqrt log1p", { args = positive, sparse = true })
add("arcsin arctanh", { args = positive, sparse = true })
add("structured_minimum structured_maximum", { args = function(o) return { M(o), number(o, 0.25) } end,
  dtypes = reals, sparse = true })
add("structured_add", { args = function(o) return { M(o), number(o, 0.25) } end, sparse = true })
add("structured_pow", { args = function(o) return { M(o, 4, 5, 3, 0.1, 0.9), number(o, 2) } end, dtypes = reals,
  sparse = true })
add("rint ceil floor trunc sgn", { args = one, dtypes = reals, sparse = true, second = steps })
add("sign", { args = one, dtypes = reals, sparse = true, second = steps, reference = "sgn" })
add("conjugate", { args = one, sparse = true })
add("conj", { args = one, sparse = true, reference = "conjugate" })
add("abs real imag", { args = one, dtypes = reals, sparse = true, reference = beyond })
add("angle isnan isinf", { args = one, dtypes = reals, sparse = true, reference = beyond, grad = steps, rop = steps,
  second = steps })
add("erf identity i1 j1 relu", { args = one, dtypes = reals, sparse = true, reference = beyond })
add("erfinv", { args = positive, dtypes = reals, sparse = true, reference = beyond })
add("round round_half_to_even round_half_away_from_zero", { args = one, dtypes = reals, sparse = true,
  reference = beyond, second = steps })
add("pow", { args = positive, dtypes = reals, sparse = true, reference = "structured_pow", call = function(f,
  x) return f(x, 2) end })

-- ---- Functions beyond spec/names.lua ------------------------------------------------------------------------------

add("tril triu", { args = one, sparse = true, reference = beyond })
add("trace", { args = function(o) return { M(o, 4, 4) } end, huge = dense, reference = beyond, shape = "a scalar" })
add("norm", { args = one, dtypes = floats, huge = dense, reference = beyond, shape = "a scalar" })
add("kron", {
  args = function(o) return { M(o, 2, 3), M(o, 3, 2, 8) } end, sparse = true, reference = beyond,
  huge = "the entries of both multiply",
})
add("block_diag", { args = two, sparse = true, reference = beyond, call = function(f, x, y) return f { x, y } end })
add("bmat", { args = two, sparse = true, reference = beyond, far = converts, call = function(f, x, y)
  return f({ x, y, x }, { rows = { 1, 2, 2 }, cols = { 1, 1, 2 } })
end })
add("find", { args = one, huge = dense, reference = beyond, shape = stored })
add("nonzero", { args = one, huge = dense, reference = beyond, shape = stored, grad = integers, rop = integers,
  second = integers })
add("permute", {
  args = one, sparse = true, reference = beyond, huge = "it takes permutations as long as the axes",
  call = function(f, x) return f(x, list(2, 1, 4, 3), list(5, 1, 2, 3, 4)) end,
})
add("power", { far = "the matrix is square", args = function(o) return { M(o, 4, 4) } end, sparse = true,
  reference = beyond, call = function(f, x) return f(x, 3) end })
add("max min", { args = one, dtypes = reals, huge = dense, reference = beyond, call = function(f, x) return f(x,
  { axis = 2 }) end, second = steps })
add("argmax argmin", {
  args = one, dtypes = reals, huge = dense, reference = beyond, grad = integers, rop = integers, second = integers,
  call = function(f, x) return f(x, { axis = 2 }) end,
})

add("solve solve_t factorize det logdet slogdet lstsq rcond", { elsewhere = "spec/sparse/solve_spec.lua",
  reference = beyond })

-- ---- Draws --------------------------------------------------------------------------------------------------------

add("poisson multinomial csr_fbinomial csr_dbinomial csc_fbinomial csc_dbinomial",
  { draw = "draws have no gradient and no fixed value" })

return rows

-- A call of each op function on operands of about n entries, for what concerns long calls: pieces_spec.lua and
-- bench/frames_pieces.lua.
--
-- calls.of(row, n) gives {make = function(...) that applies the function, values = its operands}; operands are Arrays,
-- sparse matrices, literals and lists of them. calls.without: names of the functions that have no call here.
-- calls.graph(call) gives inputs, outputs, values.
local damo = require "damo"

local unpack = table.unpack or unpack -- luacheck: ignore 113 143
local floor = math.floor
local calls = {}

-- ---- Operands -------------------------------------------------------------------------------------------------------

-- Entries in no order, from -1 to 1.
local function wave(n, k) return damo.sin(damo.arange(1, n + 1, { dtype = "float64" }) * (k or 12.9898)) end
local function unit(n, k) return wave(n, k) * 0.45 + 0.5 end
local function scaled(n, from, to, k) return unit(n, k) * (to - from) + from end
local function whole(n, most, k) return damo.cast(damo.floor(unit(n, k) * (most or 20)) + 1, "int64") end
local function truths(n, k) return damo.gt(wave(n, k), 0) end
local function rising(n) return damo.arange(n, { dtype = "float64" }) end
local function side(n) return floor(n ^ 0.5) end
local function grid(n, k)
  local m = side(n)
  return damo.reshape(wave(m * m, k), { m, m })
end
local function tensor(shape, k)
  local n = 1
  for _, length in ipairs(shape) do n = n * length end
  return damo.reshape(wave(n, k), shape)
end
-- A matrix of `rows` rows with up to 8 entries each; about n entries. k: another pattern.
local function matrix(n, k, format, rows, columns)
  rows = rows or floor(n / 8)
  columns = columns or rows
  local at = damo.arange(8 * rows, { dtype = "float64" })
  local row = damo.floor(at / 8)
  local column = damo.mod(row * (k or 1) + damo.mod(at, 8) * floor(columns / 9) + 1, columns)
  return damo.sparse.coo { rows = damo.cast(row + 1, "int64"), cols = damo.cast(column + 1, "int64"),
    values = unit(8 * rows, k), shape = { rows, columns }, format = format or "csr" }
end
local function band(n) -- a well-conditioned matrix with four entries a row
  local m = floor(n / 4)
  return damo.sparse.diags({ damo.ones { m } * 5, damo.ones { m - 1 }, damo.ones { m - 1 }, damo.ones { m - 2 } * 0.5 },
    { 0, 1, -1, -2 })
end

-- ---- Calls by name --------------------------------------------------------------------------------------------------

local by = {}
local function with(names, operands)
  for name in names:gmatch "%S+" do by[name] = operands end
end
-- A number that is an input of the graph.
local function number(n) return damo.array(floor(n), "int64") end
local function of_vector(n) return { wave(n) } end
local function of_grid(n) return { grid(n) } end

with("allclose isclose arctan2 hypot", function(n) return { wave(n), wave(n, 3.1) } end)
with("cast astype", function(n) return { wave(n), "float32" } end)
with("multigammaln", function(n) return { scaled(n, 3, 9), 2 } end)
with("lambertw_lower", function(n) return { scaled(n, -0.3, -0.1) } end)
with("expn expn_grad_n", function(n) return { whole(n, 5), scaled(n, 0.5, 3) } end)
with("complex complex_from_polar", function(n) return { unit(n), wave(n) } end)
with("gammainc_grad_a", function(n) return { scaled(n, 1, 5), scaled(n, 1, 5, 3.1) } end)
with("clip", function(n) return { wave(n), -0.5, 0.5 } end)
with("poch binom", function(n) return { scaled(n, 5, 9), scaled(n, 1, 4) } end)

with("sum prod max min any all argmax argmin logsumexp mean var std ptp max_and_argmax nansum nanprod nanmax nanmin "
  .. "nanargmax nanargmin nanmean nanvar nanstd average count_nonzero median nanmedian mode nancumsum nancumprod "
  .. "cumsum cumprod sort argsort diff cummax cummin trapezoid ediff1d unwrap unique", of_vector)
with("quantile nanquantile", function(n) return { wave(n), damo.array { 0.1, 0.5, 0.9 } } end)
with("percentile nanpercentile", function(n) return { wave(n), 30 } end)
with("cov corrcoef", function(n) return { tensor { 8, floor(n / 8) } } end)
with("gradient", of_vector)

with("shape size flatten ravel transpose matrix_transpose squeeze atleast_1d atleast_2d atleast_3d flip diag diagonal "
  .. "trace tril triu fliplr flipud rot90 linalg.trace", of_grid)
with("shape_i", function(n) return { grid(n), 1 } end)
with("reshape", function(n) return { damo.transpose(grid(n)), { -1 } } end)
with("dimshuffle", function(n) return { grid(n), { 2, "x", 1 } } end)
with("expand_dims", function(n) return { grid(n), 1 } end)
with("moveaxis", function(n) return { tensor { 4, 4, floor(n / 16) }, { source = 1, destination = 3 } } end)
with("swapaxes", function(n) return { tensor { 4, 4, floor(n / 16) }, { axis1 = 1, axis2 = 3 } } end)
with("atleast_Nd", function(n) return { wave(n), { n = 3 } } end)
with("broadcast_to", function(n) return { wave(side(n)), { side(n), side(n) } } end)
with("specify_broadcastable", function(n) return { tensor { 1, n }, 1 } end)
with("unbroadcast", function(n) return { tensor { 1, n }, 1 } end)
with("specify_shape", function(n) return { wave(n), { n } } end)
with("alloc", function(n) return { damo.array(7.5), { shape = { number(n) } } } end)
with("zeros ones empty", function(n) return { { number(side(n)), number(side(n)) } } end)
with("full", function(n) return { { number(side(n)), number(side(n)) }, 7.5 } end)
with("full_like", function(n) return { grid(n), 7.5 } end)
with("eye tri", function(n) return { number(side(n)) } end)
with("arange", function(n) return { number(n) } end)
with("linspace", function(n) return { damo.array(0.0), 1, { num = n } } end)
with("logspace", function(n) return { damo.array(0.0), 3, { num = n } } end)
with("geomspace", function(n) return { damo.array(1.0), 1000, { num = n } } end)
with("bartlett blackman hamming hanning", function(n) return { number(n) } end)
with("kaiser", function(n) return { number(n), 2 } end)
with("join", function(n) return { 1, { grid(n / 2), grid(n / 2, 3.1) } } end)
with("concatenate concat_with_broadcast", function(n) return { { grid(n / 2), grid(n / 2, 3.1) }, { axis = 2 } } end)
with("stack vstack hstack column_stack dstack", function(n)
  return { { wave(floor(n / 2)), wave(floor(n / 2), 3.1) } }
end)
with("append", function(n) return { wave(floor(n / 2)), wave(floor(n / 2)) } end)
with("split", function(n) return { wave(2 * floor(n / 2)), { floor(n / 2), floor(n / 2) } } end)
with("vsplit hsplit", function(n) return { tensor { 2, 2 * floor(n / 4) }, 2 } end)
with("dsplit", function(n) return { tensor { 2, floor(n / 8), 4 }, 2 } end)
with("tile", function(n) return { wave(side(n)), { side(n) } } end)
with("repeat_", function(n) return { wave(side(n)), side(n) } end)
with("delete", function(n) return { wave(n), whole(100, n) } end)
with("insert", function(n) return { wave(n), number(n / 2), 5 } end)
with("diagflat", function(n) return { wave(side(n)) } end)
with("vander", function(n) return { unit(floor(n / 8)), { n = 8 } } end)
with("linalg.circulant linalg.toeplitz linalg.hankel", function(n) return { wave(side(n)) } end)
with("roll", function(n) return { wave(n), 1000 } end)
with("pad", function(n) return { grid(n), { 10 } } end)
with("subtensor", function(n) return { wave(n), { { -1, 1, -2 } } } end)
by.set_subtensor_at = function(n) return { wave(n), whole(floor(n / 2), n), wave(floor(n / 2)) } end
by.inc_subtensor_at = by.set_subtensor_at
with("take", function(n) return { wave(n), whole(n, n) } end)
with("take_along_axis", function(n) return { wave(n), whole(n, n), { axis = 1 } } end)
with("one_hot to_one_hot", function(n) return { whole(floor(n / 10), 10), 10 } end)
with("nonzero flatnonzero argwhere", function(n) return { truths(n) } end)
with("nonzero_values", of_vector)
with("compress extract", function(n) return { truths(n), wave(n) } end)
with("choose", function(n) return { whole(n, 2), { wave(n), wave(n, 3.1) } } end)
with("select", function(n) return { { truths(n), truths(n, 3.1) }, { wave(n), wave(n, 1.7) }, 0 } end)
with("put", function(n) return { wave(n), whole(n, n), wave(n, 3.1) } end)
with("put_along_axis", function(n) return { wave(n), whole(n, n), wave(n, 3.1), { axis = 1 } } end)
with("fill_diagonal", function(n) return { grid(n), 3 } end)
with("interpn", function(n)
  return { { rising(side(n)), rising(side(n)) }, grid(n), tensor { floor(n / 2), 2 } * 5 + 6 }
end)
with("meshgrid", function(n) return { { wave(side(n)), wave(side(n)) } } end)
with("broadcast_arrays", function(n) return { { tensor { side(n), 1 }, wave(side(n)) } } end)
with("broadcast_shape", function(n) return { { tensor { side(n), 1 }, wave(side(n)) } } end)
with("indices", function(n) return { { number(side(n)), number(side(n)) } } end)
with("ix_", function(n) return { { truths(n), truths(n) } } end)
with("tril_indices triu_indices", function(n) return { number(side(n)) } end)
with("tril_indices_from triu_indices_from", of_grid)
with("diag_indices", function(n) return { number(n) } end)
with("unravel_index", function(n) return { whole(n, n), { shape = { side(n), side(n) + 2 } } } end)
with("ravel_multi_index", function(n)
  return { { whole(n, side(n)), whole(n, side(n), 3.1) }, { shape = { side(n) + 1, side(n) + 1 } } }
end)
with("inverse_permutation", function(n) return { damo.argsort(wave(n)) } end)
with("pack", function(n) return { { wave(floor(n / 2)), grid(n / 2) } } end)
with("unpack", function(n) return { wave(n), { shapes = { { floor(n / 2) }, { n - floor(n / 2) } } } } end)

with("nn.softmax nn.log_softmax softmax log_softmax", function(n) return { grid(n), { axis = -1 } } end)
with("nn.glu", function(n) return { tensor { 2 * floor(side(n) / 2), 2 * floor(side(n) / 2) } } end)
with("nn.categorical_crossentropy categorical_crossentropy", function(n)
  return { damo.softmax(tensor { floor(n / 10), 10 }), whole(floor(n / 10), 10) }
end)
with("nn.binary_crossentropy nn.sigmoid_binary_crossentropy binary_crossentropy sigmoid_binary_crossentropy "
  .. "nn.kl_divergence nn.mean_squared_error nn.mean_absolute_error nn.huber nn.hinge nn.cosine_similarity "
  .. "mean_squared_error", function(n) return { unit(n), unit(n, 3.1) } end)
with("nn.nll", function(n) return { tensor { floor(n / 10), 10 }, whole(floor(n / 10), 10) } end)
with("nn.batch_norm", function(n) return { tensor { floor(n / 64), 64 }, damo.ones { 64 }, damo.zeros { 64 } } end)
with("nn.layer_norm", function(n) return { tensor { floor(n / 64), 64 }, damo.ones { 64 }, damo.zeros { 64 } } end)
with("nn.rms_norm", function(n) return { tensor { floor(n / 64), 64 }, damo.ones { 64 } } end)
with("nn.group_norm", function(n)
  return { tensor { 4, 64, floor(n / 256) }, damo.ones { 64 }, damo.zeros { 64 }, { num_groups = 8 } }
end)
with("nn.embedding", function(n) return { whole(floor(n / 16), 100), tensor { 100, 16 } } end)
with("nn.scaled_dot_product_attention", function(n)
  local m = floor(n / 1024)
  return { tensor { m, 32, 32 }, tensor { m, 32, 32 }, tensor { m, 32, 32 } }
end)
with("nn.multi_head_attention", function(n)
  local m, w = floor(n / 1024), tensor { 32, 32 }
  return { tensor { m, 32, 32 }, tensor { m, 32, 32 }, tensor { m, 32, 32 }, w, w, w, w, { num_heads = 4 } }
end)
for d = 1, 3 do
  local function shape(n, channels)
    local list, length = { 2, channels }, floor((n / (2 * channels)) ^ (1 / d))
    for i = 1, d do list[i + 2] = length end
    return list
  end
  local kernel = { 4, 4 }
  for i = 1, d do kernel[i + 2] = 3 end
  with(("nn.max_pool%dd nn.avg_pool%dd"):format(d, d), function(n) return { tensor(shape(n, 4)), { size = 2 } } end)
  with(("nn.conv%dd nn.conv%dd_transpose"):format(d, d), function(n) return { tensor(shape(n, 4)), tensor(kernel) } end)
end
with("nn.global_max_pool nn.global_avg_pool", function(n) return { tensor { 2, 4, floor(n / 8) } } end)
with("dense_layer", function(n) return { tensor { floor(n / 64), 64 }, tensor { 64, 64 }, damo.zeros { 64 } } end)

with("segment_sum segment_prod segment_max segment_min segment_mean", function(n)
  return { unit(n), whole(n, 100), { num_segments = 100 } }
end)
with("bincount", function(n) return { whole(n, 1000) } end)
with("scatter_add scatter_max scatter_min", function(n) return { wave(n), whole(n, n), wave(n, 3.1) } end)
with("searchsorted", function(n) return { rising(n), scaled(n, 0, n) } end)
with("digitize", function(n) return { scaled(n, 0, 100), rising(100) } end)
with("interp", function(n) return { scaled(n, 0, n), rising(n), wave(n) } end)
with("isin union1d intersect1d setdiff1d setxor1d", function(n) return { wave(n), wave(floor(n / 2)) } end)
with("topk argtopk", function(n) return { wave(n), floor(n / 100) } end)
with("partition argpartition", function(n) return { wave(n), floor(n / 2) } end)
with("lexsort", function(n) return { { whole(n), wave(n) } } end)
with("histogram", function(n) return { wave(n), { bins = 50 } } end)
with("histogram2d", function(n) return { wave(n), wave(n, 3.1), { bins = 20 } } end)
with("cross", function(n) return { tensor { floor(n / 3), 3 }, tensor({ floor(n / 3), 3 }, 3.1) } end)
with("inner vdot vecdot", function(n) return { wave(n), wave(n, 3.1) } end)
with("convolve correlate", function(n) return { wave(n), wave(50) } end)
with("polyval", function(n) return { wave(10), wave(n) } end)
with("polyfit", function(n) return { unit(floor(n / 4)), wave(floor(n / 4)), 3 } end)
with("roots", function() return { wave(8) } end)
with("dot matmul linalg.matrix_dot linalg.multi_dot", function(n)
  local operands = { grid(n), grid(n, 3.1) }
  return operands
end)
by["linalg.matrix_dot"] = function(n) return { grid(n), grid(n, 3.1) } end
by["linalg.multi_dot"] = function(n) return { { grid(n), grid(n, 3.1) } } end
with("polymul", function(n) return { wave(n), wave(50) } end)
with("fft.dct fft.dst fft.idct fft.idst", of_vector)
with("fft.dctn fft.dstn fft.idctn fft.idstn linalg.vector_norm linalg.matrix_norm", of_grid)
with("outer", function(n) return { wave(side(n)), wave(side(n)) } end)
with("tensordot", function(n) return { grid(n), grid(n), 1 } end)
with("matvec", function(n) return { grid(n), wave(side(n)) } end)
with("vecmat", function(n) return { wave(side(n)), grid(n) } end)
with("batched_dot", function(n) return { tensor { floor(n / 64), 8, 8 }, tensor { floor(n / 64), 8, 8 } } end)
with("kron linalg.kron", function(n) return { grid(side(n)), grid(side(n)) } end)
with("linalg.khatri_rao", function(n) return { tensor { 10, floor(n / 100) }, tensor { 10, floor(n / 100) } } end)
with("einsum", function(n) return { { grid(n), grid(n) }, "ij,ij->i" } end)
with("fft.fft fft.ifft fft.rfft fft.irfft fft.hfft fft.ihfft", function(n) return { wave(n) } end)
with("fft.fft2 fft.ifft2 fft.rfft2 fft.irfft2 fft.fftn fft.ifftn fft.rfftn fft.irfftn fft.fftshift "
  .. "fft.ifftshift", of_grid)

with("linalg.subspace_angles", function(n)
  local m = floor(n / 8)
  return { tensor { m, 3 }, tensor { m, 2 } + 1 }
end)
with("linalg.block_diag", function(n) return { { grid(n / 4), grid(n / 4) } } end)
with("linalg.norm", of_grid)
with("linalg.solve_banded", function(n)
  local m = floor(n / 3)
  return { damo.stack { damo.ones { m }, damo.ones { m } * 4, damo.ones { m } }, wave(m), { l = 1, u = 1 } }
end)
local function half_band(n)
  local m = floor(n / 8)
  return damo.stack { damo.ones { m }, damo.ones { m } * 4 }
end
with("linalg.cholesky_banded", function(n) return { half_band(n) } end)
with("linalg.cho_solve_banded linalg.solveh_banded", function(n)
  return { half_band(n), wave(floor(n / 8)), { bands = 2 } }
end)
with("linalg.solve_toeplitz linalg.solve_circulant", function(n)
  local m = floor(n / 16)
  return { tensor { m, 4 } * 0.1 + damo.array { 4, 0, 0, 0 }, tensor { m, 4, 1 } }
end)
-- Stacks of small matrices.
local function definite(n)
  local m = floor(n / 16)
  return tensor { m, 4, 4 } * 0.1 + 4 * damo.eye(4)
end
local function symmetric(n)
  local a = definite(n)
  return a + damo.swapaxes(a, { axis1 = 2, axis2 = 3 })
end
with("linalg.cholesky linalg.ldl linalg.eigh linalg.eigvalsh", function(n) return { symmetric(n) } end)
with("linalg.lu linalg.lu_factor linalg.inv linalg.det linalg.slogdet linalg.cond linalg.matrix_rank linalg.svd "
  .. "linalg.svdvals linalg.polar linalg.orth linalg.null_space linalg.eig linalg.eigvals linalg.schur linalg.expm "
  .. "linalg.logm linalg.sqrtm linalg.qr linalg.pinv linalg.hessenberg linalg.cosm linalg.sinm linalg.tanm "
  .. "linalg.coshm linalg.sinhm linalg.tanhm linalg.signm", function(n) return { definite(n) } end)
with("linalg.orth", function(n) return { definite(n)[1] } end)
with("linalg.null_space", function(n) return { tensor { 4, floor(n / 400) } } end)
with("linalg.matrix_power", function(n) return { definite(n), 3 } end)
with("linalg.solve linalg.solve_triangular linalg.cho_solve linalg.lstsq", function(n)
  local m = floor(n / 16)
  return { definite(n), tensor { m, 4, 1 } }
end)
with("linalg.expm_frechet", function(n) return { definite(n), definite(n) } end)
with("linalg.solve_sylvester", function(n) return { definite(n), definite(n), definite(n) } end)
with("linalg.solve_continuous_lyapunov linalg.solve_discrete_lyapunov", function(n)
  return { definite(n) * 0.1, definite(n) }
end)
with("linalg.solve_discrete_are", function(n)
  local m, a = floor(n / 64), damo.eye(4) * 0.5
  local zeros = damo.zeros { m, 4, 4 }
  return { zeros + a, zeros + damo.eye(4), zeros + damo.eye(4), zeros + damo.eye(4) }
end)
with("linalg.tensorinv", function(n) return { damo.reshape(definite(16), { 4, 4 }) + 0 * n, { ind = 1 } } end)
with("linalg.tensorsolve", function() return { damo.eye(40), wave(40) } end)
by["linalg.lu_solve"] = function(n)
  local lu, pivots = damo.linalg.lu_factor(definite(n))
  return { lu, pivots, tensor { floor(n / 16), 4, 1 } }
end

with("disconnected_grad zero_grad consider_constant", of_vector)
with("grad_clip", function(n) return { wave(n), { lower = -1, upper = 1 } } end)
with("grad_scale", function(n) return { wave(n), 0.5 } end)

-- ---- Sparse ---------------------------------------------------------------------------------------------------------

local function of_sparse(n) return { matrix(n) } end
local function two_sparse(n) return { matrix(n), matrix(n, 2) } end
-- Matrices whose dense form has n entries.
local function two_square(n) return { matrix(n / 4, 1, nil, side(n)), matrix(n / 4, 2, nil, side(n)) } end
local function far_sparse(n) return { matrix(n, 1, "csc") } end
with("sparse.dense_from_sparse sparse.toarray", function(n) return { matrix(n / 4, 1, nil, side(n)) } end)
with("sparse.csr_from_dense sparse.csc_from_dense", function(n) return { damo.maximum(grid(n), 0) } end)
with("sparse.cast sparse.astype", function(n) return { matrix(n), "float32" } end)
with("sparse.sp_sum sparse.sum sparse.mean sparse.max sparse.min", function(n) return { matrix(n), { axis = 1 } } end)
with("sparse.argmax sparse.argmin", function(n) return { matrix(n), { axis = 2 } } end)
with("sparse.add sparse.sub sparse.add_s_s sparse.mul sparse.mul_s_s sparse.eq sparse.neq sparse.lt sparse.le "
  .. "sparse.gt sparse.ge sparse.maximum sparse.minimum sparse.isclose sparse.allclose", two_sparse)
with("sparse.eq sparse.le sparse.ge sparse.isclose sparse.allclose", two_square)
with("sparse.true_dot sparse.structured_dot", two_sparse)
with("sparse.dot sparse.matmul", two_square)
with("sparse.add_s_s_data", function(n) return { matrix(n), matrix(n) } end)
with("sparse.tocsr", far_sparse)
with("sparse.sum_duplicates sparse.tocsc sparse.transpose sparse.remove0 sparse.clean sparse.ensure_sorted_indices "
  .. "sparse.tril sparse.triu sparse.trace sparse.norm sparse.diag sparse.diagonal sparse.find "
  .. "sparse.nonzero", of_sparse)
with("sparse.add_s_d sparse.mul_s_d", function(n)
  local m = floor(n / 16)
  return { matrix(n, 1, nil, m, 16), tensor { m, 16 } }
end)
with("sparse.true_div", function(n) return { matrix(n), 3 } end)
with("sparse.structured_add_s_v sparse.mul_s_v sparse.col_scale sparse.row_scale", function(n)
  return { matrix(n), wave(floor(n / 8)) }
end)
with("sparse.square_diagonal", function(n) return { wave(n) } end)
with("sparse.sampling_dot", function(n)
  local m = floor(n / 8)
  return { tensor { m, 8 }, tensor { m, 8 }, matrix(n) }
end)
with("sparse.usmm", function(n)
  local m = floor(n / 8)
  return { 2, matrix(n), tensor { m, 4 }, tensor { m, 4 } }
end)
with("sparse.get_item_2d", function(n) return { matrix(n), { { 2, -2 }, { 2, -3 } } } end)
with("sparse.get_item_scalar", function(n) return { matrix(n), { 2, 3 } } end)
with("sparse.get_item_list", function(n) return { matrix(n), whole(floor(n / 8), floor(n / 8)) } end)
with("sparse.get_item_2lists", function(n)
  return { matrix(n), whole(floor(n / 2), floor(n / 8)), whole(floor(n / 2), floor(n / 8), 3.1) }
end)
with("sparse.gather", function(n) return { matrix(n), matrix(n, 2) } end)
with("sparse.hstack sparse.vstack sparse.concatenate", function(n) return { { matrix(n), matrix(n, 2) } } end)
with("sparse.join", function(n) return { 1, { matrix(n), matrix(n, 2) } } end)
with("sparse.block_diag", function(n) return { { matrix(n), matrix(n, 2) } } end)
with("sparse.bmat", function(n) return { { { matrix(n), matrix(n, 2) } } } end)
with("sparse.kron", function(n) return { matrix(side(n) * 2), matrix(side(n) * 2) } end)
with("sparse.permute", function(n)
  local m = floor(n / 8)
  return { matrix(n), damo.argsort(wave(m)), damo.argsort(wave(m, 3.1)) }
end)
with("sparse.power sparse.pow sparse.structured_pow sparse.structured_minimum sparse.structured_maximum", function(n)
  return { matrix(n), 2 }
end)
with("sparse.structured_add", function(n) return { matrix(n), 1 } end)
with("sparse.with_data", function(n) return { matrix(n), wave(floor(n / 8) * 8) } end)
local function parts(n)
  local m = matrix(n)
  return { m.data, m.indices, m.indptr, damo.array(m.shape, "int64") }
end
with("sparse.CSR", parts)
with("sparse.CSC", parts)
with("sparse.construct_sparse_from_list", function(n)
  local m = floor(n / 8)
  return { damo.zeros { m, 8 }, tensor { m, 8 }, damo.argsort(wave(m)) }
end)
with("sparse.factorize sparse.rcond sparse.logdet sparse.slogdet sparse.det", function(n) return { band(n) } end)
with("sparse.solve sparse.solve_t sparse.lstsq", function(n) return { band(n), wave(floor(n / 4)) } end)
with("sparse.multinomial", function(n) return { 3, matrix(n) * 0.1 } end)
with("sparse.poisson", of_sparse)
with("sparse.csr_fbinomial sparse.csr_dbinomial sparse.csc_fbinomial sparse.csc_dbinomial", function(n)
  return { 3, 0.5, { number(n / 100), 100 } }
end)

-- ---- Draws ----------------------------------------------------------------------------------------------------------

local draws = {
  normal = { 0, 1 }, uniform = { 0, 1 }, bernoulli = { 0.5 }, integers = { 1, 7 }, exponential = { 1 },
  ["random.binomial"] = { 10, 0.5 }, ["random.nbinom"] = { 10, 0.5 }, ["random.geometric"] = { 0.5 },
  ["random.triangular"] = { 0, 1, 2 }, ["random.betabinom"] = { 10, 2, 3 }, ["random.hypergeometric"] = { 10, 5, 3 },
  ["random.categorical"] = { damo.array { 0.2, 0.5, 0.3 } },
  ["random.multinomial"] = { 10, damo.array { 0.2, 0.8 } }, ["random.dirichlet"] = { damo.array { 1, 2 } },
  ["random.multivariate_normal"] = { damo.array { 0, 0 }, damo.array { { 2, 1 }, { 1, 3 } } },
  ["random.wishart"] = { 3, damo.array { { 2, 1 }, { 1, 3 } } }, ["random.truncated_normal"] = { 0, 1 },
}

local function drawn(row, n)
  local name = row.name:match "([^.]*)$"
  local args = {}
  for i, v in ipairs(draws[row.name] or {}) do args[i] = v end
  if name == "permutation" then
    args = { floor(n) }
  elseif name == "choice" then
    args = { wave(n), { size = { n }, p = damo.softmax(wave(n)) } }
  else
    if not draws[row.name] then
      for i = 2, #row.operands do
        if not row.operands[i].optional then args[i - 1] = i end
      end
    end
    args[#args + 1] = { size = { n } }
  end
  return { values = args, make = function(...)
    local stream = damo.random.RandomStream(1)
    return stream[name](stream, ...)
  end }
end

-- ---- Calls of a row -------------------------------------------------------------------------------------------------

-- Operands of elementwise functions, of which the first that a function takes is used.
local function several(make)
  return function(n, count)
    local list = {}
    for i = 1, count do list[i] = make(n, i) end
    return list
  end
end
local factors = { 12.9898, 3.1, 1.7, 5.3 }
local kinds = {
  several(function(n, i) return unit(n, factors[i]) end),
  several(function(n, i) return scaled(n, 1.5, 5, factors[i]) end),
  several(function(n, i) return scaled(n, -3, -0.5, factors[i]) end),
  several(function(n, i) return whole(n, 20, factors[i]) end),
  several(function(n, i) return truths(n, factors[i]) end),
  function(n, count)
    local list = { truths(n) }
    for i = 2, count do list[i] = wave(n, factors[i]) end
    return list
  end,
}

local function function_of(name)
  local at = damo
  for part in name:gmatch "[^.]+" do at = at[part] or at[part .. "_"] end
  return at
end

-- Values with a leading axis as it is for vectors, or nil where no call succeeds on a few entries.
local function elementwise(row, fn, n)
  local count = 0
  for _, o in ipairs(row.operands) do count = count + (o.optional and 0 or 1) end
  if count == 0 or count > #factors or row.operands[1].list then return nil end
  for _, kind in ipairs(kinds) do
    if pcall(fn, unpack(kind(16, count), 1, count)) then return kind(n, count) end
  end
  if row.name:find "^sparse%." and pcall(fn, matrix(160)) then return { matrix(n) } end
  return nil
end

--- The call of that row of the registry on about n entries.
function calls.of(row, n)
  if row.random and not row.name:find "^sparse" then return drawn(row, n) end
  if row.name == "set_subtensor_at" or row.name == "inc_subtensor_at" then
    return { values = by[row.name](n), make = function(x, at, y) return x[row.name:sub(1, 3)](x, { at }, y) end }
  end
  local fn = function_of(row.name)
  local values = by[row.name] and by[row.name](n) or elementwise(row, fn, n)
  return values and { make = fn, values = values }
end

calls.without = {}
for name in ("largest smallest unstack identity_like set_subtensor inc_subtensor dist.quantile ifelse ifelse_list "
  .. "sparse.subtensor fft.fftfreq fft.rfftfreq array_split histogramdd "
  .. "linalg.solve_continuous_are"):gmatch "%S+" do
  calls.without[name] = true
end

--- Whether calls.of has a call of that row.
function calls.has(row) return not calls.without[row.name] end

-- ---- Graphs ---------------------------------------------------------------------------------------------------------

local function variable_of(v)
  if damo.sparse.is_sparse(v) then
    return damo.sparse[v.format .. "_matrix"] { dtype = v.dtype, name = "x" }
  end
  local shape = {}
  for axis, length in ipairs(v.shape) do shape[axis] = length == 1 and 1 end
  for axis = 1, v.ndim do shape[axis] = shape[axis] or false end
  return damo.tensor("x", { dtype = v.dtype, shape = shape })
end

local function as_inputs(v, inputs, values)
  if type(v) == "userdata" and not damo.is_variable(v) then
    local x = variable_of(v)
    inputs[#inputs + 1], values[#values + 1] = x, v
    return x
  end
  if type(v) ~= "table" then return v end
  local out = {}
  for key, item in pairs(v) do out[key] = as_inputs(item, inputs, values) end
  return out
end

--- The call as a graph: its inputs, outputs and the inputs' values.
function calls.graph(call)
  local inputs, values = {}, {}
  local operands = as_inputs(call.values, inputs, values)
  local given = { pcall(call.make, unpack(operands, 1, #call.values)) }
  if not given[1] then error(given[2], 0) end
  local results = { unpack(given, 2) }
  if type(results[1]) == "table" then results = results[1] end
  local outputs = {}
  for _, v in ipairs(results) do
    if damo.is_variable(v) then outputs[#outputs + 1] = v end
  end
  return inputs, outputs, values
end

return calls

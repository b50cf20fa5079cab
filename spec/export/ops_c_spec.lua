-- Ops of models in an exported file, with their gradients.
local damo = require "damo"
local exported = require "spec.support.exported"

local dir = os.tmpname()
os.remove(dir)
os.execute("mkdir " .. dir)

local values = exported.values
local x, y, A, B = damo.dvector "x", damo.dvector "y", damo.dmatrix "A", damo.dmatrix "B"
local T, U, X, K = damo.tensor3 "T", damo.tensor3 "U", damo.tensor4 "X", damo.tensor4 "K"
local i, j, classes = damo.lvector "i", damo.lvector "j", damo.lvector "classes"
local function ints(...) return damo.array({ ... }, "int64") end
local function squares(v) return damo.sum(damo.sqr(v)) end

local models = {}
local function near(name, inputs, outputs, args)
  models[#models + 1] = { name, inputs, outputs, args }
  return models[#models]
end
local function exact(...) near(...).exact = true end

near("softmax", { A }, { damo.nn.softmax(A, 1), damo.nn.softmax(A, 2), damo.nn.log_softmax(A, 1) }, { values { 5, 7 } })
near("softmax_grad", { A, B }, { damo.grad(damo.sum(damo.nn.softmax(A, 1) * B), A),
  damo.grad(damo.sum(damo.nn.softmax(A, 2) * B), A), damo.grad(damo.sum(damo.nn.log_softmax(A, 1) * B), A) },
  { values { 5, 7 }, values({ 5, 7 }, 3) })
local loss = damo.mean(damo.nn.categorical_crossentropy(damo.nn.softmax(A, 2), classes))
near("crossentropy", { A, classes }, { loss, damo.grad(loss, A) }, { values { 5, 7 }, ints(1, 7, 3, 2, 2) })
exact("one_hot", { classes }, { damo.one_hot(classes, 7) }, { ints(1, 7, 3, 2, 2) })
near("matmul", { T, U }, { damo.matmul(T, U), damo.grad(squares(damo.matmul(T, U)), T) },
  { values { 3, 4, 5 }, values { 3, 5, 2 } })
near("tensordot", { T, U }, { damo.tensordot(T, U, { axes = { { 2, 3 }, { 2, 1 } } }) },
  { values { 3, 4, 5 }, values { 5, 4, 2 } })
for _, shape in ipairs { { 1, 1 }, { 3, 7 }, { 5, 8 }, { 2, 15 }, { 64, 64 }, { 65, 4 }, { 4, 65 }, { 3, 0 } } do
  local m, k = shape[1], shape[2]
  local s = damo.dscalar "s"
  local turned = A[{ { -1, 1, -1 }, { -1, 1, -1 } }]
  near("vectors_" .. m .. "_" .. k, { A, x, y, s },
    { A:dot(x), y:dot(A), A.T:dot(y), damo.dot(y, y), y - 2 * A:dot(x), s * y + 0.5 * A:dot(x), turned:dot(x) + y,
      s * x - s * turned.T:dot(y[{ { -1, 1, -1 } }]), damo.grad(squares(damo.tanh(A:dot(x))), A) },
    { values(shape), values({ k }, 1), values({ m }, 2), 0.0 })
end
near("layer", { A, B, x }, { damo.tanh(A:dot(B) + x), damo.grad(damo.sum(damo.tanh(A:dot(B) + x)), B) },
  { values { 40, 30 }, values { 30, 20 }, values { 20 } })
exact("cumulative", { x, A }, { damo.cumsum(x), damo.cumprod(x), damo.cumsum(A, { axis = 1 }),
  damo.cumsum(A, { axis = 2 }), damo.grad(squares(damo.cumsum(x)), x), damo.cummax(x), damo.cummin(x) },
  { values { 9 }, values { 3, 4 } })
exact("sorted", { x, A }, { damo.sort(x), damo.argsort(x), damo.sort(A, { axis = 1 }),
  damo.grad(damo.sum(damo.sort(x) * damo.arange(1, 10)), x) }, { values { 9 }, values { 3, 4 } })
exact("known_lists", { A }, { A[{ damo.idx { 1, 3, 2 }, damo.idx { 2, 2, 4 } }], A[{ damo.idx { 1, 3 }, { 2, 3 } }],
  A[{ { 1, 2 }, damo.idx { 4, 1 } }] }, { values { 3, 4 } })
exact("lists", { A, i, j }, { A[{ i, j }], damo.grad(squares(A[{ i, j }]), A), A[{ i, 2 }] },
  { values { 3, 4 }, ints(1, -1, 2), ints(2, 2, -4) })
exact("lists_apart", { T, i, j }, { T[{ i, {}, j }], T[{ {}, i, j }] },
  { values { 3, 4, 5 }, ints(1, -1, 2), ints(2, 2, -4) })
exact("masks", { x, A }, { x[damo.array { true, false, true, true }], damo.set_subtensor(x[damo.gt(x, 0)], 0.5),
  damo.set_subtensor(A[damo.gt(A, 0)], 0.5),
  damo.inc_subtensor(A[{ {}, damo.array { true, false, true, true } }], 1.0) }, { values { 4 }, values { 3, 4 } })
exact("taken", { A, i }, { damo.take(A, i, { axis = 2 }),
  damo.take_along_axis(A, damo.argsort(A, { axis = 2 }), { axis = 2 }) }, { values { 3, 4 }, ints(2, 1, 4) })
exact("segments", { x, classes }, { damo.segment_sum(x, classes, { num_segments = 4 }),
  damo.segment_max(x, classes, { num_segments = 4 }),
  damo.grad(squares(damo.segment_sum(x, classes, { num_segments = 4 })), x) }, { values { 6 }, ints(1, 2, 2, 4, 1, 2) })
exact("segments_of_rows", { A, classes }, { damo.segment_prod(A, classes, { num_segments = 4 }),
  damo.segment_min(A, classes, { num_segments = 4 }) }, { values { 3, 2 }, ints(1, 2, 2) })
exact("scattered", { x, i, y }, { damo.scatter_max(x, i, y), damo.scatter_min(x, i, y), damo.scatter_add(x, i, y) },
  { values { 6 }, ints(1, 2, -1), values({ 3 }, 4) })
exact("matrices", { A, x }, { damo.tril(A), damo.triu(A), damo.diagonal(A), damo.diag(x), damo.trace(A),
  damo.eye(3) + A, damo.arange(3) * 2, damo.grad(squares(damo.diagonal(A)), A) }, { values { 3, 3 }, values { 3 } })
do -- nan and equal entries too, rising and falling
  local nan = 0 / 0
  local rising, points = damo.array { -1, 0, 0, 0.5, 1, nan }, damo.array { -2, -1, 0, 0.2, 1, 3, nan }
  exact("searched", { x, y, i, j }, { damo.searchsorted(x, y), damo.searchsorted(x, y, { side = "right" }),
    damo.searchsorted(i, j), damo.searchsorted(i, j, { side = "right" }) },
    { rising, points, ints(1, 2, 2, 5), ints(0, 1, 2, 3, 9) })
  exact("digitized", { x, y }, { damo.digitize(y, x), damo.digitize(y, x, { right = true }),
    damo.digitize(y, x[{ { -1, 1, -1 } }]), damo.digitize(damo.reshape(y, { 1, -1 }), -x) },
    { damo.array { -1, 0, 0, 1 }, points })
  exact("searched_in_nothing", { x, y }, { damo.searchsorted(x, y), damo.searchsorted(y, x) },
    { damo.zeros { 0 }, damo.array { 1, 2 } })
  exact("tabled", { x, y, K }, { damo.interp(K, x, y) }, { damo.array { -1, 0, 0.5, 2 }, values { 4 },
    values { 2, 3, 1, 2 } })
  local table_y = damo.interp(x, damo.array { -1, 0, 0.5, 1 }, y)
  exact("tabled_grad", { x, y }, damo.grad(squares(table_y), { x, y }), { values { 7 }, values { 4 } })
end
exact("polynomials", { x, A, i, j }, { damo.polyval(x, A), damo.polyval(x, A.T), damo.polyval(x[{ { -1, 1, -2 } }], x),
  damo.polyval(i, j), damo.polyval(damo.zeros { 0 }, x) },
  { values { 5 }, values { 3, 4 }, ints(3, -1, 4), ints(-7, 0, 3000000000) })
near("polynomial_grad", { x, y }, damo.grad(squares(damo.polyval(x, y)), { x, y }), { values { 4 }, values { 6 } })
do -- selection; equal entries and nan too
  local some = damo.array { 2, -1, 0 / 0, 2, 0, 5, -1, 0 / 0 }
  exact("selected", { x, A, i }, { damo.topk(x, 3), damo.argtopk(x, 8), damo.argtopk(x, -5),
    damo.argtopk(A, 2, { axis = 1 }), damo.topk(i, -2), damo.grad(squares(damo.topk(A, 2)), A) },
    { some, values { 4, 3 }, ints(3, 1, 3, 2) })
  exact("partitioned", { x }, { damo.partition(x, 3)[3], damo.partition(x, { 2, -1 })[{ { 8 } }],
    damo.sort(damo.partition(x, 4)[{ { 1, 4 } }]) }, { damo.array { 5, 3, 3, 1, 9, -2, 4, 0 } })
  exact("sorted_by_keys", { x, y, i }, { damo.lexsort({ x, y }), damo.lexsort({ i, y, x }) },
    { damo.array { 1, 0, 1, 0 }, damo.array { 2, 2, 1, 1 }, ints(4, 3, 2, 1) })
  exact("counted", { x, A }, { damo.histogram(x, { bins = 4 }),
    damo.histogram(x, { bins = 3, range = { -1, 2 } }), damo.histogram(A, { bins = 2 }) },
    { values { 20 }, values { 3, 4 } })
end
for _, way in ipairs { "full", "same", "valid" } do
  local z = damo.convolve(x, y, { mode = way })
  exact("convolved_" .. way, { x, y, i }, { z, damo.correlate(y, x, { mode = way }),
    damo.convolve(i, i, { mode = way }), damo.grad(squares(z), x), damo.grad(squares(z), y) },
    { values { 9 }, values({ 4 }, 2), ints(3, -2, 5) })
end
do -- tables over grids of one to four axes, even and not
  local even, other = damo.array { 0, 0.5, 1, 1.5, 2 }, damo.array { -1, 0.25, 1, 4 }
  local p, q = damo.dvector "p", damo.dvector "q"
  local line, plane, space, rows = damo.dvector "line", damo.dmatrix "plane", damo.tensor4 "space", damo.tensor3 "rows"
  for _, method in ipairs { "nearest", "linear", "cubic", "pchip" } do
    for _, way in ipairs { "clip", "extrapolate", "fill" } do
      local o, name = { method = method, outside = way == "fill" and -7 or way }, method .. "_" .. way
      local of_line = damo.interpn({ p }, line, damo.reshape(x, { -1, 1 }), o)
      local of_plane = damo.interpn({ p, q }, plane, A, o)
      local outputs = { of_line, of_plane, damo.interpn({ p, q }, rows, A, o) }
      for _, g in ipairs(damo.grad(squares(of_line), { line, x })) do outputs[#outputs + 1] = g end
      for _, g in ipairs(damo.grad(squares(of_plane), { plane, A })) do outputs[#outputs + 1] = g end
      exact("grid_" .. name, { p, q, line, plane, rows, x, A }, outputs, { even, other, values { 5 }, values { 5, 4 },
        values { 5, 4, 3 }, damo.array { -0.3, 0, 0.7, 1.5, 2, 2.5, 0 / 0 }, values({ 6, 2 }, 5) })
    end
  end
  local z = damo.interpn({ p, q, p, q }, space, A, { outside = "clip" })
  exact("grid_of_four", { p, q, space, A }, { z, damo.grad(squares(z), space) },
    { even, other, values { 5, 4, 5, 4 }, values({ 3, 4 }, 2) })
end
local part = damo.sigmoid(x)
near("specials", { x }, { damo.xlogy(x, part), damo.xlog1py(damo.floor(x), part), damo.entr(x), damo.logit(part),
  damo.ndtr(x * 9), damo.grad(damo.sum(damo.xlogy(part, part) + damo.ndtr(x) + damo.logit(part)), x) },
  { values { 60 } })
near("special_ends", { x }, { damo.xlogy(x, damo.abs(x)), damo.entr(x), damo.ndtr(x), damo.logit(x) },
  { damo.array { 0, -0.0, 1, -1, 1 / 0, -1 / 0, 0 / 0 } })
near("single_specials", { damo.fvector "f" }, {}, { damo.cast(values { 9 }, "float32") })
do
  local m = models[#models]
  m[3] = { damo.ndtr(m[2][1]), damo.xlogy(m[2][1], damo.abs(m[2][1])) }
end
local whole, bools = damo.ivector "whole", damo.vector("bools", { dtype = "uint8" })
exact("bits", { i, whole, bools }, { damo.invert(i), damo.invert(whole), damo.invert(bools), damo.argmax(i),
  damo.argmin(whole), damo.sum(i), damo.prod(whole),
  damo.sum(damo.cast(damo.isnan(damo.cast(i, "float64")), "int64")) },
  { ints(3, -1, 0), damo.array({ -2147483648, 2147483647, 0 }, "int32"), damo.array({ 0, 1, 255 }, "uint8") })
exact("zeros_of_both_signs", { x }, { damo.signbit(x), 1 / x, damo.copysign(2, x) },
  { damo.array { 0, -0.0, 0 / 0, -1 } })
local filtered = damo.nn.conv2d(X, K, { subsample = 2, border_mode = "half" })
near("filtered", { X, K }, { filtered, damo.grad(squares(filtered), X), damo.grad(squares(filtered), K) },
  { values { 2, 3, 7, 6 }, values { 4, 3, 3, 3 } })
local grouped = damo.nn.conv2d(X, K, { num_groups = 2, filter_dilation = 2, border_mode = "full", filter_flip = false })
near("grouped", { X, K }, { grouped, damo.grad(squares(grouped), X), damo.grad(squares(grouped), K) },
  { values { 2, 4, 6, 5 }, values { 2, 2, 3, 2 } })
local most = damo.nn.max_pool2d(X, { size = 2 })
local mean = damo.nn.avg_pool2d(X, { size = 3, stride = 2, pad = 1 })
near("pooled", { X }, { most, mean, damo.grad(squares(most), X), damo.grad(squares(mean), X) },
  { values { 2, 3, 6, 6 } })
local edge = damo.nn.avg_pool2d(X, { size = 3, stride = 2, pad = 1, count_include_pad = false })
near("pooled_edge", { X }, { edge, damo.grad(squares(edge), X), damo.Rop(most, X, X * 2) }, { values { 1, 2, 5, 6 } })

do -- a known sparse matrix by dense operands
  local sparse = damo.sparse
  local entries = damo.array { { 1.5, 0, 2, 0 }, { 0, 0, 0, 0 }, { 0, 3, 0, -1 }, { 4, 0, 0.5, 0 }, { 0, 0, 7, 0 } }
  for _, made in ipairs { "csr", "csc" } do
    local S = damo.constant(sparse[made .. "_from_dense"](entries))
    local z = sparse.dot(S, x)
    near("sparse_vector_" .. made, { x, y }, { z, damo.grad(squares(damo.sin(z)), x), sparse.dot(y, S) },
      { values { 4 }, values { 5 } })
    near("sparse_matrix_" .. made, { A, B }, { sparse.dot(S, A), damo.grad(squares(sparse.dot(S, A)), A),
      sparse.dot(B, S) }, { values { 4, 3 }, values { 2, 5 } })
  end
end
do -- complex numbers
  local z, w = damo.complex(x, y), damo.complex(damo.cos(y), x + 0.3)
  local Z, fft = damo.zvector "Z", damo.fft
  local p, q = values { 6 }, values({ 6 }, 3)
  exact("complex_arithmetic", { x, y }, { z + w, z - w, z * w, z / w, -z, damo.conj(z), damo.real(z * w),
    damo.imag(z / w), damo.sqr(z), damo.reciprocal(z), damo.eq(z, w), z + 1, 2 * w, damo.isnan(z), damo.isfinite(z),
    damo.cast(damo.gt(x, 0), "complex128"), damo.switch(damo.gt(x, 0), z, w) }, { p, q })
  near("complex_functions", { x, y }, { damo.abs(z), damo.angle(z), damo.exp(z), damo.log(z), damo.sqrt(z), damo.sin(z),
    damo.cos(z), damo.tanh(z), damo.arctan(z), damo.expm1(z), damo.log1p(z), z ^ 3, z ^ w, damo.sign(z) }, { p, q })
  near("complex_sums", { x, y }, { damo.sum(z), damo.prod(z), damo.sum(damo.reshape(z, { 2, 3 }) * 2, { axis = 1 }),
    damo.grad(damo.sum(damo.abs(z * w)), x) }, { p, q })
  exact("complex_shapes", { Z }, { damo.reshape(Z, { 2, 3 }), damo.transpose(damo.reshape(Z, { 2, 3 })),
    Z[{ { 2, 4 } }], damo.concatenate { Z, Z }, Z + damo.complex(1, 2), damo.constant(damo.complex(0.5, -2)) * Z,
    damo.take(Z, { 3, 1, -1 }), damo.take(Z, { 3, 1, -1 }) * 2 },
    { damo.complex(p, q) })
  for _, n in ipairs { 1, 2, 5, 8, 12, 30, 35, 64 } do
    local c, half = damo.complex(A, B), fft.rfft(A, { axis = 2, n = 4 })[{ {}, { 1, 3 } }]
    near("transforms_" .. n, { A, B }, { fft.fft(c, { axis = 1 }), fft.ifft(c, { axis = 1 }), fft.rfft(A, { axis = 1 }),
      fft.irfft(fft.rfft(A, { axis = 1 }), { n = n, axis = 1 }), fft.hfft(c, { axis = 1, n = n }),
      fft.fft(c, { axis = 1, n = n + 3, norm = "ortho" }), fft.fft2(c), fft.irfft(c, { axis = 1, n = n }),
      damo.grad(squares(fft.irfft(damo.exp(damo.real(c)) * half, { axis = 2, n = 4 })), A),
      damo.grad(damo.sum(damo.abs(fft.rfft(A, { axis = 1 }))), A),
      damo.grad(damo.sum(damo.abs(fft.fft(c, { axis = 1 })) * A), B), fft.dct(A, { axis = 1 }) },
      { values { n, 3 }, values({ n, 3 }, 2) })
  end
  near("transforms_single", { x, Z }, { fft.rfft(x), fft.fft(Z), damo.abs(Z), Z * Z },
    { p, damo.complex(p, q) }).dtype = "float32"
end
do -- draws: the streams lie in the state
  local g = damo.random.RandomStream(7)
  exact("draws", {}, { g:normal { size = { 5 } }, g:uniform { size = { 2, 3 } }, g:integers(1, 6, { size = { 7 } }),
    g:bernoulli(0.3, { size = { 9 } }), g:exponential(2, { size = { 4 } }), g:gumbel(0, 1, { size = { 4 } }) }, {})
  models[#models].calls = 3
  exact("more_draws", { x }, { g:lognormal(x, 0.5), g:halfnormal(0, 2, { size = { 3 } }), g:laplace(x, 1),
    g:logistic(0, 1, { size = { 3 } }), g:weibull(2, 1, { size = { 3 } }), g:pareto(3, 1, { size = { 3 } }),
    g:rayleigh(2, { size = { 3 } }), damo.grad(squares(g:normal(x, 2)), x) }, { values { 4 } })
  models[#models].calls = 2
  local q = damo.abs(x) + 0.1
  exact("gamma_draws", { x }, { g:gamma(q, 2), g:gamma(0.3, 1, { size = { 20 } }), g:gamma(7, 1, { size = { 20 } }),
    g:invgamma(q, 2), g:chisquare(q), g:gengamma(q, 0.7, 2), g:beta(q, 0.4), g:f(q, 3), g:t(q, 1, 2) },
    { values { 4 } })
  models[#models].calls = 2
  near("gamma_draws_grad", { x }, { damo.grad(squares(g:gamma(q, 2)), x) }, { values { 4 } })
  exact("rejected_draws", { x }, { g:wald(q, 2), g:vonmises(x, 2, { size = { 3, 4 } }), g:vonmises(x, 1e7),
    g:truncated_normal(x, 1, -0.5, 2), g:truncated_normal(0, 1, 4, 5, { size = { 9 } }), g:cauchy(x, 2),
    g:halfcauchy(x, 2), g:triangular(-1, 0.5, 2, { size = { 9 } }), g:truncexpon(2, 1, 2, { size = { 9 } }),
    g:truncated_normal(0, 1, -8, -4, { size = { 9 }, dtype = "float32" }) }, { values { 4 } })
  models[#models].calls = 2
  exact("counts", { x }, { g:poisson(q), g:poisson(50 * q, { size = { 5, 4 } }), g:binomial(9, q / 9),
    g:binomial(400, 0.3, { size = { 9 } }), g:nbinom(q, 0.4), g:betabinom(12, q, 2), g:zipf(1.5, { size = { 9 } }),
    g:hypergeometric(20, 30, 12, { size = { 9 } }), g:hypergeometric(2 ^ 31, 2 ^ 31, 2 ^ 20, { size = { 3 } }),
    g:geometric(0.2, { size = { 9 } }) }, { values { 4 } })
  models[#models].calls = 2
  near("noisy_loop", { x }, { damo.scan(function(v, h) return damo.tanh(h + v * g:normal()) end,
    { sequences = x, outputs_info = damo.constant(0.0) }) }, { values { 6 } }).calls = 3
end

describe("export_c of Ops", function()
  teardown(function() os.execute("rm -rf " .. dir) end)

  for _, compiler in ipairs(exported.compilers) do
    it("gives the virtual machine's results, by " .. compiler, function()
      assert.same({}, exported.run(models, dir, compiler))
    end)
  end

  it("fails where a position that is computed lies outside of its axis", function()
    local cases = {
      { "outside_list", { A, i }, { A[{ i, 2 }] }, { values { 3, 4 }, ints(1, 4) } },
      { "outside_zero", { A, i }, { A[{ i, 2 }] }, { values { 3, 4 }, ints(0, 3) } },
      { "outside_below", { A, i }, { A[{ i, 2 }] }, { values { 3, 4 }, ints(1, -4) } },
      { "outside_class", { classes }, { damo.one_hot(classes, 3) }, { ints(1, 4) } },
      { "outside_segment", { x, i }, { damo.segment_sum(x, i, { num_segments = 2 }) }, { values { 2 }, ints(1, 3) } },
      { "neither_rises_nor_falls", { x, y }, { damo.digitize(y, x) }, { damo.array { 1, 3, 2 }, values { 2 } } },
      { "outside_table", { x, y }, { damo.interpn({ damo.array { 0, 1 } }, x, y) },
        { values { 2 }, damo.array { 0.5, 2 } } },
      { "no_finite_range", { x }, { damo.histogram(x) }, { damo.array { 1, 0 / 0 } } },
      { "outside_scatter", { x, i, y }, { damo.scatter_max(x, i, y) }, { values { 6 }, ints(1, 7), values { 2 } } },
    }
    for _, m in ipairs(cases) do
      m.fails = true
      assert.same({}, exported.run({ m }, dir, exported.compilers[1]))
    end
  end)

  it("refuses results whose shapes depend on values", function()
    local f = damo.compile({ x }, x[damo.gt(x, 0)])
    local ok, err = pcall(f.export_c, f, { name = "chosen", dir = dir, shapes = { { 3 } } })
    assert.is_false(ok)
    assert.truthy(tostring(err):find("a mask that is computed", 1, true), tostring(err))
    f = damo.compile({ classes }, damo.bincount(classes))
    ok, err = pcall(f.export_c, f, { name = "chosen", dir = dir, shapes = { { 3 } } })
    assert.is_false(ok)
    assert.truthy(tostring(err):find("SegmentLength", 1, true), tostring(err))
    assert.is_nil(io.open(dir .. "/chosen.c"))
  end)

  it("refuses lengths that a call would refuse", function()
    for _, lengths in ipairs { { 2, x.size }, { x.size - 30, 3 } } do
      local f = damo.compile({ x }, damo.alloc(damo.constant { 1, 2, 3 }, lengths), { on_unused_input = "ignore" })
      local ok, err = pcall(f.export_c, f, { name = "lengths", dir = dir, shapes = { { 20 } } })
      assert.is_false(ok)
      assert.truthy(tostring(err):find("Alloc", 1, true), tostring(err))
    end
    assert.is_nil(io.open(dir .. "/lengths.c"))
  end)
end)

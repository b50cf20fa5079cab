-- Decompositions and systems of complex matrices in an exported file, with their gradients, pivoted QR, banded Cholesky
-- factors, and products of integers and booleans.
local damo = require "damo"
local exported = require "spec.support.exported"
local h = assert(loadfile "spec/linalg/harness.lua")(describe, it)

local dir = os.tmpname()
os.remove(dir)
os.execute("mkdir " .. dir)

local la = damo.linalg
local Z, W = damo.zmatrix "Z", damo.zmatrix "W"
local z, A, F, C = damo.zvector "z", damo.dmatrix "A", damo.fmatrix "F", damo.cmatrix "C"
local S = damo.tensor { dtype = "complex128", ndim = 3, name = "S" }
local regular, random = h.regular, h.random
local unpack = table.unpack or unpack -- luacheck: ignore

local models = {}
local function model(name, inputs, outputs, args, options)
  local m = { "lz_" .. name, inputs, outputs, args }
  for k, v in pairs(options or {}) do m[k] = v end
  models[#models + 1] = m
end
local function squares(...)
  local sum = 0
  for _, v in ipairs { ... } do sum = sum + damo.sum(damo.sqr(damo.abs(v))) end
  return sum
end
-- Outputs and the gradients of the sum of their squares.
local function slope(name, inputs, outputs, args, options)
  local all = { unpack(outputs) }
  for _, g in ipairs(damo.grad(squares(unpack(outputs)), inputs)) do all[#all + 1] = g end
  model(name, inputs, all, args, options)
end
local function adjoint(x) return damo.conj(h.transposed(x)) end
local function single(x) return damo.cast(x, tostring(x.dtype) == "complex128" and "complex64" or "float32") end
local function of(re, seed) return h.complex(re, seed) end
-- Hermitian positive definite.
local function gram(n, seed)
  local a = of(random({ n, n }, seed), seed + 1)
  return damo.matmul(a, adjoint(a)) + 2 * damo.eye(n)
end
local loose = { bound = 1e-11 }

-- ---- Triangular factors and systems -------------------------------------------------------------------------------

local square, right = of(regular({ 5, 5 }, 1), 2), of(random({ 5 }, 3), 4)
local rights = of(random({ 5, 2 }, 5), 6)
slope("cholesky", { Z }, { la.cholesky(Z), la.cholesky(Z, { lower = false }) }, { gram(5, 7) }, loose)
slope("cho_solve", { Z, z }, { la.cho_solve(la.cholesky(Z), z) }, { gram(5, 8), right })
do
  local lu, pivots = la.lu_factor(Z)
  slope("lu_solve", { Z, z }, { la.lu_solve(lu, pivots, z), la.lu_solve(lu, pivots, z, { trans = 1 }),
    la.lu_solve(lu, pivots, z, { trans = 2 }) }, { square, right })
  model("lu_factor", { Z }, { lu, pivots }, { square[{ { -1, 1, -1 } }]:copy() })
  local p, l, u = la.lu(Z)
  model("lu_wide", { Z }, { p, l, u }, { of(random({ 3, 5 }, 9), 10) })
  slope("lu_tall", { Z }, { l, u }, { of(random({ 6, 4 }, 11), 12) }, loose)
end
for _, word in ipairs { "gen", "sym", "her", "pos", "diagonal", "tridiagonal", "banded" } do
  local a = word == "pos" and gram(5, 13) or square
  for _, trans in ipairs { "N", "T", "C" } do
    slope("solve_" .. word .. "_" .. trans, { Z, z, W }, { la.solve(Z, z, { assume_a = word, trans = trans }),
      la.solve(Z, W, { assume_a = word, lower = true, trans = trans }) }, { a, right, rights }, loose)
  end
end
for _, trans in ipairs { "N", "T", "C" } do
  slope("triangular_" .. trans, { Z, W }, { la.solve_triangular(Z, W, { trans = trans, lower = true }),
    la.solve_triangular(Z, W, { trans = trans }) }, { square, rights })
  slope("banded_" .. trans, { Z, z, W }, { la.solve_banded(Z, z, { l = 1, u = 2, trans = trans }),
    la.solve_banded(Z, W, { l = 1, u = 2, trans = trans }) },
    { of(random({ 4, 6 }, 14) + 2.5, 15), of(random({ 6 }, 16), 17), of(random({ 6, 2 }, 18), 19) })
end
slope("circulant", { z, W }, { la.solve_circulant(z, W[{ {}, 1 }]) }, { right + 4, rights })
model("systems_single", { C }, { la.solve(C, C[{ 1 }], { assume_a = "her" }), la.cholesky(C),
  la.solve_banded(C, C[{ 1 }], { l = 2, u = 2 }) }, { single(gram(5, 20)) }, { bound = 2e-6 })
do
  local o = { on_fail = "nan" }
  local hole = damo.array { { { 1, 0 }, { 0, 2 } }, { { 0, 0 }, { 0, 1 } } }
  local nan = {}
  for k, word in ipairs { "gen", "sym", "her", "pos", "diagonal", "tridiagonal", "banded" } do
    nan[k] = la.solve(S, S, { assume_a = word, on_fail = "nan" })
  end
  nan[#nan + 1] = la.solve_banded(S[{ {}, { 1, 1 } }], S[{ {}, { 1, 2 }, 1 }], { l = 0, u = 0, on_fail = "nan" })
  nan[#nan + 1] = la.solve_triangular(S, S, o)
  model("systems_nan", { S }, nan, { damo.complex(hole, 0 * hole) })
end
slope("triangles", { Z }, { damo.tril(Z), damo.triu(Z, 1), damo.diagonal(Z), damo.diag(Z[{ 1 }]) }, { square })
slope("positions", { z }, { z[damo.array({ 2, 2, 5 }, "int64")] }, { right })

-- ---- QR -----------------------------------------------------------------------------------------------------------

for name, shape in pairs { tall = { 6, 4 }, wide = { 3, 5 }, square = { 5, 5 }, row = { 1, 3 }, column = { 3, 1 },
  empty = { 0, 3 } } do
  local a = shape[1] == 0 and damo.zeros(shape) or random(shape, 21)
  local numbers = shape[1] == 0 and damo.complex(a, a) or of(a, 22)
  for _, mode in ipairs { "full", "economic", "r" } do
    for word, o in pairs { plain = { mode = mode }, pivoting = { mode = mode, pivoting = true } } do
      local label = ("qr_%s_%s_%s"):format(name, mode, word)
      local real, complex = { la.qr(A, o) }, { la.qr(Z, o) }
      model(label .. "_real", { A }, real, { a })
      model(label, { Z }, complex, { numbers })
      if mode == "economic" and name ~= "empty" and name ~= "row" and name ~= "wide" then
        slope(label .. "_slope_real", { A }, { real[1], real[2] }, { a }, loose)
        slope(label .. "_slope", { Z }, { complex[1], complex[2] }, { numbers }, loose)
      end
    end
  end
end
model("qr_stack", { S }, { la.qr(S, { pivoting = true }) }, { of(random({ 3, 4, 4 }, 23), 24) })
do -- columns that depend on others, and lengths that must be computed anew
  local base = random({ 6, 3 }, 25)
  local near = damo.concatenate({ base, base:dot(random({ 3, 2 }, 26)) + 1e-9 * random({ 6, 2 }, 27) }, { axis = 2 })
  local zeros = damo.array { { 1, 0, 0 }, { 0, 0, 2 }, { 0, 0, 0 } }
  model("qr_near", { A }, { la.qr(A, { pivoting = true, mode = "r" }) }, { near }, loose)
  model("qr_near_complex", { Z }, { la.qr(Z, { pivoting = true, mode = "r" }) }, { of(near, 28) }, loose)
  model("qr_zeros", { A }, { la.qr(A, { pivoting = true }) }, { zeros })
  model("qr_zeros_complex", { Z }, { la.qr(Z, { pivoting = true }) }, { damo.complex(zeros, -zeros) })
  model("qr_mixed", { A, Z }, { la.qr(A, { pivoting = true }), la.qr(Z, { pivoting = true }) },
    { random({ 4, 4 }, 25), of(random({ 4, 4 }, 26), 27) })
end
model("qr_single", { F }, { la.qr(F, { pivoting = true }) }, { single(random({ 6, 4 }, 29)) })
model("qr_single_complex", { C }, { la.qr(C, { pivoting = true }) }, { single(of(random({ 6, 4 }, 29), 30)) },
  { bound = 2e-6 })

-- ---- Spectra: phases of vectors are free ----------------------------------------------------------------------------

local function of_vectors(w, v) return damo.matmul(v * damo.exp(w / 4), adjoint(v)) end
do
  local w, v = la.eigh(Z)
  slope("eigh", { Z }, { w, of_vectors(w, v) }, { gram(6, 40) }, loose)
  slope("eigvalsh", { Z }, { la.eigvalsh(Z), la.eigvalsh(Z, { lower = false }) },
    { of(random({ 6, 6 }, 41), 42) }, loose)
  model("eigvalsh_stack", { S }, { la.eigvalsh(S, { on_fail = "nan" }) },
    { damo.complex(damo.array { { { 1, 2 }, { 2, 1 } }, { { 0 / 0, 2 }, { 2, 1 } } }, damo.zeros { 2, 2, 2 }) })
  model("eigh_equal", { Z }, { of_vectors(la.eigh(Z)) }, { damo.complex(2 * damo.eye(3), 0 * damo.eye(3)) })
  for name, shape in pairs { tall = { 6, 4 }, wide = { 4, 6 }, square = { 5, 5 } } do
    local a = of(random(shape, 43), 44)
    local u, values, vh = la.svd(Z, { full_matrices = false })
    slope("svd_" .. name, { Z }, { la.svdvals(Z), values, damo.matmul(u * damo.sqr(values), vh) }, { a }, loose)
    slope("pinv_" .. name, { Z }, { la.pinv(Z) }, { a }, { bound = 1e-10 })
    slope("lstsq_" .. name, { Z, z, W }, { (la.lstsq(Z, z)), (la.lstsq(Z, W)) },
      { a, of(random({ shape[1] }, 46), 47), of(random({ shape[1], 2 }, 48), 49) }, { bound = 1e-10 })
    u, values, vh = la.svd(Z, { full_matrices = true })
    local near = { { 1, math.min(shape[1], shape[2]) } }
    model("svd_full_" .. name, { Z }, { values, damo.matmul(adjoint(u), u), damo.matmul(vh, adjoint(vh)),
      damo.matmul(u[{ {}, near[1] }] * values, vh[near]) }, { a }, loose)
  end
  local u, values, vh = la.svd(Z, { full_matrices = false })
  local low = damo.array { { 1, 2, 0 }, { 2, 4, 0 }, { 0, 0, 0 }, { 1, 2, 0 } }
  model("svd_singular", { Z }, { damo.matmul(adjoint(u), u), damo.matmul(vh, adjoint(vh)), damo.matmul(u * values, vh),
    la.pinv(Z) }, { damo.complex(low, 2 * low) }, loose)
  model("spectra_single", { C }, { la.eigvalsh(C), la.svdvals(C), la.pinv(C) }, { single(gram(4, 50)) },
    { bound = 2e-5 })
end
-- Entries whose squares vanish or overflow.
for name, f in pairs { small = 1e-170, tiny = 1e-300, large = 1e160, huge = 1e300 } do
  local w, v = la.eigh(Z)
  model("scale_hermitian_" .. name, { Z }, { w / f, la.eigvalsh(Z) / f, damo.matmul(v * (w / f), adjoint(v)) },
    { f * gram(5, 120) }, loose)
  for shape, a in pairs { tall = of(random({ 5, 3 }, 121), 122), wide = of(random({ 3, 5 }, 123), 124) } do
    local u, values, vh = la.svd(Z, { full_matrices = false })
    model("scale_svd_" .. shape .. "_" .. name, { Z, z }, { la.svdvals(Z) / f, values / f, damo.matmul(adjoint(u), u),
      damo.matmul(vh, adjoint(vh)), damo.matmul(u * (values / f), vh), la.pinv(Z) * f, (la.lstsq(Z, z)) * f,
      (la.lstsq(Z, f * z)) }, { f * a, of(random({ shape == "tall" and 5 or 3 }, 125), 126) }, loose)
  end
end
do
  local u, values, vh = la.svd(Z, { full_matrices = false })
  model("svd_large", { Z }, { values, damo.matmul(adjoint(u), u), damo.matmul(u * values, vh) },
    { of(random({ 30, 30 }, 127), 128) }, loose)
  local far = damo.array { { 1, 1e-200 }, { 2, 3e-200 }, { -1, 2e-200 } }
  model("far_columns", { Z }, { values, damo.matmul(adjoint(u), u), damo.matmul(vh, adjoint(vh)) }, { of(far, 129) },
    loose)
end
for k, n in ipairs { 0, 1, 2, 3, 6 } do
  local hess, q = la.hessenberg(Z, { calc_q = true })
  local a = n == 0 and damo.zeros { 0, 0 } or random({ n, n }, 76 + k)
  model("hessenberg_" .. n, { Z }, { hess, q }, { n == 0 and damo.complex(a, a) or of(a, 77) }, loose)
end

-- ---- Functions of matrices, and equations ---------------------------------------------------------------------------

for name, a in pairs { gram = gram(5, 56), near = of(damo.eye(4) + 0.1 * random({ 4, 4 }, 57), 58),
  cut = damo.complex(-h.positive({ 3, 3 }, 59), damo.zeros { 3, 3 }),
  upper = damo.triu(of(regular({ 4, 4 }, 60), 61)) } do
  slope("roots_" .. name, { Z }, { la.sqrtm(Z), la.logm(Z) }, { a }, { bound = 1e-10 })
end
slope("sylvester", { Z, W, S }, { la.solve_sylvester(Z, W, S[1]) },
  { of(h.positive({ 4, 4 }, 60), 61), of(h.positive({ 3, 3 }, 62), 63), of(random({ 1, 4, 3 }, 64), 65) },
  { bound = 1e-10 })
slope("lyapunov", { Z, W }, { la.solve_continuous_lyapunov(Z, W), la.solve_discrete_lyapunov(Z, W) },
  { of(random({ 4, 4 }, 66), 67) * 0.4, of(random({ 4, 4 }, 68), 69) }, { bound = 1e-10 })
slope("expm", { Z, W }, { la.expm(Z), la.expm(10 * W) }, { of(random({ 4, 4 }, 80), 81), of(random({ 3, 3 }, 82), 83) },
  { bound = 1e-10 })
slope("cosm", { A }, { la.cosm(A), la.sinm(A), la.tanm(A) }, { random({ 3, 3 }, 84) / 2 }, { bound = 1e-10 })
model("expm_single", { C }, { la.expm(C) }, { single(of(random({ 4, 4 }, 85), 86)) }, { bound = 2e-6 })
model("expm_nan", { Z }, { la.expm(Z, { on_fail = "nan" }) }, { damo.complex(1e5 * damo.eye(2), damo.eye(2)) })
do -- determinants, of matrices of every rank
  local row = of(damo.array { { 1, 2, 3 } }, 87)
  for name, a in pairs { regular = of(regular({ 3, 3 }, 88), 89), rank_one = damo.matmul(adjoint(row), row),
    zero = damo.complex(damo.zeros { 3, 3 }, damo.zeros { 3, 3 }) } do
    slope("det_" .. name, { Z }, { la.det(Z) }, { a })
  end
  model("slogdet", { Z }, { la.slogdet(Z) }, { of(regular({ 4, 4 }, 90), 91) })
end
local r, D = damo.dvector "r", damo.dmatrix "D"
for word, lower in pairs { lower = true, upper = false } do -- with a dominant main diagonal, which is real
  local o = { lower = lower, bands = 3 }
  local main = damo.reshape(damo.array(lower and { 6, 0, 0 } or { 0, 0, 6 }), { 3, 1 })
  local band, side = random({ 3, 6 }, 92) + main, random({ 6 }, 93)
  local numbers = damo.complex(band, random({ 3, 6 }, 94) * (6 - main))
  slope("band_" .. word .. "_real", { A, r }, { la.solveh_banded(A, r, o) }, { band, side }, loose)
  slope("band_" .. word, { Z, z }, { la.solveh_banded(Z, z, o) }, { numbers / 6 + main, of(side, 95) }, loose)
  slope("band_factor_" .. word, { Z }, { la.cholesky_banded(Z, { lower = lower }) }, { numbers / 6 + main }, loose)
  local moved = damo.Rop(la.cholesky_banded(A, { lower = lower }), A, D)
  model("band_tangent_" .. word, { A, D }, { moved }, { band, random({ 3, 6 }, 96) })
  for _, at in ipairs { { 1, 4 }, { 3, 4 }, { 2, 3 } } do -- nan is no failure
    local holed = band:totable()
    holed[at[1]][at[2]] = 0 / 0
    model("band_of_nan_" .. word .. at[1], { A }, { la.cholesky_banded(A, { lower = lower }) }, { damo.array(holed) })
  end
  model("cholesky_of_nan_" .. word, { Z }, { la.cholesky(Z, { lower = lower }) },
    { damo.complex(damo.array { { 4, 0 / 0, 0 }, { 0 / 0, 4, 1 }, { 0, 1, 4 } }, damo.zeros { 3, 3 }) })
  model("band_nan_" .. word, { A }, { la.cholesky_banded(A, { lower = lower, on_fail = "nan" }) }, { band - 2 * main })
end
do -- Levinson's recursion, and LU where a leading minor is 0
  local t = damo.zvector "t"
  local first, row = of(damo.array { 4, 1, 0.5, 0.25, -1 }, 97), of(random({ 5 }, 98), 99)
  slope("toeplitz", { z, t, W }, { la.solve_toeplitz(z, W, t), la.solve_toeplitz(z, t) },
    { first, row, of(random({ 5, 2 }, 100), 101) }, loose)
  local zero = damo.complex(damo.array { 0, 1, 2 }, damo.array { 0, 1, 0 })
  model("toeplitz_by_lu", { z, t }, { la.solve_toeplitz(z, t, t) }, { zero, of(damo.array { 1, 3, 1 }, 102) })
  model("toeplitz_nan", { z, t }, { la.solve_toeplitz(z, t, z, { on_fail = "nan" }) },
    { damo.complex(damo.array { 1, 1 }, damo.array { 0, 0 }), of(damo.array { 3, 4 }, 103) })
end

-- ---- Products of integers and booleans ------------------------------------------------------------------------------

for _, dtype in ipairs { "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool" } do
  local X, Y = damo.tensor { dtype = dtype, ndim = 2 }, damo.tensor { dtype = dtype, ndim = 2 }
  local T = damo.tensor { dtype = dtype, ndim = 3 }
  local scale = dtype == "bool" and 1 or 100
  local function whole(shape, seed) return damo.cast(damo.floor(scale * damo.abs(random(shape, seed)) + 0.5), dtype) end
  model("whole_" .. dtype, { X, Y, T }, { damo.dot(X, Y), damo.dot(X[{ 1 }], Y), damo.dot(X, Y[{ {}, 1 }]),
    damo.matmul(T, Y), damo.tensordot(T, Y, { axes = 1 }), damo.dot(X[{ 1 }], Y[{ {}, 2 }]) },
    { whole({ 3, 4 }, 110), whole({ 4, 2 }, 111), whole({ 2, 3, 4 }, 112) }, { exact = true })
end

describe("export_c of complex linear algebra", function()
  teardown(function() os.execute("rm -rf " .. dir) end)

  for _, compiler in ipairs(exported.compilers) do
    it("gives the virtual machine's results, by " .. compiler, function()
      assert.same({}, exported.run(models, dir, compiler))
    end)
  end
end)

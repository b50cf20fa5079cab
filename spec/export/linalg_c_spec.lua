-- Systems of equations and factorizations in an exported file, with their gradients.
local damo = require "damo"
local exported = require "spec.support.exported"
local h = assert(loadfile "spec/linalg/harness.lua")(describe, it)

local dir = os.tmpname()
os.remove(dir)
os.execute("mkdir " .. dir)

local la = damo.linalg
local A, B, x = damo.dmatrix "A", damo.dmatrix "B", damo.dvector "x"
local R = damo.dvector "R"
local S, T = damo.tensor3 "S", damo.tensor3 "T"
local F, F64 = damo.fmatrix "F", damo.dmatrix "F64"
local unpack = table.unpack or unpack -- luacheck: ignore
local function squares(...)
  local sum = 0
  for _, v in ipairs { ... } do sum = sum + damo.sum(damo.sqr(v)) end
  return sum
end

local models = {}
local function model(name, inputs, outputs, args, options)
  local m = { name, inputs, outputs, args }
  for k, v in pairs(options or {}) do m[k] = v end
  models[#models + 1] = m
end
-- Outputs and the gradients of the sum of their squares.
local function slope(name, inputs, outputs, args, options)
  local all = { unpack(outputs) }
  for _, g in ipairs(damo.grad(squares(unpack(outputs)), inputs)) do all[#all + 1] = g end
  model(name, inputs, all, args, options)
end

local regular, positive, random = h.regular, h.positive, h.random
local rhs = random({ 5 }, 3)
slope("la_cholesky", { A }, { la.cholesky(A) }, { positive({ 5, 5 }, 1) })
slope("la_cholesky_upper", { A }, { la.cholesky(A, { lower = false }) }, { positive({ 5, 5 }, 2) })
slope("la_inv", { A }, { la.inv(A) }, { regular({ 5, 5 }, 3) })
slope("la_det", { A }, { la.det(A) }, { regular({ 4, 4 }, 4) })
slope("la_slogdet", { A }, { (select(2, la.slogdet(A))) }, { regular({ 4, 4 }, 5) })
model("la_signs", { A }, { la.slogdet(-A) }, { regular({ 3, 3 }, 6) })
model("la_det_of_many", { A }, { la.det(A), la.slogdet(A) }, { 1e30 * regular({ 12, 12 }, 7) })
for _, word in ipairs { "gen", "sym", "pos", "diagonal", "tridiagonal", "banded" } do
  local a = word == "pos" and positive({ 5, 5 }, 8) or regular({ 5, 5 }, 8)
  slope("la_solve_" .. word, { A, x, B }, { la.solve(A, x, { assume_a = word }), la.solve(A, B, { assume_a = word }) },
    { a, rhs, random({ 5, 2 }, 4) })
end
slope("la_solve_toeplitz", { x, R, B }, { la.solve_toeplitz(x, B, R), la.solve_toeplitz(x, R) },
  { damo.array { 4, 1, 0.5, 0.25, -1 }, rhs, random({ 5, 2 }, 4) })
do -- by Levinson's recursion; where a leading minor is 0 or near it, by LU
  local first = damo.array { 4, 1, 0.5, 0.25, -1, 2, 0, 1 }
  local right, many = random({ 8 }, 110), random({ 8, 3 }, 111)
  model("la_levinson", { x, R, B }, { la.solve_toeplitz(x, B, R), la.solve_toeplitz(x, R) }, { first, right, many })
  model("la_levinson_by_lu", { x, R, B }, { la.solve_toeplitz(x, B, R) },
    { damo.array { 0, 1, 2, -1 }, damo.array { 0, 3, 1, 1 }, random({ 4, 2 }, 112) })
  model("la_levinson_near", { x, R, B }, { la.solve_toeplitz(x, B, R) },
    { damo.array { 1e-9, 1, 2, -1 }, damo.array { 0, 3, 1, 1 }, random({ 4, 2 }, 112) })
  model("la_levinson_one", { x, R }, { la.solve_toeplitz(x, R) }, { damo.array { 4 }, damo.array { 3 } })
  local s_first, s_right = damo.fvector "s_first", damo.fvector "s_right"
  model("la_levinson_single", { s_first, s_right }, { la.solve_toeplitz(s_first, s_right) },
    { damo.cast(first, "float32"), damo.cast(right, "float32") })
  model("la_levinson_nan", { x, R }, { la.solve_toeplitz(x, R, { on_fail = "nan" }) },
    { damo.array { 1, 1 }, damo.array { 3, 4 } })
end
do -- pivots of both orders, swaps, singular matrices, equal pivots; either triangle
  local indefinite = damo.array { { 0, 1, 2, 3 }, { 1, 0, 4, 5 }, { 2, 4, 0, 6 }, { 3, 5, 6, 0 } }
  local cases = { indefinite = indefinite, positive = positive({ 5, 5 }, 113), singular = damo.ones { 4, 4 },
    zero = damo.zeros { 3, 3 }, one = damo.array { { -3 } }, pair = damo.array { { 0, 2 }, { 2, 0 } } }
  for k = 1, 4 do
    local r = random({ 7, 7 }, 113 + k)
    cases["random_" .. k] = r + r.T
  end
  for name, a in pairs(cases) do
    local outputs = {}
    for _, lower in ipairs { true, false } do
      local w, d, p = la.ldl(A, { lower = lower })
      for _, v in ipairs { w, d, p, damo.matmul(damo.matmul(w, d), w.T) } do outputs[#outputs + 1] = v end
    end
    model("la_ldl_" .. name, { A }, outputs, { a })
  end
  model("la_ldl_single", { F }, { la.ldl(F) }, { damo.cast(cases.random_1, "float32") })
end
slope("la_solve_turned", { A, x },
  { la.solve(A, x, { trans = "T" }), la.solve(A, x, { assume_a = "pos", lower = true }) },
  { positive({ 5, 5 }, 9), rhs })
for name, o in pairs { lower = { lower = true }, upper = {}, unit = { lower = true, unit_diagonal = true },
  turned = { lower = true, trans = "T" } } do
  slope("la_triangular_" .. name, { A, x, B }, { la.solve_triangular(A, x, o), la.solve_triangular(A, B, o) },
    { regular({ 5, 5 }, 10), rhs, random({ 5, 3 }, 11) })
end
do
  local lu, pivots = la.lu_factor(A)
  model("la_lu_factor", { A }, { lu, pivots }, { regular({ 5, 5 }, 12)[{ { -1, 1, -1 } }]:copy() })
  slope("la_lu_solve", { A, x }, { la.lu_solve(lu, pivots, x), la.lu_solve(lu, pivots, x, { trans = 1 }) },
    { regular({ 5, 5 }, 13), rhs })
  local p, l, u = la.lu(A)
  slope("la_lu_tall", { A }, { l, u }, { random({ 6, 4 }, 14) })
  model("la_lu_wide", { A }, { p, l, u }, { random({ 3, 5 }, 15) })
end
slope("la_cho_solve", { A, x }, { la.cho_solve(la.cholesky(A), x) }, { positive({ 5, 5 }, 16), rhs })
do
  local q, r = la.qr(A)
  model("la_qr", { A }, { q, r }, { random({ 6, 4 }, 17) })
  slope("la_qr_square", { A }, { q, r }, { regular({ 5, 5 }, 18) })
  q, r = la.qr(A, { mode = "economic" })
  slope("la_qr_economic", { A }, { q, r }, { random({ 6, 4 }, 19) })
  model("la_qr_wide", { A }, { q, r, (la.qr(A, { mode = "r" })) }, { random({ 3, 5 }, 20) })
end
for name, o in pairs { one = { 1, 1 }, left = { 2, 0 }, wide = { 1, 3 } } do
  slope("la_banded_" .. name, { A, x, B }, { la.solve_banded(A, x, { l = o[1], u = o[2] }),
    la.solve_banded(A, B, { l = o[1], u = o[2] }) },
    { random({ o[1] + o[2] + 1, 6 }, 21) + 2.5, random({ 6 }, 22), random({ 6, 2 }, 23) })
end
slope("la_stack", { S, T },
  { la.inv(S), la.det(S), la.cholesky(damo.matmul(S, S:transpose { 1, 3, 2 })), la.solve(S, T) },
  { regular({ 3, 4, 4 }, 24), random({ 3, 4, 2 }, 25) })
slope("la_broadcast", { A, T }, { la.solve(A, T, { b_ndim = 2 }) }, { regular({ 4, 4 }, 26), random({ 3, 4, 2 }, 27) })
do -- complex operands
  local z = damo.complex(A, B)
  model("la_complex", { A, B, x }, { la.solve(z, damo.complex(x, 2 * x)), la.solve(z, B * z, { trans = "C" }),
    damo.matmul(z, z), damo.dot(z, damo.complex(x, x)), damo.dot(z, z) + 2 * z,
    la.inv(z), la.solve_triangular(z, damo.complex(x, x), { trans = "C" }), la.solve_triangular(z, z, { lower = true }),
    damo.grad(squares(damo.abs(la.solve(z, damo.complex(x, x)))), x) },
    { regular({ 4, 4 }, 70), random({ 4, 4 }, 71), random({ 4 }, 72) }, { bound = 1e-11 })
end
do -- complex determinants and factors
  local z = damo.complex(A, B)
  local gram = damo.matmul(z, damo.conj(z).T) + damo.eye(4)
  local parts = {}
  for _, v in ipairs { la.det(z), la.det(1e80 * z), la.cholesky(gram), la.cholesky(gram, { lower = false }),
    (la.slogdet(z)), la.det(z[{ { -1, 1, -1 } }]), la.det(0 * z), (la.slogdet(0 * z)),
    la.cholesky(damo.complex(A - 9 * damo.eye(4), B), { on_fail = "nan" }) } do
    parts[#parts + 1], parts[#parts + 2] = damo.real(v), damo.imag(v)
  end
  parts[3], parts[4] = parts[3] / 1e300, parts[4] / 1e300
  for _, v in ipairs { z, 0 * z } do
    local _, size = la.slogdet(v)
    parts[#parts + 1] = size
  end
  model("la_complex_factors", { A, B }, parts, { regular({ 4, 4 }, 74), random({ 4, 4 }, 75) }, { bound = 1e-11 })
  local f = damo.complex(F, 2 * F.T)
  local gram_single = damo.matmul(f, damo.conj(f).T) + damo.eye(4, { dtype = "float32" })
  model("la_complex_factors_single", { F }, { la.det(f), (la.slogdet(f)), la.cholesky(gram_single) },
    { damo.cast(regular({ 4, 4 }, 76), "float32") / 4 }, { bound = 2e-5 })
  model("la_complex_det_empty", { A }, { damo.real(la.det(damo.complex(A, A))) }, { damo.zeros { 0, 0 } })
end
do -- spectra of complex matrices: the order of values and the phases of vectors are free
  local z = damo.complex(A, B)
  local w, v = la.eig(z)
  local rest, lengths = damo.matmul(z, v) - v * w, damo.sum(damo.sqr(damo.abs(v)), 1)
  local form, turn = la.schur(z)
  local back = damo.matmul(damo.matmul(turn, form), damo.conj(turn).T)
  local unit = damo.matmul(turn, damo.conj(turn).T)
  model("la_complex_eig", { A, B }, { damo.sort(damo.real(w)), damo.sort(damo.imag(w)), damo.sort(damo.abs(w)),
    damo.sort(damo.imag(la.eigvals(z))), damo.real(rest), damo.imag(rest), lengths, damo.real(back), damo.imag(back),
    damo.real(unit), damo.imag(unit), damo.tril(damo.real(form), -1),
    damo.tril(damo.imag(form), -1) },
    { random({ 5, 5 }, 96), random({ 5, 5 }, 97) }, { bound = 1e-11 })
  local of_real, turned = la.schur(A, { output = "complex" })
  model("la_schur_of_real", { A }, { damo.real(damo.matmul(damo.matmul(turned, of_real), damo.conj(turned).T)),
    damo.sort(damo.sum(damo.abs(of_real) * damo.eye(4), 1)) }, { random({ 4, 4 }, 98) }, { bound = 1e-11 })
end
for k, n in ipairs { 0, 1, 2, 3, 6 } do
  local hess, q = la.hessenberg(A, { calc_q = true })
  model("la_hessenberg_" .. n, { A }, { hess, q, damo.matmul(damo.matmul(q, hess), q.T) },
    { n == 0 and damo.zeros { 0, 0 } or random({ n, n }, 76 + k) })
end
model("la_hessenberg_single", { F }, { la.hessenberg(F) }, { damo.cast(random({ 5, 5 }, 85), "float32") })
model("la_hessenberg_sparse", { A, S }, { la.hessenberg(A), la.hessenberg(S, { on_fail = "nan" }) },
  { damo.array { { 1, 2, 3, 4 }, { 0, 2, 5, 1 }, { 0, 1, -3, 1 }, { 0, 0, 2, 7 } },
    damo.array { { { 1, 0 / 0 }, { 0, 1 } }, { { 1, 2 }, { 3, 4 } } } })
for name, shape in pairs { tall = { 6, 3 }, wide = { 2, 5 }, square = { 4, 4 } } do -- the factors' free columns
  local u, values, vh = la.svd(A, { full_matrices = true })
  local least = math.min(shape[1], shape[2])
  local near = { { 1, least } }
  model("la_svd_full_" .. name, { A }, { values, damo.matmul(u.T, u), damo.matmul(vh, vh.T),
    damo.matmul(u[{ {}, near[1] }] * values, vh[near]) }, { random(shape, 90) }, { bound = 1e-11 })
end
model("la_complex_single", { F }, { la.solve(damo.complex(F, F), damo.complex(F, 2 * F)),
  damo.matmul(damo.complex(F, F), damo.complex(F, F)) }, { damo.cast(regular({ 4, 4 }, 73), "float32") },
  { bound = 2e-6 })
model("la_turned_operand", { A }, { la.inv(A.T), la.cholesky(A.T), la.det(A[{ { -1, 1, -1 } }]) },
  { positive({ 4, 4 }, 28) })
model("la_single", { F }, { la.inv(F), la.det(F), la.cholesky(F), la.solve(F, F[{ 1 }]) },
  { damo.cast(positive({ 4, 4 }, 29), "float32") })
slope("la_as_single", { A, x }, { la.solve(A, x) }, { damo.cast(damo.cast(regular({ 4, 4 }, 30), "float32"), "float64"),
  damo.cast(damo.cast(random({ 4 }, 31), "float32"), "float64") }, { dtype = "float32", bound = 2e-5 })
do -- what fails gives nan
  local o = { on_fail = "nan" }
  model("la_nan", { A, S }, { la.inv(A, o), la.solve(A, A[{ 1 }], o), la.cholesky(A, o), la.solve_triangular(A, A, o),
    la.inv(S, o) },
    { damo.array { { 0, 0 }, { 0, 1 } }, damo.array { { { 1, 0 }, { 0, 2 } }, { { 1, 1 }, { 1, 1 } } } })
end
for k, at in ipairs { { 1, 1 }, { 3, 2 }, { 4, 4 } } do -- nan is no failure
  local a = positive({ 4, 4 }, 130):totable()
  a[at[1]][at[2]], a[at[2]][at[1]] = 0 / 0, 0 / 0
  model("la_cholesky_of_nan_" .. k, { A }, { la.cholesky(A), la.solve(A, A[{ 1 }], { assume_a = "pos" }) },
    { damo.array(a) })
end
-- Signs of vectors are free, so functions that do not depend on them.
local function of_vectors(w, v) return damo.matmul(v * damo.exp(w / 4), v.T) end
do
  local w, v = la.eigh(A)
  slope("la_eigh", { A }, { w, of_vectors(w, v) }, { positive({ 6, 6 }, 40) }, { bound = 1e-11 })
  slope("la_eigvalsh", { A }, { la.eigvalsh(A), la.eigvalsh(A, { lower = false }) }, { random({ 6, 6 }, 41) })
  slope("la_eigvalsh_stack", { S }, { la.eigvalsh(S) }, { random({ 3, 2, 2 }, 42) })
  model("la_eigh_plain", { A }, { of_vectors(la.eigh(A)) }, { 2 * damo.eye(3) })
  for name, shape in pairs { tall = { 6, 4 }, wide = { 4, 6 }, square = { 5, 5 } } do
    local u, values, vh = la.svd(A, { full_matrices = false })
    slope("la_svd_" .. name, { A }, { la.svdvals(A), values, damo.matmul(u * damo.sqr(values), vh) },
      { random(shape, 43) }, { bound = 1e-11 })
    slope("la_pinv_" .. name, { A }, { la.pinv(A) }, { random(shape, 44) }, { bound = 1e-10 })
    slope("la_lstsq_" .. name, { A, x, B }, { (la.lstsq(A, x)), (la.lstsq(A, B)) },
      { random(shape, 45), random({ shape[1] }, 46), random({ shape[1], 2 }, 47) }, { bound = 1e-10 })
  end
  local u, values, vh = la.svd(A, { full_matrices = false })
  model("la_svd_singular", { A }, { damo.matmul(u.T, u), damo.matmul(vh, vh.T), damo.matmul(u * values, vh),
    la.pinv(A) }, { damo.array { { 1, 2, 0 }, { 2, 4, 0 }, { 0, 0, 0 }, { 1, 2, 0 } } })
  slope("la_expm", { A, B }, { la.expm(A), la.expm(10 * B) }, { random({ 4, 4 }, 48), random({ 3, 3 }, 49) },
    { bound = 1e-11 })
  model("la_single_spectrum", { F }, { la.eigvalsh(F), la.svdvals(F), la.expm(F) },
    { damo.cast(positive({ 4, 4 }, 50) / 4, "float32") })
end
-- Entries whose squares vanish or overflow.
for name, f in pairs { small = 1e-170, tiny = 1e-300, large = 1e160, huge = 1e300 } do
  local w, v = la.eigh(A)
  model("la_scale_symmetric_" .. name, { A }, { w / f, la.eigvalsh(A) / f, damo.matmul(v * (w / f), v.T) },
    { f * positive({ 5, 5 }, 120) }, { bound = 1e-11 })
  for shape, a in pairs { tall = random({ 5, 3 }, 121), wide = random({ 3, 5 }, 122) } do
    local u, values, vh = la.svd(A, { full_matrices = false })
    model("la_scale_svd_" .. shape .. "_" .. name, { A, x }, { la.svdvals(A) / f, values / f, damo.matmul(u.T, u),
      damo.matmul(vh, vh.T), damo.matmul(u * (values / f), vh), la.pinv(A) * f, (la.lstsq(A, x)) * f,
      (la.lstsq(A, f * x)) }, { f * a, random({ shape == "tall" and 5 or 3 }, 123) }, { bound = 1e-11 })
  end
end
do -- columns far apart, parallel and 0
  local u, values, vh = la.svd(A, { full_matrices = false })
  for k, a in ipairs { damo.array { { 1, 1e-200 }, { 2, 3e-200 }, { -1, 2e-200 } },
    damo.array { { 1, 1e-200 }, { 1, 1e-200 }, { 1, 1e-200 } }, damo.array { { 1, 0 }, { 1e-320, 0 }, { 3, 0 } } } do
    model("la_far_columns_" .. k, { A }, { values, damo.matmul(u.T, u), damo.matmul(vh, vh.T), la.pinv(A) }, { a },
      { bound = 1e-11 })
  end
  local large = random({ 40, 40 }, 124)
  model("la_svd_large", { A }, { values, damo.matmul(u.T, u), damo.matmul(u * values, vh), la.eigvalsh(A + A.T) },
    { large }, { bound = 1e-11 })
end
-- The order of eigenvalues and the phases of vectors are free.
local function of_values(w)
  return damo.sort(damo.real(w)), damo.sort(damo.imag(w)), damo.real(damo.sum(w * w)), damo.sum(damo.abs(w))
end
do
  local turn = damo.array { { 0, -1, 0.5, 0 }, { 1, 0, 0, 2 }, { 0, 0, 3, -4 }, { 0, 0, 4, 3 } } -- ±i and 3 ± 4i
  local shift = damo.array { { 0, 0, 0, 1 }, { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 1, 0 } } -- the roots of 1
  local triangle = damo.array { { 1, 2, 3, 0 }, { 0, 2, 5, 1 }, { 0, 0, -3, 1 }, { 0, 0, 0, 0 } }
  for name, a in pairs { random = random({ 7, 7 }, 51), turn = turn, shift = shift, triangle = triangle,
    symmetric = positive({ 5, 5 }, 52), far = 1e8 * random({ 6, 6 }, 53), zero = damo.zeros { 3, 3 } } do
    local w, v = la.eig(A)
    local re, im, size = damo.real(v), damo.imag(v), 1 + damo.max(damo.abs(A))
    local equation = { (damo.matmul(A, re) - damo.real(v * w)) / size, (damo.matmul(A, im) - damo.imag(v * w)) / size }
    local outputs = { equation[1], equation[2], damo.sum(damo.sqr(damo.abs(v)), { axis = 1 }),
      damo.gt(damo.max(damo.abs(re), { axis = 1 }), 0.3), of_values(w) }
    for _, y in ipairs { of_values(la.eigvals(A)) } do outputs[#outputs + 1] = y end
    if name == "random" or name == "turn" or name == "symmetric" then -- the others have no gradient, or a free phase
      outputs[#outputs + 1] = damo.grad(damo.sum(damo.sqr(damo.abs(w)) * (1 + damo.real(w))), A)
      outputs[#outputs + 1] = damo.grad(damo.sum(damo.sqr(damo.real(la.eigvals(A)))), A)
      outputs[#outputs + 1] = damo.grad(squares(damo.matmul(damo.sqr(damo.abs(v)), damo.sqr(damo.abs(w)))), A)
    end
    model("la_eig_" .. name, { A }, outputs, { a }, { bound = 1e-11 })
  end
  local defective = { damo.array { { 1, 1 }, { 0, 1 } } }
  model("la_eig_no_basis", { A }, { damo.grad(damo.sum(damo.real(la.eigvals(A))), A) }, defective, { fails = true })
  model("la_eigvals_stack", { S }, { damo.sort(damo.real(la.eigvals(S))), damo.sort(damo.abs(la.eigvals(S))) },
    { random({ 3, 4, 4 }, 54) })
  model("la_eigvals_single", { F }, { damo.sort(damo.real(la.eigvals(F))) },
    { damo.cast(random({ 4, 4 }, 55), "float32") })
  model("la_eig_nan", { A }, { damo.isnan(damo.real(la.eigvals(A, { on_fail = "nan" }))) },
    { damo.array { { 1, 0 / 0 }, { 0, 1 } } })
end
for name, a in pairs { positive = positive({ 5, 5 }, 56), near = damo.eye(4) + 0.1 * random({ 4, 4 }, 57),
  defective = damo.array { { 2, 1, 0 }, { 0, 2, 1 }, { 0, 0, 2 } }, far = 1e6 * positive({ 3, 3 }, 58),
  turned = damo.array { { 0, -4 }, { 4, 0 } }, lower = damo.array { { 1e-9, 0 }, { 1, 2 } } } do
  slope("la_roots_" .. name, { A }, { la.sqrtm(A), la.logm(A) }, { a }, { bound = name == "lower" and 1e-6 or 1e-10 })
end
model("la_sqrtm_zero", { A }, { la.sqrtm(A) }, { damo.array { { 0, 0, 0 }, { 0, 4, 0 }, { 0, 0, 0 } } })
model("la_sqrtm_single", { F }, { la.sqrtm(F), la.logm(F) }, { damo.cast(positive({ 4, 4 }, 59), "float32") })
model("la_roots_nan", { S }, { la.logm(S, { on_fail = "nan" }), la.sqrtm(S, { on_fail = "nan" }) },
  { damo.array { { { -1, 0 }, { 0, 2 } }, { { 1, 1 }, { 0, 1 } }, { { 0, 1 }, { 0, 0 } } } })
slope("la_sylvester", { A, B, F64 }, { la.solve_sylvester(A, B, F64) },
  { positive({ 4, 4 }, 60), positive({ 3, 3 }, 61), random({ 4, 3 }, 62) }, { bound = 1e-10 })
slope("la_lyapunov", { A, B }, { la.solve_continuous_lyapunov(A, B), la.solve_discrete_lyapunov(A, B) },
  { random({ 4, 4 }, 63) * 0.4, random({ 4, 4 }, 64) }, { bound = 1e-10 })
do -- derivatives of determinants, of matrices of every rank
  local cost = damo.sum(damo.sin(damo.grad(la.det(A), A)))
  local slopes = damo.grad(cost, A)
  local third = damo.grad(damo.sum(damo.sqr(slopes)), A)
  local row = damo.array { { 1, 2, 3, 4 } }
  for name, a in pairs { regular = regular({ 4, 4 }, 65), rank_three = random({ 4, 3 }, 66):dot(random({ 3, 4 }, 67)),
    rank_two = random({ 4, 2 }, 68):dot(random({ 2, 4 }, 69)), rank_one = row.T:dot(row),
    zero = damo.zeros { 4, 4 } } do
    model("la_adjugate_" .. name, { A }, { damo.grad(la.det(A), A), slopes, third }, { a }, { bound = 1e-10 })
  end
  model("la_adjugate_small", { A }, { slopes, third }, { damo.array { { 3 } } })
  model("la_adjugate_nan", { A }, { slopes }, { damo.array { { 1, 2, 3 }, { 0 / 0, 1, 1 }, { 0, 1, 2 } } })
end
model("la_empty", { A, x }, { la.det(A), la.slogdet(A) }, { damo.zeros { 0, 0 }, damo.zeros { 0 } })
model("la_loop", { A, x }, { damo.scan(function(v) return la.solve(A, v) end, { outputs_info = x, n_steps = 4 }) },
  { regular({ 5, 5 }, 32), rhs })

describe("export_c of linear algebra", function()
  teardown(function() os.execute("rm -rf " .. dir) end)

  for _, compiler in ipairs(exported.compilers) do
    it("gives the virtual machine's results, by " .. compiler, function()
      assert.same({}, exported.run(models, dir, compiler))
    end)
  end

  it("fails where an entry fails", function()
    for k, y in ipairs { la.inv(A), la.solve(A, A), la.cholesky(A), la.solve_triangular(A, A, { lower = true }),
      la.solve(A, A, { assume_a = "diagonal" }) } do
      local m = { "failing_" .. k, { A }, { y }, { damo.array { { 0, 0 }, { 0, 1 } } }, fails = true }
      assert.same({}, exported.run({ m }, dir, exported.compilers[1]))
    end
    local lu, pivots = damo.dmatrix "lu", damo.lvector "pivots"
    local m = { "outside_pivots", { lu, pivots, x }, { la.lu_solve(lu, pivots, x) },
      { damo.eye(2), damo.array({ 1, 3 }, "int64"), damo.array { 1, 2 } }, fails = true }
    assert.same({}, exported.run({ m }, dir, exported.compilers[1]))
  end)
end)

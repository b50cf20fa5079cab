-- The rows of the special functions. Values at the points of spec/data/special come from mpmath (generate.py there).
return function(h)
  local inf, nan = math.huge, 0 / 0
  local rows = {}

  --- A row of the function whose data is spec/data/special/NAME.lua; `fields` as in h.each.
  local function row(name, fields)
    local data = dofile("spec/data/special/" .. name .. ".lua")
    local spec = { at = data.at, ints = data.ints }
    function spec.each(...)
      local words = {}
      for i = 1, #data.at do words[i] = ("%.17g"):format((select(i, ...))) end
      local key = table.concat(words, "|")
      return data.values[key] or error(name .. " has no value at " .. key)
    end
    for k, v in pairs(fields or {}) do spec[k] = v end
    rows[name] = h.each(spec)
  end

  -- ---- Incomplete gamma and beta functions -----------------------------------------------------------------------------

  row("gammainc", { special = {
    { { 1, 1, 0.5, 2, 100, 0, 0, nan, -1, 1, inf, inf }, { 0, inf, 0, 1e-300, 90, 1, 0, 1, 1, -1, 1, inf },
      want = { 0, 1, 0, 0, 0.1582209891864301, 1, nan, nan, nan, nan, 0, nan } },
  } })
  row("gammaincc", { special = {
    { { 1, 1, 0.5, 2, 100, 0, 0, nan, inf }, { 0, inf, 0, 1e-300, 90, 1, 0, 1, 1 },
      want = { 1, 0, 1, 1, 0.8417790108135699, 0, nan, nan, 1 } },
    { { 5, 1e-5 }, { 700, 0.5 }, want = { 9.9203914798001453e-295, 5.5977652854226598e-6 }, tol = 1e-300, f32 = false,
      check = function(y) assert(math.abs(y[1] / 9.9203914798001453e-295 - 1) < 1e-13) end },
  } })
  row("gammainc_grad_a", { literal = false })
  row("gammainc_grad_aa", { grad = { 2 }, literal = false, special = {
    { { 1, 0, 2, 2, nan }, { 0, 1, inf, nan, 1 }, want = { 0, nan, 0, nan, nan } } } })
  row("gammal", { special = { { { 1, 2, 3, nan }, { 0, inf, 0.01, 1 }, want = { 0, 1, 3.308433056546744e-07, nan } } } })
  row("gammau", { special = { { { 1, 2, 3, nan }, { 0, inf, 1e-9, 1 }, want = { 1, 0, 2, nan } } } })
  row("gammaincinv", { special = { { { 2, 2, 2, -1, 0 }, { 0, 1, 1.5, 0.5, 0.5 }, want = { 0, inf, nan, nan, nan } } } })
  row("gammainccinv", { special = {
    { { 2, 2, 2, -1, 0 }, { 0, 1, 1.5, 0.5, 0.5 }, want = { inf, 0, nan, nan, nan } },
    { { 1, 1.5 }, { 1e-300, 1e-300 }, want = { 690.7755278982137, 694.1683869273429 }, f32 = false },
  } })
  row("beta", { special = {
    { { 1e-5, 0.5, -1, -3, 0, nan }, { 2, 0.5, 2, 2, 1, 1 }, want = { 99999.00001, math.pi, inf, 1 / 6, inf, nan },
      tol = 1e-10 },
    { { 0, -1, -1, 0 }, { 0, -1, -2, -2 }, want = { inf, -inf, inf, inf } },
  } })
  row("betaln", { special = {
    { { 1, 1e300 }, { 1, 1 }, want = { 0, -690.7755278982137 }, f32 = false },
    { { 0, -1, -2 }, { 0, -1, 0 }, want = { inf, inf, inf } },
    { { 200.5, 1e5, -3, 0, nan }, { 300.25, 1e-5, 2, 1, 1 },
      want = { -338.56671495466252, 11.512804563691176, -1.791759469228055, inf, nan } },
  } })
  row("betainc", { special = {
    { { 1, 2, 0.5, nan, -1, 1, 1, 0 }, { 2, 2, 0.5, 1, 1, 1, 1, 1 }, { 0, 1, 0.5, 0.5, 0.5, -0.5, 1.5, 0.5 },
      want = { 0, 1, 0.5, nan, nan, nan, nan, 1 } },
  } })
  row("betainc_grad_a", { literal = false })
  row("betainc_grad_b", { literal = false })
  for _, name in ipairs { "aa", "ab", "bb" } do
    row("betainc_grad_" .. name, { grad = { 3 }, literal = false, special = {
      { { 2, 2, -1, nan }, { 3, 3, 1, 1 }, { 0, 1, 0.5, 0.5 }, want = { 0, 0, nan, nan } } } })
  end
  row("betaincinv", { special = {
    { { 1, 2, 2, 2, -1 }, { 1, 3, 3, 3, 1 }, { 0.25, 0, 1, 1.5, 0.5 }, want = { 0.25, 0, 1, nan, nan } },
  } })

  -- ---- Ratios of gamma functions -----------------------------------------------------------------------------------------

  row("poch", { special = {
    { { 1, 2, 3, -2, -2, -3, 0 }, { 0, 3, 5, 2, 3, -1, 1.5 }, want = { 1, 24, 2520, 2, 0, -0.25, 0 } },
  } })
  row("binom", { special = {
    { { 5, 10, 3, -1, -1.5 }, { 2, 0, 5, 2, 2 }, want = { 10, 1, 0, nan, 1.875 } },
    { { 50 }, { 25 }, want = { 126410606437752 } },
  } })
  row("factorial", { special = {
    { { 0, 1, 171, -1, nan }, want = { 1, 1, inf, 0, nan } },
    { { 20 }, want = { 2432902008176640000.0 } },
  } })

  -- ---- The normal distribution ---------------------------------------------------------------------------------------------

  row("ndtr", { special = { { { -inf, inf, 0, 9, nan }, want = { 0, 1, 0.5, 1, nan } } } })
  row("log_ndtr", { special = {
    { { -inf, inf, 0, -100, nan }, want = { -inf, 0, -math.log(2), -5005.524208694205, nan } },
    { { -1e300, -1.5e154, -1e11 }, want = { -inf, -1.125e308, -5e21 }, f32 = false },
  } })
  row("ndtri", { special = { { { 0, 1, 0.5, 1e-10, -0.5, 1.5 }, want = { -inf, inf, 0, -6.361340902404056, nan, nan } } } })
  row("ndtri_exp", { special = {
    { { 0, -inf, 1, -1e-20, -800 }, want = { inf, -inf, nan, 9.262340089798409, -39.884694838256678 } },
  } })
  row("owens_t", { special = {
    { { 1e300, 1e-300 }, { 1, 1 }, want = { 0, 0.125 }, f32 = false },
    { { 0, 1, 2, 0, inf }, { 1, 0, inf, 0, 1 }, want = { 0.125, 0, 0.011375065974089608, 0, 0 } },
  } })

  -- ---- Logarithms and sines ------------------------------------------------------------------------------------------------

  row("logit", { special = { { { 0, 1, -0.5, 1.5, nan }, want = { -inf, inf, nan, nan, nan } } } })
  row("sinc", { special = {
    { { 0, 1, -2, 1e-200, nan }, want = { 1, 0, 0, 1, nan } },
    { { 0.5, 0 }, want = { 2 / math.pi, 1 }, grad = true },
  } })
  row("xlogy", { special = {
    { { 0, 0, 1, 0, 0 }, { 0, 2, 0, inf, nan }, want = { 0, 0, -inf, 0, nan } },
    { { 0.0, 2 }, { 3, 4 }, want = { 0, 2 * math.log(4) }, grad = true },
  } })
  row("xlog1py", { special = {
    { { 0, 0, 1, 0, 0 }, { -1, 2, -1, inf, nan }, want = { 0, 0, -inf, 0, nan } },
    { { 0.0, 2 }, { 3, 4 }, want = { 0, 2 * math.log(5) }, grad = true },
  } })
  row("entr", { special = { { { 0, -1, 1, nan }, want = { 0, -inf, 0, nan } } } })

  -- ---- zeta, exponential integrals, Lambert's W ----------------------------------------------------------------------------

  row("hurwitz_zeta", { special = {
    { { 1, 2, 2, 30, 0.5, 2.5, 2, nan }, { 2, 0, 1, 1, 2, -1.5, -1.5, 1 },
      want = { inf, inf, math.pi ^ 2 / 6, 1.0000000009313274, nan, nan, 9.3792466449891238, nan }, f32 = false },
    { { 1e300, 1e300 }, { 1.5, 0.5 }, want = { 0, inf }, f32 = false },
  } })
  row("zeta_grad_s", { literal = false })
  row("zeta_grad_ss", { grad = { 2 }, literal = false })
  row("riemann_zeta_grad_ss", { grad = false, special = { { { -2, -20.5, 0, 1, nan, inf },
    want = { -0.065763516187425196, -305.98639811732234, -2.0063564559085849, nan, nan, 0 }, f32 = false } } })
  row("riemann_zeta", { special = {
    { { 1, -2, 0, inf, nan, -1 }, want = { inf, 0, -0.5, 1, nan, -1 / 12 }, f32 = false },
    { { -1e-300, -1e-10, -0.01, -1e20 }, want = { -0.5, -0.49999999990810615, -0.49090994160533713, 0 }, tol = 1e-13, f32 = false },
  } })
  row("riemann_zeta_grad", { grad = false, special = { { { -2, -20.5, 1100, 1e300 },
    want = { -0.030448457058393270, 300.57792297065501, 0, 0 }, tol = 1e-9, f32 = false } } })
  rows.zeta = table.move(rows.riemann_zeta, 1, #rows.riemann_zeta, #rows.hurwitz_zeta + 1,
    table.move(rows.hurwitz_zeta, 1, #rows.hurwitz_zeta, 1, {}))
  row("polygamma", { grad = { 2 }, literal = false, special = {
    { { 0, 1, 1, 2, -1, 1.5 }, { -0.5, -1.5, 1e-5, nan, 2, 2 },
      want = { 0.03648997397857652, 9.3792466449891238, 10000000001.644908, nan, nan, nan }, f32 = false },
  } })
  row("expn", { special = {
    { { 2, 1, 0, 3, -1, 2, 1, 2 }, { 0, 0, 5, 700, 1, inf, -1, nan },
      want = { 1, inf, 0.0013475893998170934, 1.4025229302e-307, nan, 0, nan, nan }, f32 = false },
  } })
  row("expn_grad_n", { literal = false })
  row("expn_grad_nn", { grad = { 2 }, literal = false, special = {
    { { 3, 0.5, 2, -1, nan }, { 0, 0, inf, 1, 1 }, want = { 0.25, inf, 0, nan, nan } } } })
  row("exp1", { special = { { { 0, inf, -1, nan }, want = { inf, 0, nan, nan } } } })
  row("expi", { special = {
    { { 0, inf, -inf, nan, 0.37250741078136663 }, want = { -inf, inf, 0, nan, -5.11978477056021e-17 }, tol = 1e-15, f32 = false },
    { { 715, 800 }, want = { 4.64362567037057e307, inf }, tol = 1e-12, f32 = false },
  } })
  row("lambertw_principal", { special = {
    { { 0, inf, -1, 1e100, -1e-300, nan }, want = { 0, inf, nan, 224.84310644511850, -1e-300, nan }, f32 = false },
  } })
  row("lambertw_lower", { special = { { { 0, 0.1, -1, nan }, want = { -inf, nan, nan, nan } } } })
  rows.lambertw = {}
  for _, case in ipairs(rows.lambertw_principal) do rows.lambertw[#rows.lambertw + 1] = case end
  for i, case in ipairs(rows.lambertw_lower) do
    if i < 4 then
      local copy = { opts = { k = -1 } }
      for k, v in pairs(case) do copy[k] = v end
      rows.lambertw[#rows.lambertw + 1] = copy
    end
  end

  -- ---- Bessel functions ------------------------------------------------------------------------------------------------------

  row("i0e", { special = { { { 0, inf, -inf, nan }, want = { 1, 0, 0, nan } } } })
  row("i1e", { special = { { { 0, inf, -1e-10, nan }, want = { 0, 0, -5e-11, nan } } } })
  row("k0", { special = { { { 0, -1, inf, nan }, want = { inf, nan, 0, nan } } } })
  row("k1", { special = { { { 0, -1, inf, nan }, want = { inf, nan, 0, nan } } } })
  row("y0", { special = { { { 0, -1, inf, nan }, want = { -inf, nan, nan, nan } } } })
  row("y1", { special = { { { 0, -1, inf, nan }, want = { -inf, nan, nan, nan } } } })
  row("jv", { special = {
    { { 0, 1, 2, 0.5, 1, -1, 0.5, 2 }, { 0, 0, 30.5, 2, -1, 1, -1, nan },
      want = { 1, 0, 0.009980292212780451, 0.5130161365618278, -0.4400505857449335, -0.4400505857449335, nan, nan } },
    { { -0.5, -1, -1.5, -2.5 }, { 0, 0, 0, 0 }, want = { inf, 0, -inf, inf } },
  } })
  row("yv", { special = {
    { { 0, 1, 0.5, 5, -1, 0.5, 2 }, { 0, 25.5, 2, 1, 1, -1, nan },
      want = { -inf, -0.1453610587230494, 0.23478571040624263, -260.40586662581222, 0.7812128213002887, nan, nan } },
    { { -0.25, -0.5, -0.75, -1, -1.5, -2 }, { 0, 0, 0, 0, 0, 0 }, want = { -inf, 0, inf, inf, 0, -inf } },
  } })
  row("iv", { special = {
    { { 0, 1, 0.5, 1, 0.5, -0.5, -1 }, { 0, 0, 2, -1, -1, 0, 1 },
      want = { 1, 0, 2.0462368630890526, -0.5651591039924851, nan, inf, 0.5651591039924851 } },
    { { -1, -1.5, -2.5 }, { 0, 0, 0 }, want = { 0, -inf, inf } },
  } })
  row("kv", { special = {
    { { 100, 1, 1e300 }, { 1e300, 1e300, 1 }, want = { 0, 0, inf }, f32 = false },
    { { 400, -400 }, { 55.5, 55.5 }, want = { 5.78053743541664967e287, 5.78053743541664967e287 }, tol = 1e-12, f32 = false },
    { { 0, 0.5, 1, -0.5, 1 }, { 0, 2, -1, 1, inf }, want = { inf, 0.11993777196806145, nan, 0.46106850444789455, 0 } },
  } })
  row("ive", { special = { { { 0, 1, 2 }, { 0, 0, 900 }, want = { 1, 0, 0.013270385161351284 } } } })
  row("kve", { special = { { { 0, 2 }, { 0, 900 }, want = { inf, 0.04186421590591109 } } } })
  for _, name in ipairs { "jv_grad_v", "yv_grad_v", "ive_grad_v", "kve_grad_v" } do
    row(name, { literal = false })
    row(name .. "v", { grad = { 2 }, literal = false })
  end
  row("spherical_jn", { grad = { 2 }, literal = false, special = {
    { { 0, 1, 2, 1, -1, 1 }, { 0, 0, 20.5, -1, 1, nan }, want = { 1, 0, -0.04771074968, -0.30116867893975674, nan, nan },
      tol = 1e-9 },
  } })

  -- ---- Integrals, Airy's functions ------------------------------------------------------------------------------------------

  row("dawsn", { special = { { { 0, inf, -inf, nan, -1 }, want = { 0, 0, 0, nan, -0.5380795069127684 } } } })
  row("sinint", { special = { { { 0, inf, -inf, nan }, want = { 0, math.pi / 2, -math.pi / 2, nan } } } })
  row("cosint", { special = { { { 0, inf, -inf, nan, -1 }, want = { -inf, 0, nan, nan, 0.33740392290096813 } } } })
  row("sinhint", { special = { { { 0, inf, -inf, nan }, want = { 0, inf, -inf, nan } } } })
  row("coshint", { special = { { { 0, inf, -inf, nan, -1 }, want = { -inf, inf, inf, nan, 0.8378669409802083 } } } })
  row("fresnels", { special = { { { 0, inf, -inf, nan }, want = { 0, 0.5, -0.5, nan } } } })
  row("fresnelc", { special = { { { 0, inf, -inf, nan }, want = { 0, 0.5, -0.5, nan } } } })
  row("airy_ai", { special = { { { inf, -inf, 200, nan }, want = { 0, 0, 0, nan } } } })
  row("airy_ai_prime", { special = { { { inf, -inf, 200, nan }, want = { 0, nan, 0, nan } } } })
  row("airy_bi", { special = { { { inf, -inf, 200, nan }, want = { inf, 0, inf, nan } } } })
  row("airy_bi_prime", { special = { { { inf, -inf, 200, nan }, want = { inf, nan, inf, nan } } } })

  -- ---- Elliptic integrals, the hypergeometric function -----------------------------------------------------------------------

  row("ellipk", { special = {
    { { 0, 1, 1.5, -1e5, -inf, nan }, want = { math.pi / 2, inf, nan, 0.022587332626623258, 0, nan } },
    { { 0, 1e-7 }, want = { 1.5707963267948966, 1.5707963660648073 }, grad = true },
  } })
  row("ellipe", { special = {
    { { 0, 1, 1.5, -1e5, -inf, nan }, want = { math.pi / 2, 1, nan, 316.23985026421278, inf, nan } },
    { { 0, 1e-7 }, want = { 1.5707963267948966, 1.5707962875249875 }, grad = true },
  } })
  row("ellipd", { special = { { { 0.0 }, want = { math.pi / 4 }, grad = true } } })
  row("hyp2f1", { special = {
    { { 1, -1, 1, 0 }, { 0.5, 1.5, 2, -2 }, { 0, -1, 2, 0 }, { 0, 0.5, 2, 2 }, want = { 1, 2 ^ 1.5, -1, inf }, f32 = false },
    { { 1, 1, 0.5, 2, 1, 1, 1, -2, -2, 1, nan }, { 1, 2, 0.5, -2, 1, 1, 1, 1, 1, 2, 1 },
      { 2, 3, 1.5, 3, 2, 2, 3.5, -3, -1, -3, 1 }, { 0, -3, -0.5, 0.9, 1, 1.5, 1, 0.5, 0.5, 0.5, 0.5 },
      want = { 1, 0.3586012532, 0.93122985946, 0.205, inf, inf, 5 / 3, 17 / 12, inf, inf, nan }, tol = 1e-9, f32 = false },
  } })
  row("ellipkinc", { special = {
    { { 0, 2, 1, inf, -inf, 1, nan, 1, 3 }, { 0.5, 1, 1.5, 0.5, 0.5, -inf, 0, nan, 0 },
      want = { 0, inf, nan, inf, -inf, nan, nan, nan, 3 } },
    { { 100, 1e-8 }, { 0.5, 0.5 }, want = { 118.11727467051987, 1e-8 }, f32 = false },
  } })
  row("ellipeinc", { special = {
    { { 0, 1, 1, inf, nan, 1 }, { 0.5, 1, 1.5, 0.5, 0, nan }, want = { 0, math.sin(1), nan, inf, nan, nan } },
  } })
  row("ellipdinc", { special = { { { 0, 2, 1, nan }, { 0.5, 1, 1.5, 0 }, want = { 0, inf, nan, nan } } }, grad = { 1 },
    literal = false })
  row("ellipkinc_grad_m", { grad = { 1 }, literal = false })
  local jacobi = { { 1, 1, 1, inf, nan, 1, 0 }, { -0.5, 1.5, 1, 0.5, 0.5, nan, 0.3 } }
  for name, at in pairs { jacobi_am = { 0.8657694832396586, 0 }, jacobi_sn = { 0.7615941559557649,
    0 }, jacobi_cn = { 0.6480542736638855, 1 }, jacobi_dn = { 0.6480542736638855, 1 } } do
    row(name, { special = { { jacobi[1], jacobi[2], want = { nan, nan, at[1], nan, nan, nan, at[2] } } } })
  end
  row("hyp1f1", { special = {
    { { 1, 1, -2, 0, -3, nan, 2, 1 }, { 0, -1, -2, 0, -2, 1, 2, 2 }, { 1.5, 1.5, 1.5, 1.5, 1.5, 1, 1, -inf },
      want = { inf, inf, 3.625, inf, inf, nan, math.exp(1), 0 } },
    { { -4, 0.5, 3.5, 2, -0.5, 0.5 }, { 1, 1.5, 1, 3, 2.5, 0.25 }, { 3, -1000, -3, 800, 60, -2000 },
      want = { 1.375, 0.028024956081989643, 0.018391367192246595, inf, -2.1451028383247578e+20, -0.016544669684250803 },
      f32 = false, tol = 1e-13, check = false },
  } })
  for _, p in ipairs { "a", "b" } do row("hyp1f1_grad_" .. p, { grad = { 3 }, literal = false }) end
  for _, p in ipairs { "a", "b", "c" } do row("hyp2f1_grad_" .. p, { grad = { 4 }, literal = false }) end

  return rows
end

-- The functions of NumPy and SciPy that compute on arrays, module by module; docs/generate.lua makes docs/numpy_names.md
-- from them. A name stands under `home` (damo itself unless said) or where `other` says: "damo.…" names, or a sentence in
-- place of a name that Lua or damo does not need. Functions of Python's own objects, printing, dates and text are left
-- out.
return {
  {
    title = "numpy",
    names = "abs absolute acos acosh add all allclose amax amin angle any append arange arccos arccosh arcsin arcsinh "
      .. "arctan arctan2 arctanh argmax argmin argpartition argsort argwhere around array array_equal array_split asarray "
      .. "asin asinh astype atan atan2 atanh atleast_1d atleast_2d atleast_3d average bartlett bincount bitwise_and "
      .. "bitwise_invert bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor blackman block "
      .. "broadcast_arrays broadcast_to cbrt ceil choose clip column_stack compress concat concatenate conj conjugate "
      .. "convolve copy copysign corrcoef correlate cos cosh count_nonzero cov cross cumprod cumsum cumulative_prod "
      .. "cumulative_sum deg2rad degrees delete diag diag_indices diagflat diagonal diff digitize divide divmod dot dsplit "
      .. "dstack ediff1d einsum empty empty_like equal exp exp2 expand_dims expm1 extract eye fabs fill_diagonal "
      .. "flatnonzero flip fliplr flipud float_power floor floor_divide fmax fmin fmod frexp full full_like gcd geomspace "
      .. "gradient greater greater_equal hamming hanning heaviside histogram histogram2d histogramdd hsplit hstack hypot i0 "
      .. "identity imag indices inner insert interp intersect1d invert isclose isfinite isin isinf isnan isneginf isposinf "
      .. "ix_ kaiser kron lcm ldexp left_shift less less_equal lexsort linspace load loadtxt log log10 log1p log2 logaddexp "
      .. "logaddexp2 logical_and logical_not logical_or logical_xor logspace matmul matrix_transpose matvec max maximum mean "
      .. "median meshgrid mgrid min minimum mod modf moveaxis multiply nan_to_num nanargmax nanargmin nancumprod nancumsum "
      .. "nanmax nanmean nanmedian nanmin nanpercentile nanprod nanquantile nanstd nansum nanvar ndim negative nextafter "
      .. "nonzero not_equal ogrid ones ones_like outer pad partition percentile permute_dims piecewise polyadd polyder polyfit polyint polymul polysub polyval "
      .. "positive pow power prod ptp put put_along_axis quantile rad2deg radians ravel ravel_multi_index real reciprocal "
      .. "remainder repeat reshape right_shift rint roll rollaxis roots rot90 round save savetxt savez savez_compressed "
      .. "searchsorted select setdiff1d setxor1d shape sign signbit sin sinc sinh size sort spacing split sqrt square squeeze "
      .. "stack std subtract sum swapaxes take take_along_axis tan tanh tensordot tile trace transpose trapezoid tri tril "
      .. "tril_indices triu triu_indices true_divide trunc union1d unique unravel_index unstack unwrap vander var vdot "
      .. "vecdot vecmat vectorize vsplit vstack where zeros zeros_like",
    other = {
      absolute = "damo.abs", acos = "damo.arccos", acosh = "damo.arccosh", amax = "damo.max", amin = "damo.min",
      append = "damo.concatenate", around = "damo.round", asarray = "damo.array", asin = "damo.arcsin",
      asinh = "damo.arcsinh", atan = "damo.arctan", atan2 = "damo.arctan2", atanh = "damo.arctanh",
      bitwise_invert = "damo.bitwise_not", bitwise_left_shift = "damo.left_shift",
      bitwise_right_shift = "damo.right_shift", concat = "damo.concatenate", conjugate = "damo.conj", copy = "`x:copy()`",
      array_equal = "`damo.all(damo.eq(x, y))`, or `x == y` as of objects",
      cumulative_prod = "damo.cumprod", cumulative_sum = "damo.cumsum", degrees = "damo.rad2deg", divide = "damo.true_div",
      equal = "damo.eq", fabs = "damo.abs", float_power = "damo.pow",
      floor_divide = "damo.floor_div", greater = "damo.gt", greater_equal = "damo.ge", identity = "damo.eye",
      less = "damo.lt", less_equal = "damo.le", load = "damo.io.load", loadtxt = "damo.io.load",
      matrix_transpose = "`x:swapaxes(-1, -2)`", multiply = "damo.mul", negative = "damo.neg", not_equal = "damo.neq",
      permute_dims = "damo.transpose", power = "damo.pow", radians = "damo.deg2rad", ravel = "damo.flatten",
      ["repeat"] = "damo.repeat_", rollaxis = "damo.moveaxis", save = "damo.io.save", savetxt = "damo.io.save",
      savez = "damo.io.save", savez_compressed = "damo.io.save", subtract = "damo.sub", true_divide = "damo.true_div",
      ndim = "`x.ndim`",
    },
  },
  {
    title = "numpy.linalg",
    names = "cholesky cond cross det diagonal eig eigh eigvals eigvalsh inv lstsq matmul matrix_norm matrix_power matrix_rank "
      .. "multi_dot norm outer pinv qr slogdet solve svd svdvals tensordot tensorinv tensorsolve trace vecdot vector_norm",
    home = "linalg",
    other = {
      cross = "damo.cross", diagonal = "damo.diagonal", matmul = "damo.matmul",
      outer = "damo.outer", tensordot = "damo.tensordot", vecdot = "damo.vecdot",
    },
  },
  {
    title = "numpy.fft",
    names = "fft fft2 fftfreq fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft irfft2 irfftn rfft rfft2 rfftfreq "
      .. "rfftn",
    home = "fft",
  },
  {
    title = "scipy.fft",
    names = "dct dctn dst dstn fft fft2 fftfreq fftn fftshift hfft idct idctn idst idstn ifft ifft2 ifftn ifftshift ihfft "
      .. "irfft irfft2 irfftn rfft rfft2 rfftfreq rfftn",
    home = "fft",
  },
  {
    title = "numpy.random.Generator",
    names = "beta binomial chisquare choice dirichlet exponential f gamma geometric gumbel hypergeometric integers laplace "
      .. "logistic lognormal multinomial multivariate_normal negative_binomial normal pareto permutation permuted poisson "
      .. "random rayleigh shuffle standard_cauchy standard_exponential standard_gamma standard_normal standard_t triangular "
      .. "uniform vonmises wald weibull zipf",
    home = "random",
    other = {
      permuted = "damo.random.permutation", random = "damo.random.uniform", shuffle = "damo.random.permutation",
      standard_cauchy = "damo.random.cauchy", standard_exponential = "damo.random.exponential",
      standard_gamma = "damo.random.gamma", standard_normal = "damo.random.normal", standard_t = "damo.random.t",
      negative_binomial = "damo.random.nbinom",
    },
  },
  {
    title = "scipy.linalg",
    names = "block_diag cho_factor cho_solve cho_solve_banded cholesky cholesky_banded circulant coshm cosm det eig eigh eigvals "
      .. "eigvalsh expm expm_frechet hankel hessenberg inv khatri_rao ldl logm lstsq lu lu_factor lu_solve norm null_space orth "
      .. "pinv polar qr schur signm sinhm sinm solve solve_banded solve_circulant solve_continuous_are "
      .. "solve_continuous_lyapunov solve_discrete_are solve_discrete_lyapunov solve_sylvester solve_toeplitz "
      .. "solve_triangular solveh_banded sqrtm subspace_angles svd svdvals tanhm tanm toeplitz",
    home = "linalg",
    other = { cho_factor = "damo.linalg.cholesky", pinvh = "damo.linalg.pinv" },
  },
  {
    title = "scipy.special",
    names = "airy beta betainc betaincinv betaln binom cbrt dawsn digamma ellipe ellipeinc ellipj ellipk ellipkinc entr erf erfc "
      .. "erfcinv erfcx erfinv exp1 exp10 exp2 expi expit expm1 expn factorial fresnel gamma gammainc gammaincc gammainccinv "
      .. "gammaincinv gammaln hyp1f1 hyp2f1 i0 i0e i1 i1e "
      .. "iv ive j0 j1 jv k0 k1 kl_div kv kve lambertw log1p log_expit log_ndtr log_softmax logit logsumexp multigammaln ndtr "
      .. "ndtri ndtri_exp owens_t poch polygamma psi rel_entr shichi sici sinc softmax softplus spherical_jn xlog1py xlogy y0 y1 yv zeta",
    other = {
      expit = "damo.sigmoid", log_expit = "damo.nn.log_sigmoid", psi = "damo.digamma", kl_div = "damo.nn.kl_divergence",
    },
  },
  {
    title = "scipy.stats",
    names = "bernoulli beta betabinom binom cauchy chi2 dirichlet expon f gamma geom gumbel_r halfcauchy halfnorm hypergeom "
      .. "invgamma invgauss laplace logistic lognorm multinomial multivariate_normal nbinom norm pareto poisson rayleigh t "
      .. "triang truncexpon truncnorm uniform vonmises weibull_min wishart zipf",
    other = {
      bernoulli = "damo.dist.Bernoulli", beta = "damo.dist.Beta", betabinom = "damo.dist.BetaBinomial",
      binom = "damo.dist.Binomial", cauchy = "damo.dist.Cauchy", chi2 = "damo.dist.ChiSquared",
      dirichlet = "damo.dist.Dirichlet", expon = "damo.dist.Exponential", f = "damo.dist.F", gamma = "damo.dist.Gamma",
      geom = "damo.dist.Geometric", gumbel_r = "damo.dist.Gumbel", halfcauchy = "damo.dist.HalfCauchy",
      halfnorm = "damo.dist.HalfNormal", hypergeom = "damo.dist.HyperGeometric", invgamma = "damo.dist.InverseGamma",
      invgauss = "damo.dist.Wald", laplace = "damo.dist.Laplace", logistic = "damo.dist.Logistic",
      lognorm = "damo.dist.LogNormal", multinomial = "damo.dist.Multinomial", multivariate_normal = "damo.dist.MvNormal",
      nbinom = "damo.dist.NegativeBinomial", norm = "damo.dist.Normal", pareto = "damo.dist.Pareto",
      poisson = "damo.dist.Poisson", rayleigh = "damo.dist.Rayleigh", t = "damo.dist.StudentT",
      triang = "damo.dist.Triangular", truncexpon = "damo.dist.TruncatedExponential",
      truncnorm = "damo.dist.TruncatedNormal", uniform = "damo.dist.Uniform", vonmises = "damo.dist.VonMises",
      weibull_min = "damo.dist.Weibull", wishart = "damo.dist.Wishart", zipf = "damo.dist.Zipf",
    },
  },
}

-- The functions of PyTorch that compute on tensors, part by part; docs/generate.lua makes docs/torch_names.md of them.
-- A name stands under `home` (damo itself unless said) or where `other` says: "damo.…" names, or a sentence in place
-- of a name that Lua or damo does not need. Devices, storage, quantization and distributed training are left out.
return {
  {
    title = "torch",
    names = "abs absolute acos acosh add addcdiv addcmul addmm addmv addr all allclose amax amin aminmax angle any "
      .. "arange arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin argsort argwhere as_tensor "
      .. "asin asinh atan atan2 atanh atleast_1d atleast_2d atleast_3d baddbmm bartlett_window bernoulli bincount "
      .. "bitwise_and bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor blackman_window "
      .. "block_diag bmm broadcast_tensors broadcast_to bucketize cat cdist ceil chain_matmul chunk clamp clip "
      .. "clone column_stack complex concat concatenate conj copysign corrcoef cos cosh count_nonzero cov cross "
      .. "cummax cummin cumprod cumsum cumulative_trapezoid deg2rad diag diag_embed diagflat diagonal diff digamma "
      .. "dist div divide dot dsplit dstack einsum empty empty_like eq equal erf erfc erfinv exp exp2 expm1 eye "
      .. "fix flatten flip fliplr flipud float_power floor floor_divide fmax fmin fmod frac frexp full full_like "
      .. "gather gcd ge gradient greater greater_equal gt hamming_window hann_window heaviside histc histogram "
      .. "hsplit hstack hypot i0 imag index_add index_copy index_fill index_select inner inverse isclose isfinite "
      .. "isin isinf isnan isneginf isposinf isreal kaiser_window kron kthvalue lcm ldexp le lerp less less_equal "
      .. "lgamma linspace load log log10 log1p log2 logaddexp logaddexp2 logcumsumexp logdet logical_and "
      .. "logical_not logical_or logical_xor logit logspace logsumexp lt masked_fill masked_select matmul "
      .. "matrix_exp matrix_power max maximum mean median meshgrid min minimum mm mode moveaxis movedim mul "
      .. "multinomial multiply mv mvlgamma nan_to_num nanmean nanmedian nanquantile nansum narrow ne neg negative "
      .. "nextafter nonzero norm normal not_equal numel ones ones_like outer permute pinverse poisson polar "
      .. "polygamma positive pow prod quantile rad2deg rand randint randn randperm ravel real reciprocal relu "
      .. "remainder renorm repeat_interleave reshape roll rot90 round rsqrt save scatter scatter_add "
      .. "scatter_reduce searchsorted select sgn sigmoid sign signbit sin sinc sinh softmax sort split sqrt square "
      .. "squeeze stack std std_mean sub subtract sum svd swapaxes swapdims t take take_along_dim tan tanh tensor "
      .. "tensor_split tensordot tile topk trace transpose trapezoid trapz tril tril_indices triu triu_indices "
      .. "true_divide trunc unbind unflatten unique unique_consecutive unravel_index unsqueeze vander var var_mean "
      .. "vdot vmap vsplit vstack where xlogy zeros zeros_like manual_seed compile no_grad is_tensor is_complex",
    other = {
      absolute = "damo.abs", acos = "damo.arccos", acosh = "damo.arccosh", addcdiv = "`x + v * a / b`, fused",
      addcmul = "`x + v * a * b`, fused", addmm = "`x + damo.dot(a, b)`", addmv = "`x + damo.dot(a, v)`",
      addr = "`x + damo.outer(u, v)`", amax = "damo.max", amin = "damo.min", aminmax = "`damo.min` and `damo.max`",
      as_tensor = "`damo.array`; `damo.as_tensor_variable` for a Variable", asin = "damo.arcsin", asinh = "damo.arcsinh",
      atan = "damo.arctan", atan2 = "damo.arctan2", atanh = "damo.arctanh", baddbmm = "`x + damo.matmul(a, b)`",
      bartlett_window = "damo.bartlett", blackman_window = "damo.blackman", hamming_window = "damo.hamming",
      hann_window = "damo.hanning", kaiser_window = "damo.kaiser", bernoulli = "damo.random.bernoulli",
      block_diag = "damo.linalg.block_diag", bmm = "damo.matmul", broadcast_tensors = "damo.broadcast_arrays",
      bucketize = "damo.searchsorted", cat = "damo.concatenate", concat = "damo.concatenate", cdist = "`damo.sqrt(damo.sum(damo.sqr(x:expand_dims(2) - y), { axis = 3 }))`",
      chain_matmul = "damo.linalg.multi_dot", chunk = "damo.split", clamp = "damo.clip", clone = "`x:copy()`",
      bitwise_left_shift = "damo.left_shift", bitwise_right_shift = "damo.right_shift", digamma = "damo.psi",
      diag_embed = "damo.diag", dist = "`damo.linalg.norm(x - y)`", div = "damo.true_div", divide = "damo.true_div",
      equal = "`x == y` as of objects, or `damo.all(damo.eq(x, y))`", fix = "damo.trunc", float_power = "damo.pow",
      floor_divide = "damo.floor_div", frac = "`x - damo.trunc(x)`", gather = "damo.take_along_axis",
      greater = "damo.gt", greater_equal = "damo.ge", histc = "damo.histogram",
      index_add = "`damo.inc_subtensor(x[rows], y)`", index_copy = "`damo.set_subtensor(x[rows], y)`",
      index_fill = "`damo.set_subtensor(x[rows], value)`", index_select = "damo.take", inverse = "damo.linalg.inv",
      isreal = "`damo.eq(damo.imag(x), 0)`", kthvalue = "`damo.partition(x, k)[k]`", lerp = "`x + t * (y - x)`, fused",
      less = "damo.lt", less_equal = "damo.le", lgamma = "damo.gammaln", load = "damo.io.load", save = "damo.io.save",
      logdet = "`damo.linalg.slogdet`, its second result", masked_fill = "damo.where",
      masked_select = "`x[mask]`", matrix_exp = "damo.linalg.expm", matrix_power = "damo.linalg.matrix_power",
      mm = "damo.dot", mv = "damo.dot", movedim = "damo.moveaxis", multinomial = "damo.random.choice",
      multiply = "damo.mul", mvlgamma = "damo.multigammaln", narrow = "`x[{ { from, to } }]`", ne = "damo.neq",
      not_equal = "damo.neq", negative = "damo.neg", norm = "damo.linalg.norm", normal = "damo.random.normal",
      numel = "`x.size`", permute = "damo.transpose", pinverse = "damo.linalg.pinv", poisson = "damo.random.poisson",
      polar = "`damo.complex(r * damo.cos(phi), r * damo.sin(phi))`",
      rand = "damo.random.uniform", randint = "damo.random.integers", randn = "damo.random.normal",
      randperm = "damo.random.permutation", relu = "damo.nn.relu", remainder = "damo.mod",
      repeat_interleave = "damo.repeat_", rsqrt = "`1 / damo.sqrt(x)`", scatter = "damo.put_along_axis",
      scatter_add = "`damo.segment_sum`, `damo.inc_subtensor`", scatter_reduce = "`damo.segment_sum` and its kin",
      select = "`x[k]`, `x[{ {}, k }]`", sgn = "damo.sign", square = "damo.sqr", std_mean = "`damo.std` and `damo.mean`",
      subtract = "damo.sub", svd = "damo.linalg.svd", swapdims = "damo.swapaxes", t = "`x.T`",
      take_along_dim = "damo.take_along_axis", tensor = "`damo.array`; `damo.shared` where it is a parameter",
      tensor_split = "damo.split", trapz = "damo.trapezoid", true_divide = "damo.true_div", unbind = "damo.unstack",
      unflatten = "damo.reshape", unique_consecutive = "not there yet", unsqueeze = "damo.expand_dims",
      var_mean = "`damo.var` and `damo.mean`", vmap = "`damo.vectorize`, `damo.graph.vectorize_graph`",
      manual_seed = "damo.random.seed", compile = "damo.compile", no_grad = "not needed: derivatives are asked for",
      is_tensor = "damo.is_variable", is_complex = "`x.dtype`", renorm = "not there yet",
    },
  },
  {
    title = "torch.Tensor",
    names = "backward grad detach item numpy tolist to type float double long bool shape size dim ndim dtype view "
      .. "contiguous expand repeat new_zeros requires_grad_ register_hook zero_ fill_ copy_ add_ T",
    other = {
      backward = "`damo.grad(loss, params)`, before compiling", grad = "what `damo.grad` gives, a Variable",
      detach = "damo.disconnected_grad", item = "`x:item()`", numpy = "`x:totable()`, `x:tobytes()`",
      tolist = "`x:totable()`", to = "`x:astype(dtype)`", type = "`x:astype(dtype)`", float = '`x:astype "float32"`',
      double = '`x:astype "float64"`', long = '`x:astype "int64"`', bool = '`x:astype "bool"`', shape = "`x.shape`",
      size = "`x.shape`", dim = "`x.ndim`", ndim = "`x.ndim`", dtype = "`x.dtype`", view = "damo.reshape",
      contiguous = "`x:copy()`, where it is needed at all", expand = "damo.broadcast_to", ["repeat"] = "damo.tile",
      new_zeros = "damo.zeros", requires_grad_ = "not needed: `damo.grad` names what it differentiates by",
      register_hook = "an Op of your own, or `damo.grad_clip` and its kin", zero_ = "`x[{}] = 0`", fill_ = "`x[{}] = v`",
      copy_ = "`x[{}] = y`, or the option `out` of a call", add_ = "`damo.add(x, y, { out = x })`; of shared, `updates`",
      T = "`x.T`",
    },
  },
  {
    title = "torch.autograd, torch.func",
    names = "autograd.grad autograd.Function autograd.gradcheck autograd.detect_anomaly autograd.profiler "
      .. "autograd.functional.jacobian autograd.functional.hessian func.grad func.vjp func.jvp func.jacrev "
      .. "func.jacfwd func.hessian func.vmap func.functional_call utils.checkpoint",
    other = {
      ["autograd.grad"] = "damo.grad", ["autograd.Function"] = "damo.Op",
      ["autograd.gradcheck"] = "damo.verify_grad", ["autograd.detect_anomaly"] = '`damo.compile` with `mode = "NANGUARD"`',
      ["autograd.profiler"] = "`damo.compile` with `profile = true`", ["autograd.functional.jacobian"] = "damo.jacobian",
      ["autograd.functional.hessian"] = "damo.hessian", ["func.grad"] = "damo.grad", ["func.vjp"] = "damo.Lop",
      ["func.jvp"] = "damo.Rop", ["func.jacrev"] = "damo.jacobian", ["func.jacfwd"] = "`damo.Rop` with unit vectors",
      ["func.hessian"] = "damo.hessian", ["func.vmap"] = "`damo.vectorize`, `damo.graph.vectorize_graph`",
      ["func.functional_call"] = "`givens` of `damo.compile`", ["utils.checkpoint"] = "the option `checkpoint` of `damo.scan`",
    },
  },
  {
    title = "torch.nn.functional",
    home = "nn",
    names = "relu relu6 leaky_relu elu celu selu gelu silu mish softplus softsign softmax log_softmax logsigmoid "
      .. "sigmoid tanh hardtanh hardsigmoid hardswish glu prelu threshold linear bilinear embedding one_hot conv1d "
      .. "conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d unfold max_pool1d max_pool2d max_pool3d "
      .. "avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool2d interpolate pad dropout batch_norm layer_norm "
      .. "group_norm instance_norm rms_norm normalize scaled_dot_product_attention cosine_similarity cross_entropy "
      .. "nll_loss binary_cross_entropy binary_cross_entropy_with_logits mse_loss l1_loss huber_loss "
      .. "smooth_l1_loss kl_div hinge_embedding_loss gaussian_nll_loss poisson_nll_loss ctc_loss",
    other = {
      logsigmoid = "damo.nn.log_sigmoid", hardtanh = "damo.nn.hard_tanh", hardsigmoid = "damo.nn.hard_sigmoid",
      hardswish = "damo.nn.hard_swish", prelu = "`damo.nn.leaky_relu`, alpha a Variable", threshold = "damo.where",
      conv_transpose1d = "damo.nn.conv1d_transpose", conv_transpose2d = "damo.nn.conv2d_transpose",
      conv_transpose3d = "damo.nn.conv3d_transpose", linear = "`damo.dot(x, w) + b`", bilinear = "damo.einsum", embedding = "`w[ids]`, whose gradient is a scatter",
      one_hot = "damo.one_hot", pad = "damo.pad", normalize = "`x / damo.linalg.norm(x, { axis = -1, keepdims = true })`",
      cross_entropy = "`damo.nn.nll(damo.nn.log_softmax(x, { axis = 2 }), t)`, which is stable", nll_loss = "damo.nn.nll",
      binary_cross_entropy = "damo.nn.binary_crossentropy",
      binary_cross_entropy_with_logits = "damo.nn.sigmoid_binary_crossentropy", mse_loss = "damo.nn.mean_squared_error",
      l1_loss = "damo.nn.mean_absolute_error", huber_loss = "damo.nn.huber", smooth_l1_loss = "damo.nn.huber",
      kl_div = "damo.nn.kl_divergence", hinge_embedding_loss = "damo.nn.hinge",
      gaussian_nll_loss = "`-damo.dist.Normal(mu, sigma):logp(y)`",
      poisson_nll_loss = "`-damo.dist.Poisson(rate):logp(y)`", unfold = "not needed: convolutions make no patches",
    },
  },
  {
    title = "torch.nn, torch.nn.init, torch.optim, torch.utils",
    names = "nn.Module nn.Parameter nn.Linear nn.Conv2d nn.RNN nn.LSTM nn.GRU nn.Sequential nn.utils.clip_grad_norm_ "
      .. "nn.init.xavier_uniform_ nn.init.xavier_normal_ nn.init.kaiming_uniform_ nn.init.kaiming_normal_ "
      .. "nn.init.orthogonal_ optim.SGD optim.Adam optim.AdamW optim.RMSprop optim.Adagrad optim.Adadelta "
      .. "optim.LBFGS utils.data.DataLoader jit.script onnx.export state_dict load_state_dict",
    other = {
      ["nn.Module"] = "a function and a table of parameters (`damo.tree`)", ["nn.Parameter"] = "damo.shared",
      ["nn.Linear"] = "`damo.dot(x, w) + b`", ["nn.Conv2d"] = "damo.nn.conv2d",
      ["nn.RNN"] = "`damo.scan`: `examples/rnn.lua`", ["nn.LSTM"] = "`damo.scan` over a cell of four gates",
      ["nn.GRU"] = "`damo.scan` over a cell of three gates", ["nn.Sequential"] = "calls one in another",
      ["utils.data.DataLoader"] = "batches by position: `givens` with `data[rows]`, as in `examples/digits.lua`",
      ["optim.SGD"] = "`damo.optim.sgd`, `damo.optim.momentum`", ["optim.Adam"] = "damo.optim.adam",
      ["optim.RMSprop"] = "damo.optim.rmsprop", ["nn.init.xavier_uniform_"] = "damo.nn.init.glorot_uniform",
      ["nn.init.xavier_normal_"] = "damo.nn.init.glorot_normal", ["nn.init.kaiming_uniform_"] = "damo.nn.init.he_uniform",
      ["nn.init.kaiming_normal_"] = "damo.nn.init.he_normal", ["nn.init.orthogonal_"] = "damo.nn.init.orthogonal",
      ["jit.script"] = "damo.compile", ["onnx.export"] = "`damo.save_graph`; `f:export_c` for C source",
      state_dict = "values by name: `damo.io.save`, or `f:snapshot()`", load_state_dict = "`p:set_value(v)`, `f:restore(s)`",
    },
  },
  {
    title = "torch.linalg",
    home = "linalg",
    names = "cholesky cond cross det diagonal eig eigh eigvals eigvalsh expm householder_product inv lstsq lu "
      .. "lu_factor lu_solve matmul matrix_exp matrix_norm matrix_power matrix_rank multi_dot norm pinv qr slogdet "
      .. "solve solve_triangular svd svdvals tensorinv tensorsolve vander vecdot vector_norm cholesky_solve",
    other = {
      cross = "damo.cross", diagonal = "damo.diagonal", matmul = "damo.matmul", matrix_norm = "damo.linalg.norm",
      vander = "damo.vander", vecdot = "damo.vecdot", vector_norm = "damo.linalg.norm", matrix_exp = "damo.linalg.expm",
      cholesky_solve = "damo.linalg.cho_solve",
    },
  },
  {
    title = "torch.fft",
    home = "fft",
    names = "fft fft2 fftfreq fftn fftshift hfft ifft ifft2 ifftn ifftshift ihfft irfft irfft2 irfftn rfft rfft2 "
      .. "rfftfreq rfftn",
  },
  {
    title = "torch.special",
    names = "bessel_j0 bessel_j1 bessel_y0 bessel_y1 digamma entr erf erfc erfcx erfinv exp2 expit expm1 gammainc "
      .. "gammaincc gammaln i0 i0e i1 i1e log1p log_ndtr log_softmax logit logsumexp modified_bessel_k0 "
      .. "modified_bessel_k1 multigammaln ndtr ndtri polygamma psi sinc softmax xlog1py xlogy zeta",
    other = {
      bessel_j0 = "damo.j0", bessel_j1 = "damo.j1", bessel_y0 = "damo.y0", bessel_y1 = "damo.y1", digamma = "damo.psi",
      expit = "damo.sigmoid", modified_bessel_k0 = "damo.k0", modified_bessel_k1 = "damo.k1",
    },
  },
  {
    title = "torch.distributions",
    home = "dist",
    names = "Bernoulli Beta Binomial Categorical Cauchy Chi2 Dirichlet Exponential Gamma Geometric Gumbel HalfCauchy "
      .. "HalfNormal InverseGamma Laplace LKJCholesky LogNormal Multinomial MultivariateNormal NegativeBinomial "
      .. "Normal Pareto Poisson StudentT Uniform VonMises Weibull Wishart MixtureSameFamily "
      .. "TransformedDistribution kl_divergence",
    other = { Chi2 = "damo.dist.ChiSquared", MultivariateNormal = "damo.dist.MvNormal", kl_divergence = "not there yet" },
  },
  {
    title = "torch.sparse",
    home = "sparse",
    names = "sparse_coo_tensor sparse_csr_tensor mm sum to_dense",
    other = {
      sparse_coo_tensor = "damo.sparse.coo", sparse_csr_tensor = "damo.sparse.csr", mm = "damo.sparse.dot",
      sum = "damo.sparse.sp_sum", to_dense = "damo.sparse.dense_from_sparse",
    },
  },
}

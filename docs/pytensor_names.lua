-- The public names of PyTensor (and of Aesara's sparse module), module by module; docs/generate.lua makes
-- docs/pytensor_names.md from them. A name stands under `home` (damo itself unless said) or where `other` says:
-- "damo.…" names, or a sentence in place of a name that Lua or damo does not need. What is found nowhere is "not there
-- yet".
return {
  {
    title = "pytensor",
    names = "function shared In Out Mode Param config grad Lop Rop pullback pushforward ifelse scan map "
      .. "OpFromGraph dprint as_symbolic wrap_jax foldl foldr reduce get_mode",
    other = {
      ["function"] = "damo.compile", Param = "damo.In", pullback = "damo.Lop", pushforward = "damo.Rop",
      OpFromGraph = "damo.graph.OpFromGraph", dprint = "damo.printing.debugprint", as_symbolic = "damo.as_variable",
      wrap_jax = "of Python alone", get_mode = "`damo.Mode` and the names of modes",
    },
  },
  {
    title = "pytensor.gradient",
    names = "grad Lop Rop jacobian hessian hessian_vector_product verify_grad grad_undefined grad_not_implemented "
      .. "zero_grad disconnected_grad undefined_grad grad_clip grad_scale consider_constant subgraph_grad "
      .. "DisconnectedType NullType",
  },
  {
    title = "pytensor.printing",
    names = "debugprint pprint pydotprint Print pydot_imported min_informative_str",
    home = "printing",
    other = {
      pydotprint = "damo.printing.dot",
      pydot_imported = "no need: Graphviz's program is asked for when it is used",
    },
  },
  {
    title = "pytensor.graph",
    names = "Apply Variable Constant Op FunctionGraph ancestors graph_inputs toposort variables clone_replace "
      .. "equal_computations vectorize_graph explicit_graph_inputs truncated_graph_inputs vars_between "
      .. "applys_between io_toposort rewrite_graph node_rewriter",
    home = "graph",
    other = {
      Apply = "damo.Apply", Op = "damo.Op", Variable = "`x.type(name)` and the makers; `damo.is_variable(x)`",
      Constant = "damo.constant", vars_between = "damo.graph.variables",
      node_rewriter = "damo.rewrite.register",
    },
  },
  {
    title = "pytensor.graph.op",
    names = "Op HasInnerGraph ThunkType compute_test_value get_test_value get_test_values missing_test_message "
      .. "add_tag_trace",
    home = "graph",
    other = { Op = "damo.Op" },
  },
  {
    title = "pytensor.graph.op.Op, its members",
    names = "make_node perform grad L_op R_op infer_shape connection_pattern do_constant_folding default_output "
      .. "destroy_map view_map itypes otypes params_type get_params prepare_node make_thunk make_c_thunk "
      .. "make_py_thunk inplace_on_inputs",
    members = "op",
    other = {
      make_py_thunk = "`make_lua_thunk`", default_output = "`default_output`",
      itypes = "`itypes` in the table for `damo.Op`",
      otypes = "`otypes` in the table for `damo.Op`", params_type = "`params_type` in the table for `damo.Op`",
    },
  },
  {
    title = "pytensor.tensor: Types and makers",
    names = "TensorType tensor scalar vector row col matrix tensor3 tensor4 tensor5 tensor6 tensor7 bscalar "
      .. "bvector brow bcol bmatrix btensor3 wscalar wvector wmatrix iscalar ivector imatrix lscalar lvector "
      .. "lmatrix fscalar fvector fmatrix dscalar dvector drow dcol dmatrix dtensor3 dtensor4 dtensor5 "
      .. "dtensor6 dtensor7 cscalar cvector cmatrix zscalar zvector zmatrix scalars vectors matrices dscalars "
      .. "dvectors dmatrices fscalars fvectors fmatrices",
    other = {
      scalars = "a maker a Variable", vectors = "a maker a Variable", matrices = "a maker a Variable",
      dscalars = "a maker a Variable", dvectors = "a maker a Variable", dmatrices = "a maker a Variable",
      fscalars = "a maker a Variable", fvectors = "a maker a Variable", fmatrices = "a maker a Variable",
    },
  },
  {
    title = "pytensor.tensor: basic",
    names = "alloc arange as_tensor as_tensor_variable atleast_1d atleast_2d atleast_3d atleast_Nd cast choose "
      .. "concatenate constant diag diagonal empty empty_like expand_dims extract_diag eye fill flatnonzero "
      .. "flatten full full_like get_scalar_constant_value get_underlying_scalar_constant_value "
      .. "get_vector_length horizontal_stack identity identity_like inverse_permutation is_flat join "
      .. "matrix_transpose mgrid moveaxis nonzero nonzero_values ogrid ones ones_like permute_row_elements "
      .. "roll scalar_from_tensor second split stack stacklists swapaxes switch take_along_axis tensor_copy "
      .. "tensor_from_scalar tile trace transfer transpose tri tril tril_indices tril_indices_from triu "
      .. "triu_indices triu_indices_from vertical_stack where zeros zeros_like",
    other = {
      extract_diag = "damo.diagonal", get_vector_length = "`v.type.shape[1]`, false where it is not known",
      get_scalar_constant_value = "`v.data` of a constant",
      get_underlying_scalar_constant_value = "`v.data` of a constant",
      horizontal_stack = "damo.hstack", vertical_stack = "damo.vstack",
      scalar_from_tensor = "no need: scalars are tensors of rank 0",
      tensor_from_scalar = "no need: scalars are tensors of rank 0",
      tensor_copy = "no need: results are a caller's own",
      transfer = "no need: there is one device",
    },
  },
  {
    title = "pytensor.tensor: math",
    names = "abs add all allclose and_ angle any arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax "
      .. "argmin betainc betaincinv bitwise_and bitwise_not bitwise_or bitwise_xor ceil ceil_intdiv chi2sf "
      .. "clip complex complex_from_polar conj conjugate cos cosh cov deg2rad dense_dot digamma divmod dot eq "
      .. "equal erf erfc erfcinv erfcx erfinv exp exp2 expit expm1 floor floor_div gamma gammainc gammaincc "
      .. "gammainccinv gammaincinv gammal gammaln gammau ge greater greater_equal gt hyp2f1 i0 i1 imag int_div "
      .. "invert iround isclose isfinite isinf isnan isneginf isposinf iv ive j0 j1 jv kn kv kve largest le "
      .. "less less_equal log log10 log1mexp log1p log1pexp log2 logaddexp logsumexp lt matmul matvec max "
      .. "max_and_argmax maximum mean median min minimum mod mul nan_to_num ndtri_exp neg neq not_equal or_ "
      .. "outer owens_t polygamma pow power prod psi ptp rad2deg real reciprocal round "
      .. "round_half_away_from_zero round_half_to_even sgn sigmoid sign sin sinh smallest softplus sqr sqrt "
      .. "square std sub sum tan tanh tensordot tri_gamma true_div trunc var vecdot vecmat xor",
    other = {
      bitwise_and = "damo.and_", bitwise_not = "damo.invert", bitwise_or = "damo.or_", bitwise_xor = "damo.xor",
      dense_dot = "damo.dot", equal = "damo.eq", not_equal = "damo.neq", greater = "damo.gt", greater_equal = "damo.ge",
      less = "damo.lt", less_equal = "damo.le", log1pexp = "damo.softplus", power = "damo.pow", conjugate = "damo.conj",
      divmod = "`damo.floor_div` and `damo.mod`",
      largest = "`damo.maximum` of two, `damo.max` of a stack",
      smallest = "`damo.minimum` of two, `damo.min` of a stack",
    },
  },
  {
    title = "pytensor.tensor: shapes, parts, order",
    names = "reshape shape shape_padaxis shape_padleft shape_padright specify_broadcastable specify_shape flip "
      .. "inc_subtensor set_subtensor slice_at_axis take argsort sort pad batched_dot batched_tensordot einsum "
      .. "vectorize interp interpolate1d bartlett bincount broadcast_arrays broadcast_shape broadcast_to "
      .. "compress concat_with_broadcast cumprod cumsum diff fill_diagonal fill_diagonal_offset geomspace "
      .. "linspace logspace ravel_multi_index repeat searchsorted squeeze unique unravel_index newaxis pi e "
      .. "inf nan",
    other = {
      ["repeat"] = "damo.repeat_", shape_padaxis = "damo.expand_dims", shape_padleft = "damo.dimshuffle",
      shape_padright = "damo.dimshuffle", slice_at_axis = "`x[{ {}, {1, 3} }]`", pi = "`math.pi`", e = "`math.exp(1)`",
      inf = "`math.huge`", nan = "`0/0`",
    },
  },
  {
    title = "pytensor.tensor.special",
    names = "beta betaln factorial log_softmax logaddexp logit logsumexp poch softmax xlog1py xlogy",
  },
  {
    title = "pytensor.tensor.linalg",
    names = "block_diag cho_solve cholesky det eig eigh eigvalsh expm inv kron lstsq lu lu_factor lu_solve "
      .. "matrix_dot matrix_power norm ordqz pinv pivot_to_permutation qr qz schur slogdet solve "
      .. "solve_continuous_lyapunov solve_discrete_are solve_discrete_lyapunov solve_sylvester "
      .. "solve_triangular svd tensorinv tensorsolve trace tridiagonal_lu_factor tridiagonal_lu_solve",
    home = "linalg",
    other = { kron = "damo.kron", trace = "damo.trace" },
  },
  {
    title = "pytensor.tensor.random",
    names = "RandomStream bernoulli beta betabinom binomial categorical cauchy chisquare choice dirichlet "
      .. "exponential gamma gengamma geometric gumbel halfcauchy halfnormal hypergeometric integers invgamma "
      .. "laplace logistic lognormal multinomial multivariate_normal nbinom negative_binomial normal pareto "
      .. "permutation poisson standard_normal t triangular truncexpon uniform vonmises wald weibull",
    home = "random",
    other = { standard_normal = "damo.random.normal", negative_binomial = "damo.random.nbinom" },
  },
  {
    title = "aesara.sparse",
    names = "as_sparse_variable as_sparse as_sparse_or_tensor_variable SparseTensorType dense_from_sparse toarray "
      .. "csr_from_dense csc_from_dense CSM CSC CSR csm_properties csm_data csm_indices csm_indptr csm_shape "
      .. "sp_ones_like sp_zeros_like square_diagonal construct_sparse_from_list cast bcast wcast icast lcast "
      .. "fcast dcast ccast zcast transpose neg eq neq gt ge lt le add sub mul col_scale row_scale "
      .. "add_s_s_data structured_add_s_v mul_s_v structured_sigmoid structured_exp structured_log "
      .. "structured_pow structured_minimum structured_maximum structured_add structured_monoid sin arcsin tan "
      .. "arctan sinh arcsinh tanh arctanh rad2deg deg2rad rint ceil floor trunc sgn log1p expm1 square sqr "
      .. "sqrt conjugate dot structured_dot true_dot sampling_dot usmm diag get_item_2d get_item_scalar "
      .. "get_item_list get_item_2lists poisson multinomial csr_fbinomial csr_dbinomial csc_fbinomial "
      .. "csc_dbinomial ensure_sorted_indices remove0 clean hstack vstack sp_sum csr_matrix csc_matrix matrix "
      .. "csr_fmatrix csr_dmatrix csc_fmatrix csc_dmatrix sparse_random_inputs verify_grad_sparse",
    home = "sparse",
  },
}

/* add: sums and differences.
 *
 * AddSS (two sparse: sparse, cancelled entries dropped), AddSD (sparse and dense: dense), AddSSData (two of one
 * pattern: their data), StructuredAddSV (a vector's entry added to each entry of its column). A difference is a sum
 * with the second operand negated. Gradients of the sparse results are the cotangent itself, with its own pattern.
 */
#include "op/sparse/sparse_op.h"
#include "op/elem/build_arith.h"

/* The static shape of two operands of equal shape: each length from one that knows it. */
static void sp_add_static_shape(damo_var *const *in, int64_t *shape) {
  for (int k = 0; k < 2; k++) shape[k] = in[in[0]->type->shape[k] < 0]->type->shape[k];
}

static damo_status type_need_same_dtype(const damo_op *op, damo_var *const *in) {
  if (var_dtype(in[0]) == var_dtype(in[1])) return DAMO_OK;
  return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: the operands must have one dtype, got %s and %s; cast one of them",
                  op->def->name, dtype_name(var_dtype(in[0])), dtype_name(var_dtype(in[1])));
}

/* The cotangent is the gradient of both operands; zeros where the result is discrete. */
static damo_status sp_add_pass_to_both(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  for (int i = 0; i < 2 && gout[0] != NULL; i++) {
    damo_var *zeros = build_flat_zeros(b, node, i);
    gin[i] = zeros != NULL ? zeros : gout[0];
  }
  return b->status;
}

/* The sum of the tangents that are not NULL, cast to the result's dtype; NULL when both are. */
static damo_var *build_add_tangents(build *b, const damo_apply *node, damo_var *x, damo_var *y) {
  damo_var *sum = build_add_present(b, x, y);
  return sum != NULL ? build_cast(b, sum, var_dtype(node->out[0])) : NULL;
}

/* ---- AddSS ------------------------------------------------------------------------------------------------------- */

static damo_status sp_add_ss_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  int64_t shape[2];
  (void)n_in;
  DAMO_TRY(type_need_sparse(op, in, 0));
  DAMO_TRY(type_need_sparse(op, in, 1));
  DAMO_TRY(type_need_same_shape(op, in));
  sp_add_static_shape(in, shape);
  return type_give_sparse(op, out, var_format_of(in[0]), dtype_promote(var_dtype(in[0]), var_dtype(in[1])),
                          itype_join(var_itype(in[0]), var_itype(in[1])), shape[0], shape[1]);
}

static damo_status sp_add_ss_perform(const thunk *t, frame *f) {
  return thunk_give_sparse(t, f, 0, sparse_merge(SPARSE_ADD, thunk_in_sparse(t, f, 0), thunk_in_sparse(t, f, 1)));
}

static damo_status sp_add_ss_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  rout[0] = build_add_tangents(b, node, eval[0], eval[1]);
  return b->status;
}

static const op_def sp_add_ss_def = {
    .name = "AddSS",
    .doc = "the sum of two sparse matrices, in the first one's format; what cancels is not stored",
    .n_in = 2,
    .infer_type = sp_add_ss_type,
    .perform = sp_add_ss_perform,
    .grad = sp_add_pass_to_both,
    .rop = sp_add_ss_rop,
    .infer_shape = infer_shape_same,
    .pattern = PATTERN_MEETS,
    .terms = TERMS_LINEAR,
    OP_CHECK(add_check),
};

/* ---- AddSD ------------------------------------------------------------------------------------------------------- */

static damo_status sp_add_sd_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  int64_t shape[2];
  (void)n_in;
  DAMO_TRY(type_need_sparse(op, in, 0));
  DAMO_TRY(type_need_dense(op, in, 1, 2));
  DAMO_TRY(type_need_same_shape(op, in));
  sp_add_static_shape(in, shape);
  return type_give_dense(op, out, dtype_promote(var_dtype(in[0]), var_dtype(in[1])), 2, shape);
}

static damo_status sp_add_sd_perform(const thunk *t, frame *f) {
  damo_sparse *x = thunk_in_sparse(t, f, 0);
  const damo_array *y = thunk_in(t, f, 1);
  const int64_t *shape = array_shape(y);
  if (shape[0] != x->shape[0] || shape[1] != x->shape[1]) return fail_dense_shape(t, f, x, y, "are not equal");
  const damo_dtype dtype = dtype_promote(sparse_dtype(x), array_dtype(y));
  /* duplicates are summed in x's dtype, before the conversion */
  damo_sparse *once = dtype != sparse_dtype(x) ? sparse_sum_duplicates(x) : damo_retain(x);
  damo_sparse *entries = once != NULL ? sparse_cast(once, dtype) : NULL;
  damo_array *out = entries != NULL ? thunk_out(t, f, 0, dtype, 2, shape) : NULL;
  const damo_status s = out != NULL ? array_assign(out, y) : damo_error_status(f->ctx);
  if (s == DAMO_OK) sparse_add_to_dense(entries, out);
  damo_release(once);
  damo_release(entries);
  return s;
}

static damo_status sp_add_sd_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  DAMO_TRY(sp_add_pass_to_both(b, node, gout, gin));
  if (gin[0] != NULL && !var_is_sparse(gin[0])) gin[0] = build_structured(b, gin[0], node->in[0]);
  return b->status;
}

static damo_status sp_add_sd_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_var *sum = build_add_tangents(b, node, eval[0], eval[1]);
  if (sum != NULL) rout[0] = build_toarray(b, sum);
  return b->status;
}

static const op_def sp_add_sd_def = {
    .name = "AddSD",
    .doc = "a dense matrix plus the entries of a sparse one: dense; the sparse operand's gradient is structured",
    .n_in = 2,
    .infer_type = sp_add_sd_type,
    .perform = sp_add_sd_perform,
    .grad = sp_add_sd_grad,
    .rop = sp_add_sd_rop,
    .infer_shape = infer_shape_same,
    .terms = TERMS_LINEAR,
    OP_CHECK(add_check),
};

/* ---- AddSSData --------------------------------------------------------------------------------------------------- */

static damo_status sp_add_data_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(type_need_sparse(op, in, 0));
  DAMO_TRY(type_need_sparse(op, in, 1));
  DAMO_TRY(type_need_same_shape(op, in));
  DAMO_TRY(type_need_same_dtype(op, in));
  if (var_format_of(in[0]) == var_format_of(in[1])) return type_give_like(op, out, in[0], var_dtype(in[0]));
  return ctx_fail(op->obj.ctx, DAMO_ETYPE, "AddSSData: the operands share a pattern, so also the format, got %s and %s",
                  sparse_format_name(var_format_of(in[0])), sparse_format_name(var_format_of(in[1])));
}

static damo_status sp_add_data_perform(const thunk *t, frame *f) {
  const damo_sparse *x = thunk_in_sparse(t, f, 0), *y = thunk_in_sparse(t, f, 1);
  if (x->shape[0] != y->shape[0] || x->shape[1] != y->shape[1] || sparse_nnz(x) != sparse_nnz(y)) {
    return ctx_fail(
        f->ctx, DAMO_ESHAPE,
        "AddSSData: the operands must have one pattern, got (%lld, %lld) with %lld entries and (%lld, %lld) "
        "with %lld",
        (long long)x->shape[0], (long long)x->shape[1], (long long)sparse_nnz(x), (long long)y->shape[0],
        (long long)y->shape[1], (long long)sparse_nnz(y));
  }
  damo_sparse *out = thunk_out_like(t, f, 0, x, sparse_dtype(x));
  if (out == NULL) return DAMO_EMEMORY;
  sparse_run_kernel(f->ctx, f->ctx->isa->add->fn[sparse_dtype(x)], sparse_dtype(x), sparse_nnz(x), x->data->data,
                    y->data->data, out->data->data);
  return DAMO_OK;
}

/* The result has the first operand's pattern: a cotangent on it is moved to the second operand's entries. */
static damo_status sp_add_data_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  DAMO_TRY(sp_add_pass_to_both(b, node, gout, gin));
  if (gin[1] == gout[0]) gin[1] = build_move_cotangent(b, gin[1], gin[1], node->out[0], node->in[1]);
  return b->status;
}

static damo_status sp_add_data_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_var *second = build_move_cotangent(b, eval[1], eval[1], node->in[1], node->in[0]);
  if (eval[0] == NULL || second == NULL) return sp_add_ss_rop(b, node, (damo_var *[]){eval[0], second}, rout);
  damo_var *sum = build_add_cotangents(b, node->in[0], eval[0], second);
  rout[0] = sum != NULL ? build_cast(b, sum, var_dtype(node->out[0])) : NULL;
  return b->status;
}

static const op_def sp_add_data_def = {
    .name = "AddSSData",
    .doc = "the sum of two sparse matrices that store the same positions in the same order, which is not checked",
    .n_in = 2,
    .infer_type = sp_add_data_type,
    .perform = sp_add_data_perform,
    .grad = sp_add_data_grad,
    .rop = sp_add_data_rop,
    .infer_shape = infer_shape_same,
    .pattern = PATTERN_SHARED,
    .terms = TERMS_LINEAR,
    OP_CHECK(add_check),
};

/* ---- StructuredAddSV --------------------------------------------------------------------------------------------- */

static damo_status sp_add_sv_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(type_need_sparse(op, in, 0));
  DAMO_TRY(type_need_dense(op, in, 1, 1));
  DAMO_TRY(type_need_same_length(op, in, 0, 1, 1, 0));
  DAMO_TRY(type_need_same_dtype(op, in));
  return type_give_like(op, out, in[0], var_dtype(in[0]));
}

static damo_status sp_add_sv_perform(const thunk *t, frame *f) {
  damo_sparse *x = thunk_in_sparse(t, f, 0);
  const damo_dtype dtype = sparse_dtype(x);
  return thunk_give_sparse(t, f, 0, sparse_with_columns(f->ctx->isa->add->fn[dtype], dtype, x, thunk_in(t, f, 1)));
}

/* Ones of x's dtype where x is not 0: where the vector is added. */
static damo_var *build_support(build *b, damo_var *x) {
  damo_var *places = build_neq(b, x, build_int(b, 0));
  return places != NULL ? build_sparse_cast(b, places, var_dtype(x)) : NULL;
}

static damo_status sp_add_sv_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  DAMO_TRY(sp_add_pass_to_both(b, node, gout, gin));
  if (gout[0] == NULL || build_flat_zeros(b, node, 1) != NULL) return b->status;
  gin[1] = build_axis_sums(b, build_structured(b, gout[0], build_support(b, node->in[0])), 1);
  return b->status;
}

static damo_status sp_add_sv_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_var *y = eval[1] != NULL ? build_col_scale(b, build_support(b, node->in[0]), eval[1]) : NULL;
  if (b->status == DAMO_OK) rout[0] = build_add_tangents(b, node, eval[0], y);
  return b->status;
}

static const op_def sp_add_sv_def = {
    .name = "StructuredAddSV",
    .doc = "a vector's entry for the column added to each entry that is not 0; sums that are 0 are not stored",
    .n_in = 2,
    .infer_type = sp_add_sv_type,
    .perform = sp_add_sv_perform,
    .grad = sp_add_sv_grad,
    .rop = sp_add_sv_rop,
    .infer_shape = infer_shape_same,
    .pattern = PATTERN_ONCE,
    OP_CHECK(add_sv_check),
};

/* ---- Functions --------------------------------------------------------------------------------------------------- */

/* Type error where a dense operand of a sum is not a matrix. */
static damo_status sp_add_check_dense(build *b, const fn_args *a, const damo_var *y) {
  if (var_is_sparse(y) || var_ndim(y) == 2) return DAMO_OK;
  if (var_ndim(y) > 2) {
    build_fail(b, DAMO_ETYPE, "%s: the dense operand must be a matrix, got one of rank %d", a->func->name, var_ndim(y));
    return b->status;
  }
  build_fail(
      b, DAMO_ETYPE,
      "%s: a sparse matrix and a %s would give a dense result: use damo.sparse.%s to compute on the stored entries "
      "alone, or x:toarray() to compute on the dense matrix",
      a->func->name, var_ndim(y) == 0 ? "number" : "vector",
      var_ndim(y) == 0 ? "structured_add(x, s)" : "structured_add_s_v(x, v)");
  return b->status;
}

/* y; where it is a row or column, a view of it broadcast to x's shape. */
static damo_var *build_stretched_for_add(build *b, const char *func, damo_var *y, damo_var *x) {
  damo_var *dims[2];
  bool needed = false;
  for (int k = 0; k < 2; k++) needed = needed || (type_dim_is_one(y->type, k) && !type_dim_is_one(x->type, k));
  if (!needed) return y;
  if (build_dims(b, x, dims) != DAMO_OK) return NULL;
  for (int k = 0; k < 2; k++) {
    if (!type_dim_is_one(y->type, k)) dims[k] = build_dim(b, y, k);
  }
  return build_broadcast_to(b, func, y, dims, 2);
}

/* x + y, one of them sparse, both checked. */
static damo_var *build_add_pair(build *b, const fn_args *a, damo_var *x, damo_var *y) {
  if (x == NULL || y == NULL) return NULL;
  if (var_is_sparse(x) && var_is_sparse(y)) return build_class(b, &sp_add_ss_def, (damo_var *[]){x, y}, 2);
  damo_var *s = var_is_sparse(x) ? x : y, *d = var_is_sparse(x) ? y : x;
  return build_class(b, &sp_add_sd_def, (damo_var *[]){s, build_stretched_for_add(b, a->func->name, d, s)}, 2);
}

static damo_status sp_add_operands(build *b, const fn_args *a, damo_var **pair) {
  DAMO_TRY(pair_operands(b, a, pair));
  if (!var_is_sparse(pair[0]) && !var_is_sparse(pair[1])) return fail_pair_dense(b, a, pair);
  DAMO_TRY(sp_add_check_dense(b, a, pair[0]));
  return sp_add_check_dense(b, a, pair[1]);
}

static damo_status sp_fn_add(build *b, const fn_args *a, ptrvec *out) {
  damo_var *pair[2];
  DAMO_TRY(sp_add_operands(b, a, pair));
  return fn_give(b, out, build_add_pair(b, a, pair[0], pair[1]));
}

/* The second operand is converted to the result's dtype before its sign changes, since small and unsigned integers
 * would wrap. */
static damo_status sp_fn_sub(build *b, const fn_args *a, ptrvec *out) {
  damo_var *pair[2];
  DAMO_TRY(sp_add_operands(b, a, pair));
  damo_dtype dtype = dtype_promote(var_dtype(pair[0]), var_dtype(pair[1]));
  if (dtype == DAMO_BOOL) {
    build_fail(b, DAMO_ETYPE, "%s is not defined for bool; cast the operands first", a->func->name);
    return b->status;
  }
  damo_var *y = build_cast(b, pair[1], dtype);
  return fn_give(b, out, build_add_pair(b, a, pair[0], y != NULL ? build_neg(b, y) : NULL));
}

static damo_status sp_fn_add_s_s(build *b, const fn_args *a, ptrvec *out) {
  return fn_give_pair(b, a, out, &sp_add_ss_def);
}
static damo_status sp_fn_add_s_d(build *b, const fn_args *a, ptrvec *out) {
  return fn_give_pair(b, a, out, &sp_add_sd_def);
}
static damo_status sp_fn_add_data(build *b, const fn_args *a, ptrvec *out) {
  return fn_give_pair(b, a, out, &sp_add_data_def);
}
static damo_status sp_fn_add_s_v(build *b, const fn_args *a, ptrvec *out) {
  return fn_give_pair(b, a, out, &sp_add_sv_def);
}

const op_func sparse_add_funcs[] = {
    {.name = "sparse.add",
     .operands = "x y",
     .call = sp_fn_add,
     .doc = "x + y, one of them sparse: sparse when both are, else dense"},
    {.name = "sparse.sub",
     .operands = "x y",
     .call = sp_fn_sub,
     .doc = "x - y, one of them sparse: sparse when both are, else dense"},
    {.name = "sparse.add_s_s", .operands = "x y", .call = sp_fn_add_s_s, .doc = "the sum of two sparse matrices"},
    {.name = "sparse.add_s_d",
     .operands = "x y",
     .call = sp_fn_add_s_d,
     .doc = "the sum of a sparse and a dense matrix: dense"},
    {.name = "sparse.add_s_s_data",
     .operands = "x y",
     .call = sp_fn_add_data,
     .doc = "the sum of two sparse matrices that store the same positions in the same order"},
    {.name = "sparse.structured_add_s_v",
     .operands = "x v",
     .call = sp_fn_add_s_v,
     .doc = "v[j] added to the entries of column j that are not 0"},
    {.name = NULL},
};

const op_def *const sparse_add_classes[] = {&sp_add_ss_def, &sp_add_sd_def, &sp_add_data_def, &sp_add_sv_def, NULL};

/* mul: products and quotients entry by entry.
 *
 * MulSS (two sparse: entries that both have), MulSD and DivSD (sparse by a number or a dense matrix: the sparse
 * operand's pattern), MulSV (column j times v[j], zeros dropped), ColScaleCSC and RowScaleCSC (of either format; zeros
 * kept). A gradient for a sparse operand is the cotangent, with its own pattern, times the other operand; that of a
 * dense operand is dense.
 */
#include "op/sparse/sparse_op.h"
#include "op/elem/build_arith.h"

/* Gives the sum of the tangent's terms x and y that are not NULL, cast to the result's dtype. */
static damo_status sp_mul_give_sum(build *b, const damo_apply *node, damo_var *x, damo_var *y, damo_var **rout) {
  damo_var *sum = x == NULL ? y : y == NULL ? x : build_add_cotangents(b, node->in[0], x, y);
  if (sum != NULL && b->status == DAMO_OK) rout[0] = build_cast(b, sum, var_dtype(node->out[0]));
  return b->status;
}

typedef damo_var *product_builder(build *b, damo_var *x, damo_var *y);

/* Forward mode of products: product(dx, y) + product(x, dy). */
static damo_status sp_product_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout,
                                  product_builder *product) {
  damo_var *x = eval[0] != NULL ? product(b, eval[0], node->in[1]) : NULL;
  damo_var *y = eval[1] != NULL ? product(b, node->in[0], eval[1]) : NULL;
  return sp_mul_give_sum(b, node, x, y, rout);
}

/* conj(x)·g at x's stored positions; entry by entry where g is on x's pattern. */
static damo_var *build_mul_at_entries(build *b, damo_var *x, damo_var *g) {
  if (x != NULL && dtype_is_discrete(var_dtype(x))) x = build_sparse_cast(b, x, var_dtype(g));
  damo_var *data = x != NULL ? build_data(b, x) : NULL, *here = data != NULL ? build_gather(b, g, x) : NULL;
  return here != NULL ? build_with_data(b, x, build_mul(b, build_conj_if_complex(b, data), here)) : NULL;
}

damo_var *build_axis_sums(build *b, damo_var *x, int axis) {
  if (x == NULL || b->status != DAMO_OK) return NULL;
  return build_sp_sum(b, x, axis - 1, true);
}

/* The sum of a sparse matrix's entries. */
static damo_var *build_sum_of_entries(build *b, damo_var *x) {
  damo_var *data = x != NULL ? build_data(b, x) : NULL;
  return build_reduce(b, REDUCE_SUM, data, NULL, -1, false);
}

/* The class over a pair whose weak literals are resolved. */
static damo_var *build_over_pair(build *b, const op_def *def, damo_var *x, damo_var *y) {
  damo_var *pair[2] = {x, y};
  return x != NULL && y != NULL && build_resolve(b, pair, 2, false, pair) == DAMO_OK ? build_class(b, def, pair, 2)
                                                                                     : NULL;
}

static const op_def sp_mul_sv_def;

static damo_var *build_mul_sv(build *b, damo_var *x, damo_var *v) { return build_over_pair(b, &sp_mul_sv_def, x, v); }
static damo_var *build_row_scale(build *b, damo_var *x, damo_var *s) {
  return build_over_pair(b, &sp_row_scale_def, x, s);
}
damo_var *build_col_scale(build *b, damo_var *x, damo_var *s) { return build_over_pair(b, &sp_col_scale_def, x, s); }

/* ---- MulSS ------------------------------------------------------------------------------------------------------- */

static damo_status sp_mul_ss_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  int64_t shape[2];
  (void)n_in;
  DAMO_TRY(type_need_sparse(op, in, 0));
  DAMO_TRY(type_need_sparse(op, in, 1));
  DAMO_TRY(type_need_same_shape(op, in));
  for (int k = 0; k < 2; k++) shape[k] = in[in[0]->type->shape[k] < 0]->type->shape[k];
  return type_give_sparse(op, out, var_format_of(in[0]), dtype_promote(var_dtype(in[0]), var_dtype(in[1])),
                          itype_join(var_itype(in[0]), var_itype(in[1])), shape[0], shape[1]);
}

static damo_status sp_mul_ss_perform(const thunk *t, frame *f) {
  return thunk_give_sparse(t, f, 0, sparse_merge(SPARSE_MUL, thunk_in_sparse(t, f, 0), thunk_in_sparse(t, f, 1)));
}

static damo_status sp_mul_ss_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  for (int i = 0; i < 2 && gout[0] != NULL; i++) {
    gin[i] = build_flat_zeros(b, node, i);
    if (gin[i] != NULL) continue;
    damo_var *other = node->in[1 - i];
    if (var_is_dense(gout[0])) other = build_summed(b, other); /* else the product would keep its duplicates */
    gin[i] = other != NULL ? build_mul(b, gout[0], build_conj_if_complex(b, other)) : NULL;
  }
  return b->status;
}

static damo_status sp_mul_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  return sp_product_rop(b, node, eval, rout, build_mul);
}

const op_def sp_mul_ss_def = {
    .name = "MulSS",
    .doc = "the product of two sparse matrices entry by entry, in the first one's format; zeros are not stored",
    .n_in = 2,
    .infer_type = sp_mul_ss_type,
    .perform = sp_mul_ss_perform,
    .grad = sp_mul_ss_grad,
    .rop = sp_mul_rop,
    .infer_shape = infer_shape_same,
    .pattern = PATTERN_ONCE,
    .terms = TERMS_LINEAR,
    OP_CHECK(mul_check),
};

/* ---- MulSD, DivSD ------------------------------------------------------------------------------------------------ */

static damo_status sp_mul_need_number_or_matrix(const damo_op *op, damo_var *const *in) {
  DAMO_TRY(type_need_sparse(op, in, 0));
  return var_is_dense(in[1]) && var_ndim(in[1]) == 0 ? DAMO_OK : type_need_dense(op, in, 1, 2);
}

static damo_status sp_mul_sd_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(sp_mul_need_number_or_matrix(op, in));
  if (var_ndim(in[1]) == 2) DAMO_TRY(type_need_same_shape(op, in));
  return type_give_like(op, out, in[0], dtype_promote(var_dtype(in[0]), var_dtype(in[1])));
}

/* Shape error unless y is a number or has x's lengths; with `stretch` an axis that y's Type says has length 1 may
 * broadcast. */
static damo_status sp_mul_check_shapes(const thunk *t, frame *f, const damo_sparse *x, const damo_array *y,
                                       bool stretch) {
  const damo_type *type = t->node->in[1]->type;
  for (int k = 0; k < 2 && y->ndim == 2; k++) {
    if (array_shape(y)[k] == x->shape[k] || (stretch && type_dim_is_one(type, k))) continue;
    return fail_dense_shape(t, f, x, y, "do not agree");
  }
  return DAMO_OK;
}

static damo_status sp_mul_entries_perform(const thunk *t, frame *f, const kernel_set *op, bool stretch) {
  const damo_array *y = thunk_in(t, f, 1);
  const damo_dtype dtype = var_dtype(t->node->out[0]);
  DAMO_TRY(sp_mul_check_shapes(t, f, thunk_in_sparse(t, f, 0), y, stretch));
  damo_sparse *x = sparse_summed_for(thunk_in_sparse(t, f, 0), dtype);
  damo_sparse *out = x != NULL ? thunk_out_like(t, f, 0, x, dtype) : NULL;
  const damo_status s = out != NULL ? sparse_entries_with(op->fn[dtype], dtype, x, y, out->data) : DAMO_EMEMORY;
  damo_release(x);
  return s;
}

static damo_status sp_mul_sd_perform(const thunk *t, frame *f) {
  return sp_mul_entries_perform(t, f, f->ctx->isa->mul, false);
}

/* Sums the sparse matrix z over the axes along which y was broadcast to its shape: to a number, row, column or matrix,
 * dense. */
static damo_var *build_reduce_to(build *b, damo_var *z, const damo_var *y) {
  if (z == NULL || b->status != DAMO_OK) return NULL;
  if (var_ndim(y) == 0) return build_sum_of_entries(b, z);
  const bool row = type_dim_is_one(y->type, 0) && !type_dim_is_one(z->type, 0);
  const bool column = type_dim_is_one(y->type, 1) && !type_dim_is_one(z->type, 1);
  if (row && column) return build_dimshuffle(b, build_sum_of_entries(b, z), (const int[]){-1, -1}, 2);
  if (row) return build_dimshuffle(b, build_axis_sums(b, z, 1), (const int[]){-1, 0}, 2);
  if (column) return build_dimshuffle(b, build_axis_sums(b, z, 2), (const int[]){0, -1}, 2);
  return build_toarray(b, z);
}

static damo_status sp_mul_sd_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *g = gout[0], *x = node->in[0], *y = node->in[1];
  if (g == NULL) return DAMO_OK;
  gin[0] = build_flat_zeros(b, node, 0);
  gin[1] = build_flat_zeros(b, node, 1);
  if (gin[0] == NULL) gin[0] = build_mul(b, g, build_conj_if_complex(b, y));
  if (gin[1] == NULL) {
    damo_var *z = build_mul_at_entries(b, x, g);
    gin[1] = var_ndim(y) == 0 ? build_sum_of_entries(b, z) : build_toarray(b, z);
  }
  return b->status;
}

static const op_def sp_mul_sd_def = {
    .name = "MulSD",
    .doc = "the entries of a sparse matrix times a number, or those of a dense matrix at their positions",
    .n_in = 2,
    .infer_type = sp_mul_sd_type,
    .perform = sp_mul_sd_perform,
    .grad = sp_mul_sd_grad,
    .rop = sp_mul_rop,
    .infer_shape = infer_shape_same,
    .pattern = PATTERN_SHARED,
    .entrywise = true,
    .terms = TERMS_LINEAR,
    OP_CHECK(mul_check),
};

static damo_status sp_div_sd_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(sp_mul_need_number_or_matrix(op, in));
  for (int k = 0; k < 2 && var_ndim(in[1]) == 2; k++) {
    if (!type_dim_is_one(in[1]->type, k)) DAMO_TRY(type_need_same_length(op, in, 0, k, 1, k));
  }
  damo_dtype dtype = dtype_promote(var_dtype(in[0]), var_dtype(in[1]));
  return type_give_like(op, out, in[0], dtype_is_discrete(dtype) ? op->obj.ctx->config.floatX : dtype);
}

static damo_status sp_div_sd_perform(const thunk *t, frame *f) {
  return sp_mul_entries_perform(t, f, f->ctx->isa->true_div, true);
}

/* d(x/y) = dx/y - (x/y)·dy/y. */
static damo_status sp_div_sd_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *g = gout[0], *x = node->in[0], *y = node->in[1];
  if (g == NULL) return DAMO_OK;
  gin[0] = build_flat_zeros(b, node, 0);
  gin[1] = build_flat_zeros(b, node, 1);
  if (gin[0] == NULL) gin[0] = build_true_div(b, g, build_conj_if_complex(b, y));
  if (gin[1] == NULL) {
    damo_var *slope = build_true_div(b, build_true_div(b, x, y), y);
    damo_var *z = slope != NULL ? build_mul_at_entries(b, slope, g) : NULL;
    gin[1] = build_reduce_to(b, z != NULL ? build_neg(b, z) : NULL, y);
  }
  return b->status;
}

/* y; where it is a row or column, a view of it broadcast to x's shape. */
static damo_var *build_stretched_for_div(build *b, damo_var *y, damo_var *x) {
  damo_var *dims[2];
  if (var_ndim(y) == 0 || (!type_dim_is_one(y->type, 0) && !type_dim_is_one(y->type, 1))) return y;
  return build_dims(b, x, dims) == DAMO_OK ? build_broadcast_to(b, "true_div", y, dims, 2) : NULL;
}

static damo_status sp_div_sd_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_var *x = node->in[0], *y = node->in[1], *dx = NULL, *dy = NULL;
  if (eval[0] != NULL) dx = build_true_div(b, eval[0], y);
  if (eval[1] != NULL) {
    damo_var *slope = build_true_div(b, node->out[0], y), *v = build_stretched_for_div(b, eval[1], x);
    if (slope != NULL && v != NULL) dy = build_neg(b, build_mul(b, slope, v));
  }
  return b->status == DAMO_OK ? sp_mul_give_sum(b, node, dx, dy, rout) : b->status;
}

static const op_def sp_div_sd_def = {
    .name = "DivSD",
    .doc = "the entries of a sparse matrix divided by a number, or by those of a dense matrix, row or column",
    .n_in = 2,
    .infer_type = sp_div_sd_type,
    .perform = sp_div_sd_perform,
    .grad = sp_div_sd_grad,
    .rop = sp_div_sd_rop,
    .infer_shape = infer_shape_same,
    .pattern = PATTERN_SHARED,
    .entrywise = true,
    OP_CHECK(div_check),
};

/* ---- MulSV ------------------------------------------------------------------------------------------------------- */

static damo_status sp_mul_sv_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(type_need_sparse(op, in, 0));
  DAMO_TRY(type_need_dense(op, in, 1, 1));
  DAMO_TRY(type_need_same_length(op, in, 0, 1, 1, 0));
  if (var_dtype(in[0]) == var_dtype(in[1])) return type_give_like(op, out, in[0], var_dtype(in[0]));
  return ctx_fail(op->obj.ctx, DAMO_ETYPE, "MulSV: the operands must have one dtype, got %s and %s; cast one of them",
                  dtype_name(var_dtype(in[0])), dtype_name(var_dtype(in[1])));
}

static damo_status sp_mul_sv_perform(const thunk *t, frame *f) {
  damo_sparse *x = thunk_in_sparse(t, f, 0);
  const damo_dtype dtype = sparse_dtype(x);
  return thunk_give_sparse(t, f, 0, sparse_with_columns(f->ctx->isa->mul->fn[dtype], dtype, x, thunk_in(t, f, 1)));
}

/* g scaled along an axis (0-based) by the vector s: by that sparse product, or a dense one. */
static damo_var *build_scaled(build *b, product_builder *product, damo_var *g, damo_var *s, int axis) {
  if (g == NULL || s == NULL || b->status != DAMO_OK) return NULL;
  if (var_is_sparse(g)) return product(b, g, build_cast(b, s, var_dtype(g)));
  const int row[] = {-1, 0}, column[] = {0, -1};
  return build_mul(b, g, build_dimshuffle(b, s, axis == 0 ? column : row, 2));
}

/* The gradients of x scaled along an axis by a vector. */
static damo_status sp_scale_grads(build *b, damo_apply *node, damo_var *g, damo_var **gin, product_builder *product,
                                  int axis) {
  damo_var *x = node->in[0], *s = node->in[1];
  if (g == NULL) return DAMO_OK;
  gin[0] = build_flat_zeros(b, node, 0);
  gin[1] = build_flat_zeros(b, node, 1);
  if (gin[0] == NULL) gin[0] = build_scaled(b, product, g, build_conj_if_complex(b, s), axis);
  if (gin[1] == NULL) gin[1] = build_axis_sums(b, build_mul_at_entries(b, x, g), axis == 1 ? 1 : 2);
  return b->status;
}

static damo_status sp_mul_sv_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  return sp_scale_grads(b, node, gout[0], gin, build_mul_sv, 1);
}

static damo_status sp_mul_sv_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  return sp_product_rop(b, node, eval, rout, build_mul_sv);
}

static const op_def sp_mul_sv_def = {
    .name = "MulSV",
    .doc = "each column of a sparse matrix times a vector's entry; products that are 0 are not stored",
    .n_in = 2,
    .infer_type = sp_mul_sv_type,
    .perform = sp_mul_sv_perform,
    .grad = sp_mul_sv_grad,
    .rop = sp_mul_sv_rop,
    .infer_shape = infer_shape_same,
    .pattern = PATTERN_ONCE,
    .terms = TERMS_LINEAR,
    OP_CHECK(mul_check),
};

/* ---- ColScaleCSC, RowScaleCSC ------------------------------------------------------------------------------------ */

static damo_status sp_scale_type(const damo_op *op, damo_var *const *in, damo_type **out, int axis) {
  DAMO_TRY(type_need_sparse(op, in, 0));
  DAMO_TRY(type_need_dense(op, in, 1, 1));
  DAMO_TRY(type_need_same_length(op, in, 0, axis, 1, 0));
  return type_give_like(op, out, in[0], dtype_promote(var_dtype(in[0]), var_dtype(in[1])));
}

static damo_status sp_scale_perform(const thunk *t, frame *f, int axis) {
  const damo_dtype dtype = var_dtype(t->node->out[0]);
  damo_sparse *x = sparse_summed_for(thunk_in_sparse(t, f, 0), dtype);
  damo_sparse *out = x != NULL ? thunk_out_like(t, f, 0, x, dtype) : NULL;
  const damo_status s = out != NULL ? sparse_scale_to(x, axis, thunk_in(t, f, 1), out) : DAMO_EMEMORY;
  damo_release(x);
  return s;
}

static damo_status sp_col_scale_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  return sp_scale_type(op, in, out, 1);
}

static damo_status sp_col_scale_perform(const thunk *t, frame *f) { return sp_scale_perform(t, f, 1); }

static damo_status sp_col_scale_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  return sp_scale_grads(b, node, gout[0], gin, build_col_scale, 1);
}

static damo_status sp_col_scale_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  return sp_product_rop(b, node, eval, rout, build_col_scale);
}

const op_def sp_col_scale_def = {
    .name = "ColScaleCSC",
    .doc = "each column of a sparse matrix, csc or csr, times a vector's entry",
    .n_in = 2,
    .infer_type = sp_col_scale_type,
    .perform = sp_col_scale_perform,
    .grad = sp_col_scale_grad,
    .rop = sp_col_scale_rop,
    .infer_shape = infer_shape_same,
    .pattern = PATTERN_SHARED,
    .entrywise = true,
    .terms = TERMS_LINEAR,
    OP_CHECK(mul_check),
};

static damo_status sp_row_scale_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  return sp_scale_type(op, in, out, 0);
}

static damo_status sp_row_scale_perform(const thunk *t, frame *f) { return sp_scale_perform(t, f, 0); }

static damo_status sp_row_scale_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  return sp_scale_grads(b, node, gout[0], gin, build_row_scale, 0);
}

static damo_status sp_row_scale_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  return sp_product_rop(b, node, eval, rout, build_row_scale);
}

const op_def sp_row_scale_def = {
    .name = "RowScaleCSC",
    .doc = "each row of a sparse matrix, csc or csr, times a vector's entry",
    .n_in = 2,
    .infer_type = sp_row_scale_type,
    .perform = sp_row_scale_perform,
    .grad = sp_row_scale_grad,
    .rop = sp_row_scale_rop,
    .infer_shape = infer_shape_same,
    .pattern = PATTERN_SHARED,
    .entrywise = true,
    .terms = TERMS_LINEAR,
    OP_CHECK(row_scale_check),
};

/* ---- Functions --------------------------------------------------------------------------------------------------- */

/* Type error unless the dense operand y is a number or a matrix. */
static damo_status sp_mul_need_factor(build *b, const char *func, const damo_var *y) {
  if (var_ndim(y) == 0 || var_ndim(y) == 2) return DAMO_OK;
  build_fail(b, DAMO_ETYPE,
             "%s: the dense operand must be a number or a matrix, got one of rank %d; damo.sparse.col_scale(x, v) and "
             "row_scale(x, v) take a vector",
             func, var_ndim(y));
  return b->status;
}

/* As in Aesara, this product does not broadcast a dense row or column over x. The error names the functions that do. */
static damo_status sp_mul_need_whole(build *b, const damo_var *x, const damo_var *y) {
  for (int k = 0; k < 2 && var_ndim(y) == 2; k++) {
    if (!type_dim_is_one(y->type, k) || x->type->shape[k] <= 1) continue;
    build_fail(b, DAMO_ESHAPE,
               "sparse.mul: a dense %s does not stretch over a sparse matrix: use x * y or damo.mul(x, y)",
               k == 0 ? "row" : "column");
    return b->status;
  }
  return DAMO_OK;
}

/* The function sparse.mul of a pair without weak literals, at least one of which is sparse. */
static damo_var *build_sparse_mul(build *b, damo_var *const *pair) {
  if (var_is_sparse(pair[0]) && var_is_sparse(pair[1])) return build_class(b, &sp_mul_ss_def, pair, 2);
  damo_var *x = pair[!var_is_sparse(pair[0])], *y = pair[var_is_sparse(pair[0])];
  const damo_status s = sp_mul_need_factor(b, "sparse.mul", y);
  if (s != DAMO_OK || sp_mul_need_whole(b, x, y) != DAMO_OK) return NULL;
  return build_class(b, &sp_mul_sd_def, (damo_var *[]){x, y}, 2);
}

static damo_status sp_fn_mul(build *b, const fn_args *a, ptrvec *out) {
  damo_var *pair[2];
  DAMO_TRY(pair_operands(b, a, pair));
  if (!var_is_sparse(pair[0]) && !var_is_sparse(pair[1])) return fail_pair_dense(b, a, pair);
  return fn_give(b, out, build_sparse_mul(b, pair));
}

damo_status sp_fn_mul_stretched(build *b, const fn_args *a, ptrvec *out) {
  damo_var *pair[2];
  bool over[2] = {false, false};
  DAMO_TRY(pair_operands(b, a, pair));
  damo_var *x = pair[!var_is_sparse(pair[0])], *y = pair[var_is_sparse(pair[0])];
  for (int k = 0; k < 2 && var_is_dense(y) && var_ndim(y) == 2; k++)
    over[k] = type_dim_is_one(y->type, k) && !type_dim_is_one(x->type, k);
  if (over[0] && over[1]) pair[y == pair[1]] = build_dimshuffle(b, y, NULL, 0);
  if (over[0] == over[1]) return fn_give(b, out, b->status == DAMO_OK ? build_sparse_mul(b, pair) : NULL);
  damo_var *v = build_dimshuffle(b, y, over[0] ? (const int[]){1} : (const int[]){0}, 1);
  return fn_give(b, out, build_class(b, over[0] ? &sp_col_scale_def : &sp_row_scale_def, (damo_var *[]){x, v}, 2));
}

static damo_status sp_fn_true_div(build *b, const fn_args *a, ptrvec *out) {
  damo_var *pair[2];
  DAMO_TRY(pair_operands(b, a, pair));
  if (!var_is_sparse(pair[0]) && !var_is_sparse(pair[1])) return fail_pair_dense(b, a, pair);
  if (var_is_sparse(pair[1])) {
    build_fail(
        b, DAMO_ETYPE,
        "%s: division by a sparse matrix divides by the zeros that it does not store: use y:toarray() to compute "
        "on the dense matrix, or x:with_data(…) to divide stored entries of one pattern",
        a->func->name);
    return b->status;
  }
  DAMO_TRY(sp_mul_need_factor(b, a->func->name, pair[1]));
  return fn_give(b, out, build_class(b, &sp_div_sd_def, pair, 2));
}

static damo_status sp_fn_mul_s_s(build *b, const fn_args *a, ptrvec *out) {
  return fn_give_pair(b, a, out, &sp_mul_ss_def);
}
static damo_status sp_fn_mul_s_d(build *b, const fn_args *a, ptrvec *out) {
  return fn_give_pair(b, a, out, &sp_mul_sd_def);
}
static damo_status sp_fn_mul_s_v(build *b, const fn_args *a, ptrvec *out) {
  return fn_give_pair(b, a, out, &sp_mul_sv_def);
}
static damo_status sp_fn_col_scale(build *b, const fn_args *a, ptrvec *out) {
  return fn_give_pair(b, a, out, &sp_col_scale_def);
}
static damo_status sp_fn_row_scale(build *b, const fn_args *a, ptrvec *out) {
  return fn_give_pair(b, a, out, &sp_row_scale_def);
}

const op_func sparse_mul_funcs[] = {
    {.name = "sparse.mul",
     .operands = "x y",
     .call = sp_fn_mul,
     .doc = "x * y entry by entry, one of them sparse: sparse; the other sparse, a number or a dense matrix; damo.mul "
            "and * stretch a dense row or column too"},
    {.name = "sparse.true_div",
     .operands = "x y",
     .call = sp_fn_true_div,
     .doc = "the stored entries of x divided by a number, or by a dense matrix, row or column at their positions"},
    {.name = "sparse.mul_s_s",
     .operands = "x y",
     .call = sp_fn_mul_s_s,
     .doc = "the product of two sparse matrices entry by entry"},
    {.name = "sparse.mul_s_d",
     .operands = "x y",
     .call = sp_fn_mul_s_d,
     .doc = "a sparse matrix times a dense one or a number, entry by entry: sparse"},
    {.name = "sparse.mul_s_v",
     .operands = "x v",
     .call = sp_fn_mul_s_v,
     .doc = "column j times v[j]; products that are 0 are not stored"},
    {.name = "sparse.col_scale",
     .operands = "x s",
     .call = sp_fn_col_scale,
     .doc = "column j times s[j], on x's pattern"},
    {.name = "sparse.row_scale", .operands = "x s", .call = sp_fn_row_scale, .doc = "row i times s[i], on x's pattern"},
    {.name = NULL},
};

const op_def *const sparse_mul_classes[] = {
    &sp_mul_ss_def, &sp_mul_sd_def, &sp_div_sd_def, &sp_mul_sv_def, &sp_col_scale_def, &sp_row_scale_def, NULL};

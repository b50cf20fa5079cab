/* norm: the Frobenius norm, the largest sum of a column and of a row, and norms of columns and rows as vectors.
 *
 * Built of other ops on the stored values; the result is dense, its gradient at the stored positions. The one class,
 * NarrowMinor, drops the columns (csr) or rows (csc) without entries where they are far more than the entries: a vector
 * of their sums might not fit in memory.
 */
#include "op/sparse/sparse_op.h"
#include "op/elem/build_arith.h"

#include <math.h>
#include <string.h>

/* ---- NarrowMinor ------------------------------------------------------------------------------------------------- */

static damo_status sp_narrow_minor_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(type_need_sparse(op, in, 0));
  int64_t shape[2] = {in[0]->type->shape[0], in[0]->type->shape[1]};
  shape[var_format_of(in[0]) == DAMO_CSR] = -1;
  return type_give_sparse(op, out, var_format_of(in[0]), var_dtype(in[0]), var_itype(in[0]), shape[0], shape[1]);
}

/* At least one column (csr) or row (csc) is left, since a maximum needs an element. */
static damo_status sp_narrow_minor_perform(const thunk *t, frame *f) {
  damo_array *used = NULL;
  damo_sparse *x = damo_retain(thunk_in_sparse(t, f, 0));
  damo_status s = sparse_narrow_one(&x, &used);
  if (s == DAMO_OK && used != NULL && sparse_minor(x) == 0) x->shape[sparse_format(x) == DAMO_CSR] = 1;
  damo_release(used);
  if (s == DAMO_OK) return thunk_give_sparse(t, f, 0, x);
  damo_release(x);
  return s;
}

/* The result has x's entries in x's order, so derivatives pass as vectors of values. */
static damo_status sp_narrow_minor_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[0] != NULL) gin[0] = build_with_data(b, node->in[0], build_gather(b, gout[0], node->out[0]));
  return b->status;
}

static damo_status sp_narrow_minor_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  if (eval[0] != NULL) rout[0] = build_with_data(b, node->out[0], build_gather(b, eval[0], node->in[0]));
  return b->status;
}

static const op_def sp_narrow_minor_def = {
    .name = "NarrowMinor",
    .doc = "a sparse matrix without the columns (csr) or rows (csc) that store nothing, where they are by far the most",
    .n_in = 1,
    .view_map = alias_first,
    .infer_type = sp_narrow_minor_type,
    .perform = sp_narrow_minor_perform,
    .grad = sp_narrow_minor_grad,
    .rop = sp_narrow_minor_rop,
    .pattern = PATTERN_FOLLOWS,
    OP_CHECK(narrow_minor_check),
};

/* ---- Norms ------------------------------------------------------------------------------------------------------- */

/* The order as a number; nan where v is none. */
static double sp_norm_read_order(const prop_value *v) {
  if (v->kind == PROP_INT) return (double)v->u.i;
  if (v->kind == PROP_NUM) return v->u.f;
  if (v->kind == PROP_STR && strcmp(v->u.s, "inf") == 0) return INFINITY;
  return v->kind == PROP_STR && strcmp(v->u.s, "-inf") == 0 ? -INFINITY : NAN;
}

/* |v|² of the stored values, real. */
static damo_var *build_norm_squares(build *b, damo_var *x) {
  damo_var *data = build_data(b, x);
  if (data == NULL) return NULL;
  damo_var *out = build_sqr(b, build_real(b, data));
  if (dtype_is_complex(var_dtype(data))) out = build_add(b, out, build_sqr(b, build_imag(b, data)));
  return out;
}

/* v to the power 1/order, with the gradient 0 rather than nan where v is 0. */
static damo_var *build_norm_root(build *b, damo_var *v, double order) {
  if (v == NULL) return NULL;
  damo_var *zero = build_eq(b, v, build_int(b, 0)), *safe = build_switch(b, zero, build_int(b, 1), v);
  damo_var *r = order == 2 ? build_sqrt(b, safe) : build_pow(b, safe, build_num(b, 1 / order));
  return build_switch(b, zero, build_int(b, 0), r);
}

/* The sums, over an axis, of a vector of values at x's stored positions. */
static damo_var *build_norm_sums(build *b, damo_var *x, damo_var *values, int axis) {
  return values != NULL ? build_sp_sum(b, build_with_data(b, x, values), axis, true) : NULL;
}

/* The norm of each column (axis 0) or row; x is a float matrix without duplicates. */
static damo_var *build_axis_norms(build *b, damo_var *x, double order, int axis) {
  if (order == 2) return build_norm_root(b, build_norm_sums(b, x, build_norm_squares(b, x), axis), 2);
  if (order == 0) return build_norm_sums(b, x, build_neq(b, build_data(b, x), build_int(b, 0)), axis);
  damo_var *size = build_abs(b, x);
  if (isinf(order)) return build_extremum(b, order > 0 ? REDUCE_MAX : REDUCE_MIN, size, axis);
  if (order == 1) return build_sp_sum(b, size, axis, true);
  return build_norm_root(b, build_norm_sums(b, x, build_pow(b, build_data(b, size), build_num(b, order)), axis), order);
}

/* The largest sum over an axis of absolute values. */
static damo_var *build_largest_sum(build *b, damo_var *x, int axis) {
  const bool across = (axis == 0) == (var_format_of(x) == DAMO_CSR);
  x = build_abs(b, across ? build_class(b, &sp_narrow_minor_def, &x, 1) : x);
  return build_reduce(b, REDUCE_MAX, build_sp_sum(b, x, axis, true), NULL, -1, false);
}

typedef struct norm_options {
  prop_value ord, axis, keepdims;
} norm_options;

/* The option ord, of columns or rows (along_axis) or of the whole matrix. *order is nan for the Frobenius norm. */
static damo_status sp_norm_order_option(damo_ctx *ctx, const fn_args *a, bool along_axis, double *order) {
  const prop_value *v = &FN_OPTIONS(a, norm_options)->ord;
  *order = along_axis && v->kind == PROP_NIL ? 2 : sp_norm_read_order(v);
  if (along_axis && (*order >= 0 || *order == -INFINITY)) return DAMO_OK;
  if (along_axis)
    return ctx_fail(ctx, DAMO_EVALUE, "%s: ord of columns or rows must be 'inf', '-inf' or a number of 0 or more",
                    a->func->name);
  const bool frobenius = v->kind == PROP_NIL || (v->kind == PROP_STR && strcmp(v->u.s, "fro") == 0);
  if (frobenius || *order == 1 || *order == INFINITY) return DAMO_OK;
  return ctx_fail(ctx, DAMO_EVALUE, "%s: ord must be 'fro', 1 or 'inf'; with axis it is that of columns or rows",
                  a->func->name);
}

/* The norm of a whole float matrix without duplicates. */
static damo_var *build_whole_norm(build *b, damo_var *x, double order) {
  if (!isnan(order)) return build_largest_sum(b, x, order == 1 ? 0 : 1);
  return build_norm_root(b, build_reduce(b, REDUCE_SUM_SQR, build_data(b, x), NULL, -1, false), 2);
}

static damo_status sp_fn_norm(build *b, const fn_args *a, ptrvec *out) {
  const norm_options *o = FN_OPTIONS(a, norm_options);
  damo_var *x = sparse_operand(b, a, 0);
  const bool along_axis = prop_given(o->axis);
  double order;
  int axis = 0;
  if (x == NULL) return b->status;
  DAMO_TRY(sp_norm_order_option(b->ctx, a, along_axis, &order));
  DAMO_TRY(axis_check(b->ctx, a->func->name, prop_int_or(o->axis, 1), 2, &axis));
  if (dtype_is_discrete(var_dtype(x))) x = build_sparse_cast(b, x, DAMO_FLOAT64); /* as the norm of a dense one */
  x = build_summed(b, x);
  if (x == NULL) return b->status;
  damo_var *v = along_axis ? build_axis_norms(b, x, order, axis) : build_whole_norm(b, x, order);
  return fn_give(b, out, prop_bool_or(o->keepdims, false) ? build_kept(b, v, along_axis ? axis : -1) : v);
}

const op_func sparse_norm_funcs[] = {
    {.name = "sparse.norm",
     .operands = "x",
     .options = OPTIONS(OPT(norm_options, ord, OPT_ANY), OPT(norm_options, axis, OPT_INT),
                        OPT(norm_options, keepdims, OPT_BOOL)),
     .call = sp_fn_norm,
     .doc = "norm of a sparse matrix: 'fro' (default), 1 (largest column sum), 'inf' (largest row sum); with axis of "
            "each column (1) or row (2), as vectors: 2 (default), 1, 'inf', '-inf', 0 (how many are not 0), any "
            "number above 0"},
    {.name = NULL},
};

const op_def *const sparse_norm_classes[] = {&sp_narrow_minor_def, NULL};

/* sum: sums and means of sparse matrices, which are dense.
 *
 * SpSum has the properties axis (1: sums of columns, 2: of rows, nil: of all) and sparse_grad. The gradient is sparse,
 * in the matrix's format: with sparse_grad (the class's default) the cotangent at the matrix's stored positions,
 * without it at all positions, where zeros are not stored. SpSumGrad makes it of the cotangent and the matrix.
 */
#include "op/sparse/sparse_op.h"
#include "op/elem/build_arith.h"

#include <string.h>

/* The property axis, 0-based; -1: all. */
static int sp_sum_axis(const damo_op *op) {
  const prop_value *v = &OP_PROPS(op, sp_sum_props)->axis;
  return v->kind == PROP_NIL ? -1 : (int)v->u.i - 1;
}

static bool sp_sum_is_structured(const damo_op *op) {
  const prop_value *v = &OP_PROPS(op, sp_sum_props)->sparse_grad;
  return v->kind == PROP_NIL || v->u.i != 0;
}

static damo_status sp_sum_init(damo_op *op) {
  const prop_value *axis = &OP_PROPS(op, sp_sum_props)->axis, *structured = &OP_PROPS(op, sp_sum_props)->sparse_grad;
  if (axis->kind != PROP_NIL && (axis->kind != PROP_INT || axis->u.i < 1 || axis->u.i > 2))
    return ctx_fail(op->obj.ctx, DAMO_EINDEX, "%s: the axis is nil, 1 or 2", op->def->name);
  if (structured->kind == PROP_NIL || structured->kind == PROP_BOOL) return DAMO_OK;
  return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: sparse_grad is true or false", op->def->name);
}

damo_var *build_sp_sum(build *b, damo_var *x, int axis, bool structured) {
  if (x == NULL || b->status != DAMO_OK) return NULL;
  if (!var_is_sparse(x)) return build_reduce(b, REDUCE_SUM, x, &axis, axis < 0 ? -1 : 1, false);
  const sp_sum_props props = {.axis = axis < 0 ? prop_nil() : prop_int(axis + 1), .sparse_grad = prop_bool(structured)};
  return build_op(b, op_new(b->ctx, &sp_sum_def, &props), &x, 1);
}

static damo_var *build_sum_like(build *b, const damo_op *op, damo_var *x) {
  return build_sp_sum(b, x, sp_sum_axis(op), sp_sum_is_structured(op));
}

/* ---- SpSum ------------------------------------------------------------------------------------------------------- */

static damo_status sp_sum_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  const int axis = sp_sum_axis(op);
  DAMO_TRY(type_need_sparse(op, in, 0));
  return type_give_dense(op, out, reduce_out_dtype(REDUCE_SUM, var_dtype(in[0])), axis < 0 ? 0 : 1,
                         &in[0]->type->shape[axis == 0]);
}

/* Sums over an axis, of the matrix's own dtype, into the output cell's memory. */
static damo_status sp_sum_into(const thunk *t, frame *f, const damo_sparse *x, int axis) {
  const damo_dtype dtype = sparse_dtype(x);
  const sparse_value_fns *fns = f->ctx->isa->sparse.value[sparse_is_wide(x)][dtype];
  damo_array *out = thunk_out(t, f, 0, dtype, 1, &x->shape[axis == 0]);
  if (out == NULL) return DAMO_EMEMORY;
  const sparse_raw raw = sparse_raw_of(x);
  if ((axis == 1) == (sparse_format(x) == DAMO_CSR)) {
    fns->sum_major(&raw, out->data);
  } else {
    array_zero_bytes(f->ctx, out->data, (size_t)array_size(out) * dtype_size(dtype));
    fns->sum_minor(&raw, out->data);
  }
  return DAMO_OK;
}

static damo_status sp_sum_perform(const thunk *t, frame *f) {
  damo_sparse *x = thunk_in_sparse(t, f, 0);
  const int axis = sp_sum_axis(t->node->op);
  if (axis >= 0 && sparse_dtype(x) == var_dtype(t->node->out[0])) return sp_sum_into(t, f, x, axis);
  return thunk_give(t, f, 0, sparse_sum(x, axis));
}

static damo_status sp_sum_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *x = node->in[0];
  if (gout[0] == NULL || (gin[0] = build_flat_zeros(b, node, 0)) != NULL) return b->status;
  gin[0] = build_op(b, op_new(b->ctx, &sp_sum_spread_def, node->op->props), (damo_var *[]){gout[0], x}, 2);
  return b->status;
}

static damo_status sp_sum_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  if (eval[0] != NULL) rout[0] = build_sum_like(b, node->op, eval[0]);
  return b->status;
}

static damo_status sp_sum_shape(build *b, damo_apply *node, damo_var *const *const *in_shape, damo_var ***out_shape) {
  const int axis = sp_sum_axis(node->op);
  if (axis >= 0) out_shape[0][0] = in_shape[0][!axis];
  return b->status;
}

const op_def sp_sum_def = {
    .name = "SpSum",
    .doc = "sums of a sparse matrix, dense; sparse_grad: the gradient is at the stored positions alone",
    .props = PROPS(PROP(sp_sum_props, axis), PROP(sp_sum_props, sparse_grad)),
    .n_in = 1,
    .init = sp_sum_init,
    .infer_type = sp_sum_type,
    .perform = sp_sum_perform,
    .grad = sp_sum_grad,
    .rop = sp_sum_rop,
    .infer_shape = sp_sum_shape,
    .terms = TERMS_LINEAR,
    OP_CHECK(sum_check),
};

/* ---- SpSumGrad --------------------------------------------------------------------------------------------------- */

static damo_status sp_sum_spread_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  const int axis = sp_sum_axis(op);
  DAMO_TRY(type_need_dense(op, in, 0, axis < 0 ? 0 : 1));
  DAMO_TRY(type_need_sparse(op, in, 1));
  if (axis >= 0) DAMO_TRY(type_need_same_length(op, in, 0, 0, 1, !axis));
  return type_give_like(op, out, in[1], var_dtype(in[0]));
}

/* g broadcast to x's shape: a view with strides of 0. NULL: the pending error. */
static damo_array *sp_sum_spread_array(damo_array *g, const damo_sparse *x, int axis) {
  int64_t strides[2] = {0, 0};
  if (axis >= 0 && array_size(g) != x->shape[!axis]) {
    ctx_fail(g->obj.ctx, DAMO_ESHAPE, "SpSumGrad: a vector of %lld for a matrix with %lld %s", (long long)array_size(g),
             (long long)x->shape[!axis], axis ? "rows" : "columns");
    return NULL;
  }
  if (axis >= 0) strides[!axis] = array_strides(g)[0];
  return array_view(g, 2, x->shape, strides, 0);
}

static damo_status sp_sum_spread_perform(const thunk *t, frame *f) {
  const damo_sparse *x = thunk_in_sparse(t, f, 1);
  damo_array *wide = sp_sum_spread_array(thunk_in(t, f, 0), x, sp_sum_axis(t->node->op)), *data = NULL;
  damo_sparse *out = NULL;
  if (wide == NULL) return damo_error_status(f->ctx);
  if (sp_sum_is_structured(t->node->op)) {
    data = sparse_at_dense(wide, x);
    out = data != NULL ? sparse_with_data(x, data) : NULL;
  } else {
    out = sparse_from_dense(wide, sparse_format(x), sparse_itype(x));
  }
  damo_release(wide);
  damo_release(data);
  return thunk_give(t, f, 0, out);
}

/* The sum of the cotangent at the positions over which g was spread. */
static damo_status sp_sum_spread_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[0] == NULL) return DAMO_OK;
  damo_var *g = sp_sum_is_structured(node->op) ? build_structured(b, gout[0], node->in[1]) : gout[0];
  gin[0] = build_sum_like(b, node->op, g);
  return b->status;
}

static damo_status sp_sum_spread_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  if (eval[0] != NULL) rout[0] = build_op(b, damo_retain(node->op), (damo_var *[]){eval[0], node->in[1]}, 2);
  return b->status;
}

static damo_status sp_sum_spread_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                       damo_var ***out_shape) {
  (void)node;
  for (int k = 0; k < 2; k++) out_shape[0][k] = in_shape[1][k];
  return b->status;
}

const op_def sp_sum_spread_def = {
    .name = "SpSumGrad",
    .doc = "the gradient of SpSum: a cotangent over a matrix's positions, or over its stored ones with sparse_grad",
    .props = PROPS(PROP(sp_sum_props, axis), PROP(sp_sum_props, sparse_grad)),
    .n_in = 2,
    .init = sp_sum_init,
    .infer_type = sp_sum_spread_type,
    .perform = sp_sum_spread_perform,
    .grad = sp_sum_spread_grad,
    .rop = sp_sum_spread_rop,
    .infer_shape = sp_sum_spread_shape,
    .connection_pattern = connect_first,
    .pattern = PATTERN_JOINS,
    .terms = TERMS_LINEAR,
    OP_CHECK(sum_spread_check),
};

damo_var *build_sp_spread(build *b, damo_var *g, damo_var *x, int axis) {
  if (g == NULL || x == NULL || b->status != DAMO_OK) return NULL;
  const sp_sum_props props = {.axis = axis < 0 ? prop_nil() : prop_int(axis + 1), .sparse_grad = prop_bool(true)};
  return build_op(b, op_new(b->ctx, &sp_sum_spread_def, &props), (damo_var *[]){g, x}, 2);
}

/* ---- Functions --------------------------------------------------------------------------------------------------- */

static damo_status sp_fn_sp_sum(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = sparse_operand(b, a, 0);
  const reduce_options *o = FN_OPTIONS(a, reduce_options);
  const int64_t axis = prop_int_or(o->axis, 0);
  if (x == NULL) return b->status;
  if (prop_given(o->axis) && (axis < 1 || axis > 2)) {
    return ctx_fail(b->ctx, DAMO_EINDEX, "sp_sum: axis %lld of a matrix: 1 sums each column, 2 each row, nil all",
                    (long long)axis);
  }
  return fn_give(b, out, build_sp_sum(b, x, (int)axis - 1, prop_bool_or(o->sparse_grad, false)));
}

/* The options of sum and mean: axis, keepdims, dtype, sparse_grad. */
typedef struct sum_call {
  int axis; /* -1: all */
  bool keepdims, structured;
  damo_dtype dtype; /* DAMO_N_DTYPES: not given */
} sum_call;

static damo_status sp_sum_read_call(build *b, const fn_args *a, sum_call *c) {
  const reduce_options *o = FN_OPTIONS(a, reduce_options);
  int axes[DAMO_MAX_NDIM], n;
  *c = (sum_call){.dtype = DAMO_N_DTYPES};
  DAMO_TRY(axes_check(b->ctx, a->func->name, &o->axis, 2, axes, &n));
  if (n == 0) return ctx_fail(b->ctx, DAMO_EVALUE, "%s: the list of axes is empty", a->func->name);
  c->axis = n == 2 ? -1 : axes[0];
  c->keepdims = prop_bool_or(o->keepdims, false);
  c->structured = prop_bool_or(o->sparse_grad, false);
  return fn_dtype(a, b->ctx, o->dtype, &c->dtype);
}

damo_var *build_kept(build *b, damo_var *v, int axis) {
  if (v == NULL) return NULL;
  if (axis < 0) return build_dimshuffle(b, v, (const int[]){-1, -1}, 2);
  return build_dimshuffle(b, v, axis == 0 ? (const int[]){-1, 0} : (const int[]){0, -1}, 2);
}

static damo_var *build_sum_kept(build *b, damo_var *sum, const sum_call *c) {
  return c->keepdims ? build_kept(b, sum, c->axis) : sum;
}

static damo_status sp_fn_sum(build *b, const fn_args *a, ptrvec *out) {
  sum_call c;
  damo_var *x = sparse_operand(b, a, 0);
  if (x == NULL) return b->status;
  DAMO_TRY(sp_sum_read_call(b, a, &c));
  if (c.dtype != DAMO_N_DTYPES) x = build_sparse_cast(b, x, c.dtype);
  damo_var *sum = build_sp_sum(b, x, c.axis, c.structured);
  if (sum != NULL && c.dtype != DAMO_N_DTYPES) sum = build_cast(b, sum, c.dtype);
  return fn_give(b, out, build_sum_kept(b, sum, &c));
}

/* The number of elements that a sum adds, absent ones included. */
static damo_var *build_axis_count(build *b, damo_var *x, int axis, damo_dtype dtype) {
  damo_var *n = build_dim(b, x, axis < 0 ? 0 : axis);
  if (axis < 0) n = build_mul(b, n, build_dim(b, x, 1));
  return n ? build_cast(b, n, dtype) : NULL;
}

static damo_status sp_fn_mean(build *b, const fn_args *a, ptrvec *out) {
  sum_call c;
  damo_var *x = sparse_operand(b, a, 0);
  if (x == NULL) return b->status;
  DAMO_TRY(sp_sum_read_call(b, a, &c));
  damo_dtype dtype = c.dtype;
  if (dtype == DAMO_N_DTYPES) dtype = dtype_is_discrete(var_dtype(x)) ? DAMO_FLOAT64 : var_dtype(x);
  damo_var *sum = build_sp_sum(b, build_sparse_cast(b, x, dtype), c.axis, c.structured);
  return fn_give(b, out, build_sum_kept(b, build_true_div(b, sum, build_axis_count(b, x, c.axis, dtype)), &c));
}

#define SUM_OPTIONS                                                                     \
  OPTIONS(OPT(reduce_options, axis, OPT_AXES), OPT(reduce_options, keepdims, OPT_BOOL), \
          OPT(reduce_options, dtype, OPT_DTYPE), OPT(reduce_options, sparse_grad, OPT_BOOL))

const op_func sparse_sum_funcs[] = {
    {.name = "sparse.sp_sum",
     .operands = "x",
     .options = OPTIONS(OPT(reduce_options, axis, OPT_INT), OPT(reduce_options, sparse_grad, OPT_BOOL)),
     .call = sp_fn_sp_sum,
     .doc =
         "sums of a sparse matrix: of each column (axis 1), of each row (2), of all; gradient at every position, with "
         "sparse_grad at the stored ones"},
    {.name = "sparse.sum",
     .operands = "x",
     .options = SUM_OPTIONS,
     .call = sp_fn_sum,
     .doc = "sum over axes, dense; of integers int64 or uint64",
     .of_two = "add"},
    {.name = "sparse.mean",
     .operands = "x",
     .options = SUM_OPTIONS,
     .call = sp_fn_mean,
     .doc = "mean over axes, absent entries counted as 0, dense; of integers float64"},
    {.name = NULL},
};

const op_def *const sparse_sum_classes[] = {&sp_sum_def, &sp_sum_spread_def, NULL};

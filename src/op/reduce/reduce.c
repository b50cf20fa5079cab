/* reduce: sum, prod, max, min, any, all, argmax, argmin and logsumexp over any axes.
 *
 * One Op class, Reduce. Properties: `kind`, the name of the reduction (sum_sqr, the sum of |x|², and sum_sqr_dev, that of
 * (x - mean)², are no functions); `axis`, nil for all axes or a sorted list of 1-based axes; `keepdims`, whether the axes
 * stay as dimensions of 1; `may_be_empty`, whether an extreme of nothing is 0 and no error.
 * argmax and argmin give 1-based positions, in C order over the reduced axes. A reduction over no axis (a 0-d operand,
 * an empty list) makes no Reduce node: it is the operand, converted to the result's dtype.
 */
#include "reduce_int.h"
#include "op/elem/elem_c.h"
#include "op/elem/build_arith.h"
#include "op/elem/build_math.h"
#include "op/elem/masked.h"

#include <math.h>
#include <string.h>

typedef struct reduce_data {
  reduce_kind kind;
  bool all, keepdims, may_be_empty;
  uint32_t mask; /* bit k: axis k is reduced; unless all */
} reduce_data;

static const struct {
  const char *name, *class_name;
} kinds[] = {
    [REDUCE_SUM] = {"sum", "Sum"},
    [REDUCE_PROD] = {"prod", "Prod"},
    [REDUCE_MAX] = {"max", "Max"},
    [REDUCE_MIN] = {"min", "Min"},
    [REDUCE_ANY] = {"any", "Any"},
    [REDUCE_ALL] = {"all", "All"},
    [REDUCE_ARGMAX] = {"argmax", "Argmax"},
    [REDUCE_ARGMIN] = {"argmin", "Argmin"},
    [REDUCE_LOGSUMEXP] = {"logsumexp", "LogSumExp"},
    [REDUCE_SUM_SQR] = {"sum_sqr", "SumSqr"},
    [REDUCE_SUM_SQR_DEV] = {"sum_sqr_dev", "SumSqrDev"},
};
#define N_KINDS ((int)(sizeof kinds / sizeof *kinds))

static const reduce_data *reduce_data_of(const damo_op *op) { return (const reduce_data *)op->data; }

static uint32_t reduce_axes_mask(const reduce_data *d, int ndim) {
  if (!d->all) return d->mask;
  return ndim >= 32 ? UINT32_MAX : (UINT32_C(1) << ndim) - 1;
}

static int reduce_axes_of(const reduce_data *d, int ndim, int *axes) {
  int n = 0;
  uint32_t mask = reduce_axes_mask(d, ndim);
  for (int k = 0; k < ndim; k++) {
    if (mask >> k & 1) axes[n++] = k;
  }
  return n;
}

reduce_kind reduce_op_kind(const damo_op *op) { return reduce_data_of(op)->kind; }

uint32_t reduce_op_axes(const damo_op *op, int ndim) { return reduce_axes_mask(reduce_data_of(op), ndim); }

static bool reduce_is_two_pass(reduce_kind kind) { return kind == REDUCE_LOGSUMEXP || kind == REDUCE_SUM_SQR_DEV; }

/* How many axes these are if they are the last ones of ndim, else 0. */
static int reduce_trailing(uint32_t axes, int ndim) {
  int n = 0;
  while (n < ndim && (axes >> (ndim - 1 - n) & 1)) n++;
  const uint32_t kept = ndim - n >= 32 ? UINT32_MAX : (UINT32_C(1) << (ndim - n)) - 1;
  return (axes & kept) == 0 ? n : 0;
}

bool reduce_op_one_pass(const damo_op *op) { return !reduce_is_two_pass(reduce_op_kind(op)); }

int reduce_op_trailing(const damo_op *op, int ndim) {
  return reduce_is_two_pass(reduce_op_kind(op)) ? 0 : reduce_trailing(reduce_op_axes(op, ndim), ndim);
}

static damo_var *reduce_row_parts(build *b, const damo_apply *node);

/* ---- The Op ------------------------------------------------------------------------------------------------------ */

static damo_status reduce_init(damo_op *op) {
  reduce_data *d = op->data;
  const prop_value *kind = &OP_PROPS(op, reduce_props)->kind, *axis = &OP_PROPS(op, reduce_props)->axis,
                   *keepdims = &OP_PROPS(op, reduce_props)->keepdims;
  int k = 0;
  while (k < N_KINDS && (kind->kind != PROP_STR || strcmp(kind->u.s, kinds[k].name) != 0)) k++;
  if (k == N_KINDS) return ctx_fail(op->obj.ctx, DAMO_EVALUE, "Reduce: unknown kind");
  d->kind = (reduce_kind)k;
  op->terms = k == REDUCE_SUM || k == REDUCE_SUM_SQR ? TERMS_LINEAR : TERMS_UNKNOWN;
  d->keepdims = keepdims->kind == PROP_BOOL && keepdims->u.i;
  d->may_be_empty = op->n_props > 3 && OP_PROPS(op, reduce_props)->may_be_empty.kind == PROP_BOOL;
  d->all = axis->kind == PROP_NIL;
  for (int i = 0; !d->all && i < axis->n; i++) {
    int64_t a = axis->u.list[i].u.i;
    if (a < 1 || a > DAMO_MAX_NDIM) return ctx_fail(op->obj.ctx, DAMO_EINDEX, "%s: bad axis", kinds[k].name);
    d->mask |= UINT32_C(1) << (a - 1);
  }
  return DAMO_OK;
}

static void reduce_format(strbuf *out, const damo_op *op) {
  const reduce_data *d = reduce_data_of(op);
  strbuf_add(out, kinds[d->kind].class_name);
  if (d->all && !d->keepdims) return;
  strbuf_add(out, "{");
  if (!d->all) {
    strbuf_add(out, "axis=");
    prop_format(out, &OP_PROPS(op, reduce_props)->axis);
  }
  if (d->keepdims) strbuf_add(out, d->all ? "keepdims" : ", keepdims");
  strbuf_add(out, "}");
}

/* The result's shape, from the operand's; returns its rank. */
static int reduced_shape(const reduce_data *d, int ndim, const int64_t *shape, int64_t *out) {
  uint32_t mask = reduce_axes_mask(d, ndim);
  int n = 0;
  for (int k = 0; k < ndim; k++) {
    if (!(mask >> k & 1)) {
      out[n++] = shape[k];
    } else if (d->keepdims) {
      out[n++] = 1;
    }
  }
  return n;
}

static damo_status reduce_infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  const reduce_data *d = reduce_data_of(op);
  const char *name = kinds[d->kind].name;
  damo_ctx *ctx = op->obj.ctx;
  const damo_type *t = in[0]->type;
  if (!type_is_tensor(t)) return ctx_fail(ctx, DAMO_ETYPE, "%s: the operand must be a tensor", name);
  if (!d->all && t->ndim < 32 && d->mask >> t->ndim) {
    return ctx_fail(ctx, DAMO_EINDEX, "%s: an axis is outside a tensor of %d dimensions", name, t->ndim);
  }
  if (!reduce_supported(d->kind, t->dtype)) {
    return ctx_fail(ctx, DAMO_ETYPE, "%s is not defined for %s", name, dtype_name(t->dtype));
  }
  int64_t shape[DAMO_MAX_NDIM];
  int ndim = reduced_shape(d, t->ndim, t->shape, shape);
  out[0] = type_tensor(ctx, reduce_out_dtype(d->kind, t->dtype), ndim, shape);
  return out[0] ? DAMO_OK : damo_error_status(ctx);
}

static bool needs_an_element(const reduce_data *d) {
  const reduce_kind kind = d->kind;
  if (d->may_be_empty) return false;
  return kind == REDUCE_MAX || kind == REDUCE_MIN || kind == REDUCE_ARGMAX || kind == REDUCE_ARGMIN;
}

int reduce_op_shape(const damo_op *op, int ndim, const int64_t *shape, int64_t *out) {
  return reduced_shape(reduce_data_of(op), ndim, shape, out);
}

damo_status reduce_op_check(damo_ctx *ctx, const damo_op *op, int ndim, const int64_t *shape) {
  const reduce_data *d = reduce_data_of(op);
  const uint32_t mask = reduce_axes_mask(d, ndim);
  if (!needs_an_element(d)) return DAMO_OK;
  for (int k = 0; k < ndim; k++) {
    if (!(mask >> k & 1) && shape[k] == 0) return DAMO_OK; /* there is no result */
  }
  for (int k = 0; k < ndim; k++) {
    if (!(mask >> k & 1) || shape[k] > 0) continue;
    char text[256];
    return ctx_fail(ctx, DAMO_EVALUE, "%s: axis %d of shape %s is empty and has no such element", kinds[d->kind].name,
                    k + 1, shape_format(text, sizeof text, ndim, shape));
  }
  return DAMO_OK;
}

#define ELEMENT_NS 0.25 /* about, of a sum that reads memory */

static damo_status reduce_perform(const thunk *t, frame *f) {
  const reduce_data *d = reduce_data_of(t->node->op);
  const damo_array *x = thunk_in(t, f, 0);
  damo_dtype dt = array_dtype(x);
  int64_t shape[DAMO_MAX_NDIM];
  int ndim = reduced_shape(d, x->ndim, array_shape(x), shape);
  uint32_t mask = reduce_axes_mask(d, x->ndim);
  int64_t n_out = 1;
  for (int k = 0; k < ndim; k++) n_out *= shape[k];
  DAMO_TRY(reduce_op_check(f->ctx, t->node->op, x->ndim, array_shape(x)));
  thread_pool *pool = ctx_pool(f->ctx, ELEMENT_NS * (double)array_size(x));
  size_t bytes = reduce_workspace_on(pool, d->kind, dt, x->ndim, array_shape(x), mask);
  void *work = bytes > 0 ? thunk_scratch(t, f, bytes) : NULL;
  if (bytes > 0 && work == NULL) return damo_error_status(f->ctx);
  damo_array *out = thunk_out(t, f, 0, reduce_out_dtype(d->kind, dt), ndim, shape);
  if (out == NULL) return damo_error_status(f->ctx);
  if (n_out == 0) return DAMO_OK;
  kernel_reduce_on(pool, f->ctx->isa, d->kind, dt, x->data, x->ndim, array_shape(x), array_strides(x), mask, out->data,
                   work);
  return DAMO_OK;
}

static damo_status reduce_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                      damo_var ***out_shape) {
  const reduce_data *d = reduce_data_of(node->op);
  int ndim = var_ndim(node->in[0]), n = 0;
  uint32_t mask = reduce_axes_mask(d, ndim);
  for (int k = 0; k < ndim; k++) {
    if (!(mask >> k & 1)) {
      out_shape[0][n++] = in_shape[0][k];
    } else if (d->keepdims) {
      out_shape[0][n++] = build_i64(b, 1);
    }
  }
  return b->status;
}

/* ---- Gradients --------------------------------------------------------------------------------------------------- */

/* v, which has the result's shape, with the reduced axes put back as dimensions of 1. */
static damo_var *reduce_expand(build *b, const damo_apply *node, damo_var *v) {
  const reduce_data *d = reduce_data_of(node->op);
  if (d->keepdims) return v;
  int axes[DAMO_MAX_NDIM], ndim = var_ndim(node->in[0]);
  int n = reduce_axes_of(d, ndim, axes);
  return build_expand_axes(b, v, ndim, axes, n);
}

/* The same for the mask of such a value. */
static masked reduce_expand_mask(build *b, const damo_apply *node, masked m) {
  m = mask_of_rank(b, m, var_ndim(node->out[0]));
  if (m.cond != NULL) m.cond = reduce_expand(b, node, m.cond);
  return m;
}

static damo_var *reduce_like(build *b, const damo_apply *node, reduce_kind kind, damo_var *x, bool keepdims) {
  int axes[DAMO_MAX_NDIM];
  int n = reduce_axes_of(reduce_data_of(node->op), var_ndim(node->in[0]), axes);
  return build_reduce(b, kind, x, axes, n, keepdims);
}

/* The derivative of a product by x_i is the product of the other elements. Let p be the product of a group's elements
 * that are not 0, and n the number of its zeros. The derivative is p / x_i where n = 0, p at the zero itself where n =
 * 1, and 0 elsewhere. With zeros read as 1 in the quotient that is p / x_i where n = [x_i = 0], and 0 elsewhere. */
static damo_var *prod_derivative(build *b, const damo_apply *node) {
  damo_var *x = node->in[0];
  damo_var *is_zero = build_eq(b, x, build_num(b, 0));
  damo_var *safe = build_switch(b, is_zero, build_num(b, 1), x);
  damo_var *p = reduce_like(b, node, REDUCE_PROD, safe, true);
  damo_var *n = reduce_like(b, node, REDUCE_SUM, is_zero, true);
  damo_var *reached = build_eq(b, n, build_cast(b, is_zero, DAMO_INT64));
  return build_switch(b, reached, build_true_div(b, p, safe), build_num(b, 0));
}

/* The mean of each group of elements, with the reduced axes as dimensions of 1. */
static damo_var *reduce_mean(build *b, const damo_apply *node) {
  damo_var *x = node->in[0], *ones = build_fill(b, x, build_num(b, 1));
  return build_true_div(b, reduce_like(b, node, REDUCE_SUM, x, true), reduce_like(b, node, REDUCE_SUM, ones, true));
}

/* The derivative of the result by x, of x's shape; NULL for a sum, whose derivative is 1. For sum_sqr, a real function
 * of a complex x, it is 2 x = ∂/∂Re x + i ∂/∂Im x, already the conjugate that gradients multiply by. */
static damo_var *reduce_derivative(build *b, damo_apply *node) {
  damo_var *x = node->in[0], *out = node->out[0];
  switch (reduce_data_of(node->op)->kind) {
    case REDUCE_PROD: return prod_derivative(b, node);
    case REDUCE_MAX:
    case REDUCE_MIN: return build_cast(b, build_eq(b, x, reduce_expand(b, node, out)), var_dtype(x));
    case REDUCE_SUM_SQR: return build_mul(b, build_num(b, 2), x);
    case REDUCE_SUM_SQR_DEV: return build_mul(b, build_num(b, 2), build_sub(b, x, reduce_mean(b, node)));
    case REDUCE_LOGSUMEXP: return build_exp(b, build_sub(b, x, reduce_expand(b, node, out)));
    case REDUCE_SUM:
    case REDUCE_ANY:
    case REDUCE_ALL:
    case REDUCE_ARGMAX:
    case REDUCE_ARGMIN: break;
  }
  return NULL;
}

static bool reduce_is_flat(const damo_apply *node) { return dtype_is_discrete(var_dtype(node->out[0])); }

static damo_status reduce_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *x = node->in[0];
  if (gout[0] == NULL) return DAMO_OK;
  if (reduce_is_flat(node)) {
    gin[0] = build_zero_grad(b, x);
    return b->status;
  }
  const masked m = masked_of(b, gout[0]), wide = reduce_expand_mask(b, node, m);
  if (reduce_data_of(node->op)->kind == REDUCE_SUM) {
    damo_var *filled = build_fill(b, x, reduce_expand(b, node, gout[0]));
    gin[0] = build_note_mask(b, build_unbroadcast(b, filled, x), wide);
    return b->status;
  }
  damo_var *g = reduce_expand(b, node, m.raw);
  damo_var *d = reduce_derivative(b, node);
  if (d && dtype_is_complex(var_dtype(d)) && reduce_data_of(node->op)->kind != REDUCE_SUM_SQR)
    d = build_conj_if_complex(b, d);
  gin[0] = build_masked_unbroadcast(b, build_within(b, build_mul(b, g, d), wide), x);
  return b->status;
}

static damo_status reduce_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  if (eval[0] == NULL) return DAMO_OK;
  if (reduce_is_flat(node)) {
    rout[0] = build_zero_grad(b, node->out[0]);
    return b->status;
  }
  const reduce_data *d = reduce_data_of(node->op);
  damo_var *slope = d->kind != REDUCE_SUM ? reduce_derivative(b, node) : NULL;
  masked e = masked_of(b, eval[0]);
  if (d->kind == REDUCE_SUM_SQR) slope = build_conj_if_complex(b, slope);
  if (d->kind != REDUCE_SUM) e.raw = build_mul(b, e.raw, slope);
  if (d->kind == REDUCE_SUM_SQR) e.raw = build_real(b, e.raw);
  int axes[DAMO_MAX_NDIM], n = reduce_axes_of(d, var_ndim(node->in[0]), axes);
  const masked any = mask_any(b, e, var_ndim(node->in[0]), axes, n, d->keepdims);
  damo_var *term = d->kind != REDUCE_SUM ? build_masked(b, e) : eval[0];
  rout[0] = build_note_mask(b, reduce_like(b, node, REDUCE_SUM, term, d->keepdims), any);
  return b->status;
}

static damo_var *build_reduce_props(build *b, reduce_kind kind, damo_var *x, const int *axes, int n_axes, bool keepdims,
                                    prop_value may_be_empty) {
  prop_value list[DAMO_MAX_NDIM];
  const bool all = n_axes == var_ndim(x);
  for (int i = 0; i < n_axes && !all; i++) list[i] = prop_int(axes[i] + 1);
  const reduce_props props = {.kind = prop_str(kinds[kind].name),
                              .axis = all ? prop_nil() : prop_list(list, n_axes),
                              .keepdims = prop_bool(keepdims),
                              .may_be_empty = may_be_empty};
  return build_op(b, op_new(b->ctx, &reduce_def, &props), &x, 1);
}

static damo_status reduce_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                                damo_var **out) {
  const reduce_props *p = OP_PROPS(node->op, reduce_props);
  const reduce_data *d = reduce_data_of(node->op);
  int axes[DAMO_MAX_NDIM];
  const int n = reduce_axes_of(d, var_ndim(node->in[0]), axes);
  (void)batched;
  for (int i = 0; i < n; i++) axes[i] += k;
  out[0] = n == 0 ? build_reduce(b, d->kind, in[0], axes, 0, false)
                  : build_reduce_props(b, d->kind, in[0], axes, n, d->keepdims, p->may_be_empty);
  return b->status;
}

const op_def reduce_def = {
    .name = "Reduce",
    .doc = "a reduction over axes",
    .props = PROPS(PROP(reduce_props, kind), PROP_AXES_OR_ALL(reduce_props, axis), PROP_FLAG(reduce_props, keepdims),
                   PROP_FLAG(reduce_props, may_be_empty)),
    .n_in = 1,
    .data_size = sizeof(reduce_data),
    .init = reduce_init,
    .infer_type = reduce_infer_type,
    .perform = reduce_perform,
    .emit_c = reduce_emit_c,
    .grad = reduce_grad,
    .rop = reduce_rop,
    .infer_shape = reduce_infer_shape,
    .batch = reduce_batch,
    .row_parts = reduce_row_parts,
    .format = reduce_format,
    .masks = MASKS_OWN,
    .no_check = "dense: spec/op/rows/reduce.lua has results by hand and from plain loops",
};

/* ---- Builders ---------------------------------------------------------------------------------------------------- */

/* A reduction over no axis: each element is its own group. */
static damo_var *reduce_nothing(build *b, reduce_kind kind, damo_var *x) {
  if (kind == REDUCE_ARGMAX || kind == REDUCE_ARGMIN) return build_fill(b, x, build_i64(b, 1));
  if (kind == REDUCE_SUM_SQR) return build_sqr(b, build_abs(b, x));
  if (kind == REDUCE_SUM_SQR_DEV) return build_sqr(b, build_sub(b, x, x));
  return build_cast(b, x, reduce_out_dtype(kind, var_dtype(x)));
}

damo_var *build_reduce(build *b, reduce_kind kind, damo_var *x, const int *axes, int n_axes, bool keepdims) {
  if (b->status != DAMO_OK || x == NULL) return NULL;
  if (x->weak && build_resolve(b, &x, 1, false, &x) != DAMO_OK) return NULL;
  if (kind == REDUCE_LOGSUMEXP) x = build_cast(b, x, dtype_to_float(var_dtype(x)));
  if (x == NULL) return NULL;
  int ndim = var_ndim(x);
  if (n_axes < 0 || n_axes >= ndim) n_axes = ndim;
  if (n_axes == 0 && reduce_supported(kind, var_dtype(x))) return reduce_nothing(b, kind, x);
  return build_reduce_props(b, kind, x, axes, n_axes, keepdims, prop_nil());
}

static damo_var *build_row_reduction(build *b, reduce_kind kind, damo_var *x, int n_axes, prop_value may_be_empty) {
  int axes[DAMO_MAX_NDIM];
  if (b->status != DAMO_OK || x == NULL) return NULL;
  for (int i = 0; i < n_axes; i++) axes[i] = var_ndim(x) - n_axes + i;
  return build_reduce_props(b, kind, x, axes, n_axes, true, may_be_empty);
}

damo_var *build_row_max(build *b, damo_var *x, int n_axes) {
  return build_row_reduction(b, REDUCE_MAX, x, n_axes, prop_bool(true));
}

damo_var *build_row_sum(build *b, damo_var *x, int n_axes) {
  return build_row_reduction(b, REDUCE_SUM, x, n_axes, prop_nil());
}

/* log Σ exp(x) = m + log Σ exp(x - m) for m the maximum; where that is not finite, it is the result. */
static damo_var *reduce_row_parts(build *b, const damo_apply *node) {
  damo_var *x = node->in[0];
  const int ndim = var_ndim(x), n_axes = reduce_trailing(reduce_axes_mask(reduce_data_of(node->op), ndim), ndim);
  if (reduce_data_of(node->op)->kind != REDUCE_LOGSUMEXP || n_axes == 0) return NULL;
  damo_var *m = build_row_max(b, x, n_axes);
  damo_var *total = build_row_sum(b, build_exp(b, build_sub(b, x, m)), n_axes);
  damo_var *is_finite = build_lt(b, build_abs(b, m), build_num(b, INFINITY));
  damo_var *y = build_switch(b, is_finite, build_add(b, m, build_log(b, total)), m);
  if (y == NULL || reduce_data_of(node->op)->keepdims) return y;
  int pattern[DAMO_MAX_NDIM];
  for (int axis = 0; axis < ndim - n_axes; axis++) pattern[axis] = axis;
  return build_dimshuffle(b, y, pattern, ndim - n_axes);
}

damo_var *build_expand_axes(build *b, damo_var *g, int ndim, const int *axes, int n_axes) {
  int pattern[DAMO_MAX_NDIM], next = 0;
  bool ones[DAMO_MAX_NDIM] = {false};
  for (int i = 0; i < (n_axes < 0 ? ndim : n_axes); i++) ones[n_axes < 0 ? i : axes[i]] = true;
  for (int k = 0; k < ndim; k++) pattern[k] = ones[k] ? -1 : next++;
  if (next == ndim) return g;
  return build_dimshuffle(b, g, pattern, ndim);
}

/* ---- Functions --------------------------------------------------------------------------------------------------- */

damo_status reduce_read_call(build *b, const fn_args *a, reduce_call *out) {
  const reduce_options *o = FN_OPTIONS(a, reduce_options);
  out->keepdims = prop_bool_or(o->keepdims, false);
  out->dtype = DAMO_N_DTYPES;
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  DAMO_TRY(axes_check(b->ctx, a->func->name, &o->axis, var_ndim(a->in[0]), out->axes, &out->n));
  DAMO_TRY(fn_dtype(a, b->ctx, o->dtype, &out->dtype));
  return build_resolve(b, a->in, 1, false, &out->x);
}

static damo_status fn_reduce(build *b, const fn_args *a, ptrvec *out) {
  const reduce_kind *kind = a->func->data;
  reduce_call c;
  DAMO_TRY(reduce_read_call(b, a, &c));
  if (c.dtype != DAMO_N_DTYPES) c.x = build_cast(b, c.x, c.dtype);
  damo_var *y = build_reduce(b, *kind, c.x, c.axes, c.n, c.keepdims);
  return fn_give(b, out, c.dtype != DAMO_N_DTYPES ? build_cast(b, y, c.dtype) : y);
}

static const reduce_kind kind_values[] = {REDUCE_SUM, REDUCE_PROD,   REDUCE_MAX,    REDUCE_MIN,      REDUCE_ANY,
                                          REDUCE_ALL, REDUCE_ARGMAX, REDUCE_ARGMIN, REDUCE_LOGSUMEXP};

#define AXES OPT(reduce_options, axis, OPT_AXES), OPT(reduce_options, keepdims, OPT_BOOL)
#define DTYPE OPT(reduce_options, dtype, OPT_DTYPE)
#define DDOF OPT(reduce_options, ddof, OPT_NUM)
#define ROW(own, kind, opts, text) \
  { .name = own, .operands = "x", .options = opts, .call = fn_reduce, .data = &kind_values[kind], .doc = text }
#define PAIR(own, kind, opts, two, number, text)                                                               \
  {                                                                                                            \
    .name = own, .operands = "x", .options = opts, .call = fn_reduce, .data = &kind_values[kind], .doc = text, \
    .of_two = two, .of_number = number                                                                         \
  }
#define MADE(own, opts, fn, text) \
  { .name = own, .operands = "x", .options = opts, .call = fn, .doc = text }

const op_func reduce_funcs[] = {
    PAIR("sum", REDUCE_SUM, OPTIONS(AXES, DTYPE), "add", false, "sum over axes; of integers int64 or uint64"),
    PAIR("prod", REDUCE_PROD, OPTIONS(AXES, DTYPE), "mul", false, "product over axes; of integers int64 or uint64"),
    PAIR("max", REDUCE_MAX, OPTIONS(AXES), "maximum", true, "largest element over axes; nan where there is one"),
    PAIR("min", REDUCE_MIN, OPTIONS(AXES), "minimum", true, "smallest element over axes; nan where there is one"),
    PAIR("any", REDUCE_ANY, OPTIONS(AXES), "or_", false, "is any element true, over axes"),
    PAIR("all", REDUCE_ALL, OPTIONS(AXES), "and_", false, "are all elements true, over axes"),
    ROW("argmax", REDUCE_ARGMAX, OPTIONS(AXES), "1-based position of the first largest element over axes"),
    ROW("argmin", REDUCE_ARGMIN, OPTIONS(AXES), "1-based position of the first smallest element over axes"),
    {.name = "logsumexp",
     .operands = "x [weights]",
     .options = OPTIONS(AXES, OPT(reduce_options, return_sign, OPT_BOOL)),
     .call = fn_logsumexp,
     .optional_objects = true,
     .doc = "log of the sum of exponentials over axes, weighted, without overflow; with return_sign log |sum| and its "
            "sign, z / |z| of a complex sum"},
    MADE("mean", OPTIONS(AXES, DTYPE), fn_mean, "mean over axes; of integers float64"),
    MADE("var", OPTIONS(AXES, DDOF), fn_var, "variance over axes, divided by n - ddof (default 0)"),
    MADE("std", OPTIONS(AXES, DDOF), fn_std, "standard deviation over axes: the root of var"),
    MADE("ptp", OPTIONS(AXES), fn_ptp, "largest less smallest element over axes"),
    MADE("max_and_argmax", OPTIONS(AXES), fn_max_and_argmax, "max, then argmax"),
    {.name = NULL},
};

const op_def *const reduce_classes[] = {&reduce_def, NULL};

#undef N_KINDS
#undef AXES
#undef DTYPE
#undef DDOF
#undef ROW
#undef PAIR
#undef MADE

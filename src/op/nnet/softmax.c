/* softmax: exp(x) / Σ exp(x) along an axis, its logarithm, and the gradients of both as ops of their own.
 *
 * Softmax(x), LogSoftmax(x); SoftmaxGrad(dy, p), LogSoftmaxGrad(dy, p), p being the forward result: dx = (dy - Σ
 * dy·p)·p and dx = dy - exp(p)·Σ dy. Property axis: 1-based, or nil for all axes together. The maximum is subtracted
 * first, so that nothing overflows. float32 and float64.
 */
#include <string.h>

#include "op/elem/elem_c.h"
#include "op/elem/masked.h"
#include "nnet.h"
#include "op/elem/build_arith.h"
#include "op/elem/build_math.h"
#include "kernel/kernel.h"
#include "kernel/isa.h"
#include "kernel/reduce/reduce.h"

typedef struct soft_box {
  int64_t outer, n, inner;
  int64_t block; /* rows computed together when inner is 1 */
  bool log_form;
  kernel_fn exp, log;
  reduce_fold *sum, *max; /* of rows, in the workspace */
  damo_ctx *ctx;          /* of the call, for its points */
} soft_box;

#define SOFT_PART 4096 /* elements between two points */
#define SOFT_FOLDS 64  /* blocks of a fold between two points */

#define BLOCK_SIZE 1024

#define SHORT_ROW 64

#define T float
#define LANES 16
#define F(name) name##_f32
#include "softmax_body.h"
#define T double
#define LANES 8
#define F(name) name##_f64
#include "softmax_body.h"

typedef struct soft_axis {
  int axis;
} soft_axis; /* 0-based; -1: all */

static damo_status soft_init(damo_op *op) {
  const prop_value *v = &OP_PROPS(op, softmax_props)->axis;
  ((soft_axis *)op->data)->axis = v->kind == PROP_INT ? (int)v->u.i - 1 : -1;
  return DAMO_OK;
}

static int softmax_axis(const damo_op *op) { return ((const soft_axis *)op->data)->axis; }
static bool is_log_form(const damo_op *op) { return op->def == &log_softmax_def || op->def == &log_softmax_grad_def; }

static damo_status soft_infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  char text[256];
  const char *name = op->def->name;
  for (int i = 0; i < n_in; i++) {
    const damo_type *t = in[i]->type;
    if (!type_is_tensor(t) || !dtype_is_float(t->dtype) || t->dtype != in[0]->type->dtype) {
      return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: operand %d must be a float tensor, got %s", name, i + 1,
                      type_format(text, sizeof text, t));
    }
    if (t->ndim != in[0]->type->ndim || softmax_axis(op) >= t->ndim) {
      return ctx_fail(op->obj.ctx, DAMO_ESHAPE, "%s: axis %d does not fit an operand of rank %d", name,
                      softmax_axis(op) + 1, t->ndim);
    }
  }
  out[0] = damo_retain(in[n_in - 1]->type);
  return DAMO_OK;
}

/* ---- Run --------------------------------------------------------------------------------------------------------- */

static soft_box soft_box_of(const thunk *t, frame *f, const damo_array *x) {
  const int axis = softmax_axis(t->node->op);
  const damo_dtype dtype = array_dtype(x);
  soft_box s = {.outer = 1, .n = 1, .inner = 1, .log_form = is_log_form(t->node->op), .ctx = f->ctx};
  s.exp = f->ctx->isa->exp->fn[dtype];
  s.log = f->ctx->isa->log->fn[dtype];
  for (int i = 0; i < x->ndim; i++) {
    if (axis < 0 || i == axis)
      s.n *= array_shape(x)[i];
    else if (i < axis)
      s.outer *= array_shape(x)[i];
    else
      s.inner *= array_shape(x)[i];
  }
  s.block = s.n > 0 && s.n < BLOCK_SIZE ? BLOCK_SIZE / s.n : 1;
  return s;
}

static size_t fold_bytes(void) { return (reduce_fold_bytes() + 63) & ~(size_t)63; }

/* Two folds, then what is computed of the rows of a block or of a slab. */
static size_t work_bytes(const soft_box *s, damo_dtype dtype) {
  const int64_t rows = s->block < s->outer ? s->block : s->outer;
  const int64_t n = s->inner > 1 ? 3 * s->inner : rows * s->n;
  return 2 * fold_bytes() + (((size_t)n * dtype_size(dtype) + 63) & ~(size_t)63);
}

/* Makes the folds; returns the workspace behind them. */
static void *begin_folds(soft_box *s, const frame *f, damo_dtype dtype, char *work) {
  s->sum = (reduce_fold *)(void *)work;
  s->max = (reduce_fold *)(void *)(work + fold_bytes());
  reduce_fold_init(s->sum, f->ctx->isa, REDUCE_SUM, dtype);
  reduce_fold_init(s->max, f->ctx->isa, REDUCE_MAX, dtype);
  return work + 2 * fold_bytes();
}

/* a's data when contiguous, else a copy of it in `to`. */
static void *contiguous_data(damo_ctx *ctx, const damo_array *a, void *to) {
  if (array_is_contiguous(a)) return a->data;
  array_copy_box(ctx, a->data, array_strides(a), to, NULL, a->ndim, array_shape(a), dtype_size(array_dtype(a)));
  return to;
}

/* How many rows or slabs that are, in whole blocks. */
static int64_t soft_step(const soft_box *s) {
  const int64_t slab = s->n * s->inner, block = s->inner > 1 ? 1 : s->block;
  const int64_t n = SOFT_PART / (slab * block > 0 ? slab * block : 1);
  return n > 1 ? n * block : block;
}

static void soft_point(damo_ctx *ctx, int64_t size) {
  if (size <= SOFT_PART) return;
  ctx_set_due(ctx);
  ctx_point(ctx);
}

static damo_status soft_perform(const thunk *t, frame *f) {
  const damo_array *x = thunk_in(t, f, 0);
  soft_box s = soft_box_of(t, f, x);
  damo_array *y = thunk_out(t, f, 0, array_dtype(x), x->ndim, array_shape(x));
  void *work = y ? thunk_scratch(t, f, work_bytes(&s, array_dtype(x))) : NULL;
  if (!work) return DAMO_EMEMORY;
  if (array_size(x) == 0) return DAMO_OK;
  const void *from = contiguous_data(f->ctx, x, y->data);
  work = begin_folds(&s, f, array_dtype(x), work);
  const int64_t outer = s.outer, slab = s.n * s.inner, step = soft_step(&s);
  for (int64_t at = 0; at < outer && !ctx_is_stopped(f->ctx); at += step) {
    s.outer = outer - at < step ? outer - at : step;
    if (array_dtype(x) == DAMO_FLOAT32)
      forward_f32(&s, (const float *)from + at * slab, (float *)(void *)y->data + at * slab, work);
    else
      forward_f64(&s, (const double *)from + at * slab, (double *)(void *)y->data + at * slab, work);
    soft_point(f->ctx, outer * slab);
  }
  return DAMO_OK;
}

static damo_status soft_grad_perform(const thunk *t, frame *f) {
  const damo_array *dy = thunk_in(t, f, 0), *p = thunk_in(t, f, 1);
  soft_box s = soft_box_of(t, f, p);
  const damo_dtype dtype = array_dtype(p);
  char a[256], c[256];
  for (int i = 0; i < p->ndim; i++) {
    if (array_shape(p)[i] == array_shape(dy)[i]) continue;
    return ctx_fail(f->ctx, DAMO_ESHAPE, "%s: shapes %s and %s differ", t->node->op->def->name,
                    shape_format(a, sizeof a, dy->ndim, array_shape(dy)),
                    shape_format(c, sizeof c, p->ndim, array_shape(p)));
  }
  const size_t work_size = work_bytes(&s, dtype),
               copy_size = array_is_contiguous(p) ? 0 : (size_t)array_size(p) * dtype_size(dtype);
  damo_array *dx = thunk_out(t, f, 0, dtype, p->ndim, array_shape(p));
  char *work = dx ? thunk_scratch(t, f, work_size + copy_size) : NULL;
  if (!work) return DAMO_EMEMORY;
  if (array_size(p) == 0) return DAMO_OK;
  const void *from = contiguous_data(f->ctx, dy, dx->data), *pd = contiguous_data(f->ctx, p, work + work_size);
  void *rows = begin_folds(&s, f, dtype, work);
  const int64_t outer = s.outer, slab = s.n * s.inner, step = soft_step(&s);
  for (int64_t at = 0; at < outer && !ctx_is_stopped(f->ctx); at += step) {
    const int64_t k = at * slab;
    s.outer = outer - at < step ? outer - at : step;
    if (dtype == DAMO_FLOAT32)
      backward_f32(&s, (const float *)from + k, (const float *)pd + k, (float *)(void *)dx->data + k, rows);
    else
      backward_f64(&s, (const double *)from + k, (const double *)pd + k, (double *)(void *)dx->data + k, rows);
    soft_point(f->ctx, outer * slab);
  }
  return DAMO_OK;
}

/* ---- C source ---------------------------------------------------------------------------------------------------- */

/* v, C-contiguous, as outer x n x inner. */
static const c_value *soft_boxed(c_emit *e, const c_value *v, const int64_t *box) {
  v = ce_contiguous(e, v);
  return v != NULL ? ce_view(e, v, 3, box, (const int64_t[]){box[1] * box[2], box[2], 1}, 0) : NULL;
}

/* Sums, or maxima, along the middle axis, as outer x 1 x inner. Of rows the sums are Reduce's; else they run in order. */
static const c_value *soft_fold(c_emit *e, reduce_kind kind, const c_value *v) {
  const int64_t kept[2] = {v->shape[0], v->shape[2]};
  const c_value *out = ce_scratch_like(e, v->dtype, 2, kept);
  if (out == NULL) return NULL;
  if (v->shape[2] == 1 || kind == REDUCE_MAX) {
    emit_reduction(e, kind, 2, v->dtype, v, out);
  } else {
    ce_fill(e, out, "0");
    ce_for(e, "o", v->shape[0]);
    ce_for(e, "i", v->shape[1]);
    ce_for(e, "j", v->shape[2]);
    ce_line(e, "%s[o * %lld + j] += %s[(o * %lld + i) * %lld + j];", ce_p(e, out), (long long)v->shape[2], ce_p(e, v),
            (long long)v->shape[1], (long long)v->shape[2]);
    for (int k = 0; k < 3; k++) ce_close(e);
  }
  return ce_view(e, out, 3, (const int64_t[]){v->shape[0], 1, v->shape[2]}, (const int64_t[]){v->shape[2], 0, 1}, 0);
}

/* to = an expression of x[*] and y[*], written with %s and %s, over box; y may have one entry along the middle axis. */
static void soft_map(c_emit *e, const c_value *to, const char *format, const c_value *x, const c_value *y,
                     const c_value *z, const char *function) {
  int64_t strides[4][3];
  const c_value *v[4] = {to, x, y, z};
  const char *at[4] = {"0", "0", "0", "0"};
  c_nest nest;
  for (int i = 0; i < 4; i++) ce_strides_along(v[i] != NULL ? v[i] : to, 3, strides[i]);
  ce_nest_init(e, &nest, 3, to->shape, 4, (const int64_t *const[]){strides[0], strides[1], strides[2], strides[3]});
  ce_nest_open(e, &nest);
  for (int i = 0; i < 4; i++) {
    if (v[i] != NULL) at[i] = ce_text(e, "%s[%s]", ce_p(e, v[i]), ce_nest_at(e, &nest, i));
  }
  const char *value = ce_text(e, "%s", format);
  for (const char *p = strchr(value, '$'); p != NULL; p = strchr(value, '$')) /* $1: x, $2: y, $3: z */
    value = ce_text(e, "%.*s%s%s", (int)(p - value), value, at[p[1] - '0'], p + 2);
  if (function != NULL) value = emit_function(e, function, to->dtype, value);
  ce_line(e, "%s = %s;", at[0], value);
  ce_nest_close(e, &nest);
}

static damo_status soft_emit_c(c_emit *e, const damo_apply *node) {
  const int axis = softmax_axis(node->op), last = node->n_in - 1;
  const bool is_log = is_log_form(node->op);
  const c_value *x = ce_in(e, last);
  int64_t box[3] = {1, 1, 1};
  for (int k = 0; k < x->ndim; k++) box[axis < 0 || k == axis ? 1 : k < axis ? 0 : 2] *= x->shape[k];
  c_value *made = ce_out(e, 0, var_dtype(node->out[0]), x->ndim, x->shape);
  if (made == NULL || ce_size(made) == 0) return e->status;
  const c_value *out = soft_boxed(e, made, box);
  x = soft_boxed(e, x, box);
  if (out == NULL || x == NULL) return e->status;
  const c_value *more = is_log || last == 1 ? ce_scratch_like(e, x->dtype, 3, box) : out;
  if (more == NULL) return e->status;
  if (last == 0) {
    soft_map(e, out, "$1 - $2", x, soft_fold(e, REDUCE_MAX, x), NULL, NULL);
    soft_map(e, more, "$1", out, NULL, NULL, "exp");
    const c_value *total = soft_fold(e, REDUCE_SUM, more);
    if (total == NULL) return e->status;
    if (is_log) soft_map(e, total, "$1", total, NULL, NULL, "log");
    soft_map(e, out, is_log ? "$1 - $2" : "$1 / $2", out, total, NULL, NULL);
    return e->status;
  }
  for (int k = 0; k < ce_in(e, 0)->ndim; k++) {
    if (ce_in(e, 0)->shape[k] != ce_in(e, 1)->shape[k]) return ce_refuse(e, "its operands' shapes differ");
  }
  const c_value *dy = soft_boxed(e, ce_in(e, 0), box);
  if (dy == NULL) return e->status;
  if (is_log)
    soft_map(e, more, "$1", x, NULL, NULL, "exp");
  else
    soft_map(e, more, "$1 * $2", dy, x, NULL, NULL);
  const c_value *total = soft_fold(e, REDUCE_SUM, is_log ? dy : more);
  if (total != NULL) soft_map(e, out, is_log ? "$1 - $2 * $3" : "($1 - $3) * $2", dy, is_log ? more : x, total, NULL);
  return e->status;
}

/* ---- Gradients --------------------------------------------------------------------------------------------------- */

static damo_var *build_soft(build *b, const op_def *def, int axis, damo_var *const *in, int n_in) {
  const softmax_props props = {.axis = axis < 0 ? prop_nil() : prop_int(axis + 1)};
  for (int i = 0; i < n_in; i++) {
    if (!in[i]) return NULL;
  }
  if (b->status != DAMO_OK) return NULL;
  return build_op(b, op_new(b->ctx, def, &props), in, n_in);
}

static damo_var *sum_along(build *b, damo_var *x, int axis) {
  return build_reduce(b, REDUCE_SUM, x, &axis, axis < 0 ? -1 : 1, true);
}

/* Outside which the derivative of a softmax is 0 whose cotangent or tangent is v: each entry depends on all along the
 * axis. */
static masked soft_mask(build *b, const damo_apply *node, damo_var *v) {
  const int axis = softmax_axis(node->op);
  return mask_any(b, masked_of(b, v), var_ndim(v), &axis, axis < 0 ? -1 : 1, true);
}

static damo_status soft_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const op_def *def = is_log_form(node->op) ? &log_softmax_grad_def : &softmax_grad_def;
  if (!gout[0]) return DAMO_OK;
  masked g = soft_mask(b, node, gout[0]);
  g.raw = build_soft(b, def, softmax_axis(node->op), (damo_var *const[]){gout[0], node->out[0]}, 2);
  gin[0] = build_masked(b, g);
  return b->status;
}

static damo_status soft_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  const int axis = softmax_axis(node->op);
  damo_var *p = node->out[0], *v = eval[0];
  if (!v) return DAMO_OK;
  masked r = soft_mask(b, node, v);
  if (is_log_form(node->op))
    r.raw = build_sub(b, v, sum_along(b, build_mul(b, build_exp(b, p), v), axis));
  else
    r.raw = build_soft(b, &softmax_grad_def, axis, (damo_var *const[]){v, p}, 2);
  rout[0] = build_masked(b, r);
  return b->status;
}

/* f(dy, p) = (dy - Σ dy·p)·p: symmetric in its linear part; by p: G·(dy - Σ dy·p) - dy·Σ G·p. */
static damo_status softmax_grad_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const int axis = softmax_axis(node->op);
  damo_var *g = gout[0], *dy = node->in[0], *p = node->in[1];
  if (!g) return DAMO_OK;
  gin[0] = build_soft(b, &softmax_grad_def, axis, (damo_var *const[]){g, p}, 2);
  damo_var *rest = build_sub(b, dy, sum_along(b, build_mul(b, dy, p), axis));
  gin[1] = build_sub(b, build_mul(b, g, rest), build_mul(b, dy, sum_along(b, build_mul(b, g, p), axis)));
  return b->status;
}

/* f(dy, p) = dy - e·Σ dy with e = exp(p): by dy, G - Σ G·e; by p, -G·e·Σ dy. */
static damo_status log_softmax_grad_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const int axis = softmax_axis(node->op);
  damo_var *g = gout[0], *dy = node->in[0];
  if (!g) return DAMO_OK;
  damo_var *ge = build_mul(b, g, build_exp(b, node->in[1]));
  gin[0] = build_sub(b, g, sum_along(b, ge, axis));
  gin[1] = build_neg(b, build_mul(b, ge, sum_along(b, dy, axis)));
  return b->status;
}

static damo_status soft_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                    damo_var ***out_shape) {
  for (int i = 0; i < var_ndim(node->out[0]); i++) out_shape[0][i] = in_shape[node->n_in - 1][i];
  return b->status;
}

/* ---- As parts of a Loop ------------------------------------------------------------------------------------------ */

/* How many axes the rows have if the axis is the last one or all are, else 0. */
static int soft_row_axes(const damo_apply *node) {
  const int axis = softmax_axis(node->op), ndim = var_ndim(node->out[0]);
  if (axis < 0) return ndim;
  return axis == ndim - 1 ? 1 : 0;
}

static damo_var *soft_row_parts(build *b, const damo_apply *node) {
  const int n_axes = soft_row_axes(node);
  damo_var *x = node->in[0];
  if (n_axes == 0) return NULL;
  damo_var *y = build_sub(b, x, build_row_max(b, x, n_axes)), *e = build_exp(b, y), *sum = build_row_sum(b, e, n_axes);
  return is_log_form(node->op) ? build_sub(b, y, build_log(b, sum)) : build_true_div(b, e, sum);
}

/* (Where one operand broadcasts, shapes must still be equal when run.) */
static damo_var *soft_grad_row_parts(build *b, const damo_apply *node) {
  const int n_axes = soft_row_axes(node);
  damo_var *dy = node->in[0], *p = node->in[1];
  if (n_axes == 0) return NULL;
  for (int i = 0; i < var_ndim(p); i++) {
    if (type_dim_is_one(p->type, i) != type_dim_is_one(dy->type, i)) return NULL;
  }
  if (is_log_form(node->op)) {
    damo_var *e = build_exp(b, p);
    return build_sub(b, dy, build_mul(b, e, build_row_sum(b, dy, n_axes)));
  }
  return build_mul(b, build_sub(b, dy, build_row_sum(b, build_mul(b, dy, p), n_axes)), p);
}

/* Over all axes: these as one. */
static damo_status soft_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                              damo_var **out) {
  damo_var *dims[DAMO_MAX_NDIM], *size = NULL;
  const int axis = softmax_axis(node->op), ndim = var_ndim(node->in[0]);
  const softmax_props moved = {.axis = prop_int(k + (axis < 0 ? 0 : axis) + 1)};
  DAMO_TRY(batch_agree(b, in, batched, node->n_in, k, true));
  for (int i = 0; axis < 0 && i < ndim; i++) dims[i] = build_dim(b, in[0], k + i);
  if (axis < 0) size = batch_size(b, ndim, dims);
  for (int i = 0; axis < 0 && i < node->n_in; i++) in[i] = batch_reshape(b, in[i], k, &size, 1);
  if (b->status != DAMO_OK) return b->status;
  DAMO_TRY(batch_apply(b, op_new(b->ctx, node->op->def, &moved), node, in, out));
  if (axis < 0) out[0] = batch_reshape(b, out[0], k, dims, ndim);
  return b->status;
}

const op_def softmax_def = {
    .name = "Softmax",
    .doc = "exp(x) divided by its sum along an axis",
    .props = PROPS(PROP_AXIS_OR_ALL(softmax_props, axis)),
    .n_in = 1,
    .data_size = sizeof(soft_axis),
    .init = soft_init,
    .infer_type = soft_infer_type,
    .perform = soft_perform,
    .emit_c = soft_emit_c,
    .grad = soft_grad,
    .rop = soft_rop,
    .infer_shape = soft_infer_shape,
    .batch = soft_batch,
    .masks = MASKS_OWN,
    .row_parts = soft_row_parts,
    .no_check = "dense: spec/op/rows/nnet.lua has results by hand and from plain loops",
};

const op_def log_softmax_def = {
    .name = "LogSoftmax",
    .doc = "logarithm of the softmax along an axis",
    .props = PROPS(PROP_AXIS_OR_ALL(softmax_props, axis)),
    .n_in = 1,
    .data_size = sizeof(soft_axis),
    .init = soft_init,
    .infer_type = soft_infer_type,
    .perform = soft_perform,
    .emit_c = soft_emit_c,
    .grad = soft_grad,
    .rop = soft_rop,
    .infer_shape = soft_infer_shape,
    .batch = soft_batch,
    .masks = MASKS_OWN,
    .row_parts = soft_row_parts,
    .no_check = "dense: spec/op/rows/nnet.lua has results by hand and from plain loops",
};

const op_def softmax_grad_def = {
    .name = "SoftmaxGrad",
    .doc = "gradient of Softmax from the cotangent and the result",
    .props = PROPS(PROP_AXIS_OR_ALL(softmax_props, axis)),
    .n_in = 2,
    .data_size = sizeof(soft_axis),
    .init = soft_init,
    .infer_type = soft_infer_type,
    .perform = soft_grad_perform,
    .emit_c = soft_emit_c,
    .grad = softmax_grad_grad,
    .infer_shape = soft_infer_shape,
    .batch = soft_batch,
    .row_parts = soft_grad_row_parts,
    .no_check = "dense: spec/op/rows/nnet.lua has results by hand and from plain loops",
};

const op_def log_softmax_grad_def = {
    .name = "LogSoftmaxGrad",
    .doc = "gradient of LogSoftmax from the cotangent and the result",
    .props = PROPS(PROP_AXIS_OR_ALL(softmax_props, axis)),
    .n_in = 2,
    .data_size = sizeof(soft_axis),
    .init = soft_init,
    .infer_type = soft_infer_type,
    .perform = soft_grad_perform,
    .emit_c = soft_emit_c,
    .grad = log_softmax_grad_grad,
    .infer_shape = soft_infer_shape,
    .batch = soft_batch,
    .row_parts = soft_grad_row_parts,
    .no_check = "dense: spec/op/rows/nnet.lua has results by hand and from plain loops",
};

damo_var *build_softmax(build *b, damo_var *x, int axis) { return build_soft(b, &softmax_def, axis, &x, 1); }
damo_var *build_log_softmax(build *b, damo_var *x, int axis) { return build_soft(b, &log_softmax_def, axis, &x, 1); }

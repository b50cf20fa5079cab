/* pool: maxima and means over windows that slide along the axes after the second, and over all of these axes.
 *
 * MaxPool(x), AvgPool(x) of x (N, C, …); MaxPoolGrad(g, x) puts g at the first maximum of each window, MaxPoolAt(h, x)
 * reads h there; each is linear in its first input, and the other one's gradient by it. AvgPoolGrad(g, lengths…) spreads
 * means over x's entries, and AvgPool is its gradient. float32 and float64.
 */
#include <stdio.h>

#include "kernel/conv/pool.h"
#include "op/elem/build_arith.h"
#include "op/shape/shape_int.h"
#include "pool.h"

typedef struct pool_props {
  prop_value size, stride, pad, include_pad; /* pad: before and after each axis */
} pool_props;

static damo_status pool_init(damo_op *op) {
  const pool_props *p = OP_PROPS(op, pool_props);
  pool_window *w = op->data;
  int64_t pads[2 * WINDOW_AXES];
  w->n = p->size.n;
  if (p->stride.n != w->n || p->pad.n != 2 * w->n)
    return ctx_fail(op->obj.ctx, DAMO_EVALUE, "%s: sizes, strides and pads are of different numbers of axes",
                    op->def->name);
  const int first = WINDOW_AXES - w->n;
  for (int i = 0; i < first; i++) w->size[i] = w->stride[i] = 1;
  window_read_prop(&p->size, w->size + first);
  window_read_prop(&p->stride, w->stride + first);
  window_read_prop(&p->pad, pads);
  for (int i = 0; i < 2 * w->n; i++) w->pad[first + i / 2][i % 2] = pads[i];
  w->include_pad = prop_bool_or(p->include_pad, true);
  return DAMO_OK;
}

static bool pool_is_mean(const damo_op *op) { return op->def == &avg_pool_def || op->def == &avg_pool_grad_def; }

/* The function's name, for messages. */
static const char *pool_name(const damo_op *op, char *text, size_t size) {
  snprintf(text, size, "nn.%s_pool%dd", pool_is_mean(op) ? "avg" : "max", pool_window_of(op)->n);
  return text;
}

/* ---- Shapes ------------------------------------------------------------------------------------------------------ */

/* The number of windows along axis k (of three) of that length; -1 and a shape error where there is none. */
static int64_t pool_length(damo_ctx *ctx, const damo_op *op, int k, int64_t length) {
  const pool_window *w = pool_window_of(op);
  char name[32];
  const int64_t padded = length + w->pad[k][0] + w->pad[k][1];
  if (length > 0 && padded >= w->size[k]) return (padded - w->size[k]) / w->stride[k] + 1;
  ctx_fail(ctx, DAMO_ESHAPE, "%s: axis %d of operand 1 (x) is %lld, with its padding shorter than the window, %lld",
           pool_name(op, name, sizeof name), k - WINDOW_AXES + w->n + 3, (long long)length, (long long)w->size[k]);
  return -1;
}

/* The operand is a float tensor of N, C and n axes. */
static damo_status pool_check_operand(const damo_op *op, const damo_var *x) {
  char name[32], text[256];
  const damo_type *t = x->type;
  if (!type_is_tensor(t) || !dtype_is_float(t->dtype)) {
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: the operand must be a float tensor, got %s",
                    pool_name(op, name, sizeof name), type_format(text, sizeof text, t));
  }
  if (t->ndim == 2 + pool_window_of(op)->n) return DAMO_OK;
  return ctx_fail(op->obj.ctx, DAMO_ESHAPE, "%s: operand 1 (x) must have rank %d, (N, C, …), got %d",
                  pool_name(op, name, sizeof name), 2 + pool_window_of(op)->n, t->ndim);
}

/* The Type of the maxima or means of x. */
static damo_status pool_result_type(const damo_op *op, const damo_type *x, damo_type **out) {
  int64_t shape[2 + WINDOW_AXES];
  const int first = WINDOW_AXES - pool_window_of(op)->n;
  for (int i = 0; i < x->ndim; i++) {
    shape[i] = x->shape[i];
    if (i < 2 || shape[i] < 0) continue;
    shape[i] = pool_length(op->obj.ctx, op, i - 2 + first, shape[i]);
    if (shape[i] < 0) return DAMO_ESHAPE;
  }
  *out = type_tensor(op->obj.ctx, x->dtype, x->ndim, shape);
  return *out ? DAMO_OK : DAMO_EMEMORY;
}

static damo_status pool_infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  for (int i = 0; i < n_in; i++) DAMO_TRY(pool_check_operand(op, in[i]));
  const damo_type *x = in[n_in - 1]->type;
  if (in[0]->type->dtype != x->dtype) {
    char name[32];
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: operands of two dtypes", pool_name(op, name, sizeof name));
  }
  if (op->def != &max_pool_grad_def) return pool_result_type(op, x, out);
  out[0] = damo_retain((damo_type *)(uintptr_t)x);
  return DAMO_OK;
}

static damo_status pool_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                    damo_var ***out_shape) {
  const pool_window *w = pool_window_of(node->op);
  const int first = WINDOW_AXES - w->n;
  damo_var *const *from = in_shape[node->n_in - 1];
  out_shape[0][0] = from[0];
  out_shape[0][1] = from[1];
  for (int i = 2; i < 2 + w->n; i++) {
    const int k = i - 2 + first;
    damo_var *span = build_add(b, from[i], build_i64(b, w->pad[k][0] + w->pad[k][1] - w->size[k]));
    out_shape[0][i] = build_add(b, build_floor_div(b, span, build_i64(b, w->stride[k])), build_i64(b, 1));
  }
  return b->status;
}

static damo_status pool_second_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                     damo_var ***out_shape) {
  for (int i = 0; i < var_ndim(node->out[0]); i++) out_shape[0][i] = in_shape[1][i];
  return b->status;
}

/* ---- Run --------------------------------------------------------------------------------------------------------- */

/* The windows over a plane of x's lengths, five of them. */
static damo_status pool_box_of(damo_ctx *ctx, const damo_op *op, const int64_t *lengths, pool_box *box) {
  const pool_window *w = pool_window_of(op);
  *box = (pool_box){.include_pad = w->include_pad};
  for (int k = 0; k < WINDOW_AXES; k++) {
    box->in[k] = lengths[2 + k];
    box->out[k] = pool_length(ctx, op, k, box->in[k]);
    if (box->out[k] < 0) return DAMO_ESHAPE;
    box->size[k] = w->size[k];
    box->stride[k] = w->stride[k];
    box->pad[k] = w->pad[k][0];
  }
  return DAMO_OK;
}

/* Planes divided among threads. */
typedef struct pool_work {
  const op_def *def;
  const pool_fns *fns;
  pool_box box;
  int64_t planes, shares, n_in, n_out; /* bytes of a plane and of its result */
  const char *first, *second;          /* the operands */
  char *result;
} pool_work;

static void pool_share(void *arg, int64_t share, int worker) {
  const pool_work *w = arg;
  (void)worker;
  const int64_t from = pool_share_first(w->planes, share, w->shares);
  const int64_t n = pool_share_first(w->planes, share + 1, w->shares) - from;
  const char *in = w->first + from * w->n_in, *out = w->first + from * w->n_out;
  if (w->def == &max_pool_def)
    w->fns->max(&w->box, n, in, w->result + from * w->n_out);
  else if (w->def == &avg_pool_def)
    w->fns->mean(&w->box, n, in, w->result + from * w->n_out);
  else if (w->def == &avg_pool_grad_def)
    w->fns->mean_grad(&w->box, n, out, w->result + from * w->n_in);
  else if (w->def == &max_pool_grad_def)
    w->fns->max_grad(&w->box, n, w->second + from * w->n_in, out, w->result + from * w->n_in);
  else
    w->fns->max_at(&w->box, n, w->second + from * w->n_in, in, w->result + from * w->n_out);
}

/* Checks that the first operand has the lengths `wanted`: those of the windows' results, or of x. */
static damo_status pool_check_lengths(const thunk *t, frame *f, const damo_array *a, const int64_t *wanted) {
  char name[32];
  int64_t lengths[2 + WINDOW_AXES];
  window_lengths(a, lengths);
  for (int i = 0; i < 2 + WINDOW_AXES; i++) {
    if (lengths[i] == wanted[i]) continue;
    return ctx_fail(f->ctx, DAMO_ESHAPE, "%s: axis %d of the first operand of %s is %lld, not %lld",
                    pool_name(t->node->op, name, sizeof name), i < 2 ? i + 1 : i + 1 - (2 + WINDOW_AXES - a->ndim),
                    t->node->op->def->name, (long long)lengths[i], (long long)wanted[i]);
  }
  return DAMO_OK;
}

/* lengths: x's five. */
#define POOL_LONG_PLANE 1024 /* results of a plane, from which on there are points inside of it */

static damo_status pool_run_planes(const thunk *t, frame *f, const int64_t *lengths) {
  const op_def *def = t->node->op->def;
  const bool spreads = def == &max_pool_grad_def || def == &avg_pool_grad_def;
  const damo_array *first = thunk_in(t, f, 0),
                   *second = def == &max_pool_grad_def || def == &max_pool_at_def ? thunk_in(t, f, 1) : NULL;
  const damo_dtype dtype = array_dtype(first);
  pool_work w = {.def = def, .fns = dtype == DAMO_FLOAT32 ? &pool_fns_f32 : &pool_fns_f64};
  int64_t results[2 + WINDOW_AXES], shape[2 + WINDOW_AXES], entries[2] = {1, 1};
  DAMO_TRY(pool_box_of(f->ctx, t->node->op, lengths, &w.box));
  for (int i = 0; i < 2 + WINDOW_AXES; i++) results[i] = i < 2 ? lengths[i] : w.box.out[i - 2];
  DAMO_TRY(pool_check_lengths(t, f, first, spreads ? results : lengths));
  const int64_t *of = spreads ? lengths : results;
  for (int i = 0; i < first->ndim; i++) shape[i] = of[i < 2 ? i : i + 2 + WINDOW_AXES - first->ndim];
  for (int i = 2; i < 2 + WINDOW_AXES; i++) entries[0] *= lengths[i], entries[1] *= results[i];

  damo_array *y = thunk_out(t, f, 0, dtype, first->ndim, shape);
  const size_t copy = window_copy_bytes(first);
  char *scratch = y ? thunk_scratch(t, f, copy + (second ? window_copy_bytes(second) : 0)) : NULL;
  if (scratch == NULL) return DAMO_EMEMORY;
  w.planes = lengths[0] * lengths[1];
  if (w.planes == 0) return DAMO_OK;
  w.n_in = entries[0] * (int64_t)dtype_size(dtype);
  w.n_out = entries[1] * (int64_t)dtype_size(dtype);
  w.first = window_contiguous(first, scratch);
  w.second = second ? window_contiguous(second, scratch + copy) : NULL;
  w.result = y->data;
  const double window = (double)w.box.size[0] * (double)w.box.size[1] * (double)w.box.size[2];
  thread_pool *pool = ctx_pool(f->ctx, (double)(w.planes * entries[1]) * (2 + window));
  w.box.threads = entries[1] >= POOL_LONG_PLANE && pool_cuts(pool) ? pool : NULL;
  w.shares = pool_shares(pool, w.planes, 1);
  pool_run(pool, w.shares, pool_share, &w);
  return DAMO_OK;
}

static damo_status pool_perform(const thunk *t, frame *f) {
  int64_t lengths[2 + WINDOW_AXES];
  window_lengths(thunk_in(t, f, t->n_in - 1), lengths);
  return pool_run_planes(t, f, lengths);
}

/* ---- Gradients --------------------------------------------------------------------------------------------------- */

static damo_var *build_pool(build *b, const op_def *def, const damo_op *like, damo_var *const *in, int n_in) {
  for (int i = 0; i < n_in; i++) {
    if (in[i] == NULL) return NULL;
  }
  return b->status == DAMO_OK ? build_op(b, op_new(b->ctx, def, OP_PROPS(like, pool_props)), in, n_in) : NULL;
}

static damo_status max_pool_gradient(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (!gout[0]) return DAMO_OK;
  gin[0] = build_pool(b, &max_pool_grad_def, node->op, (damo_var *const[]){gout[0], node->in[0]}, 2);
  return b->status;
}

static damo_status max_pool_tangent(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  if (!eval[0]) return DAMO_OK;
  rout[0] = build_pool(b, &max_pool_at_def, node->op, (damo_var *const[]){eval[0], node->in[0]}, 2);
  return b->status;
}

/* MaxPoolGrad and MaxPoolAt. */
static damo_status max_pool_move_gradient(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const op_def *other = node->op->def == &max_pool_grad_def ? &max_pool_at_def : &max_pool_grad_def;
  if (!gout[0]) return DAMO_OK;
  gin[0] = build_pool(b, other, node->op, (damo_var *const[]){gout[0], node->in[1]}, 2);
  return b->status;
}

static damo_status max_pool_move_tangent(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  if (!eval[0]) return DAMO_OK;
  rout[0] = build_pool(b, node->op->def, node->op, (damo_var *const[]){eval[0], node->in[1]}, 2);
  return b->status;
}

static damo_status avg_pool_gradient(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *in[1 + WINDOW_AXES] = {gout[0]};
  const int n = pool_window_of(node->op)->n;
  if (!gout[0]) return DAMO_OK;
  for (int i = 0; i < n; i++) in[1 + i] = build_dim(b, node->in[0], 2 + i);
  gin[0] = build_pool(b, &avg_pool_grad_def, node->op, in, 1 + n);
  return b->status;
}

static damo_status avg_pool_grad_gradient(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (!gout[0]) return DAMO_OK;
  gin[0] = build_pool(b, &avg_pool_def, node->op, gout, 1);
  return b->status;
}

static damo_status avg_pool_grad_infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  int64_t shape[2 + WINDOW_AXES];
  const damo_type *g = in[0]->type;
  DAMO_TRY(pool_check_operand(op, in[0]));
  if (n_in != 1 + pool_window_of(op)->n)
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "AvgPoolGrad: a length for each axis is needed");
  shape[0] = g->shape[0];
  shape[1] = g->shape[1];
  DAMO_TRY(static_dims(op->obj.ctx, "AvgPoolGrad", in + 1, n_in - 1, shape + 2));
  out[0] = type_tensor(op->obj.ctx, g->dtype, g->ndim, shape);
  return out[0] ? DAMO_OK : DAMO_EMEMORY;
}

static damo_status avg_pool_grad_perform(const thunk *t, frame *f) {
  const damo_array *g = thunk_in(t, f, 0);
  int64_t lengths[2 + WINDOW_AXES] = {array_shape(g)[0], array_shape(g)[1], 1, 1, 1};
  const int n = t->n_in - 1;
  DAMO_TRY(thunk_dims(t, f, "AvgPoolGrad", 1, n, lengths + 2 + WINDOW_AXES - n));
  return pool_run_planes(t, f, lengths);
}

static damo_status avg_pool_grad_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                             damo_var ***out_shape) {
  out_shape[0][0] = in_shape[0][0];
  out_shape[0][1] = in_shape[0][1];
  for (int i = 2; i < var_ndim(node->out[0]); i++) out_shape[0][i] = node->in[i - 1];
  return b->status;
}

#define POOL_PROPS                                                            \
  PROPS(PROP_INTEGERS(pool_props, size, 1, WINDOW_LONGEST, 1, WINDOW_AXES),   \
        PROP_INTEGERS(pool_props, stride, 1, WINDOW_LONGEST, 1, WINDOW_AXES), \
        PROP_INTEGERS(pool_props, pad, 0, WINDOW_LONGEST, 2, 2 * WINDOW_AXES), PROP_FLAG(pool_props, include_pad))

static damo_status pool_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                              damo_var **out) {
  return batch_into_first(b, node, in, batched, node->n_in, k, out);
}

static damo_status avg_pool_grad_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                                       damo_var **out) {
  for (int i = 1; i < node->n_in; i++) {
    if (batched[i]) return b->status; /* lengths that differ */
  }
  return batch_into_first(b, node, in, batched, 1, k, out);
}

const op_def max_pool_def = {
    .name = "MaxPool",
    .doc = "the largest entry of each window",
    .props = POOL_PROPS,
    .n_in = 1,
    .data_size = sizeof(pool_window),
    .init = pool_init,
    .infer_type = pool_infer_type,
    .perform = pool_perform,
    .emit_c = pool_emit_c,
    .grad = max_pool_gradient,
    .rop = max_pool_tangent,
    .infer_shape = pool_infer_shape,
    .batch = pool_batch,
    OP_CHECK(max_pool_check),
};

const op_def max_pool_grad_def = {
    .name = "MaxPoolGrad",
    .doc = "gradient of MaxPool: cotangents at the first maximum of each window",
    .props = POOL_PROPS,
    .n_in = 2,
    .data_size = sizeof(pool_window),
    .init = pool_init,
    .infer_type = pool_infer_type,
    .perform = pool_perform,
    .emit_c = pool_emit_c,
    .grad = max_pool_move_gradient,
    .rop = max_pool_move_tangent,
    .infer_shape = pool_second_shape,
    .batch = pool_batch,
    .connection_pattern = connect_first,
    OP_CHECK(max_pool_grad_check),
};

const op_def max_pool_at_def = {
    .name = "MaxPoolAt",
    .doc = "entries at the first maximum of each window of the second operand",
    .props = POOL_PROPS,
    .n_in = 2,
    .data_size = sizeof(pool_window),
    .init = pool_init,
    .infer_type = pool_infer_type,
    .perform = pool_perform,
    .emit_c = pool_emit_c,
    .grad = max_pool_move_gradient,
    .rop = max_pool_move_tangent,
    .infer_shape = pool_infer_shape,
    .batch = pool_batch,
    .connection_pattern = connect_first,
    OP_CHECK(max_pool_check),
};

const op_def avg_pool_def = {
    .name = "AvgPool",
    .doc = "the mean of each window",
    .props = POOL_PROPS,
    .n_in = 1,
    .data_size = sizeof(pool_window),
    .init = pool_init,
    .infer_type = pool_infer_type,
    .perform = pool_perform,
    .emit_c = pool_emit_c,
    .grad = avg_pool_gradient,
    .rop = rop_again,
    .infer_shape = pool_infer_shape,
    .batch = pool_batch,
    .terms = TERMS_LINEAR,
    OP_CHECK(avg_pool_check),
};

const op_def avg_pool_grad_def = {
    .name = "AvgPoolGrad",
    .doc = "gradient of AvgPool: cotangents spread over each window",
    .props = POOL_PROPS,
    .n_in = OP_VARIADIC,
    .data_size = sizeof(pool_window),
    .init = pool_init,
    .infer_type = avg_pool_grad_infer_type,
    .perform = avg_pool_grad_perform,
    .emit_c = pool_emit_c,
    .grad = avg_pool_grad_gradient,
    .rop = rop_again,
    .infer_shape = avg_pool_grad_infer_shape,
    .batch = avg_pool_grad_batch,
    .connection_pattern = connect_first,
    .terms = TERMS_LINEAR,
    OP_CHECK(avg_pool_grad_check),
};

/* ---- Functions --------------------------------------------------------------------------------------------------- */

typedef struct pool_options {
  prop_value size, stride, pad, count_include_pad;
} pool_options;

/* A row's class and number of axes. */
typedef struct pool_row {
  const op_def *def;
  int n;
} pool_row;

static damo_status call_pool(build *b, const fn_args *a, ptrvec *out) {
  const pool_row *row = a->func->data;
  const pool_options *o = FN_OPTIONS(a, pool_options);
  const char *name = a->func->name;
  const int n = row->n;
  int64_t size[WINDOW_AXES], stride[WINDOW_AXES], pad[WINDOW_AXES][2] = {{0}}, flat[2 * WINDOW_AXES];
  prop_value lists[3][2 * WINDOW_AXES];
  damo_var *x = NULL;
  DAMO_TRY(nnet_to_float(b, a, &x));
  if (!prop_given(o->size)) return ctx_fail(b->ctx, DAMO_ETYPE, "%s: the size is missing", name);
  DAMO_TRY(window_numbers(b->ctx, name, "size", &o->size, n, 1, size));
  for (int i = 0; i < n; i++) stride[i] = size[i];
  DAMO_TRY(window_numbers(b->ctx, name, "stride", &o->stride, n, 1, stride));
  DAMO_TRY(window_pads(b->ctx, name, "pad", &o->pad, n, pad));
  for (int i = 0; i < n; i++) {
    if (pad[i][0] >= size[i] || pad[i][1] >= size[i])
      return ctx_fail(b->ctx, DAMO_EVALUE, "%s: pad must be smaller than size, so that no window is all padding", name);
    flat[2 * i] = pad[i][0];
    flat[2 * i + 1] = pad[i][1];
  }
  const bool mean = row->def == &avg_pool_def;
  const pool_props props = {
      .size = window_prop(lists[0], size, n),
      .stride = window_prop(lists[1], stride, n),
      .pad = window_prop(lists[2], flat, 2 * n),
      .include_pad = mean ? prop_bool(prop_bool_or(o->count_include_pad, true)) : prop_nil(),
  };
  return fn_give(b, out, build_op(b, op_new(b->ctx, row->def, &props), &x, 1));
}

/* Over every axis after the second. */
static damo_status call_global_pool(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = NULL, *count = NULL;
  int axes[DAMO_MAX_NDIM], n = 0;
  DAMO_TRY(nnet_to_float(b, a, &x));
  if (var_ndim(x) < 3) {
    return ctx_fail(b->ctx, DAMO_ESHAPE, "%s: operand 1 (x) must have rank 3 or more, (N, C, …), got %d", a->func->name,
                    var_ndim(x));
  }
  for (int i = 2; i < var_ndim(x); i++) axes[n++] = i;
  const bool mean = a->func->data != NULL;
  damo_var *y = build_reduce(b, mean ? REDUCE_SUM : REDUCE_MAX, x, axes, n, false);
  if (!mean) return fn_give(b, out, y);
  for (int i = 0; i < n; i++) {
    damo_var *dim = build_dim(b, x, axes[i]);
    count = count != NULL ? build_mul(b, count, dim) : dim;
  }
  return fn_give(b, out, build_true_div(b, y, build_cast(b, count, var_dtype(x))));
}

#define POOL_OPTIONS \
  OPT(pool_options, size, OPT_ANY), OPT(pool_options, stride, OPT_ANY), OPT(pool_options, pad, OPT_ANY)
#define MAX_POOL(row, axes)                                                                          \
  {                                                                                                  \
    .name = row, .operands = "x", .options = OPTIONS(POOL_OPTIONS), .call = call_pool,               \
    .data = &(const pool_row){&max_pool_def, axes},                                                  \
    .doc = "the largest entry of each window of the axes after the second; stride: the size; pad: 0" \
  }
#define AVG_POOL(row, axes)                                                                                          \
  {                                                                                                                  \
    .name = row, .operands = "x", .options = OPTIONS(POOL_OPTIONS, OPT(pool_options, count_include_pad, OPT_BOOL)),  \
    .call = call_pool, .data = &(const pool_row){&avg_pool_def, axes},                                               \
    .doc = "the mean of each window of the axes after the second; count_include_pad (true): padding counts as zeros" \
  }

const op_func pool_funcs[] = {
    MAX_POOL("nn.max_pool1d", 1),
    MAX_POOL("nn.max_pool2d", 2),
    MAX_POOL("nn.max_pool3d", 3),
    AVG_POOL("nn.avg_pool1d", 1),
    AVG_POOL("nn.avg_pool2d", 2),
    AVG_POOL("nn.avg_pool3d", 3),
    {.name = "nn.global_max_pool",
     .operands = "x",
     .call = call_global_pool,
     .doc = "the largest entry over every axis after the second"},
    {.name = "nn.global_avg_pool",
     .operands = "x",
     .call = call_global_pool,
     .data = &avg_pool_def,
     .doc = "the mean over every axis after the second"},
    {.name = NULL},
};

const op_def *const pool_classes[] = {&max_pool_def, &max_pool_grad_def, &max_pool_at_def,
                                      &avg_pool_def, &avg_pool_grad_def, NULL};

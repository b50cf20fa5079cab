/* dimshuffle: DimShuffle: axes reordered, added and dropped, a view.
 *
 * Transposing, adding axes of length 1 and dropping them are all this one op, as in PyTensor: its property new_order
 * lists for each axis of the result the 1-based axis of x, or "x" for a new one.
 */
#include "shape_int.h"
#include "graph/c_emit.h"

#include <string.h>

typedef struct dimshuffle_data {
  int n;
  int8_t from[DAMO_MAX_NDIM]; /* -1: a new axis */
} dimshuffle_data;

static damo_status dimshuffle_init(damo_op *op) {
  dimshuffle_data *d = op->data;
  const prop_value *order = &OP_PROPS(op, dimshuffle_props)->new_order;
  uint32_t seen = 0;
  if (order->kind != PROP_LIST || order->n > DAMO_MAX_NDIM)
    return ctx_fail(op->obj.ctx, DAMO_EVALUE, "dimshuffle: the pattern must be a list of at most %d entries",
                    DAMO_MAX_NDIM);
  d->n = order->n;
  for (int i = 0; i < d->n; i++) {
    const prop_value *v = &order->u.list[i];
    bool is_new = v->kind == PROP_STR && strcmp(v->u.s, "x") == 0;
    if (!is_new && (v->kind != PROP_INT || v->u.i < 1 || v->u.i > DAMO_MAX_NDIM))
      return ctx_fail(op->obj.ctx, DAMO_EVALUE, "dimshuffle: a pattern entry is an axis or \"x\"");
    d->from[i] = is_new ? -1 : (int8_t)(v->u.i - 1);
    if (is_new) continue;
    if (seen >> d->from[i] & 1)
      return ctx_fail(op->obj.ctx, DAMO_EVALUE, "dimshuffle: axis %d is named twice; \"x\" adds an axis",
                      d->from[i] + 1);
    seen |= (uint32_t)1 << d->from[i];
  }
  return DAMO_OK;
}

/* Axes of x that the pattern leaves out must have length 1. */
static damo_status check_dropped(damo_ctx *ctx, const dimshuffle_data *d, int ndim, const int64_t *shape) {
  uint32_t kept = 0;
  char text[160];
  for (int i = 0; i < d->n; i++)
    if (d->from[i] >= 0) kept |= (uint32_t)1 << d->from[i];
  for (int i = 0; i < ndim; i++) {
    if ((kept >> i & 1) || shape[i] == 1 || shape[i] == -1) continue;
    return ctx_fail(ctx, DAMO_ESHAPE, "dimshuffle: axis %d of shape %s is dropped, so its length must be 1", i + 1,
                    shape_format(text, sizeof text, ndim, shape));
  }
  return DAMO_OK;
}

static damo_status dimshuffle_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  damo_ctx *ctx = op->obj.ctx;
  const dimshuffle_data *d = op->data;
  if (!type_is_tensor(in[0]->type)) return ctx_fail(ctx, DAMO_ETYPE, "dimshuffle: the operand must be a tensor");
  int64_t shape[DAMO_MAX_NDIM];
  const damo_type *t = in[0]->type;
  for (int i = 0; i < d->n; i++) {
    if (d->from[i] >= t->ndim)
      return ctx_fail(ctx, DAMO_EINDEX, "dimshuffle: the pattern names axis %d of an input with %d axes",
                      d->from[i] + 1, t->ndim);
    shape[i] = d->from[i] < 0 ? 1 : t->shape[d->from[i]];
  }
  DAMO_TRY(check_dropped(ctx, d, t->ndim, t->shape));
  out[0] = type_tensor(ctx, t->dtype, d->n, shape);
  return out[0] ? DAMO_OK : DAMO_EMEMORY;
}

static damo_status dimshuffle_perform(const thunk *t, frame *f) {
  const dimshuffle_data *d = t->node->op->data;
  const damo_array *x = thunk_in(t, f, 0);
  int64_t shape[DAMO_MAX_NDIM], strides[DAMO_MAX_NDIM];
  DAMO_TRY(check_dropped(f->ctx, d, x->ndim, array_shape(x)));
  for (int i = 0; i < d->n; i++) {
    shape[i] = d->from[i] < 0 ? 1 : array_shape(x)[d->from[i]];
    strides[i] = d->from[i] < 0 ? (int64_t)dtype_size(x->dtype) : array_strides(x)[d->from[i]];
  }
  return thunk_out_view(t, f, 0, x, d->n, shape, strides, 0);
}

static damo_status dimshuffle_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const dimshuffle_data *d = node->op->data;
  int back[DAMO_MAX_NDIM], ndim = var_ndim(node->in[0]);
  for (int i = 0; i < ndim; i++) back[i] = -1;
  for (int i = 0; i < d->n; i++)
    if (d->from[i] >= 0) back[d->from[i]] = i;
  gin[0] = build_dimshuffle(b, gout[0], back, ndim);
  return b->status;
}

static damo_status dimshuffle_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                          damo_var ***out_shape) {
  const dimshuffle_data *d = node->op->data;
  for (int i = 0; i < d->n; i++) out_shape[0][i] = d->from[i] < 0 ? build_i64(b, 1) : in_shape[0][d->from[i]];
  return b->status;
}

static damo_status dimshuffle_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                                    damo_var **out) {
  const dimshuffle_data *d = node->op->data;
  int pattern[DAMO_MAX_NDIM];
  (void)batched;
  if (k + d->n > DAMO_MAX_NDIM) out[0] = batch_pad(b, in[0], k, d->n); /* fails */
  for (int i = 0; i < k + d->n && b->status == DAMO_OK; i++)
    pattern[i] = i < k ? i : d->from[i - k] < 0 ? -1 : k + d->from[i - k];
  out[0] = build_dimshuffle(b, in[0], pattern, k + d->n);
  return b->status;
}

static damo_status dimshuffle_emit_c(c_emit *e, const damo_apply *node) {
  ce_takes_complex(e);
  const dimshuffle_data *d = node->op->data;
  const c_value *x = ce_in(e, 0);
  int64_t shape[DAMO_MAX_NDIM], strides[DAMO_MAX_NDIM];
  const damo_status s = check_dropped(e->ctx, d, x->ndim, x->shape);
  if (s != DAMO_OK) return e->status = s;
  for (int i = 0; i < d->n; i++) {
    shape[i] = d->from[i] < 0 ? 1 : x->shape[d->from[i]];
    strides[i] = d->from[i] < 0 ? 1 : x->strides[d->from[i]];
  }
  ce_out_view(e, 0, x, d->n, shape, strides, 0);
  return e->status;
}

static bool dimshuffle_moves(const op_moves *m, damo_ctx *ctx) {
  (void)ctx;
  const int32_t n = m->n_in[0];
  if (var_ndim(m->node->out[0]) == 0 && n != 1) return false;
  if (var_ndim(m->node->in[0]) == 1 && m->node->out[0]->type->ndim == 1 &&
      ((const dimshuffle_data *)m->node->op->data)->from[0] < 0 && n != 1)
    return false;
  m->n_out[0] = n;
  for (int32_t i = 0; i < n; i++) m->out[i] = (op_move){.in = 0, .at = i, .add = -1};
  return true;
}

const op_def dimshuffle_def = {
    .name = "DimShuffle",
    .doc = "axes reordered, added and dropped; a view",
    .props = PROPS(PROP(dimshuffle_props, new_order)),
    .n_in = 1,
    .data_size = sizeof(dimshuffle_data),
    .init = dimshuffle_init,
    .view_map = alias_first,
    .infer_type = dimshuffle_type,
    .perform = dimshuffle_perform,
    .emit_c = dimshuffle_emit_c,
    .moves = dimshuffle_moves,
    .grad = dimshuffle_grad,
    .rop = rop_again,
    .infer_shape = dimshuffle_infer_shape,
    .batch = dimshuffle_batch,
    .terms = TERMS_LINEAR,
    .masks = MASKS_MOVED,
    .no_check = "dense: spec/op/rows/shape.lua has results by hand and from plain loops",
};

int dimshuffle_op_axis(const damo_op *op, int axis) { return ((const dimshuffle_data *)op->data)->from[axis]; }

bool dimshuffle_op_keeps_order(const damo_op *op, int ndim) {
  const dimshuffle_data *d = op->data;
  int last = -1, n = 0;
  for (int i = 0; i < d->n; i++) {
    if (d->from[i] < 0) continue;
    if (d->from[i] < last) return false;
    last = d->from[i];
    n++;
  }
  return d->n != n || n != ndim; /* else it is the operand */
}

damo_var *build_dimshuffle(build *b, damo_var *x, const int *pattern, int n) {
  if (!x || b->status != DAMO_OK) return NULL;
  if (n > DAMO_MAX_NDIM) return build_fail(b, DAMO_ESHAPE, "dimshuffle: %d axes, at most %d", n, DAMO_MAX_NDIM);
  prop_value list[DAMO_MAX_NDIM];
  bool same = type_is_tensor(x->type) && n == var_ndim(x);
  for (int i = 0; i < n; i++) {
    list[i] = pattern[i] < 0 ? prop_str("x") : prop_int(pattern[i] + 1);
    same = same && pattern[i] == i;
  }
  if (same) return x;
  const dimshuffle_props order = {.new_order = prop_list(list, n)};
  return build_op(b, op_new(b->ctx, &dimshuffle_def, &order), &x, 1);
}

damo_var *build_transpose(build *b, damo_var *x) {
  int pattern[DAMO_MAX_NDIM];
  if (!x) return NULL;
  for (int i = 0; i < var_ndim(x); i++) pattern[i] = var_ndim(x) - 1 - i;
  return build_dimshuffle(b, x, pattern, var_ndim(x));
}

damo_var *build_swap_last(build *b, damo_var *x) {
  int pattern[DAMO_MAX_NDIM], n = x ? var_ndim(x) : 0;
  if (!x) return NULL;
  if (n < 2) return build_fail(b, DAMO_ESHAPE, "matrix_transpose: expected at least 2 axes, got %d", n);
  for (int i = 0; i < n; i++) pattern[i] = i;
  pattern[n - 1] = n - 2;
  pattern[n - 2] = n - 1;
  return build_dimshuffle(b, x, pattern, n);
}

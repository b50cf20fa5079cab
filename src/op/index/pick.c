/* pick: for each position in the other axes one entry of the last axis, chosen by an index tensor.
 *
 * Pick(x, index) = x[…, index[…]]: index int64, 1-based, one axis less than x. PickGrad(g, index, n): zeros of shape
 * index.shape + (n,) with g at the picked positions. Each Op is the other's gradient.
 */
#include "op/elem/elem_c.h"
#include "index_int.h"
#include "op/nnet/nnet.h"
#include "kernel/kernel.h"

#include <string.h>

static damo_status pick_check_index(const damo_op *op, damo_var *const *in, int n_in, int rank) {
  char text[256];
  for (int i = 0; i < n_in; i++) {
    const damo_type *t = in[i]->type;
    const bool is_index = i == 1;
    if (type_is_tensor(t) &&
        t->ndim == (i == 0   ? in[0]->type->ndim
                    : i == 1 ? rank
                             : 0) &&
        (i == 0 || t->dtype == DAMO_INT64)) {
      continue;
    }
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: %s must be a tensor%s, got %s", op->def->name,
                    is_index ? "the index" : "the operand",
                    is_index ? " of int64 with one axis less than the first operand" : "",
                    type_format(text, sizeof text, t));
  }
  return DAMO_OK;
}

static damo_status pick_infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  damo_ctx *ctx = op->obj.ctx;
  const damo_type *x = in[0]->type, *index = in[1]->type;
  int64_t shape[DAMO_MAX_NDIM];
  if (!type_is_tensor(x) || x->ndim < 1)
    return ctx_fail(ctx, DAMO_ETYPE, "Pick: the first operand must have an axis to pick from");
  DAMO_TRY(pick_check_index(op, in, n_in, x->ndim - 1));
  for (int i = 0; i < index->ndim; i++) {
    if (x->shape[i] >= 0 && index->shape[i] >= 0 && x->shape[i] != index->shape[i]) {
      char a[256], c[256];
      return ctx_fail(ctx, DAMO_ESHAPE, "Pick: an index of shape %s does not fit an operand of shape %s",
                      shape_format(a, sizeof a, index->ndim, index->shape),
                      shape_format(c, sizeof c, x->ndim, x->shape));
    }
    shape[i] = x->shape[i] >= 0 ? x->shape[i] : index->shape[i];
  }
  out[0] = type_tensor(ctx, x->dtype, index->ndim, shape);
  return out[0] ? DAMO_OK : ctx->error.status;
}

#define PICK_PART 1024 /* entries between two points */

/* Checks that the index has the leading lengths `of` and that every position lies in 1…n; copies it, C-contiguous, to
 * at. */
static damo_status pick_check_positions(const thunk *t, frame *f, const damo_array *index, const int64_t *of, int64_t n,
                                        int64_t *at) {
  char a[256], c[256];
  for (int i = 0; i < index->ndim; i++) {
    if (array_shape(index)[i] == of[i]) continue;
    return ctx_fail(f->ctx, DAMO_ESHAPE, "%s: an index of shape %s does not fit leading dimensions %s",
                    t->node->op->def->name, shape_format(a, sizeof a, index->ndim, array_shape(index)),
                    shape_format(c, sizeof c, index->ndim, of));
  }
  array_copy_box(f->ctx, index->data, array_strides(index), (char *)at, NULL, index->ndim, array_shape(index),
                 sizeof(int64_t));
  const int64_t count = array_size(index);
  for (int64_t i = 0; i < count; i++) {
    ctx_point_each(f->ctx, i, PICK_PART);
    if (at[i] >= 1 && at[i] <= n) continue;
    return ctx_fail(f->ctx, DAMO_EINDEX, "%s: position %lld is outside 1..%lld", t->node->op->def->name,
                    (long long)at[i], (long long)n);
  }
  return DAMO_OK;
}

static damo_status pick_perform(const thunk *t, frame *f) {
  const damo_array *x = thunk_in(t, f, 0), *index = thunk_in(t, f, 1);
  const size_t size = dtype_size(array_dtype(x));
  const int last = x->ndim - 1;
  const int64_t count = array_size(index), step = array_strides(x)[last];
  int64_t numbers[ND_NUMBERS(DAMO_MAX_NDIM, 1)];
  nd_space rows;
  nd_walk w;
  int64_t *at = thunk_scratch(t, f, (size_t)count * sizeof(int64_t));
  damo_array *out = at ? thunk_out(t, f, 0, array_dtype(x), index->ndim, array_shape(index)) : NULL;
  if (!out) return DAMO_EMEMORY;
  DAMO_TRY(pick_check_positions(t, f, index, array_shape(x), array_shape(x)[last], at));
  char *row = x->data;
  nd_space_init(&rows, numbers, last, array_shape(x), 1, (const int64_t *const[]){array_strides(x)});
  for (bool more = nd_begin(&w, &rows); more; more = nd_next(&w, &row)) {
    memcpy(out->data + (size_t)w.row * size, row + (at[w.row] - 1) * step, size);
    ctx_point_each(f->ctx, w.row, PICK_PART);
  }
  if (count > 1024) ctx_set_due(f->ctx);
  return DAMO_OK;
}

static damo_status pick_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *x = node->in[0];
  if (!gout[0]) return DAMO_OK;
  damo_var *const in[3] = {gout[0], node->in[1], build_dim(b, x, var_ndim(x) - 1)};
  if (!in[2]) return b->status;
  gin[0] = build_op(b, op_new(b->ctx, &pick_grad_def, NULL), in, 3);
  return b->status;
}

static damo_status pick_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  if (eval[0]) rout[0] = build_pick(b, eval[0], node->in[1]);
  return b->status;
}

static damo_status pick_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                    damo_var ***out_shape) {
  for (int i = 0; i < var_ndim(node->in[1]); i++) out_shape[0][i] = in_shape[1][i];
  return b->status;
}

static damo_status pick_emit_c(c_emit *e, const damo_apply *node) {
  const c_value *x = ce_in(e, 0), *index = ce_in(e, 1);
  const int n = index->ndim;
  c_nest nest;
  for (int k = 0; k < n; k++) {
    if (index->shape[k] != x->shape[k]) return ce_refuse(e, "its operands' shapes do not agree");
  }
  const c_value *out = ce_out(e, 0, var_dtype(node->out[0]), n, index->shape);
  if (out == NULL) return e->status;
  ce_nest_init(e, &nest, n, out->shape, 3, (const int64_t *const[]){x->strides, index->strides, out->strides});
  emit_picked(e, &nest, x, x->shape[n], x->strides[n], index, out);
  return e->status;
}

const op_def pick_def = {
    .name = "Pick",
    .doc = "one entry of the last axis for each index of the other axes, by 1-based position",
    .n_in = 2,
    .infer_type = pick_infer_type,
    .perform = pick_perform,
    .emit_c = pick_emit_c,
    .grad = pick_grad,
    .rop = pick_rop,
    .infer_shape = pick_infer_shape,
    .batch = batch_same_op_agreed,
    .connection_pattern = connect_first,
    .no_check = "dense: spec/op/rows/index.lua has results by hand and from plain loops",
};

/* ---- PickGrad ---------------------------------------------------------------------------------------------------- */

static damo_status pick_grad_infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  damo_ctx *ctx = op->obj.ctx;
  const damo_type *g = in[0]->type;
  int64_t shape[DAMO_MAX_NDIM + 1], n = -1;
  DAMO_TRY(pick_check_index(op, in, n_in, g->ndim));
  for (int i = 0; i < g->ndim; i++) shape[i] = g->shape[i] >= 0 ? g->shape[i] : in[1]->type->shape[i];
  shape[g->ndim] = var_static_int(in[2], &n) && n >= 0 ? n : -1;
  out[0] = type_tensor(ctx, g->dtype, g->ndim + 1, shape);
  return out[0] ? DAMO_OK : ctx->error.status;
}

static damo_status pick_grad_perform(const thunk *t, frame *f) {
  const damo_array *g = thunk_in(t, f, 0), *index = thunk_in(t, f, 1);
  const size_t size = dtype_size(array_dtype(g));
  const int64_t n = scalar_to_int64(array_item(thunk_in(t, f, 2))), count = array_size(index);
  int64_t shape[DAMO_MAX_NDIM];
  for (int i = 0; i < index->ndim; i++) shape[i] = array_shape(index)[i];
  shape[index->ndim] = n;
  const size_t at_size = ((size_t)count * sizeof(int64_t) + 63) & ~(size_t)63;
  char *scratch = thunk_scratch(t, f, at_size + (size_t)array_size(g) * size);
  damo_array *out = scratch ? thunk_out(t, f, 0, array_dtype(g), index->ndim + 1, shape) : NULL;
  if (!out) return DAMO_EMEMORY;
  int64_t *at = (int64_t *)scratch;
  DAMO_TRY(pick_check_positions(t, f, index, array_shape(g), n, at));
  array_copy_box(f->ctx, g->data, array_strides(g), scratch + at_size, NULL, g->ndim, array_shape(g), size);
  array_zero_bytes(f->ctx, out->data, (size_t)(count * n) * size);
  for (int64_t i = 0; i < count; i++) {
    memcpy(out->data + (size_t)(i * n + at[i] - 1) * size, scratch + at_size + (size_t)i * size, size);
    ctx_point_each(f->ctx, i, PICK_PART);
  }
  return DAMO_OK;
}

static damo_status pick_grad_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  if (gout[0]) gin[0] = build_pick(b, gout[0], node->in[1]);
  return b->status;
}

static damo_status pick_grad_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                         damo_var ***out_shape) {
  const int n = var_ndim(node->in[1]);
  for (int i = 0; i < n; i++) out_shape[0][i] = in_shape[1][i];
  out_shape[0][n] = node->in[2];
  return b->status;
}

static damo_status pick_grad_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                                   damo_var **out) {
  if (batched[2]) return b->status; /* lengths that differ */
  DAMO_TRY(batch_agree(b, in, batched, 2, k, true));
  return batch_apply(b, damo_retain(node->op), node, in, out);
}

static damo_status pick_grad_emit_c(c_emit *e, const damo_apply *node) {
  const c_value *g = ce_in(e, 0), *index = ce_in(e, 1);
  const int n = index->ndim;
  int64_t shape[DAMO_MAX_NDIM];
  c_nest nest;
  for (int k = 0; k < n; k++) {
    shape[k] = index->shape[k];
    if (shape[k] != g->shape[k]) return ce_refuse(e, "its operands' shapes do not agree");
  }
  DAMO_TRY(ce_int(e, 2, "a length", &shape[n]));
  const c_value *out = ce_out(e, 0, var_dtype(node->out[0]), n + 1, shape);
  if (out == NULL) return e->status;
  ce_nest_init(e, &nest, n, shape, 3, (const int64_t *const[]){g->strides, index->strides, out->strides});
  emit_placed(e, &nest, g, index, out, shape[n], out->strides[n]);
  return e->status;
}

const op_def pick_grad_def = {
    .name = "PickGrad",
    .doc = "zeros with values at the picked positions of a new last axis",
    .n_in = 3,
    .infer_type = pick_grad_infer_type,
    .perform = pick_grad_perform,
    .emit_c = pick_grad_emit_c,
    .grad = pick_grad_grad,
    .infer_shape = pick_grad_infer_shape,
    .batch = pick_grad_batch,
    .connection_pattern = connect_first,
    .no_check = "dense: spec/op/rows/index.lua has results by hand and from plain loops",
};

damo_var *build_pick(build *b, damo_var *x, damo_var *index) {
  if (!x || !index) return NULL;
  damo_var *const in[2] = {x, build_cast(b, index, DAMO_INT64)};
  if (!in[1]) return NULL;
  return build_op(b, op_new(b->ctx, &pick_def, NULL), in, 2);
}

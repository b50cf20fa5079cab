/* broadcast: BroadcastTo, and the one rule of broadcasting: an axis broadcasts where the operand's Type says that its
 * length is 1, never where only the value turns out to have length 1.
 *
 * BroadcastTo's result is a view whose entries may share memory, so it is read-only.
 */
#include "shape_int.h"
#include "graph/c_emit.h"

#include <stdio.h>

const char *broadcast_hint(char *dst, size_t n, const damo_type *t, int axis) {
  char shape[160] = "";
  size_t used = 0;
  for (int k = 0; k < t->ndim && used < sizeof shape; k++) {
    const char *comma = k > 0 ? ", " : "";
    const int64_t d = k == axis ? 1 : t->shape[k];
    const int w = d < 0 ? snprintf(shape + used, sizeof shape - used, "%sfalse", comma)
                        : snprintf(shape + used, sizeof shape - used, "%s%lld", comma, (long long)d);
    used += w > 0 ? (size_t)w : 0;
  }
  snprintf(dst, n, "is 1, which broadcasts only where its Type says so; declare it: damo.tensor(name, {shape={%s}})",
           shape);
  return dst;
}

damo_status broadcast_strides(damo_ctx *ctx, const char *func, const damo_array *a, const damo_type *type, int ndim,
                              const int64_t *shape, int64_t *strides) {
  char from[160], to[160], hint[320], late[400] = "";
  const int lead = ndim - a->ndim;
  bool ok = lead >= 0;
  for (int i = 0; i < ndim && ok; i++) {
    const int64_t n = i < lead ? 1 : array_shape(a)[i - lead];
    strides[i] = n == 1 ? 0 : array_strides(a)[i - lead];
    ok = n == shape[i] || i < lead || type_dim_is_one(type, i - lead);
    if (!ok && n == 1)
      snprintf(late, sizeof late, ": axis %d %s", i - lead + 1, broadcast_hint(hint, sizeof hint, type, i - lead));
  }
  if (ok) return DAMO_OK;
  return ctx_fail(ctx, DAMO_ESHAPE, "%s: shape %s does not broadcast to %s%s", func,
                  shape_format(from, sizeof from, a->ndim, array_shape(a)), shape_format(to, sizeof to, ndim, shape),
                  late);
}

/* ---- BroadcastTo ------------------------------------------------------------------------------------------------- */

damo_status broadcast_dims_type(const damo_op *op, const char *func, const char *what, damo_var *const *in, int n_in,
                                damo_type **out) {
  damo_ctx *ctx = op->obj.ctx;
  int n = n_in - 1, lead = n - var_ndim(in[0]);
  int64_t shape[DAMO_MAX_NDIM];
  char from[160], to[160];
  if (!type_is_tensor(in[0]->type)) return ctx_fail(ctx, DAMO_ETYPE, "%s: operand 1 must be a tensor", func);
  DAMO_TRY(static_dims(ctx, func, in + 1, n, shape));
  bool ok = lead >= 0;
  for (int i = lead; i < n && ok; i++) {
    int64_t d = in[0]->type->shape[i - lead];
    ok = d == -1 || d == 1 || shape[i] == -1 || d == shape[i];
    if (d > 1 && shape[i] == -1) shape[i] = d;
  }
  if (!ok)
    return ctx_fail(ctx, DAMO_ESHAPE, "%s: %s %s does not broadcast to %s", func, what,
                    shape_format(from, sizeof from, var_ndim(in[0]), in[0]->type->shape),
                    shape_format(to, sizeof to, n, shape));
  out[0] = type_tensor(ctx, var_dtype(in[0]), n, shape);
  return out[0] ? DAMO_OK : DAMO_EMEMORY;
}

static damo_status broadcast_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  return broadcast_dims_type(op, "broadcast_to", "shape", in, n_in, out);
}

static damo_status broadcast_perform(const thunk *t, frame *f) {
  int n = t->n_in - 1;
  int64_t shape[DAMO_MAX_NDIM], strides[DAMO_MAX_NDIM], size;
  DAMO_TRY(thunk_dims(t, f, "broadcast_to", 1, n, shape));
  DAMO_TRY(shape_size(f->ctx, n, shape, &size));
  DAMO_TRY(broadcast_strides(f->ctx, "broadcast_to", thunk_in(t, f, 0), t->node->in[0]->type, n, shape, strides));
  DAMO_TRY(thunk_out_view(t, f, 0, thunk_in(t, f, 0), n, shape, strides, 0));
  ((damo_array *)thunk_result(t, f, 0))->writeable = false; /* entries share memory */
  return DAMO_OK;
}

static damo_status broadcast_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  gin[0] = build_unbroadcast(b, gout[0], node->in[0]);
  return b->status;
}

static damo_status broadcast_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  if (eval[0]) rout[0] = build_broadcast_to(b, "broadcast_to", eval[0], node->in + 1, node->n_in - 1);
  return b->status;
}

static damo_status broadcast_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                                   damo_var **out) {
  damo_var *dims[DAMO_MAX_NDIM];
  const int n = batch_result_lengths(b, node, in, batched, k, dims);
  if (n >= 0) out[0] = build_broadcast_to(b, "broadcast_to", batch_pad(b, in[0], k, n - k), dims, n);
  return b->status;
}

static damo_status broadcast_emit_c(c_emit *e, const damo_apply *node) {
  ce_takes_complex(e);
  int64_t shape[DAMO_MAX_NDIM], strides[DAMO_MAX_NDIM];
  for (int i = 1; i < node->n_in; i++) DAMO_TRY(ce_int(e, i, "a length", &shape[i - 1]));
  ce_strides_along(ce_in(e, 0), node->n_in - 1, strides);
  ce_out_view(e, 0, ce_in(e, 0), node->n_in - 1, shape, strides, 0);
  return e->status;
}

static const op_def broadcast_def = {
    .name = "BroadcastTo",
    .doc = "x broadcast to a shape",
    .n_in = OP_VARIADIC,
    .view_map = alias_first,
    .infer_type = broadcast_type,
    .perform = broadcast_perform,
    .emit_c = broadcast_emit_c,
    .grad = broadcast_grad,
    .rop = broadcast_rop,
    .infer_shape = infer_shape_value_lengths,
    .batch = broadcast_batch,
    .connection_pattern = connect_first,
    .terms = TERMS_LINEAR,
    .masks = MASKS_SUMMED,
    .no_check = "dense: spec/op/rows/alloc.lua has results by hand and from plain loops",
};

damo_var *build_broadcast_to(build *b, const char *func, damo_var *x, damo_var *const *dims, int n) {
  damo_var *in[DAMO_MAX_NDIM + 1];
  if (!x || b->status != DAMO_OK) return NULL;
  if (n < var_ndim(x))
    return build_fail(b, DAMO_ESHAPE, "%s: an operand of %d axes does not broadcast to %d axes", func, var_ndim(x), n);
  in[0] = x;
  for (int i = 0; i < n; i++) in[i + 1] = dims[i];
  return build_op(b, op_new(b->ctx, &broadcast_def, NULL), in, n + 1);
}

damo_status fn_broadcast_to(build *b, const fn_args *a, ptrvec *out) {
  const shape_options *o = FN_OPTIONS(a, shape_options);
  damo_var *dims[DAMO_MAX_NDIM];
  int n;
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  if (!prop_given(o->shape)) return ctx_fail(b->ctx, DAMO_ETYPE, "broadcast_to: the shape is missing");
  DAMO_TRY(shape_check(b, "broadcast_to", &o->shape, dims, &n));
  return fn_give(b, out, build_broadcast_to(b, "broadcast_to", build_strong(b, a->in[0]), dims, n));
}

const op_def *const broadcast_classes[] = {&broadcast_def, NULL};

/* broadcast.c: BroadcastTo and its adjoint SumTo.
 *
 * What BroadcastTo gives is a view whose entries may share memory, so it is read-only.
 */
#include "shape_int.h"

static const op_alias view_of_first[] = {{0, 0}, OP_ALIAS_END};

damo_status broadcast_strides(damo_ctx *ctx, const char *func, const damo_array *a, int ndim, const int64_t *shape,
                              int64_t *strides) {
  char from[160], to[160];
  int lead = ndim - a->ndim;
  bool ok = lead >= 0;
  for (int i = 0; i < ndim && ok; i++) {
    int64_t n = i < lead ? 1 : array_shape(a)[i - lead];
    strides[i] = n == 1 ? 0 : array_strides(a)[i - lead];
    ok = n == 1 || n == shape[i];
  }
  if (ok) return DAMO_OK;
  return ctx_fail(ctx, DAMO_ESHAPE, "%s: shape %s does not broadcast to %s", func,
                  shape_format(from, sizeof from, a->ndim, array_shape(a)), shape_format(to, sizeof to, ndim, shape));
}

/* ---- BroadcastTo ------------------------------------------------------------------------------------------------- */

damo_status broadcast_dims_type(const damo_op *op, const char *func, const char *what, damo_var *const *in, int n_in,
                                damo_type **out) {
  damo_ctx *ctx = op->obj.ctx;
  int n = n_in - 1, lead = n - var_ndim(in[0]);
  int64_t shape[DAMO_MAX_NDIM];
  char from[160], to[160];
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

static damo_status broadcast_perform(thunk *t) {
  int n = t->n_in - 1;
  int64_t shape[DAMO_MAX_NDIM], strides[DAMO_MAX_NDIM], size;
  DAMO_TRY(thunk_dims(t, "broadcast_to", 1, n, shape));
  DAMO_TRY(shape_size(t->ctx, n, shape, &size));
  DAMO_TRY(broadcast_strides(t->ctx, "broadcast_to", thunk_in(t, 0), n, shape, strides));
  DAMO_TRY(thunk_out_view(t, 0, thunk_in(t, 0), n, shape, strides, 0));
  ((damo_array *)*t->out[0])->writeable = false; /* entries share memory */
  return DAMO_OK;
}

static damo_status broadcast_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  gin[0] = build_sum_to(b, gout[0], node->in[0]);
  return b->status;
}

static damo_status broadcast_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  if (eval[0]) rout[0] = build_broadcast_to(b, "broadcast_to", eval[0], node->in + 1, node->n_in - 1);
  return b->status;
}

static const op_def broadcast_def = {
    .name = "BroadcastTo",
    .doc = "x broadcast to a shape",
    .n_in = OP_VARIADIC,
    .view_map = view_of_first,
    .infer_type = broadcast_type,
    .perform = broadcast_perform,
    .grad = broadcast_grad,
    .rop = broadcast_rop,
    .infer_shape = infer_shape_value_lengths,
    .connection_pattern = connect_first,
    .terms = TERMS_LINEAR,
};

damo_var *build_broadcast_to(build *b, const char *func, damo_var *x, damo_var *const *dims, int n) {
  damo_var *in[DAMO_MAX_NDIM + 1];
  if (!x || b->status != DAMO_OK) return NULL;
  if (n < var_ndim(x))
    return build_fail(b, DAMO_ESHAPE, "%s: an operand of %d axes does not broadcast to %d axes", func, var_ndim(x), n);
  in[0] = x;
  for (int i = 0; i < n; i++) in[i + 1] = dims[i];
  return build_op(b, op_new(b->ctx, &broadcast_def, NULL, 0), in, n + 1);
}

damo_status fn_broadcast_to(build *b, const fn_args *a, ptrvec *out) {
  damo_var *dims[DAMO_MAX_NDIM];
  int n;
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  if (a->opt[0].kind == PROP_NIL) return ctx_fail(b->ctx, DAMO_ETYPE, "broadcast_to: the shape is missing");
  DAMO_TRY(shape_check(b, "broadcast_to", &a->opt[0], dims, &n));
  return fn_give(b, out, build_broadcast_to(b, "broadcast_to", build_strong(b, a->in[0]), dims, n));
}

/* ---- SumTo: g summed to the shape of its second input ------------------------------------------------------------ */

static damo_status sumto_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  damo_dtype dt = var_dtype(in[0]);
  if (!dtype_is_float(dt) && !dtype_is_complex(dt))
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "sum_to: expected a float gradient, got %s", dtype_name(dt));
  out[0] = type_tensor(op->obj.ctx, dt, var_ndim(in[1]), in[1]->type->shape);
  return out[0] ? DAMO_OK : DAMO_EMEMORY;
}

static damo_status sumto_perform(thunk *t) {
  const damo_array *g = thunk_in(t, 0), *x = thunk_in(t, 1);
  int lead = g->ndim - x->ndim;
  uint32_t axes = 0;
  char from[160], to[160];
  bool ok = lead >= 0;
  for (int i = 0; i < g->ndim && ok; i++) {
    int64_t n = i < lead ? 1 : array_shape(x)[i - lead];
    if (i < lead || (n == 1 && array_shape(g)[i] != 1))
      axes |= (uint32_t)1 << i;
    else
      ok = n == array_shape(g)[i];
  }
  if (!ok)
    return ctx_fail(t->ctx, DAMO_ESHAPE, "sum_to: shape %s is no broadcast of %s",
                    shape_format(from, sizeof from, g->ndim, array_shape(g)),
                    shape_format(to, sizeof to, x->ndim, array_shape(x)));
  damo_array *out = thunk_out(t, 0, array_dtype(g), x->ndim, array_shape(x));
  void *work = out ? thunk_scratch(t, reduce_workspace(REDUCE_SUM, g->dtype, g->ndim, array_shape(g), axes) + 1) : NULL;
  if (!work) return DAMO_EMEMORY;
  kernel_reduce(REDUCE_SUM, array_dtype(g), g->data, g->ndim, array_shape(g), array_strides(g), axes, out->data, work);
  return DAMO_OK;
}

static damo_status sumto_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *dims[DAMO_MAX_NDIM];
  DAMO_TRY(build_dims(b, node->in[0], dims));
  gin[0] = build_broadcast_to(b, "sum_to", gout[0], dims, var_ndim(node->in[0]));
  return b->status;
}

static damo_status sumto_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  damo_var *in[2] = {eval[0], node->in[1]};
  if (eval[0]) rout[0] = build_op(b, damo_retain(node->op), in, 2);
  return b->status;
}

static damo_status sumto_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                     damo_var ***out_shape) {
  for (int i = 0; i < var_ndim(node->out[0]); i++) out_shape[0][i] = in_shape[1][i];
  return b->status;
}

static const op_def sumto_def = {
    .name = "SumTo",
    .doc = "a gradient summed to the shape that was broadcast",
    .n_in = 2,
    .infer_type = sumto_type,
    .perform = sumto_perform,
    .grad = sumto_grad,
    .rop = sumto_rop,
    .infer_shape = sumto_infer_shape,
    .connection_pattern = connect_first,
    .terms = TERMS_LINEAR,
};

damo_var *build_sum_to(build *b, damo_var *g, damo_var *x) {
  if (!g || !x || b->status != DAMO_OK) return NULL;
  int lead = var_ndim(g) - var_ndim(x);
  bool known = lead >= 0, same = lead == 0;
  for (int i = 0; i < var_ndim(x) && known; i++) {
    int64_t n = x->type->shape[i], m = g->type->shape[i + lead];
    known = n >= 0 || m == 1;
    same = same && n == m;
  }
  if (same && known) return g;
  if (known || dtype_is_discrete(var_dtype(g))) return build_unbroadcast(b, g, x);
  damo_var *in[2] = {g, x};
  return build_op(b, op_new(b->ctx, &sumto_def, NULL, 0), in, 2);
}

/* shape_more.c: BroadcastTo and its adjoint SumTo, diagonals (ExtractDiag, AllocDiag) and triangles.
 *
 * BroadcastTo and ExtractDiag are views; what they give is read-only where entries share memory.
 */
#include "shape_int.h"

#include <string.h>

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

/* ---- BroadcastTo ------------------------------------------------------------------------------------------------------- */

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

static damo_status broadcast_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                         damo_var ***out_shape) {
  (void)in_shape;
  for (int i = 0; i + 1 < node->n_in; i++) out_shape[0][i] = node->in[i + 1];
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
    .infer_shape = broadcast_infer_shape,
    .connection_pattern = connect_first,
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

/* ---- SumTo: g summed to the shape of its second input -------------------------------------------------------------------- */

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

/* ---- ExtractDiag ------------------------------------------------------------------------------------------------------- */

typedef struct diag_data {
  int64_t offset;
  int axis1, axis2;
} diag_data;

/* Props: offset, axis1, axis2 (1-based, of the operand with both axes). */
static damo_status diag_init(damo_op *op) {
  diag_data *d = op->data;
  *d = (diag_data){op->props[0].u.i, (int)op->props[1].u.i - 1, (int)op->props[2].u.i - 1};
  if (d->axis1 == d->axis2)
    return ctx_fail(op->obj.ctx, DAMO_EVALUE, "diagonal: the two axes are the same, %d", d->axis1 + 1);
  return DAMO_OK;
}

static int64_t diag_length(const diag_data *d, int64_t rows, int64_t cols) {
  int64_t n = d->offset < 0 ? rows + d->offset : rows, m = d->offset > 0 ? cols - d->offset : cols;
  int64_t least = n < m ? n : m;
  return least > 0 ? least : 0;
}

static damo_status extract_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  const diag_data *d = op->data;
  const damo_type *t = in[0]->type;
  int64_t shape[DAMO_MAX_NDIM];
  int n = 0;
  if (!type_is_tensor(t) || t->ndim <= d->axis1 || t->ndim <= d->axis2)
    return ctx_fail(op->obj.ctx, DAMO_EINDEX, "diagonal: the operand lacks axis %d or %d", d->axis1 + 1, d->axis2 + 1);
  for (int i = 0; i < t->ndim; i++)
    if (i != d->axis1 && i != d->axis2) shape[n++] = t->shape[i];
  int64_t rows = t->shape[d->axis1], cols = t->shape[d->axis2];
  shape[n++] = rows < 0 || cols < 0 ? -1 : diag_length(d, rows, cols);
  out[0] = type_tensor(op->obj.ctx, t->dtype, n, shape);
  return out[0] ? DAMO_OK : DAMO_EMEMORY;
}

/* The diagonal of an n-d box as one axis behind the others. Returns its offset in bytes. */
static int64_t diag_box(const diag_data *d, int ndim, const int64_t *shape, const int64_t *strides, int64_t *out_shape,
                        int64_t *out_strides) {
  int n = 0;
  for (int i = 0; i < ndim; i++) {
    if (i == d->axis1 || i == d->axis2) continue;
    out_shape[n] = shape[i];
    out_strides[n++] = strides[i];
  }
  out_shape[n] = diag_length(d, shape[d->axis1], shape[d->axis2]);
  out_strides[n] = strides[d->axis1] + strides[d->axis2];
  if (out_shape[n] == 0) return 0;
  return d->offset < 0 ? -d->offset * strides[d->axis1] : d->offset * strides[d->axis2];
}

static damo_status extract_perform(thunk *t) {
  const damo_array *x = thunk_in(t, 0);
  int64_t shape[DAMO_MAX_NDIM], strides[DAMO_MAX_NDIM];
  int64_t offset = diag_box(t->node->op->data, x->ndim, array_shape(x), array_strides(x), shape, strides);
  return thunk_out_view(t, 0, x, x->ndim - 1, shape, strides, offset);
}

static damo_var *build_alloc_diag(build *b, const damo_op *like, damo_var *g, damo_var *const *dims, int ndim);
static damo_var *build_extract_diag(build *b, damo_var *x, int64_t offset, int axis1, int axis2);

static damo_status extract_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_var *dims[DAMO_MAX_NDIM];
  DAMO_TRY(build_dims(b, node->in[0], dims));
  gin[0] = build_alloc_diag(b, node->op, gout[0], dims, var_ndim(node->in[0]));
  return b->status;
}

static damo_status extract_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  if (eval[0]) rout[0] = build_op(b, damo_retain(node->op), eval, 1);
  return b->status;
}

static damo_status extract_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                       damo_var ***out_shape) {
  const diag_data *d = node->op->data;
  int n = 0;
  for (int i = 0; i < var_ndim(node->in[0]); i++)
    if (i != d->axis1 && i != d->axis2) out_shape[0][n++] = in_shape[0][i];
  damo_var *rows = in_shape[0][d->axis1], *cols = in_shape[0][d->axis2];
  if (d->offset < 0) rows = build_fn2(b, "add", rows, build_i64(b, d->offset));
  if (d->offset > 0) cols = build_fn2(b, "sub", cols, build_i64(b, d->offset));
  out_shape[0][n] = build_fn2(b, "maximum", build_fn2(b, "minimum", rows, cols), build_i64(b, 0));
  return b->status;
}

static const op_def extract_def = {
    .name = "ExtractDiag",
    .doc = "a diagonal of two axes as the last axis",
    .props = "offset axis1 axis2",
    .n_in = 1,
    .data_size = sizeof(diag_data),
    .init = diag_init,
    .view_map = view_of_first,
    .infer_type = extract_type,
    .perform = extract_perform,
    .grad = extract_grad,
    .rop = extract_rop,
    .infer_shape = extract_infer_shape,
};

static damo_var *build_extract_diag(build *b, damo_var *x, int64_t offset, int axis1, int axis2) {
  if (!x || b->status != DAMO_OK) return NULL;
  prop_value props[3] = {prop_int(offset), prop_int(axis1 + 1), prop_int(axis2 + 1)};
  return build_op(b, op_new(b->ctx, &extract_def, props, 3), &x, 1);
}

/* ---- AllocDiag: zeros of a shape (inputs 1…) with input 0 on the diagonal ------------------------------------------------- */

static damo_status allocdiag_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  int64_t shape[DAMO_MAX_NDIM];
  const diag_data *d = op->data;
  if (n_in - 1 != var_ndim(in[0]) + 1 || d->axis1 >= n_in - 1 || d->axis2 >= n_in - 1)
    return ctx_fail(op->obj.ctx, DAMO_ESHAPE, "diag: a diagonal of %d axes does not fit a result of %d axes",
                    var_ndim(in[0]), n_in - 1);
  DAMO_TRY(static_dims(op->obj.ctx, "diag", in + 1, n_in - 1, shape));
  out[0] = type_tensor(op->obj.ctx, var_dtype(in[0]), n_in - 1, shape);
  return out[0] ? DAMO_OK : DAMO_EMEMORY;
}

static damo_status allocdiag_perform(thunk *t) {
  const damo_array *v = thunk_in(t, 0);
  int n = t->n_in - 1;
  int64_t shape[DAMO_MAX_NDIM], box[DAMO_MAX_NDIM], strides[DAMO_MAX_NDIM], from[DAMO_MAX_NDIM];
  DAMO_TRY(thunk_dims(t, "diag", 1, n, shape));
  damo_array *out = thunk_out(t, 0, array_dtype(v), n, shape);
  if (!out) return DAMO_EMEMORY;
  int64_t offset = diag_box(t->node->op->data, n, shape, array_strides(out), box, strides);
  DAMO_TRY(broadcast_strides(t->ctx, "diag", v, n - 1, box, from));
  memset(out->data, 0, (size_t)array_size(out) * dtype_size(v->dtype));
  kernel_copy_nd(v->data, from, out->data + offset, strides, n - 1, box, dtype_size(v->dtype));
  return DAMO_OK;
}

static damo_status allocdiag_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  const diag_data *d = node->op->data;
  gin[0] = build_extract_diag(b, gout[0], d->offset, d->axis1, d->axis2);
  return b->status;
}

static damo_status allocdiag_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  if (eval[0]) rout[0] = build_alloc_diag(b, node->op, eval[0], node->in + 1, node->n_in - 1);
  return b->status;
}

static const op_def allocdiag_def = {
    .name = "AllocDiag",
    .doc = "zeros with a diagonal",
    .props = "offset axis1 axis2",
    .n_in = OP_VARIADIC,
    .data_size = sizeof(diag_data),
    .init = diag_init,
    .infer_type = allocdiag_type,
    .perform = allocdiag_perform,
    .grad = allocdiag_grad,
    .rop = allocdiag_rop,
    .infer_shape = broadcast_infer_shape,
    .connection_pattern = connect_first,
};

static damo_var *build_alloc_diag(build *b, const damo_op *like, damo_var *g, damo_var *const *dims, int ndim) {
  damo_var *in[DAMO_MAX_NDIM + 1];
  if (!g || b->status != DAMO_OK) return NULL;
  in[0] = g;
  for (int i = 0; i < ndim; i++) in[i + 1] = dims[i];
  return build_op(b, op_new(b->ctx, &allocdiag_def, like->props, 3), in, ndim + 1);
}

damo_status fn_diag(build *b, const fn_args *a, ptrvec *out) {
  int64_t k = 0;
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  DAMO_TRY(fn_opt_int(a, 0, &k));
  damo_var *x = build_strong(b, a->in[0]);
  if (!x) return b->status;
  if (var_ndim(x) == 2) return fn_give(b, out, build_extract_diag(b, x, k, 0, 1));
  if (var_ndim(x) != 1)
    return ctx_fail(b->ctx, DAMO_ESHAPE, "diag: expected a vector or a matrix, got %d axes", var_ndim(x));
  damo_var *n = build_fn2(b, "add", build_dim(b, x, 0), build_i64(b, k < 0 ? -k : k));
  if (x->type->shape[0] >= 0) n = build_i64(b, x->type->shape[0] + (k < 0 ? -k : k));
  damo_var *in[3] = {x, n, n};
  prop_value props[3] = {prop_int(k), prop_int(1), prop_int(2)};
  return fn_give(b, out, build_op(b, op_new(b->ctx, &allocdiag_def, props, 3), in, 3));
}

static damo_var *diagonal(build *b, const fn_args *a) {
  int64_t offset = 0, one = 1, two = 2;
  int axis1 = 0, axis2 = 0;
  damo_status s = fn_check_tensor(a, b->ctx, 0);
  damo_var *x = s == DAMO_OK ? build_strong(b, a->in[0]) : NULL;
  if (s == DAMO_OK && !x) return NULL;
  if (s == DAMO_OK) s = fn_opt_int(a, 0, &offset);
  if (s == DAMO_OK) s = fn_opt_int(a, 1, &one);
  if (s == DAMO_OK) s = fn_opt_int(a, 2, &two);
  if (s == DAMO_OK) s = axis_check(b->ctx, a->func->name, one, var_ndim(x), &axis1);
  if (s == DAMO_OK) s = axis_check(b->ctx, a->func->name, two, var_ndim(x), &axis2);
  if (s != DAMO_OK) {
    b->status = s;
    return NULL;
  }
  return build_extract_diag(b, x, offset, axis1, axis2);
}

damo_status fn_diagonal(build *b, const fn_args *a, ptrvec *out) { return fn_give(b, out, diagonal(b, a)); }

damo_status fn_trace(build *b, const fn_args *a, ptrvec *out) {
  damo_var *d = diagonal(b, a);
  if (!d) return b->status;
  int last = var_ndim(d) - 1;
  return fn_give(b, out, build_reduce(b, REDUCE_SUM, d, &last, 1, false));
}

/* ---- Triangles: entries outside become 0, over the last two axes ----------------------------------------------------------- */

/* Props: k, lower. */
static damo_status triangle_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  if (!type_is_tensor(in[0]->type) || var_ndim(in[0]) < 2)
    return ctx_fail(op->obj.ctx, DAMO_ESHAPE, "%s: expected at least 2 axes, got %d",
                    op->props[1].u.i ? "tril" : "triu", var_ndim(in[0]));
  out[0] = damo_retain(in[0]->type);
  return DAMO_OK;
}

static damo_status triangle_perform(thunk *t) {
  const damo_array *x = thunk_in(t, 0);
  int64_t k = t->node->op->props[0].u.i;
  bool lower = t->node->op->props[1].u.i;
  damo_array *out = thunk_out(t, 0, array_dtype(x), x->ndim, array_shape(x));
  if (!out) return DAMO_EMEMORY;
  int64_t size = (int64_t)dtype_size(x->dtype), rows = array_shape(x)[x->ndim - 2], cols = array_shape(x)[x->ndim - 1];
  kernel_copy_nd(x->data, array_strides(x), out->data, NULL, x->ndim, array_shape(x), (size_t)size);
  int64_t n = cols ? array_size(x) / cols : 0;
  for (int64_t r = 0; r < n; r++) {
    int64_t keep = r % rows + k + (lower ? 1 : 0); /* lower: columns below keep stay; upper: from keep on */
    keep = keep < 0 ? 0 : keep > cols ? cols : keep;
    char *row = out->data + r * cols * size;
    if (lower)
      memset(row + keep * size, 0, (size_t)((cols - keep) * size));
    else
      memset(row, 0, (size_t)(keep * size));
  }
  return DAMO_OK;
}

static damo_status triangle_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  gin[0] = build_op(b, damo_retain(node->op), gout, 1);
  return b->status;
}

static damo_status triangle_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  if (eval[0]) rout[0] = build_op(b, damo_retain(node->op), eval, 1);
  return b->status;
}

static const op_def triangle_def = {
    .name = "Triangle",
    .doc = "one triangle of the last two axes, zeros elsewhere",
    .props = "k lower",
    .n_in = 1,
    .infer_type = triangle_type,
    .perform = triangle_perform,
    .grad = triangle_grad,
    .rop = triangle_rop,
    .infer_shape = infer_shape_same,
};

static damo_status triangle(build *b, const fn_args *a, ptrvec *out, bool lower) {
  int64_t k = 0;
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  DAMO_TRY(fn_opt_int(a, 0, &k));
  damo_var *x = build_strong(b, a->in[0]);
  prop_value props[2] = {prop_int(k), prop_bool(lower)};
  return fn_give(b, out, x ? build_op(b, op_new(b->ctx, &triangle_def, props, 2), &x, 1) : NULL);
}

damo_status fn_tril(build *b, const fn_args *a, ptrvec *out) { return triangle(b, a, out, true); }
damo_status fn_triu(build *b, const fn_args *a, ptrvec *out) { return triangle(b, a, out, false); }

/* shape: shapes and lengths as values: Shape, Shape_i, MakeVector, and the functions that read int64 scalars as
 * lengths. */
#include "shape_int.h"
#include "graph/c_emit.h"

#include <string.h>

/* ---- Lengths ----------------------------------------------------------------------------------------------------- */

int64_t array_int(const damo_array *a) {
  return a->dtype == DAMO_INT64 ? *(const int64_t *)a->data : scalar_to_int64(array_item(a));
}

damo_status static_dims(damo_ctx *ctx, const char *func, damo_var *const *dims, int n, int64_t *shape) {
  if (n > DAMO_MAX_NDIM) return ctx_fail(ctx, DAMO_ESHAPE, "%s: %d axes, at most %d", func, n, DAMO_MAX_NDIM);
  for (int i = 0; i < n; i++) {
    int64_t v = -1;
    if (!type_is_tensor(dims[i]->type) || var_ndim(dims[i]) != 0 || var_dtype(dims[i]) != DAMO_INT64)
      return ctx_fail(ctx, DAMO_ETYPE, "%s: the length of axis %d must be an int64 scalar", func, i + 1);
    if (var_static_int(dims[i], &v) && v < 0)
      return ctx_fail(ctx, DAMO_EVALUE, "%s: length %lld of axis %d is negative", func, (long long)v, i + 1);
    shape[i] = v;
  }
  return DAMO_OK;
}

damo_status thunk_dims(const thunk *t, frame *f, const char *func, int first, int n, int64_t *shape) {
  for (int i = 0; i < n; i++) {
    shape[i] = array_int(thunk_in(t, f, first + i));
    if (shape[i] < 0)
      return ctx_fail(f->ctx, DAMO_EVALUE, "%s: length %lld of axis %d is negative", func, (long long)shape[i], i + 1);
  }
  return DAMO_OK;
}

damo_status need_shape(damo_ctx *ctx, const char *op, const damo_var *x) {
  char text[160];
  if (type_has_shape(x->type)) return DAMO_OK;
  return ctx_fail(ctx, DAMO_ETYPE, "%s: expected a tensor, got %s", op, type_format(text, sizeof text, x->type));
}

/* ---- Shape, Shape_i ---------------------------------------------------------------------------------------------- */

static damo_status shape_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(need_shape(op->obj.ctx, "shape", in[0]));
  int64_t n = var_ndim(in[0]);
  out[0] = type_tensor(op->obj.ctx, DAMO_INT64, 1, &n);
  return out[0] ? DAMO_OK : DAMO_EMEMORY;
}

static damo_status shape_perform(const thunk *t, frame *f) {
  int ndim;
  const int64_t *shape = value_shape(thunk_value(t, f, 0), &ndim);
  damo_array *out = thunk_out(t, f, 0, DAMO_INT64, 1, &(int64_t){ndim});
  if (!out) return DAMO_EMEMORY;
  if (ndim > 0) memcpy(out->data, shape, (size_t)ndim * sizeof(int64_t));
  return DAMO_OK;
}

static damo_status shape_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                     damo_var ***out_shape) {
  (void)in_shape;
  out_shape[0][0] = build_i64(b, var_ndim(node->in[0]));
  return b->status;
}

/* The shape of an entry, which all entries share. */
static damo_status shape_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                               damo_var **out) {
  damo_var *dims[DAMO_MAX_NDIM];
  const int n = var_ndim(node->in[0]);
  (void)batched;
  for (int i = 0; i < n; i++) dims[i] = build_dim(b, in[0], k + i);
  out[0] = build_vector(b, dims, n);
  return b->status;
}

static damo_status shape_emit_c(c_emit *e, const damo_apply *node) {
  ce_takes_complex(e);
  (void)node;
  const c_value *x = ce_in(e, 0);
  damo_array *a = array_empty(e->ctx, DAMO_INT64, 1, (const int64_t[]){x->ndim});
  for (int k = 0; a != NULL && k < x->ndim; k++) ((int64_t *)(void *)a->data)[k] = x->shape[k];
  return ce_out_known(e, 0, a);
}

const op_def shape_def = {
    .name = "Shape",
    .doc = "the shape as an int64 vector",
    .n_in = 1,
    .infer_type = shape_type,
    .perform = shape_perform,
    .emit_c = shape_emit_c,
    .grad = grad_none,
    .infer_shape = shape_infer_shape,
    .batch = shape_batch,
    .connection_pattern = connect_none,
    .no_check = "dense: spec/op/rows/shape.lua has results by hand and from plain loops",
};

static damo_status shape_i_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  damo_ctx *ctx = op->obj.ctx;
  DAMO_TRY(need_shape(ctx, "shape_i", in[0]));
  int axis;
  DAMO_TRY(axis_check(ctx, "shape_i", OP_PROPS(op, shape_i_props)->i.u.i, var_ndim(in[0]), &axis));
  out[0] = type_tensor(ctx, DAMO_INT64, 0, NULL);
  return out[0] ? DAMO_OK : DAMO_EMEMORY;
}

static damo_status shape_i_perform(const thunk *t, frame *f) {
  damo_array *out = thunk_out(t, f, 0, DAMO_INT64, 0, NULL);
  if (!out) return DAMO_EMEMORY;
  int ndim;
  *(int64_t *)out->data = value_shape(thunk_value(t, f, 0), &ndim)[OP_PROPS(t->node->op, shape_i_props)->i.u.i - 1];
  return DAMO_OK;
}

static damo_status shape_i_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                                 damo_var **out) {
  (void)batched;
  out[0] = build_dim(b, in[0], k + (int)OP_PROPS(node->op, shape_i_props)->i.u.i - 1);
  return b->status;
}

static damo_status shape_i_emit_c(c_emit *e, const damo_apply *node) {
  ce_takes_complex(e);
  const int64_t axis = OP_PROPS(node->op, shape_i_props)->i.u.i - 1;
  return ce_out_known(e, 0, array_from_scalar(e->ctx, (scalar){.dtype = DAMO_INT64, .v.i = ce_in(e, 0)->shape[axis]}));
}

const op_def shape_i_def = {
    .name = "Shape_i",
    .doc = "the length of one axis",
    .props = PROPS(PROP_AXIS(shape_i_props, i)),
    .n_in = 1,
    .infer_type = shape_i_type,
    .perform = shape_i_perform,
    .emit_c = shape_i_emit_c,
    .grad = grad_none,
    .infer_shape = infer_shape_scalars,
    .batch = shape_i_batch,
    .connection_pattern = connect_none,
    .no_check = "dense: spec/op/rows/shape.lua has results by hand and from plain loops",
};

damo_var *build_dim(build *b, damo_var *x, int axis) {
  if (!x || b->status != DAMO_OK) return NULL;
  if (x->type->shape[axis] >= 0) return build_i64(b, x->type->shape[axis]);
  const shape_i_props i = {.i = prop_int(axis + 1)};
  return build_op(b, op_new(b->ctx, &shape_i_def, &i), &x, 1);
}

damo_status build_dims(build *b, damo_var *x, damo_var **dims) {
  if (!x) return b->status;
  for (int i = 0; i < var_ndim(x); i++) dims[i] = build_dim(b, x, i);
  return b->status;
}

damo_var *build_shape(build *b, damo_var *x) {
  if (!x || b->status != DAMO_OK) return NULL;
  if (!type_has_shape(x->type)) return build_op(b, op_new(b->ctx, &shape_def, NULL), &x, 1);
  int n = var_ndim(x);
  for (int i = 0; i < n; i++)
    if (x->type->shape[i] < 0) return build_op(b, op_new(b->ctx, &shape_def, NULL), &x, 1);
  return build_ints(b, x->type->shape, n);
}

/* ---- MakeVector -------------------------------------------------------------------------------------------------- */

static damo_status makevector_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  damo_ctx *ctx = op->obj.ctx;
  for (int i = 0; i < n_in; i++) {
    if (!type_is_tensor(in[i]->type) || var_ndim(in[i]) != 0 || var_dtype(in[i]) != DAMO_INT64)
      return ctx_fail(ctx, DAMO_ETYPE, "make_vector: entry %d must be an int64 scalar", i + 1);
  }
  int64_t n = n_in;
  out[0] = type_tensor(ctx, DAMO_INT64, 1, &n);
  return out[0] ? DAMO_OK : DAMO_EMEMORY;
}

static damo_status makevector_perform(const thunk *t, frame *f) {
  int64_t n = t->n_in;
  damo_array *out = thunk_out(t, f, 0, DAMO_INT64, 1, &n);
  if (!out) return DAMO_EMEMORY;
  for (int i = 0; i < n; i++) ((int64_t *)out->data)[i] = array_int(thunk_in(t, f, i));
  return DAMO_OK;
}

static damo_status makevector_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                          damo_var ***out_shape) {
  (void)in_shape;
  out_shape[0][0] = build_i64(b, node->n_in);
  return b->status;
}

/* Lengths that differ from entry to entry: each becomes a column. */
static damo_status makevector_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                                    damo_var **out) {
  DAMO_TRY(batch_agree(b, in, batched, node->n_in, k, true));
  for (int i = 0; i < node->n_in; i++) in[i] = batch_pad(b, in[i], k, 1);
  out[0] = b->status == DAMO_OK ? build_join(b, "make_vector", k, in, node->n_in) : NULL;
  return b->status;
}

static damo_status makevector_emit_c(c_emit *e, const damo_apply *node) {
  const c_value *out = ce_out(e, 0, DAMO_INT64, 1, (const int64_t[]){node->n_in});
  for (int i = 0; i < node->n_in && out != NULL; i++)
    ce_line(e, "%s[%d] = *%s;", ce_p(e, out), i, ce_p(e, ce_in(e, i)));
  return e->status;
}

const op_def makevector_def = {
    .name = "MakeVector",
    .doc = "an int64 vector of scalars",
    .n_in = OP_VARIADIC,
    .least_in = OP_NO_INPUT,
    .infer_type = makevector_type,
    .perform = makevector_perform,
    .emit_c = makevector_emit_c,
    .grad = grad_none,
    .infer_shape = makevector_infer_shape,
    .batch = makevector_batch,
    .connection_pattern = connect_none,
    .no_check = "dense: spec/op/rows/shape.lua has results by hand and from plain loops",
};

damo_var *build_vector(build *b, damo_var *const *dims, int n) {
  if (b->status != DAMO_OK) return NULL;
  int64_t values[DAMO_MAX_NDIM];
  bool all = true;
  for (int i = 0; i < n && all; i++) all = var_static_int(dims[i], &values[i]);
  if (all) return build_ints(b, values, n);
  return build_op(b, op_new(b->ctx, &makevector_def, NULL), dims, n);
}

/* shape.c: the ops that read or change a shape and nothing else: Shape, Shape_i, MakeVector, Reshape, DimShuffle.
 *
 * Transposing, adding axes of one and dropping them are all one op, DimShuffle, as in PyTensor: its property new_order
 * lists for each axis of the result the 1-based axis of x, or "x" for a new one. DimShuffle and Reshape of a contiguous
 * array are views; Reshape of any other copies.
 */
#include "shape_int.h"

#include <string.h>

/* ---- Helpers that all families share --------------------------------------------------------------------------------- */

damo_var *build_strong(build *b, damo_var *x) {
  if (!x || b->status != DAMO_OK) return NULL;
  if (x->weak && build_resolve(b, &x, 1, false, &x) != DAMO_OK) return NULL;
  return x;
}

/* True when no entry has a fraction or lies outside int64. */
static bool whole_numbers(const damo_array *a) {
  int64_t index[DAMO_MAX_NDIM] = {0};
  if (dtype_is_integer(array_dtype(a))) return true;
  for (int64_t k = array_size(a); k > 0; k--) {
    double v = scalar_to_double(array_get(a, index));
    if (!(v >= -0x1p63 && v < 0x1p63) || v != (double)(int64_t)v) return false;
    for (int i = a->ndim - 1; i >= 0 && ++index[i] == array_shape(a)[i]; i--) index[i] = 0;
  }
  return true;
}

damo_var *build_integer(build *b, const char *func, const char *what, damo_var *v) {
  if (!v || b->status != DAMO_OK) return NULL;
  if (!type_is_tensor(v->type)) return build_fail(b, DAMO_ETYPE, "%s: %s must be integers", func, what);
  damo_dtype dt = var_dtype(v);
  if (dt == DAMO_INT64 && !v->weak) return v;
  const damo_array *a = var_constant_array(v);
  if (a && (dtype_is_integer(dt) || dtype_is_float(dt))) {
    if (whole_numbers(a)) return build_value(b, (damo_obj *)array_cast(a, DAMO_INT64));
    return build_fail(b, DAMO_ETYPE, "%s: %s must be integers, got %s with a fraction", func, what, dtype_name(dt));
  }
  if (dtype_is_integer(dt)) return build_cast(b, v, DAMO_INT64);
  return build_fail(b, DAMO_ETYPE, "%s: %s must be integers, got %s", func, what, dtype_name(dt));
}

int64_t array_int(const damo_array *a) {
  return a->dtype == DAMO_INT64 ? *(const int64_t *)a->data : scalar_to_int64(array_item(a));
}

damo_status static_dims(damo_ctx *ctx, const char *func, damo_var *const *dims, int n, int64_t *shape) {
  for (int i = 0; i < n; i++) {
    int64_t v = -1;
    if (var_static_int(dims[i], &v) && v < 0)
      return ctx_fail(ctx, DAMO_EVALUE, "%s: length %lld of axis %d is negative", func, (long long)v, i + 1);
    shape[i] = v;
  }
  return DAMO_OK;
}

damo_status thunk_dims(thunk *t, const char *func, int first, int n, int64_t *shape) {
  for (int i = 0; i < n; i++) {
    shape[i] = array_int(thunk_in(t, first + i));
    if (shape[i] < 0)
      return ctx_fail(t->ctx, DAMO_EVALUE, "%s: length %lld of axis %d is negative", func, (long long)shape[i], i + 1);
  }
  return DAMO_OK;
}

damo_status axes_in_order(damo_ctx *ctx, const char *func, const prop_value *v, int ndim, int *axes, int *n) {
  *n = -1;
  if (v->kind == PROP_NIL) return DAMO_OK;
  const prop_value *at = v->kind == PROP_LIST ? v->u.list : v;
  int count = v->kind == PROP_LIST ? v->n : 1;
  if (count > DAMO_MAX_NDIM) return ctx_fail(ctx, DAMO_EINDEX, "%s: %d axes, at most %d", func, count, DAMO_MAX_NDIM);
  uint32_t seen = 0;
  for (int i = 0; i < count; i++) {
    if (at[i].kind != PROP_INT) return ctx_fail(ctx, DAMO_ETYPE, "%s: an axis must be an integer", func);
    DAMO_TRY(axis_check(ctx, func, at[i].u.i, ndim, &axes[i]));
    if (seen >> axes[i] & 1) return ctx_fail(ctx, DAMO_EVALUE, "%s: axis %d is named twice", func, axes[i] + 1);
    seen |= (uint32_t)1 << axes[i];
  }
  *n = count;
  return DAMO_OK;
}

damo_status thunk_pass(thunk *t) {
  const damo_array *x = thunk_in(t, 0);
  if (x->obj.kind == OBJ_ARRAY) return thunk_out_view(t, 0, x, x->ndim, array_shape(x), array_strides(x), 0);
  thunk_set_out(t, 0, damo_retain(*t->in[0]));
  return DAMO_OK;
}

damo_status infer_shape_same(build *b, damo_apply *node, damo_var *const *const *in_shape, damo_var ***out_shape) {
  for (int i = 0; i < var_ndim(node->out[0]); i++) out_shape[0][i] = in_shape[0][i];
  return b->status;
}

void connect_first(const damo_apply *node, bool *connected) {
  for (int i = 1; i < node->n_in; i++)
    for (int o = 0; o < node->n_out; o++) connected[i * node->n_out + o] = false;
}

void connect_none(const damo_apply *node, bool *connected) {
  memset(connected, 0, (size_t)(node->n_in * node->n_out) * sizeof *connected);
}

damo_status grad_none(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  (void)node, (void)gout, (void)gin;
  return b->status;
}

static damo_status need_shape(damo_ctx *ctx, const char *op, const damo_var *x) {
  char text[160];
  if (type_has_shape(x->type)) return DAMO_OK;
  return ctx_fail(ctx, DAMO_ETYPE, "%s: expected a tensor, got %s", op, type_format(text, sizeof text, x->type));
}

/* ---- Shape, Shape_i ---------------------------------------------------------------------------------------------------- */

static damo_status shape_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  DAMO_TRY(need_shape(op->obj.ctx, "shape", in[0]));
  int64_t n = var_ndim(in[0]);
  out[0] = type_tensor(op->obj.ctx, DAMO_INT64, 1, &n);
  return out[0] ? DAMO_OK : DAMO_EMEMORY;
}

static damo_status shape_perform(thunk *t) {
  int ndim;
  const int64_t *shape = value_shape(*t->in[0], &ndim);
  damo_array *out = thunk_out(t, 0, DAMO_INT64, 1, &(int64_t){ndim});
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

const op_def shape_def = {
    .name = "Shape",
    .doc = "the shape as an int64 vector",
    .n_in = 1,
    .infer_type = shape_type,
    .perform = shape_perform,
    .grad = grad_none,
    .infer_shape = shape_infer_shape,
    .connection_pattern = connect_none,
};

static damo_status shape_i_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  damo_ctx *ctx = op->obj.ctx;
  DAMO_TRY(need_shape(ctx, "shape_i", in[0]));
  int axis;
  DAMO_TRY(axis_check(ctx, "shape_i", op->props[0].u.i, var_ndim(in[0]), &axis));
  out[0] = type_tensor(ctx, DAMO_INT64, 0, NULL);
  return out[0] ? DAMO_OK : DAMO_EMEMORY;
}

static damo_status shape_i_perform(thunk *t) {
  damo_array *out = thunk_out(t, 0, DAMO_INT64, 0, NULL);
  if (!out) return DAMO_EMEMORY;
  int ndim;
  *(int64_t *)out->data = value_shape(*t->in[0], &ndim)[t->node->op->props[0].u.i - 1];
  return DAMO_OK;
}

static damo_status infer_shape_scalar(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                      damo_var ***out_shape) {
  (void)node, (void)in_shape, (void)out_shape;
  return b->status;
}

const op_def shape_i_def = {
    .name = "Shape_i",
    .doc = "the length of one axis",
    .props = "i",
    .n_in = 1,
    .infer_type = shape_i_type,
    .perform = shape_i_perform,
    .grad = grad_none,
    .infer_shape = infer_shape_scalar,
    .connection_pattern = connect_none,
};

damo_var *build_dim(build *b, damo_var *x, int axis) {
  if (!x || b->status != DAMO_OK) return NULL;
  if (x->type->shape[axis] >= 0) return build_i64(b, x->type->shape[axis]);
  prop_value i = prop_int(axis + 1);
  return build_op(b, op_new(b->ctx, &shape_i_def, &i, 1), &x, 1);
}

damo_status build_dims(build *b, damo_var *x, damo_var **dims) {
  if (!x) return b->status;
  for (int i = 0; i < var_ndim(x); i++) dims[i] = build_dim(b, x, i);
  return b->status;
}

damo_var *build_shape(build *b, damo_var *x) {
  if (!x || b->status != DAMO_OK) return NULL;
  if (!type_has_shape(x->type)) return build_op(b, op_new(b->ctx, &shape_def, NULL, 0), &x, 1);
  int n = var_ndim(x);
  for (int i = 0; i < n; i++)
    if (x->type->shape[i] < 0) return build_op(b, op_new(b->ctx, &shape_def, NULL, 0), &x, 1);
  return build_ints(b, x->type->shape, n);
}

/* ---- MakeVector -------------------------------------------------------------------------------------------------------- */

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

static damo_status makevector_perform(thunk *t) {
  int64_t n = t->n_in;
  damo_array *out = thunk_out(t, 0, DAMO_INT64, 1, &n);
  if (!out) return DAMO_EMEMORY;
  for (int i = 0; i < n; i++) ((int64_t *)out->data)[i] = array_int(thunk_in(t, i));
  return DAMO_OK;
}

static damo_status makevector_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                          damo_var ***out_shape) {
  (void)in_shape;
  out_shape[0][0] = build_i64(b, node->n_in);
  return b->status;
}

const op_def makevector_def = {
    .name = "MakeVector",
    .doc = "an int64 vector of scalars",
    .n_in = OP_VARIADIC,
    .infer_type = makevector_type,
    .perform = makevector_perform,
    .grad = grad_none,
    .infer_shape = makevector_infer_shape,
    .connection_pattern = connect_none,
};

damo_var *build_vector(build *b, damo_var *const *dims, int n) {
  if (b->status != DAMO_OK) return NULL;
  int64_t values[DAMO_MAX_NDIM];
  bool all = true;
  for (int i = 0; i < n && all; i++) all = var_static_int(dims[i], &values[i]);
  if (all) return build_ints(b, values, n);
  return build_op(b, op_new(b->ctx, &makevector_def, NULL, 0), dims, n);
}

/* ---- Reshape ----------------------------------------------------------------------------------------------------------- */

/* What is known of the entries of a shape vector: true and the value. */
static bool static_entry(const damo_var *shape, int i, int64_t *out) {
  const damo_array *a = var_constant_array(shape);
  if (a) {
    int64_t at = i;
    *out = scalar_to_int64(array_get(a, &at));
    return true;
  }
  const damo_apply *node = shape->owner;
  if (node && node->op->def == &makevector_def) return var_static_int(node->in[i], out);
  if (node && node->op->def == &shape_def && type_is_tensor(node->in[0]->type)) {
    *out = node->in[0]->type->shape[i];
    return *out >= 0;
  }
  return false;
}

/* Puts the length that -1 stands for into shape[] (at most one entry is -1); shape error when nothing fits. */
static damo_status reshape_resolve(damo_ctx *ctx, const damo_array *x, int n, int64_t *shape) {
  int64_t size = array_size(x), known = 1;
  int open = -1;
  char from[160], to[160];
  for (int i = 0; i < n; i++) {
    if (shape[i] == -1 && open < 0) {
      open = i;
    } else if (shape[i] < 0) {
      return ctx_fail(ctx, DAMO_EVALUE, "reshape: length %lld of axis %d is not allowed (-1 may stand once)",
                      (long long)shape[i], i + 1);
    } else if (!i64_mul(known, shape[i], &known)) {
      known = -1;
      break;
    }
  }
  bool fits = open < 0 ? known == size : known > 0 && size % known == 0;
  if (!fits)
    return ctx_fail(ctx, DAMO_ESHAPE, "reshape: an array of shape %s (%lld entries) does not fit shape %s",
                    shape_format(from, sizeof from, x->ndim, array_shape(x)), (long long)size,
                    shape_format(to, sizeof to, n, shape));
  if (open >= 0) shape[open] = size / known;
  return DAMO_OK;
}

/* The number of entries by static shape, -1 when not known. */
static int64_t static_size(const damo_type *t) {
  int64_t n = 1;
  for (int i = 0; i < t->ndim; i++) {
    if (t->shape[i] < 0 || !i64_mul(n, t->shape[i], &n)) return -1;
  }
  return n;
}

static damo_status reshape_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  damo_ctx *ctx = op->obj.ctx;
  DAMO_TRY(need_shape(ctx, "reshape", in[0]));
  int n = (int)op->props[0].u.i, open = -1;
  int64_t shape[DAMO_MAX_NDIM], known = 1, size = static_size(in[0]->type);
  bool all = true;
  if (!type_is_tensor(in[1]->type) || var_ndim(in[1]) != 1 || var_dtype(in[1]) != DAMO_INT64)
    return ctx_fail(ctx, DAMO_ETYPE, "reshape: the shape must be an int64 vector");
  if (in[1]->type->shape[0] >= 0 && in[1]->type->shape[0] != n)
    return ctx_fail(ctx, DAMO_ESHAPE, "reshape: the shape has %lld entries, expected %d",
                    (long long)in[1]->type->shape[0], n);
  for (int i = 0; i < n; i++) {
    int64_t v;
    shape[i] = -1;
    if (!static_entry(in[1], i, &v)) {
      all = false;
    } else if (v == -1) {
      if (open >= 0) return ctx_fail(ctx, DAMO_EVALUE, "reshape: -1 may stand once in a shape");
      open = i;
    } else if (v < 0) {
      return ctx_fail(ctx, DAMO_EVALUE, "reshape: length %lld of axis %d is negative", (long long)v, i + 1);
    } else {
      shape[i] = v;
      if (!i64_mul(known, v, &known)) return ctx_fail(ctx, DAMO_ESHAPE, "reshape: the shape has too many entries");
    }
  }
  if (all && size >= 0) {
    char from[160], to[160];
    if (open < 0 ? known != size : known == 0 || size % known != 0)
      return ctx_fail(ctx, DAMO_ESHAPE, "reshape: an array of shape %s (%lld entries) does not fit shape %s",
                      shape_format(from, sizeof from, var_ndim(in[0]), in[0]->type->shape), (long long)size,
                      shape_format(to, sizeof to, n, shape));
    if (open >= 0) shape[open] = size / known;
  }
  out[0] = type_tensor(ctx, var_dtype(in[0]), n, shape);
  return out[0] ? DAMO_OK : DAMO_EMEMORY;
}

static void c_strides(damo_dtype dtype, int n, const int64_t *shape, int64_t *strides) {
  int64_t step = (int64_t)dtype_size(dtype);
  for (int i = n - 1; i >= 0; i--) {
    strides[i] = step;
    step *= shape[i];
  }
}

static damo_status reshape_perform(thunk *t) {
  const damo_array *x = thunk_in(t, 0), *want = thunk_in(t, 1);
  int n = (int)t->node->op->props[0].u.i;
  int64_t shape[DAMO_MAX_NDIM], strides[DAMO_MAX_NDIM];
  if (array_size(want) != n)
    return ctx_fail(t->ctx, DAMO_ESHAPE, "reshape: the shape has %lld entries, expected %d",
                    (long long)array_size(want), n);
  for (int64_t i = 0; i < n; i++) shape[i] = *(const int64_t *)(want->data + i * array_strides(want)[0]);
  DAMO_TRY(reshape_resolve(t->ctx, x, n, shape));
  c_strides(array_dtype(x), n, shape, strides);
  if (array_is_contiguous(x)) return thunk_out_view(t, 0, x, n, shape, strides, 0);
  damo_array *out = thunk_out(t, 0, array_dtype(x), n, shape);
  if (!out) return DAMO_EMEMORY;
  kernel_copy_nd(x->data, array_strides(x), out->data, NULL, x->ndim, array_shape(x), dtype_size(x->dtype));
  return DAMO_OK;
}

static damo_status reshape_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  gin[0] = build_reshape_like(b, gout[0], node->in[0]);
  return b->status;
}

static damo_status reshape_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  if (eval[0]) rout[0] = build_reshape(b, eval[0], node->in[1], var_ndim(node->out[0]));
  return b->status;
}

static damo_var *product(build *b, damo_var *const *xs, int n) {
  damo_var *p = NULL;
  for (int i = 0; i < n; i++) p = p ? build_fn2(b, "mul", p, xs[i]) : xs[i];
  return p ? p : build_i64(b, 1);
}

/* An entry that may be -1 stands for size // product of the others, which is size // -(product of all). */
static damo_status reshape_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                       damo_var ***out_shape) {
  int n = var_ndim(node->out[0]);
  const int64_t *known = node->out[0]->type->shape;
  damo_var *entry[DAMO_MAX_NDIM], *rest = NULL;
  for (int i = 0; i < n; i++) {
    if (known[i] >= 0) {
      entry[i] = build_i64(b, known[i]);
    } else if (node->in[1]->owner && node->in[1]->owner->op->def == &makevector_def) {
      entry[i] = node->in[1]->owner->in[i];
    } else {
      entry[i] = build_index(b, node->in[1], 0, build_i64(b, i));
    }
  }
  for (int i = 0; i < n; i++) {
    out_shape[0][i] = entry[i];
    if (known[i] >= 0) continue;
    if (!rest) {
      damo_var *size = product(b, in_shape[0], var_ndim(node->in[0]));
      rest = build_fn2(b, "floor_div", size, build_fn1(b, "neg", product(b, entry, n)));
    }
    out_shape[0][i] = build_fn3(b, "switch", build_fn2(b, "lt", entry[i], build_i64(b, 0)), rest, entry[i]);
  }
  return b->status;
}

static const op_alias view_of_first[] = {{0, 0}, OP_ALIAS_END};

const op_def reshape_def = {
    .name = "Reshape",
    .doc = "the same entries in another shape; a view of a contiguous array",
    .props = "ndim",
    .n_in = 2,
    .view_map = view_of_first,
    .infer_type = reshape_type,
    .perform = reshape_perform,
    .grad = reshape_grad,
    .rop = reshape_rop,
    .infer_shape = reshape_infer_shape,
    .connection_pattern = connect_first,
};

damo_var *build_reshape(build *b, damo_var *x, damo_var *shape, int ndim) {
  if (!x || !shape || b->status != DAMO_OK) return NULL;
  prop_value n = prop_int(ndim);
  damo_var *in[2] = {x, shape};
  return build_op(b, op_new(b->ctx, &reshape_def, &n, 1), in, 2);
}

damo_var *build_reshape_like(build *b, damo_var *x, damo_var *like) {
  return like ? build_reshape(b, x, build_shape(b, like), var_ndim(like)) : NULL;
}

/* ---- DimShuffle -------------------------------------------------------------------------------------------------------- */

typedef struct dimshuffle_data {
  int n;
  int8_t from[DAMO_MAX_NDIM]; /* -1: a new axis */
} dimshuffle_data;

static damo_status dimshuffle_init(damo_op *op) {
  dimshuffle_data *d = op->data;
  const prop_value *order = &op->props[0];
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
      return ctx_fail(op->obj.ctx, DAMO_EVALUE, "dimshuffle: axis %d is named twice", d->from[i] + 1);
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
  DAMO_TRY(need_shape(ctx, "dimshuffle", in[0]));
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

static damo_status dimshuffle_perform(thunk *t) {
  const dimshuffle_data *d = t->node->op->data;
  const damo_array *x = thunk_in(t, 0);
  int64_t shape[DAMO_MAX_NDIM], strides[DAMO_MAX_NDIM];
  DAMO_TRY(check_dropped(t->ctx, d, x->ndim, array_shape(x)));
  for (int i = 0; i < d->n; i++) {
    shape[i] = d->from[i] < 0 ? 1 : array_shape(x)[d->from[i]];
    strides[i] = d->from[i] < 0 ? (int64_t)dtype_size(x->dtype) : array_strides(x)[d->from[i]];
  }
  return thunk_out_view(t, 0, x, d->n, shape, strides, 0);
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

static damo_status dimshuffle_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  if (eval[0]) rout[0] = build_op(b, damo_retain(node->op), eval, 1);
  return b->status;
}

static damo_status dimshuffle_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                          damo_var ***out_shape) {
  const dimshuffle_data *d = node->op->data;
  for (int i = 0; i < d->n; i++) out_shape[0][i] = d->from[i] < 0 ? build_i64(b, 1) : in_shape[0][d->from[i]];
  return b->status;
}

const op_def dimshuffle_def = {
    .name = "DimShuffle",
    .doc = "axes reordered, added and dropped; a view",
    .props = "new_order",
    .n_in = 1,
    .data_size = sizeof(dimshuffle_data),
    .init = dimshuffle_init,
    .view_map = view_of_first,
    .infer_type = dimshuffle_type,
    .perform = dimshuffle_perform,
    .grad = dimshuffle_grad,
    .rop = dimshuffle_rop,
    .infer_shape = dimshuffle_infer_shape,
};

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
  prop_value order = prop_list(list, n);
  return build_op(b, op_new(b->ctx, &dimshuffle_def, &order, 1), &x, 1);
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

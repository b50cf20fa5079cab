/* reshape: Reshape: the same entries in another shape.
 *
 * The result is a view where x is contiguous, else a copy. One length may be -1: it is x's size divided by the product
 * of the others.
 */
#include "shape_int.h"
#include "graph/c_emit.h"
#include "op/elem/build_arith.h"
#include "kernel/kernel.h"

/* True when entry i of a shape vector is known statically, with its value in *out. */
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

static damo_status reshape_fail_too_many(damo_ctx *ctx) {
  return ctx_fail(ctx, DAMO_EVALUE, "reshape: the shape has more entries than can be counted");
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
      return reshape_fail_too_many(ctx);
    }
  }
  bool fits = open < 0 ? known == size : known > 0 && size % known == 0;
  if (!fits)
    return ctx_fail(ctx, DAMO_ESHAPE, "reshape: an array of shape %s (%lld entries) does not fit shape %s",
                    shape_format(from, sizeof from, x->ndim, array_shape(x)), (long long)size,
                    shape_format(to, sizeof to, n, shape));
  if (open >= 0) shape[open] = size / known;
  return shape_size(ctx, n, shape, &size); /* beside a length of 0 the others' product may be too large for strides */
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
  if (!type_is_tensor(in[0]->type)) return ctx_fail(ctx, DAMO_ETYPE, "reshape: the operand must be a tensor");
  int n = (int)OP_PROPS(op, ndim_props)->ndim.u.i, open = -1;
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
      if (!i64_mul(known, v, &known)) return reshape_fail_too_many(ctx);
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

static damo_status reshape_perform(const thunk *t, frame *f) {
  const damo_array *x = thunk_in(t, f, 0), *want = thunk_in(t, f, 1);
  int n = (int)OP_PROPS(t->node->op, ndim_props)->ndim.u.i;
  int64_t shape[DAMO_MAX_NDIM], strides[DAMO_MAX_NDIM];
  if (array_size(want) != n)
    return ctx_fail(f->ctx, DAMO_ESHAPE, "reshape: the shape has %lld entries, expected %d",
                    (long long)array_size(want), n);
  for (int64_t i = 0; i < n; i++) shape[i] = *(const int64_t *)(want->data + i * array_strides(want)[0]);
  DAMO_TRY(reshape_resolve(f->ctx, x, n, shape));
  c_strides(array_dtype(x), n, shape, strides);
  if (array_is_contiguous(x)) return thunk_out_view(t, f, 0, x, n, shape, strides, 0);
  damo_array *out = thunk_out(t, f, 0, array_dtype(x), n, shape);
  if (!out) return DAMO_EMEMORY;
  array_copy_box(f->ctx, x->data, array_strides(x), out->data, NULL, x->ndim, array_shape(x), dtype_size(x->dtype));
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

static damo_var *dims_product(build *b, damo_var *const *xs, int n) {
  damo_var *p = NULL;
  for (int i = 0; i < n; i++) p = p ? build_mul(b, p, xs[i]) : xs[i];
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
      damo_var *size = dims_product(b, in_shape[0], var_ndim(node->in[0]));
      rest = build_floor_div(b, size, build_neg(b, dims_product(b, entry, n)));
    }
    out_shape[0][i] = build_switch(b, build_lt(b, entry[i], build_i64(b, 0)), rest, entry[i]);
  }
  return b->status;
}

/* Entry i of a shape vector. */
static damo_var *reshape_entry(build *b, damo_var *shape, int i) {
  int64_t known;
  if (static_entry(shape, i, &known)) return build_i64(b, known);
  if (shape->owner && shape->owner->op->def == &makevector_def) return shape->owner->in[i];
  return build_index(b, shape, 0, build_i64(b, i));
}

/* A -1 becomes the length that it stands for, since beside a batch of no entries it says nothing. */
static damo_status reshape_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                                 damo_var **out) {
  damo_var *dims[DAMO_MAX_NDIM], *own[DAMO_MAX_NDIM];
  const damo_type *t = node->out[0]->type;
  int open = -1;
  if (batched[1]) return b->status; /* shapes that differ */
  for (int i = 0; i < t->ndim && b->status == DAMO_OK; i++) {
    int64_t length = 0;
    dims[i] = t->shape[i] >= 0 ? build_i64(b, t->shape[i]) : reshape_entry(b, in[1], i);
    if (dims[i] != NULL && var_static_int(dims[i], &length) && length < 0) open = i;
  }
  const int n = var_ndim(node->in[0]);
  for (int i = 0; i < n && open >= 0; i++) own[i] = build_dim(b, in[0], k + i);
  if (open >= 0 && b->status == DAMO_OK) {
    damo_var *size = dims_product(b, own, n), *last = dims[t->ndim - 1];
    dims[open] = last; /* the others come first */
    damo_var *others = t->ndim > 1 ? dims_product(b, dims, t->ndim - 1) : NULL;
    dims[t->ndim - 1] = last;
    dims[open] = others != NULL ? build_floor_div(b, size, others) : size;
  }
  if (b->status == DAMO_OK) out[0] = batch_reshape(b, in[0], k, dims, t->ndim);
  return b->status;
}

static damo_status reshape_emit_c(c_emit *e, const damo_apply *node) {
  ce_takes_complex(e);
  const c_value *x = ce_in(e, 0);
  const damo_array *want = ce_known(e, 1);
  const int n = (int)OP_PROPS(node->op, ndim_props)->ndim.u.i;
  int64_t shape[DAMO_MAX_NDIM], strides[DAMO_MAX_NDIM], known = 1, step = 1;
  int open = -1;
  if (want == NULL || array_size(want) != n) return ce_refuse(e, "its shape is computed from values");
  for (int i = 0; i < n; i++) {
    shape[i] = *(const int64_t *)(const void *)(want->data + i * array_strides(want)[0]);
    if (shape[i] < 0)
      open = i;
    else
      known *= shape[i];
  }
  if (open >= 0) shape[open] = known != 0 ? ce_size(x) / known : 0;
  if (known * (open >= 0 ? shape[open] : 1) != ce_size(x)) return ce_refuse(e, "its operand does not fit the shape");
  if (!ce_is_contiguous(x)) {
    const c_value *out = ce_out(e, 0, var_dtype(node->out[0]), n, shape);
    if (out != NULL) ce_copy(e, ce_view(e, out, x->ndim, x->shape, ce_c_strides(x, strides), 0), x);
    return e->status;
  }
  for (int i = n - 1; i >= 0; i--) {
    strides[i] = step;
    step *= shape[i];
  }
  ce_out_view(e, 0, x, n, shape, strides, 0);
  return e->status;
}

const op_def reshape_def = {
    .name = "Reshape",
    .doc = "the same entries in another shape; a view of a contiguous array",
    .props = PROPS(PROP_INTEGER(ndim_props, ndim, 0, DAMO_MAX_NDIM)),
    .n_in = 2,
    .view_map = alias_first,
    .infer_type = reshape_type,
    .perform = reshape_perform,
    .emit_c = reshape_emit_c,
    .grad = reshape_grad,
    .rop = reshape_rop,
    .infer_shape = reshape_infer_shape,
    .batch = reshape_batch,
    .connection_pattern = connect_first,
    .terms = TERMS_LINEAR,
    .masks = MASKS_MOVED,
    .no_check = "dense: spec/op/rows/shape.lua has results by hand and from plain loops",
};

damo_var *build_reshape(build *b, damo_var *x, damo_var *shape, int ndim) {
  if (!x || !shape || b->status != DAMO_OK) return NULL;
  const ndim_props n = {.ndim = prop_int(ndim)};
  damo_var *in[2] = {x, shape};
  return build_op(b, op_new(b->ctx, &reshape_def, &n), in, 2);
}

damo_var *build_reshape_like(build *b, damo_var *x, damo_var *like) {
  return like ? build_reshape(b, x, build_shape(b, like), var_ndim(like)) : NULL;
}

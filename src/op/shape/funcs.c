/* funcs: the functions of the shape family as scripts call them, and their rows. The ops are in shape.c, reshape.c,
 * dimshuffle.c, broadcast.c, diagonal.c and triangle.c.
 */
#include "shape_int.h"
#include "op/elem/build_arith.h"

#include <string.h>

typedef struct reshape_options {
  prop_value shape, ndim;
} reshape_options;

typedef struct pattern_options {
  prop_value pattern;
} pattern_options;

typedef struct moveaxis_options {
  prop_value source, destination;
} moveaxis_options;

/* Operand i as a tensor that is not weak; NULL when it is no tensor (the scope has failed). */
static damo_var *tensor_operand(build *b, const fn_args *a, int i) {
  damo_status s = fn_check_tensor(a, b->ctx, i);
  if (s != DAMO_OK) {
    b->status = s;
    return NULL;
  }
  return build_strong(b, a->in[i]);
}

static damo_var *operand_with_shape(build *b, const fn_args *a, int i) {
  return a->in[i] && type_is_sparse(a->in[i]->type) ? a->in[i] : tensor_operand(b, a, i);
}

static damo_status fn_shape(build *b, const fn_args *a, ptrvec *out) {
  return fn_give(b, out, build_shape(b, operand_with_shape(b, a, 0)));
}

static damo_status fn_shape_i(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = operand_with_shape(b, a, 0);
  const int64_t i = prop_int_or(FN_OPTIONS(a, axis_options)->axis, 1);
  int axis;
  if (!x) return b->status;
  DAMO_TRY(axis_check(b->ctx, a->func->name, i, var_ndim(x), &axis));
  return fn_give(b, out, build_dim(b, x, axis));
}

static damo_status fn_size(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = tensor_operand(b, a, 0), *dims[DAMO_MAX_NDIM], *size = NULL;
  int64_t known = 1;
  if (!x) return b->status;
  DAMO_TRY(build_dims(b, x, dims));
  for (int i = 0; i < var_ndim(x); i++) {
    if (x->type->shape[i] >= 0)
      known *= x->type->shape[i];
    else
      size = size ? build_mul(b, size, dims[i]) : dims[i];
  }
  if (!size) return fn_give(b, out, build_i64(b, known));
  return fn_give(b, out, known == 1 ? size : build_mul(b, size, build_i64(b, known)));
}

/* The option shape is a vector Variable, whose length its Type or {ndim=} gives, or what shape_check takes. */
static damo_status fn_reshape(build *b, const fn_args *a, ptrvec *out) {
  const reshape_options *o = FN_OPTIONS(a, reshape_options);
  damo_var *x = tensor_operand(b, a, 0), *dims[DAMO_MAX_NDIM];
  int64_t ndim = prop_int_or(o->ndim, -1);
  int n = 0;
  if (!x) return b->status;
  if (!prop_given(o->shape)) return ctx_fail(b->ctx, DAMO_ETYPE, "reshape: the shape is missing");
  if (o->shape.kind == PROP_VAR && type_is_tensor(o->shape.u.var->type) && var_ndim(o->shape.u.var) == 1) {
    damo_var *shape = build_integer(b, "reshape", "the shape", o->shape.u.var);
    if (!shape) return b->status;
    if (ndim < 0) ndim = shape->type->shape[0];
    if (ndim < 0)
      return ctx_fail(b->ctx, DAMO_ESHAPE,
                      "reshape: the length of the shape vector is not known, so name the result's rank: {ndim=2}");
    if (ndim > DAMO_MAX_NDIM)
      return ctx_fail(b->ctx, DAMO_ESHAPE, "reshape: %lld axes, at most %d", (long long)ndim, DAMO_MAX_NDIM);
    return fn_give(b, out, build_reshape(b, x, shape, (int)ndim));
  }
  DAMO_TRY(shape_check(b, "reshape", &o->shape, dims, &n));
  if (ndim >= 0 && ndim != n)
    return ctx_fail(b->ctx, DAMO_ESHAPE, "reshape: the shape has %d entries, but ndim is %lld", n, (long long)ndim);
  return fn_give(b, out, build_reshape(b, x, build_vector(b, dims, n), n));
}

/* x with its first ndim - 1 axes, and one axis for the rest. */
static damo_var *build_flattened(build *b, damo_var *x, int64_t ndim) {
  damo_var *dims[DAMO_MAX_NDIM];
  if (!x || b->status != DAMO_OK) return NULL;
  int most = var_ndim(x) > 1 ? var_ndim(x) : 1;
  if (ndim < 1 || ndim > most)
    return build_fail(b, DAMO_EVALUE, "flatten: ndim must lie between 1 and %d, got %lld", most, (long long)ndim);
  if (ndim == var_ndim(x)) return x;
  for (int i = 0; i + 1 < ndim; i++) dims[i] = build_dim(b, x, i);
  /* A length of -1 is undecided when a kept axis is empty, so the last length is given there. */
  int64_t last = 1;
  for (int i = (int)ndim - 1; i < var_ndim(x) && last >= 0; i++) {
    if (x->type->shape[i] < 0 || !i64_mul(last, x->type->shape[i], &last)) last = -1;
  }
  dims[ndim - 1] = build_i64(b, last);
  if (last < 0 && ndim > 1) {
    dims[ndim - 1] = build_dim(b, x, (int)ndim - 1);
    for (int i = (int)ndim; i < var_ndim(x); i++)
      dims[ndim - 1] = build_length_mul(b, dims[ndim - 1], build_dim(b, x, i));
  }
  if (b->status != DAMO_OK) return NULL;
  return build_reshape(b, x, build_vector(b, dims, (int)ndim), (int)ndim);
}

static damo_status fn_flatten(build *b, const fn_args *a, ptrvec *out) {
  const int64_t ndim = prop_int_or(FN_OPTIONS(a, reshape_options)->ndim, 1);
  return fn_give(b, out, build_flattened(b, tensor_operand(b, a, 0), ndim));
}

damo_var *build_ravel(build *b, damo_var *x) { return build_flattened(b, x, 1); }

static damo_status fn_ravel(build *b, const fn_args *a, ptrvec *out) {
  return fn_give(b, out, build_ravel(b, tensor_operand(b, a, 0)));
}

static damo_status fn_transpose(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = tensor_operand(b, a, 0);
  int axes[DAMO_MAX_NDIM], n;
  if (!x) return b->status;
  DAMO_TRY(axes_in_order(b->ctx, "transpose", &FN_OPTIONS(a, axes_options)->axes, var_ndim(x), axes, &n));
  if (n < 0) return fn_give(b, out, build_transpose(b, x));
  if (n != var_ndim(x))
    return ctx_fail(b->ctx, DAMO_EVALUE, "transpose: %d axes named, the operand has %d", n, var_ndim(x));
  return fn_give(b, out, build_dimshuffle(b, x, axes, n));
}

static damo_status fn_matrix_transpose(build *b, const fn_args *a, ptrvec *out) {
  return fn_give(b, out, build_swap_last(b, tensor_operand(b, a, 0)));
}

static damo_status fn_dimshuffle(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = tensor_operand(b, a, 0);
  const prop_value *v = &FN_OPTIONS(a, pattern_options)->pattern;
  int pattern[DAMO_MAX_NDIM];
  if (!x) return b->status;
  if (v->kind == PROP_NIL) return ctx_fail(b->ctx, DAMO_ETYPE, "dimshuffle: the pattern is missing");
  const prop_value *at = v->kind == PROP_LIST ? v->u.list : v;
  int n = v->kind == PROP_LIST ? v->n : 1;
  if (n > DAMO_MAX_NDIM) return ctx_fail(b->ctx, DAMO_ESHAPE, "dimshuffle: %d axes, at most %d", n, DAMO_MAX_NDIM);
  for (int i = 0; i < n; i++) {
    if (at[i].kind == PROP_STR && strcmp(at[i].u.s, "x") == 0)
      pattern[i] = -1;
    else if (at[i].kind == PROP_INT)
      DAMO_TRY(axis_check(b->ctx, "dimshuffle", at[i].u.i, var_ndim(x), &pattern[i]));
    else
      return ctx_fail(b->ctx, DAMO_ETYPE, "dimshuffle: a pattern entry is an axis or \"x\"");
  }
  return fn_give(b, out, build_dimshuffle(b, x, pattern, n));
}

static damo_status fn_expand_dims(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = tensor_operand(b, a, 0);
  const prop_value *v = &FN_OPTIONS(a, axis_options)->axis;
  int axes[DAMO_MAX_NDIM], pattern[DAMO_MAX_NDIM], n;
  if (!x) return b->status;
  int ndim = var_ndim(x) + (v->kind == PROP_LIST ? v->n : 1);
  if (v->kind == PROP_NIL) return ctx_fail(b->ctx, DAMO_ETYPE, "expand_dims: the axis is missing");
  if (ndim > DAMO_MAX_NDIM)
    return ctx_fail(b->ctx, DAMO_ESHAPE, "expand_dims: %d axes, at most %d", ndim, DAMO_MAX_NDIM);
  DAMO_TRY(axes_in_order(b->ctx, "expand_dims", v, ndim, axes, &n));
  for (int i = 0; i < ndim; i++) pattern[i] = 0;
  for (int i = 0; i < n; i++) pattern[axes[i]] = -1;
  for (int i = 0, from = 0; i < ndim; i++)
    if (pattern[i] == 0) pattern[i] = from++;
  return fn_give(b, out, build_dimshuffle(b, x, pattern, ndim));
}

static damo_status fn_squeeze(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = tensor_operand(b, a, 0);
  int axes[DAMO_MAX_NDIM], pattern[DAMO_MAX_NDIM], n, kept = 0;
  uint32_t drop = 0;
  if (!x) return b->status;
  DAMO_TRY(axes_in_order(b->ctx, "squeeze", &FN_OPTIONS(a, axis_options)->axis, var_ndim(x), axes, &n));
  for (int i = 0; i < n; i++) drop |= (uint32_t)1 << axes[i];
  for (int i = 0; i < var_ndim(x); i++) {
    if (n < 0 ? type_dim_is_one(x->type, i) : (drop >> i & 1)) {
      if (x->type->shape[i] > 1 || x->type->shape[i] == 0)
        return ctx_fail(b->ctx, DAMO_ESHAPE, "squeeze: axis %d has length %lld, not 1", i + 1,
                        (long long)x->type->shape[i]);
      continue;
    }
    pattern[kept++] = i;
  }
  return fn_give(b, out, build_dimshuffle(b, x, pattern, kept));
}

static damo_status fn_moveaxis(build *b, const fn_args *a, ptrvec *out) {
  const moveaxis_options *o = FN_OPTIONS(a, moveaxis_options);
  damo_var *x = tensor_operand(b, a, 0);
  int from[DAMO_MAX_NDIM], to[DAMO_MAX_NDIM], pattern[DAMO_MAX_NDIM], n, m;
  if (!x) return b->status;
  int ndim = var_ndim(x);
  DAMO_TRY(axes_in_order(b->ctx, "moveaxis", &o->source, ndim, from, &n));
  DAMO_TRY(axes_in_order(b->ctx, "moveaxis", &o->destination, ndim, to, &m));
  if (n < 0 || m < 0) return ctx_fail(b->ctx, DAMO_ETYPE, "moveaxis: source and destination must be given");
  if (n != m) return ctx_fail(b->ctx, DAMO_EVALUE, "moveaxis: %d source axes, but %d destinations", n, m);
  uint32_t moved = 0;
  for (int i = 0; i < ndim; i++) pattern[i] = -1;
  for (int i = 0; i < n; i++) {
    pattern[to[i]] = from[i];
    moved |= (uint32_t)1 << from[i];
  }
  for (int i = 0, next = 0; i < ndim; i++) {
    if (pattern[i] >= 0) continue;
    while (moved >> next & 1) next++;
    pattern[i] = next++;
  }
  return fn_give(b, out, build_dimshuffle(b, x, pattern, ndim));
}

static damo_status fn_swapaxes(build *b, const fn_args *a, ptrvec *out) {
  const diagonal_options *o = FN_OPTIONS(a, diagonal_options);
  damo_var *x = tensor_operand(b, a, 0);
  const int64_t one = prop_int_or(o->axis1, 1), two = prop_int_or(o->axis2, 2);
  int i, j, pattern[DAMO_MAX_NDIM];
  if (!x) return b->status;
  DAMO_TRY(axis_check(b->ctx, "swapaxes", one, var_ndim(x), &i));
  DAMO_TRY(axis_check(b->ctx, "swapaxes", two, var_ndim(x), &j));
  for (int k = 0; k < var_ndim(x); k++) pattern[k] = k == i ? j : k == j ? i : k;
  return fn_give(b, out, build_dimshuffle(b, x, pattern, var_ndim(x)));
}

/* New axes come first, as PyTensor's atleast_Nd does by default. */
static damo_status at_least(build *b, const fn_args *a, ptrvec *out, int n) {
  damo_var *x = tensor_operand(b, a, 0);
  int pattern[DAMO_MAX_NDIM];
  if (!x) return b->status;
  int ndim = var_ndim(x);
  for (int i = 0; i < n; i++) pattern[i] = i < n - ndim ? -1 : i - (n - ndim);
  return fn_give(b, out, ndim >= n ? x : build_dimshuffle(b, x, pattern, n));
}
static damo_status fn_atleast_1d(build *b, const fn_args *a, ptrvec *out) { return at_least(b, a, out, 1); }
static damo_status fn_atleast_2d(build *b, const fn_args *a, ptrvec *out) { return at_least(b, a, out, 2); }
static damo_status fn_atleast_3d(build *b, const fn_args *a, ptrvec *out) { return at_least(b, a, out, 3); }

/* x[…] with a step of -1 along the axes. */
static damo_status fn_flip(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = tensor_operand(b, a, 0);
  int axes[DAMO_MAX_NDIM], n;
  if (!x) return b->status;
  DAMO_TRY(axes_in_order(b->ctx, "flip", &FN_OPTIONS(a, axis_options)->axis, var_ndim(x), axes, &n));
  if (n < 0)
    for (n = 0; n < var_ndim(x); n++) axes[n] = n;
  for (int i = 0; i < n; i++) x = build_slice(b, x, axes[i], NULL, NULL, -1);
  return fn_give(b, out, x);
}

/* The named axes get the static length 1, which is checked at run time. */
static damo_status fn_specify_broadcastable(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = tensor_operand(b, a, 0), *dims[DAMO_MAX_NDIM];
  int axes[DAMO_MAX_NDIM], n;
  if (!x) return b->status;
  DAMO_TRY(axes_in_order(b->ctx, a->func->name, &FN_OPTIONS(a, axis_options)->axis, var_ndim(x), axes, &n));
  for (int i = 0; i < var_ndim(x); i++) dims[i] = NULL;
  for (int i = 0; i < n; i++) dims[axes[i]] = build_i64(b, 1);
  return fn_give(b, out, build_specify_shape(b, x, dims));
}

const op_func shape_funcs[] = {
    {.name = "shape", .operands = "x", .call = fn_shape, .doc = "the shape as an int64 vector", .any_type = true},
    {.name = "shape_i",
     .operands = "x",
     .options = OPTIONS(OPT(axis_options, axis, OPT_INT)),
     .call = fn_shape_i,
     .doc = "the length of one axis",
     .any_type = true},
    {.name = "size", .operands = "x", .call = fn_size, .doc = "the number of entries"},
    {.name = "reshape",
     .operands = "x",
     .options = OPTIONS(OPT(reshape_options, shape, OPT_SHAPE), OPT(reshape_options, ndim, OPT_INT)),
     .call = fn_reshape,
     .doc = "the same entries in another shape; -1 may stand once, for what is left"},
    {.name = "flatten",
     .operands = "x",
     .options = OPTIONS(OPT(reshape_options, ndim, OPT_INT)),
     .call = fn_flatten,
     .doc = "the last axes made one, so that ndim are left"},
    {.name = "ravel", .operands = "x", .call = fn_ravel, .doc = "all entries as a vector"},
    {.name = "transpose",
     .operands = "x",
     .options = OPTIONS(OPT(axes_options, axes, OPT_AXES)),
     .call = fn_transpose,
     .doc = "axes in another order, reversed by default"},
    {.name = "matrix_transpose", .operands = "x", .call = fn_matrix_transpose, .doc = "the last two axes swapped"},
    {.name = "dimshuffle",
     .operands = "x",
     .options = OPTIONS(OPT(pattern_options, pattern, OPT_ANY)),
     .call = fn_dimshuffle,
     .doc = "axes in the order of the pattern, \"x\" for a new one; axes left out must have length 1"},
    {.name = "expand_dims",
     .operands = "x",
     .options = OPTIONS(OPT(axis_options, axis, OPT_AXES)),
     .call = fn_expand_dims,
     .doc = "new axes of length 1 at these positions of the result"},
    {.name = "squeeze",
     .operands = "x",
     .options = OPTIONS(OPT(axis_options, axis, OPT_AXES)),
     .call = fn_squeeze,
     .doc = "axes of length 1 dropped: those named, or all that are known to be"},
    {.name = "moveaxis",
     .operands = "x",
     .options = OPTIONS(OPT(moveaxis_options, source, OPT_AXES), OPT(moveaxis_options, destination, OPT_AXES)),
     .call = fn_moveaxis,
     .doc = "axes moved to other positions, the rest in order"},
    {.name = "swapaxes",
     .operands = "x",
     .options = OPTIONS(OPT(diagonal_options, axis1, OPT_INT), OPT(diagonal_options, axis2, OPT_INT)),
     .call = fn_swapaxes,
     .doc = "two axes swapped"},
    {.name = "atleast_1d", .operands = "x", .call = fn_atleast_1d, .doc = "new first axes up to 1"},
    {.name = "atleast_2d", .operands = "x", .call = fn_atleast_2d, .doc = "new first axes up to 2"},
    {.name = "atleast_3d", .operands = "x", .call = fn_atleast_3d, .doc = "new first axes up to 3"},
    {.name = "broadcast_to",
     .operands = "x",
     .options = OPTIONS(OPT(shape_options, shape, OPT_SHAPE)),
     .call = fn_broadcast_to,
     .doc = "x broadcast to a shape; a read-only view"},
    {.name = "flip",
     .operands = "x",
     .options = OPTIONS(OPT(axis_options, axis, OPT_AXES)),
     .call = fn_flip,
     .doc = "axes in reverse order"},
    {.name = "diag",
     .operands = "x",
     .options = OPTIONS(OPT(diagonal_options, k, OPT_INT)),
     .call = fn_diag,
     .doc = "a matrix with a vector as its k-th diagonal, or the k-th diagonal of a matrix"},
    {.name = "diagonal",
     .operands = "x",
     .options = OPTIONS(OPT(diagonal_options, offset, OPT_INT), OPT(diagonal_options, axis1, OPT_INT),
                        OPT(diagonal_options, axis2, OPT_INT)),
     .call = fn_diagonal,
     .doc = "a diagonal of two axes, as the last axis; a view"},
    {.name = "trace",
     .operands = "x",
     .options = OPTIONS(OPT(diagonal_options, offset, OPT_INT), OPT(diagonal_options, axis1, OPT_INT),
                        OPT(diagonal_options, axis2, OPT_INT)),
     .call = fn_trace,
     .doc = "the sum along a diagonal"},
    {.name = "tril",
     .operands = "x",
     .options = OPTIONS(OPT(diagonal_options, k, OPT_INT)),
     .call = fn_tril,
     .doc = "zeros above the k-th diagonal"},
    {.name = "triu",
     .operands = "x",
     .options = OPTIONS(OPT(diagonal_options, k, OPT_INT)),
     .call = fn_triu,
     .doc = "zeros below the k-th diagonal"},
    {.name = "specify_broadcastable",
     .operands = "x",
     .options = OPTIONS(OPT(axis_options, axis, OPT_AXES)),
     .call = fn_specify_broadcastable,
     .doc = "x, its axes named here known to have length 1"},
    {.name = NULL},
};

const op_def *const shape_classes[] = {&shape_def, &shape_i_def, &makevector_def, &reshape_def, &dimshuffle_def, NULL};

/* arrange: tensors put together and taken apart in NumPy's ways: column_stack, dstack, unstack, hsplit, insert, delete,
 * vander, circulant and their likes: compositions. */
#include "shape_int.h"
#include "op/index/index_int.h"
#include "op/linalg/blas.h"

#include <math.h>
#include <string.h>

typedef struct arrange_options {
  prop_value sizes, axis, k, n, left, dtype, increasing, discont, period;
} arrange_options;

/* Operand i as a tensor that is not weak, of `least` axes or more; NULL when it is none (the scope has failed). */
static damo_var *arrange_operand(build *b, const fn_args *a, int i, int least) {
  const damo_status s = fn_check_tensor(a, b->ctx, i);
  if (s != DAMO_OK) {
    b->status = s;
    return NULL;
  }
  damo_var *x = build_strong(b, a->in[i]);
  if (x != NULL && var_ndim(x) < least)
    return build_fail(b, DAMO_ESHAPE, "%s: operand %d has %d axes, fewer than %d", a->func->name, i + 1, var_ndim(x),
                      least);
  return x;
}

static damo_status fn_fliplr(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = arrange_operand(b, a, 0, 2);
  return fn_give(b, out, x ? build_slice(b, x, 1, NULL, NULL, -1) : NULL);
}

static damo_status fn_flipud(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = arrange_operand(b, a, 0, 1);
  return fn_give(b, out, x ? build_slice(b, x, 0, NULL, NULL, -1) : NULL);
}

/* ---- Stacking ---------------------------------------------------------------------------------------------------- */

/* The operands joined along an axis, each shaped before. */
static damo_status arrange_join(build *b, const fn_args *a, ptrvec *out, int axis,
                                damo_var *(*shaped)(build *, damo_var *)) {
  if (a->n_in == 0) return ctx_fail(b->ctx, DAMO_EVALUE, "%s: no operands", a->func->name);
  damo_var **v = mem_alloc(b->ctx, (size_t)a->n_in * sizeof *v);
  if (v == NULL) return DAMO_EMEMORY;
  for (int i = 0; i < a->n_in && b->status == DAMO_OK; i++) {
    v[i] = arrange_operand(b, a, i, 0);
    if (v[i] != NULL) v[i] = shaped(b, v[i]);
  }
  const damo_status s =
      b->status == DAMO_OK ? fn_give(b, out, build_concatenate(b, a->func->name, axis, v, a->n_in)) : b->status;
  mem_free(b->ctx, v, (size_t)a->n_in * sizeof *v);
  return s;
}

/* A vector as a column. */
static damo_var *arrange_column(build *b, damo_var *x) {
  while (x != NULL && var_ndim(x) < 2) x = build_new_axis(b, x, var_ndim(x));
  return x;
}

static damo_status fn_column_stack(build *b, const fn_args *a, ptrvec *out) {
  return arrange_join(b, a, out, 1, arrange_column);
}

/* A vector as (1, n, 1), a matrix as (m, n, 1). */
static damo_var *arrange_plane(build *b, damo_var *x) {
  while (x != NULL && var_ndim(x) < 2) x = build_new_axis(b, x, 0);
  return x != NULL && var_ndim(x) < 3 ? build_new_axis(b, x, 2) : x;
}

static damo_status fn_dstack(build *b, const fn_args *a, ptrvec *out) {
  return arrange_join(b, a, out, 2, arrange_plane);
}

static damo_status fn_append(build *b, const fn_args *a, ptrvec *out) {
  const prop_value at = FN_OPTIONS(a, arrange_options)->axis;
  damo_var *v[2];
  int axis = 0;
  for (int i = 0; i < 2; i++) DAMO_TRY(fn_check_tensor(a, b->ctx, i));
  DAMO_TRY(build_resolve(b, a->in, 2, true, v));
  if (prop_given(at)) DAMO_TRY(axis_check(b->ctx, "append", prop_int_or(at, 1), var_ndim(v[0]), &axis));
  for (int i = 0; i < 2 && !prop_given(at); i++) v[i] = build_ravel(b, v[i]);
  return fn_give(b, out, build_concatenate(b, "append", axis, v, 2));
}

/* ---- Splitting --------------------------------------------------------------------------------------------------- */

/* Part i of n along an axis of that length: where they are not equal, the first ones are longer by 1. */
static damo_var *arrange_part(build *b, damo_var *length, int64_t i, int64_t n) {
  int64_t known;
  if (length == NULL) return NULL;
  if (var_static_int(length, &known)) return build_i64(b, (known + n - 1 - i) / n);
  return build_floor_div(b, build_add(b, length, build_i64(b, n - 1 - i)), build_i64(b, n));
}

/* Parts along an axis: a list of their lengths, or the number of equal parts (with `uneven` of nearly equal ones). */
static damo_status arrange_split(build *b, const fn_args *a, ptrvec *out, damo_var *x, int axis, bool uneven) {
  const char *func = a->func->name;
  const prop_value *o = &FN_OPTIONS(a, arrange_options)->sizes;
  damo_var *sizes[DAMO_MAX_NDIM], **equal = NULL;
  int n = 0;
  if (x == NULL) return b->status;
  if (!prop_given(*o)) return ctx_fail(b->ctx, DAMO_ETYPE, "%s: the sizes are missing", func);
  if (o->kind == PROP_INT) {
    const int64_t parts = o->u.i, length = x->type->shape[axis];
    if (parts < 1 || parts > INT16_MAX)
      return ctx_fail(b->ctx, DAMO_EVALUE, "%s: %lld parts, of 1 to %d", func, (long long)parts, INT16_MAX);
    if (!uneven && length >= 0 && length % parts != 0)
      return ctx_fail(b->ctx, DAMO_ESHAPE, "%s: a length of %lld is not divided by %lld", func, (long long)length,
                      (long long)parts);
    damo_var *size =
        length >= 0 ? build_i64(b, length / parts) : build_floor_div(b, build_dim(b, x, axis), build_i64(b, parts));
    n = (int)parts;
    equal = mem_alloc(b->ctx, (size_t)n * sizeof *equal);
    if (equal == NULL) return DAMO_EMEMORY;
    for (int i = 0; i < n; i++) equal[i] = uneven ? arrange_part(b, build_dim(b, x, axis), i, n) : size;
  } else {
    DAMO_TRY(shape_check(b, func, o, sizes, &n));
    if (n < 1) return ctx_fail(b->ctx, DAMO_EVALUE, "%s: no sizes", func);
  }
  damo_apply *node = b->status == DAMO_OK ? build_split(b, x, equal ? equal : sizes, n, axis) : NULL;
  if (equal) mem_free(b->ctx, equal, (size_t)n * sizeof *equal);
  for (int i = 0; node && i < n; i++) DAMO_TRY(ptrvec_push(out, node->out[i]));
  return b->status;
}

static damo_status fn_vsplit(build *b, const fn_args *a, ptrvec *out) {
  return arrange_split(b, a, out, arrange_operand(b, a, 0, 2), 0, false);
}

static damo_status fn_hsplit(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = arrange_operand(b, a, 0, 1);
  return arrange_split(b, a, out, x, x != NULL && var_ndim(x) > 1, false);
}

static damo_status fn_dsplit(build *b, const fn_args *a, ptrvec *out) {
  return arrange_split(b, a, out, arrange_operand(b, a, 0, 3), 2, false);
}

static damo_status fn_array_split(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = arrange_operand(b, a, 0, 1);
  int axis;
  if (x == NULL) return b->status;
  DAMO_TRY(axis_check(b->ctx, "array_split", prop_int_or(FN_OPTIONS(a, arrange_options)->axis, 1), var_ndim(x), &axis));
  return arrange_split(b, a, out, x, axis, true);
}

static damo_status fn_unstack(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = arrange_operand(b, a, 0, 1);
  int axis;
  if (x == NULL) return b->status;
  DAMO_TRY(axis_check(b->ctx, "unstack", prop_int_or(FN_OPTIONS(a, arrange_options)->axis, 1), var_ndim(x), &axis));
  const int64_t n = x->type->shape[axis];
  if (n < 0)
    return ctx_fail(b->ctx, DAMO_ESHAPE, "unstack: the length of axis %d, the number of results, must be known",
                    axis + 1);
  for (int64_t i = 0; i < n; i++) DAMO_TRY(fn_give(b, out, build_index(b, x, axis, build_i64(b, i))));
  return b->status;
}

/* ---- Positions --------------------------------------------------------------------------------------------------- */

/* x and the axis that the option names; x as a vector where it is not given. */
static damo_var *arrange_along(build *b, const fn_args *a, int *axis) {
  const prop_value at = FN_OPTIONS(a, arrange_options)->axis;
  damo_var *x = arrange_operand(b, a, 0, 0);
  *axis = 0;
  if (x == NULL || !prop_given(at)) return x ? build_ravel(b, x) : NULL;
  const damo_status s = axis_check(b->ctx, a->func->name, prop_int_or(at, 1), var_ndim(x), axis);
  if (s == DAMO_OK) return x;
  b->status = s;
  return NULL;
}

/* What is left are the places that equal none of the positions. */
static damo_status fn_delete(build *b, const fn_args *a, ptrvec *out) {
  int axis;
  const int last = 1;
  damo_var *x = arrange_along(b, a, &axis);
  DAMO_TRY(fn_check_tensor(a, b->ctx, 1));
  damo_var *p = build_integer(b, "delete", "positions", a->in[1]);
  if (x == NULL || p == NULL) return b->status;
  damo_var *n = build_dim(b, x, axis);
  p = build_ravel(b, build_resolved_positions(b, "delete", p, n, POSITION_RAISE));
  damo_var *places = build_range(b, build_i64(b, 1), n);
  if (p == NULL || places == NULL) return b->status;
  damo_var *is = build_eq(b, build_new_axis(b, places, 1), build_new_axis(b, p, 0));
  damo_var *kept = build_nonzero(b, build_invert(b, build_reduce(b, REDUCE_ANY, is, &last, 1, false)));
  return fn_give(b, out, kept ? build_take_axis(b, x, kept, axis) : NULL);
}

/* The values as a piece of x along the axis: they are one where they have its rank, else a slice of length 1, to whose
 * other lengths they broadcast. */
static damo_var *insert_piece(build *b, damo_var *x, damo_var *values, int axis) {
  damo_var *dims[DAMO_MAX_NDIM];
  const int ndim = var_ndim(x);
  if (var_ndim(values) == ndim) return values;
  if (var_ndim(values) > ndim)
    return build_fail(b, DAMO_ESHAPE, "insert: the values have %d axes, x has %d", var_ndim(values), ndim);
  for (int i = 0, at = 0; i < ndim; i++)
    if (i != axis) dims[at++] = build_dim(b, x, i);
  if (b->status != DAMO_OK) return NULL;
  values = build_broadcast_to(b, "insert", values, dims, ndim - 1);
  return values ? build_new_axis(b, values, axis) : NULL;
}

/* A position from the end counts x's places, of which the one behind the last is none: among n + 1 places it is one
 * less. */
static damo_var *insert_position(build *b, const fn_args *a, damo_var *places) {
  damo_var *p = build_integer(b, "insert", "the position", a->in[1]), *one = build_i64(b, 1);
  int64_t known;
  if (p == NULL) return NULL;
  if (var_ndim(p) != 0) return build_fail(b, DAMO_ESHAPE, "insert: the position is a scalar, got %d axes", var_ndim(p));
  if (var_static_int(p, &known))
    p = known < 0 ? build_i64(b, known - 1) : p;
  else
    p = build_switch(b, build_lt(b, p, build_i64(b, 0)), build_sub(b, p, one), p);
  return build_length_sub(b, build_resolved_positions(b, "insert", p, places, POSITION_RAISE), one);
}

static damo_status fn_insert(build *b, const fn_args *a, ptrvec *out) {
  const prop_value at = FN_OPTIONS(a, arrange_options)->axis;
  damo_var *v[2], *in[2] = {a->in[0], a->in[2]};
  int axis = 0;
  for (int i = 0; i < 3; i++) DAMO_TRY(fn_check_tensor(a, b->ctx, i));
  DAMO_TRY(build_resolve(b, in, 2, true, v));
  if (prop_given(at)) DAMO_TRY(axis_check(b->ctx, "insert", prop_int_or(at, 1), var_ndim(v[0]), &axis));
  for (int i = 0; i < 2 && !prop_given(at); i++) v[i] = build_ravel(b, v[i]);
  damo_var *x = v[0], *values = prop_given(at) ? insert_piece(b, x, v[1], axis) : v[1];
  damo_var *p = insert_position(b, a, build_length_add(b, build_dim(b, x, axis), build_i64(b, 1)));
  if (values == NULL || p == NULL) return b->status;
  damo_var *parts[3] = {build_slice(b, x, axis, NULL, p, 1), values, build_slice(b, x, axis, p, NULL, 1)};
  return fn_give(b, out, b->status == DAMO_OK ? build_join(b, "insert", axis, parts, 3) : NULL);
}

/* ---- Matrices of a vector ---------------------------------------------------------------------------------------- */

static damo_status fn_diagflat(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = arrange_operand(b, a, 0, 0);
  return fn_give(b, out,
                 x ? build_diag(b, build_ravel(b, x), prop_int_or(FN_OPTIONS(a, arrange_options)->k, 0)) : NULL);
}

static damo_status fn_identity_like(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = arrange_operand(b, a, 0, 2);
  if (x == NULL) return b->status;
  damo_dtype dt = var_dtype(x);
  DAMO_TRY(fn_dtype(a, b->ctx, FN_OPTIONS(a, arrange_options)->dtype, &dt));
  if (var_ndim(x) != 2)
    return ctx_fail(b->ctx, DAMO_ESHAPE, "identity_like: a matrix is expected, got %d axes", var_ndim(x));
  return fn_give(b, out, build_eye(b, build_dim(b, x, 0), build_dim(b, x, 1), dt));
}

/* The running products of a column of ones and n - 1 columns x. */
static damo_status fn_vander(build *b, const fn_args *a, ptrvec *out) {
  const arrange_options *o = FN_OPTIONS(a, arrange_options);
  damo_var *x = arrange_operand(b, a, 0, 1);
  if (x == NULL) return b->status;
  if (var_ndim(x) != 1) return ctx_fail(b->ctx, DAMO_ESHAPE, "vander: a vector is expected, got %d axes", var_ndim(x));
  const int64_t n = prop_int_or(o->n, -1);
  if (prop_given(o->n) && n < 0) return ctx_fail(b->ctx, DAMO_EVALUE, "vander: n is %lld", (long long)n);
  if (!dtype_is_float(var_dtype(x)) && !dtype_is_complex(var_dtype(x))) x = build_cast(b, x, DAMO_INT64);
  damo_var *dims[2] = {build_dim(b, x, 0), prop_given(o->n) ? build_i64(b, n) : build_dim(b, x, 0)};
  damo_var *all = build_alloc(b, build_new_axis(b, x, 1), dims, 2);
  damo_var *first = build_new_axis(b, build_ones_like(b, x), 1);
  if (all == NULL || first == NULL) return b->status;
  damo_var *parts[2] = {first, all}; /* one column too many, so that n may be 0 */
  damo_var *powers = build_cumulative(b, "cumprod", build_join(b, "vander", 1, parts, 2), 1, false);
  powers = powers ? build_slice(b, powers, 1, NULL, dims[1], 1) : NULL;
  if (powers != NULL && !prop_bool_or(o->increasing, false)) powers = build_slice(b, powers, 1, NULL, NULL, -1);
  return fn_give(b, out, powers);
}

/* Row i, column j: entry (i - j) mod n. */
static damo_status fn_circulant(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = arrange_operand(b, a, 0, 1);
  if (x == NULL) return b->status;
  const int axis = var_ndim(x) - 1;
  damo_var *n = build_dim(b, x, axis), *one = build_i64(b, 1), *at = build_range(b, one, n);
  if (at == NULL) return b->status;
  damo_var *apart = build_sub(b, build_new_axis(b, at, 1), build_new_axis(b, at, 0));
  damo_var *flat = build_ravel(b, build_add(b, build_mod(b, apart, n), one)), *dims[DAMO_MAX_NDIM];
  damo_var *y = flat ? build_take_axis(b, x, flat, axis) : NULL;
  if (y == NULL) return b->status;
  if (axis + 2 > DAMO_MAX_NDIM)
    return ctx_fail(b->ctx, DAMO_ESHAPE, "linalg.circulant: %d axes, at most %d", axis + 2, DAMO_MAX_NDIM);
  DAMO_TRY(build_dims(b, x, dims));
  dims[axis + 1] = n;
  return fn_give(b, out, build_reshape(b, y, build_vector(b, dims, axis + 2), axis + 2));
}

/* ---- Differences ------------------------------------------------------------------------------------------------- */

/* x[i + 1] - x[i] along an axis. */
static damo_var *arrange_differences(build *b, damo_var *x, int axis) {
  damo_var *one = build_i64(b, 1), *n = build_dim(b, x, axis);
  damo_var *upper = build_slice(b, x, axis, one, NULL, 1);
  damo_var *stop = build_length_sub(b, n, one);
  int64_t known;
  if (stop != NULL && var_static_int(stop, &known) && known < 0) stop = build_i64(b, 0);
  return build_sub(b, upper, build_slice(b, x, axis, NULL, stop, 1));
}

static damo_status fn_ediff1d(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = arrange_operand(b, a, 0, 0), *parts[3];
  int n = 0;
  if (x == NULL) return b->status;
  const damo_dtype dt = var_dtype(x);
  for (int i = 2; i >= 0; i--) { /* to_begin, to_end, x */
    if (i > 0 && (i >= a->n_in || a->in[i] == NULL)) continue;
    damo_var *y = i == 0 ? arrange_differences(b, build_ravel(b, x), 0) : arrange_operand(b, a, i, 0);
    if (y == NULL) return b->status;
    parts[n++] = build_cast(b, build_ravel(b, y), dt);
  }
  if (n > 1 && a->n_in > 1 && a->in[1] != NULL) { /* to_end stands behind the differences */
    damo_var *end = parts[n - 2];
    parts[n - 2] = parts[n - 1];
    parts[n - 1] = end;
  }
  return fn_give(b, out, n > 1 ? build_join(b, "ediff1d", 0, parts, n) : parts[0]);
}

/* x plus multiples of the period, such that no step exceeds half a period. A step d becomes d' = (d + p/2) mod p - p/2,
 * and p/2 where that is -p/2 and d > 0; steps below discont stay. */
static damo_status fn_unwrap(build *b, const fn_args *a, ptrvec *out) {
  const arrange_options *o = FN_OPTIONS(a, arrange_options);
  const double period = prop_num_or(o->period, 6.283185307179586), half = period / 2;
  const double given = prop_num_or(o->discont, half), discont = given > half ? given : half;
  damo_var *x = arrange_operand(b, a, 0, 1), *one = build_i64(b, 1), *zero = build_num(b, 0);
  int axis;
  if (x == NULL) return b->status;
  if (!(period > 0)) return ctx_fail(b->ctx, DAMO_EVALUE, "unwrap: the period must be positive, got %g", period);
  DAMO_TRY(axis_check(b->ctx, "unwrap", prop_int_or(o->axis, -1), var_ndim(x), &axis));
  if (dtype_is_complex(var_dtype(x)))
    return ctx_fail(b->ctx, DAMO_ETYPE, "unwrap is not defined for %s", dtype_name(var_dtype(x)));
  if (dtype_is_discrete(var_dtype(x))) x = build_cast(b, x, DAMO_FLOAT64);
  damo_var *d = arrange_differences(b, x, axis), *low = build_num(b, -half);
  damo_var *within = build_add(b, build_mod(b, build_sub(b, d, low), build_num(b, period)), low);
  damo_var *edge = build_and_(b, build_eq(b, within, low), build_gt(b, d, zero));
  within = build_switch(b, edge, build_num(b, half), within);
  damo_var *stays = build_lt(b, build_abs(b, d), build_num(b, discont));
  damo_var *shift = build_switch(b, stays, zero, build_sub(b, within, d));
  shift = build_cast(b, shift, var_dtype(x));
  if (shift == NULL) return b->status;
  damo_var *rest =
      build_add(b, build_slice(b, x, axis, one, NULL, 1), build_cumulative(b, "cumsum", shift, axis, false));
  damo_var *parts[2] = {build_slice(b, x, axis, NULL, one, 1), rest};
  return fn_give(b, out, b->status == DAMO_OK ? build_join(b, "unwrap", axis, parts, 2) : NULL);
}

/* ---- Ranks ------------------------------------------------------------------------------------------------------- */

static damo_status fn_atleast_nd(build *b, const fn_args *a, ptrvec *out) {
  const arrange_options *o = FN_OPTIONS(a, arrange_options);
  const int64_t n = prop_int_or(o->n, 1);
  const bool left = prop_bool_or(o->left, true);
  damo_var *x = arrange_operand(b, a, 0, 0);
  if (n < 0 || n > DAMO_MAX_NDIM)
    return ctx_fail(b->ctx, DAMO_EVALUE, "atleast_Nd: n is %lld, of 0 to %d", (long long)n, DAMO_MAX_NDIM);
  while (x != NULL && var_ndim(x) < n) x = build_new_axis(b, x, left ? 0 : var_ndim(x));
  return fn_give(b, out, x);
}

#define ARRANGE_SIZES OPTIONS(OPT(arrange_options, sizes, OPT_ANY))
#define ARRANGE_AXIS OPTIONS(OPT(arrange_options, axis, OPT_INT))
const op_func arrange_funcs[] = {
    {.name = "fliplr", .operands = "x", .call = fn_fliplr, .doc = "the second axis in reverse order"},
    {.name = "flipud", .operands = "x", .call = fn_flipud, .doc = "the first axis in reverse order"},
    {.name = "column_stack",
     .operands = "xs...",
     .call = fn_column_stack,
     .doc = "vectors as the columns of a matrix; matrices side by side",
     .no_method = true,
     .bare_list = true},
    {.name = "dstack",
     .operands = "xs...",
     .call = fn_dstack,
     .doc = "vectors and matrices one behind the other, along a third axis",
     .no_method = true,
     .bare_list = true},
    {.name = "append",
     .operands = "x values",
     .options = ARRANGE_AXIS,
     .call = fn_append,
     .doc = "x and the values one after the other along an axis; nil: both as vectors"},
    {.name = "array_split",
     .operands = "x",
     .options = OPTIONS(OPT(arrange_options, sizes, OPT_SHAPE), OPT(arrange_options, axis, OPT_INT)),
     .call = fn_array_split,
     .doc = "the parts of x along an axis (default 1), of these sizes, or so many whose lengths differ by 1 at most; "
            "views"},
    {.name = "vsplit",
     .operands = "x",
     .options = ARRANGE_SIZES,
     .call = fn_vsplit,
     .doc = "the parts of x along the first axis, of these sizes, or so many equal ones; views"},
    {.name = "hsplit",
     .operands = "x",
     .options = ARRANGE_SIZES,
     .call = fn_hsplit,
     .doc = "the same along the second axis; of a vector along its only one"},
    {.name = "dsplit",
     .operands = "x",
     .options = ARRANGE_SIZES,
     .call = fn_dsplit,
     .doc = "the same along the third axis"},
    {.name = "unstack",
     .operands = "x",
     .options = ARRANGE_AXIS,
     .call = fn_unstack,
     .doc = "the slices of x along an axis (default 1), whose length must be known, as so many results"},
    {.name = "delete",
     .operands = "x positions",
     .options = ARRANGE_AXIS,
     .call = fn_delete,
     .doc = "x without these positions along an axis; nil: of x as a vector"},
    {.name = "insert",
     .operands = "x position values",
     .options = ARRANGE_AXIS,
     .call = fn_insert,
     .doc = "x with values before a position along an axis: a slice, or a piece of x's rank; nil: both as vectors"},
    {.name = "diagflat",
     .operands = "x",
     .options = OPTIONS(OPT(arrange_options, k, OPT_INT)),
     .call = fn_diagflat,
     .doc = "a matrix with the entries of x as its k-th diagonal"},
    {.name = "identity_like",
     .operands = "x",
     .options = OPTIONS(OPT(arrange_options, dtype, OPT_DTYPE)),
     .call = fn_identity_like,
     .doc = "ones on the diagonal of a matrix of x's shape"},
    {.name = "vander",
     .operands = "x",
     .options = OPTIONS(OPT(arrange_options, n, OPT_INT), OPT(arrange_options, increasing, OPT_BOOL)),
     .call = fn_vander,
     .doc = "the powers n - 1 … 0 of a vector (n: its length) as columns; increasing: 0 … n - 1"},
    {.name = "linalg.circulant",
     .operands = "x",
     .call = fn_circulant,
     .doc = "the matrix whose first column is the last axis of x, and each other one the column before, rotated down",
     .no_method = true},
    {.name = "ediff1d",
     .operands = "x [to_end] [to_begin]",
     .call = fn_ediff1d,
     .doc = "differences of neighbours of x as a vector, with these before and behind them"},
    {.name = "unwrap",
     .operands = "x",
     .options = OPTIONS(OPT(arrange_options, axis, OPT_INT), OPT(arrange_options, discont, OPT_NUM),
                        OPT(arrange_options, period, OPT_NUM)),
     .call = fn_unwrap,
     .doc =
         "x plus multiples of a period (default 2 pi) so that no step along an axis (default -1) exceeds its half, or "
         "discont"},
    {.name = "atleast_Nd",
     .operands = "x",
     .options = OPTIONS(OPT(arrange_options, n, OPT_INT), OPT(arrange_options, left, OPT_BOOL)),
     .call = fn_atleast_nd,
     .doc = "new axes up to n (default 1), first ones; with left false last ones"},
    {.name = NULL},
};

#undef ARRANGE_SIZES
#undef ARRANGE_AXIS

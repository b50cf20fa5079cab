/* unique: Unique: the different rows of a matrix, and what is made of it: unique and the operations on sets.
 *
 * Unique(x) of an n by m matrix gives three int64 vectors: the 1-based positions of the first of each of the different
 * rows, which come in lexicographic order; for each row of x the number of its equal among them; how often each occurs.
 * nan is greater than every number and equal to nan. Values are read from x at these positions, so they have a gradient.
 */
#include "sets_int.h"
#include "kernel/kernel.h"
#include "op/elem/build_arith.h"

static damo_status unique_infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  damo_ctx *ctx = op->obj.ctx;
  if (!type_is_tensor(in[0]->type) || var_ndim(in[0]) != 2)
    return ctx_fail(ctx, DAMO_ETYPE, "Unique: expected a matrix");
  for (int i = 0; i < 3; i++) {
    out[i] = type_tensor(ctx, DAMO_INT64, 1, i == 1 ? in[0]->type->shape : NULL);
    if (!out[i]) return damo_error_status(ctx);
  }
  return DAMO_OK;
}

static bool rows_equal(const void *wide, damo_dtype dt, int64_t m, int64_t i, int64_t j) {
  for (int64_t k = 0; k < m; k++) {
    if (!sort_equal(wide, dt, i * m + k, j * m + k)) return false;
  }
  return true;
}

#define UNIQUE_PART 512 /* rows between two points */

static damo_status unique_perform(const thunk *t, frame *f) {
  const damo_array *x = thunk_in(t, f, 0);
  const int64_t n = array_shape(x)[0], m = array_shape(x)[1];
  const damo_dtype dt = array_dtype(x), wide = sort_wide(dt);
  const size_t size = dtype_size(dt), entries = (size_t)(n * m);
  sort_item *items = thunk_scratch(t, f, 2 * (size_t)n * sizeof *items + entries * (dtype_size(wide) + size) + 64);
  if (!items) return damo_error_status(f->ctx);
  char *numbers = (char *)(items + 2 * n), *raw = dt == wide ? numbers : numbers + entries * dtype_size(wide);
  array_copy_box(f->ctx, x->data, array_strides(x), raw, NULL, 2, array_shape(x), size);
  if (dt != wide) array_cast_values(f->ctx, dt, wide, raw, numbers, n * m);
  sort_item *sorted = items;
  sort_begin(f->ctx, sorted, n);
  for (int64_t k = m - 1; k >= 0; k--) /* the first column decides last */
    sorted = sort_by(f->ctx, numbers + k * (int64_t)dtype_size(wide), wide, m, sorted,
                     sorted == items ? items + n : items, n);
  int64_t groups = 0;
  for (int64_t i = 0; i < n; i++) {
    groups += i == 0 || !rows_equal(numbers, wide, m, sorted[i - 1].at - 1, sorted[i].at - 1);
    sorted[i].key = (uint64_t)groups;
    ctx_point_each(f->ctx, i, UNIQUE_PART);
  }
  damo_array *index = thunk_out(t, f, 0, DAMO_INT64, 1, &groups), *inverse = thunk_out(t, f, 1, DAMO_INT64, 1, &n);
  damo_array *counts = thunk_out(t, f, 2, DAMO_INT64, 1, &groups);
  if (!index || !inverse || !counts) return damo_error_status(f->ctx);
  int64_t *first = (int64_t *)(void *)index->data, *group = (int64_t *)(void *)inverse->data;
  int64_t *count = (int64_t *)(void *)counts->data;
  for (int64_t i = 0; i < n; i++) {
    const int64_t g = (int64_t)sorted[i].key;
    if (i == 0 || g != (int64_t)sorted[i - 1].key) {
      first[g - 1] = sorted[i].at; /* the sort is stable */
      count[g - 1] = 0;
    }
    group[sorted[i].at - 1] = g;
    count[g - 1]++;
    ctx_point_each(f->ctx, i, UNIQUE_PART);
  }
  return DAMO_OK;
}

const op_def unique_def = {
    .name = "Unique",
    .doc = "the positions of the different rows of a matrix, the rows that are equal to them, and their numbers",
    .n_in = 1,
    .n_out = 3,
    .infer_type = unique_infer_type,
    .perform = unique_perform,
    .grad = grad_none,
    .connection_pattern = connect_none,
    .no_check = "dense: spec/op/rows/sets.lua has results by hand and from plain loops",
};

/* Positions, inverse and counts of the different entries of a vector. */
static damo_apply *unique_of(build *b, damo_var *v) {
  if (!v || b->status != DAMO_OK) return NULL;
  damo_var *rows = build_dimshuffle(b, v, (const int[]){0, -1}, 2);
  return rows ? build_apply(b, op_new(b->ctx, &unique_def, NULL), &rows, 1) : NULL;
}

static damo_var *unique_values(build *b, damo_var *v) {
  damo_apply *u = unique_of(b, v);
  return u ? build_take_axis(b, v, u->out[0], 0) : NULL;
}

/* x with the axis first, and the others as one: a row for each position along it. */
static damo_var *rows_along(build *b, damo_var *x, int axis) {
  int pattern[DAMO_MAX_NDIM], n = 1;
  damo_var *rest = build_i64(b, 1);
  pattern[0] = axis;
  for (int i = 0; i < var_ndim(x); i++) {
    if (i == axis) continue;
    pattern[n++] = i;
    rest = build_length_mul(b, rest, build_dim(b, x, i));
  }
  damo_var *const shape[2] = {build_dim(b, x, axis), rest};
  damo_var *moved = build_dimshuffle(b, x, pattern, n);
  return b->status == DAMO_OK ? build_reshape(b, moved, build_vector(b, shape, 2), 2) : NULL;
}

damo_status fn_unique(build *b, const fn_args *a, ptrvec *out) {
  const sets_options *o = FN_OPTIONS(a, sets_options);
  damo_apply *u;
  int axis = 0;
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  damo_var *x = build_strong(b, a->in[0]), *from = x, *inverse = NULL;
  if (!x) return b->status;
  if (prop_given(o->axis)) {
    DAMO_TRY(axis_check(b->ctx, "unique", prop_int_or(o->axis, 1), var_ndim(x), &axis));
    damo_var *rows = rows_along(b, x, axis);
    u = rows ? build_apply(b, op_new(b->ctx, &unique_def, NULL), &rows, 1) : NULL;
    if (u) inverse = u->out[1];
  } else {
    from = build_ravel(b, x);
    u = unique_of(b, from);
    if (u) inverse = prop_bool_or(o->return_inverse, false) ? build_reshape_like(b, u->out[1], x) : u->out[1];
  }
  if (!u) return b->status;
  DAMO_TRY(fn_give(b, out, build_take_axis(b, from, u->out[0], axis)));
  if (prop_bool_or(o->return_index, false)) DAMO_TRY(fn_give(b, out, u->out[0]));
  if (prop_bool_or(o->return_inverse, false)) DAMO_TRY(fn_give(b, out, inverse));
  return prop_bool_or(o->return_counts, false) ? fn_give(b, out, u->out[2]) : DAMO_OK;
}

/* ---- Sets -------------------------------------------------------------------------------------------------------- */

/* The operands as vectors of one dtype. */
static damo_status two_vectors(build *b, const fn_args *a, damo_var **v) {
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  DAMO_TRY(fn_check_tensor(a, b->ctx, 1));
  DAMO_TRY(build_resolve(b, a->in, 2, true, v));
  for (int i = 0; i < 2; i++) v[i] = build_ravel(b, v[i]);
  return b->status;
}

static damo_var *joined(build *b, const char *func, damo_var *x, damo_var *y) {
  damo_var *const parts[2] = {x, y};
  return x && y ? build_join(b, func, 0, parts, 2) : NULL;
}

/* mask, and not nan. */
static damo_var *and_number(build *b, damo_var *mask, damo_var *x) {
  return dtype_is_discrete(var_dtype(x)) ? mask : build_and_(b, mask, build_eq(b, x, x));
}

/* Whether each entry of the vector x is among those of `of`: how many of these are equal to it. */
static damo_var *is_among(build *b, const char *func, damo_var *x, damo_var *of) {
  damo_apply *u = unique_of(b, joined(b, func, x, of));
  if (!u) return NULL;
  damo_var *n = build_dim(b, x, 0), *groups = build_dim(b, u->out[0], 0);
  damo_var *counts = build_segment_count(b, build_slice(b, u->out[1], 0, n, NULL, 1), groups);
  damo_var *found = build_take_axis(b, counts, build_slice(b, u->out[1], 0, NULL, n, 1), 0);
  return found ? and_number(b, build_gt(b, found, build_int(b, 0)), x) : NULL;
}

damo_status fn_isin(build *b, const fn_args *a, ptrvec *out) {
  damo_var *v[2];
  DAMO_TRY(two_vectors(b, a, v));
  damo_var *found = is_among(b, "isin", v[0], v[1]);
  if (found && prop_bool_or(FN_OPTIONS(a, sets_options)->invert, false)) found = build_invert(b, found);
  return fn_give(b, out, build_reshape_like(b, found, build_strong(b, a->in[0])));
}

damo_status fn_union1d(build *b, const fn_args *a, ptrvec *out) {
  damo_var *v[2];
  DAMO_TRY(two_vectors(b, a, v));
  return fn_give(b, out, unique_values(b, joined(b, "union1d", v[0], v[1])));
}

damo_status fn_setdiff1d(build *b, const fn_args *a, ptrvec *out) {
  damo_var *v[2];
  DAMO_TRY(two_vectors(b, a, v));
  damo_var *x = unique_values(b, v[0]), *found = x ? is_among(b, "setdiff1d", x, v[1]) : NULL;
  damo_var *left = found ? build_take_axis(b, x, build_nonzero(b, build_invert(b, found)), 0) : NULL;
  damo_var *first = build_strong(b, a->in[0]); /* all that is left is of the first operand, and so is the dtype */
  return fn_give(b, out, left && first ? build_cast(b, left, var_dtype(first)) : NULL);
}

/* Of the different entries of both, joined, those that occur once; nan is equal to none. */
damo_status fn_setxor1d(build *b, const fn_args *a, ptrvec *out) {
  damo_var *v[2];
  DAMO_TRY(two_vectors(b, a, v));
  damo_var *all = joined(b, "setxor1d", unique_values(b, v[0]), unique_values(b, v[1]));
  const damo_apply *u = unique_of(b, all);
  if (!u) return b->status;
  damo_var *firsts = build_take_axis(b, all, u->out[0], 0), *once = build_eq(b, u->out[2], build_int(b, 1));
  if (firsts && once && !dtype_is_discrete(var_dtype(firsts))) once = build_or_(b, once, build_neq(b, firsts, firsts));
  return fn_give(b, out, once ? build_take_axis(b, firsts, build_nonzero(b, once), 0) : NULL);
}

/* Of the different entries of both, joined, those that occur twice. The first of two equal ones is v[0]'s; `second` has
 * for each different entry its position among v[1]'s, 0 where it is not there. */
damo_status fn_intersect1d(build *b, const fn_args *a, ptrvec *out) {
  damo_var *v[2], *values[2], *all;
  damo_apply *u[2], *both;
  DAMO_TRY(two_vectors(b, a, v));
  for (int i = 0; i < 2; i++) {
    u[i] = unique_of(b, v[i]);
    values[i] = u[i] ? build_take_axis(b, v[i], u[i]->out[0], 0) : NULL;
  }
  all = joined(b, "intersect1d", values[0], values[1]);
  both = unique_of(b, all);
  if (!both) return b->status;
  damo_var *firsts = build_take_axis(b, all, both->out[0], 0);
  damo_var *twice = build_gt(b, both->out[2], build_int(b, 1));
  damo_var *at = firsts ? build_nonzero(b, and_number(b, twice, firsts)) : NULL;
  DAMO_TRY(fn_give(b, out, at ? build_take_axis(b, firsts, at, 0) : NULL));
  if (!prop_bool_or(FN_OPTIONS(a, sets_options)->return_indices, false)) return DAMO_OK;
  damo_var *first = build_take_axis(b, both->out[0], at, 0), *n = build_dim(b, values[0], 0);
  DAMO_TRY(fn_give(b, out, build_take_axis(b, u[0]->out[0], first, 0)));
  damo_var *groups = build_dim(b, both->out[0], 0), *places = build_slice(b, both->out[1], 0, n, NULL, 1);
  damo_var *order = build_range(b, build_i64(b, 1), build_dim(b, values[1], 0));
  damo_var *second = build_segment(b, SEGMENT_SUM, order, places, groups);
  return fn_give(b, out, build_take_axis(b, u[1]->out[0], build_take_axis(b, second, at, 0), 0));
}

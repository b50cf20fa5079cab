/* repeat: repeated entries: tile repeats arrays as a whole, repeat_ each of their entries.
 *
 * Where all counts are equal, both broadcast over a new axis and reshape; repeat_ with a count for each entry reads x
 * at the positions that RepeatPositions lists.
 */
#include "shape_int.h"
#include "op/elem/build_arith.h"

/* ---- Tile -------------------------------------------------------------------------------------------------------- */

static damo_var *length_times(build *b, damo_var *x, damo_var *y) {
  int64_t i, j, n;
  if (!x || !y) return NULL;
  if (!var_static_int(x, &i) || !var_static_int(y, &j)) return build_mul(b, x, y);
  if (i64_mul(i, j, &n)) return build_i64(b, n);
  return build_fail(b, DAMO_EVALUE, "array: %lld times %lld entries are too many", (long long)j, (long long)i);
}

typedef struct tile_options {
  prop_value reps;
} tile_options;

/* Each axis i repeated reps[i] times as a whole: (n) → (1, n) → (reps, n) → (reps · n), for all axes at once. */
static damo_status fn_tile(build *b, const fn_args *a, ptrvec *out) {
  const tile_options *o = FN_OPTIONS(a, tile_options);
  damo_var *reps[DAMO_MAX_NDIM], *wide[DAMO_MAX_NDIM], *flat[DAMO_MAX_NDIM];
  int pattern[DAMO_MAX_NDIM], given;
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  damo_var *x = build_strong(b, a->in[0]);
  if (!x) return b->status;
  if (!prop_given(o->reps)) return ctx_fail(b->ctx, DAMO_ETYPE, "tile: reps is missing");
  DAMO_TRY(shape_check(b, "tile", &o->reps, reps, &given));
  int ndim = var_ndim(x) > given ? var_ndim(x) : given, lead = ndim - var_ndim(x);
  if (2 * ndim > DAMO_MAX_NDIM) return ctx_fail(b->ctx, DAMO_ESHAPE, "tile: at most %d axes", DAMO_MAX_NDIM / 2);
  for (int i = 0; i < ndim; i++) {
    damo_var *r = i < ndim - given ? build_i64(b, 1) : reps[i - (ndim - given)];
    damo_var *length = i < lead ? build_i64(b, 1) : build_dim(b, x, i - lead);
    int64_t known;
    if (r && var_static_int(r, &known) && known < 0)
      return ctx_fail(b->ctx, DAMO_EVALUE, "tile: reps must not be negative, got %lld", (long long)known);
    pattern[2 * i] = -1;
    pattern[2 * i + 1] = i < lead ? -1 : i - lead;
    wide[2 * i] = r;
    wide[2 * i + 1] = length;
    flat[i] = length_times(b, r, length);
  }
  if (b->status != DAMO_OK) return b->status;
  damo_var *y = build_broadcast_to(b, "tile", build_dimshuffle(b, x, pattern, 2 * ndim), wide, 2 * ndim);
  return fn_give(b, out, build_reshape(b, y, build_vector(b, flat, ndim), ndim));
}

/* ---- Repeat: how often each entry comes, as the list of 1-based positions that `take` reads ---------------------- */

static damo_status wrong_count(damo_ctx *ctx, const damo_op *op, int64_t n, int64_t length) {
  return ctx_fail(ctx, DAMO_ESHAPE, "repeat_: %lld repeats for axis %lld of length %lld", (long long)n,
                  (long long)OP_PROPS(op, axis_props)->axis.u.i, (long long)length);
}

static damo_status positions_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  int64_t length, n;
  if (!type_is_tensor(in[0]->type) || var_ndim(in[0]) != 1 || var_dtype(in[0]) != DAMO_INT64)
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "repeat_: repeats must be an integer or an integer vector");
  if (!type_is_tensor(in[1]->type) || var_ndim(in[1]) != 0 || var_dtype(in[1]) != DAMO_INT64)
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "repeat_: the length must be an int64 scalar");
  n = in[0]->type->shape[0];
  if (n >= 0 && var_static_int(in[1], &length) && n != length) return wrong_count(op->obj.ctx, op, n, length);
  out[0] = type_tensor(op->obj.ctx, DAMO_INT64, 1, NULL);
  return out[0] ? DAMO_OK : DAMO_EMEMORY;
}

#define REPEAT_PART 4096 /* entries between two points */

static damo_status positions_perform(const thunk *t, frame *f) {
  const damo_array *r = thunk_in(t, f, 0);
  const int64_t length = array_int(thunk_in(t, f, 1));
  int64_t total = 0, at = 0;
  if (array_shape(r)[0] != length) return wrong_count(f->ctx, t->node->op, array_shape(r)[0], length);
  for (int64_t i = 0; i < array_shape(r)[0]; i++) {
    int64_t k = *(const int64_t *)(r->data + i * array_strides(r)[0]);
    if (k < 0 || total > INT64_MAX - k)
      return ctx_fail(f->ctx, DAMO_EVALUE, "repeat_: entry %lld of repeats is %lld", (long long)i + 1, (long long)k);
    total += k;
    ctx_point_each(f->ctx, i, REPEAT_PART);
  }
  damo_array *out = thunk_out(t, f, 0, DAMO_INT64, 1, &total);
  if (!out) return DAMO_EMEMORY;
  for (int64_t i = 0; i < array_shape(r)[0]; i++)
    for (int64_t k = *(const int64_t *)(r->data + i * array_strides(r)[0]); k > 0; k--) {
      ((int64_t *)out->data)[at++] = i + 1;
      ctx_point_each(f->ctx, at, REPEAT_PART);
    }
  return DAMO_OK;
}

static const op_def positions_def = {
    .name = "RepeatPositions",
    .doc = "position i as often as entry i says, of a list as long as the second input",
    .props = PROPS(PROP_AXIS(axis_props, axis)),
    .n_in = 2,
    .infer_type = positions_type,
    .perform = positions_perform,
    .grad = grad_none,
    .connection_pattern = connect_none,
    .no_check = "dense: spec/op/rows/shape.lua has results by hand and from plain loops",
};

/* (…, n, …) → (…, n, 1, …) → (…, n, r, …) → (…, n r, …) */
static damo_var *repeat_each(build *b, damo_var *x, damo_var *repeats, int axis) {
  damo_var *wide[DAMO_MAX_NDIM], *flat[DAMO_MAX_NDIM];
  int n = var_ndim(x);
  damo_var *y = build_new_axis(b, x, axis + 1);
  for (int i = 0, o = 0; i < n && y; i++) {
    wide[o++] = flat[i] = build_dim(b, x, i);
    if (i != axis) continue;
    wide[o++] = repeats;
    flat[i] = length_times(b, flat[i], repeats);
  }
  y = y ? build_broadcast_to(b, "repeat_", y, wide, n + 1) : NULL;
  return y ? build_reshape(b, y, build_vector(b, flat, n), n) : NULL;
}

static damo_status fn_repeat(build *b, const fn_args *a, ptrvec *out) {
  const axis_options *o = FN_OPTIONS(a, axis_options);
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  damo_var *x = build_strong(b, a->in[0]), *repeats = build_integer(b, "repeat_", "repeats", a->in[1]);
  int64_t known;
  int k;
  if (!x || !repeats) return b->status;
  if (!prop_given(o->axis)) x = build_ravel(b, x);
  if (!x) return b->status;
  DAMO_TRY(axis_check(b->ctx, "repeat_", prop_int_or(o->axis, 1), var_ndim(x), &k));
  if (var_ndim(repeats) == 0) {
    if (var_static_int(repeats, &known) && known < 0)
      return ctx_fail(b->ctx, DAMO_EVALUE, "repeat_: repeats must not be negative, got %lld", (long long)known);
    return fn_give(b, out, repeat_each(b, x, repeats, k));
  }
  const axis_props prop = {.axis = prop_int(k + 1)};
  damo_var *in[2] = {repeats, build_dim(b, x, k)};
  damo_var *positions = in[1] ? build_op(b, op_new(b->ctx, &positions_def, &prop), in, 2) : NULL;
  return fn_give(b, out, build_take_axis(b, x, positions, k));
}

const op_func repeat_funcs[] = {
    {.name = "tile",
     .operands = "x",
     .options = OPTIONS(OPT(tile_options, reps, OPT_SHAPE)),
     .call = fn_tile,
     .doc = "x repeated as a whole, reps times along each axis"},
    {.name = "repeat_",
     .operands = "x repeats",
     .options = OPTIONS(OPT(axis_options, axis, OPT_INT)),
     .call = fn_repeat,
     .doc = "each entry repeated along an axis; of all entries in order without one"},
    {.name = NULL},
};

const op_def *const repeat_classes[] = {&positions_def, NULL};

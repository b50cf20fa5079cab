/* funcs: functions made of indexing: take, take_along_axis, one_hot, nonzero. Index-valued operands and results are
 * 1-based positions. subtensor.c has the rows.
 */
#include "op/elem/elem_c.h"
#include "index_int.h"
#include "kernel/kernel.h"
#include "op/elem/build_arith.h"

#include <string.h>

/* ---- take -------------------------------------------------------------------------------------------------------- */

/* x[spec] with a list (or a position) on one axis. */
damo_var *build_take_axis(build *b, damo_var *x, damo_var *positions, int axis) {
  char spec[4 * DAMO_MAX_NDIM + 2], *p = spec;
  if (!x || !positions) return NULL;
  for (int i = 0; i < axis; i++, p += 4) memcpy(p, "s000", 4);
  memcpy(p, var_ndim(positions) ? "l" : "i", 2);
  return index_read(b, x, spec, &positions, 1);
}

damo_status fn_take(build *b, const fn_args *a, ptrvec *out) {
  const move_options *o = FN_OPTIONS(a, move_options);
  position_mode mode;
  int axis;
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  DAMO_TRY(fn_check_tensor(a, b->ctx, 1));
  DAMO_TRY(position_mode_read(b->ctx, "take", o->mode, &mode));
  damo_var *x = build_strong(b, a->in[0]);
  damo_var *positions = build_integer(b, "take", "the indices", a->in[1]);
  if (x && !prop_given(o->axis)) x = build_ravel(b, x);
  if (!x || !positions) return b->status;
  DAMO_TRY(axis_check(b->ctx, "take", prop_int_or(o->axis, 1), var_ndim(x), &axis));
  if (mode != POSITION_RAISE) positions = build_resolved_positions(b, "take", positions, build_dim(b, x, axis), mode);
  return fn_give(b, out, build_take_axis(b, x, positions, axis));
}

/* A list for each axis: `indices` on the chosen one, all positions of x on each other one, broadcast. So entry (i, j,
 * …) of the result reads x at (i, indices[i, j, …], …). idx: DAMO_MAX_NDIM entries, spec: one more. */
static damo_status lists_along_axis(build *b, damo_var *x, damo_var *positions, int axis, damo_var **idx, char *spec) {
  int pattern[DAMO_MAX_NDIM];
  const int n = var_ndim(x);
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < n; k++) pattern[k] = k == i ? 0 : -1;
    idx[i] =
        i == axis ? positions : build_dimshuffle(b, build_range(b, build_i64(b, 1), build_dim(b, x, i)), pattern, n);
  }
  memset(spec, 'l', (size_t)n);
  spec[n] = '\0';
  return b->status;
}

damo_var *build_take_along_axis(build *b, damo_var *x, damo_var *positions, int axis) {
  damo_var *idx[DAMO_MAX_NDIM];
  char spec[DAMO_MAX_NDIM + 1];
  if (!x || !positions || lists_along_axis(b, x, positions, axis, idx, spec) != DAMO_OK) return NULL;
  return index_read(b, x, spec, idx, var_ndim(x));
}

damo_var *build_add_along_axis(build *b, damo_var *x, damo_var *y, damo_var *positions, int axis) {
  damo_var *idx[DAMO_MAX_NDIM];
  char spec[DAMO_MAX_NDIM + 1];
  if (!x || !y || !positions || lists_along_axis(b, x, positions, axis, idx, spec) != DAMO_OK) return NULL;
  return index_write(b, x, y, false, spec, idx, var_ndim(x));
}

/* Operands 0 and 1, a tensor and positions of its rank, and the axis. */
static damo_status along_axis_call(build *b, const fn_args *a, int64_t at, damo_var **x, damo_var **positions,
                                   int *axis) {
  const char *f = a->func->name;
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  DAMO_TRY(fn_check_tensor(a, b->ctx, 1));
  *x = build_strong(b, a->in[0]);
  *positions = build_integer(b, f, "the indices", a->in[1]);
  if (!*x || !*positions) return b->status;
  const int n = var_ndim(*x);
  DAMO_TRY(axis_check(b->ctx, f, at, n, axis));
  if (var_ndim(*positions) == n) return DAMO_OK;
  return ctx_fail(b->ctx, DAMO_ESHAPE, "%s: the indices have %d axes, the operand %d", f, var_ndim(*positions), n);
}

damo_status fn_put_along_axis(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x, *positions, *idx[DAMO_MAX_NDIM];
  char spec[DAMO_MAX_NDIM + 1];
  int axis;
  DAMO_TRY(fn_check_tensor(a, b->ctx, 2));
  DAMO_TRY(along_axis_call(b, a, prop_int_or(FN_OPTIONS(a, move_options)->axis, -1), &x, &positions, &axis));
  damo_var *values = index_value(b, "put_along_axis", x, a->in[2]);
  DAMO_TRY(lists_along_axis(b, x, positions, axis, idx, spec));
  return fn_give(b, out, index_write(b, x, values, true, spec, idx, var_ndim(x)));
}

damo_status fn_take_along_axis(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x, *positions;
  int axis;
  DAMO_TRY(along_axis_call(b, a, prop_int_or(FN_OPTIONS(a, axis_options)->axis, 1), &x, &positions, &axis));
  return fn_give(b, out, build_take_along_axis(b, x, positions, axis));
}

/* ---- OneHot ------------------------------------------------------------------------------------------------------ */

static damo_status onehot_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  damo_ctx *ctx = op->obj.ctx;
  const damo_type *t = in[0]->type;
  int64_t shape[DAMO_MAX_NDIM];
  damo_dtype dt = DAMO_FLOAT64;
  damo_dtype_from_name(OP_PROPS(op, dtype_props)->dtype.u.s, &dt);
  if (!type_is_tensor(t) || t->dtype != DAMO_INT64 || !type_is_tensor(in[1]->type) || var_ndim(in[1]) != 0)
    return ctx_fail(ctx, DAMO_ETYPE, "one_hot: expected integer classes and an integer scalar n");
  if (t->ndim >= DAMO_MAX_NDIM) return ctx_fail(ctx, DAMO_ESHAPE, "one_hot: more than %d axes", DAMO_MAX_NDIM);
  memcpy(shape, t->shape, (size_t)t->ndim * sizeof *shape);
  DAMO_TRY(static_dims(ctx, "one_hot", in + 1, 1, &shape[t->ndim]));
  out[0] = type_tensor(ctx, dt, t->ndim + 1, shape);
  return out[0] ? DAMO_OK : DAMO_EMEMORY;
}

#define ENTRIES_PART 1024 /* entries between two points */

static damo_status onehot_perform(const thunk *t, frame *f) {
  const damo_array *x = thunk_in(t, f, 0);
  damo_dtype dt = var_dtype(t->node->out[0]);
  int64_t shape[DAMO_MAX_NDIM], n, size = (int64_t)dtype_size(dt);
  array_entries e;
  const double unit = 1;
  char one[16] = {0};
  memcpy(shape, array_shape(x), (size_t)x->ndim * sizeof *shape);
  DAMO_TRY(thunk_dims(t, f, "one_hot", 1, 1, &n));
  shape[x->ndim] = n;
  damo_array *out = thunk_out(t, f, 0, dt, x->ndim + 1, shape);
  if (!out) return DAMO_EMEMORY;
  kernel_cast(DAMO_FLOAT64, dt)(&unit, one, 1);
  array_zero_bytes(f->ctx, out->data, (size_t)(array_size(out) * size));
  char *row = out->data;
  int64_t done = 0;
  for (const char *p = entries_begin(&e, x); p; p = entries_next(&e), row += n * size) {
    int64_t c = *(const int64_t *)p;
    if (c < 1 || c > n)
      return ctx_fail(f->ctx, DAMO_EINDEX, "one_hot: class %lld is outside 1 … %lld", (long long)c, (long long)n);
    memcpy(row + (c - 1) * size, one, (size_t)size);
    ctx_point_each(f->ctx, ++done, ENTRIES_PART);
  }
  return DAMO_OK;
}

static damo_status onehot_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                      damo_var ***out_shape) {
  int n = var_ndim(node->in[0]);
  for (int i = 0; i < n; i++) out_shape[0][i] = in_shape[0][i];
  out_shape[0][n] = node->in[1];
  return b->status;
}

static damo_status onehot_emit_c(c_emit *e, const damo_apply *node) {
  const c_value *index = ce_in(e, 0);
  const int n = index->ndim;
  int64_t shape[DAMO_MAX_NDIM];
  c_nest nest;
  memcpy(shape, index->shape, (size_t)n * sizeof *shape);
  DAMO_TRY(ce_int(e, 1, "a length", &shape[n]));
  const c_value *out = ce_out(e, 0, var_dtype(node->out[0]), n + 1, shape);
  if (out == NULL) return e->status;
  ce_nest_init(e, &nest, n, shape, 3, (const int64_t *const[]){index->strides, index->strides, out->strides});
  emit_placed(e, &nest, NULL, index, out, shape[n], out->strides[n]);
  return e->status;
}

const op_def onehot_def = {
    .name = "OneHot",
    .doc = "a last axis with a one at each class",
    .props = PROPS(PROP_DTYPE(dtype_props, dtype)),
    .n_in = 2,
    .infer_type = onehot_type,
    .perform = onehot_perform,
    .emit_c = onehot_emit_c,
    .grad = grad_none,
    .infer_shape = onehot_infer_shape,
    .batch = batch_same_op,
    .connection_pattern = connect_none,
    .no_check = "dense: spec/op/rows/index.lua has results by hand and from plain loops",
};

damo_status fn_one_hot(build *b, const fn_args *a, ptrvec *out) {
  damo_dtype dt = b->ctx->config.floatX;
  const char *f = a->func->name;
  DAMO_TRY(fn_dtype(a, b->ctx, FN_OPTIONS(a, dtype_options)->dtype, &dt));
  damo_var *in[2] = {build_integer(b, f, "classes", a->in[0]), build_integer(b, f, "n", a->in[1])};
  const dtype_props p = {.dtype = prop_str(dtype_name(dt))};
  return fn_give(b, out, in[0] && in[1] ? build_op(b, op_new(b->ctx, &onehot_def, &p), in, 2) : NULL);
}

/* ---- Nonzero ----------------------------------------------------------------------------------------------------- */

static int nonzero_count(const damo_op *op, int n_in) {
  (void)n_in;
  return (int)OP_PROPS(op, ndim_props)->ndim.u.i;
}

static damo_status nonzero_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  if (!type_is_tensor(in[0]->type) || var_dtype(in[0]) != DAMO_BOOL ||
      var_ndim(in[0]) != OP_PROPS(op, ndim_props)->ndim.u.i)
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "nonzero: expected a bool tensor of %lld axes",
                    (long long)OP_PROPS(op, ndim_props)->ndim.u.i);
  for (int i = 0; i < var_ndim(in[0]); i++) {
    out[i] = type_tensor(op->obj.ctx, DAMO_INT64, 1, NULL);
    if (!out[i]) return DAMO_EMEMORY;
  }
  return DAMO_OK;
}

/* Writes the 1-based positions of true entries, out[k] those along axis k; returns their number. out NULL: only
 * counts. */
static int64_t nonzero_scan(damo_ctx *ctx, const damo_array *x, int64_t *const *out) {
  int64_t found = 0, since = 0;
  const int last = x->ndim - 1;
  array_rows r;
  for (char *p = rows_begin(&r, x); p; p = rows_next(&r, p)) {
    ctx_point_after(ctx, &since, 4 + r.length, 2 * ENTRIES_PART);
    for (int64_t k = 0; k < r.length; k++) {
      ctx_point_each(ctx, k, 2 * ENTRIES_PART);
      if (!p[k * r.step]) continue;
      for (int i = 0; out && i < last; i++) out[i][found] = r.walk.at[i] + 1;
      if (out && last >= 0) out[last][found] = k + 1;
      found++;
    }
  }
  return found;
}

static damo_status nonzero_perform(const thunk *t, frame *f) {
  const damo_array *x = thunk_in(t, f, 0);
  int64_t *out[DAMO_MAX_NDIM], n = nonzero_scan(f->ctx, x, NULL);
  for (int i = 0; i < x->ndim; i++) {
    damo_array *a = thunk_out(t, f, i, DAMO_INT64, 1, &n);
    if (!a) return DAMO_EMEMORY;
    out[i] = (int64_t *)(void *)a->data;
  }
  nonzero_scan(f->ctx, x, out);
  return DAMO_OK;
}

static const op_def nonzero_def = {
    .name = "Nonzero",
    .doc = "positions of true entries, a vector an axis",
    .props = PROPS(PROP_INTEGER(ndim_props, ndim, 0, DAMO_MAX_NDIM)),
    .n_in = 1,
    .n_out = OP_VARIADIC,
    .count_out = nonzero_count,
    .infer_type = nonzero_type,
    .perform = nonzero_perform,
    .grad = grad_none,
    .connection_pattern = connect_none,
    .no_check = "dense: spec/op/rows/index.lua has results by hand and from plain loops",
};

damo_var *build_is_nonzero(build *b, damo_var *x) {
  if (!x || b->status != DAMO_OK) return NULL;
  return dtype_is_complex(var_dtype(x)) ? build_neq(b, x, build_num(b, 0)) : build_cast(b, x, DAMO_BOOL);
}

damo_apply *build_nonzero_all(build *b, damo_var *mask) {
  if (!mask || b->status != DAMO_OK) return NULL;
  const ndim_props p = {.ndim = prop_int(var_ndim(mask))};
  return build_apply(b, op_new(b->ctx, &nonzero_def, &p), &mask, 1);
}

damo_var *build_nonzero(build *b, damo_var *mask) {
  damo_apply *node = build_nonzero_all(b, mask);
  return node ? node->out[0] : NULL;
}

damo_status fn_nonzero(build *b, const fn_args *a, ptrvec *out) {
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  damo_var *x = build_is_nonzero(b, build_strong(b, a->in[0]));
  if (!x) return b->status;
  if (var_ndim(x) == 0) return ctx_fail(b->ctx, DAMO_ESHAPE, "nonzero: expected at least 1 axis, got 0");
  damo_apply *node = build_nonzero_all(b, x);
  for (int i = 0; node && i < node->n_out; i++) DAMO_TRY(ptrvec_push(out, node->out[i]));
  return b->status;
}

const op_def *const index_classes[] = {
    &subtensor_def, &incsubtensor_def, &advsubtensor_def, &advincsubtensor_def,   &pick_def,
    &pick_grad_def, &onehot_def,       &nonzero_def,      &resolve_positions_def, NULL};

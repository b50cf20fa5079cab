/* join.c: arrays put together and taken apart along an axis: Join, Split, and what is made from them: stack, tile,
 * repeat_, roll, pad.
 *
 * Join copies; the parts of a Split are views.
 */
#include "shape_int.h"

#include <string.h>

/* ---- Join ---------------------------------------------------------------------------------------------------------------- */

/* Merges the shape of operand i into shape (all axes but `axis`); shape error when they disagree. */
static damo_status merge_shape(damo_ctx *ctx, int axis, int ndim, int64_t *shape, const int64_t *other, int i) {
  char a[160], c[160];
  for (int k = 0; k < ndim; k++) {
    if (k == axis) continue;
    if (shape[k] >= 0 && other[k] >= 0 && shape[k] != other[k])
      return ctx_fail(ctx, DAMO_ESHAPE,
                      "join: along axis %d, operand %d of shape %s does not fit shape %s: axis %d differs", axis + 1,
                      i + 1, shape_format(a, sizeof a, ndim, other), shape_format(c, sizeof c, ndim, shape), k + 1);
    if (shape[k] < 0) shape[k] = other[k];
  }
  return DAMO_OK;
}

static damo_status join_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  damo_ctx *ctx = op->obj.ctx;
  int ndim = n_in ? var_ndim(in[0]) : 0, axis = (int)op->props[0].u.i - 1;
  int64_t shape[DAMO_MAX_NDIM];
  if (n_in < 1) return ctx_fail(ctx, DAMO_EVALUE, "join: no operands");
  if (axis >= ndim) return ctx_fail(ctx, DAMO_EINDEX, "join: axis %d of operands with %d axes", axis + 1, ndim);
  for (int i = 0; i < n_in; i++) {
    const damo_type *t = in[i]->type;
    if (!type_is_tensor(t) || t->ndim != ndim)
      return ctx_fail(ctx, DAMO_ESHAPE, "join: operand %d has %d axes, the first has %d", i + 1, t->ndim, ndim);
    if (t->dtype != var_dtype(in[0]))
      return ctx_fail(ctx, DAMO_ETYPE, "join: operand %d is %s, the first is %s", i + 1, dtype_name(t->dtype),
                      dtype_name(var_dtype(in[0])));
    if (i == 0) {
      memcpy(shape, t->shape, (size_t)ndim * sizeof *shape);
      continue;
    }
    DAMO_TRY(merge_shape(ctx, axis, ndim, shape, t->shape, i));
    shape[axis] = shape[axis] < 0 || t->shape[axis] < 0 ? -1 : shape[axis] + t->shape[axis];
  }
  out[0] = type_tensor(ctx, var_dtype(in[0]), ndim, shape);
  return out[0] ? DAMO_OK : DAMO_EMEMORY;
}

static damo_status join_perform(thunk *t) {
  const damo_array *first = thunk_in(t, 0);
  int ndim = first->ndim, axis = (int)t->node->op->props[0].u.i - 1;
  size_t size = dtype_size(first->dtype);
  int64_t shape[DAMO_MAX_NDIM], at = 0;
  memcpy(shape, array_shape(first), (size_t)ndim * sizeof *shape);
  for (int i = 1; i < t->n_in; i++) {
    DAMO_TRY(merge_shape(t->ctx, axis, ndim, shape, array_shape(thunk_in(t, i)), i));
    shape[axis] += array_shape(thunk_in(t, i))[axis];
  }
  damo_array *out = thunk_out(t, 0, array_dtype(first), ndim, shape);
  if (!out) return DAMO_EMEMORY;
  for (int i = 0; i < t->n_in; i++) {
    const damo_array *x = thunk_in(t, i);
    kernel_copy_nd(x->data, array_strides(x), out->data + at * array_strides(out)[axis], array_strides(out), ndim,
                   array_shape(x), size);
    at += array_shape(x)[axis];
  }
  return DAMO_OK;
}

static damo_apply *split_node(build *b, damo_var *x, damo_var *const *sizes, int n, int axis);

static damo_status join_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  int axis = (int)node->op->props[0].u.i - 1, n = node->n_in;
  damo_var **sizes = mem_alloc(b->ctx, (size_t)n * sizeof *sizes);
  if (!sizes) return b->status = DAMO_EMEMORY;
  for (int i = 0; i < n; i++) sizes[i] = build_dim(b, node->in[i], axis);
  damo_apply *parts = split_node(b, gout[0], sizes, n, axis);
  for (int i = 0; parts && i < n; i++) gin[i] = parts->out[i];
  mem_free(b->ctx, sizes, (size_t)n * sizeof *sizes);
  return b->status;
}

static damo_status join_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  int n = node->n_in;
  bool any = false;
  damo_var **xs = mem_alloc(b->ctx, (size_t)n * sizeof *xs);
  if (!xs) return b->status = DAMO_EMEMORY;
  for (int i = 0; i < n; i++) {
    any = any || eval[i];
    xs[i] = eval[i] ? eval[i] : build_zeros_like(b, node->in[i]);
  }
  if (any) rout[0] = build_op(b, damo_retain(node->op), xs, n);
  mem_free(b->ctx, xs, (size_t)n * sizeof *xs);
  return b->status;
}

static damo_status join_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                    damo_var ***out_shape) {
  int axis = (int)node->op->props[0].u.i - 1;
  damo_var *sum = in_shape[0][axis];
  for (int i = 0; i < var_ndim(node->out[0]); i++) out_shape[0][i] = in_shape[0][i];
  for (int i = 1; i < node->n_in; i++) sum = build_fn2(b, "add", sum, in_shape[i][axis]);
  out_shape[0][axis] = sum;
  return b->status;
}

static const op_def join_def = {
    .name = "Join",
    .doc = "operands one after the other along an axis",
    .props = "axis",
    .n_in = OP_VARIADIC,
    .infer_type = join_type,
    .perform = join_perform,
    .grad = join_grad,
    .rop = join_rop,
    .infer_shape = join_infer_shape,
};

damo_var *build_join(build *b, const char *func, int axis, damo_var *const *xs, int n) {
  if (b->status != DAMO_OK) return NULL;
  if (n == 0) return build_fail(b, DAMO_EVALUE, "%s: no operands", func);
  if (n == 1) return xs[0];
  prop_value p = prop_int(axis + 1);
  return build_op(b, op_new(b->ctx, &join_def, &p, 1), xs, n);
}

/* ---- Split: x, then the length of each part -------------------------------------------------------------------------------- */

typedef struct split_data {
  op_alias *views;
  int n;
} split_data;

/* Props: axis, n. Every part is a view of x. */
static damo_status split_init(damo_op *op) {
  split_data *d = op->data;
  d->n = (int)op->props[1].u.i;
  d->views = mem_alloc(op->obj.ctx, (size_t)(d->n + 1) * sizeof *d->views);
  if (!d->views) return DAMO_EMEMORY;
  for (int i = 0; i < d->n; i++) d->views[i] = (op_alias){(int16_t)i, 0};
  d->views[d->n] = (op_alias)OP_ALIAS_END;
  op->view_map = d->views;
  return DAMO_OK;
}

static void split_clear(damo_op *op) {
  split_data *d = op->data;
  if (d->views) mem_free(op->obj.ctx, d->views, (size_t)(d->n + 1) * sizeof *d->views);
}

static int split_count(const damo_op *op, int n_in) {
  (void)n_in;
  return (int)op->props[1].u.i;
}

static damo_status split_bad_sizes(damo_ctx *ctx, int axis, int64_t sum, int64_t length) {
  return ctx_fail(ctx, DAMO_ESHAPE, "split: the sizes add up to %lld, but axis %d has length %lld", (long long)sum,
                  axis + 1, (long long)length);
}

static damo_status split_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  damo_ctx *ctx = op->obj.ctx;
  const damo_type *t = in[0]->type;
  int axis = (int)op->props[0].u.i - 1, n = n_in - 1, open = -1, unknown = 0;
  int64_t shape[DAMO_MAX_NDIM], sum = 0;
  if (!type_is_tensor(t) || axis >= t->ndim)
    return ctx_fail(ctx, DAMO_EINDEX, "split: axis %d of an operand with %d axes", axis + 1, t->ndim);
  if (n != op->props[1].u.i)
    return ctx_fail(ctx, DAMO_ETYPE, "split: %d sizes for %lld parts", n, (long long)op->props[1].u.i);
  for (int i = 0; i < n; i++) {
    int64_t v;
    DAMO_TRY(static_dims(ctx, "split", in + 1 + i, 1, &v));
    if (v >= 0)
      sum += v;
    else
      open = i, unknown++;
  }
  int64_t length = t->shape[axis];
  if (length >= 0 && (unknown ? sum > length : sum != length)) return split_bad_sizes(ctx, axis, sum, length);
  memcpy(shape, t->shape, (size_t)t->ndim * sizeof *shape);
  for (int i = 0; i < n; i++) {
    shape[axis] = -1;
    var_static_int(in[1 + i], &shape[axis]);
    if (i == open && unknown == 1 && length >= 0) shape[axis] = length - sum;
    out[i] = type_tensor(ctx, t->dtype, t->ndim, shape);
    if (!out[i]) return DAMO_EMEMORY;
  }
  return DAMO_OK;
}

static damo_status split_perform(thunk *t) {
  const damo_array *x = thunk_in(t, 0);
  int axis = (int)t->node->op->props[0].u.i - 1;
  int64_t shape[DAMO_MAX_NDIM], sum = 0, at = 0;
  memcpy(shape, array_shape(x), (size_t)x->ndim * sizeof *shape);
  for (int i = 1; i < t->n_in; i++) {
    int64_t v;
    DAMO_TRY(thunk_dims(t, "split", i, 1, &v));
    sum += v;
  }
  if (sum != array_shape(x)[axis]) return split_bad_sizes(t->ctx, axis, sum, array_shape(x)[axis]);
  for (int i = 1; i < t->n_in; i++) {
    shape[axis] = array_int(thunk_in(t, i));
    int64_t offset = shape[axis] ? at * array_strides(x)[axis] : 0;
    DAMO_TRY(thunk_out_view(t, i - 1, x, x->ndim, shape, array_strides(x), offset));
    at += shape[axis];
  }
  return DAMO_OK;
}

static damo_status split_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  int n = node->n_out;
  damo_var **xs = mem_alloc(b->ctx, (size_t)(n ? n : 1) * sizeof *xs);
  if (!xs) return b->status = DAMO_EMEMORY;
  bool any = false;
  damo_dtype dt = var_dtype(node->in[0]);
  for (int i = 0; i < n; i++)
    if (gout[i]) any = true, dt = var_dtype(gout[i]);
  for (int i = 0; i < n; i++) xs[i] = gout[i] ? gout[i] : build_zeros_of(b, node->out[i], dt);
  if (any) gin[0] = build_join(b, "split", (int)node->op->props[0].u.i - 1, xs, n);
  mem_free(b->ctx, xs, (size_t)(n ? n : 1) * sizeof *xs);
  return b->status;
}

static damo_status split_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout) {
  if (!eval[0]) return b->status;
  damo_apply *parts = split_node(b, eval[0], node->in + 1, node->n_out, (int)node->op->props[0].u.i - 1);
  for (int i = 0; parts && i < node->n_out; i++) rout[i] = parts->out[i];
  return b->status;
}

static damo_status split_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                     damo_var ***out_shape) {
  int axis = (int)node->op->props[0].u.i - 1;
  for (int o = 0; o < node->n_out; o++)
    for (int i = 0; i < var_ndim(node->in[0]); i++) out_shape[o][i] = i == axis ? node->in[o + 1] : in_shape[0][i];
  return b->status;
}

static const op_def split_def = {
    .name = "Split",
    .doc = "the parts of x along an axis",
    .props = "axis n",
    .n_in = OP_VARIADIC,
    .n_out = OP_VARIADIC,
    .count_out = split_count,
    .data_size = sizeof(split_data),
    .init = split_init,
    .clear = split_clear,
    .infer_type = split_type,
    .perform = split_perform,
    .grad = split_grad,
    .rop = split_rop,
    .infer_shape = split_infer_shape,
    .connection_pattern = connect_first,
};

static damo_apply *split_node(build *b, damo_var *x, damo_var *const *sizes, int n, int axis) {
  if (!x || b->status != DAMO_OK) return NULL;
  if (n > INT16_MAX) {
    build_fail(b, DAMO_EVALUE, "split: %d parts, at most %d", n, INT16_MAX);
    return NULL;
  }
  damo_var **in = mem_alloc(b->ctx, (size_t)(n + 1) * sizeof *in);
  if (!in) {
    b->status = DAMO_EMEMORY;
    return NULL;
  }
  in[0] = x;
  for (int i = 0; i < n; i++) in[i + 1] = sizes[i];
  prop_value props[2] = {prop_int(axis + 1), prop_int(n)};
  damo_apply *node = build_apply(b, op_new(b->ctx, &split_def, props, 2), in, n + 1);
  mem_free(b->ctx, in, (size_t)(n + 1) * sizeof *in);
  return node;
}

/* ---- Functions ------------------------------------------------------------------------------------------------------------- */

/* The operands from `first` on, brought to one dtype, in fresh memory of n entries; NULL when that failed. */
static damo_var **common(build *b, const fn_args *a, int first, int *n) {
  *n = a->n_in - first;
  if (*n < 1) {
    build_fail(b, DAMO_EVALUE, "%s: no operands", a->func->name);
    return NULL;
  }
  for (int i = first; i < a->n_in; i++) {
    if ((b->status = fn_check_tensor(a, b->ctx, i)) != DAMO_OK) return NULL;
  }
  damo_var **xs = mem_alloc(b->ctx, (size_t)*n * sizeof *xs);
  if (!xs) b->status = DAMO_EMEMORY;
  if (xs && build_resolve(b, a->in + first, *n, true, xs) == DAMO_OK) return xs;
  if (xs) mem_free(b->ctx, xs, (size_t)*n * sizeof *xs);
  return NULL;
}

static void common_free(build *b, damo_var **xs, int n) { mem_free(b->ctx, xs, (size_t)n * sizeof *xs); }

static damo_status join_axis(build *b, const fn_args *a, int first, int64_t axis, ptrvec *out) {
  int n, k;
  damo_var **xs = common(b, a, first, &n);
  if (!xs) return b->status;
  damo_status s = axis_check(b->ctx, a->func->name, axis, var_ndim(xs[0]), &k);
  if (s == DAMO_OK) s = fn_give(b, out, build_join(b, a->func->name, k, xs, n));
  common_free(b, xs, n);
  return s;
}

static damo_status fn_join(build *b, const fn_args *a, ptrvec *out) {
  damo_var *axis = build_integer(b, "join", "the axis", a->in[0]);
  int64_t k;
  if (!axis) return b->status;
  if (!var_static_int(axis, &k)) return ctx_fail(b->ctx, DAMO_ETYPE, "join: the axis must be a known integer");
  return join_axis(b, a, 1, k, out);
}

static damo_status fn_concatenate(build *b, const fn_args *a, ptrvec *out) {
  int64_t axis = 1;
  DAMO_TRY(fn_opt_int(a, 0, &axis));
  return join_axis(b, a, 0, axis, out);
}

/* A new axis of one at this place. */
static damo_var *with_axis(build *b, damo_var *x, int axis) {
  int pattern[DAMO_MAX_NDIM];
  if (!x) return NULL;
  if (var_ndim(x) >= DAMO_MAX_NDIM) return build_fail(b, DAMO_ESHAPE, "stack: more than %d axes", DAMO_MAX_NDIM);
  for (int i = 0; i <= var_ndim(x); i++) pattern[i] = i < axis ? i : i == axis ? -1 : i - 1;
  return build_dimshuffle(b, x, pattern, var_ndim(x) + 1);
}

static damo_status fn_stack(build *b, const fn_args *a, ptrvec *out) {
  int64_t axis = 1;
  int n, k;
  DAMO_TRY(fn_opt_int(a, 0, &axis));
  damo_var **xs = common(b, a, 0, &n);
  if (!xs) return b->status;
  int ndim = var_ndim(xs[0]);
  damo_status s = axis_check(b->ctx, "stack", axis, ndim + 1, &k);
  for (int i = 0; i < n && s == DAMO_OK; i++) {
    if (var_ndim(xs[i]) != ndim)
      s = ctx_fail(b->ctx, DAMO_ESHAPE, "stack: operand %d has %d axes, the first has %d", i + 1, var_ndim(xs[i]),
                   ndim);
    else if (!(xs[i] = with_axis(b, xs[i], k)))
      s = b->status;
  }
  if (s == DAMO_OK) s = fn_give(b, out, build_join(b, "stack", k, xs, n));
  common_free(b, xs, n);
  return s;
}

/* vstack: operands of at least two axes, one above the other. hstack: side by side; vectors end to end. */
static damo_status stack_as(build *b, const fn_args *a, ptrvec *out, int least, int axis) {
  int n;
  damo_var **xs = common(b, a, 0, &n);
  if (!xs) return b->status;
  for (int i = 0; i < n; i++)
    while (xs[i] && var_ndim(xs[i]) < least) xs[i] = with_axis(b, xs[i], 0);
  if (axis > 0 && xs[0] && var_ndim(xs[0]) == 1) axis = 0;
  damo_status s = b->status == DAMO_OK ? fn_give(b, out, build_join(b, a->func->name, axis, xs, n)) : b->status;
  common_free(b, xs, n);
  return s;
}
static damo_status fn_vstack(build *b, const fn_args *a, ptrvec *out) { return stack_as(b, a, out, 2, 0); }
static damo_status fn_hstack(build *b, const fn_args *a, ptrvec *out) { return stack_as(b, a, out, 1, 1); }

static damo_status fn_split(build *b, const fn_args *a, ptrvec *out) {
  damo_var *sizes[DAMO_MAX_NDIM];
  int64_t axis = 1;
  int n, k;
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  damo_var *x = build_strong(b, a->in[0]);
  if (!x) return b->status;
  if (a->opt[0].kind == PROP_NIL) return ctx_fail(b->ctx, DAMO_ETYPE, "split: the sizes are missing");
  DAMO_TRY(fn_opt_int(a, 1, &axis));
  DAMO_TRY(axis_check(b->ctx, "split", axis, var_ndim(x), &k));
  DAMO_TRY(shape_check(b, "split", &a->opt[0], sizes, &n));
  if (n < 1) return ctx_fail(b->ctx, DAMO_EVALUE, "split: no sizes");
  damo_apply *node = split_node(b, x, sizes, n, k);
  for (int i = 0; node && i < n; i++) DAMO_TRY(ptrvec_push(out, node->out[i]));
  return b->status;
}

static damo_var *times(build *b, damo_var *x, damo_var *y) {
  int64_t i, j;
  if (!x || !y) return NULL;
  if (var_static_int(x, &i) && var_static_int(y, &j)) return build_i64(b, i * j);
  return build_fn2(b, "mul", x, y);
}

/* Each axis i repeated reps[i] times as a whole: (n) → (1, n) → (reps, n) → (reps · n), for all axes at once. */
static damo_status fn_tile(build *b, const fn_args *a, ptrvec *out) {
  damo_var *reps[DAMO_MAX_NDIM], *wide[DAMO_MAX_NDIM], *flat[DAMO_MAX_NDIM];
  int pattern[DAMO_MAX_NDIM], given;
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  damo_var *x = build_strong(b, a->in[0]);
  if (!x) return b->status;
  if (a->opt[0].kind == PROP_NIL) return ctx_fail(b->ctx, DAMO_ETYPE, "tile: reps is missing");
  DAMO_TRY(shape_check(b, "tile", &a->opt[0], reps, &given));
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
    flat[i] = times(b, r, length);
  }
  if (b->status != DAMO_OK) return b->status;
  damo_var *y = build_broadcast_to(b, "tile", build_dimshuffle(b, x, pattern, 2 * ndim), wide, 2 * ndim);
  return fn_give(b, out, build_reshape(b, y, build_vector(b, flat, ndim), ndim));
}

/* ---- Repeat: how often each entry comes, as the list of 1-based positions that `take` reads ---------------------------------- */

static damo_status positions_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  if (!type_is_tensor(in[0]->type) || var_ndim(in[0]) != 1 || var_dtype(in[0]) != DAMO_INT64)
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "repeat_: repeats must be an integer or an integer vector");
  out[0] = type_tensor(op->obj.ctx, DAMO_INT64, 1, NULL);
  return out[0] ? DAMO_OK : DAMO_EMEMORY;
}

static damo_status positions_perform(thunk *t) {
  const damo_array *r = thunk_in(t, 0);
  int64_t total = 0, at = 0;
  for (int64_t i = 0; i < array_shape(r)[0]; i++) {
    int64_t k = *(const int64_t *)(r->data + i * array_strides(r)[0]);
    if (k < 0 || total > INT64_MAX - k)
      return ctx_fail(t->ctx, DAMO_EVALUE, "repeat_: entry %lld of repeats is %lld", (long long)i + 1, (long long)k);
    total += k;
  }
  damo_array *out = thunk_out(t, 0, DAMO_INT64, 1, &total);
  if (!out) return DAMO_EMEMORY;
  for (int64_t i = 0; i < array_shape(r)[0]; i++)
    for (int64_t k = *(const int64_t *)(r->data + i * array_strides(r)[0]); k > 0; k--)
      ((int64_t *)out->data)[at++] = i + 1;
  return DAMO_OK;
}

static const op_def positions_def = {
    .name = "RepeatPositions",
    .doc = "position i as often as entry i says",
    .n_in = 1,
    .infer_type = positions_type,
    .perform = positions_perform,
    .grad = grad_none,
    .connection_pattern = connect_none,
};

static damo_var *take(build *b, damo_var *x, damo_var *positions, int axis) {
  prop_value opt = prop_int(axis + 1);
  damo_var *in[2] = {x, positions};
  return x && positions ? build_fn(b, "take", in, 2, &opt) : NULL;
}

/* (…, n, …) → (…, n, 1, …) → (…, n, r, …) → (…, n r, …) */
static damo_var *repeat_each(build *b, damo_var *x, damo_var *repeats, int axis) {
  damo_var *wide[DAMO_MAX_NDIM], *flat[DAMO_MAX_NDIM];
  int n = var_ndim(x);
  damo_var *y = with_axis(b, x, axis + 1);
  for (int i = 0, o = 0; i < n && y; i++) {
    wide[o++] = flat[i] = build_dim(b, x, i);
    if (i != axis) continue;
    wide[o++] = repeats;
    flat[i] = times(b, flat[i], repeats);
  }
  y = y ? build_broadcast_to(b, "repeat_", y, wide, n + 1) : NULL;
  return y ? build_reshape(b, y, build_vector(b, flat, n), n) : NULL;
}

static damo_status fn_repeat(build *b, const fn_args *a, ptrvec *out) {
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  damo_var *x = build_strong(b, a->in[0]), *repeats = build_integer(b, "repeat_", "repeats", a->in[1]);
  int64_t axis = 1, known;
  int k;
  if (!x || !repeats) return b->status;
  if (a->opt[0].kind == PROP_NIL) x = build_fn1(b, "ravel", x);
  if (!x) return b->status;
  DAMO_TRY(fn_opt_int(a, 0, &axis));
  DAMO_TRY(axis_check(b->ctx, "repeat_", axis, var_ndim(x), &k));
  if (var_ndim(repeats) == 0) {
    if (var_static_int(repeats, &known) && known < 0)
      return ctx_fail(b->ctx, DAMO_EVALUE, "repeat_: repeats must not be negative, got %lld", (long long)known);
    return fn_give(b, out, repeat_each(b, x, repeats, k));
  }
  if (repeats->type->ndim == 1 && repeats->type->shape[0] >= 0 && x->type->shape[k] >= 0 &&
      repeats->type->shape[0] != x->type->shape[k])
    return ctx_fail(b->ctx, DAMO_ESHAPE, "repeat_: %lld repeats for axis %d of length %lld",
                    (long long)repeats->type->shape[0], k + 1, (long long)x->type->shape[k]);
  damo_var *positions = build_op(b, op_new(b->ctx, &positions_def, NULL, 0), &repeats, 1);
  return fn_give(b, out, take(b, x, positions, k));
}

/* ---- Roll, pad ----------------------------------------------------------------------------------------------------------------- */

/* The last (shift mod n) entries come first. */
static damo_var *roll(build *b, damo_var *x, damo_var *shift, int axis) {
  if (!x || !shift) return NULL;
  damo_var *n = build_dim(b, x, axis), *cut;
  int64_t by, length;
  if (n && var_static_int(n, &length) && var_static_int(shift, &by)) {
    by = length ? ((by % length) + length) % length : 0;
    if (by == 0) return x;
    cut = build_i64(b, length - by);
  } else {
    cut = build_fn2(b, "sub", n, build_fn2(b, "mod", shift, n));
  }
  damo_var *parts[2] = {build_slice(b, x, axis, cut, NULL, 1), build_slice(b, x, axis, NULL, cut, 1)};
  return parts[0] && parts[1] ? build_join(b, "roll", axis, parts, 2) : NULL;
}

static damo_status fn_roll(build *b, const fn_args *a, ptrvec *out) {
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  damo_var *x = build_strong(b, a->in[0]), *shift = build_integer(b, "roll", "the shift", a->in[1]);
  int axes[DAMO_MAX_NDIM], n;
  if (!x || !shift) return b->status;
  if (var_ndim(shift)) return ctx_fail(b->ctx, DAMO_ETYPE, "roll: the shift must be a scalar");
  DAMO_TRY(axes_in_order(b->ctx, "roll", &a->opt[0], var_ndim(x), axes, &n));
  if (n < 0) { /* over all entries in their order */
    damo_var *flat = roll(b, build_fn1(b, "ravel", x), shift, 0);
    return fn_give(b, out, build_reshape_like(b, flat, x));
  }
  for (int i = 0; i < n; i++) x = roll(b, x, shift, axes[i]);
  return fn_give(b, out, x);
}

/* Reads pad_width: k, {before, after}, or {{before, after}, …} an axis. */
static damo_status pad_widths(damo_ctx *ctx, const prop_value *v, int ndim, int64_t (*width)[2]) {
  for (int i = 0; i < ndim; i++) {
    const prop_value *e = v;
    if (v->kind == PROP_LIST && v->n && v->u.list[0].kind == PROP_LIST) {
      if (v->n != ndim && v->n != 1) return ctx_fail(ctx, DAMO_EVALUE, "pad: %d pairs for %d axes", v->n, ndim);
      e = &v->u.list[v->n == 1 ? 0 : i];
    }
    for (int k = 0; k < 2; k++) {
      const prop_value *w = e->kind == PROP_LIST && (e->n == 1 || e->n == 2) ? &e->u.list[e->n == 2 ? k : 0] : e;
      if (w->kind != PROP_INT || w->u.i < 0)
        return ctx_fail(ctx, DAMO_EVALUE, "pad: pad_width is a count, {before, after}, or a list of such pairs");
      width[i][k] = w->u.i;
    }
  }
  return DAMO_OK;
}

/* n + k, a constant where n is one. */
static damo_var *plus(build *b, damo_var *n, int64_t k) {
  int64_t known;
  if (!n || k == 0) return n;
  return var_static_int(n, &known) ? build_i64(b, known + k) : build_fn2(b, "add", n, build_i64(b, k));
}

/* A constant border: the middle of an array filled with the value is set. */
static damo_var *pad_constant(build *b, damo_var *x, int64_t (*width)[2], double value) {
  damo_var *dims[DAMO_MAX_NDIM], *in[2 + 2 * DAMO_MAX_NDIM], *full;
  char spec[DAMO_MAX_NDIM * 4 + 1] = "";
  int n = 2;
  for (int i = 0; i < var_ndim(x); i++) {
    damo_var *length = build_dim(b, x, i);
    dims[i] = plus(b, length, width[i][0] + width[i][1]);
    in[n++] = build_i64(b, width[i][0] + 1);
    in[n++] = plus(b, length, width[i][0]);
    strcat(spec, "s110");
  }
  if (b->status != DAMO_OK) return NULL;
  full = build_alloc(b, build_scalar(b, var_dtype(x), value), dims, var_ndim(x));
  in[0] = full;
  in[1] = x;
  prop_value opt = prop_str(spec);
  return full ? build_fn(b, "set_subtensor_at", in, n, &opt) : NULL;
}

/* The 1-based positions along one axis that the other modes read, from i = -before … n - 1 + after:
 * edge clips i; wrap is i mod n; symmetric mirrors with period 2n, reflect with period 2n - 2. */
static damo_var *pad_positions(build *b, const char *mode, damo_var *n, int64_t before, int64_t after) {
  damo_var *one = build_i64(b, 1), *zero = build_i64(b, 0);
  damo_var *i = build_range(b, build_i64(b, -before), plus(b, n, after - 1));
  damo_var *last = plus(b, n, -1);
  if (strcmp(mode, "edge") == 0) {
    i = build_fn2(b, "minimum", build_fn2(b, "maximum", i, zero), last);
  } else if (strcmp(mode, "wrap") == 0) {
    i = build_fn2(b, "mod", i, n);
  } else {
    damo_var *edge = strcmp(mode, "symmetric") == 0 ? n : last;
    damo_var *period = build_fn2(b, "mul", edge, build_i64(b, 2));
    damo_var *m = build_fn2(b, "mod", i, period);
    damo_var *back = build_fn2(b, "sub", edge == n ? build_fn2(b, "sub", period, one) : period, m);
    i = build_fn2(b, "minimum", m, back);
  }
  return build_fn2(b, "add", i, one);
}

static damo_status fn_pad(build *b, const fn_args *a, ptrvec *out) {
  const char *mode = a->opt[1].kind == PROP_STR ? a->opt[1].u.s : "constant";
  static const char *const modes[] = {"constant", "edge", "wrap", "reflect", "symmetric", NULL};
  int64_t width[DAMO_MAX_NDIM][2];
  double value = 0;
  int known = 0;
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  damo_var *x = build_strong(b, a->in[0]);
  if (!x) return b->status;
  if (a->opt[0].kind == PROP_NIL) return ctx_fail(b->ctx, DAMO_ETYPE, "pad: pad_width is missing");
  DAMO_TRY(fn_opt_num(a, 2, &value));
  DAMO_TRY(pad_widths(b->ctx, &a->opt[0], var_ndim(x), width));
  while (modes[known] && strcmp(modes[known], mode) != 0) known++;
  if (!modes[known]) {
    const char *near = suggest(mode, modes);
    return ctx_fail(b->ctx, DAMO_EVALUE, "pad: unknown mode '%s'%s%s%s", mode, near ? ", did you mean '" : "",
                    near ? near : "", near ? "'?" : "");
  }
  if (known == 0) return fn_give(b, out, pad_constant(b, x, width, value));
  for (int i = 0; x && i < var_ndim(x); i++) {
    if (width[i][0] == 0 && width[i][1] == 0) continue;
    x = take(b, x, pad_positions(b, mode, build_dim(b, x, i), width[i][0], width[i][1]), i);
  }
  return fn_give(b, out, x);
}

const op_func join_funcs[] = {
    {.name = "join",
     .operands = "axis xs...",
     .call = fn_join,
     .doc = "xs one after the other along an axis",
     .no_method = true},
    {.name = "concatenate",
     .operands = "xs...",
     .options = "axis:int",
     .call = fn_concatenate,
     .doc = "xs one after the other along an axis",
     .no_method = true},
    {.name = "stack",
     .operands = "xs...",
     .options = "axis:int",
     .call = fn_stack,
     .doc = "xs along a new axis",
     .no_method = true},
    {.name = "vstack", .operands = "xs...", .call = fn_vstack, .doc = "xs one above the other", .no_method = true},
    {.name = "hstack", .operands = "xs...", .call = fn_hstack, .doc = "xs side by side", .no_method = true},
    {.name = "split",
     .operands = "x",
     .options = "sizes:shape axis:int",
     .call = fn_split,
     .doc = "the parts of x along an axis, of these sizes; views"},
    {.name = "tile",
     .operands = "x",
     .options = "reps:shape",
     .call = fn_tile,
     .doc = "x repeated as a whole, reps times along each axis"},
    {.name = "repeat_",
     .operands = "x repeats",
     .options = "axis:int",
     .call = fn_repeat,
     .doc = "each entry repeated along an axis; of all entries in order without one"},
    {.name = "roll",
     .operands = "x shift",
     .options = "axis:axes",
     .call = fn_roll,
     .doc = "entries shifted along an axis, around its end"},
    {.name = "pad",
     .operands = "x",
     .options = "pad_width:any mode:str constant_values:num",
     .call = fn_pad,
     .doc = "a border around x: constant, edge, wrap, reflect or symmetric"},
    {.name = NULL},
};

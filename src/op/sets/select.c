/* select: selection along an axis: topk, partition; sorting by several keys.
 *
 * ArgTopK{k, axis}(x): the 1-based positions of the k greatest entries of each slice along the axis, greatest first;
 * with k < 0 of the -k least, least first. ArgPartition{kth, axis}(x): positions in an order in which those that sorting
 * would bring to the places kth stand there, smaller entries before, greater ones behind. LexSort(keys …): the positions
 * that sort by the last key, equal entries by the one before it, and so on, along the last axis. Equal entries keep the
 * order of their positions, so every result is the only one. nan is greater than every number.
 */
#include "sets_int.h"
#include "kernel/kernel.h"
#include "op/batch.h"
#include "op/elem/elem_c.h"

#include <string.h>

typedef struct select_props {
  prop_value k, axis;
} select_props;

static int select_axis(const damo_op *op) { return (int)OP_PROPS(op, select_props)->axis.u.i - 1; }

static damo_status k_check(damo_ctx *ctx, int64_t k, int64_t n, int axis) {
  if (k >= -n && k <= n) return DAMO_OK;
  return ctx_fail(ctx, DAMO_EVALUE, "topk: k is %lld, axis %d has %lld entries", (long long)k, axis + 1, (long long)n);
}

/* The workspace of a slice of n entries: items, and the entries as they are and as wide ones. */
typedef struct slice_work {
  sort_item *items; /* 2 n */
  char *numbers, *raw;
  damo_dtype dtype, wide;
  int64_t n, step;
  damo_ctx *ctx;
  int64_t since; /* entries done after the last point */
} slice_work;

static bool slice_work_make(const thunk *t, frame *f, const damo_array *x, int axis, slice_work *w) {
  w->ctx = f->ctx;
  w->since = 0;
  w->dtype = array_dtype(x);
  w->wide = sort_wide(w->dtype);
  w->n = array_shape(x)[axis];
  w->step = array_strides(x)[axis];
  const size_t n = (size_t)w->n, wide = dtype_size(w->wide);
  w->items = thunk_scratch(t, f, n * (2 * sizeof *w->items + wide + dtype_size(w->dtype)) + 64);
  if (!w->items) return false;
  w->numbers = (char *)(w->items + 2 * n);
  w->raw = w->dtype == w->wide ? w->numbers : w->numbers + n * wide;
  return true;
}

/* Reads the slice that begins at p. */
static void slice_work_read(const slice_work *w, const char *p) {
  array_copy_box(w->ctx, p, &w->step, w->raw, NULL, 1, &w->n, dtype_size(w->dtype));
  if (w->dtype != w->wide) array_cast_values(w->ctx, w->dtype, w->wide, w->raw, w->numbers, w->n);
}

static const sort_item *slice_work_sort(const slice_work *w) {
  sort_begin(w->ctx, w->items, w->n);
  return sort_by(w->ctx, w->numbers, w->wide, 1, w->items, w->items + w->n, w->n);
}

/* Writes the positions of n items, which are `step` items apart, to a slice. */
static void slice_work_write(slice_work *w, const sort_item *items, int64_t step, char *to, int64_t pitch, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    *(int64_t *)(to + i * pitch) = items[i * step].at;
    ctx_point_each(w->ctx, i, SORT_PART);
  }
  ctx_point_after(w->ctx, &w->since, 16 + w->n, SORT_PART / 4);
}

/* ---- ArgTopK ----------------------------------------------------------------------------------------------------- */

static damo_status argtopk_infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  damo_ctx *ctx = op->obj.ctx;
  const damo_type *x = in[0]->type;
  const int64_t k = OP_PROPS(op, select_props)->k.u.i;
  const int axis = select_axis(op);
  int64_t shape[DAMO_MAX_NDIM];
  if (!type_is_tensor(x) || axis >= x->ndim)
    return ctx_fail(ctx, DAMO_ETYPE, "ArgTopK: the operand must be a tensor with axis %d", axis + 1);
  if (x->shape[axis] >= 0) DAMO_TRY(k_check(ctx, k, x->shape[axis], axis));
  memcpy(shape, x->shape, (size_t)x->ndim * sizeof *shape);
  shape[axis] = k < 0 ? -k : k;
  out[0] = type_tensor(ctx, DAMO_INT64, x->ndim, shape);
  return out[0] ? DAMO_OK : damo_error_status(ctx);
}

/* A heap of k items is faster than a partition of all where few entries enter it. */
#define TOPK_HEAP_SHARE 16

/* The items of the k greatest entries, or the -k least ones, in their order; *step: the way from one to the next. */
static const sort_item *slice_topk(const slice_work *w, int64_t k, int64_t *step) {
  const int64_t count = k < 0 ? -k : k;
  *step = 1;
  if (dtype_is_complex(w->wide)) {
    const sort_item *sorted = slice_work_sort(w);
    if (k < 0) return sorted;
    *step = -1;
    return sorted + w->n - 1;
  }
  if (count * TOPK_HEAP_SHARE <= w->n) {
    sort_least(w->ctx, w->numbers, w->wide, k > 0, w->n, w->items, count);
    return w->items;
  }
  sort_fill(w->ctx, w->numbers, w->wide, k > 0, w->items, w->n);
  if (count > 0 && count < w->n) sort_select(w->ctx, w->items, w->n, count - 1);
  sort_pairs(w->ctx, w->items, count);
  return w->items;
}

static damo_status argtopk_perform(const thunk *t, frame *f) {
  const damo_array *x = thunk_in(t, f, 0);
  const int axis = select_axis(t->node->op);
  const int64_t k = OP_PROPS(t->node->op, select_props)->k.u.i, count = k < 0 ? -k : k;
  int64_t shape[DAMO_MAX_NDIM], step;
  slice_work work;
  slice_walk w;
  DAMO_TRY(k_check(f->ctx, k, array_shape(x)[axis], axis));
  memcpy(shape, array_shape(x), (size_t)x->ndim * sizeof *shape);
  shape[axis] = count;
  if (!slice_work_make(t, f, x, axis, &work)) return damo_error_status(f->ctx);
  damo_array *y = thunk_out(t, f, 0, DAMO_INT64, x->ndim, shape);
  if (!y) return damo_error_status(f->ctx);
  if (count == 0) return DAMO_OK;
  for (bool more = slice_walk_begin(&w, x, y, axis); more; more = slice_walk_next(&w)) {
    for (int64_t s = 0; s < w.count; s++) {
      slice_work_read(&work, w.p[0] + s * w.step[0]);
      const sort_item *item = slice_topk(&work, k, &step);
      char *to = w.p[1] + s * w.step[1];
      slice_work_write(&work, item, step, to, array_strides(y)[axis], count);
    }
  }
  return DAMO_OK;
}

static damo_status argtopk_emit_c(c_emit *e, const damo_apply *node) {
  const int axis = select_axis(node->op);
  const int64_t k = OP_PROPS(node->op, select_props)->k.u.i;
  const c_value *x = ce_in(e, 0);
  int64_t shape[DAMO_MAX_NDIM];
  c_nest nest;
  memcpy(shape, x->shape, (size_t)x->ndim * sizeof *shape);
  shape[axis] = k < 0 ? -k : k;
  DAMO_TRY(k_check(e->ctx, k, x->shape[axis], axis));
  const c_value *y = ce_out(e, 0, DAMO_INT64, x->ndim, shape);
  if (y == NULL || ce_size(y) == 0) return e->status;
  emit_slices(e, &nest, x, y, axis);
  emit_argsort(e, &nest, x, y, axis, k > 0 ? "1, 0" : "0, 0");
  ce_nest_close(e, &nest);
  return e->status;
}

static damo_status argtopk_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                       damo_var ***out_shape) {
  const int axis = select_axis(node->op);
  for (int i = 0; i < var_ndim(node->out[0]); i++)
    out_shape[0][i] = i == axis ? build_i64(b, node->out[0]->type->shape[i]) : in_shape[0][i];
  return b->status;
}

static damo_status argtopk_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                                 damo_var **out) {
  select_props p = *OP_PROPS(node->op, select_props);
  (void)batched;
  p.axis = prop_int(p.axis.u.i + k);
  out[0] = build_op(b, op_new(b->ctx, &argtopk_def, &p), in, 1);
  return b->status;
}

const op_def argtopk_def = {
    .name = "ArgTopK",
    .doc = "1-based positions of the k greatest entries along an axis, greatest first; k < 0: of the least",
    .props = PROPS(PROP_INTEGER(select_props, k, -PROP_FAR, PROP_FAR), PROP_AXIS(select_props, axis)),
    .n_in = 1,
    .infer_type = argtopk_infer_type,
    .perform = argtopk_perform,
    .emit_c = argtopk_emit_c,
    .grad = grad_none,
    .infer_shape = argtopk_infer_shape,
    .batch = argtopk_batch,
    .connection_pattern = connect_none,
    OP_CHECK(argtopk_check),
};

/* ---- ArgPartition ------------------------------------------------------------------------------------------------ */

typedef struct partition_props {
  prop_value kth, axis; /* a list of 1-based places, ascending, or negative */
} partition_props;

/* The 0-based places on an axis of length n, ascending; a value error for one that it does not have. */
static damo_status places_of(damo_ctx *ctx, const prop_value *kth, int64_t n, int axis, int64_t *places) {
  for (int i = 0; i < kth->n; i++) {
    const int64_t k = kth->u.list[i].u.i, at = k < 0 ? k + n : k - 1;
    int j = i;
    if (k == 0 || at < 0 || at >= n)
      return ctx_fail(ctx, DAMO_EVALUE, "partition: kth is %lld, axis %d has %lld entries", (long long)k, axis + 1,
                      (long long)n);
    for (; j > 0 && places[j - 1] > at; j--) places[j] = places[j - 1];
    places[j] = at;
  }
  return DAMO_OK;
}

#define PARTITION_MOST 64 /* places */

static damo_status argpartition_infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  (void)n_in;
  const partition_props *p = OP_PROPS(op, partition_props);
  const damo_type *x = in[0]->type;
  int64_t places[PARTITION_MOST];
  const int axis = (int)p->axis.u.i - 1;
  if (!type_is_tensor(x) || axis >= x->ndim)
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "ArgPartition: the operand must be a tensor with axis %d", axis + 1);
  if (x->shape[axis] >= 0) DAMO_TRY(places_of(op->obj.ctx, &p->kth, x->shape[axis], axis, places));
  out[0] = type_tensor(op->obj.ctx, DAMO_INT64, x->ndim, x->shape);
  return out[0] ? DAMO_OK : damo_error_status(op->obj.ctx);
}

static damo_status argpartition_perform(const thunk *t, frame *f) {
  const partition_props *p = OP_PROPS(t->node->op, partition_props);
  const damo_array *x = thunk_in(t, f, 0);
  const int axis = (int)p->axis.u.i - 1;
  int64_t places[PARTITION_MOST];
  slice_work work;
  slice_walk w;
  DAMO_TRY(places_of(f->ctx, &p->kth, array_shape(x)[axis], axis, places));
  if (!slice_work_make(t, f, x, axis, &work)) return damo_error_status(f->ctx);
  damo_array *y = thunk_out(t, f, 0, DAMO_INT64, x->ndim, array_shape(x));
  if (!y) return damo_error_status(f->ctx);
  for (bool more = slice_walk_begin(&w, x, y, axis); more && work.n > 0; more = slice_walk_next(&w)) {
    for (int64_t s = 0; s < w.count; s++) {
      const sort_item *items = work.items;
      slice_work_read(&work, w.p[0] + s * w.step[0]);
      if (dtype_is_complex(work.wide)) {
        items = slice_work_sort(&work);
      } else {
        sort_fill(f->ctx, work.numbers, work.wide, false, work.items, work.n);
        for (int64_t i = 0, from = 0; i < p->kth.n; from = places[i++] + 1)
          if (places[i] >= from) sort_select(f->ctx, work.items + from, work.n - from, places[i] - from);
      }
      char *to = w.p[1] + s * w.step[1];
      slice_work_write(&work, items, 1, to, array_strides(y)[axis], work.n);
    }
  }
  return DAMO_OK;
}

/* Sorted: of the orders that fit, another one than the virtual machine's between the places. */
static damo_status argpartition_emit_c(c_emit *e, const damo_apply *node) {
  const int axis = (int)OP_PROPS(node->op, partition_props)->axis.u.i - 1;
  const c_value *x = ce_in(e, 0), *y = ce_out(e, 0, DAMO_INT64, x->ndim, x->shape);
  c_nest nest;
  if (y == NULL || ce_size(y) == 0) return e->status;
  emit_slices(e, &nest, x, y, axis);
  emit_argsort(e, &nest, x, y, axis, "0, 0");
  ce_nest_close(e, &nest);
  return e->status;
}

static damo_status argpartition_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                                      damo_var **out) {
  partition_props p = *OP_PROPS(node->op, partition_props);
  (void)batched;
  p.axis = prop_int(p.axis.u.i + k);
  out[0] = build_op(b, op_new(b->ctx, &argpartition_def, &p), in, 1);
  return b->status;
}

const op_def argpartition_def = {
    .name = "ArgPartition",
    .doc = "1-based positions in an order with the entries at the places kth where sorting would bring them",
    .props = PROPS(PROP_INTEGERS(partition_props, kth, -PROP_FAR, PROP_FAR, 0, PARTITION_MOST),
                   PROP_AXIS(partition_props, axis)),
    .n_in = 1,
    .infer_type = argpartition_infer_type,
    .perform = argpartition_perform,
    .emit_c = argpartition_emit_c,
    .grad = grad_none,
    .infer_shape = infer_shape_same,
    .batch = argpartition_batch,
    .connection_pattern = connect_none,
    .no_check = "dense: spec/op/rows/sets.lua has results by hand and from plain loops",
};

/* ---- LexSort ----------------------------------------------------------------------------------------------------- */

static damo_status lexsort_infer_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  damo_ctx *ctx = op->obj.ctx;
  int64_t shape[DAMO_MAX_NDIM];
  char one[160], other[160];
  for (int i = 0; i < n_in; i++) {
    const damo_type *t = in[i]->type;
    if (!type_is_tensor(t) || t->ndim < 1 || t->ndim != var_ndim(in[0]))
      return ctx_fail(ctx, type_is_tensor(t) ? DAMO_ESHAPE : DAMO_ETYPE,
                      "lexsort: the keys must be tensors of one rank");
    for (int k = 0; k < t->ndim; k++) {
      if (i > 0 && shape[k] >= 0 && t->shape[k] >= 0 && shape[k] != t->shape[k])
        return ctx_fail(ctx, DAMO_ESHAPE, "lexsort: keys of shapes %s and %s",
                        shape_format(one, sizeof one, t->ndim, in[0]->type->shape),
                        shape_format(other, sizeof other, t->ndim, t->shape));
      if (i == 0 || shape[k] < 0) shape[k] = t->shape[k];
    }
  }
  if (n_in == 0) return ctx_fail(ctx, DAMO_EVALUE, "lexsort: there is no key");
  out[0] = type_tensor(ctx, DAMO_INT64, var_ndim(in[0]), shape);
  return out[0] ? DAMO_OK : damo_error_status(ctx);
}

static damo_status lexsort_perform(const thunk *t, frame *f) {
  const damo_array *x = thunk_in(t, f, 0);
  const int ndim = x->ndim;
  const int64_t n = array_shape(x)[ndim - 1], size = array_size(x);
  size_t widest = 0;
  char one[160], other[160];
  for (int i = 0; i < t->n_in; i++) {
    const damo_array *key = thunk_in(t, f, i);
    if (!array_same_shape(x, key))
      return ctx_fail(f->ctx, DAMO_ESHAPE, "lexsort: keys of shapes %s and %s",
                      shape_format(one, sizeof one, ndim, array_shape(x)),
                      shape_format(other, sizeof other, ndim, array_shape(key)));
    const size_t bytes = dtype_size(key->dtype) + dtype_size(sort_wide(array_dtype(key)));
    widest = bytes > widest ? bytes : widest;
  }
  /* All keys of one slice after the other would be read through strides; each key is read whole, for all slices. */
  const size_t items_size = (size_t)(size + n) * sizeof(sort_item);
  sort_item *items = thunk_scratch(t, f, items_size + (size_t)size * widest + 64);
  damo_array *out = items ? thunk_out(t, f, 0, DAMO_INT64, ndim, array_shape(x)) : NULL;
  if (!out) return damo_error_status(f->ctx);
  if (size == 0) return DAMO_OK;
  sort_item *work = items + size;
  int64_t since = 0;
  for (int64_t s = 0; s < size; s += n) sort_begin(f->ctx, items + s, n);
  for (int i = 0; i < t->n_in; i++) {
    const damo_array *key = thunk_in(t, f, i);
    const damo_dtype dt = array_dtype(key), wide = sort_wide(dt);
    char *numbers = (char *)items + items_size, *raw = numbers + (dt == wide ? 0 : (size_t)size * dtype_size(wide));
    array_copy_box(f->ctx, key->data, array_strides(key), raw, NULL, ndim, array_shape(key), dtype_size(dt));
    if (dt != wide) array_cast_values(f->ctx, dt, wide, raw, numbers, size);
    for (int64_t s = 0; s < size; s += n) {
      const sort_item *sorted = sort_by(f->ctx, numbers + s * (int64_t)dtype_size(wide), wide, 1, items + s, work, n);
      if (sorted == work)
        array_copy_box(f->ctx, (char *)work, (const int64_t[]){sizeof *work}, (char *)(items + s), NULL, 1, &n,
                       sizeof *work);
      ctx_point_after(f->ctx, &since, 16 + n, SORT_PART / 4);
    }
  }
  for (int64_t k = 0; k < size; k++) {
    ((int64_t *)(void *)out->data)[k] = items[k].at;
    ctx_point_each(f->ctx, k, SORT_PART);
  }
  return DAMO_OK;
}

static damo_status lexsort_emit_c(c_emit *e, const damo_apply *node) {
  const c_value *first = ce_in(e, 0), *y = ce_out(e, 0, DAMO_INT64, first->ndim, first->shape);
  const int axis = first->ndim - 1;
  if (y == NULL || ce_size(y) == 0) return e->status;
  for (int i = 0; i < node->n_in; i++) {
    const c_value *key = ce_in(e, i);
    c_nest nest;
    for (int k = 0; k <= axis; k++)
      if (key->shape[k] != y->shape[k]) return ce_refuse(e, "keys of several shapes");
    emit_slices(e, &nest, key, y, axis);
    emit_argsort(e, &nest, key, y, axis, i > 0 ? "0, 1" : "0, 0");
    ce_nest_close(e, &nest);
  }
  return e->status;
}

const op_def lexsort_def = {
    .name = "LexSort",
    .doc = "1-based positions that sort by several keys, the last one first, along the last axis",
    .n_in = OP_VARIADIC,
    .infer_type = lexsort_infer_type,
    .perform = lexsort_perform,
    .emit_c = lexsort_emit_c,
    .grad = grad_none,
    .infer_shape = infer_shape_same,
    .batch = batch_same_op_agreed,
    .connection_pattern = connect_none,
    .no_check = "dense: spec/op/rows/sets.lua has results by hand and from plain loops",
};

/* ---- Functions --------------------------------------------------------------------------------------------------- */

static damo_status select_call(build *b, const fn_args *a, damo_var **x, int *axis) {
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  *x = build_strong(b, a->in[0]);
  if (!*x) return b->status;
  if (var_ndim(*x) == 0) return ctx_fail(b->ctx, DAMO_ESHAPE, "%s: the operand has no axis", a->func->name);
  return axis_check(b->ctx, a->func->name, prop_int_or(FN_OPTIONS(a, select_options)->axis, -1), var_ndim(*x), axis);
}

static damo_status topk_places(build *b, const fn_args *a, damo_var **x, int *axis, damo_var **places) {
  const prop_value k = FN_OPTIONS(a, select_options)->k;
  DAMO_TRY(select_call(b, a, x, axis));
  if (!prop_given(k)) return ctx_fail(b->ctx, DAMO_ETYPE, "%s: the option k is missing", a->func->name);
  const select_props p = {.k = k, .axis = prop_int(*axis + 1)};
  if (k.u.i < -INT64_MAX) /* it has no modulus */
    return ctx_fail(b->ctx, DAMO_EVALUE, "%s: k is %lld, no axis has as many entries", a->func->name, (long long)k.u.i);
  *places = build_op(b, op_new(b->ctx, &argtopk_def, &p), x, 1);
  return b->status;
}

damo_status fn_argtopk(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x, *places;
  int axis;
  DAMO_TRY(topk_places(b, a, &x, &axis, &places));
  return fn_give(b, out, places);
}

damo_status fn_topk(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x, *places;
  int axis;
  DAMO_TRY(topk_places(b, a, &x, &axis, &places));
  return fn_give(b, out, build_take_along_axis(b, x, places, axis));
}

static damo_status partition_places(build *b, const fn_args *a, damo_var **x, int *axis, damo_var **places) {
  const prop_value kth = FN_OPTIONS(a, select_options)->kth;
  DAMO_TRY(select_call(b, a, x, axis));
  if (kth.kind != PROP_LIST) return ctx_fail(b->ctx, DAMO_ETYPE, "%s: the option kth is missing", a->func->name);
  if (kth.n > PARTITION_MOST)
    return ctx_fail(b->ctx, DAMO_EVALUE, "%s: %d places kth, at most %d", a->func->name, kth.n, PARTITION_MOST);
  const partition_props p = {.kth = kth, .axis = prop_int(*axis + 1)};
  *places = build_op(b, op_new(b->ctx, &argpartition_def, &p), x, 1);
  return b->status;
}

damo_status fn_argpartition(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x, *places;
  int axis;
  DAMO_TRY(partition_places(b, a, &x, &axis, &places));
  return fn_give(b, out, places);
}

damo_status fn_partition(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x, *places;
  int axis;
  DAMO_TRY(partition_places(b, a, &x, &axis, &places));
  return fn_give(b, out, build_take_along_axis(b, x, places, axis));
}

/* The axis goes to the end for LexSort, and the result's back. */
damo_status fn_lexsort(build *b, const fn_args *a, ptrvec *out) {
  int pattern[DAMO_MAX_NDIM], back[DAMO_MAX_NDIM], axis, n = 0;
  if (a->n_in == 0) return ctx_fail(b->ctx, DAMO_EVALUE, "lexsort: there is no key");
  for (int i = 0; i < a->n_in; i++) DAMO_TRY(fn_check_tensor(a, b->ctx, i));
  damo_var *first = build_strong(b, a->in[0]);
  if (!first) return b->status;
  const int ndim = var_ndim(first);
  if (ndim == 0) return ctx_fail(b->ctx, DAMO_ESHAPE, "lexsort: the keys have no axis");
  DAMO_TRY(axis_check(b->ctx, "lexsort", prop_int_or(FN_OPTIONS(a, axis_options)->axis, -1), ndim, &axis));
  for (int i = 0; i < ndim; i++) {
    if (i != axis) pattern[n++] = i;
  }
  pattern[n] = axis;
  for (int i = 0; i < ndim; i++) back[pattern[i]] = i;
  damo_var **keys = mem_alloc(b->ctx, (size_t)a->n_in * sizeof *keys);
  if (!keys) return DAMO_EMEMORY;
  for (int i = 0; i < a->n_in; i++) {
    damo_var *key = build_strong(b, a->in[i]);
    if (key && var_ndim(key) != ndim) build_fail(b, DAMO_ESHAPE, "lexsort: the keys must be tensors of one rank");
    keys[i] = b->status == DAMO_OK ? build_dimshuffle(b, key, pattern, ndim) : NULL;
  }
  damo_var *order = b->status == DAMO_OK ? build_op(b, op_new(b->ctx, &lexsort_def, NULL), keys, a->n_in) : NULL;
  mem_free(b->ctx, keys, (size_t)a->n_in * sizeof *keys);
  return fn_give(b, out, order ? build_dimshuffle(b, order, back, ndim) : NULL);
}

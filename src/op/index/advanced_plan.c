/* advanced_plan: how a run of an advanced index reads or writes x: the layout of the result, the offset of each entry
 * of B, and the walk over both arrays.
 */
#include "advanced.h"

#include <string.h>

int64_t adv_count_true(const damo_array *mask) {
  int64_t numbers[ND_NUMBERS(DAMO_MAX_NDIM, 1)], count = 0;
  char *p = mask->data;
  nd_space s;
  nd_walk w;
  nd_space_init(&s, numbers, mask->ndim, array_shape(mask), 1, (const int64_t *const[]){array_strides(mask)});
  const int64_t n = nd_space_inner(&s), step = nd_inner_stride(&s, 0);
  for (bool more = nd_begin(&w, &s); more; more = nd_next(&w, &p))
    for (int64_t i = 0; i < n; i++) count += p[i * step] != 0;
  return count;
}

bool adv_lists_adjacent(const index_spec *spec) {
  int state = 0; /* 0 before, 1 among, 2 after the lists */
  for (int i = 0; i < spec->n; i++) {
    bool list = spec->item[i].kind == ITEM_LIST || spec->item[i].kind == ITEM_POSITION;
    if (list && state == 2) return false;
    if (list)
      state = 1;
    else if (state == 1)
      state = 2;
  }
  return true;
}

damo_status adv_bad_mask(damo_ctx *ctx, int axis, int64_t length, int64_t n) {
  return ctx_fail(ctx, DAMO_EINDEX, "index: a mask of length %lld on axis %d of length %lld", (long long)length,
                  axis + 1, (long long)n);
}

damo_status adv_too_many_axes(damo_ctx *ctx) {
  return ctx_fail(ctx, DAMO_EINDEX, "index: the result has more than %d axes", DAMO_MAX_NDIM);
}

/* ---- Planning ---------------------------------------------------------------------------------------------------- */

damo_status adv_layout_push(damo_ctx *ctx, adv_layout *l, int64_t length, int64_t stride) {
  if (l->n[0] + l->n[1] == DAMO_MAX_NDIM) return adv_too_many_axes(ctx);
  l->shape[l->side][l->n[l->side]] = length;
  l->strides[l->side][l->n[l->side]++] = stride;
  return DAMO_OK;
}

static damo_status layout_list(damo_ctx *ctx, adv_layout *l, const advindex_list_shape *s) {
  char a[160], c[160];
  int n = 0;
  int64_t shape[DAMO_MAX_NDIM];
  if (!shape_broadcast(l->n_b, l->b_shape, s->ndim, s->shape, &n, shape))
    return ctx_fail(ctx, DAMO_EINDEX, "index: lists of shapes %s and %s do not broadcast together",
                    shape_format(a, sizeof a, l->n_b, l->b_shape), shape_format(c, sizeof c, s->ndim, s->shape));
  l->n_b = n;
  memcpy(l->b_shape, shape, (size_t)n * sizeof *shape);
  return DAMO_OK;
}

static advindex_list_shape shape_of_list(const damo_array *a) {
  advindex_list_shape s = {.ndim = a->ndim};
  if (adv_is_mask(array_dtype(a), a->ndim)) {
    s.ndim = 1;
    s.shape[0] = adv_count_true(a);
  } else {
    memcpy(s.shape, array_shape(a), (size_t)a->ndim * sizeof *s.shape);
  }
  return s;
}

static damo_status plan_list(const thunk *t, frame *f, int first, const index_item *it, const int64_t *shape, int *axis,
                             adv_layout *l, adv_plan *p) {
  const damo_array *a = thunk_in(t, f, first + it->operand);
  advindex_list_shape s = shape_of_list(a);
  bool mask = adv_is_mask(array_dtype(a), a->ndim);
  for (int k = 0; mask && k < a->ndim; k++)
    if (array_shape(a)[k] != shape[*axis + k])
      return adv_bad_mask(f->ctx, *axis + k, array_shape(a)[k], shape[*axis + k]);
  DAMO_TRY(layout_list(f->ctx, l, &s));
  int64_t n = 1;
  for (int k = 0; k < s.ndim; k++) n *= s.shape[k];
  if (n > p->longest) p->longest = n;
  p->list[p->n_lists++] = (adv_list){it->operand, *axis};
  *axis += mask ? a->ndim : 1;
  l->side = 1;
  return DAMO_OK;
}

/* A list with one entry at run time broadcasts only where its length was known when the node was made. */
static damo_status check_late_ones(const thunk *t, frame *f, int first, const adv_layout *l, const adv_plan *p) {
  char a[160], c[160], hint[320];
  for (int i = 0; i < p->n_lists; i++) {
    const damo_var *v = t->node->in[first + p->list[i].operand];
    const advindex_list_shape s = shape_of_list(thunk_in(t, f, first + p->list[i].operand));
    const bool mask = adv_is_mask(var_dtype(v), var_ndim(v));
    for (int k = 0; k < s.ndim; k++) {
      const bool known = mask ? var_constant_array(v) != NULL : type_dim_is_one(v->type, k);
      if (s.shape[k] != 1 || known || l->b_shape[l->n_b - s.ndim + k] == 1) continue;
      shape_format(a, sizeof a, s.ndim, s.shape);
      shape_format(c, sizeof c, l->n_b, l->b_shape);
      if (mask)
        return ctx_fail(f->ctx, DAMO_EINDEX,
                        "index: a mask with one true entry does not broadcast to lists of shape %s", c);
      return ctx_fail(f->ctx, DAMO_EINDEX, "index: a list of shape %s does not broadcast to %s: axis %d %s", a, c,
                      k + 1, broadcast_hint(hint, sizeof hint, v->type, k));
    }
  }
  return DAMO_OK;
}

static damo_status plan_range(const thunk *t, frame *f, int first, const index_item *it, int axis, const int64_t *shape,
                              const int64_t *strides, adv_layout *l, adv_plan *p) {
  int64_t v[3] = {0, 0, 1}, from, count;
  for (int k = 0, at = first + it->operand; k < 3; k++)
    if (it->given >> k & 1) v[k] = array_int(thunk_in(t, f, at++));
  DAMO_TRY(range_resolve(f->ctx, "index", axis, shape[axis], it->given & 1 ? &v[0] : NULL, it->given & 2 ? &v[1] : NULL,
                         v[2], &from, &count));
  p->base += from * strides[axis];
  return adv_layout_push(f->ctx, l, count, count > 1 ? strides[axis] * v[2] : strides[axis]);
}

/* Writes the shape and strides of [pre] B [post] into the plan. */
static damo_status plan_finish(damo_ctx *ctx, const adv_layout *l, adv_plan *p) {
  p->n_pre = l->n[0], p->n_b = l->n_b, p->n_post = l->n[1];
  p->ndim = p->n_pre + p->n_b + p->n_post;
  if (p->ndim > DAMO_MAX_NDIM) return adv_too_many_axes(ctx);
  for (int i = 0; i < p->n_pre; i++) p->shape[i] = l->shape[0][i], p->strides[i] = l->strides[0][i];
  for (int i = 0; i < p->n_b; i++) p->shape[p->n_pre + i] = l->b_shape[i], p->strides[p->n_pre + i] = 0;
  for (int i = 0, o = p->n_pre + p->n_b; i < p->n_post; i++, o++)
    p->shape[o] = l->shape[1][i], p->strides[o] = l->strides[1][i];
  return shape_size(ctx, p->n_b, l->b_shape, &p->entries);
}

damo_status adv_plan_make(const thunk *t, frame *f, int first, int ndim, const int64_t *shape, const int64_t *strides,
                          adv_plan *p) {
  const index_spec *spec = t->node->op->data;
  index_axes axes;
  int rank[INDEX_MAX_ITEMS * 3], axis = 0;
  adv_layout l = {.side = adv_lists_adjacent(spec) ? 0 : 1};
  p->n_lists = 0;
  p->base = p->longest = 0;
  for (int i = 0; i < spec->n_operands; i++) {
    const damo_array *a = thunk_in(t, f, first + i);
    rank[i] = adv_is_mask(array_dtype(a), a->ndim) ? a->ndim : 1;
  }
  DAMO_TRY(index_axes_of(f->ctx, "index", spec, ndim, rank, &axes));
  for (int i = 0; i <= spec->n; i++) {
    for (int k = 0; i == axes.fill_at && k < axes.fill; k++, axis++)
      DAMO_TRY(adv_layout_push(f->ctx, &l, shape[axis], strides[axis]));
    if (i == spec->n) break;
    const index_item *it = &spec->item[i];
    if (it->kind == ITEM_NEWAXIS) DAMO_TRY(adv_layout_push(f->ctx, &l, 1, 0));
    if (it->kind == ITEM_RANGE) DAMO_TRY(plan_range(t, f, first, it, axis++, shape, strides, &l, p));
    if (it->kind == ITEM_LIST || it->kind == ITEM_POSITION) DAMO_TRY(plan_list(t, f, first, it, shape, &axis, &l, p));
  }
  DAMO_TRY(check_late_ones(t, f, first, &l, p));
  return plan_finish(f->ctx, &l, p);
}

/* ---- Offsets ----------------------------------------------------------------------------------------------------- */

/* The byte offsets of the true entries of a mask. */
static void mask_offsets(const damo_array *a, const int64_t *strides, int64_t *out) {
  const int last = a->ndim - 1; /* a mask has at least one axis */
  array_rows r;
  for (char *p = rows_begin(&r, a); p; p = rows_next(&r, p)) {
    int64_t offset = 0;
    for (int i = 0; i < last; i++) offset += r.walk.at[i] * strides[i];
    for (int64_t k = 0; k < r.length; k++)
      if (p[k * r.step]) *out++ = offset + k * strides[last];
  }
}

/* The byte offsets along `axis` of the positions in a list, in C order of the list. */
static damo_status list_offsets(damo_ctx *ctx, const damo_array *a, int axis, const int64_t *shape,
                                const int64_t *strides, int64_t *out) {
  if (adv_is_mask(array_dtype(a), a->ndim)) {
    mask_offsets(a, strides + axis, out);
    return DAMO_OK;
  }
  array_entries e;
  for (const char *p = entries_begin(&e, a); p; p = entries_next(&e)) {
    int64_t at;
    DAMO_TRY(position_resolve(ctx, "index", axis, shape[axis], *(const int64_t *)p, &at));
    *out++ = at * strides[axis];
  }
  return DAMO_OK;
}

/* total += part, which broadcasts from shape s to B. */
static void add_offsets(const adv_plan *p, const advindex_list_shape *s, int64_t *part, int64_t *total) {
  const int64_t *b_shape = p->shape + p->n_pre;
  int64_t step[DAMO_MAX_NDIM], numbers[ND_NUMBERS(DAMO_MAX_NDIM, 1)], stride = sizeof(int64_t);
  char *row = (char *)part;
  nd_space b;
  nd_walk w;
  int lead = p->n_b - s->ndim;
  for (int i = p->n_b - 1; i >= 0; i--) {
    int64_t n = i < lead ? 1 : s->shape[i - lead];
    step[i] = n == 1 ? 0 : stride;
    stride *= n;
  }
  nd_space_init(&b, numbers, p->n_b, b_shape, 1, (const int64_t *const[]){step});
  const int64_t n = nd_space_inner(&b), inner = nd_inner_stride(&b, 0);
  for (bool more = nd_begin(&w, &b); more; more = nd_next(&w, &row))
    for (int64_t i = 0; i < n; i++) *total++ += *(const int64_t *)(row + i * inner);
}

size_t adv_offsets_bytes(const adv_plan *p) { return (size_t)(p->entries + p->longest + 1) * sizeof(int64_t); }

damo_status adv_plan_offsets(const thunk *t, frame *f, int first, const adv_plan *p, const int64_t *shape,
                             const int64_t *strides, int64_t *work) {
  int64_t *part = work + p->entries;
  for (int64_t k = 0; k < p->entries; k++) work[k] = p->base;
  for (int i = 0; i < p->n_lists; i++) {
    const damo_array *a = thunk_in(t, f, first + p->list[i].operand);
    advindex_list_shape s = shape_of_list(a);
    DAMO_TRY(list_offsets(f->ctx, a, p->list[i].axis, shape, strides, part));
    add_offsets(p, &s, part, work);
  }
  return DAMO_OK;
}

/* ---- Moving ------------------------------------------------------------------------------------------------------ */

/* The size in bytes of the post axes when they are C-contiguous in both arrays, else -1. */
static int64_t contiguous_bytes(const adv_plan *p, const int64_t *other, size_t size) {
  int64_t step = (int64_t)size;
  for (int i = p->ndim - 1; i >= p->n_pre + p->n_b; i--) {
    if (p->shape[i] != 1 && (p->strides[i] != step || other[i] != step)) return -1;
    step *= p->shape[i];
  }
  return step;
}

void adv_walk(const adv_plan *p, damo_dtype dtype, adv_move move, char *x, const int64_t *offsets, char *other,
              const int64_t *other_strides) {
  const int post = p->n_pre + p->n_b;
  const int64_t row = move == ADV_ADD ? -1 : contiguous_bytes(p, other_strides, dtype_size(dtype));
  const int64_t *xs = p->strides + post, *os = other_strides + post, *shape = p->shape + post;
  int64_t numbers[ND_NUMBERS(DAMO_MAX_NDIM, 2)], entry = 0;
  char *rows[2] = {x, other};
  nd_space s;
  nd_walk w;
  for (int i = post; i < p->ndim; i++)
    if (p->shape[i] == 0) return;
  nd_space_init(&s, numbers, post, p->shape, 2, (const int64_t *const[]){p->strides, other_strides});
  const int64_t n = nd_space_inner(&s), x_step = nd_inner_stride(&s, 0), other_step = nd_inner_stride(&s, 1);
  for (bool more = nd_begin(&w, &s); more; more = nd_next(&w, rows)) {
    for (int64_t k = 0; k < n; k++) {
      char *at = rows[0] + k * x_step + offsets[entry], *y = rows[1] + k * other_step;
      if (row >= 0)
        memcpy(move == ADV_READ ? y : at, move == ADV_READ ? at : y, (size_t)row);
      else if (move == ADV_READ)
        box_move(dtype, false, y, os, at, xs, p->n_post, shape);
      else
        box_move(dtype, move == ADV_ADD, at, xs, y, os, p->n_post, shape);
      entry = entry + 1 == p->entries ? 0 : entry + 1;
    }
  }
}

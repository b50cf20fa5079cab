/* advanced: indexing by integer lists and boolean masks: AdvancedSubtensor, AdvancedIncSubtensor. subtensor.c has the
 * spec and the functions.
 *
 * As in NumPy, lists (and positions beside them) broadcast together to a shape B; a mask stands for the list of
 * positions of its true entries, and takes as many axes of x as it has. The axes of B take the place of the first list
 * when all lists are adjacent, else they come first. The result's shape is [pre] B [post], pre and post being the axes
 * that ranges leave. Each entry of B has one offset into x, to which pre and post add theirs by strides.
 *
 * A run plans the layout of the result, computes the offset of each entry of B, and walks over both arrays. The Type is
 * the same layout as far as the operands' Types and constants give it; constant lists are checked when it is made.
 */
#include <string.h>

#include "index_c.h"
#include "index_int.h"
#include "kernel/kernel.h"

typedef struct adv_list {
  int operand, axis; /* axis: the first axis of x that it takes */
} adv_list;

typedef struct adv_plan {
  int ndim, n_pre, n_b, n_post, n_lists; /* ndim: of the result */
  int64_t shape[DAMO_MAX_NDIM];          /* pre, B, post */
  int64_t strides[DAMO_MAX_NDIM];        /* in x; 0 in B */
  int64_t base, entries, longest;        /* entries of B; of the longest list */
  adv_list list[INDEX_MAX_ITEMS];
} adv_plan;

/* The shape with which a list broadcasts; a mask's is that of the vector of its true entries. */
typedef struct advindex_list_shape {
  int ndim;
  int64_t shape[DAMO_MAX_NDIM];
} advindex_list_shape;

/* The result's layout under construction: the axes before B (0) and after it (1), and B. */
typedef struct adv_layout {
  int n[2];
  int64_t shape[2][DAMO_MAX_NDIM], strides[2][DAMO_MAX_NDIM];
  int n_b;
  int64_t b_shape[DAMO_MAX_NDIM];
  int side; /* where the next range goes: 0 before B, 1 after it */
} adv_layout;

/* Whether an operand of that dtype and rank is a mask. */
static inline bool adv_is_mask(damo_dtype dtype, int ndim) { return dtype == DAMO_BOOL && ndim > 0; }

typedef enum adv_move { ADV_READ, ADV_SET, ADV_ADD } adv_move;

static int64_t adv_count_true(const damo_array *mask) {
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

bool index_lists_adjacent(const index_spec *spec) {
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

/* The errors of a mask that does not fit its axis, and of a result with too many axes. */
static damo_status adv_bad_mask(damo_ctx *ctx, int axis, int64_t length, int64_t n) {
  return ctx_fail(ctx, DAMO_EINDEX, "index: a mask of length %lld on axis %d of length %lld", (long long)length,
                  axis + 1, (long long)n);
}

static damo_status adv_too_many_axes(damo_ctx *ctx) {
  return ctx_fail(ctx, DAMO_EINDEX, "index: the result has more than %d axes", DAMO_MAX_NDIM);
}

/* ---- Planning ---------------------------------------------------------------------------------------------------- */

/* Adds an axis before or after B, as l->side says. */
static damo_status adv_layout_push(damo_ctx *ctx, adv_layout *l, int64_t length, int64_t stride) {
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

/* The plan without its offsets, for an x of that shape and those strides (in bytes). The index operands are the inputs
 * from `first` on. */
static damo_status adv_plan_make(const thunk *t, frame *f, int first, int ndim, const int64_t *shape,
                                 const int64_t *strides, adv_plan *p) {
  const index_spec *spec = t->node->op->data;
  index_axes axes;
  int rank[INDEX_MAX_ITEMS * 3], axis = 0;
  adv_layout l = {.side = index_lists_adjacent(spec) ? 0 : 1};
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
    if (it->kind == ITEM_RANGE) {
      int64_t v[3] = {0, 0, 1}, from, count;
      for (int k = 0, at = first + it->operand; k < 3; k++)
        if (it->given >> k & 1) v[k] = array_int(thunk_in(t, f, at++));
      DAMO_TRY(range_resolve(f->ctx, "index", axis, shape[axis], it->given & 1 ? &v[0] : NULL,
                             it->given & 2 ? &v[1] : NULL, v[2], &from, &count));
      p->base += from * strides[axis];
      DAMO_TRY(adv_layout_push(f->ctx, &l, count, count > 1 ? strides[axis] * v[2] : strides[axis]));
      axis++;
    }
    if (it->kind == ITEM_LIST || it->kind == ITEM_POSITION) {
      const damo_array *a = thunk_in(t, f, first + it->operand);
      const advindex_list_shape s = shape_of_list(a);
      const bool mask = adv_is_mask(array_dtype(a), a->ndim);
      for (int k = 0; mask && k < a->ndim; k++)
        if (array_shape(a)[k] != shape[axis + k])
          return adv_bad_mask(f->ctx, axis + k, array_shape(a)[k], shape[axis + k]);
      DAMO_TRY(layout_list(f->ctx, &l, &s));
      int64_t n = 1;
      for (int k = 0; k < s.ndim; k++) n *= s.shape[k];
      if (n > p->longest) p->longest = n;
      p->list[p->n_lists++] = (adv_list){it->operand, axis};
      axis += rank[it->operand];
      l.side = 1;
    }
  }
  DAMO_TRY(check_late_ones(t, f, first, &l, p));
  return plan_finish(f->ctx, &l, p);
}

/* ---- Offsets ----------------------------------------------------------------------------------------------------- */

#define ADV_PART 2048 /* elements between two points */

/* After n more elements. */
static inline void adv_point(damo_ctx *ctx, int64_t *since, int64_t n) {
  if ((*since += n) < ADV_PART) return;
  *since = 0;
  ctx_set_due(ctx);
  ctx_point(ctx);
}

/* The byte offsets of the true entries of a mask. */
static void mask_offsets(damo_ctx *ctx, const damo_array *a, const int64_t *strides, int64_t *out) {
  const int last = a->ndim - 1; /* a mask has at least one axis */
  int64_t since = 0;
  array_rows r;
  for (char *p = rows_begin(&r, a); p; p = rows_next(&r, p)) {
    int64_t offset = 0;
    adv_point(ctx, &since, 16);
    for (int i = 0; i < last; i++) offset += r.walk.at[i] * strides[i];
    for (int64_t k = 0; k < r.length; k++) {
      if (p[k * r.step]) *out++ = offset + k * strides[last];
      ctx_point_each(ctx, k, ADV_PART);
    }
  }
}

/* The byte offsets along `axis` of the positions in a list, in C order of the list. */
static damo_status list_offsets(damo_ctx *ctx, const damo_array *a, int axis, const int64_t *shape,
                                const int64_t *strides, int64_t *out) {
  if (adv_is_mask(array_dtype(a), a->ndim)) {
    mask_offsets(ctx, a, strides + axis, out);
    return DAMO_OK;
  }
  const int64_t n = shape[axis], stride = strides[axis];
  int64_t since = 0;
  array_rows r;
  for (char *p = rows_begin(&r, a); p; p = rows_next(&r, p)) {
    for (int64_t k = 0; k < r.length;) {
      const int64_t first = k, end = r.length - k < ADV_PART ? r.length : k + ADV_PART;
      for (; k < end; k++) {
        const int64_t position = *(const int64_t *)(p + k * r.step);
        int64_t at = position > 0 ? position - 1 : position + n;
        if (position == 0 || (uint64_t)at >= (uint64_t)n)
          DAMO_TRY(position_resolve(ctx, "index", axis, n, position, &at)); /* with its error */
        *out++ = at * stride;
      }
      adv_point(ctx, &since, end - first);
    }
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

static size_t adv_offsets_bytes(const adv_plan *p) { return (size_t)(p->entries + p->longest + 1) * sizeof(int64_t); }

/* The byte offset into x of each entry of B, into work, which has adv_offsets_bytes bytes. */
static damo_status adv_plan_offsets(const thunk *t, frame *f, int first, const adv_plan *p, const int64_t *shape,
                                    const int64_t *strides, int64_t *work) {
  int64_t *part = work + p->entries;
  if (p->n_lists == 1 && p->base == 0 && p->longest == p->entries)
    return list_offsets(f->ctx, thunk_in(t, f, first + p->list[0].operand), p->list[0].axis, shape, strides, work);
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

/* Moves entries between x (at the plan's offsets) and `other`, whose strides are over the plan's shape. */
static void adv_walk(damo_ctx *ctx, const adv_plan *p, damo_dtype dtype, adv_move move, char *x, const int64_t *offsets,
                     char *other, const int64_t *other_strides) {
  const int post = p->n_pre + p->n_b;
  const int64_t row = move == ADV_ADD ? -1 : contiguous_bytes(p, other_strides, dtype_size(dtype));
  const int64_t *xs = p->strides + post, *os = other_strides + post, *shape = p->shape + post;
  int64_t numbers[ND_NUMBERS(DAMO_MAX_NDIM, 2)], entry = 0, since = 0, each = 1;
  char *rows[2] = {x, other};
  nd_space s;
  nd_walk w;
  for (int i = post; i < p->ndim; i++)
    if (p->shape[i] == 0) return;
  nd_space_init(&s, numbers, post, p->shape, 2, (const int64_t *const[]){p->strides, other_strides});
  for (int i = post; i < p->ndim; i++) each *= p->shape[i];
  const int64_t n = nd_space_inner(&s), x_step = nd_inner_stride(&s, 0), other_step = nd_inner_stride(&s, 1);
  for (bool more = nd_begin(&w, &s); more; more = nd_next(&w, rows)) {
    if (n == p->entries && p->n_b > 0 && row == 8 && move == ADV_READ) { /* one entry of eight bytes for each offset */
      for (int64_t k = 0; k < n;) {
        const int64_t end = n - k < ADV_PART ? n : k + ADV_PART;
        for (; k < end; k++) memcpy(rows[1] + k * other_step, rows[0] + k * x_step + offsets[k], 8);
        adv_point(ctx, &since, ADV_PART);
      }
      continue;
    }
    for (int64_t k = 0; k < n; k++) {
      char *at = rows[0] + k * x_step + offsets[entry], *y = rows[1] + k * other_step;
      if (row >= 0)
        memcpy(move == ADV_READ ? y : at, move == ADV_READ ? at : y, (size_t)row);
      else if (move == ADV_READ)
        box_move(dtype, false, y, os, at, xs, p->n_post, shape);
      else
        box_move(dtype, move == ADV_ADD, at, xs, y, os, p->n_post, shape);
      entry = entry + 1 == p->entries ? 0 : entry + 1;
      adv_point(ctx, &since, each);
    }
  }
}

/* ---- Types ------------------------------------------------------------------------------------------------------- */

/* Broadcasts the static shape s into B; -1 where a length is not known. */
static damo_status static_broadcast(damo_ctx *ctx, adv_layout *l, const advindex_list_shape *s) {
  int n = l->n_b > s->ndim ? l->n_b : s->ndim;
  int64_t out[DAMO_MAX_NDIM];
  for (int i = 0; i < n; i++) {
    int64_t a = i < n - l->n_b ? 1 : l->b_shape[i - (n - l->n_b)],
            c = i < n - s->ndim ? 1 : s->shape[i - (n - s->ndim)];
    if (a > 1 && c > 1 && a != c)
      return ctx_fail(ctx, DAMO_EINDEX, "index: lists of lengths %lld and %lld do not broadcast together", (long long)a,
                      (long long)c);
    out[i] = a == 1 ? c : c == 1 || a >= 0 ? a : c;
  }
  l->n_b = n;
  memcpy(l->b_shape, out, (size_t)n * sizeof *out);
  return DAMO_OK;
}

/* A constant list on an axis of known length is checked when the node is made. */
static damo_status advindex_check_positions(damo_ctx *ctx, const damo_var *v, int axis, int64_t n) {
  const damo_array *a = var_constant_array(v);
  int64_t at;
  array_entries e;
  if (!a || n < 0) return DAMO_OK;
  for (const char *p = entries_begin(&e, a); p; p = entries_next(&e))
    DAMO_TRY(position_resolve(ctx, "index", axis, n, scalar_to_int64(scalar_load(array_dtype(a), p)), &at));
  return DAMO_OK;
}

static damo_status static_list(damo_ctx *ctx, const damo_var *v, const damo_type *x, int *axis, adv_layout *l) {
  advindex_list_shape s = {.ndim = var_ndim(v)};
  if (adv_is_mask(var_dtype(v), var_ndim(v))) {
    for (int k = 0; k < var_ndim(v); k++) {
      int64_t m = v->type->shape[k], n = x->shape[*axis + k];
      if (m >= 0 && n >= 0 && m != n) return adv_bad_mask(ctx, *axis + k, m, n);
    }
    s.ndim = 1;
    s.shape[0] = var_constant_array(v) ? adv_count_true(var_constant_array(v)) : -1;
    *axis += var_ndim(v);
  } else {
    memcpy(s.shape, v->type->shape, (size_t)s.ndim * sizeof *s.shape);
    DAMO_TRY(advindex_check_positions(ctx, v, *axis, x->shape[*axis]));
    *axis += 1;
  }
  l->side = 1;
  return static_broadcast(ctx, l, &s);
}

static damo_status advindex_check_operands(const damo_op *op, const damo_type *x, damo_var *const *idx, int n_idx,
                                           int *rank) {
  damo_ctx *ctx = op->obj.ctx;
  const index_spec *spec = op->data;
  if (!type_is_tensor(x)) return ctx_fail(ctx, DAMO_ETYPE, "index: the operand must be a tensor");
  if (n_idx != spec->n_operands)
    return ctx_fail(ctx, DAMO_ETYPE, "index: %d operands for spec '%s'", n_idx, OP_PROPS(op, index_props)->spec.u.s);
  for (int i = 0; i < n_idx; i++) {
    const damo_type *t = idx[i]->type;
    bool mask = type_is_tensor(t) && adv_is_mask(t->dtype, t->ndim);
    if (!mask && (!type_is_tensor(t) || t->dtype != DAMO_INT64))
      return ctx_fail(ctx, DAMO_ETYPE, "index: a list must be integers or a boolean mask");
    rank[i] = mask ? t->ndim : 1;
  }
  return DAMO_OK;
}

/* The static adv_layout of x[spec]. */
static damo_status static_layout(const damo_op *op, const damo_type *x, damo_var *const *idx, int n_idx,
                                 adv_layout *l) {
  damo_ctx *ctx = op->obj.ctx;
  const index_spec *spec = op->data;
  index_axes axes;
  int rank[3 * INDEX_MAX_ITEMS], axis = 0;
  int64_t count;
  *l = (adv_layout){.side = index_lists_adjacent(spec) ? 0 : 1};
  DAMO_TRY(advindex_check_operands(op, x, idx, n_idx, rank));
  DAMO_TRY(index_axes_of(ctx, "index", spec, x->ndim, rank, &axes));
  for (int i = 0; i <= spec->n; i++) {
    for (int k = 0; i == axes.fill_at && k < axes.fill; k++) DAMO_TRY(adv_layout_push(ctx, l, x->shape[axis++], 0));
    if (i == spec->n) break;
    const index_item *it = &spec->item[i];
    damo_var *ends[3];
    if (it->kind == ITEM_NEWAXIS) DAMO_TRY(adv_layout_push(ctx, l, 1, 0));
    if (it->kind == ITEM_LIST || it->kind == ITEM_POSITION) DAMO_TRY(static_list(ctx, idx[it->operand], x, &axis, l));
    if (it->kind != ITEM_RANGE) continue;
    range_ends(it, idx, ends);
    DAMO_TRY(range_static(ctx, "index", axis, x->shape[axis], ends, &count));
    axis++;
    DAMO_TRY(adv_layout_push(ctx, l, count, 0));
  }
  return DAMO_OK;
}

/* The Type of x[spec]. */
static damo_status adv_type(const damo_op *op, const damo_type *x, damo_var *const *idx, int n_idx, damo_type **out) {
  adv_layout l;
  adv_plan p;
  DAMO_TRY(static_layout(op, x, idx, n_idx, &l));
  int n = l.n[0] + l.n_b + l.n[1];
  if (n > DAMO_MAX_NDIM) return adv_too_many_axes(op->obj.ctx);
  memcpy(p.shape, l.shape[0], (size_t)l.n[0] * sizeof(int64_t));
  memcpy(p.shape + l.n[0], l.b_shape, (size_t)l.n_b * sizeof(int64_t));
  memcpy(p.shape + l.n[0] + l.n_b, l.shape[1], (size_t)l.n[1] * sizeof(int64_t));
  *out = type_tensor(op->obj.ctx, x->dtype, n, p.shape);
  return *out ? DAMO_OK : DAMO_EMEMORY;
}

/* ---- Lengths ----------------------------------------------------------------------------------------------------- */

/* A length of B out of two lists' lengths: the known one that is not 1, else that of a list whose Type does not say 1,
 * which never broadcasts. */
static damo_var *broadcast_dim(damo_var *have, damo_var *now) {
  int64_t a, c;
  if (!have || (var_static_int(have, &a) && a == 1)) return now;
  if (var_static_int(now, &c) && c == 1) return have;
  return !var_static_int(have, &a) && var_static_int(now, &c) ? now : have;
}

/* The lengths of B from those of the index operands (in_shape: the operands', from the first on). */
static void advindex_list_dims(build *b, const index_spec *spec, damo_var *const *idx, damo_var *const *const *in_shape,
                               int n_b, damo_var **dims) {
  for (int i = 0; i < n_b; i++) dims[i] = NULL;
  for (int i = 0; i < spec->n; i++) {
    const index_item *it = &spec->item[i];
    if (it->kind != ITEM_LIST) continue;
    damo_var *v = idx[it->operand];
    bool mask = adv_is_mask(var_dtype(v), var_ndim(v));
    int n = mask ? 1 : var_ndim(v);
    for (int k = 0; k < n; k++) {
      damo_var *d =
          mask ? build_reduce(b, REDUCE_SUM, build_cast(b, v, DAMO_INT64), NULL, -1, false) : in_shape[it->operand][k];
      dims[n_b - n + k] = broadcast_dim(dims[n_b - n + k], d);
    }
  }
}

static damo_status adv_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                   damo_var ***out_shape) {
  const index_spec *spec = node->op->data;
  const int64_t *known = node->out[0]->type->shape;
  index_axes axes;
  adv_layout l;
  int rank[3 * INDEX_MAX_ITEMS], axis = 0, o = 0, side = index_lists_adjacent(spec) ? 0 : 1;
  damo_var **out = out_shape[0];
  DAMO_TRY(static_layout(node->op, node->in[0]->type, node->in + 1, node->n_in - 1, &l));
  DAMO_TRY(advindex_check_operands(node->op, node->in[0]->type, node->in + 1, node->n_in - 1, rank));
  DAMO_TRY(index_axes_of(b->ctx, "index", spec, var_ndim(node->in[0]), rank, &axes));
  advindex_list_dims(b, spec, node->in + 1, in_shape + 1, l.n_b, out + l.n[0]);
  if (side) o = l.n_b;
  for (int i = 0; i <= spec->n; i++) {
    for (int k = 0; i == axes.fill_at && k < axes.fill; k++) out[o++] = in_shape[0][axis++];
    if (i == spec->n) break;
    const index_item *it = &spec->item[i];
    damo_var *ends[3];
    if (it->kind == ITEM_NEWAXIS) out[o++] = build_i64(b, 1);
    if (it->kind == ITEM_LIST || it->kind == ITEM_POSITION) {
      axis += rank[it->operand];
      if (!side) o += l.n_b, side = 1;
    }
    if (it->kind != ITEM_RANGE) continue;
    range_ends(it, node->in + 1, ends);
    out[o++] = range_length(b, in_shape[0][axis++], ends);
  }
  for (int i = 0; i < var_ndim(node->out[0]); i++)
    if (known[i] >= 0 || !out[i]) out[i] = build_i64(b, known[i] >= 0 ? known[i] : 1);
  return b->status;
}

/* ---- AdvancedSubtensor ------------------------------------------------------------------------------------------- */

static damo_status advsubtensor_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  return adv_type(op, in[0]->type, in + 1, n_in - 1, &out[0]);
}

static damo_status advsubtensor_perform(const thunk *t, frame *f) {
  const damo_array *x = thunk_in(t, f, 0);
  adv_plan p;
  DAMO_TRY(adv_plan_make(t, f, 1, x->ndim, array_shape(x), array_strides(x), &p));
  int64_t *offsets = thunk_scratch(t, f, adv_offsets_bytes(&p));
  if (!offsets) return DAMO_EMEMORY;
  DAMO_TRY(adv_plan_offsets(t, f, 1, &p, array_shape(x), array_strides(x), offsets));
  damo_array *out = thunk_out(t, f, 0, array_dtype(x), p.ndim, p.shape);
  if (!out) return DAMO_EMEMORY;
  adv_walk(f->ctx, &p, array_dtype(x), ADV_READ, x->data, offsets, out->data, array_strides(out));
  return DAMO_OK;
}

int index_taken_axis(const damo_op *op) {
  if (op->def != &advsubtensor_def) return -1;
  const index_spec *s = op->data;
  int axis = -1;
  for (int i = 0; i < s->n; i++) {
    const index_item *it = &s->item[i];
    const bool is_whole = it->kind == ITEM_RANGE && it->given == 0;
    if (!is_whole && (it->kind != ITEM_LIST || axis >= 0)) return -1;
    if (!is_whole) axis = i;
  }
  return axis;
}

const op_def advsubtensor_def = {
    .name = "AdvancedSubtensor",
    .doc = "x at lists of positions and masks",
    .props = PROPS(PROP(index_props, spec)),
    .n_in = OP_VARIADIC,
    .data_size = sizeof(index_spec),
    .init = index_op_init,
    .infer_type = advsubtensor_type,
    .perform = advsubtensor_perform,
    .emit_c = advsubtensor_emit_c,
    .grad = index_read_grad,
    .rop = index_read_rop,
    .infer_shape = adv_infer_shape,
    .batch = index_read_batch,
    .connection_pattern = connect_first,
    .notate = index_read_notate,
    .terms = TERMS_LINEAR,
    .masks = MASKS_SUMMED,
    .no_check = "dense: spec/op/rows/index.lua has results by hand and from plain loops",
};

/* ---- AdvancedIncSubtensor ---------------------------------------------------------------------------------------- */

static damo_status advinc_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  damo_type *region = NULL;
  if (n_in < 2) return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: x and y are needed", op->def->name);
  DAMO_TRY(adv_type(op, in[0]->type, in + 2, n_in - 2, &region));
  damo_status s = index_write_type(op, in, region, out);
  damo_release(region);
  return s;
}

/* The strides of the output: x's when it is written in place, else C-contiguous ones. */
static void advinc_out_strides(const damo_array *x, bool in_place, int64_t *strides) {
  int64_t step = (int64_t)dtype_size(x->dtype);
  for (int i = x->ndim - 1; i >= 0; i--) {
    strides[i] = in_place ? array_strides(x)[i] : step;
    step *= array_shape(x)[i];
  }
}

/* Copies y to dst, C-contiguous, and sets its strides over the region's ndim axes. */
static void advinc_copy_value(damo_ctx *ctx, const damo_array *y, int ndim, char *dst, int64_t *strides) {
  int64_t step = (int64_t)dtype_size(y->dtype);
  array_copy_box(ctx, y->data, array_strides(y), dst, NULL, y->ndim, array_shape(y), dtype_size(y->dtype));
  for (int i = y->ndim - 1; i >= 0; i--) {
    strides[ndim - y->ndim + i] = array_shape(y)[i] == 1 ? 0 : step;
    step *= array_shape(y)[i];
  }
}

static damo_status advinc_perform(const thunk *t, frame *f) {
  const damo_op *op = t->node->op;
  const damo_array *x = thunk_in(t, f, 0), *y = thunk_in(t, f, 1);
  bool in_place = OP_PROPS(op, index_props)->inplace.u.i && x->writeable, copies = in_place && array_may_overlap(x, y);
  int64_t strides[DAMO_MAX_NDIM], from[DAMO_MAX_NDIM];
  adv_plan p;
  advinc_out_strides(x, in_place, strides);
  DAMO_TRY(adv_plan_make(t, f, 2, x->ndim, array_shape(x), strides, &p));
  DAMO_TRY(index_write_strides(t, f, y, p.ndim, p.shape, from));
  size_t table = adv_offsets_bytes(&p), value = copies ? (size_t)array_size(y) * dtype_size(y->dtype) : 0;
  char *work = thunk_scratch(t, f, table + value);
  if (!work) return DAMO_EMEMORY;
  DAMO_TRY(adv_plan_offsets(t, f, 2, &p, array_shape(x), strides, (int64_t *)(void *)work));
  damo_array *out = thunk_out_inplace(t, f, 0, 0);
  if (!out) return DAMO_EMEMORY;
  char *data = y->data;
  if (copies) advinc_copy_value(f->ctx, y, p.ndim, data = work + table, from);
  adv_walk(f->ctx, &p, array_dtype(x), OP_PROPS(op, index_props)->set_instead_of_inc.u.i ? ADV_SET : ADV_ADD, out->data,
           (const int64_t *)(void *)work, data, from);
  return DAMO_OK;
}

const op_def advincsubtensor_def = {
    .name = "AdvancedIncSubtensor",
    .doc = "x with y set or added at lists of positions and masks",
    .props =
        PROPS(PROP(index_props, spec), PROP_FLAG(index_props, set_instead_of_inc), PROP_FLAG(index_props, inplace)),
    .n_in = OP_VARIADIC,
    .least_in = 2,
    .data_size = sizeof(index_spec),
    .init = index_write_init,
    .infer_type = advinc_type,
    .perform = advinc_perform,
    .emit_c = index_write_emit_c,
    .emit_c_settles = true,
    .grad = index_write_grad,
    .rop = index_write_rop,
    .infer_shape = infer_shape_same,
    .batch = index_write_batch,
    .connection_pattern = index_write_connected,
    .notate = index_write_notate,
    .terms = TERMS_LINEAR,
    .masks = MASKS_SUMMED,
    .no_check = "dense: spec/op/rows/index.lua has results by hand and from plain loops",
};

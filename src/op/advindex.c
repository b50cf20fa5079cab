/* advindex.c: indexing by integer lists and boolean masks: AdvancedSubtensor, AdvancedIncSubtensor. subtensor.c has the
 * spec and the functions.
 *
 * As NumPy: lists (and positions beside them) broadcast together to a shape B; a mask stands for the list of positions of
 * its true entries, and takes as many axes as it has. B stands where the first list stands when all lists are neighbours,
 * else it comes first. So the result is [pre] B [post], pre and post being what ranges leave; for each entry of B there
 * is one offset into x, to which the strides of pre and post add.
 */
#include "index_int.h"

#include <string.h>

typedef struct adv_list {
  int operand, axis;
} adv_list; /* axis: the first of x that it takes */

typedef struct adv_plan {
  int ndim, n_pre, n_b, n_post, n_lists; /* ndim: of the result */
  int64_t shape[DAMO_MAX_NDIM];          /* pre, B, post */
  int64_t strides[DAMO_MAX_NDIM];        /* in x; 0 in B */
  int64_t base, entries, longest;        /* entries of B; of the longest list */
  adv_list list[INDEX_MAX_ITEMS];
} adv_plan;

/* A list of the plan as it broadcasts: a mask is a vector. */
typedef struct list_shape {
  int ndim;
  int64_t shape[DAMO_MAX_NDIM];
} list_shape;

static bool is_mask(damo_dtype dtype, int ndim) { return dtype == DAMO_BOOL && ndim > 0; }

static int64_t count_true(const damo_array *mask) {
  int64_t index[DAMO_MAX_NDIM] = {0}, n = array_size(mask), count = 0;
  const char *p = mask->data;
  for (int64_t k = 0; k < n; k++) {
    count += *p != 0;
    for (int i = mask->ndim - 1; i >= 0; i--) {
      p += array_strides(mask)[i];
      if (++index[i] < array_shape(mask)[i]) break;
      p -= index[i] * array_strides(mask)[i];
      index[i] = 0;
    }
  }
  return count;
}

/* Where B goes: true when the lists are neighbours. */
static bool lists_adjacent(const index_spec *spec) {
  int state = 0; /* 0 before, 1 among, 2 behind the lists */
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

static damo_status bad_mask(damo_ctx *ctx, int axis, int64_t length, int64_t n) {
  return ctx_fail(ctx, DAMO_EINDEX, "index: a mask of length %lld on axis %d of length %lld", (long long)length,
                  axis + 1, (long long)n);
}

static damo_status too_many_axes(damo_ctx *ctx) {
  return ctx_fail(ctx, DAMO_EINDEX, "index: the result has more than %d axes", DAMO_MAX_NDIM);
}

/* ---- Planning at run time ------------------------------------------------------------------------------------------------ */

/* The layout under construction: dimensions before B, B, and behind it. */
typedef struct layout {
  int n[2];
  int64_t shape[2][DAMO_MAX_NDIM], strides[2][DAMO_MAX_NDIM];
  int n_b;
  int64_t b_shape[DAMO_MAX_NDIM];
  int side; /* where a range goes now: 0 before B, 1 behind */
} layout;

static damo_status layout_push(damo_ctx *ctx, layout *l, int64_t length, int64_t stride) {
  if (l->n[0] + l->n[1] == DAMO_MAX_NDIM) return too_many_axes(ctx);
  l->shape[l->side][l->n[l->side]] = length;
  l->strides[l->side][l->n[l->side]++] = stride;
  return DAMO_OK;
}

static damo_status layout_list(damo_ctx *ctx, layout *l, const list_shape *s) {
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

static list_shape shape_of_list(const damo_array *a) {
  list_shape s = {.ndim = a->ndim};
  if (is_mask(array_dtype(a), a->ndim)) {
    s.ndim = 1;
    s.shape[0] = count_true(a);
  } else {
    memcpy(s.shape, array_shape(a), (size_t)a->ndim * sizeof *s.shape);
  }
  return s;
}

static damo_status plan_list(thunk *t, int first, const index_item *it, const int64_t *shape, int *axis, layout *l,
                             adv_plan *p) {
  const damo_array *a = thunk_in(t, first + it->operand);
  list_shape s = shape_of_list(a);
  bool mask = is_mask(array_dtype(a), a->ndim);
  for (int k = 0; mask && k < a->ndim; k++)
    if (array_shape(a)[k] != shape[*axis + k]) return bad_mask(t->ctx, *axis + k, array_shape(a)[k], shape[*axis + k]);
  DAMO_TRY(layout_list(t->ctx, l, &s));
  int64_t n = 1;
  for (int k = 0; k < s.ndim; k++) n *= s.shape[k];
  if (n > p->longest) p->longest = n;
  p->list[p->n_lists++] = (adv_list){it->operand, *axis};
  *axis += mask ? a->ndim : 1;
  l->side = 1;
  return DAMO_OK;
}

static damo_status plan_range(thunk *t, int first, const index_item *it, int axis, const int64_t *shape,
                              const int64_t *strides, layout *l, adv_plan *p) {
  int64_t v[3] = {0, 0, 1}, from, count;
  for (int k = 0, at = first + it->operand; k < 3; k++)
    if (it->given >> k & 1) v[k] = array_int(thunk_in(t, at++));
  DAMO_TRY(range_resolve(t->ctx, "index", axis, shape[axis], it->given & 1 ? &v[0] : NULL, it->given & 2 ? &v[1] : NULL,
                         v[2], &from, &count));
  p->base += from * strides[axis];
  return layout_push(t->ctx, l, count, count > 1 ? strides[axis] * v[2] : strides[axis]);
}

/* Lays [pre] B [post] into the plan. */
static damo_status plan_finish(damo_ctx *ctx, const layout *l, adv_plan *p) {
  p->n_pre = l->n[0], p->n_b = l->n_b, p->n_post = l->n[1];
  p->ndim = p->n_pre + p->n_b + p->n_post;
  if (p->ndim > DAMO_MAX_NDIM) return too_many_axes(ctx);
  for (int i = 0; i < p->n_pre; i++) p->shape[i] = l->shape[0][i], p->strides[i] = l->strides[0][i];
  for (int i = 0; i < p->n_b; i++) p->shape[p->n_pre + i] = l->b_shape[i], p->strides[p->n_pre + i] = 0;
  for (int i = 0, o = p->n_pre + p->n_b; i < p->n_post; i++, o++)
    p->shape[o] = l->shape[1][i], p->strides[o] = l->strides[1][i];
  return shape_size(ctx, p->n_b, l->b_shape, &p->entries);
}

/* Everything but the offsets: shapes, strides over a box of that shape, the lists. */
static damo_status plan_make(thunk *t, int first, int ndim, const int64_t *shape, const int64_t *strides, adv_plan *p) {
  const index_spec *spec = t->node->op->data;
  index_axes axes;
  int rank[INDEX_MAX_ITEMS * 3], axis = 0;
  layout l = {.side = lists_adjacent(spec) ? 0 : 1};
  p->n_lists = 0;
  p->base = p->longest = 0;
  for (int i = 0; i < spec->n_operands; i++) {
    const damo_array *a = thunk_in(t, first + i);
    rank[i] = is_mask(array_dtype(a), a->ndim) ? a->ndim : 1;
  }
  DAMO_TRY(index_axes_of(t->ctx, "index", spec, ndim, rank, &axes));
  for (int i = 0; i <= spec->n; i++) {
    for (int k = 0; i == axes.fill_at && k < axes.fill; k++, axis++)
      DAMO_TRY(layout_push(t->ctx, &l, shape[axis], strides[axis]));
    if (i == spec->n) break;
    const index_item *it = &spec->item[i];
    if (it->kind == ITEM_NEWAXIS) DAMO_TRY(layout_push(t->ctx, &l, 1, 0));
    if (it->kind == ITEM_RANGE) DAMO_TRY(plan_range(t, first, it, axis++, shape, strides, &l, p));
    if (it->kind == ITEM_LIST || it->kind == ITEM_POSITION) DAMO_TRY(plan_list(t, first, it, shape, &axis, &l, p));
  }
  return plan_finish(t->ctx, &l, p);
}

/* ---- Offsets --------------------------------------------------------------------------------------------------------------- */

/* The byte offsets that a list's entries mean, in C order of the list. */
static damo_status list_offsets(thunk *t, const damo_array *a, int axis, const int64_t *shape, const int64_t *strides,
                                int64_t *out) {
  bool mask = is_mask(array_dtype(a), a->ndim);
  int64_t index[DAMO_MAX_NDIM] = {0}, n = array_size(a), offset = 0;
  const char *p = a->data;
  for (int64_t k = 0; k < n; k++) {
    if (mask && *p) {
      *out++ = offset;
    } else if (!mask) {
      int64_t at;
      DAMO_TRY(position_resolve(t->ctx, "index", axis, shape[axis], *(const int64_t *)p, &at));
      *out++ = at * strides[axis];
    }
    for (int i = a->ndim - 1; i >= 0; i--) {
      p += array_strides(a)[i];
      if (mask) offset += strides[axis + i];
      if (++index[i] < array_shape(a)[i]) break;
      p -= index[i] * array_strides(a)[i];
      if (mask) offset -= index[i] * strides[axis + i];
      index[i] = 0;
    }
  }
  return DAMO_OK;
}

/* total += part, part broadcasting from shape s to B. */
static void add_offsets(const adv_plan *p, const list_shape *s, const int64_t *part, int64_t *total) {
  const int64_t *b_shape = p->shape + p->n_pre;
  int64_t step[DAMO_MAX_NDIM], index[DAMO_MAX_NDIM] = {0}, at = 0, stride = 1;
  int lead = p->n_b - s->ndim;
  for (int i = p->n_b - 1; i >= 0; i--) {
    int64_t n = i < lead ? 1 : s->shape[i - lead];
    step[i] = n == 1 ? 0 : stride;
    stride *= n;
  }
  for (int64_t k = 0; k < p->entries; k++) {
    total[k] += part[at];
    for (int i = p->n_b - 1; i >= 0; i--) {
      at += step[i];
      if (++index[i] < b_shape[i]) break;
      at -= index[i] * step[i];
      index[i] = 0;
    }
  }
}

/* Bytes of the two tables that plan_offsets fills. */
static size_t offsets_bytes(const adv_plan *p) { return (size_t)(p->entries + p->longest + 1) * sizeof(int64_t); }

/* The offset of each entry of B, into work. */
static damo_status plan_offsets(thunk *t, int first, const adv_plan *p, const int64_t *shape, const int64_t *strides,
                                int64_t *work) {
  int64_t *part = work + p->entries;
  for (int64_t k = 0; k < p->entries; k++) work[k] = p->base;
  for (int i = 0; i < p->n_lists; i++) {
    const damo_array *a = thunk_in(t, first + p->list[i].operand);
    list_shape s = shape_of_list(a);
    DAMO_TRY(list_offsets(t, a, p->list[i].axis, shape, strides, part));
    add_offsets(p, &s, part, work);
  }
  return DAMO_OK;
}

/* ---- Moving ------------------------------------------------------------------------------------------------------------------ */

typedef enum adv_move { ADV_READ, ADV_SET, ADV_ADD } adv_move;

/* The bytes of the post box when it is C-contiguous on both sides, else -1. */
static int64_t contiguous_bytes(const adv_plan *p, const int64_t *other, size_t size) {
  int64_t step = (int64_t)size;
  for (int i = p->ndim - 1; i >= p->n_pre + p->n_b; i--) {
    if (p->shape[i] != 1 && (p->strides[i] != step || other[i] != step)) return -1;
    step *= p->shape[i];
  }
  return step;
}

/* Between x (at the plan's offsets) and the other side, whose strides run over the plan's shape. */
static void adv_walk(const adv_plan *p, damo_dtype dtype, adv_move move, char *x, const int64_t *offsets, char *other,
                     const int64_t *other_strides) {
  int post = p->n_pre + p->n_b;
  int64_t index[DAMO_MAX_NDIM] = {0}, n_outer = 1, entry = 0;
  int64_t row = move == ADV_ADD ? -1 : contiguous_bytes(p, other_strides, dtype_size(dtype));
  const int64_t *xs = p->strides + post, *os = other_strides + post, *shape = p->shape + post;
  for (int i = 0; i < post; i++) n_outer *= p->shape[i];
  for (int i = post; i < p->ndim; i++)
    if (p->shape[i] == 0) return;
  for (int64_t k = 0; k < n_outer; k++) {
    char *at = x + offsets[entry];
    if (row >= 0)
      memcpy(move == ADV_READ ? other : at, move == ADV_READ ? at : other, (size_t)row);
    else if (move == ADV_READ)
      box_move(dtype, false, other, os, at, xs, p->n_post, shape);
    else
      box_move(dtype, move == ADV_ADD, at, xs, other, os, p->n_post, shape);
    entry = entry + 1 == p->entries ? 0 : entry + 1;
    for (int i = post - 1; i >= 0; i--) {
      x += p->strides[i];
      other += other_strides[i];
      if (++index[i] < p->shape[i]) break;
      x -= index[i] * p->strides[i];
      other -= index[i] * other_strides[i];
      index[i] = 0;
    }
  }
}

/* ---- AdvancedSubtensor ------------------------------------------------------------------------------------------------------- */

/* B as far as it is known. */
static damo_status static_broadcast(damo_ctx *ctx, layout *l, const list_shape *s) {
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

/* A constant list on an axis of known length is checked while building. */
static damo_status check_positions(damo_ctx *ctx, const damo_var *v, int axis, int64_t n) {
  const damo_array *a = var_constant_array(v);
  int64_t index[DAMO_MAX_NDIM] = {0}, at;
  if (!a || n < 0) return DAMO_OK;
  for (int64_t k = array_size(a); k > 0; k--) {
    DAMO_TRY(position_resolve(ctx, "index", axis, n, scalar_to_int64(array_get(a, index)), &at));
    for (int i = a->ndim - 1; i >= 0 && ++index[i] == array_shape(a)[i]; i--) index[i] = 0;
  }
  return DAMO_OK;
}

static damo_status static_list(damo_ctx *ctx, const damo_var *v, const damo_type *x, int *axis, layout *l) {
  list_shape s = {.ndim = var_ndim(v)};
  if (is_mask(var_dtype(v), var_ndim(v))) {
    for (int k = 0; k < var_ndim(v); k++) {
      int64_t m = v->type->shape[k], n = x->shape[*axis + k];
      if (m >= 0 && n >= 0 && m != n) return bad_mask(ctx, *axis + k, m, n);
    }
    s.ndim = 1;
    s.shape[0] = var_constant_array(v) ? count_true(var_constant_array(v)) : -1;
    *axis += var_ndim(v);
  } else {
    memcpy(s.shape, v->type->shape, (size_t)s.ndim * sizeof *s.shape);
    DAMO_TRY(check_positions(ctx, v, *axis, x->shape[*axis]));
    *axis += 1;
  }
  l->side = 1;
  return static_broadcast(ctx, l, &s);
}

static damo_status check_operands(const damo_op *op, const damo_type *x, damo_var *const *idx, int n_idx, int *rank) {
  damo_ctx *ctx = op->obj.ctx;
  const index_spec *spec = op->data;
  if (!type_is_tensor(x)) return ctx_fail(ctx, DAMO_ETYPE, "index: the operand must be a tensor");
  if (n_idx != spec->n_operands)
    return ctx_fail(ctx, DAMO_ETYPE, "index: %d operands for spec '%s'", n_idx, op->props[0].u.s);
  for (int i = 0; i < n_idx; i++) {
    const damo_type *t = idx[i]->type;
    bool mask = type_is_tensor(t) && is_mask(t->dtype, t->ndim);
    if (!mask && (!type_is_tensor(t) || t->dtype != DAMO_INT64))
      return ctx_fail(ctx, DAMO_ETYPE, "index: a list must be integers or a boolean mask");
    rank[i] = mask ? t->ndim : 1;
  }
  return DAMO_OK;
}

/* The static layout of x[spec]. */
static damo_status adv_layout(const damo_op *op, const damo_type *x, damo_var *const *idx, int n_idx, layout *l) {
  damo_ctx *ctx = op->obj.ctx;
  const index_spec *spec = op->data;
  index_axes axes;
  int rank[3 * INDEX_MAX_ITEMS], axis = 0;
  int64_t count;
  *l = (layout){.side = lists_adjacent(spec) ? 0 : 1};
  DAMO_TRY(check_operands(op, x, idx, n_idx, rank));
  DAMO_TRY(index_axes_of(ctx, "index", spec, x->ndim, rank, &axes));
  for (int i = 0; i <= spec->n; i++) {
    for (int k = 0; i == axes.fill_at && k < axes.fill; k++) DAMO_TRY(layout_push(ctx, l, x->shape[axis++], 0));
    if (i == spec->n) break;
    const index_item *it = &spec->item[i];
    damo_var *ends[3];
    if (it->kind == ITEM_NEWAXIS) DAMO_TRY(layout_push(ctx, l, 1, 0));
    if (it->kind == ITEM_LIST || it->kind == ITEM_POSITION) DAMO_TRY(static_list(ctx, idx[it->operand], x, &axis, l));
    if (it->kind != ITEM_RANGE) continue;
    range_ends(it, idx, ends);
    DAMO_TRY(range_static(ctx, "index", axis, x->shape[axis], ends, &count));
    axis++;
    DAMO_TRY(layout_push(ctx, l, count, 0));
  }
  return DAMO_OK;
}

static damo_status adv_type(const damo_op *op, const damo_type *x, damo_var *const *idx, int n_idx, damo_type **out) {
  layout l;
  adv_plan p;
  DAMO_TRY(adv_layout(op, x, idx, n_idx, &l));
  int n = l.n[0] + l.n_b + l.n[1];
  if (n > DAMO_MAX_NDIM) return too_many_axes(op->obj.ctx);
  memcpy(p.shape, l.shape[0], (size_t)l.n[0] * sizeof(int64_t));
  memcpy(p.shape + l.n[0], l.b_shape, (size_t)l.n_b * sizeof(int64_t));
  memcpy(p.shape + l.n[0] + l.n_b, l.shape[1], (size_t)l.n[1] * sizeof(int64_t));
  *out = type_tensor(op->obj.ctx, x->dtype, n, p.shape);
  return *out ? DAMO_OK : DAMO_EMEMORY;
}

static damo_status advsubtensor_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  return adv_type(op, in[0]->type, in + 1, n_in - 1, &out[0]);
}

static damo_status advsubtensor_perform(thunk *t) {
  const damo_array *x = thunk_in(t, 0);
  adv_plan p;
  DAMO_TRY(plan_make(t, 1, x->ndim, array_shape(x), array_strides(x), &p));
  int64_t *offsets = thunk_scratch(t, offsets_bytes(&p));
  if (!offsets) return DAMO_EMEMORY;
  DAMO_TRY(plan_offsets(t, 1, &p, array_shape(x), array_strides(x), offsets));
  damo_array *out = thunk_out(t, 0, array_dtype(x), p.ndim, p.shape);
  if (!out) return DAMO_EMEMORY;
  adv_walk(&p, array_dtype(x), ADV_READ, x->data, offsets, out->data, array_strides(out));
  return DAMO_OK;
}

/* The dims of B: a known one, or of the lists that reach there the one that is not 1. */
static damo_var *broadcast_dim(build *b, damo_var *have, damo_var *now) {
  int64_t a, c;
  if (!have || (var_static_int(have, &a) && a == 1)) return now;
  if (var_static_int(now, &c) && c == 1) return have;
  if (var_static_int(have, &a) || have == now) return have;
  if (var_static_int(now, &c)) return now;
  return build_fn3(b, "switch", build_fn2(b, "eq", have, build_i64(b, 1)), now, have);
}

/* The shape of B, from the operands' shapes (in_shape of the first of them). */
static void list_dims(build *b, const index_spec *spec, damo_var *const *idx, damo_var *const *const *in_shape, int n_b,
                      damo_var **dims) {
  for (int i = 0; i < n_b; i++) dims[i] = NULL;
  for (int i = 0; i < spec->n; i++) {
    const index_item *it = &spec->item[i];
    if (it->kind != ITEM_LIST) continue;
    damo_var *v = idx[it->operand];
    bool mask = is_mask(var_dtype(v), var_ndim(v));
    int n = mask ? 1 : var_ndim(v);
    for (int k = 0; k < n; k++) {
      damo_var *d =
          mask ? build_reduce(b, REDUCE_SUM, build_cast(b, v, DAMO_INT64), NULL, -1, false) : in_shape[it->operand][k];
      dims[n_b - n + k] = broadcast_dim(b, dims[n_b - n + k], d);
    }
  }
}

static damo_status advsubtensor_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                            damo_var ***out_shape) {
  const index_spec *spec = node->op->data;
  const int64_t *known = node->out[0]->type->shape;
  index_axes axes;
  layout l;
  int rank[3 * INDEX_MAX_ITEMS], axis = 0, o = 0, side = lists_adjacent(spec) ? 0 : 1;
  damo_var **out = out_shape[0];
  DAMO_TRY(adv_layout(node->op, node->in[0]->type, node->in + 1, node->n_in - 1, &l));
  DAMO_TRY(check_operands(node->op, node->in[0]->type, node->in + 1, node->n_in - 1, rank));
  DAMO_TRY(index_axes_of(b->ctx, "index", spec, var_ndim(node->in[0]), rank, &axes));
  list_dims(b, spec, node->in + 1, in_shape + 1, l.n_b, out + l.n[0]);
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

const op_def advsubtensor_def = {
    .name = "AdvancedSubtensor",
    .doc = "x at lists of positions and masks",
    .props = "spec",
    .n_in = OP_VARIADIC,
    .data_size = sizeof(index_spec),
    .init = index_op_init,
    .infer_type = advsubtensor_type,
    .perform = advsubtensor_perform,
    .grad = index_read_grad,
    .rop = index_read_rop,
    .infer_shape = advsubtensor_infer_shape,
    .connection_pattern = connect_first,
};

/* ---- AdvancedIncSubtensor ----------------------------------------------------------------------------------------------------- */

static damo_status advinc_type(const damo_op *op, damo_var *const *in, int n_in, damo_type **out) {
  damo_type *region = NULL;
  if (n_in < 2) return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: x and y are needed", op->def->name);
  DAMO_TRY(adv_type(op, in[0]->type, in + 2, n_in - 2, &region));
  damo_status s = index_write_type(op, in, region, out);
  damo_release(region);
  return s;
}

/* The strides that the output will have: x's when x itself is written, else C-contiguous. */
static void out_strides(const damo_array *x, bool in_place, int64_t *strides) {
  int64_t step = (int64_t)dtype_size(x->dtype);
  for (int i = x->ndim - 1; i >= 0; i--) {
    strides[i] = in_place ? array_strides(x)[i] : step;
    step *= array_shape(x)[i];
  }
}

/* A C-contiguous copy of y at dst, whose strides over the region replace y's. */
static void copy_value(const damo_array *y, int ndim, char *dst, int64_t *strides) {
  int64_t step = (int64_t)dtype_size(y->dtype);
  kernel_copy_nd(y->data, array_strides(y), dst, NULL, y->ndim, array_shape(y), dtype_size(y->dtype));
  for (int i = y->ndim - 1; i >= 0; i--) {
    strides[ndim - y->ndim + i] = array_shape(y)[i] == 1 ? 0 : step;
    step *= array_shape(y)[i];
  }
}

static damo_status advinc_perform(thunk *t) {
  const damo_op *op = t->node->op;
  const damo_array *x = thunk_in(t, 0), *y = thunk_in(t, 1);
  bool in_place = op->props[2].u.i && x->writeable, copies = in_place && array_may_overlap(x, y);
  int64_t strides[DAMO_MAX_NDIM], from[DAMO_MAX_NDIM];
  adv_plan p;
  out_strides(x, in_place, strides);
  DAMO_TRY(plan_make(t, 2, x->ndim, array_shape(x), strides, &p));
  DAMO_TRY(index_write_strides(t->ctx, op, y, p.ndim, p.shape, from));
  size_t table = offsets_bytes(&p), value = copies ? (size_t)array_size(y) * dtype_size(y->dtype) : 0;
  char *work = thunk_scratch(t, table + value);
  if (!work) return DAMO_EMEMORY;
  DAMO_TRY(plan_offsets(t, 2, &p, array_shape(x), strides, (int64_t *)(void *)work));
  damo_array *out = thunk_out_inplace(t, 0, 0);
  if (!out) return DAMO_EMEMORY;
  char *data = y->data;
  if (copies) copy_value(y, p.ndim, data = work + table, from);
  adv_walk(&p, array_dtype(x), op->props[1].u.i ? ADV_SET : ADV_ADD, out->data, (const int64_t *)(void *)work, data,
           from);
  return DAMO_OK;
}

const op_def advincsubtensor_def = {
    .name = "AdvancedIncSubtensor",
    .doc = "x with y set or added at lists of positions and masks",
    .props = "spec set_instead_of_inc inplace",
    .n_in = OP_VARIADIC,
    .data_size = sizeof(index_spec),
    .init = index_write_init,
    .infer_type = advinc_type,
    .perform = advinc_perform,
    .grad = index_write_grad,
    .rop = index_write_rop,
    .infer_shape = infer_shape_same,
    .connection_pattern = index_write_connected,
};

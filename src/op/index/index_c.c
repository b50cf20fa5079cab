/* index_c: reading and writing parts of a tensor as C source. Ranges are known when the code is written; positions and
 * lists may be computed, and are checked as the code runs. */
#include "index_c.h"

#include <string.h>

#include "index_int.h"

/* A list of positions, or one position beside a list; it broadcasts with the others to the shape B. */
typedef struct c_list {
  const c_value *v;
  int axis;               /* the first one of x that it takes */
  int64_t length, stride; /* of that axis */
  bool checked;
} c_list;

/* x[spec] as a box [pre] B [post]; without lists B is nothing. */
typedef struct c_part {
  int ndim, n_lists;
  int b_at, b_ndim; /* where the axes B are */
  int64_t shape[DAMO_MAX_NDIM], strides[DAMO_MAX_NDIM], offset;
  strbuf moves; /* offsets of computed positions, " + (…)" */
  c_list list[INDEX_MAX_ITEMS];
  const c_value *mask; /* the only list, whose axes are B, so that entries are left out; NULL: none */
} c_part;

static void emit_part_push(c_part *p, int64_t length, int64_t stride) {
  p->shape[p->ndim] = length;
  p->strides[p->ndim++] = stride;
}

/* A position from the end or from the start, 1-based, as a 0-based expression. */
static const char *emit_resolved(c_emit *e, const char *position, int64_t n) {
  return ce_text(e, "(%s > 0 ? %s - 1 : %s + %lld)", position, position, position, (long long)n);
}

static void emit_position_check(c_emit *e, const char *position, int64_t n) {
  ce_fail_if(e, "%s == 0 || %s > %lld || %s < %lld", position, position, (long long)n, position, -(long long)n);
}

static damo_status emit_part_position(c_emit *e, const c_value *x, int axis, int operand, c_part *p) {
  const damo_array *a = ce_known(e, operand);
  const int64_t n = x->shape[axis];
  if (a != NULL) {
    int64_t at;
    const damo_status s = position_resolve(e->ctx, "index", axis, n, scalar_to_int64(array_item(a)), &at);
    if (s != DAMO_OK) return e->status = s;
    p->offset += at * x->strides[axis];
    return DAMO_OK;
  }
  const char *position = ce_text(e, "k%d", e->n_labels++);
  ce_line(e, "const int64_t %s = *%s;", position, ce_p(e, ce_in(e, operand)));
  emit_position_check(e, position, n);
  strbuf_addf(&p->moves, " + %s * %lld", emit_resolved(e, position, n), (long long)x->strides[axis]);
  return e->status;
}

/* The positions of the true entries of a known mask, as offsets along one axis of step 1 that stands for its axes. */
static c_value *emit_true_entries(c_emit *e, const damo_array *mask, const int64_t *strides, int64_t *length) {
  array_entries entries;
  int64_t n = 0, at[DAMO_MAX_NDIM] = {0};
  for (const char *p = entries_begin(&entries, mask); p != NULL; p = entries_next(&entries)) n += *p != 0;
  damo_array *a = array_empty(e->ctx, DAMO_INT64, 1, &n);
  int64_t *to = a != NULL ? (int64_t *)(void *)a->data : NULL;
  *length = 1;
  for (const char *p = entries_begin(&entries, mask); p != NULL && to != NULL; p = entries_next(&entries)) {
    int64_t offset = 0;
    for (int k = 0; k < mask->ndim; k++) offset += at[k] * strides[k];
    if (*p != 0) *to++ = offset + 1;
    if (offset >= *length) *length = offset + 1;
    for (int k = mask->ndim - 1; k >= 0 && ++at[k] == array_shape(mask)[k]; k--) at[k] = 0;
  }
  return ce_constant(e, a);
}

/* Adds a list that takes axes of x from `axis` on. */
static damo_status emit_part_list(c_emit *e, const c_value *x, int axis, int operand, bool writes, c_part *p) {
  const c_value *list = ce_in(e, operand);
  c_list *l = &p->list[p->n_lists++];
  *l = (c_list){.v = list, .axis = axis, .length = x->shape[axis], .stride = x->strides[axis]};
  if (list->dtype == DAMO_BOOL && list->ndim > 0) {
    for (int k = 0; k < list->ndim; k++) {
      if (list->shape[k] != x->shape[axis + k]) return ce_refuse(e, "a mask of another shape");
      if (x->strides[axis + k] < 0 && list->known != NULL) return ce_refuse(e, "a mask over a reversed axis");
    }
    if (list->known != NULL) {
      l->v = emit_true_entries(e, list->known, x->strides + axis, &l->length);
      l->stride = 1;
      l->checked = true;
      return e->status;
    }
    if (!writes) return ce_refuse(e, "a mask that is computed, on which the result's shape depends");
    p->mask = list;
    return e->status;
  }
  if (list->known != NULL) {
    array_entries entries;
    for (const char *at = entries_begin(&entries, list->known); at != NULL; at = entries_next(&entries)) {
      int64_t k;
      const damo_status s =
          position_resolve(e->ctx, "index", axis, x->shape[axis], *(const int64_t *)(const void *)at, &k);
      if (s != DAMO_OK) return e->status = s;
    }
    l->checked = true;
  }
  return e->status;
}

/* The shape B to which the lists broadcast; 0-d ones do so with any. */
static damo_status emit_part_broadcast(c_emit *e, const c_part *p, int *ndim, int64_t *shape) {
  *ndim = 0;
  for (int i = 0; i < p->n_lists; i++) {
    int n;
    int64_t out[DAMO_MAX_NDIM];
    if (!shape_broadcast(*ndim, shape, p->list[i].v->ndim, p->list[i].v->shape, &n, out))
      return ce_refuse(e, "lists that do not broadcast together");
    *ndim = n;
    memcpy(shape, out, (size_t)n * sizeof *shape);
  }
  return DAMO_OK;
}

static damo_status emit_part_of(c_emit *e, const damo_apply *node, int first, const c_value *x, c_part *p) {
  const index_spec *spec = node->op->data;
  const bool writes = first == 2;
  int64_t shape[2][DAMO_MAX_NDIM], strides[2][DAMO_MAX_NDIM];
  int n[2] = {0, 0}, side = spec->advanced && !index_lists_adjacent(spec) ? 1 : 0;
  int rank[3 * INDEX_MAX_ITEMS], axis = 0;
  index_axes axes;
  *p = (c_part){.moves = {.ctx = e->ctx}};
  for (int i = 0; i < spec->n_operands; i++) {
    const c_value *v = ce_in(e, first + i);
    rank[i] = v->dtype == DAMO_BOOL && v->ndim > 0 ? v->ndim : 1;
  }
  damo_status s = index_axes_of(e->ctx, "index", spec, x->ndim, rank, &axes);
  if (s != DAMO_OK) return e->status = s;
  for (int i = 0; i <= spec->n && e->status == DAMO_OK; i++) {
    for (int k = 0; i == axes.fill_at && k < axes.fill; k++, axis++) {
      shape[side][n[side]] = x->shape[axis];
      strides[side][n[side]++] = x->strides[axis];
    }
    if (i == spec->n) break;
    const index_item *it = &spec->item[i];
    const int operand = first + it->operand;
    if (it->kind == ITEM_NEWAXIS) {
      shape[side][n[side]] = 1;
      strides[side][n[side]++] = 1;
    } else if (it->kind == ITEM_LIST || (it->kind == ITEM_POSITION && spec->advanced)) {
      emit_part_list(e, x, axis, operand, writes, p);
      axis += rank[it->operand];
      side = 1;
    } else if (it->kind == ITEM_POSITION) {
      emit_part_position(e, x, axis++, operand, p);
    } else if (it->kind == ITEM_RANGE) {
      int64_t v[3] = {0, 0, 1}, at, count;
      const int64_t *end[3] = {NULL, NULL, NULL};
      int next = 0;
      for (int k = 0; k < 3; k++) {
        if (!(it->given >> k & 1)) continue;
        DAMO_TRY(ce_int(e, operand + next++, "an end of a range", &v[k]));
        end[k] = &v[k];
      }
      s = range_resolve(e->ctx, "index", axis, x->shape[axis], end[0], end[1], v[2], &at, &count);
      if (s != DAMO_OK) return e->status = s;
      p->offset += at * x->strides[axis];
      shape[side][n[side]] = count;
      strides[side][n[side]++] = count > 1 ? x->strides[axis] * v[2] : x->strides[axis];
      axis++;
    }
  }
  if (p->mask != NULL && p->n_lists > 1) return ce_refuse(e, "a mask that is computed beside other lists");
  int64_t b_shape[DAMO_MAX_NDIM];
  if (e->status == DAMO_OK) emit_part_broadcast(e, p, &p->b_ndim, b_shape);
  if (e->status != DAMO_OK) return e->status;
  if (n[0] + n[1] + p->b_ndim > DAMO_MAX_NDIM) return ce_refuse(e, "too many axes");
  p->b_at = n[0];
  for (int k = 0; k < n[0]; k++) emit_part_push(p, shape[0][k], strides[0][k]);
  for (int k = 0; k < p->b_ndim; k++) /* a mask that is computed: over the axes that it takes */
    emit_part_push(p, b_shape[k], p->mask != NULL ? x->strides[p->list[0].axis + k] : 0);
  for (int k = 0; k < n[1]; k++) emit_part_push(p, shape[1][k], strides[1][k]);
  return e->status;
}

damo_status subtensor_emit_c(c_emit *e, const damo_apply *node) {
  ce_takes_complex(e);
  const c_value *x = ce_in(e, 0);
  c_part p;
  damo_status s = emit_part_of(e, node, 1, x, &p);
  if (s == DAMO_OK && p.moves.n == 0)
    ce_out_view(e, 0, x, p.ndim, p.shape, p.strides, p.offset);
  else if (s == DAMO_OK)
    ce_out_view_at(e, 0, x, p.ndim, p.shape, p.strides, ce_text(e, "%lld%s", (long long)p.offset, p.moves.at));
  strbuf_clear(&p.moves);
  return e->status;
}

/* The loops over x's part and another operand; the index of x's element, with the lists' positions looked up. */
static const char *emit_part_open(c_emit *e, const c_part *p, const int64_t *other, c_nest *nest) {
  int64_t steps[INDEX_MAX_ITEMS][DAMO_MAX_NDIM];
  const int64_t *ops[INDEX_MAX_ITEMS + 2] = {p->strides, other};
  for (int i = 0; i < p->n_lists; i++) {
    memset(steps[i], 0, sizeof steps[i]);
    ce_strides_along(p->list[i].v, p->b_ndim, steps[i] + p->b_at);
    ops[2 + i] = steps[i];
  }
  ce_nest_init(e, nest, p->ndim, p->shape, 2 + p->n_lists, ops);
  ce_nest_open(e, nest);
  const char *at =
      ce_text(e, "%lld%s + %s", (long long)p->offset, p->moves.n > 0 ? p->moves.at : "", ce_nest_at(e, nest, 0));
  if (p->mask != NULL) {
    ce_open(e, "if (%s[%s] != 0)", ce_p(e, p->mask), ce_nest_at(e, nest, 2));
    return at;
  }
  for (int i = 0; i < p->n_lists; i++) {
    const char *k = ce_text(e, "k%d", e->n_labels++);
    ce_line(e, "const int64_t %s = %s[%s];", k, ce_p(e, p->list[i].v), ce_nest_at(e, nest, 2 + i));
    at = ce_text(e, "%s + %s * %lld", at, emit_resolved(e, k, p->list[i].length), (long long)p->list[i].stride);
  }
  return at;
}

static void emit_part_close(c_emit *e, const c_part *p, const c_nest *nest) {
  if (p->mask != NULL) ce_close(e);
  ce_nest_close(e, nest);
}

/* Positions are checked before anything is written. */
static void emit_part_check(c_emit *e, const c_part *p) {
  for (int i = 0; i < p->n_lists && p->mask == NULL; i++) {
    const c_list *l = &p->list[i];
    if (l->checked) continue;
    c_nest nest;
    ce_nest_init(e, &nest, l->v->ndim, l->v->shape, 1, (const int64_t *const[]){l->v->strides});
    ce_nest_open(e, &nest);
    if (nest.n_axes == 0) ce_open(e, "%s", "");
    ce_line(e, "const int64_t k = %s[%s];", ce_p(e, l->v), ce_nest_at(e, &nest, 0));
    emit_position_check(e, "k", l->length);
    if (nest.n_axes == 0) ce_close(e);
    ce_nest_close(e, &nest);
  }
}

static int64_t emit_part_size(const c_part *p) {
  int64_t n = 1;
  for (int k = 0; k < p->ndim; k++) n *= p->shape[k];
  return n;
}

damo_status advsubtensor_emit_c(c_emit *e, const damo_apply *node) {
  ce_takes_complex(e);
  const c_value *x = ce_in(e, 0);
  c_part p;
  c_nest nest;
  const damo_status s = emit_part_of(e, node, 1, x, &p);
  const c_value *out = s == DAMO_OK ? ce_out(e, 0, var_dtype(node->out[0]), p.ndim, p.shape) : NULL;
  if (out != NULL && emit_part_size(&p) > 0) {
    emit_part_check(e, &p);
    ce_open(e, "%s", "");
    const char *at = emit_part_open(e, &p, out->strides, &nest);
    ce_line(e, "%s[%s] = %s[%s];", ce_p(e, out), ce_nest_at(e, &nest, 1), ce_p(e, x), at);
    emit_part_close(e, &p, &nest);
    ce_close(e);
  }
  strbuf_clear(&p.moves);
  return e->status;
}

/* Whether the part's elements lie one after the other. */
static bool emit_part_is_run(const c_part *p) {
  int64_t step = 1;
  for (int k = p->ndim - 1; k >= 0; k--) {
    if (p->shape[k] != 1 && p->strides[k] != step) return false;
    step *= p->shape[k];
  }
  return p->n_lists == 0 && p->moves.n == 0 && step > 0;
}

/* The elements of out from `first` to before `end` become x. */
static void emit_run(c_emit *e, const c_value *out, int64_t first, int64_t end, const char *x) {
  const int64_t n = end - first;
  if (n > 2) {
    ce_fill(e, ce_view(e, out, 1, &n, (const int64_t[]){1}, first), x);
    return;
  }
  for (int64_t i = first; i < end; i++) ce_line(e, "%s[%lld] = %s;", ce_p(e, out), (long long)i, x);
}

/* Writes or adds y to the part of out that ranges and known positions make. */
static damo_status index_write_range(c_emit *e, const c_value *out, const c_value *y, const c_part *p,
                                     const int64_t *from, bool set) {
  const c_value *part = ce_view(e, out, p->ndim, p->shape, p->strides, p->offset);
  const char *fill = out->fill;
  const bool literal = y->known != NULL && array_size(y->known) == 1;
  c_nest nest;
  if (part == NULL) return e->status;
  ce_nest_init(e, &nest, p->ndim, p->shape, 2, (const int64_t *const[]){from, p->strides});
  ce_pass_open(e, &nest, (const c_value *const[]){literal ? NULL : y, part}, 1);
  const char *value = literal ? ce_literal(e, y->known, y->dtype) : ce_pass_read(e, &nest, 0, y);
  value = ce_cast(e, y->dtype, out->dtype, value);
  if (!set) {
    const char *old = fill != NULL ? fill : ce_pass_read(e, &nest, 1, part);
    value = out->dtype == DAMO_BOOL ? ce_text(e, "%s | %s", old, value) : ce_text(e, "%s + %s", old, value);
  }
  ce_pass_write(e, &nest, 1, part, value);
  ce_pass_close(e, &nest);
  if (fill == NULL) return e->status;
  const int64_t end = p->offset + emit_part_size(p);
  emit_run(e, out, 0, p->offset, fill);
  emit_run(e, out, end, ce_size(out), fill);
  return e->status;
}

damo_status index_write_emit_c(c_emit *e, const damo_apply *node) {
  const c_value *y = ce_in(e, 1);
  const bool set = OP_PROPS(node->op, index_props)->set_instead_of_inc.u.i != 0;
  int64_t from[DAMO_MAX_NDIM];
  c_part p;
  c_nest nest;
  if (ce_in(e, 0)->known == NULL && ce_storage(e, ce_in(e, 0)) == ce_storage(e, y)) {
    c_value *copy = ce_scratch_like(e, y->dtype, y->ndim, y->shape);
    ce_copy(e, copy, y);
    y = copy;
  }
  c_value *x = ce_in(e, 0);
  c_value *out = y == NULL         ? NULL
                 : x->fill != NULL ? ce_out(e, 0, var_dtype(node->out[0]), x->ndim, x->shape)
                                   : ce_out_inplace(e, 0, 0);
  if (out == NULL) return e->status;
  const bool adds_complex = !set && dtype_is_complex(out->dtype);
  ce_takes_complex(e);
  out->fill = x->fill;
  const damo_status s = emit_part_of(e, node, 2, out, &p);
  if (s != DAMO_OK || !emit_part_is_run(&p)) ce_settle(e, out);
  if (s == DAMO_OK && emit_part_size(&p) > 0) {
    emit_part_check(e, &p);
    if (p.mask != NULL) { /* the region has one axis, of unknown length, for all of the mask's */
      const int missing = p.ndim - p.b_ndim + 1 - y->ndim;
      memset(from, 0, sizeof from);
      for (int k = 0; k < y->ndim; k++) {
        const int at = k + missing;
        if (at < 0 || (at == p.b_at && y->shape[k] != 1))
          return ce_refuse(e, "several values for a mask that is computed");
        if (y->shape[k] != 1) from[at < p.b_at ? at : at + p.b_ndim - 1] = y->strides[k];
      }
    } else {
      ce_strides_along(y, p.ndim, from);
    }
    if (p.n_lists == 0 && p.moves.n == 0 && !adds_complex) {
      strbuf_clear(&p.moves);
      index_write_range(e, out, y, &p, from, set);
      out->fill = NULL;
      return e->status;
    }
    ce_open(e, "%s", "");
    const char *at = emit_part_open(e, &p, from, &nest);
    const char *value = y->known != NULL && array_size(y->known) == 1
                            ? ce_literal(e, y->known, y->dtype)
                            : ce_text(e, "%s[%s]", ce_p(e, y), ce_nest_at(e, &nest, 1));
    value = ce_cast(e, y->dtype, out->dtype, value);
    if (adds_complex) {
      ce_line(e, "const %s more = %s;", ce_type(out->dtype), value);
      ce_line(e, "%s[%s].re += more.re;", ce_p(e, out), at);
      ce_line(e, "%s[%s].im += more.im;", ce_p(e, out), at);
    } else {
      ce_line(e,
              set                       ? "%s[%s] = %s;"
              : out->dtype == DAMO_BOOL ? "%s[%s] |= %s;"
                                        : "%s[%s] += %s;",
              ce_p(e, out), at, value);
    }
    emit_part_close(e, &p, &nest);
    ce_close(e);
  }
  strbuf_clear(&p.moves);
  return e->status;
}

/* index_c: reading and writing parts of a tensor as C source. Ranges are known when the code is written; positions and
 * lists may be computed, and are checked as the code runs. */
#include "index_c.h"

#include <string.h>

#include "index_int.h"

/* x[spec] as a box, with one list at most. */
typedef struct c_part {
  int ndim, list_axis; /* list_axis: of the result, where the list's axes begin; -1: no list */
  int list_ndim;       /* of the list */
  int64_t shape[DAMO_MAX_NDIM], strides[DAMO_MAX_NDIM], offset;
  strbuf moves; /* offsets of computed positions, " + (…)" */
  const c_value *list;
  int64_t list_length, list_stride; /* of the axis that the list takes */
  bool list_checked;
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

static damo_status emit_part_list(c_emit *e, const c_value *x, int axis, int operand, c_part *p) {
  const c_value *list = ce_in(e, operand);
  if (list->dtype == DAMO_BOOL) return ce_refuse(e, "a mask");
  if (p->list != NULL) return ce_refuse(e, "several lists of positions");
  p->list = list;
  p->list_axis = p->ndim;
  p->list_ndim = list->ndim;
  p->list_length = x->shape[axis];
  p->list_stride = x->strides[axis];
  if (list->known != NULL) {
    array_entries entries;
    for (const char *at = entries_begin(&entries, list->known); at != NULL; at = entries_next(&entries)) {
      int64_t k;
      const damo_status s =
          position_resolve(e->ctx, "index", axis, x->shape[axis], *(const int64_t *)(const void *)at, &k);
      if (s != DAMO_OK) return e->status = s;
    }
    p->list_checked = true;
  }
  for (int k = 0; k < list->ndim; k++) emit_part_push(p, list->shape[k], 0);
  return e->status;
}

static damo_status emit_part_of(c_emit *e, const damo_apply *node, int first, const c_value *x, c_part *p) {
  const index_spec *spec = node->op->data;
  index_axes axes;
  int rank[3 * INDEX_MAX_ITEMS], axis = 0;
  bool positions = false;
  *p = (c_part){.list_axis = -1, .moves = {.ctx = e->ctx}};
  for (int i = 0; i < 3 * INDEX_MAX_ITEMS; i++) rank[i] = 1;
  damo_status s = index_axes_of(e->ctx, "index", spec, x->ndim, rank, &axes);
  if (s != DAMO_OK) return e->status = s;
  for (int i = 0; i <= spec->n && e->status == DAMO_OK; i++) {
    for (int k = 0; i == axes.fill_at && k < axes.fill; k++, axis++)
      emit_part_push(p, x->shape[axis], x->strides[axis]);
    if (i == spec->n) break;
    const index_item *it = &spec->item[i];
    const int operand = first + it->operand;
    switch ((item_kind)it->kind) {
      case ITEM_ELLIPSIS: break;
      case ITEM_NEWAXIS: emit_part_push(p, 1, 1); break;
      case ITEM_POSITION:
        positions = true;
        emit_part_position(e, x, axis++, operand, p);
        break;
      case ITEM_LIST: emit_part_list(e, x, axis++, operand, p); break;
      case ITEM_RANGE: {
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
        emit_part_push(p, count, count > 1 ? x->strides[axis] * v[2] : x->strides[axis]);
        axis++;
      }
    }
  }
  if (p->list != NULL && positions) return ce_refuse(e, "a list of positions beside a position");
  return e->status;
}

damo_status subtensor_emit_c(c_emit *e, const damo_apply *node) {
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

/* The loops over x's part and another operand; the index of x's element, with the list's position looked up. */
static const char *emit_part_open(c_emit *e, const c_part *p, const int64_t *other, c_nest *nest) {
  int64_t own[DAMO_MAX_NDIM], list[DAMO_MAX_NDIM];
  memcpy(own, p->strides, sizeof own);
  memset(list, 0, sizeof list);
  for (int k = 0; k < p->list_ndim; k++) list[p->list_axis + k] = p->list->strides[k];
  ce_nest_init(e, nest, p->ndim, p->shape, 3, (const int64_t *const[]){own, other, list});
  ce_nest_open(e, nest);
  const char *at =
      ce_text(e, "%lld%s + %s", (long long)p->offset, p->moves.n > 0 ? p->moves.at : "", ce_nest_at(e, nest, 0));
  if (p->list == NULL) return at;
  const char *k = ce_text(e, "k%d", e->n_labels++);
  ce_line(e, "const int64_t %s = %s[%s];", k, ce_p(e, p->list), ce_nest_at(e, nest, 2));
  return ce_text(e, "%s + %s * %lld", at, emit_resolved(e, k, p->list_length), (long long)p->list_stride);
}

/* Positions are checked before anything is written. */
static void emit_part_check(c_emit *e, const c_part *p) {
  if (p->list == NULL || p->list_checked) return;
  c_nest nest;
  ce_nest_init(e, &nest, p->list->ndim, p->list->shape, 1, (const int64_t *const[]){p->list->strides});
  ce_nest_open(e, &nest);
  if (nest.n_axes == 0) ce_open(e, "%s", "");
  ce_line(e, "const int64_t k = %s[%s];", ce_p(e, p->list), ce_nest_at(e, &nest, 0));
  emit_position_check(e, "k", p->list_length);
  if (nest.n_axes == 0) ce_close(e);
  ce_nest_close(e, &nest);
}

static int64_t emit_part_size(const c_part *p) {
  int64_t n = 1;
  for (int k = 0; k < p->ndim; k++) n *= p->shape[k];
  return n;
}

damo_status advsubtensor_emit_c(c_emit *e, const damo_apply *node) {
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
    ce_nest_close(e, &nest);
    ce_close(e);
  }
  strbuf_clear(&p.moves);
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
  const c_value *out = y != NULL ? ce_out_inplace(e, 0, 0) : NULL;
  if (out == NULL) return e->status;
  if (emit_part_of(e, node, 2, out, &p) == DAMO_OK && emit_part_size(&p) > 0) {
    emit_part_check(e, &p);
    ce_strides_along(y, p.ndim, from);
    ce_open(e, "%s", "");
    const char *at = emit_part_open(e, &p, from, &nest);
    const char *value = y->known != NULL && array_size(y->known) == 1
                            ? ce_literal(e, y->known, y->dtype)
                            : ce_text(e, "%s[%s]", ce_p(e, y), ce_nest_at(e, &nest, 1));
    ce_line(e,
            set                       ? "%s[%s] = %s;"
            : out->dtype == DAMO_BOOL ? "%s[%s] |= %s;"
                                      : "%s[%s] += %s;",
            ce_p(e, out), at, ce_cast(e, y->dtype, out->dtype, value));
    ce_nest_close(e, &nest);
    ce_close(e);
  }
  strbuf_clear(&p.moves);
  return e->status;
}

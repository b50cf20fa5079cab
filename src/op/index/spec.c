/* spec: index specs: parsing, ranges and positions, static and at run time. Positions are 1-based and ranges inclusive,
 * as scripts write them; range_resolve and position_resolve convert them to 0-based ones.
 */
#include "index_int.h"
#include "op/elem/build_arith.h"

#include <string.h>

/* Parses the item at p; returns the text after it, NULL when it is no item. */
static const char *parse_item(const char *p, index_spec *spec) {
  index_item *item = &spec->item[spec->n];
  *item = (index_item){.operand = (int16_t)spec->n_operands};
  switch (*p++) {
    case 'i': item->kind = ITEM_POSITION, spec->n_operands++; return p;
    case 'n': item->kind = ITEM_NEWAXIS; return p;
    case 'e': item->kind = ITEM_ELLIPSIS; return p;
    case 'l': item->kind = ITEM_LIST, spec->n_operands++, spec->advanced = true; return p;
    case 's': break;
    default: return NULL;
  }
  item->kind = ITEM_RANGE;
  for (int k = 0; k < 3; k++, p++) {
    if (*p != '0' && *p != '1') return NULL;
    if (*p == '1') item->given |= (uint8_t)(1 << k), spec->n_operands++;
  }
  return p;
}

damo_status index_spec_parse(damo_ctx *ctx, const char *spec, index_spec *out) {
  bool ellipsis = false;
  *out = (index_spec){0};
  for (const char *p = spec; *p;) {
    if (out->n == INDEX_MAX_ITEMS) return ctx_fail(ctx, DAMO_EINDEX, "index: more than %d items", INDEX_MAX_ITEMS);
    p = parse_item(p, out);
    if (!p) return ctx_fail(ctx, DAMO_EVALUE, "index: '%s' is not an index spec", spec);
    if (out->item[out->n].kind == ITEM_ELLIPSIS) {
      if (ellipsis) return ctx_fail(ctx, DAMO_EINDEX, "index: an ellipsis may stand once");
      ellipsis = true;
    }
    out->n++;
  }
  return DAMO_OK;
}

damo_status index_op_init(damo_op *op) {
  if (OP_PROPS(op, index_props)->spec.kind != PROP_STR)
    return ctx_fail(op->obj.ctx, DAMO_ETYPE, "%s: spec must be a string", op->def->name);
  return index_spec_parse(op->obj.ctx, OP_PROPS(op, index_props)->spec.u.s, op->data);
}

void index_read_notate(const damo_apply *node, op_notation *how) {
  how->spec = OP_PROPS(node->op, index_props)->spec.kind == PROP_STR ? OP_PROPS(node->op, index_props)->spec.u.s : NULL;
  how->first = 1;
}

void index_write_notate(const damo_apply *node, op_notation *how) {
  how->spec = OP_PROPS(node->op, index_props)->spec.u.s;
  how->first = 2;
  how->write = OP_PROPS(node->op, index_props)->set_instead_of_inc.u.i ? "set_subtensor(" : "inc_subtensor(";
}

damo_status index_axes_of(damo_ctx *ctx, const char *func, const index_spec *spec, int ndim, const int *rank,
                          index_axes *out) {
  int used = 0, fill_at = spec->n;
  for (int i = 0; i < spec->n; i++) {
    const index_item *it = &spec->item[i];
    if (it->kind == ITEM_ELLIPSIS)
      fill_at = i;
    else if (it->kind == ITEM_LIST)
      used += rank[it->operand];
    else if (it->kind != ITEM_NEWAXIS)
      used++;
  }
  if (used > ndim)
    return ctx_fail(ctx, DAMO_EINDEX, "%s: too many indices: %d for an operand with %d %s", func, used, ndim,
                    ndim == 1 ? "axis" : "axes");
  *out = (index_axes){ndim, ndim - used, fill_at};
  return DAMO_OK;
}

damo_status position_resolve(damo_ctx *ctx, const char *func, int axis, int64_t n, int64_t position, int64_t *out) {
  int64_t at = position < 0 ? position + n : position - 1;
  if (position != 0 && at >= 0 && at < n) {
    *out = at;
    return DAMO_OK;
  }
  return ctx_fail(ctx, DAMO_EINDEX, "%s: position %lld is outside axis %d of length %lld%s", func, (long long)position,
                  axis + 1, (long long)n, INDEX_HINT(position));
}

#define SHORT_LIST 64 /* entries; longer lists are checked only at run time */

damo_status position_check_known(damo_ctx *ctx, const char *func, const damo_var *positions) {
  const damo_array *a = positions ? var_constant_array(positions) : NULL;
  if (!a || a->ndim > 1 || array_dtype(a) != DAMO_INT64 || array_size(a) > SHORT_LIST) return DAMO_OK;
  for (int64_t i = 0; i < array_size(a); i++) {
    if (array_get(a, &i).v.i == 0)
      return ctx_fail(ctx, DAMO_EINDEX, "%s: there is no position 0%s", func, INDEX_HINT(0));
  }
  return DAMO_OK;
}

static int64_t from_end(int64_t v, int64_t n) { return v < 0 ? v + n + 1 : v; }

damo_status range_resolve(damo_ctx *ctx, const char *func, int axis, int64_t n, const int64_t *start,
                          const int64_t *stop, int64_t step, int64_t *first, int64_t *count) {
  if (step == 0) return ctx_fail(ctx, DAMO_EVALUE, "%s: the step of a range on axis %d is 0", func, axis + 1);
  int64_t a = start ? from_end(*start, n) : step > 0 ? 1 : n, z = stop ? from_end(*stop, n) : step > 0 ? n : 1;
  *first = *count = 0;
  if (step > 0 ? z < a : z > a) return DAMO_OK;
  if (a < 1 || a > n || z < 1 || z > n) {
    bool at_start = a < 1 || a > n;
    const int64_t end = at_start ? (start ? *start : a) : (stop ? *stop : z);
    return ctx_fail(ctx, DAMO_EINDEX, "%s: the range's %s, %lld, is outside axis %d of length %lld%s", func,
                    at_start ? "start" : "stop", (long long)end, axis + 1, (long long)n, INDEX_HINT(end));
  }
  *first = a - 1;
  *count = (z - a) / step + 1;
  return DAMO_OK;
}

void range_ends(const index_item *item, damo_var *const *idx, damo_var **ends) {
  int at = item->operand;
  for (int k = 0; k < 3; k++) ends[k] = item->given >> k & 1 ? idx[at++] : NULL;
}

/* The count may be known where n is not: ends that are counted from the same side differ by a known number. The range
 * cannot be shorter than that, since an end outside the axis is an error. */
damo_status range_static(damo_ctx *ctx, const char *func, int axis, int64_t n, damo_var *const *ends, int64_t *count) {
  int64_t v[3] = {0, 0, 1}, first;
  bool known[3];
  *count = -1;
  for (int k = 0; k < 3; k++) known[k] = !ends[k] || var_static_int(ends[k], &v[k]);
  if (!known[2]) return DAMO_OK;
  if (v[2] == 0) return ctx_fail(ctx, DAMO_EVALUE, "%s: the step of a range on axis %d is 0", func, axis + 1);
  if (n < 0 && known[0] && ends[0] && v[0] == 0 && v[2] > 0 && (!ends[1] || (known[1] && v[1] >= 0)))
    return ctx_fail(ctx, DAMO_EINDEX, "%s: the range's start on axis %d is 0%s", func, axis + 1, INDEX_HINT(0));
  if (!ends[0] && !ends[1] && n < 0) return DAMO_OK;
  if (!known[0] || !known[1]) return DAMO_OK;
  if (n >= 0)
    return range_resolve(ctx, func, axis, n, ends[0] ? &v[0] : NULL, ends[1] ? &v[1] : NULL, v[2], &first, count);
  int64_t a = ends[0] ? v[0] : v[2] > 0 ? 1 : -1, z = ends[1] ? v[1] : v[2] > 0 ? -1 : 1;
  if ((a < 0) != (z < 0)) return DAMO_OK;
  *count = (v[2] > 0 ? z < a : z > a) ? 0 : (z - a) / v[2] + 1;
  return DAMO_OK;
}

/* The 1-based position v, which counts from the end of an axis of n entries where it is negative. */
static damo_var *end_position(build *b, damo_var *v, damo_var *n) {
  int64_t known;
  damo_var *wrapped = build_add(b, v, build_add(b, n, build_i64(b, 1)));
  if (var_static_int(v, &known)) return known < 0 ? wrapped : v;
  return build_switch(b, build_lt(b, v, build_i64(b, 0)), wrapped, v);
}

damo_var *range_length(build *b, damo_var *n, damo_var *const *ends) {
  int64_t step = 1;
  bool known = !ends[2] || var_static_int(ends[2], &step);
  if (!n || b->status != DAMO_OK) return NULL;
  if (!ends[0] && !ends[1] && known && (step == 1 || step == -1)) return n;
  damo_var *one = build_i64(b, 1), *by = ends[2] ? ends[2] : one;
  damo_var *up = known ? NULL : build_gt(b, by, build_i64(b, 0));
  damo_var *low = known ? (step > 0 ? one : n) : build_switch(b, up, one, n);
  damo_var *high = known ? (step > 0 ? n : one) : build_switch(b, up, n, one);
  damo_var *a = ends[0] ? end_position(b, ends[0], n) : low, *z = ends[1] ? end_position(b, ends[1], n) : high;
  damo_var *span = build_floor_div(b, build_sub(b, z, a), by);
  return build_maximum(b, build_add(b, span, one), build_i64(b, 0));
}

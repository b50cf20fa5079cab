/* advanced_type: the Type of x[spec]: its static shape, as far as the operands' Types and constants give it, and its
 * lengths as Variables. Constant lists are checked here.
 */
#include "advanced.h"

#include <string.h>

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
  *l = (adv_layout){.side = adv_lists_adjacent(spec) ? 0 : 1};
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

damo_status adv_type(const damo_op *op, const damo_type *x, damo_var *const *idx, int n_idx, damo_type **out) {
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

damo_status adv_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape, damo_var ***out_shape) {
  const index_spec *spec = node->op->data;
  const int64_t *known = node->out[0]->type->shape;
  index_axes axes;
  adv_layout l;
  int rank[3 * INDEX_MAX_ITEMS], axis = 0, o = 0, side = adv_lists_adjacent(spec) ? 0 : 1;
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

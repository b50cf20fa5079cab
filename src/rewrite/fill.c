/* fill.c: rules for fills, that is second(like, value) and Alloc(value, lengths…). The nodes that use a fill can
 * broadcast its value, so most fills need not be computed. */
#include "rewrite_int.h"
#include "op/elem/scalar.h"
#include "op/elem/build_arith.h"
#include "op/op.h"

static bool is_repeated_scalar(const damo_var *fill) {
  const damo_var *v = match_fill(fill);
  return v != NULL && var_ndim(v) == 0;
}

/* The same fill of another value. */
static damo_var *fill_with(build *b, const damo_var *fill, damo_var *value) {
  const damo_apply *node = fill->owner;
  if (value == NULL) return NULL;
  if (node->op->def == &elemwise_def) return build_second(b, node->in[0], value);
  return build_alloc(b, value, node->in + 1, node->n_in - 1);
}

/* x * second(x, v) → x * v: a fill among the operands is replaced by its value if another operand has its shape. */
static damo_status sink_fill(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *in[8];
  if (node->n_in < 2 || node->n_in > 8) return DAMO_OK;
  for (int i = 0; i < node->n_in; i++) {
    damo_var *value = match_fill(node->in[i]);
    if (value == NULL || value == node->in[i]) continue;
    for (int j = 0; j < node->n_in; j++) {
      if (j == i || node->in[j] == node->in[i] || !match_fill_shape(node->in[j], node->in[i])) continue;
      for (int k = 0; k < node->n_in; k++) in[k] = k == i ? value : node->in[k];
      return rule_give(b, repl, did, build_op(b, damo_retain(node->op), in, node->n_in));
    }
  }
  return DAMO_OK;
}

/* Whether all operands but i are 0-d, so that the result has the fill's shape. */
static bool others_are_single(const damo_apply *node, int i) {
  for (int j = 0; j < node->n_in; j++) {
    if (j != i && var_ndim(node->in[j]) != 0) return false;
  }
  return true;
}

/* f(second(a, v), c) → second(a, f(v, c)) for scalars v and c: f is computed once. */
static damo_status lift_fill(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *in[8];
  if (node->n_in > 8 || var_ndim(node->out[0]) == 0) return DAMO_OK;
  for (int i = 0; i < node->n_in; i++) {
    if (!is_repeated_scalar(node->in[i]) || !others_are_single(node, i)) continue;
    for (int k = 0; k < node->n_in; k++) in[k] = k == i ? match_fill(node->in[i]) : node->in[k];
    damo_var *value = build_op(b, damo_retain(node->op), in, node->n_in);
    return rule_give(b, repl, did, fill_with(b, node->in[i], value));
  }
  return DAMO_OK;
}

/* Drops a fill whose value already has the fill's shape. */
static damo_status drop_fill(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *value = match_fill(node->out[0]);
  if (value == NULL) return DAMO_OK;
  const bool same = var_ndim(value) == var_ndim(node->out[0]) && match_fill_shape(value, node->out[0]);
  return rule_give(b, repl, did, same ? value : NULL);
}

damo_var *rule_without_new_axes(build *b, damo_var *v) {
  const damo_apply *shuffle = match_class(v, &dimshuffle_def);
  const damo_array *a = var_constant_array(v);
  if (a != NULL && var_ndim(v) > 0 && array_size(a) == 1)
    return build_value(b, (damo_obj *)array_from_scalar(b->ctx, array_get(a, (const int64_t[DAMO_MAX_NDIM]){0})));
  if (shuffle == NULL) return NULL;
  const prop_value *order = OP_PROPS(shuffle->op, dimshuffle_props)->new_order.u.list;
  const int lead = var_ndim(v) - var_ndim(shuffle->in[0]);
  for (int i = 0; i < var_ndim(v); i++) {
    if (i < lead ? order[i].kind == PROP_INT : order[i].kind != PROP_INT || order[i].u.i != i - lead + 1) return NULL;
  }
  return lead > 0 ? shuffle->in[0] : NULL;
}

/* A fill of DimShuffle(scalar) → a fill of the scalar; of a constant with one entry too. */
static damo_status strip_fill(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *value = match_fill(node->out[0]), *bare = value != NULL ? rule_without_new_axes(b, value) : NULL;
  if (bare == NULL || var_ndim(bare) != 0) return b->status;
  return rule_give(b, repl, did, fill_with(b, node->out[0], bare));
}

/* f(x, DimShuffle{x, 1}(y)) → f(x, y): an operand that another one has the rank of broadcasts as it is. */
static damo_status strip_operand(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  damo_var *in[8], *bare;
  (void)fg;
  if (node->n_in < 2 || node->n_in > 8 || node->op->destroy_map != NULL) return DAMO_OK;
  for (int i = 0; i < node->n_in; i++) {
    bool other = false;
    for (int k = 0; k < node->n_in; k++) other = other || (k != i && var_ndim(node->in[k]) == var_ndim(node->out[0]));
    if (!other || (bare = rule_without_new_axes(b, node->in[i])) == NULL) continue;
    for (int k = 0; k < node->n_in; k++) in[k] = k == i ? bare : node->in[k];
    return rule_give(b, repl, did, build_op(b, damo_retain(node->op), in, node->n_in));
  }
  return b->status;
}

/* second(second(a, u), v) → second(a, v) if u has one entry, so that its shape can't conflict with a's */
static damo_status join_fills(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  const damo_apply *below = match_scalar(node->in[0], SCALAR_second);
  if (below == NULL || !match_fits(below, 0) || !match_single_entry(below->in[1])) return DAMO_OK;
  return rule_give(b, repl, did, build_second(b, below->in[0], node->in[1]));
}

/* DimShuffle(second(a, v)) → second(DimShuffle(a), v) for a scalar v */
static damo_status lift_fill_over_dimshuffle(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *x = node->in[0], *dims[DAMO_MAX_NDIM], *one;
  if (!is_repeated_scalar(x) || var_ndim(node->out[0]) == 0) return DAMO_OK;
  const damo_apply *fill = x->owner;
  if (fill->op->def == &elemwise_def) {
    if (var_ndim(fill->in[0]) != var_ndim(x)) return DAMO_OK;
    damo_var *like = build_op(b, damo_retain(node->op), &fill->in[0], 1);
    return rule_give(b, repl, did, like != NULL ? build_second(b, like, fill->in[1]) : NULL);
  }
  one = build_scalar(b, DAMO_INT64, 1);
  for (int i = 0; i < var_ndim(node->out[0]); i++) {
    const prop_value *from = &OP_PROPS(node->op, dimshuffle_props)->new_order.u.list[i];
    dims[i] = from->kind == PROP_INT ? fill->in[from->u.i] : one;
  }
  return rule_give(b, repl, did, build_alloc(b, fill->in[0], dims, var_ndim(node->out[0])));
}

/* v times count, but 0 if count is 0: the plain product would be nan for a v that is nan or infinite. */
static damo_var *times_count(build *b, damo_var *v, damo_var *count) {
  damo_var *product = build_mul(b, v, build_cast(b, count, var_dtype(v)));
  int64_t known;
  if (dtype_is_discrete(var_dtype(v)) || (var_static_int(count, &known) && known != 0)) return product;
  damo_var *zero = build_scalar(b, var_dtype(v), 0), *empty = build_eq(b, count, build_scalar(b, DAMO_INT64, 0));
  return product != NULL && empty != NULL ? build_switch(b, empty, zero, product) : NULL;
}

/* The sum of a repeated scalar is its value times the number of summed entries, repeated for the axes that stay. Not for
 * complex values: an infinite one times a count has nan parts. */
static damo_status sum_fill(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *x = node->in[0], *out = node->out[0], *dims[DAMO_MAX_NDIM];
  if (reduce_op_kind(node->op) != REDUCE_SUM || !is_repeated_scalar(x)) return DAMO_OK;
  if (dtype_is_complex(var_dtype(out)) || prop_bool_or(OP_PROPS(node->op, reduce_props)->keepdims, false))
    return DAMO_OK;
  const uint32_t mask = reduce_op_axes(node->op, var_ndim(x));
  damo_var *count = build_scalar(b, DAMO_INT64, 1);
  int n = 0;
  for (int k = 0; k < var_ndim(x); k++) {
    if (mask >> k & 1)
      count = build_mul(b, count, build_dim(b, x, k));
    else
      dims[n++] = build_dim(b, x, k);
  }
  if (count == NULL) return b->status;
  damo_var *value = build_cast(b, match_fill(x), var_dtype(out));
  value = value != NULL ? times_count(b, value, count) : NULL;
  return rule_give(b, repl, did, n == 0 || value == NULL ? value : build_alloc(b, value, dims, n));
}

/* second(a, v) → Alloc(v, lengths of a), so that only a's lengths are needed, not its values. */
static damo_status fill_by_lengths(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *dims[DAMO_MAX_NDIM];
  int n = var_ndim(node->out[0]);
  if (n == 0 || !match_fits(node, 0)) return DAMO_OK;
  for (int k = 0; k < n; k++) dims[k] = build_dim(b, node->in[0], k);
  if (b->status != DAMO_OK) return b->status;
  return rule_give(b, repl, did, build_alloc(b, node->in[1], dims, n));
}

#define RULE(rule_name, rule_phase, rule_tags, fn, ...) \
  { .name = rule_name, .phase = rule_phase, .tags = rule_tags, .local = fn, __VA_ARGS__ }
#define ROW(...) RULE(__VA_ARGS__)
#define FILLS TRACKS(&elemwise_def, &alloc_def), SCALARS(SCALAR_second)
#define CANONICAL PHASE_CANONICALIZE, "fast_run canonicalize fill"
#define SPECIAL PHASE_SPECIALIZE, "fast_run specialize fill"

const rewrite_rule fill_rules[] = {
    ROW("drop_fill", CANONICAL, drop_fill, FILLS),
    ROW("strip_fill", CANONICAL, strip_fill, FILLS),
    ROW("join_fills", CANONICAL, join_fills, ELEMWISE(SCALAR_second)),
    ROW("strip_operand", CANONICAL, strip_operand, TRACKS(&elemwise_def)),
    ROW("sink_fill", CANONICAL, sink_fill, TRACKS(&elemwise_def)),
    ROW("lift_fill", CANONICAL, lift_fill, TRACKS(&elemwise_def)),
    ROW("lift_fill_over_dimshuffle", CANONICAL, lift_fill_over_dimshuffle, TRACKS(&dimshuffle_def)),
    ROW("sum_fill", CANONICAL " inexact", sum_fill, TRACKS(&reduce_def)),
    ROW("fill_by_lengths", SPECIAL, fill_by_lengths, ELEMWISE(SCALAR_second)),
    ROW("drop_fill_again", SPECIAL, drop_fill, FILLS),
    ROW("strip_fill_again", SPECIAL, strip_fill, FILLS),
    ROW("sink_fill_again", SPECIAL, sink_fill, TRACKS(&elemwise_def)),
    ROW("lift_fill_again", SPECIAL, lift_fill, TRACKS(&elemwise_def)),
    {.name = NULL},
};

#undef RULE
#undef ROW
#undef FILLS
#undef CANONICAL
#undef SPECIAL

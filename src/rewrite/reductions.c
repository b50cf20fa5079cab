/* reductions.c: rules for reductions: of reductions, over axes of length 1, of moved axes, of signs, scales and repeated
 * values.
 *
 * Extrema, any, all and sums of integers are the same in any order; sums and products of floats agree within rounding,
 * and those rules are tagged inexact. A factor leaves a sum if it is finite for all finite inputs.
 */
#include "rewrite_int.h"
#include "op/elem/scalar.h"
#include "op/elem/build_arith.h"
#include "op/op.h"

static bool keeps_dims(const damo_op *op) { return prop_bool_or(OP_PROPS(op, reduce_props)->keepdims, false); }

static bool is_fold(reduce_kind kind) {
  return kind == REDUCE_SUM || kind == REDUCE_PROD || kind == REDUCE_MAX || kind == REDUCE_MIN || kind == REDUCE_ANY ||
         kind == REDUCE_ALL;
}

/* Whether the fold of values of that dtype has the same bits in any order. */
static bool any_order(reduce_kind kind, damo_dtype dtype) {
  return (kind != REDUCE_SUM && kind != REDUCE_PROD) || dtype_is_discrete(dtype);
}

/* The axes as a list; returns their number. */
static int list_axes(uint32_t mask, int ndim, int *axes) {
  int n = 0;
  for (int k = 0; k < ndim; k++) {
    if (mask >> k & 1) axes[n++] = k;
  }
  return n;
}

/* ---- Of a reduction, of moved axes ------------------------------------------------------------------------------- */

/* sum(sum(x, axis = i), axis = j) → sum(x, both axes); products, extrema, any, all alike. */
static damo_var *joined_reductions(build *b, const damo_fgraph *fg, const damo_apply *node, bool exact) {
  const damo_apply *below = match_class(node->in[0], &reduce_def);
  const reduce_kind kind = reduce_op_kind(node->op);
  if (below == NULL || reduce_op_kind(below->op) != kind || !is_fold(kind) || !match_single_use(fg, node->in[0]))
    return NULL;
  if (keeps_dims(node->op) || keeps_dims(below->op) || var_dtype(node->in[0]) != var_dtype(node->out[0])) return NULL;
  if (any_order(kind, var_dtype(node->out[0])) != exact) return NULL;
  const int ndim = var_ndim(below->in[0]);
  const uint32_t inner = reduce_op_axes(below->op, ndim), outer = reduce_op_axes(node->op, var_ndim(node->in[0]));
  uint32_t mask = inner;
  int axes[DAMO_MAX_NDIM];
  for (int k = 0, kept = 0; k < ndim; k++) {
    if (inner >> k & 1) continue;
    if (outer >> kept++ & 1) mask |= UINT32_C(1) << k;
  }
  return build_reduce(b, kind, below->in[0], axes, list_axes(mask, ndim, axes), false);
}

/* The sum of all entries of a transposed array → that of the array itself. */
static damo_var *reduction_of_moved(build *b, const damo_fgraph *fg, const damo_apply *node, bool exact) {
  const damo_apply *moved = match_class(node->in[0], &dimshuffle_def);
  const reduce_kind kind = reduce_op_kind(node->op);
  if (moved == NULL || !is_fold(kind) || var_ndim(node->out[0]) != 0) return NULL;
  for (int k = 0; k < var_ndim(moved->in[0]); k++) { /* the node checks the length of an axis that it drops */
    bool kept = type_dim_is_one(moved->in[0]->type, k);
    for (int i = 0; i < var_ndim(moved->out[0]) && !kept; i++) {
      const prop_value *from = &OP_PROPS(moved->op, dimshuffle_props)->new_order.u.list[i];
      kept = from->kind == PROP_INT && from->u.i == k + 1;
    }
    if (!kept) return NULL;
  }
  if (any_order(kind, var_dtype(node->out[0])) != exact || match_lifts(fg, moved)) return NULL;
  damo_var *v = build_reduce(b, kind, moved->in[0], NULL, -1, false);
  return v != NULL ? build_cast(b, v, var_dtype(node->out[0])) : NULL;
}

static damo_status join_reductions(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  damo_var *v = joined_reductions(b, fg, node, true);
  if (v == NULL && b->status == DAMO_OK) v = reduction_of_moved(b, fg, node, true);
  return rule_give(b, repl, did, v);
}

static damo_status join_sums(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  damo_var *v = joined_reductions(b, fg, node, false);
  if (v == NULL && b->status == DAMO_OK) v = reduction_of_moved(b, fg, node, false);
  return rule_give(b, repl, did, v);
}

/* ---- Over axes of length 1 --------------------------------------------------------------------------------------- */

/* A reduction over axes that have length 1 → those axes dropped. Inexact: the sum of -0 alone is 0. */
static damo_status reduce_ones(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *x = node->in[0];
  const reduce_kind kind = reduce_op_kind(node->op);
  const int ndim = var_ndim(x);
  const uint32_t mask = reduce_op_axes(node->op, ndim);
  int kept[DAMO_MAX_NDIM], n = 0;
  if (!is_fold(kind)) return DAMO_OK;
  for (int k = 0; k < ndim; k++) {
    if (!(mask >> k & 1)) kept[n++] = k;
    if ((mask >> k & 1) && !type_dim_is_one(x->type, k)) return DAMO_OK;
  }
  damo_var *v = keeps_dims(node->op) ? x : build_dimshuffle(b, x, kept, n);
  if (v != NULL && (kind == REDUCE_ANY || kind == REDUCE_ALL) && var_dtype(v) != DAMO_BOOL)
    v = build_neq(b, v, build_scalar(b, var_dtype(v), 0));
  return rule_give(b, repl, did, v != NULL ? build_cast(b, v, var_dtype(node->out[0])) : NULL);
}

/* ---- Signs and scales -------------------------------------------------------------------------------------------- */

/* Whether v comes from an elementwise node that one loop computes together with the sum: a sign or a factor costs
 * nothing there, and would need a node of its own outside. */
static bool is_in_loop(const damo_var *v) { return match_class(v, &elemwise_def) != NULL; }

/* sum(-x) → -sum(x) */
static damo_status sum_of_neg(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  const damo_apply *neg = match_scalar(node->in[0], SCALAR_neg);
  if (neg == NULL || reduce_op_kind(node->op) != REDUCE_SUM || !match_single_use(fg, node->in[0])) return DAMO_OK;
  if (is_in_loop(neg->in[0])) return DAMO_OK;
  if (var_dtype(node->in[0]) != var_dtype(node->out[0])) return DAMO_OK;
  damo_var *sum = build_op(b, damo_retain(node->op), &neg->in[0], 1);
  return rule_give(b, repl, did, sum != NULL ? build_neg(b, sum) : NULL);
}

/* -max(-x) → min(x), -min(-x) → max(x); not of integers, whose least value has no negative. */
static damo_status neg_of_extremum(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  const damo_apply *reduce = match_class(node->in[0], &reduce_def);
  if (reduce == NULL || !match_single_use(fg, node->in[0]) || !dtype_is_float(var_dtype(node->out[0]))) return DAMO_OK;
  const reduce_kind kind = reduce_op_kind(reduce->op);
  const damo_apply *neg = match_scalar(reduce->in[0], SCALAR_neg);
  if (neg == NULL || (kind != REDUCE_MAX && kind != REDUCE_MIN) || !match_single_use(fg, reduce->in[0])) return DAMO_OK;
  int axes[DAMO_MAX_NDIM];
  const int n = list_axes(reduce_op_axes(reduce->op, var_ndim(neg->in[0])), var_ndim(neg->in[0]), axes);
  return rule_give(
      b, repl, did,
      build_reduce(b, kind == REDUCE_MAX ? REDUCE_MIN : REDUCE_MAX, neg->in[0], axes, n, keeps_dims(reduce->op)));
}

/* The factor f, which has length 1 along the reduced axes of an operand of rank ndim, for the result: without these axes
 * if they are dropped. */
static damo_var *factor_of_result(build *b, damo_var *f, int ndim, uint32_t mask, bool keepdims) {
  int pattern[DAMO_MAX_NDIM], n = 0;
  const int lead = ndim - var_ndim(f);
  for (int k = 0; k < var_ndim(f); k++) {
    if (keepdims || !(mask >> (k + lead) & 1)) pattern[n++] = k;
  }
  return n == var_ndim(f) ? f : build_dimshuffle(b, f, pattern, n);
}

static bool may_leave_sum(const damo_var *f, int ndim, uint32_t mask, bool divides) {
  const int lead = ndim - var_ndim(f);
  for (int k = 0; k < var_ndim(f); k++) {
    if ((mask >> (k + lead) & 1) && !type_dim_is_one(f->type, k)) return false;
  }
  return match_facts(f, divides ? FACT_FINITE | FACT_NONZERO : FACT_FINITE);
}

/* sum(f·x) → f·sum(x), sum(x/f) → sum(x)/f for a factor that is the same for all terms. */
static damo_status sum_of_scaled(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  damo_var *x = node->in[0];
  const damo_apply *mul = match_scalar(x, SCALAR_mul);
  const bool divides = mul == NULL && (mul = match_scalar(x, SCALAR_true_div)) != NULL;
  const damo_dtype dtype = var_dtype(node->out[0]);
  if (mul == NULL || reduce_op_kind(node->op) != REDUCE_SUM || !match_single_use(fg, x)) return DAMO_OK;
  if (dtype == DAMO_BOOL || dtype_is_complex(dtype)) return DAMO_OK;
  const uint32_t mask = reduce_op_axes(node->op, var_ndim(x));
  for (int i = 1; i >= (divides ? 1 : 0); i--) {
    damo_var *f = mul->in[i], *rest = mul->in[1 - i];
    if (var_dtype(f) != dtype || var_dtype(rest) != dtype || !match_fits(mul, 1 - i)) continue;
    if (!may_leave_sum(f, var_ndim(x), mask, divides) || is_in_loop(rest)) continue;
    damo_var *sum = build_op(b, damo_retain(node->op), &rest, 1);
    f = factor_of_result(b, f, var_ndim(x), mask, keeps_dims(node->op));
    if (sum == NULL || f == NULL) return b->status;
    return rule_give(b, repl, did, divides ? build_true_div(b, sum, f) : build_mul(b, f, sum));
  }
  return DAMO_OK;
}

/* max, min, any, all of one value, repeated at least once → the value. */
static damo_status reduce_fill(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *x = node->in[0], *dims[DAMO_MAX_NDIM], *value = match_fill(x);
  const reduce_kind kind = reduce_op_kind(node->op);
  if (value == NULL || var_ndim(value) != 0 || !is_fold(kind) || kind == REDUCE_SUM || kind == REDUCE_PROD)
    return DAMO_OK;
  if (var_dtype(value) != var_dtype(node->out[0])) return DAMO_OK;
  for (int k = 0; k < var_ndim(x); k++) {
    if (x->type->shape[k] < 1) return DAMO_OK;
  }
  for (int k = 0; k < var_ndim(node->out[0]); k++) dims[k] = build_dim(b, node->out[0], k);
  return rule_give(b, repl, did,
                   var_ndim(node->out[0]) == 0 ? value : build_alloc(b, value, dims, var_ndim(node->out[0])));
}

/* Whether x is Alloc(v, lengths…) of a v that has the shape of the last axes, and the mask has the others: v is repeated
 * along new first axes, and reduced along these. */
static bool reduces_new_axes(const damo_var *x, uint32_t mask) {
  const damo_apply *alloc = match_class(x, &alloc_def);
  const damo_var *v = alloc != NULL ? alloc->in[0] : NULL;
  if (v == NULL || var_ndim(v) == 0 || var_ndim(v) == var_ndim(x)) return false;
  const int lead = var_ndim(x) - var_ndim(v);
  if (mask != (UINT32_C(1) << lead) - 1) return false;
  for (int k = 0; k < var_ndim(v); k++) { /* the Alloc checks these lengths */
    if (!match_length(alloc->in[1 + lead + k], v, k)) return false;
  }
  return true;
}

/* The extremum, any and all along new axes of a repeated array → the array. */
static damo_status reduce_repeated(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)b, (void)fg;
  damo_var *x = node->in[0];
  const reduce_kind kind = reduce_op_kind(node->op);
  const uint32_t mask = reduce_op_axes(node->op, var_ndim(x));
  if (!is_fold(kind) || kind == REDUCE_SUM || kind == REDUCE_PROD || keeps_dims(node->op)) return DAMO_OK;
  if (!reduces_new_axes(x, mask) || var_dtype(x) != var_dtype(node->out[0])) return DAMO_OK;
  for (int k = 0; k < var_ndim(x); k++) {
    if ((mask >> k & 1) && x->type->shape[k] < 1) return DAMO_OK;
  }
  return rule_give(b, repl, did, x->owner->in[0]);
}

/* The sum along new axes, of known lengths, of a repeated array → the array times their product. */
static damo_status sum_repeated(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *x = node->in[0];
  const damo_dtype dtype = var_dtype(node->out[0]);
  const uint32_t mask = reduce_op_axes(node->op, var_ndim(x));
  double count = 1;
  if (reduce_op_kind(node->op) != REDUCE_SUM || keeps_dims(node->op) || !reduces_new_axes(x, mask)) return DAMO_OK;
  if (dtype == DAMO_BOOL || dtype_is_complex(dtype) || var_dtype(x) != dtype) return DAMO_OK;
  for (int k = 0; k < var_ndim(x); k++) {
    if ((mask >> k & 1) && x->type->shape[k] < 1) return DAMO_OK;
    if (mask >> k & 1) count *= (double)x->type->shape[k];
  }
  return rule_give(b, repl, did, build_mul(b, build_scalar(b, dtype, count), x->owner->in[0]));
}

#define RULE(rule_name, extra, fn, ...) \
  { .name = rule_name, .phase = PHASE_CANONICALIZE, .tags = "fast_run canonicalize" extra, .local = fn, __VA_ARGS__ }

const rewrite_rule reduction_rules[] = {
    RULE("join_reductions", "", join_reductions, TRACKS(&reduce_def)),
    RULE("reduce_fill", "", reduce_fill, TRACKS(&reduce_def)),
    RULE("reduce_repeated", "", reduce_repeated, TRACKS(&reduce_def)),
    RULE("sum_repeated", " inexact", sum_repeated, TRACKS(&reduce_def)),
    RULE("neg_of_extremum", "", neg_of_extremum, ELEMWISE(SCALAR_neg)),
    RULE("join_sums", " inexact", join_sums, TRACKS(&reduce_def)),
    RULE("reduce_ones", " inexact", reduce_ones, TRACKS(&reduce_def)),
    RULE("sum_of_neg", " inexact", sum_of_neg, TRACKS(&reduce_def)),
    RULE("sum_of_scaled", " inexact", sum_of_scaled, TRACKS(&reduce_def)),
    {.name = NULL},
};

#undef RULE

/* stabilize.c: forms that stay accurate where the plain formula overflows or cancels. For real floats only; where the
 * plain formula is accurate, the values agree up to rounding. */
#include "rewrite_int.h"
#include "op/elem/scalar.h"
#include "op/elem/build_arith.h"
#include "op/elem/build_math.h"
#include "op/elem/build_special.h"
#include "op/op.h"

#include <math.h>

static bool is_float(const damo_var *v) { return type_is_tensor(v->type) && dtype_is_float(var_dtype(v)); }

/* x if v is id(x) with x of v's dtype, else NULL. */
static damo_var *unary_operand(const damo_var *v, scalar_id id) {
  const damo_apply *node = match_scalar(v, id);
  return node != NULL && is_float(v) && var_dtype(node->in[0]) == var_dtype(v) ? node->in[0] : NULL;
}

/* The other operand of v, if v is the binary scalar op id with the constant `value` as its operand i (-1: either); else
 * NULL. */
static damo_var *operand_beside(const damo_var *v, scalar_id id, double value, int i) {
  const damo_apply *node = match_scalar(v, id);
  if (node == NULL || !is_float(v)) return NULL;
  for (int k = 0; k < 2; k++) {
    if ((i >= 0 && k != i) || !match_constant(node->in[k], value) || !match_fits(node, 1 - k)) continue;
    return var_dtype(node->in[1 - k]) == var_dtype(v) ? node->in[1 - k] : NULL;
  }
  return NULL;
}

static damo_var *match_one_plus(const damo_var *v) { return operand_beside(v, SCALAR_add, 1, -1); }

/* x of v = 1 - x, or NULL. */
static damo_var *match_one_minus(const damo_var *v) {
  damo_var *x = operand_beside(v, SCALAR_sub, 1, 0);
  if (x != NULL) return x;
  x = match_one_plus(v);
  return x != NULL ? unary_operand(x, SCALAR_neg) : NULL;
}

/* ---- Logarithms -------------------------------------------------------------------------------------------------- */

/* log(erfc(x)): log1p(-erf(x)) where erfc is not small, else log(erfcx(x)) - x², with erfcx(x) = exp(x²)·erfc(x), which
 * does not underflow. */
static damo_var *log_of_erfc(build *b, damo_var *x) {
  damo_var *half = build_scalar(b, var_dtype(x), 0.5);
  return build_switch(b, build_lt(b, x, half), build_log1p(b, build_neg(b, build_erf(b, x))),
                      build_sub(b, build_log(b, build_erfcx(b, x)), build_sqr(b, x)));
}

/* log(exp(x) - exp(y)) → x + log1mexp(y - x), and x where y is -inf */
static damo_var *log_of_difference(build *b, const damo_var *v) {
  const damo_apply *node = match_scalar(v, SCALAR_sub);
  damo_var *x = node != NULL ? unary_operand(node->in[0], SCALAR_exp) : NULL,
           *y = node != NULL ? unary_operand(node->in[1], SCALAR_exp) : NULL;
  if (x == NULL || y == NULL) return NULL;
  damo_var *none = build_eq(b, y, build_scalar(b, var_dtype(y), -(double)INFINITY));
  return build_switch(b, none, x, build_add(b, x, build_log1mexp(b, build_sub(b, y, x))));
}

/* log(cosh(x)) → |x| + softplus(-2|x|) - log(2) */
static damo_var *log_of_cosh(build *b, damo_var *x) {
  const damo_dtype dtype = var_dtype(x);
  damo_var *size = build_abs(b, x), *soft = build_softplus(b, build_mul(b, build_scalar(b, dtype, -2), size));
  return build_sub(b, build_add(b, size, soft), build_scalar(b, dtype, log(2)));
}

/* log(1 + tanh(x)) → log(2) - softplus(-2x) */
static damo_var *log_of_one_plus_tanh(build *b, damo_var *x) {
  const damo_dtype dtype = var_dtype(x);
  damo_var *soft = build_softplus(b, build_mul(b, build_scalar(b, dtype, -2), x));
  return build_sub(b, build_scalar(b, dtype, log(2)), soft);
}

/* log(1 - p) → -softplus(x) for p = sigmoid(x), log1mexp(x) for p = exp(x), log(erfc(x)) for p = erf(x), log_ndtr(-x) for
 * p = ndtr(x), log(2) - softplus(2x) for p = tanh(x), -2·log(cosh(x)) for p = tanh(x)²; else NULL. */
static damo_var *log_of_rest(build *b, damo_var *p) {
  damo_var *x = unary_operand(p, SCALAR_sigmoid);
  if (x != NULL) return build_neg(b, build_softplus(b, x));
  if ((x = unary_operand(p, SCALAR_erf)) != NULL) return log_of_erfc(b, x);
  if ((x = unary_operand(p, SCALAR_exp)) != NULL) return build_log1mexp(b, x);
  if ((x = unary_operand(p, SCALAR_ndtr)) != NULL) return build_log_ndtr(b, build_neg(b, x));
  if ((x = unary_operand(p, SCALAR_tanh)) != NULL) return log_of_one_plus_tanh(b, build_neg(b, x));
  damo_var *root = unary_operand(p, SCALAR_sqr);
  if (root == NULL || (x = unary_operand(root, SCALAR_tanh)) == NULL) return NULL;
  return build_mul(b, build_scalar(b, var_dtype(x), -2), log_of_cosh(b, x));
}

/* log(sigmoid(x)) → -softplus(-x) */
static damo_var *log_sigmoid(build *b, damo_var *x) {
  damo_var *minus = unary_operand(x, SCALAR_neg);
  return build_neg(b, build_softplus(b, minus != NULL ? minus : build_neg(b, x)));
}

/* log(exp(x) + 2·exp(y) + …) → logaddexp(x, y + log 2) … */
static damo_var *log_of_exps(build *b, damo_var *v) {
  exp_sum s;
  return match_exp_sum(v, &s) ? build_log_of_exp_sum(b, &s) : NULL;
}

/* log(prod(x)) → sum(log(x)) over the same axes, for an x that is certainly not negative */
static damo_var *log_of_prod(build *b, const damo_var *v) {
  const damo_apply *node = match_class(v, &reduce_def);
  if (node == NULL || reduce_op_kind(node->op) != REDUCE_PROD) return NULL;
  damo_var *x = node->in[0];
  if (!is_float(x) || var_dtype(x) != var_dtype(v) || !match_facts(x, FACT_NONNEGATIVE)) return NULL;
  int axes[DAMO_MAX_NDIM], n = 0;
  const uint32_t mask = reduce_op_axes(node->op, var_ndim(x));
  for (int k = 0; k < var_ndim(x); k++) {
    if (mask >> k & 1) axes[n++] = k;
  }
  const bool keeps = prop_bool_or(OP_PROPS(node->op, reduce_props)->keepdims, false);
  return build_reduce(b, REDUCE_SUM, build_log(b, x), axes, n, keeps);
}

/* log(sum(exp(x))) → logsumexp(x) over the same axes */
static damo_var *log_of_sum(build *b, const damo_var *v) {
  const damo_apply *node = match_class(v, &reduce_def);
  if (node == NULL || reduce_op_kind(node->op) != REDUCE_SUM) return NULL;
  damo_var *x = unary_operand(node->in[0], SCALAR_exp);
  if (x == NULL) return NULL;
  const prop_value *axis = &OP_PROPS(node->op, reduce_props)->axis,
                   *keepdims = &OP_PROPS(node->op, reduce_props)->keepdims;
  int axes[DAMO_MAX_NDIM], n = axis->kind == PROP_LIST ? axis->n : -1;
  for (int i = 0; i < n; i++) axes[i] = (int)axis->u.list[i].u.i - 1;
  return build_reduce(b, REDUCE_LOGSUMEXP, x, axes, n, keepdims->kind == PROP_BOOL && keepdims->u.i);
}

/* log(kv(v, x)) → log(kve(v, x)) - x, log(iv(v, x)) → log(ive(v, x)) + |x| */
static damo_var *log_of_bessel(build *b, const damo_var *v) {
  const damo_apply *node = match_scalar(v, SCALAR_kv);
  const bool first = node == NULL && (node = match_scalar(v, SCALAR_iv)) != NULL;
  if (node == NULL || !is_float(v) || var_dtype(node->in[1]) != var_dtype(v) || !match_fits(node, 1)) return NULL;
  damo_var *order = node->in[0], *x = node->in[1];
  if (first) return build_add(b, build_log(b, build_ive(b, order, x)), build_abs(b, x));
  return build_sub(b, build_log(b, build_kve(b, order, x)), x);
}

static damo_var *log_softmax_of(build *b, damo_apply *softmax) {
  return build_op(b, op_new(b->ctx, &log_softmax_def, softmax->op->props), softmax->in, 1);
}

#define MAX_MOVES 4

/* The node of v if it only picks or moves entries of its first input, else NULL. */
static damo_apply *match_move(const damo_var *v) {
  static const op_def *const moves[] = {&pick_def, &dimshuffle_def, &reshape_def, NULL};
  return match_class_of(v, moves);
}

/* log(softmax(x)) → log_softmax(x), also with up to MAX_MOVES nodes in between that pick entries or move axes */
static damo_var *log_of_softmax(build *b, const damo_var *v) {
  damo_apply *moves[MAX_MOVES];
  int n = 0;
  while (n < MAX_MOVES && (moves[n] = match_move(v)) != NULL) v = moves[n++]->in[0];
  damo_apply *node = match_class(v, &softmax_def);
  damo_var *now = node != NULL ? log_softmax_of(b, node) : NULL;
  while (n-- > 0 && now != NULL) {
    damo_var *in[2] = {now, moves[n]->n_in > 1 ? moves[n]->in[1] : NULL};
    now = build_op(b, damo_retain(moves[n]->op), in, moves[n]->n_in);
  }
  return now;
}

/* The logarithm of v in a form that neither overflows nor cancels. NULL: v has none, or the rules of log and log1p cover
 * it. */
static damo_var *special_log(build *b, damo_var *v) {
  damo_var *x, *now;
  if ((x = match_one_minus(v)) != NULL && (now = log_of_rest(b, x)) != NULL) return now;
  if ((x = match_one_plus(v)) != NULL && (x = unary_operand(x, SCALAR_tanh)) != NULL) return log_of_one_plus_tanh(b, x);
  if ((x = unary_operand(v, SCALAR_sigmoid)) != NULL) return log_sigmoid(b, x);
  if ((x = unary_operand(v, SCALAR_exp)) != NULL) return x;
  if ((x = unary_operand(v, SCALAR_erfc)) != NULL) return log_of_erfc(b, x);
  if ((x = unary_operand(v, SCALAR_ndtr)) != NULL) return build_log_ndtr(b, x);
  if ((x = unary_operand(v, SCALAR_cosh)) != NULL) return log_of_cosh(b, x);
  x = unary_operand(v, SCALAR_neg);
  if (x != NULL && (x = unary_operand(x, SCALAR_expm1)) != NULL) return build_log1mexp(b, x);
  now = log_of_exps(b, v);
  if (now == NULL && b->status == DAMO_OK) now = log_of_difference(b, v);
  if (now == NULL && b->status == DAMO_OK) now = log_of_sum(b, v);
  if (now == NULL && b->status == DAMO_OK) now = log_of_prod(b, v);
  if (now == NULL && b->status == DAMO_OK) now = log_of_softmax(b, v);
  if (now == NULL && b->status == DAMO_OK) now = log_of_bessel(b, v);
  return now;
}

/* log(3·erfc(x)) → log(3) + log(erfc(x)), log(sum(exp(x))/n) → logsumexp(x) - log(n): a product or quotient of which one
 * factor has a special logarithm and all but one are certainly not negative. */
static damo_var *log_of_product(build *b, const damo_fgraph *fg, damo_var *v) {
  factor_list p;
  damo_var *log[FACTOR_LIST_MAX], *sum = NULL;
  bool any = false;
  int unsure = 0;
  if (!(match_scalar(v, SCALAR_mul) || match_scalar(v, SCALAR_true_div)) || !factor_list_collect(fg, v, &p))
    return NULL;
  if (p.negative) return NULL;
  for (int k = 0; k < p.n; k++) {
    damo_var *f = p.at[k];
    if (!type_is_tensor(f->type) || var_dtype(f) != var_dtype(v)) return NULL;
    unsure += !match_facts(f, FACT_NONNEGATIVE);
    log[k] = f->kind == VAR_CONSTANT ? NULL : special_log(b, f);
    if (b->status != DAMO_OK) return NULL;
    any = any || log[k] != NULL;
  }
  if (!any || unsure > 1) return NULL;
  for (int k = 0; k < p.n; k++) {
    if (log[k] == NULL) log[k] = build_log(b, p.at[k]);
    if (p.below[k])
      sum = sum != NULL ? build_sub(b, sum, log[k]) : build_neg(b, log[k]);
    else
      sum = sum != NULL ? build_add(b, sum, log[k]) : log[k];
  }
  return sum;
}

static damo_status stable_log(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  damo_var *v = unary_operand(node->out[0], SCALAR_log), *x;
  if (v == NULL) return DAMO_OK;
  damo_var *now = special_log(b, v);
  if (now != NULL || b->status != DAMO_OK) return rule_give(b, repl, did, now);
  if ((x = match_one_minus(v)) != NULL) return rule_give(b, repl, did, build_log1p(b, build_neg(b, x)));
  if ((x = match_one_plus(v)) != NULL) return rule_give(b, repl, did, build_log1p(b, x));
  return rule_give(b, repl, did, log_of_product(b, fg, v));
}

/* log1p(exp(x)) → softplus(x), log1p(tanh(x)) → log(2) - softplus(-2x), and log1p(-p) by the logarithm of 1 - p, but
 * for log1p(-erf(x)), a part of the logarithm of erfc(x). */
static damo_status stable_log1p(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *v = unary_operand(node->out[0], SCALAR_log1p), *x;
  if (v == NULL) return DAMO_OK;
  if ((x = unary_operand(v, SCALAR_exp)) != NULL) return rule_give(b, repl, did, build_softplus(b, x));
  if ((x = unary_operand(v, SCALAR_tanh)) != NULL) return rule_give(b, repl, did, log_of_one_plus_tanh(b, x));
  damo_var *p = unary_operand(v, SCALAR_neg);
  const bool known = p != NULL && unary_operand(p, SCALAR_erf) == NULL;
  return rule_give(b, repl, did, known ? log_of_rest(b, p) : NULL);
}

/* ---- Differences, quotients, roots ------------------------------------------------------------------------------- */

/* exp(x) - 1 → expm1(x), 1 - exp(x) → -expm1(x), 1 - sigmoid(x) → sigmoid(-x) */
static damo_status stable_difference(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *out = node->out[0], *p = match_one_minus(out);
  damo_var *x = p != NULL ? unary_operand(p, SCALAR_sigmoid) : NULL;
  if (x != NULL) return rule_give(b, repl, did, build_sigmoid(b, build_neg(b, x)));
  x = p != NULL ? unary_operand(p, SCALAR_exp) : NULL;
  if (x != NULL) return rule_give(b, repl, did, build_neg(b, build_expm1(b, x)));
  p = operand_beside(out, SCALAR_sub, 1, 1);
  if (p == NULL) p = operand_beside(out, SCALAR_add, -1, -1);
  x = p != NULL ? unary_operand(p, SCALAR_exp) : NULL;
  return rule_give(b, repl, did, x != NULL ? build_expm1(b, x) : NULL);
}

/* 1 - erf(x) → erfc(x), 1 + erf(x) → erfc(-x), erf(x) - 1 → -erfc(x); 1 - erfc(x) → erf(x), erfc(x) - 1 → -erf(x) */
static damo_status stable_erf(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *out = node->out[0], *p = match_one_minus(out), *x;
  if (p != NULL) {
    if ((x = unary_operand(p, SCALAR_erf)) != NULL) return rule_give(b, repl, did, build_erfc(b, x));
    if ((x = unary_operand(p, SCALAR_erfc)) != NULL) return rule_give(b, repl, did, build_erf(b, x));
  }
  p = match_one_plus(out);
  x = p != NULL ? unary_operand(p, SCALAR_erf) : NULL;
  if (x != NULL) return rule_give(b, repl, did, build_erfc(b, build_neg(b, x)));
  p = operand_beside(out, SCALAR_sub, 1, 1);
  if (p == NULL) p = operand_beside(out, SCALAR_add, -1, -1);
  if (p == NULL) return DAMO_OK;
  if ((x = unary_operand(p, SCALAR_erf)) != NULL) return rule_give(b, repl, did, build_neg(b, build_erfc(b, x)));
  x = unary_operand(p, SCALAR_erfc);
  return rule_give(b, repl, did, x != NULL ? build_neg(b, build_erf(b, x)) : NULL);
}

/* Whether one of x and y is the other's negative. */
static bool are_negatives(const damo_var *x, const damo_var *y) {
  return unary_operand(x, SCALAR_neg) == y || unary_operand(y, SCALAR_neg) == x;
}

/* exp(x)/(1 + exp(x)) → sigmoid(x), y/(1 + exp(x)) → y·sigmoid(-x), sigmoid(x)/sigmoid(-x) → exp(x) */
static damo_status sigmoid_of_quotient(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *y = node->in[0], *d = node->in[1], *u, *v;
  if (!is_float(node->out[0]) || var_dtype(y) != var_dtype(d)) return DAMO_OK;
  u = unary_operand(y, SCALAR_sigmoid);
  v = unary_operand(d, SCALAR_sigmoid);
  if (u != NULL && v != NULL) return rule_give(b, repl, did, are_negatives(u, v) ? build_exp(b, u) : NULL);
  damo_var *e = match_one_plus(d), *x = e != NULL ? unary_operand(e, SCALAR_exp) : NULL;
  if (x == NULL) return DAMO_OK;
  if (y == e) return rule_give(b, repl, did, build_sigmoid(b, x));
  damo_var *minus = unary_operand(x, SCALAR_neg);
  return rule_give(b, repl, did, build_mul(b, y, build_sigmoid(b, minus != NULL ? minus : build_neg(b, x))));
}

/* ---- Softmax ----------------------------------------------------------------------------------------------------- */

bool match_reduced_back(const damo_var *v, int kind, const damo_var *x, int *axis) {
  const damo_apply *back = match_class(v, &dimshuffle_def);
  const damo_apply *reduce = match_class(back != NULL ? back->in[0] : v, &reduce_def);
  if (reduce == NULL || reduce->in[0] != x || (int)reduce_op_kind(reduce->op) != kind) return false;
  const int ndim = var_ndim(x);
  const uint32_t mask = reduce_op_axes(reduce->op, ndim);
  *axis = ndim;
  for (int k = 0; k < ndim; k++) {
    if (mask >> k & 1) *axis = *axis == ndim ? k : -1;
  }
  if (*axis == ndim) return false;
  for (int k = 0; *axis < 0 && k < ndim; k++) {
    if (!(mask >> k & 1)) return false;
  }
  if (ndim == 1) *axis = 0;
  if (var_ndim(v) == 0 && (*axis < 0 || ndim == 1)) return true;
  if (var_ndim(v) != ndim) return false;
  for (int k = 0, kept = 0; back != NULL && k < ndim; k++) {
    const prop_value *from = &OP_PROPS(back->op, dimshuffle_props)->new_order.u.list[k];
    const bool gone = mask >> k & 1;
    if (gone ? from->kind == PROP_INT : from->kind != PROP_INT || from->u.i != ++kept) return false;
  }
  return true;
}

damo_var *build_softmax_of(build *b, const op_def *def, damo_var *x, int axis) {
  const softmax_props props = {.axis = axis < 0 ? prop_nil() : prop_int(axis + 1)};
  return build_op(b, op_new(b->ctx, def, &props), &x, 1);
}

/* exp(x)/sum(exp(x)) → softmax(x) */
static damo_status name_softmax(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  int axis;
  damo_var *e = node->in[0], *x = unary_operand(e, SCALAR_exp);
  if (x == NULL || var_dtype(node->in[1]) != var_dtype(x) || var_ndim(x) == 0) return DAMO_OK;
  if (!match_reduced_back(node->in[1], REDUCE_SUM, e, &axis)) return DAMO_OK;
  return rule_give(b, repl, did, build_softmax_of(b, &softmax_def, x, axis));
}

/* x - logsumexp(x) → log_softmax(x) */
static damo_status name_log_softmax(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  int axis;
  damo_var *x = node->in[0];
  if (!is_float(x) || var_dtype(node->in[1]) != var_dtype(x) || var_ndim(x) == 0) return DAMO_OK;
  if (!match_reduced_back(node->in[1], REDUCE_LOGSUMEXP, x, &axis)) return DAMO_OK;
  return rule_give(b, repl, did, build_softmax_of(b, &log_softmax_def, x, axis));
}

/* 1 / (1 + exp(-x)) → sigmoid(x) */
static damo_status name_sigmoid(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *v = unary_operand(node->out[0], SCALAR_reciprocal);
  damo_var *e = v != NULL ? match_one_plus(v) : NULL;
  damo_var *x = e != NULL ? unary_operand(e, SCALAR_exp) : NULL;
  if (x == NULL) return DAMO_OK;
  damo_var *minus = unary_operand(x, SCALAR_neg);
  return rule_give(b, repl, did, build_sigmoid(b, minus != NULL ? minus : build_neg(b, x)));
}

/* sqrt(sqr(x)) → abs(x), which can't overflow */
static damo_status name_abs(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *v = unary_operand(node->out[0], SCALAR_sqrt);
  damo_var *x = v != NULL ? unary_operand(v, SCALAR_sqr) : NULL;
  return rule_give(b, repl, did, x != NULL ? build_abs(b, x) : NULL);
}

/* ---- Cancelling -------------------------------------------------------------------------------------------------- */

static bool fills(const damo_var *v, const damo_var *out) {
  if (var_ndim(v) != var_ndim(out)) return false;
  for (int d = 0; d < var_ndim(v); d++) {
    if (type_dim_is_one(v->type, d) && !type_dim_is_one(out->type, d)) return false;
  }
  return true;
}

/* Opens the products above the line that have one of the divisors as a factor, whoever else reads them: of
 * a/s·(s·t) + b/t·(s·t), the gradient of a·log(s) + b·log(t), a·t + b·s is left. */
static void open_to_cancel(factor_list *p) {
  for (int k = 0; k < p->n; k++) {
    const damo_apply *mul = p->below[k] ? NULL : match_scalar(p->at[k], SCALAR_mul);
    for (int i = 0; mul != NULL && i < p->n && p->n < FACTOR_LIST_MAX; i++) {
      if (!p->below[i] || (p->at[i] != mul->in[0] && p->at[i] != mul->in[1])) continue;
      if (!match_facts(p->at[i], FACT_FINITE | FACT_NONZERO)) continue;
      p->at[k] = mul->in[0];
      p->at[p->n] = mul->in[1];
      p->below[p->n++] = false;
      mul = NULL;
    }
  }
}

/* x/x → 1 inside products: (g/s) * s * t → g * t. A cancelled factor still broadcasts: the result is filled to its
 * shape. */
static damo_status cancel_factors(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  damo_var *out = node->out[0];
  factor_list p;
  if (!is_float(out) || !factor_list_collect(fg, out, &p)) return DAMO_OK;
  open_to_cancel(&p);
  factor_list_cancel(fg, &p);
  if (p.n_gone == 0) return DAMO_OK;
  for (int k = 0; k < p.n; k++) {
    if (var_dtype(p.at[k]) != var_dtype(out)) return DAMO_OK;
  }
  damo_var *now = factor_list_multiply(b, &p, var_dtype(out));
  for (int k = 0; k < p.n_gone && now != NULL; k++) {
    if (var_dtype(p.gone[k]) != var_dtype(out)) return b->status;
    if (match_single_entry(p.gone[k]) && var_ndim(now) >= var_ndim(p.gone[k])) continue;
    if (!match_same_shape(now, p.gone[k])) now = build_second(b, p.gone[k], now);
  }
  return rule_give(b, repl, did, now);
}

/* ---- The gradient of log(softmax(x)) ----------------------------------------------------------------------------- */

/* g if v = g / d with a divisor d that wanted(d, of) accepts; else NULL. */
static damo_var *build_numerator(build *b, const damo_fgraph *fg, damo_var *v,
                                 bool (*wanted)(const damo_var *d, const void *of), const void *of) {
  factor_list p;
  if (!is_float(v) || !factor_list_collect(fg, v, &p)) return NULL;
  for (int k = 0; k < p.n; k++) {
    if (!p.below[k] || !wanted(p.at[k], of) || var_dtype(p.at[k]) != var_dtype(v) || !fills(p.at[k], v)) continue;
    factor_list_remove(&p, k);
    return factor_list_multiply(b, &p, var_dtype(v));
  }
  return NULL;
}

static bool is_same_factor(const damo_var *d, const void *of) { return d == of; }

/* Whether d = Pick(p, i), where `of` is the node SoftmaxGrad(PickGrad(…, i), p): d is the entry of p that the cotangent
 * belongs to. */
static bool is_picked(const damo_var *d, const void *of) {
  const damo_apply *pick = match_class(d, &pick_def), *node = of;
  return pick != NULL && pick->in[0] == node->in[1] && pick->in[1] == node->in[0]->owner->in[1];
}

static damo_var *log_grad(build *b, const damo_apply *node, damo_var *g) {
  damo_var *in[2] = {g, log_softmax_of(b, node->in[1]->owner)};
  if (in[0] == NULL || in[1] == NULL) return NULL;
  return build_op(b, op_new(b->ctx, &log_softmax_grad_def, node->op->props), in, 2);
}

/* SoftmaxGrad(g / p, p) → LogSoftmaxGrad(g, log p), also if one entry was picked: avoids dividing by a p that has
 * underflowed. */
static damo_status stable_softmax_grad(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  damo_var *p = node->in[1], *v = node->in[0];
  if (match_class(p, &softmax_def) == NULL) return DAMO_OK;
  damo_var *g = build_numerator(b, fg, v, is_same_factor, p);
  if (g != NULL) return rule_give(b, repl, did, log_grad(b, node, build_fill(b, p, g)));
  damo_apply *put = match_class(v, &pick_grad_def);
  if (put == NULL || b->status != DAMO_OK) return b->status;
  g = build_numerator(b, fg, put->in[0], is_picked, node);
  if (g == NULL) return b->status;
  damo_var *in[3] = {build_fill(b, put->in[1], g), put->in[1], put->in[2]};
  if (in[0] == NULL) return b->status;
  return rule_give(b, repl, did, log_grad(b, node, build_op(b, damo_retain(put->op), in, 3)));
}

/* ---- Softmax beside its logarithm -------------------------------------------------------------------------------- */

/* Where a softmax and its logarithm, or the log-sum-exp, of the same rows are both needed, a Loop takes one exponential
 * for both: exp(log_softmax(x)) and exp(x - logsumexp(x)) are softmax(x). */

static int softmax_axis_of(const damo_apply *node) {
  const prop_value *axis = &OP_PROPS(node->op, softmax_props)->axis;
  return axis->kind == PROP_INT ? (int)axis->u.i - 1 : -1;
}

/* Whether that axis is the last one, or all are. */
static bool is_row_axis(const damo_var *x, int axis) { return axis < 0 || axis == var_ndim(x) - 1; }

static damo_status exp_of_log_softmax(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  const damo_var *v = node->in[0];
  const damo_apply *named = match_class(v, &log_softmax_def), *less = match_scalar(v, SCALAR_sub);
  int axis = named != NULL ? softmax_axis_of(named) : 0;
  if (named == NULL) {
    if (less == NULL || !is_float(less->in[0]) || var_dtype(less->in[1]) != var_dtype(less->in[0])) return DAMO_OK;
    if (!match_reduced_back(less->in[1], REDUCE_LOGSUMEXP, less->in[0], &axis)) return DAMO_OK;
  }
  damo_var *x = named != NULL ? named->in[0] : less->in[0];
  if (!is_row_axis(x, axis) || var_ndim(x) == 0) return DAMO_OK;
  return rule_give(b, repl, did, build_softmax_of(b, &softmax_def, x, axis));
}

/* The gradient of log_softmax(x): dy - softmax(x)·Σ dy */
static damo_status log_softmax_grad_of_softmax(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl,
                                               bool *did) {
  (void)fg;
  const damo_apply *forward = match_class(node->in[1], &log_softmax_def);
  const int axis = softmax_axis_of(node);
  if (forward == NULL || softmax_axis_of(forward) != axis || !is_row_axis(node->in[1], axis)) return DAMO_OK;
  damo_var *dy = node->in[0], *p = build_softmax_of(b, &softmax_def, forward->in[0], axis);
  for (int k = 0; k < var_ndim(dy); k++) {
    if (type_dim_is_one(dy->type, k) != type_dim_is_one(node->in[1]->type, k)) return DAMO_OK;
  }
  damo_var *total = build_row_sum(b, dy, axis < 0 ? var_ndim(dy) : 1);
  return rule_give(b, repl, did, build_sub(b, dy, build_mul(b, p, total)));
}

#define RULE(rule_name, fn, ...) \
  { .name = rule_name, .phase = PHASE_STABILIZE, .tags = "fast_run stabilize inexact", .local = fn, __VA_ARGS__ }

const rewrite_rule stabilize_rules[] = {
    RULE("stable_log", stable_log, ELEMWISE(SCALAR_log)),
    RULE("stable_log1p", stable_log1p, ELEMWISE(SCALAR_log1p)),
    RULE("stable_difference", stable_difference, ELEMWISE(SCALAR_sub, SCALAR_add)),
    RULE("stable_erf", stable_erf, ELEMWISE(SCALAR_sub, SCALAR_add)),
    RULE("name_softmax", name_softmax, ELEMWISE(SCALAR_true_div)),
    RULE("name_log_softmax", name_log_softmax, ELEMWISE(SCALAR_sub)),
    RULE("sigmoid_of_quotient", sigmoid_of_quotient, ELEMWISE(SCALAR_true_div)),
    RULE("name_sigmoid", name_sigmoid, ELEMWISE(SCALAR_reciprocal)),
    RULE("name_abs", name_abs, ELEMWISE(SCALAR_sqrt)),
    RULE("stable_softmax_grad", stable_softmax_grad, TRACKS(&softmax_grad_def)),
    RULE("cancel_factors", cancel_factors, ELEMWISE(SCALAR_mul, SCALAR_true_div)),
    {.name = "exp_of_log_softmax",
     .phase = PHASE_FUSE,
     .tags = "fast_run fuse inexact",
     ELEMWISE(SCALAR_exp),
     .local = exp_of_log_softmax},
    {.name = "log_softmax_grad_of_softmax",
     .phase = PHASE_FUSE,
     .tags = "fast_run fuse inexact",
     TRACKS(&log_softmax_grad_def),
     .local = log_softmax_grad_of_softmax},
    {.name = NULL},
};

#undef RULE

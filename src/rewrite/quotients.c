/* quotients.c: quotients whose two sides overflow or vanish together, within products: those that gradients of
 * logarithms have, exp(x)/sum(exp(x)), exp(x)/(exp(x) + exp(y)), exp(-x²)/erfc(x), sinh(x)/cosh(x); and sums of quotients
 * times their divisors. The values agree up to rounding where the plain quotient is accurate. For real floats only.
 */
#include "rewrite_int.h"
#include "op/elem/scalar.h"
#include "op/elem/build_arith.h"
#include "op/elem/build_math.h"
#include "op/elem/build_special.h"
#include "op/op.h"

#include <math.h>

/* x if v is id(x) with x of v's dtype, else NULL. */
static damo_var *scalar_operand(const damo_var *v, scalar_id id) {
  const damo_apply *node = match_scalar(v, id);
  return node != NULL && var_dtype(node->in[0]) == var_dtype(v) ? node->in[0] : NULL;
}

/* ---- Sums of exponentials ---------------------------------------------------------------------------------------- */

/* The value of a constant with one entry that is positive and finite. */
static bool positive_constant(const damo_var *v, double *c) {
  const damo_array *a = var_constant_array(v);
  if (a == NULL || array_size(a) != 1 || !dtype_is_float(array_dtype(a))) return false;
  *c = scalar_to_double(array_get(a, (const int64_t[DAMO_MAX_NDIM]){0}));
  return *c > 0 && isfinite(*c);
}

/* v as c·exp(u), or a constant. */
static bool read_exp_term(damo_var *v, damo_var **u, double *c) {
  *c = 1;
  *u = scalar_operand(v, SCALAR_exp);
  if (*u != NULL || positive_constant(v, c)) return true;
  const damo_apply *mul = match_scalar(v, SCALAR_mul), *quotient = match_scalar(v, SCALAR_true_div);
  for (int i = 0; mul != NULL && i < 2; i++) {
    *u = scalar_operand(mul->in[i], SCALAR_exp);
    if (*u != NULL && match_fits(mul, i) && positive_constant(mul->in[1 - i], c)) return true;
  }
  if (quotient == NULL || (*u = scalar_operand(quotient->in[0], SCALAR_exp)) == NULL) return false;
  if (!match_fits(quotient, 0) || !positive_constant(quotient->in[1], c)) return false;
  *c = 1 / *c;
  return true;
}

bool match_exp_sum(damo_var *v, exp_sum *s) {
  damo_var *todo[EXP_SUM_MAX] = {v};
  bool any = false;
  *s = (exp_sum){.n = 0};
  if (match_scalar(v, SCALAR_add) == NULL || !dtype_is_float(var_dtype(v))) return false;
  for (int n = 1; n > 0;) {
    damo_var *f = todo[--n];
    const damo_apply *add = match_scalar(f, SCALAR_add);
    if (!type_is_tensor(f->type) || var_dtype(f) != var_dtype(v)) return false;
    if (add != NULL) {
      if (n + 2 > EXP_SUM_MAX) return false;
      todo[n++] = add->in[1];
      todo[n++] = add->in[0];
      continue;
    }
    if (s->n == EXP_SUM_MAX || !read_exp_term(f, &s->u[s->n], &s->c[s->n])) return false;
    any = any || s->u[s->n] != NULL;
    s->n++;
  }
  return any;
}

/* The logarithm of term k. */
static damo_var *log_of_term(build *b, const exp_sum *s, int k, damo_dtype dtype) {
  damo_var *c = s->c[k] != 1 || s->u[k] == NULL ? build_scalar(b, dtype, log(s->c[k])) : NULL;
  if (s->u[k] == NULL || c == NULL) return s->u[k] == NULL ? c : s->u[k];
  return build_add(b, s->u[k], c);
}

static damo_dtype exp_sum_dtype(const exp_sum *s) {
  int k = 0;
  while (s->u[k] == NULL) k++;
  return var_dtype(s->u[k]);
}

static bool is_one(const exp_sum *s, int k) { return s->u[k] == NULL && s->c[k] == 1; }

/* The logarithm of the sum of the terms but k (-1: of all). */
static damo_var *log_of_others(build *b, const exp_sum *s, int k) {
  const damo_dtype dtype = exp_sum_dtype(s);
  damo_var *sum = NULL;
  int first = -1;
  for (int i = 0; i < s->n; i++) {
    if (i == k) continue;
    damo_var *t = log_of_term(b, s, i, dtype);
    if (sum == NULL)
      sum = t;
    else if (first >= 0 && is_one(s, first))
      sum = build_softplus(b, t);
    else if (first >= 0 && is_one(s, i))
      sum = build_softplus(b, sum);
    else
      sum = build_logaddexp(b, sum, t);
    first = first < 0 && i == (k == 0 ? 1 : 0) ? i : -1;
  }
  return sum;
}

damo_var *build_log_of_exp_sum(build *b, const exp_sum *s) { return log_of_others(b, s, -1); }

/* exp(u)/d for a sum d of exponentials in which exp(u) is a term: sigmoid(u - v) of two terms, else exp(u - log d). */
static damo_var *share_of_exps(build *b, damo_var *n, damo_var *d) {
  exp_sum s;
  damo_var *u = scalar_operand(n, SCALAR_exp);
  int k = 0;
  if (u == NULL || !match_exp_sum(d, &s)) return NULL;
  while (k < s.n && s.u[k] != u) k++;
  if (k == s.n) return NULL;
  if (s.n > 2) return build_exp(b, build_sub(b, u, build_log_of_exp_sum(b, &s)));
  const damo_dtype dtype = var_dtype(u);
  damo_var *own = log_of_term(b, &s, k, dtype);
  damo_var *share = build_sigmoid(b, is_one(&s, 1 - k) ? own : build_sub(b, own, log_of_term(b, &s, 1 - k, dtype)));
  return s.c[k] == 1 ? share : build_mul(b, build_scalar(b, dtype, 1 / s.c[k]), share);
}

/* exp(x)/sum(exp(x)) → softmax(x), over one axis or all; over some axes exp(x - logsumexp(x)) */
static damo_var *share_of_sum(build *b, damo_var *n, damo_var *d) {
  int axis;
  damo_var *u = scalar_operand(n, SCALAR_exp);
  if (u == NULL || var_ndim(u) == 0) return NULL;
  if (match_reduced_back(d, REDUCE_SUM, n, &axis)) return build_softmax_of(b, &softmax_def, u, axis);
  const damo_apply *back = match_class(d, &dimshuffle_def);
  const damo_apply *sum = match_class(back != NULL ? back->in[0] : d, &reduce_def);
  if (sum == NULL || sum->in[0] != n || reduce_op_kind(sum->op) != REDUCE_SUM) return NULL;
  int axes[DAMO_MAX_NDIM], n_axes = 0;
  const uint32_t mask = reduce_op_axes(sum->op, var_ndim(n));
  for (int k = 0; k < var_ndim(n); k++) {
    if (mask >> k & 1) axes[n_axes++] = k;
  }
  const bool keeps = prop_bool_or(OP_PROPS(sum->op, reduce_props)->keepdims, false);
  damo_var *log = build_reduce(b, REDUCE_LOGSUMEXP, u, axes, n_axes, keeps);
  if (back != NULL && log != NULL) log = build_op(b, damo_retain(back->op), &log, 1);
  return log != NULL ? build_exp(b, build_sub(b, u, log)) : NULL;
}

/* ---- Other pairs ------------------------------------------------------------------------------------------------- */

static bool are_equal_but_for_sign(const damo_var *x, const damo_var *y) {
  return x == y || scalar_operand(x, SCALAR_neg) == y || scalar_operand(y, SCALAR_neg) == x;
}

/* exp(-x²)/erfc(x) → 1/erfcx(x) */
static damo_var *ratio_of_erfc(build *b, damo_var *n, damo_var *d) {
  damo_var *u = scalar_operand(n, SCALAR_exp), *x = scalar_operand(d, SCALAR_erfc);
  u = u != NULL ? scalar_operand(u, SCALAR_neg) : NULL;
  u = u != NULL ? scalar_operand(u, SCALAR_sqr) : NULL;
  if (u == NULL || x == NULL || !are_equal_but_for_sign(u, x)) return NULL;
  return build_reciprocal(b, build_erfcx(b, x));
}

/* exp(u)/expm1(u) → -1/expm1(-u); exp(u)/(exp(u) - exp(v)) → -1/expm1(v - u), exp(v)/(exp(u) - exp(v)) →
 * 1/expm1(u - v) */
static damo_var *ratio_of_expm1(build *b, damo_var *n, damo_var *d) {
  damo_var *u = scalar_operand(n, SCALAR_exp), *x = scalar_operand(d, SCALAR_expm1);
  if (u == NULL) return NULL;
  if (x != NULL) return x == u ? build_neg(b, build_reciprocal(b, build_expm1(b, build_neg(b, u)))) : NULL;
  const damo_apply *sub = match_scalar(d, SCALAR_sub);
  damo_var *v = sub != NULL ? scalar_operand(sub->in[1], SCALAR_exp) : NULL;
  x = sub != NULL ? scalar_operand(sub->in[0], SCALAR_exp) : NULL;
  if (x == NULL || v == NULL || x == v || (u != x && u != v)) return NULL;
  damo_var *small = build_reciprocal(b, build_expm1(b, u == x ? build_sub(b, v, u) : build_sub(b, x, u)));
  return u == x ? build_neg(b, small) : small;
}

/* sinh(x)/cosh(x) → tanh(x) */
static damo_var *ratio_of_cosh(build *b, damo_var *n, damo_var *d) {
  damo_var *x = scalar_operand(n, SCALAR_sinh), *y = scalar_operand(d, SCALAR_cosh);
  return x != NULL && x == y ? build_tanh(b, x) : NULL;
}

/* Whether v is 1 - x (sign -1) or 1 + x (sign 1); *x is then x. */
static bool match_beside_one(const damo_var *v, int sign, damo_var **x) {
  const damo_apply *node = match_scalar(v, sign > 0 ? SCALAR_add : SCALAR_sub);
  for (int i = 0; node != NULL && i < (sign > 0 ? 2 : 1); i++) {
    *x = node->in[1 - i];
    if (match_constant(node->in[i], 1) && match_fits(node, 1 - i) && var_dtype(*x) == var_dtype(v)) return true;
  }
  return false;
}

/* (1 - tanh(x)²)/(1 - tanh(x)) → 1 + tanh(x), and with the signs exchanged: the gradient of log(1 - tanh(x)) */
static damo_var *ratio_of_tanh(build *b, damo_var *n, damo_var *d) {
  damo_var *square, *t;
  if (!match_beside_one(n, -1, &square) || (t = scalar_operand(square, SCALAR_sqr)) == NULL) return NULL;
  if (scalar_operand(t, SCALAR_tanh) == NULL) return NULL;
  damo_var *beside, *one = build_scalar(b, var_dtype(n), 1);
  if (match_beside_one(d, -1, &beside) && beside == t) return build_add(b, one, t);
  return match_beside_one(d, 1, &beside) && beside == t ? build_sub(b, one, t) : NULL;
}

static damo_var *stable_ratio(build *b, damo_var *n, damo_var *d) {
  static damo_var *(*const pairs[])(build * b, damo_var * n, damo_var * d) = {
      share_of_exps, share_of_sum, ratio_of_erfc, ratio_of_expm1, ratio_of_cosh, ratio_of_tanh};
  if (!type_is_tensor(n->type) || !type_is_tensor(d->type) || var_dtype(n) != var_dtype(d)) return NULL;
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    damo_var *v = pairs[i](b, n, d);
    if (v != NULL || b->status != DAMO_OK) return v;
  }
  return NULL;
}

/* ---- Sums of quotients ------------------------------------------------------------------------------------------- */

#define MOST_SUM_TERMS 4

/* The number of terms that are divided by f. */
static int count_divided(const factor_list *terms, int n, const damo_var *f) {
  int count = 0;
  for (int t = 0; t < n; t++) {
    bool divided = false;
    for (int k = 0; k < terms[t].n; k++) divided = divided || (terms[t].below[k] && terms[t].at[k] == f);
    count += divided;
  }
  return count;
}

/* Factor i of p, a sum, with those factors of p moved into its terms by which half of them or more are divided, and which
 * are finite and not 0 for all finite inputs. The others stay in p. False: there are none. */
static bool move_into_sum(build *b, const damo_fgraph *fg, factor_list *p, int i, damo_dtype dtype) {
  factor_list sum, terms[MOST_SUM_TERMS];
  damo_var *moved[FACTOR_LIST_MAX];
  int n_moved = 0;
  if (p->below[i] || !match_single_use(fg, p->at[i]) || !term_list_collect(fg, p->at[i], &sum)) return false;
  if (sum.n < 2 || sum.n > MOST_SUM_TERMS) return false;
  for (int t = 0; t < sum.n; t++) {
    if (var_dtype(sum.at[t]) != dtype || !factor_list_collect(fg, sum.at[t], &terms[t])) return false;
    if (sum.at[t]->owner != NULL && !match_single_use(fg, sum.at[t]))
      terms[t] = (factor_list){.at = {sum.at[t]}, .n = 1};
  }
  for (int k = p->n - 1; k >= 0; k--) {
    if (k == i || p->below[k] || var_dtype(p->at[k]) != dtype) continue;
    if (2 * count_divided(terms, sum.n, p->at[k]) < sum.n || !match_facts(p->at[k], FACT_FINITE | FACT_NONZERO))
      continue;
    moved[n_moved++] = p->at[k];
  }
  for (int t = 0; t < sum.n; t++) {
    if (terms[t].n + n_moved > FACTOR_LIST_MAX) return false;
    for (int k = 0; k < terms[t].n; k++) {
      if (var_dtype(terms[t].at[k]) != dtype) return false;
    }
  }
  if (n_moved == 0) return false;
  for (int t = 0; t < sum.n; t++) {
    for (int m = 0; m < n_moved; m++) {
      terms[t].at[terms[t].n] = moved[m];
      terms[t].below[terms[t].n++] = false;
    }
    factor_list_cancel(fg, &terms[t]);
    for (int k = terms[t].n - 1; k >= 0 && terms[t].n > 1; k--) {
      if (match_constant(terms[t].at[k], 1) && match_single_entry(terms[t].at[k])) factor_list_remove(&terms[t], k);
    }
    sum.below[t] = sum.below[t] != terms[t].negative;
    terms[t].negative = false;
    damo_var *now = factor_list_build(b, &terms[t], dtype);
    for (int k = 0; k < terms[t].n_gone && now != NULL; k++) {
      if (!match_single_entry(terms[t].gone[k]) && !match_same_shape(now, terms[t].gone[k]))
        now = build_second(b, terms[t].gone[k], now);
    }
    sum.at[t] = now;
  }
  if (b->status != DAMO_OK) return false;
  if (p->n == n_moved + 1) { /* the sign of the product goes to the terms */
    for (int t = 0; t < sum.n; t++) sum.below[t] = sum.below[t] != p->negative;
    p->negative = false;
  }
  p->at[i] = term_list_build(b, &sum, dtype);
  for (int m = 0; m < n_moved; m++) {
    for (int k = 0; k < p->n; k++) {
      if (k == i || p->below[k] || p->at[k] != moved[m]) continue;
      if (i == p->n - 1) i = k;
      factor_list_remove(p, k);
      break;
    }
  }
  return true;
}

/* (x/s + y/t)·s·t → x·t + y·s, as the gradient of x·log(s) + y·log(t) has it for s = sigmoid(u), t = 1 - s. */
static damo_status distribute(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  damo_var *out = node->out[0];
  factor_list p;
  bool any = false;
  if (!type_is_tensor(out->type) || !dtype_is_float(var_dtype(out)) || factor_list_is_inner(fg, out)) return DAMO_OK;
  if (!factor_list_collect(fg, out, &p) || p.n < 2) return DAMO_OK;
  for (int k = 0; k < p.n && !any; k++) {
    any = move_into_sum(b, fg, &p, k, var_dtype(out));
    if (b->status != DAMO_OK) return b->status;
  }
  for (int k = 0; k < p.n; k++) {
    if (var_dtype(p.at[k]) != var_dtype(out)) return DAMO_OK;
  }
  return rule_give(b, repl, did, any ? factor_list_build(b, &p, var_dtype(out)) : NULL);
}

/* A factor above the line and one below it → their stable quotient. */
static damo_status stable_quotient(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  damo_var *out = node->out[0];
  factor_list p;
  bool any = false;
  if (!type_is_tensor(out->type) || !dtype_is_float(var_dtype(out)) || factor_list_is_inner(fg, out)) return DAMO_OK;
  if (!factor_list_collect(fg, out, &p)) return DAMO_OK;
  for (int j = 0; j < p.n; j++) {
    for (int i = 0; i < p.n && p.below[j]; i++) {
      damo_var *v = p.below[i] ? NULL : stable_ratio(b, p.at[i], p.at[j]);
      if (b->status != DAMO_OK) return b->status;
      if (v == NULL) continue;
      p.at[i] = v;
      factor_list_remove(&p, j--);
      any = true;
      break;
    }
  }
  for (int k = 0; k < p.n; k++) {
    if (var_dtype(p.at[k]) != var_dtype(out)) return DAMO_OK;
  }
  return rule_give(b, repl, did, any ? factor_list_build(b, &p, var_dtype(out)) : NULL);
}

const rewrite_rule quotient_rules[] = {
    {.name = "stable_quotient",
     .phase = PHASE_STABILIZE,
     .tags = "fast_run stabilize inexact",
     ELEMWISE(SCALAR_mul, SCALAR_true_div, SCALAR_neg),
     .local = stable_quotient},
    {.name = "distribute", /* when products have found their form */
     .phase = PHASE_SPECIALIZE,
     .tags = "fast_run specialize inexact",
     ELEMWISE(SCALAR_mul, SCALAR_true_div, SCALAR_neg),
     .local = distribute},
    {.name = NULL},
};

/* facts.c: facts about a value (finite, nonnegative, nonzero) that hold in exact arithmetic for all finite inputs of
 * the graph, derived from at most MAX_DEPTH levels of nodes above it. Used by rules that cancel factors. */
#include <math.h>

#include "op/elem/scalar.h"
#include "rewrite_int.h"
#include "op/op.h"

#define ALL (FACT_FINITE | FACT_NONNEGATIVE | FACT_NONZERO)
#define POSITIVE (FACT_NONNEGATIVE | FACT_NONZERO)
#define MAX_DEPTH 6

static bool has_facts(unsigned facts, unsigned wanted) { return (facts & wanted) == wanted; }

static unsigned facts_of_constant(const damo_array *a) {
  unsigned facts = ALL;
  const int64_t n = array_size(a);
  array_entries e;
  if (n == 0 || n > 64) return 0;
  for (const char *p = entries_begin(&e, a); p; p = entries_next(&e)) {
    const double x = scalar_to_double(scalar_load(array_dtype(a), p));
    if (!isfinite(x)) facts &= ~(unsigned)FACT_FINITE;
    if (signbit(x) || isnan(x)) facts &= ~(unsigned)FACT_NONNEGATIVE;
    if (x == 0 || isnan(x)) facts &= ~(unsigned)FACT_NONZERO;
  }
  return facts;
}

static unsigned facts_at(const damo_var *v, int depth);

/* Nothing is known for most scalar ops. The switches are over int, so that -Wswitch-enum does not ask for all of
 * them. */
static unsigned facts_of_unary(int id, unsigned x) {
  switch (id) {
    case SCALAR_exp:
    case SCALAR_exp2:
    case SCALAR_sigmoid:
    case SCALAR_softplus:
    case SCALAR_cosh:
    case SCALAR_erfc:
    case SCALAR_erfcx: return POSITIVE | (x & FACT_FINITE);
    case SCALAR_sin:
    case SCALAR_cos:
    case SCALAR_tanh:
    case SCALAR_arctan:
    case SCALAR_erf:
    case SCALAR_expm1:
    case SCALAR_sinh:
    case SCALAR_arcsinh: return x & FACT_FINITE;
    case SCALAR_sqr:
    case SCALAR_abs: return x | FACT_NONNEGATIVE;
    case SCALAR_neg: return x & (FACT_FINITE | FACT_NONZERO);
    case SCALAR_reciprocal: return has_facts(x, FACT_FINITE | FACT_NONZERO) ? x : x & FACT_NONNEGATIVE;
    case SCALAR_sqrt:
    case SCALAR_log1p: return has_facts(x, FACT_NONNEGATIVE) ? x : 0;
    case SCALAR_log: return has_facts(x, ALL) ? FACT_FINITE : 0;
    default: return 0;
  }
}

static unsigned facts_of_binary(int id, unsigned x, unsigned y) {
  const unsigned both = x & y;
  switch (id) {
    case SCALAR_add: {
      const bool nonzero = has_facts(both, FACT_NONNEGATIVE) && has_facts(x | y, FACT_NONZERO);
      return (both & (FACT_FINITE | FACT_NONNEGATIVE)) | (nonzero ? FACT_NONZERO : 0);
    }
    case SCALAR_sub: return both & FACT_FINITE;
    case SCALAR_mul:
    case SCALAR_minimum: return both;
    case SCALAR_true_div: return has_facts(y, FACT_FINITE | FACT_NONZERO) ? both | (x & ALL & ~POSITIVE) : 0;
    case SCALAR_pow: return has_facts(x, ALL) && has_facts(y, FACT_FINITE) ? ALL : 0;
    case SCALAR_maximum: {
      const bool positive = has_facts(x, POSITIVE) || has_facts(y, POSITIVE);
      return positive ? POSITIVE | (both & FACT_FINITE) : both;
    }
    default: return 0;
  }
}

/* The facts that survive wrap-around if the result is an integer: it may become 0 or negative, unless the op only picks
 * one of its operands. */
static unsigned unless_wrapped(const damo_apply *node, bool picks, unsigned facts) {
  return picks || !dtype_is_discrete(var_dtype(node->out[0])) ? facts : facts & FACT_FINITE;
}

/* Whether -1 < v < 1 for all finite inputs: tanh, erf, sigmoid, squares and negatives of these. */
static bool is_inside_unit(const damo_var *v) {
  for (int steps = 0; steps < MAX_DEPTH && v->owner != NULL && v->owner->op->def == &elemwise_def; steps++) {
    switch ((int)elemwise_scalar_id(v->owner->op)) {
      case SCALAR_tanh:
      case SCALAR_erf:
      case SCALAR_sigmoid: return (facts_at(v->owner->in[0], MAX_DEPTH - 1) & FACT_FINITE) != 0;
      case SCALAR_sqr:
      case SCALAR_neg: v = v->owner->in[0]; break;
      default: return false;
    }
  }
  return false;
}

/* 1 - v and 1 + v for a v inside the unit interval. */
static bool is_rest_of_unit(const damo_apply *node, int id) {
  if (id != SCALAR_add && id != SCALAR_sub) return false;
  for (int i = 0; i < (id == SCALAR_add ? 2 : 1); i++) {
    if (match_constant(node->in[i], 1) && is_inside_unit(node->in[1 - i])) return true;
  }
  return false;
}

static unsigned facts_of_elemwise(const damo_apply *node, int depth) {
  const int id = (int)elemwise_scalar_id(node->op);
  switch (id) {
    case SCALAR_cast:
    case SCALAR_identity: return dtype_is_float(var_dtype(node->out[0])) ? facts_at(node->in[0], depth) : 0;
    case SCALAR_second: return facts_at(node->in[1], depth);
    case SCALAR_switch: return facts_at(node->in[1], depth) & facts_at(node->in[2], depth);
    default: break;
  }
  if (node->n_in > 2) return 0;
  if (dtype_is_float(var_dtype(node->out[0])) && is_rest_of_unit(node, id)) return ALL;
  const unsigned x = facts_at(node->in[0], depth);
  const bool picks = id == SCALAR_maximum || id == SCALAR_minimum;
  return unless_wrapped(node, picks,
                        node->n_in == 1 ? facts_of_unary(id, x) : facts_of_binary(id, x, facts_at(node->in[1], depth)));
}

static unsigned facts_of_reduction(const damo_apply *node, int depth) {
  const reduce_kind kind = reduce_op_kind(node->op);
  const bool picks = kind == REDUCE_MAX || kind == REDUCE_MIN;
  const unsigned x = unless_wrapped(node, picks, facts_at(node->in[0], depth));
  if (kind == REDUCE_SUM) return x & (FACT_FINITE | FACT_NONNEGATIVE); /* the empty sum is 0 */
  return picks || kind == REDUCE_PROD ? x : 0;
}

static unsigned facts_at(const damo_var *v, int depth) {
  if (!type_is_tensor(v->type) || dtype_is_complex(var_dtype(v))) return 0;
  const damo_array *constant = var_constant_array(v);
  if (constant != NULL) return facts_of_constant(constant);
  if (v->owner == NULL) return FACT_FINITE;
  if (depth == MAX_DEPTH) return 0;
  if (v->owner->op->def == &elemwise_def) return facts_of_elemwise(v->owner, depth + 1);
  if (match_class(v, &dimshuffle_def) != NULL || match_class(v, &alloc_def) != NULL)
    return facts_at(v->owner->in[0], depth + 1);
  if (match_class(v, &shape_i_def) != NULL) return FACT_FINITE | FACT_NONNEGATIVE;
  if (match_class(v, &softmax_def) != NULL) return POSITIVE | (facts_at(v->owner->in[0], depth + 1) & FACT_FINITE);
  return match_class(v, &reduce_def) != NULL ? facts_of_reduction(v->owner, depth + 1) : 0;
}

bool match_facts(const damo_var *v, unsigned facts) { return has_facts(facts_at(v, 0), facts); }

#undef ALL
#undef POSITIVE
#undef MAX_DEPTH

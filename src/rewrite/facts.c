/* facts.c: what holds of a value mathematically, whatever finite numbers the graph's inputs are: a bounded look at the
 * nodes that make it. Rules that cancel factors ask. */
#include <math.h>
#include <string.h>

#include "rewrite_int.h"

#define ALL (FACT_FINITE | FACT_NONNEGATIVE | FACT_NONZERO)
#define POSITIVE (FACT_NONNEGATIVE | FACT_NONZERO)
#define MAX_DEPTH 6

static bool has_facts(unsigned facts, unsigned wanted) { return (facts & wanted) == wanted; }

static unsigned facts_of_constant(const damo_array *a) {
  unsigned facts = ALL;
  int64_t index[DAMO_MAX_NDIM] = {0};
  const int64_t n = array_size(a);
  if (n == 0 || n > 64) return 0;
  for (int64_t k = 0; k < n; k++) {
    const double x = scalar_to_double(array_get(a, index));
    if (!isfinite(x)) facts &= ~(unsigned)FACT_FINITE;
    if (signbit(x) || isnan(x)) facts &= ~(unsigned)FACT_NONNEGATIVE;
    if (x == 0 || isnan(x)) facts &= ~(unsigned)FACT_NONZERO;
    for (int d = a->ndim - 1; d >= 0 && ++index[d] == array_shape(a)[d]; d--) index[d] = 0;
  }
  return facts;
}

static unsigned facts_at(const damo_var *v, int depth);

static unsigned facts_of_unary(const char *name, unsigned x) {
  static const char *const positive[] = {"exp", "exp2", "sigmoid", "softplus", "cosh", "erfc", "erfcx"};
  static const char *const finite[] = {"sin", "cos", "tanh", "arctan", "erf", "expm1", "sinh", "arcsinh"};
  for (size_t i = 0; i < sizeof positive / sizeof *positive; i++)
    if (strcmp(name, positive[i]) == 0) return POSITIVE | (x & FACT_FINITE);
  for (size_t i = 0; i < sizeof finite / sizeof *finite; i++)
    if (strcmp(name, finite[i]) == 0) return x & FACT_FINITE;
  if (strcmp(name, "sqr") == 0 || strcmp(name, "abs") == 0) return x | FACT_NONNEGATIVE;
  if (strcmp(name, "neg") == 0) return x & (FACT_FINITE | FACT_NONZERO);
  if (strcmp(name, "reciprocal") == 0) return has_facts(x, FACT_FINITE | FACT_NONZERO) ? x : x & FACT_NONNEGATIVE;
  if (strcmp(name, "sqrt") == 0 || strcmp(name, "log1p") == 0) return has_facts(x, FACT_NONNEGATIVE) ? x : 0;
  if (strcmp(name, "log") == 0) return has_facts(x, ALL) ? FACT_FINITE : 0;
  return 0;
}

static unsigned facts_of_binary(const char *name, unsigned x, unsigned y) {
  const unsigned both = x & y;
  if (strcmp(name, "add") == 0) {
    const bool nonzero = has_facts(both, FACT_NONNEGATIVE) && has_facts(x | y, FACT_NONZERO);
    return (both & (FACT_FINITE | FACT_NONNEGATIVE)) | (nonzero ? FACT_NONZERO : 0);
  }
  if (strcmp(name, "sub") == 0) return both & FACT_FINITE;
  if (strcmp(name, "mul") == 0 || strcmp(name, "minimum") == 0) return both;
  if (strcmp(name, "true_div") == 0) return has_facts(y, FACT_FINITE | FACT_NONZERO) ? both | (x & ALL & ~POSITIVE) : 0;
  if (strcmp(name, "pow") == 0) return has_facts(x, ALL) && has_facts(y, FACT_FINITE) ? ALL : 0;
  if (strcmp(name, "maximum") == 0) {
    const bool positive = has_facts(x, POSITIVE) || has_facts(y, POSITIVE);
    return positive ? POSITIVE | (both & FACT_FINITE) : both;
  }
  return 0;
}

/* What is left of the facts where integers wrap: past their range they may become 0 or negative. */
static unsigned unless_wrapped(const damo_apply *node, const char *name, unsigned facts) {
  const bool picks = strcmp(name, "maximum") == 0 || strcmp(name, "minimum") == 0 || strcmp(name, "max") == 0 ||
                     strcmp(name, "min") == 0;
  return picks || !dtype_is_discrete(var_dtype(node->out[0])) ? facts : facts & FACT_FINITE;
}

static unsigned facts_of_elemwise(const damo_apply *node, int depth) {
  const char *name = elemwise_scalar(node->op);
  if (strcmp(name, "cast") == 0 || strcmp(name, "identity") == 0) {
    return dtype_is_float(var_dtype(node->out[0])) ? facts_at(node->in[0], depth) : 0;
  }
  if (strcmp(name, "second") == 0) return facts_at(node->in[1], depth);
  if (strcmp(name, "switch") == 0) return facts_at(node->in[1], depth) & facts_at(node->in[2], depth);
  if (node->n_in > 2) return 0;
  const unsigned first = facts_at(node->in[0], depth);
  const bool unary = node->n_in == 1;
  return unless_wrapped(
      node, name, unary ? facts_of_unary(name, first) : facts_of_binary(name, first, facts_at(node->in[1], depth)));
}

static unsigned facts_of_reduction(const damo_apply *node, int depth) {
  const prop_value *kind = op_prop(node->op, "kind");
  if (kind->kind != PROP_STR) return 0;
  const char *name = kind->u.s;
  const unsigned x = unless_wrapped(node, name, facts_at(node->in[0], depth));
  if (strcmp(name, "sum") == 0) return x & (FACT_FINITE | FACT_NONNEGATIVE); /* the empty sum is 0 */
  return strcmp(name, "max") == 0 || strcmp(name, "min") == 0 || strcmp(name, "prod") == 0 ? x : 0;
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

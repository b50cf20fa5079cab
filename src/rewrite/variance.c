/* variance.c: sums of squared deviations from the mean, which var and std are made of, in one node that keeps neither the
 * mean nor the deviations. */
#include "op/elem/scalar.h"
#include "op/op.h"
#include "rewrite_int.h"

/* The Sum over these axes that keeps them as dimensions of 1, in the mean m = sum / n; NULL if m is none. */
static const damo_apply *sum_of_mean(const damo_var *m, uint32_t axes) {
  const damo_apply *quotient = match_scalar(m, SCALAR_true_div);
  const damo_apply *sum = quotient != NULL ? match_class(quotient->in[0], &reduce_def) : NULL;
  if (sum == NULL || reduce_op_kind(sum->op) != REDUCE_SUM) return NULL;
  const int ndim = var_ndim(sum->in[0]);
  return var_ndim(sum->out[0]) == ndim && reduce_op_axes(sum->op, ndim) == axes ? sum : NULL;
}

/* Takes the factor d out of the lengths of x's axes: those without a bit in `axes` are done; *known: the product of the
 * static lengths that are left. */
static bool take_count_factor(const damo_var *d, const damo_var *x, uint32_t *axes, int64_t *known) {
  int64_t n;
  if (var_static_int(d, &n)) {
    if (n <= 0 || *known % n != 0) return false;
    *known /= n;
    return true;
  }
  for (int k = 0; k < var_ndim(x); k++) {
    if (!(*axes >> k & 1) || !match_length(d, x, k)) continue;
    *axes &= ~(UINT32_C(1) << k);
    return true;
  }
  return false;
}

/* Whether n is the number of elements of x along these axes: a constant, or a product of lengths, converted last. */
static bool is_count(const damo_var *n, const damo_var *x, uint32_t axes) {
  int64_t known = 1;
  for (int k = 0; k < var_ndim(x); k++) {
    const int64_t length = x->type->shape[k];
    if (!(axes >> k & 1) || length < 0) continue;
    axes &= ~(UINT32_C(1) << k);
    known *= length;
  }
  if (axes == 0) return known > 0 && match_constant(n, (double)known);
  for (const damo_apply *from = n->owner; from != NULL; from = n->owner) {
    if (match_class(n, &dimshuffle_def) == NULL && match_scalar(n, SCALAR_cast) == NULL) break;
    n = from->in[0];
  }
  const damo_var *factors[DAMO_MAX_NDIM + 1] = {n};
  for (int left = 1; left > 0;) {
    const damo_var *d = factors[--left];
    const damo_apply *product = match_scalar(d, SCALAR_mul);
    if (product == NULL) {
      if (!take_count_factor(d, x, &axes, &known)) return false;
      continue;
    }
    if (left + product->n_in > DAMO_MAX_NDIM) return false;
    for (int i = 0; i < product->n_in; i++) factors[left++] = product->in[i];
  }
  return axes == 0 && known == 1;
}

/* sum((x - sum(x) / n)²) over the axes that the mean is taken over. Where the deviations have another use they are
 * computed anyway. */
static damo_status sum_deviations(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  if (reduce_op_kind(node->op) != REDUCE_SUM) return DAMO_OK;
  const damo_apply *square = match_scalar(node->in[0], SCALAR_sqr);
  const damo_apply *less = square != NULL ? match_scalar(square->in[0], SCALAR_sub) : NULL;
  if (less == NULL || !match_single_use(fg, node->in[0]) || !match_single_use(fg, square->in[0])) return DAMO_OK;
  damo_var *x = less->in[0];
  const damo_dtype dtype = var_dtype(x);
  const uint32_t axes = reduce_op_axes(node->op, var_ndim(node->in[0]));
  const damo_apply *sum = sum_of_mean(less->in[1], axes);
  if (sum == NULL || sum->in[0] != x || !dtype_is_float(dtype) || var_dtype(less->in[1]) != dtype) return DAMO_OK;
  if (!is_count(less->in[1]->owner->in[1], x, axes)) return DAMO_OK;
  int list[DAMO_MAX_NDIM], n = 0;
  for (int k = 0; k < var_ndim(x); k++) {
    if (axes >> k & 1) list[n++] = k;
  }
  const bool keepdims = var_ndim(node->out[0]) == var_ndim(x);
  return rule_give(b, repl, did, build_reduce(b, REDUCE_SUM_SQR_DEV, x, list, n, keepdims));
}

const rewrite_rule variance_rules[] = {
    {.name = "sum_deviations",
     .phase = PHASE_FUSE,
     .tags = "fast_run fuse fusion",
     TRACKS(&reduce_def),
     .local = sum_deviations},
    {.name = NULL},
};

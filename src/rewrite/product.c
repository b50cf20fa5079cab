/* product.c: sums of products of matrices. */
#include "op/op.h"
#include "rewrite_int.h"

/* Whether no leading axis of the Matmul's operands broadcasts. */
static bool matmul_is_paired(const damo_apply *product) {
  for (int i = 0; i < 2; i++) {
    const damo_type *t = product->in[i]->type;
    for (int axis = 0; axis < t->ndim - 2; axis++) {
      if (type_dim_is_one(t, axis)) return false;
    }
  }
  return true;
}

/* sum over leading axes of matmul(x, y) → one product over these axes and the inner one, as the gradient of a matrix
 * that is multiplied by each matrix of a stack. */
static damo_status sum_matmul(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  damo_apply *product = match_class(node->in[0], &matmul_def);
  if (product == NULL || reduce_op_kind(node->op) != REDUCE_SUM || !match_single_use(fg, node->in[0])) return DAMO_OK;
  const int n = var_ndim(node->in[0]), kept = var_ndim(node->out[0]);
  const uint32_t axes = reduce_op_axes(node->op, n), inner = (uint32_t)3 << (n - 2);
  const damo_dtype dtype = var_dtype(node->out[0]);
  if ((axes & inner) != 0 || kept != n - __builtin_popcount(axes) || dtype != var_dtype(node->in[0])) return DAMO_OK;
  if (dtype_is_discrete(dtype) || !matmul_is_paired(product)) return DAMO_OK;
  return rule_give(b, repl, did, build_matmul_sum(b, product, axes));
}

const rewrite_rule product_rules[] = {
    {.name = "sum_matmul",
     .phase = PHASE_SPECIALIZE,
     .tags = "fast_run specialize blas inexact",
     TRACKS(&reduce_def),
     .local = sum_matmul},
    {.name = NULL},
};

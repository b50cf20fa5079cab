/* power: powers of a square matrix: a chain of TrueDot, so there is no class. */
#include "op/sparse/sparse_op.h"

typedef struct power_options {
  prop_value n;
} power_options;

/* By repeated squaring; 0 gives the identity. */
static damo_status sp_fn_power(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = sparse_operand(b, a, 0), *result = NULL;
  int64_t n = prop_int_or(FN_OPTIONS(a, power_options)->n, -1);
  if (x == NULL) return b->status;
  if (n < 0) return ctx_fail(b->ctx, DAMO_EVALUE, "%s: the power must be an integer of 0 or more", a->func->name);
  const int64_t *shape = x->type->shape;
  if (shape[0] < 0 || shape[0] != shape[1]) x = build_square(b, a->func->name, x);
  if (x == NULL) return b->status;
  if (n == 0) return fn_give(b, out, build_sparse_eye(b, x));
  for (damo_var *square = x; n > 0 && square != NULL; n /= 2) {
    if (n % 2 == 1) result = result != NULL ? build_true_dot(b, result, square, true) : square;
    if (n > 1) square = build_true_dot(b, square, square, true);
  }
  return fn_give(b, out, result);
}

const op_func sparse_power_funcs[] = {
    {.name = "sparse.power",
     .operands = "x",
     .options = OPTIONS(OPT(power_options, n, OPT_INT)),
     .call = sp_fn_power,
     .doc = "a square matrix times itself, n factors; n = 0: the identity"},
    {.name = NULL},
};

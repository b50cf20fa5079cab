/* special_sets: the kernel sets of the special functions that run element by element in float64. */
#ifndef DAMO_KERNEL_ELEM_SPECIAL_SETS_H
#define DAMO_KERNEL_ELEM_SPECIAL_SETS_H

#include "kernel/isa.h"

/* clang-format off */
/* name, operands: special_NAME of special_*.h */
#define SPECIAL_SETS(X)                                                                                               \
  X(gammainc, 2) \
  X(gammaincc, 2) \
  X(gammainc_grad_a, 2) \
  X(gammal, 2) \
  X(gammau, 2) \
  X(gammaincinv, 2) \
  X(gammainccinv, 2) \
  X(beta, 2) \
  X(betaln, 2) \
  X(betainc, 3) \
  X(betainc_grad_a, 3) \
  X(betainc_grad_b, 3) \
  X(betaincinv, 3) \
  X(poch, 2) \
  X(binom, 2) \
  X(factorial, 1) \
  X(ndtr, 1) \
  X(log_ndtr, 1) \
  X(ndtri, 1) \
  X(ndtri_exp, 1) \
  X(logit, 1) \
  X(sinc, 1) \
  X(xlogy, 2) \
  X(xlog1py, 2) \
  X(entr, 1) \
  X(owens_t, 2)
/* clang-format on */

#define X(name, arity) extern const kernel_set special_set_##name;
SPECIAL_SETS(X)
#undef X

#endif

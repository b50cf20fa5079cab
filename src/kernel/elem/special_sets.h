/* special_sets: the kernel sets of the special functions that run element by element in float64. */
#ifndef DAMO_KERNEL_ELEM_SPECIAL_SETS_H
#define DAMO_KERNEL_ELEM_SPECIAL_SETS_H

#include "kernel/isa.h"

/* clang-format off */
/* name, operands: special_NAME of special_*.h */
#define SPECIAL_SETS(X)                                                                                               \
  X(gammainc, 2)                                                                                                      \
  X(gammaincc, 2)                                                                                                     \
  X(gammainc_grad_a, 2)                                                                                               \
  X(gammainc_grad_aa, 2)                                                                                              \
  X(gammal, 2)                                                                                                        \
  X(gammau, 2)                                                                                                        \
  X(gammaincinv, 2)                                                                                                   \
  X(gammainccinv, 2)                                                                                                  \
  X(beta, 2)                                                                                                          \
  X(betaln, 2)                                                                                                        \
  X(betainc, 3)                                                                                                       \
  X(betainc_grad_a, 3)                                                                                                \
  X(betainc_grad_b, 3)                                                                                                \
  X(betainc_grad_aa, 3)                                                                                               \
  X(betainc_grad_ab, 3)                                                                                               \
  X(betainc_grad_bb, 3)                                                                                               \
  X(betaincinv, 3)                                                                                                    \
  X(poch, 2)                                                                                                          \
  X(binom, 2)                                                                                                         \
  X(factorial, 1)                                                                                                     \
  X(ndtr, 1)                                                                                                          \
  X(log_ndtr, 1)                                                                                                      \
  X(ndtri, 1)                                                                                                         \
  X(ndtri_exp, 1)                                                                                                     \
  X(logit, 1)                                                                                                         \
  X(sinc, 1)                                                                                                          \
  X(xlogy, 2)                                                                                                         \
  X(xlog1py, 2)                                                                                                       \
  X(entr, 1)                                                                                                          \
  X(owens_t, 2)                                                                                                       \
  X(tetra_gamma, 1)                                                                                                   \
  X(i0, 1)                                                                                                            \
  X(i1, 1)                                                                                                            \
  X(i0e, 1)                                                                                                           \
  X(i1e, 1)                                                                                                           \
  X(j0, 1)                                                                                                            \
  X(j1, 1)                                                                                                            \
  X(k0, 1)                                                                                                            \
  X(k1, 1)                                                                                                            \
  X(y0, 1)                                                                                                            \
  X(y1, 1)                                                                                                            \
  X(jv, 2)                                                                                                            \
  X(yv, 2)                                                                                                            \
  X(iv, 2)                                                                                                            \
  X(kv, 2)                                                                                                            \
  X(ive, 2)                                                                                                           \
  X(kve, 2)                                                                                                           \
  X(jv_grad_v, 2)                                                                                                     \
  X(yv_grad_v, 2)                                                                                                     \
  X(ive_grad_v, 2)                                                                                                    \
  X(kve_grad_v, 2)                                                                                                    \
  X(jv_grad_vv, 2)                                                                                                    \
  X(yv_grad_vv, 2)                                                                                                    \
  X(ive_grad_vv, 2)                                                                                                   \
  X(kve_grad_vv, 2)                                                                                                   \
  X(spherical_jn, 2)                                                                                                  \
  X(hurwitz_zeta, 2)                                                                                                  \
  X(zeta_grad_s, 2)                                                                                                   \
  X(zeta_grad_ss, 2)                                                                                                  \
  X(riemann_zeta, 1)                                                                                                  \
  X(riemann_zeta_grad, 1)                                                                                             \
  X(riemann_zeta_grad_ss, 1)                                                                                          \
  X(polygamma, 2)                                                                                                     \
  X(expn, 2)                                                                                                          \
  X(expn_grad_n, 2)                                                                                                   \
  X(expn_grad_nn, 2)                                                                                                  \
  X(exp1, 1)                                                                                                          \
  X(expi, 1)                                                                                                          \
  X(ellipk, 1)                                                                                                        \
  X(ellipe, 1)                                                                                                        \
  X(ellipd, 1)                                                                                                        \
  X(dawsn, 1)                                                                                                         \
  X(sinint, 1)                                                                                                        \
  X(cosint, 1)                                                                                                        \
  X(sinhint, 1)                                                                                                       \
  X(coshint, 1)                                                                                                       \
  X(fresnels, 1)                                                                                                      \
  X(fresnelc, 1)                                                                                                      \
  X(airy_ai, 1)                                                                                                       \
  X(airy_ai_prime, 1)                                                                                                 \
  X(airy_bi, 1)                                                                                                       \
  X(airy_bi_prime, 1)                                                                                                 \
  X(ellipkinc, 2)                                                                                                     \
  X(ellipeinc, 2)                                                                                                     \
  X(ellipdinc, 2)                                                                                                     \
  X(ellipkinc_grad_m, 2)                                                                                              \
  X(jacobi_am, 2)                                                                                                     \
  X(jacobi_sn, 2)                                                                                                     \
  X(jacobi_cn, 2)                                                                                                     \
  X(jacobi_dn, 2)                                                                                                     \
  X(hyp1f1, 3)                                                                                                        \
  X(hyp1f1_grad_a, 3)                                                                                                 \
  X(hyp1f1_grad_b, 3)                                                                                                 \
  X(hyp2f1, 4)                                                                                                        \
  X(hyp2f1_grad_a, 4)                                                                                                 \
  X(hyp2f1_grad_b, 4)                                                                                                 \
  X(hyp2f1_grad_c, 4)
/* clang-format on */

#define X(name, arity) extern const kernel_set special_set_##name;
SPECIAL_SETS(X)
#undef X
/* Real and complex. */
extern const kernel_set special_set_lambertw_principal, special_set_lambertw_lower;

#endif

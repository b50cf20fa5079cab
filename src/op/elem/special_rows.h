/* special_rows: the scalar ops of the error, gamma and Bessel functions. */
#ifndef DAMO_OP_ELEM_SPECIAL_ROWS_H
#define DAMO_OP_ELEM_SPECIAL_ROWS_H

/* clang-format off */
/* name, operands, dtype rule, kernel, derivative, doc: scalar.h says what they are */
#define SCALAR_SPECIAL_ROWS(X)                                                                                        \
  X(erf, UNARY, FLOAT, K(erf), D(erf), "error function")                                                              \
  X(erfc, UNARY, FLOAT, K(erfc), D(erfc), "1 - erf(x)")                                                               \
  X(erfcx, UNARY, FLOAT, K(erfcx), D(erfcx), "exp(x*x) erfc(x)")                                                      \
  X(erfinv, UNARY, FLOAT, K(erfinv), D(erfinv), "inverse of erf")                                                     \
  X(erfcinv, UNARY, FLOAT, K(erfcinv), D(erfcinv), "inverse of erfc")                                                 \
  X(gamma, UNARY, FLOAT, K(gamma), D(gamma), "gamma function")                                                        \
  X(gammaln, UNARY, FLOAT, K(gammaln), D(gammaln), "log of |gamma(x)|")                                               \
  X(psi, UNARY, FLOAT, K(psi), D(psi), "derivative of gammaln")                                                       \
  X(tri_gamma, UNARY, FLOAT, K(tri_gamma), D(tri_gamma), "second derivative of gammaln")                              \
  X(tetra_gamma, UNARY, FLOAT, SPECIAL(tetra_gamma), D(tetra_gamma), "third derivative of gammaln")                   \
  X(i0, UNARY, FLOAT, SPECIAL(i0), D(i0), "modified Bessel function of order 0")                                      \
  X(i1, UNARY, FLOAT, SPECIAL(i1), D(i1), "modified Bessel function of order 1")                                      \
  X(j0, UNARY, FLOAT, SPECIAL(j0), D(j0), "Bessel function of order 0")                                               \
  X(j1, UNARY, FLOAT, SPECIAL(j1), D(j1), "Bessel function of order 1")                                               \
  X(gammainc, PARAMETER, FLOAT, SPECIAL(gammainc), D(gammainc), "regularised lower incomplete gamma function")        \
  X(gammaincc, PARAMETER, FLOAT, SPECIAL(gammaincc), D(gammaincc), "regularised upper incomplete gamma function")     \
  X(gammainc_grad_a, PARAMETER, FLOAT, SPECIAL(gammainc_grad_a), D(gammainc_grad_a), "derivative of gammainc in a")   \
  X(gammainc_grad_aa, PARAMETER, FLOAT, SPECIAL(gammainc_grad_aa), D(gammainc_grad_aa), "second derivative of gammainc in a")\
  X(gammal, PARAMETER, FLOAT, SPECIAL(gammal), D(gammal), "lower incomplete gamma function, gamma(a) gammainc(a, x)") \
  X(gammau, PARAMETER, FLOAT, SPECIAL(gammau), D(gammau), "upper incomplete gamma function, gamma(a) gammaincc(a, x)") \
  X(gammaincinv, QUANTILE, FLOAT, SPECIAL(gammaincinv), D(gammaincinv), "the x with gammainc(a, x) = p")              \
  X(gammainccinv, QUANTILE, FLOAT, SPECIAL(gammainccinv), D(gammainccinv), "the x with gammaincc(a, x) = p")          \
  X(beta, PAIR, FLOAT, SPECIAL(beta), D(beta), "beta function gamma(a) gamma(b) / gamma(a + b)")                      \
  X(betaln, PAIR, FLOAT, SPECIAL(betaln), D(betaln), "log of |beta(a, b)|")                                           \
  X(betainc, BETA, FLOAT, SPECIAL(betainc), D(betainc), "regularised incomplete beta function")                       \
  X(betainc_grad_a, BETA, FLOAT, SPECIAL(betainc_grad_a), D(betainc_grad_a), "derivative of betainc in a")            \
  X(betainc_grad_b, BETA, FLOAT, SPECIAL(betainc_grad_b), D(betainc_grad_b), "derivative of betainc in b")            \
  X(betainc_grad_aa, BETA, FLOAT, SPECIAL(betainc_grad_aa), D(betainc_grad_aa), "second derivative of betainc in a")  \
  X(betainc_grad_ab, BETA, FLOAT, SPECIAL(betainc_grad_ab), D(betainc_grad_ab), "derivative of betainc in a and b")   \
  X(betainc_grad_bb, BETA, FLOAT, SPECIAL(betainc_grad_bb), D(betainc_grad_bb), "second derivative of betainc in b")  \
  X(betaincinv, BETA_QUANTILE, FLOAT, SPECIAL(betaincinv), D(betaincinv), "the x with betainc(a, b, x) = p")          \
  X(poch, STEPS, FLOAT, SPECIAL(poch), D(poch), "rising factorial gamma(x + m) / gamma(x)")                           \
  X(binom, CHOOSE, FLOAT, SPECIAL(binom), D(binom), "binomial coefficient of real numbers")                           \
  X(factorial, UNARY, FLOAT, SPECIAL(factorial), D(factorial), "gamma(x + 1); 0 of negative x")                       \
  X(ndtr, UNARY, FLOAT, SPECIAL(ndtr), D(ndtr), "distribution function of the standard normal")                       \
  X(log_ndtr, UNARY, FLOAT, SPECIAL(log_ndtr), D(log_ndtr), "log of ndtr(x), far into the tail")                      \
  X(ndtri, UNARY, FLOAT, SPECIAL(ndtri), D(ndtri), "inverse of ndtr")                                                 \
  X(ndtri_exp, UNARY, FLOAT, SPECIAL(ndtri_exp), D(ndtri_exp), "inverse of log_ndtr")                                 \
  X(logit, UNARY, FLOAT, SPECIAL(logit), D(logit), "log(x / (1 - x)), inverse of sigmoid")                            \
  X(sinc, UNARY, FLOAT, SPECIAL(sinc), D(sinc), "sin(pi x) / (pi x)")                                                 \
  X(xlogy, BINARY, FLOAT, SPECIAL(xlogy), D(xlogy), "x log(y), 0 where x is 0")                                       \
  X(xlog1py, BINARY, FLOAT, SPECIAL(xlog1py), D(xlog1py), "x log(1 + y), 0 where x is 0")                             \
  X(entr, UNARY, FLOAT, SPECIAL(entr), D(entr), "-x log(x), -inf of negative x")                                      \
  X(owens_t, OWEN, FLOAT, SPECIAL(owens_t), D(owens_t), "T function of Owen")                                         \
  X(i0e, UNARY, FLOAT, SPECIAL(i0e), D(i0e), "exp(-|x|) i0(x)")                                                       \
  X(i1e, UNARY, FLOAT, SPECIAL(i1e), D(i1e), "exp(-|x|) i1(x)")                                                       \
  X(k0, UNARY, FLOAT, SPECIAL(k0), D(k0), "modified Bessel function of the second kind, order 0")                     \
  X(k1, UNARY, FLOAT, SPECIAL(k1), D(k1), "modified Bessel function of the second kind, order 1")                     \
  X(y0, UNARY, FLOAT, SPECIAL(y0), D(y0), "Bessel function of the second kind, order 0")                              \
  X(y1, UNARY, FLOAT, SPECIAL(y1), D(y1), "Bessel function of the second kind, order 1")                              \
  X(jv, REAL_ORDER, FLOAT, SPECIAL(jv), D(jv), "Bessel function of real order")                                       \
  X(yv, REAL_ORDER, FLOAT, SPECIAL(yv), D(yv), "Bessel function of the second kind, of real order")                   \
  X(iv, REAL_ORDER, FLOAT, SPECIAL(iv), D(iv), "modified Bessel function of real order")                              \
  X(kv, REAL_ORDER, FLOAT, SPECIAL(kv), D(kv), "modified Bessel function of the second kind, of real order")          \
  X(ive, REAL_ORDER, FLOAT, SPECIAL(ive), D(ive), "exp(-|x|) iv(v, x)")                                               \
  X(kve, REAL_ORDER, FLOAT, SPECIAL(kve), D(kve), "exp(x) kv(v, x)")                                                  \
  X(jv_grad_v, REAL_ORDER, FLOAT, SPECIAL(jv_grad_v), D(jv_grad_v), "derivative of jv in v")                          \
  X(yv_grad_v, REAL_ORDER, FLOAT, SPECIAL(yv_grad_v), D(yv_grad_v), "derivative of yv in v")                          \
  X(ive_grad_v, REAL_ORDER, FLOAT, SPECIAL(ive_grad_v), D(ive_grad_v), "derivative of ive in v")                      \
  X(kve_grad_v, REAL_ORDER, FLOAT, SPECIAL(kve_grad_v), D(kve_grad_v), "derivative of kve in v")                      \
  X(jv_grad_vv, REAL_ORDER, FLOAT, SPECIAL(jv_grad_vv), D(jv_grad_vv), "second derivative of jv in v")                \
  X(yv_grad_vv, REAL_ORDER, FLOAT, SPECIAL(yv_grad_vv), D(yv_grad_vv), "second derivative of yv in v")                \
  X(ive_grad_vv, REAL_ORDER, FLOAT, SPECIAL(ive_grad_vv), D(ive_grad_vv), "second derivative of ive in v")            \
  X(kve_grad_vv, REAL_ORDER, FLOAT, SPECIAL(kve_grad_vv), D(kve_grad_vv), "second derivative of kve in v")            \
  X(spherical_jn, ORDER, FLOAT, SPECIAL(spherical_jn), D(spherical_jn), "spherical Bessel function of whole order")   \
  X(hurwitz_zeta, ZETA, FLOAT, SPECIAL(hurwitz_zeta), D(hurwitz_zeta), "sum of (q + k)^-s, k >= 0")                   \
  X(zeta_grad_s, ZETA, FLOAT, SPECIAL(zeta_grad_s), D(zeta_grad_s), "derivative of hurwitz_zeta in s")                \
  X(zeta_grad_ss, ZETA, FLOAT, SPECIAL(zeta_grad_ss), D(zeta_grad_ss), "second derivative of hurwitz_zeta in s")      \
  X(riemann_zeta, UNARY, FLOAT, SPECIAL(riemann_zeta), D(riemann_zeta), "zeta function of Riemann, for every real x") \
  X(riemann_zeta_grad, UNARY, FLOAT, SPECIAL(riemann_zeta_grad), D(riemann_zeta_grad), "derivative of riemann_zeta")  \
  X(riemann_zeta_grad_ss, UNARY, FLOAT, SPECIAL(riemann_zeta_grad_ss), NO_GRADIENT, "its second derivative")          \
  X(polygamma, ORDER, FLOAT, SPECIAL(polygamma), D(polygamma), "n-th derivative of psi, n whole")                     \
  X(expn, ORDER, FLOAT, SPECIAL(expn), D(expn), "exponential integral, of exp(-x t) / t^n from 1 on")                 \
  X(expn_grad_n, ORDER, FLOAT, SPECIAL(expn_grad_n), D(expn_grad_n), "derivative of expn in n")                       \
  X(expn_grad_nn, ORDER, FLOAT, SPECIAL(expn_grad_nn), D(expn_grad_nn), "second derivative of expn in n")             \
  X(exp1, UNARY, FLOAT, SPECIAL(exp1), D(exp1), "exponential integral expn(1, x)")                                    \
  X(expi, UNARY, FLOAT, SPECIAL(expi), D(expi), "exponential integral of exp(t) / t up to x, its principal value")    \
  X(lambertw_principal, UNARY, FLOAT, SPECIAL(lambertw_principal), D(lambertw), "the w >= -1 with w exp(w) = x")      \
  X(lambertw_lower, UNARY, FLOAT, SPECIAL(lambertw_lower), D(lambertw), "the w <= -1 with w exp(w) = x")              \
  X(ellipk, UNARY, FLOAT, SPECIAL(ellipk), D(ellipk), "complete elliptic integral of the first kind")                 \
  X(ellipe, UNARY, FLOAT, SPECIAL(ellipe), D(ellipe), "complete elliptic integral of the second kind")                \
  X(ellipd, UNARY, FLOAT, SPECIAL(ellipd), D(ellipd), "(ellipk(m) - ellipe(m)) / m")                                  \
  X(dawsn, UNARY, FLOAT, SPECIAL(dawsn), D(dawsn), "Dawson's integral, exp(-x*x) times that of exp(t*t) from 0 to x")  \
  X(sinint, UNARY, FLOAT, SPECIAL(sinint), D(sinint), "sine integral Si")                                              \
  X(cosint, UNARY, FLOAT, SPECIAL(cosint), D(cosint), "cosine integral Ci of |x|")                                     \
  X(sinhint, UNARY, FLOAT, SPECIAL(sinhint), D(sinhint), "hyperbolic sine integral Shi")                               \
  X(coshint, UNARY, FLOAT, SPECIAL(coshint), D(coshint), "hyperbolic cosine integral Chi of |x|")                      \
  X(fresnels, UNARY, FLOAT, SPECIAL(fresnels), D(fresnels), "integral of sin(pi t*t / 2) from 0 to x")                 \
  X(fresnelc, UNARY, FLOAT, SPECIAL(fresnelc), D(fresnelc), "integral of cos(pi t*t / 2) from 0 to x")                 \
  X(airy_ai, UNARY, FLOAT, SPECIAL(airy_ai), D(airy_ai), "Airy function Ai")                                           \
  X(airy_ai_prime, UNARY, FLOAT, SPECIAL(airy_ai_prime), D(airy_ai_prime), "derivative of the Airy function Ai")       \
  X(airy_bi, UNARY, FLOAT, SPECIAL(airy_bi), D(airy_bi), "Airy function Bi")                                           \
  X(airy_bi_prime, UNARY, FLOAT, SPECIAL(airy_bi_prime), D(airy_bi_prime), "derivative of the Airy function Bi")       \
  X(ellipkinc, ANGLE, FLOAT, SPECIAL(ellipkinc), D(ellipkinc), "incomplete elliptic integral of the first kind")       \
  X(ellipeinc, ANGLE, FLOAT, SPECIAL(ellipeinc), D(ellipeinc), "incomplete elliptic integral of the second kind")      \
  X(ellipdinc, ANGLE, FLOAT, SPECIAL(ellipdinc), D(ellipdinc), "(ellipkinc(phi, m) - ellipeinc(phi, m)) / m")          \
  X(ellipkinc_grad_m, ANGLE, FLOAT, SPECIAL(ellipkinc_grad_m), D(ellipkinc_grad_m), "derivative of ellipkinc in m")    \
  X(jacobi_am, MODULUS, FLOAT, SPECIAL(jacobi_am), D(jacobi_am), "Jacobi's amplitude, inverse of ellipkinc in phi")    \
  X(jacobi_sn, MODULUS, FLOAT, SPECIAL(jacobi_sn), D(jacobi_sn), "Jacobi's sn, the sine of the amplitude")             \
  X(jacobi_cn, MODULUS, FLOAT, SPECIAL(jacobi_cn), D(jacobi_cn), "Jacobi's cn, the cosine of the amplitude")           \
  X(jacobi_dn, MODULUS, FLOAT, SPECIAL(jacobi_dn), D(jacobi_dn), "Jacobi's dn, sqrt(1 - m sn^2)")                      \
  X(hyp1f1, KUMMER, FLOAT, SPECIAL(hyp1f1), D(hyp1f1), "confluent hypergeometric function of Kummer")                  \
  X(hyp1f1_grad_a, KUMMER, FLOAT, SPECIAL(hyp1f1_grad_a), D(hyp1f1_grad_a), "derivative of hyp1f1 in a")               \
  X(hyp1f1_grad_b, KUMMER, FLOAT, SPECIAL(hyp1f1_grad_b), D(hyp1f1_grad_b), "derivative of hyp1f1 in b")               \
  X(hyp2f1, HYPER, FLOAT, SPECIAL(hyp2f1), D(hyp2f1), "hypergeometric function of Gauss")                             \
  X(hyp2f1_grad_a, HYPER, FLOAT, SPECIAL(hyp2f1_grad_a), D(hyp2f1_grad_a), "derivative of hyp2f1 in a")               \
  X(hyp2f1_grad_b, HYPER, FLOAT, SPECIAL(hyp2f1_grad_b), D(hyp2f1_grad_b), "derivative of hyp2f1 in b")               \
  X(hyp2f1_grad_c, HYPER, FLOAT, SPECIAL(hyp2f1_grad_c), D(hyp2f1_grad_c), "derivative of hyp2f1 in c")
/* clang-format on */

#endif

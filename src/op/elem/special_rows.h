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
  X(tetra_gamma, UNARY, FLOAT, OWN(tetra_gamma), NO_GRADIENT, "third derivative of gammaln")                          \
  X(i0, UNARY, FLOAT, OWN(i0), D(i0), "modified Bessel function of order 0")                                          \
  X(i1, UNARY, FLOAT, OWN(i1), D(i1), "modified Bessel function of order 1")                                          \
  X(j0, UNARY, FLOAT, OWN(j0), D(j0), "Bessel function of order 0")                                                   \
  X(j1, UNARY, FLOAT, OWN(j1), D(j1), "Bessel function of order 1")                                                   \
  X(gammainc, PARAMETER, FLOAT, SPECIAL(gammainc), D(gammainc), "regularised lower incomplete gamma function")        \
  X(gammaincc, PARAMETER, FLOAT, SPECIAL(gammaincc), D(gammaincc), "regularised upper incomplete gamma function")     \
  X(gammainc_grad_a, PARAMETER, FLOAT, SPECIAL(gammainc_grad_a), D(gammainc_grad_a), "derivative of gammainc in a")   \
  X(gammal, PARAMETER, FLOAT, SPECIAL(gammal), D(gammal), "lower incomplete gamma function, gamma(a) gammainc(a, x)") \
  X(gammau, PARAMETER, FLOAT, SPECIAL(gammau), D(gammau), "upper incomplete gamma function, gamma(a) gammaincc(a, x)")\
  X(gammaincinv, QUANTILE, FLOAT, SPECIAL(gammaincinv), D(gammaincinv), "the x with gammainc(a, x) = p")              \
  X(gammainccinv, QUANTILE, FLOAT, SPECIAL(gammainccinv), D(gammainccinv), "the x with gammaincc(a, x) = p")          \
  X(beta, PAIR, FLOAT, SPECIAL(beta), D(beta), "beta function gamma(a) gamma(b) / gamma(a + b)")                      \
  X(betaln, PAIR, FLOAT, SPECIAL(betaln), D(betaln), "log of |beta(a, b)|")                                           \
  X(betainc, BETA, FLOAT, SPECIAL(betainc), D(betainc), "regularised incomplete beta function")                       \
  X(betainc_grad_a, BETA, FLOAT, SPECIAL(betainc_grad_a), D(betainc_grad_a), "derivative of betainc in a")            \
  X(betainc_grad_b, BETA, FLOAT, SPECIAL(betainc_grad_b), D(betainc_grad_b), "derivative of betainc in b")            \
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
  X(owens_t, OWEN, FLOAT, SPECIAL(owens_t), D(owens_t), "T function of Owen")
/* clang-format on */

#endif

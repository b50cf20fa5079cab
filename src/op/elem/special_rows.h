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
  X(j1, UNARY, FLOAT, OWN(j1), D(j1), "Bessel function of order 1")
/* clang-format on */

#endif

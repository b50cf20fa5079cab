/* math_rows: the scalar ops of exponentials, logarithms, angles and hyperbolic functions. */
#ifndef DAMO_OP_ELEM_MATH_ROWS_H
#define DAMO_OP_ELEM_MATH_ROWS_H

/* clang-format off */
/* name, operands, dtype rule, kernel, derivative, doc: scalar.h says what they are */
#define SCALAR_MATH_ROWS(X)                                                                                           \
  X(arctan2, BINARY, FLOAT, K(arctan2), D(arctan2), "angle of a point, its height first")                             \
  X(logaddexp, BINARY, FLOAT, K(logaddexp), D(logaddexp), "log(exp(x) + exp(y))")                                     \
  X(logaddexp2, BINARY, FLOAT, K(logaddexp2), D(logaddexp2), "log2(2**x + 2**y)")                                     \
  X(hypot, BINARY, FLOAT, K(hypot), D(hypot), "sqrt(x*x + y*y) without overflow")                                     \
  X(exp, UNARY, FLOAT, K(exp), D(exp), "e to the power x")                                                            \
  X(exp2, UNARY, FLOAT, K(exp2), D(exp2), "2 to the power x")                                                         \
  X(exp10, UNARY, FLOAT, K(exp10), D(exp10), "10 to the power x")                                                     \
  X(expm1, UNARY, FLOAT, K(expm1), D(expm1), "exp(x) - 1, exact near 0")                                              \
  X(log, UNARY, FLOAT, K(log), D(log), "natural logarithm")                                                           \
  X(log2, UNARY, FLOAT, K(log2), D(log2), "logarithm to base 2")                                                      \
  X(log10, UNARY, FLOAT, K(log10), D(log10), "logarithm to base 10")                                                  \
  X(log1p, UNARY, FLOAT, K(log1p), D(log1p), "log(1 + x), exact near 0")                                              \
  X(sigmoid, UNARY, FLOAT, K(sigmoid), D(sigmoid), "1/(1 + exp(-x))")                                                 \
  X(softplus, UNARY, FLOAT, K(softplus), D(softplus), "log(1 + exp(x)) without overflow")                             \
  X(log1mexp, UNARY, FLOAT, K(log1mexp), D(log1mexp), "log(1 - exp(x)) for x < 0")                                    \
  X(sin, UNARY, FLOAT, K(sin), D(sin), "sine")                                                                        \
  X(cos, UNARY, FLOAT, K(cos), D(cos), "cosine")                                                                      \
  X(tan, UNARY, FLOAT, K(tan), D(tan), "tangent")                                                                     \
  X(arcsin, UNARY, FLOAT, K(arcsin), D(arcsin), "inverse sine")                                                       \
  X(arccos, UNARY, FLOAT, K(arccos), D(arccos), "inverse cosine")                                                     \
  X(arctan, UNARY, FLOAT, K(arctan), D(arctan), "inverse tangent")                                                    \
  X(sinh, UNARY, FLOAT, K(sinh), D(sinh), "hyperbolic sine")                                                          \
  X(cosh, UNARY, FLOAT, K(cosh), D(cosh), "hyperbolic cosine")                                                        \
  X(tanh, UNARY, FLOAT, K(tanh), D(tanh), "hyperbolic tangent")                                                       \
  X(arcsinh, UNARY, FLOAT, K(arcsinh), D(arcsinh), "inverse hyperbolic sine")                                         \
  X(arccosh, UNARY, FLOAT, K(arccosh), D(arccosh), "inverse hyperbolic cosine")                                       \
  X(arctanh, UNARY, FLOAT, K(arctanh), D(arctanh), "inverse hyperbolic tangent")                                      \
  X(deg2rad, UNARY, FLOAT, K(deg2rad), D(deg2rad), "degrees to radians")                                              \
  X(rad2deg, UNARY, FLOAT, K(rad2deg), D(rad2deg), "radians to degrees")
/* clang-format on */

#endif

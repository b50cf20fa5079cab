/* arith_rows: the scalar ops of arithmetic, comparison, logic, choice, rounding and complex parts. */
#ifndef DAMO_OP_ELEM_ARITH_ROWS_H
#define DAMO_OP_ELEM_ARITH_ROWS_H

/* clang-format off */
/* name, operands, dtype rule, kernel, derivative, doc: scalar.h says what they are */
#define SCALAR_ARITH_ROWS(X)                                                                                          \
  X(add, BINARY, PROMOTE, K(add), D(add), "sum")                                                                      \
  X(sub, BINARY, PROMOTE, K(sub), D(sub), "difference")                                                               \
  X(mul, BINARY, PROMOTE, K(mul), D(mul), "product, element by element")                                              \
  X(true_div, BINARY, DIVIDE, K(true_div), D(true_div), "quotient; of integers a float")                              \
  X(floor_div, BINARY, NUMBER, K(floor_div), ZERO, "quotient rounded down")                                           \
  X(mod, BINARY, NUMBER, K(mod), D(mod), "remainder, with the divisor's sign")                                        \
  X(trunc_div, BINARY, NUMBER, K(trunc_div), ZERO, "quotient rounded towards 0")                                      \
  X(fmod, BINARY, NUMBER, K(fmod), D(fmod), "remainder, with the dividend's sign")                                    \
  X(gcd, BINARY, NUMBER, K(gcd), ZERO, "greatest common divisor of integers, not negative")                           \
  X(lcm, BINARY, NUMBER, K(lcm), ZERO, "least common multiple of integers, not negative; 0 of 0")                     \
  X(pow, BINARY, NUMBER, K(pow), D(pow), "x to the power y")                                                          \
  X(maximum, BINARY, PROMOTE, K(maximum), D(extremum), "the larger; nan where one is nan")                            \
  X(minimum, BINARY, PROMOTE, K(minimum), D(extremum), "the smaller; nan where one is nan")                           \
  X(copysign, BINARY, FLOAT, K(copysign), D(copysign), "|x| with the sign of y; that of a nan is +")                  \
  X(nextafter, BINARY, FLOAT, K(nextafter), D(nextafter), "the float next to x in the direction of y")                \
  X(heaviside, BINARY, FLOAT, K(heaviside), D(heaviside), "0 where x < 0, 1 where x > 0, y where x is 0")             \
  X(ldexp, SCALES, SCALE, K(ldexp), D(ldexp), "x times 2 to the power n, an integer")                                 \
  X(eq, BINARY, COMPARE, K(eq), ZERO, "x = y, as bool")                                                               \
  X(neq, BINARY, COMPARE, K(neq), ZERO, "x differs from y, as bool")                                                  \
  X(lt, BINARY, COMPARE, K(lt), ZERO, "x < y, as bool")                                                               \
  X(le, BINARY, COMPARE, K(le), ZERO, "x <= y, as bool")                                                              \
  X(gt, BINARY, COMPARE, K(gt), ZERO, "x > y, as bool")                                                               \
  X(ge, BINARY, COMPARE, K(ge), ZERO, "x >= y, as bool")                                                              \
  X(isnan, UNARY, TEST, K(isnan), ZERO, "is it nan, as bool")                                                         \
  X(isinf, UNARY, TEST, K(isinf), ZERO, "is it an infinity, as bool")                                                 \
  X(isfinite, UNARY, TEST, K(isfinite), ZERO, "is it neither nan nor an infinity, as bool")                           \
  X(isposinf, UNARY, TEST, K(isposinf), ZERO, "is it +infinity, as bool")                                             \
  X(isneginf, UNARY, TEST, K(isneginf), ZERO, "is it -infinity, as bool")                                             \
  X(signbit, UNARY, TEST, K(signbit), ZERO, "is its sign negative (-0 too), as bool")                                 \
  X(and_, BINARY, LOGIC, K(and_), ZERO, "logical and of bool, bitwise and of integers")                               \
  X(or_, BINARY, LOGIC, K(or_), ZERO, "logical or of bool, bitwise or of integers")                                   \
  X(xor, BINARY, LOGIC, K(xor), ZERO, "exclusive or of bool, bitwise of integers")                                    \
  X(invert, UNARY, LOGIC, K(invert), ZERO, "logical not of bool, all bits flipped of integers")                       \
  X(left_shift, BINARY, NUMBER, K(left_shift), ZERO, "bits moved left by y places")                                   \
  X(right_shift, BINARY, NUMBER, K(right_shift), ZERO, "bits moved right by y places, the sign kept")                 \
  X(switch, CHOICE, SWITCH, K(switch_), D(switch), "x where the condition holds, else y")                             \
  X(clip, BOUNDS, PROMOTE, K(clip), D(clip), "min where x < min, else max where x > max, else x")                     \
  X(second, BINARY, SECOND, COPY, D(copy), "y broadcast to x's shape")                                                \
  X(identity, UNARY, PROMOTE, COPY, D(copy), "x itself, as a copy")                                                   \
  X(neg, UNARY, PROMOTE, K(neg), D(neg), "-x")                                                                        \
  X(abs, UNARY, ABS, K(abs), D(abs), "absolute value; of complex the magnitude")                                      \
  X(sign, UNARY, PROMOTE, K(sign), D(sign), "-1, 0 or 1; of complex x / |x|; nan of nan")                             \
  X(sqr, UNARY, NUMBER, K(sqr), D(sqr), "x*x")                                                                        \
  X(sqrt, UNARY, FLOAT, K(sqrt), D(sqrt), "square root")                                                              \
  X(cbrt, UNARY, FLOAT, K(cbrt), D(cbrt), "cube root")                                                                \
  X(reciprocal, UNARY, FLOAT, K(reciprocal), D(reciprocal), "1/x")                                                    \
  X(ceil, UNARY, FLOAT, K(ceil), ZERO, "rounded up")                                                                  \
  X(floor, UNARY, FLOAT, K(floor), ZERO, "rounded down")                                                              \
  X(trunc, UNARY, ROUND, K(trunc), ZERO, "rounded towards 0")                                                         \
  X(round_half_to_even, UNARY, ROUND, K(round_half_to_even), ZERO, "rounded, halves to even")                         \
  X(round_half_away_from_zero, UNARY, ROUND, K(round_half_away_from_zero), ZERO, "rounded, halves away from 0")       \
  X(frexp_mantissa, UNARY, FLOAT, K(frexp_mantissa), D(frexp_mantissa), "the mantissa of frexp")                      \
  X(frexp_exponent, UNARY, EXPONENT, K(frexp_exponent), ZERO, "the exponent of frexp, int32")                         \
  X(conj, UNARY, CONJ, K(conj), D(conj), "complex conjugate")                                                         \
  X(real, UNARY, REAL, K(real), D(real), "real part")                                                                 \
  X(imag, UNARY, PART, K(imag), D(imag), "imaginary part; of real numbers 0 of their dtype")                          \
  X(angle, UNARY, PART, K(angle), D(angle), "argument of a complex number")                                           \
  X(complex, PARTS, COMPLEX, K(complex), D(complex), "complex number of two parts")                                   \
  X(cast, CASTS, CAST, COPY, D(copy), "x converted to another dtype")
/* clang-format on */

#endif

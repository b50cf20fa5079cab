/* names: the elementwise kernels, in the order of a kernel_isa's `elem`. Included only by kernel/ and op/elem, so that
 * a new kernel recompiles no other folder. */
#ifndef DAMO_KERNEL_ELEM_NAMES_H
#define DAMO_KERNEL_ELEM_NAMES_H

/* Names of the elementwise kernels, as in PyTensor. Results have the loop dtype, with these exceptions: comparisons,
 * isnan, isinf and their likes write bool; abs, angle, real and imag of complex write the matching float; complex writes the
 * matching complex dtype. */
/* clang-format off */
#define ELEM_KERNELS(X)                                                                                              \
  /* binary arithmetic; bool add = or, bool mul = and */                                                            \
  X(add) X(sub) X(mul) X(true_div) X(floor_div) X(mod) X(pow) X(maximum) X(minimum) X(arctan2) X(logaddexp)         \
  X(hypot) X(trunc_div) X(fmod) X(gcd) X(lcm) X(left_shift) X(right_shift) X(copysign) X(nextafter)                 \
  X(heaviside) X(logaddexp2)                                                                                        \
  /* ldexp takes (a, n as int64 block); frexp_exponent writes int32 */                                              \
  X(ldexp) X(frexp_mantissa) X(frexp_exponent)                                                                      \
  /* comparisons, into bool */                                                                                      \
  X(eq) X(neq) X(lt) X(le) X(gt) X(ge) X(isnan) X(isinf)                                                            \
  X(isfinite) X(isposinf) X(isneginf) X(signbit)                                                                    \
  /* logic: bool is logical, integers bitwise */                                                                    \
  X(and_) X(or_) X(xor) X(invert)                                                                                   \
  /* ternary: switch takes (cond as bool block, a, b) with a, b, out of the loop dtype; clip (x, lo, hi) */         \
  X(switch_) X(clip)                                                                                                \
  /* unary arithmetic and rounding */                                                                               \
  X(neg) X(abs) X(sign) X(sqr) X(sqrt) X(cbrt) X(reciprocal) X(ceil) X(floor) X(trunc) X(round_half_to_even)                \
  X(round_half_away_from_zero)                                                                                      \
  /* exponentials and logarithms */                                                                                 \
  X(exp) X(exp2) X(exp10) X(expm1) X(log) X(log2) X(log10) X(log1p) X(sigmoid) X(softplus) X(log1mexp)                       \
  /* trigonometry */                                                                                                \
  X(sin) X(cos) X(tan) X(arcsin) X(arccos) X(arctan) X(sinh) X(cosh) X(tanh) X(arcsinh) X(arccosh) X(arctanh)       \
  X(deg2rad) X(rad2deg)                                                                                             \
  /* special functions */                                                                                           \
  X(erf) X(erfc) X(erfcx) X(erfinv) X(erfcinv) X(gamma) X(gammaln) X(psi) X(tri_gamma)                              \
  /* complex */                                                                                                     \
  X(conj) X(real) X(imag) X(angle) X(complex)
/* clang-format on */

typedef enum elem_kernel {
#define X(name) ELEM_##name,
  ELEM_KERNELS(X)
#undef X
      ELEM_N
} elem_kernel;

#endif

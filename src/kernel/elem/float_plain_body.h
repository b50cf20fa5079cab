/* float_plain_body: the functions of float_body.h for the kernels whose results have the same bits on every machine
 * (ELEM_PLAIN): those of kernel/plain, and where SLEEF is linked its functions of the family cinz, whose bits are the same
 * for all lengths of vectors. What neither has is no kernel of this table. Included by float_body.h. */

#define PLAIN(name) RFN(plain_##name)

#define PLAIN1(name, own)                                        \
  ALWAYS_INLINE T NAME(at_##name)(T x) { return PLAIN(own)(x); } \
  LOOP1(name, T, T)
#define PLAIN2(name, own)                                                \
  ALWAYS_INLINE T NAME(at_##name)(T x, T y) { return PLAIN(own)(x, y); } \
  LOOP2(name, T, T)

PLAIN1(exp, exp)
PLAIN1(exp2, exp2)
PLAIN1(expm1, expm1)
PLAIN1(log, log)
PLAIN1(log1p, log1p)
PLAIN1(sigmoid, sigmoid)
PLAIN1(arcsin, asin)
PLAIN1(arccos, acos)
PLAIN1(arctan, atan)
PLAIN1(sinh, sinh)
PLAIN1(cosh, cosh)
PLAIN1(tanh, tanh)
PLAIN1(erf, erf)
PLAIN2(pow, pow)
PLAIN2(arctan2, atan2)

/* Without a branch where all arguments of a chunk are small, with the same bits. */
#define PLAIN_TRIG(name)                                                               \
  static void NAME(name)(void *const *args, int64_t n) {                               \
    const T *a = args[0];                                                              \
    T *o = args[1];                                                                    \
    for (int64_t i = 0; i < n; i += CHUNK) {                                           \
      const int64_t m = n - i < CHUNK ? n - i : CHUNK;                                 \
      const T *x = a + i;                                                              \
      T *y = o + i;                                                                    \
      BITS far = 0;                                                                    \
      for (int64_t j = 0; j < m; j++) far |= !(RFN(fabs)(x[j]) <= (T)PLAIN_TRIG_NEAR); \
      if (far) {                                                                       \
        for (int64_t j = 0; j < m; j++) y[j] = PLAIN(name)(x[j]);                      \
        continue;                                                                      \
      }                                                                                \
      NO_ALIAS                                                                         \
      for (int64_t j = 0; j < m; j++) y[j] = PLAIN(name##_near)(x[j]);                 \
    }                                                                                  \
  }
PLAIN_TRIG(sin)
PLAIN_TRIG(cos)
PLAIN_TRIG(tan)

/* As below, in float_body.h: the sum, or top where rest is nan. */
ALWAYS_INLINE T NAME(at_rest_added)(T top, T rest) { return rest != rest ? top : top + rest; }

ALWAYS_INLINE T NAME(at_softplus)(T x) {
  return NAME(at_rest_added)(NAME(at_maximum)(x, 0), PLAIN(log1p)(PLAIN(exp)(-RFN(fabs)(x))));
}
ALWAYS_INLINE T NAME(at_logaddexp)(T a, T b) {
  const T gap = a == b ? 0 : a - b;
  return NAME(at_rest_added)(NAME(at_maximum)(a, b), PLAIN(log1p)(PLAIN(exp)(-RFN(fabs)(gap))));
}
ALWAYS_INLINE T NAME(at_logaddexp2)(T a, T b) {
  const T gap = a == b ? 0 : a - b, rest = PLAIN(log1p)(PLAIN(exp2)(-RFN(fabs)(gap)));
  return NAME(at_rest_added)(NAME(at_maximum)(a, b), rest * (T)1.44269504088896340736);
}
/* log(1 - exp(x)) */
ALWAYS_INLINE T NAME(at_log1mexp)(T a) {
  const double x = (double)a, near = plain_log(-plain_expm1(x)), far = plain_log1p(-plain_exp(x));
  return (T)(x > -PLAIN_LN2 ? near : far);
}
LOOP1(softplus, T, T)
LOOP2(logaddexp, T, T)
LOOP2(logaddexp2, T, T)
LOOP1(log1mexp, T, T)

#ifdef VEC
/* Arguments for which SLEEF 3.5 overflows too early; there asinh and acosh are log(2x). */
ALWAYS_INLINE bool NAME(hard_inverse)(T x) { return RFN(fabs)(x) > T_HUGE; }
ALWAYS_INLINE T NAME(at_log_twice)(T x) {
  const double y = plain_log(fabs((double)x)) + PLAIN_LN2;
  return x == x ? (T)copysign(y, (double)x) : x;
}
ALWAYS_INLINE T NAME(at_arccosh_far)(T x) { return x > 0 ? NAME(at_log_twice)(x) : (T)NAN; }
ALWAYS_INLINE bool NAME(is_minus_infinity)(T a) { return a == -(T)INFINITY; }
ALWAYS_INLINE T NAME(at_itself)(T a) { return a; }
MAP1(exp10, VEC1(exp10, u10))
MAP1(cbrt, VEC1(cbrt, u10))
MAP1(log2, VEC1(log2, u10))
MAP1(log10, VEC1(log10, u10))
MAP1_OR(arcsinh, VEC1(asinh, u10), NAME(hard_inverse), NAME(at_log_twice))
MAP1_OR(arccosh, VEC1(acosh, u10), NAME(hard_inverse), NAME(at_arccosh_far))
MAP1(arctanh, VEC1(atanh, u10))
MAP1(erfc, VEC1(erfc, u15))
MAP1(gamma, VEC1(tgamma, u10))
MAP1_OR(gammaln, VEC1(lgamma, u10), NAME(is_minus_infinity), NAME(at_itself))
MAP2(hypot, VEC2(hypot, u05))
#endif

#undef PLAIN
#undef PLAIN1
#undef PLAIN2
#undef PLAIN_TRIG

/* float_body: kernels of float32 and float64. Included with T, SUFFIX, V (a SLEEF vector), VU (the same, aligned to its
 * element), W (its length), BITS (the unsigned type of T's size), VEC(name, bound) (SLEEF's function with that error
 * bound), VEC_OWN(name) (own functions, if any), RFN(name) (C's function), T_MAX_LOG (exp of it is finite), T_HUGE (its square is finite),
 * T_TRIG_MIDDLE and T_TRIG_LARGE (where SLEEF changes the method of argument reduction); with ELEM_PLAIN the functions are
 * those of float_plain_body.h, and VEC may be missing.
 *
 * Arithmetic is plain loops. Transcendental functions go through SLEEF, whole vectors at a time: a tail is padded to a
 * vector, so an element's value does not depend on its position. For arguments where SLEEF exceeds its error bound (the
 * predicates hard_*), C's scalar function computes the element: the choice depends on the value alone. */

#define CHUNK 64 /* elements staged at once if inputs must outlive the output; a multiple of W */
#define PAD(n) (((n) + W - 1) / W * W)

#ifdef VEC
/* ---- Vector loops ------------------------------------------------------------------------------------------------ */

typedef V (*NAME(vec1))(V);
typedef V (*NAME(vec2))(V, V);
typedef bool (*NAME(hard1))(T);
typedef T (*NAME(fn1))(T);
/* SLEEF declares its results const, which clang treats as another function type. */
#define VEC1(name, bound) ((NAME(vec1))VEC(name, bound))
#define VEC2(name, bound) ((NAME(vec2))VEC(name, bound))
#ifdef VEC_OWN
#define EXP VEC_OWN(exp)
#define LOG1P VEC_OWN(log1p)
#else
#define EXP VEC1(exp, u10)
#define LOG1P VEC1(log1p, u10)
#endif

/* n is a multiple of W; outputs may be inputs. */
ALWAYS_INLINE void NAME(apply1)(const T *x, T *y, int64_t n, NAME(vec1) f) {
  for (int64_t i = 0; i < n; i += W) *(VU *)(y + i) = f(*(const VU *)(x + i));
}

ALWAYS_INLINE void NAME(apply2)(const T *x, const T *y, T *z, int64_t n, NAME(vec2) f) {
  for (int64_t i = 0; i < n; i += W) *(VU *)(z + i) = f(*(const VU *)(x + i), *(const VU *)(y + i));
}

/* x[0 … m - 1] = a, padded with 1 to whole vectors. Returns the padded length. */
ALWAYS_INLINE int64_t NAME(stage)(T *x, const T *a, int64_t m) {
  memcpy(x, a, (size_t)m * sizeof(T));
  for (int64_t i = m; i < PAD(m); i++) x[i] = 1;
  return PAD(m);
}

ALWAYS_INLINE void NAME(map1)(void *const *args, int64_t n, NAME(vec1) f) {
  const T *a = args[0];
  T *o = args[1], x[W];
  const int64_t whole = n / W * W;
  NAME(apply1)(a, o, whole, f);
  if (whole == n) return;
  NAME(stage)(x, a + whole, n - whole);
  NAME(apply1)(x, x, W, f);
  memcpy(o + whole, x, (size_t)(n - whole) * sizeof(T));
}

/* map1, with C's function for elements that satisfy `hard`. */
ALWAYS_INLINE void NAME(map1_or)(void *const *args, int64_t n, NAME(vec1) f, NAME(hard1) hard, NAME(fn1) fallback) {
  const T *a = args[0];
  T *o = args[1], x[CHUNK], y[CHUNK];
  for (int64_t i = 0; i < n; i += CHUNK) {
    const int64_t m = n - i < CHUNK ? n - i : CHUNK;
    BITS any = 0;
    for (int64_t j = 0; j < m; j++) any |= (BITS)hard(a[i + j]);
    if (!any && m == CHUNK) {
      NAME(apply1)(a + i, o + i, CHUNK, f);
      continue;
    }
    NAME(apply1)(x, y, NAME(stage)(x, a + i, m), f);
    if (any)
      for (int64_t j = 0; j < m; j++)
        if (hard(x[j])) y[j] = fallback(x[j]);
    memcpy(o + i, y, (size_t)m * sizeof(T));
  }
}

/* map1 of sin, cos and tan. SLEEF chooses the argument reduction by the largest argument of a vector. So that no
 * element's value depends on its neighbours, f is called for vectors with arguments of one range at a time; elements of
 * other ranges are replaced by a dummy of this range, and their results discarded. */
ALWAYS_INLINE void NAME(map1_by_range)(void *const *args, int64_t n, NAME(vec1) f) {
  static const T from[] = {0, T_TRIG_MIDDLE, T_TRIG_LARGE}, dummy[] = {1, T_TRIG_MIDDLE, T_TRIG_LARGE};
  const T *a = args[0];
  T *o = args[1], x[CHUNK], y[CHUNK], part[CHUNK];
  for (int64_t i = 0; i < n; i += CHUNK) {
    const int64_t m = n - i < CHUNK ? n - i : CHUNK, padded = NAME(stage)(x, a + i, m);
    BITS mixed = 0;
    for (int64_t j = 0; j < padded; j++) mixed |= !(RFN(fabs)(x[j]) < T_TRIG_MIDDLE);
    if (!mixed) NAME(apply1)(x, y, padded, f);
    for (int r = 0; mixed && r < 3; r++) {
      BITS any = 0;
      for (int64_t j = 0; j < padded; j++) {
        const T size = RFN(fabs)(x[j]);
        const BITS below = r > 0 && size < from[r], above = r < 2 && !(size < from[r + 1]);
        part[j] = (below | above) ? dummy[r] : x[j];
        any |= !(below | above);
      }
      if (!any) continue;
      NAME(apply1)(part, part, padded, f);
      for (int64_t j = 0; j < padded; j++) {
        const T size = RFN(fabs)(x[j]);
        y[j] = r > 0 && size < from[r] ? y[j] : part[j];
      }
    }
    memcpy(o + i, y, (size_t)m * sizeof(T));
  }
}

ALWAYS_INLINE void NAME(map2)(void *const *args, int64_t n, NAME(vec2) f) {
  const T *a = args[0], *b = args[1];
  T *o = args[2], x[W], y[W];
  const int64_t whole = n / W * W;
  NAME(apply2)(a, b, o, whole, f);
  if (whole == n) return;
  NAME(stage)(x, a + whole, n - whole);
  NAME(stage)(y, b + whole, n - whole);
  NAME(apply2)(x, y, x, W, f);
  memcpy(o + whole, x, (size_t)(n - whole) * sizeof(T));
}

#define MAP1(name, vec) \
  static void NAME(name)(void *const *args, int64_t n) { NAME(map1)(args, n, vec); }
#define MAP1_BY_RANGE(name, vec) \
  static void NAME(name)(void *const *args, int64_t n) { NAME(map1_by_range)(args, n, vec); }
#define MAP2(name, vec) \
  static void NAME(name)(void *const *args, int64_t n) { NAME(map2)(args, n, vec); }
#define MAP1_OR(name, vec, hard, fallback) \
  static void NAME(name)(void *const *args, int64_t n) { NAME(map1_or)(args, n, vec, hard, fallback); }
#endif /* VEC */

/* ---- Arithmetic -------------------------------------------------------------------------------------------------- */

ALWAYS_INLINE T NAME(at_add)(T a, T b) { return a + b; }
ALWAYS_INLINE T NAME(at_sub)(T a, T b) { return a - b; }
ALWAYS_INLINE T NAME(at_mul)(T a, T b) { return a * b; }
ALWAYS_INLINE T NAME(at_true_div)(T a, T b) { return a / b; }
/* The larger one; nan if either is nan. */
ALWAYS_INLINE T NAME(at_maximum)(T a, T b) { return ((a > b) | (a != a)) ? a : b; }
ALWAYS_INLINE T NAME(at_minimum)(T a, T b) { return ((a < b) | (a != a)) ? a : b; }
/* If lo > hi, an x below lo becomes lo. Written so that it vectorises: a nan x fails both comparisons and passes, a nan
 * bound is handled last. */
ALWAYS_INLINE T NAME(at_clip)(T x, T lo, T hi) {
  const T down = x > hi ? hi : x, r = x < lo ? lo : down;
  return ((lo != lo) | (hi != hi)) ? lo + hi : r;
}
ALWAYS_INLINE T NAME(at_switch_)(uint8_t c, T a, T b) { return c ? a : b; }
ALWAYS_INLINE uint8_t NAME(at_eq)(T a, T b) { return a == b; }
ALWAYS_INLINE uint8_t NAME(at_neq)(T a, T b) { return a != b; }
ALWAYS_INLINE uint8_t NAME(at_lt)(T a, T b) { return a < b; }
ALWAYS_INLINE uint8_t NAME(at_le)(T a, T b) { return a <= b; }
ALWAYS_INLINE uint8_t NAME(at_gt)(T a, T b) { return a > b; }
ALWAYS_INLINE uint8_t NAME(at_ge)(T a, T b) { return a >= b; }
ALWAYS_INLINE uint8_t NAME(at_isnan)(T a) { return a != a; }
ALWAYS_INLINE uint8_t NAME(at_isinf)(T a) { return RFN(fabs)(a) == (T)INFINITY; }
ALWAYS_INLINE T NAME(at_neg)(T a) { return -a; }
ALWAYS_INLINE T NAME(at_abs)(T a) { return RFN(fabs)(a); }
ALWAYS_INLINE T NAME(at_sign)(T a) { return a > 0 ? 1 : a < 0 ? -1 : a == 0 ? 0 : a; }
ALWAYS_INLINE T NAME(at_sqr)(T a) { return a * a; }
ALWAYS_INLINE T NAME(at_sqrt)(T a) { return RFN(sqrt)(a); }
ALWAYS_INLINE T NAME(at_reciprocal)(T a) { return 1 / a; }
ALWAYS_INLINE T NAME(at_ceil)(T a) { return RFN(ceil)(a); }
ALWAYS_INLINE T NAME(at_floor)(T a) { return RFN(floor)(a); }
ALWAYS_INLINE T NAME(at_trunc)(T a) { return RFN(trunc)(a); }
ALWAYS_INLINE T NAME(at_round_half_to_even)(T a) { return RFN(rint)(a); }
ALWAYS_INLINE T NAME(at_deg2rad)(T a) { return a * (T)0.017453292519943295769; }
ALWAYS_INLINE T NAME(at_rad2deg)(T a) { return a * (T)57.295779513082320877; }
ALWAYS_INLINE T NAME(at_angle)(T a) { return a < 0 ? (T)3.14159265358979323846 : a != a ? a : 0; }
ALWAYS_INLINE T NAME(at_imag)(T a) { return (void)a, (T)0; }

/* The fraction a - t is exact, so halves are recognized exactly. */
ALWAYS_INLINE T NAME(at_round_half_away_from_zero)(T a) {
  const T t = RFN(trunc)(a), up = RFN(fabs)(a - t) >= (T)0.5 ? 1 : 0;
  return RFN(copysign)(RFN(fabs)(t) + up, a);
}

/* The remainder, also a 0, has the divisor's sign, as in Python. */
ALWAYS_INLINE T NAME(at_mod)(T a, T b) {
  const T r = RFN(fmod)(a, b);
  if (r == 0) return RFN(copysign)(r, b);
  return (r < 0) != (b < 0) ? r + b : r;
}

/* floor(a / b) from the exact remainder: the rounded quotient may be an integer that is above a / b. */
ALWAYS_INLINE T NAME(at_floor_div)(T a, T b) {
  const T r = RFN(fmod)(a, b);
  if (b == 0 || r != r) return b == 0 ? a / b : r;
  T q = (a - r) / b;
  if (r != 0 && (r < 0) != (b < 0)) q -= 1;
  if (q == 0) return RFN(copysign)(0, a / b);
  const T whole = RFN(floor)(q);
  return q - whole > (T)0.5 ? whole + 1 : whole;
}

ALWAYS_INLINE uint8_t NAME(at_isfinite)(T a) { return RFN(fabs)(a) < (T)INFINITY; }
ALWAYS_INLINE uint8_t NAME(at_isposinf)(T a) { return a == (T)INFINITY; }
ALWAYS_INLINE uint8_t NAME(at_isneginf)(T a) { return a == -(T)INFINITY; }
/* A nan counts as positive: which sign it has depends on the machine that made it. */
ALWAYS_INLINE uint8_t NAME(at_signbit)(T a) {
  BITS bits;
  memcpy(&bits, &a, sizeof a);
  return (uint8_t)(bits >> (8 * sizeof a - 1)) & (a == a);
}
ALWAYS_INLINE T NAME(at_trunc_div)(T a, T b) { return RFN(trunc)(a / b); }
ALWAYS_INLINE T NAME(at_fmod)(T a, T b) { return RFN(fmod)(a, b); }
ALWAYS_INLINE T NAME(at_copysign)(T a, T b) { return RFN(copysign)(a, b == b ? b : 1); }
ALWAYS_INLINE T NAME(at_nextafter)(T a, T b) { return RFN(nextafter)(a, b); }
ALWAYS_INLINE T NAME(at_heaviside)(T a, T b) { return a > 0 ? 1 : a < 0 ? 0 : a == 0 ? b : a; }
ALWAYS_INLINE T NAME(at_frexp_mantissa)(T a) {
  int n;
  return RFN(frexp)(a, &n);
}
/* 0 of nan and of infinities, for which C leaves it open. */
ALWAYS_INLINE int32_t NAME(at_frexp_exponent)(T a) {
  int n = 0;
  if (NAME(at_isfinite)(a)) (void)RFN(frexp)(a, &n);
  return n;
}

LOOP2(add, T, T)
LOOP2(sub, T, T)
LOOP2(mul, T, T)
LOOP2(true_div, T, T)
LOOP2(floor_div, T, T)
LOOP2(mod, T, T)
LOOP2(maximum, T, T)
LOOP2(minimum, T, T)
LOOP3(clip, T, T)
LOOP3(switch_, uint8_t, T)
LOOP2(eq, T, uint8_t)
LOOP2(neq, T, uint8_t)
LOOP2(lt, T, uint8_t)
LOOP2(le, T, uint8_t)
LOOP2(gt, T, uint8_t)
LOOP2(ge, T, uint8_t)
LOOP1(isnan, T, uint8_t)
LOOP1(isinf, T, uint8_t)
LOOP1(isfinite, T, uint8_t)
LOOP1(isposinf, T, uint8_t)
LOOP1(isneginf, T, uint8_t)
LOOP1(signbit, T, uint8_t)
LOOP2(trunc_div, T, T)
LOOP2(fmod, T, T)
LOOP2(copysign, T, T)
LOOP2(nextafter, T, T)
LOOP2(heaviside, T, T)
LOOP1(frexp_mantissa, T, T)
LOOP1(frexp_exponent, T, int32_t)
LOOP1(neg, T, T)
LOOP1(abs, T, T)
LOOP1(sign, T, T)
LOOP1(sqr, T, T)
LOOP1(sqrt, T, T)
LOOP1(reciprocal, T, T)
LOOP1(ceil, T, T)
LOOP1(floor, T, T)
LOOP1(trunc, T, T)
LOOP1(round_half_to_even, T, T)
LOOP1(round_half_away_from_zero, T, T)
LOOP1(deg2rad, T, T)
LOOP1(rad2deg, T, T)
LOOP1(angle, T, T)
LOOP1(imag, T, T)

/* The exponent is an int64: what lies beyond ±4096 gives an infinity or 0, as ±4096 does. */
static void NAME(ldexp)(void *const *args, int64_t n) {
  const T *a = args[0];
  const int64_t *b = args[1];
  T *o = args[2];
  for (int64_t i = 0; i < n; i++) o[i] = RFN(ldexp)(a[i], (int)(b[i] > 4096 ? 4096 : b[i] < -4096 ? -4096 : b[i]));
}

/* Interleaves blocks of real and imaginary parts. */
static void NAME(complex)(void *const *args, int64_t n) {
  const T *re = args[0], *im = args[1];
  T *o = args[2];
  NO_ALIAS
  for (int64_t i = 0; i < n; i++) {
    o[2 * i] = re[i];
    o[2 * i + 1] = im[i];
  }
}

#ifdef ELEM_PLAIN
#include "float_plain_body.h"
#else

/* ---- Functions of SLEEF ------------------------------------------------------------------------------------------ */

/* Arguments for which SLEEF 3.5 overflows too early, as the specs measure; everything else is within its bound, special
 * values too. */
ALWAYS_INLINE bool NAME(hard_log1p)(T x) { return x > T_HUGE; }
ALWAYS_INLINE bool NAME(hard_hyperbolic)(T x) { return RFN(fabs)(x) > T_MAX_LOG; }
ALWAYS_INLINE bool NAME(hard_inverse)(T x) { return RFN(fabs)(x) > T_HUGE; } /* SLEEF squares x */

MAP1(exp, EXP)
MAP1(exp2, VEC1(exp2, u10))
MAP1(exp10, VEC1(exp10, u10))
MAP1(expm1, VEC1(expm1, u10))
MAP1(cbrt, VEC1(cbrt, u10))
MAP1(log, VEC1(log, u10))
MAP1(log2, VEC1(log2, u10))
MAP1(log10, VEC1(log10, u10))
/* log|gamma| at -infinity is -infinity, as in SciPy; SLEEF follows C and gives +infinity. */
ALWAYS_INLINE bool NAME(is_minus_infinity)(T a) { return a == -(T)INFINITY; }
ALWAYS_INLINE T NAME(at_itself)(T a) { return a; }
MAP1_BY_RANGE(tan, VEC1(tan, u10))
MAP1(arcsin, VEC1(asin, u10))
MAP1(arccos, VEC1(acos, u10))
MAP1(arctan, VEC1(atan, u10))
MAP1_OR(sinh, VEC1(sinh, u10), NAME(hard_hyperbolic), RFN(sinh))
MAP1_OR(cosh, VEC1(cosh, u10), NAME(hard_hyperbolic), RFN(cosh))
MAP1_OR(arcsinh, VEC1(asinh, u10), NAME(hard_inverse), RFN(asinh))
MAP1_OR(arccosh, VEC1(acosh, u10), NAME(hard_inverse), RFN(acosh))
MAP1(arctanh, VEC1(atanh, u10))
MAP1(erf, VEC1(erf, u10))
MAP1(erfc, VEC1(erfc, u15))
MAP1(gamma, VEC1(tgamma, u10))
MAP1_OR(gammaln, VEC1(lgamma, u10), NAME(is_minus_infinity), NAME(at_itself))
MAP2(pow, VEC2(pow, u10))
MAP2(arctan2, VEC2(atan2, u10))
MAP2(hypot, VEC2(hypot, u05))

/* ---- Functions from exp and log1p -------------------------------------------------------------------------------- */

/* e[j] = exp(-|x[j]|), which never overflows and keeps small results. */
ALWAYS_INLINE void NAME(exp_minus_abs)(const T *x, T *e, int64_t padded) {
  for (int64_t j = 0; j < padded; j++) e[j] = -RFN(fabs)(x[j]);
  NAME(apply1)(e, e, padded, EXP);
}

#ifdef VEC_OWN
MAP1(log1p, LOG1P)
MAP1(tanh, VEC_OWN(tanh))
MAP1(sigmoid, VEC_OWN(sigmoid))
ALWAYS_INLINE bool NAME(hard_trig)(T x) { return !(RFN(fabs)(x) <= 0x1p17); }
MAP1_OR(sin, VEC_OWN(sin), NAME(hard_trig), RFN(sin))
MAP1_OR(cos, VEC_OWN(cos), NAME(hard_trig), RFN(cos))
#else
MAP1_OR(log1p, LOG1P, NAME(hard_log1p), RFN(log1p))
MAP1(tanh, VEC1(tanh, u10))
MAP1_BY_RANGE(sin, VEC1(sin, u10))
MAP1_BY_RANGE(cos, VEC1(cos, u10))

/* 1 / (1 + exp(-x)); for x < 0 computed as e / (1 + e). */
static void NAME(sigmoid)(void *const *args, int64_t n) {
  const T *a = args[0];
  T *o = args[1], x[CHUNK], e[CHUNK];
  for (int64_t i = 0; i < n; i += CHUNK) {
    const int64_t m = n - i < CHUNK ? n - i : CHUNK;
    NAME(exp_minus_abs)(x, e, NAME(stage)(x, a + i, m));
    for (int64_t j = 0; j < m; j++) {
      const T top = x[j] >= 0 ? 1 : e[j];
      o[i + j] = top / (1 + e[j]);
    }
  }
}
#endif

/* The sum; if rest is nan, top, which then is nan too: it would be the compiler's choice which of two nans a sum
 * returns. */
ALWAYS_INLINE T NAME(at_rest_added)(T top, T rest) { return rest != rest ? top : top + rest; }

/* log(1 + exp(x)) = max(x, 0) + log1p(exp(-|x|)) */
static void NAME(softplus)(void *const *args, int64_t n) {
  const T *a = args[0];
  T *o = args[1], x[CHUNK], e[CHUNK];
  for (int64_t i = 0; i < n; i += CHUNK) {
    const int64_t m = n - i < CHUNK ? n - i : CHUNK, padded = NAME(stage)(x, a + i, m);
    NAME(exp_minus_abs)(x, e, padded);
    NAME(apply1)(e, e, padded, LOG1P);
    for (int64_t j = 0; j < m; j++) o[i + j] = NAME(at_rest_added)(NAME(at_maximum)(x[j], 0), e[j]);
  }
}

/* log(exp(a) + exp(b)) = max + log1p(exp(-|a - b|)); equal infinities have distance 0. */
static void NAME(logaddexp)(void *const *args, int64_t n) {
  const T *a = args[0], *b = args[1];
  T *o = args[2], x[CHUNK], top[CHUNK], e[CHUNK];
  for (int64_t i = 0; i < n; i += CHUNK) {
    const int64_t m = n - i < CHUNK ? n - i : CHUNK, padded = NAME(stage)(x, a + i, m);
    for (int64_t j = 0; j < m; j++) {
      top[j] = NAME(at_maximum)(x[j], b[i + j]);
      const T gap = x[j] - b[i + j];
      x[j] = x[j] == b[i + j] ? 0 : gap;
    }
    NAME(exp_minus_abs)(x, e, padded);
    NAME(apply1)(e, e, padded, LOG1P);
    for (int64_t j = 0; j < m; j++) o[i + j] = NAME(at_rest_added)(top[j], e[j]);
  }
}

/* log2(2^a + 2^b) = max + log2(1 + 2^-|a - b|); equal infinities have distance 0. */
static void NAME(logaddexp2)(void *const *args, int64_t n) {
  const T *a = args[0], *b = args[1];
  T *o = args[2], e[CHUNK], top[CHUNK];
  for (int64_t i = 0; i < n; i += CHUNK) {
    const int64_t m = n - i < CHUNK ? n - i : CHUNK, padded = NAME(stage)(e, a + i, m);
    for (int64_t j = 0; j < m; j++) {
      top[j] = NAME(at_maximum)(e[j], b[i + j]);
      const T gap = e[j] - b[i + j];
      e[j] = e[j] == b[i + j] ? 0 : -RFN(fabs)(gap);
    }
    NAME(apply1)(e, e, padded, VEC1(exp2, u10));
    NAME(apply1)(e, e, padded, LOG1P);
    for (int64_t j = 0; j < m; j++) o[i + j] = NAME(at_rest_added)(top[j], e[j] * (T)1.44269504088896340736);
  }
}

/* ---- Special functions, in double -------------------------------------------------------------------------------- */

ALWAYS_INLINE T NAME(at_erfcx)(T a) { return (T)special_erfcx(a); }
ALWAYS_INLINE T NAME(at_erfinv)(T a) { return (T)special_erfinv(a); }
ALWAYS_INLINE T NAME(at_erfcinv)(T a) { return (T)special_erfcinv(a); }
ALWAYS_INLINE T NAME(at_psi)(T a) { return (T)special_psi(a); }
ALWAYS_INLINE T NAME(at_tri_gamma)(T a) { return (T)special_tri_gamma(a); }
ALWAYS_INLINE T NAME(at_log1mexp)(T a) { return (T)special_log1mexp(a); }
LOOP1(erfcx, T, T)
LOOP1(erfinv, T, T)
LOOP1(erfcinv, T, T)
LOOP1(psi, T, T)
LOOP1(tri_gamma, T, T)
LOOP1(log1mexp, T, T)
#endif /* not ELEM_PLAIN */

#undef CHUNK
#undef PAD
#undef MAP1
#undef MAP1_OR
#undef MAP1_BY_RANGE
#undef MAP2
#undef T
#undef V
#undef VU
#undef W
#undef BITS
#undef VEC
#undef VEC1
#undef VEC2
#undef VEC_OWN
#undef EXP
#undef LOG1P
#undef RFN
#undef T_HUGE
#undef T_MAX_LOG
#undef T_TRIG_MIDDLE
#undef T_TRIG_LARGE
#undef SUFFIX

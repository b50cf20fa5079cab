/* complex_body: complex kernels. Included with T (the struct), F (the type of its parts), C (C99's complex type),
 * SUFFIX, FN(name) (C99's function for that type), RFN(name) (the real function), SPLITTER (splits a mantissa in
 * halves), T_VAST and T_TINY (parts beyond these are scaled by T_SHRINK or its reciprocal before they are squared).
 *
 * Products are the textbook formula and quotients Smith's (Algorithm 116, CACM 1962), as in NumPy: C's own operators
 * follow Annex G and take ten times as long. With ELEM_PLAIN the functions that C's library computes are left out. */

/* Both types are two consecutive parts. (Not every compiler has C11's CMPLX, and re + im * I mixes infinities.) */
ALWAYS_INLINE T NAME(of)(C z) {
  T parts;
  memcpy(&parts, &z, sizeof parts);
  return parts;
}
ALWAYS_INLINE C NAME(to)(T parts) {
  C z;
  memcpy(&z, &parts, sizeof z);
  return z;
}

ALWAYS_INLINE T NAME(at_add)(T a, T b) { return (T){a.re + b.re, a.im + b.im}; }
ALWAYS_INLINE T NAME(at_sub)(T a, T b) { return (T){a.re - b.re, a.im - b.im}; }

/* a - b of products. GCC 12 fuses vectors of alternating differences and sums despite -ffp-contract=off, so the
 * difference is hidden from it: b's sign bit is flipped and b added. */
ALWAYS_INLINE F NAME(less)(F a, F b) {
  BITS bits;
  memcpy(&bits, &b, sizeof b);
  bits ^= (BITS)1 << (8 * sizeof b - 1);
  memcpy(&b, &bits, sizeof b);
  return a + b;
}

ALWAYS_INLINE T NAME(at_mul)(T a, T b) { return (T){NAME(less)(a.re * b.re, a.im * b.im), a.re * b.im + a.im * b.re}; }
ALWAYS_INLINE T NAME(at_sqr)(T a) { return NAME(at_mul)(a, a); }
ALWAYS_INLINE T NAME(at_neg)(T a) { return (T){-a.re, -a.im}; }
ALWAYS_INLINE T NAME(at_conj)(T a) { return (T){a.re, -a.im}; }
ALWAYS_INLINE F NAME(at_real)(T a) { return a.re; }
ALWAYS_INLINE F NAME(at_imag)(T a) { return a.im; }

/* x * x = result + *low exactly, if neither the square nor its last bits are subnormal. */
ALWAYS_INLINE F NAME(square)(F x, F *low) {
  const F high = x * x;
#if defined(FP_FAST_FMA) && !defined(ELEM_PLAIN)
  *low = RFN(fma)(x, x, -high);
#else
  const F far = x * SPLITTER, head = far - (far - x), tail = x - head;
  *low = ((head * head - high) + 2 * head * tail) + tail * tail;
#endif
  return high;
}

/* The root of the sum of squares; the sum is computed in double working precision and rounded once, so the error is at
 * most 0.86 ULP, 0.93 ULP for subnormal results. Parts are scaled by a power of two if a square would overflow or
 * underflow. An infinite part makes the result infinite, whatever the other part is. */
ALWAYS_INLINE F NAME(at_abs)(T z) {
  const F re = RFN(fabs)(z.re), im = RFN(fabs)(z.im), large = re > im ? re : im, small = re > im ? im : re;
  const bool vast = large > T_VAST, tiny = large < T_TINY;
  const F by = vast ? T_SHRINK : tiny ? 1 / T_SHRINK : 1, back = vast ? 1 / T_SHRINK : tiny ? T_SHRINK : 1;
  F low, small_low;
  const F high = NAME(square)(large * by, &low), more = NAME(square)(small * by, &small_low), sum = high + more;
  const F size = RFN(sqrt)(sum + ((more - (sum - high)) + (low + small_low))) * back;
  return ((re == (F)INFINITY) | (im == (F)INFINITY)) ? (F)INFINITY : size;
}

#ifdef ELEM_PLAIN
ALWAYS_INLINE F NAME(at_angle)(T a) { return RFN(plain_atan2)(a.im, a.re); }
#else
ALWAYS_INLINE F NAME(at_angle)(T a) { return RFN(atan2)(a.im, a.re); }
#endif
ALWAYS_INLINE uint8_t NAME(at_eq)(T a, T b) { return (a.re == b.re) & (a.im == b.im); }
ALWAYS_INLINE uint8_t NAME(at_neq)(T a, T b) { return (a.re != b.re) | (a.im != b.im); }
ALWAYS_INLINE uint8_t NAME(at_isnan)(T a) { return (a.re != a.re) | (a.im != a.im); }
ALWAYS_INLINE uint8_t NAME(at_isfinite)(T a) { return (RFN(fabs)(a.re) < INFINITY) & (RFN(fabs)(a.im) < INFINITY); }
ALWAYS_INLINE uint8_t NAME(at_isinf)(T a) { return (RFN(fabs)(a.re) == INFINITY) | (RFN(fabs)(a.im) == INFINITY); }
/* Lexicographic order, as NumPy's: by real parts, then imaginary parts; false if one is nan. */
ALWAYS_INLINE uint8_t NAME(at_lt)(T a, T b) {
  return ((a.re < b.re) & (a.im == a.im) & (b.im == b.im)) | ((a.re == b.re) & (a.im < b.im));
}
ALWAYS_INLINE uint8_t NAME(at_le)(T a, T b) {
  return ((a.re < b.re) & (a.im == a.im) & (b.im == b.im)) | ((a.re == b.re) & (a.im <= b.im));
}
ALWAYS_INLINE uint8_t NAME(at_gt)(T a, T b) { return NAME(at_lt)(b, a); }
ALWAYS_INLINE uint8_t NAME(at_ge)(T a, T b) { return NAME(at_le)(b, a); }
ALWAYS_INLINE T NAME(at_maximum)(T a, T b) { return NAME(at_ge)(a, b) | NAME(at_isnan)(a) ? a : b; }
ALWAYS_INLINE T NAME(at_minimum)(T a, T b) { return NAME(at_le)(a, b) | NAME(at_isnan)(a) ? a : b; }
ALWAYS_INLINE T NAME(at_clip)(T x, T lo, T hi) {
  if (NAME(at_isnan)(x)) return x;
  if (NAME(at_lt)(x, lo) | NAME(at_isnan)(lo)) return lo;
  return NAME(at_gt)(x, hi) | NAME(at_isnan)(hi) ? hi : x;
}
ALWAYS_INLINE T NAME(at_switch_)(uint8_t c, T a, T b) { return c ? a : b; }

/* A prepared divisor by Smith's method: the quotient is ((re u + im v) / d, (im u - re v) / d); of u and v one is 1,
 * the other the ratio of the divisor's parts. For a divisor of 0, the parts are divided by d = 0. No branches. */
typedef struct NAME(divisor) {
  F u, v, d;
  bool zero;
} NAME(divisor);

ALWAYS_INLINE NAME(divisor) NAME(ready)(T b) {
  const F re = RFN(fabs)(b.re), im = RFN(fabs)(b.im);
  const bool flat = re >= im;
  const F r = (flat ? b.im : b.re) / (flat ? b.re : b.im), u = flat ? 1 : r, v = flat ? r : 1;
  const bool zero = (re == 0) & (im == 0);
  return (NAME(divisor)){u, v, zero ? 0 : b.re * u + b.im * v, zero};
}

ALWAYS_INLINE T NAME(over)(T a, NAME(divisor) b) {
  const F re = a.re * b.u + a.im * b.v, im = NAME(less)(a.im * b.u, a.re * b.v);
  return (T){(b.zero ? a.re : re) / b.d, (b.zero ? a.im : im) / b.d};
}

ALWAYS_INLINE T NAME(at_true_div)(T a, T b) { return NAME(over)(a, NAME(ready)(b)); }

ALWAYS_INLINE T NAME(at_reciprocal)(T a) { return NAME(at_true_div)((T){1, 0}, a); }

/* z / |z|; 0 of 0. Halving first keeps |z| finite near the top of the range. */
static T NAME(at_sign)(T z) {
  if (z.re == 0 && z.im == 0) return (T){0, 0};
  const F re = z.re / 2, im = z.im / 2;
#ifdef ELEM_PLAIN
  const F size = NAME(at_abs)((T){re, im});
#else
  const F size = RFN(hypot)(re, im);
#endif
  if (size == 0) return NAME(at_sign)((T){z.re * (F)0x1p60, z.im * (F)0x1p60});
  return (T){re / size, im / size};
}

#ifndef ELEM_PLAIN
/* Small integer exponents by repeated squaring, exact if the result is representable; 0**0 is 1. */
static T NAME(at_pow)(T a, T b) {
  if (b.re == 0 && b.im == 0) return (T){1, 0};
  if (a.re == 0 && a.im == 0) return b.re > 0 && b.im == 0 ? (T){0, 0} : (T){(F)NAN, (F)NAN};
  if (b.im == 0 && b.re == RFN(trunc)(b.re) && RFN(fabs)(b.re) <= 100) {
    T result = {1, 0}, square = a;
    for (unsigned e = (unsigned)RFN(fabs)(b.re); e != 0; e >>= 1) {
      if (e & 1) result = NAME(at_mul)(result, square);
      square = NAME(at_mul)(square, square);
    }
    return b.re < 0 ? NAME(at_reciprocal)(result) : result;
  }
  return NAME(of)(FN(cpow)(NAME(to)(a), NAME(to)(b)));
}

ALWAYS_INLINE T NAME(at_expm1)(T z) {
  /* e^x cos y - 1 = expm1(x) cos y - 2 sin²(y/2): no cancellation near 0 */
  const F s = RFN(sin)(z.im / 2);
  return (T){RFN(expm1)(z.re) * RFN(cos)(z.im) - 2 * s * s, RFN(exp)(z.re) * RFN(sin)(z.im)};
}

/* log|1 + z| = log1p(x (2 + x) + y²) / 2 while |z| is small. */
static T NAME(at_log1p)(T z) {
  const F x = z.re, y = z.im, size = RFN(hypot)(x, y);
  if (!(size < (F)0.5)) return NAME(of)(FN(clog)(NAME(to)((T){1 + x, y})));
  return (T){RFN(log1p)(x * (2 + x) + y * y) / 2, RFN(atan2)(y, 1 + x)};
}

ALWAYS_INLINE T NAME(scale)(T z, F by) { return (T){z.re * by, z.im * by}; }
ALWAYS_INLINE T NAME(at_sqrt)(T z) { return NAME(of)(FN(csqrt)(NAME(to)(z))); }
ALWAYS_INLINE T NAME(at_exp)(T z) { return NAME(of)(FN(cexp)(NAME(to)(z))); }
ALWAYS_INLINE T NAME(at_exp2)(T z) { return NAME(at_exp)(NAME(scale)(z, (F)0.69314718055994530942)); }
ALWAYS_INLINE T NAME(at_log)(T z) { return NAME(of)(FN(clog)(NAME(to)(z))); }
ALWAYS_INLINE T NAME(at_log2)(T z) { return NAME(scale)(NAME(at_log)(z), (F)1.44269504088896340736); }
ALWAYS_INLINE T NAME(at_log10)(T z) { return NAME(scale)(NAME(at_log)(z), (F)0.43429448190325182765); }
ALWAYS_INLINE T NAME(at_sin)(T z) { return NAME(of)(FN(csin)(NAME(to)(z))); }
ALWAYS_INLINE T NAME(at_cos)(T z) { return NAME(of)(FN(ccos)(NAME(to)(z))); }
ALWAYS_INLINE T NAME(at_tan)(T z) { return NAME(of)(FN(ctan)(NAME(to)(z))); }
ALWAYS_INLINE T NAME(at_arcsin)(T z) { return NAME(of)(FN(casin)(NAME(to)(z))); }
ALWAYS_INLINE T NAME(at_arccos)(T z) { return NAME(of)(FN(cacos)(NAME(to)(z))); }
ALWAYS_INLINE T NAME(at_arctan)(T z) { return NAME(of)(FN(catan)(NAME(to)(z))); }
ALWAYS_INLINE T NAME(at_sinh)(T z) { return NAME(of)(FN(csinh)(NAME(to)(z))); }
ALWAYS_INLINE T NAME(at_cosh)(T z) { return NAME(of)(FN(ccosh)(NAME(to)(z))); }
ALWAYS_INLINE T NAME(at_tanh)(T z) { return NAME(of)(FN(ctanh)(NAME(to)(z))); }
ALWAYS_INLINE T NAME(at_arcsinh)(T z) { return NAME(of)(FN(casinh)(NAME(to)(z))); }
ALWAYS_INLINE T NAME(at_arccosh)(T z) { return NAME(of)(FN(cacosh)(NAME(to)(z))); }
ALWAYS_INLINE T NAME(at_arctanh)(T z) { return NAME(of)(FN(catanh)(NAME(to)(z))); }
#endif /* not ELEM_PLAIN */

LOOP2(add, T, T)
LOOP2(sub, T, T)
LOOP2(mul, T, T)

/* If all divisors are the same (a broadcast scalar), the divisor is prepared once. */
static void NAME(true_div)(void *const *args, int64_t n) {
  const T *a = args[0], *b = args[1];
  T *o = args[2];
  if (n > 0 && elemwise_all_same(b, sizeof(T), n)) {
    const NAME(divisor) one = NAME(ready)(b[0]);
    NO_ALIAS
    for (int64_t i = 0; i < n; i++) o[i] = NAME(over)(a[i], one);
    return;
  }
  NO_ALIAS
  for (int64_t i = 0; i < n; i++) o[i] = NAME(at_true_div)(a[i], b[i]);
}

#ifndef ELEM_PLAIN
LOOP2(pow, T, T)
#endif
LOOP2(eq, T, uint8_t)
LOOP2(neq, T, uint8_t)
LOOP2(lt, T, uint8_t)
LOOP2(le, T, uint8_t)
LOOP2(gt, T, uint8_t)
LOOP2(ge, T, uint8_t)
LOOP2(maximum, T, T)
LOOP2(minimum, T, T)
LOOP3(clip, T, T)
LOOP1(isnan, T, uint8_t)
LOOP1(isinf, T, uint8_t)
LOOP1(isfinite, T, uint8_t)
LOOP3(switch_, uint8_t, T)
LOOP1(sqr, T, T)
LOOP1(neg, T, T)
LOOP1(conj, T, T)
LOOP1(real, T, F)
LOOP1(imag, T, F)
LOOP1(abs, T, F)
LOOP1(angle, T, F)
LOOP1(reciprocal, T, T)
LOOP1(sign, T, T)
#ifndef ELEM_PLAIN
LOOP1(sqrt, T, T)
LOOP1(exp, T, T)
LOOP1(exp2, T, T)
LOOP1(expm1, T, T)
LOOP1(log, T, T)
LOOP1(log2, T, T)
LOOP1(log10, T, T)
LOOP1(log1p, T, T)
LOOP1(sin, T, T)
LOOP1(cos, T, T)
LOOP1(tan, T, T)
LOOP1(arcsin, T, T)
LOOP1(arccos, T, T)
LOOP1(arctan, T, T)
LOOP1(sinh, T, T)
LOOP1(cosh, T, T)
LOOP1(tanh, T, T)
LOOP1(arcsinh, T, T)
LOOP1(arccosh, T, T)
LOOP1(arctanh, T, T)
#endif

#undef T
#undef F
#undef BITS
#undef SPLITTER
#undef T_VAST
#undef T_TINY
#undef T_SHRINK
#undef C
#undef FN
#undef RFN
#undef SUFFIX

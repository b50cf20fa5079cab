/* draw_math: the logarithm, the exponential, the sine and the cosine of random draws.
 *
 * They use + - * /, comparisons and bit operations of float64 only: no fma and no function of C's library, whose last
 * bits differ between machines. So a draw has the same bits with every instruction set, as long as products and sums
 * are not contracted (-ffp-contract=off). There are no branches, so a loop over them vectorises.
 *
 * Method and coefficients are FDLIBM's (e_log.c, e_exp.c, k_sin.c, k_cos.c, s_atan.c), Copyright (C) 1993 by Sun Microsystems,
 * Inc., "Permission to use, copy, modify, and distribute this software is freely granted, provided that this notice is
 * preserved". Error bounds, as spec/c/draw_test.c checks them: log and exp below 1 ULP, sine and cosine of 2 pi v below
 * 2, log1p and expm1 below 4, the angle of a cosine below 5. */
#ifndef DAMO_KERNEL_DRAW_MATH_H
#define DAMO_KERNEL_DRAW_MATH_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#define DRAW_INLINE static inline __attribute__((always_inline, unused))

DRAW_INLINE uint64_t draw_bits(double x) {
  uint64_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}

DRAW_INLINE double draw_from_bits(uint64_t u) {
  double x;
  memcpy(&x, &u, sizeof x);
  return x;
}

/* An integer below 2^32, or below 2^53, as a double, exactly: vectors have no such conversion before AVX-512. */
DRAW_INLINE double draw_from_half(uint64_t n) { return draw_from_bits(n | 0x4330000000000000u) - 0x1p52; }
DRAW_INLINE double draw_from_low(uint64_t n) {
  const double high = draw_from_bits(n >> 32 | 0x4530000000000000u) - (0x1p84 + 0x1p52);
  return high + draw_from_bits((n & 0xffffffff) | 0x4330000000000000u);
}

/* log x: with x = 2^k m, m in [sqrt 1/2, sqrt 2), f = m - 1 and s = f / (2 + f), log m = f - f²/2 + s (f²/2 + R(s²)),
 * where R is the minimax polynomial of (log(1 + s) - log(1 - s) - 2 s) / s. -inf at 0, nan below. */
DRAW_INLINE double draw_log_at(double x) {
  const uint64_t border = 0x3fe6a09e00000000u, one = 0x3ff0000000000000u; /* high bits of sqrt 1/2 and of 1 */
  const double tiny = x < 0x1p-1022 ? 0x1p54 : 1, less = x < 0x1p-1022 ? 54 : 0;
  const uint64_t u = draw_bits(x * tiny) + (one - border);
  const double k = draw_from_bits(u >> 52 | 0x4330000000000000u) - (0x1p52 + 1023) - less;
  const double f = draw_from_bits((u & 0x000fffffffffffffu) + border) - 1, s = f / (2 + f), z = s * s, w = z * z;
  const double even = w * (3.999999999940941908e-01 + w * (2.222219843214978396e-01 + w * 1.531383769920937332e-01));
  const double odd =
      z * (6.666666666666735130e-01 +
           w * (2.857142874366239149e-01 + w * (1.818357216161805012e-01 + w * 1.479819860511658591e-01)));
  const double half = 0.5 * f * f;
  const double ln2_hi = 6.93147180369123816490e-01, ln2_lo = 1.90821492927058770002e-10; /* k * ln2_hi is exact */
  const double y = k * ln2_hi - ((half - (s * (half + (even + odd)) + k * ln2_lo)) - f);
  const double edge = x == 0 ? -(double)INFINITY : x > 0 ? x : (double)NAN;
  return x > 0 && x < (double)INFINITY ? y : edge;
}

/* exp x = 2^k exp r, with r = hi - lo, |r| <= ln 2 / 2: exp r = 1 + r + r c / (2 - c), c = r - r² P(r²). */
DRAW_INLINE double draw_exp_at(double x) {
  const double rounder = 0x1.8p52; /* adding 1.5·2^52, whose ulp is 1, rounds to an integer */
  const double t = x < -800 ? -800 : x > 800 ? 800 : x;
  const double shifted = t * 1.44269504088896338700e+00 + rounder, k = shifted - rounder;
  const double hi = t - k * 6.93147180369123816490e-01, lo = k * 1.90821492927058770002e-10, r = hi - lo, z = r * r;
  const double c =
      r -
      z * (1.66666666666666019037e-01 +
           z * (-2.77777777770155933842e-03 +
                z * (6.61375632143793436117e-05 + z * (-1.65339022054652515390e-06 + z * 4.13813679705723846039e-08))));
  const double y = 1 - ((lo - (r * c) / (2 - c)) - hi);
  const double half = (k * 0.5 + rounder) - rounder, rest = k - half; /* 2^k in two factors, for subnormal results */
  const double scale = draw_from_bits(draw_bits(half + (0x1p52 + 1023)) << 52);
  const double again = draw_from_bits(draw_bits(rest + (0x1p52 + 1023)) << 52);
  return x == x ? y * scale * again : x;
}

/* The sine and the cosine of 2 pi v for v in [0, 1]. v minus the nearest multiple of 1/4 is exact, and at most 1/8 in
 * modulus. */
DRAW_INLINE void draw_sincos_2pi_at(double v, double *sine, double *cosine) {
  const double rounder = 0x1.8p52, shifted = 4 * v + rounder;
  const double x = (v - 0.25 * (shifted - rounder)) * 6.28318530717958647693, z = x * x, w = z * z;
  const uint64_t quarter = draw_bits(shifted);
  const double s =
      x + x * z *
              (-1.66666666666666324348e-01 +
               z * (8.33333333332248946124e-03 + z * (-1.98412698298579493134e-04 + z * 2.75573137070700676789e-06) +
                    z * w * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)));
  const double r =
      z * (4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * 2.48015872894767294178e-05)) +
      w * w * (-2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11));
  const double half = 0.5 * z, left = 1 - half, c = left + (((1 - left) - half) + z * r);
  const uint64_t swap = 0 - (quarter & 1), both = (draw_bits(s) ^ draw_bits(c)) & swap;
  *sine = draw_from_bits((draw_bits(s) ^ both) ^ (quarter & 2) << 62);
  *cosine = draw_from_bits((draw_bits(c) ^ both) ^ ((quarter + 1) & 2) << 62);
}

/* The arc tangent of x in [0, 7/16]. */
DRAW_INLINE double draw_atan_at(double x) {
  const double z = x * x, w = z * z;
  const double odd = z * (3.33333333333329318027e-01 +
                          w * (1.42857142725034663711e-01 +
                               w * (9.09088713343650656196e-02 +
                                    w * (6.66107313738753120669e-02 +
                                         w * (4.97687799461593236017e-02 + w * 1.62858201153657823623e-02)))));
  const double even =
      w *
      (-1.99999999998764832476e-01 +
       w * (-1.11111104054623557880e-01 +
            w * (-7.69187620504482999495e-02 + w * (-5.83357013379057348645e-02 + w * -3.65315727442169155270e-02))));
  return x - x * (odd + even);
}

/* log(1 + x) for x > -1 as log(u) x / (u - 1) with u the rounded 1 + x: the factor compensates the rounding (D.
 * Goldberg, "What every computer scientist should know about floating-point arithmetic", 1991, theorem 4). */
DRAW_INLINE double draw_log1p_at(double x) {
  const double u = 1 + x, d = u - 1;
  return d == 0 ? x : draw_log_at(u) * (x / d);
}

/* exp(x) - 1 for x <= 0, in the same way (W. Kahan). */
DRAW_INLINE double draw_expm1_at(double x) {
  const double u = draw_exp_at(x), d = u - 1;
  if (d == 0) return x;
  return u > 0x1p-60 ? d * (x / draw_log_at(u)) : -1;
}

#endif

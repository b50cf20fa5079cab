/* plain: elementary functions whose results have the same bits on every machine.
 *
 * Each function is a straight line of + - * /, sqrt, comparisons and bit operations of float64: no fma and no function of
 * C's library but fabs, copysign and sqrt, which are exact or correctly rounded. So the bits depend neither on the
 * instruction set nor on the optimisation level, as long as the compiler contracts no product with a sum
 * (-ffp-contract=off), evaluates float64 as float64 (FLT_EVAL_METHOD 0) and rounds to nearest, with subnormal numbers.
 * Except plain_trig_far there are no branches, so loops over these functions vectorise. C99; nothing but this file is
 * needed. The float32 functions round the float64 result.
 *
 * Errors are below 1.5 ULP, as spec/c/plain_test.c checks with values of mpmath. Polynomials are minimax, by Remez's
 * exchange; plain_tables.py computes the constants.
 */
#ifndef DAMO_KERNEL_PLAIN_H
#define DAMO_KERNEL_PLAIN_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifndef PLAIN_FN
#if defined(__GNUC__)
#define PLAIN_FN static inline __attribute__((unused))
#else
#define PLAIN_FN static inline
#endif
#endif

#define PLAIN_ROUNDER \
  0x1.8p52 /* x + this has the ulp 1, so adding and subtracting it rounds |x| < 2^51 to an integer */

/* ---- Bits, and sums and products of two numbers ------------------------------------------------------------------ */

PLAIN_FN uint64_t plain_bits(double x) {
  uint64_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}

PLAIN_FN double plain_from_bits(uint64_t u) {
  double x;
  memcpy(&x, &u, sizeof x);
  return x;
}

/* An unevaluated sum; lo is small beside hi. */
typedef struct plain_pair {
  double hi, lo;
} plain_pair;

PLAIN_FN plain_pair plain_two(double hi, double lo) {
  plain_pair p;
  p.hi = hi;
  p.lo = lo;
  return p;
}

/* a + b exactly, where |a| >= |b| or a is 0 (Dekker 1971). */
PLAIN_FN plain_pair plain_sum_ordered(double a, double b) {
  const double s = a + b;
  return plain_two(s, (a - s) + b);
}

/* a + b exactly (Knuth). */
PLAIN_FN plain_pair plain_sum(double a, double b) {
  const double s = a + b, part = s - a;
  return plain_two(s, (a - (s - part)) + (b - part));
}

/* The upper 26 bits of x. */
PLAIN_FN double plain_upper(double x) { return plain_from_bits(plain_bits(x) & 0xfffffffff8000000u); }

/* a * b with an error below 2^-106 a b, after Dekker, by halves of the factors. */
PLAIN_FN plain_pair plain_product(double a, double b) {
  const double a1 = plain_upper(a), a2 = a - a1, b1 = plain_upper(b), b2 = b - b1, p = a * b;
  return plain_two(p, ((a1 * b1 - p) + (a1 * b2 + a2 * b1)) + a2 * b2);
}

/* n / d. */
PLAIN_FN double plain_quotient(plain_pair n, plain_pair d) {
  const double q = n.hi / d.hi;
  return q + (n.lo - q * d.lo) / d.hi;
}

/* 2^n for an integer n in [-1022, 1023]. */
PLAIN_FN double plain_power2(double n) { return plain_from_bits(plain_bits(n + (0x1p52 + 1023)) << 52); }

/* x 2^n for an integer n in [-2044, 2046], in two factors, so that subnormal results are rounded once. */
PLAIN_FN double plain_scaled(double x, double n) {
  const double half = (n * 0.5 + PLAIN_ROUNDER) - PLAIN_ROUNDER;
  return x * plain_power2(half) * plain_power2(n - half);
}

/* ---- exp --------------------------------------------------------------------------------------------------------- */

#define PLAIN_LOG2_E 0x1.71547652b82fep+0
#define PLAIN_LN2_HI 0x1.62e42fef00000p-1 /* 33 bits: its products with 20 bits are exact */
#define PLAIN_LN2_LO 0x1.473de6af278edp-34
#define PLAIN_LN2 0x1.62e42fefa39efp-1
#define PLAIN_LN2_REST 0x1.abc9e3b39803fp-56

/* (exp(r) - 1 - r) / r² for |r| <= 0.3475: error of exp 4e-18. */
PLAIN_FN double plain_exp_rest(double r) {
  const double r2 = r * r, r4 = r2 * r2;
  const double p01 = 0x1.000000000000cp-1 + r * 0x1.5555555555561p-3;
  const double p23 = 0x1.555555554fe6cp-5 + r * 0x1.111111110d4e0p-7;
  const double p45 = 0x1.6c16c1860cfb4p-10 + r * 0x1.a01a01bb57bdep-13;
  const double p67 = 0x1.a019957875170p-16 + r * 0x1.71dddec532938p-19;
  const double p89 = 0x1.28b1559b93b99p-22 + r * 0x1.af87277bb2855p-26;
  return (p01 + r2 * p23) + r4 * ((p45 + r2 * p67) + r4 * p89);
}

/* exp(x + x_lo) = 2^n times the pair returned, which is in [0.7, 1.42]; |x| <= 1400. Cody and Waite's reduction: x =
 * n ln 2 + r. */
PLAIN_FN plain_pair plain_exp_parts(double x, double x_lo, double *n) {
  const double k = (x * PLAIN_LOG2_E + PLAIN_ROUNDER) - PLAIN_ROUNDER;
  const double near = x - k * PLAIN_LN2_HI, less = k * PLAIN_LN2_LO - x_lo, r = near - less;
  const double rest = ((near - r) - less) + r * r * plain_exp_rest(r);
  const plain_pair one = plain_sum_ordered(1, r);
  *n = k;
  return plain_sum_ordered(one.hi, one.lo + rest);
}

/* x within ±size; nan stays. */
PLAIN_FN double plain_clamp(double x, double size) {
  const double below = x < -size ? -size : x;
  return below > size ? size : below;
}

PLAIN_FN double plain_exp(double x) {
  double n;
  const plain_pair y = plain_exp_parts(plain_clamp(x, 800), 0, &n);
  return plain_scaled(y.hi, n);
}

/* 2^x = 2^n exp((x - n) ln 2). */
PLAIN_FN double plain_exp2(double x) {
  const double t = plain_clamp(x, 1200), n = (t + PLAIN_ROUNDER) - PLAIN_ROUNDER, f = t - n, r = f * PLAIN_LN2;
  return plain_scaled(1 + (r + r * r * plain_exp_rest(r)), n);
}

/* 2^n (1 + e) - 1 = 2^n (e + (1 - 2^-n)), e = exp(r) - 1 = r + rest; as a pair, |x| <= 800. For n < -54 only
 * -2^-n counts. */
PLAIN_FN plain_pair plain_expm1_parts(double x) {
  const double t = x < -40 ? -40 : x, k = (t * PLAIN_LOG2_E + PLAIN_ROUNDER) - PLAIN_ROUNDER;
  const double near = t - k * PLAIN_LN2_HI, less = k * PLAIN_LN2_LO, r = near - less;
  const double rest = ((near - r) - less) + r * r * plain_exp_rest(r);
  const double least = k > 1000 ? 1000 : k, offset = 1 - plain_power2(-least);
  const plain_pair sum = plain_sum(offset, r), whole = plain_sum_ordered(sum.hi, sum.lo + rest);
  return plain_two(plain_scaled(whole.hi, k), plain_scaled(whole.lo, k));
}

PLAIN_FN double plain_expm1(double x) {
  const double y = plain_expm1_parts(plain_clamp(x, 800)).hi;
  return x == 0 ? x : y;
}

/* 1 / (1 + exp(-x)): with e = exp(-|x|), 1 / (1 + e) or e / (1 + e). */
PLAIN_FN double plain_sigmoid(double x) {
  double n;
  const double size = fabs(x);
  const plain_pair y = plain_exp_parts(-plain_clamp(size, 800), 0, &n), one = plain_two(1, 0);
  const double least = n < -1000 ? -1000 : n, scale = plain_power2(least);
  const plain_pair d = plain_sum_ordered(1, y.hi * scale), all = plain_two(d.hi, d.lo + y.lo * scale);
  const double above = plain_quotient(one, all), below = plain_scaled(plain_quotient(y, all), n);
  return x < 0 ? below : above;
}

/* ---- Hyperbolic functions ---------------------------------------------------------------------------------------- */

/* sinh x = x + x³ P(x²) for |x| <= 1, else (exp |x| - exp -|x|) / 2 with x's sign; the halves never overflow before
 * sinh. */
PLAIN_FN double plain_sinh(double x) {
  double n;
  const double size = fabs(x), z = x * x, z2 = z * z, z4 = z2 * z2;
  const double p = (0x1.5555555555555p-3 + z * 0x1.1111111111111p-7) +
                   z2 * (0x1.a01a01a019fbdp-13 + z * 0x1.71de3a55743bep-19) +
                   z4 * ((0x1.ae645673cfb53p-26 + z * 0x1.61246b286fb4ap-33) +
                         z2 * (0x1.ae75515f97bf6p-41 + z * 0x1.9a80ba7fde597p-49));
  const double least = size > 1 ? size : 1; /* false for nan: p has it */
  const plain_pair e = plain_exp_parts(plain_clamp(least, 800), 0, &n);
  const double few = n > 60 ? 60 : n, back = plain_power2(-2 * few); /* exp(-2 |x|) of the pair: 2^-2n / pair² */
  const plain_pair less = plain_sum_ordered(e.hi, -(back / e.hi));
  const double far = plain_scaled(less.hi + (less.lo + e.lo), n - 1);
  return size > 1 ? copysign(far, x) : x + x * z * p;
}

PLAIN_FN double plain_cosh(double x) {
  double n;
  const plain_pair e = plain_exp_parts(plain_clamp(fabs(x), 800), 0, &n);
  const double few = n > 60 ? 60 : n, back = plain_power2(-2 * few);
  const plain_pair sum = plain_sum_ordered(e.hi, back / e.hi);
  return plain_scaled(sum.hi + (sum.lo + e.lo), n - 1);
}

/* tanh x = t / (t + 2), t = exp(2 x) - 1. */
PLAIN_FN double plain_tanh(double x) {
  const plain_pair t = plain_expm1_parts(2 * plain_clamp(fabs(x), 22)), d = plain_sum(2, t.hi);
  const double y = plain_quotient(t, plain_two(d.hi, d.lo + t.lo));
  return x == 0 ? x : copysign(y, x);
}

/* ---- log --------------------------------------------------------------------------------------------------------- */

/* log((1 + s) / (1 - s)) / s - 2 for s² = z <= 0.0295: error of the logarithm 3e-18 s. */
PLAIN_FN double plain_log_rest(double z) {
  const double w = z * z;
  const double even = w * (0x1.999999997fca4p-2 + w * (0x1.c71c51faffc1bp-3 + w * 0x1.39a165383cf40p-3));
  const double odd =
      0x1.5555555555593p-1 + w * (0x1.2492494201a31p-2 + w * (0x1.7466420ad8fa4p-3 + w * 0x1.2f08eda7966cbp-3));
  return z * odd + even;
}

/* n ln 2 + log(1 + f) + rest, |f| < 0.42: with s = f / (2 + f), log(1 + f) = f - (f²/2 - s (f²/2 + R(s²))), as in FDLIBM
 * (Sun Microsystems 1993). */
PLAIN_FN double plain_log_sum(double n, double f, double rest) {
  const double s = f / (2 + f), half = 0.5 * f * f, r = plain_log_rest(s * s);
  return n * PLAIN_LN2_HI - ((half - (s * (half + r) + (n * PLAIN_LN2_LO + rest))) - f);
}

/* x > 0 as 2^n m with m in [sqrt 1/2, sqrt 2). */
PLAIN_FN double plain_log_split(double x, double *n) {
  const uint64_t border = 0x3fe6a09e00000000u, one = 0x3ff0000000000000u; /* high bits of sqrt 1/2 and of 1 */
  const double up = x < 0x1p-1022 ? 0x1p54 : 1, less = x < 0x1p-1022 ? 54 : 0;
  const uint64_t u = plain_bits(x * up) + (one - border);
  *n = plain_from_bits(u >> 52 | 0x4330000000000000u) - (0x1p52 + 1023) - less;
  return plain_from_bits((u & 0x000fffffffffffffu) + border);
}

/* What a logarithm of x is where x is not positive and finite, else y. */
PLAIN_FN double plain_log_edges(double x, double y) {
  const double edge = x == 0 ? -(double)INFINITY : x > 0 ? x : (double)NAN;
  return ((x > 0) & (x < (double)INFINITY)) ? y : edge;
}

PLAIN_FN double plain_log(double x) {
  double n;
  const double m = plain_log_split(x, &n);
  return plain_log_edges(x, plain_log_sum(n, m - 1, 0));
}

/* 1 + x = u + u_lo exactly, u = 2^n m: log1p x = n ln 2 + log m + u_lo / u. Where n is 0, m - 1 + u_lo is x. */
PLAIN_FN double plain_log1p(double x) {
  double n;
  const plain_pair u = plain_sum(1, x);
  const double m = plain_log_split(u.hi, &n), few = n > 1000 ? 1000 : n, f = n == 0 ? x : m - 1;
  const double rest = n == 0 ? 0 : u.lo * plain_power2(-(few < -1000 ? -1000 : few)) / m;
  const double y = plain_log_edges(u.hi, plain_log_sum(n, f, rest));
  return x == 0 ? x : y;
}

/* ---- Trigonometric functions ------------------------------------------------------------------------------------- */

#define PLAIN_PIO2 0x1.921fb54442d18p+0
#define PLAIN_PIO2_REST 0x1.1a62633145c07p-54
#define PLAIN_TRIG_NEAR 0x1p20 /* arguments up to here are reduced by Cody and Waite's method */

/* An argument reduced by the nearest multiple of pi / 2: what is left, and the multiple modulo 4. */
typedef struct plain_angle {
  plain_pair r;
  uint64_t quarter;
} plain_angle;

/* |x| <= 2^20. pi / 2 in four parts of which three have 33 bits: n has 20, so that their products are exact, and all
 * sums are exact or keep their error. */
PLAIN_FN plain_angle plain_trig_near(double x) {
  plain_angle a;
  const double shifted = x * 0x1.45f306dc9c883p-1 + PLAIN_ROUNDER, n = shifted - PLAIN_ROUNDER;
  const plain_pair second = plain_sum(x - n * 0x1.921fb54400000p+0, -(n * 0x1.0b4611a600000p-34));
  const plain_pair third = plain_sum(second.hi, -(n * 0x1.3198a2e000000p-69));
  a.r = plain_sum_ordered(third.hi, (second.lo + third.lo) - n * 0x1.b839a252049c1p-104);
  a.quarter = plain_bits(shifted);
  return a;
}

/* The product of a and b: its upper word, and its lower one. */
PLAIN_FN uint64_t plain_multiply(uint64_t a, uint64_t b, uint64_t *lower) {
  const uint64_t a1 = a >> 32, a0 = a & 0xffffffffu, b1 = b >> 32, b0 = b & 0xffffffffu;
  const uint64_t low = a0 * b0, mid = a1 * b0 + (low >> 32), other = a0 * b1 + (mid & 0xffffffffu);
  *lower = other << 32 | (low & 0xffffffffu);
  return a1 * b1 + (mid >> 32) + (other >> 32);
}

/* |x| > 2^20 and finite, by the method of Payne and Hanek (1983): of the product of x's significand and 2 / pi the bits
 * that are multiples of 4 are left out, and 190 bits of the fraction kept. */
PLAIN_FN plain_angle plain_trig_far(double x) {
  static const uint64_t two_over_pi[20] = {
      0xa2f9836e4e441529u, 0xfc2757d1f534ddc0u, 0xdb6295993c439041u, 0xfe5163abdebbc561u, 0xb7246e3a424dd2e0u,
      0x06492eea09d1921cu, 0xfe1deb1cb129a73eu, 0xe88235f52ebb4484u, 0xe99c7026b45f7e41u, 0x3991d639835339f4u,
      0x9c845f8bbdf9283bu, 0x1ff897ffde05980fu, 0xef2f118b5a0a6d1fu, 0x6d367ecf27cb09b7u, 0x4f463f669e5fea2du,
      0x7527bac7ebe5f17bu, 0x3d0739f78a5292eau, 0x6bfb5fb11f8d5d08u, 0x56033046fc7b6babu, 0xf0cfbc209af4361du};
  const uint64_t u = plain_bits(x), m = (u & 0x000fffffffffffffu) | 0x0010000000000000u;
  const int first =
      (int)(u >> 52 & 0x7ff) - 1075 - 2 + 64; /* |x| = m 2^e: bits after e - 2, in 64 zeros and the table */
  const int word = first / 64, shift = first % 64;
  uint64_t f[3], low, carry, top, middle, bottom;
  plain_angle a;
  for (int i = 0; i < 3; i++) {
    const uint64_t left = word + i < 1 ? 0 : two_over_pi[word + i - 1], right = two_over_pi[word + i];
    f[i] = shift == 0 ? left : left << shift | right >> (64 - shift);
  }
  /* the lower 192 bits of m f, of which the upper two are the quarter */
  carry = plain_multiply(m, f[2], &bottom);
  top = plain_multiply(m, f[1], &low) + m * f[0];
  middle = low + carry;
  top += middle < low;
  a.quarter = top >> 62;
  top = top << 2 | middle >> 62;
  middle = middle << 2 | bottom >> 62;
  const uint64_t flip = 0 - (top >> 63); /* a fraction above 1/2 is one below 0 of the next quarter */
  a.quarter += flip & 1;
  top ^= flip;
  middle ^= flip;
  const plain_pair part =
      plain_sum_ordered((double)(top >> 11) * 0x1p-53, (double)((top & 0x7ff) << 42 | middle >> 22) * 0x1p-106);
  const plain_pair turn = plain_sum_ordered(part.hi, part.lo + (double)(middle & 0x3fffff) * 0x1p-128);
  const plain_pair r = plain_product(turn.hi, PLAIN_PIO2);
  const double rest = r.lo + (turn.hi * PLAIN_PIO2_REST + turn.lo * PLAIN_PIO2);
  const double sign = ((u >> 63) != 0) != (flip != 0) ? -1 : 1;
  a.r = plain_sum_ordered(sign * r.hi, sign * rest);
  if (u >> 63) a.quarter = 0 - a.quarter;
  return a;
}

/* nan of infinities and nan: x - x. */
PLAIN_FN plain_angle plain_trig_any(double x) {
  plain_angle a;
  if (fabs(x) <= PLAIN_TRIG_NEAR) return plain_trig_near(x);
  if (fabs(x) < (double)INFINITY) return plain_trig_far(x);
  a.r = plain_two(x - x, 0);
  a.quarter = 0;
  return a;
}

/* The sine and the cosine of |r| <= pi / 4 as pairs: errors of the polynomials 4e-18 and 5e-20. */
PLAIN_FN plain_pair plain_sin_pair(plain_pair r) {
  const double t = r.hi * r.hi, t2 = t * t;
  const double s = (-0x1.5555555555549p-3 + t * 0x1.111111110f86fp-7) +
                   t2 * ((-0x1.a01a019c1015bp-13 + t * 0x1.71de357656a78p-19) +
                         t2 * (-0x1.ae5e651be6415p-26 + t * 0x1.5d92aaeb6674fp-33));
  return plain_sum_ordered(r.hi, r.hi * (t * s) + (r.lo - r.lo * (0.5 * t)));
}

PLAIN_FN plain_pair plain_cos_pair(plain_pair r) {
  const double t = r.hi * r.hi, t2 = t * t;
  const double c = (0x1.555555555554cp-5 + t * -0x1.6c16c16c15171p-10) +
                   t2 * ((0x1.a01a019cb0780p-16 + t * -0x1.27e4f808faae4p-22) +
                         t2 * (0x1.1ee9eb3b23c27p-29 + t * -0x1.8fae3efcc8a0dp-37));
  const plain_pair top = plain_sum_ordered(1, -(0.5 * t));
  return plain_sum_ordered(top.hi, t2 * c + (top.lo - r.hi * r.lo));
}

/* sin(angle + quarters pi / 2) */
PLAIN_FN double plain_sin_of(plain_angle a, uint64_t quarters) {
  const uint64_t q = a.quarter + quarters;
  const double size = (q & 1) ? plain_cos_pair(a.r).hi : plain_sin_pair(a.r).hi;
  return plain_from_bits(plain_bits(size) ^ (q & 2) << 62);
}

PLAIN_FN double plain_tan_of(plain_angle a) {
  const plain_pair s = plain_sin_pair(a.r), c = plain_cos_pair(a.r);
  const int odd = (a.quarter & 1) != 0;
  const double y =
      plain_quotient(plain_two(odd ? c.hi : s.hi, odd ? c.lo : s.lo), plain_two(odd ? s.hi : c.hi, odd ? s.lo : c.lo));
  return odd ? -y : y;
}

/* For loops over arguments up to PLAIN_TRIG_NEAR in modulus, without a branch. */
PLAIN_FN double plain_sin_near(double x) { return x == 0 ? x : plain_sin_of(plain_trig_near(x), 0); }
PLAIN_FN double plain_cos_near(double x) { return plain_sin_of(plain_trig_near(x), 1); }
PLAIN_FN double plain_tan_near(double x) { return x == 0 ? x : plain_tan_of(plain_trig_near(x)); }

PLAIN_FN double plain_sin(double x) { return x == 0 ? x : plain_sin_of(plain_trig_any(x), 0); }
PLAIN_FN double plain_cos(double x) { return plain_sin_of(plain_trig_any(x), 1); }
PLAIN_FN double plain_tan(double x) { return x == 0 ? x : plain_tan_of(plain_trig_any(x)); }

/* ---- Inverse trigonometric functions ----------------------------------------------------------------------------- */

/* (asin(s) / s - 1) for s² = z <= 1/4: error 1e-18. */
PLAIN_FN double plain_asin_rest(double z) {
  const double z2 = z * z, z4 = z2 * z2;
  const double p03 =
      (0x1.5555555555579p-3 + z * 0x1.333333332dd1dp-4) + z2 * (0x1.6db6db7243fa4p-5 + z * 0x1.f1c71a820196ep-6);
  const double p47 =
      (0x1.6e8be0ffbad87p-6 + z * 0x1.1c49c994d8685p-6) + z2 * (0x1.ca233de168887p-7 + z * 0x1.7566e8433ce1dp-7);
  const double p811 =
      (0x1.61eaa137003a1p-7 + z * 0x1.db8c244ffb873p-9) + z2 * (0x1.66d190aa0864ep-6 + z * -0x1.5c961429793e5p-6);
  return z * (p03 + z4 * (p47 + z4 * (p811 + z4 * 0x1.0cbb24d7df8a7p-5)));
}

/* With z = (1 - |x|) / 2, asin |x| = pi / 2 - 2 asin(sqrt z), acos |x| = 2 asin(sqrt z), where sqrt z = s + rest. */
PLAIN_FN plain_pair plain_half_angle(double z) {
  const double s = sqrt(z), upper = plain_from_bits(plain_bits(s) & 0xffffffff00000000u);
  return plain_two(upper, (z - upper * upper) / (s + upper + 0x1p-1000)); /* 0 of 0 */
}

PLAIN_FN double plain_asin(double x) {
  const double size = fabs(x), z = 0.5 * (1 - size);
  const double small = x + x * plain_asin_rest(size < 0.5 ? x * x : 0);
  const plain_pair s = plain_half_angle(size < 0.5 ? 0.25 : z);
  const double rest = plain_asin_rest(z < 0.25 ? z : 0.25) * (s.hi + s.lo);
  const double far = PLAIN_PIO2 * 0.5 - ((2 * (rest + s.lo) - PLAIN_PIO2_REST) - (PLAIN_PIO2 * 0.5 - 2 * s.hi));
  return size < 0.5 ? small : copysign(far, x);
}

PLAIN_FN double plain_acos(double x) {
  const double size = fabs(x), z = 0.5 * (1 - size);
  const double small = PLAIN_PIO2 - (x - (PLAIN_PIO2_REST - x * plain_asin_rest(size < 0.5 ? x * x : 0)));
  const plain_pair s = plain_half_angle(size < 0.5 ? 0.25 : z);
  const double rest = plain_asin_rest(z < 0.25 ? z : 0.25) * (s.hi + s.lo) + s.lo;
  const double far = x > 0 ? 2 * (s.hi + rest) : 2 * (PLAIN_PIO2 - (s.hi + (rest - PLAIN_PIO2_REST)));
  return size < 0.5 ? small : far;
}

/* atan(t) / t - 1 for t² = z <= 0.1915: error 5e-18. */
PLAIN_FN double plain_atan_rest(double z) {
  const double z2 = z * z, z4 = z2 * z2;
  const double p03 =
      (-0x1.555555555550cp-2 + z * 0x1.999999998ea88p-3) + z2 * (-0x1.24924920019d8p-3 + z * 0x1.c71c6fdfeb835p-4);
  const double p47 =
      (-0x1.745cdc1aa5fbcp-4 + z * 0x1.3b0f275977473p-4) + z2 * (-0x1.10d6451275689p-4 + z * 0x1.dde0efe0cd115p-5);
  const double p810 = (-0x1.97acfb458c4f4p-5 + z * 0x1.2b328a95834f8p-5) + z2 * -0x1.0ab0943a8be41p-6;
  return z * (p03 + z4 * (p47 + z4 * p810));
}

/* atan(u / v) for 0 <= u <= v, v > 0, as a pair: with c = 0, 1/2 or 1 near u / v, atan c + atan((u - c v) / (v + c u)). */
PLAIN_FN plain_pair plain_atan_ratio(double u, double v) {
  const int third = u >= 0.6875 * v, second = (u >= 0.4375 * v) & !third;
  const double c = third ? 1 : second ? 0.5 : 0, t = (u - c * v) / (v + c * u);
  const double hi = third ? PLAIN_PIO2 * 0.5 : second ? 0x1.dac670561bb4fp-2 : 0;
  const double lo = third ? PLAIN_PIO2_REST * 0.5 : second ? 0x1.a2b7f222f65e2p-56 : 0;
  const plain_pair sum = plain_sum_ordered(hi, t);
  return plain_two(sum.hi, sum.lo + (lo + t * plain_atan_rest(t * t)));
}

/* By octants: the smaller modulus over the larger one, then pi / 2 minus that, pi minus that. */
PLAIN_FN double plain_atan2(double y, double x) {
  const double b = fabs(y), a = fabs(x), smaller = b < a ? b : a, larger = b < a ? a : b;
  const double scale = larger > 0x1p1000 ? 0x1p-60 : larger < 0x1p-900 ? 0x1p100 : 1;
  const int same = smaller == larger; /* 1 over 1, also of infinities; 0 over 1 for zeros and one infinity */
  const int one = same | (larger == (double)INFINITY);
  const double u = one ? ((same & (larger > 0)) ? 1 : 0) : smaller * scale, v = one ? 1 : larger * scale;
  const plain_pair angle = plain_atan_ratio(u, v);
  const int steep = b > a, left = (int)(plain_bits(x) >> 63);
  const double turns = steep ? 1 : left ? 2 : 0, sign = steep != left ? -1 : 1;
  const plain_pair sum = plain_sum_ordered(turns * PLAIN_PIO2, sign * angle.hi);
  const double size = sum.hi + (sum.lo + (turns * PLAIN_PIO2_REST + sign * angle.lo));
  return ((x != x) | (y != y)) ? x + y : copysign(size, y);
}

PLAIN_FN double plain_atan(double x) {
  const double size = fabs(x), u = size < 1 ? size : 1, v = size > 1 ? (size < 0x1p200 ? size : 0x1p200) : 1;
  const plain_pair angle = plain_atan_ratio(u, v);
  const plain_pair sum = plain_sum_ordered(PLAIN_PIO2, -angle.hi);
  const double steep = sum.hi + (sum.lo + (PLAIN_PIO2_REST - angle.lo));
  return x == x ? copysign(size > 1 ? steep : angle.hi + angle.lo, x) : x;
}

/* ---- pow --------------------------------------------------------------------------------------------------------- */

/* log x for x in (0, inf) with an error below 2^-64 log x, after Tang (ACM TOMS 16, 1990): x = 2^n m with m in [47/64,
 * 47/32), in 16 intervals around c = 24/32, 25/32, ..., 31/32, 16/16, ..., 23/16; tables of 1/c with 9 bits, of minus its
 * logarithm as a multiple of 2^-42, and of what is left of it. r = m / c - 1 is exact as a pair, |r| <= 1/32. */
PLAIN_FN plain_pair plain_log_pair(double x) {
  static const double inverse[16] = {
      0x1.5500000000000p+0, 0x1.4800000000000p+0, 0x1.3b00000000000p+0, 0x1.2f00000000000p+0,
      0x1.2500000000000p+0, 0x1.1a00000000000p+0, 0x1.1100000000000p+0, 0x1.0800000000000p+0,
      0x1.0000000000000p+0, 0x1.e200000000000p-1, 0x1.c800000000000p-1, 0x1.b000000000000p-1,
      0x1.9a00000000000p-1, 0x1.8600000000000p-1, 0x1.7400000000000p-1, 0x1.6400000000000p-1};
  static const double log_hi[16] = {-0x1.2596010df7000p-2, -0x1.fb9186d5e4000p-3, -0x1.a8becfc882000p-3,
                                    -0x1.59338d9982000p-3, -0x1.1478584674000p-3, -0x1.8c345d6318000p-4,
                                    -0x1.0759835990000p-4, -0x1.f829b0e780000p-6, 0x0.0p+0,
                                    0x1.eea31c0068000p-5,  0x1.da72763844000p-4,  0x1.5bf406b544000p-3,
                                    0x1.c6ffbc6f00000p-3,  0x1.16b5ccbad0000p-2,  0x1.4718dc271c000p-2,
                                    0x1.741d876c68000p-2};
  static const double log_lo[16] = {-0x1.8e7bc224ea3e3p-44, 0x1.d572aab993c87p-47,  -0x1.e3185cf21b9cfp-44,
                                    -0x1.0ba68b7555d4ap-48, -0x1.563451027c750p-46, -0x1.b20f5acb42a66p-44,
                                    0x1.b8ecfe4b59987p-44,  -0x1.980267c7e09e4p-45, 0x0.0p+0,
                                    0x1.c3dd83606d891p-44,  0x1.a89401fa71733p-46,  -0x1.27023eb68981cp-46,
                                    0x1.ee138d3a69d43p-44,  -0x1.23299042d74bfp-44, 0x1.06c18fb4c14c5p-44,
                                    -0x1.13a7b5b11cfa7p-44};
  const uint64_t border = 0x3fe7800000000000u, one = 0x3ff0000000000000u; /* 47/64 and 1 */
  const double up = x < 0x1p-1022 ? 0x1p54 : 1, less = x < 0x1p-1022 ? 54 : 0;
  const uint64_t above = plain_bits(x * up) - border + one;
  const double n = plain_from_bits(above >> 52 | 0x4330000000000000u) - (0x1p52 + 1023) - less;
  const double m = plain_from_bits((above & 0x000fffffffffffffu) + border), m1 = plain_upper(m);
  const int j = (int)(above >> 48 & 15);
  const plain_pair r = plain_sum_ordered(m1 * inverse[j] - 1, (m - m1) * inverse[j]);
  const plain_pair square = plain_product(r.hi, r.hi);
  /* log(1 + r) = r - r²/2 + r³/3 + r^4 q */
  const double r2 = square.hi;
  const double q = (-0x1.ffffffffffd2cp-3 + r.hi * 0x1.999999999d653p-3) +
                   r2 * ((-0x1.55555559ccd7bp-3 + r.hi * 0x1.249248e98e269p-3) +
                         r2 * ((-0x1.ffffb39126d21p-4 + r.hi * 0x1.c71ea5f395b92p-4) +
                               r2 * (-0x1.9aa864a344711p-4 + r.hi * 0x1.715d1ff888284p-4)));
  const double tail = r2 * r.hi * 0x1.5555555555555p-2 + r2 * r2 * q;
  const plain_pair first = plain_sum(n * 0x1.62e42fefa3800p-1 + log_hi[j], r.hi),
                   second = plain_sum(first.hi, -0.5 * r2);
  const double left = (r.lo - r.hi * r.lo) - 0.5 * square.lo, base = n * 0x1.ef35793c76730p-45 + log_lo[j];
  return plain_sum_ordered(second.hi, ((first.lo + second.lo) + (base + left)) + tail);
}

/* C99's table of special cases (F.9.4.4). */
PLAIN_FN double plain_pow_edges(double x, double y, double value) {
  const double inf = (double)INFINITY, size = fabs(x), many = fabs(y);
  /* an integer whose half is none; all numbers from 2^53 on are even */
  const double whole = (many + 0x1p52) - 0x1p52, half = (0.5 * many + 0x1p52) - 0x1p52;
  const int integer = (many >= 0x1p52) | (whole == many),
            odd = (many < 0x1p53) & integer & (many >= 0x1p52 ? (int)(plain_bits(many) & 1) : 2 * half != many);
  const double growing = (size > 1) == (y > 0) ? inf : 0; /* of infinite y, and of x that is 0 or infinite */
  double r = ((x < 0) & !integer & (size < inf)) ? (double)NAN : value;
  r = ((size == 0) | (size == inf) | (many == inf)) ? growing : r;
  r = ((size == 1) & (many == inf)) ? 1 : r;
  r = (odd & (int)(plain_bits(x) >> 63)) ? -r : r;
  r = ((x != x) | (y != y)) ? x + y : r;
  return ((x == 1) | (y == 0)) ? 1 : r;
}

/* |x|^y = exp(y log |x|). */
PLAIN_FN double plain_pow(double x, double y) {
  double n;
  const double many = plain_clamp(y, 0x1p64), size = fabs(x); /* what is larger overflows or underflows as 2^64 does */
  const plain_pair l = plain_log_pair(((size > 0) & (size < (double)INFINITY)) ? size : 1);
  const plain_pair p = plain_product(many, l.hi);
  const double t = plain_clamp(p.hi, 1400), t_lo = t == p.hi ? p.lo + many * l.lo : 0;
  const plain_pair e = plain_exp_parts(t, t_lo, &n);
  return plain_pow_edges(x, y, plain_scaled(e.hi, n));
}

/* ---- erf --------------------------------------------------------------------------------------------------------- */

/* For |x| <= 1 x + x P(x²), error 2e-19; above, 1 - exp(-x²) Q(t) / (1 + 2x) with t = (x - 3) / (x + 3), after Shepherd and
 * Laframboise (Mathematics of Computation 36, 1981); Q's error, times exp(-x²), 3e-19. From 6 on it is 1. */
PLAIN_FN double plain_erf(double x) {
  double n;
  const double size = fabs(x), z = size > 1 ? 1 : x * x, z2 = z * z, z4 = z2 * z2;
  const double p03 =
      (0x1.06eba8214db69p-3 + z * -0x1.812746b0379e6p-2) + z2 * (0x1.ce2f21a042b32p-4 + z * -0x1.b82ce31284ea4p-6);
  const double p47 =
      (0x1.565bcd0dbc15bp-8 + z * -0x1.c02db3db01a9bp-11) + z2 * (0x1.f9a321dc282e4p-14 + z * -0x1.f4d1e38926c73p-17);
  const double p811 =
      (0x1.b9df276d6174cp-20 + z * -0x1.5f1ef28150ad1p-23) + z2 * (0x1.f7b6353f27ea8p-27 + z * -0x1.38a1479d4134fp-30);
  const double p = p03 + z4 * (p47 + z4 * (p811 + z4 * 0x1.0609253adc70ep-34));
  const double w = size > 6 ? 6 : size < 1 ? 1 : size, t = (w - 3) / (w + 3), t2 = t * t, t4 = t2 * t2;
  const double q03 =
      (0x1.40c522d7e49cep+0 + t * -0x1.15c084bb994a2p-3) + t2 * (-0x1.85a15c58d1da0p-5 + t * 0x1.0983669b64ecfp-3);
  const double q47 =
      (-0x1.e88b81a8648f7p-4 + t * 0x1.17ca1c3f6d0dep-4) + t2 * (-0x1.8575a9d815b28p-6 + t * 0x1.4b7898738786ep-9);
  const double q811 =
      (0x1.ef3bf8dae4231p-10 + t * -0x1.9569011306bcdp-11) + t2 * (-0x1.5fb7844f350bep-14 + t * 0x1.55d60f2e417a2p-13);
  const double q = q03 + t4 * (q47 + t4 * (q811 + t4 * 0x1.71738e9295b38p-15));
  const double e = plain_exp_parts(-w * w, 0, &n).hi;
  const double far = 1 - plain_scaled(e, n) * q / (1 + 2 * w);
  return size > 1 ? copysign(far, x) : x + x * p;
}

/* ---- float32 ----------------------------------------------------------------------------------------------------- */

#define PLAIN_FLOAT1(name) \
  PLAIN_FN float plain_##name##f(float x) { return (float)plain_##name((double)x); }
#define PLAIN_FLOAT2(name) \
  PLAIN_FN float plain_##name##f(float x, float y) { return (float)plain_##name((double)x, (double)y); }
PLAIN_FLOAT1(exp)
PLAIN_FLOAT1(exp2)
PLAIN_FLOAT1(expm1)
PLAIN_FLOAT1(sigmoid)
PLAIN_FLOAT1(sinh)
PLAIN_FLOAT1(cosh)
PLAIN_FLOAT1(tanh)
PLAIN_FLOAT1(log)
PLAIN_FLOAT1(log1p)
PLAIN_FLOAT1(sin)
PLAIN_FLOAT1(cos)
PLAIN_FLOAT1(tan)
PLAIN_FLOAT1(sin_near)
PLAIN_FLOAT1(cos_near)
PLAIN_FLOAT1(tan_near)
PLAIN_FLOAT1(asin)
PLAIN_FLOAT1(acos)
PLAIN_FLOAT1(atan)
PLAIN_FLOAT2(atan2)
PLAIN_FLOAT2(pow)
PLAIN_FLOAT1(erf)
#undef PLAIN_FLOAT1
#undef PLAIN_FLOAT2

#endif

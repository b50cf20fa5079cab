/* exp_avx512: exp of eight float64 at once, inlined into the kernels of AVX-512. Error below 0.65 ULP for normal
 * results, 0.85 ULP for subnormal ones.
 *
 * Table-driven, after P. T. P. Tang, "Table-Driven Implementation of the Exponential Function in IEEE Floating-Point
 * Arithmetic" (ACM TOMS 15, 1989):
 *
 *   n = round(x * 16 / ln 2), j = n mod 16, m = floor(n / 16)
 *   r = x - n * ln 2 / 16, so |r| <= ln 2 / 32, by Cody and Waite's two parts of ln 2 / 16
 *   exp(x) = 2^m * 2^(j/16) * exp(r)
 *
 * The 16 values of 2^(j/16) lie in two registers and are looked up by one permutation; a second permutation looks up
 * their rounding errors. exp(r) - 1 is r + r^2 q(r), with q the minimax polynomial of degree 3 (error below 1.2e-17).
 *
 * No branches and no masks: x is clamped to a range outside which the result is 0 or infinity, nan passes through, and
 * scalef rounds once into the subnormals. Multiply-adds are written as fma, so -ffp-contract changes nothing. */
#ifndef DAMO_KERNEL_ELEM_EXP_AVX512_H
#define DAMO_KERNEL_ELEM_EXP_AVX512_H

#include <immintrin.h>
#include <stdint.h>

/* 2^(j/16) rounded, and its relative rounding error: 2^(j/16) = exp_power[j] * (1 + exp_rest[j]). */
static const double exp_power[16] __attribute__((aligned(64))) = {
    0x1.0000000000000p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0,
    0x1.306fe0a31b715p+0, 0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0,
    0x1.6a09e667f3bcdp+0, 0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0,
    0x1.ae89f995ad3adp+0, 0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0};
static const double exp_rest[16] __attribute__((aligned(64))) = {
    0x0.0000000000000p+0,   0x1.79aa65d837b6dp-54,  -0x1.01b15eaa59348p-55, 0x1.68efde3a8a894p-54,
    0x1.34d754db0abb6p-55,  0x1.59f48a72a4c6dp-55,  0x1.690cebb7aafb0p-56,  0x1.063e1e21c5409p-54,
    -0x1.3b3efbf5e2228p-54, -0x1.b32dcb94da51dp-56, 0x1.db72fc1f0eab4p-55,  0x1.1affc2b91ce27p-56,
    0x1.c1a7792cb3387p-55,  0x1.36eae30af0cb3p-56,  0x1.4a385a63d07a7p-56,  -0x1.ff7128fd391f0p-55};

/* table[index mod 16], lane by lane. */
static inline __attribute__((always_inline)) __m512d exp_look_up(const double *table, __m512i index) {
  return _mm512_permutex2var_pd(_mm512_load_pd(table), index, _mm512_load_pd(table + 8));
}

/* exp(r) - 1 for |r| <= ln 2 / 32, plus rest, which is below 2^-53. */
static inline __attribute__((always_inline)) __m512d exp_less_one(__m512d r, __m512d rest) {
  const __m512d r2 = _mm512_mul_pd(r, r);
  const __m512d low = _mm512_fmadd_pd(r, _mm512_set1_pd(0x1.555555548f86ap-3), _mm512_set1_pd(0x1.0000000000005p-1));
  const __m512d mid = _mm512_fmadd_pd(r, _mm512_set1_pd(0x1.11123aafe94c6p-7), _mm512_set1_pd(0x1.555555545f013p-5));
  const __m512d high = _mm512_fmadd_pd(r2, _mm512_set1_pd(0x1.6c185db1072ebp-10), mid);
  return _mm512_fmadd_pd(r2, _mm512_fmadd_pd(r2, high, low), _mm512_add_pd(r, rest));
}

static inline __attribute__((always_inline)) __m512d exp_avx512_f64(__m512d x) {
  /* Adding 1.5·2^52, whose ulp is 1, rounds to an integer and leaves n in the lowest bits. */
  const __m512d rounder = _mm512_set1_pd(0x1.8p52);
  /* min and max return their second operand if one is nan. */
  x = _mm512_min_pd(_mm512_set1_pd(800), _mm512_max_pd(_mm512_set1_pd(-800), x));
  const __m512d shifted = _mm512_fmadd_pd(x, _mm512_set1_pd(0x1.71547652b82fep+4), rounder);
  const __m512i j = _mm512_castpd_si512(shifted);
  const __m512d n = _mm512_sub_pd(shifted, rounder);
  const __m512d near = _mm512_fnmadd_pd(n, _mm512_set1_pd(0x1.62e42fefa0000p-5), x); /* exact: n has 15 bits, this 37 */
  const __m512d r = _mm512_fnmadd_pd(n, _mm512_set1_pd(0x1.cf79abc9e3b3ap-44), near);
  const __m512d power = exp_look_up(exp_power, j);
  const __m512d y = _mm512_fmadd_pd(power, exp_less_one(r, exp_look_up(exp_rest, j)), power);
  return _mm512_scalef_pd(y, _mm512_mul_pd(n, _mm512_set1_pd(0.0625))); /* scalef takes the floor itself */
}

#endif

/* math_avx512: tanh, sigmoid, log1p, sin and cos of eight float64 at once, inlined into the kernels of AVX-512. Errors
 * below 0.9 ULP; the value for an element does not depend on the others of its vector.
 *
 * Sums of a large and a small part, value and value_lo, carry what rounding takes from value; where |a| >= |b| or a = 0,
 * the sum s = a + b loses b - (s - a) exactly (Dekker). Polynomials are minimax (Remez), with their errors relative to
 * the function given. No branches; nan passes through; multiply-adds are written as fma, so -ffp-contract changes
 * nothing. */
#ifndef DAMO_KERNEL_ELEM_MATH_AVX512_H
#define DAMO_KERNEL_ELEM_MATH_AVX512_H

#include "exp_avx512.h"

#define VECTOR_INLINE static inline __attribute__((always_inline))
#define ALL(x) _mm512_set1_pd(x)

/* The size of one number with the sign of another. */
VECTOR_INLINE __m512d math_with_sign(__m512d size, __m512d sign) {
  const __m512i top =
      _mm512_set1_epi64(INT64_MIN); /* 0xca: the second where a bit of the first is set, else the third */
  return _mm512_castsi512_pd(
      _mm512_ternarylogic_epi64(top, _mm512_castpd_si512(sign), _mm512_castpd_si512(size), 0xca));
}

/* (n + n_lo) / (d + d_lo). One Newton step makes 28 bits of rcp14's reciprocal; the rest of n - q d is taken by fma. */
VECTOR_INLINE __m512d math_quotient(__m512d n, __m512d n_lo, __m512d d, __m512d d_lo) {
  const __m512d y0 = _mm512_rcp14_pd(d), y = _mm512_fmadd_pd(y0, _mm512_fnmadd_pd(d, y0, ALL(1)), y0);
  const __m512d q = _mm512_mul_pd(n, y);
  const __m512d rest = _mm512_fnmadd_pd(q, d_lo, _mm512_add_pd(_mm512_fnmadd_pd(q, d, n), n_lo));
  return _mm512_fmadd_pd(rest, y, q);
}

/* ---- From exp ---------------------------------------------------------------------------------------------------- */

/* x = n ln 2 / 16 + r + r_lo, as in exp_avx512.h; j: n's lowest bits. */
typedef struct exp_parts {
  __m512d n, r, r_lo;
  __m512i j;
} exp_parts;

VECTOR_INLINE exp_parts exp_reduce(__m512d x) {
  const __m512d rounder = ALL(0x1.8p52), shifted = _mm512_fmadd_pd(x, ALL(0x1.71547652b82fep+4), rounder);
  const __m512d n = _mm512_sub_pd(shifted, rounder), low = ALL(0x1.cf79abc9e3b3ap-44);
  const __m512d near = _mm512_fnmadd_pd(n, ALL(0x1.62e42fefa0000p-5), x), r = _mm512_fnmadd_pd(n, low, near);
  const __m512d r_lo = _mm512_fnmadd_pd(n, low, _mm512_sub_pd(near, r));
  return (exp_parts){n, r, r_lo, _mm512_castpd_si512(shifted)};
}

/* exp(r) - 1 - r for |r| <= ln 2 / 32, with an error below 9e-19 |r|. */
VECTOR_INLINE __m512d exp_less_line(__m512d r) {
  const __m512d r2 = _mm512_mul_pd(r, r);
  const __m512d low = _mm512_fmadd_pd(r, ALL(0x1.5555555555559p-3), ALL(0x1.0000000000003p-1));
  const __m512d mid = _mm512_fmadd_pd(r, ALL(0x1.111111108f1c1p-7), ALL(0x1.55555554aca43p-5));
  const __m512d high = _mm512_fmadd_pd(r, ALL(0x1.a01b89721f235p-13), ALL(0x1.6c181fed62de3p-10));
  return _mm512_mul_pd(r2, _mm512_fmadd_pd(r2, _mm512_fmadd_pd(r2, high, mid), low));
}

/* tanh |x| = -E / (2 + E) with E = exp(-2 |x|) - 1 = (p - 1) + p (exp(r) - 1), p = 2^(n/16). Where n = 0 that is
 * exp(r) - 1 itself, so small results keep their digits. */
VECTOR_INLINE __m512d tanh_avx512_f64(__m512d x) {
  const exp_parts e = exp_reduce(_mm512_max_pd(ALL(-80), _mm512_mul_pd(ALL(-2), _mm512_abs_pd(x))));
  const __m512d p = _mm512_scalef_pd(exp_look_up(exp_power, e.j), _mm512_mul_pd(e.n, ALL(0.0625)));
  const __m512d p_rest = _mm512_add_pd(e.r_lo, exp_look_up(exp_rest, e.j));
  const __m512d beyond = _mm512_add_pd(p_rest, exp_less_line(e.r)); /* of r, in p (exp(r) - 1) */
  const __m512d less = _mm512_sub_pd(p, ALL(1)), less_lo = _mm512_sub_pd(p, _mm512_add_pd(less, ALL(1)));
  const __m512d sum = _mm512_fmadd_pd(p, e.r, less), lost = _mm512_fmadd_pd(p, e.r, _mm512_sub_pd(less, sum));
  const __m512d tail = _mm512_fmadd_pd(p, beyond, _mm512_add_pd(lost, less_lo));
  const __m512d n = _mm512_add_pd(sum, tail), n_lo = _mm512_sub_pd(tail, _mm512_sub_pd(n, sum));
  const __m512d d = _mm512_add_pd(ALL(2), n), d_lo = _mm512_add_pd(_mm512_sub_pd(n, _mm512_sub_pd(d, ALL(2))), n_lo);
  return math_with_sign(math_quotient(n, n_lo, d, d_lo), x);
}

/* With e = exp(-|x|): 1 / (1 + e) for x >= 0, e / (1 + e) for x < 0, where e is 2^k times a number near 1, by which the
 * quotient is scaled at last: one rounding into the subnormals. */
VECTOR_INLINE __m512d sigmoid_avx512_f64(__m512d x) {
  const exp_parts p = exp_reduce(_mm512_max_pd(ALL(-800), _mm512_or_pd(x, ALL(-0.0))));
  const __m512d power = exp_look_up(exp_power, p.j), k = _mm512_mul_pd(p.n, ALL(0.0625));
  const __m512d less_one = exp_less_one(p.r, exp_look_up(exp_rest, p.j));
  const __m512d e = _mm512_fmadd_pd(power, less_one, power);
  const __m512d small = _mm512_scalef_pd(e, k), d = _mm512_add_pd(ALL(1), small);
  const __m512d d_lo = _mm512_sub_pd(small, _mm512_sub_pd(d, ALL(1)));
  const __mmask8 below = _mm512_movepi64_mask(_mm512_castpd_si512(x));
  const __m512d n = _mm512_mask_mov_pd(ALL(1), below, e);
  const __m512d n_lo = _mm512_maskz_fmadd_pd(below, power, less_one, _mm512_sub_pd(power, e));
  const __m512d value = math_quotient(n, n_lo, d, d_lo);
  return _mm512_mask_scalef_pd(value, below, value, k);
}

/* ---- log1p ------------------------------------------------------------------------------------------------------- */

/* For 1 + x = 2^k m with m in [47/64, 47/32), in 16 intervals around c = 24/32, 25/32, …, 31/32, 16/16, …, 23/16: 1/c with
 * 9 bits, minus its logarithm as a multiple of 2^-42, so that it adds to k ln 2 exactly, and what is left of it. */
static const double log1p_inverse[16] __attribute__((aligned(64))) = {
    0x1.5500000000000p+0, 0x1.4800000000000p+0, 0x1.3b00000000000p+0, 0x1.2f00000000000p+0,
    0x1.2500000000000p+0, 0x1.1a00000000000p+0, 0x1.1100000000000p+0, 0x1.0800000000000p+0,
    0x1.0000000000000p+0, 0x1.e200000000000p-1, 0x1.c800000000000p-1, 0x1.b000000000000p-1,
    0x1.9a00000000000p-1, 0x1.8600000000000p-1, 0x1.7400000000000p-1, 0x1.6400000000000p-1};
static const double log1p_log[16]
    __attribute__((aligned(64))) = {-0x1.2596010df7000p-2, -0x1.fb9186d5e4000p-3, -0x1.a8becfc882000p-3,
                                    -0x1.59338d9982000p-3, -0x1.1478584674000p-3, -0x1.8c345d6318000p-4,
                                    -0x1.0759835990000p-4, -0x1.f829b0e780000p-6, 0x0.0p+0,
                                    0x1.eea31c0068000p-5,  0x1.da72763844000p-4,  0x1.5bf406b544000p-3,
                                    0x1.c6ffbc6f00000p-3,  0x1.16b5ccbad0000p-2,  0x1.4718dc271c000p-2,
                                    0x1.741d876c68000p-2};
static const double log1p_rest[16]
    __attribute__((aligned(64))) = {-0x1.8e7bc224ea3e3p-44, 0x1.d572aab993c87p-47,  -0x1.e3185cf21b9cfp-44,
                                    -0x1.0ba68b7555d4ap-48, -0x1.563451027c750p-46, -0x1.b20f5acb42a66p-44,
                                    0x1.b8ecfe4b59987p-44,  -0x1.980267c7e09e4p-45, 0x0.0p+0,
                                    0x1.c3dd83606d891p-44,  0x1.a89401fa71733p-46,  -0x1.27023eb68981cp-46,
                                    0x1.ee138d3a69d43p-44,  -0x1.23299042d74bfp-44, 0x1.06c18fb4c14c5p-44,
                                    -0x1.13a7b5b11cfa7p-44};

/* log(1 + x) = k ln 2 - log(1/c) + log(1 + r), r = m / c - 1, |r| <= 1/32: after P. T. P. Tang, "Table-Driven
 * Implementation of the Logarithm Function in IEEE Floating-Point Arithmetic" (ACM TOMS 16, 1990). y + y_lo is 1 + x
 * exactly (Knuth's sum). Around x = 0, r + r_lo is x itself. The polynomial's error is below 3e-19. */
VECTOR_INLINE __m512d log1p_avx512_f64(__m512d x) {
  const __m512d one = ALL(1), y = _mm512_add_pd(one, x), part = _mm512_sub_pd(y, one);
  const __m512d y_lo = _mm512_add_pd(_mm512_sub_pd(one, _mm512_sub_pd(y, part)), _mm512_sub_pd(x, part));
  const __m512i bits = _mm512_castpd_si512(y), above = _mm512_sub_epi64(bits, _mm512_set1_epi64(0x3fe7800000000000));
  const __m512i k = _mm512_srai_epi64(above, 52), j = _mm512_srli_epi64(above, 48);
  const __m512d n = _mm512_cvtepi64_pd(k), m = _mm512_castsi512_pd(_mm512_sub_epi64(bits, _mm512_slli_epi64(k, 52)));
  const __m512d inverse = exp_look_up(log1p_inverse, j), p = _mm512_mul_pd(m, inverse), r = _mm512_sub_pd(p, one);
  const __m512d m_lo = _mm512_scalef_pd(y_lo, _mm512_sub_pd(ALL(0), n));
  const __m512d r_lo = _mm512_fmadd_pd(m_lo, inverse, _mm512_fmsub_pd(m, inverse, p));
  const __m512d base = _mm512_fmadd_pd(n, ALL(0x1.62e42fefa3800p-1), exp_look_up(log1p_log, j));
  const __m512d base_lo = _mm512_fmadd_pd(n, ALL(0x1.ef35793c76730p-45), exp_look_up(log1p_rest, j));
  const __m512d r2 = _mm512_mul_pd(r, r);
  const __m512d q0 = _mm512_fmadd_pd(r, ALL(0x1.55555555554cfp-2), ALL(-0x1.0000000000000p-1));
  const __m512d q1 = _mm512_fmadd_pd(r, ALL(0x1.9999999bfdda9p-3), ALL(-0x1.ffffffffffc12p-3));
  const __m512d q2 = _mm512_fmadd_pd(r, ALL(0x1.24922e0930bf7p-3), ALL(-0x1.5555555a2dff4p-3));
  const __m512d q3 = _mm512_fmadd_pd(r, ALL(0x1.c80e8dc683724p-4), ALL(-0x1.ffffb2e4f7592p-4));
  const __m512d high = _mm512_fmadd_pd(r2, _mm512_fmadd_pd(r2, ALL(-0x1.9aa62b8ba928ap-4), q3), q2);
  const __m512d q = _mm512_fmadd_pd(_mm512_mul_pd(r2, r2), high, _mm512_fmadd_pd(r2, q1, q0));
  const __m512d sum = _mm512_add_pd(base, r), lost = _mm512_sub_pd(r, _mm512_sub_pd(sum, base));
  const __m512d tail = _mm512_add_pd(_mm512_add_pd(lost, base_lo), _mm512_fnmadd_pd(r_lo, r, r_lo));
  const __m512d value = _mm512_add_pd(sum, _mm512_fmadd_pd(r2, q, tail));
  /* of y, by class: nan to itself, 0 to -inf, negative numbers to nan, inf to itself */
  return math_with_sign(_mm512_fixupimm_pd(value, y, _mm512_set1_epi64(0x03530422), 0), x);
}

/* ---- sin, cos ---------------------------------------------------------------------------------------------------- */

/* sin(x + quarters pi / 2) for |x| <= 2^17: x = n pi / 2 + r + r_lo by Cody and Waite's three parts of pi / 2, of which
 * the first has 33 bits: its product is subtracted exactly. Then r may be as small as 2^-57, so the second product is
 * subtracted with both rounding errors kept (Knuth's sum). Polynomials for |r| <= pi / 4: errors 4e-18 and 5e-20. */
VECTOR_INLINE __m512d sin_quarters(__m512d x, int64_t quarters) {
  const __m512d rounder = ALL(0x1.8p52), shifted = _mm512_fmadd_pd(x, ALL(0x1.45f306dc9c883p-1), rounder);
  const __m512d n = _mm512_sub_pd(shifted, rounder), mid = ALL(0x1.0b4611a626331p-34);
  const __m512i j = _mm512_add_epi64(_mm512_castpd_si512(shifted), _mm512_set1_epi64(quarters));
  const __m512d near = _mm512_fnmadd_pd(n, ALL(0x1.921fb54400000p+0), x);
  const __m512d w = _mm512_mul_pd(n, mid), w_lo = _mm512_fmsub_pd(n, mid, w);
  const __m512d r = _mm512_sub_pd(near, w), part = _mm512_sub_pd(r, near);
  const __m512d lost = _mm512_sub_pd(_mm512_sub_pd(near, _mm512_sub_pd(r, part)), _mm512_add_pd(w, part));
  const __m512d r_lo = _mm512_fnmadd_pd(n, ALL(0x1.1701b839a2520p-88), _mm512_sub_pd(lost, w_lo));
  const __m512d t = _mm512_mul_pd(r, r), t2 = _mm512_mul_pd(t, t), half = _mm512_mul_pd(t, ALL(0.5));
  const __m512d s0 = _mm512_fmadd_pd(t, ALL(0x1.111111110f87ap-7), ALL(-0x1.5555555555549p-3));
  const __m512d s1 = _mm512_fmadd_pd(t, ALL(0x1.71de3577b8c74p-19), ALL(-0x1.a01a019c119cap-13));
  const __m512d s2 = _mm512_fmadd_pd(t, ALL(0x1.5d9301523a4bap-33), ALL(-0x1.ae5e663bf0fbfp-26));
  const __m512d s = _mm512_mul_pd(t, _mm512_fmadd_pd(t2, _mm512_fmadd_pd(t2, s2, s1), s0));
  const __m512d sine = _mm512_add_pd(r, _mm512_fmadd_pd(r, s, _mm512_fnmadd_pd(r_lo, half, r_lo)));
  const __m512d c0 = _mm512_fmadd_pd(t, ALL(-0x1.6c16c16c1517ep-10), ALL(0x1.555555555554cp-5));
  const __m512d c1 = _mm512_fmadd_pd(t, ALL(-0x1.27e4f809f01f7p-22), ALL(0x1.a01a019cb1be1p-16));
  const __m512d c2 = _mm512_fmadd_pd(t, ALL(-0x1.8fae9bea5625dp-37), ALL(0x1.1ee9ebe86e706p-29));
  const __m512d c = _mm512_fmadd_pd(t2, _mm512_fmadd_pd(t2, c2, c1), c0), top = _mm512_sub_pd(ALL(1), half);
  const __m512d top_lo = _mm512_sub_pd(_mm512_sub_pd(ALL(1), top), half);
  const __m512d cosine = _mm512_add_pd(top, _mm512_fmadd_pd(t2, c, _mm512_fnmadd_pd(r, r_lo, top_lo)));
  const __mmask8 odd = _mm512_test_epi64_mask(j, _mm512_set1_epi64(1));
  const __m512i sign = _mm512_slli_epi64(_mm512_and_si512(j, _mm512_set1_epi64(2)), 62);
  const __m512d size = _mm512_mask_mov_pd(sine, odd, cosine);
  return _mm512_castsi512_pd(_mm512_xor_si512(_mm512_castpd_si512(size), sign));
}

VECTOR_INLINE __m512d sin_avx512_f64(__m512d x) { /* zeros keep their sign */
  return _mm512_mask_mov_pd(sin_quarters(x, 0), _mm512_cmp_pd_mask(x, ALL(0), _CMP_EQ_OQ), x);
}

VECTOR_INLINE __m512d cos_avx512_f64(__m512d x) { return sin_quarters(x, 1); }

#undef VECTOR_INLINE
#undef ALL

#endif

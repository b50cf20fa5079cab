/* math_avx2: exp, tanh, sigmoid, log1p, sin and cos of four float64 at once, inlined into the kernels of AVX2. Errors
 * below 0.91 ULP; the value for an element does not depend on the others of its vector.
 *
 * The forms are those of math_avx512.h, without its tables, for which AVX2 has no fast look-up: exp is reduced to
 * |r| <= ln 2 / 2, and log1p goes through log(1 + f) = 2 atanh(f / (2 + f)). Polynomials are minimax (Remez), with their
 * errors given. No branches; nan passes through; multiply-adds are written as fma, so -ffp-contract changes nothing. */
#ifndef DAMO_KERNEL_ELEM_MATH_AVX2_H
#define DAMO_KERNEL_ELEM_MATH_AVX2_H

#include <immintrin.h>
#include <stdint.h>

#define VECTOR_INLINE static inline __attribute__((always_inline))
#define ALL(x) _mm256_set1_pd(x)
#define ADD(a, b) _mm256_add_pd(a, b)
#define SUB(a, b) _mm256_sub_pd(a, b)
#define MUL(a, b) _mm256_mul_pd(a, b)
#define FMA(a, b, c) _mm256_fmadd_pd(a, b, c)    /* a b + c */
#define FNMA(a, b, c) _mm256_fnmadd_pd(a, b, c)  /* c - a b */
#define WHERE(c, a, b) _mm256_blendv_pd(b, a, c) /* a where the sign bit of c is set, else b */
#define BITS_OF(x) _mm256_castpd_si256(x)
#define OF_BITS(x) _mm256_castsi256_pd(x)

/* Adding 1.5·2^52, whose ulp is 1, rounds to an integer n and leaves n in the lowest bits. */
#define ROUNDER 0x1.8p52

/* The size of one number with the sign of another. */
VECTOR_INLINE __m256d avx2_with_sign(__m256d size, __m256d sign) {
  const __m256d top = ALL(-0.0);
  return _mm256_or_pd(_mm256_andnot_pd(top, size), _mm256_and_pd(top, sign));
}

/* 2^n for -1023 < n < 1024, where shifted is n + ROUNDER. */
VECTOR_INLINE __m256d avx2_power_of_2(__m256d shifted) {
  const __m256i one = _mm256_set1_epi64x(0x3ff0000000000000);
  return OF_BITS(_mm256_add_epi64(_mm256_slli_epi64(BITS_OF(shifted), 52), one));
}

/* y 2^n for -2046 < n < 2046, rounded once: into the subnormals by the second product alone. */
VECTOR_INLINE __m256d avx2_scale(__m256d y, __m256d n) {
  const __m256d half = FMA(n, ALL(0.5), ALL(ROUNDER)), rest = ADD(SUB(n, SUB(half, ALL(ROUNDER))), ALL(ROUNDER));
  return MUL(MUL(y, avx2_power_of_2(half)), avx2_power_of_2(rest));
}

/* (n + n_lo) / (d + d_lo). The rest of n - q d is taken by fma. */
VECTOR_INLINE __m256d avx2_quotient(__m256d n, __m256d n_lo, __m256d d, __m256d d_lo) {
  const __m256d y = _mm256_div_pd(ALL(1), d), q = MUL(n, y);
  return FMA(FNMA(q, d_lo, ADD(FNMA(q, d, n), n_lo)), y, q);
}

/* ---- From exp ---------------------------------------------------------------------------------------------------- */

/* x = n ln 2 + r + r_lo, by Cody and Waite's two parts of ln 2; the product with the first, of 37 bits, is exact. */
typedef struct avx2_exp_parts {
  __m256d shifted, n, r, r_lo; /* shifted: n + ROUNDER */
} avx2_exp_parts;

VECTOR_INLINE avx2_exp_parts avx2_exp_reduce(__m256d x) {
  const __m256d shifted = FMA(x, ALL(0x1.71547652b82fep+0), ALL(ROUNDER)), n = SUB(shifted, ALL(ROUNDER));
  const __m256d low = ALL(0x1.cf79abc9e3b3ap-40), near = FNMA(n, ALL(0x1.62e42fefa0000p-1), x);
  const __m256d r = FNMA(n, low, near), r_lo = FNMA(n, low, SUB(near, r));
  return (avx2_exp_parts){shifted, n, r, r_lo};
}

/* exp(r) - 1 - r for |r| <= ln 2 / 2, with an error below 1.4e-18 r^2. */
VECTOR_INLINE __m256d avx2_exp_less_line(__m256d r) {
  const __m256d r2 = MUL(r, r), r4 = MUL(r2, r2);
  const __m256d q0 = FMA(r, ALL(0x1.5555555555557p-3), ALL(0x1.0000000000000p-1));
  const __m256d q1 = FMA(r, ALL(0x1.11111111100dbp-7), ALL(0x1.5555555555558p-5));
  const __m256d q2 = FMA(r, ALL(0x1.a01a01abe8220p-13), ALL(0x1.6c16c16c151fcp-10));
  const __m256d q3 = FMA(r, ALL(0x1.71de02313235cp-19), ALL(0x1.a01a01acfaeccp-16));
  const __m256d q4 = FMA(r, ALL(0x1.af4dea354e1b3p-26), ALL(0x1.27e4cccda5775p-22));
  const __m256d low = FMA(r2, q1, q0), mid = FMA(r2, q3, q2), high = FMA(r2, ALL(0x1.1f8b4cd4bbaf0p-29), q4);
  return MUL(r2, FMA(r4, FMA(r4, high, mid), low));
}

/* exp(r + r_lo) as 1 + r, rounded, and what that leaves. */
VECTOR_INLINE __m256d avx2_exp_near_1(avx2_exp_parts p, __m256d *lo) {
  const __m256d top = ADD(ALL(1), p.r), lost = SUB(p.r, SUB(top, ALL(1)));
  *lo = ADD(lost, ADD(p.r_lo, avx2_exp_less_line(p.r)));
  return top;
}

VECTOR_INLINE __m256d exp_avx2_f64(__m256d x) {
  /* Outside of ±800 the result is 0 or infinity; min and max return their second operand if one is nan. */
  const avx2_exp_parts p = avx2_exp_reduce(_mm256_min_pd(ALL(800), _mm256_max_pd(ALL(-800), x)));
  __m256d lo;
  const __m256d top = avx2_exp_near_1(p, &lo);
  return avx2_scale(ADD(top, lo), p.n);
}

/* tanh |x| = -E / (2 + E) with E = exp(-2 |x|) - 1 = (p - 1) + p (exp(r) - 1), p = 2^n. Where n = 0 that is exp(r) - 1
 * itself, so small results keep their digits. */
VECTOR_INLINE __m256d tanh_avx2_f64(__m256d x) {
  const __m256d size = _mm256_andnot_pd(ALL(-0.0), x);
  const avx2_exp_parts e = avx2_exp_reduce(_mm256_max_pd(ALL(-80), MUL(ALL(-2), size)));
  const __m256d p = avx2_power_of_2(e.shifted), beyond = ADD(e.r_lo, avx2_exp_less_line(e.r));
  const __m256d less = SUB(p, ALL(1)), less_lo = SUB(p, ADD(less, ALL(1)));
  const __m256d sum = FMA(p, e.r, less), lost = FMA(p, e.r, SUB(less, sum));
  const __m256d tail = FMA(p, beyond, ADD(lost, less_lo));
  const __m256d n = ADD(sum, tail), n_lo = SUB(tail, SUB(n, sum));
  const __m256d d = ADD(ALL(2), n), d_lo = ADD(SUB(n, SUB(d, ALL(2))), n_lo);
  return avx2_with_sign(avx2_quotient(n, n_lo, d, d_lo), x);
}

/* With e = exp(-|x|): 1 / (1 + e) for x >= 0, e / (1 + e) for x < 0, where e is 2^k times a number near 1, by which the
 * quotient is scaled at last, in two steps: only the second may round, into the subnormals. */
VECTOR_INLINE __m256d sigmoid_avx2_f64(__m256d x) {
  const avx2_exp_parts p = avx2_exp_reduce(_mm256_max_pd(ALL(-800), _mm256_or_pd(x, ALL(-0.0))));
  __m256d lo;
  const __m256d top = avx2_exp_near_1(p, &lo), e = ADD(top, lo), e_lo = SUB(lo, SUB(e, top));
  const __m256d k = _mm256_max_pd(p.n, ALL(-1000)), power = avx2_power_of_2(ADD(k, ALL(ROUNDER)));
  const __m256d small = MUL(e, power), d = ADD(ALL(1), small), d_lo = SUB(small, SUB(d, ALL(1)));
  const __m256d value = avx2_quotient(WHERE(x, e, ALL(1)), WHERE(x, e_lo, ALL(0)), d, d_lo);
  const __m256d rest = avx2_power_of_2(ADD(SUB(p.n, k), ALL(ROUNDER)));
  return WHERE(x, MUL(MUL(value, power), rest), value);
}

/* ---- log1p ------------------------------------------------------------------------------------------------------- */

/* 1 + x = y + y_lo exactly (Knuth's sum) = 2^k (1 + f + f_lo), 1 + f in [sqrt 1/2, sqrt 2); around x = 0, f is x itself.
 * With s = f / (2 + f), log(1 + f) = 2 s + s^3 R(s^2) = f - (f^2 / 2 - s (f^2 / 2 + s^2 R(s^2))), as in fdlibm's log1p
 * (Sun Microsystems, 1993). R's error is below 3.1e-16. */
VECTOR_INLINE __m256d log1p_avx2_f64(__m256d x) {
  const __m256d one = ALL(1), y = ADD(one, x), part = SUB(y, one);
  const __m256d y_lo = ADD(SUB(one, SUB(y, part)), SUB(x, part));
  /* the exponent in steps from sqrt 1/2 on, plus 1024 so that it is not negative */
  const __m256i root = _mm256_set1_epi64x(0x3fe6a09e667f3bcd), above = _mm256_sub_epi64(BITS_OF(y), root);
  const __m256i k = _mm256_srli_epi64(_mm256_add_epi64(above, _mm256_set1_epi64x(0x4000000000000000)), 52);
  const __m256i digits = _mm256_and_si256(above, _mm256_set1_epi64x(0x000fffffffffffff));
  const __m256d m = OF_BITS(_mm256_add_epi64(digits, root));
  const __m256d n = SUB(OF_BITS(_mm256_or_si256(k, _mm256_set1_epi64x(0x4330000000000000))), ALL(0x1p52 + 1024));
  const __m256d up = _mm256_min_pd(n, ALL(1000)); /* beyond, y_lo counts for nothing */
  const __m256d m_lo = MUL(y_lo, avx2_power_of_2(SUB(ALL(ROUNDER), up)));
  const __m256d less = SUB(m, one), f = ADD(less, m_lo), f_lo = SUB(m_lo, SUB(f, less));
  const __m256d s = _mm256_div_pd(f, ADD(ALL(2), f)), z = MUL(s, s), z2 = MUL(z, z), half = MUL(ALL(0.5), MUL(f, f));
  const __m256d r0 = FMA(z, ALL(0x1.99999999951bep-2), ALL(0x1.5555555555558p-1));
  const __m256d r1 = FMA(z, ALL(0x1.c71c62c2129b8p-3), ALL(0x1.2492492e0f0a4p-2));
  const __m256d r2 = FMA(z, ALL(0x1.39fd33ebf060dp-3), ALL(0x1.7462be2d80b8cp-3));
  const __m256d r = FMA(z2, FMA(z2, FMA(z2, ALL(0x1.2b662be0526ebp-3), r2), r1), r0);
  const __m256d less_line = FMA(s, FMA(z, r, half), FNMA(f_lo, f, f_lo)); /* f_lo / (1 + f), nearly */
  const __m256d base = MUL(n, ALL(0x1.62e42fefa3800p-1)), sum = ADD(base, f), lost = ADD(SUB(base, sum), f);
  const __m256d tail = ADD(SUB(less_line, half), FMA(n, ALL(0x1.ef35793c76730p-45), lost));
  const __m256d value = avx2_with_sign(ADD(sum, tail), x), zero = ALL(0);
  const __m256d is_own = _mm256_cmp_pd(y, ALL(__builtin_inf()), _CMP_NLT_UQ); /* inf or nan */
  const __m256d at_most_0 = _mm256_cmp_pd(y, zero, _CMP_LE_OQ);
  const __m256d edge = WHERE(_mm256_cmp_pd(y, zero, _CMP_EQ_OQ), ALL(-__builtin_inf()), ALL(__builtin_nan("")));
  return WHERE(is_own, y, WHERE(at_most_0, edge, value));
}

/* ---- sin, cos ---------------------------------------------------------------------------------------------------- */

/* sin(x + quarters pi / 2) for |x| <= 2^17: x = n pi / 2 + r + r_lo by Cody and Waite's three parts of pi / 2, of which
 * the first has 33 bits: its product is subtracted exactly. Then r may be as small as 2^-57, so the second product is
 * subtracted with both rounding errors kept (Knuth's sum). Polynomials for |r| <= pi / 4: errors 4e-18 and 5e-20. */
VECTOR_INLINE __m256d avx2_sin_quarters(__m256d x, int64_t quarters) {
  const __m256d shifted = FMA(x, ALL(0x1.45f306dc9c883p-1), ALL(ROUNDER));
  const __m256d n = SUB(shifted, ALL(ROUNDER)), mid = ALL(0x1.0b4611a626331p-34);
  const __m256i j = _mm256_add_epi64(BITS_OF(shifted), _mm256_set1_epi64x(quarters));
  const __m256d near = FNMA(n, ALL(0x1.921fb54400000p+0), x);
  const __m256d w = MUL(n, mid), w_lo = _mm256_fmsub_pd(n, mid, w);
  const __m256d r = SUB(near, w), part = SUB(r, near);
  const __m256d lost = SUB(SUB(near, SUB(r, part)), ADD(w, part));
  const __m256d r_lo = FNMA(n, ALL(0x1.1701b839a2520p-88), SUB(lost, w_lo));
  const __m256d t = MUL(r, r), t2 = MUL(t, t), half = MUL(t, ALL(0.5));
  const __m256d s0 = FMA(t, ALL(0x1.111111110f87ap-7), ALL(-0x1.5555555555549p-3));
  const __m256d s1 = FMA(t, ALL(0x1.71de3577b8c74p-19), ALL(-0x1.a01a019c119cap-13));
  const __m256d s2 = FMA(t, ALL(0x1.5d9301523a4bap-33), ALL(-0x1.ae5e663bf0fbfp-26));
  const __m256d s = MUL(t, FMA(t2, FMA(t2, s2, s1), s0));
  const __m256d sine = ADD(r, FMA(r, s, FNMA(r_lo, half, r_lo)));
  const __m256d c0 = FMA(t, ALL(-0x1.6c16c16c1517ep-10), ALL(0x1.555555555554cp-5));
  const __m256d c1 = FMA(t, ALL(-0x1.27e4f809f01f7p-22), ALL(0x1.a01a019cb1be1p-16));
  const __m256d c2 = FMA(t, ALL(-0x1.8fae9bea5625dp-37), ALL(0x1.1ee9ebe86e706p-29));
  const __m256d c = FMA(t2, FMA(t2, c2, c1), c0), top = SUB(ALL(1), half), top_lo = SUB(SUB(ALL(1), top), half);
  const __m256d cosine = ADD(top, FMA(t2, c, FNMA(r, r_lo, top_lo)));
  const __m256i sign = _mm256_slli_epi64(_mm256_and_si256(j, _mm256_set1_epi64x(2)), 62);
  const __m256d size = WHERE(OF_BITS(_mm256_slli_epi64(j, 63)), cosine, sine);
  return OF_BITS(_mm256_xor_si256(BITS_OF(size), sign));
}

VECTOR_INLINE __m256d sin_avx2_f64(__m256d x) { /* zeros keep their sign */
  return WHERE(_mm256_cmp_pd(x, ALL(0), _CMP_EQ_OQ), x, avx2_sin_quarters(x, 0));
}

VECTOR_INLINE __m256d cos_avx2_f64(__m256d x) { return avx2_sin_quarters(x, 1); }

#undef VECTOR_INLINE
#undef ALL
#undef ADD
#undef SUB
#undef MUL
#undef FMA
#undef FNMA
#undef WHERE
#undef BITS_OF
#undef OF_BITS
#undef ROUNDER

#endif

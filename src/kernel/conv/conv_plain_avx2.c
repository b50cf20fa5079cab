/* conv_plain_avx2: the products of convolutions for x86-64 with AVX2, with the bits of conv_base: no product and sum is
 * fused. */
#include "conv.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define T float
#define NAME(f) conv_##f##_f32_plain_avx2
#define V __m256
#define LOAD(p) _mm256_loadu_ps(p)
#define STORE(p, v) _mm256_storeu_ps(p, v)
#define BROADCAST(x) _mm256_set1_ps(x)
#define FMA(x, y, z) _mm256_add_ps(_mm256_mul_ps(x, y), z)
#define ADD(x, y) _mm256_add_ps(x, y)
#define ROWS 4
#define VECS 3
#include "conv_body.h"

#define T double
#define NAME(f) conv_##f##_f64_plain_avx2
#define V __m256d
#define LOAD(p) _mm256_loadu_pd(p)
#define STORE(p, v) _mm256_storeu_pd(p, v)
#define BROADCAST(x) _mm256_set1_pd(x)
#define FMA(x, y, z) _mm256_add_pd(_mm256_mul_pd(x, y), z)
#define ADD(x, y) _mm256_add_pd(x, y)
#define ROWS 4
#define VECS 3
#include "conv_body.h"

const conv_isa conv_isa_plain_avx2 = {
    .f32 = {.rows = 4, .lanes = 8, .strip = conv_strip_f32_plain_avx2, .outer = conv_outer_f32_plain_avx2},
    .f64 = {.rows = 4, .lanes = 4, .strip = conv_strip_f64_plain_avx2, .outer = conv_outer_f64_plain_avx2}};
#else
typedef int conv_plain_avx2_is_for_other_machines;
#endif

/* conv_plain_avx512: the products of convolutions for x86-64 with AVX-512, with the bits of conv_base: no product and sum is
 * fused. */
#include "conv.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define T float
#define NAME(f) conv_##f##_f32_plain_avx512
#define V __m512
#define LOAD(p) _mm512_loadu_ps(p)
#define STORE(p, v) _mm512_storeu_ps(p, v)
#define BROADCAST(x) _mm512_set1_ps(x)
#define FMA(x, y, z) _mm512_add_ps(_mm512_mul_ps(x, y), z)
#define ADD(x, y) _mm512_add_ps(x, y)
#define ROWS 8
#define VECS 3
#include "conv_body.h"

#define T double
#define NAME(f) conv_##f##_f64_plain_avx512
#define V __m512d
#define LOAD(p) _mm512_loadu_pd(p)
#define STORE(p, v) _mm512_storeu_pd(p, v)
#define BROADCAST(x) _mm512_set1_pd(x)
#define FMA(x, y, z) _mm512_add_pd(_mm512_mul_pd(x, y), z)
#define ADD(x, y) _mm512_add_pd(x, y)
#define ROWS 8
#define VECS 3
#include "conv_body.h"

const conv_isa conv_isa_plain_avx512 = {
    .f32 = {.rows = 8, .lanes = 16, .strip = conv_strip_f32_plain_avx512, .outer = conv_outer_f32_plain_avx512},
    .f64 = {.rows = 8, .lanes = 8, .strip = conv_strip_f64_plain_avx512, .outer = conv_outer_f64_plain_avx512}};
#else
typedef int conv_plain_avx512_is_for_other_machines;
#endif

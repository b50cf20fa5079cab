/* small_gemm_avx512: products with a short dimension, for x86-64 with AVX-512. */
#include "small_gemm.h"

#if defined(__x86_64__)
#include <immintrin.h>

#define T double
#define NAME(f) small_gemm_##f##_f64_avx512
#define V __m512d
#define M __mmask8
#define MASK(n) ((__mmask8)((1u << (n)) - 1))
#define LOAD(p) _mm512_loadu_pd(p)
#define LOAD_PART(p, m) _mm512_maskz_loadu_pd(m, p)
#define STORE(p, v) _mm512_storeu_pd(p, v)
#define STORE_PART(p, m, v) _mm512_mask_storeu_pd(p, m, v)
#define BROADCAST(x) _mm512_set1_pd(x)
#define FMA(x, y, z) _mm512_fmadd_pd(x, y, z)
#define MUL(x, y) _mm512_mul_pd(x, y)
#define ROWS1 8
#define ROWS2 8
#include "small_gemm_body.h"

#define T float
#define NAME(f) small_gemm_##f##_f32_avx512
#define V __m512
#define M __mmask16
#define MASK(n) ((__mmask16)((1u << (n)) - 1))
#define LOAD(p) _mm512_loadu_ps(p)
#define LOAD_PART(p, m) _mm512_maskz_loadu_ps(m, p)
#define STORE(p, v) _mm512_storeu_ps(p, v)
#define STORE_PART(p, m, v) _mm512_mask_storeu_ps(p, m, v)
#define BROADCAST(x) _mm512_set1_ps(x)
#define FMA(x, y, z) _mm512_fmadd_ps(x, y, z)
#define MUL(x, y) _mm512_mul_ps(x, y)
#define ROWS1 8
#define ROWS2 8
#include "small_gemm_body.h"

const small_gemm_fns small_gemm_avx512 = {
    .run = {[DAMO_FLOAT32] = small_gemm_run_f32_avx512, [DAMO_FLOAT64] = small_gemm_run_f64_avx512},
    .blas_has_small = true};
#else
typedef int small_gemm_avx512_is_for_other_machines;
#endif

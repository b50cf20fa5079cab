/* small_gemm_avx2: products with a short dimension, for x86-64 with AVX2 and FMA. */
#include "small_gemm.h"

#if defined(__x86_64__)
#include <immintrin.h>

/* Lane i of a mask of the first n lanes is the i-th number from -n on: negative for i < n. */
static inline __m256i mask_f64_avx2(int64_t n) {
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(n), _mm256_setr_epi64x(0, 1, 2, 3));
}
static inline __m256i mask_f32_avx2(int64_t n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

#define T double
#define NAME(f) small_gemm_##f##_f64_avx2
#define V __m256d
#define M __m256i
#define MASK(n) mask_f64_avx2(n)
#define LOAD(p) _mm256_loadu_pd(p)
#define LOAD_PART(p, m) _mm256_maskload_pd(p, m)
#define STORE(p, v) _mm256_storeu_pd(p, v)
#define STORE_PART(p, m, v) _mm256_maskstore_pd(p, m, v)
#define BROADCAST(x) _mm256_set1_pd(x)
#define FMA(x, y, z) _mm256_fmadd_pd(x, y, z)
#define MUL(x, y) _mm256_mul_pd(x, y)
#define ROWS1 8
#define ROWS2 4
#include "small_gemm_body.h"

#define T float
#define NAME(f) small_gemm_##f##_f32_avx2
#define V __m256
#define M __m256i
#define MASK(n) mask_f32_avx2(n)
#define LOAD(p) _mm256_loadu_ps(p)
#define LOAD_PART(p, m) _mm256_maskload_ps(p, m)
#define STORE(p, v) _mm256_storeu_ps(p, v)
#define STORE_PART(p, m, v) _mm256_maskstore_ps(p, m, v)
#define BROADCAST(x) _mm256_set1_ps(x)
#define FMA(x, y, z) _mm256_fmadd_ps(x, y, z)
#define MUL(x, y) _mm256_mul_ps(x, y)
#define ROWS1 8
#define ROWS2 4
#include "small_gemm_body.h"

const small_gemm_fns small_gemm_avx2 = {
    .run = {[DAMO_FLOAT32] = small_gemm_run_f32_avx2, [DAMO_FLOAT64] = small_gemm_run_f64_avx2},
    .blas_has_small = false};
#else
typedef int small_gemm_avx2_is_for_other_machines;
#endif

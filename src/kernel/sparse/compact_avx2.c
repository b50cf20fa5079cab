/* compact_avx2: compaction of four entries at a time, for int32 indices and 8-byte values on x86-64 with AVX2. A table
 * of permutations, indexed by the bit mask of the entries that stay, moves these to the front. */
#include <string.h>

#include "arith.h"
#include "sparse_tables.h"

#if defined(__x86_64__)
#include <immintrin.h>

/* For each bit mask of the entries that stay: the permutation that moves them to the front, and how many there are up
 * to each entry. */
static const int32_t sp_sift_order[16][4] = {
    {0, 1, 2, 3}, {0, 1, 2, 3}, {1, 0, 2, 3}, {0, 1, 2, 3}, {2, 0, 1, 3}, {0, 2, 1, 3}, {1, 2, 0, 3}, {0, 1, 2, 3},
    {3, 0, 1, 2}, {0, 3, 1, 2}, {1, 3, 0, 2}, {0, 1, 3, 2}, {2, 3, 0, 1}, {0, 2, 3, 1}, {1, 2, 3, 0}, {0, 1, 2, 3}};
static const int32_t sp_sift_count[16][4] = {
    {0, 0, 0, 0}, {1, 1, 1, 1}, {0, 1, 1, 1}, {1, 2, 2, 2}, {0, 0, 1, 1}, {1, 1, 2, 2}, {0, 1, 2, 2}, {1, 2, 3, 3},
    {0, 0, 0, 1}, {1, 1, 1, 2}, {0, 1, 1, 2}, {1, 2, 2, 3}, {0, 0, 1, 2}, {1, 1, 2, 3}, {0, 1, 2, 3}, {1, 2, 3, 4}};

/* Compacts n entries: keeps those with a bit in mask (0: all); returns how many stay. kept[k]: how many of the first k
 * + 1. The outputs have memory for n entries. */
static int32_t sp_sift_avx2(const int32_t *restrict idx, const uint64_t *restrict val, int64_t n, uint64_t mask,
                            int32_t *restrict oidx, uint64_t *restrict oval, int32_t *restrict kept) {
  const __m256i bits = _mm256_set1_epi64x((long long)mask), none = _mm256_setzero_si256();
  const int always = mask == 0 ? 15 : 0;
  int32_t stay = 0;
  int64_t k = 0;
  for (; k + 4 <= n; k += 4) {
    const __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(val + k));
    const __m128i i = _mm_loadu_si128((const __m128i *)(const void *)(idx + k));
    const __m256i zero = _mm256_cmpeq_epi64(_mm256_and_si256(v, bits), none);
    const int left = (~_mm256_movemask_pd(_mm256_castsi256_pd(zero)) & 15) | always;
    const __m128i lanes = _mm_loadu_si128((const __m128i *)(const void *)sp_sift_order[left]);
    /* 32-bit halves of a lane: 2·lane, 2·lane + 1 */
    const __m256i low = _mm256_slli_epi64(_mm256_cvtepu32_epi64(lanes), 1);
    const __m256i halves = _mm256_or_si256(low, _mm256_slli_epi64(_mm256_add_epi64(low, _mm256_set1_epi64x(1)), 32));
    const __m128i ends = _mm_loadu_si128((const __m128i *)(const void *)sp_sift_count[left]);
    _mm256_storeu_si256((__m256i *)(void *)(oval + stay), _mm256_permutevar8x32_epi32(v, halves));
    _mm_storeu_si128((__m128i *)(void *)(oidx + stay), _mm_castps_si128(_mm_permutevar_ps(_mm_castsi128_ps(i), lanes)));
    _mm_storeu_si128((__m128i *)(void *)(kept + k), _mm_add_epi32(ends, _mm_set1_epi32(stay)));
    stay += sp_sift_count[left][3];
  }
  for (; k < n; k++) {
    oidx[stay] = idx[k];
    oval[stay] = val[k];
    stay += (val[k] & mask) != 0 || always;
    kept[k] = stay;
  }
  return stay;
}

typedef int32_t (*sp_sift_fn)(const int32_t *idx, const uint64_t *val, int64_t n, uint64_t mask, int32_t *oidx,
                              uint64_t *oval, int32_t *kept);

#define ISA avx2
#define SIFT_OF(plain) _Generic((plain), sp_sift_fn : sp_sift_avx2, default : (plain))
#include "compact_tables.h"
#else
typedef int sparse_compact_avx2_is_for_other_machines;
#endif

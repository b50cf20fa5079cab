/* philox_body: the words of many Philox blocks, compiled once for each instruction set. A product of 32-bit words is the
 * product of the low halves of 64-bit lanes, which AVX2 and AVX-512 have; nothing reads the high halves in between, so
 * these hold what the rounds leave there. */
#ifndef DAMO_KERNEL_PHILOX_BODY_H
#define DAMO_KERNEL_PHILOX_BODY_H

#include <string.h>

#include "random.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#define PHILOX_M0 0xD2511F53u
#define PHILOX_M1 0xCD9E8D57u
#define PHILOX_W0 0x9E3779B9u /* golden ratio */
#define PHILOX_W1 0xBB67AE85u /* sqrt(3) - 1 */
#define PHILOX_ROUNDS 10

/* Ten rounds of two products; c holds the counter on entry and the random words on return. */
static inline void philox_rounds(uint32_t c[4], uint32_t k0, uint32_t k1) {
  for (int i = 0; i < PHILOX_ROUNDS; i++) {
    const uint64_t p0 = (uint64_t)PHILOX_M0 * c[0], p1 = (uint64_t)PHILOX_M1 * c[2];
    c[0] = (uint32_t)(p1 >> 32) ^ c[1] ^ k0;
    c[1] = (uint32_t)p1;
    c[2] = (uint32_t)(p0 >> 32) ^ c[3] ^ k1;
    c[3] = (uint32_t)p0;
    k0 += PHILOX_W0;
    k1 += PHILOX_W1;
  }
}

/* The 64-bit counter of each of 8 blocks, and what the carry adds to its high word. */
static inline void philox_counters(const philox_state *s, int64_t from, uint64_t lo[8], uint64_t hi[8]) {
  for (int j = 0; j < 8; j++) {
    lo[j] = s->counter_lo + (uint64_t)(from + j);
    hi[j] = s->counter_hi + (lo[j] < s->counter_lo);
  }
}

#if defined(__AVX512F__)
/* Eight blocks into 16 words. */
static inline void philox_eight(const philox_state *s, int64_t from, uint64_t *words) {
  uint64_t lo[8], hi[8];
  philox_counters(s, from, lo, hi);
  const __m512i m0 = _mm512_set1_epi64(PHILOX_M0), m1 = _mm512_set1_epi64(PHILOX_M1);
  __m512i a = _mm512_loadu_si512(lo), c = _mm512_loadu_si512(hi);
  __m512i b = _mm512_srli_epi64(a, 32), d = _mm512_srli_epi64(c, 32);
  uint32_t k0 = (uint32_t)s->key, k1 = (uint32_t)(s->key >> 32);
  for (int r = 0; r < PHILOX_ROUNDS; r++) {
    const __m512i p0 = _mm512_mul_epu32(a, m0), p1 = _mm512_mul_epu32(c, m1);
    a = _mm512_ternarylogic_epi64(_mm512_srli_epi64(p1, 32), b, _mm512_set1_epi64(k0), 0x96); /* xor of three */
    c = _mm512_ternarylogic_epi64(_mm512_srli_epi64(p0, 32), d, _mm512_set1_epi64(k1), 0x96);
    b = p1;
    d = p0;
    k0 += PHILOX_W0;
    k1 += PHILOX_W1;
  }
  const __m512i low = _mm512_set1_epi64(0xffffffff);
  const __m512i first = _mm512_or_si512(_mm512_slli_epi64(b, 32), _mm512_and_si512(a, low));
  const __m512i second = _mm512_or_si512(_mm512_slli_epi64(d, 32), _mm512_and_si512(c, low));
  _mm512_storeu_si512(words, _mm512_permutex2var_epi64(first, _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), second));
  _mm512_storeu_si512(words + 8,
                      _mm512_permutex2var_epi64(first, _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15), second));
}
#elif defined(__AVX2__)
static inline void philox_four(const philox_state *s, const uint64_t *lo, const uint64_t *hi, uint64_t *words) {
  const __m256i m0 = _mm256_set1_epi64x(PHILOX_M0), m1 = _mm256_set1_epi64x(PHILOX_M1);
  __m256i a = _mm256_loadu_si256((const __m256i *)lo), c = _mm256_loadu_si256((const __m256i *)hi);
  __m256i b = _mm256_srli_epi64(a, 32), d = _mm256_srli_epi64(c, 32);
  uint32_t k0 = (uint32_t)s->key, k1 = (uint32_t)(s->key >> 32);
  for (int r = 0; r < PHILOX_ROUNDS; r++) {
    const __m256i p0 = _mm256_mul_epu32(a, m0), p1 = _mm256_mul_epu32(c, m1);
    a = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p1, 32), b), _mm256_set1_epi64x(k0));
    c = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p0, 32), d), _mm256_set1_epi64x(k1));
    b = p1;
    d = p0;
    k0 += PHILOX_W0;
    k1 += PHILOX_W1;
  }
  const __m256i low = _mm256_set1_epi64x(0xffffffff);
  const __m256i first = _mm256_or_si256(_mm256_slli_epi64(b, 32), _mm256_and_si256(a, low));
  const __m256i second = _mm256_or_si256(_mm256_slli_epi64(d, 32), _mm256_and_si256(c, low));
  const __m256i even = _mm256_unpacklo_epi64(first, second), odd = _mm256_unpackhi_epi64(first, second);
  _mm256_storeu_si256((__m256i *)words, _mm256_permute2x128_si256(even, odd, 0x20));
  _mm256_storeu_si256((__m256i *)(words + 4), _mm256_permute2x128_si256(even, odd, 0x31));
}

static inline void philox_eight(const philox_state *s, int64_t from, uint64_t *words) {
  uint64_t lo[8], hi[8];
  philox_counters(s, from, lo, hi);
  philox_four(s, lo, hi, words);
  philox_four(s, lo + 4, hi + 4, words + 8);
}
#else
static inline void philox_eight(const philox_state *s, int64_t from, uint64_t *words) {
  uint64_t lo[8], hi[8];
  philox_counters(s, from, lo, hi);
  for (int j = 0; j < 8; j++) {
    uint32_t c[4] = {(uint32_t)lo[j], (uint32_t)(lo[j] >> 32), (uint32_t)hi[j], (uint32_t)(hi[j] >> 32)};
    philox_rounds(c, (uint32_t)s->key, (uint32_t)(s->key >> 32));
    words[2 * j] = (uint64_t)c[1] << 32 | c[0];
    words[2 * j + 1] = (uint64_t)c[3] << 32 | c[2];
  }
}
#endif

/* The words of n blocks, two a block. */
static inline void philox_fill_body(const philox_state *s, uint64_t *words, int64_t n) {
  uint64_t last[16];
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) philox_eight(s, i, words + 2 * i);
  if (i == n) return;
  philox_eight(s, i, last);
  memcpy(words + 2 * i, last, (size_t)(n - i) * 2 * sizeof *words);
}

#endif

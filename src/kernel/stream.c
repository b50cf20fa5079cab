/* stream: copies of results that are too long to stay in the cache. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE /* _SC_LEVEL3_CACHE_SIZE */
#endif
#include <string.h>

#include "kernel_int.h"

#if DAMO_POSIX
#include <unistd.h>
#endif
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#define LINE 64
#define STREAM_MOST ((size_t)16 << 20)
#define STREAM_LEAST ((size_t)1 << 20) /* no last-level cache is smaller than twice this */

size_t kernel_stream_least(size_t bytes) {
  if (bytes < STREAM_LEAST || bytes >= STREAM_MOST) return STREAM_MOST;
#if defined(__x86_64__) && defined(_SC_LEVEL3_CACHE_SIZE)
  const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  if (cache > 0 && (size_t)cache / 2 < STREAM_MOST) return (size_t)cache / 2;
#endif
  return STREAM_MOST;
}

void kernel_copy_stream(char *restrict to, const char *restrict from, size_t n) {
#if defined(__x86_64__)
  /* A line of the write-combining buffers is four stores of 16 bytes; longer vectors gain nothing. */
  size_t i = (LINE - ((uintptr_t)to & (LINE - 1))) & (LINE - 1);
  if (i > n) i = n;
  memcpy(to, from, i);
  for (; i + LINE <= n; i += LINE) {
    const __m128i *s = (const __m128i *)(const void *)(from + i);
    __m128i *d = (__m128i *)(void *)(to + i);
    const __m128i a = _mm_loadu_si128(s), b = _mm_loadu_si128(s + 1), c = _mm_loadu_si128(s + 2);
    const __m128i e = _mm_loadu_si128(s + 3);
    _mm_stream_si128(d, a);
    _mm_stream_si128(d + 1, b);
    _mm_stream_si128(d + 2, c);
    _mm_stream_si128(d + 3, e);
  }
  memcpy(to + i, from + i, n - i);
#else
  memcpy(to, from, n);
#endif
}

void kernel_stream_fence(void) {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

void kernel_prefetch(const char *p, size_t n) {
  for (size_t at = 0; at < n; at += LINE) PREFETCH(p + at);
}

#undef LINE
#undef STREAM_MOST
#undef STREAM_LEAST

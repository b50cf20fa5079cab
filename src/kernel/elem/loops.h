/* loops: what the elementwise bodies share: the loops over blocks and the check for equal elements.
 *
 * A kernel is a loop (LOOP1, LOOP2, LOOP3) over an ordinary inline function at_<name>_<suffix>_<isa> that maps one
 * element. The loops carry no dependence (an output is the same block as an input or does not overlap it), which
 * NO_ALIAS tells the compiler, so they vectorise without a check at run time. Include only from the files of one
 * instruction set each. */
#ifndef DAMO_KERNEL_ELEM_LOOPS_H
#define DAMO_KERNEL_ELEM_LOOPS_H

#include <complex.h>
#undef complex /* a kernel has that name; the type is written _Complex */
#undef I       /* the name of index types in other bodies */
#include <math.h>
#include <string.h>

#include "elem_tables.h"
#include "kernel/kernel_int.h"
#include "names.h"
#include "special.h"

#if defined(__clang__)
/* NO_ALIAS requests vectorisation; clang warns of loops that cannot have it because they call a function. */
#pragma clang diagnostic ignored "-Wpass-failed"
#define NO_ALIAS _Pragma("clang loop vectorize(assume_safety)")
#else
#define NO_ALIAS _Pragma("GCC ivdep")
#endif

#define ALWAYS_INLINE static inline __attribute__((always_inline, unused))

typedef uint64_t elemwise_words __attribute__((vector_size(64), aligned(4), may_alias));

/* Whether n >= 1 elements of that size (8 or 16) are all the same, bit for bit. */
ALWAYS_INLINE bool elemwise_all_same(const void *x, size_t size, int64_t n) {
  const char *at = x;
  const size_t bytes = (size_t)n * size;
  if (bytes < sizeof(elemwise_words)) return memcmp(at, at + size, bytes - size) == 0;
  const elemwise_words first = *(const elemwise_words *)at,
                       *last = (const elemwise_words *)(at + bytes - sizeof(elemwise_words));
  elemwise_words differ = first ^ *last;
  if (memcmp(at, at + size, sizeof(elemwise_words) - size) != 0) return false;
  for (const elemwise_words *w = (const elemwise_words *)at; w < last; w++) differ |= *w ^ first;
  uint64_t any = 0;
  for (int k = 0; k < 8; k++) any |= differ[k];
  return any == 0;
}

#define LOOP1(name, A, R)                                         \
  static void NAME(name)(void *const *args, int64_t n) {          \
    const A *a = args[0];                                         \
    R *o = args[1];                                               \
    NO_ALIAS                                                      \
    for (int64_t i = 0; i < n; i++) o[i] = NAME(at_##name)(a[i]); \
  }

#define LOOP2(name, A, R)                                               \
  static void NAME(name)(void *const *args, int64_t n) {                \
    const A *a = args[0], *b = args[1];                                 \
    R *o = args[2];                                                     \
    NO_ALIAS                                                            \
    for (int64_t i = 0; i < n; i++) o[i] = NAME(at_##name)(a[i], b[i]); \
  }

#define LOOP3(name, C, A)                                                     \
  static void NAME(name)(void *const *args, int64_t n) {                      \
    const C *c = args[0];                                                     \
    const A *a = args[1], *b = args[2];                                       \
    A *o = args[3];                                                           \
    NO_ALIAS                                                                  \
    for (int64_t i = 0; i < n; i++) o[i] = NAME(at_##name)(c[i], a[i], b[i]); \
  }

#endif

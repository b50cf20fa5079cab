/* kernel_int: what only the files of kernel/ share. */
#ifndef DAMO_KERNEL_KERNEL_INT_H
#define DAMO_KERNEL_KERNEL_INT_H

#include <string.h>

#include "isa.h"
#include "kernel.h"

/* Bodies are included once for each element type, index type or instruction set, and name their functions with a suffix
 * for each: NAME(f) is f, or the body's prefix and f, with SUFFIX, or IX (index type) and TX (element type), and ISA if
 * the body is compiled for several instruction sets. The arguments are expanded before they are pasted. */
#define PASTE2_(a, b) a##_##b
#define PASTE2(a, b) PASTE2_(a, b)
#define PASTE3_(a, b, c) a##_##b##_##c
#define PASTE3(a, b, c) PASTE3_(a, b, c)
#define PASTE4_(a, b, c, d) a##_##b##_##c##_##d
#define PASTE4(a, b, c, d) PASTE4_(a, b, c, d)

#if defined(__GNUC__)
#define PREFETCH(p) __builtin_prefetch(p)
#else
#define PREFETCH(p) ((void)(p))
#endif

/* a - b of products, of float or double. GCC 12 fuses vectors of alternating differences and sums, those of complex products,
 * despite -ffp-contract=off, so the difference is hidden from it: b's sign bit is flipped and b added. */
static inline __attribute__((always_inline)) float kernel_less_f32(float a, float b) {
  uint32_t bits;
  memcpy(&bits, &b, sizeof b);
  bits ^= (uint32_t)1 << 31;
  memcpy(&b, &bits, sizeof b);
  return a + b;
}
static inline __attribute__((always_inline)) double kernel_less_f64(double a, double b) {
  uint64_t bits;
  memcpy(&bits, &b, sizeof b);
  bits ^= (uint64_t)1 << 63;
  memcpy(&b, &bits, sizeof b);
  return a + b;
}
#define KERNEL_LESS(a, b) _Generic((a), float : kernel_less_f32, double : kernel_less_f64)(a, b)

/* An element of 16 bytes, for copies. */
typedef struct bytes16 {
  uint64_t at[2];
} bytes16;

/* The instruction sets compiled in: x86-64 has three (the amalgamation the first of them), aarch64 one, other machines,
 * and builds without SLEEF's vectors, the portable one. With DAMO_SCALAR_KERNELS the portable one is compiled everywhere
 * (to test it). */
#if DAMO_SLEEF && defined(__x86_64__)
#define KERNEL_HAS_SSE2 1
#ifndef DAMO_AMALGAMATION
#define KERNEL_HAS_AVX 1
#endif
#elif DAMO_SLEEF && defined(__aarch64__)
#define KERNEL_HAS_NEON 1
#else
#define KERNEL_SCALAR_ONLY 1
#endif
#if defined(KERNEL_SCALAR_ONLY) || defined(DAMO_SCALAR_KERNELS)
#define KERNEL_HAS_SCALAR 1
#endif

/* ---- Reducers ---------------------------------------------------------------------------------------------------- */

#define REDUCE_BLOCK 512  /* elements folded in lanes before the pairwise tree begins */
#define REDUCE_STRIP 2048 /* columns processed at once if many results are reduced side by side */

/* One associative operation on one element type. Lane l takes the elements l, l + lanes, … of a block; lanes are folded
 * by halves. `block` and `rows` apply the operation in the same order, so a result does not depend on which of them
 * computes it. */
typedef struct reducer {
  size_t size;                                             /* bytes of an element, and of a result */
  int lanes;                                               /* a power of two */
  void (*block)(const void *x, int64_t n, void *out);      /* *out = fold of the n >= 1 elements of a block */
  void (*rows)(void *acc, const void *row, int64_t width); /* acc[j] = op(acc[j], row[j]) */
  /* Folds n rows, rows[0], rows[step], …, into acc, which the first begins if `begin`. */
  void (*lane)(void *acc, const char *const *rows, int64_t step, int64_t n, int64_t width, bool begin);
  /* The folds of two and of four blocks, folded as the tree does; the last may be shorter: n elements in all. Or NULL. */
  void (*pair)(const void *x, int64_t n, void *out);
  void (*quad)(const void *x, int64_t n, void *out);
  /* Or NULL: folds n rows, a multiple of `lanes`, of elements `offset` bytes from their addresses on, into lanes, `pitch`
   * bytes apart, which the first rows begin if `begin`. */
  void (*columns)(void *into, size_t pitch, const char *const *rows, int64_t n, int64_t offset, int64_t width,
                  bool begin);
} reducer;

/* For one float or complex dtype. squares: |x|² of n elements, real. block: the sum of |x|² over a block, in the order
 * of the sum's reducer. */
typedef struct square_reducer {
  cast_fn squares;
  void (*block)(const void *x, int64_t n, void *out);
  /* The sums over two and over four blocks, of n elements in all; or NULL. */
  void (*pair)(const void *x, int64_t n, void *out);
  void (*quad)(const void *x, int64_t n, void *out);
} square_reducer;

/* The position of the best element in a sequence that is processed in runs. position: that of the run's first element;
 * at 0 a new search begins. */
typedef struct arg_reducer {
  /* Updates *best and *at (its position) with the n elements of x, which follow those seen before. */
  void (*run)(const void *x, int64_t n, int64_t position, void *best, int64_t *at);
  /* The same with one row, for `width` results side by side. */
  void (*rows)(const void *row, int64_t width, int64_t position, void *best, int64_t *at);
} arg_reducer;

/* For float32 and float64. values: y[i] = (x[i] - mean[i * step])² for a step of 0 or 1. block, pair and quad: their sum
 * over one, two and four blocks, the last of which may be shorter, for one mean, in the order of the sum's reducer. lane:
 * the reducer's, with a mean for each column. */
typedef struct deviation_reducer {
  void (*values)(const void *x, const void *mean, int step, void *y, int64_t n);
  void (*block)(const void *x, int64_t n, const void *mean, void *out);
  void (*pair)(const void *x, int64_t n, const void *mean, void *out);
  void (*quad)(const void *x, int64_t n, const void *mean, void *out);
  void (*lane)(void *acc, const char *const *rows, int64_t step, int64_t n, int64_t width, bool begin,
               const void *mean);
} deviation_reducer;

/* Tables by dtype. Size and lanes of a reducer are the same for every instruction set: they determine the result's
 * bits. */
typedef struct reduce_fns {
  const reducer *sum, *prod; /* uint64 also serves int64 */
  const reducer *max, *min;
  const square_reducer *squares;
  const arg_reducer *argmax, *argmin;
  const deviation_reducer *deviations;
} reduce_fns;

extern const square_reducer reduce_squares_base[DAMO_N_DTYPES];
extern const reduce_fns reduce_fns_base;
#if defined(__x86_64__)
extern const reduce_fns reduce_fns_avx2, reduce_fns_avx512;
#endif

#endif

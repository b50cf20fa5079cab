/* kernel_int: what the files of kernel/ share and no other folder sees. */
#ifndef DAMO_KERNEL_KERNEL_INT_H
#define DAMO_KERNEL_KERNEL_INT_H

#include "isa.h"
#include "kernel.h"

/* Bodies that are included once for each element type, index type or instruction set name their functions with a suffix
 * for each: NAME(f) is f, or the body's prefix and f, with SUFFIX or IX (index type) and TX (element type), and ISA
 * where the body is compiled for several. The arguments are expanded before they are pasted. */
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

/* An element of 16 bytes, to be copied. */
typedef struct bytes16 {
  uint64_t at[2];
} bytes16;

/* The instruction sets compiled in: x86-64 has three, aarch64 one, other machines the portable one. With
 * DAMO_SCALAR_KERNELS the portable one is there everywhere (to test it). */
#if !defined(__x86_64__) && !defined(__aarch64__)
#define KERNEL_SCALAR_ONLY 1
#endif
#if defined(KERNEL_SCALAR_ONLY) || defined(DAMO_SCALAR_KERNELS)
#define KERNEL_HAS_SCALAR 1
#endif

/* ---- Reducers ---------------------------------------------------------------------------------------------------- */

#define REDUCE_BLOCK 512 /* elements folded in lanes before the pairwise tree begins */
#define REDUCE_STRIP 256 /* columns taken at once when many results are reduced side by side */

/* One associative operation on one element type. Lane l takes the elements l, l + lanes, … of a block; lanes are folded
 * by halves. block and rows apply the operation in the same order, so a result does not depend on the way taken. */
typedef struct reducer {
  size_t size;                                             /* bytes of an element, and of a result */
  int lanes;                                               /* a power of two */
  void (*block)(const void *x, int64_t n, void *out);      /* *out = the n >= 1 elements of a block folded */
  void (*rows)(void *acc, const void *row, int64_t width); /* acc[j] = op(acc[j], row[j]) */
} reducer;

/* Of one float or complex dtype: |x|² of n elements, real; and of a block, summed as the sum's reducer would. */
typedef struct square_reducer {
  cast_fn squares;
  void (*block)(const void *x, int64_t n, void *out);
  void (*pair)(const void *x, void *out); /* of two whole blocks, their results added; or NULL */
} square_reducer;

/* The position of the best element, kept while runs of elements go by. position: of the run's first element; at 0 a new
 * search begins. */
typedef struct arg_reducer {
  /* *best and *at (the position) updated with the n elements of x, which follow those seen before. */
  void (*run)(const void *x, int64_t n, int64_t position, void *best, int64_t *at);
  /* The same for `width` results side by side, one row. */
  void (*rows)(const void *row, int64_t width, int64_t position, void *best, int64_t *at);
} arg_reducer;

/* By dtype. Size and lanes of a reducer are the same for each instruction set: they fix the result's bits. */
typedef struct reduce_fns {
  const reducer *sum, *prod; /* uint64 also serves int64 */
  const reducer *max, *min;
  const square_reducer *squares;
  const arg_reducer *argmax, *argmin;
} reduce_fns;

extern const square_reducer reduce_squares_base[DAMO_N_DTYPES];
extern const reduce_fns reduce_fns_base;

#endif

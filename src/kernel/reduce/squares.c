/* squares: sums of |x|² in one pass: the operations and order of the sum's reducers, on squares computed on the fly. */
#include "kernel/kernel_int.h"

#define NAME(name) PASTE2(reduce_##name, SUFFIX)

#define T float
#define X float
#define SUFFIX sqr_f32
#define LANES 16
static inline T reduce_at_term_sqr_f32(X x) { return x * x; }
static inline T reduce_at_op_sqr_f32(T a, T b) { return a + b; }
static void reduce_squares_f32(const void *src, void *dst, int64_t n) {
  const X *x = src;
  T *y = dst;
  for (int64_t i = 0; i < n; i++) y[i] = reduce_at_term_sqr_f32(x[i]);
}
#include "reduce_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T double
#define X double
#define SUFFIX sqr_f64
#define LANES 8
static inline T reduce_at_term_sqr_f64(X x) { return x * x; }
static inline T reduce_at_op_sqr_f64(T a, T b) { return a + b; }
static void reduce_squares_f64(const void *src, void *dst, int64_t n) {
  const X *x = src;
  T *y = dst;
  for (int64_t i = 0; i < n; i++) y[i] = reduce_at_term_sqr_f64(x[i]);
}
#include "reduce_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T float
#define X damo_c64
#define SUFFIX sqr_c64
#define LANES 16
static inline T reduce_at_term_sqr_c64(X x) { return x.re * x.re + x.im * x.im; }
static inline T reduce_at_op_sqr_c64(T a, T b) { return a + b; }
static void reduce_squares_c64(const void *src, void *dst, int64_t n) {
  const X *x = src;
  T *y = dst;
  for (int64_t i = 0; i < n; i++) y[i] = reduce_at_term_sqr_c64(x[i]);
}
#include "reduce_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T double
#define X damo_c128
#define SUFFIX sqr_c128
#define LANES 8
static inline T reduce_at_term_sqr_c128(X x) { return x.re * x.re + x.im * x.im; }
static inline T reduce_at_op_sqr_c128(T a, T b) { return a + b; }
static void reduce_squares_c128(const void *src, void *dst, int64_t n) {
  const X *x = src;
  T *y = dst;
  for (int64_t i = 0; i < n; i++) y[i] = reduce_at_term_sqr_c128(x[i]);
}
#include "reduce_body.h"
#undef T
#undef SUFFIX
#undef LANES

/* Sixteen lanes are four vectors. Those of two blocks alternate, to hide the latency of additions; the next two blocks
 * are prefetched, because hardware prefetchers stop at page boundaries. */
typedef float reduce_four_f32 __attribute__((vector_size(16), aligned(4), may_alias));

static void reduce_pair_sqr_f32(const void *blocks, void *out) {
  enum { STEPS = REDUCE_BLOCK / 16 };
  const reduce_four_f32 *x = blocks, *y = x + 4 * STEPS;
  reduce_four_f32 a = x[0] * x[0], b = x[1] * x[1], c = x[2] * x[2], d = x[3] * x[3];
  reduce_four_f32 p = y[0] * y[0], q = y[1] * y[1], r = y[2] * y[2], s = y[3] * y[3];
  for (int i = 1; i < STEPS; i++) {
    x += 4, y += 4;
    PREFETCH(x + 8 * STEPS);
    PREFETCH(y + 8 * STEPS);
    a += x[0] * x[0], b += x[1] * x[1], c += x[2] * x[2], d += x[3] * x[3];
    p += y[0] * y[0], q += y[1] * y[1], r += y[2] * y[2], s += y[3] * y[3];
  }
  const reduce_four_f32 first = (a + c) + (b + d), second = (p + r) + (q + s);
  *(float *)out = ((first[0] + first[2]) + (first[1] + first[3])) + ((second[0] + second[2]) + (second[1] + second[3]));
}

/* The same for eight lanes. */
typedef double reduce_four_f64 __attribute__((vector_size(16), aligned(8), may_alias));

static void reduce_pair_sqr_f64(const void *blocks, void *out) {
  enum { STEPS = REDUCE_BLOCK / 8 };
  const reduce_four_f64 *x = blocks, *y = x + 4 * STEPS;
  reduce_four_f64 a = x[0] * x[0], b = x[1] * x[1], c = x[2] * x[2], d = x[3] * x[3];
  reduce_four_f64 p = y[0] * y[0], q = y[1] * y[1], r = y[2] * y[2], s = y[3] * y[3];
  for (int i = 1; i < STEPS; i++) {
    x += 4, y += 4;
    PREFETCH(x + 8 * STEPS);
    PREFETCH(y + 8 * STEPS);
    a += x[0] * x[0], b += x[1] * x[1], c += x[2] * x[2], d += x[3] * x[3];
    p += y[0] * y[0], q += y[1] * y[1], r += y[2] * y[2], s += y[3] * y[3];
  }
  const reduce_four_f64 first = (a + c) + (b + d), second = (p + r) + (q + s);
  *(double *)out = (first[0] + first[1]) + (second[0] + second[1]);
}

const square_reducer reduce_squares_base[DAMO_N_DTYPES] = {
    [DAMO_FLOAT32] = {reduce_squares_f32, reduce_block_sqr_f32, reduce_pair_sqr_f32},
    [DAMO_FLOAT64] = {reduce_squares_f64, reduce_block_sqr_f64, reduce_pair_sqr_f64},
    [DAMO_COMPLEX64] = {reduce_squares_c64, reduce_block_sqr_c64, NULL},
    [DAMO_COMPLEX128] = {reduce_squares_c128, reduce_block_sqr_c128, NULL},
};

#undef NAME

/* squares: sums of |x|² in one pass: the operations and order of the sum's reducers, on squares computed on the fly. */
#include "kernel/kernel_int.h"

#define NAME(name) PASTE2(reduce_##name, SUFFIX)
#define VECTOR_BYTES 16

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
#include "square_pair_body.h"
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
#include "square_pair_body.h"
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

const square_reducer reduce_squares_base[DAMO_N_DTYPES] = {
    [DAMO_FLOAT32] = {reduce_squares_f32, reduce_block_sqr_f32, reduce_pair_sqr_f32, NULL},
    [DAMO_FLOAT64] = {reduce_squares_f64, reduce_block_sqr_f64, reduce_pair_sqr_f64, NULL},
    [DAMO_COMPLEX64] = {reduce_squares_c64, reduce_block_sqr_c64, NULL, NULL},
    [DAMO_COMPLEX128] = {reduce_squares_c128, reduce_block_sqr_c128, NULL, NULL},
};

#undef NAME
#undef VECTOR_BYTES

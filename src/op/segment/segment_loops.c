/* segment_loops: the loops of the segment family, by kind and dtype. */
#include "segment_int.h"
#include "op/complex_arith.h"

#include <math.h>
#include <string.h>

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)

#define SEGMENT_PLUS(a, b) ((a) + (b))
#define SEGMENT_TIMES(a, b) ((a) * (b))
#define SEGMENT_BELOW(a, b) ((a) < (b))
#define SEGMENT_NO_NAN(a) (false)
#define SEGMENT_UNORDERED(a) ((a) != (a))
#define SEGMENT_EITHER(which, a, b) ((which) ? (a) : (b))

#define SEGMENT_BLOCK 1024
#define SEGMENT_SAMPLES 64

/* Whether nearly all of n ids, of a whole block or less, are equal to the next one. */
static bool segment_has_runs(const int64_t *ids, int64_t n) {
  const int64_t step = n / SEGMENT_SAMPLES;
  int equal = 0;
  for (int k = 0; k < SEGMENT_SAMPLES && step > 1; k++) equal += ids[k * step] == ids[k * step + 1];
  return equal >= SEGMENT_SAMPLES - 2;
}

static inline float segment_pick_f32(bool which, float a, float b) {
  uint32_t p, q, mask = 0 - (uint32_t)which;
  memcpy(&p, &a, sizeof p);
  memcpy(&q, &b, sizeof q);
  p = (p & mask) | (q & ~mask);
  memcpy(&a, &p, sizeof a);
  return a;
}

static inline double segment_pick_f64(bool which, double a, double b) {
  uint64_t p, q, mask = 0 - (uint64_t)which;
  memcpy(&p, &a, sizeof p);
  memcpy(&q, &b, sizeof q);
  p = (p & mask) | (q & ~mask);
  memcpy(&a, &p, sizeof a);
  return a;
}

#define T int8_t
#define SUFFIX _i8
#define LESS SEGMENT_BELOW
#define IS_NAN SEGMENT_NO_NAN
#define PICK SEGMENT_EITHER
#include "segment_body.h"
#define T int16_t
#define SUFFIX _i16
#define LESS SEGMENT_BELOW
#define IS_NAN SEGMENT_NO_NAN
#define PICK SEGMENT_EITHER
#include "segment_body.h"
#define T int32_t
#define SUFFIX _i32
#define LESS SEGMENT_BELOW
#define IS_NAN SEGMENT_NO_NAN
#define PICK SEGMENT_EITHER
#include "segment_body.h"
#define T int64_t
#define SUFFIX _i64
#define LESS SEGMENT_BELOW
#define IS_NAN SEGMENT_NO_NAN
#define PICK SEGMENT_EITHER
#include "segment_body.h"
#define T uint8_t
#define SUFFIX _u8
#define LESS SEGMENT_BELOW
#define IS_NAN SEGMENT_NO_NAN
#define PICK SEGMENT_EITHER
#include "segment_body.h"
#define T uint16_t
#define SUFFIX _u16
#define LESS SEGMENT_BELOW
#define IS_NAN SEGMENT_NO_NAN
#define PICK SEGMENT_EITHER
#include "segment_body.h"
#define T uint32_t
#define SUFFIX _u32
#define LESS SEGMENT_BELOW
#define IS_NAN SEGMENT_NO_NAN
#define PICK SEGMENT_EITHER
#include "segment_body.h"
#define T uint64_t /* sums and products wrap, as those of int64 do */
#define SUFFIX _u64
#define ADD SEGMENT_PLUS
#define MUL SEGMENT_TIMES
#define LESS SEGMENT_BELOW
#define IS_NAN SEGMENT_NO_NAN
#define PICK SEGMENT_EITHER
#include "segment_body.h"
#define T float
#define SUFFIX _f32
#define ADD SEGMENT_PLUS
#define MUL SEGMENT_TIMES
#define LESS SEGMENT_BELOW
#define IS_NAN SEGMENT_UNORDERED
#define PICK segment_pick_f32
#include "segment_body.h"
#define T double
#define SUFFIX _f64
#define ADD SEGMENT_PLUS
#define MUL SEGMENT_TIMES
#define LESS SEGMENT_BELOW
#define IS_NAN SEGMENT_UNORDERED
#define PICK segment_pick_f64
#include "segment_body.h"

#define T damo_c64
#define SUFFIX _c64
#define ADD add_c64
#define MUL mul_c64
#include "segment_body.h"

#define T damo_c128
#define SUFFIX _c128
#define ADD add_c128
#define MUL mul_c128
#include "segment_body.h"

static const segment_fold_fn fold_table[SEGMENT_KINDS][DAMO_N_DTYPES] = {
    [SEGMENT_SUM] = {[DAMO_INT64] = segment_sum_u64,
                     [DAMO_UINT64] = segment_sum_u64,
                     [DAMO_FLOAT32] = segment_sum_f32,
                     [DAMO_FLOAT64] = segment_sum_f64,
                     [DAMO_COMPLEX64] = segment_sum_c64,
                     [DAMO_COMPLEX128] = segment_sum_c128},
    [SEGMENT_PROD] = {[DAMO_INT64] = segment_prod_u64,
                      [DAMO_UINT64] = segment_prod_u64,
                      [DAMO_FLOAT32] = segment_prod_f32,
                      [DAMO_FLOAT64] = segment_prod_f64,
                      [DAMO_COMPLEX64] = segment_prod_c64,
                      [DAMO_COMPLEX128] = segment_prod_c128},
#define SEGMENT_ORDERED(name)                                                                                    \
  {                                                                                                              \
    [DAMO_BOOL] = name##_u8, [DAMO_INT8] = name##_i8, [DAMO_INT16] = name##_i16, [DAMO_INT32] = name##_i32,      \
    [DAMO_INT64] = name##_i64, [DAMO_UINT8] = name##_u8, [DAMO_UINT16] = name##_u16, [DAMO_UINT32] = name##_u32, \
    [DAMO_UINT64] = name##_u64, [DAMO_FLOAT32] = name##_f32, [DAMO_FLOAT64] = name##_f64                         \
  }
    [SEGMENT_MAX] = SEGMENT_ORDERED(segment_max),
    [SEGMENT_MIN] = SEGMENT_ORDERED(segment_min),
#undef SEGMENT_ORDERED
};

segment_fold_fn segment_fold(segment_kind kind, damo_dtype dt) { return fold_table[kind][dt]; }

#define SEGMENT_PART (2 * SEGMENT_BLOCK) /* elements between two points */

int64_t segment_run(damo_ctx *ctx, segment_kind kind, damo_dtype dt, const int64_t *ids, int64_t n, const void *x,
                    int64_t width, void *out, int64_t n_out) {
  const segment_fold_fn fold = segment_fold(kind, dt);
  const int64_t pitch = width * (int64_t)dtype_size(dt), part = width > 1 ? SEGMENT_PART / width + 1 : SEGMENT_PART;
  for (int64_t i = 0; i < n; i += part) {
    const int64_t m = n - i < part ? n - i : part;
    const int64_t bad = fold(ids + i, m, (const char *)x + i * pitch, width, out, n_out);
    if (bad >= 0) return i + bad;
    if (i + m < n) ctx_point(ctx);
  }
  return -1;
}

/* The value of a dtype below (or above) which there is none. */
static scalar extreme_value(damo_dtype dt, bool least) {
  const int bits = 8 * (int)dtype_size(dt);
  if (dtype_is_float(dt)) return (scalar){.dtype = DAMO_FLOAT64, .v.f = least ? -INFINITY : INFINITY};
  if (dt == DAMO_BOOL) return (scalar){.dtype = DAMO_INT64, .v.i = !least};
  if (!dtype_is_signed(dt)) return (scalar){.dtype = DAMO_UINT64, .v.u = least ? 0 : UINT64_MAX >> (64 - bits)};
  const int64_t greatest = (int64_t)(UINT64_MAX >> (65 - bits));
  return (scalar){.dtype = DAMO_INT64, .v.i = least ? -greatest - 1 : greatest};
}

void segment_clear(damo_ctx *ctx, segment_kind kind, damo_dtype dt, void *out, int64_t n) {
  const size_t size = dtype_size(dt);
  const scalar one = {.dtype = DAMO_INT64, .v.i = 1};
  _Alignas(16) char first[16] = {0};
  if (kind == SEGMENT_SUM) {
    array_zero_bytes(ctx, out, (size_t)n * size);
    return;
  }
  const scalar s = kind == SEGMENT_PROD ? one : extreme_value(dt, kind == SEGMENT_MAX);
  if (s.dtype == DAMO_FLOAT64) {
    kernel_cast(DAMO_FLOAT64, dt)(&s.v.f, first, 1);
  } else if (s.dtype == DAMO_UINT64 && dt == DAMO_UINT64) {
    memcpy(first, &s.v.u, sizeof s.v.u);
  } else {
    kernel_cast(DAMO_INT64, dt)(&s.v.i, first, 1);
  }
  array_copy_box(ctx, first, (const int64_t[]){0}, out, NULL, 1, &n, size);
}

int64_t segment_count(damo_ctx *ctx, const int64_t *ids, int64_t n, int64_t *counts, int64_t n_out) {
  for (int64_t i = 0; i < n; i++) {
    if ((uint64_t)(ids[i] - 1) >= (uint64_t)n_out) return i;
    counts[ids[i] - 1]++;
    ctx_point_each(ctx, i, SEGMENT_PART);
  }
  return -1;
}

#undef PASTE
#undef PASTE_
#undef SEGMENT_PLUS
#undef SEGMENT_TIMES
#undef SEGMENT_BELOW
#undef SEGMENT_NO_NAN
#undef SEGMENT_UNORDERED
#undef SEGMENT_EITHER

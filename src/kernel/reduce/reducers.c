/* reducers: the tables of reducers: sum and product for the five accumulator types, maximum and minimum of all types,
 * with the position of either. Floats have 64 bytes of lanes, integers one lane (the order cannot matter, and the
 * compiler vectorises a plain loop). */
#include <string.h>

#include "kernel/kernel_int.h"

#define NAME(name) PASTE2(reduce_##name, SUFFIX)

/* ---- Sums and products ------------------------------------------------------------------------------------------- */

#define T uint64_t
#define SUFFIX sum_u64
#define LANES 1
static inline uint64_t reduce_at_op_sum_u64(uint64_t a, uint64_t b) { return a + b; }
#include "reduce_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T uint64_t
#define SUFFIX prod_u64
#define LANES 1
static inline uint64_t reduce_at_op_prod_u64(uint64_t a, uint64_t b) { return a * b; }
#include "reduce_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T float
#define SUFFIX sum_f32
#define LANES 16
static inline float reduce_at_op_sum_f32(float a, float b) { return a + b; }
#include "reduce_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T float
#define SUFFIX prod_f32
#define LANES 16
static inline float reduce_at_op_prod_f32(float a, float b) { return a * b; }
#include "reduce_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T double
#define SUFFIX sum_f64
#define LANES 8
static inline double reduce_at_op_sum_f64(double a, double b) { return a + b; }
#include "reduce_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T double
#define SUFFIX prod_f64
#define LANES 8
static inline double reduce_at_op_prod_f64(double a, double b) { return a * b; }
#include "reduce_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T damo_c64
#define SUFFIX sum_c64
#define LANES 8
static inline damo_c64 reduce_at_op_sum_c64(damo_c64 a, damo_c64 b) { return (damo_c64){a.re + b.re, a.im + b.im}; }
#include "reduce_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T damo_c64
#define SUFFIX prod_c64
#define LANES 8
static inline damo_c64 reduce_at_op_prod_c64(damo_c64 a, damo_c64 b) {
  return (damo_c64){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
#include "reduce_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T damo_c128
#define SUFFIX sum_c128
#define LANES 4
static inline damo_c128 reduce_at_op_sum_c128(damo_c128 a, damo_c128 b) {
  return (damo_c128){a.re + b.re, a.im + b.im};
}
#include "reduce_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T damo_c128
#define SUFFIX prod_c128
#define LANES 4
static inline damo_c128 reduce_at_op_prod_c128(damo_c128 a, damo_c128 b) {
  return (damo_c128){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
#include "reduce_body.h"
#undef T
#undef SUFFIX
#undef LANES

/* ---- Maxima and minima: nan wins --------------------------------------------------------------------------------- */

#define T int8_t
#define SUFFIX max_i8
#define LANES 1
static inline int8_t reduce_at_op_max_i8(int8_t a, int8_t b) { return a > b ? a : b; }
#include "reduce_body.h"
static inline bool reduce_at_beats_max_i8(int8_t a, int8_t b) { return a > b; }
static inline bool reduce_at_nan_max_i8(int8_t a) { return (void)a, false; }
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T int8_t
#define SUFFIX min_i8
#define LANES 1
static inline int8_t reduce_at_op_min_i8(int8_t a, int8_t b) { return a < b ? a : b; }
#include "reduce_body.h"
static inline bool reduce_at_beats_min_i8(int8_t a, int8_t b) { return a < b; }
static inline bool reduce_at_nan_min_i8(int8_t a) { return (void)a, false; }
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T int16_t
#define SUFFIX max_i16
#define LANES 1
static inline int16_t reduce_at_op_max_i16(int16_t a, int16_t b) { return a > b ? a : b; }
#include "reduce_body.h"
static inline bool reduce_at_beats_max_i16(int16_t a, int16_t b) { return a > b; }
static inline bool reduce_at_nan_max_i16(int16_t a) { return (void)a, false; }
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T int16_t
#define SUFFIX min_i16
#define LANES 1
static inline int16_t reduce_at_op_min_i16(int16_t a, int16_t b) { return a < b ? a : b; }
#include "reduce_body.h"
static inline bool reduce_at_beats_min_i16(int16_t a, int16_t b) { return a < b; }
static inline bool reduce_at_nan_min_i16(int16_t a) { return (void)a, false; }
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T int32_t
#define SUFFIX max_i32
#define LANES 1
static inline int32_t reduce_at_op_max_i32(int32_t a, int32_t b) { return a > b ? a : b; }
#include "reduce_body.h"
static inline bool reduce_at_beats_max_i32(int32_t a, int32_t b) { return a > b; }
static inline bool reduce_at_nan_max_i32(int32_t a) { return (void)a, false; }
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T int32_t
#define SUFFIX min_i32
#define LANES 1
static inline int32_t reduce_at_op_min_i32(int32_t a, int32_t b) { return a < b ? a : b; }
#include "reduce_body.h"
static inline bool reduce_at_beats_min_i32(int32_t a, int32_t b) { return a < b; }
static inline bool reduce_at_nan_min_i32(int32_t a) { return (void)a, false; }
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T int64_t
#define SUFFIX max_i64
#define LANES 1
static inline int64_t reduce_at_op_max_i64(int64_t a, int64_t b) { return a > b ? a : b; }
#include "reduce_body.h"
static inline bool reduce_at_beats_max_i64(int64_t a, int64_t b) { return a > b; }
static inline bool reduce_at_nan_max_i64(int64_t a) { return (void)a, false; }
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T int64_t
#define SUFFIX min_i64
#define LANES 1
static inline int64_t reduce_at_op_min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
#include "reduce_body.h"
static inline bool reduce_at_beats_min_i64(int64_t a, int64_t b) { return a < b; }
static inline bool reduce_at_nan_min_i64(int64_t a) { return (void)a, false; }
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T uint8_t
#define SUFFIX max_u8
#define LANES 1
static inline uint8_t reduce_at_op_max_u8(uint8_t a, uint8_t b) { return a > b ? a : b; }
#include "reduce_body.h"
static inline bool reduce_at_beats_max_u8(uint8_t a, uint8_t b) { return a > b; }
static inline bool reduce_at_nan_max_u8(uint8_t a) { return (void)a, false; }
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T uint8_t
#define SUFFIX min_u8
#define LANES 1
static inline uint8_t reduce_at_op_min_u8(uint8_t a, uint8_t b) { return a < b ? a : b; }
#include "reduce_body.h"
static inline bool reduce_at_beats_min_u8(uint8_t a, uint8_t b) { return a < b; }
static inline bool reduce_at_nan_min_u8(uint8_t a) { return (void)a, false; }
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T uint16_t
#define SUFFIX max_u16
#define LANES 1
static inline uint16_t reduce_at_op_max_u16(uint16_t a, uint16_t b) { return a > b ? a : b; }
#include "reduce_body.h"
static inline bool reduce_at_beats_max_u16(uint16_t a, uint16_t b) { return a > b; }
static inline bool reduce_at_nan_max_u16(uint16_t a) { return (void)a, false; }
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T uint16_t
#define SUFFIX min_u16
#define LANES 1
static inline uint16_t reduce_at_op_min_u16(uint16_t a, uint16_t b) { return a < b ? a : b; }
#include "reduce_body.h"
static inline bool reduce_at_beats_min_u16(uint16_t a, uint16_t b) { return a < b; }
static inline bool reduce_at_nan_min_u16(uint16_t a) { return (void)a, false; }
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T uint32_t
#define SUFFIX max_u32
#define LANES 1
static inline uint32_t reduce_at_op_max_u32(uint32_t a, uint32_t b) { return a > b ? a : b; }
#include "reduce_body.h"
static inline bool reduce_at_beats_max_u32(uint32_t a, uint32_t b) { return a > b; }
static inline bool reduce_at_nan_max_u32(uint32_t a) { return (void)a, false; }
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T uint32_t
#define SUFFIX min_u32
#define LANES 1
static inline uint32_t reduce_at_op_min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }
#include "reduce_body.h"
static inline bool reduce_at_beats_min_u32(uint32_t a, uint32_t b) { return a < b; }
static inline bool reduce_at_nan_min_u32(uint32_t a) { return (void)a, false; }
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T uint64_t
#define SUFFIX max_u64
#define LANES 1
static inline uint64_t reduce_at_op_max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }
#include "reduce_body.h"
static inline bool reduce_at_beats_max_u64(uint64_t a, uint64_t b) { return a > b; }
static inline bool reduce_at_nan_max_u64(uint64_t a) { return (void)a, false; }
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T uint64_t
#define SUFFIX min_u64
#define LANES 1
static inline uint64_t reduce_at_op_min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }
#include "reduce_body.h"
static inline bool reduce_at_beats_min_u64(uint64_t a, uint64_t b) { return a < b; }
static inline bool reduce_at_nan_min_u64(uint64_t a) { return (void)a, false; }
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T float
#define SUFFIX max_f32
#define LANES 16
static inline float reduce_at_op_max_f32(float a, float b) { return ((a > b) | (a != a)) ? a : b; }
#include "reduce_body.h"
static inline bool reduce_at_beats_max_f32(float a, float b) { return (a > b) | ((a != a) & (b == b)); }
static inline bool reduce_at_nan_max_f32(float a) { return a != a; }
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T float
#define SUFFIX min_f32
#define LANES 16
static inline float reduce_at_op_min_f32(float a, float b) { return ((a < b) | (a != a)) ? a : b; }
#include "reduce_body.h"
static inline bool reduce_at_beats_min_f32(float a, float b) { return (a < b) | ((a != a) & (b == b)); }
static inline bool reduce_at_nan_min_f32(float a) { return a != a; }
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T double
#define SUFFIX max_f64
#define LANES 8
static inline double reduce_at_op_max_f64(double a, double b) { return ((a > b) | (a != a)) ? a : b; }
#include "reduce_body.h"
static inline bool reduce_at_beats_max_f64(double a, double b) { return (a > b) | ((a != a) & (b == b)); }
static inline bool reduce_at_nan_max_f64(double a) { return a != a; }
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T double
#define SUFFIX min_f64
#define LANES 8
static inline double reduce_at_op_min_f64(double a, double b) { return ((a < b) | (a != a)) ? a : b; }
#include "reduce_body.h"
static inline bool reduce_at_beats_min_f64(double a, double b) { return (a < b) | ((a != a) & (b == b)); }
static inline bool reduce_at_nan_min_f64(double a) { return a != a; }
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

/* Complex numbers are ordered lexicographically, by real parts, then imaginary parts. */
static inline bool reduce_is_nan_c64(damo_c64 a) { return (a.re != a.re) | (a.im != a.im); }
static inline bool reduce_is_less_c64(damo_c64 a, damo_c64 b) {
  return ((a.re < b.re) & (a.im == a.im) & (b.im == b.im)) | ((a.re == b.re) & (a.im < b.im));
}

#define T damo_c64
#define SUFFIX max_c64
#define LANES 8
static inline damo_c64 reduce_at_op_max_c64(damo_c64 a, damo_c64 b) {
  return reduce_is_nan_c64(a) ? a : reduce_is_less_c64(a, b) || reduce_is_nan_c64(b) ? b : a;
}
#include "reduce_body.h"
static inline bool reduce_at_beats_max_c64(damo_c64 a, damo_c64 b) {
  return reduce_is_less_c64(b, a) || (reduce_is_nan_c64(a) && !reduce_is_nan_c64(b));
}
static inline bool reduce_at_nan_max_c64(damo_c64 a) { return reduce_is_nan_c64(a); }
#define SAME(a, b) (((a).re == (b).re) & ((a).im == (b).im))
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T damo_c64
#define SUFFIX min_c64
#define LANES 8
static inline damo_c64 reduce_at_op_min_c64(damo_c64 a, damo_c64 b) {
  return reduce_is_nan_c64(a) ? a : reduce_is_less_c64(b, a) || reduce_is_nan_c64(b) ? b : a;
}
#include "reduce_body.h"
static inline bool reduce_at_beats_min_c64(damo_c64 a, damo_c64 b) {
  return reduce_is_less_c64(a, b) || (reduce_is_nan_c64(a) && !reduce_is_nan_c64(b));
}
static inline bool reduce_at_nan_min_c64(damo_c64 a) { return reduce_is_nan_c64(a); }
#define SAME(a, b) (((a).re == (b).re) & ((a).im == (b).im))
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

static inline bool reduce_is_nan_c128(damo_c128 a) { return (a.re != a.re) | (a.im != a.im); }
static inline bool reduce_is_less_c128(damo_c128 a, damo_c128 b) {
  return ((a.re < b.re) & (a.im == a.im) & (b.im == b.im)) | ((a.re == b.re) & (a.im < b.im));
}

#define T damo_c128
#define SUFFIX max_c128
#define LANES 4
static inline damo_c128 reduce_at_op_max_c128(damo_c128 a, damo_c128 b) {
  return reduce_is_nan_c128(a) ? a : reduce_is_less_c128(a, b) || reduce_is_nan_c128(b) ? b : a;
}
#include "reduce_body.h"
static inline bool reduce_at_beats_max_c128(damo_c128 a, damo_c128 b) {
  return reduce_is_less_c128(b, a) || (reduce_is_nan_c128(a) && !reduce_is_nan_c128(b));
}
static inline bool reduce_at_nan_max_c128(damo_c128 a) { return reduce_is_nan_c128(a); }
#define SAME(a, b) (((a).re == (b).re) & ((a).im == (b).im))
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T damo_c128
#define SUFFIX min_c128
#define LANES 4
static inline damo_c128 reduce_at_op_min_c128(damo_c128 a, damo_c128 b) {
  return reduce_is_nan_c128(a) ? a : reduce_is_less_c128(b, a) || reduce_is_nan_c128(b) ? b : a;
}
#include "reduce_body.h"
static inline bool reduce_at_beats_min_c128(damo_c128 a, damo_c128 b) {
  return reduce_is_less_c128(a, b) || (reduce_is_nan_c128(a) && !reduce_is_nan_c128(b));
}
static inline bool reduce_at_nan_min_c128(damo_c128 a) { return reduce_is_nan_c128(a); }
#define SAME(a, b) (((a).re == (b).re) & ((a).im == (b).im))
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

/* Members are copied, since a const object is no constant expression in C11. */
#define REDUCER(name, type, lanes) \
  { sizeof(type), lanes, reduce_block_##name, reduce_rows_##name }
#define ARITHMETIC(op)                                                                                      \
  {                                                                                                         \
    [DAMO_INT64] = REDUCER(op##_u64, uint64_t, 1), [DAMO_UINT64] = REDUCER(op##_u64, uint64_t, 1),          \
    [DAMO_FLOAT32] = REDUCER(op##_f32, float, 16), [DAMO_FLOAT64] = REDUCER(op##_f64, double, 8),           \
    [DAMO_COMPLEX64] = REDUCER(op##_c64, damo_c64, 8), [DAMO_COMPLEX128] = REDUCER(op##_c128, damo_c128, 4) \
  }
#define ORDER(op)                                                                                     \
  {                                                                                                   \
    [DAMO_BOOL] = REDUCER(op##_u8, uint8_t, 1), [DAMO_INT8] = REDUCER(op##_i8, int8_t, 1),            \
    [DAMO_INT16] = REDUCER(op##_i16, int16_t, 1), [DAMO_INT32] = REDUCER(op##_i32, int32_t, 1),       \
    [DAMO_INT64] = REDUCER(op##_i64, int64_t, 1), [DAMO_UINT8] = REDUCER(op##_u8, uint8_t, 1),        \
    [DAMO_UINT16] = REDUCER(op##_u16, uint16_t, 1), [DAMO_UINT32] = REDUCER(op##_u32, uint32_t, 1),   \
    [DAMO_UINT64] = REDUCER(op##_u64, uint64_t, 1), [DAMO_FLOAT32] = REDUCER(op##_f32, float, 16),    \
    [DAMO_FLOAT64] = REDUCER(op##_f64, double, 8), [DAMO_COMPLEX64] = REDUCER(op##_c64, damo_c64, 8), \
    [DAMO_COMPLEX128] = REDUCER(op##_c128, damo_c128, 4)                                              \
  }
#define ARG(name) \
  { reduce_arg_run_##name, reduce_arg_rows_##name }
#define POSITION(op)                                                                                  \
  {                                                                                                   \
    [DAMO_BOOL] = ARG(op##_u8), [DAMO_INT8] = ARG(op##_i8), [DAMO_INT16] = ARG(op##_i16),             \
    [DAMO_INT32] = ARG(op##_i32), [DAMO_INT64] = ARG(op##_i64), [DAMO_UINT8] = ARG(op##_u8),          \
    [DAMO_UINT16] = ARG(op##_u16), [DAMO_UINT32] = ARG(op##_u32), [DAMO_UINT64] = ARG(op##_u64),      \
    [DAMO_FLOAT32] = ARG(op##_f32), [DAMO_FLOAT64] = ARG(op##_f64), [DAMO_COMPLEX64] = ARG(op##_c64), \
    [DAMO_COMPLEX128] = ARG(op##_c128)                                                                \
  }

static const reducer reduce_sum_base[DAMO_N_DTYPES] = ARITHMETIC(sum);
static const reducer reduce_prod_base[DAMO_N_DTYPES] = ARITHMETIC(prod);
static const reducer reduce_max_base[DAMO_N_DTYPES] = ORDER(max);
static const reducer reduce_min_base[DAMO_N_DTYPES] = ORDER(min);
static const arg_reducer reduce_argmax_base[DAMO_N_DTYPES] = POSITION(max);
static const arg_reducer reduce_argmin_base[DAMO_N_DTYPES] = POSITION(min);

const reduce_fns reduce_fns_base = {.sum = reduce_sum_base,
                                    .prod = reduce_prod_base,
                                    .max = reduce_max_base,
                                    .min = reduce_min_base,
                                    .squares = reduce_squares_base,
                                    .argmax = reduce_argmax_base,
                                    .argmin = reduce_argmin_base};

#undef NAME
#undef REDUCER
#undef ARITHMETIC
#undef ORDER
#undef ARG
#undef POSITION

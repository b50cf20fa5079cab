/* reducers_body: the tables of reducers: sum and product for the five accumulator types, maximum and minimum of all types,
 * with the position of either. Floats have 64 bytes of lanes, integers one lane (the order cannot matter, and the
 * compiler vectorises a plain loop). Included once for each instruction set, with ISA: the lanes, and so the bits of a
 * result, are the same for all. */
#include <string.h>

#include "kernel/kernel_int.h"

#define NAME(name) PASTE3(reduce_##name, SUFFIX, ISA)
#define REDUCE_IS_NAN_C64 PASTE2(reduce_is_nan_c64, ISA)
#define REDUCE_IS_LESS_C64 PASTE2(reduce_is_less_c64, ISA)
#define REDUCE_IS_NAN_C128 PASTE2(reduce_is_nan_c128, ISA)
#define REDUCE_IS_LESS_C128 PASTE2(reduce_is_less_c128, ISA)

/* The longest vectors of the instruction set, and how many chains of comparisons its registers hold. */
#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#define VECTOR_CHAINS 4
#elif defined(__AVX2__)
#define VECTOR_BYTES 32
#define VECTOR_CHAINS 4
#else
#define VECTOR_BYTES 16
#define VECTOR_CHAINS 2
#endif

/* ---- Sums and products ------------------------------------------------------------------------------------------- */

#define T uint64_t
#define SUFFIX sum_u64
#define LANES 1
static inline uint64_t NAME(at_op)(uint64_t a, uint64_t b) { return a + b; }
#include "reduce_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T uint64_t
#define SUFFIX prod_u64
#define LANES 1
static inline uint64_t NAME(at_op)(uint64_t a, uint64_t b) { return a * b; }
#include "reduce_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T float
#define SUFFIX sum_f32
#define LANES 16
static inline float NAME(at_op)(float a, float b) { return a + b; }
#define OPERATOR +
#include "reduce_body.h"
#undef OPERATOR
#undef T
#undef SUFFIX
#undef LANES

#define T float
#define SUFFIX prod_f32
#define LANES 16
static inline float NAME(at_op)(float a, float b) { return a * b; }
#define OPERATOR *
#include "reduce_body.h"
#undef OPERATOR
#undef T
#undef SUFFIX
#undef LANES

#define T double
#define SUFFIX sum_f64
#define LANES 8
static inline double NAME(at_op)(double a, double b) { return a + b; }
#define OPERATOR +
#include "reduce_body.h"
#undef OPERATOR
#undef T
#undef SUFFIX
#undef LANES

#define T double
#define SUFFIX prod_f64
#define LANES 8
static inline double NAME(at_op)(double a, double b) { return a * b; }
#define OPERATOR *
#include "reduce_body.h"
#undef OPERATOR
#undef T
#undef SUFFIX
#undef LANES

#define T damo_c64
#define SUFFIX sum_c64
#define LANES 8
static inline damo_c64 NAME(at_op)(damo_c64 a, damo_c64 b) { return (damo_c64){a.re + b.re, a.im + b.im}; }
#include "reduce_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T damo_c64
#define SUFFIX prod_c64
#define LANES 8
static inline damo_c64 NAME(at_op)(damo_c64 a, damo_c64 b) {
  return (damo_c64){KERNEL_LESS(a.re * b.re, a.im * b.im), a.re * b.im + a.im * b.re};
}
#include "reduce_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T damo_c128
#define SUFFIX sum_c128
#define LANES 4
static inline damo_c128 NAME(at_op)(damo_c128 a, damo_c128 b) { return (damo_c128){a.re + b.re, a.im + b.im}; }
#include "reduce_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T damo_c128
#define SUFFIX prod_c128
#define LANES 4
static inline damo_c128 NAME(at_op)(damo_c128 a, damo_c128 b) {
  return (damo_c128){KERNEL_LESS(a.re * b.re, a.im * b.im), a.re * b.im + a.im * b.re};
}
#include "reduce_body.h"
#undef T
#undef SUFFIX
#undef LANES

/* ---- Maxima and minima: nan wins --------------------------------------------------------------------------------- */

#define T int8_t
#define SUFFIX max_i8
#define LANES 1
static inline int8_t NAME(at_op)(int8_t a, int8_t b) { return a > b ? a : b; }
#include "reduce_body.h"
static inline bool NAME(at_beats)(int8_t a, int8_t b) { return a > b; }
static inline bool NAME(at_nan)(int8_t a) { return (void)a, false; }
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T int8_t
#define SUFFIX min_i8
#define LANES 1
static inline int8_t NAME(at_op)(int8_t a, int8_t b) { return a < b ? a : b; }
#include "reduce_body.h"
static inline bool NAME(at_beats)(int8_t a, int8_t b) { return a < b; }
static inline bool NAME(at_nan)(int8_t a) { return (void)a, false; }
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T int16_t
#define SUFFIX max_i16
#define LANES 1
static inline int16_t NAME(at_op)(int16_t a, int16_t b) { return a > b ? a : b; }
#include "reduce_body.h"
static inline bool NAME(at_beats)(int16_t a, int16_t b) { return a > b; }
static inline bool NAME(at_nan)(int16_t a) { return (void)a, false; }
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T int16_t
#define SUFFIX min_i16
#define LANES 1
static inline int16_t NAME(at_op)(int16_t a, int16_t b) { return a < b ? a : b; }
#include "reduce_body.h"
static inline bool NAME(at_beats)(int16_t a, int16_t b) { return a < b; }
static inline bool NAME(at_nan)(int16_t a) { return (void)a, false; }
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T int32_t
#define SUFFIX max_i32
#define LANES 1
static inline int32_t NAME(at_op)(int32_t a, int32_t b) { return a > b ? a : b; }
#include "reduce_body.h"
static inline bool NAME(at_beats)(int32_t a, int32_t b) { return a > b; }
static inline bool NAME(at_nan)(int32_t a) { return (void)a, false; }
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T int32_t
#define SUFFIX min_i32
#define LANES 1
static inline int32_t NAME(at_op)(int32_t a, int32_t b) { return a < b ? a : b; }
#include "reduce_body.h"
static inline bool NAME(at_beats)(int32_t a, int32_t b) { return a < b; }
static inline bool NAME(at_nan)(int32_t a) { return (void)a, false; }
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T int64_t
#define SUFFIX max_i64
#define LANES 1
static inline int64_t NAME(at_op)(int64_t a, int64_t b) { return a > b ? a : b; }
#include "reduce_body.h"
static inline bool NAME(at_beats)(int64_t a, int64_t b) { return a > b; }
static inline bool NAME(at_nan)(int64_t a) { return (void)a, false; }
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T int64_t
#define SUFFIX min_i64
#define LANES 1
static inline int64_t NAME(at_op)(int64_t a, int64_t b) { return a < b ? a : b; }
#include "reduce_body.h"
static inline bool NAME(at_beats)(int64_t a, int64_t b) { return a < b; }
static inline bool NAME(at_nan)(int64_t a) { return (void)a, false; }
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T uint8_t
#define SUFFIX max_u8
#define LANES 1
static inline uint8_t NAME(at_op)(uint8_t a, uint8_t b) { return a > b ? a : b; }
#include "reduce_body.h"
static inline bool NAME(at_beats)(uint8_t a, uint8_t b) { return a > b; }
static inline bool NAME(at_nan)(uint8_t a) { return (void)a, false; }
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T uint8_t
#define SUFFIX min_u8
#define LANES 1
static inline uint8_t NAME(at_op)(uint8_t a, uint8_t b) { return a < b ? a : b; }
#include "reduce_body.h"
static inline bool NAME(at_beats)(uint8_t a, uint8_t b) { return a < b; }
static inline bool NAME(at_nan)(uint8_t a) { return (void)a, false; }
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T uint16_t
#define SUFFIX max_u16
#define LANES 1
static inline uint16_t NAME(at_op)(uint16_t a, uint16_t b) { return a > b ? a : b; }
#include "reduce_body.h"
static inline bool NAME(at_beats)(uint16_t a, uint16_t b) { return a > b; }
static inline bool NAME(at_nan)(uint16_t a) { return (void)a, false; }
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T uint16_t
#define SUFFIX min_u16
#define LANES 1
static inline uint16_t NAME(at_op)(uint16_t a, uint16_t b) { return a < b ? a : b; }
#include "reduce_body.h"
static inline bool NAME(at_beats)(uint16_t a, uint16_t b) { return a < b; }
static inline bool NAME(at_nan)(uint16_t a) { return (void)a, false; }
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T uint32_t
#define SUFFIX max_u32
#define LANES 1
static inline uint32_t NAME(at_op)(uint32_t a, uint32_t b) { return a > b ? a : b; }
#include "reduce_body.h"
static inline bool NAME(at_beats)(uint32_t a, uint32_t b) { return a > b; }
static inline bool NAME(at_nan)(uint32_t a) { return (void)a, false; }
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T uint32_t
#define SUFFIX min_u32
#define LANES 1
static inline uint32_t NAME(at_op)(uint32_t a, uint32_t b) { return a < b ? a : b; }
#include "reduce_body.h"
static inline bool NAME(at_beats)(uint32_t a, uint32_t b) { return a < b; }
static inline bool NAME(at_nan)(uint32_t a) { return (void)a, false; }
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T uint64_t
#define SUFFIX max_u64
#define LANES 1
static inline uint64_t NAME(at_op)(uint64_t a, uint64_t b) { return a > b ? a : b; }
#include "reduce_body.h"
static inline bool NAME(at_beats)(uint64_t a, uint64_t b) { return a > b; }
static inline bool NAME(at_nan)(uint64_t a) { return (void)a, false; }
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T uint64_t
#define SUFFIX min_u64
#define LANES 1
static inline uint64_t NAME(at_op)(uint64_t a, uint64_t b) { return a < b ? a : b; }
#include "reduce_body.h"
static inline bool NAME(at_beats)(uint64_t a, uint64_t b) { return a < b; }
static inline bool NAME(at_nan)(uint64_t a) { return (void)a, false; }
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T float
#define SUFFIX max_f32
#define LANES 16
static inline float NAME(at_op)(float a, float b) { return ((a > b) | (a != a)) ? a : b; }
#define BEATS >
#include "reduce_body.h"
#undef BEATS
static inline bool NAME(at_beats)(float a, float b) { return (a > b) | ((a != a) & (b == b)); }
static inline bool NAME(at_nan)(float a) { return a != a; }
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T float
#define SUFFIX min_f32
#define LANES 16
static inline float NAME(at_op)(float a, float b) { return ((a < b) | (a != a)) ? a : b; }
#define BEATS <
#include "reduce_body.h"
#undef BEATS
static inline bool NAME(at_beats)(float a, float b) { return (a < b) | ((a != a) & (b == b)); }
static inline bool NAME(at_nan)(float a) { return a != a; }
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T double
#define SUFFIX max_f64
#define LANES 8
static inline double NAME(at_op)(double a, double b) { return ((a > b) | (a != a)) ? a : b; }
#define BEATS >
#include "reduce_body.h"
#undef BEATS
static inline bool NAME(at_beats)(double a, double b) { return (a > b) | ((a != a) & (b == b)); }
static inline bool NAME(at_nan)(double a) { return a != a; }
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T double
#define SUFFIX min_f64
#define LANES 8
static inline double NAME(at_op)(double a, double b) { return ((a < b) | (a != a)) ? a : b; }
#define BEATS <
#include "reduce_body.h"
#undef BEATS
static inline bool NAME(at_beats)(double a, double b) { return (a < b) | ((a != a) & (b == b)); }
static inline bool NAME(at_nan)(double a) { return a != a; }
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

/* Complex numbers are ordered lexicographically, by real parts, then imaginary parts. */
static inline bool REDUCE_IS_NAN_C64(damo_c64 a) { return (a.re != a.re) | (a.im != a.im); }
static inline bool REDUCE_IS_LESS_C64(damo_c64 a, damo_c64 b) {
  return ((a.re < b.re) & (a.im == a.im) & (b.im == b.im)) | ((a.re == b.re) & (a.im < b.im));
}

#define T damo_c64
#define SUFFIX max_c64
#define LANES 8
static inline damo_c64 NAME(at_op)(damo_c64 a, damo_c64 b) {
  return REDUCE_IS_NAN_C64(a) ? a : REDUCE_IS_LESS_C64(a, b) || REDUCE_IS_NAN_C64(b) ? b : a;
}
#include "reduce_body.h"
static inline bool NAME(at_beats)(damo_c64 a, damo_c64 b) {
  return REDUCE_IS_LESS_C64(b, a) || (REDUCE_IS_NAN_C64(a) && !REDUCE_IS_NAN_C64(b));
}
static inline bool NAME(at_nan)(damo_c64 a) { return REDUCE_IS_NAN_C64(a); }
#define SAME(a, b) (((a).re == (b).re) & ((a).im == (b).im))
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T damo_c64
#define SUFFIX min_c64
#define LANES 8
static inline damo_c64 NAME(at_op)(damo_c64 a, damo_c64 b) {
  return REDUCE_IS_NAN_C64(a) ? a : REDUCE_IS_LESS_C64(b, a) || REDUCE_IS_NAN_C64(b) ? b : a;
}
#include "reduce_body.h"
static inline bool NAME(at_beats)(damo_c64 a, damo_c64 b) {
  return REDUCE_IS_LESS_C64(a, b) || (REDUCE_IS_NAN_C64(a) && !REDUCE_IS_NAN_C64(b));
}
static inline bool NAME(at_nan)(damo_c64 a) { return REDUCE_IS_NAN_C64(a); }
#define SAME(a, b) (((a).re == (b).re) & ((a).im == (b).im))
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

static inline bool REDUCE_IS_NAN_C128(damo_c128 a) { return (a.re != a.re) | (a.im != a.im); }
static inline bool REDUCE_IS_LESS_C128(damo_c128 a, damo_c128 b) {
  return ((a.re < b.re) & (a.im == a.im) & (b.im == b.im)) | ((a.re == b.re) & (a.im < b.im));
}

#define T damo_c128
#define SUFFIX max_c128
#define LANES 4
static inline damo_c128 NAME(at_op)(damo_c128 a, damo_c128 b) {
  return REDUCE_IS_NAN_C128(a) ? a : REDUCE_IS_LESS_C128(a, b) || REDUCE_IS_NAN_C128(b) ? b : a;
}
#include "reduce_body.h"
static inline bool NAME(at_beats)(damo_c128 a, damo_c128 b) {
  return REDUCE_IS_LESS_C128(b, a) || (REDUCE_IS_NAN_C128(a) && !REDUCE_IS_NAN_C128(b));
}
static inline bool NAME(at_nan)(damo_c128 a) { return REDUCE_IS_NAN_C128(a); }
#define SAME(a, b) (((a).re == (b).re) & ((a).im == (b).im))
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T damo_c128
#define SUFFIX min_c128
#define LANES 4
static inline damo_c128 NAME(at_op)(damo_c128 a, damo_c128 b) {
  return REDUCE_IS_NAN_C128(a) ? a : REDUCE_IS_LESS_C128(b, a) || REDUCE_IS_NAN_C128(b) ? b : a;
}
#include "reduce_body.h"
static inline bool NAME(at_beats)(damo_c128 a, damo_c128 b) {
  return REDUCE_IS_LESS_C128(a, b) || (REDUCE_IS_NAN_C128(a) && !REDUCE_IS_NAN_C128(b));
}
static inline bool NAME(at_nan)(damo_c128 a) { return REDUCE_IS_NAN_C128(a); }
#define SAME(a, b) (((a).re == (b).re) & ((a).im == (b).im))
#include "arg_body.h"
#undef T
#undef SUFFIX
#undef LANES

/* ---- Deviations -------------------------------------------------------------------------------------------------- */

#define T float
#define SUFFIX dev_f32
#define LANES 16
#include "deviation_body.h"
#undef T
#undef SUFFIX
#undef LANES

#define T double
#define SUFFIX dev_f64
#define LANES 8
#include "deviation_body.h"
#undef T
#undef SUFFIX
#undef LANES

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

/* Members are copied, since a const object is no constant expression in C11. */
#define REDUCER(name, type, lanes)                                                        \
  {                                                                                       \
    sizeof(type), lanes, PASTE3(reduce_block, name, ISA), PASTE3(reduce_rows, name, ISA), \
        PASTE3(reduce_lane, name, ISA), NULL, NULL, NULL                                  \
  }
#define PAIRED(name, type, lanes)                                                                            \
  {                                                                                                          \
    sizeof(type), lanes, PASTE3(reduce_block, name, ISA), PASTE3(reduce_rows, name, ISA),                    \
        PASTE3(reduce_lane, name, ISA), PASTE3(reduce_pair, name, ISA), PASTE3(reduce_quad, name, ISA), NULL \
  }
#define COLUMNED(name, type, lanes)                                                                     \
  {                                                                                                     \
    sizeof(type), lanes, PASTE3(reduce_block, name, ISA), PASTE3(reduce_rows, name, ISA),               \
        PASTE3(reduce_lane, name, ISA), PASTE3(reduce_pair, name, ISA), PASTE3(reduce_quad, name, ISA), \
        PASTE3(reduce_columns, name, ISA)                                                               \
  }
#define ARITHMETIC(op)                                                                                      \
  {                                                                                                         \
    [DAMO_INT64] = REDUCER(op##_u64, uint64_t, 1), [DAMO_UINT64] = REDUCER(op##_u64, uint64_t, 1),          \
    [DAMO_FLOAT32] = COLUMNED(op##_f32, float, 16), [DAMO_FLOAT64] = COLUMNED(op##_f64, double, 8),         \
    [DAMO_COMPLEX64] = REDUCER(op##_c64, damo_c64, 8), [DAMO_COMPLEX128] = REDUCER(op##_c128, damo_c128, 4) \
  }
#define ORDER(op)                                                                                    \
  {                                                                                                  \
    [DAMO_BOOL] = REDUCER(op##_u8, uint8_t, 1), [DAMO_INT8] = REDUCER(op##_i8, int8_t, 1),           \
    [DAMO_INT16] = REDUCER(op##_i16, int16_t, 1), [DAMO_INT32] = REDUCER(op##_i32, int32_t, 1),      \
    [DAMO_INT64] = REDUCER(op##_i64, int64_t, 1), [DAMO_UINT8] = REDUCER(op##_u8, uint8_t, 1),       \
    [DAMO_UINT16] = REDUCER(op##_u16, uint16_t, 1), [DAMO_UINT32] = REDUCER(op##_u32, uint32_t, 1),  \
    [DAMO_UINT64] = REDUCER(op##_u64, uint64_t, 1), [DAMO_FLOAT32] = PAIRED(op##_f32, float, 16),    \
    [DAMO_FLOAT64] = PAIRED(op##_f64, double, 8), [DAMO_COMPLEX64] = REDUCER(op##_c64, damo_c64, 8), \
    [DAMO_COMPLEX128] = REDUCER(op##_c128, damo_c128, 4)                                             \
  }
#define ARG(name) \
  { PASTE3(reduce_arg_run, name, ISA), PASTE3(reduce_arg_rows, name, ISA) }
#define POSITION(op)                                                                                  \
  {                                                                                                   \
    [DAMO_BOOL] = ARG(op##_u8), [DAMO_INT8] = ARG(op##_i8), [DAMO_INT16] = ARG(op##_i16),             \
    [DAMO_INT32] = ARG(op##_i32), [DAMO_INT64] = ARG(op##_i64), [DAMO_UINT8] = ARG(op##_u8),          \
    [DAMO_UINT16] = ARG(op##_u16), [DAMO_UINT32] = ARG(op##_u32), [DAMO_UINT64] = ARG(op##_u64),      \
    [DAMO_FLOAT32] = ARG(op##_f32), [DAMO_FLOAT64] = ARG(op##_f64), [DAMO_COMPLEX64] = ARG(op##_c64), \
    [DAMO_COMPLEX128] = ARG(op##_c128)                                                                \
  }

static const reducer PASTE2(reduce_sum, ISA)[DAMO_N_DTYPES] = ARITHMETIC(sum);
static const reducer PASTE2(reduce_prod, ISA)[DAMO_N_DTYPES] = ARITHMETIC(prod);
static const reducer PASTE2(reduce_max, ISA)[DAMO_N_DTYPES] = ORDER(max);
static const reducer PASTE2(reduce_min, ISA)[DAMO_N_DTYPES] = ORDER(min);
static const arg_reducer PASTE2(reduce_argmax, ISA)[DAMO_N_DTYPES] = POSITION(max);
static const arg_reducer PASTE2(reduce_argmin, ISA)[DAMO_N_DTYPES] = POSITION(min);
#define DEVIATIONS(name)                                                                               \
  {                                                                                                    \
    PASTE3(reduce_values, name, ISA), PASTE3(reduce_block, name, ISA), PASTE3(reduce_pair, name, ISA), \
        PASTE3(reduce_quad, name, ISA), PASTE3(reduce_lane, name, ISA)                                 \
  }
static const deviation_reducer PASTE2(reduce_deviations, ISA)[DAMO_N_DTYPES] = {
    [DAMO_FLOAT32] = DEVIATIONS(dev_f32), [DAMO_FLOAT64] = DEVIATIONS(dev_f64)};

const reduce_fns PASTE2(reduce_fns, ISA) = {.sum = PASTE2(reduce_sum, ISA),
                                            .prod = PASTE2(reduce_prod, ISA),
                                            .max = PASTE2(reduce_max, ISA),
                                            .min = PASTE2(reduce_min, ISA),
                                            .squares = reduce_squares_base,
                                            .argmax = PASTE2(reduce_argmax, ISA),
                                            .argmin = PASTE2(reduce_argmin, ISA),
                                            .deviations = PASTE2(reduce_deviations, ISA)};

#undef ISA
#undef REDUCE_IS_NAN_C64
#undef REDUCE_IS_LESS_C64
#undef REDUCE_IS_NAN_C128
#undef REDUCE_IS_LESS_C128
#undef NAME
#undef VECTOR_BYTES
#undef VECTOR_CHAINS
#undef REDUCER
#undef PAIRED
#undef COLUMNED
#undef ARITHMETIC
#undef ORDER
#undef ARG
#undef POSITION
#undef DEVIATIONS

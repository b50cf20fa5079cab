/* cast: contiguous conversion between all pairs of dtypes.
 *
 * Integers wrap into narrower integers. Floats truncate into integers, saturate at the border, and nan gives 0: C
 * leaves the last two undefined, and machines differ. Complex drops its imaginary part, but a bool is true when any
 * part is not 0. Bool is 0 or 1. */
#include <string.h>

#include "kernel_int.h"

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define NAME(name) PASTE(name, SUFFIX)

/* limit: the first float above the type's range; low: the last number below which the type begins. */
#define SATURATE(to, type, low, least, limit, most)              \
  static inline type saturate_##to(double x) {                   \
    if (x >= (limit)) return (most);                             \
    return x > (low) ? (type)x : x <= (low) ? (least) : (type)0; \
  }
SATURATE(i8, int8_t, -128.0, INT8_MIN, 128.0, INT8_MAX)
SATURATE(i16, int16_t, -32768.0, INT16_MIN, 32768.0, INT16_MAX)
SATURATE(i32, int32_t, -2147483648.0, INT32_MIN, 2147483648.0, INT32_MAX)
SATURATE(i64, int64_t, -0x1p63, INT64_MIN, 0x1p63, INT64_MAX)
SATURATE(u8, uint8_t, 0.0, 0, 256.0, UINT8_MAX)
SATURATE(u16, uint16_t, 0.0, 0, 65536.0, UINT16_MAX)
SATURATE(u32, uint32_t, 0.0, 0, 4294967296.0, UINT32_MAX)
SATURATE(u64, uint64_t, 0.0, 0, 0x1p64, UINT64_MAX)
#undef SATURATE

#define WRAP(to, x) (wrap_##to)(x)
typedef int8_t wrap_i8;
typedef int16_t wrap_i16;
typedef int32_t wrap_i32;
typedef int64_t wrap_i64;
typedef uint8_t wrap_u8;
typedef uint16_t wrap_u16;
typedef uint32_t wrap_u32;
typedef uint64_t wrap_u64;

#define CAST(to, type, value)                                                            \
  static void NAME(to##_from)(const void *restrict src, void *restrict dst, int64_t n) { \
    const FROM *s = src;                                                                 \
    type *d = dst;                                                                       \
    for (int64_t i = 0; i < n; i++) d[i] = value;                                        \
  }

/* What a source element is as a bool, a real number and an imaginary part. */
#define REAL_PARTS(suffix, from)                                   \
  static inline uint8_t at_bool##suffix(from x) { return x != 0; } \
  static inline from at_real##suffix(from x) { return x; }         \
  static inline float at_im##suffix(from x) { return (void)x, 0.0f; }
#define COMPLEX_PARTS(suffix, from, part)                                             \
  static inline uint8_t at_bool##suffix(from z) { return (z.re != 0) | (z.im != 0); } \
  static inline part at_real##suffix(from z) { return z.re; }                         \
  static inline part at_im##suffix(from z) { return z.im; }

REAL_PARTS(_i8, int8_t)
REAL_PARTS(_i16, int16_t)
REAL_PARTS(_i32, int32_t)
REAL_PARTS(_i64, int64_t)
REAL_PARTS(_u8, uint8_t)
REAL_PARTS(_u16, uint16_t)
REAL_PARTS(_u32, uint32_t)
REAL_PARTS(_u64, uint64_t)
REAL_PARTS(_f32, float)
REAL_PARTS(_f64, double)
COMPLEX_PARTS(_c64, damo_c64, float)
COMPLEX_PARTS(_c128, damo_c128, double)

#define FROM int8_t
#define SUFFIX _i8
#define INTEGER(to, x) WRAP(to, x)
#include "cast_body.h"
#define FROM int16_t
#define SUFFIX _i16
#define INTEGER(to, x) WRAP(to, x)
#include "cast_body.h"
#define FROM int32_t
#define SUFFIX _i32
#define INTEGER(to, x) WRAP(to, x)
#include "cast_body.h"
#define FROM int64_t
#define SUFFIX _i64
#define INTEGER(to, x) WRAP(to, x)
#include "cast_body.h"
#define FROM uint8_t
#define SUFFIX _u8
#define INTEGER(to, x) WRAP(to, x)
#include "cast_body.h"
#define FROM uint16_t
#define SUFFIX _u16
#define INTEGER(to, x) WRAP(to, x)
#include "cast_body.h"
#define FROM uint32_t
#define SUFFIX _u32
#define INTEGER(to, x) WRAP(to, x)
#include "cast_body.h"
#define FROM uint64_t
#define SUFFIX _u64
#define INTEGER(to, x) WRAP(to, x)
#include "cast_body.h"
#define FROM float
#define SUFFIX _f32
#define INTEGER(to, x) saturate_##to(x)
#include "cast_body.h"
#define FROM double
#define SUFFIX _f64
#define INTEGER(to, x) saturate_##to(x)
#include "cast_body.h"
#define FROM damo_c64
#define SUFFIX _c64
#define INTEGER(to, x) saturate_##to(x)
#include "cast_body.h"
#define FROM damo_c128
#define SUFFIX _c128
#define INTEGER(to, x) saturate_##to(x)
#include "cast_body.h"

/* Same size and kind: bytes. */
static void copy_1(const void *src, void *dst, int64_t n) { memcpy(dst, src, (size_t)n); }
static void copy_2(const void *src, void *dst, int64_t n) { memcpy(dst, src, (size_t)n * 2); }
static void copy_4(const void *src, void *dst, int64_t n) { memcpy(dst, src, (size_t)n * 4); }
static void copy_8(const void *src, void *dst, int64_t n) { memcpy(dst, src, (size_t)n * 8); }
static void copy_16(const void *src, void *dst, int64_t n) { memcpy(dst, src, (size_t)n * 16); }

/* A bool is an 8-bit unsigned integer that is 0 or 1. */
#define ROW(from)                                                                                             \
  {                                                                                                           \
    bool_from_##from, i8_from_##from, i16_from_##from, i32_from_##from, i64_from_##from, u8_from_##from,      \
        u16_from_##from, u32_from_##from, u64_from_##from, f32_from_##from, f64_from_##from, c64_from_##from, \
        c128_from_##from                                                                                      \
  }

static const cast_fn casts[DAMO_N_DTYPES][DAMO_N_DTYPES] = {ROW(u8),  ROW(i8),  ROW(i16), ROW(i32), ROW(i64),
                                                            ROW(u8),  ROW(u16), ROW(u32), ROW(u64), ROW(f32),
                                                            ROW(f64), ROW(c64), ROW(c128)};

static cast_fn copy_of_size(size_t size) {
  if (size == 1) return copy_1;
  if (size == 2) return copy_2;
  if (size == 4) return copy_4;
  return size == 8 ? copy_8 : copy_16;
}

cast_fn kernel_cast(damo_dtype from, damo_dtype to) {
  return from == to ? copy_of_size(dtype_size(from)) : casts[from][to];
}

/* cast: contiguous conversion between all pairs of dtypes.
 *
 * Integers wrap when they are converted to narrower integers. Floats truncate to integers, saturate at the bounds, and
 * nan gives 0: C leaves the last two undefined, and machines differ. Complex drops its imaginary part, but a bool is
 * true if either part is not 0. Bool is 0 or 1. */
#include <string.h>

#include "kernel_int.h"

#define NAME(name) PASTE2(name, SUFFIX)

/* limit: the smallest float above the type's range. low: any x > low below the limit truncates into the range; x <= low
 * gives `least`, nan gives 0. */
#define SATURATE(to, type, low, least, limit, most)              \
  static inline type cast_saturate_##to(double x) {              \
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

#define WRAP(to, x) (cast_wrap_##to)(x)
typedef int8_t cast_wrap_i8;
typedef int16_t cast_wrap_i16;
typedef int32_t cast_wrap_i32;
typedef int64_t cast_wrap_i64;
typedef uint8_t cast_wrap_u8;
typedef uint16_t cast_wrap_u16;
typedef uint32_t cast_wrap_u32;
typedef uint64_t cast_wrap_u64;

#define CAST(to, type, value)                                                                   \
  static void NAME(cast_##to##_from)(const void *restrict src, void *restrict dst, int64_t n) { \
    const FROM *s = src;                                                                        \
    type *d = dst;                                                                              \
    for (int64_t i = 0; i < n; i++) d[i] = value;                                               \
  }

/* A source element as a bool, as a real number, and its imaginary part. */
#define REAL_PARTS(suffix, from)                                         \
  static inline uint8_t cast_at_bool_##suffix(from x) { return x != 0; } \
  static inline from cast_at_real_##suffix(from x) { return x; }         \
  static inline float cast_at_im_##suffix(from x) { return (void)x, 0.0f; }
#define COMPLEX_PARTS(suffix, from, part)                                                   \
  static inline uint8_t cast_at_bool_##suffix(from z) { return (z.re != 0) | (z.im != 0); } \
  static inline part cast_at_real_##suffix(from z) { return z.re; }                         \
  static inline part cast_at_im_##suffix(from z) { return z.im; }

REAL_PARTS(i8, int8_t)
REAL_PARTS(i16, int16_t)
REAL_PARTS(i32, int32_t)
REAL_PARTS(i64, int64_t)
REAL_PARTS(u8, uint8_t)
REAL_PARTS(u16, uint16_t)
REAL_PARTS(u32, uint32_t)
REAL_PARTS(u64, uint64_t)
REAL_PARTS(f32, float)
REAL_PARTS(f64, double)
COMPLEX_PARTS(c64, damo_c64, float)
COMPLEX_PARTS(c128, damo_c128, double)

#define FROM int8_t
#define SUFFIX i8
#define INTEGER(to, x) WRAP(to, x)
#include "cast_body.h"
#define FROM int16_t
#define SUFFIX i16
#define INTEGER(to, x) WRAP(to, x)
#include "cast_body.h"
#define FROM int32_t
#define SUFFIX i32
#define INTEGER(to, x) WRAP(to, x)
#include "cast_body.h"
#define FROM int64_t
#define SUFFIX i64
#define INTEGER(to, x) WRAP(to, x)
#include "cast_body.h"
#define FROM uint8_t
#define SUFFIX u8
#define INTEGER(to, x) WRAP(to, x)
#include "cast_body.h"
#define FROM uint16_t
#define SUFFIX u16
#define INTEGER(to, x) WRAP(to, x)
#include "cast_body.h"
#define FROM uint32_t
#define SUFFIX u32
#define INTEGER(to, x) WRAP(to, x)
#include "cast_body.h"
#define FROM uint64_t
#define SUFFIX u64
#define INTEGER(to, x) WRAP(to, x)
#include "cast_body.h"
#define FROM float
#define SUFFIX f32
#define INTEGER(to, x) cast_saturate_##to(x)
#include "cast_body.h"
#define FROM double
#define SUFFIX f64
#define INTEGER(to, x) cast_saturate_##to(x)
#include "cast_body.h"
#define FROM damo_c64
#define SUFFIX c64
#define INTEGER(to, x) cast_saturate_##to(x)
#include "cast_body.h"
#define FROM damo_c128
#define SUFFIX c128
#define INTEGER(to, x) cast_saturate_##to(x)
#include "cast_body.h"

/* The same dtype: a copy of the bytes. */
static void cast_copy_1(const void *src, void *dst, int64_t n) { memcpy(dst, src, (size_t)n); }
static void cast_copy_2(const void *src, void *dst, int64_t n) { memcpy(dst, src, (size_t)n * 2); }
static void cast_copy_4(const void *src, void *dst, int64_t n) { memcpy(dst, src, (size_t)n * 4); }
static void cast_copy_8(const void *src, void *dst, int64_t n) { memcpy(dst, src, (size_t)n * 8); }
static void cast_copy_16(const void *src, void *dst, int64_t n) { memcpy(dst, src, (size_t)n * 16); }

/* A bool is an 8-bit unsigned integer that is 0 or 1. */
#define CASTS_OF(from)                                                                                               \
  {                                                                                                                  \
    cast_bool_from_##from, cast_i8_from_##from, cast_i16_from_##from, cast_i32_from_##from, cast_i64_from_##from,    \
        cast_u8_from_##from, cast_u16_from_##from, cast_u32_from_##from, cast_u64_from_##from, cast_f32_from_##from, \
        cast_f64_from_##from, cast_c64_from_##from, cast_c128_from_##from                                            \
  }

static const cast_fn cast_table[DAMO_N_DTYPES][DAMO_N_DTYPES] = {
    CASTS_OF(u8),  CASTS_OF(i8),  CASTS_OF(i16), CASTS_OF(i32), CASTS_OF(i64), CASTS_OF(u8),  CASTS_OF(u16),
    CASTS_OF(u32), CASTS_OF(u64), CASTS_OF(f32), CASTS_OF(f64), CASTS_OF(c64), CASTS_OF(c128)};

static cast_fn cast_copy_of_size(size_t size) {
  if (size == 1) return cast_copy_1;
  if (size == 2) return cast_copy_2;
  if (size == 4) return cast_copy_4;
  return size == 8 ? cast_copy_8 : cast_copy_16;
}

cast_fn kernel_cast(damo_dtype from, damo_dtype to) {
  return from == to ? cast_copy_of_size(dtype_size(from)) : cast_table[from][to];
}

#undef NAME
#undef WRAP
#undef CAST
#undef REAL_PARTS
#undef COMPLEX_PARTS
#undef CASTS_OF

/* arith: addition, subtraction, multiplication, zero tests and order of every element type, under one naming scheme,
 * for the sparse bodies. Integers wrap; on bool, + is or, - is xor, * is and; complex products are the textbook
 * formula. larger and smaller are nan if one operand is; nan is unequal to everything. */
#ifndef DAMO_KERNEL_SPARSE_ARITH_H
#define DAMO_KERNEL_SPARSE_ARITH_H

#include <string.h>

#include "kernel/kernel_int.h"

#define PLAIN(name, type, via)                                                            \
  static inline type arith_add_##name(type a, type b) { return (type)((via)a + (via)b); } \
  static inline type arith_sub_##name(type a, type b) { return (type)((via)a - (via)b); } \
  static inline type arith_mul_##name(type a, type b) { return (type)((via)a * (via)b); } \
  static inline bool arith_zero_##name(type a) { return a == 0; }
PLAIN(i8, int8_t, uint32_t)
PLAIN(i16, int16_t, uint32_t)
PLAIN(i32, int32_t, uint32_t)
PLAIN(i64, int64_t, uint64_t)
PLAIN(u8, uint8_t, uint32_t)
PLAIN(u16, uint16_t, uint32_t)
PLAIN(u32, uint32_t, uint32_t)
PLAIN(u64, uint64_t, uint64_t)
PLAIN(f32, float, float)
PLAIN(f64, double, double)
#undef PLAIN

static inline uint8_t arith_add_b8(uint8_t a, uint8_t b) { return a | b; }
static inline uint8_t arith_sub_b8(uint8_t a, uint8_t b) { return a ^ b; }
static inline uint8_t arith_mul_b8(uint8_t a, uint8_t b) { return a & b; }
static inline bool arith_zero_b8(uint8_t a) { return a == 0; }

#define ORDER(name, type)                                                   \
  static inline bool arith_differ_##name(type a, type b) { return a != b; } \
  static inline bool arith_less_##name(type a, type b) { return a < b; }    \
  static inline bool arith_not_above_##name(type a, type b) { return a <= b; }
#define ORDER_INT(name, type)                                                      \
  ORDER(name, type)                                                                \
  static inline type arith_larger_##name(type a, type b) { return a > b ? a : b; } \
  static inline type arith_smaller_##name(type a, type b) { return a < b ? a : b; }
/* Selects one of two by a bit mask: a branch on unordered data is mispredicted half the time. */
#define ORDER_FLOAT(name, type, word)                                                                            \
  ORDER(name, type)                                                                                              \
  static inline type arith_pick_##name(bool first, type a, type b) {                                             \
    const word mask = (word)0 - (word)first;                                                                     \
    word x, y;                                                                                                   \
    memcpy(&x, &a, sizeof x);                                                                                    \
    memcpy(&y, &b, sizeof y);                                                                                    \
    x = (x & mask) | (y & ~mask);                                                                                \
    memcpy(&a, &x, sizeof a);                                                                                    \
    return a;                                                                                                    \
  }                                                                                                              \
  static inline type arith_larger_##name(type a, type b) { return arith_pick_##name((a > b) | (a != a), a, b); } \
  static inline type arith_smaller_##name(type a, type b) { return arith_pick_##name((a < b) | (a != a), a, b); }
ORDER_INT(b8, uint8_t)
ORDER_INT(i8, int8_t)
ORDER_INT(i16, int16_t)
ORDER_INT(i32, int32_t)
ORDER_INT(i64, int64_t)
ORDER_INT(u8, uint8_t)
ORDER_INT(u16, uint16_t)
ORDER_INT(u32, uint32_t)
ORDER_INT(u64, uint64_t)
ORDER_FLOAT(f32, float, uint32_t)
ORDER_FLOAT(f64, double, uint64_t)
#undef ORDER_FLOAT
#undef ORDER_INT
#undef ORDER

#define COMPLEX(name, type)                                                                        \
  static inline type arith_add_##name(type a, type b) { return (type){a.re + b.re, a.im + b.im}; } \
  static inline type arith_sub_##name(type a, type b) { return (type){a.re - b.re, a.im - b.im}; } \
  static inline type arith_mul_##name(type a, type b) {                                            \
    return (type){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};                           \
  }                                                                                                \
  static inline bool arith_zero_##name(type a) { return (a.re == 0) & (a.im == 0); }
/* Complex numbers are ordered lexicographically, by real parts, then imaginary parts; false if one is nan. */
#define ORDER_COMPLEX(name, type)                                                                    \
  static inline bool arith_differ_##name(type a, type b) { return (a.re != b.re) | (a.im != b.im); } \
  static inline bool arith_less_##name(type a, type b) {                                             \
    return ((a.re < b.re) & (a.im == a.im) & (b.im == b.im)) | ((a.re == b.re) & (a.im < b.im));     \
  }                                                                                                  \
  static inline bool arith_not_above_##name(type a, type b) {                                        \
    return ((a.re < b.re) & (a.im == a.im) & (b.im == b.im)) | ((a.re == b.re) & (a.im <= b.im));    \
  }                                                                                                  \
  static inline type arith_larger_##name(type a, type b) {                                           \
    return arith_not_above_##name(b, a) || arith_differ_##name(a, a) ? a : b;                        \
  }                                                                                                  \
  static inline type arith_smaller_##name(type a, type b) {                                          \
    return arith_not_above_##name(a, b) || arith_differ_##name(a, a) ? a : b;                        \
  }
ORDER_COMPLEX(c64, damo_c64)
ORDER_COMPLEX(c128, damo_c128)
#undef ORDER_COMPLEX
COMPLEX(c64, damo_c64)
COMPLEX(c128, damo_c128)
#undef COMPLEX

/* lower_place: the first place in low … high of a sorted index vector whose index is not below `want`: bisection while
 * the interval is long, then a count without branches. */
#define LOWER(name, type)                                                                \
  static inline int64_t name(const type *idx, int64_t low, int64_t high, int64_t want) { \
    while (high - low > 16) {                                                            \
      const int64_t middle = low + (high - low) / 2;                                     \
      const bool below = idx[middle] < want;                                             \
      low = below ? middle + 1 : low;                                                    \
      high = below ? high : middle;                                                      \
    }                                                                                    \
    int64_t at = low;                                                                    \
    for (int64_t p = low; p < high; p++) at += idx[p] < want;                            \
    return at;                                                                           \
  }
LOWER(lower_place_narrow, int32_t)
LOWER(lower_place_wide, int64_t)
#undef LOWER
#define lower_place(idx, low, high, want) \
  _Generic((idx), const int32_t * : lower_place_narrow, const int64_t * : lower_place_wide)(idx, low, high, want)

#endif

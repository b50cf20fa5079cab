/* complex_arith: sums, products and quotients of complex numbers. */
#ifndef DAMO_OP_COMPLEX_ARITH_H
#define DAMO_OP_COMPLEX_ARITH_H

#include <math.h>

#include "base/base.h"

static inline damo_c64 add_c64(damo_c64 a, damo_c64 b) { return (damo_c64){a.re + b.re, a.im + b.im}; }
static inline damo_c64 mul_c64(damo_c64 a, damo_c64 b) {
  return (damo_c64){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
static inline damo_c128 add_c128(damo_c128 a, damo_c128 b) { return (damo_c128){a.re + b.re, a.im + b.im}; }
static inline damo_c128 mul_c128(damo_c128 a, damo_c128 b) {
  return (damo_c128){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* Divided by the modulus first, whose square might overflow. */
static inline damo_c128 div_c128(damo_c128 a, damo_c128 b) {
  const double size = hypot(b.re, b.im);
  const damo_c128 q = mul_c128(a, (damo_c128){b.re / size, -b.im / size});
  return (damo_c128){q.re / size, q.im / size};
}

#endif

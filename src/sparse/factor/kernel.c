/* kernel: loops over the stored matrix of a factor, for both index types, real and complex. */
#include "factor_int.h"

#define REAL_CONJ(a) (a)
#define REAL_MUL(a, b) ((a) * (b))

/* The inverse of the largest power of two that is at most `size`; 1 if that power is not a normal number. */
static inline double factor_inverse_power(double size) {
  union {
    double number;
    uint64_t bits;
  } u = {size};
  const int64_t exponent = (int64_t)(u.bits >> 52 & 0x7ff);
  if (exponent == 0) return 1;
  u.bits = (uint64_t)(exponent < 2046 ? 2046 - exponent : 1) << 52;
  return u.number;
}

#define T double
#define MUL REAL_MUL
#define CONJ REAL_CONJ
#define ABS1 fabs
#define SIZE(product, a, b) fabs(product)
#define MODULUS fabs
#define I int32_t
#define NAME(name) factor_##name##_dn
#include "kernel_body.h"
#undef I
#undef NAME
#define I int64_t
#define NAME(name) factor_##name##_dw
#include "kernel_body.h"
#undef I
#undef NAME
#undef T
#undef MUL
#undef CONJ
#undef ABS1
#undef SIZE
#undef MODULUS

#define T zdouble
#define MUL zmul
#define CONJ conj
#define ABS1 zabs1
#define SIZE(product, a, b) (zabs1(a) * zabs1(b))
#define MODULUS cabs
#define I int32_t
#define NAME(name) factor_##name##_zn
#include "kernel_body.h"
#undef I
#undef NAME
#define I int64_t
#define NAME(name) factor_##name##_zw
#include "kernel_body.h"
#undef I
#undef NAME
#undef T
#undef MUL
#undef CONJ
#undef ABS1
#undef SIZE
#undef MODULUS
#undef REAL_CONJ
#undef REAL_MUL

const factor_fns *factor_fns_of(const factor_matrix *m) {
  if (m->cplx) return m->wide ? &factor_fns_zw : &factor_fns_zn;
  return m->wide ? &factor_fns_dw : &factor_fns_dn;
}

/* loops: convolutions and polynomials, type by type. */
#include "loops.h"
#include "op/complex_arith.h"

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define CALCULUS_PLUS(a, b) ((a) + (b))
#define CALCULUS_TIMES(a, b) ((a) * (b))
#define CONVOLVE_BLOCK 1024 /* a block of the result stays in the L1 cache */
#define POLYVAL_BLOCK 1024

#define CALCULUS_ZERO 0
#define T uint64_t /* wraps, as int64 does too */
#define SUFFIX _u64
#define ADD CALCULUS_PLUS
#define MUL CALCULUS_TIMES
#include "calculus_body.h"
#define T float
#define SUFFIX _f32
#define ADD CALCULUS_PLUS
#define MUL CALCULUS_TIMES
#include "calculus_body.h"
#define T double
#define SUFFIX _f64
#define ADD CALCULUS_PLUS
#define MUL CALCULUS_TIMES
#include "calculus_body.h"
#undef CALCULUS_ZERO

#define CALCULUS_ZERO \
  { 0, 0 }
#define T damo_c64
#define SUFFIX _c64
#define ADD add_c64
#define MUL mul_c64
#include "calculus_body.h"

#define T damo_c128
#define SUFFIX _c128
#define ADD add_c128
#define MUL mul_c128
#include "calculus_body.h"
#undef CALCULUS_ZERO

#define CALCULUS_TABLE(name)                                                                                         \
  {                                                                                                                  \
    [DAMO_INT64] = name##_u64, [DAMO_UINT64] = name##_u64, [DAMO_FLOAT32] = name##_f32, [DAMO_FLOAT64] = name##_f64, \
    [DAMO_COMPLEX64] = name##_c64, [DAMO_COMPLEX128] = name##_c128                                                   \
  }

convolve_fn convolve_loop(damo_dtype dt) {
  static const convolve_fn table[DAMO_N_DTYPES] = CALCULUS_TABLE(convolve);
  return table[dt];
}

polyval_fn polyval_loop(damo_dtype dt) {
  static const polyval_fn table[DAMO_N_DTYPES] = CALCULUS_TABLE(polyval);
  return table[dt];
}

#undef PASTE
#undef PASTE_
#undef CALCULUS_PLUS
#undef CALCULUS_TIMES
#undef CALCULUS_TABLE
#undef CONVOLVE_BLOCK
#undef POLYVAL_BLOCK

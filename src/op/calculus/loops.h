/* loops: the loops of convolutions and polynomials by dtype. Included by loops.c, convolve.c and polyval.c. */
#ifndef DAMO_OP_CALCULUS_LOOPS_H
#define DAMO_OP_CALCULUS_LOOPS_H

#include "calculus_int.h"

typedef void (*convolve_fn)(const void *long_one, int64_t m, const void *short_one, int64_t n, int64_t start,
                            int64_t length, void *result);
typedef void (*polyval_fn)(const void *coefficients, int64_t n, const void *points, int64_t count, void *result);
/* NULL for dtypes other than int64, uint64, float32, float64, complex64, complex128. */
convolve_fn convolve_loop(damo_dtype dt);
polyval_fn polyval_loop(damo_dtype dt);

#endif

/* lapack_own: LU, Cholesky and QR by damo's own C, for builds without LAPACK (DAMO_BLAS=0). Private to src/op. */
#ifndef DAMO_OP_LINALG_LAPACK_OWN_H
#define DAMO_OP_LINALG_LAPACK_OWN_H

#include "lapack.h"

/* By dtype: float32, float64, complex64, complex128. Routines that are not here are NULL: the driver of core classes
 * refuses Ops that need them (core_class.needs_lapack). */
extern const lapack_table lapack_own[4];

#endif

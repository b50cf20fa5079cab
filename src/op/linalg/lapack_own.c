/* lapack_own: LU with partial pivoting, Cholesky, QR by Householder reflections, and triangular systems.
 *
 * The arguments are LAPACK's. Factorizations are recursive by halves, or by blocks of columns, so that most of the work
 * is products of matrices (kernel/blas). Inside, a matrix is its first entry with a stride of rows and one of columns:
 * the transpose is the same matrix with the strides exchanged, and what is upper becomes lower.
 */
#include "lapack_own.h"

#if !DAMO_BLAS
#include "kernel/blas/blas.h"

#include <complex.h>
#include <math.h>
#include <string.h>

#undef complex /* a scalar op has that name; the type is written _Complex */

#define OWN_SMALL 16 /* orders up to which loops take no longer than products of blocks */
#define OWN_BLOCK 32 /* columns of a block of reflections, or of an inverse */

#define OWN_NAME_(f, prefix) own_##f##_##prefix
#define OWN_NAME(f, prefix) OWN_NAME_(f, prefix)

/* Columns at a time such that `rows` entries each fit a workspace whose length is a lapack_int. */
static lapack_int own_block(int64_t rows, lapack_int most) {
  const lapack_int n = most < OWN_BLOCK ? most : OWN_BLOCK;
  return n < 1 || rows * n > INT32_MAX ? 1 : n;
}

#define T float
#define R float
#define PREFIX s
#define DTYPE DAMO_FLOAT32
#define PARTS 1
#include "lapack_own_body.h"

#define T double
#define R double
#define PREFIX d
#define DTYPE DAMO_FLOAT64
#define PARTS 1
#include "lapack_own_body.h"

#define T float _Complex
#define R float
#define PREFIX c
#define DTYPE DAMO_COMPLEX64
#define PARTS 2
#include "lapack_own_body.h"

#define T double _Complex
#define R double
#define PREFIX z
#define DTYPE DAMO_COMPLEX128
#define PARTS 2
#include "lapack_own_body.h"

#define OWN_TABLE(p, type)                                                                                         \
  {                                                                                                                \
    .dtype = type, .getrf = own_getrf_##p, .getrs = own_getrs_##p, .getri = own_getri_##p, .potrf = own_potrf_##p, \
    .potrs = own_potrs_##p, .geqrf = own_geqrf_##p, .orgqr = own_orgqr_##p, .gemm = own_gemm_##p,                  \
    .trsm = own_trsm_##p, .trsv = own_trsv_##p                                                                     \
  }
const lapack_table lapack_own[4] = {OWN_TABLE(s, DAMO_FLOAT32), OWN_TABLE(d, DAMO_FLOAT64),
                                    OWN_TABLE(c, DAMO_COMPLEX64), OWN_TABLE(z, DAMO_COMPLEX128)};
#else
typedef int lapack_own_is_for_builds_without_lapack;
#endif

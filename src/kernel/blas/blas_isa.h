/* blas_isa: the products of all dtypes for one instruction set. Included with ISA and ISA_VECTOR (bytes), which are
 * undefined at the end. */
#define NAME(f) PASTE4(blas, f, f32, ISA)
#define T float
#define PARTS 1
#define VECTOR ISA_VECTOR
#include "blas_body.h"

#define NAME(f) PASTE4(blas, f, f64, ISA)
#define T double
#define PARTS 1
#define VECTOR ISA_VECTOR
#include "blas_body.h"

#define NAME(f) PASTE4(blas, f, c64, ISA)
#define T float
#define PARTS 2
#define VECTOR ISA_VECTOR
#include "blas_body.h"

#define NAME(f) PASTE4(blas, f, c128, ISA)
#define T double
#define PARTS 2
#define VECTOR ISA_VECTOR
#include "blas_body.h"

const blas_fns PASTE2(blas, ISA) = {.gemm = {[DAMO_FLOAT32] = PASTE4(blas, gemm, f32, ISA),
                                             [DAMO_FLOAT64] = PASTE4(blas, gemm, f64, ISA),
                                             [DAMO_COMPLEX64] = PASTE4(blas, gemm, c64, ISA),
                                             [DAMO_COMPLEX128] = PASTE4(blas, gemm, c128, ISA)}};
#undef ISA
#undef ISA_VECTOR

/* blas: products of matrices by damo's own C, with the same bits on every machine.
 *
 * In: matrices of a float or complex dtype as data with strides in elements. Out: c = alpha · a · b + beta · c. Always
 * holds: an entry of a · b is summed over k in the order of k in blocks of BLAS_DEPTH products, each block from 0, and
 * the blocks, times alpha, are added to beta · c in their order. No product and sum is fused to one operation, so an entry does
 * not depend on the instruction set, on where it lies in the result, or on how the result is divided among threads: a
 * dot product is a product of a row by a column.
 */
#ifndef DAMO_KERNEL_BLAS_BLAS_H
#define DAMO_KERNEL_BLAS_BLAS_H

#include "kernel/isa.h"

#define BLAS_DEPTH 64

/* a is m × k, b k × n, c m × n. c overlaps neither a nor b. With beta 0 c is not read; with alpha 0, or k 0, a and b are
 * not. conj_a, conj_b: the complex conjugate of a, of b. */
typedef struct blas_gemm {
  int64_t m, n, k;
  const void *a, *b;
  void *c;
  int64_t a_row, a_col, b_row, b_col, c_row, c_col;
  bool conj_a, conj_b;
  damo_c128 alpha, beta;
} blas_gemm;

struct blas_fns {
  void (*gemm[DAMO_N_DTYPES])(const blas_gemm *g); /* NULL: no float or complex dtype */
};

extern const blas_fns blas_base;
#if defined(__x86_64__)
extern const blas_fns blas_avx2, blas_avx512;
#endif

#endif

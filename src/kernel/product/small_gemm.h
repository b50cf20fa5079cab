/* small_gemm: products of matrices that have a short dimension, by kernels that do not pack their operands.
 *
 * BLAS packs both operands into panels before it multiplies. Where a dimension is short, packing takes as long as the
 * product. Here b is read where it lies, a vector of a row at a time, and entries of a are broadcast.
 */
#ifndef DAMO_KERNEL_SMALL_GEMM_H
#define DAMO_KERNEL_SMALL_GEMM_H

#include "kernel/isa.h"

/* Entries of an operand that stay in the caches. */
#define SMALL_GEMM_L1 1024
#define SMALL_GEMM_L2 65536

extern const small_gemm_fns small_gemm_base; /* defines none */
#if defined(__x86_64__)
extern const small_gemm_fns small_gemm_avx2, small_gemm_avx512;
#endif

#endif

/* value: the tables that the files of the value loops make, by index type and instruction set. */
#ifndef DAMO_KERNEL_SPARSE_VALUE_H
#define DAMO_KERNEL_SPARSE_VALUE_H

#include "kernel_sparse.h"

extern const sparse_value_fns *const sparse_value_narrow[DAMO_N_DTYPES];
extern const sparse_value_fns *const sparse_value_wide[DAMO_N_DTYPES];

/* [wide][float32, float64, complex64, complex128] */
typedef sparse_dense_fns sparse_dense_table[2][4];
extern const sparse_dense_table sparse_dense_base;
#if defined(__x86_64__)
extern const sparse_dense_table sparse_dense_avx2;
extern const sparse_dense_table sparse_dense_avx512;
#endif

#endif

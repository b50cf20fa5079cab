/* sparse_tables: the tables of the sparse kernels, for isa.c: for int32 (narrow) and int64 (wide) indices, by dtype.
 * base is compiled for every machine, in vectors of 16 bytes if it has any. */
#ifndef DAMO_KERNEL_SPARSE_SPARSE_TABLES_H
#define DAMO_KERNEL_SPARSE_SPARSE_TABLES_H

#include "kernel/kernel_int.h"
#include "kernel_sparse.h"

extern const sparse_index_fns sparse_index_narrow, sparse_index_wide;
extern const sparse_flag_fns sparse_flags_narrow, sparse_flags_wide;
extern const sparse_move_fns *const sparse_move_narrow[DAMO_N_DTYPES], *const sparse_move_wide[DAMO_N_DTYPES];
extern const sparse_part_fns *const sparse_part_narrow[DAMO_N_DTYPES], *const sparse_part_wide[DAMO_N_DTYPES];
extern const sparse_value_fns *const sparse_value_narrow[DAMO_N_DTYPES], *const sparse_value_wide[DAMO_N_DTYPES];

#define SPARSE_TABLES(isa)                                                           \
  extern const sparse_compact_fns *const sparse_compact_narrow_##isa[DAMO_N_DTYPES], \
      *const sparse_compact_wide_##isa[DAMO_N_DTYPES]
SPARSE_TABLES(base);
SPARSE_TABLES(avx2);
#undef SPARSE_TABLES
#define SPARSE_TABLES(isa) \
  extern const sparse_dense_fns sparse_dense_narrow_##isa[DAMO_N_DTYPES], sparse_dense_wide_##isa[DAMO_N_DTYPES]
SPARSE_TABLES(base);
SPARSE_TABLES(avx2);
SPARSE_TABLES(avx512);
#undef SPARSE_TABLES

/* A table of functions by each dtype's size: fns(s) is the address of those for `s` bytes. */
#define SPARSE_BY_SIZE(fns)                                                                                          \
  {                                                                                                                  \
    [DAMO_BOOL] = fns(1), [DAMO_INT8] = fns(1), [DAMO_INT16] = fns(2), [DAMO_INT32] = fns(4), [DAMO_INT64] = fns(8), \
    [DAMO_UINT8] = fns(1), [DAMO_UINT16] = fns(2), [DAMO_UINT32] = fns(4), [DAMO_UINT64] = fns(8),                   \
    [DAMO_FLOAT32] = fns(4), [DAMO_FLOAT64] = fns(8), [DAMO_COMPLEX64] = fns(8), [DAMO_COMPLEX128] = fns(16)         \
  }

#endif

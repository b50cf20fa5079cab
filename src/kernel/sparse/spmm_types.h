/* spmm_types: the products with dense blocks for both index types and all float and complex types, and their tables.
 * Included with ISA (the instruction set's name), BYTES, STREAMS, STREAM and STREAMED, which are undefined at the end.
 */
#define I int32_t
#define IX n
#include "spmm_values.h"
#undef I
#undef IX
#define I int64_t
#define IX w
#include "spmm_values.h"
#undef I
#undef IX

#define FN_OF(f, ix, tx) PASTE4(sp_dense_##f, ix, tx, ISA)
#define REAL_FNS(ix, tx) \
  { FN_OF(matmat, ix, tx), FN_OF(matmat_t, ix, tx), FN_OF(sample, ix, tx), FN_OF(both, ix, tx) }
#define COMPLEX_FNS(ix, tx) \
  { FN_OF(matmat, ix, tx), FN_OF(matmat_t, ix, tx), NULL, NULL }

#define FNS(ix)                                                                                                      \
  {                                                                                                                  \
    [DAMO_FLOAT32] = REAL_FNS(ix, f32), [DAMO_FLOAT64] = REAL_FNS(ix, f64), [DAMO_COMPLEX64] = COMPLEX_FNS(ix, c64), \
    [DAMO_COMPLEX128] = COMPLEX_FNS(ix, c128)                                                                        \
  }

const sparse_dense_fns PASTE2(sparse_dense_narrow, ISA)[DAMO_N_DTYPES] = FNS(n);
const sparse_dense_fns PASTE2(sparse_dense_wide, ISA)[DAMO_N_DTYPES] = FNS(w);

#undef FNS
#undef FN_OF
#undef REAL_FNS
#undef COMPLEX_FNS
#undef ISA
#undef BYTES
#undef STREAMS
#undef STREAM
#undef STREAMED

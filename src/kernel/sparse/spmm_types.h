/* spmm_types: the dense products for both index types and all float and complex types, and their table.
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

const sparse_dense_table PASTE2(sparse_dense, ISA) = {
    {REAL_FNS(n, f32), REAL_FNS(n, f64), COMPLEX_FNS(n, c64), COMPLEX_FNS(n, c128)},
    {REAL_FNS(w, f32), REAL_FNS(w, f64), COMPLEX_FNS(w, c64), COMPLEX_FNS(w, c128)}};

#undef FN_OF
#undef REAL_FNS
#undef COMPLEX_FNS
#undef ISA
#undef BYTES
#undef STREAMS
#undef STREAM
#undef STREAMED

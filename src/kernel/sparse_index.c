/* sparse_index: checks and counts of patterns, for both index types. */
#include "sparse_arith.h"

#define I int32_t
#define IX n
#include "sparse_index_body.h"
#undef I
#undef IX
#define I int64_t
#define IX w
#include "sparse_index_body.h"
#undef I
#undef IX

const sparse_index_fns *kernel_sparse_index(bool wide) { return wide ? &sp_index_fns_w : &sp_index_fns_n; }

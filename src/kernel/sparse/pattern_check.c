/* pattern_check: checks and counts of patterns, for both index types. */
#include "arith.h"

#define I int32_t
#define IX n
#include "pattern_check_body.h"
#undef I
#undef IX
#define I int64_t
#define IX w
#include "pattern_check_body.h"
#undef I
#undef IX

const sparse_index_fns *kernel_sparse_index(bool wide) { return wide ? &sp_index_fns_w : &sp_index_fns_n; }

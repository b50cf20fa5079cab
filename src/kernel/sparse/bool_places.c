/* bool_places: what comparisons need beside the elementwise kernels, for both index types. */
#include "arith.h"

#define I int32_t
#define IX n
#include "bool_places_body.h"
#undef I
#undef IX
#define I int64_t
#define IX w
#include "bool_places_body.h"
#undef I
#undef IX

const sparse_flag_fns *kernel_sparse_flags(bool wide) { return wide ? &sp_flags_fns_w : &sp_flags_fns_n; }

/* compact_tables: the compaction kernels for every index type and element size, and their tables. Included with ISA and
 * SIFT_OF, which are undefined at the end. */
#define SPARSE_BODY "compact_body.h"
#include "sizes.h"

#define FNS(size) &PASTE3(sp_compact_fns, n##size, ISA)
const sparse_compact_fns *const PASTE2(sparse_compact_narrow, ISA)[DAMO_N_DTYPES] = SPARSE_BY_SIZE(FNS);
#undef FNS
#define FNS(size) &PASTE3(sp_compact_fns, w##size, ISA)
const sparse_compact_fns *const PASTE2(sparse_compact_wide, ISA)[DAMO_N_DTYPES] = SPARSE_BY_SIZE(FNS);
#undef FNS

#undef ISA
#undef SIFT_OF

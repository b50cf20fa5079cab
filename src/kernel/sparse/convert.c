/* convert: format conversion, sorting, gathering and placing of entries, by index type and element size. */
#include <string.h>

#include "arith.h"
#include "sparse_tables.h"

#define LOOSE 4 /* entries behind a major vector that a copy by whole vectors may overwrite */

#define SPARSE_BODY "convert_body.h"
#include "sizes.h"

#define FNS(size) &sp_move_fns_n##size
const sparse_move_fns *const sparse_move_narrow[DAMO_N_DTYPES] = SPARSE_BY_SIZE(FNS);
#undef FNS
#define FNS(size) &sp_move_fns_w##size
const sparse_move_fns *const sparse_move_wide[DAMO_N_DTYPES] = SPARSE_BY_SIZE(FNS);
#undef FNS

#undef LOOSE

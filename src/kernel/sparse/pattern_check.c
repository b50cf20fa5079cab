/* pattern_check: validation and counts of patterns, for both index types. */
#include "arith.h"
#include "sparse_tables.h"

#define I int32_t
#define IX n
#define TABLE sparse_index_narrow
#include "pattern_check_body.h"
#undef I
#undef IX
#undef TABLE
#define I int64_t
#define IX w
#define TABLE sparse_index_wide
#include "pattern_check_body.h"
#undef I
#undef IX
#undef TABLE

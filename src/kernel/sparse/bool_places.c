/* bool_places: kernels that comparisons need besides the elementwise ones, for both index types. */
#include "arith.h"
#include "sparse_tables.h"

#define I int32_t
#define IX n
#define TABLE sparse_flags_narrow
#include "bool_places_body.h"
#undef I
#undef IX
#undef TABLE
#define I int64_t
#define IX w
#define TABLE sparse_flags_wide
#include "bool_places_body.h"
#undef I
#undef IX
#undef TABLE

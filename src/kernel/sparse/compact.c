/* compact: compaction and splitting, for any machine. */
#include <string.h>

#include "arith.h"
#include "sparse_tables.h"

#define ISA base
#define SIFT_OF(plain) (plain)
#include "compact_tables.h"

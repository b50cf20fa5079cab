/* spmm_values: the products with dense blocks of one index type, for all float and complex types. Included with I, IX
 * and the bodies' macros for an instruction set. */
#define T float
#define TX f32
#define C float
#define PAIRS 0
#define SINGLE 1
#include "spmm_body.h"
#include "sddmm_body.h"
#undef T
#undef TX
#undef C
#undef PAIRS
#undef SINGLE
#define T double
#define TX f64
#define C double
#define PAIRS 0
#define SINGLE 0
#include "spmm_body.h"
#include "sddmm_body.h"
#undef T
#undef TX
#undef C
#undef PAIRS
#undef SINGLE
#define T damo_c64
#define TX c64
#define C float
#define PAIRS 1
#define SINGLE 1
#include "spmm_body.h"
#undef T
#undef TX
#undef C
#undef PAIRS
#undef SINGLE
#define T damo_c128
#define TX c128
#define C double
#define PAIRS 1
#define SINGLE 0
#include "spmm_body.h"
#undef T
#undef TX
#undef C
#undef PAIRS
#undef SINGLE

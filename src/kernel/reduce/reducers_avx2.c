/* reducers_avx2: the reducers for x86-64 with AVX2. Compiled with the flags of elem/avx2.c. */
#if defined(__x86_64__)
#define ISA avx2
#include "reducers_body.h"
#else
typedef int reducers_avx2_is_for_other_machines;
#endif

/* reducers_avx512: the reducers for x86-64 with AVX-512. Compiled with the flags of elem/avx512.c. */
#if defined(__x86_64__)
#define ISA avx512
#include "reducers_body.h"
#else
typedef int reducers_avx512_is_for_other_machines;
#endif

/* blas_avx2: own products for x86-64 with AVX2. */
#include "blas.h"
#include "kernel/kernel_int.h"

#if defined(__x86_64__)
#define ISA avx2
#define ISA_VECTOR 32
#include "blas_isa.h"
#else
typedef int blas_avx2_is_for_other_machines;
#endif

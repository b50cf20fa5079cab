/* blas_avx512: own products for x86-64 with AVX-512. */
#include "blas.h"
#include "kernel/kernel_int.h"

#if defined(__x86_64__)
#define ISA avx512
#define ISA_VECTOR 64
#include "blas_isa.h"
#else
typedef int blas_avx512_is_for_other_machines;
#endif

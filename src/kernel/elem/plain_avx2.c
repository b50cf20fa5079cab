/* plain_avx2: the elementwise kernels with the same bits on every machine, for x86-64 with AVX2. Compiled with -mavx2. */
#include "kernel/kernel_int.h"

#if defined(KERNEL_HAS_AVX)
#include <immintrin.h>
#include <sleef.h>

#define ELEM_PLAIN
#define ISA avx2_plain
#define V_F32 __m256
#define V_F64 __m256d
#define W_F32 8
#define W_F64 4
#define VEC_F32(name, bound) Sleef_cinz_##name##f8_##bound##avx
#define VEC_F64(name, bound) Sleef_cinz_##name##d4_##bound##avx
#include "elem_body.h"
#else
typedef int elemwise_plain_avx2_is_for_other_machines;
#endif

/* avx2: the elementwise kernels for x86-64 with AVX2 and FMA. Compiled with -mavx2 -mfma. */
#include "kernel/kernel_int.h"

#if defined(KERNEL_HAS_AVX)
#include <immintrin.h>
#include <sleef.h>

#include "math_avx2.h"

#define ISA avx2
#define V_F32 __m256
#define V_F64 __m256d
#define W_F32 8
#define W_F64 4
#define VEC_F32(name, bound) Sleef_##name##f8_##bound##avx2
#define VEC_F64(name, bound) Sleef_##name##d4_##bound##avx2
#define VEC_OWN_F64(name) name##_avx2_f64
#include "elem_body.h"
#else
typedef int elemwise_avx2_is_for_other_machines;
#endif

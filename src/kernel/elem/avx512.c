/* avx512: the elementwise kernels for x86-64 with AVX-512 F, DQ, BW, VL. Compiled with -mavx512f -mavx512dq
 * -mavx512bw -mavx512vl -mavx2 -mfma. */
#include "kernel/kernel_int.h"

#if defined(KERNEL_HAS_AVX)
#include <immintrin.h>
#include <sleef.h>

#include "math_avx512.h"

#define ISA avx512
#define V_F32 __m512
#define V_F64 __m512d
#define W_F32 16
#define W_F64 8
#define VEC_F32(name, bound) Sleef_##name##f16_##bound##avx512f
#define VEC_F64(name, bound) Sleef_##name##d8_##bound##avx512f
#define VEC_OWN_F64(name) name##_avx512_f64
#include "elem_body.h"
#else
typedef int elemwise_avx512_is_for_other_machines;
#endif

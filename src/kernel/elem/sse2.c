/* sse2: the elementwise kernels for x86-64 with SSE2. Every x86-64 CPU runs them. */
#include "kernel/kernel_int.h"

#if defined(KERNEL_HAS_SSE2)
#include <immintrin.h>
#include <sleef.h>

#define ISA sse2
#define V_F32 __m128
#define V_F64 __m128d
#define W_F32 4
#define W_F64 2
#define VEC_F32(name, bound) Sleef_##name##f4_##bound##sse2
#define VEC_F64(name, bound) Sleef_##name##d2_##bound##sse2
#include "elem_body.h"
#else
typedef int elemwise_sse2_is_for_other_machines;
#endif

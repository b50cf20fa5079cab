/* neon: the elementwise kernels for aarch64. Every aarch64 CPU runs them. */
#include "kernel/kernel_int.h"

#if defined(KERNEL_HAS_NEON)
#include <arm_neon.h>
#include <sleef.h>

#define ISA neon
#define V_F32 float32x4_t
#define V_F64 float64x2_t
#define W_F32 4
#define W_F64 2
#define VEC_F32(name, bound) Sleef_##name##f4_##bound##advsimd
#define VEC_F64(name, bound) Sleef_##name##d2_##bound##advsimd
#include "elem_body.h"
#else
typedef int elemwise_neon_is_for_other_machines;
#endif

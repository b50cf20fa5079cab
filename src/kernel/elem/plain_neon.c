/* plain_neon: the elementwise kernels with the same bits on every machine, for aarch64. */
#include "kernel/kernel_int.h"

#if defined(KERNEL_HAS_NEON)
#include <arm_neon.h>
#include <sleef.h>

#define ELEM_PLAIN
#define ISA neon_plain
#define V_F32 float32x4_t
#define V_F64 float64x2_t
#define W_F32 4
#define W_F64 2
#define VEC_F32(name, bound) Sleef_cinz_##name##f4_##bound##advsimdnofma
#define VEC_F64(name, bound) Sleef_cinz_##name##d2_##bound##advsimdnofma
#include "elem_body.h"
#else
typedef int elemwise_plain_neon_is_for_other_machines;
#endif

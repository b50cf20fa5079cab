/* scalar: the elementwise kernels for any machine, one element at a time. */
#include "kernel/kernel_int.h"

#if defined(KERNEL_HAS_SCALAR)
#include <sleef.h>

#define ISA scalar
#define V_F32 float
#define V_F64 double
#define W_F32 1
#define W_F64 1
#define VEC_F32(name, bound) Sleef_##name##f1_##bound##purec
#define VEC_F64(name, bound) Sleef_##name##d1_##bound##purec
#include "elem_body.h"
#else
typedef int elemwise_scalar_is_for_other_machines;
#endif

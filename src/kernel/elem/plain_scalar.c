/* plain_scalar: the elementwise kernels with the same bits on every machine, for any machine. */
#include "kernel/kernel_int.h"

#if defined(KERNEL_HAS_SCALAR)
#if DAMO_SLEEF
#include <sleef.h>
#endif

#define ELEM_PLAIN
#define ISA scalar_plain
#define V_F32 float
#define V_F64 double
#define W_F32 1
#define W_F64 1
#if DAMO_SLEEF
#define VEC_F32(name, bound) Sleef_cinz_##name##f1_##bound##purec
#define VEC_F64(name, bound) Sleef_cinz_##name##d1_##bound##purec
#endif
#include "elem_body.h"
#else
typedef int elemwise_plain_scalar_is_for_other_machines;
#endif

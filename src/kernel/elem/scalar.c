/* scalar: the elementwise kernels for any machine, one element at a time. */
#include "kernel/kernel_int.h"

#if defined(KERNEL_HAS_SCALAR)
#include <math.h>
#if DAMO_SLEEF
#include <sleef.h>
#endif

#define ISA scalar
#define V_F32 float
#define V_F64 double
#define W_F32 1
#define W_F64 1
#if DAMO_SLEEF
#define VEC_F32(name, bound) Sleef_##name##f1_##bound##purec
#define VEC_F64(name, bound) Sleef_##name##d1_##bound##purec
#else
/* C has no exp10. */
static double libm_exp10(double x) { return pow(10, x); }
static float libm_exp10f(float x) { return (float)pow(10, (double)x); }
#define exp10 libm_exp10
#define exp10f libm_exp10f
#define VEC_F32(name, bound) name##f
#define VEC_F64(name, bound) name
#endif
#include "elem_body.h"
#undef exp10
#undef exp10f
#else
typedef int elemwise_scalar_is_for_other_machines;
#endif

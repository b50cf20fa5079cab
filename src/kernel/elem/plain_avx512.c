/* plain_avx512: the elementwise kernels with the same bits on every machine, for x86-64 with AVX-512. Compiled with -mavx512f
 * -mavx512dq -mavx512bw -mavx512vl -mavx2. */
#include "kernel/kernel_int.h"

#if defined(KERNEL_HAS_AVX)
#include <immintrin.h>
#include <sleef.h>

#define ELEM_PLAIN
#define ISA avx512_plain
#define V_F32 __m512
#define V_F64 __m512d
#define W_F32 16
#define W_F64 8
#define VEC_F32(name, bound) Sleef_cinz_##name##f16_##bound##avx512fnofma
#define VEC_F64(name, bound) Sleef_cinz_##name##d8_##bound##avx512fnofma
#include "elem_body.h"
#else
typedef int elemwise_plain_avx512_is_for_other_machines;
#endif

/* eigh_lanes_avx2: eigenvalues of small symmetric matrices, for x86-64 with AVX2. */
#include "eigh_lanes.h"

#include <float.h>
#include <math.h>

#if defined(__x86_64__)
#define T float
#define NAME(f) eigh_lanes_##f##_f32_avx2
#define ROOT sqrtf
#define ABS fabsf
#define EPS FLT_EPSILON
#include "eigh_lanes_body.h"

#define T double
#define NAME(f) eigh_lanes_##f##_f64_avx2
#define ROOT sqrt
#define ABS fabs
#define EPS DBL_EPSILON
#include "eigh_lanes_body.h"

const eigh_lanes_fns eigh_lanes_avx2 = {
    .run = {[DAMO_FLOAT32] = eigh_lanes_run_f32_avx2, [DAMO_FLOAT64] = eigh_lanes_run_f64_avx2}};
#else
typedef int eigh_lanes_avx2_is_for_other_machines;
#endif

/* eigh_lanes: eigenvalues of small symmetric matrices, for any instruction set. */
#include "eigh_lanes.h"

#include <float.h>
#include <math.h>

#define T float
#define NAME(f) eigh_lanes_##f##_f32_base
#define ROOT sqrtf
#define ABS fabsf
#define EPS FLT_EPSILON
#include "eigh_lanes_body.h"

#define T double
#define NAME(f) eigh_lanes_##f##_f64_base
#define ROOT sqrt
#define ABS fabs
#define EPS DBL_EPSILON
#include "eigh_lanes_body.h"

const eigh_lanes_fns eigh_lanes_base = {
    .run = {[DAMO_FLOAT32] = eigh_lanes_run_f32_base, [DAMO_FLOAT64] = eigh_lanes_run_f64_base}};

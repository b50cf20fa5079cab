/* lanes: small matrices in SIMD lanes, for every machine. */
#include "lanes.h"

#include <math.h>
#include <stddef.h>

#define T float
#define NAME(f) lanes_##f##_f32_base
#define SQRT sqrtf
#include "lanes_body.h"
#define T double
#define NAME(f) lanes_##f##_f64_base
#define SQRT sqrt
#include "lanes_body.h"

#define LANE_FNS(dtype)                                                                                  \
  {                                                                                                      \
    .factor = lanes_factor_##dtype##_base, .solve = lanes_solve_##dtype##_base,                          \
    .substitute = lanes_substitute_##dtype##_base, .cholesky = lanes_cholesky_##dtype##_base,            \
    .zero_diagonal = lanes_zero_diagonal_##dtype##_base, .determinant = lanes_determinant_##dtype##_base \
  }
const lane_fns lane_fns_base[2] = {LANE_FNS(f32), LANE_FNS(f64)};
#undef LANE_FNS

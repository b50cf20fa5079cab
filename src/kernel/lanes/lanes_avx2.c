/* lanes_avx2: small matrices in SIMD lanes, for x86-64 with AVX2. */
#include "lanes.h"

#include <math.h>
#include <stddef.h>

#if defined(__x86_64__)
#define T float
#define NAME(f) lanes_##f##_f32_avx2
#define SQRT sqrtf
#include "lanes_body.h"
#define T double
#define NAME(f) lanes_##f##_f64_avx2
#define SQRT sqrt
#include "lanes_body.h"

#define LANE_FNS(dtype)                                                                                  \
  {                                                                                                      \
    .factor = lanes_factor_##dtype##_avx2, .solve = lanes_solve_##dtype##_avx2,                          \
    .substitute = lanes_substitute_##dtype##_avx2, .cholesky = lanes_cholesky_##dtype##_avx2,            \
    .zero_diagonal = lanes_zero_diagonal_##dtype##_avx2, .determinant = lanes_determinant_##dtype##_avx2 \
  }
const lane_fns lane_fns_avx2[2] = {LANE_FNS(f32), LANE_FNS(f64)};
#undef LANE_FNS
#else
typedef int lanes_avx2_is_for_other_machines;
#endif

/* elemwise_special: kernels of special functions that only derivatives need. */
#include <math.h>

#include "elemwise_int.h"

/* psi''(x) for x > 0: recurrence psi''(x) = psi''(x + 1) - 2/x³ up to x >= 12, then the asymptotic series (DLMF 5.15.9). */
static double tetra_gamma_positive(double x) {
  double sum = 0;
  for (; x < 12; x += 1) sum -= 2 / (x * x * x);
  double u = 1 / (x * x);
  double tail = u * u * (-0.5 + u * (1.0 / 6 + u * (-1.0 / 6 + u * (0.3 + u * (-5.0 / 6 + u * (691.0 / 210 + u * -17.5))))));
  return sum - u - u / x + tail;
}

/* Below 0 by reflection: psi''(1 - x) - psi''(x) = 2 pi³ cos(pi x) / sin³(pi x). Poles and -inf give nan. */
static double tetra_gamma(double x) {
  const double pi = 3.14159265358979323846;
  if (isnan(x) || x > 0) return tetra_gamma_positive(x);
  if (x == floor(x)) return NAN;
  double r = x - floor(x); /* sin³ and cos change sign together with each unit: the quotient has period 1 */
  double s = sin(pi * r);
  return tetra_gamma_positive(1 - x) - 2 * pi * pi * pi * cos(pi * r) / (s * s * s);
}

static void tetra_gamma_f64(void *const *args, int64_t n) {
  const double *x = args[0];
  double *out = args[1];
  for (int64_t i = 0; i < n; i++) out[i] = tetra_gamma(x[i]);
}

static void tetra_gamma_f32(void *const *args, int64_t n) {
  const float *x = args[0];
  float *out = args[1];
  for (int64_t i = 0; i < n; i++) out[i] = (float)tetra_gamma((double)x[i]);
}

const kernel_set elemwise_tetra_gamma = {.fn = {[DAMO_FLOAT32] = tetra_gamma_f32, [DAMO_FLOAT64] = tetra_gamma_f64}};

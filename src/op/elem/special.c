/* special: kernels of special functions that kernel/ lacks: the third derivative of gammaln, Bessel functions.
 */
#define _XOPEN_SOURCE 700 /* j0, j1 */
#include <math.h>

#include "elem_int.h"

/* psi''(x) for x > 0: recurrence psi''(x) = psi''(x + 1) - 2/x³ up to x >= 12, then the asymptotic series (DLMF
 * 5.15.9). */
static double tetra_gamma_positive(double x) {
  double sum = 0;
  for (; x < 12; x += 1) sum -= 2 / (x * x * x);
  double u = 1 / (x * x);
  double tail =
      u * u * (-0.5 + u * (1.0 / 6 + u * (-1.0 / 6 + u * (0.3 + u * (-5.0 / 6 + u * (691.0 / 210 + u * -17.5))))));
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

/* The modified Bessel function of order v, 0 or 1, at x >= 0: the power series, whose terms are all positive, up to 30;
 * from there on the asymptotic one (DLMF 10.40.1), whose terms fall below 1e-17 before they grow. */
static double bessel_i(int v, double x) {
  if (isnan(x) || isinf(x)) return NAN; /* of infinities too, as in SciPy */
  double term = 1, sum = 1;
  if (x <= 30) {
    for (int k = 1; term > 1e-18 * sum; k++) {
      term *= x * x / 4 / k / (k + v);
      sum += term;
    }
    return v == 0 ? sum : sum * x / 2;
  }
  for (int k = 1; fabs(term) > 1e-18; k++) {
    term *= ((2 * k - 1) * (2 * k - 1) - 4 * v) / (8 * k * x);
    sum += term;
  }
  double half = exp(x / 2); /* in two parts: exp(x) overflows before the quotient does */
  return half / sqrt(2 * 3.14159265358979323846 * x) * sum * half;
}

static double bessel_j0(double x) { return isinf(x) ? NAN : j0(x); }
static double bessel_j1(double x) { return isinf(x) ? NAN : j1(x); }
static double i0(double x) { return bessel_i(0, fabs(x)); }
static double i1(double x) { return copysign(bessel_i(1, fabs(x)), x); }

/* A kernel set over a function of double. */
#define SET(name, f)                                                 \
  static void name##_f64(void *const *args, int64_t n) {             \
    const double *x = args[0];                                       \
    double *out = args[1];                                           \
    for (int64_t i = 0; i < n; i++) out[i] = f(x[i]);                \
  }                                                                  \
  static void name##_f32(void *const *args, int64_t n) {             \
    const float *x = args[0];                                        \
    float *out = args[1];                                            \
    for (int64_t i = 0; i < n; i++) out[i] = (float)f((double)x[i]); \
  }                                                                  \
  const kernel_set elemwise_##name = {.fn = {[DAMO_FLOAT32] = name##_f32, [DAMO_FLOAT64] = name##_f64}};

SET(tetra_gamma, tetra_gamma)
SET(i0, i0)
SET(i1, i1)
SET(j0, bessel_j0)
SET(j1, bessel_j1)

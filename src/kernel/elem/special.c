/* special: see special.h. Each function cites the formula it computes; DLMF is the Digital Library of Mathematical
 * Functions (dlmf.nist.gov). */
#include "special.h"

#include <math.h>
#include <stdint.h>

#define SPECIAL_PI 3.14159265358979323846
#define SPECIAL_SQRT_PI 1.77245385090551602730
#define SPECIAL_LN2 0.69314718055994530942

/* ---- exp(x²) erfc(x) --------------------------------------------------------------------------------------------- */

/* The asymptotic series DLMF 7.12.1: x sqrt(pi) erfcx(x) = sum of (-1)^k (2k-1)!! / (2x²)^k. For x >= 20 eight terms
 * leave less than 1e-17. */
static double erfcx_large(double x) {
  if (x > 1e8) return 1 / (SPECIAL_SQRT_PI * x);
  const double t = 1 / (2 * x * x);
  double sum = 1;
  for (int k = 8; k >= 1; k--) sum = 1 - (2 * k - 1) * t * sum;
  return sum / (SPECIAL_SQRT_PI * x);
}

double special_erfcx(double x) {
  if (x >= 20) return erfcx_large(x);
  if (x < -27) return INFINITY;
  /* The rounding error of x² would be multiplied by up to 800: fma recovers it. */
  const double square = x * x, rest = fma(x, x, -square);
  const double e = exp(square);
  return isinf(e) ? e : (e + e * rest) * erfc(x);
}

/* ---- Inverse error functions ------------------------------------------------------------------------------------- */

/* Halley's iteration on erf(x) = y, which triples the number of correct digits in each step. */
static double erfinv_central(double y) {
  if (fabs(y) < 1e-8) return y * (SPECIAL_SQRT_PI / 2);
  /* Winitzki's approximation (2008) with a = 0.147, accurate to 2e-3. */
  const double log_term = log1p(-y * y), half = 2 / (SPECIAL_PI * 0.147) + log_term / 2;
  double x = copysign(sqrt(sqrt(half * half - log_term / 0.147) - half), y);
  for (int i = 0; i < 3; i++) {
    const double u = (erf(x) - y) * (SPECIAL_SQRT_PI / 2) * exp(x * x);
    x -= u / (1 + x * u);
  }
  return x;
}

/* 0 < p < 1/2: Newton on log erfc(x) = log p, which is concave and nearly straight in x², so it converges from the left
 * for every p; log erfc(x) = log erfcx(x) - x² does not underflow. */
static double erfcinv_tail(double p) {
  const double target = log(p);
  const double rough = -target - log(SPECIAL_SQRT_PI) > 1 ? -target - log(SPECIAL_SQRT_PI) : 1;
  double x = p > 0.05 ? erfinv_central(1 - p) : sqrt(rough - log(rough) / 2);
  for (int i = 0; i < 4; i++) {
    const double scaled = special_erfcx(x);
    const double square = x * x, rest = fma(x, x, -square);
    const double gap = (log(scaled) - rest) - (square + target);
    x += gap * (SPECIAL_SQRT_PI / 2) * scaled;
  }
  return x;
}

double special_erfcinv(double p) {
  if (!(p >= 0 && p <= 2)) return NAN;
  if (p == 0) return INFINITY;
  if (p == 2) return -INFINITY;
  if (p < 0.5) return erfcinv_tail(p);
  if (p > 1.5) return -erfcinv_tail(2 - p);
  return erfinv_central(1 - p);
}

double special_erfinv(double y) {
  if (!(y >= -1 && y <= 1)) return NAN;
  if (fabs(y) == 1) return copysign(INFINITY, y);
  return fabs(y) <= 0.5 ? erfinv_central(y) : copysign(erfcinv_tail(1 - fabs(y)), y);
}

/* ---- psi and its derivative -------------------------------------------------------------------------------------- */

/* x minus the nearest integer, exact, so trigonometric functions of pi x lose no accuracy for large x. */
static double psi_from_nearest_integer(double x) { return x - rint(x); }

/* The positive zero of psi in two parts, and the Taylor coefficients of psi there: c[k] = (-1)^(k+1) zeta(k + 1, zero),
 * from DLMF 5.15.1. For |x - zero| < 1/4 each term is at most 1/5.8 of the one before. */
#define PSI_ZERO 1.4616321449683622
#define PSI_ZERO_REST 9.549995429965697e-17
static const double psi_taylor[] = {
    0.9676722454476212,     -0.4427631689835921,     0.258499760955651,     -0.16394270544240652,
    0.10782405069126237,    -0.07219956125645471,    0.04880428816414311,   -0.03316112647484736,
    0.022597648232218104,   -0.01542476590494896,    0.010538791616612175,  -0.007204534386356869,
    0.004926781395729853,   -0.003369801655439328,   0.002305126326734928,  -0.0015769367714301972,
    0.0010788252019162967,  -0.0007380709389960052,  0.000504953265834602,  -0.0003454680251063077,
    0.00023635601564027053, -0.00016170622091974803, 0.0001106337276874741, -7.569179582195066e-05,
};

static double psi_near_zero(double x) {
  const double d = (x - PSI_ZERO) - PSI_ZERO_REST;
  double sum = 0;
  for (int k = (int)(sizeof psi_taylor / sizeof *psi_taylor) - 1; k >= 0; k--) sum = sum * d + psi_taylor[k];
  return sum * d;
}

/* x > 0: the recurrence DLMF 5.5.2 up to x >= 10, then the series 5.11.2 with Bernoulli numbers B(2k) / 2k. */
static double psi_positive(double x) {
  static const double c[] = {1.0 / 12,  -1.0 / 120,     1.0 / 252, -1.0 / 240,
                             1.0 / 132, -691.0 / 32760, 1.0 / 12,  -3617.0 / 8160};
  if (fabs(x - PSI_ZERO) < 0.25) return psi_near_zero(x);
  double below = 0;
  for (; x < 10; x += 1) below += 1 / x;
  if (x > 1e8) return log(x) - 0.5 / x - below;
  const double t = 1 / (x * x);
  double sum = 0;
  for (int k = 7; k >= 0; k--) sum = (sum + c[k]) * t;
  return log(x) - 0.5 / x - sum - below;
}

double special_psi(double x) {
  if (x != x || x == -INFINITY) return NAN;
  if (x == 0) return -copysign(INFINITY, x);
  if (x > 0) return psi_positive(x);
  const double f = psi_from_nearest_integer(x);
  if (f == 0) return NAN;
  return psi_positive(1 - x) - (fabs(f) == 0.5 ? 0 : SPECIAL_PI / tan(SPECIAL_PI * f)); /* reflection, DLMF 5.5.4 */
}

/* x > 0: the recurrence and the asymptotic series DLMF 5.15.8. */
static double tri_gamma_positive(double x) {
  static const double b[] = {1.0 / 6, -1.0 / 30, 1.0 / 42, -1.0 / 30, 5.0 / 66, -691.0 / 2730, 7.0 / 6, -3617.0 / 510};
  double below = 0;
  for (; x < 12; x += 1) below += 1 / (x * x);
  const double t = 1 / (x * x);
  double sum = 0;
  for (int k = 7; k >= 0; k--) sum = (sum + b[k]) * t;
  return below + (1 + 0.5 / x + sum) / x;
}

double special_tri_gamma(double x) {
  if (x > 0) return x == INFINITY ? 0 : tri_gamma_positive(x);
  if (x != x) return NAN;
  if (x == -INFINITY) return INFINITY; /* the limit point of the poles; as in SciPy */
  const double f = psi_from_nearest_integer(x);
  if (f == 0) return INFINITY;
  const double s = sin(SPECIAL_PI * f) / SPECIAL_PI;
  return 1 / (s * s) - tri_gamma_positive(1 - x); /* reflection, DLMF 5.15.6 */
}

/* ---- log(1 - exp(x)) --------------------------------------------------------------------------------------------- */

/* Machler's rule (2012): expm1 while exp(x) > 1/2, log1p below. */
double special_log1mexp(double x) { return x > -SPECIAL_LN2 ? log(-expm1(x)) : log1p(-exp(x)); }

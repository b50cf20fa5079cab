/* special_normal: see special_normal.h. DLMF is dlmf.nist.gov. */
#include "special_normal.h"

#include <math.h>

#include "dd.h"
#include "special.h"

#define NORMAL_PI 3.14159265358979323846
#define NORMAL_SQRT_2 1.41421356237309504880

/* x / sqrt(2) in two parts. */
static dd normal_scaled(double x) {
  static const dd sqrt_half = {0.7071067811865476, -4.833646656726457e-17};
  return dd_mul_d(sqrt_half, x);
}

/* erfc(z) / 2; the derivative -2 exp(-z²) / sqrt(pi) corrects for z's second part, which matters for large z. */
static double normal_tail(dd z) {
  if (!(fabs(z.hi) < 40)) return erfc(z.hi) / 2;
  return erfc(z.hi) / 2 - exp(-z.hi * z.hi) * z.lo * 0.56418958354775628695;
}

double special_ndtr(double x) {
  if (isinf(x)) return x > 0;
  if (fabs(x) < 0.7) return 0.5 + erf(x / NORMAL_SQRT_2) / 2;
  return normal_tail(normal_scaled(-x));
}

/* Where the result is far below 0 by erfcx: log(erfcx(z) / 2) - x²/2, z = -x / sqrt(2). Below -1e10 the logarithm is less
 * than half a unit in the last place of x²/2, whose parts could overflow. */
double special_log_ndtr(double x) {
  if (isnan(x)) return x;
  if (isinf(x)) return x > 0 ? -0.0 : -INFINITY;
  if (x < -1e10) return -0.5 * x * x;
  if (x > -1) return log1p(-normal_tail(normal_scaled(x)));
  const double tail = log(special_erfcx(-x / NORMAL_SQRT_2) / 2), square = x * x;
  return tail - fma(x, x, -square) / 2 - square / 2;
}

double special_ndtri(double p) {
  if (!(p >= 0 && p <= 1)) return NAN;
  return p < 0.5 ? -NORMAL_SQRT_2 * special_erfcinv(2 * p) : NORMAL_SQRT_2 * special_erfcinv(2 * (1 - p)) + 0.0;
}

/* Newton's method on log_ndtr, which is concave, from the left tail's -sqrt(-2 y). */
double special_ndtri_exp(double y) {
  if (isnan(y) || y > 0) return NAN;
  if (y == 0) return INFINITY;
  if (isinf(y)) return y;
  if (y > -0.01) return -special_ndtri(-expm1(y));
  if (y > -2) return special_ndtri(exp(y));
  double x = y > -600 ? special_ndtri(exp(y)) : -sqrt(-2 * y - log(-4 * NORMAL_PI * y));
  for (int i = 0; i < 5; i++) { /* the slope is sqrt(2/pi) / erfcx(-x / sqrt(2)) */
    const double step = (special_log_ndtr(x) - y) * special_erfcx(-x / NORMAL_SQRT_2) / 0.79788456080286535588;
    x -= step;
    if (fabs(step) < 1e-15 * fabs(x)) break;
  }
  return x;
}

double special_logit(double p) {
  if (p > 0.3 && p < 0.7) { /* 2 artanh(2 p - 1), without the cancellation of a quotient near 1 */
    const double s = p - 0.5;
    return log1p(2 * s / (0.5 - s));
  }
  return log(p / (1 - p));
}

double special_xlogy(double x, double y) { return x == 0 && !isnan(y) ? 0 : x * log(y); }
double special_xlog1py(double x, double y) { return x == 0 && !isnan(y) ? 0 : x * log1p(y); }
double special_entr(double x) { return x > 0 ? -x * log(x) : x == 0 ? 0 : isnan(x) ? x : -INFINITY; }

/* Reduced by the even whole number next to x, exactly. */
double special_sinc(double x) {
  if (x == 0) return 1;
  if (isinf(x)) return 0;
  const double r = x - 2 * rint(x / 2);
  const double s = fabs(r) <= 0.5 ? sin(NORMAL_PI * r) : copysign(sin(NORMAL_PI * (1 - fabs(r))), r);
  return fabs(x) < 1e-150 ? 1 : s / (NORMAL_PI * x);
}

/* The integral of exp(-h² t²/2) / (1 + t²) from 0 to a <= 1, by Gauss-Legendre on two halves: what lies beyond h t = 9
 * is less than 1e-17 of it. */
static double owen_integral(double h, double a) {
  const double end = h * a > 9 ? 9 / h : a, half = end / 4;
  double sum = 0;
  for (int part = 0; part < 2; part++) {
    const double middle = half * (2 * part + 1);
    for (int k = 0; k < SPECIAL_LEGENDRE; k++) {
      const double d = half * special_legendre[k][0], w = special_legendre[k][1];
      const double s = middle - d, t = middle + d;
      sum += w * (exp(-h * h * s * s / 2) / (1 + s * s) + exp(-h * h * t * t / 2) / (1 + t * t));
    }
  }
  return half * sum;
}

/* T(h, a) = exp(-h²/2) / (2 pi) times that integral; for a > 1 by Owen's T(h, a) = (q(h) + q(ah)) / 2 - q(h) q(ah) -
 * T(ah, 1/a), q being the normal tail beyond. */
double special_owens_t(double h, double a) {
  if (isnan(h) || isnan(a)) return NAN;
  h = fabs(h);
  const double sign = a < 0 ? -1 : 1, size = fabs(a);
  if (h > 40) return 0; /* exp(-h²/2) underflows */
  if (isinf(size)) return sign * normal_tail(normal_scaled(h)) / 2;
  if (h == 0) return sign * atan(size) / (2 * NORMAL_PI);
  if (size <= 1) {
    const dd square = dd_product(h, h);
    return sign * dd_exp((dd){-square.hi / 2, -square.lo / 2}) / (2 * NORMAL_PI) * owen_integral(h, size);
  }
  const double q = normal_tail(normal_scaled(h)), q_ah = normal_tail(normal_scaled(h * size));
  return sign * ((q + q_ah) / 2 - q * q_ah - special_owens_t(h * size, 1 / size));
}

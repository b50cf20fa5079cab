/* special_kummer: see special_kummer.h. DLMF is dlmf.nist.gov. */
#include "special_kummer.h"

#include <math.h>
#include <stdbool.h>

#include "dd.h"
#include "special_gamma.h"

/* ---- The power series ---------------------------------------------------------------------------------------------- */

#define KUMMER_TERMS 4000

/* DLMF 13.2.2 in double-double: where terms of two signs cancel, 32 digits less those that cancel remain, and the rounding
 * of many terms does not add up. x >= 0, or small, or a ends the series. */
static dd kummer_series(double a, double b, double x) {
  dd term = dd_of(1), sum = term;
  for (int n = 0; n < KUMMER_TERMS; n++) {
    const dd up = dd_mul_d(dd_sum(a, n), x), down = dd_mul_d(dd_sum(b, n), n + 1);
    if (up.hi == 0) break;
    term = dd_div(dd_mul(term, up), down);
    sum = dd_add(sum, term);
    const bool falls = n > -a && n > -b && fabs(up.hi) < 0.7 * fabs(down.hi);
    if (falls && fabs(term.hi) < 1e-20 * fabs(sum.hi)) break;
    if (isinf(sum.hi)) break;
  }
  return sum;
}

/* Derivatives of that series in a or b, term by term. */
static double kummer_series_slope(double a, double b, double x, bool in_a) {
  dd term = dd_of(1), slope = dd_of(0), sum = slope;
  for (int n = 0; n < KUMMER_TERMS; n++) {
    const dd up = dd_sum(a, n), down = dd_mul_d(dd_sum(b, n), n + 1), ratio = dd_div(dd_mul_d(up, x), down);
    const dd own = in_a ? dd_mul_d(dd_div(term, down), x) : dd_neg(dd_div(dd_mul(term, ratio), dd_sum(b, n)));
    slope = dd_add(dd_mul(slope, ratio), own);
    term = dd_mul(term, ratio);
    sum = dd_add(sum, slope);
    const bool falls = n > -a && n > -b && fabs(ratio.hi) < 0.7;
    if (falls && fabs(slope.hi) < 1e-20 * fabs(sum.hi)) break;
    if ((term.hi == 0 && slope.hi == 0) || isinf(sum.hi)) break;
  }
  return dd_value(sum);
}

/* ---- Large arguments ----------------------------------------------------------------------------------------------- */

/* The sum of (p)_k (q)_k / k! u^k up to its smallest term; false where that is not small enough. */
static bool kummer_asymptotic(double p, double q, double u, double *sum) {
  double term = 1, before = INFINITY;
  *sum = 1;
  for (int k = 0; k < 200; k++) {
    term *= (p + k) * (q + k) * u / (k + 1);
    if (term == 0 || fabs(term) < 1e-17 * fabs(*sum)) return true;
    if (fabs(term) > before && k > fabs(p) && k > fabs(q)) return false;
    before = fabs(term);
    *sum += term;
  }
  return false;
}

/* gamma(b) / gamma(a) exp(x) x^(a - b) 2F0(1 - a, b - a; 1 / x) for large x > 0 (DLMF 13.7.1), and for x < 0 by Kummer's
 * transformation M(a; b; x) = exp(x) M(b - a; b; -x) (DLMF 13.2.39). false: x is not large enough. */
static bool kummer_large(double a, double b, double x, double *value) {
  const double size = fabs(x), c = x > 0 ? a : b - a;
  int sign_b, sign_c;
  double sum;
  if (size < 50 || (c <= 0 && c == floor(c)) || !kummer_asymptotic(1 - c, b - c, 1 / size, &sum)) return false;
  dd power = dd_sub(special_gammaln_signed(dd_of(b), &sign_b), special_gammaln_signed(dd_of(c), &sign_c));
  power = dd_add(power, dd_mul(dd_sum(c, -b), dd_log(dd_of(size))));
  if (x > 0) power = dd_add_d(power, x);
  *value = sign_b * sign_c * dd_exp(power) * sum;
  return true;
}

/* Whether b is a pole, which a numerator that ends before it does not have; at a = 0 it is one, as SciPy has it. */
static bool kummer_pole(double a, double b) {
  const bool ends = a < 0 && a == floor(a);
  return b <= 0 && b == floor(b) && !(ends && a >= b);
}

double special_hyp1f1(double a, double b, double x) {
  double value;
  if (isnan(a) || isnan(b) || isnan(x)) return NAN;
  if (kummer_pole(a, b)) return INFINITY;
  if (a == 0 || x == 0) return 1;
  if (a == b && b > 0) return exp(x);
  const bool ends = a < 0 && a == floor(a);
  if (isinf(x)) return x > 0 ? (a > 0 ? INFINITY : NAN) : (a > 0 && b > a ? 0 : NAN);
  if (!ends && kummer_large(a, b, x, &value)) return value;
  if (x > 0 || ends || fabs(x) < 1) return dd_value(kummer_series(a, b, x));
  const dd sum = kummer_series(b - a, b, -x);
  return dd_value(dd_mul_d(sum, exp(x)));
}

/* d/da and d/db of exp(x) M(b - a; b; -x) for x < 0. */
static double kummer_slope(double a, double b, double x, bool in_a) {
  if (isnan(a) || isnan(b) || isnan(x) || isinf(x) || (b <= 0 && b == floor(b))) return NAN;
  if (fabs(x) > 700) return NAN;
  if (x > -1) return kummer_series_slope(a, b, x, in_a);
  const double of_a = kummer_series_slope(b - a, b, -x, true);
  return exp(x) * (in_a ? -of_a : of_a + kummer_series_slope(b - a, b, -x, false));
}

double special_hyp1f1_grad_a(double a, double b, double x) { return kummer_slope(a, b, x, true); }
double special_hyp1f1_grad_b(double a, double b, double x) { return kummer_slope(a, b, x, false); }

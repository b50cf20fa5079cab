/* special_integral: see special_integral.h. DLMF is dlmf.nist.gov. */
#include "special_integral.h"

#include <math.h>
#include <stdbool.h>

#include "dd.h"
#include "special_zeta.h"

#define INTEGRAL_PI 3.14159265358979323846
#define INTEGRAL_EULER 0.57721566490153286061
#define INTEGRAL_SQRT_PI 1.77245385090551602730

/* ---- Dawson's integral --------------------------------------------------------------------------------------------- */

/* |x| <= 1: exp(-x²) times the sum of x^(2k+1) / (k! (2k + 1)), whose terms are of one sign. */
static double dawson_series(double x) {
  const double square = x * x;
  double term = x, sum = x;
  for (int k = 1; k < 40; k++) {
    term *= square / k;
    sum += term / (2 * k + 1);
    if (fabs(term) < 1e-18 * fabs(sum)) break;
  }
  return exp(-square) * sum;
}

/* The sum of exp(-(x - n h)²) / n over odd n, over sqrt(pi), whose error is exp(-(pi / (2 h))²) (G. B. Rybicki, Computers
 * in Physics 3, 1989). n h is exact. */
static double dawson_sum(double x) {
  const double h = 0.1875;
  double sum = 0;
  int n = (int)((x - 6.4) / h);
  if (n % 2 == 0) n--;
  for (; n * h < x + 6.4; n += 2) {
    const double t = x - n * h;
    sum += exp(-t * t) / n;
  }
  return sum / INTEGRAL_SQRT_PI;
}

/* x >= 7: the asymptotic series of erfc, DLMF 7.12.1, at the imaginary argument i x. */
static double dawson_large(double x) {
  const double u = 1 / (2 * x * x);
  double sum = 1;
  for (int k = 24; k >= 1; k--) sum = 1 + (2 * k - 1) * u * sum;
  return sum / (2 * x);
}

double special_dawsn(double x) {
  const double size = fabs(x);
  if (size <= 1) return dawson_series(x);
  return copysign(size < 7 ? dawson_sum(size) : dawson_large(size), x);
}

/* ---- Sine and cosine integrals ------------------------------------------------------------------------------------- */

/* The sum of (s x²)^k x^first / ((2k + first) (2k + first)!), k from 0 (first = 1) or 1 (first = 0) on. */
static double integral_series(double x, int first, double s) {
  const double square = s * x * x;
  double term = first == 1 ? x : 1, sum = first == 1 ? x : 0;
  for (int k = 1; k < 60; k++) {
    const int n = 2 * k + first;
    term *= square / ((double)n * (n - 1));
    sum += term / n;
    if (fabs(term) < 1e-18 * fabs(sum)) break;
  }
  return sum;
}

/* x >= 2: exp(ix) E1(ix) = g - i f by the continued fraction DLMF 6.9.1, evaluated from its end: for x >= 2 the error of
 * 120 terms, and of fewer for larger x, is below rounding. */
static void integral_auxiliary(double x, double *f, double *g) {
  const int n = 12 + (int)(220 / x);
  double re = 1 + 2 * n, im = x;
  for (int k = n; k >= 1; k--) { /* z = 2k - 1 + ix - k² / z */
    const double scale = (double)k * k / (re * re + im * im);
    re = 2 * k - 1 - scale * re;
    im = x + scale * im;
  }
  const double size = re * re + im * im;
  *g = re / size;
  *f = im / size;
}

/* cos x and sin x times what is left: Si = pi/2 - f cos x - g sin x, Ci = f sin x - g cos x (DLMF 6.2.17, 6.2.18). */
double special_sinint(double x) {
  double f, g;
  const double size = fabs(x);
  if (size <= 2) return integral_series(x, 1, -1);
  if (isnan(x)) return x;
  if (size > 1e17) return copysign(INTEGRAL_PI / 2, x);
  integral_auxiliary(size, &f, &g);
  return copysign(INTEGRAL_PI / 2 - f * cos(size) - g * sin(size), x);
}

double special_cosint(double x) {
  double f, g;
  const double size = fabs(x);
  if (size == 0) return -INFINITY;
  if (size <= 2) return INTEGRAL_EULER + log(size) + integral_series(size, 0, -1);
  if (isinf(x)) return x > 0 ? 0 : NAN;
  if (isnan(x)) return x;
  integral_auxiliary(size, &f, &g);
  return f * sin(size) - g * cos(size);
}

/* Shi = (Ei + E1) / 2 and Chi = (Ei - E1) / 2 (DLMF 6.5.3, 6.5.4), where these do not cancel. */
double special_sinhint(double x) {
  const double size = fabs(x);
  if (size <= 4) return integral_series(x, 1, 1);
  return copysign((special_expi(size) + special_exp1(size)) / 2, x);
}

double special_coshint(double x) {
  const double size = fabs(x);
  if (size == 0) return -INFINITY;
  if (size <= 2) return INTEGRAL_EULER + log(size) + integral_series(size, 0, 1);
  return (special_expi(size) - special_exp1(size)) / 2;
}

/* ---- Fresnel's integrals ------------------------------------------------------------------------------------------- */

/* |x| <= 1.1: DLMF 7.6.4 and 7.6.6. */
static double fresnel_series(double x, bool sine) {
  const double phase = INTEGRAL_PI / 2 * x * x, square = phase * phase;
  double term = sine ? x * phase : x, sum = term / (sine ? 3 : 1);
  for (int k = 1; k < 40; k++) {
    const int n = 2 * k + sine;
    term *= -square / ((double)n * (n - 1));
    sum += term / (2 * n + 1);
    if (fabs(term) < 1e-18 * fabs(sum)) break;
  }
  return sum;
}

/* The auxiliary functions (DLMF 7.7.10 and 7.7.11 with t = u²): sqrt(2) / pi times the integrals of exp(-pi x² u² / 2) and
 * of u² times it over 1 + u⁴, from 0 on, by the trapezoidal rule, whose step is so small that its error, exp(pi x² y² / 2 -
 * 2 pi y / h) on the line at height y, is below 1e-17 for a y that the poles at (±1 ± i) / sqrt(2) allow. */
static void fresnel_auxiliary(double x, double *f, double *g) {
  const double h = x < 7 ? 4.4 / (39 + 0.785 * x * x) : 0.4 / x, c = INTEGRAL_PI / 2 * x * x;
  double sum_f = 0.5, sum_g = 0;
  for (int k = 1; k < 60; k++) {
    const double u = k * h, square = u * u, e = exp(-c * square) / (1 + square * square);
    sum_f += e;
    sum_g += e * square;
    if (c * square > 42) break;
  }
  *f = 0.45015815807855303478 * h * sum_f; /* sqrt(2) / pi */
  *g = 0.45015815807855303478 * h * sum_g;
}

/* sin and cos of pi x² / 2, x² reduced by multiples of 4 exactly. */
static void fresnel_phase(double x, double *s, double *c) {
  const dd square = dd_product(x, x);
  const double r = remainder(remainder(square.hi, 4) + remainder(square.lo, 4), 4);
  *s = sin(INTEGRAL_PI / 2 * r);
  *c = cos(INTEGRAL_PI / 2 * r);
}

/* S = 1/2 - f cos - g sin, C = 1/2 + f sin - g cos of pi x² / 2 (DLMF 7.5.3, 7.5.4). */
static double fresnel_at(double x, bool sine) {
  double f, g, s, c;
  const double size = fabs(x);
  if (size <= 1.1) return fresnel_series(x, sine);
  if (isnan(x)) return x;
  if (size > 1e17) return copysign(0.5, x);
  fresnel_auxiliary(size, &f, &g);
  fresnel_phase(size, &s, &c);
  return copysign(sine ? 0.5 - f * c - g * s : 0.5 + f * s - g * c, x);
}

double special_fresnels(double x) { return fresnel_at(x, true); }
double special_fresnelc(double x) { return fresnel_at(x, false); }

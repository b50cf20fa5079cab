/* special_zeta: see special_zeta.h. DLMF is dlmf.nist.gov. */
#include "special_zeta.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "dd.h"
#include "special.h"
#include "special_gamma.h"

#define ZETA_PI 3.14159265358979323846

/* ---- zeta ---------------------------------------------------------------------------------------------------------- */

/* B(2k) / (2k)! */
static const double zeta_bernoulli[] = {1.0 / 12,
                                        -1.0 / 720,
                                        1.0 / 30240,
                                        -1.0 / 1209600,
                                        1.0 / 47900160,
                                        -691.0 / 1307674368000.0,
                                        1.0 / 74724249600.0,
                                        -3617.0 / 10670622842880000.0,
                                        43867.0 / 5109094217170944000.0,
                                        -174611.0 / 802857662698291200000.0};

/* Euler and Maclaurin's formula, DLMF 25.11.28 (with s = 1 left out): the sum of (q + k)^-s up to where the terms of the tail
 * fall fast, and with
 * w = q + n the tail w^(1-s) / (s - 1) + w^-s / 2 + sum of B(2k) / (2k)! (s)_(2k-1) w^(-s-2k+1). With slope also the
 * derivative in s, term by term. Holds for any s that is not far below 0. */
static double zeta_sum(double s, double q, double *slope) {
  double sum = 0, rest = 0, d_sum = 0;
  double w = q;
  for (; w < 10 + 0.75 * s; w += 1) {
    const double term = pow(fabs(w), -s) * (w < 0 && fmod(s, 2) != 0 ? -1 : 1);
    if (isinf(term)) {
      if (slope != NULL) *slope = -copysign(INFINITY, term) * copysign(1, log(fabs(w)));
      return term;
    }
    const dd t = dd_sum(sum, term);
    sum = t.hi;
    rest += t.lo;
    if (slope != NULL) d_sum -= term * log(w);
    const bool small = w > 0 && term <= 1e-18 * fabs(sum); /* equal where both are too small for a double */
    if (small && slope == NULL) return sum + rest;
    if (small && term * fabs(log(w)) <= 1e-18 * fabs(d_sum)) {
      *slope = d_sum;
      return sum + rest;
    }
  }
  const double log_w = log(w), power = pow(w, -s), u = 1 / (w * w);
  double factor = s / w, d_factor = 1 / s, tail = 0, d_tail = 0; /* (s)_(2k-1) w^(1-2k) and its log's derivative */
  for (int k = 0; k < 10; k++) {
    const double term = zeta_bernoulli[k] * factor;
    tail += term;
    d_tail += term * d_factor;
    const double a = s + 2 * k + 1, b = s + 2 * k + 2;
    factor *= a * b * u;
    d_factor += 1 / a + 1 / b;
    if (fabs(factor) < 1e-18 * s) break;
  }
  const double whole = w / (s - 1) + 0.5 + tail;
  if (slope != NULL) *slope = d_sum + power * (d_tail - w / ((s - 1) * (s - 1)) - log_w * whole);
  return sum + (rest + power * whole);
}

/* The edges of Hurwitz's zeta; false inside the domain. */
static bool zeta_edge(double s, double q, double *value) {
  *value = NAN;
  if (isnan(s) || isnan(q) || s < 1) return true;
  if (s == 1)
    *value = INFINITY;
  else if (q <= 0 && q == floor(q))
    *value = INFINITY;
  else if (q <= 0 && s != floor(s))
    *value = NAN;
  else if (q < -1e5)
    *value = NAN; /* too many terms, of a sum that changes by nothing */
  else if (isinf(q))
    *value = 0;
  else if (isinf(s))
    *value = q > 1 ? 0 : q == 1 ? 1 : INFINITY;
  else
    return false;
  return true;
}

double special_hurwitz_zeta(double s, double q) {
  double edge;
  return zeta_edge(s, q, &edge) ? edge : zeta_sum(s, q, NULL);
}

double special_zeta_grad_s(double s, double q) {
  double edge, slope;
  if (zeta_edge(s, q, &edge) || q < 0) return NAN;
  zeta_sum(s, q, &slope);
  return slope;
}

/* Below 0 by the reflection DLMF 25.4.1, zeta(s) = 2 (2 pi)^(s-1) sin(pi s / 2) gamma(1 - s) zeta(1 - s). With slope also the
 * derivative. */
static double zeta_reflected(double s, double *slope) {
  int sign;
  double d_zeta, r = s - 4 * rint(s / 4); /* the sine has period 4 in s */
  const double z = zeta_sum(1 - s, 1, &d_zeta);
  static const dd log_2pi = {1.8378770664093456, -7.756588316134483e-17};
  const dd size = dd_add(dd_mul_d(log_2pi, s - 1), special_gammaln_signed(dd_sum(1, -s), &sign));
  const double factor = 2 * dd_exp(size);
  const double sine = fabs(r) <= 1 ? sin(ZETA_PI / 2 * r) : copysign(sin(ZETA_PI / 2 * (2 - fabs(r))), r);
  if (slope != NULL) {
    const double cosine = fabs(r) <= 1 ? cos(ZETA_PI / 2 * r) : -cos(ZETA_PI / 2 * (2 - fabs(r)));
    const double rest = (1.8378770664093454836 - special_psi(1 - s)) * z - d_zeta;
    *slope = factor * (ZETA_PI / 2 * cosine * z + sine * rest);
  }
  return sine == 0 ? 0 : factor * sine * z;
}

/* Just below 0 the reflection's 1 - s is rounded next to the pole at 1. */
static bool zeta_reflects(double s) { return s < -0.02; }

double special_riemann_zeta(double s) {
  if (isnan(s) || s == -INFINITY) return NAN;
  if (s == 1) return INFINITY;
  if (isinf(s)) return 1;
  return zeta_reflects(s) ? zeta_reflected(s, NULL) : zeta_sum(s, 1, NULL);
}

double special_riemann_zeta_grad(double s) {
  double slope;
  if (isnan(s) || s == -INFINITY || s == 1) return NAN;
  if (isinf(s)) return 0;
  if (zeta_reflects(s))
    zeta_reflected(s, &slope);
  else
    zeta_sum(fabs(s) < 1e-300 ? 1e-300 : s, 1, &slope);
  return slope;
}

/* zeta(s, q), q > 0, and its first two derivatives in s, by the formula of zeta_sum, term by term; f is (s)_(2k-1) w^(1-2k)
 * with its derivatives. */
static void zeta_derivatives(double s, double q, double *d) {
  double sum[3] = {0, 0, 0}, w = q;
  for (; w < 10 + 0.75 * s; w += 1) {
    const double term = pow(w, -s), slope = -log(w), bend = term * slope * slope;
    sum[0] += term;
    sum[1] += term * slope;
    sum[2] += bend;
    if (w > 3 && bend <= 1e-18 * sum[2]) break;
  }
  const double power = pow(w, -s), slope = -log(w), u = 1 / (w * w), r = 1 / (s - 1);
  double f[3] = {s / w, 1 / w, 0}, whole[3] = {w * r + 0.5, -w * r * r, 2 * w * r * r * r};
  for (int k = 0; k < 10; k++) {
    for (int i = 0; i < 3; i++) whole[i] += zeta_bernoulli[k] * f[i];
    const double a = s + 2 * k + 1, b = s + 2 * k + 2, g = a * b * u, g_1 = (a + b) * u, g_2 = 2 * u;
    f[2] = f[2] * g + 2 * f[1] * g_1 + f[0] * g_2;
    f[1] = f[1] * g + f[0] * g_1;
    f[0] *= g;
  }
  d[0] = sum[0] + power * whole[0];
  d[1] = sum[1] + power * (whole[1] + slope * whole[0]);
  d[2] = sum[2] + power * (whole[2] + 2 * slope * whole[1] + slope * slope * whole[0]);
}

double special_zeta_grad_ss(double s, double q) {
  double edge, d[3];
  if (zeta_edge(s, q, &edge) || q < 0) return NAN;
  zeta_derivatives(s, q, d);
  return d[2];
}

/* That of zeta_reflected, F = factor g with g = sin(pi s / 2) zeta(1 - s): factor' = factor l. */
double special_riemann_zeta_grad_ss(double s) {
  double d[3];
  if (isnan(s) || s == -INFINITY || s == 1) return NAN;
  if (isinf(s)) return 0;
  if (!zeta_reflects(s)) {
    zeta_derivatives(s, 1, d);
    return d[2];
  }
  zeta_derivatives(1 - s, 1, d);
  int sign;
  const dd log_2pi = {1.8378770664093456, -7.756588316134483e-17}, x = dd_sum(1, -s);
  const double factor = 2 * dd_exp(dd_add(dd_mul_d(log_2pi, s - 1), special_gammaln_signed(x, &sign)));
  const double r = s - 4 * rint(s / 4), half = ZETA_PI / 2, sine = sin(half * r), cosine = cos(half * r);
  const double l = log_2pi.hi - special_psi(1 - s), bend = special_tri_gamma(1 - s);
  const double g = sine * d[0], g_1 = half * cosine * d[0] - sine * d[1];
  const double g_2 = sine * d[2] - ZETA_PI * cosine * d[1] - half * half * g;
  return factor * ((l * l + bend) * g + 2 * l * g_1 + g_2);
}

/* DLMF 5.15.1: (-1)^(n+1) n! zeta(n + 1, x), for whole n >= 1. */
double special_polygamma(double n, double x) {
  if (isnan(n) || isnan(x) || n < 0 || n != floor(n)) return NAN;
  if (n == 0) return special_psi(x);
  if (n == 1) return special_tri_gamma(x);
  const double size = special_factorial(n) * special_hurwitz_zeta(n + 1, x);
  return fmod(n, 2) == 0 ? -size : size;
}

/* ---- Exponential integrals -------------------------------------------------------------------------------------------- */

/* The continued fraction DLMF 8.19.17 in its even part: exp(-x) / (x + n - n / (x + n + 2 - 2 (n + 1) / (x + n + 4 - …))),
 * from its end. Lentz's algorithm finds the depth. */
static double expn_fraction(double n, double x) {
  double b = x + n, c = INFINITY, d = 1 / b;
  int i = 1;
  for (; i < 1000; i++) {
    const double a = -i * (n - 1 + i);
    b += 2;
    d = 1 / (a * d + b);
    c = b + a / c;
    if (fabs(c * d - 1) < 2e-16) break;
  }
  double f = x + n + 2.0 * i;
  for (; i >= 1; i--) f = x + n + 2.0 * (i - 1) - i * (n - 1 + i) / f;
  return exp(-x) / f;
}

/* The series DLMF 8.19.8 for whole n and x <= 1. */
static double expn_series(int n, double x) {
  static const double euler = 0.57721566490153286061;
  double term = 1, sum = n == 1 ? 0 : 1 / (1.0 - n), log_term = n == 1 ? -1 : 0; /* (-x)^k / k! */
  for (int k = 1; k < 60; k++) {
    term *= -x / k;
    if (k == n - 1) {
      log_term = term;
      continue;
    }
    sum += term / (1 - n + k);
    if (fabs(term) < 1e-18 * fabs(sum) && k > n) break;
  }
  if (n == 1) return -euler - log(x) - sum;
  double harmonic = -euler;
  for (int k = 1; k < n; k++) harmonic += 1.0 / k;
  return log_term * (harmonic - log(x)) - sum;
}

/* The integral with t = exp(u), of exp(-x exp(u)) exp((1 - n) u) u^power, for n of any kind: Gauss-Legendre on parts of
 * length 1/2, or less where the integrand falls faster, up to where the integrand is less than 1e-18 of its largest. */
static double expn_integral(double n, double x, int power) {
  const double length = fmin(0.5, 8 / (n + x));
  double sum = 0, e = 0;
  for (int part = 0; part < 4000; part++) {
    double s = 0;
    for (int k = 0; k < SPECIAL_LEGENDRE; k++) {
      for (int side = -1; side <= 1; side += 2) {
        const double u = (part + 0.5 + side * special_legendre[k][0] / 2) * length;
        const double f = exp((1 - n) * u - x * expm1(u));
        s += special_legendre[k][1] * (power == 0 ? f : power == 1 ? f * u : f * u * u);
      }
    }
    e = s * length / 2;
    sum += e;
    if (e < 1e-18 * sum) break;
  }
  return exp(-x) * sum;
}

double special_exp1(double x) { return special_expn(1, x); }

double special_expn(double n, double x) {
  if (isnan(n) || isnan(x) || n < 0 || x < 0) return NAN;
  if (x == 0) return n > 1 ? 1 / (n - 1) : INFINITY;
  if (isinf(x) || isinf(n)) return 0;
  if (n == 0) return exp(-x) / x;
  if (x > 1 || n > 30) return expn_fraction(n, x);
  return n == floor(n) ? expn_series((int)n, x) : expn_integral(n, x, 0);
}

double special_expn_grad_n(double n, double x) {
  if (isnan(n) || isnan(x) || n < 0 || x < 0) return NAN;
  if (x == 0) return n > 1 ? -1 / ((n - 1) * (n - 1)) : -INFINITY;
  if (isinf(x) || isinf(n)) return 0;
  return -expn_integral(n, x, 1);
}

double special_expn_grad_nn(double n, double x) {
  if (isnan(n) || isnan(x) || n < 0 || x < 0) return NAN;
  if (x == 0) return n > 1 ? 2 / ((n - 1) * (n - 1) * (n - 1)) : INFINITY;
  if (isinf(x) || isinf(n)) return 0;
  return expn_integral(n, x, 2);
}

/* Euler's constant and log(x) and the series DLMF 6.6.2, in double-double: Ei has a zero at 0.3725. */
static double expi_series(double x) {
  const dd euler = {0.5772156649015329, -4.942915152430645e-18};
  dd term = dd_of(1), sum = dd_add(euler, dd_log(dd_of(x)));
  for (int k = 1; k < 60; k++) {
    term = dd_div(dd_mul_d(term, x), dd_of(k));
    sum = dd_add(sum, dd_div(term, dd_of(k)));
    if (term.hi < 1e-34) break;
  }
  return sum.hi;
}

/* x exp(-x) Ei(x) for x >= 3: Clenshaw's sum of the table's Chebyshev series, and beyond it DLMF 6.12.2. */
static double expi_scaled(double x) {
  static const double ends[SPECIAL_EXPI_PARTS + 1] = {3, 6, 14, 40};
  double sum = 1, term = 1;
  for (int part = 0; part < SPECIAL_EXPI_PARTS; part++) {
    if (x > ends[part + 1]) continue;
    const double low = 1 / ends[part + 1], high = 1 / ends[part], t = (2 / x - low - high) / (high - low);
    double u = 0, v = 0;
    for (int k = SPECIAL_EXPI - 1; k > 0; k--) {
      const double w = 2 * t * u - v + special_expi_series[part][k];
      v = u, u = w;
    }
    return t * u - v + special_expi_series[part][0];
  }
  for (int k = 1; k < 40 && term > 1e-18; k++) {
    term *= k / x;
    sum += term;
  }
  return sum;
}

double special_expi(double x) {
  if (isnan(x) || x == INFINITY) return x;
  if (x == 0) return -INFINITY;
  if (x < 0) return -special_exp1(-x);
  if (x < 3) return expi_series(x);
  const double scaled = expi_scaled(x) / x;
  return x < 700 ? exp(x) * scaled : exp(x / 2) * scaled * exp(x / 2);
}

/* ---- Lambert's W --------------------------------------------------------------------------------------------------------- */

/* Halley's method on w exp(w) = x (Corless and others 1996, eq. 5.9) in the form of Fritsch, Shafer and Crowley (1973), whose
 * steps are relative to w: with z = log(x/w) - w, the next w is w (1 + e), e of fourth order. */
static double lambert_refine(double x, double w) {
  for (int i = 0; i < 4; i++) {
    const double z = log(x / w) - w, t = 1 + w, q = 2 * t * (t + 2.0 / 3 * z);
    const double e = z / t * (q - z) / (q - 2 * z);
    w *= 1 + e;
    if (fabs(e) < 1e-15) break;
  }
  return w;
}

/* Near -1/e the series in p = ± sqrt(2 (e x + 1)) (Corless eq. 4.22). */
static double lambert_branch(double p) {
  double w = 0;
  for (int k = SPECIAL_LAMBERTS - 1; k >= 0; k--) w = w * p + special_lambert[k];
  return w;
}

/* e x + 1, exact where it is small. */
static double lambert_above(double x) {
  static const dd e = {2.718281828459045, 1.4456468917292502e-16};
  return dd_value(dd_add_d(dd_mul_d(e, x), 1));
}

double special_lambertw_principal(double x) {
  if (isnan(x) || x == INFINITY || x == 0) return x;
  const double above = lambert_above(x);
  if (above < 0) return above > -1e-15 ? -1 : NAN;
  if (above < 0.03) return lambert_branch(sqrt(2 * above));
  if (fabs(x) < 1e-20) return x;
  double w;
  if (x < 1) {
    const double p = sqrt(2 * above);
    w = x < -0.25 ? lambert_branch(p) : x * (1 + x * 0.75) / (1 + x * (1.75 + x * 0.4));
  } else {
    const double l = log(x), m = l > 1 ? log(l) : 0;
    w = x < 3 ? 0.567 + 0.36 * (x - 1) * (1 - 0.15 * (x - 1)) : l - m + m / l;
  }
  return lambert_refine(x, w);
}

double special_lambertw_lower(double x) {
  if (isnan(x) || x > 0) return NAN;
  if (x == 0) return -INFINITY;
  const double above = lambert_above(x);
  if (above < 0) return above > -1e-15 ? -1 : NAN;
  const double p = -sqrt(2 * above);
  if (above < 0.03) return lambert_branch(p);
  double w;
  if (x < -0.25) {
    w = lambert_branch(p);
  } else {
    const double l = log(-x), m = log(-l);
    w = l - m + m / l;
  }
  return lambert_refine(x, w);
}

/* special_gamma: see special_gamma.h. DLMF is dlmf.nist.gov. */
#include "special_gamma.h"

#include <stdbool.h>
#include <stddef.h>

#include "special.h"
#include "special_normal.h"

static const dd gamma_half_log_2pi = {0.9189385332046728, -3.8782941580672414e-17};
static const dd gamma_log_pi = {1.1447298858494002, 1.0265951162707826e-17};
#define GAMMA_PI 3.14159265358979323846

/* ---- log gamma --------------------------------------------------------------------------------------------------- */

/* Stirling's series (DLMF 5.11.1) from x = 16 on, whose terms after the first are small enough for double; below 16 by
 * gamma(x) = gamma(x + n) / (x (x + 1) …). */
dd special_gammaln_dd(dd x) {
  static const double c[] = {1.0 / 12,   -1.0 / 360,      1.0 / 1260, -1.0 / 1680,
                             1.0 / 1188, -691.0 / 360360, 1.0 / 156,  -3617.0 / 122400};
  if (isinf(x.hi) || isnan(x.hi)) return dd_of(x.hi);
  dd product = dd_of(1);
  const bool shifted = x.hi < 16;
  for (; x.hi < 16; x = dd_add_d(x, 1)) product = dd_mul(product, x);
  const dd log_x = dd_log(x);
  const double u = 1 / (x.hi * x.hi);
  double sum = 0;
  for (int k = 7; k >= 0; k--) sum = sum * u + c[k];
  dd y = dd_sub(dd_mul(dd_add_d(x, -0.5), log_x), x);
  if (isinf(y.hi) || isnan(y.hi)) return dd_of(INFINITY);
  y = dd_add(dd_add_d(y, sum / x.hi), gamma_half_log_2pi);
  return shifted ? dd_sub(y, dd_log(product)) : y;
}

/* sin(pi x), exact at integers. */
static double gamma_sin_pi(double x) {
  const double r = x - 2 * rint(x / 2); /* in [-1, 1], exact */
  return fabs(r) <= 0.5 ? sin(GAMMA_PI * r) : copysign(sin(GAMMA_PI * (1 - fabs(r))), r);
}

/* Below 0 by reflection, DLMF 5.5.3: gamma(x) gamma(1 - x) = pi / sin(pi x). */
dd special_gammaln_signed(dd x, int *sign) {
  *sign = 1;
  if (!(x.hi <= 0)) return special_gammaln_dd(x);
  double s = gamma_sin_pi(x.hi);
  if (s == 0 && x.lo == 0) return dd_of(INFINITY);
  s += GAMMA_PI * x.lo * cos(GAMMA_PI * (x.hi - 2 * rint(x.hi / 2)));
  if (s < 0) *sign = -1;
  const dd rest = special_gammaln_dd(dd_add_d(dd_neg(x), 1));
  return dd_sub(dd_sub(gamma_log_pi, dd_log(dd_of(fabs(s)))), rest);
}

/* ---- Incomplete gamma functions ------------------------------------------------------------------------------------ */

/* x^a exp(-x) / gamma(a + 1). */
static double gamma_prefix(double a, double x) {
  const dd power = dd_add_d(dd_mul_d(dd_log(dd_of(x)), a), -x);
  return dd_exp(dd_sub(power, special_gammaln_dd(dd_sum(a, 1))));
}

/* P by its series, DLMF 8.11.4, whose terms are all positive; with slope also dP/da, term by term: the derivative of
 * t_n = x^(a+n) exp(-x) / gamma(a + n + 1) is t_n (log x - psi(a + n + 1)). */
static double gamma_series(double a, double x, double *slope) {
  double term = 1, sum = 1;
  if (slope == NULL) {
    double rest = 0; /* what the additions lose */
    for (int n = 1; term > 1e-17 * sum; n++) {
      term *= x / (a + n);
      const dd s = dd_fast_sum(sum, term);
      sum = s.hi;
      rest += s.lo;
    }
    return gamma_prefix(a, x) * (sum + rest);
  }
  double factor = log(x) - special_psi(a + 1), d_sum = factor;
  for (int n = 1; term * fmax(1, fabs(factor)) > 1e-17 * fmax(fabs(d_sum), 1e-290); n++) {
    term *= x / (a + n);
    factor -= 1 / (a + n);
    sum += term;
    d_sum += term * factor;
    if (term == 0) break;
  }
  const double d = gamma_prefix(a, x);
  *slope = d * d_sum;
  return d * sum;
}

/* Legendre's continued fraction for Q, DLMF 8.9.2: x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / (x + 5 - a - …)), from
 * its end at depth n, which rounds little. */
static double gamma_fraction_backward(double a, double x, int n) {
  double f = x + 1 - a + 2.0 * n;
  for (int i = n; i >= 1; i--) f = x + 1 - a + 2.0 * (i - 1) - i * (i - a) / f;
  return f;
}

/* Q by that fraction, whose depth Lentz's algorithm finds; with slope also dQ/da, whose rule each step of the algorithm
 * follows: prefix' / prefix = log x - psi(a), and the sum of the steps' logarithmic derivatives. */
static double gamma_fraction(double a, double x, double *slope) {
  double b = x + 1 - a, c = INFINITY, d = 1 / b;
  double c_a = 0, d_a = d * d, log_h = d; /* derivatives in a: b' = -1 */
  int i = 1;
  for (; i < 100000; i++) {
    const double an = -i * (i - a), an_a = i;
    b += 2;
    const double next_d = 1 / (an * d + b), next_c = b + an / c;
    if (slope != NULL) {
      d_a = -next_d * next_d * (an_a * d + an * d_a - 1);
      c_a = -1 + (isinf(c) ? 0 : an_a / c - an * c_a / (c * c));
      log_h += c_a / next_c + d_a / next_d;
    }
    d = next_d;
    c = next_c;
    if (fabs(c * d - 1) < 2e-16 && (slope == NULL || fabs(c_a / c + d_a / d) < 1e-16 * fabs(log_h))) break;
  }
  const double q = a * gamma_prefix(a, x) / gamma_fraction_backward(a, x, i);
  if (slope != NULL) *slope = q * (log(x) - special_psi(a) + log_h);
  return q;
}

/* 1 / gamma(1 + a) - 1 without cancellation, 0 <= a <= 1. */
static double gamma_rgamma_minus_1(double a) {
  double sum = 0;
  for (int k = SPECIAL_RGAMMAS - 1; k >= 1; k--) sum = sum * a + special_rgamma[k];
  return sum * a;
}

/* Q for a <= 1 and small x (Gautschi 1979, section 4.1): Q = 1 - x^a / gamma(1 + a) (1 - a sum), where the sum is that of
 * (-1)^(n+1) x^n / ((a + n) n!), n >= 1. */
static double gamma_small_q(double a, double x) {
  const double power = expm1(a * log(x)), r = gamma_rgamma_minus_1(a);
  double term = 1, sum = 0;
  for (int n = 1; n < 100 && fabs(term) > 1e-18; n++) {
    term *= -x / n;
    sum -= term / (a + n);
  }
  return -(power + r + power * r) + (1 + power) * (1 + r) * a * sum;
}

/* Temme's uniform expansion, DLMF 8.12.3, 8.12.4, 8.12.7, for a >= 30 and |x/a - 1| <= 0.3: with mu = x/a - 1,
 * eta²/2 = mu - log(1 + mu) it is Q = erfc(eta sqrt(a/2)) / 2 + exp(-a eta²/2) / sqrt(2 pi a) S, S = sum of
 * c_k(eta) a^-k. Gives the tail (Q for x >= a, P below), and with slope dQ/da. */
static double gamma_uniform(double a, double x, double *slope) {
  const dd mu = dd_div(dd_sum(x, -a), dd_of(a));
  double m = mu.hi;
  dd phi; /* mu - log(1 + mu) */
  if (fabs(m) < 1e-3) {
    const double rest = m * m * m * (-1.0 / 3 + m * (0.25 + m * (-0.2 + m * (1.0 / 6 + m * (-1.0 / 7)))));
    phi = dd_add_d(dd_mul_d(dd_mul(mu, mu), 0.5), rest);
  } else {
    phi = dd_sub(mu, dd_log(dd_add_d(mu, 1)));
  }
  const dd y = dd_mul_d(phi, a);
  const double eta = copysign(sqrt(2 * phi.hi), m), z = sqrt(y.hi);
  double s = 0, s_eta = 0, s_a = 0; /* S and its derivatives */
  for (int k = SPECIAL_TEMME_K - 1; k >= 0; k--) {
    double c = 0, c_eta = 0;
    for (int n = SPECIAL_TEMME_ETA - 1; n >= 0; n--) {
      c_eta = c_eta * eta + c;
      c = c * eta + special_temme[k][n];
    }
    s_a = s_a / a - k * c / a;
    s_eta = s_eta / a + c_eta;
    s = s / a + c;
  }
  const double e = dd_exp(dd_neg(y)), root = sqrt(2 * GAMMA_PI * a);
  if (slope != NULL) {
    const double ratio = fabs(eta) < 1e-8 ? 1 : m / eta; /* eta' = -ratio / a */
    *slope = e / root * (ratio - eta / 2 + s * (log1p(m) - 0.5 / a) - s_eta * ratio / a + s_a);
  }
  return e * (special_erfcx(z) / 2 + (m >= 0 ? s : -s) / root);
}

typedef enum gamma_method { GAMMA_SERIES, GAMMA_FRACTION, GAMMA_UNIFORM } gamma_method;

static gamma_method gamma_choose(double a, double x) {
  if (a >= 30 && fabs(x - a) <= 0.3 * a) return GAMMA_UNIFORM;
  return x < fmax(a, 1.1) ? GAMMA_SERIES : GAMMA_FRACTION;
}

/* The edges of P; false inside the domain. */
static bool gamma_edge(double a, double x, double *p) {
  *p = NAN;
  if (isnan(a) || isnan(x) || a < 0 || x < 0) return true;
  if (a == 0) {
    if (x > 0) *p = 1;
    return true;
  }
  if (x == 0)
    *p = 0;
  else if (isinf(a))
    *p = isinf(x) ? NAN : 0;
  else if (isinf(x))
    *p = 1;
  else
    return false;
  return true;
}

double special_gammainc(double a, double x) {
  double p;
  if (gamma_edge(a, x, &p)) return p;
  switch (gamma_choose(a, x)) {
    case GAMMA_SERIES: return gamma_series(a, x, NULL);
    case GAMMA_FRACTION: return 1 - gamma_fraction(a, x, NULL);
    case GAMMA_UNIFORM: break;
  }
  return x < a ? gamma_uniform(a, x, NULL) : 1 - gamma_uniform(a, x, NULL);
}

double special_gammaincc(double a, double x) {
  double p;
  if (gamma_edge(a, x, &p)) return 1 - p;
  switch (gamma_choose(a, x)) {
    case GAMMA_SERIES: return a <= 1 ? gamma_small_q(a, x) : 1 - gamma_series(a, x, NULL);
    case GAMMA_FRACTION: return gamma_fraction(a, x, NULL);
    case GAMMA_UNIFORM: break;
  }
  return x < a ? 1 - gamma_uniform(a, x, NULL) : gamma_uniform(a, x, NULL);
}

double special_gammainc_grad_a(double a, double x) {
  double edge, slope;
  if (gamma_edge(a, x, &edge)) return isnan(edge) || a == 0 ? NAN : 0;
  switch (gamma_choose(a, x)) {
    case GAMMA_SERIES: gamma_series(a, x, &slope); return slope;
    case GAMMA_FRACTION: gamma_fraction(a, x, &slope); return -slope;
    case GAMMA_UNIFORM: break;
  }
  gamma_uniform(a, x, &slope);
  return -slope;
}

/* P changes with a over sqrt(a), far from a by the factor x / a, and near 0 over a. The second derivative is the central
 * difference of order 10 of the first one (B. Fornberg, Generation of finite difference formulas on arbitrarily spaced grids,
 * 1988): with a step of 0.02 of that length its error is some 1e-13 of the derivative's size. */
double special_gammainc_grad_aa(double a, double x) {
  static const double weights[] = {5.0 / 6, -5.0 / 21, 5.0 / 84, -5.0 / 504, 1.0 / 1260};
  double edge, sum = 0;
  if (gamma_edge(a, x, &edge)) return isnan(edge) || a == 0 ? NAN : 0;
  const double length = fmin(fmin(a, sqrt(a)), 2 / fabs(log(x) - special_psi(a))), step = 0.02 * length;
  for (int k = 1; k <= 5; k++) {
    const double up = special_gammainc_grad_a(a + k * step, x);
    sum += weights[k - 1] * (up - special_gammainc_grad_a(a - k * step, x));
  }
  return sum / step;
}

/* gamma(a) times a value in [0, 1], where gamma(a) alone may overflow. */
static double gamma_times(double a, double part) {
  if (a < 170 && a > 1e-300) return dd_exp(special_gammaln_dd(dd_of(a))) * part;
  return part == 0 ? 0 : dd_exp(dd_add(special_gammaln_dd(dd_of(a)), dd_log(dd_of(part))));
}

double special_gammal(double a, double x) {
  if (isnan(a) || isnan(x) || a <= 0) return a == 0 && x > 0 ? INFINITY : NAN;
  return gamma_times(a, special_gammainc(a, x));
}

double special_gammau(double a, double x) {
  if (isnan(a) || isnan(x) || a <= 0) return NAN;
  return gamma_times(a, special_gammaincc(a, x));
}

/* ---- Inverses -------------------------------------------------------------------------------------------------------- */

/* The x with P(a, x) = p, Q(a, x) = q, p + q = 1. As functions of u = log x, log P and log Q are concave (the density of
 * the logarithm of a gamma variable is log-concave), so Newton's method on the logarithm of the smaller of the two
 * converges from everywhere. It starts from P's first term, or from Wilson and Hilferty (1931). */
static double gamma_inverse(double a, double p, double q) {
  const dd log_first = dd_add(dd_log(dd_of(p)), special_gammaln_dd(dd_sum(a, 1)));
  const double log_gamma = dd_value(special_gammaln_dd(dd_of(a)));
  double x = dd_exp(dd_div(log_first, dd_of(a)));
  if (x < 1e-17) return x;
  if (!(x < 0.1 * (a + 1))) {
    const double z = p < q ? special_ndtri(p) : -special_ndtri(q), t = 1 - 1 / (9 * a) + z / (3 * sqrt(a));
    if (a > 0.5 && t > 0.2)
      x = a * t * t * t;
    else if (q < 0.1)
      x = fmax(x < 10 ? x : 1, -log(q) + (a - 1) * log(-log(q)) - log_gamma);
    else
      x = fmin(x, 2);
  }
  for (int i = 0; i < 100; i++) {
    const double slope = a * gamma_prefix(a, x); /* dP/du */
    double step;
    if (p <= q) {
      const double v = special_gammainc(a, x);
      step = v > 0 ? -log(v / p) * v / slope : 0.25; /* 0: underflow */
    } else {
      const double v = special_gammaincc(a, x);
      step = v > 0 ? log(v / q) * v / slope : -0.25;
    }
    if (!(fabs(step) <= 3)) step = copysign(3, step);
    const double before = x;
    x *= fabs(step) < 1e-3 ? 1 + step * (1 + step / 2) : exp(step);
    if (x == before || fabs(step) < 1e-11) break; /* the next step would be below the square of this one */
  }
  return x;
}

double special_gammaincinv(double a, double p) {
  if (isnan(a) || isnan(p) || !(a > 0) || p < 0 || p > 1) return NAN;
  if (p == 0) return 0;
  return p == 1 || isinf(a) ? INFINITY : gamma_inverse(a, p, 1 - p);
}

double special_gammainccinv(double a, double q) {
  if (isnan(a) || isnan(q) || !(a > 0) || q < 0 || q > 1) return NAN;
  if (q == 1) return 0;
  return q == 0 || isinf(a) ? INFINITY : gamma_inverse(a, 1 - q, q);
}

/* ---- Ratios of gamma functions ------------------------------------------------------------------------------------------ */

/* DLMF 5.2.4 for a few whole steps, else by logarithms. A pole of gamma(x + m) that is none of gamma(x) is infinite; where
 * both have one the quotient is the limit along m. */
double special_poch(double x, double m) {
  if (isnan(x) || isnan(m)) return NAN;
  if (m == 0) return 1;
  if (m == floor(m) && fabs(m) <= 24) {
    dd y = dd_of(1);
    for (int k = 0; k < m; k++) y = dd_mul(y, dd_sum(x, k));
    for (int k = -1; k >= m; k--) y = dd_mul(y, dd_sum(x, k));
    return m > 0 ? dd_value(y) : 1 / dd_value(y);
  }
  const dd end = dd_sum(x, m);
  const bool pole = x <= 0 && x == floor(x), end_pole = end.lo == 0 && end.hi <= 0 && end.hi == floor(end.hi);
  if (pole && end_pole) { /* (-1)^m (-x)! / (-x - m)! */
    const double size = dd_exp(dd_sub(special_gammaln_dd(dd_of(1 - x)), special_gammaln_dd(dd_sum(1 - x, -m))));
    return fmod(m, 2) == 0 ? size : -size;
  }
  if (pole) return 0;
  if (end_pole) return INFINITY;
  int sign, end_sign;
  const dd below = special_gammaln_signed(dd_of(x), &sign), above = special_gammaln_signed(end, &end_sign);
  return sign * end_sign * dd_exp(dd_sub(above, below));
}

/* gamma(n + 1) / (gamma(k + 1) gamma(n - k + 1)); for whole k the product of k quotients (DLMF 1.2.6), which is exact
 * while it is small. */
double special_binom(double n, double k) {
  if (isnan(n) || isnan(k)) return NAN;
  if (n < 0 && n == floor(n)) return NAN;
  double whole = k;
  if (n == floor(n) && k == floor(k) && whole > n / 2 && n > 0) whole = n - k;
  if (k == floor(k)) {
    if (whole < 0) return 0;
    if (whole <= 40) {
      dd y = dd_of(1);
      for (int i = 1; i <= whole; i++) y = dd_div(dd_mul(y, dd_sum(n, i - whole)), dd_of(i));
      return dd_value(y);
    }
  }
  int s1, s2, s3;
  const dd top = special_gammaln_signed(dd_sum(n, 1), &s1), left = special_gammaln_signed(dd_sum(k, 1), &s2);
  const dd right = special_gammaln_signed(dd_add_d(dd_sum(n, -k), 1), &s3);
  if (isinf(left.hi) || isinf(right.hi)) return 0;
  return s1 * s2 * s3 * dd_exp(dd_sub(dd_sub(top, left), right));
}

double special_factorial(double x) {
  if (x < 0) return 0;
  if (x == floor(x) && x <= 22) { /* exact */
    double y = 1;
    for (int i = 2; i <= x; i++) y *= i;
    return y;
  }
  return dd_exp(special_gammaln_dd(dd_sum(x, 1)));
}

/* ---- psi'' ----------------------------------------------------------------------------------------------------------- */

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
double special_tetra_gamma(double x) {
  if (isnan(x) || x > 0) return tetra_gamma_positive(x);
  if (x == floor(x)) return NAN;
  double r = x - floor(x); /* sin³ and cos change sign together with each unit: the quotient has period 1 */
  double s = sin(GAMMA_PI * r);
  return tetra_gamma_positive(1 - x) - 2 * GAMMA_PI * GAMMA_PI * GAMMA_PI * cos(GAMMA_PI * r) / (s * s * s);
}

/* special_bessel: see special_bessel.h. DLMF is dlmf.nist.gov; v is an order, u its part in [-1/2, 1/2] or another low
 * order from which recurrences go up. */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700 /* j0, j1, y0, y1 */
#endif
#include "special_bessel.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "dd.h"
#include "hyperdual.h"
#include "special.h"
#include "special_gamma.h"

#if defined(_WIN32) && defined(__STRICT_ANSI__) /* whose header has none of them then */
double __cdecl j0(double x);
double __cdecl j1(double x);
double __cdecl y0(double x);
double __cdecl y1(double x);
#endif

#define BESSEL_PI 3.14159265358979323846

/* sin(pi x) and cos(pi x), exact at halves. */
static double bessel_sin_pi(double x) {
  const double r = x - 2 * rint(x / 2);
  return fabs(r) <= 0.5 ? sin(BESSEL_PI * r) : copysign(sin(BESSEL_PI * (1 - fabs(r))), r);
}
static double bessel_cos_pi(double x) {
  const double r = fabs(x - 2 * rint(x / 2));
  return r == 0.5 ? 0 : r < 0.5 ? cos(BESSEL_PI * r) : -cos(BESSEL_PI * (1 - r));
}

/* (x/2)^v exp(-shift) / gamma(v + 1), v > -1. */
static double bessel_prefix(double v, double x, double shift) {
  const dd power = dd_add_d(dd_mul_d(dd_log(dd_of(x / 2)), v), -shift);
  return dd_exp(dd_sub(power, special_gammaln_dd(dd_sum(v, 1))));
}

/* The power series of J (sign -1, DLMF 10.2.2) or I (sign 1, DLMF 10.25.2), times exp(-shift). */
static double bessel_series(double v, double x, int sign, double shift) {
  const double z = sign * (x / 2) * (x / 2);
  double term = 1, sum = 1, rest = 0;
  for (int k = 1; k < 10000; k++) {
    term *= z / (k * (v + k));
    const dd s = dd_sum(sum, term);
    sum = s.hi;
    rest += s.lo;
    if (fabs(term) < 1e-18 * fabs(sum) && fabs(z) < k * (v + k)) break;
  }
  return bessel_prefix(v, x, shift) * (sum + rest);
}

/* ---- J and Y --------------------------------------------------------------------------------------------------------- */

/* gamma_1 and gamma_2 of Temme (1975): (1 / gamma(1 - u) ∓ 1 / gamma(1 + u)) over 2 u, and over 2. */
static void bessel_gammas(double u, double *gamma_1, double *gamma_2) {
  double odd = 0, even = 0;
  for (int k = SPECIAL_RGAMMAS - 2; k >= 0; k -= 2) {
    odd = odd * u * u + special_rgamma[k + 1];
    even = even * u * u + special_rgamma[k];
  }
  *gamma_1 = -odd;
  *gamma_2 = even;
}

/* Temme's series (1975) for x <= 2, |u| <= 1/2: K_u and K_(u+1), or with sign -1 Y_u and Y_(u+1). */
static void bessel_temme(double u, double x, int sign, double *low, double *high) {
  double gamma_1, gamma_2;
  bessel_gammas(u, &gamma_1, &gamma_2);
  const double l = log(2 / x), sigma = u * l, e = exp(sigma), pi_u = BESSEL_PI * u;
  const double sine = fabs(u) < 1e-9 ? 1 : pi_u / bessel_sin_pi(u),
               sinh_part = fabs(sigma) < 1e-6 ? 1 : sinh(sigma) / sigma;
  const double scale = sign > 0 ? 1 : 2 / BESSEL_PI;
  double f = scale * sine * (cosh(sigma) * gamma_1 + sinh_part * l * gamma_2);
  double p = scale * 0.5 * e / (gamma_2 - u * gamma_1), q = scale * 0.5 / e / (gamma_2 + u * gamma_1);
  const double s = bessel_sin_pi(u / 2), turn = sign > 0 || u == 0 ? 0 : 2 / u * s * s;
  double c = 1, sum = f + turn * q, sum_high = p, z = sign * x * x / 4;
  for (int k = 1; k < 500; k++) {
    f = (k * f + p + q) / (k * k - u * u);
    p /= k - u;
    q /= k + u;
    c *= z / k;
    const double g = f + turn * q, d = c * g;
    sum += d;
    sum_high += c * (p - k * g);
    if (fabs(d) < 1e-18 * fabs(sum)) break;
  }
  *low = sign * sum;
  *high = sign * 2 / x * sum_high;
}

/* P and Q of Hankel's expansion, DLMF 10.17.3, for |u| <= 3/2 and x >= 25. */
static void bessel_hankel(double u, double x, double *p, double *q) {
  double term = 1;
  *p = 1;
  *q = 0;
  for (int k = 1; k < 40; k++) {
    const double next = term * (4 * u * u - (2 * k - 1) * (2 * k - 1)) / (8 * k * x);
    if (fabs(next) >= fabs(term) || fabs(next) < 1e-18) break;
    term = next;
    const double part = (k / 2) % 2 == 0 ? term : -term;
    if (k % 2 == 0)
      *p += part;
    else
      *q += part;
  }
}

/* J_u and Y_u for x >= 25: the phase x - (u/2 + 1/4) pi by addition, so that its rounding is absolute. */
static void bessel_far(double u, double x, double *j, double *y) {
  double p, q;
  bessel_hankel(u, x, &p, &q);
  const double c = bessel_cos_pi(u / 2 + 0.25), s = bessel_sin_pi(u / 2 + 0.25);
  const double cosine = cos(x) * c + sin(x) * s, sine = sin(x) * c - cos(x) * s;
  const double r = sqrt(2 / (BESSEL_PI * x));
  *j = r * (p * cosine - q * sine);
  *y = r * (p * sine + q * cosine);
}

/* p + i q = H'/H of the first Hankel function of order u, for x >= 2, |u| <= 1/2: Steed's continued fraction (Barnett and
 * others 1974) -1/(2x) + i + i/x ((1/2)² - u²) / (2 (x + i) + ((3/2)² - u²) / (2 (x + 2i) + …)), from its end. */
static void bessel_steed(double u, double x, double *p, double *q) {
  const int depth = 12 + (int)(400 / x);
  double re = 2 * x, im = 2.0 * (depth + 1);
  for (int k = depth; k >= 1; k--) {
    const double a = (k + 0.5) * (k + 0.5) - u * u, size = re * re + im * im;
    const double next = 2 * x + a * re / size;
    im = 2.0 * k - a * im / size;
    re = next;
  }
  const double a = (0.25 - u * u) / (x * (re * re + im * im)); /* i a / x / (re + i im) */
  *p = -0.5 / x + a * im;
  *q = 1 + a * re;
}

/* Values proportional to J at the orders u, u + 1 and u + n, by Miller's backward recurrence (DLMF 3.6(iii)). */
typedef struct bessel_miller {
  double low, next, high;
} bessel_miller;

static bessel_miller bessel_backward(double u, int n, double x) {
  const int top = (n > x ? n : (int)x) + 30 + (int)(8 * cbrt(x));
  double f = 1e-290, above = 0;
  bessel_miller m = {0};
  for (int k = top; k >= 0; k--) {
    if (k == n) m.high = f;
    if (k == 1) m.next = f;
    if (k == 0) break;
    const double below = 2 * (u + k) / x * f - above;
    above = f;
    f = below;
    if (fabs(f) > 1e250) {
      f *= 1e-250;
      above *= 1e-250;
      m.high *= 1e-250;
      m.next *= 1e-250;
    }
  }
  if (n == 0) m.high = f;
  const double norm = fmax(fabs(f), fabs(m.next));
  m.low = f / norm;
  m.next /= norm;
  m.high /= norm;
  return m;
}

/* J_v and Y_v, v >= 0, x > 0; either may be NULL. */
static void bessel_jy(double v, double x, double *j, double *y) {
  const int n = (int)(v + 0.5);
  const double u = v - n;
  const bool by_series = x <= 2 || x * x < 4 * (v + 1);
  if (j != NULL && by_series) {
    *j = bessel_series(v, x, -1, 0);
    if (y == NULL) return;
  }
  double y_low, y_high, j_low;
  if (x <= 2) {
    bessel_temme(u, x, -1, &y_low, &y_high);
  } else if (x < 25) {
    double p, q;
    bessel_steed(u, x, &p, &q);
    const bessel_miller m = bessel_backward(u, n, x);
    const double slope = u / x * m.low - m.next,
                 gap = p * m.low - slope; /* J = scale F, J' = scale F', Y = J gap / (q F) */
    const double scale = sqrt(2 / (BESSEL_PI * x) * q / (gap * gap + q * q * m.low * m.low));
    if (j != NULL && !by_series) *j = scale * m.high;
    j_low = scale * m.low;
    y_low = scale * gap / q;
    y_high = u / x * y_low - (p * y_low + q * j_low);
  } else {
    double j_high;
    bessel_far(u, x, &j_low, &y_low);
    bessel_far(u + 1, x, &j_high, &y_high);
    if (j != NULL && !by_series) {
      if (v > x) {
        const bessel_miller m = bessel_backward(u, n, x);
        *j = m.high * (fabs(m.low) > fabs(m.next) ? j_low / m.low : j_high / m.next);
      } else {
        double a = j_low, b = j_high;
        for (int k = 1; k < n; k++) {
          const double c = 2 * (u + k) / x * b - a;
          a = b;
          b = c;
        }
        *j = n == 0 ? j_low : b;
      }
    }
  }
  if (y == NULL) return;
  for (int k = 1; k < n && isfinite(y_high); k++) {
    const double next = 2 * (u + k) / x * y_high - y_low;
    y_low = y_high;
    y_high = next;
  }
  *y = n == 0 ? y_low : y_high;
}

#define BESSEL_MOST 1e6 /* recurrences take as many steps as the order has units */

/* x is infinite or the order too large: J and Y have no value here. */
static bool bessel_is_off(double v, double x) { return isnan(v) || isnan(x) || isinf(x) || fabs(v) > BESSEL_MOST; }

/* J and I of an order v < 0 that is no integer at x = 0: infinite, with the sign of gamma(v + 1) (DLMF 10.2.2). */
static double bessel_at_zero(double v) { return fmod(floor(v), 2) == 0 ? -INFINITY : INFINITY; }

double special_jv(double v, double x) {
  if (bessel_is_off(v, x)) return NAN;
  if (x < 0) return v == floor(v) ? (fmod(v, 2) == 0 ? 1 : -1) * special_jv(v, -x) : NAN;
  if (v < 0 && v == floor(v)) return (fmod(v, 2) == 0 ? 1 : -1) * special_jv(-v, x);
  if (x == 0) return v == 0 ? 1 : v > 0 ? 0 : bessel_at_zero(v);
  if (v == 0) return j0(x);
  if (v == 1) return j1(x);
  double j = 0, y = 0;
  bessel_jy(fabs(v), x, &j, v < 0 ? &y : NULL);
  return v < 0 ? bessel_cos_pi(v) * j + bessel_sin_pi(v) * y : j; /* DLMF 10.2.3 */
}

double special_yv(double v, double x) {
  if (bessel_is_off(v, x) || x < 0) return NAN;
  if (x == 0 && v >= 0) return -INFINITY;
  if (v == 0) return y0(x);
  if (v == 1) return y1(x);
  const double c = bessel_cos_pi(v), s = bessel_sin_pi(v);
  if (x == 0) return c == 0 ? 0 : -c * INFINITY; /* cos(pi v) Y_(-v), J being 0 there */
  double j = 0, y;
  bessel_jy(fabs(v), x, v < 0 && s != 0 ? &j : NULL, &y);
  if (v > 0) return y;
  return (s == 0 ? 0 : -s * j) + (c == 0 ? 0 : c * y);
}

double special_j0(double x) { return isinf(x) ? NAN : j0(x); }
double special_j1(double x) { return isinf(x) ? NAN : j1(x); }
double special_y0(double x) { return x > 0 ? (isinf(x) ? NAN : y0(x)) : x == 0 ? -INFINITY : NAN; }
double special_y1(double x) { return x > 0 ? (isinf(x) ? NAN : y1(x)) : x == 0 ? -INFINITY : NAN; }

/* ---- I and K --------------------------------------------------------------------------------------------------------- */

/* The sum of DLMF 10.41.3 (sign 1, I) or 10.41.4 (sign -1, K), r = sqrt(v² + x²). */
static double bessel_debye_sum(double v, double r, int sign) {
  const double p = v / r;
  double sum = 0;
  for (int k = SPECIAL_DEBYE - 1; k >= 0; k--) {
    double u = 0;
    for (int j = k; j >= 0; j--) u = u * p * p + special_debye[k][j];
    sum = u + sign * sum / r; /* u_k(p) / v^k = u / r^k */
  }
  return sum;
}

/* The exponent of those, r + v log(x / (v + r)), less x: without cancellation r - x = v² / (r + x). */
static dd bessel_debye_exponent(double v, double x) {
  const dd v2 = dd_product(v, v), r = dd_sqrt(dd_add(v2, dd_product(x, x)));
  const dd head = dd_div(v2, dd_add_d(r, x));
  return dd_add(head, dd_mul_d(dd_sub(dd_log(dd_of(x)), dd_log(dd_add_d(r, v))), v));
}

/* Whether the power series of I is short. Else sqrt(v² + x²), in whose powers Debye's expansion goes, is above 35. */
static bool bessel_is_short(double v, double x) { return x <= 35 || x * x < 25 * (v + 1); }

/* I_v(x) exp(-x), v >= 0, x > 0. */
static double bessel_ie(double v, double x) {
  if (x > 1e100) return v > 1e49 ? 0 : 1 / sqrt(2 * BESSEL_PI * x);
  if (bessel_is_short(v, x)) return bessel_series(v, x, 1, x);
  const double r = hypot(v, x), power = v == 0 ? 1 : dd_exp(bessel_debye_exponent(v, x));
  return power / sqrt(2 * BESSEL_PI * r) * bessel_debye_sum(v, r, 1);
}

/* exp(x) K at the orders u and u + 1, |u| <= 1/2: Temme's series up to 2, the trapezoidal rule on DLMF 10.32.9, whose error
 * falls as exp(x - pi² / step), up to 20, then DLMF 10.40.2. */
static void bessel_ke_low(double u, double x, double *low, double *high) {
  if (x <= 2) {
    bessel_temme(u, x, 1, low, high);
    const double e = exp(x);
    *low *= e;
    *high *= e;
  } else if (x <= 20) {
    const double step = 0.15625;
    double a = 0.5, b = 0.5;
    for (int k = 1;; k++) {
      const double t = k * step, s = sinh(t / 2), e = exp(-2 * x * s * s); /* exp(x - x cosh t) */
      a += e * cosh(u * t);
      b += e * cosh((u + 1) * t);
      if (e < 1e-19) break;
    }
    *low = a * step;
    *high = b * step;
  } else {
    for (int i = 0; i < 2; i++) {
      const double m = 4 * (u + i) * (u + i);
      double term = 1, sum = 1;
      for (int k = 1; k < 40 && fabs(term) > 1e-18; k++) {
        term *= (m - (2 * k - 1) * (2 * k - 1)) / (8 * k * x);
        sum += term;
      }
      *(i == 0 ? low : high) = sum * sqrt(BESSEL_PI / (2 * x));
    }
  }
}

static double bessel_ke(double v, double x) {
  if (x > 1e100 && v < 1e49) return sqrt(BESSEL_PI / (2 * x));
  if (v > 1e100) return INFINITY;
  if (v >= 40) {
    const double r = hypot(v, x);
    return dd_exp(dd_neg(bessel_debye_exponent(v, x))) * sqrt(BESSEL_PI / (2 * r)) * bessel_debye_sum(v, r, -1);
  }
  const int n = (int)(v + 0.5);
  const double u = v - n;
  double low = 0, high = 0;
  bessel_ke_low(u, x, &low, &high);
  for (int k = 1; k < n; k++) {
    const double next = 2 * (u + k) / x * high + low; /* DLMF 10.29.1 */
    low = high;
    high = next;
  }
  return n == 0 ? low : high;
}

/* I_(-v) = I_v + 2/pi sin(pi v) K_v (DLMF 10.27.2); exp(-x) of it where scaled. */
static double bessel_i_any(double v, double x, bool scaled) {
  if (isnan(v) || isnan(x) || isinf(x) || isinf(v)) return NAN;
  const bool whole = v == floor(v);
  if (x < 0) return whole ? (fmod(v, 2) == 0 ? 1 : -1) * bessel_i_any(v, -x, scaled) : NAN;
  const double size = fabs(v);
  if (x == 0) return v == 0 ? 1 : v > 0 || whole ? 0 : bessel_at_zero(v);
  double y;
  if (scaled || x > 700) {
    y = bessel_ie(size, x);
    if (!scaled) y = y * exp(x / 2) * exp(x / 2);
  } else if (bessel_is_short(size, x)) {
    y = bessel_series(size, x, 1, 0);
  } else {
    y = bessel_ie(size, x) * exp(x);
  }
  if (v >= 0 || whole) return y;
  return y + 2 / BESSEL_PI * bessel_sin_pi(size) * bessel_ke(size, x) * exp(scaled ? -2 * x : -x);
}

double special_iv(double v, double x) { return bessel_i_any(v, x, false); }

double special_ive(double v, double x) { return bessel_i_any(v, x, true); }

double special_kve(double v, double x) {
  if (isnan(v) || isnan(x) || isinf(v) || x < 0) return NAN;
  if (isinf(x)) return 0;
  return x == 0 ? INFINITY : bessel_ke(fabs(v), x);
}

double special_kv(double v, double x) {
  const double y = special_kve(v, x);
  if (!(x > 0) || y == 0) return y;
  if (isinf(y) && fabs(v) >= 40 && fabs(v) < 1e100) { /* DLMF 10.41.4, where the scaled function alone overflows */
    const double r = hypot(v, x), factor = sqrt(BESSEL_PI / (2 * r)) * bessel_debye_sum(fabs(v), r, -1);
    return dd_exp(dd_add_d(dd_add_d(dd_neg(bessel_debye_exponent(fabs(v), x)), -x), log(factor)));
  }
  return x > 700 ? y * exp(-x / 2) * exp(-x / 2) : y * exp(-x);
}

double special_i0(double x) { return special_iv(0, fabs(x)); }
double special_i1(double x) { return copysign(special_iv(1, fabs(x)), x); }
double special_i0e(double x) { return isinf(x) ? 0 : special_ive(0, fabs(x)); }
double special_i1e(double x) { return isinf(x) ? 0 : copysign(special_ive(1, fabs(x)), x); }
double special_k0(double x) { return special_kv(0, x); }
double special_k1(double x) { return special_kv(1, x); }

/* ---- Derivatives of J and Y in the order ------------------------------------------------------------------------------- */

/* Hyper-dual numbers whose p and q are both the order go through the formulas of the functions. */

/* The power series with its derivatives: those of the logarithm of term k are log(x/2) - psi(v + k + 1) and
 * -psi'(v + k + 1). */
static hyperdual bessel_series_slopes(double v, double x, int sign, double shift) {
  const double z = sign * (x / 2) * (x / 2);
  double term = 1, first = log(x / 2) - special_psi(v + 1), second = -special_tri_gamma(v + 1);
  hyperdual sum = {1, first, first, first * first + second};
  for (int k = 1; k < 10000; k++) {
    const double r = 1 / (v + k);
    term *= z / k * r;
    first -= r;
    second += r * r;
    const double curve = first * first + second;
    sum.v += term;
    sum.p += term * first;
    sum.pq += term * curve;
    const double least = fmax(fabs(sum.v), fmax(fabs(sum.p), fabs(sum.pq)));
    if (fabs(term) * fmax(1, fmax(fabs(first), fabs(curve))) < 1e-18 * least && fabs(z) < k * (v + k)) break;
  }
  sum.q = sum.p;
  return hyperdual_mul_d(sum, bessel_prefix(v, x, shift));
}

/* sinh(sqrt z) / sqrt z, that is sin(sqrt -z) / sqrt -z for z < 0: the solution of 4 z f'' + 6 f' = f. */
static hyperdual bessel_sinhc(hyperdual z) {
  if (z.v > 4) {
    const double r = sqrt(z.v), f = sinh(r) / r, d = (cosh(r) - f) / (2 * z.v);
    return hyperdual_chain(z, f, d, (f - 6 * d) / (4 * z.v));
  }
  hyperdual f = hyperdual_of(1);
  for (int k = 14; k >= 1; k--)
    f = hyperdual_add_d(hyperdual_mul_d(hyperdual_mul(z, f), 1.0 / (2 * k * (2 * k + 1))), 1);
  return f;
}

/* Temme's series as in bessel_temme: Y at the orders u and u + 1. */
static void bessel_temme_slopes(double u, double x, hyperdual *low, hyperdual *high) {
  const hyperdual order = hyperdual_parameter(u), square = hyperdual_mul(order, order);
  hyperdual odd = {0}, even = {0};
  for (int k = SPECIAL_RGAMMAS - 2; k >= 0; k -= 2) {
    odd = hyperdual_add_d(hyperdual_mul(odd, square), special_rgamma[k + 1]);
    even = hyperdual_add_d(hyperdual_mul(even, square), special_rgamma[k]);
  }
  const hyperdual shift = hyperdual_mul(order, odd), plus = hyperdual_inverse(hyperdual_add(even, shift)),
                  minus = hyperdual_inverse(hyperdual_sub(even, shift)); /* gamma(1 + u), gamma(1 - u) */
  const double l = log(2 / x), e = exp(u * l), c_sigma = cosh(u * l), s_sigma = sinh(u * l);
  const hyperdual sigma = hyperdual_mul_d(order, l), sinhc = bessel_sinhc(hyperdual_mul(sigma, sigma));
  hyperdual f = hyperdual_mul(hyperdual_chain(sigma, c_sigma, s_sigma, c_sigma), hyperdual_mul_d(odd, -1));
  f = hyperdual_add(f, hyperdual_mul(hyperdual_mul_d(sinhc, l), even));
  f = hyperdual_mul_d(hyperdual_mul(f, hyperdual_mul(plus, minus)), 2 / BESSEL_PI); /* of pi u / sin(pi u) */
  hyperdual p = hyperdual_mul_d(hyperdual_mul(hyperdual_chain(sigma, e, e, e), plus), 1 / BESSEL_PI);
  hyperdual q = hyperdual_mul_d(hyperdual_mul(hyperdual_chain(sigma, 1 / e, -1 / e, 1 / e), minus), 1 / BESSEL_PI);
  const hyperdual sinc = bessel_sinhc(hyperdual_mul_d(square, -BESSEL_PI * BESSEL_PI / 4)); /* of pi u / 2 */
  const hyperdual turn = hyperdual_mul_d(hyperdual_mul(order, hyperdual_mul(sinc, sinc)), BESSEL_PI * BESSEL_PI / 2);
  hyperdual sum = hyperdual_add(f, hyperdual_mul(turn, q)), sum_high = p;
  double c = 1;
  for (int k = 1; k < 500; k++) {
    const hyperdual below = hyperdual_inverse(hyperdual_add_d(hyperdual_mul_d(order, -1), k)),
                    above = hyperdual_inverse(hyperdual_add_d(order, k));
    f = hyperdual_mul(hyperdual_add(hyperdual_mul_d(f, k), hyperdual_add(p, q)), hyperdual_mul(below, above));
    p = hyperdual_mul(p, below);
    q = hyperdual_mul(q, above);
    c *= -x * x / 4 / k;
    const hyperdual g = hyperdual_add(f, hyperdual_mul(turn, q)), d = hyperdual_mul_d(g, c);
    sum = hyperdual_add(sum, d);
    sum_high = hyperdual_add(sum_high, hyperdual_mul_d(hyperdual_sub(p, hyperdual_mul_d(g, k)), c));
    if (hyperdual_size(d) < 1e-18 * hyperdual_size(sum)) break;
  }
  *low = hyperdual_mul_d(sum, -1);
  *high = hyperdual_mul_d(sum_high, -2 / x);
}

/* J and Y at the order u by Hankel's expansion, as in bessel_far. */
static void bessel_far_slopes(double u, double x, hyperdual *j, hyperdual *y) {
  const hyperdual order = hyperdual_parameter(u), four_square = hyperdual_mul_d(hyperdual_mul(order, order), 4);
  hyperdual term = hyperdual_of(1), p = term, q = {0};
  for (int k = 1; k < 40; k++) {
    const double odd = 2 * k - 1;
    const hyperdual factor = hyperdual_mul_d(hyperdual_add_d(four_square, -odd * odd), 1 / (8 * k * x));
    term = hyperdual_mul(term, factor);
    if (hyperdual_size(term) < 1e-18) break;
    const hyperdual part = (k / 2) % 2 == 0 ? term : hyperdual_mul_d(term, -1);
    if (k % 2 == 0)
      p = hyperdual_add(p, part);
    else
      q = hyperdual_add(q, part);
  }
  const double half = BESSEL_PI / 2, c = bessel_cos_pi(u / 2 + 0.25), s = bessel_sin_pi(u / 2 + 0.25);
  const double cosine = cos(x) * c + sin(x) * s, sine = sin(x) * c - cos(x) * s, r = sqrt(2 / (BESSEL_PI * x));
  const hyperdual cosines = hyperdual_chain(order, cosine, half * sine, -half * half * cosine),
                  sines = hyperdual_chain(order, sine, -half * cosine, -half * half * sine);
  *j = hyperdual_mul_d(hyperdual_sub(hyperdual_mul(p, cosines), hyperdual_mul(q, sines)), r);
  *y = hyperdual_mul_d(hyperdual_add(hyperdual_mul(p, sines), hyperdual_mul(q, cosines)), r);
}

/* p + i q of bessel_steed. */
static void bessel_steed_slopes(double u, double x, hyperdual *p, hyperdual *q) {
  const int depth = 12 + (int)(400 / x);
  const hyperdual order = hyperdual_parameter(u), square = hyperdual_mul_d(hyperdual_mul(order, order), -1);
  hyperdual re = hyperdual_of(2 * x), im = hyperdual_of(2.0 * (depth + 1)), a_re = {0}, a_im = {0};
  for (int k = depth; k >= 0; k--) {
    const hyperdual size = hyperdual_add(hyperdual_mul(re, re), hyperdual_mul(im, im));
    const hyperdual over = hyperdual_div(hyperdual_add_d(square, (k + 0.5) * (k + 0.5)), size);
    a_re = hyperdual_mul(over, re);
    a_im = hyperdual_mul(over, im);
    re = hyperdual_add_d(a_re, 2 * x);
    im = hyperdual_add_d(hyperdual_mul_d(a_im, -1), 2.0 * k);
  }
  *p = hyperdual_add_d(hyperdual_mul_d(a_im, 1 / x), -0.5 / x);
  *q = hyperdual_add_d(hyperdual_mul_d(a_re, 1 / x), 1);
}

/* 2 (u + k) / x a - b, a step of the recurrence DLMF 10.6.1. */
static hyperdual bessel_step(double u, int k, double x, hyperdual a, hyperdual b) {
  const double w = 2 * (u + k) / x, t = 2 / x;
  return (hyperdual){w * a.v - b.v, w * a.p + t * a.v - b.p, w * a.q + t * a.v - b.q,
                     w * a.pq + t * (a.p + a.q) - b.pq};
}

typedef struct bessel_miller_slopes {
  hyperdual low, next, high;
} bessel_miller_slopes;

/* As bessel_backward. The factor of all orders depends on u. */
static bessel_miller_slopes bessel_backward_slopes(double u, int n, double x) {
  const int top = (n > x ? n : (int)x) + 30 + (int)(8 * cbrt(x));
  hyperdual f = hyperdual_of(1e-290), above = {0};
  bessel_miller_slopes m = {0};
  for (int k = top; k >= 1; k--) {
    if (k == n) m.high = f;
    if (k == 1) m.next = f;
    const hyperdual below = bessel_step(u, k, x, f, above);
    above = f;
    f = below;
    if (hyperdual_size(f) > 1e250) {
      f = hyperdual_mul_d(f, 1e-250);
      above = hyperdual_mul_d(above, 1e-250);
      m.high = hyperdual_mul_d(m.high, 1e-250);
      m.next = hyperdual_mul_d(m.next, 1e-250);
    }
  }
  if (n == 0) m.high = f;
  const double norm = 1 / fmax(fabs(f.v), fabs(m.next.v));
  m.low = hyperdual_mul_d(f, norm);
  m.next = hyperdual_mul_d(m.next, norm);
  m.high = hyperdual_mul_d(m.high, norm);
  return m;
}

/* From the orders u and u + 1 up to u + n. Values that overflow are those of Y far below 0. */
static hyperdual bessel_up(double u, int n, double x, hyperdual low, hyperdual high) {
  if (n == 0) return low;
  for (int k = 1; k < n; k++) {
    const hyperdual next = bessel_step(u, k, x, high, low);
    low = high;
    high = next;
  }
  if (isnan(high.v)) high.v = -INFINITY;
  if (isnan(high.p)) high.p = high.q = -INFINITY;
  if (isnan(high.pq)) high.pq = -INFINITY;
  return high;
}

/* J and Y of an order v >= 0 with their derivatives, x > 0, by the ways of bessel_jy. Either may be NULL. */
static void bessel_jy_slopes(double v, double x, hyperdual *j, hyperdual *y) {
  const int n = (int)(v + 0.5);
  const double u = v - n;
  const bool by_series = x <= 4 || x * x < 8 * (v + 1);
  if (j != NULL && by_series) {
    *j = bessel_series_slopes(v, x, -1, 0);
    if (y == NULL) return;
  }
  hyperdual y_low = {0}, y_high = {0};
  if (x <= 2) {
    bessel_temme_slopes(u, x, &y_low, &y_high);
  } else if (x < 25) {
    const bessel_miller_slopes m = bessel_backward_slopes(u, n, x);
    hyperdual p, q;
    bessel_steed_slopes(u, x, &p, &q);
    const hyperdual over = hyperdual_mul_d(hyperdual_parameter(u), 1 / x); /* u / x */
    const hyperdual gap = hyperdual_add(hyperdual_mul(hyperdual_sub(p, over), m.low), m.next),
                    q_low = hyperdual_mul(q, m.low);
    const hyperdual size = hyperdual_add(hyperdual_mul(gap, gap), hyperdual_mul(q_low, q_low));
    const hyperdual scale = hyperdual_sqrt(hyperdual_mul_d(hyperdual_div(q, size), 2 / (BESSEL_PI * x)));
    if (j != NULL && !by_series) *j = hyperdual_mul(scale, m.high);
    y_low = hyperdual_div(hyperdual_mul(scale, gap), q);
    y_high = hyperdual_sub(hyperdual_mul(hyperdual_sub(over, p), y_low), hyperdual_mul(scale, q_low));
  } else {
    hyperdual j_low, j_high;
    bessel_far_slopes(u, x, &j_low, &y_low);
    bessel_far_slopes(u + 1, x, &j_high, &y_high);
    if (j != NULL && !by_series && v > x) {
      const bessel_miller_slopes m = bessel_backward_slopes(u, n, x);
      const bool by_low = fabs(m.low.v) > fabs(m.next.v);
      *j = hyperdual_mul(m.high, by_low ? hyperdual_div(j_low, m.low) : hyperdual_div(j_high, m.next));
    } else if (j != NULL && !by_series) {
      *j = bessel_up(u, n, x, j_low, j_high);
    }
  }
  if (y != NULL) *y = bessel_up(u, n, x, y_low, y_high);
}

static bool bessel_has_slope(double v, double x) { return !bessel_is_off(v, x) && x > 0 && fabs(v) < 1e4; }

/* cos(pi m) a + sin(pi m) b as a function of the order m; turn is pi, or -pi for -sin(pi m). */
static hyperdual bessel_turned(double m, double turn, hyperdual a, hyperdual b) {
  const double c = bessel_cos_pi(m), s = turn > 0 ? bessel_sin_pi(m) : -bessel_sin_pi(m);
  const hyperdual order = hyperdual_parameter(m);
  return hyperdual_add(hyperdual_mul(hyperdual_chain(order, c, -turn * s, -turn * turn * c), a),
                       hyperdual_mul(hyperdual_chain(order, s, turn * c, -turn * turn * s), b));
}

/* J of order -m, or with by_y Y of order -m, with its derivatives in m. Where Y of order m overflows, J is 0 and Y grows with
 * m like exp(l m), l = acosh(m / x): that growth gives infinite results their signs. */
static hyperdual bessel_turned_jy(double m, double x, bool by_y) {
  const double turn = by_y ? BESSEL_PI : -BESSEL_PI;
  hyperdual j = {0}, y = {0};
  bessel_jy_slopes(m, x, &j, &y);
  hyperdual r = by_y ? bessel_turned(m, turn, y, j) : bessel_turned(m, turn, j, y);
  if (!isinf(y.pq)) return r;
  const double l = acosh(fmin(m / x, 1e300));
  const hyperdual zero = {0}, grown = {-1, -l, -l, -l * l};
  const hyperdual signs = by_y ? bessel_turned(m, turn, grown, zero) : bessel_turned(m, turn, zero, grown);
  if (!isfinite(r.p)) r.p = signs.p * INFINITY;
  if (!isfinite(r.pq)) r.pq = signs.pq * INFINITY;
  return r;
}

/* Below order 0, v = -m, by the connection formulas DLMF 10.2.3; first derivatives are then those in m, of the other
 * sign. */
static hyperdual bessel_jy_any(double v, double x, bool by_y) {
  if (v < 0) return bessel_turned_jy(-v, x, by_y);
  hyperdual y = {0};
  bessel_jy_slopes(v, x, by_y ? NULL : &y, by_y ? &y : NULL);
  return y;
}

static double bessel_signed(double v, double slope) { return v < 0 ? -slope : slope; }

double special_jv_grad_v(double v, double x) {
  return bessel_has_slope(v, x) ? bessel_signed(v, bessel_jy_any(v, x, false).p) : NAN;
}
double special_yv_grad_v(double v, double x) {
  return bessel_has_slope(v, x) ? bessel_signed(v, bessel_jy_any(v, x, true).p) : NAN;
}
double special_jv_grad_vv(double v, double x) { return bessel_has_slope(v, x) ? bessel_jy_any(v, x, false).pq : NAN; }
double special_yv_grad_vv(double v, double x) { return bessel_has_slope(v, x) ? bessel_jy_any(v, x, true).pq : NAN; }

/* ---- Derivatives of I and K in the order ------------------------------------------------------------------------------- */

typedef double bessel_integrand(double v, double x, double t);

/* The integral of f over [a, b] by Gauss-Legendre on `parts` parts. */
static double bessel_integral(bessel_integrand *f, double v, double x, double a, double b, int parts) {
  const double half = (b - a) / (2 * parts);
  double sum = 0;
  for (int p = 0; p < parts; p++) {
    const double middle = a + half * (2 * p + 1);
    for (int k = 0; k < SPECIAL_LEGENDRE; k++) {
      const double d = half * special_legendre[k][0];
      sum += special_legendre[k][1] * (f(v, x, middle - d) + f(v, x, middle + d));
    }
  }
  return half * sum;
}

/* DLMF 10.32.4 differentiated in v, once or twice, times pi exp(-x). */
static double bessel_i_wave(double v, double x, double t) {
  const double s = sin(t / 2);
  return t * sin(v * t) * exp(-2 * x * s * s);
}
static double bessel_i_wave_twice(double v, double x, double t) {
  const double s = sin(t / 2);
  return t * t * cos(v * t) * exp(-2 * x * s * s);
}
static double bessel_i_tail(double v, double x, double t) {
  return exp(-x * (cosh(t) + 1) - v * t) * (BESSEL_PI * bessel_cos_pi(v) - t * bessel_sin_pi(v));
}
static double bessel_i_tail_twice(double v, double x, double t) {
  const double c = bessel_cos_pi(v), s = bessel_sin_pi(v);
  return exp(-x * (cosh(t) + 1) - v * t) * ((t * t - BESSEL_PI * BESSEL_PI) * s - 2 * BESSEL_PI * t * c);
}

static double bessel_ie_by_integrals(double v, double x, bool second) {
  const double s = sqrt(22.5 / x), wide = s < 1 ? 2 * asin(s) : BESSEL_PI; /* where 2 x sin²(t/2) is 45 */
  const double end = acosh(1 + 45 / x);
  const double wave =
      bessel_integral(second ? bessel_i_wave_twice : bessel_i_wave, v, x, 0, wide, 3 + (int)(v * wide / 6));
  const double tail = bessel_integral(second ? bessel_i_tail_twice : bessel_i_tail, v, x, 0, end, 2 + (int)(2 * end));
  return -(wave + tail) / BESSEL_PI;
}

/* Debye's expansion as in bessel_ie. The derivative of its exponent in v is -asinh(v / x). For large x its square overflows,
 * and exp(-v² / (2 x)) over sqrt(2 pi x) is left of it, v being below 1e4. */
static hyperdual bessel_ie_debye(double v, double x) {
  if (x > 1e100) {
    const double y = 1 / sqrt(2 * BESSEL_PI * x), slope = -v / x * y;
    return (hyperdual){y, slope, slope, -y / x};
  }
  const hyperdual order = hyperdual_parameter(v);
  const double size = hypot(v, x), power = v == 0 ? 1 : dd_exp(bessel_debye_exponent(v, x)), fall = -asinh(v / x);
  const hyperdual r = hyperdual_chain(order, size, v / size, x / size * (x / size) / size), over = hyperdual_inverse(r);
  const hyperdual p = hyperdual_mul(order, over), square = hyperdual_mul(p, p);
  hyperdual sum = {0};
  for (int k = SPECIAL_DEBYE - 1; k >= 0; k--) {
    hyperdual part = {0};
    for (int i = k; i >= 0; i--) part = hyperdual_add_d(hyperdual_mul(part, square), special_debye[k][i]);
    sum = hyperdual_add(part, hyperdual_mul(sum, over));
  }
  sum = hyperdual_mul(sum, hyperdual_sqrt(hyperdual_mul_d(over, 1 / (2 * BESSEL_PI))));
  return hyperdual_mul(hyperdual_chain(order, power, power * fall, power * (fall * fall - 1 / size)), sum);
}

/* The first or second derivative of I_v(x) exp(-x), v >= 0. Debye's expansion is even in v; near v = 0 the first derivative
 * is that of the part -sin(pi v) / pi K_v of I (DLMF 10.40.5). */
static double bessel_ie_slope(double v, double x, bool second) {
  if (x <= 2 || (v + 1 >= x / 2 && bessel_is_short(v, x))) {
    const hyperdual y = bessel_series_slopes(v, x, 1, x);
    return second ? y.pq : y.p;
  }
  if (x <= 35) return bessel_ie_by_integrals(v, x, second);
  const hyperdual y = bessel_ie_debye(v, x);
  return second ? y.pq : y.p - (v < 1e-10 ? bessel_ke(v, x) * exp(-2 * x) : 0);
}

/* exp(x) dK/dv, or with `second` its derivative: the trapezoidal rule on DLMF 10.32.9, differentiated in v; all terms are
 * positive. */
static double bessel_ke_slope(double v, double x, bool second) {
  if (v < 1e-20 && !second) return v * bessel_ke_slope(0, x, true); /* terms may underflow */
  const double step = fmin(0.125, 0.6 / sqrt(hypot(v, x)));
  double sum = 0;
  for (int k = 1; k < 20000; k++) {
    const double t = k * step, s = sinh(t / 2), decay = exp(-2 * v * t);
    const double e = t * exp(v * t - 2 * x * s * s) * (second ? t * (1 + decay) : -expm1(-2 * v * t)) / 2;
    sum += e;
    if ((e <= 1e-19 * sum && x * sinh(t) > v) || !(sum < INFINITY)) break;
  }
  return sum * step;
}

/* The part of K in I_(-m), DLMF 10.27.2, differentiated in m once or twice, without its factor 2 exp(-2 x): of K and its
 * derivatives. */
static double bessel_k_part(double m, double k, double slope, double second, bool twice) {
  const double c = bessel_cos_pi(m), s = bessel_sin_pi(m);
  return twice ? s / BESSEL_PI * second + 2 * c * slope - BESSEL_PI * s * k : c * k + s / BESSEL_PI * slope;
}

/* Below order 0. Where K overflows, its derivatives are it times about l = asinh(m / x) and l². */
static double bessel_ie_turned(double m, double x, bool twice) {
  const double k = bessel_ke(m, x), slope = bessel_ke_slope(m, x, false);
  const double second = twice ? bessel_ke_slope(m, x, true) : 0, l = asinh(fmin(m / x, 1e300));
  double part = bessel_k_part(m, k, slope, second, twice) * exp(-2 * x);
  if (isinf(twice ? second : slope) && isnan(part)) part = bessel_k_part(m, 1, l, l * l, twice) * INFINITY;
  return bessel_ie_slope(m, x, twice) + 2 * part;
}

double special_ive_grad_v(double v, double x) {
  if (!bessel_has_slope(v, x)) return NAN;
  return v < 0 ? -bessel_ie_turned(-v, x, false) : bessel_ie_slope(v, x, false);
}

double special_ive_grad_vv(double v, double x) {
  if (!bessel_has_slope(v, x)) return NAN;
  return v < 0 ? bessel_ie_turned(-v, x, true) : bessel_ie_slope(v, x, true);
}

double special_kve_grad_v(double v, double x) {
  if (!bessel_has_slope(v, x)) return NAN;
  return v < 0 ? -bessel_ke_slope(-v, x, false) : bessel_ke_slope(v, x, false);
}

double special_kve_grad_vv(double v, double x) {
  return bessel_has_slope(v, x) ? bessel_ke_slope(fabs(v), x, true) : NAN;
}

/* ---- Spherical ----------------------------------------------------------------------------------------------------------- */

/* DLMF 10.53.1 for small x; else the recurrence DLMF 10.51.1, up while n <= x, backward by Miller's method beyond. */
double special_spherical_jn(double n, double x) {
  if (isnan(n) || isnan(x) || n < 0 || n != floor(n)) return NAN;
  if (x < 0) return (fmod(n, 2) == 0 ? 1 : -1) * special_spherical_jn(n, -x);
  if (isinf(x) || n > BESSEL_MOST) return 0;
  if (x == 0) return n == 0;
  if (n == 0) return sin(x) / x;
  if (x * x < 2 * n + 3) {
    double prefix = 1, term = 1, sum = 1;
    for (int k = 1; k <= n; k++) prefix *= x / (2 * k + 1);
    for (int k = 1; k < 100 && fabs(term) > 1e-18; k++) {
      term *= -x * x / 2 / (k * (2 * n + 2 * k + 1));
      sum += term;
    }
    return prefix * sum;
  }
  const double zero = sin(x) / x, one = (zero - cos(x)) / x;
  const int m = (int)n;
  if (n <= x) {
    double a = zero, b = one;
    for (int k = 1; k < m; k++) {
      const double c = (2 * k + 1) / x * b - a;
      a = b;
      b = c;
    }
    return b;
  }
  const bessel_miller r = bessel_backward(0.5, m, x);
  return r.high * (fabs(zero) > fabs(one) ? zero / r.low : one / r.next);
}

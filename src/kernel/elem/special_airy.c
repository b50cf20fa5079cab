/* special_airy: see special_airy.h. DLMF is dlmf.nist.gov. */
#include "special_airy.h"

#include <math.h>
#include <stdbool.h>

#include "dd.h"
#include "special_bessel.h"

#define AIRY_PI 3.14159265358979323846
#define AIRY_SQRT_3 1.73205080756887729353
#define AIRY_SQRT_PI 1.77245385090551602730
/* Ai(0), -Ai'(0): DLMF 9.2.3, 9.2.4 */
#define AIRY_AI_0 0.35502805388781723926
#define AIRY_AI_PRIME_0 0.25881940379280679840

typedef enum airy_kind { AIRY_AI, AIRY_AI_PRIME, AIRY_BI, AIRY_BI_PRIME } airy_kind;

/* |x| <= 1: the solutions f = 1 + x³/6 + … and g = x + x⁴/12 + … (DLMF 9.4.1 to 9.4.4), or their derivatives. */
static double airy_series(airy_kind kind, double x) {
  const bool prime = kind == AIRY_AI_PRIME || kind == AIRY_BI_PRIME, ai = kind <= AIRY_AI_PRIME;
  const double cube = x * x * x;
  double f = 1, g = x, sum_f = prime ? 0 : 1, sum_g = prime ? 1 : x;
  double d_f = x * x / 2, d_g = 1; /* the terms of the derivatives */
  for (int k = 1; k < 30; k++) {
    f *= cube / ((3.0 * k - 1) * (3.0 * k));
    g *= cube / ((3.0 * k) * (3.0 * k + 1));
    if (k > 1) d_f *= cube / ((3.0 * k - 3) * (3.0 * k - 1));
    d_g *= cube / ((3.0 * k - 2) * (3.0 * k));
    sum_f += prime ? d_f : f;
    sum_g += prime ? d_g : g;
    if (fabs(f) < 1e-19) break;
  }
  if (ai) return AIRY_AI_0 * sum_f - AIRY_AI_PRIME_0 * sum_g;
  return AIRY_SQRT_3 * (AIRY_AI_0 * sum_f + AIRY_AI_PRIME_0 * sum_g);
}

/* zeta = 2/3 x^(3/2), whose rounding error the exponential and the phase would magnify. */
static dd airy_zeta(double x) {
  const dd root = dd_sqrt(dd_of(x));
  return dd_div(dd_mul_d(root, 2 * x), dd_of(3));
}

/* x > 1, by modified Bessel functions of orders 1/3 and 2/3 (DLMF 9.6.2 to 9.6.5), those scaled by exp(∓zeta). */
static double airy_growing(airy_kind kind, double x) {
  const dd zeta = airy_zeta(x);
  const bool prime = kind == AIRY_AI_PRIME || kind == AIRY_BI_PRIME;
  const double v = prime ? 2.0 / 3 : 1.0 / 3, k = special_kve(v, zeta.hi), down = dd_exp(dd_neg(zeta));
  if (kind == AIRY_AI) return sqrt(x / 3) / AIRY_PI * k * down;
  if (kind == AIRY_AI_PRIME) return -x / (AIRY_PI * AIRY_SQRT_3) * k * down;
  const double up = dd_exp(zeta), decayed = AIRY_SQRT_3 / AIRY_PI * k * down * down;
  const double sum = 2 * special_ive(v, zeta.hi) + decayed;
  return (prime ? x / AIRY_SQRT_3 : sqrt(x / 3)) * sum * up;
}

/* -9 < x < -1, by Bessel functions of the same orders (DLMF 9.6.6 to 9.6.9) and of the second kind, x being -x. */
static double airy_middle(airy_kind kind, double x) {
  const double zeta = dd_value(airy_zeta(x)), root = sqrt(x) / 2;
  const bool prime = kind == AIRY_AI_PRIME || kind == AIRY_BI_PRIME;
  const double v = prime ? 2.0 / 3 : 1.0 / 3, j = special_jv(v, zeta), y = special_yv(v, zeta);
  switch (kind) {
    case AIRY_AI: return root * (j - y / AIRY_SQRT_3);
    case AIRY_BI: return -root * (j / AIRY_SQRT_3 + y);
    case AIRY_AI_PRIME: return x / 2 * (j + y / AIRY_SQRT_3);
    case AIRY_BI_PRIME: return x / 2 * (j / AIRY_SQRT_3 - y);
  }
  return NAN;
}

/* x < -9: the asymptotic series DLMF 9.7.9 to 9.7.12 with the coefficients u_k and v_k of 9.7.2, x being -x. */
static double airy_oscillating(airy_kind kind, double x) {
  const dd zeta = airy_zeta(x);
  const bool prime = kind == AIRY_AI_PRIME || kind == AIRY_BI_PRIME;
  double even = 1, odd = 0, u = 1, size = 1;
  for (int k = 1; k < 40; k++) {
    u *= (6.0 * k - 5) * (6.0 * k - 3) * (6.0 * k - 1) / (216.0 * k * (2 * k - 1) * zeta.hi);
    const double term = prime ? -u * (6.0 * k + 1) / (6.0 * k - 1) : u;
    if (fabs(term) >= size || fabs(term) < 1e-19) break;
    size = fabs(term);
    const double sign = k / 2 % 2 == 0 ? 1 : -1;
    if (k % 2 == 0)
      even += sign * term;
    else
      odd += sign * term;
  }
  const dd phase = dd_sub(zeta, (dd){0.78539816339744827900, 3.0616169978683830179e-17}); /* pi / 4 */
  const double s0 = sin(phase.hi), c0 = cos(phase.hi), s = s0 + c0 * phase.lo, c = c0 - s0 * phase.lo;
  const double scale = (prime ? sqrt(sqrt(x)) : 1 / sqrt(sqrt(x))) / AIRY_SQRT_PI;
  switch (kind) {
    case AIRY_AI: return scale * (c * even + s * odd);
    case AIRY_BI: return scale * (-s * even + c * odd);
    case AIRY_AI_PRIME: return scale * (s * even - c * odd);
    case AIRY_BI_PRIME: return scale * (c * even + s * odd);
  }
  return NAN;
}

static double airy_at(airy_kind kind, double x) {
  if (isnan(x)) return x;
  if (x == INFINITY) return kind >= AIRY_BI ? INFINITY : kind == AIRY_AI ? 0 : -0.0;
  if (x == -INFINITY) return kind == AIRY_AI || kind == AIRY_BI ? 0 : NAN;
  if (fabs(x) <= 1) return airy_series(kind, x);
  if (x > 1e10) return kind >= AIRY_BI ? INFINITY : kind == AIRY_AI ? 0 : -0.0;
  if (x > 0) return airy_growing(kind, x);
  return x > -9 ? airy_middle(kind, -x) : airy_oscillating(kind, -x);
}

double special_airy_ai(double x) { return airy_at(AIRY_AI, x); }
double special_airy_ai_prime(double x) { return airy_at(AIRY_AI_PRIME, x); }
double special_airy_bi(double x) { return airy_at(AIRY_BI, x); }
double special_airy_bi_prime(double x) { return airy_at(AIRY_BI_PRIME, x); }

/* special_beta: see special_beta.h. DLMF is dlmf.nist.gov. */
#include "special_beta.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "dd.h"
#include "special.h"
#include "special_gamma.h"

/* ---- beta ---------------------------------------------------------------------------------------------------------- */

/* log |gamma(a) gamma(b) / gamma(a + b)| (DLMF 5.12.1), and its sign. */
static dd beta_log(double a, double b, int *sign) {
  const double large = fmax(a, b), small = fmin(a, b);
  if (large > 1e15 &&
      fabs(small) < 1e7) { /* gamma(b) large^-b, to a relative b²/large of the logarithm (DLMF 5.11.12) */
    const dd power = dd_mul_d(dd_log(dd_of(large)), small);
    const dd rest = dd_sum(0, small * (small - 1) / (2 * large));
    return dd_sub(dd_sub(special_gammaln_signed(dd_of(small), sign), power), rest);
  }
  int s1, s2, s3;
  const dd x = special_gammaln_signed(dd_of(a), &s1), y = special_gammaln_signed(dd_of(b), &s2);
  const dd z = special_gammaln_signed(dd_sum(a, b), &s3);
  *sign = s1 * s2 * s3;
  return dd_sub(dd_add(x, y), z);
}

static bool beta_is_pole(double a) { return a <= 0 && a == floor(a); }

/* beta(a, b) for a at a pole of gamma: finite only where a + b is a pole as well, (-1)^b beta(1 - a - b, b). False where it
 * is infinite. */
static bool beta_at_pole(double a, double b, int *sign, dd *log_size) {
  if (beta_is_pole(b)) *sign = fmod(b, 2) == 0 ? 1 : -1; /* both signs are limits there; this is SciPy's */
  if (b != floor(b) || b <= 0 || !(1 - a - b > 0)) return false;
  *log_size = beta_log(1 - a - b, b, sign);
  if (fmod(b, 2) != 0) *sign = -*sign;
  return true;
}

/* The logarithm of |beta(a, b)| in general. */
static dd beta_any(double a, double b, int *sign) {
  dd y;
  *sign = 1;
  if (beta_is_pole(a)) return beta_at_pole(a, b, sign, &y) ? y : dd_of(INFINITY);
  if (beta_is_pole(b)) return beta_at_pole(b, a, sign, &y) ? y : dd_of(INFINITY);
  if (beta_is_pole(a + b) && a + b - a == b) return dd_of(-INFINITY);
  return beta_log(a, b, sign);
}

double special_beta(double a, double b) {
  int sign;
  if (isnan(a) || isnan(b)) return NAN;
  if ((a == INFINITY && b > 0) || (b == INFINITY && a > 0)) return 0;
  const dd y = beta_any(a, b, &sign);
  return sign * dd_exp(y);
}

double special_betaln(double a, double b) {
  int sign;
  if (isnan(a) || isnan(b)) return NAN;
  if ((a == INFINITY && b > 0) || (b == INFINITY && a > 0)) return -INFINITY;
  const double y = dd_value(beta_any(a, b, &sign));
  return fabs(y) < 1e-18 ? 0 : y; /* less than the error of a logarithm: beta is 1 */
}

/* ---- The incomplete beta function ------------------------------------------------------------------------------------ */

/* x^a y^b / beta(a, b). */
static double beta_prefix(double a, double b, dd x, dd y) {
  int sign;
  const dd power = dd_add(dd_mul_d(dd_log(x), a), dd_mul_d(dd_log(y), b));
  return dd_exp(dd_sub(power, beta_log(a, b, &sign)));
}

/* Step n of the continued fraction of DiDonato and Morris (1992), eq. 9, alpha_1 / (beta_1 + alpha_2 / (beta_2 + …)), the
 * even part of DLMF 8.17.22. alpha_(n+1) and beta_(n+1), n >= 0; rest = a - (a + b) x. */
typedef struct beta_step {
  double alpha, beta;
  double alpha_a, alpha_b, beta_a, beta_b; /* derivatives in a and b */
} beta_step;

static beta_step beta_step_at(int n, double a, double b, double x, double y, double rest, bool slopes) {
  beta_step s = {0};
  const double e = a + 2 * n, even = n == 0 ? 0 : n * (b - n) * x / (e - 1);
  const double inner = rest + 1 + n * (1 + y), odd = (a + n) / (e + 1);
  s.beta = n + even + odd * inner;
  s.alpha = 1;
  double per_b = 0; /* alpha = per_b (b - n) */
  if (n > 0) {
    per_b = (a + n - 1) / (e - 1) * ((a + b + n - 1) / (e - 1)) * n * x * x;
    s.alpha = per_b * (b - n);
  }
  if (!slopes) return s;
  if (n > 0) {
    s.alpha_a = s.alpha * (1 / (a + n - 1) + 1 / (a + b + n - 1) - 2 / (e - 1));
    s.alpha_b = per_b * (1 + (b - n) / (a + b + n - 1));
    s.beta_b = n * x / (e - 1);
  }
  s.beta_a = (n == 0 ? 0 : -even / (e - 1)) + (n + 1) / ((e + 1) * (e + 1)) * inner + odd * y;
  s.beta_b -= odd * x;
  return s;
}

/* I_x(a, b) by that fraction, y = 1 - x; x is not far above a / (a + b). With slopes also its derivatives in a and b: the
 * rule of each step of Lentz's algorithm. */
static double beta_fraction(double a, double b, dd x, dd y, double *slopes) {
  const double rest = dd_value(dd_sub(dd_mul_d(y, a), dd_mul_d(x, b)));
  beta_step s = beta_step_at(0, a, b, x.hi, y.hi, rest, slopes != NULL);
  double c = INFINITY, d = 1 / s.beta;
  double c_p[2] = {0}, d_p[2] = {-d * d * s.beta_a, -d * d * s.beta_b}; /* in a and b */
  double log_h[2] = {d_p[0] / d, d_p[1] / d};
  int n = 1;
  for (; n < 20000; n++) {
    s = beta_step_at(n, a, b, x.hi, y.hi, rest, slopes != NULL);
    const double next_d = 1 / (s.alpha * d + s.beta), next_c = s.beta + s.alpha / c;
    double moved = 0;
    if (slopes != NULL) {
      const double alpha_p[2] = {s.alpha_a, s.alpha_b}, beta_p[2] = {s.beta_a, s.beta_b};
      for (int p = 0; p < 2; p++) {
        d_p[p] = -next_d * next_d * (alpha_p[p] * d + s.alpha * d_p[p] + beta_p[p]);
        c_p[p] = beta_p[p] + (isinf(c) ? 0 : alpha_p[p] / c - s.alpha * c_p[p] / (c * c));
        const double step = c_p[p] / next_c + d_p[p] / next_d;
        log_h[p] += step;
        moved = fmax(moved, fabs(step) / fabs(log_h[p]));
      }
    }
    d = next_d;
    c = next_c;
    if (fabs(c * d - 1) < 2e-16 && !(moved > 1e-15)) break;
  }
  double f = beta_step_at(n, a, b, x.hi, y.hi, rest, false).beta; /* from its end, which rounds little */
  for (int k = n; k >= 1; k--) {
    const double alpha = beta_step_at(k, a, b, x.hi, y.hi, rest, false).alpha;
    f = beta_step_at(k - 1, a, b, x.hi, y.hi, rest, false).beta + alpha / f;
  }
  const double i = beta_prefix(a, b, x, y) / f;
  if (slopes != NULL) {
    const double psi = special_psi(a + b);
    slopes[0] = i * (log(x.hi) - special_psi(a) + psi + log_h[0]);
    slopes[1] = i * (log(y.hi) - special_psi(b) + psi + log_h[1]);
  }
  return i;
}

/* Whether I_x(a, b) is the smaller part, computed itself, and not 1 - I_y(b, a). */
static bool beta_is_lower(double a, double b, dd x, dd y) { return x.hi * b <= y.hi * a; }

/* I_x(a, b) and what is left to 1. */
static void beta_parts(double a, double b, dd x, dd y, double *lower, double *upper) {
  if (beta_is_lower(a, b, x, y)) {
    *lower = beta_fraction(a, b, x, y, NULL);
    *upper = 1 - *lower;
  } else {
    *upper = beta_fraction(b, a, y, x, NULL);
    *lower = 1 - *upper;
  }
}

/* The edges of I; false inside the domain. */
static bool beta_edge(double a, double b, double x, double *value) {
  *value = NAN;
  if (isnan(a) || isnan(b) || isnan(x) || a < 0 || b < 0 || x < 0 || x > 1) return true;
  if ((a == 0 && b == 0) || (isinf(a) && isinf(b))) return true;
  if (a == 0 || isinf(b))
    *value = x > 0 ? 1 : 0;
  else if (b == 0 || isinf(a))
    *value = x < 1 ? 0 : 1;
  else if (x == 0 || x == 1)
    *value = x;
  else
    return false;
  return true;
}

double special_betainc(double a, double b, double x) {
  double lower, upper;
  if (beta_edge(a, b, x, &lower)) return lower;
  beta_parts(a, b, dd_of(x), dd_sum(1, -x), &lower, &upper);
  return lower;
}

static double beta_slope(double a, double b, double x, int p) {
  double edge, slopes[2];
  if (beta_edge(a, b, x, &edge)) return isnan(edge) || a == 0 || b == 0 ? NAN : 0;
  const dd lower = dd_of(x), upper = dd_sum(1, -x);
  if (beta_is_lower(a, b, lower, upper)) {
    beta_fraction(a, b, lower, upper, slopes);
    return slopes[p];
  }
  beta_fraction(b, a, upper, lower, slopes);
  return -slopes[1 - p];
}

double special_betainc_grad_a(double a, double b, double x) { return beta_slope(a, b, x, 0); }
double special_betainc_grad_b(double a, double b, double x) { return beta_slope(a, b, x, 1); }

static double beta_slope_a_at(const double *at) { return beta_slope(at[0], at[1], at[2], 0); }
static double beta_slope_b_at(const double *at) { return beta_slope(at[0], at[1], at[2], 1); }

/* The derivative of such a slope in a or b, which is p, the other one q; log_x is log(x) or log(1 - x). I changes with p
 * over sqrt(p), or sqrt(p (p + q) / q) where that is less, far from the middle by the factor x (p + q) / p, and near 0 over
 * p. */
static double beta_second(special_point_fn *f, const double *at, int i, double log_x) {
  double edge;
  if (beta_edge(at[0], at[1], at[2], &edge)) return isnan(edge) || at[0] == 0 || at[1] == 0 ? NAN : 0;
  const double p = at[i], q = at[1 - i], wide = sqrt(p * fmin(1, (p + q) / q));
  const double length = fmin(fmin(p, wide), 2 / fabs(log_x - special_psi(p) + special_psi(p + q)));
  return special_slope(f, at, i, SPECIAL_STEP * length);
}

double special_betainc_grad_aa(double a, double b, double x) {
  return beta_second(beta_slope_a_at, (const double[]){a, b, x}, 0, log(x));
}
double special_betainc_grad_ab(double a, double b, double x) {
  return beta_second(beta_slope_b_at, (const double[]){a, b, x}, 0, log(x));
}
double special_betainc_grad_bb(double a, double b, double x) {
  return beta_second(beta_slope_b_at, (const double[]){a, b, x}, 1, log1p(-x));
}

/* ---- Its inverse ---------------------------------------------------------------------------------------------------------- */

/* As functions of u = log(x / (1 - x)), log I and log(1 - I) are concave, so Newton's method on the logarithm of the
 * smaller converges from everywhere. It starts from the tail's first term where that is small, else from the mean. */
double special_betaincinv(double a, double b, double p) {
  if (isnan(a) || isnan(b) || isnan(p) || !(a > 0) || !(b > 0) || p < 0 || p > 1) return NAN;
  if (p == 0 || p == 1) return p;
  if (isinf(a) || isinf(b)) return isinf(a) && isinf(b) ? NAN : isinf(a); /* all of the mass is at one end */
  const double q = 1 - p;
  int sign;
  const double log_beta = dd_value(beta_log(a, b, &sign));
  const double first = (log(p) + log(a) + log_beta) / a, last = (log(q) + log(b) + log_beta) / b;
  double u = log(a / b);
  if (first < -3 && first < u) {
    if (first < -40) return dd_exp(dd_div(dd_add(dd_log(dd_of(p)), dd_add_d(dd_log(dd_of(a)), log_beta)), dd_of(a)));
    u = first;
  } else if (last < -3 && -last > u) {
    u = -last;
  }
  for (int i = 0; i < 200; i++) {
    const double part = 1 / (1 + exp(fabs(u))); /* the smaller of x and y, a double; the other is exactly 1 - part */
    const dd x = u < 0 ? dd_of(part) : dd_sum(1, -part), y = u < 0 ? dd_sum(1, -part) : dd_of(part);
    double lower, upper;
    beta_parts(a, b, x, y, &lower, &upper);
    const double slope = beta_prefix(a, b, x, y); /* dI/du */
    double step;
    if (p <= q)
      step = lower > 0 ? -log(lower / p) * lower / slope : 0.25;
    else
      step = upper > 0 ? log(upper / q) * upper / slope : -0.25;
    if (!(fabs(step) <= 4)) step = copysign(4, step);
    if (fabs(step) < 1e-8) { /* the last step, in x: dx = x y du */
      return u < 0 ? x.hi * (1 + step * y.hi) : 1 - y.hi * (1 - step * x.hi);
    }
    u += step;
  }
  return 1 / (1 + exp(-u));
}

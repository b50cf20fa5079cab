/* special_beta: see special_beta.h. DLMF is dlmf.nist.gov. */
#include "special_beta.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "dd.h"
#include "hyperdual.h"
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
} beta_step;

static beta_step beta_step_at(int n, double a, double b, double x, double y, double rest) {
  const double e = a + 2 * n, even = n == 0 ? 0 : n * (b - n) * x / (e - 1);
  const double inner = rest + 1 + n * (1 + y), odd = (a + n) / (e + 1);
  beta_step s = {.alpha = 1, .beta = n + even + odd * inner};
  if (n > 0) s.alpha = (a + n - 1) / (e - 1) * ((a + b + n - 1) / (e - 1)) * n * x * x * (b - n);
  return s;
}

/* a - (a + b) x, y = 1 - x. */
static double beta_rest(double a, double b, dd x, dd y) { return dd_value(dd_sub(dd_mul_d(y, a), dd_mul_d(x, b))); }

#define BETA_DEPTH 20000

/* How many steps of that fraction give it, by Lentz's algorithm. */
static int beta_depth(double a, double b, dd x, dd y, double rest) {
  double c = INFINITY, d = 1 / beta_step_at(0, a, b, x.hi, y.hi, rest).beta;
  int n = 1;
  for (; n < BETA_DEPTH; n++) {
    const beta_step s = beta_step_at(n, a, b, x.hi, y.hi, rest);
    d = 1 / (s.alpha * d + s.beta);
    c = s.beta + s.alpha / c;
    if (!(fabs(c * d - 1) >= 2e-16)) break; /* nan too */
  }
  return n;
}

/* I_x(a, b) by that fraction, from its end, which rounds little. x is not far above a / (a + b). */
static double beta_fraction(double a, double b, dd x, dd y) {
  const double rest = beta_rest(a, b, x, y);
  const int n = beta_depth(a, b, x, y, rest);
  double f = beta_step_at(n, a, b, x.hi, y.hi, rest).beta;
  for (int k = n; k >= 1; k--) {
    const double alpha = beta_step_at(k, a, b, x.hi, y.hi, rest).alpha;
    f = beta_step_at(k - 1, a, b, x.hi, y.hi, rest).beta + alpha / f;
  }
  return beta_prefix(a, b, x, y) / f;
}

/* Whether I_x(a, b) is the smaller part, computed itself, and not 1 - I_y(b, a). */
static bool beta_is_lower(double a, double b, dd x, dd y) { return x.hi * b <= y.hi * a; }

/* I_x(a, b) and what is left to 1. */
static void beta_parts(double a, double b, dd x, dd y, double *lower, double *upper) {
  if (beta_is_lower(a, b, x, y)) {
    *lower = beta_fraction(a, b, x, y);
    *upper = 1 - *lower;
  } else {
    *upper = beta_fraction(b, a, y, x);
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

/* ---- Its derivatives in a and b --------------------------------------------------------------------------------------- */

typedef struct beta_step_slopes {
  hyperdual alpha, beta;
} beta_step_slopes;

/* That step with its derivatives. alpha_2 and beta_1 are without their factor a, which the fraction then lacks. */
static beta_step_slopes beta_slopes_at(int n, hyperdual a, hyperdual b, double x, double y, hyperdual rest) {
  const hyperdual b_n = hyperdual_add_d(b, -n), odd = hyperdual_inverse(hyperdual_add_d(a, 2 * n + 1));
  beta_step_slopes s;
  s.beta = hyperdual_mul(odd, hyperdual_add_d(rest, 1 + n * (1 + y)));
  s.alpha = hyperdual_of(1);
  if (n == 0) return s;
  const hyperdual even = hyperdual_mul_d(hyperdual_inverse(hyperdual_add_d(a, 2 * n - 1)), n * x);
  const hyperdual part = hyperdual_mul(b_n, even);
  s.beta = hyperdual_add(hyperdual_mul(hyperdual_add_d(a, n), s.beta), hyperdual_add_d(part, n));
  s.alpha = hyperdual_mul(hyperdual_mul(hyperdual_add_d(hyperdual_add(a, b), n - 1), even), part);
  s.alpha = hyperdual_mul_d(s.alpha, 1.0 / n);
  if (n > 1) s.alpha = hyperdual_mul(hyperdual_add_d(a, n - 1), s.alpha);
  return s;
}

/* log gamma without its value. */
static hyperdual beta_gammaln(hyperdual a) { return hyperdual_chain(a, 0, special_psi(a.v), special_tri_gamma(a.v)); }

/* Whether the power series of I is short, x being above a / (a + b). The fraction takes about 7 / sqrt(x) steps there. */
static bool beta_is_short(double b, dd x) { return x.hi <= 1e-6 && b * x.hi <= 0.1; }

/* I there, which is 1 less a small multiple of a: gamma(a + b) / (gamma(a + 1) gamma(b)) x^a (1 + a sum), DLMF 8.17.7 and
 * 15.8.1. All terms of derivatives in b keep the factor a: psi(a + b) - psi(b) is a psi'(b + a/2), a / b being below 1e-6. */
static hyperdual beta_series_slopes(hyperdual a, hyperdual b, dd x) {
  hyperdual term = hyperdual_of(1), sum = {0};
  for (int n = 1; n <= 12; n++) {
    term = hyperdual_mul(term, hyperdual_mul_d(hyperdual_add_d(hyperdual_mul_d(b, -1), n), x.hi / n));
    sum = hyperdual_add(sum, hyperdual_div(term, hyperdual_add_d(a, n)));
  }
  int sign;
  const dd rest = dd_add(beta_log(a.v, b.v, &sign), dd_log(dd_of(a.v)));
  const double v = dd_exp(dd_sub(dd_mul_d(dd_log(x), a.v), rest));
  const double middle = b.v + a.v / 2, in_a = log(x.hi) + special_psi(a.v + b.v) - special_psi(a.v + 1),
               in_b = a.v * special_tri_gamma(middle);
  const double both = special_tri_gamma(a.v + b.v), twice_a = both - special_tri_gamma(a.v + 1),
               twice_b = a.v * special_tetra_gamma(middle);
  const hyperdual h = {0, in_a * a.p + in_b * b.p, in_a * a.q + in_b * b.q,
                       twice_a * a.p * a.q + twice_b * b.p * b.q + both * (a.p * b.q + a.q * b.p)};
  return hyperdual_mul(hyperdual_chain(h, v, v, v), hyperdual_add_d(hyperdual_mul(a, sum), 1));
}

/* I where a and b are so large that the fraction is long: Edgeworth's expansion to the skewness, good to about
 * 1 / min(a, b) there. */
static hyperdual beta_normal(hyperdual a, hyperdual b, hyperdual rest) {
  const hyperdual n = hyperdual_add(a, b);
  const hyperdual w = hyperdual_sqrt(hyperdual_div(hyperdual_div(hyperdual_add_d(n, 1), a), b));
  const hyperdual z = hyperdual_mul_d(hyperdual_mul(rest, w), -1);
  const hyperdual skew = hyperdual_mul(hyperdual_div(hyperdual_sub(b, a), hyperdual_add_d(n, 2)), w);
  const double t = z.v, f = 0.39894228040143268 * exp(-t * t / 2);
  const hyperdual first = hyperdual_chain(z, erfc(-t * 0.70710678118654752) / 2, f, -t * f),
                  second = hyperdual_chain(z, (1 - t * t) * f, t * (t * t - 3) * f, (t * t * (6 - t * t) - 3) * f);
  return hyperdual_add(first, hyperdual_mul_d(hyperdual_mul(skew, second), 1.0 / 3));
}

/* I_x(a, b) with its derivatives, where x is not far above a / (a + b). I = b x^a y^b gamma(a + b) / (gamma(a + 1)
 * gamma(b + 1)) / g: where a or b is small, their poles are then in no term. The steps that follow one with b - n near 0
 * count in derivatives, so their number is that of a b which is not whole; n² times the error is to be small as well. */
static hyperdual beta_with_slopes(hyperdual a, hyperdual b, dd x, dd y) {
  const double rest = beta_rest(a.v, b.v, x, y);
  const hyperdual rests = {rest, a.p * y.hi - b.p * x.hi, a.q * y.hi - b.q * x.hi, 0};
  const double off = floor(b.v) + 0.5;
  const int least = beta_depth(a.v, off, x, y, beta_rest(a.v, off, x, y)),
            n = least + 4 + (int)(least * log(least + 1.0) / 12);
  if (least > BETA_DEPTH / 2 && fmin(a.v, b.v) > 1e8) return beta_normal(a, b, rests);
  beta_step_slopes s = beta_slopes_at(n, a, b, x.hi, y.hi, rests);
  hyperdual g = s.beta;
  for (int k = n; k >= 1; k--) {
    const hyperdual ratio = hyperdual_div(s.alpha, g);
    s = beta_slopes_at(k - 1, a, b, x.hi, y.hi, rests);
    g = hyperdual_add(s.beta, ratio);
  }
  hyperdual h =
      hyperdual_add(hyperdual_mul_d(a, log(x.hi)), hyperdual_mul_d(b, log(y.hi))); /* the logarithm of I / b */
  h = hyperdual_add(h, beta_gammaln(hyperdual_add(a, b)));
  h = hyperdual_sub(h, beta_gammaln(hyperdual_add_d(a, 1)));
  h = hyperdual_sub(h, beta_gammaln(hyperdual_add_d(b, 1)));
  h = hyperdual_sub(h, hyperdual_chain(g, 0, 1 / g.v, -1 / (g.v * g.v)));
  const double i = beta_prefix(a.v, b.v, x, y) / (a.v * g.v);
  return hyperdual_mul(b, hyperdual_chain(h, i / b.v, i / b.v, i / b.v));
}

/* At the edges derivatives are 0, or there are none. */
static hyperdual beta_off(bool none) { return none ? (hyperdual){NAN, NAN, NAN, NAN} : hyperdual_of(0); }

/* I_x(a, b) with its derivatives in two of the parameters: p is a or b, q is a or b. */
static hyperdual beta_slopes(double a, double b, double x, bool p_is_a, bool q_is_a) {
  double edge;
  if (beta_edge(a, b, x, &edge)) return beta_off(isnan(edge) || a == 0 || b == 0);
  const hyperdual as = {a, p_is_a, q_is_a, 0}, bs = {b, !p_is_a, !q_is_a, 0};
  const dd lower = dd_of(x), upper = dd_sum(1, -x);
  if (beta_is_lower(a, b, lower, upper)) {
    if (!beta_is_short(a, upper) || beta_is_lower(b, a, upper, lower)) return beta_with_slopes(as, bs, lower, upper);
    return hyperdual_sub(hyperdual_of(1), beta_series_slopes(bs, as, upper));
  }
  if (beta_is_short(b, lower)) return beta_series_slopes(as, bs, lower);
  return hyperdual_sub(hyperdual_of(1), beta_with_slopes(bs, as, upper, lower));
}

double special_betainc_grad_a(double a, double b, double x) { return beta_slopes(a, b, x, true, true).p; }
double special_betainc_grad_b(double a, double b, double x) { return beta_slopes(a, b, x, false, false).p; }
double special_betainc_grad_aa(double a, double b, double x) { return beta_slopes(a, b, x, true, true).pq; }
double special_betainc_grad_ab(double a, double b, double x) { return beta_slopes(a, b, x, true, false).pq; }
double special_betainc_grad_bb(double a, double b, double x) { return beta_slopes(a, b, x, false, false).pq; }

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

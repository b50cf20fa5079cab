/* quantile_laws: the searches. A discrete distribution's probabilities are summed by their ratios, outwards from a place
 * in the middle, so that no normalising constant is needed; a continuous one's function is bisected. */
#include "quantile.h"

#include <math.h>

#include "kernel/elem/special_sets.h"

#define PI 3.14159265358979323846

/* ---- Discrete ---------------------------------------------------------------------------------------------------- */

/* Integers from low to high (INFINITY: no end), `middle` among them, and the ratio of the probabilities of k + 1 and
 * k. */
typedef struct count_law {
  double low, high, middle;
  double (*ratio)(const double *p, double k);
} count_law;

#define NEGLIGIBLE 1e-20
/* A q so little above a step is on it: it may be the distribution function there, as it was rounded. */
#define NEAR 2e-14
/* Steps on each side after which a sum is given up: its terms do not fall, or its integers are too large to be counted. */
#define MOST_STEPS 0x1p28

/* The weights relative to the middle's: `below` sums those less than it, `above` the others. The sums end, at from and to,
 * where what is left has no part in a digit of the smaller side of q. `above` is nan where they do not end. */
typedef struct count_sums {
  double from, weight_from, below, to, weight_to, above;
} count_sums;

static count_sums count_sum(const count_law *law, const double *p, double q) {
  const double least = NEGLIGIBLE * (q < 0.5 ? q : 1 - q);
  count_sums s = {.from = law->middle, .weight_from = 1, .to = law->middle, .weight_to = 1, .above = 1};
  for (double steps = 0; s.to < law->high; steps++) {
    const double ratio = law->ratio(p, s.to), next = s.weight_to * ratio;
    if (!(next > 0) || (ratio < 1 && next < least * s.above * (1 - ratio))) break;
    if (steps >= MOST_STEPS || next == INFINITY) return (count_sums){.above = NAN};
    s.to++;
    s.weight_to = next;
    s.above += next;
  }
  for (double steps = 0; s.from > law->low; steps++) {
    const double ratio = 1 / law->ratio(p, s.from - 1), next = s.weight_from * ratio;
    if (!(next > 0) || (ratio < 1 && next < least * (s.above + s.below) * (1 - ratio))) break;
    if (steps >= MOST_STEPS || next == INFINITY) return (count_sums){.above = NAN};
    s.from--;
    s.weight_from = next;
    s.below += next;
  }
  return s;
}

static double count_find(const count_law *law, const double *p, double q) {
  if (q <= 0) return law->low - 1;
  if (q >= 1) return law->high;
  const count_sums s = count_sum(law, p, q);
  const double total = s.below + s.above;
  if (isnan(total)) return NAN;
  if (q < 0.5) { /* the weights up to k */
    const double wanted = q * total * (1 - NEAR);
    double k = s.from, weight = s.weight_from, sum = weight;
    for (; sum < wanted && k < s.to; k++, sum += weight) weight *= law->ratio(p, k);
    return k;
  }
  /* those beyond k - 1 */
  const double wanted = total * (1 - q + fmin(NEAR, 1e-4 * (1 - q)));
  double k = s.to, weight = s.weight_to, sum = weight;
  for (; sum <= wanted && k > s.from; k--, sum += weight) weight /= law->ratio(p, k - 1);
  return k;
}

static double poisson_ratio(const double *p, double k) { return p[0] / (k + 1); }
static double quantile_poisson(const double *p, double q) {
  const count_law law = {.low = 0, .high = INFINITY, .middle = floor(p[0]), .ratio = poisson_ratio};
  return p[0] > 0 ? count_find(&law, p, q) : q > 0 ? 0 : -1;
}

static double binomial_ratio(const double *p, double k) { return (p[0] - k) / (k + 1) * (p[1] / (1 - p[1])); }
static double quantile_binomial(const double *p, double q) {
  const double middle = floor((p[0] + 1) * p[1]);
  const count_law law = {.low = 0, .high = p[0], .middle = middle < p[0] ? middle : p[0], .ratio = binomial_ratio};
  if (p[1] <= 0 || p[1] >= 1) return q <= 0 ? -1 : p[1] >= 1 ? p[0] : 0;
  return count_find(&law, p, q);
}

static double quantile_bernoulli(const double *p, double q) { return quantile_binomial((double[]){1, p[0]}, q); }

static double nbinom_ratio(const double *p, double k) { return (k + p[0]) / (k + 1) * (1 - p[1]); }
static double quantile_nbinom(const double *p, double q) {
  const double mode = floor((p[0] - 1) * (1 - p[1]) / p[1]);
  const count_law law = {.low = 0, .high = INFINITY, .middle = mode > 0 ? mode : 0, .ratio = nbinom_ratio};
  if (p[1] >= 1) return q <= 0 ? -1 : 0;
  return count_find(&law, p, q);
}

/* Of one maximum if a or b is above 1; else the least probability lies inside. */
static double betabinom_ratio(const double *p, double k) {
  return (p[0] - k) / (k + 1) * ((k + p[1]) / (p[0] - k - 1 + p[2]));
}
static double quantile_betabinom(const double *p, double q) {
  const double n = p[0], a = p[1], b = p[2];
  double middle = floor(n / 2);
  if (a > 1 && b > 1)
    middle = floor(n * ((a - 1) / (a + b - 2)));
  else if (a > 1)
    middle = n;
  else if (b > 1)
    middle = 0;
  const count_law law = {.low = 0, .high = n, .middle = middle, .ratio = betabinom_ratio};
  return count_find(&law, p, q);
}

static double hypergeometric_ratio(const double *p, double k) {
  return (p[0] - k) / (k + 1) * ((p[2] - k) / (p[1] - p[2] + k + 1));
}
static double quantile_hypergeometric(const double *p, double q) {
  const double good = p[0], bad = p[1], draws = p[2];
  const double low = draws > bad ? draws - bad : 0, high = draws < good ? draws : good;
  const double mode = floor((draws + 1) / (good + bad + 2) * (good + 1));
  const count_law law = {.low = low,
                         .high = high,
                         .middle = mode < low    ? low
                                   : mode > high ? high
                                                 : mode,
                         .ratio = hypergeometric_ratio};
  return count_find(&law, p, q);
}

static double quantile_geometric(const double *p, double q) {
  if (q <= 0) return 0;
  if (p[0] >= 1) return 1;
  const double k = ceil(log1p(-q) / log1p(-p[0]) * (1 - NEAR));
  return k > 1 ? k : 1;
}

/* zeta(a, k + 1), which is zeta(a) times 1 - F(k). */
static double zipf_beyond(double a, double k) {
  double q = k + 1, value;
  special_set_hurwitz_zeta.fn[DAMO_FLOAT64]((void *const[]){&a, &q, &value}, 1);
  return value;
}

/* The probabilities fall too slowly to be summed: k is doubled up to where 1 - F(k) is low enough, then bisected. */
static double quantile_zipf(const double *p, double q) {
  if (!(p[0] > 1)) return NAN;
  if (q <= 0) return 0;
  if (q >= 1) return INFINITY;
  const double all = zipf_beyond(p[0], 0), wanted = all * (1 - q + fmin(NEAR, 1e-4 * (1 - q)));
  double low = 0, high = 1; /* F(low) < q <= F(high) */
  while (zipf_beyond(p[0], high) > wanted && high < 0x1p63) low = high, high *= 2;
  while (high - low > 1 && high < 0x1p63) {
    const double middle = floor(low + (high - low) / 2);
    if (middle == low || middle == high) break; /* above 2^53 */
    if (zipf_beyond(p[0], middle) > wanted)
      low = middle;
    else
      high = middle;
  }
  return high;
}

/* ---- Continuous -------------------------------------------------------------------------------------------------- */

/* exp(t²) erfc(t), t >= 0; to 1e-9 where the series takes over. */
static double quantile_erfcx(double t) {
  const double y = 1 / (2 * t * t);
  if (t < 8) return exp(t * t) * erfc(t);
  return (1 - y * (1 - y * (3 - y * (15 - y * 105)))) / (t * sqrt(PI));
}

/* F = (erfc(-a) + exp(-a²) erfcx(c)) / 2 with a, c = r (x/mean ∓ 1) / sqrt 2, r = sqrt(scale/x); tail: 1 - F. */
static double wald_cdf(double mean, double scale, double x, bool tail) {
  const double r = sqrt(0.5 * scale / x), a = r * (x / mean - 1), c = r * (x / mean + 1);
  const double second = 0.5 * exp(-a * a) * quantile_erfcx(c);
  return tail ? 0.5 * erfc(a) - second : 0.5 * erfc(-a) + second;
}

/* Bisects the logarithm of x. */
static double quantile_wald(const double *p, double q) {
  double low = log(p[0]) - 700, high = log(p[0]) + 700;
  if (q <= 0) return 0;
  if (q >= 1) return INFINITY;
  for (int i = 0; i < 60; i++) {
    const double middle = 0.5 * (low + high), x = exp(middle);
    const bool less = q < 0.5 ? wald_cdf(p[0], p[1], x, false) < q : wald_cdf(p[0], p[1], x, true) > 1 - q;
    if (less)
      low = middle;
    else
      high = middle;
  }
  return exp(0.5 * (low + high));
}

/* The integral of exp(kappa (cos t - 1)) over [-pi, y], y <= 0, by Simpson's rule over the part where the integrand is
 * more than exp(-40) of its value at y. */
static double vonmises_arc(double kappa, double y) {
  enum { STEPS = 256 };
  const double least = cos(y) - 40 / kappa, start = -acos(least > -1 ? least : -1), h = (y - start) / STEPS;
  double sum = 0;
  for (int i = 0; i <= STEPS; i++) {
    const double s = sin(0.5 * (start + i * h)), weight = i == 0 || i == STEPS ? 1 : i % 2 ? 4 : 2;
    sum += weight * exp(-2 * kappa * s * s);
  }
  return sum * h / 3;
}

static double quantile_vonmises(const double *p, double q) {
  if (q <= 0 || q >= 1) return q <= 0 ? -INFINITY : INFINITY;
  const double wanted = (q < 0.5 ? q : 1 - q) * 2 * vonmises_arc(p[0], 0);
  double low = -PI, high = 0;
  for (int i = 0; i < 45; i++) {
    const double middle = 0.5 * (low + high);
    if (vonmises_arc(p[0], middle) < wanted)
      low = middle;
    else
      high = middle;
  }
  return q == 0.5 ? 0 : q < 0.5 ? 0.5 * (low + high) : -0.5 * (low + high);
}

const quantile_law quantile_laws[] = {
    {"bernoulli", 1, true, quantile_bernoulli},
    {"poisson", 1, true, quantile_poisson},
    {"binomial", 2, true, quantile_binomial},
    {"nbinom", 2, true, quantile_nbinom},
    {"betabinom", 3, true, quantile_betabinom},
    {"geometric", 1, true, quantile_geometric},
    {"hypergeometric", 3, true, quantile_hypergeometric},
    {"zipf", 1, true, quantile_zipf},
    {"wald", 2, false, quantile_wald},
    {"vonmises", 1, false, quantile_vonmises},
    {NULL, 0, false, NULL},
};

/* discrete: Poisson, binomial, Zipf and hypergeometric draws.
 *
 * Small means by inversion; large ones by transformed rejection: PTRS of W. Hörmann, "The transformed rejection method
 * for generating Poisson random variables" (1993), BTRS of his "The generation of binomial random variates" (1993).
 */
#include "discrete.h"

#include <math.h>

#define SMALL_MEAN 10
#define HALF_LOG_2PI 0.91893853320467274178
#define TWO_PI 6.28318530717958647693

/* The tail of Stirling's formula: log k! less (k + 1/2) log(k + 1) - (k + 1) + log(2 pi) / 2. */
static double factorial_tail(double k) {
  static const double small[] = {0.08106146679532726, 0.04134069595540929, 0.02767792568499834, 0.02079067210376509,
                                 0.01664469118982119, 0.01387612882307075, 0.01189670994589177, 0.01041126526197209,
                                 0.00925546218271273, 0.00833056343336287};
  if (k < 10) return small[(int)k];
  const double x = k + 1, xx = x * x;
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / xx) / xx) / x;
}

static double log_factorial(double k) {
  return (k + 0.5) * draw_log(k + 1) - (k + 1) + HALF_LOG_2PI + factorial_tail(k);
}

/* ---- Poisson ----------------------------------------------------------------------------------------------------- */

/* Knuth's method: the number of uniforms whose product stays above exp(-mean). */
static double poisson_small(philox_words *w, double mean) {
  const double limit = draw_exp(-mean);
  double k = 0, product = philox_unit(w);
  for (; product > limit; k++) product *= philox_unit(w);
  return k;
}

/* PTRS; the names are the paper's. */
static double poisson_large(philox_words *w, double mu) {
  const double b = 0.931 + 2.53 * sqrt(mu), a = -0.059 + 0.02483 * b, log_mu = draw_log(mu);
  const double inv_alpha = 1.1239 + 1.1328 / (b - 3.4), v_r = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    const double u = philox_unit(w) - 0.5, v = philox_unit(w), us = 0.5 - fabs(u);
    const double k = floor((2 * a / us + b) * u + mu + 0.43);
    if (us >= 0.07 && v <= v_r) return k;
    if (!(k >= 0) || (us < 0.013 && v > us)) continue;
    if (draw_log(v * inv_alpha / (a / (us * us) + b)) <= k * log_mu - mu - log_factorial(k)) return k;
  }
}

double draw_poisson(philox_words *w, double mean) {
  if (!(mean > 0)) return 0;
  return mean < SMALL_MEAN ? poisson_small(w, mean) : poisson_large(w, mean);
}

/* ---- Binomial ---------------------------------------------------------------------------------------------------- */

/* Inversion: subtracts the probabilities of k, k + 1 … (`probability` is that of k) from u until the next exceeds the
 * rest, and returns that value. Rounded probabilities may add up to less than u: then -1, and the caller draws u
 * again. */
static double binomial_invert(double u, double k, double probability, double n, double p) {
  const double odds = p / (1 - p), most = n * p + 10 * sqrt(n * p * (1 - p) + 1) + 20;
  while (u > probability) {
    u -= probability;
    k++;
    if (k > n || k > most) return -1;
    probability *= (n - k + 1) / k * odds;
  }
  return k;
}

static double binomial_small(philox_words *w, double n, double p) {
  const double none = draw_exp(n * draw_log1p(-p));
  double k;
  do k = binomial_invert(philox_unit(w), 0, none, n, p);
  while (k < 0);
  return k;
}

/* BTRS; the names are the paper's. p <= 1/2, n·p >= 10. */
static double binomial_large(philox_words *w, double n, double p) {
  const double spq = sqrt(n * p * (1 - p)), b = 1.15 + 2.53 * spq, a = -0.0873 + 0.0248 * b + 0.01 * p;
  const double c = n * p + 0.5, v_r = 0.92 - 4.2 / b, r = p / (1 - p), alpha = (2.83 + 5.1 / b) * spq;
  const double m = floor((n + 1) * p);
  for (;;) {
    const double u = philox_unit(w) - 0.5, v = philox_unit(w), us = 0.5 - fabs(u);
    const double k = floor((2 * a / us + b) * u + c);
    if (!(k >= 0 && k <= n)) continue;
    if (us >= 0.07 && v <= v_r) return k;
    const double bound = (m + 0.5) * draw_log((m + 1) / (r * (n - m + 1))) +
                         (n + 1) * draw_log((n - m + 1) / (n - k + 1)) +
                         (k + 0.5) * draw_log(r * (n - k + 1) / (k + 1)) + factorial_tail(m) + factorial_tail(n - m) -
                         factorial_tail(k) - factorial_tail(n - k);
    if (draw_log(v * alpha / (a / (us * us) + b)) <= bound) return k;
  }
}

double draw_binomial(philox_words *w, double n, double p) {
  if (!(n > 0) || !(p > 0)) return 0;
  if (p >= 1) return n;
  if (p > 0.5) return n - draw_binomial(w, n, 1 - p); /* recurses once: 1 - p < 1/2 */
  return n * p < SMALL_MEAN ? binomial_small(w, n, p) : binomial_large(w, n, p);
}

double draw_binomial_positive(philox_words *w, double n, double p) {
  double k = 0;
  if (p <= 0.5 && n * p < SMALL_MEAN) { /* inversion from 1 on, u being uniform below P(k > 0) */
    const double some = -draw_expm1(n * draw_log1p(-p)), one = n * p * draw_exp((n - 1) * draw_log1p(-p));
    do k = binomial_invert(philox_unit(w) * some, 1, one, n, p);
    while (k < 0);
    return k;
  }
  while (k == 0) k = draw_binomial(w, n, p);
  return k;
}

/* ---- Zipf -------------------------------------------------------------------------------------------------------- */

/* Rejection from u^(-1/(a-1)), rounded down: L. Devroye, Non-uniform random variate generation (1986), X.6.1. */
double draw_zipf(philox_words *w, double a) {
  const double s = a - 1, most = 0x1p63, least_u = draw_exp(-s * draw_log(most)), b = draw_expm1(s * draw_log(2));
  for (;;) {
    const double u = 1 - philox_unit(w), v = philox_unit(w); /* u in (0, 1] */
    const double k = floor(draw_exp(-draw_log(least_u + u * (1 - least_u)) / s));
    if (!(k >= 1 && k < most)) continue;
    const double t = s * draw_log1p(1 / k); /* log((1 + 1/k)^(a-1)) */
    if (v * k * draw_expm1(t) / b <= draw_exp(t) / (b + 1)) return k;
  }
}

/* ---- Hypergeometric ---------------------------------------------------------------------------------------------- */

/* log of n over k. */
static double log_choose(double n, double k) { return log_factorial(n) - log_factorial(k) - log_factorial(n - k); }

/* The tail of Stirling's formula around k itself: log k! less (k + 1/2) log k - k + log(2 pi) / 2, for k > 0. */
static double stirling_tail(double k) {
  if (k < 16) return log_factorial(k) - (k + 0.5) * draw_log(k) + k - HALF_LOG_2PI;
  const double kk = k * k;
  return (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - 1.0 / 1680 / kk) / kk) / kk) / k;
}

/* x log(x / m) + m - x, without cancellation where x is near m. */
static double deviance(double x, double m) {
  const double d = (x - m) / (x + m), dd = d * d;
  if (fabs(d) > 0.1) return x * draw_log(x / m) + m - x;
  double sum = (x - m) * d, power = 2 * x * d;
  for (int j = 3; j < 40; j += 2) {
    power *= dd;
    sum += power / j;
  }
  return sum;
}

/* The probability of x among n with p, q being 1 - p: C. Loader, "Fast and accurate computation of binomial
 * probabilities" (2000). */
static double binomial_probability(double x, double n, double p, double q) {
  if (x <= 0) return draw_exp(n * draw_log1p(-p));
  if (x >= n) return draw_exp(n * draw_log1p(-q));
  const double rest = n - x;
  const double tails = stirling_tail(n) - stirling_tail(x) - stirling_tail(rest);
  return draw_exp(tails - deviance(x, n * p) - deviance(rest, n * q)) * sqrt(n / (TWO_PI * x * rest));
}

#define LARGE_POPULATION 0x1p30

/* The probability of the mode. In a large population the logarithms of factorials are so large that their difference
 * has few digits left; there the ratio of binomial probabilities keeps them. */
static double hypergeometric_at_mode(double good, double bad, double draws, double mode) {
  const double all = good + bad, p = draws / all, q = (all - draws) / all;
  if (all <= LARGE_POPULATION)
    return draw_exp(log_choose(good, mode) + log_choose(bad, draws - mode) - log_choose(all, draws));
  return binomial_probability(mode, good, p, q) * binomial_probability(draws - mode, bad, p, q) /
         binomial_probability(draws, all, p, q);
}

/* Inversion from the mode outwards, on both sides by turns: as many steps as the draw lies standard deviations away,
 * times these. */
double draw_hypergeometric(philox_words *w, double good, double bad, double draws) {
  const double low = draws > bad ? draws - bad : 0, high = draws < good ? draws : good;
  const double top = floor((draws + 1) / (good + bad + 2) * (good + 1));
  const double mode = top < low ? low : top > high ? high : top;
  if (low >= high) return low;
  const double at_mode = hypergeometric_at_mode(good, bad, draws, mode);
  for (;;) {
    double u = philox_unit(w) - at_mode, above = at_mode, below = at_mode, up = mode, down = mode;
    if (u < 0) return mode;
    while (up < high || down > low) {
      if (up < high) {
        above *= (good - up) / (up + 1) * ((draws - up) / (bad - draws + up + 1));
        up++;
        u -= above;
        if (u < 0) return up;
      }
      if (down > low) {
        below *= down / (good - down + 1) * ((bad - draws + down) / (draws - down + 1));
        down--;
        u -= below;
        if (u < 0) return down;
      }
      if (above < 1e-18 && below < 1e-18) break; /* u lies in what rounding left */
    }
  }
}

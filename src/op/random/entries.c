/* entries: gamma, beta, t, Wald, von Mises, truncated normal and mixed counts.
 *
 * Gamma: G. Marsaglia, W. W. Tsang, "A simple method for generating gamma variables" (2000); a shape below 1 is raised
 * by 1, and the draw multiplied by a uniform's power 1/shape. Wald: J. R. Michael, W. R. Schucany, R. W. Haas,
 * "Generating random variates using transformations with multiple roots" (1976). Von Mises: D. J. Best, N. I. Fisher,
 * "Efficient simulation of the von Mises distribution" (1979). Truncated normal: C. P. Robert, "Simulation of truncated
 * normal variables" (1995).
 */
#include "entries.h"
#include "discrete.h"

#include <math.h>

#define PI 3.14159265358979323846

/* ---- Gamma ------------------------------------------------------------------------------------------------------- */

/* The constants of a shape >= 1: d = shape - 1/3, c = 1 / sqrt(9 d). */
typedef struct gamma_shape {
  double shape, d, c;
} gamma_shape;

static gamma_shape gamma_shape_of(double shape) {
  const double d = (shape < 1 ? shape + 1 : shape) - 1.0 / 3;
  return (gamma_shape){.shape = shape, .d = d, .c = 1 / sqrt(9 * d)};
}

/* Accepts the normal draw z with the uniform u in (0, 1): the gamma draw d·v, or a negative number. */
static inline double gamma_accept(const gamma_shape *g, double z, double u) {
  const double t = 1 + g->c * z, v = t * t * t, zz = z * z;
  if (!(t > 0)) return -1;
  if (u < 1 - DRAW_GAMMA_SQUEEZE * zz * zz) return g->d * v;
  return draw_log(u) < 0.5 * zz + g->d * (1 - v + draw_log(v)) ? g->d * v : -1;
}

/* A draw of the raised shape: attempts until one is accepted. */
static double gamma_attempts(philox_words *w, const gamma_shape *g) {
  double x = -1;
  while (x < 0) {
    const double radius = sqrt(-2 * draw_log(draw_radius_of(philox_word(w))));
    const uint64_t word = philox_word(w);
    double sine, cosine;
    draw_sincos_2pi(draw_angle_of(word), &sine, &cosine);
    x = gamma_accept(g, radius * cosine, draw_test_of(word));
  }
  return x;
}

double entry_log_gamma(philox_words *w, double shape) {
  const gamma_shape g = gamma_shape_of(shape);
  const double x = draw_log(gamma_attempts(w, &g));
  return shape < 1 ? x + draw_log(1 - philox_unit(w)) / shape : x;
}

static double entry_gamma(philox_words *w, double shape) {
  const gamma_shape g = gamma_shape_of(shape);
  const double x = gamma_attempts(w, &g);
  return shape < 1 ? x * draw_exp(draw_log(1 - philox_unit(w)) / shape) : x;
}

#define GAMMA_MANY 128 /* values drawn at a time */

/* The first attempt of each value, as a loop; a value that is rejected goes on by itself. */
static void gamma_first(const draw_fns *fns, const philox_state *at, double *x, const double *shape, int64_t n) {
  uint64_t words[2 * GAMMA_MANY];
  double d[GAMMA_MANY], c[GAMMA_MANY], z[GAMMA_MANY], u[GAMMA_MANY];
  gamma_shape g = gamma_shape_of(shape[0]);
  for (int64_t i = 0; i < n; i++) {
    if (shape[i] != g.shape) g = gamma_shape_of(shape[i]);
    d[i] = g.d;
    c[i] = g.c;
  }
  fns->philox(at, words, n);
  fns->gamma(words, d, c, x, z, u, n);
  for (int64_t i = 0; i < n; i++) {
    if (x[i] >= 0) continue;
    g = (gamma_shape){.d = d[i], .c = c[i]};
    x[i] = gamma_accept(&g, z[i], u[i]);
    if (x[i] >= 0) continue;
    philox_words own = philox_words_of(at, (uint64_t)i);
    philox_word(&own); /* the first attempt's */
    philox_word(&own);
    x[i] = gamma_attempts(&own, &g);
  }
}

/* The uniforms by which shapes below 1 are reached are those of the counters whose top bit is set, which no value's
 * attempts reach. */
static void gamma_lower(const draw_fns *fns, const philox_state *at, double *x, const double *shape, int64_t n,
                        bool logarithm) {
  const philox_state other = {
      .key = at->key, .counter_lo = at->counter_lo, .counter_hi = at->counter_hi ^ (uint64_t)1 << 63};
  uint64_t words[2 * GAMMA_MANY];
  double u[GAMMA_MANY];
  fns->philox(&other, words, n);
  for (int64_t i = 0; i < n; i++) u[i] = draw_radius_of(words[2 * i]);
  fns->log(u, n);
  for (int64_t i = 0; i < n; i++) {
    const double power = shape[i] < 1 ? u[i] / shape[i] : 0;
    x[i] = logarithm ? x[i] + power : x[i] * draw_exp(power);
  }
}

void entries_gamma(const draw_fns *fns, const philox_state *at, double *values, const double *shape, int64_t n,
                   bool logarithm) {
  philox_state s = *at;
  for (int64_t i = 0; i < n; i += GAMMA_MANY) {
    const int64_t m = n - i < GAMMA_MANY ? n - i : GAMMA_MANY;
    bool small = false;
    gamma_first(fns, &s, values + i, shape + i, m);
    if (logarithm) fns->log(values + i, m);
    for (int64_t k = 0; k < m; k++) small = small || shape[i + k] < 1;
    if (small) gamma_lower(fns, &s, values + i, shape + i, m, logarithm);
    philox_advance(&s, (uint64_t)m);
  }
}

/* ---- Quotients of gamma draws ------------------------------------------------------------------------------------ */

double entry_beta(philox_words *w, const double *p) {
  const double a = entry_log_gamma(w, p[0]), b = entry_log_gamma(w, p[1]);
  return 1 / (1 + draw_exp(b - a));
}

double entry_f(philox_words *w, const double *p) {
  const double a = entry_log_gamma(w, 0.5 * p[0]), b = entry_log_gamma(w, 0.5 * p[1]);
  return draw_exp(a - b) * p[1] / p[0];
}

double entry_t(philox_words *w, const double *p) {
  const double z = philox_normal(w);
  return p[1] + p[2] * z * sqrt(0.5 * p[0] / entry_gamma(w, 0.5 * p[0]));
}

/* ---- Wald, von Mises --------------------------------------------------------------------------------------------- */

/* With h = mean·z² / (2 scale) the lesser root of the transformation is mean / (1 + h + sqrt(h (h + 2))). */
double entry_wald(philox_words *w, const double *p) {
  const double z = philox_normal(w), h = 0.5 * p[0] / p[1] * z * z, root = 1 + h + sqrt(h * (h + 2));
  return philox_unit(w) * (1 + root) <= root ? p[0] / root : p[0] * root;
}

/* v less a multiple of 2 pi, in [-pi, pi]. */
static double wrapped(double v) {
  const double y = v - 2 * PI * floor(v / (2 * PI) + 0.5);
  return y < -PI ? -PI : y > PI ? PI : y;
}

double entry_vonmises(philox_words *w, const double *p) {
  const double kappa = p[1];
  double angle;
  if (kappa < 1e-6) {
    angle = PI * (2 * philox_unit(w) - 1);
  } else if (kappa > 1e6) { /* the normal distribution that it tends to */
    angle = philox_normal(w) / sqrt(kappa);
  } else {
    const double tau = 1 + sqrt(1 + 4 * kappa * kappa), rho = (tau - sqrt(2 * tau)) / (2 * kappa);
    const double below = (1 - rho) * (1 - rho) / (2 * rho), r = 1 + below; /* r - 1, and r */
    double sine, z, c, u;
    do {
      draw_sincos_2pi(0.5 * philox_unit(w), &sine, &z);
      u = 1 - philox_unit(w);
      c = kappa * below * (r + 1) / (r + z); /* kappa (r - f), f = (1 + r z) / (r + z) */
    } while (!(c * (2 - c) > u) && draw_log(c / u) + 1 - c < 0);
    angle = draw_angle(below * (1 - z) / (r + z), (r + 1) * (1 + z) / (r + z)); /* 1 - f, 1 + f */
    if (philox_unit(w) < 0.5) angle = -angle;
  }
  return wrapped(p[0] + angle);
}

/* ---- Truncated normal -------------------------------------------------------------------------------------------- */

/* A standard normal draw in [a, b], uniform ones being accepted by the density over its greatest value exp(-top). */
static double normal_by_uniform(philox_words *w, double a, double b, double top) {
  for (;;) {
    const double x = a + (b - a) * philox_unit(w);
    if (philox_unit(w) < draw_exp(top - 0.5 * x * x)) return x;
  }
}

/* In [a, b] with a > 0: exponential draws of the rate at which most are accepted, or uniform ones in a short interval. */
static double normal_beyond(philox_words *w, double a, double b) {
  const double rate = 0.5 * (a + sqrt(a * a + 4));
  if (a > 1e7) return a - draw_log1p(philox_unit(w) * draw_expm1(-a * (b - a))) / a; /* the tail's limit */
  if (rate * (b - a) < 1) return normal_by_uniform(w, a, b, 0.5 * a * a);
  for (;;) {
    const double x = a - draw_log(1 - philox_unit(w)) / rate, less = x - rate;
    if (x <= b && philox_unit(w) < draw_exp(-0.5 * less * less)) return x;
  }
}

static double normal_between(philox_words *w, double a, double b) {
  if (a > 0) return normal_beyond(w, a, b);
  if (b < 0) return -normal_beyond(w, -b, -a);
  if (b - a < 2.5) return normal_by_uniform(w, a, b, 0);
  for (;;) {
    const double x = philox_normal(w);
    if (x >= a && x <= b) return x;
  }
}

double entry_truncated_normal(philox_words *w, const double *p) {
  const double a = (p[2] - p[0]) / p[1], b = (p[3] - p[0]) / p[1], x = p[0] + p[1] * normal_between(w, a, b);
  return x >= p[2] ? (x <= p[3] ? x : p[3]) : p[2];
}

/* ---- Counts ------------------------------------------------------------------------------------------------------ */

#define GREATEST_COUNT 0x1p53

double entry_poisson(philox_words *w, const double *p) { return draw_poisson(w, p[0]); }

double entry_binomial(philox_words *w, const double *p) { return draw_binomial(w, p[0], p[1]); }

/* Poisson, its mean being a gamma draw. */
double entry_nbinom(philox_words *w, const double *p) {
  const double mean = entry_gamma(w, p[0]) * ((1 - p[1]) / p[1]);
  return draw_poisson(w, mean < GREATEST_COUNT ? mean : GREATEST_COUNT);
}

double entry_betabinom(philox_words *w, const double *p) { return draw_binomial(w, p[0], entry_beta(w, p + 1)); }

double entry_zipf(philox_words *w, const double *p) { return draw_zipf(w, p[0]); }

double entry_hypergeometric(philox_words *w, const double *p) { return draw_hypergeometric(w, p[0], p[1], p[2]); }

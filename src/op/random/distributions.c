/* distributions: the table of the distributions whose draws are scalars, and how each is made from a base draw: a
 * uniform one u in [0, 1) by the inverse of its distribution function, or a normal one. */
#include "draw.h"
#include "draw_grad.h"
#include "entries.h"

#include <math.h>
#include <string.h>

#define HALF_STEP 0x1p-54 /* u + HALF_STEP is never 0; 1 - u never is */

static void draw_normal(const draw_fns *fns, double *v, const double *const *p, int64_t n) {
  (void)fns;
  for (int64_t i = 0; i < n; i++) v[i] = p[0][i] + p[1][i] * v[i];
}

static void draw_uniform(const draw_fns *fns, double *v, const double *const *p, int64_t n) {
  (void)fns;
  for (int64_t i = 0; i < n; i++) v[i] = p[0][i] + (p[1][i] - p[0][i]) * v[i];
}

static void draw_bernoulli(const draw_fns *fns, double *v, const double *const *p, int64_t n) {
  (void)fns;
  for (int64_t i = 0; i < n; i++) v[i] = v[i] < p[0][i];
}

/* v = -log(1 - v), an exponential draw from a uniform one; 1 - v is exact. */
static void standard_exponential(const draw_fns *fns, double *v, int64_t n) {
  for (int64_t i = 0; i < n; i++) v[i] = 1 - v[i];
  fns->log(v, n);
  for (int64_t i = 0; i < n; i++) v[i] = -v[i];
}

static void draw_exponential(const draw_fns *fns, double *v, const double *const *p, int64_t n) {
  standard_exponential(fns, v, n);
  for (int64_t i = 0; i < n; i++) v[i] = p[0][i] * v[i];
}

static void draw_gumbel(const draw_fns *fns, double *v, const double *const *p, int64_t n) {
  standard_exponential(fns, v, n);
  fns->log(v, n);
  for (int64_t i = 0; i < n; i++) v[i] = p[0][i] - p[1][i] * v[i];
}

static const char *draw_refuse_scale_second(const double *p) { return p[1] >= 0 ? NULL : "scale must not be negative"; }
static const char *draw_refuse_scale_first(const double *p) { return p[0] >= 0 ? NULL : "scale must not be negative"; }
static const char *draw_refuse_p(const double *p) {
  return p[0] >= 0 && p[0] <= 1 ? NULL : "p must lie between 0 and 1";
}

static const char *draw_refuse_range(const double *p) {
  return p[0] <= p[1] ? NULL : "low must not be greater than high";
}

/* ---- From a normal draw ------------------------------------------------------------------------------------------ */

static void draw_lognormal(const draw_fns *fns, double *v, const double *const *p, int64_t n) {
  (void)fns;
  for (int64_t i = 0; i < n; i++) v[i] = draw_exp(p[0][i] + p[1][i] * v[i]);
}

static void draw_halfnormal(const draw_fns *fns, double *v, const double *const *p, int64_t n) {
  (void)fns;
  for (int64_t i = 0; i < n; i++) v[i] = p[0][i] + p[1][i] * fabs(v[i]);
}

/* ---- From a uniform draw ----------------------------------------------------------------------------------------- */

static void draw_laplace(const draw_fns *fns, double *v, const double *const *p, int64_t n) {
  (void)fns;
  for (int64_t i = 0; i < n; i++) {
    const double z = v[i] < 0.5 ? draw_log(2 * (v[i] + HALF_STEP)) : -draw_log(2 * (1 - v[i]));
    v[i] = p[0][i] + p[1][i] * z;
  }
}

static void draw_logistic(const draw_fns *fns, double *v, const double *const *p, int64_t n) {
  (void)fns;
  for (int64_t i = 0; i < n; i++) v[i] = p[0][i] + p[1][i] * draw_log((v[i] + HALF_STEP) / (1 - v[i]));
}

/* tan(pi (u - 1/2)) = -cos(pi u) / sin(pi u) */
static void draw_cauchy(const draw_fns *fns, double *v, const double *const *p, int64_t n) {
  (void)fns;
  for (int64_t i = 0; i < n; i++) {
    double sine, cosine;
    draw_sincos_2pi(0.5 * (v[i] + HALF_STEP), &sine, &cosine);
    v[i] = p[0][i] - p[1][i] * (cosine / sine);
  }
}

static void draw_halfcauchy(const draw_fns *fns, double *v, const double *const *p, int64_t n) {
  (void)fns;
  for (int64_t i = 0; i < n; i++) {
    double sine, cosine;
    draw_sincos_2pi(0.25 * v[i], &sine, &cosine);
    v[i] = p[0][i] + p[1][i] * (sine / cosine);
  }
}

/* shape, scale: scale · E^(1/shape), E exponential */
static void draw_weibull(const draw_fns *fns, double *v, const double *const *p, int64_t n) {
  standard_exponential(fns, v, n);
  fns->log(v, n);
  for (int64_t i = 0; i < n; i++) v[i] = p[1][i] * draw_exp(v[i] / p[0][i]);
}

static void draw_pareto(const draw_fns *fns, double *v, const double *const *p, int64_t n) {
  standard_exponential(fns, v, n);
  for (int64_t i = 0; i < n; i++) v[i] = p[1][i] * draw_exp(v[i] / p[0][i]);
}

static void draw_rayleigh(const draw_fns *fns, double *v, const double *const *p, int64_t n) {
  standard_exponential(fns, v, n);
  for (int64_t i = 0; i < n; i++) v[i] = p[0][i] * sqrt(2 * v[i]);
}

static void draw_triangular(const draw_fns *fns, double *v, const double *const *p, int64_t n) {
  (void)fns;
  for (int64_t i = 0; i < n; i++) {
    const double left = p[0][i], mode = p[1][i], right = p[2][i], width = right - left;
    v[i] = v[i] * width < mode - left ? left + sqrt(v[i] * width * (mode - left))
                                      : right - sqrt((1 - v[i]) * width * (right - mode));
  }
}

static void draw_truncexpon(const draw_fns *fns, double *v, const double *const *p, int64_t n) {
  (void)fns;
  for (int64_t i = 0; i < n; i++) v[i] = p[1][i] - p[2][i] * draw_log1p(v[i] * draw_expm1(-p[0][i]));
}

/* ceil(E / -log(1 - p)), at least 1 */
static void draw_geometric(const draw_fns *fns, double *v, const double *const *p, int64_t n) {
  standard_exponential(fns, v, n);
  for (int64_t i = 0; i < n; i++) {
    const double k = p[0][i] < 1 ? ceil(v[i] / -draw_log1p(-p[0][i])) : 1;
    v[i] = k > 1 ? k : 1;
  }
}

/* ---- From gamma draws -------------------------------------------------------------------------------------------- */

static void draw_gamma(const draw_fns *fns, const philox_state *at, double *v, const double *const *p, int64_t n) {
  entries_gamma(fns, at, v, p[0], n, false);
  for (int64_t i = 0; i < n; i++) v[i] *= p[1][i];
}

static void draw_log_gamma(const draw_fns *fns, const philox_state *at, double *v, const double *const *p, int64_t n) {
  entries_gamma(fns, at, v, p[0], n, true);
}

static void draw_invgamma(const draw_fns *fns, const philox_state *at, double *v, const double *const *p, int64_t n) {
  entries_gamma(fns, at, v, p[0], n, false);
  for (int64_t i = 0; i < n; i++) v[i] = p[1][i] / v[i];
}

static void draw_chisquare(const draw_fns *fns, const philox_state *at, double *v, const double *const *p, int64_t n) {
  double shape[DRAW_BLOCK] = {0};
  for (int64_t i = 0; i < n; i++) shape[i] = 0.5 * p[0][i];
  entries_gamma(fns, at, v, shape, n, false);
  for (int64_t i = 0; i < n; i++) v[i] *= 2;
}

/* scale · G^(1/p), G a gamma draw of shape alpha / p; by logarithms, which do not underflow */
static void draw_gengamma(const draw_fns *fns, const philox_state *at, double *v, const double *const *p, int64_t n) {
  double shape[DRAW_BLOCK] = {0};
  for (int64_t i = 0; i < n; i++) shape[i] = p[0][i] / p[1][i];
  entries_gamma(fns, at, v, shape, n, true);
  for (int64_t i = 0; i < n; i++) v[i] = p[2][i] * draw_exp(v[i] / p[1][i]);
}

/* ---- Parameters that are not allowed ----------------------------------------------------------------------------- */

static const char *refuse_triangle(const double *p) {
  return p[0] <= p[1] && p[1] <= p[2] && p[0] < p[2] ? NULL : "left, mode and right must be in this order";
}
static const char *refuse_bounds(const double *p) { return p[2] < p[3] ? NULL : "lower must be less than upper"; }
static const char *refuse_exponent(const double *p) { return p[0] > 1 ? NULL : "a must be greater than 1"; }
static const char *refuse_draws(const double *p) {
  return p[2] <= p[0] + p[1] ? NULL : "draws must not be more than good + bad";
}

const distribution distributions[] = {
    {.name = "normal",
     .n_params = 2,
     .param = {"loc", "scale"},
     .preset = {0, 1},
     .base = BASE_NORMAL,
     .draw = draw_normal,
     .dtype = DAMO_N_DTYPES,
     .refuse = draw_refuse_scale_second,
     .grad = grad_loc_scale},
    {.name = "uniform",
     .n_params = 2,
     .param = {"low", "high"},
     .preset = {0, 1},
     .base = BASE_UNIFORM,
     .draw = draw_uniform,
     .dtype = DAMO_N_DTYPES,
     .rounds_down = true,
     .grad = grad_uniform},
    {.name = "bernoulli",
     .n_params = 1,
     .param = {"p"},
     .preset = {0.5},
     .base = BASE_UNIFORM,
     .draw = draw_bernoulli,
     .dtype = DAMO_BOOL,
     .refuse = draw_refuse_p},
    {.name = "exponential",
     .n_params = 1,
     .param = {"scale"},
     .preset = {1},
     .base = BASE_UNIFORM,
     .draw = draw_exponential,
     .dtype = DAMO_N_DTYPES,
     .refuse = draw_refuse_scale_first,
     .grad = grad_scale},
    {.name = "gumbel",
     .n_params = 2,
     .param = {"loc", "scale"},
     .preset = {0, 1},
     .base = BASE_UNIFORM,
     .draw = draw_gumbel,
     .dtype = DAMO_N_DTYPES,
     .refuse = draw_refuse_scale_second,
     .grad = grad_loc_scale},
    {.name = "integers",
     .n_params = 2,
     .param = {"low", "high"},
     .preset = {1, 1},
     .base = BASE_WORD,
     .dtype = DAMO_INT64,
     .refuse = draw_refuse_range},
    {.name = "lognormal",
     .n_params = 2,
     .param = {"mu", "sigma"},
     .preset = {0, 1},
     .demand = {DEMAND_FINITE, DEMAND_NONNEGATIVE},
     .base = BASE_NORMAL,
     .draw = draw_lognormal,
     .dtype = DAMO_N_DTYPES,
     .grad = grad_lognormal},
    {.name = "halfnormal",
     .n_params = 2,
     .param = {"loc", "scale"},
     .preset = {0, 1},
     .demand = {DEMAND_FINITE, DEMAND_NONNEGATIVE},
     .base = BASE_NORMAL,
     .draw = draw_halfnormal,
     .dtype = DAMO_N_DTYPES,
     .grad = grad_loc_scale},
    {.name = "laplace",
     .n_params = 2,
     .param = {"loc", "scale"},
     .preset = {0, 1},
     .demand = {DEMAND_FINITE, DEMAND_NONNEGATIVE},
     .base = BASE_UNIFORM,
     .draw = draw_laplace,
     .dtype = DAMO_N_DTYPES,
     .grad = grad_loc_scale},
    {.name = "logistic",
     .n_params = 2,
     .param = {"loc", "scale"},
     .preset = {0, 1},
     .demand = {DEMAND_FINITE, DEMAND_NONNEGATIVE},
     .base = BASE_UNIFORM,
     .draw = draw_logistic,
     .dtype = DAMO_N_DTYPES,
     .grad = grad_loc_scale},
    {.name = "cauchy",
     .n_params = 2,
     .param = {"loc", "scale"},
     .preset = {0, 1},
     .demand = {DEMAND_FINITE, DEMAND_NONNEGATIVE},
     .base = BASE_UNIFORM,
     .draw = draw_cauchy,
     .dtype = DAMO_N_DTYPES,
     .grad = grad_loc_scale},
    {.name = "halfcauchy",
     .n_params = 2,
     .param = {"loc", "scale"},
     .preset = {0, 1},
     .demand = {DEMAND_FINITE, DEMAND_NONNEGATIVE},
     .base = BASE_UNIFORM,
     .draw = draw_halfcauchy,
     .dtype = DAMO_N_DTYPES,
     .grad = grad_loc_scale},
    {.name = "weibull",
     .n_params = 2,
     .param = {"shape", "scale"},
     .preset = {1, 1},
     .demand = {DEMAND_POSITIVE, DEMAND_NONNEGATIVE},
     .base = BASE_UNIFORM,
     .draw = draw_weibull,
     .dtype = DAMO_N_DTYPES,
     .grad = grad_power},
    {.name = "pareto",
     .n_params = 2,
     .param = {"b", "scale"},
     .preset = {1, 1},
     .demand = {DEMAND_POSITIVE, DEMAND_NONNEGATIVE},
     .base = BASE_UNIFORM,
     .draw = draw_pareto,
     .dtype = DAMO_N_DTYPES,
     .grad = grad_power},
    {.name = "rayleigh",
     .n_params = 1,
     .param = {"scale"},
     .preset = {1},
     .demand = {DEMAND_NONNEGATIVE},
     .base = BASE_UNIFORM,
     .draw = draw_rayleigh,
     .dtype = DAMO_N_DTYPES,
     .grad = grad_scale},
    {.name = "triangular",
     .n_params = 3,
     .param = {"left", "mode", "right"},
     .preset = {0, 0.5, 1},
     .demand = {DEMAND_FINITE, DEMAND_FINITE, DEMAND_FINITE},
     .base = BASE_UNIFORM,
     .draw = draw_triangular,
     .dtype = DAMO_N_DTYPES,
     .refuse = refuse_triangle,
     .grad = grad_triangular},
    {.name = "truncexpon",
     .n_params = 3,
     .param = {"b", "loc", "scale"},
     .preset = {1, 0, 1},
     .demand = {DEMAND_POSITIVE, DEMAND_FINITE, DEMAND_NONNEGATIVE},
     .base = BASE_UNIFORM,
     .draw = draw_truncexpon,
     .dtype = DAMO_N_DTYPES,
     .grad = grad_truncexpon},
    {.name = "geometric",
     .n_params = 1,
     .param = {"p"},
     .preset = {0.5},
     .demand = {DEMAND_CHANCE},
     .base = BASE_UNIFORM,
     .draw = draw_geometric,
     .dtype = DAMO_INT64},
    {.name = "gamma",
     .n_params = 2,
     .param = {"shape", "scale"},
     .preset = {1, 1},
     .demand = {DEMAND_POSITIVE, DEMAND_NONNEGATIVE},
     .base = BASE_ENTRY,
     .block = draw_gamma,
     .dtype = DAMO_N_DTYPES,
     .grad = grad_gamma},
    {.name = "gengamma",
     .n_params = 3,
     .param = {"alpha", "p", "scale"},
     .preset = {1, 1, 1},
     .demand = {DEMAND_POSITIVE, DEMAND_POSITIVE, DEMAND_NONNEGATIVE},
     .base = BASE_ENTRY,
     .block = draw_gengamma,
     .dtype = DAMO_N_DTYPES,
     .grad = grad_gengamma},
    {.name = "log_gamma",
     .n_params = 1,
     .param = {"shape"},
     .preset = {1},
     .demand = {DEMAND_POSITIVE},
     .base = BASE_ENTRY,
     .block = draw_log_gamma,
     .dtype = DAMO_N_DTYPES,
     .grad = grad_log_gamma},
    {.name = "invgamma",
     .n_params = 2,
     .param = {"shape", "scale"},
     .preset = {1, 1},
     .demand = {DEMAND_POSITIVE, DEMAND_NONNEGATIVE},
     .base = BASE_ENTRY,
     .block = draw_invgamma,
     .dtype = DAMO_N_DTYPES,
     .grad = grad_invgamma},
    {.name = "chisquare",
     .n_params = 1,
     .param = {"df"},
     .preset = {1},
     .demand = {DEMAND_POSITIVE},
     .base = BASE_ENTRY,
     .block = draw_chisquare,
     .dtype = DAMO_N_DTYPES,
     .grad = grad_chisquare},
    {.name = "beta",
     .n_params = 2,
     .param = {"a", "b"},
     .preset = {1, 1},
     .demand = {DEMAND_POSITIVE, DEMAND_POSITIVE},
     .base = BASE_ENTRY,
     .entry = entry_beta,
     .dtype = DAMO_N_DTYPES,
     .grad = grad_beta},
    {.name = "f",
     .n_params = 2,
     .param = {"dfnum", "dfden"},
     .preset = {1, 1},
     .demand = {DEMAND_POSITIVE, DEMAND_POSITIVE},
     .base = BASE_ENTRY,
     .entry = entry_f,
     .dtype = DAMO_N_DTYPES,
     .grad = grad_f},
    {.name = "t",
     .n_params = 3,
     .param = {"df", "loc", "scale"},
     .preset = {1, 0, 1},
     .demand = {DEMAND_POSITIVE, DEMAND_FINITE, DEMAND_NONNEGATIVE},
     .base = BASE_ENTRY,
     .entry = entry_t,
     .dtype = DAMO_N_DTYPES,
     .grad = grad_t},
    {.name = "wald",
     .n_params = 2,
     .param = {"mean", "scale"},
     .preset = {1, 1},
     .demand = {DEMAND_POSITIVE, DEMAND_POSITIVE},
     .base = BASE_ENTRY,
     .entry = entry_wald,
     .dtype = DAMO_N_DTYPES,
     .grad = grad_wald},
    {.name = "vonmises",
     .n_params = 2,
     .param = {"mu", "kappa"},
     .preset = {0, 1},
     .demand = {DEMAND_FINITE, DEMAND_NONNEGATIVE},
     .base = BASE_ENTRY,
     .entry = entry_vonmises,
     .dtype = DAMO_N_DTYPES,
     .grad = grad_vonmises},
    {.name = "truncated_normal",
     .n_params = 4,
     .param = {"mu", "sigma", "lower", "upper"},
     .preset = {0, 1, -INFINITY, INFINITY},
     .demand = {DEMAND_FINITE, DEMAND_POSITIVE, DEMAND_NONE, DEMAND_NONE},
     .base = BASE_ENTRY,
     .entry = entry_truncated_normal,
     .dtype = DAMO_N_DTYPES,
     .refuse = refuse_bounds,
     .grad = grad_truncated_normal},
    {.name = "poisson",
     .n_params = 1,
     .param = {"rate"},
     .preset = {1},
     .demand = {DEMAND_RATE},
     .base = BASE_ENTRY,
     .entry = entry_poisson,
     .dtype = DAMO_INT64},
    {.name = "binomial",
     .n_params = 2,
     .param = {"n", "p"},
     .preset = {1, 0.5},
     .demand = {DEMAND_COUNT, DEMAND_PROBABILITY},
     .base = BASE_ENTRY,
     .entry = entry_binomial,
     .dtype = DAMO_INT64},
    {.name = "nbinom",
     .n_params = 2,
     .param = {"n", "p"},
     .preset = {1, 0.5},
     .demand = {DEMAND_POSITIVE, DEMAND_CHANCE},
     .base = BASE_ENTRY,
     .entry = entry_nbinom,
     .dtype = DAMO_INT64},
    {.name = "betabinom",
     .n_params = 3,
     .param = {"n", "a", "b"},
     .preset = {1, 1, 1},
     .demand = {DEMAND_COUNT, DEMAND_POSITIVE, DEMAND_POSITIVE},
     .base = BASE_ENTRY,
     .entry = entry_betabinom,
     .dtype = DAMO_INT64},
    {.name = "hypergeometric",
     .n_params = 3,
     .param = {"good", "bad", "draws"},
     .preset = {1, 1, 1},
     .demand = {DEMAND_COUNT, DEMAND_COUNT, DEMAND_COUNT},
     .base = BASE_ENTRY,
     .entry = entry_hypergeometric,
     .dtype = DAMO_INT64,
     .refuse = refuse_draws},
    {.name = "zipf",
     .n_params = 1,
     .param = {"a"},
     .preset = {2},
     .demand = {DEMAND_FINITE},
     .base = BASE_ENTRY,
     .entry = entry_zipf,
     .dtype = DAMO_INT64,
     .refuse = refuse_exponent},
    {.name = NULL},
};

const distribution *distribution_find(const char *name) {
  for (const distribution *d = distributions; d->name; d++) {
    if (strcmp(d->name, name) == 0) return d;
  }
  return NULL;
}

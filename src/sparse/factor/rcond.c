/* rcond: the reciprocal condition number 1 / (‖A‖₁ ‖A⁻¹‖₁), estimated.
 *
 * ‖A⁻¹‖₁ is estimated by Hager's method as improved by Higham (ACM TOMS 14, 1988): a few solves with A and Aᴴ give a
 * lower bound that is rarely off by more than a factor of 3. A rough estimate takes one solve if that shows that A is
 * far from singular, else two; for a Cholesky factor its diagonal often shows it without any solve. */
#include <stdlib.h>

#include "factor_int.h"

#define RCOND_STEPS 5
#define RCOND_FAR 10      /* a rough estimate that is so many epsilons from singular suffices */
#define CHOLESKY_FAR 1e6  /* the same for an estimate from the diagonal alone */
#define PROBE_ABOVE 1e-14 /* solves are refined above this backward error */

typedef struct rcond_search {
  damo_factor *f;
  int64_t n, per;      /* unknowns; doubles per element */
  const double *scale; /* of rows (the diagonal of R); NULL: 1 */
  double *x;
} rcond_search;

static double rcond_entry_size(const rcond_search *s, int64_t k) {
  return s->per == 2 ? hypot(s->x[2 * k], s->x[2 * k + 1]) : fabs(s->x[k]);
}

static double rcond_sum_of(const rcond_search *s) {
  double sum = 0;
  for (int64_t k = 0; k < s->n; k++) sum += rcond_entry_size(s, k);
  return sum;
}

static void rcond_rescale(const rcond_search *s) {
  if (!s->scale) return;
  for (int64_t k = 0; k < s->n; k++)
    for (int64_t c = 0; c < s->per; c++) s->x[k * s->per + c] /= s->scale[k];
}

/* x := (R·A)⁻¹ x and x := (R·A)⁻ᴴ x, for the row scaling R. */
static damo_status rcond_apply_inverse(const rcond_search *s) {
  rcond_rescale(s);
  return factor_raw_solve(s->f, FACTOR_A, 1, s->x);
}
static damo_status rcond_apply_adjoint(const rcond_search *s) {
  DAMO_TRY(factor_raw_solve(s->f, FACTOR_H, 1, s->x));
  rcond_rescale(s);
  return DAMO_OK;
}

static void rcond_to_signs(const rcond_search *s) {
  for (int64_t k = 0; k < s->n; k++) {
    const double size = rcond_entry_size(s, k);
    for (int64_t c = 0; c < s->per; c++) {
      double *v = &s->x[k * s->per + c];
      *v = size > 0 && isfinite(size) ? *v / size : c == 0;
    }
  }
}

static int64_t rcond_largest_of(const rcond_search *s, double *size) {
  int64_t at = 0;
  double most = -1;
  for (int64_t k = 0; k < s->n && s->per == 1; k++) {
    const double v = fabs(s->x[k]);
    if (v > most) most = v, at = k;
  }
  for (int64_t k = 0; k < s->n && s->per == 2; k++) {
    const double v = rcond_entry_size(s, k);
    if (v > most) most = v, at = k;
  }
  *size = most;
  return at;
}

static void rcond_fill(const rcond_search *s, double value, int64_t only) {
  for (int64_t k = 0; k < s->n; k++)
    for (int64_t c = 0; c < s->per; c++) s->x[k * s->per + c] = c == 0 && (only < 0 || only == k) ? value : 0;
}

/* Higham's second lower bound, from the vector (-1)^k (1 + k/(n - 1)). */
static damo_status rcond_other_bound(const rcond_search *s, double *best) {
  for (int64_t k = 0; k < s->n; k++) {
    const double v = 1 + (s->n > 1 ? (double)k / (double)(s->n - 1) : 0);
    s->x[k * s->per] = k % 2 ? -v : v;
    if (s->per == 2) s->x[2 * k + 1] = 0;
  }
  DAMO_TRY(rcond_apply_inverse(s));
  const double bound = 2 * rcond_sum_of(s) / (3 * (double)s->n);
  if (bound > *best) *best = bound;
  return DAMO_OK;
}

/* A pseudo-random number in ±0.5 … ±1.5 from k. Values of equal modulus could cancel to 0. */
static inline double rcond_random_sign(uint64_t k) {
  k *= 0x9e3779b97f4a7c15u;
  k = (k ^ k >> 30) * 0xbf58476d1ce4e5b9u;
  k ^= k >> 27;
  union {
    uint64_t bits;
    double number;
  } u = {k >> 12 | 0x3ff0000000000000u}; /* 1 … 2 */
  u.number -= 0.5;
  u.bits |= k << 63;
  return u.number;
}

/* Solves (RA)ᴴ y = b for a random b (elements ±0.5 … ±1.5). Element j of y is the sum of column j of the inverse with
 * these weights, so the largest |y_j| is rarely smaller than ‖(RA)⁻¹‖₁ by more than a factor of a few √n. The solve is
 * also the probe of the factor's quality: its backward error says whether solves need refinement. `sums` receives the
 * sums of moduli of A's columns. */
static damo_status rcond_first_bound(const rcond_search *s, double *bound, int64_t *at, double *sums) {
  damo_factor *f = s->f;
  const size_t n = (size_t)(s->n * s->per);
  double *b = factor_work(f, 3 * n);
  if (!b) return DAMO_EMEMORY;
  for (int64_t k = 0; k < s->n; k++) {
    b[k * s->per] = rcond_random_sign((uint64_t)k + 1);
    if (s->per == 2) b[2 * k + 1] = 0;
  }
  memcpy(s->x, b, n * sizeof *b);
  DAMO_TRY(factor_raw_solve(f, FACTOR_H, 1, s->x));
  f->probe = factor_residual(f, FACTOR_H, s->x, b, b + n, b + 2 * n, sums);
  if (!f->kept_pivots) f->fresh_probe = f->probe;
  f->refines = !(f->probe <= PROBE_ABOVE);
  *at = rcond_largest_of(s, bound);
  return DAMO_OK;
}

/* The 1-norm of column `at` of (RA)⁻¹, which rcond_first_bound found: nearly always one of the largest. */
static damo_status rcond_column_norm(const rcond_search *s, int64_t at, double *norm) {
  rcond_fill(s, 1, at);
  DAMO_TRY(rcond_apply_inverse(s));
  *norm = rcond_sum_of(s);
  return DAMO_OK;
}

/* A lower bound of ‖(RA)⁻¹‖₁ by Hager's and Higham's iteration. */
static damo_status rcond_inverse_norm(const rcond_search *s, double *best) {
  rcond_fill(s, 1 / (double)s->n, -1);
  DAMO_TRY(rcond_apply_inverse(s));
  *best = rcond_sum_of(s);
  int64_t last = -1;
  for (int step = 0; step < RCOND_STEPS; step++) {
    rcond_to_signs(s);
    DAMO_TRY(rcond_apply_adjoint(s));
    double size;
    const int64_t at = rcond_largest_of(s, &size);
    if (at == last) break;
    last = at;
    rcond_fill(s, 1, at);
    DAMO_TRY(rcond_apply_inverse(s));
    const double sum = rcond_sum_of(s);
    if (step > 0 && sum <= *best) break;
    if (sum > *best || isnan(sum)) *best = sum;
  }
  return rcond_other_bound(s, best);
}

static int rcond_compare_doubles(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

/* Replaces `size` (each row's largest entry) by scales: 1/size for rows beyond 1/epsilon times the median row, 1 for
 * all others; false if there are no such rows. order: scratch. */
static bool rcond_scale_constraints(int64_t n, double *size, double *order) {
  double least = INFINITY, most = 0;
  for (int64_t k = 0; k < n; k++) {
    if (size[k] > most) most = size[k];
    if (size[k] < least && size[k] > 0) least = size[k];
  }
  if (!(most * DBL_EPSILON > least)) return false;
  memcpy(order, size, (size_t)n * sizeof *size);
  qsort(order, (size_t)n, sizeof *order, rcond_compare_doubles);
  const double usual = order[n / 2];
  if (!(most * DBL_EPSILON > usual)) return false;
  for (int64_t k = 0; k < n; k++) size[k] = size[k] * DBL_EPSILON > usual ? 1 / size[k] : 1;
  return true;
}

static double rcond_largest_sum(int64_t n, const double *sum) {
  double norm = 0;
  for (int64_t k = 0; k < n; k++) norm = sum[k] > norm ? sum[k] : norm;
  return norm;
}

/* ‖RA‖₁; sets the scaling R in s->scale; work: 3n doubles. */
static double rcond_matrix_norm(rcond_search *s, double *work) {
  const damo_factor *f = s->f;
  const factor_fns *fns = factor_fns_of(&f->m);
  double *sum = work, *spare = sum + s->n, *scale = spare + s->n;
  void (*const sums)(const factor_matrix *, const double *, double *, double *) =
      f->flipped ? fns->row_sums : fns->column_sums;
  sums(&f->m, NULL, sum, scale);
  if (rcond_scale_constraints(s->n, scale, spare)) {
    s->scale = scale;
    sums(&f->m, scale, sum, spare);
  }
  return rcond_largest_sum(s->n, sum);
}

/* ‖(RA)⁻¹‖₁ if rcond_first_bound did not show that A is far from singular: well, or by at most one more solve, with
 * `at` from rcond_first_bound. */
static damo_status rcond_refine_bound(rcond_search *s, bool well, double enough, double bound, int64_t at,
                                      double *inverse) {
  if (well) return rcond_inverse_norm(s, inverse);
  if (s->scale) {
    rcond_rescale(s);
    at = rcond_largest_of(s, &bound);
    bound *= sqrt((double)s->n);
  }
  *inverse = bound;
  return bound < enough ? DAMO_OK : rcond_column_norm(s, at, inverse);
}

/* well: the full iteration; else one solve or two. */
static damo_status rcond_estimate(damo_factor *f, bool well, double epsilon) {
  const int64_t n = f->m.cols, per = f->m.cplx ? 2 : 1;
  const size_t bytes = (size_t)(n * (3 + per)) * sizeof(double);
  double *work = mem_alloc(f->obj.ctx, bytes), inverse = INFINITY, bound = 0;
  if (!work) return DAMO_EMEMORY;
  rcond_search s = {.f = f, .n = n, .per = per, .x = work + 3 * n};
  int64_t at = 0;
  damo_status status = rcond_first_bound(&s, &bound, &at, work);
  double norm = status == DAMO_OK ? rcond_largest_sum(n, work) : 0;
  bound *= sqrt((double)n);
  f->rcond_rough = !well;
  if (status == DAMO_OK && !well && bound < 1 / (norm * epsilon * RCOND_FAR)) {
    inverse = bound;
  } else if (status == DAMO_OK) {
    norm = rcond_matrix_norm(&s, work);
    status = rcond_refine_bound(&s, well, 1 / (norm * epsilon * RCOND_FAR), bound, at, &inverse);
  }
  mem_free(f->obj.ctx, work, bytes);
  if (status != DAMO_OK) return status;
  f->rcond = 1 / norm / inverse;
  if (!(f->rcond >= 0)) f->rcond = 0;
  if (f->rcond > 1) f->rcond = 1;
  f->rcond_known = true;
  return DAMO_OK;
}

damo_status factor_estimate(damo_factor *f, bool well) {
  const bool single = f->dtype == DAMO_FLOAT32 || f->dtype == DAMO_COMPLEX64;
  const double epsilon = single ? FLT_EPSILON : DBL_EPSILON;
  if (f->rcond_known && !(well && f->rcond_rough)) return DAMO_OK;
  if (f->backend->method == FACTOR_CHOLESKY && !well) {
    factor_pivots found = {.smallest = INFINITY};
    DAMO_TRY(f->backend->pivots(f, false, &found));
    f->rcond = found.smallest / found.largest;
    f->rcond_known = f->rcond_rough = f->rcond > epsilon * CHOLESKY_FAR;
    if (f->rcond_known) return DAMO_OK;
  }
  return rcond_estimate(f, well, epsilon);
}

damo_status factor_rcond(damo_factor *f, double *rcond) {
  if (f->fault == FACTOR_EMPTY) return factor_check(f);
  DAMO_TRY(factor_need_square(f, " for its condition"));
  *rcond = f->fault == FACTOR_SINGULAR ? 0 : 1;
  if (f->fault == FACTOR_SINGULAR || !f->backend) return DAMO_OK;
  DAMO_TRY(factor_estimate(f, true));
  *rcond = f->rcond;
  return DAMO_OK;
}

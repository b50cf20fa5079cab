/* logsumexp: the elementwise steps of log(sum(exp(x))) = m + log(sum(exp(x - m))), m the maximum. */
#include <math.h>

#include "reduce_int.h"

static inline float logsumexp_finite_f32(float m) { return isfinite(m) ? m : 0; }
static inline double logsumexp_finite_f64(double m) { return isfinite(m) ? m : 0; }

static void logsumexp_subtract_f32(const float *x, const float *shift, int step, float *y, int64_t n) {
  for (int64_t j = 0; j < n; j++) y[j] = x[j] - logsumexp_finite_f32(shift[j * step]);
}

static void logsumexp_subtract_f64(const double *x, const double *shift, int step, double *y, int64_t n) {
  for (int64_t j = 0; j < n; j++) y[j] = x[j] - logsumexp_finite_f64(shift[j * step]);
}

static void logsumexp_add_f32(const float *shift, float *acc, int64_t n) {
  for (int64_t j = 0; j < n; j++) acc[j] += logsumexp_finite_f32(shift[j]);
}

static void logsumexp_add_f64(const double *shift, double *acc, int64_t n) {
  for (int64_t j = 0; j < n; j++) acc[j] += logsumexp_finite_f64(shift[j]);
}

void logsumexp_subtract(const reduce_plan *plan, const void *x, const void *shift, int step, void *y, int64_t n) {
  if (plan->acc == DAMO_FLOAT32)
    logsumexp_subtract_f32(x, shift, step, y, n);
  else
    logsumexp_subtract_f64(x, shift, step, y, n);
  plan->second_pass->exp->fn[plan->acc]((void *[]){y, y}, n);
}

void logsumexp_finish(const reduce_plan *plan, const void *shift, void *acc, int64_t n) {
  plan->second_pass->log->fn[plan->acc]((void *[]){acc, acc}, n);
  if (plan->acc == DAMO_FLOAT32)
    logsumexp_add_f32(shift, acc, n);
  else
    logsumexp_add_f64(shift, acc, n);
}

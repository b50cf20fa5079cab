/* lanes: what classes do to arrays of LANE_COUNT small matrices besides the kernels of kernel/lanes/lanes.h. */
#include "decompose.h"
#include "kernel/lanes/lanes.h"

#include <float.h>
#include <math.h>
#include <string.h>

size_t lanes_entry(const core_call *c) { return LANE_COUNT * dtype_size(c->dtype); }

void lanes_copy(const core_call *c, void *to, const void *from, int64_t entries) {
  memcpy(to, from, (size_t)entries * lanes_entry(c));
}

static double lanes_get(const core_call *c, const void *x, int64_t k) {
  return c->dtype == DAMO_FLOAT32 ? (double)((const float *)x)[k] : ((const double *)x)[k];
}
static void lanes_put(const core_call *c, void *x, int64_t k, double v) {
  if (c->dtype == DAMO_FLOAT32)
    ((float *)x)[k] = (float)v;
  else
    ((double *)x)[k] = v;
}

void lanes_identity(const core_call *c, int n, void *to) {
  memset(to, 0, (size_t)(n * n) * lanes_entry(c));
  for (int i = 0; i < n; i++)
    for (int l = 0; l < LANE_COUNT; l++) lanes_put(c, to, (int64_t)(i * n + i) * LANE_COUNT + l, 1);
}

void lanes_check_normal(const core_call *c, const void *x, uint8_t *failed) {
  const double least = c->dtype == DAMO_FLOAT32 ? FLT_MIN : DBL_MIN;
  for (int l = 0; l < LANE_COUNT; l++) {
    const double v = fabs(lanes_get(c, x, l));
    failed[l] = !(v >= least && v <= DBL_MAX);
  }
}

#define LANES_CHECK_REGULAR(T)                                             \
  for (int l = 0; l < LANE_COUNT; l++) least[l] = INFINITY, most[l] = 0;   \
  for (int i = 0; i < n; i++) {                                            \
    const T *d = (const T *)factors + (ptrdiff_t)(i * n + i) * LANE_COUNT; \
    for (int l = 0; l < LANE_COUNT; l++) {                                 \
      const double v = d[l] < 0 ? (double)-d[l] : (double)d[l];            \
      least[l] = v < least[l] ? v : least[l];                              \
      most[l] = v <= most[l] ? most[l] : v;                                \
      nan[l] += v != v;                                                    \
    }                                                                      \
  }

void lanes_check_regular(const core_call *c, int n, const void *factors, double ratio, uint8_t *failed) {
  double least[LANE_COUNT], most[LANE_COUNT];
  int nan[LANE_COUNT] = {0};
  if (c->dtype == DAMO_FLOAT32) {
    LANES_CHECK_REGULAR(float)
  } else {
    LANES_CHECK_REGULAR(double)
  }
  for (int l = 0; l < LANE_COUNT; l++)
    if (nan[l] > 0 || !(least[l] > ratio * most[l] && most[l] <= DBL_MAX)) failed[l] = 1;
}
#undef LANES_CHECK_REGULAR

#define LANES_SCALE(T)                                                                  \
  T both[LANE_COUNT];                                                                   \
  for (int l = 0; l < LANE_COUNT; l++) both[l] = ((const T *)p)[l] * ((const T *)q)[l]; \
  for (int64_t k = 0; k < entries; k++)                                                 \
    for (int l = 0; l < LANE_COUNT; l++) ((T *)x)[k * LANE_COUNT + l] *= both[l];

void lanes_scale(const core_call *c, int64_t entries, const void *p, const void *q, void *x) {
  if (c->dtype == DAMO_FLOAT32) {
    LANES_SCALE(float)
  } else {
    LANES_SCALE(double)
  }
}
#undef LANES_SCALE

void lanes_check_pivots(const core_call *c, int n, const void *pivots, uint8_t *failed) {
  for (int k = 0; k < n * LANE_COUNT; k++) {
    const double v = lanes_get(c, pivots, k);
    if (!(v > k / LANE_COUNT && v <= n)) failed[k % LANE_COUNT] = 1;
  }
}

void lanes_sign_log(const core_call *c, const void *x, void *sign, void *log_abs) {
  for (int l = 0; l < LANE_COUNT; l++) {
    const double v = lanes_get(c, x, l);
    lanes_put(c, sign, l, v < 0 ? -1 : 1);
    lanes_put(c, log_abs, l, log(fabs(v)));
  }
}

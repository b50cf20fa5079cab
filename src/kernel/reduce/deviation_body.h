/* deviation_body: sums of squared deviations from a mean, in the order of the sum's reducer; for var. Included with T,
 * SUFFIX and LANES. deviation_reducer in kernel_int.h has the contract of the functions. */

static inline T NAME(square)(T x, T mean) { return (x - mean) * (x - mean); }

static void NAME(values)(const void *restrict from, const void *restrict mean, int step, void *restrict to, int64_t n) {
  const T *x = from, *m = mean;
  T *y = to;
  if (step == 0) {
    for (int64_t i = 0; i < n; i++) y[i] = NAME(square)(x[i], m[0]);
  } else {
    for (int64_t i = 0; i < n; i++) y[i] = NAME(square)(x[i], m[i]);
  }
}

static inline T NAME(fold)(T *acc) {
  for (int half = LANES / 2; half > 0; half /= 2)
    for (int l = 0; l < half; l++) acc[l] += acc[l + half];
  return acc[0];
}

static void NAME(block)(const void *block, int64_t n, const void *mean, void *out) {
  const T *x = block, m = *(const T *)mean;
  T acc[LANES];
  acc[0] = NAME(square)(x[0], m);
  if (n >= LANES) {
    int64_t i = LANES;
    for (int l = 1; l < LANES; l++) acc[l] = NAME(square)(x[l], m);
    for (; i + LANES <= n; i += LANES)
      for (int l = 0; l < LANES; l++) acc[l] += NAME(square)(x[i + l], m);
    for (int64_t l = 0; i + l < n; l++) acc[l] += NAME(square)(x[i + l], m);
    *(T *)out = NAME(fold)(acc);
    return;
  }
  for (int64_t l = 1; l < n; l++) acc[l] = NAME(square)(x[l], m);
  for (int64_t half = LANES / 2; half > 0; half /= 2)
    for (int64_t l = 0; l < half && l + half < n; l++) acc[l] += acc[l + half];
  *(T *)out = acc[0];
}

typedef T NAME(vector) __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(T)), may_alias));

#define OPERATOR +
#define TERM(x, m) (((x) - (m)) * ((x) - (m)))
#include "chains_body.h"
#undef TERM
#undef OPERATOR

static void NAME(pair)(const void *blocks, int64_t n, const void *mean, void *out) {
  const T *x = blocks;
  if (n - REDUCE_BLOCK >= LANES) {
    *(T *)out = NAME(chains)(x, n, 2, *(const T *)mean);
    return;
  }
  T value[2];
  NAME(block)(x, REDUCE_BLOCK, mean, &value[0]);
  NAME(block)(x + REDUCE_BLOCK, n - REDUCE_BLOCK, mean, &value[1]);
  *(T *)out = value[0] + value[1];
}

static void NAME(quad)(const void *blocks, int64_t n, const void *mean, void *out) {
  const T *x = blocks;
  if (VECTOR_BYTES > 16 && n - 3 * REDUCE_BLOCK >= LANES) { /* vectors of 16 bytes: there are too few registers */
    *(T *)out = NAME(chains)(x, n, 4, *(const T *)mean);
    return;
  }
  T value[2];
  NAME(pair)(x, 2 * REDUCE_BLOCK, mean, &value[0]);
  NAME(pair)(x + 2 * REDUCE_BLOCK, n - 2 * REDUCE_BLOCK, mean, &value[1]);
  *(T *)out = value[0] + value[1];
}

static inline T NAME(at_op)(T a, T b) { return a + b; }
#define DEEP_TERM(x, m) NAME(square)(x, m)
#include "deep_body.h"
#undef DEEP_TERM

static void NAME(lane)(void *restrict into, const char *const *rows, int64_t step, int64_t n, int64_t width, bool begin,
                       const void *restrict mean) {
  if (begin) {
    NAME(values)(rows[0], mean, 1, into, width);
    rows += step;
    n--;
  }
  NAME(deep)(into, rows, step, n, width, mean);
}

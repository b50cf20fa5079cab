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

static void NAME(pair)(const void *blocks, const void *mean, void *out) {
  enum { IN_VECTOR = VECTOR_BYTES / sizeof(T), VECTORS = LANES / IN_VECTOR, BLOCK = REDUCE_BLOCK / IN_VECTOR };
  const NAME(vector) *x = blocks, m = (NAME(vector)){0} + *(const T *)mean;
  NAME(vector) first[VECTORS], second[VECTORS];
  for (int v = 0; v < VECTORS; v++) {
    first[v] = (x[v] - m) * (x[v] - m);
    second[v] = (x[BLOCK + v] - m) * (x[BLOCK + v] - m);
  }
  for (int i = VECTORS; i < BLOCK; i += VECTORS) {
    for (int v = 0; v < VECTORS; v++) {
      first[v] += (x[i + v] - m) * (x[i + v] - m);
      second[v] += (x[BLOCK + i + v] - m) * (x[BLOCK + i + v] - m);
    }
  }
  T lanes[2][LANES];
  memcpy(lanes[0], first, sizeof first);
  memcpy(lanes[1], second, sizeof second);
  *(T *)out = NAME(fold)(lanes[0]) + NAME(fold)(lanes[1]);
}

/* reduce_body: one reducer: an associative operation on one element type. Included with T, SUFFIX, LANES and an
 * ordinary function at_op<SUFFIX>(a, b) already defined. `reducer` in kernel_int.h says what the functions promise. */

/* The whole groups of LANES elements from x on, into lanes that stay in registers. */
static inline int64_t NAME(groups)(const T *x, int64_t n, T *lanes) {
  T acc[LANES];
  int64_t i = LANES;
  for (int l = 0; l < LANES; l++) acc[l] = x[l];
  for (; i + LANES <= n; i += LANES)
    for (int l = 0; l < LANES; l++) acc[l] = NAME(at_op)(acc[l], x[i + l]);
  for (int l = 0; l < LANES; l++) lanes[l] = acc[l];
  return i;
}

static void NAME(block)(const void *block, int64_t n, void *out) {
  const T *x = block;
  T acc[LANES];
  acc[0] = x[0];
  const int64_t used = n < LANES ? n : LANES;
  if (used == LANES) {
    const int64_t i = NAME(groups)(x, n, acc);
    for (int64_t l = 0; i + l < n; l++) acc[l] = NAME(at_op)(acc[l], x[i + l]);
  } else {
    for (int64_t l = 0; l < used; l++) acc[l] = x[l];
  }
  for (int64_t half = LANES / 2; half > 0; half /= 2)
    for (int64_t l = 0; l < half && l + half < used; l++) acc[l] = NAME(at_op)(acc[l], acc[l + half]);
  *(T *)out = acc[0];
}

static void NAME(rows)(void *restrict into, const void *restrict row, int64_t width) {
  T *acc = into;
  const T *x = row;
  for (int64_t j = 0; j < width; j++) acc[j] = NAME(at_op)(acc[j], x[j]);
}

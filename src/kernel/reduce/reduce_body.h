/* reduce_body: one reducer: an associative operation on one element type. Included with T, SUFFIX, LANES and a function
 * reduce_at_op_<SUFFIX>(a, b). `reducer` in kernel_int.h has the contract of the functions. If X is defined, elements
 * have that type, the operation is applied to reduce_at_term_<SUFFIX>(x), of type T, and there is no `rows`. */
#ifdef X
#define TERM_OF(x) NAME(at_term)(x)
#else
#define X T
#define TERM_OF(x) (x)
#define HAS_ROWS
#endif

/* Folds all whole groups of LANES elements of x into lanes, which stay in registers. Returns the number of elements. */
static inline int64_t NAME(groups)(const X *x, int64_t n, T *lanes) {
  T acc[LANES];
  int64_t i = LANES;
  for (int l = 0; l < LANES; l++) acc[l] = TERM_OF(x[l]);
  for (; i + LANES <= n; i += LANES)
    for (int l = 0; l < LANES; l++) acc[l] = NAME(at_op)(acc[l], TERM_OF(x[i + l]));
  for (int l = 0; l < LANES; l++) lanes[l] = acc[l];
  return i;
}

/* Folds all lanes into one, by halves. */
static inline T NAME(fold)(T *acc) {
  for (int half = LANES / 2; half > 0; half /= 2)
    for (int l = 0; l < half; l++) acc[l] = NAME(at_op)(acc[l], acc[l + half]);
  return acc[0];
}

static void NAME(block)(const void *block, int64_t n, void *out) {
  const X *x = block;
  T acc[LANES];
  acc[0] = TERM_OF(x[0]);
  if (n >= LANES) {
    const int64_t i = NAME(groups)(x, n, acc);
    for (int64_t l = 0; i + l < n; l++) acc[l] = NAME(at_op)(acc[l], TERM_OF(x[i + l]));
    *(T *)out = NAME(fold)(acc);
    return;
  }
  for (int64_t l = 1; l < n; l++) acc[l] = TERM_OF(x[l]);
  for (int64_t half = LANES / 2; half > 0; half /= 2)
    for (int64_t l = 0; l < half && l + half < n; l++) acc[l] = NAME(at_op)(acc[l], acc[l + half]);
  *(T *)out = acc[0];
}

#ifdef HAS_ROWS
static void NAME(rows)(void *restrict into, const void *restrict row, int64_t width) {
  T *acc = into;
  const T *x = row;
  for (int64_t j = 0; j < width; j++) acc[j] = NAME(at_op)(acc[j], x[j]);
}
#undef HAS_ROWS
#endif

#undef X
#undef TERM_OF

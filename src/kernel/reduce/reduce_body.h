/* reduce_body: one reducer: an associative operation on one element type. Included with T, SUFFIX, LANES and a function
 * NAME(at_op)(a, b). BEATS, if defined: the operator that
 * tells which of two numbers it returns, > or <, where neither is nan. `reducer` in kernel_int.h has the contract of the functions. If X is defined, elements
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

#ifdef BEATS
typedef T NAME(vector) __attribute__((vector_size(LANES * sizeof(T)), aligned(sizeof(T)), may_alias));

/* The fold of a block of finite elements, whole groups of lanes in vectors; false if one is not finite: then x - x is
 * nan. */
static inline bool NAME(finite)(const T *x, int64_t n, T *out) {
  const NAME(vector) *v = (const void *)x;
  NAME(vector) acc = v[0], bad = v[0] - v[0];
  int64_t i = 1;
  for (; (i + 1) * LANES <= n; i++) {
    const NAME(vector) y = v[i];
    const __typeof__(acc BEATS y) better = acc BEATS y;
    acc = (NAME(vector))((better & (__typeof__(better))acc) | (~better & (__typeof__(better))y));
    bad += y - y;
  }
  T lanes[LANES], rest = 0;
  for (int l = 0; l < LANES; l++) lanes[l] = acc[l];
  for (int64_t l = 0; i * LANES + l < n; l++) {
    const T y = x[i * LANES + l];
    lanes[l] = lanes[l] BEATS y ? lanes[l] : y;
    rest += y - y;
  }
  for (int l = 0; l < LANES; l++) rest += bad[l];
  *out = NAME(fold)(lanes);
  return rest == 0;
}

/* The elements before the first piece of four groups of lanes that has one equal to y; all that are in whole pieces. */
static inline int64_t NAME(before)(const T *x, int64_t n, T y) {
  enum { PIECE = 4 * LANES };
  const NAME(vector) same = (NAME(vector)){0} + y;
  int64_t i = 0;
  for (; i + PIECE <= n; i += PIECE) {
    const NAME(vector) *v = (const void *)(x + i);
    const __typeof__(same == same) equal = (v[0] == same) | (v[1] == same) | (v[2] == same) | (v[3] == same);
    uint64_t any = 0, part[sizeof equal / 8];
    memcpy(part, &equal, sizeof equal);
    for (size_t l = 0; l < sizeof equal / 8; l++) any |= part[l];
    if (any != 0) break;
  }
  return i;
}
#define BEFORE(x, n, y) NAME(before)(x, n, y)
#endif

static void NAME(block)(const void *block, int64_t n, void *out) {
  const X *x = block;
  T acc[LANES];
#ifdef BEATS
  if (n >= 2 * LANES && NAME(finite)(x, n, out)) return;
#endif
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

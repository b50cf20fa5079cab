/* deep_body: adds several rows to a row of accumulators, which are read and written once for all of them. Rows are read
 * side by side: memory that is read in several places at once is read faster. Included with T, NAME(at_op) and
 * DEEP_TERM(x, m), the term of an element x and of its mean m; with BEATS, NAME(vector) and NAME(truth). */

#ifdef BEATS
/* NAME(at_op) in each place: compilers make jumps of that. */
static inline NAME(vector) NAME(vector_op)(NAME(vector) a, NAME(vector) b) {
  const NAME(truth) first = (a BEATS b) | (a != a);
  return (NAME(vector))(((NAME(truth))a & first) | ((NAME(truth))b & ~first));
}
#endif

/* rows[0], rows[step], …; `count` is constant in each call. */
static inline __attribute__((always_inline)) void NAME(deep_rows)(T *restrict acc, const char *const *rows,
                                                                  int64_t step, const int count, int64_t width,
                                                                  const T *mean) {
  const T *row[8];
  for (int r = 0; r < count; r++) row[r] = (const T *)(const void *)rows[r * step];
  (void)mean;
  int64_t j = 0;
#ifdef BEATS
  enum { IN_VECTOR = VECTOR_BYTES / sizeof(T) };
  for (; j + IN_VECTOR <= width; j += IN_VECTOR) {
    NAME(vector) *at = (void *)(acc + j), a = *at;
    for (int r = 0; r < count; r++) a = NAME(vector_op)(a, *(const NAME(vector) *)(const void *)(row[r] + j));
    *at = a;
  }
#endif
  for (; j < width; j++) {
    T a = acc[j];
    for (int r = 0; r < count; r++) a = NAME(at_op)(a, DEEP_TERM(row[r][j], mean[j]));
    acc[j] = a;
  }
}

static void NAME(deep)(T *restrict acc, const char *const *rows, int64_t step, int64_t n, int64_t width,
                       const T *restrict mean) {
  for (; n >= 8; n -= 8, rows += 8 * step) NAME(deep_rows)(acc, rows, step, 8, width, mean);
  if (n >= 4) {
    NAME(deep_rows)(acc, rows, step, 4, width, mean);
    n -= 4, rows += 4 * step;
  }
  if (n >= 2) {
    NAME(deep_rows)(acc, rows, step, 2, width, mean);
    n -= 2, rows += 2 * step;
  }
  if (n >= 1) NAME(deep_rows)(acc, rows, step, 1, width, mean);
}

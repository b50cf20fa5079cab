/* segment_body: folds of rows into segments, of one type. Included with T, SUFFIX, and ADD(a, b), MUL(a, b) and WIDE
 * where sums are defined, LESS(a, b) and IS_NAN(a) where numbers are ordered.
 *
 * A run of equal ids is folded in a register: an element in memory would wait for its own store.
 */
#define SEGMENT_FOLD(name, STEP)                                                                               \
  static int64_t PASTE(name, SUFFIX)(const int64_t *ids, int64_t n, const void *from, int64_t width, void *to, \
                                     int64_t n_out) {                                                          \
    const T *x = from;                                                                                         \
    T *out = to;                                                                                               \
    if (width == 1) {                                                                                          \
      int64_t i = 0;                                                                                           \
      while (i < n) {                                                                                          \
        const int64_t id = ids[i];                                                                             \
        if ((uint64_t)(id - 1) >= (uint64_t)n_out) return i;                                                   \
        T acc = out[id - 1];                                                                                   \
        do {                                                                                                   \
          acc = STEP(acc, x[i]);                                                                               \
          i++;                                                                                                 \
        } while (i < n && ids[i] == id);                                                                       \
        out[id - 1] = acc;                                                                                     \
      }                                                                                                        \
      return -1;                                                                                               \
    }                                                                                                          \
    for (int64_t i = 0; i < n; i++, x += width) {                                                              \
      if ((uint64_t)(ids[i] - 1) >= (uint64_t)n_out) return i;                                                 \
      T *row = out + (ids[i] - 1) * width;                                                                     \
      for (int64_t k = 0; k < width; k++) row[k] = STEP(row[k], x[k]);                                         \
    }                                                                                                          \
    return -1;                                                                                                 \
  }

#ifdef ADD
SEGMENT_FOLD(segment_sum, ADD)
SEGMENT_FOLD(segment_prod, MUL)
#endif
#ifdef LESS
/* A nan wins, and stays. */
#define SEGMENT_GREATER(a, b) (LESS(a, b) || IS_NAN(b) ? (b) : (a))
#define SEGMENT_LOWER(a, b) (LESS(b, a) || IS_NAN(b) ? (b) : (a))
SEGMENT_FOLD(segment_max, SEGMENT_GREATER)
SEGMENT_FOLD(segment_min, SEGMENT_LOWER)
#undef SEGMENT_GREATER
#undef SEGMENT_LOWER
#endif

#undef SEGMENT_FOLD
#undef T
#undef SUFFIX
#undef ADD
#undef MUL
#undef LESS
#undef IS_NAN

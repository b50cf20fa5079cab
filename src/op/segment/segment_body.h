/* segment_body: folds of rows into segments, of one type. Included with T, SUFFIX, and ADD(a, b), MUL(a, b)
 * where sums are defined, LESS(a, b), IS_NAN(a) and PICK(which, a, b) where numbers are ordered.
 *
 * Vectors go in blocks. Where nearly all ids of a block are equal to the next one, as samples tell, runs are folded in a
 * register, since an element in memory would wait for its own store; elsewhere the end of each run would be a
 * mispredicted branch. The order is that of the entries in both cases.
 */
#define SEGMENT_FOLD(name, STEP)                                                                                 \
  static int64_t PASTE(name, SUFFIX)(const int64_t *ids, int64_t n, const void *from, int64_t width, void *to,   \
                                     int64_t n_out) {                                                            \
    const T *x = from;                                                                                           \
    T *out = to;                                                                                                 \
    for (int64_t from_i = 0; width == 1 && from_i < n; from_i += SEGMENT_BLOCK) {                                \
      const int64_t end = n - from_i < SEGMENT_BLOCK ? n : from_i + SEGMENT_BLOCK;                               \
      int64_t i = from_i;                                                                                        \
      if (segment_has_runs(ids + from_i, end - from_i)) {                                                        \
        while (i < end) {                                                                                        \
          const int64_t id = ids[i];                                                                             \
          if ((uint64_t)(id - 1) >= (uint64_t)n_out) return i;                                                   \
          T acc = out[id - 1];                                                                                   \
          do {                                                                                                   \
            acc = STEP(acc, x[i]);                                                                               \
            i++;                                                                                                 \
          } while (i < end && ids[i] == id);                                                                     \
          out[id - 1] = acc;                                                                                     \
        }                                                                                                        \
      } else {                                                                                                   \
        for (; i + 4 <= end; i += 4) {                                                                           \
          const uint64_t a = (uint64_t)(ids[i] - 1), b = (uint64_t)(ids[i + 1] - 1);                             \
          const uint64_t c = (uint64_t)(ids[i + 2] - 1), d = (uint64_t)(ids[i + 3] - 1);                         \
          if ((a >= (uint64_t)n_out) | (b >= (uint64_t)n_out) | (c >= (uint64_t)n_out) | (d >= (uint64_t)n_out)) \
            break;                                                                                               \
          out[a] = STEP(out[a], x[i]);                                                                           \
          out[b] = STEP(out[b], x[i + 1]);                                                                       \
          out[c] = STEP(out[c], x[i + 2]);                                                                       \
          out[d] = STEP(out[d], x[i + 3]);                                                                       \
        }                                                                                                        \
        for (; i < end; i++) {                                                                                   \
          const int64_t id = ids[i];                                                                             \
          if ((uint64_t)(id - 1) >= (uint64_t)n_out) return i;                                                   \
          out[id - 1] = STEP(out[id - 1], x[i]);                                                                 \
        }                                                                                                        \
      }                                                                                                          \
    }                                                                                                            \
    if (width == 1) return -1;                                                                                   \
    for (int64_t i = 0; i < n; i++, x += width) {                                                                \
      if ((uint64_t)(ids[i] - 1) >= (uint64_t)n_out) return i;                                                   \
      T *row = out + (ids[i] - 1) * width;                                                                       \
      for (int64_t k = 0; k < width; k++) row[k] = STEP(row[k], x[k]);                                           \
    }                                                                                                            \
    return -1;                                                                                                   \
  }

#ifdef ADD
SEGMENT_FOLD(segment_sum, ADD)
SEGMENT_FOLD(segment_prod, MUL)
#endif
#ifdef LESS
/* A nan wins, and stays. PICK takes one of two without a branch. */
#define SEGMENT_GREATER(a, b) PICK(!LESS(a, b) & !IS_NAN(b), a, b)
#define SEGMENT_LOWER(a, b) PICK(!LESS(b, a) & !IS_NAN(b), a, b)
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
#undef PICK

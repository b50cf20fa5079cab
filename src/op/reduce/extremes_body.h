/* extremes_body: running extremes of one slice, as values and as 1-based positions. Included with T, SUFFIX and
 * NAN_OF(a), whether a is nan; LESS(a, b). An element takes the place of the extreme if it lies beyond it, or is the
 * first nan. */

#define EXTREME(name, beyond)                                                                                          \
  static void PASTE(name, SUFFIX)(damo_ctx * ctx, const char *x, int64_t x_step, char *y, int64_t y_step, int64_t n) { \
    T best = *(const T *)x;                                                                                            \
    for (int64_t i = 0; i < n; i++) {                                                                                  \
      const T a = *(const T *)(x + i * x_step);                                                                        \
      if (beyond) best = a;                                                                                            \
      *(T *)(y + i * y_step) = best;                                                                                   \
      ctx_point_each(ctx, i, EXTREMES_PART);                                                                           \
    }                                                                                                                  \
  }                                                                                                                    \
  static void PASTE(name##_at, SUFFIX)(damo_ctx * ctx, const char *x, int64_t x_step, char *y, int64_t y_step,         \
                                       int64_t n) {                                                                    \
    T best = *(const T *)x;                                                                                            \
    int64_t at = 1;                                                                                                    \
    for (int64_t i = 0; i < n; i++) {                                                                                  \
      const T a = *(const T *)(x + i * x_step);                                                                        \
      if (beyond) best = a, at = i + 1;                                                                                \
      *(int64_t *)(y + i * y_step) = at;                                                                               \
      ctx_point_each(ctx, i, EXTREMES_PART);                                                                           \
    }                                                                                                                  \
  }

EXTREME(cummax, (LESS(best, a) || NAN_OF(a)) && !NAN_OF(best))
EXTREME(cummin, (LESS(a, best) || NAN_OF(a)) && !NAN_OF(best))

#undef EXTREME
#undef T
#undef SUFFIX
#undef NAN_OF
#undef LESS

/* spmm_strip: how columns are cut into strips. */
#include "spmm_strip.h"

#define STRIP_MAJORS 8 /* major vectors that all strips process before the next ones, so that these stay in cache */

/* Columns of the next strip, for vectors of w elements; the number of columns left after it is 0 or at least w. */
static int64_t sp_strip_next(int64_t cols, int64_t w) {
  if (cols == 8 * w || cols >= 9 * w) return 8 * w;
  if (cols <= 4 * w) return cols;
  return cols >= 5 * w ? 4 * w : 3 * w;
}

static int sp_strip_size_index(int64_t cols, int64_t w) {
  const int64_t n = (cols + w - 1) / w;
  return n == 8 ? STRIP_SIZES - 1 : (int)n - 1;
}

/* All strips of s, which has at least one column. */
static void sp_strip_run(const sparse_strip_fns *fns, sparse_strip s, int64_t size, bool scatters) {
  const int64_t w = fns->bytes / size;
  for (int64_t left = s.cols; left > 0; left -= s.cols) {
    s.cols = sp_strip_next(left, w);
    const int at = sp_strip_size_index(s.cols, w);
    (scatters ? fns->scatter[at] : fns->gather[at])(&s);
    s.x = (const char *)s.x + s.cols * size;
    s.y = (char *)s.y + s.cols * size;
    if (s.z) s.z = (const char *)s.z + s.cols * size;
  }
}

void sparse_strips(const sparse_strip_set *set, const sparse_strip *whole, bool scatters) {
  const sparse_strip_fns *const *fns = set->widths;
  sparse_strip s = *whole;
  if (s.cols == 0) return;
  while ((*fns)->bytes > s.cols * set->size) fns++;
  const bool is_one = sp_strip_next(s.cols, (*fns)->bytes / set->size) == s.cols;
  for (int64_t left = s.a.major; left > 0; left -= s.a.major) {
    s.a.major = is_one || left < STRIP_MAJORS ? left : STRIP_MAJORS;
    sp_strip_run(*fns, s, set->size, scatters);
    s.a.indptr = (const char *)s.a.indptr + s.a.major * set->index;
    if (scatters) s.x = (const char *)s.x + s.a.major * s.x_stride * set->size;
    if (!scatters) s.y = (char *)s.y + s.a.major * s.y_stride * set->size;
    if (s.z) s.z = (const char *)s.z + s.a.major * s.z_stride * set->size;
  }
}

/* search_body: binary searches in a sorted vector, nan last. Included with T, SUFFIX and BEFORE(a, b), which is false
 * where one is nan, and IS_NAN(a). The halves are chosen by conditional moves: branches would be mispredicted. */

/* The number of entries before v; with `right` of those that are not behind it. */
static int64_t PASTE(search, SUFFIX)(const void *sorted, int64_t n, const void *entry, bool right) {
  const T *a = sorted, v = *(const T *)entry, *at = a;
  if (n == 0) return 0;
  if (IS_NAN(v)) {
    if (right) return n;
    for (int64_t left = n; left > 0;) { /* the first nan */
      const int64_t half = left / 2;
      if (IS_NAN(at[half])) {
        left = half;
      } else {
        at += half + 1;
        left -= half + 1;
      }
    }
    return at - a;
  }
  if (right) {
    for (; n > 1; n -= n / 2) at += IS_NAN(at[n / 2 - 1]) || BEFORE(v, at[n / 2 - 1]) ? 0 : n / 2;
    return at - a + !(IS_NAN(*at) || BEFORE(v, *at));
  }
  for (; n > 1; n -= n / 2) at += BEFORE(at[n / 2 - 1], v) ? n / 2 : 0;
  return at - a + (BEFORE(*at, v) ? 1 : 0);
}

#undef T
#undef SUFFIX
#undef BEFORE
#undef IS_NAN

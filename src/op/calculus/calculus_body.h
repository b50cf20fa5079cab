/* calculus_body: loops of one type. Included with T, SUFFIX, ADD(a, b), MUL(a, b). */

/* out[k] = Σ_j v[j] a[k + start - j] for 0 <= k < length, entries of a outside 0 … m - 1 being 0; summed from j = 0 on. */
static void PASTE(convolve, SUFFIX)(const void *long_one, int64_t m, const void *short_one, int64_t n, int64_t start,
                                    int64_t length, void *result) {
  const T *a = long_one, *v = short_one;
  T *out = result;
  for (int64_t k = 0; k < length; k++) out[k] = (T)CALCULUS_ZERO;
  for (int64_t block = 0; block < length; block += CONVOLVE_BLOCK) {
    const int64_t end = block + CONVOLVE_BLOCK < length ? block + CONVOLVE_BLOCK : length;
    for (int64_t j = 0; j < n;) {
      /* The index into a at k is k + shift. */
      const int64_t shift = start - j;
      if (j + 4 <= n && block >= 3 - shift && end <= m - shift) { /* j … j + 3 reach every entry of the block */
        const T f0 = v[j], f1 = v[j + 1], f2 = v[j + 2], f3 = v[j + 3], *restrict x = a + block + shift;
        T *restrict y = out + block;
        for (int64_t k = 0; k < end - block; k++) {
          T sum = ADD(y[k], MUL(f0, x[k]));
          sum = ADD(sum, MUL(f1, x[k - 1]));
          sum = ADD(sum, MUL(f2, x[k - 2]));
          y[k] = ADD(sum, MUL(f3, x[k - 3]));
        }
        j += 4;
        continue;
      }
      const int64_t from = block > -shift ? block : -shift, to = end < m - shift ? end : m - shift;
      const T factor = v[j++], *restrict x = a + (from < to ? from + shift : 0);
      T *restrict y = out + (from < to ? from : 0);
      for (int64_t k = 0; k < to - from; k++) y[k] = ADD(y[k], MUL(factor, x[k]));
    }
  }
}

/* y = (…(p[0] x + p[1]) x + …) + p[n-1]; 0 for n = 0. */
static void PASTE(polyval, SUFFIX)(const void *coefficients, int64_t n, const void *points, int64_t count,
                                   void *result) {
  const T *p = coefficients, *x = points;
  T *y = result;
  for (int64_t i = 0; i < count; i++) y[i] = (T)CALCULUS_ZERO;
  for (int64_t block = 0; block < count; block += POLYVAL_BLOCK) {
    const int64_t end = block + POLYVAL_BLOCK < count ? block + POLYVAL_BLOCK : count;
    for (int64_t j = 0; j < n; j++) {
      const T c = p[j];
      for (int64_t i = block; i < end; i++) y[i] = ADD(MUL(y[i], x[i]), c);
    }
  }
}

#undef T
#undef SUFFIX
#undef ADD
#undef MUL

/* The plain product loop of one element type, included once for each: the stub defines NAME, T (element) and ACC
 * (the type that products are made in, wide enough not to overflow as int), and undefines them afterwards.
 *
 * c += alpha · a · b, blocked over k and n so that a panel of b stays in cache. a has any strides; rows of b and c
 * are contiguous.
 */
static void NAME(const blas_mat *a, const blas_mat *b, const blas_mat *c, T alpha) {
  const int64_t m = a->rows, k = a->cols, n = b->cols;
  for (int64_t p0 = 0; p0 < k; p0 += PANEL_ROWS) {
    const int64_t p1 = p0 + PANEL_ROWS < k ? p0 + PANEL_ROWS : k;
    for (int64_t j0 = 0; j0 < n; j0 += PANEL_COLS) {
      const int64_t j1 = j0 + PANEL_COLS < n ? j0 + PANEL_COLS : n;
      for (int64_t i = 0; i < m; i++) {
        T *restrict ci = (T *)(c->data + i * c->rs);
        for (int64_t p = p0; p < p1; p++) {
          const ACC x = (ACC)alpha * (ACC)(*(const T *)(a->data + i * a->rs + p * a->cs));
          const T *restrict bp = (const T *)(b->data + p * b->rs);
          for (int64_t j = j0; j < j1; j++) ci[j] = (T)(ci[j] + x * bp[j]);
        }
      }
    }
  }
}
#undef NAME
#undef T
#undef ACC

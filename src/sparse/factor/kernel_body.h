/* kernel_body: loops over M for one index type I and one value type T. Included with I, T, NAME (names a function),
 * MUL, CONJ, ABS1 (a cheap modulus), SIZE(product, a, b) (ABS1(a)·ABS1(b), given the product a·b), MODULUS. */

static bool NAME(is_hermitian)(const factor_matrix *m, int64_t *at, bool *positive) {
  const I *p = (const I *)(const void *)m->indptr->data, *i = (const I *)(const void *)m->indices->data;
  const T *x = (const T *)(const void *)m->x;
  *positive = true;
  for (int64_t j = 0; j < m->cols; j++) at[j] = p[j];
  for (int64_t j = 0; j < m->cols; j++) {
    int64_t k = at[j];
    const int64_t end = p[j + 1];
    if (k < end && i[k] == j) {
      if (creal(x[k]) <= 0) *positive = false;
      if (cimag(x[k]) != 0) return false;
      k++;
    } else {
      *positive = false;
    }
    for (; k < end; k++) {
      const int64_t row = i[k], mirror = at[row]++;
      if (row < j || mirror >= p[row + 1] || i[mirror] != j || x[mirror] != CONJ(x[k])) return false;
    }
  }
  return true;
}

/* Whether the entry (row, column) is stored. */
static bool NAME(has)(const factor_matrix *m, int64_t row, int64_t column) {
  const I *p = (const I *)(const void *)m->indptr->data, *i = (const I *)(const void *)m->indices->data;
  int64_t from = p[column], to = p[column + 1];
  while (to - from > 1) {
    const int64_t mid = from + (to - from) / 2;
    if (i[mid] <= row)
      from = mid;
    else
      to = mid;
  }
  return from < to && i[from] == row;
}

static double NAME(symmetry)(const factor_matrix *m, int64_t sample, double *strong) {
  const I *p = (const I *)(const void *)m->indptr->data, *i = (const I *)(const void *)m->indices->data;
  const T *x = (const T *)(const void *)m->x;
  const int64_t stride = m->cols > sample ? m->cols / sample : 1;
  int64_t matched = 0, off = 0, good = 0, seen = 0;
  for (int64_t j = 0; j < m->cols; j += stride, seen++) {
    double most = 0, own = 0;
    for (int64_t k = p[j]; k < p[j + 1]; k++) {
      const double size = ABS1(x[k]);
      most = size > most ? size : most;
      if (i[k] == j)
        own = size;
      else
        off++, matched += NAME(has)(m, j, i[k]);
    }
    good += own > 0 && own >= 0.1 * most;
  }
  *strong = (double)good / (double)seen;
  return off ? (double)matched / (double)off : 1;
}

/* The larger of worst and |r|/s; divides only if the latter is larger. */
static inline double NAME(worse)(double worst, T r, double s) {
  const double size = ABS1(r);
  if (size <= worst * s) return worst;
  const double ratio = size > 0 ? size / s : size == 0 ? 0 : INFINITY;
  return ratio > worst ? ratio : worst;
}

static double NAME(residual_plain)(const factor_matrix *m, bool conjugated, const T *x, const T *b, T *r, double *s,
                                   double *sums) {
  const I *p = (const I *)(const void *)m->indptr->data, *i = (const I *)(const void *)m->indices->data;
  const T *a = (const T *)(const void *)m->x;
  for (int64_t j = 0; j < m->rows; j++) {
    r[j] = b[j];
    s[j] = ABS1(b[j]);
  }
  for (int64_t j = 0; j < m->cols; j++) {
    const T xj = x[j];
    for (int64_t k = p[j]; k < p[j + 1]; k++) {
      const T v = conjugated ? CONJ(a[k]) : a[k], term = MUL(v, xj);
      r[i[k]] -= term;
      s[i[k]] += SIZE(term, v, xj);
    }
  }
  if (sums) memset(sums, 0, (size_t)m->rows * sizeof *sums);
  for (int64_t k = 0; sums && k < m->nnz; k++) sums[i[k]] += ABS1(a[k]);
  double worst = 0;
  for (int64_t j = 0; j < m->rows; j++) worst = NAME(worse)(worst, r[j], s[j]);
  return worst;
}

static double NAME(residual_transposed)(const factor_matrix *m, bool conjugated, const T *x, const T *b, T *r,
                                        double *sums) {
  const I *p = (const I *)(const void *)m->indptr->data, *i = (const I *)(const void *)m->indices->data;
  const T *a = (const T *)(const void *)m->x;
  double worst = 0;
  for (int64_t j = 0; j < m->cols; j++) {
    T sum = 0;
    double size = ABS1(b[j]), own = 0;
    for (int64_t k = p[j]; k < p[j + 1]; k++) {
      const T v = conjugated ? CONJ(a[k]) : a[k], xi = x[i[k]], term = MUL(v, xi);
      sum += term;
      size += SIZE(term, v, xi);
      own += ABS1(v);
    }
    r[j] = b[j] - sum;
    if (sums) sums[j] = own;
    worst = NAME(worse)(worst, r[j], size);
  }
  return worst;
}

static double NAME(residual)(const factor_matrix *m, bool transposed, bool conjugated, const double *x0,
                             const double *b0, double *r0, double *s, double *sums) {
  const T *x = (const T *)(const void *)x0, *b = (const T *)(const void *)b0;
  T *r = (T *)(void *)r0;
  if (transposed) return NAME(residual_transposed)(m, conjugated, x, b, r, sums);
  return NAME(residual_plain)(m, conjugated, x, b, r, s, sums);
}

static void NAME(column_sums)(const factor_matrix *m, const double *scale, double *sum, double *most) {
  const I *p = (const I *)(const void *)m->indptr->data, *i = (const I *)(const void *)m->indices->data;
  const T *a = (const T *)(const void *)m->x;
  if (!scale) memset(most, 0, (size_t)m->rows * sizeof *most);
  for (int64_t j = 0; j < m->cols; j++) {
    double total = 0;
    for (int64_t k = p[j]; scale && k < p[j + 1]; k++) total += MODULUS(a[k]) * scale[i[k]];
    for (int64_t k = p[j]; !scale && k < p[j + 1]; k++) {
      const double size = MODULUS(a[k]), had = most[i[k]];
      total += size;
      most[i[k]] = size > had ? size : had; /* branch-free: the branch would be mispredicted */
    }
    sum[j] = total;
  }
}

static void NAME(row_sums)(const factor_matrix *m, const double *scale, double *sum, double *most) {
  const I *p = (const I *)(const void *)m->indptr->data, *i = (const I *)(const void *)m->indices->data;
  const T *a = (const T *)(const void *)m->x;
  memset(sum, 0, (size_t)m->rows * sizeof *sum);
  for (int64_t j = 0; j < m->cols; j++) {
    const double factor = scale ? scale[j] : 1;
    double largest = 0;
    for (int64_t k = p[j]; k < p[j + 1]; k++) {
      const double size = MODULUS(a[k]);
      sum[i[k]] += size * factor;
      largest = size > largest ? size : largest;
    }
    if (!scale) most[j] = largest;
  }
}

static void NAME(scale_rows)(const factor_matrix *m, const double *r, double *x0) {
  const I *i = (const I *)(const void *)m->indices->data;
  const T *a = (const T *)(const void *)m->x;
  T *x = (T *)(void *)x0;
  for (int64_t k = 0; k < m->nnz; k++) x[k] = a[k] * r[i[k]];
}

static void NAME(equilibrate)(const factor_matrix *m, double *r, double *x) {
  const I *i = (const I *)(const void *)m->indices->data;
  const T *a = (const T *)(const void *)m->x;
  memset(r, 0, (size_t)m->rows * sizeof *r);
  for (int64_t k = 0; k < m->nnz; k++) {
    const double size = ABS1(a[k]), had = r[i[k]];
    r[i[k]] = size > had ? size : had; /* branch-free: the branch would be mispredicted */
  }
  for (int64_t k = 0; k < m->rows; k++) r[k] = factor_inverse_power(r[k]);
  NAME(scale_rows)(m, r, x);
}

static int64_t NAME(hermitian_part)(const factor_matrix *m, const factor_matrix *t, void *ip0, void *ii0, double *x0) {
  const I *p = (const I *)(const void *)m->indptr->data, *i = (const I *)(const void *)m->indices->data;
  const I *tp = (const I *)(const void *)t->indptr->data, *ti = (const I *)(const void *)t->indices->data;
  const T *a = (const T *)(const void *)m->x, *ta = (const T *)(const void *)t->x;
  I *ip = (I *)ip0, *ii = (I *)ii0;
  T *x = (T *)(void *)x0;
  int64_t n = 0;
  for (int64_t j = 0; j < m->cols; j++) {
    if (ip) ip[j] = (I)n;
    int64_t k = p[j], l = tp[j];
    while (k < p[j + 1] || l < tp[j + 1]) {
      const int64_t row = k < p[j + 1] ? i[k] : INT64_MAX, other = l < tp[j + 1] ? ti[l] : INT64_MAX;
      const int64_t at = row < other ? row : other;
      T v = 0;
      if (row == at) v += a[k++] * 0.5;
      if (other == at) v += CONJ(ta[l]) * 0.5, l++;
      if (ip) ii[n] = (I)at, x[n] = v;
      n++;
    }
  }
  if (ip) ip[m->cols] = (I)n;
  return n;
}

static const factor_fns NAME(fns) = {NAME(is_hermitian), NAME(symmetry),    NAME(residual),   NAME(column_sums),
                                     NAME(row_sums),     NAME(equilibrate), NAME(scale_rows), NAME(hermitian_part)};

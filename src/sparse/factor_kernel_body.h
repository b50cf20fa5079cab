/* factor_kernel_body: loops over M for one index type I and one value type T. Included with I, T, N (names a function),
 * MUL, CONJ, ABS1 (a modulus that is cheap), MODULUS. */

static bool N(is_hermitian)(const factor_matrix *m, int64_t *at, bool *positive) {
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

/* Is there an entry (row, column)? */
static bool N(has)(const factor_matrix *m, int64_t row, int64_t column) {
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

static double N(symmetry)(const factor_matrix *m, int64_t sample, double *strong) {
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
        off++, matched += N(has)(m, j, i[k]);
    }
    good += own > 0 && own >= 0.1 * most;
  }
  *strong = (double)good / (double)seen;
  return off ? (double)matched / (double)off : 1;
}

static void N(residual_plain)(const factor_matrix *m, bool conjugated, const T *x, T *r, double *s) {
  const I *p = (const I *)(const void *)m->indptr->data, *i = (const I *)(const void *)m->indices->data;
  const T *a = (const T *)(const void *)m->x;
  for (int64_t j = 0; j < m->cols; j++) {
    const T xj = x[j];
    const double size = ABS1(xj);
    for (int64_t k = p[j]; k < p[j + 1]; k++) {
      const T v = conjugated ? CONJ(a[k]) : a[k];
      r[i[k]] -= MUL(v, xj);
      s[i[k]] += ABS1(v) * size;
    }
  }
}

static void N(residual_turned)(const factor_matrix *m, bool conjugated, const T *x, T *r, double *s) {
  const I *p = (const I *)(const void *)m->indptr->data, *i = (const I *)(const void *)m->indices->data;
  const T *a = (const T *)(const void *)m->x;
  for (int64_t j = 0; j < m->cols; j++) {
    T sum = 0;
    double size = 0;
    for (int64_t k = p[j]; k < p[j + 1]; k++) {
      const T v = conjugated ? CONJ(a[k]) : a[k];
      sum += MUL(v, x[i[k]]);
      size += ABS1(v) * ABS1(x[i[k]]);
    }
    r[j] -= sum;
    s[j] += size;
  }
}

static double N(residual)(const factor_matrix *m, bool transposed, bool conjugated, const double *x0, const double *b0,
                          double *r0, double *s) {
  const T *x = (const T *)(const void *)x0, *b = (const T *)(const void *)b0;
  T *r = (T *)(void *)r0;
  const int64_t n = transposed ? m->cols : m->rows;
  for (int64_t j = 0; j < n; j++) {
    r[j] = b[j];
    s[j] = ABS1(b[j]);
  }
  if (transposed)
    N(residual_turned)(m, conjugated, x, r, s);
  else
    N(residual_plain)(m, conjugated, x, r, s);
  double worst = 0;
  for (int64_t j = 0; j < n; j++) {
    const double size = ABS1(r[j]), ratio = size > 0 ? size / s[j] : size == 0 ? 0 : INFINITY;
    if (ratio > worst) worst = ratio;
  }
  return worst;
}

static void N(column_sums)(const factor_matrix *m, const double *scale, double *sum, double *most) {
  const I *p = (const I *)(const void *)m->indptr->data, *i = (const I *)(const void *)m->indices->data;
  const T *a = (const T *)(const void *)m->x;
  if (!scale) memset(most, 0, (size_t)m->rows * sizeof *most);
  for (int64_t j = 0; j < m->cols; j++) {
    double total = 0;
    for (int64_t k = p[j]; scale && k < p[j + 1]; k++) total += MODULUS(a[k]) * scale[i[k]];
    for (int64_t k = p[j]; !scale && k < p[j + 1]; k++) {
      const double size = MODULUS(a[k]), had = most[i[k]];
      total += size;
      most[i[k]] = size > had ? size : had; /* no branch: it would be guessed wrong */
    }
    sum[j] = total;
  }
}

static void N(row_sums)(const factor_matrix *m, const double *scale, double *sum, double *most) {
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

static void N(equilibrate)(const factor_matrix *m, double *r, double *x0) {
  const I *p = (const I *)(const void *)m->indptr->data, *i = (const I *)(const void *)m->indices->data;
  const T *a = (const T *)(const void *)m->x;
  T *x = (T *)(void *)x0;
  const int64_t nnz = p[m->cols];
  memset(r, 0, (size_t)m->rows * sizeof *r);
  for (int64_t k = 0; k < nnz; k++) {
    const double size = ABS1(a[k]), had = r[i[k]];
    r[i[k]] = size > had ? size : had; /* no branch: it would be guessed wrong */
  }
  for (int64_t k = 0; k < m->rows; k++) r[k] = inverse_power(r[k]);
  for (int64_t k = 0; k < nnz; k++) x[k] = a[k] * r[i[k]];
}

static int64_t N(hermitian_part)(const factor_matrix *m, const factor_matrix *t, void *ip0, void *ii0, double *x0) {
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

static const factor_fns N(fns) = {N(is_hermitian), N(symmetry),    N(residual),      N(column_sums),
                                  N(row_sums),     N(equilibrate), N(hermitian_part)};

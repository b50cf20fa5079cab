/* axis_body: one value for each position of the major or the minor axis: scaling, sums, extremes. Included by
 * value_body.h, whose macros it uses. */

/* ---- Scaling and sums ---- */

static void NAME(scale_major)(const sparse_raw *a, const void *scale, void *out) {
  const I *ptr = a->indptr;
  const T *val = a->data, *s = scale;
  T *o = out;
  SPARSE_MAJORS(a, i, I) {
    const T si = s[i];
    for (int64_t p = ptr[i], end = ptr[i + 1]; p < end; p++) o[p] = MUL(val[p], si);
  }
}

static void NAME(scale_minor)(const sparse_raw *a, const void *scale, void *out) {
  const I *ptr = a->indptr, *idx = a->indices;
  const T *val = a->data, *s = scale;
  T *o = out;
  const int64_t nnz = ptr[a->major];
  for (int64_t p = 0; p < nnz; sparse_point_each(a->ctx, p), p++) o[p] = MUL(val[p], s[idx[p]]);
}

#define SUM_BLOCK 128 /* entries summed in order; the sums of such blocks are then added */

static T NAME(sum_run)(const T *val, int64_t n) {
  T total = {0};
  for (int64_t p = 0; p < n;) {
    const int64_t end = n - p < SUM_BLOCK ? n : p + SUM_BLOCK;
    T sum = {0};
    for (; p < end; p++) sum = ADD(sum, val[p]);
    total = ADD(total, sum);
  }
  return total;
}

static void NAME(sum_major)(const sparse_raw *a, void *out) {
  const I *restrict ptr = a->indptr;
  const T *restrict val = a->data;
  T *restrict o = out;
  int64_t p = ptr[0];
  SPARSE_MAJORS(a, i, I) {
    const int64_t end = ptr[i + 1];
    T sum = {0};
    if (end - p > SUM_BLOCK) {
      sum = NAME(sum_run)(val + p, end - p);
      p = end;
    }
    for (; p < end; p++) sum = ADD(sum, val[p]);
    o[i] = sum;
  }
}

static void NAME(sum_minor)(const sparse_raw *a, void *out) {
  const I *ptr = a->indptr, *idx = a->indices;
  const T *val = a->data;
  T *o = out;
  const int64_t nnz = ptr[a->major];
  for (int64_t p = 0; p < nnz; sparse_point_each(a->ctx, p), p++) o[idx[p]] = ADD(o[idx[p]], val[p]);
}

/* The sum of x[p]·y[p], in the order (and with the bits) of sum_major. */
static T NAME(vecdot_run)(const T *x, const T *y, int64_t n) {
  T total = {0};
  for (int64_t p = 0; p < n;) {
    const int64_t end = n - p < SUM_BLOCK ? n : p + SUM_BLOCK;
    T sum = {0};
    for (; p < end; p++) sum = ADD(sum, MUL(x[p], y[p]));
    total = n > SUM_BLOCK ? ADD(total, sum) : sum;
  }
  return total;
}

static void NAME(vecdot_major)(const sparse_raw *a, const void *xs, const void *ys, void *out) {
  const I *restrict ptr = a->indptr;
  const T *x = xs, *y = ys;
  T *restrict o = out;
  SPARSE_MAJORS(a, i, I) o[i] = NAME(vecdot_run)(x + ptr[i], y + ptr[i], ptr[i + 1] - ptr[i]);
}

static void NAME(vecdot_minor)(const sparse_raw *a, const void *xs, const void *ys, void *out) {
  const I *ptr = a->indptr, *idx = a->indices;
  const T *x = xs, *y = ys;
  T *o = out;
  const int64_t nnz = ptr[a->major];
  for (int64_t p = 0; p < nnz; sparse_point_each(a->ctx, p), p++) o[idx[p]] = ADD(o[idx[p]], MUL(x[p], y[p]));
}

/* ---- Extremes ---- */

/* Comparisons with a nan are false, so nan, which is the most extreme, is detected separately. */
static inline T NAME(run_extreme)(const T *val, int64_t n, T most, bool largest) {
  bool nan = false;
  for (int64_t p = 0; p < n; p++) {
    const T v = val[p];
    const bool beats = largest ? LESS(most, v) : LESS(v, most);
    most = beats ? v : most;
    nan |= DIFFER(v, v);
  }
  for (int64_t p = 0; p < n && nan; p++) {
    if (DIFFER(val[p], val[p])) return val[p];
  }
  return most;
}

/* Absent entries count as 0: a major vector that is not full starts from 0. */
static inline __attribute__((always_inline)) void NAME(extremes_major)(const sparse_raw *a, bool largest, T *o) {
  const I *restrict ptr = a->indptr;
  const T *restrict val = a->data, zero = {0};
  SPARSE_MAJORS(a, i, I) {
    const int64_t n = ptr[i + 1] - ptr[i];
    o[i] = NAME(run_extreme)(val + ptr[i], n, n > 0 && n == a->minor ? val[ptr[i]] : zero, largest);
  }
}

static void NAME(extreme_major)(const sparse_raw *a, bool largest, void *out) {
  if (largest) {
    NAME(extremes_major)(a, true, out);
  } else {
    NAME(extremes_major)(a, false, out);
  }
}

static inline T NAME(extreme)(T x, T y, bool largest) { return largest ? LARGER(x, y) : SMALLER(x, y); }

static inline __attribute__((always_inline)) void NAME(extremes_minor)(const sparse_raw *a, bool largest, T *o,
                                                                       I *restrict n) {
  const I *restrict ptr = a->indptr, *restrict idx = a->indices;
  const T *restrict val = a->data, zero = {0};
  const int64_t nnz = ptr[a->major];
  for (int64_t p = 0; p < nnz; sparse_point_each(a->ctx, p), p++) {
    const int64_t j = idx[p];
    const T v = val[p], most = NAME(extreme)(v, o[j], largest);
    o[j] = n[j] > 0 ? most : v;
    n[j] = (I)(n[j] + 1);
  }
  for (int64_t j = 0; j < a->minor; j++) {
    if (n[j] < a->major) o[j] = n[j] > 0 ? NAME(extreme)(zero, o[j], largest) : zero;
  }
}

static void NAME(extreme_minor)(const sparse_raw *a, bool largest, void *out, void *count) {
  if (largest) {
    NAME(extremes_minor)(a, true, out, count);
  } else {
    NAME(extremes_minor)(a, false, out, count);
  }
}

#undef SUM_BLOCK

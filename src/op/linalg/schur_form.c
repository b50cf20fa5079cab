/* schur_form: Schur forms of an entry's matrices in double precision. */
#include "schur_form.h"

void load_columns(const core_mat *m, damo_dtype dtype, void *to) {
  const int64_t size = (int64_t)dtype_size(dtype);
  const core_mat out = {.data = to, .rows = m->rows, .cols = m->cols, .rs = size, .cs = m->rows * size, .dtype = dtype};
  for (int64_t j = 0; j < m->cols; j++)
    for (int64_t i = 0; i < m->rows; i++) mat_put(&out, i, j, mat_get(m, i, j));
}

void store_columns(const core_mat *m, damo_dtype dtype, const void *from, double factor) {
  const int64_t size = (int64_t)dtype_size(dtype);
  const core_mat in = {.data = (char *)(uintptr_t)from,
                       .rows = m->rows,
                       .cols = m->cols,
                       .rs = size,
                       .cs = m->rows * size,
                       .dtype = dtype};
  for (int64_t j = 0; j < m->cols; j++) {
    for (int64_t i = 0; i < m->rows; i++) {
      const damo_c128 v = mat_get(&in, i, j);
      mat_put(m, i, j, (damo_c128){v.re * factor, v.im * factor});
    }
  }
}

void matrix_gemm(damo_dtype dtype, const char *ta, const char *tb, lapack_int m, lapack_int n, lapack_int k,
                 const void *a, const void *b, void *c) {
  static const double one[2] = {1, 0}, zero[2] = {0, 0};
  const lapack_int lda = *ta == 'N' ? m : k, ldb = *tb == 'N' ? k : n;
  lapack_of(dtype)->gemm(ta, tb, &m, &n, &k, one, a, &lda, b, &ldb, zero, c, &m, 1, 1);
}

lapack_int schur_work_length(damo_dtype dtype, lapack_int n) {
  const lapack_int query = -1, ld = n > 0 ? n : 1;
  double answer[2] = {1, 0}, w[4];
  lapack_int info = 0;
  if (n > 0) spectral_of(dtype)->gees(&n, NULL, &ld, w, NULL, &ld, answer, &query, NULL, &info);
  return lapack_work_length(dtype, answer);
}

schur_form schur_carve(carving *w, damo_dtype dtype, int64_t order) {
  const size_t n = (size_t)order, size = dtype_size(dtype);
  schur_form s = {.dtype = dtype, .n = (lapack_int)order};
  s.lwork = schur_work_length(dtype, s.n);
  s.t = carve(w, n * n * size);
  s.z = carve(w, n * n * size);
  s.w = carve(w, 2 * n * size);
  s.work = carve(w, (size_t)s.lwork * size);
  s.rwork = carve(w, n * sizeof(double));
  return s;
}

damo_status schur_factor(core_call *c, const schur_form *s, const core_mat *a) {
  lapack_int info = 0;
  load_columns(a, s->dtype, s->t);
  const core_mat loaded = {
      .data = s->t, .rows = s->n, .cols = s->n, .cs = s->n * (int64_t)dtype_size(s->dtype), .dtype = s->dtype};
  DAMO_TRY(spectral_check_finite(c, &loaded));
  spectral_of(s->dtype)->gees(&s->n, s->t, &s->n, s->w, s->z, &s->n, s->work, &s->lwork, s->rwork, &info);
  return spectral_outcome(c, info, "the iteration for the Schur form did not converge");
}

damo_c128 schur_value(const schur_form *s, lapack_int i) {
  const double *w = (const double *)(const void *)s->w;
  return dtype_is_complex(s->dtype) ? (damo_c128){w[2 * i], w[2 * i + 1]} : (damo_c128){w[i], w[s->n + i]};
}

double schur_radius(const schur_form *s) {
  double most = 0;
  for (lapack_int i = 0; i < s->n; i++) most = fmax(most, complex_size(schur_value(s, i)));
  return most;
}

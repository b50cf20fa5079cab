/* lapack_spectral: LAPACK's routines for eigenvalues and Schur forms, under one form for all dtypes. */
#include "spectral.h"

#include <math.h>

#include "kernel/kernel.h"

#if DAMO_BLAS
#define IN lapack_in
#define REAL_ROUTINES(p)                                                                                               \
  extern void p##syevd_(const char *, const char *, IN, void *, IN, void *, void *, IN, lapack_int *, IN,              \
                        lapack_int *, size_t, size_t);                                                                 \
  extern void p##geev_(const char *, const char *, IN, void *, IN, void *, void *, void *, IN, void *, IN, void *, IN, \
                       lapack_int *, size_t, size_t);                                                                  \
  extern void p##gees_(const char *, const char *, void *, IN, void *, IN, lapack_int *, void *, void *, void *, IN,   \
                       void *, IN, lapack_int *, lapack_int *, size_t, size_t);
#define COMPLEX_ROUTINES(p)                                                                                            \
  extern void p##heevd_(const char *, const char *, IN, void *, IN, void *, void *, IN, void *, IN, lapack_int *, IN,  \
                        lapack_int *, size_t, size_t);                                                                 \
  extern void p##geev_(const char *, const char *, IN, void *, IN, void *, void *, IN, void *, IN, void *, IN, void *, \
                       lapack_int *, size_t, size_t);                                                                  \
  extern void p##gees_(const char *, const char *, void *, IN, void *, IN, lapack_int *, void *, void *, IN, void *,   \
                       IN, void *, lapack_int *, lapack_int *, size_t, size_t);
#define COMMON_ROUTINES(p)                                                                                      \
  extern void p##trsyl_(const char *, const char *, IN, IN, IN, const void *, IN, const void *, IN, void *, IN, \
                        void *, lapack_int *, size_t, size_t);
REAL_ROUTINES(s)
REAL_ROUTINES(d)
COMPLEX_ROUTINES(c)
COMPLEX_ROUTINES(z)
COMMON_ROUTINES(s)
COMMON_ROUTINES(d)
COMMON_ROUTINES(c)
COMMON_ROUTINES(z)
extern void zgges_(const char *, const char *, const char *,
                   lapack_int (*)(const damo_c128 *alpha, const damo_c128 *beta), IN, void *, IN, void *, IN,
                   lapack_int *, void *, void *, void *, IN, void *, IN, void *, IN, void *, lapack_int *, lapack_int *,
                   size_t, size_t, size_t);

static const lapack_int one_column = 1;

#define REAL_FORMS(p, T)                                                                                               \
  static void p##heevd_form(const char *jobz, const char *uplo, IN n, void *a, IN lda, void *w, void *work, IN lwork,  \
                            void *rwork, IN lrwork, lapack_int *iwork, IN liwork, lapack_int *info) {                  \
    (void)rwork, (void)lrwork;                                                                                         \
    p##syevd_(jobz, uplo, n, a, lda, w, work, lwork, iwork, liwork, info, 1, 1);                                       \
  }                                                                                                                    \
  static void p##geev_form(const char *jobvr, IN n, void *a, IN lda, void *w, void *vr, IN ldvr, void *work, IN lwork, \
                           void *rwork, lapack_int *info) {                                                            \
    (void)rwork;                                                                                                       \
    p##geev_("N", jobvr, n, a, lda, w, (T *)w + *n, NULL, &one_column, vr, ldvr, work, lwork, info, 1, 1);             \
  }                                                                                                                    \
  static void p##gees_form(IN n, void *a, IN lda, void *w, void *vs, IN ldvs, void *work, IN lwork, void *rwork,       \
                           lapack_int *info) {                                                                         \
    lapack_int sdim = 0;                                                                                               \
    (void)rwork;                                                                                                       \
    p##gees_("V", "N", NULL, n, a, lda, &sdim, w, (T *)w + *n, vs, ldvs, work, lwork, NULL, info, 1, 1);               \
  }
#define COMPLEX_FORMS(p)                                                                                               \
  static void p##heevd_form(const char *jobz, const char *uplo, IN n, void *a, IN lda, void *w, void *work, IN lwork,  \
                            void *rwork, IN lrwork, lapack_int *iwork, IN liwork, lapack_int *info) {                  \
    p##heevd_(jobz, uplo, n, a, lda, w, work, lwork, rwork, lrwork, iwork, liwork, info, 1, 1);                        \
  }                                                                                                                    \
  static void p##geev_form(const char *jobvr, IN n, void *a, IN lda, void *w, void *vr, IN ldvr, void *work, IN lwork, \
                           void *rwork, lapack_int *info) {                                                            \
    p##geev_("N", jobvr, n, a, lda, w, NULL, &one_column, vr, ldvr, work, lwork, rwork, info, 1, 1);                   \
  }                                                                                                                    \
  static void p##gees_form(IN n, void *a, IN lda, void *w, void *vs, IN ldvs, void *work, IN lwork, void *rwork,       \
                           lapack_int *info) {                                                                         \
    lapack_int sdim = 0;                                                                                               \
    p##gees_("V", "N", NULL, n, a, lda, &sdim, w, vs, ldvs, work, lwork, rwork, NULL, info, 1, 1);                     \
  }
REAL_FORMS(s, float)
REAL_FORMS(d, double)
COMPLEX_FORMS(c)
COMPLEX_FORMS(z)

#define SPECTRAL(p) \
  { .heevd = p##heevd_form, .geev = p##geev_form, .gees = p##gees_form, .trsyl = p##trsyl_ }
static const spectral_table spectral_tables[4] = {SPECTRAL(s), SPECTRAL(d), SPECTRAL(c), SPECTRAL(z)};

static lapack_int is_inside_circle(const damo_c128 *alpha, const damo_c128 *beta) {
  return hypot(alpha->re, alpha->im) < hypot(beta->re, beta->im);
}

void lapack_gges_inside(lapack_in n, damo_c128 *a, damo_c128 *b, lapack_int *n_inside, damo_c128 *alpha,
                        damo_c128 *beta, damo_c128 *vsr, damo_c128 *work, lapack_in lwork, double *rwork,
                        lapack_int *bwork, lapack_int *info) {
  zgges_("N", "V", "S", is_inside_circle, n, a, n, b, n, n_inside, alpha, beta, NULL, &one_column, vsr, n, work, lwork,
         rwork, bwork, info, 1, 1, 1);
}

/* beta is real and not negative. */
static lapack_int is_in_left_half(const damo_c128 *alpha, const damo_c128 *beta) {
  return alpha->re < 0 && beta->re > 0;
}

void lapack_gges_left(lapack_in n, damo_c128 *a, damo_c128 *b, lapack_int *n_left, damo_c128 *alpha, damo_c128 *beta,
                      damo_c128 *vsr, damo_c128 *work, lapack_in lwork, double *rwork, lapack_int *bwork,
                      lapack_int *info) {
  zgges_("N", "V", "S", is_in_left_half, n, a, n, b, n, n_left, alpha, beta, NULL, &one_column, vsr, n, work, lwork,
         rwork, bwork, info, 1, 1, 1);
}
#else
/* Classes that need these routines are refused before they run (core_class.needs_lapack). */
static const spectral_table spectral_tables[4];

void lapack_gges_inside(lapack_in n, damo_c128 *a, damo_c128 *b, lapack_int *n_inside, damo_c128 *alpha,
                        damo_c128 *beta, damo_c128 *vsr, damo_c128 *work, lapack_in lwork, double *rwork,
                        lapack_int *bwork, lapack_int *info) {
  (void)n, (void)a, (void)b, (void)n_inside, (void)alpha, (void)beta, (void)vsr, (void)work, (void)lwork, (void)rwork;
  (void)bwork;
  *info = 1;
}
void lapack_gges_left(lapack_in n, damo_c128 *a, damo_c128 *b, lapack_int *n_left, damo_c128 *alpha, damo_c128 *beta,
                      damo_c128 *vsr, damo_c128 *work, lapack_in lwork, double *rwork, lapack_int *bwork,
                      lapack_int *info) {
  lapack_gges_inside(n, a, b, n_left, alpha, beta, vsr, work, lwork, rwork, bwork, info);
}
#endif

const spectral_table *spectral_of(damo_dtype dtype) {
  return &spectral_tables[dtype == DAMO_FLOAT32 ? 0 : dtype == DAMO_FLOAT64 ? 1 : dtype == DAMO_COMPLEX64 ? 2 : 3];
}

/* ---- Helpers of classes ------------------------------------------------------------------------------------------ */

damo_status spectral_check_finite(core_call *c, const core_mat *m) {
  const int64_t vectors = m->by_rows ? m->rows : m->cols, step = m->by_rows ? m->rs : m->cs;
  const int64_t n = m->by_rows ? m->cols : m->rows;
  for (int64_t v = 0; v < vectors; v++) {
    if (!kernel_all_finite(m->dtype, m->data + v * step, n))
      return core_fail(c, "the matrix has an entry that is nan or infinite");
  }
  return DAMO_OK;
}

damo_status spectral_check_triangle(core_call *c, const core_mat *m, bool lower) {
  const bool from_diagonal = lower != m->by_rows; /* a vector begins at the diagonal, or ends there */
  const int64_t n = m->rows, step = m->by_rows ? m->rs : m->cs, size = (int64_t)dtype_size(m->dtype);
  for (int64_t v = 0; v < n; v++) {
    const char *p = m->data + v * step + (from_diagonal ? v * size : 0);
    if (!kernel_all_finite(m->dtype, p, from_diagonal ? n - v : v + 1))
      return core_fail(c, "the matrix has an entry that is nan or infinite");
  }
  return DAMO_OK;
}

damo_status spectral_outcome(core_call *c, lapack_int info, const char *why) {
  if (info == 0) return DAMO_OK;
  if (info > 0) return core_fail(c, "%s", why);
  return ctx_fail(c->ctx, DAMO_EVALUE, "%s: a matrix of %lld x %lld is too large for LAPACK's 32-bit lengths",
                  c->op->def->core->func, (long long)c->in[0].rows, (long long)c->in[0].cols);
}

/* spectral: eigenvalues, singular values and Schur forms: LAPACK's routines for them, and the builders of their Ops.
 * Private to src/op. */
#ifndef DAMO_OP_LINALG_SPECTRAL_H
#define DAMO_OP_LINALG_SPECTRAL_H

#include "core.h"
#include "decompose.h"
#include "lapack.h"

/* ---- lapack_spectral.c ------------------------------------------------------------------------------------------- */

/* The routines of a dtype whose arguments differ between real and complex ones, under one form: `rwork` is read by the
 * complex ones alone. Matrices lie by columns. */
typedef struct spectral_table {
  /* Eigenvalues (real, ascending), and vectors over a where jobz is "V". */
  void (*heevd)(const char *jobz, const char *uplo, lapack_in n, void *a, lapack_in lda, void *w, void *work,
                lapack_in lwork, void *rwork, lapack_in lrwork, lapack_int *iwork, lapack_in liwork, lapack_int *info);
  /* Eigenvalues into w: n complex ones, or of a real dtype n real parts and n imaginary parts. */
  void (*geev)(const char *jobvr, lapack_in n, void *a, lapack_in lda, void *w, void *vr, lapack_in ldvr, void *work,
               lapack_in lwork, void *rwork, lapack_int *info);
  void (*gees)(lapack_in n, void *a, lapack_in lda, void *w, void *vs, lapack_in ldvs, void *work, lapack_in lwork,
               void *rwork, lapack_int *info);
  void (*trsyl)(const char *trana, const char *tranb, lapack_in isgn, lapack_in m, lapack_in n, const void *a,
                lapack_in lda, const void *b, lapack_in ldb, void *c, lapack_in ldc, void *scale, lapack_int *info,
                size_t, size_t);
} spectral_table;

const spectral_table *spectral_of(damo_dtype dtype);

/* zgges with ordering: the generalised Schur form of (a, b) whose eigenvalues inside the unit circle come first; vsl is
 * not computed. bwork: n integers. */
void lapack_gges_inside(lapack_in n, damo_c128 *a, damo_c128 *b, lapack_int *n_inside, damo_c128 *alpha,
                        damo_c128 *beta, damo_c128 *vsr, damo_c128 *work, lapack_in lwork, double *rwork,
                        lapack_int *bwork, lapack_int *info);

/* The same with the eigenvalues in the left half plane first. */
void lapack_gges_left(lapack_in n, damo_c128 *a, damo_c128 *b, lapack_int *n_left, damo_c128 *alpha, damo_c128 *beta,
                      damo_c128 *vsr, damo_c128 *work, lapack_in lwork, double *rwork, lapack_int *bwork,
                      lapack_int *info);

/* ---- Helpers of classes ------------------------------------------------------------------------------------------ */

/* A failure of the entry, unless all entries of the n × n matrix m are finite: the iterations of some routines may not
 * end where one is not. */
damo_status spectral_check_finite(core_call *c, const core_mat *m);
/* The same for one triangle, the diagonal included; the others are not read. */
damo_status spectral_check_triangle(core_call *c, const core_mat *m, bool lower);
/* What `info` of a routine says: why it failed, where it is positive. A negative one is a value error: the shapes are
 * checked before, so what LAPACK refuses is the length of a workspace, which its 32-bit integers don't hold. */
damo_status spectral_outcome(core_call *c, lapack_int info, const char *why);

/* sylvester.c: writes the Hermitian part of X = U₂·U₁⁻¹, the solution of a Riccati equation, for the n rows of U₁ and then
 * of U₂ in the first n columns of v, of `order` rows. u, x: n × n numbers; pivots: n. */
damo_status riccati_solution(core_call *c, int64_t n, int64_t order, const damo_c128 *v, damo_c128 *u,
                             lapack_int *pivots, damo_c128 *x);

/* ---- Builders ---------------------------------------------------------------------------------------------------- */

/* svd.c: U, the singular values, greatest first, and Vᴴ; the values alone */
damo_apply *build_svd(build *b, damo_var *x, bool full);
damo_var *build_svdvals(build *b, damo_var *x);
damo_var *build_eigvalsh(build *b, damo_var *x); /* eigen.c; reads the lower triangle */
/* gap.c: x(i, j) / (s(j) - s(i)); see there. `scale`, matrices, has entries of the size of the terms of x. */
typedef enum gap_kind { GAP_DIFFERENCE, GAP_SUM, GAP_VALUE } gap_kind;
extern const op_def gap_def, schur_def, sylvester_def, discrete_lyapunov_def, discrete_riccati_def, expm_def, logm_def,
    sqrtm_def;
/* spectral_check.c: the checks of these classes */
extern const op_check svd_check, svdvals_check, gap_check, eigh_check, eigvalsh_check, eig_check, eigvals_check,
    schur_check, hessenberg_check, sylvester_check, lyapunov_check, sqrtm_check;
damo_var *build_gap_quotient(build *b, gap_kind kind, damo_var *x, damo_var *s, damo_var *scale);
/* sylvester.c: x of a·x + x·c = q, and of x = a·x·aᴴ + q */
damo_var *build_sylvester(build *b, damo_var *a, damo_var *c, damo_var *q);
damo_var *build_discrete_lyapunov(build *b, damo_var *a, damo_var *q);

#endif

/* lapack: LAPACK and BLAS by their Fortran symbols, a table of functions for each dtype. Private to src/op.
 *
 * Matrices lie by columns. Integers are of 32 bits: core.c refuses longer axes. A character argument has a hidden
 * length at the end of the call, 1, as gfortran passes it; a library in C ignores it. Matrices are `void *`, of the
 * table's dtype.
 */
#ifndef DAMO_OP_LINALG_LAPACK_H
#define DAMO_OP_LINALG_LAPACK_H

#include "base/base.h"

typedef int32_t lapack_int;
typedef const lapack_int *lapack_in; /* an integer operand: LAPACK takes all arguments by address */

/* name, return type, arguments: one row a routine that all four dtypes have. */
#define LAPACK_ROUTINES(X)                                                                                            \
  X(getrf, (lapack_in m, lapack_in n, void *a, lapack_in lda, lapack_int *ipiv, lapack_int *info))                    \
  X(getrs, (const char *trans, lapack_in n, lapack_in nrhs, const void *a, lapack_in lda, const lapack_int *ipiv,     \
            void *b, lapack_in ldb, lapack_int *info, size_t))                                                        \
  X(getri,                                                                                                            \
    (lapack_in n, void *a, lapack_in lda, const lapack_int *ipiv, void *work, lapack_in lwork, lapack_int *info))     \
  X(gecon, (const char *norm, lapack_in n, const void *a, lapack_in lda, const void *anorm, void *rcond, void *work,  \
            void *work2, lapack_int *info, size_t))                                                                   \
  X(potrf, (const char *uplo, lapack_in n, void *a, lapack_in lda, lapack_int *info, size_t))                         \
  X(potrs, (const char *uplo, lapack_in n, lapack_in nrhs, const void *a, lapack_in lda, void *b, lapack_in ldb,      \
            lapack_int *info, size_t))                                                                                \
  X(sytrf, (const char *uplo, lapack_in n, void *a, lapack_in lda, lapack_int *ipiv, void *work, lapack_in lwork,     \
            lapack_int *info, size_t))                                                                                \
  X(sytrs, (const char *uplo, lapack_in n, lapack_in nrhs, const void *a, lapack_in lda, const lapack_int *ipiv,      \
            void *b, lapack_in ldb, lapack_int *info, size_t))                                                        \
  X(gbtrf, (lapack_in m, lapack_in n, lapack_in kl, lapack_in ku, void *ab, lapack_in ldab, lapack_int *ipiv,         \
            lapack_int *info))                                                                                        \
  X(gbtrs, (const char *trans, lapack_in n, lapack_in kl, lapack_in ku, lapack_in nrhs, const void *ab,               \
            lapack_in ldab, const lapack_int *ipiv, void *b, lapack_in ldb, lapack_int *info, size_t))                \
  X(gttrf, (lapack_in n, void *dl, void *d, void *du, void *du2, lapack_int *ipiv, lapack_int *info))                 \
  X(gttrs, (const char *trans, lapack_in n, lapack_in nrhs, const void *dl, const void *d, const void *du,            \
            const void *du2, const lapack_int *ipiv, void *b, lapack_in ldb, lapack_int *info, size_t))               \
  X(geqrf,                                                                                                            \
    (lapack_in m, lapack_in n, void *a, lapack_in lda, void *tau, void *work, lapack_in lwork, lapack_int *info))     \
  X(gemm,                                                                                                             \
    (const char *transa, const char *transb, lapack_in m, lapack_in n, lapack_in k, const void *alpha, const void *a, \
     lapack_in lda, const void *b, lapack_in ldb, const void *beta, void *c, lapack_in ldc, size_t, size_t))          \
  X(trsm, (const char *side, const char *uplo, const char *transa, const char *diag, lapack_in m, lapack_in n,        \
           const void *alpha, const void *a, lapack_in lda, void *b, lapack_in ldb, size_t, size_t, size_t, size_t))  \
  X(trsv, (const char *uplo, const char *trans, const char *diag, lapack_in n, const void *a, lapack_in lda, void *x, \
           lapack_in incx, size_t, size_t, size_t))

/* Routines whose names or arguments differ between real and complex dtypes: the table has the real one's name, and the
 * complex one gets `rwork`, real workspace, which a real one ignores. lapack.c has the wrappers. */
typedef struct lapack_table {
  damo_dtype dtype;
#define X(name, args) void(*name) args;
  LAPACK_ROUTINES(X)
#undef X
  /* Hermitian indefinite matrices; of real dtypes sytrf and sytrs. */
  void (*hetrf)(const char *uplo, lapack_in n, void *a, lapack_in lda, lapack_int *ipiv, void *work, lapack_in lwork,
                lapack_int *info, size_t);
  void (*hetrs)(const char *uplo, lapack_in n, lapack_in nrhs, const void *a, lapack_in lda, const lapack_int *ipiv,
                void *b, lapack_in ldb, lapack_int *info, size_t);
  /* Q of geqrf: orgqr, ungqr */
  void (*orgqr)(lapack_in m, lapack_in n, lapack_in k, void *a, lapack_in lda, const void *tau, void *work,
                lapack_in lwork, lapack_int *info);
  void (*geqp3)(lapack_in m, lapack_in n, void *a, lapack_in lda, lapack_int *jpvt, void *tau, void *work,
                lapack_in lwork, void *rwork, lapack_int *info);
  void (*gelsd)(lapack_in m, lapack_in n, lapack_in nrhs, void *a, lapack_in lda, void *b, lapack_in ldb, void *s,
                const void *rcond, lapack_int *rank, void *work, lapack_in lwork, void *rwork, lapack_int *iwork,
                lapack_int *info);
  void (*gesdd)(const char *jobz, lapack_in m, lapack_in n, void *a, lapack_in lda, void *s, void *u, lapack_in ldu,
                void *vt, lapack_in ldvt, void *work, lapack_in lwork, void *rwork, lapack_int *iwork, lapack_int *info,
                size_t);
} lapack_table;

/* The table of a float or complex dtype. */
const lapack_table *lapack_of(damo_dtype dtype);

/* The length of a workspace that a query has written to its first entry. */
lapack_int lapack_work_length(damo_dtype dtype, const void *work);
/* The number 1 of the dtype. */
const void *lapack_one(damo_dtype dtype);
const void *lapack_zero(damo_dtype dtype);
/* trsm with a factor of 1, by halves, so that most of it is gemm: OpenBLAS's trsm runs at a third of gemm's speed. */
void lapack_trsm(const lapack_table *la, char side, char uplo, char trans, char diag, int64_t m, int64_t n,
                 const char *a, int64_t lda, char *b, int64_t ldb);

#endif

/* factor: factorizations of sparse matrices, computed once and used many times.
 *
 * In: a sparse matrix. Out: a factor object that solves with A, its transpose and its conjugate transpose, gives its
 * determinant, an estimate of its condition and the entries of its inverse on its own pattern; for rectangular matrices
 * least squares. Always holds: a factor keeps its own copy of A's values, so later writes into A do not touch it; the
 * ordering and the symbolic analysis stay while the pattern does; what SuiteSparse holds is charged to the context's
 * memory cap; nothing is printed and no setting of the process is touched. A 0 × 0 matrix is allowed everywhere.
 */
#ifndef DAMO_SPARSE_FACTOR_FACTOR_H
#define DAMO_SPARSE_FACTOR_FACTOR_H

#include "array/array.h"

/* What the caller knows about A. POS: positive definite, and only its Hermitian part (A + Aᴴ)/2 counts. SYM: Hermitian,
 * perhaps indefinite; LDLᵀ is tried if A is indeed real and symmetric. GEN: only LU is tried. NONE: Cholesky is tried
 * if A is Hermitian with a positive diagonal, else LU. */
typedef enum factor_assume {
  FACTOR_ASSUME_NONE,
  FACTOR_ASSUME_POS,
  FACTOR_ASSUME_SYM,
  FACTOR_ASSUME_GEN
} factor_assume;

/* Which system is solved: with A, its transpose Aᵀ, or its conjugate transpose Aᴴ. */
typedef enum factor_system { FACTOR_A, FACTOR_T, FACTOR_H } factor_system;

typedef struct damo_factor damo_factor;

void factor_register(damo_ctx *ctx); /* destructor; called by sparse_register */

/* ---- Making ------------------------------------------------------------------------------------------------------ */

/* Analyses and factorizes a matrix of any dtype; integers count as float64. A singular matrix gives a factor too, which
 * has only a determinant (0); all else then fails as factor_check does. A rectangular matrix gives a QR factor, whose
 * solves are those of least squares. Shape error: a rectangular matrix that is said to be Hermitian. Numeric error: nan
 * or inf entries; a matrix that is not positive definite under FACTOR_ASSUME_POS. */
damo_factor *factor_new(damo_sparse *a, factor_assume assume);
/* What is told of a factorization on its way: tell(user, done, total) after each of the stages, which are a checked copy
 * of the matrix, the analysis, and the factors. Its error ends the factorization. */
typedef struct factor_watch {
  damo_status (*tell)(void *user, int done, int total);
  void *user;
} factor_watch;
/* factor_new that tells its stages. */
damo_factor *factor_new_watched(damo_sparse *a, factor_assume assume, const factor_watch *watch);
/* QR of a matrix of any shape, for least squares. */
damo_factor *factor_new_least_squares(damo_sparse *a);
/* Factorizes again, for a's values. The analysis is reused if the pattern is the same (shared arrays, or equal ones);
 * if the values are equal too, nothing is done. On failure the factor is empty: it fails (state error) until a refresh
 * succeeds. */
damo_status factor_refresh(damo_factor *f, damo_sparse *a);
/* Numeric error that names the pivot (its column in A and its step) and gives rcond if A is singular: a pivot of 0, or
 * rcond below the epsilon of A's dtype. State error after a failed refresh. */
damo_status factor_check(damo_factor *f);

/* ---- Questions --------------------------------------------------------------------------------------------------- */

typedef struct factor_info {
  const char *backend;              /* "cholmod", "umfpack", "spqr", "klu", "cxsparse", "ldl" */
  const char *kind;                 /* "cholesky", "ldl", "lu", "qr" */
  int64_t rows, cols;               /* of A */
  int64_t analyses, factorizations; /* counted since the factor was made */
  size_t bytes;                     /* charged for what the back end holds */
  bool singular, positive;          /* positive: a Cholesky factor, A's Hermitian part alone counted */
  damo_dtype dtype;    /* of A's values: a float or complex one; solves give it for operands of that dtype */
  bool minimum_norm;   /* of QR: more columns than rows, and full rank */
  int64_t refinements; /* steps of iterative refinement taken so far */
  bool least_squares;  /* made by factor_new_least_squares */
  bool rectangular;    /* A is: the factor is one by QR */
} factor_info;
factor_info factor_get_info(const damo_factor *f);

/* ---- Solving ----------------------------------------------------------------------------------------------------- */

/* Rows of the solutions of a system. */
int64_t factor_solution_rows(const damo_factor *f, factor_system system);
/* Solves system · x = b for a vector or a matrix b of any strides and dtype. The result is contiguous, of the promoted
 * dtype; if `onto` is given (contiguous, writeable, of that dtype and shape, no overlap with b), it is written there
 * and `onto` is returned, retained. For a rectangular A, x is S·b, Sᵀ·b or Sᴴ·b, where S·b is factor_lstsq's x (S is
 * A's pseudo-inverse if A has full rank). */
damo_array *factor_solve(damo_factor *f, factor_system system, const damo_array *b, damo_array *onto);
/* The same for a sparse b: a sparse result in b's format without stored zeros, computed some columns at a time. */
damo_sparse *factor_solve_sparse(damo_factor *f, factor_system system, damo_sparse *b);
/* The next three functions give a shape error if A is rectangular.
 *
 * log|det A| and the sign (of modulus 1; 0, with log -inf, for a singular A). 0 × 0: log 0, sign 1. */
damo_status factor_logdet(damo_factor *f, double *log_abs, damo_c128 *sign);
/* An estimate of 1 / (‖A‖₁ ‖A⁻¹‖₁) from the factor, by Hager's and Higham's method; 0 for a pivot of 0, 1 for 0 × 0.
 * Rows whose largest entry is more than 1/epsilon times that of the median row are scaled first: such rows usually
 * express constraints. */
damo_status factor_rcond(damo_factor *f, double *rcond);
/* (A⁻¹)ᵀ at the stored positions of a, which has the shape and the pattern that f was made with: a vector with an
 * element for each entry of a, in f's dtype. A selected inverse (Takahashi, Fagan, Chin 1973; Erisman, Tinney 1975) on
 * the pattern of the factors: the full inverse is never formed. */
damo_array *factor_inverse_entries(damo_factor *f, damo_sparse *a);

/* ---- Least squares (factor_new_least_squares) -------------------------------------------------------------------- */

/* x that minimizes ‖A·x − b‖₂; the one of least norm if A has more columns than rows and full row rank; if A's rank is
 * less than both dimensions, a basic solution (at most rank elements are not 0). residual (may be NULL): b − A·x. */
damo_status factor_lstsq(damo_factor *f, const damo_array *b, damo_array **x, damo_array **residual);
/* out = system · x − b for a QR factor and matrices x and b; out is contiguous, of b's shape and the promoted dtype. */
damo_status factor_gap(damo_factor *f, factor_system system, const damo_array *x, const damo_array *b, damo_array *out);
/* The numerical rank: the number of columns of the QR factorization above its tolerance. */
int64_t factor_rank(const damo_factor *f);

/* ---- Back ends --------------------------------------------------------------------------------------------------- */

/* The back ends of this build, NULL-terminated: "cholmod", … */
const char *const *factor_backends(void);

#endif

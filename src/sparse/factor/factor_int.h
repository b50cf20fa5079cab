/* factor_int: the struct of a factor, and what the back ends and the files of this folder share.
 *
 * The stored matrix M is csc with double or double complex values: A itself, or Aᵀ if A came as csr (`flipped`). Back
 * ends know only M; solve.c maps systems of A to systems of M. Block vectors are column-major. M is n × n unless
 * `least` is set.
 */
#ifndef DAMO_SPARSE_FACTOR_FACTOR_INT_H
#define DAMO_SPARSE_FACTOR_FACTOR_INT_H

#include "sparse/sparse_int.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <string.h>

#undef complex /* a scalar op has that name; the type is written _Complex */
#undef I       /* the index type of the bodies that are included twice */

typedef double _Complex zdouble;

/* CMPLX, which glibc does not define for clang. */
static inline zdouble zpair(double re, double im) {
  const union {
    double parts[2];
    zdouble whole;
  } u = {{re, im}};
  return u.whole;
}

/* The textbook product: C's own (Annex G) also recovers infinities, which takes three times as long. */
static inline zdouble zmul(zdouble a, zdouble b) {
  return zpair(creal(a) * creal(b) - cimag(a) * cimag(b), creal(a) * cimag(b) + cimag(a) * creal(b));
}
static inline double zabs1(zdouble a) { return fabs(creal(a)) + fabs(cimag(a)); }

typedef struct factor_matrix {
  int64_t rows, cols, nnz;
  bool wide, cplx;
  damo_array *indptr, *indices; /* owned; each column sorted, without duplicates */
  double *x;                    /* owned; (re, im) pairs if cplx */
} factor_matrix;

static inline size_t factor_entry(const factor_matrix *m) { return m->cplx ? sizeof(zdouble) : sizeof(double); }

typedef enum factor_method { FACTOR_LU, FACTOR_CHOLESKY, FACTOR_LDL, FACTOR_QR } factor_method;

typedef enum factor_fault { FACTOR_FINE, FACTOR_EMPTY, FACTOR_SINGULAR, FACTOR_INDEFINITE } factor_fault;

/* What the diagonal of a factor tells; rows and columns count from 0 in M. */
typedef struct factor_pivots {
  double log_abs;            /* of det M */
  damo_c128 sign;            /* of det M */
  double smallest, largest;  /* moduli, in the back end's scaling */
  int64_t step, row, column; /* of the smallest */
} factor_pivots;

/* Triangular factors of R⁻¹·M with permuted rows and columns: (R⁻¹M)(p, q) = L·D·U, plus entries outside the diagonal
 * blocks if the back end uses a block triangular form. L is unit lower triangular, stored by columns; U unit upper
 * triangular, stored by rows; both without their diagonals, indices ascending. U's arrays are NULL if U = Lᴴ. */
typedef struct factor_lu {
  int64_t n;
  bool cplx;
  int64_t *lp, *li, *up, *ui;
  double *lx, *ux, *d;
  int64_t *p, *q;                /* permutations: elimination step to row of M, step to column */
  double *r;                     /* diagonal of R; NULL: all 1 */
  size_t l_capacity, u_capacity; /* entries allocated */
} factor_lu;

typedef struct factor_backend {
  const char *name; /* NULL: not in this build */
  factor_method method;
  bool hermitian; /* factors M = Mᴴ; solve is called with FACTOR_A only */
  /* Each function sets the error on failure. analyze makes f->state; factorize sets f->fault, f->step, f->row,
   * f->column. */
  damo_status (*analyze)(damo_factor *f);
  damo_status (*factorize)(damo_factor *f);
  damo_status (*solve)(damo_factor *f, factor_system system, int64_t k, double *x); /* in place */
  damo_status (*pivots)(damo_factor *f, bool want_log, factor_pivots *out);
  damo_status (*extract)(damo_factor *f, factor_lu *lu);
  double (*work)(const damo_factor *f); /* KLU only: operations per entry of L and U, estimated; 0: unknown */
  /* Optional, used instead of extract: (M⁻¹)ᵀ at M's stored positions. */
  damo_status (*inverse)(damo_factor *f, double *out);
  /* QR only. x (cols × k) = pseudo-inverse of M times b (rows × k); if `adjoint`, x (rows × k) is the minimum-norm
   * solution of Mᴴ x = b (cols × k). */
  damo_status (*apply)(damo_factor *f, bool adjoint, int64_t k, const double *b, double *x);
  void (*free)(damo_factor *f); /* frees f->state, which may be NULL */
} factor_backend;

/* By index width: [0] int32, [1] int64. */
extern const factor_backend solve_cholmod[2], solve_umfpack[2], solve_klu[2], solve_ldl[2], solve_cxsparse[2],
    solve_spqr[2], solve_cxqr[2];
/* Of builds without SuiteSparse, for both index widths; the first is for matrices that are to be positive definite. */
extern const factor_backend solve_own_positive, solve_own;

struct damo_factor {
  damo_obj obj;
  const factor_backend *backend; /* NULL if M has no rows or no columns */
  void *state;
  factor_matrix m;
  damo_dtype dtype;
  factor_assume assume;
  bool asked_least; /* made by factor_new_least_squares */
  bool least;       /* asked_least, or A is rectangular: QR */
  bool flipped, gave_up;
  bool too_large;     /* set by a back end: the factors have more entries than int32 indices count */
  bool widened;       /* M has int64 indices for that reason, although A may have int32 */
  bool basic;         /* least squares: rank(A) < rows < columns */
  bool conjugated;    /* least squares: M is Aᴴ */
  bool kept_pivots;   /* the values were factorized with the pivot order of older values */
  bool refines;       /* the probe found that solves need iterative refinement */
  double probe;       /* backward error of one solve without refinement */
  double fresh_probe; /* the probe of the last factorization that chose its own pivots */
  bool fresh_pivots;  /* for the back end: do not keep the pivot order */
  bool choose_pivots; /* for the back end: choose pivots for accuracy alone */
  int64_t shape[2];   /* of A */
  factor_fault fault;
  int64_t step, row, column; /* of the pivot at fault, in M */
  int64_t rank;
  double rcond;
  bool rcond_known, rcond_rough; /* rough: a bound, sufficient to show that A is not singular */
  size_t charged;
  int64_t analyses, factorizations, refinements;
  double *work;
  size_t work_size;          /* doubles */
  const factor_watch *watch; /* while it is made; NULL: nothing is told */
  int told;                  /* the last stage that was told */
};

/* Kernels over M, by index and value type. */
typedef struct factor_fns {
  /* M = Mᴴ bit for bit; *positive: every diagonal entry is stored, real and above 0. */
  bool (*is_hermitian)(const factor_matrix *m, int64_t *at, bool *positive); /* at: scratch, cols elements */
  /* In a sample of the columns (at least one), the fraction of off-diagonal entries that have a mirror entry; *strong:
   * the fraction of columns whose diagonal is large enough as a pivot. */
  double (*symmetry)(const factor_matrix *m, int64_t sample, double *strong);
  /* r = b − op(M)·x; returns the componentwise backward error max |r|/(|op(M)|·|x| + |b|). s: scratch for as many
   * doubles as b has elements. sums (may be NULL): row sums of |Re| + |Im| of op(M). */
  double (*residual)(const factor_matrix *m, bool transposed, bool conjugated, const double *x, const double *b,
                     double *r, double *s, double *sums);
  /* The sum of moduli of each column (row), entries multiplied by the scale of their row (column). With scale NULL also
   * the largest modulus of each row (column), in `most`. */
  void (*column_sums)(const factor_matrix *m, const double *scale, double *sum, double *most);
  void (*row_sums)(const factor_matrix *m, const double *scale, double *sum, double *most);
  /* r: powers of two that bring each row's largest entry to 1 … 2 (complex: up to 2√2); x: M's values times r. */
  void (*equilibrate)(const factor_matrix *m, double *r, double *x);
  void (*scale_rows)(const factor_matrix *m, const double *r, double *x); /* x: M's values times a given r */
  /* (M + Mᴴ)/2 on the union of both patterns; t is Mᵀ. Returns the number of entries; with ip NULL it only counts. */
  int64_t (*hermitian_part)(const factor_matrix *m, const factor_matrix *t, void *ip, void *ii, double *x);
} factor_fns;
const factor_fns *factor_fns_of(const factor_matrix *m);

/* Operations per entry of a QR factorization of M with columns permuted by q (of M's index width): an upper bound for
 * LU with any row pivoting. 0 after a failed allocation. */
double factor_fill_bound(const factor_matrix *m, const void *q);

/* Sets the bytes charged for the back end to `bytes` in all; past the memory cap it fails and changes nothing. */
damo_status factor_charge(damo_factor *f, size_t bytes);
/* Scratch owned by f: at least n doubles, contents undefined. A later call may move it. */
double *factor_work(damo_factor *f, size_t n);
/* Records a pivot in out: its modulus in the back end's scaling, and its position. */
void factor_pivots_add(factor_pivots *out, double modulus, int64_t step, int64_t row, int64_t column);
/* The sign of a permutation p of n elements, of that index width: −1 or 1; 0 after a failed allocation. */
int factor_permutation_sign(damo_ctx *ctx, const void *p, int64_t n, bool wide);
void factor_pivots_multiply(factor_pivots *out, zdouble number); /* multiplies the determinant */
/* Copies L (to storage by columns) or U (to storage by rows) from a back end's arrays: stored by rows or columns, in
 * any order, with or without the diagonal; z: the imaginary parts if they are in an array of their own. U is divided by
 * lu->d, which must be set. */
damo_status factor_lu_take(damo_ctx *ctx, factor_lu *lu, bool upper, bool by_rows, bool wide, const void *p,
                           const void *i, const double *x, const double *z);
/* Turns L of a Cholesky factor, its diagonal in lu->d, into unit L and D: divides the columns by it and squares it. */
void factor_lu_square(factor_lu *lu);
damo_status factor_lu_new(damo_ctx *ctx, factor_lu *lu, int64_t n, bool cplx, bool hermitian, size_t l, size_t u,
                          bool scaled);
void factor_lu_clear(damo_ctx *ctx, factor_lu *lu);
/* The errors "the back end ran out of memory" and "it needs more entries than its index type can count" (then int64
 * indices are tried next). */
damo_status factor_fail_memory(damo_factor *f);
damo_status factor_fail_size(damo_factor *f);
/* A block of columns in the layout that back ends work on: column-major, real or (re, im) pairs; complex columns for a
 * real M are split into two real columns each. The arrays lie in f's scratch. */
#define FACTOR_BLOCK 32 /* columns at a time */
typedef struct factor_block {
  int64_t n, k;              /* rows of b; columns */
  bool cplx, split;          /* the values are complex; complex values with a real M */
  double *b, *x, *workspace; /* workspace: three columns, of the longer of b and x */
} factor_block;
/* Allocates blocks of at most k columns, with n rows in b and m in x. */
damo_status factor_block_init(damo_factor *f, factor_block *w, int64_t n, int64_t m, int64_t k, bool cplx);
int64_t factor_block_columns(const factor_block *w, int64_t k); /* the back end's columns for k of the user's */
/* Loads k columns of src from number `from` on into w->b; src has n contiguous rows of `width` values. scatter: the
 * same from a csc matrix (canonical, of double or double complex values). */
void factor_block_load(const factor_block *w, int64_t n, const double *src, bool src_cplx, int64_t width, int64_t from,
                       int64_t k);
void factor_block_scatter(const factor_block *w, const damo_sparse *b, int64_t from, int64_t k);
damo_c128 factor_block_get(const factor_block *w, const double *x, int64_t n, int64_t i, int64_t c);
/* Stores k columns of x, of n rows, to columns from number `from` on of out, of `width` columns. */
void factor_block_store(const factor_block *w, const double *x, int64_t n, damo_array *out, int64_t width, int64_t from,
                        int64_t k);
static inline damo_dtype factor_work_dtype(damo_dtype dtype) {
  return dtype_is_complex(dtype) ? DAMO_COMPLEX128 : DAMO_FLOAT64;
}

/* Shape error for a rectangular matrix; `why` ends the message. */
damo_status factor_need_square(damo_factor *f, const char *why);
/* Solves system · x = b for A, in place, without refinement; x is complex if M is. */
damo_status factor_raw_solve(damo_factor *f, factor_system system, int64_t k, double *x);
/* r = b − system·x for A; returns the componentwise backward error of x. s: scratch for as many doubles as rows; sums
 * (may be NULL): as in factor_fns.residual, of op(A). */
double factor_residual(const damo_factor *f, factor_system system, const double *x, const double *b, double *r,
                       double *s, double *sums);
/* Estimates f->rcond: roughly (enough to tell regular from singular), or well. */
damo_status factor_estimate(damo_factor *f, bool well);

#endif

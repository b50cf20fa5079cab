/* factor_int: the inside of a factor, and what the back ends and the files of factor share.
 *
 * The stored matrix M is csc with double or double complex values: A itself, or Aᵀ when A came as csr (`flipped`). Back
 * ends know M alone; solve.c maps systems of A to systems of M. Block vectors are column-major. n × n unless
 * least.
 */
#ifndef DAMO_SPARSE_FACTOR_FACTOR_INT_H
#define DAMO_SPARSE_FACTOR_FACTOR_INT_H

#include "sparse/sparse_int.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <string.h>

#undef complex /* a scalar op has that name; the type is written _Complex */
#undef I /* the index type of the bodies that are included twice */

#ifndef DAMO_GPL
#define DAMO_GPL 1
#endif

typedef double _Complex zdouble;

/* CMPLX, which glibc keeps from clang. */
static inline zdouble zpair(double re, double im) {
  const union {
    double parts[2];
    zdouble whole;
  } u = {{re, im}};
  return u.whole;
}

/* C's own product checks for nan and inf: three times the time. */
static inline zdouble zmul(zdouble a, zdouble b) {
  return zpair(creal(a) * creal(b) - cimag(a) * cimag(b), creal(a) * cimag(b) + cimag(a) * creal(b));
}
static inline double zabs1(zdouble a) { return fabs(creal(a)) + fabs(cimag(a)); }

typedef struct factor_matrix {
  int64_t rows, cols, nnz;
  bool wide, cplx;
  damo_array *indptr, *indices; /* owned; sorted, no duplicates */
  double *x;                    /* owned: pairs when cplx */
} factor_matrix;

static inline size_t factor_entry(const factor_matrix *m) { return m->cplx ? sizeof(zdouble) : sizeof(double); }

typedef enum factor_method { FACTOR_LU, FACTOR_CHOLESKY, FACTOR_LDL, FACTOR_QR } factor_method;

typedef enum factor_fault { FACTOR_FINE, FACTOR_EMPTY, FACTOR_SINGULAR, FACTOR_INDEFINITE } factor_fault;

/* What the diagonal of a factor says; rows and columns count from 0 in M. */
typedef struct factor_pivots {
  double log_abs;            /* of det M */
  damo_c128 sign;            /* of det M */
  double smallest, largest;  /* modulus, in the back end's scaling */
  int64_t step, row, column; /* of the smallest */
} factor_pivots;

/* Triangular factors of R⁻¹·M, rows and columns permuted: (R⁻¹M)(p, q) = L·D·U + what lies outside diagonal blocks. L
 * is unit lower by columns, U unit upper by rows, diagonals left out, indices ascending. U's arrays are NULL when
 * U = Lᴴ. */
typedef struct factor_lu {
  int64_t n;
  bool cplx;
  int64_t *lp, *li, *up, *ui;
  double *lx, *ux, *d;
  int64_t *p, *q;                /* step to row, step to column */
  double *r;                     /* NULL: 1 */
  size_t l_capacity, u_capacity; /* entries allocated */
} factor_lu;

typedef struct factor_backend {
  const char *name; /* NULL: not in this build */
  factor_method method;
  bool hermitian; /* factors M = Mᴴ: solves FACTOR_A alone */
  /* Each sets the error on failure. analyze makes f->state; factorize sets f->fault, f->step, f->row, f->column. */
  damo_status (*analyze)(damo_factor *f);
  damo_status (*factorize)(damo_factor *f);
  damo_status (*solve)(damo_factor *f, factor_system system, int64_t k, double *x); /* in place */
  damo_status (*pivots)(damo_factor *f, bool want_log, factor_pivots *out);
  damo_status (*extract)(damo_factor *f, factor_lu *lu);
  double (*work)(const damo_factor *f); /* of KLU: operations an entry of L and U will take; 0: not known */
  /* Instead of extract where the back end knows better: (M⁻¹)ᵀ at M's stored places. */
  damo_status (*inverse)(damo_factor *f, double *out);
  /* Of QR only. apply: x (cols × k) from b (rows × k) by M's pseudo inverse, or the minimum-norm solution of Mᴴ x = b
   * when `adjoint` (b: cols × k, x: rows × k). */
  damo_status (*apply)(damo_factor *f, bool adjoint, int64_t k, const double *b, double *x);
  void (*free)(damo_factor *f); /* all of f->state, which may be NULL */
} factor_backend;

/* By index width: [0] int32, [1] int64. */
extern const factor_backend solve_cholmod[2], solve_umfpack[2], solve_klu[2], solve_ldl[2], solve_cxsparse[2],
    solve_spqr[2], solve_cxqr[2];

struct damo_factor {
  damo_obj obj;
  const factor_backend *backend; /* NULL for 0 entries on a side */
  void *state;
  factor_matrix m;
  damo_dtype dtype;
  factor_assume assume;
  bool asked_least; /* made for least squares */
  bool least;       /* … or of a rectangular matrix: QR */
  bool flipped, gave_up;
  bool too_large;     /* said by a back end: the factors are more than int32 indices count */
  bool widened;       /* so M has int64 indices, whatever A has */
  bool basic;         /* least squares: A's rank is less than its rows, which are fewer than its columns */
  bool conjugated;    /* least squares: M is Aᴴ */
  bool kept_pivots;   /* the numbers were computed with an older pivot order */
  bool refines;       /* the probe said that solves want refinement */
  double probe;       /* backward error of one solve, unrefined */
  double fresh_probe; /* the same with the pivots that A's older values chose, then */
  bool fresh_pivots;  /* told to the back end: keep none */
  bool choose_pivots; /* … and choose them for accuracy alone */
  int64_t shape[2];   /* of A */
  factor_fault fault;
  int64_t step, row, column; /* of the pivot at fault, in M */
  int64_t rank;
  double rcond;
  bool rcond_known, rcond_rough; /* rough: a bound good enough to tell that A is not singular */
  size_t charged;
  int64_t analyses, factorizations, refinements;
  double *work;
  size_t work_size; /* doubles */
};

/* Loops over M, by index and value type. */
typedef struct factor_fns {
  /* M = Mᴴ to the bit; *positive: every diagonal entry is there, real and above 0. */
  bool (*is_hermitian)(const factor_matrix *m, int64_t *at, bool *positive); /* at: scratch for cols numbers */
  /* The share of entries off the diagonal that have a mirror, and of columns whose diagonal would do as a pivot, in a
   * sample of the columns; there is one at least. */
  double (*symmetry)(const factor_matrix *m, int64_t sample, double *strong);
  /* r = b − op(M)·x; the largest |r|/(|op(M)|·|x| + |b|) over the entries (s: room for as many doubles as b). sums (may
   * be NULL): those of op(M)'s rows, of |Re| + |Im|. */
  double (*residual)(const factor_matrix *m, bool transposed, bool conjugated, const double *x, const double *b,
                     double *r, double *s, double *sums);
  /* The sums of moduli of each column (row), its entries scaled by their rows (columns). Without a scale also the
   * largest modulus of each row (column). */
  void (*column_sums)(const factor_matrix *m, const double *scale, double *sum, double *most);
  void (*row_sums)(const factor_matrix *m, const double *scale, double *sum, double *most);
  /* r: powers of two that bring each row's largest entry to 1 … 2 (complex: up to 2√2); x: the values times them. */
  void (*equilibrate)(const factor_matrix *m, double *r, double *x);
  void (*scale_rows)(const factor_matrix *m, const double *r, double *x); /* the same with r as it is */
  /* (M + Mᴴ)/2 on the union of both patterns; t is Mᵀ. With ip NULL it only counts. */
  int64_t (*hermitian_part)(const factor_matrix *m, const factor_matrix *t, void *ip, void *ii, double *x);
} factor_fns;
const factor_fns *factor_fns_of(const factor_matrix *m);

/* Entry k of an index vector. */
static inline int64_t factor_place(const void *p, int64_t k, bool wide) {
  return wide ? ((const int64_t *)p)[k] : ((const int32_t *)p)[k];
}

/* Operations an entry that a QR factorization of M (columns permuted by q, of M's index width) would take: no fewer
 * than LU with any row pivots. 0 after a failed allocation. */
double factor_fill_bound(const factor_matrix *m, const void *q);

/* Sets what is charged for the back end to that many bytes in all; past the cap nothing changes. */
damo_status factor_charge(damo_factor *f, size_t bytes);
/* Scratch that lives as long as f: at least n doubles, contents undefined; moves what was there before. */
double *factor_work(damo_factor *f, size_t n);
/* Tells a pivot to out: its modulus in the back end's scaling, and its place. */
void factor_pivots_add(factor_pivots *out, double modulus, int64_t step, int64_t row, int64_t column);
/* −1 or 1; p is a permutation of n numbers of that width. 0 after a failed allocation. */
int factor_permutation_sign(damo_ctx *ctx, const void *p, int64_t n, bool wide);
void factor_pivots_multiply(factor_pivots *out, zdouble number); /* into the determinant */
/* Takes L (target: columns) or U (target: rows) as a back end gives it: by rows or columns, in any order, with or
 * without the diagonal; z: the imaginary parts when apart. U is divided by lu->d, which is there already. */
damo_status factor_lu_take(damo_ctx *ctx, factor_lu *lu, bool upper, bool by_rows, bool wide, const void *p,
                           const void *i, const double *x, const double *z);
/* L of a Cholesky factor, its diagonal in lu->d, made unit: its columns are divided, d squared. */
void factor_lu_square(factor_lu *lu);
damo_status factor_lu_new(damo_ctx *ctx, factor_lu *lu, int64_t n, bool cplx, bool hermitian, size_t l, size_t u,
                          bool scaled);
/* (M⁻¹)ᵀ at M's places from triangular factors. */
damo_status factor_selected_inverse(damo_ctx *ctx, const factor_matrix *m, const factor_lu *lu, double *out);
void factor_lu_clear(damo_ctx *ctx, factor_lu *lu);
/* The back end did not get memory, or needs more than its index type can count: int64 indices are tried next. */
damo_status factor_fail_memory(damo_factor *f);
damo_status factor_fail_size(damo_factor *f);
/* A block of columns on their way through a back end: column-major, real, or pairs; complex values on a real M take two
 * columns each (split). The arrays lie in f's scratch. */
#define FACTOR_BLOCK 32 /* columns at a time */
typedef struct factor_block {
  int64_t n, k;              /* rows of b; columns */
  bool cplx, split;          /* the values; complex ones on a real M */
  double *b, *x, *workspace; /* workspace: three columns of the longer side */
} factor_block;
/* Room for blocks of at most k columns, with n rows in b and m in x. */
damo_status factor_block_init(damo_factor *f, factor_block *w, int64_t n, int64_t m, int64_t k, bool cplx);
int64_t factor_block_columns(const factor_block *w, int64_t k); /* of the back end, for k of the user's */
/* Columns from … of src, whose n contiguous rows have `width` values, into w->b; the same of a csc matrix (canonical,
 * of double or double complex values). */
void factor_block_load(const factor_block *w, int64_t n, const double *src, bool src_cplx, int64_t width, int64_t from,
                       int64_t k);
void factor_block_scatter(const factor_block *w, const damo_sparse *b, int64_t from, int64_t k);
damo_c128 factor_block_get(const factor_block *w, const double *x, int64_t n, int64_t i, int64_t c);
/* The columns x of n rows to columns from … of out. */
void factor_block_store(const factor_block *w, const double *x, int64_t n, damo_array *out, int64_t width, int64_t from,
                        int64_t k);
static inline damo_dtype factor_work_dtype(damo_dtype dtype) {
  return dtype_is_complex(dtype) ? DAMO_COMPLEX128 : DAMO_FLOAT64;
}

/* Shape error for a rectangular matrix; why ends the message. */
damo_status factor_need_square(damo_factor *f, const char *why);
/* Solves system · x = b for A, in place; complex when M is. No refinement. */
damo_status factor_raw_solve(damo_factor *f, factor_system system, int64_t k, double *x);
/* r = b − system·x and the componentwise backward error of x, for A. s: scratch for as many doubles as rows; sums (may
 * be NULL): as factor_fns.residual has it, of op(A). */
double factor_residual(const damo_factor *f, factor_system system, const double *x, const double *b, double *r,
                       double *s, double *sums);
/* Finds rcond: roughly (enough to tell regular from singular), or well. */
damo_status factor_estimate(damo_factor *f, bool well);

#endif

/* decompose: the Ops of linear systems and factorizations that each other's rules, and rewriting, use.
 *
 * All take stacks of matrices (core.h). `system` is 'n', 't' or 'h': the matrix itself, its transpose, its conjugate
 * transpose. Results are borrowed from the scope.
 */
#ifndef DAMO_OP_LINALG_DECOMPOSE_H
#define DAMO_OP_LINALG_DECOMPOSE_H

#include "core.h"
#include "lapack.h"

/* Conjugates the entries of a contiguous complex matrix; does nothing to a real one. */
void mat_conjugate(const core_mat *m);
/* Sets entry (i, j). */
void mat_put(const core_mat *m, int64_t i, int64_t j, damo_c128 v);
damo_c128 mat_get(const core_mat *m, int64_t i, int64_t j);
/* The first row, from 1, whose entry on the diagonal is 0; 0: none. */
int64_t mat_zero_on_diagonal(const core_mat *m);
/* op(A)·X = B, or X·op(A) = B with `right`, for the triangle A of a; x, contiguous by rows or a column, holds B and
 * becomes X. */
damo_status mat_solve_triangular(core_call *c, const core_mat *a, const core_mat *x, bool lower, bool unit, char system,
                                 bool right);

/* ---- In SIMD lanes: arrays of n × m matrices, LANE_COUNT of them, of the call's dtype --------------------------------- */

/* Bytes of one entry of all lanes. */
size_t lanes_entry(const core_call *c);
void lanes_copy(const core_call *c, void *to, const void *from, int64_t entries);
void lanes_identity(const core_call *c, int n, void *to);
/* failed[l] = 1 where x is not a number between the least and the greatest normal ones. */
void lanes_check_normal(const core_call *c, const void *x, uint8_t *failed);
/* The same where one of n positions is not from its own, 1 to n, to n: the kernels swap rows with later ones alone. */
void lanes_check_pivots(const core_call *c, int n, const void *pivots, uint8_t *failed);
/* The same where the least modulus of n entries of a diagonal is not above `ratio` times the greatest. */
void lanes_check_regular(const core_call *c, int n, const void *factors, double ratio, uint8_t *failed);
/* x[k] *= p·q, for the matrices' entries k. */
void lanes_scale(const core_call *c, int64_t entries, const void *p, const void *q, void *x);
/* sign = the sign of x, and log = the logarithm of its modulus. */
void lanes_sign_log(const core_call *c, const void *x, void *sign, void *log_abs);

/* The checks of the classes: decompose_check.c */
extern const op_check cholesky_check, triangular_check, lu_factor_check, lu_solve_check, inv_check, solve_check,
    det_check, slogdet_check, adjugate_check, solve_banded_check, solve_toeplitz_check, qr_check, lstsq_check,
    pinv_check;

/* cholesky.c */
extern const op_def cholesky_def;
typedef struct cholesky_props {
  prop_value lower, on_fail;
} cholesky_props;
damo_var *build_cholesky(build *b, damo_var *a, bool lower);

/* triangular.c: x of op(A)·x = b, or x·op(A) = b, where A is a triangle of a */
extern const op_def solve_triangular_def;
/* Which system is solved: "n" or nil, "t", "h". */
#define SYSTEM_PROP(t, f) PROP_WORD_OR_NIL(t, f, "n", "t", "h")

typedef struct triangular_props {
  prop_value lower, trans, unit, right, vector, on_fail; /* vector: b is a stack of vectors */
} triangular_props;
/* A triangle of a, as the rules use it. */
typedef struct triangle_var {
  damo_var *a;
  bool lower, unit;
} triangle_var;
damo_var *build_triangular(build *b, const triangular_props *p, damo_var *a, damo_var *x);
damo_var *build_triangular_left(build *b, triangle_var t, char system, damo_var *x);  /* op(A)⁻¹·x */
damo_var *build_triangular_right(build *b, triangle_var t, char system, damo_var *x); /* x·op(A)⁻¹ */

/* lu.c: P·L·U of a, in one matrix, and the pivots: row i was swapped with row pivots[i], from 1. With `columns` L·U·P,
 * where U has the diagonal of ones: the factors of aᵀ, transposed, which LAPACK gives without a copy of a; the pivots
 * swap columns. Only rewriting makes these, and they have no gradient. */
extern const op_def lu_factor_def, lu_solve_def;
typedef struct lu_factor_props {
  prop_value columns, square; /* square: other matrices are refused */
} lu_factor_props;
typedef struct lu_solve_props {
  prop_value columns, trans, vector, on_fail;
} lu_solve_props;
damo_apply *build_lu_columns(build *b, damo_var *a);
/* op(a)⁻¹·x from such factors. */
damo_var *build_lu_columns_solve(build *b, const damo_apply *factors, char system, damo_var *x, bool vector,
                                 bool nan_on_fail);

damo_status mat_lu_solve(const core_mat *lu, const lapack_int *ipiv, const core_mat *x, bool turned, char system);

/* The rows p[1], p[2] … of x, p from 1, or with `inverse` the matrix whose rows these are. */
damo_var *build_permute_rows(build *b, damo_var *p, damo_var *x, bool inverse);

/* solve.c: x of op(a)·x = b; assume: what a is, a word of solve_words */
extern const op_def solve_def;
typedef struct solve_props {
  prop_value assume, trans, lower, vector, on_fail;
} solve_props;
damo_var *build_matrix_solve(build *b, damo_var *a, damo_var *x); /* of matrices without structure */
damo_var *build_solve_of(build *b, solve_props p, char system, damo_var *a, damo_var *x);
/* x of D·x = b for the diagonal matrices D; on_fail: the property. */
damo_var *build_solve_diagonal(build *b, damo_var *diagonal, damo_var *x, bool vector, prop_value on_fail);

/* banded.c: l diagonals below the main one, u above */
extern const op_def solve_banded_def;
typedef struct banded_props {
  prop_value l, u, trans, vector, on_fail;
} banded_props;

/* qr.c: mode "full", "economic", "r"; qr_parts: how many results a mode has */
extern const op_def qr_def;
typedef struct qr_props {
  prop_value mode, pivoting;
} qr_props;

/* lstsq.c: by singular values, those below rcond times the greatest taken as 0 */
extern const op_def lstsq_def, pinv_def;
typedef struct rcond_props {
  prop_value rcond, vector, on_fail;
} rcond_props;
damo_var *build_pinv(build *b, damo_var *a, prop_value rcond);

/* inverse.c */
extern const op_def inv_def, det_def, slogdet_def;
typedef struct inverse_props {
  prop_value on_fail;
} inverse_props;
damo_var *build_inv(build *b, damo_var *a);
/* From the factors of build_lu_columns: the node that gives the determinant, or its sign and logarithm; the inverse. */
damo_apply *build_lu_det(build *b, const damo_apply *factors, bool logarithm);
damo_var *build_lu_inverse(build *b, const damo_apply *factors, bool nan_on_fail);

/* adjugate.c: w·adj(a), where adj(a) = det(a)·inv(a), also of singular matrices; w: a stack of scalars */
extern const op_def adjugate_def, adjugate_tangent_def;
damo_var *build_adjugate(build *b, damo_var *a, damo_var *w);
damo_var *build_lu_adjugate(build *b, const damo_apply *factors, damo_var *w);
/* The sum of the products of corresponding entries of two stacks of matrices. */
damo_var *build_matrix_inner(build *b, damo_var *x, damo_var *y);

/* system.c */

/* The property `trans`, a text of one letter. */
prop_value system_prop(char system);
char system_of(prop_value v);
/* op(D) of a matrix: itself, its transpose, its conjugate transpose. */
damo_var *build_of_system(build *b, char system, damo_var *d);
/* Sets *system and returns a or its conjugate such that their op is the conjugate transpose of op(a). */
damo_var *build_adjoint_system(build *b, damo_var *a, char *system);
/* The gradient of a that one of op(a), -g·xᴴ, gives. g and x are stacks of vectors or matrices. */
damo_var *build_system_gradient(build *b, char system, damo_var *g, damo_var *x, bool vector);
/* op(d)·x */
damo_var *build_tangent_product(build *b, char system, damo_var *d, damo_var *x, bool vector);
/* The option `trans`: 0, 1, 2, "N", "T", "C", or a boolean. 0 if the scope has failed. */
char system_option(build *b, const fn_args *a, prop_value option);
/* Whether b is a stack of vectors, by the option b_ndim (1 or 2; a vector counts as one by itself); -1: the scope has
 * failed. */
int vector_option(build *b, const fn_args *a, prop_value b_ndim, const damo_var *rhs);

#endif

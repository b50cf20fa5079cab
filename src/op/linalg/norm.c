/* norm: norms of vectors and matrices of every order, condition numbers and ranks, made of reductions and singular
 * values. */
#include "compose.h"
#include "decompose.h"
#include "spectral.h"
#include "op/elem/build_arith.h"
#include "op/shape/shape_int.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct matrix_norm_options {
  prop_value ord, axis, keepdims;
} matrix_norm_options;

/* A norm's order: a number p, infinities included, or "fro", "nuc" by name; without one, of all entries. */
typedef struct norm_order {
  enum { ORDER_NONE, ORDER_P, ORDER_FROBENIUS, ORDER_NUCLEAR } kind;
  double p;
} norm_order;

static damo_status norm_read_order(build *b, const char *func, const prop_value *v, norm_order *o) {
  *o = (norm_order){.kind = ORDER_NONE};
  if (!prop_given(*v)) return DAMO_OK;
  const char *name = prop_str_or(*v, NULL);
  if (name == NULL) {
    if (v->kind != PROP_INT && v->kind != PROP_NUM)
      return ctx_fail(b->ctx, DAMO_ETYPE, "%s: an order is a number, \"inf\", \"-inf\", \"fro\" or \"nuc\"", func);
    *o = (norm_order){.kind = ORDER_P, .p = prop_num_or(*v, 0)};
    if (isnan(o->p)) return ctx_fail(b->ctx, DAMO_EVALUE, "%s: the order is nan", func);
  } else if (strcmp(name, "fro") == 0) {
    o->kind = ORDER_FROBENIUS;
  } else if (strcmp(name, "nuc") == 0) {
    o->kind = ORDER_NUCLEAR;
  } else if (strcmp(name, "inf") == 0 || strcmp(name, "-inf") == 0) {
    *o = (norm_order){.kind = ORDER_P, .p = name[0] == '-' ? -HUGE_VAL : HUGE_VAL};
  } else {
    return ctx_fail(b->ctx, DAMO_EVALUE, "%s: there is no norm of order '%s'", func, name);
  }
  return DAMO_OK;
}

/* The square root of a sum of squares, or any root of a sum of powers. The derivative is 0 where all of them are 0: the
 * root is not differentiable there, and 0 is a subgradient. */
static damo_var *norm_root(build *b, damo_var *sum, double p) {
  damo_var *root = p == 2 ? build_sqrt(b, sum) : build_pow(b, sum, build_num(b, 1 / p));
  return p < 1 ? root : build_switch(b, build_eq(b, sum, build_num(b, 0)), sum, root);
}

/* The square root of the sum of |x|² over these axes. */
static damo_var *norm_euclidean(build *b, damo_var *x, const int *axes, int n, bool keepdims) {
  damo_var *squares = dtype_is_complex(var_dtype(x))
                          ? build_add(b, build_sqr(b, build_real(b, x)), build_sqr(b, build_imag(b, x)))
                          : build_sqr(b, x);
  return norm_root(b, build_reduce(b, REDUCE_SUM, squares, axes, n, keepdims), 2);
}

/* The norm of the entries along these axes. */
static damo_var *norm_vector(build *b, const char *func, damo_var *x, const int *axes, int n, const norm_order *o,
                             bool keepdims) {
  if (o->kind == ORDER_NONE || (o->kind == ORDER_P && o->p == 2)) return norm_euclidean(b, x, axes, n, keepdims);
  if (o->kind != ORDER_P) return build_fail(b, DAMO_EVALUE, "%s: the order of a vector's norm is a number", func);
  if (isinf(o->p)) return build_reduce(b, o->p > 0 ? REDUCE_MAX : REDUCE_MIN, build_abs(b, x), axes, n, keepdims);
  damo_var *size = build_abs(b, x);
  if (size == NULL) return NULL;
  if (o->p == 0) {
    damo_var *nonzero = build_cast(b, build_neq(b, x, build_num(b, 0)), var_dtype(size));
    return build_reduce(b, REDUCE_SUM, nonzero, axes, n, keepdims);
  }
  if (o->p == 1) return build_reduce(b, REDUCE_SUM, size, axes, n, keepdims);
  damo_var *sum = build_reduce(b, REDUCE_SUM, build_pow(b, size, build_num(b, o->p)), axes, n, keepdims);
  return norm_root(b, sum, o->p);
}

/* The greatest or least sum of |x| along `sum`, over the places along `over`. */
static damo_var *norm_of_sums(build *b, damo_var *x, int sum, int over, bool greatest, bool keepdims) {
  damo_var *sums = build_reduce(b, REDUCE_SUM, build_abs(b, x), &sum, 1, true);
  damo_var *out = build_reduce(b, greatest ? REDUCE_MAX : REDUCE_MIN, sums, &over, 1, true);
  int pattern[DAMO_MAX_NDIM], n = 0;
  if (out == NULL || keepdims) return out;
  for (int i = 0; i < var_ndim(x); i++) {
    if (i != sum && i != over) pattern[n++] = i;
  }
  return build_dimshuffle(b, out, pattern, n);
}

/* A norm that is made of the singular values of the matrices along axes `row` and `col`. */
static damo_var *norm_spectral(build *b, damo_var *x, int row, int col, const norm_order *o, bool keepdims) {
  int pattern[DAMO_MAX_NDIM], n = 0;
  const int ndim = var_ndim(x), last = ndim - 2;
  for (int i = 0; i < ndim; i++) {
    if (i != row && i != col) pattern[n++] = i;
  }
  pattern[n++] = row, pattern[n++] = col;
  damo_var *s = build_svdvals(b, build_dimshuffle(b, x, pattern, ndim)), *out;
  if (o->kind == ORDER_NUCLEAR)
    out = build_reduce(b, REDUCE_SUM, s, &last, 1, false);
  else
    out = build_index(b, s, last, build_i64(b, o->p > 0 ? 0 : -1));
  if (out == NULL || !keepdims) return out;
  for (int i = 0, k = 0; i < ndim; i++) pattern[i] = i == row || i == col ? -1 : k++;
  return build_dimshuffle(b, out, pattern, ndim);
}

static damo_var *norm_matrix(build *b, const char *func, damo_var *x, int row, int col, const norm_order *o,
                             bool keepdims) {
  const int axes[2] = {row < col ? row : col, row < col ? col : row};
  if (o->kind == ORDER_NONE || o->kind == ORDER_FROBENIUS) return norm_euclidean(b, x, axes, 2, keepdims);
  if (o->kind == ORDER_NUCLEAR || fabs(o->p) == 2) return norm_spectral(b, x, row, col, o, keepdims);
  if (fabs(o->p) == 1) return norm_of_sums(b, x, row, col, o->p > 0, keepdims);
  if (isinf(o->p)) return norm_of_sums(b, x, col, row, o->p > 0, keepdims);
  return build_fail(b, DAMO_EVALUE, "%s: the order of a matrix norm is 1, -1, 2, -2, inf, -inf, \"fro\" or \"nuc\"",
                    func);
}

static damo_status fn_norm(build *b, const fn_args *a, ptrvec *out) {
  const matrix_norm_options *opt = FN_OPTIONS(a, matrix_norm_options);
  const char *func = a->func->name;
  const bool keepdims = prop_bool_or(opt->keepdims, false);
  damo_var *x = build_float(b, matrix_operand(b, a, 0, 0));
  int axes[DAMO_MAX_NDIM], n = -1;
  norm_order o;
  if (x == NULL) return b->status;
  DAMO_TRY(norm_read_order(b, func, &opt->ord, &o));
  DAMO_TRY(axes_in_order(b->ctx, func, &opt->axis, var_ndim(x), axes, &n));
  if (n < 0 && o.kind == ORDER_NONE) return fn_give(b, out, norm_euclidean(b, x, NULL, -1, keepdims));
  if (n < 0) {
    n = var_ndim(x);
    for (int i = 0; i < n; i++) axes[i] = i;
  }
  if (n != 1 && n != 2) {
    return ctx_fail(b->ctx, DAMO_EVALUE, "%s: a norm is taken over one axis or two, not %d; name them by axis", func,
                    n);
  }
  damo_var *norm =
      n == 1 ? norm_vector(b, func, x, axes, 1, &o, keepdims) : norm_matrix(b, func, x, axes[0], axes[1], &o, keepdims);
  return fn_give(b, out, norm);
}

/* The entries along all axes named count as one vector; without axes all entries. */
static damo_status fn_vector_norm(build *b, const fn_args *a, ptrvec *out) {
  const matrix_norm_options *opt = FN_OPTIONS(a, matrix_norm_options);
  damo_var *x = build_float(b, matrix_operand(b, a, 0, 0));
  int axes[DAMO_MAX_NDIM], n;
  norm_order o;
  if (x == NULL) return b->status;
  DAMO_TRY(norm_read_order(b, a->func->name, &opt->ord, &o));
  DAMO_TRY(axes_check(b->ctx, a->func->name, &opt->axis, var_ndim(x), axes, &n));
  return fn_give(b, out, norm_vector(b, a->func->name, x, axes, n, &o, prop_bool_or(opt->keepdims, false)));
}

static damo_status fn_matrix_norm(build *b, const fn_args *a, ptrvec *out) {
  const matrix_norm_options *opt = FN_OPTIONS(a, matrix_norm_options);
  damo_var *x = build_float(b, matrix_operand(b, a, 0, 2));
  norm_order o;
  if (x == NULL) return b->status;
  const int last = var_ndim(x) - 1;
  DAMO_TRY(norm_read_order(b, a->func->name, &opt->ord, &o));
  return fn_give(b, out, norm_matrix(b, a->func->name, x, last - 1, last, &o, prop_bool_or(opt->keepdims, false)));
}

/* ---- Condition numbers and rank ---------------------------------------------------------------------------------- */

typedef struct cond_options {
  prop_value p;
} cond_options;

/* Singular matrices have the condition number inf. Those of the orders 2 and -2 are quotients of singular values, the
 * others products of the norms of a matrix and its inverse. */
static damo_status fn_cond(build *b, const fn_args *a, ptrvec *out) {
  const char *func = a->func->name;
  norm_order o;
  DAMO_TRY(norm_read_order(b, func, &FN_OPTIONS(a, cond_options)->p, &o));
  damo_var *x = build_float(b, matrix_operand(b, a, 0, 2));
  if (x == NULL) return b->status;
  const int last = var_ndim(x) - 2;
  if (o.kind == ORDER_NONE || (o.kind == ORDER_P && fabs(o.p) == 2)) {
    damo_var *s = build_svdvals(b, x);
    damo_var *first = build_index(b, s, last, build_i64(b, 0)), *least = build_index(b, s, last, build_i64(b, -1));
    const bool inverse = o.kind == ORDER_P && o.p < 0;
    damo_var *q = inverse ? build_true_div(b, least, first) : build_true_div(b, first, least);
    if (q == NULL) return b->status;
    /* 0/0, of zeros; a matrix with a nan has no singular values */
    return fn_give(b, out, build_switch(b, build_isnan(b, q), build_scalar(b, var_dtype(q), HUGE_VAL), q));
  }
  x = matrix_square_operand(b, a, 0);
  x = build_float(b, x);
  if (x == NULL) return b->status;
  const prop_value on_fail = prop_str("nan"); /* the one property of the class */
  damo_var *inverse = build_core_first(b, &inv_def, &on_fail, &x, 1);
  damo_var *norm = norm_matrix(b, func, x, last, last + 1, &o, false);
  damo_var *other = inverse != NULL ? norm_matrix(b, func, inverse, last, last + 1, &o, false) : NULL;
  damo_var *c = norm != NULL && other != NULL ? build_mul(b, norm, other) : NULL;
  if (c == NULL) return b->status;
  damo_var *fails = build_and_(b, build_isnan(b, c), build_invert(b, build_isnan(b, norm)));
  return fn_give(b, out, build_switch(b, fails, build_scalar(b, var_dtype(c), HUGE_VAL), c));
}

typedef struct rank_options {
  prop_value tol, rtol, hermitian;
} rank_options;

/* The number of singular values above the tolerance, which is rtol or max(m, n)·eps times the greatest one where tol is
 * not given. */
static damo_status fn_matrix_rank(build *b, const fn_args *a, ptrvec *out) {
  const rank_options *o = FN_OPTIONS(a, rank_options);
  damo_var *x = build_float(b, matrix_operand(b, a, 0, 0)), *s;
  if (x == NULL) return b->status;
  const int ndim = var_ndim(x), last = ndim - 2;
  if (ndim < 2) {
    damo_var *any = build_reduce(b, REDUCE_ANY, build_neq(b, x, build_num(b, 0)), NULL, -1, false);
    return fn_give(b, out, any == NULL ? NULL : build_cast(b, any, DAMO_INT64));
  }
  s = prop_bool_or(o->hermitian, false) ? build_abs(b, build_eigvalsh(b, x)) : build_svdvals(b, x);
  if (s == NULL) return b->status;
  damo_var *least;
  if (prop_given(o->tol)) {
    least = build_scalar(b, var_dtype(s), prop_num_or(o->tol, 0));
  } else {
    damo_var *relative = build_maximum(b, build_dim(b, x, ndim - 2), build_dim(b, x, ndim - 1));
    const double eps = var_dtype(s) == DAMO_FLOAT32 ? FLT_EPSILON : DBL_EPSILON;
    relative = build_mul(b, build_cast(b, relative, var_dtype(s)), build_scalar(b, var_dtype(s), eps));
    if (prop_given(o->rtol)) relative = build_scalar(b, var_dtype(s), prop_num_or(o->rtol, 0));
    least = build_mul(b, build_row_max(b, s, 1), relative);
  }
  damo_var *above = build_cast(b, build_gt(b, s, least), DAMO_INT64);
  return fn_give(b, out, build_reduce(b, REDUCE_SUM, above, &last, 1, false));
}

const op_func linalg_norm_funcs[] = {
    {.name = "linalg.norm",
     .operands = "x",
     .options = OPTIONS(OPT(matrix_norm_options, ord, OPT_ANY), OPT(matrix_norm_options, axis, OPT_AXES),
                        OPT(matrix_norm_options, keepdims, OPT_BOOL)),
     .call = fn_norm,
     .no_method = true,
     .doc = "the norm of all entries, of vectors along one axis, or of matrices along two; orders as NumPy's"},
    {.name = "linalg.vector_norm",
     .operands = "x",
     .options = OPTIONS(OPT(matrix_norm_options, ord, OPT_ANY), OPT(matrix_norm_options, axis, OPT_AXES),
                        OPT(matrix_norm_options, keepdims, OPT_BOOL)),
     .call = fn_vector_norm,
     .no_method = true,
     .doc =
         "the norm of order ord (default 2) of the entries along any number of axes, all without axis, as of a vector"},
    {.name = "linalg.matrix_norm",
     .operands = "x",
     .options = OPTIONS(OPT(matrix_norm_options, ord, OPT_ANY), OPT(matrix_norm_options, keepdims, OPT_BOOL)),
     .call = fn_matrix_norm,
     .no_method = true,
     .doc = "the norms of a stack of matrices, the last two axes; orders as norm's, \"fro\" by default"},
    {.name = "linalg.cond",
     .operands = "a",
     .options = OPTIONS(OPT(cond_options, p, OPT_ANY)),
     .call = fn_cond,
     .no_method = true,
     .doc = "condition numbers of matrices for a norm of that order; by singular values where none is given"},
    {.name = "linalg.matrix_rank",
     .operands = "a",
     .options = OPTIONS(OPT(rank_options, tol, OPT_NUM), OPT(rank_options, rtol, OPT_NUM),
                        OPT(rank_options, hermitian, OPT_BOOL)),
     .call = fn_matrix_rank,
     .no_method = true,
     .doc = "the number of singular values above a tolerance"},
    {.name = NULL},
};

const op_def *const linalg_norm_classes[] = {NULL};

/* covariance: cov, corrcoef, and the running sums and products that leave out nan: compositions. */
#include <math.h>

#include "op/elem/build_arith.h"
#include "op/elem/build_math.h"
#include "reduce_int.h"

typedef struct covariance_options {
  prop_value rowvar, ddof, axis;
} covariance_options;

/* Σ (x_i - mean_i) conj(x_j - mean_j) / (n - ddof) over n observations, the columns (rowvar: default), or the rows. A
 * vector is one variable. */
static damo_var *build_covariance(build *b, const fn_args *a) {
  const covariance_options *o = FN_OPTIONS(a, covariance_options);
  const double ddof = prop_num_or(o->ddof, 1);
  const int last = 1;
  if (fn_check_tensor(a, b->ctx, 0) != DAMO_OK) return build_take(b, NULL);
  damo_var *x = build_strong(b, a->in[0]);
  if (x == NULL) return NULL;
  if (var_ndim(x) > 2)
    return build_fail(b, DAMO_ESHAPE, "%s: a vector or a matrix is expected, got %d axes", a->func->name, var_ndim(x));
  if (dtype_is_discrete(var_dtype(x))) x = build_cast(b, x, DAMO_FLOAT64);
  const bool matrix = var_ndim(x) == 2;
  while (x != NULL && var_ndim(x) < 2) x = build_new_axis(b, x, 0);
  if (x != NULL && matrix && !prop_bool_or(o->rowvar, true)) x = build_swap_last(b, x);
  if (x == NULL) return NULL;
  const damo_dtype dt = var_dtype(x), real = dtype_is_complex(dt) ? var_dtype(build_real(b, x)) : dt;
  damo_var *n = build_cast(b, build_dim(b, x, 1), real);
  damo_var *d = build_sub(b, x, build_true_div(b, build_reduce(b, REDUCE_SUM, x, &last, 1, true), n));
  if (d == NULL) return NULL;
  damo_var *products = build_dot(b, d, build_swap_last(b, build_conj_if_complex(b, d)));
  return build_true_div(b, products, build_sub(b, n, build_num(b, ddof)));
}

/* The variance of a vector, which is one variable, as a scalar. */
static damo_status covariance_give(build *b, const fn_args *a, ptrvec *out, damo_var *c) {
  const bool one = var_ndim(a->in[0]) < 2;
  return fn_give(b, out, c && one ? build_dimshuffle(b, c, NULL, 0) : c);
}

static damo_status fn_cov(build *b, const fn_args *a, ptrvec *out) {
  damo_var *c = build_covariance(b, a);
  return c ? covariance_give(b, a, out, c) : b->status;
}

/* c_ij / (√c_ii √c_jj) */
static damo_status fn_corrcoef(build *b, const fn_args *a, ptrvec *out) {
  damo_var *c = build_covariance(b, a);
  if (c == NULL) return b->status;
  damo_var *s = build_diagonal(b, c, 0, 0, 1);
  if (s != NULL && dtype_is_complex(var_dtype(s))) s = build_real(b, s);
  s = s ? build_sqrt(b, s) : NULL;
  if (s == NULL) return b->status;
  c = build_true_div(b, build_true_div(b, c, build_new_axis(b, s, 1)), build_new_axis(b, s, 0));
  return c ? covariance_give(b, a, out, c) : b->status;
}

/* A running sum or product with 0 or 1 in place of nan. */
static damo_status nan_running(build *b, const fn_args *a, ptrvec *out, const char *kind, double in_place) {
  const prop_value at = FN_OPTIONS(a, covariance_options)->axis;
  int axis = 0;
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  damo_var *x = build_strong(b, a->in[0]);
  if (x == NULL) return b->status;
  if (!prop_given(at) || var_ndim(x) == 0) x = build_ravel(b, x);
  if (x == NULL) return b->status;
  if (prop_given(at)) DAMO_TRY(axis_check(b->ctx, a->func->name, prop_int_or(at, 1), var_ndim(x), &axis));
  if (!dtype_is_discrete(var_dtype(x))) x = build_switch(b, build_isnan(b, x), build_num(b, in_place), x);
  if (x == NULL) return b->status;
  x = build_cast(b, x, reduce_out_dtype(REDUCE_SUM, var_dtype(x)));
  return fn_give(b, out, x ? build_cumulative(b, kind, x, axis, false) : NULL);
}

static damo_status fn_nancumsum(build *b, const fn_args *a, ptrvec *out) { return nan_running(b, a, out, "cumsum", 0); }
static damo_status fn_nancumprod(build *b, const fn_args *a, ptrvec *out) {
  return nan_running(b, a, out, "cumprod", 1);
}

const op_func covariance_funcs[] = {
    {.name = "cov",
     .operands = "x",
     .options = OPTIONS(OPT(covariance_options, rowvar, OPT_BOOL), OPT(covariance_options, ddof, OPT_NUM)),
     .call = fn_cov,
     .doc = "the covariances of the rows of a matrix (rowvar false: of its columns), divided by n - ddof (default 1)"},
    {.name = "corrcoef",
     .operands = "x",
     .options = OPTIONS(OPT(covariance_options, rowvar, OPT_BOOL)),
     .call = fn_corrcoef,
     .doc = "the correlations of the rows of a matrix (rowvar false: of its columns)"},
    {.name = "nancumsum",
     .operands = "x",
     .options = OPTIONS(OPT(covariance_options, axis, OPT_INT)),
     .call = fn_nancumsum,
     .doc = "running sum along an axis, nan counted as 0; nil: of x flattened"},
    {.name = "nancumprod",
     .operands = "x",
     .options = OPTIONS(OPT(covariance_options, axis, OPT_INT)),
     .call = fn_nancumprod,
     .doc = "running product along an axis, nan counted as 1; nil: of x flattened"},
    {.name = NULL},
};

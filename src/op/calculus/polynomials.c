/* polynomials: polyfit, roots: compositions of least squares and eigenvalues; sums, products, derivatives and integrals
 * of polynomials, which are vectors of coefficients, the highest power first. */
#include "calculus_int.h"

#include <string.h>

#include "op/linalg/decompose.h"

/* ---- polyfit ----------------------------------------------------------------------------------------------------- */

/* x, y and the weights (NULL: none) as floats of one dtype. */
static damo_status polyfit_operands(build *b, const fn_args *a, damo_var **v) {
  const prop_value w = FN_OPTIONS(a, calculus_options)->w;
  const int n = prop_given(w) ? 3 : 2;
  for (int i = 0; i < 2; i++) {
    DAMO_TRY(fn_check_tensor(a, b->ctx, i));
    v[i] = a->in[i];
  }
  if (prop_given(w) && (w.kind != PROP_VAR || !type_is_tensor(w.u.var->type)))
    return ctx_fail(b->ctx, DAMO_ETYPE, "polyfit: the weights w are a vector");
  v[2] = n == 3 ? w.u.var : NULL;
  DAMO_TRY(build_resolve(b, v, n, true, v));
  const damo_dtype dt = dtype_to_float(var_dtype(v[0])) == DAMO_FLOAT32 && dtype_is_discrete(var_dtype(v[0]))
                            ? DAMO_FLOAT64
                            : dtype_to_float(var_dtype(v[0]));
  for (int i = 0; i < n; i++) v[i] = build_cast(b, v[i], dt);
  if (b->status != DAMO_OK) return b->status;
  if (var_ndim(v[0]) != 1 || var_ndim(v[1]) < 1 || var_ndim(v[1]) > 2 || (v[2] && var_ndim(v[2]) != 1))
    return ctx_fail(b->ctx, DAMO_ESHAPE, "polyfit: x and the weights are vectors, y a vector or a matrix");
  for (int i = 1; i < n; i++) {
    const int64_t points = v[0]->type->shape[0], other = v[i]->type->shape[0];
    if (points >= 0 && other >= 0 && points != other)
      return ctx_fail(b->ctx, DAMO_ESHAPE, "polyfit: %lld points x, %lld %s", (long long)points, (long long)other,
                      i == 1 ? "values y" : "weights w");
  }
  return DAMO_OK;
}

/* Least squares with the powers of x as columns, each scaled to length 1. */
damo_status fn_polyfit(build *b, const fn_args *a, ptrvec *out) {
  const calculus_options *o = FN_OPTIONS(a, calculus_options);
  const int64_t deg = prop_int_or(o->deg, -1), most = 1000;
  const int rows = 0;
  damo_var *v[3];
  if (!prop_given(o->deg)) return ctx_fail(b->ctx, DAMO_ETYPE, "polyfit: the degree deg is missing");
  if (deg < 0 || deg > most)
    return ctx_fail(b->ctx, DAMO_EVALUE, "polyfit: the degree lies between 0 and %lld, got %lld", (long long)most,
                    (long long)deg);
  DAMO_TRY(polyfit_operands(b, a, v));
  const bool vector = var_ndim(v[1]) == 1;
  if (v[0]->type->shape[0] == 0) return ctx_fail(b->ctx, DAMO_EVALUE, "polyfit: there is no point");
  damo_var *powers = build_power_rows(b, v[0], build_i64(b, deg + 1)), *y = v[1];
  if (v[2] != NULL) {
    damo_var *w = build_new_axis(b, v[2], 1);
    powers = build_mul(b, powers, w);
    y = build_mul(b, y, vector ? v[2] : w);
  }
  damo_var *size = powers ? build_reduce(b, REDUCE_SUM, build_sqr(b, build_abs(b, powers)), &rows, 1, false) : NULL;
  if (size == NULL) return b->status;
  damo_var *one = build_num(b, 1);
  size = build_sqrt(b, build_switch(b, build_eq(b, size, build_num(b, 0)), one, size));
  const rcond_props p = {.rcond = o->rcond, .vector = prop_bool(vector)};
  damo_var *scaled = build_true_div(b, powers, size);
  damo_var *c = build_core_first(b, &lstsq_def, &p, (damo_var *const[]){scaled, y}, 2);
  return fn_give(b, out, c ? build_true_div(b, c, vector ? size : build_new_axis(b, size, 1)) : NULL);
}

/* ---- roots ------------------------------------------------------------------------------------------------------- */

/* The entries of p from the first to the last that is not 0, and how many zeros follow. Of zeros alone the first, and
 * none. */
static damo_var *without_outer_zeros(build *b, damo_var *p, damo_var **zeros) {
  const int axis = 0;
  damo_var *is = build_neq(b, p, build_int(b, 0)), *one = build_i64(b, 1), *n = build_dim(b, p, 0);
  if (is == NULL || n == NULL) return NULL;
  damo_var *some = build_reduce(b, REDUCE_ANY, is, &axis, 1, false);
  damo_var *first = build_reduce(b, REDUCE_ARGMAX, is, &axis, 1, false);
  damo_var *back = build_reduce(b, REDUCE_ARGMAX, build_slice(b, is, 0, NULL, NULL, -1), &axis, 1, false);
  *zeros = build_switch(b, some, build_sub(b, back, one), build_i64(b, 0));
  damo_var *stop = build_switch(b, some, build_sub(b, n, *zeros), one);
  if (first == NULL || stop == NULL) return NULL;
  return build_slice(b, p, 0, build_sub(b, first, one), stop, 1);
}

/* The eigenvalues of the companion matrix, whose first row is -p[2 ..] / p[1] and which has ones below the diagonal. */
damo_status fn_roots(build *b, const fn_args *a, ptrvec *out) {
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  damo_var *p = build_strong(b, a->in[0]), *zeros, *one = build_i64(b, 1);
  if (p == NULL) return b->status;
  if (var_ndim(p) != 1)
    return ctx_fail(b->ctx, DAMO_ESHAPE, "roots: the coefficients must be a vector, got %d axes", var_ndim(p));
  if (p->type->shape[0] == 0) return ctx_fail(b->ctx, DAMO_EVALUE, "roots: there is no coefficient");
  if (dtype_is_discrete(var_dtype(p))) p = build_cast(b, p, DAMO_FLOAT64);
  p = without_outer_zeros(b, p, &zeros);
  if (p == NULL) return b->status;
  damo_var *degree = build_sub(b, build_dim(b, p, 0), one);
  damo_var *top =
      build_neg(b, build_true_div(b, build_slice(b, p, 0, one, NULL, 1), build_slice(b, p, 0, NULL, one, 1)));
  damo_var *range = build_range(b, one, degree);
  damo_var *i = build_dimshuffle(b, range, (const int[]){0, -1}, 2),
           *j = build_dimshuffle(b, range, (const int[]){-1, 0}, 2);
  damo_var *below = build_cast(b, build_eq(b, i, build_add(b, j, one)), var_dtype(p));
  damo_var *companion = build_switch(b, build_eq(b, i, one), build_dimshuffle(b, top, (const int[]){-1, 0}, 2), below);
  damo_var *found = build_core_first(b, &eigvals_def, NULL, &companion, 1);
  if (found == NULL) return b->status;
  damo_var *rest = build_alloc(b, build_scalar(b, var_dtype(found), 0), &zeros, 1);
  return fn_give(b, out, build_join(b, "roots", 0, (damo_var *const[]){found, rest}, 2));
}

/* ---- Arithmetic -------------------------------------------------------------------------------------------------- */

/* Operand i as a vector of coefficients; NULL: it is none (the scope has failed). */
static damo_var *polynomial_of(build *b, const fn_args *a, int i, damo_var *x) {
  if (x == NULL) return NULL;
  if (var_ndim(x) > 1)
    return build_fail(b, DAMO_ESHAPE, "%s: the coefficients of operand %d must be a vector, got %d axes", a->func->name,
                      i + 1, var_ndim(x));
  return build_ravel(b, x);
}

static damo_status two_polynomials(build *b, const fn_args *a, damo_var **p) {
  for (int i = 0; i < 2; i++) DAMO_TRY(fn_check_tensor(a, b->ctx, i));
  DAMO_TRY(build_resolve(b, a->in, 2, true, p));
  for (int i = 0; i < 2; i++) p[i] = polynomial_of(b, a, i, p[i]);
  return b->status;
}

/* p with zeros before it, so that it has n coefficients; no longer than these. */
static damo_var *polynomial_filled(build *b, damo_var *p, damo_var *n) {
  damo_var *missing = build_length_sub(b, n, build_dim(b, p, 0));
  int64_t known;
  if (missing == NULL || (var_static_int(missing, &known) && known == 0)) return p;
  damo_var *zeros = build_alloc(b, build_scalar(b, var_dtype(p), 0), &missing, 1);
  return build_join(b, "polyadd", 0, (damo_var *const[]){zeros, p}, 2);
}

damo_status fn_polyadd(build *b, const fn_args *a, ptrvec *out) {
  damo_var *p[2];
  DAMO_TRY(two_polynomials(b, a, p));
  damo_var *m = build_dim(b, p[0], 0), *n = build_dim(b, p[1], 0), *most;
  int64_t i, j;
  if (m == NULL || n == NULL) return b->status;
  most = var_static_int(m, &i) && var_static_int(n, &j) ? (i < j ? n : m) : build_maximum(b, m, n);
  for (int k = 0; k < 2; k++) p[k] = polynomial_filled(b, p[k], most);
  const bool sum = strcmp(a->func->name, "polyadd") == 0;
  return fn_give(b, out, !p[0] || !p[1] ? NULL : sum ? build_add(b, p[0], p[1]) : build_sub(b, p[0], p[1]));
}

damo_status fn_polymul(build *b, const fn_args *a, ptrvec *out) {
  damo_var *p[2];
  DAMO_TRY(two_polynomials(b, a, p));
  for (int i = 0; i < 2; i++)
    if (p[i]->type->shape[0] == 0) return ctx_fail(b->ctx, DAMO_EVALUE, "polymul: operand %d is empty", i + 1);
  const damo_dtype dt = var_dtype(p[0]), wide = dtype_is_discrete(dt) && dt != DAMO_UINT64 ? DAMO_INT64 : dt;
  damo_var *y = build_convolution(b, build_cast(b, p[0], wide), build_cast(b, p[1], wide));
  return fn_give(b, out, y ? build_cast(b, y, dt == DAMO_BOOL ? wide : dt) : NULL);
}

/* The polynomial of a call, of int64 or a float or complex dtype, and how many times it is derived or integrated. */
static damo_status one_polynomial(build *b, const fn_args *a, damo_var **p, int64_t *times) {
  const prop_value m = FN_OPTIONS(a, calculus_options)->m;
  const int64_t most = 1000;
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  *p = polynomial_of(b, a, 0, build_strong(b, a->in[0]));
  *times = prop_int_or(m, 1);
  if (*times < 0 || *times > most)
    return ctx_fail(b->ctx, DAMO_EVALUE, "%s: the order m lies between 0 and %lld, got %lld", a->func->name,
                    (long long)most, (long long)*times);
  if (*p != NULL && dtype_is_discrete(var_dtype(*p)) && var_dtype(*p) != DAMO_UINT64)
    *p = build_cast(b, *p, DAMO_INT64);
  return b->status;
}

damo_status fn_polyder(build *b, const fn_args *a, ptrvec *out) {
  damo_var *p;
  int64_t times;
  DAMO_TRY(one_polynomial(b, a, &p, &times));
  for (int64_t i = 0; i < times && p != NULL; i++) p = build_polynomial_derivative(b, p);
  return fn_give(b, out, p);
}

/* The constant of integration number i of `times`. NULL: the scope has failed. */
static damo_var *integration_constant(build *b, const prop_value *k, int64_t i, int64_t times, damo_dtype dt) {
  const prop_value *one = k->kind == PROP_LIST && k->n == 1 ? &k->u.list[0] : k;
  if (k->kind == PROP_LIST && k->n == times) one = &k->u.list[i];
  if (!prop_given(*one)) return build_scalar(b, dt, 0);
  if (one->kind == PROP_INT || one->kind == PROP_NUM) return build_scalar(b, dt, prop_num_or(*one, 0));
  if (one->kind == PROP_VAR && type_is_tensor(one->u.var->type)) {
    damo_var *v = one->u.var;
    const int64_t n = var_ndim(v) == 1 ? v->type->shape[0] : 0;
    if (var_ndim(v) == 1 && one == k && (n == 1 || n == times || n < 0))
      v = build_index(b, v, 0, build_i64(b, n == 1 ? 0 : i));
    if (var_ndim(v) == 0) return build_cast(b, v, dt);
  }
  return build_fail(b, DAMO_ETYPE, "polyint: the constants k are one number or a list of m");
}

/* p[j] / (n - j), and the constant. */
damo_status fn_polyint(build *b, const fn_args *a, ptrvec *out) {
  const calculus_options *o = FN_OPTIONS(a, calculus_options);
  damo_var *p, *one = build_i64(b, 1);
  int64_t times;
  DAMO_TRY(one_polynomial(b, a, &p, &times));
  if (p != NULL && dtype_is_discrete(var_dtype(p)) && times > 0) p = build_cast(b, p, DAMO_FLOAT64);
  for (int64_t i = 0; i < times && p != NULL; i++) {
    damo_var *powers = build_slice(b, build_range(b, one, build_dim(b, p, 0)), 0, NULL, NULL, -1);
    damo_var *k = integration_constant(b, &o->k, i, times, var_dtype(p));
    if (powers == NULL || k == NULL) return b->status;
    p = build_true_div(b, p, build_cast(b, powers, var_dtype(p)));
    p = p ? build_join(b, "polyint", 0, (damo_var *const[]){p, build_new_axis(b, k, 0)}, 2) : NULL;
  }
  return fn_give(b, out, p);
}

/* statistics: average, count_nonzero, median, quantile, percentile, mode: functions made of reductions and of sorting.
 *
 * The last four sort: the reduced axes are made one, the last, and each slice along it is sorted with nan last. Where a
 * slice holds a nan, its result is nan.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "op/elem/build_arith.h"
#include "reduce_int.h"

/* ---- average, count_nonzero -------------------------------------------------------------------------------------- */

typedef struct average_options {
  prop_value axis, keepdims, returned;
} average_options;

/* w with its axes at the places of the reduced axes of x, whose lengths they are: as NumPy takes weights of fewer
 * axes. */
static damo_var *weights_along(build *b, const reduce_call *c, damo_var *w) {
  int pattern[DAMO_MAX_NDIM], next = 0;
  const int ndim = var_ndim(c->x);
  for (int k = 0; k < ndim; k++) pattern[k] = next < c->n && c->axes[next] == k ? next++ : -1;
  if (var_ndim(w) == c->n) return build_dimshuffle(b, w, pattern, ndim);
  return build_fail(b, DAMO_ESHAPE, "average: the weights have %d axes, for an operand of %d axes, %d of them averaged",
                    var_ndim(w), ndim, c->n);
}

static damo_status average_read_call(build *b, const fn_args *a, reduce_call *c) {
  const average_options *o = FN_OPTIONS(a, average_options);
  *c = (reduce_call){.keepdims = prop_bool_or(o->keepdims, false), .dtype = DAMO_N_DTYPES};
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  DAMO_TRY(axes_check(b->ctx, "average", &o->axis, var_ndim(a->in[0]), c->axes, &c->n));
  return build_resolve(b, a->in, 1, false, &c->x);
}

/* Σ w x / Σ w. Without weights each is 1. */
static damo_status fn_average(build *b, const fn_args *a, ptrvec *out) {
  reduce_call c;
  DAMO_TRY(average_read_call(b, a, &c));
  damo_var *w = a->in[1];
  if (w == NULL) w = build_scalar(b, DAMO_BOOL, 1);
  if (a->in[1] != NULL) DAMO_TRY(fn_check_tensor(a, b->ctx, 1));
  w = build_strong(b, w);
  if (w == NULL) return b->status;
  damo_dtype dt = dtype_promote(var_dtype(c.x), var_dtype(w));
  if (dtype_is_discrete(dt)) dt = DAMO_FLOAT64;
  damo_var *x = build_cast(b, c.x, dt);
  w = build_cast(b, w, dt);
  if (a->in[1] != NULL && var_ndim(w) != var_ndim(x)) w = weights_along(b, &c, w);
  w = build_fill(b, x, w);
  damo_var *total = build_reduce(b, REDUCE_SUM, w, c.axes, c.n, c.keepdims);
  if (a->in[1] != NULL)
    total = build_assert(b, total, build_neq(b, total, build_num(b, 0)), "average: the weights add up to 0");
  damo_var *sum = build_reduce(b, REDUCE_SUM, a->in[1] ? build_mul(b, x, w) : x, c.axes, c.n, c.keepdims);
  DAMO_TRY(fn_give(b, out, build_true_div(b, sum, total)));
  const bool returned = prop_bool_or(FN_OPTIONS(a, average_options)->returned, false);
  return returned ? fn_give(b, out, total) : DAMO_OK;
}

static damo_status fn_count_nonzero(build *b, const fn_args *a, ptrvec *out) {
  reduce_call c;
  DAMO_TRY(reduce_read_call(b, a, &c));
  damo_var *is = var_dtype(c.x) == DAMO_BOOL ? c.x : build_neq(b, c.x, build_int(b, 0));
  return fn_give(b, out, build_reduce(b, REDUCE_SUM, is, c.axes, c.n, c.keepdims));
}

/* ---- Slices ------------------------------------------------------------------------------------------------------ */

/* x's slices over the reduced axes as the last axis of a tensor, sorted along it, nan last. */
typedef struct sorted_slices {
  damo_var *sorted; /* (kept axes…, n) */
  damo_var *n;      /* int64 scalar */
  damo_var *count;  /* (kept axes…, 1): how many entries of each slice are no nan; NULL: a nan makes the slice nan */
  int axes[DAMO_MAX_NDIM], n_axes, ndim;
  bool keepdims;
} sorted_slices;

/* x with the reduced axes made one, the last. */
static damo_var *slices_last(build *b, damo_var *x, const int *axes, int n) {
  int pattern[DAMO_MAX_NDIM];
  damo_var *dims[DAMO_MAX_NDIM + 1], *length = build_i64(b, 1);
  const int ndim = var_ndim(x), kept = ndim - n;
  for (int k = 0, next = 0, at = 0; k < ndim; k++) {
    const bool reduced = next < n && axes[next] == k;
    pattern[reduced ? kept + next++ : at++] = k;
  }
  bool in_order = true;
  for (int k = 0; k < ndim; k++) in_order = in_order && pattern[k] == k;
  if (!in_order) x = build_dimshuffle(b, x, pattern, ndim);
  if (n == 1 || x == NULL) return x;
  for (int k = 0; k < kept; k++) dims[k] = build_dim(b, x, k);
  for (int k = kept; k < ndim; k++) {
    const int64_t known = x->type->shape[k];
    int64_t so_far;
    damo_var *dim = build_dim(b, x, k);
    length = known >= 0 && var_static_int(length, &so_far) ? build_i64(b, so_far * known) : build_mul(b, length, dim);
  }
  dims[kept] = length;
  return build_reshape(b, x, build_vector(b, dims, kept + 1), kept + 1);
}

/* The number or numbers n that positions are computed from, which fail where slices, x's last axis, are empty. */
static damo_var *slices_some(build *b, const fn_args *a, damo_var *x, damo_var *n) {
  const int last = var_ndim(x) - 1;
  if (x->type->shape[last] > 0) return n;
  char text[80];
  snprintf(text, sizeof text, "%s: the reduced axes have no elements", a->func->name);
  return build_assert(b, n, build_gt(b, build_dim(b, x, last), build_i64(b, 0)), text);
}

static damo_status slices_sort(build *b, const fn_args *a, const prop_value *axis, bool keepdims, damo_dtype dt,
                               sorted_slices *s) {
  damo_var *x;
  *s = (sorted_slices){.keepdims = keepdims};
  DAMO_TRY(axes_check(b->ctx, a->func->name, axis, var_ndim(a->in[0]), s->axes, &s->n_axes));
  DAMO_TRY(build_resolve(b, a->in, 1, false, &x));
  s->ndim = var_ndim(x);
  x = slices_last(b, build_cast(b, x, dt), s->axes, s->n_axes);
  if (x == NULL) return b->status;
  const int last = var_ndim(x) - 1;
  if (x->type->shape[last] == 0)
    return ctx_fail(b->ctx, DAMO_EVALUE, "%s: the reduced axes have no elements", a->func->name);
  s->sorted = build_take_along_axis(b, x, build_argsort(b, x, last), last);
  s->n = slices_some(b, a, x, build_dim(b, x, last));
  return b->status;
}

/* Lets the functions leave out what is nan: it stands last. */
static void slices_leave_out_nan(build *b, const fn_args *a, sorted_slices *s) {
  if (s->sorted == NULL || dtype_is_discrete(var_dtype(s->sorted))) return;
  const int last = var_ndim(s->sorted) - 1;
  damo_var *count = build_reduce(b, REDUCE_SUM, build_eq(b, s->sorted, s->sorted), &last, 1, true);
  s->count = count != NULL ? slices_some(b, a, s->sorted, count) : NULL;
}

/* How many entries of a slice count: a scalar, or of the shape of the kept axes and one more. */
static damo_var *slices_count(const sorted_slices *s) { return s->count != NULL ? s->count : s->n; }

/* The sorted entries at 1-based positions: a vector of them, or of count's shape but for its last axis. */
static damo_var *slices_take(build *b, const sorted_slices *s, damo_var *at) {
  if (s->sorted == NULL || at == NULL) return NULL;
  const int last = var_ndim(s->sorted) - 1;
  return s->count != NULL ? build_take_along_axis(b, s->sorted, at, last) : build_take_axis(b, s->sorted, at, last);
}

/* y, of the shape of the kept axes and one more, with nan for the slices that hold one. */
static damo_var *slices_poison(build *b, const sorted_slices *s, damo_var *y) {
  if (s->sorted == NULL || s->count != NULL || dtype_is_discrete(var_dtype(s->sorted))) return y;
  const int last = var_ndim(s->sorted) - 1;
  damo_var *poisoned = build_reduce(b, REDUCE_ANY, build_isnan(b, s->sorted), &last, 1, true);
  return build_switch(b, poisoned, build_num(b, NAN), y);
}

/* The reduced axes put back as ones where they are kept, `before` axes standing before those of x. */
static damo_var *slices_expand(build *b, const sorted_slices *s, damo_var *y, int before) {
  int axes[DAMO_MAX_NDIM];
  if (!s->keepdims || y == NULL) return y;
  for (int i = 0; i < s->n_axes; i++) axes[i] = s->axes[i] + before;
  return build_expand_axes(b, y, s->ndim + before, axes, s->n_axes);
}

/* ---- Quantiles --------------------------------------------------------------------------------------------------- */

typedef struct quantile_options {
  prop_value q, axis, keepdims, method;
} quantile_options;

/* How a method finds the place v, counted from 0, among n sorted values, and its weight t between floor(v) and the next
 * one. The names and formulas are NumPy's, after Hyndman and Fan, Sample quantiles in statistical packages, The American
 * Statistician 50 (1996). */
typedef enum quantile_rule {
  QUANTILE_LINE,     /* v = n q + alpha + q (1 - alpha - beta) - 1, t its fraction */
  QUANTILE_AVERAGED, /* v = n q - 1, t = 1, at whole v 1/2 */
  QUANTILE_INVERTED, /* the value at ceil(n q - 1) */
  QUANTILE_CLOSEST,  /* the value at n q - 3/2 rounded up, at an odd whole one itself */
  QUANTILE_LOWER,    /* the value at floor((n - 1) q) */
  QUANTILE_HIGHER,   /* at ceil((n - 1) q) */
  QUANTILE_NEAREST,  /* at (n - 1) q rounded, halves to even */
  QUANTILE_MIDPOINT  /* v = (n - 1) q, t = 1/2, at whole v 0 */
} quantile_rule;

static const struct {
  const char *name;
  quantile_rule rule;
  double alpha, beta;
} quantile_methods[] = {
    {"linear", QUANTILE_LINE, 1, 1},
    {"inverted_cdf", QUANTILE_INVERTED, 0, 0},
    {"averaged_inverted_cdf", QUANTILE_AVERAGED, 0, 0},
    {"closest_observation", QUANTILE_CLOSEST, 0, 0},
    {"interpolated_inverted_cdf", QUANTILE_LINE, 0, 1},
    {"hazen", QUANTILE_LINE, 0.5, 0.5},
    {"weibull", QUANTILE_LINE, 0, 0},
    {"median_unbiased", QUANTILE_LINE, 1.0 / 3, 1.0 / 3},
    {"normal_unbiased", QUANTILE_LINE, 3.0 / 8, 3.0 / 8},
    {"lower", QUANTILE_LOWER, 1, 1},
    {"higher", QUANTILE_HIGHER, 1, 1},
    {"midpoint", QUANTILE_MIDPOINT, 1, 1},
    {"nearest", QUANTILE_NEAREST, 1, 1},
};
#define N_QUANTILE_METHODS ((int)(sizeof quantile_methods / sizeof *quantile_methods))

static bool quantile_takes_one(quantile_rule r) {
  return r == QUANTILE_INVERTED || r == QUANTILE_CLOSEST || r == QUANTILE_LOWER || r == QUANTILE_HIGHER ||
         r == QUANTILE_NEAREST;
}

/* The place v, which may lie outside 0 … n - 1, of q among n values (float64). For a method that takes one value it is
 * whole. */
static damo_var *quantile_place(build *b, int method, damo_var *n, damo_var *q) {
  const double alpha = quantile_methods[method].alpha, beta = quantile_methods[method].beta;
  damo_var *one = build_num(b, 1);
  damo_var *within = build_mul(b, build_sub(b, n, one), q), *of_n = build_mul(b, n, q);
  switch (quantile_methods[method].rule) {
    case QUANTILE_LINE: {
      if (alpha == 1 && beta == 1) return within;
      damo_var *shift = build_add(b, build_num(b, alpha), build_mul(b, q, build_num(b, 1 - alpha - beta)));
      return build_sub(b, build_add(b, of_n, shift), one);
    }
    case QUANTILE_AVERAGED: return build_sub(b, of_n, one);
    case QUANTILE_INVERTED: return build_ceil(b, build_sub(b, of_n, one));
    case QUANTILE_CLOSEST: {
      damo_var *v = build_sub(b, build_sub(b, of_n, one), build_num(b, 0.5)), *down = build_floor(b, v);
      damo_var *odd = build_eq(b, build_mod(b, down, build_num(b, 2)), one);
      damo_var *stays = build_and_(b, build_eq(b, v, down), odd);
      return build_switch(b, stays, down, build_add(b, down, one));
    }
    case QUANTILE_LOWER: return build_floor(b, within);
    case QUANTILE_HIGHER: return build_ceil(b, within);
    case QUANTILE_NEAREST: return build_round_half_to_even(b, within);
    case QUANTILE_MIDPOINT: break;
  }
  return within;
}

/* The weight t of v's upper neighbour, down being floor(v). */
static damo_var *quantile_weight(build *b, quantile_rule rule, damo_var *v, damo_var *down) {
  damo_var *t = build_sub(b, v, down), *whole = build_eq(b, t, build_num(b, 0));
  damo_var *half = build_scalar(b, DAMO_FLOAT64, 0.5);
  if (rule == QUANTILE_AVERAGED) return build_switch(b, whole, half, build_num(b, 1));
  if (rule == QUANTILE_MIDPOINT) return build_switch(b, whole, build_num(b, 0), half);
  return t;
}

/* a + t (c - a), from the nearer end, so that it is c at t = 1. Between infinities (1 - t) a + t c, and a where t is 0
 * or a = c. */
static damo_var *quantile_between(build *b, damo_var *a, damo_var *c, damo_var *t) {
  damo_var *d = build_sub(b, c, a), *rest = build_sub(b, build_num(b, 1), t);
  damo_var *line = build_switch(b, build_lt(b, t, build_num(b, 0.5)), build_add(b, a, build_mul(b, d, t)),
                                build_sub(b, c, build_mul(b, d, rest)));
  damo_var *mixed = build_add(b, build_mul(b, a, rest), build_mul(b, c, t));
  damo_var *lower = build_or_(b, build_eq(b, t, build_num(b, 0)), build_eq(b, a, c));
  return build_switch(b, build_isfinite(b, d), line, build_switch(b, lower, a, mixed));
}

/* The sorted values at the places v, clipped to 0 … n - 1, along the last axis. */
static damo_var *quantile_take(build *b, const sorted_slices *s, damo_var *n, damo_var *v) {
  damo_var *top = build_sub(b, n, build_num(b, 1));
  damo_var *at = build_maximum(b, build_minimum(b, v, top), build_num(b, 0));
  return slices_take(b, s, build_cast(b, build_add(b, at, build_num(b, 1)), DAMO_INT64));
}

/* The values of q (float64, a scalar or a vector) along the last axis, which is 1 where q is a scalar. */
static damo_var *quantile_values(build *b, const sorted_slices *s, int method, damo_var *q) {
  damo_var *n = build_cast(b, slices_count(s), DAMO_FLOAT64);
  if (q != NULL && var_ndim(q) == 0) q = build_new_axis(b, q, 0);
  damo_var *v = quantile_place(b, method, n, q);
  if (v == NULL) return NULL;
  if (quantile_takes_one(quantile_methods[method].rule)) return quantile_take(b, s, n, v);
  damo_var *down = build_floor(b, v), *up = build_add(b, down, build_num(b, 1));
  damo_var *t = build_cast(b, quantile_weight(b, quantile_methods[method].rule, v, down), var_dtype(s->sorted));
  return quantile_between(b, quantile_take(b, s, n, down), quantile_take(b, s, n, up), t);
}

/* The shape of a number or of nested lists of numbers; their rank, or -1 where it exceeds DAMO_MAX_NDIM. */
static int nested_shape(const prop_value *v, int64_t *shape) {
  int ndim = 0;
  for (; v->kind == PROP_LIST; v = v->u.list) {
    if (ndim == DAMO_MAX_NDIM) return -1;
    shape[ndim++] = v->n;
    if (v->n == 0) break;
  }
  return ndim;
}

/* Writes the numbers of v, lists of that shape, to *at on; false where it has another shape or something else. */
static bool nested_read(const prop_value *v, const int64_t *shape, int ndim, double **at) {
  if (ndim == 0) {
    *(*at)++ = prop_num_or(*v, 0);
    return v->kind == PROP_NUM || v->kind == PROP_INT;
  }
  if (v->kind != PROP_LIST || v->n != shape[0]) return false;
  for (int i = 0; i < v->n; i++) {
    if (!nested_read(&v->u.list[i], shape + 1, ndim - 1, at)) return false;
  }
  return true;
}

/* q in the option, a number or nested lists of numbers, as a constant. */
static damo_var *quantile_option(build *b, const char *func, const prop_value *o) {
  int64_t shape[DAMO_MAX_NDIM];
  const int ndim = nested_shape(o, shape);
  damo_array *a = ndim < 0 ? NULL : array_empty(b->ctx, DAMO_FLOAT64, ndim, shape);
  if (ndim >= 0 && a == NULL) return build_take(b, NULL);
  double *at = a ? (double *)a->data : NULL;
  if (a == NULL || !nested_read(o, shape, ndim, &at)) {
    damo_release(a);
    return build_fail(b, DAMO_ETYPE, "%s: q must be a number or a list of numbers, nested lists of equal lengths",
                      func);
  }
  return build_value(b, &a->obj);
}

/* q as float64, checked to lie in 0 … most and divided by it. */
static damo_var *quantile_q(build *b, const fn_args *a, double most) {
  const prop_value *o = &FN_OPTIONS(a, quantile_options)->q;
  const char *func = a->func->name;
  char text[80];
  damo_var *q = a->in[1];
  if (q == NULL && o->kind == PROP_VAR) q = o->u.var;
  if (q == NULL && !prop_given(*o)) return build_fail(b, DAMO_ETYPE, "%s: q is missing", func);
  if (q == NULL) q = quantile_option(b, func, o);
  q = build_strong(b, q);
  if (q == NULL) return NULL;
  if (!type_is_tensor(q->type) || dtype_is_complex(var_dtype(q)))
    return build_fail(b, DAMO_ETYPE, "%s: q must be a tensor of real numbers", func);
  q = build_cast(b, q, DAMO_FLOAT64);
  damo_var *inside = build_and_(b, build_ge(b, q, build_num(b, 0)), build_le(b, q, build_num(b, most)));
  snprintf(text, sizeof text, "%s: q lies outside 0 … %g", func, most);
  q = build_assert(b, q, inside, text);
  return most == 1 ? q : build_true_div(b, q, build_num(b, most));
}

static damo_status quantile_method(build *b, const fn_args *a, int *method) {
  const char *name = prop_str_or(FN_OPTIONS(a, quantile_options)->method, "linear");
  for (*method = 0; *method < N_QUANTILE_METHODS; ++*method) {
    if (strcmp(quantile_methods[*method].name, name) == 0) return DAMO_OK;
  }
  return ctx_fail(b->ctx, DAMO_EVALUE, "%s: there is no method '%s'", a->func->name, name);
}

/* The dtype of quantiles of x: integers where the method takes one value, else floats. */
static damo_status quantile_dtype(build *b, const fn_args *a, bool takes_one, damo_dtype *dt) {
  *dt = var_dtype(a->in[0]);
  if (dtype_is_complex(*dt))
    return ctx_fail(b->ctx, DAMO_ETYPE, "%s is not defined for %s", a->func->name, dtype_name(*dt));
  if (dtype_is_discrete(*dt) && !takes_one) *dt = DAMO_FLOAT64;
  return DAMO_OK;
}

static bool leaves_out_nan(const fn_args *a) { return strncmp(a->func->name, "nan", 3) == 0; }

/* y with q's axes in place of its first one, along which the entries of q lie. */
static damo_var *quantile_axes(build *b, damo_var *y, damo_var *q) {
  damo_var *dims[DAMO_MAX_NDIM];
  const int listed = var_ndim(q);
  if (y == NULL) return NULL;
  for (int i = 0; i < listed; i++) dims[i] = build_dim(b, q, i);
  for (int i = 1; i < var_ndim(y); i++) dims[listed + i - 1] = build_dim(b, y, i);
  const int n = listed + var_ndim(y) - 1;
  return build_reshape(b, y, build_vector(b, dims, n), n);
}

static damo_status fn_quantile(build *b, const fn_args *a, ptrvec *out) {
  const quantile_options *o = FN_OPTIONS(a, quantile_options);
  sorted_slices s;
  int method, pattern[DAMO_MAX_NDIM] = {0};
  damo_dtype dt;
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  DAMO_TRY(quantile_method(b, a, &method));
  damo_var *q = quantile_q(b, a, strstr(a->func->name, "percentile") != NULL ? 100 : 1);
  if (q == NULL) return b->status;
  DAMO_TRY(quantile_dtype(b, a, quantile_takes_one(quantile_methods[method].rule), &dt));
  DAMO_TRY(slices_sort(b, a, &o->axis, prop_bool_or(o->keepdims, false), dt, &s));
  if (leaves_out_nan(a)) slices_leave_out_nan(b, a, &s);
  const int listed = var_ndim(q);
  damo_var *y = slices_poison(b, &s, quantile_values(b, &s, method, listed > 1 ? build_ravel(b, q) : q));
  if (y == NULL) return b->status;
  const int kept = var_ndim(y) - 1;
  if (kept + listed > DAMO_MAX_NDIM)
    return ctx_fail(b->ctx, DAMO_ESHAPE, "%s: the result would have %d axes", a->func->name, kept + listed);
  if (listed) pattern[0] = kept;
  for (int k = 0; k < kept; k++) pattern[k + (listed > 0)] = k;
  y = build_dimshuffle(b, y, pattern, kept + (listed > 0));
  if (listed > 1) y = quantile_axes(b, y, q);
  return fn_give(b, out, slices_expand(b, &s, y, listed));
}

/* The middle value, or the mean of the two in the middle. */
static damo_status fn_median(build *b, const fn_args *a, ptrvec *out) {
  const reduce_options *o = FN_OPTIONS(a, reduce_options);
  sorted_slices s;
  damo_dtype dt;
  int pattern[DAMO_MAX_NDIM];
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  DAMO_TRY(quantile_dtype(b, a, false, &dt));
  DAMO_TRY(slices_sort(b, a, &o->axis, prop_bool_or(o->keepdims, false), dt, &s));
  if (leaves_out_nan(a)) slices_leave_out_nan(b, a, &s);
  damo_var *two = build_int(b, 2), *one = build_i64(b, 1), *half = build_num(b, 0.5), *n = slices_count(&s);
  const int last = var_ndim(s.sorted) - 1;
  if (s.count == NULL) n = build_new_axis(b, n, 0);
  damo_var *low = build_floor_div(b, build_add(b, n, one), two), *high = build_add(b, build_floor_div(b, n, two), one);
  if (s.count != NULL) low = build_maximum(b, low, one); /* where all is nan */
  damo_var *x = slices_take(b, &s, low), *y = slices_take(b, &s, high);
  y = slices_poison(b, &s, build_add(b, build_mul(b, x, half), build_mul(b, y, half)));
  for (int k = 0; k < last; k++) pattern[k] = k;
  return fn_give(b, out, slices_expand(b, &s, build_dimshuffle(b, y, pattern, last), 0));
}

/* ---- mode -------------------------------------------------------------------------------------------------------- */

/* The most frequent value, of several the least, and how often it occurs. In sorted order the run of equal values that
 * holds place i begins at the last place up to i whose value differs from the one before; the first of the longest runs
 * ends at the first maximum of i - begin + 1. */
static damo_status fn_mode(build *b, const fn_args *a, ptrvec *out) {
  const reduce_options *o = FN_OPTIONS(a, reduce_options);
  sorted_slices s;
  int pattern[DAMO_MAX_NDIM];
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  DAMO_TRY(slices_sort(b, a, &o->axis, prop_bool_or(o->keepdims, false), var_dtype(a->in[0]), &s));
  const int last = var_ndim(s.sorted) - 1;
  damo_var *one = build_i64(b, 1), *x = s.sorted;
  damo_var *before = build_slice(b, x, last, NULL, build_sub(b, s.n, one), 1);
  damo_var *differs = build_neq(b, build_slice(b, x, last, one, NULL, 1), before);
  damo_var *first = build_slice(b, build_eq(b, x, x), last, NULL, one, 1); /* the first place begins a run */
  damo_var *parts[2] = {build_or_(b, first, build_invert(b, first)), differs};
  damo_var *begins = build_join(b, "mode", last, parts, 2);
  damo_var *places = build_range(b, one, s.n);
  damo_var *begin = build_cummax(b, build_switch(b, begins, places, build_i64(b, 0)), last);
  damo_var *length = build_add(b, build_sub(b, places, begin), one);
  damo_var *at = build_reduce(b, REDUCE_ARGMAX, length, &last, 1, true);
  damo_var *count = build_reduce(b, REDUCE_MAX, length, &last, 1, false);
  damo_var *value = slices_poison(b, &s, build_take_along_axis(b, x, at, last));
  if (value == NULL) return b->status;
  for (int k = 0; k < last; k++) pattern[k] = k;
  value = build_dimshuffle(b, value, pattern, last);
  DAMO_TRY(fn_give(b, out, slices_expand(b, &s, value, 0)));
  return fn_give(b, out, slices_expand(b, &s, count, 0));
}

#define STATISTICS_AXES OPT(reduce_options, axis, OPT_AXES), OPT(reduce_options, keepdims, OPT_BOOL)
#define QUANTILE_OPTIONS                                                                    \
  OPTIONS(OPT(quantile_options, axis, OPT_AXES), OPT(quantile_options, keepdims, OPT_BOOL), \
          OPT(quantile_options, method, OPT_STR), OPT(quantile_options, q, OPT_ANY))

const op_func statistics_funcs[] = {
    {.name = "average",
     .operands = "x [weights]",
     .options = OPTIONS(OPT(average_options, axis, OPT_AXES), OPT(average_options, keepdims, OPT_BOOL),
                        OPT(average_options, returned, OPT_BOOL)),
     .call = fn_average,
     .doc = "weighted mean over axes, weights of x's shape or of the axes' lengths; with returned, their sum too"},
    {.name = "count_nonzero",
     .operands = "x",
     .options = OPTIONS(STATISTICS_AXES),
     .call = fn_count_nonzero,
     .doc = "how many elements over axes are not 0 (nan is not)"},
    {.name = "median",
     .operands = "x",
     .options = OPTIONS(STATISTICS_AXES),
     .call = fn_median,
     .doc = "the middle element over axes, or the mean of the two in the middle; nan where there is one"},
    {.name = "quantile",
     .operands = "x [q]",
     .options = QUANTILE_OPTIONS,
     .call = fn_quantile,
     .doc = "quantiles over axes for q in 0 … 1, a number or a tensor, whose axes are then the first; nan where there "
            "is one"},
    {.name = "percentile",
     .operands = "x [q]",
     .options = QUANTILE_OPTIONS,
     .call = fn_quantile,
     .doc = "quantile for q in 0 … 100"},
    {.name = "nanmedian",
     .operands = "x",
     .options = OPTIONS(STATISTICS_AXES),
     .call = fn_median,
     .doc = "median of what is no nan; nan where there is nothing else"},
    {.name = "nanquantile",
     .operands = "x [q]",
     .options = QUANTILE_OPTIONS,
     .call = fn_quantile,
     .doc = "quantile of what is no nan; nan where there is nothing else"},
    {.name = "nanpercentile",
     .operands = "x [q]",
     .options = QUANTILE_OPTIONS,
     .call = fn_quantile,
     .doc = "nanquantile for q in 0 … 100"},
    {.name = "mode",
     .operands = "x",
     .options = OPTIONS(STATISTICS_AXES),
     .call = fn_mode,
     .doc = "the most frequent element over axes, of several the smallest, and how often it occurs"},
    {.name = NULL},
};

#undef N_QUANTILE_METHODS
#undef STATISTICS_AXES
#undef QUANTILE_OPTIONS

/* differences: integrals and derivatives of samples: trapezoid, gradient. Compositions. */
#include "calculus_int.h"

#include <string.h>

/* x with integers as float64. */
static damo_var *as_float(build *b, damo_var *x) {
  return x && dtype_is_discrete(var_dtype(x)) ? build_cast(b, x, DAMO_FLOAT64) : x;
}

/* The entries from `first` on along the axis, but not the last `without` ones. */
static damo_var *part_of(build *b, damo_var *x, int axis, int64_t first, int64_t without) {
  damo_var *stop = without ? build_length_sub(b, build_dim(b, x, axis), build_i64(b, without)) : NULL;
  return build_slice(b, x, axis, first ? build_i64(b, first) : NULL, stop, 1);
}

/* A vector as an axis of a tensor of n axes. */
static damo_var *along(build *b, damo_var *v, int axis, int n) {
  int pattern[DAMO_MAX_NDIM];
  for (int i = 0; i < n; i++) pattern[i] = i == axis ? 0 : -1;
  return build_dimshuffle(b, v, pattern, n);
}

static damo_var *neighbours_apart(build *b, damo_var *x, int axis) {
  return build_sub(b, part_of(b, x, axis, 1, 0), part_of(b, x, axis, 0, 1));
}

/* ---- trapezoid --------------------------------------------------------------------------------------------------- */

/* Σ d_i (y_i + y_i+1) / 2, with d the distance of neighbours. */
damo_status fn_trapezoid(build *b, const fn_args *a, ptrvec *out) {
  const calculus_options *o = FN_OPTIONS(a, calculus_options);
  int axis;
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  damo_var *y = as_float(b, build_strong(b, a->in[0])), *d = build_num(b, prop_num_or(o->dx, 1));
  if (!y) return b->status;
  DAMO_TRY(axis_check(b->ctx, "trapezoid", prop_int_or(o->axis, -1), var_ndim(y), &axis));
  if (y->type->shape[axis] == 0) {
    damo_var *none = build_reduce(b, REDUCE_SUM, y, &axis, 1, false);
    return fn_give(b, out, none);
  }
  if (a->n_in > 1 && a->in[1]) {
    DAMO_TRY(fn_check_tensor(a, b->ctx, 1));
    damo_var *x = as_float(b, build_strong(b, a->in[1]));
    if (!x) return b->status;
    if (var_ndim(x) != 1 && var_ndim(x) != var_ndim(y))
      return ctx_fail(b->ctx, DAMO_ESHAPE, "trapezoid: x has %d axes, y %d", var_ndim(x), var_ndim(y));
    d = var_ndim(x) == 1 ? along(b, neighbours_apart(b, x, 0), axis, var_ndim(y)) : neighbours_apart(b, x, axis);
  }
  damo_var *sums = build_add(b, part_of(b, y, axis, 1, 0), part_of(b, y, axis, 0, 1));
  damo_var *terms = build_true_div(b, build_mul(b, d, sums), build_num(b, 2));
  return fn_give(b, out, terms ? build_reduce(b, REDUCE_SUM, terms, &axis, 1, false) : NULL);
}

/* ---- gradient ---------------------------------------------------------------------------------------------------- */

/* How far apart the samples along one axis are: h, one distance, or d, a vector of those of neighbours. */
typedef struct sample_spacing {
  damo_var *h, *d;
} sample_spacing;

static bool spacing_is_number(const prop_value *v) { return v->kind == PROP_INT || v->kind == PROP_NUM; }

/* A list of numbers as a vector. */
static damo_var *vector_of_list(build *b, const prop_value *list) {
  const int64_t n = list->n;
  damo_array *v = array_empty(b->ctx, DAMO_FLOAT64, 1, &n);
  for (int i = 0; v && i < list->n; i++) {
    if (!spacing_is_number(&list->u.list[i])) {
      damo_release(v);
      return build_fail(b, DAMO_ETYPE, "gradient: a spacing is a number or a vector of coordinates");
    }
    ((double *)(void *)v->data)[i] = prop_num_or(list->u.list[i], 0);
  }
  return build_value(b, (damo_obj *)v);
}

/* The spacing that v gives for the axis of f: a number, or the coordinates. */
static damo_status spacing_read(build *b, const prop_value *v, damo_var *f, int axis, sample_spacing *s) {
  *s = (sample_spacing){NULL, NULL};
  damo_var *x = spacing_is_number(v)   ? build_scalar(b, var_dtype(f), prop_num_or(*v, 1))
                : v->kind == PROP_LIST ? vector_of_list(b, v)
                : v->kind == PROP_VAR  ? build_strong(b, v->u.var)
                : v->kind == PROP_NIL  ? build_scalar(b, var_dtype(f), 1)
                                       : build_fail(b, DAMO_ETYPE,
                                                    "gradient: a spacing is a number or a vector of "
                                                     "coordinates");
  if (!x) return b->status;
  if (!type_is_tensor(x->type) || var_ndim(x) > 1)
    return ctx_fail(b->ctx, DAMO_ETYPE, "gradient: a spacing is a number or a vector of coordinates");
  if (var_ndim(x) == 0) {
    s->h = x;
    return DAMO_OK;
  }
  const int64_t have = x->type->shape[0], n = f->type->shape[axis];
  if (have >= 0 && n >= 0 && have != n)
    return ctx_fail(b->ctx, DAMO_ESHAPE, "gradient: %lld coordinates for axis %d of length %lld", (long long)have,
                    axis + 1, (long long)n);
  s->d = neighbours_apart(b, build_cast(b, as_float(b, x), var_dtype(f)), 0);
  return b->status;
}

/* Entry k (negative: from the end) along the axis, which stays, of length 1. */
static damo_var *one_entry(build *b, damo_var *x, int axis, int64_t k) {
  damo_var *at = build_i64(b, k);
  return build_new_axis(b, build_index(b, x, axis, at), axis);
}

/* a x + b y + c z */
static damo_var *three_terms(build *b, damo_var *const *factor, damo_var *x, damo_var *y, damo_var *z) {
  damo_var *sum = build_add(b, build_mul(b, factor[0], x), build_mul(b, factor[1], y));
  return build_add(b, sum, build_mul(b, factor[2], z));
}

/* The factors of the derivative at 0 (at: -1), 1 (0) or 2 (1) of the parabola through three samples that are p and q
 * apart: B. Fornberg, Generation of finite difference formulas on arbitrarily spaced grids (1988). */
static void parabola_factors(build *b, damo_var *p, damo_var *q, int at, damo_var **factor) {
  damo_var *sum = build_add(b, p, q), *two = build_num(b, 2);
  damo_var *below[3] = {build_mul(b, p, sum), build_mul(b, p, q), build_mul(b, q, sum)}, *above[3];
  if (at < 0) {
    above[0] = build_neg(b, build_add(b, build_mul(b, two, p), q));
    above[1] = sum;
    above[2] = build_neg(b, p);
  } else if (at == 0) {
    above[0] = build_neg(b, q);
    above[1] = build_sub(b, q, p);
    above[2] = p;
  } else {
    above[0] = q;
    above[1] = build_neg(b, sum);
    above[2] = build_add(b, build_mul(b, two, q), p);
  }
  for (int i = 0; i < 3; i++) factor[i] = b->status == DAMO_OK ? build_true_div(b, above[i], below[i]) : NULL;
}

/* The derivative at the first sample, or the last one. */
static damo_var *edge_of(build *b, damo_var *f, int axis, const sample_spacing *s, bool last, int order) {
  const int sign = last ? -1 : 1, k0 = last ? -1 : 0;
  damo_var *e[3], *factor[3], *near = s->h, *far = s->h;
  for (int i = 0; i < (order == 2 ? 3 : 2); i++) e[i] = one_entry(b, f, axis, k0 + sign * i);
  if (s->d) {
    near = build_index(b, s->d, 0, build_i64(b, k0));
    if (order == 2) far = build_index(b, s->d, 0, build_i64(b, k0 + sign));
  }
  if (order == 1) {
    damo_var *rise = last ? build_sub(b, e[0], e[1]) : build_sub(b, e[1], e[0]);
    return build_true_div(b, rise, near);
  }
  if (last) {
    parabola_factors(b, far, near, 1, factor);
    return three_terms(b, factor, e[2], e[1], e[0]);
  }
  parabola_factors(b, near, far, -1, factor);
  return three_terms(b, factor, e[0], e[1], e[2]);
}

static damo_var *inner_of(build *b, damo_var *f, int axis, const sample_spacing *s) {
  damo_var *before = part_of(b, f, axis, 0, 2), *after = part_of(b, f, axis, 2, 0);
  if (s->h) return build_true_div(b, build_sub(b, after, before), build_mul(b, build_num(b, 2), s->h));
  damo_var *factor[3], *p = along(b, part_of(b, s->d, 0, 0, 1), axis, var_ndim(f));
  damo_var *q = along(b, part_of(b, s->d, 0, 1, 0), axis, var_ndim(f));
  parabola_factors(b, p, q, 0, factor);
  return three_terms(b, factor, before, part_of(b, f, axis, 1, 1), after);
}

static damo_var *derivative_along(build *b, damo_var *f, int axis, const sample_spacing *s, int order) {
  damo_var *const parts[3] = {edge_of(b, f, axis, s, false, order), inner_of(b, f, axis, s),
                              edge_of(b, f, axis, s, true, order)};
  return b->status == DAMO_OK ? build_concatenate(b, "gradient", axis, parts, 3) : NULL;
}

damo_status fn_gradient(build *b, const fn_args *a, ptrvec *out) {
  const calculus_options *o = FN_OPTIONS(a, calculus_options);
  const int64_t order = prop_int_or(o->edge_order, 1);
  int axes[DAMO_MAX_NDIM], n;
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  damo_var *f = as_float(b, build_strong(b, a->in[0]));
  if (!f) return b->status;
  if (order != 1 && order != 2)
    return ctx_fail(b->ctx, DAMO_EVALUE, "gradient: edge_order is 1 or 2, got %lld", (long long)order);
  if (var_ndim(f) == 0) return ctx_fail(b->ctx, DAMO_ESHAPE, "gradient: the operand has no axis");
  DAMO_TRY(axes_in_order(b->ctx, "gradient", &o->axis, var_ndim(f), axes, &n));
  if (n < 0)
    for (n = 0; n < var_ndim(f); n++) axes[n] = n;
  const bool each = o->spacing.kind == PROP_LIST && (n > 1 || (n == 1 && o->spacing.n == 1));
  if (each && o->spacing.n != n)
    return ctx_fail(b->ctx, DAMO_EVALUE, "gradient: %d spacings for %d axes", o->spacing.n, n);
  if (n > 1 && o->spacing.kind == PROP_VAR && type_is_tensor(o->spacing.u.var->type) && var_ndim(o->spacing.u.var) > 0)
    return ctx_fail(b->ctx, DAMO_EVALUE, "gradient: one vector of coordinates for %d axes", n);
  for (int i = 0; i < n; i++) {
    sample_spacing s;
    const int64_t length = f->type->shape[axes[i]];
    if (length >= 0 && length < order + 1)
      return ctx_fail(b->ctx, DAMO_EVALUE, "gradient: axis %d has %lld samples, %lld are needed", axes[i] + 1,
                      (long long)length, (long long)order + 1);
    DAMO_TRY(spacing_read(b, each ? &o->spacing.u.list[i] : &o->spacing, f, axes[i], &s));
    DAMO_TRY(fn_give(b, out, derivative_along(b, f, axes[i], &s, (int)order)));
  }
  return b->status;
}

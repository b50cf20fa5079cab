/* composite: reductions made of other ops: mean, var, std, ptp, max_and_argmax, logsumexp with
 * weights. */
#include "reduce_int.h"
#include "op/elem/build_arith.h"
#include "op/elem/build_math.h"
#include "op/op.h"

#include <math.h>

/* The number of elements in each group that the call c reduces, as a scalar of dtype dt; a constant where the shape is
 * known. */
static damo_var *reduced_count(build *b, const reduce_call *c, damo_dtype dt) {
  int64_t known = 1;
  damo_var *n = NULL;
  for (int i = 0; i < c->n; i++) {
    int64_t d = c->x->type->shape[c->axes[i]];
    if (d >= 0) {
      known *= d;
      continue;
    }
    damo_var *dim = build_dim(b, c->x, c->axes[i]);
    n = n ? build_mul(b, n, dim) : dim;
  }
  if (n == NULL) return build_scalar(b, dt, (double)known);
  if (known != 1) n = build_mul(b, n, build_i64(b, known));
  return build_cast(b, n, dt);
}

/* The float dtype that a mean is taken in: float64 for integers. */
static damo_dtype mean_dtype(const reduce_call *c) {
  if (c->dtype != DAMO_N_DTYPES) return c->dtype;
  damo_dtype dt = var_dtype(c->x);
  return dtype_is_discrete(dt) ? DAMO_FLOAT64 : dt;
}

static damo_var *build_mean_over(build *b, const reduce_call *c, bool keepdims) {
  damo_dtype dt = mean_dtype(c);
  damo_var *sum = build_reduce(b, REDUCE_SUM, build_cast(b, c->x, dt), c->axes, c->n, keepdims);
  return build_true_div(b, sum, reduced_count(b, c, dt));
}

damo_var *build_mean(build *b, damo_var *x) {
  reduce_call c = {.dtype = DAMO_N_DTYPES};
  if (build_resolve(b, &x, 1, false, &c.x) != DAMO_OK) return NULL;
  for (c.n = 0; c.n < var_ndim(c.x); c.n++) c.axes[c.n] = c.n;
  return build_mean_over(b, &c, false);
}

damo_status fn_mean(build *b, const fn_args *a, ptrvec *out) {
  reduce_call c;
  DAMO_TRY(reduce_read_call(b, a, &c));
  return fn_give(b, out, build_mean_over(b, &c, c.keepdims));
}

damo_var *build_abs_sqr(build *b, damo_var *x) {
  if (x == NULL || !dtype_is_complex(var_dtype(x))) return build_sqr(b, x);
  return build_add(b, build_sqr(b, build_real(b, x)), build_sqr(b, build_imag(b, x)));
}

/* sum |x - mean|² / (n - ddof): two passes, which lose no digits where the mean is large. */
static damo_var *build_variance(build *b, const fn_args *a) {
  reduce_call c;
  const double ddof = prop_num_or(FN_OPTIONS(a, reduce_options)->ddof, 0);
  if (reduce_read_call(b, a, &c) != DAMO_OK) return build_take(b, NULL);
  damo_dtype dt = mean_dtype(&c);
  damo_var *centred = build_sub(b, build_cast(b, c.x, dt), build_mean_over(b, &c, true));
  damo_var *squares = build_reduce(b, REDUCE_SUM, build_abs_sqr(b, centred), c.axes, c.n, c.keepdims);
  if (squares == NULL) return NULL;
  damo_var *n = reduced_count(b, &c, var_dtype(squares));
  if (ddof != 0) n = build_sub(b, n, build_num(b, ddof));
  return build_true_div(b, squares, n);
}

damo_status fn_var(build *b, const fn_args *a, ptrvec *out) { return fn_give(b, out, build_variance(b, a)); }

damo_status fn_std(build *b, const fn_args *a, ptrvec *out) {
  damo_var *v = build_variance(b, a);
  return fn_give(b, out, v ? build_sqrt(b, v) : NULL);
}

damo_status fn_ptp(build *b, const fn_args *a, ptrvec *out) {
  reduce_call c;
  DAMO_TRY(reduce_read_call(b, a, &c));
  damo_var *high = build_reduce(b, REDUCE_MAX, c.x, c.axes, c.n, c.keepdims);
  damo_var *low = build_reduce(b, REDUCE_MIN, c.x, c.axes, c.n, c.keepdims);
  return fn_give(b, out, build_sub(b, high, low));
}

damo_status fn_max_and_argmax(build *b, const fn_args *a, ptrvec *out) {
  reduce_call c;
  DAMO_TRY(reduce_read_call(b, a, &c));
  DAMO_TRY(fn_give(b, out, build_reduce(b, REDUCE_MAX, c.x, c.axes, c.n, c.keepdims)));
  return fn_give(b, out, build_reduce(b, REDUCE_ARGMAX, c.x, c.axes, c.n, c.keepdims));
}

/* What is taken off x before exp, with its axes kept: the maximum of the x whose weight is not 0; of complex numbers the
 * logsumexp of their real parts, which an empty axis has too. 0 where that is not finite. A constant: no result depends on
 * it. */
static damo_var *logsumexp_shift(build *b, const reduce_call *c, damo_var *w) {
  const bool is_complex = dtype_is_complex(var_dtype(c->x));
  damo_var *re = is_complex ? build_real(b, c->x) : c->x;
  if (w != NULL) re = build_switch(b, build_neq(b, w, build_num(b, 0)), re, build_num(b, -INFINITY));
  damo_var *m = build_reduce(b, is_complex ? REDUCE_LOGSUMEXP : REDUCE_MAX, re, c->axes, c->n, true);
  if (m == NULL) return NULL;
  m = build_switch(b, build_lt(b, build_abs(b, m), build_num(b, INFINITY)), m, build_num(b, 0));
  return m != NULL ? build_op(b, op_new(b->ctx, &disconnected_grad_def, NULL), &m, 1) : NULL;
}

/* exp(x), where a weight is 0 no larger than a float of the dtype can be: x may be larger than the shift there. */
static damo_var *build_exp_weighted(build *b, damo_var *x, damo_var *w) {
  if (x == NULL || w == NULL) return build_exp(b, x);
  const damo_dtype dt = var_dtype(x);
  const bool is_complex = dtype_is_complex(dt);
  damo_var *most = build_num(b, dt == DAMO_FLOAT32 || dt == DAMO_COMPLEX64 ? 80 : 700);
  damo_var *re = is_complex ? build_real(b, x) : x, *used = build_neq(b, w, build_num(b, 0));
  damo_var *cut = build_switch(b, used, re, build_minimum(b, re, most));
  return build_exp(b, is_complex ? build_complex(b, cut, build_imag(b, x)) : cut);
}

/* log(Σ w exp(x)), or log |Σ w exp(x)| and the sum's sign, z / |z| of a complex one. w NULL: all 1. nan where a real sum is
 * negative and its sign is not asked for. */
static damo_status weighted_logsumexp(build *b, const reduce_call *c, damo_var *w, bool signed_too, ptrvec *out) {
  damo_var *m = logsumexp_shift(b, c, w);
  if (m == NULL) return b->status;
  damo_var *e = build_exp_weighted(b, build_sub(b, c->x, m), w);
  damo_var *sum = build_reduce(b, REDUCE_SUM, w != NULL ? build_mul(b, w, e) : e, c->axes, c->n, c->keepdims);
  if (!c->keepdims) m = build_reduce(b, REDUCE_MAX, m, c->axes, c->n, false);
  damo_var *y = build_add(b, m, build_log(b, signed_too ? build_abs(b, sum) : sum));
  DAMO_TRY(fn_give(b, out, y));
  return signed_too ? fn_give(b, out, build_sign(b, sum)) : DAMO_OK;
}

damo_status fn_logsumexp(build *b, const fn_args *a, ptrvec *out) {
  const reduce_options *o = FN_OPTIONS(a, reduce_options);
  const bool signed_too = prop_bool_or(o->return_sign, false);
  reduce_call c = {.keepdims = prop_bool_or(o->keepdims, false), .dtype = DAMO_N_DTYPES};
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  damo_var *w = a->in[1];
  if (w == NULL) {
    DAMO_TRY(reduce_read_call(b, a, &c));
    if (dtype_is_complex(var_dtype(c.x))) return weighted_logsumexp(b, &c, NULL, signed_too, out);
    damo_var *y = build_reduce(b, REDUCE_LOGSUMEXP, c.x, c.axes, c.n, c.keepdims);
    DAMO_TRY(fn_give(b, out, y));
    return signed_too ? fn_give(b, out, build_ones_like(b, y)) : DAMO_OK;
  }
  DAMO_TRY(fn_check_tensor(a, b->ctx, 1));
  damo_var *v[2] = {a->in[0], w};
  DAMO_TRY(build_resolve(b, v, 2, true, v));
  const damo_dtype dt = dtype_to_float(dtype_promote(var_dtype(v[0]), var_dtype(v[1])));
  c.x = build_second(b, build_add(b, v[0], v[1]), build_cast(b, v[0], dt)); /* of the common shape */
  if (c.x == NULL) return b->status;
  DAMO_TRY(axes_check(b->ctx, "logsumexp", &o->axis, var_ndim(c.x), c.axes, &c.n));
  return weighted_logsumexp(b, &c, build_cast(b, v[1], dt), signed_too, out);
}

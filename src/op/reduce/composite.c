/* composite: reductions made of other ops: mean, var, std, ptp, max_and_argmax. */
#include "reduce_int.h"
#include "op/elem/build_arith.h"

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

/* sum |x - mean|² / (n - ddof): two passes, which lose no digits where the mean is large. */
static damo_var *build_variance(build *b, const fn_args *a) {
  reduce_call c;
  const double ddof = prop_num_or(FN_OPTIONS(a, reduce_options)->ddof, 0);
  if (reduce_read_call(b, a, &c) != DAMO_OK) return build_take(b, NULL);
  damo_dtype dt = mean_dtype(&c);
  damo_var *centred = build_sub(b, build_cast(b, c.x, dt), build_mean_over(b, &c, true));
  if (dtype_is_complex(dt)) centred = build_abs(b, centred);
  damo_var *squares = build_reduce(b, REDUCE_SUM, build_sqr(b, centred), c.axes, c.n, c.keepdims);
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

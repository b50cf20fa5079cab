/* op_check: shared by the tests of op families: calls by name on values, and gradients against finite differences. */
#ifndef DAMO_OP_CHECK_H
#define DAMO_OP_CHECK_H

#include "grad/grad.h"
#include "test.h"
#include "op/op.h"
#include "by_name.h"

/* Reproducible numbers in (-1, 1). */
static inline double op_number(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (double)(int64_t)(*seed >> 11) * 0x1p-52 - 1;
}

static inline damo_array *op_random(damo_ctx *ctx, damo_dtype dtype, int ndim, const int64_t *shape, uint64_t seed) {
  damo_array *d = array_empty(ctx, DAMO_FLOAT64, ndim, shape);
  const int64_t n = array_size(d);
  for (int64_t i = 0; i < n; i++) {
    const double v = op_number(&seed);
    ((double *)d->data)[i] = dtype_is_discrete(dtype) ? floor(10 * v) * (dtype_is_signed(dtype) ? 1
                                                                         : v > 0                ? 1
                                                                                                : 0)
                                                      : v;
  }
  damo_array *a = array_cast(d, dtype);
  if (dtype_is_complex(dtype)) {
    for (int64_t i = 0; i < n; i++) {
      if (dtype == DAMO_COMPLEX64)
        ((damo_c64 *)a->data)[i].im = (float)op_number(&seed);
      else
        ((damo_c128 *)a->data)[i].im = op_number(&seed);
    }
  }
  damo_release(d);
  return a;
}

/* Calls a function on values as constants; returns the number of results, 0 on failure. */
static inline int op_call(damo_ctx *ctx, const char *name, damo_array *const *in, int n_in, const void *opt,
                          damo_array **out) {
  damo_var *vars[8];
  build b;
  ptrvec results;
  int n = 0;
  build_init(&b, ctx);
  ptrvec_init(&results, ctx);
  for (int i = 0; i < n_in; i++) vars[i] = build_take(&b, var_constant(ctx, NULL, (damo_obj *)in[i]));
  if (func_call(&b, func_find(ctx, name), vars, n_in, opt, &results) == DAMO_OK &&
      eager_eval(ctx, (damo_var *const *)results.at, results.n, (damo_obj **)out) == DAMO_OK) {
    n = (int)results.n;
  }
  ptrvec_clear(&results);
  build_end(&b);
  return n;
}

static inline damo_array *op_call1(damo_ctx *ctx, const char *name, damo_array *const *in, int n_in, const void *opt) {
  damo_array *out[4] = {NULL};
  return op_call(ctx, name, in, n_in, opt, out) ? out[0] : NULL;
}

static inline damo_array *op_call2(damo_ctx *ctx, const char *name, damo_array *x, damo_array *y) {
  return op_call1(ctx, name, (damo_array *const[]){x, y}, 2, NULL);
}

/* ---- Finite differences ------------------------------------------------------------------------------------------ */

/* A function of shared float64 Variables that returns one Variable. */
typedef damo_var *(*op_formula)(build *b, damo_var *const *x, const void *user);

static inline double op_cost(damo_ctx *ctx, damo_var *cost) {
  damo_obj *v = NULL;
  if (eager_eval(ctx, &cost, 1, &v) != DAMO_OK) return NAN;
  const double d = scalar_to_double(array_item((damo_array *)v));
  damo_release(v);
  return d;
}

static inline void op_compare_gradient(damo_ctx *ctx, damo_var *cost, damo_var *x, damo_var *gradient) {
  damo_array *a = (damo_array *)x->value, *g = NULL;
  const double eps = 1e-6;
  double worst = 0;
  if (!CHECK(eager_eval(ctx, &gradient, 1, (damo_obj **)&g) == DAMO_OK)) {
    fprintf(stderr, "    %s\n", ctx->error.message);
    return;
  }
  damo_array *c = array_as_contiguous(g, DAMO_FLOAT64);
  CHECK_EQ_I(array_size(c), array_size(a));
  CHECK_EQ_I(c->ndim, a->ndim);
  for (int64_t i = 0; i < array_size(a) && i < array_size(c); i++) {
    double *p = (double *)a->data + i;
    const double kept = *p;
    *p = kept + eps;
    const double up = op_cost(ctx, cost);
    *p = kept - eps;
    const double down = op_cost(ctx, cost);
    *p = kept;
    const double want = (up - down) / (2 * eps), diff = fabs(want - ((double *)c->data)[i]) / (1 + fabs(want));
    if (!(diff <= worst)) worst = diff;
  }
  CHECK_NEAR(worst, 0, 1e-7);
  damo_release(c);
  damo_release(g);
}

/* Checks the gradient of sum(f(x) · weights) with respect to every x against central differences; then the second
 * derivatives in the same way. */
static inline void op_check_gradient(damo_ctx *ctx, op_formula f, const void *user, damo_array *const *values, int n,
                                     bool second) {
  damo_var *x[8], *g[8] = {NULL}, *gg[8] = {NULL};
  build b;
  build_init(&b, ctx);
  for (int i = 0; i < n; i++) {
    damo_array *copy = array_copy(values[i]);
    damo_type *type = type_of_value((damo_obj *)copy);
    x[i] = build_take(&b, var_shared(ctx, type, (damo_obj *)copy, NULL));
    damo_release(type);
    damo_release(copy);
  }
  damo_var *cost = build_reduce(&b, REDUCE_SUM, build_fn1(&b, "sin", f(&b, x, user)), NULL, -1, false);
  if (CHECK(cost && grad_reverse(ctx, cost, x, n, NULL, g) == DAMO_OK)) {
    for (int i = 0; i < n; i++) op_compare_gradient(ctx, cost, x[i], g[i]);
    damo_var *again = NULL;
    for (int i = 0; i < n && second; i++) {
      damo_var *part = build_reduce(&b, REDUCE_SUM, build_fn1(&b, "sin", g[i]), NULL, -1, false);
      again = again ? build_fn2(&b, "add", again, part) : part;
    }
    if (second && CHECK(again && grad_reverse(ctx, again, x, n, NULL, gg) == DAMO_OK)) {
      for (int i = 0; i < n; i++) op_compare_gradient(ctx, again, x[i], gg[i]);
    }
  } else {
    fprintf(stderr, "    %s\n", ctx->error.message);
  }
  for (int i = 0; i < n; i++) {
    damo_release(g[i]);
    damo_release(gg[i]);
  }
  build_end(&b);
}

/* Called at the end of a test: checks that nothing is left. */
static inline void op_check_empty(damo_ctx *ctx, damo_memory_info before) {
  const damo_memory_info now = damo_ctx_memory(ctx);
  CHECK(now.objects <= before.objects + 200); /* interned types and ops stay */
}

#endif

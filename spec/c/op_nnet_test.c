/* op_nnet_test: softmax and log_softmax along any axis, their first and second derivatives, pick, and the losses. */
#include "leak_case.h"
#include "op_options.h"
#include "op_check.h"
#include "by_name.h"

typedef struct soft_case {
  const char *name;
  int64_t axis;
} soft_case; /* axis 0: the default */

static const fn_given *axis_option(const soft_case *c, axis_options *opt) {
  opt->axis = c->axis ? prop_int(c->axis) : prop_nil();
  return (const fn_given *)(const void *)opt;
}

static damo_var *soft_formula(build *b, damo_var *const *x, const void *user) {
  axis_options opt;
  const soft_case *c = user;
  return build_fn(b, c->name, x, 1, axis_option(c, &opt));
}

/* Softmax at entry i of a contiguous array, over the entries that differ from it only in the axis. */
static double plain_softmax(const damo_array *x, const soft_case *c, int64_t i, bool log_form) {
  const double *p = (double *)x->data;
  int64_t inner = 1, n = array_size(x), start = 0;
  if (c->axis) {
    const int axis = c->axis < 0 ? x->ndim + (int)c->axis : (int)c->axis - 1;
    for (int k = axis + 1; k < x->ndim; k++) inner *= array_shape(x)[k];
    n = array_shape(x)[axis];
    start = i / (inner * n) * (inner * n) + i % inner;
  }
  double total = 0;
  for (int64_t k = 0; k < n; k++) total += exp(p[start + k * inner] - p[i]);
  return log_form ? -log(total) : 1 / total;
}

static void check_soft(damo_ctx *ctx, const soft_case *c, int ndim, const int64_t *shape) {
  axis_options opt;
  damo_array *x = op_random(ctx, DAMO_FLOAT64, ndim, shape, 5), *f = array_cast(x, DAMO_FLOAT32);
  damo_array *z = op_call1(ctx, c->name, &x, 1, axis_option(c, &opt)),
             *zf = op_call1(ctx, c->name, &f, 1, axis_option(c, &opt));
  if (CHECK(z && zf && array_dtype(zf) == DAMO_FLOAT32)) {
    double worst = 0, worst_f = 0;
    for (int64_t i = 0; i < array_size(x); i++) {
      const double want = plain_softmax(x, c, i, strcmp(c->name, "log_softmax") == 0);
      worst = fmax(worst, fabs(((double *)z->data)[i] - want));
      worst_f = fmax(worst_f, fabs(((float *)zf->data)[i] - want));
    }
    CHECK_NEAR(worst, 0, 1e-14);
    CHECK_NEAR(worst_f, 0, 2e-6);
  }
  damo_release(z);
  damo_release(zf);
  damo_release(f);
  if (array_size(x) <= 40) op_check_gradient(ctx, soft_formula, c, &x, 1, true);
  damo_release(x);
}

static void test_softmax(damo_ctx *ctx) {
  static const soft_case cases[] = {{"softmax", 0},     {"softmax", -1},     {"softmax", 1},
                                    {"log_softmax", 0}, {"log_softmax", -1}, {"log_softmax", 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    check_soft(ctx, &cases[i], 1, (const int64_t[]){5});
    check_soft(ctx, &cases[i], 2, (const int64_t[]){3, 4});
    check_soft(ctx, &cases[i], 3, (const int64_t[]){2, 3, 4});
    check_soft(ctx, &cases[i], 2, (const int64_t[]){300, 10});
    check_soft(ctx, &cases[i], 2, (const int64_t[]){3, 1500});
  }
  const soft_case middle = {"softmax", 2}, log_middle = {"log_softmax", -2};
  check_soft(ctx, &middle, 3, (const int64_t[]){2, 3, 4});
  check_soft(ctx, &log_middle, 3, (const int64_t[]){2, 3, 4});
}

static void test_softmax_extremes(damo_ctx *ctx) {
  const double v[4] = {1000, -1000, 1001, NAN};
  const prop_value last = prop_int(-1), outside = prop_int(3);
  damo_array *x = damo_array_from(ctx, DAMO_FLOAT64, 2, (const int64_t[]){2, 2}, v);
  damo_array *z = op_call1(ctx, "softmax", &x, 1, &last), *l = op_call1(ctx, "log_softmax", &x, 1, &last);
  if (CHECK(z && l)) {
    CHECK_NEAR(((double *)z->data)[0], 1, 0);
    CHECK_NEAR(((double *)z->data)[1], 0, 0);
    CHECK_NEAR(((double *)l->data)[1], -2000, 0);
    CHECK(isnan(((double *)z->data)[2]) && isnan(((double *)z->data)[3]));
  }
  CHECK(op_call1(ctx, "softmax", &x, 1, &outside) == NULL);
  CHECK_EQ_I(ctx->error.status, DAMO_EINDEX);
  damo_release(z);
  damo_release(l);
  damo_release(x);
  damo_array *empty = damo_array_new(ctx, DAMO_FLOAT64, 2, (const int64_t[]){0, 3}),
             *ints = op_random(ctx, DAMO_INT32, 1, (const int64_t[]){4}, 1);
  z = op_call1(ctx, "softmax", &empty, 1, &last);
  CHECK(z && array_size(z) == 0);
  damo_release(z);
  z = op_call1(ctx, "softmax", &ints, 1, NULL);
  CHECK(z && array_dtype(z) == DAMO_FLOAT64);
  damo_release(z);
  damo_release(empty);
  damo_release(ints);
}

/* A transposed view gives the same as its copy. */
static void test_softmax_strided(damo_ctx *ctx) {
  const prop_value last = prop_int(-1);
  damo_array *x = op_random(ctx, DAMO_FLOAT64, 2, (const int64_t[]){4, 6}, 3);
  damo_array *t = array_view(x, 2, (const int64_t[]){6, 4}, (const int64_t[]){8, 48}, 0), *c = array_copy(t);
  damo_array *a = op_call1(ctx, "softmax", &t, 1, &last), *b = op_call1(ctx, "softmax", &c, 1, &last);
  CHECK(a && b && array_equal(a, b, false));
  damo_release(a);
  damo_release(b);
  damo_release(t);
  damo_release(c);
  damo_release(x);
}

/* ---- Losses ------------------------------------------------------------------------------------------------------ */

static damo_var *categorical(build *b, damo_var *const *x, const void *user) {
  const prop_value last = prop_int(-1);
  damo_var *p = build_fn(b, "softmax", x, 1, IN_ORDER(b->ctx, "softmax", last));
  return build_fn2(b, "categorical_crossentropy", p, build_ints(b, user, 3));
}

static damo_var *two_operands(build *b, damo_var *const *x, const void *user) {
  damo_var *p = build_fn1(b, "sigmoid", x[0]), *t = build_fn1(b, "sigmoid", x[1]);
  return build_fn2(b, user, p, t);
}

static void test_losses(damo_ctx *ctx) {
  const int64_t labels[3] = {1, 3, 2}, wrong[3] = {1, 5, 2};
  const prop_value last = prop_int(-1);
  damo_array *x = op_random(ctx, DAMO_FLOAT64, 2, (const int64_t[]){3, 4}, 9),
             *p = op_call1(ctx, "softmax", &x, 1, &last);
  damo_array *t = damo_array_from(ctx, DAMO_INT64, 1, (const int64_t[]){3}, labels),
             *z = op_call2(ctx, "categorical_crossentropy", p, t);
  if (CHECK(z && z->ndim == 1)) {
    for (int i = 0; i < 3; i++)
      CHECK_NEAR(((double *)z->data)[i], -log(((double *)p->data)[4 * i + labels[i] - 1]), 1e-15);
  }
  damo_release(z);
  op_check_gradient(ctx, categorical, labels, &x, 1, true);
  damo_release(t);
  t = damo_array_from(ctx, DAMO_INT64, 1, (const int64_t[]){3}, wrong);
  CHECK(op_call2(ctx, "categorical_crossentropy", p, t) == NULL);
  CHECK_EQ_I(ctx->error.status, DAMO_EINDEX);
  CHECK(strstr(ctx->error.message, "position 5 is outside 1..4") != NULL);
  z = op_call2(ctx, "categorical_crossentropy", p, p); /* entropy */
  if (CHECK(z && z->ndim == 1)) {
    double want = 0;
    for (int i = 0; i < 4; i++) want -= ((double *)p->data)[i] * log(((double *)p->data)[i]);
    CHECK_NEAR(((double *)z->data)[0], want, 1e-14);
  }
  damo_release(z);
  damo_array *v[2] = {x, p};
  op_check_gradient(ctx, two_operands, "categorical_crossentropy", v, 2, false);
  op_check_gradient(ctx, two_operands, "binary_crossentropy", v, 2, true);
  op_check_gradient(ctx, two_operands, "sigmoid_binary_crossentropy", v, 2, true);
  op_check_gradient(ctx, two_operands, "mean_squared_error", v, 2, true);
  damo_release(p);
  damo_release(t);
  damo_release(x);
}

int main(void) {
  damo_ctx *ctx = damo_ctx_new(leak_alloc, NULL);
  test_softmax(ctx);
  test_softmax_extremes(ctx);
  test_softmax_strided(ctx);
  test_losses(ctx);
  leak_end(ctx);
  TEST_MAIN_END;
}

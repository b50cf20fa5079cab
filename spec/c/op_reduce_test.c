/* op_reduce_test: values, Types, gradients and errors of the reductions. Gradients of a weighted sum of the result are
 * compared with central differences of step 1e-6 in float64, whose error is below 1e-8 here. */
#include "grad/grad.h"
#include "leak_case.h"
#include "op_options.h"
#include "test.h"
#include "op/op.h"
#include "by_name.h"

static damo_ctx *ctx;

static damo_array *value_of(build *b, damo_var *v) {
  damo_obj *value = NULL;
  if (v == NULL || b->status != DAMO_OK || eager_eval(ctx, &v, 1, &value) != DAMO_OK) {
    CHECK(!"evaluates");
    fprintf(stderr, "    %s\n", damo_error_message(ctx));
    return NULL;
  }
  return (damo_array *)value;
}

static damo_var *constant(build *b, const damo_array *a) {
  return build_take(b, var_constant(ctx, NULL, (damo_obj *)a));
}

static double at(const damo_array *a, int64_t i) {
  int64_t index[DAMO_MAX_NDIM] = {0};
  for (int k = a->ndim - 1; k >= 0; k--) {
    index[k] = i % array_shape(a)[k];
    i /= array_shape(a)[k];
  }
  return scalar_to_double(array_get(a, index));
}

/* One call: axes NULL means all; ddof is given to var and std only. */
typedef struct reduction {
  const char *name;
  int n_axes;
  int axes[3];
  bool keepdims;
  double ddof;
  int axis; /* of cumsum and the like, which take one; 0: absent */
} reduction;

/* Reductions that are no functions: they are built by rules and by other families. */
static damo_var *apply_kind(build *b, const reduction *r, reduce_kind kind, damo_var *x) {
  int axes[3];
  for (int i = 0; i < r->n_axes; i++) axes[i] = r->axes[i] < 0 ? r->axes[i] + var_ndim(x) : r->axes[i] - 1;
  if (r->n_axes == 2 && axes[0] > axes[1]) axes[2] = axes[0], axes[0] = axes[1], axes[1] = axes[2];
  return build_reduce(b, kind, x, axes, r->n_axes > 0 ? r->n_axes : -1, r->keepdims);
}

static damo_var *apply(build *b, const reduction *r, damo_var *x) {
  if (strcmp(r->name, "sum_sqr") == 0) return apply_kind(b, r, REDUCE_SUM_SQR, x);
  if (strcmp(r->name, "sum_sqr_dev") == 0) return apply_kind(b, r, REDUCE_SUM_SQR_DEV, x);
  prop_value axes[3], opt[3] = {prop_nil(), prop_bool(r->keepdims), prop_nil()}, fields[FN_MAX_OPTIONS];
  for (int i = 0; i < r->n_axes; i++) axes[i] = prop_int(r->axes[i]);
  if (r->axis != 0) opt[0] = prop_int(r->axis);
  if (r->n_axes > 0) opt[0] = prop_list(axes, r->n_axes);
  if (strcmp(r->name, "diff") == 0) opt[1] = prop_int(1);
  if (r->ddof != 0) opt[2] = prop_num(r->ddof);
  return build_fn(b, r->name, &x, 1, op_options(b->ctx, r->name, opt, 3, fields));
}

/* sum of w · reduction(x), w = 1, 2, 3, … */
static damo_var *weighted(build *b, const reduction *r, damo_var *x) {
  damo_var *y = apply(b, r, x);
  int64_t size = 1;
  if (y == NULL) return NULL;
  for (int k = 0; k < var_ndim(y); k++) size *= y->type->shape[k];
  damo_array *w = damo_array_new(ctx, DAMO_FLOAT64, var_ndim(y), y->type->shape);
  for (int64_t i = 0; i < size; i++) ((double *)w->data)[i] = (double)(i + 1);
  damo_var *cost = build_fn2(b, "mul", y, build_value(b, (damo_obj *)w));
  return build_reduce(b, REDUCE_SUM, cost, NULL, -1, false);
}

static double cost_at(const reduction *r, damo_array *x) {
  build b;
  build_init(&b, ctx);
  damo_array *value = value_of(&b, weighted(&b, r, constant(&b, x)));
  double y = value ? at(value, 0) : NAN;
  damo_release(value);
  build_end(&b);
  return y;
}

static void check_gradient(const reduction *r, int ndim, const int64_t *shape, const double *data, int64_t n) {
  const double h = 1e-6;
  damo_array *x = damo_array_from(ctx, DAMO_FLOAT64, ndim, shape, data), *got = NULL;
  build b;
  build_init(&b, ctx);
  damo_var *v = constant(&b, x), *cost = weighted(&b, r, v), *g = NULL;
  if (CHECK(cost && grad_reverse(ctx, cost, &v, 1, NULL, &g) == DAMO_OK)) {
    got = value_of(&b, g);
  } else {
    fprintf(stderr, "    %s: %s\n", r->name, damo_error_message(ctx));
  }
  for (int64_t i = 0; got && i < n; i++) {
    damo_array *up = array_copy(x), *down = array_copy(x);
    ((double *)up->data)[i] += h;
    ((double *)down->data)[i] -= h;
    double want = (cost_at(r, up) - cost_at(r, down)) / (2 * h);
    if (!CHECK_NEAR(at(got, i), want, 1e-6 * (1 + fabs(want)))) fprintf(stderr, "    %s\n", r->name);
    damo_release(up), damo_release(down);
  }
  damo_release(got), damo_release(g), damo_release(x);
  build_end(&b);
}

static void test_gradients(void) {
  static const char *const names[] = {"sum", "prod",      "max", "min",     "mean",       "var",
                                      "std", "logsumexp", "ptp", "sum_sqr", "sum_sqr_dev"};
  static const reduction ways[] = {
      {NULL, 0, {0}, false, 0, 0},   {NULL, 0, {0}, true, 0, 0},  {NULL, 1, {1}, false, 0, 0},
      {NULL, 1, {-1}, true, 0, 0},   {NULL, 1, {2}, false, 0, 0}, {NULL, 2, {3, 1}, false, 0, 0},
      {NULL, 2, {1, 2}, true, 0, 0},
  };
  static const int64_t shape[3] = {2, 3, 2};
  double x[12];
  for (int i = 0; i < 12; i++) x[i] = sin(3.0 * i + 1) + 1.5; /* all different */
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
      reduction r = ways[w];
      r.name = names[k];
      check_gradient(&r, 3, shape, x, 12);
    }
  }
  check_gradient(&(reduction){"var", 1, {1}, false, 1, 0}, 3, shape, x, 12);
  for (int axis = 0; axis <= 3; axis++) {
    check_gradient(&(reduction){.name = "cumsum", .axis = axis}, 3, shape, x, 12);
    check_gradient(&(reduction){.name = "cumprod", .axis = axis}, 3, shape, x, 12);
    check_gradient(&(reduction){.name = "sort", .axis = axis}, 3, shape, x, 12);
    if (axis < 3) check_gradient(&(reduction){.name = "diff", .axis = axis}, 3, shape, x, 12);
  }
  x[0] = 0, x[7] = 0, x[9] = 0; /* one zero, and two in one group */
  check_gradient(&(reduction){"prod", 1, {2}, false, 0, 0}, 3, shape, x, 12);
  check_gradient(&(reduction){.name = "cumprod", .axis = 2}, 3, shape, x, 12);
  check_gradient(&(reduction){.name = "cumprod"}, 3, shape, x, 12);
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static void check_value(const reduction *r, const damo_array *x, damo_dtype dt, double want) {
  build b;
  build_init(&b, ctx);
  damo_array *y = value_of(&b, apply(&b, r, constant(&b, x)));
  if (!CHECK(y && array_dtype(y) == dt) || !CHECK_NEAR(at(y, 0), want, 1e-12)) fprintf(stderr, "    %s\n", r->name);
  damo_release(y);
  build_end(&b);
}

static void test_values(void) {
  int64_t n = 4;
  double data[4] = {2, -1, 5, 5};
  damo_array *x = damo_array_from(ctx, DAMO_FLOAT64, 1, &n, data), *i8 = array_cast(x, DAMO_INT8);
  check_value(&(reduction){.name = "sum"}, x, DAMO_FLOAT64, 11);
  check_value(&(reduction){.name = "prod"}, i8, DAMO_INT64, -50);
  check_value(&(reduction){.name = "max"}, i8, DAMO_INT8, 5);
  check_value(&(reduction){.name = "argmax"}, x, DAMO_INT64, 3);
  check_value(&(reduction){.name = "argmin"}, i8, DAMO_INT64, 2);
  check_value(&(reduction){.name = "mean"}, i8, DAMO_FLOAT64, 2.75);
  check_value(&(reduction){.name = "var"}, i8, DAMO_FLOAT64, 6.1875);
  check_value(&(reduction){.name = "std", .ddof = 1}, x, DAMO_FLOAT64, sqrt(8.25));
  check_value(&(reduction){.name = "sum_sqr"}, x, DAMO_FLOAT64, 55);
  check_value(&(reduction){.name = "sum_sqr_dev"}, x, DAMO_FLOAT64, 24.75);
  check_value(&(reduction){.name = "any"}, x, DAMO_BOOL, 1);
  check_value(&(reduction){.name = "all"}, i8, DAMO_BOOL, 1);
  check_value(&(reduction){.name = "ptp"}, x, DAMO_FLOAT64, 6);
  check_value(&(reduction){.name = "logsumexp"}, x, DAMO_FLOAT64, log(exp(2) + exp(-1) + 2 * exp(5)));
  damo_release(x), damo_release(i8);
  damo_array *zero_d = damo_array_scalar(ctx, DAMO_INT32, 7);
  check_value(&(reduction){.name = "sum"}, zero_d, DAMO_INT64, 7);
  check_value(&(reduction){.name = "argmax"}, zero_d, DAMO_INT64, 1);
  check_value(&(reduction){.name = "mean"}, zero_d, DAMO_FLOAT64, 7);
  damo_release(zero_d);
}

static void test_argsort(void) {
  int64_t n = 6;
  double data[6] = {2, NAN, -1, 2, -INFINITY, 0};
  static const int64_t want[6] = {5, 3, 6, 1, 4, 2};
  damo_array *x = damo_array_from(ctx, DAMO_FLOAT64, 1, &n, data);
  build b;
  build_init(&b, ctx);
  damo_array *y = value_of(&b, build_fn1(&b, "argsort", constant(&b, x)));
  for (int64_t i = 0; y && i < n; i++) CHECK_EQ_I(at(y, i), want[i]);
  damo_release(y), damo_release(x);
  build_end(&b);
}

static void test_empty(void) {
  int64_t shape[2] = {0, 3};
  damo_array *x = damo_array_new(ctx, DAMO_FLOAT64, 2, shape);
  check_value(&(reduction){"sum", 1, {1}, false, 0, 0}, x, DAMO_FLOAT64, 0);
  check_value(&(reduction){"prod", 0, {0}, false, 0, 0}, x, DAMO_FLOAT64, 1);
  build b;
  build_init(&b, ctx);
  damo_var *y = apply(&b, &(reduction){"max", 1, {1}, false, 0, 0}, constant(&b, x));
  damo_obj *value = NULL;
  CHECK_EQ_I(eager_eval(ctx, &y, 1, &value), DAMO_EVALUE);
  CHECK(strstr(damo_error_message(ctx), "axis 1 of shape") != NULL);
  damo_array *none = value_of(&b, apply(&b, &(reduction){"max", 1, {2}, false, 0, 0}, constant(&b, x)));
  CHECK(none && array_size(none) == 0);
  damo_release(none), damo_release(x);
  build_end(&b);
}

static void check_refused(const reduction *r, const damo_array *x, damo_status status) {
  build b;
  build_init(&b, ctx);
  CHECK(apply(&b, r, constant(&b, x)) == NULL);
  CHECK_EQ_I(build_end(&b), status);
}

static void test_errors(void) {
  int64_t shape[2] = {2, 2};
  damo_array *x = damo_array_new(ctx, DAMO_FLOAT64, 2, shape);
  check_refused(&(reduction){"sum", 1, {3}, false, 0, 0}, x, DAMO_EINDEX);
  check_refused(&(reduction){"sum", 1, {0}, false, 0, 0}, x, DAMO_EINDEX);
  check_refused(&(reduction){"sum", 2, {2, -1}, false, 0, 0}, x, DAMO_EVALUE);
  damo_release(x);
}

static void test_complex_dtypes(void) {
  static const char *const names[] = {"sum", "prod", "max", "logsumexp"};
  build b;
  build_init(&b, ctx);
  damo_var *z = build_value(&b, (damo_obj *)damo_array_new(ctx, DAMO_COMPLEX64, 2, (int64_t[]){2, 2}));
  for (int i = 0; i < 4; i++) {
    const damo_var *y = apply(&b, &(reduction){names[i], 1, {1}, false, 0, 0}, z);
    CHECK(y != NULL && var_dtype(y) == DAMO_COMPLEX64);
  }
  CHECK_EQ_I(build_end(&b), DAMO_OK);
}

static void test_names(void) {
  build b;
  build_init(&b, ctx);
  int64_t shape[2] = {2, 2};
  damo_var *x = build_value(&b, (damo_obj *)damo_array_new(ctx, DAMO_FLOAT64, 2, shape));
  strbuf text;
  strbuf_init(&text, ctx);
  op_format(&text, apply(&b, &(reduction){"sum", 0, {0}, false, 0, 0}, x)->owner->op);
  strbuf_add(&text, " ");
  op_format(&text, apply(&b, &(reduction){"max", 1, {2}, true, 0, 0}, x)->owner->op);
  CHECK_EQ_S(text.at, "Sum Max{axis={2}, keepdims}");
  CHECK(apply(&b, &(reduction){"sum", 2, {2, 1}, false, 0, 0}, x)->owner->op ==
        apply(&b, &(reduction){"sum", 0, {0}, false, 0, 0}, x)->owner->op);
  strbuf_clear(&text);
  build_end(&b);
}

int main(void) {
  ctx = damo_ctx_new(leak_alloc, NULL);
  if (!CHECK(ctx != NULL)) return 1;
  test_values();
  test_gradients();
  test_argsort();
  test_empty();
  test_errors();
  test_complex_dtypes();
  test_names();
  CHECK_EQ_I(damo_ctx_memory(ctx).objects, 0);
  leak_end(ctx);
  TEST_MAIN_END;
}

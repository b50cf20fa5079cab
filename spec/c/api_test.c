/* api_test: a program that uses only damo.h, without Lua: graphs, gradients, compiled functions, training, errors,
 * memory. */
#include <fenv.h>
#include "damo.h"
#include "test.h"

static damo_ctx *ctx;

static damo_var *tensor(damo_dtype dtype, int ndim, const char *name) {
  damo_type *t = damo_type_tensor(ctx, dtype, ndim, NULL);
  damo_var *v = damo_var_new(ctx, t, name);
  damo_release(t);
  return v;
}

static damo_var *op1(const char *f, damo_var *x) { return damo_call(ctx, f, (damo_var *[]){x}, 1); }
static damo_var *op2(const char *f, damo_var *x, damo_var *y) { return damo_call(ctx, f, (damo_var *[]){x, y}, 2); }

static double item(damo_array *take) {
  double v = NAN;
  if (take != NULL) damo_array_item(take, &v);
  damo_release(take);
  return v;
}

static void release_all(void *const *at, size_t n) {
  for (size_t i = 0; i < n; i++) damo_release(at[i]);
}
#define RELEASE(...) release_all((void *const[]){__VA_ARGS__}, sizeof((void *const[]){__VA_ARGS__}) / sizeof(void *))

static void test_arrays(void) {
  damo_array *a = damo_array_from(ctx, DAMO_INT32, 2, (const int64_t[]){2, 3}, (const int32_t[]){1, 2, 3, 4, 5, 6});
  CHECK(damo_array_ndim(a) == 2 && damo_array_dtype(a) == DAMO_INT32 && damo_array_size(a) == 6);
  CHECK(damo_array_shape(a)[0] == 2 && damo_array_shape(a)[1] == 3 && damo_array_strides(a)[0] == 12);
  CHECK(((int32_t *)damo_array_data(a))[5] == 6);
  double v;
  CHECK(damo_array_item(a, &v) == DAMO_ESHAPE);
  damo_array *s = damo_array_scalar(ctx, DAMO_FLOAT32, 2.5);
  CHECK(damo_array_item(s, &v) == DAMO_OK && v == 2.5);
  CHECK(damo_array_new(ctx, DAMO_FLOAT64, 1, (const int64_t[]){-1}) == NULL);
  CHECK_EQ_S(damo_error_kind(ctx), "shape");
  damo_dtype dt;
  CHECK(damo_dtype_from_name("complex64", &dt) && dt == DAMO_COMPLEX64 && !damo_dtype_from_name("float16", &dt));
  CHECK(damo_dtype_size(DAMO_COMPLEX128) == 16);
  CHECK_EQ_S(damo_dtype_name(DAMO_UINT16), "uint16");
  RELEASE(a, s);
}

/* f(x) = sum(exp(x) * 2 + x), its gradient 2 exp(x) + 1 */
static void test_gradient(const char *mode) {
  damo_var *x = tensor(DAMO_FLOAT64, 1, "x"), *e = op1("exp", x), *two = damo_number(ctx, 2), *m = op2("mul", e, two);
  damo_var *a = op2("add", m, x), *cost = op1("sum", a), *g = NULL;
  CHECK(damo_grad(ctx, cost, &x, 1, &g) == DAMO_OK);
  CHECK(g != NULL && damo_var_get_type(g) != NULL && damo_var_get_owner(g) != NULL);
  damo_function *f = damo_compile(ctx, &x, 1, (damo_var *[]){cost, g}, 2, NULL, NULL, 0, mode);
  if (CHECK(f != NULL)) {
    CHECK_EQ_I(damo_function_n_outputs(f), 2);
    damo_array *in = damo_array_from(ctx, DAMO_FLOAT64, 1, (const int64_t[]){3}, (const double[]){0, 1, -2}), *out[2];
    double sum = 0;
    const double *xs = damo_array_data(in);
    CHECK(damo_function_call(f, &in, 1, out) == DAMO_OK);
    for (int i = 0; i < 3; i++) {
      sum += 2 * exp(xs[i]) + xs[i];
      CHECK_NEAR(((double *)damo_array_data(out[1]))[i], 2 * exp(xs[i]) + 1, 1e-12);
    }
    CHECK_NEAR(item(out[0]), sum, 1e-12);
    RELEASE(out[1], in);
  }
  RELEASE(x, e, two, m, a, cost, g, f);
}

/* Least squares y = X w + b by gradient descent. */
static void test_training(const char *mode, double *w_out) {
  enum { N = 32, K = 3 };
  static const double truth[K] = {1.5, -2, 0.25};
  double xs[N * K], ys[N];
  for (int i = 0; i < N; i++) {
    ys[i] = 0.75;
    for (int k = 0; k < K; k++) {
      xs[i * K + k] = sin((1.7 + 0.9 * k) * i + k);
      ys[i] += xs[i * K + k] * truth[k];
    }
  }
  damo_array *w0 = damo_array_new(ctx, DAMO_FLOAT64, 1, (const int64_t[]){K}),
             *b0 = damo_array_scalar(ctx, DAMO_FLOAT64, 0);
  damo_var *x = tensor(DAMO_FLOAT64, 2, "x"), *y = tensor(DAMO_FLOAT64, 1, "y");
  damo_var *w = damo_shared(ctx, w0, "w"), *b = damo_shared(ctx, b0, "b");
  damo_var *p = op2("dot", x, w), *q = op2("add", p, b), *d = op2("sub", q, y), *sq = op1("sqr", d),
           *cost = op1("mean", sq);
  damo_var *g[2] = {NULL, NULL}, *rate = damo_number(ctx, 0.3);
  CHECK(damo_grad(ctx, cost, (damo_var *[]){w, b}, 2, g) == DAMO_OK);
  damo_var *sw = op2("mul", g[0], rate), *sb = op2("mul", g[1], rate), *nw = op2("sub", w, sw), *nb = op2("sub", b, sb);
  damo_function *f =
      damo_compile(ctx, (damo_var *[]){x, y}, 2, &cost, 1, (damo_var *[]){w, b}, (damo_var *[]){nw, nb}, 2, mode);
  if (!CHECK(f != NULL)) fprintf(stderr, "    %s\n", damo_error_message(ctx));
  damo_array *in[2] = {damo_array_from(ctx, DAMO_FLOAT64, 2, (const int64_t[]){N, K}, xs),
                       damo_array_from(ctx, DAMO_FLOAT64, 1, (const int64_t[]){N}, ys)};
  double first = 0, last = 0;
  for (int step = 0; f != NULL && step < 400; step++) {
    damo_array *out = NULL;
    if (!CHECK(damo_function_call(f, in, 2, &out) == DAMO_OK)) break;
    last = item(out);
    if (step == 0) first = last;
  }
  CHECK(first > 1 && last < 1e-12);
  damo_array *now = damo_shared_value(w);
  for (int k = 0; k < K; k++) {
    CHECK_NEAR(((double *)damo_array_data(now))[k], truth[k], 1e-6);
    w_out[k] = ((double *)damo_array_data(now))[k];
  }
  damo_release(now);
  w_out[K] = item(damo_shared_value(b));
  CHECK_NEAR(w_out[K], 0.75, 1e-6);
  RELEASE(w0, b0, x, y, w, b, p, q, d, sq, cost, g[0], g[1], rate, sw, sb, nw, nb, f, in[0], in[1]);
}

/* A reference to a shared value: later calls do not change it. */
static void test_shared(void) {
  damo_array *one = damo_array_scalar(ctx, DAMO_FLOAT64, 1), *other = damo_array_scalar(ctx, DAMO_INT8, 7);
  damo_array *wrong = damo_array_new(ctx, DAMO_FLOAT64, 1, (const int64_t[]){2}),
             *wide = damo_array_scalar(ctx, DAMO_COMPLEX128, 1);
  damo_var *s = damo_shared(ctx, one, "s"), *n = op2("add", s, s);
  ((double *)damo_array_data(one))[0] = 99; /* the shared Variable has a copy */
  damo_function *f = damo_compile(ctx, NULL, 0, NULL, 0, &s, &n, 1, NULL);
  damo_array *held = damo_shared_value(s);
  for (int i = 0; i < 5; i++) CHECK(damo_function_call(f, NULL, 0, NULL) == DAMO_OK);
  CHECK(item(held) == 1 && item(damo_shared_value(s)) == 32);
  CHECK(damo_shared_set(s, other) == DAMO_OK && item(damo_shared_value(s)) == 7);
  CHECK(damo_shared_set(s, wrong) == DAMO_ETYPE);
  CHECK(damo_shared_set(s, wide) == DAMO_ETYPE);
  CHECK(damo_shared_set(n, one) == DAMO_ETYPE);
  CHECK(damo_shared_value(n) == NULL && item(damo_shared_value(s)) == 7);
  RELEASE(one, other, wrong, wide, s, n, f);
}

static void test_options(void) {
  damo_array *a = damo_array_from(ctx, DAMO_FLOAT64, 2, (const int64_t[]){2, 3}, (const double[]){1, 2, 3, 4, 5, 6});
  damo_var *c = damo_constant(ctx, a), *s = damo_call_with(ctx, "sum", &c, 1, " axis=1  keepdims=true ");
  damo_var *r = damo_call_with(ctx, "reshape", &c, 1, "shape=3,2"),
           *both = damo_call_with(ctx, "sum", &c, 1, "axis=1,-1");
  CHECK(s != NULL && r != NULL && both != NULL);
  damo_function *f = damo_compile(ctx, NULL, 0, (damo_var *[]){s, r, both}, 3, NULL, NULL, 0, NULL);
  damo_array *out[3] = {NULL};
  if (CHECK(f != NULL) && CHECK(damo_function_call(f, NULL, 0, out) == DAMO_OK)) {
    CHECK(damo_array_ndim(out[0]) == 2 && damo_array_shape(out[0])[0] == 1 &&
          ((double *)damo_array_data(out[0]))[2] == 9);
    CHECK(damo_array_shape(out[1])[0] == 3 && ((double *)damo_array_data(out[1]))[2] == 3);
    CHECK(item(out[2]) == 21);
  }
  static const char *const bad[] = {"axi=1", "axis=x", "axis=1,x", "keepdims=maybe", "axis", "axis=", "axis=7"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    damo_var *v = damo_call_with(ctx, "sum", &c, 1, bad[i]);
    if (!CHECK(v == NULL)) fprintf(stderr, "    \"%s\"\n", bad[i]);
    damo_release(v);
  }
  CHECK(damo_call_with(ctx, "sum", &c, 1, NULL) == NULL);
  RELEASE(a, c, s, r, both, f, out[0], out[1]);
}

/* An error says what went wrong, where and why, and everything stays usable. */
static void test_errors(void) {
  damo_var *x = tensor(DAMO_FLOAT64, 1, "x"), *y = tensor(DAMO_FLOAT64, 1, "y"), *z = op2("add", x, y);
  damo_array *a2 = damo_array_new(ctx, DAMO_FLOAT64, 1, (const int64_t[]){2}),
             *a3 = damo_array_new(ctx, DAMO_FLOAT64, 1, (const int64_t[]){3});
  damo_array *c2 = damo_array_new(ctx, DAMO_COMPLEX128, 1, (const int64_t[]){2}), *out = NULL;
  damo_var *const xy[] = {x, y};
  CHECK(damo_compile(ctx, &x, 1, &z, 1, NULL, NULL, 0, NULL) == NULL);
  CHECK(damo_error_status(ctx) == DAMO_EMISSING_INPUT && strstr(damo_error_message(ctx), "y") != NULL);
  CHECK_EQ_S(damo_error_kind(ctx), "missing_input");
  CHECK(damo_compile(ctx, xy, 2, &x, 1, NULL, NULL, 0, NULL) == NULL && damo_error_status(ctx) == DAMO_EUNUSED_INPUT);
  CHECK(damo_compile(ctx, xy, 2, &z, 1, NULL, NULL, 0, "FAST_RUNN") == NULL && damo_error_status(ctx) == DAMO_EVALUE);
  CHECK(strstr(damo_error_message(ctx), "did you mean 'FAST_RUN'") != NULL);
  CHECK(damo_compile(ctx, xy, 2, &z, 1, &x, &y, 1, NULL) == NULL && damo_error_status(ctx) == DAMO_ETYPE);
  damo_function *f = damo_compile(ctx, xy, 2, &z, 1, NULL, NULL, 0, NULL);
  CHECK(damo_function_call(f, (damo_array *[]){a2, a3}, 2, &out) == DAMO_ESHAPE && out == NULL);
  CHECK(damo_error_op(ctx) != NULL && damo_error_get_node(ctx) != NULL);
  CHECK_EQ_S(damo_error_operands(ctx), "float64 (2,), float64 (3,)");
  CHECK(damo_function_call(f, (damo_array *[]){a2, c2}, 2, &out) == DAMO_ETYPE &&
        strstr(damo_error_message(ctx), "y") != NULL && damo_error_operands(ctx) == NULL);
  CHECK(damo_function_call(f, &a2, 1, &out) == DAMO_EMISSING_INPUT);
  CHECK(damo_function_call(f, (damo_array *[]){a2, a2, a2}, 3, &out) == DAMO_ETYPE);
  CHECK(damo_function_call(f, (damo_array *[]){a2, a2}, 2, &out) == DAMO_OK && damo_array_size(out) == 2);
  damo_var *untouched = x;
  CHECK(damo_grad(ctx, z, &x, 1, &untouched) == DAMO_ETYPE && untouched == x); /* the cost is not scalar */
  CHECK_EQ_S(damo_status_kind(DAMO_ENULL_GRADIENT), "null_gradient");
  RELEASE(x, y, z, a2, a3, c2, out, f);
}

/* The same graph compiles to the same program each time, also in another context. */
static char *program_text(damo_ctx *c) {
  damo_ctx *saved = ctx;
  ctx = c;
  damo_var *x = tensor(DAMO_FLOAT64, 2, "x"), *y = tensor(DAMO_FLOAT64, 2, "y"), *p = op2("dot", x, y),
           *t = op1("tanh", p);
  damo_var *m = op2("mul", t, t), *s = op1("sum", m), *g[2] = {NULL, NULL};
  CHECK(damo_grad(ctx, s, (damo_var *[]){x, y}, 2, g) == DAMO_OK);
  damo_var *both = op2("add", g[0], g[1]);
  char *text = damo_debugprint(ctx, both);
  RELEASE(x, y, p, t, m, s, g[0], g[1], both);
  ctx = saved;
  return text;
}

static void test_determinism(void) {
  damo_ctx *other = damo_ctx_new(NULL, NULL);
  char *a = program_text(ctx), *b = program_text(ctx), *c = program_text(other);
  CHECK_EQ_S(a, b);
  CHECK_EQ_S(a, c);
  CHECK(a != NULL && strstr(a, "[id A]") != NULL && strstr(a, "x [id") != NULL);
  damo_text_free(ctx, a);
  damo_text_free(ctx, b);
  damo_text_free(other, c);
  damo_ctx_release(other);
}

static void test_memory(void) {
  damo_memory_info before = damo_ctx_memory(ctx);
  damo_array *a = damo_array_new(ctx, DAMO_FLOAT64, 1, (const int64_t[]){1 << 20});
  damo_memory_info during = damo_ctx_memory(ctx);
  CHECK(during.bytes >= before.bytes + (8u << 20) && during.peak >= during.bytes && during.objects > before.objects);
  damo_release(a);
  damo_memory_info after = damo_ctx_memory(ctx);
  CHECK(after.bytes == before.bytes && after.objects == before.objects && after.peak >= during.bytes);
  damo_ctx_set_memory_cap(ctx, after.bytes + (1 << 20));
  CHECK_EQ_I(damo_ctx_memory(ctx).cap, after.bytes + (1 << 20));
  CHECK(damo_array_new(ctx, DAMO_FLOAT64, 1, (const int64_t[]){1 << 20}) == NULL &&
        damo_error_status(ctx) == DAMO_EMEMORY);
  damo_ctx_set_memory_cap(ctx, 0);
  CHECK(damo_ctx_memory(ctx).bytes == before.bytes);
}

/* Objects outlive the host's reference on their context. */
static void test_context_outlived(void) {
  damo_ctx *c = damo_ctx_new(NULL, NULL);
  damo_array *a = damo_array_scalar(c, DAMO_FLOAT64, 5);
  damo_ctx_release(c);
  CHECK(item(a) == 5);
  damo_release(NULL);
  damo_ctx_release(NULL);
}

static void note_warning(void *user, const char *kind, const char *message) {
  (void)kind, (void)message;
  ++*(int *)user;
}

/* In a host with another rounding mode the results are the same, and its mode is restored, also after an error. */
static void test_rounding(void) {
  static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  const int64_t n = 1000;
  damo_type *t = damo_type_tensor(ctx, DAMO_FLOAT64, 1, NULL);
  damo_var *x = damo_var_new(ctx, t, "x"), *y = damo_call(ctx, "exp", &x, 1);
  damo_array *a = damo_array_new(ctx, DAMO_FLOAT64, 1, &n), *plain = NULL, *other = NULL;
  for (int i = 0; i < n; i++) ((double *)damo_array_data(a))[i] = 0.01 * i;
  damo_function *f = damo_compile(ctx, &x, 1, &y, 1, NULL, NULL, 0, NULL);
  CHECK_EQ_I(damo_function_call(f, &a, 1, &plain), DAMO_OK);
  damo_var *k = damo_constant(ctx, a), *folded = damo_call(ctx, "exp", &k, 1);
  for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
    fesetround(modes[m]);
    const damo_status called = damo_function_call(f, &a, 1, &other);
    const int kept = fegetround();
    damo_function *g = damo_compile(ctx, NULL, 0, &folded, 1, NULL, NULL, 0, NULL);
    const damo_status missing = damo_function_call(f, NULL, 0, &other);
    const int kept_after_error = fegetround();
    fesetround(FE_TONEAREST);
    CHECK(called == DAMO_OK && kept == modes[m] && missing == DAMO_EMISSING_INPUT && kept_after_error == modes[m]);
    CHECK(memcmp(damo_array_data(plain), damo_array_data(other), (size_t)n * sizeof(double)) == 0);
    damo_release(other);
    CHECK_EQ_I(damo_function_call(g, NULL, 0, &other), DAMO_OK); /* folded under the other rounding mode */
    CHECK(memcmp(damo_array_data(plain), damo_array_data(other), (size_t)n * sizeof(double)) == 0);
    damo_release(other);
    damo_release(g);
  }
  void *all[] = {t, x, y, a, plain, f, k, folded};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) damo_release(all[i]);
}

int main(void) {
  ctx = damo_ctx_new(NULL, NULL);
  if (!CHECK(ctx != NULL)) TEST_MAIN_END;
  int warnings = 0;
  damo_ctx_set_warning(ctx, note_warning, &warnings);
  test_arrays();
  test_gradient(NULL);
  test_gradient("FAST_COMPILE");
  double run[4], fast[4];
  test_training("FAST_RUN", run);
  test_training("FAST_COMPILE", fast);
  for (int k = 0; k < 4; k++) CHECK_NEAR(run[k], fast[k], 1e-12);
  test_shared();
  test_options();
  test_errors();
  test_determinism();
  test_rounding();
  test_memory();
  test_context_outlived();
  CHECK_EQ_I(warnings, 0);
  CHECK(damo_array_new(ctx, DAMO_FLOAT64, -1, NULL) == NULL); /* releases the node that the last error refers to */
  CHECK_EQ_I(damo_ctx_memory(ctx).objects, 0);
  damo_ctx_release(ctx);
  TEST_MAIN_END;
}

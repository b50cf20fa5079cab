/* eager_test: eager calls and the frames kept for them: when one is made, its results beside those of a graph made for
 * the call alone, the bounds of the cache, and failing allocation. */
#include "op/op.h"
#include "test.h"

static damo_ctx *ctx;

static damo_array *ramp(int64_t n, double from) {
  damo_array *a = damo_array_new(ctx, DAMO_FLOAT64, 1, &n);
  for (int64_t i = 0; i < n; i++) ((double *)a->data)[i] = from + (double)i;
  return a;
}

static eager_operand of_array(damo_array *a) { return (eager_operand){.value = (damo_obj *)a}; }
static eager_operand of_number(double x) { return (eager_operand){.literal = {.dtype = DAMO_FLOAT64, .v.f = x}}; }

static const prop_value no_options[FN_MAX_OPTIONS];

static damo_status call(const char *name, const eager_operand *in, int n_in, damo_array *out, eager_results *r) {
  const eager_request q = {func_find(ctx, name), in, n_in, no_options, &out, out != NULL};
  return eager_call(ctx, &q, r);
}

static void drop(eager_results *r) {
  for (int64_t i = 0; i < r->n; i++) damo_release(r->at[i]);
  eager_results_free(ctx, r);
}

static int frames(void) {
  int n;
  size_t bytes;
  eager_count(ctx, &n, &bytes);
  return n;
}

/* The first entry of name(a, x). */
static double first_of(const char *name, damo_array *a, double x) {
  const eager_operand in[] = {of_array(a), of_number(x)};
  eager_results r;
  if (!CHECK_EQ_I(call(name, in, 2, NULL, &r), DAMO_OK)) return NAN;
  const double y = *(double *)((damo_array *)r.at[0])->data;
  drop(&r);
  return y;
}

static void test_second_call(void) {
  damo_array *a = ramp(3, 1), *b = ramp(7, 2);
  eager_forget(ctx);
  CHECK_EQ_I(frames(), 0);
  CHECK_NEAR(first_of("add", a, 10), 11, 0);
  CHECK_EQ_I(frames(), 0);
  CHECK_NEAR(first_of("add", a, 10), 11, 0);
  CHECK_EQ_I(frames(), 1);
  CHECK_NEAR(first_of("add", a, 20), 21, 0); /* another literal */
  CHECK_NEAR(first_of("add", b, 20), 22, 0); /* another length */
  CHECK_EQ_I(frames(), 1);
  CHECK_NEAR(first_of("pow", a, 2), 1, 0);
  CHECK_NEAR(first_of("pow", b, 2), 4, 0);
  CHECK_NEAR(first_of("pow", b, 3), 8, 0);
  CHECK_EQ_I(frames(), 2);
  damo_release(a), damo_release(b);
}

/* Lengths that do not agree fail with the whole message each time; the frame serves the next call. */
static void test_error(void) {
  damo_array *a = ramp(3, 1), *b = ramp(4, 1), *c = ramp(3, 5);
  const eager_operand good[] = {of_array(a), of_array(c)}, bad[] = {of_array(a), of_array(b)};
  eager_results r;
  for (int i = 0; i < 4; i++) {
    CHECK_EQ_I(call("mul", good, 2, NULL, &r), DAMO_OK);
    CHECK_NEAR(*(double *)((damo_array *)r.at[0])->data, 5, 0);
    drop(&r);
    CHECK_EQ_I(call("mul", bad, 2, NULL, &r), DAMO_ESHAPE);
    CHECK_EQ_S(damo_error_message(ctx),
               "mul: shapes (3,) and (4,) do not agree: axis 1 is 3 in operand 1 and 4 in operand 2");
  }
  damo_release(a), damo_release(b), damo_release(c);
}

/* A shifted view of the operand as `out`: each entry is computed from the operand as it was. */
static void test_overlap(void) {
  const int64_t n = 5000, stride = sizeof(double);
  for (int i = 0; i < 4; i++) {
    damo_array *whole = ramp(n + 1, 1), *x = array_view(whole, 1, &n, &stride, 0),
               *out = array_view(whole, 1, &n, &stride, stride);
    const eager_operand in[] = {of_array(x)};
    eager_results r;
    CHECK_EQ_I(call("sqr", in, 1, out, &r), DAMO_OK);
    CHECK(r.at[0] == &out->obj);
    bool right = true;
    for (int64_t k = 0; k < n; k++) right = right && ((double *)out->data)[k] == (double)((k + 1) * (k + 1));
    CHECK(right);
    drop(&r);
    damo_release(x), damo_release(out), damo_release(whole);
  }
}

/* A wrong array is not written, by a graph of its own and by a frame. */
static void test_wrong_out(void) {
  damo_array *a = ramp(3, 1), *longer = ramp(4, 7), *whole = array_cast(a, DAMO_INT64);
  const eager_operand in[] = {of_array(a)};
  eager_results r;
  for (int i = 0; i < 4; i++) {
    CHECK_EQ_I(call("exp", in, 1, longer, &r), DAMO_ESHAPE);
    CHECK_EQ_S(damo_error_message(ctx), "exp: the result is float64 (3,), out is float64 (4,)");
    CHECK_EQ_I(call("exp", in, 1, whole, &r), DAMO_ETYPE);
    CHECK_EQ_S(damo_error_message(ctx), "exp: the result is float64 (3,), out is int64 (3,)");
    CHECK_EQ_I(call("exp", in, 1, NULL, &r), DAMO_OK);
    drop(&r);
  }
  CHECK_NEAR(*(double *)longer->data, 7, 0);
  CHECK_EQ_I(*(int64_t *)whole->data, 1);
  damo_release(a), damo_release(longer), damo_release(whole);
}

/* floatX is part of the key: the quotient of integers has it. */
static void test_floatx(void) {
  damo_array *a = ramp(2, 1), *whole = array_cast(a, DAMO_INT64);
  const eager_operand in[] = {of_array(whole), of_array(whole)};
  for (int i = 0; i < 6; i++) {
    eager_results r;
    ctx->config.floatX = i % 2 ? DAMO_FLOAT32 : DAMO_FLOAT64;
    CHECK_EQ_I(call("true_div", in, 2, NULL, &r), DAMO_OK);
    CHECK_EQ_I(array_dtype((damo_array *)r.at[0]), ctx->config.floatX);
    drop(&r);
  }
  ctx->config.floatX = DAMO_FLOAT64;
  damo_release(a), damo_release(whole);
}

/* A thousand keys: the number of frames and their bytes stay bounded, and what the context holds with them. */
static void test_bounds(void) {
  int n = 0, most = 0;
  size_t bytes = 0, most_bytes = 0;
  for (int64_t length = 1; length <= 1000; length++) {
    damo_array *a = ramp(length, 1);
    const eager_operand in[] = {of_array(a)};
    for (int i = 0; i < 3; i++) {
      eager_results r;
      CHECK_EQ_I(call("cumsum", in, 1, NULL, &r), DAMO_OK);
      drop(&r);
    }
    damo_release(a);
    eager_count(ctx, &n, &bytes);
    if (n > most) most = n;
    if (bytes > most_bytes) most_bytes = bytes;
  }
  CHECK(most > 64 && most <= 256);
  CHECK(most_bytes <= (size_t)1 << 20);
  eager_forget(ctx);
  eager_count(ctx, &n, &bytes);
  CHECK_EQ_I(n, 0);
  CHECK_EQ_I(bytes, 0);
}

/* Each allocation of four calls fails in turn: either the call fails for memory or it has the right result. */
static void test_memory(void) {
  damo_array *a = ramp(3, 1);
  const eager_operand in[] = {of_array(a)};
  bool passed = false;
  for (int64_t k = 0; k < 400 && !passed; k++) {
    eager_forget(ctx);
    ctx->fail_after = k;
    passed = true;
    for (int i = 0; i < 4; i++) {
      eager_results r;
      const damo_status s = call("softmax", in, 1, NULL, &r);
      if (s != DAMO_OK) {
        CHECK_EQ_I(s, DAMO_EMEMORY);
        passed = false;
        continue;
      }
      CHECK_NEAR(((double *)((damo_array *)r.at[0])->data)[2], 0.66524095577, 1e-9);
      drop(&r);
    }
    if (ctx->fail_after < 0) passed = false; /* it failed where the call did without: try the next */
    ctx->fail_after = -1;
  }
  CHECK(passed);
  damo_release(a);
}

int main(void) {
  ctx = damo_ctx_new(NULL, NULL);
  test_second_call();
  test_error();
  test_overlap();
  test_wrong_out();
  test_floatx();
  test_bounds();
  test_memory();
  damo_ctx_release(ctx);
  TEST_MAIN_END;
}

/* call_run_test: calls cut into slices through damo.h: several runs of one function beside its ordinary calls, what they
 * read and commit, conflicts, ends before their time. */
#include <stdlib.h>
#include <string.h>

#include "damo.h"
#include "test.h"

enum { N = 1 << 16 };

/* y = sum(exp(tanh(x)) * w), and w becomes w + 1. */
static damo_function *make_model(damo_ctx *ctx, damo_var **w) {
  const double half = 0.5, one = 1;
  damo_array *start = damo_array_from(ctx, DAMO_FLOAT64, 0, NULL, &half),
             *unit = damo_array_from(ctx, DAMO_FLOAT64, 0, NULL, &one);
  *w = damo_shared(ctx, start, "w");
  damo_var *step = damo_constant(ctx, unit);
  damo_type *vector = damo_type_tensor(ctx, DAMO_FLOAT64, 1, NULL);
  damo_var *x = damo_var_new(ctx, vector, "x"), *t = damo_call(ctx, "tanh", &x, 1), *e = damo_call(ctx, "exp", &t, 1);
  damo_var *p = damo_call(ctx, "mul", (damo_var *[]){e, *w}, 2), *y = damo_call(ctx, "sum", &p, 1);
  damo_var *next = damo_call(ctx, "add", (damo_var *[]){*w, step}, 2);
  damo_function *f = damo_compile(ctx, &x, 1, &y, 1, w, &next, 1, NULL);
  void *all[] = {start, unit, step, vector, x, t, e, p, y, next};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) damo_release(all[i]);
  return f;
}

static double value_of(damo_array *a) {
  double v = -1;
  CHECK_EQ_I(damo_array_item(a, &v), DAMO_OK);
  damo_release(a);
  return v;
}

/* Steps without a budget of time until the end; returns the number of steps. */
static int finish(damo_run *run) {
  int steps = 0;
  for (bool done = false; !done && steps < 1000000; steps++) {
    if (damo_call_step(run, 0, &done) != DAMO_OK) return -1;
  }
  return steps;
}

static void *count_calls(void *user, void *ptr, size_t osize, size_t nsize) {
  (void)osize;
  ++*(long *)user;
  if (nsize > 0) return realloc(ptr, nsize);
  free(ptr);
  return NULL;
}

/* Once a run is warm, and its loops are machine code, its next calls don't call the allocator. */
static void test_restart_allocates_nothing(void) {
  long calls = 0;
  damo_ctx *ctx = damo_ctx_new(count_calls, &calls);
  damo_var *w = NULL;
  damo_function *f = make_model(ctx, &w);
  damo_array *x = damo_array_new(ctx, DAMO_FLOAT64, 1, (const int64_t[]){1000});
  for (int i = 0; i < 1000; i++) ((double *)damo_array_data(x))[i] = 1e-3 * i;
  damo_run *run = damo_call_begin(f, &x, 1);
  CHECK(run != NULL && finish(run) > 0);
  for (int i = 0; i < 100; i++) CHECK(damo_call_restart(run, &x, 1) == DAMO_OK && finish(run) > 0);
  const long before = calls;
  for (int i = 0; i < 100; i++) CHECK(damo_call_restart(run, &x, 1) == DAMO_OK && finish(run) > 0);
  CHECK_EQ_I(calls, before);
  damo_release(run);
  damo_release(x);
  damo_release(f);
  damo_release(w);
  damo_ctx_release(ctx);
}

int main(void) {
  test_restart_allocates_nothing();
  damo_ctx *ctx = damo_ctx_new(NULL, NULL);
  damo_var *w = NULL;
  damo_function *f = make_model(ctx, &w);
  double *values = NULL;
  damo_array *x = damo_array_new(ctx, DAMO_FLOAT64, 1, (const int64_t[]){N}), *r = NULL;
  CHECK(f != NULL && x != NULL);
  values = damo_array_data(x);
  for (int i = 0; i < N; i++) values[i] = 1e-3 * (i % 997) - 0.4;

  CHECK_EQ_I(damo_function_call(f, &x, 1, &r), DAMO_OK);
  const double first = value_of(r);

  damo_run *run = damo_call_begin(f, &x, 1);
  CHECK(run != NULL);
  r = NULL;
  CHECK_EQ_I(damo_call_result(run, &r), DAMO_ESTATE);
  CHECK(r == NULL);
  CHECK(finish(run) > 0);
  CHECK_EQ_I(damo_call_result(run, &r), DAMO_OK);
  CHECK(value_of(r) > 2.9 * first); /* w was 1.5 where it had been 0.5 */
  CHECK(value_of(damo_function_shared_value(f, w)) == 2.5);

  /* A run that is cancelled, or that ends after another call has set w, commits nothing. */
  CHECK_EQ_I(damo_call_restart(run, &x, 1), DAMO_OK);
  CHECK_EQ_I(damo_call_cancel(run), DAMO_OK);
  CHECK(value_of(damo_function_shared_value(f, w)) == 2.5);
  CHECK_EQ_I(damo_call_restart(run, &x, 1), DAMO_OK);
  CHECK_EQ_I(damo_function_call(f, &x, 1, &r), DAMO_OK);
  const double third = value_of(r);
  bool done = false;
  CHECK_EQ_I(damo_call_step(run, -1, &done), DAMO_ESTATE);
  CHECK(!done && value_of(damo_function_shared_value(f, w)) == 3.5);
  CHECK(third > first);

  /* The same bits as an ordinary call; the arguments may be released meanwhile. */
  damo_release(run);
  CHECK_EQ_I(damo_function_call(f, &x, 1, &r), DAMO_OK);
  const double fourth = value_of(r);
  damo_run *two[2] = {damo_call_begin(f, &x, 1), damo_call_begin(f, &x, 1)};
  damo_release(x);
  CHECK_EQ_I(damo_call_step(two[0], -1, &done), DAMO_OK);
  CHECK(done);
  CHECK_EQ_I(damo_call_result(two[0], &r), DAMO_OK);
  const double fifth = value_of(r);
  CHECK(fifth - fourth > 0 && fifth - fourth < 1.0001 * (fourth - third) && fifth - fourth > 0.9999 * (fourth - third));
  damo_release(two[1]); /* before its end */
  damo_release(two[0]);

  damo_release(f);
  damo_release(w);
  damo_ctx_release(ctx);
  TEST_MAIN_END;
}

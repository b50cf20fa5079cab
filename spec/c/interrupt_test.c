/* interrupt_test: damo_ctx_interrupt ends ordinary calls, from another thread and from a signal handler, with nothing
 * committed; the next call is not ended by it. */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "damo.h"
#include "test.h"

enum { N = 1 << 22 };

static damo_ctx *volatile the_ctx;

static void wait_ms(long ms) { nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL); }

static void *interrupt_later(void *ctx) {
  wait_ms(20);
  damo_ctx_interrupt(ctx);
  return NULL;
}

static void *signal_later(void *thread) {
  wait_ms(20);
  pthread_kill(*(pthread_t *)thread, SIGUSR1);
  return NULL;
}

static void on_signal(int number) {
  (void)number;
  damo_ctx_interrupt(the_ctx);
}

/* w, and w becomes exp(sin(w)) a number of times. */
static damo_function *make_long_model(damo_ctx *ctx, damo_var *w, int times, int threads) {
  damo_var *next = damo_retain(w);
  for (int i = 0; i < times; i++) {
    damo_var *s = damo_call(ctx, i % 2 ? "exp" : "sin", &next, 1);
    damo_release(next);
    next = s;
  }
  const damo_compile_options options = {
      .size = sizeof options, .shared = &w, .update = &next, .n_updates = 1, .threads = threads};
  damo_function *f = damo_compile_with(ctx, NULL, 0, NULL, 0, &options);
  damo_release(next);
  return f;
}

static double first_value(damo_function *f, damo_var *w) {
  damo_array *a = damo_function_shared_value(f, w);
  const double v = *(double *)damo_array_data(a);
  damo_release(a);
  return v;
}

int main(void) {
  damo_ctx *ctx = damo_ctx_new(NULL, NULL);
  the_ctx = ctx;
  damo_array *start = damo_array_new(ctx, DAMO_FLOAT64, 1, (const int64_t[]){N});
  for (int i = 0; i < N; i++) ((double *)damo_array_data(start))[i] = 1;
  damo_var *w = damo_shared(ctx, start, "w");
  damo_function *f = make_long_model(ctx, w, 100, 1), *g = make_long_model(ctx, w, 2, 1),
                *h = make_long_model(ctx, w, 100, 3);
  CHECK(f != NULL && g != NULL && h != NULL);

  pthread_t other, self = pthread_self();
  CHECK(pthread_create(&other, NULL, interrupt_later, ctx) == 0);
  CHECK_EQ_I(damo_function_call(f, NULL, 0, NULL), DAMO_ESTATE);
  CHECK(strstr(damo_error_message(ctx), "interrupted") != NULL);
  CHECK(pthread_join(other, NULL) == 0);
  CHECK(first_value(f, w) == 1);

  CHECK(pthread_create(&other, NULL, interrupt_later, ctx) == 0);
  CHECK_EQ_I(damo_function_call(h, NULL, 0, NULL), DAMO_ESTATE);
  CHECK(pthread_join(other, NULL) == 0);
  CHECK(first_value(h, w) == 1);

  struct sigaction action = {.sa_handler = on_signal};
  CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
  CHECK(pthread_create(&other, NULL, signal_later, &self) == 0);
  CHECK_EQ_I(damo_function_call(f, NULL, 0, NULL), DAMO_ESTATE);
  CHECK(pthread_join(other, NULL) == 0);
  CHECK(first_value(f, w) == 1);

  /* Between calls: the next one ends, and only that. */
  damo_ctx_interrupt(ctx);
  CHECK_EQ_I(damo_function_call(g, NULL, 0, NULL), DAMO_ESTATE);
  CHECK_EQ_I(damo_function_call(g, NULL, 0, NULL), DAMO_OK);
  CHECK(first_value(g, w) > 1);

  void *all[] = {start, w, f, g, h};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) damo_release(all[i]);
  damo_ctx_release(ctx);
  TEST_MAIN_END;
}

/* scan_test: a loop built in C: its values, equal Ops, and its end by damo_ctx_interrupt on another thread. */
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "api/api.h"
#include "op/elem/build_arith.h"
#include "op/op.h"
#include "scan/scan.h"
#include "test.h"

/* x ← x + 1 from 0 on, n times; the last value (owned). */
static damo_var *counter(damo_ctx *ctx, int64_t n) {
  static const int32_t before = -1;
  build b;
  scan_draft d;
  build_init(&b, ctx);
  scan_draft_init(&d, &b);
  damo_type *type = type_tensor(ctx, DAMO_FLOAT64, 0, NULL);
  damo_var *x = build_take(&b, var_new(ctx, type, "x")), *zero = build_scalar(&b, DAMO_FLOAT64, 0);
  scan_part *p = scan_draft_state(&d, zero, 1, &before, &x, build_add(&b, x, build_num(&b, 1)));
  CHECK(p != NULL);
  if (p != NULL) p->stack = -1, p->last = 0;
  damo_array *steps = array_from_scalar(ctx, (scalar){.dtype = DAMO_INT64, .v.i = n});
  d.n_steps = build_value(&b, (damo_obj *)steps);
  damo_apply *node = scan_draft_node(&d);
  damo_var *last = node != NULL ? damo_retain(node->out[0]) : NULL;
  scan_draft_clear(&d);
  damo_release(type);
  CHECK(build_end(&b) == DAMO_OK);
  return last;
}

static damo_function *compiled(damo_ctx *ctx, damo_var *v) {
  const out_spec out = {.var = v};
  return compile_function(ctx, NULL, 0, &out, 1, &(compile_options){.optimizer = "none"});
}

static void test_values(void) {
  damo_ctx *ctx = damo_ctx_new(NULL, NULL);
  damo_var *a = counter(ctx, 7), *b = counter(ctx, 3);
  CHECK(a != NULL && b != NULL && a->owner->op == b->owner->op && scan_of(a->owner->op) != NULL);
  damo_function *f = compiled(ctx, a);
  damo_obj *result = NULL;
  CHECK(f != NULL && function_call(f, NULL, 0, NULL, &result) == DAMO_OK);
  CHECK(result != NULL && array_item((damo_array *)result).v.f == 7);
  damo_release(result);
  damo_release(f);
  damo_release(a);
  damo_release(b);
  damo_ctx_release(ctx);
}

static void *interrupt_later(void *ctx) {
  nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
  damo_ctx_interrupt(ctx);
  return NULL;
}

static void test_interrupt(void) {
  damo_ctx *ctx = damo_ctx_new(NULL, NULL);
  damo_var *v = counter(ctx, SCAN_NO_LIMIT);
  damo_function *f = compiled(ctx, v);
  damo_obj *result = NULL;
  pthread_t other;
  CHECK(f != NULL && pthread_create(&other, NULL, interrupt_later, ctx) == 0);
  CHECK(function_call(f, NULL, 0, NULL, &result) == DAMO_ESTATE);
  pthread_join(other, NULL);
  CHECK(strstr(damo_error_message(ctx), "interrupted") != NULL);
  damo_release(f);
  damo_release(v);
  f = compiled(ctx, v = counter(ctx, 5)); /* the next call is not concerned */
  CHECK(f != NULL && function_call(f, NULL, 0, NULL, &result) == DAMO_OK);
  damo_release(result);
  damo_release(f);
  damo_release(v);
  damo_ctx_release(ctx);
}

/* Goes back over n steps as a ScanGrad does; the forward steps, and the most checkpoints at one time. */
static int64_t go_back(int64_t checkpoint, int64_t n, int64_t *most) {
  static int64_t kept[4096];
  scan_schedule s;
  int64_t n_kept = 1, steps = 0, at = 0;
  schedule_init(&s, checkpoint, 0, n);
  kept[0] = 0;
  *most = 1;
  for (int64_t step = n - 1; step >= 0; step--) {
    if (at > step) at = kept[n_kept - 1];
    while (at < step) {
      const int64_t next = schedule_next(&s, at, step, n_kept), to = next < 0 ? step : next;
      CHECK(to > at && to <= step);
      if (to <= at || n_kept == 4096) return -1;
      steps += to - at;
      at = to;
      if (at < step) kept[n_kept++] = at;
      if (n_kept > *most) *most = n_kept;
    }
    if (kept[n_kept - 1] == step) n_kept--;
  }
  CHECK(n_kept == 0);
  return steps;
}

/* The least forward steps for n steps with c checkpoints, by dynamic programming. */
static int64_t least_steps(int n, int c) {
  enum { MOST = 80 };
  static int64_t least[MOST][MOST];
  for (int l = 1; l <= n; l++) least[1][l] = (int64_t)l * (l - 1) / 2;
  for (int k = 2; k <= c; k++) {
    least[k][1] = 0;
    for (int l = 2; l <= n; l++) {
      least[k][l] = INT64_MAX;
      for (int d = 1; d < l; d++) {
        const int64_t steps = d + least[k - 1][l - d] + least[k][d];
        if (steps < least[k][l]) least[k][l] = steps;
      }
    }
  }
  return least[c][n];
}

static void test_schedule(void) {
  int64_t most;
  for (int64_t n = 1; n <= 70; n++) {
    CHECK(go_back(SCAN_ALL, n, &most) == n - 1 && most <= n);
    scan_schedule s;
    schedule_init(&s, SCAN_LOG, 0, n);
    CHECK(go_back(SCAN_LOG, n, &most) == least_steps((int)n, (int)(s.most < n ? s.most : n)));
    CHECK(most <= s.most);
    for (int64_t k = 1; k <= 9; k++) {
      const int64_t steps = go_back(k, n, &most);
      CHECK(steps <= 2 * n && most <= n / k + k + 1);
    }
  }
  CHECK(go_back(SCAN_LOG, 10000, &most) < 30000 && most + 1 <= 53); /* 4 log2 1e4 = 53.2 */
  CHECK(go_back(SCAN_LOG, 1000000, &most) < 4000000 && most + 1 <= 79);
}

int main(void) {
  test_schedule();
  test_values();
  test_interrupt();
  TEST_MAIN_END;
}

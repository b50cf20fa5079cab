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

int main(void) {
  test_values();
  test_interrupt();
  TEST_MAIN_END;
}

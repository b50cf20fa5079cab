/* pace.c: functions that run in slices of time, on a fiber. */
#include "base_int.h"
#include "fiber.h"

#define PACE_LEAST_NS 250.0  /* shorter work, as estimated, is not cut */
#define PACE_SHARE_NS 8000.0 /* of a share, by the estimate of the work */
#define PACE_PART_NS 12000   /* of a part that a loop makes by pace_next */

struct pace {
  damo_ctx *ctx;
  fiber *fiber; /* NULL where stacks can't be switched */
  thread_pool *pool;
  int64_t deadline;    /* INT64_MAX: none */
  bool running, begun; /* `begun` says that the function was called and has not returned */
  bool stopped;
  pace_fn outside; /* what the function asks to be called outside */
  void *outside_arg;
  int32_t depth, stack; /* of calls that the function has entered */
  int threads;          /* damo_ctx.call_threads, of the function */
  bool reproducible;    /* damo_ctx.reproducible */
};

pace *pace_new(damo_ctx *ctx) {
  pace *p = mem_calloc(ctx, sizeof *p);
  if (p == NULL) return NULL;
  p->ctx = ctx;
  p->pool = pool_new_cut(ctx, PACE_SHARE_NS);
  p->fiber = p->pool != NULL ? fiber_new(ctx) : NULL;
  if (p->pool != NULL && (p->fiber != NULL || !FIBER_SWITCHES)) return p;
  pace_free(p);
  return NULL;
}

void pace_free(pace *p) {
  if (p == NULL) return;
  damo_assert(!p->begun);
  fiber_free(p->ctx, p->fiber);
  pool_free_cut(p->ctx, p->pool);
  mem_free(p->ctx, p, sizeof *p);
}

bool pace_is_suspended(const pace *p) { return p->begun && !p->running; }

bool pace_is_stopped(const pace *p) { return p->stopped; }

bool pace_is_limited(const pace *p) { return p->deadline != INT64_MAX && p->fiber != NULL; }

thread_pool *pace_pool(pace *p, double ns) {
  if (ns < PACE_LEAST_NS) return NULL;
  pool_estimate(p->pool, ns);
  return p->pool;
}

void pace_stop(pace *p) { p->stopped = true; }

bool pace_run(pace *p, int64_t ns, pace_fn fn, void *user) {
  damo_ctx *ctx = p->ctx;
  pace *const outer = ctx->pace;
  const int32_t depth = ctx->depth, stack = ctx->stack;
  const int threads = ctx->call_threads;
  const ctx_watch watch = {ctx->watching, ctx->stop};
  const bool reproducible = ctx->reproducible;
  bool ended;
  damo_assert(!p->running);
  ctx->watching = false;
  ctx->stop = DAMO_OK;
  if (!p->begun) p->stopped = false;
  p->deadline = INT64_MAX;
  if (ns >= 0) {
    const int64_t now = clock_ns();
    p->deadline = ns < INT64_MAX - 1 - now ? now + ns : INT64_MAX - 1;
  }
  if (p->begun) {
    ctx->depth += p->depth;
    ctx->stack += p->stack;
    ctx->call_threads = p->threads;
    ctx_set_reproducible(ctx, p->reproducible);
  }
  p->running = p->begun = true;
  for (;;) {
    ctx->pace = p;
    if (p->fiber != NULL)
      ended = fiber_enter(p->fiber, fn, user);
    else
      fn(user), ended = true;
    ctx->pace = outer;
    if (ended || p->outside == NULL) break;
    const pace_fn outside = p->outside;
    p->outside = NULL;
    outside(p->outside_arg);
  }
  p->depth = ctx->depth - depth;
  p->stack = ctx->stack - stack;
  p->threads = ctx->call_threads;
  p->reproducible = ctx->reproducible;
  ctx->depth = depth;
  ctx->stack = stack;
  ctx->call_threads = threads;
  ctx->watching = watch.watching;
  ctx->stop = watch.stop;
  ctx_set_reproducible(ctx, reproducible);
  p->running = false;
  p->begun = !ended;
  return ended;
}

void pace_point(pace *p) {
  damo_assert(p->running && p->ctx->pace == p);
  if (p->stopped || p->deadline == INT64_MAX || p->fiber == NULL) return;
  if (clock_ns() >= p->deadline) fiber_leave(p->fiber);
}

void pace_beat_set(pace_beat *b, int64_t most, int64_t part_ns, int64_t now) {
  if (b->since != 0) {
    const int64_t took = now - b->since;
    if (took < part_ns / 2) b->n *= 2;
    if (took > part_ns) b->n = b->n * part_ns / took;
  }
  if (b->n > most) b->n = most;
  if (b->n < 1) b->n = 1;
  b->since = now;
}

void pace_next(pace *p, pace_beat *b, int64_t most) {
  const int64_t now = clock_ns();
  pace_beat_set(b, most, PACE_PART_NS, now);
  if (p->stopped || p->fiber == NULL || now < p->deadline) return;
  fiber_leave(p->fiber);
  b->since = clock_ns();
}

damo_status pace_poll(pace *p) {
  pace_point(p);
  return p->stopped ? ctx_fail(p->ctx, DAMO_ESTATE, "the run was cancelled") : DAMO_OK;
}

void ctx_outside(damo_ctx *ctx, pace_fn fn, void *arg) {
  pace *p = ctx->pace;
  if (p != NULL && p->fiber != NULL) {
    p->outside = fn;
    p->outside_arg = arg;
    fiber_leave(p->fiber);
    return;
  }
  ctx->pace = NULL;
  fn(arg);
  ctx->pace = p;
}

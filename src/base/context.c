/* context: construction, configuration and destruction of a damo_ctx.
 *
 * A context counts the host's references and one for every live object, so it outlives the host's last reference as
 * long as objects exist. Objects that the context itself holds (the node of the last error, those of slots) must not
 * keep it alive: they are released as soon as the host's references are gone (refs == n_objects).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base_int.h"

#ifdef DAMO_DEBUG
static int64_t fail_after_at_birth(void) {
  const char *text = getenv("DAMO_FAIL_ALLOC");
  if (!text) return -1;
  char *end;
  long long n = strtoll(text, &end, 10);
  return end != text && *end == '\0' && n > 0 ? n - 1 : -1;
}

/* The stress switches named in DAMO_STRESS, "collect,move,block". */
static unsigned stress_at_birth(void) {
  static const struct {
    const char *name;
    stress_switch bit;
  } switches[] = {{"collect", STRESS_COLLECT}, {"move", STRESS_MOVE}, {"block", STRESS_BLOCK}, {"share", STRESS_SHARE}};
  const char *text = getenv("DAMO_STRESS");
  unsigned bits = 0;
  for (size_t i = 0; text && i < sizeof switches / sizeof *switches; i++) {
    if (strstr(text, switches[i].name)) bits |= (unsigned)switches[i].bit;
  }
  return bits;
}
#else
/* A release build ignores these variables: a user's environment must not make a program fail. */
static int64_t fail_after_at_birth(void) { return -1; }
static unsigned stress_at_birth(void) { return 0; }
#endif

damo_ctx *ctx_new_bare(damo_alloc_fn alloc, void *user) {
  mem_heap *heap = NULL;
  if (!alloc) {
    heap = heap_new();
    if (!heap) return NULL;
    alloc = heap_alloc;
    user = heap;
  }
  const bool limited = !heap || heap_is_limited();
  damo_ctx *ctx = alloc(user, NULL, 0, sizeof(damo_ctx));
  if (!ctx) {
    if (heap) heap_free(heap);
    return NULL;
  }
  *ctx = (damo_ctx){
      .refs = 1,
      .alloc = alloc,
      .alloc_user = user,
      .limited = limited,
      .fail_after = fail_after_at_birth(),
      .stress = stress_at_birth(),
      .config = {.floatX = DAMO_FLOAT64, .threads = 1, .plan_cap = (size_t)64 << 20, .memo_cap = (size_t)2 << 20},
      .next_id = 1,
      .borrowers = 1,
  };
  memcpy(ctx->build, ctx_build_id, sizeof ctx->build);
  if (ctx_stress(ctx, STRESS_SHARE)) ctx->config.threads = 3;
  return ctx;
}

/* Releases the objects that only the context holds. Slots remain usable: they make these objects again when needed. */
static void drop_own_objects(damo_ctx *ctx) {
  damo_apply *node = ctx->error.node;
  ctx->error.node = NULL;
  damo_release(node);
  for (int i = 0; i < CTX_N_SLOTS; i++) {
    if (ctx->drop[i] && ctx->slots[i].data) ctx->drop[i](ctx, ctx->slots[i].data);
  }
}

static void destroy_slots(damo_ctx *ctx) {
  for (int i = CTX_N_SLOTS - 1; i >= 0; i--) {
    ctx_slot slot = ctx->slots[i];
    ctx->slots[i] = (ctx_slot){0};
    if (slot.destroy) slot.destroy(ctx, slot.data);
  }
}

void ctx_settle(damo_ctx *ctx) {
  if (ctx->draining || ctx->refs > ctx->n_objects || !lent_let_go(ctx)) return;
  ctx->refs++; /* keeps the releases below from settling again */
  lent_collect(ctx);
  drop_own_objects(ctx);
  if (ctx->n_objects == 0) destroy_slots(ctx);
  ctx->refs--;
  if (ctx->refs > 0) return;
  mem_heap *heap = ctx->alloc == heap_alloc ? ctx->alloc_user : NULL;
  ctx->alloc(ctx->alloc_user, ctx, sizeof(damo_ctx), 0);
  if (heap) heap_free(heap);
}

void damo_ctx_release(damo_ctx *ctx) {
  if (!ctx) return;
  damo_assert(ctx->refs > ctx->n_objects);
  ctx->refs--;
  ctx_settle(ctx);
}

damo_ctx *damo_ctx_retain(damo_ctx *ctx) {
  if (ctx) ctx->refs++;
  return ctx;
}

void ctx_register_kind(damo_ctx *ctx, obj_kind kind, obj_destroy_fn destroy, obj_holder_fn holder) {
  damo_assert(kind < OBJ_N_KINDS && destroy);
  ctx->destroy[kind] = destroy;
  ctx->holder[kind] = holder;
}

damo_status ctx_enter(damo_ctx *ctx, int32_t stack) {
  if (ctx->stack + stack > CTX_STACK) {
    return ctx_fail(
        ctx, DAMO_ESTATE,
        "the recursion is too deep: %d calls of Functions, gradients and callbacks are under way, one inside "
        "the other",
        (int)ctx->depth);
  }
  ctx->depth++;
  ctx->stack += stack;
  return DAMO_OK;
}

void ctx_warn(damo_ctx *ctx, const char *kind, const char *fmt, ...) {
  if (!ctx->on_warning) return;
  ctx->depth++;
  ctx->stack += STACK_WARNING; /* a warning can't be refused, but calls nested in its handler can */
  char text[ERROR_MESSAGE_MAX];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  ctx->on_warning(ctx->warning_user, kind, text);
  ctx_leave(ctx, STACK_WARNING);
}

damo_status ctx_print(damo_ctx *ctx, const char *text) {
  if (!ctx->on_print) return DAMO_OK;
  DAMO_TRY(ctx_enter(ctx, STACK_CALLBACK));
  ctx_clear_error(ctx);
  const damo_status s = ctx->on_print(ctx->print_user, text);
  ctx_leave(ctx, STACK_CALLBACK);
  if (s == DAMO_OK || damo_error_status(ctx) == s) return s;
  return ctx_fail(ctx, s, "the text of a Print was refused");
}

damo_memory_info damo_ctx_memory(const damo_ctx *ctx) {
  if (!ctx) return (damo_memory_info){0};
  return (damo_memory_info){.bytes = ctx->bytes, .peak = ctx->peak, .cap = ctx->cap, .objects = ctx->n_objects};
}

void damo_ctx_set_memory_cap(damo_ctx *ctx, size_t bytes) {
  if (!ctx) return;
  ctx->cap = bytes;
  ctx->limited = bytes > 0 || ctx->alloc != heap_alloc || heap_is_limited();
}

void damo_ctx_set_warning(damo_ctx *ctx, damo_warning_fn fn, void *user) {
  if (!ctx) return;
  ctx->on_warning = fn;
  ctx->warning_user = user;
}

void damo_ctx_interrupt(damo_ctx *ctx) {
  if (!ctx) return;
  atomic_store(&ctx->interrupted, true);
  atomic_store(&ctx->due, true);
}

damo_status ctx_poll(damo_ctx *ctx) {
  if (ctx->pace != NULL) DAMO_TRY(pace_poll(ctx->pace));
  if (atomic_load_explicit(&ctx->interrupted, memory_order_relaxed) && atomic_exchange(&ctx->interrupted, false)) {
    ctx->was_interrupted = true;
    return ctx_fail(ctx, DAMO_ESTATE, "the call was interrupted (damo_ctx_interrupt)");
  }
  return ctx->on_poll ? ctx->on_poll(ctx, ctx->poll_user) : DAMO_OK;
}

damo_status ctx_look(damo_ctx *ctx) {
  if (ctx->stop != DAMO_OK || ctx->looking) return ctx->stop;
  atomic_store(&ctx->due, false); /* before the flag of an interruption is read */
  return ctx_poll(ctx);
}

/* A hook may call damo: what runs meanwhile is no part of the call, and takes no part in the pool, which may be in use. */
void ctx_point_watched(damo_ctx *ctx) {
  if (ctx->stop != DAMO_OK) return;
  const int64_t now = clock_ns();
  if (now - ctx->looked < LOOK_NS) return;
  ctx->watching = false;
  ctx->looking = true;
  ctx->stop = ctx_poll(ctx);
  ctx->looking = false;
  ctx->watching = true;
  ctx->looked = clock_ns();
  if (ctx->stop != DAMO_OK) ctx_set_due(ctx);
}

void damo_ctx_set_print(damo_ctx *ctx, damo_print_fn fn, void *user) {
  if (!ctx) return;
  ctx->on_print = fn;
  ctx->print_user = user;
}

/* object: reference counts and iterative destruction.
 *
 * An object that loses its last reference during a drain is put on the queue ctx->dying; the outermost release drains
 * the queue, so a chain of any length is freed with constant C stack. Queued objects have next set (the last one points
 * to itself); an object that is retained again while it waits stays alive.
 */
#include <stdio.h>

#include "base_int.h"

/* The count of an object during its destructor: far from 0, so that taking and dropping a reference there has no
 * effect. */
#define REFS_DESTROYING (INT64_MIN / 2)

static const char *const KIND_NAMES[OBJ_N_KINDS] = {
    [OBJ_BUFFER] = "buffer",   [OBJ_ARRAY] = "array",     [OBJ_SPARSE] = "sparse",   [OBJ_TYPE] = "type",
    [OBJ_TRACE] = "trace",     [OBJ_OPCLASS] = "opclass", [OBJ_OPGRAPH] = "opgraph", [OBJ_OP] = "op",
    [OBJ_VAR] = "var",         [OBJ_APPLY] = "apply",     [OBJ_FGRAPH] = "fgraph",   [OBJ_FUNCTION] = "function",
    [OBJ_GENERIC] = "generic", [OBJ_FACTOR] = "factor",   [OBJ_PATTERN] = "pattern", [OBJ_SCAN] = "scan",
    [OBJ_RUN] = "run",         [OBJ_LINKED] = "linked",
};

void *obj_new(damo_ctx *ctx, obj_kind kind, size_t size) {
  damo_assert(size >= sizeof(damo_obj) && ctx->destroy[kind]);
  damo_obj *obj = mem_calloc(ctx, size);
  if (!obj) return NULL;
  obj->refs = 1;
  obj->ctx = ctx;
  obj->kind = (uint8_t)kind;
  ctx->refs++;
  ctx->n_objects++;
  ctx->census[kind]++;
  return obj;
}

void obj_free(damo_obj *obj, size_t size) {
  damo_ctx *ctx = obj->ctx;
  ctx->n_objects--;
  ctx->census[obj->kind]--;
  ctx->refs--; /* the context itself is freed at the end of the drain: ctx_settle */
  mem_free(ctx, obj, size);
}

char *ctx_census(const damo_ctx *ctx, char *dst, size_t n) {
  size_t at = 0;
  if (n) dst[0] = '\0';
  for (int kind = 0; kind < OBJ_N_KINDS && at < n; kind++) {
    if (ctx->census[kind] == 0) continue;
    int len = snprintf(dst + at, n - at, "%s%s %lld", at ? ", " : "", KIND_NAMES[kind], (long long)ctx->census[kind]);
    if (len < 0) break;
    at += (size_t)len;
  }
  return dst;
}

static damo_obj *holder_of(damo_obj *obj) {
  obj_holder_fn holder = obj->ctx->holder[obj->kind];
  return holder ? holder(obj) : obj;
}

void *damo_retain(const void *obj) {
  damo_obj *o = (damo_obj *)obj;
  if (!o) return NULL;
  CTX_ASSERT_THAWED(o->ctx);
  holder_of(o)->refs++;
  return o;
}

static void enqueue(damo_ctx *ctx, damo_obj *o) {
  if (o->next) return;
  o->next = o;
  if (ctx->dying) {
    ctx->dying_last->next = o;
  } else {
    ctx->dying = o;
  }
  ctx->dying_last = o;
}

static damo_obj *dequeue(damo_ctx *ctx) {
  damo_obj *o = ctx->dying;
  if (!o) return NULL;
  ctx->dying = o->next == o ? NULL : o->next;
  if (!ctx->dying) ctx->dying_last = NULL;
  o->next = NULL;
  return o;
}

static void obj_destroy(damo_ctx *ctx, damo_obj *o) {
  o->refs = REFS_DESTROYING;
  ctx->destroy[o->kind](o);
}

void damo_release(const void *obj) {
  if (!obj) return;
  damo_obj *o = holder_of((damo_obj *)obj);
  damo_ctx *ctx = o->ctx;
  CTX_ASSERT_THAWED(ctx);
  damo_assert(o->refs > 0 || o->refs < REFS_DESTROYING / 2);
  if (--o->refs != 0) return;
  if (ctx->draining) {
    enqueue(ctx, o);
    return;
  }
  ctx->draining = true;
  obj_destroy(ctx, o);
  while ((o = dequeue(ctx)) != NULL) {
    if (o->refs == 0) obj_destroy(ctx, o);
  }
  ctx->draining = false;
  ctx_settle(ctx);
}

/* memory: all allocations of damo, through the host's allocator.
 *
 * Counts bytes and their peak, enforces the cap, and fails on request (ctx->fail_after), so that tests can reach each
 * out-of-memory path. Debug builds fill fresh memory with 0xAA and freed memory with 0xDD.
 */
#include <string.h>

#include "base.h"

/* At least 1: size 0 means "free" to the allocator, and callers get a unique pointer. */
static size_t real_size(size_t size) { return size ? size : 1; }

static void debug_fill(void *ptr, int byte, size_t n) {
#ifdef DAMO_DEBUG
  memset(ptr, byte, n);
#else
  (void)ptr;
  (void)byte;
  (void)n;
#endif
}

/* Whether `more` bytes may be allocated; sets the error if not. */
static bool admit(damo_ctx *ctx, size_t more) {
  CTX_ASSERT_THAWED(ctx);
  if (ctx->cap && (ctx->bytes > ctx->cap || more > ctx->cap - ctx->bytes)) {
    ctx_fail(ctx, DAMO_EMEMORY, "out of memory: %zu bytes asked with %zu in use, past the memory cap of %zu bytes",
             more, ctx->bytes, ctx->cap);
    return false;
  }
  if (ctx->fail_after >= 0 && ctx->fail_after-- == 0) {
    ctx_fail(ctx, DAMO_EMEMORY, "out of memory: %zu bytes asked with %zu in use (failed on order)", more, ctx->bytes);
    return false;
  }
  return true;
}

static void mem_count_bytes(damo_ctx *ctx, size_t more) {
  ctx->bytes += more;
  if (ctx->bytes > ctx->peak) ctx->peak = ctx->bytes;
}

static void fail_size(damo_ctx *ctx, size_t more) {
  ctx_fail(ctx, DAMO_EMEMORY, "out of memory: %zu bytes asked with %zu in use", more, ctx->bytes);
}

void *mem_alloc(damo_ctx *ctx, size_t size) {
  size_t n = real_size(size);
  if (!admit(ctx, n)) return NULL;
  void *ptr = n <= PTRDIFF_MAX ? ctx->alloc(ctx->alloc_user, NULL, 0, n) : NULL;
  if (!ptr) {
    fail_size(ctx, n);
    return NULL;
  }
  mem_count_bytes(ctx, n);
  debug_fill(ptr, 0xAA, n);
  return ptr;
}

void *mem_calloc(damo_ctx *ctx, size_t size) {
  void *ptr = mem_alloc(ctx, size);
  if (ptr) memset(ptr, 0, size);
  return ptr;
}

/* Always moves to another block, so that a stale pointer into the old one reads 0xDD. */
static void *realloc_elsewhere(damo_ctx *ctx, void *ptr, size_t osize, size_t nsize) {
  void *fresh = mem_alloc(ctx, nsize);
  if (!fresh) return NULL;
  memcpy(fresh, ptr, osize < nsize ? osize : nsize);
  mem_free(ctx, ptr, osize);
  return fresh;
}

void *mem_realloc(damo_ctx *ctx, void *ptr, size_t osize, size_t nsize) {
  if (!ptr) return mem_alloc(ctx, nsize);
  if (ctx_stress(ctx, STRESS_MOVE)) return realloc_elsewhere(ctx, ptr, osize, nsize);
  size_t o = real_size(osize), n = real_size(nsize);
  if (n > o && !admit(ctx, n - o)) return NULL;
  void *fresh = n <= PTRDIFF_MAX ? ctx->alloc(ctx->alloc_user, ptr, o, n) : NULL;
  if (!fresh) {
    fail_size(ctx, n);
    return NULL;
  }
  ctx->bytes -= o;
  mem_count_bytes(ctx, n);
  if (n > o) debug_fill((char *)fresh + o, 0xAA, n - o);
  return fresh;
}

void mem_free(damo_ctx *ctx, void *ptr, size_t size) {
  if (!ptr) return;
  size_t n = real_size(size);
  CTX_ASSERT_THAWED(ctx);
  damo_assert(ctx->bytes >= n);
  debug_fill(ptr, 0xDD, n);
  ctx->bytes -= n;
  ctx->alloc(ctx->alloc_user, ptr, n, 0);
}

damo_status mem_charge(damo_ctx *ctx, size_t size) {
  if (size == 0) return DAMO_OK;
  if (!admit(ctx, size)) return DAMO_EMEMORY;
  mem_count_bytes(ctx, size);
  return DAMO_OK;
}

void mem_uncharge(damo_ctx *ctx, size_t size) {
  damo_assert(ctx->bytes >= size);
  ctx->bytes -= size;
}

char *mem_strdup(damo_ctx *ctx, const char *s) {
  size_t n = strlen(s) + 1;
  char *copy = mem_alloc(ctx, n);
  return copy ? memcpy(copy, s, n) : NULL;
}

damo_status mem_copy_text(damo_ctx *ctx, const char *text, char **out) {
  if (text == NULL) return DAMO_OK;
  *out = mem_strdup(ctx, text);
  return *out != NULL ? DAMO_OK : DAMO_EMEMORY;
}

void mem_strfree(damo_ctx *ctx, char *s) {
  if (s) mem_free(ctx, s, strlen(s) + 1);
}

bool size_mul(size_t a, size_t b, size_t *out) {
  if (b && a > SIZE_MAX / b) return false;
  *out = a * b;
  return true;
}

bool size_add(size_t a, size_t b, size_t *out) {
  if (a > SIZE_MAX - b) return false;
  *out = a + b;
  return true;
}

/* Compares by division, which is exact for each combination of signs; C11 has no checked multiplication. */
static bool i64_mul_fits(int64_t a, int64_t b) {
  if (a == 0 || b == 0) return true;
  if (a > 0) return b > 0 ? a <= INT64_MAX / b : b >= INT64_MIN / a;
  return b > 0 ? a >= INT64_MIN / b : b >= INT64_MAX / a;
}

bool i64_mul(int64_t a, int64_t b, int64_t *out) {
  if (!i64_mul_fits(a, b)) return false;
  *out = a * b;
  return true;
}

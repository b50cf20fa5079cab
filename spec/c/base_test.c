/* base_test: memory accounting and failure, objects and contexts, errors, dtypes, containers. */
#include <stdlib.h>
#include <string.h>

#include "base/base_int.h"
#include "test.h"

/* ---- An allocator that checks sizes ------------------------------------------------------------------------------ */

typedef struct tally {
  size_t bytes;
  int wrong;
} tally;

/* Stores the size in front of each block and compares it with the size passed on free. */
static void *tally_alloc(void *user, void *ptr, size_t osize, size_t nsize) {
  tally *t = user;
  char *block = ptr ? (char *)ptr - 64 : NULL;
  if (block && *(size_t *)(void *)block != osize) t->wrong++;
  if (nsize == 0) {
    t->bytes -= osize;
    free(block);
    return NULL;
  }
  block = realloc(block, nsize + 64);
  if (!block) return NULL;
  t->bytes += nsize - osize;
  *(size_t *)(void *)block = nsize;
  return block + 64;
}

static void test_memory(void) {
  tally t = {0};
  damo_ctx *ctx = ctx_new_bare(tally_alloc, &t);
  if (!CHECK(ctx != NULL)) return;
  char *p = mem_alloc(ctx, 100);
  void *zero = mem_alloc(ctx, 0), *zero2 = mem_alloc(ctx, 0);
  CHECK(p && zero && zero2 && zero != zero2);
  CHECK_EQ_I(damo_ctx_memory(ctx).bytes, 102);
  p = mem_realloc(ctx, p, 100, 300);
  p = mem_realloc(ctx, p, 300, 50);
  CHECK_EQ_I(damo_ctx_memory(ctx).bytes, 52);
  CHECK_EQ_I(damo_ctx_memory(ctx).peak, 302);
  char *s = mem_strdup(ctx, "abc");
  CHECK_EQ_S(s, "abc");
  mem_strfree(ctx, s);
  mem_strfree(ctx, NULL);
  mem_free(ctx, p, 50);
  mem_free(ctx, zero, 0);
  mem_free(ctx, zero2, 0);
  CHECK_EQ_I(damo_ctx_memory(ctx).bytes, 0);
  damo_ctx_release(ctx);
  CHECK_EQ_I(t.bytes, 0);
  CHECK_EQ_I(t.wrong, 0);
}

static void test_cap(void) {
  damo_ctx *ctx = ctx_new_bare(NULL, NULL);
  damo_ctx_set_memory_cap(ctx, 1000);
  void *p = mem_alloc(ctx, 600);
  CHECK(p != NULL);
  CHECK(mem_alloc(ctx, 401) == NULL);
  CHECK_EQ_I(damo_error_status(ctx), DAMO_EMEMORY);
  CHECK_EQ_S(damo_error_message(ctx),
             "out of memory: 401 bytes asked with 600 in use, past the memory cap of 1000 bytes");
  CHECK(mem_realloc(ctx, p, 600, 1001) == NULL);
  CHECK_EQ_I(ctx->bytes, 600);
  p = mem_realloc(ctx, p, 600, 1000);
  CHECK(p != NULL);
  damo_ctx_set_memory_cap(ctx, 10); /* below what is in use: frees still work, allocations fail */
  CHECK(mem_alloc(ctx, 1) == NULL);
  mem_free(ctx, p, 1000);
  CHECK(mem_alloc(ctx, SIZE_MAX) == NULL);
  damo_ctx_set_memory_cap(ctx, 0);
  CHECK(mem_alloc(ctx, SIZE_MAX) == NULL);
  CHECK_EQ_I(ctx->bytes, 0);
  damo_ctx_release(ctx);
}

static void test_fail_after(void) {
  setenv("DAMO_FAIL_ALLOC", "2", 1);
  damo_ctx *ctx = ctx_new_bare(NULL, NULL);
  unsetenv("DAMO_FAIL_ALLOC");
#ifndef DAMO_DEBUG
  CHECK_EQ_I(ctx->fail_after, -1); /* release builds do not read the environment */
  ctx->fail_after = 1;
#endif
  void *a = mem_alloc(ctx, 8), *b = mem_alloc(ctx, 8), *c = mem_alloc(ctx, 8);
  CHECK(a && !b && c);
  CHECK(strstr(damo_error_message(ctx), "8 bytes asked") != NULL);
  mem_free(ctx, a, 8);
  mem_free(ctx, c, 8);
  ctx->fail_after = 0;
  CHECK(mem_calloc(ctx, 8) == NULL);
  damo_ctx_release(ctx);
}

static void test_sizes(void) {
  size_t n = 7;
  int64_t i = 7;
  CHECK(!size_mul(SIZE_MAX / 2, 3, &n) && !size_add(SIZE_MAX, 1, &n) && n == 7);
  CHECK(size_mul(SIZE_MAX, 1, &n) && n == SIZE_MAX);
  CHECK(size_mul(5, 0, &n) && n == 0);
  CHECK(!i64_mul(INT64_MIN, -1, &i) && !i64_mul(-1, INT64_MIN, &i) && !i64_mul(INT64_C(1) << 32, INT64_C(1) << 31, &i));
  CHECK_EQ_I(i, 7);
  CHECK(i64_mul(-(INT64_C(1) << 32), INT64_C(1) << 31, &i) && i == INT64_MIN);
  CHECK(i64_mul(INT64_MIN, 1, &i) && i == INT64_MIN);
  CHECK(i64_mul(0, INT64_MIN, &i) && i == 0);
}

/* ---- Objects ----------------------------------------------------------------------------------------------------- */

typedef struct link {
  damo_obj obj;
  struct link *child, *other; /* owned */
  int *deaths;
} link;

static void link_destroy(damo_obj *obj) {
  link *l = (link *)obj;
  if (l->deaths) ++*l->deaths;
  damo_retain(obj); /* as a destructor might that finds the object: it must not be destroyed twice */
  damo_release(obj);
  damo_release(l->child);
  damo_release(l->other);
  obj_free(obj, sizeof(link));
}

static link *link_new(damo_ctx *ctx, link *child, int *deaths) {
  link *l = obj_new(ctx, OBJ_GENERIC, sizeof(link));
  if (!l) return NULL;
  l->child = child;
  l->deaths = deaths;
  return l;
}

static void test_long_chain(void) {
  int deaths = 0;
  damo_ctx *ctx = ctx_new_bare(NULL, NULL);
  ctx_register_kind(ctx, OBJ_GENERIC, link_destroy, NULL);
  link *chain = NULL;
  for (int i = 0; i < 300000; i++) chain = link_new(ctx, chain, &deaths);
  char census[64];
  CHECK_EQ_S(ctx_census(ctx, census, sizeof census), "generic 300000");
  CHECK_EQ_I(damo_ctx_memory(ctx).objects, 300000);
  damo_release(chain);
  CHECK_EQ_I(deaths, 300000);
  CHECK_EQ_S(ctx_census(ctx, census, sizeof census), "");
  damo_release(NULL);
  CHECK(damo_retain(NULL) == NULL);
  damo_ctx_release(ctx);
}

static void test_shared_child(void) {
  int deaths = 0;
  damo_ctx *ctx = ctx_new_bare(NULL, NULL);
  ctx_register_kind(ctx, OBJ_GENERIC, link_destroy, NULL);
  link *leaf = link_new(ctx, NULL, &deaths);
  link *top = link_new(ctx, leaf, &deaths);
  top->other = damo_retain(leaf);
  link *kept = damo_retain(leaf);
  damo_release(top);
  CHECK_EQ_I(deaths, 1);
  CHECK_EQ_I(kept->obj.refs, 1);
  damo_release(kept);
  CHECK_EQ_I(deaths, 2);
  damo_ctx_release(ctx);
}

/* A pair: `part` belongs to `whole` and shares its reference count. */
typedef struct part {
  damo_obj obj;
  damo_obj *whole;
} part;
typedef struct whole {
  damo_obj obj;
  part *part;
  int *deaths;
} whole;

static damo_obj *part_holder(damo_obj *obj) {
  part *p = (part *)obj;
  return p->whole ? p->whole : obj;
}

static void part_destroy(damo_obj *obj) { obj_free(obj, sizeof(part)); }

static void whole_destroy(damo_obj *obj) {
  whole *w = (whole *)obj;
  ++*w->deaths;
  obj_free(&w->part->obj, sizeof(part));
  obj_free(obj, sizeof(whole));
}

static void test_holder(void) {
  int deaths = 0;
  damo_ctx *ctx = ctx_new_bare(NULL, NULL);
  ctx_register_kind(ctx, OBJ_VAR, part_destroy, part_holder);
  ctx_register_kind(ctx, OBJ_APPLY, whole_destroy, NULL);
  whole *w = obj_new(ctx, OBJ_APPLY, sizeof(whole));
  w->deaths = &deaths;
  w->part = obj_new(ctx, OBJ_VAR, sizeof(part));
  w->part->whole = &w->obj;
  part *p = damo_retain(w->part);
  CHECK_EQ_I(w->obj.refs, 2);
  damo_release(w);
  CHECK_EQ_I(deaths, 0);
  damo_release(p);
  CHECK_EQ_I(deaths, 1);
  damo_release(obj_new(ctx, OBJ_VAR, sizeof(part))); /* without a whole it has its own count */
  CHECK_EQ_I(ctx->n_objects, 0);
  damo_ctx_release(ctx);
}

static void test_context_outlives_host(void) {
  tally t = {0};
  damo_ctx *ctx = ctx_new_bare(tally_alloc, &t);
  ctx_register_kind(ctx, OBJ_GENERIC, link_destroy, NULL);
  link *l = link_new(ctx, link_new(ctx, NULL, NULL), NULL);
  CHECK(damo_ctx_retain(ctx) == ctx);
  damo_ctx_release(ctx);
  damo_ctx_release(ctx);
  CHECK(t.bytes > sizeof(damo_ctx));
  damo_release(l);
  CHECK_EQ_I(t.bytes, 0);
  CHECK_EQ_I(t.wrong, 0);
}

/* A context slot that owns an object and memory of its own. */
typedef struct cache {
  link *kept;
  int drops;
} cache;

static void cache_drop(damo_ctx *ctx, void *data) {
  (void)ctx;
  cache *c = data;
  link *l = c->kept;
  c->kept = NULL;
  c->drops++;
  damo_release(l);
}

static int slots_destroyed;
static void cache_destroy(damo_ctx *ctx, void *data) {
  slots_destroyed++;
  cache_drop(ctx, data);
  mem_free(ctx, data, sizeof(cache));
}

static void test_slots(void) {
  tally t = {0};
  int deaths = 0;
  slots_destroyed = 0;
  damo_ctx *ctx = ctx_new_bare(tally_alloc, &t);
  ctx_register_kind(ctx, OBJ_GENERIC, link_destroy, NULL);
  cache *c = mem_calloc(ctx, sizeof(cache));
  c->kept = link_new(ctx, link_new(ctx, NULL, &deaths), &deaths);
  ctx->slots[CTX_TYPES] = (ctx_slot){.data = c, .destroy = cache_destroy};
  ctx->drop[CTX_TYPES] = cache_drop;
  link *mine = link_new(ctx, damo_retain(c->kept), &deaths);
  damo_ctx_release(ctx);
  CHECK_EQ_I(slots_destroyed, 0); /* `mine` may still use it */
  CHECK_EQ_I(c->drops, 1);
  CHECK_EQ_I(deaths, 0);
  damo_release(mine);
  CHECK_EQ_I(slots_destroyed, 1);
  CHECK_EQ_I(deaths, 3);
  CHECK_EQ_I(t.bytes, 0);
}

/* The error's reference to a node must not keep an otherwise released context alive. */
static void test_error_node(void) {
  tally t = {0};
  int deaths = 0;
  damo_ctx *ctx = ctx_new_bare(tally_alloc, &t);
  ctx_register_kind(ctx, OBJ_GENERIC, link_destroy, NULL);
  link *l = link_new(ctx, link_new(ctx, NULL, &deaths), &deaths);
  ctx_fail(ctx, DAMO_EVALUE, "bad");
  ctx_fail_at(ctx, "dot", (damo_apply *)(void *)l);
  ctx_fail_at(ctx, "outer", (damo_apply *)(void *)l); /* the first name stays */
  CHECK_EQ_S(damo_error_op(ctx), "dot");
  CHECK((void *)damo_error_get_node(ctx) == (void *)l);
  damo_release(l);
  CHECK_EQ_I(deaths, 0);
  ctx_fail(ctx, DAMO_EVALUE, "%s again", damo_error_message(ctx));
  CHECK_EQ_S(damo_error_message(ctx), "bad again");
  CHECK_EQ_I(deaths, 2);
  CHECK(damo_error_op(ctx) == NULL && damo_error_get_node(ctx) == NULL);
  l = link_new(ctx, NULL, &deaths);
  ctx_fail_at(ctx, NULL, (damo_apply *)(void *)l);
  damo_release(l);
  damo_ctx_release(ctx);
  CHECK_EQ_I(deaths, 3);
  CHECK_EQ_I(t.bytes, 0);
}

/* ---- Errors ------------------------------------------------------------------------------------------------------ */

static void test_errors(void) {
  damo_ctx *ctx = ctx_new_bare(NULL, NULL);
  CHECK_EQ_I(damo_error_status(ctx), DAMO_OK);
  CHECK_EQ_S(damo_error_message(ctx), "no error");
  CHECK_EQ_I(ctx_fail(ctx, DAMO_ESHAPE, "dot: %d and %d", 3, 4), DAMO_ESHAPE);
  CHECK_EQ_S(damo_error_kind(ctx), "shape");
  ctx_fail_add(ctx, "while compiling %s", "f");
  CHECK_EQ_S(damo_error_message(ctx), "dot: 3 and 4\nwhile compiling f");
  CHECK_EQ_I(ctx_fail_memory(ctx), DAMO_EMEMORY);
  CHECK_EQ_S(damo_error_message(ctx), "out of memory");
  ctx_clear_error(ctx);
  CHECK_EQ_I(damo_error_status(ctx), DAMO_OK);
  CHECK_EQ_S(damo_status_kind(DAMO_ECALLBACK), "callback");
  CHECK_EQ_S(damo_status_kind((damo_status)99), "unknown");
  char big[3000];
  memset(big, 'x', sizeof big);
  memcpy(big + ERROR_MESSAGE_MAX - 3, "\xe2\x86\x92", 3); /* a multibyte character across the limit is dropped whole */
  big[sizeof big - 1] = '\0';
  ctx_fail(ctx, DAMO_EVALUE, "%s", big);
  CHECK_EQ_I(strlen(damo_error_message(ctx)), ERROR_MESSAGE_MAX - 3);
  ctx_fail_add(ctx, "%s", big);
  CHECK_EQ_I(strlen(damo_error_message(ctx)), ERROR_MESSAGE_MAX - 1);
  damo_ctx_release(ctx);
}

static void remember_warning(void *user, const char *kind, const char *message) {
  snprintf(user, 64, "%s/%s", kind, message);
}

static void test_warning(void) {
  char text[64] = "";
  damo_ctx *ctx = ctx_new_bare(NULL, NULL);
  ctx_warn(ctx, "value", "lost");
  damo_ctx_set_warning(ctx, remember_warning, text);
  ctx_warn(ctx, "value", "%d entries", 3);
  CHECK_EQ_S(text, "value/3 entries");
  damo_ctx_release(ctx);
}

static damo_status remember_print(void *user, const char *text) {
  snprintf(user, 64, "%s", text);
  return strcmp(text, "bad") == 0 ? DAMO_EIO : DAMO_OK;
}

static void test_print(void) {
  char text[64] = "";
  damo_ctx *ctx = ctx_new_bare(NULL, NULL);
  CHECK_EQ_I(ctx_print(ctx, "lost"), DAMO_OK);
  damo_ctx_set_print(ctx, remember_print, text);
  CHECK_EQ_I(ctx_print(ctx, "x = 1.0"), DAMO_OK);
  CHECK_EQ_S(text, "x = 1.0");
  CHECK_EQ_I(ctx_print(ctx, "bad"), DAMO_EIO);
  CHECK_EQ_S(damo_error_message(ctx), "the text of a Print was refused");
  damo_ctx_set_print(ctx, NULL, NULL);
  CHECK_EQ_I(ctx_print(ctx, "bad"), DAMO_OK);
  damo_ctx_release(ctx);
}

static void test_suggest(void) {
  static const char *const words[] = {"axis", "keepdims", "dtype", "format", "x", NULL};
  CHECK_EQ_S(suggest("axes", words), "axis");
  CHECK_EQ_S(suggest("keepdim", words), "keepdims");
  CHECK_EQ_S(suggest("Dytpe", words), "dtype");
  CHECK(suggest("banana", words) == NULL);
  CHECK(suggest("", words) == NULL);
  CHECK(suggest("q", words) == NULL);
}

/* ---- Dtypes ------------------------------------------------------------------------------------------------------ */

static void test_dtypes(void) {
  /* NumPy's promote_types; rows and columns in the order of the codes, letters as in dtype_table. */
  static const char *const table[DAMO_N_DTYPES] = {"?bwilBWILfdcz", "bbwilwildfdcz", "wwwilwildfdcz", "iiiiliildddzz",
                                                   "lllllllldddzz", "BwwilBWILfdcz", "WiiilWWILfdcz", "IllllIIILddzz",
                                                   "LddddLLLLddzz", "fffddffddfdcz", "dddddddddddzz", "ccczzcczzczcz",
                                                   "zzzzzzzzzzzzz"};
  int wrong = 0;
  for (int a = 0; a < DAMO_N_DTYPES; a++) {
    for (int b = a; b < DAMO_N_DTYPES; b++) {
      damo_dtype ab = dtype_promote((damo_dtype)a, (damo_dtype)b);
      if (ab != dtype_promote((damo_dtype)b, (damo_dtype)a)) wrong++;
      if (dtype_table[ab].letter != table[a][b]) wrong++;
    }
  }
  CHECK_EQ_I(wrong, 0);
  CHECK_EQ_I(dtype_promote(DAMO_INT8, DAMO_UINT8), DAMO_INT16);
  CHECK_EQ_I(dtype_promote(DAMO_INT64, DAMO_UINT64), DAMO_FLOAT64);
  CHECK_EQ_I(dtype_promote(DAMO_FLOAT64, DAMO_COMPLEX64), DAMO_COMPLEX128);
  CHECK(dtype_can_cast_safely(DAMO_INT16, DAMO_FLOAT32) && !dtype_can_cast_safely(DAMO_INT32, DAMO_FLOAT32));
  CHECK(dtype_can_cast_safely(DAMO_INT64, DAMO_FLOAT64) && !dtype_can_cast_safely(DAMO_FLOAT64, DAMO_COMPLEX64));
  CHECK(!dtype_can_cast_safely(DAMO_UINT8, DAMO_INT8) && dtype_can_cast_safely(DAMO_BOOL, DAMO_UINT8));
  CHECK_EQ_I(dtype_to_float(DAMO_UINT16), DAMO_FLOAT32);
  CHECK_EQ_I(dtype_to_float(DAMO_INT32), DAMO_FLOAT64);
  CHECK_EQ_I(dtype_to_float(DAMO_COMPLEX64), DAMO_COMPLEX64);
  damo_dtype dt;
  CHECK(damo_dtype_from_name("uint16", &dt) && dt == DAMO_UINT16);
  CHECK(!damo_dtype_from_name("float16", &dt));
  CHECK_EQ_S(damo_dtype_name(DAMO_COMPLEX128), "complex128");
  CHECK_EQ_I(damo_dtype_size(DAMO_COMPLEX128), 16);
}

/* ---- Containers -------------------------------------------------------------------------------------------------- */

static void test_ptrvec(void) {
  int deaths = 0;
  damo_ctx *ctx = ctx_new_bare(NULL, NULL);
  ctx_register_kind(ctx, OBJ_GENERIC, link_destroy, NULL);
  ptrvec v;
  ptrvec_init(&v, ctx);
  for (int i = 0; i < 100; i++) ptrvec_push(&v, link_new(ctx, NULL, &deaths));
  CHECK_EQ_I(v.n, 100);
  ctx->fail_after = 0;
  CHECK_EQ_I(ptrvec_reserve(&v, 1000), DAMO_EMEMORY);
  CHECK_EQ_I(v.n, 100);
  ptrvec_release_all(&v);
  CHECK_EQ_I(deaths, 100);
  CHECK_EQ_I(ctx->bytes, 0);
  ptrvec_push(&v, link_new(ctx, NULL, &deaths));
  damo_ctx_release(ctx);
  ptrvec_release_all(&v); /* the last object releases the context */
  CHECK_EQ_I(deaths, 101);
}

static void test_map(void) {
  damo_ctx *ctx = ctx_new_bare(NULL, NULL);
  map m;
  map_init(&m, ctx);
  CHECK(!map_get(&m, &m, NULL) && !map_remove(&m, &m));
  for (uintptr_t k = 2; k < 2000; k++) map_put(&m, (void *)(k * 16), k);
  for (uintptr_t k = 2; k < 2000; k += 2) map_remove(&m, (void *)(k * 16));
  int wrong = 0;
  for (uintptr_t k = 2; k < 2000; k++) {
    uintptr_t v = 0;
    bool has = map_get(&m, (void *)(k * 16), &v);
    if (has != (k % 2 == 1) || (has && v != k)) wrong++;
  }
  CHECK_EQ_I(wrong, 0);
  CHECK_EQ_I(m.n, 999);
  size_t cap = m.cap;
  for (uintptr_t i = 0; i < 100000; i++) { /* the table grows with what it holds, not with what it held */
    map_put(&m, (void *)(1000000 + i * 8), i);
    map_remove(&m, (void *)(1000000 + i * 8));
  }
  CHECK_EQ_I(m.cap, cap);
  int64_t live = 0;
  for (size_t i = 0; i < m.cap; i++) live += m.cells[i].key != 0;
  CHECK_EQ_I(live, 999);
  map_put(&m, &m, 5);
  map_put(&m, &m, 6);
  CHECK_EQ_I((uintptr_t)map_get_ptr(&m, &m), 6);
  CHECK(map_get_ptr(&m, ctx) == NULL);
  CHECK(!map_get(&m, NULL, NULL));
  map_clear(&m);
  CHECK_EQ_I(ctx->bytes, 0);
  ctx->fail_after = 0;
  CHECK_EQ_I(map_put(&m, &m, 1), DAMO_EMEMORY);
  CHECK(!map_get(&m, &m, NULL));
  damo_ctx_release(ctx);
}

/* Random insertions and removals among few keys, so that runs of full cells are long, wrap around and lose entries in
 * their middle. The size depends on the largest number of entries alone. */
static void test_map_removal(void) {
  enum { KEYS = 60 };
  damo_ctx *ctx = ctx_new_bare(NULL, NULL);
  uint64_t state = 1;
  for (int round = 0; round < 50; round++) {
    map m;
    map_init(&m, ctx);
    uintptr_t value[KEYS] = {0}; /* 0: absent */
    size_t live = 0, most = 0;
    int wrong = 0;
    const uintptr_t stride = (uintptr_t)(1 + round * 8);
    for (int step = 0; step < 1000; step++) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      const uintptr_t k = (uintptr_t)(state >> 33) % KEYS;
      void *key = (void *)((k + 1) * stride);
      if (state >> 63) {
        live += value[k] == 0;
        value[k] = (uintptr_t)step + 1;
        wrong += map_put(&m, key, value[k]) != DAMO_OK;
      } else {
        wrong += map_remove(&m, key) != (value[k] != 0);
        live -= value[k] != 0;
        value[k] = 0;
      }
      most = live > most ? live : most;
      for (uintptr_t i = 0; i < KEYS; i++) wrong += (uintptr_t)map_get_ptr(&m, (void *)((i + 1) * stride)) != value[i];
      wrong += m.n != live;
    }
    CHECK_EQ_I(wrong, 0);
    size_t cap = 8;
    while (most * 4 > cap * 3) cap *= 2;
    CHECK_EQ_I(m.cap, cap);
    map_clear(&m);
  }
  damo_ctx_release(ctx);
}

static void test_strbuf(void) {
  damo_ctx *ctx = ctx_new_bare(NULL, NULL);
  strbuf b;
  strbuf_init(&b, ctx);
  strbuf_add(&b, "");
  CHECK_EQ_S(b.at, "");
  strbuf_add(&b, "ab");
  strbuf_addn(&b, "cdef", 2);
  strbuf_addf(&b, "-%0100d-%s", 7, "end");
  CHECK_EQ_I(b.n, 4 + 1 + 100 + 4);
  CHECK_EQ_I(strlen(b.at), b.n);
  CHECK_EQ_S(b.at + b.n - 6, "07-end");
  ctx->fail_after = 0;
  for (int i = 0; i < 10; i++) strbuf_addf(&b, "%0100d", i);
  CHECK(b.failed);
  strbuf_add(&b, "x");
  strbuf_clear(&b);
  CHECK_EQ_I(ctx->bytes, 0);
  damo_ctx_release(ctx);
}

static void test_hash(void) {
  CHECK(hash_bytes(1, "abcdefghi", 9) == hash_bytes(1, "abcdefghi", 9));
  CHECK(hash_bytes(1, "abcdefghi", 9) != hash_bytes(1, "abcdefghj", 9));
  CHECK(hash_bytes(1, "a", 1) != hash_bytes(2, "a", 1));
  CHECK(hash_bytes(1, "a\0", 2) != hash_bytes(1, "a", 1));
}

/* The default allocator: freed blocks are found again, and blocks have the size asked for. */
static void test_heap(void) {
  mem_heap *h = heap_new();
  const size_t sizes[] = {1, 100, 70000, 1 << 20, 5 << 20, (5 << 20) - 4096, 40 << 20};
  unsigned char *p[7];
  CHECK(h != NULL);
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 7; i++) {
      p[i] = heap_alloc(h, NULL, 0, sizes[i]);
      CHECK(p[i] != NULL);
      memset(p[i], i + 1, sizes[i]);
    }
    for (int i = 0; i < 7; i++) {
      CHECK(p[i][0] == i + 1 && p[i][sizes[i] / 2] == i + 1 && p[i][sizes[i] - 1] == i + 1);
      p[i] = heap_alloc(h, p[i], sizes[i], sizes[i] + 5000);
      CHECK(p[i] != NULL && p[i][sizes[i] - 1] == i + 1);
      p[i] = heap_alloc(h, p[i], sizes[i] + 5000, sizes[i]);
      CHECK(p[i] != NULL && p[i][sizes[i] - 1] == i + 1);
    }
    for (int i = 0; i < 7; i++) CHECK(heap_alloc(h, p[i], sizes[i], 0) == NULL);
  }
  CHECK(heap_alloc(h, NULL, 0, 0) == NULL);
  for (int i = 0; i < 400; i++) {
    unsigned char *q = heap_alloc(h, NULL, 0, 65536 + (size_t)i * 9000);
    CHECK(q != NULL);
    q[65535 + i * 9000] = 1;
    heap_alloc(h, q, 65536 + (size_t)i * 9000, 0);
  }
  heap_free(h);
}

/* What is allocated after most blocks were released, in any order, lies in a row again, in the memory that is there; the
 * blocks still in use stay as they are. */
static void test_released_pages(void) {
  enum { N = 60000 };
  static unsigned char *p[N];
  mem_slab s = {0};
  size_t pages = 0;
  int bad = 0;
  for (int round = 0; round < 4; round++) {
    int ordered = 0;
    const unsigned char *last = NULL;
    for (int i = 0; i < N; i++) {
      if (p[i] != NULL) continue;
      const size_t size = (size_t)(i % 7 * 40 + 1);
      p[i] = slab_alloc(&s, size);
      memset(p[i], i % 251, size);
      ordered += p[i] > last && p[i] < last + 16384;
      last = p[i];
    }
    CHECK(ordered > N * 9 / 10);
    if (round == 1) pages = s.n_pages;
    if (round > 1) CHECK_EQ_I((int64_t)s.n_pages, (int64_t)pages);
    for (int64_t k = 0; k < N; k++) {
      const int i = (int)(k * 7919 % N);
      const size_t size = (size_t)(i % 7 * 40 + 1);
      bad += p[i][0] != i % 251 || p[i][size - 1] != i % 251;
      if (i % 4001 == 0) continue;
      slab_release(&s, p[i], size);
      p[i] = NULL;
    }
  }
  CHECK_EQ_I(bad, 0);
  slab_free(&s);
}

/* Small blocks, some of which grow beyond the classes of the slab and back: what was written stays, and none overlap. */
static void test_small_blocks(void) {
  mem_heap *h = heap_new();
  unsigned char *p[150] = {NULL};
  size_t size[150] = {0};
  uint32_t state = 1;
  int bad = 0;
  for (int round = 0; round < 30000; round++) {
    state = state * 1664525u + 1013904223u;
    const int k = (int)(state >> 8) % 150;
    const size_t now = (state >> 16) % 5 == 0 ? 0 : 1 + (state >> 12) % (round % 2 ? 600 : 200);
    for (size_t i = 0; i < size[k]; i++) bad += p[k][i] != (unsigned char)(k + 1);
    if (now == 0 && p[k] == NULL) continue;
    p[k] = heap_alloc(h, p[k], size[k], now);
    if (now > 0) bad += p[k] == NULL || (uintptr_t)p[k] % 16 != 0;
    for (size_t i = 0; i < now && i < size[k]; i++) bad += p[k][i] != (unsigned char)(k + 1);
    if (now > 0) memset(p[k], k + 1, now);
    size[k] = now;
  }
  CHECK_EQ_I(bad, 0);
  for (int k = 0; k < 150; k++) {
    if (p[k] != NULL) heap_alloc(h, p[k], size[k], 0);
  }
  heap_free(h);
}

/* Only debug builds read DAMO_STRESS: "move" makes every reallocation that grows move, and reuses no array. */
static void test_stress(void) {
  setenv("DAMO_STRESS", "collect,move,block,share", 1);
  damo_ctx *ctx = ctx_new_bare(NULL, NULL);
  unsetenv("DAMO_STRESS");
#ifdef DAMO_DEBUG
  CHECK(ctx_stress(ctx, STRESS_COLLECT) && ctx_stress(ctx, STRESS_MOVE) && ctx_stress(ctx, STRESS_BLOCK) &&
        ctx_stress(ctx, STRESS_SHARE) && ctx_threads(ctx) == 3);
  for (size_t n = 1; n < 100; n++) {
    char *p = mem_calloc(ctx, n);
    const uintptr_t before = (uintptr_t)p;
    p[n - 1] = 7;
    p = mem_realloc(ctx, p, n, n + 1);
    CHECK(p != NULL && (uintptr_t)p != before && p[n - 1] == 7);
    mem_free(ctx, p, n + 1);
  }
  CHECK_EQ_I(ctx->bytes, 0);
#else
  CHECK(!ctx_stress(ctx, STRESS_COLLECT) && !ctx_stress(ctx, STRESS_MOVE) && !ctx_stress(ctx, STRESS_BLOCK) &&
        ctx->stress == 0);
#endif
  damo_ctx_release(ctx);
}

int main(void) {
  test_memory();
  test_heap();
  test_small_blocks();
  test_released_pages();
  test_cap();
  test_fail_after();
  test_sizes();
  test_long_chain();
  test_shared_child();
  test_holder();
  test_context_outlives_host();
  test_slots();
  test_error_node();
  test_errors();
  test_warning();
  test_print();
  test_suggest();
  test_dtypes();
  test_ptrvec();
  test_map();
  test_map_removal();
  test_strbuf();
  test_hash();
  test_stress();
  TEST_MAIN_END;
}

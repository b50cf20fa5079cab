/* memo.c: the table of remembered graphs, in the order of their last use. */
#include "memo.h"
#include "compile.h"

#include <string.h>

/* A key's words, then the graph's. */
typedef struct memo_entry memo_entry;
struct memo_entry {
  memo_entry *newer, *older; /* in the order of their last use */
  memo_entry *next;          /* of the same hash */
  uint64_t hash;
  int64_t n_key;
  size_t bytes;
  uint32_t words[];
};

typedef struct memo_table {
  map heads; /* hash → its first entry */
  memo_entry *newest, *oldest;
  size_t bytes;
  int64_t n, hits;
} memo_table;

static memo_table *memo_table_of(const damo_ctx *ctx) { return ctx->slots[CTX_MEMO].data; }

static const void *head_key(uint64_t hash) { return (const void *)(uintptr_t)(hash | 2); }

size_t memo_most_bytes(const damo_ctx *ctx) {
  const size_t share = ctx->cap / 16, most = ctx->config.memo_cap;
  return ctx->cap > 0 && share < most ? share : most;
}

/* ---- The order of use -------------------------------------------------------------------------------------------- */

static void unlink_entry(memo_table *t, memo_entry *e) {
  *(e->newer != NULL ? &e->newer->older : &t->newest) = e->older;
  *(e->older != NULL ? &e->older->newer : &t->oldest) = e->newer;
  e->newer = e->older = NULL;
}

static void link_newest(memo_table *t, memo_entry *e) {
  e->older = t->newest;
  *(t->newest != NULL ? &t->newest->newer : &t->oldest) = e;
  t->newest = e;
}

static void unchain(memo_table *t, const memo_entry *e) {
  memo_entry *head = map_get_ptr(&t->heads, head_key(e->hash));
  if (head == e && e->next == NULL) {
    map_remove(&t->heads, head_key(e->hash));
  } else if (head == e) {
    map_put(&t->heads, head_key(e->hash), (uintptr_t)e->next); /* an existing key: cannot fail */
  } else {
    while (head->next != e) head = head->next;
    head->next = e->next;
  }
}

static void drop_entry(damo_ctx *ctx, memo_entry *e) {
  memo_table *t = memo_table_of(ctx);
  unlink_entry(t, e);
  unchain(t, e);
  t->bytes -= e->bytes;
  t->n--;
  mem_free(ctx, e, e->bytes);
}

static void shrink_to(damo_ctx *ctx, size_t most) {
  const memo_table *t = memo_table_of(ctx);
  while (t->oldest != NULL && t->bytes > most) drop_entry(ctx, t->oldest);
}

/* ---- Use --------------------------------------------------------------------------------------------------------- */

static size_t key_bytes(const memo_key *k) { return (size_t)k->w.n * sizeof *k->w.at; }

static memo_entry *find_entry(const memo_table *t, const memo_key *k) {
  memo_entry *e = map_get_ptr(&t->heads, head_key(k->hash));
  while (e != NULL && (e->n_key != k->w.n || memcmp(e->words, k->w.at, key_bytes(k)) != 0)) e = e->next;
  return e;
}

const uint32_t *memo_find(damo_ctx *ctx, const memo_key *k) {
  memo_table *t = memo_table_of(ctx);
  memo_entry *e = find_entry(t, k);
  if (e == NULL) return NULL;
  t->hits++;
  unlink_entry(t, e);
  link_newest(t, e);
  return e->words + e->n_key;
}

damo_status memo_add(damo_ctx *ctx, const memo_key *k, const memo_words *w) {
  memo_table *t = memo_table_of(ctx);
  const size_t graph_bytes = (size_t)w->n * sizeof *w->at, bytes = sizeof(memo_entry) + key_bytes(k) + graph_bytes;
  if (!w->possible || bytes > memo_most_bytes(ctx)) return DAMO_OK;
  if (find_entry(t, k) != NULL) return DAMO_OK; /* a callback has compiled the same graph meanwhile */
  memo_entry *e = mem_alloc(ctx, bytes), *next = map_get_ptr(&t->heads, head_key(k->hash));
  if (e == NULL) return DAMO_EMEMORY;
  if (map_put(&t->heads, head_key(k->hash), (uintptr_t)e) != DAMO_OK) {
    mem_free(ctx, e, bytes);
    return DAMO_EMEMORY;
  }
  *e = (memo_entry){.next = next, .hash = k->hash, .n_key = k->w.n, .bytes = bytes};
  memcpy(e->words, k->w.at, key_bytes(k));
  memcpy(e->words + e->n_key, w->at, graph_bytes);
  link_newest(t, e);
  t->bytes += bytes;
  t->n++;
  compile_fit_memo(ctx);
  return DAMO_OK;
}

void compile_fit_memo(damo_ctx *ctx) { shrink_to(ctx, memo_most_bytes(ctx)); }

void compile_forget(damo_ctx *ctx) { shrink_to(ctx, 0); }

void compile_memo(const damo_ctx *ctx, int64_t *graphs, int64_t *hits, size_t *bytes) {
  *graphs = memo_table_of(ctx)->n;
  *hits = memo_table_of(ctx)->hits;
  *bytes = memo_table_of(ctx)->bytes;
}

/* ---- Registration ------------------------------------------------------------------------------------------------ */

static void memo_drop(damo_ctx *ctx, void *table) {
  (void)table;
  compile_forget(ctx);
}

static void memo_destroy(damo_ctx *ctx, void *table) {
  map_clear(&((memo_table *)table)->heads);
  mem_free(ctx, table, sizeof(memo_table));
}

damo_status memo_register(damo_ctx *ctx) {
  memo_table *t = mem_calloc(ctx, sizeof *t);
  if (t == NULL) return DAMO_EMEMORY;
  map_init(&t->heads, ctx);
  ctx->slots[CTX_MEMO] = (ctx_slot){.data = t, .destroy = memo_destroy};
  ctx->drop[CTX_MEMO] = memo_drop;
  return DAMO_OK;
}

/* eager_cache: the keys of eager calls and the frames kept for them.
 *
 * In: a call. Out: its results, by the frame that is kept for the call's key or else by a graph made for this call. A
 * key gets a frame when it is met a second time, so a call that happens once costs no more than its graph. Holds: at
 * most EAGER_SETS · EAGER_WAYS frames of EAGER_BYTES together; the one not used for the longest time goes first. Where
 * memory has run out, all of them go (eager_forget).
 */
#include "eager_int.h"

#include <string.h>

#define EAGER_SETS 64
#define EAGER_WAYS 4
#define EAGER_BYTES ((size_t)1 << 20)
#define EAGER_FRAME_BYTES ((size_t)256 << 10) /* a frame that has come to keep more is dropped */
#define EAGER_SEEN 256

typedef struct eager_cache {
  eager_frame *sets[EAGER_SETS][EAGER_WAYS];
  uint32_t seen[EAGER_SEEN]; /* by the key's hash: another part of the hash of the last key that had no frame */
  uint64_t clock;
  size_t bytes;
} eager_cache;

/* ---- Keys -------------------------------------------------------------------------------------------------------- */

static void key_add(eager_key *k, uint64_t word) {
  if (k->n == EAGER_KEY_WORDS) {
    k->kept = false;
    return;
  }
  k->words[k->n++] = word;
  k->hash = hash_mix(k->hash, word);
}

static void key_add_text(eager_key *k, const char *text) {
  const size_t n = strlen(text);
  key_add(k, n);
  for (size_t i = 0; i < n && k->kept; i += sizeof(uint64_t)) {
    uint64_t word = 0;
    memcpy(&word, text + i, n - i < sizeof word ? n - i : sizeof word);
    key_add(k, word);
  }
}

/* Nesting of options is bounded by what the binding reads (PROP_MAX_NESTING). */
static void key_add_option(eager_key *k, const prop_value *v) {
  key_add(k, (uint64_t)v->kind);
  switch (v->kind) {
    case PROP_NIL: return;
    case PROP_BOOL:
    case PROP_INT: key_add(k, (uint64_t)v->u.i); return;
    case PROP_NUM: {
      uint64_t bits;
      memcpy(&bits, &v->u.f, sizeof bits);
      key_add(k, bits);
      return;
    }
    case PROP_STR: key_add_text(k, v->u.s); return;
    case PROP_LIST:
      key_add(k, (uint64_t)v->n);
      for (int i = 0; i < v->n && k->kept; i++) key_add_option(k, &v->u.list[i]);
      return;
    case PROP_TYPE:
    case PROP_OP:
    case PROP_VAR: k->kept = false; return;
  }
}

static void key_add_array(eager_key *k, const damo_array *a) {
  key_add(k, 1 | (uint64_t)a->dtype << 8 | (uint64_t)a->ndim << 16);
  if (!k->elementwise) {
    for (int i = 0; i < a->ndim; i++) key_add(k, (uint64_t)array_shape(a)[i]);
    return;
  }
  uint64_t ones = 0;
  for (int i = 0; i < a->ndim; i++) ones |= (uint64_t)(array_shape(a)[i] == 1) << i;
  key_add(k, ones);
}

/* The dtype of the literals' neighbours, as build_resolve has it. */
static damo_dtype eager_strong_dtype(const damo_ctx *ctx, const eager_request *q, int first) {
  damo_dtype all = DAMO_INT64;
  bool any = false, any_float = false;
  for (int i = first; i < q->n_in; i++) {
    const eager_operand *x = &q->in[i];
    if (x->value == NULL) {
      any_float = any_float || dtype_is_float(x->literal.dtype);
      continue;
    }
    const damo_dtype dt = array_dtype((const damo_array *)x->value);
    all = any ? dtype_promote(all, dt) : dt;
    any = true;
  }
  return any ? all : any_float ? ctx->config.floatX : DAMO_INT64;
}

static void key_add_literal(eager_key *k, damo_ctx *ctx, const eager_request *q, int i, int first) {
  const scalar x = q->in[i].literal;
  uint64_t bits = 0;
  if (k->elementwise) {
    k->kept = k->kept && i >= first && (x.dtype == DAMO_INT64 || x.dtype == DAMO_FLOAT64);
    if (k->kept) key_add(k, 2 | (uint64_t)build_weak_dtype(ctx, x, eager_strong_dtype(ctx, q, first)) << 8);
    return;
  }
  memcpy(&bits, &x.v, sizeof bits);
  k->kept = k->kept && !dtype_is_complex(x.dtype);
  key_add(k, 3 | (uint64_t)x.dtype << 8);
  key_add(k, bits);
}

/* Draws are left out: their state is an array of a Type of its own. So are calls in reproducible mode, which have other
 * kernels. */
static bool is_keepable(const damo_ctx *ctx, const eager_request *q) {
  if (ctx->reproducible || q->n_in > EAGER_KEY_WORDS || q->f->is_draw) return false;
  for (int i = 0; i < q->n_in; i++) {
    if (q->in[i].value != NULL && q->in[i].value->kind != OBJ_ARRAY) return false;
  }
  return true;
}

void eager_key_init(eager_key *k, damo_ctx *ctx, const eager_request *q) {
  int first = 0;
  k->hash = 0;
  k->n = 0;
  k->kept = is_keepable(ctx, q);
  if (!k->kept) return;
  k->elementwise = elemwise_is_func(q->f->func, &first);
  key_add(k, (uintptr_t)q->f);
  key_add(k, (uint64_t)ctx->config.floatX << 32 | (uint64_t)q->n_in);
  for (const fn_option *o = q->f->func->options; o != NULL && o->name != NULL; o++)
    key_add_option(k, &q->options[o->place]);
  for (int i = 0; i < q->n_in && k->kept; i++) {
    const eager_operand *x = &q->in[i];
    if (x->absent) {
      key_add(k, 0);
    } else if (x->value != NULL) {
      key_add_array(k, (const damo_array *)x->value);
    } else {
      key_add_literal(k, ctx, q, i, first);
    }
  }
}

/* ---- The cache --------------------------------------------------------------------------------------------------- */

static eager_cache *cache_of(damo_ctx *ctx) { return ctx->slots[CTX_EAGER].data; }

static eager_frame **cache_set(eager_cache *c, uint64_t hash) { return c->sets[hash % EAGER_SETS]; }

static eager_frame *cache_find(eager_cache *c, const eager_key *k) {
  eager_frame *const *set = cache_set(c, k->hash);
  for (int i = 0; i < EAGER_WAYS; i++) {
    eager_frame *f = set[i];
    if (f == NULL || f->hash != k->hash || f->n_words != k->n) continue;
    if (memcmp(f->words, k->words, (size_t)k->n * sizeof *k->words) != 0) continue;
    f->used = ++c->clock;
    return f;
  }
  return NULL;
}

static void cache_drop(damo_ctx *ctx, eager_frame **at) {
  eager_frame *f = *at;
  *at = NULL;
  if (f == NULL) return;
  cache_of(ctx)->bytes -= f->bytes;
  eager_frame_free(ctx, f);
}

/* The place of the frame used longest ago among n; NULL where all are running. */
static eager_frame **cache_oldest(eager_frame **at, int n) {
  eager_frame **oldest = NULL;
  for (int i = 0; i < n; i++) {
    if (at[i] == NULL || at[i]->busy) continue;
    if (oldest == NULL || at[i]->used < (*oldest)->used) oldest = &at[i];
  }
  return oldest;
}

/* Drops frames until those that remain are within the limit, a sixteenth of the memory cap at most. */
static void cache_fit(damo_ctx *ctx) {
  eager_cache *c = cache_of(ctx);
  const size_t share = ctx->cap > 0 ? ctx->cap / 16 : EAGER_BYTES, most = share < EAGER_BYTES ? share : EAGER_BYTES;
  while (c->bytes > most) {
    eager_frame **oldest = cache_oldest(&c->sets[0][0], EAGER_SETS * EAGER_WAYS);
    if (oldest == NULL) return;
    cache_drop(ctx, oldest);
  }
}

static void cache_add(damo_ctx *ctx, eager_frame *f) {
  eager_cache *c = cache_of(ctx);
  eager_frame **set = cache_set(c, f->hash), **at = NULL;
  for (int i = 0; i < EAGER_WAYS && at == NULL; i++) at = set[i] == NULL ? &set[i] : NULL;
  if (at == NULL && (at = cache_oldest(set, EAGER_WAYS)) == NULL) {
    eager_frame_free(ctx, f);
    return;
  }
  cache_drop(ctx, at);
  *at = f;
  f->used = ++c->clock;
  c->bytes += f->bytes;
  cache_fit(ctx);
}

/* Makes a frame for later calls with this key, unless this is the first. The call has succeeded already, so a failure
 * here is not reported. */
static void cache_note(damo_ctx *ctx, const eager_key *k, const eager_request *q, const eager_results *r) {
  eager_cache *c = cache_of(ctx);
  uint32_t *seen = &c->seen[(k->hash >> 8) % EAGER_SEEN];
  const uint32_t mark = (uint32_t)(k->hash >> 32) | 1;
  if (*seen != mark) {
    *seen = mark;
    return;
  }
  *seen = 0;
  eager_frame *f = eager_frame_new(ctx, k, q, r);
  const bool no_memory = f == NULL && damo_error_status(ctx) == DAMO_EMEMORY;
  if (f == NULL) ctx_clear_error(ctx);
  if (f == NULL && !no_memory && (f = eager_frame_none(ctx, k)) == NULL) ctx_clear_error(ctx);
  if (f != NULL) cache_add(ctx, f);
}

void eager_forget(damo_ctx *ctx) {
  eager_cache *c = cache_of(ctx);
  for (int i = 0; i < EAGER_SETS * EAGER_WAYS; i++) {
    eager_frame **at = &c->sets[0][0] + i;
    if (*at != NULL && !(*at)->busy) cache_drop(ctx, at);
  }
}

void eager_count(damo_ctx *ctx, int *frames, size_t *bytes) {
  eager_cache *c = cache_of(ctx);
  *frames = 0;
  *bytes = c->bytes;
  for (int i = 0; i < EAGER_SETS * EAGER_WAYS; i++) *frames += (&c->sets[0][0])[i] != NULL;
}

static void eager_slot_drop(damo_ctx *ctx, void *cache) {
  (void)cache;
  eager_forget(ctx);
}

static void eager_slot_destroy(damo_ctx *ctx, void *cache) { mem_free(ctx, cache, sizeof(eager_cache)); }

damo_status eager_register(damo_ctx *ctx) {
  eager_cache *c = mem_calloc(ctx, sizeof *c);
  if (c == NULL) return DAMO_EMEMORY;
  ctx->slots[CTX_EAGER] = (ctx_slot){.data = c, .destroy = eager_slot_destroy};
  ctx->drop[CTX_EAGER] = eager_slot_drop;
  return DAMO_OK;
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

static damo_var *operand_constant(build *b, const eager_operand *x) {
  if (x->value != NULL) return build_take(b, var_constant(b->ctx, NULL, x->value));
  damo_array *a = array_from_scalar(b->ctx, x->literal);
  damo_var *v = a != NULL ? var_constant(b->ctx, NULL, &a->obj) : NULL;
  damo_release(a);
  if (v != NULL) v->weak = true;
  return build_take(b, v);
}

bool eager_is_view(const eager_request *q, damo_var *const *in, const damo_var *v) {
  int first;
  if (v->owner != NULL) return op_alias_has(v->owner->op->view_map, v->index, -1);
  if (elemwise_is_func(q->f->func, &first)) return false;
  for (int i = 0; i < q->n_in; i++) {
    if (in[i] == v && q->in[i].value != NULL) return true;
  }
  return false;
}

static damo_status eager_check_views(damo_ctx *ctx, const eager_request *q, damo_var *const *in,
                                     const ptrvec *outputs) {
  for (int64_t i = 0; i < outputs->n && i < q->n_out; i++) {
    if (q->out[i] == NULL || !eager_is_view(q, in, outputs->at[i])) continue;
    return ctx_fail(
        ctx, DAMO_ETYPE,
        "%s: out is for a result with memory of its own, this one is a view of an operand; to copy it write "
        "out[{damo.ellipsis}] = damo.%s(…)",
        q->f->name, q->f->name);
  }
  return DAMO_OK;
}

static damo_status call_by_graph(build *b, const eager_request *q, ptrvec *outputs, damo_var **in, eager_results *r) {
  for (int i = 0; i < q->n_in; i++) in[i] = q->in[i].absent ? NULL : operand_constant(b, &q->in[i]);
  DAMO_TRY(b->status);
  DAMO_TRY(func_call(b, q->f, in, q->n_in, q->options, outputs));
  DAMO_TRY(eager_check_views(b->ctx, q, in, outputs));
  DAMO_TRY(eager_results_alloc(b->ctx, r, outputs->n));
  damo_status s = eager_eval(b->ctx, (damo_var *const *)outputs->at, outputs->n, r->at);
  if (s == DAMO_OK && q->n_out > 0) s = eager_give(b->ctx, q, r);
  if (s != DAMO_OK) eager_results_free(b->ctx, r);
  return s;
}

/* A graph made for this call alone. */
static damo_status call_once(damo_ctx *ctx, const eager_request *q, eager_results *r) {
  build b;
  ptrvec outputs;
  damo_var *few[16], **in = few;
  const size_t bytes = (size_t)q->n_in * sizeof *in;
  if (q->n_in > (int)(sizeof few / sizeof *few) && (in = mem_alloc(ctx, bytes)) == NULL) return DAMO_EMEMORY;
  build_init(&b, ctx);
  ptrvec_init(&outputs, ctx);
  damo_status s = call_by_graph(&b, q, &outputs, in, r);
  ptrvec_clear(&outputs);
  build_end(&b);
  if (in != few) mem_free(ctx, in, bytes);
  return s;
}

/* Counts what the frame has come to keep in a run; too large a frame is dropped. */
static void cache_settle(damo_ctx *ctx, eager_frame *f, size_t before) {
  eager_cache *c = cache_of(ctx);
  c->bytes += f->bytes - before;
  eager_frame **set = cache_set(c, f->hash);
  for (int i = 0; i < EAGER_WAYS && f->bytes > EAGER_FRAME_BYTES; i++) {
    if (set[i] != f) continue;
    cache_drop(ctx, &set[i]);
    return;
  }
  if (f->bytes > before) cache_fit(ctx);
}

static damo_status call_watched(damo_ctx *ctx, const eager_request *q, eager_results *r) {
  eager_key k;
  eager_key_init(&k, ctx, q);
  eager_frame *f = k.kept ? cache_find(cache_of(ctx), &k) : NULL;
  const bool known = f != NULL;
  if (known && f->n_out > 0 && !f->busy) {
    const size_t before = f->bytes;
    damo_status s = eager_frame_run(ctx, f, q, r);
    cache_settle(ctx, f, before);
    if (s == DAMO_OK || ctx->stop != DAMO_OK) return s;
    ctx_clear_error(ctx); /* the graph of constants has the error in full */
  }
  damo_status s = call_once(ctx, q, r);
  if (s == DAMO_EMEMORY) eager_forget(ctx);
  if (s == DAMO_OK && k.kept && !known && ctx->stop == DAMO_OK) cache_note(ctx, &k, q, r);
  return s;
}

damo_status eager_call(damo_ctx *ctx, const eager_request *q, eager_results *r) {
  const ctx_watch before = ctx_watch_begin(ctx);
  const damo_status s = call_watched(ctx, q, r), end = ctx_watch_end(ctx, before, s);
  if (s != DAMO_OK || end == DAMO_OK) return end;
  for (int64_t i = 0; i < r->n; i++) damo_release(r->at[i]); /* of a call that a hook or an interruption has ended */
  eager_results_free(ctx, r);
  return end;
}

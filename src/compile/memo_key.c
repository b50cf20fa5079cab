/* memo_key.c: the key of a graph that is compiled: all that its rewriting depends on, as words. What has a number is
 * written out where it is met first, and by its number from then on, so equal words mean equal graphs.
 */
#include "memo.h"
#include "rewrite/rewrite.h"

#include <stdlib.h>
#include <string.h>

void memo_key_init(memo_key *k, damo_ctx *ctx) {
  *k = (memo_key){.kept = true};
  memo_words_init(&k->w, ctx, &k->foreign, true);
  ptrvec_init(&k->vars, ctx);
  ptrvec_init(&k->foreign, ctx);
  ptrvec_init(&k->nodes, ctx);
}

void memo_key_clear(memo_key *k) {
  if (k->used != NULL) mem_free(k->w.ctx, k->used, (size_t)k->n_inputs * sizeof *k->used);
  memo_words_clear(&k->w);
  ptrvec_clear(&k->vars);
  ptrvec_clear(&k->foreign);
  ptrvec_clear(&k->nodes);
}

/* ---- Variables --------------------------------------------------------------------------------------------------- */

static damo_status key_new_var(memo_key *k, damo_var *v) {
  DAMO_TRY(ptrvec_push(&k->vars, v));
  return map_put(&k->w.numbers, v, (uintptr_t)k->vars.n);
}

enum { LEAF_SHARED, LEAF_BITS, LEAF_SAME };

/* Rules never read the value of a shared Variable, so the key holds its Type, and of a constant its bits. */
static damo_status key_leaf(memo_key *k, damo_var *v) {
  const damo_array *a = v->kind == VAR_CONSTANT ? memo_small_constant(v) : NULL;
  if (v->kind == VAR_PLAIN) k->kept = false; /* compiling refuses it */
  DAMO_TRY(memo_put(&k->w, v->kind == VAR_SHARED ? LEAF_SHARED : a != NULL ? LEAF_BITS : LEAF_SAME));
  if (a != NULL) return memo_put_constant(&k->w, v, a);
  DAMO_TRY(memo_put_type(&k->w, v->type));
  return v->kind == VAR_SHARED ? DAMO_OK : memo_put_long(&k->w, v->id);
}

static damo_status key_var(memo_key *k, damo_var *v) {
  const int32_t known = memo_number(&k->w, v);
  if (known >= 0 && known < k->n_inputs) k->used[known] = true;
  if (known >= 0) return memo_put(&k->w, (uint32_t)known);
  damo_assert(v->owner == NULL);
  DAMO_TRY(memo_put(&k->w, (uint32_t)k->vars.n));
  DAMO_TRY(key_new_var(k, v));
  return key_leaf(k, v);
}

static damo_status key_inputs(memo_key *k, const memo_request *q) {
  k->used = mem_calloc(k->w.ctx, (size_t)q->n_inputs * sizeof *k->used);
  if (k->used == NULL) return DAMO_EMEMORY;
  k->n_inputs = q->n_inputs;
  DAMO_TRY(memo_put(&k->w, (uint32_t)q->n_inputs));
  for (int64_t i = 0; i < q->n_inputs; i++) {
    damo_var *v = q->inputs[i];
    if (memo_number(&k->w, v) >= 0 || v->kind != VAR_PLAIN) { /* compiling refuses it */
      k->kept = false;
      return DAMO_OK;
    }
    DAMO_TRY(key_new_var(k, v));
    DAMO_TRY(memo_put(&k->w, q->mutable_[i]));
    DAMO_TRY(memo_put_type(&k->w, v->type));
  }
  return DAMO_OK;
}

/* A result without a name is another than one with a name, since a copy takes the name. */
static damo_status key_node(memo_key *k, damo_apply *node) {
  DAMO_TRY(memo_put_op(&k->w, node->op));
  DAMO_TRY(memo_put(&k->w, (uint32_t)node->n_in << 1 | (node->trace != NULL)));
  for (int i = 0; i < node->n_in; i++) DAMO_TRY(key_var(k, node->in[i]));
  DAMO_TRY(memo_put(&k->w, (uint32_t)node->n_out));
  for (int o = 0; o < node->n_out; o++) {
    const damo_var *v = node->out[o];
    DAMO_TRY(memo_put_type(&k->w, v->type));
    DAMO_TRY(memo_put(&k->w, v->name != NULL));
    const int64_t input = memo_number(&k->w, v); /* a result may be an input of the Function */
    DAMO_TRY(memo_put(&k->w, (uint32_t)(input + 1)));
    if (input < 0) DAMO_TRY(key_new_var(k, node->out[o]));
  }
  return DAMO_OK;
}

/* ---- Order ------------------------------------------------------------------------------------------------------- */

typedef struct var_age {
  uint64_t id;
  uint32_t number;
} var_age;

static int compare_ages(const void *a, const void *b) {
  const var_age *x = a, *y = b;
  return x->id < y->id ? -1 : x->id > y->id;
}

/* Writes the numbers in the order of the ids, and nothing if they ascend with them. */
static damo_status put_ages(memo_key *k, var_age *age, int64_t n) {
  bool ascend = true;
  for (int64_t i = 1; i < n && ascend; i++) ascend = age[i - 1].id < age[i].id;
  DAMO_TRY(memo_put(&k->w, ascend));
  if (ascend) return DAMO_OK;
  qsort(age, (size_t)n, sizeof *age, compare_ages);
  for (int64_t i = 0; i < n; i++) DAMO_TRY(memo_put(&k->w, age[i].number));
  return DAMO_OK;
}

/* The order in which results and shared Variables were made, which decides the order of terms (rewrite/nary.c). */
static damo_status key_order(memo_key *k) {
  const size_t bytes = (size_t)k->vars.n * sizeof(var_age);
  var_age *age = mem_alloc(k->w.ctx, bytes);
  if (age == NULL) return DAMO_EMEMORY;
  int64_t n = 0;
  for (int64_t i = k->n_inputs; i < k->vars.n; i++) {
    const damo_var *v = k->vars.at[i];
    if (v->kind != VAR_CONSTANT) age[n++] = (var_age){v->id, (uint32_t)i};
  }
  const damo_status s = put_ages(k, age, n);
  mem_free(k->w.ctx, age, bytes);
  return s;
}

/* ---- The key ----------------------------------------------------------------------------------------------------- */

damo_status memo_key_make(memo_key *k, const memo_request *q) {
  damo_ctx *ctx = k->w.ctx;
  DAMO_TRY(memo_put(&k->w, (uint32_t)ctx->config.floatX << 1 | ctx->reproducible));
  DAMO_TRY(memo_put_long(&k->w, rewrite_changes(ctx)));
  for (size_t i = 0; i < sizeof q->words / sizeof *q->words; i++) DAMO_TRY(memo_put_text(&k->w, q->words[i]));
  DAMO_TRY(key_inputs(k, q));
  if (!k->kept) return DAMO_OK;
  DAMO_TRY(graph_toposort(ctx, q->outputs, q->n_outputs, q->inputs, q->n_inputs, &k->nodes));
  const int64_t most = (int64_t)(memo_most_bytes(ctx) / sizeof *k->w.at);
  for (int64_t i = 0; i < k->nodes.n && k->kept; i++) {
    DAMO_TRY(key_node(k, k->nodes.at[i]));
    k->kept = k->kept && k->w.possible && k->w.n <= most;
  }
  if (!k->kept) return DAMO_OK;
  DAMO_TRY(memo_put(&k->w, (uint32_t)q->n_outputs));
  for (int64_t i = 0; i < q->n_outputs; i++) DAMO_TRY(key_var(k, q->outputs[i]));
  DAMO_TRY(key_order(k));
  k->kept = k->kept && k->w.possible;
  k->hash = hash_bytes(0, k->w.at, (size_t)k->w.n * sizeof *k->w.at);
  return DAMO_OK;
}

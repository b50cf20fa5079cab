/* debug_history.c: DEBUG mode records the two sides of every rewrite, so that a call can compute and compare both.
 *
 * While rules run, a feature of the FunctionGraph copies each imported node over the copies of its inputs: the node's
 * shadow. Shadows never change: when a rule moves a use in the graph, the shadows keep the old use. So each replacement
 * old → now is recorded as the shadows of both, and the shadows of the original outputs are the graph as it was
 * written. Always holds: if all earlier replacements kept their values, the shadows of a replacement's two sides have
 * the values that the sides had in the graph; so the first pair, in time, whose values differ is the fault of its rule
 * alone.
 */
#include "watch_int.h"

struct debug_history {
  damo_ctx *ctx;
  damo_fgraph *fg; /* while attached */
  fg_feature feature;
  map shadow;     /* damo_var*, output of a node in the graph → its shadow */
  ptrvec nodes;   /* owned damo_apply*: all shadows */
  ptrvec written; /* borrowed damo_var*: shadows of the outputs as written */
  ptrvec pairs;   /* owned damo_var*: alternately a replaced Variable and its replacement (shadows) */
  ptrvec rules;   /* owned char*: the rule of each pair */
  ptrvec in;      /* the inputs of a node being copied */
};

damo_var *debug_history_shadow(const debug_history *h, damo_var *v) {
  damo_var *shadow = v->owner != NULL ? map_get_ptr(&h->shadow, v) : NULL;
  return shadow != NULL ? shadow : v;
}

static damo_status add_shadow(damo_fgraph *fg, void *user, damo_apply *node) {
  (void)fg;
  debug_history *h = user;
  h->in.n = 0;
  for (int i = 0; i < node->n_in; i++) DAMO_TRY(ptrvec_push(&h->in, debug_history_shadow(h, node->in[i])));
  DAMO_TRY(ptrvec_reserve(&h->nodes, h->nodes.n + 1));
  damo_apply *copy = apply_clone_with(node, (damo_var *const *)h->in.at);
  if (copy == NULL) return DAMO_EMEMORY;
  h->nodes.at[h->nodes.n++] = copy;
  for (int o = 0; o < node->n_out; o++) DAMO_TRY(map_put(&h->shadow, node->out[o], (uintptr_t)copy->out[o]));
  return DAMO_OK;
}

/* Forgets a pruned node, because another Variable may later be allocated at the same address. */
static void forget_node(damo_fgraph *fg, void *user, damo_apply *node) {
  (void)fg;
  debug_history *h = user;
  for (int o = 0; o < node->n_out; o++) map_remove(&h->shadow, node->out[o]);
}

static bool history_knows(const debug_history *h, const damo_var *v) {
  return v->owner == NULL || map_get(&h->shadow, v, NULL);
}

/* Whether v can be computed twice and compared. */
static bool is_comparable(const damo_var *v) {
  return (v->type->kind == TYPE_TENSOR || v->type->kind == TYPE_SPARSE) &&
         (v->owner == NULL || !v->owner->op->def->impure);
}

static damo_status add_pair(damo_fgraph *fg, void *user, damo_var *old, damo_var *now, const char *reason) {
  (void)fg;
  debug_history *h = user;
  if (!history_knows(h, old) || !history_knows(h, now) || !is_comparable(old) || !is_comparable(now)) return DAMO_OK;
  DAMO_TRY(ptrvec_reserve(&h->pairs, h->pairs.n + 2));
  DAMO_TRY(ptrvec_reserve(&h->rules, h->rules.n + 1));
  char *rule = mem_strdup(h->ctx, reason != NULL ? reason : "?");
  if (rule == NULL) return DAMO_EMEMORY;
  h->rules.at[h->rules.n++] = rule;
  h->pairs.at[h->pairs.n++] = damo_retain(debug_history_shadow(h, old));
  h->pairs.at[h->pairs.n++] = damo_retain(debug_history_shadow(h, now));
  return DAMO_OK;
}

static damo_status attach(debug_history *h, damo_fgraph *fg) {
  ptrvec nodes;
  ptrvec_init(&nodes, h->ctx);
  damo_status s = fgraph_toposort(fg, &nodes);
  for (int64_t i = 0; i < nodes.n && s == DAMO_OK; i++) s = add_shadow(fg, h, nodes.at[i]);
  ptrvec_clear(&nodes);
  for (int64_t i = 0; i < fg->outputs.n && s == DAMO_OK; i++) {
    s = ptrvec_push(&h->written, debug_history_shadow(h, fg->outputs.at[i]));
  }
  if (s == DAMO_OK) s = fgraph_attach(fg, &h->feature);
  if (s == DAMO_OK) h->fg = fg;
  return s;
}

debug_history *debug_history_begin(damo_fgraph *fg) {
  damo_ctx *ctx = fg->obj.ctx;
  debug_history *h = mem_calloc(ctx, sizeof *h);
  if (h == NULL) return NULL;
  h->ctx = ctx;
  h->feature = (fg_feature){
      .name = "history", .on_import = add_shadow, .on_prune = forget_node, .on_replace = add_pair, .user = h};
  map_init(&h->shadow, ctx);
  ptrvec *lists[] = {&h->nodes, &h->written, &h->pairs, &h->rules, &h->in};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) ptrvec_init(lists[i], ctx);
  if (attach(h, fg) == DAMO_OK) return h;
  debug_history_free(h);
  return NULL;
}

void debug_history_end(debug_history *h) {
  if (h->fg != NULL) fgraph_detach(h->fg, &h->feature);
  h->fg = NULL;
}

void debug_history_free(debug_history *h) {
  if (h == NULL) return;
  damo_ctx *ctx = h->ctx;
  debug_history_end(h);
  for (int64_t i = 0; i < h->rules.n; i++) mem_strfree(ctx, h->rules.at[i]);
  map_clear(&h->shadow);
  ptrvec_clear(&h->rules);
  ptrvec_clear(&h->written);
  ptrvec_clear(&h->in);
  ptrvec_release_all(&h->pairs);
  ptrvec_release_all(&h->nodes);
  mem_free(ctx, h, sizeof *h);
}

damo_fgraph *debug_history_graph(const debug_history *h, const damo_fgraph *fg, map *memo) {
  ptrvec outputs;
  ptrvec_init(&outputs, h->ctx);
  damo_status s = DAMO_OK;
  for (int64_t i = 0; i < h->written.n && s == DAMO_OK; i++) s = ptrvec_push(&outputs, h->written.at[i]);
  for (int64_t i = 0; i < h->pairs.n && s == DAMO_OK; i++) s = ptrvec_push(&outputs, h->pairs.at[i]);
  damo_fgraph *graph = NULL;
  if (s == DAMO_OK) {
    graph = fgraph_new(h->ctx, (damo_var *const *)fg->inputs.at, fg->inputs.n, (damo_var *const *)outputs.at, outputs.n,
                       true, memo);
  }
  ptrvec_clear(&outputs);
  return graph;
}

int64_t debug_history_rules(const debug_history *h, char *const **rules) {
  *rules = (char *const *)h->rules.at;
  return h->rules.n;
}

/* walk.c: walks over graphs. They are iterative, with a stack on the heap, so the depth of a graph is not limited by
 * the C stack. */
#include "graph_int.h"

/* A depth-first walk. The nodes that it has met have its number: nothing else walks meanwhile, and only the context of
 * a graph walks over it. Alternate entries of the stack: a node, the input to visit next. */
typedef struct dfs_walk {
  ptrvec stack;
  uint64_t number, first; /* first: the least id of a node that it enters */
  const map *stops;       /* damo_var*, or NULL */
} dfs_walk;

static damo_status dfs_enter(dfs_walk *w, damo_apply *node) {
  node->walk = w->number;
  DAMO_TRY(ptrvec_push(&w->stack, node));
  return ptrvec_push(&w->stack, (void *)(uintptr_t)0);
}

/* The node that makes v, if the walk shall enter it. */
static damo_apply *dfs_owner(const dfs_walk *w, const damo_var *v) {
  if (v->owner == NULL || v->owner->walk == w->number || v->owner->id < w->first) return NULL;
  return w->stops != NULL && map_get(w->stops, v, NULL) ? NULL : v->owner;
}

static damo_status dfs_drain(dfs_walk *w, ptrvec *out) {
  while (w->stack.n > 0) {
    damo_apply *node = w->stack.at[w->stack.n - 2], *next = NULL;
    intptr_t i = (intptr_t)w->stack.at[w->stack.n - 1];
    while (i < node->n_in && next == NULL) next = dfs_owner(w, node->in[i++]);
    w->stack.at[w->stack.n - 1] = (void *)i;
    if (next != NULL) {
      DAMO_TRY(dfs_enter(w, next));
    } else {
      w->stack.n -= 2;
      DAMO_TRY(ptrvec_push(out, node));
    }
  }
  return DAMO_OK;
}

static damo_status dfs_run(damo_ctx *ctx, dfs_walk *w, damo_var *const *outputs, int64_t n, ptrvec *out) {
  w->number = ++ctx->walks;
  ptrvec_init(&w->stack, ctx);
  damo_status s = DAMO_OK;
  for (int64_t k = 0; k < n && s == DAMO_OK; k++) {
    damo_apply *node = dfs_owner(w, outputs[k]);
    if (node == NULL) continue;
    damo_assert(node->obj.ctx == ctx);
    s = dfs_enter(w, node);
    if (s == DAMO_OK) s = dfs_drain(w, out);
  }
  ptrvec_clear(&w->stack);
  return s;
}

damo_status graph_toposort_map(damo_ctx *ctx, damo_var *const *outputs, int64_t n, const map *stops, ptrvec *out) {
  dfs_walk w = {.stops = stops != NULL && stops->n > 0 ? stops : NULL};
  return dfs_run(ctx, &w, outputs, n, out);
}

damo_status graph_toposort_since(damo_ctx *ctx, damo_var *const *outputs, int64_t n, uint64_t first, ptrvec *out) {
  dfs_walk w = {.first = first};
  return dfs_run(ctx, &w, outputs, n, out);
}

damo_status graph_toposort(damo_ctx *ctx, damo_var *const *outputs, int64_t n, damo_var *const *stops, int64_t n_stops,
                           ptrvec *out) {
  map stop;
  map_init(&stop, ctx);
  damo_status s = DAMO_OK;
  for (int64_t i = 0; i < n_stops && s == DAMO_OK; i++) {
    if (stops[i]->owner != NULL) s = map_put(&stop, stops[i], 1);
  }
  if (s == DAMO_OK) s = graph_toposort_map(ctx, outputs, n, &stop, out);
  map_clear(&stop);
  return s;
}

static damo_status add_once(map *seen, ptrvec *out, damo_var *v) {
  if (map_get(seen, v, NULL)) return DAMO_OK;
  DAMO_TRY(map_put(seen, v, 1));
  return ptrvec_push(out, v);
}

static damo_status collect_ancestors(damo_ctx *ctx, damo_var *const *outputs, int64_t n, map *seen, ptrvec *nodes,
                                     ptrvec *out) {
  DAMO_TRY(graph_toposort_map(ctx, outputs, n, NULL, nodes));
  for (int64_t k = 0; k < nodes->n; k++) {
    damo_apply *node = nodes->at[k];
    for (int i = 0; i < node->n_in; i++) DAMO_TRY(add_once(seen, out, node->in[i]));
  }
  for (int64_t i = 0; i < n; i++) DAMO_TRY(add_once(seen, out, outputs[i]));
  return DAMO_OK;
}

damo_status graph_ancestors(damo_ctx *ctx, damo_var *const *outputs, int64_t n, ptrvec *out) {
  ptrvec nodes;
  map seen;
  ptrvec_init(&nodes, ctx);
  map_init(&seen, ctx);
  damo_status s = collect_ancestors(ctx, outputs, n, &seen, &nodes, out);
  ptrvec_clear(&nodes);
  map_clear(&seen);
  return s;
}

damo_status graph_inputs(damo_ctx *ctx, damo_var *const *outputs, int64_t n, ptrvec *out) {
  int64_t kept = out->n, from = out->n;
  DAMO_TRY(graph_ancestors(ctx, outputs, n, out));
  for (int64_t i = from; i < out->n; i++) {
    if (((damo_var *)out->at[i])->owner == NULL) out->at[kept++] = out->at[i];
  }
  out->n = kept;
  return DAMO_OK;
}

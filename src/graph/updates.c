/* updates.c: the shared Variables that are updated because a graph depends on them, without a script's saying so. */
#include "graph_int.h"

typedef struct update_search {
  damo_ctx *ctx;
  map *makers;
  ptrvec *of, *to;
} update_search;

static damo_status found(update_search *u, damo_var *shared, damo_var *now, const damo_apply *maker) {
  DAMO_TRY(map_put(u->makers, shared, maker != NULL ? (uintptr_t)maker : UPDATE_BY_SCRIPT));
  DAMO_TRY(ptrvec_push(u->of, shared));
  return ptrvec_push(u->to, now);
}

static damo_status refuse_second(update_search *u, const damo_var *shared, const damo_apply *first,
                                 const damo_apply *second) {
  char name[160];
  strbuf a, b;
  strbuf_init(&a, u->ctx);
  strbuf_init(&b, u->ctx);
  op_format(&a, first->op);
  op_format(&b, second->op);
  ctx_fail(u->ctx, DAMO_EVALUE,
           "%s is updated by two nodes of the graph, %s and %s: say by updates which value it shall have",
           var_format(name, sizeof name, shared), a.failed ? first->op->def->name : a.at,
           b.failed ? second->op->def->name : b.at);
  strbuf_clear(&a);
  strbuf_clear(&b);
  ctx_fail_at(u->ctx, NULL, (damo_apply *)(uintptr_t)second);
  return DAMO_EVALUE;
}

static damo_status look_at_node(update_search *u, damo_apply *node) {
  for (const op_alias *a = node->op->def->update_map; a != NULL && a->out >= 0; a++) {
    damo_var *shared = node->in[a->in];
    uintptr_t maker = 0;
    if (shared->kind != VAR_SHARED) continue;
    if (!map_get(u->makers, shared, &maker)) {
      DAMO_TRY(found(u, shared, node->out[a->out], node));
      continue;
    }
    const damo_apply *first = (const damo_apply *)maker;
    if (maker == UPDATE_BY_SCRIPT || first == node || node->op->def->updates_again) continue;
    if (!first->op->def->updates_again) return refuse_second(u, shared, first, node);
  }
  return DAMO_OK;
}

static damo_status look_at_leaf(update_search *u, damo_var *v) {
  if (v->kind != VAR_SHARED || v->default_update == NULL || map_get(u->makers, v, NULL)) return DAMO_OK;
  return found(u, v, v->default_update, NULL);
}

damo_status graph_find_updates(damo_ctx *ctx, damo_var *const *outputs, int64_t n, damo_var *const *stops,
                               int64_t n_stops, map *makers, ptrvec *of, ptrvec *to) {
  update_search u = {ctx, makers, of, to};
  ptrvec nodes;
  ptrvec_init(&nodes, ctx);
  damo_status s = graph_toposort(ctx, outputs, n, stops, n_stops, &nodes);
  for (int again = 0; again < 2; again++) { /* nodes derived from others come second */
    for (int64_t k = 0; k < nodes.n && s == DAMO_OK; k++) {
      damo_apply *node = nodes.at[k];
      if (node->op->def->update_map != NULL && node->op->def->updates_again == (again == 1)) s = look_at_node(&u, node);
    }
  }
  for (int64_t i = 0; i < n && s == DAMO_OK; i++) s = look_at_leaf(&u, outputs[i]);
  for (int64_t k = 0; k < nodes.n && s == DAMO_OK; k++) {
    const damo_apply *node = nodes.at[k];
    for (int i = 0; i < node->n_in && s == DAMO_OK; i++) s = look_at_leaf(&u, node->in[i]);
  }
  ptrvec_clear(&nodes);
  return s;
}

/* updates.c: the shared Variables that are updated because a graph depends on them, without a script's saying so. */
#include "graph_int.h"

typedef struct update_search {
  build *b;
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

/* What makers has for a node that was looked into, and for one that computes a new value beside it. */
#define LOOKED_INSIDE ((uintptr_t)1)
#define BESIDE ((uintptr_t)2)

static bool is_beside(const update_search *u, const damo_apply *node) {
  uintptr_t mark = 0;
  return map_get(u->makers, node, &mark) && mark == BESIDE;
}

/* Whether both nodes, of which one is a copy from inside another node's graph, compute the same. */
static damo_status is_copy(const update_search *u, const damo_apply *a, const damo_apply *b, bool *same) {
  *same = false;
  if (a->op != b->op || (!is_beside(u, a) && !is_beside(u, b))) return DAMO_OK;
  return graph_equal(u->ctx, a->out, b->out, a->n_out, NULL, NULL, 0, same);
}

/* Takes note that `node` gives the shared Variable the value `now`. */
static damo_status take_update(update_search *u, damo_var *shared, damo_var *now, const damo_apply *node) {
  uintptr_t maker = 0;
  bool same;
  if (shared->kind != VAR_SHARED) return DAMO_OK;
  if (!map_get(u->makers, shared, &maker)) return found(u, shared, now, node);
  const damo_apply *first = (const damo_apply *)maker;
  if (maker == UPDATE_BY_SCRIPT || first == node || node->op->def->updates_again) return DAMO_OK;
  if (first->op->def->updates_again) return DAMO_OK;
  DAMO_TRY(is_copy(u, first, node, &same));
  return same ? DAMO_OK : refuse_second(u, shared, first, node);
}

static damo_status look_at_holder(update_search *u, damo_apply *node) {
  if (map_get(u->makers, node, NULL)) return DAMO_OK;
  ptrvec holders, of, to;
  ptrvec *const lists[] = {&holders, &of, &to};
  for (int i = 0; i < 3; i++) ptrvec_init(lists[i], u->ctx);
  damo_status s = ptrvec_push(&holders, node);
  for (int64_t k = 0; k < holders.n && s == DAMO_OK; k++) {
    damo_apply *holder = holders.at[k];
    s = holder->op->def->inner_updates(u->b, holder, &of, &to, &holders);
  }
  if (s == DAMO_OK) s = map_put(u->makers, node, LOOKED_INSIDE);
  for (int64_t i = 0; i < of.n && s == DAMO_OK; i++) {
    damo_var *now = to.at[i];
    s = map_put(u->makers, now->owner, BESIDE);
    if (s == DAMO_OK) s = take_update(u, of.at[i], now, now->owner);
  }
  for (int i = 0; i < 3; i++) ptrvec_clear(lists[i]);
  return s;
}

static damo_status look_at_node(update_search *u, damo_apply *node) {
  const op_def *def = node->op->def;
  if (def->inner_updates != NULL) DAMO_TRY(look_at_holder(u, node));
  for (const op_alias *a = def->updates_by_hand ? NULL : def->update_map; a != NULL && a->out >= 0; a++)
    DAMO_TRY(take_update(u, node->in[a->in], node->out[a->out], node));
  return DAMO_OK;
}

/* Whether the script that made the node makes the update of its input i. */
static bool is_by_hand(const damo_apply *node, int i) {
  const op_def *def = node->op->def;
  for (const op_alias *a = def->updates_by_hand ? def->update_map : NULL; a != NULL && a->out >= 0; a++) {
    if (a->in == i) return true;
  }
  return false;
}

static damo_status look_at_leaf(update_search *u, damo_var *v) {
  if (v->kind != VAR_SHARED || v->default_update == NULL || map_get(u->makers, v, NULL)) return DAMO_OK;
  return found(u, v, v->default_update, NULL);
}

damo_status graph_find_updates(build *b, damo_var *const *outputs, int64_t n, damo_var *const *stops, int64_t n_stops,
                               map *makers, ptrvec *of, ptrvec *to) {
  damo_ctx *ctx = b->ctx;
  update_search u = {b, ctx, makers, of, to};
  ptrvec nodes;
  ptrvec_init(&nodes, ctx);
  damo_status s = graph_toposort(ctx, outputs, n, stops, n_stops, &nodes);
  for (int again = 0; again < 2; again++) { /* nodes derived from others come second */
    for (int64_t k = 0; k < nodes.n && s == DAMO_OK; k++) {
      damo_apply *node = nodes.at[k];
      if (node->op->def->updates_again == (again == 1)) s = look_at_node(&u, node);
    }
  }
  for (int64_t i = 0; i < n && s == DAMO_OK; i++) s = look_at_leaf(&u, outputs[i]);
  for (int64_t k = 0; k < nodes.n && s == DAMO_OK; k++) {
    const damo_apply *node = nodes.at[k];
    for (int i = 0; i < node->n_in && s == DAMO_OK; i++) s = is_by_hand(node, i) ? s : look_at_leaf(&u, node->in[i]);
  }
  ptrvec_clear(&nodes);
  return s;
}

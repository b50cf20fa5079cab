/* fgraph_replace.c: changes of a FunctionGraph: replacing all uses of Variables, or one input or output.
 *
 * A change has three steps. First the new nodes are imported; this may fail, and imported nodes that stay without users
 * are pruned. Then the uses are moved from the old to the new Variables, each recorded in a log by which a failure or a
 * feature's refusal is undone. Last, nodes that lost their last user are pruned, which cannot fail because import
 * reserved the memory.
 */
#include "graph_int.h"

#include <string.h>

/* ---- The log of a change ----------------------------------------------------------------------------------------- */

typedef struct fgraph_change {
  damo_apply *node; /* NULL: output */
  int32_t index;
  bool notified; /* the features have been told of it */
  damo_var *old; /* owned */
} fgraph_change;

typedef struct change_log {
  fgraph_change *at;
  int64_t n, cap;
} change_log;

static damo_status log_reserve(damo_ctx *ctx, change_log *log, int64_t extra) {
  if (log->n + extra <= log->cap) return DAMO_OK;
  int64_t cap = 2 * log->cap > log->n + extra ? 2 * log->cap : log->n + extra;
  fgraph_change *at = mem_realloc(ctx, log->at, (size_t)log->cap * sizeof *at, (size_t)cap * sizeof *at);
  if (at == NULL) return DAMO_EMEMORY;
  log->at = at;
  log->cap = cap;
  return DAMO_OK;
}

static void log_clear(damo_ctx *ctx, change_log *log) {
  for (int64_t i = 0; i < log->n; i++) damo_release(log->at[i].old);
  mem_free(ctx, log->at, (size_t)log->cap * sizeof *log->at);
}

/* ---- Moving uses, and undoing that ------------------------------------------------------------------------------- */

/* Tells the first n features, last first, that a use has its old Variable again. The pending error stays the one that
 * caused this; errors of the callbacks are dropped. */
static void tell_back(damo_fgraph *fg, int64_t n, damo_apply *node, int32_t index, damo_var *now, damo_var *old) {
  damo_ctx *ctx = fg->obj.ctx;
  ctx_error first = ctx->error;
  damo_retain(first.node);
  for (int64_t i = n < fg->features.n ? n : fg->features.n; i-- > 0;) {
    fg_feature *f = fg->features.at[i];
    if (f->on_change_input != NULL) (void)f->on_change_input(fg, f->user, node, index, now, old);
  }
  ctx_clear_error(ctx);
  ctx->error = first;
}

/* Calls on_change_input of the features. When one fails, *heard is the number of features before it. */
static damo_status tell_change(damo_fgraph *fg, damo_apply *node, int32_t index, damo_var *old, damo_var *now,
                               int64_t *heard) {
  for (*heard = 0; *heard < fg->features.n; ++*heard) {
    fg_feature *f = fg->features.at[*heard];
    if (f->on_change_input != NULL) DAMO_TRY(f->on_change_input(fg, f->user, node, index, old, now));
  }
  return DAMO_OK;
}

/* Swaps the use's current Variable with c->old. */
static void step_back(damo_fgraph *fg, fgraph_change *c) {
  damo_var **use = fgraph_use_at(fg, c->node, c->index), *now = *use;
  clients_restore(fg, c->old, c->node, c->index);
  clients_remove(fg, now, c->node, c->index);
  *use = c->old;
  c->old = now;
}

/* Moves one use to `now`. The log, which has space for the step, takes over the reference to the old Variable. */
static damo_status move_use(damo_fgraph *fg, damo_apply *node, int32_t index, damo_var *now, change_log *log) {
  damo_var **use = fgraph_use_at(fg, node, index), *old = *use;
  damo_assert(log->n < log->cap);
  damo_status s = clients_add(fg, now, node, index);
  if (s != DAMO_OK) {
    clients_settle(fg, now);
    return s;
  }
  *use = damo_retain(now);
  clients_remove(fg, old, node, index); /* settled at the end of the change: undo needs the space */
  fg->changes++;
  int64_t heard;
  s = tell_change(fg, node, index, old, now, &heard);
  log->at[log->n++] = (fgraph_change){node, index, s == DAMO_OK, old};
  if (s == DAMO_OK) return DAMO_OK;
  step_back(fg, &log->at[log->n - 1]);
  fgraph_drop_order(fg);
  tell_back(fg, heard, node, index, now, old);
  return s;
}

/* Undoes every step of the log, last first, and empties it. Lists of clients are settled after the last step, since
 * undoing an earlier step may need the space of a later one's list. */
static void undo(damo_fgraph *fg, change_log *log) {
  fgraph_drop_order(fg);
  for (int64_t i = log->n - 1; i >= 0; i--) {
    fgraph_change *c = &log->at[i];
    if (!c->notified) continue; /* move_use has undone it */
    damo_var *old = c->old;
    step_back(fg, c);
    tell_back(fg, fg->features.n, c->node, c->index, c->old, old);
  }
  for (int64_t i = 0; i < log->n; i++) {
    clients_settle(fg, log->at[i].old);
    damo_release(log->at[i].old);
  }
  log->n = 0;
}

/* ---- The end of a change ----------------------------------------------------------------------------------------- */

damo_status fgraph_validate(damo_fgraph *fg) {
  for (int64_t i = 0; i < fg->features.n; i++) {
    fg_feature *f = fg->features.at[i];
    if (f->validate != NULL) DAMO_TRY(f->validate(fg, f->user));
  }
  return DAMO_OK;
}

/* A replacement of old[i] by now[i] for i < n, with its reason. */
typedef struct replacement {
  damo_var *const *old, *const *now;
  int64_t n;
  const char *reason;
  bool unasked; /* without validation: the caller calls fgraph_validate later */
} replacement;

static damo_status tell_replaced(damo_fgraph *fg, const replacement *r) {
  for (int64_t i = 0; i < fg->features.n; i++) {
    fg_feature *f = fg->features.at[i];
    for (int64_t k = 0; f->on_replace != NULL && k < r->n; k++) {
      if (r->old[k] != r->now[k]) DAMO_TRY(f->on_replace(fg, f->user, r->old[k], r->now[k], r->reason));
    }
  }
  return DAMO_OK;
}

/* Ends a change that has status s so far: validates, notifies, or else undoes it; then prunes imported and former nodes
 * that have no users. */
static damo_status finish_change(damo_fgraph *fg, damo_status s, const replacement *r, ptrvec *imported,
                                 change_log *log) {
  if (s == DAMO_OK && !r->unasked) s = fgraph_validate(fg);
  if (s == DAMO_OK && log->n > 0) s = tell_replaced(fg, r);
  if (s != DAMO_OK) undo(fg, log);
  for (int64_t i = 0; i < log->n; i++) clients_settle(fg, log->at[i].old);
  fgraph_prune_list(fg, imported);
  for (int64_t i = 0; i < log->n; i++) fgraph_prune(fg, log->at[i].old->owner);
  log_clear(fg->obj.ctx, log);
  ptrvec_clear(imported);
  return s;
}

/* ---- Checks ------------------------------------------------------------------------------------------------------ */

static damo_status replace_check_types(damo_fgraph *fg, const damo_var *old, const damo_var *now, const char *reason) {
  if (type_is_super(old->type, now->type)) return DAMO_OK;
  char a[320], b[320], name[160];
  return ctx_fail(fg->obj.ctx, DAMO_ETYPE, "replace%s%s: %s has %s, its replacement %s", reason ? " by " : "",
                  reason ? reason : "", var_format(name, sizeof name, old), type_format(a, sizeof a, old->type),
                  type_format(b, sizeof b, now->type));
}

/* A cycle would arise if now depends on a node that uses old, and so would use now. */
static damo_status check_acyclic(damo_fgraph *fg, const damo_var *old, damo_var *now) {
  const fg_clients *c = fgraph_clients(fg, old);
  if (c == NULL || now->owner == NULL) return DAMO_OK;
  ptrvec nodes;
  map above;
  ptrvec_init(&nodes, fg->obj.ctx);
  map_init(&above, fg->obj.ctx);
  damo_status s = graph_toposort_map(fg->obj.ctx, &now, 1, NULL, &nodes);
  for (int64_t i = 0; i < nodes.n && s == DAMO_OK; i++) s = map_put(&above, nodes.at[i], 1);
  for (int32_t i = 0; i < c->n && s == DAMO_OK; i++) {
    if (c->at[i].node == NULL || !map_get(&above, c->at[i].node, NULL)) continue;
    char a[160], b[160];
    s = ctx_fail(fg->obj.ctx, DAMO_EINCONSISTENCY, "replace: %s in place of %s would make a cycle",
                 var_format(a, sizeof a, now), var_format(b, sizeof b, old));
  }
  ptrvec_clear(&nodes);
  map_clear(&above);
  return s;
}

enum { VISIT_ON_PATH = 1, VISIT_DONE = 2 };

/* One step of a depth-first walk, from the node on top of the stack (alternate entries: node, next input). *bad: the
 * step reached a node on the current path, so there is a cycle. */
static damo_status cycle_step(ptrvec *stack, map *state, bool *bad) {
  damo_apply *node = stack->at[stack->n - 2];
  intptr_t i = (intptr_t)stack->at[stack->n - 1];
  stack->at[stack->n - 1] = (void *)(i + 1);
  if (i >= node->n_in) {
    stack->n -= 2;
    return map_put(state, node, VISIT_DONE);
  }
  damo_apply *up = node->in[i]->owner;
  uintptr_t seen = 0;
  if (up == NULL) return DAMO_OK;
  *bad = map_get(state, up, &seen) && seen == VISIT_ON_PATH;
  if (seen != 0) return DAMO_OK;
  DAMO_TRY(map_put(state, up, VISIT_ON_PATH));
  DAMO_TRY(ptrvec_push(stack, up));
  return ptrvec_push(stack, (void *)0);
}

/* An inconsistency error if the moves of the log closed a cycle: one depth-first walk over all nodes above the changed
 * ones. */
static damo_status check_cycles(damo_fgraph *fg, const change_log *log) {
  damo_ctx *ctx = fg->obj.ctx;
  ptrvec stack;
  map state;
  ptrvec_init(&stack, ctx);
  map_init(&state, ctx);
  damo_status s = DAMO_OK;
  bool bad = false;
  for (int64_t k = 0; k < log->n && s == DAMO_OK; k++) {
    damo_apply *node = log->at[k].node;
    if (node == NULL || map_get(&state, node, NULL)) continue;
    s = map_put(&state, node, VISIT_ON_PATH);
    if (s == DAMO_OK) s = ptrvec_push(&stack, node);
    if (s == DAMO_OK) s = ptrvec_push(&stack, (void *)0);
    while (stack.n > 0 && s == DAMO_OK && !bad) s = cycle_step(&stack, &state, &bad);
    if (bad) s = ctx_fail(ctx, DAMO_EINCONSISTENCY, "replace: these replacements would make a cycle");
  }
  ptrvec_clear(&stack);
  map_clear(&state);
  return s;
}

/* ---- Replacing --------------------------------------------------------------------------------------------------- */

/* Moves all uses of old that existed before `now` came in. */
static damo_status replace_one(damo_fgraph *fg, damo_var *old, damo_var *now, ptrvec *imported, change_log *log) {
  if (old == now) return DAMO_OK;
  const fg_clients *c = fgraph_clients(fg, old);
  if (c == NULL) return DAMO_OK;
  damo_ctx *ctx = fg->obj.ctx;
  size_t bytes = (size_t)c->n * sizeof(fg_client);
  int32_t n = c->n;
  fg_client *uses = mem_alloc(ctx, bytes);
  if (uses == NULL) return DAMO_EMEMORY;
  memcpy(uses, c->at, bytes);
  damo_status s = fgraph_import(fg, now, imported);
  if (s == DAMO_OK) s = log_reserve(ctx, log, n);
  for (int32_t i = 0; i < n && s == DAMO_OK; i++) s = move_use(fg, uses[i].node, uses[i].index, now, log);
  mem_free(ctx, uses, bytes);
  return s;
}

/* A replacement stands for what its predecessor was a copy of, unless it stands for something else already. */
static void pass_origin(const replacement *r) {
  for (int64_t i = 0; i < r->n; i++) {
    damo_var *now = r->now[i];
    if (now->owner != NULL && now->origin == 0) now->origin = r->old[i]->origin;
  }
}

static damo_status replace_many(damo_fgraph *fg, const replacement *r, bool check) {
  damo_var *const *old = r->old, *const *now = r->now;
  const int64_t n = r->n;
  damo_ctx *ctx = fg->obj.ctx;
  for (int64_t i = 0; i < n; i++) DAMO_TRY(replace_check_types(fg, old[i], now[i], r->reason));
  ptrvec imported;
  change_log log = {NULL, 0, 0};
  ptrvec_init(&imported, ctx);
  damo_status s = DAMO_OK;
  for (int64_t i = 0; i < n && s == DAMO_OK; i++) {
    if (check && n == 1) s = check_acyclic(fg, old[i], now[i]);
    if (s == DAMO_OK) s = replace_one(fg, old[i], now[i], &imported, &log);
  }
  if (s == DAMO_OK && check && n > 1)
    s = check_cycles(fg, &log); /* one walk for all replacements: each may go through the whole graph */
  if (s == DAMO_OK) pass_origin(r);
  return finish_change(fg, s, r, &imported, &log);
}

damo_status fgraph_replace_all(damo_fgraph *fg, damo_var *const *old, damo_var *const *now, int64_t n,
                               const char *reason) {
  return replace_many(fg, &(replacement){old, now, n, reason, false}, true);
}

damo_status fgraph_replace_unasked(damo_fgraph *fg, damo_var *const *old, damo_var *const *now, int64_t n,
                                   const char *reason) {
  return replace_many(fg, &(replacement){old, now, n, reason, true}, true);
}

damo_status fgraph_replace_trusted(damo_fgraph *fg, damo_var *const *old, damo_var *const *now, int64_t n,
                                   const char *reason) {
  return replace_many(fg, &(replacement){old, now, n, reason, false}, false);
}

damo_status fgraph_replace(damo_fgraph *fg, damo_var *old, damo_var *now, const char *reason) {
  return fgraph_replace_all(fg, &old, &now, 1, reason);
}

static damo_status check_change(damo_fgraph *fg, damo_apply *node, int index, damo_var *now) {
  if (node == NULL ? index < 0 || index >= fg->outputs.n : index < 0 || index >= node->n_in) {
    return ctx_fail(fg->obj.ctx, DAMO_EINDEX, "change_node_input: there is no input %d", index + 1);
  }
  if (node == NULL) return DAMO_OK;
  if (!fgraph_has_node(fg, node))
    return ctx_fail(fg->obj.ctx, DAMO_EVALUE, "change_node_input: the node is not in the graph");
  ptrvec nodes;
  ptrvec_init(&nodes, fg->obj.ctx);
  damo_status s = graph_toposort_map(fg->obj.ctx, &now, 1, NULL, &nodes);
  for (int64_t i = 0; i < nodes.n && s == DAMO_OK; i++) {
    if (nodes.at[i] == node)
      s = ctx_fail(fg->obj.ctx, DAMO_EINCONSISTENCY, "change_node_input: this would make a cycle");
  }
  ptrvec_clear(&nodes);
  return s;
}

static damo_status change_input(damo_fgraph *fg, damo_apply *node, int index, damo_var *now, const char *reason,
                                bool unasked) {
  DAMO_TRY(replace_check_types(fg, *fgraph_use_at(fg, node, index), now, reason));
  damo_ctx *ctx = fg->obj.ctx;
  damo_var *old = *fgraph_use_at(fg, node, index);
  const replacement r = {&old, &now, 1, reason, unasked};
  ptrvec imported;
  change_log log = {NULL, 0, 0};
  ptrvec_init(&imported, ctx);
  damo_status s = fgraph_import(fg, now, &imported);
  if (s == DAMO_OK) s = log_reserve(ctx, &log, 1);
  if (s == DAMO_OK) s = move_use(fg, node, index, now, &log);
  return finish_change(fg, s, &r, &imported, &log);
}

damo_status fgraph_change_input(damo_fgraph *fg, damo_apply *node, int index, damo_var *now, const char *reason) {
  DAMO_TRY(check_change(fg, node, index, now));
  return fgraph_change_input_trusted(fg, node, index, now, reason);
}

damo_status fgraph_change_input_unasked(damo_fgraph *fg, damo_apply *node, int index, damo_var *now,
                                        const char *reason) {
  DAMO_TRY(check_change(fg, node, index, now));
  return change_input(fg, node, index, now, reason, true);
}

damo_status fgraph_change_input_trusted(damo_fgraph *fg, damo_apply *node, int index, damo_var *now,
                                        const char *reason) {
  return change_input(fg, node, index, now, reason, false);
}

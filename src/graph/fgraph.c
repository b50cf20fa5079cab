/* fgraph.c: FunctionGraph: a graph with known users of every Variable, changed only through checked replacement.
 *
 * A change has three beats: import what is new (may fail; what came in without users goes out again), move the uses (each
 * step noted, so that a refusal undoes them), prune what lost its last user (cannot fail: room was reserved on import).
 */
#include "graph_int.h"

#include <string.h>

/* ---- Clients ----------------------------------------------------------------------------------------------------- */

const fg_clients *fgraph_clients(const damo_fgraph *fg, const damo_var *v) {
  const fg_clients *c = map_get_ptr(&fg->clients, v);
  return c != NULL && c->n > 0 ? c : NULL;
}

bool fgraph_has_node(const damo_fgraph *fg, const damo_apply *node) { return map_get(&fg->nodes, node, NULL); }

static damo_var **use_of(const damo_fgraph *fg, const damo_apply *node, int32_t index) {
  return node != NULL ? &node->in[index] : (damo_var **)&fg->outputs.at[index];
}

#define LONG_LIST 64 /* uses, from which on their places are kept in a map */

static void places_drop(damo_ctx *ctx, fg_clients *c) {
  if (c->places == NULL) return;
  map_clear(c->places);
  mem_free(ctx, c->places, sizeof *c->places);
  c->places = NULL;
}

static damo_status places_make(const damo_fgraph *fg, fg_clients *c) {
  damo_ctx *ctx = fg->obj.ctx;
  c->places = mem_alloc(ctx, sizeof *c->places);
  if (c->places == NULL) return DAMO_EMEMORY;
  map_init(c->places, ctx);
  damo_status s = DAMO_OK;
  for (int32_t i = 0; i < c->n && s == DAMO_OK; i++) {
    s = map_put(c->places, use_of(fg, c->at[i].node, c->at[i].index), (uintptr_t)i);
  }
  if (s != DAMO_OK) places_drop(ctx, c);
  return s;
}

/* Appends a use; room is there. */
static damo_status clients_append(damo_fgraph *fg, fg_clients *c, damo_apply *node, int32_t index) {
  if (c->places == NULL && c->n >= LONG_LIST) DAMO_TRY(places_make(fg, c));
  if (c->places != NULL) DAMO_TRY(map_put(c->places, use_of(fg, node, index), (uintptr_t)c->n));
  c->at[c->n++] = (fg_client){node, index};
  return DAMO_OK;
}

static damo_status clients_add(damo_fgraph *fg, damo_var *v, damo_apply *node, int32_t index) {
  damo_ctx *ctx = fg->obj.ctx;
  fg_clients *c = map_get_ptr(&fg->clients, v);
  if (c == NULL) {
    c = mem_calloc(ctx, sizeof *c);
    if (c == NULL) return DAMO_EMEMORY;
    if (map_put(&fg->clients, v, (uintptr_t)c) != DAMO_OK) {
      mem_free(ctx, c, sizeof *c);
      return DAMO_EMEMORY;
    }
  }
  if (c->n == c->cap) {
    int32_t cap = c->cap == 0 ? 2 : 2 * c->cap;
    fg_client *at = mem_realloc(ctx, c->at, (size_t)c->cap * sizeof *at, (size_t)cap * sizeof *at);
    if (at == NULL) return DAMO_EMEMORY;
    c->at = at;
    c->cap = cap;
  }
  return clients_append(fg, c, node, index);
}

/* Puts back a use that clients_remove took and clients_settle has not seen yet: its room is still there, so it can't fail. */
static void clients_restore(damo_fgraph *fg, damo_var *v, damo_apply *node, int32_t index) {
  fg_clients *c = map_get_ptr(&fg->clients, v);
  if (clients_append(fg, c, node, index) == DAMO_OK) return;
  places_drop(fg->obj.ctx, c); /* a search will do */
  c->at[c->n++] = (fg_client){node, index};
}

static void clients_free(damo_fgraph *fg, fg_clients *c) {
  places_drop(fg->obj.ctx, c);
  mem_free(fg->obj.ctx, c->at, (size_t)c->cap * sizeof *c->at);
  mem_free(fg->obj.ctx, c, sizeof *c);
}

/* Drops the entry of a Variable that has no use. */
static void clients_settle(damo_fgraph *fg, const damo_var *v) {
  fg_clients *c = map_get_ptr(&fg->clients, v);
  if (c == NULL || c->n > 0) return;
  map_remove(&fg->clients, v);
  clients_free(fg, c);
}

static int32_t place_of_use(const damo_fgraph *fg, const fg_clients *c, const damo_apply *node, int32_t index) {
  uintptr_t place;
  if (c->places != NULL) return map_get(c->places, use_of(fg, node, index), &place) ? (int32_t)place : -1;
  for (int32_t i = 0; i < c->n; i++) {
    if (c->at[i].node == node && c->at[i].index == index) return i;
  }
  return -1;
}

/* Takes one use away. A short list keeps the order of the others; in a long one the last takes the free place. */
static void clients_remove(damo_fgraph *fg, const damo_var *v, const damo_apply *node, int32_t index) {
  fg_clients *c = map_get_ptr(&fg->clients, v);
  int32_t i = c != NULL ? place_of_use(fg, c, node, index) : -1;
  if (i < 0) return;
  c->n--;
  if (c->places == NULL) {
    memmove(&c->at[i], &c->at[i + 1], (size_t)(c->n - i) * sizeof *c->at);
    return;
  }
  map_remove(c->places, use_of(fg, node, index));
  if (i == c->n) return;
  c->at[i] = c->at[c->n];
  map_put(c->places, use_of(fg, c->at[i].node, c->at[i].index), (uintptr_t)i); /* an existing key: cannot fail */
}

/* ---- Prune ------------------------------------------------------------------------------------------------------- */

static bool is_used(const damo_fgraph *fg, const damo_apply *node) {
  for (int i = 0; i < node->n_out; i++) {
    if (fgraph_clients(fg, node->out[i]) != NULL) return true;
  }
  return false;
}

static void drop_node(damo_fgraph *fg, damo_apply *node) {
  for (int64_t i = 0; i < fg->features.n; i++) {
    fg_feature *f = fg->features.at[i];
    if (f->on_prune != NULL) f->on_prune(fg, f->user, node);
  }
  map_remove(&fg->nodes, node);
  for (int i = 0; i < node->n_in; i++) {
    damo_apply *owner = node->in[i]->owner;
    clients_remove(fg, node->in[i], node, i);
    clients_settle(fg, node->in[i]);
    if (owner != NULL && map_get(&fg->nodes, owner, NULL) && !is_used(fg, owner)) {
      fg->work.at[fg->work.n++] = owner; /* once: its last use has just gone */
    }
  }
  damo_release(node);
}

static void prune(damo_fgraph *fg, damo_apply *node) {
  if (node == NULL || !map_get(&fg->nodes, node, NULL) || is_used(fg, node)) return;
  fg->work.n = 0;
  fg->work.at[fg->work.n++] = node;
  while (fg->work.n > 0) drop_node(fg, fg->work.at[--fg->work.n]);
}

/* ---- Import ------------------------------------------------------------------------------------------------------ */

static bool is_input(const damo_fgraph *fg, const damo_var *v) { return map_get(&fg->input_set, v, NULL); }

static damo_status check_leaf(damo_fgraph *fg, const damo_var *v) {
  if (v->owner != NULL || v->kind != VAR_PLAIN || is_input(fg, v)) return DAMO_OK;
  char name[160], type[320];
  return ctx_fail(fg->obj.ctx, DAMO_EMISSING_INPUT,
                  "the graph needs the value of %s (%s), which is not among the inputs",
                  var_format(name, sizeof name, v), type_format(type, sizeof type, v->type));
}

/* Takes back a node that came in half: its first n inputs have it as a client. */
static void unimport(damo_fgraph *fg, damo_apply *node, int n) {
  while (n-- > 0) {
    clients_remove(fg, node->in[n], node, n);
    clients_settle(fg, node->in[n]);
  }
  map_remove(&fg->nodes, node);
  damo_release(node);
}

/* Tells the features; when one fails, those before it learn that the node goes again, those behind it never hear of it. */
static damo_status tell_import(damo_fgraph *fg, damo_apply *node) {
  for (int64_t i = 0; i < fg->features.n; i++) {
    fg_feature *f = fg->features.at[i];
    damo_status s = f->on_import != NULL ? f->on_import(fg, f->user, node) : DAMO_OK;
    if (s == DAMO_OK) continue;
    while (i-- > 0) {
      f = fg->features.at[i];
      if (f->on_prune != NULL) f->on_prune(fg, f->user, node);
    }
    return s;
  }
  return DAMO_OK;
}

static damo_status import_node(damo_fgraph *fg, damo_apply *node) {
  DAMO_TRY(ptrvec_reserve(&fg->work, (int64_t)fg->nodes.n + 2));
  for (int i = 0; i < node->n_in; i++) DAMO_TRY(check_leaf(fg, node->in[i]));
  DAMO_TRY(map_put(&fg->nodes, node, 1));
  damo_retain(node);
  for (int i = 0; i < node->n_in; i++) {
    if (clients_add(fg, node->in[i], node, i) == DAMO_OK) continue;
    clients_settle(fg, node->in[i]);
    unimport(fg, node, i);
    return DAMO_EMEMORY;
  }
  damo_status s = tell_import(fg, node);
  if (s != DAMO_OK) unimport(fg, node, node->n_in);
  return s;
}

/* Nodes above v that the fgraph does not have, inputs first. */
static damo_status new_nodes(damo_fgraph *fg, damo_var *v, ptrvec *out) {
  damo_ctx *ctx = fg->obj.ctx;
  map seen;
  ptrvec stack;
  map_init(&seen, ctx);
  ptrvec_init(&stack, ctx);
  damo_status s = DAMO_OK;
  if (v->owner != NULL && !fgraph_has_node(fg, v->owner)) s = ptrvec_push(&stack, v->owner);
  while (stack.n > 0 && s == DAMO_OK) {
    damo_apply *node = stack.at[stack.n - 1];
    uintptr_t state = 0;
    map_get(&seen, node, &state); /* 1: its inputs are on the stack above it, 2: listed */
    if (state != 0) {
      stack.n--;
      if (state == 2) continue;
      s = ptrvec_push(out, node);
      if (s == DAMO_OK) s = map_put(&seen, node, 2);
      continue;
    }
    s = map_put(&seen, node, 1);
    for (int i = node->n_in - 1; i >= 0 && s == DAMO_OK; i--) {
      damo_apply *up = node->in[i]->owner;
      if (up == NULL || fgraph_has_node(fg, up) || map_get(&seen, up, NULL)) continue;
      if (!is_input(fg, node->in[i])) s = ptrvec_push(&stack, up);
    }
  }
  ptrvec_clear(&stack);
  map_clear(&seen);
  return s;
}

static void prune_list(damo_fgraph *fg, const ptrvec *nodes) {
  for (int64_t i = nodes->n - 1; i >= 0; i--) prune(fg, nodes->at[i]);
}

/* Brings in the graph above v; imported (kept by the caller) lists what came. */
static damo_status import_var(damo_fgraph *fg, damo_var *v, ptrvec *imported) {
  int64_t from = imported->n;
  if (is_input(fg, v)) return DAMO_OK;
  DAMO_TRY(check_leaf(fg, v));
  DAMO_TRY(new_nodes(fg, v, imported));
  for (int64_t i = from; i < imported->n; i++) {
    damo_status s = import_node(fg, imported->at[i]);
    if (s == DAMO_OK) continue;
    imported->n = fgraph_has_node(fg, imported->at[i]) ? i + 1 : i; /* the rest never came in */
    return s;
  }
  return DAMO_OK;
}

/* ---- Changes ----------------------------------------------------------------------------------------------------- */

typedef struct change {
  damo_apply *node; /* NULL: output */
  int32_t index;
  bool told;     /* the features know of it */
  damo_var *old; /* owned */
} change;

typedef struct change_log {
  change *at;
  int64_t n, cap;
} change_log;

static damo_status log_reserve(damo_ctx *ctx, change_log *log, int64_t extra) {
  if (log->n + extra <= log->cap) return DAMO_OK;
  int64_t cap = 2 * log->cap > log->n + extra ? 2 * log->cap : log->n + extra;
  change *at = mem_realloc(ctx, log->at, (size_t)log->cap * sizeof *at, (size_t)cap * sizeof *at);
  if (at == NULL) return DAMO_EMEMORY;
  log->at = at;
  log->cap = cap;
  return DAMO_OK;
}

static void log_clear(damo_ctx *ctx, change_log *log) {
  for (int64_t i = 0; i < log->n; i++) damo_release(log->at[i].old);
  mem_free(ctx, log->at, (size_t)log->cap * sizeof *log->at);
}

/* Tells the first n features that a use is back where it was. The error that led here stays the pending one. */
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

/* Tells the features; when one fails, *heard is the number of those before it. */
static damo_status tell_change(damo_fgraph *fg, damo_apply *node, int32_t index, damo_var *old, damo_var *now,
                               int64_t *heard) {
  for (*heard = 0; *heard < fg->features.n; ++*heard) {
    fg_feature *f = fg->features.at[*heard];
    if (f->on_change_input != NULL) DAMO_TRY(f->on_change_input(fg, f->user, node, index, old, now));
  }
  return DAMO_OK;
}

/* Puts one use back; c->old then is what stood in its place. */
static void step_back(damo_fgraph *fg, change *c) {
  damo_var **use = use_of(fg, c->node, c->index), *now = *use;
  clients_restore(fg, c->old, c->node, c->index);
  clients_remove(fg, now, c->node, c->index);
  *use = c->old;
  c->old = now;
}

/* Moves one use; the log (with room) keeps the old Variable. */
static damo_status move_use(damo_fgraph *fg, damo_apply *node, int32_t index, damo_var *now, change_log *log) {
  damo_var **use = use_of(fg, node, index), *old = *use;
  damo_status s = clients_add(fg, now, node, index);
  if (s != DAMO_OK) {
    clients_settle(fg, now);
    return s;
  }
  *use = damo_retain(now);
  clients_remove(fg, old, node, index); /* settled when the change is final: undo needs the room */
  fg->changes++;
  int64_t heard;
  s = tell_change(fg, node, index, old, now, &heard);
  log->at[log->n++] = (change){node, index, s == DAMO_OK, old};
  if (s == DAMO_OK) return DAMO_OK;
  step_back(fg, &log->at[log->n - 1]);
  tell_back(fg, heard, node, index, now, old);
  return s;
}

/* Puts every use of the log back, last first, and empties the log. Entries of clients are settled only when all uses are
 * back: an earlier change may need the room of a later one's. */
static void undo(damo_fgraph *fg, change_log *log) {
  for (int64_t i = log->n - 1; i >= 0; i--) {
    change *c = &log->at[i];
    if (!c->told) continue; /* is back already */
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

static damo_status validate(damo_fgraph *fg) {
  for (int64_t i = 0; i < fg->features.n; i++) {
    fg_feature *f = fg->features.at[i];
    if (f->validate != NULL) DAMO_TRY(f->validate(fg, f->user));
  }
  return DAMO_OK;
}

/* What is replaced by what, and why. */
typedef struct replacement {
  damo_var *const *old, *const *now;
  int64_t n;
  const char *reason;
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

/* The end of a change: undone when it failed; what came in or was left without users goes. */
static damo_status finish_change(damo_fgraph *fg, damo_status s, const replacement *r, ptrvec *imported,
                                 change_log *log) {
  if (s == DAMO_OK) s = validate(fg);
  if (s == DAMO_OK && log->n > 0) s = tell_replaced(fg, r);
  if (s != DAMO_OK) undo(fg, log);
  for (int64_t i = 0; i < log->n; i++) clients_settle(fg, log->at[i].old);
  prune_list(fg, imported);
  for (int64_t i = 0; i < log->n; i++) prune(fg, log->at[i].old->owner);
  log_clear(fg->obj.ctx, log);
  ptrvec_clear(imported);
  return s;
}

static damo_status check_types(damo_fgraph *fg, const damo_var *old, const damo_var *now, const char *reason) {
  if (type_is_super(old->type, now->type)) return DAMO_OK;
  char a[320], b[320], name[160];
  return ctx_fail(fg->obj.ctx, DAMO_ETYPE, "replace%s%s: %s has %s, its replacement %s", reason ? " by " : "",
                  reason ? reason : "", var_format(name, sizeof name, old), type_format(a, sizeof a, old->type),
                  type_format(b, sizeof b, now->type));
}

/* A cycle would arise when now's graph uses a node that is to use now. */
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

enum { ON_PATH = 1, DONE = 2 };

/* The walk's next step from the node on top of the stack (nodes and input numbers in turn): *bad when it meets its own path. */
static damo_status cycle_step(ptrvec *stack, map *state, bool *bad) {
  damo_apply *node = stack->at[stack->n - 2];
  intptr_t i = (intptr_t)stack->at[stack->n - 1];
  stack->at[stack->n - 1] = (void *)(i + 1);
  if (i >= node->n_in) {
    stack->n -= 2;
    return map_put(state, node, DONE);
  }
  damo_apply *up = node->in[i]->owner;
  uintptr_t seen = 0;
  if (up == NULL) return DAMO_OK;
  *bad = map_get(state, up, &seen) && seen == ON_PATH;
  if (seen != 0) return DAMO_OK;
  DAMO_TRY(map_put(state, up, ON_PATH));
  DAMO_TRY(ptrvec_push(stack, up));
  return ptrvec_push(stack, (void *)0);
}

/* Whether the moves of the log closed a cycle: one walk over what lies above the changed nodes. */
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
    s = map_put(&state, node, ON_PATH);
    if (s == DAMO_OK) s = ptrvec_push(&stack, node);
    if (s == DAMO_OK) s = ptrvec_push(&stack, (void *)0);
    while (stack.n > 0 && s == DAMO_OK && !bad) s = cycle_step(&stack, &state, &bad);
    if (bad) s = ctx_fail(ctx, DAMO_EINCONSISTENCY, "replace: these replacements would make a cycle");
  }
  ptrvec_clear(&stack);
  map_clear(&state);
  return s;
}

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
  damo_status s = import_var(fg, now, imported);
  if (s == DAMO_OK) s = log_reserve(ctx, log, n);
  for (int32_t i = 0; i < n && s == DAMO_OK; i++) s = move_use(fg, uses[i].node, uses[i].index, now, log);
  mem_free(ctx, uses, bytes);
  return s;
}

static damo_status replace_many(damo_fgraph *fg, damo_var *const *old, damo_var *const *now, int64_t n, bool check,
                                const char *reason) {
  const replacement r = {old, now, n, reason};
  damo_ctx *ctx = fg->obj.ctx;
  for (int64_t i = 0; i < n; i++) DAMO_TRY(check_types(fg, old[i], now[i], reason));
  ptrvec imported;
  change_log log = {NULL, 0, 0};
  ptrvec_init(&imported, ctx);
  damo_status s = DAMO_OK;
  for (int64_t i = 0; i < n && s == DAMO_OK; i++) {
    if (check && n == 1) s = check_acyclic(fg, old[i], now[i]);
    if (s == DAMO_OK) s = replace_one(fg, old[i], now[i], &imported, &log);
  }
  if (s == DAMO_OK && check && n > 1)
    s = check_cycles(fg, &log); /* once for all: each walk may go through the whole graph */
  return finish_change(fg, s, &r, &imported, &log);
}

damo_status fgraph_replace_all(damo_fgraph *fg, damo_var *const *old, damo_var *const *now, int64_t n,
                               const char *reason) {
  return replace_many(fg, old, now, n, true, reason);
}

damo_status fgraph_replace_trusted(damo_fgraph *fg, damo_var *const *old, damo_var *const *now, int64_t n,
                                   const char *reason) {
  return replace_many(fg, old, now, n, false, reason);
}

damo_status fgraph_replace(damo_fgraph *fg, damo_var *old, damo_var *now, const char *reason) {
  return replace_many(fg, &old, &now, 1, true, reason);
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

damo_status fgraph_change_input(damo_fgraph *fg, damo_apply *node, int index, damo_var *now, const char *reason) {
  DAMO_TRY(check_change(fg, node, index, now));
  return fgraph_change_input_trusted(fg, node, index, now, reason);
}

damo_status fgraph_change_input_trusted(damo_fgraph *fg, damo_apply *node, int index, damo_var *now,
                                        const char *reason) {
  DAMO_TRY(check_types(fg, *use_of(fg, node, index), now, reason));
  damo_ctx *ctx = fg->obj.ctx;
  damo_var *old = *use_of(fg, node, index);
  const replacement r = {&old, &now, 1, reason};
  ptrvec imported;
  change_log log = {NULL, 0, 0};
  ptrvec_init(&imported, ctx);
  damo_status s = import_var(fg, now, &imported);
  if (s == DAMO_OK) s = log_reserve(ctx, &log, 1);
  if (s == DAMO_OK) s = move_use(fg, node, index, now, &log);
  return finish_change(fg, s, &r, &imported, &log);
}

/* ---- Features and checks ----------------------------------------------------------------------------------------- */

damo_status fgraph_attach(damo_fgraph *fg, fg_feature *feature) {
  DAMO_TRY(ptrvec_push(&fg->features, feature));
  damo_status s = feature->on_attach != NULL ? feature->on_attach(fg, feature->user) : DAMO_OK;
  if (s != DAMO_OK) fg->features.n--;
  return s;
}

void fgraph_detach(damo_fgraph *fg, fg_feature *feature) {
  for (int64_t i = 0; i < fg->features.n; i++) {
    if (fg->features.at[i] != feature) continue;
    memmove(&fg->features.at[i], &fg->features.at[i + 1], (size_t)(fg->features.n - i - 1) * sizeof(void *));
    fg->features.n--;
    if (feature->on_detach != NULL) feature->on_detach(fg, feature->user);
    return;
  }
}

damo_status fgraph_toposort(const damo_fgraph *fg, ptrvec *out) {
  for (int64_t i = 0; i < fg->features.n; i++) {
    const fg_feature *f = fg->features.at[i];
    if (f->order != NULL) return f->order(fg, f->user, out);
  }
  return fgraph_toposort_plain(fg, out);
}

damo_status fgraph_toposort_plain(const damo_fgraph *fg, ptrvec *out) {
  map stops;
  map_init(&stops, fg->obj.ctx);
  damo_status s = DAMO_OK;
  for (int64_t i = 0; i < fg->inputs.n && s == DAMO_OK; i++) s = map_put(&stops, fg->inputs.at[i], 1);
  if (s == DAMO_OK) {
    s = graph_toposort_map(fg->obj.ctx, (damo_var *const *)fg->outputs.at, fg->outputs.n, &stops, out);
  }
  map_clear(&stops);
  return s;
}

static bool has_client(const damo_fgraph *fg, const damo_var *v, const damo_apply *node, int32_t index) {
  const fg_clients *c = fgraph_clients(fg, v);
  for (int32_t i = 0; c != NULL && i < c->n; i++) {
    if (c->at[i].node == node && c->at[i].index == index) return true;
  }
  return false;
}

damo_status fgraph_check(const damo_fgraph *fg) {
  damo_ctx *ctx = fg->obj.ctx;
  ptrvec nodes;
  ptrvec_init(&nodes, ctx);
  damo_status s = fgraph_toposort(fg, &nodes);
  if (s == DAMO_OK && (size_t)nodes.n != fg->nodes.n) {
    s = ctx_fail(ctx, DAMO_EINCONSISTENCY, "the graph lists %zu nodes, its outputs reach %lld", fg->nodes.n,
                 (long long)nodes.n);
  }
  for (int64_t k = 0; k < nodes.n && s == DAMO_OK; k++) {
    damo_apply *node = nodes.at[k];
    for (int i = 0; i < node->n_in && s == DAMO_OK; i++) {
      if (!has_client(fg, node->in[i], node, i)) {
        s = ctx_fail(ctx, DAMO_EINCONSISTENCY, "input %d of a %s node is not noted as a use", i + 1,
                     node->op->def->name);
      }
    }
  }
  ptrvec_clear(&nodes);
  return s;
}

/* ---- Life -------------------------------------------------------------------------------------------------------- */

static void fgraph_destroy(damo_obj *obj) {
  damo_fgraph *fg = (damo_fgraph *)obj;
  for (size_t i = 0; i < fg->clients.cap; i++) {
    map_cell *c = &fg->clients.cells[i];
    if (c->key != 0 && c->key != MAP_TOMBSTONE) clients_free(fg, (fg_clients *)c->value);
  }
  for (size_t i = 0; i < fg->nodes.cap; i++) {
    map_cell *c = &fg->nodes.cells[i];
    if (c->key != 0 && c->key != MAP_TOMBSTONE) damo_release((damo_apply *)c->key);
  }
  map_clear(&fg->clients);
  map_clear(&fg->nodes);
  map_clear(&fg->input_set);
  ptrvec_release_all(&fg->inputs);
  ptrvec_release_all(&fg->outputs);
  ptrvec_clear(&fg->features);
  ptrvec_clear(&fg->work);
  obj_free(obj, sizeof *fg);
}

static damo_status push_owned(ptrvec *v, damo_var *take) {
  damo_status s = take != NULL ? ptrvec_push(v, take) : DAMO_EMEMORY;
  if (s != DAMO_OK) damo_release(take);
  return s;
}

/* Inputs are renewed, then the graph above the outputs is copied over them. */
static damo_status take_copies(damo_fgraph *fg, damo_var *const *inputs, int64_t n_in, damo_var *const *outputs,
                               int64_t n_out, map *memo) {
  damo_ctx *ctx = fg->obj.ctx;
  for (int64_t i = 0; i < n_in; i++) {
    DAMO_TRY(push_owned(&fg->inputs, var_new(ctx, inputs[i]->type, inputs[i]->name)));
    DAMO_TRY(map_put(memo, inputs[i], (uintptr_t)fg->inputs.at[i]));
  }
  DAMO_TRY(ptrvec_reserve(&fg->outputs, n_out));
  DAMO_TRY(graph_clone(ctx, outputs, n_out, memo, true, NULL, (damo_var **)fg->outputs.at));
  fg->outputs.n = n_out;
  return DAMO_OK;
}

static damo_status take_originals(damo_fgraph *fg, damo_var *const *inputs, int64_t n_in, damo_var *const *outputs,
                                  int64_t n_out) {
  for (int64_t i = 0; i < n_in; i++) DAMO_TRY(push_owned(&fg->inputs, damo_retain(inputs[i])));
  for (int64_t i = 0; i < n_out; i++) DAMO_TRY(push_owned(&fg->outputs, damo_retain(outputs[i])));
  return DAMO_OK;
}

static damo_status check_inputs(damo_ctx *ctx, damo_var *const *inputs, int64_t n_in) {
  map seen;
  map_init(&seen, ctx);
  damo_status s = DAMO_OK;
  for (int64_t i = 0; i < n_in && s == DAMO_OK; i++) {
    char name[160];
    if (map_get(&seen, inputs[i], NULL)) {
      s = ctx_fail(ctx, DAMO_EVALUE, "%s is listed twice among the inputs", var_format(name, sizeof name, inputs[i]));
    } else if (inputs[i]->kind != VAR_PLAIN) {
      s = ctx_fail(ctx, DAMO_ETYPE, "%s is a %s Variable, which can't be an input",
                   var_format(name, sizeof name, inputs[i]), inputs[i]->kind == VAR_SHARED ? "shared" : "constant");
    } else {
      s = map_put(&seen, inputs[i], 1);
    }
  }
  map_clear(&seen);
  return s;
}

static damo_status import_outputs(damo_fgraph *fg) {
  ptrvec nodes;
  ptrvec_init(&nodes, fg->obj.ctx);
  damo_status s = fgraph_toposort(fg, &nodes);
  for (int64_t i = 0; i < nodes.n && s == DAMO_OK; i++) s = import_node(fg, nodes.at[i]);
  ptrvec_clear(&nodes);
  for (int64_t i = 0; i < fg->outputs.n && s == DAMO_OK; i++) {
    s = check_leaf(fg, fg->outputs.at[i]);
    if (s == DAMO_OK) s = clients_add(fg, fg->outputs.at[i], NULL, (int32_t)i);
  }
  return s;
}

damo_fgraph *fgraph_new(damo_ctx *ctx, damo_var *const *inputs, int64_t n_in, damo_var *const *outputs, int64_t n_out,
                        bool clone, map *memo) {
  if (check_inputs(ctx, inputs, n_in) != DAMO_OK) return NULL;
  damo_fgraph *fg = obj_new(ctx, OBJ_FGRAPH, sizeof *fg);
  if (fg == NULL) return NULL;
  ptrvec_init(&fg->inputs, ctx);
  ptrvec_init(&fg->outputs, ctx);
  ptrvec_init(&fg->features, ctx);
  ptrvec_init(&fg->work, ctx);
  map_init(&fg->nodes, ctx);
  map_init(&fg->clients, ctx);
  map_init(&fg->input_set, ctx);
  map own;
  map_init(&own, ctx);
  damo_status s = clone ? take_copies(fg, inputs, n_in, outputs, n_out, memo != NULL ? memo : &own)
                        : take_originals(fg, inputs, n_in, outputs, n_out);
  map_clear(&own);
  for (int64_t i = 0; i < fg->inputs.n && s == DAMO_OK; i++) s = map_put(&fg->input_set, fg->inputs.at[i], 1);
  if (s == DAMO_OK) s = import_outputs(fg);
  if (s == DAMO_OK) return fg;
  damo_release(fg);
  return NULL;
}

damo_status fgraph_register(damo_ctx *ctx) {
  ctx_register_kind(ctx, OBJ_FGRAPH, fgraph_destroy, NULL);
  return DAMO_OK;
}

/* fgraph_import.c: import of nodes into a FunctionGraph, and pruning of nodes that have lost their last use.
 *
 * Importing a node checks that its leaves have values, records its uses and notifies the features; a failure undoes
 * these steps. Import also reserves the memory that pruning needs, so that pruning cannot fail.
 */
#include "graph_int.h"

/* ---- Prune ------------------------------------------------------------------------------------------------------- */

static bool is_used(const damo_fgraph *fg, const damo_apply *node) {
  for (int i = 0; i < node->n_out; i++) {
    if (fgraph_clients(fg, node->out[i]) != NULL) return true;
  }
  return false;
}

static void leave_graph(damo_fgraph *fg, damo_apply *node) {
  map_remove(&fg->nodes, node);
  if (node->member_of == fg->number) node->member_of = 0;
}

static void drop_node(damo_fgraph *fg, damo_apply *node) {
  for (int64_t i = 0; i < fg->features.n; i++) {
    fg_feature *f = fg->features.at[i];
    if (f->on_prune != NULL) f->on_prune(fg, f->user, node);
  }
  leave_graph(fg, node);
  for (int i = 0; i < node->n_in; i++) {
    damo_apply *owner = node->in[i]->owner;
    clients_remove(fg, node->in[i], node, i);
    clients_settle(fg, node->in[i]);
    if (owner != NULL && fgraph_has_node(fg, owner) && !is_used(fg, owner)) {
      damo_assert(fg->work.n < fg->work.cap);
      fg->work.at[fg->work.n++] = owner; /* pushed once, when its last use goes */
    }
  }
  damo_release(node);
}

void fgraph_prune(damo_fgraph *fg, damo_apply *node) {
  if (node == NULL || !fgraph_has_node(fg, node) || is_used(fg, node)) return;
  fg->work.n = 0;
  fg->work.at[fg->work.n++] = node;
  while (fg->work.n > 0) drop_node(fg, fg->work.at[--fg->work.n]);
}

/* ---- Import ------------------------------------------------------------------------------------------------------ */

static bool is_input(const damo_fgraph *fg, const damo_var *v) { return map_get(&fg->input_set, v, NULL); }

static damo_status check_leaf(damo_fgraph *fg, const damo_var *v) {
  if (v->owner != NULL || v->kind != VAR_PLAIN || is_input(fg, v)) return DAMO_OK;
  char name[160], type[320];
  if (v->type->kind == TYPE_NULL)
    return ctx_fail(fg->obj.ctx, DAMO_ENULL_GRADIENT, "the graph needs a value that is undefined: %s", v->type->why);
  return ctx_fail(fg->obj.ctx, DAMO_EMISSING_INPUT,
                  "the graph needs the value of %s (%s), which is not among the inputs: list it there, or give it by "
                  "givens",
                  var_format(name, sizeof name, v), type_format(type, sizeof type, v->type));
}

static damo_status take_leaf(damo_fgraph *fg, damo_var *v) {
  if (v->owner != NULL || v->kind != VAR_PLAIN || is_input(fg, v)) return DAMO_OK;
  DAMO_TRY(ptrvec_reserve(&fg->inputs, fg->inputs.n + 1));
  DAMO_TRY(map_put(&fg->input_set, v, 1));
  return ptrvec_push(&fg->inputs, damo_retain(v));
}

damo_status fgraph_take_leaves(damo_fgraph *fg, damo_var *const *v, int64_t n) {
  const int64_t before = fg->inputs.n;
  ptrvec nodes;
  ptrvec_init(&nodes, fg->obj.ctx);
  damo_status s = graph_toposort_map(fg->obj.ctx, v, n, &fg->input_set, &nodes);
  for (int64_t k = 0; k < nodes.n && s == DAMO_OK; k++) {
    const damo_apply *node = nodes.at[k];
    for (int i = 0; i < node->n_in && s == DAMO_OK; i++) s = take_leaf(fg, node->in[i]);
  }
  for (int64_t i = 0; i < n && s == DAMO_OK; i++) s = take_leaf(fg, v[i]);
  if (s != DAMO_OK) fgraph_drop_inputs(fg, before);
  ptrvec_clear(&nodes);
  return s;
}

void fgraph_drop_inputs(damo_fgraph *fg, int64_t n_inputs) {
  while (fg->inputs.n > n_inputs) {
    damo_var *v = fg->inputs.at[--fg->inputs.n];
    map_remove(&fg->input_set, v);
    damo_release(v);
  }
}

/* Undoes the import of a node whose first n uses have been recorded. */
static void unimport(damo_fgraph *fg, damo_apply *node, int n) {
  while (n-- > 0) {
    clients_remove(fg, node->in[n], node, n);
    clients_settle(fg, node->in[n]);
  }
  leave_graph(fg, node);
  damo_release(node);
}

/* Calls on_import of the features. When one fails, the features before it get on_prune; those behind it never hear of
 * the node. */
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
  node->member_of = fg->number;
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

/* Appends the nodes above v that the fgraph does not have, inputs first: the post-order of a depth-first walk. */
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

void fgraph_prune_list(damo_fgraph *fg, const ptrvec *nodes) {
  for (int64_t i = nodes->n - 1; i >= 0; i--) fgraph_prune(fg, nodes->at[i]);
}

damo_status fgraph_import(damo_fgraph *fg, damo_var *v, ptrvec *imported) {
  int64_t from = imported->n;
  if (is_input(fg, v)) return DAMO_OK;
  DAMO_TRY(check_leaf(fg, v));
  DAMO_TRY(new_nodes(fg, v, imported));
  for (int64_t i = from; i < imported->n; i++) {
    damo_status s = import_node(fg, imported->at[i]);
    if (s == DAMO_OK) continue;
    imported->n = fgraph_has_node(fg, imported->at[i]) ? i + 1 : i; /* the others never came in */
    return s;
  }
  return DAMO_OK;
}

damo_status fgraph_import_outputs(damo_fgraph *fg) {
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

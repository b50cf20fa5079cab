/* clone.c: copies of graphs, with replacements, and structural equality of graphs. */
#include "graph_int.h"

/* ---- Clone ------------------------------------------------------------------------------------------------------- */

static damo_var *renewed(const map *memo, damo_var *v) {
  damo_var *now = map_get_ptr(memo, v);
  return now != NULL ? now : v;
}

static bool node_has_input_types(const damo_apply *node, damo_var *const *in) {
  for (int i = 0; i < node->n_in; i++) {
    if (node->in[i]->type != in[i]->type) return false;
  }
  return true;
}

static bool clone_types_fit(const damo_apply *made, const damo_apply *node) {
  bool fit = made->n_in == node->n_in && made->n_out == node->n_out;
  for (int o = 0; o < node->n_out && fit; o++) fit = type_is_super(node->out[o]->type, made->out[o]->type);
  return fit;
}

/* A copy of the node over inputs whose Types may be narrower than its own (a known dimension, a pattern). The Op then
 * makes the node anew, so that its outputs' Types narrow as well. Where the Op refuses, or makes a node whose outputs
 * do not fit, the node is copied with its old Types. */
static damo_apply *copy_over(const damo_apply *node, damo_var *const *in) {
  if (node_has_input_types(node, in)) return apply_clone_with(node, in);
  damo_ctx *ctx = node->obj.ctx;
  damo_apply *made = op_apply(ctx, node->op, in, node->n_in);
  if (made != NULL && clone_types_fit(made, node)) {
    damo_release(made->trace);
    made->trace = damo_retain(node->trace);
    return made;
  }
  damo_release(made);
  if (made == NULL && damo_error_status(ctx) == DAMO_EMEMORY) return NULL;
  if (made == NULL) ctx_clear_error(ctx);
  return apply_clone_with(node, in);
}

/* Copies one node over its replaced inputs if one of them changed (or copy_all); adds old → new of its outputs to
 * memo. */
static damo_status clone_node(damo_apply *node, map *memo, bool copy_all, ptrvec *in, ptrvec *created) {
  bool changed = copy_all;
  in->n = 0;
  for (int i = 0; i < node->n_in; i++) {
    damo_var *now = renewed(memo, node->in[i]);
    changed = changed || now != node->in[i];
    DAMO_TRY(ptrvec_push(in, now));
  }
  if (!changed) return DAMO_OK;
  damo_apply *copy = copy_over(node, (damo_var *const *)in->at);
  if (copy == NULL) return DAMO_EMEMORY;
  if (ptrvec_push(created, copy) != DAMO_OK) {
    damo_release(copy);
    return DAMO_EMEMORY;
  }
  for (int i = 0; i < node->n_out; i++) {
    copy->out[i]->origin = node->out[i]->id;
    if (!map_get(memo, node->out[i], NULL)) DAMO_TRY(map_put(memo, node->out[i], (uintptr_t)copy->out[i]));
  }
  return DAMO_OK;
}

damo_status graph_clone(damo_ctx *ctx, damo_var *const *outputs, int64_t n, map *memo, bool copy_all, ptrvec *created,
                        damo_var **out) {
  ptrvec nodes, in, mine;
  ptrvec_init(&nodes, ctx);
  ptrvec_init(&in, ctx);
  ptrvec_init(&mine, ctx);
  damo_status s = graph_toposort_map(ctx, outputs, n, memo, &nodes);
  for (int64_t k = 0; k < nodes.n && s == DAMO_OK; k++) {
    s = clone_node(nodes.at[k], memo, copy_all, &in, created != NULL ? created : &mine);
  }
  if (s == DAMO_OK) {
    for (int64_t i = 0; i < n; i++) out[i] = damo_retain(renewed(memo, outputs[i]));
  }
  ptrvec_release_all(&mine);
  ptrvec_clear(&in);
  ptrvec_clear(&nodes);
  return s;
}

/* ---- Equality ---------------------------------------------------------------------------------------------------- */

static bool leaves_equal(const damo_var *x, const damo_var *y) {
  if (x == y) return true;
  if (x->kind != VAR_CONSTANT || y->kind != VAR_CONSTANT || x->type != y->type) return false;
  return x->value != NULL && y->value != NULL && type_values_equal(x->type, x->value, y->value);
}

/* Compares one pair of nodes. same: each x-node walked so far → its y-node, and each input in_x → in_y, so that a
 * shared part is compared once. */
static bool nodes_equal(const damo_apply *x, const damo_apply *y, const map *same) {
  if (x->op != y->op || x->n_in != y->n_in || x->n_out != y->n_out) return false;
  for (int i = 0; i < x->n_in; i++) {
    const damo_var *a = x->in[i], *b = y->in[i];
    const damo_var *paired = map_get_ptr(same, a);
    if (paired != NULL) {
      if (paired != b) return false;
    } else if (a->owner != NULL) {
      if (b->owner == NULL || map_get_ptr(same, a->owner) != b->owner || a->index != b->index) return false;
    } else if (!leaves_equal(a, b)) {
      return false;
    }
  }
  return true;
}

/* Compares the graphs' topological orders node by node: the order of a walk depends on the structure alone, so equal
 * graphs give lists that match pairwise. */
static damo_status graphs_compare(damo_ctx *ctx, damo_var *const *xs, damo_var *const *ys, int64_t n, map *same,
                                  const map *stop_y, ptrvec *nx, ptrvec *ny, bool *equal) {
  DAMO_TRY(graph_toposort_map(ctx, xs, n, same, nx));
  DAMO_TRY(graph_toposort_map(ctx, ys, n, stop_y, ny));
  *equal = nx->n == ny->n;
  for (int64_t k = 0; k < nx->n && *equal; k++) {
    *equal = nodes_equal(nx->at[k], ny->at[k], same);
    DAMO_TRY(map_put(same, nx->at[k], (uintptr_t)ny->at[k]));
  }
  for (int64_t i = 0; i < n && *equal; i++) {
    const damo_var *paired = map_get_ptr(same, xs[i]);
    if (paired != NULL) {
      *equal = paired == ys[i];
    } else if (xs[i]->owner != NULL) {
      *equal = map_get_ptr(same, xs[i]->owner) == ys[i]->owner && xs[i]->index == ys[i]->index;
    } else {
      *equal = leaves_equal(xs[i], ys[i]);
    }
  }
  return DAMO_OK;
}

damo_status graph_equal(damo_ctx *ctx, damo_var *const *xs, damo_var *const *ys, int64_t n, damo_var *const *in_x,
                        damo_var *const *in_y, int64_t n_in, bool *equal) {
  map same, stop_y;
  ptrvec nx, ny;
  map_init(&same, ctx);
  map_init(&stop_y, ctx);
  ptrvec_init(&nx, ctx);
  ptrvec_init(&ny, ctx);
  damo_status s = DAMO_OK;
  for (int64_t i = 0; i < n_in && s == DAMO_OK; i++) {
    s = map_put(&same, in_x[i], (uintptr_t)in_y[i]);
    if (s == DAMO_OK) s = map_put(&stop_y, in_y[i], 1);
  }
  if (s == DAMO_OK) s = graphs_compare(ctx, xs, ys, n, &same, &stop_y, &nx, &ny, equal);
  ptrvec_clear(&nx);
  ptrvec_clear(&ny);
  map_clear(&stop_y);
  map_clear(&same);
  return s;
}

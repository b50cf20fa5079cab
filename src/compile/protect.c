/* protect.c: what an Op destroys must not be needed by anybody else. */
#include "compile_int.h"

static bool is_view(const damo_var *v) {
  const op_alias *a = v->owner != NULL ? v->owner->op->view_map : NULL;
  for (; a != NULL && a->out >= 0; a++) {
    if (a->out == v->index) return true;
  }
  return false;
}

static bool is_viewed(const damo_fgraph *fg, const damo_var *v) {
  const fg_clients *c = fgraph_clients(fg, v);
  for (int32_t i = 0; c != NULL && i < c->n; i++) {
    const op_alias *a = c->at[i].node != NULL ? c->at[i].node->op->view_map : NULL;
    for (; a != NULL && a->out >= 0; a++) {
      if (a->in == c->at[i].index) return true;
    }
  }
  return false;
}

static bool must_last(const damo_fgraph *fg, const damo_var *v) {
  const fg_clients *c = fgraph_clients(fg, v);
  return v->owner == NULL || is_view(v) || is_viewed(fg, v) || (c != NULL && c->n > 1);
}

static damo_status protect_input(damo_fgraph *fg, damo_apply *node, int i) {
  build b;
  build_init(&b, fg->obj.ctx);
  damo_var *copy = build_op(&b, elemwise_op(fg->obj.ctx, "identity"), &node->in[i], 1);
  damo_status s = copy != NULL ? fgraph_change_input(fg, node, i, copy, "protect_destroyed") : b.status;
  damo_status ended = build_end(&b);
  return s != DAMO_OK ? s : ended;
}

damo_status protect_destroyed(damo_fgraph *fg) {
  ptrvec nodes;
  ptrvec_init(&nodes, fg->obj.ctx);
  damo_status s = fgraph_toposort(fg, &nodes);
  for (int64_t k = 0; k < nodes.n && s == DAMO_OK; k++) {
    damo_apply *node = nodes.at[k];
    for (const op_alias *a = node->op->destroy_map; a != NULL && a->out >= 0 && s == DAMO_OK; a++) {
      if (must_last(fg, node->in[a->in])) s = protect_input(fg, node, a->in);
    }
  }
  ptrvec_clear(&nodes);
  return s;
}

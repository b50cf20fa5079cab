/* protect.c: what an Op destroys must not be needed by anybody else. */
#include "compile_int.h"

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
      if (rewrite_must_last(fg, node->in[a->in])) s = protect_input(fg, node, a->in);
    }
  }
  ptrvec_clear(&nodes);
  return s;
}

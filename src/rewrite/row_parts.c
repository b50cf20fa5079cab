/* row_parts: replaces nodes that a Loop can take in by their parts (op_def.row_parts), Elemwise nodes and reductions over
 * rows, where there is something to fuse them with. By themselves such nodes stay: their own kernels do the same.
 */
#include "op/op.h"
#include "rewrite_int.h"

/* Whether a Loop over the elements of `like` could take in that node, which is not `self`. */
static bool is_of_elements(const damo_apply *node, const damo_apply *self, const damo_var *like) {
  if (node == NULL || node == self) return false;
  const op_def *def = node->op->def;
  const bool reduces = def == &reduce_def || def->row_parts != NULL;
  if (def != &elemwise_def && !reduces) return false;
  const damo_type *own = (def == &reduce_def ? node->in[0] : node->out[0])->type;
  if (own->ndim != like->type->ndim) return false;
  for (int axis = 0; axis < own->ndim; axis++) {
    if (type_dim_is_one(own, axis) != type_dim_is_one(like->type, axis)) return false;
  }
  return true;
}

static bool has_user_of_elements(damo_fgraph *fg, const damo_var *v, const damo_apply *self, const damo_var *like) {
  const fg_clients *c = fgraph_clients(fg, v);
  for (int32_t i = 0; c != NULL && i < c->n; i++) {
    const damo_apply *user = c->at[i].node;
    if (is_of_elements(user, self, like)) return true;
    if (user != NULL && user->op->def == &dimshuffle_def && has_user_of_elements(fg, user->out[0], self, like))
      return true;
  }
  return false;
}

static bool has_company(damo_fgraph *fg, const damo_apply *node) {
  const damo_var *like = node->in[0];
  for (int i = 0; i < node->n_in; i++) {
    if (is_of_elements(node->in[i]->owner, node, like) || has_user_of_elements(fg, node->in[i], node, like))
      return true;
  }
  return has_user_of_elements(fg, node->out[0], node, like);
}

static damo_status replace_by_parts(damo_fgraph *fg, damo_apply *node, bool *did) {
  damo_ctx *ctx = fg->obj.ctx;
  damo_obj *outer = graph_notes_of(ctx)->trace;
  build b;
  build_init(&b, ctx);
  graph_notes_of(ctx)->trace = node->trace != NULL ? &node->trace->obj : NULL;
  damo_var *now = node->op->def->row_parts(&b, node);
  graph_notes_of(ctx)->trace = outer;
  if (now != NULL && b.status == DAMO_OK && type_is_super(node->out[0]->type, now->type)) {
    b.status = fgraph_replace_trusted(fg, node->out, &now, 1, "row_parts");
    *did = true;
  }
  return build_end(&b);
}

damo_status rewrite_row_parts(damo_fgraph *fg, bool *did) {
  ptrvec order;
  ptrvec_init(&order, fg->obj.ctx);
  damo_status s = fgraph_toposort(fg, &order);
  for (int64_t k = 0; k < order.n && s == DAMO_OK; k++) {
    damo_apply *node = order.at[k];
    if (node->op->def->row_parts != NULL && has_company(fg, node)) s = replace_by_parts(fg, node, did);
  }
  ptrvec_clear(&order);
  return s;
}

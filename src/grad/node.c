/* node.c: calls the L_op of one node and checks its results. */
#include "grad_int.h"
#include "op/op.h"

#include <stdio.h>

damo_status connections_read(connections *c, damo_ctx *ctx, const damo_apply *node) {
  size_t size = (size_t)node->n_in * (size_t)node->n_out;
  if (size > c->size) {
    bool *grown = mem_realloc(ctx, c->at, c->size, size);
    if (grown == NULL) return DAMO_EMEMORY;
    c->at = grown;
    c->size = size;
  }
  for (size_t i = 0; i < size; i++) c->at[i] = true;
  if (node->op->def->connection_pattern != NULL) node->op->def->connection_pattern(node, c->at);
  return DAMO_OK;
}

void connections_clear(connections *c, damo_ctx *ctx) { mem_free(ctx, c->at, c->size); }

damo_var *grad_of_disconnected(build *b, damo_var *x, return_disconnected how) {
  switch (how) {
    case RETURN_NONE: return NULL;
    case RETURN_DISCONNECTED: return build_disconnected(b);
    case RETURN_ZERO: break;
  }
  return type_has_shape(x->type) ? build_zero_grad(b, x) : build_null(b, "it has no numbers");
}

static damo_status wrong_result(build *b, const damo_apply *node, int i, const damo_var *g) {
  char want[320], got[320];
  build_fail(b, DAMO_ETYPE, "the gradient of %s for its input %d must have rank %d like %s, got %s",
             node->op->def->name, i + 1, node->in[i]->type->ndim, type_format(want, sizeof want, node->in[i]->type),
             type_format(got, sizeof got, g->type));
  return b->status;
}

/* The dtype of a gradient for the input x. */
static damo_dtype grad_dtype(const damo_ctx *ctx, const damo_var *x) {
  return dtype_is_discrete(var_dtype(x)) ? ctx->config.floatX : var_dtype(x);
}

static damo_status check_result(build *b, const damo_apply *node, int i, damo_var **g) {
  const damo_var *x = node->in[i];
  if (*g == NULL || (*g)->type->kind == TYPE_NULL) return DAMO_OK;
  if ((*g)->type->kind == TYPE_DISCONNECTED) {
    *g = NULL;
    return DAMO_OK;
  }
  if (!type_has_shape(x->type) || !type_has_shape((*g)->type)) {
    return type_has_shape(x->type) ? wrong_result(b, node, i, *g) : DAMO_OK;
  }
  if (var_ndim(*g) != var_ndim(x)) return wrong_result(b, node, i, *g);
  *g = grad_cast(b, *g, grad_dtype(b->ctx, x), true);
  return b->status;
}

static damo_status missing_rule(build *b, damo_apply *node, damo_var **gin) {
  char why[200];
  snprintf(why, sizeof why, "the gradient of %s is not implemented", node->op->def->name);
  for (int i = 0; i < node->n_in; i++) gin[i] = build_null(b, why);
  return b->status;
}

static damo_status apply_rule(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin, int n_branches);

/* Of cotangents that belong to a branch: the rule is applied to what they are there, and its results belong to it
 * too. So nothing of them is computed where the branch is not taken. */
static damo_status apply_in_branch(build *b, damo_apply *node, const build_mask *branch, damo_var *const *gout,
                                   damo_var **gin, int n_branches) {
  const size_t bytes = (size_t)node->n_out * sizeof(damo_var *);
  damo_var **raw = mem_alloc(b->ctx, bytes);
  if (raw == NULL) return b->status = DAMO_EMEMORY;
  for (int o = 0; o < node->n_out; o++) raw[o] = gout[o] != NULL ? build_mask_of(b, gout[o])->raw : NULL;
  damo_status s = apply_rule(b, node, raw, gin, n_branches + 1);
  for (int i = 0; i < node->n_in && s == DAMO_OK; i++) {
    if (gin[i] == NULL || !type_has_shape(gin[i]->type) || !type_has_shape(node->in[i]->type)) continue;
    gin[i] = build_ifelse_zero(b, branch->cond, gin[i], branch->inverse, node->in[i]);
    s = b->status;
  }
  mem_free(b->ctx, raw, bytes);
  return s;
}

static damo_status apply_rule(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin, int n_branches) {
  const op_def *def = node->op->def;
  const build_mask *branch = n_branches < GRAD_MAX_BRANCHES ? grad_branch_of(b, gout, node->n_out) : NULL;
  if (branch != NULL && def->grad != NULL && !grad_ends_masks(def, false))
    return apply_in_branch(b, node, branch, gout, gin, n_branches);
  damo_status s = def->grad != NULL ? def->grad(b, node, gout, gin) : missing_rule(b, node, gin);
  if (s == DAMO_OK) s = b->status;
  for (int i = 0; i < node->n_in && s == DAMO_OK; i++) s = check_result(b, node, i, &gin[i]);
  return s == DAMO_OK ? grad_pass_masks(b, node, false, gout, node->n_out, gin, node->n_in) : s;
}

damo_status grad_node(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin) {
  damo_obj *trace = graph_notes_of(b->ctx)->trace;
  for (int i = 0; i < node->n_in; i++) gin[i] = NULL;
  /* nodes made by the rule inherit the node's trace, the user's line */
  if (node->trace != NULL) graph_notes_of(b->ctx)->trace = &node->trace->obj;
  damo_status s = apply_rule(b, node, gout, gin, 0);
  graph_notes_of(b->ctx)->trace = trace;
  if (s != DAMO_OK) {
    if (b->status == DAMO_OK) b->status = s;
    ctx_fail_add(b->ctx, "while differentiating %s", node->op->def->name);
    ctx_fail_at(b->ctx, node->op->def->name, node);
    graph_fail_operands(b->ctx, node->in, node->n_in);
  }
  return s;
}

/* inplace.c: lets nodes write into an operand. Its value must not be needed afterwards: it is no leaf (but a mutable
 * input), no view, not viewed, and has no other use. The result must not be an output of the graph, because an in-place
 * result would have to be copied for the caller. */
#include "rewrite_int.h"
#include "op/elem/loop_op.h"
#include "op/op.h"

#include <string.h>

#define INPLACE_MAX_PROPS 8

/* Index of the class's property `inplace`; -1: none. */
static int inplace_prop(const op_def *def) {
  const op_field *f = op_field_find(def->props, "inplace");
  return f != NULL ? f->place : -1;
}

static bool leaves_graph(const damo_fgraph *fg, const damo_var *v) {
  const fg_clients *c = fgraph_clients(fg, v);
  for (int32_t i = 0; c != NULL && i < c->n; i++) {
    if (c->at[i].node == NULL) return true;
  }
  return false;
}

/* The node's Op with that property set, owned. */
static damo_op *in_place_op(build *b, const damo_apply *node, int prop, prop_value value) {
  prop_value props[INPLACE_MAX_PROPS];
  damo_assert(prop >= 0 && prop < INPLACE_MAX_PROPS && node->op->n_props <= INPLACE_MAX_PROPS);
  for (int i = 0; i < node->op->n_props; i++) props[i] = node->op->props[i];
  props[prop] = value;
  return op_new(b->ctx, node->op->def, props);
}

static bool may_take(const damo_fgraph *fg, const damo_apply *node, int i) {
  const damo_var *x = node->in[i];
  return type_has_shape(x->type) && var_dtype(x) == var_dtype(node->out[0]) && !rewrite_must_last(fg, x);
}

/* Whether the operand may be overwritten although the node, in its present form, views it: the in-place form does
 * not. */
static bool may_take_viewed(const damo_fgraph *fg, const damo_apply *node, int i) {
  const damo_var *x = node->in[i];
  const fg_clients *c = fgraph_clients(fg, x);
  bool alone = c != NULL && c->n == 1 && c->at[0].node == node;
  const bool own = x->owner != NULL ? !op_alias_has(x->owner->op->view_map, x->index, -1) : x->given_away;
  return alone && own && type_has_shape(x->type) && var_dtype(x) == var_dtype(node->out[0]);
}

static damo_status elemwise_in_place(build *b, damo_fgraph *fg, damo_apply *node, int prop, damo_var **repl,
                                     bool *did) {
  if (var_ndim(node->out[0]) == 0) return DAMO_OK; /* a scalar: nothing to gain */
  for (int i = 0; i < node->n_in; i++) {
    if (!may_take(fg, node, i) || !match_fits(node, i)) continue;
    return rule_give(b, repl, did, build_op(b, in_place_op(b, node, prop, prop_int(i + 1)), node->in, node->n_in));
  }
  return DAMO_OK;
}

/* For an Op whose property is a flag: the Op with the flag set names the operand that it destroys in its
 * destroy_map. */
static damo_status op_in_place(build *b, damo_fgraph *fg, damo_apply *node, int prop, damo_var **repl, bool *did) {
  if (node->op->props[prop].kind == PROP_INT) return DAMO_OK;
  damo_op *op = in_place_op(b, node, prop, prop_bool(true));
  if (op == NULL) return damo_error_status(b->ctx);
  const op_alias *alias = op->destroy_map;
  if (alias != NULL && alias->out >= 0 && alias->in < node->n_in && may_take_viewed(fg, node, alias->in)) {
    return rule_give(b, repl, did, build_op(b, op, node->in, node->n_in));
  }
  damo_release(op);
  return DAMO_OK;
}

#define LOOP_MOST_OUT 64

/* Whether x has the shape of y, where both have one iteration space: the same rank and the same axes of length 1. */
static bool same_space(const damo_var *x, const damo_var *y) {
  bool same = var_ndim(x) == var_ndim(y);
  for (int k = 0; same && k < var_ndim(x); k++) same = type_dim_is_one(x->type, k) == type_dim_is_one(y->type, k);
  return same;
}

/* A Loop: each output over an input that is not needed after it. */
static damo_status loop_in_place(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  int over[LOOP_MOST_OUT] = {0};
  bool any = false;
  if (node->op->destroy_map != NULL || node->n_out > LOOP_MOST_OUT || node->n_in == 0) return DAMO_OK;
  for (int i = 0; i < node->n_in; i++) {
    if (rewrite_must_last(fg, node->in[i])) continue;
    for (int o = 0; o < node->n_out; o++) {
      const bool same = var_dtype(node->in[i]) == var_dtype(node->out[o]) && same_space(node->in[i], node->out[o]);
      if (over[o] != 0 || !same || var_ndim(node->out[o]) == 0 || leaves_graph(fg, node->out[o]) ||
          !loop_may_overwrite(node->op, o, i))
        continue;
      over[o] = i + 1;
      any = true;
      break;
    }
  }
  if (!any) return DAMO_OK;
  damo_apply *made = build_apply(b, loop_op_inplace(node->op, over), node->in, node->n_in);
  for (int o = 0; made != NULL && o < node->n_out; o++) repl[o] = made->out[o];
  *did = made != NULL;
  return b->status;
}

static damo_status take_over(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  if (node->op->def == &loop_def) return loop_in_place(b, fg, node, repl, did);
  int prop = inplace_prop(node->op->def);
  if (prop < 0 || node->op->n_props > INPLACE_MAX_PROPS || node->op->destroy_map != NULL || node->n_out != 1)
    return DAMO_OK;
  if (leaves_graph(fg, node->out[0])) return DAMO_OK;
  if (node->op->def == &elemwise_def) return elemwise_in_place(b, fg, node, prop, repl, did);
  return op_in_place(b, fg, node, prop, repl, did);
}

const rewrite_rule inplace_rules[] = {
    {.name = "take_over", .phase = PHASE_INPLACE, .tags = "fast_run inplace", .local = take_over},
    {.name = NULL},
};

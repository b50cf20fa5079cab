/* inplace.c: lets nodes write into an operand. Its value must not be needed afterwards: it is no leaf (but a mutable
 * input), no view, and every other node that reads it, or a view of it, can run before (graph/overwrite.h). In a graph
 * with branches, where the order of nodes depends on more, there must be no other use and no view. The result must not be
 * an output of the graph, because an in-place result would have to be copied for the caller.
 */
#include "rewrite_int.h"
#include "graph/overwrite.h"
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

typedef struct taker {
  build b;
  damo_fgraph *fg;
  overwrite *w;
  bool branches;
} taker;

static bool operand_is_own(const damo_var *x) {
  return x->owner != NULL ? !op_alias_has(x->owner->op->view_map, x->index, -1) : x->given_away;
}

static bool operand_is_alone(const damo_fgraph *fg, const damo_apply *node, const damo_var *x) {
  const fg_clients *c = fgraph_clients(fg, x);
  return c != NULL && c->n == 1 && c->at[0].node == node;
}

/* Whether the node may overwrite input i, which from then on counts as destroyed. */
static bool may_take(const taker *t, const damo_apply *node, int i) {
  const damo_var *x = node->in[i];
  if (!operand_is_own(x) || (t->branches && rewrite_must_last(t->fg, x))) return false;
  return overwrite_try(t->w, node, i);
}

static bool takes_dtype(const damo_apply *node, int i) {
  return type_has_shape(node->in[i]->type) && var_dtype(node->in[i]) == var_dtype(node->out[0]);
}

/* First an operand that nothing else uses, then one whose other readers can come before. */
static damo_status elemwise_in_place(taker *t, damo_apply *node, int prop, damo_var **repl, bool *did) {
  if (var_ndim(node->out[0]) == 0) return DAMO_OK; /* a scalar: nothing to gain */
  for (int shared = 0; shared < 2; shared++) {
    for (int i = 0; i < node->n_in; i++) {
      if (operand_is_alone(t->fg, node, node->in[i]) == shared || !takes_dtype(node, i) || !match_fits(node, i))
        continue;
      if (!may_take(t, node, i)) continue;
      damo_op *op = in_place_op(&t->b, node, prop, prop_int(i + 1));
      return rule_give(&t->b, repl, did, build_op(&t->b, op, node->in, node->n_in));
    }
  }
  return DAMO_OK;
}

/* For an Op whose property is a flag: the Op with the flag set names the operand that it destroys in its destroy_map.
 * The node, in its present form, may view the operand (its out-of-place form gives it back where there is nothing to
 * do); then nothing else may use it. */
static damo_status op_in_place(taker *t, damo_apply *node, int prop, damo_var **repl, bool *did) {
  if (node->op->props[prop].kind == PROP_INT) return DAMO_OK;
  damo_op *op = in_place_op(&t->b, node, prop, prop_bool(true));
  if (op == NULL) return damo_error_status(t->b.ctx);
  const op_alias *alias = op->destroy_map;
  bool fits = alias != NULL && alias->out >= 0 && alias->in < node->n_in && takes_dtype(node, alias->in);
  if (fits && op_alias_has(node->op->view_map, -1, alias->in))
    fits = operand_is_alone(t->fg, node, node->in[alias->in]);
  if (fits && may_take(t, node, alias->in))
    return rule_give(&t->b, repl, did, build_op(&t->b, op, node->in, node->n_in));
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

/* The first output of a Loop, of those that are over no input yet (over[o] 0), that may be over input i; -1: none. */
static int loop_output_over(const taker *t, const damo_apply *node, int i, const int *over) {
  for (int o = 0; o < node->n_out; o++) {
    const damo_var *x = node->in[i], *y = node->out[o];
    const bool same = over[o] == 0 && var_dtype(x) == var_dtype(y) && same_space(x, y) && var_ndim(y) > 0;
    if (same && !leaves_graph(t->fg, y) && loop_may_overwrite(node->op, o, i)) return o;
  }
  return -1;
}

/* A Loop: each output over an input that is not needed after it. First those that nothing else uses. */
static damo_status loop_in_place(taker *t, damo_apply *node, damo_var **repl, bool *did) {
  int over[LOOP_MOST_OUT] = {0};
  bool any = false;
  for (int shared = 0; shared < 2; shared++) {
    for (int i = 0; i < node->n_in; i++) {
      if (operand_is_alone(t->fg, node, node->in[i]) == shared) continue;
      const int o = loop_output_over(t, node, i, over);
      if (o < 0 || !may_take(t, node, i)) continue;
      over[o] = i + 1;
      any = true;
    }
  }
  if (!any) return DAMO_OK;
  damo_apply *made = build_apply(&t->b, loop_op_inplace(node->op, over), node->in, node->n_in);
  for (int o = 0; made != NULL && o < node->n_out; o++) repl[o] = made->out[o];
  *did = made != NULL;
  return t->b.status;
}

/* Whether the node may be replaced by one in place. */
static bool is_candidate(const damo_apply *node) {
  const op_def *def = node->op->def;
  if (node->op->destroy_map != NULL || node->n_in == 0 || node->n_out > LOOP_MOST_OUT) return false;
  if (def == &loop_def) return true;
  return inplace_prop(def) >= 0 && node->op->n_props <= INPLACE_MAX_PROPS && node->n_out == 1;
}

static damo_status take_over(taker *t, damo_apply *node, damo_var **repl, bool *did) {
  if (node->op->def == &loop_def) return loop_in_place(t, node, repl, did);
  if (leaves_graph(t->fg, node->out[0])) return DAMO_OK;
  const int prop = inplace_prop(node->op->def);
  if (node->op->def == &elemwise_def) return elemwise_in_place(t, node, prop, repl, did);
  return op_in_place(t, node, prop, repl, did);
}

/* Replaces node i of t->w by one in place, if it may be. */
static damo_status take_over_node(taker *t, int64_t i) {
  damo_apply *node = overwrite_node(t->w, i), *now = node;
  damo_ctx *ctx = t->fg->obj.ctx;
  damo_var *repl[LOOP_MOST_OUT] = {NULL};
  bool did = false;
  build_init(&t->b, ctx);
  damo_obj *trace = graph_notes_of(ctx)->trace;
  graph_notes_of(ctx)->trace = node->trace != NULL ? &node->trace->obj : NULL;
  damo_retain(node);
  damo_status s = is_candidate(node) ? take_over(t, node, repl, &did) : DAMO_OK;
  graph_notes_of(ctx)->trace = trace;
  if (s == DAMO_OK) s = t->b.status;
  for (int o = 0; o < node->n_out && s == DAMO_OK && did; o++) did = type_is_super(node->out[o]->type, repl[o]->type);
  if (s == DAMO_OK && did) {
    now = repl[0]->owner;
    s = fgraph_replace_trusted(t->fg, node->out, repl, node->n_out, "take_over");
  }
  if (s == DAMO_OK) s = overwrite_settle(t->w, i, now);
  const damo_status ended = build_end(&t->b);
  damo_release(node);
  return s != DAMO_OK ? s : ended;
}

static damo_status take_over_all(damo_fgraph *fg) {
  taker t = {.fg = fg, .w = overwrite_new(fg, is_candidate)};
  if (t.w == NULL) return damo_error_status(fg->obj.ctx);
  const int64_t n = overwrite_n_nodes(t.w);
  for (int64_t i = 0; i < n && !t.branches; i++) {
    const op_def *def = overwrite_node(t.w, i)->op->def;
    t.branches = op_may_ask(def) || def->branches != NULL;
  }
  damo_status s = DAMO_OK;
  for (int64_t i = 0; i < n && s == DAMO_OK; i++) s = take_over_node(&t, i);
  overwrite_free(t.w);
  return s;
}

const rewrite_rule inplace_rules[] = {
    {.name = "take_over", .phase = PHASE_INPLACE, .tags = "fast_run inplace", .global = take_over_all},
    {.name = NULL},
};

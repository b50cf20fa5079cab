/* epilogue.c: a product of matrices and the Loop over its result become one node, DotLoop, which runs both on one block
 * of rows after the other. */
#include <string.h>

#include "op/elem/loop_op.h"
#include "op/linalg/dot_loop.h"
#include "op/op.h"
#include "rewrite_int.h"

#define EPILOGUE_MOST_OUT 48

bool epilogue_may_take(const damo_fgraph *fg, const damo_var *v) {
  return v->owner != NULL && dot_loop_takes(v->owner) && match_single_use(fg, v);
}

/* Whether the node's input i is a product that nothing else uses, and that broadcasts along no axis. */
static bool is_product(const damo_fgraph *fg, const damo_apply *node, int i) {
  const damo_var *v = node->in[i];
  if (!epilogue_may_take(fg, v)) return false;
  if (dtype_is_discrete(var_dtype(v))) return false;
  for (int k = 0; k < var_ndim(v); k++) {
    if (type_dim_is_one(v->type, k)) return false;
  }
  /* A Gemm whose operand may be overwritten is better done in place than by rows, which would be copied. */
  return v->owner->op->def != &gemm_def || rewrite_must_last(fg, v->owner->in[0]);
}

/* Whether each output of the node has the product's rows as its first axis: it has the product's rank, or reduces later
 * axes alone. */
static bool keeps_rows(const damo_apply *node, const damo_var *product) {
  if (node->op->def == &loop_def && !loop_keeps_first_axis(node->op, var_ndim(product))) return false;
  for (int i = 0; i < node->n_in; i++) {
    if (var_ndim(node->in[i]) > var_ndim(product)) return false;
  }
  for (int o = 0; o < node->n_out; o++) {
    const damo_type *t = node->out[o]->type;
    if (t->ndim == 0 || t->ndim > var_ndim(product) || type_dim_is_one(t, 0)) return false;
  }
  return true;
}

/* The node's Op as a Loop, over inputs that occur once. Owned; NULL: memory error. */
static damo_op *epilogue_loop(build *b, const damo_apply *node, damo_var **in, int *n_in) {
  if (node->op->def == &loop_def) {
    *n_in = node->n_in;
    memcpy(in, node->in, (size_t)node->n_in * sizeof *in);
    return damo_retain(node->op);
  }
  loop_part part = {.op = node->op, .dtype = var_dtype(node->out[0])};
  loop_input inputs[LOOP_PART_MOST_IN];
  *n_in = 0;
  for (int i = 0; i < node->n_in; i++) {
    int at = 0;
    while (at < *n_in && in[at] != node->in[i]) at++;
    if (at == *n_in) in[(*n_in)++] = node->in[i];
    inputs[at] = (loop_input){.var = node->in[i]};
    part.in[i] = (int16_t)at;
  }
  const damo_apply *loop = build_loop(b, inputs, *n_in, NULL, 0, 0, &part, 1, (const int16_t[]){(int16_t)*n_in}, 1);
  return loop != NULL ? damo_retain(loop->op) : NULL;
}

/* The Loop, stolen, such that an output overwrites its input `at`, where one can. */
static damo_op *loop_over(damo_op *take_loop, const damo_apply *node, const damo_var *product, int at) {
  int over[EPILOGUE_MOST_OUT] = {0};
  for (int o = 0; take_loop != NULL && o < node->n_out; o++) {
    const damo_var *out = node->out[o];
    if (var_ndim(out) != var_ndim(product) || var_dtype(out) != var_dtype(product)) continue;
    if (!loop_may_overwrite(take_loop, o, at)) continue;
    over[o] = at + 1;
    damo_op *made = loop_op_inplace(take_loop, over);
    damo_release(take_loop);
    return made;
  }
  return take_loop;
}

/* A Loop, or a single elementwise node, over a product → DotLoop. */
static damo_status fuse_product(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  damo_var *in[EPILOGUE_MOST_OUT];
  int at = node->n_in - 1, n_in = 0;
  if (node->op->destroy_map != NULL || node->n_out > EPILOGUE_MOST_OUT || node->n_in > EPILOGUE_MOST_OUT)
    return DAMO_OK;
  while (at >= 0 && !(is_product(fg, node, at) && keeps_rows(node, node->in[at]))) at--;
  if (at < 0) return DAMO_OK;
  damo_var *result = node->in[at];
  damo_op *loop = epilogue_loop(b, node, in, &n_in);
  for (at = 0; at < n_in && in[at] != result; at++) continue;
  if (loop != NULL) loop = loop_over(loop, node, result, at);
  damo_obj *outer = graph_notes_of(b->ctx)->trace;
  damo_trace *trace = NULL;
  if (trace_join(b->ctx, result->owner->trace, node->trace, &trace) != DAMO_OK) b->status = DAMO_EMEMORY;
  graph_notes_of(b->ctx)->trace = trace != NULL ? &trace->obj : NULL;
  damo_apply *made = build_dot_loop(b, result->owner, loop, in, n_in, at);
  graph_notes_of(b->ctx)->trace = outer;
  damo_release(trace);
  for (int o = 0; made != NULL && o < node->n_out; o++) repl[o] = made->out[o];
  *did = made != NULL;
  return b->status;
}

const rewrite_rule epilogue_rules[] = {
    {.name = "fuse_product",
     .phase = PHASE_LOOP,
     .tags = "fast_run fusion blas inexact",
     TRACKS(&loop_def, &elemwise_def),
     .local = fuse_product},
    {.name = NULL},
};

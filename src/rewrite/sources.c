/* sources.c: a Loop, or a single elementwise node, reads entries at positions along an axis, and ranges, as it needs them,
 * instead of an array of them that another node has made. */
#include "op/elem/loop_op.h"
#include "op/op.h"
#include "rewrite_int.h"

/* Whether the node can take a product's rows as they are made (epilogue.c), which a Loop with sources can't. */
static bool follows_product(const damo_fgraph *fg, const damo_apply *node) {
  for (int i = 0; i < node->n_in; i++) {
    if (epilogue_may_take(fg, node->in[i])) return true;
  }
  return false;
}

/* Loop(x[i], y), where nothing else reads x[i] → Loop with x and i. */
static damo_status read_at_source(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  if (node->op->destroy_map != NULL || follows_product(fg, node)) return DAMO_OK;
  for (int i = 0; i < node->n_in; i++) {
    const damo_var *v = node->in[i];
    const int more = v->owner != NULL ? loop_source_arity(v->owner->op) - 1 : -1;
    if (more < 0 || node->n_in + more + node->n_out > LOOP_MOST_OPERANDS || !match_single_use(fg, v)) continue;
    damo_obj *outer = graph_notes_of(b->ctx)->trace;
    damo_trace *trace = NULL;
    if (trace_join(b->ctx, v->owner->trace, node->trace, &trace) != DAMO_OK) return b->status = DAMO_EMEMORY;
    graph_notes_of(b->ctx)->trace = trace != NULL ? &trace->obj : NULL;
    const damo_apply *made = build_loop_with_source(b, node, v);
    graph_notes_of(b->ctx)->trace = outer;
    damo_release(trace);
    if (made == NULL) continue;
    for (int o = 0; o < node->n_out; o++) repl[o] = made->out[o];
    *did = true;
    break;
  }
  return b->status;
}

const rewrite_rule source_rules[] = {
    {.name = "read_at_source",
     .phase = PHASE_LOOP,
     .tags = "fast_run fusion",
     TRACKS(&loop_def, &elemwise_def),
     .local = read_at_source},
    {.name = NULL},
};

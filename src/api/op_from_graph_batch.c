/* op_from_graph_batch.c: OpFromGraph's rule for batches: an OpFromGraph over the vectorised inner graph, of the same name
 * and mode. One whose gradient is overridden, or which draws or updates shared Variables, has no such rule: its node is
 * looped over (scan/vectorize.c), so that the override stays in force.
 */
#include "api_int.h"
#include "op/op.h"
#include "scan/scan.h"

/* What stands for inner input i: over a batched operand a Variable of that operand's Type, else the input itself. */
static damo_var *batch_stand_in(build *b, const op_from_graph *g, damo_var *x, bool batched, int i) {
  damo_var *inner = g->fgraph->inputs.at[i];
  return batched ? build_take(b, var_new(b->ctx, x->type, inner->name)) : inner;
}

/* vars: n_in + 2 * n_in + n_out places. */
static damo_op *vectorized_op(build *b, const op_from_graph *g, damo_var *const *in, const bool *batched,
                              damo_var **vars) {
  damo_var **stand = vars, **old = stand + g->n_in, **now = old + g->n_in, **outputs = now + g->n_in;
  int64_t n = 0;
  for (int i = 0; i < g->n_in; i++) {
    stand[i] = batch_stand_in(b, g, in[i], batched[i], i);
    if (stand[i] == NULL) return NULL;
    if (!batched[i]) continue;
    old[n] = g->fgraph->inputs.at[i];
    now[n++] = stand[i];
  }
  if (vectorize_graph(b, (damo_var *const *)g->fgraph->outputs.at, g->n_out, old, now, n, outputs) != DAMO_OK)
    return NULL;
  const op_from_graph_options o = {.name = g->name,
                                   .mode = g->mode,
                                   .inlined = g->inlined,
                                   .on_unused_input = UNUSED_IGNORE,
                                   .connected = g->connected};
  damo_op *op = op_from_graph_new(b->ctx, stand, g->n_in, outputs, g->n_out, &o);
  if (op == NULL) b->status = damo_error_status(b->ctx);
  return op;
}

damo_status op_from_graph_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                                damo_var **out) {
  const op_from_graph *g = op_from_graph_at(node->op);
  (void)k;
  const bool overridden = g->lop_op != NULL || g->rop_op != NULL || g->lop != NULL || g->rop != NULL;
  if (overridden || g->def.impure || g->def.inner_updates != NULL) return b->status;
  for (int o = 0; o < g->n_out; o++) {
    if (!type_is_tensor(node->out[o]->type)) return b->status;
  }
  const size_t bytes = (size_t)(3 * g->n_in + g->n_out) * sizeof(damo_var *);
  damo_var **vars = mem_calloc(b->ctx, bytes);
  if (vars == NULL) return b->status = DAMO_EMEMORY;
  damo_op *op = vectorized_op(b, g, in, batched, vars);
  if (op != NULL) batch_apply(b, op, node, in, out);
  mem_free(b->ctx, vars, bytes);
  return b->status;
}

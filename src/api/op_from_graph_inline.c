/* op_from_graph_inline.c: copies the inner graph of an OpFromGraph into the graph that contains one of its nodes.
 *
 * Shapes are inferred from such a copy, and a rewrite rule replaces nodes that are to be inlined by it.
 */
#include "api_int.h"
#include "op/op.h"

#include <stdio.h>

/* ---- Unfolding --------------------------------------------------------------------------------------------------- */

/* The node's input i as a Variable of the inner input's Type. If the input's Type says less (an unknown dimension), a
 * node is added that checks the value at run time. */
static damo_var *fitted_input(build *b, const op_from_graph *g, const damo_apply *node, int i) {
  const damo_var *inner = g->fgraph->inputs.at[i];
  char name[160], input[200];
  if (type_is_super(inner->type, node->in[i]->type)) return node->in[i];
  snprintf(input, sizeof input, "input %d (%s)", i + 1, var_format(name, sizeof name, inner));
  damo_obj *trace = graph_notes_of(b->ctx)->trace;
  graph_notes_of(b->ctx)->trace = node->trace != NULL ? &node->trace->obj : NULL;
  damo_var *fit = build_of_type(b, node->in[i], inner->type, g->def.name, input);
  graph_notes_of(b->ctx)->trace = trace;
  return fit;
}

damo_status op_from_graph_unfold(build *b, const op_from_graph *g, damo_apply *node, damo_var *const *what, int n,
                                 damo_var **out) {
  map memo;
  map_init(&memo, b->ctx);
  damo_status s = DAMO_OK;
  for (int i = 0; i < g->n_in && s == DAMO_OK; i++) {
    damo_var *fit = fitted_input(b, g, node, i);
    s = fit != NULL ? map_put(&memo, g->fgraph->inputs.at[i], (uintptr_t)fit) : b->status;
  }
  /* every node is copied: a shared one would change with the graph that it is put into */
  if (s == DAMO_OK) s = graph_clone(b->ctx, what, n, &memo, true, NULL, out);
  map_clear(&memo);
  for (int i = 0; i < n && s == DAMO_OK; i++) {
    if (build_take(b, out[i]) == NULL) s = b->status;
  }
  if (s != DAMO_OK && b->status == DAMO_OK) b->status = s;
  return b->status;
}

static damo_var **unfold_outputs(build *b, const op_from_graph *g, damo_apply *node, size_t bytes) {
  damo_var **out = mem_calloc(b->ctx, bytes);
  if (out == NULL) {
    b->status = DAMO_EMEMORY;
  } else {
    op_from_graph_unfold(b, g, node, (damo_var *const *)g->fgraph->outputs.at, g->n_out, out);
  }
  return out;
}

/* The lengths are those of the unfolded outputs. Rewriting expresses them by the inputs' lengths, so nothing of the
 * copy is computed. */
damo_status op_from_graph_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                      damo_var ***out_shape) {
  const op_from_graph *g = op_from_graph_at(node->op);
  (void)in_shape;
  if (!g->shapes_known) return DAMO_OK;
  size_t bytes = (size_t)g->n_out * sizeof(damo_var *);
  damo_var **out = unfold_outputs(b, g, node, bytes);
  for (int o = 0; o < g->n_out && b->status == DAMO_OK; o++) {
    if (!type_is_tensor(out[o]->type)) continue;
    for (int k = 0; k < var_ndim(out[o]); k++) out_shape[o][k] = build_dim(b, out[o], k);
  }
  if (out != NULL) mem_free(b->ctx, out, bytes);
  return b->status;
}

static damo_status inline_node(damo_fgraph *fg, damo_apply *node) {
  const op_from_graph *g = op_from_graph_at(node->op);
  build b;
  build_init(&b, fg->obj.ctx);
  damo_obj *trace = graph_notes_of(b.ctx)->trace;
  size_t bytes = (size_t)g->n_out * sizeof(damo_var *);
  damo_var **out = unfold_outputs(&b, g, node, bytes);
  damo_status s = b.status;
  if (s == DAMO_OK) s = fgraph_replace_trusted(fg, node->out, out, g->n_out, "inline_op_from_graph");
  graph_notes_of(b.ctx)->trace = trace;
  if (out != NULL) mem_free(b.ctx, out, bytes);
  damo_status ended = build_end(&b);
  return s != DAMO_OK ? s : ended;
}

static bool is_inlined(const damo_apply *node) {
  const op_from_graph *g = op_from_graph_of(node->op);
  return g != NULL && g->inlined;
}

/* Inlines all nodes once. *any: there were some; the copies may contain further ones. */
static damo_status inline_sweep(damo_fgraph *fg, bool *any) {
  ptrvec nodes;
  *any = false;
  for (size_t i = 0; i < fg->nodes.cap && !*any; i++) {
    uintptr_t key = fg->nodes.cells[i].key;
    *any = key != 0 && key != MAP_TOMBSTONE && is_inlined((const damo_apply *)key);
  }
  if (!*any) return DAMO_OK;
  ptrvec_init(&nodes, fg->obj.ctx);
  damo_status s = fgraph_toposort(fg, &nodes);
  for (int64_t k = 0; k < nodes.n && s == DAMO_OK; k++) {
    if (fgraph_has_node(fg, nodes.at[k]) && is_inlined(nodes.at[k])) s = inline_node(fg, nodes.at[k]);
  }
  ptrvec_clear(&nodes);
  return s;
}

static damo_status inline_all(damo_fgraph *fg) {
  for (bool any = true; any;) DAMO_TRY(inline_sweep(fg, &any));
  return DAMO_OK;
}

const rewrite_rule op_from_graph_inline_rule = {.name = "inline_op_from_graph",
                                                .phase = PHASE_CANONICALIZE,
                                                .tags = "fast_run fast_compile inline",
                                                .global = inline_all};

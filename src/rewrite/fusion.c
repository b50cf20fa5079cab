/* fusion.c: Elemwise nodes that have one iteration space, and reductions of their results, become Loop
 * nodes: one pass over memory for all of them. Which nodes go together is in fusion_groups.c.
 */
#include <string.h>

#include "fusion_int.h"

#define FUSION_MOST_PARTS 256

/* A Loop under construction. */
typedef struct loop_draft {
  fusion *f;
  int n_in, n_parts, n_out;
  uint32_t axes; /* of the folds, as bits; 0: there are none */
  loop_input in[LOOP_MOST_OPERANDS];
  damo_apply *nodes[FUSION_MOST_PARTS];
  damo_var *out[LOOP_MOST_OPERANDS];
  loop_part parts[FUSION_MOST_PARTS];
  int16_t outs[LOOP_MOST_OPERANDS];
  int32_t number; /* of the draft: fusion_node.draft */
} loop_draft;

static loop_space draft_space(const loop_draft *d, const damo_apply *node) {
  const fusion_node *n = fusion_node_of(d->f, node);
  if (n->kind == FUSION_PLACE || (n->kind == FUSION_ELEMWISE && n->row_axes == 0)) return LOOP_ELEMENTS;
  const int ndim = n->kind == FUSION_FOLD ? space_rank(n->space) : space_rank(n->row_space);
  if (n->kind == FUSION_FOLD && fold_axes(node) != d->axes) return LOOP_OTHER;
  return var_ndim(node->out[0]) == ndim ? LOOP_ROWS_KEPT : LOOP_ROWS;
}

/* Operand i of that node. */
static loop_input draft_operand(const loop_draft *d, const damo_apply *node, int i) {
  damo_var *v = node->in[i];
  const fusion_kind kind = fusion_node_of(d->f, node)->kind;
  bool of_rows = draft_space(d, node) == LOOP_ROWS;
  if (kind == FUSION_FOLD) of_rows = i == position_operand(node);
  if (kind == FUSION_PLACE) of_rows = i < node->n_in - 1;
  return (loop_input){v, of_rows && var_ndim(v) > 0};
}

static int draft_input(const loop_draft *d, loop_input x) {
  for (int i = 0; i < d->n_in; i++) {
    if (d->in[i].var == x.var && d->in[i].of_rows == x.of_rows) return i;
  }
  return -1;
}

/* The node's part, from 1 on; of a DimShuffle its operand's; 0: it is in no part. */
static int draft_part(const loop_draft *d, const damo_apply *node) {
  const fusion_node *n = fusion_node_of(d->f, node);
  return n != NULL && n->draft == d->number ? n->part : 0;
}

static void draft_set_part(const loop_draft *d, const damo_apply *node, int part) {
  fusion_node *n = fusion_node_of(d->f, node);
  n->draft = d->number;
  n->part = part;
}

static bool draft_makes(const loop_draft *d, const damo_var *v) { return draft_part(d, v->owner) > 0; }

/* Whether an input of the draft is a product whose rows a Loop could take as they are made (epilogue.c), if it reduces
 * no first axes. */
static bool draft_follows_product(const loop_draft *d) {
  for (int i = 0; i < d->n_in; i++) {
    if (epilogue_may_take(d->f->fg, d->in[i].var)) return true;
  }
  return false;
}

/* A reduction of what no part makes stays by itself unless a part reads it. Reductions over different axes go together
 * where each is over last ones. */
static bool draft_takes_fold(const loop_draft *d, const damo_apply *node) {
  const int ndim = space_rank(fusion_node_of(d->f, node)->space);
  const uint32_t axes = fold_axes(node);
  const bool is_last = axes_are_last(axes, ndim), is_read = fusion_node_of(d->f, node)->row_axes != 0;
  if (d->axes != 0 && axes != d->axes && !(is_last && axes_are_last(d->axes, ndim))) return false;
  if (position_operand(node) >= 0 && d->axes != 0 && d->axes != axes) return false;
  if (!is_last && !is_read && draft_follows_product(d)) return false;
  return draft_makes(d, node->in[0]) || is_read;
}

/* Takes the node as the next part; false where a Loop can take no more. */
static bool draft_add(loop_draft *d, damo_apply *node) {
  const fusion_kind kind = fusion_node_of(d->f, node)->kind;
  int more = 0;
  if (kind == FUSION_SHIFT) {
    const int made = draft_part(d, node->in[0]->owner);
    if (made > 0) draft_set_part(d, node, made);
    return true;
  }
  if (kind == FUSION_FOLD && !draft_takes_fold(d, node)) return true;
  for (int i = 0; i < node->n_in; i++)
    more += !draft_makes(d, node->in[i]) && draft_input(d, draft_operand(d, node, i)) < 0;
  if (d->n_parts == FUSION_MOST_PARTS || d->n_in + more > LOOP_MOST_OPERANDS) return false;
  if (kind == FUSION_FOLD && d->axes == 0) d->axes = fold_axes(node);
  for (int i = 0; i < node->n_in; i++) {
    const loop_input x = draft_operand(d, node, i);
    if (!draft_makes(d, x.var) && draft_input(d, x) < 0) d->in[d->n_in++] = x;
  }
  damo_assert(d->n_in <= LOOP_MOST_OPERANDS && draft_part(d, node) == 0);
  d->nodes[d->n_parts++] = node;
  draft_set_part(d, node, d->n_parts);
  return true;
}

/* Whether a node that is no part reads v. A DimShuffle of the group disappears if parts alone read it. */
static bool is_used_outside(const loop_draft *d, const damo_var *v) {
  const fg_clients *c = fgraph_clients(d->f->fg, v);
  for (int32_t i = 0; c != NULL && i < c->n; i++) {
    const damo_apply *user = c->at[i].node;
    if (draft_part(d, user) == 0) return true;
    if (user->op->def == &dimshuffle_def && is_used_outside(d, user->out[0])) return true;
  }
  return false;
}

/* The parts read registers; false where there are too many outputs. */
static bool draft_finish(loop_draft *d) {
  d->n_out = 0;
  for (int k = 0; k < d->n_parts; k++) {
    const damo_apply *node = d->nodes[k];
    d->parts[k] = (loop_part){.op = node->op, .dtype = var_dtype(node->out[0]), .space = draft_space(d, node)};
    for (int i = 0; i < node->n_in; i++) {
      const int part = draft_part(d, node->in[i]->owner);
      damo_assert(part - 1 < k); /* parts are in dependency order */
      d->parts[k].in[i] = (int16_t)(part > 0 ? d->n_in + part - 1 : draft_input(d, draft_operand(d, node, i)));
    }
    if (!is_used_outside(d, node->out[0])) continue;
    if (d->n_in + d->n_out == LOOP_MOST_OPERANDS) return false;
    d->out[d->n_out] = node->out[0];
    d->outs[d->n_out++] = (int16_t)(d->n_in + k);
  }
  return true;
}

/* The lines that made the nodes, each once, for errors; NULL: there are none. */
static damo_trace *draft_trace(const loop_draft *d, damo_status *s) {
  damo_trace *traces[FUSION_MOST_PARTS], *all = NULL;
  for (int k = 0; k < d->n_parts; k++) traces[k] = d->nodes[k]->trace;
  *s = trace_join_all(d->f->fg->obj.ctx, traces, d->n_parts, &all);
  return all;
}

/* Puts a Loop in the place of a finished draft's nodes. */
static damo_status draft_replace(loop_draft *d) {
  damo_assert(d->n_out > 0); /* a node that nothing uses is not in the graph */
  damo_ctx *ctx = d->f->fg->obj.ctx;
  build b;
  build_init(&b, ctx);
  damo_trace *trace = draft_trace(d, &b.status);
  damo_obj *outer = graph_notes_of(ctx)->trace;
  graph_notes_of(ctx)->trace = trace != NULL ? &trace->obj : NULL;
  damo_apply *node = build_loop(&b, d->in, d->n_in, NULL, 0, d->axes, d->parts, d->n_parts, d->outs, d->n_out);
  graph_notes_of(ctx)->trace = outer;
  bool fits = node != NULL;
  for (int o = 0; fits && o < d->n_out; o++) fits = type_is_super(d->out[o]->type, node->out[o]->type);
  if (fits) b.status = fgraph_replace_trusted(d->f->fg, d->out, node->out, d->n_out, "fuse_elemwise");
  damo_release(trace);
  return build_end(&b);
}

/* axes: of the rows whose values parts read again, 0: none. */
static void draft_begin(loop_draft *d, uint32_t axes) {
  d->n_in = d->n_parts = d->n_out = 0;
  d->axes = axes;
  d->number++;
}

/* The axes of the rows whose values nodes of the group read again, 0: there are none. */
static uint32_t group_row_axes(const fusion *f, int32_t first) {
  for (int32_t k = first; k >= 0; k = f->nodes[k].next) {
    if (f->nodes[k].row_axes != 0) return f->nodes[k].row_axes;
    if (f->nodes[k].kind == FUSION_PLACE) return UINT32_C(1) << (space_rank(f->nodes[k].space) - 1);
  }
  return 0;
}

/* Values of rows alone, without the elements of a row, are ordinary nodes; false if they have different ranks. */
static bool group_has_elements(fusion *f, int32_t first) {
  bool shifted = false;
  for (int32_t k = first; k >= 0; k = f->nodes[k].next) {
    if (f->nodes[k].kind == FUSION_FOLD || f->nodes[k].kind == FUSION_PLACE || f->nodes[k].row_axes == 0) return true;
    shifted = shifted || f->nodes[k].kind == FUSION_SHIFT;
  }
  for (int32_t k = first; k >= 0; k = f->nodes[k].next) f->nodes[k].row_axes = 0;
  return !shifted;
}

static damo_status fuse_range(loop_draft *d, int32_t first, int32_t stop, uint32_t axes);

/* Fuses the draft of the group's nodes from `first` to before `stop`; two halves of it where it has too many outputs. */
static damo_status draft_replace_halved(loop_draft *d, int32_t first, int32_t stop, uint32_t axes) {
  if (d->n_parts < 2) return DAMO_OK;
  if (draft_finish(d)) return draft_replace(d);
  if (axes != 0) return DAMO_OK;
  const damo_apply *half = d->nodes[d->n_parts / 2];
  int32_t middle = first;
  while (d->f->nodes[middle].node != half) middle = d->f->nodes[middle].next;
  DAMO_TRY(fuse_range(d, first, middle, 0));
  return fuse_range(d, middle, stop, 0);
}

/* Nodes of a group in their order, cut where a Loop has as much as it can take: what comes later reads what came
 * earlier, never the other way round. Where values of rows are read again, what comes later stays as it is. */
static damo_status fuse_range(loop_draft *d, int32_t first, int32_t stop, uint32_t axes) {
  damo_status s = DAMO_OK;
  int32_t k = first;
  draft_begin(d, axes);
  for (; k != stop && s == DAMO_OK; k = d->f->nodes[k].next) {
    if (draft_add(d, d->f->nodes[k].node)) continue;
    if (axes != 0) break;
    s = draft_replace_halved(d, first, k, 0);
    first = k;
    draft_begin(d, 0);
    if (s == DAMO_OK) draft_add(d, d->f->nodes[k].node);
  }
  return s == DAMO_OK ? draft_replace_halved(d, first, k, axes) : s;
}

static damo_status fuse_group(loop_draft *d, int32_t first) {
  if (!group_has_elements(d->f, first)) return DAMO_OK;
  return fuse_range(d, first, -1, group_row_axes(d->f, first));
}

/* Parts of several nodes may be the same. */
static damo_status fusion_prepare(damo_fgraph *fg) {
  bool did = false;
  DAMO_TRY(rewrite_row_parts(fg, &did));
  return did ? merge_rules[0].global(fg) : DAMO_OK;
}

static damo_status fuse_all(damo_fgraph *fg) {
  damo_ctx *ctx = fg->obj.ctx;
  fusion f;
  DAMO_TRY(fusion_prepare(fg));
  loop_draft *d = mem_alloc(ctx, sizeof *d);
  if (d == NULL) return DAMO_EMEMORY;
  damo_status s = fusion_find_groups(&f, fg);
  d->f = &f;
  d->number = 0;
  for (int32_t k = 0; s == DAMO_OK && k < f.order.n; k++) {
    if (f.nodes[k].group == k && f.nodes[k].next >= 0) s = fuse_group(d, k);
  }
  mem_free(ctx, d, sizeof *d);
  fusion_clear(&f);
  return s;
}

const rewrite_rule fusion_rules[] = {
    {.name = "fuse_elemwise", .phase = PHASE_LOOP, .tags = "fast_run fusion", .global = fuse_all},
    {.name = NULL},
};

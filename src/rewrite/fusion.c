/* fusion.c: Elemwise nodes that have one iteration space, and reductions of their results over the last axes, become Loop
 * nodes: one pass over memory for all of them.
 *
 * Nodes whose results broadcast along the same axes have one iteration space. Each node gets a level, such that an edge
 * between two nodes of one space may stay on a level and every other edge that leaves an Elemwise node goes up at least
 * one. Levels then never fall along a path, so the nodes of one space and level that edges connect make a convex set: a
 * path from one of them to another passes through nodes of the set alone, and fusing the set makes no cycle. Levels are
 * as late as the users of a node allow, so that a node is fused with them. A reduction stays on the level of its operand,
 * and all its users are on higher ones. The work is proportional to the edges.
 */
#include <string.h>

#include "graph/region.h"
#include "op/elem/loop_op.h"
#include "op/op.h"
#include "rewrite_int.h"

#define FUSION_MOST_OPERANDS 48 /* of a Loop: each is a stream of memory */
#define FUSION_MOST_PARTS 256

typedef struct fusion_node {
  damo_apply *node;
  bool fusable; /* an Elemwise */
  bool folds;   /* a reduction that a Loop can do */
  uint32_t
      space; /* axes along which its result (what it folds) broadcasts, the lowest bit being axis 0; and its rank */
  int32_t region; /* of graph/region.h: nodes of different regions stay apart */
  int32_t level;
  int32_t group; /* a node of the same group, nearer to the one that stands for it; itself: that one */
  int32_t next;  /* the next node of the group in dependency order, -1 */
  int32_t last;  /* of the node that stands for the group: the last of its nodes */
} fusion_node;

typedef struct fusion {
  damo_fgraph *fg;
  ptrvec order;
  map number; /* damo_apply* → its place in the order */
  fusion_node *nodes;
} fusion;

#define FUSION_MOST_RANK 26 /* of bits of a space */

static bool is_fusable(const damo_apply *node) {
  return node->op->def == &elemwise_def && node->op->destroy_map == NULL && var_ndim(node->out[0]) <= FUSION_MOST_RANK;
}

static bool node_is_fold(const damo_apply *node) {
  if (node->op->def != &reduce_def) return false;
  const int ndim = var_ndim(node->in[0]);
  return ndim <= FUSION_MOST_RANK && reduce_op_trailing(node->op, ndim) > 0;
}

/* Rank and static pattern of broadcasting of a Type. */
static uint32_t space_of(const damo_type *t) {
  uint32_t bits = (uint32_t)t->ndim << FUSION_MOST_RANK;
  for (int axis = 0; axis < t->ndim; axis++) bits |= (uint32_t)type_dim_is_one(t, axis) << axis;
  return bits;
}

static int32_t fusion_number(const fusion *f, const damo_apply *node) {
  uintptr_t k = 0;
  return node != NULL && map_get(&f->number, node, &k) ? (int32_t)k : -1;
}

/* Whether the edge from node k to its user may stay on a level. */
static bool is_joint(const fusion *f, int32_t k, int32_t user) {
  const fusion_node *a = &f->nodes[k], *b = &f->nodes[user];
  return a->fusable && (b->fusable || b->folds) && a->space == b->space && a->region == b->region;
}

static damo_status fusion_nodes(fusion *f) {
  DAMO_TRY(fgraph_toposort(f->fg, &f->order));
  f->nodes = mem_calloc(f->fg->obj.ctx, (size_t)f->order.n * sizeof *f->nodes);
  if (f->nodes == NULL) return DAMO_EMEMORY;
  region_map regions;
  region_map_init(&regions, f->fg->obj.ctx);
  damo_status s = region_map_find(&regions, f->fg, &f->order);
  for (int64_t k = 0; k < f->order.n; k++) {
    damo_apply *node = f->order.at[k];
    fusion_node *n = &f->nodes[k];
    *n = (fusion_node){.node = node, .group = (int32_t)k, .next = -1, .last = (int32_t)k};
    n->fusable = is_fusable(node);
    n->folds = node_is_fold(node);
    if (n->fusable || n->folds) n->space = space_of((n->folds ? node->in[0] : node->out[0])->type);
    n->region = region_of(&regions, node);
    if (n->region == REGION_ON_DEMAND) n->fusable = n->folds = false;
    if (s == DAMO_OK) s = map_put(&f->number, node, (uintptr_t)k);
  }
  region_map_clear(&regions);
  return s;
}

/* Levels: first as early as operands allow, then as late as users allow. */
static void fusion_levels(fusion *f) {
  for (int32_t k = 0; k < f->order.n; k++) {
    fusion_node *n = &f->nodes[k];
    for (int i = 0; i < n->node->n_in; i++) {
      const int32_t from = fusion_number(f, n->node->in[i]->owner);
      if (from < 0) continue;
      const int32_t least = f->nodes[from].level + !is_joint(f, from, k);
      if (n->level < least) n->level = least;
    }
  }
  for (int32_t k = (int32_t)f->order.n - 1; k >= 0; k--) {
    fusion_node *n = &f->nodes[k];
    int32_t most = INT32_MAX;
    for (int o = 0; o < n->node->n_out; o++) {
      const fg_clients *c = fgraph_clients(f->fg, n->node->out[o]);
      for (int32_t i = 0; c != NULL && i < c->n; i++) {
        const int32_t user = fusion_number(f, c->at[i].node);
        if (user < 0) continue;
        const int32_t level = f->nodes[user].level - !is_joint(f, k, user);
        if (level < most) most = level;
      }
    }
    if (most != INT32_MAX) n->level = most;
  }
}

static int32_t fusion_group_of(fusion *f, int32_t k) {
  damo_assert(k >= 0 && k < f->order.n && f->nodes[k].group <= k); /* the first node stands for its group */
  while (f->nodes[k].group != k) k = f->nodes[k].group = f->nodes[f->nodes[k].group].group;
  return k;
}

static void fusion_groups(fusion *f) {
  for (int32_t k = 0; k < f->order.n; k++) {
    for (int i = 0; i < f->nodes[k].node->n_in; i++) {
      const int32_t from = fusion_number(f, f->nodes[k].node->in[i]->owner);
      if (from < 0 || !is_joint(f, from, k) || f->nodes[from].level != f->nodes[k].level) continue;
      const int32_t a = fusion_group_of(f, from), b = fusion_group_of(f, k);
      if (a < b) f->nodes[b].group = a; /* the first node stands for the group */
      if (b < a) f->nodes[a].group = b;
    }
  }
  for (int32_t k = 0; k < f->order.n; k++) {
    const int32_t first = fusion_group_of(f, k);
    if (first == k) continue;
    f->nodes[f->nodes[first].last].next = k;
    f->nodes[first].last = k;
  }
}

/* ---- Loops ------------------------------------------------------------------------------------------------------- */

/* A Loop under construction. */
typedef struct loop_draft {
  fusion *f;
  int n_in, n_parts, n_out;
  int n_axes; /* of the folds, 0: there are none */
  damo_var *in[FUSION_MOST_OPERANDS];
  damo_apply *nodes[FUSION_MOST_PARTS];
  damo_var *out[FUSION_MOST_OPERANDS];
  loop_part parts[FUSION_MOST_PARTS];
  int16_t outs[FUSION_MOST_OPERANDS];
  map part; /* damo_apply* → its part + 1 */
} loop_draft;

static int draft_input(const loop_draft *d, const damo_var *v) {
  for (int i = 0; i < d->n_in; i++) {
    if (d->in[i] == v) return i;
  }
  return -1;
}

/* Takes the node as the next part; false where a Loop can take no more. A fold over other axes than those of the folds
 * before it stays by itself, as does one of a value that no part makes. */
static bool draft_add(loop_draft *d, damo_apply *node, damo_status *s) {
  int more = 0;
  if (node->op->def == &reduce_def) {
    const int n_axes = reduce_op_trailing(node->op, var_ndim(node->in[0]));
    if (!map_get(&d->part, node->in[0]->owner, NULL) || (d->n_axes != 0 && d->n_axes != n_axes)) return true;
    if (d->n_parts < FUSION_MOST_PARTS) d->n_axes = n_axes;
  }
  for (int i = 0; i < node->n_in; i++) {
    more += !map_get(&d->part, node->in[i]->owner, NULL) && draft_input(d, node->in[i]) < 0;
  }
  if (d->n_parts == FUSION_MOST_PARTS || d->n_in + more > FUSION_MOST_OPERANDS) return false;
  for (int i = 0; i < node->n_in; i++) {
    if (map_get(&d->part, node->in[i]->owner, NULL) || draft_input(d, node->in[i]) >= 0) continue;
    d->in[d->n_in++] = node->in[i];
  }
  damo_assert(d->n_in <= FUSION_MOST_OPERANDS && !map_get(&d->part, node, NULL));
  d->nodes[d->n_parts++] = node;
  *s = map_put(&d->part, node, (uintptr_t)d->n_parts);
  return true;
}

static bool is_used_outside(const loop_draft *d, const damo_var *v) {
  const fg_clients *c = fgraph_clients(d->f->fg, v);
  for (int32_t i = 0; c != NULL && i < c->n; i++) {
    if (c->at[i].node == NULL || !map_get(&d->part, c->at[i].node, NULL)) return true;
  }
  return false;
}

/* The parts read registers; false where there are too many outputs. */
static bool draft_finish(loop_draft *d) {
  d->n_out = 0;
  for (int k = 0; k < d->n_parts; k++) {
    const damo_apply *node = d->nodes[k];
    d->parts[k] = (loop_part){.op = node->op, .dtype = var_dtype(node->out[0])};
    for (int i = 0; i < node->n_in; i++) {
      uintptr_t part = 0;
      const bool inner = map_get(&d->part, node->in[i]->owner, &part);
      damo_assert(!inner || (int)part - 1 < k); /* parts are in dependency order */
      d->parts[k].in[i] = (int16_t)(inner ? d->n_in + (int)part - 1 : draft_input(d, node->in[i]));
    }
    if (!is_used_outside(d, node->out[0])) continue;
    if (d->n_in + d->n_out == FUSION_MOST_OPERANDS) return false;
    d->out[d->n_out] = node->out[0];
    d->outs[d->n_out++] = (int16_t)(d->n_in + k);
  }
  return true;
}

#define TRACE_MOST_LINES 8

/* The innermost lines of the nodes' traces, each once, for errors; NULL: there are none. */
static damo_trace *draft_trace(const loop_draft *d) {
  const char *lines[TRACE_MOST_LINES];
  size_t lengths[TRACE_MOST_LINES];
  int n = 0;
  strbuf text = {.ctx = d->f->fg->obj.ctx};
  for (int k = 0; k < d->n_parts && n < TRACE_MOST_LINES; k++) {
    const damo_trace *t = d->nodes[k]->trace;
    if (t == NULL) continue;
    const size_t length = strcspn(t->text, "\n");
    bool known = false;
    for (int i = 0; i < n; i++) known = known || (lengths[i] == length && memcmp(lines[i], t->text, length) == 0);
    if (known) continue;
    lines[n] = t->text;
    lengths[n++] = length;
    strbuf_addf(&text, "%s%.*s", n > 1 ? "\n" : "", (int)length, t->text);
  }
  damo_trace *trace = n > 0 && !text.failed ? trace_new(text.ctx, text.at) : NULL;
  strbuf_clear(&text);
  return trace;
}

static damo_status draft_replace(loop_draft *d) {
  if (d->n_parts < 2 || !draft_finish(d)) return DAMO_OK;
  damo_assert(d->n_out > 0); /* a node that nothing uses is not in the graph */
  damo_ctx *ctx = d->f->fg->obj.ctx;
  build b;
  build_init(&b, ctx);
  damo_trace *trace = draft_trace(d);
  damo_obj *outer = graph_notes_of(ctx)->trace;
  graph_notes_of(ctx)->trace = trace != NULL ? &trace->obj : NULL;
  damo_apply *node = build_loop(&b, d->in, d->n_in, d->parts, d->n_parts, d->outs, d->n_out);
  graph_notes_of(ctx)->trace = outer;
  bool fits = node != NULL;
  for (int o = 0; fits && o < d->n_out; o++) fits = type_is_super(d->out[o]->type, node->out[o]->type);
  if (fits) b.status = fgraph_replace_trusted(d->f->fg, d->out, node->out, d->n_out, "fuse_elemwise");
  damo_release(trace);
  return build_end(&b);
}

static void draft_begin(loop_draft *d) {
  d->n_in = d->n_parts = d->n_out = d->n_axes = 0;
  map_clear(&d->part);
  map_init(&d->part, d->f->fg->obj.ctx);
}

/* The group's nodes in their order, cut where a Loop has as much as it can take: what comes later reads what came
 * earlier, never the other way round. */
static damo_status fuse_group(loop_draft *d, int32_t first) {
  damo_status s = DAMO_OK;
  draft_begin(d);
  for (int32_t k = first; k >= 0 && s == DAMO_OK; k = d->f->nodes[k].next) {
    if (draft_add(d, d->f->nodes[k].node, &s)) continue;
    s = draft_replace(d);
    draft_begin(d);
    if (s == DAMO_OK) draft_add(d, d->f->nodes[k].node, &s);
  }
  return s == DAMO_OK ? draft_replace(d) : s;
}

static damo_status fuse_all(damo_fgraph *fg) {
  damo_ctx *ctx = fg->obj.ctx;
  fusion f = {.fg = fg};
  ptrvec_init(&f.order, ctx);
  map_init(&f.number, ctx);
  loop_draft *d = mem_alloc(ctx, sizeof *d);
  damo_status s = d != NULL ? fusion_nodes(&f) : DAMO_EMEMORY;
  if (s == DAMO_OK) {
    d->f = &f;
    map_init(&d->part, ctx);
    fusion_levels(&f);
    fusion_groups(&f);
    for (int32_t k = 0; k < f.order.n && s == DAMO_OK; k++) {
      if (f.nodes[k].group == k && f.nodes[k].next >= 0) s = fuse_group(d, k);
    }
    map_clear(&d->part);
  }
  if (d != NULL) mem_free(ctx, d, sizeof *d);
  if (f.nodes != NULL) mem_free(ctx, f.nodes, (size_t)f.order.n * sizeof *f.nodes);
  map_clear(&f.number);
  ptrvec_clear(&f.order);
  return s;
}

const rewrite_rule fusion_rules[] = {
    {.name = "fuse_elemwise", .phase = PHASE_LOOP, .tags = "fast_run fusion", .global = fuse_all},
    {.name = NULL},
};

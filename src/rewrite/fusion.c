/* fusion.c: Elemwise nodes that have one iteration space, and reductions of their results over the last axes, become Loop
 * nodes: one pass over memory for all of them.
 *
 * Nodes whose results broadcast along the same axes have one iteration space. A reduction over its last axes gives one
 * value a row. Where a node over the elements reads that value again, directly or through others that have one value a
 * row, these belong to the same space: softmax, a variance or a normalisation is one Loop, which goes over each row
 * several times while it lies in a cache.
 *
 * An edge is joint if its ends can be in one Loop. Each node gets a level, such that a joint edge may stay on a level and
 * every other edge goes up at least one. Levels then never fall along a path, so the nodes of one level that joint edges
 * connect make a convex set: a path from one of them to another passes through nodes of the set alone, and fusing the set
 * makes no cycle. Levels are as late as the users of a node allow, so that a node is fused with them. The work is
 * proportional to the edges.
 */
#include <string.h>

#include "graph/region.h"
#include "op/elem/loop_op.h"
#include "op/op.h"
#include "rewrite_int.h"

#define FUSION_MOST_OPERANDS 48 /* of a Loop: each is a stream of memory */
#define FUSION_MOST_PARTS 256

typedef enum fusion_kind {
  FUSION_NONE,
  FUSION_ELEMWISE,
  FUSION_FOLD, /* a reduction that a Loop can do */
  FUSION_SHIFT /* a DimShuffle that adds axes of length 1 behind the others, or drops such */
} fusion_kind;

typedef struct fusion_node {
  damo_apply *node;
  fusion_kind kind;
  uint32_t space; /* of its result; of a reduction: of what it reduces */
  /* of what has one value a row of another space, and of a reduction whose result is read there again: that space, and
   * how many axes a row has; else 0 */
  uint32_t row_space;
  int32_t row_axes;
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

/* ---- Spaces ------------------------------------------------------------------------------------------------------ */

#define FUSION_MOST_RANK 26 /* of bits of a space */

/* Rank and static pattern of broadcasting of a Type: the lowest bit is axis 0's. */
static uint32_t space_of(const damo_type *t) {
  uint32_t bits = (uint32_t)t->ndim << FUSION_MOST_RANK;
  for (int axis = 0; axis < t->ndim; axis++) bits |= (uint32_t)type_dim_is_one(t, axis) << axis;
  return bits;
}

static int space_rank(uint32_t space) { return (int)(space >> FUSION_MOST_RANK); }

/* How values of that Type, one for each row of n_axes axes, lie in a space; LOOP_ELEMENTS if they are no such values. */
static loop_space space_of_rows(uint32_t space, int n_axes, const damo_type *t) {
  const int ndim = space_rank(space), kept = ndim - n_axes;
  const uint32_t all = (UINT32_C(1) << ndim) - 1, leading = (UINT32_C(1) << kept) - 1, trailing = all & ~leading;
  if (n_axes == 0 || (space & trailing) == trailing) return LOOP_ELEMENTS;
  const uint32_t own = space_of(t);
  if (own == ((uint32_t)kept << FUSION_MOST_RANK | (space & leading))) return LOOP_ROWS;
  return own == ((space & ~all) | (space & leading) | trailing) ? LOOP_ROWS_KEPT : LOOP_ELEMENTS;
}

static fusion_kind fusion_kind_of(const damo_apply *node) {
  const op_def *def = node->op->def;
  if (def == &elemwise_def)
    return node->op->destroy_map == NULL && var_ndim(node->out[0]) <= FUSION_MOST_RANK ? FUSION_ELEMWISE : FUSION_NONE;
  if (def != &reduce_def && def != &dimshuffle_def) return FUSION_NONE;
  const int ndim = var_ndim(node->in[0]);
  if (ndim > FUSION_MOST_RANK || var_ndim(node->out[0]) > FUSION_MOST_RANK) return FUSION_NONE;
  if (def == &reduce_def) return reduce_op_trailing(node->op, ndim) > 0 ? FUSION_FOLD : FUSION_NONE;
  return dimshuffle_op_trailing(node->op, ndim) != 0 ? FUSION_SHIFT : FUSION_NONE;
}

static int32_t fusion_number(const fusion *f, const damo_apply *node) {
  uintptr_t k = 0;
  return node != NULL && map_get(&f->number, node, &k) ? (int32_t)k : -1;
}

/* Whether k gives one value for each row of a space, and its user belongs to that space. */
static bool is_joint_by_rows(const fusion *f, int32_t k, int32_t user) {
  const fusion_node *a = &f->nodes[k], *b = &f->nodes[user];
  if (a->row_axes == 0 || a->region != b->region) return false;
  if (b->kind != FUSION_FOLD && b->row_axes != 0) return b->row_axes == a->row_axes && b->row_space == a->row_space;
  if (b->kind != FUSION_ELEMWISE || b->space != a->row_space) return false;
  const damo_type *t = a->node->out[0]->type;
  return t->ndim == 0 || space_of_rows(a->row_space, a->row_axes, t) == LOOP_ROWS_KEPT;
}

/* Whether the edge from node k to its user may stay on a level. */
static bool is_joint(const fusion *f, int32_t k, int32_t user) {
  const fusion_node *a = &f->nodes[k], *b = &f->nodes[user];
  if (is_joint_by_rows(f, k, user)) return true;
  if (a->kind != FUSION_ELEMWISE || a->row_axes != 0 || a->space != b->space || a->region != b->region) return false;
  return b->kind == FUSION_FOLD || (b->kind == FUSION_ELEMWISE && b->row_axes == 0);
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
    n->region = region_of(&regions, node);
    n->kind = n->region == REGION_ON_DEMAND ? FUSION_NONE : fusion_kind_of(node);
    if (n->kind != FUSION_NONE) n->space = space_of((n->kind == FUSION_FOLD ? node->in[0] : node->out[0])->type);
    if (s == DAMO_OK) s = map_put(&f->number, node, (uintptr_t)k);
  }
  region_map_clear(&regions);
  return s;
}

/* ---- Values of rows ---------------------------------------------------------------------------------------------- */

/* Reductions, and what is made of their results alone in the sense that it has one value a row. */
static void fusion_find_rows(fusion *f) {
  for (int32_t k = 0; k < f->order.n; k++) {
    fusion_node *n = &f->nodes[k];
    if (n->kind == FUSION_FOLD) {
      n->row_space = n->space;
      n->row_axes = reduce_op_trailing(n->node->op, var_ndim(n->node->in[0]));
    }
    if (n->kind != FUSION_ELEMWISE && n->kind != FUSION_SHIFT) continue;
    for (int i = 0; i < n->node->n_in && n->row_axes == 0; i++) {
      const int32_t from = fusion_number(f, n->node->in[i]->owner);
      const fusion_node *a = from < 0 ? NULL : &f->nodes[from];
      if (a == NULL || a->row_axes == 0 || a->region != n->region) continue;
      if (space_of_rows(a->row_space, a->row_axes, n->node->out[0]->type) == LOOP_ELEMENTS) continue;
      n->row_space = a->row_space;
      n->row_axes = a->row_axes;
    }
  }
}

static bool is_read_by_elements(const fusion *f, int32_t k) {
  const fg_clients *c = fgraph_clients(f->fg, f->nodes[k].node->out[0]);
  for (int32_t i = 0; c != NULL && i < c->n; i++) {
    const int32_t user = fusion_number(f, c->at[i].node);
    if (user >= 0 && is_joint_by_rows(f, k, user)) return true;
  }
  return false;
}

/* Values of rows belong to the space where they are read again; others are ordinary nodes. Rows of one space have one
 * length: that of the first reduction. */
static damo_status fusion_choose_rows(fusion *f) {
  map axes; /* space → axes of its rows */
  map_init(&axes, f->fg->obj.ctx);
  damo_status s = DAMO_OK;
  for (int32_t k = (int32_t)f->order.n - 1; k >= 0; k--) {
    fusion_node *n = &f->nodes[k];
    if (n->row_axes != 0 && !is_read_by_elements(f, k)) n->row_axes = 0;
    if (n->row_axes != 0 && n->kind == FUSION_FOLD && s == DAMO_OK)
      s = map_put(&axes, (void *)(uintptr_t)n->row_space, (uintptr_t)n->row_axes);
  }
  for (int32_t k = 0; k < f->order.n; k++) {
    fusion_node *n = &f->nodes[k];
    uintptr_t chosen = 0;
    if (n->row_axes == 0) continue;
    if (!map_get(&axes, (void *)(uintptr_t)n->row_space, &chosen) || (int32_t)chosen != n->row_axes) n->row_axes = 0;
  }
  map_clear(&axes);
  return s;
}

/* ---- Groups ------------------------------------------------------------------------------------------------------ */

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
  loop_input in[FUSION_MOST_OPERANDS];
  damo_apply *nodes[FUSION_MOST_PARTS];
  damo_var *out[FUSION_MOST_OPERANDS];
  loop_part parts[FUSION_MOST_PARTS];
  int16_t outs[FUSION_MOST_OPERANDS];
  map part; /* damo_apply* → its part + 1; of a DimShuffle, that of its operand */
} loop_draft;

static const fusion_node *draft_node(const loop_draft *d, const damo_apply *node) {
  return &d->f->nodes[fusion_number(d->f, node)];
}

static loop_space draft_space(const loop_draft *d, const damo_apply *node) {
  const fusion_node *n = draft_node(d, node);
  if (n->kind == FUSION_ELEMWISE && n->row_axes == 0) return LOOP_ELEMENTS;
  const int ndim = n->kind == FUSION_FOLD ? space_rank(n->space) : space_rank(n->row_space);
  if (n->kind == FUSION_FOLD && reduce_op_trailing(node->op, ndim) != d->n_axes) return LOOP_OTHER;
  return var_ndim(node->out[0]) == ndim ? LOOP_ROWS_KEPT : LOOP_ROWS;
}

/* v as an operand of that node. */
static loop_input draft_operand(const loop_draft *d, const damo_apply *node, damo_var *v) {
  const bool folds = draft_node(d, node)->kind == FUSION_FOLD;
  return (loop_input){v, !folds && var_ndim(v) > 0 && draft_space(d, node) == LOOP_ROWS};
}

static int draft_input(const loop_draft *d, loop_input x) {
  for (int i = 0; i < d->n_in; i++) {
    if (d->in[i].var == x.var && d->in[i].of_rows == x.of_rows) return i;
  }
  return -1;
}

static bool draft_makes(const loop_draft *d, const damo_var *v) { return map_get(&d->part, v->owner, NULL); }

/* A reduction of what no part makes stays by itself unless a part reads it. */
static bool draft_takes_fold(const loop_draft *d, const damo_apply *node) {
  return draft_makes(d, node->in[0]) || draft_node(d, node)->row_axes != 0;
}

/* Takes the node as the next part; false where a Loop can take no more. */
static bool draft_add(loop_draft *d, damo_apply *node, damo_status *s) {
  const fusion_kind kind = draft_node(d, node)->kind;
  uintptr_t made = 0;
  int more = 0;
  if (kind == FUSION_SHIFT) {
    if (map_get(&d->part, node->in[0]->owner, &made)) *s = map_put(&d->part, node, made);
    return true;
  }
  if (kind == FUSION_FOLD && !draft_takes_fold(d, node)) return true;
  for (int i = 0; i < node->n_in; i++)
    more += !draft_makes(d, node->in[i]) && draft_input(d, draft_operand(d, node, node->in[i])) < 0;
  if (d->n_parts == FUSION_MOST_PARTS || d->n_in + more > FUSION_MOST_OPERANDS) return false;
  if (kind == FUSION_FOLD && d->n_axes == 0) d->n_axes = reduce_op_trailing(node->op, var_ndim(node->in[0]));
  for (int i = 0; i < node->n_in; i++) {
    const loop_input x = draft_operand(d, node, node->in[i]);
    if (!draft_makes(d, x.var) && draft_input(d, x) < 0) d->in[d->n_in++] = x;
  }
  damo_assert(d->n_in <= FUSION_MOST_OPERANDS && !map_get(&d->part, node, NULL));
  d->nodes[d->n_parts++] = node;
  *s = map_put(&d->part, node, (uintptr_t)d->n_parts);
  return true;
}

/* Whether a node that is no part reads v. A DimShuffle of the group disappears if parts alone read it. */
static bool is_used_outside(const loop_draft *d, const damo_var *v) {
  const fg_clients *c = fgraph_clients(d->f->fg, v);
  for (int32_t i = 0; c != NULL && i < c->n; i++) {
    const damo_apply *user = c->at[i].node;
    if (user == NULL || !map_get(&d->part, user, NULL)) return true;
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
      uintptr_t part = 0;
      const bool inner = map_get(&d->part, node->in[i]->owner, &part);
      damo_assert(!inner || (int)part - 1 < k); /* parts are in dependency order */
      d->parts[k].in[i] =
          (int16_t)(inner ? d->n_in + (int)part - 1 : draft_input(d, draft_operand(d, node, node->in[i])));
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
  damo_apply *node = build_loop(&b, d->in, d->n_in, d->n_axes, d->parts, d->n_parts, d->outs, d->n_out);
  graph_notes_of(ctx)->trace = outer;
  bool fits = node != NULL;
  for (int o = 0; fits && o < d->n_out; o++) fits = type_is_super(d->out[o]->type, node->out[o]->type);
  if (fits) b.status = fgraph_replace_trusted(d->f->fg, d->out, node->out, d->n_out, "fuse_elemwise");
  damo_release(trace);
  return build_end(&b);
}

/* n_axes: of the rows whose values parts read again, 0: none. */
static void draft_begin(loop_draft *d, int n_axes) {
  d->n_in = d->n_parts = d->n_out = 0;
  d->n_axes = n_axes;
  map_clear(&d->part);
  map_init(&d->part, d->f->fg->obj.ctx);
}

/* How many axes the rows have whose values nodes of the group read again, 0: there are none. */
static int group_row_axes(const fusion *f, int32_t first) {
  for (int32_t k = first; k >= 0; k = f->nodes[k].next) {
    if (f->nodes[k].row_axes != 0) return f->nodes[k].row_axes;
  }
  return 0;
}

/* Values of rows alone, without the elements of a row, are ordinary nodes; false if they have different ranks. */
static bool group_has_elements(fusion *f, int32_t first) {
  bool shifted = false;
  for (int32_t k = first; k >= 0; k = f->nodes[k].next) {
    if (f->nodes[k].kind == FUSION_FOLD || f->nodes[k].row_axes == 0) return true;
    shifted = shifted || f->nodes[k].kind == FUSION_SHIFT;
  }
  for (int32_t k = first; k >= 0; k = f->nodes[k].next) f->nodes[k].row_axes = 0;
  return !shifted;
}

/* The group's nodes in their order, cut where a Loop has as much as it can take: what comes later reads what came
 * earlier, never the other way round. Where values of rows are read again, what comes later stays as it is. */
static damo_status fuse_group(loop_draft *d, int32_t first) {
  if (!group_has_elements(d->f, first)) return DAMO_OK;
  const int n_axes = group_row_axes(d->f, first);
  damo_status s = DAMO_OK;
  draft_begin(d, n_axes);
  for (int32_t k = first; k >= 0 && s == DAMO_OK; k = d->f->nodes[k].next) {
    if (draft_add(d, d->f->nodes[k].node, &s)) continue;
    if (n_axes != 0) break;
    s = draft_replace(d);
    draft_begin(d, 0);
    if (s == DAMO_OK) draft_add(d, d->f->nodes[k].node, &s);
  }
  return s == DAMO_OK ? draft_replace(d) : s;
}

/* Parts of several nodes may be the same. */
static damo_status fusion_prepare(damo_fgraph *fg) {
  bool did = false;
  DAMO_TRY(rewrite_row_parts(fg, &did));
  return did ? merge_rules[0].global(fg) : DAMO_OK;
}

static damo_status fuse_all(damo_fgraph *fg) {
  damo_ctx *ctx = fg->obj.ctx;
  DAMO_TRY(fusion_prepare(fg));
  fusion f = {.fg = fg};
  ptrvec_init(&f.order, ctx);
  map_init(&f.number, ctx);
  loop_draft *d = mem_alloc(ctx, sizeof *d);
  damo_status s = d != NULL ? fusion_nodes(&f) : DAMO_EMEMORY;
  if (s == DAMO_OK) {
    fusion_find_rows(&f);
    s = fusion_choose_rows(&f);
  }
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

/* fusion_groups: which nodes of a graph can be one Loop.
 *
 * Nodes whose results broadcast along the same axes have one iteration space. A reduction over some of its axes gives one
 * value a row, and these axes are those of a row. Where a node over the elements reads that value again, directly or through others that have one value a
 * row, these belong to the same space: softmax, a variance or a normalisation is one Loop, which goes over each row
 * several times while it lies in a cache.
 *
 * An edge is joint if its ends can be in one Loop. Nodes that joint edges connect are one unit, unless another edge
 * connects two of them, or a path leads out of it and back; then each of them is a unit. Each unit gets a level, such that
 * a joint edge between units may stay on a level and every other edge goes up at least one. Levels then never fall along
 * a path, so the nodes of one level that joint edges connect make a convex set: a path from one of them to another passes
 * through nodes of the set alone, and fusing the set makes no cycle. Levels are as late as the users of a unit allow, so
 * that a node is fused with them.
 * The work is proportional to the edges.
 */
#include "fusion_int.h"
#include "graph/region.h"

/* ---- Spaces ------------------------------------------------------------------------------------------------------ */

#define FUSION_MOST_RANK 26 /* of bits of a space */

/* Rank and static pattern of broadcasting of a Type: the lowest bit is axis 0's. */
static uint32_t space_of(const damo_type *t) {
  uint32_t bits = (uint32_t)t->ndim << FUSION_MOST_RANK;
  for (int axis = 0; axis < t->ndim; axis++) bits |= (uint32_t)type_dim_is_one(t, axis) << axis;
  return bits;
}

int space_rank(uint32_t space) { return (int)(space >> FUSION_MOST_RANK); }

bool axes_are_last(uint32_t axes, int ndim) {
  int first = 0;
  while (first < ndim && !(axes >> first & 1)) first++;
  return axes == ((UINT32_C(1) << ndim) - 1) >> first << first;
}

/* Whether the axes of a row come before all others, so that values of rows are aligned to the elements as they are. */
static bool axes_are_first(uint32_t axes) { return (axes & (axes + 1)) == 0; }

/* How values of that Type, one for each row of these axes, lie in a space; LOOP_ELEMENTS if they are no such values. */
static loop_space space_of_rows(uint32_t space, uint32_t axes, const damo_type *t) {
  const int ndim = space_rank(space);
  const uint32_t all = (UINT32_C(1) << ndim) - 1;
  if (axes == 0 || (space & axes) == axes) return LOOP_ELEMENTS;
  const uint32_t own = space_of(t);
  if (own == ((space & ~all) | (space & all) | axes)) return LOOP_ROWS_KEPT;
  uint32_t kept = 0, rank = 0;
  for (int axis = 0; axis < ndim; axis++) {
    if (!(axes >> axis & 1)) kept |= (space >> axis & 1) << rank++;
  }
  return own == (rank << FUSION_MOST_RANK | kept) ? LOOP_ROWS : LOOP_ELEMENTS;
}

int position_operand(const damo_apply *node) {
  if (node->op->def == &pick_def || node->op->def == &pick_grad_def) return 1;
  return node->op->def == &onehot_def ? 0 : -1;
}

uint32_t fold_axes(const damo_apply *node) {
  const int ndim = var_ndim(node->in[0]);
  return node->op->def == &pick_def ? UINT32_C(1) << (ndim - 1) : reduce_op_axes(node->op, ndim);
}

/* The operands that have one entry a row do not broadcast against the elements. */
static fusion_kind fusion_kind_of_pick(const damo_apply *node) {
  const bool picks = node->op->def == &pick_def;
  const damo_type *elements = picks ? node->in[0]->type : node->out[0]->type;
  if (elements->ndim > FUSION_MOST_RANK || elements->ndim < 2) return FUSION_NONE; /* a single row is no loop */
  const uint32_t space = space_of(elements);
  for (int i = picks ? 1 : 0; i < (picks ? 2 : node->n_in - 1); i++) {
    const uint32_t last = UINT32_C(1) << (elements->ndim - 1);
    if (space_of_rows(space, last, node->in[i]->type) != LOOP_ROWS) return FUSION_NONE;
  }
  return picks ? FUSION_FOLD : FUSION_PLACE;
}

static fusion_kind fusion_kind_of(const damo_apply *node) {
  const op_def *def = node->op->def;
  if (position_operand(node) >= 0) return fusion_kind_of_pick(node);
  if (def == &elemwise_def)
    return node->op->destroy_map == NULL && var_ndim(node->out[0]) <= FUSION_MOST_RANK ? FUSION_ELEMWISE : FUSION_NONE;
  if (def != &reduce_def && def != &dimshuffle_def) return FUSION_NONE;
  const int ndim = var_ndim(node->in[0]);
  if (ndim > FUSION_MOST_RANK || var_ndim(node->out[0]) > FUSION_MOST_RANK) return FUSION_NONE;
  if (def == &dimshuffle_def) return dimshuffle_op_keeps_order(node->op, ndim) ? FUSION_SHIFT : FUSION_NONE;
  return reduce_op_one_pass(node->op) && reduce_op_axes(node->op, ndim) != 0 ? FUSION_FOLD : FUSION_NONE;
}

/* Whether the user reads k's result as no position and no length: these are inputs of a Loop. */
static bool reads_value(const fusion *f, int32_t k, int32_t user) {
  const damo_apply *a = f->nodes[k].node, *b = f->nodes[user].node;
  const int position = position_operand(b);
  if (position >= 0 && b->in[position]->owner == a) return false;
  return f->nodes[user].kind != FUSION_PLACE || (position == 1 && b->in[2]->owner != a);
}

/* Whether k gives one value for each row of a space, and its user belongs to that space. */
static bool is_joint_by_rows(const fusion *f, int32_t k, int32_t user) {
  const fusion_node *a = &f->nodes[k], *b = &f->nodes[user];
  if (a->row_axes == 0 || a->region != b->region) return false;
  if (b->kind == FUSION_PLACE) {
    const uint32_t last = UINT32_C(1) << (space_rank(b->space) - 1);
    return a->row_axes == last && b->shape == a->row_shape && reads_value(f, k, user);
  }
  if (b->kind != FUSION_FOLD && b->row_axes != 0) return b->row_axes == a->row_axes && b->row_shape == a->row_shape;
  if (b->kind != FUSION_ELEMWISE || b->shape != a->row_shape) return false;
  const damo_type *t = a->node->out[0]->type;
  if (t->ndim == 0 || axes_are_first(a->row_axes)) return true;
  return space_of_rows(a->row_space, a->row_axes, t) == LOOP_ROWS_KEPT;
}

/* Whether the edge from node k to its user may stay on a level. */
static bool is_joint(const fusion *f, int32_t k, int32_t user) {
  const fusion_node *a = &f->nodes[k], *b = &f->nodes[user];
  if (is_joint_by_rows(f, k, user)) return true;
  if (a->kind != FUSION_PLACE && (a->kind != FUSION_ELEMWISE || a->row_axes != 0)) return false;
  if (a->space != b->space || a->region != b->region) return false;
  if (b->kind == FUSION_FOLD) return reads_value(f, k, user);
  return b->kind == FUSION_ELEMWISE && b->row_axes == 0;
}

static damo_status fusion_nodes(fusion *f) {
  DAMO_TRY(fgraph_toposort(f->fg, &f->order));
  f->nodes = mem_calloc(f->fg->obj.ctx, (size_t)f->order.n * sizeof *f->nodes);
  f->units = mem_alloc(f->fg->obj.ctx, (size_t)f->order.n * sizeof *f->units);
  if (f->nodes == NULL || f->units == NULL) return DAMO_EMEMORY;
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
    node->pass = f->pass;
    node->note = (int32_t)k;
  }
  region_map_clear(&regions);
  return s;
}

/* ---- Shapes ------------------------------------------------------------------------------------------------------ */

/* Operands of a node over the elements that have its static pattern of broadcasting have its shape, or it fails when
 * run. What is reduced has the shape of the elements that read the result again only where such nodes connect them. */

static int32_t shape_root(const fusion *f, int32_t i) {
  while (f->same[i] != i) i = f->same[i] = f->same[f->same[i]];
  return i;
}

static damo_status shape_number(fusion *f, const damo_var *v, int32_t *number) {
  uintptr_t known = 0;
  if (map_get(&f->shapes, v, &known)) {
    *number = (int32_t)known;
    return DAMO_OK;
  }
  damo_assert(f->n_shapes < f->most_shapes);
  *number = f->n_shapes++;
  f->same[*number] = *number;
  return map_put(&f->shapes, v, (uintptr_t)*number);
}

static damo_status fusion_shapes(fusion *f) {
  damo_ctx *ctx = f->fg->obj.ctx;
  for (int32_t k = 0; k < f->order.n; k++) f->most_shapes += 1 + f->nodes[k].node->n_in;
  f->same = mem_alloc(ctx, (size_t)f->most_shapes * sizeof *f->same);
  if (f->same == NULL) return DAMO_EMEMORY;
  for (int32_t k = 0; k < f->order.n; k++) {
    fusion_node *n = &f->nodes[k];
    if (n->kind == FUSION_NONE || n->kind == FUSION_SHIFT) continue;
    DAMO_TRY(shape_number(f, n->kind == FUSION_FOLD ? n->node->in[0] : n->node->out[0], &n->shape));
    for (int i = 0; i < n->node->n_in && n->kind == FUSION_ELEMWISE; i++) {
      int32_t operand;
      if (space_of(n->node->in[i]->type) != n->space) continue;
      DAMO_TRY(shape_number(f, n->node->in[i], &operand));
      f->same[shape_root(f, operand)] = shape_root(f, n->shape);
    }
  }
  for (int32_t k = 0; k < f->order.n; k++) {
    fusion_node *n = &f->nodes[k];
    if (n->kind != FUSION_NONE && n->kind != FUSION_SHIFT) n->shape = shape_root(f, n->shape);
  }
  return DAMO_OK;
}

/* ---- Values of rows ---------------------------------------------------------------------------------------------- */

/* Reductions, and what is made of their results alone in the sense that it has one value a row. */
static void fusion_find_rows(fusion *f) {
  for (int32_t k = 0; k < f->order.n; k++) {
    fusion_node *n = &f->nodes[k];
    if (n->kind == FUSION_FOLD) {
      n->row_space = n->space;
      n->row_axes = fold_axes(n->node);
      n->row_shape = n->shape;
    }
    if (n->kind != FUSION_ELEMWISE && n->kind != FUSION_SHIFT) continue;
    for (int i = 0; i < n->node->n_in && n->row_axes == 0; i++) {
      const int32_t from = fusion_place(f, n->node->in[i]->owner);
      const fusion_node *a = from < 0 ? NULL : &f->nodes[from];
      if (a == NULL || a->row_axes == 0 || a->region != n->region) continue;
      if (space_of_rows(a->row_space, a->row_axes, n->node->out[0]->type) == LOOP_ELEMENTS) continue;
      n->row_space = a->row_space;
      n->row_axes = a->row_axes;
      n->row_shape = a->row_shape;
    }
  }
}

static bool is_read_by_elements(const fusion *f, int32_t k) {
  const fg_clients *c = fgraph_clients(f->fg, f->nodes[k].node->out[0]);
  for (int32_t i = 0; c != NULL && i < c->n; i++) {
    const int32_t user = fusion_place(f, c->at[i].node);
    if (user >= 0 && is_joint_by_rows(f, k, user)) return true;
  }
  return false;
}

static const void *shape_key(int32_t shape) { return (const void *)((uintptr_t)shape + 1); }

/* Values of rows belong to the elements that read them again; others are ordinary nodes. Rows of one shape have the same
 * axes: those of the first reduction. */
static damo_status fusion_choose_rows(fusion *f) {
  map axes; /* shape → axes of its rows, as bits */
  map_init(&axes, f->fg->obj.ctx);
  damo_status s = DAMO_OK;
  for (int32_t k = (int32_t)f->order.n - 1; k >= 0; k--) {
    fusion_node *n = &f->nodes[k];
    if (n->row_axes != 0 && !is_read_by_elements(f, k)) n->row_axes = 0;
    if (n->row_axes != 0 && n->kind == FUSION_FOLD && s == DAMO_OK)
      s = map_put(&axes, shape_key(n->row_shape), (uintptr_t)n->row_axes);
  }
  for (int32_t k = 0; k < f->order.n && s == DAMO_OK; k++) { /* positions are in rows of one axis */
    const fusion_node *n = &f->nodes[k];
    if (n->kind == FUSION_PLACE || (n->kind == FUSION_FOLD && position_operand(n->node) >= 0))
      s = map_put(&axes, shape_key(n->shape), UINT32_C(1) << (space_rank(n->space) - 1));
  }
  for (int32_t k = 0; k < f->order.n; k++) {
    fusion_node *n = &f->nodes[k];
    uintptr_t chosen = 0;
    if (n->row_axes == 0) continue;
    if (!map_get(&axes, shape_key(n->row_shape), &chosen) || (uint32_t)chosen != n->row_axes) n->row_axes = 0;
  }
  map_clear(&axes);
  return s;
}

/* ---- Units ------------------------------------------------------------------------------------------------------- */

static int32_t fusion_root(const fusion *f, int32_t k) {
  while (f->nodes[k].unit != k) k = f->nodes[k].unit = f->nodes[f->nodes[k].unit].unit;
  return k;
}

typedef void (*fusion_edge_fn)(fusion *f, int32_t from, int32_t to, void *data);

/* Calls fn for each edge that leads into the node. */
static void fusion_edges_in(fusion *f, int32_t k, fusion_edge_fn fn, void *data) {
  const damo_apply *node = f->nodes[k].node;
  for (int i = 0; i < node->n_in; i++) {
    const int32_t from = fusion_place(f, node->in[i]->owner);
    if (from >= 0) fn(f, from, k, data);
  }
}

/* The same for each edge that leads to its users. */
static void fusion_edges_out(fusion *f, int32_t k, fusion_edge_fn fn, void *data) {
  const damo_apply *node = f->nodes[k].node;
  for (int o = 0; o < node->n_out; o++) {
    const fg_clients *c = fgraph_clients(f->fg, node->out[o]);
    for (int32_t i = 0; c != NULL && i < c->n; i++) {
      const int32_t user = fusion_place(f, c->at[i].node);
      if (user >= 0) fn(f, k, user, data);
    }
  }
}

static void edge_joins(fusion *f, int32_t from, int32_t to, void *data) {
  (void)data;
  if (!is_joint(f, from, to)) return;
  const int32_t a = fusion_root(f, from), b = fusion_root(f, to);
  if (a != b) f->nodes[a > b ? a : b].unit = a > b ? b : a;
}

static void edge_splits(fusion *f, int32_t from, int32_t to, void *data) {
  const int32_t a = fusion_root(f, from);
  (void)data;
  if (a == fusion_root(f, to) && !is_joint(f, from, to)) f->nodes[a].splits = true;
}

/* The nodes of each unit as a list that begins with the one that stands for it. */
static void fusion_list_units(fusion *f) {
  for (int32_t k = 0; k < f->order.n; k++) f->nodes[k].more = -1;
  for (int32_t k = (int32_t)f->order.n - 1; k >= 0; k--) {
    const int32_t root = fusion_root(f, k);
    f->nodes[k].unit = root;
    if (root == k) continue;
    f->nodes[k].more = f->nodes[root].more;
    f->nodes[root].more = k;
  }
}

#define UNIT_DONE INT32_MIN

/* Which end of an edge waits for the other: users for what they read, or the other way round. */
typedef struct unit_walk {
  bool backwards;
} unit_walk;

static void edge_counts(fusion *f, int32_t from, int32_t to, void *data) {
  const unit_walk *w = data;
  const int32_t a = f->nodes[from].unit, b = f->nodes[to].unit, waits = w->backwards ? a : b;
  if (a != b && f->nodes[a].edges != UNIT_DONE && f->nodes[b].edges != UNIT_DONE) f->nodes[waits].edges++;
}

static void edge_frees(fusion *f, int32_t from, int32_t to, void *data) {
  const unit_walk *w = data;
  const int32_t a = f->nodes[from].unit, b = f->nodes[to].unit, waits = w->backwards ? a : b;
  if (a == b || f->nodes[waits].edges == UNIT_DONE) return;
  if (--f->nodes[waits].edges == 0) f->units[f->n_units++] = waits;
}

/* Takes units that wait for none away, one after the other, into f->units; those on a cycle, and behind one, are left. */
static void fusion_order_units(fusion *f, bool backwards) {
  unit_walk w = {backwards};
  f->n_units = 0;
  for (int32_t k = 0; k < f->order.n; k++) {
    if (f->nodes[k].unit == k && f->nodes[k].edges != UNIT_DONE) f->nodes[k].edges = 0;
  }
  for (int32_t k = 0; k < f->order.n; k++) fusion_edges_in(f, k, edge_counts, &w);
  for (int32_t k = 0; k < f->order.n; k++) {
    if (f->nodes[k].unit == k && f->nodes[k].edges == 0) f->units[f->n_units++] = k;
  }
  for (int32_t i = 0; i < f->n_units; i++) {
    const int32_t unit = f->units[i];
    f->nodes[unit].edges = UNIT_DONE;
    for (int32_t k = unit; k >= 0; k = f->nodes[k].more)
      (backwards ? fusion_edges_in : fusion_edges_out)(f, k, edge_frees, &w);
  }
}

/* Takes the units that are to be split apart. */
static void fusion_split(fusion *f) {
  for (int32_t k = (int32_t)f->order.n - 1; k >= 0; k--) {
    if (f->nodes[f->nodes[k].unit].splits) f->nodes[k].unit = k;
  }
}

/* Marks units of several nodes on cycles: those of the lowest ranks if there are others, since they are the cheapest.
 * Returns whether there are any. */
static bool fusion_mark_cycles(fusion *f) {
  int least = INT32_MAX, most = -1;
  for (int32_t k = 0; k < f->order.n; k++) f->nodes[k].edges = 0;
  fusion_list_units(f);
  fusion_order_units(f, false);
  fusion_order_units(f, true);
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t k = 0; k < f->order.n; k++) {
      fusion_node *n = &f->nodes[k];
      const int rank = space_rank(n->space);
      if (n->unit != k || n->more < 0 || n->edges == UNIT_DONE) continue;
      if (pass == 1 && (least == most || rank < most)) n->splits = true;
      least = rank < least ? rank : least;
      most = rank > most ? rank : most;
    }
  }
  return most >= 0;
}

/* Nodes that joint edges connect are one unit, unless another edge connects two of them, or a path that leads out of it
 * and back: then its nodes are units of their own. */
static void fusion_units(fusion *f) {
  for (int32_t k = 0; k < f->order.n; k++) f->nodes[k].unit = k;
  for (int32_t k = 0; k < f->order.n; k++) fusion_edges_in(f, k, edge_joins, NULL);
  for (int32_t k = 0; k < f->order.n; k++) fusion_edges_in(f, k, edge_splits, NULL);
  for (int32_t k = 0; k < f->order.n; k++) f->nodes[k].unit = fusion_root(f, k);
  fusion_split(f);
  while (fusion_mark_cycles(f)) fusion_split(f);
  for (int32_t k = 0; k < f->order.n; k++) f->nodes[k].edges = 0;
  fusion_order_units(f, false);
}

/* ---- Groups ------------------------------------------------------------------------------------------------------ */

static void edge_raises(fusion *f, int32_t from, int32_t to, void *data) {
  (void)data;
  fusion_node *a = &f->nodes[f->nodes[from].unit], *b = &f->nodes[f->nodes[to].unit];
  const int32_t least = a->level + !is_joint(f, from, to);
  if (a != b && b->level < least) b->level = least;
}

static void edge_limits(fusion *f, int32_t from, int32_t to, void *data) {
  int32_t *most = data;
  const fusion_node *a = &f->nodes[f->nodes[from].unit], *b = &f->nodes[f->nodes[to].unit];
  const int32_t level = b->level - !is_joint(f, from, to);
  if (a != b && level < *most) *most = level;
}

/* Levels: first as early as operands allow, then as late as users allow. */
static void fusion_levels(fusion *f) {
  for (int32_t i = 0; i < f->n_units; i++) {
    for (int32_t k = f->units[i]; k >= 0; k = f->nodes[k].more) fusion_edges_in(f, k, edge_raises, NULL);
  }
  for (int32_t i = f->n_units - 1; i >= 0; i--) {
    int32_t most = INT32_MAX;
    for (int32_t k = f->units[i]; k >= 0; k = f->nodes[k].more) fusion_edges_out(f, k, edge_limits, &most);
    if (most != INT32_MAX) f->nodes[f->units[i]].level = most;
  }
  for (int32_t k = 0; k < f->order.n; k++) f->nodes[k].level = f->nodes[f->nodes[k].unit].level;
}

static int32_t fusion_group_of(fusion *f, int32_t k) {
  damo_assert(k >= 0 && k < f->order.n && f->nodes[k].group <= k); /* the first node stands for its group */
  while (f->nodes[k].group != k) k = f->nodes[k].group = f->nodes[f->nodes[k].group].group;
  return k;
}

static void fusion_groups(fusion *f) {
  for (int32_t k = 0; k < f->order.n; k++) {
    for (int i = 0; i < f->nodes[k].node->n_in; i++) {
      const int32_t from = fusion_place(f, f->nodes[k].node->in[i]->owner);
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

damo_status fusion_find_groups(fusion *f, damo_fgraph *fg) {
  damo_ctx *ctx = fg->obj.ctx;
  *f = (fusion){.fg = fg, .pass = ++ctx->walks};
  ptrvec_init(&f->order, ctx);
  map_init(&f->shapes, ctx);
  DAMO_TRY(fusion_nodes(f));
  DAMO_TRY(fusion_shapes(f));
  fusion_find_rows(f);
  DAMO_TRY(fusion_choose_rows(f));
  fusion_units(f);
  fusion_levels(f);
  fusion_groups(f);
  return DAMO_OK;
}

void fusion_clear(fusion *f) {
  damo_ctx *ctx = f->fg->obj.ctx;
  if (f->nodes != NULL) mem_free(ctx, f->nodes, (size_t)f->order.n * sizeof *f->nodes);
  if (f->units != NULL) mem_free(ctx, f->units, (size_t)f->order.n * sizeof *f->units);
  if (f->same != NULL) mem_free(ctx, f->same, (size_t)f->most_shapes * sizeof *f->same);
  map_clear(&f->shapes);
  ptrvec_clear(&f->order);
}

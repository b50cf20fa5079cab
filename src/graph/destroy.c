/* destroy.c: the order in which nodes must run if some overwrite their inputs, and the cases that have none.
 *
 * Values that may share memory (a view and its base) form a group, kept in a union-find forest. A group has at most one
 * destroyer, which runs after every other node that reads a member: these constraints are edges beside the data
 * dependencies, and the order is a depth-first topological sort over both. No member of a destroyed group may be a
 * constant, a protected input, or an output of the graph. The destroyer's output is a new value, which is not in the
 * group. A graph's regions (region.h) take part in the order: each has an entry, which must come after the conditions
 * that decide the region and before its nodes.
 */
#include "graph_int.h"
#include "region.h"

typedef struct destroy_scan {
  const damo_fgraph *fg;
  const destroy_rules *rules;
  ptrvec nodes;  /* in fgraph_toposort_plain's order */
  map group;     /* union-find forest: damo_var* → its parent; roots are absent */
  map destroyer; /* root of a group → the group's destroyer */
  ptrvec found;  /* destroyers and the inputs they destroy, as alternate entries: node, input number */
} destroy_scan;

/* ---- Groups ------------------------------------------------------------------------------------------------------ */

static damo_var *root_of(const destroy_scan *d, damo_var *v) {
  for (damo_var *up = map_get_ptr(&d->group, v); up != NULL; up = map_get_ptr(&d->group, v)) v = up;
  return v;
}

/* Joins the groups of a and b; a's root stays the root. Shortens the path of a. */
static damo_status unite(destroy_scan *d, damo_var *a, damo_var *b) {
  damo_var *x = root_of(d, a), *y = root_of(d, b);
  if (x == y) return DAMO_OK;
  if (a != x) DAMO_TRY(map_put(&d->group, a, (uintptr_t)x));
  return map_put(&d->group, y, (uintptr_t)x);
}

static damo_status find_destroyers(destroy_scan *d) {
  for (int64_t k = 0; k < d->nodes.n; k++) {
    damo_apply *node = d->nodes.at[k];
    for (const op_alias *a = node->op->destroy_map; a != NULL && a->out >= 0; a++) {
      if (a->in >= node->n_in) continue;
      DAMO_TRY(ptrvec_push(&d->found, node));
      DAMO_TRY(ptrvec_push(&d->found, (void *)(intptr_t)a->in));
    }
  }
  return DAMO_OK;
}

static damo_status find_groups(destroy_scan *d) {
  for (int64_t k = 0; k < d->nodes.n; k++) {
    damo_apply *node = d->nodes.at[k];
    for (const op_alias *a = node->op->view_map; a != NULL && a->out >= 0; a++) {
      if (a->out < node->n_out && a->in < node->n_in) DAMO_TRY(unite(d, node->in[a->in], node->out[a->out]));
    }
  }
  return DAMO_OK;
}

/* ---- Offences ---------------------------------------------------------------------------------------------------- */

static damo_status offend(const destroy_scan *d, destroy_offence *at, damo_apply *node, int in, const char *why,
                          damo_var *v) {
  char op[160], name[160];
  if (at != NULL) *at = (destroy_offence){node, in};
  var_format(op, sizeof op, node->out[0]);
  ctx_fail(d->fg->obj.ctx, DAMO_EINCONSISTENCY, "%s destroys its input %d, %s, which %s", op, in + 1,
           var_format(name, sizeof name, v), why);
  ctx_fail_at(d->fg->obj.ctx, node->op->def->name, node);
  return DAMO_EINCONSISTENCY;
}

static const char *why_protected(const destroy_scan *d, const damo_var *v) {
  if (v->owner != NULL) return NULL;
  if (v->kind == VAR_CONSTANT) return "is, or views, a constant";
  if (v->kind == VAR_SHARED && d->rules->protect_shared) return "is, or views, a shared value";
  if (v->indestructible) return "is, or views, an indestructible input";
  bool asked = d->rules->is_protected != NULL && d->rules->is_protected(d->rules->user, v);
  return asked ? "is, or views, an indestructible input" : NULL;
}

/* Enters the node as the one destroyer of its input's group. An error if the group has one already, or if the node
 * reads the group through another input too. */
static damo_status claim(destroy_scan *d, destroy_offence *at, damo_apply *node, int in) {
  damo_var *root = root_of(d, node->in[in]);
  damo_apply *other = map_get_ptr(&d->destroyer, root);
  if (other != NULL) return offend(d, at, node, in, "another node destroys too", node->in[in]);
  for (int i = 0; i < node->n_in; i++) {
    if (i != in && root_of(d, node->in[i]) == root) {
      return offend(d, at, node, in, "it reads as another input too", node->in[in]);
    }
  }
  return map_put(&d->destroyer, root, (uintptr_t)node);
}

static int input_destroyed(const destroy_scan *d, const damo_apply *node, const damo_var *root) {
  for (const op_alias *a = node->op->destroy_map; a != NULL && a->out >= 0; a++) {
    if (a->in < node->n_in && root_of(d, node->in[a->in]) == root) return a->in;
  }
  return 0;
}

/* If v may not be overwritten (why: the reason, NULL if it may), its group must have no destroyer. */
static damo_status check_kept(destroy_scan *d, destroy_offence *at, damo_var *v, const char *why) {
  damo_var *root = root_of(d, v);
  damo_apply *node = why != NULL ? map_get_ptr(&d->destroyer, root) : NULL;
  return node != NULL ? offend(d, at, node, input_destroyed(d, node, root), why, v) : DAMO_OK;
}

static damo_status check_groups(destroy_scan *d, destroy_offence *at) {
  for (int64_t i = 0; i < d->found.n; i += 2) {
    DAMO_TRY(claim(d, at, d->found.at[i], (int)(intptr_t)d->found.at[i + 1]));
  }
  for (int64_t k = 0; k < d->nodes.n; k++) {
    const damo_apply *node = d->nodes.at[k];
    for (int i = 0; i < node->n_in; i++) DAMO_TRY(check_kept(d, at, node->in[i], why_protected(d, node->in[i])));
  }
  for (int64_t i = 0; i < d->fg->outputs.n; i++) {
    DAMO_TRY(check_kept(d, at, d->fg->outputs.at[i], "is, or is viewed by, an output of the graph"));
  }
  return DAMO_OK;
}

/* ---- Order ------------------------------------------------------------------------------------------------------- */

/* For each node or entry of a region the list of those that must come before it, beside its inputs: head maps the later
 * one to 1 + the index of the list's first entry in `before`, and next[i] is 1 + the index of the entry that follows
 * entry i. */
typedef struct order_edges {
  map head;
  ptrvec before;
  ptrvec next; /* 1 + index, 0: the last */
} order_edges;

static damo_status add_edge(order_edges *e, void *before, void *after) {
  uintptr_t first = 0;
  map_get(&e->head, after, &first);
  if (first != 0 && e->before.at[first - 1] == before) return DAMO_OK;
  DAMO_TRY(ptrvec_push(&e->before, before));
  DAMO_TRY(ptrvec_push(&e->next, (void *)first));
  return map_put(&e->head, after, (uintptr_t)e->before.n);
}

/* Adds an edge from every reader of a destroyed group to its destroyer. */
static damo_status find_reader_edges(destroy_scan *d, order_edges *e) {
  if (d->destroyer.n == 0) return DAMO_OK;
  for (int64_t k = 0; k < d->nodes.n; k++) {
    damo_apply *node = d->nodes.at[k];
    for (int i = 0; i < node->n_in; i++) {
      damo_apply *last = map_get_ptr(&d->destroyer, root_of(d, node->in[i]));
      if (last != NULL && last != node) DAMO_TRY(add_edge(e, node, last));
    }
  }
  return DAMO_OK;
}

/* Adds edges to each region's entry from the conditions of its guards and from the regions of their choosers, and from
 * the entry to the region's nodes. */
static damo_status find_region_edges(const destroy_scan *d, const region_map *m, order_edges *e) {
  for (int32_t r = 0; r < region_count(m); r++) {
    for (int32_t i = 0; i < region_n_guards(m, r); i++) {
      const region_guard *g = region_guard_at(m, r, i);
      damo_apply *condition = g->chooser->in[0]->owner;
      if (condition != NULL && fgraph_has_node(d->fg, condition)) DAMO_TRY(add_edge(e, condition, region_entry(r)));
      if (g->region != REGION_NONE) DAMO_TRY(add_edge(e, region_entry(g->region), region_entry(r)));
    }
  }
  for (int64_t k = 0; k < d->nodes.n; k++) {
    const int32_t r = region_of(m, d->nodes.at[k]);
    if (r != REGION_NONE) DAMO_TRY(add_edge(e, region_entry(r), d->nodes.at[k]));
  }
  return DAMO_OK;
}

/* Depth-first topological sort. A stack entry is a node (or a region's entry, which has no inputs), the input to visit
 * next, and the edge to visit after the inputs. */
typedef struct order_walk {
  const destroy_scan *d;
  const order_edges *e;
  ptrvec stack; /* it, next input, next edge */
  map state;    /* 1: on the stack, 2: done */
  ptrvec *out;
} order_walk;

static damo_status order_enter(order_walk *w, void *node) {
  uintptr_t first = 0;
  map_get(&w->e->head, node, &first);
  DAMO_TRY(map_put(&w->state, node, 1));
  DAMO_TRY(ptrvec_push(&w->stack, node));
  DAMO_TRY(ptrvec_push(&w->stack, NULL));
  return ptrvec_push(&w->stack, (void *)first);
}

/* The next node or region's entry that must precede the one on top of the stack; NULL when all have been visited. */
static void *order_next(order_walk *w) {
  void **top = &w->stack.at[w->stack.n - 3];
  const damo_apply *node = top[0];
  intptr_t i = (intptr_t)top[1];
  while (!region_is_entry(node) && i < node->n_in) {
    damo_apply *owner = node->in[i++]->owner;
    top[1] = (void *)i;
    if (owner != NULL && fgraph_has_node(w->d->fg, owner)) return owner;
  }
  uintptr_t place = (uintptr_t)top[2];
  if (place == 0) return NULL;
  top[2] = w->e->next.at[place - 1];
  return w->e->before.at[place - 1];
}

/* The number of an input that `node` destroys and `reader` reads, directly or through a view; -1: none. */
static int destroyed_under(const destroy_scan *d, const damo_apply *node, const damo_apply *reader) {
  for (const op_alias *a = node->op->destroy_map; a != NULL && a->out >= 0; a++) {
    if (a->in >= node->n_in) continue;
    for (int i = 0; i < reader->n_in; i++) {
      if (root_of(d, reader->in[i]) == root_of(d, node->in[a->in])) return a->in;
    }
  }
  return -1;
}

/* The walk met `again`, which is on its stack: a cycle from there to the top. Each entry waits for the one above it.
 * Names the destroyer in the cycle that waits for a reader which in turn depends on the destroyer's result. */
static damo_status cycle(const order_walk *w, destroy_offence *at, const void *again) {
  bool inside = false;
  for (int64_t i = 0; i < w->stack.n; i += 3) {
    damo_apply *node = w->stack.at[i];
    const damo_apply *reader = i + 3 < w->stack.n ? w->stack.at[i + 3] : again;
    inside = inside || node == again;
    if (!inside || region_is_entry(node) || region_is_entry(reader)) continue;
    int in = destroyed_under(w->d, node, reader);
    if (in < 0) continue;
    return offend(w->d, at, node, in, "a node that needs its result still reads", node->in[in]);
  }
  return ctx_fail(w->d->fg->obj.ctx, DAMO_EINCONSISTENCY, "the graph has a cycle");
}

static damo_status order_from(order_walk *w, destroy_offence *at, void *start) {
  uintptr_t state = 0;
  if (map_get(&w->state, start, &state)) return DAMO_OK;
  DAMO_TRY(order_enter(w, start));
  while (w->stack.n > 0) {
    void *next = order_next(w);
    if (next == NULL) {
      w->stack.n -= 3;
      void *node = w->stack.at[w->stack.n];
      DAMO_TRY(map_put(&w->state, node, 2));
      DAMO_TRY(ptrvec_push(w->out, node));
      continue;
    }
    state = 0;
    map_get(&w->state, next, &state);
    if (state == 1) return cycle(w, at, next);
    if (state == 0) DAMO_TRY(order_enter(w, next));
  }
  return DAMO_OK;
}

static damo_status sort_nodes(destroy_scan *d, const order_edges *e, destroy_offence *at, ptrvec *out) {
  order_walk w = {.d = d, .e = e, .out = out};
  ptrvec_init(&w.stack, d->fg->obj.ctx);
  map_init(&w.state, d->fg->obj.ctx);
  damo_status s = DAMO_OK;
  for (int64_t k = 0; k < d->nodes.n && s == DAMO_OK; k++) s = order_from(&w, at, d->nodes.at[k]);
  ptrvec_clear(&w.stack);
  map_clear(&w.state);
  return s;
}

static damo_status order_nodes(destroy_scan *d, destroy_offence *at, ptrvec *out) {
  damo_ctx *ctx = d->fg->obj.ctx;
  order_edges e;
  map_init(&e.head, ctx);
  ptrvec_init(&e.before, ctx);
  ptrvec_init(&e.next, ctx);
  damo_status s = find_reader_edges(d, &e);
  if (s == DAMO_OK && d->rules->regions != NULL) s = find_region_edges(d, d->rules->regions, &e);
  if (s == DAMO_OK) s = sort_nodes(d, &e, at, out);
  map_clear(&e.head);
  ptrvec_clear(&e.before);
  ptrvec_clear(&e.next);
  return s;
}

damo_status destroy_order(const damo_fgraph *fg, const destroy_rules *rules, destroy_offence *at, ptrvec *out) {
  static const destroy_rules none = {.protect_shared = false};
  damo_ctx *ctx = fg->obj.ctx;
  destroy_scan d = {.fg = fg, .rules = rules != NULL ? rules : &none};
  if (at != NULL) *at = (destroy_offence){NULL, -1};
  ptrvec_init(&d.nodes, ctx);
  ptrvec_init(&d.found, ctx);
  map_init(&d.group, ctx);
  map_init(&d.destroyer, ctx);
  damo_status s = fgraph_toposort_plain(fg, &d.nodes);
  if (s == DAMO_OK) s = find_destroyers(&d);
  if (s == DAMO_OK && d.found.n > 0) s = find_groups(&d);
  if (s == DAMO_OK && d.found.n > 0) s = check_groups(&d, at);
  const region_map *regions = d.rules->regions;
  if (s == DAMO_OK && regions != NULL) s = region_map_find(d.rules->regions, fg, &d.nodes);
  if (s == DAMO_OK && (d.found.n > 0 || (regions != NULL && region_count(regions) > 0))) {
    s = order_nodes(&d, at, out);
  } else if (s == DAMO_OK) {
    for (int64_t k = 0; k < d.nodes.n && s == DAMO_OK; k++) s = ptrvec_push(out, d.nodes.at[k]);
  }
  damo_assert(s != DAMO_OK || out->n >= d.nodes.n);
  map_clear(&d.group);
  map_clear(&d.destroyer);
  ptrvec_clear(&d.nodes);
  ptrvec_clear(&d.found);
  return s;
}

/* ---- The feature ------------------------------------------------------------------------------------------------- */

typedef struct destroy_handler {
  fg_feature feature;
  damo_ctx *ctx;
  destroy_rules rules;
} destroy_handler;

static damo_status handler_validate(damo_fgraph *fg, void *user) {
  const destroy_handler *h = user;
  ptrvec order;
  ptrvec_init(&order, fg->obj.ctx);
  damo_status s = destroy_order(fg, &h->rules, NULL, &order);
  ptrvec_clear(&order);
  return s;
}

static damo_status handler_order(const damo_fgraph *fg, void *user, ptrvec *out) {
  const destroy_handler *h = user;
  return destroy_order(fg, &h->rules, NULL, out);
}

fg_feature *destroy_handler_new(damo_ctx *ctx, const destroy_rules *rules) {
  destroy_handler *h = mem_calloc(ctx, sizeof *h);
  if (h == NULL) return NULL;
  h->ctx = ctx;
  if (rules != NULL) h->rules = *rules;
  h->feature = (fg_feature){.name = "DestroyHandler",
                            .on_attach = handler_validate,
                            .validate = handler_validate,
                            .order = handler_order,
                            .user = h};
  return &h->feature;
}

void destroy_handler_free(fg_feature *feature) {
  if (feature == NULL) return;
  destroy_handler *h = feature->user;
  mem_free(h->ctx, h, sizeof *h);
}

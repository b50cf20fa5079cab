/* overwrite.c: see overwrite.h. */
#include "overwrite.h"

#include <stdlib.h>
#include <string.h>

/* An entry of a linked list. */
typedef struct node_entry {
  int32_t node; /* or, among what a node destroys, a Variable */
  int32_t next; /* number of an entry, -1: the last */
} node_entry;

/* One Variable. The fields but `up` are those of the group, at the Variable that stands for it. */
typedef struct group_var {
  int32_t up;
  int32_t destroyer;   /* node, -1: none */
  int32_t first, last; /* entries: nodes that read a member */
  bool kept;
} group_var;

struct overwrite {
  const damo_fgraph *fg;
  ptrvec nodes; /* by number */
  map number;   /* damo_apply*, damo_var* → 1 + number */
  int32_t n, n_vars, n_entries;
  group_var *vars;
  node_entry *entries;
  int32_t *destroys;    /* per node: first entry of the list of what it destroys, -1 */
  uint64_t *label;      /* per node: ascends in the order kept */
  int32_t *prev, *next; /* per node: its neighbours in that order; n stands for both ends */
  int32_t *seen;        /* per node: the search that has visited it last */
  int32_t *found;       /* the nodes that a search has found, then those of a second one; n each */
  int32_t search;
  int64_t entries_cap;
  int64_t visits; /* overwrite_visits */
};

static int32_t node_number(const overwrite *w, const damo_apply *node) {
  uintptr_t number = 0;
  map_get(&w->number, node, &number);
  return (int32_t)number - 1;
}

static int32_t group_of_number(const overwrite *w, int32_t i) {
  while (w->vars[i].up != i) i = w->vars[i].up = w->vars[w->vars[i].up].up;
  return i;
}

/* The number of the Variable that stands for v's group. */
static int32_t group_root(const overwrite *w, const damo_var *v) {
  uintptr_t number = 0;
  map_get(&w->number, v, &number);
  damo_assert(number > 0);
  return group_of_number(w, (int32_t)number - 1);
}

/* Puts x before the list that begins with entry `first`; returns the list's first entry then. Space is reserved. */
static int32_t entry_add(overwrite *w, int32_t x, int32_t first) {
  damo_assert(w->n_entries < w->entries_cap);
  w->entries[w->n_entries] = (node_entry){x, first};
  return w->n_entries++;
}

static void group_join(overwrite *w, int32_t a, int32_t b) {
  if (a == b) return;
  group_var *x = &w->vars[a], *y = &w->vars[b];
  y->up = a;
  x->kept = x->kept || y->kept;
  if (x->destroyer < 0) x->destroyer = y->destroyer;
  if (y->first < 0) return;
  if (x->first < 0) {
    x->first = y->first;
  } else {
    w->entries[x->last].next = y->first;
  }
  x->last = y->last;
}

static void join_views(overwrite *w, const damo_apply *node) {
  for (const op_alias *a = node->op->view_map; a != NULL && a->out >= 0; a++) {
    if (a->out < node->n_out && a->in < node->n_in)
      group_join(w, group_root(w, node->in[a->in]), group_root(w, node->out[a->out]));
  }
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

static damo_status overwrite_var(overwrite *w, const damo_var *v) {
  return map_get(&w->number, v, NULL) ? DAMO_OK : map_put(&w->number, v, (uintptr_t)++w->n_vars);
}

static damo_status overwrite_number(overwrite *w, int64_t *n_uses) {
  for (int64_t k = 0; k < w->nodes.n; k++) {
    const damo_apply *node = w->nodes.at[k];
    *n_uses += (int64_t)node->n_in;
    DAMO_TRY(map_put(&w->number, node, (uintptr_t)k + 1));
    for (int i = 0; i < node->n_in; i++) DAMO_TRY(overwrite_var(w, node->in[i]));
    for (int o = 0; o < node->n_out; o++) DAMO_TRY(overwrite_var(w, node->out[o]));
  }
  for (int64_t i = 0; i < w->fg->outputs.n; i++) DAMO_TRY(overwrite_var(w, w->fg->outputs.at[i]));
  return DAMO_OK;
}

#define LABEL_GAP ((uint64_t)1 << 32)

static size_t numbers_bytes(const overwrite *w) { return ((size_t)w->n * 6 + 2) * sizeof(int32_t); }

static damo_status overwrite_alloc(overwrite *w, int64_t n_uses) {
  damo_ctx *ctx = w->fg->obj.ctx;
  w->n = (int32_t)w->nodes.n;
  w->entries_cap = 2 * n_uses; /* each use once as a reader, at most once as a destroyer */
  w->vars = mem_alloc(ctx, (size_t)w->n_vars * sizeof *w->vars);
  w->entries = mem_alloc(ctx, (size_t)w->entries_cap * sizeof *w->entries);
  w->destroys = mem_alloc(ctx, numbers_bytes(w));
  w->label = mem_alloc(ctx, (size_t)w->n * sizeof *w->label);
  if (w->vars == NULL || w->entries == NULL || w->destroys == NULL || w->label == NULL) return DAMO_EMEMORY;
  w->seen = w->destroys + w->n;
  w->found = w->seen + w->n;
  w->prev = w->found + 2 * w->n;
  w->next = w->prev + w->n + 1;
  for (int32_t i = 0; i < w->n_vars; i++) w->vars[i] = (group_var){i, -1, -1, -1, false};
  for (int32_t k = 0; k <= w->n; k++) {
    w->prev[k] = k > 0 ? k - 1 : w->n;
    w->next[k] = k < w->n ? k + 1 : 0;
  }
  for (int32_t k = 0; k < w->n; k++) {
    w->destroys[k] = -1;
    w->label[k] = ((uint64_t)k + 1) * LABEL_GAP;
    w->seen[k] = 0;
  }
  return DAMO_OK;
}

static void keep_if_leaf(overwrite *w, const damo_var *v) {
  if (v->owner == NULL && (!v->given_away || v->indestructible)) w->vars[group_root(w, v)].kept = true;
}

static void note_destroyer(overwrite *w, int32_t k, int32_t root) {
  w->vars[root].destroyer = k;
  w->destroys[k] = entry_add(w, root, w->destroys[k]);
}

static void overwrite_fill(overwrite *w, bool (*own_view)(const damo_apply *node)) {
  for (int32_t k = 0; k < w->n; k++) {
    const damo_apply *node = w->nodes.at[k];
    for (int i = 0; i < node->n_in; i++) {
      group_var *g = &w->vars[group_root(w, node->in[i])];
      g->first = entry_add(w, k, g->first);
      if (g->last < 0) g->last = g->first;
      keep_if_leaf(w, node->in[i]);
    }
    if (own_view == NULL || !own_view(node)) join_views(w, node);
  }
  for (int64_t i = 0; i < w->fg->outputs.n; i++) w->vars[group_root(w, w->fg->outputs.at[i])].kept = true;
  for (int32_t k = 0; k < w->n; k++) {
    const damo_apply *node = w->nodes.at[k];
    for (const op_alias *a = node->op->destroy_map; a != NULL && a->out >= 0; a++) {
      if (a->in < node->n_in) w->vars[group_root(w, node->in[a->in])].kept = true;
    }
  }
}

overwrite *overwrite_new(const damo_fgraph *fg, bool (*own_view)(const damo_apply *node)) {
  damo_ctx *ctx = fg->obj.ctx;
  overwrite *w = mem_calloc(ctx, sizeof *w);
  if (w == NULL) return NULL;
  w->fg = fg;
  ptrvec_init(&w->nodes, ctx);
  map_init(&w->number, ctx);
  int64_t n_uses = 0;
  damo_status s = fgraph_toposort_plain(fg, &w->nodes);
  if (s == DAMO_OK) s = overwrite_number(w, &n_uses);
  if (s == DAMO_OK) s = overwrite_alloc(w, n_uses);
  if (s == DAMO_OK) {
    overwrite_fill(w, own_view);
    return w;
  }
  overwrite_free(w);
  return NULL;
}

void overwrite_free(overwrite *w) {
  if (w == NULL) return;
  damo_ctx *ctx = w->fg->obj.ctx;
  mem_free(ctx, w->vars, (size_t)w->n_vars * sizeof *w->vars);
  mem_free(ctx, w->entries, (size_t)w->entries_cap * sizeof *w->entries);
  mem_free(ctx, w->destroys, numbers_bytes(w));
  mem_free(ctx, w->label, (size_t)w->n * sizeof *w->label);
  map_clear(&w->number);
  ptrvec_clear(&w->nodes);
  mem_free(ctx, w, sizeof *w);
}

int64_t overwrite_n_nodes(const overwrite *w) { return w->nodes.n; }
damo_apply *overwrite_node(const overwrite *w, int64_t i) { return w->nodes.at[i]; }

damo_status overwrite_settle(overwrite *w, int64_t i, damo_apply *now) {
  const damo_apply *former = w->nodes.at[i];
  if (now != former) {
    DAMO_TRY(map_put(&w->number, now, (uintptr_t)i + 1));
    for (int o = 0; o < now->n_out; o++) {
      uintptr_t number = 0;
      map_get(&w->number, former->out[o], &number);
      DAMO_TRY(map_put(&w->number, now->out[o], number));
    }
    w->nodes.at[i] = now;
  }
  join_views(w, now);
  return DAMO_OK;
}

/* ---- Searches ---------------------------------------------------------------------------------------------------- */

/* One of two searches that take turns, forward from a candidate and backward from the readers. */
typedef struct order_search {
  overwrite *w;
  int32_t *found;
  int32_t n, done; /* found: n nodes, of which `done` have been looked at */
  int32_t mark;    /* in `seen`, of what this search has found */
  uint64_t limit;  /* the label beyond which nothing is visited */
  bool forward;
  bool met; /* a node that the other search has found: the readers depend on the candidate */
} order_search;

static void search_visit(order_search *q, int32_t k) {
  overwrite *w = q->w;
  const int32_t other = q->mark ^ 1;
  w->visits++;
  if (q->forward ? w->label[k] > q->limit : w->label[k] < q->limit) return;
  q->met = q->met || w->seen[k] == other;
  if (w->seen[k] == q->mark) return;
  w->seen[k] = q->mark;
  q->found[q->n++] = k;
}

/* Visits what comes after the node: the readers of its results, and destroyers of what it reads. */
static void search_after(order_search *q, const damo_apply *node) {
  overwrite *w = q->w;
  for (int o = 0; o < node->n_out; o++) {
    const fg_clients *c = fgraph_clients(w->fg, node->out[o]);
    for (int32_t i = 0; c != NULL && i < c->n; i++) {
      if (c->at[i].node != NULL) search_visit(q, node_number(w, c->at[i].node));
    }
  }
  for (int i = 0; i < node->n_in; i++) {
    const int32_t destroyer = w->vars[group_root(w, node->in[i])].destroyer;
    if (destroyer >= 0) search_visit(q, destroyer);
  }
}

/* Visits what comes before node k. */
static void search_before(order_search *q, const damo_apply *node, int32_t k) {
  overwrite *w = q->w;
  for (int i = 0; i < node->n_in; i++) {
    const damo_apply *owner = node->in[i]->owner;
    const int32_t maker = owner != NULL ? node_number(w, owner) : -1;
    if (maker >= 0) search_visit(q, maker);
  }
  for (int32_t e = w->destroys[k]; e >= 0; e = w->entries[e].next) {
    const group_var *g = &w->vars[group_of_number(w, w->entries[e].node)];
    for (int32_t r = g->first; r >= 0; r = w->entries[r].next) search_visit(q, w->entries[r].node);
  }
}

/* Looks at one more node; false if there is none. */
static bool search_step(order_search *q) {
  if (q->done == q->n) return false;
  const int32_t k = q->found[q->done++];
  const damo_apply *node = q->w->nodes.at[k];
  if (q->forward) {
    search_after(q, node);
  } else {
    search_before(q, node, k);
  }
  return true;
}

/* ---- The order --------------------------------------------------------------------------------------------------- */

static void sort_by_label(const overwrite *w, int32_t *nodes, int32_t n) {
  for (int32_t gap = n / 2; gap > 0; gap /= 2) { /* Shell's sort: most lists have a few nodes */
    for (int32_t i = gap; i < n; i++) {
      const int32_t k = nodes[i];
      int32_t j = i;
      for (; j >= gap && w->label[nodes[j - gap]] > w->label[k]; j -= gap) nodes[j] = nodes[j - gap];
      nodes[j] = k;
    }
  }
}

static void link_nodes(overwrite *w, int32_t a, int32_t b) {
  w->next[a] = b;
  w->prev[b] = a;
}

static void relabel(overwrite *w) {
  w->visits += w->n;
  uint64_t label = LABEL_GAP;
  for (int32_t k = w->next[w->n]; k != w->n; k = w->next[k], label += LABEL_GAP) w->label[k] = label;
}

/* Moves the nodes that the search has found, in their order, to the place before node k. */
static void move_before(overwrite *w, const order_search *q, int32_t k) {
  sort_by_label(w, q->found, q->n);
  for (int32_t i = 0; i < q->n; i++) link_nodes(w, w->prev[q->found[i]], w->next[q->found[i]]);
  int32_t last = w->prev[k];
  const uint64_t from = last != w->n ? w->label[last] : 0;
  const uint64_t end = LABEL_GAP * ((uint64_t)q->n + 1), most = UINT64_MAX - end;
  const uint64_t to = k != w->n ? w->label[k] : from < most ? from + end : UINT64_MAX;
  const uint64_t step = (to - from) / ((uint64_t)q->n + 1);
  for (int32_t i = 0; i < q->n; i++) {
    w->label[q->found[i]] = from + ((uint64_t)i + 1) * step;
    link_nodes(w, last, q->found[i]);
    last = q->found[i];
  }
  link_nodes(w, last, k);
  if (step == 0) relabel(w);
}

/* ---- Candidates -------------------------------------------------------------------------------------------------- */

/* Whether the group has no other destroyer, may have one, and is read by the node through this input alone. */
static bool group_is_free(const overwrite *w, const damo_apply *node, int in, int32_t root) {
  if (w->vars[root].kept || w->vars[root].destroyer >= 0) return false;
  for (int i = 0; i < node->n_in; i++) {
    if (i != in && group_root(w, node->in[i]) == root) return false;
  }
  return true;
}

/* Brings every reader of the group before k, if none of them depends on k: moves either what the readers depend on in
 * front of k, or what depends on k behind the last reader, whichever takes the shorter search. */
static bool put_last(overwrite *w, int32_t k, const group_var *g) {
  int32_t last = k;
  for (int32_t r = g->first; r >= 0; r = w->entries[r].next) {
    const int32_t reader = w->entries[r].node;
    w->visits++;
    if (w->label[reader] > w->label[last]) last = reader;
  }
  if (last == k) return true;
  w->search += 2;
  order_search after = {.w = w, .found = w->found, .mark = w->search, .limit = w->label[last], .forward = true};
  order_search before = {.w = w, .found = w->found + w->n, .mark = w->search ^ 1, .limit = w->label[k]};
  search_visit(&after, k);
  for (int32_t r = g->first; r >= 0; r = w->entries[r].next) {
    if (w->entries[r].node != k) search_visit(&before, w->entries[r].node);
  }
  for (;;) {
    if (!search_step(&after)) {
      if (!after.met) move_before(w, &after, w->next[last]);
      return !after.met;
    }
    if (!search_step(&before)) {
      if (!before.met) move_before(w, &before, k);
      return !before.met;
    }
    if (after.met || before.met) return false;
  }
}

int64_t overwrite_visits(const overwrite *w) { return w->visits; }

bool overwrite_try(overwrite *w, const damo_apply *node, int in) {
  const int32_t k = node_number(w, node), root = group_root(w, node->in[in]);
  damo_assert(k >= 0);
  if (!group_is_free(w, node, in, root) || !put_last(w, k, &w->vars[root])) return false;
  note_destroyer(w, k, root);
  return true;
}

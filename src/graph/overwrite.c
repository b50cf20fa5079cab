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
  int32_t *destroys; /* per node: first entry of the list of what it destroys, -1 */
  int32_t *place;    /* per node, in the order kept */
  int32_t *at;       /* the nodes in that order */
  int32_t *seen;     /* per node: the search that has visited it last */
  int32_t *found;    /* the nodes that a search has found, then those of a second one; n each */
  int32_t *merged;   /* 2 n, for move_before */
  int32_t search;
  int64_t entries_cap;
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

static size_t numbers_bytes(const overwrite *w) { return (size_t)w->n * 8 * sizeof(int32_t); }

static damo_status overwrite_alloc(overwrite *w, int64_t n_uses) {
  damo_ctx *ctx = w->fg->obj.ctx;
  w->n = (int32_t)w->nodes.n;
  w->entries_cap = 2 * n_uses; /* each use once as a reader, at most once as a destroyer */
  w->vars = mem_alloc(ctx, (size_t)w->n_vars * sizeof *w->vars);
  w->entries = mem_alloc(ctx, (size_t)w->entries_cap * sizeof *w->entries);
  w->destroys = mem_alloc(ctx, numbers_bytes(w));
  if (w->vars == NULL || w->entries == NULL || w->destroys == NULL) return DAMO_EMEMORY;
  w->place = w->destroys + w->n;
  w->at = w->place + w->n;
  w->seen = w->at + w->n;
  w->found = w->seen + w->n;
  w->merged = w->found + 2 * w->n;
  for (int32_t i = 0; i < w->n_vars; i++) w->vars[i] = (group_var){i, -1, -1, -1, false};
  for (int32_t k = 0; k < w->n; k++) {
    w->destroys[k] = -1;
    w->place[k] = w->at[k] = k;
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

typedef struct order_search {
  overwrite *w;
  int32_t *found;
  int32_t n, limit; /* found: n nodes; the place beyond which nothing is visited */
} order_search;

static void search_visit(order_search *q, int32_t k, bool forward) {
  overwrite *w = q->w;
  if (w->seen[k] == w->search || (forward ? w->place[k] > q->limit : w->place[k] < q->limit)) return;
  w->seen[k] = w->search;
  q->found[q->n++] = k;
}

/* The nodes that come after those found, through results and as destroyers of what these read. */
static void search_forward(order_search *q) {
  overwrite *w = q->w;
  for (int32_t j = 0; j < q->n; j++) {
    const damo_apply *node = w->nodes.at[q->found[j]];
    for (int o = 0; o < node->n_out; o++) {
      const fg_clients *c = fgraph_clients(w->fg, node->out[o]);
      for (int32_t i = 0; c != NULL && i < c->n; i++) {
        if (c->at[i].node != NULL) search_visit(q, node_number(w, c->at[i].node), true);
      }
    }
    for (int i = 0; i < node->n_in; i++) {
      const int32_t destroyer = w->vars[group_root(w, node->in[i])].destroyer;
      if (destroyer >= 0) search_visit(q, destroyer, true);
    }
  }
}

/* The nodes that come before those found. */
static void search_backward(order_search *q) {
  overwrite *w = q->w;
  for (int32_t j = 0; j < q->n; j++) {
    const damo_apply *node = w->nodes.at[q->found[j]];
    for (int i = 0; i < node->n_in; i++) {
      const damo_apply *owner = node->in[i]->owner;
      const int32_t k = owner != NULL ? node_number(w, owner) : -1;
      if (k >= 0) search_visit(q, k, false);
    }
    for (int32_t e = w->destroys[q->found[j]]; e >= 0; e = w->entries[e].next) {
      const group_var *g = &w->vars[group_of_number(w, w->entries[e].node)];
      for (int32_t r = g->first; r >= 0; r = w->entries[r].next) search_visit(q, w->entries[r].node, false);
    }
  }
}

static int compare_places(const void *x, const void *y) {
  const int32_t a = *(const int32_t *)x, b = *(const int32_t *)y;
  return (a > b) - (a < b);
}

static void sort_by_place(const overwrite *w, int32_t *nodes, int32_t n) {
  for (int32_t i = 1; i < n && n <= 16; i++) {
    const int32_t k = nodes[i];
    int32_t j = i;
    for (; j > 0 && w->place[nodes[j - 1]] > w->place[k]; j--) nodes[j] = nodes[j - 1];
    nodes[j] = k;
  }
  if (n <= 16) return;
  for (int32_t i = 0; i < n; i++) nodes[i] = w->place[nodes[i]];
  qsort(nodes, (size_t)n, sizeof *nodes, compare_places);
  for (int32_t i = 0; i < n; i++) nodes[i] = w->at[nodes[i]];
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

/* Moves what comes before the readers found, back to k, in front of k and what comes after it. after, before: the nodes
 * found by the two searches. The places that all of them have are given out anew. */
static void move_before(overwrite *w, order_search *before, order_search *after) {
  int32_t i = 0, j = 0, n = 0;
  int32_t *merged = w->merged, *places = merged + w->n;
  sort_by_place(w, before->found, before->n);
  sort_by_place(w, after->found, after->n);
  while (i < before->n || j < after->n) {
    const bool first = j == after->n || (i < before->n && w->place[before->found[i]] < w->place[after->found[j]]);
    places[n++] = w->place[first ? before->found[i++] : after->found[j++]];
  }
  memcpy(merged, before->found, (size_t)before->n * sizeof *merged);
  memcpy(merged + before->n, after->found, (size_t)after->n * sizeof *merged);
  for (i = 0; i < n; i++) {
    w->place[merged[i]] = places[i];
    w->at[places[i]] = merged[i];
  }
}

/* Brings every reader of the group before k, if none of them depends on k. */
static bool put_last(overwrite *w, int32_t k, const group_var *g) {
  order_search after = {.w = w, .found = w->found, .limit = w->place[k]};
  for (int32_t r = g->first; r >= 0; r = w->entries[r].next) {
    const int32_t place = w->place[w->entries[r].node];
    if (place > after.limit) after.limit = place;
  }
  if (after.limit == w->place[k]) return true;
  w->search++;
  search_visit(&after, k, true);
  search_forward(&after);
  for (int32_t r = g->first; r >= 0; r = w->entries[r].next) {
    if (w->entries[r].node != k && w->seen[w->entries[r].node] == w->search) return false;
  }
  order_search before = {.w = w, .found = w->found + w->n, .limit = w->place[k]};
  w->search++;
  for (int32_t r = g->first; r >= 0; r = w->entries[r].next) {
    if (w->entries[r].node != k) search_visit(&before, w->entries[r].node, false);
  }
  search_backward(&before);
  move_before(w, &before, &after);
  return true;
}

bool overwrite_try(overwrite *w, const damo_apply *node, int in) {
  const int32_t k = node_number(w, node), root = group_root(w, node->in[in]);
  damo_assert(k >= 0);
  if (!group_is_free(w, node, in, root) || !put_last(w, k, &w->vars[root])) return false;
  note_destroyer(w, k, root);
  return true;
}

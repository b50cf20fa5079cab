/* scan_draft.c: the parts of a loop and the Variables that fn has made become a Scan's class and node.
 *
 * What the results read is of three kinds: Variables that stand for inner inputs; Variables of outside, older than the
 * draft's mark, which become fixed values as they are, so that nothing above them is computed in the loop; and the rest,
 * which is copied into the inner graph. Shared Variables that the copied part updates (default updates, scans inside)
 * become states.
 */
#include <string.h>

#include "scan_int.h"

/* ---- Parts ------------------------------------------------------------------------------------------------------- */

void scan_draft_init(scan_draft *d, build *b) {
  *d = (scan_draft){.b = b};
  ptrvec_init(&d->inner, b->ctx);
}

void scan_draft_clear(scan_draft *d) {
  damo_ctx *ctx = d->b->ctx;
  mem_free(ctx, d->part, (size_t)d->parts_cap * sizeof *d->part);
  mem_free(ctx, d->tap, (size_t)d->taps_cap * sizeof *d->tap);
  ptrvec_clear(&d->inner);
  d->part = NULL;
  d->tap = NULL;
  d->parts_cap = d->taps_cap = d->n_parts = 0;
}

static damo_status draft_grow(damo_ctx *ctx, void *at, int32_t *cap, int64_t need, size_t size) {
  void *list;
  memcpy(&list, at, sizeof list);
  if (need <= *cap) return DAMO_OK;
  const int32_t more = (int32_t)(2 * need + 8);
  void *grown = mem_realloc(ctx, list, (size_t)*cap * size, (size_t)more * size);
  if (grown == NULL) return DAMO_EMEMORY;
  memcpy(at, &grown, sizeof grown);
  *cap = more;
  return DAMO_OK;
}

static scan_part *scan_part_add(scan_draft *d, scan_role role, damo_var *outer, int n, const int32_t *taps,
                                damo_var *const *inner) {
  damo_ctx *ctx = d->b->ctx;
  if (d->b->status != DAMO_OK) return NULL;
  damo_status s = draft_grow(ctx, &d->part, &d->parts_cap, d->n_parts + 1, sizeof *d->part);
  if (s == DAMO_OK) s = draft_grow(ctx, &d->tap, &d->taps_cap, d->inner.n + n, sizeof *d->tap);
  if (s == DAMO_OK) s = ptrvec_reserve(&d->inner, d->inner.n + n);
  if (s != DAMO_OK) {
    d->b->status = s;
    return NULL;
  }
  scan_part *p = &d->part[d->n_parts++];
  *p = (scan_part){
      .role = role, .first = (int32_t)d->inner.n, .n = n, .out = -1, .stack = -1, .last = -1, .outer = outer};
  for (int i = 0; i < n; i++) {
    d->tap[d->inner.n] = taps != NULL ? taps[i] : 0;
    d->inner.at[d->inner.n++] = inner[i];
  }
  return p;
}

scan_part *scan_draft_sequence(scan_draft *d, damo_var *outer, int n_taps, const int32_t *taps,
                               damo_var *const *inner) {
  scan_part *p = scan_part_add(d, SCAN_SEQUENCE, outer, n_taps, taps, inner);
  int32_t least = 0, most = 0;
  for (int i = 0; p != NULL && i < n_taps; i++) {
    if (taps[i] < least) least = taps[i];
    if (taps[i] > most) most = taps[i];
  }
  if (p == NULL) return NULL;
  p->before = -least;
  p->span = most - least;
  return p;
}

scan_part *scan_draft_state(scan_draft *d, damo_var *initial, int n_taps, const int32_t *taps, damo_var *const *inner,
                            damo_var *next) {
  scan_part *p = scan_part_add(d, SCAN_STATE, initial, n_taps, taps, inner);
  if (p == NULL) return NULL;
  p->next = next;
  for (int i = 0; i < n_taps; i++) {
    if (-taps[i] > p->span) p->span = -taps[i];
  }
  p->bare = p->span == 1;
  if (scan_is_stacked(next->type)) {
    p->stack = 0;
  } else {
    p->last = 0;
  }
  return p;
}

scan_part *scan_draft_fixed(scan_draft *d, damo_var *outer, damo_var *inner) {
  return scan_part_add(d, SCAN_FIXED, outer, 1, NULL, &inner);
}

scan_part *scan_draft_collect(scan_draft *d, damo_var *value) {
  scan_part *p = scan_part_add(d, SCAN_COLLECT, NULL, 0, NULL, NULL);
  if (p == NULL) return NULL;
  p->next = value;
  if (scan_is_stacked(value->type)) {
    p->stack = 0;
  } else {
    p->last = 0;
  }
  return p;
}

/* ---- The parts of another loop ------------------------------------------------------------------------------------ */

scan_part *scan_draft_part(scan_draft *d, const scan_class *s, const scan_part *p, damo_var *outer,
                           damo_var *const *inner, damo_var *next) {
  scan_part *made = NULL;
  switch (p->role) {
    case SCAN_SEQUENCE: made = scan_draft_sequence(d, outer, p->n, s->tap + p->first, inner); break;
    case SCAN_STATE: made = scan_draft_state(d, outer, p->n, s->tap + p->first, inner, next); break;
    case SCAN_FIXED: made = scan_draft_fixed(d, outer, inner[0]); break;
    case SCAN_COLLECT: made = scan_draft_collect(d, next); break;
  }
  if (made == NULL) return NULL;
  made->before = p->before;
  made->span = p->span;
  made->bare = p->bare;
  made->number = p->number;
  made->stack = p->stack;
  made->last = p->last;
  made->tail = p->tail;
  return made;
}

void scan_draft_states(scan_draft *d, const scan_class *s, damo_var *const *in, const bool *needed) {
  damo_var *const *inner = (damo_var *const *)s->fgraph->inputs.at;
  for (int i = 0; i < s->n_seq + s->n_state + s->n_fixed && d->b->status == DAMO_OK; i++) {
    const scan_part *p = &s->part[i];
    damo_var *outer = in[1 + i];
    if (p->role == SCAN_SEQUENCE) scan_draft_sequence(d, outer, p->n, s->tap + p->first, inner + p->first);
    if (p->role == SCAN_FIXED) scan_draft_fixed(d, outer, inner[p->first]);
    if (p->role != SCAN_STATE || (needed != NULL && !needed[i - s->n_seq])) continue;
    scan_part *made = scan_draft_state(d, outer, p->n, s->tap + p->first, inner + p->first, scan_inner_out(s, p->out));
    if (made == NULL) break;
    made->bare = p->bare;
    made->number = p->number;
    made->update = p->update;
    if (p->update) made->last = 0;
  }
}

/* ---- What is of outside ------------------------------------------------------------------------------------------ */

/* The search through what the results read. */
typedef struct draft_search {
  scan_draft *d;
  ptrvec results; /* the inner outputs, then the new values of shared Variables */
  map inside;     /* Variables that stand for inner inputs → 1 */
  map seen, makers;
  ptrvec stops; /* these and the Variables of outside */
  ptrvec stack, leaves, of, to;
} draft_search;

static damo_status draft_results(const scan_draft *d, ptrvec *out) {
  for (int role = SCAN_STATE; role <= SCAN_COLLECT; role++) {
    for (int i = 0; i < d->n_parts; i++) {
      if (d->part[i].role == (scan_role)role && d->part[i].next != NULL) DAMO_TRY(ptrvec_push(out, d->part[i].next));
    }
  }
  return d->until != NULL ? ptrvec_push(out, d->until) : DAMO_OK;
}

/* Results that are no new values of shared Variables come before those that are. */
static int64_t draft_updates_last(const scan_draft *d, ptrvec *results) {
  int64_t n = 0;
  for (int64_t i = 0; i < results->n; i++) {
    bool updates = false;
    for (int k = 0; k < d->n_parts; k++) updates = updates || (d->part[k].update && d->part[k].next == results->at[i]);
    if (updates) continue;
    void *swap = results->at[n];
    results->at[n++] = results->at[i];
    results->at[i] = swap;
  }
  return n;
}

static bool is_outside(const scan_draft *d, const damo_var *v) {
  return v->kind == VAR_PLAIN && (v->owner == NULL || v->id < d->mark);
}

static damo_status refuse_outside(const scan_draft *d, const damo_var *v) {
  char name[160];
  return ctx_fail(d->b->ctx, DAMO_EVALUE, "scan: strict: fn uses %s, which is not among non_sequences",
                  var_format(name, sizeof name, v));
}

static damo_status draft_take_fixed(draft_search *w, damo_var *v) {
  if (w->d->strict && v->type->kind != TYPE_RANDOM) return refuse_outside(w->d, v);
  DAMO_TRY(map_put(&w->inside, v, 1));
  DAMO_TRY(ptrvec_push(&w->stops, v));
  return scan_draft_fixed(w->d, v, v) != NULL ? DAMO_OK : w->d->b->status;
}

/* Takes in the Variables of outside above results [from, end) that it has not seen, and lists the shared ones. The new
 * value of a shared Variable is computed in each step, whenever it was built. */
static damo_status draft_walk(draft_search *w, int64_t from, int64_t end, bool updates) {
  for (int64_t i = from; i < end; i++) DAMO_TRY(ptrvec_push(&w->stack, w->results.at[i]));
  while (w->stack.n > 0) {
    damo_var *v = w->stack.at[--w->stack.n];
    if (map_get(&w->inside, v, NULL) || map_get(&w->seen, v, NULL) || v->kind == VAR_CONSTANT) continue;
    DAMO_TRY(map_put(&w->seen, v, 1));
    if (v->kind == VAR_SHARED) {
      DAMO_TRY(ptrvec_push(&w->leaves, v));
    } else if (v->owner == NULL || (!updates && is_outside(w->d, v))) {
      DAMO_TRY(draft_take_fixed(w, v));
    } else {
      for (int i = v->owner->n_in - 1; i >= 0; i--) DAMO_TRY(ptrvec_push(&w->stack, v->owner->in[i]));
    }
  }
  return DAMO_OK;
}

static damo_status draft_add_update(draft_search *w, damo_var *shared, damo_var *now) {
  static const int32_t before = -1;
  DAMO_TRY(map_put(&w->inside, shared, 1));
  DAMO_TRY(ptrvec_push(&w->stops, shared));
  scan_part *p = scan_draft_state(w->d, shared, 1, &before, &shared, now);
  if (p == NULL) return w->d->b->status;
  p->update = true;
  p->last = 0;
  return ptrvec_push(&w->results, now);
}

static damo_status draft_search_all(draft_search *w) {
  scan_draft *d = w->d;
  for (int64_t i = 0; i < d->inner.n; i++) {
    DAMO_TRY(map_put(&w->inside, d->inner.at[i], 1));
    DAMO_TRY(map_put(&w->makers, d->inner.at[i], UPDATE_BY_SCRIPT));
    DAMO_TRY(ptrvec_push(&w->stops, d->inner.at[i]));
  }
  DAMO_TRY(draft_results(d, &w->results));
  int64_t from = draft_updates_last(d, &w->results);
  DAMO_TRY(draft_walk(w, 0, from, false));
  for (bool first = true; first || from < w->results.n; first = false) {
    DAMO_TRY(draft_walk(w, from, w->results.n, true));
    from = w->results.n;
    w->of.n = w->to.n = 0;
    if (d->no_updates) break;
    DAMO_TRY(graph_find_updates(d->b, (damo_var *const *)w->results.at, w->results.n, (damo_var *const *)w->stops.at,
                                w->stops.n, &w->makers, &w->of, &w->to));
    for (int64_t i = 0; i < w->of.n; i++) DAMO_TRY(draft_add_update(w, w->of.at[i], w->to.at[i]));
  }
  for (int64_t i = 0; i < w->leaves.n; i++) {
    if (!map_get(&w->inside, w->leaves.at[i], NULL)) DAMO_TRY(draft_take_fixed(w, w->leaves.at[i]));
  }
  return DAMO_OK;
}

static damo_status draft_look_outside(scan_draft *d) {
  damo_ctx *ctx = d->b->ctx;
  draft_search w = {.d = d};
  ptrvec *const lists[] = {&w.results, &w.stops, &w.stack, &w.leaves, &w.of, &w.to};
  for (int i = 0; i < 6; i++) ptrvec_init(lists[i], ctx);
  map_init(&w.inside, ctx);
  map_init(&w.seen, ctx);
  map_init(&w.makers, ctx);
  const damo_status s = draft_search_all(&w);
  map_clear(&w.inside);
  map_clear(&w.seen);
  map_clear(&w.makers);
  for (int i = 0; i < 6; i++) ptrvec_clear(lists[i]);
  return s;
}

/* ---- What nothing reads ------------------------------------------------------------------------------------------ */

static damo_status draft_find_used(const scan_draft *d, map *used) {
  damo_ctx *ctx = d->b->ctx;
  ptrvec results, nodes;
  ptrvec_init(&results, ctx);
  ptrvec_init(&nodes, ctx);
  damo_status s = draft_results(d, &results);
  if (s == DAMO_OK)
    s = graph_toposort(ctx, (damo_var *const *)results.at, results.n, (damo_var *const *)d->inner.at, d->inner.n,
                       &nodes);
  for (int64_t i = 0; i < results.n && s == DAMO_OK; i++) s = map_put(used, results.at[i], 1);
  for (int64_t k = 0; k < nodes.n && s == DAMO_OK; k++) {
    const damo_apply *node = nodes.at[k];
    for (int i = 0; i < node->n_in && s == DAMO_OK; i++) s = map_put(used, node->in[i], 1);
  }
  ptrvec_clear(&results);
  ptrvec_clear(&nodes);
  return s;
}

damo_status scan_draft_prune(scan_draft *d) {
  map used;
  map_init(&used, d->b->ctx);
  damo_status s = draft_find_used(d, &used);
  int32_t kept = 0;
  for (int i = 0; i < d->n_parts && s == DAMO_OK; i++) {
    const scan_part *p = &d->part[i];
    bool keep = p->role == SCAN_STATE || p->role == SCAN_COLLECT;
    for (int k = p->first; !keep && k < p->first + p->n; k++) keep = map_get(&used, d->inner.at[k], NULL);
    if (keep) d->part[kept++] = *p;
  }
  if (s == DAMO_OK) d->n_parts = kept;
  map_clear(&used);
  return s;
}

/* ---- The class --------------------------------------------------------------------------------------------------- */

/* Fills the class's parts, sorted by role, with the outputs numbered. order: the draft's number of each. */
static void class_parts(const scan_draft *d, scan_class *s, int32_t *order) {
  int32_t n = 0, in = 0, out = 0, node_out = 0;
  int32_t *const counts[] = {&s->n_seq, &s->n_state, &s->n_fixed, &s->n_collect};
  for (int role = SCAN_SEQUENCE; role <= SCAN_COLLECT; role++) {
    for (int i = 0; i < d->n_parts; i++) {
      const scan_part *from = &d->part[i];
      if (from->role != (scan_role)role) continue;
      scan_part *p = &s->part[n];
      *p = *from;
      order[n++] = i;
      ++*counts[role];
      p->first = in;
      for (int k = 0; k < p->n; k++) s->tap[in++] = d->tap[from->first + k];
      p->outer = p->next = NULL;
      if (from->next != NULL) p->out = out++;
      if (p->stack >= 0) p->stack = node_out++;
    }
  }
  for (int i = 0; i < n; i++) {
    if (s->part[i].last >= 0) s->part[i].last = node_out++;
  }
  s->n_in = in;
  s->n_out = node_out + (s->until ? 1 : 0);
}

damo_status scan_set_updates(scan_class *s) {
  damo_ctx *ctx = s->obj.ctx;
  int32_t n = 0;
  for (int i = 0; i < s->n_state; i++) n += scan_state_at(s, i)->update;
  s->updates = mem_alloc(ctx, (size_t)(n + 1) * sizeof *s->updates);
  if (s->updates == NULL) return DAMO_EMEMORY;
  s->n_updates = 0;
  for (int i = 0; i < s->n_state; i++) {
    const scan_part *p = scan_state_at(s, i);
    if (p->update && p->last >= 0) s->updates[s->n_updates++] = (op_alias){p->last, scan_in(s, p)};
  }
  damo_assert(s->n_updates <= n);
  s->updates[s->n_updates] = (op_alias){-1, -1};
  s->n_updates = n; /* the size of the list */
  return DAMO_OK;
}

static damo_status draft_fill_memo(const scan_draft *d, const scan_class *s, const int32_t *order, map *memo,
                                   ptrvec *fresh) {
  for (int i = 0; i < s->n_parts; i++) {
    const scan_part *from = &d->part[order[i]];
    for (int k = 0; k < from->n; k++) {
      damo_var *v = d->inner.at[from->first + k];
      damo_var *inner = var_new(d->b->ctx, v->type, v->name);
      if (inner == NULL) return DAMO_EMEMORY;
      const damo_status status = ptrvec_push(fresh, inner);
      if (status != DAMO_OK) {
        damo_release(inner);
        return status;
      }
      DAMO_TRY(map_put(memo, v, (uintptr_t)inner));
    }
  }
  return DAMO_OK;
}

/* Copies the graph of the results over fresh inputs. */
static damo_status class_graph(const scan_draft *d, scan_class *s, const int32_t *order) {
  damo_ctx *ctx = d->b->ctx;
  map memo;
  ptrvec fresh, results, copies;
  map_init(&memo, ctx);
  ptrvec_init(&fresh, ctx);
  ptrvec_init(&results, ctx);
  ptrvec_init(&copies, ctx);
  damo_status status = draft_fill_memo(d, s, order, &memo, &fresh);
  if (status == DAMO_OK) status = draft_results(d, &results);
  if (status == DAMO_OK) status = ptrvec_reserve(&copies, results.n);
  if (status == DAMO_OK) {
    status = graph_clone(ctx, (damo_var *const *)results.at, results.n, &memo, true, NULL, (damo_var **)copies.at);
    copies.n = status == DAMO_OK ? results.n : 0;
  }
  if (status == DAMO_OK) {
    s->fgraph =
        fgraph_new(ctx, (damo_var *const *)fresh.at, fresh.n, (damo_var *const *)copies.at, copies.n, false, NULL);
    status = s->fgraph != NULL ? inner_freeze(s->fgraph) : damo_error_status(ctx);
  }
  map_clear(&memo);
  ptrvec_release_all(&fresh);
  ptrvec_release_all(&copies);
  ptrvec_clear(&results);
  return status;
}

static damo_status class_fill(const scan_draft *d, scan_class *s, int32_t *order) {
  damo_ctx *ctx = d->b->ctx;
  s->n_parts = d->n_parts;
  s->n_taps = (int32_t)d->inner.n;
  s->part = mem_calloc(ctx, (size_t)s->n_parts * sizeof *s->part);
  s->tap = s->part != NULL ? mem_calloc(ctx, (size_t)s->n_taps * sizeof *s->tap) : NULL;
  if (s->tap == NULL) return DAMO_EMEMORY;
  s->until = d->until != NULL;
  s->flipped = d->flipped;
  s->derived = d->derived;
  s->hands_back = d->hands_back;
  s->truncate = d->truncate;
  s->checkpoint = d->checkpoint;
  s->progress = d->progress;
  s->user = d->user;
  class_parts(d, s, order);
  DAMO_TRY(mem_copy_text(ctx, d->name, &s->name));
  DAMO_TRY(mem_copy_text(ctx, d->mode, &s->mode));
  DAMO_TRY(scan_set_updates(s));
  return class_graph(d, s, order);
}

/* Puts the parts of the class back into the draft, with their Variables. */
static void draft_take_parts(scan_draft *d, const scan_class *s, const int32_t *order, scan_part *sorted) {
  for (int i = 0; i < s->n_parts; i++) {
    sorted[i] = s->part[i];
    sorted[i].outer = d->part[order[i]].outer;
    sorted[i].next = d->part[order[i]].next;
    sorted[i].update = d->part[order[i]].update;
  }
  memcpy(d->part, sorted, (size_t)s->n_parts * sizeof *sorted);
}

static damo_apply *draft_apply(scan_draft *d, damo_op *take_op) {
  damo_ctx *ctx = d->b->ctx;
  const scan_class *s = scan_at(take_op);
  const int n = 1 + s->n_seq + s->n_state + s->n_fixed;
  damo_var **in = mem_alloc(ctx, (size_t)n * sizeof *in);
  if (in == NULL) {
    damo_release(take_op);
    d->b->status = DAMO_EMEMORY;
    return NULL;
  }
  in[0] = d->n_steps;
  for (int i = 1; i < n; i++) in[i] = d->part[i - 1].outer;
  damo_apply *node = build_apply(d->b, take_op, in, n);
  mem_free(ctx, in, (size_t)n * sizeof *in);
  return node;
}

static damo_op *draft_class(scan_draft *d) {
  damo_ctx *ctx = d->b->ctx;
  const size_t bytes = (size_t)d->n_parts * (sizeof(int32_t) + sizeof(scan_part));
  scan_part *sorted = mem_alloc(ctx, bytes);
  scan_class *s = sorted != NULL ? obj_new(ctx, OBJ_SCAN, sizeof *s) : NULL;
  damo_op *op = NULL;
  if (s != NULL) {
    int32_t *order = (int32_t *)(sorted + d->n_parts);
    const damo_status status = class_fill(d, s, order);
    if (status == DAMO_OK) {
      draft_take_parts(d, s, order, sorted);
      op = scan_op_of(s);
    } else {
      damo_release(s);
    }
  }
  if (sorted != NULL) mem_free(ctx, sorted, bytes);
  if (op == NULL && d->b->status == DAMO_OK) d->b->status = damo_error_status(ctx);
  return op;
}

damo_op *scan_draft_op(scan_draft *d) {
  if (d->b->status != DAMO_OK) return NULL;
  damo_status s = draft_look_outside(d);
  if (s != DAMO_OK && d->b->status == DAMO_OK) d->b->status = s;
  return d->b->status == DAMO_OK ? draft_class(d) : NULL;
}

damo_apply *scan_draft_node(scan_draft *d) {
  damo_op *op = scan_draft_op(d);
  return op != NULL ? draft_apply(d, op) : NULL;
}

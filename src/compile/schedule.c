/* schedule.c: finds an order of nodes in which few bytes live at one time.
 *
 * The best order is NP-hard to find. Candidates are the given order; a depth-first order that visits first what needs
 * the most memory beyond its result (Sethi and Ullman, 1970: the best order of a tree); a greedy one that runs what lets
 * memory grow least; the same greedy from the end backwards. For at most 64 nodes a search by levels follows: the states
 * of level i are sets of i nodes that can have run, of which those with the least peak are kept (all of them for small
 * graphs: the search is then exact, up to the number kept).
 */
#include "schedule.h"

#include <string.h>

#define GREEDY_MOST 512 /* nodes: a greedy order costs n times the number of nodes that could run */
#define SEARCH_MOST 64
#define SEARCH_SMALL 12        /* up to so many nodes … */
#define SEARCH_SMALL_WIDTH 128 /* … so many states a level are kept */
#define SEARCH_WIDTH 32
/* An order must need less than this part of the given one: sizes are estimates, and the given order keeps a value near
 * its reader. */
#define WORTH 0.97

typedef struct sched_work {
  const sched_problem *p;
  sched_lists after; /* per node: nodes that must run after it */
  int32_t *order, *best;
  int32_t *left;    /* per value */
  int32_t *waiting; /* per node: nodes that must run before it */
  int32_t *ready;
  double *need, *result; /* per node: memory up to its result; bytes of the result */
  uint8_t *state;
} sched_work;

#define EACH(i, lists, k)       \
  int32_t i = (lists).first[k]; \
  i < (lists).first[(k) + 1];   \
  i++

static void count_readers(const sched_problem *p, int32_t *left) {
  memset(left, 0, (size_t)p->n_values * sizeof *left);
  for (int32_t i = 0; i < p->read.first[p->n]; i++) left[p->read.at[i]]++;
}

double schedule_peak(const sched_problem *p, const int32_t *order, int32_t *left) {
  double live = 0, peak = 0;
  count_readers(p, left);
  for (int32_t j = 0; j < p->n; j++) {
    const int32_t k = order[j];
    for (EACH(i, p->made, k)) live += p->bytes[p->made.at[i]];
    if (live > peak) peak = live;
    for (EACH(i, p->read, k)) {
      const int32_t v = p->read.at[i];
      if (--left[v] == 0 && !p->kept[v]) live -= p->bytes[v];
    }
    for (EACH(i, p->made, k)) {
      const int32_t v = p->made.at[i];
      if (left[v] == 0 && !p->kept[v]) live -= p->bytes[v];
    }
  }
  return peak;
}

static void keep_better(sched_work *w, double *least) {
  const double peak = schedule_peak(w->p, w->order, w->left);
  if (peak >= *least) return;
  *least = peak;
  memcpy(w->best, w->order, (size_t)w->p->n * sizeof *w->best);
}

/* ---- Depth first ------------------------------------------------------------------------------------------------- */

/* Sorts the nodes before k: those that need most beyond their result come first. Insertion sort: there are few. */
static void sort_before(sched_work *w, int32_t k) {
  const sched_lists *b = &w->p->before;
  for (int32_t i = b->first[k] + 1; i < b->first[k + 1]; i++) {
    const int32_t it = b->at[i];
    int32_t j = i;
    for (; j > b->first[k] && w->need[b->at[j - 1]] - w->result[b->at[j - 1]] < w->need[it] - w->result[it]; j--)
      b->at[j] = b->at[j - 1];
    b->at[j] = it;
  }
}

/* As if the graph were a tree. given: an order, from which each node's predecessors are known. */
static void estimate_needs(sched_work *w, const int32_t *given) {
  const sched_problem *p = w->p;
  for (int32_t j = 0; j < p->n; j++) {
    const int32_t k = given[j];
    double held = 0, need = 0;
    w->result[k] = 0;
    for (EACH(i, p->made, k)) w->result[k] += p->bytes[p->made.at[i]];
    sort_before(w, k);
    for (EACH(i, p->before, k)) {
      const int32_t b = p->before.at[i];
      if (held + w->need[b] > need) need = held + w->need[b];
      held += w->result[b];
    }
    w->need[k] = held + w->result[k] > need ? held + w->result[k] : need;
  }
}

/* state: 0 not seen, 1 entered, 2 listed. The stack is in `ready`, the next predecessor in `waiting`. */
static void depth_first(sched_work *w, const int32_t *starts) {
  const sched_problem *p = w->p;
  int32_t n = 0;
  memset(w->state, 0, (size_t)p->n);
  for (int32_t j = 0; j < p->n; j++) {
    int32_t height = 0;
    if (w->state[starts[j]] == 0) w->ready[height++] = starts[j];
    if (height > 0) w->waiting[starts[j]] = p->before.first[starts[j]], w->state[starts[j]] = 1;
    while (height > 0) {
      const int32_t k = w->ready[height - 1];
      if (w->waiting[k] == p->before.first[k + 1]) {
        w->order[n++] = k;
        height--;
        continue;
      }
      const int32_t b = p->before.at[w->waiting[k]++];
      if (w->state[b] != 0) continue;
      w->state[b] = 1;
      w->waiting[b] = p->before.first[b];
      w->ready[height++] = b;
    }
  }
}

/* The nodes that nothing comes after, in the given order, each with all it needs. */
static void depth_first_from_ends(sched_work *w, const int32_t *given) {
  int32_t *ends = w->best; /* not in use yet */
  int32_t n = 0;
  for (int32_t j = 0; j < w->p->n; j++) {
    if (w->after.first[given[j]] == w->after.first[given[j] + 1]) ends[n++] = given[j];
  }
  for (int32_t j = 0; j < w->p->n; j++) {
    if (w->after.first[given[j]] != w->after.first[given[j] + 1]) ends[n++] = given[j];
  }
  damo_assert(n == w->p->n);
  estimate_needs(w, given);
  depth_first(w, ends);
}

/* ---- Greedy ------------------------------------------------------------------------------------------------------ */

/* By how much the live bytes grow if k runs next. */
static double growth_of(const sched_work *w, int32_t k) {
  const sched_problem *p = w->p;
  double growth = 0;
  for (EACH(i, p->made, k)) {
    const int32_t v = p->made.at[i];
    if (p->kept[v] || w->left[v] > 0) growth += p->bytes[v];
  }
  for (EACH(i, p->read, k)) {
    const int32_t v = p->read.at[i];
    if (w->left[v] == 1 && !p->kept[v]) growth -= p->bytes[v];
  }
  return growth;
}

/* The same from the end: if k is put before all that are listed. left: 1 for a value that lives there. */
static double growth_back(const sched_work *w, int32_t k) {
  const sched_problem *p = w->p;
  double growth = 0;
  for (EACH(i, p->made, k)) growth -= w->left[p->made.at[i]] ? p->bytes[p->made.at[i]] : 0;
  for (EACH(i, p->read, k)) growth += w->left[p->read.at[i]] ? 0 : p->bytes[p->read.at[i]];
  return growth;
}

static void begin_waiting(sched_work *w, const sched_lists *before, const int32_t *given, bool back, int32_t *n_ready) {
  *n_ready = 0;
  for (int32_t j = 0; j < w->p->n; j++) {
    const int32_t k = given[back ? w->p->n - 1 - j : j];
    w->waiting[k] = before->first[k + 1] - before->first[k];
    if (w->waiting[k] == 0) w->ready[(*n_ready)++] = k;
  }
}

static void greedy(sched_work *w, const int32_t *given, bool back) {
  const sched_problem *p = w->p;
  const sched_lists *before = back ? &w->after : &p->before, *after = back ? &p->before : &w->after;
  int32_t n_ready;
  begin_waiting(w, before, given, back, &n_ready);
  count_readers(p, w->left);
  for (int32_t v = 0; back && v < p->n_values; v++) w->left[v] = p->kept[v];
  for (int32_t j = 0; j < p->n; j++) {
    int32_t at = n_ready - 1; /* of equals the one that could run last: it reads what has just been made */
    double least = back ? growth_back(w, w->ready[at]) : growth_of(w, w->ready[at]);
    for (int32_t i = n_ready - 2; i >= 0; i--) {
      const double growth = back ? growth_back(w, w->ready[i]) : growth_of(w, w->ready[i]);
      if (growth < least) least = growth, at = i;
    }
    const int32_t k = w->ready[at];
    for (int32_t i = at; i + 1 < n_ready; i++) w->ready[i] = w->ready[i + 1];
    n_ready--;
    w->order[back ? p->n - 1 - j : j] = k;
    for (EACH(i, p->made, k)) w->left[p->made.at[i]] -= back ? w->left[p->made.at[i]] : 0;
    for (EACH(i, p->read, k)) w->left[p->read.at[i]] = back ? 1 : w->left[p->read.at[i]] - 1;
    for (EACH(i, *after, k)) {
      if (--w->waiting[after->at[i]] == 0) w->ready[n_ready++] = after->at[i];
    }
  }
}

/* ---- Search by levels -------------------------------------------------------------------------------------------- */

typedef struct sched_state {
  uint64_t done;
  double live, peak;
  int32_t from; /* number of the state before it in its level */
  int32_t last; /* the node that ran last */
} sched_state;

typedef struct sched_search {
  sched_work *w;
  uint64_t before[SEARCH_MOST]; /* per node */
  uint64_t *readers;            /* per value */
  sched_state *states;          /* width for each level */
  int32_t n[SEARCH_MOST + 1];
  int32_t width;
} sched_search;

/* The state after s if k runs next. */
static sched_state step_of(const sched_search *r, const sched_state *s, int32_t from, int32_t k) {
  const sched_problem *p = r->w->p;
  sched_state t = {s->done | (uint64_t)1 << k, s->live, s->peak, from, k};
  for (EACH(i, p->made, k)) t.live += p->bytes[p->made.at[i]];
  if (t.live > t.peak) t.peak = t.live;
  for (EACH(i, p->read, k)) {
    const int32_t v = p->read.at[i];
    if (!p->kept[v] && (r->readers[v] & ~t.done) == 0) t.live -= p->bytes[v];
  }
  for (EACH(i, p->made, k)) {
    const int32_t v = p->made.at[i];
    if (!p->kept[v] && r->readers[v] == 0) t.live -= p->bytes[v];
  }
  return t;
}

static bool is_better(const sched_state *a, const sched_state *b) {
  return a->peak < b->peak || (a->peak == b->peak && a->live < b->live);
}

/* Adds the state to the level, in place of one of the same set that is worse, or, if the level is full, of the worst. */
static void add_state(sched_search *r, int32_t level, sched_state t) {
  sched_state *s = &r->states[(int64_t)level * r->width];
  int32_t worst = 0;
  for (int32_t i = 0; i < r->n[level]; i++) {
    if (s[i].done == t.done) {
      if (is_better(&t, &s[i])) s[i] = t;
      return;
    }
    if (is_better(&s[worst], &s[i])) worst = i;
  }
  if (r->n[level] < r->width) {
    s[r->n[level]++] = t;
  } else if (is_better(&t, &s[worst])) {
    s[worst] = t;
  }
}

static void search_levels(sched_search *r, double *least) {
  const sched_problem *p = r->w->p;
  r->n[0] = 1;
  r->states[0] = (sched_state){.from = -1, .last = -1};
  for (int32_t level = 0; level < p->n; level++) {
    r->n[level + 1] = 0;
    for (int32_t i = 0; i < r->n[level]; i++) {
      const sched_state *s = &r->states[(int64_t)level * r->width + i];
      for (int32_t k = 0; k < p->n; k++) {
        if ((s->done >> k & 1) != 0 || (r->before[k] & ~s->done) != 0) continue;
        const sched_state t = step_of(r, s, i, k);
        if (t.peak < *least) add_state(r, level + 1, t);
      }
    }
    if (r->n[level + 1] == 0) return; /* nothing is better than what is known */
  }
  const sched_state *s = &r->states[(int64_t)p->n * r->width];
  *least = s->peak;
  for (int32_t level = p->n; level > 0; level--) {
    r->w->best[level - 1] = s->last;
    s = &r->states[(int64_t)(level - 1) * r->width + s->from];
  }
}

static damo_status schedule_search(damo_ctx *ctx, sched_work *w, double *least) {
  const sched_problem *p = w->p;
  sched_search r = {.w = w, .width = p->n <= SEARCH_SMALL ? SEARCH_SMALL_WIDTH : SEARCH_WIDTH};
  const size_t states = (size_t)(p->n + 1) * (size_t)r.width * sizeof *r.states;
  const size_t bytes = states + (size_t)p->n_values * sizeof *r.readers;
  r.states = mem_alloc(ctx, bytes);
  if (r.states == NULL) return DAMO_EMEMORY;
  r.readers = (uint64_t *)((char *)r.states + states);
  memset(r.readers, 0, (size_t)p->n_values * sizeof *r.readers);
  for (int32_t k = 0; k < p->n; k++) {
    for (EACH(i, p->before, k)) r.before[k] |= (uint64_t)1 << p->before.at[i];
    for (EACH(i, p->read, k)) r.readers[p->read.at[i]] |= (uint64_t)1 << k;
  }
  search_levels(&r, least);
  mem_free(ctx, r.states, bytes);
  return DAMO_OK;
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

/* No order needs less: what is kept, and what a node makes and reads. */
static double least_possible(const sched_problem *p) {
  double least = 0;
  for (int32_t v = 0; v < p->n_values; v++) least += p->kept[v] ? p->bytes[v] : 0;
  for (int32_t k = 0; k < p->n; k++) {
    double own = 0;
    for (EACH(i, p->made, k)) own += p->bytes[p->made.at[i]];
    for (EACH(i, p->read, k)) own += p->bytes[p->read.at[i]];
    if (own > least) least = own;
  }
  return least;
}

static void fill_after(sched_work *w) {
  const sched_problem *p = w->p;
  int32_t *first = w->after.first;
  memset(first, 0, (size_t)(p->n + 1) * sizeof *first);
  for (int32_t i = 0; i < p->before.first[p->n]; i++) first[p->before.at[i] + 1]++;
  for (int32_t k = 0; k < p->n; k++) first[k + 1] += first[k];
  memcpy(w->waiting, first, (size_t)p->n * sizeof *first);
  for (int32_t k = 0; k < p->n; k++) {
    for (EACH(i, p->before, k)) w->after.at[w->waiting[p->before.at[i]]++] = k;
  }
}

static damo_status try_orders(damo_ctx *ctx, sched_work *w, int32_t *order) {
  const sched_problem *p = w->p;
  const double given = schedule_peak(p, order, w->left), possible = least_possible(p);
  double least = given * WORTH;
  if (possible >= least) return DAMO_OK;
  fill_after(w);
  depth_first_from_ends(w, order);
  keep_better(w, &least);
  for (int back = 0; back < 2 && p->n <= GREEDY_MOST && least > possible; back++) {
    greedy(w, order, back);
    keep_better(w, &least);
  }
  if (p->n <= SEARCH_MOST && least > possible) DAMO_TRY(schedule_search(ctx, w, &least));
  if (least < given * WORTH) memcpy(order, w->best, (size_t)p->n * sizeof *order);
  return DAMO_OK;
}

damo_status schedule_improve(damo_ctx *ctx, const sched_problem *p, int32_t *order) {
  const size_t n = (size_t)p->n, n_edges = (size_t)p->before.first[p->n];
  const size_t bytes = n * (2 * sizeof(double)) + (5 * n + 1 + n_edges + (size_t)p->n_values) * sizeof(int32_t) + n;
  if (p->n < 3) return DAMO_OK;
  char *block = mem_alloc(ctx, bytes);
  if (block == NULL) return DAMO_EMEMORY;
  sched_work w = {.p = p, .need = (double *)block};
  w.result = w.need + n;
  w.order = (int32_t *)(w.result + n);
  w.best = w.order + n;
  w.waiting = w.best + n;
  w.ready = w.waiting + n;
  w.after.first = w.ready + n;
  w.after.at = w.after.first + n + 1;
  w.left = w.after.at + n_edges;
  w.state = (uint8_t *)(w.left + p->n_values);
  const damo_status s = try_orders(ctx, &w, order);
  mem_free(ctx, block, bytes);
  return s;
}

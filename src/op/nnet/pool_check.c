/* pool_check: plain definitions of pooling. Each window's entries are looked up one by one, in double. */
#include <math.h>

#include "pool.h"

/* The next of the positions below dim; false at the end. */
static bool pool_next_at(int64_t *at, const int64_t *dim, int n) {
  for (int k = n - 1; k >= 0; k--) {
    if (++at[k] < dim[k]) return true;
    at[k] = 0;
  }
  return false;
}

/* Entry t of the window at o of x's plane: its position; false where it lies in the padding. */
static bool pool_entry_at(const pool_window *w, const window_view *x, const int64_t *o, const int64_t *t, int64_t *at) {
  for (int k = 0; k < WINDOW_AXES; k++) {
    at[k] = o[k] * w->stride[k] + t[k] - w->pad[k][0];
    if (at[k] < 0 || at[k] >= x->dim[2 + k]) return false;
  }
  return true;
}

static double pool_apart(double got, double wanted, double terms) {
  if (got == wanted || (isnan(got) && isnan(wanted))) return 0;
  if (!isfinite(got) || !isfinite(wanted)) return INFINITY;
  return fabs(got - wanted) / (terms > 0 ? terms : 1);
}

/* The position of the first largest entry of the window. */
static void pool_first_largest(const pool_window *w, const window_view *x, const int64_t *plane, const int64_t *o,
                               int64_t *found) {
  int64_t t[WINDOW_AXES] = {0}, at[WINDOW_AXES];
  double best = -INFINITY;
  bool any = false;
  do {
    if (!pool_entry_at(w, x, o, t, at)) continue;
    const double v = window_entry(x, plane[0], plane[1], at);
    if (any && !(v > best || (isnan(v) && !isnan(best)))) continue;
    any = true;
    best = v;
    for (int k = 0; k < WINDOW_AXES; k++) found[k] = at[k];
  } while (pool_next_at(t, w->size, WINDOW_AXES));
}

/* MaxPool, and MaxPoolAt, whose first operand is read in place of x. */
static double judge_max_pool(const op_exam *e) {
  const int last = e->node->n_in - 1;
  if (!exam_is_small(e->values[last]) || !exam_is_small(e->results[0])) return -1;
  const pool_window *w = pool_window_of(e->node->op);
  const window_view x = window_view_of(exam_array(e, last)), h = window_view_of(exam_array(e, 0)),
                    y = window_view_of((const damo_array *)e->results[0]);
  int64_t at[2 + WINDOW_AXES] = {0}, found[WINDOW_AXES] = {0};
  double worst = 0;
  for (int k = 0; k < 2 + WINDOW_AXES; k++)
    if (y.dim[k] == 0) return 0;
  do {
    pool_first_largest(w, &x, at, at + 2, found);
    worst = fmax(worst, pool_apart(window_entry(&y, at[0], at[1], at + 2), window_entry(&h, at[0], at[1], found), 0));
  } while (pool_next_at(at, y.dim, 2 + WINDOW_AXES));
  return worst;
}

/* What the cotangent of the window at o adds to x's entry at `at`. */
typedef double (*pool_part)(const pool_window *w, const window_view *x, const window_view *g, const int64_t *plane,
                            const int64_t *o, const int64_t *at);

/* Each entry of the result is the sum over all windows of what they add to it. lengths: x, the plane that the windows
 * slide over. */
static double pool_judge_spread(const op_exam *e, const window_view *x, pool_part part) {
  const pool_window *w = pool_window_of(e->node->op);
  const window_view g = window_view_of(exam_array(e, 0)), dx = window_view_of((const damo_array *)e->results[0]);
  int64_t at[2 + WINDOW_AXES] = {0};
  double worst = 0, windows = 1, entries = 1;
  for (int k = 0; k < 2 + WINDOW_AXES; k++) {
    if (dx.dim[k] == 0) return 0;
    entries *= (double)dx.dim[k];
    if (k >= 2) windows *= (double)g.dim[k];
  }
  if (entries * windows > 1e7) return -1;
  do {
    int64_t o[WINDOW_AXES] = {0};
    double sum = 0, terms = 0;
    do {
      const double v = part(w, x, &g, at, o, at + 2);
      sum += v;
      terms += fabs(v);
    } while (pool_next_at(o, g.dim + 2, WINDOW_AXES));
    worst = fmax(worst, pool_apart(window_entry(&dx, at[0], at[1], at + 2), sum, terms));
  } while (pool_next_at(at, dx.dim, 2 + WINDOW_AXES));
  return worst;
}

/* Whether the window at o has the entry, and how many entries it has. */
static bool pool_holds(const pool_window *w, const window_view *x, const int64_t *o, const int64_t *at, double *count) {
  bool holds = true;
  *count = 1;
  for (int k = 0; k < WINDOW_AXES; k++) {
    const int64_t from = o[k] * w->stride[k] - w->pad[k][0], to = from + w->size[k];
    holds = holds && at[k] >= from && at[k] < to;
    *count *= (double)(w->include_pad ? w->size[k] : (to < x->dim[2 + k] ? to : x->dim[2 + k]) - (from > 0 ? from : 0));
  }
  return holds;
}

static double part_of_max(const pool_window *w, const window_view *x, const window_view *g, const int64_t *plane,
                          const int64_t *o, const int64_t *at) {
  int64_t found[WINDOW_AXES] = {0};
  double count;
  if (!pool_holds(w, x, o, at, &count)) return 0;
  pool_first_largest(w, x, plane, o, found);
  for (int k = 0; k < WINDOW_AXES; k++)
    if (found[k] != at[k]) return 0;
  return window_entry(g, plane[0], plane[1], o);
}

static double part_of_mean(const pool_window *w, const window_view *x, const window_view *g, const int64_t *plane,
                           const int64_t *o, const int64_t *at) {
  double count;
  return pool_holds(w, x, o, at, &count) ? window_entry(g, plane[0], plane[1], o) / count : 0;
}

static double judge_max_pool_grad(const op_exam *e) {
  if (!exam_is_small(e->values[1])) return -1;
  const window_view x = window_view_of(exam_array(e, 1));
  return pool_judge_spread(e, &x, part_of_max);
}

static double judge_avg_pool_grad(const op_exam *e) {
  if (!exam_is_small(e->results[0])) return -1;
  const window_view x = window_view_of((const damo_array *)e->results[0]);
  return pool_judge_spread(e, &x, part_of_mean);
}

static double judge_avg_pool(const op_exam *e) {
  if (!exam_is_small(e->values[0]) || !exam_is_small(e->results[0])) return -1;
  const pool_window *w = pool_window_of(e->node->op);
  const window_view x = window_view_of(exam_array(e, 0)), y = window_view_of((const damo_array *)e->results[0]);
  int64_t o[2 + WINDOW_AXES] = {0}, at[WINDOW_AXES];
  double worst = 0;
  for (int k = 0; k < 2 + WINDOW_AXES; k++)
    if (y.dim[k] == 0) return 0;
  do {
    int64_t t[WINDOW_AXES] = {0};
    double sum = 0, terms = 0, count = 0;
    do {
      const bool inside = pool_entry_at(w, &x, o + 2, t, at);
      if (inside || w->include_pad) count++;
      if (!inside) continue;
      const double v = window_entry(&x, o[0], o[1], at);
      sum += v;
      terms += fabs(v);
    } while (pool_next_at(t, w->size, WINDOW_AXES));
    worst = fmax(worst, pool_apart(window_entry(&y, o[0], o[1], o + 2), sum / count, terms / count));
  } while (pool_next_at(o, y.dim, 2 + WINDOW_AXES));
  return worst;
}

const op_check max_pool_check = {.judge = judge_max_pool, .judged = "an entry is apart from the window's maximum"};
const op_check max_pool_grad_check = {.judge = judge_max_pool_grad,
                                      .judged = "an entry is apart from the cotangents of its windows"};
const op_check avg_pool_check = {.judge = judge_avg_pool, .judged = "an entry is apart from the window's mean"};
const op_check avg_pool_grad_check = {.judge = judge_avg_pool_grad,
                                      .judged = "an entry is apart from the cotangents of its windows"};

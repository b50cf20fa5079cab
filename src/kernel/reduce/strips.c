/* strips: up to REDUCE_STRIP results side by side, along the innermost kept axis. Their elements are read as rows, one
 * for each position of the reduced axes. Row i of a block goes to lane i mod lanes, as element i does in reducer.block,
 * and the strips of lanes, then of blocks, are folded in the same order: the same bits as in sequence.c. */
#include <string.h>

#include "reduce_int.h"

/* A strip of `width` results, whose elements are `stride` bytes apart. */
typedef struct reduce_strip {
  const reduce_plan *plan;
  int64_t stride, width;
  size_t bytes; /* of a row of op's type */
} reduce_strip;

/* The row at p, contiguous and of op's type. */
static const void *reduce_strip_row(const reduce_strip *s, const char *p) {
  const reduce_plan *plan = s->plan;
  const char *row = p;
  if (s->stride != (int64_t)plan->in_size) {
    kernel_copy_strided(p, s->stride, plan->gathered, (int64_t)plan->in_size, s->width, plan->in_size);
    row = plan->gathered;
  }
  if (!plan->cast) return row;
  plan->cast(row, plan->casted, s->width);
  return plan->casted;
}

/* Folds the next m rows into the first lane. */
static void reduce_strip_fold(const reduce_strip *s, reduce_walk *w, int64_t m, const char *shift) {
  const reduce_plan *plan = s->plan;
  const reducer *op = plan->op;
  const int64_t used = m < op->lanes ? m : op->lanes;
  for (int64_t i = 0; i < m; i++) {
    char *lane = plan->lanes + (size_t)(i & (op->lanes - 1)) * s->bytes;
    const void *row = reduce_strip_row(s, w->p);
    if (plan->second_pass) {
      logsumexp_subtract(plan, row, shift, 1, plan->casted, s->width);
      row = plan->casted;
    }
    if (i < used)
      memcpy(lane, row, s->bytes);
    else
      op->rows(lane, row, s->width);
    reduce_walk_advance(w, 1);
  }
  for (int64_t half = op->lanes / 2; half > 0; half /= 2)
    for (int64_t l = 0; l < half && l + half < used; l++)
      op->rows(plan->lanes + (size_t)l * s->bytes, plan->lanes + (size_t)(l + half) * s->bytes, s->width);
}

/* Pushes the first lane to the tree, as reduce_tree_push in sequence.c. */
static void reduce_strip_push(const reduce_strip *s, int64_t count) {
  const reducer *op = s->plan->op;
  char *tree = s->plan->tree, *carry = s->plan->lanes;
  int level = 0;
  for (; count >> level & 1; level++) {
    op->rows(tree + (size_t)level * s->bytes, carry, s->width);
    carry = tree + (size_t)level * s->bytes;
  }
  memcpy(tree + (size_t)level * s->bytes, carry, s->bytes);
}

static const char *reduce_strip_finish(const reduce_strip *s, int64_t count) {
  char *tree = s->plan->tree, *below = NULL;
  for (int level = 0; count >> level != 0; level++) {
    if (!(count >> level & 1)) continue;
    char *here = tree + (size_t)level * s->bytes;
    if (below) s->plan->op->rows(here, below, s->width);
    below = here;
  }
  return below;
}

static void reduce_strip_values(const reduce_strip *s, const char *x, char *out) {
  const reduce_plan *plan = s->plan;
  reduce_walk w = reduce_walk_begin(plan->reduced, plan->n_reduced, x);
  int64_t count = 0;
  for (int64_t done = 0; done < plan->n_per; done += REDUCE_BLOCK, count++) {
    const int64_t m = plan->n_per - done < REDUCE_BLOCK ? plan->n_per - done : REDUCE_BLOCK;
    reduce_strip_fold(s, &w, m, out);
    if (plan->n_per > REDUCE_BLOCK) reduce_strip_push(s, count);
  }
  char *result = plan->lanes;
  if (plan->n_per > REDUCE_BLOCK) memcpy(result, reduce_strip_finish(s, count), s->bytes);
  if (plan->second_pass) logsumexp_finish(plan, out, result, s->width);
  memcpy(out, result, s->bytes);
}

static void reduce_strip_positions(const reduce_strip *s, const char *x, char *out) {
  const reduce_plan *plan = s->plan;
  int64_t *at = (int64_t *)(void *)plan->tree;
  reduce_walk w = reduce_walk_begin(plan->reduced, plan->n_reduced, x);
  for (int64_t i = 0; i < plan->n_per; i++) {
    plan->arg->rows(reduce_strip_row(s, w.p), s->width, i, plan->lanes, at);
    reduce_walk_advance(&w, 1);
  }
  for (int64_t j = 0; j < s->width; j++) at[j]++;
  memcpy(out, at, (size_t)s->width * sizeof *at);
}

void reduce_by_strips(const reduce_plan *plan, const char *x, char *out) {
  const size_t step = plan->arg ? sizeof(int64_t) : plan->op->size;
  const reduce_axis inner = plan->kept[plan->n_kept - 1];
  reduce_walk w = reduce_walk_begin(plan->kept, plan->n_kept, x);
  for (int64_t i = 0; i < plan->n_out;) {
    const int64_t left = inner.n - w.at[w.n - 1], width = left < REDUCE_STRIP ? left : REDUCE_STRIP;
    const reduce_strip s = {plan, inner.stride, width, (size_t)width * plan->op->size};
    if (plan->arg)
      reduce_strip_positions(&s, w.p, out);
    else
      reduce_strip_values(&s, w.p, out);
    reduce_walk_advance(&w, width);
    out += (size_t)width * step;
    i += width;
  }
}

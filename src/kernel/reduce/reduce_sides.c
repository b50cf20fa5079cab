/* reduce_sides: results of a reduction side by side, whose elements come row by row from a loop that computes them. The
 * order of operations is that of reduce.c: row i of a block goes to lane i mod lanes, lanes are folded by halves, blocks
 * in a binary tree. */
#include <string.h>

#include "reduce_int.h"

struct reduce_sides {
  reduce_plan plan; /* op, arg and cast alone */
  int64_t n_per, width, done;
  size_t bytes;       /* of a row of op's type, a lane and a level of the tree */
  char *lanes, *tree; /* for argmax, argmin the best elements, and int64 positions */
  char *casted;
};

static int sides_levels(int64_t n_per) {
  int levels = 1;
  for (int64_t blocks = n_per / REDUCE_BLOCK + 1; blocks > 1; blocks /= 2) levels++;
  return levels;
}

typedef struct sides_layout {
  size_t lanes, tree, casted, bytes;
} sides_layout;

static sides_layout sides_layout_of(const reduce_plan *plan, int64_t width, int64_t n_per) {
  const size_t element = plan->op->size < sizeof(int64_t) ? sizeof(int64_t) : plan->op->size;
  const size_t row = ((size_t)width * element + 63) & ~(size_t)63;
  sides_layout l = {.lanes = (sizeof(reduce_sides) + 63) & ~(size_t)63};
  l.tree = l.lanes + (plan->arg ? 1 : (size_t)plan->op->lanes) * row;
  l.casted = l.tree + (plan->arg ? 1 : (size_t)sides_levels(n_per)) * row;
  l.bytes = l.casted + (plan->cast ? (size_t)plan->op->lanes * row : 0);
  return l;
}

size_t reduce_sides_bytes(reduce_kind kind, damo_dtype in, int64_t width, int64_t n_per) {
  reduce_plan plan;
  reduce_plan_op(&plan, &reduce_fns_base, kind, in);
  return sides_layout_of(&plan, width, n_per).bytes;
}

void reduce_sides_init(reduce_sides *f, const kernel_isa *isa, reduce_kind kind, damo_dtype in, int64_t width,
                       int64_t n_per) {
  reduce_plan_op(&f->plan, isa->reduce, kind, in);
  const sides_layout l = sides_layout_of(&f->plan, width, n_per);
  f->n_per = n_per;
  f->lanes = (char *)f + l.lanes;
  f->tree = (char *)f + l.tree;
  f->casted = (char *)f + l.casted;
}

void reduce_sides_begin(reduce_sides *f, int64_t width) {
  f->width = width;
  f->bytes = (size_t)width * f->plan.op->size;
  f->done = 0;
}

/* Folds the lanes of a block of m rows into the first, and pushes it to the tree as block number `count`. */
static void sides_end_block(reduce_sides *f, int64_t m, int64_t count) {
  const reducer *op = f->plan.op;
  const int64_t used = m < op->lanes ? m : op->lanes;
  for (int64_t half = op->lanes / 2; half > 0; half /= 2)
    for (int64_t l = 0; l < half && l + half < used; l++)
      op->rows(f->lanes + (size_t)l * f->bytes, f->lanes + (size_t)(l + half) * f->bytes, f->width);
  if (f->n_per <= REDUCE_BLOCK) return;
  char *carry = f->lanes;
  int level = 0;
  for (; count >> level & 1; level++) {
    char *here = f->tree + (size_t)level * f->bytes;
    op->rows(here, carry, f->width);
    carry = here;
  }
  memcpy(f->tree + (size_t)level * f->bytes, carry, f->bytes);
}

/* Adds m rows of op's type to the lanes from the one in hand on: all rows of a group of lanes, or a single row. */
static void sides_add_group(reduce_sides *f, const char *rows, int64_t m) {
  const reducer *op = f->plan.op;
  const int64_t at = f->done % REDUCE_BLOCK;
  char *lane = f->lanes + (size_t)(at % op->lanes) * f->bytes;
  if (at < op->lanes)
    memcpy(lane, rows, (size_t)m * f->bytes);
  else
    op->rows(lane, rows, m * f->width);
  f->done += m;
  if (at + m == REDUCE_BLOCK) sides_end_block(f, REDUCE_BLOCK, f->done / REDUCE_BLOCK - 1);
}

void reduce_sides_add(reduce_sides *f, const void *rows, int64_t m) {
  const reduce_plan *plan = &f->plan;
  const int64_t lanes = plan->op->lanes;
  const char *from = rows;
  while (m > 0) {
    const int64_t group = !plan->arg && f->done % lanes == 0 && m >= lanes ? lanes : 1;
    const char *row = from;
    if (plan->cast) {
      plan->cast(from, f->casted, group * f->width);
      row = f->casted;
    }
    if (plan->arg)
      plan->arg->rows(row, f->width, f->done++, f->lanes, (int64_t *)(void *)f->tree);
    else
      sides_add_group(f, row, group);
    from += (size_t)(group * f->width) * plan->in_size;
    m -= group;
  }
}

void reduce_sides_end(reduce_sides *f, void *out) {
  damo_assert(f->done == f->n_per && f->n_per > 0);
  if (f->plan.arg) {
    const int64_t *at = (const int64_t *)(const void *)f->tree;
    int64_t *position = out;
    for (int64_t j = 0; j < f->width; j++) position[j] = at[j] + 1;
    return;
  }
  const int64_t rest = f->done % REDUCE_BLOCK, count = f->done / REDUCE_BLOCK;
  if (rest > 0) sides_end_block(f, rest, count);
  const char *result = f->lanes;
  if (f->n_per > REDUCE_BLOCK) {
    char *below = NULL;
    const int64_t blocks = count + (rest > 0);
    for (int level = 0; blocks >> level != 0; level++) {
      if (!(blocks >> level & 1)) continue;
      char *here = f->tree + (size_t)level * f->bytes;
      if (below) f->plan.op->rows(here, below, f->width);
      below = here;
    }
    result = below;
  }
  memcpy(out, result, f->bytes);
}

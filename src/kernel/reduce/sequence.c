/* sequence: results one at a time. A result's elements come in blocks, in place if they are contiguous and need no
 * conversion, else gathered. Block results are combined in a binary tree (pairwise summation), of which one partial
 * result for each level is stored. */
#include <string.h>

#include "reduce_int.h"

#define TREE_LEVELS 64
#define ELEMENT_MAX 16

/* The next m elements, contiguous and of op's type, or unconverted for squares. */
static const void *reduce_next_block(const reduce_plan *plan, reduce_walk *w, int64_t m) {
  const reduce_axis inner = w->axes[w->n - 1];
  const char *block = w->p;
  if (inner.stride == (int64_t)plan->in_size && inner.n - w->at[w->n - 1] >= m) {
    reduce_walk_advance(w, m);
  } else {
    for (int64_t done = 0; done < m;) {
      const int64_t left = inner.n - w->at[w->n - 1], run = left < m - done ? left : m - done;
      kernel_copy_strided(w->p, inner.stride, plan->gathered + done * (int64_t)plan->in_size, (int64_t)plan->in_size,
                          run, plan->in_size);
      reduce_walk_advance(w, run);
      done += run;
    }
    block = plan->gathered;
  }
  if (!plan->cast || plan->squares) return block;
  plan->cast(block, plan->casted, m);
  return plan->casted;
}

/* Whether the next two blocks are complete and contiguous. */
static bool reduce_has_pair(const reduce_plan *plan, const reduce_walk *w) {
  const reduce_axis inner = w->axes[w->n - 1];
  return inner.stride == (int64_t)plan->in_size && inner.n - w->at[w->n - 1] >= 2 * REDUCE_BLOCK;
}

/* Combines the result of block number `count` with the partial results of the blocks before it, as a carry in a binary
 * counter. At level 1 the value is that of two blocks, the first of which has the even number `count`. */
static void reduce_tree_push(const reducer *op, char tree[][ELEMENT_MAX], int level, int64_t count, const void *value) {
  char carry[ELEMENT_MAX];
  memcpy(carry, value, op->size);
  for (; count >> level & 1; level++) {
    op->rows(tree[level], carry, 1);
    memcpy(carry, tree[level], op->size);
  }
  memcpy(tree[level], carry, op->size);
}

/* Combines the partial results left on the levels, from the last blocks to the first. */
static void reduce_tree_finish(const reducer *op, char tree[][ELEMENT_MAX], int64_t count, void *out) {
  int below = -1;
  for (int level = 0; count >> level != 0; level++) {
    if (!(count >> level & 1)) continue;
    if (below >= 0) op->rows(tree[level], tree[below], 1);
    below = level;
  }
  memcpy(out, tree[below], op->size);
}

static void reduce_one_result(const reduce_plan *plan, const char *x, char *out) {
  _Alignas(16) char tree[TREE_LEVELS][ELEMENT_MAX];
  _Alignas(16) char value[ELEMENT_MAX], shift[ELEMENT_MAX];
  reduce_walk w = reduce_walk_begin(plan->reduced, plan->n_reduced, x);
  if (plan->second_pass) memcpy(shift, out, plan->op->size);
  int64_t count = 0;
  for (; plan->squares && plan->squares->pair && reduce_has_pair(plan, &w); count += 2) {
    plan->squares->pair(w.p, value);
    reduce_walk_advance(&w, 2 * REDUCE_BLOCK);
    reduce_tree_push(plan->op, tree, 1, count, value);
  }
  for (int64_t done = count * REDUCE_BLOCK; done < plan->n_per; done += REDUCE_BLOCK, count++) {
    const int64_t m = plan->n_per - done < REDUCE_BLOCK ? plan->n_per - done : REDUCE_BLOCK;
    const void *block = reduce_next_block(plan, &w, m);
    if (plan->second_pass) {
      logsumexp_subtract(plan, block, shift, 0, plan->casted, m);
      block = plan->casted;
    }
    (plan->squares ? plan->squares->block : plan->op->block)(block, m, value);
    if (plan->n_per > REDUCE_BLOCK) reduce_tree_push(plan->op, tree, 0, count, value);
  }
  if (plan->n_per > REDUCE_BLOCK) reduce_tree_finish(plan->op, tree, count, value);
  if (plan->second_pass) logsumexp_finish(plan, shift, value, 1);
  memcpy(out, value, plan->op->size);
}

static void reduce_one_position(const reduce_plan *plan, const char *x, char *out) {
  _Alignas(16) char best[ELEMENT_MAX];
  int64_t at = 0;
  reduce_walk w = reduce_walk_begin(plan->reduced, plan->n_reduced, x);
  for (int64_t done = 0; done < plan->n_per; done += REDUCE_BLOCK) {
    const int64_t m = plan->n_per - done < REDUCE_BLOCK ? plan->n_per - done : REDUCE_BLOCK;
    plan->arg->run(reduce_next_block(plan, &w, m), m, done, best, &at);
  }
  at++;
  memcpy(out, &at, sizeof at);
}

void reduce_by_sequence(const reduce_plan *plan, const char *x, char *out) {
  const size_t step = plan->arg ? sizeof(int64_t) : plan->op->size;
  reduce_walk w = reduce_walk_begin(plan->kept, plan->n_kept, x);
  for (int64_t i = 0; i < plan->n_out; i++, out += step) {
    if (plan->arg)
      reduce_one_position(plan, w.p, out);
    else
      reduce_one_result(plan, w.p, out);
    reduce_walk_advance(&w, 1);
  }
}

/* reduce_int: the plan of a reduction, shared by the ways to carry it out (reduce.c chooses).
 *
 * The reduced axes, in C order, are one sequence of n_per elements for each result; the kept axes enumerate the n_out
 * results. Adjacent axes of the same list that run on are joined. What is computed is fixed on that sequence alone:
 * blocks of REDUCE_BLOCK elements are folded in lanes, block results in a binary tree. Strides never change a bit. */
#ifndef DAMO_KERNEL_REDUCE_REDUCE_INT_H
#define DAMO_KERNEL_REDUCE_REDUCE_INT_H

#include "kernel/kernel_int.h"
#include "reduce.h"

typedef struct reduce_axis {
  int64_t n, stride;
} reduce_axis;

typedef struct reduce_plan {
  const reducer *op;
  const arg_reducer *arg;        /* NULL but for argmax and argmin */
  cast_fn cast;                  /* elements into the type that op takes; NULL: as they are */
  const square_reducer *squares; /* of sum_sqr: folds elements as they are; NULL: op does, after cast */
  size_t in_size;
  damo_dtype acc; /* the dtype op takes */
  int n_kept, n_reduced;
  reduce_axis kept[DAMO_MAX_NDIM], reduced[DAMO_MAX_NDIM]; /* each list has one axis at least */
  int64_t n_out, n_per;
  const kernel_isa *second_pass; /* of logsumexp: its exp(x - shift) is summed, its log taken; else NULL */
  /* scratch */
  char *gathered, *casted; /* one block or one row */
  char *lanes;             /* a strip for each lane; for arg kinds the best elements */
  char *tree;              /* a strip for each level; for arg kinds the positions */
} reduce_plan;

/* A place in the box of some axes, in C order. */
typedef struct reduce_walk {
  const reduce_axis *axes;
  int n;
  const char *p;
  int64_t at[DAMO_MAX_NDIM];
} reduce_walk;

static inline reduce_walk reduce_walk_begin(const reduce_axis *axes, int n, const char *p) {
  reduce_walk w;
  w.axes = axes;
  w.n = n;
  w.p = p;
  for (int k = 0; k < n; k++) w.at[k] = 0;
  return w;
}

/* Steps by `steps` along the last axis, not past its end, and carries. */
static inline void reduce_walk_advance(reduce_walk *w, int64_t steps) {
  int k = w->n - 1;
  w->p += steps * w->axes[k].stride;
  w->at[k] += steps;
  while (k > 0 && w->at[k] == w->axes[k].n) {
    w->p -= w->axes[k].n * w->axes[k].stride;
    w->at[k--] = 0;
    w->p += w->axes[k].stride;
    w->at[k]++;
  }
}

/* One result at a time: its sequence in blocks, gathered where it is not contiguous. */
void reduce_by_sequence(const reduce_plan *plan, const char *x, char *out);
/* REDUCE_STRIP results side by side: their elements as rows. For a kept axis closer in memory than the reduced ones. */
void reduce_by_strips(const reduce_plan *plan, const char *x, char *out);

/* logsumexp of one float dtype. subtract: y[j] = exp(x[j] - shift[j * step]), finish: acc[j] = shift[j] + log(acc[j]);
 * a shift that is not finite counts as 0. y and acc may be x. */
void logsumexp_subtract(const reduce_plan *plan, const void *x, const void *shift, int step, void *y, int64_t n);
void logsumexp_finish(const reduce_plan *plan, const void *shift, void *acc, int64_t n);

#endif

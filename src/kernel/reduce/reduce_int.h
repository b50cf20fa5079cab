/* reduce_int: the plan of a reduction, shared by the two ways to compute it (reduce.c chooses).
 *
 * The reduced axes, in C order, are one sequence of n_per elements for each result; the kept axes enumerate the n_out
 * results. Adjacent axes of the same list are merged if their strides allow it. The order of operations is defined on
 * that sequence alone: blocks of REDUCE_BLOCK elements are folded in lanes, block results in a binary tree. So strides
 * never change a bit of a result. */
#ifndef DAMO_KERNEL_REDUCE_REDUCE_INT_H
#define DAMO_KERNEL_REDUCE_REDUCE_INT_H

#include "kernel/kernel_int.h"
#include "reduce.h"

typedef struct reduce_axis {
  int64_t n, stride;
} reduce_axis;

typedef struct reduce_plan {
  const reducer *op;
  const arg_reducer *arg;        /* only for argmax and argmin, else NULL */
  cast_fn cast;                  /* converts elements to op's type; NULL: none needed */
  const square_reducer *squares; /* sum_sqr only: folds unconverted elements; else NULL */
  size_t in_size;
  damo_dtype acc; /* op's element dtype */
  int n_kept, n_reduced;
  reduce_axis kept[DAMO_MAX_NDIM], reduced[DAMO_MAX_NDIM]; /* each list has at least one axis */
  int64_t n_out, n_per;
  const kernel_isa *second_pass; /* logsumexp's second pass: sums exp(x - shift) and takes the log; else NULL */
  /* workspace */
  char *gathered, *casted; /* one block or one row each */
  char *lanes;             /* a strip for each lane; for argmax, argmin the best elements */
  char *tree;              /* a strip for each tree level; for argmax, argmin the positions */
} reduce_plan;

/* A position in the index space of some axes, in C order. */
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

/* Advances by `steps` along the last axis, not past its end, and carries. */
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

/* One result at a time: its sequence in blocks, gathered if it is not contiguous. */
void reduce_by_sequence(const reduce_plan *plan, const char *x, char *out);
/* Up to REDUCE_STRIP results side by side, their elements as rows. For a kept axis with a smaller stride than the
 * reduced ones. */
void reduce_by_strips(const reduce_plan *plan, const char *x, char *out);

/* The steps of logsumexp for float dtypes. subtract: y[j] = exp(x[j] - shift[j * step]); finish: acc[j] = shift[j] +
 * log(acc[j]). A shift that is not finite counts as 0. y and acc may be x. */
void logsumexp_subtract(const reduce_plan *plan, const void *x, const void *shift, int step, void *y, int64_t n);
void logsumexp_finish(const reduce_plan *plan, const void *shift, void *acc, int64_t n);

#endif

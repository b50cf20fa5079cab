/* reduce_int: the plan of a reduction and its pieces, which reduce.c computes one after the other, and reduce_shares.c on
 * several threads. */
#ifndef DAMO_KERNEL_REDUCE_REDUCE_INT_H
#define DAMO_KERNEL_REDUCE_REDUCE_INT_H

#include "kernel/kernel_int.h"
#include "kernel/walk.h"
#include "reduce.h"

#define REDUCE_STAGE_BYTES ((size_t)REDUCE_BLOCK * 16) /* a block or a row of elements of the largest size */

/* The elements of a second pass, whose shift is made of the results of the first. */
typedef enum reduce_pass {
  PASS_PLAIN,
  PASS_EXP,       /* of logsumexp: exp(x - shift); then log and the shift again. The shift: the maximum */
  PASS_DEVIATIONS /* (x - shift)²; the shift: the sum / n_per */
} reduce_pass;

typedef struct reduce_plan {
  const reducer *op;
  const arg_reducer *arg;        /* only for argmax and argmin, else NULL */
  cast_fn cast;                  /* converts elements to op's type; NULL: none needed */
  const square_reducer *squares; /* sum_sqr only: folds unconverted elements; else NULL */
  size_t in_size;
  damo_dtype acc;         /* op's element dtype */
  nd_space kept, reduced; /* of one operand, with one core axis; their memory is `numbers` */
  int64_t numbers[2 * ND_NUMBERS(DAMO_MAX_NDIM, 1)];
  int64_t n_out, n_per;
  reduce_pass pass;
  const kernel_isa *isa;          /* of the pass; else NULL */
  const struct reduce_plan *next; /* the second pass; else NULL */
  thread_pool *pool;              /* where it cuts, it has points between the blocks; or NULL */
  /* workspace */
  char *gathered, *casted; /* one block or one row each */
  char *lanes;             /* a strip for each lane; for argmax, argmin the best elements */
  char *tree;              /* a strip for each tree level; for argmax, argmin the positions */
} reduce_plan;

#define REDUCE_POINT 4096 /* elements between two points */

/* After n more elements. */
static inline void reduce_point(const reduce_plan *plan, int64_t *since, int64_t n) {
  if (plan->pool == NULL || (*since += n) < REDUCE_POINT) return;
  *since = 0;
  pool_point(plan->pool);
}

/* A strip of `width` results, whose elements are `stride` bytes apart. */
typedef struct reduce_strip {
  const reduce_plan *plan;
  int64_t stride, width;
  size_t bytes;                   /* of a row of op's type */
  const char *rows[REDUCE_BLOCK]; /* of a block */
} reduce_strip;

/* ---- Plans ------------------------------------------------------------------------------------------------------- */

/* The op and dtypes; the axes, after it; the workspace and the second pass, whose spaces are those of the first. */
void reduce_plan_op(reduce_plan *plan, const reduce_fns *fns, reduce_kind kind, damo_dtype in);
void reduce_plan_axes(reduce_plan *plan, int ndim, const int64_t *shape, const int64_t *strides, uint32_t axes);
void reduce_plan_scratch(reduce_plan *plan, char *work);
void reduce_plan_complete(const kernel_isa *isa, reduce_kind kind, reduce_plan *plan, reduce_plan *second, char *work);
/* Bytes of a result. */
size_t reduce_out_size(const reduce_plan *plan);
/* Whether results are made side by side, from rows. */
bool reduce_takes_strips(const reduce_plan *plan);
bool reduce_has_two_passes(reduce_kind kind);

/* ---- Pieces ------------------------------------------------------------------------------------------------------ */

/* Sets a cursor to element number `at`. */
void reduce_cursor_at(nd_cursor *c, const nd_space *s, const char *x, int64_t at);
/* The next m elements, contiguous and of op's type, or unconverted for squares. */
const void *reduce_next_block(const reduce_plan *plan, nd_cursor *c, int64_t m);
/* Makes the shifts of a second pass from n results of the first, in place; then its results from what op gives. */
void reduce_begin_pass(const reduce_plan *plan, char *results, int64_t n);
void reduce_end_pass(const reduce_plan *plan, const void *shift, void *results, int64_t n);
/* Folds the next m rows into the first lane; pushes that to the tree, as block number `count`; the result of so many
 * blocks. */
void reduce_strip_fold(reduce_strip *s, nd_cursor *c, int64_t m, const char *shift);
void reduce_strip_push(const reduce_strip *s, int64_t count);
const char *reduce_strip_finish(const reduce_strip *s, int64_t count);
/* Results [first, end) of a plan that is complete but for its workspace. */
void reduce_results(const kernel_isa *isa, reduce_kind kind, reduce_plan *plan, const char *x, char *out, int64_t first,
                    int64_t end, char *work);
/* Adds the next n elements of a result of several parts to its fold, if they lie in a row and need no conversion; else
 * false. They begin where a part does; the pool and its points are the plan's. */
bool reduce_fold_run(reduce_fold *f, const reduce_plan *plan, const nd_cursor *c, int64_t n, int64_t *since);
/* n results of no elements. */
void reduce_fill_empty(reduce_kind kind, damo_dtype acc, char *out, int64_t n);

#endif

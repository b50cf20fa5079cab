/* op_check.h: an independent definition of an Op class, against which DEBUG mode checks what its nodes compute.
 *
 * DEBUG mode also reruns a node: in other memory, with other strides, in Lua where it can. Reruns find a result that
 * depends on chance, but not one that is wrong every time. A check computes the result in another way, from dense Ops
 * (dense_equal), or tests a property of a right result such as its residual (judge). It is called after the node has
 * run, with the inputs as they were before.
 */
#ifndef DAMO_GRAPH_OP_CHECK_H
#define DAMO_GRAPH_OP_CHECK_H

#include "graph.h"
#include "sparse/sparse.h"

/* Limits of a check: the number of inputs, and of outputs, of a node; the number of entries of a matrix made dense. */
#define OP_EXAM_MOST 16
#define OP_EXAM_MOST_ENTRIES (1 << 20)

/* A node that has run, under examination. */
typedef struct op_exam {
  const damo_apply *node;
  damo_obj *const *values;         /* the inputs as they were before the run */
  damo_obj *results[OP_EXAM_MOST]; /* the outputs, borrowed */
  bool single;                     /* the first output is of single precision */

  /* For dense_equal: the scope to build in, and the inputs and results as dense constants (NULL: not numeric). */
  build *b;
  damo_var *in[OP_EXAM_MOST], *out[OP_EXAM_MOST];
  bool moduli;   /* in[] are the operands' moduli, for an error bound: differences must become sums */
  damo_var *got; /* the side that is compared: output o unless dense_equal sets another */
} op_exam;

struct op_check {
  /* A Variable built from e->in that output o (or e->got) must equal; NULL: nothing to compare. It may only add,
   * subtract, multiply and move entries: the same expression of the operands' moduli then bounds the rounding error. */
  damo_var *(*dense_equal)(op_exam *e, int o);
  /* The error of the results relative to the terms that they are sums of: of the order of the unit roundoff if they are
   * right. Negative: unknown, also for want of memory, which is no failure. */
  double (*judge)(const op_exam *e);
  const char *judged; /* what judge compares, for the error message: "A x is apart from the right side" */
};

static inline const damo_sparse *exam_matrix(const op_exam *e, int i) { return (const damo_sparse *)e->values[i]; }
static inline const int64_t *exam_shape(const op_exam *e, int i) { return exam_matrix(e, i)->shape; }
static inline const damo_array *exam_array(const op_exam *e, int i) { return (const damo_array *)e->values[i]; }
static inline int64_t exam_int_at(const damo_array *v, int64_t k) { return scalar_to_int64(array_get(v, &k)); }
/* Whether v is an Array or sparse matrix with at most OP_EXAM_MOST_ENTRIES entries as a dense one. */
static inline bool exam_is_small(const damo_obj *v) {
  int ndim;
  const int64_t *shape = v != NULL && value_array(v) != NULL ? value_shape(v, &ndim) : NULL;
  double entries = 1;
  for (int d = 0; shape != NULL && d < ndim; d++) entries *= (double)shape[d];
  return shape != NULL && entries <= OP_EXAM_MOST_ENTRIES;
}

#endif

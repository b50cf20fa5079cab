/* op_check.h: the second definition of an Op class, by which DEBUG mode checks what its nodes compute.
 *
 * A class without one has reruns alone: in other memory, with other strides, in Lua where it can. These find what
 * depends on chance, not what is wrong each time. A check says the same in another way: by dense Ops (dense_equal), or
 * by what holds of a right result (judge). It is asked after the node has run, with the inputs as they were before.
 */
#ifndef DAMO_GRAPH_OP_CHECK_H
#define DAMO_GRAPH_OP_CHECK_H

#include "graph.h"
#include "sparse/sparse.h"

/* The inputs, and the outputs, that a checked node may have; the entries of a matrix that is made dense. */
#define OP_EXAM_MOST 16
#define OP_EXAM_MOST_ENTRIES (1 << 20)

/* A node that has run. */
typedef struct op_exam {
  const damo_apply *node;
  damo_obj *const *values;         /* the inputs as they were before the run */
  damo_obj *results[OP_EXAM_MOST]; /* the outputs, borrowed */
  bool single;                     /* the first output is of single precision */

  /* Of dense_equal: the values as dense constants, NULL where they are no numbers, and where to build. */
  build *b;
  damo_var *in[OP_EXAM_MOST], *out[OP_EXAM_MOST];
  bool moduli;   /* in[] are the operands' moduli, to bound rounding errors: differences become sums */
  damo_var *got; /* what is compared: output o unless dense_equal says else */
} op_exam;

struct op_check {
  /* The Variable, over e->in, that output o equals (or e->got); NULL where there is nothing to compare. Sums, products
   * and moves of entries alone: the same of the operands' moduli bounds rounding errors. */
  damo_var *(*dense_equal)(op_exam *e, int o);
  /* How far from right the results are, as a part of the terms that they are made of: 0 but for rounding; below 0: there
   * is no telling. Memory that is not there is no failure. */
  double (*judge)(const op_exam *e);
  const char *judged; /* what the number is a part of, for the error: "A x is apart from the right side" */
};

static inline const damo_sparse *exam_matrix(const op_exam *e, int i) { return (const damo_sparse *)e->values[i]; }
static inline const int64_t *exam_shape(const op_exam *e, int i) { return exam_matrix(e, i)->shape; }
static inline const damo_array *exam_array(const op_exam *e, int i) { return (const damo_array *)e->values[i]; }
static inline int64_t exam_int_at(const damo_array *v, int64_t k) { return scalar_to_int64(array_get(v, &k)); }
/* A number, a small array, or a sparse matrix that is small as a dense one. */
static inline bool exam_is_small(const damo_obj *v) {
  int ndim;
  const int64_t *shape = v != NULL && value_array(v) != NULL ? value_shape(v, &ndim) : NULL;
  double entries = 1;
  for (int d = 0; shape != NULL && d < ndim; d++) entries *= (double)shape[d];
  return shape != NULL && entries <= OP_EXAM_MOST_ENTRIES;
}

#endif

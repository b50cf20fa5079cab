/* debug_sparse.h: what the files of DEBUG's dense equals share. Private to src/watch/debug_*.c. */
#ifndef DAMO_WATCH_DEBUG_SPARSE_H
#define DAMO_WATCH_DEBUG_SPARSE_H

#include "op/op.h"
#include "watch_int.h"

/* A dense matrix of more entries is not made. */
#define DEBUG_MOST_ENTRIES (1 << 20)
#define DEBUG_MOST_OPERANDS 16

/* A node that has run: its values, and what they are as dense constants. */
typedef struct debug_exam {
  build *b;
  const damo_apply *node;
  damo_obj *const *values;                /* the inputs as they were before the run */
  damo_obj *results[DEBUG_MOST_OPERANDS]; /* borrowed */
  damo_var *in[DEBUG_MOST_OPERANDS], *out[DEBUG_MOST_OPERANDS];
  damo_var *got; /* what is compared with the form: output 1 unless the form says else */
} debug_exam;

/* The Variable that the node's first output (or exam->got, which the form may set) equals, over e->in; NULL where
 * there is nothing to compare. Sums, products and moves of entries alone: the form of the operands' moduli bounds
 * rounding errors. */
typedef damo_var *(*debug_dense_form)(debug_exam *e);

typedef struct debug_dense_row {
  const char *op;
  debug_dense_form form;
} debug_dense_row;

/* debug_parts.c, debug_entries.c: of Ops that only sparse families have; each ends with a NULL name. */
extern const debug_dense_row debug_part_rows[], debug_entry_rows[];

static inline const damo_sparse *debug_exam_matrix(const debug_exam *e, int i) {
  return (const damo_sparse *)e->values[i];
}
/* An option of the node's Op. */
static inline prop_value debug_exam_prop(const debug_exam *e, const char *name) { return *op_prop(e->node->op, name); }
/* Zeros of that shape. */
damo_var *debug_exam_zeros(debug_exam *e, damo_dtype dtype, const int64_t *shape);
/* x at an index (subtensor's spec over idx), or that added there to zeros of a shape. */
damo_var *debug_exam_read(debug_exam *e, damo_var *x, const char *spec, damo_var *const *idx, int n);
damo_var *debug_exam_put(debug_exam *e, const int64_t *shape, damo_var *x, const char *spec, damo_var *const *idx,
                         int n);
/* Positions of a list along an axis (0-based). */
damo_var *debug_exam_take(debug_exam *e, damo_var *x, damo_var *list, int axis);

/* A number, a small array, or a sparse matrix that is small as a dense one. */
bool debug_is_small(const damo_obj *v);
static inline int64_t debug_int_at(const damo_array *v, int64_t k) { return scalar_to_int64(array_get(v, &k)); }

/* debug_solve.c: inconsistency where the result of an Op on a factor is none, by a dense computation: residuals of
 * systems, determinants and inverses by elimination. */
damo_status debug_solution(const thunk *t, frame *f, damo_obj *const *inputs);

#endif

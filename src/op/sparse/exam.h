/* exam: what the checks of the families (*_check.c) are written with. Private to src/op/sparse.
 *
 * A dense equal (graph/op_check.h) is a graph over dense constants, built of dense Ops: entries are read out of
 * matrices and added into zeros at lists of positions, which are 1-based as everywhere in graphs. Each builder gives
 * NULL for NULL, and NULL in a scope that has failed.
 */
#ifndef DAMO_OP_SPARSE_EXAM_H
#define DAMO_OP_SPARSE_EXAM_H

#include "graph/op_check.h"
#include "op/op.h"

/* A property of the node's Op. */
static inline prop_value exam_prop(const op_exam *e, const char *name) { return *op_prop(e->node->op, name); }
/* The property `axis` is the second axis; nil or a missing one is not. */
bool exam_is_axis_two(const op_exam *e);

damo_var *exam_zeros(op_exam *e, damo_dtype dtype, const int64_t *shape);
/* An int64 vector that may be written to, NULL: no memory; and it as a constant (of NULL: the scope has failed). */
damo_array *exam_new_list(op_exam *e, int64_t n);
damo_var *exam_list(op_exam *e, damo_array *take_list);
static inline int64_t *exam_list_data(damo_array *list) { return (int64_t *)(void *)list->data; }
/* x indexed by spec and idx, as subtensor does; and x added at that index to zeros of a shape. */
damo_var *exam_read(op_exam *e, damo_var *x, const char *spec, damo_var *const *idx, int n);
damo_var *exam_put(op_exam *e, const int64_t *shape, damo_var *x, const char *spec, damo_var *const *idx, int n);
/* x added to zeros of that shape as a block of n[0] rows and n[1] columns, whose first entry is at row from[0] and
 * column from[1] (0-based). */
damo_var *exam_put_block(op_exam *e, const int64_t *shape, damo_var *x, const int64_t *from, const int64_t *n);
/* The entries of x along `axis` (0-based) at the positions of `list`. */
damo_var *exam_take(op_exam *e, damo_var *x, damo_var *list, int axis);

/* Rows and columns of stored entries, 1-based int64 vectors in the order of storage. */
typedef struct entry_places {
  damo_var *at[2];
} entry_places;
entry_places exam_places_of(op_exam *e, bool csc, const damo_array *indices, const damo_array *indptr);
entry_places exam_places_in(op_exam *e, const damo_sparse *m);
/* Rows and columns of the k-th diagonal of that shape. */
entry_places exam_places_of_diagonal(op_exam *e, const int64_t *shape, int64_t k);
damo_var *exam_read_at(op_exam *e, damo_var *x, entry_places p);
damo_var *exam_put_at(op_exam *e, const int64_t *shape, entry_places p, damo_var *v);

/* True when v is a sparse matrix with duplicates, several entries at one position. */
bool exam_has_duplicates(const damo_obj *v);
/* The inner product of row rows[k] of x and row cols[k] of y, both of `length` entries, for each k < n_pairs; NULL
 * where the products take too many multiplications for a check. */
damo_var *exam_inner_products(op_exam *e, damo_var *x, damo_var *rows, damo_var *y, damo_var *cols, int64_t n_pairs,
                              int64_t length);

#endif

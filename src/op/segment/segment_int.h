/* segment_int: what the segment family shares. Private to src/op. segment.c describes the Ops. */
#ifndef DAMO_OP_SEGMENT_SEGMENT_INT_H
#define DAMO_OP_SEGMENT_SEGMENT_INT_H

#include "graph/c_emit.h"
#include "op/index/index_int.h"

typedef enum segment_kind { SEGMENT_SUM, SEGMENT_PROD, SEGMENT_MAX, SEGMENT_MIN, SEGMENT_KINDS } segment_kind;

/* The property `kind` of SegmentReduce and Scatter: its name. */
typedef struct segment_props {
  prop_value kind;
} segment_props;
segment_kind segment_kind_of(const damo_op *op);
const char *segment_kind_name(segment_kind kind);

/* ---- segment_loops.c --------------------------------------------------------------------------------------------- */

/* Folds row i of x (`width` contiguous elements) into row ids[i] - 1 of out, for i = 0, 1 … n - 1 in this order. Returns
 * the first i whose id is outside 1 … n_out, where it stops; -1 if there is none. */
typedef int64_t (*segment_fold_fn)(const int64_t *ids, int64_t n, const void *x, int64_t width, void *out,
                                   int64_t n_out);
/* NULL where the kind is not defined for the dtype: sums and products of narrow integers, maxima of complex numbers. */
segment_fold_fn segment_fold(segment_kind kind, damo_dtype dt);
/* The fold of that kind, in parts with points of ctx between them. */
int64_t segment_run(damo_ctx *ctx, segment_kind kind, damo_dtype dt, const int64_t *ids, int64_t n, const void *x,
                    int64_t width, void *out, int64_t n_out);
/* Sets n elements to what a segment without entries gives: 0, 1, the least and the greatest value. */
void segment_clear(damo_ctx *ctx, segment_kind kind, damo_dtype dt, void *out, int64_t n);
/* Adds to counts[id - 1] the number of times that each id occurs; the result is segment_fold_fn's. */
int64_t segment_count(damo_ctx *ctx, const int64_t *ids, int64_t n, int64_t *counts, int64_t n_out);

/* segment.c: the same as C source, which fails at such an id; count: segment_count's. */
void segment_emit_fold(c_emit *e, segment_kind kind, const c_value *ids, const c_value *x, const c_value *out,
                       int64_t width, bool count);

/* ---- scatter.c --------------------------------------------------------------------------------------------------- */

extern const op_def scatter_def;
extern const op_check segment_check; /* segment_check.c */
damo_status fn_scatter(build *b, const fn_args *a, ptrvec *out);

/* ---- Builders ---------------------------------------------------------------------------------------------------- */

/* x folded by ids, an int64 vector, into n segments (an int64 scalar). */
damo_var *build_segment(build *b, segment_kind kind, damo_var *x, damo_var *ids, damo_var *n);
/* The number of entries of each segment, int64. */
damo_var *build_segment_count(build *b, damo_var *ids, damo_var *n);
/* The greatest of the ids and `least`, an int64 scalar. */
damo_var *build_segment_length(build *b, damo_var *ids, damo_var *least);

#endif

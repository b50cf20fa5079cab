/* advanced: what the files of advanced indexing share: advanced.c (the Ops), advanced_type.c (Types and shapes),
 * advanced_plan.c (a run).
 *
 * As in NumPy, lists (and positions beside them) broadcast together to a shape B; a mask stands for the list of
 * positions of its true entries, and takes as many axes of x as it has. The axes of B take the place of the first list
 * when all lists are adjacent, else they come first. The result's shape is [pre] B [post], pre and post being the axes
 * that ranges leave. Each entry of B has one offset into x, to which pre and post add theirs by strides.
 */
#ifndef DAMO_OP_INDEX_ADVANCED_H
#define DAMO_OP_INDEX_ADVANCED_H

#include "index_int.h"

typedef struct adv_list {
  int operand, axis; /* axis: the first axis of x that it takes */
} adv_list;

typedef struct adv_plan {
  int ndim, n_pre, n_b, n_post, n_lists; /* ndim: of the result */
  int64_t shape[DAMO_MAX_NDIM];          /* pre, B, post */
  int64_t strides[DAMO_MAX_NDIM];        /* in x; 0 in B */
  int64_t base, entries, longest;        /* entries of B; of the longest list */
  adv_list list[INDEX_MAX_ITEMS];
} adv_plan;

/* The shape with which a list broadcasts; a mask's is that of the vector of its true entries. */
typedef struct advindex_list_shape {
  int ndim;
  int64_t shape[DAMO_MAX_NDIM];
} advindex_list_shape;

/* The result's layout under construction: the axes before B (0) and after it (1), and B. */
typedef struct adv_layout {
  int n[2];
  int64_t shape[2][DAMO_MAX_NDIM], strides[2][DAMO_MAX_NDIM];
  int n_b;
  int64_t b_shape[DAMO_MAX_NDIM];
  int side; /* where the next range goes: 0 before B, 1 after it */
} adv_layout;

/* Shared by Types and runs (advanced_plan.c). */
static inline bool adv_is_mask(damo_dtype dtype, int ndim) { return dtype == DAMO_BOOL && ndim > 0; }
int64_t adv_count_true(const damo_array *mask);
/* True when the lists are adjacent, so that B takes the place of the first. */
bool adv_lists_adjacent(const index_spec *spec);
/* The errors of a mask that does not fit its axis, and of a result with too many axes. */
damo_status adv_bad_mask(damo_ctx *ctx, int axis, int64_t length, int64_t n);
damo_status adv_too_many_axes(damo_ctx *ctx);
/* Adds an axis before or after B, as l->side says. */
damo_status adv_layout_push(damo_ctx *ctx, adv_layout *l, int64_t length, int64_t stride);

/* The plan without its offsets, for an x of that shape and those strides (in bytes). The index operands are the inputs
 * from `first` on. */
damo_status adv_plan_make(const thunk *t, frame *f, int first, int ndim, const int64_t *shape, const int64_t *strides,
                          adv_plan *p);
/* The byte offset into x of each entry of B, into work, which has adv_offsets_bytes bytes. */
size_t adv_offsets_bytes(const adv_plan *p);
damo_status adv_plan_offsets(const thunk *t, frame *f, int first, const adv_plan *p, const int64_t *shape,
                             const int64_t *strides, int64_t *work);
typedef enum adv_move { ADV_READ, ADV_SET, ADV_ADD } adv_move;
/* Moves entries between x (at the plan's offsets) and `other`, whose strides are over the plan's shape. */
void adv_walk(const adv_plan *p, damo_dtype dtype, adv_move move, char *x, const int64_t *offsets, char *other,
              const int64_t *other_strides);

/* The Type of x[spec], and the lengths of a read's result (advanced_type.c). */
damo_status adv_type(const damo_op *op, const damo_type *x, damo_var *const *idx, int n_idx, damo_type **out);
damo_status adv_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape, damo_var ***out_shape);

#endif

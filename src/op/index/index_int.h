/* index_int: index specs, shared by basic and advanced indexing. Private to src/op; subtensor.c describes specs. */
#ifndef DAMO_OP_INDEX_INDEX_INT_H
#define DAMO_OP_INDEX_INDEX_INT_H

#include "loop/loop.h"
#include "op/shape/shape_int.h"

#define INDEX_MAX_ITEMS (2 * DAMO_MAX_NDIM)

typedef enum item_kind { ITEM_POSITION, ITEM_RANGE, ITEM_NEWAXIS, ITEM_ELLIPSIS, ITEM_LIST } item_kind;

typedef struct index_item {
  uint8_t kind;    /* item_kind */
  uint8_t given;   /* range: bit 0 start, bit 1 stop, bit 2 step */
  int16_t operand; /* its first index operand, 0-based */
} index_item;

/* A parsed spec: the data of the four index Ops, from their property `spec`. */
typedef struct index_spec {
  int n, n_operands;
  bool advanced; /* has a list */
  index_item item[INDEX_MAX_ITEMS];
} index_spec;

/* ---- spec.c ------------------------------------------------------------------------------------------------ */

damo_status index_spec_parse(damo_ctx *ctx, const char *spec, index_spec *out);
/* op_def.init of the index Ops: parses the property `spec` into op->data. */
damo_status index_op_init(damo_op *op);
/* op_def.notate of the Ops that read, and of those that write. */
void index_read_notate(const damo_apply *node, op_notation *how);
void index_write_notate(const damo_apply *node, op_notation *how);
/* Which axes of x the items take. */
typedef struct index_axes {
  int ndim;    /* of x */
  int fill;    /* number of whole axes that the ellipsis, or the end of the spec, stands for */
  int fill_at; /* the item before which they come: the ellipsis, or the number of items */
} index_axes;
/* Index error naming func when there are more items than axes. rank[k]: the number of axes that list operand k
 * takes. */
damo_status index_axes_of(damo_ctx *ctx, const char *func, const index_spec *spec, int ndim, const int *rank,
                          index_axes *out);

/* The first position (0-based) and the count of a 1-based inclusive range on an axis of length n. start and stop may be
 * NULL: their defaults. Value error for a step of 0, index error for an end outside. axis is 0-based, for the
 * message. */
damo_status range_resolve(damo_ctx *ctx, const char *func, int axis, int64_t n, const int64_t *start,
                          const int64_t *stop, int64_t step, int64_t *first, int64_t *count);
/* The end of an index error's message for that position. */
#define INDEX_HINT(position) ((position) == 0 ? "; positions count from 1, from the end from -1" : "")
/* Index error where a constant position, or a short constant list of them, holds a 0, which no axis has. */
damo_status position_check_known(damo_ctx *ctx, const char *func, const damo_var *positions);
/* A 1-based position to a 0-based one; index error where the axis has none such. */
damo_status position_resolve(damo_ctx *ctx, const char *func, int axis, int64_t n, int64_t position, int64_t *out);
/* The static count of a range: -1 when unknown. ends: start, stop and step as Variables (NULL: not given). */
damo_status range_static(damo_ctx *ctx, const char *func, int axis, int64_t n, damo_var *const *ends, int64_t *count);
/* start, stop and step of a range item (NULL where not given) out of the operands idx. */
void range_ends(const index_item *item, damo_var *const *idx, damo_var **ends);
/* The count of a range as an int64 scalar Variable; n is the axis's length. */
damo_var *range_length(build *b, damo_var *n, damo_var *const *ends);

/* ---- box_copy.c: moving entries between boxes ------------------------------------------------------------------ */

/* dst += src over an n-d box; strides in bytes. */
void box_add(damo_dtype dtype, char *dst, const int64_t *dst_strides, const char *src, const int64_t *src_strides,
             int ndim, const int64_t *shape);
/* dst = src, or dst += src. dst_strides NULL: C-contiguous. */
void box_move(damo_dtype dtype, bool add, char *dst, const int64_t *dst_strides, const char *src,
              const int64_t *src_strides, int ndim, const int64_t *shape);

/* ---- subtensor.c, advanced.c ------------------------------------------------------------------------------------- */

/* x[spec] over checked int64 operands (or lists); picks the basic or the advanced Op. */
damo_var *index_read(build *b, damo_var *x, const char *spec, damo_var *const *idx, int n);
/* x with y set or added there. y is cast to x's dtype before. */
damo_var *index_write(build *b, damo_var *x, damo_var *y, bool set, const char *spec, damo_var *const *idx, int n);

/* y as an operand that is not weak, to be written into x; type error naming func where its kind is above x's. */
damo_var *index_value(build *b, const char *func, damo_var *x, damo_var *y);

/* Gradients and forward mode of the basic and the advanced Ops. */
damo_status index_read_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin);
damo_status index_read_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout);
damo_status index_write_grad(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin);
damo_status index_write_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout);
/* index_batch.c: op_def.batch of the Ops that read, and of those that write. */
damo_status index_read_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                             damo_var **out);
damo_status index_write_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                              damo_var **out);
/* advanced.c: whether the lists (and positions) of a spec are adjacent, so that the axes B take the first one's place. */
bool index_lists_adjacent(const index_spec *spec);
void index_write_connected(const damo_apply *node, bool *connected);
/* op_def.init of the writing Ops: parses spec, and sets destroy_map where `inplace` says so. */
damo_status index_write_init(damo_op *op);
/* The Type of a write: x's; shape error when y's static shape does not broadcast to `region` (what x[spec] has). */
damo_status index_write_type(const damo_op *op, damo_var *const *in, const damo_type *region, damo_type **out);
/* y's byte strides over the region: shape error when it does not broadcast to it. */
damo_status index_write_strides(const thunk *t, frame *f, const damo_array *y, int ndim, const int64_t *shape,
                                int64_t *strides);

/* funcs.c */
/* Whether each entry of a tensor is not 0, as bool. */
damo_var *build_is_nonzero(build *b, damo_var *x);
/* The positions of true entries of a bool vector. */
damo_var *build_nonzero(build *b, damo_var *mask);
/* The node whose outputs are those of a bool tensor, a vector an axis. */
damo_apply *build_nonzero_all(build *b, damo_var *mask);
damo_status fn_take(build *b, const fn_args *a, ptrvec *out);
damo_status fn_take_along_axis(build *b, const fn_args *a, ptrvec *out);
damo_status fn_one_hot(build *b, const fn_args *a, ptrvec *out);
damo_status fn_nonzero(build *b, const fn_args *a, ptrvec *out);

/* ---- positions.c ------------------------------------------------------------------------------------------------ */

/* How positions outside an axis are treated: an error, an error for negative ones too, around the end, at the ends. */
typedef enum position_mode { POSITION_RAISE, POSITION_STRICT, POSITION_WRAP, POSITION_CLIP } position_mode;
extern const op_def resolve_positions_def;
/* Positions of an axis of length n (int64 scalar) as 1 … n. */
damo_var *build_resolved_positions(build *b, const char *func, damo_var *positions, damo_var *n, position_mode mode);
/* The option mode: "raise" (the default), "wrap", "clip". */
damo_status position_mode_read(damo_ctx *ctx, const char *func, prop_value option, position_mode *mode);

/* ---- move.c, grid.c ---------------------------------------------------------------------------------------------- */

damo_status fn_flatnonzero(build *b, const fn_args *a, ptrvec *out);
damo_status fn_nonzero_values(build *b, const fn_args *a, ptrvec *out);
damo_status fn_argwhere(build *b, const fn_args *a, ptrvec *out);
damo_status fn_compress(build *b, const fn_args *a, ptrvec *out);
damo_status fn_extract(build *b, const fn_args *a, ptrvec *out);
damo_status fn_choose(build *b, const fn_args *a, ptrvec *out);
damo_status fn_select(build *b, const fn_args *a, ptrvec *out);
damo_status fn_put(build *b, const fn_args *a, ptrvec *out);
damo_status fn_put_along_axis(build *b, const fn_args *a, ptrvec *out);
damo_status fn_fill_diagonal(build *b, const fn_args *a, ptrvec *out);

/* The options of these functions. */
typedef struct move_options {
  prop_value axis, mode, wrap;
} move_options;

typedef struct select_default_options {
  prop_value otherwise; /* "default" */
} select_default_options;

#endif

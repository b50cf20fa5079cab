/* shape_int: what the shape, alloc, join, split, repeat, pad, index and marker families share. Private to src/op.
 *
 * Functions borrow their arguments, and their results are borrowed from the build scope, unless stated otherwise.
 */
#ifndef DAMO_OP_SHAPE_SHAPE_INT_H
#define DAMO_OP_SHAPE_SHAPE_INT_H

#include "loop/loop.h"
#include "op/op.h"
#include "op/elem/build_arith.h"

/* Appends a rule's result; the scope's status when there is none. */
static inline damo_status fn_give(build *b, ptrvec *out, damo_var *v) {
  if (!v) return b->status != DAMO_OK ? b->status : ctx_fail_memory(b->ctx);
  return ptrvec_push(out, v);
}

/* A strong int64 scalar constant. */
static inline damo_var *build_i64(build *b, int64_t v) { return build_scalar(b, DAMO_INT64, (double)v); }

/* ---- args.c: operands and options -------------------------------------------------------------------------------- */

/* x; where x is weak, the constant that it is when no other operand decides its dtype. */
damo_var *build_strong(build *b, damo_var *x);
/* An integer operand as int64: integer Variables are cast; literals and constants whose entries are all integers are
 * converted. A type error names func and what. Boolean operands are refused. */
damo_var *build_integer(build *b, const char *func, const char *what, damo_var *v);
/* Sum, difference and product of int64 scalars; a constant where both are. */
damo_var *build_length_add(build *b, damo_var *x, damo_var *y);
damo_var *build_length_sub(build *b, damo_var *x, damo_var *y);
damo_var *build_length_mul(build *b, damo_var *x, damo_var *y);
/* An axes option (int or list) in the order given, 0-based, each once; n is -1 when it was not given. */
damo_status axes_in_order(damo_ctx *ctx, const char *func, const prop_value *v, int ndim, int *axes, int *n);

/* ---- rules.c: rules that classes of many families have in common ------------------------------------------------- */

/* perform of ops that change only the Type or the gradient: the output is a view of an input array; a value of another
 * Type is passed on itself. */
damo_status thunk_pass(const thunk *t, frame *f);
/* do_constant_folding of ops that are never folded into constants. */
bool fold_never(const damo_apply *node);
/* A view_map or destroy_map: output 0 is a view of input 0, or destroys it. */
extern const op_alias alias_first[];
/* x, or its conjugate where x is complex; NULL for NULL. */
damo_var *build_conj_if_complex(build *b, damo_var *x);
/* x + y, or the one that is not NULL; NULL when both are NULL. */
damo_var *build_add_present(build *b, damo_var *x, damo_var *y);
/* For infer_shape: the same shape as input 0. */
damo_status infer_shape_same(build *b, damo_apply *node, damo_var *const *const *in_shape, damo_var ***out_shape);
/* For infer_shape: the lengths are the inputs from input 0 on; or from input 1 on, after a value. */
damo_status infer_shape_lengths(build *b, damo_apply *node, damo_var *const *const *in_shape, damo_var ***out_shape);
damo_status infer_shape_value_lengths(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                      damo_var ***out_shape);
/* infer_shape of ops whose results are all 0-d; of products of vectors and matrices, input 0 by input 1. */
damo_status infer_shape_scalars(build *b, damo_apply *node, damo_var *const *const *in_shape, damo_var ***out_shape);
damo_status infer_shape_product(build *b, damo_apply *node, damo_var *const *const *in_shape, damo_var ***out_shape);
/* connection_pattern of ops whose only differentiable input is input 0, and of those that have none. */
void connect_first(const damo_apply *node, bool *connected);
void connect_none(const damo_apply *node, bool *connected);
/* connection_pattern of ops whose only differentiable input is input 1. */
void connect_second(const damo_apply *node, bool *connected);
/* grad of ops without differentiable inputs; rop of ops that pass no tangent. */
damo_status grad_none(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin);
damo_status rop_none(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout);
/* grad and rop of ops that give input 0 as it is: the cotangent and the tangent of output 0 are those of input 0. */
damo_status grad_pass(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin);
damo_status rop_pass(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout);
/* rop of ops linear in input 0 that have no other differentiable input: the op again, on the tangent. */
damo_status rop_again(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout);
/* The dtype that a property names. */
damo_dtype prop_dtype(prop_value v);

/* ---- shape.c, reshape.c, dimshuffle.c ---------------------------------------------------------------------------- */

/* The value of a 0-d array of any integer dtype. */
int64_t array_int(const damo_array *a);
damo_var *build_ravel(build *b, damo_var *x); /* all entries as a vector */
/* The lengths of x's axes as int64 scalars, into dims. */
damo_status build_dims(build *b, damo_var *x, damo_var **dims);
/* The static shape that n int64 scalars give, -1 where one is no constant; value error where one is negative. */
damo_status static_dims(damo_ctx *ctx, const char *func, damo_var *const *dims, int n, int64_t *shape);
/* The values of n int64 scalar inputs from input `first` on; value error where one is negative. */
damo_status thunk_dims(const thunk *t, frame *f, const char *func, int first, int n, int64_t *shape);
/* A type error naming op where x is of a Type without a shape. */
damo_status need_shape(damo_ctx *ctx, const char *op, const damo_var *x);

/* ---- broadcast.c ------------------------------------------------------------------------------------------------- */

/* The Type of in[0] broadcast to the lengths in[1 ..]: what Alloc and BroadcastTo give. A shape error reads
 * "func: what (2, 3) does not broadcast to (4,)". */
damo_status broadcast_dims_type(const damo_op *op, const char *func, const char *what, damo_var *const *in, int n_in,
                                damo_type **out);
damo_var *build_broadcast_to(build *b, const char *func, damo_var *x, damo_var *const *dims, int n);
/* Byte strides that broadcast a, a value of that Type, to (ndim, shape); shape error naming func where it does not
 * fit. */
damo_status broadcast_strides(damo_ctx *ctx, const char *func, const damo_array *a, const damo_type *type, int ndim,
                              const int64_t *shape, int64_t *strides);
damo_status fn_broadcast_to(build *b, const fn_args *a, ptrvec *out);

/* ---- diagonal.c, triangle.c -------------------------------------------------------------------------------------- */

damo_var *build_diag(build *b, damo_var *x, int64_t k); /* a matrix's k-th diagonal, or a vector's matrix */
damo_var *build_trace(build *b, damo_var *x);           /* of a matrix */
damo_status fn_diag(build *b, const fn_args *a, ptrvec *out);
damo_status fn_diagonal(build *b, const fn_args *a, ptrvec *out);
damo_status fn_trace(build *b, const fn_args *a, ptrvec *out);
damo_status fn_tril(build *b, const fn_args *a, ptrvec *out);
damo_status fn_triu(build *b, const fn_args *a, ptrvec *out);

/* ---- pad.c ------------------------------------------------------------------------------------------------------- */

/* x along a 0-based axis with its last (shift mod n) entries first. shift: an int64 scalar. */
damo_var *build_roll(build *b, damo_var *x, damo_var *shift, int axis);

/* ---- alloc.c ----------------------------------------------------------------------------------------------------- */

/* Zeros of that dtype in x's shape. */
damo_var *build_zeros_of(build *b, damo_var *x, damo_dtype dtype);

/* ---- eye.c ------------------------------------------------------------------------------------------------------- */

/* An n by m matrix of that dtype with ones on and below the k-th diagonal; int64 scalars. */
damo_var *build_tri(build *b, damo_var *n, damo_var *m, damo_var *k, damo_dtype dt);

/* ---- arange.c ---------------------------------------------------------------------------------------------------- */

/* The length of a range; a value error for a step of 0, or a number that is not finite. */
damo_status arange_count(damo_ctx *ctx, scalar start, scalar stop, scalar step, int64_t *n);
/* The range of that dtype for a Loop, if loop_range_has it. */
loop_range arange_values(damo_dtype dtype, scalar start, scalar step);

/* int64 positions first, first + 1 … last (1-based inclusive; int64 scalars). */
damo_var *build_range(build *b, damo_var *first, damo_var *last);

/* ---- join.c ------------------------------------------------------------------------------------------------------ */

/* The same for xs of several dtypes, promoted to one first. */
damo_var *build_concatenate(build *b, const char *func, int axis, damo_var *const *xs, int n);

/* ---- split.c ----------------------------------------------------------------------------------------------------- */

/* The node whose n outputs are x's parts along a 0-based axis, of those lengths (int64 scalars): views. */
damo_apply *build_split(build *b, damo_var *x, damo_var *const *sizes, int n, int axis);

/* ---- op/control/marker.c ----------------------------------------------------------------------------------------- */

/* x, checked at run time to have the lengths dims; an entry is NULL where any length is allowed. */
damo_var *build_specify_shape(build *b, damo_var *x, damo_var *const *dims);

#endif

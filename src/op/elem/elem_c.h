/* elem_c: elementwise Ops and reductions as C source: what the emitters of Elemwise, Loop and Reduce share. */
#ifndef DAMO_OP_ELEM_ELEM_C_H
#define DAMO_OP_ELEM_ELEM_C_H

#include "graph/c_emit.h"
#include "op/op.h"

/* The result of an Elemwise Op over expressions of these dtypes, as an expression of dtype `to`. given: the dtypes of
 * the node's own operands and result, which decide what the Op computes in. */
const char *emit_scalar(c_emit *e, const damo_op *op, const damo_dtype *given, damo_dtype given_out,
                        const damo_dtype *in, const char *const *x, damo_dtype to);

/* A function of floats by its kernel's name ("exp") of an expression of that dtype. */
const char *emit_function(c_emit *e, const char *name, damo_dtype dtype, const char *x);

/* Reduces v, whose dtype in the graph is `given`, over the axes of the mask into out, C-contiguous over the kept axes
 * (reduce_c.c). */
damo_status emit_reduction(c_emit *e, reduce_kind kind, uint32_t axes, damo_dtype given, const c_value *v,
                           const c_value *out);

/* Entries of rows of n elements, step apart, by 1-based positions, which the code checks. The nest's operands: rows of x,
 * positions, out. */
void emit_picked(c_emit *e, const c_nest *nest, const c_value *x, int64_t n, int64_t step, const c_value *index,
                 const c_value *out);
/* out is 0 but for the positions of its rows, which get g's entries; NULL: 1. The nest's operands: g, positions, rows of
 * out. */
void emit_placed(c_emit *e, const c_nest *nest, const c_value *g, const c_value *index, const c_value *out, int64_t n,
                 int64_t step);

/* Opens loops over the slices of x and y along the axis (cumulative.c). */
void emit_slices(c_emit *e, c_nest *nest, const c_value *x, const c_value *y, int axis);
/* In these loops: the positions of y's slice, y->shape[axis] of them, in an order that sorts x's, equal entries as they
 * were. how: "down, again": whether the greatest come first, and whether equal entries keep the order that y has. */
void emit_argsort(c_emit *e, const c_nest *nest, const c_value *x, const c_value *y, int axis, const char *how);

/* emit_c of the classes. */
damo_status elemwise_emit_c(c_emit *e, const damo_apply *node);
damo_status loop_emit_c(c_emit *e, const damo_apply *node);
damo_status reduce_emit_c(c_emit *e, const damo_apply *node);

#endif

/* batch: what the rules for batches (op_def.batch) of many classes have in common.
 *
 * A batched operand has k leading axes before those of the node's own operand. Everything is borrowed from the scope;
 * axes count from 0.
 */
#ifndef DAMO_OP_BATCH_H
#define DAMO_OP_BATCH_H

#include "graph/graph.h"

/* x with new axes of length 1 after its k leading ones, so that `ndim` axes follow these. */
damo_var *batch_pad(build *b, damo_var *x, int k, int ndim);
/* The lengths of the batch that n operands span: int64 scalars, constants where static. */
damo_status batch_lengths(build *b, damo_var *const *in, const bool *batched, int n, int k, damo_var **lengths);
/* An operand broadcast to these lengths of the batch: a view. */
damo_var *batch_expand(build *b, damo_var *x, bool batched, int k, damo_var *const *lengths);
/* Replaces batched operands by ones whose leading axes agree; with `all`, the others too get these leading axes. */
damo_status batch_agree(build *b, damo_var **in, const bool *batched, int n, int k, bool all);
/* x with its first k axes as one, and y with the first axis as those k again. */
damo_var *batch_fold(build *b, damo_var *x, int k);
damo_var *batch_unfold(build *b, damo_var *y, int k, damo_var *const *lengths);
/* The product of k lengths. */
damo_var *batch_size(build *b, int k, damo_var *const *lengths);
/* x reshaped: its first k axes stay, the others get the lengths dims[0 … n-1]. */
damo_var *batch_reshape(build *b, damo_var *x, int k, damo_var *const *dims, int n);
/* x with its axis `from` at `to`. */
damo_var *batch_move_axis(build *b, damo_var *x, int from, int to);

/* Of a node whose inputs from number 1 on are the lengths of its result: the lengths of the batch of operand 0, then
 * these, into dims; returns how many. -1: operand 0 has no leading axes or a length has. */
int batch_result_lengths(build *b, const damo_apply *node, damo_var *const *in, const bool *batched, int k,
                         damo_var **dims);
/* Sets out[] to the results of op, which is stolen, over in[]: as many of each as the node has. */
damo_status batch_apply(build *b, damo_op *take_op, const damo_apply *node, damo_var **in, damo_var **out);
/* Rules: the Op itself, where operand 0 alone is batched, for classes none of whose properties or operands depends on its
 * axes; the Op itself over operands all of which get the leading axes. */
damo_status batch_same_op(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k, damo_var **out);
damo_status batch_same_op_agreed(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                                 damo_var **out);
/* The Op over operands, the first n of which have the same first axis, along which it takes entry by entry (the N of
 * (N, C, height, width)): the leading axes become part of it. The others have no leading axes. */
damo_status batch_into_first(build *b, const damo_apply *node, damo_var **in, const bool *batched, int n, int k,
                             damo_var **out);

#endif

/* nnet: ops of neural networks. Private to the family (src/op/nnet, op/index/pick.c), and for rewrite rules.
 *
 * The rows named nn.… make up damo.nn: activations (activation.c), losses (loss.c), normalisations (norm.c), attention
 * and embedding (attention.c), pooling (pool.c), convolution (conv.c).
 */
#ifndef DAMO_OP_NNET_NNET_H
#define DAMO_OP_NNET_NNET_H

#include "op/op.h"

/* axis 0-based, -1: all axes together. x of a float dtype. */
damo_var *build_softmax(build *b, damo_var *x, int axis);
damo_var *build_log_softmax(build *b, damo_var *x, int axis);
/* x[…, index[…]]: one entry of the last axis for each position in the others; index: integers, 1-based, of one axis
 * less. */
damo_var *build_pick(build *b, damo_var *x, damo_var *index);

/* ---- nnet.c ------------------------------------------------------------------------------------------------------ */

/* Type error unless all operands are tensors. */
damo_status nnet_check_operands(build *b, const fn_args *a);
/* Operand 0 converted to the dtype of float functions; type error where it is complex. */
damo_status nnet_to_float(build *b, const fn_args *a, damo_var **x);
/* The first n operands in one dtype, that of float functions; a type error names an operand that is complex or no
 * tensor. An absent optional operand stays NULL. */
damo_status nnet_to_floats(build *b, const fn_args *a, int n, damo_var **in);
/* Functions of rows that damo and damo.nn have. */
damo_status fn_softmax(build *b, const fn_args *a, ptrvec *out);
damo_status fn_log_softmax(build *b, const fn_args *a, ptrvec *out);
damo_status fn_categorical_crossentropy(build *b, const fn_args *a, ptrvec *out);
damo_status fn_binary_crossentropy(build *b, const fn_args *a, ptrvec *out);
damo_status fn_sigmoid_binary_crossentropy(build *b, const fn_args *a, ptrvec *out);
damo_status fn_mean_squared_error(build *b, const fn_args *a, ptrvec *out);

#endif

/* nnet: ops of neural networks. Private to the family (nnet.c, softmax.c, op/index/pick.c), and for rewrite rules. */
#ifndef DAMO_OP_NNET_NNET_H
#define DAMO_OP_NNET_NNET_H

#include "op/op.h"

/* axis 0-based, -1: all axes together. x of a float dtype. */
damo_var *build_softmax(build *b, damo_var *x, int axis);
damo_var *build_log_softmax(build *b, damo_var *x, int axis);
/* x[…, index[…]]: one entry of the last axis for each position in the others; index: integers, 1-based, of one axis
 * less. */
damo_var *build_pick(build *b, damo_var *x, damo_var *index);

#endif

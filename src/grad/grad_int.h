/* grad_int.h: what reverse and forward mode share. */
#ifndef DAMO_GRAD_INT_H
#define DAMO_GRAD_INT_H

#include "grad.h"

/* Runs the op's L_op on the node with cotangents gout (NULL: disconnected) and checks what it gave: gin[i] is NULL
 * (disconnected), of NullType, or a tensor of the input's rank and dtype (cast where the rule gave another float dtype;
 * floatX for integer inputs). An op without a rule gives null gradients that say so. */
damo_status grad_node(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin);

/* connected[i * n_out + o], as the op declares. */
void grad_connections(const damo_apply *node, bool *connected);

#endif

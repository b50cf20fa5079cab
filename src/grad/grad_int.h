/* grad_int.h: shared by reverse and forward mode. */
#ifndef DAMO_GRAD_GRAD_INT_H
#define DAMO_GRAD_GRAD_INT_H

#include "grad.h"

/* A node's connection pattern: at[i * n_out + o] is true if output o depends differentiably on input i. The buffer is
 * reused from node to node. */
typedef struct connections {
  bool *at;
  size_t size;
} connections;

damo_status connections_read(connections *c, damo_ctx *ctx, const damo_apply *node);
void connections_clear(connections *c, damo_ctx *ctx);

/* x as a derivative of that dtype, with its note (op/elem/masked.h). take_real: where x alone is complex, of its real
 * part. */
damo_var *grad_cast(build *b, damo_var *x, damo_dtype dtype, bool take_real);

/* Passes the masks of `from` on to `to`, which the node's rule made of them: cotangents of its outputs and inputs, or
 * with `forward` tangents of its inputs and outputs. NULL: none. */
damo_status grad_pass_masks(build *b, damo_apply *node, bool forward, damo_var *const *from, int n_from, damo_var **to,
                            int n_to);
/* The node's rop, unchecked, or two L_ops. */
damo_status grad_rop(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout);
/* The note of all the n derivatives v (NULL: none), if they belong to the same branch of one ifelse; else NULL. */
const build_mask *grad_branch_of(const build *b, damo_var *const *v, int n);
/* Whether derivatives through the class have no masks: a result need not be 0 where what this node gets is, as that of a
 * sum over processes. */
bool grad_ends_masks(const op_def *def, bool forward);
/* How many ifelses a derivative may belong to: beyond, it is zeros where they are not taken. */
#define GRAD_MAX_BRANCHES 8

/* The result returned for the derivative of x if x is disconnected: zeros (NullType if x has no numbers), a
 * DisconnectedType Variable, or NULL with RETURN_NONE. */
damo_var *grad_of_disconnected(build *b, damo_var *x, return_disconnected how);

#endif

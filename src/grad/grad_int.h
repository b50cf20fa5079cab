/* grad_int.h: what reverse and forward mode share. */
#ifndef DAMO_GRAD_GRAD_INT_H
#define DAMO_GRAD_GRAD_INT_H

#include "grad.h"

/* A node's connection pattern: at[i * n_out + o] says whether output o depends on input i. The memory is reused from
 * node to node. */
typedef struct connections {
  bool *at;
  size_t size;
} connections;

damo_status connections_read(connections *c, damo_ctx *ctx, const damo_apply *node);
void connections_clear(connections *c, damo_ctx *ctx);

/* What stands for the derivative of x where nothing connects it; NULL with RETURN_NONE. */
damo_var *grad_of_disconnected(build *b, damo_var *x, return_disconnected how);

#endif

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

/* The result returned for the derivative of x if x is disconnected: zeros (NullType if x has no numbers), a
 * DisconnectedType Variable, or NULL with RETURN_NONE. */
damo_var *grad_of_disconnected(build *b, damo_var *x, return_disconnected how);

#endif

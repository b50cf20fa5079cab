/* api_int.h: private to api/. */
#ifndef DAMO_API_API_INT_H
#define DAMO_API_API_INT_H

#include "api.h"

/* ---- OpFromGraph ------------------------------------------------------------------------------------------------- */

/* The class of an Op that is known to be an OpFromGraph; op_from_graph_of checks. */
static inline op_from_graph *op_from_graph_at(const damo_op *op) { return (op_from_graph *)op->owner; }

/* op_from_graph_grad.c: the L_op and R_op of OpFromGraph's class. */
damo_status op_from_graph_l_op(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin);
damo_status op_from_graph_r_op(build *b, damo_apply *node, damo_var *const *eval, damo_var **tangent);

/* op_from_graph.c: out[i] becomes a copy of the Variable what[i] of g's inner graph over the node's inputs,
 * borrowed from b. */
damo_status op_from_graph_unfold(build *b, const op_from_graph *g, damo_apply *node, damo_var *const *what, int n,
                                 damo_var **out);

/* op_from_graph_batch.c: op_def.batch of OpFromGraph's class. */
damo_status op_from_graph_batch(build *b, const damo_apply *node, damo_var **in, const bool *batched, int k,
                                damo_var **out);

#endif

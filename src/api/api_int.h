/* api_int.h: what the files of api/ share. */
#ifndef DAMO_API_INT_H
#define DAMO_API_INT_H

#include "api.h"

/* op_from_graph_grad.c: the L_op and R_op of OpFromGraph's class. */
damo_status op_graph_l_op(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin);
damo_status op_graph_r_op(build *b, damo_apply *node, damo_var *const *eval, damo_var **tangent);
/* Copies of the Variables `what` of g's graph into out, borrowed from b, over the node's inputs. */
damo_status op_graph_unfold(build *b, const op_graph *g, damo_apply *node, damo_var *const *what, int n,
                            damo_var **out);

#endif

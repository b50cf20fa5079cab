/* api_int.h: private to api/. */
#ifndef DAMO_API_API_INT_H
#define DAMO_API_API_INT_H

#include "api.h"
#include "rewrite/rewrite.h"

/* ---- OpFromGraph ------------------------------------------------------------------------------------------------- */

/* The class of an Op that is known to be an OpFromGraph; op_from_graph_of checks. */
static inline op_from_graph *op_from_graph_at(const damo_op *op) { return (op_from_graph *)op->owner; }

/* op_from_graph_grad.c: the L_op and R_op of OpFromGraph's class. */
damo_status op_from_graph_l_op(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin);
damo_status op_from_graph_r_op(build *b, damo_apply *node, damo_var *const *eval, damo_var **tangent);

/* op_from_graph_inline.c: out[i] becomes a copy of the Variable what[i] of g's inner graph over the node's inputs,
 * borrowed from b. */
damo_status op_from_graph_unfold(build *b, const op_from_graph *g, damo_apply *node, damo_var *const *what, int n,
                                 damo_var **out);
/* The class's infer_shape, and the rule that inlines nodes. */
damo_status op_from_graph_infer_shape(build *b, damo_apply *node, damo_var *const *const *in_shape,
                                      damo_var ***out_shape);
extern const rewrite_rule op_from_graph_inline_rule;

/* op_from_graph_run.c: the class's perform. The state of a thunk is its copy of the inner Function (owned; NULL until
 * the first run). */
typedef struct op_from_graph_state {
  damo_function *f;
} op_from_graph_state;
damo_status op_from_graph_perform(const thunk *t, frame *f);
damo_status op_from_graph_prepare_foreign(const thunk *t, frame *f);
void op_from_graph_state_clear(const thunk *t, frame *f);

#endif

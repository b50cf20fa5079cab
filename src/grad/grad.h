/* grad: reverse and forward mode as graph. Asks each node's op through its table; names no op but add and zeros_like.
 *
 * In: a cost or known gradients, and what to differentiate by. Out: Variables. Always holds: the given graph is not
 * changed; a gradient has its input's dtype and rank; work is linear in the graph between cost and wrt.
 */
#ifndef DAMO_GRAD_H
#define DAMO_GRAD_H

#include "graph/graph.h"

typedef enum disconnected_mode { DISCONNECTED_RAISE, DISCONNECTED_WARN, DISCONNECTED_IGNORE } disconnected_mode;
typedef enum return_disconnected { RETURN_ZERO, RETURN_NONE, RETURN_DISCONNECTED } return_disconnected;

typedef struct grad_options {
  damo_var *const *known;    /* known_grads: gradients known[i] of … */
  damo_var *const *known_of; /* … these Variables */
  int64_t n_known;
  damo_var *const *constant; /* consider_constant: nothing goes through them; they may have a gradient themselves */
  int64_t n_constant;
  disconnected_mode disconnected_inputs;
  bool null_gradients_return; /* false: raise null_gradient */
  return_disconnected return_disconnected;
} grad_options;

/* d cost / d wrt[i] into out (owned references; NULL entries only with RETURN_NONE). cost: a real scalar of float
 * dtype, or NULL with known gradients. options may be NULL. */
damo_status grad_reverse(damo_ctx *ctx, damo_var *cost, damo_var *const *wrt, int64_t n, const grad_options *options,
                         damo_var **out);
/* R-operator: d f / d wrt · eval, one per f (owned references): zeros where f is connected to a wrt and nothing moves.
 * Ops without rop go by two L_ops. Of the options (NULL: all zero) it reads disconnected_inputs and
 * return_disconnected, which here speak of an f that no differentiable path connects to a wrt. */
damo_status grad_forward(damo_ctx *ctx, damo_var *const *f, int64_t n_f, damo_var *const *wrt, damo_var *const *eval,
                         int64_t n, const grad_options *options, damo_var **out);

/* Runs the op's L_op on the node with cotangents gout (NULL: disconnected) and checks what it gave: gin[i] is NULL
 * (disconnected), of NullType, or a tensor of the input's rank and dtype (cast where the rule gave another float dtype;
 * floatX for integer inputs). An op without a rule gives null gradients that say so. */
damo_status grad_node(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin);

/* The tangents of the node's outputs from those of its inputs (eval[i] NULL: none): by the op's rule, whose results are
 * checked for rank and dtype, else by two L_ops. rout[o] is NULL where an output has none. */
damo_status grad_forward_node(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout);

#endif

/* grad: reverse-mode and forward-mode differentiation, from graph to graph. Each node's Op provides its own rule
 * (op_def.grad, op_def.rop).
 *
 * In: a cost or known gradients, and the Variables to differentiate by (wrt). Out: Variables. Always holds: the given
 * graph is not changed; a gradient has its Variable's rank and dtype (floatX for a discrete one); the work is linear in
 * the size of the graph between cost and wrt.
 */
#ifndef DAMO_GRAD_H
#define DAMO_GRAD_H

#include "graph/graph.h"

typedef enum disconnected_mode { DISCONNECTED_RAISE, DISCONNECTED_WARN, DISCONNECTED_IGNORE } disconnected_mode;
typedef enum return_disconnected { RETURN_ZERO, RETURN_NONE, RETURN_DISCONNECTED } return_disconnected;

typedef struct grad_options {
  damo_var *const *known;    /* known_grads: known[i] is the gradient for … */
  damo_var *const *known_of; /* … known_of[i] */
  int64_t n_known;
  damo_var *const *constant; /* consider_constant: gradients end at these Variables, which may have one themselves */
  int64_t n_constant;
  disconnected_mode disconnected_inputs;
  bool null_gradients_return; /* false: raise null_gradient */
  return_disconnected return_disconnected;
} grad_options;

/* Sets out[i] to d cost / d wrt[i] (owned; NULL only with RETURN_NONE). cost: a real 0-d tensor, or NULL if gradients
 * are known. options may be NULL. On failure every out[i] is NULL. Errors: value (neither cost nor known gradients),
 * type (cost), disconnected_input, null_gradient, those of an Op's rule. */
damo_status grad_reverse(damo_ctx *ctx, damo_var *cost, damo_var *const *wrt, int64_t n, const grad_options *options,
                         damo_var **out);
/* R-operator, forward mode: sets out[i] to (d f[i] / d wrt)·eval (owned; NULL only with RETURN_NONE), which is zeros if
 * f[i] is connected to a wrt but no tangent reaches it. An Op without rop is differentiated by two L_ops. Of the
 * options (may be NULL) it reads disconnected_inputs and return_disconnected, which apply to an f[i] that no
 * differentiable path connects to a wrt. */
damo_status grad_forward(damo_ctx *ctx, damo_var *const *f, int64_t n_f, damo_var *const *wrt, damo_var *const *eval,
                         int64_t n, const grad_options *options, damo_var **out);

/* Runs the Op's L_op on the node with the cotangents gout (NULL: disconnected) and checks its results: gin[i] becomes
 * NULL (disconnected), a Variable of NullType (undefined), or a gradient of the input's rank and dtype, cast if the
 * rule gave another dtype; of a discrete input it is floatX. An Op without a rule gives NullType gradients that say
 * so. */
damo_status grad_node(build *b, damo_apply *node, damo_var *const *gout, damo_var **gin);

/* The tangents rout of the node's outputs (NULL: none) from the tangents eval of its inputs (NULL: none): by the Op's
 * rop, whose results are checked for rank and dtype, else by two L_ops. Results are borrowed from b. */
damo_status grad_forward_node(build *b, damo_apply *node, damo_var *const *eval, damo_var **rout);

#endif

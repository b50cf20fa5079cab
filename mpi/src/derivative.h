/* derivative: gradients and tangents of collectives, as graphs.
 *
 * The cost of the whole is the sum of the ranks' costs. So the gradient that a rank gets for its x is the derivative of
 * that sum by its x, and what is linear has its adjoint as gradient: a sum has a sum, scatter has gather.
 */
#ifndef DAMO_MPI_DERIVATIVE_H
#define DAMO_MPI_DERIVATIVE_H

#include "record.h"

/* The gradient for the first input of the node, owned, given that of its result; NULL with the context's error. */
damo_var *derivative_back(world *w, const form *f, damo_apply *node, damo_var *g);
/* The tangent of the result, owned, given that of the first input. */
damo_var *derivative_along(world *w, const form *f, damo_apply *node, damo_var *tangent);

/* v + n for a 0-d integer, owned. */
damo_var *var_add_integer(damo_var *v, int64_t n);
/* Applies a function of damo to two or three Variables, which are borrowed; NULL if one of them is. */
damo_var *var_call(damo_ctx *ctx, const char *name, damo_var *a, damo_var *b, damo_var *c);

#endif

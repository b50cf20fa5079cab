/* draw_grad: derivatives of draws by their parameters, as formulas of the draw. Private to src/op/random.
 *
 * A draw is a function x of the random words and the parameters. Where it is one by a formula (location and scale, the
 * inverse of the distribution function) this is differentiated; where values are rejected, the derivative is that of
 * the quantile at the draw, -(dF/dp) / f (M. Figurnov, S. Mohamed, A. Mnih, "Implicit reparameterization gradients",
 * 2018).
 */
#ifndef DAMO_OP_RANDOM_DRAW_GRAD_H
#define DAMO_OP_RANDOM_DRAW_GRAD_H

#include "op/op.h"

typedef damo_var *draw_grad_fn(build *b, damo_var *const *p, damo_var *x, damo_var *g, int i);

draw_grad_fn grad_loc_scale, grad_scale, grad_uniform, grad_lognormal, grad_power, grad_triangular, grad_truncexpon,
    grad_gamma, grad_log_gamma, grad_invgamma, grad_gengamma, grad_chisquare, grad_beta, grad_f, grad_t, grad_wald,
    grad_vonmises, grad_truncated_normal;

#endif

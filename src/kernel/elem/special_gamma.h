/* special_gamma: the incomplete gamma functions, their derivatives and inverses, and what is made of gamma(x). nan gives
 * nan; other edges are those of SciPy. Pure. */
#ifndef DAMO_KERNEL_ELEM_SPECIAL_GAMMA_H
#define DAMO_KERNEL_ELEM_SPECIAL_GAMMA_H

#include "dd.h"

/* log gamma(x) for x > 0, absolute error about 1e-18 + 1e-31 |result|. */
dd special_gammaln_dd(dd x);
/* log |gamma(x)| for any x but the poles, where it is inf; *sign is that of gamma(x). */
dd special_gammaln_signed(dd x, int *sign);

/* P(a, x) and Q(a, x) = 1 - P(a, x), the regularised incomplete gamma functions (DLMF 8.2.4). */
double special_gammainc(double a, double x);
double special_gammaincc(double a, double x);
/* The derivatives of P in a. */
double special_gammainc_grad_a(double a, double x);
double special_gammainc_grad_aa(double a, double x);
/* Not regularised: gamma(a) P(a, x), gamma(a) Q(a, x). */
double special_gammal(double a, double x);
double special_gammau(double a, double x);
/* The x with P(a, x) = p, or Q(a, x) = q. */
double special_gammaincinv(double a, double p);
double special_gammainccinv(double a, double q);

/* gamma(x + m) / gamma(x), binomial coefficients, gamma(x + 1) (0 for x < 0). */
double special_poch(double x, double m);
double special_binom(double n, double k);
double special_factorial(double x);

/* The second derivative of psi; nan at its poles. */
double special_tetra_gamma(double x);

#endif

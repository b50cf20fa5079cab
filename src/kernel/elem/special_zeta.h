/* special_zeta: zeta and polygamma functions, exponential integrals, Lambert's W. nan gives nan; other edges are those of
 * SciPy. Pure. */
#ifndef DAMO_KERNEL_ELEM_SPECIAL_ZETA_H
#define DAMO_KERNEL_ELEM_SPECIAL_ZETA_H

/* Hurwitz's zeta(s, q) for s > 1 (DLMF 25.11.1), and its first two derivatives in s. */
double special_hurwitz_zeta(double s, double q);
double special_zeta_grad_s(double s, double q);
double special_zeta_grad_ss(double s, double q);
/* Riemann's zeta(s) for every s, and its first two derivatives. */
double special_riemann_zeta(double s);
double special_riemann_zeta_grad(double s);
double special_riemann_zeta_grad_ss(double s);
/* The n-th derivative of psi, n >= 0 whole. */
double special_polygamma(double n, double x);
/* E_n(x), the integral of exp(-xt) t^-n from 1 on (DLMF 8.19.3), n >= 0, and its derivative in n. */
double special_expn(double n, double x);
double special_expn_grad_n(double n, double x);
double special_expn_grad_nn(double n, double x);
double special_exp1(double x);
double special_expi(double x);
/* The branches 0 and -1 of w exp(w) = x for real x; nan where they are not real. */
double special_lambertw_principal(double x);
double special_lambertw_lower(double x);
/* Branch k, 0 or -1, of the complex number z (its parts) into w. */
void special_lambertw_complex(int k, const double *z, double *w);

#endif

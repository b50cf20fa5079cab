/* special_elliptic: elliptic integrals and functions and the hypergeometric function. nan gives nan; other edges are those of
 * SciPy. Pure. */
#ifndef DAMO_KERNEL_ELEM_SPECIAL_ELLIPTIC_H
#define DAMO_KERNEL_ELEM_SPECIAL_ELLIPTIC_H

/* K(m), E(m) and (K(m) - E(m)) / m of the parameter m <= 1. */
double special_ellipk(double m);
double special_ellipe(double m);
double special_ellipd(double m);

/* F(phi, m), E(phi, m) (DLMF 19.2.4, 19.2.5), (F - E) / m, and the derivative of F in m; m <= 1. */
double special_ellipkinc(double phi, double m);
double special_ellipeinc(double phi, double m);
double special_ellipdinc(double phi, double m);
double special_ellipkinc_grad_m(double phi, double m);
/* Jacobi's amplitude am, sn, cn and dn of the parameter m from 0 to 1 (DLMF 22.2, 22.16). */
double special_jacobi_am(double u, double m);
double special_jacobi_sn(double u, double m);
double special_jacobi_cn(double u, double m);
double special_jacobi_dn(double u, double m);

/* The hypergeometric function F(a, b; c; x), and its derivatives in a, b and c. */
double special_hyp2f1(double a, double b, double c, double x);
double special_hyp2f1_grad_a(double a, double b, double c, double x);
double special_hyp2f1_grad_b(double a, double b, double c, double x);
double special_hyp2f1_grad_c(double a, double b, double c, double x);

#endif

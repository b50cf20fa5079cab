/* special_elliptic: complete elliptic integrals and the hypergeometric function. nan gives nan; other edges are those of
 * SciPy. Pure. */
#ifndef DAMO_KERNEL_ELEM_SPECIAL_ELLIPTIC_H
#define DAMO_KERNEL_ELEM_SPECIAL_ELLIPTIC_H

/* K(m), E(m) and (K(m) - E(m)) / m of the parameter m <= 1. */
double special_ellipk(double m);
double special_ellipe(double m);
double special_ellipd(double m);

/* The hypergeometric function F(a, b; c; x), and its derivatives in a, b and c. */
double special_hyp2f1(double a, double b, double c, double x);
double special_hyp2f1_grad_a(double a, double b, double c, double x);
double special_hyp2f1_grad_b(double a, double b, double c, double x);
double special_hyp2f1_grad_c(double a, double b, double c, double x);

#endif

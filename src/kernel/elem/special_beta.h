/* special_beta: the beta function and the regularised incomplete one, its derivatives and its inverse. nan gives nan;
 * other edges are those of SciPy. Pure. */
#ifndef DAMO_KERNEL_ELEM_SPECIAL_BETA_H
#define DAMO_KERNEL_ELEM_SPECIAL_BETA_H

double special_beta(double a, double b);
/* log |beta(a, b)|. */
double special_betaln(double a, double b);
/* I_x(a, b), DLMF 8.17.2, and its derivatives in a and b. */
double special_betainc(double a, double b, double x);
double special_betainc_grad_a(double a, double b, double x);
double special_betainc_grad_b(double a, double b, double x);
double special_betainc_grad_aa(double a, double b, double x);
double special_betainc_grad_ab(double a, double b, double x);
double special_betainc_grad_bb(double a, double b, double x);
/* The x with I_x(a, b) = p. */
double special_betaincinv(double a, double b, double p);

#endif

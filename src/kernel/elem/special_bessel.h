/* special_bessel: Bessel functions of real order, and their derivatives in the order. nan gives nan; other edges are those
 * of SciPy. Pure. */
#ifndef DAMO_KERNEL_ELEM_SPECIAL_BESSEL_H
#define DAMO_KERNEL_ELEM_SPECIAL_BESSEL_H

double special_j0(double x);
double special_j1(double x);
double special_y0(double x);
double special_y1(double x);
double special_i0(double x);
double special_i1(double x);
double special_k0(double x);
double special_k1(double x);
/* exp(-|x|) i0(x), exp(-|x|) i1(x). */
double special_i0e(double x);
double special_i1e(double x);

double special_jv(double v, double x);
double special_yv(double v, double x);
double special_iv(double v, double x);
double special_kv(double v, double x);
/* exp(-|x|) iv(v, x), exp(x) kv(v, x). */
double special_ive(double v, double x);
double special_kve(double v, double x);
/* Derivatives in v, x > 0. */
double special_jv_grad_v(double v, double x);
double special_yv_grad_v(double v, double x);
double special_ive_grad_v(double v, double x);
double special_kve_grad_v(double v, double x);
/* And the second ones. */
double special_jv_grad_vv(double v, double x);
double special_yv_grad_vv(double v, double x);
double special_ive_grad_vv(double v, double x);
double special_kve_grad_vv(double v, double x);

/* sqrt(pi / (2 x)) jv(n + 1/2, x) for whole n >= 0. */
double special_spherical_jn(double n, double x);

#endif

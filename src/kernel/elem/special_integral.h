/* special_integral: Dawson's, sine, cosine and Fresnel's integrals. nan gives nan; other edges are those of SciPy. Pure. */
#ifndef DAMO_KERNEL_ELEM_SPECIAL_INTEGRAL_H
#define DAMO_KERNEL_ELEM_SPECIAL_INTEGRAL_H

/* Dawson's integral exp(-x²) ∫ exp(t²) dt from 0 to x (DLMF 7.2.5). */
double special_dawsn(double x);
/* Si(x), Ci(|x|), Shi(x), Chi(|x|) (DLMF 6.2.9 to 6.2.16). */
double special_sinint(double x);
double special_cosint(double x);
double special_sinhint(double x);
double special_coshint(double x);
/* S(x) and C(x), of sin(pi t² / 2) and cos(pi t² / 2) (DLMF 7.2.7, 7.2.8). */
double special_fresnels(double x);
double special_fresnelc(double x);

#endif

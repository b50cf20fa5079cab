/* special: special functions of doubles that neither C's library nor SLEEF has. Relative error about 1e-14 (near a zero
 * other than psi's positive one, absolute). nan gives nan; poles and domain errors as noted at each function. Pure. */
#ifndef DAMO_KERNEL_ELEM_SPECIAL_H
#define DAMO_KERNEL_ELEM_SPECIAL_H

/* exp(x²) erfc(x). */
double special_erfcx(double x);
/* The x with erf(x) = y; ±inf at ±1, nan outside [-1, 1]. */
double special_erfinv(double y);
/* The x with erfc(x) = p; inf at 0, -inf at 2, nan outside [0, 2]. */
double special_erfcinv(double p);
/* The logarithmic derivative of gamma; nan at negative integers, ∓inf at ±0. */
double special_psi(double x);
/* The derivative of psi; inf at 0 and the negative integers. */
double special_tri_gamma(double x);
/* log(1 - exp(x)); -inf at 0, nan above. */
double special_log1mexp(double x);

#endif

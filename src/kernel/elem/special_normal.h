/* special_normal: the normal distribution, and products with logarithms. nan gives nan; other edges are those of SciPy.
 * Pure. */
#ifndef DAMO_KERNEL_ELEM_SPECIAL_NORMAL_H
#define DAMO_KERNEL_ELEM_SPECIAL_NORMAL_H

/* The normal distribution function, its logarithm, its inverse, and the inverse of the logarithm. */
double special_ndtr(double x);
double special_log_ndtr(double x);
double special_ndtri(double p);
double special_ndtri_exp(double y);
/* log(p / (1 - p)). */
double special_logit(double p);
/* x log y and x log(1 + y), 0 where x is 0 and y is no nan. */
double special_xlogy(double x, double y);
double special_xlog1py(double x, double y);
/* -x log x; 0 at 0, -inf below. */
double special_entr(double x);
/* sin(pi x) / (pi x). */
double special_sinc(double x);
/* T(h, a) of Owen (1956). */
double special_owens_t(double h, double a);

#endif

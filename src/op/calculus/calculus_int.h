/* calculus_int: what the files of convolutions, polynomials, differences and products of vectors share. Private to
 * src/op. */
#ifndef DAMO_OP_CALCULUS_CALCULUS_INT_H
#define DAMO_OP_CALCULUS_CALCULUS_INT_H

#include "op/shape/shape_int.h"
#include "op/elem/build_arith.h"

extern const op_def convolve_def, polyval_def;
extern const op_check convolve_check; /* convolve_check.c */

damo_status fn_convolve(build *b, const fn_args *a, ptrvec *out);
damo_status fn_polyval(build *b, const fn_args *a, ptrvec *out);
/* The powers x^(n-1) … x^0 of each of the points, a row a point. polyval.c */
damo_var *build_power_rows(build *b, damo_var *x, damo_var *n);
damo_status fn_polyfit(build *b, const fn_args *a, ptrvec *out); /* polynomials.c */
damo_status fn_roots(build *b, const fn_args *a, ptrvec *out);
damo_status fn_polyadd(build *b, const fn_args *a, ptrvec *out); /* polyadd, polysub */
damo_status fn_polymul(build *b, const fn_args *a, ptrvec *out);
damo_status fn_polyder(build *b, const fn_args *a, ptrvec *out);
damo_status fn_polyint(build *b, const fn_args *a, ptrvec *out);
/* The coefficients of the polynomial's derivative: none of a constant. polyval.c */
damo_var *build_polynomial_derivative(build *b, damo_var *p);
/* The whole convolution of two vectors of one wide dtype. convolve.c */
damo_var *build_convolution(build *b, damo_var *x, damo_var *y);
damo_status fn_trapezoid(build *b, const fn_args *a, ptrvec *out);
damo_status fn_gradient(build *b, const fn_args *a, ptrvec *out);

typedef struct calculus_options {
  prop_value mode, axis, dx, spacing, edge_order, deg, rcond, w, m, k;
} calculus_options;

#endif

/* integral_grad: derivatives of the functions of special_integral.c, special_airy.c, special_kummer.c and of the
 * incomplete elliptic integrals, as special_grad.c has those of the others. All are of real numbers. DLMF is dlmf.nist.gov.
 */
#include "elem_int.h"
#include "build_arith.h"
#include "build_math.h"
#include "build_special.h"
#include "grad_terms.h"
#include "op/shape/shape_int.h"

#define HALF_PI 1.57079632679489661923

/* ---- Integrals ------------------------------------------------------------------------------------------------------- */

/* F'(x) = 1 - 2 x F(x), by differentiating the definition, DLMF 7.2.5. */
damo_var *elemwise_d_dawsn(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)i;
  return build_mul(b, g, grad_one_less(b, grad_scaled(b, build_mul(b, in[0], out), 2)));
}

/* f(x) / x, 1 at 0 */
static damo_var *slope_over(build *b, damo_var *f, damo_var *x) {
  damo_var *none = build_eq(b, x, build_num(b, 0));
  return build_switch(b, none, build_num(b, 1), build_true_div(b, f, x));
}

damo_var *elemwise_d_sinint(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return build_mul(b, g, slope_over(b, build_sin(b, in[0]), in[0]));
}

damo_var *elemwise_d_cosint(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return build_mul(b, g, build_true_div(b, build_cos(b, in[0]), in[0]));
}

damo_var *elemwise_d_sinhint(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return build_mul(b, g, slope_over(b, build_sinh(b, in[0]), in[0]));
}

damo_var *elemwise_d_coshint(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return build_mul(b, g, build_true_div(b, build_cosh(b, in[0]), in[0]));
}

damo_var *elemwise_d_fresnels(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return build_mul(b, g, build_sin(b, grad_scaled(b, build_sqr(b, in[0]), HALF_PI)));
}

damo_var *elemwise_d_fresnelc(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return build_mul(b, g, build_cos(b, grad_scaled(b, build_sqr(b, in[0]), HALF_PI)));
}

/* ---- Airy's functions: w'' = x w (DLMF 9.2.1) -------------------------------------------------------------------------- */

damo_var *elemwise_d_airy_ai(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return build_mul(b, g, build_airy_ai_prime(b, in[0]));
}

damo_var *elemwise_d_airy_ai_prime(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return build_mul(b, g, build_mul(b, in[0], build_airy_ai(b, in[0])));
}

damo_var *elemwise_d_airy_bi(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return build_mul(b, g, build_airy_bi_prime(b, in[0]));
}

damo_var *elemwise_d_airy_bi_prime(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return build_mul(b, g, build_mul(b, in[0], build_airy_bi(b, in[0])));
}

/* ---- Incomplete elliptic integrals ------------------------------------------------------------------------------------- */

/* sqrt(1 - m sin²) as sqrt(cos² + (1 - m) sin²), which does not cancel near the end of a quarter */
static damo_var *elliptic_delta(build *b, damo_var *const *in) {
  damo_var *s = build_sqr(b, build_sin(b, in[0])), *c = build_sqr(b, build_cos(b, in[0]));
  return build_sqrt(b, build_add(b, c, build_mul(b, grad_one_less(b, in[1]), s)));
}

damo_var *elemwise_d_ellipkinc(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  if (i == 0) return build_true_div(b, g, elliptic_delta(b, in));
  return build_mul(b, g, build_ellipkinc_grad_m(b, in[0], in[1]));
}

/* In m: (E - F) / (2 m), DLMF 19.4.6. */
damo_var *elemwise_d_ellipeinc(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  if (i == 0) return build_mul(b, g, elliptic_delta(b, in));
  return grad_scaled(b, build_mul(b, g, build_ellipdinc(b, in[0], in[1])), -0.5);
}

static damo_var *no_second_in_m(build *b) {
  return build_null(b, "second derivatives of incomplete elliptic integrals in m are not implemented");
}

damo_var *elemwise_d_ellipdinc(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  if (i == 1) return no_second_in_m(b);
  damo_var *s = build_sqr(b, build_sin(b, in[0]));
  return build_mul(b, g, build_true_div(b, s, elliptic_delta(b, in)));
}

damo_var *elemwise_d_ellipkinc_grad_m(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  if (i == 1) return no_second_in_m(b);
  damo_var *s = build_sqr(b, build_sin(b, in[0])), *delta = elliptic_delta(b, in);
  return grad_scaled(b, build_mul(b, g, build_true_div(b, s, build_mul(b, build_sqr(b, delta), delta))), 0.5);
}

/* ---- Jacobi's functions: those of the amplitude, whose derivatives are dn (DLMF 22.16.2) and, since F(am, m) = u, -dn dF/dm  */

static damo_var *amplitude_slope(build *b, damo_var *const *in, int i) {
  damo_var *dn = build_jacobi_dn(b, in[0], in[1]);
  if (i == 0) return dn;
  damo_var *of_m = build_ellipkinc_grad_m(b, build_jacobi_am(b, in[0], in[1]), in[1]);
  return build_neg(b, build_mul(b, dn, of_m));
}

damo_var *elemwise_d_jacobi_am(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  return build_mul(b, g, amplitude_slope(b, in, i));
}

damo_var *elemwise_d_jacobi_sn(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  return build_mul(b, g, build_mul(b, build_jacobi_cn(b, in[0], in[1]), amplitude_slope(b, in, i)));
}

damo_var *elemwise_d_jacobi_cn(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  return build_neg(b, build_mul(b, g, build_mul(b, build_jacobi_sn(b, in[0], in[1]), amplitude_slope(b, in, i))));
}

/* dn² = 1 - m sn² */
damo_var *elemwise_d_jacobi_dn(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  damo_var *sn = build_jacobi_sn(b, in[0], in[1]), *cn = build_jacobi_cn(b, in[0], in[1]);
  damo_var *both = build_mul(b, in[1], build_mul(b, sn, cn));
  if (i == 0) return build_neg(b, build_mul(b, g, both));
  damo_var *slope = build_add(b, grad_scaled(b, build_sqr(b, sn), 0.5), build_mul(b, both, amplitude_slope(b, in, 1)));
  return build_neg(b, build_mul(b, g, build_true_div(b, slope, out)));
}

/* ---- Kummer's function ------------------------------------------------------------------------------------------------- */

/* A row of hyp1f1 at a + 1, b + 1. */
typedef damo_var *kummer_row(build *b, damo_var *a, damo_var *second, damo_var *x);
static damo_var *kummer_above(build *b, kummer_row *f, damo_var *const *in) {
  return f(b, grad_plus_one(b, in[0]), grad_plus_one(b, in[1]), in[2]);
}

/* In x: a / b M(a + 1; b + 1; x), DLMF 13.3.15. */
damo_var *elemwise_d_hyp1f1(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  if (i == 0) return build_mul(b, g, build_hyp1f1_grad_a(b, in[0], in[1], in[2]));
  if (i == 1) return build_mul(b, g, build_hyp1f1_grad_b(b, in[0], in[1], in[2]));
  damo_var *scale = build_true_div(b, in[0], in[1]);
  return build_mul(b, g, build_mul(b, scale, kummer_above(b, build_hyp1f1, in)));
}

/* In x that formula, differentiated in the parameter of the row. */
static damo_var *kummer_slope_in_x(build *b, damo_var *const *in, damo_var *g, int i, kummer_row *f, bool of_a) {
  if (i < 2) return build_null(b, "second derivatives of hyp1f1 in a and b are not implemented");
  damo_var *scale = build_true_div(b, in[0], in[1]);
  damo_var *of_scale = of_a ? build_reciprocal(b, in[1]) : build_neg(b, build_true_div(b, scale, in[1]));
  damo_var *d = build_mul(b, of_scale, kummer_above(b, build_hyp1f1, in));
  return build_mul(b, g, build_add(b, d, build_mul(b, scale, kummer_above(b, f, in))));
}

damo_var *elemwise_d_hyp1f1_grad_a(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  return kummer_slope_in_x(b, in, g, i, build_hyp1f1_grad_a, true);
}

damo_var *elemwise_d_hyp1f1_grad_b(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  return kummer_slope_in_x(b, in, g, i, build_hyp1f1_grad_b, false);
}

#undef HALF_PI

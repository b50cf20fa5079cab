/* special_grad: derivatives of the special functions, as grad.c has those of the others. All are of real numbers.
 *
 * Where a derivative in a parameter is no elementary function, it is a scalar op of its own (gammainc_grad_a), whose
 * derivative in x is closed again; its derivative in the parameter is undefined, and says so. DLMF is dlmf.nist.gov.
 */
#include "elem_int.h"
#include "build_arith.h"
#include "build_math.h"
#include "build_special.h"

#define SPECIAL_PI 3.14159265358979323846
#define SQRT_2_PI 2.50662827463100050242
#define SQRT_2_OVER_PI 0.79788456080286535588
#define SQRT_HALF 0.70710678118654752440

static damo_var *special_scaled(build *b, damo_var *x, double c) { return build_mul(b, x, build_num(b, c)); }
static damo_var *less_one(build *b, damo_var *x) { return build_sub(b, x, build_num(b, 1)); }
static damo_var *plus_one(build *b, damo_var *x) { return build_add(b, x, build_num(b, 1)); }
static damo_var *negated(build *b, damo_var *x) { return build_neg(b, x); }
static damo_var *equals_zero(build *b, damo_var *x) { return build_eq(b, x, build_num(b, 0)); }

/* ---- Incomplete gamma functions ------------------------------------------------------------------------------------ */

/* x^(a-1) exp(-x), the integrand of DLMF 8.2.1. */
static damo_var *gamma_integrand(build *b, damo_var *a, damo_var *x) {
  return build_exp(b, build_sub(b, build_xlogy(b, less_one(b, a), x), x));
}

/* The same over gamma(a): the density of a gamma variable. */
static damo_var *gamma_density(build *b, damo_var *a, damo_var *x) {
  damo_var *power = build_sub(b, build_xlogy(b, less_one(b, a), x), x);
  return build_exp(b, build_sub(b, power, build_gammaln(b, a)));
}

damo_var *elemwise_d_gammainc(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  return build_mul(b, g, i == 0 ? build_gammainc_grad_a(b, in[0], in[1]) : gamma_density(b, in[0], in[1]));
}

damo_var *elemwise_d_gammaincc(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  return negated(b, elemwise_d_gammainc(b, in, out, g, i));
}

damo_var *elemwise_d_gammainc_grad_a(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  damo_var *a = in[0], *x = in[1];
  if (i == 0) return build_null(b, "the second derivative of gammainc in a is not implemented");
  return build_mul(b, g, build_mul(b, gamma_density(b, a, x), build_sub(b, build_log(b, x), build_psi(b, a))));
}

/* In a: gamma'(a) P + gamma(a) dP/da. */
damo_var *elemwise_d_gammal(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  damo_var *a = in[0], *x = in[1];
  if (i == 1) return build_mul(b, g, gamma_integrand(b, a, x));
  damo_var *of_part = build_mul(b, build_gamma(b, a), build_gammainc_grad_a(b, a, x));
  return build_mul(b, g, build_add(b, build_mul(b, out, build_psi(b, a)), of_part));
}

damo_var *elemwise_d_gammau(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  damo_var *a = in[0], *x = in[1];
  if (i == 1) return negated(b, build_mul(b, g, gamma_integrand(b, a, x)));
  damo_var *of_part = build_mul(b, build_gamma(b, a), build_gammainc_grad_a(b, a, x));
  return build_mul(b, g, build_sub(b, build_mul(b, out, build_psi(b, a)), of_part));
}

/* F(a, x) = p: dx/dp = 1 / density, dx/da = -(dF/da) / density. */
damo_var *elemwise_d_gammaincinv(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  damo_var *q = build_true_div(b, g, gamma_density(b, in[0], out));
  return i == 1 ? q : negated(b, build_mul(b, q, build_gammainc_grad_a(b, in[0], out)));
}

damo_var *elemwise_d_gammainccinv(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  damo_var *d = elemwise_d_gammaincinv(b, in, out, g, i);
  return i == 1 ? negated(b, d) : d;
}

/* ---- Beta ------------------------------------------------------------------------------------------------------------ */

/* psi(in[i]) - psi(a + b) */
static damo_var *beta_log_slope(build *b, damo_var *const *in, int i) {
  return build_sub(b, build_psi(b, in[i]), build_psi(b, build_add(b, in[0], in[1])));
}

damo_var *elemwise_d_betaln(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  return build_mul(b, g, beta_log_slope(b, in, i));
}

damo_var *elemwise_d_beta(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  return build_mul(b, g, build_mul(b, out, beta_log_slope(b, in, i)));
}

/* x^(a-1) (1-x)^(b-1) / beta(a, b) */
static damo_var *beta_density(build *b, damo_var *const *in, damo_var *x) {
  damo_var *low = build_xlogy(b, less_one(b, in[0]), x), *high = build_xlog1py(b, less_one(b, in[1]), negated(b, x));
  return build_exp(b, build_sub(b, build_add(b, low, high), build_betaln(b, in[0], in[1])));
}

damo_var *elemwise_d_betainc(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  damo_var *d = i == 0   ? build_betainc_grad_a(b, in[0], in[1], in[2])
                : i == 1 ? build_betainc_grad_b(b, in[0], in[1], in[2])
                         : beta_density(b, in, in[2]);
  return build_mul(b, g, d);
}

damo_var *elemwise_d_betainc_grad_a(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  if (i < 2) return build_null(b, "second derivatives of betainc in a and b are not implemented");
  damo_var *slope = build_sub(b, build_log(b, in[2]), beta_log_slope(b, in, 0));
  return build_mul(b, g, build_mul(b, beta_density(b, in, in[2]), slope));
}

damo_var *elemwise_d_betainc_grad_b(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  if (i < 2) return build_null(b, "second derivatives of betainc in a and b are not implemented");
  damo_var *slope = build_sub(b, build_log1p(b, negated(b, in[2])), beta_log_slope(b, in, 1));
  return build_mul(b, g, build_mul(b, beta_density(b, in, in[2]), slope));
}

damo_var *elemwise_d_betaincinv(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  damo_var *q = build_true_div(b, g, beta_density(b, in, out));
  if (i == 2) return q;
  damo_var *d = i == 0 ? build_betainc_grad_a(b, in[0], in[1], out) : build_betainc_grad_b(b, in[0], in[1], out);
  return negated(b, build_mul(b, q, d));
}

/* ---- Ratios of gamma functions ----------------------------------------------------------------------------------------- */

damo_var *elemwise_d_poch(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  damo_var *slope = build_psi(b, build_add(b, in[0], in[1]));
  if (i == 0) slope = build_sub(b, slope, build_psi(b, in[0]));
  return build_mul(b, g, build_mul(b, out, slope));
}

damo_var *elemwise_d_binom(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  damo_var *own = build_psi(b, plus_one(b, in[i])), *rest = build_psi(b, plus_one(b, build_sub(b, in[0], in[1])));
  damo_var *slope = i == 0 ? build_sub(b, own, rest) : build_sub(b, rest, own);
  return build_mul(b, g, build_mul(b, out, slope));
}

damo_var *elemwise_d_factorial(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)i;
  damo_var *d = build_mul(b, out, build_psi(b, plus_one(b, in[0])));
  return build_mul(b, g, build_switch(b, build_lt(b, in[0], build_num(b, 0)), build_num(b, 0), d));
}

/* ---- The normal distribution -------------------------------------------------------------------------------------------- */

/* exp(-x²/2) / sqrt(2 pi) */
static damo_var *normal_density(build *b, damo_var *x) {
  return special_scaled(b, build_exp(b, special_scaled(b, build_sqr(b, x), -0.5)), 1 / SQRT_2_PI);
}

/* The density over the distribution function: sqrt(2/pi) / erfcx(-x / sqrt(2)). */
static damo_var *normal_hazard(build *b, damo_var *x) {
  return build_true_div(b, build_num(b, SQRT_2_OVER_PI), build_erfcx(b, special_scaled(b, x, -SQRT_HALF)));
}

damo_var *elemwise_d_ndtr(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return build_mul(b, g, normal_density(b, in[0]));
}

damo_var *elemwise_d_log_ndtr(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return build_mul(b, g, normal_hazard(b, in[0]));
}

damo_var *elemwise_d_ndtri(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)in, (void)i;
  return build_true_div(b, g, normal_density(b, out));
}

damo_var *elemwise_d_ndtri_exp(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)in, (void)i;
  return build_true_div(b, g, normal_hazard(b, out));
}

/* In h: -exp(-h²/2) erf(ah / sqrt(2)) / (2 sqrt(2 pi)); in a: exp(-h² (1 + a²) / 2) / (2 pi (1 + a²)) (Owen 1956). */
damo_var *elemwise_d_owens_t(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  damo_var *h = in[0], *a = in[1];
  if (i == 0) {
    damo_var *e = build_erf(b, special_scaled(b, build_mul(b, a, h), SQRT_HALF));
    return special_scaled(b, build_mul(b, g, build_mul(b, normal_density(b, h), e)), -0.5);
  }
  damo_var *w = plus_one(b, build_sqr(b, a)),
           *e = build_exp(b, special_scaled(b, build_mul(b, build_sqr(b, h), w), -0.5));
  return special_scaled(b, build_mul(b, g, build_true_div(b, e, w)), 0.5 / SPECIAL_PI);
}

/* ---- Logarithms and sines ---------------------------------------------------------------------------------------------- */

damo_var *elemwise_d_logit(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return build_true_div(b, g, build_mul(b, in[0], build_sub(b, build_num(b, 1), in[0])));
}

/* (cos(pi x) - sinc(x)) / x, 0 at 0 */
damo_var *elemwise_d_sinc(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)i;
  damo_var *d = build_true_div(b, build_sub(b, build_cos(b, special_scaled(b, in[0], SPECIAL_PI)), out), in[0]);
  return build_mul(b, g, build_switch(b, equals_zero(b, in[0]), build_num(b, 0), d));
}

/* In y: x / y, 0 where x is 0. */
damo_var *elemwise_d_xlogy(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  if (i == 0) return build_mul(b, g, build_log(b, in[1]));
  damo_var *d = build_true_div(b, in[0], in[1]);
  return build_mul(b, g, build_switch(b, equals_zero(b, in[0]), build_num(b, 0), d));
}

damo_var *elemwise_d_xlog1py(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  if (i == 0) return build_mul(b, g, build_log1p(b, in[1]));
  damo_var *d = build_true_div(b, in[0], plus_one(b, in[1]));
  return build_mul(b, g, build_switch(b, equals_zero(b, in[0]), build_num(b, 0), d));
}

damo_var *elemwise_d_entr(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return negated(b, build_mul(b, g, plus_one(b, build_log(b, in[0]))));
}

#undef SPECIAL_PI
#undef SQRT_2_PI
#undef SQRT_2_OVER_PI
#undef SQRT_HALF

/* special_grad: derivatives of the special functions, as grad.c has those of the others. All but that of lambertw are of real
 * numbers.
 *
 * Where a derivative in a parameter is no elementary function, it is a scalar op of its own (gammainc_grad_a), whose
 * derivative in x is closed again; so are the second ones (gammainc_grad_aa), where there are any. A derivative that no op
 * gives is undefined, and says so. DLMF is dlmf.nist.gov.
 */
#include "elem_int.h"
#include "build_arith.h"
#include "build_math.h"
#include "build_special.h"
#include "grad_terms.h"
#include "op/shape/shape_int.h"

#define SPECIAL_PI 3.14159265358979323846
#define SQRT_2_PI 2.50662827463100050242
#define SQRT_2_OVER_PI 0.79788456080286535588
#define SQRT_HALF 0.70710678118654752440

static damo_var *negated(build *b, damo_var *x) { return build_neg(b, x); }
static damo_var *equals_zero(build *b, damo_var *x) { return build_eq(b, x, build_num(b, 0)); }

/* ---- Incomplete gamma functions ------------------------------------------------------------------------------------ */

/* x^(a-1) exp(-x), the integrand of DLMF 8.2.1. */
static damo_var *gamma_integrand(build *b, damo_var *a, damo_var *x) {
  return build_exp(b, build_sub(b, build_xlogy(b, grad_less_one(b, a), x), x));
}

/* The same over gamma(a): the density of a gamma variable. */
static damo_var *gamma_density(build *b, damo_var *a, damo_var *x) {
  damo_var *power = build_sub(b, build_xlogy(b, grad_less_one(b, a), x), x);
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
  if (i == 0) return build_mul(b, g, build_gammainc_grad_aa(b, a, x));
  return build_mul(b, g, build_mul(b, gamma_density(b, a, x), build_sub(b, build_log(b, x), build_psi(b, a))));
}

/* The density times (log(x) - psi(a))² - psi'(a). */
damo_var *elemwise_d_gammainc_grad_aa(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  damo_var *a = in[0], *x = in[1];
  if (i == 0) return build_null(b, "the third derivative of gammainc in a is not implemented");
  damo_var *square = build_sqr(b, build_sub(b, build_log(b, x), build_psi(b, a)));
  return build_mul(b, g, build_mul(b, gamma_density(b, a, x), build_sub(b, square, build_tri_gamma(b, a))));
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
  damo_var *low = build_xlogy(b, grad_less_one(b, in[0]), x),
           *high = build_xlog1py(b, grad_less_one(b, in[1]), negated(b, x));
  return build_exp(b, build_sub(b, build_add(b, low, high), build_betaln(b, in[0], in[1])));
}

damo_var *elemwise_d_betainc(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  damo_var *d = i == 0   ? build_betainc_grad_a(b, in[0], in[1], in[2])
                : i == 1 ? build_betainc_grad_b(b, in[0], in[1], in[2])
                         : beta_density(b, in, in[2]);
  return build_mul(b, g, d);
}

/* The derivative of the density's logarithm in a (p 0) or b: log(x) or log(1 - x), less that of betaln. */
static damo_var *beta_density_slope(build *b, damo_var *const *in, int p) {
  damo_var *of_x = p == 0 ? build_log(b, in[2]) : build_log1p(b, negated(b, in[2]));
  return build_sub(b, of_x, beta_log_slope(b, in, p));
}

damo_var *elemwise_d_betainc_grad_a(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  damo_var *d = i == 0   ? build_betainc_grad_aa(b, in[0], in[1], in[2])
                : i == 1 ? build_betainc_grad_ab(b, in[0], in[1], in[2])
                         : build_mul(b, beta_density(b, in, in[2]), beta_density_slope(b, in, 0));
  return build_mul(b, g, d);
}

damo_var *elemwise_d_betainc_grad_b(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  damo_var *d = i == 0   ? build_betainc_grad_ab(b, in[0], in[1], in[2])
                : i == 1 ? build_betainc_grad_bb(b, in[0], in[1], in[2])
                         : build_mul(b, beta_density(b, in, in[2]), beta_density_slope(b, in, 1));
  return build_mul(b, g, d);
}

/* With s_p the slopes above, in x: the density times s_p s_q and the derivative of s_p in q. */
static damo_var *beta_third(build *b, damo_var *const *in, damo_var *g, int i, int p, int q) {
  if (i < 2) return build_null(b, "third derivatives of betainc in a and b are not implemented");
  damo_var *slope = build_tri_gamma(b, build_add(b, in[0], in[1]));
  if (p == q) slope = build_sub(b, slope, build_tri_gamma(b, in[p]));
  damo_var *square = build_mul(b, beta_density_slope(b, in, p), beta_density_slope(b, in, q));
  return build_mul(b, g, build_mul(b, beta_density(b, in, in[2]), build_add(b, square, slope)));
}

damo_var *elemwise_d_betainc_grad_aa(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  return beta_third(b, in, g, i, 0, 0);
}

damo_var *elemwise_d_betainc_grad_ab(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  return beta_third(b, in, g, i, 0, 1);
}

damo_var *elemwise_d_betainc_grad_bb(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  return beta_third(b, in, g, i, 1, 1);
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
  damo_var *own = build_psi(b, grad_plus_one(b, in[i])),
           *rest = build_psi(b, grad_plus_one(b, build_sub(b, in[0], in[1])));
  damo_var *slope = i == 0 ? build_sub(b, own, rest) : build_sub(b, rest, own);
  return build_mul(b, g, build_mul(b, out, slope));
}

damo_var *elemwise_d_factorial(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)i;
  damo_var *d = build_mul(b, out, build_psi(b, grad_plus_one(b, in[0])));
  return build_mul(b, g, build_switch(b, build_lt(b, in[0], build_num(b, 0)), build_num(b, 0), d));
}

/* ---- The normal distribution -------------------------------------------------------------------------------------------- */

/* exp(-x²/2) / sqrt(2 pi) */
static damo_var *normal_density(build *b, damo_var *x) {
  return grad_scaled(b, build_exp(b, grad_scaled(b, build_sqr(b, x), -0.5)), 1 / SQRT_2_PI);
}

/* The density over the distribution function: sqrt(2/pi) / erfcx(-x / sqrt(2)). */
static damo_var *normal_hazard(build *b, damo_var *x) {
  return build_true_div(b, build_num(b, SQRT_2_OVER_PI), build_erfcx(b, grad_scaled(b, x, -SQRT_HALF)));
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
    damo_var *e = build_erf(b, grad_scaled(b, build_mul(b, a, h), SQRT_HALF));
    return grad_scaled(b, build_mul(b, g, build_mul(b, normal_density(b, h), e)), -0.5);
  }
  damo_var *w = grad_plus_one(b, build_sqr(b, a)),
           *e = build_exp(b, grad_scaled(b, build_mul(b, build_sqr(b, h), w), -0.5));
  return grad_scaled(b, build_mul(b, g, build_true_div(b, e, w)), 0.5 / SPECIAL_PI);
}

/* ---- Logarithms and sines ---------------------------------------------------------------------------------------------- */

damo_var *elemwise_d_logit(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return build_true_div(b, g, build_mul(b, in[0], build_sub(b, build_num(b, 1), in[0])));
}

/* -pi j_1(pi x), j_1 being the spherical Bessel function */
damo_var *elemwise_d_sinc(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  damo_var *j = build_spherical_jn(b, build_num(b, 1), grad_scaled(b, in[0], SPECIAL_PI));
  return grad_scaled(b, build_mul(b, g, j), -SPECIAL_PI);
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
  damo_var *d = build_true_div(b, in[0], grad_plus_one(b, in[1]));
  return build_mul(b, g, build_switch(b, equals_zero(b, in[0]), build_num(b, 0), d));
}

damo_var *elemwise_d_entr(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return negated(b, build_mul(b, g, grad_plus_one(b, build_log(b, in[0]))));
}

/* ---- zeta, exponential integrals, Lambert's W ---------------------------------------------------------------------------- */

/* psi'' is polygamma(2, x). */
damo_var *elemwise_d_tetra_gamma(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return build_mul(b, g, build_polygamma(b, build_num(b, 3), in[0]));
}

damo_var *elemwise_d_polygamma(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  if (i == 0) return build_null(b, "the order of polygamma is whole");
  return build_mul(b, g, build_polygamma(b, grad_plus_one(b, in[0]), in[1]));
}

/* In q: -s zeta(s + 1, q), DLMF 25.11.17. */
damo_var *elemwise_d_hurwitz_zeta(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  if (i == 0) return build_mul(b, g, build_zeta_grad_s(b, in[0], in[1]));
  damo_var *d = build_mul(b, in[0], build_hurwitz_zeta(b, grad_plus_one(b, in[0]), in[1]));
  return negated(b, build_mul(b, g, d));
}

damo_var *elemwise_d_zeta_grad_s(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  damo_var *s = in[0], *q = in[1];
  if (i == 0) return build_mul(b, g, build_zeta_grad_ss(b, s, q));
  damo_var *above = grad_plus_one(b, s), *d = build_mul(b, s, build_zeta_grad_s(b, above, q));
  return negated(b, build_mul(b, g, build_add(b, build_hurwitz_zeta(b, above, q), d)));
}

damo_var *elemwise_d_zeta_grad_ss(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  damo_var *s = in[0], *q = in[1];
  if (i == 0) return build_null(b, "the third derivative of zeta in s is not implemented");
  damo_var *above = grad_plus_one(b, s), *d = build_mul(b, s, build_zeta_grad_ss(b, above, q));
  return negated(b, build_mul(b, g, build_add(b, grad_scaled(b, build_zeta_grad_s(b, above, q), 2), d)));
}

damo_var *elemwise_d_riemann_zeta(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return build_mul(b, g, build_riemann_zeta_grad(b, in[0]));
}

damo_var *elemwise_d_riemann_zeta_grad(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return build_mul(b, g, build_riemann_zeta_grad_ss(b, in[0]));
}

/* n - 1, or 0 where that is negative */
static damo_var *order_below(build *b, damo_var *n) { return build_maximum(b, grad_less_one(b, n), build_num(b, 0)); }

/* -E_(n-1) (DLMF 8.19.13), which for n < 1 is -(exp(-x) + (1 - n) E_n) / x (DLMF 8.19.12). */
damo_var *elemwise_d_expn(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  damo_var *n = in[0], *x = in[1];
  if (i == 0) return build_mul(b, g, build_expn_grad_n(b, n, x));
  damo_var *part = build_mul(b, grad_less_one(b, n), out);
  damo_var *low = build_true_div(b, build_sub(b, build_exp(b, negated(b, x)), part), x);
  damo_var *below = build_expn(b, order_below(b, n), x);
  return negated(b, build_mul(b, g, build_switch(b, build_lt(b, n, build_num(b, 1)), low, below)));
}

damo_var *elemwise_d_expn_grad_n(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  damo_var *n = in[0], *x = in[1];
  if (i == 0) return build_mul(b, g, build_expn_grad_nn(b, n, x));
  damo_var *part = build_mul(b, grad_less_one(b, n), out);
  damo_var *low = negated(b, build_true_div(b, build_add(b, build_expn(b, n, x), part), x));
  damo_var *below = build_expn_grad_n(b, order_below(b, n), x);
  return negated(b, build_mul(b, g, build_switch(b, build_lt(b, n, build_num(b, 1)), low, below)));
}

damo_var *elemwise_d_expn_grad_nn(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  damo_var *n = in[0], *x = in[1];
  if (i == 0) return build_null(b, "the third derivative of expn in n is not implemented");
  damo_var *part = build_mul(b, grad_less_one(b, n), out);
  damo_var *sum = build_add(b, grad_scaled(b, build_expn_grad_n(b, n, x), 2), part);
  damo_var *low = negated(b, build_true_div(b, sum, x)), *below = build_expn_grad_nn(b, order_below(b, n), x);
  return negated(b, build_mul(b, g, build_switch(b, build_lt(b, n, build_num(b, 1)), low, below)));
}

damo_var *elemwise_d_exp1(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return negated(b, build_mul(b, g, build_true_div(b, build_exp(b, negated(b, in[0])), in[0])));
}

damo_var *elemwise_d_expi(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return build_mul(b, g, build_true_div(b, build_exp(b, in[0]), in[0]));
}

/* exp(-w) / (1 + w) */
damo_var *elemwise_d_lambertw(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)in, (void)i;
  damo_var *d = build_true_div(b, build_exp(b, negated(b, out)), grad_plus_one(b, out));
  return build_mul(b, g, build_conj_if_complex(b, d));
}

/* ---- Bessel functions -------------------------------------------------------------------------------------------------- */

/* f0(x) - f1(x) / x */
static damo_var *bessel_first(build *b, damo_var *f0, damo_var *f1, damo_var *x) {
  return build_sub(b, f0, build_true_div(b, f1, x));
}

/* sign(x) f, by which the factor exp(-|x|) lowers a derivative */
static damo_var *bessel_scale_slope(build *b, damo_var *x, damo_var *f) { return build_mul(b, build_sign(b, x), f); }

damo_var *elemwise_d_i0e(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)i;
  return build_mul(b, g, build_sub(b, build_i1e(b, in[0]), bessel_scale_slope(b, in[0], out)));
}

/* i1'(x) = i0(x) - i1(x) / x, 1/2 at 0 */
damo_var *elemwise_d_i1e(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)i;
  damo_var *d = bessel_first(b, build_i0e(b, in[0]), out, in[0]);
  d = build_switch(b, equals_zero(b, in[0]), build_num(b, 0.5), d);
  return build_mul(b, g, build_sub(b, d, bessel_scale_slope(b, in[0], out)));
}

damo_var *elemwise_d_k0(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return negated(b, build_mul(b, g, build_k1(b, in[0])));
}

damo_var *elemwise_d_k1(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)i;
  damo_var *d = build_add(b, build_k0(b, in[0]), build_true_div(b, out, in[0]));
  return negated(b, build_mul(b, g, d));
}

damo_var *elemwise_d_y0(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return negated(b, build_mul(b, g, build_y1(b, in[0])));
}

damo_var *elemwise_d_y1(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)i;
  return build_mul(b, g, bessel_first(b, build_y0(b, in[0]), out, in[0]));
}

typedef damo_var *bessel_row(build *b, damo_var *v, damo_var *x);

/* (f(v - 1, x) - f(v + 1, x)) / 2, or with sign 1 the sum (DLMF 10.6.1, 10.29.1). */
static damo_var *bessel_slope(build *b, bessel_row *f, damo_var *v, damo_var *x, int sign) {
  damo_var *low = f(b, grad_less_one(b, v), x), *high = f(b, grad_plus_one(b, v), x);
  return grad_scaled(b, sign > 0 ? build_add(b, low, high) : build_sub(b, low, high), 0.5);
}

damo_var *elemwise_d_jv(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  return build_mul(b, g, i == 0 ? build_jv_grad_v(b, in[0], in[1]) : bessel_slope(b, build_jv, in[0], in[1], -1));
}

damo_var *elemwise_d_yv(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  return build_mul(b, g, i == 0 ? build_yv_grad_v(b, in[0], in[1]) : bessel_slope(b, build_yv, in[0], in[1], -1));
}

/* In v: exp(|x|) times the derivative of ive. */
damo_var *elemwise_d_iv(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  if (i == 1) return build_mul(b, g, bessel_slope(b, build_iv, in[0], in[1], 1));
  damo_var *d = build_mul(b, build_exp(b, build_abs(b, in[1])), build_ive_grad_v(b, in[0], in[1]));
  return build_mul(b, g, d);
}

damo_var *elemwise_d_kv(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  if (i == 1) return negated(b, build_mul(b, g, bessel_slope(b, build_kv, in[0], in[1], 1)));
  damo_var *d = build_mul(b, build_exp(b, negated(b, in[1])), build_kve_grad_v(b, in[0], in[1]));
  return build_mul(b, g, d);
}

damo_var *elemwise_d_ive(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  if (i == 0) return build_mul(b, g, build_ive_grad_v(b, in[0], in[1]));
  damo_var *d = bessel_slope(b, build_ive, in[0], in[1], 1);
  return build_mul(b, g, build_sub(b, d, bessel_scale_slope(b, in[1], out)));
}

damo_var *elemwise_d_kve(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  if (i == 0) return build_mul(b, g, build_kve_grad_v(b, in[0], in[1]));
  return build_mul(b, g, build_sub(b, out, bessel_slope(b, build_kve, in[0], in[1], 1)));
}

/* The derivatives in the order obey the same recurrences. */
static damo_var *no_third_in_order(build *b) {
  return build_null(b, "third derivatives of Bessel functions in the order are not implemented");
}

damo_var *elemwise_d_jv_grad_v(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  if (i == 0) return build_mul(b, g, build_jv_grad_vv(b, in[0], in[1]));
  return build_mul(b, g, bessel_slope(b, build_jv_grad_v, in[0], in[1], -1));
}

damo_var *elemwise_d_yv_grad_v(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  if (i == 0) return build_mul(b, g, build_yv_grad_vv(b, in[0], in[1]));
  return build_mul(b, g, bessel_slope(b, build_yv_grad_v, in[0], in[1], -1));
}

damo_var *elemwise_d_ive_grad_v(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  if (i == 0) return build_mul(b, g, build_ive_grad_vv(b, in[0], in[1]));
  return build_mul(b, g, build_sub(b, bessel_slope(b, build_ive_grad_v, in[0], in[1], 1), out));
}

damo_var *elemwise_d_kve_grad_v(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  if (i == 0) return build_mul(b, g, build_kve_grad_vv(b, in[0], in[1]));
  return build_mul(b, g, build_sub(b, out, bessel_slope(b, build_kve_grad_v, in[0], in[1], 1)));
}

damo_var *elemwise_d_jv_grad_vv(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  if (i == 0) return no_third_in_order(b);
  return build_mul(b, g, bessel_slope(b, build_jv_grad_vv, in[0], in[1], -1));
}

damo_var *elemwise_d_yv_grad_vv(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  if (i == 0) return no_third_in_order(b);
  return build_mul(b, g, bessel_slope(b, build_yv_grad_vv, in[0], in[1], -1));
}

damo_var *elemwise_d_ive_grad_vv(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  if (i == 0) return no_third_in_order(b);
  return build_mul(b, g, build_sub(b, bessel_slope(b, build_ive_grad_vv, in[0], in[1], 1), out));
}

damo_var *elemwise_d_kve_grad_vv(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  if (i == 0) return no_third_in_order(b);
  return build_mul(b, g, build_sub(b, out, bessel_slope(b, build_kve_grad_vv, in[0], in[1], 1)));
}

/* (n j_(n-1) - (n + 1) j_(n+1)) / (2n + 1), DLMF 10.51.2 */
damo_var *elemwise_d_spherical_jn(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  damo_var *n = in[0], *x = in[1];
  if (i == 0) return build_null(b, "the order of spherical_jn is whole");
  damo_var *above = grad_plus_one(b, n), *low = build_mul(b, n, build_spherical_jn(b, order_below(b, n), x));
  damo_var *d = build_sub(b, low, build_mul(b, above, build_spherical_jn(b, above, x)));
  return build_mul(b, g, build_true_div(b, d, build_add(b, n, above)));
}

/* ---- Elliptic integrals, the hypergeometric function ----------------------------------------------------------------------- */

/* With D = (K - E) / m, K' = (K - D) / (2 (1 - m)) and E' = -D / 2 (DLMF 19.4.1, 19.4.2). */
damo_var *elemwise_d_ellipk(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)i;
  damo_var *rest = grad_scaled(b, build_sub(b, build_num(b, 1), in[0]), 2);
  return build_mul(b, g, build_true_div(b, build_sub(b, out, build_ellipd(b, in[0])), rest));
}

damo_var *elemwise_d_ellipe(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return grad_scaled(b, build_mul(b, g, build_ellipd(b, in[0])), -0.5);
}

/* ((K - D) / (1 - m) - D) / (2 m), which cancels near 0: there 3 pi / 32 F(3/2, 5/2; 3; m) of D = pi / 4 F(1/2, 3/2; 2; m),
 * whose own derivatives are as exact. */
damo_var *elemwise_d_ellipd(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)i;
  damo_var *m = in[0], *rest = build_sub(b, build_num(b, 1), m);
  damo_var *small = build_lt(b, build_abs(b, m), build_num(b, 0.25));
  damo_var *near = build_switch(b, small, m, build_zeros_like(b, m)); /* what is not read stays finite */
  damo_var *far = build_switch(b, small, build_ones_like(b, m), m);
  damo_var *k = build_true_div(b, build_sub(b, build_ellipk(b, m), out), rest);
  damo_var *d = build_true_div(b, build_sub(b, k, out), grad_scaled(b, far, 2));
  damo_var *series = build_hyp2f1(b, build_num(b, 1.5), build_num(b, 2.5), build_num(b, 3), near);
  return build_mul(b, g, build_switch(b, small, grad_scaled(b, series, SPECIAL_PI * 3 / 32), d));
}

/* A row of hyp2f1 at a + 1, b + 1, c + 1. */
typedef damo_var *hyper_row(build *b, damo_var *a, damo_var *second, damo_var *c, damo_var *x);
static damo_var *hyper_above(build *b, hyper_row *f, damo_var *const *in) {
  return f(b, grad_plus_one(b, in[0]), grad_plus_one(b, in[1]), grad_plus_one(b, in[2]), in[3]);
}

/* In x: a b / c F(a + 1, b + 1; c + 1; x), DLMF 15.5.1. */
damo_var *elemwise_d_hyp2f1(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  damo_var *d;
  if (i < 3) {
    hyper_row *const rows[] = {build_hyp2f1_grad_a, build_hyp2f1_grad_b, build_hyp2f1_grad_c};
    d = rows[i](b, in[0], in[1], in[2], in[3]);
  } else {
    damo_var *scale = build_true_div(b, build_mul(b, in[0], in[1]), in[2]);
    d = build_mul(b, scale, hyper_above(b, build_hyp2f1, in));
  }
  return build_mul(b, g, d);
}

/* In x that formula, differentiated in the parameter p of the row. */
static damo_var *hyper_parameter_slope(build *b, damo_var *const *in, damo_var *g, int i, hyper_row *f, int p) {
  if (i < 3) return build_null(b, "second derivatives of hyp2f1 in a, b and c are not implemented");
  damo_var *scale = build_true_div(b, build_mul(b, in[0], in[1]), in[2]);
  damo_var *of_scale = build_true_div(b, p == 2 ? negated(b, scale) : in[1 - p], in[2]);
  damo_var *d = build_mul(b, of_scale, hyper_above(b, build_hyp2f1, in));
  return build_mul(b, g, build_add(b, d, build_mul(b, scale, hyper_above(b, f, in))));
}

damo_var *elemwise_d_hyp2f1_grad_a(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  return hyper_parameter_slope(b, in, g, i, build_hyp2f1_grad_a, 0);
}

damo_var *elemwise_d_hyp2f1_grad_b(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  return hyper_parameter_slope(b, in, g, i, build_hyp2f1_grad_b, 1);
}

damo_var *elemwise_d_hyp2f1_grad_c(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  return hyper_parameter_slope(b, in, g, i, build_hyp2f1_grad_c, 2);
}

#undef SPECIAL_PI
#undef SQRT_2_PI
#undef SQRT_2_OVER_PI
#undef SQRT_HALF

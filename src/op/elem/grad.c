/* grad: derivatives of the scalar ops.
 *
 * In: a node's operands x, y, …, its output z and the output's gradient g. Out: g · conj(∂z/∂operand), of the output's
 * shape (elemwise.c sums it back to the operand's). The conjugate makes ∂C/∂Re + i ∂C/∂Im of a real cost C. Holds: z is
 * used where it saves a function call; constants are weak literals, so that no rule changes a dtype.
 */
#include "elem_int.h"
#include "build_arith.h"
#include "build_math.h"
#include "build_special.h"
#include "grad_terms.h"
#include "masked.h"
#include "op/shape/shape_int.h"

#define PI 3.14159265358979323846
#define LN2 0.69314718055994530942
#define LN10 2.30258509299404568402
#define TWO_OVER_SQRT_PI 1.12837916709551257390
#define SQRT_PI_OVER_2 0.88622692545275801365

/* ---- Formulas ---------------------------------------------------------------------------------------------------- */

static damo_var *times_number(build *b, damo_var *x, double c) { return build_mul(b, x, build_num(b, c)); }
static damo_var *build_one_plus(build *b, damo_var *x) { return build_add(b, build_num(b, 1), x); }

/* g times, or over, the conjugate of a derivative. */
static damo_var *times_conj(build *b, damo_var *g, damo_var *d) { return build_mul(b, g, build_conj_if_complex(b, d)); }
static damo_var *over_conj(build *b, damo_var *g, damo_var *d) {
  return build_true_div(b, g, build_conj_if_complex(b, d));
}

/* g where the condition holds, else 0 (never nan: a product with a bool would keep g's nan and inf). */
static damo_var *where_or_zero(build *b, damo_var *cond, damo_var *g) { return build_where(b, cond, g, false, true); }

/* ---- Arithmetic -------------------------------------------------------------------------------------------------- */

damo_var *elemwise_d_zero(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)g;
  return build_zeros_like(b, in[i]);
}

damo_var *elemwise_d_add(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)b, (void)in, (void)out, (void)i;
  return g;
}

damo_var *elemwise_d_sub(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)in, (void)out;
  return i == 0 ? g : build_neg(b, g);
}

damo_var *elemwise_d_mul(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  return times_conj(b, g, in[1 - i]);
}

damo_var *elemwise_d_true_div(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  damo_var *gx = over_conj(b, g, in[1]);
  return i == 0 ? gx : build_neg(b, times_conj(b, gx, out));
}

/* x % y = x - (x // y) y */
damo_var *elemwise_d_mod(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  return i == 0 ? g : build_neg(b, build_mul(b, g, build_floor_div(b, in[0], in[1])));
}

/* fmod(x, y) = x - trunc(x / y) y */
damo_var *elemwise_d_fmod(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  return i == 0 ? g : build_neg(b, build_mul(b, g, build_trunc_div(b, in[0], in[1])));
}

/* |x| with the sign of y: sign(x) sign(y), and no slope along y but at 0 */
damo_var *elemwise_d_copysign(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  if (i == 1) return build_zeros_like(b, out);
  return build_mul(b, g, build_mul(b, build_sign(b, in[0]), build_copysign(b, build_num(b, 1), in[1])));
}

/* x but for one unit in the last place */
damo_var *elemwise_d_nextafter(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)in;
  return i == 0 ? g : build_zeros_like(b, out);
}

damo_var *elemwise_d_heaviside(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  if (i == 0) return build_zeros_like(b, out);
  return where_or_zero(b, build_eq(b, in[0], build_num(b, 0)), g);
}

damo_var *elemwise_d_ldexp(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return build_ldexp(b, g, in[1]);
}

/* x 2^-n for the exponent n */
damo_var *elemwise_d_frexp_mantissa(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return build_ldexp(b, g, build_neg(b, build_frexp_exponent(b, in[0])));
}

/* y x^(y-1), and x^y log x, which is taken as 0 where x is 0 */
damo_var *elemwise_d_pow(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  damo_var *x = in[0], *y = in[1];
  if (i == 0) return times_conj(b, g, build_mul(b, y, build_pow(b, x, build_sub(b, y, build_num(b, 1)))));
  damo_var *d = build_mul(b, out, build_log(b, x));
  return where_or_zero(b, build_neq(b, x, build_num(b, 0)), times_conj(b, g, d));
}

/* At ties the first operand takes the whole of g, so that the two gradients add up to g. */
damo_var *elemwise_d_extremum(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  return where_or_zero(b, i == 0 ? build_eq(b, out, in[0]) : build_neq(b, out, in[0]), g);
}

/* arctan2(y, x) */
damo_var *elemwise_d_arctan2(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  damo_var *norm = build_add(b, build_sqr(b, in[0]), build_sqr(b, in[1]));
  damo_var *d = build_true_div(b, in[1 - i], norm);
  return build_mul(b, g, i == 0 ? d : build_neg(b, d));
}

damo_var *elemwise_d_logaddexp(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  return build_mul(b, g, build_sigmoid(b, build_sub(b, in[i], in[1 - i])));
}

/* 2^x / (2^x + 2^y) */
damo_var *elemwise_d_logaddexp2(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  return build_mul(b, g, build_sigmoid(b, times_number(b, build_sub(b, in[i], in[1 - i]), LN2)));
}

damo_var *elemwise_d_hypot(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  return build_mul(b, g, build_true_div(b, in[i], out));
}

damo_var *elemwise_d_switch(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  return build_where(b, in[0], g, i == 2, false);
}

/* g goes to x where lo <= x <= hi, to lo where x < lo, else to hi where x > hi. */
damo_var *elemwise_d_clip(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out;
  damo_var *x = in[0];
  if (i == 1) return where_or_zero(b, build_lt(b, x, in[1]), g);
  if (i == 2) {
    damo_var *above = build_gt(b, x, in[2]), *below = build_lt(b, x, in[1]);
    return where_or_zero(b, build_and_(b, above, build_invert(b, below)), g);
  }
  return where_or_zero(b, build_and_(b, build_ge(b, x, in[1]), build_le(b, x, in[2])), g);
}

damo_var *elemwise_d_copy(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)b, (void)in, (void)out, (void)i;
  return g;
}

damo_var *elemwise_d_neg(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)in, (void)out, (void)i;
  return build_neg(b, g);
}

/* sign(x), of complex x too: 0 at 0, where it is one of the slopes. */
damo_var *elemwise_d_abs(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return build_mul(b, g, build_sign(b, in[0]));
}

/* Of complex z, w = z / |z|: the part of g / |z| that is at right angles to w, and 0 at z = 0. */
damo_var *elemwise_d_sign(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)i;
  damo_var *along = build_mul(b, out, build_real(b, build_mul(b, g, build_conj(b, out))));
  damo_var *size = build_abs(b, in[0]);
  return where_or_zero(b, build_gt(b, size, build_num(b, 0)), build_true_div(b, build_sub(b, g, along), size));
}

damo_var *elemwise_d_sqr(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return times_conj(b, g, times_number(b, in[0], 2));
}

damo_var *elemwise_d_sqrt(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)in, (void)i;
  return over_conj(b, times_number(b, g, 0.5), out);
}

damo_var *elemwise_d_cbrt(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)in, (void)i;
  return build_true_div(b, g, times_number(b, build_sqr(b, out), 3));
}

damo_var *elemwise_d_reciprocal(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)in, (void)i;
  return build_neg(b, times_conj(b, g, build_sqr(b, out)));
}

/* ---- Exponentials and logarithms --------------------------------------------------------------------------------- */

damo_var *elemwise_d_exp(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)in, (void)i;
  return times_conj(b, g, out);
}

damo_var *elemwise_d_exp2(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)in, (void)i;
  return times_conj(b, g, times_number(b, out, LN2));
}

damo_var *elemwise_d_exp10(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)in, (void)i;
  return build_mul(b, g, times_number(b, out, LN10));
}

damo_var *elemwise_d_expm1(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return times_conj(b, g, build_exp(b, in[0]));
}

damo_var *elemwise_d_log(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return over_conj(b, g, in[0]);
}

damo_var *elemwise_d_log2(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return over_conj(b, g, times_number(b, in[0], LN2));
}

damo_var *elemwise_d_log10(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return over_conj(b, g, times_number(b, in[0], LN10));
}

damo_var *elemwise_d_log1p(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return over_conj(b, g, build_one_plus(b, in[0]));
}

damo_var *elemwise_d_sigmoid(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)in, (void)i;
  return times_conj(b, g, build_mul(b, out, grad_one_less(b, out)));
}

damo_var *elemwise_d_softplus(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return times_conj(b, g, build_sigmoid(b, in[0]));
}

/* log(1 - e^x): -e^x / (1 - e^x) = -1 / (e^-x - 1) */
damo_var *elemwise_d_log1mexp(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return build_neg(b, over_conj(b, g, build_expm1(b, build_neg(b, in[0]))));
}

/* ---- Trigonometry ------------------------------------------------------------------------------------------------ */

damo_var *elemwise_d_sin(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return times_conj(b, g, build_cos(b, in[0]));
}

damo_var *elemwise_d_cos(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return build_neg(b, times_conj(b, g, build_sin(b, in[0])));
}

damo_var *elemwise_d_tan(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)in, (void)i;
  return times_conj(b, g, build_one_plus(b, build_sqr(b, out)));
}

damo_var *elemwise_d_arcsin(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return over_conj(b, g, build_sqrt(b, grad_one_less(b, build_sqr(b, in[0]))));
}

damo_var *elemwise_d_arccos(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  return build_neg(b, elemwise_d_arcsin(b, in, out, g, i));
}

damo_var *elemwise_d_arctan(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return over_conj(b, g, build_one_plus(b, build_sqr(b, in[0])));
}

damo_var *elemwise_d_sinh(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return times_conj(b, g, build_cosh(b, in[0]));
}

damo_var *elemwise_d_cosh(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return times_conj(b, g, build_sinh(b, in[0]));
}

damo_var *elemwise_d_tanh(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)in, (void)i;
  return times_conj(b, g, grad_one_less(b, build_sqr(b, out)));
}

damo_var *elemwise_d_arcsinh(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return over_conj(b, g, build_sqrt(b, build_one_plus(b, build_sqr(b, in[0]))));
}

/* sqrt(x - 1) sqrt(x + 1), not sqrt(x² - 1): x² - 1 loses digits near 1, and the two differ for complex x */
damo_var *elemwise_d_arccosh(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  damo_var *low = build_sqrt(b, build_sub(b, in[0], build_num(b, 1)));
  damo_var *high = build_sqrt(b, build_one_plus(b, in[0]));
  return over_conj(b, g, build_mul(b, low, high));
}

damo_var *elemwise_d_arctanh(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return over_conj(b, g, grad_one_less(b, build_sqr(b, in[0])));
}

damo_var *elemwise_d_deg2rad(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)in, (void)out, (void)i;
  return times_number(b, g, PI / 180);
}

damo_var *elemwise_d_rad2deg(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)in, (void)out, (void)i;
  return times_number(b, g, 180 / PI);
}

/* ---- Special functions ------------------------------------------------------------------------------------------- */

damo_var *elemwise_d_erf(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return times_conj(b, g, times_number(b, build_exp(b, build_neg(b, build_sqr(b, in[0]))), TWO_OVER_SQRT_PI));
}

damo_var *elemwise_d_erfc(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  return build_neg(b, elemwise_d_erf(b, in, out, g, i));
}

/* 2 x erfcx(x) - 2/sqrt(pi) */
damo_var *elemwise_d_erfcx(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)i;
  damo_var *d = build_sub(b, times_number(b, build_mul(b, in[0], out), 2), build_num(b, TWO_OVER_SQRT_PI));
  return times_conj(b, g, d);
}

damo_var *elemwise_d_erfinv(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)in, (void)i;
  return times_conj(b, g, times_number(b, build_exp(b, build_sqr(b, out)), SQRT_PI_OVER_2));
}

damo_var *elemwise_d_erfcinv(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  return build_neg(b, elemwise_d_erfinv(b, in, out, g, i));
}

damo_var *elemwise_d_gamma(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)i;
  return times_conj(b, g, build_mul(b, out, build_psi(b, in[0])));
}

damo_var *elemwise_d_gammaln(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return times_conj(b, g, build_psi(b, in[0]));
}

damo_var *elemwise_d_psi(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return times_conj(b, g, build_tri_gamma(b, in[0]));
}

damo_var *elemwise_d_tri_gamma(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return times_conj(b, g, build_tetra_gamma(b, in[0]));
}

damo_var *elemwise_d_i0(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return times_conj(b, g, build_i1(b, in[0]));
}

/* The derivative of i1 and of j1: f0(x) - f1(x) / x, which is 1/2 at 0. */
static damo_var *bessel_one(build *b, damo_var *zeroth, damo_var *x, damo_var *out) {
  damo_var *d = build_sub(b, zeroth, build_true_div(b, out, x));
  return build_switch(b, build_eq(b, x, build_num(b, 0)), build_num(b, 0.5), d);
}

damo_var *elemwise_d_i1(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)i;
  return times_conj(b, g, bessel_one(b, build_i0(b, in[0]), in[0], out));
}

damo_var *elemwise_d_j0(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return build_neg(b, times_conj(b, g, build_j1(b, in[0])));
}

damo_var *elemwise_d_j1(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)i;
  return times_conj(b, g, bessel_one(b, build_j0(b, in[0]), in[0], out));
}

/* ---- Complex parts: as maps of (re, im), not holomorphic --------------------------------------------------------- */

damo_var *elemwise_d_conj(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)in, (void)out, (void)i;
  return build_conj_if_complex(b, g);
}

damo_var *elemwise_d_real(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  return dtype_is_complex(var_dtype(in[0])) ? build_complex(b, g, build_num(b, 0)) : g;
}

damo_var *elemwise_d_imag(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  if (!dtype_is_complex(var_dtype(in[0]))) return build_zeros_like(b, in[0]);
  return build_complex(b, build_num(b, 0), g);
}

/* arctan2(im, re): (-im + i re) / |z|² */
damo_var *elemwise_d_angle(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)out, (void)i;
  damo_var *z = in[0];
  if (!dtype_is_complex(var_dtype(z))) return build_zeros_like(b, z);
  damo_var *i_times_z = build_complex(b, build_neg(b, build_imag(b, z)), build_real(b, z));
  return build_mul(b, g, build_true_div(b, i_times_z, build_sqr(b, build_abs(b, z))));
}

damo_var *elemwise_d_complex(build *b, damo_var *const *in, damo_var *out, damo_var *g, int i) {
  (void)in, (void)out;
  return i == 0 ? build_real(b, g) : build_imag(b, g);
}

#undef PI
#undef LN2
#undef LN10
#undef TWO_OVER_SQRT_PI
#undef SQRT_PI_OVER_2

#include "draw_grad.h"
#include "op/elem/build_arith.h"
#include "op/elem/build_math.h"
#include "op/elem/build_special.h"

#include <math.h>

static damo_var *grad_num(build *b, double v) { return build_num(b, v); }
static damo_var *grad_half(build *b, damo_var *x) { return build_mul(b, build_num(b, 0.5), x); }

/* x = loc + scale · z: its derivative by loc is 1, by scale (x - loc) / scale. */
damo_var *grad_loc_scale(build *b, damo_var *const *p, damo_var *x, damo_var *g, int i) {
  return i == 0 ? g : build_mul(b, g, build_true_div(b, build_sub(b, x, p[0]), p[1]));
}

/* x = scale · z */
damo_var *grad_scale(build *b, damo_var *const *p, damo_var *x, damo_var *g, int i) {
  return build_mul(b, g, build_true_div(b, x, p[i]));
}

damo_var *grad_uniform(build *b, damo_var *const *p, damo_var *x, damo_var *g, int i) {
  damo_var *u = build_true_div(b, build_sub(b, x, p[0]), build_sub(b, p[1], p[0]));
  return build_mul(b, g, i == 0 ? build_sub(b, build_num(b, 1), u) : u);
}

/* x = exp(mu + sigma · z) */
damo_var *grad_lognormal(build *b, damo_var *const *p, damo_var *x, damo_var *g, int i) {
  damo_var *by_mu = build_mul(b, g, x);
  if (i == 0) return by_mu;
  return build_mul(b, by_mu, build_true_div(b, build_sub(b, build_log(b, x), p[0]), p[1]));
}

/* x = scale · z^(1/a), a being the first parameter */
damo_var *grad_power(build *b, damo_var *const *p, damo_var *x, damo_var *g, int i) {
  if (i == 1) return grad_scale(b, p, x, g, 1);
  damo_var *log_z = build_true_div(b, build_log(b, build_true_div(b, x, p[1])), p[0]);
  return build_neg(b, build_mul(b, g, build_mul(b, x, log_z)));
}

/* Below the mode (x - left)² = u w (mode - left) with w = right - left, above it (right - x)² = (1 - u) w (right - mode).
 * `edge` is the end on x's side of the mode, `far` the other; with s = x - edge and h = mode - edge the derivative by the
 * mode is s / (2 h), by the far end s / (2 (far - edge)), by the edge 1 less the sum of both. */
damo_var *grad_triangular(build *b, damo_var *const *p, damo_var *x, damo_var *g, int i) {
  damo_var *below = build_lt(b, x, p[1]);
  damo_var *edge = build_switch(b, below, p[0], p[2]), *far = build_switch(b, below, p[2], p[0]);
  damo_var *s = grad_half(b, build_sub(b, x, edge));
  damo_var *by_mode = build_true_div(b, s, build_sub(b, p[1], edge));
  damo_var *by_far = build_true_div(b, s, build_sub(b, far, edge));
  if (i == 1) return build_mul(b, g, by_mode);
  damo_var *by_edge = build_sub(b, build_sub(b, build_num(b, 1), by_mode), by_far);
  return build_mul(b, g, i == 0 ? build_switch(b, below, by_edge, by_far) : build_switch(b, below, by_far, by_edge));
}

/* z = (x - loc) / scale has 1 - exp(-z) = u (1 - exp(-b)): dz/db = u exp(z - b). */
damo_var *grad_truncexpon(build *b, damo_var *const *p, damo_var *x, damo_var *g, int i) {
  if (i == 1) return g;
  damo_var *z = build_true_div(b, build_sub(b, x, p[1]), p[2]);
  if (i == 2) return build_mul(b, g, z);
  damo_var *u = build_true_div(b, build_expm1(b, build_neg(b, z)), build_expm1(b, build_neg(b, p[0])));
  return build_mul(b, g, build_mul(b, build_mul(b, p[2], u), build_exp(b, build_sub(b, z, p[0]))));
}

/* ---- Gamma, beta, t ---------------------------------------------------------------------------------------------- */

/* The derivative of y = log z by the shape a, z a gamma draw: -(dP/da) / (z p(z)) with z p(z) = exp(a y - z) / Gamma(a).
 * Where z vanishes next to 1, P = z^a / Gamma(a + 1), and it is (psi(a + 1) - y) / a. */
static damo_var *log_gamma_by_shape(build *b, damo_var *a, damo_var *y) {
  damo_var *z = build_exp(b, y);
  damo_var *inverse = build_exp(b, build_add(b, build_sub(b, z, build_mul(b, a, y)), build_gammaln(b, a)));
  damo_var *implicit = build_neg(b, build_mul(b, build_gammainc_grad_a(b, a, z), inverse));
  damo_var *limit = build_true_div(b, build_sub(b, build_psi(b, build_add(b, a, build_num(b, 1))), y), a);
  return build_switch(b, build_lt(b, y, build_num(b, -36)), limit, implicit);
}

/* log x, of an x that underflowed that of the least number. */
static damo_var *log_of_draw(build *b, damo_var *x) {
  return build_log(b, build_maximum(b, x, build_num(b, 0x1p-1022)));
}

damo_var *grad_log_gamma(build *b, damo_var *const *p, damo_var *x, damo_var *g, int i) {
  (void)i;
  return build_mul(b, g, log_gamma_by_shape(b, p[0], x));
}

damo_var *grad_gamma(build *b, damo_var *const *p, damo_var *x, damo_var *g, int i) {
  if (i == 1) return grad_scale(b, p, x, g, 1);
  damo_var *y = log_of_draw(b, build_true_div(b, x, p[1]));
  return build_mul(b, g, build_mul(b, x, log_gamma_by_shape(b, p[0], y)));
}

/* x = scale / z */
damo_var *grad_invgamma(build *b, damo_var *const *p, damo_var *x, damo_var *g, int i) {
  if (i == 1) return grad_scale(b, p, x, g, 1);
  damo_var *y = log_of_draw(b, build_true_div(b, p[1], x));
  return build_neg(b, build_mul(b, g, build_mul(b, x, log_gamma_by_shape(b, p[0], y))));
}

/* x = scale · exp(y / p), y the logarithm of a gamma draw of shape alpha / p: with D its derivative by the shape,
 * dx/d(alpha) = x D / p² and dx/dp = -x (y + D alpha / p) / p². */
damo_var *grad_gengamma(build *b, damo_var *const *p, damo_var *x, damo_var *g, int i) {
  if (i == 2) return grad_scale(b, p, x, g, 2);
  damo_var *y = build_mul(b, p[1], log_of_draw(b, build_true_div(b, x, p[2])));
  damo_var *shape = build_true_div(b, p[0], p[1]), *by = log_gamma_by_shape(b, shape, y);
  if (i == 1) by = build_neg(b, build_add(b, y, build_mul(b, by, shape)));
  return build_mul(b, g, build_true_div(b, build_mul(b, x, by), build_sqr(b, p[1])));
}

/* x = 2 z, the shape being df / 2 */
damo_var *grad_chisquare(build *b, damo_var *const *p, damo_var *x, damo_var *g, int i) {
  (void)i;
  damo_var *by = log_gamma_by_shape(b, grad_half(b, p[0]), log_of_draw(b, grad_half(b, x)));
  return build_mul(b, g, build_mul(b, grad_half(b, x), by));
}

/* -(dI/dp) / f, f = x^(a-1) (1-x)^(b-1) / B(a, b); x is kept from the ends, where f may be infinite. */
damo_var *grad_beta(build *b, damo_var *const *p, damo_var *x, damo_var *g, int i) {
  damo_var *one = build_num(b, 1);
  x = build_clip(b, x, build_num(b, 1e-300), build_num(b, 1 - 0x1p-53));
  damo_var *log_f = build_add(b, build_mul(b, build_sub(b, p[0], one), build_log(b, x)),
                              build_mul(b, build_sub(b, p[1], one), build_log1p(b, build_neg(b, x))));
  damo_var *inverse = build_exp(b, build_sub(b, build_betaln(b, p[0], p[1]), log_f));
  damo_var *by = i == 0 ? build_betainc_grad_a(b, p[0], p[1], x) : build_betainc_grad_b(b, p[0], p[1], x);
  return build_neg(b, build_mul(b, g, build_mul(b, by, inverse)));
}

/* x = n z / (m (1 - z)) with a beta draw z of m/2 and n/2, where 1 - z = n / (m x + n). */
damo_var *grad_f(build *b, damo_var *const *p, damo_var *x, damo_var *g, int i) {
  damo_var *m = p[0], *n = p[1], *mx = build_mul(b, m, x);
  damo_var *rest = build_true_div(b, n, build_add(b, mx, n)), *z = build_true_div(b, mx, build_add(b, mx, n));
  damo_var *const shapes[2] = {grad_half(b, m), grad_half(b, n)};
  damo_var *by_z = build_true_div(b, build_true_div(b, n, m), build_sqr(b, rest));
  damo_var *inner = grad_half(b, grad_beta(b, shapes, z, build_mul(b, g, by_z), i));
  damo_var *outer = build_mul(b, g, build_true_div(b, x, i == 0 ? m : n));
  return i == 0 ? build_sub(b, inner, outer) : build_add(b, inner, outer);
}

/* The tail beyond |z| is I_w(df/2, 1/2) / 2 with w = df / (df + z²). Its derivative by df at fixed |z|, over the density
 * f, is |z| / (2 df) + I_a(df/2, 1/2, w) / (4 f), where I_a is that of I by its first parameter; so is d|z|/d(df). */
damo_var *grad_t(build *b, damo_var *const *p, damo_var *x, damo_var *g, int i) {
  if (i == 1) return g;
  damo_var *df = p[0], *z = build_true_div(b, build_sub(b, x, p[1]), p[2]);
  if (i == 2) return build_mul(b, g, z);
  damo_var *half = grad_half(b, df), *c = build_num(b, 0.5), *square = build_sqr(b, z);
  damo_var *w = build_true_div(b, df, build_add(b, df, square));
  damo_var *tail =
      build_mul(b, grad_half(b, build_add(b, df, build_num(b, 1))), build_log1p(b, build_true_div(b, square, df)));
  damo_var *inverse =
      build_exp(b, build_add(b, build_add(b, build_betaln(b, half, c), grad_half(b, build_log(b, df))), tail));
  damo_var *implicit = build_mul(b, build_num(b, 0.25), build_mul(b, build_betainc_grad_a(b, half, c, w), inverse));
  damo_var *by = build_add(b, grad_half(b, build_true_div(b, z, df)), build_mul(b, build_sign(b, z), implicit));
  return build_mul(b, g, build_mul(b, p[2], by));
}

/* ---- Wald, von Mises, truncated normal --------------------------------------------------------------------------- */

/* erfcx(t / sqrt 2) is the normal tail beyond t over its density, times sqrt(2/pi). */
static damo_var *scaled_tail(build *b, damo_var *t) { return build_erfcx(b, build_mul(b, build_num(b, sqrt(0.5)), t)); }

/* From F = Phi(r (x/m - 1)) + exp(2 s/m) Phi(-r (x/m + 1)), r = sqrt(s/x), and f = phi(r (x/m - 1)) r / x: with M the
 * tail beyond r (x/m + 1) over its density, dx/dm = 2 s M x / (m² r) and dx/ds = x/s - 2 x M / (m r). */
damo_var *grad_wald(build *b, damo_var *const *p, damo_var *x, damo_var *g, int i) {
  damo_var *mean = p[0], *scale = p[1], *r = build_sqrt(b, build_true_div(b, scale, x));
  damo_var *beyond = build_mul(b, r, build_add(b, build_true_div(b, x, mean), build_num(b, 1)));
  damo_var *mills = build_mul(b, build_num(b, sqrt(1.57079632679489661923)), scaled_tail(b, beyond));
  damo_var *common = build_true_div(b, build_mul(b, build_mul(b, build_num(b, 2), x), mills), build_mul(b, mean, r));
  damo_var *by =
      i == 0 ? build_true_div(b, build_mul(b, common, scale), mean) : build_sub(b, build_true_div(b, x, scale), common);
  return build_mul(b, g, by);
}

/* A draw is moved by mu; of kappa there is no formula. */
damo_var *grad_vonmises(build *b, damo_var *const *p, damo_var *x, damo_var *g, int i) {
  (void)b, (void)p, (void)x;
  return i == 0 ? g : NULL;
}

/* exp((x² - y²) / 2), 0 where y is infinite. */
static damo_var *density_ratio(build *b, damo_var *y, damo_var *x) {
  return build_exp(b, grad_half(b, build_sub(b, build_sqr(b, x), build_sqr(b, y))));
}

/* The derivatives of the standard draw t in [lo, hi] by lo and hi: (1 - F) phi(lo)/phi(t) and F phi(hi)/phi(t), where F
 * = (Phi(t) - Phi(lo)) / (Phi(hi) - Phi(lo)). Where 0 < lo, by tails over their densities, T(y) = Q(y)/phi(y):
 * (T(t) - T(hi) e(t, hi)) / D and (T(lo) - T(t) e(lo, t)) e(t, hi) / D with D = T(lo) - T(hi) e(lo, hi) and
 * e(x, y) = phi(y)/phi(x). Else directly. */
typedef struct bound_grads {
  damo_var *by_lo, *by_hi;
} bound_grads;

static bound_grads beyond_zero(build *b, damo_var *t, damo_var *lo, damo_var *hi) {
  damo_var *at_lo = scaled_tail(b, lo), *at_t = scaled_tail(b, t), *at_hi = scaled_tail(b, hi);
  damo_var *down = density_ratio(b, hi, t);
  damo_var *mass = build_sub(b, at_lo, build_mul(b, at_hi, density_ratio(b, hi, lo)));
  damo_var *above = build_sub(b, at_t, build_mul(b, at_hi, down));
  damo_var *below = build_sub(b, at_lo, build_mul(b, at_t, density_ratio(b, t, lo)));
  return (bound_grads){build_true_div(b, above, mass), build_true_div(b, build_mul(b, below, down), mass)};
}

static damo_var *normal_mass(build *b, damo_var *lo, damo_var *hi) {
  const double scale = sqrt(0.5);
  return build_sub(b, build_erf(b, build_mul(b, build_num(b, scale), hi)),
                   build_erf(b, build_mul(b, build_num(b, scale), lo)));
}

static bound_grads around_zero(build *b, damo_var *t, damo_var *lo, damo_var *hi) {
  damo_var *mass = normal_mass(b, lo, hi);
  return (bound_grads){
      build_true_div(b, build_mul(b, normal_mass(b, t, hi), density_ratio(b, lo, t)), mass),
      build_true_div(b, build_mul(b, normal_mass(b, lo, t), density_ratio(b, hi, t)), mass),
  };
}

/* mu, sigma, lower, upper: x = mu + sigma t, t in [(lower - mu)/sigma, (upper - mu)/sigma]; intervals below 0 are
 * mirrored. */
damo_var *grad_truncated_normal(build *b, damo_var *const *p, damo_var *x, damo_var *g, int i) {
  damo_var *zero = grad_num(b, 0), *t = build_true_div(b, build_sub(b, x, p[0]), p[1]);
  damo_var *lo = build_true_div(b, build_sub(b, p[2], p[0]), p[1]);
  damo_var *hi = build_true_div(b, build_sub(b, p[3], p[0]), p[1]);
  damo_var *positive = build_gt(b, lo, zero), *negative = build_lt(b, hi, zero);
  damo_var *far_lo = build_switch(b, negative, build_neg(b, hi), lo);
  damo_var *far_hi = build_switch(b, negative, build_neg(b, lo), hi);
  const bound_grads far = beyond_zero(b, build_switch(b, negative, build_neg(b, t), t), far_lo, far_hi);
  const bound_grads near = around_zero(b, t, lo, hi);
  damo_var *by_lo = build_switch(b, positive, far.by_lo, build_switch(b, negative, far.by_hi, near.by_lo));
  damo_var *by_hi = build_switch(b, positive, far.by_hi, build_switch(b, negative, far.by_lo, near.by_hi));
  if (i == 2) return build_mul(b, g, by_lo);
  if (i == 3) return build_mul(b, g, by_hi);
  damo_var *rest = build_sub(b, build_sub(b, grad_num(b, 1), by_lo), by_hi); /* by mu */
  if (i == 0) return build_mul(b, g, rest);
  /* by sigma: t - lo dt/dlo - hi dt/dhi; an infinite bound has no part in it */
  damo_var *from_lo = build_switch(b, build_isinf(b, lo), zero, build_mul(b, lo, by_lo));
  damo_var *from_hi = build_switch(b, build_isinf(b, hi), zero, build_mul(b, hi, by_hi));
  return build_mul(b, g, build_sub(b, build_sub(b, t, from_lo), from_hi));
}

/* windows: tapers of signals, bartlett blackman hamming hanning kaiser, and values spaced evenly on a logarithmic scale.
 *
 * The formulas are those of Harris, On the use of windows for harmonic analysis with the discrete Fourier transform,
 * Proceedings of the IEEE 66 (1978), over k = 0 … n - 1; a window of one value is 1.
 */
#include "op/elem/build_math.h"
#include "op/elem/build_special.h"
#include "shape_int.h"

typedef struct window_options {
  prop_value dtype, num, base;
} window_options;

/* k / (n - 1) as float64, for the n of operand 0; 0 for n = 1. *one: whether n is 1. */
static damo_var *window_places(build *b, const fn_args *a, damo_var **one) {
  damo_var *n = build_integer(b, a->func->name, "the length", a->in[0]), *unit = build_i64(b, 1);
  if (n == NULL) return NULL;
  if (var_ndim(n) != 0)
    return build_fail(b, DAMO_ESHAPE, "%s: the length is a scalar, got %d axes", a->func->name, var_ndim(n));
  damo_var *at = build_range(b, build_i64(b, 0), build_length_sub(b, n, unit));
  damo_var *last = build_maximum(b, build_sub(b, n, unit), unit);
  *one = build_eq(b, n, unit);
  return at ? build_true_div(b, build_cast(b, at, DAMO_FLOAT64), build_cast(b, last, DAMO_FLOAT64)) : NULL;
}

/* The values w, 1 where there is one alone, in the dtype that the call names (default floatX). */
static damo_status window_give(build *b, const fn_args *a, ptrvec *out, damo_var *w, damo_var *one) {
  damo_dtype dt = b->ctx->config.floatX;
  DAMO_TRY(fn_dtype(a, b->ctx, FN_OPTIONS(a, window_options)->dtype, &dt));
  if (w == NULL) return b->status;
  return fn_give(b, out, build_cast(b, build_switch(b, one, build_num(b, 1), w), dt));
}

/* c0 - c1 cos 2πp + c2 cos 4πp. */
static damo_status window_of_cosines(build *b, const fn_args *a, ptrvec *out, double c0, double c1, double c2) {
  const double tau = 6.283185307179586;
  damo_var *one = NULL, *p = window_places(b, a, &one);
  if (p == NULL) return b->status;
  damo_var *w = build_mul(b, build_num(b, c1), build_cos(b, build_mul(b, build_num(b, tau), p)));
  w = build_sub(b, build_num(b, c0), w);
  if (c2 != 0)
    w = build_add(b, w, build_mul(b, build_num(b, c2), build_cos(b, build_mul(b, build_num(b, 2 * tau), p))));
  return window_give(b, a, out, w, one);
}

static damo_status fn_hanning(build *b, const fn_args *a, ptrvec *out) {
  return window_of_cosines(b, a, out, 0.5, 0.5, 0);
}
static damo_status fn_hamming(build *b, const fn_args *a, ptrvec *out) {
  return window_of_cosines(b, a, out, 0.54, 0.46, 0);
}
static damo_status fn_blackman(build *b, const fn_args *a, ptrvec *out) {
  return window_of_cosines(b, a, out, 0.42, 0.5, 0.08);
}

/* 2p - 1, from -1 to 1. */
static damo_var *window_centred(build *b, damo_var *p) {
  return p ? build_sub(b, build_mul(b, build_num(b, 2), p), build_num(b, 1)) : NULL;
}

static damo_status fn_bartlett(build *b, const fn_args *a, ptrvec *out) {
  damo_var *one = NULL, *x = window_centred(b, window_places(b, a, &one));
  return window_give(b, a, out, x ? build_sub(b, build_num(b, 1), build_abs(b, x)) : NULL, one);
}

/* I0(beta √(1 - x²)) / I0(beta). */
static damo_status fn_kaiser(build *b, const fn_args *a, ptrvec *out) {
  damo_var *one = NULL, *x = window_centred(b, window_places(b, a, &one));
  DAMO_TRY(fn_check_tensor(a, b->ctx, 1));
  damo_var *beta = build_strong(b, a->in[1]);
  if (x == NULL || beta == NULL) return b->status;
  if (var_ndim(beta) != 0 || dtype_is_complex(var_dtype(beta)))
    return ctx_fail(b->ctx, DAMO_ETYPE, "kaiser: beta must be a real scalar");
  beta = build_cast(b, beta, DAMO_FLOAT64);
  damo_var *height = build_sqrt(b, build_sub(b, build_num(b, 1), build_sqr(b, x)));
  damo_var *w = build_true_div(b, build_i0(b, build_mul(b, beta, height)), build_i0(b, beta));
  return window_give(b, a, out, w, one);
}

/* ---- Logarithmic scales ------------------------------------------------------------------------------------------ */

/* The operands as float64, and i / (num - 1) for i = 0 … num - 1. */
static damo_var *scale_places(build *b, const fn_args *a, damo_var **ends) {
  const int64_t n = prop_int_or(FN_OPTIONS(a, window_options)->num, 50);
  for (int i = 0; i < 2; i++) {
    const damo_status s = fn_check_tensor(a, b->ctx, i);
    if (s != DAMO_OK) b->status = s;
    ends[i] = build_strong(b, a->in[i]);
    if (ends[i] == NULL) return NULL;
    if (var_ndim(ends[i]) != 0 || dtype_is_complex(var_dtype(ends[i])))
      return build_fail(b, DAMO_ETYPE, "%s: start and stop must be real scalars", a->func->name);
    ends[i] = build_cast(b, ends[i], DAMO_FLOAT64);
  }
  if (n < 0) return build_fail(b, DAMO_EVALUE, "%s: num must not be negative, got %lld", a->func->name, (long long)n);
  damo_var *at = build_range(b, build_i64(b, 0), build_i64(b, n - 1));
  return at ? build_true_div(b, build_cast(b, at, DAMO_FLOAT64), build_num(b, n > 1 ? (double)(n - 1) : 1)) : NULL;
}

static damo_status scale_give(build *b, const fn_args *a, ptrvec *out, damo_var *y) {
  damo_dtype dt = b->ctx->config.floatX;
  DAMO_TRY(fn_dtype(a, b->ctx, FN_OPTIONS(a, window_options)->dtype, &dt));
  return fn_give(b, out, y ? build_cast(b, y, dt) : NULL);
}

/* base^((1 - p) start + p stop) */
static damo_status fn_logspace(build *b, const fn_args *a, ptrvec *out) {
  const double base = prop_num_or(FN_OPTIONS(a, window_options)->base, 10);
  damo_var *end[2], *p = scale_places(b, a, end);
  if (p == NULL) return b->status;
  damo_var *from = build_mul(b, build_sub(b, build_num(b, 1), p), end[0]);
  return scale_give(b, a, out, build_pow(b, build_num(b, base), build_add(b, from, build_mul(b, p, end[1]))));
}

/* start (stop / start)^p, which needs ends of one sign; stop itself at p = 1. */
static damo_status fn_geomspace(build *b, const fn_args *a, ptrvec *out) {
  damo_var *end[2], *p = scale_places(b, a, end), *zero = build_num(b, 0), *one = build_num(b, 1);
  if (p == NULL) return b->status;
  damo_var *ratio = build_true_div(b, end[1], end[0]);
  ratio =
      build_assert(b, ratio, build_gt(b, ratio, zero), "geomspace: start and stop must have one sign, and not be 0");
  damo_var *y = build_mul(b, end[0], build_pow(b, ratio, p));
  return scale_give(b, a, out, build_switch(b, build_eq(b, p, one), end[1], y));
}

#define WINDOW_DTYPE OPT(window_options, dtype, OPT_DTYPE)
#define WINDOW_ROW(own, fn, text) \
  { .name = own, .operands = "n", .options = OPTIONS(WINDOW_DTYPE), .call = fn, .doc = text, .no_method = true }

const op_func window_funcs[] = {
    WINDOW_ROW("bartlett", fn_bartlett, "the triangular window of n values, 0 at its ends"),
    WINDOW_ROW("blackman", fn_blackman, "the window 0.42 - 0.5 cos 2πp + 0.08 cos 4πp of n values, p from 0 to 1"),
    WINDOW_ROW("hamming", fn_hamming, "the window 0.54 - 0.46 cos 2πp of n values"),
    WINDOW_ROW("hanning", fn_hanning, "the window 0.5 - 0.5 cos 2πp of n values"),
    {.name = "kaiser",
     .operands = "n beta",
     .options = OPTIONS(WINDOW_DTYPE),
     .call = fn_kaiser,
     .doc = "the window I0(beta √(1 - x²)) / I0(beta) of n values, x from -1 to 1",
     .no_method = true},
    {.name = "logspace",
     .operands = "start stop",
     .options = OPTIONS(OPT(window_options, num, OPT_INT), OPT(window_options, base, OPT_NUM), WINDOW_DTYPE),
     .call = fn_logspace,
     .doc = "num (default 50) powers of base (default 10), the exponents evenly spaced from start to stop",
     .no_method = true},
    {.name = "geomspace",
     .operands = "start stop",
     .options = OPTIONS(OPT(window_options, num, OPT_INT), WINDOW_DTYPE),
     .call = fn_geomspace,
     .doc = "num (default 50) values from start to stop, of one sign, each the same multiple of the one before",
     .no_method = true},
    {.name = NULL},
};

#undef WINDOW_DTYPE
#undef WINDOW_ROW

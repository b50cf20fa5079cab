/* composed: elementwise functions made of scalar ops: truth values, extremes that pass over nan, parts of numbers. */
#include <math.h>

#include "build_arith.h"
#include "build_math.h"
#include "build_special.h"
#include "op/op.h"
#include "op/shape/shape_int.h"

typedef struct composed_options {
  prop_value d;
} composed_options;

/* The operands of a call, brought to their common dtype. */
static damo_status composed_operands(build *b, const fn_args *a, damo_var **v) {
  for (int i = 0; i < a->n_in; i++) DAMO_TRY(fn_check_tensor(a, b->ctx, i));
  return build_resolve(b, a->in, a->n_in, true, v);
}

/* The same as floats. Refuses complex operands. */
static damo_status composed_floats(build *b, const fn_args *a, damo_var **v) {
  DAMO_TRY(composed_operands(b, a, v));
  const damo_dtype dt = dtype_to_float(var_dtype(v[0]));
  if (dtype_is_complex(dt))
    return ctx_fail(b->ctx, DAMO_ETYPE, "%s is not defined for %s", a->func->name, dtype_name(dt));
  for (int i = 0; i < a->n_in; i++) v[i] = build_cast(b, v[i], dt);
  return b->status;
}

/* ---- Truth values ------------------------------------------------------------------------------------------------ */

/* Operand i as bool: whether it differs from 0, which nan does. */
static damo_var *truth_of(build *b, const fn_args *a, int i) {
  if (fn_check_tensor(a, b->ctx, i) != DAMO_OK) return build_take(b, NULL);
  damo_var *x = build_strong(b, a->in[i]);
  return x == NULL || var_dtype(x) == DAMO_BOOL ? x : build_neq(b, x, build_int(b, 0));
}

static damo_status call_logical_and(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = truth_of(b, a, 0), *y = truth_of(b, a, 1);
  return fn_give(b, out, x && y ? build_and_(b, x, y) : NULL);
}

static damo_status call_logical_or(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = truth_of(b, a, 0), *y = truth_of(b, a, 1);
  return fn_give(b, out, x && y ? build_or_(b, x, y) : NULL);
}

static damo_status call_logical_xor(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = truth_of(b, a, 0), *y = truth_of(b, a, 1);
  return fn_give(b, out, x && y ? build_neq(b, x, y) : NULL);
}

static damo_status call_logical_not(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = truth_of(b, a, 0);
  return fn_give(b, out, x ? build_invert(b, x) : NULL);
}

/* ---- Extremes that pass over nan --------------------------------------------------------------------------------- */

/* The other operand where one is nan. */
static damo_status fmax_of(build *b, const fn_args *a, ptrvec *out, bool largest) {
  damo_var *v[2];
  DAMO_TRY(composed_operands(b, a, v));
  damo_var *y = largest ? build_maximum(b, v[0], v[1]) : build_minimum(b, v[0], v[1]);
  if (y == NULL || dtype_is_discrete(var_dtype(y))) return fn_give(b, out, y);
  damo_var *other = build_switch(b, build_isnan(b, v[1]), v[0], y);
  return fn_give(b, out, build_switch(b, build_isnan(b, v[0]), v[1], other));
}

static damo_status call_fmax(build *b, const fn_args *a, ptrvec *out) { return fmax_of(b, a, out, true); }
static damo_status call_fmin(build *b, const fn_args *a, ptrvec *out) { return fmax_of(b, a, out, false); }

/* ---- Parts of numbers -------------------------------------------------------------------------------------------- */

/* The fraction of an infinity is 0. */
static damo_status call_modf(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x;
  DAMO_TRY(composed_floats(b, a, &x));
  damo_var *whole = build_trunc(b, x);
  damo_var *part = build_switch(b, build_isinf(b, x), build_num(b, 0), build_sub(b, x, whole));
  DAMO_TRY(fn_give(b, out, part));
  return fn_give(b, out, whole);
}

/* x // y and x % y. */
static damo_status call_divmod(build *b, const fn_args *a, ptrvec *out) {
  damo_var *v[2];
  DAMO_TRY(composed_operands(b, a, v));
  DAMO_TRY(fn_give(b, out, build_floor_div(b, v[0], v[1])));
  return fn_give(b, out, build_mod(b, v[0], v[1]));
}

static damo_status call_spacing(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x;
  DAMO_TRY(composed_floats(b, a, &x));
  damo_var *away = build_copysign(b, build_scalar(b, var_dtype(x), INFINITY), x);
  return fn_give(b, out, build_sub(b, build_nextafter(b, x, away), x));
}

/* x // y, and one more where there is a remainder. */
static damo_status call_ceil_intdiv(build *b, const fn_args *a, ptrvec *out) {
  damo_var *v[2];
  DAMO_TRY(composed_operands(b, a, v));
  const damo_dtype dt = var_dtype(v[0]);
  if (!dtype_is_integer(dt))
    return ctx_fail(b->ctx, DAMO_ETYPE, "ceil_intdiv is defined for integers, not for %s", dtype_name(dt));
  damo_var *rest = build_neq(b, build_mod(b, v[0], v[1]), build_int(b, 0));
  return fn_give(b, out, build_add(b, build_floor_div(b, v[0], v[1]), build_cast(b, rest, dt)));
}

static damo_status call_complex_from_polar(build *b, const fn_args *a, ptrvec *out) {
  damo_var *v[2];
  DAMO_TRY(composed_floats(b, a, v));
  damo_var *re = build_mul(b, v[0], build_cos(b, v[1])), *im = build_mul(b, v[0], build_sin(b, v[1]));
  return fn_give(b, out, build_complex(b, re, im));
}

static damo_status call_iround(build *b, const fn_args *a, ptrvec *out) {
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  damo_var *x = build_round(b, a->in[0], FN_OPTIONS(a, round_options));
  if (x != NULL && dtype_is_complex(var_dtype(x)))
    return ctx_fail(b->ctx, DAMO_ETYPE, "iround is not defined for %s", dtype_name(var_dtype(x)));
  return fn_give(b, out, x ? build_cast(b, x, DAMO_INT64) : NULL);
}

/* ---- Special functions ------------------------------------------------------------------------------------------- */

/* x log(x / y) for x > 0 and y > 0, 0 for x = 0 and y >= 0, else infinite: the convex function of Boyd and Vandenberghe,
 * Convex Optimization, 3.2.6. Operands outside the first case are replaced by 1 before the logarithm, so that no nan
 * enters the gradient. */
static damo_status call_rel_entr(build *b, const fn_args *a, ptrvec *out) {
  damo_var *v[2], *zero = build_num(b, 0), *one = build_num(b, 1);
  DAMO_TRY(composed_floats(b, a, v));
  damo_var *inside = build_and_(b, build_gt(b, v[0], zero), build_gt(b, v[1], zero));
  damo_var *edge = build_and_(b, build_eq(b, v[0], zero), build_ge(b, v[1], zero));
  damo_var *nan = build_or_(b, build_isnan(b, v[0]), build_isnan(b, v[1]));
  damo_var *x = build_switch(b, inside, v[0], one), *y = build_switch(b, inside, v[1], one);
  damo_var *term = build_mul(b, x, build_sub(b, build_log(b, x), build_log(b, y)));
  damo_var *outside = build_switch(b, nan, build_num(b, NAN), build_num(b, INFINITY));
  outside = build_cast(b, build_switch(b, edge, zero, outside), var_dtype(v[0]));
  return fn_give(b, out, build_switch(b, inside, term, outside));
}

/* log Γ_d(a) = d (d - 1) / 4 log π + Σ_{j = 1 … d} log Γ(a + (1 - j) / 2), DLMF 35.3.4; nan for a <= (d - 1) / 2. */
static damo_status call_multigammaln(build *b, const fn_args *a, ptrvec *out) {
  const prop_value option = FN_OPTIONS(a, composed_options)->d;
  const int64_t d = prop_int_or(option, 0);
  damo_var *x;
  DAMO_TRY(composed_floats(b, a, &x));
  if (!prop_given(option)) return ctx_fail(b->ctx, DAMO_ETYPE, "multigammaln: the dimension d is missing");
  if (d < 1 || d > 1000)
    return ctx_fail(b->ctx, DAMO_EVALUE, "multigammaln: d lies between 1 and 1000, got %lld", (long long)d);
  damo_var *y = build_gammaln(b, x);
  for (int64_t j = 2; j <= d; j++)
    y = build_add(b, y, build_gammaln(b, build_sub(b, x, build_num(b, (double)(j - 1) / 2))));
  const double log_pi = 1.1447298858494001741;
  y = build_add(b, y, build_num(b, (double)(d * (d - 1)) / 4 * log_pi));
  damo_var *inside = build_gt(b, x, build_num(b, (double)(d - 1) / 2));
  return fn_give(b, out, build_switch(b, inside, y, build_num(b, NAN)));
}

/* The upper tail of the chi-squared law with k degrees of freedom: Q(k/2, x/2). */
static damo_status call_chi2sf(build *b, const fn_args *a, ptrvec *out) {
  damo_var *v[2], *half = build_num(b, 0.5);
  DAMO_TRY(composed_floats(b, a, v));
  return fn_give(b, out, build_gammaincc(b, build_mul(b, v[1], half), build_mul(b, v[0], half)));
}

typedef damo_var *of_one(build *b, damo_var *x);

/* Several functions of one operand, SciPy's names for which are one. */
static damo_status give_of_one(build *b, const fn_args *a, ptrvec *out, of_one *const *parts, int n) {
  damo_var *x;
  DAMO_TRY(composed_floats(b, a, &x));
  for (int i = 0; i < n && b->status == DAMO_OK; i++) DAMO_TRY(fn_give(b, out, parts[i](b, x)));
  return b->status;
}

static damo_status call_sici(build *b, const fn_args *a, ptrvec *out) {
  return give_of_one(b, a, out, (of_one *const[]){build_sinint, build_cosint}, 2);
}

static damo_status call_shichi(build *b, const fn_args *a, ptrvec *out) {
  return give_of_one(b, a, out, (of_one *const[]){build_sinhint, build_coshint}, 2);
}

static damo_status call_fresnel(build *b, const fn_args *a, ptrvec *out) {
  return give_of_one(b, a, out, (of_one *const[]){build_fresnels, build_fresnelc}, 2);
}

static damo_status call_airy(build *b, const fn_args *a, ptrvec *out) {
  of_one *const parts[] = {build_airy_ai, build_airy_ai_prime, build_airy_bi, build_airy_bi_prime};
  return give_of_one(b, a, out, parts, 4);
}

static damo_status call_ellipj(build *b, const fn_args *a, ptrvec *out) {
  damo_var *v[2];
  DAMO_TRY(composed_floats(b, a, v));
  DAMO_TRY(fn_give(b, out, build_jacobi_sn(b, v[0], v[1])));
  DAMO_TRY(fn_give(b, out, build_jacobi_cn(b, v[0], v[1])));
  DAMO_TRY(fn_give(b, out, build_jacobi_dn(b, v[0], v[1])));
  return fn_give(b, out, build_jacobi_am(b, v[0], v[1]));
}

const op_func composed_funcs[] = {
    {.name = "logical_and",
     .operands = "x y",
     .call = call_logical_and,
     .doc = "whether both differ from 0, as bool; of any dtype"},
    {.name = "logical_or",
     .operands = "x y",
     .call = call_logical_or,
     .doc = "whether one differs from 0, as bool; of any dtype"},
    {.name = "logical_xor",
     .operands = "x y",
     .call = call_logical_xor,
     .doc = "whether one alone differs from 0, as bool; of any dtype"},
    {.name = "logical_not",
     .operands = "x",
     .call = call_logical_not,
     .doc = "whether x is 0, as bool; of any dtype (nan is not 0)",
     .stored_form = "damo.sparse.structured_monoid(damo.logical_not)(x)"},
    {.name = "fmax", .operands = "x y", .call = call_fmax, .doc = "the larger; the other one where one is nan"},
    {.name = "fmin", .operands = "x y", .call = call_fmin, .doc = "the smaller; the other one where one is nan"},
    {.name = "modf",
     .operands = "x",
     .call = call_modf,
     .doc = "the fraction and the whole part of x, both with its sign, as floats"},
    {.name = "divmod",
     .operands = "x y",
     .call = call_divmod,
     .doc = "the quotient rounded down and the remainder, which has the divisor's sign"},
    {.name = "spacing",
     .operands = "x",
     .call = call_spacing,
     .doc = "the distance to the next float away from 0, with the sign of x"},
    {.name = "ceil_intdiv", .operands = "x y", .call = call_ceil_intdiv, .doc = "quotient of integers rounded up"},
    {.name = "complex_from_polar",
     .operands = "abs angle",
     .call = call_complex_from_polar,
     .doc = "complex number of a magnitude and an angle"},
    {.name = "iround",
     .operands = "x",
     .options = OPTIONS(OPT(round_options, mode, OPT_STR)),
     .call = call_iround,
     .doc = "round, as int64"},
    {.name = "rel_entr",
     .operands = "x y",
     .call = call_rel_entr,
     .doc = "x log(x/y); 0 where x is 0 and y >= 0, infinite outside x, y > 0"},
    {.name = "multigammaln",
     .operands = "a",
     .options = OPTIONS(OPT(composed_options, d, OPT_INT)),
     .call = call_multigammaln,
     .doc = "logarithm of the gamma function of d dimensions; nan for a <= (d - 1)/2"},
    {.name = "chi2sf",
     .operands = "x k",
     .call = call_chi2sf,
     .doc = "probability that a chi-squared number of k degrees of freedom exceeds x"},
    {.name = "sici", .operands = "x", .call = call_sici, .doc = "sine and cosine integrals, sinint(x) and cosint(x)"},
    {.name = "shichi",
     .operands = "x",
     .call = call_shichi,
     .doc = "hyperbolic sine and cosine integrals, sinhint(x) and coshint(x)"},
    {.name = "fresnel",
     .operands = "x",
     .call = call_fresnel,
     .doc = "Fresnel's integrals S and C, fresnels(x) and fresnelc(x)"},
    {.name = "airy", .operands = "x", .call = call_airy, .doc = "Airy functions: Ai, Ai', Bi and Bi'"},
    {.name = "ellipj",
     .operands = "u m",
     .call = call_ellipj,
     .doc = "Jacobi's elliptic functions sn, cn and dn, and the amplitude; m from 0 to 1"},
    {.name = NULL},
};

/* funcs: functions made of scalar ops: round, nan_to_num, frexp, largest, smallest. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "build_arith.h"
#include "op/op.h"
#include "op/shape/shape_int.h"

/* ---- round ------------------------------------------------------------------------------------------------------- */

/* x to the nearest multiple of 10^digits, x of integers, exactly: q + (r > half) for the quotient q and the remainder r,
 * halves to an even quotient, or away from 0. 0 where the power of ten is outside the dtype. */
static damo_var *round_integers(build *b, damo_var *x, int64_t digits, bool to_even) {
  const damo_dtype dt = var_dtype(x);
  int64_t power = 1;
  const int64_t most = dtype_size(dt) == 8 ? INT64_MAX : ((int64_t)1 << (8 * dtype_size(dt) - dtype_is_signed(dt))) - 1;
  for (; digits > 0; digits--) {
    if (power > most / 10) return build_zeros_like(b, x);
    power *= 10;
  }
  damo_var *p = build_cast(b, build_i64(b, power), dt), *half = build_cast(b, build_i64(b, power / 2), dt);
  damo_var *q = build_floor_div(b, x, p), *r = build_sub(b, x, build_mul(b, q, p));
  damo_var *tie = to_even ? build_neq(b, build_mod(b, q, build_int(b, 2)), build_int(b, 0))
                          : build_ge(b, x, build_int(b, 0)); /* q is rounded down: away from 0 is up of x >= 0 alone */
  damo_var *up = build_or_(b, build_gt(b, r, half), build_and_(b, build_eq(b, r, half), tie));
  return build_mul(b, build_add(b, q, build_cast(b, up, dt)), p);
}

/* rint(x 10^d) / 10^d, and rint(x / 10^-d) 10^-d for d < 0, as NumPy has it; x where the product is not finite. */
damo_var *build_round(build *b, damo_var *x, const round_options *o) {
  const char *mode = prop_str_or(o->mode, "half_to_even");
  const int64_t decimals = prop_int_or(o->decimals, 0);
  const bool to_even = strcmp(mode, "half_to_even") == 0;
  if (!to_even && strcmp(mode, "half_away_from_zero") != 0) {
    return build_fail(b, DAMO_EVALUE, "round: mode '%s' is neither 'half_to_even' nor 'half_away_from_zero'", mode);
  }
  x = build_strong(b, x);
  if (x == NULL) return NULL;
  const damo_dtype dt = var_dtype(x);
  if (dtype_is_complex(dt))
    return build_complex(b, build_round(b, build_real(b, x), o), build_round(b, build_imag(b, x), o));
  if (dtype_is_discrete(dt)) return decimals >= 0 || dt == DAMO_BOOL ? x : round_integers(b, x, -decimals, to_even);
  damo_var *(*const whole)(build *, damo_var *) = to_even ? build_round_half_to_even : build_round_half_away_from_zero;
  if (decimals == 0) return whole(b, x);
  const int64_t most = dt == DAMO_FLOAT32 ? FLT_MAX_10_EXP : DBL_MAX_10_EXP; /* the largest power of ten in the dtype */
  if (decimals > most) return build_identity(b, x);
  if (decimals < -most) return build_zeros_like(b, x);
  damo_var *power = build_num(b, pow(10, (double)(decimals > 0 ? decimals : -decimals)));
  if (decimals < 0) return build_mul(b, whole(b, build_true_div(b, x, power)), power);
  damo_var *product = build_mul(b, x, power);
  return build_switch(b, build_isfinite(b, product), build_true_div(b, whole(b, product), power), x);
}

static damo_status call_round(build *b, const fn_args *a, ptrvec *out) {
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  return fn_give(b, out, build_round(b, a->in[0], FN_OPTIONS(a, round_options)));
}

/* ---- nan_to_num -------------------------------------------------------------------------------------------------- */

typedef struct finite_options {
  prop_value nan, posinf, neginf;
} finite_options;

static damo_var *finite_part(build *b, damo_var *x, const finite_options *o) {
  if (x == NULL) return NULL;
  const double most = var_dtype(x) == DAMO_FLOAT32 ? (double)FLT_MAX : DBL_MAX;
  damo_var *nan = build_num(b, prop_num_or(o->nan, 0)), *high = build_num(b, prop_num_or(o->posinf, most)),
           *low = build_num(b, prop_num_or(o->neginf, -most));
  damo_var *infinite = build_switch(b, build_gt(b, x, build_num(b, 0)), high, low);
  damo_var *other = build_cast(b, build_switch(b, build_isnan(b, x), nan, infinite), var_dtype(x));
  return build_switch(b, build_isfinite(b, x), x, other);
}

static damo_status call_nan_to_num(build *b, const fn_args *a, ptrvec *out) {
  const finite_options *o = FN_OPTIONS(a, finite_options);
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  damo_var *x = build_strong(b, a->in[0]);
  if (x == NULL || dtype_is_discrete(var_dtype(x))) return fn_give(b, out, x);
  if (!dtype_is_complex(var_dtype(x))) return fn_give(b, out, finite_part(b, x, o));
  damo_var *re = finite_part(b, build_real(b, x), o), *im = finite_part(b, build_imag(b, x), o);
  return fn_give(b, out, build_complex(b, re, im));
}

/* ---- frexp ------------------------------------------------------------------------------------------------------- */

static damo_status call_frexp(build *b, const fn_args *a, ptrvec *out) {
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  damo_var *x = build_strong(b, a->in[0]);
  DAMO_TRY(fn_give(b, out, build_frexp_mantissa(b, x)));
  return fn_give(b, out, build_frexp_exponent(b, x));
}

/* ---- largest, smallest ------------------------------------------------------------------------------------------- */

/* maximum or minimum of any number of operands, from the first to the last. */
static damo_status call_extreme(build *b, const fn_args *a, ptrvec *out) {
  const bool is_largest = strcmp(a->func->name, "largest") == 0;
  if (a->n_in == 0) return ctx_fail(b->ctx, DAMO_EVALUE, "%s: the list of operands is empty", a->func->name);
  for (int i = 0; i < a->n_in; i++) DAMO_TRY(fn_check_tensor(a, b->ctx, i));
  damo_var *y = build_strong(b, a->in[0]);
  if (a->n_in > 1) y = a->in[0];
  for (int i = 1; i < a->n_in && y != NULL; i++)
    y = is_largest ? build_maximum(b, y, a->in[i]) : build_minimum(b, y, a->in[i]);
  return fn_give(b, out, y);
}

const op_func elemwise_made_funcs[] = {
    {.name = "round",
     .operands = "x",
     .options = OPTIONS(OPT(round_options, mode, OPT_STR), OPT(round_options, decimals, OPT_INT)),
     .call = call_round,
     .doc = "rounded to decimals (default 0); mode 'half_to_even' (default) or 'half_away_from_zero'"},
    {.name = "nan_to_num",
     .operands = "x",
     .options = OPTIONS(OPT(finite_options, nan, OPT_NUM), OPT(finite_options, posinf, OPT_NUM),
                        OPT(finite_options, neginf, OPT_NUM)),
     .call = call_nan_to_num,
     .doc = "nan as 0, infinities as the largest finite numbers, or as the options say"},
    {.name = "frexp",
     .operands = "x",
     .call = call_frexp,
     .doc = "the mantissa, of magnitude 1/2 to 1, and the exponent of 2, as int32: x = mantissa * 2**exponent"},
    {.name = "largest",
     .operands = "xs...",
     .call = call_extreme,
     .bare_list = true,
     .doc = "the largest of the operands, entry by entry; nan where one is nan"},
    {.name = "smallest",
     .operands = "xs...",
     .call = call_extreme,
     .bare_list = true,
     .doc = "the smallest of the operands, entry by entry; nan where one is nan"},
    {.name = NULL},
};

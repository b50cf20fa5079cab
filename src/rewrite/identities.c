/* identities.c: identities of single scalar ops: inverse functions, even functions, idempotent ones, comparisons with
 * oneself, logic with constants, powers and divisions by constants.
 *
 * Exact unless tagged. Where an inverse pair is only an identity on a part of the line, the rest gives nan as before. A
 * length (Shape_i and sums of lengths) is known not to be negative.
 */
#include "rewrite_int.h"
#include "op/elem/scalar.h"
#include "op/elem/build_arith.h"
#include "op/elem/build_math.h"
#include "op/elem/build_special.h"
#include "op/op.h"

#include <math.h>

static bool is_real_float(const damo_var *v) { return type_is_tensor(v->type) && dtype_is_float(var_dtype(v)); }

/* The operand of v = id(x) with x of v's dtype, else NULL. */
static damo_var *same_dtype_operand(const damo_var *v, scalar_id id) {
  const damo_apply *node = match_scalar(v, id);
  return node != NULL && node->n_in == 1 && var_dtype(node->in[0]) == var_dtype(v) ? node->in[0] : NULL;
}

/* ---- Inverse functions ------------------------------------------------------------------------------------------- */

typedef enum inverse_domain {
  DOMAIN_ALL,
  DOMAIN_FROM_0,   /* nan below 0 */
  DOMAIN_FROM_M1,  /* nan below -1 */
  DOMAIN_UPTO_0,   /* nan above 0 */
  DOMAIN_POSITIVE, /* the rule asks for an operand that is certainly not negative */
} inverse_domain;

typedef enum inverse_result {
  GIVES_X,
  GIVES_ABS,
  GIVES_ONE_PLUS_X,
  GIVES_ONE_PLUS_EXP,
  GIVES_EXP,
  GIVES_LOG1P,
  GIVES_LOG1P_NEG,
  GIVES_NEG_EXPM1
} inverse_result;

/* outer(inner(x)) → result(x) on the domain. exp(log(x)) of any x stays: x itself is not what rounding gives. */
static const struct {
  scalar_id outer, inner;
  inverse_domain domain;
  inverse_result result;
} inverses[] = {{SCALAR_log2, SCALAR_exp2, DOMAIN_ALL, GIVES_X},
                {SCALAR_log10, SCALAR_exp10, DOMAIN_ALL, GIVES_X},
                {SCALAR_logit, SCALAR_sigmoid, DOMAIN_ALL, GIVES_X},
                {SCALAR_erfinv, SCALAR_erf, DOMAIN_ALL, GIVES_X},
                {SCALAR_ndtri, SCALAR_ndtr, DOMAIN_ALL, GIVES_X},
                {SCALAR_log1p, SCALAR_expm1, DOMAIN_ALL, GIVES_X},
                {SCALAR_expm1, SCALAR_log1p, DOMAIN_FROM_M1, GIVES_X},
                {SCALAR_exp, SCALAR_log, DOMAIN_POSITIVE, GIVES_X},
                {SCALAR_exp, SCALAR_log1p, DOMAIN_FROM_M1, GIVES_ONE_PLUS_X},
                {SCALAR_exp, SCALAR_softplus, DOMAIN_ALL, GIVES_ONE_PLUS_EXP},
                {SCALAR_expm1, SCALAR_softplus, DOMAIN_ALL, GIVES_EXP},
                {SCALAR_exp, SCALAR_log1mexp, DOMAIN_UPTO_0, GIVES_NEG_EXPM1},
                {SCALAR_softplus, SCALAR_log, DOMAIN_FROM_0, GIVES_LOG1P},
                {SCALAR_log1mexp, SCALAR_log, DOMAIN_FROM_0, GIVES_LOG1P_NEG},
                {SCALAR_log1mexp, SCALAR_log1mexp, DOMAIN_UPTO_0, GIVES_X},
                {SCALAR_sqr, SCALAR_sqrt, DOMAIN_FROM_0, GIVES_ABS},
                {SCALAR_arctanh, SCALAR_tanh, DOMAIN_ALL, GIVES_X},
                {SCALAR_arcsinh, SCALAR_sinh, DOMAIN_ALL, GIVES_X},
                {SCALAR_sinh, SCALAR_arcsinh, DOMAIN_ALL, GIVES_X},
                {SCALAR_arccosh, SCALAR_cosh, DOMAIN_ALL, GIVES_ABS},
                {SCALAR_deg2rad, SCALAR_rad2deg, DOMAIN_ALL, GIVES_X},
                {SCALAR_rad2deg, SCALAR_deg2rad, DOMAIN_ALL, GIVES_X},
                {SCALAR_reciprocal, SCALAR_reciprocal, DOMAIN_ALL, GIVES_X}};

static damo_var *inverse_value(build *b, inverse_result result, damo_var *x) {
  switch (result) {
    case GIVES_X: return x;
    case GIVES_ABS: return build_abs(b, x);
    case GIVES_ONE_PLUS_X: return build_add(b, build_scalar(b, var_dtype(x), 1), x);
    case GIVES_ONE_PLUS_EXP: return build_add(b, build_scalar(b, var_dtype(x), 1), build_exp(b, x));
    case GIVES_EXP: return build_exp(b, x);
    case GIVES_LOG1P: return build_log1p(b, x);
    case GIVES_LOG1P_NEG: return build_log1p(b, build_neg(b, x));
    case GIVES_NEG_EXPM1: return build_neg(b, build_expm1(b, x));
  }
  return NULL;
}

/* v on the domain of x, nan outside. */
static damo_var *on_domain(build *b, inverse_domain domain, damo_var *x, damo_var *v) {
  if (domain == DOMAIN_ALL || domain == DOMAIN_POSITIVE || v == NULL) return v;
  if (domain != DOMAIN_UPTO_0 && match_facts(x, FACT_NONNEGATIVE)) return v;
  const damo_dtype dtype = var_dtype(x);
  damo_var *end = build_scalar(b, dtype, domain == DOMAIN_FROM_M1 ? -1 : 0);
  damo_var *inside = domain == DOMAIN_UPTO_0 ? build_le(b, x, end) : build_ge(b, x, end);
  return build_switch(b, inside, v, build_scalar(b, dtype, (double)NAN));
}

static damo_status undo_inverse(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  const scalar_id outer = elemwise_scalar_id(node->op);
  damo_var *below = same_dtype_operand(node->out[0], outer);
  if (below == NULL || !is_real_float(below)) return DAMO_OK;
  for (size_t k = 0; k < sizeof inverses / sizeof *inverses; k++) {
    damo_var *x = inverses[k].outer == outer ? same_dtype_operand(below, inverses[k].inner) : NULL;
    if (x == NULL || (inverses[k].domain == DOMAIN_POSITIVE && !match_facts(x, FACT_NONNEGATIVE))) continue;
    return rule_give(b, repl, did, on_domain(b, inverses[k].domain, x, inverse_value(b, inverses[k].result, x)));
  }
  return DAMO_OK;
}

/* log(sqrt(x)) → log(x)/2; log(1/x) → -log(x) for an x that can't be -0 */
static damo_status log_of_power(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *below = same_dtype_operand(node->out[0], SCALAR_log);
  if (below == NULL || !is_real_float(below)) return DAMO_OK;
  damo_var *x = same_dtype_operand(below, SCALAR_sqrt);
  if (x != NULL) return rule_give(b, repl, did, build_mul(b, build_scalar(b, var_dtype(x), 0.5), build_log(b, x)));
  x = same_dtype_operand(below, SCALAR_reciprocal);
  if (x == NULL || !match_facts(x, FACT_NONNEGATIVE)) return DAMO_OK;
  return rule_give(b, repl, did, build_neg(b, build_log(b, x)));
}

/* ---- Even, idempotent, trivial ----------------------------------------------------------------------------------- */

/* f(-x) → f(x), for sqr f(|x|) → f(x) too; |x| → x where x is certainly not negative, but for an x that is |y|: a chain
 * of abs stays as it was written. */
static damo_status drop_sign(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  const scalar_id id = elemwise_scalar_id(node->op);
  damo_var *x = node->in[0];
  if (dtype_is_complex(var_dtype(x)) || var_dtype(x) != var_dtype(node->out[0])) return DAMO_OK;
  const bool wraps = id == SCALAR_abs && dtype_is_discrete(var_dtype(x)) && !dtype_is_signed(var_dtype(x));
  damo_var *below = wraps ? NULL : same_dtype_operand(x, SCALAR_neg); /* -1 of an unsigned dtype is its largest value */
  if (below == NULL && id != SCALAR_abs) below = same_dtype_operand(x, SCALAR_abs);
  if (below != NULL) return rule_give(b, repl, did, build_scalar_op(b, id, &below));
  if (match_scalar(x, SCALAR_abs) != NULL) return DAMO_OK;
  const bool positive = id == SCALAR_abs && (match_facts(x, FACT_NONNEGATIVE) || match_length_value(x));
  return rule_give(b, repl, did, positive ? x : NULL);
}

/* cos(-x) → cos(x), cosh(-x) → cosh(x), of |x| too. */
static damo_status drop_sign_inexact(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  return drop_sign(b, fg, node, repl, did);
}

/* |x|·|y| → |x·y|, |x|/|y| → |x/y|, of floats */
static damo_status merge_abs(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  damo_var *x = same_dtype_operand(node->in[0], SCALAR_abs), *y = same_dtype_operand(node->in[1], SCALAR_abs);
  if (x == NULL || y == NULL || !is_real_float(node->out[0]) || var_dtype(x) != var_dtype(y)) return DAMO_OK;
  if (x != y && !(match_single_use(fg, node->in[0]) && match_single_use(fg, node->in[1]))) return DAMO_OK;
  damo_var *v = build_scalar_op(b, elemwise_scalar_id(node->op), (damo_var *[]){x, y});
  return rule_give(b, repl, did, v != NULL ? build_abs(b, v) : NULL);
}

/* A rounding of what is rounded already, sign(sign(x)): the inner one. */
static damo_status drop_repeated(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *x = node->in[0];
  const scalar_id id = elemwise_scalar_id(node->op), inner = x->owner != NULL ? elemwise_scalar_id(x->owner->op) : id;
  if (x->owner == NULL || var_dtype(x) != var_dtype(node->out[0])) return DAMO_OK;
  const bool same = match_whole(node->out[0]) ? match_whole(x) : id == inner;
  return rule_give(b, repl, did, same ? x : NULL);
}

/* conj(conj(z)) → z; conj and real of real numbers → x; real and imag of complex(x, y); complex(real(z), imag(z)) → z */
static damo_status join_parts(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  const scalar_id id = elemwise_scalar_id(node->op);
  damo_var *z = node->in[0];
  if (id == SCALAR_complex) {
    const damo_apply *re = match_scalar(node->in[0], SCALAR_real), *im = match_scalar(node->in[1], SCALAR_imag);
    const bool parts = re != NULL && im != NULL && re->in[0] == im->in[0];
    return rule_give(b, repl, did, parts && var_dtype(re->in[0]) == var_dtype(node->out[0]) ? re->in[0] : NULL);
  }
  if (!dtype_is_complex(var_dtype(z)))
    return rule_give(b, repl, did, id != SCALAR_imag && var_dtype(z) == var_dtype(node->out[0]) ? z : NULL);
  if (id == SCALAR_conj) return rule_give(b, repl, did, same_dtype_operand(z, SCALAR_conj));
  const damo_apply *made = match_scalar(z, SCALAR_complex);
  const int k = id == SCALAR_imag;
  if (made == NULL || !match_fits(made, k) || !match_same_shape(made->in[k], made->in[1 - k])) return DAMO_OK;
  return rule_give(b, repl, did, var_dtype(made->in[k]) == var_dtype(node->out[0]) ? made->in[k] : NULL);
}

/* maximum(x, x) → x, minimum(x, x) → x; of a length and a constant that is not positive: the one that wins. */
static damo_status same_extremum(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  if (node->in[0] == node->in[1])
    return rule_give(b, repl, did, var_dtype(node->in[0]) == var_dtype(node->out[0]) ? node->in[0] : NULL);
  const bool larger = match_scalar(node->out[0], SCALAR_maximum) != NULL;
  for (int i = 0; i < 2; i++) {
    int64_t n;
    damo_var *length = node->in[i], *other = node->in[1 - i], *wins = larger ? length : other;
    if (!match_length_value(length) || !var_static_int(other, &n) || n > 0) continue;
    return rule_give(b, repl, did, var_dtype(wins) == var_dtype(node->out[0]) ? wins : NULL);
  }
  return DAMO_OK;
}

/* ---- Comparisons and logic --------------------------------------------------------------------------------------- */

/* The bool v in the shape of the node's result, which its input i has. */
static damo_status give_bool(build *b, damo_apply *node, int i, bool v, damo_var **repl, bool *did) {
  return rule_give(b, repl, did, build_fill(b, node->in[i], build_scalar(b, DAMO_BOOL, v)));
}

/* x < x, x > x → false; for integers also x = x, x <= x, x >= x → true and x != x → false. */
static damo_status compare_self(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  const scalar_id id = elemwise_scalar_id(node->op);
  if (node->in[0] != node->in[1]) return DAMO_OK;
  if (id == SCALAR_lt || id == SCALAR_gt) return give_bool(b, node, 0, false, repl, did);
  if (!dtype_is_discrete(var_dtype(node->in[0]))) return DAMO_OK;
  return give_bool(b, node, 0, id != SCALAR_neq, repl, did);
}

/* A length against a constant that no length reaches. */
static damo_status compare_length(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  for (int i = 0; i < 2; i++) {
    int64_t c;
    if (!match_length_value(node->in[i]) || !var_static_int(node->in[1 - i], &c)) continue;
    scalar_id id = elemwise_scalar_id(node->op);
    if (i == 1) { /* c < n is n > c */
      static const scalar_id mirrored[][2] = {{SCALAR_lt, SCALAR_gt}, {SCALAR_le, SCALAR_ge}};
      for (int k = 0; k < 4; k++) {
        if (id != mirrored[k / 2][k % 2]) continue;
        id = mirrored[k / 2][1 - k % 2];
        break;
      }
    }
    if ((id == SCALAR_ge && c <= 0) || (id == SCALAR_gt && c < 0) || (id == SCALAR_neq && c < 0))
      return give_bool(b, node, i, true, repl, did);
    if ((id == SCALAR_lt && c <= 0) || (id == SCALAR_le && c < 0) || (id == SCALAR_eq && c < 0))
      return give_bool(b, node, i, false, repl, did);
  }
  return DAMO_OK;
}

/* x and x, x or x → x; x xor x → 0; the constants that are neutral or decide, of bool and of integers (all bits set). */
static damo_status join_logic(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  const scalar_id id = elemwise_scalar_id(node->op);
  const damo_dtype dtype = var_dtype(node->out[0]);
  if (var_dtype(node->in[0]) != dtype || var_dtype(node->in[1]) != dtype) return DAMO_OK;
  if (node->in[0] == node->in[1]) {
    damo_var *zero = id == SCALAR_xor ? build_fill(b, node->in[0], build_scalar(b, dtype, 0)) : node->in[0];
    return rule_give(b, repl, did, zero);
  }
  for (int i = 0; i < 2; i++) {
    damo_var *x = node->in[1 - i], *c = node->in[i];
    const bool zero = match_constant(c, 0);
    const bool ones = dtype == DAMO_BOOL ? match_constant(c, 1) : dtype_is_integer(dtype) && match_constant(c, -1);
    if (!(zero || ones) || !match_fits(node, 1 - i) || !(match_single_entry(c) || match_same_shape(x, c))) continue;
    const bool decides = id == SCALAR_and_ ? zero : id == SCALAR_or_ && ones;
    if (decides)
      return rule_give(b, repl, did, build_fill(b, x, build_scalar(b, dtype, zero ? 0 : dtype == DAMO_BOOL ? 1 : -1)));
    if (id == SCALAR_and_ ? ones : zero) return rule_give(b, repl, did, x);
    if (id == SCALAR_xor && ones) return rule_give(b, repl, did, build_invert(b, x));
  }
  return DAMO_OK;
}

/* not not x → x; not (x = y) → x != y and back; of integers also not (x < y) → x >= y and so on. */
static damo_status push_not(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  static const scalar_id opposite[][2] = {{SCALAR_eq, SCALAR_neq}, {SCALAR_lt, SCALAR_ge}, {SCALAR_le, SCALAR_gt}};
  damo_var *x = node->in[0];
  const damo_apply *below = x->owner;
  if (below == NULL || below->op->def != &elemwise_def) return DAMO_OK;
  const scalar_id id = elemwise_scalar_id(below->op);
  if (id == SCALAR_invert) return rule_give(b, repl, did, below->in[0]);
  for (int k = 0; k < 6; k++) {
    if (id != opposite[k / 2][k % 2] || !match_single_use(fg, x)) continue;
    const bool total =
        k < 2 || (dtype_is_discrete(var_dtype(below->in[0])) && dtype_is_discrete(var_dtype(below->in[1])));
    if (!total) return DAMO_OK;
    return rule_give(b, repl, did, build_scalar_op(b, opposite[k / 2][1 - k % 2], below->in));
  }
  return DAMO_OK;
}

/* x // 1 → x, x % 1 → 0, 0 // x → 0, 0 % x → 0 of integers */
static damo_status divide_integers(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  const damo_dtype dtype = var_dtype(node->out[0]);
  damo_var *x = node->in[0], *y = node->in[1];
  if (!dtype_is_integer(dtype) || var_dtype(x) != dtype || var_dtype(y) != dtype) return DAMO_OK;
  const bool by_one = match_constant(y, 1) && match_fits(node, 0) && (match_single_entry(y) || match_same_shape(x, y));
  if (by_one && match_scalar(node->out[0], SCALAR_floor_div)) return rule_give(b, repl, did, x);
  const bool zero = match_constant(x, 0) && match_fits(node, 1) && (match_single_entry(x) || match_same_shape(x, y));
  if (!by_one && !zero) return DAMO_OK;
  return rule_give(b, repl, did, build_fill(b, by_one ? x : y, build_scalar(b, dtype, 0)));
}

/* isnan and isinf of integers → false */
static damo_status test_integers(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  if (!dtype_is_discrete(var_dtype(node->in[0]))) return DAMO_OK;
  return give_bool(b, node, 0, false, repl, did);
}

/* x·sign(x) → |x| */
static damo_status times_sign(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  for (int i = 0; i < 2; i++) {
    damo_var *x = same_dtype_operand(node->in[i], SCALAR_sign);
    if (x == NULL || x != node->in[1 - i] || !is_real_float(x) || var_dtype(x) != var_dtype(node->out[0])) continue;
    return rule_give(b, repl, did, build_abs(b, x));
  }
  return DAMO_OK;
}

/* polygamma(n, x) of a constant n ≤ 2 → the function of its own */
static damo_status name_polygamma(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *n = node->in[0], *x = node->in[1];
  if (!match_fits(node, 1) || var_dtype(x) != var_dtype(node->out[0]) || !match_single_entry(n)) return DAMO_OK;
  damo_var *now = match_constant(n, 0)   ? build_psi(b, x)
                  : match_constant(n, 1) ? build_tri_gamma(b, x)
                  : match_constant(n, 2) ? build_tetra_gamma(b, x)
                                         : NULL;
  return rule_give(b, repl, did, now);
}

/* ---- Powers and divisions by constants --------------------------------------------------------------------------- */

#define SMALL_POWER 16

/* The value of a constant with one entry. */
static bool one_constant(const damo_var *v, double *value) {
  const damo_array *a = var_constant_array(v);
  if (a == NULL || array_size(a) != 1 || dtype_is_complex(array_dtype(a))) return false;
  *value = scalar_to_double(array_get(a, (const int64_t[DAMO_MAX_NDIM]){0}));
  return true;
}

/* x^0 → 1, of nan too */
static damo_status power_zero(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  double e;
  if (!one_constant(node->in[1], &e) || e != 0 || !match_fits(node, 0)) return DAMO_OK;
  damo_var *one = build_scalar(b, var_dtype(node->out[0]), 1);
  return rule_give(b, repl, did, build_fill(b, node->in[0], one));
}

/* x^n for n ≤ SMALL_POWER by squaring: of x^11 = x·x²·(x²)²·x squares are shared. */
static damo_var *build_small_power(build *b, damo_var *x, int n) {
  damo_var *power = NULL, *square = x;
  for (; n > 0; n >>= 1) {
    if (n & 1) power = power == NULL ? square : build_mul(b, power, square);
    if (n > 1) square = build_sqr(b, square);
  }
  return power;
}

/* 2^x → exp2(x), 10^x → exp10(x) */
static damo_status name_exponentials(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  double base;
  damo_var *x = node->in[1];
  const damo_dtype dtype = var_dtype(node->out[0]);
  if (!dtype_is_float(dtype) || !one_constant(node->in[0], &base) || !match_fits(node, 1) || var_dtype(x) != dtype)
    return DAMO_OK;
  if (base != 2 && base != 10) return DAMO_OK;
  return rule_give(b, repl, did, base == 2 ? build_exp2(b, x) : build_exp10(b, x));
}

/* x^3 … x^16 → products; x^-n → products of 1/x; x^-0.5 → 1/sqrt(x) for an x that is not negative */
static damo_status small_powers(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  double e;
  damo_var *x = node->in[0], *out = node->out[0];
  const damo_dtype dtype = var_dtype(out);
  const bool real = dtype_is_float(dtype);
  if (dtype == DAMO_BOOL || dtype_is_complex(dtype)) return DAMO_OK;
  if (!one_constant(node->in[1], &e) || !match_fits(node, 0) || var_dtype(x) != dtype) return DAMO_OK;
  if (real && e == -0.5 && match_facts(x, FACT_NONNEGATIVE))
    return rule_give(b, repl, did, build_reciprocal(b, build_sqrt(b, x)));
  if (e != floor(e) || fabs(e) > SMALL_POWER || e == 0 || (e < 0 && !real)) return DAMO_OK;
  if (e < 0) x = build_reciprocal(b, x);
  return rule_give(b, repl, did, build_small_power(b, x, (int)fabs(e)));
}

/* x/c → x·(1/c); exact where c is a power of 2. */
static damo_var *by_reciprocal(build *b, const damo_apply *node, bool exact) {
  double c;
  int exponent;
  const damo_dtype dtype = var_dtype(node->out[0]);
  if (!dtype_is_float(dtype) || !one_constant(node->in[1], &c) || !match_fits(node, 0)) return NULL;
  if (var_dtype(node->in[1]) != dtype || var_dtype(node->in[0]) != dtype) return NULL;
  const double most = dtype == DAMO_FLOAT32 ? 0x1p60 : 0x1p500, size = fabs(c);
  if (!(size <= most && size >= 1 / most) || (fabs(frexp(c, &exponent)) == 0.5) != exact) return NULL;
  return build_mul(b, node->in[0], build_scalar(b, dtype, 1 / c));
}

static damo_status divide_by_power_of_2(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  return rule_give(b, repl, did, by_reciprocal(b, node, true));
}

/* A whole number is divided, so that round(x) to decimals gives the nearest number with these decimals. */
static damo_status divide_by_constant(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  if (match_whole(node->in[0]) || match_rounded(fg, node->out[0])) return DAMO_OK;
  return rule_give(b, repl, did, by_reciprocal(b, node, false));
}

#define RULE(rule_name, rule_phase, extra, fn, ...) \
  { .name = rule_name, .phase = rule_phase, .tags = "fast_run " extra, .local = fn, __VA_ARGS__ }
#define CANONICAL PHASE_CANONICALIZE, "canonicalize"
#define CANONICAL_INEXACT PHASE_CANONICALIZE, "canonicalize inexact"
#define SPECIAL_INEXACT PHASE_SPECIALIZE, "specialize inexact"
#define ROW(...) RULE(__VA_ARGS__)

const rewrite_rule identity_rules[] = {
    ROW("undo_inverse", CANONICAL_INEXACT, undo_inverse,
        ELEMWISE(SCALAR_log2, SCALAR_log10, SCALAR_logit, SCALAR_erfinv, SCALAR_ndtri, SCALAR_log1p, SCALAR_expm1,
                 SCALAR_exp, SCALAR_softplus, SCALAR_log1mexp, SCALAR_sqr, SCALAR_arctanh, SCALAR_arcsinh, SCALAR_sinh,
                 SCALAR_arccosh, SCALAR_deg2rad, SCALAR_rad2deg, SCALAR_reciprocal)),
    ROW("log_of_power", CANONICAL_INEXACT, log_of_power, ELEMWISE(SCALAR_log)),
    ROW("drop_sign", CANONICAL, drop_sign, ELEMWISE(SCALAR_abs, SCALAR_sqr)),
    ROW("drop_sign_inexact", CANONICAL_INEXACT, drop_sign_inexact, ELEMWISE(SCALAR_cos, SCALAR_cosh)),
    ROW("merge_abs", CANONICAL, merge_abs, ELEMWISE(SCALAR_mul, SCALAR_true_div)),
    ROW("drop_repeated", CANONICAL, drop_repeated,
        ELEMWISE(SCALAR_ceil, SCALAR_floor, SCALAR_trunc, SCALAR_round_half_to_even, SCALAR_round_half_away_from_zero,
                 SCALAR_sign)),
    ROW("join_parts", CANONICAL, join_parts, ELEMWISE(SCALAR_conj, SCALAR_real, SCALAR_imag, SCALAR_complex)),
    ROW("same_extremum", CANONICAL, same_extremum, ELEMWISE(SCALAR_maximum, SCALAR_minimum)),
    ROW("compare_self", CANONICAL, compare_self,
        ELEMWISE(SCALAR_lt, SCALAR_gt, SCALAR_le, SCALAR_ge, SCALAR_eq, SCALAR_neq)),
    ROW("compare_length", CANONICAL, compare_length,
        ELEMWISE(SCALAR_lt, SCALAR_gt, SCALAR_le, SCALAR_ge, SCALAR_eq, SCALAR_neq)),
    ROW("join_logic", CANONICAL, join_logic, ELEMWISE(SCALAR_and_, SCALAR_or_, SCALAR_xor)),
    ROW("push_not", CANONICAL, push_not, ELEMWISE(SCALAR_invert)),
    ROW("name_exponentials", CANONICAL_INEXACT, name_exponentials, ELEMWISE(SCALAR_pow)),
    ROW("divide_integers", CANONICAL, divide_integers, ELEMWISE(SCALAR_floor_div, SCALAR_mod)),
    ROW("test_integers", CANONICAL, test_integers, ELEMWISE(SCALAR_isnan, SCALAR_isinf)),
    ROW("times_sign", CANONICAL_INEXACT, times_sign, ELEMWISE(SCALAR_mul)),
    ROW("name_polygamma", CANONICAL_INEXACT, name_polygamma, ELEMWISE(SCALAR_polygamma)),
    ROW("power_zero", CANONICAL, power_zero, ELEMWISE(SCALAR_pow)),
    ROW("divide_by_power_of_2", CANONICAL, divide_by_power_of_2, ELEMWISE(SCALAR_true_div)),
    ROW("small_powers", SPECIAL_INEXACT, small_powers, ELEMWISE(SCALAR_pow)),
    ROW("divide_by_constant", SPECIAL_INEXACT, divide_by_constant, ELEMWISE(SCALAR_true_div)),
    {.name = NULL},
};

#undef RULE
#undef ROW
#undef CANONICAL
#undef CANONICAL_INEXACT
#undef SPECIAL_INEXACT

/* canonicalize.c: one form for equivalent arithmetic: neutral operands, signs, constants, powers, no-op nodes. Rules
 * for shapes are in shapes.c, for repeated values in fill.c.
 *
 * The results are the same bit by bit, except for rules with the tag inexact: products of constants, powers and
 * quotients (up to rounding), and x + 0 (the sign of a zero).
 */
#include "rewrite_int.h"
#include "op/elem/scalar.h"
#include "op/elem/build_arith.h"
#include "op/op.h"

#include <math.h>

static bool is_real_number(const damo_var *v) {
  return type_is_tensor(v->type) && var_dtype(v) != DAMO_BOOL && !dtype_is_complex(var_dtype(v));
}

static bool same_dtype(const damo_var *u, const damo_var *v) { return var_dtype(u) == var_dtype(v); }

/* Operand i as a replacement for the output: cast to its dtype, and filled to the shape of the other operand if it
 * broadcasts against that. */
static damo_var *as_output(build *b, const damo_apply *node, int i) {
  damo_var *x = build_cast(b, node->in[i], var_dtype(node->out[0]));
  if (x == NULL || match_fits(node, i)) return x;
  return build_second(b, node->in[1 - i], x);
}

/* ---- Neutral operands -------------------------------------------------------------------------------------------- */

static const struct {
  scalar_id scalar;
  double value;
  bool left; /* may also be the first operand */
} neutral[] = {{SCALAR_mul, 1, true},
               {SCALAR_true_div, 1, false},
               {SCALAR_add, 0, true},
               {SCALAR_sub, 0, false},
               {SCALAR_pow, 1, false}};

/* Whether the result always has the bits of the other operand. Exceptions: -0 + 0 is 0; in a complex product an
 * infinite part makes the other part nan; powers of floats are rounded. */
static bool is_exact(const damo_apply *node, int neutral_operand) {
  const damo_dtype dtype = var_dtype(node->out[0]);
  if (dtype_is_discrete(dtype)) return true;
  if (dtype_is_complex(dtype) || match_scalar(node->out[0], SCALAR_add) || match_scalar(node->out[0], SCALAR_pow))
    return false;
  return !match_scalar(node->out[0], SCALAR_sub) || match_facts(node->in[neutral_operand], FACT_NONNEGATIVE);
}

static damo_var *without_neutral(build *b, const damo_apply *node, bool exact) {
  const scalar_id id = elemwise_scalar_id(node->op);
  for (size_t k = 0; k < sizeof neutral / sizeof *neutral; k++) {
    if (neutral[k].scalar != id) continue;
    for (int i = 1; i >= (neutral[k].left ? 0 : 1); i--) {
      if (!match_constant(node->in[i], neutral[k].value) || is_exact(node, i) != exact) continue;
      return as_output(b, node, 1 - i);
    }
  }
  return NULL;
}

/* x*1, x/1, x-0, x+0 of integers → x */
static damo_status drop_neutral(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  return rule_give(b, repl, did, without_neutral(b, node, true));
}

/* The inexact cases: x+0 → x of floats; x^1 → x */
static damo_status drop_neutral_inexact(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  return rule_give(b, repl, did, without_neutral(b, node, false));
}

/* 0*x → 0 for integers. A float x may be nan or infinite. */
static damo_status drop_zero_product(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  if (!dtype_is_discrete(var_dtype(node->out[0]))) return DAMO_OK;
  for (int i = 0; i < 2; i++) {
    if (!match_constant(node->in[i], 0) || !match_fits(node, 1 - i)) continue;
    damo_var *zero = build_scalar(b, var_dtype(node->out[0]), 0);
    return rule_give(b, repl, did, build_fill(b, node->in[1 - i], zero));
  }
  return DAMO_OK;
}

/* 0*x, 0/x → 0 for a float x that is finite and not 0 in exact arithmetic. */
static damo_status cancel_zero(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  const bool product = match_scalar(node->out[0], SCALAR_mul) != NULL;
  if (!dtype_is_float(var_dtype(node->out[0]))) return DAMO_OK;
  for (int i = 0; i < (product ? 2 : 1); i++) {
    damo_var *x = node->in[1 - i];
    if (!match_constant(node->in[i], 0) || !match_fits(node, 1 - i) || x->kind == VAR_CONSTANT) continue;
    if (!(match_single_entry(node->in[i]) || match_same_shape(node->in[i], x))) continue;
    if (!match_facts(x, FACT_FINITE | FACT_NONZERO)) continue;
    return rule_give(b, repl, did, build_fill(b, x, build_scalar(b, var_dtype(node->out[0]), 0)));
  }
  return DAMO_OK;
}

/* ---- Signs ------------------------------------------------------------------------------------------------------- */

static damo_var *match_negated(const damo_var *v) {
  const damo_apply *n = match_scalar(v, SCALAR_neg);
  return n != NULL ? n->in[0] : NULL;
}

#define SPINE_MOST 8

/* A product ((c·x)·y)/z or (x·c)·y of a constant with one entry: its nodes from the root down, each read by the next
 * alone, and the constant's position in the last. */
typedef struct spine {
  const damo_apply *at[SPINE_MOST];
  int n, constant;
  double c;
} spine;

/* Whether the constant's opposite is exact. */
static bool has_opposite(const damo_var *v, double c) {
  const damo_dtype dtype = var_dtype(v);
  if (!dtype_is_discrete(dtype)) return isfinite(c) && c != 0;
  const double least = -ldexp(1, 8 * (int)dtype_size(dtype) - 1);
  return dtype_is_signed(dtype) && c != 0 && fabs(c) < 0x1p53 && c > least;
}

static bool find_spine(const damo_fgraph *fg, const damo_var *v, spine *s) {
  s->n = 0;
  if (!is_real_number(v)) return false;
  for (const damo_var *u = v; s->n < SPINE_MOST && match_single_use(fg, u);) {
    const damo_apply *node = match_scalar(u, SCALAR_mul);
    if (node == NULL) node = match_scalar(u, SCALAR_true_div);
    if (node == NULL || !same_dtype(node->in[0], v) || !same_dtype(node->in[1], v)) return false;
    s->at[s->n++] = node;
    u = node->in[0];
    s->constant = match_scalar(node->out[0], SCALAR_mul) && var_constant_array(node->in[1]) != NULL;
    const damo_array *a = var_constant_array(node->in[s->constant]);
    if (a == NULL || array_size(a) != 1) continue;
    s->c = scalar_to_double(array_get(a, (const int64_t[DAMO_MAX_NDIM]){0}));
    return has_opposite(node->in[s->constant], s->c) && match_fits(node, 1 - s->constant);
  }
  return false;
}

/* The product with the opposite constant. */
static damo_var *opposite_of_spine(build *b, const spine *s) {
  const damo_apply *last = s->at[s->n - 1];
  damo_var *x = last->in[1 - s->constant], *c = build_scalar(b, var_dtype(x), -s->c);
  if (s->c != -1 || match_scalar(last->out[0], SCALAR_mul) == NULL)
    x = build_scalar_op(b, elemwise_scalar_id(last->op), s->constant ? (damo_var *[]){x, c} : (damo_var *[]){c, x});
  for (int k = s->n - 2; k >= 0 && x != NULL; k--)
    x = build_scalar_op(b, elemwise_scalar_id(s->at[k]->op), (damo_var *[]){x, s->at[k]->in[1]});
  return x;
}

/* The term t if v is -t, or c·t and so on with a constant c < 0: the sign belongs to the sum then. NULL: it is none. */
static damo_var *opposite_term(build *b, const damo_fgraph *fg, damo_var *v) {
  damo_var *x = match_negated(v);
  spine s;
  if (x != NULL || !find_spine(fg, v, &s) || !(s.c < 0)) return x;
  x = opposite_of_spine(b, &s);
  return x != NULL && var_ndim(x) == var_ndim(v) ? x : NULL;
}

/* --x → x; x + -y → x - y; x - -y → x + y, -3·y alike; -x * -y → x*y; -x / -y → x/y; x * -1 → -x */
static damo_status sort_signs(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  const scalar_id id = elemwise_scalar_id(node->op);
  if (id == SCALAR_neg) return rule_give(b, repl, did, match_negated(node->in[0]));
  const bool sum = id == SCALAR_add || id == SCALAR_sub;
  damo_var *y = sum ? opposite_term(b, fg, node->in[1]) : match_negated(node->in[1]);
  if (b->status != DAMO_OK) return b->status;
  /* -x of an integer may wrap before it is cast to the output dtype */
  if (y != NULL && !same_dtype(y, node->out[0])) y = NULL;
  if (sum && y != NULL)
    return rule_give(b, repl, did, id == SCALAR_add ? build_sub(b, node->in[0], y) : build_add(b, node->in[0], y));
  if (id == SCALAR_sub) return DAMO_OK;
  damo_var *x = sum ? opposite_term(b, fg, node->in[0]) : match_negated(node->in[0]);
  if (b->status != DAMO_OK) return b->status;
  if (x != NULL && !same_dtype(x, node->out[0])) x = NULL;
  if (sum) return rule_give(b, repl, did, x != NULL ? build_sub(b, node->in[1], x) : NULL);
  if (x != NULL && y != NULL) return rule_give(b, repl, did, build_scalar_op(b, id, (damo_var *[]){x, y}));
  if (!is_real_number(node->out[0])) return DAMO_OK;
  for (int i = 1; i >= (id == SCALAR_mul ? 0 : 1); i--) {
    if (!match_constant(node->in[i], -1)) continue;
    damo_var *rest = as_output(b, node, 1 - i);
    return rule_give(b, repl, did, rest != NULL ? build_neg(b, rest) : NULL);
  }
  return DAMO_OK;
}

/* ---- Constants --------------------------------------------------------------------------------------------------- */

static bool split_constant(const damo_apply *node, damo_var **constant, damo_var **rest) {
  for (int i = 0; i < 2; i++) {
    if (node->in[i]->kind != VAR_CONSTANT || node->in[1 - i]->kind == VAR_CONSTANT) continue;
    *constant = node->in[i];
    *rest = node->in[1 - i];
    return true;
  }
  return false;
}

/* Whether all entries of a small real constant have moduli far from overflow and underflow; with `zero`, 0 is allowed
 * too. */
static bool is_moderate_constant(const damo_var *c, bool zero) {
  const damo_array *a = var_constant_array(c);
  const double most = var_dtype(c) == DAMO_FLOAT32 ? 0x1p60 : 0x1p500;
  array_entries e;
  if (a == NULL || array_size(a) > 64 || dtype_is_complex(array_dtype(a))) return false;
  for (const char *p = entries_begin(&e, a); p; p = entries_next(&e)) {
    const double size = fabs(scalar_to_double(scalar_load(array_dtype(a), p)));
    if (!(size <= most && (size >= 1 / most || (zero && size == 0)))) return false;
  }
  return true;
}

/* (x*c1)*c2 → x*(c1*c2), and likewise for sums; constant_folding then computes c1*c2. Not where the result is rounded. */
static damo_status join_constants(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  const scalar_id id = elemwise_scalar_id(node->op);
  damo_var *c1, *c2, *x, *inner;
  if (!split_constant(node, &c2, &inner) || !match_single_use(fg, inner) || match_rounded(fg, node->out[0]))
    return DAMO_OK;
  const damo_apply *below = match_scalar(inner, id);
  if (below == NULL || !split_constant(below, &c1, &x)) return DAMO_OK;
  if (!same_dtype(c1, c2) || !same_dtype(x, c1) || !same_dtype(x, node->out[0])) return DAMO_OK;
  const bool sum = id == SCALAR_add, discrete = dtype_is_discrete(var_dtype(x));
  if (!discrete && !(is_moderate_constant(c1, sum) && is_moderate_constant(c2, sum))) return DAMO_OK;
  damo_var *c = build_scalar_op(b, id, (damo_var *[]){c1, c2});
  return rule_give(b, repl, did, build_scalar_op(b, id, (damo_var *[]){x, c}));
}

/* ---- Powers and quotients ---------------------------------------------------------------------------------------- */

/* x^2 → sqr(x), x*x → sqr(x), x^-1 → reciprocal(x), x^-2 → sqr(reciprocal(x)); x^0.5 → sqrt(x) if x is known to be
 * nonnegative: the two differ for -0 and -inf. */
static damo_status name_powers(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *x = node->in[0];
  if (!is_real_number(node->out[0]) || !same_dtype(x, node->out[0])) return DAMO_OK;
  if (match_scalar(node->out[0], SCALAR_mul) != NULL) {
    return rule_give(b, repl, did, node->in[1] == x ? build_sqr(b, x) : NULL);
  }
  if (!match_fits(node, 0)) return DAMO_OK;
  const damo_var *e = node->in[1];
  if (match_constant(e, 2)) return rule_give(b, repl, did, build_sqr(b, x));
  if (!dtype_is_float(var_dtype(x))) return DAMO_OK;
  if (match_constant(e, 0.5)) {
    return rule_give(b, repl, did, match_facts(x, FACT_NONNEGATIVE) ? build_sqrt(b, x) : NULL);
  }
  if (match_constant(e, -1)) return rule_give(b, repl, did, build_reciprocal(b, x));
  if (!match_constant(e, -2)) return DAMO_OK;
  return rule_give(b, repl, did, build_sqr(b, build_reciprocal(b, x)));
}

/* 1/x → reciprocal(x); x * reciprocal(y) → x/y if reciprocal(y) has the output's shape and the result is not rounded */
static damo_status name_quotients(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  if (!dtype_is_float(var_dtype(node->out[0]))) return DAMO_OK;
  if (match_scalar(node->out[0], SCALAR_true_div) != NULL) {
    bool one = match_constant(node->in[0], 1) && match_fits(node, 1) && same_dtype(node->in[1], node->out[0]);
    return rule_give(b, repl, did, one ? build_reciprocal(b, node->in[1]) : NULL);
  }
  for (int i = 0; i < 2 && !match_rounded(fg, node->out[0]); i++) {
    const damo_apply *r = match_scalar(node->in[i], SCALAR_reciprocal);
    if (r == NULL || !match_fits(node, i) || !same_dtype(r->in[0], node->in[1 - i])) continue;
    return rule_give(b, repl, did, build_true_div(b, node->in[1 - i], r->in[0]));
  }
  return DAMO_OK;
}

/* ---- No-op nodes ------------------------------------------------------------------------------------------------- */

/* Drops identity, a cast to the operand's own dtype, and the first of two casts if it loses nothing. */
static damo_status drop_cast(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  damo_var *x = node->in[0];
  if (match_scalar(node->out[0], SCALAR_identity) != NULL) return rule_give(b, repl, did, x);
  if (same_dtype(x, node->out[0])) return rule_give(b, repl, did, x);
  const damo_apply *below = match_scalar(x, SCALAR_cast);
  if (below == NULL || var_dtype(node->out[0]) == DAMO_BOOL) return DAMO_OK;
  damo_dtype from = var_dtype(below->in[0]);
  const damo_dtype to = var_dtype(node->out[0]);
  bool through_float = dtype_is_integer(from) && !dtype_is_discrete(var_dtype(x));
  bool wide = through_float && dtype_size(from) == 8;
  /* integer to narrower integer wraps, float to integer saturates */
  bool wraps = through_float && dtype_is_integer(to) && !dtype_can_cast_safely(from, to);
  if (wide || wraps || dtype_is_complex(var_dtype(x)) || !dtype_can_cast_safely(from, var_dtype(x))) return DAMO_OK;
  return rule_give(b, repl, did, build_cast(b, below->in[0], to));
}

/* Drops an Op that only affects gradients (zero_grad, grad_clip, …): gradients were taken before rewriting. */
static damo_status drop_gradient_marker(build *b, damo_fgraph *fg, damo_apply *node, damo_var **repl, bool *did) {
  (void)fg;
  return rule_give(b, repl, did, node->in[0]);
}

#define RULE(rule_name, fast, fn, ...) \
  { .name = rule_name, .phase = PHASE_CANONICALIZE, .tags = fast "fast_run canonicalize", .local = fn, __VA_ARGS__ }
#define NEUTRAL ELEMWISE(SCALAR_mul, SCALAR_true_div, SCALAR_add, SCALAR_sub, SCALAR_pow)

const rewrite_rule canonicalize_rules[] = {
    RULE("drop_neutral", "fast_compile ", drop_neutral, NEUTRAL),
    RULE("drop_cast", "fast_compile ", drop_cast, ELEMWISE(SCALAR_cast, SCALAR_identity)),
    RULE("drop_marker", "fast_compile ", drop_gradient_marker,
         TRACKS(&disconnected_grad_def, &zero_grad_def, &consider_constant_def, &grad_clip_def, &grad_scale_def)),
    RULE("drop_neutral_inexact", "inexact ", drop_neutral_inexact, NEUTRAL),
    RULE("drop_zero_product", "", drop_zero_product, ELEMWISE(SCALAR_mul)),
    RULE("cancel_zero", "inexact ", cancel_zero, ELEMWISE(SCALAR_mul, SCALAR_true_div)),
    RULE("sort_signs", "", sort_signs, ELEMWISE(SCALAR_neg, SCALAR_add, SCALAR_sub, SCALAR_mul, SCALAR_true_div)),
    RULE("join_constants", "inexact ", join_constants, ELEMWISE(SCALAR_mul, SCALAR_add)),
    RULE("name_powers", "inexact ", name_powers, ELEMWISE(SCALAR_mul, SCALAR_pow)),
    RULE("name_quotients", "inexact ", name_quotients, ELEMWISE(SCALAR_mul, SCALAR_true_div)),
    {.name = NULL},
};

#undef RULE
#undef NEUTRAL

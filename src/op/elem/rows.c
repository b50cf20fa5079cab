/* rows: the scalar ops, and the functions that scripts call, made from the rows of arith_rows.h, math_rows.h and
 * special_rows.h.
 *
 * To add a scalar op: a row there, its derivative in grad.c, its kernel in kernel/elem (or a kernel_set of its own).
 */
#include "build_arith.h"
#include "build_math.h"
#include "build_special.h"
#include "elem_int.h"
#include "kernel/elem/special_sets.h"
#include "op/shape/shape_int.h"
#include "scalar.h"

#include <stdlib.h>
#include <string.h>

#define UNARY 1, "x"
#define CASTS 1, "x"
#define BINARY 2, "x y"
#define CHOICE 3, "condition x y"
#define BOUNDS 3, "x min max"
#define PARTS 2, "re im"
#define SCALES 2, "x n"
#define PARAMETER 2, "a x"
#define QUANTILE 2, "a p"
#define PAIR 2, "a b"
#define BETA 3, "a b x"
#define BETA_QUANTILE 3, "a b p"
#define STEPS 2, "x m"
#define CHOOSE 2, "n k"
#define OWEN 2, "h a"
#define ORDER 2, "n x"
#define REAL_ORDER 2, "v x"
#define ZETA 2, "s q"
#define ANGLE 2, "phi m"
#define MODULUS 2, "u m"
#define KUMMER 3, "a b x"
#define HYPER 4, "a b c x"
#define K(name) ELEM_##name, NULL
#define SPECIAL(set) KERNEL_OWN, &special_set_##set
#define COPY KERNEL_NONE, NULL
#define D(name) elemwise_d_##name
#define ZERO elemwise_d_zero
#define NO_GRADIENT NULL

#define SECOND_(a, b) b
#define OPERANDS(operands) SECOND_ operands

static const scalar_op scalar_rows[] = {
#define X(name, operands, rule, ...) {#name, SCALAR_##name, operands, RULE_##rule, __VA_ARGS__},
    SCALAR_ROWS(X)
#undef X
};

static int scalar_compare_names(const void *a, const void *b) {
  const scalar_op *const *x = a, *const *y = b;
  return strcmp((*x)->name, (*y)->name);
}

static void scalar_names_destroy(damo_ctx *ctx, void *data) {
  mem_free(ctx, data, SCALAR_NONE * sizeof(const scalar_op *));
}

/* Sorts the rows by name for elemwise_find_row's binary search: each eager call makes an Op by its scalar's name. */
damo_status elemwise_register(damo_ctx *ctx) {
  const scalar_op **sorted = mem_alloc(ctx, SCALAR_NONE * sizeof *sorted);
  if (sorted == NULL) return DAMO_EMEMORY;
  for (int i = 0; i < SCALAR_NONE; i++) sorted[i] = &scalar_rows[i];
  qsort(sorted, SCALAR_NONE, sizeof *sorted, scalar_compare_names);
  ctx->slots[CTX_SCALARS] = (ctx_slot){.data = sorted, .destroy = scalar_names_destroy};
  graph_notes_of(ctx)->cast = &elemwise_funcs[SCALAR_cast];
  return DAMO_OK;
}

const scalar_op *elemwise_find_row(damo_ctx *ctx, const char *name) {
  const scalar_op wanted = {.name = name}, *key = &wanted;
  const scalar_op *const *at =
      bsearch(&key, ctx->slots[CTX_SCALARS].data, SCALAR_NONE, sizeof key, scalar_compare_names);
  return at != NULL ? *at : NULL;
}

const scalar_op *elemwise_row(scalar_id id) { return &scalar_rows[id]; }

/* Measured on AVX2, with arguments for which the functions have no shorter way. */
static const uint16_t scalar_ns[SCALAR_NONE] = {
    [SCALAR_gammainc_grad_aa] = 10000,
    [SCALAR_betaincinv] = 12000,
    [SCALAR_gammaincinv] = 5000,
    [SCALAR_gammainccinv] = 5000,
    [SCALAR_expn_grad_n] = 5000,
    [SCALAR_expn_grad_nn] = 5000,
    [SCALAR_hyp2f1_grad_a] = 5000,
    [SCALAR_hyp2f1_grad_b] = 5000,
    [SCALAR_hyp2f1_grad_c] = 5000,
    [SCALAR_jv_grad_vv] = 2000,
    [SCALAR_yv_grad_v] = 2000,
    [SCALAR_yv_grad_vv] = 2000,
    [SCALAR_ive_grad_vv] = 2000,
    [SCALAR_kve_grad_v] = 2000,
    [SCALAR_kve_grad_vv] = 2000,
    [SCALAR_betainc] = 2000,
    [SCALAR_betainc_grad_a] = 2000,
    [SCALAR_betainc_grad_b] = 2000,
    [SCALAR_betainc_grad_aa] = 2000,
    [SCALAR_betainc_grad_ab] = 2000,
    [SCALAR_betainc_grad_bb] = 2000,
    [SCALAR_beta] = 1000,
    [SCALAR_betaln] = 1000,
    [SCALAR_binom] = 1000,
    [SCALAR_gammal] = 1000,
    [SCALAR_gammau] = 1000,
    [SCALAR_gammainc_grad_a] = 1000,
    [SCALAR_hyp2f1] = 1000,
    [SCALAR_poch] = 1000,
    [SCALAR_erfinv] = 200,
    [SCALAR_erfcinv] = 200,
    [SCALAR_ndtri] = 200,
    [SCALAR_erf] = 12,
    [SCALAR_erfc] = 12,
    [SCALAR_pow] = 12,
    [SCALAR_arccosh] = 12,
    [SCALAR_arcsinh] = 12,
    [SCALAR_angle] = 12,
    [SCALAR_fmod] = 12,
    [SCALAR_gcd] = 12,
    [SCALAR_lcm] = 12,
    [SCALAR_ldexp] = 12,
    [SCALAR_nextafter] = 12,
    [SCALAR_floor_div] = 30,
    [SCALAR_mod] = 30,
    [SCALAR_trunc_div] = 30,
    [SCALAR_erfcx] = 30,
    [SCALAR_gamma] = 30,
    [SCALAR_gammaln] = 30,
    [SCALAR_log1mexp] = 30,
    [SCALAR_psi] = 30,
    [SCALAR_tri_gamma] = 30,
    [SCALAR_tetra_gamma] = 30,
    [SCALAR_sinc] = 30,
    [SCALAR_xlogy] = 30,
    [SCALAR_xlog1py] = 30,
    [SCALAR_entr] = 30,
    [SCALAR_ndtr] = 30,
    [SCALAR_logit] = 30,
    [SCALAR_y0] = 30,
    [SCALAR_y1] = 30,
    [SCALAR_j0] = 30,
    [SCALAR_j1] = 30,
    [SCALAR_cbrt] = 8,
    [SCALAR_arctanh] = 7,
    [SCALAR_arctan2] = 6,
    [SCALAR_cosh] = 6,
    [SCALAR_logaddexp] = 6,
    [SCALAR_logaddexp2] = 6,
    [SCALAR_frexp_exponent] = 5,
    [SCALAR_frexp_mantissa] = 5,
    [SCALAR_sinh] = 5,
    [SCALAR_softplus] = 5,
    [SCALAR_tan] = 5,
};
#define SCALAR_OWN_NS 300 /* of other kernels of their own */

/* The same for complex numbers, of the functions that are slow for these. */
static const uint16_t complex_ns[SCALAR_NONE] = {
    [SCALAR_pow] = 80,     [SCALAR_cosh] = 45,  [SCALAR_tanh] = 45,   [SCALAR_log1p] = 40,  [SCALAR_arccosh] = 35,
    [SCALAR_arcsinh] = 35, [SCALAR_expm1] = 35, [SCALAR_arccos] = 30, [SCALAR_arcsin] = 30, [SCALAR_arctan] = 30,
    [SCALAR_arctanh] = 30, [SCALAR_cos] = 30,   [SCALAR_tan] = 30,    [SCALAR_sin] = 24,    [SCALAR_sinh] = 24,
    [SCALAR_log] = 19,     [SCALAR_log10] = 19, [SCALAR_log2] = 19,   [SCALAR_exp] = 16,    [SCALAR_exp2] = 12,
    [SCALAR_sign] = 10,    [SCALAR_sqrt] = 10,
};

uint16_t elemwise_ns(const scalar_op *row, damo_dtype loop) {
  if (dtype_is_complex(loop) && complex_ns[row->id] != 0) return complex_ns[row->id];
  const uint16_t ns = scalar_ns[row->id];
  return ns == 0 && row->kernel == KERNEL_OWN ? SCALAR_OWN_NS : ns;
}

/* ---- Functions --------------------------------------------------------------------------------------------------- */

/* The imaginary part of a real x: zeros of x's dtype. */
static damo_var *no_imaginary_part(build *b, damo_var *x) { return build_fill(b, x, build_scalar(b, var_dtype(x), 0)); }

/* True when a function with this dtype rule is the identity on operands of dtype dt. */
static bool leaves_alone(dtype_rule rule, damo_dtype dt) {
  if (rule == RULE_CONJ || rule == RULE_REAL) return !dtype_is_complex(dt);
  return rule == RULE_ROUND && dtype_is_discrete(dt);
}

/* Whether the first operand takes no part in the promotion of the others' dtypes: a condition, or what ldexp scales. */
static bool first_stands_alone(const scalar_op *row) { return row->rule == RULE_SWITCH || row->rule == RULE_SCALE; }

static damo_var *build_scalar_row(build *b, const scalar_op *row, damo_var *const *operands) {
  damo_var *in[SCALAR_MAX_ARITY];
  const int first = first_stands_alone(row);
  if (first && build_resolve(b, operands, 1, false, in) != DAMO_OK) return NULL;
  if (build_resolve(b, operands + first, row->arity - first, false, in + first) != DAMO_OK) return NULL;
  if (leaves_alone(row->rule, var_dtype(in[0]))) return in[0];
  if (row == &scalar_rows[SCALAR_imag] && !dtype_is_complex(var_dtype(in[0]))) return no_imaginary_part(b, in[0]);
  return build_op(b, elemwise_op(b->ctx, row->id), in, row->arity);
}

/* The call of every row but cast. The row that takes any Type (mul) has its own function for sparse operands. */
static damo_status call_scalar(build *b, const fn_args *a, ptrvec *out) {
  const scalar_op *row = a->func->data;
  if (a->func->any_type && (type_is_sparse(a->in[0]->type) || type_is_sparse(a->in[1]->type)))
    return sparse_form.mul(b, a, out);
  for (int i = 0; i < row->arity; i++) DAMO_TRY(fn_check_tensor(a, b->ctx, i));
  return fn_give(b, out, build_scalar_row(b, row, a->in));
}

bool elemwise_is_func(const op_func *f, int *first) {
  if (f->call != call_scalar) return false;
  *first = first_stands_alone(f->data);
  return true;
}

static damo_status call_cast(build *b, const fn_args *a, ptrvec *out) {
  damo_dtype dtype = DAMO_N_DTYPES;
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  DAMO_TRY(fn_dtype(a, b->ctx, FN_OPTIONS(a, dtype_options)->dtype, &dtype));
  if (dtype == DAMO_N_DTYPES) return ctx_fail(b->ctx, DAMO_ETYPE, "%s: the option 'dtype' is missing", a->func->name);
  return fn_give(b, out, build_cast(b, a->in[0], dtype));
}

/* |x - y| <= atol + rtol |y|; equal infinities are close, nan is close to nan when equal_nan. */
damo_var *build_isclose(build *b, damo_var *x, damo_var *y, const close_options *o) {
  const double rtol = prop_num_or(o->rtol, 1e-5), atol = prop_num_or(o->atol, 1e-8);
  damo_var *v[2] = {x, y};
  if (build_resolve(b, v, 2, true, v) != DAMO_OK) return NULL;
  if (dtype_is_discrete(var_dtype(v[0]))) {
    for (int i = 0; i < 2; i++) v[i] = build_cast(b, v[i], DAMO_FLOAT64);
    if (v[0] == NULL || v[1] == NULL) return NULL;
  }
  damo_var *size = build_abs(b, v[1]);
  damo_var *allowed = build_add(b, build_num(b, atol), build_mul(b, build_num(b, rtol), size));
  damo_var *near = build_le(b, build_abs(b, build_sub(b, v[0], v[1])), allowed);
  near = build_and_(b, near, build_invert(b, build_isinf(b, v[1])));
  damo_var *close = build_or_(b, near, build_eq(b, v[0], v[1]));
  if (!prop_bool_or(o->equal_nan, false)) return close;
  return build_or_(b, close, build_and_(b, build_isnan(b, v[0]), build_isnan(b, v[1])));
}

/* max(x, 0); with alpha, alpha x where x is not positive. */
damo_var *build_relu(build *b, damo_var *x, damo_var *alpha) {
  if (alpha == NULL) return build_maximum(b, x, build_int(b, 0));
  damo_var *positive = build_gt(b, x, build_int(b, 0));
  return build_switch(b, positive, x, build_mul(b, alpha, x));
}

/* zeta(s) and zeta(s, q) */
static damo_status call_zeta(build *b, const fn_args *a, ptrvec *out) {
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  if (a->in[1] == NULL) return fn_give(b, out, build_riemann_zeta(b, a->in[0]));
  DAMO_TRY(fn_check_tensor(a, b->ctx, 1));
  return fn_give(b, out, build_hurwitz_zeta(b, a->in[0], a->in[1]));
}

static damo_status call_lambertw(build *b, const fn_args *a, ptrvec *out) {
  const int64_t k = prop_int_or(FN_OPTIONS(a, lambertw_options)->k, 0);
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  if (k == 0) return fn_give(b, out, build_lambertw_principal(b, a->in[0]));
  if (k == -1) return fn_give(b, out, build_lambertw_lower(b, a->in[0]));
  return ctx_fail(b->ctx, DAMO_EVALUE, "lambertw: there is no branch k = %lld; k is 0 or -1", (long long)k);
}

static damo_status call_relu(build *b, const fn_args *a, ptrvec *out) {
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  return fn_give(b, out, build_relu(b, a->in[0], a->in[1]));
}

static damo_var *build_isclose_of_call(build *b, const fn_args *a) {
  if (fn_check_tensor(a, b->ctx, 0) != DAMO_OK || fn_check_tensor(a, b->ctx, 1) != DAMO_OK) return build_take(b, NULL);
  return build_isclose(b, a->in[0], a->in[1], FN_OPTIONS(a, close_options));
}

static damo_status call_isclose(build *b, const fn_args *a, ptrvec *out) {
  return fn_give(b, out, build_isclose_of_call(b, a));
}

static damo_status call_allclose(build *b, const fn_args *a, ptrvec *out) {
  return fn_give(b, out, build_reduce(b, REDUCE_ALL, build_isclose_of_call(b, a), NULL, -1, false));
}

/* The advice in errors over sparse operands of rows that have no sparse form. */
#define REMEDY(row)                                                                                          \
  ((row) == SCALAR_switch ? "x * mask keeps x where a sparse mask is true"                                   \
   : (row) == SCALAR_clip ? "damo.maximum(x, a) and damo.minimum(x, b) take constants that leave 0 as it is" \
                          : NULL)
#define OF_MANY(row) ((row) == SCALAR_maximum ? "largest" : (row) == SCALAR_minimum ? "smallest" : NULL)
/* The call that an error recommends where the only operand of a function is sparse. */
#define STORED(own, operands) (sizeof operands == sizeof "x" ? "damo.sparse.structured_monoid(damo." own ")(x)" : NULL)
#define ALIAS(alias, of, args)                                                                       \
  {                                                                                                  \
    .name = alias, .operands = args, .call = call_scalar, .data = &scalar_rows[SCALAR_##of],         \
    .doc = "another name of " #of, .stored_form = STORED(alias, args), .remedy = REMEDY(SCALAR_##of) \
  }

static const fn_option cast_option[] = {OPT(dtype_options, dtype, OPT_DTYPE), {.name = NULL}};

const op_func elemwise_funcs[] = {
#define X(id, args, rule, kernel, own, derivative, text)         \
  {.name = #id,                                                  \
   .operands = OPERANDS(args),                                   \
   .options = SCALAR_##id == SCALAR_cast ? cast_option : NULL,   \
   .call = SCALAR_##id == SCALAR_cast ? call_cast : call_scalar, \
   .data = &scalar_rows[SCALAR_##id],                            \
   .doc = text,                                                  \
   .any_type = SCALAR_##id == SCALAR_mul,                        \
   .stored_form = STORED(#id, OPERANDS(args)),                   \
   .remedy = REMEDY(SCALAR_##id),                                \
   .of_many = OF_MANY(SCALAR_##id)},
#define SCALAR_FUNC(...) X(__VA_ARGS__)
#define Y(id, operands, ...) SCALAR_FUNC(id, (operands), __VA_ARGS__)
    SCALAR_ROWS(Y)
#undef SCALAR_FUNC
#undef Y
#undef X
        ALIAS("div", true_div, "x y"),
    ALIAS("int_div", floor_div, "x y"),
    ALIAS("remainder", mod, "x y"),
    ALIAS("bitwise_and", and_, "x y"),
    ALIAS("bitwise_or", or_, "x y"),
    ALIAS("bitwise_xor", xor, "x y"),
    ALIAS("bitwise_not", invert, "x"),
    ALIAS("not_", invert, "x"),
    ALIAS("where", switch, "condition x y"),
    ALIAS("fill", second, "x y"),
    ALIAS("sgn", sign, "x"),
    ALIAS("square", sqr, "x"),
    ALIAS("rint", round_half_to_even, "x"),
    ALIAS("positive", identity, "x"),
    ALIAS("digamma", psi, "x"),
    ALIAS("expit", sigmoid, "x"),
    ALIAS("kn", kv, "n x"),
    {.name = "astype", .operands = "x", .options = cast_option, .call = call_cast, .doc = "another name of cast"},
    {.name = "zeta",
     .operands = "s [q]",
     .call = call_zeta,
     .doc = "zeta function of Riemann; with q that of Hurwitz, the sum of (q + k)^-s"},
    {.name = "lambertw",
     .operands = "x",
     .options = OPTIONS(OPT(lambertw_options, k, OPT_INT)),
     .call = call_lambertw,
     .doc = "the w with w exp(w) = x, of branch k = 0 (default) or -1; of real x real, nan where there is none"},
    {.name = "relu",
     .operands = "x [alpha]",
     .call = call_relu,
     .doc = "max(x, 0); with alpha, alpha*x where x is not positive"},
    {.name = "isclose",
     .operands = "x y",
     .options = CLOSE_OPTIONS,
     .call = call_isclose,
     .doc = "|x - y| <= atol + rtol |y|, as bool"},
    {.name = "allclose",
     .operands = "x y",
     .options = CLOSE_OPTIONS,
     .call = call_allclose,
     .doc = "isclose everywhere"},
    {.name = NULL},
};

/* ---- Builders ---------------------------------------------------------------------------------------------------- */

static bool are_tensors(damo_var *const *in, int n) {
  for (int i = 0; i < n; i++) {
    if (!type_is_tensor(in[i]->type)) return false;
  }
  return true;
}

/* Operands that are not all tensors take the path of a script's call, which finds the sparse ops. */
damo_var *build_scalar_op(build *b, scalar_id id, damo_var *const *in) {
  if (b->status != DAMO_OK) return NULL;
  const scalar_op *row = &scalar_rows[id];
  for (int i = 0; i < row->arity; i++) {
    if (in[i] == NULL) return build_fail(b, DAMO_ESTATE, "%s: operand %d is missing", row->name, i + 1);
  }
  if (!are_tensors(in, row->arity)) return build_row(b, &elemwise_funcs[id], in, row->arity, NULL);
  damo_var *v = build_scalar_row(b, row, in);
  if (v == NULL) {
    ctx_fail_at(b->ctx, row->name, NULL);
    graph_fail_operands(b->ctx, in, row->arity);
  }
  return v;
}

#define BUILD_UNARY(name) \
  damo_var *build_##name(build *b, damo_var *x) { return build_scalar_op(b, SCALAR_##name, (damo_var *[]){x}); }
#define BUILD_BINARY(name)                                          \
  damo_var *build_##name(build *b, damo_var *x, damo_var *y) {      \
    return build_scalar_op(b, SCALAR_##name, (damo_var *[]){x, y}); \
  }
#define BUILD_CHOICE(name)                                                          \
  damo_var *build_##name(build *b, damo_var *condition, damo_var *x, damo_var *y) { \
    return build_scalar_op(b, SCALAR_##name, (damo_var *[]){condition, x, y});      \
  }
#define BUILD_HYPER(name)                                                                     \
  damo_var *build_##name(build *b, damo_var *a, damo_var *second, damo_var *c, damo_var *x) { \
    return build_scalar_op(b, SCALAR_##name, (damo_var *[]){a, second, c, x});                \
  }
#define BUILD_BOUNDS BUILD_CHOICE
#define BUILD_PARTS BUILD_BINARY
#define BUILD_SCALES BUILD_BINARY
#define BUILD_PARAMETER BUILD_BINARY
#define BUILD_QUANTILE BUILD_BINARY
#define BUILD_PAIR BUILD_BINARY
#define BUILD_BETA BUILD_CHOICE
#define BUILD_BETA_QUANTILE BUILD_CHOICE
#define BUILD_STEPS BUILD_BINARY
#define BUILD_CHOOSE BUILD_BINARY
#define BUILD_OWEN BUILD_BINARY
#define BUILD_ORDER BUILD_BINARY
#define BUILD_REAL_ORDER BUILD_BINARY
#define BUILD_ZETA BUILD_BINARY
#define BUILD_ANGLE BUILD_BINARY
#define BUILD_MODULUS BUILD_BINARY
#define BUILD_KUMMER BUILD_CHOICE
#define BUILD_CASTS(name)
#undef UNARY
#undef CASTS
#undef BINARY
#undef CHOICE
#undef BOUNDS
#undef PARTS
#undef SCALES
#undef PARAMETER
#undef QUANTILE
#undef PAIR
#undef BETA
#undef BETA_QUANTILE
#undef STEPS
#undef CHOOSE
#undef OWEN
#undef ORDER
#undef REAL_ORDER
#undef ZETA
#undef ANGLE
#undef MODULUS
#undef KUMMER
#undef HYPER
#define X(name, operands, ...) BUILD_##operands(name)
SCALAR_ROWS(X)
#undef X
#undef BUILD_UNARY
#undef BUILD_BINARY
#undef BUILD_CHOICE
#undef BUILD_BOUNDS
#undef BUILD_PARTS
#undef BUILD_SCALES
#undef BUILD_PARAMETER
#undef BUILD_QUANTILE
#undef BUILD_PAIR
#undef BUILD_BETA
#undef BUILD_BETA_QUANTILE
#undef BUILD_STEPS
#undef BUILD_CHOOSE
#undef BUILD_OWEN
#undef BUILD_ORDER
#undef BUILD_REAL_ORDER
#undef BUILD_ZETA
#undef BUILD_ANGLE
#undef BUILD_MODULUS
#undef BUILD_KUMMER
#undef BUILD_HYPER
#undef BUILD_CASTS

#undef K
#undef SPECIAL
#undef COPY
#undef D
#undef ZERO
#undef NO_GRADIENT
#undef SECOND_
#undef OPERANDS
#undef ALIAS
#undef STORED
#undef REMEDY
#undef OF_MANY

/* rows: the scalar ops, a row each, and the functions that scripts call, made from the rows.
 *
 * To add a scalar op: a row here, its derivative in grad.c, its kernel in kernel/ (or a kernel_set of its
 * own).
 */
#include "elem_int.h"
#include "op/sparse/sparse_op.h"

#include <string.h>

#define UNARY 1, "x"
#define BINARY 2, "x y"
#define K(name) ((int32_t)offsetof(kernel_table, name)), NULL
#define OWN(set) KERNEL_OWN, &elemwise_##set
#define COPY KERNEL_NONE, NULL
#define D(name) elemwise_d_##name
#define ZERO elemwise_d_zero

/* clang-format off */
/* name, operands, dtype rule, kernel, derivative, C text of an element, doc */
#define SCALAR_FUNCTIONS(X)                                                                                            \
  X(add, BINARY, PROMOTE, K(add), D(add), "({0} + {1})", "sum")                                                        \
  X(sub, BINARY, PROMOTE, K(sub), D(sub), "({0} - {1})", "difference")                                                 \
  X(mul, BINARY, PROMOTE, K(mul), D(mul), "({0} * {1})", "product, element by element")                                \
  X(true_div, BINARY, DIVIDE, K(true_div), D(true_div), "({0} / {1})", "quotient; of integers a float")                \
  X(floor_div, BINARY, NUMBER, K(floor_div), ZERO, "floor({0} / {1})", "quotient rounded down")                        \
  X(mod, BINARY, NUMBER, K(mod), D(mod), "({0} - floor({0} / {1}) * {1})", "remainder, with the divisor's sign")       \
  X(pow, BINARY, NUMBER, K(pow), D(pow), "pow({0}, {1})", "x to the power y")                                          \
  X(maximum, BINARY, PROMOTE, K(maximum), D(extremum), "fmax({0}, {1})", "the larger; nan where one is nan")           \
  X(minimum, BINARY, PROMOTE, K(minimum), D(extremum), "fmin({0}, {1})", "the smaller; nan where one is nan")          \
  X(arctan2, BINARY, FLOAT, K(arctan2), D(arctan2), "atan2({0}, {1})", "angle of a point, its height first")           \
  X(logaddexp, BINARY, FLOAT, K(logaddexp), D(logaddexp), "logaddexp({0}, {1})", "log(exp(x) + exp(y))")               \
  X(hypot, BINARY, FLOAT, K(hypot), D(hypot), "hypot({0}, {1})", "sqrt(x*x + y*y) without overflow")                   \
                                                                                                                       \
  X(eq, BINARY, COMPARE, K(eq), ZERO, "({0} == {1})", "x = y, as bool")                                                \
  X(neq, BINARY, COMPARE, K(neq), ZERO, "({0} != {1})", "x differs from y, as bool")                                   \
  X(lt, BINARY, COMPARE, K(lt), ZERO, "({0} < {1})", "x < y, as bool")                                                 \
  X(le, BINARY, COMPARE, K(le), ZERO, "({0} <= {1})", "x <= y, as bool")                                               \
  X(gt, BINARY, COMPARE, K(gt), ZERO, "({0} > {1})", "x > y, as bool")                                                 \
  X(ge, BINARY, COMPARE, K(ge), ZERO, "({0} >= {1})", "x >= y, as bool")                                               \
  X(isnan, UNARY, TEST, K(isnan), ZERO, "isnan({0})", "is it nan, as bool")                                            \
  X(isinf, UNARY, TEST, K(isinf), ZERO, "isinf({0})", "is it an infinity, as bool")                                    \
                                                                                                                       \
  X(and_, BINARY, LOGIC, K(and_), ZERO, "({0} & {1})", "logical and of bool, bitwise and of integers")                 \
  X(or_, BINARY, LOGIC, K(or_), ZERO, "({0} | {1})", "logical or of bool, bitwise or of integers")                     \
  X(xor, BINARY, LOGIC, K(xor), ZERO, "({0} ^ {1})", "exclusive or of bool, bitwise of integers")                      \
  X(invert, UNARY, LOGIC, K(invert), ZERO, "(~{0})", "logical not of bool, all bits flipped of integers")              \
                                                                                                                       \
  X(switch, ARGS(3, "condition x y"), SWITCH, K(switch_), D(switch), "({0} ? {1} : {2})",                              \
    "x where the condition holds, else y")                                                                             \
  X(clip, ARGS(3, "x min max"), PROMOTE, K(clip), D(clip), "({0} < {1} ? {1} : {0} > {2} ? {2} : {0})",             \
    "min where x < min, else max where x > max, else x")                                                               \
  X(second, BINARY, SECOND, COPY, D(copy), "({1})", "y broadcast to x's shape")                                        \
  X(identity, UNARY, PROMOTE, COPY, D(copy), "({0})", "x itself, as a copy")                                           \
                                                                                                                       \
  X(neg, UNARY, PROMOTE, K(neg), D(neg), "(-{0})", "-x")                                                               \
  X(abs, UNARY, ABS, K(abs), D(abs), "fabs({0})", "absolute value; of complex the magnitude")                          \
  X(sign, UNARY, PROMOTE, K(sign), ZERO, "sign({0})", "-1, 0 or 1; nan of nan")                                        \
  X(sqr, UNARY, NUMBER, K(sqr), D(sqr), "({0} * {0})", "x*x")                                                          \
  X(sqrt, UNARY, FLOAT, K(sqrt), D(sqrt), "sqrt({0})", "square root")                                                  \
  X(reciprocal, UNARY, FLOAT, K(reciprocal), D(reciprocal), "(1 / {0})", "1/x")                                        \
  X(ceil, UNARY, FLOAT, K(ceil), ZERO, "ceil({0})", "rounded up")                                                      \
  X(floor, UNARY, FLOAT, K(floor), ZERO, "floor({0})", "rounded down")                                                 \
  X(trunc, UNARY, ROUND, K(trunc), ZERO, "trunc({0})", "rounded towards 0")                                            \
  X(round_half_to_even, UNARY, ROUND, K(round_half_to_even), ZERO, "rint({0})", "rounded, halves to even")             \
  X(round_half_away_from_zero, UNARY, ROUND, K(round_half_away_from_zero), ZERO, "round({0})",                         \
    "rounded, halves away from 0")                                                                                     \
                                                                                                                       \
  X(exp, UNARY, FLOAT, K(exp), D(exp), "exp({0})", "e to the power x")                                                 \
  X(exp2, UNARY, FLOAT, K(exp2), D(exp2), "exp2({0})", "2 to the power x")                                             \
  X(expm1, UNARY, FLOAT, K(expm1), D(expm1), "expm1({0})", "exp(x) - 1, exact near 0")                                 \
  X(log, UNARY, FLOAT, K(log), D(log), "log({0})", "natural logarithm")                                                \
  X(log2, UNARY, FLOAT, K(log2), D(log2), "log2({0})", "logarithm to base 2")                                          \
  X(log10, UNARY, FLOAT, K(log10), D(log10), "log10({0})", "logarithm to base 10")                                     \
  X(log1p, UNARY, FLOAT, K(log1p), D(log1p), "log1p({0})", "log(1 + x), exact near 0")                                 \
  X(sigmoid, UNARY, FLOAT, K(sigmoid), D(sigmoid), "(1 / (1 + exp(-{0})))", "1/(1 + exp(-x))")                         \
  X(softplus, UNARY, FLOAT, K(softplus), D(softplus), "log1p(exp({0}))", "log(1 + exp(x)) without overflow")           \
  X(log1mexp, UNARY, FLOAT, K(log1mexp), D(log1mexp), "log(-expm1({0}))", "log(1 - exp(x)) for x < 0")                 \
                                                                                                                       \
  X(sin, UNARY, FLOAT, K(sin), D(sin), "sin({0})", "sine")                                                             \
  X(cos, UNARY, FLOAT, K(cos), D(cos), "cos({0})", "cosine")                                                           \
  X(tan, UNARY, FLOAT, K(tan), D(tan), "tan({0})", "tangent")                                                          \
  X(arcsin, UNARY, FLOAT, K(arcsin), D(arcsin), "asin({0})", "inverse sine")                                           \
  X(arccos, UNARY, FLOAT, K(arccos), D(arccos), "acos({0})", "inverse cosine")                                         \
  X(arctan, UNARY, FLOAT, K(arctan), D(arctan), "atan({0})", "inverse tangent")                                        \
  X(sinh, UNARY, FLOAT, K(sinh), D(sinh), "sinh({0})", "hyperbolic sine")                                              \
  X(cosh, UNARY, FLOAT, K(cosh), D(cosh), "cosh({0})", "hyperbolic cosine")                                            \
  X(tanh, UNARY, FLOAT, K(tanh), D(tanh), "tanh({0})", "hyperbolic tangent")                                           \
  X(arcsinh, UNARY, FLOAT, K(arcsinh), D(arcsinh), "asinh({0})", "inverse hyperbolic sine")                            \
  X(arccosh, UNARY, FLOAT, K(arccosh), D(arccosh), "acosh({0})", "inverse hyperbolic cosine")                          \
  X(arctanh, UNARY, FLOAT, K(arctanh), D(arctanh), "atanh({0})", "inverse hyperbolic tangent")                         \
  X(deg2rad, UNARY, FLOAT, K(deg2rad), D(deg2rad), "({0} * 0.017453292519943295)", "degrees to radians")               \
  X(rad2deg, UNARY, FLOAT, K(rad2deg), D(rad2deg), "({0} * 57.29577951308232)", "radians to degrees")                  \
                                                                                                                       \
  X(erf, UNARY, FLOAT, K(erf), D(erf), "erf({0})", "error function")                                                   \
  X(erfc, UNARY, FLOAT, K(erfc), D(erfc), "erfc({0})", "1 - erf(x)")                                                   \
  X(erfcx, UNARY, FLOAT, K(erfcx), D(erfcx), "erfcx({0})", "exp(x*x) erfc(x)")                                         \
  X(erfinv, UNARY, FLOAT, K(erfinv), D(erfinv), "erfinv({0})", "inverse of erf")                                       \
  X(erfcinv, UNARY, FLOAT, K(erfcinv), D(erfcinv), "erfcinv({0})", "inverse of erfc")                                  \
  X(gamma, UNARY, FLOAT, K(gamma), D(gamma), "tgamma({0})", "gamma function")                                          \
  X(gammaln, UNARY, FLOAT, K(gammaln), D(gammaln), "lgamma({0})", "log of |gamma(x)|")                                 \
  X(psi, UNARY, FLOAT, K(psi), D(psi), "psi({0})", "derivative of gammaln")                                            \
  X(tri_gamma, UNARY, FLOAT, K(tri_gamma), D(tri_gamma), "tri_gamma({0})", "second derivative of gammaln")             \
  X(tetra_gamma, UNARY, FLOAT, OWN(tetra_gamma), NULL, "tetra_gamma({0})", "third derivative of gammaln")              \
  X(i0, UNARY, FLOAT, OWN(i0), D(i0), "i0({0})", "modified Bessel function of order 0")                                \
  X(i1, UNARY, FLOAT, OWN(i1), D(i1), "i1({0})", "modified Bessel function of order 1")                                \
  X(j0, UNARY, FLOAT, OWN(j0), D(j0), "j0({0})", "Bessel function of order 0")                                         \
  X(j1, UNARY, FLOAT, OWN(j1), D(j1), "j1({0})", "Bessel function of order 1")                                         \
                                                                                                                       \
  X(conj, UNARY, CONJ, K(conj), D(conj), "conj({0})", "complex conjugate")                                             \
  X(real, UNARY, REAL, K(real), D(real), "creal({0})", "real part")                                                    \
  X(imag, UNARY, PART, K(imag), D(imag), "cimag({0})", "imaginary part; of real numbers 0 of their dtype")                                             \
  X(angle, UNARY, PART, K(angle), D(angle), "carg({0})", "argument of a complex number")                               \
  X(complex, ARGS(2, "re im"), COMPLEX, K(complex), D(complex), "({0} + {1} * I)", "complex number of two parts")

/* Rows whose function has options of its own, below. */
#define SCALAR_SPECIALS(X)                                                                                             \
  X(cast, UNARY, CAST, COPY, D(copy), "(({dtype}){0})", "x converted to another dtype")
/* clang-format on */

#define ARGS(...) __VA_ARGS__
#define SECOND_(a, b) b
#define OPERANDS(...) SECOND_(__VA_ARGS__)

enum {
#define X(name, ...) ROW_##name,
  SCALAR_FUNCTIONS(X) SCALAR_SPECIALS(X)
#undef X
      N_ROWS
};

static const scalar_op scalar_rows[] = {
#define X(name, operands, rule, ...) {#name, operands, RULE_##rule, __VA_ARGS__},
    SCALAR_FUNCTIONS(X) SCALAR_SPECIALS(X)
#undef X
};

const scalar_op *elemwise_find_row(const char *name) {
  for (int i = 0; i < N_ROWS; i++) {
    if (strcmp(scalar_rows[i].name, name) == 0) return &scalar_rows[i];
  }
  return NULL;
}

/* ---- Functions --------------------------------------------------------------------------------------------------- */

/* Zeros of x's dtype: what imag is of real numbers. */
static damo_var *no_imaginary_part(build *b, damo_var *x) { return build_fill(b, x, build_scalar(b, var_dtype(x), 0)); }

/* True when the function is the identity on that operand. */
static bool leaves_alone(dtype_rule rule, damo_dtype dt) {
  if (rule == RULE_CONJ || rule == RULE_REAL) return !dtype_is_complex(dt);
  return rule == RULE_ROUND && dtype_is_discrete(dt);
}

static damo_var *build_scalar_row(build *b, const scalar_op *row, damo_var *const *operands) {
  damo_var *in[SCALAR_MAX_ARITY];
  int first = row->rule == RULE_SWITCH; /* the condition has no say in the others' dtype */
  if (first && build_resolve(b, operands, 1, false, in) != DAMO_OK) return NULL;
  if (build_resolve(b, operands + first, row->arity - first, false, in + first) != DAMO_OK) return NULL;
  if (leaves_alone(row->rule, var_dtype(in[0]))) return in[0];
  if (row == &scalar_rows[ROW_imag] && !dtype_is_complex(var_dtype(in[0]))) return no_imaginary_part(b, in[0]);
  return build_op(b, elemwise_op(b->ctx, row->name), in, row->arity);
}

/* The call of every plain row; one of any_type (mul) has a form of its own for sparse operands. */
static damo_status call_scalar(build *b, const fn_args *a, ptrvec *out) {
  const scalar_op *row = a->func->data;
  if (a->func->any_type && (var_is_sparse(a->in[0]) || var_is_sparse(a->in[1]))) return fn_mul_stretched(b, a, out);
  for (int i = 0; i < row->arity; i++) DAMO_TRY(fn_check_tensor(a, b->ctx, i));
  return fn_give(b, out, build_scalar_row(b, row, a->in));
}

static damo_status call_cast(build *b, const fn_args *a, ptrvec *out) {
  damo_dtype dtype = DAMO_N_DTYPES;
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  DAMO_TRY(fn_opt_dtype(a, b->ctx, 0, &dtype));
  if (dtype == DAMO_N_DTYPES) return ctx_fail(b->ctx, DAMO_ETYPE, "%s: the option 'dtype' is missing", a->func->name);
  return fn_give(b, out, build_cast(b, a->in[0], dtype));
}

static damo_status call_round(build *b, const fn_args *a, ptrvec *out) {
  static const char *const modes[] = {"half_to_even", "half_away_from_zero", NULL};
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  int mode = 0;
  if (a->opt[0].kind == PROP_STR) {
    while (modes[mode] && strcmp(modes[mode], a->opt[0].u.s) != 0) mode++;
    if (modes[mode] == NULL) {
      return ctx_fail(b->ctx, DAMO_EVALUE, "round: mode '%s' is neither 'half_to_even' nor 'half_away_from_zero'",
                      a->opt[0].u.s);
    }
  }
  int row = mode == 0 ? ROW_round_half_to_even : ROW_round_half_away_from_zero;
  return fn_give(b, out, build_scalar_row(b, &scalar_rows[row], a->in));
}

/* |x - y| <= atol + rtol |y|; equal infinities are close, nan is close to nan when equal_nan. */
static damo_var *make_isclose(build *b, const fn_args *a) {
  double rtol = 1e-5, atol = 1e-8;
  bool equal_nan = false;
  damo_var *v[2];
  if (fn_check_tensor(a, b->ctx, 0) != DAMO_OK || fn_check_tensor(a, b->ctx, 1) != DAMO_OK) return build_take(b, NULL);
  if (fn_opt_num(a, 0, &rtol) != DAMO_OK || fn_opt_num(a, 1, &atol) != DAMO_OK) return build_take(b, NULL);
  if (fn_opt_bool(a, 2, &equal_nan) != DAMO_OK) return build_take(b, NULL);
  if (build_resolve(b, a->in, 2, true, v) != DAMO_OK) return NULL;
  if (dtype_is_discrete(var_dtype(v[0]))) {
    for (int i = 0; i < 2; i++) v[i] = build_cast(b, v[i], DAMO_FLOAT64);
    if (v[0] == NULL || v[1] == NULL) return NULL;
  }
  damo_var *size = build_fn1(b, "abs", v[1]);
  damo_var *allowed = build_fn2(b, "add", build_num(b, atol), build_fn2(b, "mul", build_num(b, rtol), size));
  damo_var *near = build_fn2(b, "le", build_fn1(b, "abs", build_fn2(b, "sub", v[0], v[1])), allowed);
  near = build_fn2(b, "and_", near, build_fn1(b, "invert", build_fn1(b, "isinf", v[1])));
  damo_var *close = build_fn2(b, "or_", near, build_fn2(b, "eq", v[0], v[1]));
  if (!equal_nan) return close;
  return build_fn2(b, "or_", close, build_fn2(b, "and_", build_fn1(b, "isnan", v[0]), build_fn1(b, "isnan", v[1])));
}

/* max(x, 0), or alpha x where x is not positive. */
static damo_var *make_relu(build *b, const fn_args *a) {
  damo_var *x = a->in[0], *alpha = a->n_in > 1 ? a->in[1] : NULL;
  if (alpha == NULL) return build_fn2(b, "maximum", x, build_int(b, 0));
  damo_var *positive = build_fn2(b, "gt", x, build_int(b, 0));
  return build_fn3(b, "switch", positive, x, build_fn2(b, "mul", alpha, x));
}

static damo_status call_relu(build *b, const fn_args *a, ptrvec *out) {
  DAMO_TRY(fn_check_tensor(a, b->ctx, 0));
  return fn_give(b, out, make_relu(b, a));
}

static damo_status call_isclose(build *b, const fn_args *a, ptrvec *out) { return fn_give(b, out, make_isclose(b, a)); }

static damo_status call_allclose(build *b, const fn_args *a, ptrvec *out) {
  return fn_give(b, out, build_fn1(b, "all", make_isclose(b, a)));
}

#define ALIAS(alias, of, operands) \
  { alias, operands, NULL, call_scalar, &scalar_rows[ROW_##of], "another name of " #of, false, false }

const op_func elemwise_funcs[] = {
#define X(name, operands, rule, kernel, own, d, c, doc) \
  {#name, operands, NULL, call_scalar, &scalar_rows[ROW_##name], doc, false, ROW_##name == ROW_mul},
#define Y(name, operands, ...) ROW_OF(name, OPERANDS(operands), __VA_ARGS__)
#define ROW_OF(...) X(__VA_ARGS__)
    SCALAR_FUNCTIONS(Y)
#undef ROW_OF
#undef Y
#undef X
        ALIAS("div", true_div, "x y"),
    ALIAS("int_div", floor_div, "x y"),
    ALIAS("logical_not", invert, "x"),
    ALIAS("not_", invert, "x"),
    ALIAS("where", switch, "condition x y"),
    ALIAS("fill", second, "x y"),
    ALIAS("sgn", sign, "x"),
    ALIAS("square", sqr, "x"),
    ALIAS("digamma", psi, "x"),
    ALIAS("expit", sigmoid, "x"),
    {"cast", "x", "dtype:dtype", call_cast, &scalar_rows[ROW_cast], "x converted to another dtype", false, false},
    {"astype", "x", "dtype:dtype", call_cast, &scalar_rows[ROW_cast], "another name of cast", false, false},
    {"round", "x", "mode:str", call_round, NULL, "rounded; mode 'half_to_even' (default) or 'half_away_from_zero'",
     false, false},
    {"relu", "x [alpha]", NULL, call_relu, NULL, "max(x, 0); with alpha, alpha*x where x is not positive", false,
     false},
    {"isclose", "x y", "rtol:num atol:num equal_nan:bool", call_isclose, NULL, "|x - y| <= atol + rtol |y|, as bool",
     false, false},
    {"allclose", "x y", "rtol:num atol:num equal_nan:bool", call_allclose, NULL, "isclose everywhere", false, false},
    {.name = NULL},
};

#undef UNARY
#undef BINARY
#undef K
#undef OWN
#undef COPY
#undef D
#undef ZERO
#undef SCALAR_FUNCTIONS
#undef SCALAR_SPECIALS
#undef ARGS
#undef SECOND_
#undef OPERANDS
#undef ALIAS

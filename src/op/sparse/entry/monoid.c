/* monoid: functions of the stored values alone.
 *
 * A row applies the dense row of that name to the vector of stored values and puts the result back on the matrix's
 * pattern. Gradients, R_op and result dtypes are those of the dense row, at the stored positions. Absent entries stay
 * absent whatever f(0) is; functions with f(0) = 0 also have the tensor functions' names, so that these calls with a
 * sparse operand come here. f is applied to each duplicate by itself.
 */
#include "op/elem/scalar.h"
#include "op/sparse/sparse_op.h"

/* A row's data is the number of the dense scalar op. */
static scalar_id monoid_dense_scalar(const fn_args *a) { return (scalar_id)(intptr_t)a->func->data; }

static damo_var *build_monoid(build *b, scalar_id dense, damo_var *x) {
  damo_var *data = build_data(b, x), *made = data ? build_scalar_op(b, dense, &data) : NULL;
  return made == data ? x : build_with_data(b, x, made); /* x: data passed (conj of real) */
}

static damo_status sp_fn_monoid(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = sparse_operand(b, a, 0);
  return fn_give(b, out, x ? build_monoid(b, monoid_dense_scalar(a), x) : NULL);
}

/* The dense row leaves integers as they are; here they become floats, as in ceil and floor. */
static damo_status sp_fn_trunc(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = sparse_operand(b, a, 0);
  if (x != NULL && dtype_is_discrete(var_dtype(x))) x = build_sparse_cast(b, x, dtype_to_float(var_dtype(x)));
  return fn_give(b, out, x ? build_monoid(b, SCALAR_trunc, x) : NULL);
}

static damo_status sp_fn_rint(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = sparse_operand(b, a, 0);
  if (x != NULL && dtype_is_discrete(var_dtype(x))) {
    build_fail(b, DAMO_ETYPE, "%s: the values must be floats, got %s, which has nothing to round", a->func->name,
               dtype_name(var_dtype(x)));
    return b->status;
  }
  return fn_give(b, out, x ? build_monoid(b, SCALAR_round_half_to_even, x) : NULL);
}

/* ---- With a scalar ----------------------------------------------------------------------------------------------- */

/* Operand 2, which must be a scalar; a literal stays weak. */
static damo_var *monoid_scalar_operand(build *b, const fn_args *a) {
  damo_var *y = a->in[1];
  if (y != NULL && type_is_tensor(y->type) && var_ndim(y) == 0) return y;
  char got[320];
  return build_fail(b, DAMO_ETYPE, "%s: operand 2 must be a scalar, got %s", a->func->name,
                    y != NULL ? type_format(got, sizeof got, y->type) : "nothing");
}

static damo_var *build_monoid_with(build *b, scalar_id dense, damo_var *x, damo_var *y) {
  if (x == NULL || y == NULL) return NULL;
  damo_var *data = build_data(b, x);
  return data ? build_with_data(b, x, build_scalar_op(b, dense, (damo_var *[]){data, y})) : NULL;
}

static damo_status sp_fn_monoid_with(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = sparse_operand(b, a, 0), *y = x ? monoid_scalar_operand(b, a) : NULL;
  return fn_give(b, out, build_monoid_with(b, monoid_dense_scalar(a), x, y));
}

/* True when y is a constant exponent above 0, which keeps absent entries 0. */
static bool monoid_power_keeps_zero(const damo_var *y) {
  const damo_array *v = var_constant_array(y);
  if (v == NULL || v->ndim != 0 || dtype_is_complex(array_dtype(v))) return false;
  return scalar_to_double(array_item(v)) > 0;
}

static damo_status sp_fn_pow(build *b, const fn_args *a, ptrvec *out) {
  if (!var_is_sparse(a->in[0])) {
    build_fail(b, DAMO_ETYPE, "pow: with a sparse exponent absent entries give 1, a dense result: use %s",
               "damo.pow(x, y:toarray())");
    return b->status;
  }
  if (!monoid_power_keeps_zero(a->in[1])) {
    build_fail(b, DAMO_ETYPE, "pow: of a sparse matrix the exponent must be a constant number above 0: use %s",
               "damo.sparse.structured_pow(x, y) for the stored entries alone, or x:toarray()");
    return b->status;
  }
  return fn_give(b, out, build_monoid_with(b, SCALAR_pow, sparse_operand(b, a, 0), a->in[1]));
}

static damo_status sp_fn_relu(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = sparse_operand(b, a, 0), *alpha = x && a->in[1] ? monoid_scalar_operand(b, a) : NULL;
  damo_var *data = b->status == DAMO_OK ? build_data(b, x) : NULL;
  return fn_give(b, out, data ? build_with_data(b, x, build_relu(b, data, alpha)) : NULL);
}

static damo_status sp_fn_round(build *b, const fn_args *a, ptrvec *out) {
  damo_var *x = sparse_operand(b, a, 0), *data = x ? build_data(b, x) : NULL;
  if (data == NULL) return b->status;
  damo_var *made = build_round(b, data, FN_OPTIONS(a, round_options));
  return fn_give(b, out, made == data ? x : build_with_data(b, x, made));
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

#define DENSE(scalar) (const void *)(intptr_t)SCALAR_##scalar
#define UNARY(own, dense, text)                                                         \
  {                                                                                     \
    .name = "sparse." own, .operands = "x", .call = sp_fn_monoid, .data = DENSE(dense), \
    .doc = text " of each stored value"                                                 \
  }
#define SCALAR(own, dense, text)                                                               \
  {                                                                                            \
    .name = "sparse." own, .operands = "x y", .call = sp_fn_monoid_with, .data = DENSE(dense), \
    .doc = text " y, a scalar; stored values alone"                                            \
  }

const op_func sparse_monoid_funcs[] = {
    UNARY("structured_sigmoid", sigmoid, "1/(1 + exp(-x))"),
    UNARY("structured_exp", exp, "exponential"),
    UNARY("structured_log", log, "natural logarithm"),
    SCALAR("structured_pow", pow, "x to the power"),
    SCALAR("structured_minimum", minimum, "the smaller of x and"),
    SCALAR("structured_maximum", maximum, "the larger of x and"),
    SCALAR("structured_add", add, "x plus"),
    UNARY("sin", sin, "sine"),
    UNARY("arcsin", arcsin, "inverse sine"),
    UNARY("tan", tan, "tangent"),
    UNARY("arctan", arctan, "inverse tangent"),
    UNARY("sinh", sinh, "hyperbolic sine"),
    UNARY("arcsinh", arcsinh, "inverse hyperbolic sine"),
    UNARY("tanh", tanh, "hyperbolic tangent"),
    UNARY("arctanh", arctanh, "inverse hyperbolic tangent"),
    UNARY("rad2deg", rad2deg, "degrees"),
    UNARY("deg2rad", deg2rad, "radians"),
    {.name = "sparse.rint",
     .operands = "x",
     .call = sp_fn_rint,
     .doc = "each stored value rounded, halves to even; integers are refused"},
    UNARY("ceil", ceil, "rounding up"),
    UNARY("floor", floor, "rounding down"),
    {.name = "sparse.trunc",
     .operands = "x",
     .call = sp_fn_trunc,
     .doc = "each stored value rounded towards 0; of integers a float"},
    UNARY("sgn", sign, "sign"),
    UNARY("sign", sign, "sign"),
    UNARY("log1p", log1p, "log(1 + x)"),
    UNARY("expm1", expm1, "exp(x) - 1"),
    UNARY("square", sqr, "square"),
    UNARY("sqr", sqr, "square"),
    UNARY("sqrt", sqrt, "square root"),
    UNARY("conjugate", conj, "complex conjugate"),
    UNARY("conj", conj, "complex conjugate"),
    UNARY("abs", abs, "absolute value"),
    UNARY("real", real, "real part"),
    UNARY("imag", imag, "imaginary part"),
    UNARY("angle", angle, "argument"),
    UNARY("erf", erf, "error function"),
    UNARY("erfinv", erfinv, "inverse error function"),
    UNARY("i1", i1, "modified Bessel function of order 1"),
    UNARY("j1", j1, "Bessel function of order 1"),
    UNARY("isnan", isnan, "whether nan"),
    UNARY("isinf", isinf, "whether infinite"),
    UNARY("identity", identity, "copy"),
    UNARY("round_half_to_even", round_half_to_even, "rounding, halves to even,"),
    UNARY("round_half_away_from_zero", round_half_away_from_zero, "rounding, halves away from 0,"),
    {.name = "sparse.round",
     .operands = "x",
     .options = OPTIONS(OPT(round_options, mode, OPT_STR)),
     .call = sp_fn_round,
     .doc = "each stored value rounded; mode 'half_to_even' (default) or 'half_away_from_zero'"},
    {.name = "sparse.pow",
     .operands = "x y",
     .call = sp_fn_pow,
     .doc = "each stored value to a constant power above 0"},
    {.name = "sparse.relu",
     .operands = "x [alpha]",
     .call = sp_fn_relu,
     .doc = "max(x, 0); with alpha, alpha*x where x is not positive"},
    {.name = NULL},
};

const op_def *const sparse_monoid_classes[] = {NULL};

#undef DENSE
#undef UNARY
#undef SCALAR

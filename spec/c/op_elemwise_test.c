/* op_elemwise_test: values, dtypes, derivatives, strided and broadcast operands, and errors of the elementwise family.
 * Derivatives are compared with central differences of step 1e-6 in float64, whose error is about 1e-9 of the
 * function's third derivative and 1e-10 of its value: a relative tolerance of 1e-6 tells a wrong formula from rounding.
 */
#include "grad/grad.h"
#include "op/elem/scalar.h"
#include "leak_case.h"
#include "test.h"
#include "op/op.h"
#include "by_name.h"

static damo_ctx *ctx;

/* ---- Small tools ------------------------------------------------------------------------------------------------- */

static damo_var *constant(build *b, const damo_array *a) {
  return build_take(b, var_constant(ctx, NULL, (damo_obj *)a));
}

static damo_var *vector(build *b, const double *x, int64_t n) {
  return build_value(b, (damo_obj *)damo_array_from(ctx, DAMO_FLOAT64, 1, &n, x));
}

/* The value of v, owned; NULL, and a failed check, if it has none. */
static damo_array *value_of(build *b, damo_var *v) {
  damo_obj *value = NULL;
  if (v == NULL || b->status != DAMO_OK || eager_eval(ctx, &v, 1, &value) != DAMO_OK) {
    CHECK(!"evaluates");
    fprintf(stderr, "    %s\n", damo_error_message(ctx));
    return NULL;
  }
  return (damo_array *)value;
}

static double at(const damo_array *a, int64_t i) {
  int64_t index[DAMO_MAX_NDIM] = {0};
  for (int k = a->ndim - 1; k >= 0; k--) {
    index[k] = i % array_shape(a)[k];
    i /= array_shape(a)[k];
  }
  return scalar_to_double(array_get(a, index));
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

static double f_sqr(double x) { return x * x; }
static double f_neg(double x) { return -x; }
static double f_reciprocal(double x) { return 1 / x; }
static double f_sign(double x) { return (x > 0) - (x < 0); }
static double f_sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double f_softplus(double x) { return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x)); }
static double f_log1mexp(double x) { return log(-expm1(x)); }
static double f_deg2rad(double x) { return x * (acos(-1) / 180); }
static double f_rad2deg(double x) { return x * (180 / acos(-1)); }
static double f_erfcx(double x) { return exp(x * x) * erfc(x); }
static double f_log2(double x) { return log(x) / log(2); }
static double f_exp2(double x) { return pow(2, x); }

/* name, libm's function (NULL: only the derivative is checked), the interval of the points */
typedef struct unary_case {
  const char *name;
  double (*f)(double);
  double lo, hi;
} unary_case;

static const unary_case unary_cases[] = {
    {"neg", f_neg, -3, 3},
    {"abs", fabs, 0.1, 3},
    {"sign", f_sign, 0.1, 3},
    {"sqr", f_sqr, -3, 3},
    {"sqrt", sqrt, 0.1, 9},
    {"reciprocal", f_reciprocal, 0.5, 4},
    {"ceil", ceil, 1.1, 1.9},
    {"floor", floor, 1.1, 1.9},
    {"trunc", trunc, -1.9, -1.1},
    {"round_half_to_even", rint, 0.6, 1.4},
    {"round_half_away_from_zero", round, 0.6, 1.4},
    {"exp", exp, -2, 3},
    {"exp2", f_exp2, -2, 3},
    {"expm1", expm1, -1, 2},
    {"log", log, 0.2, 9},
    {"log2", f_log2, 0.2, 9},
    {"log10", log10, 0.2, 9},
    {"log1p", log1p, -0.5, 3},
    {"sigmoid", f_sigmoid, -6, 6},
    {"softplus", f_softplus, -6, 40},
    {"log1mexp", f_log1mexp, -3, -0.2},
    {"sin", sin, -4, 4},
    {"cos", cos, -4, 4},
    {"tan", tan, -1.2, 1.2},
    {"arcsin", asin, -0.9, 0.9},
    {"arccos", acos, -0.9, 0.9},
    {"arctan", atan, -4, 4},
    {"sinh", sinh, -3, 3},
    {"cosh", cosh, -3, 3},
    {"tanh", tanh, -3, 3},
    {"arcsinh", asinh, -3, 3},
    {"arccosh", acosh, 1.2, 5},
    {"arctanh", atanh, -0.9, 0.9},
    {"deg2rad", f_deg2rad, -200, 200},
    {"rad2deg", f_rad2deg, -4, 4},
    {"erf", erf, -2, 2},
    {"erfc", erfc, -2, 2},
    {"erfcx", f_erfcx, -1, 2},
    {"erfinv", NULL, -0.8, 0.8},
    {"erfcinv", NULL, 0.2, 1.8},
    {"gamma", tgamma, 0.5, 5},
    {"gammaln", lgamma, 0.5, 9},
    {"psi", NULL, 0.5, 9},
    {"tri_gamma", NULL, 0.5, 9},
    {"i0", NULL, -3, 35},
    {"i1", NULL, -3, 35},
    {"j0", NULL, -3, 9},
    {"j1", NULL, -3, 9},
    {"identity", NULL, -3, 3},
    {"relu", NULL, 0.5, 2},
    {"round", rint, 0.6, 1.4},
};

#define POINTS 7

static void points(double lo, double hi, double *x) {
  for (int i = 0; i < POINTS; i++) x[i] = lo + (hi - lo) * (i + 0.37) / POINTS;
}

static void test_unary_values(void) {
  for (size_t k = 0; k < sizeof unary_cases / sizeof *unary_cases; k++) {
    const unary_case *c = &unary_cases[k];
    if (c->f == NULL) continue;
    double x[POINTS];
    points(c->lo, c->hi, x);
    build b;
    build_init(&b, ctx);
    damo_array *y = value_of(&b, build_fn1(&b, c->name, vector(&b, x, POINTS)));
    for (int i = 0; y && i < POINTS; i++) {
      double want = c->f(x[i]);
      if (!CHECK_NEAR(at(y, i), want, 1e-14 * (1 + 10 * fabs(want)))) fprintf(stderr, "    %s(%g)\n", c->name, x[i]);
    }
    damo_release(y);
    build_end(&b);
  }
}

/* ---- Derivatives ------------------------------------------------------------------------------------------------- */

/* Calls the function at POINTS points; in[k] is operand k. */
static damo_array *call(const char *name, int arity, double in[][POINTS]) {
  build b;
  build_init(&b, ctx);
  damo_var *v[3];
  for (int k = 0; k < arity; k++) v[k] = vector(&b, in[k], POINTS);
  damo_array *y = value_of(&b, build_fn(&b, name, v, arity, NULL));
  build_end(&b);
  return y;
}

/* Compares the op's gradient for operand i, all of g being 1, with central differences. */
static void check_derivative(const char *name, int arity, double in[][POINTS], int i) {
  const double h = 1e-6;
  double up[3][POINTS], down[3][POINTS];
  memcpy(up, in, (size_t)arity * sizeof *in);
  memcpy(down, in, (size_t)arity * sizeof *in);
  for (int j = 0; j < POINTS; j++) up[i][j] += h, down[i][j] -= h;
  damo_array *high = call(name, arity, up), *low = call(name, arity, down);
  build b;
  build_init(&b, ctx);
  damo_var *v[3], *gin[3] = {NULL};
  for (int k = 0; k < arity; k++) v[k] = vector(&b, in[k], POINTS);
  damo_var *out = build_fn(&b, name, v, arity, NULL);
  damo_var *g = build_ones_like(&b, out);
  damo_array *got = NULL;
  if (CHECK(out && g) && CHECK(out->owner->op->def->grad(&b, out->owner, &g, gin) == DAMO_OK) &&
      CHECK(gin[i] != NULL)) {
    CHECK_EQ_I(var_dtype(gin[i]), DAMO_FLOAT64);
    got = value_of(&b, gin[i]);
  }
  for (int j = 0; got && high && low && j < POINTS; j++) {
    double want = (at(high, j) - at(low, j)) / (2 * h);
    if (!CHECK_NEAR(at(got, j), want, 2e-6 * (1 + fabs(want)))) fprintf(stderr, "    %s, operand %d\n", name, i + 1);
  }
  damo_release(high), damo_release(low), damo_release(got);
  build_end(&b);
}

static void test_unary_derivatives(void) {
  for (size_t k = 0; k < sizeof unary_cases / sizeof *unary_cases; k++) {
    double in[1][POINTS];
    points(unary_cases[k].lo, unary_cases[k].hi, in[0]);
    if (strcmp(unary_cases[k].name, "relu") == 0) continue; /* several nodes */
    check_derivative(unary_cases[k].name, 1, in, 0);
  }
}

static void test_more_derivatives(void) {
  static const char *const binary[] = {"add",     "sub",     "mul",       "true_div", "mod",  "pow",
                                       "maximum", "minimum", "logaddexp", "arctan2",  "hypot"};
  double in[3][POINTS];
  points(0.6, 3.1, in[0]);
  points(2.2, 1.1, in[1]);
  for (size_t k = 0; k < sizeof binary / sizeof *binary; k++) {
    check_derivative(binary[k], 2, in, 0);
    check_derivative(binary[k], 2, in, 1);
  }
  for (int j = 0; j < POINTS; j++) in[1][j] = 1, in[2][j] = 2.5;
  for (int i = 0; i < 3; i++) check_derivative("clip", 3, in, i);
  for (int j = 0; j < POINTS; j++) in[0][j] = j % 2;
  check_derivative("switch", 3, in, 1);
  check_derivative("switch", 3, in, 2);
  check_derivative("second", 2, in, 1);
}

/* ---- Dtypes ------------------------------------------------------------------------------------------------------ */

static damo_var *of_dtype(build *b, damo_dtype dt) {
  int64_t n = 3;
  return build_value(b, (damo_obj *)damo_array_new(ctx, dt, 1, &n));
}

static void test_dtypes(void) {
  static const struct {
    const char *name;
    damo_dtype x, y, out;
  } cases[] = {
      {"add", DAMO_INT32, DAMO_INT64, DAMO_INT64},
      {"add", DAMO_INT64, DAMO_FLOAT32, DAMO_FLOAT64},
      {"add", DAMO_UINT8, DAMO_UINT8, DAMO_UINT8},
      {"add", DAMO_BOOL, DAMO_BOOL, DAMO_BOOL},
      {"true_div", DAMO_UINT8, DAMO_UINT8, DAMO_FLOAT64},
      {"true_div", DAMO_INT8, DAMO_FLOAT32, DAMO_FLOAT32},
      {"arctan2", DAMO_UINT8, DAMO_UINT8, DAMO_FLOAT32},
      {"logaddexp", DAMO_INT32, DAMO_INT32, DAMO_FLOAT64},
      {"floor_div", DAMO_INT32, DAMO_INT32, DAMO_INT32},
      {"pow", DAMO_BOOL, DAMO_BOOL, DAMO_INT8},
      {"eq", DAMO_COMPLEX64, DAMO_COMPLEX64, DAMO_BOOL},
      {"lt", DAMO_INT8, DAMO_FLOAT64, DAMO_BOOL},
      {"and_", DAMO_INT64, DAMO_INT64, DAMO_INT64},
      {"complex", DAMO_FLOAT32, DAMO_FLOAT32, DAMO_COMPLEX64},
      {"exp", DAMO_INT8, DAMO_N_DTYPES, DAMO_FLOAT32},
      {"exp", DAMO_INT32, DAMO_N_DTYPES, DAMO_FLOAT64},
      {"ceil", DAMO_UINT8, DAMO_N_DTYPES, DAMO_FLOAT32},
      {"sign", DAMO_INT8, DAMO_N_DTYPES, DAMO_INT8},
      {"abs", DAMO_COMPLEX64, DAMO_N_DTYPES, DAMO_FLOAT32},
      {"abs", DAMO_UINT8, DAMO_N_DTYPES, DAMO_UINT8},
      {"angle", DAMO_COMPLEX128, DAMO_N_DTYPES, DAMO_FLOAT64},
      {"angle", DAMO_FLOAT32, DAMO_N_DTYPES, DAMO_FLOAT32},
      {"real", DAMO_FLOAT32, DAMO_N_DTYPES, DAMO_FLOAT32},
      {"isnan", DAMO_INT64, DAMO_N_DTYPES, DAMO_BOOL},
      {"round", DAMO_INT16, DAMO_N_DTYPES, DAMO_INT16},
      {"sqr", DAMO_UINT8, DAMO_N_DTYPES, DAMO_UINT8},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    build b;
    build_init(&b, ctx);
    damo_var *v[2] = {of_dtype(&b, cases[k].x), NULL};
    if (cases[k].y != DAMO_N_DTYPES) v[1] = of_dtype(&b, cases[k].y);
    damo_var *out = build_fn(&b, cases[k].name, v, v[1] ? 2 : 1, NULL);
    damo_array *y = value_of(&b, out);
    if (!CHECK(y && array_dtype(y) == cases[k].out)) fprintf(stderr, "    %s: case %d\n", cases[k].name, (int)k);
    damo_release(y);
    build_end(&b);
  }
}

static void test_weak_literals(void) {
  build b;
  build_init(&b, ctx);
  damo_var *f = of_dtype(&b, DAMO_FLOAT32), *i8 = of_dtype(&b, DAMO_INT8);
  CHECK_EQ_I(var_dtype(build_fn2(&b, "mul", f, build_num(&b, 2.5))), DAMO_FLOAT32);
  CHECK_EQ_I(var_dtype(build_fn2(&b, "add", i8, build_int(&b, 7))), DAMO_INT8);
  CHECK_EQ_I(var_dtype(build_fn2(&b, "add", i8, build_int(&b, 300))), DAMO_INT16);
  CHECK_EQ_I(var_dtype(build_fn2(&b, "add", i8, build_num(&b, 1.5))), DAMO_FLOAT64);
  CHECK_EQ_I(var_dtype(build_fn3(&b, "switch", i8, f, build_num(&b, 0))), DAMO_FLOAT32);
  build_end(&b);
}

/* ---- Walks ------------------------------------------------------------------------------------------------------- */

/* An array of that shape whose memory has the axes in the order `order`, with every `step`-th element used. */
static damo_array *laid_out(damo_dtype dt, int ndim, const int64_t *shape, const int *order, int64_t step,
                            double salt) {
  int64_t total = step, strides[DAMO_MAX_NDIM], at_stride = step * (int64_t)dtype_size(dt);
  for (int k = ndim - 1; k >= 0; k--) {
    strides[order[k]] = at_stride;
    at_stride *= shape[order[k]];
    total *= shape[k];
  }
  damo_array *base = damo_array_new(ctx, dt, 1, &total);
  for (int64_t i = 0; i < total; i++) {
    array_set(base, &i, scalar_cast((scalar){.dtype = DAMO_FLOAT64, .v.f = (double)(i % 97) + salt}, dt));
  }
  damo_array *view = array_view(base, ndim, shape, strides, 0);
  damo_release(base);
  return view;
}

/* x - y of operands in two layouts, against element-by-element reads. */
static void check_walk(damo_array *x, damo_array *y) {
  build b;
  build_init(&b, ctx);
  damo_array *z = value_of(&b, build_fn2(&b, "sub", constant(&b, x), constant(&b, y)));
  int64_t bad = 0, index[DAMO_MAX_NDIM] = {0};
  for (int64_t i = 0, n = z ? array_size(z) : 0; i < n; i++) {
    double want = 0;
    for (int o = 0; o < 2; o++) {
      damo_array *a = o ? y : x;
      int64_t own[DAMO_MAX_NDIM];
      int pad = z->ndim - a->ndim;
      for (int k = 0; k < a->ndim; k++) own[k] = array_shape(a)[k] == 1 ? 0 : index[pad + k];
      want += (o ? -1 : 1) * scalar_to_double(array_get(a, own));
    }
    bad += scalar_to_double(array_get(z, index)) != want;
    for (int k = z->ndim - 1; k >= 0 && ++index[k] == array_shape(z)[k]; k--) index[k] = 0;
  }
  CHECK_EQ_I(bad, 0);
  damo_release(z), damo_release(x), damo_release(y);
  build_end(&b);
}

static void test_walks(void) {
  static const int straight[3] = {0, 1, 2}, turned[3] = {2, 0, 1}, flipped[2] = {1, 0};
  static const int64_t long_rows[2] = {3, 5000}, short_rows[2] = {2100, 3}, cube[3] = {5, 70, 9};
  static const int64_t row[1] = {5000}, column[2] = {3, 1}, three[1] = {3}, slab[3] = {5, 1, 9}, pole[3] = {1, 70, 1};
  const int64_t *shapes[] = {long_rows, short_rows, cube};
  const int ranks[] = {2, 2, 3};
  for (int k = 0; k < 3; k++) {
    const int *other = ranks[k] == 3 ? turned : flipped;
    check_walk(laid_out(DAMO_FLOAT64, ranks[k], shapes[k], straight, 1, 0),
               laid_out(DAMO_FLOAT64, ranks[k], shapes[k], straight, 1, 3));
    check_walk(laid_out(DAMO_FLOAT64, ranks[k], shapes[k], straight, 1, 0),
               laid_out(DAMO_FLOAT64, ranks[k], shapes[k], other, 2, 3));
    check_walk(laid_out(DAMO_INT32, ranks[k], shapes[k], other, 3, 0),
               laid_out(DAMO_FLOAT64, ranks[k], shapes[k], straight, 1, 3));
    check_walk(laid_out(DAMO_INT8, ranks[k], shapes[k], straight, 1, 0),
               laid_out(DAMO_INT16, ranks[k], shapes[k], straight, 1, 3));
    check_walk(laid_out(DAMO_FLOAT64, 0, NULL, straight, 1, 2),
               laid_out(DAMO_FLOAT64, ranks[k], shapes[k], other, 1, 3));
    check_walk(laid_out(DAMO_INT8, ranks[k], shapes[k], straight, 1, 2),
               laid_out(DAMO_FLOAT32, 0, NULL, straight, 1, 3));
  }
  check_walk(laid_out(DAMO_FLOAT64, 2, long_rows, straight, 1, 0), laid_out(DAMO_FLOAT64, 1, row, straight, 2, 3));
  check_walk(laid_out(DAMO_FLOAT64, 2, long_rows, straight, 1, 0), laid_out(DAMO_INT8, 2, column, straight, 1, 3));
  check_walk(laid_out(DAMO_FLOAT64, 1, three, straight, 1, 0), laid_out(DAMO_INT64, 2, short_rows, straight, 1, 3));
  check_walk(laid_out(DAMO_FLOAT64, 3, slab, straight, 1, 0), laid_out(DAMO_FLOAT64, 3, pole, straight, 1, 3));
}

/* Runs x op y in a thunk over these cells; the inputs' Types are of unknown shape. */
static damo_status run_once(damo_op *op, damo_array *x, damo_array *y, cell *out, bool again) {
  damo_type *type = type_tensor(ctx, DAMO_FLOAT64, x->ndim, NULL);
  damo_var *in[2] = {var_new(ctx, type, "x"), var_new(ctx, type, "y")};
  damo_apply *node = op_apply(ctx, op, in, 2);
  cell cells[3] = {(damo_obj *)x, (damo_obj *)y, *out};
  thunk_alone *a = thunk_alone_new(ctx, node, cells, NULL, NULL);
  damo_status s = thunk_run(&a->t, &a->f);
  if (again && s == DAMO_OK) s = thunk_run(&a->t, &a->f);
  *out = cells[2];
  thunk_alone_free(a);
  damo_release(node), damo_release(in[0]), damo_release(in[1]), damo_release(type);
  return s;
}

static void test_in_place(void) {
  int64_t shape[2] = {2, 3};
  double data[6] = {1, 2, 3, 4, 5, 6};
  damo_array *x = damo_array_from(ctx, DAMO_FLOAT64, 2, shape, data);
  damo_array *y = damo_array_from(ctx, DAMO_FLOAT64, 2, shape, data);
  prop_value props[3] = {prop_str("add"), prop_nil(), prop_int(1)};
  damo_op *op = op_new(ctx, &elemwise_def, props);
  CHECK(op->destroy_map && op->destroy_map[0].in == 0);
  cell out = NULL;
  CHECK_EQ_I(run_once(op, x, y, &out, true), DAMO_OK);
  CHECK(out == (damo_obj *)x);
  CHECK_NEAR(at(x, 5), 18, 0); /* added twice, since the thunk ran twice over the same cells */
  damo_release(out), damo_release(op), damo_release(x), damo_release(y);
}

static void test_shape_errors(void) {
  int64_t a_shape[2] = {3, 2}, b_shape[2] = {2, 3}, one[2] = {1, 2};
  damo_array *a = damo_array_new(ctx, DAMO_FLOAT64, 2, a_shape), *c = damo_array_new(ctx, DAMO_FLOAT64, 2, b_shape);
  damo_array *o = damo_array_new(ctx, DAMO_FLOAT64, 2, one);
  build b;
  build_init(&b, ctx);
  CHECK(build_fn2(&b, "add", constant(&b, a), constant(&b, c)) == NULL);
  CHECK_EQ_I(build_end(&b), DAMO_ESHAPE);
  CHECK(strstr(damo_error_message(ctx), "axis 1 is 3 in operand 1 and 2 in operand 2") != NULL);
  damo_op *op = elemwise_op(ctx, SCALAR_mul);
  cell out = NULL;
  CHECK_EQ_I(run_once(op, a, c, &out, false), DAMO_ESHAPE);
  CHECK_EQ_I(run_once(op, a, o, &out, false), DAMO_ESHAPE);
  CHECK(strstr(damo_error_message(ctx), "{shape={1, false}}") != NULL);
  CHECK(out == NULL);
  damo_release(op), damo_release(a), damo_release(c), damo_release(o);
}

static void test_type_errors(void) {
  static const struct {
    const char *name;
    damo_dtype dt;
  } cases[] = {{"sigmoid", DAMO_COMPLEX128}, {"invert", DAMO_FLOAT64}, {"neg", DAMO_BOOL}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    build b;
    build_init(&b, ctx);
    CHECK(build_fn1(&b, cases[k].name, of_dtype(&b, cases[k].dt)) == NULL);
    CHECK_EQ_I(build_end(&b), DAMO_ETYPE);
  }
  build b;
  build_init(&b, ctx);
  CHECK(build_cast(&b, of_dtype(&b, DAMO_COMPLEX64), DAMO_FLOAT32) == NULL);
  CHECK_EQ_I(build_end(&b), DAMO_ETYPE);
}

/* The gradient of sum |z|² is 2 z in both parts, whatever ops express it. */
static void test_complex_gradient(void) {
  build b;
  build_init(&b, ctx);
  double re[2] = {1, -2}, im[2] = {0.5, 3};
  damo_var *z = build_fn2(&b, "complex", vector(&b, re, 2), vector(&b, im, 2));
  damo_array *value = value_of(&b, z);
  damo_var *c = value ? constant(&b, value) : NULL;
  damo_var *cost = build_reduce(
      &b, REDUCE_SUM, build_fn1(&b, "real", build_fn2(&b, "mul", c, build_fn1(&b, "conj", c))), NULL, -1, false);
  damo_var *g = NULL;
  if (CHECK(cost != NULL) && CHECK(grad_reverse(ctx, cost, &c, 1, NULL, &g) == DAMO_OK)) {
    damo_array *got = value_of(&b, g);
    for (int64_t i = 0; got && i < 2; i++) {
      scalar s = array_get(got, &i);
      CHECK_NEAR(s.v.c.re, 2 * re[i], 1e-14);
      CHECK_NEAR(s.v.c.im, 2 * im[i], 1e-14);
    }
    damo_release(got);
  }
  damo_release(g), damo_release(value);
  build_end(&b);
}

int main(void) {
  ctx = damo_ctx_new(leak_alloc, NULL);
  if (!CHECK(ctx != NULL)) return 1;
  test_unary_values();
  test_unary_derivatives();
  test_more_derivatives();
  test_dtypes();
  test_weak_literals();
  test_walks();
  test_in_place();
  test_shape_errors();
  test_type_errors();
  test_complex_gradient();
  CHECK_EQ_I(damo_ctx_memory(ctx).objects, 0);
  leak_end(ctx);
  TEST_MAIN_END;
}

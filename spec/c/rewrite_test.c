/* rewrite_test: each rule on a small graph: its nodes before and after, and equal values before and after on random
 * inputs. */
#include "api/api.h"
#include "leak_case.h"
#include "test.h"
#include "op/op.h"
#include "rewrite/rewrite.h"
#include "by_name.h"

static uint64_t seed = 20240607;

/* A number in (-2, 2). */
static double draw(void) {
  seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
  return (double)(seed >> 11) / 4503599627370496.0 * 2 - 2;
}

typedef struct model {
  damo_ctx *ctx;
  build b;
} model;

/* ---- Leaves: shared Variables, so that graphs can be evaluated as they are --------------------------------------- */

static damo_var *leaf(model *m, damo_dtype dtype, int ndim, const int64_t *shape, const int64_t *known) {
  damo_array *a = damo_array_new(m->ctx, dtype, ndim, shape);
  int64_t n = damo_array_size(a);
  for (int64_t i = 0; i < n; i++) {
    double v = draw();
    if (dtype == DAMO_FLOAT64) ((double *)damo_array_data(a))[i] = v;
    if (dtype == DAMO_FLOAT32) ((float *)damo_array_data(a))[i] = (float)v;
    if (dtype == DAMO_INT64) ((int64_t *)damo_array_data(a))[i] = (int64_t)(v * 5);
  }
  damo_type *t = type_tensor(m->ctx, dtype, ndim, known);
  damo_var *v = var_shared(m->ctx, t, (damo_obj *)a, NULL);
  damo_release(t);
  damo_release(a);
  return build_take(&m->b, v);
}

static damo_var *matrix(model *m, int64_t r, int64_t c) { return leaf(m, DAMO_FLOAT64, 2, (int64_t[]){r, c}, NULL); }
static damo_var *vector(model *m, int64_t n) { return leaf(m, DAMO_FLOAT64, 1, &n, NULL); }
static damo_var *number(model *m) { return leaf(m, DAMO_FLOAT64, 0, NULL, NULL); }

static damo_var *f1(model *m, const char *f, damo_var *x) { return build_fn1(&m->b, f, x); }
static damo_var *f2(model *m, const char *f, damo_var *x, damo_var *y) { return build_fn2(&m->b, f, x, y); }
static damo_var *num(model *m, double v) { return build_num(&m->b, v); }

/* ---- The table --------------------------------------------------------------------------------------------------- */

typedef struct rule_case {
  const char *what;
  damo_var *(*make)(model *m);
  const char *before, *after; /* nodes in dependency order */
  double tol;
} rule_case;

/* canonicalize */
static damo_var *mul_one(model *m) { return f2(m, "mul", num(m, 1), vector(m, 5)); }
static damo_var *div_one(model *m) { return f2(m, "true_div", vector(m, 5), num(m, 1)); }
static damo_var *add_zero(model *m) { return f2(m, "add", vector(m, 5), num(m, 0)); }
static damo_var *sub_zero(model *m) { return f2(m, "sub", matrix(m, 2, 3), num(m, 0)); }
static damo_var *pow_one(model *m) { return f2(m, "pow", vector(m, 5), num(m, 1)); }
static damo_var *int_times_one(model *m) {
  int64_t n = 4;
  return f2(m, "mul", leaf(m, DAMO_INT64, 1, &n, NULL), num(m, 1));
}
static damo_var *row_plus_zeros(model *m) {
  damo_var *row = leaf(m, DAMO_FLOAT64, 2, (int64_t[]){1, 3}, (int64_t[]){1, -1});
  return f2(m, "add", row, f2(m, "second", f1(m, "exp", matrix(m, 2, 3)), num(m, 0)));
}
static damo_var *double_neg(model *m) { return f1(m, "neg", f1(m, "neg", vector(m, 5))); }
static damo_var *add_neg(model *m) { return f2(m, "add", vector(m, 5), f1(m, "neg", vector(m, 5))); }
static damo_var *neg_add(model *m) { return f2(m, "add", f1(m, "neg", vector(m, 5)), vector(m, 5)); }
static damo_var *sub_neg(model *m) { return f2(m, "sub", vector(m, 5), f1(m, "neg", vector(m, 5))); }
static damo_var *times_minus_one(model *m) { return f2(m, "mul", vector(m, 5), num(m, -1)); }
static damo_var *int_times_zero(model *m) {
  int64_t n = 4;
  return f2(m, "mul", leaf(m, DAMO_INT64, 1, &n, NULL), build_int(&m->b, 0));
}
static damo_var *float_times_zero(model *m) { return f2(m, "mul", vector(m, 3), num(m, 0)); }
static damo_var *two_constants(model *m) { return f2(m, "mul", f2(m, "mul", vector(m, 3), num(m, 3)), num(m, 5)); }
static damo_var *pow_two(model *m) { return f2(m, "pow", vector(m, 5), num(m, 2)); }
static damo_var *pow_minus_one(model *m) { return f2(m, "pow", vector(m, 5), num(m, -1)); }
static damo_var *pow_half(model *m) { return f2(m, "pow", f1(m, "exp", vector(m, 5)), num(m, 0.5)); }
static damo_var *self_product(model *m) {
  damo_var *x = matrix(m, 3, 3);
  return f2(m, "mul", x, x);
}
static damo_var *times_reciprocal(model *m) {
  damo_var *x = vector(m, 4);
  return f2(m, "mul", x, f1(m, "reciprocal", f1(m, "exp", vector(m, 4))));
}
static damo_var *cast_twice(model *m) {
  int64_t n = 4;
  return build_cast(&m->b, build_cast(&m->b, leaf(m, DAMO_FLOAT32, 1, &n, NULL), DAMO_FLOAT64), DAMO_INT64);
}
static damo_var *copy(model *m) { return f1(m, "exp", f1(m, "identity", vector(m, 4))); }
static damo_var *marked(model *m) { return f1(m, "exp", f1(m, "zero_grad", vector(m, 4))); }

/* shapes */
static damo_var *double_transpose(model *m) {
  return f1(m, "exp", build_transpose(&m->b, build_transpose(&m->b, matrix(m, 2, 3))));
}
static damo_var *two_dimshuffles(model *m) {
  damo_var *x = build_dimshuffle(&m->b, matrix(m, 2, 3), (int[]){1, -1, 0}, 3);
  return build_dimshuffle(&m->b, x, (int[]){2, 0, 1, -1}, 4);
}
static damo_var *reshape_to_own_shape(model *m) {
  damo_var *x = matrix(m, 2, 3);
  return f1(m, "exp", build_reshape(&m->b, x, build_shape(&m->b, x), 2));
}
static damo_var *two_reshapes(model *m) {
  damo_var *x = leaf(m, DAMO_FLOAT64, 2, (int64_t[]){2, 6}, (int64_t[]){2, 6});
  x = build_reshape(&m->b, x, build_ints(&m->b, (int64_t[]){3, 4}, 2), 2);
  return build_reshape(&m->b, x, build_ints(&m->b, (int64_t[]){-1}, 1), 1);
}
static damo_var *known_shape(model *m) {
  damo_var *x = leaf(m, DAMO_FLOAT64, 2, (int64_t[]){2, 3}, (int64_t[]){2, 3});
  return build_shape(&m->b, f1(m, "exp", x));
}
static damo_var *length_of_sum(model *m) {
  return build_dim(&m->b, f1(m, "exp", f2(m, "add", matrix(m, 2, 3), num(m, 1))), 0);
}
static damo_var *length_of_dot(model *m) {
  damo_var *x = build_dot(&m->b, matrix(m, 2, 3), matrix(m, 3, 4));
  return build_dim(&m->b, build_transpose(&m->b, x), 0);
}
static damo_var *shape_of_reduction(model *m) {
  int axis = 0;
  return build_shape(&m->b, build_reduce(&m->b, REDUCE_SUM, f1(m, "exp", matrix(m, 2, 3)), &axis, 1, false));
}

/* fills */
static damo_var *fill_beside(model *m) {
  damo_var *x = matrix(m, 2, 3);
  return f2(m, "mul", x, f2(m, "second", f1(m, "exp", x), number(m)));
}
static damo_var *fill_beside_row(model *m) {
  damo_var *row = leaf(m, DAMO_FLOAT64, 2, (int64_t[]){1, 3}, (int64_t[]){1, -1});
  return f2(m, "mul", row, f2(m, "second", f1(m, "exp", matrix(m, 2, 3)), number(m)));
}
static damo_var *alloc_beside(model *m) {
  damo_var *x = matrix(m, 2, 3), *dims[2];
  for (int i = 0; i < 2; i++) dims[i] = build_dim(&m->b, f1(m, "tanh", x), i);
  return f2(m, "mul", x, build_alloc(&m->b, number(m), dims, 2));
}
static damo_var *fill_of_other_shape(model *m) { return f2(m, "second", f1(m, "exp", matrix(m, 2, 3)), number(m)); }
static damo_var *fill_alone(model *m) { return f1(m, "exp", f2(m, "second", matrix(m, 2, 3), number(m))); }
static damo_var *sum_of_fill(model *m) {
  return f1(m, "sum", f2(m, "second", f1(m, "exp", matrix(m, 2, 3)), number(m)));
}
static damo_var *fill_transposed(model *m) {
  damo_var *x = matrix(m, 2, 3);
  return f2(m, "mul", build_transpose(&m->b, x), build_transpose(&m->b, f2(m, "second", x, number(m))));
}

/* stabilize */
static damo_var *positive(model *m) { return f2(m, "add", f1(m, "sqr", vector(m, 5)), num(m, 0.5)); }
static damo_var *log_one_plus(model *m) { return f1(m, "log", f2(m, "add", num(m, 1), f1(m, "abs", vector(m, 5)))); }
static damo_var *log_one_minus(model *m) { return f1(m, "log", f2(m, "sub", num(m, 1), f1(m, "sin", vector(m, 5)))); }
static damo_var *log_one_minus_exp(model *m) {
  return f1(m, "log", f2(m, "sub", num(m, 1), f1(m, "exp", f1(m, "neg", positive(m)))));
}
static damo_var *exp_minus_one(model *m) { return f2(m, "sub", f1(m, "exp", vector(m, 5)), num(m, 1)); }
static damo_var *log_sigmoid(model *m) { return f1(m, "log", f1(m, "sigmoid", vector(m, 5))); }
static damo_var *log_one_minus_sigmoid(model *m) {
  return f1(m, "log", f2(m, "sub", num(m, 1), f1(m, "sigmoid", vector(m, 5))));
}
static damo_var *log1p_neg_sigmoid(model *m) { return f1(m, "log1p", f1(m, "neg", f1(m, "sigmoid", vector(m, 5)))); }
static damo_var *one_minus_sigmoid(model *m) { return f2(m, "sub", num(m, 1), f1(m, "sigmoid", vector(m, 5))); }
static damo_var *log_exp(model *m) { return f1(m, "log", f1(m, "exp", vector(m, 5))); }
static damo_var *log_sum_exp(model *m) { return f1(m, "log", f1(m, "sum", f1(m, "exp", matrix(m, 2, 3)))); }
static damo_var *log_exp_exp(model *m) {
  return f1(m, "log", f2(m, "add", f1(m, "exp", vector(m, 3)), f1(m, "exp", vector(m, 3))));
}
static damo_var *softplus(model *m) { return f1(m, "log1p", f1(m, "exp", vector(m, 5))); }
static damo_var *log_softmax(model *m) { return f1(m, "log", f1(m, "softmax", vector(m, 5))); }
static damo_var *sigmoid_form(model *m) {
  damo_var *e = f1(m, "exp", f1(m, "neg", vector(m, 5)));
  return f2(m, "true_div", num(m, 1), f2(m, "add", num(m, 1), e));
}
static damo_var *sqrt_sqr(model *m) { return f1(m, "sqrt", f1(m, "sqr", vector(m, 5))); }
static damo_var *cancelled(model *m) {
  damo_var *v = vector(m, 5), *x = f1(m, "exp", v);
  return f2(m, "mul", f2(m, "true_div", v, x), f2(m, "mul", x, vector(m, 5)));
}
/* Terms that cancel may have another length: the shape check must remain. */
static damo_var *cancelled_apart(model *m) {
  damo_var *x = f1(m, "exp", vector(m, 5));
  return f2(m, "mul", f2(m, "true_div", vector(m, 5), x), f2(m, "mul", x, vector(m, 5)));
}
/* x may be 0, infinite or nan */
static damo_var *not_cancelled(model *m) {
  damo_var *x = vector(m, 5);
  return f2(m, "true_div", f2(m, "mul", vector(m, 5), x), x);
}

/* specialize */
static damo_var *dot(model *m) { return build_dot(&m->b, matrix(m, 3, 4), matrix(m, 4, 5)); }
static damo_var *plus_dot(model *m) { return f2(m, "add", matrix(m, 3, 5), dot(m)); }
static damo_var *dot_minus(model *m) { return f2(m, "sub", dot(m), matrix(m, 3, 5)); }
static damo_var *minus_scaled_dot(model *m) {
  return f2(m, "sub", matrix(m, 3, 5), f2(m, "mul", number(m), f2(m, "true_div", dot(m), num(m, 3))));
}
static damo_var *scaled_plus_dot(model *m) {
  return f2(m, "add", f1(m, "neg", dot(m)), f2(m, "mul", num(m, 0.9), matrix(m, 3, 5)));
}
static damo_var *plus_matrix_vector(model *m) {
  return f2(m, "add", vector(m, 3), build_dot(&m->b, matrix(m, 3, 4), vector(m, 4)));
}
static damo_var *plus_vector_matrix(model *m) {
  return f2(m, "add", build_dot(&m->b, vector(m, 3), matrix(m, 3, 4)), vector(m, 4));
}
static damo_var *plus_bias(model *m) { return f2(m, "add", dot(m), vector(m, 5)); }
static damo_var *dot_used_twice(model *m) {
  damo_var *d = dot(m);
  return f2(m, "add", f1(m, "sum", d), f2(m, "add", matrix(m, 3, 5), d));
}

static damo_var *stack(model *m, int64_t a, int64_t b, int64_t c) {
  return leaf(m, DAMO_FLOAT64, 3, (int64_t[]){a, b, c}, NULL);
}
static damo_var *sum_over(model *m, damo_var *x, int axis, bool keepdims) {
  return build_reduce(&m->b, REDUCE_SUM, x, &axis, 1, keepdims);
}
static damo_var *sum_of_stack(model *m) {
  return sum_over(m, build_matmul(&m->b, stack(m, 4, 2, 3), stack(m, 4, 3, 5)), 0, false);
}
static damo_var *sum_of_one_stack_axis(model *m) {
  damo_var *x = leaf(m, DAMO_FLOAT64, 4, (int64_t[]){3, 4, 2, 3}, NULL);
  return sum_over(m, build_matmul(&m->b, x, leaf(m, DAMO_FLOAT64, 4, (int64_t[]){3, 4, 3, 5}, NULL)), 1, false);
}
static damo_var *sum_of_rows(model *m) {
  return sum_over(m, build_matmul(&m->b, stack(m, 4, 2, 3), stack(m, 4, 3, 5)), 1, false);
}
static damo_var *sum_kept(model *m) {
  return sum_over(m, build_matmul(&m->b, stack(m, 4, 2, 3), stack(m, 4, 3, 5)), 0, true);
}
static damo_var *sum_of_broadcast(model *m) {
  return sum_over(m, build_matmul(&m->b, stack(m, 4, 2, 3), matrix(m, 3, 5)), 0, false);
}
static damo_var *max_of_stack(model *m) {
  int axis = 0;
  return build_reduce(&m->b, REDUCE_MAX, build_matmul(&m->b, stack(m, 4, 2, 3), stack(m, 4, 3, 5)), &axis, 1, false);
}

static const rule_case cases[] = {
    {"x*1", mul_one, "mul", "", 0},
    {"x/1", div_one, "true_div", "", 0},
    {"x+0", add_zero, "add", "", 0},
    {"x-0", sub_zero, "sub", "", 0},
    {"x^1", pow_one, "pow", "", 0},
    {"an integer times 1.0 keeps its dtype", int_times_one, "mul", "cast", 0},
    {"a row plus a matrix of zeros keeps its shape", row_plus_zeros, "exp second add", "Shape_i Shape_i Alloc", 0},
    {"--x", double_neg, "neg neg", "", 0},
    {"x + -y", add_neg, "neg add", "sub", 0},
    {"-x + y", neg_add, "neg add", "sub", 0},
    {"x - -y", sub_neg, "neg sub", "add", 0},
    {"x * -1", times_minus_one, "mul", "neg", 0},
    {"an integer times 0", int_times_zero, "mul", "Shape_i Alloc", 0},
    {"a float times 0 stays", float_times_zero, "mul", "mul", 0},
    {"two constant factors", two_constants, "mul mul", "mul", 1e-12},
    {"x^2", pow_two, "pow", "sqr", 1e-12},
    {"x^-1", pow_minus_one, "pow", "reciprocal", 1e-12},
    {"x^0.5", pow_half, "exp pow", "exp sqrt", 1e-12},
    {"x*x", self_product, "mul", "sqr", 0},
    {"x * 1/y", times_reciprocal, "exp reciprocal mul", "exp true_div", 1e-12},
    {"a cast that loses nothing, before another", cast_twice, "cast cast", "cast", 0},
    {"identity", copy, "identity exp", "exp", 0},
    {"a marker of gradients", marked, "ZeroGrad exp", "exp", 0},
    {"two transposes", double_transpose, "DimShuffle DimShuffle exp", "exp", 0},
    {"two dimshuffles", two_dimshuffles, "DimShuffle DimShuffle", "DimShuffle", 0},
    {"reshape to its own shape", reshape_to_own_shape, "Shape Reshape exp", "exp", 0},
    {"two reshapes", two_reshapes, "Reshape Reshape", "Reshape", 0},
    {"a shape that the Type knows", known_shape, "", "", 0},
    {"a length asks for no value", length_of_sum, "add exp Shape_i", "Shape_i", 0},
    {"a length of a product", length_of_dot, "Dot DimShuffle Shape_i", "Shape_i", 0},
    {"a shape of a reduction", shape_of_reduction, "exp Reduce Shape", "Shape_i MakeVector", 0},
    {"a fill beside its shape", fill_beside, "exp second mul", "mul", 0},
    {"a fill beside a row stays", fill_beside_row, "exp second mul", "Shape_i Shape_i Alloc mul", 0},
    {"an alloc beside its shape", alloc_beside, "tanh Shape_i tanh Shape_i Alloc mul", "mul", 0},
    {"a fill of a value", fill_of_other_shape, "exp second", "Shape_i Shape_i Alloc", 0},
    {"a function of a fill", fill_alone, "second exp", "exp Shape_i Shape_i Alloc", 0},
    {"a sum of a fill", sum_of_fill, "exp second Reduce", "Shape_i Shape_i mul eq cast mul switch", 1e-12},
    {"a transposed fill beside its shape", fill_transposed, "DimShuffle second DimShuffle mul", "DimShuffle mul", 0},
    {"log(1 + x)", log_one_plus, "abs add log", "abs log1p", 1e-12},
    {"log(1 - x)", log_one_minus, "sin sub log", "sin neg:1 log1p", 1e-12},
    {"log(1 - exp(x))", log_one_minus_exp, "sqr add neg exp sub log", "sqr add:1 neg:1 log1mexp", 1e-12},
    {"exp(x) - 1", exp_minus_one, "exp sub", "expm1", 1e-12},
    {"log(sigmoid(x))", log_sigmoid, "sigmoid log", "neg softplus:1 neg", 1e-12},
    {"log(1 - sigmoid(x))", log_one_minus_sigmoid, "sigmoid sub log", "softplus neg", 1e-12},
    {"log1p(-sigmoid(x))", log1p_neg_sigmoid, "sigmoid neg log1p", "softplus neg", 1e-12},
    {"1 - sigmoid(x)", one_minus_sigmoid, "sigmoid sub", "neg sigmoid", 1e-12},
    {"log(exp(x))", log_exp, "exp log", "", 1e-12},
    {"log(sum(exp(x)))", log_sum_exp, "exp Reduce log", "Reduce", 1e-12},
    {"log(exp(x) + exp(y))", log_exp_exp, "exp exp add log", "logaddexp", 1e-12},
    {"log1p(exp(x))", softplus, "exp log1p", "softplus", 1e-12},
    {"log(softmax(x))", log_softmax, "Softmax log", "LogSoftmax", 1e-12},
    {"1/(1 + exp(-x))", sigmoid_form, "neg exp add true_div", "sigmoid", 1e-12},
    {"sqrt(x^2)", sqrt_sqr, "sqr sqrt", "abs", 1e-12},
    {"a factor above and below", cancelled, "exp true_div mul mul", "mul", 1e-12},
    {"a factor of another shape", cancelled_apart, "exp true_div mul mul", "mul Shape_i Alloc", 1e-12},
    {"a factor that may be 0", not_cancelled, "mul true_div", "mul true_div", 0},
    {"z + x·y", plus_dot, "Dot add", "Gemm", 1e-12},
    {"x·y - z", dot_minus, "Dot sub", "Gemm", 1e-12},
    {"z - a (x·y)/3", minus_scaled_dot, "Dot true_div mul sub", "mul neg Gemm", 1e-12},
    {"-(x·y) + 0.9 z", scaled_plus_dot, "Dot neg mul add", "Gemm", 1e-12},
    {"z + matrix·vector", plus_matrix_vector, "Dot add", "Gemv", 1e-12},
    {"vector·matrix + z", plus_vector_matrix, "Dot add", "DimShuffle Gemv", 1e-12},
    {"a bias that broadcasts is no update", plus_bias, "Dot add", "DotLoop", 1e-15},
    {"a product used twice stays", dot_used_twice, "Dot Reduce add add", "Dot Reduce add add", 1e-12},
    {"the sum of a stack of products", sum_of_stack, "Matmul Reduce", "Tensordot", 1e-12},
    {"the sum over one axis of a stack", sum_of_one_stack_axis, "Matmul Reduce", "Tensordot", 1e-12},
    {"the sum over rows of products", sum_of_rows, "Matmul Reduce", "Matmul Reduce", 0},
    {"the sum of a stack that keeps its axis", sum_kept, "Matmul Reduce", "Matmul Reduce", 0},
    {"the sum of products with one matrix", sum_of_broadcast, "DimShuffle Matmul Reduce", "DimShuffle Matmul Reduce",
     0},
    {"the maximum of a stack of products", max_of_stack, "Matmul Reduce", "Matmul Reduce", 0},
};

/* ---- The run ----------------------------------------------------------------------------------------------------- */

/* The nodes in dependency order: scalar or class name, ":k" after those that overwrite operand k. */
static void describe(const damo_fgraph *fg, strbuf *out) {
  ptrvec nodes;
  ptrvec_init(&nodes, fg->obj.ctx);
  CHECK(fgraph_toposort(fg, &nodes) == DAMO_OK);
  for (int64_t i = 0; i < nodes.n; i++) {
    const damo_apply *node = nodes.at[i];
    const char *scalar_name = elemwise_scalar(node->op);
    strbuf_addf(out, "%s%s", i > 0 ? " " : "", scalar_name ? scalar_name : node->op->def->name);
    if (node->op->destroy_map != NULL) strbuf_addf(out, ":%d", node->op->destroy_map->in + 1);
  }
  strbuf_addf(out, "%s", "");
  ptrvec_clear(&nodes);
}

static damo_array *value_of(const damo_fgraph *fg) {
  damo_obj *value = NULL;
  bool ok = eager_eval(fg->obj.ctx, (damo_var *const *)fg->outputs.at, 1, &value) == DAMO_OK;
  if (!CHECK(ok)) fprintf(stderr, "    %s\n", damo_error_message(fg->obj.ctx));
  return (damo_array *)value;
}

static void check_values(const rule_case *c, const damo_array *before, const damo_array *after) {
  bool ok = before && after && array_dtype(before) == array_dtype(after) &&
            array_allclose(before, after, c->tol, c->tol, true);
  if (!CHECK(ok)) fprintf(stderr, "    in %s\n", c->what);
}

static void check_text(const rule_case *c, const char *when, const char *want, const strbuf *got) {
  const char *text = got->at ? got->at : "";
  if (!CHECK(strcmp(want, text) == 0))
    fprintf(stderr, "    %s, %s: expected [%s], got [%s]\n", c->what, when, want, text);
}

static void run_case(damo_ctx *ctx, const rule_case *c) {
  model m = {.ctx = ctx};
  build_init(&m.b, ctx);
  damo_var *out = c->make(&m);
  if (!CHECK(out != NULL)) fprintf(stderr, "    %s: %s\n", c->what, damo_error_message(ctx));
  damo_fgraph *fg = out ? fgraph_new(ctx, NULL, 0, &out, 1, true, NULL) : NULL;
  if (fg != NULL) {
    strbuf before, after;
    strbuf_init(&before, ctx);
    strbuf_init(&after, ctx);
    const damo_type *type = out->type;
    describe(fg, &before);
    damo_array *x = value_of(fg);
    rewrite_query q = {.include = "fast_run", .without = "fuse_elemwise"};
    if (!CHECK(rewrite_run(fg, &q) == DAMO_OK)) fprintf(stderr, "    %s: %s\n", c->what, damo_error_message(ctx));
    CHECK(fgraph_check(fg) == DAMO_OK);
    CHECK(type_is_super(type, ((damo_var *)fg->outputs.at[0])->type));
    describe(fg, &after);
    damo_array *y = value_of(fg);
    check_text(c, "before", c->before, &before);
    check_text(c, "after", c->after, &after);
    check_values(c, x, y);
    damo_release(x);
    damo_release(y);
    strbuf_clear(&before);
    strbuf_clear(&after);
  }
  damo_release(fg);
  build_end(&m.b);
}

/* ---- Further tests ----------------------------------------------------------------------------------------------- */

static void run_graph(damo_ctx *ctx, damo_var *out, const char *include, strbuf *text, damo_array **value) {
  damo_fgraph *fg = fgraph_new(ctx, NULL, 0, &out, 1, true, NULL);
  rewrite_query q = {.include = include, .without = "fuse_elemwise"};
  CHECK(fg != NULL && rewrite_run(fg, &q) == DAMO_OK);
  if (fg == NULL) return;
  describe(fg, text);
  *value = value_of(fg);
  damo_release(fg);
}

/* The gradient of log(softmax(x)) for widely spaced x is finite, for the whole and for a picked entry. */
static void check_softmax_gradient(damo_ctx *ctx, bool picked, const double *want) {
  model m = {.ctx = ctx};
  build_init(&m.b, ctx);
  double data[] = {1000, 0, -1000};
  int64_t shape[] = {1, 3}, three = 3;
  damo_array *a = damo_array_from(ctx, DAMO_FLOAT64, 2, shape, data);
  damo_type *t = type_tensor(ctx, DAMO_FLOAT64, 2, NULL);
  damo_var *x = build_take(&m.b, var_shared(ctx, t, (damo_obj *)a, "x")), *g = NULL, *cost;
  if (picked)
    cost = f1(&m, "mean", f2(&m, "categorical_crossentropy", f1(&m, "softmax", x), build_ints(&m.b, &three, 1)));
  else
    cost = f1(&m, "sum", f1(&m, "log", f1(&m, "softmax", x)));
  CHECK(damo_grad(ctx, cost, &x, 1, &g) == DAMO_OK);
  strbuf text;
  strbuf_init(&text, ctx);
  damo_array *value = NULL;
  if (g) run_graph(ctx, g, "fast_run", &text, &value);
  for (int i = 0; value && i < 3; i++) CHECK_NEAR(((double *)damo_array_data(value))[i], want[i], 1e-12);
  strbuf_clear(&text);
  damo_release(value);
  damo_release(g);
  damo_release(t);
  damo_release(a);
  build_end(&m.b);
}

/* The entry of which categorical_crossentropy takes the logarithm. */
static damo_var *picked_entry(model *m, damo_var *p, damo_var *at) {
  damo_var *minus_log = f2(m, "categorical_crossentropy", p, at);
  return minus_log ? minus_log->owner->in[0]->owner->in[0] : NULL;
}

/* A quotient of entries picked from two softmaxes is no logarithm's derivative: its gradient is not rewritten. */
static void test_quotient_of_picks(damo_ctx *ctx) {
  model m = {.ctx = ctx};
  build_init(&m.b, ctx);
  damo_var *x = matrix(&m, 2, 3), *y = matrix(&m, 2, 3), *at = build_ints(&m.b, (const int64_t[]){3, 1}, 2), *g = NULL;
  damo_var *above = picked_entry(&m, f1(&m, "softmax", x), at), *below = picked_entry(&m, f1(&m, "softmax", y), at);
  damo_var *cost = f1(&m, "sum", f2(&m, "true_div", above, below));
  CHECK(damo_grad(ctx, cost, &x, 1, &g) == DAMO_OK);
  strbuf plain, fast;
  strbuf_init(&plain, ctx);
  strbuf_init(&fast, ctx);
  damo_array *before = NULL, *after = NULL;
  if (g) run_graph(ctx, g, "none", &plain, &before);
  if (g) run_graph(ctx, g, "fast_run", &fast, &after);
  CHECK(before && after && array_allclose(before, after, 1e-12, 1e-12, false));
  strbuf_clear(&plain);
  strbuf_clear(&fast);
  damo_release(before);
  damo_release(after);
  damo_release(g);
  build_end(&m.b);
}

static void test_softmax_gradient(damo_ctx *ctx) {
  check_softmax_gradient(ctx, false, (const double[]){-2, 1, 1});
  check_softmax_gradient(ctx, true, (const double[]){1, 0, -1});
}

/* A compiled training step with in-place nodes gives the same numbers in each call. */
static void test_compiled(damo_ctx *ctx) {
  model m = {.ctx = ctx};
  build_init(&m.b, ctx);
  damo_var *x = matrix(&m, 4, 3), *w = matrix(&m, 3, 5), *c = vector(&m, 5), *g[2] = {NULL, NULL};
  damo_var *wrt[2] = {w, c};
  damo_var *h = f1(&m, "sigmoid", f2(&m, "add", build_dot(&m.b, x, w), c));
  damo_var *cost = f1(&m, "mean", f1(&m, "sqr", f2(&m, "sub", f1(&m, "tanh", h), num(&m, 0.3))));
  CHECK(damo_grad(ctx, cost, wrt, 2, g) == DAMO_OK);
  damo_var *out[3] = {cost, f2(&m, "sub", w, f2(&m, "mul", num(&m, 0.1), g[0])), g[1]};
  static const char *const modes[] = {"FAST_COMPILE", "FAST_RUN"};
  damo_array *got[2][2][3] = {{{NULL}}};
  for (int k = 0; k < 2; k++) {
    damo_function *f = damo_compile(ctx, NULL, 0, out, 3, NULL, NULL, 0, modes[k]);
    if (!CHECK(f != NULL)) fprintf(stderr, "    %s\n", damo_error_message(ctx));
    for (int call = 0; f && call < 2; call++) CHECK(damo_function_call(f, NULL, 0, got[k][call]) == DAMO_OK);
    damo_release(f);
  }
  for (int i = 0; i < 3; i++) {
    CHECK(got[0][0][i] && got[1][0][i] && array_allclose(got[0][0][i], got[1][0][i], 1e-12, 1e-14, false));
    CHECK(got[1][0][i] && got[1][1][i] && array_equal(got[1][0][i], got[1][1][i], false));
    for (int k = 0; k < 4; k++) damo_release(got[k / 2][k % 2][i]);
  }
  for (int i = 0; i < 2; i++) damo_release(g[i]);
  build_end(&m.b);
}

/* Values that others still read are not overwritten: a leaf, a value with two users, a viewed value. */
static void test_in_place_is_safe(damo_ctx *ctx) {
  model m = {.ctx = ctx};
  build_init(&m.b, ctx);
  damo_var *x = matrix(&m, 3, 4), *e = f1(&m, "exp", x), *viewed = f1(&m, "sin", x);
  damo_var *t = build_transpose(&m.b, viewed);
  damo_var *out = f2(&m, "add", f1(&m, "sum", f1(&m, "tanh", x)), f1(&m, "sum", f2(&m, "mul", f1(&m, "tanh", e), e)));
  out = f2(&m, "add", f2(&m, "add", out, f1(&m, "sum", f1(&m, "cosh", t))), f1(&m, "max", viewed));
  strbuf plain, fast;
  strbuf_init(&plain, ctx);
  strbuf_init(&fast, ctx);
  damo_array *before = NULL, *after = NULL;
  run_graph(ctx, out, "none", &plain, &before);
  run_graph(ctx, out, "fast_run", &fast, &after);
  CHECK(before && after && array_allclose(before, after, 1e-13, 1e-13, false));
  CHECK_EQ_S(fast.at, "tanh Reduce exp tanh mul:1 Reduce add sin Reduce add DimShuffle cosh Reduce add");
  strbuf_clear(&plain);
  strbuf_clear(&fast);
  damo_release(before);
  damo_release(after);
  build_end(&m.b);
}

static void test_query(damo_ctx *ctx) {
  model m = {.ctx = ctx};
  build_init(&m.b, ctx);
  damo_var *out = f1(&m, "log", f2(&m, "mul", num(&m, 1), f1(&m, "exp", vector(&m, 3))));
  damo_fgraph *fg = fgraph_new(ctx, NULL, 0, &out, 1, true, NULL);
  rewrite_query q = {.include = "fast_run", .exclude = "stabilize", .without = "fuse_elemwise"};
  strbuf text;
  strbuf_init(&text, ctx);
  CHECK(fg && rewrite_run(fg, &q) == DAMO_OK);
  if (fg) describe(fg, &text);
  CHECK_EQ_S(text.at, "exp log");
  strbuf_clear(&text);
  damo_release(fg);
  build_end(&m.b);
}

int main(void) {
  damo_ctx *ctx = damo_ctx_new(leak_alloc, NULL);
  if (!CHECK(ctx != NULL)) TEST_MAIN_END;
  int64_t objects = damo_ctx_memory(ctx).objects;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) run_case(ctx, &cases[i]);
  test_softmax_gradient(ctx);
  test_quotient_of_picks(ctx);
  test_in_place_is_safe(ctx);
  test_query(ctx);
  test_compiled(ctx);
  CHECK_EQ_I(damo_ctx_memory(ctx).objects, objects);
  leak_end(ctx);
  TEST_MAIN_END;
}
